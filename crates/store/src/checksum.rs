//! Checksums of SQLite rows: a row equals what was written, or it is corrupt.
//!
//! SQLite has no page checksums and returns a byte that changed on disk as if it had been written. The rows that
//! answers are made from therefore have their own. The checksum protects against decay, not against attackers, and is
//! computed for every row that is read. BLAKE3, which identifies content elsewhere, takes several times as long for the
//! few dozen bytes of a row.

use std::ops::Range;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::{Result, StoreError};

/// The number of checksum bytes at the end of a blob.
const CHECKSUM_BYTES: usize = 4;

/// A running checksum. Each step is a bijection of the previous state, so no single changed word can go unnoticed until
/// the state is truncated to the checksum's length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) const fn new() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }

    pub(crate) const fn number(self, value: i64) -> Self {
        Self((self.0.rotate_left(23) ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let sum = words.iter().fold(self.number(bytes.len() as i64), |sum, word| sum.number(i64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum.number(i64::from_le_bytes(last))
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) const fn null(self) -> Self {
        self.number(0x6e6f_7468_696e_6721)
    }

    pub(crate) const fn optional(self, value: Option<i64>) -> Self {
        match value {
            Some(value) => self.number(value),
            None => self.null(),
        }
    }

    /// Returns the checksum as a column holds it.
    pub(crate) const fn value(self) -> i64 {
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 32) as i32 as i64
    }

    /// Computes the checksum of some columns of a row, each by its value.
    fn from_row(row: &Row<'_>, columns: Range<usize>) -> rusqlite::Result<Self> {
        let mut sum = Self::new();
        for column in columns {
            sum = match row.get_ref(column)? {
                ValueRef::Null => sum.null(),
                ValueRef::Integer(value) => sum.number(value),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => sum.bytes(bytes),
                ValueRef::Real(value) => sum.number(value.to_bits() as i64),
            };
        }
        Ok(sum)
    }
}

/// Whether some columns of a row match the checksum in the column after them.
pub(crate) fn is_intact(row: &Row<'_>, columns: Range<usize>) -> rusqlite::Result<bool> {
    let written = row.get_ref(columns.end)?;
    Ok(written == ValueRef::Integer(Checksum::from_row(row, columns)?.value()))
}

/// Fails if some columns of a row do not match the checksum in the column after them.
pub(crate) fn check_row(row: &Row<'_>, columns: Range<usize>, what: &str) -> Result<()> {
    match is_intact(row, columns)? {
        true => Ok(()),
        false => Err(corrupt_row(what)),
    }
}

pub(crate) fn corrupt_row(what: &str) -> StoreError {
    StoreError::Corrupt(format!("store.db: {what} has a wrong checksum"))
}

/// Computes the checksum of some columns of a row that has none yet.
pub(crate) fn row_checksum(row: &Row<'_>, columns: Range<usize>) -> rusqlite::Result<i64> {
    Ok(Checksum::from_row(row, columns)?.value())
}

/// Appends a checksum to a blob. `sum` starts with the key that the blob belongs to.
pub(crate) fn seal(sum: Checksum, mut blob: Vec<u8>) -> Vec<u8> {
    let sum = sum.bytes(&blob).value() as u32;
    blob.extend_from_slice(&sum.to_le_bytes());
    blob
}

/// Returns the blob before its checksum; `None` if the checksum is wrong.
pub(crate) fn unseal(sum: Checksum, sealed: &[u8]) -> Option<&[u8]> {
    let (blob, written) = sealed.split_last_chunk::<CHECKSUM_BYTES>()?;
    (u32::from_le_bytes(*written) == sum.bytes(blob).value() as u32).then_some(blob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_detected() {
        let blob: Vec<u8> = (0..=255).collect();
        for length in [0, 1, 7, 8, 9, 63, 64, 256] {
            let sealed = seal(Checksum::new().text("name"), blob[..length].to_vec());
            assert_eq!(unseal(Checksum::new().text("name"), &sealed), Some(&blob[..length]));
            assert_eq!(unseal(Checksum::new().text("game"), &sealed), None, "belongs to another key");
            for place in 0..sealed.len() {
                for bit in 0..8 {
                    let mut harmed = sealed.clone();
                    harmed[place] ^= 1 << bit;
                    assert_eq!(unseal(Checksum::new().text("name"), &harmed), None, "byte {place} of {length}");
                }
                assert_eq!(unseal(Checksum::new().text("name"), &sealed[..place]), None, "{place} of {length}");
            }
        }
        assert_eq!(unseal(Checksum::new(), b"abc"), None);
        assert_eq!(unseal(Checksum::new(), &[0; 64]), None, "zeros are not a valid blob");
    }

    #[test]
    fn adjacent_values_do_not_run_together() {
        let one = Checksum::new().text("ab").text("c").value();
        assert_ne!(one, Checksum::new().text("a").text("bc").value());
        assert_ne!(Checksum::new().text("").value(), Checksum::new().null().value());
        assert_ne!(Checksum::new().number(0).value(), Checksum::new().null().value());
        assert_ne!(Checksum::new().bytes(&[0; 7]).value(), Checksum::new().bytes(&[0; 8]).value());
    }
}

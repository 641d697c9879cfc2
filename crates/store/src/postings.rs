//! Postings: for each name, a delta-coded list of its references by file version and index in that file's facts.
//!
//! The entry of a file is a count and the distances between indices. A list has file entries in ascending order of file
//! version, each after the distance to the previous version, and ends with a checksum. The lists of several batches are
//! read one after another.

use codecompass_model::{FileFacts, VersionId};
use rusqlite::Connection;

use crate::checksum::{self, Checksum};
use crate::{Result, StoreError};

/// Appends a variable-length number.
fn write_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= ((byte & 0x7f) as u32).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Encodes the entries of a file for all names that its references have.
pub(crate) fn file_postings(facts: &FileFacts) -> Vec<(String, Vec<u8>)> {
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); facts.names.len()];
    for (place, reference) in facts.references.iter().enumerate() {
        if let Some(list) = places.get_mut(reference.name as usize) {
            list.push(place as u32);
        }
    }
    let named = facts.names.iter().zip(places).filter(|(_, places)| !places.is_empty());
    named.map(|(name, places)| (name.clone(), encode_postings(&places))).collect()
}

/// Encodes the entry of a file.
pub(crate) fn encode_postings(places: &[u32]) -> Vec<u8> {
    let mut part = Vec::with_capacity(places.len() + 2);
    write_varint(&mut part, places.len() as u32);
    let mut last = 0;
    for &place in places {
        write_varint(&mut part, place - last);
        last = place;
    }
    part
}

/// Builds a list; entries must be pushed in ascending order of file version.
pub(crate) struct PostingsBuilder {
    pub(crate) first: VersionId,
    last: VersionId,
    bytes: Vec<u8>,
}

impl PostingsBuilder {
    pub(crate) fn new(first: VersionId) -> Self {
        Self { first, last: first, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, version: VersionId, part: &[u8]) {
        write_varint(&mut self.bytes, version - self.last);
        self.bytes.extend_from_slice(part);
        self.last = version;
    }

    /// Returns the list of a name.
    pub(crate) fn finish(self, name: &str) -> Vec<u8> {
        checksum::seal(checksum_seed(name, self.first), self.bytes)
    }
}

/// The error for a list that cannot be read.
pub(crate) fn corrupt_list(name: &str) -> StoreError {
    checksum::corrupt_row(&format!("the postings of {name:?}"))
}

/// The start of a list's checksum: its key, so that the list of another name is not accepted.
fn checksum_seed(name: &str, first: VersionId) -> Checksum {
    Checksum::new().text(name).number(first.into())
}

/// Calls `each` with every file version of a list and its indices; `false` if the list is corrupt.
pub(crate) fn for_each_file(
    name: &str,
    first: VersionId,
    list: &[u8],
    mut each: impl FnMut(VersionId, &[u32]),
) -> bool {
    let Some(mut bytes) = checksum::unseal(checksum_seed(name, first), list) else { return false };
    let mut version = first;
    let mut places = Vec::new();
    while !bytes.is_empty() {
        let Some((distance, count)) = read_varint(&mut bytes).zip(read_varint(&mut bytes)) else {
            return false;
        };
        version = version.wrapping_add(distance);
        places.clear();
        let mut place = 0u32;
        for _ in 0..count {
            let Some(distance) = read_varint(&mut bytes) else {
                return false;
            };
            place = place.wrapping_add(distance);
            places.push(place);
        }
        each(version, &places);
    }
    true
}

/// Fails if any list is corrupt.
pub(crate) fn check_all(connection: &Connection) -> Result<()> {
    let mut select = connection.prepare("SELECT name, first_fv, list FROM name_refs")?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let list = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if !for_each_file(name, row.get(1)?, list, |_, _| ()) {
            return Err(corrupt_list(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_round_trip_and_detect_corruption() {
        let parts: &[(VersionId, &[u32])] = &[(7, &[0, 1, 300]), (7_000_000, &[5]), (7_000_001, &[0, 1_000_000])];
        let mut builder = PostingsBuilder::new(7);
        for (version, places) in parts {
            builder.push(*version, &encode_postings(places));
        }
        let bytes = builder.finish("name");
        let mut seen = Vec::new();
        assert!(for_each_file("name", 7, &bytes, |version, places| seen.push((version, places.to_vec()))));
        assert_eq!(seen, parts.iter().map(|(v, p)| (*v, p.to_vec())).collect::<Vec<_>>());
        assert!(!for_each_file("name", 7, &bytes[..bytes.len() - 1], |_, _| ()));
        assert!(
            !for_each_file("name", 6, &bytes, |_, _| ()) && !for_each_file("nome", 7, &bytes, |_, _| ()),
            "belongs to another key"
        );
        for place in 0..bytes.len() {
            let mut harmed = bytes.clone();
            harmed[place] ^= 1;
            assert!(!for_each_file("name", 7, &harmed, |_, _| panic!("a corrupt list is not read")), "byte {place}");
        }
    }
}

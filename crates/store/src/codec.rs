//! Codecs: facts and text as compressed bytes. The bytes depend on the file alone, so worker threads produce them.

use std::cell::RefCell;
use std::sync::Arc;

use codecompass_model::{Binding, Chunk, Expr, ExprId, FileFacts, Import, Problem, Reference, Symbol};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::checksum::{self, Checksum};
use crate::{Result, StoreError};

/// The maximum size of an unpacked value. The limit on files is far below it.
const MAX_UNPACKED_BYTES: usize = 256 << 20;
const COMPRESSION_LEVEL: i32 = 1;

thread_local! {
    static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Unpacker>> = const { RefCell::new(None) };
}

pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            *packer = packer_with_checksums().ok();
        }
        packer
            .as_mut()
            .and_then(|packer| packer.compress(bytes).ok())
            .expect("because compressing bytes in memory at a fixed level does not fail")
    })
}

/// Creates a compressor that adds a checksum of the content, which unpacking verifies.
fn packer_with_checksums() -> std::io::Result<zstd::bulk::Compressor<'static>> {
    let mut packer = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?;
    packer.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    Ok(packer)
}

pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
    UNPACKER.with_borrow_mut(|unpacker| {
        if unpacker.is_none() {
            *unpacker = Some(Unpacker::new()?);
        }
        let mut unpacked = Vec::new();
        unpacker.as_mut().map_or(Ok(()), |unpacker| unpacker.unpack(bytes, &mut unpacked))?;
        Ok(unpacked)
    })
}

/// A decompressor that reuses its tables for many values.
pub(crate) struct Unpacker(zstd::bulk::Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new() -> Result<Self> {
        let failed = |error: std::io::Error| StoreError::Corrupt(format!("decompression is unavailable: {error}"));
        Ok(Self(zstd::bulk::Decompressor::new().map_err(failed)?))
    }

    /// Unpacks into a buffer, replacing its content.
    pub(crate) fn unpack(&mut self, bytes: &[u8], into: &mut Vec<u8>) -> Result<()> {
        let damaged = |error: std::io::Error| StoreError::Corrupt(format!("store.db: a text or fact: {error}"));
        into.clear();
        into.reserve(unpacked_size(bytes));
        self.0.decompress_to_buffer(bytes, into).map_err(damaged)?;
        Ok(())
    }
}

fn unpacked_size(bytes: &[u8]) -> usize {
    let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(MAX_UNPACKED_BYTES as u64);
    (size as usize).min(MAX_UNPACKED_BYTES)
}

/// The part of a file's facts that result lists are made from. It is small and stored separately. Decoded facts share
/// its symbols.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Symbols in source order; a parent comes before its children.
    pub symbols: Arc<Vec<Symbol>>,
    /// The chunks of the text index.
    pub chunks: Vec<Chunk>,
}

impl Outline {
    /// Returns the number of bytes it has on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let symbols: usize = self.symbols.iter().map(|symbol| size_of::<Symbol>() + symbol.heap_bytes()).sum();
        size_of::<Self>() + symbols + size_of_val(&self.chunks[..])
    }
}

/// All other facts.
type OtherFacts =
    (Vec<String>, Vec<Expr>, Vec<Reference>, Vec<Import>, Vec<Binding>, Vec<Problem>, u32, FileLevelFacts);

/// The calls, the value of the file itself, and the block symbols that references resolve to.
type FileLevelFacts = (Vec<(u32, ExprId)>, Option<ExprId>, Vec<(u32, u32)>);

/// Encodes facts as two blobs: the outline and the other facts.
pub(crate) fn encode_facts(facts: &FileFacts) -> (Vec<u8>, Vec<u8>) {
    let FileFacts {
        names,
        exprs,
        symbols,
        references,
        imports,
        bindings,
        chunks,
        problems,
        lines,
        calls,
        value,
        block_targets: seen,
    } = facts;
    (
        encode(&(&**symbols, chunks)),
        encode(&(names, exprs, references, imports, bindings, problems, lines, (calls, value, seen))),
    )
}

pub(crate) fn decode_outline(bytes: &[u8]) -> Result<Outline> {
    let (symbols, chunks): (Vec<Symbol>, Vec<Chunk>) = decode(&unpack(bytes)?)?;
    Ok(Outline { symbols: Arc::new(symbols), chunks })
}

pub(crate) fn decode_facts(outline: &Outline, rest: &[u8]) -> Result<FileFacts> {
    let Outline { symbols, chunks } = outline.clone();
    let (names, exprs, references, imports, bindings, problems, lines, (calls, value, seen)): OtherFacts =
        decode(&unpack(rest)?)?;
    Ok(FileFacts {
        names,
        exprs,
        symbols,
        references,
        imports,
        bindings,
        chunks,
        problems,
        lines,
        calls,
        value,
        block_targets: seen,
    })
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    pack(&postcard::to_stdvec(value).expect("because postcard can encode all facts"))
}

fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| StoreError::Corrupt(format!("store.db: facts: {error}")))
}

pub(crate) fn decode_text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(unpack(bytes)?).map_err(|error| StoreError::Corrupt(format!("store.db: a text: {error}")))
}

pub(crate) fn encode_bitmap(bitmap: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    bitmap.serialize_into(&mut bytes).expect("because writing to memory does not fail");
    checksum::seal(Checksum::new(), bytes)
}

pub(crate) fn decode_bitmap(bytes: &[u8]) -> Result<RoaringBitmap> {
    let bytes =
        checksum::unseal(Checksum::new(), bytes).ok_or_else(|| checksum::corrupt_row("the file list of a view"))?;
    RoaringBitmap::deserialize_from(bytes).map_err(|error| StoreError::Corrupt(format!("store.db: a view: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpack_rejects_a_changed_byte() {
        let text: Vec<u8> = (0..4000u32).flat_map(|number| (number * number % 251).to_le_bytes()).collect();
        let packed = pack(&text);
        assert_eq!(unpack(&packed).expect("because it is intact"), text);
        for place in 0..packed.len() {
            let mut harmed = packed.clone();
            harmed[place] ^= 0x10;
            // Some bits of a frame header do not affect the content.
            assert!(unpack(&harmed).map_or(true, |read| read == text), "byte {place} of {}", packed.len());
        }
    }

    #[test]
    fn bitmap_decode_rejects_a_changed_bit() {
        let bitmap: RoaringBitmap = (0..3000).filter(|id| id % 7 != 3).collect();
        let bytes = encode_bitmap(&bitmap);
        assert_eq!(decode_bitmap(&bytes).expect("because it is intact"), bitmap);
        for place in 0..bytes.len() {
            let mut harmed = bytes.clone();
            harmed[place] ^= 1;
            assert!(matches!(decode_bitmap(&harmed), Err(StoreError::Corrupt(_))), "byte {place}");
        }
    }
}

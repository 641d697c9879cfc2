//! Facts and text as compressed bytes. The bytes depend on the file alone, so they are made in the workers.

use std::cell::RefCell;

use codecompass_model::FileFacts;
use roaring::RoaringBitmap;

use crate::{Result, StoreError};

/// No stored value is larger than this when unpacked: the limit on files is far below.
const LARGEST: usize = 256 << 20;
const LEVEL: i32 = 1;

thread_local! {
    static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            *packer = zstd::bulk::Compressor::new(LEVEL).ok();
        }
        packer
            .as_mut()
            .and_then(|packer| packer.compress(bytes).ok())
            .expect("compressing bytes in memory at a fixed level does not fail")
    })
}

pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
    let damaged = |error: std::io::Error| StoreError::Corrupt(format!("a stored text or fact: {error}"));
    let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(LARGEST as u64);
    zstd::bulk::decompress(bytes, (size as usize).min(LARGEST)).map_err(damaged)
}

pub(crate) fn encode_facts(facts: &FileFacts) -> Vec<u8> {
    pack(&postcard::to_stdvec(facts).expect("facts hold nothing that postcard can not encode"))
}

pub(crate) fn decode_facts(bytes: &[u8]) -> Result<FileFacts> {
    postcard::from_bytes(&unpack(bytes)?).map_err(|error| StoreError::Corrupt(format!("stored facts: {error}")))
}

pub(crate) fn decode_text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(unpack(bytes)?).map_err(|error| StoreError::Corrupt(format!("a stored text: {error}")))
}

pub(crate) fn encode_bitmap(bitmap: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    bitmap.serialize_into(&mut bytes).expect("writing to memory does not fail");
    bytes
}

pub(crate) fn decode_bitmap(bytes: &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes).map_err(|error| StoreError::Corrupt(format!("a stored view: {error}")))
}

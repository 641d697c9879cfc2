//! Delta-coded lists: for a name, the references that bear it, by file version and place in that file's facts.
//!
//! A file's part is a count and the distances between places; a list is file parts in ascending order of file
//! version, each behind the distance to the one before. Lists of several batches are simply read one after another.

use codecompass_model::{FileFacts, VersionId};

/// Appends a variable-length number.
fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
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

/// The file parts of all names that the file's references bear.
pub(crate) fn file_parts(facts: &FileFacts) -> Vec<(String, Vec<u8>)> {
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); facts.names.len()];
    for (place, reference) in facts.references.iter().enumerate() {
        if let Some(list) = places.get_mut(reference.name as usize) {
            list.push(place as u32);
        }
    }
    let named = facts.names.iter().zip(places).filter(|(_, places)| !places.is_empty());
    named.map(|(name, places)| (name.clone(), encode_part(&places))).collect()
}

/// A file's part of a list.
pub(crate) fn encode_part(places: &[u32]) -> Vec<u8> {
    let mut part = Vec::with_capacity(places.len() + 2);
    put(&mut part, places.len() as u32);
    let mut last = 0;
    for &place in places {
        put(&mut part, place - last);
        last = place;
    }
    part
}

/// A list under construction; parts must come in ascending order of file version.
pub(crate) struct ListBuilder {
    pub(crate) first: VersionId,
    last: VersionId,
    bytes: Vec<u8>,
}

impl ListBuilder {
    pub(crate) fn new(first: VersionId) -> Self {
        Self { first, last: first, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, version: VersionId, part: &[u8]) {
        put(&mut self.bytes, version - self.last);
        self.bytes.extend_from_slice(part);
        self.last = version;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Calls `each` with every file version of a list and the places in it; `false` when the list is damaged.
pub(crate) fn read(first: VersionId, mut bytes: &[u8], mut each: impl FnMut(VersionId, &[u32])) -> bool {
    let mut version = first;
    let mut places = Vec::new();
    while !bytes.is_empty() {
        let Some((distance, count)) = take(&mut bytes).zip(take(&mut bytes)) else {
            return false;
        };
        version = version.wrapping_add(distance);
        places.clear();
        let mut place = 0u32;
        for _ in 0..count {
            let Some(distance) = take(&mut bytes) else {
                return false;
            };
            place = place.wrapping_add(distance);
            places.push(place);
        }
        each(version, &places);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_and_a_damaged_one_is_noticed() {
        let parts: &[(VersionId, &[u32])] = &[(7, &[0, 1, 300]), (7_000_000, &[5]), (7_000_001, &[0, 1_000_000])];
        let mut builder = ListBuilder::new(7);
        for (version, places) in parts {
            builder.push(*version, &encode_part(places));
        }
        let bytes = builder.finish();
        let mut seen = Vec::new();
        assert!(read(7, &bytes, |version, places| seen.push((version, places.to_vec()))));
        assert_eq!(seen, parts.iter().map(|(v, p)| (*v, p.to_vec())).collect::<Vec<_>>());
        assert!(!read(7, &bytes[..bytes.len() - 1], |_, _| ()));
    }
}

//! Interns the names of one file, and provides the fast hash for it.

use std::hash::{BuildHasherDefault, Hasher};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A fast 64-bit hash, equal on every machine. It does not protect against chosen collisions: a file that collides on
/// purpose slows down only its own extraction, and the table below limits its probing.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut state = SEED ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        state = mix(state, u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    let tail = words.remainder().iter().fold(0, |tail, &byte| tail << 8 | u64::from(byte));
    mix(state, tail)
}

fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(SEED | 1);
    (product as u64) ^ (product >> 64) as u64 ^ state.rotate_left(23)
}

/// [`hash`] for the standard maps.
#[derive(Default)]
pub(crate) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = mix(self.0, hash(bytes));
    }
}

/// A standard map with the fast hash.
pub(crate) type FastMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// The list of names, and an open-addressing table to look them up.
#[derive(Default)]
pub(crate) struct Interner {
    all: Vec<String>,
    /// Index into `all` plus one; 0 is a free slot. The length is a power of two, and the table is at most half full.
    slots: Vec<u32>,
}

/// The maximum number of probes. After that a name is added again: equal names then have two indices, which costs only
/// space.
const MAX_PROBES: usize = 64;

impl Interner {
    /// Returns the index of a name and adds it if it is new.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if self.slots.len() < 2 * (self.all.len() + 1) {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let first = hash(name.as_bytes()) as usize;
        let mut free = None;
        for slot in (0..MAX_PROBES).map(|step| first.wrapping_add(step) & mask) {
            match self.slots[slot] {
                0 => {
                    free = Some(slot);
                    break;
                }
                index if self.all[index as usize - 1] == name => return index - 1,
                _ => {}
            }
        }
        self.all.push(name.to_owned());
        let index = self.all.len() as u32;
        if let Some(slot) = free {
            self.slots[slot] = index;
        }
        index - 1
    }

    /// Returns a name by its index; empty for an unknown index.
    pub(crate) fn get(&self, index: u32) -> &str {
        self.all.get(index as usize).map_or("", String::as_str)
    }

    /// Returns the names in the order of their indices.
    pub(crate) fn into_list(self) -> Vec<String> {
        self.all
    }

    fn grow(&mut self) {
        let size = (4 * (self.all.len() + 1)).next_power_of_two().max(256);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (index, name) in self.all.iter().enumerate() {
            let first = hash(name.as_bytes()) as usize;
            let mut probes = (0..MAX_PROBES).map(|step| first.wrapping_add(step) & (size - 1));
            if let Some(slot) = probes.find(|&slot| self.slots[slot] == 0) {
                self.slots[slot] = index as u32 + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_stable_while_growing() {
        let mut names = Interner::default();
        let words: Vec<String> = (0..5000).map(|n| format!("name_{n}")).collect();
        let first: Vec<u32> = words.iter().map(|word| names.intern(word)).collect();
        let again: Vec<u32> = words.iter().map(|word| names.intern(word)).collect();
        assert_eq!(first, again);
        assert_eq!(names.into_list(), words);
    }

    #[test]
    fn hash_depends_on_every_byte_and_length() {
        let texts = ["", "\0", "\0\0", "a", "b", "ab", "ba", "abcdefgh", "abcdefgi", "abcdefgh\0"];
        let mut hashes: Vec<u64> = texts.iter().map(|text| hash(text.as_bytes())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len());
    }
}

//! A cache for decoded values, limited by bytes.

use std::collections::HashMap;

use codecompass_model::VersionId;

/// A cache of values of file versions, which never change. Values that are not used while half of the limit is refilled
/// are dropped.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    young: HashMap<VersionId, (T, usize)>,
    old: HashMap<VersionId, (T, usize)>,
    /// The size of the young values.
    bytes: usize,
    max_bytes: usize,
}

impl<T: Clone> Cache<T> {
    /// Creates an empty cache with a byte limit.
    pub(crate) fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), bytes: 0, max_bytes: most }
    }

    pub(crate) fn get(&mut self, id: VersionId) -> Option<T> {
        if let Some((value, _)) = self.young.get(&id) {
            return Some(value.clone());
        }
        let (value, bytes) = self.old.remove(&id)?;
        self.insert(id, value.clone(), bytes);
        Some(value)
    }

    pub(crate) fn insert(&mut self, id: VersionId, value: T, bytes: usize) {
        if self.bytes + bytes > self.max_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.young.insert(id, (value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_values_stay_within_the_byte_limit() {
        let mut cache = Cache::new(100);
        for id in 0..50 {
            cache.insert(id, id, 10);
            assert_eq!(cache.get(0), Some(0));
            assert!(cache.young.len() + cache.old.len() <= 11);
        }
        assert_eq!((cache.get(1), cache.get(49)), (None, Some(49)));
    }
}

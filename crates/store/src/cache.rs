//! What was read stays at hand, up to a number of bytes.

use std::collections::HashMap;

use codecompass_model::VersionId;

/// Values of file versions, which never change. What was not asked for while half of the room was filled anew is
/// dropped.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    young: HashMap<VersionId, (T, usize)>,
    old: HashMap<VersionId, (T, usize)>,
    /// The bytes of the young ones.
    bytes: usize,
    most: usize,
}

impl<T: Clone> Cache<T> {
    /// An empty one for so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), bytes: 0, most }
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
        if self.bytes + bytes > self.most / 2 {
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
    fn what_is_asked_for_stays_and_the_room_is_bounded() {
        let mut cache = Cache::new(100);
        for id in 0..50 {
            cache.insert(id, id, 10);
            assert_eq!(cache.get(0), Some(0));
            assert!(cache.young.len() + cache.old.len() <= 11);
        }
        assert_eq!((cache.get(1), cache.get(49)), (None, Some(49)));
    }
}

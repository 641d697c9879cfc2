//! A cache of decoded file versions, shared by the threads of a process and limited by bytes.
//!
//! A file version never changes: what is decoded depends on its path, its bytes and the extraction that read them. The
//! key of an entry is exactly that, so an entry is valid for every view, generation and thread, and is kept when a view
//! is published. The epoch is part of the key only because a rebuilt index may contain what an earlier extraction had
//! to give up.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use codecompass_model::{BlobId, FileFacts, ViewKey};

use crate::names::ViewNames;
use crate::{Outline, VersionInfo};

/// The default limit in bytes.
const DEFAULT_MAX_BYTES: usize = 64 << 20;

/// The estimated size of an entry without its value.
const ENTRY_BYTES: usize = 96;

/// The maximum number of views whose names are kept, in addition to the limit.
const MAX_NAMED_VIEWS: usize = 2;

/// The part of the limit that texts may fill, so that a scan of many texts does not displace everything else.
const TEXT_SHARE: usize = 4;

/// Decoded outlines, facts and texts of file versions. Values that are not used while half of the limit is refilled are
/// dropped. Facts are counted without their symbols, which they share with the outline; the symbols of facts whose
/// outline was dropped are in excess of the limit.
#[derive(Debug)]
pub struct VersionCache {
    decoded: Mutex<Entries>,
    texts: Mutex<Entries>,
    names: Mutex<Vec<(u64, Publication, Arc<ViewNames>)>>,
    max_bytes: AtomicUsize,
    uses: AtomicU64,
    hasher: RandomState,
}

/// One publication of a view: generation, time, digest and number of files. A rebuilt index restarts its generations.
pub(crate) type Publication = (i64, i64, i64, u64);

/// What a decoded value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VersionKey {
    blob: BlobId,
    facts_version: u32,
    /// A hash of the epoch, the path and the language, with keys of this process.
    identity: u64,
}

/// A decoded part of a version.
#[derive(Clone, Debug)]
pub(crate) enum Decoded {
    Outline(Arc<Outline>),
    Facts(Arc<FileFacts>),
    Text(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Outline,
    Facts,
    Text,
}

#[derive(Debug, Default)]
struct Entries {
    young: HashMap<(VersionKey, Part), (Decoded, usize)>,
    old: HashMap<(VersionKey, Part), (Decoded, usize)>,
    /// The size of the young values.
    bytes: usize,
}

impl Default for VersionCache {
    fn default() -> Self {
        Self {
            decoded: Mutex::default(),
            texts: Mutex::default(),
            names: Mutex::default(),
            max_bytes: AtomicUsize::new(DEFAULT_MAX_BYTES),
            uses: AtomicU64::new(0),
            hasher: RandomState::new(),
        }
    }
}

impl VersionCache {
    /// Sets the limit in bytes, which holds from the next insertion on.
    pub fn set_max_bytes(&self, max: usize) {
        self.max_bytes.store(max, Ordering::Relaxed);
    }

    /// Returns the number of look-ups so far.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }

    /// Drops every value.
    pub fn clear(&self) {
        for part in [Part::Facts, Part::Text] {
            // The values are dropped after the lock is released.
            let dropped = std::mem::take(&mut *self.entries(part));
            drop(dropped);
        }
        self.named_views().clear();
    }

    /// Returns the names of a publication of a view. Those of its earlier publications are dropped.
    pub(crate) fn names(&self, view: u64, publication: Publication) -> Arc<ViewNames> {
        self.uses.fetch_add(1, Ordering::Relaxed);
        let mut known = self.named_views();
        if let Some((.., names)) = known.iter().find(|(of, at, _)| (*of, *at) == (view, publication)) {
            return Arc::clone(names);
        }
        known.retain(|(of, ..)| *of != view);
        if known.len() == MAX_NAMED_VIEWS {
            known.remove(0);
        }
        let names = Arc::<ViewNames>::default();
        known.push((view, publication, Arc::clone(&names)));
        names
    }

    fn named_views(&self) -> MutexGuard<'_, Vec<(u64, Publication, Arc<ViewNames>)>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key of a view of an epoch.
    pub(crate) fn view_key(&self, epoch: u64, view: &ViewKey) -> u64 {
        self.hasher.hash_one((epoch, view))
    }

    /// Returns the part of all keys of an epoch that does not depend on the version.
    pub(crate) fn epoch_key(&self, epoch: &Path) -> u64 {
        self.hasher.hash_one(epoch)
    }

    pub(crate) fn key(&self, epoch: u64, version: &VersionInfo) -> VersionKey {
        let identity = self.hasher.hash_one((epoch, &version.path, &version.language));
        VersionKey { blob: version.blob, facts_version: version.facts_version, identity }
    }

    pub(crate) fn get(&self, key: VersionKey, part: Part) -> Option<Decoded> {
        self.uses.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries(part);
        if let Some((value, _)) = entries.young.get(&(key, part)) {
            return Some(value.clone());
        }
        let (value, bytes) = entries.old.remove(&(key, part))?;
        let dropped = entries.insert(key, part, value.clone(), bytes, self.max_bytes_for(part));
        drop(entries);
        drop(dropped);
        Some(value)
    }

    /// Adds a value of `bytes` bytes.
    pub(crate) fn insert(&self, key: VersionKey, part: Part, value: Decoded, bytes: usize) {
        let dropped = self.entries(part).insert(key, part, value, bytes + ENTRY_BYTES, self.max_bytes_for(part));
        drop(dropped);
    }

    fn max_bytes_for(&self, part: Part) -> usize {
        let all = self.max_bytes.load(Ordering::Relaxed);
        if part == Part::Text { all / TEXT_SHARE } else { all - all / TEXT_SHARE }
    }

    fn entries(&self, part: Part) -> MutexGuard<'_, Entries> {
        let entries = if part == Part::Text { &self.texts } else { &self.decoded };
        entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Adds a value and returns the values that are dropped, so that the caller frees them without the lock.
    #[must_use]
    fn insert(
        &mut self,
        key: VersionKey,
        part: Part,
        value: Decoded,
        bytes: usize,
        max: usize,
    ) -> HashMap<(VersionKey, Part), (Decoded, usize)> {
        let mut dropped = HashMap::new();
        if self.bytes + bytes > max / 2 {
            dropped = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            self.bytes = 0;
        }
        if let Some((_, replaced)) = self.young.insert((key, part), (value, bytes)) {
            self.bytes -= replaced;
        }
        self.bytes += bytes;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(path: &str, facts_version: u32, language: &str) -> VersionInfo {
        VersionInfo {
            id: 1,
            path: path.to_owned(),
            blob: BlobId([7; 20]),
            language: language.to_owned(),
            facts_version,
            lines: 1,
            symbols: 0,
            bytes: 4,
        }
    }

    #[test]
    fn names_are_kept_for_one_publication_of_few_views() {
        let cache = VersionCache::default();
        let publication = |generation| (generation, 5, 7, 1);
        let first = cache.names(1, publication(1));
        assert!(Arc::ptr_eq(&first, &cache.names(1, publication(1))));
        assert!(!Arc::ptr_eq(&first, &cache.names(1, publication(2))));
        assert!(!Arc::ptr_eq(&first, &cache.names(1, publication(1))), "an earlier publication is not kept");
        let first = cache.names(1, publication(1));
        for view in 2..=MAX_NAMED_VIEWS as u64 + 1 {
            cache.names(view, publication(1));
        }
        assert!(!Arc::ptr_eq(&first, &cache.names(1, publication(1))));
        cache.clear();
        assert!(cache.named_views().is_empty());
    }

    fn text(number: usize) -> Decoded {
        Decoded::Text(number.to_string().into())
    }

    fn number(cache: &VersionCache, key: VersionKey) -> Option<String> {
        match cache.get(key, Part::Text) {
            Some(Decoded::Text(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    #[test]
    fn used_values_stay_within_the_byte_limit() {
        let cache = VersionCache::default();
        cache.set_max_bytes(TEXT_SHARE * 10 * (ENTRY_BYTES + 4));
        let keys: Vec<VersionKey> = (0..50).map(|at| cache.key(1, &version(&format!("{at}.rs"), 1, "rust"))).collect();
        for (at, key) in keys.iter().enumerate() {
            cache.insert(*key, Part::Text, text(at), 4);
            assert_eq!(number(&cache, keys[0]).as_deref(), Some("0"));
            let entries = cache.entries(Part::Text);
            assert!(entries.young.len() + entries.old.len() <= 11);
        }
        assert_eq!((number(&cache, keys[1]), number(&cache, keys[49])), (None, Some("49".to_owned())));
    }

    #[test]
    fn values_of_other_epochs_paths_languages_and_extractions_are_apart() {
        let cache = VersionCache::default();
        let known = version("a.h", 1, "c");
        cache.insert(cache.key(1, &known), Part::Text, text(1), 4);
        assert_eq!(number(&cache, cache.key(1, &known)).as_deref(), Some("1"));
        for other in [version("b.h", 1, "c"), version("a.h", 1, "cpp"), version("a.h", 2, "c")] {
            assert_eq!(number(&cache, cache.key(1, &other)), None);
        }
        assert_eq!(number(&cache, cache.key(2, &known)), None);
        assert!(cache.get(cache.key(1, &known), Part::Outline).is_none());
    }
}

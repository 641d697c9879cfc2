//! Bounds on the size of one listing.
//!
//! A git tree names other trees by id and may name one tree many times: sixteen small objects can have 10^10 paths.
//! Every walk over a source therefore counts its visits in a [`Budget`] and fails with [`SourceError::ListingTooLarge`]
//! if the limit is exceeded; it never returns a partial listing as a complete one. A walk over git trees that finds
//! many trees again first computes the size of the whole expansion ([`Visited::note`]), with one visit per distinct
//! tree, and so refuses such a tree after a few hundred visits.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::objects::{BlobReader, corrupt_object};
use super::rules::{RuleText, RuleTexts};
use super::{MAX_PATH_BYTES, SourceError};

/// The maximum number of entries (files, folders, links, submodules) of one listing: twice those of the largest public
/// repositories (Chromium has about 500,000). An entry takes 220 bytes at the peak of a listing (measured with 923,521
/// entries and short paths: 194 MiB), so a listing at both limits takes about 350 MB.
pub(super) const MAX_ENTRIES: u64 = 1_000_000;

/// The maximum total length of all paths of one listing: 134 bytes per path at the maximum number of entries.
pub(super) const MAX_LISTED_PATH_BYTES: u64 = 128 << 20;

/// The maximum size of a tree or commit object. The largest folders of public repositories have about 5 MB.
pub(super) const MAX_TREE_BYTES: u64 = 16 << 20;

/// The maximum total size of all rule files of one listing: a tree can name one large file in a thousand folders, and
/// each is read and compiled separately. The rule files of the Linux kernel have 100 KB in total.
const MAX_RULE_BYTES: u64 = 4 << 20;

/// The maximum number of repeated trees before the size of the whole expansion is computed. Ordinary repositories have
/// few equal folders, so they never pay for it.
const MAX_REPEATS: usize = 512;

/// Counts the visits of a walk. Shared by the threads of a walk.
#[derive(Debug, Default)]
pub(super) struct Budget {
    entries: AtomicU64,
    path_bytes: AtomicU64,
    rule_bytes: AtomicU64,
}

impl Budget {
    /// Counts this many entries, whose paths have this many bytes in total.
    pub(super) fn take(&self, entries: u64, path_bytes: u64) -> Result<(), SourceError> {
        let entries = self.entries.fetch_add(entries, Ordering::Relaxed).saturating_add(entries);
        let path_bytes = self.path_bytes.fetch_add(path_bytes, Ordering::Relaxed).saturating_add(path_bytes);
        Size { entries, path_bytes }.check()
    }

    /// Counts the rule files of a folder.
    pub(super) fn take_rules(&self, texts: &RuleTexts) -> Result<(), SourceError> {
        let bytes = |text: &RuleText| match text {
            RuleText::Text(text) => text.len() as u64,
            RuleText::Absent | RuleText::TooLarge => 0,
        };
        let bytes: u64 = texts.iter().map(bytes).sum();
        if bytes == 0 || self.rule_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= MAX_RULE_BYTES {
            return Ok(());
        }
        Err(SourceError::ListingTooLarge { what: "bytes of ignore and attribute files", limit: MAX_RULE_BYTES })
    }

    /// Counts the entries of a tree at this path.
    pub(super) fn take_tree(&self, folder: &[u8], tree: &gix::objs::TreeRef<'_>) -> Result<(), SourceError> {
        let entries = tree.entries.len() as u64;
        let names: u64 = tree.entries.iter().map(|entry| entry.filename.len() as u64).sum();
        self.take(entries, names.saturating_add(entries.saturating_mul(folder.len() as u64)))
    }
}

/// The size of everything below a tree: the number of entries, and the total length of their paths from there.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    entries: u64,
    path_bytes: u64,
}

impl Size {
    fn check(self) -> Result<(), SourceError> {
        if self.entries > MAX_ENTRIES {
            return Err(SourceError::ListingTooLarge { what: "files and folders", limit: MAX_ENTRIES });
        }
        if self.path_bytes > MAX_LISTED_PATH_BYTES {
            return Err(SourceError::ListingTooLarge { what: "bytes of paths", limit: MAX_LISTED_PATH_BYTES });
        }
        Ok(())
    }

    /// Adds an entry with a name of this length, and everything below it.
    fn add(&mut self, name: u64, below: Size) {
        let entries = below.entries.saturating_add(1);
        self.entries = self.entries.saturating_add(entries);
        let prefixes = name.saturating_add(1).saturating_mul(below.entries);
        let added = name.saturating_add(prefixes).saturating_add(below.path_bytes);
        self.path_bytes = self.path_bytes.saturating_add(added);
    }
}

/// The trees that a walk has visited.
pub(super) struct Visited<K> {
    roots: Vec<gix::ObjectId>,
    seen: HashSet<K>,
    repeats: usize,
    is_checked: bool,
}

impl<K: std::hash::Hash + Eq> Visited<K> {
    /// Creates the record of a walk that starts at these trees.
    pub(super) fn new(roots: Vec<gix::ObjectId>) -> Self {
        Self { roots, seen: HashSet::new(), repeats: 0, is_checked: false }
    }

    /// Records a tree, or a pair of trees. After many repeats, checks once that the expansion is within the limits.
    pub(super) fn note(&mut self, reader: &BlobReader, key: K) -> Result<(), SourceError> {
        if self.seen.insert(key) {
            return Ok(());
        }
        self.repeats += 1;
        if self.repeats > MAX_REPEATS && !self.is_checked {
            self.is_checked = true;
            for root in &self.roots {
                check_expansion(reader, *root)?;
            }
        }
        Ok(())
    }
}

/// A tree whose sub-trees are being measured.
struct Open {
    id: gix::ObjectId,
    /// Sub-trees still to be added, with the lengths of their names.
    below: Vec<(gix::ObjectId, u64)>,
    size: Size,
}

/// Checks that all paths below a tree are within the limits, with one visit per distinct tree.
pub(super) fn check_expansion(reader: &BlobReader, root: gix::ObjectId) -> Result<(), SourceError> {
    // `None` for an open tree: an open tree that is found again contains itself, which no hash function allows.
    let mut known: HashMap<gix::ObjectId, Option<Size>> = HashMap::from([(root, None)]);
    let mut open = vec![opened(reader, root)?];
    while let Some(tree) = open.last_mut() {
        tree.size.check()?;
        let Some((id, name)) = tree.below.last().copied() else {
            known.insert(tree.id, Some(tree.size));
            open.pop();
            continue;
        };
        match known.get(&id) {
            Some(Some(size)) => {
                tree.size.add(name, *size);
                tree.below.pop();
            }
            Some(None) => return Err(corrupt_object(id, "the tree contains itself")),
            None if open.len() > MAX_PATH_BYTES => {
                return Err(SourceError::ListingTooLarge { what: "nested folders", limit: MAX_PATH_BYTES as u64 });
            }
            None => {
                known.insert(id, None);
                open.push(opened(reader, id)?);
            }
        }
    }
    Ok(())
}

fn opened(reader: &BlobReader, id: gix::ObjectId) -> Result<Open, SourceError> {
    let bytes = reader.object(id, Kind::Tree)?;
    let tree = gix::objs::TreeRef::from_bytes(&bytes, id.kind()).map_err(|error| corrupt_object(id, error))?;
    let mut open = Open { id, below: Vec::new(), size: Size::default() };
    for entry in &tree.entries {
        let name = entry.filename.len() as u64;
        match entry.mode.kind() {
            EntryKind::Tree => open.below.push((entry.oid.to_owned(), name)),
            _ => open.size.add(name, Size::default()),
        }
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_at_the_limit_and_not_before() {
        let budget = Budget::default();
        budget.take(MAX_ENTRIES, 0).expect("the limit itself is allowed");
        assert!(matches!(budget.take(1, 0), Err(SourceError::ListingTooLarge { limit: MAX_ENTRIES, .. })));
        let budget = Budget::default();
        budget.take(1, MAX_LISTED_PATH_BYTES).expect("the limit itself is allowed");
        assert!(matches!(budget.take(1, 1), Err(SourceError::ListingTooLarge { limit: MAX_LISTED_PATH_BYTES, .. })));
    }

    #[test]
    fn sizes_add_up_as_the_paths_of_an_expansion_do() {
        // Two files `a` and `bc` below a folder `dir`, twice below the root.
        let mut folder = Size::default();
        folder.add(1, Size::default());
        folder.add(2, Size::default());
        let mut root = Size::default();
        root.add(3, folder);
        root.add(3, folder);
        let paths = ["dir", "dir/a", "dir/bc"];
        assert_eq!(root.entries, 2 * paths.len() as u64);
        assert_eq!(root.path_bytes, 2 * paths.iter().map(|path| path.len() as u64).sum::<u64>());
        let mut huge = Size { entries: u64::MAX, path_bytes: u64::MAX };
        huge.add(3, huge);
        assert_eq!((huge.entries, huge.path_bytes), (u64::MAX, u64::MAX));
    }
}

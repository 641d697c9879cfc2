//! Finds the files that differ between two git trees, and between a tree and a work tree.
//!
//! Lists what `git diff --name-status -M` would list, including files that are in no view. Trees with equal ids are not
//! opened, so the cost depends on the differences only. `renames.rs` decides which deleted and added files are renames.

use std::collections::BTreeMap;

use codecompass_model::BlobId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::bounds::{Budget, Visited};
use super::objects::{BlobReader, corrupt_object};
use super::renames::{BlobSource, find_renames};
use super::{MAX_PATH_BYTES, Repo, SourceError};

/// An entry of a tree that is not a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The id of its bytes; for a submodule, the commit id.
    pub blob: BlobId,
    /// Its file mode.
    pub mode: FileMode,
}

/// The kinds of entries that are not folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// A file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A submodule.
    Submodule,
}

impl FileMode {
    /// Whether it is a regular file with its own content.
    pub fn is_file(self) -> bool {
        matches!(self, FileMode::File | FileMode::Executable)
    }
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    /// The file was added.
    Added,
    /// The content or the mode changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The path changed, and possibly the content.
    Renamed,
}

impl ChangeType {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeType::Added => "added",
            ChangeType::Modified => "modified",
            ChangeType::Deleted => "deleted",
            ChangeType::Renamed => "renamed",
        }
    }
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path after the change, or before it if the file was deleted.
    pub path: String,
    /// The path before, if the file was renamed.
    pub old_path: Option<String>,
    /// The entry before the change.
    pub before: Option<TreeEntry>,
    /// The entry after the change.
    pub after: Option<TreeEntry>,
}

impl FileChange {
    /// Returns the kind of the change.
    pub fn change_type(&self) -> ChangeType {
        match (&self.before, &self.after) {
            _ if self.old_path.is_some() => ChangeType::Renamed,
            (None, _) => ChangeType::Added,
            (_, None) => ChangeType::Deleted,
            _ => ChangeType::Modified,
        }
    }

    /// Returns the path before the change.
    pub fn path_before(&self) -> &str {
        self.old_path.as_deref().unwrap_or(&self.path)
    }
}

/// A file of a work tree that differs from the checked-out commit.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The path.
    pub path: String,
    /// The bytes in the commit.
    pub committed: Option<BlobId>,
    /// The bytes in the work tree.
    pub edited: Option<BlobId>,
}

impl Repo {
    /// Returns the files that differ between two commits, given by their full ids, sorted by path. Renames are not
    /// detected. More differences than the maximum number of entries of a listing are an error.
    pub fn tree_changes(&self, before: &str, after: &str) -> Result<Vec<FileChange>, SourceError> {
        let reader = self.reader();
        let mut found: BTreeMap<Vec<u8>, FileChange> = BTreeMap::new();
        let roots = [reader.tree_of(before)?, reader.tree_of(after)?];
        let (budget, mut visited) = (Budget::default(), Visited::new(roots.to_vec()));
        let mut waiting = vec![(Vec::new(), Some(roots[0]), Some(roots[1]))];
        while let Some((folder, before, after)) = waiting.pop() {
            if before == after {
                continue;
            }
            if folder.len() > MAX_PATH_BYTES {
                return Err(SourceError::ListingTooLarge { what: "bytes in one path", limit: MAX_PATH_BYTES as u64 });
            }
            visited.note(&reader, (before, after))?;
            let (mut old, new) =
                (entries(&reader, before, &folder, &budget)?, entries(&reader, after, &folder, &budget)?);
            let mut both: Vec<(EntryKey, Option<RawEntry>, Option<RawEntry>)> =
                new.into_iter().map(|(key, entry)| (key.clone(), old.remove(&key), Some(entry))).collect();
            both.extend(old.into_iter().map(|(key, entry)| (key, Some(entry), None)));
            for (key, old, new) in both {
                let mut path = folder.clone();
                path.extend_from_slice(&key.name);
                if key.is_tree {
                    path.push(b'/');
                    let id = |entry: Option<RawEntry>| entry.map(|(_, id)| id);
                    waiting.push((path, id(old), id(new)));
                } else if old != new {
                    let change = FileChange {
                        path: String::from_utf8_lossy(&path).into_owned(),
                        old_path: None,
                        before: old.and_then(side),
                        after: new.and_then(side),
                    };
                    found.insert(path, change);
                }
            }
        }
        Ok(found.into_values().collect())
    }
}

/// Returns the changes from a tree to a work tree: those to the checked-out commit, with the edits applied.
pub fn with_edits(changes: Vec<FileChange>, edits: &[Edit]) -> Vec<FileChange> {
    let mut all: BTreeMap<String, FileChange> =
        changes.into_iter().map(|change| (change.path.clone(), change)).collect();
    let file = |blob: Option<BlobId>| blob.map(|blob| TreeEntry { blob, mode: FileMode::File });
    for edit in edits {
        let change = all.entry(edit.path.clone()).or_insert_with(|| FileChange {
            path: edit.path.clone(),
            old_path: None,
            before: file(edit.committed),
            after: None,
        });
        // A work tree's view does not record modes; an edit keeps the mode of the commits.
        let form = change.after.or(change.before).map_or(FileMode::File, |side| side.mode);
        change.after = file(edit.edited).map(|side| TreeEntry { mode: form, ..side });
        if change.before == change.after {
            all.remove(&edit.path);
        }
    }
    all.into_values().collect()
}

/// Joins deleted and added files that belong together to renames, sorted by path.
pub fn with_renames(mut changes: Vec<FileChange>, contents: &mut dyn BlobSource) -> Vec<FileChange> {
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    let (gone, come): (Vec<usize>, Vec<usize>) = (0..changes.len())
        .filter(|at| changes[*at].change_type() != ChangeType::Modified)
        .partition(|at| changes[*at].after.is_none());
    let sources: Vec<(&str, TreeEntry)> = sides(&changes, &gone, |change| change.before);
    let targets: Vec<(&str, TreeEntry)> = sides(&changes, &come, |change| change.after);
    let pairs = find_renames(&sources, &targets, contents);
    let mut is_joined = vec![false; changes.len()];
    for (source, target) in pairs {
        let (gone, come) = (gone[source], come[target]);
        is_joined[gone] = true;
        let (old_path, before) = (changes[gone].path.clone(), changes[gone].before);
        changes[come].old_path = Some(old_path);
        changes[come].before = before;
    }
    let mut is_joined = is_joined.into_iter();
    changes.retain(|_| is_joined.next() != Some(true));
    changes
}

fn sides<'c>(
    changes: &'c [FileChange],
    chosen: &[usize],
    side: impl Fn(&FileChange) -> Option<TreeEntry>,
) -> Vec<(&'c str, TreeEntry)> {
    chosen.iter().filter_map(|at| Some((changes[*at].path.as_str(), side(&changes[*at])?))).collect()
}

/// The key of a tree entry. A file and a folder with the same name are different entries.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EntryKey {
    name: Vec<u8>,
    is_tree: bool,
}

type RawEntry = (EntryKind, gix::ObjectId);

fn entries(
    reader: &BlobReader,
    id: Option<gix::ObjectId>,
    folder: &[u8],
    budget: &Budget,
) -> Result<BTreeMap<EntryKey, RawEntry>, SourceError> {
    let Some(id) = id else { return Ok(BTreeMap::new()) };
    let bytes = reader.object(id, Kind::Tree)?;
    let tree = gix::objs::TreeRef::from_bytes(&bytes, id.kind()).map_err(|error| corrupt_object(id, error))?;
    budget.take_tree(folder, &tree)?;
    let entry = |entry: &gix::objs::tree::EntryRef<'_>| {
        let kind = entry.mode.kind();
        let key = EntryKey { name: entry.filename.to_vec(), is_tree: kind == EntryKind::Tree };
        (key, (kind, entry.oid.to_owned()))
    };
    Ok(tree.entries.iter().map(entry).collect())
}

fn side((kind, id): RawEntry) -> Option<TreeEntry> {
    let form = match kind {
        EntryKind::Blob => FileMode::File,
        EntryKind::BlobExecutable => FileMode::Executable,
        EntryKind::Link => FileMode::Link,
        EntryKind::Commit => FileMode::Submodule,
        EntryKind::Tree => return None,
    };
    Some(TreeEntry { blob: BlobId::from_bytes(id.as_bytes())?, mode: form })
}

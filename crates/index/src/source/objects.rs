//! Reads git objects: blobs by id, and the files of a commit.
//!
//! A commit is listed one depth of its tree after the other, each depth in parallel. Only trees and the few blobs that
//! hold rules are inflated; for all other objects only the header is read, for the size.

use codecompass_model::{BlobId, SkipReason};
use gix::objs::Kind;
use gix::objs::tree::EntryKind;
use rayon::prelude::*;

use super::bounds::{Budget, MAX_TREE_BYTES, Visited};
use super::rules::{Inherited, MAX_RULE_FILE_BYTES, RuleFile, RuleStack, RuleText, RuleTexts, Rules, push_level};
use super::{ContentSource, Entry, Limits, Listing, MAX_PATH_BYTES, Repo, SourceError};

/// Returns git's id for a blob with these bytes.
///
/// The hash function refuses bytes that were crafted to collide. git would not accept them either, so there is no id to
/// agree on; their id is that of the same bytes after a prefix word, which does not collide.
pub fn blob_id(bytes: &[u8]) -> BlobId {
    let hash = |bytes: &[u8]| {
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, bytes).ok()?;
        BlobId::from_bytes(id.as_slice())
    };
    hash(bytes).or_else(|| hash(&[b"collision ", bytes].concat())).unwrap_or(BlobId([0; 20]))
}

/// Reads blobs. Each thread has its own reader.
pub struct BlobReader {
    repo: gix::Repository,
    checks: Repo,
}

impl BlobReader {
    /// Returns the bytes of a blob.
    pub fn read(&mut self, id: &BlobId) -> Result<Vec<u8>, SourceError> {
        self.object(object_id(id), Kind::Blob)
    }

    /// Returns the size of a blob, from its header: much cheaper than reading its bytes.
    pub fn size(&self, id: &BlobId) -> Result<u64, SourceError> {
        self.checks.check_object(&object_id(id))?;
        let mut header = self.repo.try_find_header(object_id(id)).map_err(|error| corrupt_object(id, error))?;
        if header.is_none() {
            header =
                self.checks.refreshed()?.try_find_header(object_id(id)).map_err(|error| corrupt_object(id, error))?;
        }
        let header = header.ok_or_else(|| SourceError::MissingObject { id: id.to_string() })?;
        match header.kind() {
            Kind::Blob => Ok(header.size()),
            kind => Err(corrupt_object(id, format!("it is a {kind}, not a blob"))),
        }
    }

    /// Returns the bytes of an object. The header of a tree or commit is read first, so that a small object that
    /// inflates to gigabytes is refused before memory is allocated for it. For blobs, the callers check the size.
    pub(super) fn object(&self, id: gix::ObjectId, kind: Kind) -> Result<Vec<u8>, SourceError> {
        self.checks.check_object(&id)?;
        let find = |repo: &gix::Repository| {
            if kind != Kind::Blob {
                let header = repo.try_find_header(id).map_err(|error| corrupt_object(id, error))?;
                if let Some(size) = header.map(|header| header.size()).filter(|size| *size > MAX_TREE_BYTES) {
                    let (id, kind) = (id.to_string(), kind.to_string());
                    return Err(SourceError::ObjectTooLarge { id, kind, size, limit: MAX_TREE_BYTES });
                }
            }
            let found = repo.try_find_object(id).map_err(|error| corrupt_object(id, error))?;
            Ok(found.map(gix::Object::detach))
        };
        let mut object = find(&self.repo)?;
        if object.is_none() {
            object = find(&self.checks.refreshed()?)?;
        }
        self.checks.check_opened(&self.repo)?;
        let object = object.ok_or_else(|| SourceError::MissingObject { id: id.to_string() })?;
        if object.kind != kind {
            return Err(corrupt_object(id, format!("it is a {}, not a {kind}", object.kind)));
        }
        Ok(object.data)
    }

    /// Returns the tree of a commit, given by its full id.
    pub(super) fn tree_of(&self, commit: &str) -> Result<gix::ObjectId, SourceError> {
        let unknown = || SourceError::UnknownRef { name: commit.to_owned() };
        let id = gix::ObjectId::from_hex(commit.as_bytes()).map_err(|_| unknown())?;
        let bytes = self.object(id, Kind::Commit)?;
        Ok(gix::objs::CommitRef::from_bytes(&bytes, id.kind()).map_err(|error| corrupt_object(id, error))?.tree())
    }

    /// Returns the text of a rule file.
    fn rule_text(&self, id: &BlobId) -> RuleText {
        match self.size(id) {
            Ok(size) if size > MAX_RULE_FILE_BYTES => RuleText::TooLarge,
            Ok(_) => self.object(object_id(id), Kind::Blob).map_or(RuleText::Absent, RuleText::Text),
            Err(_) => RuleText::Absent,
        }
    }
}

impl Repo {
    /// Creates a blob reader for one thread.
    pub fn reader(&self) -> BlobReader {
        BlobReader { repo: self.unrefreshed(), checks: self.clone() }
    }

    /// Returns the size of a blob, from its header. For many blobs, keep a [`Repo::reader`].
    pub fn blob_size(&self, id: &BlobId) -> Result<u64, SourceError> {
        self.reader().size(id)
    }

    /// Lists the files of a commit, given by its full id, directly from the objects.
    ///
    /// A blob that a partial clone does not have is a skip. A missing tree is an error, since the files missing from
    /// the listing would be unknown. So is a commit with more than the maximum number of paths
    /// ([`SourceError::ListingTooLarge`]). A path that is longer than [`MAX_PATH_BYTES`] is a skip, as it is in a work
    /// tree.
    pub fn list_commit(&self, commit: &str, limits: &Limits) -> Result<Listing, SourceError> {
        let reader = self.reader();
        let root = reader.tree_of(commit)?;
        let (budget, mut visited) = (Budget::default(), Visited::new(vec![root]));
        let rules = Rules::new(limits, Vec::new())?;
        let top = Folder { id: root, path: String::new(), levels: None, inherited: Inherited::default() };
        let (mut depth, mut parts) = (vec![top], Vec::new());
        while !depth.is_empty() {
            let listed: Vec<(Listing, Vec<Folder>)> = depth
                .into_par_iter()
                .map_init(|| self.reader(), |reader, folder| list_tree(reader, &rules, limits, &folder, &budget, None))
                .collect::<Result<_, _>>()?;
            depth = Vec::new();
            for (part, folders) in listed {
                parts.push(part);
                for folder in &folders {
                    visited.note(&reader, folder.id)?;
                }
                depth.extend(folders);
            }
        }
        Ok(Listing::from_parts(parts))
    }

    /// Returns for one path what a listing of the whole commit would: an entry, or a skip of the path or of a folder
    /// above it. Returns neither if the commit has no such file.
    pub(super) fn list_path(&self, commit: &str, path: &str, limits: &Limits) -> Result<Listing, SourceError> {
        if path.len() > MAX_PATH_BYTES {
            return Ok(Listing::default());
        }
        let (reader, rules) = (self.reader(), Rules::new(limits, Vec::new())?);
        let id = reader.tree_of(commit)?;
        let mut next = Some(Folder { id, path: String::new(), levels: None, inherited: Inherited::default() });
        let mut listing = Listing::default();
        for name in path.split('/') {
            let Some(folder) = next else { return Ok(Listing::default()) };
            // One folder per step: each of them has to be within the limits.
            let budget = Budget::default();
            let (part, mut below) = list_tree(&reader, &rules, limits, &folder, &budget, Some(name))?;
            listing = part;
            if listing.skips.total() > 0 {
                return Ok(listing);
            }
            next = below.pop();
        }
        Ok(listing)
    }
}

/// A tree still to be listed.
struct Folder {
    id: gix::ObjectId,
    /// With the closing slash; empty for the root.
    path: String,
    levels: RuleStack,
    inherited: Inherited,
}

/// Lists the files of a tree and the folders in it that are to be listed; with a name, only that entry.
fn list_tree(
    reader: &BlobReader,
    rules: &Rules,
    limits: &Limits,
    folder: &Folder,
    budget: &Budget,
    only: Option<&str>,
) -> Result<(Listing, Vec<Folder>), SourceError> {
    let bytes = reader.object(folder.id, Kind::Tree)?;
    let tree =
        gix::objs::TreeRef::from_bytes(&bytes, folder.id.kind()).map_err(|error| corrupt_object(folder.id, error))?;
    budget.take_tree(folder.path.as_bytes(), &tree)?;
    let texts = rule_texts(reader, &tree);
    budget.take_rules(&texts)?;
    let descent = push_level(&folder.levels, folder.path.len(), &texts);
    let (mut listing, mut folders) = (Listing::default(), Vec::new());
    if only.is_none() {
        descent.report(&folder.path, &mut listing.skips);
    }
    let levels = descent.levels;
    for entry in &tree.entries {
        if is_forbidden_name(entry.filename) || only.is_some_and(|only| entry.filename != only) {
            continue;
        }
        if folder.path.len() + entry.filename.len() > MAX_PATH_BYTES {
            listing.skips.add(SkipReason::Unreadable, folder.path.trim_end_matches('/'));
            continue;
        }
        let Ok(name) = std::str::from_utf8(entry.filename) else {
            let path = format!("{}{}", folder.path, String::from_utf8_lossy(entry.filename));
            listing.skips.add(SkipReason::PathNotUtf8, &path);
            continue;
        };
        let mut path = format!("{}{name}", folder.path);
        let kind = entry.mode.kind();
        if kind == EntryKind::Tree {
            match rules.enter_folder(&levels, &path, folder.inherited, true) {
                Ok(inherited) => {
                    path.push('/');
                    folders.push(Folder { id: entry.oid.to_owned(), path, levels: levels.clone(), inherited });
                }
                Err(reason) => listing.skips.add(reason, &path),
            }
            continue;
        }
        let by_rules = match kind {
            EntryKind::Commit => rules.enter_folder(&levels, &path, folder.inherited, true).err(),
            _ => rules.file_skip_reason(&levels, &path, folder.inherited, true),
        };
        let id = BlobId::from_bytes(entry.oid.as_bytes());
        match (by_rules, kind, id) {
            (Some(reason), ..) => listing.skips.add(reason, &path),
            (None, EntryKind::Link, _) => listing.skips.add(SkipReason::Symlink, &path),
            (None, EntryKind::Blob | EntryKind::BlobExecutable, Some(id)) => match reader.size(&id) {
                Ok(size) if size > limits.max_file_bytes => listing.skips.add(SkipReason::TooLarge, &path),
                Ok(size) => listing.entries.push(Entry { path, size, source: ContentSource::Blob(id) }),
                Err(SourceError::MissingObject { .. }) => listing.skips.add(SkipReason::MissingObject, &path),
                Err(_) => listing.skips.add(SkipReason::Unreadable, &path),
            },
            _ => listing.skips.add(SkipReason::Submodule, &path),
        }
    }
    Ok((listing, folders))
}

fn rule_texts(reader: &BlobReader, tree: &gix::objs::TreeRef<'_>) -> RuleTexts {
    let mut texts = RuleTexts::default();
    for entry in tree.entries.iter().filter(|entry| entry.mode.is_blob()) {
        // Ignored files are not in git's trees, so `.gitignore` is not read here.
        if let Some(kind) = RuleFile::from_name(entry.filename).filter(|kind| *kind != RuleFile::Git)
            && let Some(id) = BlobId::from_bytes(entry.oid.as_bytes())
        {
            texts[kind as usize] = reader.rule_text(&id);
        }
    }
    texts
}

/// Whether git itself would refuse to check out this name.
pub(super) fn is_forbidden_name(name: &[u8]) -> bool {
    matches!(name, b"" | b"." | b".." | b".git") || name.contains(&b'/')
}

fn object_id(id: &BlobId) -> gix::ObjectId {
    gix::ObjectId::Sha1(id.0)
}

pub(super) fn corrupt_object(id: impl ToString, what: impl ToString) -> SourceError {
    SourceError::CorruptObject { id: id.to_string(), what: what.to_string() }
}

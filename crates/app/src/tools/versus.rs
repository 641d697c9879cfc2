//! Two states of a repository side by side: code shared by the tools about changes.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_index::Target;
use codecompass_index::source::{BlobReader, Contents, Edit, FileChange, Repo, with_edits, with_renames};
use codecompass_lang::REGISTRY;
use codecompass_model::{BlobId, VersionId, ViewKey};
use codecompass_query::diff::{FilePair, FileSide};
use codecompass_query::graph::Memory;
use codecompass_store::{Snapshot, ViewInfo};
use serde_json::json;

use crate::config::Config;
use crate::error::{AppError, Code};
use crate::metadata::{Freshness, Metadata};
use crate::output::Form;
use crate::session::Session;
use crate::views::{Access, At, Desk, Published, Upkeep};

/// The name of the work tree with its uncommitted edits.
pub(crate) const WORKTREE: &str = "@worktree";

/// Opens the states to compare, for one request.
pub(crate) struct Look<'a> {
    pub(crate) session: &'a Session,
    pub(crate) upkeep: &'a dyn Upkeep,
    pub(crate) desk: &'a mut Desk,
    /// Whether a branch or tag that was never indexed is synced like a commit.
    pub(crate) brings_names: bool,
    /// The default head, instead of the checked-out ref.
    pub(crate) head: Option<String>,
    /// The configuration, with the limits of this call.
    pub(crate) config: Config,
    /// The format of the answer.
    pub(crate) form: Form,
}

impl<'a> Look<'a> {
    /// Adds the project context to an error.
    pub(crate) fn explained(&self, error: AppError) -> AppError {
        if error.more.metadata.is_some() { error } else { self.session.explain(error, None) }
    }

    /// The repository.
    pub(crate) fn repo(&self) -> Option<&'a Repo> {
        self.session.workspace.repo.as_ref()
    }

    /// Resolves a name to a commit. In a server, a branch or tag must have been indexed once.
    pub(crate) fn commit(&mut self, repo: &Repo, name: &str) -> Result<String, AppError> {
        let resolved = repo.resolve(name)?;
        let store = self.desk.store(self.session)?;
        if matches!(resolved.key, ViewKey::Ref(_)) && !self.brings_names && store.view(&resolved.key)?.is_none() {
            return Err(AppError::ref_not_indexed(name));
        }
        Ok(resolved.commit)
    }

    /// The state of a commit. Any view of the commit will do; without one, the commit is synced.
    pub(crate) fn committed(&mut self, name: &str, commit: &str) -> Result<State, AppError> {
        let extraction = codecompass_index::extraction_key(&self.session.limits());
        let is_it = |view: &ViewInfo| {
            view.commit.as_deref() == Some(commit)
                && !matches!(view.key, ViewKey::Worktree(_))
                && view.facts_key == extraction
        };
        let target = |key| Target { key, ref_name: name.to_owned(), commit: Some(commit.to_owned()) };
        if let Some(view) = self.desk.store(self.session)?.views()?.into_iter().find(is_it) {
            let (snapshot, memory) = self.desk.snapshot(self.session, &view.key)?;
            // A branch may have moved between the two reads.
            if snapshot.info().commit.as_deref() == Some(commit) {
                let metadata = self.session.metadata(&target(view.key.clone()), Some(&view));
                let metadata = Metadata { freshness: Freshness::Fresh, ..metadata };
                return Ok(State { commit: commit.to_owned(), snapshot, memory, metadata, is_worktree: false });
            }
        }
        let target = Target { ref_name: commit.to_owned(), ..target(ViewKey::Commit(commit.to_owned())) };
        let mut published = Published::at(&At { session: self.session, target: &target }, self.upkeep, self.desk)?;
        published.metadata.ref_name = name.to_owned();
        State::of(published, false)
    }

    /// The state of the work tree.
    pub(crate) fn worktree(&mut self) -> Result<State, AppError> {
        let target = self.session.target(None)?;
        if !target.is_worktree() {
            return Err(AppError::new(Code::InvalidInput, "The repository is bare: it has no work tree.")
                .data(json!({ "parameter": "head_ref" })));
        }
        // A comparison without the latest edits would report no changes.
        let access = Access { or_fail: true, ..Access::default() };
        State::of(Published::find(self.session, access, self.upkeep, self.desk)?, true)
    }
}

/// A state that can be queried.
pub(crate) struct State {
    /// The commit, or the commit that the work tree is based on.
    pub(crate) commit: String,
    pub(crate) snapshot: Rc<Snapshot>,
    pub(crate) memory: Rc<Memory>,
    pub(crate) metadata: Metadata,
    pub(crate) is_worktree: bool,
}

impl State {
    fn of(published: Published, is_worktree: bool) -> Result<Self, AppError> {
        let (Some(snapshot), Some(memory)) = (published.snapshot, published.memory) else {
            return Err(AppError::index_not_ready().about(published.metadata));
        };
        let Some(commit) = snapshot.info().commit.clone() else { return Err(no_commit().about(published.metadata)) };
        Ok(Self { commit, snapshot, memory, metadata: published.metadata, is_worktree })
    }
}

/// The error for a repository before its first commit.
pub(crate) fn no_commit() -> AppError {
    AppError::new(Code::MergeBaseFailed, "There is no commit yet, so there is nothing to compare with.")
        .hint("Commit something first.")
}

/// The files that differ between two states, with renames joined.
pub(crate) fn file_changes(
    look: &mut Look<'_>,
    repo: &Repo,
    base: &State,
    head: &State,
) -> Result<Vec<FileChange>, AppError> {
    let mut changes = repo.tree_changes(&base.commit, &head.commit)?;
    let mut contents = Texts { reader: repo.reader(), snapshot: &head.snapshot, edited: HashMap::new() };
    if head.is_worktree {
        let committed = look.committed(&head.commit, &head.commit)?;
        let edits = edits(&committed.snapshot, &head.snapshot, &mut contents.edited)?;
        changes = with_edits(changes, &edits);
    }
    Ok(with_renames(changes, &mut contents))
}

/// The differences between a work tree and its commit, from their indexes. Records the versions that git does not have.
fn edits(
    committed: &Snapshot,
    worktree: &Snapshot,
    edited: &mut HashMap<BlobId, VersionId>,
) -> Result<Vec<Edit>, AppError> {
    let mut edits: HashMap<String, Edit> = HashMap::new();
    let none = |path: &str| Edit { path: path.to_owned(), committed: None, edited: None };
    for id in committed.members() - worktree.members() {
        if let Some(version) = committed.version(id)? {
            edits.entry(version.path.clone()).or_insert_with(|| none(&version.path)).committed = Some(version.blob);
        }
    }
    for id in worktree.members() - committed.members() {
        if let Some(version) = worktree.version(id)? {
            edited.insert(version.blob, id);
            edits.entry(version.path.clone()).or_insert_with(|| none(&version.path)).edited = Some(version.blob);
        }
    }
    let mut edits: Vec<Edit> = edits.into_values().collect();
    edits.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(edits)
}

/// The bytes of blobs: from git, or as read from the work tree.
struct Texts<'s> {
    reader: BlobReader,
    snapshot: &'s Snapshot,
    edited: HashMap<BlobId, VersionId>,
}

impl Contents for Texts<'_> {
    fn size(&mut self, blob: &BlobId) -> Option<u64> {
        match self.edited.get(blob) {
            Some(id) => self.snapshot.text(*id).ok().map(|text| text.len() as u64),
            None => Contents::size(&mut self.reader, blob),
        }
    }

    fn bytes(&mut self, blob: &BlobId) -> Option<Vec<u8>> {
        match self.edited.get(blob) {
            Some(id) => self.snapshot.text(*id).ok().map(|text| text.as_bytes().to_vec()),
            None => Contents::bytes(&mut self.reader, blob),
        }
    }
}

/// The indexed sides of changed files. A file in both states that only one has indexed cannot be compared: such files
/// are counted.
pub(crate) fn file_pairs(
    base: &State,
    head: &State,
    changes: &[FileChange],
) -> Result<(Vec<FilePair>, usize), AppError> {
    let mut pairs = Vec::with_capacity(changes.len());
    let mut unknown = 0;
    for change in changes {
        let before = change
            .before
            .map(|_| FileSide::read(&base.snapshot, REGISTRY, change.path_before()))
            .transpose()?
            .flatten();
        let after = change.after.map(|_| FileSide::read(&head.snapshot, REGISTRY, &change.path)).transpose()?.flatten();
        let is_half = change.before.is_some() && change.after.is_some() && before.is_some() != after.is_some();
        let is_same = before.as_ref().zip(after.as_ref()).is_some_and(|(old, new)| old.version.id == new.version.id);
        match is_half {
            true => unknown += 1,
            false if !is_same => pairs.push(FilePair { before, after }),
            false => {}
        }
    }
    Ok((pairs, unknown))
}

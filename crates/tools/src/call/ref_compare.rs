//! Two states of a repository side by side: code shared by the tools about changes.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_index::Target;
use codecompass_index::source::{BlobReader, BlobSource, Edit, FileChange, Repo, with_edits, with_renames};
use codecompass_lang::REGISTRY;
use codecompass_model::{BlobId, VersionId, ViewKey};
use codecompass_query::diff::{FilePair, FileSide};
use codecompass_query::graph::ResolveCache;
use codecompass_store::{Snapshot, ViewInfo};
use codecompass_wire::ErrorData;

use codecompass_workspace::config::Config;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::{Freshness, Metadata};
use codecompass_workspace::output::OutputFormat;
use codecompass_workspace::session::Session;
use codecompass_workspace::views::{Access, Published, Refresh, SnapshotCache, TargetView};

/// The name of the work tree with its uncommitted edits.
pub(crate) const WORKTREE_REF: &str = "@worktree";

/// Opens the states to compare, for one request.
pub struct RefComparer<'a> {
    pub(crate) session: &'a Session,
    pub(crate) refresh: &'a dyn Refresh,
    pub(crate) cache: &'a mut SnapshotCache,
    /// Whether a branch or tag that was never indexed is synced like a commit.
    pub(crate) syncs_missing_refs: bool,
    /// The default head, instead of the checked-out ref.
    pub(crate) head: Option<String>,
    /// The configuration, with the limits of this call.
    pub(crate) config: Config,
    /// The format of the answer.
    pub(crate) form: OutputFormat,
}

impl<'a> RefComparer<'a> {
    /// Adds the project context to an error.
    pub(crate) fn with_project_context(&self, error: AppError) -> AppError {
        if error.details.metadata.is_some() { error } else { self.session.with_project_context(error, None) }
    }

    /// The repository.
    pub(crate) fn repo(&self) -> Option<&'a Repo> {
        self.session.workspace.repo.as_ref()
    }

    /// Resolves a name to a commit. In a server, a branch or tag must have been indexed once.
    pub(crate) fn resolve_commit(&mut self, repo: &Repo, name: &str) -> Result<String, AppError> {
        let resolved = repo.resolve(name)?;
        let store = self.cache.store(self.session)?;
        if matches!(resolved.key, ViewKey::Ref(_)) && !self.syncs_missing_refs && store.view(&resolved.key)?.is_none() {
            return Err(AppError::ref_not_indexed(name));
        }
        Ok(resolved.commit)
    }

    /// Syncs two commits in one job if neither has a view; the states are opened afterwards.
    pub(crate) fn sync_both(&mut self, commit: &str, other: &str) -> Result<(), AppError> {
        let extraction = codecompass_index::extraction_key(&self.session.limits());
        let views = self.cache.store(self.session)?.views()?;
        let is_known = |commit: &str| {
            views.iter().any(|view| view.commit.as_deref() == Some(commit) && view.facts_key == extraction)
        };
        if commit == other || is_known(commit) || is_known(other) {
            return Ok(());
        }
        let target = |commit: &str| Target {
            key: ViewKey::Commit(commit.to_owned()),
            ref_name: commit.to_owned(),
            commit: Some(commit.to_owned()),
        };
        let at = TargetView { session: self.session, target: &target(commit) };
        self.refresh.create_views(&at, &[target(other)])
    }

    /// The state of a commit. Any view of the commit will do; without one, the commit is synced.
    pub(crate) fn commit_state(&mut self, name: &str, commit: &str) -> Result<RefState, AppError> {
        let extraction = codecompass_index::extraction_key(&self.session.limits());
        let is_it = |view: &ViewInfo| {
            view.commit.as_deref() == Some(commit)
                && !matches!(view.key, ViewKey::Worktree(_))
                && view.facts_key == extraction
        };
        let target = |key| Target { key, ref_name: name.to_owned(), commit: Some(commit.to_owned()) };
        if let Some(view) = self.cache.store(self.session)?.views()?.into_iter().find(is_it) {
            let (snapshot, memory) = self.cache.snapshot(self.session, &view.key)?;
            // A branch may have moved between the two reads.
            if snapshot.info().commit.as_deref() == Some(commit) {
                let metadata = self.session.metadata(&target(view.key.clone()), Some(&view));
                let metadata = Metadata { freshness: Freshness::Fresh, ..metadata };
                return Ok(RefState {
                    commit: commit.to_owned(),
                    snapshot,
                    resolve_cache: memory,
                    metadata,
                    is_worktree: false,
                });
            }
        }
        let target = Target { ref_name: commit.to_owned(), ..target(ViewKey::Commit(commit.to_owned())) };
        let mut published =
            Published::for_target(&TargetView { session: self.session, target: &target }, self.refresh, self.cache)?;
        published.metadata.ref_name = name.to_owned();
        RefState::from_published(published, false)
    }

    /// The state of the work tree.
    pub(crate) fn worktree_state(&mut self) -> Result<RefState, AppError> {
        let target = self.session.target(None)?;
        if !target.is_worktree() {
            return Err(AppError::new(Code::InvalidInput, "The repository is bare: it has no work tree.")
                .data(ErrorData::parameter("head_ref")));
        }
        // A comparison without the latest edits would report no changes.
        let access = Access { must_be_fresh: true, ..Access::default() };
        RefState::from_published(Published::find(self.session, access, self.refresh, self.cache)?, true)
    }
}

/// A state that can be queried.
pub struct RefState {
    /// The commit, or the commit that the work tree is based on.
    pub commit: String,
    pub snapshot: Rc<Snapshot>,
    pub resolve_cache: Rc<ResolveCache>,
    pub metadata: Metadata,
    pub is_worktree: bool,
}

impl RefState {
    fn from_published(published: Published, is_worktree: bool) -> Result<Self, AppError> {
        let (Some(snapshot), Some(memory)) = (published.snapshot, published.resolve_cache) else {
            return Err(AppError::index_not_ready().with_metadata(published.metadata));
        };
        let Some(commit) = snapshot.info().commit.clone() else {
            return Err(no_commit().with_metadata(published.metadata));
        };
        Ok(Self { commit, snapshot, resolve_cache: memory, metadata: published.metadata, is_worktree })
    }
}

/// The error for a repository before its first commit.
pub(crate) fn no_commit() -> AppError {
    AppError::new(Code::MergeBaseFailed, "There is no commit yet, so there is nothing to compare with.")
        .hint("Commit something first.")
}

/// The files that differ between two states, with renames joined.
pub fn file_changes(
    look: &mut RefComparer<'_>,
    repo: &Repo,
    base: &RefState,
    head: &RefState,
) -> Result<Vec<FileChange>, AppError> {
    let mut changes = repo.tree_changes(&base.commit, &head.commit)?;
    let mut contents = BlobTexts { reader: repo.reader(), snapshot: &head.snapshot, edited: HashMap::new() };
    if head.is_worktree {
        let committed = look.commit_state(&head.commit, &head.commit)?;
        let edits = worktree_edits(&committed.snapshot, &head.snapshot, &mut contents.edited)?;
        changes = with_edits(changes, &edits);
    }
    Ok(with_renames(changes, &mut contents))
}

/// The differences between a work tree and its commit, from their indexes. Records the versions that git does not have.
fn worktree_edits(
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
struct BlobTexts<'s> {
    reader: BlobReader,
    snapshot: &'s Snapshot,
    edited: HashMap<BlobId, VersionId>,
}

impl BlobSource for BlobTexts<'_> {
    fn size(&mut self, blob: &BlobId) -> Option<u64> {
        match self.edited.get(blob) {
            Some(id) => self.snapshot.text(*id).ok().map(|text| text.len() as u64),
            None => BlobSource::size(&mut self.reader, blob),
        }
    }

    fn bytes(&mut self, blob: &BlobId) -> Option<Vec<u8>> {
        match self.edited.get(blob) {
            Some(id) => self.snapshot.text(*id).ok().map(|text| text.as_bytes().to_vec()),
            None => BlobSource::bytes(&mut self.reader, blob),
        }
    }
}

/// The indexed sides of changed files. A file in both states that only one has indexed cannot be compared: such files
/// are counted.
pub(crate) fn file_pairs(
    base: &RefState,
    head: &RefState,
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

//! Finds the published view that answers a query, as fresh as the policy requires.

use std::rc::Rc;

use codecompass_index::{Freshness as Compared, Target};
use codecompass_model::ViewKey;
use codecompass_query::graph::ResolveCache;
use codecompass_store::{Snapshot, Store, ViewInfo};
use codecompass_wire::ErrorData;

use crate::clock::{HOUR, now_ms};
use crate::config::FreshnessPolicy;
use crate::error::{AppError, Code};
use crate::metadata::{Completeness, Freshness, Indexing, Metadata, NOT_INDEXED_WARNING};
use crate::session::Session;
use crate::views::{InlineRefresh, SnapshotCache};

/// A snapshot, or `None` if nothing is published yet, and the metadata of the answer.
pub struct Published {
    pub snapshot: Option<Rc<Snapshot>>,
    /// The same snapshot with its resolve cache.
    pub resolve_cache: Option<Rc<ResolveCache>>,
    pub metadata: Metadata,
}

/// The requirements of a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access<'a> {
    /// The ref; `None` for the work tree.
    pub ref_name: Option<&'a str>,
    /// Overrides the configured policy.
    pub policy: Option<FreshnessPolicy>,
    /// Answer from the published state, without checking for changes.
    pub no_sync: bool,
    /// Answer from the published state without looking at the source at all. The answer never counts as fresh.
    pub is_unchecked: bool,
    /// Index a workspace that was never indexed.
    pub index: bool,
    /// Sync a branch or tag that was never indexed.
    pub syncs_missing_refs: bool,
    /// Changes that cannot be synced are an error: the previous state is not a valid answer.
    pub must_be_fresh: bool,
}

/// Refreshes views: a command does it inline, a server in the background.
pub trait Refresh {
    /// Announces a request about the work tree; more may follow.
    fn ensure_watched(&self) {}

    /// Compares a view with its source. `closely`: always reads the source, however long that takes.
    fn compare(&self, at: &TargetView<'_>, store: &Store, view: &ViewInfo, closely: bool)
    -> Result<Compared, AppError>;

    /// Refreshes an outdated view, or schedules that. Returns the freshness of an answer given now.
    fn refresh(&self, at: &TargetView<'_>) -> Result<Freshness, AppError>;

    /// Syncs the work tree after a checkout of another branch or commit than the published one, or schedules that and
    /// waits for a while.
    fn follow_checkout(&self, at: &TargetView<'_>) -> Result<(), AppError>;

    /// Whether a request waits until changes are synced, however long a client may wait for that. `is_known`: there
    /// are changes; otherwise they were not all looked for.
    fn waits_for_sync(&self, _at: &TargetView<'_>, _is_known: bool) -> bool {
        false
    }

    /// Waits for the first index of a work tree, if it is queued or running and the request may wait. Returns whether
    /// it waited.
    fn wait_for_first_index(&self, _at: &TargetView<'_>) -> bool {
        false
    }

    /// Waits briefly for a running sync of this view. Returns whether there was one and it finished.
    fn wait_for_sync(&self, at: &TargetView<'_>) -> bool;

    /// Creates a view that does not exist yet, and in the same job those of further commits.
    fn create_views(&self, at: &TargetView<'_>, also: &[Target]) -> Result<(), AppError>;

    /// Whether a job for this project is queued or running.
    fn has_active_job(&self, session: &Session) -> bool {
        session.active_job().is_some()
    }

    /// Whether an answer lists the changed files that it does not cover. A server's index is complete a moment later.
    fn lists_missing_changes(&self) -> bool {
        false
    }
}

/// A view of a workspace.
pub struct TargetView<'a> {
    pub session: &'a Session,
    pub target: &'a Target,
}

/// How often a request restarts because another branch was checked out while it ran.
const MAX_ATTEMPTS: usize = 5;

impl Published {
    /// [`Self::find`] for a command.
    pub fn open(session: &Session, access: Access<'_>) -> Result<Self, AppError> {
        Self::find(session, access, &InlineRefresh, &mut SnapshotCache::default())
    }

    /// Finds the view of a ref, refreshes it first if the policy requires it, and opens it. Single commits are synced
    /// on demand; a branch or tag that was never indexed is an error with a hint.
    pub fn find(
        session: &Session,
        access: Access<'_>,
        upkeep: &dyn Refresh,
        desk: &mut SnapshotCache,
    ) -> Result<Self, AppError> {
        find(session, access, upkeep, desk).map_err(|error| session.with_project_context(error, access.ref_name))
    }

    /// The same for a commit, without resolving its name.
    pub fn for_target(at: &TargetView<'_>, upkeep: &dyn Refresh, desk: &mut SnapshotCache) -> Result<Self, AppError> {
        find_at(at, Access::default(), upkeep, desk)?.ok_or_else(worktree_unstable)
    }
}

fn find(
    session: &Session,
    access: Access<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<Published, AppError> {
    for _ in 0..MAX_ATTEMPTS {
        let target = session.target(access.ref_name)?;
        if let Some(found) = find_at(&TargetView { session, target: &target }, access, upkeep, desk)? {
            return Ok(found);
        }
    }
    Err(worktree_unstable())
}

/// Finds the view to answer from; `None` if another branch was checked out in the meantime.
fn find_at(
    at: &TargetView<'_>,
    access: Access<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<Option<Published>, AppError> {
    let TargetView { session, target } = *at;
    if target.is_worktree() {
        upkeep.ensure_watched();
    }
    let mut known = published_view(at, access, desk);
    let is_missing = match &known {
        Ok(view) => view.is_none(),
        // An index of an older version may be about to be replaced.
        Err(error) => matches!(error.code, Code::ProjectNotFound | Code::IndexIncompatible),
    };
    if is_missing && target.is_worktree() && upkeep.wait_for_first_index(at) {
        known = published_view(at, access, desk);
    }
    let known = known?;
    let state = match known {
        Some(known) if access.is_unchecked && known.ref_name == target.ref_name => ViewState::stale(),
        Some(known) if known.ref_name == target.ref_name || !target.is_worktree() => {
            state_of_current(at, &known, access, upkeep, desk)?
        }
        None if access.index || is_created_on_demand(&target.key, access) => {
            upkeep.create_views(at, &[])?;
            ViewState { freshness: Freshness::Fresh, ..ViewState::stale() }
        }
        known if target.is_worktree() => state_after_checkout(at, known.as_ref(), access, upkeep, desk)?,
        _ => ViewState::stale(),
    };
    let key = state.from.as_ref().map_or(&target.key, |view| &view.key);
    if desk.store(session)?.view(key)?.is_none() {
        return not_indexed_yet(at, state, upkeep).map(Some);
    }
    let (snapshot, memory) = desk.snapshot(session, key)?;
    let info = snapshot.info();
    let is_meant = match &state.from {
        None => info.ref_name == target.ref_name || !target.is_worktree(),
        Some(view) => info.commit == view.commit,
    };
    if !is_meant {
        return Ok(None);
    }
    note_use(desk.store(session)?, info);
    let mut metadata = session.metadata(target, Some(info));
    metadata.freshness = state.freshness;
    if state.freshness != Freshness::Fresh {
        metadata.head_commit = target.commit.clone();
        metadata.changed_files = state.changed_files;
    }
    metadata.warnings.extend(state.warnings);
    Ok(Some(Published { snapshot: Some(snapshot), resolve_cache: Some(memory), metadata }))
}

/// The published view of a target.
fn published_view(
    at: &TargetView<'_>,
    access: Access<'_>,
    desk: &mut SnapshotCache,
) -> Result<Option<ViewInfo>, AppError> {
    match desk.store(at.session) {
        Err(error) if error.code == Code::ProjectNotFound && access.index => Ok(None),
        store => Ok(store?.view(&at.target.key)?),
    }
}

/// Whether a missing view is created on demand: always for a commit, because commits are not indexed by name.
fn is_created_on_demand(key: &ViewKey, access: Access<'_>) -> bool {
    match key {
        ViewKey::Commit(_) => true,
        ViewKey::Ref(_) => access.syncs_missing_refs,
        ViewKey::Worktree(_) => false,
    }
}

/// The answer if nothing is published: for the work tree an empty one with the reason.
fn not_indexed_yet(at: &TargetView<'_>, state: ViewState, upkeep: &dyn Refresh) -> Result<Published, AppError> {
    let TargetView { session, target } = *at;
    if !target.is_worktree() {
        return Err(AppError::ref_not_indexed(&target.ref_name));
    }
    let mut metadata = session.metadata(target, None);
    metadata.freshness = state.freshness;
    metadata.warnings.extend(state.warnings);
    metadata.head_commit = target.commit.clone();
    if upkeep.has_active_job(session) {
        metadata.indexing = Indexing::Running;
        metadata.completeness = Completeness::Partial;
        metadata.warnings.push("the first index is being built; retry in a moment".into());
    } else {
        metadata.warnings.push(NOT_INDEXED_WARNING.0.into());
    }
    Ok(Published { snapshot: None, resolve_cache: None, metadata })
}

/// Records the use of a view, which protects it from pruning: once an hour, and only without another writer. The answer
/// does not depend on it, so failures are ignored.
fn note_use(store: &Store, view: &ViewInfo) {
    let now = now_ms();
    if now.saturating_sub(view.last_accessed_at) >= HOUR {
        let _ = store.touch(&view.key, now);
    }
}

/// The freshness of an answer, and the view it comes from.
struct ViewState {
    freshness: Freshness,
    changed_files: Option<u64>,
    warnings: Vec<String>,
    /// Used instead of the target's own view: the published view of the same commit or branch.
    from: Option<ViewInfo>,
}

impl ViewState {
    fn stale() -> Self {
        Self { freshness: Freshness::Stale, changed_files: None, warnings: Vec::new(), from: None }
    }

    fn fresh() -> Self {
        Self { freshness: Freshness::Fresh, ..Self::stale() }
    }
}

/// The state if the published view has the right name. Unknown freshness does not prevent an answer, unless the request
/// requires it.
fn state_of_current(
    at: &TargetView<'_>,
    view: &ViewInfo,
    access: Access<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<ViewState, AppError> {
    match freshen(at, view, access, upkeep, desk) {
        Err(error) if error.code != Code::IndexStale && error.corruption().is_none() && !access.must_be_fresh => {
            let what = "the latest changes could not be synced";
            Ok(ViewState { warnings: vec![format!("{what}: {}", error.message)], ..ViewState::stale() })
        }
        state => state,
    }
}

/// Compares the view with its source, refreshes it if the policy requires it, and returns the freshness of the answer.
fn freshen(
    at: &TargetView<'_>,
    view: &ViewInfo,
    access: Access<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<ViewState, AppError> {
    let policy = access.policy.unwrap_or(at.session.config.freshness_policy);
    let is_strict = policy == FreshnessPolicy::Strict;
    let found = upkeep.compare(at, desk.store(at.session)?, view, is_strict)?;
    let Compared::Stale { changed_files, examples } = found else { return Ok(ViewState::fresh()) };
    let is_known = changed_files.is_some();
    let freshness = match policy {
        FreshnessPolicy::Strict if upkeep.waits_for_sync(at, true) => {
            let state = sync_first(at, upkeep, desk, MAX_SYNCS)?;
            let is_fresh = state.freshness == Freshness::Fresh;
            return if is_fresh { Ok(state) } else { Err(stale_error(at.target, Some(view), state.changed_files)) };
        }
        FreshnessPolicy::Strict => return wait_until_fresh(at, view, changed_files, upkeep, desk),
        FreshnessPolicy::Balanced if access.must_be_fresh => return sync_first(at, upkeep, desk, MAX_SYNCS),
        FreshnessPolicy::Balanced if !access.no_sync && upkeep.waits_for_sync(at, is_known) => {
            // If the files take too long to compare, another comparison shows no more than the first.
            return sync_first(at, upkeep, desk, if is_known { MAX_SYNCS } else { 1 });
        }
        FreshnessPolicy::Balanced if !access.no_sync => upkeep.refresh(at)?,
        _ => Freshness::Stale,
    };
    let mut state = ViewState { freshness, changed_files, ..ViewState::stale() };
    if freshness != Freshness::Fresh && upkeep.lists_missing_changes() {
        let why = if freshness == Freshness::Syncing { "another process is indexing; " } else { "" };
        state.warnings.extend(missing_changes_warning(&examples, changed_files).map(|told| format!("{why}{told}")));
    }
    Ok(state)
}

/// The changed files that an answer does not cover, as far as they are known by name.
fn missing_changes_warning(examples: &[String], changed_files: Option<u64>) -> Option<String> {
    let more = changed_files.unwrap_or_default().saturating_sub(examples.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!examples.is_empty()).then(|| format!("changes not in this answer: {}{more}", examples.join(", ")))
}

/// How often changes are synced before an answer: a running sync may have started before the last edit.
const MAX_SYNCS: usize = 2;

/// For a request about the changes themselves: waits for them. A failed sync is an error; a slow one is reported.
fn sync_first(
    at: &TargetView<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
    max_syncs: usize,
) -> Result<ViewState, AppError> {
    let mut state = ViewState::stale();
    for _ in 0..max_syncs {
        upkeep.follow_checkout(at)?;
        let store = desk.store(at.session)?;
        let Some(view) = store.view(&at.target.key)? else { break };
        let found = upkeep.compare(at, store, &view, false)?;
        let Compared::Stale { changed_files, examples } = found else { return Ok(ViewState::fresh()) };
        state = ViewState {
            changed_files,
            warnings: missing_changes_warning(&examples, changed_files).into_iter().collect(),
            ..state
        };
    }
    Ok(state)
}

/// For a strict request: only the end of a running sync can make it fresh.
fn wait_until_fresh(
    at: &TargetView<'_>,
    view: &ViewInfo,
    mut changed_files: Option<u64>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<ViewState, AppError> {
    let mut last = view.clone();
    if upkeep.wait_for_sync(at) {
        let store = desk.store(at.session)?;
        last = store.view(&at.target.key)?.unwrap_or(last);
        changed_files = match upkeep.compare(at, store, &last, true)? {
            Compared::Fresh => return Ok(ViewState::fresh()),
            Compared::Stale { changed_files, .. } => changed_files,
        };
    }
    Err(stale_error(at.target, Some(&last), changed_files))
}

/// The work tree was published under another name, or never: another branch or commit is checked out now. An answer
/// never has one branch's content under another's name. So the work tree is first synced under its new name. If that
/// takes too long or is not wanted, the published view of the same branch or commit is used.
fn state_after_checkout(
    at: &TargetView<'_>,
    known: Option<&ViewInfo>,
    access: Access<'_>,
    upkeep: &dyn Refresh,
    desk: &mut SnapshotCache,
) -> Result<ViewState, AppError> {
    let TargetView { session, target } = *at;
    if known.is_none() && desk.store(session)?.views()?.is_empty() {
        return Ok(ViewState::stale());
    }
    let mut state = ViewState::stale();
    match access.policy.unwrap_or(session.config.freshness_policy) {
        FreshnessPolicy::Strict => {
            match upkeep.waits_for_sync(at, true) {
                true => upkeep.follow_checkout(at)?,
                false => drop(upkeep.wait_for_sync(at)),
            }
            return match desk.store(session)?.view(&target.key)? {
                Some(view) if view.ref_name == target.ref_name => state_of_current(at, &view, access, upkeep, desk),
                view => Err(stale_error(target, view.as_ref(), None)),
            };
        }
        FreshnessPolicy::Balanced if !access.no_sync => match upkeep.follow_checkout(at) {
            Err(error) if access.must_be_fresh || error.corruption().is_some() => return Err(error),
            Err(error) if error.code == Code::IndexInProgress => state.freshness = Freshness::Syncing,
            Err(error) => {
                state.warnings.push(format!("the work tree could not be synced: {}", error.message));
            }
            Ok(()) => state.freshness = Freshness::Syncing,
        },
        _ => {}
    }
    let is_there = |view: &ViewInfo| view.ref_name == target.ref_name;
    if let Some(view) = desk.store(session)?.view(&target.key)?.filter(is_there) {
        return state_of_current(at, &view, access, upkeep, desk);
    }
    match published_for_commit(desk.store(session)?, target)? {
        Some(view) if !access.must_be_fresh => {
            let what = "uncommitted edits are not in this answer: the work tree is not indexed as";
            state.warnings.push(format!("{what} {} yet", target.ref_name));
            Ok(ViewState { from: Some(view), ..state })
        }
        None if known.is_none() => Ok(state),
        _ => Err(stale_error(target, known, None)),
    }
}

/// The view published under the current name of a target: its own view or, if another branch or commit was checked out
/// since the work tree was indexed, the view of that branch or commit.
pub fn published_for_target(store: &Store, target: &Target) -> Result<Option<ViewInfo>, AppError> {
    match store.view(&target.key)? {
        Some(view) if target.is_worktree() && view.ref_name != target.ref_name => published_for_commit(store, target),
        view => Ok(view),
    }
}

/// The published view of the checked-out commit, or else of the branch.
fn published_for_commit(store: &Store, target: &Target) -> Result<Option<ViewInfo>, AppError> {
    let mut views = store.views()?;
    views.retain(|view| !matches!(view.key, ViewKey::Worktree(_)));
    let is_branch = |view: &ViewInfo| view.key == ViewKey::Ref(target.ref_name.clone());
    let is_commit = |view: &ViewInfo| view.commit.is_some() && view.commit == target.commit;
    // The order: the branch's own view at this commit, another view of the commit, an older view of the branch.
    views.sort_by_key(|view| (!is_commit(view), !is_branch(view)));
    Ok(views.into_iter().find(|view| is_commit(view) || is_branch(view)))
}

fn stale_error(target: &Target, view: Option<&ViewInfo>, changed_files: Option<u64>) -> AppError {
    let message = match view {
        Some(view) if view.ref_name != target.ref_name => format!(
            "Index is stale. The work tree was indexed on {}, and HEAD is now {}.",
            view.ref_name, target.ref_name
        ),
        Some(view) if view.commit == target.commit => {
            "Index is stale. The work tree has changes that are not indexed.".into()
        }
        _ => "Index is stale. Last indexed commit does not match HEAD.".into(),
    };
    let error = AppError::new(Code::IndexStale, message).hint("Run sync_repo to refresh.");
    error.advice("Run `codecompass sync`.").for_agent("Ask again in a moment.").data(ErrorData::Stale {
        last_indexed_commit: view.and_then(|view| view.commit.clone()),
        current_head: target.commit.clone(),
        changed_files,
        suggestion: "Call sync_repo to update the index before querying.".into(),
    })
}

fn worktree_unstable() -> AppError {
    AppError::new(Code::IndexStale, "Index is stale. Other branches were checked out repeatedly during the query.")
        .hint("Retry when the checkouts have finished.")
}

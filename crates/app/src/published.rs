//! What a query is answered from: the published view that a ref means, as fresh as the policy asks for.

use std::rc::Rc;

use codecompass_index::{Freshness, Target, freshness};
use codecompass_model::ViewKey;
use codecompass_query::graph::Memory;
use codecompass_store::{Snapshot, Store, ViewInfo};
use serde_json::json;

use crate::clock::{HOUR, now_ms};
use crate::config::FreshnessPolicy;
use crate::error::{AppError, Code};
use crate::metadata::Metadata;
use crate::server::desk::Desk;
use crate::session::{Request, Session};

/// A snapshot, or nothing where nothing is published yet, and what an answer says about it.
pub(crate) struct Published {
    pub(crate) snapshot: Option<Rc<Snapshot>>,
    /// The same snapshot with what was resolved in it so far.
    pub(crate) memory: Option<Rc<Memory>>,
    pub(crate) metadata: Metadata,
}

/// How a query wants to be answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access<'a> {
    /// The ref; the work tree without one.
    pub(crate) ref_name: Option<&'a str>,
    /// In place of the configured policy.
    pub(crate) policy: Option<FreshnessPolicy>,
    /// Answer from what is published, without looking for changes to bring in.
    pub(crate) no_sync: bool,
    /// Index first what was never indexed.
    pub(crate) index: bool,
}

/// Who looks after the views: a command does everything at once, a server has others do it.
pub(crate) trait Upkeep {
    /// How a view compares with its source. `closely`: by looking, not by what was seen a moment ago.
    fn compare(&self, at: &At<'_>, store: &Store, view: &ViewInfo, closely: bool) -> Result<Freshness, AppError>;

    /// The view is behind: brings it up to date, or has that done, and tells how fresh an answer given now is.
    fn renew(&self, at: &At<'_>) -> Result<&'static str, AppError>;

    /// Waits a little for a sync of this view that is under way; whether there was one and it is over.
    fn settle(&self, at: &At<'_>) -> bool;

    /// Makes a view that nobody made yet.
    fn make(&self, at: &At<'_>) -> Result<(), AppError>;

    /// Whether a job for this project waits or runs.
    fn is_busy(&self, session: &Session) -> bool {
        session.active_job().is_some()
    }
}

/// A view of a workspace.
pub(crate) struct At<'a> {
    pub(crate) session: &'a Session,
    pub(crate) target: &'a Target,
}

impl Published {
    /// For a command: see [`Self::find`].
    pub(crate) fn open(session: &Session, access: Access<'_>) -> Result<Self, AppError> {
        Self::find(session, access, &AtOnce, &mut Desk::default())
    }

    /// Finds the view of a ref, brings it up to date first where the policy says so, and opens it. Single commits are
    /// brought in; a branch or tag that was never indexed is an error that names the way.
    pub(crate) fn find(
        session: &Session,
        access: Access<'_>,
        upkeep: &dyn Upkeep,
        desk: &mut Desk,
    ) -> Result<Self, AppError> {
        find(session, access, upkeep, desk).map_err(|error| session.explain(error, access.ref_name))
    }

    /// The same for a view that is known already, whatever else its name may mean.
    pub(crate) fn at(at: &At<'_>, upkeep: &dyn Upkeep, desk: &mut Desk) -> Result<Self, AppError> {
        find_at(at, Access::default(), upkeep, desk)
    }
}

fn find(session: &Session, access: Access<'_>, upkeep: &dyn Upkeep, desk: &mut Desk) -> Result<Published, AppError> {
    let target = session.target(access.ref_name)?;
    find_at(&At { session, target: &target }, access, upkeep, desk)
}

fn find_at(at: &At<'_>, access: Access<'_>, upkeep: &dyn Upkeep, desk: &mut Desk) -> Result<Published, AppError> {
    let At { session, target } = *at;
    let mut state = State { freshness: "stale", ..State::default() };
    let known = match desk.store(session) {
        Err(error) if error.code == Code::ProjectNotFound && access.index => None,
        store => store?.view(&target.key)?,
    };
    match known {
        Some(known) => match freshen(at, &known, access, upkeep, desk) {
            Err(error) if error.code != Code::IndexStale => {
                let what = "what is published could not be compared with its source";
                state.warnings.push(format!("{what}: {}", error.message));
            }
            fresh => state = fresh?,
        },
        None if access.index || matches!(target.key, ViewKey::Commit(_)) => {
            upkeep.make(at)?;
            state.freshness = "fresh";
        }
        None => {}
    }
    let view = desk.store(session)?.view(&target.key)?;
    let mut metadata = session.metadata(target, view.as_ref());
    metadata.freshness = state.freshness;
    metadata.warnings.append(&mut state.warnings);
    if state.freshness != "fresh" {
        metadata.head_commit = target.commit.clone();
        metadata.changed_files = state.changed_files;
    }
    if let Some(view) = &view {
        note_use(desk.store(session)?, view);
        let (snapshot, memory) = desk.snapshot(session, &target.key)?;
        return Ok(Published { snapshot: Some(snapshot), memory: Some(memory), metadata });
    }
    if !target.is_worktree() {
        return Err(AppError::ref_not_indexed(&target.ref_name));
    }
    if upkeep.is_busy(session) {
        metadata.indexing = "indexing";
        metadata.completeness = "partial";
        metadata.warnings.push("the first index is being made; ask again in a moment".into());
    } else {
        metadata.warnings.push("nothing is indexed yet; run `codecompass index`, or call index_repo".into());
    }
    Ok(Published { snapshot: None, memory: None, metadata })
}

/// Writes down that somebody asks for a view, which keeps it from being pruned: once an hour, and only when nobody
/// writes. An answer does not depend on it, so a failure is nobody's concern.
fn note_use(store: &Store, view: &ViewInfo) {
    let now = now_ms();
    if now.saturating_sub(view.last_accessed_at) >= HOUR {
        let _ = store.touch(&view.key, now);
    }
}

/// How fresh an answer is.
#[derive(Default)]
struct State {
    freshness: &'static str,
    changed_files: Option<u64>,
    warnings: Vec<String>,
}

/// Compares the view with its source, brings it up to date if the policy says so, and tells how fresh the answer is.
fn freshen(
    at: &At<'_>,
    view: &ViewInfo,
    access: Access<'_>,
    upkeep: &dyn Upkeep,
    desk: &mut Desk,
) -> Result<State, AppError> {
    let policy = access.policy.unwrap_or(at.session.config.freshness_policy);
    let is_strict = policy == FreshnessPolicy::Strict;
    let fresh = State { freshness: "fresh", ..State::default() };
    let mut changed_files = match upkeep.compare(at, desk.store(at.session)?, view, is_strict)? {
        Freshness::Fresh => return Ok(fresh),
        Freshness::Stale { changed_files } => changed_files,
    };
    let freshness = match policy {
        FreshnessPolicy::Strict => {
            let mut last = view.clone();
            if upkeep.settle(at) {
                let store = desk.store(at.session)?;
                last = store.view(&at.target.key)?.unwrap_or(last);
                changed_files = match upkeep.compare(at, store, &last, true)? {
                    Freshness::Fresh => return Ok(fresh),
                    Freshness::Stale { changed_files } => changed_files,
                };
            }
            return Err(stale(at.target, &last, changed_files));
        }
        FreshnessPolicy::Balanced if !access.no_sync => upkeep.renew(at)?,
        _ => "stale",
    };
    Ok(State { freshness, changed_files, ..State::default() })
}

fn stale(target: &Target, view: &ViewInfo, changed_files: Option<u64>) -> AppError {
    let message = match view.commit == target.commit {
        true => "Index is stale. The work tree has changes that are not indexed. Run sync_repo to refresh.",
        false => "Index is stale. Last indexed commit does not match HEAD. Run sync_repo to refresh.",
    };
    AppError::new(Code::IndexStale, message).data(json!({
        "last_indexed_commit": view.commit,
        "current_head": target.commit,
        "changed_files": changed_files,
        "suggestion": "Call sync_repo to update the index before querying.",
    }))
}

/// The upkeep of a command: it looks for itself, and syncs before it answers.
pub(crate) struct AtOnce;

impl Upkeep for AtOnce {
    fn compare(&self, at: &At<'_>, store: &Store, view: &ViewInfo, _closely: bool) -> Result<Freshness, AppError> {
        Ok(freshness(store, &at.session.workspace, at.target, view, &at.session.limits())?)
    }

    fn renew(&self, at: &At<'_>) -> Result<&'static str, AppError> {
        match at.session.sync(at.target, Request::default()) {
            Ok(_) => Ok("fresh"),
            Err(error) if error.code == Code::IndexInProgress => Ok("syncing"),
            Err(error) => Err(error),
        }
    }

    fn settle(&self, _at: &At<'_>) -> bool {
        false
    }

    fn make(&self, at: &At<'_>) -> Result<(), AppError> {
        at.session.sync(at.target, Request { wait: true, ..Request::default() }).map(drop)
    }
}

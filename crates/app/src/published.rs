//! What a query is answered from: the published view that a ref means, as fresh as the policy asks for.

use codecompass_index::{Freshness, Target, freshness};
use codecompass_model::ViewKey;
use codecompass_store::{Snapshot, ViewInfo};
use serde_json::json;

use crate::config::FreshnessPolicy;
use crate::error::{AppError, Code};
use crate::metadata::Metadata;
use crate::session::{Request, Session};

/// A snapshot, or nothing where nothing is published yet, and what an answer says about it.
pub(crate) struct Published {
    pub(crate) snapshot: Option<Snapshot>,
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

impl Published {
    /// Finds the view of a ref, brings it up to date first where the policy says so, and opens it. Single commits are
    /// brought in; a branch or tag that was never indexed is an error that names the way.
    pub(crate) fn open(session: &Session, access: Access<'_>) -> Result<Self, AppError> {
        Self::find(session, access).map_err(|error| session.explain(error, access.ref_name))
    }

    fn find(session: &Session, access: Access<'_>) -> Result<Self, AppError> {
        let target = session.target(access.ref_name)?;
        let mut warnings = Vec::new();
        let known = match session.store() {
            Err(error) if error.code == Code::ProjectNotFound && access.index => None,
            store => store?.view(&target.key)?,
        };
        let state = match known {
            Some(known) => match freshen(session, &target, &known, access) {
                Err(error) if error.code != Code::IndexStale => {
                    warnings
                        .push(format!("what is published could not be compared with its source: {}", error.message));
                    "stale"
                }
                state => state?,
            },
            None if access.index || matches!(target.key, ViewKey::Commit(_)) => {
                session.sync(&target, Request { wait: true, ..Request::default() })?;
                "fresh"
            }
            None => "stale",
        };
        let store = session.store()?;
        let view = store.view(&target.key)?;
        let mut metadata = session.metadata(&target, view.as_ref());
        metadata.freshness = state;
        metadata.warnings.append(&mut warnings);
        if view.is_some() {
            let mut snapshot = store.snapshot(&target.key)?;
            if let Some(default) = session.default_branch() {
                snapshot = snapshot.with_base(&ViewKey::Ref(default))?;
            }
            return Ok(Self { snapshot: Some(snapshot), metadata });
        }
        if !target.is_worktree() {
            return Err(AppError::ref_not_indexed(&target.ref_name));
        }
        if session.active_job().is_some() {
            metadata.indexing = "indexing";
            metadata.completeness = "partial";
        }
        metadata.warnings.push("nothing is indexed yet; run `codecompass index`".into());
        Ok(Self { snapshot: None, metadata })
    }
}

/// Compares the view with its source, brings it up to date if the policy says so, and tells how fresh the answer is.
fn freshen(session: &Session, target: &Target, view: &ViewInfo, access: Access<'_>) -> Result<&'static str, AppError> {
    let changed_files = match freshness(&session.store()?, &session.workspace, target, view, &session.limits())? {
        Freshness::Fresh => return Ok("fresh"),
        Freshness::Stale { changed_files } => changed_files,
    };
    match access.policy.unwrap_or(session.config.freshness_policy) {
        FreshnessPolicy::Strict => Err(stale(target, view, changed_files)),
        FreshnessPolicy::Balanced if !access.no_sync => match session.sync(target, Request::default()) {
            Ok(_) => Ok("fresh"),
            Err(error) if error.code == Code::IndexInProgress => Ok("syncing"),
            Err(error) => Err(error),
        },
        _ => Ok("stale"),
    }
}

fn stale(target: &Target, view: &ViewInfo, changed_files: Option<u64>) -> AppError {
    let message = match view.commit == target.commit {
        true => "Index is stale. The work tree has changes that are not indexed.",
        false => "Index is stale. Last indexed commit does not match HEAD.",
    };
    AppError::new(Code::IndexStale, message).hint("Run `codecompass sync` to refresh.").data(json!({
        "last_indexed_commit": view.commit,
        "current_head": target.commit,
        "changed_files": changed_files,
        "suggestion": "Call sync_repo to update the index before querying.",
    }))
}

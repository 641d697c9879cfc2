//! `codecompass locate`.

use codecompass_index::{Freshness, Target, freshness};
use codecompass_model::ViewKey;
use codecompass_store::ViewInfo;
use serde_json::json;

use crate::cli::{Common, LocateArgs};
use crate::config::FreshnessPolicy;
use crate::error::{AppError, Code};
use crate::output::Answer;
use crate::session::{Request, Session};
use crate::tools::locate_symbol::{self, Input, Question};

pub(crate) fn run(common: &Common, args: &LocateArgs) -> Result<Answer, AppError> {
    let question =
        Input { name: args.name.clone(), kind: args.kind.clone(), language: args.lang.clone(), limit: args.limit }
            .check()?;
    let session = Session::open(common, None)?;
    ask(&session, args, question).map_err(|error| session.explain(error, args.ref_name.as_deref()))
}

fn ask(session: &Session, args: &LocateArgs, question: Question) -> Result<Answer, AppError> {
    let target = session.target(args.ref_name.as_deref())?;
    let mut warnings = Vec::new();
    let mut view = session.store()?.view(&target.key)?;
    let state = match &view {
        Some(known) => match freshen(session, &target, known, args.no_sync) {
            Err(error) if error.code != Code::IndexStale => {
                warnings.push(format!("what is published could not be compared with its source: {}", error.message));
                "stale"
            }
            state => state?,
        },
        None if matches!(target.key, ViewKey::Commit(_)) => {
            session.sync(&target, Request { wait: true, ..Request::default() })?;
            "fresh"
        }
        None => "stale",
    };
    let store = session.store()?;
    view = store.view(&target.key)?;
    let mut metadata = session.metadata(&target, view.as_ref());
    metadata.freshness = state;
    metadata.warnings.append(&mut warnings);
    if view.is_none() {
        if !target.is_worktree() {
            return Err(AppError::ref_not_indexed(&target.ref_name));
        }
        if session.active_job().is_some() {
            metadata.indexing = "indexing";
            metadata.completeness = "partial";
        }
        metadata.warnings.push("nothing is indexed yet; run `codecompass index`".into());
        return locate_symbol::answer(None, question, metadata);
    }
    let snapshot = store.snapshot(&target.key)?;
    locate_symbol::answer(Some(&snapshot), question, metadata)
}

/// Compares the view with its source, brings it up to date if the policy says so, and tells how fresh the answer is.
fn freshen(session: &Session, target: &Target, view: &ViewInfo, no_sync: bool) -> Result<&'static str, AppError> {
    let changed_files = match freshness(&session.store()?, &session.workspace, target, view, &session.limits())? {
        Freshness::Fresh => return Ok("fresh"),
        Freshness::Stale { changed_files } => changed_files,
    };
    match session.config.freshness_policy {
        FreshnessPolicy::Strict => Err(stale(target, view, changed_files)),
        FreshnessPolicy::Balanced if !no_sync => match session.sync(target, Request::default()) {
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

//! `codecompass status`.

use codecompass_index::{Freshness, freshness};

use crate::cli::{Common, StatusArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::session::Session;
use crate::tools::index_status;

pub(crate) fn run(common: &Common, args: &StatusArgs) -> Result<Answer, AppError> {
    let session = Session::open(common, args.path.as_deref())?;
    ask(&session, args.ref_name.as_deref()).map_err(|error| session.explain(error, args.ref_name.as_deref()))
}

fn ask(session: &Session, ref_name: Option<&str>) -> Result<Answer, AppError> {
    let target = session.target(ref_name)?;
    let state = match session.store().and_then(|store| Ok((store.view(&target.key)?, store))) {
        Ok((Some(_), _)) if session.active_job().is_some() => "syncing",
        Ok((Some(view), store)) => {
            match freshness(&store, &session.workspace, &target, &view, &session.limits(), None)? {
                Freshness::Fresh => "fresh",
                Freshness::Stale { .. } => "stale",
            }
        }
        _ => "stale",
    };
    index_status::answer(session, &target, state, None)
}

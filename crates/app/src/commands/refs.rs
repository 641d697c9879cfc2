//! `codecompass refs`.

use codecompass_index::{Freshness, freshness};

use crate::cli::Common;
use crate::error::AppError;
use crate::output::Answer;
use crate::session::Session;
use crate::tools::list_refs;

pub(crate) fn run(common: &Common) -> Result<Answer, AppError> {
    let session = Session::open(common, None)?;
    let target = session.target(None)?;
    let store = session.store()?;
    let is_fresh = match store.view(&target.key)? {
        Some(view) => {
            freshness(&store, &session.workspace, &target, &view, &session.limits(), None)? == Freshness::Fresh
        }
        None => false,
    };
    list_refs::answer(&session, &target, if is_fresh { "fresh" } else { "stale" }, &|_| false)
        .map_err(|error| session.explain(error, None))
}

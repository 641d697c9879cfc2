//! `codecompass diff`.

use super::bounds;
use super::references::PATIENCE;
use crate::cli::{Common, DiffArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::server::desk::Desk;
use crate::session::Session;
use crate::tools::diff_context::{self, Input};
use crate::tools::versus::Look;

pub(crate) fn run(common: &Common, args: &DiffArgs) -> Result<Answer, AppError> {
    let mut question = Input {
        base: args.base.clone(),
        head: args.head.clone(),
        path_filter: args.path_filter.clone(),
        limit: args.limit,
        cursor: args.cursor.clone(),
        callers: args.callers,
        edges: args.edges,
        docs: args.docs,
        patience: PATIENCE,
    }
    .check()?;
    let mut session = Session::open(common, None)?;
    session.config = bounds(&session.config, args.all, &mut question.limit);
    let mut desk = Desk::default();
    let mut look = Look::at_once(&session, &mut desk);
    let paths = Paths::from_here(&session);
    diff_context::answer(&mut look, &paths, &question).map_err(|error| look.explained(error))
}

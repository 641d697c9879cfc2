//! `codecompass compare`.

use crate::cli::{Common, CompareArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::server::desk::Desk;
use crate::session::Session;
use crate::tools::compare_symbol::{self, Question};
use crate::tools::versus::Look;

pub(crate) fn run(common: &Common, args: &CompareArgs) -> Result<Answer, AppError> {
    let question = Question {
        name: args.name.clone(),
        path: args.path.clone(),
        base: args.base.clone(),
        head: args.head.clone(),
        with_diff: !args.no_diff,
    };
    question.check()?;
    let session = Session::open(common, None)?;
    let mut desk = Desk::default();
    let mut look = Look::at_once(&session, &mut desk);
    let paths = Paths::from_here(&session);
    compare_symbol::answer(&mut look, &paths, &question).map_err(|error| look.explained(error))
}

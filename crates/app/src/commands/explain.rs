//! `codecompass explain`.

use crate::cli::{Common, ExplainArgs};
use crate::error::{AppError, Code};
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::explain_ranking::{self, Input};

pub(crate) fn run(common: &Common, args: &ExplainArgs) -> Result<Answer, AppError> {
    let (path, line) =
        args.place.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?))).ok_or_else(|| {
            AppError::new(Code::InvalidInput, "Give the place as PATH:LINE, like src/auth/jwt.rs:87.")
        })?;
    let question = Input {
        query: args.query.clone(),
        result_path: path.to_owned(),
        result_line_start: line,
        language: args.lang.clone(),
        limit: args.limit,
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    explain_ranking::answer(published.snapshot.as_deref(), &question, &Paths::from_here(&session), published.metadata)
}

//! `codecompass context`.

use crate::cli::{Common, ContextArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::get_code_context::{self, Input};

pub(crate) fn run(common: &Common, args: &ContextArgs) -> Result<Answer, AppError> {
    let question = Input {
        query: args.query.clone().unwrap_or_default(),
        max_tokens: args.max_tokens,
        strategy: args.strategy.clone(),
        language: args.lang.clone(),
        symbols: args.symbols.clone(),
        exclude: args.exclude.clone(),
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let paths = Paths::from_here(&session);
    get_code_context::answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
}

//! `codecompass search`.

use crate::cli::{Common, SearchArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::search_code::{self, Input};

pub(crate) fn run(common: &Common, args: &SearchArgs) -> Result<Answer, AppError> {
    let question = Input { query: args.query.clone(), language: args.lang.clone(), limit: args.limit }.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, args.ref_name.as_deref(), args.no_sync)?;
    search_code::answer(published.snapshot.as_ref(), &question, published.metadata)
}

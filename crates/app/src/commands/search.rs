//! `codecompass search`.

use crate::cli::{Common, SearchArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::{Access, Published};
use crate::session::Session;
use crate::tools::search_code::{self, Input};

pub(crate) fn run(common: &Common, args: &SearchArgs) -> Result<Answer, AppError> {
    let list = &args.list;
    let question = Input {
        query: args.query.clone(),
        mode: args.mode.clone(),
        language: list.lang.clone(),
        kind: list.kind.clone(),
        path_filter: args.path_filter.clone(),
        limit: list.limit(),
        cursor: list.cursor.clone(),
        shape: list.shape(),
        debug: args.debug,
    }
    .check()?;
    let access = Access { index: args.index, ..args.access.check()? };
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let paths = Paths::from_here(&session);
    search_code::answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
}

//! `codecompass related`.

use super::bounds;
use super::references::PATIENCE;
use crate::cli::{Common, RelatedArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::find_related_symbols::{self, Input};

pub(crate) fn run(common: &Common, args: &RelatedArgs) -> Result<Answer, AppError> {
    let mut question = Input {
        name: args.name.clone(),
        path: args.file.clone(),
        scope: args.scope.clone(),
        limit: args.limit,
        cursor: args.cursor.clone(),
        patience: PATIENCE,
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let config = bounds(&session.config, args.all, &mut question.limit);
    let published = Published::open(&session, access)?;
    let paths = Paths::from_here(&session);
    find_related_symbols::answer(published.memory.as_deref(), &question, &paths, &config, published.metadata)
}

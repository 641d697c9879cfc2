//! `codecompass related`.

use super::references::PATIENCE;
use crate::cli::{Common, RelatedArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::find_related_symbols::{self, Input};
use crate::tools::input;

pub(crate) fn run(common: &Common, args: &RelatedArgs) -> Result<Answer, AppError> {
    let question = Input {
        name: args.name.clone(),
        path: args.file.clone(),
        scope: args.scope.clone(),
        limit: if args.all { input::MOST } else { args.limit },
        cursor: args.cursor.clone(),
        patience: PATIENCE,
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let snapshot = published.snapshot.as_deref();
    find_related_symbols::answer(snapshot, &published.memory, &question, &session.config, published.metadata)
}

//! `codecompass references`.

use std::time::Duration;

use super::bounds;
use crate::cli::{Common, ReferencesArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::find_references::{self, Input};

/// So long a command may take: somebody waits for it, but wants all of it.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn run(common: &Common, args: &ReferencesArgs) -> Result<Answer, AppError> {
    let mut question = Input {
        name: args.name.clone(),
        path: args.file.clone(),
        kind: args.kind.clone(),
        include_text: args.text,
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
    find_references::answer(published.memory.as_deref(), &question, &paths, &config, published.metadata)
}

//! `codecompass references`.

use std::time::Duration;

use crate::cli::{Common, ReferencesArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::find_references::{self, Input};
use crate::tools::input;

/// So long a command may take: somebody waits for it, but wants all of it.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn run(common: &Common, args: &ReferencesArgs) -> Result<Answer, AppError> {
    let question = Input {
        name: args.name.clone(),
        path: args.file.clone(),
        kind: args.kind.clone(),
        limit: if args.all { input::MOST } else { args.limit },
        cursor: args.cursor.clone(),
        patience: PATIENCE,
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let snapshot = published.snapshot.as_deref();
    find_references::answer(snapshot, &published.memory, &question, &session.config, published.metadata)
}

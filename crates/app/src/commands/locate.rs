//! `codecompass locate`.

use crate::cli::{Common, LocateArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::locate_symbol::{self, Input};

pub(crate) fn run(common: &Common, args: &LocateArgs) -> Result<Answer, AppError> {
    let list = &args.list;
    let question = Input {
        name: args.name.clone(),
        kind: list.kind.clone(),
        language: list.lang.clone(),
        limit: list.limit(),
        cursor: list.cursor.clone(),
        shape: list.shape(),
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    locate_symbol::answer(published.snapshot.as_deref(), &question, &session.config, published.metadata)
}

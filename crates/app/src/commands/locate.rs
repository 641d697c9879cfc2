//! `codecompass locate`.

use crate::cli::{Common, LocateArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::locate_symbol::{self, Input};

pub(crate) fn run(common: &Common, args: &LocateArgs) -> Result<Answer, AppError> {
    let question =
        Input { name: args.name.clone(), kind: args.kind.clone(), language: args.lang.clone(), limit: args.limit }
            .check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, args.ref_name.as_deref(), args.no_sync)?;
    locate_symbol::answer(published.snapshot.as_ref(), question, published.metadata)
}

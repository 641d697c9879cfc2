//! `codecompass outline`.

use crate::cli::{Common, OutlineArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::get_file_outline::{self, Question};
use crate::tools::input;

pub(crate) fn run(common: &Common, args: &OutlineArgs) -> Result<Answer, AppError> {
    let is_deep = input::one_of("depth", args.depth.as_deref(), &[("top", false), ("all", true)])?.unwrap_or(true);
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let question = Question { path: args.path.clone(), is_deep, cursor: args.cursor.clone() };
    let paths = Paths::from_here(&session);
    get_file_outline::answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
}

//! `codecompass hierarchy`.

use super::references::PATIENCE;
use crate::cli::{Common, HierarchyArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::{get_symbol_hierarchy, input};

pub(crate) fn run(common: &Common, args: &HierarchyArgs) -> Result<Answer, AppError> {
    let directions = [("ancestors", true), ("descendants", false)];
    let is_up = input::one_of("direction", args.direction.as_deref(), &directions)?.unwrap_or(true);
    let question =
        get_symbol_hierarchy::Question { name: args.name.clone(), path: args.file.clone(), is_up, patience: PATIENCE };
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    let paths = Paths::from_here(&session);
    get_symbol_hierarchy::answer(published.memory.as_deref(), &question, &paths, &session.config, published.metadata)
}

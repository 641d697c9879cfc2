//! `codecompass grep`.

use crate::cli::{Common, GrepArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::published::Published;
use crate::session::Session;
use crate::tools::grep::{self, Input, Layout};

pub(crate) fn run(common: &Common, args: &GrepArgs) -> Result<Answer, AppError> {
    let question = Input {
        pattern: args.pattern.clone(),
        literal: args.fixed_strings,
        ignore_case: args.ignore_case,
        word: args.word_regexp,
        paths: args.paths.clone(),
        language: args.lang.clone(),
        limit: args.limit,
        cursor: args.cursor.clone(),
        layout: Layout {
            as_json: common.json,
            files_only: args.files_with_matches,
            counts: args.count,
            before: args.before_context.or(args.context).unwrap_or(0),
            after: args.after_context.or(args.context).unwrap_or(0),
        },
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let published = Published::open(&session, access)?;
    grep::answer(published.snapshot.as_deref(), &question, published.metadata)
}

//! `codecompass grep`.

use crate::cli::{Common, GrepArgs};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::grep::{self, Input, Layout};

pub(crate) fn run(common: &Common, args: &GrepArgs) -> Result<Answer, AppError> {
    let (pattern, paths) = pattern_and_paths(args);
    let question = Input {
        pattern,
        literal: args.fixed_strings,
        ignore_case: args.ignore_case,
        word: args.word_regexp,
        paths,
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
    session.say(1, || "-v says more, like this; it does not look for lines that do not match".into());
    let published = Published::open(&session, access)?;
    grep::answer(published.snapshot.as_deref(), &question, &Paths::from_here(&session), published.metadata)
}

/// The pattern and the paths. Behind `-e` stands the pattern, so what would be it is the first path.
fn pattern_and_paths(args: &GrepArgs) -> (String, Vec<String>) {
    let mut paths: Vec<String> = args.pattern.iter().chain(&args.paths).cloned().collect();
    let pattern = match &args.regexp {
        Some(pattern) => pattern.clone(),
        None if paths.is_empty() => String::new(),
        None => paths.remove(0),
    };
    (pattern, paths)
}

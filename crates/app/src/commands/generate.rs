//! `codecompass completions` and `man`: prints shell completions and manual pages.

use codecompass_wire::ErrorData;
use codecompass_wire::commands::reference as wire;

use super::TOOL_COMMANDS;
use crate::cli::{self, CompletionsArgs, ManArgs};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::Answer;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Answer, AppError> {
    answer(cli::completions(&cli::listed_tree(TOOL_COMMANDS), args.shell))
}

pub(crate) fn man(args: &ManArgs) -> Result<Answer, AppError> {
    let tree = cli::listed_tree(TOOL_COMMANDS);
    let page = cli::page(&tree, args.command.as_deref())
        .map_err(|error| AppError::new(Code::InternalError, format!("Cannot create the page: {error}.")))?;
    let page = page.ok_or_else(|| {
        let name = args.command.as_deref().unwrap_or_default();
        AppError::new(Code::InvalidInput, format!("There is no command {name:?}."))
            .hint("`codecompass help` lists the commands.")
            .data(ErrorData::parameter("command"))
    })?;
    answer(page)
}

fn answer(text: String) -> Result<Answer, AppError> {
    let answer = wire::Text { text, metadata: Metadata::unknown() };
    let rendered = Answer::from_wire(&answer, 0)?;
    Ok(Answer { text: answer.text, ..rendered })
}

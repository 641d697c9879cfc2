//! Names and files that continue what was typed in the search field.

use codecompass_wire::pages::{Completion, Completions};
use maud::{Markup, html};

use super::RenderedScreen;
use crate::lists::{escape_name, kind};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

const LIMIT: u32 = 10;

pub(super) async fn show(visit: &PageRequest, typed: &str) -> Result<RenderedScreen, Refusal> {
    let question = arguments([("query", typed.into()), ("limit", LIMIT.into()), ("complete", true.into())]);
    let Answered { answer, json } = visit.ask::<Completions>("search_code", question.clone()).await?;
    let body = html! {
        @if answer.completions.is_empty() { p { "No name begins like this." } }
        ul.rows { @for one in &answer.completions { (row(visit, one)) } }
    };
    Ok(RenderedScreen::new(format!("{typed} – names"), json, Some(answer.metadata))
        .body(body)
        .with_agent_calls([("search_code", question)]))
}

fn row(visit: &PageRequest, one: &Completion) -> Markup {
    let Completion { text, path, line_start, symbols, .. } = one;
    let place = format!("{path}:{line_start}");
    let href = match &one.result_id {
        Some(id) => visit.at.symbol(id),
        None => visit.at.href(&["file", path], &[]),
    };
    html! {
        li data-row {
            a.name href=(href) { (escape_name(text)) }
            " " (kind(&one.kind))
            @if one.result_id.is_some() {
                " " span.place { (escape_name(&place)) }
                @if *symbols > 1 { " " span.dim { "and " (symbols - 1) " more" } }
            }
        }
    }
}

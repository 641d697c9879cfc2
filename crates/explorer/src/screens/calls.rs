//! All callers or callees of a symbol. The script inserts this list under an expanded row.

use codecompass_wire::get_call_graph::Answer;
use maud::html;

use super::{RenderedScreen, is_partial, next_page_link, pending_note, symbol_heading};
use crate::lists::call_rows;
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

const LIMIT: u32 = 100;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let direction = visit.query.get("direction").unwrap_or("callers");
    let question = arguments([
        ("symbol_name", name.into()),
        ("direction", direction.into()),
        ("limit", LIMIT.into()),
        ("tests", visit.query.get("tests").into()),
        ("cursor", visit.query.get("cursor").into()),
    ]);
    let Answered { answer, json } = visit.ask::<Answer>("get_call_graph", question.clone()).await?;
    let (calls, is_partial) = (&answer.first, is_partial(&answer.metadata));
    let (direction, edges) =
        if direction == "callees" { ("callees", &calls.callees) } else { ("callers", &calls.callers) };
    let name_of = calls.symbol.symbol_id.as_str();
    let body = html! {
        h2 {
            @for (name, title) in [("callers", "Callers"), ("callees", "Calls")] {
                @if name == direction { span.on { (title) " " span.dim { (edges.len()) @if is_partial || calls.truncated { "+" } } " " } }
                @else { a href=(visit.at.href(&["calls", name_of], &[("direction", name)])) { (title) } " " }
            }
        }
        div data-list {
            @let none = if direction == "callers" { "No confirmed callers." } else { "No calls within this repository." };
            @if edges.is_empty() { (pending_note(is_partial, none)) }
            @else if is_partial { p.dim data-partial { "Incomplete; still loading." } }
            (call_rows(&visit.at, edges, direction))
            (next_page_link(visit, &answer.metadata))
        }
    };
    let heading = symbol_heading(visit, &calls.symbol, "calls");
    let title = if direction == "callers" { "Callers" } else { "Calls" };
    Ok(RenderedScreen::new(title, json, Some(answer.metadata))
        .heading(heading)
        .body(body)
        .with_agent_calls([("get_call_graph", question)]))
}

//! All callers or callees of a symbol. The script inserts this list under an expanded row.

use maud::html;
use serde_json::{Value, json};

use super::{RenderedScreen, is_partial, next_page_link, pending_note, symbol_heading};
use crate::explorer::lists::{call_rows, list, word};
use crate::explorer::page_request::PageRequest;

const LIMIT: u32 = 100;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Value> {
    let direction = visit.query.get("direction").unwrap_or("callers");
    let question = json!({
        "symbol_name": name,
        "direction": direction,
        "limit": LIMIT,
        "tests": visit.query.get("tests"),
        "cursor": visit.query.get("cursor"),
    });
    let answer = visit.ask("get_call_graph", question.clone()).await?;
    let direction = if direction == "callees" { "callees" } else { "callers" };
    let edges = list(&answer, direction);
    let name_of = word(&answer["symbol"], "symbol_id");
    let body = html! {
        h2 {
            @for (name, title) in [("callers", "Callers"), ("callees", "Calls")] {
                @if name == direction { span.on { (title) " " span.dim { (edges.len()) @if is_partial(&answer) || answer["truncated"] == true { "+" } } " " } }
                @else { a href=(visit.at.href(&["calls", name_of], &[("direction", name)])) { (title) } " " }
            }
        }
        div data-list {
            @let none = if direction == "callers" { "No confirmed callers." } else { "No calls within this repository." };
            @if edges.is_empty() { (pending_note(is_partial(&answer), none)) }
            @else if is_partial(&answer) { p.dim data-partial { "Incomplete; still loading." } }
            (call_rows(&visit.at, edges, direction))
            (next_page_link(visit, &answer["metadata"]))
        }
    };
    let heading = symbol_heading(visit, &answer["symbol"], "calls");
    let metadata = answer["metadata"].clone();
    let title = if direction == "callers" { "Callers" } else { "Calls" };
    Ok(RenderedScreen::new(title, answer, &metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls([("get_call_graph", question)]))
}

//! All callers or callees of a symbol. The script inserts this list under an expanded row.

use maud::html;
use serde_json::{Value, json};

use super::{Shown, head_of, is_partial, looking, more};
use crate::explorer::lists::{calls, list, word};
use crate::explorer::visit::Visit;

const LIMIT: u32 = 100;

pub(super) async fn show(visit: &Visit, name: &str) -> Result<Shown, Value> {
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
            @if edges.is_empty() { (looking(is_partial(&answer), none)) }
            @else if is_partial(&answer) { p.dim data-partial { "Incomplete; still loading." } }
            (calls(&visit.at, edges, direction))
            (more(visit, &answer["metadata"]))
        }
    };
    let heading = head_of(visit, &answer["symbol"], "calls");
    let metadata = answer["metadata"].clone();
    let title = if direction == "callers" { "Callers" } else { "Calls" };
    Ok(Shown::new(title, answer, &metadata).heading(heading).body(body).agent([("get_call_graph", question)]))
}

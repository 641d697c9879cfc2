//! All callers or callees of a symbol. The script puts its list under a row that is opened.

use maud::html;
use serde_json::{Value, json};

use super::search::drop_nulls;
use super::{Shown, head_of, more};
use crate::explorer::lists::{calls, list};
use crate::explorer::visit::Visit;

const LIMIT: u32 = 100;

pub(super) async fn show(visit: &Visit, name: &str) -> Result<Shown, Value> {
    let direction = visit.query.get("direction").unwrap_or("callers");
    let question = drop_nulls(json!({
        "symbol_name": name,
        "direction": direction,
        "limit": LIMIT,
        "tests": visit.query.get("tests"),
        "cursor": visit.query.get("cursor"),
    }));
    let answer = visit.ask("get_call_graph", question.clone()).await?;
    let direction = if direction == "callees" { "callees" } else { "callers" };
    let edges = list(&answer, direction);
    let body = html! {
        div data-list {
            @if edges.is_empty() { p.dim { @if direction == "callers" { "No call of it is proved." } @else { "It calls nothing here." } } }
            (calls(&visit.at, edges, direction))
            (more(visit, &answer["metadata"]))
        }
    };
    let heading = head_of(visit, &answer["symbol"], "calls");
    let metadata = answer["metadata"].clone();
    let title = if direction == "callers" { "Callers" } else { "Calls" };
    Ok(Shown::new(title, answer, &metadata).heading(heading).body(body).agent([("get_call_graph", question)]))
}

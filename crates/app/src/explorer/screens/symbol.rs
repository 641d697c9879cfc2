//! A symbol: its source in the middle, who calls it on the left, whom it calls on the right. What can not be called has its uses and
//! its parts there.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Shown, head_of};
use crate::explorer::code;
use crate::explorer::lists::{calls, count, list, number, place_link, plain, symbol_link, word};
use crate::explorer::questions::source;
use crate::explorer::visit::Visit;

/// So many calls of each side are on the page; all of them are one link away.
const CALLS: u32 = 80;

const CALLABLE: &[&str] = &["fn", "method", "constructor", "macro", "test"];

pub(super) async fn show(visit: &Visit, name: &str) -> Result<Shown, Value> {
    let source = visit.ask_tool(&source::TOOL, json!({ "name": name, "path": visit.query.get("path") })).await?;
    let symbol = &source["symbol"];
    let id = word(symbol, "symbol_id");
    let is_callable = CALLABLE.contains(&word(symbol, "kind"));
    let (key, tool, question) = match is_callable {
        true => ("calls", "get_call_graph", json!({ "symbol_name": id, "limit": CALLS })),
        false => ("references", "find_references", json!({ "symbol_name": id, "limit": CALLS })),
    };
    // A language without rules has no edges to show, and its source all the same.
    let around = visit.ask(tool, question.clone()).await.unwrap_or_else(|error| error);
    let refusal = around["error"]["message"].as_str();
    let (left, right) = match is_callable {
        true => (callers(visit, id, &around), callees(visit, id, &around)),
        false => (uses(visit, id, &around), parts(visit, &source)),
    };
    let others = list(&source, "others");
    let body = html! {
        @if !list(&source, "around").is_empty() {
            p.around { "in " @for (at, one) in list(&source, "around").iter().enumerate() { @if at > 0 { " › " } (symbol_link(&visit.at, one)) } }
        }
        @if source["is_edited"] == true { p { span.badge.edited { "edited, not committed" } } }
        div.sides {
            section.middle aria-label="Source" { (code::lines(&visit.at, &source, &[])) (rest(visit, &source)) }
            section.left aria-label="Left" { @if let Some(refusal) = refusal { p.dim { (plain(refusal)) } } @else { (left) } }
            section.right aria-label="Right" { @if refusal.is_none() || !is_callable { (right) } }
        }
        @if !others.is_empty() {
            details { summary { (count(others.len() as u64, "other")) " of this name" }
                ul.rows { @for other in others { li data-row { (symbol_link(&visit.at, other)) " " (place_link(&visit.at, word(other, "path"), number(other, "line_start"))) } } }
            }
        }
    };
    let place = format!("{}:{}", word(symbol, "path"), number(symbol, "line_start"));
    let title = word(symbol, "qualified_name").to_owned();
    let heading = head_of(visit, symbol, "symbol");
    let agent = vec![("read_code", json!({ "what": [place] })), (tool, question)];
    // What could not be looked at is said, whichever of the two it is.
    let is_partial = word(&around["metadata"], "result_completeness") == "partial";
    let metadata = if is_partial { &around } else { &source }["metadata"].clone();
    Ok(Shown::new(title, json!({ "source": source, key: around }), &metadata).heading(heading).body(body).agent(agent))
}

fn callers(visit: &Visit, id: &str, answer: &Value) -> Markup {
    let edges = list(answer, "callers");
    let unproved = number(answer, "unproved_callers");
    let is_cut = edges.len() as u64 >= u64::from(CALLS);
    html! {
        h2 { "Callers " span.dim { (edges.len()) @if is_cut { "+" } } }
        @if edges.is_empty() { p.dim { "No call of it is proved." } }
        (calls(&visit.at, edges, "callers"))
        @if is_cut { p data-row { a.more href=(visit.at.href(&["calls", id], &[("direction", "callers")])) { "All callers" } } }
        @if unproved > 0 { p.dim { a href=(visit.at.href(&["references", id], &[])) { (count(unproved, "call")) " that may be of it" } } }
    }
}

fn callees(visit: &Visit, id: &str, answer: &Value) -> Markup {
    let edges = list(answer, "callees");
    let is_cut = edges.len() as u64 >= u64::from(CALLS);
    let (outside, unresolved) = (number(answer, "outside_calls"), number(answer, "unresolved_calls"));
    html! {
        h2 { "Calls " span.dim { (edges.len()) @if is_cut { "+" } } }
        @if edges.is_empty() { p.dim { "It calls nothing here." } }
        (calls(&visit.at, edges, "callees"))
        @if is_cut { p data-row { a.more href=(visit.at.href(&["calls", id], &[("direction", "callees")])) { "All it calls" } } }
        @if outside > 0 { p.dim { (count(outside, "call")) " of libraries" } }
        @if unresolved > 0 { p.dim { (count(unresolved, "call")) " that nobody can bind" } }
    }
}

/// Where a type, a field or a constant is used, by the symbol around.
fn uses(visit: &Visit, id: &str, answer: &Value) -> Markup {
    let references = list(answer, "references");
    let total = number(answer, "total_references");
    html! {
        h2 { "Used by " span.dim { (total) } }
        @if references.is_empty() { p.dim { "No use of it is proved." } }
        ul.rows {
            @for one in references {
                li data-row {
                    (symbol_link(&visit.at, &one["from_symbol"]))
                    div.at { (place_link(&visit.at, word(one, "path"), number(one, "line_start"))) " " span.dim { (word(one, "edge_type")) } }
                }
            }
        }
        @if total > references.len() as u64 { p data-row { a.more href=(visit.at.href(&["references", id], &[])) { "All of them" } } }
    }
}

/// What stands inside of it.
fn parts(visit: &Visit, source: &Value) -> Markup {
    let inside = list(source, "inside");
    html! {
        h2 { "Inside " span.dim { (inside.len()) } }
        ul.rows { @for part in inside { li data-row { (symbol_link(&visit.at, part)) div.at { (place_link(&visit.at, word(part, "path"), number(part, "line_start"))) } } } }
    }
}

/// A symbol of thousands of lines goes on in its file.
fn rest(visit: &Visit, source: &Value) -> Markup {
    let (last, end) = (number(source, "last_line"), number(&source["symbol"], "line_end"));
    html! {
        @if last < end { p { a href=(visit.at.line(word(source, "path"), last + 1)) { "It goes on to line " (end) } } }
    }
}

//! A drawing of the calls around a symbol, one or two hops wide.

use maud::html;
use serde_json::{Value, json};

use super::{RenderedScreen, is_partial, pending_note, symbol_heading};
use crate::explorer::drawing::{CallDrawing, GraphBox};
use crate::explorer::lists::{escape_name, list, number, symbol_key, word};
use crate::explorer::page_request::PageRequest;

/// The maximum number of drawn neighbours on each side, and per neighbour on the second hop. A larger drawing is
/// unreadable.
const MAX_NEIGHBOURS: u32 = 30;
const MAX_SECOND_HOP: u32 = 8;

/// The maximum number of neighbours expanded to the second hop.
const MAX_EXPANDED: usize = 12;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Value> {
    let hops = visit.query.number("hops").unwrap_or(1).clamp(1, 2);
    let tests = visit.query.get("tests").unwrap_or("exclude");
    let question = json!({ "symbol_name": name, "limit": MAX_NEIGHBOURS, "tests": tests });
    let answer = visit.ask("get_call_graph", question.clone()).await?;
    let own = &answer["symbol"];
    let mut picture = CallDrawing::default();
    picture.add(item(visit, own, "own", 0));
    let mut far = Vec::new();
    for (side, step) in [("callers", -1), ("callees", 1)] {
        let near: Vec<&Value> = list(&answer, side).iter().map(|edge| &edge["symbol"]).collect();
        add(visit, &mut picture, own, &near, step, step);
        if hops == 2 {
            far.push(add_second_hop(visit, &mut picture, &near, side, step, tests).await);
        }
    }
    let is_unfinished = is_partial(&answer) || far.iter().any(is_partial);
    let is_short = hops == 2
        && far
            .iter()
            .any(|one| one["truncated"] == true || list(one, "more").iter().any(|more| more["truncated"] == true));
    let shown = picture.len();
    let title = format!("Calls around {}", word(own, "name"));
    let body = html! {
        p {
            @if hops == 1 { a href=(visit.at.href(&["graph", name], &[("hops", "2"), ("tests", tests)])) { "two hops" } }
            @else { a href=(visit.at.href(&["graph", name], &[("hops", "1"), ("tests", tests)])) { "one hop" } }
            " · "
            @let hops_text = hops.to_string();
            @if tests == "exclude" { a href=(visit.at.href(&["graph", name], &[("hops", &hops_text), ("tests", "include")])) { "with tests" } }
            @else { a href=(visit.at.href(&["graph", name], &[("hops", &hops_text)])) { "without tests" } }
            span.dim { " · callers left, callees right" @if answer["truncated"] == true { "; only the first " (MAX_NEIGHBOURS) " of each side" } @if is_short { "; second hop: " (MAX_SECOND_HOP) " calls of " (MAX_EXPANDED) " symbols each" } }
            @if is_unfinished { span.dim data-partial { " · incomplete; still loading" } }
        }
        @if picture.is_empty() { (pending_note(is_unfinished, "No confirmed calls.")) } @else { (picture.draw(&format!("{title}: {shown} symbols"))) }
    };
    let heading = symbol_heading(visit, own, "graph");
    let metadata = answer["metadata"].clone();
    let json = if hops == 2 { json!({ "near": answer, "far": far }) } else { answer };
    Ok(RenderedScreen::new(title, json, &metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls([("get_call_graph", question)]))
}

/// Adds the calls of the neighbours, with one request for all of them.
async fn add_second_hop(
    visit: &PageRequest,
    picture: &mut CallDrawing,
    near: &[&Value],
    side: &str,
    step: i32,
    tests: &str,
) -> Value {
    let ids: Vec<&str> =
        near.iter().map(|symbol| word(symbol, "symbol_id")).filter(|id| !id.is_empty()).take(MAX_EXPANDED).collect();
    let Some((first, also)) = ids.split_first() else { return Value::Null };
    let question =
        json!({ "symbol_name": first, "also": also, "direction": side, "limit": MAX_SECOND_HOP, "tests": tests });
    let Ok(answer) = visit.ask("get_call_graph", question).await else { return Value::Null };
    for one in std::iter::once(&answer).chain(list(&answer, "more")) {
        let behind: Vec<&Value> = list(one, side).iter().map(|edge| &edge["symbol"]).collect();
        add(visit, picture, &one["symbol"], &behind, step, 2 * step);
    }
    answer
}

fn add(visit: &PageRequest, picture: &mut CallDrawing, of: &Value, others: &[&Value], step: i32, hop: i32) {
    let own = symbol_key(of);
    for other in others {
        picture.add(item(visit, other, "", hop));
        let (from, to) = if step < 0 { (symbol_key(other), own.clone()) } else { (own.clone(), symbol_key(other)) };
        picture.connect(&from, &to);
    }
}

fn item(visit: &PageRequest, symbol: &Value, class: &'static str, hop: i32) -> GraphBox {
    let (path, line) = (word(symbol, "path"), number(symbol, "line_start").max(1));
    let id = word(symbol, "symbol_id");
    let href = if id.is_empty() { visit.at.line(path, line) } else { visit.at.href(&["graph", id], &[]) };
    let name = match word(symbol, "qualified_name") {
        "" => path,
        name => name,
    };
    GraphBox {
        key: symbol_key(symbol),
        name: name.to_owned(),
        about: escape_name(&format!("{} {name} · {path}:{line}", word(symbol, "kind"))),
        href,
        class,
        hop: Some(hop),
    }
}

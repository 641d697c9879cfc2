//! A drawing of the calls around a symbol, one or two hops wide.

use codecompass_wire::get_call_graph::{Answer, Call, Calls};
use codecompass_wire::{Outcome, SymbolIdentity};
use maud::html;
use serde_json::Value;

use super::{RenderedScreen, is_partial, object, pending_note, symbol_heading};
use crate::drawing::{CallDrawing, GraphBox};
use crate::lists::{SymbolView, escape_name, symbol_key};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

/// The maximum number of drawn neighbours on each side, and per neighbour on the second hop. A larger drawing is
/// unreadable.
const MAX_NEIGHBOURS: u32 = 30;
const MAX_SECOND_HOP: u32 = 8;

/// The maximum number of neighbours expanded to the second hop.
const MAX_EXPANDED: usize = 12;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let hops = visit.query.number("hops").unwrap_or(1).clamp(1, 2);
    let tests = visit.query.get("tests").unwrap_or("exclude");
    let question = arguments([("symbol_name", name.into()), ("limit", MAX_NEIGHBOURS.into()), ("tests", tests.into())]);
    let Answered { answer, json: near_json } = visit.ask::<Answer>("get_call_graph", question.clone()).await?;
    let own = &answer.first.symbol;
    let mut picture = CallDrawing::default();
    picture.add(item(visit, own.into(), "own", 0));
    let mut far = Vec::new();
    for (side, step) in [("callers", -1), ("callees", 1)] {
        let near: Vec<&SymbolIdentity> = calls_of(&answer.first, side).iter().map(|edge| &edge.symbol).collect();
        add(visit, &mut picture, own, &near, step, step);
        if hops == 2 {
            far.push(add_second_hop(visit, &mut picture, &near, side, step, tests).await);
        }
    }
    let answers = || far.iter().flatten().map(|answered| &answered.answer);
    let is_unfinished = is_partial(&answer.metadata) || answers().any(|one| is_partial(&one.metadata));
    let is_short = answers().any(|one| parts(one).any(|calls| calls.truncated));
    let shown = picture.len();
    let title = format!("Calls around {}", own.name);
    let body = html! {
        p {
            @if hops == 1 { a href=(visit.at.href(&["graph", name], &[("hops", "2"), ("tests", tests)])) { "two hops" } }
            @else { a href=(visit.at.href(&["graph", name], &[("hops", "1"), ("tests", tests)])) { "one hop" } }
            " · "
            @let hops_text = hops.to_string();
            @if tests == "exclude" { a href=(visit.at.href(&["graph", name], &[("hops", &hops_text), ("tests", "include")])) { "with tests" } }
            @else { a href=(visit.at.href(&["graph", name], &[("hops", &hops_text)])) { "without tests" } }
            span.dim { " · callers left, callees right" @if answer.first.truncated { "; only the first " (MAX_NEIGHBOURS) " of each side" } @if is_short { "; second hop: " (MAX_SECOND_HOP) " calls of " (MAX_EXPANDED) " symbols each" } }
            @if is_unfinished { span.dim data-partial { " · incomplete; still loading" } }
        }
        @if picture.is_empty() { (pending_note(is_unfinished, "No confirmed calls.")) } @else { (picture.draw(&format!("{title}: {shown} symbols"))) }
    };
    let heading = symbol_heading(visit, own, "graph");
    let json_of = |answered: Option<Answered<Answer>>| answered.map_or(Value::Null, |answered| answered.json);
    let json = match hops {
        2 => object([("near", near_json), ("far", far.into_iter().map(json_of).collect())]),
        _ => near_json,
    };
    Ok(RenderedScreen::new(title, json, Some(answer.metadata.clone()))
        .heading(heading)
        .body(body)
        .with_agent_calls([("get_call_graph", question)]))
}

/// The calls of one side.
fn calls_of<'c>(calls: &'c Calls, side: &str) -> &'c [Call] {
    if side == "callers" { &calls.callers } else { &calls.callees }
}

/// The calls of all symbols of an answer.
fn parts(answer: &Answer) -> impl Iterator<Item = &Calls> {
    let more = answer.more.iter().filter_map(|more| match &more.outcome {
        Outcome::Answered(calls) => Some(calls),
        Outcome::Failed { .. } => None,
    });
    std::iter::once(&answer.first).chain(more)
}

/// Adds the calls of the neighbours, with one request for all of them.
async fn add_second_hop(
    visit: &PageRequest,
    picture: &mut CallDrawing,
    near: &[&SymbolIdentity],
    side: &str,
    step: i32,
    tests: &str,
) -> Option<Answered<Answer>> {
    let ids: Vec<&str> =
        near.iter().map(|symbol| symbol.symbol_id.as_str()).filter(|id| !id.is_empty()).take(MAX_EXPANDED).collect();
    let (first, also) = ids.split_first()?;
    let question = arguments([
        ("symbol_name", (*first).into()),
        ("also", also.to_vec().into()),
        ("direction", side.into()),
        ("limit", MAX_SECOND_HOP.into()),
        ("tests", tests.into()),
    ]);
    let answered = visit.ask::<Answer>("get_call_graph", question).await.ok()?;
    for calls in parts(&answered.answer) {
        let behind: Vec<&SymbolIdentity> = calls_of(calls, side).iter().map(|edge| &edge.symbol).collect();
        add(visit, picture, &calls.symbol, &behind, step, 2 * step);
    }
    Some(answered)
}

fn add(
    visit: &PageRequest,
    picture: &mut CallDrawing,
    of: &SymbolIdentity,
    others: &[&SymbolIdentity],
    step: i32,
    hop: i32,
) {
    let own = symbol_key(of.into());
    for other in others.iter().map(|other| SymbolView::from(*other)) {
        picture.add(item(visit, other, "", hop));
        let (from, to) = if step < 0 { (symbol_key(other), own.clone()) } else { (own.clone(), symbol_key(other)) };
        picture.connect(&from, &to);
    }
}

fn item(visit: &PageRequest, symbol: SymbolView<'_>, class: &'static str, hop: i32) -> GraphBox {
    let SymbolView { id, path, line, kind, .. } = symbol;
    let href = if id.is_empty() { visit.at.line(path, line.into()) } else { visit.at.href(&["graph", id], &[]) };
    let name = if symbol.name.is_empty() { path } else { symbol.name };
    GraphBox {
        key: symbol_key(symbol),
        name: name.to_owned(),
        about: escape_name(&format!("{kind} {name} · {path}:{line}")),
        href,
        class,
        hop: Some(hop),
    }
}

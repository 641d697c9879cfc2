//! A symbol: its source in the middle, its callers on the left, its callees on the right. For a symbol that cannot be
//! called, these are its uses and its members.

use codecompass_wire::get_call_graph::{self, Call, Calls};
use codecompass_wire::pages::Source;
use codecompass_wire::{Batch, Metadata, find_references};
use maud::{Markup, html};
use serde_json::Value;

use super::{RenderedScreen, is_partial, object, pending_note, symbol_heading};
use crate::code;
use crate::lists::{call_rows, count, escape_name, place_link, symbol_link, symbol_place};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};
use crate::page_tools::source::{self, MAX_OTHERS};

/// The maximum number of calls per side; a link leads to all of them.
const MAX_CALLS: u32 = 80;

const CALLABLE: &[&str] = &["fn", "method", "constructor", "macro", "test"];

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let asked = arguments([("name", name.into()), ("path", visit.query.get("path").into())]);
    let Answered { answer: source, json: source_json } = visit.ask_tool::<Source>(&source::TOOL, asked).await?;
    let Some(symbol) = &source.symbol else { return Err(Refusal::new("internal_error", "The symbol has no place.")) };
    let id = symbol.symbol_id.as_str();
    let is_callable = CALLABLE.contains(&&*symbol.kind);
    let question = arguments([("symbol_name", id.into()), ("limit", MAX_CALLS.into())]);
    let (key, tool) = if is_callable { ("calls", "get_call_graph") } else { ("references", "find_references") };
    // A language without rules has no edges, but still has source to show.
    let around = match is_callable {
        true => visit.ask::<get_call_graph::Answer>(tool, question.clone()).await.map(|Answered { answer, json }| {
            let sides = (callers(visit, id, &answer), callees(visit, id, &answer));
            Around { sides, metadata: answer.metadata, json }
        }),
        false => visit.ask::<find_references::Answer>(tool, question.clone()).await.map(|Answered { answer, json }| {
            let sides = (uses(visit, id, &answer), member_list(visit, &source));
            Around { sides, metadata: answer.metadata, json }
        }),
    };
    let refusal = around.as_ref().err().map(|refusal| refusal.failure.error.message.as_str());
    let others = &source.others;
    let body = html! {
        @if !source.around.is_empty() {
            p.around { "in " @for (at, one) in source.around.iter().enumerate() { @if at > 0 { " › " } (symbol_link(&visit.at, one)) } }
        }
        @if !others.is_empty() {
            details { summary { (count(others.len() as u64, "other")) " with this name" @if others.len() >= MAX_OTHERS { ", or more" } }
                ul.rows { @for other in others { li data-row { (symbol_link(&visit.at, other)) " " (symbol_place(&visit.at, other)) } } }
            }
        }
        @if source.is_edited { p { span.badge.edited { "edited, not committed" } } }
        div.sides {
            section.middle aria-label="Source" { (code::lines(&visit.at, &source, &[])) (continue_link(visit, &source)) }
            section.left aria-label=(if is_callable { "Callers" } else { "Uses" }) { @match &around { Ok(around) => { (around.sides.0) }, Err(_) => { p.dim { (escape_name(refusal.unwrap_or_default())) } } } }
            section.right aria-label=(if is_callable { "Calls" } else { "Members" }) { @match &around { Ok(around) => { (around.sides.1) }, Err(_) => { @if !is_callable { (member_list(visit, &source)) } } } }
        }
    };
    let place = format!("{}:{}", symbol.path, symbol.line_start);
    let heading = symbol_heading(visit, symbol, "symbol");
    let agent = vec![("read_code", arguments([("what", vec![place].into())])), (tool, question)];
    // Report a partial result of either answer.
    let partial = around.as_ref().ok().map(|around| &around.metadata).filter(|metadata| is_partial(metadata));
    let metadata = partial.unwrap_or(&source.metadata).clone();
    let around_json = around.map_or_else(|refusal| refusal.json, |around| around.json);
    let json = object([("source", source_json), (key, around_json)]);
    Ok(RenderedScreen::new(symbol.qualified_name.clone(), json, Some(metadata))
        .heading(heading)
        .body(body)
        .with_agent_calls(agent))
}

/// What is beside the source: the left and the right side, and the answer that they show.
struct Around {
    sides: (Markup, Markup),
    metadata: Metadata,
    json: Value,
}

fn callers(visit: &PageRequest, id: &str, answer: &Batch<Calls>) -> Markup {
    let unproved = answer.first.unproved_callers.unwrap_or_default() as u64;
    html! {
        (call_list(visit, id, answer, ("callers", &answer.first.callers)))
        @if unproved > 0 { p.dim { a href=(visit.at.href(&["references", id], &[])) { (count(unproved, "possible call")) } } }
    }
}

fn callees(visit: &PageRequest, id: &str, answer: &Batch<Calls>) -> Markup {
    let Calls { outside_calls: outside, unresolved_calls: unresolved, .. } = answer.first;
    let (outside, unresolved) = (outside.unwrap_or_default() as u64, unresolved.unwrap_or_default() as u64);
    html! {
        (call_list(visit, id, answer, ("callees", &answer.first.callees)))
        @if outside > 0 { p.dim { (count(outside, "external call")) } }
        @if unresolved > 0 { p.dim { (count(unresolved, "unresolved call")) } }
    }
}

/// The first calls of one direction, and a link to more.
fn call_list(visit: &PageRequest, id: &str, answer: &Batch<Calls>, side: (&str, &[Call])) -> Markup {
    let (direction, edges) = side;
    let is_partial = is_partial(&answer.metadata);
    let (title, none, all) = match direction {
        "callers" => ("Callers ", "No confirmed callers.", "All callers"),
        _ => ("Calls ", "No calls within this repository.", "All calls"),
    };
    let is_full = edges.len() as u64 >= u64::from(MAX_CALLS) && answer.first.truncated;
    html! {
        h2 { (title) span.dim { (edges.len()) @if is_full || is_partial { "+" } } }
        @if edges.is_empty() { (pending_note(is_partial, none)) }
        (call_rows(&visit.at, edges, direction))
        @if is_full { p data-row { a.more href=(visit.at.href(&["calls", id], &[("direction", direction)])) { (all) } } }
    }
}

/// The uses of a type, a field or a constant, by enclosing symbol.
fn uses(visit: &PageRequest, id: &str, answer: &find_references::Answer) -> Markup {
    let (references, total) = (&answer.first.references, answer.first.total_references);
    let is_partial = is_partial(&answer.metadata);
    html! {
        h2 { "Used by " span.dim { (total) @if is_partial { "+" } } }
        @if references.is_empty() { (pending_note(is_partial, "No confirmed uses.")) }
        ul.rows {
            @for one in references {
                li data-row {
                    (symbol_link(&visit.at, &one.from_symbol))
                    div.at { (place_link(&visit.at, &one.path, one.line_start.into())) " " span.dim { (one.edge_type) } }
                }
            }
        }
        @if total > references.len() { p data-row { a.more href=(visit.at.href(&["references", id], &[])) { "Show all" } } }
    }
}

/// The members of the symbol.
fn member_list(visit: &PageRequest, source: &Source) -> Markup {
    let inside = &source.inside;
    html! {
        h2 { "Members " span.dim { (inside.len()) } }
        ul.rows { @for part in inside { li data-row { (symbol_link(&visit.at, part)) div.at { (symbol_place(&visit.at, part)) } } } }
    }
}

/// The link to the rest of a very long symbol, in its file.
fn continue_link(visit: &PageRequest, source: &Source) -> Markup {
    let (last, end) = (source.last_line, source.symbol.as_ref().map_or(0, |symbol| symbol.line_end));
    html! {
        @if last < end { p { a href=(visit.at.line(&source.path, u64::from(last) + 1)) { "Continue to line " (end) } } }
    }
}

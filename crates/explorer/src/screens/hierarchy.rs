//! The symbols that enclose a symbol, those inside it, and the types that implement or extend it.

use codecompass_wire::find_references;
use codecompass_wire::get_symbol_hierarchy::{Answer, HierarchySymbol};
use maud::{Markup, html};
use serde_json::Value;

use super::{RenderedScreen, is_partial, object, symbol_heading};
use crate::lists::{escape_name, place_link, symbol_link, symbol_place};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let question = |direction: &str| arguments([("symbol_name", name.into()), ("direction", direction.into())]);
    let above = visit.ask::<Answer>("get_symbol_hierarchy", question("ancestors")).await?;
    let below = visit.ask::<Answer>("get_symbol_hierarchy", question("descendants")).await?;
    let edges = |kind: &str| arguments([("symbol_name", name.into()), ("kind", kind.into()), ("limit", 100.into())]);
    let implemented = visit.ask::<find_references::Answer>("find_references", edges("implements")).await.ok();
    let extended = visit.ask::<find_references::Answer>("find_references", edges("extends")).await.ok();
    let chain = &above.answer.hierarchy;
    let Some(own) = below.answer.hierarchy.first() else {
        return Err(Refusal::new("internal_error", "The symbol has no place."));
    };
    let body = html! {
        @if chain.len() > 1 {
            h2 { "Enclosing symbols" }
            ol.chain { @for one in chain.iter().rev() { li data-row { (symbol_link(&visit.at, one)) " " (symbol_place(&visit.at, one)) } } }
        }
        @if let Some(answered) = &implemented { (subtypes(visit, "Implemented by", "implements", &answered.answer)) }
        @if let Some(answered) = &extended { (subtypes(visit, "Extended by", "extends", &answered.answer)) }
        h2 { "Members" }
        @if own.children.is_empty() { p.dim { "Nothing." } }
        (tree(visit, &own.children))
    };
    let heading = symbol_heading(visit, own, "hierarchy");
    let title = format!("Hierarchy of {}", own.name);
    let metadata = below.answer.metadata.clone();
    let agent =
        vec![("get_symbol_hierarchy", question("ancestors")), ("get_symbol_hierarchy", question("descendants"))];
    let json_of = |answered: Option<Answered<_>>| answered.map_or(Value::Null, |answered| answered.json);
    let json = object([
        ("ancestors", above.json),
        ("descendants", below.json),
        ("implemented_by", json_of(implemented)),
        ("extended_by", json_of(extended)),
    ]);
    Ok(RenderedScreen::new(title, json, Some(metadata)).heading(heading).body(body).with_agent_calls(agent))
}

fn subtypes(visit: &PageRequest, title: &str, kind: &str, answer: &find_references::Answer) -> Markup {
    let (references, total) = (&answer.first.references, answer.first.total_references);
    let id = answer.first.symbol.symbol_id.as_str();
    let is_partial = is_partial(&answer.metadata);
    html! {
        @if !references.is_empty() {
            h2 { (title) " " span.dim { (total) @if is_partial { "+" } } }
            ul.rows {
                @for one in references {
                    li data-row { (symbol_link(&visit.at, &one.from_symbol)) " " (place_link(&visit.at, &one.path, one.line_start.into())) }
                }
            }
            @if total > references.len() { p data-row { a.more href=(visit.at.href(&["references", id], &[("kind", kind)])) { "Show all" } } }
        }
        @if is_partial { p.dim data-partial { (title) ": incomplete; still loading." } }
    }
}

/// A tree of symbols. The answer is limited in size, and not deep.
pub(super) fn tree(visit: &PageRequest, symbols: &[HierarchySymbol]) -> Markup {
    html! {
        @if !symbols.is_empty() {
            ul.rows.tree {
                @for one in symbols {
                    li data-row {
                        (symbol_link(&visit.at, one)) " " span.dim { (one.line_start) }
                        @if !one.signature.is_empty() { pre.signature { (escape_name(&one.signature)) } }
                        (tree(visit, &one.children))
                    }
                }
            }
        }
    }
}

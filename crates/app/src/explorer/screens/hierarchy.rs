//! The symbols that enclose a symbol, those inside it, and the types that implement or extend it.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{RenderedScreen, is_partial, symbol_heading};
use crate::explorer::lists::{escape_name, list, number, place_link, symbol_link, word};
use crate::explorer::page_request::PageRequest;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Value> {
    let question = |direction: &str| json!({ "symbol_name": name, "direction": direction });
    let above = visit.ask("get_symbol_hierarchy", question("ancestors")).await?;
    let below = visit.ask("get_symbol_hierarchy", question("descendants")).await?;
    let edges = |kind: &str| json!({ "symbol_name": name, "kind": kind, "limit": 100 });
    let implemented = visit.ask("find_references", edges("implements")).await.unwrap_or_default();
    let extended = visit.ask("find_references", edges("extends")).await.unwrap_or_default();
    let own = &list(&below, "hierarchy").first().cloned().unwrap_or_default();
    let chain = list(&above, "hierarchy");
    let body = html! {
        @if chain.len() > 1 {
            h2 { "Enclosing symbols" }
            ol.chain { @for one in chain.iter().rev() { li data-row { (symbol_link(&visit.at, one)) " " (place_link(&visit.at, word(one, "path"), number(one, "line_start"))) } } }
        }
        (subtypes(visit, "Implemented by", "implements", &implemented))
        (subtypes(visit, "Extended by", "extends", &extended))
        h2 { "Members" }
        @if list(own, "children").is_empty() { p.dim { "Nothing." } }
        (tree(visit, list(own, "children")))
    };
    let heading = symbol_heading(visit, own, "hierarchy");
    let metadata = below["metadata"].clone();
    let title = format!("Hierarchy of {}", word(own, "name"));
    let agent =
        vec![("get_symbol_hierarchy", question("ancestors")), ("get_symbol_hierarchy", question("descendants"))];
    let json =
        json!({ "ancestors": above, "descendants": below, "implemented_by": implemented, "extended_by": extended });
    Ok(RenderedScreen::new(title, json, &metadata).heading(heading).body(body).with_agent_calls(agent))
}

fn subtypes(visit: &PageRequest, title: &str, kind: &str, answer: &Value) -> Markup {
    let references = list(answer, "references");
    let total = number(answer, "total_references");
    let id = word(&answer["symbol"], "symbol_id");
    html! {
        @if !references.is_empty() {
            h2 { (title) " " span.dim { (total) @if is_partial(answer) { "+" } } }
            ul.rows {
                @for one in references {
                    li data-row { (symbol_link(&visit.at, &one["from_symbol"])) " " (place_link(&visit.at, word(one, "path"), number(one, "line_start"))) }
                }
            }
            @if total > references.len() as u64 { p data-row { a.more href=(visit.at.href(&["references", id], &[("kind", kind)])) { "Show all" } } }
        }
        @if is_partial(answer) { p.dim data-partial { (title) ": incomplete; still loading." } }
    }
}

/// A tree of symbols. The answer is limited in size, and not deep.
pub(super) fn tree(visit: &PageRequest, symbols: &[Value]) -> Markup {
    html! {
        @if !symbols.is_empty() {
            ul.rows.tree {
                @for one in symbols {
                    li data-row {
                        (symbol_link(&visit.at, one)) " " span.dim { (number(one, "line_start")) }
                        @if !word(one, "signature").is_empty() { pre.signature { (escape_name(word(one, "signature"))) } }
                        (tree(visit, list(one, "children")))
                    }
                }
            }
        }
    }
}

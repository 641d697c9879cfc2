//! Every reference to a symbol, by file; unconfirmed ones are listed separately.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{RenderedScreen, is_partial, next_page_link, pending_note, symbol_heading};
use crate::explorer::lists::{count, escape_name, list, number, symbol_link, word};
use crate::explorer::page_request::PageRequest;

const LIMIT: u32 = 200;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Value> {
    let question = json!({
        "symbol_name": name,
        "limit": LIMIT,
        "kind": visit.query.get("kind"),
        "tests": visit.query.get("tests"),
        "cursor": visit.query.get("cursor"),
    });
    let answer = visit.ask("find_references", question.clone()).await?;
    let references = list(&answer, "references");
    let (proved, guessed): (Vec<&Value>, Vec<&Value>) =
        references.iter().partition(|one| word(one, "confidence") == "static");
    let through: Vec<&Value> = list(&answer, "through").iter().collect();
    let counts = &answer["counts"];
    let body = html! {
        p { (count(number(&answer, "total_references"), "reference"))
            @if counts.is_object() {
                span.dim { " · occurrences of the name: " (number(counts, "proved")) " confirmed · " (number(counts, "undecided")) " possible · "
                    (number(counts, "elsewhere")) " other symbols · " (number(counts, "outside")) " external" }
            }
        }
        @if references.is_empty() { (pending_note(is_partial(&answer), "No confirmed references.")) }
        (by_file(visit, &proved))
        @if !guessed.is_empty() { h2 { "Unconfirmed " span.dim { (guessed.len()) " on this page" } } (by_file(visit, &guessed)) }
        @if !through.is_empty() { h2 { "Via an interface or an implementation " span.dim { (through.len()) } } (by_file(visit, &through)) }
        (next_page_link(visit, &answer["metadata"]))
    };
    let heading = symbol_heading(visit, &answer["symbol"], "references");
    let metadata = answer["metadata"].clone();
    let title = format!("References to {}", word(&answer["symbol"], "name"));
    Ok(RenderedScreen::new(title, answer, &metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls([("find_references", question)]))
}

/// The references grouped by file, in the order of the files.
fn by_file(visit: &PageRequest, references: &[&Value]) -> Markup {
    let mut files: Vec<(&str, Vec<&Value>)> = Vec::new();
    for one in references {
        let path = word(one, "path");
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, places)) => places.push(one),
            None => files.push((path, vec![one])),
        }
    }
    html! {
        @for (path, places) in &files {
            section.file {
                h3 { a href=(visit.at.href(&["file", path], &[])) { (escape_name(path)) } " " span.dim { (places.len()) } }
                ul.rows {
                    @for one in places {
                        @let line = number(one, "line_start");
                        li data-row {
                            a.line href=(visit.at.line(path, line)) { (line) }
                            " " code { (escape_name(word(one, "context"))) }
                            div.at { (symbol_link(&visit.at, &one["from_symbol"])) " " span.dim { (word(one, "edge_type")) } }
                        }
                    }
                }
            }
        }
    }
}

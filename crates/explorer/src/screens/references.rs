//! Every reference to a symbol, by file; unconfirmed ones are listed separately.

use codecompass_wire::find_references::{Answer, Reference, References};
use codecompass_workspace::measure::count_text;
use maud::{Markup, html};

use super::{RenderedScreen, is_partial, next_page_link, pending_note, symbol_heading};
use crate::lists::{count, escape_name, symbol_link};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

const LIMIT: u32 = 200;

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let question = arguments([
        ("symbol_name", name.into()),
        ("limit", LIMIT.into()),
        ("kind", visit.query.get("kind").into()),
        ("tests", visit.query.get("tests").into()),
        ("cursor", visit.query.get("cursor").into()),
    ]);
    let Answered { answer, json } = visit.ask::<Answer>("find_references", question.clone()).await?;
    let (found, metadata) = (&answer.first, &answer.metadata);
    let (proved, guessed): (Vec<&Reference>, Vec<&Reference>) =
        found.references.iter().partition(|one| one.confidence == "static");
    let through: Vec<&Reference> = found.through.iter().map(|one| &one.reference).collect();
    let counts = &found.counts;
    let body = html! {
        p { (totals(found, visit.query.get("kind").is_some() || visit.query.get("tests").is_some()))
            span.dim { " · occurrences of the name: " (counts.proved) " confirmed · " (counts.undecided) " possible · "
                (counts.elsewhere) " other symbols · " (counts.outside) " external" }
        }
        @if found.references.is_empty() { (pending_note(is_partial(metadata), "No confirmed references.")) }
        (by_file(visit, &proved))
        @if !guessed.is_empty() { h2 { "Unconfirmed " span.dim { (guessed.len()) " on this page" } } (by_file(visit, &guessed)) }
        @if !through.is_empty() { h2 { "Via an interface or an implementation " span.dim { (through.len()) } } (by_file(visit, &through)) }
        (next_page_link(visit, metadata))
    };
    let heading = symbol_heading(visit, &found.symbol, "references");
    let title = format!("References to {}", found.symbol.name);
    Ok(RenderedScreen::new(title, json, Some(answer.metadata))
        .heading(heading)
        .body(body)
        .with_agent_calls([("find_references", question)]))
}

/// The numbers of confirmed and of possible references. The classes do not count what a filter leaves out, so a filtered
/// list has one number.
fn totals(found: &References, is_filtered: bool) -> String {
    let (total, possible) = (found.total_references as u64, found.counts.undecided as u64);
    match possible {
        0 => count(total, "reference"),
        _ if is_filtered => format!("{}, confirmed or possible", count(total, "reference")),
        _ => format!("{}, {} possible", count(total.saturating_sub(possible), "reference"), count_text(possible)),
    }
}

/// The references grouped by file, in the order of the files.
fn by_file(visit: &PageRequest, references: &[&Reference]) -> Markup {
    let mut files: Vec<(&str, Vec<&Reference>)> = Vec::new();
    for one in references {
        let path = one.path.as_str();
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
                        @let line = one.line_start;
                        li data-row {
                            a.line href=(visit.at.line(path, line.into())) { (line) }
                            " " code { (escape_name(&one.context)) }
                            div.at { (symbol_link(&visit.at, &one.from_symbol)) " " span.dim { (one.edge_type) } }
                        }
                    }
                }
            }
        }
    }
}

//! A folder and its content. The root folder is the first page.

use codecompass_wire::pages::Folder;
use maud::{Markup, html};

use super::RenderedScreen;
use crate::lists::{count, escape_name};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};
use crate::page_tools::folder;

pub(super) async fn show(visit: &PageRequest, path: &str) -> Result<RenderedScreen, Refusal> {
    let Answered { answer, json } = visit.ask_tool::<Folder>(&folder::TOOL, arguments([("path", path.into())])).await?;
    let path = answer.path.as_str();
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let languages = &answer.languages;
    let lines: u64 = languages.iter().map(|one| one.lines).sum();
    let body = html! {
        div.beside.folder {
            section.middle aria-label="Files" {
                ul.rows.files {
                    @for one in &answer.folders {
                        li data-row {
                            a.name href=(visit.at.href(&["folder", &inside(&one.name)], &[])) { (escape_name(&one.name)) "/" }
                            " " span.dim { (count(one.files, "file")) }
                            @if one.edited > 0 { " " span.badge.edited { (one.edited) " edited" } }
                        }
                    }
                    @for one in &answer.files {
                        li data-row {
                            a.name href=(visit.at.href(&["file", &inside(&one.name)], &[])) { (escape_name(&one.name)) }
                            " " span.dim { (count(one.lines.into(), "line")) @if one.symbols > 0 { ", " (count(one.symbols.into(), "symbol")) } }
                            @if one.is_edited { " " span.badge.edited { "edited" } }
                        }
                    }
                }
            }
            section.outline aria-label="Languages" {
                h2 { "Languages" }
                table.factors {
                    @for one in languages.iter().take(12) {
                        tr { th scope="row" { (escape_name(&one.name)) } td.number { (percent(one.lines, lines)) } td.dim { (count(one.files, "file")) } }
                    }
                }
            }
        }
    };
    let heading = html! { div.title { h1.path { (breadcrumbs(visit, &visit.folder().await, path)) } } };
    let title = if path.is_empty() { "Code" } else { path };
    let agent = [("folder", arguments([("path", path.into())]))];
    Ok(RenderedScreen::new(title, json, Some(answer.metadata.clone()))
        .heading(heading)
        .body(body)
        .with_agent_calls(agent))
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// A path with links to its folders.
pub(super) fn breadcrumbs(visit: &PageRequest, root: &str, path: &str) -> Markup {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    html! {
        a href=(visit.at.href(&[], &[])) { (escape_name(root)) }
        @for (at, part) in parts.iter().enumerate() {
            span.dim { "/" } @if at + 1 < parts.len() { a href=(visit.at.href(&["folder", &parts[..=at].join("/")], &[])) { (escape_name(part)) } } @else { (escape_name(part)) }
        }
    }
}

//! A folder and its content. The root folder is the first page.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::RenderedScreen;
use crate::explorer::lists::{count, escape_name, list, number, word};
use crate::explorer::page_request::PageRequest;
use crate::explorer::page_tools::folder;

pub(super) async fn show(visit: &PageRequest, path: &str) -> Result<RenderedScreen, Value> {
    let answer = visit.ask_tool(&folder::TOOL, json!({ "path": path })).await?;
    let path = word(&answer, "path").to_owned();
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let languages = list(&answer, "languages");
    let lines: u64 = languages.iter().map(|one| number(one, "lines")).sum();
    let body = html! {
        div.beside.folder {
            section.middle aria-label="Files" {
                ul.rows.files {
                    @for one in list(&answer, "folders") {
                        li data-row {
                            a.name href=(visit.at.href(&["folder", &inside(word(one, "name"))], &[])) { (escape_name(word(one, "name"))) "/" }
                            " " span.dim { (count(number(one, "files"), "file")) }
                            @if number(one, "edited") > 0 { " " span.badge.edited { (number(one, "edited")) " edited" } }
                        }
                    }
                    @for one in list(&answer, "files") {
                        li data-row {
                            a.name href=(visit.at.href(&["file", &inside(word(one, "name"))], &[])) { (escape_name(word(one, "name"))) }
                            " " span.dim { (count(number(one, "lines"), "line")) @if number(one, "symbols") > 0 { ", " (count(number(one, "symbols"), "symbol")) } }
                            @if one["is_edited"] == true { " " span.badge.edited { "edited" } }
                        }
                    }
                }
            }
            section.outline aria-label="Languages" {
                h2 { "Languages" }
                table.factors {
                    @for one in languages.iter().take(12) {
                        tr { th scope="row" { (escape_name(word(one, "name"))) } td.number { (percent(number(one, "lines"), lines)) } td.dim { (count(number(one, "files"), "file")) } }
                    }
                }
            }
        }
    };
    let heading = html! { div.title { h1.path { (breadcrumbs(visit, &visit.folder().await, &path)) } } };
    let title = if path.is_empty() { "Code".to_owned() } else { path };
    let metadata = answer["metadata"].clone();
    let agent = [("folder", json!({ "path": word(&answer, "path") }))];
    Ok(RenderedScreen::new(title, answer, &metadata).heading(heading).body(body).with_agent_calls(agent))
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

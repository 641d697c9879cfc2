//! A file: its outline on the left, its text on the right.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{RenderedScreen, folder};
use crate::explorer::code;
use crate::explorer::lists::{count, escape_name, list, number, word};
use crate::explorer::page_request::PageRequest;
use crate::explorer::page_tools::source;

pub(super) async fn show(visit: &PageRequest, path: &str) -> Result<RenderedScreen, Value> {
    let line = visit.query.number("line");
    let source = match visit.ask_tool(&source::TOOL, json!({ "path": path, "line": line })).await {
        Ok(source) => source,
        // A file address that names a folder, typed by hand.
        Err(error) if word(&error["error"], "code") == "file_not_found" => {
            return folder::show(visit, path).await.map_err(|_| error);
        }
        Err(error) => return Err(error),
    };
    let outline = visit.ask("get_file_outline", json!({ "path": path })).await.unwrap_or_default();
    let path = word(&source, "path");
    let (first, last, total) =
        (number(&source, "first_line"), number(&source, "last_line"), number(&source, "total_lines"));
    let marks: Vec<u64> = line.map(u64::from).into_iter().collect();
    let heading = html! {
        div.title {
            h1.path { (folder::breadcrumbs(visit, &visit.folder().await, path)) }
            p.dim { (escape_name(word(&source, "language"))) " · " (count(total, "line")) @if source["is_edited"] == true { " " span.badge.edited { "edited, not committed" } } }
        }
    };
    let body = html! {
        div.beside {
            section.outline aria-label="Outline" {
                details open { summary { "Outline" } (entries(visit, path, (first, last), list(&outline, "symbols")))
                    @for warning in list(&outline["metadata"], "warnings").iter().filter_map(Value::as_str) { p.dim { (escape_name(warning)) } } }
            }
            section.middle aria-label="Text" {
                @if first > 1 { p { a href=(visit.at.line(path, first.saturating_sub(1))) { "Lines before " (first) } } }
                (code::lines(&visit.at, &source, &marks))
                @if last < total { p { a href=(visit.at.line(path, last + 1)) { "Lines after " (last) } } }
            }
        }
    };
    let what = line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
    let (title, metadata) = (path.to_owned(), source["metadata"].clone());
    let agent = vec![("read_code", json!({ "what": [what] })), ("get_file_outline", json!({ "path": path }))];
    Ok(RenderedScreen::new(title, json!({ "source": source, "outline": outline }), &metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls(agent))
}

/// The outline without imports, to keep it short.
fn entries(visit: &PageRequest, path: &str, shown: (u64, u64), symbols: &[Value]) -> Markup {
    html! {
        ul.rows.tree {
            @for one in symbols.iter().filter(|one| word(one, "kind") != "use") {
                li data-row {
                    span.kind { (word(one, "kind")) } " "
                    a.name href=(visit.at.symbol(word(one, "symbol_id"))) { (escape_name(word(one, "name"))) }
                    @let line = number(one, "line_start");
                    @let is_here = shown.0 <= line && line <= shown.1;
                    " " a.line href=(if is_here { format!("#L{line}") } else { visit.at.line(path, line) }) { (line) }
                    @if !list(one, "children").is_empty() { (entries(visit, path, shown, list(one, "children"))) }
                }
            }
        }
    }
}

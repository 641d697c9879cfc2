//! A file: its outline on the left, its text on the right.

use codecompass_wire::get_file_outline::{self, OutlineSymbol};
use codecompass_wire::pages::Source;
use maud::{Markup, html};
use serde_json::Value;

use super::{RenderedScreen, folder, object};
use crate::code;
use crate::lists::{count, escape_name};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};
use crate::page_tools::source;

pub(super) async fn show(visit: &PageRequest, path: &str) -> Result<RenderedScreen, Refusal> {
    let line = visit.query.number("line");
    let asked = arguments([("path", path.into()), ("line", line.into())]);
    let Answered { answer: source, json: source_json } = match visit.ask_tool::<Source>(&source::TOOL, asked).await {
        Ok(source) => source,
        // A file address that names a folder, typed by hand.
        Err(error) if error.code() == "file_not_found" => {
            return folder::show(visit, path).await.map_err(|_| error);
        }
        Err(error) => return Err(error),
    };
    let of_file = |path: &str| arguments([("path", path.into())]);
    let outline = visit.ask::<get_file_outline::Answer>("get_file_outline", of_file(path)).await.ok();
    let (symbols, warnings) = outline
        .as_ref()
        .map(|Answered { answer, .. }| (&*answer.symbols, &*answer.metadata.warnings))
        .unwrap_or_default();
    let path = source.path.as_str();
    let (first, last, total) = (source.first_line, source.last_line, source.total_lines);
    let marks: Vec<u32> = line.into_iter().collect();
    let heading = html! {
        div.title {
            h1.path { (folder::breadcrumbs(visit, &visit.folder().await, path)) }
            p.dim { (escape_name(&source.language)) " · " (count(total.into(), "line")) @if source.is_edited { " " span.badge.edited { "edited, not committed" } } }
        }
    };
    let body = html! {
        div.beside {
            section.outline aria-label="Outline" {
                details open { summary { "Outline" } (entries(visit, path, (first, last), symbols))
                    @for warning in warnings { p.dim { (escape_name(warning)) } } }
            }
            section.middle aria-label="Text" {
                @if first > 1 { p { a href=(visit.at.line(path, u64::from(first - 1))) { "Lines before " (first) } } }
                (code::lines(&visit.at, &source, &marks))
                @if last < total { p { a href=(visit.at.line(path, u64::from(last) + 1)) { "Lines after " (last) } } }
            }
        }
    };
    let what = line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
    let agent = vec![("read_code", arguments([("what", vec![what].into())])), ("get_file_outline", of_file(path))];
    let outline_json = outline.map_or(Value::Null, |outline| outline.json);
    let json = object([("source", source_json), ("outline", outline_json)]);
    Ok(RenderedScreen::new(path, json, Some(source.metadata.clone()))
        .heading(heading)
        .body(body)
        .with_agent_calls(agent))
}

/// The outline without imports, to keep it short.
fn entries(visit: &PageRequest, path: &str, shown: (u32, u32), symbols: &[OutlineSymbol]) -> Markup {
    html! {
        ul.rows.tree {
            @for one in symbols.iter().filter(|one| one.kind != "use") {
                li data-row {
                    span.kind { (one.kind) } " "
                    a.name href=(visit.at.symbol(&one.symbol_id)) { (escape_name(&one.name)) }
                    @let line = one.line_start;
                    @let is_here = shown.0 <= line && line <= shown.1;
                    " " a.line href=(if is_here { format!("#L{line}") } else { visit.at.line(path, line.into()) }) { (line) }
                    @if !one.children.is_empty() { (entries(visit, path, shown, &one.children)) }
                }
            }
        }
    }
}

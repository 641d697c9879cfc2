//! Search results, and the explanation of a result's rank.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{RenderedScreen, next_page_link};
use crate::explorer::lists::{count, escape_name, kind, list, number, word};
use crate::explorer::page_request::PageRequest;

const LIMIT: u32 = 20;

pub(super) async fn show(visit: &PageRequest) -> Result<RenderedScreen, Value> {
    let query = visit.query.get("q").unwrap_or_default();
    let question = json!({
        "query": query,
        "limit": LIMIT,
        "kind": visit.query.get("kind"),
        "language": visit.query.get("language"),
        "tests": visit.query.get("tests"),
        "path_filter": visit.query.get("path"),
        "cursor": visit.query.get("cursor"),
    });
    let answer = visit.ask("search_code", question.clone()).await?;
    let results = list(&answer, "results");
    let body = html! {
        p.dim { (count(number(&answer, "total_candidates"), "place")) " " @if !word(&answer, "query_intent").is_empty() { "· read as " (word(&answer, "query_intent").replace('_', " ")) } }
        @if results.is_empty() { p { "No results. Try fewer or other words, or " code { "\"text in quotes\"" } " for exact text." } }
        ol.rows.results { @for result in results { (row(visit, query, result)) } }
        (next_page_link(visit, &answer["metadata"]))
    };
    let metadata = answer["metadata"].clone();
    Ok(RenderedScreen::new(format!("{query} – search"), answer, &metadata)
        .heading(html! { h1 { "Search" } })
        .body(body)
        .with_agent_calls([("search_code", question)]))
}

fn row(visit: &PageRequest, query: &str, result: &Value) -> Markup {
    let at = &visit.at;
    let (path, line) = (word(result, "path"), number(result, "line_start").max(1));
    let id = word(result, "symbol_id");
    let href = if id.is_empty() { at.line(path, line) } else { at.symbol(id) };
    let name = match (word(result, "qualified_name"), word(result, "name")) {
        ("", "") => path,
        ("", name) => name,
        (name, _) => name,
    };
    let line_text = line.to_string();
    let why = at.href(&["why"], &[("q", query), ("path", path), ("line", &line_text)]);
    let signature = word(result, "signature");
    let text = ["snippet", "context", "text"].iter().map(|key| word(result, key)).find(|text| !text.is_empty());
    html! {
        li data-row {
            @if !word(result, "kind").is_empty() { (kind(word(result, "kind"))) " " }
            a.name href=(href) { (escape_name(name)) }
            " " a.place href=(at.line(path, line)) { (escape_name(path)) ":" (line) }
            @if !signature.is_empty() { pre.signature { (escape_name(signature)) } }
            @if let Some(text) = text.filter(|_| signature.is_empty()) { pre.signature { @for line in text.lines().take(6) { (escape_name(line)) "\n" } } }
            details.why data-src=(why) { summary { "score " (format!("{:.2}", result["score"].as_f64().unwrap_or_default())) } p { a href=(why) { "why" } } }
        }
    }
}

pub(super) async fn why(visit: &PageRequest) -> Result<RenderedScreen, Value> {
    let query = visit.query.get("q").unwrap_or_default();
    let path = visit.query.get("path").unwrap_or_default();
    let line = visit.query.number("line").unwrap_or(1);
    let question = json!({ "query": query, "result_path": path, "result_line_start": line });
    let answer = visit.ask("explain_ranking", question.clone()).await?;
    let details = &answer["scoring_details"];
    let mut factors: Vec<(&str, f64)> = answer["scoring"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)))
        .filter(|(name, value)| *value != 0.0 && *name != "total")
        .collect();
    factors.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    let total = answer["scoring"]["total"].as_f64().unwrap_or_default();
    let body = html! {
        div data-list {
            @let score = answer["result"]["score"].as_f64().unwrap_or_default();
            p { "Rank " (number(&answer, "rank")) ": the score of " (format!("{score:.2}")) " comes from a total of " strong { (format!("{total:.3}")) } ", the sum of:" }
            table.factors {
                @for (name, value) in &factors {
                    tr {
                        th scope="row" { (name.replace('_', " ")) }
                        td.number { (format!("{value:+.3}")) }
                        td { (escape_name(word(details, &format!("{name}_reason")))) }
                    }
                }
            }
        }
        p { a href=(visit.at.href(&["search"], &[("q", query)])) { "All results" } }
    };
    let metadata = answer["metadata"].clone();
    Ok(RenderedScreen::new(format!("Why {path}:{line}"), answer, &metadata)
        .body(body)
        .with_agent_calls([("explain_ranking", question)]))
}

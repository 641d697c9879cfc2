//! Search results, and the explanation of a result's rank.

use codecompass_wire::{ResultItem, explain_ranking, search_code};
use maud::{Markup, html};

use super::{RenderedScreen, next_page_link};
use crate::lists::{count, escape_name, kind};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

const LIMIT: u32 = 20;

pub(super) async fn show(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let query = visit.query.get("q").unwrap_or_default();
    let question = arguments([
        ("query", query.into()),
        ("limit", LIMIT.into()),
        ("kind", visit.query.get("kind").into()),
        ("language", visit.query.get("language").into()),
        ("tests", visit.query.get("tests").into()),
        ("path_filter", visit.query.get("path").into()),
        ("cursor", visit.query.get("cursor").into()),
    ]);
    let Answered { answer, json } = visit.ask::<search_code::Answer>("search_code", question.clone()).await?;
    let results = &answer.results;
    let intent = answer.query_intent.as_str().replace('_', " ");
    let body = html! {
        p.dim { (count(answer.total_candidates as u64, "place")) " · read as " (intent) }
        @if results.is_empty() { p { "No results. Try fewer or other words, or " code { "\"text in quotes\"" } " for exact text." } }
        ol.rows.results { @for result in results { (row(visit, query, result)) } }
        (next_page_link(visit, &answer.metadata))
    };
    Ok(RenderedScreen::new(format!("{query} – search"), json, Some(answer.metadata))
        .heading(html! { h1 { "Search" } })
        .body(body)
        .with_agent_calls([("search_code", question)]))
}

fn row(visit: &PageRequest, query: &str, result: &ResultItem) -> Markup {
    let at = &visit.at;
    let (path, line) = (result.path.as_str(), u64::from(result.line_start.max(1)));
    let href = result.symbol_id.as_ref().map_or_else(|| at.line(path, line), |id| at.symbol(id));
    let name = result.qualified_name.as_ref().or(result.name.as_ref()).map_or(path, String::as_str);
    let line_text = line.to_string();
    let why = at.href(&["why"], &[("q", query), ("path", path), ("line", &line_text)]);
    html! {
        li data-row {
            @if let Some(word) = &result.kind { (kind(word)) " " }
            a.name href=(href) { (escape_name(name)) }
            " " a.place href=(at.line(path, line)) { (escape_name(path)) ":" (line) }
            @if let Some(signature) = result.signature.as_ref().filter(|text| !text.is_empty()) { pre.signature { (escape_name(signature)) } }
            @else if let Some(text) = result.snippet.as_ref().filter(|text| !text.is_empty()) { pre.signature { @for line in text.lines().take(6) { (escape_name(line)) "\n" } } }
            details.why data-src=(why) { summary { "score " (format!("{:.2}", result.score)) } p { a href=(why) { "why" } } }
        }
    }
}

pub(super) async fn why(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let query = visit.query.get("q").unwrap_or_default();
    let path = visit.query.get("path").unwrap_or_default();
    let line = visit.query.number("line").unwrap_or(1);
    let question =
        arguments([("query", query.into()), ("result_path", path.into()), ("result_line_start", line.into())]);
    let Answered { answer, json } = visit.ask::<explain_ranking::Answer>("explain_ranking", question.clone()).await?;
    let reason = |name: &str| answer.scoring_details.get(&format!("{name}_reason")).map_or("", String::as_str);
    let factors = answer.scoring.0.iter().map(|(name, value)| (&**name, *value));
    let mut factors: Vec<(&str, f64)> = factors.filter(|(name, value)| *value != 0.0 && *name != "total").collect();
    factors.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    let total = answer.scoring.get("total").copied().unwrap_or_default();
    let body = html! {
        div data-list {
            @let score = answer.result.score;
            p { "Rank " (answer.rank.unwrap_or_default()) ": the score of " (format!("{score:.2}")) " comes from a total of " strong { (format!("{total:.3}")) } ", the sum of:" }
            table.factors {
                @for (name, value) in &factors {
                    tr {
                        th scope="row" { (name.replace('_', " ")) }
                        td.number { (format!("{value:+.3}")) }
                        td { (escape_name(reason(name))) }
                    }
                }
            }
        }
        p { a href=(visit.at.href(&["search"], &[("q", query)])) { "All results" } }
    };
    Ok(RenderedScreen::new(format!("Why {path}:{line}"), json, Some(answer.metadata.clone()))
        .body(body)
        .with_agent_calls([("explain_ranking", question)]))
}

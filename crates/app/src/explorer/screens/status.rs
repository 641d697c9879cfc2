//! The state of the index: its commit, skipped files with reasons, jobs, refs, languages.

use codecompass_wire::pages::Folder;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{RenderedScreen, metadata_of, object};
use crate::explorer::lists::{count, escape_name, list, number, word};
use crate::explorer::page_request::{PageRequest, Refusal};
use crate::explorer::page_tools::folder;

pub(super) async fn show(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let status = visit.ask::<Value>("index_status", Map::new()).await?.json;
    let refs = visit.ask::<Value>("list_refs", Map::new()).await.map(|refs| refs.json).unwrap_or_default();
    let languages = visit.ask_tool::<Folder>(&folder::TOOL, Map::new()).await;
    let languages = languages.map(|folder| folder.answer.languages).unwrap_or_default();
    let job = &status["active_job"];
    let skipped = status["skipped"].as_object();
    let bytes = number(&status, "index_bytes");
    let body = html! {
        @if job.is_object() { (running(job)) }
        dl.facts {
            div { dt { "Root" } dd { code { (escape_name(word(&status, "repo_root"))) } } }
            div { dt { "Index" } dd { (word(&status, "index_status")) ", schema " (word(&status, "schema_status")) ", " (format!("{:.1} MB", bytes as f64 / 1e6)) } }
            div { dt { "Last indexed" } dd { (escape_name(word(&status, "last_indexed_at"))) } }
            div { dt { "Holds" } dd { (count(number(&status, "file_count"), "file")) ", " (count(number(&status, "symbol_count"), "symbol")) } }
        }
        h2 { "Skipped files" }
        @match skipped.filter(|skipped| !skipped.is_empty()) {
            Some(skipped) => { table.factors { @for (reason, files) in skipped { tr { th scope="row" { (escape_name(&reason.replace('_', " "))) } td.number { (files.as_u64().unwrap_or_default()) } } } } }
            None => { p.dim { "Nothing." } }
        }
        h2 { "Languages" }
        table.factors { @for one in &languages { tr { th scope="row" { (escape_name(&one.name)) } td.number { (count(one.files, "file")) } td.number { (count(one.lines, "line")) } } } }
        h2 { "Refs" }
        (ref_rows(visit, list(&refs, "refs")))
        h2 { "Jobs" }
        (jobs(list(&status, "recent_jobs")))
    };
    let metadata = metadata_of(&status);
    let agent = vec![("index_status", Map::new()), ("list_refs", Map::new())];
    let is_waiting = status["active_job"].is_object();
    let languages = serde_json::to_value(languages).unwrap_or_default();
    let json = object([("status", status), ("refs", refs), ("languages", languages)]);
    let shown = RenderedScreen::new("Status", json, metadata).body(body).with_agent_calls(agent);
    Ok(RenderedScreen { is_pending: is_waiting, ..shown })
}

/// The page for a state that is not published yet, with the progress.
pub(super) async fn waiting(visit: &PageRequest, refusal: &Refusal) -> RenderedScreen {
    let status = visit.ask::<Value>("index_status", Map::new()).await.map(|status| status.json).unwrap_or_default();
    let job = &status["active_job"];
    let body = html! {
        @if job.is_object() { (running(job)) } @else { p.warning { (escape_name(&refusal.failure.error.message)) } }
        p.dim { "This page updates itself." }
    };
    let shown = RenderedScreen::new("Indexing", refusal.json.clone(), refusal.failure.metadata.clone()).body(body);
    RenderedScreen { status: axum::http::StatusCode::ACCEPTED, is_pending: true, ..shown }
}

fn running(job: &Value) -> Markup {
    let share = job["estimated_completion_pct"].as_f64().unwrap_or_default();
    html! {
        p.warning {
            "Indexing " (escape_name(word(job, "ref"))) ": " (escape_name(word(job, "status"))) " "
            progress value=(share) max="100" {}
            " " (count(number(job, "files_scanned"), "file")) " read, " (count(number(job, "symbols_extracted"), "symbol")) " found"
        }
    }
}

fn ref_rows(visit: &PageRequest, refs: &[Value]) -> Markup {
    html! {
        div.scroll tabindex="0" { table.list {
            thead { tr { th { "ref" } th { "commit" } th { "files" } th { "symbols" } th { "status" } th { "changes" } } }
            @for one in refs {
                @let name = word(one, "ref");
                @let commit: String = word(one, "last_indexed_commit").chars().take(10).collect();
                tr data-row {
                    td { a href=(super::super::address::CodeState { ref_name: Some(name.to_owned()), tree: visit.at.tree.clone() }.href(&[], &[])) { (escape_name(name)) } @if one["is_default"] == true { " " span.badge { "default" } } }
                    td { code { (commit) } }
                    td.number { (number(one, "file_count")) }
                    td.number { (number(one, "symbol_count")) }
                    td { (word(one, "status")) @if one["ahead"].is_u64() { ", " (number(one, "ahead")) " ahead, " (number(one, "behind")) " behind" } }
                    td { a href=(visit.at.href(&["branch"], &[("head", name)])) { "changes" } }
                }
            }
        } }
    }
}

fn jobs(jobs: &[Value]) -> Markup {
    html! {
        div.scroll tabindex="0" { table.list {
            thead { tr { th { "when" } th { "ref" } th { "what" } th { "files" } th { "took" } } }
            @for job in jobs.iter().take(15) {
                tr {
                    td { (escape_name(word(job, "created_at"))) }
                    td { (escape_name(&word(job, "ref").chars().take(40).collect::<String>())) }
                    td { (word(job, "mode")) " · " (word(job, "status")) @if !word(job, "error").is_empty() { " · " (escape_name(word(job, "error"))) } }
                    td.number { (number(job, "changed_files")) }
                    td.number { (number(job, "duration_ms")) " ms" }
                }
            }
        } }
    }
}

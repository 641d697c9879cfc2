//! The state of the index: its commit, skipped files with reasons, jobs, refs, languages.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::Shown;
use crate::explorer::lists::{count, list, number, plain, word};
use crate::explorer::questions::folder;
use crate::explorer::visit::Visit;

pub(super) async fn show(visit: &Visit) -> Result<Shown, Value> {
    let status = visit.ask("index_status", json!({})).await?;
    let refs = visit.ask("list_refs", json!({})).await.unwrap_or_default();
    let languages = visit.ask_tool(&folder::TOOL, json!({})).await.unwrap_or_default();
    let job = &status["active_job"];
    let skipped = status["skipped"].as_object();
    let bytes = number(&status, "index_bytes");
    let body = html! {
        @if job.is_object() { (running(job)) }
        dl.facts {
            div { dt { "Root" } dd { code { (plain(word(&status, "repo_root"))) } } }
            div { dt { "Index" } dd { (word(&status, "index_status")) ", schema " (word(&status, "schema_status")) ", " (format!("{:.1} MB", bytes as f64 / 1e6)) } }
            div { dt { "Last indexed" } dd { (plain(word(&status, "last_indexed_at"))) } }
            div { dt { "Holds" } dd { (count(number(&status, "file_count"), "file")) ", " (count(number(&status, "symbol_count"), "symbol")) } }
        }
        h2 { "Skipped files" }
        @match skipped.filter(|skipped| !skipped.is_empty()) {
            Some(skipped) => { table.factors { @for (reason, files) in skipped { tr { th scope="row" { (plain(&reason.replace('_', " "))) } td.number { (files.as_u64().unwrap_or_default()) } } } } }
            None => { p.dim { "Nothing." } }
        }
        h2 { "Languages" }
        table.factors { @for one in list(&languages, "languages") { tr { th scope="row" { (plain(word(one, "name"))) } td.number { (count(number(one, "files"), "file")) } td.number { (count(number(one, "lines"), "line")) } } } }
        h2 { "Refs" }
        (ref_rows(visit, list(&refs, "refs")))
        h2 { "Jobs" }
        (jobs(list(&status, "recent_jobs")))
    };
    let metadata = status["metadata"].clone();
    let agent = vec![("index_status", json!({})), ("list_refs", json!({}))];
    let json = json!({ "status": status, "refs": refs, "languages": list(&languages, "languages") });
    let is_waiting = json["status"]["active_job"].is_object();
    let shown = Shown::new("Status", json, &metadata).body(body).agent(agent);
    Ok(Shown { is_waiting, ..shown })
}

/// The page for a state that is not published yet, with the progress.
pub(super) async fn waiting(visit: &Visit, error: &Value) -> Shown {
    let status = visit.ask("index_status", json!({})).await.unwrap_or_default();
    let job = &status["active_job"];
    let body = html! {
        @if job.is_object() { (running(job)) } @else { p.warning { (plain(word(&error["error"], "message"))) } }
        p.dim { "This page updates itself." }
    };
    let shown = Shown::new("Indexing", error.clone(), &error["metadata"]).body(body);
    Shown { status: axum::http::StatusCode::ACCEPTED, is_waiting: true, ..shown }
}

fn running(job: &Value) -> Markup {
    let share = job["estimated_completion_pct"].as_f64().unwrap_or_default();
    html! {
        p.warning {
            "Indexing " (plain(word(job, "ref"))) ": " (plain(word(job, "status"))) " "
            progress value=(share) max="100" {}
            " " (count(number(job, "files_scanned"), "file")) " read, " (count(number(job, "symbols_extracted"), "symbol")) " found"
        }
    }
}

fn ref_rows(visit: &Visit, refs: &[Value]) -> Markup {
    html! {
        div.scroll tabindex="0" { table.list {
            thead { tr { th { "ref" } th { "commit" } th { "files" } th { "symbols" } th { "status" } th { "changes" } } }
            @for one in refs {
                @let name = word(one, "ref");
                @let commit: String = word(one, "last_indexed_commit").chars().take(10).collect();
                tr data-row {
                    td { a href=(super::super::address::At { ref_name: Some(name.to_owned()), tree: visit.at.tree.clone() }.href(&[], &[])) { (plain(name)) } @if one["is_default"] == true { " " span.badge { "default" } } }
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
                    td { (plain(word(job, "created_at"))) }
                    td { (plain(&word(job, "ref").chars().take(40).collect::<String>())) }
                    td { (word(job, "mode")) " · " (word(job, "status")) @if !word(job, "error").is_empty() { " · " (plain(word(job, "error"))) } }
                    td.number { (number(job, "changed_files")) }
                    td.number { (number(job, "duration_ms")) " ms" }
                }
            }
        } }
    }
}

//! The state of the index: its commit, skipped files with reasons, jobs, refs, languages.

use codecompass_wire::list_refs::RefState;
use codecompass_wire::pages::Folder;
use codecompass_wire::{ActiveJob, RecentJob, index_status, list_refs};
use maud::{Markup, html};
use serde_json::Map;

use super::{RenderedScreen, object};
use crate::lists::{count, escape_name};
use crate::page_request::{Answered, PageRequest, Refusal};
use crate::page_tools::folder;

pub(super) async fn show(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let Answered { answer: status, json: status_json } =
        visit.ask::<index_status::Answer>("index_status", Map::new()).await?;
    let refs = visit.ask::<list_refs::Answer>("list_refs", Map::new()).await;
    let (refs, refs_json) = refs.map(|refs| (refs.answer.refs, refs.json)).unwrap_or_default();
    let languages = visit.ask_tool::<Folder>(&folder::TOOL, Map::new()).await;
    let languages = languages.map(|folder| folder.answer.languages).unwrap_or_default();
    let body = html! {
        @if let Some(job) = &status.active_job { (running(job)) }
        dl.facts {
            div { dt { "Root" } dd { code { (escape_name(&status.repo_root)) } } }
            div { dt { "Index" } dd { (status.index_status.as_str()) ", schema " (status.schema_status.as_str()) ", " (format!("{:.1} MB", status.index_bytes as f64 / 1e6)) } }
            div { dt { "Last indexed" } dd { (escape_name(status.last_indexed_at.as_deref().unwrap_or_default())) } }
            div { dt { "Holds" } dd { (count(status.file_count, "file")) ", " (count(status.symbol_count, "symbol")) } }
        }
        h2 { "Skipped files" }
        @if status.skipped.0.is_empty() { p.dim { "Nothing." } }
        @else { table.factors { @for (reason, files) in &status.skipped.0 { tr { th scope="row" { (escape_name(&reason.replace('_', " "))) } td.number { (files) } } } } }
        h2 { "Languages" }
        table.factors { @for one in &languages { tr { th scope="row" { (escape_name(&one.name)) } td.number { (count(one.files, "file")) } td.number { (count(one.lines, "line")) } } } }
        h2 { "Refs" }
        (ref_rows(visit, &refs))
        h2 { "Jobs" }
        (jobs(&status.recent_jobs))
    };
    let agent = vec![("index_status", Map::new()), ("list_refs", Map::new())];
    let is_waiting = status.active_job.is_some();
    let languages = serde_json::to_value(languages).unwrap_or_default();
    let json = object([("status", status_json), ("refs", refs_json), ("languages", languages)]);
    let shown = RenderedScreen::new("Status", json, Some(status.metadata)).body(body).with_agent_calls(agent);
    Ok(RenderedScreen { is_pending: is_waiting, ..shown })
}

/// The page for a state that is not published yet, with the progress.
pub(super) async fn waiting(visit: &PageRequest, refusal: &Refusal) -> RenderedScreen {
    let status = visit.ask::<index_status::Answer>("index_status", Map::new()).await;
    let job = status.ok().and_then(|status| status.answer.active_job);
    let body = html! {
        @if let Some(job) = &job { (running(job)) } @else { p.warning { (escape_name(&refusal.failure.error.message)) } }
        p.dim { "This page updates itself." }
    };
    let shown = RenderedScreen::new("Indexing", refusal.json.clone(), refusal.failure.metadata.clone()).body(body);
    let error = Some(refusal.failure.error.message.clone());
    RenderedScreen { status: http::StatusCode::ACCEPTED, error, is_pending: true, ..shown }
}

fn running(job: &ActiveJob) -> Markup {
    html! {
        p.warning {
            "Indexing " (escape_name(&job.ref_name)) ": " (job.status.as_str()) " "
            progress value=(job.estimated_completion_pct) max="100" {}
            " " (count(job.files_scanned, "file")) " read, " (count(job.symbols_extracted, "symbol")) " found"
        }
    }
}

fn ref_rows(visit: &PageRequest, refs: &[RefState]) -> Markup {
    html! {
        div.scroll tabindex="0" { table.list {
            thead { tr { th { "ref" } th { "commit" } th { "files" } th { "symbols" } th { "status" } th { "changes" } } }
            @for one in refs {
                @let name = one.ref_name.as_str();
                @let commit: String = one.last_indexed_commit.as_deref().unwrap_or_default().chars().take(10).collect();
                tr data-row {
                    td { a href=(super::super::address::CodeState { ref_name: Some(name.to_owned()), tree: visit.at.tree.clone() }.href(&[], &[])) { (escape_name(name)) } @if one.is_default { " " span.badge { "default" } } }
                    td { code { (commit) } }
                    td.number { (one.file_count) }
                    td.number { (one.symbol_count) }
                    td { (one.status) @if let Some(ahead) = one.ahead { ", " (ahead) " ahead, " (one.behind.unwrap_or_default()) " behind" } }
                    td { a href=(visit.at.href(&["branch"], &[("head", name)])) { "changes" } }
                }
            }
        } }
    }
}

fn jobs(jobs: &[RecentJob]) -> Markup {
    html! {
        div.scroll tabindex="0" { table.list {
            thead { tr { th { "when" } th { "ref" } th { "what" } th { "files" } th { "took" } } }
            @for job in jobs.iter().take(15) {
                tr {
                    td { (escape_name(&job.created_at)) }
                    td { (escape_name(&job.ref_name.chars().take(40).collect::<String>())) }
                    td { (job.mode.as_str()) " · " (job.status.as_str()) @if let Some(error) = &job.error { " · " (escape_name(error)) } }
                    td.number { (job.changed_files.unwrap_or_default()) }
                    td.number { (job.duration_ms.unwrap_or_default()) " ms" }
                }
            }
        } }
    }
}

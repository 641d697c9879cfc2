//! The parts around every screen: search, current state, keys, and notes about an answer.

use codecompass_wire::pages::{Choices, IndexState};
use codecompass_wire::{Completeness, Metadata};
use maud::{DOCTYPE, Markup, html};

use super::lists::{count, escape_name};
use super::page_request::PageRequest;
use super::screens::RenderedScreen;

/// The keys, as listed in the help and implemented by the script.
const KEYS: &[(&str, &str)] = &[
    ("/, Ctrl-K", "search"),
    ("↓, ↑, Enter", "choose a name while typing"),
    ("j, k", "next, previous row"),
    ("Enter", "open the row"),
    ("e", "expand the row"),
    ("g h", "home: files and folders"),
    ("g b", "changes of this branch"),
    ("g s", "status"),
    ("g r", "choose a ref"),
    ("y", "copy for an agent"),
    ("?", "this list"),
    ("Esc", "close, leave the field"),
];

/// A complete page.
pub(super) async fn page(visit: &PageRequest, shown: &RenderedScreen) -> Markup {
    let at = &visit.at;
    let standing = visit.index_state().await.as_ref().ok();
    let root = standing.map_or("", |standing| standing.root.as_str());
    let folder = &visit.folder().await;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if shown.is_pending { noscript { meta http-equiv="refresh" content="2"; } }
                title { (escape_name(&shown.title)) " · " (escape_name(folder)) }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/explorer.css";
                script type="module" src="/assets/explorer.js" {}
            }
            body data-live=(at.href(&["live"], &[])) {
                a.skip href="#main" { "Skip to content" }
                header {
                    a.brand href=(at.href(&[], &[])) title=(escape_name(root)) { (escape_name(folder)) }
                    form.search action="/search" role="search" {
                        input #q name="q" type="search" value=(visit.query.get("q").unwrap_or_default()) aria-label="Search" autocomplete="off" spellcheck="false" placeholder="Words, a name, path:line, a message   /";
                        ul #offers .offers role="listbox" aria-label="Names" hidden {}
                        (hidden_fields(visit, true))
                    }
                    (ref_picker(visit, standing))
                    nav {
                        a href=(at.href(&[], &[])) { "Code" }
                        @if history(standing).is_some() { a data-go="b" href=(at.href(&["branch"], &[])) { "Changes" } }
                        a data-go="s" href=(at.href(&["status"], &[])) { "Status" }
                        button type="button" data-help hidden title="Keys" { "?" }
                    }
                }
                p #away .away role="status" hidden {}
                (page_main(visit, shown))
                (help())
            }
        }
    }
}

/// The content between header and help; the script can request it alone.
pub(super) fn page_main(visit: &PageRequest, shown: &RenderedScreen) -> Markup {
    let own = |kind: &str| {
        let pairs: Vec<(&str, &str)> =
            visit.query.without(&["as", "ref", "tree", "token"]).chain([("as", kind)]).collect();
        let segments: Vec<String> =
            visit.path.split('/').filter(|part| !part.is_empty()).map(super::address::decode_segments).collect();
        visit.at.href(&segments.iter().map(String::as_str).collect::<Vec<_>>(), &pairs)
    };
    html! {
        main #main tabindex="-1" data-title=(escape_name(&shown.title)) data-digest=(shown.digest) data-waiting[shown.is_pending] {
            div.head {
                (shown.heading)
                div.actions {
                    @if !shown.agent.is_empty() { a.button data-copy href=(own("text")) { "Copy for agent" } }
                    a.button href=(own("json")) { "JSON" }
                }
            }
            @if let Some(metadata) = &shown.metadata { (metadata_notes(metadata)) }
            (shown.body)
        }
    }
}

/// The state of the code that the answer shows, and its warnings.
fn metadata_notes(metadata: &Metadata) -> Markup {
    let commit: String = metadata.indexed_commit.as_deref().unwrap_or_default().chars().take(10).collect();
    let freshness = metadata.freshness.as_str();
    let changed = metadata.changed_files.unwrap_or_default();
    html! {
        p.state {
            span.ref { (escape_name(&metadata.ref_name)) }
            @if !commit.is_empty() { " " code.dim { (commit) } }
            " " span class=(format!("badge {freshness}")) { (freshness) }
            @if changed > 0 { " " span.dim { (count(changed, "changed file")) " not indexed yet" } }
            @if metadata.completeness == Completeness::Partial { " " span.badge.partial data-partial { "partial" } }
        }
        @for warning in &metadata.warnings { p.warning { (escape_name(warning)) } }
    }
}

/// The branches and work trees of the folder, if it has any.
fn history(standing: Option<&IndexState>) -> Option<&Choices> {
    let choices = standing?.choices.as_ref()?;
    (!choices.branches.is_empty() || !choices.trees.is_empty()).then_some(choices)
}

/// The form that chooses a ref and a work tree.
fn ref_picker(visit: &PageRequest, standing: Option<&IndexState>) -> Markup {
    let Some(choices) = history(standing) else { return html! {} };
    let checked_out = choices.checked_out.as_deref().unwrap_or("no branch");
    let edited = standing.and_then(|standing| standing.state.as_ref()).map_or(0, |state| state.edited);
    html! {
        form.where action=(visit.path) {
            input name="ref" list="refs" aria-label="Branch, tag or commit" autocomplete="off" spellcheck="false" value=(visit.at.ref_name.as_deref().unwrap_or_default()) placeholder=(format!("work tree · {}", escape_name(checked_out))) title="Branch, tag or commit; empty is the work tree";
            datalist #refs {
                @for name in choices.branches.iter().chain(&choices.tags) { option value=(name) {} }
            }
            @if choices.trees.len() > 1 {
                select name="tree" aria-label="Work tree" data-submit {
                    @for tree in &choices.trees {
                        @let path = tree.path.as_str();
                        @let is_default = visit.at.tree.is_none() && tree.is_this;
                        @let value = if is_default { "" } else { path };
                        option value=(value) selected[is_default || visit.at.tree.as_deref() == Some(path)] {
                            (escape_name(path.rsplit('/').next().unwrap_or_default())) @if let Some(branch) = &tree.branch { " · " (escape_name(branch)) }
                        }
                    }
                }
            }
            (hidden_fields(visit, false))
            button { "Go" }
            @if edited > 0 && visit.at.ref_name.is_none() {
                a.badge.edited href=(visit.at.href(&["branch"], &[("base", "HEAD"), ("head", "@worktree")])) { (count(edited, "edited file")) }
            }
        }
    }
}

/// The hidden fields that keep parts of the address in a form.
fn hidden_fields(visit: &PageRequest, is_search: bool) -> Markup {
    // The head of a comparison is the chosen ref.
    let names: &[&str] = if is_search { &["q"] } else { &["ref", "tree", "as", "cursor", "head"] };
    let is_kept = |(name, _): &(&str, &str)| !is_search || matches!(*name, "ref" | "tree");
    html! {
        @for (name, value) in visit.query.without(names).filter(is_kept) { input type="hidden" name=(name) value=(value); }
    }
}

fn help() -> Markup {
    html! {
        dialog #help aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (keys, what) in KEYS { div { dt { kbd { (keys) } } dd { (what) } } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

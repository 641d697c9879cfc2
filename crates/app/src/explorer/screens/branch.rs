//! The changes of a branch, by symbol: breaking ones first, then the rest by file, and a drawing of the affected
//! callers.

use maud::{Markup, html};
use serde_json::Value;

use super::{RenderedScreen, metadata_of, next_page_link};
use crate::explorer::address::CodeState;
use crate::explorer::drawing::{CallDrawing, GraphBox};
use crate::explorer::lists::{count, escape_name, kind, list, number, word};
use crate::explorer::page_request::{Answered, PageRequest, Refusal, arguments};

const LIMIT: u32 = 100;

/// The maximum number of drawn callers; a larger drawing is unreadable.
const MAX_DRAWN_CALLERS: usize = 60;

pub(super) async fn show(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let head = visit.query.get("head").or(visit.at.ref_name.as_deref()).unwrap_or("@worktree");
    let question = arguments([
        ("base_ref", visit.query.get("base").into()),
        ("head_ref", head.into()),
        ("limit", LIMIT.into()),
        ("include_callers", true.into()),
        ("path_filter", visit.query.get("path").into()),
        ("tests", visit.query.get("tests").into()),
        ("cursor", visit.query.get("cursor").into()),
    ]);
    let Answered { answer, .. } = visit.ask::<Value>("diff_context", question.clone()).await?;
    let metadata = metadata_of(&answer);
    let changes = list(&answer, "changes");
    let (breaking, others): (Vec<&Value>, Vec<&Value>) =
        changes.iter().partition(|change| is_breaking(change, &answer));
    let (base, head) = (word(&answer, "base_ref"), word(&answer, "head_ref"));
    // Links lead to the head, whatever state is selected.
    let at = CodeState { ref_name: (head != "@worktree").then(|| head.to_owned()), tree: visit.at.tree.clone() };
    let there = &BranchPage { visit, at };
    let picture = draw_callers(there, &answer);
    let total = number(&answer, "total_changes");
    let is_cut = total > changes.len() as u64;
    let heading = html! {
        div.title {
            h1 { "Changes of " (escape_name(head)) span.dim { " since the merge base with " (escape_name(base)) } }
            form.refs action="/branch" {
                label { "from " input name="base" list="refs" value=(base) spellcheck="false"; }
                label { " to " input name="head" list="refs" value=(head) spellcheck="false" title="@worktree: the work tree with its edits"; }
                label { " in " input name="path" value=(visit.query.get("path").unwrap_or_default()) spellcheck="false" placeholder="all files" title="A path prefix, a name, or patterns"; }
                @if let Some(tree) = &visit.at.tree { input type="hidden" name="tree" value=(tree); }
                button { "Compare" }
            }
        }
    };
    let body = html! {
        p { (count(total, "changed symbol")) " in " (count(number(&answer, "affected_files"), "file"))
            span.dim {
                @if number(&answer, "doc_only_changes") > 0 { ", " (count(number(&answer, "doc_only_changes"), "symbol")) " with changed docs only" }
                @if number(&answer, "moved_symbols") > 0 { ", " (number(&answer, "moved_symbols")) " moved" }
            }
        }
        @if is_cut { p.warning { "Showing " (changes.len()) " of them; breaking changes are checked for these only. Use More, or narrow the path, for the rest." } }
        @if !breaking.is_empty() {
            h2 { "May break callers " span.dim { (breaking.len()) } }
            ul.rows { @for change in &breaking { (row(there, change, &answer)) } }
        }
        @if !picture.is_empty() { h2 { "Callers of changed symbols" } (picture.draw("Callers of changed symbols")) }
        @if !others.is_empty() {
            h2 { "Other changes " span.dim { (others.len()) } }
            (by_file(there, &others, &answer))
        }
        @if let Some(metadata) = &metadata { (next_page_link(visit, metadata)) }
        (files(there, &answer))
    };
    let title = format!("Changes of {head}");
    Ok(RenderedScreen::new(title, answer, metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls([("diff_context", question)]))
}

/// The request, and the state that its links lead to.
struct BranchPage<'v> {
    visit: &'v PageRequest,
    at: CodeState,
}

/// Whether a symbol was deleted or has a new signature, and an unchanged symbol calls it.
fn is_breaking(change: &Value, answer: &Value) -> bool {
    let is_other =
        word(change, "change_type") == "deleted" || list(change, "changed").iter().any(|facet| facet == "signature");
    is_other && callers(change, answer).iter().any(|caller| caller["is_changed"] != true)
}

fn id(change: &Value) -> &str {
    let side = |name: &str| change[name]["symbol_id"].as_str();
    side("after").or(side("before")).unwrap_or_default()
}

fn callers<'v>(change: &Value, answer: &'v Value) -> Vec<&'v Value> {
    let ids = [change["before"]["symbol_id"].as_str(), change["after"]["symbol_id"].as_str()];
    let is_of = |caller: &&Value| ids.iter().flatten().any(|id| caller["to"]["symbol_id"] == **id);
    list(answer, "affected_callers").iter().filter(is_of).collect()
}

fn row(there: &BranchPage<'_>, change: &Value, answer: &Value) -> Markup {
    let (before, after) = (&change["before"], &change["after"]);
    let one = if after.is_object() { after } else { before };
    let change_type = word(change, "change_type");
    let (base, head) = (word(answer, "base_ref"), word(answer, "head_ref"));
    let compare = there
        .visit
        .at
        .href(&["compare", id(change)], &[("base", base), ("head", head), ("path", word(change, "path"))]);
    let of_it = callers(change, answer);
    let (old, new) = (word(before, "signature"), word(after, "signature"));
    html! {
        li data-row {
            span class=(format!("badge {change_type}")) { (change_type) } " "
            (kind(word(one, "kind"))) " "
            a.name href=(compare) { (escape_name(word(one, "qualified_name"))) }
            " " span.place { (escape_name(word(change, "path"))) ":" (number(&change["lines"], "start")) }
            @let facets: Vec<&str> = list(change, "changed").iter().filter_map(Value::as_str).collect();
            @if !facets.is_empty() { " " span.dim { (facets.join(", ")) } }
            @if before.is_object() && after.is_object() && old != new {
                pre.signature { del { (escape_name(old)) } "\n" ins { (escape_name(new)) } }
            }
            @if !of_it.is_empty() {
                details { summary { (count(of_it.len() as u64, "caller")) }
                    ul.rows {
                        @for caller in &of_it {
                            @let site = &caller["call_site"];
                            li {
                                (escape_name(word(&caller["from"], "qualified_name")))
                                " " a.place href=(there.at.line(word(site, "file"), number(site, "line"))) { (escape_name(word(site, "file"))) ":" (number(site, "line")) }
                                @if caller["is_changed"] == true { " " span.badge { "also changed" } }
                                @if caller["is_test"] == true { " " span.badge { "test" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn by_file(there: &BranchPage<'_>, changes: &[&Value], answer: &Value) -> Markup {
    let mut files: Vec<(&str, Vec<&Value>)> = Vec::new();
    for change in changes {
        match files.last_mut().filter(|(path, _)| *path == word(change, "path")) {
            Some((_, of_it)) => of_it.push(change),
            None => files.push((word(change, "path"), vec![change])),
        }
    }
    html! {
        @for (path, changes) in &files {
            section.file { h3 { (escape_name(path)) } ul.rows { @for change in changes { (row(there, change, answer)) } } }
        }
    }
}

fn files(there: &BranchPage<'_>, answer: &Value) -> Markup {
    let files = list(answer, "file_changes");
    html! {
        @if !files.is_empty() {
            details { summary { (count(files.len() as u64, "file")) }
                ul.rows {
                    @for file in files {
                        @let path = word(file, "path");
                        li data-row { span class=(format!("badge {}", word(file, "change_type"))) { (word(file, "change_type")) } " "
                            @if word(file, "change_type") == "deleted" { (escape_name(path)) } @else { a href=(there.at.href(&["file", path], &[])) { (escape_name(path)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The changed symbols with callers, and these callers, one hop around.
fn draw_callers(there: &BranchPage<'_>, answer: &Value) -> CallDrawing {
    let mut picture = CallDrawing::default();
    for caller in list(answer, "affected_callers").iter().take(MAX_DRAWN_CALLERS) {
        let (from, to) = (&caller["from"], &caller["to"]);
        let class = if caller["is_test"] == true { "test" } else { "" };
        for (one, class, is_target) in [(to, "changed", true), (from, class, false)] {
            let class = if !is_target && caller["is_changed"] == true { "changed" } else { class };
            let (name, path) = (word(one, "qualified_name"), word(one, "path"));
            let id = word(one, "symbol_id");
            picture.add(GraphBox {
                key: key(one),
                name: name.to_owned(),
                about: escape_name(&format!("{} {name} · {path}", word(one, "kind"))),
                href: if word(one, "change_type") == "deleted" {
                    deleted_symbol_href(there, id, path, answer)
                } else if id.is_empty() {
                    there.at.href(&["file", path], &[])
                } else {
                    there.at.symbol(id)
                },
                class,
                hop: None,
            });
        }
        picture.connect(&key(from), &key(to));
    }
    picture
}

/// A key that identifies a symbol; file-level code is identified by its file.
fn key(symbol: &Value) -> String {
    match word(symbol, "symbol_id") {
        "" => word(symbol, "path").to_owned(),
        id => id.to_owned(),
    }
}

/// The comparison page of a symbol that the head no longer has.
fn deleted_symbol_href(there: &BranchPage<'_>, id: &str, path: &str, answer: &Value) -> String {
    let (base, head) = (word(answer, "base_ref"), word(answer, "head_ref"));
    there.visit.at.href(&["compare", id], &[("base", base), ("head", head), ("path", path)])
}

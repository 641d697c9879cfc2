//! The changes of a branch, by symbol: breaking ones first, then the rest by file, and a drawing of the affected
//! callers.

use codecompass_wire::diff_context::{
    AffectedCaller, Answer, CallerSymbol, Change, ChangeType, ChangedPart, SymbolMention,
};
use maud::{Markup, html};

use super::{RenderedScreen, next_page_link};
use crate::address::CodeState;
use crate::drawing::{CallDrawing, GraphBox};
use crate::lists::{SymbolView, count, escape_name, kind, symbol_key};
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

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
    let Answered { answer, json } = visit.ask::<Answer>("diff_context", question.clone()).await?;
    let changes = &answer.changes;
    let (breaking, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| is_breaking(change, &answer));
    let (base, head) = (answer.base_ref.as_str(), answer.head_ref.as_str());
    // Links lead to the head, whatever state is selected.
    let at = CodeState { ref_name: (head != "@worktree").then(|| head.to_owned()), tree: visit.at.tree.clone() };
    let there = &BranchPage { visit, at };
    let picture = draw_callers(there, &answer);
    let Answer { total_changes: total, doc_only_changes: docs, moved_symbols: moved, .. } = answer;
    let is_cut = total > changes.len();
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
        p { (count(total as u64, "changed symbol")) " in " (count(answer.affected_files as u64, "file"))
            span.dim {
                @if docs > 0 { ", " (count(docs as u64, "symbol")) " with changed docs only" }
                @if moved > 0 { ", " (moved) " moved" }
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
        (next_page_link(visit, &answer.metadata))
        (files(there, &answer))
    };
    let title = format!("Changes of {head}");
    Ok(RenderedScreen::new(title, json, Some(answer.metadata))
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
fn is_breaking(change: &Change, answer: &Answer) -> bool {
    let has_new_signature = change.changed.iter().flatten().any(|part| *part == ChangedPart::Signature);
    let is_other = change.change_type == ChangeType::Deleted || has_new_signature;
    is_other && callers(change, answer).iter().any(|caller| !caller.is_changed)
}

fn callers<'v>(change: &Change, answer: &'v Answer) -> Vec<&'v AffectedCaller> {
    let sides = || [&change.before, &change.after].into_iter().flatten();
    let is_of = |caller: &&AffectedCaller| sides().any(|side| caller.to.symbol.symbol_id == side.symbol_id);
    answer.affected_callers.iter().flatten().filter(is_of).collect()
}

fn row(there: &BranchPage<'_>, change: &Change, answer: &Answer) -> Markup {
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let Some(one) = after.or(before) else { return html! {} };
    let change_type = change.change_type.as_str();
    let pairs = [("base", &*answer.base_ref), ("head", &*answer.head_ref), ("path", &*change.path)];
    let compare = there.visit.at.href(&["compare", &one.symbol_id], &pairs);
    let of_it = callers(change, answer);
    let new_signature = before.zip(after).filter(|(before, after)| before.signature != after.signature);
    let parts: Vec<&str> = change.changed.iter().flatten().map(|part| part.as_str()).collect();
    html! {
        li data-row {
            span class=(format!("badge {change_type}")) { (change_type) } " "
            (kind(&one.kind)) " "
            a.name href=(compare) { (escape_name(&one.qualified_name)) }
            " " span.place { (escape_name(&change.path)) ":" (change.lines.start) }
            @if !parts.is_empty() { " " span.dim { (parts.join(", ")) } }
            @if let Some((before, after)) = new_signature {
                pre.signature { del { (escape_name(&before.signature)) } "\n" ins { (escape_name(&after.signature)) } }
            }
            @if !of_it.is_empty() {
                details { summary { (count(of_it.len() as u64, "caller")) }
                    ul.rows {
                        @for caller in &of_it {
                            @let site = &caller.call_site;
                            li {
                                (escape_name(view(&caller.from).name))
                                " " a.place href=(there.at.line(&site.file, site.line.into())) { (escape_name(&site.file)) ":" (site.line) }
                                @if caller.is_changed { " " span.badge { "also changed" } }
                                @if caller.is_test { " " span.badge { "test" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn by_file(there: &BranchPage<'_>, changes: &[&Change], answer: &Answer) -> Markup {
    let mut files: Vec<(&str, Vec<&Change>)> = Vec::new();
    for change in changes {
        match files.last_mut().filter(|(path, _)| *path == change.path) {
            Some((_, of_it)) => of_it.push(change),
            None => files.push((&change.path, vec![change])),
        }
    }
    html! {
        @for (path, changes) in &files {
            section.file { h3 { (escape_name(path)) } ul.rows { @for change in changes { (row(there, change, answer)) } } }
        }
    }
}

fn files(there: &BranchPage<'_>, answer: &Answer) -> Markup {
    let files = &answer.file_changes;
    html! {
        @if !files.is_empty() {
            details { summary { (count(files.len() as u64, "file")) }
                ul.rows {
                    @for file in files {
                        @let path = file.path.as_str();
                        li data-row { span class=(format!("badge {}", file.change_type)) { (file.change_type) } " "
                            @if file.change_type == "deleted" { (escape_name(path)) } @else { a href=(there.at.href(&["file", path], &[])) { (escape_name(path)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The changed symbols with callers, and these callers, one hop around.
fn draw_callers(there: &BranchPage<'_>, answer: &Answer) -> CallDrawing {
    let mut picture = CallDrawing::default();
    for caller in answer.affected_callers.iter().flatten().take(MAX_DRAWN_CALLERS) {
        let (from, to) = (view(&caller.from), mention(&caller.to.symbol));
        let class = match (caller.is_changed, caller.is_test) {
            (true, _) => "changed",
            (false, true) => "test",
            (false, false) => "",
        };
        let is_deleted = caller.to.change_type == ChangeType::Deleted;
        for (one, class, is_deleted) in [(to, "changed", is_deleted), (from, class, false)] {
            let SymbolView { id, name, kind, path, .. } = one;
            picture.add(GraphBox {
                key: symbol_key(one),
                name: name.to_owned(),
                about: escape_name(&format!("{kind} {name} · {path}")),
                href: if is_deleted {
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
        picture.connect(&symbol_key(from), &symbol_key(to));
    }
    picture
}

/// A caller: a symbol, or the module of a file.
fn view(caller: &CallerSymbol) -> SymbolView<'_> {
    match caller {
        CallerSymbol::Module(module) => module.into(),
        CallerSymbol::Symbol(symbol) => mention(symbol),
    }
}

fn mention(symbol: &SymbolMention) -> SymbolView<'_> {
    let SymbolMention { symbol_id: id, qualified_name: name, kind, path } = symbol;
    SymbolView { id, name, kind, path, line: 1 }
}

/// The comparison page of a symbol that the head no longer has.
fn deleted_symbol_href(there: &BranchPage<'_>, id: &str, path: &str, answer: &Answer) -> String {
    let pairs = [("base", &*answer.base_ref), ("head", &*answer.head_ref), ("path", path)];
    there.visit.at.href(&["compare", id], &pairs)
}

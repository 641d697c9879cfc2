//! One symbol in two states, side by side.

use codecompass_wire::compare_symbol::{Answer, SymbolVersion};
use maud::{Markup, html};

use super::RenderedScreen;
use crate::lists::escape_name;
use crate::page_request::{Answered, PageRequest, Refusal, arguments};

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Refusal> {
    let base = visit.query.get("base").unwrap_or("HEAD");
    let head = visit.query.get("head").or(visit.at.ref_name.as_deref()).unwrap_or("@worktree");
    let question = arguments([
        ("symbol_name", name.into()),
        ("base_ref", base.into()),
        ("head_ref", head.into()),
        ("include_diff", true.into()),
        ("path", visit.query.get("path").into()),
    ]);
    let Answered { answer, json } = visit.ask::<Answer>("compare_symbol_between_commits", question.clone()).await?;
    let summary = &answer.diff_summary;
    let status = summary.status.as_str();
    let sides: [(&Option<SymbolVersion>, &str); 2] = [(&answer.base_version, base), (&answer.head_version, head)];
    let body = html! {
        p { span class=(format!("badge {status}")) { (status) } " "
            span.dim { "+" (summary.lines_added.unwrap_or_default()) " −" (summary.lines_removed.unwrap_or_default()) }
            @if summary.signature_changed == Some(true) { " · " strong { "signature changed" } }
        }
        (side_by_side(answer.diff.as_deref().unwrap_or_default(), (base, head)))
        p {
            @for (version, name) in sides {
                @if let Some(version) = version {
                    @let pairs = if name == "@worktree" { vec![] } else { vec![("ref", name)] };
                    a.place href=(super::super::address::CodeState { ref_name: None, tree: visit.at.tree.clone() }.href(&["symbol", &version.symbol_id], &pairs)) { "whole, in " (escape_name(name)) } " "
                }
            }
        }
    };
    let title = format!("{} in {base} and {head}", answer.symbol);
    let heading = html! {
        div.title { h1 { (escape_name(&answer.symbol)) span.dim { " in " (escape_name(base)) " and " (escape_name(head)) } } p.place { (escape_name(&answer.path)) } }
    };
    Ok(RenderedScreen::new(title, json, Some(answer.metadata))
        .heading(heading)
        .body(body)
        .with_agent_calls([("compare_symbol_between_commits", question)]))
}

/// A row of the table: a line of each side with its number, and whether they are the same.
#[derive(Debug, PartialEq, Eq)]
struct Row<'d> {
    left: Option<(u64, &'d str)>,
    right: Option<(u64, &'d str)>,
    is_same: bool,
}

fn side_by_side(diff: &str, names: (&str, &str)) -> Markup {
    html! {
        @if diff.is_empty() { p.dim { "No lines differ." } } @else {
            div.scroll tabindex="0" { table.diff {
                thead { tr { th colspan="2" { (escape_name(names.0)) } th colspan="2" { (escape_name(names.1)) } } }
                @for row in rows(diff) {
                    @match row {
                        None => { tr.gap { td colspan="4" { "…" } } }
                        Some(row) => {
                            tr {
                                @for (side, class) in [(row.left, "del"), (row.right, "ins")] {
                                    @let class = if row.is_same || side.is_none() { "" } else { class };
                                    td.number { @if let Some((number, _)) = side { (number) } }
                                    td class=(class) { @if let Some((_, text)) = side { (line(text)) } }
                                }
                            }
                        }
                    }
                }
            } }
        }
    }
}

fn line(text: &str) -> Markup {
    html! { code { @for part in text.split_inclusive('\t') { @if let Some(body) = part.strip_suffix('\t') { (escape_name(body)) "\t" } @else { (escape_name(part)) } } } }
}

/// The rows of a unified diff; a gap between two hunks is `None`. Removed lines are beside the lines that replaced
/// them.
fn rows(diff: &str) -> Vec<Option<Row<'_>>> {
    let mut rows = Vec::new();
    let (mut old, mut new) = (0, 0);
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for text in diff.lines() {
        match text.as_bytes().first() {
            Some(b'-') => {
                gone.push((old, &text[1..]));
                old += 1;
            }
            Some(b'+') => {
                come.push((new, &text[1..]));
                new += 1;
            }
            Some(b'@') => {
                flush(&mut rows, &mut gone, &mut come);
                (old, new) = hunk_start(text).unwrap_or((old, new));
                if !rows.is_empty() {
                    rows.push(None);
                }
            }
            Some(b'\\') => {}
            _ => {
                flush(&mut rows, &mut gone, &mut come);
                let text = text.get(1..).unwrap_or_default();
                rows.push(Some(Row { left: Some((old, text)), right: Some((new, text)), is_same: true }));
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    flush(&mut rows, &mut gone, &mut come);
    rows
}

fn flush<'d>(rows: &mut Vec<Option<Row<'d>>>, gone: &mut Vec<(u64, &'d str)>, come: &mut Vec<(u64, &'d str)>) {
    for at in 0..gone.len().max(come.len()) {
        rows.push(Some(Row { left: gone.get(at).copied(), right: come.get(at).copied(), is_same: false }));
    }
    gone.clear();
    come.clear();
}

/// The start of a hunk: `@@ -23,4 +23,4 @@`.
fn hunk_start(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split(' ').skip(1);
    let mut start = |sign: char| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((start('-')?, start('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_added_lines_are_paired() {
        let found = rows("@@ -3,3 +3,4 @@\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@\n-x\n");
        let row = |left, right, is_same| Some(Row { left, right, is_same });
        let wanted = vec![
            row(Some((3, "a")), Some((3, "a")), true),
            row(Some((4, "b")), Some((4, "c")), false),
            row(None, Some((5, "d")), false),
            row(Some((5, "e")), Some((6, "e")), true),
            None,
            row(Some((20, "x")), None, false),
        ];
        assert_eq!(found, wanted);
    }
}

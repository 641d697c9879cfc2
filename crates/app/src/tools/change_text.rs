//! Changes as people read them: by file, with a mark for what came, changed and went.

use std::collections::{HashMap, HashSet};

use codecompass_index::source::{ChangeType, FileChange};
use codecompass_model::{SymbolAt, SymbolKind};
use codecompass_query::diff::{Change, Entry, Pair};
use serde_json::Value;

use super::shape::cut;
use super::versus::WORKTREE;
use crate::escape::shown;
use crate::output::style;

/// What is shown.
pub(super) struct Shown<'s> {
    pub(super) files: &'s [&'s FileChange],
    pub(super) changes: &'s [Pair<'s>],
    pub(super) page: &'s [Pair<'s>],
    pub(super) offset: usize,
}

/// The longest header on a line, in characters.
const HEADER: usize = 160;

/// The answer as text.
pub(super) fn text(json: &Value, what: &Shown<'_>) -> String {
    let mut text = headline(json, what);
    let folded = folded(what.page);
    let is_folded = |pair: &Pair<'_>| owner(pair).is_some_and(|owner| folded.contains_key(&owner));
    let mut path = "";
    for (number, pair) in what.page.iter().enumerate() {
        if pair.latest().path() != path {
            path = pair.latest().path();
            text += &format!("\n{}\n", file_line(path, what.files));
        }
        if !is_folded(pair) {
            text += &change_lines(pair, &json["changes"][number]["changed"], folded.get(&pair.latest().at()));
        }
    }
    let seen = what.offset + what.page.len();
    if seen < what.changes.len() {
        text += &format!("\n{seen} of {} changes; --limit or --all shows more\n", what.changes.len());
    }
    text += &quiet_files(what);
    for (key, title) in
        [("affected_callers", "calls what changed"), ("edges_added", "new calls"), ("edges_removed", "calls that went")]
    {
        text += &list(title, &json[key]);
    }
    text
}

/// By symbol, how many of its parts came or went with it and are told by a number: all that went, and the fields and
/// variants that came.
fn folded(page: &[Pair<'_>]) -> HashMap<SymbolAt, usize> {
    let whole = page.iter().filter(|pair| pair.change() != Some(Change::Modified));
    let whole: HashSet<SymbolAt> = whole.map(|pair| pair.latest().at()).collect();
    let mut folded = HashMap::new();
    for owner in page.iter().filter_map(owner).filter(|owner| whole.contains(owner)) {
        *folded.entry(owner).or_default() += 1;
    }
    folded
}

/// The symbol around a part that is told with it, if that came or went too.
fn owner(pair: &Pair<'_>) -> Option<SymbolAt> {
    use SymbolKind::{Field, Property, Variant};
    let is_told_with_it = match pair.change()? {
        Change::Deleted => true,
        Change::Added => matches!(pair.latest().symbol().kind, Field | Property | Variant),
        Change::Modified => false,
    };
    pair.latest().parent().filter(|_| is_told_with_it).map(|parent| parent.at())
}

fn headline(json: &Value, what: &Shown<'_>) -> String {
    let word = |key: &str| shown(json[key].as_str().unwrap_or_default()).into_owned();
    let count = |change: Change| what.changes.iter().filter(|pair| pair.change() == Some(change)).count();
    let number = |count: usize, word: &str| (count > 0).then(|| format!("{count} {word}"));
    let mut parts = vec![plural(what.files.len(), "file")];
    parts.extend(number(count(Change::Added), "added"));
    parts.extend(number(count(Change::Modified), "modified"));
    parts.extend(number(count(Change::Deleted), "deleted"));
    parts.extend(number(json["moved_symbols"].as_u64().unwrap_or_default() as usize, "moved"));
    parts.extend(number(json["doc_only_changes"].as_u64().unwrap_or_default() as usize, "in docs only"));
    let base = word("merge_base_commit");
    let names = format!("{}...{}", word("base_ref"), word("head_ref"));
    let base = style::dim(&format!("(from {})", base.get(..10).unwrap_or(&base)));
    match what.files.is_empty() {
        true if json["head_ref"] == WORKTREE => format!("{names} {base}: no changes\n"),
        true => format!("{names} {base}: no changes; `diff HEAD @worktree` shows uncommitted edits\n"),
        false => format!("{names} {base}: {}\n", parts.join(", ")),
    }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn file_line(path: &str, files: &[&FileChange]) -> String {
    let told = files.iter().find(|file| file.path == path).map(|file| match file.change_type() {
        ChangeType::Modified => String::new(),
        ChangeType::Renamed => format!("  renamed from {}", shown(file.path_before())),
        other => format!("  {}", other.as_str()),
    });
    format!("{}{}", style::path(&shown(path)), style::dim(&told.unwrap_or_default()))
}

/// One symbol: a line, and its header where that is news.
fn change_lines(pair: &Pair<'_>, changed: &Value, parts: Option<&usize>) -> String {
    let latest = pair.latest();
    let mark = match pair.change() {
        Some(Change::Added) => "+",
        Some(Change::Deleted) => "-",
        _ => "~",
    };
    let facets: Vec<&str> = changed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let facets = if facets.is_empty() { String::new() } else { format!("  {}", facets.join(", ")) };
    let parts = parts.map(|count| format!("  with {}", plural(*count, "part"))).unwrap_or_default();
    let mut text = format!(
        "  {} {} {}:{}{}{parts}\n",
        style::hit(mark),
        style::dim(latest.symbol().kind.as_str()),
        style::name(&shown(&short_name(&latest))),
        style::number(latest.symbol().lines.start),
        style::dim(&facets),
    );
    if let Some(from) = pair.before.filter(|before| pair.is_moved && before.path() != latest.path()) {
        text += &format!("      moved from {}:{}\n", shown(from.path()), from.symbol().lines.start);
    }
    let header = |entry: &Entry<'_>| shown(&cut(&entry.symbol().signature, HEADER)).into_owned();
    match (pair.before, pair.after) {
        (Some(before), Some(after)) if pair.has_new_signature() => {
            text += &format!("      {}\n    → {}\n", style::dim(&header(&before)), header(&after));
        }
        (None, Some(after)) => text += &format!("      {}\n", header(&after)),
        _ => {}
    }
    text
}

/// The name with that of the type around it.
fn short_name(entry: &Entry<'_>) -> String {
    use SymbolKind::{Constructor, Field, Method, Property, Variant};
    let symbol = entry.symbol();
    let mark = if symbol.qualified_name.contains("::") { "::" } else { "." };
    let has_owner = matches!(symbol.kind, Constructor | Field | Method | Property | Variant) || symbol.parent.is_some();
    let mut parts = symbol.qualified_name.rsplit(mark);
    match (parts.next(), parts.next()) {
        (Some(_), Some(owner)) if has_owner => format!("{owner}{mark}{}", symbol.name),
        _ => symbol.name.clone(),
    }
}

/// Files in which no symbol changed, in a few lines.
fn quiet_files(what: &Shown<'_>) -> String {
    const MOST: usize = 20;
    let loud: HashSet<&str> = what.changes.iter().map(|pair| pair.latest().path()).collect();
    let quiet: Vec<&&FileChange> = what.files.iter().filter(|file| !loud.contains(file.path.as_str())).collect();
    let mut text = String::new();
    if quiet.is_empty() || what.offset > 0 {
        return text;
    }
    text += &format!("\nno symbol changed in {}\n", plural(quiet.len(), "file"));
    for file in quiet.iter().take(MOST) {
        let mark = match file.change_type() {
            ChangeType::Added => "+",
            ChangeType::Deleted => "-",
            ChangeType::Modified => "~",
            ChangeType::Renamed => "→",
        };
        let from = file.old_path.as_ref().map(|old| format!("  from {}", shown(old))).unwrap_or_default();
        text += &format!("  {mark} {}{}\n", style::path(&shown(&file.path)), style::dim(&from));
    }
    if quiet.len() > MOST {
        text += &format!("  and {} more\n", quiet.len() - MOST);
    }
    text
}

/// Calls, a line each.
fn list(title: &str, items: &Value) -> String {
    let Some(items) = items.as_array().filter(|items| !items.is_empty()) else { return String::new() };
    let mut text = format!("\n{title}\n");
    for item in items {
        let name = |symbol: &Value| shown(symbol["qualified_name"].as_str().unwrap_or_default()).into_owned();
        let site = &item["call_site"];
        text += &format!(
            "  {} → {}  {}:{}\n",
            style::name(&name(&item["from"])),
            name(&item["to"]),
            style::path(&shown(site["file"].as_str().unwrap_or_default())),
            site["line"],
        );
    }
    text
}

//! Changes as text: deleted symbols and changed headers first, with the remaining callers; then added symbols and
//! changed bodies, by file. Tests are a count unless they are requested.

use std::collections::{HashMap, HashSet};

use codecompass_index::source::{ChangeType, FileChange};
use codecompass_model::{Symbol, SymbolAt, SymbolKind};
use codecompass_query::diff::{Pair, SymbolChange};

use super::Diff;
use super::body_lines::is_body_change;
use crate::ref_compare::WORKTREE_REF;
use crate::rows::{self, RowWriter};
use codecompass_query::impact::{AffectedCaller, CallChange, Importer};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::escape::truncate_to as truncate;
use codecompass_workspace::output::{Reader, style};

/// The maximum length of a header on a line, in characters.
const MAX_HEADER_CHARS: usize = 150;

/// The maximum number of callers of one symbol that are listed by name.
const MAX_CALLERS: usize = 6;

/// The maximum number of renamed files that are listed with their importers.
pub(super) const MAX_RENAMED_FILES: usize = 10;

/// The maximum number of importers of one file that are listed by name.
const MAX_IMPORTERS: usize = 6;

/// The number of characters shown on each side of the changed part of a long header.
const CONTEXT_CHARS: usize = 40;

/// The maximum number of files without changed symbols that are listed by name.
const MAX_QUIET_FILES: usize = 20;

/// The input of the text.
pub(super) struct ChangesView<'s> {
    pub(super) diff: &'s Diff<'s>,
    /// All changes, each symbol that changed its kind once.
    pub(super) changes: &'s [Pair<'s>],
    pub(super) page: &'s [Pair<'s>],
    pub(super) offset: usize,
    /// The number of changes on all pages.
    pub(super) listed: usize,
    /// The tests, shown as a count.
    pub(super) folded: &'s [Pair<'s>],
    /// The changed lines of bodies, if they are few.
    pub(super) body_lines: HashMap<SymbolAt, String>,
    /// Renamed files and the files that import them.
    pub(super) renamed: Vec<(&'s str, Vec<Importer>)>,
}

/// The text of a page of changes.
pub(super) struct ChangesText<'s> {
    shown: &'s ChangesView<'s>,
    sheet: RowWriter,
    /// The number of changes of the page that have a row.
    pub(super) kept: usize,
}

impl<'s> ChangesText<'s> {
    /// Renders the changes of a page until `max_bytes` is reached.
    pub(super) fn new(shown: &'s ChangesView<'s>, callers: &[AffectedCaller], room: usize) -> Self {
        let mut text = Self { shown, sheet: RowWriter::new(room), kept: 0 };
        text.sheet.line(&headline(shown));
        let parts = member_counts(shown.page);
        let mut bodies: Vec<&Pair<'_>> = Vec::new();
        for (at, pair) in shown.page.iter().enumerate() {
            let is_shown_elsewhere = owner(pair).is_some_and(|owner| parts.contains_key(&owner));
            let path = pair.latest().path();
            let next = shown.page.get(at + 1);
            let is_last = next.is_none_or(|next| next.latest().path() != path || next.severity() != pair.severity());
            let mut fits = true;
            if let Some(lines) = shown.body_lines.get(&pair.latest().at()) {
                let symbol = pair.latest().symbol();
                let (mark, line) = (style::changed("~"), style::number(symbol.lines.start));
                let name = escape_control(&rows::short_name(symbol)).into_owned();
                fits = text.sheet.row(path, &format!("{mark}{line} {name}{lines}"));
            } else if is_body_change(pair) {
                bodies.push(pair);
            } else if !is_shown_elsewhere {
                fits = text.sheet.row(path, &text.row(pair, parts.get(&pair.latest().at()), callers));
            }
            if fits && is_last && !bodies.is_empty() {
                let names: Vec<String> = bodies.iter().map(|pair| body(pair)).collect();
                fits = text.sheet.row(path, &format!("bodies: {}", names.join(", ")));
                bodies.clear();
            }
            if !fits {
                break;
            }
            text.kept = at + 1;
        }
        text
    }

    /// One symbol, with its previous header and its callers.
    fn row(&self, pair: &Pair<'_>, parts: Option<&usize>, callers: &[AffectedCaller]) -> String {
        let latest = pair.latest();
        let mark = match pair.change() {
            Some(SymbolChange::Added) => style::added("+"),
            Some(SymbolChange::Deleted) => style::hit("-"),
            _ => style::changed("~"),
        };
        let parts = parts.map(|count| format!(" with {}", rows::count(*count, "part"))).unwrap_or_default();
        let (header, was) = match pair.before.filter(|_| pair.after.is_some()) {
            Some(before) => changed_header(before.symbol(), latest.symbol()),
            None => (rows::header(latest.symbol(), MAX_HEADER_CHARS), None),
        };
        let mut row = format!("{mark}{} {header}{parts}", style::number(latest.symbol().lines.start));
        if let Some(was) = was {
            row += &format!("\n  was {}", style::dim(&escape_control(&was)));
        }
        if let Some(from) = pair.before.filter(|before| pair.is_moved && before.path() != latest.path()) {
            row += &format!("\n  moved from {}:{}", escape_control(from.path()), from.symbol().lines.start);
        }
        let mine: Vec<&AffectedCaller> = callers.iter().filter(|caller| caller.called == latest.at()).collect();
        row + &called_by(&mine)
    }

    /// Adds the added and removed calls.
    pub(super) fn add_edges(&mut self, edges: Option<&[Vec<CallChange>; 2]>) {
        let Some([added, removed]) = edges else { return };
        for (title, list) in [("new calls", added), ("removed calls", removed)] {
            if !list.is_empty() {
                self.sheet.end_file();
                self.sheet.line(title);
            }
            for edge in list {
                let (from, to) = (rows::short_name(&edge.from.symbol), rows::short_name(&edge.to.symbol));
                let row = format!("{} {} → {}", style::number(edge.line), escape_control(&from), escape_control(&to));
                if !self
                    .sheet
                    .row(&edge.path, &format!("{row} {}:{}", escape_control(&edge.to.path), edge.to.symbol.lines.start))
                {
                    return;
                }
            }
        }
    }

    /// Completes the text with the folded tests and the remainder.
    pub(super) fn finish(mut self, reader: Reader, cursor: Option<&str>) -> String {
        if self.shown.offset == 0 {
            renamed_files(self.shown, &mut self.sheet);
            quiet_files(self.shown, &mut self.sheet);
        }
        let mut text = self.sheet.finish();
        if !self.shown.folded.is_empty() && self.shown.offset == 0 {
            let files: HashSet<&str> = self.shown.folded.iter().map(|pair| pair.latest().path()).collect();
            let symbols = rows::count(self.shown.folded.len(), "symbol");
            let how = reader.argument("tests", "include");
            text += &format!("tests: {symbols} in {} ({how})\n", rows::count(files.len(), "file"));
        }
        let seen = self.shown.offset + self.kept;
        // The next page costs less than a longer first one.
        let remainder = rows::Remainder { seen, total: self.shown.listed, what: "symbols", by_limit: false, cursor };
        text + &remainder.text(reader)
    }
}

/// The header of a changed symbol and its previous one, if they differ: complete if both are short, else the parts that
/// differ, with the text around them.
fn changed_header(before: &Symbol, after: &Symbol) -> (String, Option<String>) {
    let (old, new) = (before.signature.as_str(), after.signature.as_str());
    let is_hidden = before.visibility != after.visibility && old == new;
    if is_hidden {
        let word = |symbol: &Symbol| symbol.visibility.map_or("", |visibility| visibility.as_str());
        return (rows::header(after, MAX_HEADER_CHARS), Some(word(before).to_owned()).filter(|was| !was.is_empty()));
    }
    if old == new {
        return (rows::header(after, MAX_HEADER_CHARS), None);
    }
    if old.chars().count().max(new.chars().count()) <= MAX_HEADER_CHARS {
        return (rows::header(after, MAX_HEADER_CHARS), Some(old.to_owned()));
    }
    let (prefix, suffix) = common_ends(old, new);
    let name_end = new.find(after.name.as_str()).map_or(0, |at| at + after.name.len());
    let head = match name_end < prefix.saturating_sub(CONTEXT_CHARS) {
        true => format!("{} ", truncate(&new[..name_end], MAX_HEADER_CHARS)),
        false => String::new(),
    };
    let keeps_start = head.is_empty();
    let shown = format!("{head}{}", changed_part(new, prefix, suffix, keeps_start));
    let named = Symbol { signature: shown, ..after.clone() };
    (rows::header(&named, 2 * MAX_HEADER_CHARS), Some(changed_part(old, prefix, suffix, keeps_start)))
}

/// Returns the lengths of the common start and end of two headers, in bytes, at the borders of words.
fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let shared: Vec<(usize, char)> =
        new.char_indices().zip(old.chars()).take_while(|((_, a), b)| a == b).map(|(char, _)| char).collect();
    let mut prefix = shared.last().map_or(0, |(at, c)| at + c.len_utf8());
    let continues = |text: &str, at: usize| text[at..].starts_with(is_word);
    while prefix > 0 && (continues(new, prefix) || continues(old, prefix)) && new[..prefix].ends_with(is_word) {
        prefix -= new[..prefix].chars().next_back().map_or(1, char::len_utf8);
    }
    let (old, new) = (&old[prefix..], &new[prefix..]);
    let ends = new.chars().rev().zip(old.chars().rev()).take_while(|(a, b)| a == b);
    let mut suffix: usize = ends.map(|(c, _)| c.len_utf8()).sum();
    let begins = |text: &str, len: usize| text[..text.len() - len].ends_with(is_word);
    while suffix > 0 && (begins(new, suffix) || begins(old, suffix)) && new[new.len() - suffix..].starts_with(is_word) {
        suffix -= new[new.len() - suffix..].chars().next().map_or(1, char::len_utf8);
    }
    (prefix, suffix)
}

/// The part of a header between a common start and end, with some of both.
fn changed_part(header: &str, prefix: usize, suffix: usize, keeps_start: bool) -> String {
    let (start, end) = (&header[..prefix], &header[header.len() - suffix..]);
    let middle = truncate(&header[prefix..header.len() - suffix], MAX_HEADER_CHARS);
    let long = start.chars().count() > if keeps_start { 2 * CONTEXT_CHARS } else { CONTEXT_CHARS };
    let from = start.char_indices().rev().nth(CONTEXT_CHARS - 1).map_or(0, |(at, _)| at);
    let start = if long { format!("…{}", &start[from..]) } else { start.to_owned() };
    format!("{start}{middle}{}", truncate(end, CONTEXT_CHARS))
}

/// Lists the renamed files with the files that import them.
fn renamed_files(what: &ChangesView<'_>, sheet: &mut RowWriter) {
    let changed: HashSet<&str> = what.diff.files.iter().map(|file| file.path.as_str()).collect();
    for (path, importers) in &what.renamed {
        let Some(old) = what.diff.files.iter().find(|file| file.path == *path).and_then(|file| file.old_path.as_ref())
        else {
            continue;
        };
        sheet.end_file();
        let (tests, code): (Vec<&Importer>, Vec<&Importer>) = importers.iter().partition(|importer| importer.is_test);
        let name = |importer: &&Importer| match changed.contains(importer.path.as_str()) {
            true => format!("{} (changed)", escape_control(&importer.path)),
            false => format!("{}:{}", escape_control(&importer.path), importer.line),
        };
        let mut names: Vec<String> = code.iter().take(MAX_IMPORTERS).map(name).collect();
        if code.len() > MAX_IMPORTERS {
            names.push(format!("{} more", code.len() - MAX_IMPORTERS));
        }
        if !tests.is_empty() {
            names.push(rows::count(tests.len(), "test"));
        }
        let by = if names.is_empty() { String::new() } else { format!("; imported by {}", names.join(", ")) };
        sheet.line(&format!("renamed: {} from {}{by}", escape_control(path), escape_control(old)));
    }
}

/// A symbol where only the body changed.
fn body(pair: &Pair<'_>) -> String {
    let symbol = pair.latest();
    format!("{}:{}", escape_control(&rows::short_name(symbol.symbol())), style::number(symbol.symbol().lines.start))
}

/// The callers of a symbol in a line; tests are a count.
fn called_by(callers: &[&AffectedCaller]) -> String {
    let (tests, code): (Vec<&&AffectedCaller>, Vec<&&AffectedCaller>) =
        callers.iter().partition(|caller| caller.is_test);
    let name = |caller: &&&AffectedCaller| {
        let symbol = caller.from.symbol().map(|symbol| format!(" {}", rows::short_name(symbol)));
        let changed = if caller.is_changed { " (changed)" } else { "" };
        format!(
            "{}:{}{}{changed}",
            escape_control(&caller.path),
            caller.line,
            escape_control(&symbol.unwrap_or_default())
        )
    };
    let mut names: Vec<String> = code.iter().take(MAX_CALLERS).map(name).collect();
    if code.len() > MAX_CALLERS {
        names.push(format!("{} more", code.len() - MAX_CALLERS));
    }
    if !tests.is_empty() {
        names.push(rows::count(tests.len(), "test"));
    }
    if names.is_empty() { String::new() } else { format!("\n  called by {}", names.join(", ")) }
}

/// The number of members, by owner, that are folded into the owner's row because they were added or deleted with it:
/// all deleted members, and the added fields and variants.
fn member_counts(page: &[Pair<'_>]) -> HashMap<SymbolAt, usize> {
    let whole = page.iter().filter(|pair| pair.change() != Some(SymbolChange::Modified));
    let whole: HashSet<SymbolAt> = whole.map(|pair| pair.latest().at()).collect();
    let mut parts = HashMap::new();
    for owner in page.iter().filter_map(owner).filter(|owner| whole.contains(owner)) {
        *parts.entry(owner).or_default() += 1;
    }
    parts
}

/// The symbol around an added or deleted member that can be folded into its row.
fn owner(pair: &Pair<'_>) -> Option<SymbolAt> {
    use SymbolKind::{Field, Property, Variant};
    let is_shown_with_it = match pair.change()? {
        SymbolChange::Deleted => true,
        SymbolChange::Added => matches!(pair.latest().symbol().kind, Field | Property | Variant),
        SymbolChange::Modified => false,
    };
    pair.latest().parent().filter(|_| is_shown_with_it).map(|parent| parent.at())
}

fn headline(what: &ChangesView<'_>) -> String {
    let Diff { sides, files, docs, moved, .. } = what.diff;
    let changes = what.changes;
    let count = |change: SymbolChange| changes.iter().filter(|pair| pair.change() == Some(change)).count();
    let number = |count: usize, word: &str| (count > 0).then(|| format!("{count} {word}"));
    let mut parts = vec![rows::count(files.len(), "file")];
    parts.extend(number(count(SymbolChange::Added), "added"));
    parts.extend(number(count(SymbolChange::Modified), "modified"));
    parts.extend(number(count(SymbolChange::Deleted), "deleted"));
    parts.extend(number(*moved, "moved"));
    parts.extend(number(docs.len(), "docs only"));
    let base = escape_control(&sides.base.commit).into_owned();
    let base = style::dim(&format!("(from {})", base.get(..10).unwrap_or(&base)));
    let names = format!("{}...{}", escape_control(&sides.base_ref), escape_control(&sides.head_ref));
    match files.is_empty() {
        true if sides.head_ref == WORKTREE_REF => format!("{names} {base}: no changes"),
        true => format!("{names} {base}: no changes; `@worktree` as head has uncommitted edits"),
        false => format!("{names} {base}: {}", parts.join(", ")),
    }
}

/// Lists the files without changed symbols in a few lines.
fn quiet_files(what: &ChangesView<'_>, sheet: &mut RowWriter) {
    let loud: HashSet<&str> = what.diff.changes.iter().map(|pair| pair.latest().path()).collect();
    let is_shown = |path: &str| loud.contains(path) || what.renamed.iter().any(|(renamed, _)| *renamed == path);
    let quiet: Vec<&&FileChange> = what.diff.files.iter().filter(|file| !is_shown(&file.path)).collect();
    if quiet.is_empty() {
        return;
    }
    sheet.end_file();
    let name = |file: &&&FileChange| {
        let mark = match file.change_type() {
            ChangeType::Added => "+",
            ChangeType::Deleted => "-",
            ChangeType::Modified | ChangeType::Renamed => "",
        };
        let from = file.old_path.as_ref().map(|old| format!(" from {}", escape_control(old))).unwrap_or_default();
        format!("{mark}{}{from}", escape_control(&file.path))
    };
    let names: Vec<String> = quiet.iter().take(MAX_QUIET_FILES).map(name).collect();
    let more = if quiet.len() > MAX_QUIET_FILES {
        format!(" and {} more", quiet.len() - MAX_QUIET_FILES)
    } else {
        String::new()
    };
    sheet.line(&format!("no symbols: {}{more}", names.join(", ")));
}

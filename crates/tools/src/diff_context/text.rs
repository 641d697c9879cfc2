//! Changes as text: deleted symbols and changed headers first, with the remaining callers; then added symbols and
//! changed bodies, by file. Tests are a count unless they are requested.

use std::collections::{HashMap, HashSet};

use codecompass_index::source::{ChangeType, FileChange};
use codecompass_model::{SymbolAt, SymbolKind};
use codecompass_query::diff::{Pair, SymbolChange};

use super::Diff;
use crate::ref_compare::WORKTREE_REF;
use crate::rows::{self, RowWriter};
use codecompass_query::impact::{AffectedCaller, CallChange};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::escape::truncate_to as truncate;
use codecompass_workspace::output::{Reader, style};

/// The maximum length of a header on a line, in characters.
const MAX_HEADER_CHARS: usize = 150;

/// The maximum number of callers of one symbol that are listed by name.
const MAX_CALLERS: usize = 6;

/// The maximum number of files without changed symbols that are listed by name.
const MAX_QUIET_FILES: usize = 20;

/// The input of the text.
pub(super) struct ChangesView<'s> {
    pub(super) diff: &'s Diff<'s>,
    pub(super) page: &'s [Pair<'s>],
    pub(super) offset: usize,
    /// The number of changes on all pages.
    pub(super) listed: usize,
    /// The tests, shown as a count.
    pub(super) folded: &'s [Pair<'s>],
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
            let is_told_elsewhere = owner(pair).is_some_and(|owner| parts.contains_key(&owner));
            let path = pair.latest().path();
            let next = shown.page.get(at + 1);
            let is_last = next.is_none_or(|next| next.latest().path() != path || next.may_break() != pair.may_break());
            let mut fits = true;
            if pair.change() == Some(SymbolChange::Modified) && !pair.may_break() {
                bodies.push(pair);
            } else if !is_told_elsewhere {
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
        let header = rows::header(latest.symbol(), MAX_HEADER_CHARS);
        let mut row = format!("{mark}{} {header}{parts}", style::number(latest.symbol().lines.start));
        if let Some(before) = pair.before.filter(|_| pair.has_new_signature()) {
            row += &format!(
                "\n  was {}",
                style::dim(&escape_control(&truncate(&before.symbol().signature, MAX_HEADER_CHARS)))
            );
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
        let by_limit = self.kept == self.shown.page.len();
        text + &rows::Remainder { seen, total: self.shown.listed, what: "symbols", by_limit, cursor }.text(reader)
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
    let mut told: Vec<String> = code.iter().take(MAX_CALLERS).map(name).collect();
    if code.len() > MAX_CALLERS {
        told.push(format!("{} more", code.len() - MAX_CALLERS));
    }
    if !tests.is_empty() {
        told.push(rows::count(tests.len(), "test"));
    }
    if told.is_empty() { String::new() } else { format!("\n  called by {}", told.join(", ")) }
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
    let is_told_with_it = match pair.change()? {
        SymbolChange::Deleted => true,
        SymbolChange::Added => matches!(pair.latest().symbol().kind, Field | Property | Variant),
        SymbolChange::Modified => false,
    };
    pair.latest().parent().filter(|_| is_told_with_it).map(|parent| parent.at())
}

fn headline(what: &ChangesView<'_>) -> String {
    let Diff { sides, files, changes, docs, moved, .. } = what.diff;
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
    let quiet: Vec<&&FileChange> = what.diff.files.iter().filter(|file| !loud.contains(file.path.as_str())).collect();
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

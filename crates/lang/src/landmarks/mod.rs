//! Landmarks: headings, keys, tables, targets and selectors, which people look for in files without functions.
//!
//! These files have no grammar. Each format has a small reader, a loop over lines or bytes. It finds the start, the
//! name and the end of each landmark, and nothing else. A reader skips everything it does not recognise, so a broken
//! file has fewer landmarks and no problem. Readers do not recurse and read each byte a bounded number of times.
//!
//! A landmark is a symbol in outlines and by name. Its lines stay in chunks of text
//! ([`has_landmarks`](codecompass_model::has_landmarks)), so that search results in such files do not depend on the
//! reader.
//!
//! Data is no outline: the keys of a lock file or of a long table of values would be most symbols of many repositories,
//! and they are never looked up by name. Lock files and minified files have no landmarks, and a file with too many
//! loses the inner ones first.

mod css;
mod dockerfile;
mod hcl;
mod json;
mod make;
mod markdown;
mod protobuf;
mod restructured_text;
mod scan;
mod sql;
mod toml;
mod yaml;

use std::sync::Arc;

use codecompass_model::{FileFacts, Flags, Lines, Span, Symbol, SymbolKind};

use crate::interner::FastMap;
use crate::lines::LineStarts;
use crate::{identity, text};

/// The maximum number of keys; more are data.
const MAX_KEYS: usize = 1_000;

/// The maximum number of landmarks of any other kind.
const MAX_LANDMARKS: usize = 5_000;

/// The maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// The maximum length of a header, in bytes.
const MAX_HEADER_BYTES: usize = 200;

/// The landmark reader of a format.
pub(crate) struct LandmarkReader {
    /// The language's name.
    language: &'static str,
    /// Raised whenever the reader's results change.
    pub(crate) version: u32,
    read: fn(&mut LandmarkBuilder<'_>),
}

/// The formats with a reader. Their versions start above the version of texts without one.
const READERS: &[LandmarkReader] = &[
    LandmarkReader { language: "asciidoc", version: 2, read: markdown::read_asciidoc },
    LandmarkReader { language: "css", version: 2, read: css::read },
    LandmarkReader { language: "dockerfile", version: 2, read: dockerfile::read },
    LandmarkReader { language: "json", version: 2, read: json::read },
    LandmarkReader { language: "less", version: 2, read: css::read_with_line_comments },
    LandmarkReader { language: "make", version: 2, read: make::read },
    LandmarkReader { language: "markdown", version: 2, read: markdown::read },
    LandmarkReader { language: "protobuf", version: 2, read: protobuf::read },
    LandmarkReader { language: "restructuredtext", version: 2, read: restructured_text::read },
    LandmarkReader { language: "scss", version: 2, read: css::read_with_line_comments },
    LandmarkReader { language: "sql", version: 2, read: sql::read },
    LandmarkReader { language: "terraform", version: 2, read: hcl::read },
    LandmarkReader { language: "toml", version: 2, read: toml::read },
    LandmarkReader { language: "yaml", version: 2, read: yaml::read },
];

/// Returns the reader of a language without a grammar.
pub(crate) fn reader(language: &str) -> Option<&'static LandmarkReader> {
    READERS.iter().find(|reader| reader.language == language)
}

/// Returns the languages with a reader, each with its version.
pub(crate) fn versions() -> impl Iterator<Item = (&'static str, u32)> {
    READERS.iter().map(|reader| (reader.language, reader.version))
}

/// Adds the landmarks of a file to its facts.
pub(crate) fn add(reader: &LandmarkReader, path: &str, text: &str, lines: &LineStarts, facts: &mut FileFacts) {
    if is_generated(path) {
        return;
    }
    let mut reading = LandmarkBuilder { text, entries: Vec::new(), open: Vec::new(), prefix: String::new() };
    (reader.read)(&mut reading);
    reading.close_to(0, text.len());
    let mut symbols = symbols(reading, lines);
    identity::assign_ordinals(&mut symbols);
    identity::hash_contents(text, &mut symbols, &[]);
    facts.symbols = Arc::new(symbols);
}

/// Returns whether a program generated the file for programs: a lock file or a minified file.
fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_lock = name.ends_with(".lock") || name.contains("-lock.") || name == "npm-shrinkwrap.json";
    is_lock || name.contains(".min.")
}

/// A landmark as a reader reports it.
pub(crate) struct Landmark<'t> {
    pub(crate) kind: SymbolKind,
    /// Its name.
    pub(crate) name: &'t str,
    /// The qualifier of the name in its qualified name, besides that of the enclosing landmark.
    pub(crate) name_prefix: &'t str,
    /// Its start.
    pub(crate) start: usize,
    /// The start of its name.
    pub(crate) at: usize,
    /// The end of its header.
    pub(crate) header_end: usize,
    /// The comment above it.
    pub(crate) doc: Option<Span>,
}

/// A landmark that was added.
struct LandmarkEntry {
    kind: SymbolKind,
    name: String,
    /// The last segments of its qualified name.
    segment: String,
    parent: Option<u32>,
    level: usize,
    span: Span,
    name_span: Span,
    signature: String,
    doc: Option<Span>,
}

/// Collects the landmarks of one text.
pub(crate) struct LandmarkBuilder<'t> {
    pub(crate) text: &'t str,
    entries: Vec<LandmarkEntry>,
    /// The open landmarks, from the outside in.
    open: Vec<u32>,
    /// The prefix of all qualified names.
    pub(crate) prefix: String,
}

impl<'t> LandmarkBuilder<'t> {
    /// Returns the number of open landmarks.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Adds a landmark inside the innermost open one and leaves it open; returns whether it was added. A landmark
    /// without a name, or one that begins before the previous one, is dropped.
    pub(crate) fn open(&mut self, landmark: Landmark<'_>) -> bool {
        let name = text::fold(text::truncate(landmark.name, MAX_NAME_BYTES)).into_owned();
        let last = self.entries.last().map_or(0, |found| found.span.start as usize);
        // One more than the maximum is kept, to detect that there are too many.
        if name.is_empty() || landmark.start < last || self.entries.len() > MAX_LANDMARKS {
            return false;
        }
        let end = landmark.header_end.max(landmark.start);
        let header = self.text.get(landmark.start..end).unwrap_or_default();
        let segment = match landmark.name_prefix {
            "" => name.clone(),
            before => [text::fold(text::truncate(before, MAX_NAME_BYTES)).as_ref(), ".", &name].concat(),
        };
        let name_end = landmark.at + text::truncate(landmark.name, MAX_NAME_BYTES).len();
        let is_there = self.text.get(landmark.at..name_end).is_some();
        let (at, name_end) = if is_there { (landmark.at, name_end) } else { (landmark.start, landmark.start) };
        let index = self.entries.len() as u32;
        self.entries.push(LandmarkEntry {
            kind: landmark.kind,
            name,
            segment,
            parent: self.open.last().copied(),
            level: self.open.len(),
            span: span(landmark.start, end),
            name_span: span(at, name_end),
            signature: text::truncate(&text::signature(text::truncate(header, 4 * MAX_HEADER_BYTES)), MAX_HEADER_BYTES)
                .to_owned(),
            doc: landmark.doc,
        });
        self.open.push(index);
        true
    }

    /// Closes the innermost landmarks at this offset until `depth` of them are open.
    pub(crate) fn close_to(&mut self, depth: usize, end: usize) {
        while self.open.len() > depth {
            let Some(index) = self.open.pop() else { return };
            let found = &mut self.entries[index as usize];
            let own = self.text.get(found.span.start as usize..end).unwrap_or_default().trim_end();
            found.span.end = found.span.end.max(found.span.start + own.len() as u32);
        }
    }

    /// Adds a landmark that ends here.
    pub(crate) fn add(&mut self, landmark: Landmark<'_>, end: usize) {
        let depth = self.depth();
        if self.open(landmark) {
            self.close_to(depth, end);
        }
    }
}

fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// Converts the landmarks to symbols. If there are too many, the innermost levels are dropped first; if there are still
/// too many keys, they are data and all are dropped.
fn symbols(reading: LandmarkBuilder<'_>, lines: &LineStarts) -> Vec<Symbol> {
    let LandmarkBuilder { entries: mut found, prefix, .. } = reading;
    let is_data = found.iter().all(|found| found.kind == SymbolKind::Key);
    let most = if is_data { MAX_KEYS } else { MAX_LANDMARKS };
    let mut deepest = found.iter().map(|found| found.level).max().unwrap_or_default();
    // Parents are in outer levels, and outer levels keep their order.
    while found.len() > most && deepest > 0 {
        found = without_level(found, deepest);
        deepest -= 1;
    }
    if is_data && found.len() > most {
        return Vec::new();
    }
    found.truncate(most);
    let mut symbols: Vec<Symbol> = Vec::with_capacity(found.len());
    for found in found {
        let around = found.parent.and_then(|parent| symbols.get(parent as usize));
        let qualified_name = match around.map_or(prefix.as_str(), |around| &around.qualified_name) {
            "" => found.segment.clone(),
            around => [around, ".", &found.segment].concat(),
        };
        symbols.push(symbol(found, qualified_name, lines));
    }
    symbols
}

fn without_level(found: Vec<LandmarkEntry>, level: usize) -> Vec<LandmarkEntry> {
    let mut places: FastMap<u32, u32> = FastMap::default();
    let mut kept = Vec::new();
    for (at, mut found) in found.into_iter().enumerate().filter(|(_, found)| found.level < level) {
        found.parent = found.parent.and_then(|parent| places.get(&parent).copied());
        places.insert(at as u32, kept.len() as u32);
        kept.push(found);
    }
    kept
}

fn symbol(found: LandmarkEntry, qualified_name: String, lines: &LineStarts) -> Symbol {
    let Span { start, end } = found.span;
    let first = lines.line(start);
    let last = lines.line_from(first, end.saturating_sub(1).max(start));
    let name_line = lines.line_from(first, found.name_span.start);
    Symbol {
        kind: found.kind,
        name: found.name,
        qualified_name,
        parent: found.parent,
        impl_trait: None,
        ordinal: 0,
        signature: found.signature,
        visibility_text: None,
        visibility: None,
        lines: Lines { start: first, end: last },
        span: found.span,
        outer_start: found.doc.map_or(start, |doc| doc.start.min(start)),
        name_span: found.name_span,
        name_line,
        name_column: found.name_span.start.saturating_sub(lines.start(name_line)),
        doc: found.doc,
        annotation: None,
        value: None,
        owner: None,
        bases: Vec::new(),
        header: None,
        flags: Flags::default(),
        content_hash: 0,
        in_test: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the landmarks of a text, one per line: its depth, kind, qualified name and lines.
    pub(super) fn render_landmarks(language: &str, text: &str) -> Vec<String> {
        let symbols = facts(language, text).symbols;
        let level = |symbol: &Symbol| {
            std::iter::successors(symbol.parent, |at| symbols[*at as usize].parent).map(|_| ' ').collect::<String>()
        };
        let line = |symbol: &Symbol| {
            let Lines { start, end } = symbol.lines;
            format!("{}{} {} {start}-{end}", level(symbol), symbol.kind, symbol.qualified_name)
        };
        symbols.iter().map(line).collect()
    }

    pub(super) fn facts(language: &str, text: &str) -> FileFacts {
        let lines = LineStarts::new(text);
        let mut facts = FileFacts { lines: lines.count(), ..FileFacts::default() };
        add(reader(language).expect("because the language has a reader"), "a", text, &lines, &mut facts);
        facts
    }

    #[test]
    fn readers_have_languages() {
        assert!(READERS.iter().all(|reader| crate::detect::is_plain(reader.language)));
        assert!(READERS.is_sorted_by(|one, other| one.language < other.language));
    }

    #[test]
    fn too_many_keys_are_dropped() {
        let inner: String = (0..40).map(|key| format!("  k{key}: 1\n")).collect();
        let text: String = (0..50).map(|key| format!("top{key}:\n{inner}")).collect();
        assert_eq!(facts("yaml", &text).symbols.len(), 50);
        let flat: String = (0..2_000).map(|key| format!("k{key}: 1\n")).collect();
        assert!(facts("yaml", &flat).symbols.is_empty());
        let many: String = (0..MAX_LANDMARKS + 5).map(|key| format!("# h{key}\n")).collect();
        assert_eq!(facts("markdown", &many).symbols.len(), MAX_LANDMARKS);
    }

    #[test]
    fn generated_files_have_no_landmarks() {
        let made = ["Cargo.lock", "a/package-lock.json", "pnpm-lock.yaml", "site.min.css", "npm-shrinkwrap.json"];
        assert!(made.into_iter().all(is_generated));
        assert!(!["package.json", "blockers.yaml", "locks.md", "minutes.md"].into_iter().any(is_generated));
    }
}

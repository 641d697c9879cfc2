//! Resolves a name to the symbol that a tool reports on.
//!
//! A name may be simple, the end of a qualified name, or a handle; [`locate()`](crate::locate()) finds the symbols with
//! that name. This module selects one of several matches for every tool that reports on one symbol, according to the
//! tool's [`AmbiguityPolicy`].

use codecompass_model::{Languages, Symbol, SymbolKind};
use codecompass_store::{Result, Snapshot};

use crate::graph::Graph;
use crate::{LocateRequest, SymbolHit, locate};

/// The maximum number of symbols with the name that are considered.
const MAX_MATCHES: usize = 200;

/// A name to resolve.
#[derive(Clone, Copy, Debug)]
pub struct NameQuery<'q> {
    /// The name or handle.
    pub name: &'q str,
    /// Provides facts about languages.
    pub languages: &'static dyn Languages,
    /// Restricts the matches to this language.
    pub language: Option<&'q str>,
    /// Restricts the matches to the file at this path.
    pub path: Option<&'q str>,
}

/// How a tool handles several symbols with the same name.
#[derive(Clone, Copy)]
pub enum AmbiguityPolicy<'g> {
    /// Takes the first match in the order of [`locate()`](crate::locate()) and lists some of the others.
    First {
        /// The maximum number of other matches that are listed.
        others: usize,
    },
    /// Takes the first match if all matches are in one file; otherwise the name is ambiguous.
    OneFile,
    /// Takes the most used match ([`Graph::sort_by_use`]) and lists all others.
    MostUsed {
        /// Provides the references.
        graph: &'g Graph<'g>,
        /// If any match has a preferred kind, matches of other kinds are ignored.
        prefers: fn(SymbolKind) -> bool,
    },
}

/// The result of resolving a name.
#[derive(Debug)]
pub enum NameMatch {
    /// No symbol has the name.
    NotFound,
    /// One symbol was selected.
    Unique {
        /// The symbol.
        symbol: Box<SymbolHit>,
        /// Other symbols with the name, in order.
        others: Vec<SymbolHit>,
        /// The number of symbols with the name, including those that `others` omits.
        total: usize,
    },
    /// The matches are in several files and the policy selects none of them.
    Ambiguous(Vec<SymbolHit>),
}

/// Resolves a name to a symbol.
pub fn resolve_name(snapshot: &Snapshot, wanted: &NameQuery<'_>, policy: AmbiguityPolicy<'_>) -> Result<NameMatch> {
    let limit = if let AmbiguityPolicy::First { others } = policy { 1 + others } else { MAX_MATCHES };
    let NameQuery { name, languages, language, path } = *wanted;
    let located = locate(snapshot, &LocateRequest { name, languages, kinds: &[], language, offset: 0, limit })?;
    let mut hits = located.hits;
    hits.retain(|hit| path.is_none_or(|path| hit.version.path == path));
    match policy {
        AmbiguityPolicy::First { .. } => return Ok(first_match(hits, located.total)),
        AmbiguityPolicy::OneFile => {
            drop_minor_matches(&mut hits);
            if hits.iter().any(|hit| hit.version.id != hits[0].version.id) {
                return Ok(NameMatch::Ambiguous(hits));
            }
        }
        AmbiguityPolicy::MostUsed { graph, prefers } => {
            drop_minor_matches(&mut hits);
            if hits.iter().any(|hit| prefers(hit.symbol().kind)) {
                hits.retain(|hit| prefers(hit.symbol().kind));
            }
            sort_by_use(graph, &mut hits)?;
        }
    }
    let total = hits.len();
    Ok(first_match(hits, total))
}

fn first_match(hits: Vec<SymbolHit>, total: usize) -> NameMatch {
    let mut hits = hits.into_iter();
    match hits.next() {
        Some(symbol) => NameMatch::Unique { symbol: Box::new(symbol), others: hits.collect(), total },
        None => NameMatch::NotFound,
    }
}

/// Drops minor matches if better ones exist: landmarks, tests with that title, `impl` blocks, which have the name of
/// their type, and declarations of symbols that are defined elsewhere.
fn drop_minor_matches(hits: &mut Vec<SymbolHit>) {
    let lesser: [fn(SymbolKind) -> bool; 4] = [
        SymbolKind::is_landmark,
        |kind| kind == SymbolKind::Test,
        |kind| kind == SymbolKind::Impl,
        |kind| kind == SymbolKind::Prototype,
    ];
    for is_lesser in lesser {
        if hits.iter().any(|hit| !is_lesser(hit.symbol().kind)) {
            hits.retain(|hit| !is_lesser(hit.symbol().kind));
        }
    }
}

fn sort_by_use(graph: &Graph<'_>, hits: &mut Vec<SymbolHit>) -> Result<()> {
    let [first, _, ..] = &hits[..] else { return Ok(()) };
    let found = graph.references_to_name(&first.symbol().name)?;
    graph.sort_by_use(&found, hits)
}

/// Returns the symbol at a location: a symbol declared on the line, else the innermost symbol that encloses it. If
/// several are declared on one line, returns the one that ends at the end of the range, else the outermost.
pub fn symbol_at(symbols: &[Symbol], line: u32, end: Option<u32>) -> Option<u32> {
    let defined = || symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind != SymbolKind::Use);
    let is_declared = |symbol: &Symbol| symbol.lines.start == line || symbol.name_line == line;
    let is_range = |symbol: &Symbol| is_declared(symbol) && end.is_some_and(|end| symbol.lines.end == end);
    let is_around = |symbol: &Symbol| (symbol.lines.start..=symbol.lines.end).contains(&line);
    let found = (defined().find(|(_, symbol)| is_range(symbol)))
        .or_else(|| defined().find(|(_, symbol)| is_declared(symbol)))
        .or_else(|| defined().rfind(|(_, symbol)| is_around(symbol)));
    found.map(|(at, _)| at as u32)
}

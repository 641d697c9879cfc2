//! Which symbol is meant by this name?
//!
//! A name may be simple, the end of a qualified name, or a handle; [`locate()`](crate::locate()) tells who bears it. Which of several bearers
//! an answer is about is decided here, for every tool that answers about one symbol, by the tool's [`Policy`].

use codecompass_model::{Languages, Symbol, SymbolAt, SymbolKind};
use codecompass_store::{Result, Snapshot};

use crate::graph::Graph;
use crate::{Locate, SymbolHit, locate};

/// More bearers of a name are not looked at.
const MOST: usize = 200;

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'q> {
    /// The name or handle.
    pub name: &'q str,
    /// Who knows the languages.
    pub languages: &'static dyn Languages,
    /// Only symbols of this language.
    pub language: Option<&'q str>,
    /// Only symbols of the file at this path.
    pub path: Option<&'q str>,
}

/// What a tool does about several bearers of a name.
#[derive(Clone, Copy)]
pub enum Policy<'g> {
    /// It takes the first of them in the order of [`locate()`](crate::locate()), and tells so many of the others.
    First {
        /// How many.
        others: usize,
    },
    /// It takes the first of a file, and none when they stand in several files.
    OneFile,
    /// It takes the one that its users mean ([`Graph::by_use`]), and tells all others.
    MostUsed {
        /// Who knows the users.
        graph: &'g Graph<'g>,
        /// Bearers of other kinds do not count beside those of these.
        prefers: fn(SymbolKind) -> bool,
    },
}

/// The answer.
#[derive(Debug)]
pub enum Meant {
    /// Nothing bears the name.
    Nothing,
    /// This one.
    One {
        /// The symbol.
        symbol: Box<SymbolHit>,
        /// Others that bear the name, in order.
        others: Vec<SymbolHit>,
        /// How many bear it, those included that are not among the others.
        total: usize,
    },
    /// These, in several files, of which the policy takes none.
    Ambiguous(Vec<SymbolHit>),
}

/// Tells which symbol is meant.
pub fn meant(snapshot: &Snapshot, wanted: &Wanted<'_>, policy: Policy<'_>) -> Result<Meant> {
    let limit = if let Policy::First { others } = policy { 1 + others } else { MOST };
    let Wanted { name, languages, language, path } = *wanted;
    let located = locate(snapshot, &Locate { name, languages, kinds: &[], language, offset: 0, limit })?;
    let mut hits = located.hits;
    hits.retain(|hit| path.is_none_or(|path| hit.version.path == path));
    match policy {
        Policy::First { .. } => return Ok(first_of(hits, located.total)),
        Policy::OneFile => {
            retain_meant(&mut hits);
            if hits.iter().any(|hit| hit.version.id != hits[0].version.id) {
                return Ok(Meant::Ambiguous(hits));
            }
        }
        Policy::MostUsed { graph, prefers } => {
            retain_meant(&mut hits);
            if hits.iter().any(|hit| prefers(hit.symbol().kind)) {
                hits.retain(|hit| prefers(hit.symbol().kind));
            }
            sort_by_use(graph, &mut hits)?;
        }
    }
    let total = hits.len();
    Ok(first_of(hits, total))
}

fn first_of(hits: Vec<SymbolHit>, total: usize) -> Meant {
    let mut hits = hits.into_iter();
    match hits.next() {
        Some(symbol) => Meant::One { symbol: Box::new(symbol), others: hits.collect(), total },
        None => Meant::Nothing,
    }
}

/// Leaves out what is not meant beside other bearers of a name: landmarks, tests with that title, blocks of methods, which bear
/// the name of their type, and declarations of what is defined elsewhere.
fn retain_meant(hits: &mut Vec<SymbolHit>) {
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
    let found = graph.named(&first.symbol().name)?;
    let places: Vec<SymbolAt> = hits.iter().map(SymbolHit::at).collect();
    let order = graph.by_use(&found, &places);
    let of = |hit: &SymbolHit| order.iter().position(|at| *at == hit.at());
    // What can not be read is no answer, unless nothing can.
    if !order.is_empty() {
        hits.retain(|hit| of(hit).is_some());
        hits.sort_by_key(of);
    }
    Ok(())
}

/// The symbol that a place means: the one declared on the line, else the innermost around it. Of several on one line the
/// outermost is meant, or the one that ends where the range ends.
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

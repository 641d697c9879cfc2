//! The impact of a change: the callers of changed symbols, and the calls that the change added and removed.
//!
//! Each function works on the graph of one of the two states; the caller opens the graphs and limits their time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::ids::StableId;
use codecompass_model::{Confidence, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot, StoreError};

use crate::diff::{FileSide, Pair, SymbolChange, SymbolSide};
use crate::graph::{CallEdge, Direction, EdgeKind, Graph};

/// The change to analyse.
#[derive(Clone, Copy)]
pub struct ImpactRequest<'l> {
    /// The state after the change.
    pub head: &'l Snapshot,
    /// All pairs of symbols.
    pub pairs: &'l [Pair<'l>],
    /// The changed pairs whose impact is requested.
    pub changes: &'l [Pair<'l>],
    /// The number of symbols with callers after which no further symbol is examined.
    pub limit: usize,
}

/// A symbol with the path of its file.
#[derive(Clone, Debug)]
pub struct SymbolInFile {
    /// The path.
    pub path: String,
    /// The symbol.
    pub symbol: Symbol,
}

/// The code that makes a call.
#[derive(Clone)]
pub enum CallingCode {
    /// A symbol.
    Symbol(Box<SymbolInFile>),
    /// Code outside symbols.
    File(Rc<SourceFile>),
}

impl CallingCode {
    /// The symbol, if it is one.
    pub fn symbol(&self) -> Option<&Symbol> {
        match self {
            CallingCode::Symbol(caller) => Some(&caller.symbol),
            CallingCode::File(_) => None,
        }
    }
}

/// A caller of a changed symbol.
pub struct AffectedCaller {
    /// The caller.
    pub from: CallingCode,
    /// The callee, in its current or last version.
    pub to: SymbolInFile,
    /// The position of the callee in its view.
    pub called: SymbolAt,
    /// The change of the callee.
    pub change: SymbolChange,
    /// Whether the callee has a new signature.
    pub is_signature_new: bool,
    /// The path of the call.
    pub path: String,
    /// The line of the call.
    pub line: u32,
    /// The confidence of the call.
    pub confidence: Confidence,
    /// Whether the caller is changed, too.
    pub is_changed: bool,
    /// Whether the caller is a test.
    pub is_test: bool,
}

/// An added or removed call.
#[derive(Clone)]
pub struct CallChange {
    /// The caller.
    pub from: SymbolInFile,
    /// The callee.
    pub to: SymbolInFile,
    /// The path of the call.
    pub path: String,
    /// The line of the call.
    pub line: u32,
    /// The confidence of the call.
    pub confidence: Confidence,
}

/// A list, and whether it is complete.
pub struct PartialList<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether no item is missing.
    pub is_complete: bool,
}

impl<T> Default for PartialList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), is_complete: true }
    }
}

/// Adds the callers of deleted symbols, in the graph of the base: those that called one before and still exist
/// unchanged.
pub fn add_callers_of_deleted(
    graph: &Graph<'_>,
    request: &ImpactRequest<'_>,
    list: &mut PartialList<AffectedCaller>,
) -> Result<()> {
    let mut called = 0;
    for pair in request.callable(SymbolChange::Deleted) {
        let Some(gone) = pair.before else { continue };
        let before = list.items.len();
        for edge in direct_calls(graph, &gone, Direction::Callers, &mut list.is_complete)? {
            if let Some(still) = edge.symbol.and_then(|caller| request.unchanged_symbol(caller)) {
                list.items.push(affected_caller(graph, pair, &edge, still.line_of(edge.line), false)?);
            }
        }
        called += usize::from(list.items.len() > before);
        if called > request.limit {
            break;
        }
    }
    Ok(())
}

/// Adds the callers of modified symbols, in the graph of the head: first of changed headers, then of the rest.
pub fn add_callers_of_modified(
    graph: &Graph<'_>,
    request: &ImpactRequest<'_>,
    list: &mut PartialList<AffectedCaller>,
) -> Result<()> {
    let is_changed = |pair: &&Pair<'_>| pair.change().is_some();
    let changed = request.pairs.iter().filter(is_changed).filter_map(|pair| Some(pair.after?.at()));
    let changed: HashSet<SymbolAt> = changed.collect();
    let mut modified: Vec<&Pair<'_>> = request.callable(SymbolChange::Modified).collect();
    modified.sort_by_key(|pair| !pair.may_break());
    let mut called = 0;
    for pair in modified {
        let Some(now) = pair.after else { continue };
        let before = list.items.len();
        for edge in direct_calls(graph, &now, Direction::Callers, &mut list.is_complete)? {
            if edge.symbol != Some(now.at()) {
                let is_changed = edge.symbol.is_some_and(|caller| changed.contains(&caller));
                list.items.push(affected_caller(graph, pair, &edge, edge.line, is_changed)?);
            }
        }
        called += usize::from(list.items.len() > before);
        if called > request.limit {
            break;
        }
    }
    Ok(())
}

/// A file that imports or uses a symbol of another file.
#[derive(Clone, Debug)]
pub struct Importer {
    /// Its version.
    pub file: VersionId,
    /// Its path.
    pub path: String,
    /// The line of the first import, else of the first use.
    pub line: u32,
    /// Whether it is a test.
    pub is_test: bool,
}

/// The maximum number of symbols of a file whose importers are looked up.
const MAX_IMPORTED_SYMBOLS: usize = 12;

/// Returns the files that import a file of the base or use its symbols: code before tests, then by path.
pub fn importers(graph: &Graph<'_>, file: &FileSide) -> Result<Vec<Importer>> {
    let is_offered = |symbol: &Symbol| symbol.parent.is_none() && symbol.kind.can_be_named() && !symbol.in_test;
    let offered = file.outline.symbols.iter().enumerate().filter(|(_, symbol)| is_offered(symbol));
    let mut found: BTreeMap<(bool, String), (bool, Importer)> = BTreeMap::new();
    for (ordinal, symbol) in offered.take(MAX_IMPORTED_SYMBOLS) {
        let target = SymbolAt { file: file.version.id, ordinal: ordinal as u32 };
        let references = graph.references_to_name(&symbol.name)?;
        for site in references.proved(target).iter().filter(|site| site.file.id != file.version.id) {
            let is_use = site.kind != EdgeKind::Imports;
            let next = Importer {
                file: site.file.id,
                path: site.file.path.clone(),
                line: site.line,
                is_test: site.in_test || graph.languages().is_test_path(&site.file.path),
            };
            let known = found.entry((next.is_test, next.path.clone())).or_insert_with(|| (is_use, next.clone()));
            if (is_use, next.line) < (known.0, known.1.line) {
                *known = (is_use, next);
            }
        }
    }
    Ok(found.into_values().map(|(_, importer)| importer).collect())
}

/// The calls that changed symbols make in one state.
pub struct OutgoingCalls {
    /// By the index of the change and the stable id of the callee.
    calls: BTreeMap<(usize, u128), CallChange>,
    is_complete: bool,
}

impl OutgoingCalls {
    /// The calls before the change, in the graph of the base.
    pub fn before(graph: &Graph<'_>, request: &ImpactRequest<'_>) -> Result<Self> {
        let renamed: HashMap<SymbolAt, StableId> =
            request.pairs.iter().filter_map(|pair| Some((pair.before?.at(), stable_id(&pair.after?)))).collect();
        Self::collect(graph, request, |pair| pair.before, |at, id| renamed.get(&at).copied().unwrap_or(id))
    }

    /// The calls after the change, in the graph of the head.
    pub fn after(graph: &Graph<'_>, request: &ImpactRequest<'_>) -> Result<Self> {
        Self::collect(graph, request, |pair| pair.after, |_, id| id)
    }

    fn collect<'p>(
        graph: &Graph<'_>,
        request: &ImpactRequest<'p>,
        side: impl Fn(&Pair<'p>) -> Option<SymbolSide<'p>>,
        lasting: impl Fn(SymbolAt, StableId) -> StableId,
    ) -> Result<Self> {
        let mut found = Self { calls: BTreeMap::new(), is_complete: true };
        for (number, pair) in request.changes.iter().enumerate().filter(|(_, pair)| is_callable(pair)) {
            let Some(caller) = side(pair) else { continue };
            for edge in direct_calls(graph, &caller, Direction::Callees, &mut found.is_complete)? {
                let Some(callee) = edge.symbol else { continue };
                let (file, to) = load(graph, callee)?;
                let id = lasting(callee, StableId::new(&file.language, &to.symbol));
                found.calls.entry((number, id.0)).or_insert_with(|| CallChange {
                    from: SymbolInFile { path: caller.path().to_owned(), symbol: caller.symbol().clone() },
                    to,
                    path: edge.path.clone(),
                    line: edge.line,
                    confidence: edge.confidence,
                });
            }
        }
        Ok(found)
    }

    /// The calls that were added and removed. If either state is incomplete, both lists are empty: a call that was not
    /// read on one side would look added or removed.
    pub fn changes(before: &Self, after: &Self) -> [PartialList<CallChange>; 2] {
        let is_complete = before.is_complete && after.is_complete;
        [(after, before), (before, after)].map(|(these, those)| {
            let only = these.calls.iter().filter(|(call, _)| is_complete && !those.calls.contains_key(call));
            PartialList { items: only.map(|(_, call)| call.clone()).collect(), is_complete }
        })
    }
}

fn direct_calls(
    graph: &Graph<'_>,
    entry: &SymbolSide<'_>,
    direction: Direction,
    is_complete: &mut bool,
) -> Result<Vec<CallEdge>> {
    let found = graph.calls(entry.at(), direction, 1, false)?;
    *is_complete &= graph.finish()?;
    Ok(found.edges)
}

/// Whether it can be called.
fn is_callable(pair: &Pair<'_>) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(pair.latest().symbol().kind, Class | Constructor | Fn | Macro | Method)
}

fn stable_id(entry: &SymbolSide<'_>) -> StableId {
    StableId::new(&entry.file.version.language, entry.symbol())
}

/// An unchanged symbol, possibly on other lines.
struct UnchangedSymbol {
    shift: i64,
}

impl UnchangedSymbol {
    fn line_of(&self, line: u32) -> u32 {
        (i64::from(line) + self.shift).max(1) as u32
    }
}

impl<'l> ImpactRequest<'l> {
    /// The requested changes of one kind to symbols that can be called.
    fn callable(&self, change: SymbolChange) -> impl Iterator<Item = &'l Pair<'l>> {
        self.changes.iter().filter(move |pair| pair.change() == Some(change) && is_callable(pair))
    }

    /// Whether a symbol of the base is unchanged in the head.
    fn unchanged_symbol(&self, at: SymbolAt) -> Option<UnchangedSymbol> {
        if self.head.members().contains(at.file) {
            return Some(UnchangedSymbol { shift: 0 });
        }
        let pair = self.pairs.iter().find(|pair| pair.before.is_some_and(|before| before.at() == at))?;
        let (before, after) = pair.before.zip(pair.after).filter(|_| pair.change().is_none())?;
        Some(UnchangedSymbol { shift: i64::from(after.symbol().lines.start) - i64::from(before.symbol().lines.start) })
    }
}

fn affected_caller(
    graph: &Graph<'_>,
    pair: &Pair<'_>,
    edge: &CallEdge,
    line: u32,
    is_changed: bool,
) -> Result<AffectedCaller> {
    let from = match edge.symbol {
        Some(at) => CallingCode::Symbol(Box::new(load(graph, at)?.1)),
        None => CallingCode::File(graph.file(edge.file).ok_or_else(|| lost("a file"))?),
    };
    let called = pair.latest();
    Ok(AffectedCaller {
        from,
        to: SymbolInFile { path: called.path().to_owned(), symbol: called.symbol().clone() },
        called: called.at(),
        change: pair.change().unwrap_or(SymbolChange::Modified),
        is_signature_new: pair.has_new_signature(),
        path: edge.path.clone(),
        line,
        confidence: edge.confidence,
        is_changed,
        is_test: edge.is_test,
    })
}

fn load(graph: &Graph<'_>, at: SymbolAt) -> Result<(Rc<SourceFile>, SymbolInFile)> {
    if let Some(file) = graph.file(at.file)
        && let Some(symbol) = file.facts.symbols.get(at.ordinal as usize)
    {
        let found = SymbolInFile { path: file.path.clone(), symbol: symbol.clone() };
        return Ok((file, found));
    }
    // A read error explains the absence better.
    graph.finish()?;
    Err(lost("a symbol"))
}

fn lost(what: &str) -> StoreError {
    StoreError::Corrupt(format!("{what} that was just read is missing"))
}

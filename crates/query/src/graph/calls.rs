//! Callers and callees of a symbol: breadth-first, up to a depth, each with the lines of the calls.

use std::collections::{HashMap, HashSet};

use codecompass_model::{Confidence, Resolution, SourceFile, SymbolAt, SymbolKind, VersionId};
use codecompass_store::Result;

use super::possible::{FrontierSymbol, PossibleSteps};
use super::references::is_call;
use super::{EdgeKind, Graph, Site, enclosing_function, enclosing_owner};

/// Data whose name occurs more often than this is not followed to further callers.
const MAX_DATA_OCCURRENCES: usize = 200;

/// The maximum number of symbols from which possible calls are followed.
const MAX_POSSIBLE_SYMBOLS: usize = 200;

/// The direction of traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Symbols that call it.
    Callers,
    /// Symbols that it calls.
    Callees,
}

/// A symbol that calls or is called.
#[derive(Clone, Debug)]
pub struct CallEdge {
    /// The symbol; `None` for code at file level.
    pub symbol: Option<SymbolAt>,
    /// The file of the call.
    pub file: VersionId,
    /// The path of that file.
    pub path: String,
    /// The line of the first call.
    pub line: u32,
    /// The number of calls between the two symbols.
    pub sites: usize,
    /// The lines of the calls, in order, up to a limit.
    pub lines: Vec<u32>,
    /// The confidence of the edge.
    pub confidence: Confidence,
    /// The distance from the start symbol.
    pub depth: u32,
    /// Beyond depth 1, the previous symbol on the way; else the function that returned the called function.
    pub via: Option<SymbolAt>,
    /// Whether the call is in a test.
    pub is_test: bool,
    /// The path and ordinal of the symbol, which order the calls of one line.
    place: (String, u32),
}

/// The call graph in one direction.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// The edges by depth, then by confidence, then code before tests, then by path and line.
    pub edges: Vec<CallEdge>,
    /// Unresolved calls at depth 1.
    pub unresolved: Vec<UnresolvedCall>,
    /// The number of calls at depth 1 that leave the view.
    pub outside: usize,
    /// The sites that pass or register the function: further callers call it through them.
    pub values: Vec<Site>,
    /// Unresolved calls of the name, which may be further callers at depth 1: code before tests, in the order of files.
    pub unproved: Vec<Site>,
    /// The symbols between the start and the last depth at which resolution ended.
    pub frontier: Vec<FrontierSymbol>,
}

/// The result of a search for a call chain.
#[derive(Clone, Debug, Default)]
pub struct CallChain {
    /// The symbols from start to end, both included; empty if no chain was found.
    pub symbols: Vec<SymbolAt>,
    /// The number of calls up to which the search was exhaustive.
    pub depth: u32,
    /// For each step of the chain, whether it is only possible.
    pub possible: Vec<bool>,
    /// Without a chain, the symbols at which resolution ended.
    pub frontier: Vec<FrontierSymbol>,
    /// Whether all possible calls were followed, too.
    pub is_exhaustive: bool,
}

/// An unresolved call.
#[derive(Clone, Debug)]
pub struct UnresolvedCall {
    /// The called name.
    pub name: String,
    /// The line.
    pub line: u32,
    /// The reason why it is unresolved.
    pub why: &'static str,
}

impl Graph<'_> {
    /// Returns the symbols around one symbol in the call graph. Each is listed at its smallest depth only. Beyond depth
    /// 1, possible calls are followed if `with_possible`; else the symbols that have some are listed as the frontier.
    pub fn calls(&self, start: SymbolAt, direction: Direction, depth: u32, with_possible: bool) -> Result<CallGraph> {
        let last = depth;
        let mut graph = CallGraph::default();
        let mut seen: HashSet<SymbolAt> = HashSet::from([start]);
        let mut level = vec![start];
        for depth in 1..=depth {
            let mut next = Vec::new();
            for near in level {
                if self.budget.is_spent() {
                    break;
                }
                let mut edges = match direction {
                    Direction::Callers => self.callers_of(near)?,
                    Direction::Callees => self.callees_of(near, &mut graph, depth)?,
                };
                if last > 1 && depth < last + u32::from(with_possible) {
                    self.add_possible(near, direction, with_possible, (start, depth), &mut edges, &mut graph)?;
                }
                edges.sort_by(|a, b| order(a).cmp(&order(b)));
                for mut edge in edges {
                    if edge.symbol.is_some_and(|symbol| depth > 1 && seen.contains(&symbol)) {
                        continue;
                    }
                    edge.depth = depth;
                    edge.lines.sort_unstable();
                    edge.via = edge.via.or((depth > 1).then_some(near));
                    if let Some(symbol) = edge.symbol
                        && seen.insert(symbol)
                        && (direction == Direction::Callees || !self.is_common_data(symbol)?)
                    {
                        next.push(symbol);
                    }
                    graph.edges.push(edge);
                }
            }
            level = next;
        }
        graph.edges.sort_by(|a, b| (a.depth, order(a)).cmp(&(b.depth, order(b))));
        if direction == Direction::Callers {
            graph.unproved = self.unproved_callers(start)?;
            graph.values = self.value_uses(start)?;
        }
        Ok(graph)
    }

    /// Whether a symbol is data with a common name (`name = CharField()`). The call in its initialiser runs where it is
    /// declared; only if it holds a function can code that calls it be a further caller, and to look for that among
    /// thousands of occurrences takes longer than all the rest.
    fn is_common_data(&self, at: SymbolAt) -> Result<bool> {
        use SymbolKind::{Const, Field, Static, Var, Variant};
        let Some(file) = self.file(at.file) else { return Ok(false) };
        let Some(symbol) = file.facts.symbols.get(at.ordinal as usize) else { return Ok(false) };
        if !matches!(symbol.kind, Const | Field | Static | Var | Variant) {
            return Ok(false);
        }
        let occurrences = self.snapshot().references_named(&symbol.name)?;
        Ok(occurrences.iter().map(|(_, places)| places.len()).sum::<usize>() > MAX_DATA_OCCURRENCES)
    }

    /// Adds the possible calls of, or in, a symbol to its edges; or the symbol to the frontier.
    fn add_possible(
        &self,
        near: SymbolAt,
        direction: Direction,
        with_possible: bool,
        (start, depth): (SymbolAt, u32),
        edges: &mut Vec<CallEdge>,
        graph: &mut CallGraph,
    ) -> Result<()> {
        // Callers are complete as far as anything is known of them: only a symbol without any is a dead end.
        if near == start && !with_possible || direction == Direction::Callers && !edges.is_empty() && !with_possible {
            return Ok(());
        }
        let found = match direction {
            Direction::Callers => self.possible_callers(near)?,
            Direction::Callees => self.possible_callees(near, with_possible)?,
        };
        if !with_possible || found.calls > 0 && found.steps.is_empty() {
            if found.calls > 0 && near != start {
                graph.frontier.push(FrontierSymbol { symbol: near, calls: found.calls });
            }
            return Ok(());
        }
        for step in found.steps {
            if edges.iter().any(|edge| edge.symbol == Some(step.symbol)) {
                continue;
            }
            let ordinal = step.symbol.ordinal;
            let path = || self.file(step.symbol.file).map(|file| file.path.clone()).unwrap_or_default();
            edges.push(CallEdge {
                symbol: Some(step.symbol),
                file: step.file,
                path: step.path.clone(),
                line: step.line,
                sites: 1,
                lines: vec![step.line],
                confidence: Confidence::Heuristic,
                depth,
                via: None,
                is_test: step.in_test,
                place: (path(), ordinal),
            });
        }
        Ok(())
    }

    pub(super) fn unproved_callers(&self, called: SymbolAt) -> Result<Vec<Site>> {
        let Some(file) = self.file(called.file) else { return Ok(Vec::new()) };
        let Some(symbol) = file.facts.symbols.get(called.ordinal as usize) else { return Ok(Vec::new()) };
        let found = self.references_to_name(&symbol.name)?;
        Ok(found.unresolved_calls(self, called, symbol, |language| self.can_interop(language, &file.language)))
    }

    fn callers_of(&self, symbol: SymbolAt) -> Result<Vec<CallEdge>> {
        let Some(file) = self.file(symbol.file) else { return Ok(Vec::new()) };
        let Some(name) = file.facts.symbols.get(symbol.ordinal as usize).map(|symbol| symbol.name.clone()) else {
            return Ok(Vec::new());
        };
        let found = self.references_to_name(&name)?;
        let mut edges: HashMap<(u32, Option<u32>), CallEdge> = HashMap::new();
        let proved = found.proved(symbol);
        for site in proved.iter().filter(|site| site.kind == EdgeKind::Calls) {
            let outline = self.snapshot().outline(site.file.id)?;
            let from = enclosing_owner(&outline.symbols, site.from);
            let caller = from.map(|place| SymbolAt { file: site.file.id, ordinal: place });
            let place = || (site.file.path.clone(), from.unwrap_or_default());
            let call = CallSite {
                file: site.file.id,
                path: &site.file.path,
                line: site.line,
                confidence: site.confidence,
                in_test: site.in_test,
            };
            add(&mut edges, (site.file.id, from), caller, &call, place);
        }
        let mut all: Vec<CallEdge> = edges.into_values().collect();
        for mut edge in self.callers_of_factory(&file, symbol)? {
            let is_known = all.iter().any(|known| known.symbol == edge.symbol && known.file == edge.file);
            if !is_known {
                edge.confidence = Confidence::Heuristic;
                all.push(edge);
            }
        }
        Ok(all)
    }

    /// Returns the callers of the function that returns this one. They receive the function and call it or pass it on.
    fn callers_of_factory(&self, file: &SourceFile, symbol: SymbolAt) -> Result<Vec<CallEdge>> {
        let parent = file.facts.symbols.get(symbol.ordinal as usize).and_then(|inner| inner.parent);
        let Some(maker) = parent.map(|place| SymbolAt { file: symbol.file, ordinal: place }) else {
            return Ok(Vec::new());
        };
        if !self.returned_functions(maker).contains(&symbol) {
            return Ok(Vec::new());
        }
        let mut edges = self.callers_of(maker)?;
        edges.iter_mut().for_each(|edge| edge.via = Some(maker));
        Ok(edges)
    }

    fn callees_of(&self, symbol: SymbolAt, graph: &mut CallGraph, depth: u32) -> Result<Vec<CallEdge>> {
        let Some(file) = self.file(symbol.file) else { return Ok(Vec::new()) };
        let mut edges: HashMap<(u32, Option<u32>), CallEdge> = HashMap::new();
        for (at, reference) in file.facts.references.iter().enumerate() {
            let is_inside = self.belongs_to_symbol(&file, reference.symbol, symbol.ordinal);
            if !is_inside || !is_call(reference.shape) {
                continue;
            }
            // Constructing a value of a class calls its constructor, not all its methods.
            if depth > 1 && self.is_in_other_method(&file, reference.symbol, symbol.ordinal) {
                continue;
            }
            let reached = self.returned_call(&file, at as u32);
            let is_reached = reached.is_some();
            if let Some(reached) = reached {
                for target in reached.targets {
                    let key = (target.file, Some(target.ordinal));
                    let path = || self.file(target.file).map(|file| file.path.clone()).unwrap_or_default();
                    let (confidence, in_test) = (Confidence::Static, self.is_in_test(&file, reference.symbol));
                    let call = CallSite { file: file.id, path: &file.path, line: reference.line, confidence, in_test };
                    add(&mut edges, key, Some(target), &call, || (path(), target.ordinal));
                    if let Some(edge) = edges.get_mut(&key) {
                        edge.via.get_or_insert(reached.via);
                    }
                }
            }
            match self.resolve(&file, at as u32) {
                Resolution::Symbols { targets, confidence, .. } => {
                    for target in targets {
                        if self.kind_of(reference, target) != EdgeKind::Calls {
                            let in_test = self.is_in_test(&file, reference.symbol);
                            let (path, line, confidence) = (&*file.path, reference.line, Confidence::Heuristic);
                            let call = CallSite { file: file.id, path, line, confidence, in_test };
                            self.add_held_functions(&mut edges, target, &call, depth)?;
                            continue;
                        }
                        let key = (target.file, Some(target.ordinal));
                        let path = || self.file(target.file).map(|file| file.path.clone()).unwrap_or_default();
                        let place = || (path(), target.ordinal);
                        let in_test = self.is_in_test(&file, reference.symbol);
                        let call =
                            CallSite { file: file.id, path: &file.path, line: reference.line, confidence, in_test };
                        add(&mut edges, key, Some(target), &call, place);
                    }
                }
                meaning if depth == 1 && !is_reached => {
                    let why = match meaning {
                        Resolution::Unknown(why) => why,
                        Resolution::Local => "a local value is called",
                        // A called module is a value of unknown type.
                        Resolution::Module(_) => "a module is called",
                        _ => {
                            graph.outside += 1;
                            continue;
                        }
                    };
                    let name = file.facts.names.get(reference.name as usize).cloned().unwrap_or_default();
                    graph.unresolved.push(UnresolvedCall { name, line: reference.line, why });
                }
                _ => {}
            }
        }
        self.failure()?;
        Ok(edges.into_values().collect())
    }

    /// Adds the functions that a called field may hold. Deeper calls and chains do not go through fields.
    fn add_held_functions(
        &self,
        edges: &mut HashMap<(u32, Option<u32>), CallEdge>,
        field: SymbolAt,
        call: &CallSite<'_>,
        depth: u32,
    ) -> Result<()> {
        if depth != 1 || self.budget.is_spent() {
            return Ok(());
        }
        for target in self.functions_in_field(field)? {
            let key = (target.file, Some(target.ordinal));
            let path = || self.file(target.file).map(|file| file.path.clone()).unwrap_or_default();
            add(edges, key, Some(target), call, || (path(), target.ordinal));
            if let Some(edge) = edges.get_mut(&key) {
                edge.via.get_or_insert(field);
            }
        }
        Ok(())
    }

    /// Whether a reference belongs to a symbol. A function owns the code in it that is in no nested function; a class
    /// or module owns all code in it. A test block is run by the code that contains it, so its calls also belong to the
    /// enclosing function.
    pub(super) fn belongs_to_symbol(&self, file: &SourceFile, from: Option<u32>, symbol: u32) -> bool {
        let mut function = enclosing_function(&file.facts.symbols, from);
        while let Some(at) = function {
            if at == symbol {
                return true;
            }
            let test = file.facts.symbols.get(at as usize).filter(|around| around.kind == SymbolKind::Test);
            function = test.and_then(|test| enclosing_function(&file.facts.symbols, test.parent));
        }
        let is_function = enclosing_function(&file.facts.symbols, Some(symbol)) == Some(symbol);
        let mut around = from;
        while let Some(at) = around.filter(|_| !is_function) {
            if at == symbol {
                return true;
            }
            around = file.facts.symbols.get(at as usize).and_then(|symbol| symbol.parent);
        }
        false
    }

    /// Whether a reference in a class is in one of its functions that is not a constructor.
    fn is_in_other_method(&self, file: &SourceFile, from: Option<u32>, class: u32) -> bool {
        let symbols = &file.facts.symbols;
        let Some(function) = enclosing_function(symbols, from).filter(|function| *function != class) else {
            return false;
        };
        let constructors = self.languages().constructors(&file.language);
        let is_constructor = symbols.get(function as usize).is_some_and(|symbol| {
            symbol.kind == SymbolKind::Constructor || constructors.contains(&symbol.name.as_str())
        });
        let is_class = symbols.get(class as usize).is_some_and(|symbol| symbol.kind == SymbolKind::Class);
        is_class && !is_constructor
    }

    /// Returns a shortest call chain from one symbol to another, if there is one within a depth. If none is proved, a
    /// chain may go through possible calls.
    pub fn path_between(&self, from: SymbolAt, to: SymbolAt, depth: u32) -> Result<CallChain> {
        let proved = self.search_chain(from, to, depth, false)?;
        match proved.symbols.is_empty() && !self.budget.is_spent() {
            true => {
                let possible = self.search_chain(from, to, depth, true)?;
                Ok(CallChain { depth: proved.depth, ..possible })
            }
            false => Ok(proved),
        }
    }

    fn search_chain(&self, from: SymbolAt, to: SymbolAt, depth: u32, with_possible: bool) -> Result<CallChain> {
        let mut came_from: HashMap<SymbolAt, (SymbolAt, bool)> = HashMap::new();
        let mut level = vec![from];
        let mut ignored = CallGraph::default();
        let mut frontier = Vec::new();
        let mut is_exhaustive = true;
        let mut followed = 0;
        for depth in 0..depth {
            let mut next = Vec::new();
            for near in level {
                if self.budget.is_spent() {
                    return Ok(CallChain { depth, frontier, ..CallChain::default() });
                }
                let mut edges = self.callees_of(near, &mut ignored, 0)?;
                edges.sort_by(|a, b| order(a).cmp(&order(b)));
                let is_followed = |edge: &&CallEdge| with_possible || edge.confidence == Confidence::Static;
                let step = |edge: &CallEdge| Some((edge.symbol?, edge.confidence == Confidence::Heuristic));
                let mut steps: Vec<(SymbolAt, bool)> = edges.iter().filter(is_followed).filter_map(step).collect();
                if with_possible {
                    let follows = followed < MAX_POSSIBLE_SYMBOLS;
                    followed += 1;
                    let PossibleSteps { calls, steps: possible } = self.possible_callees(near, follows)?;
                    is_exhaustive &= follows && (calls == 0 || !possible.is_empty());
                    if calls > 0 {
                        frontier.push(FrontierSymbol { symbol: near, calls });
                    }
                    steps.extend(possible.into_iter().map(|step| (step.symbol, true)));
                }
                for (symbol, is_possible) in steps {
                    if symbol == from || came_from.contains_key(&symbol) {
                        continue;
                    }
                    came_from.insert(symbol, (near, is_possible));
                    if symbol == to {
                        let (symbols, possible) = chain(&came_from, from, to);
                        return Ok(CallChain { symbols, possible, depth, ..CallChain::default() });
                    }
                    next.push(symbol);
                }
            }
            level = next;
        }
        Ok(CallChain { depth, frontier, is_exhaustive, ..CallChain::default() })
    }
}

/// Returns the symbols of a chain, and for each step whether it is only possible.
fn chain(came_from: &HashMap<SymbolAt, (SymbolAt, bool)>, from: SymbolAt, to: SymbolAt) -> (Vec<SymbolAt>, Vec<bool>) {
    let (mut chain, mut possible) = (vec![to], Vec::new());
    let mut at = to;
    while at != from {
        let Some((before, is_possible)) = came_from.get(&at) else { break };
        chain.push(*before);
        possible.push(*is_possible);
        at = *before;
    }
    chain.reverse();
    possible.reverse();
    (chain, possible)
}

/// The maximum number of lines listed for the calls between two symbols.
const MAX_CALL_LINES: usize = 10;

/// A call site.
struct CallSite<'c> {
    file: VersionId,
    path: &'c str,
    line: u32,
    confidence: Confidence,
    in_test: bool,
}

fn add(
    edges: &mut HashMap<(u32, Option<u32>), CallEdge>,
    key: (u32, Option<u32>),
    symbol: Option<SymbolAt>,
    call: &CallSite<'_>,
    place: impl FnOnce() -> (String, u32),
) {
    let edge = edges.entry(key).or_insert_with(|| CallEdge {
        symbol,
        file: call.file,
        path: call.path.to_owned(),
        line: call.line,
        sites: 0,
        lines: Vec::new(),
        confidence: call.confidence,
        depth: 0,
        via: None,
        is_test: call.in_test,
        place: place(),
    });
    edge.sites += 1;
    if edge.lines.len() < MAX_CALL_LINES && edge.lines.last() != Some(&call.line) {
        edge.lines.push(call.line);
    }
    edge.line = edge.line.min(call.line);
    edge.confidence = edge.confidence.min(call.confidence);
}

fn order(edge: &CallEdge) -> (Confidence, bool, &str, u32, &(String, u32)) {
    (edge.confidence, edge.is_test, &edge.path, edge.line, &edge.place)
}

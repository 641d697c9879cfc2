//! Shared parts of the tools that resolve references: opening the graph of a snapshot, and rendering symbols as JSON
//! and text.

use std::rc::Rc;

use codecompass_lang::REGISTRY;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Flags, Lines, SourceFile, Span, Symbol, SymbolAt, SymbolKind, VersionId};
use codecompass_query::graph::{Budget, Counts, Graph, ResolveCache, ScanProgress, Site};
use codecompass_store::Snapshot;
use codecompass_wire::{self as wire, SymbolIdentity, SymbolSummary};

use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::{Completeness, Metadata};
use codecompass_workspace::time_limit::TimeLimit;

/// Runs a function with the graph of a snapshot; the graph lives only that long.
pub fn with_graph<T>(
    memory: &ResolveCache,
    patience: &TimeLimit,
    answer: impl FnOnce(&Graph<'_>) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let deadline = patience.deadline();
    let is_over = move || deadline.is_over();
    let graph = Graph::new(memory, Budget::new(&is_over));
    let answer = answer(&graph);
    // Errors are reported here, so the next request does not report them.
    let finished = graph.finish();
    graph.evict();
    let answer = answer?;
    finished?;
    Ok(answer)
}

/// Notes in the metadata that a time limit left the answer incomplete. Must run last, just before the metadata is
/// rendered. `is_said`: the answer already says so.
pub(crate) fn note_incomplete(graph: &Graph<'_>, metadata: &mut Metadata, is_said: bool) -> Result<(), AppError> {
    if !graph.finish()? {
        metadata.completeness = Completeness::Partial;
        if !is_said {
            metadata.warnings.push("incomplete (time limit); retry for the rest".into());
        }
    }
    Ok(())
}

/// How far an incomplete scan came, and what to do about it.
pub(crate) fn progress_text(progress: ScanProgress) -> String {
    let ScanProgress { examined, total } = progress;
    match examined < total {
        true => format!("{examined} of {total} places examined, ask again for the rest"),
        false => "imports under other names not examined yet, ask again for them".into(),
    }
}

/// A symbol loaded for display.
pub(crate) struct GraphSymbol {
    pub(crate) file: Rc<SourceFile>,
    pub(crate) place: u32,
}

impl GraphSymbol {
    /// Loads the symbol at a position of the graph.
    pub(crate) fn load(graph: &Graph<'_>, at: SymbolAt) -> Result<Self, AppError> {
        let file = graph.file(at.file).filter(|file| (at.ordinal as usize) < file.facts.symbols.len());
        if let Some(file) = file {
            return Ok(Self { file, place: at.ordinal });
        }
        // A read error explains the absence better.
        graph.finish()?;
        Err(AppError::inconsistent_index("a symbol"))
    }

    /// The symbol itself.
    pub(crate) fn symbol(&self) -> &codecompass_model::Symbol {
        &self.file.facts.symbols[self.place as usize]
    }

    /// Its names and ids.
    pub(crate) fn identity(&self) -> SymbolIdentity {
        identity(&self.file.path, &self.file.language, self.symbol())
    }

    /// Its name with the name of the enclosing symbol; for a test, with the name of the enclosing function.
    pub(crate) fn short_name(&self) -> String {
        let symbol = self.symbol();
        match Symbol::naming_ancestor(&self.file.facts.symbols, symbol.parent) {
            Some(around) if symbol.kind == SymbolKind::Test => format!("{}.{}", around.name, symbol.name),
            _ => super::rows::short_name(symbol),
        }
    }

    /// Its location: `src/a.rs:12`.
    pub(crate) fn location(&self) -> String {
        let line = self.symbol().lines.start;
        super::rows::location(&self.file.path, Lines { start: line, end: line })
    }

    /// Whether it is declared to be implemented elsewhere.
    pub(crate) fn is_abstract(&self) -> bool {
        let parent = self.symbol().parent.and_then(|parent| self.file.facts.symbols.get(parent as usize));
        parent.is_some_and(|parent| matches!(parent.kind, SymbolKind::Trait | SymbolKind::Interface))
    }

    /// The constructor of a class that declares one.
    pub(crate) fn constructor(&self) -> Option<&Symbol> {
        let named = REGISTRY.constructors(&self.file.language).first();
        let is_it = |symbol: &&Symbol| {
            let is_constructor =
                symbol.kind == SymbolKind::Constructor || named.is_some_and(|name| symbol.name == *name);
            symbol.parent == Some(self.place) && is_constructor
        };
        let symbols = self.file.facts.symbols.iter();
        symbols.filter(|_| self.symbol().kind == SymbolKind::Class).find(is_it)
    }

    /// The summary.
    pub(crate) fn summary(&self) -> SymbolSummary {
        let symbol = self.symbol();
        SymbolSummary {
            symbol_id: SymbolId::new(&self.file.path, symbol).to_string(),
            qualified_name: symbol.qualified_name.clone(),
            kind: symbol.kind.as_str().into(),
            path: self.file.path.clone(),
            line: symbol.lines.start,
            references: None,
            relation: None,
        }
    }

    /// Names, ids and location.
    pub(crate) fn located(&self) -> SymbolIdentity {
        let lines = self.symbol().lines;
        SymbolIdentity {
            path: Some(self.file.path.clone()),
            line_start: Some(lines.start),
            line_end: Some(lines.end),
            ..self.identity()
        }
    }
}

/// The names and ids of a symbol.
pub fn identity(path: &str, language: &str, symbol: &Symbol) -> SymbolIdentity {
    SymbolIdentity {
        symbol_id: SymbolId::new(path, symbol).to_string(),
        symbol_stable_id: StableId::new(language, symbol).to_string(),
        name: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind.as_str().into(),
        path: None,
        line_start: None,
        line_end: None,
    }
}

/// The scope that encloses a position: a symbol, or the module of the file.
pub(crate) enum EnclosingScope {
    Symbol(GraphSymbol),
    Module(SymbolIdentity),
}

impl EnclosingScope {
    /// Loads the scope of a position in the graph.
    pub(crate) fn load(graph: &Graph<'_>, file: VersionId, place: Option<u32>) -> Result<Self, AppError> {
        match place {
            Some(place) => GraphSymbol::load(graph, SymbolAt { file, ordinal: place }).map(EnclosingScope::Symbol),
            None => module_identity_of(graph, file).map(EnclosingScope::Module),
        }
    }

    /// Its names and ids.
    pub(crate) fn identity(&self) -> SymbolIdentity {
        match self {
            EnclosingScope::Symbol(shown) => shown.identity(),
            EnclosingScope::Module(fields) => fields.clone(),
        }
    }

    /// Names, ids and location.
    pub(crate) fn located(&self) -> SymbolIdentity {
        match self {
            EnclosingScope::Symbol(shown) => shown.located(),
            EnclosingScope::Module(fields) => fields.clone(),
        }
    }

    /// `Type.name`; `None` at file level.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            EnclosingScope::Symbol(shown) => Some(shown.short_name()),
            EnclosingScope::Module(_) => None,
        }
    }
}

/// File-level code, as the module of the file. Its id is as stable as other ids, although no definition has it.
pub(crate) fn module_identity_of(graph: &Graph<'_>, file: VersionId) -> Result<SymbolIdentity, AppError> {
    let lost = || AppError::new(Code::InternalError, "A file that was just read is missing.");
    let file = graph.file(file).ok_or_else(lost)?;
    let module = module_identity(&file.path, &file.language, &file.facts.symbols);
    Ok(SymbolIdentity { path: Some(file.path.clone()), ..module })
}

/// The names and ids of the module of a file.
pub(crate) fn module_identity(path: &str, language: &str, symbols: &[Symbol]) -> SymbolIdentity {
    let file = path.rsplit('/').next().unwrap_or(path);
    let is_top =
        |symbol: &&Symbol| Symbol::naming_ancestor(symbols, symbol.parent).is_none() && symbol.kind.can_be_named();
    let top = symbols.iter().find(is_top);
    let around = top.and_then(|symbol| symbol.qualified_name.strip_suffix(&symbol.name));
    let around = around.map(|around| around.trim_end_matches([':', '.'])).filter(|around| !around.is_empty());
    // A file without symbols is identified by its path alone.
    let stem = file.split('.').find(|part| !part.is_empty() && top.is_some()).unwrap_or(file);
    let qualified = around.unwrap_or(if top.is_some() { stem } else { path });
    let nowhere = Span { start: 0, end: 0 };
    let module = Symbol {
        kind: SymbolKind::Module,
        name: stem.to_owned(),
        qualified_name: qualified.to_owned(),
        parent: None,
        impl_trait: None,
        ordinal: 0,
        signature: String::new(),
        visibility_text: None,
        visibility: None,
        lines: Lines { start: 1, end: 1 },
        span: nowhere,
        outer_start: 0,
        name_span: nowhere,
        name_line: 1,
        name_column: 0,
        doc: None,
        annotation: None,
        value: None,
        owner: None,
        bases: Vec::new(),
        header: None,
        flags: Flags::default(),
        content_hash: 0,
        in_test: false,
    };
    identity(path, language, &module)
}

/// Why a reference is unresolved.
pub(crate) fn unresolved_reason(site: &Site) -> String {
    match site.is_only {
        true => format!("the only member of that name in the repository; {}", site.why),
        false => site.why.to_owned(),
    }
}

/// The classification of all occurrences of a name.
pub fn counts(counts: &Counts) -> wire::Counts {
    let Counts { definitions, proved, elsewhere, outside, undecided, beyond } = *counts;
    wire::Counts { definitions, proved, elsewhere, outside, undecided, beyond }
}

/// The maximum number of other symbols with the same name that are listed.
pub const MAX_OTHERS: usize = 10;

/// The other symbols with the same name, for an answer that chose one of them.
pub(crate) fn load_others(graph: &Graph<'_>, others: &[SymbolAt]) -> Result<Vec<GraphSymbol>, AppError> {
    others.iter().take(MAX_OTHERS).map(|at| GraphSymbol::load(graph, *at)).collect()
}

/// The same for an answer.
pub(crate) fn summaries(symbols: &[GraphSymbol]) -> Vec<SymbolSummary> {
    symbols.iter().map(GraphSymbol::summary).collect()
}

/// The other symbols with the same name in a line, by location.
pub(crate) fn others_text(others: &[GraphSymbol]) -> String {
    if others.is_empty() {
        return String::new();
    }
    format!("others with this name: {}\n", locations_text(others.iter()))
}

/// The locations of symbols in a line.
pub(crate) fn locations_text<'s>(symbols: impl Iterator<Item = &'s GraphSymbol>) -> String {
    super::rows::locations(symbols.map(|one| (one.file.path.as_str(), one.symbol().lines.start, String::new())))
}

/// A warning that names the chosen symbol.
pub(crate) fn chosen_warning(shown: &GraphSymbol, name: &str, count: usize) -> String {
    let symbol = shown.symbol();
    format!(
        "{count} symbols are called {name}; showing {} ({}:{}); give `path` or a symbol_id for another",
        symbol.qualified_name, shown.file.path, symbol.lines.start
    )
}

/// A line of a file, trimmed and cut to a readable length.
pub(crate) fn source_line(snapshot: &Snapshot, file: VersionId, line: u32) -> Result<String, AppError> {
    let text = snapshot.text(file)?;
    let line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
    Ok(super::shape::truncate(line.trim(), 160))
}

//! Runs tree-sitter within budgets of steps and memory that depend only on the length of the text.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser};

use crate::Language;
use crate::parser_memory::{self, Usage};
use crate::preprocessor::Repair;
use crate::tree::{Tables, Tree};

/// The step budget of a parse. It is counted in progress reports of the parser, one per hundred steps and some 30 µs,
/// and never in time, so that the same bytes give the same facts on a slow machine. Real files need at most one report
/// per 40 bytes.
const BASE_REPORTS: usize = 20_000;

/// The number of bytes of text that add one report to the budget.
const BYTES_PER_REPORT: usize = 8;

/// The number of bytes of a fragment that cost one report when it is parsed again, however early the parser stops.
const BYTES_PER_CHARGE: usize = 256;

/// The lexer reads the text in blocks of this many bytes, each on demand.
const BYTES_PER_READ: usize = 1024;

/// The number of blocks that cost one report. A single step may read to the end of the text (it checks after all
/// comments whether a statement ends there), and in a hostile text each step may do so.
const READS_PER_REPORT: usize = 8;

/// Memory that the parser may hold per byte of text it has read. Real files need 70.
const MEMORY_PER_BYTE: usize = 160;

/// Memory that the parser may hold in addition, in bytes. Real files need 80 KiB. At the end of a text with errors the
/// parser processes its stack within one step, and takes up to a hundred times its previous memory.
const MAX_EXCESS: usize = 1 << 20;

/// The number of allocated bytes that cost one report. Error recovery copies the stack within a step, so steps alone do
/// not bound its time.
const ALLOCATED_PER_REPORT: usize = 64 << 10;

/// The budget that a parse exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The number of steps, or the caller cancelled.
    Steps,
    /// The memory that the parser may hold.
    Memory,
}

struct ParserWorker {
    /// The first extension: unlike the name, no two grammars share it.
    extension: Option<&'static str>,
    /// New for every file: a used parser keeps memory, so its usage would depend on the previous files.
    parser: Parser,
    tables: Tables,
    tree: Tree,
}

thread_local! {
    static WORKERS: RefCell<Vec<ParserWorker>> = const { RefCell::new(Vec::new()) };
}

/// Parses a text and passes the flat tree on, unless a budget was exceeded or `go_on` returned `false`.
pub(crate) fn with_flat_tree<T>(
    language: &Language,
    text: &str,
    go_on: &dyn Fn() -> bool,
    look: impl FnOnce(&Tree) -> T,
) -> Result<T, Exceeded> {
    let done = with_worker(language, |worker| {
        let repaired = repaired(language, text);
        let parsed = parse(&mut worker.parser, repaired.as_ref().map_or(text, |repair| repair.text.as_str()), go_on)?;
        worker.tree.fill(&parsed, &worker.tables, 0);
        let is_original = worker.tree.errors.count > 0
            && repaired.is_some()
            && language.grammar.retries
            && retry(worker, text, &parsed, go_on);
        if let Some(repair) = repaired.filter(|_| !is_original) {
            worker.tree.add_blanked(repair);
        }
        drop(parsed);
        Ok(look(&worker.tree))
    });
    done.unwrap_or(Err(Exceeded::Steps))
}

/// Returns the text as the language rewrites it for the parser.
fn repaired(language: &Language, text: &str) -> Option<Repair> {
    language.grammar.repair.and_then(|repair| repair(text)).filter(|repair| repair.text.len() == text.len())
}

/// Parses the original text after its repaired form had errors, and uses that tree unless it has more of them. Returns
/// whether it does.
fn retry(worker: &mut ParserWorker, text: &str, repaired: &tree_sitter::Tree, go_on: &dyn Fn() -> bool) -> bool {
    let errors = worker.tree.errors.count;
    let Ok(original) = parse(&mut worker.parser, text, go_on) else {
        return false;
    };
    worker.tree.fill(&original, &worker.tables, 0);
    if worker.tree.errors.count > errors {
        worker.tree.fill(repaired, &worker.tables, 0);
        return false;
    }
    true
}

/// Parses a text and passes tree-sitter's own tree on; `None` if the budget was exceeded.
pub(crate) fn with_tree<T>(language: &Language, text: &str, look: impl FnOnce(&tree_sitter::Tree) -> T) -> Option<T> {
    with_worker(language, |worker| parse(&mut worker.parser, text, &|| true).ok().map(|tree| look(&tree)))?
}

/// Parses a text as [`with_flat_tree`] does, and passes tree-sitter's own tree on, with the repaired text if the tree
/// is of that.
pub(crate) fn with_best_tree<T>(
    language: &Language,
    text: &str,
    go_on: &dyn Fn() -> bool,
    look: impl FnOnce(&tree_sitter::Tree, Option<&str>) -> T,
) -> Option<T> {
    with_worker(language, |worker| {
        let mut repaired = repaired(language, text).map(|repair| repair.text);
        let mut parsed = parse(&mut worker.parser, repaired.as_deref().unwrap_or(text), go_on).ok()?;
        if parsed.root_node().has_error() && repaired.is_some() && language.grammar.retries {
            let mut errors = |tree: &tree_sitter::Tree| {
                worker.tree.fill(tree, &worker.tables, 0);
                worker.tree.errors.count
            };
            let before = errors(&parsed);
            let original = parse(&mut worker.parser, text, go_on).ok();
            if let Some(original) = original.filter(|original| errors(original) <= before) {
                (parsed, repaired) = (original, None);
            }
        }
        Some(look(&parsed, repaired.as_deref()))
    })?
}

/// Loads the grammar and parses a line.
pub(crate) fn check(language: &Language) -> Result<(), String> {
    let mut parser = new_parser();
    parser.set_language(&(language.grammar.load)()).map_err(|error| error.to_string())?;
    parse(&mut parser, "x\n", &|| true).map(|_| ()).map_err(|_| "the parser returned no tree".to_owned())
}

/// Parses fragments of a file again, with another interpretation than the grammar's. All fragments share one budget.
pub(crate) struct FragmentParser<'w> {
    parser: &'w mut Parser,
    tables: &'w Tables,
    reports_left: usize,
}

impl FragmentParser<'_> {
    /// Parses a fragment at this offset of the file. Returns `false`, with an empty tree, if it has a syntax error or
    /// the budget is used up.
    pub(crate) fn parse(&mut self, piece: &str, offset: u32, tree: &mut Tree) -> bool {
        tree.clear();
        self.reports_left = self.reports_left.saturating_sub(1 + piece.len() / BYTES_PER_CHARGE);
        if self.reports_left == 0 {
            return false;
        }
        let parsed = run(self.parser, piece, &mut self.reports_left, |state| !state.has_error());
        let parsed = parsed.ok().filter(|parsed| !parsed.root_node().has_error());
        if let Some(parsed) = &parsed {
            tree.fill(parsed, self.tables, offset);
        }
        parsed.is_some()
    }
}

/// Provides a fragment parser for a file with this many bytes.
pub(crate) fn with_fragment_parser<T>(
    language: &Language,
    bytes: usize,
    work: impl FnOnce(&mut FragmentParser<'_>) -> T,
) -> Option<T> {
    with_worker(language, |worker| {
        let reports_left = BASE_REPORTS / 10 + bytes / BYTES_PER_REPORT;
        work(&mut FragmentParser { parser: &mut worker.parser, tables: &worker.tables, reports_left })
    })
}

/// Provides a free parser of this thread for a language; `None` if the grammar is incompatible with the library, which
/// [`check`] reports.
fn with_worker<T>(language: &Language, work: impl FnOnce(&mut ParserWorker) -> T) -> Option<T> {
    let free = WORKERS.with_borrow_mut(|workers| {
        let at = workers.iter().position(|worker| worker.extension == language.extensions.first().copied())?;
        Some(workers.swap_remove(at))
    });
    let mut parser = new_parser();
    let loaded = (language.grammar.load)();
    parser.set_language(&loaded).ok()?;
    let mut worker = match free {
        Some(worker) => ParserWorker { parser, ..worker },
        None => ParserWorker {
            extension: language.extensions.first().copied(),
            parser,
            tables: Tables::new(&language.grammar, &loaded),
            tree: Tree::default(),
        },
    };
    let done = work(&mut worker);
    WORKERS.with_borrow_mut(|workers| workers.push(worker));
    Some(done)
}

fn new_parser() -> Parser {
    parser_memory::install();
    Parser::new()
}

fn parse(parser: &mut Parser, text: &str, go_on: &dyn Fn() -> bool) -> Result<tree_sitter::Tree, Exceeded> {
    let mut budget = BASE_REPORTS + text.len() / BYTES_PER_REPORT + 1;
    run(parser, text, &mut budget, |_| go_on())
}

/// Runs the parser until a budget is used up or `go_on`, called once per report, returns `false`.
fn run(
    parser: &mut Parser,
    text: &str,
    budget: &mut usize,
    go_on: impl Fn(&tree_sitter::ParseState) -> bool,
) -> Result<tree_sitter::Tree, Exceeded> {
    let left = Cell::new(*budget);
    let memory = MemoryBudget::new();
    let spend = |reports: usize| {
        left.set(left.get().saturating_sub(reports));
        left.get() > 0
    };
    let mut watch = |state: &tree_sitter::ParseState| {
        let reports = 1 + memory.reports();
        match memory.suffices(state.current_byte_offset()) && spend(reports) && go_on(state) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    // Every parse reads the whole text a few times, which its steps pay for.
    let free_reads = 1 + text.len() / BYTES_PER_CHARGE;
    let mut reads = 0;
    let mut read = |at: usize, _| {
        reads += 1;
        let is_free = reads <= free_reads || !reads.is_multiple_of(READS_PER_REPORT);
        // With an empty budget the text appears to end, so every read loop ends as well.
        if left.get() > 0 && (is_free || spend(1)) { chunk_at(text, at) } else { &[] }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    *budget = left.get();
    // A tree of a truncated text is not a tree of this text.
    let tree = tree.filter(|_| *budget > 0);
    if tree.is_none() {
        parser.reset();
    }
    tree.ok_or(if memory.excess.get() > MAX_EXCESS { Exceeded::Memory } else { Exceeded::Steps })
}

/// The memory that one parse may hold. Memory that one part of the text does not use is not available for the rest,
/// since the cost of a stack with errors grows with its square.
struct MemoryBudget {
    /// The farthest offset in the text, and the memory in use at the last check.
    last: Cell<(usize, usize)>,
    /// Memory in use beyond the allowance of the text.
    excess: Cell<usize>,
    /// Allocated bytes of this thread that were already charged.
    charged: Cell<usize>,
}

impl MemoryBudget {
    fn new() -> Self {
        let Usage { live, allocated } = parser_memory::usage();
        Self { last: Cell::new((0, live)), excess: Cell::new(0), charged: Cell::new(allocated) }
    }

    /// Whether the parser, at this offset, holds no more memory than allowed.
    fn suffices(&self, offset: usize) -> bool {
        let live = parser_memory::usage().live;
        let (last_offset, last_live) = self.last.get();
        // The parser may go back to follow another interpretation of the text.
        let read = offset.saturating_sub(last_offset);
        self.last.set((last_offset + read, live));
        let excess = (self.excess.get() + live).saturating_sub(last_live + read * MEMORY_PER_BYTE);
        self.excess.set(excess);
        excess <= MAX_EXCESS
    }

    /// Returns the number of reports that the memory allocated since the last call costs.
    fn reports(&self) -> usize {
        let reports = parser_memory::usage().allocated.wrapping_sub(self.charged.get()) / ALLOCATED_PER_REPORT;
        self.charged.set(self.charged.get().wrapping_add(reports * ALLOCATED_PER_REPORT));
        reports
    }
}

/// Returns the text from an offset on, at most one block, in whole characters.
fn chunk_at(text: &str, at: usize) -> &[u8] {
    let mut end = text.len().min(at + BYTES_PER_READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.as_bytes().get(at..end).unwrap_or_default()
}

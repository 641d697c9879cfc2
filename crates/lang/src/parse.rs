//! Running tree-sitter: a parser per thread and language, and a budget for hostile input.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser};

use crate::Language;
use crate::tree::{Tables, Tree};

/// The budget of a parse is counted in reports of the parser, one per hundred steps and some 30 µs, so that the same bytes
/// give the same facts on a slow machine. Real files need at most one report per 40 bytes.
const REPORTS_FREE: usize = 20_000;

/// So many bytes of text earn one more report.
const BYTES_PER_REPORT: usize = 8;

/// The last resort, should single steps become slow.
const TIME_LIMIT: Duration = Duration::from_secs(20);

struct Worker {
    /// The first extension: unlike the name, no two grammars share it.
    extension: Option<&'static str>,
    parser: Parser,
    tables: Tables,
    tree: Tree,
}

thread_local! {
    static WORKERS: RefCell<Vec<Worker>> = const { RefCell::new(Vec::new()) };
}

/// Parses a text and shows the flat tree; `None` when the budget was used up.
pub(crate) fn with_flat_tree<T>(language: &Language, text: &str, look: impl FnOnce(&Tree) -> T) -> Option<T> {
    with_worker(language, |worker| {
        let repaired = language.grammar.repair.and_then(|repair| repair(text)).filter(|it| it.len() == text.len());
        let parsed = parse(&mut worker.parser, repaired.as_deref().unwrap_or(text))?;
        worker.tree.fill(&parsed, &worker.tables);
        if worker.tree.errors.count > 0 && repaired.is_some() {
            retry(worker, text, &parsed);
        }
        drop(parsed);
        Some(look(&worker.tree))
    })?
}

/// Parses the text as it is, after its repaired form had errors, and takes that tree unless it has more of them.
fn retry(worker: &mut Worker, text: &str, repaired: &tree_sitter::Tree) {
    let errors = worker.tree.errors.count;
    let Some(original) = parse(&mut worker.parser, text) else {
        return;
    };
    worker.tree.fill(&original, &worker.tables);
    if worker.tree.errors.count > errors {
        worker.tree.fill(repaired, &worker.tables);
    }
}

/// Parses a text and shows tree-sitter's own tree; `None` when the budget was used up.
pub(crate) fn with_tree<T>(language: &Language, text: &str, look: impl FnOnce(&tree_sitter::Tree) -> T) -> Option<T> {
    with_worker(language, |worker| parse(&mut worker.parser, text).map(|tree| look(&tree)))?
}

/// Loads the grammar and parses a line.
pub(crate) fn check(language: &Language) -> Result<(), String> {
    let mut parser = Parser::new();
    parser.set_language(&(language.grammar.load)()).map_err(|error| error.to_string())?;
    parse(&mut parser, "x\n").map(|_| ()).ok_or_else(|| "the parser gave no tree".to_owned())
}

/// Hands out this thread's parser of a language; `None` when the grammar does not fit the library, which
/// [`check`] reports.
fn with_worker<T>(language: &Language, work: impl FnOnce(&mut Worker) -> T) -> Option<T> {
    WORKERS.with_borrow_mut(|workers| {
        let at = match workers.iter().position(|worker| worker.extension == language.extensions.first().copied()) {
            Some(at) => at,
            None => {
                workers.push(start(language)?);
                workers.len() - 1
            }
        };
        Some(work(&mut workers[at]))
    })
}

fn start(language: &Language) -> Option<Worker> {
    let loaded = (language.grammar.load)();
    let mut parser = Parser::new();
    parser.set_language(&loaded).ok()?;
    let tables = Tables::new(&language.grammar, &loaded);
    Some(Worker { extension: language.extensions.first().copied(), parser, tables, tree: Tree::default() })
}

fn parse(parser: &mut Parser, text: &str) -> Option<tree_sitter::Tree> {
    let bytes = text.as_bytes();
    let budget = REPORTS_FREE + bytes.len() / BYTES_PER_REPORT;
    let started = Instant::now();
    let mut reports = 0;
    let mut watch = |_: &tree_sitter::ParseState| {
        reports += 1;
        let late = reports % 1024 == 0 && started.elapsed() > TIME_LIMIT;
        if reports > budget || late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or(&[]), None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

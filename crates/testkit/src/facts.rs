//! Invariants of the facts of any file, for all possible bytes.
//!
//! The extraction tests and the fuzz target check them on complete, truncated, mutated and random files.

use std::collections::HashSet;

use codecompass_model::{Expr, ExprId, FileFacts, LexicalTarget, LineOwners, Lines, MacroTree, Span, ValuePart};

/// Maximum size in bytes of a chunk with more than one line.
const MAX_CHUNK: usize = 1500;

/// Panics when the facts of a file are not valid; `text` is the text that they were extracted from.
pub fn check_facts(path: &str, text: &str, facts: &FileFacts) {
    let file = CheckedFile { path, text, facts, starts: line_starts(text) };
    check_symbols(&file);
    check_exprs(&file);
    check_references(&file);
    check_calls(&file);
    check_bindings(&file);
    check_imports(&file);
    check_chunks(&file);
}

struct CheckedFile<'f> {
    path: &'f str,
    text: &'f str,
    facts: &'f FileFacts,
    starts: Vec<usize>,
}

fn line_starts(text: &str) -> Vec<usize> {
    let after = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

impl CheckedFile<'_> {
    /// Whether a range is in the text, on character boundaries.
    fn has(&self, span: Span) -> bool {
        span.start <= span.end && self.text.get(span.start as usize..span.end as usize).is_some()
    }

    fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset as usize) as u32
    }

    fn is_line(&self, line: u32) -> bool {
        line >= 1 && line <= self.facts.lines
    }

    fn is_name(&self, index: Option<u32>) -> bool {
        index.is_none_or(|index| (index as usize) < self.facts.names.len())
    }

    /// Whether the expression exists.
    fn is_expr(&self, id: Option<ExprId>) -> bool {
        id.is_none_or(|id| (id.0 as usize) < self.facts.exprs.len())
    }

    fn is_symbol(&self, index: Option<u32>) -> bool {
        index.is_none_or(|index| (index as usize) < self.facts.symbols.len())
    }
}

/// Checks that parents precede children, symbols are in source order, spans are on character boundaries, and symbols
/// are unique.
fn check_symbols(file: &CheckedFile<'_>) {
    let path = file.path;
    let mut seen = HashSet::new();
    let mut last = 0;
    for (index, symbol) in file.facts.symbols.iter().enumerate() {
        assert!(file.has(symbol.span) && file.has(symbol.name_span), "{path}: {symbol:?}");
        assert!(symbol.doc.is_none_or(|doc| file.has(doc) && doc.start < doc.end), "{path}: {symbol:?}");
        let is_border = file.text.is_char_boundary(symbol.outer_start as usize);
        assert!(symbol.outer_start <= symbol.span.start && is_border, "{path}: {symbol:?}");
        assert!(symbol.parent.is_none_or(|parent| (parent as usize) < index), "{path}: {symbol:?}");
        assert!(symbol.span.start >= last, "{path}: out of order: {symbol:?}");
        last = symbol.span.start;
        assert_eq!(symbol.lines.start, file.line(symbol.span.start), "{path}: {symbol:?}");
        assert!(symbol.lines.start <= symbol.lines.end && symbol.lines.end <= file.facts.lines, "{path}: {symbol:?}");
        assert_eq!(symbol.name_line, file.line(symbol.name_span.start), "{path}: {symbol:?}");
        assert!(!symbol.name.is_empty() && !symbol.signature.contains('\n'), "{path}: {symbol:?}");
        let exprs = [symbol.annotation, symbol.value, symbol.owner, symbol.header];
        let bases = symbol.bases.iter().map(|base| Some(*base));
        assert!(exprs.into_iter().chain(bases).all(|expr| file.is_expr(expr)), "{path}: {symbol:?}");
        let identity = (symbol.kind, &symbol.qualified_name, &symbol.impl_trait, symbol.ordinal);
        assert!(seen.insert(identity), "{path}: not unique: {symbol:?}");
    }
}

/// Checks that expressions are unique, refer only to existing items, and follow their parts.
fn check_exprs(file: &CheckedFile<'_>) {
    let (path, facts) = (file.path, file.facts);
    let mut seen = HashSet::new();
    for (at, expr) in facts.exprs.iter().enumerate() {
        assert!(seen.insert(expr), "{path}: twice: {expr:?}");
        let is_before = |id: &ExprId| (id.0 as usize) < at;
        let holds = match expr {
            Expr::Text(name) => file.is_name(Some(*name)),
            Expr::Name { name, seen } => {
                file.is_name(Some(*name))
                    && match seen {
                        LexicalTarget::NotLocal => true,
                        LexicalTarget::Local(binding) => (*binding as usize) < facts.bindings.len(),
                        LexicalTarget::Symbol(symbol) => file.is_symbol(Some(*symbol)),
                    }
            }
            Expr::Member { of, name } => is_before(of) && file.is_name(Some(*name)),
            Expr::Call { callee: of, args } | Expr::Index { of, by: args } | Expr::Apply { of, args } => {
                is_before(of) && args.iter().all(is_before)
            }
            Expr::Slice(of) | Expr::New(of) | Expr::Cast(of) | Expr::List(of) | Expr::Lambda(of) => is_before(of),
            Expr::Wrap { of, .. } => is_before(of),
            Expr::Part { of, part: ValuePart::Field(name) } => is_before(of) && file.is_name(Some(*name)),
            Expr::Part { of, .. } => is_before(of),
            Expr::Map { key, value } => is_before(key) && is_before(value),
            Expr::Func(of) => of.params.iter().chain(&of.results).all(is_before),
            Expr::Inline(span) => file.has(*span),
            Expr::Literal(_) | Expr::Other | Expr::This | Expr::Super => true,
            Expr::Either(of) => of.iter().all(is_before),
            Expr::Closure { back, .. } => back.iter().all(is_before),
            Expr::Argument { callee, given, .. } => is_before(callee) && given.iter().all(is_before),
            Expr::ParamOf { of, .. } => is_before(of),
            Expr::Module(name) | Expr::Hole(name) => file.is_name(Some(*name)),
            Expr::Tuple(of) => of.iter().all(is_before),
            Expr::Path { of, name } => is_before(of) && file.is_name(Some(*name)),
            Expr::Expand(call) => is_before(&call.path) && are_before(file, &call.given, at),
            Expr::Rules(rules) => {
                rules.iter().all(|rule| rule.value.iter().all(is_before) && are_before(file, &rule.matcher, at))
            }
        };
        assert!(holds, "{path}: {expr:?}");
    }
}

/// Returns whether the expressions of a macro's tokens come before `at`, and its names exist.
fn are_before(file: &CheckedFile<'_>, trees: &[MacroTree], at: usize) -> bool {
    let mut holds = true;
    MacroTree::visit(trees, &mut |expr, name| {
        holds &= expr.is_none_or(|id| (id.0 as usize) < at) && name.is_none_or(|name| file.is_name(Some(name)));
    });
    holds
}

/// Checks that references are in source order, each at an occurrence of its name.
fn check_references(file: &CheckedFile<'_>) {
    let (path, facts) = (file.path, file.facts);
    let mut last = (0, 0);
    for reference in &facts.references {
        let name = &facts.names[reference.name as usize];
        let start = file.starts[reference.line as usize - 1] + reference.column as usize;
        let rest = file.text.get(start..);
        assert!(rest.is_some_and(|rest| rest.starts_with(name.as_str())), "{path}: {name} {reference:?}");
        assert!(!name.contains('\n') && file.is_expr(reference.qualifier), "{path}: {name} {reference:?}");
        assert!(file.is_symbol(reference.symbol), "{path}: {name} {reference:?}");
        let is_binding = reference.binding.is_none_or(|binding| (binding as usize) < facts.bindings.len());
        assert!(is_binding, "{path}: {name} {reference:?}");
        assert!((reference.line, reference.column) >= last, "{path}: out of order: {name} {reference:?}");
        last = (reference.line, reference.column);
    }
}

/// Checks that calls are in the order of their references, at most one for each.
fn check_calls(file: &CheckedFile<'_>) {
    let (path, facts) = (file.path, file.facts);
    assert!(facts.calls.is_sorted_by(|a, b| a.0 < b.0), "{path}: {:?}", facts.calls);
    for (reference, call) in &facts.calls {
        let is_there = (*reference as usize) < facts.references.len() && file.is_expr(Some(*call));
        assert!(is_there, "{path}: {reference} {call:?}");
    }
    assert!(file.is_expr(facts.value), "{path}: {:?}", facts.value);
    assert!(facts.block_targets.is_sorted_by(|a, b| a.0 < b.0), "{path}: {:?}", facts.block_targets);
    for (reference, symbol) in &facts.block_targets {
        let is_there = (*reference as usize) < facts.references.len() && file.is_symbol(Some(*symbol));
        assert!(is_there, "{path}: {reference} {symbol}");
    }
}

fn check_bindings(file: &CheckedFile<'_>) {
    for binding in &file.facts.bindings {
        let has_names =
            file.is_name(Some(binding.name)) && file.is_expr(binding.annotation) && file.is_expr(binding.value);
        assert!(has_names && file.is_symbol(binding.symbol), "{}: {binding:?}", file.path);
        assert!(file.is_line(binding.line), "{}: {binding:?}", file.path);
    }
}

fn check_imports(file: &CheckedFile<'_>) {
    for import in &file.facts.imports {
        assert!(file.is_line(import.line) && file.is_symbol(import.symbol), "{}: {import:?}", file.path);
    }
}

/// Checks that chunks are whole lines in order and not too long, and that each line with text is in a chunk or a
/// symbol.
fn check_chunks(file: &CheckedFile<'_>) {
    let (path, text, facts) = (file.path, file.text, file.facts);
    let owners = LineOwners::new(text, &facts.symbols);
    let start = |line: u32| file.starts.get(line as usize - 1).copied().unwrap_or(text.len());
    let is_lost =
        |line: &u32| owners.owner_at(*line).is_none() && !text[start(*line)..start(*line + 1)].trim().is_empty();
    let mut next = 1;
    for chunk in &facts.chunks {
        let Lines { start: first, end: last } = chunk.lines;
        assert_eq!((next..first).find(is_lost), None, "{path}: a line in no chunk");
        assert!(next <= first && first <= last, "{path}: {chunk:?}");
        let bytes = (chunk.span.start as usize, chunk.span.end as usize);
        assert_eq!(bytes, (start(first), start(last + 1)), "{path}: {chunk:?}");
        let is_small = last == first || bytes.1 - bytes.0 <= MAX_CHUNK;
        assert!(is_small, "{path}: {} bytes in {chunk:?}", bytes.1 - bytes.0);
        let owned = (first..=last).find(|line| owners.owner_at(*line).is_some());
        assert_eq!(owned, None, "{path}: {chunk:?} has a symbol's line");
        next = last + 1;
    }
    assert_eq!((next..=facts.lines).find(is_lost), None, "{path}: a line in no chunk");
}

//! The facts of one file while they are being collected.
//!
//! A language's walk reports what it finds to the draft, in source order. The draft tracks lines, names, the enclosing
//! symbol and the limits, and completes the facts at the end.

mod input;

use std::collections::HashSet;
use std::sync::Arc;

use codecompass_model::{
    Binding, BindingKind, Expr, ExprId, FileFacts, Flags, Import, LexicalTarget, Lines, Problem, ProblemKind, RefShape,
    Reference, Span, Symbol, SymbolKind, ValuePart,
};

use crate::exprs::ExprArena;
use crate::interner::Interner;
use crate::lines::LineStarts;
use crate::locals::Locals;
use crate::tree::{Grammar, ProblemCount, Tree};
use crate::unreferenced::UnreferencedName;
use crate::{identity, text, unreferenced};
pub(crate) use input::{ExprInput, NewBinding, NewSymbol, SymbolExtras};

/// The maximum number of symbols; more than any hand-written file has.
const MAX_SYMBOLS: usize = 100_000;

/// The maximum number of references; more than any hand-written file has.
const MAX_REFERENCES: usize = 1_000_000;

/// The maximum nesting of symbols. Deeper ones are dropped: their qualified names would grow with the square of the
/// depth.
const MAX_NESTING: usize = 64;

/// A symbol that is still open, and the index of the first node after it.
struct OpenSymbol {
    symbol: u32,
    end: usize,
}

/// The number of open symbols and blocks at some point of the walk.
#[derive(Clone, Copy)]
pub(crate) struct OpenCounts {
    scopes: usize,
    blocks: usize,
}

impl OpenCounts {
    /// Whether more blocks were open than at another point.
    pub(crate) fn is_inside(&self, other: Self) -> bool {
        self.blocks > other.blocks
    }
}

/// The facts of one file under construction.
pub(crate) struct Draft<'t> {
    pub(crate) path: &'t str,
    /// Whether the path is a test path by the conventions of all languages.
    pub(crate) has_test_path: bool,
    pub(crate) text: &'t str,
    lines: &'t LineStarts,
    prefix: String,
    /// Whether the whole file is test code.
    is_test: bool,
    facts: FileFacts,
    names: Interner,
    exprs: ExprArena,
    scopes: Vec<OpenSymbol>,
    locals: Locals,
    /// Whether a type may refer to any local binding.
    types_are_values: bool,
    /// Whether any closure has an implicit receiver.
    has_implicit_this: bool,
    attributes: Vec<(u32, Span)>,
    /// Start offsets of declared names with the binding each declares; `None` for labels.
    declared_names: Vec<(u32, Option<u32>)>,
    /// Start offsets of names that are not recognisable by node kind alone.
    extra_names: Vec<u32>,
    /// Occurrences of symbol names outside the code.
    mentions: Vec<Span>,
    /// Reference numbers with the call of each.
    calls: Vec<(u32, ExprId)>,
    /// Reference numbers with the block-level symbol that each resolves to.
    block_targets: Vec<(u32, u32)>,
    reference_line: u32,
    reference_start: u32,
    too_many: ProblemCount,
    too_deep: ProblemCount,
}

impl<'t> Draft<'t> {
    pub(crate) fn new((path, has_test_path): (&'t str, bool), text: &'t str, lines: &'t LineStarts) -> Self {
        Self {
            path,
            has_test_path,
            text,
            lines,
            prefix: String::new(),
            is_test: false,
            facts: FileFacts { lines: lines.count(), ..FileFacts::default() },
            names: Interner::default(),
            exprs: ExprArena::default(),
            scopes: Vec::new(),
            locals: Locals::default(),
            types_are_values: false,
            has_implicit_this: false,
            attributes: Vec::new(),
            declared_names: Vec::new(),
            extra_names: Vec::new(),
            mentions: Vec::new(),
            calls: Vec::new(),
            block_targets: Vec::new(),
            reference_line: 1,
            reference_start: 0,
            too_many: ProblemCount::default(),
            too_deep: ProblemCount::default(),
        }
    }

    /// Sets the file's part of all qualified names.
    pub(crate) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Returns the file's part of all qualified names.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the imports so far.
    pub(crate) fn imports(&self) -> &[Import] {
        &self.facts.imports
    }

    /// Returns the index of the innermost open class, enum, interface, struct or trait.
    pub(crate) fn enclosing_class_index(&self) -> Option<u32> {
        use SymbolKind::{Class, Enum, Interface, Struct, Trait};
        let is_class =
            |at: &u32| matches!(self.facts.symbols[*at as usize].kind, Class | Enum | Interface | Struct | Trait);
        self.scopes.iter().rev().map(|scope| scope.symbol).find(is_class)
    }

    /// Returns the name of the innermost open class, enum, interface, struct or trait.
    pub(crate) fn enclosing_class_name(&self) -> Option<&str> {
        self.enclosing_class_index().map(|at| self.facts.symbols[at as usize].name.as_str())
    }

    /// Marks all symbols from now on as test code.
    pub(crate) fn set_test(&mut self) {
        self.is_test = true;
    }

    /// From now on, types and values may refer to local bindings of any kind.
    pub(crate) fn types_are_values(&mut self) {
        self.types_are_values = true;
    }

    /// Returns the text of a range.
    pub(crate) fn slice(&self, span: Span) -> &'t str {
        span.text(self.text)
    }

    /// Returns the line of an offset.
    pub(crate) fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset)
    }

    /// Returns the offset of the first byte of the line of an offset.
    pub(crate) fn line_start(&self, offset: u32) -> u32 {
        self.lines.start(self.lines.line(offset))
    }

    /// Closes the symbols and blocks that end before this node.
    pub(crate) fn advance_to(&mut self, node: usize) {
        self.locals.advance_to(node);
        while self.scopes.last().is_some_and(|scope| scope.end <= node) {
            self.scopes.pop();
        }
    }

    /// Returns the innermost open symbol.
    pub(crate) fn enclosing(&self) -> Option<&Symbol> {
        self.enclosing_index().map(|index| &self.facts.symbols[index as usize])
    }

    /// Returns the index of the innermost open symbol.
    pub(crate) fn enclosing_index(&self) -> Option<u32> {
        self.scopes.last().map(|scope| scope.symbol)
    }

    /// Returns a symbol by its index.
    pub(crate) fn symbol_at(&self, index: u32) -> Option<&Symbol> {
        self.facts.symbols.get(index as usize)
    }

    /// Returns the innermost open symbol of some kind.
    pub(crate) fn enclosing_of_kind(&self, is_one: fn(SymbolKind) -> bool) -> Option<u32> {
        let mut open = self.scopes.iter().rev().map(|scope| scope.symbol);
        open.find(|&symbol| is_one(self.facts.symbols[symbol as usize].kind))
    }

    /// Returns the start of the last symbol. The next one must not begin before it.
    pub(crate) fn last_start(&self) -> u32 {
        self.facts.symbols.last().map_or(0, |symbol| symbol.span.start)
    }

    /// Adds a symbol below the innermost open one and keeps it open up to the node `end`; a leaf passes 0. Symbols
    /// without a name, which the parser invents in broken code, are dropped.
    pub(crate) fn symbol(&mut self, mut new: NewSymbol<'_>, end: usize) {
        if new.name.is_empty() {
            return;
        }
        // In broken code a declaration can begin before one that came earlier. Symbols stay in source order, so the
        // start moves; if even the name is before the last start, the symbol is dropped.
        if new.name_span.start < self.last_start() {
            return;
        }
        new.span.start = new.span.start.max(self.last_start());
        new.span.end = new.span.end.max(new.span.start);
        if self.facts.symbols.len() >= MAX_SYMBOLS {
            return self.too_many.record(new.span.start);
        }
        if self.scopes.len() >= MAX_NESTING {
            return self.too_deep.record(new.span.start);
        }
        let index = self.facts.symbols.len() as u32;
        let mut symbol = self.build_symbol(&new);
        symbol.annotation = self.lower_input(new.annotation);
        symbol.value = self.lower_input(new.value);
        let SymbolExtras { owner, bases, header, flags } = std::mem::take(&mut new.extras);
        (symbol.owner, symbol.bases, symbol.header, symbol.flags) = (owner, bases, header, flags);
        self.symbols_mut().push(symbol);
        self.attributes.extend(new.attributes.iter().map(|&span| (index, span)));
        if end > 0 {
            self.scopes.push(OpenSymbol { symbol: index, end });
        }
    }

    /// Returns the symbols. Nothing shares them before the facts are complete, so nothing is copied.
    fn symbols_mut(&mut self) -> &mut Vec<Symbol> {
        Arc::make_mut(&mut self.facts.symbols)
    }

    /// Returns the number of symbols so far.
    pub(crate) fn symbol_count(&self) -> u32 {
        self.facts.symbols.len() as u32
    }

    /// Sets the type and the owner of a symbol that was added already. Both may mention the symbol's own type
    /// parameters, so they are known only after it was added.
    pub(crate) fn annotate_symbol(&mut self, symbol: u32, annotation: ExprId, owner: Option<ExprId>) {
        if let Some(symbol) = self.symbols_mut().get_mut(symbol as usize) {
            (symbol.annotation, symbol.owner) = (Some(annotation), owner);
        }
    }

    /// Adds flags to a symbol that was added already.
    pub(crate) fn flag_symbol(&mut self, symbol: u32, flags: Flags) {
        if let Some(symbol) = self.symbols_mut().get_mut(symbol as usize) {
            symbol.flags = symbol.flags | flags;
        }
    }

    /// Sets the initial value of a symbol, or the value it returns.
    pub(crate) fn set_value(&mut self, symbol: u32, value: ExprId) {
        self.symbols_mut()[symbol as usize].value = Some(value);
    }

    /// Sets the value of a local binding.
    pub(crate) fn set_binding_value(&mut self, binding: u32, value: ExprId) {
        self.facts.bindings[binding as usize].value = Some(value);
    }

    /// Sets the bound of a type parameter; the bound may mention the parameter itself.
    pub(crate) fn set_bound(&mut self, binding: u32, bound: ExprId) {
        self.facts.bindings[binding as usize].annotation = Some(bound);
    }

    /// Sets the value that the file returns to code that loads it.
    pub(crate) fn set_file_value(&mut self, value: ExprId) {
        self.facts.value = Some(value);
    }

    /// Sets the call of a reference, by reference number.
    pub(crate) fn set_call(&mut self, reference: u32, call: ExprId) {
        self.calls.push((reference, call));
    }

    /// Sets the block-level symbol that a reference resolves to, by their numbers.
    pub(crate) fn set_block_target(&mut self, reference: u32, symbol: u32) {
        self.block_targets.push((reference, symbol));
    }

    /// Returns the lexical target of a name in the blocks around a node.
    pub(crate) fn lexical_target(&mut self, name: Span, node: usize) -> LexicalTarget {
        let name = self.names.intern(name.text(self.text));
        self.locals.lexical_target(name, node)
    }

    /// Returns the number of open symbols and blocks.
    pub(crate) fn open_counts(&self) -> OpenCounts {
        OpenCounts { scopes: self.scopes.len(), blocks: self.locals.depth() }
    }

    /// Closes the symbols and blocks opened since `open` was taken.
    pub(crate) fn close_to(&mut self, open: OpenCounts) {
        self.scopes.truncate(open.scopes);
        self.locals.close_to(open.blocks);
    }

    /// Closes the functions opened since `open` was taken, and all that is open but namespaces.
    pub(crate) fn close_functions(&mut self, open: OpenCounts) {
        let symbols = &self.facts.symbols;
        let is_namespace = |scope: &&OpenSymbol| symbols[scope.symbol as usize].kind == SymbolKind::Namespace;
        self.scopes.truncate(self.scopes.iter().take_while(is_namespace).count());
        self.locals.close_to(open.blocks);
    }

    /// Ends a symbol, and those in it, before an offset.
    pub(crate) fn end_before(&mut self, symbol: u32, offset: u32) {
        let end = self.text.get(..offset as usize).map_or(offset, |text| text.trim_end().len() as u32);
        for symbol in self.symbols_mut().iter_mut().skip(symbol as usize) {
            symbol.span.end = symbol.span.end.min(end.max(symbol.name_span.end));
        }
    }

    /// Adds a base type to the innermost open symbol.
    pub(crate) fn add_base(&mut self, base: ExprId) {
        if let Some(symbol) = self.enclosing_index() {
            self.symbols_mut()[symbol as usize].bases.push(base);
        }
    }

    /// Adds a leaf below the given symbol, which need not be the innermost open one, or at top level.
    pub(crate) fn member(&mut self, new: NewSymbol<'_>, parent: Option<u32>) {
        let scopes = std::mem::take(&mut self.scopes);
        self.scopes.extend(parent.map(|symbol| OpenSymbol { symbol, end: 0 }));
        self.symbol(new, 0);
        self.scopes = scopes;
    }

    fn build_symbol(&self, new: &NewSymbol<'_>) -> Symbol {
        let parent = self.enclosing();
        let qualified_name = match Symbol::naming_ancestor(&self.facts.symbols, self.enclosing_index())
            .map_or(self.prefix.as_str(), |around| &around.qualified_name)
        {
            "" => new.segment.to_owned(),
            around => [around, new.separator, new.segment].concat(),
        };
        let impl_trait = match &new.impl_trait {
            Some(own) => own.clone(),
            None => parent.and_then(|parent| parent.impl_trait.clone()),
        };
        let start = self.lines.line(new.span.start);
        let end = self.lines.line_from(start, new.span.end.saturating_sub(1).max(new.span.start));
        let name_line = self.lines.line_from(start, new.name_span.start);
        Symbol {
            kind: new.kind,
            name: new.name.to_owned(),
            qualified_name,
            parent: self.enclosing_index(),
            impl_trait,
            ordinal: 0,
            signature: new.signature.clone(),
            visibility_text: new.visibility_text.clone(),
            visibility: new.visibility,
            lines: Lines { start, end },
            span: new.span,
            outer_start: new.outer_start.min(new.span.start),
            name_span: new.name_span,
            name_line,
            name_column: new.name_span.start.saturating_sub(self.lines.start(name_line)),
            doc: new.doc,
            annotation: None,
            value: None,
            owner: None,
            bases: Vec::new(),
            header: None,
            flags: Flags::default(),
            content_hash: 0,
            in_test: self.is_test || new.is_test || parent.is_some_and(|parent| parent.in_test),
        }
    }

    /// Opens a lexical block up to the node `end`, where the names bound in it go out of scope. In a `closed` block the
    /// outer names are not visible, as in a function that is not a closure.
    pub(crate) fn block(&mut self, end: usize, closed: bool) {
        self.locals.open(end, closed);
    }

    /// Makes this name refer to a symbol or an import in the innermost open block, not to an outer local binding.
    pub(crate) fn hide(&mut self, name: Span, from: usize) {
        let word = self.names.intern(name.text(self.text));
        self.locals.hide(word, from);
    }

    /// Adds a local binding to the innermost open block. It shadows an outer one of the same name.
    pub(crate) fn bind(&mut self, new: NewBinding) {
        self.bind_indexed(new);
    }

    /// Adds a local binding like [`Draft::bind`] and returns its number.
    pub(crate) fn bind_indexed(&mut self, new: NewBinding) -> Option<u32> {
        let word = new.name.text(self.text);
        if word.is_empty() || word == "_" {
            return None;
        }
        if self.facts.bindings.len() >= MAX_REFERENCES {
            self.too_many.record(new.name.start);
            return None;
        }
        let name = self.names.intern(word);
        let (annotation, value) = (self.lower_input(new.annotation), self.lower_input(new.value));
        let binding = self.facts.bindings.len() as u32;
        let is_type = new.kind == BindingKind::TypeParam;
        self.locals.add(binding, name, is_type, new.from);
        self.declared_names.push((new.name.start, Some(binding)));
        self.facts.bindings.push(Binding {
            name,
            kind: new.kind,
            annotation,
            value,
            part: new.part,
            line: self.lines.line(new.name.start),
            symbol: self.enclosing_index(),
        });
        Some(binding)
    }

    /// Adds a local binding that does not occur in the text: a name that the language defines itself, or one with a
    /// better known type from here on.
    pub(crate) fn bind_implicit(
        &mut self,
        word: &str,
        at: u32,
        annotation: Option<ExprId>,
        from: usize,
    ) -> Option<u32> {
        if self.facts.bindings.len() >= MAX_REFERENCES {
            return None;
        }
        let name = self.names.intern(word);
        let binding = self.facts.bindings.len() as u32;
        self.has_implicit_this |= word == "this";
        self.locals.add(binding, name, false, from);
        self.facts.bindings.push(Binding {
            name,
            kind: BindingKind::Local,
            annotation,
            value: None,
            part: ValuePart::Whole,
            line: self.lines.line(at),
            symbol: self.enclosing_index(),
        });
        Some(binding)
    }

    /// Returns the implicit receiver of the closure around a node.
    pub(crate) fn implicit_this(&mut self, node: usize) -> Option<ExprId> {
        let id = if self.has_implicit_this { self.name_expr("this", node) } else { return None };
        matches!(self.expr_at(id), Expr::Name { seen: LexicalTarget::Local(_), .. }).then_some(id)
    }

    /// Marks the name at this span as a label that refers to nothing: a label of a statement, or an HTML element.
    pub(crate) fn mark_label(&mut self, name: Span) {
        self.declared_names.push((name.start, None));
    }

    /// Marks this span as a name although most nodes of its kind are not names, such as a shell word that is a command.
    /// Names must come in source order.
    pub(crate) fn mark_name(&mut self, name: Span) {
        self.extra_names.push(name.start);
    }

    /// Returns the number of local bindings so far.
    pub(crate) fn binding_count(&self) -> usize {
        self.facts.bindings.len()
    }

    /// Sets the type of the local bindings from `first` on, unless they have one.
    pub(crate) fn annotate(&mut self, first: usize, annotation: &str) {
        let annotation = self.text_as_expr(annotation);
        for binding in self.facts.bindings.iter_mut().skip(first) {
            binding.annotation.get_or_insert(annotation);
        }
    }

    /// Interns a word for a [`ValuePart::Field`].
    pub(crate) fn name(&mut self, span: Span) -> u32 {
        self.names.intern(span.text(self.text))
    }

    /// Interns a word.
    pub(crate) fn word(&mut self, word: &str) -> u32 {
        self.names.intern(word)
    }

    /// Returns a word by its number.
    pub(crate) fn word_at(&self, number: u32) -> &str {
        self.names.get(number)
    }

    /// Returns whether a local binding with this name is visible here.
    pub(crate) fn is_local(&mut self, name: Span) -> bool {
        let name = self.names.intern(name.text(self.text));
        self.locals.find(name, Some(false)).is_some()
    }

    /// Returns whether a type parameter with this name is visible here.
    pub(crate) fn is_type_parameter(&mut self, name: Span) -> bool {
        let name = self.names.intern(name.text(self.text));
        self.locals.find(name, Some(true)).is_some()
    }

    /// Returns whether the innermost open block itself has a local binding with this name.
    pub(crate) fn is_bound_here(&mut self, name: Span) -> bool {
        let name = self.names.intern(name.text(self.text));
        self.locals.is_bound_here(name)
    }

    /// Interns an expression in the arena. Its operands must be there already.
    pub(crate) fn expr(&mut self, expr: Expr) -> ExprId {
        self.exprs.intern(expr)
    }

    /// Returns an expression by its id.
    pub(crate) fn expr_at(&self, id: ExprId) -> &Expr {
        self.exprs.get(id)
    }

    /// Interns a bare name at a node, with its lexical target in the blocks around it.
    pub(crate) fn name_expr(&mut self, name: &str, node: usize) -> ExprId {
        let name = self.names.intern(name);
        let seen = self.locals.lexical_target(name, node);
        self.exprs.intern(Expr::Name { name, seen })
    }

    /// Interns a text as an expression that resolvers parse.
    pub(crate) fn text_as_expr(&mut self, text: &str) -> ExprId {
        let text = self.names.intern(text);
        self.exprs.text(text)
    }

    /// Interns the text of a range, folded to one line and limited in length.
    pub(crate) fn text_expr(&mut self, span: Option<Span>) -> Option<ExprId> {
        self.lower_input(span.map(ExprInput::Text))
    }

    /// Interns an expression or text from a walk. A text is folded to one line and limited in length.
    fn lower_input(&mut self, said: Option<ExprInput>) -> Option<ExprId> {
        match said? {
            ExprInput::Expr(id) => Some(id),
            ExprInput::Text(span) => {
                let text = text::qualifier(span.text(self.text));
                (!text.is_empty()).then(|| self.text_as_expr(&text))
            }
        }
    }

    /// Makes this name refer to a symbol in the innermost open block.
    pub(crate) fn declare(&mut self, name: Span, symbol: u32, from: usize) {
        let word = self.names.intern(name.text(self.text));
        self.locals.declare(word, symbol, from);
    }

    /// Adds a reference to the name at this span, with a receiver from the arena. References must come in source order.
    pub(crate) fn reference_with_receiver(&mut self, name: Span, shape: RefShape, qualifier: ExprId) {
        if let Some(index) = self.reference_name(name) {
            let binding = self.exprs.first_local(qualifier);
            self.add_reference(name, index, shape, Some(qualifier), binding);
        }
    }

    /// Adds a reference to the name at this span. References must come in source order.
    pub(crate) fn reference(&mut self, name: Span, shape: RefShape, qualifier: Option<Span>) {
        let Some(index) = self.reference_name(name) else { return };
        let binding = match qualifier {
            Some(span) => {
                let root = self.names.intern(text::first_name(span.text(self.text)));
                self.locals.find(root, None)
            }
            None if matches!(shape, RefShape::MacroCall | RefShape::Member) => None,
            None if self.types_are_values => self.locals.find(index, None),
            None => self
                .locals
                .find(index, Some(matches!(shape, RefShape::Type | RefShape::Extends | RefShape::Implements))),
        };
        let qualifier = self.lower_input(qualifier.map(ExprInput::Text));
        self.add_reference(name, index, shape, qualifier, binding);
    }

    /// Adds a reference to the name at this span, which is never a local binding. References must come in source order.
    pub(crate) fn reference_nonlocal(&mut self, name: Span, shape: RefShape) {
        if let Some(index) = self.reference_name(name) {
            self.add_reference(name, index, shape, None, None);
        }
    }

    /// Adds a call of the name at this span, which is never a local binding. References must come in source order.
    pub(crate) fn reference_to_function(&mut self, name: Span) {
        if let Some(index) = self.reference_name(name) {
            self.add_reference(name, index, RefShape::Call, None, None);
        }
    }

    /// Interns the name of a reference at this span; returns `None` if no reference can be added.
    fn reference_name(&mut self, name: Span) -> Option<u32> {
        if self.facts.references.len() >= MAX_REFERENCES {
            self.too_many.record(name.start);
            return None;
        }
        let word = name.text(self.text);
        // A name that comes late was there before: broken code can nest nodes that are read as a list.
        if word.is_empty() || name.start < self.reference_start {
            return None;
        }
        self.reference_start = name.start;
        Some(self.names.intern(word))
    }

    fn add_reference(
        &mut self,
        name: Span,
        index: u32,
        shape: RefShape,
        qualifier: Option<ExprId>,
        binding: Option<u32>,
    ) {
        self.reference_line = self.lines.line_from(self.reference_line, name.start);
        self.facts.references.push(Reference {
            name: index,
            shape,
            qualifier,
            line: self.reference_line,
            column: name.start - self.lines.start(self.reference_line),
            symbol: self.scopes.last().map(|scope| scope.symbol),
            binding,
            is_name: false,
        });
    }

    /// Returns the number of references so far.
    pub(crate) fn reference_count(&self) -> usize {
        self.facts.references.len()
    }

    /// Assigns the references from `from` on to the innermost open symbol: those in its attributes come before it.
    pub(crate) fn assign_references_to_enclosing(&mut self, from: usize) {
        let symbol = self.enclosing_index();
        for reference in self.facts.references.iter_mut().skip(from) {
            reference.symbol = symbol;
        }
    }

    /// Adds an import.
    pub(crate) fn import(&mut self, import: Import) {
        if import.name.as_deref() == Some("") {
            return;
        }
        if self.facts.imports.len() >= MAX_SYMBOLS {
            let start = self.lines.start(import.line);
            return self.too_many.record(start);
        }
        self.facts.imports.push(import);
    }

    /// Sets the words outside the code, in order. Words that are the name of a symbol or import of the file may refer
    /// to it.
    pub(crate) fn set_mentions(&mut self, words: Vec<Span>) {
        let named: HashSet<&str> = self.facts.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        // An import is mentioned by its alias, else by its last name.
        let imported =
            self.facts.imports.iter().filter_map(|import| import.alias.as_deref().or(import.name.as_deref()));
        let named: HashSet<&str> = named.into_iter().chain(imported).collect();
        self.mentions = words.into_iter().filter(|word| named.contains(word.text(self.text))).collect();
    }

    /// Completes the facts, except for the chunks.
    pub(crate) fn finish(mut self, tree: &Tree, grammar: &Grammar) -> FileFacts {
        self.add_remaining_references(tree, grammar);
        self.problem(ProblemKind::Syntax, tree.errors);
        self.problem(ProblemKind::TooDeep, if tree.too_deep.count > 0 { tree.too_deep } else { self.too_deep });
        self.problem(ProblemKind::TooMany, self.too_many);
        let symbols = Arc::make_mut(&mut self.facts.symbols);
        identity::assign_ordinals(symbols);
        identity::hash_contents(self.text, symbols, &self.attributes);
        self.facts.names = self.names.into_list();
        self.facts.exprs = self.exprs.into_list();
        self.facts
    }

    /// Adds a reference for every name that the walk did not report.
    fn add_remaining_references(&mut self, tree: &Tree, grammar: &Grammar) {
        let bound = std::mem::take(&mut self.declared_names);
        self.extra_names.sort_unstable();
        let (leaves, mut rest) =
            unreferenced::unreferenced_names(tree, grammar, self.text, &self.facts, self.lines, bound);
        let mentions = std::mem::take(&mut self.mentions).into_iter();
        rest.extend(mentions.map(|name| UnreferencedName {
            name,
            shape: RefShape::Mention,
            binding: None,
            symbol: None,
        }));
        rest.sort_by_key(|leaf| leaf.name.start);
        for reference in &mut self.facts.references {
            let start = self.lines.start(reference.line) + reference.column;
            reference.is_name = leaves.binary_search(&start).is_ok() || self.extra_names.binary_search(&start).is_ok();
        }
        let mut all = Vec::with_capacity(self.facts.references.len() + rest.len());
        let known = std::mem::take(&mut self.facts.references).into_iter().enumerate();
        let mut known = known.map(|(at, known)| (at as u32, known)).peekable();
        let mut places = vec![0; known.len()];
        for leaf in rest {
            let line = self.lines.line(leaf.name.start);
            let column = leaf.name.start - self.lines.start(line);
            while let Some((at, before)) = known.next_if(|(_, one)| (one.line, one.column) < (line, column)) {
                places[at as usize] = all.len() as u32;
                all.push(before);
            }
            let name = self.names.intern(leaf.name.text(self.text));
            let UnreferencedName { shape, binding, symbol, .. } = leaf;
            all.push(Reference { name, shape, qualifier: None, line, column, symbol, binding, is_name: true });
        }
        for (at, one) in known {
            places[at as usize] = all.len() as u32;
            all.push(one);
        }
        if all.len() > MAX_REFERENCES {
            let left = &all[MAX_REFERENCES];
            self.too_many.record(self.lines.start(left.line) + left.column);
            all.truncate(MAX_REFERENCES);
        }
        let calls = self.calls.iter().map(|(of, call)| (places[*of as usize], *call));
        self.facts.calls = calls.filter(|(of, _)| (*of as usize) < all.len()).collect();
        self.facts.calls.sort_by_key(|(of, _)| *of);
        self.facts.calls.dedup_by_key(|(of, _)| *of);
        let seen = self.block_targets.iter().map(|(of, symbol)| (places[*of as usize], *symbol));
        self.facts.block_targets = seen.filter(|(of, _)| (*of as usize) < all.len()).collect();
        self.facts.references = all;
    }

    fn problem(&mut self, kind: ProblemKind, trouble: ProblemCount) {
        if trouble.count > 0 {
            let line = self.lines.line(trouble.first);
            self.facts.problems.push(Problem { kind, line, count: trouble.count });
        }
    }
}

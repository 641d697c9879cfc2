//! The common parts of all symbols: their start, docs, header and visibility.

use codecompass_model::{Expr, Span, SymbolKind, ValuePart, Visibility};

use super::headers;
use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{Draft, ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;

/// The maximum length of a value in the signature of a variable; longer values are left out.
const MAX_VALUE: u32 = 80;

/// The maximum length of a name from a string or a computed key.
const MAX_NAME: usize = 120;

/// The last run of comments, each directly below the previous one.
#[derive(Default)]
pub(super) struct Comments {
    run: Option<Span>,
    doc: Option<Span>,
}

impl Comments {
    /// Adds a comment. A comment that follows code on its line belongs to that code, unless it is a doc comment.
    pub(super) fn add(&mut self, draft: &Draft<'_>, comment: Span) {
        let text = draft.slice(comment);
        let is_doc = text.starts_with("/**") && text.len() > "/***/".len();
        let before = Span { start: draft.line_start(comment.start), end: comment.start };
        if !is_doc && !draft.slice(before).trim().is_empty() {
            *self = Self::default();
            return;
        }
        if !self.is_adjacent_to(draft, comment.start) {
            *self = Self::default();
        }
        self.run = Some(Span { start: self.run.map_or(comment.start, |run| run.start), end: comment.end });
        if is_doc {
            self.doc = Some(comment);
        }
    }

    /// Returns whether only white space separates the run from an offset: one line end, or two after a doc comment.
    fn is_adjacent_to(&self, draft: &Draft<'_>, place: u32) -> bool {
        let Some(run) = self.run.filter(|run| run.end <= place && place - run.end < 1000) else {
            return false;
        };
        let between = draft.slice(Span { start: run.end, end: place });
        let limit = if self.doc.is_some_and(|doc| doc.end == run.end) { 2 } else { 1 };
        between.trim().is_empty() && between.bytes().filter(|&byte| byte == b'\n').count() <= limit
    }

    /// Returns the start of the comments directly above an offset, and the doc comment among them.
    pub(super) fn above(&self, draft: &Draft<'_>, place: u32) -> (u32, Option<Span>) {
        match self.run.filter(|_| self.is_adjacent_to(draft, place)) {
            Some(run) => (run.start, self.doc),
            None => (place, None),
        }
    }
}

/// Decorators that precede their target: those of class members are siblings, those of exported classes are further up.
#[derive(Default)]
pub(super) struct Decorators {
    /// The class body or the `export`.
    parent: usize,
    spans: Vec<Span>,
    /// The start of the comments above the first decorator, and the doc comment among them.
    above: (u32, Option<Span>),
}

/// A symbol as its declaration describes it.
pub(super) struct SymbolEntry<'a> {
    pub(super) kind: SymbolKind,
    /// The node of its name, which is no reference; `None` if it has no name of its own.
    pub(super) name_at: Option<usize>,
    pub(super) name: &'a str,
    /// The segment of the qualified name, if it differs from the name.
    pub(super) segment: Option<&'a str>,
    /// The node that spans all of its text.
    pub(super) whole: usize,
    /// The start of its body or its long value.
    pub(super) body: Option<u32>,
    pub(super) visibility: (Option<&'static str>, Visibility),
    pub(super) annotation: Option<Span>,
    pub(super) value: Option<Span>,
    /// The first node after it; 0 if it contains no nodes.
    pub(super) end: usize,
    /// Its parent symbol, if that is not the innermost open one.
    pub(super) owner: Option<Option<u32>>,
}

impl<'t> Walk<'_, 't> {
    /// Adds a symbol.
    pub(super) fn enter(&mut self, entry: &SymbolEntry<'_>) {
        self.enter_part(entry, ValuePart::Whole);
    }

    /// Adds a symbol that is a part of its value.
    pub(super) fn enter_part(&mut self, entry: &SymbolEntry<'_>, part: ValuePart) {
        let whole = self.tree.node(entry.whole);
        let mut attributes = Vec::new();
        let start = self.own_start(entry.whole, &mut attributes);
        let span = self.clamp_to_order(Span { start, end: whole.end });
        let start = span.map_or(start, |span| span.start);
        let waiting = self.pending_decorators(entry.whole);
        let (outer_start, doc) = match self.comments.above(self.draft, start) {
            (_, doc @ Some(_)) if !waiting.spans.is_empty() => (waiting.above.0, doc),
            _ if !waiting.spans.is_empty() => waiting.above,
            _ => self.comments.above(self.draft, whole.start),
        };
        if attributes.is_empty() {
            attributes = waiting.spans;
        }
        self.roles.mark(entry.name_at, Role::Declares);
        let signature = self.signature(entry, start);
        let header = headers::after_name(&signature, entry.name);
        let is_asked_for = headers::needs_header(entry.kind) && !header.is_empty();
        let header = is_asked_for.then(|| self.draft.text_as_expr(header));
        let flags = headers::flags(&signature, entry.name);
        let value = match part {
            ValuePart::Whole => entry.value.map(ExprInput::Text),
            part => {
                let of = self.draft.text_expr(entry.value);
                of.map(|of| ExprInput::Expr(self.draft.expr(Expr::Part { of, part })))
            }
        };
        let name_span = entry.name_at.map_or(Span { start, end: start }, |name| self.name_span(name));
        let new = NewSymbol {
            kind: entry.kind,
            name: entry.name,
            segment: entry.segment.unwrap_or(entry.name),
            separator: ".",
            impl_trait: None,
            signature,
            visibility_text: entry.visibility.0.map(str::to_owned),
            visibility: Some(entry.visibility.1),
            span: Span { start, end: whole.end.max(start) },
            outer_start,
            name_span,
            attributes: &attributes,
            doc,
            annotation: entry.annotation.map(ExprInput::Text),
            value,
            extras: SymbolExtras { header, flags, ..SymbolExtras::default() },
            is_test: false,
        };
        match entry.owner {
            _ if entry.name.is_empty() || span.is_none() => {}
            Some(owner) => self.draft.member(new, owner),
            None => self.draft.symbol(new, entry.end),
        }
    }

    /// Returns a symbol's range, in broken code cut to begin after the last symbol's start; `None` inside a decorator.
    pub(super) fn clamp_to_order(&self, span: Span) -> Option<Span> {
        let start = span.start.max(self.draft.last_start());
        (span.start >= self.decorator_end && start <= span.end).then_some(Span { start, ..span })
    }

    /// Keeps a decorator for the node after it.
    pub(super) fn decorate(&mut self, at: usize) {
        let node = self.tree.node(at);
        let parent = node.parent as usize;
        if self.decorators.parent != parent || self.decorators.spans.is_empty() {
            let above = self.comments.above(self.draft, node.start);
            self.decorators = Decorators { parent, spans: Vec::new(), above };
        }
        self.decorators.spans.push(node.span());
    }

    /// Returns the pending decorators of a node.
    fn pending_decorators(&mut self, at: usize) -> Decorators {
        let parent = self.tree.node(at).parent as usize;
        let is_member = self.decorators.parent == parent && self.tree.kind(parent) == k::CLASS_BODY;
        match is_member || self.decorators.parent == at {
            true => std::mem::take(&mut self.decorators),
            false => Decorators::default(),
        }
    }

    /// Returns the header, up to the body or a long value.
    fn signature(&self, entry: &SymbolEntry<'_>, start: u32) -> String {
        let range = Span { start, end: entry.body.unwrap_or(self.tree.node(entry.whole).end) };
        let mut signature = header(self.draft, self.tree, entry.whole, range, &[k::COMMENT]);
        signature.truncate(signature.trim_end_matches([' ', ';', ',', '{']).len());
        if entry.body.is_some() {
            signature.truncate(signature.strip_suffix(" =").unwrap_or(&signature).len());
        }
        match self.tree.kind(entry.whole) {
            k::VARIABLE_DECLARATOR => format!("{} {signature}", self.keywords(entry.whole)),
            _ => signature,
        }
    }

    /// Returns the keywords before the first of several declarators: `export let`.
    pub(super) fn keywords(&self, declarator: usize) -> &'t str {
        let declaration = self.tree.node(declarator).parent as usize;
        let first = self.tree.child_of_kind(declaration, k::VARIABLE_DECLARATOR).unwrap_or(declarator);
        let start = self.tree.node(self.statement(declaration)).start;
        let words = self.draft.slice(Span { start, end: self.tree.node(first).start }).trim();
        if words.contains('\n') { "" } else { words }
    }

    /// Returns the start of a node's text without the decorators before it, which are added to the list.
    fn own_start(&self, at: usize, attributes: &mut Vec<Span>) -> u32 {
        let mut start = self.tree.node(at).start;
        for child in
            self.tree.children(at).take_while(|&child| matches!(self.tree.kind(child), k::DECORATOR | k::COMMENT))
        {
            let node = self.tree.node(child);
            if node.kind == k::DECORATOR {
                attributes.push(node.span());
            }
            let between = self.draft.slice(Span { start, end: node.start });
            if between.trim().is_empty() {
                start = node.end;
            }
        }
        let rest = self.draft.slice(Span { start, end: self.tree.node(at).end });
        start + (rest.len() - rest.trim_start().len()) as u32
    }

    /// Returns the statement around a declaration: with `export` and `declare`.
    pub(super) fn statement(&self, mut at: usize) -> usize {
        loop {
            let parent = self.tree.node(at).parent as usize;
            match self.tree.kind(parent) {
                k::EXPORT | k::AMBIENT if parent != at => at = parent,
                _ => return at,
            }
        }
    }

    /// Returns the visibility of a name that a statement at file level, in a namespace or in a function declares.
    pub(super) fn visibility(&self, statement: usize, name: &str) -> (Option<&'static str>, Visibility) {
        if self.tree.kind(statement) == k::EXPORT {
            let rest = self.slice(statement).trim_start_matches(|c| c != 'e');
            let rest = rest.strip_prefix("export").unwrap_or(rest).trim_start();
            let text = if rest.starts_with("default") { "export default" } else { "export" };
            return (Some(text), Visibility::Public);
        }
        let outside = statement >= self.function_end && self.draft.enclosing_index().is_none();
        match self.exported.get(name).filter(|_| outside) {
            Some(true) => (Some("export"), Visibility::Public),
            Some(false) => (None, Visibility::Public),
            None if statement < self.ambient_end => (None, Visibility::Public),
            None => (None, Visibility::Private),
        }
    }

    /// Returns the text of a type annotation without its colon.
    pub(super) fn type_of(&self, at: usize, field: u8) -> Option<Span> {
        let span = self.tree.node(self.tree.child(at, field)?).span();
        let colon = u32::from(self.draft.slice(span).starts_with(':'));
        Some(Span { start: span.start + colon, end: span.end })
    }

    /// Returns the name at a node: an identifier, or a key in quotes or brackets.
    pub(super) fn name_text(&self, at: usize) -> Option<&'t str> {
        let text = self.draft.slice(self.name_span(at));
        (!text.is_empty() && text.len() <= MAX_NAME && !text.contains('\n')).then_some(text)
    }

    fn name_span(&self, at: usize) -> Span {
        let node = self.tree.node(at);
        let quotes = u32::from(node.kind == k::STRING && node.end - node.start >= 2);
        Span { start: node.start + quotes, end: node.end - quotes }
    }

    /// Returns the start of the value of a field or variable if it is too long for a signature.
    pub(super) fn long_value(&self, value: Option<usize>) -> Option<u32> {
        let span = self.tree.node(value?).span();
        let is_long = span.end - span.start > MAX_VALUE || self.draft.slice(span).contains('\n');
        is_long.then_some(span.start)
    }

    /// Returns the start of the body of a function or class.
    pub(super) fn body(&self, at: usize) -> Option<u32> {
        self.tree.child(at, f::BODY).map(|body| self.tree.node(body).start)
    }

    /// Returns the span of a node's child.
    pub(super) fn span_of(&self, at: usize, field: u8) -> Option<Span> {
        self.tree.child(at, field).map(|child| self.tree.node(child).span())
    }
}

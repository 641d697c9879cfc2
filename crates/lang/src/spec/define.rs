//! Symbols: their headers, docs, modifiers and types.

use codecompass_model::{BindingKind, Expr, ExprId, Flags, FuncExpr, Span, SymbolKind, ValuePart, Visibility};

use super::table::{Action, Bind, Define, Find, ModifierMeaning};
use super::walk::Walk;
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;
use crate::text;

/// The maximum length of a value in a signature; longer ones are left out.
const MAX_VALUE: u32 = 80;

/// The maximum number of bytes of a header to read.
const MAX_HEADER: usize = 8000;

/// A symbol as a row or a hook defines it.
pub(crate) struct Definition<'d> {
    pub(crate) kind: SymbolKind,
    /// The node of its name.
    pub(crate) name: usize,
    /// The span of its name, if that is only a part of the node.
    pub(crate) name_span: Option<Span>,
    /// The start of its own words, if that is before the declaring node.
    pub(crate) start: Option<u32>,
    /// The span of its documentation, if that is not a comment.
    pub(crate) doc: Option<Span>,
    /// Its name, if it differs from the text of the node.
    pub(crate) name_text: Option<&'d str>,
    /// The last segment of its qualified name, if that is not the name.
    pub(crate) segment: Option<&'d str>,
    /// The node that ends its header; `None` if the header extends to the end of the declaration.
    pub(crate) body: Option<usize>,
    /// The node of its value.
    pub(crate) value: Option<usize>,
    pub(crate) annotation: Option<ExprId>,
    pub(crate) owner: Option<ExprId>,
    pub(crate) flags: Flags,
    /// The visibility, if it differs from that of the rows.
    pub(crate) visibility: Option<Visibility>,
    /// The last node of it, if that comes after the declaring node.
    pub(crate) last: Option<usize>,
    /// The node up to which it stays open; 0 for a leaf.
    pub(crate) end: usize,
    /// The end of its header, if no node begins there.
    pub(crate) head: Option<u32>,
    /// The parent, if that is not the innermost open symbol; the symbol is a leaf then.
    pub(crate) parent: Option<u32>,
}

impl Definition<'_> {
    /// Creates a definition with only a kind and a name.
    pub(crate) fn new(kind: SymbolKind, name: usize) -> Self {
        Self {
            kind,
            name,
            name_span: None,
            start: None,
            doc: None,
            name_text: None,
            segment: None,
            body: None,
            value: None,
            annotation: None,
            owner: None,
            flags: Flags::default(),
            visibility: None,
            last: None,
            end: 0,
            head: None,
            parent: None,
        }
    }
}

/// The modifiers and attributes before a declaration.
struct Modifiers<'t> {
    words: Vec<&'t str>,
    attributes: Vec<Span>,
    /// The start of its own words.
    start: u32,
}

impl<'t> Walk<'_, 't> {
    /// Defines the symbol of a row.
    pub(super) fn define_row(&mut self, at: usize, new: &'static Define) {
        let Some(name) = self.find(at, new.name) else { return };
        // A declaration that shares its type with others is declared by the parent node.
        let declared = if matches!(new.of_type, Find::ParentField(_)) { self.parent(at) } else { at };
        let body = self.find(at, new.body);
        let has_body = !matches!(new.body, Find::Nowhere);
        let is_function = is_function(new.kind);
        let flags = Flags::ABSTRACT.when(is_function && has_body && body.is_none());
        let annotation = if is_function { None } else { self.find(at, new.of_type).map(|of| self.lower(of)) };
        let value = self.find(at, new.value);
        let end = self.tree.next(at);
        let symbol = self
            .define(declared, Definition { body, value, annotation, flags, end, ..Definition::new(new.kind, name) });
        if is_function {
            self.open_function(at, symbol);
        } else if self.find(at, new.type_params).is_some() {
            self.draft.block(end, false);
        }
        if let Some(list) = self.find(at, new.type_params) {
            self.type_params(list);
        }
        if let (true, Some(symbol)) = (is_function, symbol) {
            let of = self.function_type(self.find(at, new.params), self.find(at, new.of_type));
            self.draft.annotate_symbol(symbol, of, None);
            let result = self.find(at, new.of_type).map(|of| self.lower(of));
            self.set_result(result);
        }
    }

    /// Adds a symbol that a node declares, and returns its index.
    pub(crate) fn define(&mut self, at: usize, new: Definition<'_>) -> Option<u32> {
        if new.name_text.is_none() {
            self.roles.mark(Some(new.name), Role::Declares);
        }
        let mut name_span = new.name_span.unwrap_or_else(|| self.tree.node(new.name).span());
        let name = new.name_text.unwrap_or_else(|| self.draft.slice(name_span));
        if new.name_text.is_some() {
            name_span.end = name_span.start;
        }
        if self.spec.keywords.contains(&name) {
            return None;
        }
        let mut front = self.leading_modifiers(at);
        front.start = new.start.unwrap_or(front.start);
        // A declaration in a type or a module is its member, even inside a block.
        let is_member = self.draft.enclosing().is_some_and(|around| is_container(around.kind));
        let is_block_only = self.is_local(at) && !is_member && new.owner.is_none() && is_top_level_name(new.kind);
        let (visibility_text, visibility, flags) = self.read_modifiers(&front, &new);
        let mut docs = self
            .comments
            .peek_above(self.draft.text, new.start.unwrap_or(self.tree.start_of(self.tree.node(at).start)));
        if let Some(doc) = new.doc {
            docs.doc = Some(doc);
            docs.outer_start = docs.outer_start.min(doc.start);
        }
        let bases = self.unnamed_base(at, new.kind);
        let symbol = NewSymbol {
            kind: new.kind,
            name,
            segment: new.segment.unwrap_or(name),
            separator: self.spec.separator,
            impl_trait: None,
            signature: self.signature(at, front.start, &new),
            visibility_text,
            visibility,
            span: Span { start: front.start, end: self.tree.node(new.last.unwrap_or(at)).end },
            outer_start: docs.outer_start,
            name_span,
            attributes: &front.attributes,
            doc: docs.doc,
            annotation: new.annotation.map(ExprInput::Expr),
            value: None,
            extras: SymbolExtras {
                owner: new.owner,
                bases,
                header: None,
                flags: new.flags | flags | Flags::BLOCK_ONLY.when(is_block_only),
            },
            is_test: new.kind == SymbolKind::Test || self.is_marked_test(&front),
        };
        let place = self.draft.symbol_count();
        match new.parent {
            Some(parent) => self.draft.member(symbol, Some(parent)),
            None => self.draft.symbol(symbol, new.end),
        }
        if self.draft.symbol_count() == place {
            return None;
        }
        if is_block_only && new.parent.is_none() {
            self.draft.declare(name_span, place, at);
        }
        if let Some(value) = new.value {
            self.defer_symbol_value(place, value);
        }
        Some(place)
    }

    /// Returns the base type of a function directly in an anonymous type: that of the type.
    fn unnamed_base(&mut self, at: usize, kind: SymbolKind) -> Vec<ExprId> {
        let Some(&(end, of)) = self.unnamed.last().filter(|_| is_function(kind)) else { return Vec::new() };
        let is_direct = self.tree.next(self.parent(at)) == end;
        if is_direct { vec![self.lower(of)] } else { Vec::new() }
    }

    /// Returns the modifiers and annotations before a declaration.
    fn leading_modifiers(&self, at: usize) -> Modifiers<'t> {
        let recipe = self.spec;
        let start = self.tree.start_of(self.tree.node(at).start);
        let mut front = Modifiers { words: Vec::new(), attributes: Vec::new(), start };
        let is_attribute = |of: usize| recipe.attributes.contains(&self.kind(of));
        for child in self.tree.children(at) {
            let node = self.tree.node(child);
            if is_attribute(child) {
                front.attributes.push(node.span());
            } else if recipe.modifiers.contains(&self.kind(child)) {
                let mut from = node.start;
                for inner in self.tree.children(child).filter(|&inner| is_attribute(inner)) {
                    let inner = self.tree.node(inner).span();
                    front.words.extend(self.draft.slice(Span { start: from, end: inner.start }).split_whitespace());
                    front.attributes.push(inner);
                    from = inner.end;
                }
                front.words.extend(self.draft.slice(Span { start: from, end: node.end }).split_whitespace());
            }
        }
        for attribute in &front.attributes {
            if attribute.start == front.start {
                let rest = self.draft.slice(Span { start: attribute.end, end: self.tree.node(at).end });
                front.start = attribute.end + (rest.len() - without_conditions(rest).len()) as u32;
            }
        }
        front
    }

    /// Evaluates the modifiers: the source text of the visibility, the visibility, and flags.
    fn read_modifiers(
        &self,
        front: &Modifiers<'_>,
        new: &Definition<'_>,
    ) -> (Option<String>, Option<Visibility>, Flags) {
        let around = self.draft.enclosing().map(|around| around.kind);
        let mut said = (None, (self.spec.visibility)(new.kind, around), Flags::default());
        let section = self.sections.last().map(|(_, word)| *word);
        for word in section.iter().chain(&front.words) {
            for (_, means) in self.spec.modifier_words.iter().filter(|(known, _)| known == word) {
                match means {
                    ModifierMeaning::Visibility(visibility) => {
                        (said.0, said.1) = (Some((*word).to_owned()), Some(*visibility));
                    }
                    ModifierMeaning::Flag(flag) => said.2 = said.2 | *flag,
                }
            }
        }
        if new.visibility.is_some() {
            said.1 = new.visibility;
        }
        said
    }

    fn is_marked_test(&self, front: &Modifiers<'_>) -> bool {
        let is_mark = |span: &Span| {
            let name = self.draft.slice(*span).trim_start_matches(|c: char| !c.is_alphanumeric());
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(name.len());
            let last = name[..end].rsplit('.').next().unwrap_or("");
            self.spec.test_marks.contains(&last)
        };
        front.attributes.iter().any(is_mark)
    }

    /// Returns the header on one line: up to the body, and without a long value.
    fn signature(&self, at: usize, start: u32, new: &Definition<'_>) -> String {
        let end = self.tree.node(at).end;
        let is_long = |value: &Span| value.end - value.start > MAX_VALUE || self.draft.slice(*value).contains('\n');
        let value = new.value.map(|value| self.tree.node(value).span()).filter(is_long).map(|value| value.start);
        let cut = new
            .head
            .or(new.body.map(|body| self.tree.node(body).start))
            .or(value)
            .filter(|&cut| cut > start)
            .unwrap_or(end);
        let read = text::truncate(self.draft.slice(Span { start, end: cut }), MAX_HEADER).len() as u32;
        let comments = self.comment_codes(at, cut);
        let mut signature = header(self.draft, self.tree, at, Span { start, end: start + read }, &comments);
        if cut < end {
            signature.truncate(signature.trim_end_matches(['=', ' ', '{', ',']).len());
        } else {
            signature.truncate(signature.trim_end_matches([';', ',', ' ']).len());
        }
        signature
    }

    /// Returns the codes of the comments in the first bytes of a node.
    fn comment_codes(&self, at: usize, end: u32) -> Vec<u8> {
        let inside = (at + 1..self.tree.next(at)).take_while(|&inner| self.tree.node(inner).start < end);
        let comments = inside.filter(|&inner| self.spec.comments.contains(&self.kind(inner)));
        comments.map(|inner| self.tree.kind(inner)).collect()
    }

    /// Binds the type parameters of a list immediately, because code before and after the list may name them.
    pub(crate) fn type_params(&mut self, list: usize) {
        let items: Vec<usize> = self.items(list).collect();
        for item in items {
            let Some(new) = self.bind_action(item, BindingKind::TypeParam) else { continue };
            let Some(name) = self.find(item, new.name) else { continue };
            // The return type may precede the list.
            if let Some(of) = self.bind_as(name, BindingKind::TypeParam, None, ValuePart::Whole, self.parent(list)) {
                // The bound may mention the parameter.
                if let Some(bound) = self.declared(item, new) {
                    self.draft.set_bound(of, bound);
                }
            }
        }
    }

    /// Returns the bind action of a node's row.
    pub(super) fn bind_action(&self, at: usize, kind: BindingKind) -> Option<&'static Bind> {
        self.actions(at).iter().find_map(|step| match step {
            Action::Bind(new) | Action::In(_, Action::Bind(new)) if new.kind == kind => Some(new),
            _ => None,
        })
    }

    /// Returns the type of a function, given the nodes of its parameters and its result.
    pub(crate) fn function_type(&mut self, params: Option<usize>, result: Option<usize>) -> ExprId {
        let list: Vec<usize> = params.map_or_else(Vec::new, |params| self.items(params).collect());
        let mut of = FuncExpr::default();
        for item in list {
            let Some(new) = self.bind_action(item, BindingKind::Param) else { continue };
            of.variadic = new.variadic;
            let declared = self.declared(item, new);
            of.params.push(declared.unwrap_or_else(|| self.draft.expr(Expr::Other)));
        }
        of.results = result.map(|result| self.lower(result)).into_iter().collect();
        self.draft.expr(Expr::Func(Box::new(of)))
    }
}

/// Returns a text without the blanks and the preprocessor lines that it begins with.
fn without_conditions(text: &str) -> &str {
    let mut rest = text.trim_start();
    while ["#if", "#el", "#endif"].iter().any(|word| rest.starts_with(word)) {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// Returns whether symbols of this kind can be named without a qualifier.
fn is_top_level_name(kind: SymbolKind) -> bool {
    use SymbolKind::{Constructor, Field, Method, Property, Variant};
    !matches!(kind, Constructor | Field | Method | Property | Variant)
}

/// Returns whether symbols inside a symbol of this kind are its members.
fn is_container(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Impl, Interface, Module, Namespace, Struct, Trait, Union};
    matches!(kind, Class | Enum | Impl | Interface | Module | Namespace | Struct | Trait | Union)
}

/// Returns whether symbols of a kind have parameters.
pub(super) fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Prototype)
}

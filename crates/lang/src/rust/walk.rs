//! The pass over a Rust tree.

use std::collections::HashMap;

use codecompass_model::{ExprId, RefShape, Span};

use super::impls::DeclaredTypes;
use super::kinds::{field as f, kind as k};
use super::macro_expansion::{self, ExpandedItem};
use super::{
    attributes, bindings, formats, imports, items, macro_arguments, macro_facts, macro_items, macro_tokens, module,
};
use crate::draft::{Draft, ExprInput};
use crate::roles::{Role, Roles};
use crate::text::is_capitalised;
use crate::tree::Tree;

/// Collects the facts of a Rust file.
pub(super) fn walk(tree: &Tree, draft: &mut Draft<'_>) {
    draft.set_prefix(module::prefix(draft.path));
    let read = macro_arguments::read(tree, draft.text);
    let tree = read.as_ref().unwrap_or(tree);
    let roles = Roles::new(tree.len());
    let draft_text = draft.text;
    let mut walk = Walk {
        tree,
        draft,
        roles,
        outer: PendingOuter::default(),
        declared: None,
        expanded: macro_expansion::items(tree, draft_text),
        lowered: None,
    };
    let mut at = 0;
    while at < tree.len() {
        walk.draft.advance_to(at);
        at = walk.visit(at);
    }
}

/// The state of the pass.
pub(super) struct Walk<'w, 't> {
    pub(super) tree: &'w Tree,
    pub(super) draft: &'w mut Draft<'t>,
    pub(super) roles: Roles,
    pub(super) outer: PendingOuter,
    pub(super) declared: DeclaredTypes<'t>,
    /// The items that macros of the file expand to, by the offsets of their names.
    expanded: HashMap<u32, ExpandedItem>,
    /// The node that was lowered last, and its expression: every name of a pattern has the same value.
    lowered: Option<(usize, ExprId)>,
}

/// Attributes and docs that wait for their item.
#[derive(Default)]
pub(super) struct PendingOuter {
    parent: Option<u32>,
    start: u32,
    /// The attributes, without the docs.
    pub(super) attributes: Vec<Span>,
    /// The docs.
    pub(super) doc: Option<Span>,
    /// The first reference in the attributes.
    references: usize,
    /// The node that received them.
    owner_node: usize,
}

impl PendingOuter {
    fn wait(&mut self, parent: u32, start: u32, references: usize) {
        if self.parent != Some(parent) {
            self.parent = Some(parent);
            self.start = start;
            self.references = references;
            self.attributes.clear();
            self.doc = None;
        }
    }

    /// Adds a line or block of docs.
    fn document(&mut self, text: &str, span: Span) {
        let end = span.start + text.trim_end().len() as u32;
        let start = self.doc.map_or(span.start, |doc| doc.start);
        self.doc = Some(Span { start, end });
    }

    /// Assigns the pending attributes and docs among its siblings to a node that is no attribute and no comment.
    fn offer(&mut self, at: usize, parent: u32) {
        if self.parent == Some(parent) {
            self.parent = None;
            self.owner_node = at;
        }
    }

    /// Returns the start of an item with its docs and attributes. Attributes of other nodes are dropped.
    pub(super) fn start_of(&mut self, at: usize, start: u32) -> u32 {
        if self.owner_node == at && at > 0 {
            return self.start;
        }
        self.attributes.clear();
        self.doc = None;
        self.references = usize::MAX;
        start
    }

    /// Returns the first of the references that belong to the item.
    pub(super) fn references(&self) -> usize {
        self.references
    }
}

impl Walk<'_, '_> {
    /// Visits a node and returns the next node to visit: its first child, or the node after its subtree.
    fn visit(&mut self, at: usize) -> usize {
        let node = self.tree.node(at);
        match node.kind {
            k::ATTRIBUTE_ITEM => {
                let text = self.draft.slice(node.span());
                self.outer.wait(node.parent, node.start, self.draft.reference_count());
                self.outer.attributes.push(node.span());
                if text.starts_with("#[doc =") || text.starts_with("#[doc=") {
                    self.outer.document(text, node.span());
                }
                return at + 1;
            }
            k::LINE_COMMENT | k::BLOCK_COMMENT => {
                let text = self.draft.slice(node.span());
                if is_outer_doc(text) {
                    self.outer.wait(node.parent, node.start, self.draft.reference_count());
                    self.outer.document(text, node.span());
                }
                return node.next as usize;
            }
            _ => self.outer.offer(at, node.parent),
        }
        if !self.expanded.is_empty()
            && matches!(node.kind, k::IDENTIFIER | k::TYPE_IDENTIFIER | k::FIELD_IDENTIFIER)
            && let Some(made) = self.expanded.remove(&node.start)
        {
            macro_items::enter_expanded(self, made);
            return node.next as usize;
        }
        match node.kind {
            k::IDENTIFIER => self.identifier(at),
            k::TYPE_IDENTIFIER => self.type_identifier(at),
            k::FIELD_IDENTIFIER | k::SHORTHAND_FIELD => self.refer(at, RefShape::Member),
            k::CALL => self.call(at),
            k::SCOPED_IDENTIFIER | k::SCOPED_TYPE => self.path(at),
            k::MACRO_CALL => self.mark_name(self.tree.child(at, f::MACRO), RefShape::MacroCall),
            k::STRUCT_EXPRESSION => self.mark_name(self.tree.child(at, f::NAME), RefShape::Construct),
            k::TUPLE_STRUCT_PATTERN => self.mark_name(self.tree.child(at, f::TYPE), RefShape::Value),
            k::STRING | k::RAW_STRING => formats::captures(self, at),
            k::ASSIGNMENT => self.assignment(at),
            k::ATTRIBUTE => return self.attribute(at),
            k::INNER_ATTRIBUTE => self.inner_attribute(at),
            k::USE => return imports::use_declaration(self, at),
            k::EXTERN_CRATE => return imports::extern_crate(self, at),
            // Kept for lookups of a value or a type.
            k::BOOLEAN | k::FLOAT | k::INTEGER | k::NEVER => {}
            k::LIFETIME | k::LABEL | k::TOKEN_PATTERN | k::VISIBILITY => return node.next as usize,
            kind => {
                if let Some(symbol) = items::kind(kind) {
                    bindings::enter_item(self, at, symbol);
                    items::item(self, at, symbol);
                } else {
                    bindings::enter(self, at);
                }
            }
        }
        at + 1
    }

    fn identifier(&mut self, at: usize) {
        let node = self.tree.node(at);
        if self.roles.get(at) != Role::Unset {
            return self.refer(at, RefShape::Value);
        }
        if self.tree.kind(node.parent as usize) == k::TOKEN_TREE {
            if macro_items::enter_loose(self, at) {
                return;
            }
            return macro_tokens::identifier(self.draft, node.span());
        }
        if self.tree.kind(node.parent as usize) == k::SHORTHAND_INITIALIZER {
            return self.shorthand(at);
        }
        match self.draft.slice(node.span()) {
            "Self" | "_" => {}
            name if node.field == f::PATH && is_capitalised(name) => self.refer(at, RefShape::Type),
            _ => self.refer(at, RefShape::Value),
        }
    }

    /// Handles `A { b }`: the name of a value, and of the field that it initialises.
    fn shorthand(&mut self, at: usize) {
        self.refer(at, RefShape::Value);
        let parent = |at: usize| self.tree.node(at).parent as usize;
        let literal = parent(parent(parent(at)));
        let of = self.tree.child(literal, f::NAME).map(|name| self.tree.node(name).span());
        if of.is_some() {
            self.draft.reference(self.tree.node(at).span(), RefShape::Member, of);
        }
    }

    fn type_identifier(&mut self, at: usize) {
        match self.draft.slice(self.tree.node(at).span()) {
            "_" => {}
            "Self" if self.roles.get(at) == Role::Unset => {}
            _ => self.refer(at, RefShape::Type),
        }
    }

    /// Adds the reference of this leaf, with the shape of its role or else the default.
    fn refer(&mut self, at: usize, default: RefShape) {
        let shape = match self.roles.get(at) {
            Role::Declares => return,
            Role::Refers(shape) => shape,
            Role::Unset => default,
        };
        let span = self.tree.node(at).span();
        let qualifier = self.qualifier_node(at);
        match qualifier.map(|before| self.value_input(before)) {
            Some(ExprInput::Expr(receiver)) => self.draft.reference_with_receiver(span, shape, receiver),
            Some(ExprInput::Text(text)) => self.draft.reference(span, shape, Some(text)),
            None => self.draft.reference(span, shape, None),
        }
    }

    /// Returns an expression as the facts hold it: lowered if it begins with a macro call.
    pub(super) fn value_input(&mut self, at: usize) -> ExprInput {
        let span = self.tree.node(at).span();
        if macro_facts::leading_call(self.tree, self.draft.text, at).is_none() {
            return ExprInput::Text(span);
        }
        if let Some((known, value)) = self.lowered
            && known == at
        {
            return ExprInput::Expr(value);
        }
        match macro_facts::expression(self.tree, self.draft, at, at) {
            Some(value) => {
                self.lowered = Some((at, value));
                ExprInput::Expr(value)
            }
            None => ExprInput::Text(span),
        }
    }

    fn qualifier(&self, at: usize) -> Option<Span> {
        self.qualifier_node(at).map(|before| self.tree.node(before).span())
    }

    /// Returns the qualifier of a name: the path of `a::b`, the receiver of `a.b`, the type of `A { b }`.
    fn qualifier_node(&self, at: usize) -> Option<usize> {
        let node = self.tree.node(at);
        let parent = node.parent as usize;
        match (self.tree.kind(parent), node.field) {
            (k::SCOPED_IDENTIFIER | k::SCOPED_TYPE, f::NAME) => self.tree.child(parent, f::PATH),
            (k::FIELD_EXPRESSION, f::FIELD) => self.tree.child(parent, f::VALUE),
            (k::FIELD_INITIALIZER, f::FIELD) => {
                let list = self.tree.node(parent).parent as usize;
                self.tree.child(self.tree.node(list).parent as usize, f::NAME)
            }
            (k::FIELD_PATTERN, f::NAME) => self.tree.child(self.tree.node(parent).parent as usize, f::TYPE),
            _ => None,
        }
    }

    fn call(&mut self, at: usize) {
        let mut callee = self.tree.child(at, f::FUNCTION);
        while let Some(generic) = callee.filter(|&callee| self.tree.kind(callee) == k::GENERIC_FUNCTION) {
            callee = self.tree.child(generic, f::FUNCTION);
        }
        let Some(callee) = callee else { return };
        let (name, shape) = match self.tree.kind(callee) {
            k::IDENTIFIER => (Some(callee), RefShape::Call),
            k::SCOPED_IDENTIFIER => (self.tree.child(callee, f::NAME), RefShape::PathCall),
            k::FIELD_EXPRESSION => {
                let value = self.tree.child(callee, f::VALUE);
                let on_self = value.is_some_and(|value| self.tree.kind(value) == k::SELF);
                let shape = if on_self { RefShape::SelfCall } else { RefShape::MemberCall };
                (self.tree.child(callee, f::FIELD), shape)
            }
            _ => return,
        };
        let constructs = matches!(shape, RefShape::Call | RefShape::PathCall)
            && name.is_some_and(|name| is_capitalised(self.draft.slice(self.tree.node(name).span())));
        self.roles.mark(name, Role::Refers(if constructs { RefShape::Construct } else { shape }));
    }

    /// Handles a path: its last name is a type, or a value if nothing else is known. A name that qualifies others is a
    /// type if it looks like one, else a module.
    fn path(&mut self, at: usize) {
        let node = self.tree.node(at);
        let name = self.tree.child(at, f::NAME);
        let capital = name.is_some_and(|name| is_capitalised(self.draft.slice(self.tree.node(name).span())));
        let is_type = node.kind == k::SCOPED_TYPE || node.field == f::PATH && capital;
        self.roles.mark(name, Role::Refers(if is_type { RefShape::Type } else { RefShape::Value }));
    }

    /// Assigns a role to the last name of a path or type.
    pub(super) fn mark_name(&mut self, at: Option<usize>, shape: RefShape) {
        let name = at.and_then(|at| name_node(self.tree, at));
        self.roles.mark(name, Role::Refers(shape));
    }

    /// Handles `name = value` as an argument of a macro, where `name` names the argument.
    fn assignment(&mut self, at: usize) {
        let list = self.tree.node(at).parent as usize;
        let tokens = self.tree.node(list).parent as usize;
        if self.tree.kind(tokens) == k::TOKEN_TREE && self.tree.kind(list) != k::BLOCK {
            self.roles.mark(self.tree.child(at, f::LEFT), Role::Declares);
        }
    }

    /// Handles `#[path(arguments)]`: the path is a decorator, and so is every name in a `derive`. Other arguments are a
    /// language of their own and are ignored.
    fn attribute(&mut self, at: usize) -> usize {
        let end = self.tree.next(at);
        let Some(path) = self.tree.children(at).next() else {
            return end;
        };
        let Some(name) = name_node(self.tree, path) else {
            return end;
        };
        let qualifier = self.qualifier(name);
        let span = self.tree.node(name).span();
        self.draft.reference(span, RefShape::Decorator, qualifier);
        match self.draft.slice(span) {
            "derive" => self.derived(self.tree.next(path), end),
            "cfg_attr" => {
                let is_derive = |&leaf: &usize| self.draft.slice(self.tree.node(leaf).span()) == "derive";
                let derives: Vec<usize> = (self.tree.next(path)..end).filter(is_derive).collect();
                for derive in derives {
                    self.draft.reference(self.tree.node(derive).span(), RefShape::Decorator, None);
                    let list = self.tree.next(derive);
                    self.derived(list, if list < end { self.tree.next(list) } else { end });
                }
            }
            _ => {}
        }
        end
    }

    /// Handles `#![cfg(test)]` at the top of a file, which makes all of it test code.
    fn inner_attribute(&mut self, at: usize) {
        let node = self.tree.node(at);
        if node.parent == 0 && attributes::is_test(self.draft.slice(node.span())) {
            self.draft.set_test();
        }
    }

    /// Marks the names between these nodes as decorators, without the paths before them.
    fn derived(&mut self, from: usize, end: usize) {
        for leaf in from..end {
            let span = self.tree.node(leaf).span();
            let within_path = self.draft.text[span.end as usize..].starts_with("::");
            if self.tree.kind(leaf) == k::IDENTIFIER && !within_path {
                self.draft.reference(span, RefShape::Decorator, None);
            }
        }
    }
}

/// Returns the node of the main name of a type or path: `Vec` in `&mut std::vec::Vec<T>`.
pub(super) fn name_node(tree: &Tree, mut at: usize) -> Option<usize> {
    loop {
        at = match tree.kind(at) {
            k::TYPE_IDENTIFIER | k::PRIMITIVE_TYPE | k::IDENTIFIER => return Some(at),
            k::SCOPED_TYPE | k::SCOPED_IDENTIFIER => tree.child(at, f::NAME)?,
            k::GENERIC_TYPE | k::GENERIC_TYPE_TURBOFISH | k::REFERENCE_TYPE | k::POINTER_TYPE | k::HIGHER_RANKED => {
                tree.child(at, f::TYPE)?
            }
            k::DYNAMIC_TYPE | k::ABSTRACT_TYPE => tree.child(at, f::TRAIT)?,
            k::BOUNDED_TYPE => tree.children(at).next()?,
            _ => return None,
        };
    }
}

/// Returns whether a comment documents the item after it.
fn is_outer_doc(comment: &str) -> bool {
    let line = comment.starts_with("///") && !comment.starts_with("////");
    let block = comment.starts_with("/**") && !comment.starts_with("/***") && comment.len() > 4;
    line || block
}

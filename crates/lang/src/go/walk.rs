//! The pass over a Go tree.

use codecompass_model::{RefShape, Span, SymbolKind};

use super::declarations::RepeatedConst;
use super::kinds::{field as f, kind as k};
use super::literals::OpenLiteral;
use super::lower::{Lowered, lower};
use super::types::{is_predeclared, name_node};
use super::{calls, declarations, directives, imports, literals, locals, test_blocks};
use crate::comments::Comments;
use crate::draft::Draft;
use crate::roles::{Role, Roles};
use crate::tree::Tree;

/// Collects the facts of a Go file.
pub(super) fn walk(tree: &Tree, draft: &mut Draft<'_>) {
    let mut walk = Walk {
        tree,
        draft,
        roles: Roles::new(tree.len()),
        comments: Comments::new(directives::is_directive),
        literals: Vec::new(),
        lowered: Lowered::new(tree.len()),
        repeated: RepeatedConst::default(),
        local_end: 0,
        generic_end: 0,
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
    pub(super) comments: Comments,
    /// The composite literals around the node.
    pub(super) literals: Vec<OpenLiteral>,
    pub(super) lowered: Lowered,
    pub(super) repeated: RepeatedConst,
    /// Nodes before this one are in a function, where variables are local.
    local_end: usize,
    /// Nodes before this one may name a type parameter.
    pub(super) generic_end: usize,
}

impl Walk<'_, '_> {
    /// Visits a node and returns the next node to visit: its first child, or the node after its subtree.
    fn visit(&mut self, at: usize) -> usize {
        let node = self.tree.node(at);
        match node.kind {
            k::COMMENT => self.comments.add(self.draft.text, node.span()),
            k::IDENTIFIER => self.identifier(at),
            k::FIELD_IDENTIFIER => self.refer(at, RefShape::Member),
            k::TYPE_IDENTIFIER => self.type_identifier(at),
            k::LABEL_NAME => self.draft.mark_label(node.span()),
            k::PACKAGE_IDENTIFIER => self.refer(at, RefShape::Value),
            k::CALL => {
                test_blocks::enter(self, at);
                calls::call(self, at);
            }
            k::TYPE_CONVERSION => calls::conversion(self, at),
            k::COMPOSITE_LITERAL => literals::composite(self, at),
            k::LITERAL_VALUE => literals::value(self, at),
            k::KEYED_ELEMENT => literals::keyed(self, at),
            k::FUNCTION_LITERAL => locals::function(self, at, false),
            k::SHORT_VAR => locals::short_var(self, at),
            k::RANGE_CLAUSE => locals::range(self, at),
            k::RECEIVE => locals::receive(self, at),
            k::BLOCK => self.block(at),
            k::IF | k::FOR | k::EXPRESSION_SWITCH | k::EXPRESSION_CASE | k::COMMUNICATION_CASE => {
                self.open(at, false);
            }
            k::TYPE_SWITCH => {
                self.open(at, false);
                locals::type_switch(self, at);
            }
            k::TYPE_CASE | k::DEFAULT_CASE => {
                self.open(at, false);
                locals::type_case(self, at);
            }
            k::PARAMETER | k::VARIADIC_PARAMETER | k::TYPE_PARAMETER => self.mark_declared_names(at),
            k::PACKAGE_CLAUSE => return self.package(at),
            k::IMPORT_SPEC => return imports::spec(self, at),
            _ => self.declaration(at, node.kind),
        }
        at + 1
    }

    fn declaration(&mut self, at: usize, kind: u8) {
        match kind {
            k::FUNCTION | k::METHOD => declarations::function(self, at),
            k::METHOD_ELEMENT => declarations::method_element(self, at),
            k::TYPE_SPEC | k::TYPE_ALIAS => declarations::type_spec(self, at),
            k::FIELD => declarations::field(self, at),
            k::CONST_SPEC | k::VAR_SPEC => declarations::values(self, at),
            k::TYPE_ELEMENT => self.embedded(at),
            _ => {}
        }
    }

    /// Handles the package clause, which all qualified names begin with.
    fn package(&mut self, at: usize) -> usize {
        if let Some(name) = self.tree.child_of_kind(at, k::PACKAGE_IDENTIFIER) {
            let name = self.draft.slice(self.tree.node(name).span());
            self.draft.set_prefix(name.to_owned());
        }
        self.tree.next(at)
    }

    /// Opens a lexical block; variables in it are local.
    pub(super) fn open(&mut self, at: usize, closed: bool) {
        let end = self.tree.next(at);
        self.local_end = self.local_end.max(end);
        self.draft.block(end, closed);
    }

    /// Returns whether a node is in a function.
    pub(super) fn is_local(&self, at: usize) -> bool {
        at < self.local_end
    }

    /// Handles a block in braces. The body of a function shares the block of its parameters.
    fn block(&mut self, at: usize) {
        let around = self.tree.kind(self.tree.node(at).parent as usize);
        if !matches!(around, k::FUNCTION | k::METHOD | k::FUNCTION_LITERAL) {
            self.open(at, false);
        }
    }

    /// Returns the start of a spec's declaration, and whether it is in a group (then the start is its own).
    pub(super) fn declaration_of(&self, at: usize) -> (u32, bool) {
        let own = self.tree.node(at).start;
        let around = self.tree.node(self.tree.node(at).parent as usize);
        if !matches!(
            around.kind,
            k::CONST_DECLARATION | k::IMPORT_DECLARATION | k::TYPE_DECLARATION | k::VAR_DECLARATION
        ) {
            return (own, true);
        }
        let between = self.draft.slice(Span { start: around.start, end: own });
        let keyword = between.trim_start_matches(|c: char| c.is_ascii_lowercase());
        if keyword.trim_start().starts_with('(') { (own, true) } else { (around.start, false) }
    }

    /// Marks the names of a parameter as declarations.
    fn mark_declared_names(&mut self, at: usize) {
        for name in self.tree.children(at).filter(|&child| self.tree.node(child).field == f::NAME) {
            self.roles.mark(Some(name), Role::Declares);
        }
    }

    /// Handles a type in an interface: a single one is embedded; several are a union.
    fn embedded(&mut self, at: usize) {
        if self.tree.kind(self.tree.node(at).parent as usize) != k::INTERFACE_TYPE {
            return;
        }
        let mut parts = self.tree.children(at).filter(|&part| self.tree.kind(part) != k::COMMENT);
        if let (Some(only), None) = (parts.next(), parts.next()) {
            self.roles.mark(name_node(self.tree, only), Role::Refers(RefShape::Extends));
            if self.draft.enclosing().is_some_and(|symbol| symbol.kind == SymbolKind::Interface) {
                let base = lower(self, only);
                self.draft.add_base(base);
            }
        }
    }

    fn identifier(&mut self, at: usize) {
        let span = self.tree.node(at).span();
        if at < self.generic_end && self.roles.get(at) != Role::Declares && self.draft.is_type_parameter(span) {
            return self.draft.reference(span, RefShape::Type, None);
        }
        if self.draft.slice(span) != "_" {
            self.refer(at, RefShape::Value);
        }
    }

    fn type_identifier(&mut self, at: usize) {
        let node = self.tree.node(at);
        let plain = self.roles.get(at) == Role::Unset && self.tree.kind(node.parent as usize) != k::QUALIFIED_TYPE;
        if !plain || !is_predeclared(self.draft.slice(node.span())) {
            self.refer(at, RefShape::Type);
        }
    }

    /// Adds the reference of this leaf, with the shape of its role or else the default.
    fn refer(&mut self, at: usize, default: RefShape) {
        let shape = match self.roles.get(at) {
            Role::Declares => return,
            Role::Refers(shape) => shape,
            Role::Unset => default,
        };
        let name = self.tree.node(at).span();
        match self.qualifier(at) {
            Some(before) => {
                let before = lower(self, before);
                self.draft.reference_with_receiver(name, shape, before);
            }
            None => self.draft.reference(name, shape, None),
        }
    }

    /// Returns the qualifier of a name: the operand of `a.b`, the package of a type, the type of a literal's key.
    fn qualifier(&self, at: usize) -> Option<usize> {
        let node = self.tree.node(at);
        let parent = node.parent as usize;
        match (self.tree.kind(parent), node.field) {
            (k::SELECTOR, f::FIELD) => self.tree.child(parent, f::OPERAND),
            (k::QUALIFIED_TYPE, f::NAME) => self.tree.child(parent, f::PACKAGE),
            (k::LITERAL_ELEMENT, _) if self.roles.get(at) == Role::Refers(RefShape::Member) => {
                literals::key_owner(self)
            }
            _ => None,
        }
    }
}

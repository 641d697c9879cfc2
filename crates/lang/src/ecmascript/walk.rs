//! The pass over a tree of TypeScript or JavaScript.

use codecompass_model::{RefShape, Span};

use super::kinds::{field as f, kind as k};
use super::symbols::{Comments, Decorators};
use super::{assignments, declarations, exports, imports, loads, members, module, scopes, test_blocks, variables};
use crate::draft::Draft;
use crate::interner::FastMap;
use crate::roles::{Role, Roles};
use crate::text::is_capitalised;
use crate::tree::{OTHER, Tree};

/// Collects the facts of a TypeScript file.
pub(super) fn typescript(tree: &Tree, draft: &mut Draft<'_>) {
    walk(tree, draft, true);
}

/// Collects the facts of a JavaScript file.
pub(super) fn javascript(tree: &Tree, draft: &mut Draft<'_>) {
    walk(tree, draft, false);
}

fn walk(tree: &Tree, draft: &mut Draft<'_>, typed: bool) {
    draft.set_prefix(module::prefix(draft.path));
    let mut walk = Walk {
        tree,
        roles: Roles::new(tree.len()),
        typed,
        exported: exports::names(tree, draft),
        has_var: draft.text.contains("var "),
        fields: FastMap::default(),
        comments: Comments::default(),
        decorators: Decorators::default(),
        decorator_end: 0,
        function_end: 0,
        ambient_end: 0,
        draft,
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
    /// The roles of names. In addition, an object literal or object type with the role `Declares` has its members
    /// listed as symbols, and a function, class or call with that role is already listed under another name.
    pub(super) roles: Roles,
    /// Whether classes declare their fields.
    pub(super) typed: bool,
    /// Names that some statement of the file exports, and whether it is an `export`.
    pub(super) exported: FastMap<&'t str, bool>,
    /// Whether there may be a `var` in the file.
    pub(super) has_var: bool,
    /// Fields that already have a value from the constructor of their class.
    pub(super) fields: FastMap<(Option<u32>, &'t str), ()>,
    pub(super) comments: Comments,
    pub(super) decorators: Decorators,
    /// Bytes before this one belong to a decorator. Its class may already be listed, so nothing in it is.
    pub(super) decorator_end: u32,
    /// Nodes before this one are in a function.
    pub(super) function_end: usize,
    /// Nodes before this one are in a `declare namespace` or the like, where everything is exported.
    pub(super) ambient_end: usize,
}

impl<'t> Walk<'_, 't> {
    /// Visits a node and returns the next node to visit: its first child, or the node after its subtree.
    fn visit(&mut self, at: usize) -> usize {
        let node = self.tree.node(at);
        match node.kind {
            OTHER => {}
            k::SHORTHAND_PATTERN if self.roles.get(at) == Role::Declares => self.key(at),
            k::SHORTHAND => {
                // The name of a value, and of the member that it becomes.
                self.refer(at, Some(RefShape::Value));
                self.draft.reference(node.span(), RefShape::Member, None);
            }
            k::IDENTIFIER | k::SHORTHAND_PATTERN => self.refer(at, Some(RefShape::Value)),
            k::PROPERTY_IDENTIFIER if self.is_key(at) => self.key(at),
            k::PROPERTY_IDENTIFIER | k::PRIVATE_IDENTIFIER => self.refer(at, None),
            k::TYPE_IDENTIFIER => self.refer(at, Some(RefShape::Type)),
            k::MEMBER | k::NESTED_IDENTIFIER => {
                self.roles.mark(self.tree.child(at, f::PROPERTY), Role::Refers(RefShape::Member));
            }
            k::CALL => {
                test_blocks::enter(self, at);
                self.call(at);
            }
            k::SUPER => self.refer(at, None),
            k::NEW => self.mark_name(self.tree.child(at, f::CONSTRUCTOR), RefShape::Construct),
            k::COMMENT => self.comments.add(self.draft, node.span()),
            k::DECORATOR => self.decorator(at),
            k::JSX_OPENING | k::JSX_SELF_CLOSING => {
                self.element_named(self.tree.child(at, f::NAME), RefShape::Jsx);
            }
            k::JSX_CLOSING => self.element_named(self.tree.children(at).next(), RefShape::Value),
            k::JSX_ATTRIBUTE => self.roles.mark(self.tree.children(at).next(), Role::Refers(RefShape::Member)),
            k::JSX_NAMESPACE_NAME => return node.next as usize,
            k::STATEMENT_IDENTIFIER => self.draft.mark_label(node.span()),
            k::EXTENDS => self.mark_name(self.tree.child(at, f::VALUE), RefShape::Extends),
            k::CLASS_HERITAGE if !self.typed => self.mark_name(self.tree.children(at).next(), RefShape::Extends),
            k::EXTENDS_TYPE => self.mark_all(at, RefShape::Extends),
            k::IMPLEMENTS => self.mark_all(at, RefShape::Implements),
            kind => return self.declaration(at, kind),
        }
        at + 1
    }

    /// Handles nodes that declare something, or open a scope.
    fn declaration(&mut self, at: usize, kind: u8) -> usize {
        match kind {
            k::FUNCTION_DECLARATION | k::GENERATOR_DECLARATION | k::FUNCTION_SIGNATURE => {
                declarations::function(self, at);
            }
            k::FUNCTION_EXPRESSION | k::GENERATOR => declarations::function_expression(self, at),
            k::CLASS_DECLARATION | k::ABSTRACT_CLASS | k::CLASS => declarations::class(self, at),
            k::INTERFACE => declarations::interface(self, at),
            k::TYPE_ALIAS => declarations::alias(self, at),
            k::ENUM => declarations::enumeration(self, at),
            k::ENUM_BODY => members::variants(self, at),
            k::MODULE | k::INTERNAL_MODULE => declarations::namespace(self, at),
            k::AMBIENT => declarations::ambient(self, at),
            k::METHOD | k::METHOD_SIGNATURE | k::ABSTRACT_METHOD => members::method(self, at),
            k::PUBLIC_FIELD | k::FIELD_DEFINITION | k::PROPERTY_SIGNATURE => members::field(self, at),
            k::PAIR => members::pair(self, at),
            k::VARIABLE_DECLARATOR => variables::declarator(self, at),
            k::ASSIGNMENT => assignments::assignment(self, at),
            k::EXPORT => return imports::export(self, at),
            k::IMPORT_STATEMENT => return imports::import(self, at),
            k::IMPORT_ALIAS => imports::alias(self, at),
            _ => scopes::open_scope(self, at, kind),
        }
        at + 1
    }

    /// Adds the reference of this leaf, with the shape of its role or else the default.
    fn refer(&mut self, at: usize, default: Option<RefShape>) {
        let shape = match self.roles.get(at) {
            Role::Declares => return,
            Role::Refers(shape) => shape,
            Role::Unset => match default {
                Some(shape) => shape,
                None => return,
            },
        };
        let qualifier = self.qualifier(at);
        self.draft.reference(self.tree.node(at).span(), shape, qualifier);
    }

    /// Returns whether this is the key of a pattern, or of a literal with unlisted members.
    fn is_key(&self, at: usize) -> bool {
        let node = self.tree.node(at);
        let around = self.tree.kind(node.parent as usize);
        node.field == f::KEY && matches!(around, k::PAIR | k::PAIR_PATTERN) && self.roles.get(at) == Role::Unset
    }

    /// Handles a member that a pattern reads or a literal sets: `const { key } = value`, `{ key: 1 }`.
    fn key(&mut self, at: usize) {
        let parent = |at: usize| self.tree.node(at).parent as usize;
        let part = match self.tree.kind(parent(at)) {
            k::PAIR_PATTERN | k::OBJECT_ASSIGNMENT_PATTERN => parent(at),
            _ => at,
        };
        let (pattern, owner) = (parent(part), parent(parent(part)));
        let is_whole = self.tree.kind(pattern) == k::OBJECT_PATTERN
            && self.tree.kind(owner) == k::VARIABLE_DECLARATOR
            && self.tree.child(owner, f::NAME) == Some(pattern);
        let value = if is_whole { self.tree.child(owner, f::VALUE) } else { None };
        let value = value.map(|value| self.tree.node(value).span());
        self.draft.reference(self.tree.node(at).span(), RefShape::Member, value);
    }

    /// Returns the qualifier of the last name of `a.b`.
    fn qualifier(&self, at: usize) -> Option<Span> {
        let node = self.tree.node(at);
        let parent = node.parent as usize;
        let before = match (node.field, self.tree.kind(parent)) {
            (f::PROPERTY, k::MEMBER | k::NESTED_IDENTIFIER) => self.tree.child(parent, f::OBJECT),
            (f::NAME, k::NESTED_TYPE) => self.tree.child(parent, f::MODULE),
            _ => None,
        };
        before.map(|before| self.tree.node(before).span())
    }

    fn call(&mut self, at: usize) {
        let Some(callee) = self.tree.child(at, f::FUNCTION).map(|callee| self.unwrap(callee)) else {
            return;
        };
        // The grammar parses `await f<T>()` as a call of `await f`.
        let awaited = (self.tree.kind(callee) == k::AWAIT).then(|| self.tree.children(callee).next()).flatten();
        let callee = awaited.map_or(callee, |inner| self.unwrap(inner));
        match self.tree.kind(callee) {
            k::IMPORT => loads::dynamic(self, at),
            k::IDENTIFIER => {
                loads::require(self, at, callee);
                self.roles.mark(Some(callee), Role::Refers(RefShape::Call));
            }
            k::SUPER => self.roles.mark(Some(callee), Role::Refers(RefShape::Call)),
            k::MEMBER => {
                let object = self.tree.child(callee, f::OBJECT).map(|object| self.tree.kind(object));
                let on_self = matches!(object, Some(k::THIS | k::SUPER));
                let shape = if on_self { RefShape::SelfCall } else { RefShape::MemberCall };
                self.roles.mark(self.tree.child(callee, f::PROPERTY), Role::Refers(shape));
            }
            _ => {}
        }
    }

    /// Returns the expression without wrappers that keep its value: brackets, casts, type arguments.
    pub(super) fn unwrap(&self, mut at: usize) -> usize {
        while matches!(
            self.tree.kind(at),
            k::PARENTHESIZED | k::AS | k::SATISFIES | k::NON_NULL | k::INSTANTIATION | k::TYPE_ASSERTION
        ) {
            let is_cast = self.tree.kind(at) == k::TYPE_ASSERTION;
            let inner = self.tree.children(at).filter(|&child| self.tree.kind(child) != k::COMMENT);
            let inner = if is_cast { inner.last() } else { inner.into_iter().next() };
            match inner {
                Some(inner) => at = inner,
                None => break,
            }
        }
        at
    }

    /// Assigns a role to the main name of an expression or type: `c` in `a.b.c`, `A` in `A<B>`.
    pub(super) fn mark_name(&mut self, at: Option<usize>, shape: RefShape) {
        let name = at.and_then(|at| self.name_of(at));
        self.roles.mark(name, Role::Refers(shape));
    }

    fn mark_all(&mut self, at: usize, shape: RefShape) {
        let tree = self.tree;
        tree.children(at).for_each(|child| self.mark_name(Some(child), shape));
    }

    fn name_of(&self, at: usize) -> Option<usize> {
        let at = self.unwrap(at);
        match self.tree.kind(at) {
            k::IDENTIFIER | k::TYPE_IDENTIFIER => Some(at),
            k::MEMBER | k::NESTED_IDENTIFIER => self.tree.child(at, f::PROPERTY),
            k::NESTED_TYPE => self.tree.child(at, f::NAME),
            k::GENERIC_TYPE => self.tree.child(at, f::NAME).and_then(|name| match self.tree.kind(name) {
                k::NESTED_TYPE => self.tree.child(name, f::NAME),
                _ => Some(name),
            }),
            _ => None,
        }
    }

    /// Handles `@a.b` or `@a.b(…)`. Decorators of class members wait for their member.
    fn decorator(&mut self, at: usize) {
        let node = self.tree.node(at);
        self.decorator_end = self.decorator_end.max(node.end);
        let expression = self.tree.children(at).next().map(|inner| self.unwrap(inner));
        let expression = expression.and_then(|inner| match self.tree.kind(inner) {
            k::CALL => self.tree.child(inner, f::FUNCTION),
            _ => Some(inner),
        });
        self.mark_name(expression, RefShape::Decorator);
        if matches!(self.tree.kind(node.parent as usize), k::CLASS_BODY | k::EXPORT) {
            self.decorate(at);
        }
    }

    /// Handles `<A.B …>`; a lower-case name without a dot is an element of HTML.
    fn element_named(&mut self, name: Option<usize>, shape: RefShape) {
        let Some(name) = name else {
            return;
        };
        let span = self.tree.node(name).span();
        let is_intrinsic = self.tree.kind(name) == k::IDENTIFIER && !is_capitalised(self.draft.slice(span));
        match is_intrinsic && !self.draft.slice(span).starts_with(['_', '$']) {
            // A member of the type that lists the elements.
            true => self.roles.mark(Some(name), Role::Refers(RefShape::Member)),
            false => self.mark_name(Some(name), shape),
        }
    }

    /// Returns the text of a node.
    pub(super) fn slice(&self, at: usize) -> &'t str {
        self.draft.slice(self.tree.node(at).span())
    }
}

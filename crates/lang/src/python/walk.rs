//! The pass over a Python tree.

use codecompass_model::{RefShape, Span};

use super::kinds::{field as f, kind as k};
use super::{definitions, imports, module};
use crate::draft::Draft;
use crate::names::FastMap;
use crate::roles::{Role, Roles};
use crate::text::is_capitalised;
use crate::tree::{Node, Tree};

/// Collects everything a Python file says.
pub(super) fn walk(tree: &Tree, draft: &mut Draft<'_>) {
    draft.set_prefix(module::prefix(draft.path));
    let roles = Roles::new(tree.len());
    let mut walk = Walk {
        tree,
        draft,
        roles,
        type_end: 0,
        comments: None,
        decorated: Decorated::default(),
        assigned: FastMap::default(),
    };
    let mut at = 0;
    while at < tree.len() {
        walk.draft.arrive(at);
        at = walk.visit(at);
    }
}

/// The state of the pass.
pub(super) struct Walk<'w, 't> {
    pub(super) tree: &'w Tree,
    pub(super) draft: &'w mut Draft<'t>,
    pub(super) roles: Roles,
    /// The last run of comment lines.
    pub(super) comments: Option<Span>,
    pub(super) decorated: Decorated,
    /// Names that the file or a class already has from an assignment, by the class.
    pub(super) assigned: FastMap<(Option<u32>, &'t str), ()>,
    /// Nodes before this one stand in a type annotation.
    type_end: usize,
}

/// A definition with its decorators, seen before the definition itself.
#[derive(Default)]
pub(super) struct Decorated {
    pub(super) definition: Option<usize>,
    pub(super) start: u32,
    pub(super) decorators: Vec<Span>,
}

impl Walk<'_, '_> {
    /// Looks at a node and returns the one to look at next: its first child, or what follows its subtree.
    fn visit(&mut self, at: usize) -> usize {
        let node = self.tree.node(at);
        match node.kind {
            k::IDENTIFIER => self.identifier(at),
            k::CALL => self.call(at),
            k::ATTRIBUTE => self.attribute(at),
            k::COMMENT => self.comment(&node),
            k::DECORATED => self.decorated(at),
            k::DECORATOR => {
                let name = self.tree.children(at).next().and_then(|expression| self.name_of(expression));
                self.roles.mark(name, Role::Refers(RefShape::Decorator));
            }
            k::FUNCTION => definitions::function(self, at),
            k::CLASS => definitions::class(self, at),
            k::ASSIGNMENT => definitions::assignment(self, at),
            k::TYPE_ALIAS => definitions::type_alias(self, at),
            k::IMPORT | k::FROM_IMPORT | k::FUTURE_IMPORT => return imports::statement(self, at),
            k::TYPE => self.type_end = self.type_end.max(node.next as usize),
            k::DOTTED_NAME => return self.case_name(at),
            kind => self.declaration(at, kind),
        }
        at + 1
    }

    /// Nodes that declare local names, or name parameters of what they call.
    fn declaration(&mut self, at: usize, kind: u8) {
        match kind {
            k::FOR | k::FOR_IN => self.declare(self.tree.child(at, f::LEFT)),
            k::NAMED_EXPRESSION | k::KEYWORD_ARGUMENT | k::DEFAULT_PARAMETER | k::TYPED_DEFAULT_PARAMETER => {
                self.declare(self.tree.child(at, f::NAME));
            }
            k::EXCEPT => self.declare(self.tree.child(at, f::ALIAS)),
            k::PARAMETERS | k::LAMBDA_PARAMETERS | k::AS_TARGET => {
                let tree = self.tree;
                tree.children(at).for_each(|child| self.declare(Some(child)));
            }
            k::TYPED_PARAMETER | k::KEYWORD_PATTERN | k::SPLAT_PATTERN => self.declare(self.tree.children(at).next()),
            k::AS_PATTERN => self.declare(self.tree.children(at).skip(1).last()),
            _ => {}
        }
    }

    /// Marks the names that a pattern binds.
    pub(super) fn declare(&mut self, pattern: Option<usize>) {
        for name in pattern.into_iter().flat_map(|pattern| bound_names(self.tree, pattern)) {
            self.roles.mark(Some(name), Role::Declares);
        }
    }

    fn identifier(&mut self, at: usize) {
        let node = self.tree.node(at);
        let default = if at < self.type_end { RefShape::Type } else { RefShape::Value };
        match (self.roles.of(at), self.draft.slice(node.span())) {
            (Role::Declares, _) | (Role::Open, "self" | "cls" | "_") => {}
            (Role::Refers(shape), _) => self.draft.reference(node.span(), shape, self.object(&node)),
            (Role::Open, _) => self.draft.reference(node.span(), default, self.object(&node)),
        }
    }

    /// What stands before the name of an attribute.
    fn object(&self, node: &Node) -> Option<Span> {
        let is_name = node.field == f::ATTRIBUTE && self.tree.kind(node.parent as usize) == k::ATTRIBUTE;
        let object = is_name.then(|| self.tree.child(node.parent as usize, f::OBJECT))?;
        object.map(|object| self.tree.node(object).span())
    }

    fn attribute(&mut self, at: usize) {
        let shape = if at < self.type_end { RefShape::Type } else { RefShape::Member };
        self.roles.mark(self.tree.child(at, f::ATTRIBUTE), Role::Refers(shape));
    }

    fn call(&mut self, at: usize) {
        let Some(callee) = self.tree.child(at, f::FUNCTION) else {
            return;
        };
        let Some(name) = self.name_of(callee) else {
            return;
        };
        let capital = is_capitalised(self.draft.slice(self.tree.node(name).span()));
        let shape = match self.tree.kind(callee) {
            k::ATTRIBUTE if self.is_on_self(callee) => RefShape::SelfCall,
            _ if capital => RefShape::Construct,
            k::ATTRIBUTE => RefShape::MemberCall,
            k::IDENTIFIER => RefShape::Call,
            _ => return,
        };
        self.roles.mark(Some(name), Role::Refers(shape));
    }

    fn is_on_self(&self, attribute: usize) -> bool {
        let object = self.tree.child(attribute, f::OBJECT).map(|object| self.tree.node(object));
        object.is_some_and(|object| matches!(self.draft.slice(object.span()), "self" | "cls"))
    }

    /// The name that an expression is known by: `c` in `a.b.c`, `a.b.c(…)` and `a.b.c[…]`.
    pub(super) fn name_of(&self, mut at: usize) -> Option<usize> {
        loop {
            at = match self.tree.kind(at) {
                k::IDENTIFIER => return Some(at),
                k::ATTRIBUTE => return self.tree.child(at, f::ATTRIBUTE),
                k::CALL => self.tree.child(at, f::FUNCTION)?,
                k::SUBSCRIPT => self.tree.child(at, f::VALUE)?,
                _ => return None,
            };
        }
    }

    /// Joins comments that have lines of their own, one below the other.
    fn comment(&mut self, node: &Node) {
        let line_start = self.draft.line_start(node.start);
        if !self.draft.slice(Span { start: line_start, end: node.start }).trim().is_empty() {
            self.comments = None;
            return;
        }
        let start = self.comment_start(node.start);
        self.comments = Some(Span { start, end: node.end });
    }

    /// The first of the comment lines that stand directly above a place, else the place itself.
    pub(super) fn comment_start(&self, place: u32) -> u32 {
        let Some(comments) = self.comments.filter(|comments| comments.end <= place) else {
            return place;
        };
        let between = self.draft.slice(Span { start: comments.end, end: place });
        let adjacent = between.trim().is_empty() && between.bytes().filter(|&byte| byte == b'\n').count() == 1;
        if adjacent { comments.start } else { place }
    }

    fn decorated(&mut self, at: usize) {
        self.decorated.definition = self.tree.child(at, f::DEFINITION);
        self.decorated.start = self.tree.node(at).start;
        self.decorated.decorators.clear();
        for child in self.tree.children(at).filter(|&child| self.tree.kind(child) == k::DECORATOR) {
            self.decorated.decorators.push(self.tree.node(child).span());
        }
    }

    /// A dotted name outside of imports stands in a `case`: a class, a constant, or a name that is bound.
    fn case_name(&mut self, at: usize) -> usize {
        let whole = self.tree.node(at);
        let names = self.tree.children(at).filter(|&child| self.tree.kind(child) == k::IDENTIFIER);
        if let Some(last) = names.last().map(|last| self.tree.node(last)) {
            let qualifier = (last.start > whole.start).then(|| Span { start: whole.start, end: last.start - 1 });
            let shape = match (self.tree.kind(whole.parent as usize), qualifier) {
                (k::CLASS_PATTERN, _) => Some(RefShape::Type),
                (_, Some(_)) => Some(RefShape::Member),
                (_, None) => is_capitalised(self.draft.slice(last.span())).then_some(RefShape::Value),
            };
            if let Some(shape) = shape {
                self.draft.reference(last.span(), shape, qualifier);
            }
        }
        whole.next as usize
    }
}

/// The names that a pattern on the left of an assignment binds; members and items of other things are not among them.
pub(super) fn bound_names(tree: &Tree, pattern: usize) -> impl Iterator<Item = usize> + '_ {
    let is_pattern = |kind: u8| {
        matches!(
            kind,
            k::PATTERN_LIST | k::TUPLE_PATTERN | k::LIST_PATTERN | k::LIST_SPLAT_PATTERN | k::DICT_SPLAT_PATTERN
        )
    };
    let end = if is_pattern(tree.kind(pattern)) { tree.next(pattern) } else { pattern + 1 };
    (pattern..end).filter(move |&at| {
        let node = tree.node(at);
        node.kind == k::IDENTIFIER && (at == pattern || is_pattern(tree.kind(node.parent as usize)))
    })
}

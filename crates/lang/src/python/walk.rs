//! The pass over a Python tree.

use codecompass_model::{RefShape, Span};

use super::assignments::{self, ExpectedField};
use super::definitions::{self, Decorated};
use super::kinds::{field as f, kind as k};
use super::scopes::{self, Scopes};
use super::{docs_and_comments, imports, module, patterns};
use crate::draft::Draft;
use crate::interner::FastMap;
use crate::roles::{Role, Roles};
use crate::text::is_capitalised;
use crate::tree::{Node, Tree};

/// Collects the facts of a Python file.
pub(super) fn walk(tree: &Tree, draft: &mut Draft<'_>) {
    draft.set_prefix(module::prefix(draft.path));
    draft.types_are_values();
    let roles = Roles::new(tree.len());
    let mut walk = Walk {
        tree,
        draft,
        roles,
        scopes: Scopes::default(),
        comments: None,
        decorated: Decorated::default(),
        assigned_fields: FastMap::default(),
        expected_fields: FastMap::default(),
        statement: 0,
        scanned: 0,
        typing_end: 0,
        type_end: 0,
        literal_end: 0,
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
    pub(super) scopes: Scopes<'t>,
    pub(super) decorated: Decorated,
    /// Names that the file or a class already has from an assignment, by the class.
    pub(super) assigned_fields: FastMap<(Option<u32>, &'t str), ()>,
    /// Names that a class is going to have.
    pub(super) expected_fields: FastMap<(u32, &'t str), ExpectedField>,
    /// The node with the targets that are being visited.
    pub(super) statement: usize,
    /// The function that is being scanned for names.
    pub(super) scanned: usize,
    /// Nodes before this one are only for type checkers.
    pub(super) typing_end: usize,
    /// The last run of comment lines.
    comments: Option<Span>,
    /// Nodes before this one are in a type annotation.
    type_end: usize,
    /// Strings before this node are no types although they are in an annotation.
    literal_end: usize,
}

impl Walk<'_, '_> {
    /// Visits a node and returns the next node to visit: its first child, or the node after its subtree.
    fn visit(&mut self, at: usize) -> usize {
        let node = self.tree.node(at);
        match node.kind {
            k::IDENTIFIER => self.identifier(at),
            k::CALL => self.call(at),
            k::ATTRIBUTE => self.attribute(at),
            k::COMMENT => self.comment(&node),
            k::DECORATED => definitions::decorated(self, at),
            k::DECORATOR => {
                let name = self.tree.children(at).next().and_then(|expression| self.name_of(expression));
                self.roles.mark(name, Role::Refers(RefShape::Decorator));
            }
            k::FUNCTION => definitions::function(self, at),
            k::CLASS => definitions::class(self, at),
            k::TYPE_ALIAS => assignments::type_alias(self, at),
            k::IMPORT | k::FROM_IMPORT | k::FUTURE_IMPORT => return imports::statement(self, at),
            k::TYPE => self.type_end = self.type_end.max(node.next as usize),
            k::GENERIC_TYPE | k::SUBSCRIPT if at < self.type_end => self.generic(at),
            k::STRING_CONTENT => self.string(at),
            k::IF => self.condition(at),
            k::DOTTED_NAME if patterns::capture(self, at).is_none() => return self.case_name(at),
            kind => self.declaration(at, kind),
        }
        at + 1
    }

    /// Handles nodes that declare local names, or name parameters of a callee.
    fn declaration(&mut self, at: usize, kind: u8) {
        match kind {
            k::ASSIGNMENT | k::FOR | k::NAMED_EXPRESSION | k::AS_PATTERN | k::DOTTED_NAME | k::SPLAT_PATTERN => {
                scopes::assign(self, at);
            }
            k::LIST_COMPREHENSION | k::SET_COMPREHENSION | k::DICT_COMPREHENSION | k::GENERATOR => {
                scopes::comprehension(self, at);
            }
            k::LAMBDA => scopes::lambda(self, at),
            k::KEYWORD_ARGUMENT => {
                self.roles.mark(self.tree.child(at, f::NAME), Role::Refers(RefShape::Member));
            }
            k::KEYWORD_PATTERN => {
                self.roles.mark(self.tree.children(at).next(), Role::Refers(RefShape::Member));
            }
            _ => {}
        }
    }

    fn identifier(&mut self, at: usize) {
        let node = self.tree.node(at);
        let default = if at < self.type_end { RefShape::Type } else { RefShape::Value };
        match (self.roles.get(at), self.draft.slice(node.span())) {
            (Role::Declares, _) | (Role::Unset, "self" | "cls" | "_") => {}
            (Role::Refers(shape), _) => self.draft.reference(node.span(), shape, self.object(&node)),
            (Role::Unset, _) => self.draft.reference(node.span(), default, self.object(&node)),
        }
    }

    /// Returns the receiver of an attribute.
    fn object(&self, node: &Node) -> Option<Span> {
        let is_name = node.field == f::ATTRIBUTE && self.tree.kind(node.parent as usize) == k::ATTRIBUTE;
        let object = is_name.then(|| self.tree.child(node.parent as usize, f::OBJECT))?;
        object.map(|object| self.tree.node(object).span())
    }

    fn attribute(&mut self, at: usize) {
        let in_type = at < self.type_end;
        let shape = if in_type { RefShape::Type } else { RefShape::Member };
        self.roles.mark(self.tree.child(at, f::ATTRIBUTE), Role::Refers(shape));
        if in_type {
            let module = self.tree.child(at, f::OBJECT).filter(|&object| self.tree.kind(object) == k::IDENTIFIER);
            self.roles.mark(module, Role::Refers(RefShape::Value));
        }
    }

    fn call(&mut self, at: usize) {
        let Some(callee) = self.tree.child(at, f::FUNCTION) else {
            return;
        };
        let Some(name) = self.name_of(callee) else {
            return;
        };
        let word = self.draft.slice(self.tree.node(name).span());
        let shape = match self.tree.kind(callee) {
            k::ATTRIBUTE if self.is_on_self(callee) => RefShape::SelfCall,
            _ if is_capitalised(word) => RefShape::Construct,
            k::ATTRIBUTE => RefShape::MemberCall,
            k::IDENTIFIER => RefShape::Call,
            _ => return,
        };
        self.roles.mark(Some(name), Role::Refers(shape));
        match word {
            "__import__" | "import_module" => imports::dynamic(self, at),
            "cast" | "TypeVar" => self.type_argument(at, word),
            _ => {}
        }
    }

    /// Handles the string that is a type in `cast("T", x)` and `TypeVar("T", bound="B")`.
    fn type_argument(&mut self, call: usize, callee: &str) {
        let tree = self.tree;
        let string = match callee {
            "cast" => docs_and_comments::first_argument(self, call),
            _ => tree.child(call, f::ARGUMENTS).and_then(|list| {
                let keywords = tree.children(list).filter(|&child| tree.kind(child) == k::KEYWORD_ARGUMENT);
                keywords.filter(|&child| self.draft.slice(tree.node(child).span()).starts_with("bound")).last()
            }),
        };
        let string = string.and_then(|at| if tree.kind(at) == k::STRING { Some(at) } else { tree.child(at, f::VALUE) });
        let content = string.and_then(|string| docs_and_comments::plain_string(self, string));
        self.roles.mark(content, Role::Refers(RefShape::Type));
    }

    fn is_on_self(&self, attribute: usize) -> bool {
        let object = self.tree.child(attribute, f::OBJECT).map(|object| self.tree.node(object));
        object.is_some_and(|object| matches!(self.draft.slice(object.span()), "self" | "cls"))
    }

    /// Returns the main name of an expression: `c` in `a.b.c`, `a.b.c(…)` and `a.b.c[…]`.
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

    /// Handles `Literal` and `Annotated`: not all arguments are types, so none of their strings counts as a type.
    fn generic(&mut self, at: usize) {
        let head = self.tree.children(at).next().map(|head| self.draft.slice(self.tree.node(head).span()));
        if head.is_some_and(|head| matches!(head.rsplit('.').next(), Some("Literal" | "Annotated"))) {
            self.literal_end = self.literal_end.max(self.tree.next(at));
        }
    }

    fn string(&mut self, at: usize) {
        let is_type = at < self.type_end && at >= self.literal_end || self.roles.get(at) != Role::Unset;
        if is_type {
            docs_and_comments::type_string(self, self.tree.node(at).span());
        }
    }

    /// Handles `if TYPE_CHECKING:`, which guards code for type checkers only.
    fn condition(&mut self, at: usize) {
        let condition =
            self.tree.children(at).next().map(|condition| self.draft.slice(self.tree.node(condition).span()));
        if condition.is_some_and(|condition| condition.rsplit('.').next() == Some("TYPE_CHECKING")) {
            let guarded = self.tree.child_of_kind(at, k::BLOCK).map_or(0, |block| self.tree.next(block));
            self.typing_end = self.typing_end.max(guarded);
        }
    }

    /// Joins comments on consecutive lines of their own.
    fn comment(&mut self, node: &Node) {
        let line_start = self.draft.line_start(node.start);
        if !self.draft.slice(Span { start: line_start, end: node.start }).trim().is_empty() {
            self.comments = None;
            return;
        }
        let start = self.comment_start(node.start);
        self.comments = Some(Span { start, end: node.end });
    }

    /// Returns the comment lines directly above an offset.
    pub(super) fn comment_above(&self, place: u32) -> Option<Span> {
        let comments = self.comments.filter(|comments| comments.end <= place)?;
        let between = self.draft.slice(Span { start: comments.end, end: place });
        let adjacent = between.trim().is_empty() && between.bytes().filter(|&byte| byte == b'\n').count() == 1;
        adjacent.then_some(comments)
    }

    /// Returns the start of the comment lines directly above an offset, else the offset itself.
    pub(super) fn comment_start(&self, place: u32) -> u32 {
        self.comment_above(place).map_or(place, |comments| comments.start)
    }

    /// Returns whether a symbol may be entered: not in a decorator, where only broken code has symbols, since the
    /// decorated symbol was already entered and symbols are in source order.
    pub(super) fn is_in_order(&self, at: usize) -> bool {
        at >= self.decorated.definition
    }

    /// Handles a dotted name outside imports, which is in a `case`: a class or a constant.
    fn case_name(&mut self, at: usize) -> usize {
        let whole = self.tree.node(at);
        let names = self.tree.children(at).filter(|&child| self.tree.kind(child) == k::IDENTIFIER);
        if let Some(last) = names.last().map(|last| self.tree.node(last)) {
            let qualifier = (last.start > whole.start).then(|| Span { start: whole.start, end: last.start - 1 });
            let shape = match (self.tree.kind(whole.parent as usize), qualifier) {
                (k::CLASS_PATTERN, _) => RefShape::Type,
                (_, Some(_)) => RefShape::Member,
                (_, None) => RefShape::Value,
            };
            self.draft.reference(last.span(), shape, qualifier);
        }
        whole.next as usize
    }
}

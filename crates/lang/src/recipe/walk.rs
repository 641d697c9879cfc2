//! The pass over a tree by the rows of a language.
//!
//! A node acts when the walk advances to it. Some actions are deferred until the walk leaves the node: a value is
//! lowered after everything in it was visited, in the value's own scope, because only then has a closure in it recorded
//! its result.

use std::collections::HashMap;

use codecompass_model::{BindingKind, Expr, ExprId, Part, RefShape, Seen};

use super::lower::Lowered;
use super::table::{Bind, Do, Find, Lower, Recipe};
use crate::comments::Comments;
use crate::draft::{Draft, NewBinding, Open, Said};
use crate::names::FastMap;
use crate::roles::{Role, Roles};
use crate::tree::Tree;

/// The maximum number of return values of a function to record.
const MAX_RETURNS: usize = 8;

/// The maximum number of notes to search for a word.
const MAX_NOTES: usize = 200;
/// Marks a qualifier that is a pointer to the value with the member.
const POINTED: u32 = 1 << 31;

/// The pass and its state.
pub(crate) struct Walk<'w, 't> {
    pub(super) recipe: &'static Recipe,
    pub(crate) tree: &'w Tree,
    pub(crate) draft: &'w mut Draft<'t>,
    pub(crate) roles: Roles,
    pub(super) comments: Comments,
    pub(super) lowered: Lowered,
    /// By node: the qualifier of the name there, plus one; with [`POINTER_BIT`] it is a pointer.
    before: Vec<u32>,
    /// Qualifiers that do not occur in the text, or not as a node of their own.
    before_values: FastMap<usize, ExprId>,
    /// Actions to run when nodes end, the innermost last.
    leaving: Vec<Leaving>,
    /// The returned values of the enclosing functions so far; the file comes first.
    pub(super) frames: Vec<Frame>,
    /// The number of the reference at the name of a callee.
    called: FastMap<usize, u32>,
    /// The callees of argument lists that no row covers.
    pub(super) given_to: FastMap<usize, ExprId>,
    /// The function that was opened last.
    opened: usize,
    /// Nodes before this one are inside a function.
    local_end: usize,
    /// Marks that hooks leave at a node for when the walk reaches it.
    marks: FastMap<usize, u32>,
    /// Members that hooks have added, by owner and name, with the nodes of their values.
    known: FastMap<(u32, &'t str), (u32, usize)>,
    /// The enclosing anonymous types: the node after their bodies, and their base type.
    pub(crate) unnamed: Vec<(usize, usize)>,
    /// Notes of hooks: the node after the block they apply to, a word, and what the word represents.
    notes: Vec<(usize, String, String)>,
    /// The enclosing bodies that are divided by words such as `public:`: the node after each, and the last such word.
    pub(crate) sections: Vec<(usize, &'t str)>,
    /// Words that the hooks of a language keep for later, such as the exports of a file.
    pub(crate) kept: HashMap<&'t str, bool>,
}

/// An action to run when a node ends.
struct Leaving {
    end: usize,
    open: Open,
    what: Left,
}

pub(super) enum Left {
    /// Sets this node as the value of a symbol.
    Symbol(u32, usize),
    /// Sets this node as the value of a local binding.
    Binding(u32, usize),
    /// Closes the function of a symbol.
    Function(Option<u32>),
    /// Closes a closure: the node, the number of parameters and the body.
    Closure(usize, u32, Option<usize>),
    /// Completes a call with this leaf as its name.
    Call(usize, usize),
    /// Completes a returned expression.
    Return(usize),
    /// Lowers an expression that is requested only after its block is closed.
    Lower(usize),
}

/// An open function.
#[derive(Default)]
pub(super) struct Frame {
    /// Whether its result is inferred.
    pub(super) is_asked: bool,
    /// Its declared result.
    pub(super) result: Option<ExprId>,
    pub(super) returns: Vec<ExprId>,
}

/// Extracts the facts of a file.
pub(crate) fn walk(recipe: &'static Recipe, tree: &Tree, draft: &mut Draft<'_>) {
    let mut walk = Walk {
        recipe,
        tree,
        draft,
        roles: Roles::new(tree.len()),
        comments: Comments::new(|_| false),
        lowered: Lowered::new(tree.len()),
        before: vec![0; tree.len()],
        before_values: FastMap::default(),
        leaving: Vec::new(),
        frames: vec![Frame { is_asked: recipe.infers, ..Frame::default() }],
        called: FastMap::default(),
        given_to: FastMap::default(),
        opened: 0,
        local_end: 0,
        marks: FastMap::default(),
        known: FastMap::default(),
        unnamed: Vec::new(),
        notes: Vec::new(),
        sections: Vec::new(),
        kept: HashMap::new(),
    };
    (recipe.begin)(&mut walk);
    let mut at = 0;
    while at < tree.len() {
        walk.arrive(at);
        at = walk.visit(at);
    }
    walk.arrive(tree.len());
    let file = walk.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
    if let Some(value) = walk.either(file) {
        walk.draft.set_file_value(value);
    }
}

impl<'t> Walk<'_, 't> {
    /// Leaves a mark at a node.
    pub(crate) fn mark(&mut self, at: usize, mark: u32) {
        self.marks.insert(at, mark);
    }

    /// Returns the mark at a node; 0 for none.
    pub(crate) fn marked(&self, at: usize) -> u32 {
        self.marks.get(&at).copied().unwrap_or(0)
    }

    /// Returns a member that a hook has added, and the node of its value.
    pub(crate) fn known(&self, of: u32, name: &'t str) -> Option<(u32, usize)> {
        self.known.get(&(of, name)).copied()
    }

    /// Records a member that a hook has added.
    pub(crate) fn make_known(&mut self, of: u32, name: &'t str, symbol: u32, value: usize) {
        self.known.insert((of, name), (symbol, value));
    }

    /// Returns whether a node is inside a function.
    pub(crate) fn is_local(&self, at: usize) -> bool {
        at < self.local_end
    }

    /// Runs the deferred actions of the nodes that end before this one, and closes their blocks.
    fn arrive(&mut self, at: usize) {
        while let Some(leaving) = self.leaving.pop_if(|leaving| leaving.end <= at) {
            self.draft.close_to(leaving.open);
            self.leave(leaving.what);
        }
        while self.unnamed.pop_if(|(end, _)| *end <= at).is_some() {}
        while self.notes.pop_if(|(end, ..)| *end <= at).is_some() {}
        while self.sections.pop_if(|(end, _)| *end <= at).is_some() {}
        self.draft.arrive(at);
    }

    fn leave(&mut self, what: Left) {
        match what {
            Left::Symbol(symbol, node) => {
                let value = self.lower(node);
                self.draft.set_value(symbol, value);
            }
            Left::Binding(binding, node) => {
                let value = self.lower(node);
                self.draft.set_binding_value(binding, value);
            }
            Left::Function(symbol) => {
                let returns = self.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
                if let (Some(symbol), Some(value)) = (symbol, self.either(returns)) {
                    self.draft.set_value(symbol, value);
                }
            }
            Left::Closure(at, params, body) => {
                let returns = self.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
                let is_block = body.is_some_and(|body| {
                    self.does(body).iter().any(|one| matches!(one, Do::Scope | Do::In(_, Do::Scope)))
                });
                let back = match body.filter(|_| !is_block) {
                    Some(body) => Some(self.lower(body)),
                    None => self.either(returns),
                };
                let closure = self.draft.expr(Expr::Closure { params, back });
                self.lowered.put(at, closure);
            }
            Left::Call(at, leaf) => {
                if let Some(&reference) = self.called.get(&leaf) {
                    let call = self.lower(at);
                    self.draft.set_call(reference, call);
                }
            }
            Left::Lower(node) => {
                self.lower(node);
            }
            Left::Return(node) => {
                let value = self.lower(node);
                if let Some(frame) = self.frames.last_mut().filter(|frame| frame.returns.len() < MAX_RETURNS) {
                    frame.returns.push(value);
                }
            }
        }
    }

    /// Returns one expression for several alternatives, without duplicates.
    pub(super) fn either(&mut self, mut all: Vec<ExprId>) -> Option<ExprId> {
        let mut seen = Vec::new();
        all.retain(|id| {
            !seen.contains(id) && {
                seen.push(*id);
                true
            }
        });
        match all.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => Some(self.draft.expr(Expr::Either(all.into()))),
        }
    }

    pub(super) fn later(&mut self, end: usize, what: Left) {
        self.leaving.push(Leaving { end, open: self.draft.mark(), what });
    }

    /// Sets the value of a symbol once the node has been visited.
    pub(crate) fn value_of_symbol(&mut self, symbol: u32, node: usize) {
        self.later(self.tree.next(node), Left::Symbol(symbol, node));
    }

    /// Visits a node and returns the next one to visit.
    fn visit(&mut self, at: usize) -> usize {
        let mut next = at + 1;
        for step in self.does(at) {
            next = next.max(self.step(at, step));
        }
        next
    }

    fn step(&mut self, at: usize, step: &'static Do) -> usize {
        match step {
            Do::Define(new) => self.define_row(at, new),
            Do::Scope => self.scope(at),
            Do::Bind(new) => {
                self.bind_row(at, new);
            }
            Do::Bases(shape) => self.bases(at, *shape),
            Do::Leaf(shape) => self.leaf(at, *shape),
            Do::Refers(find, shape) => {
                let name = self.find(at, *find).and_then(|of| self.name_node(of));
                self.roles.mark(name, Role::Refers(*shape));
            }
            Do::Label => {
                for name in self.tree.children(at) {
                    if self.does(name).iter().any(|one| matches!(one, Do::Leaf(_))) {
                        self.roles.mark(Some(name), Role::Declares);
                        self.draft.means_itself(self.tree.node(name).span());
                    }
                }
            }
            Do::Lower(of) => self.expression(at, of),
            Do::Returns => {
                let node = self.items(at).next();
                if let Some(node) = node {
                    self.gives_back(node);
                }
            }
            Do::Comment => self.comments.add(self.draft.text, self.tree.node(at).span()),
            Do::Fields | Do::Imports | Do::Opaque => {}
            Do::In(kind, step) => {
                if self.kind(self.parent(at)) == *kind {
                    return self.step(at, step);
                }
            }
            Do::Hook(hook) => return hook(self, at),
        }
        at + 1
    }

    fn is_asked(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.is_asked)
    }

    /// Opens a lexical block; declarations in it are local.
    pub(crate) fn scope(&mut self, at: usize) {
        let end = self.tree.next(at);
        self.local_end = self.local_end.max(end);
        self.draft.block(end, false);
    }

    /// Opens a function: its block, and its result.
    pub(crate) fn open_function(&mut self, at: usize, symbol: Option<u32>) {
        self.scope(at);
        self.opened = at;
        let is_asked = self.recipe.infers && symbol.is_some();
        self.later(self.tree.next(at), Left::Function(symbol));
        self.frames.push(Frame { is_asked, ..Frame::default() });
    }

    /// Sets the declared result of the innermost open function.
    pub(super) fn set_result(&mut self, result: Option<ExprId>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.result = result;
        }
    }

    /// Returns whether a function was opened before the walk reached it, by the node that names it.
    pub(crate) fn is_open_function(&self, at: usize) -> bool {
        self.opened == at && at > 0
    }

    /// Adds an expression that the enclosing function returns.
    pub(crate) fn gives_back(&mut self, node: usize) {
        if self.is_asked() {
            self.later(self.tree.next(node), Left::Return(node));
        }
    }

    /// Lowers the last expression of a block, which is the block's value, while the names of the block are in scope.
    pub(crate) fn lower_in_block(&mut self, node: usize) {
        self.later(self.tree.next(node), Left::Lower(node));
    }

    /// Binds the local binding of a row.
    pub(crate) fn bind_row(&mut self, at: usize, new: &Bind) -> Option<u32> {
        let name = self.find(at, new.name)?;
        if self.roles.of(name) == Role::Declares {
            return None;
        }
        let annotation = self.declared(at, new);
        let from = if new.at_once || new.kind != BindingKind::Local { at } else { self.tree.next(at) };
        let value = self.find(at, new.value);
        // A loop variable is visible in the body, which belongs to the same node.
        let from = value.filter(|_| new.part != Part::Whole).map_or(from, |value| self.tree.next(value));
        let binding = self.bind_as(name, new.kind, annotation, new.part, from)?;
        if let Some(value) = value {
            self.later(self.tree.next(value), Left::Binding(binding, value));
        }
        Some(binding)
    }

    /// Binds a name and marks it as declared.
    pub(crate) fn bind_as(
        &mut self,
        name: usize,
        kind: BindingKind,
        annotation: Option<ExprId>,
        part: Part,
        from: usize,
    ) -> Option<u32> {
        self.roles.mark(Some(name), Role::Declares);
        let span = self.tree.node(name).span();
        let annotation = annotation.map(Said::Expr);
        self.draft.bound_as(NewBinding { name: span, kind, annotation, value: None, part, from })
    }

    /// Sets the value of a local binding once the node has been visited.
    pub(crate) fn value_of_binding(&mut self, binding: u32, node: usize) {
        self.later(self.tree.next(node), Left::Binding(binding, node));
    }

    /// Returns the declared type of a binding.
    pub(super) fn declared(&mut self, at: usize, new: &Bind) -> Option<ExprId> {
        let of = self.find(at, new.of_type).filter(|&of| !self.recipe.inferred.contains(&self.text(of)))?;
        let of = self.lower(of);
        Some(if new.variadic { self.draft.expr(Expr::List(of)) } else { of })
    }

    /// Adds the types in a node as bases of the enclosing symbol.
    fn bases(&mut self, at: usize, shape: RefShape) {
        let mut lists = vec![at];
        while let Some(list) = lists.pop() {
            let items: Vec<usize> = self.items(list).collect();
            for item in items {
                let is_type = self.does(item).iter().any(|one| matches!(one, Do::Lower(_) | Do::Leaf(_)));
                if !is_type {
                    lists.push(item);
                    continue;
                }
                let name = self.name_node(item);
                self.roles.mark(name, Role::Refers(shape));
                let base = self.lower(item);
                self.draft.add_base(base);
            }
        }
    }

    /// Adds the reference of a name, with the shape that an outer node assigned, or with the default one.
    fn leaf(&mut self, at: usize, default: RefShape) {
        let shape = match self.roles.of(at) {
            Role::Declares => return,
            Role::Refers(shape) => shape,
            Role::Open => default,
        };
        let span = self.tree.node(at).span();
        if default == RefShape::Type && self.recipe.inferred.contains(&self.draft.slice(span)) {
            return;
        }
        let reference = self.draft.reference_count();
        let is_value = matches!(shape, RefShape::Value | RefShape::Call);
        let implied = if is_value && self.before[at] == 0 { self.implied_for(at) } else { None };
        match self.before[at] {
            0 if self.before_values.contains_key(&at) => {
                let before = self.before_values[&at];
                self.draft.reference_on(span, shape, before);
            }
            0 if let Some(of) = implied => self.draft.reference_on(span, shape, of),
            0 if shape == RefShape::Call && self.recipe.calls_apart => self.draft.reference_to_function(span),
            0 => self.draft.reference(span, shape, None),
            before if before as usize == at + 1 => {
                let root = self.draft.name_expr("", at);
                self.draft.reference_on(span, shape, root);
            }
            before => {
                let of = self.lower((before & !POINTED) as usize - 1);
                let before = if before & POINTED == 0 { of } else { self.pointed(of) };
                self.draft.reference_on(span, shape, before);
            }
        }
        if self.draft.reference_count() == reference {
            return;
        }
        if self.recipe.overloads {
            self.called.insert(at, reference as u32);
        }
        if self.before[at] == 0
            && shape != RefShape::Member
            && let Seen::Symbol(symbol) = self.draft.see(span, at)
        {
            self.draft.set_seen(reference as u32, symbol);
        }
    }

    /// Notes what a word represents, up to a node. Later notes end first.
    pub(crate) fn note(&mut self, end: usize, word: &str, of: &str) {
        self.notes.push((end, word.to_owned(), of.to_owned()));
    }

    /// Returns what a word represents here.
    pub(crate) fn noted(&self, word: &str) -> Option<&str> {
        let near = self.notes.iter().rev().take(MAX_NOTES);
        near.into_iter().find(|(_, known, _)| known == word).map(|(.., of)| of.as_str())
    }

    /// Returns the node up to which the nearest note of a word applies; the end of the file if there is none.
    pub(crate) fn noted_end(&self, word: &str) -> usize {
        let near = self.notes.iter().rev().take(MAX_NOTES).find(|(_, known, _)| known == word);
        near.map_or(self.tree.len(), |(end, ..)| *end)
    }

    /// Sets the qualifier of a name. A name that is its own qualifier follows the marker of the global scope, as in
    /// `::a`.
    pub(crate) fn behind(&mut self, name: usize, before: usize) {
        self.before[name] = before as u32 + 1;
    }

    /// Sets a pointer as the qualifier of a name.
    pub(crate) fn behind_pointer(&mut self, name: usize, before: usize) {
        self.before[name] = (before as u32 + 1) | POINTED;
    }

    /// Sets an expression as the qualifier of a name, if the qualifier is not a node.
    pub(crate) fn behind_value(&mut self, name: usize, before: ExprId) {
        self.before_values.insert(name, before);
    }

    /// Assigns shapes and qualifiers to the names in an expression.
    fn expression(&mut self, at: usize, of: &'static Lower) {
        match of {
            Lower::Member(before, name) | Lower::Pointed(before, name) => {
                self.member(at, *before, *name, RefShape::Member);
            }
            Lower::Call { of, name, .. } => {
                let is_own = self.find(at, *of).is_some_and(|of| self.is_this(of));
                let shape = match self.find(at, *of) {
                    Some(_) if is_own => RefShape::SelfCall,
                    Some(_) => RefShape::MemberCall,
                    None => RefShape::Call,
                };
                self.member(at, *of, *name, shape);
                self.call(at, self.find(at, *name));
            }
            Lower::CallOf(callee, _) | Lower::CallWith(callee, ..) => {
                let name = self.find(at, *callee).and_then(|callee| self.name_node(callee));
                let mut head = self.find(at, *callee);
                // Explicit type arguments come between the name and the parentheses.
                while let Some(inner) = head.filter(|_| matches!(of, Lower::CallWith(..)))
                    && let Some(Lower::Generic(of, _)) =
                        self.does(inner).iter().find_map(|one| if let Do::Lower(of) = one { Some(of) } else { None })
                {
                    head = self.find(inner, *of);
                }
                let is_alone = head == name;
                let shape = if is_alone { RefShape::Call } else { RefShape::MemberCall };
                self.roles.mark(name, Role::Refers(shape));
                self.call(at, name);
            }
            Lower::New(of, _) => {
                let name = self.find(at, *of).and_then(|of| self.name_node(of));
                self.roles.mark(name, Role::Refers(RefShape::Construct));
                self.call(at, name);
            }
            Lower::Closure(params, body) => self.closure(at, *params, *body),
            _ => {}
        }
    }

    /// Records the whole call for its name, because the arguments decide between overloads.
    pub(crate) fn call(&mut self, at: usize, name: Option<usize>) {
        if let Some(name) = name.filter(|_| self.recipe.overloads) {
            self.later(self.tree.next(at), Left::Call(at, name));
        }
    }

    /// Sets the callee of an argument list.
    pub(crate) fn given_to(&mut self, list: usize, callee: ExprId) {
        self.given_to.insert(list, callee);
    }

    fn is_this(&self, at: usize) -> bool {
        self.does(at).iter().any(|one| matches!(one, Do::Lower(Lower::This | Lower::Super)))
    }

    fn member(&mut self, at: usize, before: Find, name: Find, shape: RefShape) {
        let Some(name) = self.find(at, name) else { return };
        let name = self.name_node(name).unwrap_or(name);
        // A leaf that is a type in the grammar is also one after a dot.
        let is_type = self.does(name).iter().any(|one| matches!(one, Do::Leaf(RefShape::Type)));
        let shape = if is_type && shape == RefShape::Member { RefShape::Type } else { shape };
        self.roles.mark(Some(name), Role::Refers(shape));
        if let Some(before) = self.find(at, before).filter(|&before| before != name) {
            let is_pointed = self.does(at).iter().any(|one| matches!(one, Do::Lower(Lower::Pointed(..))));
            match is_pointed && self.is_arrow(before, name) {
                true => self.behind_pointer(name, before),
                false => self.behind(name, before),
            }
        }
    }
}

//! The pass over a tree by the rows of a language.
//!
//! A node acts when the walk advances to it. Some actions are deferred until the walk leaves the node: a value is
//! lowered after everything in it was visited, in the value's own scope, because only then has a closure in it recorded
//! its result.

use std::collections::HashMap;

use codecompass_model::{BindingKind, Expr, ExprId, LexicalTarget, RefShape, ValuePart};

use super::lower::Lowered;
use super::table::{Action, Bind, Find, LanguageSpec, Lower};
use crate::comments::Comments;
use crate::draft::{Draft, ExprInput, NewBinding, OpenCounts};
use crate::interner::FastMap;
use crate::roles::{Role, Roles};
use crate::tree::Tree;

/// The maximum number of return values of a function to record.
const MAX_RETURNS: usize = 8;

/// The maximum number of notes to search for a word.
const MAX_NOTES: usize = 200;
/// Marks a qualifier that is a pointer to the value with the member.
const POINTER_BIT: u32 = 1 << 31;

/// The pass and its state.
pub(crate) struct Walk<'w, 't> {
    pub(super) spec: &'static LanguageSpec,
    pub(crate) tree: &'w Tree,
    pub(crate) draft: &'w mut Draft<'t>,
    pub(crate) roles: Roles,
    pub(super) comments: Comments,
    pub(super) lowered: Lowered,
    /// By node: the qualifier of the name there, plus one; with [`POINTER_BIT`] it is a pointer.
    qualifiers: Vec<u32>,
    /// Qualifiers that do not occur in the text, or not as a node of their own.
    qualifier_exprs: FastMap<usize, ExprId>,
    /// Actions to run when nodes end, the innermost last.
    deferred: Vec<Deferred>,
    /// The returned values of the enclosing functions so far; the file comes first.
    pub(super) frames: Vec<Frame>,
    /// The number of the reference at the name of a callee.
    callee_references: FastMap<usize, u32>,
    /// The callees of argument lists that no row covers.
    pub(super) argument_callees: FastMap<usize, ExprId>,
    /// The function that was opened last.
    opened: usize,
    /// Nodes before this one are inside a function.
    local_end: usize,
    /// The function that was opened last outside of all others.
    outermost: Option<OutermostFunction>,
    /// Marks that hooks leave at a node for when the walk reaches it.
    marks: FastMap<usize, u32>,
    /// Members that hooks have added, by owner and name, with the nodes of their values.
    hook_members: FastMap<(u32, &'t str), (u32, usize)>,
    /// The enclosing anonymous types: the node after their bodies, and their base type.
    pub(crate) unnamed: Vec<(usize, usize)>,
    /// Scoped key-value pairs that hooks store, such as an alias and its module: the node at which the pair expires,
    /// the key, and the value.
    notes: Vec<(usize, String, String)>,
    /// The enclosing bodies that are divided by words such as `public:`: the node after each, and the last such word.
    pub(crate) sections: Vec<(usize, &'t str)>,
    /// Words that the hooks of a language keep for later, such as the exports of a file.
    pub(crate) hook_words: HashMap<&'t str, bool>,
}

/// An action to run when a node ends.
struct Deferred {
    end: usize,
    open: OpenCounts,
    action: DeferredAction,
}

pub(super) enum DeferredAction {
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

/// A function that is in no other one.
#[derive(Clone, Copy)]
struct OutermostFunction {
    /// The node after it.
    end: usize,
    symbol: Option<u32>,
    /// What was open before it.
    open: OpenCounts,
}

/// An open function.
#[derive(Default)]
pub(super) struct Frame {
    /// Whether its result is inferred.
    pub(super) infers_result: bool,
    /// Its declared result.
    pub(super) result: Option<ExprId>,
    pub(super) returns: Vec<ExprId>,
}

/// Extracts the facts of a file.
pub(crate) fn walk(recipe: &'static LanguageSpec, tree: &Tree, draft: &mut Draft<'_>) {
    let mut walk = Walk {
        spec: recipe,
        tree,
        draft,
        roles: Roles::new(tree.len()),
        comments: Comments::new(|_| false),
        lowered: Lowered::new(tree.len()),
        qualifiers: vec![0; tree.len()],
        qualifier_exprs: FastMap::default(),
        deferred: Vec::new(),
        frames: vec![Frame { infers_result: recipe.infers, ..Frame::default() }],
        callee_references: FastMap::default(),
        argument_callees: FastMap::default(),
        opened: 0,
        local_end: 0,
        outermost: None,
        marks: FastMap::default(),
        hook_members: FastMap::default(),
        unnamed: Vec::new(),
        notes: Vec::new(),
        sections: Vec::new(),
        hook_words: HashMap::new(),
    };
    (recipe.begin)(&mut walk);
    let mut at = 0;
    while at < tree.len() {
        walk.advance_to(at);
        at = walk.visit(at);
    }
    walk.advance_to(tree.len());
    let file = walk.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
    if let Some(value) = walk.one_of(file) {
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
    pub(crate) fn hook_member(&self, of: u32, name: &'t str) -> Option<(u32, usize)> {
        self.hook_members.get(&(of, name)).copied()
    }

    /// Records a member that a hook has added.
    pub(crate) fn add_hook_member(&mut self, of: u32, name: &'t str, symbol: u32, value: usize) {
        self.hook_members.insert((of, name), (symbol, value));
    }

    /// Returns whether a node is inside a function.
    pub(crate) fn is_local(&self, at: usize) -> bool {
        at < self.local_end
    }

    /// Runs the deferred actions of the nodes that end before this one, and closes their blocks.
    fn advance_to(&mut self, at: usize) {
        while let Some(leaving) = self.deferred.pop_if(|leaving| leaving.end <= at) {
            self.draft.close_to(leaving.open);
            self.run_deferred(leaving.action);
        }
        while self.unnamed.pop_if(|(end, _)| *end <= at).is_some() {}
        while self.notes.pop_if(|(end, ..)| *end <= at).is_some() {}
        while self.sections.pop_if(|(end, _)| *end <= at).is_some() {}
        self.draft.advance_to(at);
    }

    fn run_deferred(&mut self, what: DeferredAction) {
        match what {
            DeferredAction::Symbol(symbol, node) => {
                let value = self.lower(node);
                self.draft.set_value(symbol, value);
            }
            DeferredAction::Binding(binding, node) => {
                let value = self.lower(node);
                self.draft.set_binding_value(binding, value);
            }
            DeferredAction::Function(symbol) => {
                let returns = self.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
                if let (Some(symbol), Some(value)) = (symbol, self.one_of(returns)) {
                    self.draft.set_value(symbol, value);
                }
            }
            DeferredAction::Closure(at, params, body) => {
                let returns = self.frames.pop().map_or_else(Vec::new, |frame| frame.returns);
                let is_block = body.is_some_and(|body| {
                    self.actions(body).iter().any(|one| matches!(one, Action::Scope | Action::In(_, Action::Scope)))
                });
                let back = match body.filter(|_| !is_block) {
                    Some(body) => Some(self.lower(body)),
                    None => self.one_of(returns),
                };
                let closure = self.draft.expr(Expr::Closure { params, back });
                self.lowered.set(at, closure);
            }
            DeferredAction::Call(at, leaf) => {
                if let Some(&reference) = self.callee_references.get(&leaf) {
                    let call = self.lower(at);
                    self.draft.set_call(reference, call);
                }
            }
            DeferredAction::Lower(node) => {
                self.lower(node);
            }
            DeferredAction::Return(node) => {
                let value = self.lower(node);
                if let Some(frame) = self.frames.last_mut().filter(|frame| frame.returns.len() < MAX_RETURNS) {
                    frame.returns.push(value);
                }
            }
        }
    }

    /// Returns one expression for several alternatives, without duplicates.
    pub(super) fn one_of(&mut self, mut all: Vec<ExprId>) -> Option<ExprId> {
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

    pub(super) fn defer(&mut self, end: usize, what: DeferredAction) {
        self.deferred.push(Deferred { end, open: self.draft.open_counts(), action: what });
    }

    /// Sets the value of a symbol once the node has been visited.
    pub(crate) fn defer_symbol_value(&mut self, symbol: u32, node: usize) {
        self.defer(self.tree.next(node), DeferredAction::Symbol(symbol, node));
    }

    /// Visits a node and returns the next one to visit.
    fn visit(&mut self, at: usize) -> usize {
        let mut next = at + 1;
        for step in self.actions(at) {
            next = next.max(self.step(at, step));
        }
        next
    }

    fn step(&mut self, at: usize, step: &'static Action) -> usize {
        match step {
            Action::Define(new) => self.define_row(at, new),
            Action::Scope => self.scope(at),
            Action::Bind(new) => {
                self.bind_row(at, new);
            }
            Action::Bases(shape) => self.bases(at, *shape),
            Action::Leaf(shape) => self.leaf(at, *shape),
            Action::Refers(find, shape) => {
                let name = self.find(at, *find).and_then(|of| self.name_node(of));
                self.roles.mark(name, Role::Refers(*shape));
            }
            Action::Label => {
                for name in self.tree.children(at) {
                    if self.actions(name).iter().any(|one| matches!(one, Action::Leaf(_))) {
                        self.roles.mark(Some(name), Role::Declares);
                        self.draft.mark_label(self.tree.node(name).span());
                    }
                }
            }
            Action::Lower(of) => self.expression(at, of),
            Action::Returns => {
                let node = self.items(at).next();
                if let Some(node) = node {
                    self.defer_return(node);
                }
            }
            Action::Comment => self.comments.add(self.draft.text, self.tree.node(at).span()),
            Action::Fields | Action::Imports | Action::Opaque => {}
            Action::In(kind, step) => {
                if self.kind(self.parent(at)) == *kind {
                    return self.step(at, step);
                }
            }
            Action::Hook(hook) => return hook(self, at),
        }
        at + 1
    }

    fn infers_result(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.infers_result)
    }

    /// Opens a lexical block; declarations in it are local.
    pub(crate) fn scope(&mut self, at: usize) {
        let end = self.tree.next(at);
        self.local_end = self.local_end.max(end);
        self.draft.block(end, false);
    }

    /// Opens a function: its block, and its result.
    pub(crate) fn open_function(&mut self, at: usize, symbol: Option<u32>) {
        if self.outermost.is_none_or(|outermost| outermost.end <= at) {
            let (end, open) = (self.tree.next(at), self.draft.open_counts());
            self.outermost = Some(OutermostFunction { end, symbol, open });
        }
        self.scope(at);
        self.opened = at;
        let is_asked = self.spec.infers && symbol.is_some();
        self.defer(self.tree.next(at), DeferredAction::Function(symbol));
        self.frames.push(Frame { infers_result: is_asked, ..Frame::default() });
    }

    /// Ends the functions around a node before it, where the parser has missed their end. What follows is outside of
    /// them.
    pub(crate) fn leave_functions(&mut self, at: usize) {
        self.local_end = self.local_end.min(at);
        let Some(outermost) = self.outermost.take_if(|outermost| at < outermost.end) else { return };
        let inside = self.deferred.iter_mut().filter(|one| one.open.is_inside(outermost.open));
        inside.for_each(|one| one.end = one.end.min(at));
        self.unnamed.clear();
        self.sections.retain(|(_, word)| *word == "namespace");
        self.advance_to(at);
        self.draft.close_functions(outermost.open);
        if let Some(symbol) = outermost.symbol {
            let start = self.tree.start_of(self.tree.node(at).start);
            let docs = self.comments.peek_above(self.draft.text, start);
            self.draft.end_before(symbol, docs.outer_start);
        }
    }

    /// Whether a declaration begins in the first column of its line.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        let start = self.tree.start_of(self.tree.node(at).start);
        self.draft.line_start(start) == start
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
    pub(crate) fn defer_return(&mut self, node: usize) {
        if self.infers_result() {
            self.defer(self.tree.next(node), DeferredAction::Return(node));
        }
    }

    /// Lowers the last expression of a block, which is the block's value, while the names of the block are in scope.
    pub(crate) fn defer_lowering(&mut self, node: usize) {
        self.defer(self.tree.next(node), DeferredAction::Lower(node));
    }

    /// Binds the local binding of a row.
    pub(crate) fn bind_row(&mut self, at: usize, new: &Bind) -> Option<u32> {
        let name = self.find(at, new.name)?;
        if self.roles.get(name) == Role::Declares {
            return None;
        }
        let annotation = self.declared(at, new);
        let from = if new.in_own_value || new.kind != BindingKind::Local { at } else { self.tree.next(at) };
        let value = self.find(at, new.value);
        // A loop variable is visible in the body, which belongs to the same node.
        let from = value.filter(|_| new.part != ValuePart::Whole).map_or(from, |value| self.tree.next(value));
        let binding = self.bind_as(name, new.kind, annotation, new.part, from)?;
        if let Some(value) = value {
            self.defer(self.tree.next(value), DeferredAction::Binding(binding, value));
        }
        Some(binding)
    }

    /// Binds a name and marks it as declared.
    pub(crate) fn bind_as(
        &mut self,
        name: usize,
        kind: BindingKind,
        annotation: Option<ExprId>,
        part: ValuePart,
        from: usize,
    ) -> Option<u32> {
        self.roles.mark(Some(name), Role::Declares);
        let span = self.tree.node(name).span();
        let annotation = annotation.map(ExprInput::Expr);
        self.draft.bind_indexed(NewBinding { name: span, kind, annotation, value: None, part, from })
    }

    /// Sets the value of a local binding once the node has been visited.
    pub(crate) fn defer_binding_value(&mut self, binding: u32, node: usize) {
        self.defer(self.tree.next(node), DeferredAction::Binding(binding, node));
    }

    /// Returns the declared type of a binding.
    pub(super) fn declared(&mut self, at: usize, new: &Bind) -> Option<ExprId> {
        let of = self.find(at, new.of_type).filter(|&of| !self.spec.inferred_types.contains(&self.text(of)))?;
        let of = self.lower(of);
        Some(if new.variadic { self.draft.expr(Expr::List(of)) } else { of })
    }

    /// Adds the types in a node as bases of the enclosing symbol.
    fn bases(&mut self, at: usize, shape: RefShape) {
        let mut lists = vec![at];
        while let Some(list) = lists.pop() {
            let items: Vec<usize> = self.items(list).collect();
            for item in items {
                let is_type = self.actions(item).iter().any(|one| matches!(one, Action::Lower(_) | Action::Leaf(_)));
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
        let shape = match self.roles.get(at) {
            Role::Declares => return,
            Role::Refers(shape) => shape,
            Role::Unset => default,
        };
        let span = self.tree.node(at).span();
        if default == RefShape::Type && self.spec.inferred_types.contains(&self.draft.slice(span)) {
            return;
        }
        let reference = self.draft.reference_count();
        let is_value = matches!(shape, RefShape::Value | RefShape::Call);
        let implied = if is_value && self.qualifiers[at] == 0 { self.implicit_receiver_for(at) } else { None };
        match self.qualifiers[at] {
            0 if self.qualifier_exprs.contains_key(&at) => {
                let before = self.qualifier_exprs[&at];
                self.draft.reference_with_receiver(span, shape, before);
            }
            0 if let Some(of) = implied => self.draft.reference_with_receiver(span, shape, of),
            0 if shape == RefShape::Call && self.spec.calls_skip_locals => self.draft.reference_to_function(span),
            0 => self.draft.reference(span, shape, None),
            before if before as usize == at + 1 => {
                let root = self.draft.name_expr("", at);
                self.draft.reference_with_receiver(span, shape, root);
            }
            before => {
                let of = self.lower((before & !POINTER_BIT) as usize - 1);
                let before = if before & POINTER_BIT == 0 { of } else { self.dereferenced(of) };
                self.draft.reference_with_receiver(span, shape, before);
            }
        }
        if self.draft.reference_count() == reference {
            return;
        }
        if self.spec.overloads {
            self.callee_references.insert(at, reference as u32);
        }
        if self.qualifiers[at] == 0
            && shape != RefShape::Member
            && let LexicalTarget::Symbol(symbol) = self.draft.lexical_target(span, at)
        {
            self.draft.set_block_target(reference as u32, symbol);
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
    pub(crate) fn set_qualifier(&mut self, name: usize, before: usize) {
        self.qualifiers[name] = before as u32 + 1;
    }

    /// Sets a pointer as the qualifier of a name.
    pub(crate) fn set_pointer_qualifier(&mut self, name: usize, before: usize) {
        self.qualifiers[name] = (before as u32 + 1) | POINTER_BIT;
    }

    /// Sets an expression as the qualifier of a name, if the qualifier is not a node.
    pub(crate) fn set_qualifier_expr(&mut self, name: usize, before: ExprId) {
        self.qualifier_exprs.insert(name, before);
    }

    /// Assigns shapes and qualifiers to the names in an expression.
    fn expression(&mut self, at: usize, of: &'static Lower) {
        match of {
            Lower::Member(before, name) | Lower::PointerMember(before, name) => {
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
                    && let Some(Lower::Generic(of, _)) = self
                        .actions(inner)
                        .iter()
                        .find_map(|one| if let Action::Lower(of) = one { Some(of) } else { None })
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
        if let Some(name) = name.filter(|_| self.spec.overloads) {
            self.defer(self.tree.next(at), DeferredAction::Call(at, name));
        }
    }

    /// Sets the callee of an argument list.
    pub(crate) fn set_argument_callee(&mut self, list: usize, callee: ExprId) {
        self.argument_callees.insert(list, callee);
    }

    fn is_this(&self, at: usize) -> bool {
        self.actions(at).iter().any(|one| matches!(one, Action::Lower(Lower::This | Lower::Super)))
    }

    fn member(&mut self, at: usize, before: Find, name: Find, shape: RefShape) {
        let Some(name) = self.find(at, name) else { return };
        let name = self.name_node(name).unwrap_or(name);
        // A leaf that is a type in the grammar is also one after a dot.
        let is_type = self.actions(name).iter().any(|one| matches!(one, Action::Leaf(RefShape::Type)));
        let shape = if is_type && shape == RefShape::Member { RefShape::Type } else { shape };
        self.roles.mark(Some(name), Role::Refers(shape));
        if let Some(before) = self.find(at, before).filter(|&before| before != name) {
            let is_pointed = self.actions(at).iter().any(|one| matches!(one, Action::Lower(Lower::PointerMember(..))));
            match is_pointed && self.is_arrow(before, name) {
                true => self.set_pointer_qualifier(name, before),
                false => self.set_qualifier(name, before),
            }
        }
    }
}

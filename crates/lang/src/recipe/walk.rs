//! The pass over a tree by the rows of a language.
//!
//! A node acts when the walk arrives at it, and for some things once more when the walk leaves it: what a name gets as its
//! value is lowered when all in it has been seen, in the scope it stands in, because a closure in it says what it gives back
//! only there.

use std::collections::HashMap;

use codecompass_model::{BindingKind, Expr, ExprId, Part, RefShape, Seen};

use super::lower::Lowered;
use super::table::{Bind, Do, Find, Lower, Recipe};
use crate::comments::Comments;
use crate::draft::{Draft, NewBinding, Open, Said};
use crate::names::FastMap;
use crate::roles::{Role, Roles};
use crate::tree::Tree;

/// More ways out of a function are not looked at.
const MAX_RETURNS: usize = 8;

/// So many notes are looked through for a word.
const MAX_NOTES: usize = 200;
/// What stands before a name points to what has it.
const POINTED: u32 = 1 << 31;

/// The pass and all it knows.
pub(crate) struct Walk<'w, 't> {
    pub(super) recipe: &'static Recipe,
    pub(crate) tree: &'w Tree,
    pub(crate) draft: &'w mut Draft<'t>,
    pub(crate) roles: Roles,
    pub(super) comments: Comments,
    pub(super) lowered: Lowered,
    /// By node: what stands before the name there, plus one; with [`POINTED`] it is what that points to.
    before: Vec<u32>,
    /// The same for names that stand behind what is written nowhere, or in no node of its own.
    before_values: FastMap<usize, ExprId>,
    /// What is done when nodes are left, the innermost last.
    leaving: Vec<Leaving>,
    /// What the functions around the node give back so far, that of the file first.
    pub(super) frames: Vec<Frame>,
    /// The number of the reference at a name that is called.
    called: FastMap<usize, u32>,
    /// What lists of arguments are given to, where no row says so.
    pub(super) given_to: FastMap<usize, ExprId>,
    /// The function that was opened last.
    opened: usize,
    /// Nodes before this one stand in a function.
    local_end: usize,
    /// What a hook wants to know when the walk arrives at a node.
    marks: FastMap<usize, u32>,
    /// Members that hooks have entered, by the symbol that they belong to and their names, and the nodes of their values.
    known: FastMap<(u32, &'t str), (u32, usize)>,
    /// The types without a name around the node: the node after their bodies, and what they are made from.
    pub(crate) unnamed: Vec<(usize, usize)>,
    /// What hooks have to remember: the node after the block that it holds in, a word, and what it stands for.
    notes: Vec<(usize, String, String)>,
    /// The bodies around the node that are divided by words such as `public:`: the node after each, and the last such word.
    pub(crate) sections: Vec<(usize, &'t str)>,
    /// Words that the hooks of a language keep for later, such as what a file exports.
    pub(crate) kept: HashMap<&'t str, bool>,
}

/// Something to be done when a node is left.
struct Leaving {
    end: usize,
    open: Open,
    what: Left,
}

pub(super) enum Left {
    /// A symbol gets this node as its value.
    Symbol(u32, usize),
    /// A local name gets this node as its value.
    Binding(u32, usize),
    /// The function of a symbol ends.
    Function(Option<u32>),
    /// A closure ends: the node, its parameters and its body.
    Closure(usize, u32, Option<usize>),
    /// A call ends, of which this leaf is the name.
    Call(usize, usize),
    /// A way out of a function ends.
    Return(usize),
    /// An expression ends that is asked for when the block it stands in is closed.
    Lower(usize),
}

/// A function that is open.
#[derive(Default)]
pub(super) struct Frame {
    /// Whether anybody asks what it gives back.
    pub(super) is_asked: bool,
    /// What it says that it gives back.
    pub(super) result: Option<ExprId>,
    pub(super) returns: Vec<ExprId>,
}

/// Collects everything that a file says.
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

    /// The mark at a node; 0 for none.
    pub(crate) fn marked(&self, at: usize) -> u32 {
        self.marks.get(&at).copied().unwrap_or(0)
    }

    /// A member that a hook has entered, and the node of its value.
    pub(crate) fn known(&self, of: u32, name: &'t str) -> Option<(u32, usize)> {
        self.known.get(&(of, name)).copied()
    }

    /// Remembers a member that a hook has entered.
    pub(crate) fn make_known(&mut self, of: u32, name: &'t str, symbol: u32, value: usize) {
        self.known.insert((of, name), (symbol, value));
    }

    /// Whether a node stands in a function.
    pub(crate) fn is_local(&self, at: usize) -> bool {
        at < self.local_end
    }

    /// Does what is left to do for the nodes that end before this one, and closes their blocks.
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

    /// One of several expressions, of which equal ones are one.
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

    /// Gives a symbol the value at a node once that has been seen.
    pub(crate) fn value_of_symbol(&mut self, symbol: u32, node: usize) {
        self.later(self.tree.next(node), Left::Symbol(symbol, node));
    }

    /// Looks at a node and returns the one to look at next.
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

    /// Opens a lexical block; what is declared in it is local.
    pub(crate) fn scope(&mut self, at: usize) {
        let end = self.tree.next(at);
        self.local_end = self.local_end.max(end);
        self.draft.block(end, false);
    }

    /// Opens a function: its block, and what it gives back.
    pub(crate) fn open_function(&mut self, at: usize, symbol: Option<u32>) {
        self.scope(at);
        self.opened = at;
        let is_asked = self.recipe.infers && symbol.is_some();
        self.later(self.tree.next(at), Left::Function(symbol));
        self.frames.push(Frame { is_asked, ..Frame::default() });
    }

    /// Says what the innermost open function gives back.
    pub(super) fn set_result(&mut self, result: Option<ExprId>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.result = result;
        }
    }

    /// Whether a function was opened before the walk arrived at it, by what gives it a name.
    pub(crate) fn is_open_function(&self, at: usize) -> bool {
        self.opened == at && at > 0
    }

    /// An expression that the function around it gives back.
    pub(crate) fn gives_back(&mut self, node: usize) {
        if self.is_asked() {
            self.later(self.tree.next(node), Left::Return(node));
        }
    }

    /// An expression that stands for the block that it ends, and is lowered while the names of that can be seen.
    pub(crate) fn lower_in_block(&mut self, node: usize) {
        self.later(self.tree.next(node), Left::Lower(node));
    }

    /// What a node binds, as its row says.
    pub(crate) fn bind_row(&mut self, at: usize, new: &Bind) -> Option<u32> {
        let name = self.find(at, new.name)?;
        if self.roles.of(name) == Role::Declares {
            return None;
        }
        let annotation = self.declared(at, new);
        let from = if new.at_once || new.kind != BindingKind::Local { at } else { self.tree.next(at) };
        let value = self.find(at, new.value);
        // A loop's variable is seen in its body, which is a part of the same node.
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

    /// Gives a local name the value at a node once that has been seen.
    pub(crate) fn value_of_binding(&mut self, binding: u32, node: usize) {
        self.later(self.tree.next(node), Left::Binding(binding, node));
    }

    /// The declared type of what a node binds.
    pub(super) fn declared(&mut self, at: usize, new: &Bind) -> Option<ExprId> {
        let of = self.find(at, new.of_type).filter(|&of| !self.recipe.inferred.contains(&self.text(of)))?;
        let of = self.lower(of);
        Some(if new.variadic { self.draft.expr(Expr::List(of)) } else { of })
    }

    /// The types in a node are bases of the symbol around it.
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

    /// A name: a reference, in the way that somebody around it said, or in its own.
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

    /// Up to a node, a word stands for something. What is noted later ends first.
    pub(crate) fn note(&mut self, end: usize, word: &str, of: &str) {
        self.notes.push((end, word.to_owned(), of.to_owned()));
    }

    /// What a word stands for here.
    pub(crate) fn noted(&self, word: &str) -> Option<&str> {
        let near = self.notes.iter().rev().take(MAX_NOTES);
        near.into_iter().find(|(_, known, _)| known == word).map(|(.., of)| of.as_str())
    }

    /// The node up to which the nearest note of a word holds; the end of the file without any.
    pub(crate) fn noted_end(&self, word: &str) -> usize {
        let near = self.notes.iter().rev().take(MAX_NOTES).find(|(_, known, _)| known == word);
        near.map_or(self.tree.len(), |(end, ..)| *end)
    }

    /// Says what stands before a name. A name before itself stands behind the mark of the outermost names, as in `::a`.
    pub(crate) fn behind(&mut self, name: usize, before: usize) {
        self.before[name] = before as u32 + 1;
    }

    /// Says that a name is one of what something points to.
    pub(crate) fn behind_pointer(&mut self, name: usize, before: usize) {
        self.before[name] = (before as u32 + 1) | POINTED;
    }

    /// The same, where what stands before the name is no node.
    pub(crate) fn behind_value(&mut self, name: usize, before: ExprId) {
        self.before_values.insert(name, before);
    }

    /// An expression says how the names in it refer, and what stands before them.
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
                // What is written for type parameters stands between the name and the brackets.
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

    /// The whole of a call tells which function its name means.
    pub(crate) fn call(&mut self, at: usize, name: Option<usize>) {
        if let Some(name) = name.filter(|_| self.recipe.overloads) {
            self.later(self.tree.next(at), Left::Call(at, name));
        }
    }

    /// Says what a list of arguments is given to.
    pub(crate) fn given_to(&mut self, list: usize, callee: ExprId) {
        self.given_to.insert(list, callee);
    }

    fn is_this(&self, at: usize) -> bool {
        self.does(at).iter().any(|one| matches!(one, Do::Lower(Lower::This | Lower::Super)))
    }

    fn member(&mut self, at: usize, before: Find, name: Find, shape: RefShape) {
        let Some(name) = self.find(at, name) else { return };
        let name = self.name_node(name).unwrap_or(name);
        // What is a type in the grammar is one behind a dot, too.
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

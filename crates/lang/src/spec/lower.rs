//! Lowers expressions and types into the arena of the facts, by the rows of a language.
//!
//! Only requested nodes are lowered, each once, so a chain of calls costs time linear in its length. A name gets its
//! lexical target when it is lowered, while the walk is in its scope. Operators are dropped: the operands determine the
//! type of `a + b`.

use codecompass_model::{Expr, ExprId, LexicalTarget, Literal, ValuePart, Wrap};

use super::table::{Action, Find, Lower};
use super::walk::Walk;

/// The maximum nesting to lower.
const MAX_DEPTH: u32 = 64;

/// The maximum length of a chain that is lowered by recursion.
const MAX_RECURSIVE_CHAIN: usize = 8;

/// The expression of each lowered node, and the current depth.
pub(super) struct Lowered {
    nodes: Vec<u32>,
    depth: u32,
}

/// Marks a node that has not been lowered.
const NOT_LOWERED: u32 = u32::MAX;

impl Lowered {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes: vec![NOT_LOWERED; nodes], depth: 0 }
    }

    /// Sets the expression of a node.
    pub(super) fn set(&mut self, at: usize, id: ExprId) {
        self.nodes[at] = id.0;
    }
}

impl Walk<'_, '_> {
    /// Lowers an expression or a type. In a long chain the first step is lowered first, so that each next step finds it
    /// done.
    pub(crate) fn lower(&mut self, at: usize) -> ExprId {
        if self.lowered.depth == 0 {
            let steps = self.chain(at);
            for &step in steps.iter().skip(1).rev().filter(|_| steps.len() > MAX_RECURSIVE_CHAIN) {
                self.lower_node(step);
            }
        }
        self.lower_node(at)
    }

    /// Returns a node and the receivers before its dots and brackets, from the outside in, up to those already lowered.
    fn chain(&self, at: usize) -> Vec<usize> {
        let before = |&at: &usize| match self.lowering(at)? {
            Lower::Member(of, _)
            | Lower::PointerMember(of, _)
            | Lower::Call { of, .. }
            | Lower::CallOf(of, _)
            | Lower::CallWith(of, ..)
            | Lower::Index(of, _) => self.find(at, *of),
            _ => None,
        };
        let is_open = |at: &usize| self.lowered.nodes[*at] == NOT_LOWERED;
        std::iter::successors(Some(at), before).take_while(is_open).collect()
    }

    /// Returns the lowering of a node's row.
    pub(super) fn lowering(&self, at: usize) -> Option<&'static Lower> {
        self.actions(at).iter().find_map(|step| if let Action::Lower(of) = step { Some(of) } else { None })
    }

    fn lower_node(&mut self, at: usize) -> ExprId {
        let known = self.lowered.nodes[at];
        if known != NOT_LOWERED {
            return ExprId(known);
        }
        if self.lowered.depth >= MAX_DEPTH {
            return self.draft.expr(Expr::Other);
        }
        self.lowered.depth += 1;
        let id = self.lower_uncached(at);
        self.lowered.depth -= 1;
        self.lowered.set(at, id);
        id
    }

    fn lower_uncached(&mut self, at: usize) -> ExprId {
        let form = self.lowering(at);
        let expr = match form {
            None if self.actions(at).iter().any(|one| matches!(one, Action::Leaf(_))) => return self.value_expr(at),
            None => Expr::Other,
            Some(Lower::This) => Expr::This,
            Some(Lower::Super) => Expr::Super,
            Some(Lower::Member(of, name) | Lower::PointerMember(of, name)) => return self.member_expr(at, *of, *name),
            Some(Lower::Call { args, .. } | Lower::CallOf(_, args) | Lower::New(_, args)) => {
                let args = self.find(at, *args).map_or_else(Box::default, |list| self.lower_all(list));
                let Some(callee) = form.and_then(|form| self.callee(at, form)) else { return self.other() };
                Expr::Call { callee, args }
            }
            Some(Lower::CallWith(_, _, args)) => {
                let args = args(self, at).into_iter().map(|of| self.lower(of)).collect();
                let Some(callee) = form.and_then(|form| self.callee(at, form)) else { return self.other() };
                Expr::Call { callee, args }
            }
            Some(Lower::NewList(of)) => {
                let of = self.lower_found(at, *of);
                let list = self.draft.expr(Expr::List(of));
                Expr::New(list)
            }
            Some(Lower::Index(of, by)) => {
                Expr::Index { of: self.lower_found(at, *of), by: Box::new([self.lower_found(at, *by)]) }
            }
            Some(Lower::Generic(of, args)) => {
                let args = self.find(at, *args).map_or_else(Box::default, |list| self.lower_all(list));
                Expr::Apply { of: self.lower_found(at, *of), args }
            }
            Some(Lower::Cast(to)) => Expr::Cast(self.lower_found(at, *to)),
            Some(Lower::Same(of)) => return self.lower_found(at, *of),
            Some(Lower::Either(of)) => {
                let all = of.iter().filter_map(|of| self.find(at, *of)).collect::<Vec<_>>();
                let all = all.into_iter().map(|of| self.lower(of)).collect();
                return self.one_of(all).unwrap_or_else(|| self.other());
            }
            Some(Lower::Binary) => return self.binary(at),
            Some(Lower::List(of)) => Expr::List(self.lower_found(at, *of)),
            Some(Lower::Closure(params, _)) => {
                let params = self.find(at, *params).map_or(0, |list| self.items(list).count() as u32);
                Expr::Closure { params, back: None }
            }
            Some(Lower::Literal(of)) => Expr::Literal(*of),
            Some(Lower::Hook(hook)) => return hook(self, at),
        };
        self.draft.expr(expr)
    }

    /// Sets the expression of a node, before or after it is requested.
    pub(crate) fn set_lowered(&mut self, at: usize, id: ExprId) {
        self.lowered.set(at, id);
    }

    pub(crate) fn other(&mut self) -> ExprId {
        self.draft.expr(Expr::Other)
    }

    /// Lowers a name with the scope of its own node.
    pub(crate) fn name_expr(&mut self, at: usize) -> ExprId {
        let name = self.text(at);
        self.draft.name_expr(name, at)
    }

    /// Lowers a bare name in value position. In a closure with an implicit receiver it may be a member of the receiver.
    pub(crate) fn value_expr(&mut self, at: usize) -> ExprId {
        match self.implicit_receiver_for(at) {
            Some(of) => {
                let name = self.draft.name(self.tree.node(at).span());
                self.draft.expr(Expr::Member { of, name })
            }
            None => self.name_expr(at),
        }
    }

    /// Returns the implicit receiver that a bare name may be a member of.
    pub(super) fn implicit_receiver_for(&mut self, at: usize) -> Option<ExprId> {
        let this = self.draft.implicit_this(at)?;
        let name = self.name_expr(at);
        matches!(self.draft.expr_at(name), Expr::Name { seen: LexicalTarget::NotLocal, .. }).then_some(this)
    }

    /// Lowers the keyword for the receiver of the enclosing function.
    pub(crate) fn this_expr(&mut self, at: usize) -> ExprId {
        match self.draft.implicit_this(at) {
            // The wrapper marks an explicit receiver: exactly this one, not any of the implicit receivers around it.
            Some(of) => self.draft.expr(Expr::Part { of, part: ValuePart::Whole }),
            None => self.draft.expr(Expr::This),
        }
    }

    /// Binds the implicit receiver in the body of an anonymous object with this type: names in it may be members of the
    /// object.
    pub(crate) fn bind_implicit_object(&mut self, at: usize, of: usize) {
        let of = self.lower(of);
        let object = self.draft.expr(Expr::New(of));
        self.bind_implicit_receiver(self.tree.node(at).start, at, Some(object), None);
    }

    /// Binds the implicit receiver in the block of a closure: this value, or the receiver of the expected function
    /// type.
    pub(crate) fn bind_implicit_receiver(&mut self, start: u32, at: usize, on: Option<ExprId>, wanted: Option<ExprId>) {
        let of = wanted.map(|of| self.draft.expr(Expr::ParamOf { of, at: ExprId::RECEIVER }));
        let Some(value) = on.or(of) else { return };
        let around = self.draft.implicit_this(at);
        if let Some(binding) = self.draft.bind_implicit("this", start, around, at) {
            self.draft.set_binding_value(binding, value);
        }
    }

    fn member_expr(&mut self, at: usize, of: Find, name: Find) -> ExprId {
        let (Some(of), Some(name)) = (self.find(at, of), self.find(at, name)) else { return self.other() };
        if of == name {
            return self.lower(name);
        }
        let is_pointed = matches!(self.lowering(at), Some(Lower::PointerMember(..))) && self.is_arrow(of, name);
        let of = self.lower(of);
        let of = if is_pointed { self.dereferenced(of) } else { of };
        let leaf = self.name_node(name).unwrap_or(name);
        let word = self.draft.name(self.tree.node(leaf).span());
        let member = self.draft.expr(Expr::Member { of, name: word });
        match self.lowering(name) {
            // `a.b<T>`: the type arguments belong to the member.
            Some(Lower::Generic(_, args)) => {
                let args = self.find(name, *args).map_or_else(Box::default, |list| self.lower_all(list));
                self.draft.expr(Expr::Apply { of: member, args })
            }
            _ => member,
        }
    }

    /// Returns whether an arrow precedes a name.
    pub(super) fn is_arrow(&self, of: usize, name: usize) -> bool {
        let between = self.tree.node(of).end as usize..self.tree.node(name).start as usize;
        self.draft.text.get(between).is_some_and(|between| between.contains("->"))
    }

    /// Wraps an expression in a dereference.
    pub(super) fn dereferenced(&mut self, of: ExprId) -> ExprId {
        self.draft.expr(Expr::Wrap { how: Wrap::Deref, of })
    }

    /// Lowers the callee of a call.
    pub(super) fn callee(&mut self, at: usize, form: &Lower) -> Option<ExprId> {
        Some(match form {
            Lower::Call { of, name, .. } => match self.find(at, *of) {
                Some(_) => self.member_expr(at, *of, *name),
                None => self.name_expr(self.find(at, *name)?),
            },
            Lower::CallOf(callee, _) => self.lower(self.find(at, *callee)?),
            Lower::CallWith(callee, types, _) => {
                let of = self.lower(self.find(at, *callee)?);
                match self.find(at, *types) {
                    Some(list) => {
                        let args = self.lower_all(list);
                        self.draft.expr(Expr::Apply { of, args })
                    }
                    None => of,
                }
            }
            Lower::New(of, _) => {
                let of = self.lower_found(at, *of);
                self.draft.expr(Expr::New(of))
            }
            _ => return None,
        })
    }

    /// Lowers the node that a selector finds, relative to a node.
    fn lower_found(&mut self, at: usize, find: Find) -> ExprId {
        match self.find(at, find) {
            Some(of) if of != at => self.lower(of),
            _ => self.other(),
        }
    }

    /// Lowers all items of a list.
    pub(crate) fn lower_all(&mut self, list: usize) -> Box<[ExprId]> {
        let items: Vec<usize> = self.items(list).collect();
        items.into_iter().map(|item| self.lower(item)).collect()
    }

    /// Lowers operands with operators between them. Long sums nest to the left, so the descent is a loop.
    fn binary(&mut self, at: usize) -> ExprId {
        let (mut at, mut rights) = (at, Vec::new());
        let first = loop {
            let mut operands = self.items(at);
            let both = (operands.next(), operands.last());
            let (Some(Lower::Binary), (Some(left), Some(right))) = (self.lowering(at), both) else { break at };
            let between = self.tree.node(left).end as usize..self.tree.node(right).start as usize;
            if is_comparison(self.draft.text.get(between).unwrap_or("").trim()) {
                return self.draft.expr(Expr::Literal(Literal::Bool));
            }
            rights.push(right);
            at = left;
        };
        let mut whole = match self.lowering(first) {
            Some(Lower::Binary) => self.other(),
            _ => self.lower(first),
        };
        // A sum with a string is a string; otherwise a plain number is the least informative operand.
        for right in rights.into_iter().rev() {
            let right = self.lower(right);
            let is_plain = |of: ExprId, draft: &crate::draft::Draft<'_>| {
                matches!(draft.expr_at(of), Expr::Literal(Literal::Int | Literal::Float | Literal::Char) | Expr::Other)
            };
            let is_text = matches!(self.draft.expr_at(right), Expr::Literal(Literal::Text));
            let is_wider = matches!(self.draft.expr_at(right), Expr::Literal(Literal::Float))
                && matches!(self.draft.expr_at(whole), Expr::Literal(Literal::Int));
            if is_text || is_wider || is_plain(whole, self.draft) && !is_plain(right, self.draft) {
                whole = right;
            }
        }
        whole
    }
}

/// Returns whether an operator returns a boolean. A comment may follow it.
fn is_comparison(operator: &str) -> bool {
    let known = ["&&", "==", "!=", "<=", ">=", "~="];
    known.iter().any(|known| operator.starts_with(known)) || operator == "<" || operator == ">"
}

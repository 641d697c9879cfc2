//! Closures: their parameters have the types that the context expects.

use codecompass_model::{BindingKind, Expr, ExprId, ValuePart};

use super::table::{Action, Bind, Find, Lower};
use super::walk::{DeferredAction, Frame, Walk};

/// The maximum number of preceding arguments that contribute to the expected type of a closure.
const MAX_PRECEDING_ARGS: usize = 8;

impl<'t> Walk<'_, 't> {
    /// Opens a closure: a block in which its parameters are bound.
    pub(super) fn closure(&mut self, at: usize, params: Find, body: Find) {
        let body = self.find(at, body);
        let params = self.find(at, params);
        let wanted = self.expected_type(at);
        let list: Vec<usize> = match params {
            Some(one) if self.is_leaf(one) => vec![one],
            Some(list) => self.items(list).collect(),
            None => Vec::new(),
        };
        self.open_closure(at, list, body, wanted);
    }

    pub(super) fn is_leaf(&self, at: usize) -> bool {
        self.actions(at).iter().any(|one| matches!(one, Action::Leaf(_)))
    }

    /// Opens a closure. Parameters without a type get the expected types.
    pub(crate) fn open_closure(&mut self, at: usize, list: Vec<usize>, body: Option<usize>, wanted: Option<ExprId>) {
        self.scope(at);
        // A bare name, or a parameter without a type.
        let untyped = |one: usize| {
            let bind = self.bind_action(one, BindingKind::Param);
            let is_typed = |bind: &Bind| self.find(one, bind.of_type).is_some();
            if self.is_leaf(one) {
                Some(one)
            } else {
                bind.filter(|bind| !is_typed(bind)).and_then(|bind| self.find(one, bind.name))
            }
        };
        let untyped: Vec<Option<usize>> = list.iter().map(|&one| untyped(one)).collect();
        self.begin_closure(at, list.len() as u32, body);
        for (n, name) in untyped.into_iter().enumerate().filter_map(|(n, name)| Some((n, name?))) {
            let binding = self.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
            if let (Some(binding), Some(of)) = (binding, wanted) {
                let value = self.draft.expr(Expr::ParamOf { of, at: n as u32 });
                self.draft.set_binding_value(binding, value);
            }
        }
    }

    /// Starts the closure at a node with an open block. The closure expression is built when the node ends.
    pub(crate) fn begin_closure(&mut self, at: usize, params: u32, body: Option<usize>) {
        self.defer(self.tree.next(at), DeferredAction::Closure(at, params, body));
        self.frames.push(Frame { infers_result: true, ..Frame::default() });
    }

    /// Returns the type that the call around a node expects for it, in languages where a function finds the arguments
    /// of calls.
    pub(crate) fn expected_for(&mut self, at: usize) -> Option<ExprId> {
        const MAX_ANCESTORS: usize = 5;
        let up = std::iter::successors(Some(self.parent(at)), |&at| Some(self.parent(at)));
        let is_call = |step: &Action| matches!(step, Action::Lower(Lower::CallWith(..)));
        let around = up.take(MAX_ANCESTORS).find(|&at| self.actions(at).iter().any(is_call))?;
        let step =
            self.actions(around).iter().find_map(|one| if let Action::Lower(of) = one { Some(of) } else { None })?;
        let Lower::CallWith(_, _, args) = step else { return None };
        let all = args(self, around);
        let place = all.iter().position(|&one| one == at).filter(|&place| place <= MAX_PRECEDING_ARGS)?;
        let given = all[..place].iter().map(|&one| self.lower(one)).collect();
        let callee = self.callee(around, step)?;
        Some(self.draft.expr(Expr::Argument { callee, arity: all.len() as u32, given }))
    }

    /// Returns the type expected at a node: that of the parameter that it is an argument for, or of the name that it is
    /// assigned to.
    pub(super) fn expected_type(&mut self, mut at: usize) -> Option<ExprId> {
        // Parentheses and choices pass the expected type on, and an argument may have a node of its own around it.
        while matches!(self.lowering(self.parent(at)), Some(Lower::Same(Find::First | Find::Last) | Lower::Either(_))) {
            at = self.parent(at);
        }
        let list = self.parent(at);
        let around = self.parent(list);
        for step in self.actions(list) {
            let of_type = match step {
                Action::Bind(new) | Action::In(_, Action::Bind(new)) => new.of_type,
                Action::Define(new) | Action::In(_, Action::Define(new)) => new.of_type,
                Action::Returns => {
                    let of = self.frames.last()?.result?;
                    return Some(self.draft.expr(Expr::Cast(of)));
                }
                // An assignment expects the type of its left side.
                Action::Lower(Lower::Same(left)) => {
                    let left = self.find(list, *left).filter(|&left| left != at)?;
                    return Some(self.lower(left));
                }
                Action::Lower(Lower::Cast(_)) => return Some(self.lower(list)),
                _ => continue,
            };
            if let Some(of) = self.find(list, of_type) {
                let of = self.lower(of);
                return Some(self.draft.expr(Expr::Cast(of)));
            }
        }
        let step =
            self.actions(around).iter().find_map(|one| if let Action::Lower(of) = one { Some(of) } else { None })?;
        let said = self.argument_callees.get(&list).copied();
        let args = match step {
            _ if said.is_some() => Some(list),
            Lower::Call { args, .. } | Lower::CallOf(_, args) | Lower::New(_, args) => self.find(around, *args),
            _ => None,
        };
        if args != Some(list) {
            return None;
        }
        let arity = self.items(list).count() as u32;
        let before: Vec<usize> = self.items(list).take_while(|&item| item != at).take(MAX_PRECEDING_ARGS + 1).collect();
        if before.len() > MAX_PRECEDING_ARGS {
            return None;
        }
        let given = before.into_iter().map(|item| self.lower(item)).collect();
        let callee = match said {
            Some(callee) => callee,
            None => self.callee(around, step)?,
        };
        Some(self.draft.expr(Expr::Argument { callee, arity, given }))
    }
}

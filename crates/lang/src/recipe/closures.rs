//! Closures: their parameters have the types that the context expects.

use codecompass_model::{BindingKind, Expr, ExprId, Part};

use super::table::{Bind, Do, Find, Lower};
use super::walk::{Frame, Left, Walk};

/// The maximum number of preceding arguments that contribute to the expected type of a closure.
const MAX_GIVEN: usize = 8;

impl<'t> Walk<'_, 't> {
    /// Opens a closure: a block in which its parameters are bound.
    pub(super) fn closure(&mut self, at: usize, params: Find, body: Find) {
        let body = self.find(at, body);
        let params = self.find(at, params);
        let wanted = self.wanted(at);
        let list: Vec<usize> = match params {
            Some(one) if self.is_leaf(one) => vec![one],
            Some(list) => self.items(list).collect(),
            None => Vec::new(),
        };
        self.open_closure(at, list, body, wanted);
    }

    pub(super) fn is_leaf(&self, at: usize) -> bool {
        self.does(at).iter().any(|one| matches!(one, Do::Leaf(_)))
    }

    /// Opens a closure. Parameters without a type get the expected types.
    pub(crate) fn open_closure(&mut self, at: usize, list: Vec<usize>, body: Option<usize>, wanted: Option<ExprId>) {
        self.scope(at);
        // A bare name, or a parameter without a type.
        let untyped = |one: usize| {
            let bind = self.bind_of(one, BindingKind::Param);
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
            let binding = self.bind_as(name, BindingKind::Param, None, Part::Whole, at);
            if let (Some(binding), Some(of)) = (binding, wanted) {
                let value = self.draft.expr(Expr::ParamOf { of, at: n as u32 });
                self.draft.set_binding_value(binding, value);
            }
        }
    }

    /// Starts the closure at a node with an open block. The closure expression is built when the node ends.
    pub(crate) fn begin_closure(&mut self, at: usize, params: u32, body: Option<usize>) {
        self.later(self.tree.next(at), Left::Closure(at, params, body));
        self.frames.push(Frame { is_asked: true, ..Frame::default() });
    }

    /// Returns the type that the call around a node expects for it, in languages where a function finds the arguments
    /// of calls.
    pub(crate) fn wanted_for(&mut self, at: usize) -> Option<ExprId> {
        const MOST_STEPS: usize = 5;
        let up = std::iter::successors(Some(self.parent(at)), |&at| Some(self.parent(at)));
        let is_call = |step: &Do| matches!(step, Do::Lower(Lower::CallWith(..)));
        let around = up.take(MOST_STEPS).find(|&at| self.does(at).iter().any(is_call))?;
        let step = self.does(around).iter().find_map(|one| if let Do::Lower(of) = one { Some(of) } else { None })?;
        let Lower::CallWith(_, _, args) = step else { return None };
        let all = args(self, around);
        let place = all.iter().position(|&one| one == at).filter(|&place| place <= MAX_GIVEN)?;
        let given = all[..place].iter().map(|&one| self.lower(one)).collect();
        let callee = self.callee(around, step)?;
        Some(self.draft.expr(Expr::Argument { callee, arity: all.len() as u32, given }))
    }

    /// Returns the type expected at a node: that of the parameter that it is an argument for, or of the name that it is
    /// assigned to.
    pub(super) fn wanted(&mut self, mut at: usize) -> Option<ExprId> {
        // Parentheses and choices pass the expected type on, and an argument may have a node of its own around it.
        while matches!(self.form(self.parent(at)), Some(Lower::Same(Find::First | Find::Last) | Lower::Either(_))) {
            at = self.parent(at);
        }
        let list = self.parent(at);
        let around = self.parent(list);
        for step in self.does(list) {
            let of_type = match step {
                Do::Bind(new) | Do::In(_, Do::Bind(new)) => new.of_type,
                Do::Define(new) | Do::In(_, Do::Define(new)) => new.of_type,
                Do::Returns => {
                    let of = self.frames.last()?.result?;
                    return Some(self.draft.expr(Expr::Cast(of)));
                }
                // An assignment expects the type of its left side.
                Do::Lower(Lower::Same(left)) => {
                    let left = self.find(list, *left).filter(|&left| left != at)?;
                    return Some(self.lower(left));
                }
                Do::Lower(Lower::Cast(_)) => return Some(self.lower(list)),
                _ => continue,
            };
            if let Some(of) = self.find(list, of_type) {
                let of = self.lower(of);
                return Some(self.draft.expr(Expr::Cast(of)));
            }
        }
        let step = self.does(around).iter().find_map(|one| if let Do::Lower(of) = one { Some(of) } else { None })?;
        let said = self.given_to.get(&list).copied();
        let args = match step {
            _ if said.is_some() => Some(list),
            Lower::Call { args, .. } | Lower::CallOf(_, args) | Lower::New(_, args) => self.find(around, *args),
            _ => None,
        };
        if args != Some(list) {
            return None;
        }
        let arity = self.items(list).count() as u32;
        let before: Vec<usize> = self.items(list).take_while(|&item| item != at).take(MAX_GIVEN + 1).collect();
        if before.len() > MAX_GIVEN {
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

//! Selects among several functions of a name by the arguments, and finds the function type of a value.

use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Flags, Literal, SymbolAt, SymbolKind, ValuePart};

use super::engine::{Engine, File};
use super::types::{FuncType, Type};

/// Returns whether a function accepts this number of arguments.
pub(super) fn accepts_arity(of: &FuncType, given: usize) -> bool {
    let wanted = of.params.len();
    (given <= wanted || of.variadic) && given + of.optional + usize::from(of.variadic) >= wanted
}

/// Returns the parameter index of the n-th argument. If optional parameters are omitted, a closure as last argument
/// belongs to the last parameter.
pub(super) fn parameter_index(of: &FuncType, n: usize, given: usize, is_closure: bool) -> usize {
    let last = of.params.len().saturating_sub(1);
    let is_last = is_closure && n + 1 == given && given < of.params.len() && of.optional > 0;
    if is_last { last } else { n.min(last) }
}

/// The arguments of a call.
#[derive(Default)]
pub(super) struct CallArgs {
    pub(super) types: Vec<Type>,
    /// The argument labels, where they distinguish functions.
    pub(super) labels: Vec<Label>,
    /// The number of explicit type arguments.
    pub(super) explicit_type_args: usize,
}

impl Deref for CallArgs {
    type Target = [Type];

    fn deref(&self) -> &[Type] {
        &self.types
    }
}

/// The label of an argument.
#[derive(PartialEq, Eq)]
pub(super) enum Label {
    Unlabelled,
    Named(String),
    /// A closure may follow the call without its label.
    Any,
}

/// Returns the label of an argument or a parameter.
pub(super) fn label(file: &File, of: ExprId) -> Label {
    match file.facts().expr(of) {
        Expr::Part { part: ValuePart::Field(name), .. } => Label::Named(file.name(*name).to_owned()),
        Expr::Closure { .. } => Label::Any,
        _ => Label::Unlabelled,
    }
}

/// Returns whether argument labels match the parameters in order. Any parameter may have a default, and one may accept
/// several arguments, of which only the first has a label.
fn fits_labels(params: &[Label], given: &[Label]) -> bool {
    let mut next = 0;
    for (n, label) in given.iter().enumerate() {
        let found = match label {
            Label::Any => (next < params.len()).then_some(next),
            label => params.iter().skip(next).position(|param| param == label).map(|at| at + next),
        };
        match found {
            Some(found) => next = found + 1,
            None if n > 0 && *label == Label::Unlabelled => {}
            None => return false,
        }
    }
    true
}

impl Engine<'_> {
    /// Keeps the functions with parameters that match the argument labels of a call.
    pub(super) fn filter_by_labels(&self, all: &[SymbolAt], given: &CallArgs) -> Vec<SymbolAt> {
        let is_meant = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return true };
            let Some(of) = file.symbol(at.ordinal).and_then(|symbol| symbol.annotation) else { return true };
            let Expr::Func(of) = file.facts().expr(of) else { return true };
            let params: Vec<Label> = of.params.iter().map(|&param| label(&file, param)).collect();
            fits_labels(&params, &given.labels)
        };
        all.iter().copied().filter(|at| self.library().has(at.file) || is_meant(at)).collect()
    }

    /// Returns the functions that match these arguments best; if none does, those with the right arity, else all.
    pub(super) fn overloads(&self, all: &[SymbolAt], given: &CallArgs) -> Vec<SymbolAt> {
        let labelled = if self.policy.labels_distinguish { self.filter_by_labels(all, given) } else { all.to_vec() };
        self.by_types(&labelled, given)
    }

    fn by_types(&self, all: &[SymbolAt], given: &[Type]) -> Vec<SymbolAt> {
        if all.len() < 2 {
            return all.to_vec();
        }
        let fitting = self.fitting_overloads(all, given);
        if !fitting.is_empty() {
            return fitting;
        }
        let takes_as_many = |at: &SymbolAt| match self.symbol_type(*at) {
            Type::Func(of) => accepts_arity(&of, given.len()),
            _ => true,
        };
        let near: Vec<SymbolAt> = all.iter().copied().filter(takes_as_many).collect();
        if near.is_empty() { all.to_vec() } else { near }
    }

    /// Returns the functions that match these arguments best; empty if none does. Among equally good ones, the function
    /// wins whose parameters would match all the others.
    pub(super) fn fitting_overloads(&self, all: &[SymbolAt], given: &[Type]) -> Vec<SymbolAt> {
        let mut best: Vec<(SymbolAt, Rc<FuncType>)> = Vec::new();
        let mut most = 0;
        for &at in all {
            let Type::Func(of) = self.symbol_type(at) else { continue };
            let Some(fit) = self.match_score_all(&of, given) else { continue };
            if fit > most {
                best.clear();
            }
            if fit >= most {
                most = fit;
                best.push((at, of));
            }
        }
        if best.len() > 1 {
            let is_nearest = |of: &FuncType| {
                best.iter().all(|(_, other)| {
                    of.params.len() == other.params.len()
                        && of
                            .params
                            .iter()
                            .zip(&other.params)
                            .all(|(of, wanted)| self.match_score(wanted, of).is_some())
                })
            };
            let nearest: Vec<SymbolAt> = best.iter().filter(|(_, of)| is_nearest(of)).map(|(at, _)| *at).collect();
            if !nearest.is_empty() {
                return nearest;
            }
        }
        best.into_iter().map(|(at, _)| at).collect()
    }

    /// Returns how well arguments match a function; `None` if they do not.
    fn match_score_all(&self, of: &FuncType, given: &[Type]) -> Option<u32> {
        if !accepts_arity(of, given.len()) {
            return None;
        }
        let last = of.params.len().saturating_sub(1);
        let leaves_out = given.len() < of.params.len();
        let mut sum = if of.variadic || leaves_out { 1 } else { 2 };
        for (n, argument) in given.iter().enumerate() {
            let param = of.params.get(parameter_index(of, n, given.len(), matches!(argument, Type::Closure { .. })))?;
            let is_rest = n > last || n == last && of.variadic && given.len() != of.params.len();
            let whole = if is_rest { None } else { self.match_score(param, argument) };
            let fit = match (param, whole) {
                (_, Some(fit)) => fit * if of.variadic { 1 } else { 2 },
                (Type::List(each), None) if of.variadic && n >= last => self.match_score(each, argument)?,
                _ => return None,
            };
            sum += fit;
        }
        Some(sum)
    }

    /// Returns how well an argument type matches a parameter; `None` if it does not.
    fn match_score(&self, param: &Type, given: &Type) -> Option<u32> {
        const SAME: u32 = 12;
        Some(match (param, given) {
            (Type::External, Type::External) => 4,
            (Type::Unknown | Type::External, _) | (_, Type::Unknown | Type::External) => 3,
            (Type::Basic(param), Type::Basic(given)) if param == given => SAME,
            // No type widens to a character.
            (Type::Basic(_), Type::Basic("null")) | (Type::Basic("char"), Type::Basic(_)) => return None,
            (_, Type::Basic("null")) => 4,
            (Type::Basic(param), Type::Basic(given)) => {
                let rank = |name: &str| self.policy.widening_order.iter().position(|known| *known == name);
                let (param, given) = (rank(param)?, rank(given)?);
                11 - (param.checked_sub(given)? as u32).min(8)
            }
            (Type::Basic(_), Type::Named(..)) => match self.unboxed(given) {
                Some(given) => self.match_score(param, &given)?.min(2),
                None => return None,
            },
            (_, Type::Basic(_)) => match self.boxed(given) {
                Type::Basic(_) => return None,
                boxed => self.match_score(param, &boxed)?.min(3),
            },
            (Type::Param(file, binding), given) => {
                let bound = self.bound(*file, *binding);
                match (&bound, self.root()) {
                    (Type::Named(of, _), Some(root)) if *of == root => 3,
                    _ => self.match_score(&bound, given)?.min(4),
                }
            }
            (Type::Named(of, _), _) if Some(*of) == self.root() => match given {
                Type::Closure { .. } | Type::Func(_) => return None,
                _ => 4,
            },
            (Type::Named(..), Type::Closure { params, .. }) => {
                let wanted = self.function_of(param)?;
                if wanted.params.len() == *params as usize || *params == 0 { 6 } else { return None }
            }
            (Type::Named(..), Type::Func(_)) => {
                self.function_of(param)?;
                5
            }
            (Type::Named(of, _), Type::Named(..) | Type::Param(..)) => match self.inheritance_distance(given, *of) {
                Some(steps) => SAME - steps.min(6),
                None if self.has_unknown_bases(given) => 1,
                None => return None,
            },
            (Type::Func(of), Type::Closure { params, .. }) => {
                let named = of.params.len() - usize::from(of.has_receiver && !of.params.is_empty());
                if named == *params as usize || *params == 0 { 6 } else { return None }
            }
            (Type::List(param), Type::List(given)) => self.match_score(param, given)?,
            (Type::Func(_), Type::Func(_)) => 5,
            _ => return None,
        })
    }

    /// Returns the number of inheritance steps from a type to a supertype.
    fn inheritance_distance(&self, of: &Type, wanted: SymbolAt) -> Option<u32> {
        let mut level = vec![of.clone()];
        for steps in 0..8 {
            let mut next = Vec::new();
            for of in level {
                match of {
                    Type::Named(at, _) if at == wanted => return Some(steps),
                    Type::Named(at, _) => next.extend(self.bases(at).iter().cloned()),
                    Type::Param(file, binding) => next.push(self.bound(file, binding)),
                    _ => {}
                }
            }
            level = next;
        }
        None
    }

    /// Returns the basic type with this name.
    pub(super) fn plain(&self, name: &str) -> Option<&'static str> {
        let known = self.policy.boxes.iter().map(|(plain, _)| *plain).chain(["void"]);
        known
            .chain(self.policy.widening_order.iter().copied())
            .find(|plain| *plain == name)
            .filter(|_| !name.is_empty())
    }

    pub(super) fn literal(&self, of: Literal) -> Type {
        let Some((_, name)) = self.policy.literals.iter().find(|(known, _)| *known == of) else {
            return if of == Literal::Null { Type::Basic("null") } else { Type::External };
        };
        match (self.plain(name), self.library().named(name).first()) {
            (Some(plain), _) => Type::Basic(plain),
            (None, Some(&of)) => Type::named(of),
            (None, None) => Type::External,
        }
    }

    /// Returns the type of the library that represents a basic type.
    pub(super) fn boxed(&self, of: &Type) -> Type {
        let Type::Basic(plain) = of else { return of.clone() };
        let name = self.policy.boxes.iter().find(|(known, _)| known == plain).map(|(_, name)| *name);
        let found = name.and_then(|name| self.library().named(name).first().copied());
        found.map_or_else(|| of.clone(), Type::named)
    }

    fn unboxed(&self, of: &Type) -> Option<Type> {
        let Type::Named(at, _) = of else { return None };
        let (plain, _) = self.policy.boxes.iter().find(|(_, name)| self.library().named(name).first() == Some(at))?;
        Some(Type::Basic(plain))
    }

    /// Returns the function type of a value of a type: a function type itself, or that of the only abstract method.
    pub(super) fn function_of(&self, of: &Type) -> Option<Rc<FuncType>> {
        let (at, arguments) = match of {
            Type::Func(of) => return Some(of.clone()),
            Type::List(of) => return if let Type::Func(of) = of.as_ref() { Some(of.clone()) } else { None },
            Type::Named(at, arguments) => (*at, arguments),
            _ => return None,
        };
        let _deeper = self.query_stack.descend()?;
        let file = self.file(at.file)?;
        if file.symbol(at.ordinal).is_none_or(|symbol| symbol.kind != SymbolKind::Interface) {
            return None;
        }
        let with = self.arguments(at, arguments);
        let is_left_open = |place: &&u32| {
            let symbol = file.symbol(**place);
            symbol.is_some_and(|of| {
                of.kind == SymbolKind::Method && of.flags.has(Flags::ABSTRACT) && !of.flags.has(Flags::STATIC)
            })
        };
        let mut open = file.children(Some(at.ordinal)).iter().filter(is_left_open).filter(|&&place| {
            // Members of the root type are not abstract.
            let name = file.symbol(place).map_or("", |symbol| symbol.name.as_str());
            self.root().is_none_or(|root| {
                self.file(root.file).is_none_or(|file| file.named(Some(root.ordinal), name).is_empty())
            })
        });
        match (open.next(), open.next()) {
            (Some(&only), None) => match self.symbol_type(SymbolAt { file: at.file, ordinal: only }).with(&with) {
                Type::Func(of) => Some(of),
                _ => None,
            },
            (None, _) => self.bases(at).iter().find_map(|base| self.function_of(&base.with(&with))),
            _ => None,
        }
    }
}

//! Calls: the callee, the arguments, and the result.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, LexicalTarget, VersionId};

use super::engine::{Engine, File, LookupSite};
use super::members::{LookupKind, MemberSets};
use super::names::NameTarget;
use super::overloads::{CallArgs, label, parameter_index};
use super::scope_policy::Namespaces;
use super::types::{Arguments, FuncType, Type};
use super::values::Value;

impl Engine<'_> {
    /// Returns the type of the result of a call.
    pub(super) fn call_result(&self, file: &Rc<File>, around: Option<u32>, callee: ExprId, args: &[ExprId]) -> Type {
        if let Expr::Name { name, .. } = file.facts().expr(callee)
            && let Some((_, at)) = self.policy.identity_functions.iter().find(|(known, _)| *known == file.name(*name))
        {
            return args.get(*at).map_or(Type::Unknown, |of| self.value(file, around, *of).into_type());
        }
        if let Expr::New(of) = file.facts().expr(callee) {
            let of = self.type_at(file, around, *of);
            return self.constructed_type(&of, &self.arg_list(file, around, args));
        }
        match self.callee(file, around, callee) {
            Value::Functions(all, with) => {
                let given = self.arg_list(file, around, args);
                let chosen = self.overloads(&all, &given);
                let Some(&chosen) = chosen.first() else { return Type::Unknown };
                match self.symbol_type(chosen) {
                    Type::Func(of) if self.policy.bare_calls && of.params.is_empty() && !given.is_empty() => {
                        self.value_call_result(&self.result(&of, &with, &[]), &given)
                    }
                    Type::Func(of) => self.result(&of, &with, &given),
                    // A function that returns a type is a generic type applied to its arguments.
                    Type::Named(at, _) if at == chosen => Type::Named(at, given.types.into()),
                    other => other.with(&with),
                }
            }
            Value::TypeName(of) if self.policy.modules_are_objects => {
                self.object_call_result(of, &self.arg_list(file, around, args))
            }
            Value::Typed(of) if self.policy.modules_are_objects => {
                self.value_call_result(&of, &self.arg_list(file, around, args))
            }
            Value::TypeName(of) => match self.policy.calls_construct {
                true => self.constructed_type(&of, &self.arg_list(file, around, args)),
                false => of,
            },
            Value::Typed(of) => match self.function_of(&of) {
                Some(of) => of.result.clone(),
                None if of == Type::External => Type::External,
                None => Type::Unknown,
            },
            Value::Package(_) => Type::Unknown,
        }
    }

    /// Returns the type of a constructed value. For a generic type without explicit type arguments, they are inferred
    /// from the arguments of its constructor.
    pub(super) fn constructed_type(&self, of: &Type, given: &CallArgs) -> Type {
        let Type::Named(at, arguments) = of else { return of.clone() };
        let Some(file) = self.file(at.file).filter(|_| arguments.is_empty() && !given.is_empty()) else {
            return of.clone();
        };
        let own: Vec<(VersionId, u32)> = file.type_params(at.ordinal).iter().map(|&param| (at.file, param)).collect();
        let chosen = self.overloads(&self.construct_candidates(*at), given);
        let Some(Type::Func(by)) = chosen.first().filter(|_| !own.is_empty()).map(|at| self.symbol_type(*at)) else {
            return of.clone();
        };
        let by = FuncType { type_params: own.clone(), ..by.as_ref().clone() };
        let learned = self.infer_type_args(&by, &Arguments::new(), given);
        let known = |param: &(VersionId, u32)| learned.iter().find(|(of, _)| of == param).map(|(_, of)| of.clone());
        Type::Named(*at, own.iter().map(|param| known(param).unwrap_or(Type::Unknown)).collect())
    }

    /// Returns the callee. Where a field and a function may share a name, the function wins.
    pub(super) fn callee(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let functions = match file.facts().expr(id) {
            Expr::Name { name, seen } if self.policy.bare_calls => {
                Some(self.named_value(file, around, file.name(*name), *seen))
            }
            Expr::Member { of, name } if self.policy.bare_calls => {
                Some(self.select(file, self.value(file, around, *of), file.name(*name)))
            }
            Expr::Apply { of, args } if self.policy.bare_calls => match self.callee(file, around, *of) {
                Value::TypeName(_) => None,
                other => Some(self.with_explicit_type_args(file, around, other, args)),
            },
            _ if self.policy.namespaces != Namespaces::AllSeparate => None,
            Expr::Apply { of, args } => match self.callee(file, around, *of) {
                Value::Functions(all, with) => {
                    Some(self.with_explicit_type_args(file, around, Value::Functions(all, with), args))
                }
                _ => None,
            },
            Expr::Member { of, name } => match self.implicit_receiver_binding(file, *of) {
                Some(binding) => {
                    let found = self.receivers(file, binding).iter().find_map(|of| self.methods(of, file.name(*name)));
                    found.or_else(|| self.bare_callee(file, around, file.name(*name)))
                }
                None => match self.value(file, around, *of) {
                    Value::Typed(of) | Value::TypeName(of) => self.methods(&of, file.name(*name)),
                    _ => None,
                },
            },
            Expr::Name { name, seen: LexicalTarget::NotLocal } => self.bare_callee(file, around, file.name(*name)),
            _ => None,
        };
        functions.unwrap_or_else(|| self.value(file, around, id))
    }

    /// Returns the callee of a call by bare name.
    pub(super) fn bare_callee(&self, file: &Rc<File>, around: Option<u32>, name: &str) -> Option<Value> {
        let place = LookupSite { file: file.clone(), symbol: around };
        match self.look_up(&place, name, LookupKind::Call) {
            NameTarget::Symbols(targets) => Some(self.symbols_value(&targets)),
            NameTarget::Members(levels) => Some(all_sets_value(&levels)),
            _ => None,
        }
    }

    /// Returns the methods of a type with that name, from all member sets; the arguments decide between them.
    pub(super) fn methods(&self, of: &Type, name: &str) -> Option<Value> {
        let levels = self.members(of, name, LookupKind::Call);
        (!levels.sets.is_empty()).then(|| all_sets_value(&levels))
    }

    /// Returns the types of the arguments of a call.
    pub(super) fn call_args(&self, place: &LookupSite, call: ExprId) -> CallArgs {
        let around = self.enclosing_type(&place.file, place.symbol);
        match place.file.facts().expr(call) {
            Expr::Call { callee, args } => {
                let given = self.arg_list(&place.file, around, args);
                let callee = place.file.facts().expr(*callee);
                let told = if let Expr::Apply { args, .. } = callee { args.len() } else { 0 };
                CallArgs { explicit_type_args: told, ..given }
            }
            _ => CallArgs::default(),
        }
    }

    pub(super) fn arg_list(&self, file: &Rc<File>, around: Option<u32>, args: &[ExprId]) -> CallArgs {
        let types = self.types_of(file, around, args);
        let labels = args.iter().filter(|_| self.policy.labels_distinguish).map(|&arg| label(file, arg)).collect();
        CallArgs { types, labels, explicit_type_args: 0 }
    }

    pub(super) fn types_of(&self, file: &Rc<File>, around: Option<u32>, args: &[ExprId]) -> Vec<Type> {
        let one = |of: &ExprId| match self.value(file, around, *of) {
            Value::Functions(all, with) => match all.first().map(|first| self.symbol_type(*first)) {
                Some(Type::Func(of)) if all.len() == 1 => Type::Func(of).with(&with),
                _ => Type::Unknown,
            },
            value => value.into_type(),
        };
        args.iter().map(one).collect()
    }

    /// Returns the result type of a function for arguments of these types.
    pub(super) fn result(&self, of: &FuncType, with: &Arguments, given: &[Type]) -> Type {
        let result = of.result.with(with);
        if !result.names_any(&of.type_params) {
            return result;
        }
        result.with(&self.infer_type_args(of, with, given))
    }

    /// Infers the type parameters of a function from its arguments.
    pub(super) fn infer_type_args(&self, of: &FuncType, with: &Arguments, given: &[Type]) -> Arguments {
        let mut learned = Arguments::new();
        for (n, argument) in given.iter().enumerate() {
            let last = of.params.len().saturating_sub(1);
            let place = parameter_index(of, n, given.len(), matches!(argument, Type::Closure { .. }));
            let Some(param) = of.params.get(place) else { break };
            let param = param.with(with).with(&learned);
            match &param {
                Type::List(each) if of.variadic && n >= last && !matches!(argument, Type::List(_)) => {
                    self.infer_from_arg(each, argument, &of.type_params, &mut learned);
                }
                param => self.infer_from_arg(param, argument, &of.type_params, &mut learned),
            }
        }
        // A type parameter that was not inferred is some type, not the function's own parameter.
        for own in &of.type_params {
            if !learned.iter().any(|(known, _)| known == own) {
                learned.push((*own, Type::Unknown));
            }
        }
        learned
    }

    pub(super) fn infer_from_arg(&self, param: &Type, given: &Type, own: &[(VersionId, u32)], learned: &mut Arguments) {
        match (param, given) {
            (_, Type::Unknown | Type::Basic("null")) => {}
            (Type::Param(file, binding), given) if own.contains(&(*file, *binding)) => {
                let is_known = learned.iter().any(|(of, _)| *of == (*file, *binding));
                learned.extend((!is_known).then(|| ((*file, *binding), self.boxed(given))));
            }
            (Type::List(of), Type::List(given)) => self.infer_from_arg(of, given, own, learned),
            (Type::Named(..) | Type::Func(_), Type::Closure { .. } | Type::Func(_)) => {
                let Some(wanted) = self.function_of(param).filter(|_| param.names_any(own)) else { return };
                let given = match given {
                    Type::Closure { file, around, back: Some(back), .. } => match self.file(*file) {
                        Some(file) => self.value(&file, *around, *back).into_type(),
                        None => Type::Unknown,
                    },
                    Type::Func(of) => of.result.clone(),
                    _ => Type::Unknown,
                };
                self.infer_from_arg(&wanted.result, &given, own, learned);
            }
            (Type::Named(of, args), given) if !args.is_empty() => {
                if let Some(Type::Named(_, given)) = self.as_supertype(given, *of) {
                    args.iter()
                        .zip(given.iter())
                        .for_each(|(args, given)| self.infer_from_arg(args, given, own, learned));
                }
            }
            _ => {}
        }
    }

    /// Returns the parameter type that a function expects after the given arguments.
    pub(super) fn expected_param_type(
        &self,
        file: &Rc<File>,
        around: Option<u32>,
        callee: ExprId,
        arity: u32,
        given: &[ExprId],
    ) -> Type {
        let (all, with) = match (file.facts().expr(callee), self.callee(file, around, callee)) {
            (Expr::New(of), _) => match self.type_at(file, around, *of) {
                Type::Named(of, args) => (self.construct_candidates(of), Rc::new(self.arguments(of, &args))),
                _ => return Type::Unknown,
            },
            (_, Value::Functions(all, with)) => (all, with),
            (_, Value::Typed(Type::Func(of))) => {
                let place = parameter_index(&of, given.len(), arity as usize, true);
                return of.params.get(place).cloned().unwrap_or(Type::Unknown);
            }
            (_, Value::TypeName(Type::Named(of, args))) if self.policy.calls_construct => {
                // An interface with a single method is constructed from a function.
                let made = Type::Named(of, args.clone());
                if arity == 1 && self.construct_candidates(of).is_empty() && self.function_of(&made).is_some() {
                    return made;
                }
                (self.construct_candidates(of), Rc::new(self.arguments(of, &args)))
            }
            _ => return Type::Unknown,
        };
        let types = self.types_of(file, around, given);
        for &one in all.iter() {
            let Type::Func(of) = self.symbol_type(one) else { continue };
            let fits = super::overloads::accepts_arity(&of, arity as usize);
            let last = of.params.len().saturating_sub(1);
            let place = parameter_index(&of, given.len(), arity as usize, true);
            let Some(param) = of.params.get(place).filter(|_| fits) else { continue };
            let param = match param {
                Type::List(each) if of.variadic && given.len() >= last => each.as_ref(),
                param => param,
            };
            let param = param.with(&with).with(&self.infer_type_args(&of, &with, &types));
            if all.len() == 1 || self.function_of(&param).is_some() {
                return param;
            }
        }
        Type::Unknown
    }
}

/// Returns the functions of all member sets; the arguments decide between them.
fn all_sets_value(levels: &MemberSets) -> Value {
    let with: Arguments = levels.sets.iter().flat_map(|(_, with)| with.iter().cloned()).collect();
    Value::Functions(levels.all().collect(), Rc::new(with))
}

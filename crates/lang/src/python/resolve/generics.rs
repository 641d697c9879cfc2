//! Substitutes type parameters where generic classes and functions are used.

use std::rc::Rc;

use codecompass_model::SymbolAt;

use super::PythonResolver;
use super::expression::Arg;
use super::names::LookupSite;
use super::types::{ContainerKind, Type};

impl PythonResolver<'_> {
    /// Substitutes a class's parameters in a type, for a value of that class.
    pub(super) fn substitute_class_params(&self, one: &Type, by: &Type) -> Type {
        self.substitute_through_base(one, by, by)
    }

    /// Substitutes through a base: the type comes from one of the bases of the class.
    pub(super) fn substitute_through_base(&self, one: &Type, base: &Type, to: &Type) -> Type {
        if !one.has_type_vars() {
            return one.clone();
        }
        let (Type::Instance(class, arguments) | Type::Class(class, arguments)) = base else {
            return one.clone();
        };
        let names = self.parameters(*class);
        one.map(&|part| match &part {
            Type::Var(name, _) => {
                let at = names.iter().position(|known| known == name);
                at.and_then(|at| arguments.get(at)).cloned().unwrap_or(part)
            }
            Type::SelfType(_) => match to {
                Type::Class(..) | Type::SelfClass(_) => self.as_instance(to),
                Type::Instance(..) | Type::SelfType(_) => to.clone(),
                _ => part,
            },
            Type::SelfClass(_) => match self.as_class(to) {
                Type::Unknown => part,
                class => class,
            },
            _ => part,
        })
    }

    /// Returns the return type of a method, for the value that it is called on.
    pub(super) fn substitute_for_method(&self, given: &Type, method: SymbolAt, to: &Type) -> Type {
        let Some(class) = self.source(method.file).and_then(|source| source.symbol(method.ordinal)?.parent) else {
            return given.clone();
        };
        let (Type::Instance(of, _) | Type::Class(of, _) | Type::SelfType(of) | Type::SelfClass(of)) = to else {
            return given.clone();
        };
        let is_around =
            |base: &&Type| matches!(base, Type::Instance(at, _) if at.file == method.file && at.ordinal == class);
        let order = self.method_resolution_order(*of);
        match order.iter().find(is_around) {
            Some(base) => self.substitute_through_base(given, &self.substitute_class_params(base, to), to),
            None => given.clone(),
        }
    }

    /// Infers a function's own type parameters from the arguments of a call.
    pub(super) fn infer_from_arguments(
        &self,
        function: SymbolAt,
        is_bound: bool,
        arguments: &[Arg<'_>],
        place: &LookupSite,
        filled: &mut Vec<(Rc<str>, Type)>,
    ) {
        let Some(source) = self.source(function.file) else { return };
        let is_static = source.is_decorated(function.ordinal, &["staticmethod"]);
        let params = source.params(function.ordinal).get(usize::from(is_bound && !is_static)..).unwrap_or(&[]);
        let header = LookupSite::header(&source, function.ordinal);
        let binding = |at: &u32| source.facts().bindings.get(*at as usize);
        for (position, argument) in arguments.iter().enumerate() {
            let param = match argument.name {
                Some(name) => params.iter().filter_map(binding).find(|binding| source.name(binding.name) == name),
                None => params.get(position).and_then(binding),
            };
            let Some(annotation) = param.and_then(|param| param.annotation) else { continue };
            let pattern = self.type_from_text(source.expr_text(annotation), &header);
            if pattern.has_type_vars() {
                self.unify(&pattern, &self.value(&argument.value, place), filled, 0);
            }
        }
    }

    fn unify(&self, pattern: &Type, actual: &Type, filled: &mut Vec<(Rc<str>, Type)>, depth: u32) {
        if depth > 6 || actual.is_unknown() {
            return;
        }
        let mut zip = |patterns: &[Type], actuals: &[Type]| {
            for (pattern, actual) in patterns.iter().zip(actuals) {
                self.unify(pattern, actual, filled, depth + 1);
            }
        };
        match (pattern, actual) {
            (Type::Var(name, _), _) => bind_once(filled, name, actual),
            (Type::Union(all), _) => {
                for one in all.iter().filter(|one| one.has_type_vars()) {
                    self.unify(one, actual, filled, depth + 1);
                }
            }
            (
                Type::Container(ContainerKind::Callable, parts),
                Type::Class(..) | Type::SelfClass(_) | Type::Function(..),
            ) => {
                zip(parts, &[self.call_plain(actual)]);
            }
            (Type::Container(ContainerKind::Iterable, parts), _) => zip(parts, &[self.element(actual)]),
            (Type::Container(one, parts), Type::Container(other, more)) if one == other => zip(parts, more),
            (Type::Instance(one, parts), Type::Instance(other, more)) if one == other => zip(parts, more),
            _ => {}
        }
    }
}

/// Binds a type variable; the first binding stays.
fn bind_once(filled: &mut Vec<(Rc<str>, Type)>, name: &Rc<str>, actual: &Type) {
    if !filled.iter().any(|(known, _)| known == name) {
        filled.push((name.clone(), actual.clone()));
    }
}

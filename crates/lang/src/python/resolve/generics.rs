//! Substitutes type parameters where generic classes and functions are used.

use std::rc::Rc;

use codecompass_model::SymbolAt;

use super::Rules;
use super::expression::Arg;
use super::names::Place;
use super::types::{Shape, Type};

impl Rules<'_> {
    /// Substitutes a class's parameters in a type, for a value of that class.
    pub(super) fn filled_in(&self, one: &Type, by: &Type) -> Type {
        self.filled_by(one, by, by)
    }

    /// Substitutes through a base: the type comes from one of the bases of the class.
    pub(super) fn filled_by(&self, one: &Type, base: &Type, to: &Type) -> Type {
        if !one.is_open() {
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
            Type::Own(_) => match to {
                Type::Class(..) | Type::OwnClass(_) => self.as_instance(to),
                Type::Instance(..) | Type::Own(_) => to.clone(),
                _ => part,
            },
            Type::OwnClass(_) => match self.as_class(to) {
                Type::Unknown => part,
                class => class,
            },
            _ => part,
        })
    }

    /// Returns the return type of a method, for the value that it is called on.
    pub(super) fn filled_from(&self, given: &Type, method: SymbolAt, to: &Type) -> Type {
        let Some(class) = self.source(method.file).and_then(|source| source.symbol(method.place)?.parent) else {
            return given.clone();
        };
        let (Type::Instance(of, _) | Type::Class(of, _) | Type::Own(of) | Type::OwnClass(of)) = to else {
            return given.clone();
        };
        let is_around =
            |base: &&Type| matches!(base, Type::Instance(at, _) if at.file == method.file && at.place == class);
        let order = self.order(*of);
        match order.iter().find(is_around) {
            Some(base) => self.filled_by(given, &self.filled_in(base, to), to),
            None => given.clone(),
        }
    }

    /// Infers a function's own type parameters from the arguments of a call.
    pub(super) fn fill_from_arguments(
        &self,
        function: SymbolAt,
        is_bound: bool,
        arguments: &[Arg<'_>],
        place: &Place,
        filled: &mut Vec<(Rc<str>, Type)>,
    ) {
        let Some(source) = self.source(function.file) else { return };
        let is_static = source.is_decorated(function.place, &["staticmethod"]);
        let params = source.params(function.place).get(usize::from(is_bound && !is_static)..).unwrap_or(&[]);
        let header = Place::header(&source, function.place);
        let binding = |at: &u32| source.facts().bindings.get(*at as usize);
        for (position, argument) in arguments.iter().enumerate() {
            let param = match argument.name {
                Some(name) => params.iter().filter_map(binding).find(|binding| source.name(binding.name) == name),
                None => params.get(position).and_then(binding),
            };
            let Some(annotation) = param.and_then(|param| param.annotation) else { continue };
            let pattern = self.declared(source.written(annotation), &header);
            if pattern.is_open() {
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
            (Type::Var(name, _), _) => fill_once(filled, name, actual),
            (Type::Union(all), _) => {
                for one in all.iter().filter(|one| one.is_open()) {
                    self.unify(one, actual, filled, depth + 1);
                }
            }
            (Type::Box(Shape::Callable, parts), Type::Class(..) | Type::OwnClass(_) | Type::Function(..)) => {
                zip(parts, &[self.call_plain(actual)]);
            }
            (Type::Box(Shape::Row, parts), _) => zip(parts, &[self.element(actual)]),
            (Type::Box(one, parts), Type::Box(other, more)) if one == other => zip(parts, more),
            (Type::Instance(one, parts), Type::Instance(other, more)) if one == other => zip(parts, more),
            _ => {}
        }
    }
}

/// Binds a type variable; the first binding stays.
fn fill_once(filled: &mut Vec<(Rc<str>, Type)>, name: &Rc<str>, actual: &Type) {
    if !filled.iter().any(|(known, _)| known == name) {
        filled.push((name.clone(), actual.clone()));
    }
}

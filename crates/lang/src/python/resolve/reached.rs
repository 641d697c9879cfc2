//! Finds calls of returned functions: `add`, returned by `make`, in `make(1)(2)`, in `k(2)` after `k = make(1)`, and
//! the wrapper that the decorator of a called function returns.

use std::rc::Rc;

use codecompass_model::{Reached, RefShape, Reference, SymbolAt};

use super::Rules;
use super::expression::Expr;
use super::names::Place;
use super::source::Source;
use super::types::Type;
use crate::resolve::returned::{behind_call, name_span, returned};

impl Rules<'_> {
    pub(super) fn reached_by(&self, source: &Rc<Source>, reference: &Reference) -> Option<Reached> {
        let is_call = matches!(
            reference.shape,
            RefShape::Call | RefShape::MemberCall | RefShape::SelfCall | RefShape::PathCall | RefShape::Construct
        );
        if !is_call {
            return None;
        }
        if let Some(binding) = reference.binding.filter(|_| reference.qualifier.is_none()) {
            let local = source.facts().bindings.get(binding as usize)?;
            let place = Place::at(source, local.symbol, local.line);
            return self.given_by(source.written(local.value?), &place);
        }
        let [target] = *self.meaning(source, reference).targets() else { return None };
        let again = self.through(target).filter(|_| self.is_called_again(source, reference));
        again.or_else(|| self.held_by(target)).or_else(|| self.decorated_by(target))
    }

    /// Returns whether the result of a call is called again: `make(1)(2)`.
    fn is_called_again(&self, source: &Source, reference: &Reference) -> bool {
        let Some(text) = self.world.text(source.file.id) else { return false };
        let name = name_span(&text, reference.line, reference.column, source.name(reference.name));
        behind_call(&text, name).is_some_and(|rest| rest.starts_with('('))
    }

    /// Returns the returned call for a variable that holds the result of a call.
    fn held_by(&self, variable: SymbolAt) -> Option<Reached> {
        let source = self.source(variable.file)?;
        let symbol = source.symbol(variable.place)?;
        let place = Place::at(&source, symbol.parent, symbol.lines.start);
        self.given_by(source.written(symbol.value?), &place)
    }

    /// Returns the returned call for a function with a decorator that returns another function.
    fn decorated_by(&self, function: SymbolAt) -> Option<Reached> {
        let source = self.source(function.file)?;
        let at = *source.decorators(function.place).first()?;
        let decorator = *source.facts().references.get(at as usize)?;
        let [target] = *self.meaning(&source, &decorator).targets() else { return None };
        let text = self.world.text(source.file.id)?;
        let name = name_span(&text, decorator.line, decorator.column, source.name(decorator.name));
        let made = self.through(target)?;
        if behind_call(&text, name).is_none() {
            return Some(made);
        }
        // `@retry(3)`: the decorator is the result of the call.
        let [decorator] = *made.targets.as_slice() else { return None };
        self.through(decorator)
    }

    /// Returns the returned call for a call in the text of a value.
    fn given_by(&self, text: &str, place: &Place) -> Option<Reached> {
        let Expr::Call(callee, _) = Expr::parse(text) else { return None };
        match self.value(&callee, place) {
            Type::Function(function, _) => self.through(function),
            _ => None,
        }
    }

    fn through(&self, via: SymbolAt) -> Option<Reached> {
        let targets = returned(&*self.world, via);
        (!targets.is_empty()).then_some(Reached { targets, via })
    }
}

//! Finds calls of returned functions: `add`, returned by `make`, in `make(1)(2)`, in `k(2)` after `k = make(1)`, and
//! the wrapper that the decorator of a called function returns.

use std::rc::Rc;

use codecompass_model::{RefShape, Reference, ReturnedCall, SymbolAt};

use super::PythonResolver;
use super::expression::Expr;
use super::names::LookupSite;
use super::source::PythonFile;
use super::types::Type;
use crate::resolve::returned::{name_span, returned_functions, text_after_call};

impl PythonResolver<'_> {
    pub(super) fn find_returned_call(&self, source: &Rc<PythonFile>, reference: &Reference) -> Option<ReturnedCall> {
        let is_call = matches!(
            reference.shape,
            RefShape::Call | RefShape::MemberCall | RefShape::SelfCall | RefShape::PathCall | RefShape::Construct
        );
        if !is_call {
            return None;
        }
        if let Some(binding) = reference.binding.filter(|_| reference.qualifier.is_none()) {
            let local = source.facts().bindings.get(binding as usize)?;
            let place = LookupSite::at(source, local.symbol, local.line);
            return self.call_in_text(source.expr_text(local.value?), &place);
        }
        let [target] = *self.reference_resolution(source, reference).targets() else { return None };
        let again = self.call_through(target).filter(|_| self.is_called_again(source, reference));
        again.or_else(|| self.call_held_by(target)).or_else(|| self.decorated_by(target))
    }

    /// Returns whether the result of a call is called again: `make(1)(2)`.
    fn is_called_again(&self, source: &PythonFile, reference: &Reference) -> bool {
        let Some(text) = self.world.text(source.file.id) else { return false };
        let name = name_span(&text, reference.line, reference.column, source.name(reference.name));
        text_after_call(&text, name).is_some_and(|rest| rest.starts_with('('))
    }

    /// Returns the returned call for a variable that holds the result of a call.
    fn call_held_by(&self, variable: SymbolAt) -> Option<ReturnedCall> {
        let source = self.source(variable.file)?;
        let symbol = source.symbol(variable.ordinal)?;
        let place = LookupSite::at(&source, symbol.parent, symbol.lines.start);
        self.call_in_text(source.expr_text(symbol.value?), &place)
    }

    /// Returns the returned call for a function with a decorator that returns another function.
    fn decorated_by(&self, function: SymbolAt) -> Option<ReturnedCall> {
        let source = self.source(function.file)?;
        let at = *source.decorators(function.ordinal).first()?;
        let decorator = *source.facts().references.get(at as usize)?;
        let [target] = *self.reference_resolution(&source, &decorator).targets() else { return None };
        let text = self.world.text(source.file.id)?;
        let name = name_span(&text, decorator.line, decorator.column, source.name(decorator.name));
        let made = self.call_through(target)?;
        if text_after_call(&text, name).is_none() {
            return Some(made);
        }
        // `@retry(3)`: the decorator is the result of the call.
        let [decorator] = *made.targets.as_slice() else { return None };
        self.call_through(decorator)
    }

    /// Returns the returned call for a call in the text of a value.
    fn call_in_text(&self, text: &str, place: &LookupSite) -> Option<ReturnedCall> {
        let Expr::Call(callee, _) = Expr::parse(text) else { return None };
        match self.value(&callee, place) {
            Type::Function(function, _) => self.call_through(function),
            _ => None,
        }
    }

    fn call_through(&self, via: SymbolAt) -> Option<ReturnedCall> {
        let targets = returned_functions(&*self.world, via);
        (!targets.is_empty()).then_some(ReturnedCall { targets, via })
    }
}

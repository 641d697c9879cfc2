//! Finds calls of returned functions: `handler`, returned by `jwt`, in `jwt()(c)` and, after `const h = jwt()`, `h(c)`.

use codecompass_model::{RefShape, ReturnedCall, SymbolAt, VersionId};

use super::EcmaResolver;
use super::types::{Scope, Type};
use crate::resolve::returned::{name_span, returned_functions, text_after_call};

impl EcmaResolver<'_> {
    pub(super) fn find_returned_call(&self, file: VersionId, at: u32) -> Option<ReturnedCall> {
        let index = self.index(file)?;
        let reference = *index.file.facts.references.get(at as usize)?;
        if !matches!(reference.shape, RefShape::Call | RefShape::MemberCall | RefShape::SelfCall) {
            return None;
        }
        if let Some(binding) = reference.binding.filter(|_| reference.qualifier.is_none()) {
            let local = *index.file.facts.bindings.get(binding as usize)?;
            return self.call_in_text(index.expr_text(local.value?), &Scope::new(file, local.symbol, local.line));
        }
        let [target] = *self.reference_resolution(file, at).targets() else { return None };
        let Some(reached) = self.call_through(target) else { return self.call_held_by(target) };
        let text = self.world.text(file)?;
        let name = name_span(&text, reference.line, reference.column, index.name(reference.name));
        text_after_call(&text, name)?.starts_with('(').then_some(reached)
    }

    /// Returns the returned call for a variable that holds the result of a call.
    fn call_held_by(&self, variable: SymbolAt) -> Option<ReturnedCall> {
        let index = self.index(variable.file)?;
        let symbol = index.symbol(variable.ordinal)?;
        let scope = Scope::new(variable.file, symbol.parent, symbol.name_line);
        self.call_in_text(index.expr_text(symbol.value?), &scope)
    }

    /// Returns the returned call for a call in the text of a value.
    fn call_in_text(&self, text: &str, scope: &Scope) -> Option<ReturnedCall> {
        let callee = &text[..last_call(text.trim_end())?];
        match self.value(callee, scope) {
            Type::Value(function) | Type::Bound(function, _) => self.call_through(function),
            _ => None,
        }
    }

    fn call_through(&self, via: SymbolAt) -> Option<ReturnedCall> {
        let targets = returned_functions(&*self.world, via);
        (!targets.is_empty()).then_some(ReturnedCall { targets, via })
    }
}

/// Returns the start of the arguments that a text ends with.
fn last_call(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut open) = (0usize, None, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'' | '`') => quote = Some(c),
            (Some(quoted), _) if c == quoted => quote = None,
            (Some(_), _) => {}
            (None, '(' | '[' | '{') => {
                open = if depth == 0 { Some((at, c)) } else { open };
                depth += 1;
            }
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    let is_closed = depth == 0 && quote.is_none() && text.ends_with(')');
    open.filter(|(_, c)| is_closed && *c == '(').map(|(at, _)| at)
}

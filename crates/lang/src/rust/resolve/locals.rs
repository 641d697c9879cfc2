//! The types of local bindings: parameters, variables, patterns.

use std::rc::Rc;

use codecompass_model::{Binding, BindingKind, Expr, SymbolAt, SymbolKind, ValuePart, VersionId};

use super::RustResolver;
use super::expansion::Frame;
use super::expressions::ExprSite;
use super::lower::PathTarget;
use super::modules::Scope;
use super::scope::Space;
use super::type_ref::TypeRef;
use super::types::Ty;
use crate::rules::index::Index;

impl RustResolver<'_> {
    /// Returns the local binding that a name in an expression refers to.
    pub(super) fn local(&self, point: ExprSite, name: &str) -> Option<u32> {
        let index = self.indexed(point.scope.file)?;
        if let Some(first) = point.first {
            let is_it = |binding: &u32| {
                index.facts().bindings.get(*binding as usize).is_some_and(|known| index.name(known.name) == name)
            };
            return first.filter(is_it);
        }
        let facts = index.facts();
        let is_here = |at: &&u32| {
            let reference = &facts.references[**at as usize];
            reference.symbol == point.scope.symbol && reference.binding.is_none_or(|binding| binding < point.limit)
        };
        // A nearby reference to the name has the same binding: references after it are preferred to those before it.
        let distance = |at: &&u32| {
            let line = facts.references[**at as usize].line;
            if line >= point.line { 2 * (line - point.line) } else { 4 * (point.line - line) + 1 }
        };
        if let Some(&nearest) = index.references(name).iter().filter(is_here).min_by_key(distance) {
            return facts.references[nearest as usize].binding;
        }
        let declared = |at: &&u32| {
            let binding = &facts.bindings[**at as usize];
            binding.symbol == point.scope.symbol && **at < point.limit && binding.kind != BindingKind::TypeParam
        };
        index.bindings(name).iter().rev().find(declared).copied()
    }

    /// Returns the type of a local binding.
    pub(super) fn local_type(&self, file: VersionId, binding: u32) -> Ty {
        let look = || self.bound_type(file, binding).unwrap_or(Ty::Unknown);
        self.locals.compute_cyclic(&self.query_stack, (file, binding), Ty::Unknown, look)
    }

    fn bound_type(&self, file: VersionId, at: u32) -> Option<Ty> {
        let index = self.indexed(file)?;
        let binding = *index.facts().bindings.get(at as usize)?;
        let scope = Scope { file, symbol: binding.symbol };
        let value = || {
            let point = ExprSite { scope, line: binding.line, limit: at, first: None };
            if !matches!(index.facts().expr(binding.value?), Expr::Text(_)) {
                return Some(self.lowered(&Frame::of_file(file, point), binding.value?));
            }
            let text = index.expr_text(binding.value?);
            let found = self.expression(point, text);
            if found.is_known() && found != Ty::Function(Ty::Unknown.into()) {
                return Some(found);
            }
            self.value_in_text(&index, at).or(Some(found))
        };
        match binding.annotation {
            Some(text) => self.annotated(&index, scope, &binding, index.expr_text(text), &value),
            None if binding.value.is_none() => {
                let whole = self.closure_parameter(&index, at)?;
                self.binding_part_type(&index, at, &whole, binding.part)
            }
            None => self.binding_part_type(&index, at, &value()?, binding.part),
        }
    }

    fn binding_part_type(&self, index: &Index, binding: u32, ty: &Ty, part: ValuePart) -> Option<Ty> {
        match part {
            ValuePart::Inside => self.nested_binding_type(index, binding, ty),
            part => self.part_type(index, ty, part),
        }
    }

    fn annotated(
        &self,
        index: &Index,
        scope: Scope,
        binding: &Binding,
        text: &str,
        value: &dyn Fn() -> Option<Ty>,
    ) -> Option<Ty> {
        let written = TypeRef::parse(text);
        if binding.part == ValuePart::Whole {
            let ty = self.lower(scope, &written);
            if ty.has_unknown() && binding.value.is_some() {
                let other = value()?;
                if let (Ty::Library(name, arguments), Ty::Library(given, elements)) = (&ty, &other)
                    && &**given == "Iterator"
                    && arguments.len() == 1
                    && &**name != "Option"
                {
                    return Some(Ty::Library(Rc::clone(name), Rc::clone(elements)));
                }
                let same = match (&ty, &other) {
                    (Ty::Library(a, _), Ty::Library(b, _)) => a == b,
                    (Ty::Item(a, _), Ty::Item(b, _)) => a == b,
                    (Ty::Unknown, _) => true,
                    _ => false,
                };
                return Some(if same { other } else { ty });
            }
            return Some(ty);
        }
        // A pattern names a struct or a variant; the value may determine its type arguments.
        let (holder, of) = match self.resolve_path(scope, written.segments(), Space::Value) {
            PathTarget::Symbol(at, _) => (at, self.symbol(at, |symbol| symbol.parent)?),
            _ => return self.part_type(index, &self.lower(scope, &written), binding.part),
        };
        let is_variant = self.symbol(holder, |symbol| symbol.kind == SymbolKind::Variant)?;
        let of = SymbolAt { file: holder.file, ordinal: if is_variant { of? } else { holder.ordinal } };
        let arguments = match self.lower(scope, &written) {
            Ty::Item(_, arguments) if !arguments.is_empty() => arguments,
            _ => match value() {
                Some(Ty::Item(at, arguments)) if at == of => arguments,
                _ => [].into(),
            },
        };
        let name = match binding.part {
            ValuePart::Payload => "0".to_owned(),
            ValuePart::Index(at) => at.to_string(),
            ValuePart::Field(name) => index.name(name).to_owned(),
            ValuePart::Whole | ValuePart::Element | ValuePart::Inside => return None,
        };
        self.field_of(holder, of, &arguments, &name).map(|(_, ty)| ty)
    }

    /// Returns the type of a part of a value.
    fn part_type(&self, index: &Index, ty: &Ty, part: ValuePart) -> Option<Ty> {
        match part {
            ValuePart::Whole => Some(ty.clone()),
            ValuePart::Element => self.element(ty),
            ValuePart::Payload => match ty {
                Ty::Item(..) => self.field(ty, "0").map(|(_, ty)| ty),
                _ => Some(self.payload(ty)),
            },
            ValuePart::Index(at) => self.field(ty, &at.to_string()).map(|(_, ty)| ty),
            ValuePart::Field(name) => self.field(ty, index.name(name)).map(|(_, ty)| ty),
            ValuePart::Inside => None,
        }
    }
}

//! Calls: their return types, and the parameter types that their callees expect.

use std::rc::Rc;

use codecompass_model::{Flags, Symbol, SymbolAt, SymbolKind};

use super::EcmaResolver;
use super::index::Index;
use super::names::NameTarget;
use super::signatures::{
    Parameter, Signature, call_signatures, callable, choose_overload, declared_type, parameter, parameters, signature,
};
use super::split;
use super::type_text::{is_function, without_comments};
use super::types::{Receiver, Scope, Type, TypeText};

/// The maximum number of overloads to check.
const MAX_OVERLOADS: usize = 64;

impl EcmaResolver<'_> {
    /// Returns the result type of a call. The arguments may determine a type parameter.
    pub(super) fn call_result(&self, callee: &Type, arguments: &str, scope: &Scope) -> Type {
        let one = |callee: &Type| {
            self.query_stack.with_depth_limit(Type::Unknown, || self.call_result_of_one(callee, arguments, scope))
        };
        Type::union_of(callee.alternatives().iter().map(one))
    }

    fn call_result_of_one(&self, callee: &Type, arguments: &str, scope: &Scope) -> Type {
        match callee {
            Type::Value(symbol) => self.function_result(*symbol, None, arguments, scope),
            Type::Bound(symbol, receiver) => self.function_result(*symbol, Some(receiver), arguments, scope),
            Type::Method(of, name) => self.method_result(of, name),
            Type::Module(file) => match self.target_type(self.callable_module(*file)) {
                Type::Module(_) => Type::Unknown,
                itself => self.call_result(&itself, arguments, scope),
            },
            Type::External | Type::ExternalResult => Type::ExternalResult,
            Type::Instance(..) | Type::Inline(_) => match self.expanded(callee) {
                Type::Union(types) => Type::union_of(types.iter().map(|one| self.call_result(one, arguments, scope))),
                _ => match choose_overload(&self.signatures(callee), arguments) {
                    Some(signature) => self.result_of(signature, arguments, scope),
                    None => Type::Unknown,
                },
            },
            _ => Type::Unknown,
        }
    }

    fn function_result(&self, of: SymbolAt, receiver: Option<&Receiver>, arguments: &str, scope: &Scope) -> Type {
        let Some(index) = self.index(of.file) else { return Type::Unknown };
        let Some(symbol) = index.symbol(of.ordinal) else { return Type::Unknown };
        let signatures = self.function_signatures(of, receiver);
        if let Some(signature) = choose_overload(&signatures, arguments) {
            let found = self.result_of(signature, arguments, scope);
            if !found.is_unknown() {
                return found;
            }
        }
        let Some(value) = symbol.value.filter(|_| matches!(symbol.kind, SymbolKind::Fn | SymbolKind::Method)) else {
            return Type::Unknown;
        };
        if let ("this", Some(receiver)) = (index.expr_text(value), receiver) {
            return receiver.receiver_type.clone();
        }
        let inferred = self.results.compute_cyclic(&self.query_stack, of, Type::Unknown, || {
            self.value(index.expr_text(value), &Scope::new(of.file, Some(of.ordinal), symbol.lines.end))
        });
        match inferred {
            Type::Unknown => Type::Unknown,
            found if symbol.flags.has(Flags::ASYNC) => Type::Promise(Rc::new(self.awaited(&found))),
            found => found,
        }
    }

    /// Returns the declared result of a signature; type parameters that are parameter types come from the arguments.
    fn result_of(&self, signature: &Signature, arguments: &str, scope: &Scope) -> Type {
        let Some(result) = signature.result.as_deref() else { return Type::Unknown };
        let mut inside = signature.scope.clone();
        let given = self.inferred(signature, arguments, scope);
        if !given.is_empty() {
            inside.type_args = given.into_iter().chain(inside.type_args.iter().cloned()).collect();
        }
        self.type_from_text(result, &inside)
    }

    fn inferred(&self, signature: &Signature, arguments: &str, scope: &Scope) -> Vec<(String, Type)> {
        let mut given = Vec::new();
        if signature.type_parameters.is_empty() || arguments.is_empty() {
            return given;
        }
        let names: Vec<&str> = split::split_top_level(&signature.type_parameters, true, ",")
            .into_iter()
            .map(|one| split::word(one.trim()).0)
            .collect();
        let arguments = split::split_top_level(arguments, false, ",");
        for (parameter, argument) in parameters(&signature.parameters).iter().zip(arguments) {
            let (declared, is_list) = match parameter.declared.strip_suffix("[]") {
                Some(element) => (element.trim(), true),
                None => (parameter.declared, false),
            };
            if names.contains(&declared) && !argument.trim().is_empty() {
                let found = self.value(argument, scope);
                let found = if is_list { self.element(&found) } else { found };
                if !found.is_unknown() {
                    given.push((declared.to_owned(), found));
                }
            }
        }
        given
    }

    /// Returns the type of the n-th parameter of a function.
    pub(super) fn parameter(&self, function: &Type, at: usize, scope: &Scope) -> Type {
        let one = |function: &Type| {
            self.query_stack.with_depth_limit(Type::Unknown, || self.parameter_of_one(function, at, scope))
        };
        Type::union_of(function.alternatives().iter().map(one))
    }

    fn parameter_of_one(&self, function: &Type, at: usize, scope: &Scope) -> Type {
        match function {
            // A callback of a container's method: `Parameters<Parameters<typeof list.map>[0]>[n]`.
            Type::Method(of, name) => match name.strip_suffix("()") {
                Some(name) => self.callback_parameter(of, name, at),
                None => Type::Method(of.clone(), Rc::from(format!("{name}()"))),
            },
            Type::External | Type::ExternalResult => Type::ExternalResult,
            _ => match self.expanded(function) {
                Type::Union(types) => self.parameter(&Type::Union(types), at, scope),
                function => self.fitting_parameter(&self.signatures(&function), at),
            },
        }
    }

    /// Returns the types of the n-th parameters of all signatures; of several, the first with a callable type.
    fn fitting_parameter(&self, signatures: &[Signature], at: usize) -> Type {
        let is_callable = |found: &Type| {
            let one = |one: &Type| {
                matches!(self.expanded(one), Type::Inline(_) | Type::Value(_) | Type::Bound(..) | Type::Union(_))
            };
            found.alternatives().iter().any(one)
        };
        let mut types = Vec::new();
        for signature in signatures.iter().take(MAX_OVERLOADS) {
            let found = self.nth_parameter(signature, at);
            if signatures.len() > 1 && is_callable(&found) {
                return found;
            }
            types.push(found);
        }
        Type::union_of(types)
    }

    fn nth_parameter(&self, signature: &Signature, at: usize) -> Type {
        let all = parameters(&signature.parameters);
        let all: Vec<&Parameter<'_>> =
            all.iter().filter(|one| !one.declared.is_empty() || one.is_rest || all.len() > at).collect();
        let Some(last) = all.last() else { return Type::Unknown };
        let (parameter, rest) = match all.get(at) {
            Some(parameter) if !parameter.is_rest => (*parameter, None),
            _ if last.is_rest => (*last, Some(at + 1 - all.len())),
            _ => return Type::Unknown,
        };
        let declared = self.type_from_text(parameter.declared, &signature.scope);
        match rest {
            Some(at) => self.nth(&declared, at),
            None => declared,
        }
    }

    /// Returns the type of the n-th parameter of a class's constructor.
    pub(super) fn constructor_parameter(&self, class: &Type, at: usize, scope: &Scope) -> Type {
        let Type::Value(class) = class else {
            return if *class == Type::External { Type::ExternalResult } else { Type::Unknown };
        };
        let Some(index) = self.index(class.file) else { return Type::Unknown };
        let own = index.named(Some(class.ordinal), "constructor").first();
        match own {
            Some(&place) => self.parameter(&Type::Value(SymbolAt { file: class.file, ordinal: place }), at, scope),
            None => match self.bases(&index, *class, &Rc::from([])).first() {
                Some(Type::Instance(base, _)) if base != class => self
                    .query_stack
                    .with_depth_limit(Type::Unknown, || self.constructor_parameter(&Type::Value(*base), at, scope)),
                Some(Type::External) => Type::ExternalResult,
                _ => Type::Unknown,
            },
        }
    }

    /// Returns the type that an interface or function type with `new` constructs.
    pub(super) fn constructed_type(&self, of: &Type) -> Type {
        match self.expanded(of) {
            Type::Inline(written) if written.text.starts_with("new ") => {
                let function = Type::Inline(Rc::new(TypeText {
                    text: written.text[4..].trim().to_owned(),
                    scope: written.scope.clone(),
                }));
                self.call_result(&function, "", &written.scope)
            }
            _ => Type::Unknown,
        }
    }

    /// Returns the call signatures of a type.
    fn signatures(&self, of: &Type) -> Vec<Signature> {
        match self.expanded(of) {
            Type::Value(symbol) => self.function_signatures(symbol, None),
            Type::Bound(symbol, receiver) => self.function_signatures(symbol, Some(&receiver)),
            Type::Instance(symbol, arguments) => self.interface_signatures(symbol, &arguments),
            Type::Inline(written) if is_function(&written.text) => {
                let text = written.text.strip_prefix("new ").unwrap_or(&written.text);
                signature(text, &written.scope).into_iter().collect()
            }
            Type::Inline(written) => match split::group(&written.text) {
                Some((inside, _)) => call_signatures(inside, &written.scope),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn function_signatures(&self, of: SymbolAt, receiver: Option<&Receiver>) -> Vec<Signature> {
        let Some(index) = self.index(of.file) else { return Vec::new() };
        let Some(symbol) = index.symbol(of.ordinal) else { return Vec::new() };
        let scope_in = |place: Option<u32>, line: u32| Scope {
            type_args: receiver.map_or_else(|| Rc::from([]), |receiver| receiver.type_args.clone()),
            this: receiver.map(|receiver| Rc::new(receiver.receiver_type.clone())),
            ..Scope::new(of.file, place, line)
        };
        if let Some(declared) = declared_type(index.header(symbol)) {
            let declared = self.type_from_text(declared, &scope_in(symbol.parent, symbol.lines.start));
            let found =
                self.query_stack.with_depth_limit(None, || Some(self.signatures(&declared))).unwrap_or_default();
            if !found.is_empty() {
                return found;
            }
        }
        let same =
            index.named(symbol.parent, &symbol.name).iter().filter_map(|&place| Some((place, index.symbol(place)?)));
        let overloads = same.filter(|(place, other)| {
            // Overloads follow each other.
            *place == of.ordinal
                || other.kind == symbol.kind
                    && place.abs_diff(of.ordinal) < 24
                    && other.value.is_none()
                    && other.annotation.is_some()
        });
        overloads
            .filter_map(|(place, symbol)| {
                signature(callable(index.header(symbol)), &scope_in(Some(place), symbol.lines.start))
            })
            .collect()
    }

    fn interface_signatures(&self, of: SymbolAt, arguments: &[Type]) -> Vec<Signature> {
        let Some(index) = self.index(of.file) else { return Vec::new() };
        let Some(symbol) = index.symbol(of.ordinal).filter(|symbol| symbol.kind == SymbolKind::Interface) else {
            return Vec::new();
        };
        let text = self.world.text(of.file);
        let own = text.as_deref().map_or("", |text| symbol.span.text(text));
        let own = without_comments(own);
        let Some(body) = split::find(&own, true, |rest| rest.starts_with('{')) else { return Vec::new() };
        let Some((inside, _)) = split::group(&own[body..]) else { return Vec::new() };
        let scope = self.scope_in(of, symbol, &self.type_args_of(of, arguments));
        let own = call_signatures(inside, &scope);
        if !own.is_empty() {
            return own;
        }
        let bases = self.bases(&index, of, &scope.type_args);
        bases
            .iter()
            .flat_map(|base| self.query_stack.with_depth_limit(None, || Some(self.signatures(base))))
            .flatten()
            .collect()
    }

    /// Returns the full declared type of a parameter, from its function's header.
    pub(super) fn parameter_text(&self, index: &Index, symbol: &Symbol, name: &str, start: &str) -> Option<String> {
        let taken = signature(callable(index.header(symbol)), &Scope::new(0, None, 0))?;
        let parts = split::split_top_level(&taken.parameters, true, ",").into_iter().map(str::trim);
        let found = parts.map(|part| (part, parameter(part).declared)).find(|(part, declared)| {
            let pattern = &part[..part.len() - declared.len()];
            let is_named =
                pattern.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).any(|word| word == name);
            is_named && declared.starts_with(start)
        });
        found.map(|(_, declared)| declared.to_owned())
    }

    /// Returns the target of calling a target as a whole.
    pub(super) fn call_target(&self, target: NameTarget) -> NameTarget {
        match target {
            NameTarget::Module(file) => match self.callable_module(file) {
                NameTarget::Module(_) => NameTarget::Unresolved,
                itself => itself,
            },
            other => other,
        }
    }
}

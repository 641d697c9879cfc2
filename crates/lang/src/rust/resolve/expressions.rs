//! Infers the type of an expression from its text.

use std::rc::Rc;

use codecompass_model::{ExprId, Flags, Symbol, SymbolAt, SymbolKind};

use super::expansion::Frame;
use super::library;
use super::lower::PathTarget;
use super::members::{MemberKind, MemberTarget};
use super::modules::Scope;
use super::scope::Space;
use super::type_ref::Segment;
use super::types::{Parameter, Ty, TypeBindings};
use super::{RustResolver, declared_params};
use crate::resolve::chain::{Base, Chain, Step};

/// The location of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExprSite {
    pub(super) scope: Scope,
    pub(super) line: u32,
    /// Only bindings before this one are in scope.
    pub(super) limit: u32,
    /// The binding of the first name of the expression, if known.
    pub(super) first: Option<Option<u32>>,
}

impl ExprSite {
    /// Returns the same site, for another expression.
    pub(super) fn for_other_expression(self) -> ExprSite {
        ExprSite { first: None, ..self }
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) enum Arguments<'a> {
    /// The text between the parentheses.
    Text(&'a str),
    /// Expressions of a file.
    Lowered(&'a Rc<Frame>, &'a [ExprId]),
}

/// An argument of a call.
#[derive(Clone, Copy)]
pub(super) enum Argument<'a> {
    Text(&'a str),
    Lowered(&'a Rc<Frame>, ExprId),
}

impl<'a> Arguments<'a> {
    /// Returns the arguments in order.
    pub(super) fn list(self) -> impl Iterator<Item = Argument<'a>> {
        let (text, lowered) = match self {
            Arguments::Text(text) => (text, None),
            Arguments::Lowered(frame, ids) => ("", Some((frame, ids))),
        };
        let lowered =
            lowered.into_iter().flat_map(|(frame, ids)| ids.iter().map(move |id| Argument::Lowered(frame, *id)));
        arguments(text).map(Argument::Text).chain(lowered)
    }
}

impl RustResolver<'_> {
    /// Returns whether a static is declared without a value.
    fn is_empty(&self, at: SymbolAt) -> bool {
        let is_empty = |symbol: &Symbol| symbol.value.is_none() && !symbol.flags.has(Flags::INITIALISED);
        self.symbol(at, is_empty).unwrap_or(false)
    }

    /// Returns the type of an expression.
    pub(super) fn expression(&self, point: ExprSite, text: &str) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        let text = text.trim();
        if let Some(ty) = self.macro_value(point, text) {
            return ty;
        }
        // The text of the file has more detail about a block.
        if text.starts_with('{') {
            return Ty::Unknown;
        }
        // Within an `impl` for a pointer, this is the type it points to.
        if let Some(rest) = text.strip_prefix("(**self)") {
            let own = self.self_type(point.scope);
            let inner = library::deref(&own).unwrap_or(own);
            return if rest.is_empty() { inner } else { Ty::Unknown };
        }
        if text.starts_with('|') || text.starts_with("move |") {
            return self.closure(point.for_other_expression(), text).unwrap_or(Ty::Unknown);
        }
        self.chain(point, &Chain::parse(text))
    }

    /// Returns the type of a common macro call that extends to the end of the text.
    fn macro_value(&self, point: ExprSite, text: &str) -> Option<Ty> {
        if let Some(inner) = text.strip_prefix("vec![") {
            let inner = inner.strip_suffix(']')?;
            let first = arguments(inner.split(';').next().unwrap_or(inner)).next().unwrap_or("");
            return Some(Ty::library("Vec", [self.expression(point.for_other_expression(), first)]));
        }
        let is_text = text.starts_with("format!(") && text.ends_with(')');
        is_text.then(|| Ty::library("String", []))
    }

    fn chain(&self, point: ExprSite, chain: &Chain<'_>) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        let mut steps = chain.steps.as_slice();
        let call = match steps.first() {
            Some(Step::Call(inside)) => Some(Arguments::Text(inside)),
            _ => None,
        };
        let mut ty = match &chain.base {
            Base::Name("self") => self.self_type(point.scope),
            Base::Name(name) => match self.local(point, name) {
                Some(binding) => self.local_type(point.scope.file, binding),
                None => {
                    steps = if call.is_some() { &steps[1..] } else { steps };
                    self.path_value(point, &[name], call)
                }
            },
            Base::Path(names) => {
                steps = if call.is_some() { &steps[1..] } else { steps };
                self.path_value(point, names, call)
            }
            Base::Literal(text) => self.lower_text(point.scope, text),
            Base::Text => Ty::library("str", []),
            Base::Number => library::external_type(),
            Base::Brackets(inside) => self.brackets(point, inside),
            Base::Inner(inner) => self.chain(point, inner),
            Base::New(_) | Base::Other => Ty::Unknown,
        };
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            ty = match (step, rest.first()) {
                (Step::Member(name), Some(Step::Call(inside))) => {
                    steps = &rest[1..];
                    self.method_value(point, &ty, name, Arguments::Text(inside))
                }
                (Step::Member(name), _) => self.field(&ty, name).map_or(Ty::Unknown, |(_, ty)| ty),
                (Step::Call(_), _) => self.call_result(&ty),
                (Step::Index(inside), _) => self.indexed_value(&ty, inside),
                (Step::Try, _) => self.payload(&ty),
                (Step::Await, _) => self.awaited(&ty),
                (Step::Cast(""), _) => ty,
                (Step::Cast(to), _) => self.lower_text(point.scope, to),
            };
        }
        ty
    }

    fn brackets(&self, point: ExprSite, inside: &str) -> Ty {
        let parts = || arguments(inside).map(|part| self.expression(point.for_other_expression(), part));
        let is_tuple = arguments(inside).count() > 1;
        // Both kinds of brackets look the same here; the elements of a list nearly always have one type.
        if is_tuple { Ty::tuple(parts()) } else { Ty::library("[]", parts()) }
    }

    /// Returns the type of a non-local name or path, called with these arguments or not.
    pub(super) fn path_value(&self, point: ExprSite, names: &[&str], call: Option<Arguments<'_>>) -> Ty {
        let segment = |name: &&str| Segment { name: (*name).to_owned(), ..Segment::default() };
        let segments: Vec<Segment> = names.iter().map(segment).collect();
        let before = &segments[..segments.len().saturating_sub(1)];
        match self.resolve_path(point.scope, &segments, Space::Value) {
            PathTarget::Symbol(at, bindings) => {
                let receiver = || match self.resolve_path(point.scope, before, Space::Type) {
                    PathTarget::Type(ty) => ty,
                    _ => Ty::Unknown,
                };
                self.symbol_value(point, at, &bindings, &receiver, call)
            }
            PathTarget::Type(ty) => ty,
            PathTarget::External | PathTarget::Unknown => self.external_value_type(point, &segments, call),
            PathTarget::Module => Ty::Unknown,
        }
    }

    pub(super) fn symbol_value(
        &self,
        point: ExprSite,
        at: SymbolAt,
        bindings: &TypeBindings,
        receiver: &dyn Fn() -> Ty,
        call: Option<Arguments<'_>>,
    ) -> Ty {
        let Some(index) = self.indexed(at.file) else { return Ty::Unknown };
        let Some(symbol) = index.symbol(at.ordinal) else { return Ty::Unknown };
        match (symbol.kind, call) {
            (SymbolKind::Fn, Some(given)) => {
                let skip = usize::from(symbol.flags.has(Flags::TAKES_SELF));
                let bindings = self.with_arguments(point, at, bindings, given, skip);
                self.declared_type(at, &bindings, &receiver())
            }
            (SymbolKind::Fn, None) => Ty::Function(self.declared_type(at, bindings, &receiver()).into()),
            // A static without a value is in a macro, which may change its type.
            (SymbolKind::Static, _) if self.is_empty(at) => Ty::Unknown,
            (SymbolKind::Const | SymbolKind::Static, _) => self.declared_type(at, bindings, &receiver()),
            (SymbolKind::Struct | SymbolKind::Union, _) => Ty::Item(at, [].into()),
            (SymbolKind::Variant, _) => match symbol.parent {
                Some(place) => Ty::Item(SymbolAt { file: at.file, ordinal: place }, [].into()),
                None => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    /// Infers the type parameters of a function from its call arguments.
    fn with_arguments(
        &self,
        point: ExprSite,
        at: SymbolAt,
        bindings: &TypeBindings,
        given: Arguments<'_>,
        skip: usize,
    ) -> TypeBindings {
        let mut bindings = bindings.clone();
        let Some(index) = self.indexed(at.file) else { return bindings };
        let owner = index.symbol(at.ordinal).and_then(|symbol| symbol.parent);
        let generic = [Some(at.ordinal), owner].into_iter().flatten().any(|at| !index.type_params(at).is_empty());
        let Some(text) = index.annotation(at.ordinal).filter(|_| generic) else { return bindings };
        let is_mentioned = text.contains("Self") || text.contains(|c: char| c.is_uppercase());
        if !is_mentioned {
            return bindings;
        }
        let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
        let is_free = |(file, binding): Parameter| {
            let declared = index.facts().bindings.get(binding as usize).and_then(|binding| binding.symbol);
            file == at.file && declared.is_some() && (declared == Some(at.ordinal) || declared == owner)
        };
        let given = given.list().skip(skip);
        for (binding, argument) in declared_params(&index, at.ordinal).zip(given).take(8) {
            let pattern = self.lower_text(scope, binding.annotation.map_or("", |at| index.expr_text(at)));
            if mentions(&pattern, &is_free) {
                let ty = self.argument_type(point, argument);
                if ty.is_known() {
                    let _ = bindings.unify(&pattern, &ty, &is_free);
                }
            }
        }
        bindings
    }

    /// Returns the type of an argument of a call.
    pub(super) fn argument_type(&self, point: ExprSite, argument: Argument<'_>) -> Ty {
        match argument {
            Argument::Text(text) => self.expression(point.for_other_expression(), text),
            Argument::Lowered(frame, id) => self.lowered(frame, id),
        }
    }

    /// Returns the return type of an external function.
    fn external_value_type(&self, point: ExprSite, segments: &[Segment], call: Option<Arguments<'_>>) -> Ty {
        let Some(given) = call else { return Ty::Unknown };
        let first = || given.list().next().map_or(Ty::Unknown, |argument| self.argument_type(point, argument));
        let names: Vec<&str> = segments.iter().rev().take(2).map(|segment| segment.name.as_str()).collect();
        match names.as_slice() {
            ["Some", ..] => return Ty::library("Option", [first()]),
            ["Ok", ..] => return Ty::library("Result", [first()]),
            ["Err", ..] => return Ty::library("Result", []),
            ["new" | "pin" | "from", of @ ("Box" | "Arc" | "Rc" | "RefCell" | "Cell" | "Mutex" | "RwLock" | "Pin")] => {
                return Ty::library(of, [first()]);
            }
            ["clone" | "take" | "replace", "Arc" | "Rc" | "Clone" | "mem"] => return first(),
            ["get_mut" | "get_ref" | "into_inner" | "get_unchecked_mut", "Pin"] => {
                return library::deref(&first()).unwrap_or_else(first);
            }
            ["new_unchecked", "Pin"] => return Ty::library("Pin", [first()]),
            ["new_unchecked" | "from", "NonNull"] => return Ty::library("NonNull", [first()]),
            ["new", "NonNull"] => return Ty::library("Option", [Ty::library("NonNull", [first()])]),
            ["make_mut" | "as_ref" | "as_ptr", "Arc" | "Rc"] => return library::deref(&first()).unwrap_or(Ty::Unknown),
            _ => {}
        }
        let before = &segments[..segments.len().saturating_sub(1)];
        let name = names.first().copied().unwrap_or("");
        match self.resolve_path(point.scope, before, Space::Type) {
            PathTarget::Type(ty @ Ty::Library(..)) => ty,
            PathTarget::Type(ty @ (Ty::Item(..) | Ty::Param(_) | Ty::SelfOf(_))) => match name {
                "default" | "from" | "clone" | "from_iter" => ty,
                "try_from" | "from_str" => Ty::library("Result", [ty]),
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    /// Returns the return type of a method.
    pub(super) fn method_value(&self, point: ExprSite, ty: &Ty, name: &str, given: Arguments<'_>) -> Ty {
        match self.member(point.scope, ty, name, MemberKind::Function) {
            MemberTarget::Found(at, bindings, receiver) => {
                let bindings = self.with_arguments(point, at, &bindings, given, 0);
                self.declared_type(at, &bindings, &receiver)
            }
            MemberTarget::External => match self.adaptor_result(point, ty, name, given) {
                Some(found) => found,
                None => self.library_value(ty, name),
            },
            MemberTarget::Unknown | MemberTarget::Hidden => Ty::Unknown,
        }
    }

    /// Returns the return type of an external method, on any type.
    pub(super) fn library_value(&self, ty: &Ty, name: &str) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..4 {
            let found = match &ty {
                Ty::Unknown => return Ty::Unknown,
                Ty::Library(..) => library::result(&ty, name),
                Ty::Param(_) | Ty::Bounds(_) if self.conversion_result(&ty, name).is_some() => {
                    self.conversion_result(&ty, name)
                }
                _ if matches!(name, "clone" | "to_owned" | "by_ref" | "borrow" | "as_ref" | "as_mut") => {
                    return ty;
                }
                _ if name == "to_string" => return Ty::library("String", []),
                Ty::Tuple(_) => None,
                other => self
                    .element(other)
                    .filter(Ty::is_known)
                    .and_then(|one| library::result(&Ty::library("Iterator", [one]), name)),
            };
            match found {
                Some(found) => return found,
                None => match self.deref(&ty) {
                    Some(next) => ty = next,
                    None => return Ty::Unknown,
                },
            }
        }
        Ty::Unknown
    }

    /// Returns the result type of a conversion that a bound declares: `T: AsRef<Path>`.
    fn conversion_result(&self, ty: &Ty, method: &str) -> Option<Ty> {
        let promise = match method {
            "as_ref" => "AsRef",
            "as_mut" => "AsMut",
            "borrow" => "Borrow",
            "into" => "Into",
            _ => return None,
        };
        let bounds = match ty {
            Ty::Param(parameter) => self.bounds_of(*parameter),
            Ty::Bounds(bounds) => Rc::clone(bounds),
            _ => return None,
        };
        bounds.iter().find(|bound| &*bound.name == promise)?.arguments.first().cloned()
    }

    /// Returns the element type of a loop over a value.
    pub(super) fn element(&self, ty: &Ty) -> Option<Ty> {
        let _depth = self.descend()?;
        match ty {
            Ty::Library(..) => library::element(ty).or_else(|| self.element(&library::deref(ty)?)),
            Ty::Param(_) | Ty::Bounds(_)
                if ["Iterator", "IntoIterator"].iter().any(|name| self.has_bound(ty, name)) =>
            {
                Some(self.project(ty, "Item"))
            }
            Ty::Bounds(bounds) => bounds
                .iter()
                .flat_map(|bound| bound.associated.iter())
                .find(|(name, _)| &**name == "Item")
                .map(|(_, ty)| ty.clone()),
            Ty::Item(..) if ["Iterator", "IntoIterator"].iter().any(|name| self.implements_external(ty, name)) => {
                Some(self.project(ty, "Item"))
            }
            Ty::Item(..) => self.element(&self.deref(ty)?),
            _ => None,
        }
    }

    /// Returns the type that `?`, `Some(…)` and `Ok(…)` extract from a value.
    pub(super) fn payload(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Library(name, _) if library::deref(ty).is_some() && &**name != "Vec" => {
                library::deref(ty).map_or(Ty::Unknown, |inner| self.payload(&inner))
            }
            _ => library::payload(ty).unwrap_or(Ty::Unknown),
        }
    }

    pub(super) fn indexed_value(&self, ty: &Ty, inside: &str) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..4 {
            if let Some(found) = library::indexed(&ty, inside) {
                return found;
            }
            if self.implements_external(&ty, "Index") {
                return self.project(&ty, "Output");
            }
            match self.deref(&ty) {
                Some(next) => ty = next,
                None => return Ty::Unknown,
            }
        }
        Ty::Unknown
    }

    pub(super) fn call_result(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Function(back) => (**back).clone(),
            Ty::Param(_) | Ty::Bounds(_) => self.project(ty, "Output"),
            Ty::Library(..) => library::deref(ty).map_or(Ty::Unknown, |inner| self.call_result(&inner)),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn awaited(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Bounds(_) | Ty::Param(_) => self.project(ty, "Output"),
            Ty::Library(name, _) if matches!(&**name, "BoxFuture" | "LocalBoxFuture" | "Ready") => ty.argument(0),
            Ty::Library(name, _) if matches!(&**name, "Pin" | "Box") => self.awaited(&ty.argument(0)),
            Ty::Library(name, _) if &**name == "JoinHandle" => Ty::library("Result", [ty.argument(0)]),
            // The annotation of an `async fn` is the type after `await`.
            other => other.clone(),
        }
    }
}

fn mentions(ty: &Ty, is_free: &dyn Fn(Parameter) -> bool) -> bool {
    let found = std::cell::Cell::new(false);
    ty.map(&|part| {
        if matches!(part, Ty::Param(parameter) if is_free(*parameter)) {
            found.set(true);
        }
        None
    });
    found.get()
}

/// Splits the arguments between parentheses.
pub(super) fn arguments(inside: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let mut quoted = false;
    let mut before = ' ';
    inside
        .split(move |c| {
            match c {
                '"' if before != '\\' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => depth -= 1,
                _ => {}
            }
            before = c;
            c == ',' && depth == 0 && !quoted
        })
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

//! The types of expressions.

use std::rc::Rc;

use codecompass_model::{BindingKind, SymbolAt, SymbolKind, VersionId};

use super::members::Member;
use super::packages::FileIndex;
use super::predeclared::Predeclared;
use super::scope::{Found, Scope};
use super::syntax::{Expr, Signature};
use super::types::{Arguments, FuncType, Inline, Type};
use super::{Go, Imported, library};

/// What an expression stands for.
#[derive(Clone)]
pub(super) enum Value {
    /// A value of this type.
    Of(Type),
    /// The type itself.
    TypeName(Type),
    Package(Rc<Imported>),
    Predeclared(&'static str),
}

impl Value {
    const UNKNOWN: Value = Value::Of(Type::Unknown);

    /// The type of the value, or the type itself where one is asked for.
    pub(super) fn into_type(self) -> Type {
        match self {
            Value::Of(of) | Value::TypeName(of) => of,
            _ => Type::Unknown,
        }
    }
}

impl Go<'_> {
    /// What an expression stands for.
    pub(super) fn value(&self, scope: &Scope, expr: &Expr<'_>) -> Value {
        if !self.may_go_on() {
            return Value::UNKNOWN;
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.value_of(scope, expr);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn value_of(&self, scope: &Scope, expr: &Expr<'_>) -> Value {
        match expr {
            Expr::Name(name) => self.named(scope, name),
            Expr::Member(of, name) => self.selected(scope, of, name),
            Expr::Call(of, arguments) => Value::Of(self.called(scope, of, arguments)),
            Expr::Index(of, arguments) => self.indexed(scope, of, arguments),
            Expr::Cut(of) => Value::Of(match self.value(scope, of).into_type() {
                // A slice of an array behind a pointer.
                Type::Pointer(of) => of.as_ref().clone(),
                of => of,
            }),
            Expr::Assert(_, to) => Value::Of(self.type_at(scope, to)),
            Expr::Star(of) => match self.value(scope, of) {
                Value::TypeName(of) => Value::TypeName(Type::pointer(of)),
                Value::Of(of) => Value::Of(self.pointed(&of)),
                _ => Value::UNKNOWN,
            },
            Expr::Address(of) => Value::Of(Type::pointer(self.value(scope, of).into_type())),
            Expr::Receive(of) => Value::Of(self.element(&self.value(scope, of).into_type())),
            Expr::Basic(of) => Value::Of(Type::Basic(of)),
            Expr::Composite(of) => Value::Of(self.type_at(scope, of)),
            Expr::Closure(signature) => Value::Of(self.func_type(scope, signature, Vec::new())),
            Expr::Unknown => Value::UNKNOWN,
            Expr::List(_) | Expr::Map(..) | Expr::Chan(_) | Expr::Func(_) | Expr::Inline => {
                Value::TypeName(self.type_at(scope, expr))
            }
        }
    }

    fn named(&self, scope: &Scope, name: &str) -> Value {
        match self.find(scope, name) {
            Found::Binding(binding) => self.local(&scope.file, binding),
            Found::Symbols(targets) => targets.first().map_or(Value::UNKNOWN, |&target| self.symbol_value(target)),
            Found::Import(imported) => Value::Package(imported),
            Found::Predeclared(Predeclared::Type(name)) => Value::TypeName(Type::Basic(name)),
            Found::Predeclared(Predeclared::Func(name)) => Value::Predeclared(name),
            Found::Predeclared(Predeclared::Value(of)) => Value::Of(Type::Basic(of)),
            Found::External => Value::Of(Type::External),
            Found::Nothing => Value::UNKNOWN,
        }
    }

    fn local(&self, file: &Rc<FileIndex>, binding: u32) -> Value {
        let kind = file.source.facts.bindings.get(binding as usize).map(|binding| binding.kind);
        match kind {
            Some(BindingKind::TypeParam) => Value::TypeName(Type::Param(file.source.id, binding)),
            Some(_) => Value::Of(self.binding_type(file, binding)),
            None => Value::UNKNOWN,
        }
    }

    /// What a symbol stands for when it is named.
    fn symbol_value(&self, at: SymbolAt) -> Value {
        match self.kind(at) {
            Some(SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type) => Value::TypeName(Type::named(at)),
            Some(_) => Value::Of(self.symbol_type(at)),
            None => Value::UNKNOWN,
        }
    }

    fn selected(&self, scope: &Scope, of: &Expr<'_>, name: &str) -> Value {
        self.select(self.value(scope, of), name)
    }

    /// `x.name`.
    pub(super) fn select(&self, of: Value, name: &str) -> Value {
        match of {
            Value::Package(imported) => match imported.as_ref() {
                Imported::Package(package) => {
                    package.find(name).first().map_or(Value::UNKNOWN, |&target| self.symbol_value(target))
                }
                Imported::External(path) => match (library::find_type(path, name), library::function(path, name)) {
                    (Some(at), _) => Value::TypeName(Type::Library(at, Rc::new([]))),
                    (None, Some(of)) => Value::Of(of),
                    (None, None) => Value::Of(Type::External),
                },
                Imported::Absent => Value::UNKNOWN,
            },
            Value::Of(of) => Value::Of(self.member_type(&of, name)),
            Value::TypeName(of) => Value::Of(self.method_expression(&of, name)),
            Value::Predeclared(_) => Value::UNKNOWN,
        }
    }

    fn member_type(&self, of: &Type, name: &str) -> Type {
        match self.member(of, name) {
            Member::Field(_, of) | Member::Methods(_, of) | Member::Outside(of) => of,
            Member::External => Type::External,
            Member::Missing | Member::Unknown => Type::Unknown,
        }
    }

    /// `T.m`: a function that takes the receiver first.
    fn method_expression(&self, of: &Type, name: &str) -> Type {
        match self.member_type(of, name) {
            Type::Func(method) => {
                let params = std::iter::once(of.clone()).chain(method.params.iter().cloned()).collect();
                Type::Func(Rc::new(FuncType { params, ..method.as_ref().clone() }))
            }
            of => of,
        }
    }

    /// What a call gives.
    fn called(&self, scope: &Scope, of: &Expr<'_>, arguments: &[Expr<'_>]) -> Type {
        match self.value(scope, of) {
            Value::TypeName(of) => of,
            Value::Predeclared(name) => self.predeclared_call(scope, name, arguments),
            Value::Of(of) => match self.underlying(&of) {
                Type::Func(of) => self.call(scope, &of, arguments),
                Type::External => Type::External,
                _ => Type::Unknown,
            },
            Value::Package(_) => Type::Unknown,
        }
    }

    fn predeclared_call(&self, scope: &Scope, name: &str, arguments: &[Expr<'_>]) -> Type {
        let first = || arguments.first().map_or(Type::Unknown, |first| self.value(scope, first).into_type());
        match name {
            "new" => Type::pointer(first()),
            "make" | "append" | "min" | "max" => first(),
            "len" | "cap" | "copy" => Type::Basic("int"),
            "recover" => Type::Basic("any"),
            _ => Type::Unknown,
        }
    }

    /// A call of a function; what its type parameters are is learned from the arguments.
    fn call(&self, scope: &Scope, of: &FuncType, arguments: &[Expr<'_>]) -> Type {
        let results = Type::results(&of.results);
        if !results.is_open() {
            return results;
        }
        let mut learned = Arguments::new();
        for (n, argument) in arguments.iter().enumerate() {
            let last = of.params.len().saturating_sub(1);
            let param = match of.params.get(n.min(last)) {
                Some(Type::List(each)) if of.variadic && n >= last => each.as_ref(),
                Some(param) => param,
                None => break,
            };
            if param.is_open() {
                self.learn(param, &self.value(scope, argument).into_type(), &mut learned);
            }
        }
        // What could not be learned is some type, and not the function's own parameter.
        for own in &of.own {
            if !learned.iter().any(|(known, _)| known == own) {
                learned.push((*own, Type::Unknown));
            }
        }
        results.with(&learned)
    }

    /// Learns type parameters from an argument; a parameter of a declared function type takes any function that fits.
    fn learn(&self, param: &Type, given: &Type, learned: &mut Arguments) {
        match (param, given) {
            (Type::Named(of, _), Type::Named(other, _)) if of == other => param.learn(given, learned),
            (Type::Named(..) | Type::Library(..), _) => self.underlying(param).learn(&self.underlying(given), learned),
            (Type::Func(_) | Type::List(_) | Type::Map(_) | Type::Chan(_), Type::Named(..) | Type::Library(..)) => {
                param.learn(&self.underlying(given), learned);
            }
            _ => param.learn(given, learned),
        }
    }

    /// An element, or a generic with its arguments.
    fn indexed(&self, scope: &Scope, of: &Expr<'_>, arguments: &[Expr<'_>]) -> Value {
        let given = || arguments.iter().map(|argument| self.type_at(scope, argument)).collect::<Vec<_>>();
        match self.value(scope, of) {
            Value::TypeName(Type::Named(symbol, _)) => Value::TypeName(Type::Named(symbol, given().into())),
            Value::TypeName(Type::Library(at, _)) => Value::TypeName(Type::Library(at, given().into())),
            Value::TypeName(of) => Value::TypeName(of),
            Value::Of(Type::Func(of)) => {
                let learned: Arguments = of.own.iter().copied().zip(given()).collect();
                Value::Of(Type::Func(of).with(&learned))
            }
            Value::Of(of) => Value::Of(self.element(&of)),
            _ => Value::UNKNOWN,
        }
    }

    /// What a pointer points to.
    fn pointed(&self, of: &Type) -> Type {
        match of {
            Type::Pointer(of) => of.as_ref().clone(),
            Type::External => Type::External,
            _ => self.underlying(of).target().clone(),
        }
    }

    /// The type of the elements of a list, a map, a channel, or what an iterator gives second.
    pub(super) fn element(&self, of: &Type) -> Type {
        match self.underlying(of) {
            Type::List(of) | Type::Chan(of) => of.as_ref().clone(),
            Type::Map(of) => of.1.clone(),
            Type::Pointer(of) => self.element(&of),
            Type::Basic("string") => Type::Basic("byte"),
            Type::Func(of) => yielded(&of, 1),
            Type::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// The n-th of several: of the values of a call, or of what a loop gives.
    pub(super) fn nth(&self, of: &Type, n: u32) -> Type {
        match of {
            Type::Tuple(list) => return list.get(n as usize).cloned().unwrap_or(Type::Unknown),
            Type::External | Type::Unknown => return of.clone(),
            _ if n > 0 => return Type::Basic("bool"),
            _ => {}
        }
        match self.underlying(of) {
            Type::Map(of) => of.0.clone(),
            Type::Chan(of) => of.as_ref().clone(),
            Type::Func(of) => yielded(&of, 0),
            Type::List(_) | Type::Pointer(_) | Type::Basic(_) => Type::Basic("int"),
            Type::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// The type behind names: that of the declaration.
    pub(super) fn underlying(&self, of: &Type) -> Type {
        let mut of = of.clone();
        for _ in 0..16 {
            of = match of {
                Type::Named(symbol, ref arguments) if self.kind(symbol) == Some(SymbolKind::Type) => {
                    self.symbol_type(symbol).with(&self.arguments(symbol, arguments))
                }
                Type::Library(at, ref arguments) => library::underlying(at, arguments),
                Type::Param(file, binding) => self.bound(file, binding),
                other => return other,
            };
        }
        Type::Unknown
    }

    pub(super) fn func_type(&self, scope: &Scope, signature: &Signature<'_>, own: Vec<(VersionId, u32)>) -> Type {
        let all = |list: &[Expr<'_>]| list.iter().map(|of| self.type_at(scope, of)).collect();
        let (params, results) = (all(&signature.params), all(&signature.results));
        Type::Func(Rc::new(FuncType { own, params, variadic: signature.variadic, results }))
    }

    /// The type that a text names.
    pub(super) fn type_at(&self, scope: &Scope, expr: &Expr<'_>) -> Type {
        if !self.may_go_on() {
            return Type::Unknown;
        }
        match expr {
            Expr::Star(of) => Type::pointer(self.type_at(scope, of)),
            Expr::List(of) => Type::list(self.type_at(scope, of)),
            Expr::Map(key, of) => Type::Map(Rc::new((self.type_at(scope, key), self.type_at(scope, of)))),
            Expr::Chan(of) => Type::Chan(Rc::new(self.type_at(scope, of))),
            Expr::Func(signature) => self.func_type(scope, signature, Vec::new()),
            Expr::Inline => {
                let (line, before) = scope.line();
                Type::Inline(Inline { file: scope.file.source.id, symbol: scope.symbol, line, before })
            }
            Expr::Name(_) | Expr::Member(..) | Expr::Index(..) => match self.value(scope, expr) {
                Value::TypeName(of) => of,
                Value::Of(Type::External) => Type::External,
                _ => Type::Unknown,
            },
            _ => Type::Unknown,
        }
    }
}

/// What an iterator function hands to its loop, by position.
fn yielded(of: &FuncType, n: usize) -> Type {
    match of.params.first() {
        Some(Type::Func(of)) => of.params.get(n).cloned().unwrap_or(Type::Unknown),
        _ => Type::Unknown,
    }
}

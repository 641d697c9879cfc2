//! Infers the types of expressions.
//!
//! An expression in the facts contains the targets of its local names, so its value depends only on its file, not on
//! its position: it is computed once per view.

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Expr, ExprId, FuncExpr, LexicalTarget, Literal, SymbolAt, SymbolKind, ValuePart, VersionId, Wrap,
};

use super::members::Member;
use super::packages::FileIndex;
use super::predeclared::Predeclared;
use super::scope::NameTarget;
use super::types::{Arguments, FuncType, Inline, Type};
use super::{GoResolver, Imported};

/// Longer chains of calls and members are computed step by step, to avoid recursion.
const MAX_RECURSIVE_CHAIN: usize = 8;

/// The maximum length of a chain.
const MAX_CHAIN: usize = 500;

/// The value of an expression.
#[derive(Clone)]
pub(super) enum Value {
    /// A value of this type.
    Typed(Type),
    /// The type itself.
    TypeName(Type),
    Package(Rc<Imported>),
    Predeclared(&'static str),
}

impl Value {
    const UNKNOWN: Value = Value::Typed(Type::Unknown);

    /// Returns the type of the value, or the type itself where a type is expected.
    pub(super) fn into_type(self) -> Type {
        match self {
            Value::Typed(of) | Value::TypeName(of) => of,
            _ => Type::Unknown,
        }
    }
}

impl GoResolver<'_> {
    /// Returns the value of an expression.
    pub(super) fn value(&self, file: &Rc<FileIndex>, id: ExprId) -> Value {
        let chain = self.chain(file, id);
        // The first steps first: each is cached, and the next one reads it.
        for &step in chain.iter().skip(1).rev().filter(|_| chain.len() > MAX_RECURSIVE_CHAIN) {
            self.find_value(file, step);
        }
        self.find_value(file, id)
    }

    /// Returns an expression and its chain of receivers and callees, from the outside in, up to the first cached one.
    fn chain(&self, file: &FileIndex, id: ExprId) -> Vec<ExprId> {
        let facts = &file.facts();
        let before = |id: &ExprId| match facts.expr(*id) {
            Expr::Member { of, .. } | Expr::Call { callee: of, .. } | Expr::Index { of, .. } => Some(*of),
            _ => None,
        };
        let open = |id: &ExprId| !self.values.contains(&(file.id(), *id));
        std::iter::successors(Some(id), before).take(MAX_CHAIN).take_while(open).collect()
    }

    fn find_value(&self, file: &Rc<FileIndex>, id: ExprId) -> Value {
        self.values.get_or_compute_complete(&self.query_stack, (file.id(), id), || {
            self.query_stack.with_depth_limit(Value::UNKNOWN, || self.value_of(file, id))
        })
    }

    fn value_of(&self, file: &Rc<FileIndex>, id: ExprId) -> Value {
        match file.facts().expr(id) {
            Expr::Name { name, seen } => self.name_value(file, *name, *seen),
            Expr::Member { of, name } => self.select(self.value(file, *of), file.name(*name)),
            Expr::Call { callee, args } => Value::Typed(self.call_result(file, *callee, args)),
            Expr::Index { of, by: args } | Expr::Apply { of, args } => self.indexed(file, *of, args),
            Expr::Slice(of) => Value::Typed(match self.value(file, *of).into_type() {
                // A slice of a pointer to an array.
                Type::Pointer(of) => of.as_ref().clone(),
                of => of,
            }),
            Expr::Cast(to) | Expr::New(to) | Expr::Lambda(to) => Value::Typed(self.type_at(file, *to)),
            Expr::Wrap { how: Wrap::Deref, of } => match self.value(file, *of) {
                Value::TypeName(of) => Value::TypeName(Type::pointer(of)),
                Value::Typed(of) => Value::Typed(self.pointee(&of)),
                _ => Value::UNKNOWN,
            },
            Expr::Wrap { how: Wrap::Ref, of } => Value::Typed(Type::pointer(self.value(file, *of).into_type())),
            Expr::Part { of, part } => Value::Typed(self.part_type(&self.value(file, *of).into_type(), *part)),
            Expr::Literal(of) => Value::Typed(Type::Basic(literal(*of))),
            Expr::Other | Expr::Text(_) | Expr::This | Expr::Super | Expr::Either(_) | Expr::Closure { .. } => {
                Value::UNKNOWN
            }
            Expr::Argument { .. } | Expr::ParamOf { .. } | Expr::Module(_) => Value::UNKNOWN,
            Expr::Tuple(_) | Expr::Path { .. } | Expr::Hole(_) | Expr::Expand(_) | Expr::Rules(_) => Value::UNKNOWN,
            Expr::Wrap { how: Wrap::Channel, .. }
            | Expr::List(_)
            | Expr::Map { .. }
            | Expr::Func(_)
            | Expr::Inline(_) => Value::TypeName(self.type_at(file, id)),
        }
    }

    /// Returns the type of a part of a value.
    pub(super) fn part_type(&self, of: &Type, part: ValuePart) -> Type {
        match part {
            ValuePart::Whole => of.clone(),
            ValuePart::Element => self.element(of),
            ValuePart::Index(n) => self.nth(of, n),
            ValuePart::Payload | ValuePart::Field(_) | ValuePart::Inside => Type::Unknown,
        }
    }

    fn name_value(&self, file: &Rc<FileIndex>, name: u32, seen: LexicalTarget) -> Value {
        match seen {
            LexicalTarget::Local(binding) => return self.local(file, binding),
            LexicalTarget::Symbol(place) => return self.symbol_value(SymbolAt { file: file.id(), ordinal: place }),
            LexicalTarget::NotLocal => {}
        }
        match self.find_in_file(file, file.name(name)) {
            NameTarget::Symbols(targets) => targets.first().map_or(Value::UNKNOWN, |&target| self.symbol_value(target)),
            NameTarget::Import(imported) => Value::Package(imported),
            NameTarget::Predeclared(Predeclared::Type(name)) => Value::TypeName(Type::Basic(name)),
            NameTarget::Predeclared(Predeclared::Func(name)) => Value::Predeclared(name),
            NameTarget::Predeclared(Predeclared::Value(of)) => Value::Typed(Type::Basic(of)),
            NameTarget::External => Value::Typed(Type::External),
            NameTarget::Unresolved => Value::UNKNOWN,
        }
    }

    fn local(&self, file: &Rc<FileIndex>, binding: u32) -> Value {
        let kind = file.facts().bindings.get(binding as usize).map(|binding| binding.kind);
        match kind {
            Some(BindingKind::TypeParam) => Value::TypeName(Type::Param(file.id(), binding)),
            Some(_) => Value::Typed(self.binding_type(file, binding)),
            None => Value::UNKNOWN,
        }
    }

    /// Returns the value of a symbol that is named.
    fn symbol_value(&self, at: SymbolAt) -> Value {
        match self.kind(at) {
            Some(SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type) => Value::TypeName(Type::named(at)),
            Some(_) => Value::Typed(self.symbol_type(at)),
            None => Value::UNKNOWN,
        }
    }

    /// Handles `x.name`.
    pub(super) fn select(&self, of: Value, name: &str) -> Value {
        match of {
            Value::Package(imported) => match imported.as_ref() {
                Imported::Package(package) => {
                    package.find(name).first().map_or(Value::UNKNOWN, |&target| self.symbol_value(target))
                }
                Imported::External(path) => {
                    match (self.library().find_type(path, name), self.library().function(path, name)) {
                        (Some(at), _) => Value::TypeName(Type::Library(at, Rc::new([]))),
                        (None, Some(of)) => Value::Typed(of),
                        (None, None) => Value::Typed(Type::External),
                    }
                }
                Imported::Absent => Value::UNKNOWN,
            },
            Value::Typed(of) => Value::Typed(self.member_type(&of, name)),
            Value::TypeName(of) => Value::Typed(self.method_expression(&of, name)),
            Value::Predeclared(_) => Value::UNKNOWN,
        }
    }

    fn member_type(&self, of: &Type, name: &str) -> Type {
        match self.member(of, name) {
            Member::Field(_, of) | Member::Methods(_, of) | Member::LibraryMethod(of) => of,
            Member::External => Type::External,
            Member::Missing | Member::Unknown => Type::Unknown,
        }
    }

    /// Handles `T.m`: a function with the receiver as its first parameter.
    fn method_expression(&self, of: &Type, name: &str) -> Type {
        match self.member_type(of, name) {
            Type::Func(method) => {
                let params = std::iter::once(of.clone()).chain(method.params.iter().cloned()).collect();
                Type::Func(Rc::new(FuncType { params, ..method.as_ref().clone() }))
            }
            of => of,
        }
    }

    /// Returns the result type of a call.
    fn call_result(&self, file: &Rc<FileIndex>, of: ExprId, arguments: &[ExprId]) -> Type {
        match self.value(file, of) {
            Value::TypeName(of) => of,
            Value::Predeclared(name) => self.predeclared_call(file, name, arguments),
            Value::Typed(of) => match self.underlying(&of) {
                Type::Func(of) => self.call(file, &of, arguments),
                Type::External => Type::External,
                _ => Type::Unknown,
            },
            Value::Package(_) => Type::Unknown,
        }
    }

    fn predeclared_call(&self, file: &Rc<FileIndex>, name: &str, arguments: &[ExprId]) -> Type {
        let first = || arguments.first().map_or(Type::Unknown, |first| self.value(file, *first).into_type());
        match name {
            "new" => Type::pointer(first()),
            "make" | "append" | "min" | "max" => first(),
            "len" | "cap" | "copy" => Type::Basic("int"),
            "recover" => Type::Basic("any"),
            _ => Type::Unknown,
        }
    }

    /// Returns the result type of a call of a function; its type parameters are inferred from the arguments.
    fn call(&self, file: &Rc<FileIndex>, of: &FuncType, arguments: &[ExprId]) -> Type {
        let results = Type::results(&of.results);
        if !results.has_type_params() {
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
            if param.has_type_params() {
                self.infer_from_arg(param, &self.value(file, *argument).into_type(), &mut learned);
            }
        }
        // A type parameter that was not inferred is some type, and not the function's own parameter.
        for own in &of.type_params {
            if !learned.iter().any(|(known, _)| known == own) {
                learned.push((*own, Type::Unknown));
            }
        }
        results.with(&learned)
    }

    /// Infers type parameters from an argument; a parameter of a declared function type accepts any matching function.
    fn infer_from_arg(&self, param: &Type, given: &Type, learned: &mut Arguments) {
        match (param, given) {
            (Type::Named(of, _), Type::Named(other, _)) if of == other => param.infer_type_args(given, learned),
            (Type::Named(..) | Type::Library(..), _) => {
                self.underlying(param).infer_type_args(&self.underlying(given), learned);
            }
            (Type::Func(_) | Type::List(_) | Type::Map(_) | Type::Chan(_), Type::Named(..) | Type::Library(..)) => {
                param.infer_type_args(&self.underlying(given), learned);
            }
            _ => param.infer_type_args(given, learned),
        }
    }

    /// Returns an element, or a generic with its arguments.
    fn indexed(&self, file: &Rc<FileIndex>, of: ExprId, arguments: &[ExprId]) -> Value {
        let given = || arguments.iter().map(|argument| self.type_at(file, *argument)).collect::<Vec<_>>();
        match self.value(file, of) {
            Value::TypeName(Type::Named(symbol, _)) => Value::TypeName(Type::Named(symbol, given().into())),
            Value::TypeName(Type::Library(at, _)) => Value::TypeName(Type::Library(at, given().into())),
            Value::TypeName(of) => Value::TypeName(of),
            Value::Typed(Type::Func(of)) => {
                let learned: Arguments = of.type_params.iter().copied().zip(given()).collect();
                Value::Typed(Type::Func(of).with(&learned))
            }
            Value::Typed(of) => Value::Typed(self.element(&of)),
            _ => Value::UNKNOWN,
        }
    }

    /// Returns the type that a pointer points to.
    fn pointee(&self, of: &Type) -> Type {
        match of {
            Type::Pointer(of) => of.as_ref().clone(),
            Type::External => Type::External,
            _ => self.underlying(of).target().clone(),
        }
    }

    /// Returns the element type of a list, a map or a channel, or the second value of an iterator.
    pub(super) fn element(&self, of: &Type) -> Type {
        match self.underlying(of) {
            Type::List(of) | Type::Chan(of) => of.as_ref().clone(),
            Type::Map(of) => of.1.clone(),
            Type::Pointer(of) => self.element(&of),
            Type::Basic("string") => Type::Basic("byte"),
            Type::Func(of) => yielded_type(&of, 1),
            Type::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// Returns the type of the n-th value of a call, or of a loop.
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
            Type::Func(of) => yielded_type(&of, 0),
            Type::List(_) | Type::Pointer(_) | Type::Basic(_) => Type::Basic("int"),
            Type::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// Returns the underlying type: names are replaced by their declarations.
    pub(super) fn underlying(&self, of: &Type) -> Type {
        let mut of = of.clone();
        for _ in 0..16 {
            of = match of {
                Type::Named(symbol, ref arguments) if self.kind(symbol) == Some(SymbolKind::Type) => {
                    self.symbol_type(symbol).with(&self.arguments(symbol, arguments))
                }
                Type::Library(at, ref arguments) => self.library().underlying(at, arguments),
                Type::Param(file, binding) => self.bound(file, binding),
                other => return other,
            };
        }
        Type::Unknown
    }

    pub(super) fn func_type(&self, file: &Rc<FileIndex>, of: &FuncExpr, own: Vec<(VersionId, u32)>) -> Type {
        let all = |list: &[ExprId]| list.iter().map(|of| self.type_at(file, *of)).collect();
        let (params, results) = (all(&of.params), all(&of.results));
        Type::Func(Rc::new(FuncType { type_params: own, params, variadic: of.variadic, results }))
    }

    /// Returns the type that an expression names.
    pub(super) fn type_at(&self, file: &Rc<FileIndex>, id: ExprId) -> Type {
        let Some(_deeper) = self.query_stack.descend() else { return Type::Unknown };
        match file.facts().expr(id) {
            Expr::Wrap { how: Wrap::Deref, of } => Type::pointer(self.type_at(file, *of)),
            Expr::Wrap { how: Wrap::Channel, of } => Type::Chan(Rc::new(self.type_at(file, *of))),
            Expr::List(of) => Type::list(self.type_at(file, *of)),
            Expr::Map { key, value } => Type::Map(Rc::new((self.type_at(file, *key), self.type_at(file, *value)))),
            Expr::Func(of) => self.func_type(file, of, Vec::new()),
            Expr::Inline(span) => Type::Inline(Inline { file: file.id(), start: span.start, end: span.end }),
            Expr::Name { .. } | Expr::Member { .. } | Expr::Index { .. } | Expr::Apply { .. } => {
                match self.value(file, id) {
                    Value::TypeName(of) => of,
                    Value::Typed(Type::External) => Type::External,
                    _ => Type::Unknown,
                }
            }
            _ => Type::Unknown,
        }
    }
}

/// Returns the predeclared type of a literal.
fn literal(of: Literal) -> &'static str {
    match of {
        Literal::Text => "string",
        Literal::Int => "int",
        Literal::Float => "float64",
        Literal::Char => "rune",
        Literal::Bool => "bool",
        Literal::Null => "nil",
    }
}

/// Returns the type that an iterator function yields to its loop, by position.
fn yielded_type(of: &FuncType, n: usize) -> Type {
    match of.params.first() {
        Some(Type::Func(of)) => of.params.get(n).cloned().unwrap_or(Type::Unknown),
        _ => Type::Unknown,
    }
}

//! Types of symbols, of local bindings, and of type expressions.

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Expr, ExprId, FileFacts, Flags, FuncExpr, LexicalTarget, SymbolAt, SymbolKind, ValuePart,
};

use super::engine::{Engine, File, LookupSite, is_type};
use super::members::LookupKind;
use super::names::NameTarget;
use super::scope_policy::Unit;
use super::types::{FuncType, Type};
use super::values::Value;

impl Engine<'_> {
    /// Returns the type of the receiver of the enclosing function.
    pub(super) fn this_type(&self, file: &Rc<File>, around: Option<u32>) -> Type {
        let Some(place) = around else { return Type::Unknown };
        let at = SymbolAt { file: file.id(), ordinal: place };
        match file.symbol(place) {
            Some(symbol) if is_type(symbol.kind) => {
                let own = file.type_params(place).iter().map(|&binding| Type::Param(file.id(), binding));
                Type::Named(at, own.collect())
            }
            // A function of an anonymous class.
            Some(symbol) if symbol.owner.is_none() && symbol.kind != SymbolKind::Impl => {
                self.bases(at).first().cloned().unwrap_or(Type::Unknown)
            }
            Some(symbol) => {
                match symbol
                    .owner
                    .map(|owner| self.value(file, self.enclosing_type(file, symbol.parent), owner).into_type())
                {
                    Some(of) => of,
                    None => Type::Unknown,
                }
            }
            None => Type::Unknown,
        }
    }

    /// Returns the declared type of a symbol, or that of its value.
    pub(super) fn symbol_type(&self, at: SymbolAt) -> Type {
        self.symbol_types.compute_cyclic(&self.query_stack, at, Type::Unknown, || {
            let Some(file) = self.file(at.file) else { return Type::Unknown };
            let Some(symbol) = file.symbol(at.ordinal) else { return Type::Unknown };
            // A type alias is seen from its enclosing symbol.
            let from = if is_type(symbol.kind) { symbol.parent } else { Some(at.ordinal) };
            let around = self.enclosing_type(&file, from);
            if self.is_table_type(&file, at.ordinal) {
                return Type::named(at);
            }
            // An anonymous structure belongs to the symbol that it is declared for.
            if let Some(of) = symbol.annotation.and_then(|of| unnamed_struct_depth(&file, of)) {
                return (0..of).fold(Type::named(at), |of, _| Type::list(of));
            }
            let declared = symbol.annotation.map_or(Type::Unknown, |of| match file.facts().expr(of) {
                Expr::Func(of) => {
                    let own = file.type_params(at.ordinal).iter().map(|&binding| (at.file, binding)).collect();
                    let params = of.params.iter().map(|of| self.type_at(&file, around, *of)).collect();
                    let result = match (of.results.first(), symbol.value) {
                        (Some(of), _) => self.type_at(&file, around, *of),
                        (None, Some(value)) => self.value(&file, around, value).into_type(),
                        (None, None) => Type::Basic("void"),
                    };
                    let optional = optional(file.facts(), &of.params).max(self.optional(&file, at.ordinal, of));
                    let optional = optional.max(of.optional as usize);
                    let (variadic, on_first) = (of.variadic, of.has_receiver);
                    Type::Func(Rc::new(FuncType {
                        type_params: own,
                        params,
                        variadic,
                        optional,
                        has_receiver: on_first,
                        result,
                    }))
                }
                _ => self.type_at(&file, around, of),
            });
            match symbol.value.filter(|_| !declared.is_known()) {
                Some(value) => self.value(&file, around, value).into_type(),
                None => declared,
            }
        })
    }

    /// Returns whether a value is a table literal of its own, or a table that functions are added to.
    pub(super) fn is_table_type(&self, file: &File, place: u32) -> bool {
        let Some(symbol) = file.symbol(place).filter(|of| of.value.is_some()) else { return false };
        // A function returns a new value each time, unless it returns a type.
        if symbol.kind == SymbolKind::Fn && !self.policy.types_are_values {
            return false;
        }
        let is_table = symbol.value.is_some_and(|value| matches!(file.facts().expr(value), Expr::Inline(_)));
        let owns = |owner: ExprId| matches!(file.facts().expr(owner), Expr::Name { seen: LexicalTarget::Symbol(of), .. } if *of == place);
        is_table || file.facts().symbols.iter().filter_map(|of| of.owner).any(owns)
    }

    /// Returns the number of optional parameters of a function: those with a default value.
    pub(super) fn optional(&self, file: &File, place: u32, of: &FuncExpr) -> usize {
        let count = of.params.len() - usize::from(of.variadic && !of.params.is_empty());
        let own = file.params(place);
        // Parameters of closures in the function come after its own, and the receiver comes first.
        let takes_self = file.symbol(place).is_some_and(|of| of.flags.has(Flags::TAKES_SELF) && of.owner.is_some());
        let own = own.iter().skip(usize::from(takes_self)).take(count);
        let is_optional = |at: &&u32| file.binding(**at).is_some_and(|of| of.value.is_some());
        own.filter(is_optional).count()
    }

    pub(super) fn binding_type(&self, file: &Rc<File>, at: u32) -> Type {
        self.binding_types.compute_cyclic(&self.query_stack, (file.id(), at), Type::Unknown, || {
            let Some(binding) = file.binding(at) else { return Type::Unknown };
            let around = self.enclosing_type(file, binding.symbol);
            let declared = binding.annotation.map_or(Type::Unknown, |of| self.type_at(file, around, of));
            if declared.is_known() {
                return declared;
            }
            let Some(value) = binding.value else { return Type::Unknown };
            let value = self.value(file, around, value).into_type();
            match binding.part {
                // A default value of null says nothing about the argument.
                ValuePart::Whole if binding.kind == BindingKind::Param && value == Type::Basic("null") => Type::Unknown,
                ValuePart::Whole => value,
                ValuePart::Element => self.element(&value),
                _ => Type::Unknown,
            }
        })
    }

    /// Returns the type that an expression names.
    pub(super) fn type_at(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Type {
        let Some(_deeper) = self.query_stack.descend() else { return Type::Unknown };
        match file.facts().expr(id) {
            Expr::List(of) => Type::list(self.type_at(file, around, *of)),
            Expr::Part { of, part: ValuePart::Field(_) } => self.type_at(file, around, *of),
            Expr::Func(of) => {
                let params = of.params.iter().map(|of| self.type_at(file, around, *of)).collect();
                let result = of.results.first().map_or(Type::Unknown, |of| self.type_at(file, around, *of));
                let optional = optional(file.facts(), &of.params).max(of.optional as usize);
                let (variadic, on_first, own) = (of.variadic, of.has_receiver, Vec::new());
                Type::Func(Rc::new(FuncType {
                    type_params: own,
                    params,
                    variadic,
                    optional,
                    has_receiver: on_first,
                    result,
                }))
            }
            // An optional parameter.
            Expr::Either(of) if of.len() == 1 => self.type_at(file, around, of[0]),
            Expr::Name { name, seen: LexicalTarget::NotLocal } => self.type_named(file, around, file.name(*name)),
            // A value may have the same name as a type.
            Expr::Apply { of, args } if self.policy.modules_are_objects => match self.type_at(file, around, *of) {
                Type::Named(symbol, _) => {
                    Type::Named(symbol, args.iter().map(|of| self.type_at(file, around, *of)).collect())
                }
                other => other,
            },
            Expr::Member { of, name } if self.policy.modules_are_objects => match self.value(file, around, *of) {
                Value::Typed(of) | Value::TypeName(of) if of.is_known() && of != Type::External => {
                    match self.nearest_set_value(&self.members(&of, file.name(*name), LookupKind::Type)) {
                        Value::TypeName(of) => of,
                        _ => Type::Unknown,
                    }
                }
                Value::Package(package) => {
                    let all = self.find_qualified(&self.join_qualified(&package, file.name(*name)));
                    match all.iter().find(|at| self.matches_kind(**at, LookupKind::Type)) {
                        Some(&of) => match self.symbols_value(&[of]) {
                            Value::TypeName(of) => of,
                            _ => Type::Unknown,
                        },
                        None => Type::Unknown,
                    }
                }
                Value::Typed(of) | Value::TypeName(of) => of,
                Value::Functions(..) => Type::Unknown,
            },
            // Of several types, the first that has members is the most informative.
            Expr::Either(all) => {
                let all = || all.iter().map(|of| self.type_at(file, around, *of));
                let is_plain = |of: &Type| matches!(of, Type::Unknown | Type::Basic(_));
                all().find(|of| !is_plain(of)).or_else(|| all().find(Type::is_known)).unwrap_or(Type::Unknown)
            }
            _ => self.as_type(self.value(file, around, id)),
        }
    }

    /// Returns the type of a value in type position.
    pub(super) fn as_type(&self, value: Value) -> Type {
        match value {
            Value::TypeName(of) => of,
            Value::Typed(Type::External) => Type::External,
            Value::Typed(of) if self.policy.types_are_values => of,
            _ => Type::Unknown,
        }
    }

    /// Returns the type of a name in type position.
    pub(super) fn type_named(&self, file: &Rc<File>, around: Option<u32>, name: &str) -> Type {
        if let Some(plain) = self.plain(name) {
            return Type::Basic(plain);
        }
        let place = LookupSite { file: file.clone(), symbol: around };
        match self.look_up(&place, self.strip_type_marker(name), LookupKind::Construct) {
            NameTarget::Symbols(mut targets) => {
                // `struct a` and `a` are two names.
                let is_tag = name.contains(' ') || self.policy.unit == Unit::Namespace;
                let is_meant = |at: &SymbolAt| (self.kind(*at) == Some(SymbolKind::Type)) != is_tag;
                if targets.iter().any(is_meant) {
                    targets.retain(is_meant);
                }
                self.as_type(self.symbols_value(&targets))
            }
            NameTarget::Members(levels) => self.as_type(self.nearest_set_value(&levels)),
            NameTarget::External | NameTarget::MaybeExternal => Type::External,
            _ => Type::Unknown,
        }
    }
}

/// Returns the list nesting depth of an anonymous structure; `None` if the type is not one.
fn unnamed_struct_depth(file: &File, mut of: ExprId) -> Option<u32> {
    let mut lists = 0;
    loop {
        match file.facts().expr(of) {
            Expr::Inline(_) => return Some(lists),
            Expr::List(inner) => (of, lists) = (*inner, lists + 1),
            _ => return None,
        }
    }
}

/// Returns the number of trailing optional parameters.
fn optional(facts: &FileFacts, params: &[ExprId]) -> usize {
    params.iter().rev().take_while(|of| matches!(facts.expr(**of), Expr::Either(of) if of.len() == 1)).count()
}

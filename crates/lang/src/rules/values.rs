//! The values of expressions, and their types.
//!
//! A name in an expression carries its lexical target. The value otherwise depends only on the file and on the
//! enclosing type, whose members can be bare names. So a value is computed once per file, enclosing type and
//! expression.

use std::rc::Rc;

use codecompass_model::{BindingKind, Expr, ExprId, LexicalTarget, SymbolAt, SymbolKind, ValuePart, Wrap};

use super::engine::{Engine, File, LookupSite, is_type};
use super::members::{LookupKind, MemberSets};
use super::names::NameTarget;
use super::scope_policy::Unit;
use super::types::{Arguments, Type};

/// Chains of calls and members longer than this are computed step by step, so that they need no recursion.
const MAX_RECURSIVE_CHAIN: usize = 8;

/// The maximum length of a chain.
const MAX_CHAIN: usize = 500;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A value of this type.
    Typed(Type),
    /// The type itself.
    TypeName(Type),
    /// Functions of one name, and the substitution for the enclosing type parameters.
    Functions(Rc<[SymbolAt]>, Rc<Arguments>),
    Package(Rc<str>),
}

impl Value {
    const UNKNOWN: Value = Value::Typed(Type::Unknown);

    /// Returns the type of the value, or the type itself if it is a type name.
    pub(super) fn into_type(self) -> Type {
        match self {
            Value::Typed(of) | Value::TypeName(of) => of,
            _ => Type::Unknown,
        }
    }
}

impl Engine<'_> {
    /// Returns the value of an expression, seen from the enclosing type.
    pub(super) fn value(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let chain = self.chain(file, around, id);
        // Innermost steps first: each result is cached, and the next step uses it.
        for &step in chain.iter().skip(1).rev().filter(|_| chain.len() > MAX_RECURSIVE_CHAIN) {
            self.find_value(file, around, step);
        }
        self.find_value(file, around, id)
    }

    fn chain(&self, file: &File, around: Option<u32>, id: ExprId) -> Vec<ExprId> {
        let before = |id: &ExprId| match file.facts().expr(*id) {
            Expr::Member { of, .. } | Expr::Call { callee: of, .. } | Expr::Index { of, .. } => Some(*of),
            _ => None,
        };
        let open = |id: &ExprId| !self.values.contains(&(file.id(), around, *id));
        std::iter::successors(Some(id), before).take(MAX_CHAIN).take_while(open).collect()
    }

    fn find_value(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        self.values.compute_cyclic(&self.query_stack, (file.id(), around, id), Value::UNKNOWN, || {
            self.value_of(file, around, id)
        })
    }

    fn value_of(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let of_type = |of: ExprId| self.value(file, around, of).into_type();
        Value::Typed(match file.facts().expr(id) {
            Expr::Name { name, seen } => {
                return self.auto_applied(self.named_value(file, around, file.name(*name), *seen));
            }
            Expr::Member { of, name } => match self.implicit_receiver_binding(file, *of) {
                Some(binding) => return self.implicit_member_value(file, around, binding, file.name(*name)),
                None => return self.auto_applied(self.select(file, self.value(file, around, *of), file.name(*name))),
            },
            Expr::Part { of, part: ValuePart::Whole }
                if let Some(binding) = self.implicit_receiver_binding(file, *of) =>
            {
                match self.receivers(file, binding).first() {
                    Some(of) => of.clone(),
                    None => self.this_type(file, around),
                }
            }
            Expr::Call { callee, args } => self.call_result(file, around, *callee, args),
            Expr::Index { of, .. } => self.indexed(&of_type(*of)),
            Expr::Part { of, part: ValuePart::Element } => self.element(&of_type(*of)),
            Expr::Apply { of, args } => match self.value(file, around, *of) {
                Value::TypeName(Type::Named(symbol, _)) => {
                    let given = args.iter().map(|of| self.type_at(file, around, *of)).collect();
                    return Value::TypeName(Type::Named(self.with_type_arity(symbol, args.len()), given));
                }
                Value::TypeName(Type::Func(of)) if !of.type_params.is_empty() => {
                    let given = args.iter().map(|of| self.type_at(file, around, *of));
                    let with: Arguments = of.type_params.iter().copied().zip(given).collect();
                    return Value::TypeName(Type::Func(of).with(&with));
                }
                other => return self.with_explicit_type_args(file, around, other, args),
            },
            Expr::Cast(to) | Expr::New(to) => self.type_at(file, around, *to),
            Expr::Slice(of) => of_type(*of),
            Expr::Wrap { how: Wrap::Ref, of } => Type::list(of_type(*of)),
            Expr::Wrap { how: Wrap::Deref, of } => match of_type(*of) {
                Type::List(of) => of.as_ref().clone(),
                other => self.dereferenced(other),
            },
            Expr::Part { of, part: ValuePart::Whole } => of_type(*of),
            // An argument, or a parameter's type, with its label.
            Expr::Part { of, part: ValuePart::Field(_) } => return self.value(file, around, *of),
            Expr::Literal(of) => return Value::Typed(self.literal(*of)),
            Expr::List(_) | Expr::Func(_) => return Value::TypeName(self.type_at(file, around, id)),
            Expr::This => self.this_type(file, around),
            Expr::Super => {
                match around.and_then(|place| self.bases(SymbolAt { file: file.id(), ordinal: place }).first().cloned())
                {
                    Some(base) => base,
                    None => self.root().map_or(Type::Unknown, Type::named),
                }
            }
            Expr::Either(all) => {
                let known = all.iter().map(|of| of_type(*of)).find(|of| of.is_known() && *of != Type::Basic("null"));
                known.unwrap_or(Type::Unknown)
            }
            Expr::Closure { params, back } => Type::Closure { file: file.id(), around, back: *back, params: *params },
            Expr::Argument { callee, arity, given } => self.expected_param_type(file, around, *callee, *arity, given),
            Expr::ParamOf { of, at } => match self.function_of(&of_type(*of)) {
                Some(of) => {
                    of.params.get(*at as usize + usize::from(of.has_receiver)).cloned().unwrap_or(Type::Unknown)
                }
                None => Type::Unknown,
            },
            Expr::Module(name) if file.name(*name).is_empty() => return Value::Package("".into()),
            Expr::Module(name) if self.policy.unit == Unit::Package => {
                let found = self.find_qualified(file.name(*name));
                let module = found.iter().find(|at| self.matches_kind(**at, LookupKind::Construct));
                return Value::TypeName(module.map_or(Type::External, |at| Type::named(*at)));
            }
            Expr::Module(name) => return self.module_value(file, file.name(*name)),
            _ => Type::Unknown,
        })
    }

    /// Returns the value of the module that is loaded under this name.
    fn module_value(&self, file: &Rc<File>, name: &str) -> Value {
        let files = (self.policy.resolve_module)(&*self.world, &file.file.path, name);
        let Some(&first) = files.first() else { return Value::Typed(Type::External) };
        let Some(module) = self.file(first) else { return Value::UNKNOWN };
        match module.facts().value {
            Some(value) => self.value(&module, None, value),
            None => Value::Typed(Type::File(first)),
        }
    }

    pub(super) fn named_value(&self, file: &Rc<File>, around: Option<u32>, name: &str, seen: LexicalTarget) -> Value {
        match seen {
            LexicalTarget::Local(binding) => return self.local(file, binding),
            LexicalTarget::Symbol(place) => return self.symbols_value(&[SymbolAt { file: file.id(), ordinal: place }]),
            LexicalTarget::NotLocal => {}
        }
        if let Some(plain) = self.plain(name) {
            return Value::TypeName(Type::Basic(plain));
        }
        if name.is_empty() && self.policy.unit == Unit::Namespace {
            return Value::Package("".into());
        }
        if let Some(whole) = self.absolute(name) {
            // A name that ends in a separator can only be a package.
            if let Some(package) = whole.strip_suffix(self.policy.separator) {
                return Value::Package(package.into());
            }
            return match &*self.find_qualified(whole) {
                [] if whole.is_empty() || self.is_package(whole) => Value::Package(whole.into()),
                [] => Value::Typed(Type::External),
                found => self.symbols_value(found),
            };
        }
        let place = LookupSite { file: file.clone(), symbol: around };
        match self.look_up(&place, self.strip_type_marker(name), self.lookup_kind_of(name)) {
            NameTarget::Symbols(targets) => self.symbols_value(&targets),
            NameTarget::Members(levels) => self.nearest_set_value(&levels),
            NameTarget::Guess(target) => self.symbols_value(&[target]),
            NameTarget::External => Value::Typed(Type::External),
            found @ (NameTarget::MaybeExternal | NameTarget::Unresolved) if self.policy.packages_must_exist => {
                match self.package_at(&place, name) {
                    Some(package) => Value::Package(package.into()),
                    None if matches!(found, NameTarget::MaybeExternal) => Value::Typed(Type::External),
                    None => Value::UNKNOWN,
                }
            }
            // By convention, a name with a capital letter is not a package.
            NameTarget::MaybeExternal if name.starts_with(char::is_uppercase) => Value::Typed(Type::External),
            NameTarget::MaybeExternal | NameTarget::Unresolved if self.policy.unit == Unit::Package => {
                Value::Package(name.into())
            }
            // The result of an external function may be anything.
            NameTarget::MaybeExternal if self.policy.unit == Unit::Program => Value::UNKNOWN,
            NameTarget::MaybeExternal => Value::Typed(Type::External),
            _ => Value::UNKNOWN,
        }
    }

    /// Strips the keyword before a type name, such as `struct`.
    pub(super) fn strip_type_marker<'n>(&self, name: &'n str) -> &'n str {
        name.rsplit(' ').next().unwrap_or(name)
    }

    /// Returns the lookup kind of a name in an expression: with a keyword before it, it is a type.
    fn lookup_kind_of(&self, name: &str) -> LookupKind {
        if name.contains(' ') { LookupKind::Construct } else { LookupKind::Value }
    }

    fn local(&self, file: &Rc<File>, binding: u32) -> Value {
        match file.binding(binding).map(|of| of.kind) {
            Some(BindingKind::TypeParam) => Value::TypeName(Type::Param(file.id(), binding)),
            Some(_) => match self.binding_type(file, binding) {
                Type::Unknown if self.policy.types_are_values => {
                    let of =
                        file.binding(binding).filter(|of| of.kind == BindingKind::Local && of.part == ValuePart::Whole);
                    let held =
                        of.and_then(|of| Some(self.value(file, self.enclosing_type(file, of.symbol), of.value?)));
                    held.filter(|held| matches!(held, Value::Functions(..))).unwrap_or(Value::UNKNOWN)
                }
                of => Value::Typed(of),
            },
            None => Value::UNKNOWN,
        }
    }

    /// Returns the value of symbols with one name.
    pub(super) fn symbols_value(&self, all: &[SymbolAt]) -> Value {
        let is_plain = |at: &&SymbolAt| self.file(at.file).is_some_and(|file| file.type_params(at.ordinal).is_empty());
        let plain = all.iter().find(|at| self.policy.generic_arity_distinguishes && is_plain(at));
        let main = self.main_declaration(all.to_vec());
        let Some(&first) = plain.or(main.first()) else { return Value::UNKNOWN };
        match self.kind(first) {
            Some(SymbolKind::Type) => Value::TypeName(match self.symbol_type(first) {
                Type::Unknown => Type::named(first),
                of => of,
            }),
            Some(kind) if is_type(kind) => Value::TypeName(Type::named(first)),
            Some(SymbolKind::Namespace) if self.policy.packages_must_exist => {
                let file = self.file(first.file);
                let symbol = file.as_ref().and_then(|file| file.symbol(first.ordinal));
                symbol.map_or(Value::UNKNOWN, |of| Value::Package(of.qualified_name.as_str().into()))
            }
            Some(SymbolKind::Namespace) => self.namespace_value(first),
            Some(SymbolKind::Method | SymbolKind::Fn | SymbolKind::Prototype | SymbolKind::Macro) => {
                Value::Functions(all.into(), Rc::default())
            }
            Some(_) => match self.symbol_type(first) {
                Type::Unknown if self.policy.types_are_values => {
                    self.aliased_functions(first).unwrap_or(Value::UNKNOWN)
                }
                of => Value::Typed(of),
            },
            None => Value::UNKNOWN,
        }
    }

    /// Returns the functions that a constant is an alias of.
    pub(super) fn aliased_functions(&self, at: SymbolAt) -> Option<Value> {
        let file = self.file(at.file)?;
        let symbol = file.symbol(at.ordinal).filter(|of| of.kind == SymbolKind::Const)?;
        let value = self.value(&file, self.enclosing_type(&file, symbol.parent), symbol.value?);
        matches!(value, Value::Functions(..)).then_some(value)
    }

    /// Returns the value of `x.name`.
    pub(super) fn select(&self, file: &Rc<File>, of: Value, name: &str) -> Value {
        let of = match of {
            Value::Typed(of) | Value::TypeName(of) => of,
            Value::Package(package) => {
                if self.policy.unit == Unit::Namespace {
                    return match self.in_package(file, &package, name, LookupKind::Any) {
                        Some(found) => self.symbols_value(&found),
                        None if self.is_external_package(&package) => Value::Typed(Type::External),
                        None => Value::UNKNOWN,
                    };
                }
                let whole = self.join_qualified(&package, name);
                return match &*self.find_qualified(&whole) {
                    [] if self.policy.packages_must_exist && !self.is_package(&whole) => {
                        match self.is_undefined(name, LookupKind::Any) {
                            true => Value::Typed(Type::External),
                            false => Value::UNKNOWN,
                        }
                    }
                    [] => Value::Package(whole.into()),
                    found => self.symbols_value(found),
                };
            }
            Value::Functions(..) => return Value::UNKNOWN,
        };
        if let Type::External | Type::Unknown = of {
            return Value::Typed(of);
        }
        if let (Type::List(_), Some((_, plain))) =
            (&of, self.policy.list_members.iter().find(|(known, _)| *known == name))
        {
            return Value::Typed(Type::Basic(plain));
        }
        for want in [LookupKind::Value, LookupKind::Type] {
            let levels = self.members(&of, name, want);
            if !levels.sets.is_empty() {
                match self.nearest_set_value(&levels) {
                    // The arguments decide between several member sets.
                    Value::Functions(..) if self.policy.extensions => break,
                    found => return found,
                }
            }
        }
        if let Some(functions) = self.methods(&of, name) {
            return functions;
        }
        match self.members(&of, name, LookupKind::Any) {
            levels if levels.external && !levels.unknown => Value::Typed(Type::External),
            _ => Value::UNKNOWN,
        }
    }

    /// Returns the value of the members of the nearest type that has any.
    pub(super) fn nearest_set_value(&self, levels: &MemberSets) -> Value {
        let Some((found, with)) = levels.sets.first() else { return Value::UNKNOWN };
        match self.symbols_value(found) {
            Value::Typed(of) => Value::Typed(of.with(with)),
            Value::Functions(found, _) => Value::Functions(found, Rc::new(with.clone())),
            other => other,
        }
    }

    /// Returns the symbols that construct a type: its constructors, and the declaration itself if it has parameters.
    pub(super) fn construct_candidates(&self, of: SymbolAt) -> Rc<[SymbolAt]> {
        let file = self.file(of.file);
        let own = file.as_ref().and_then(|file| Some(file.facts().expr(file.symbol(of.ordinal)?.annotation?)));
        let own = matches!(own, Some(Expr::Func(_))).then_some(of);
        own.into_iter().chain(self.all_constructors(of)).collect()
    }

    /// Returns the element type of a loop over a value.
    pub(super) fn element(&self, of: &Type) -> Type {
        match of {
            Type::List(of) => of.as_ref().clone(),
            Type::External | Type::Unknown => of.clone(),
            of if self.policy.operators => self.loop_element(of),
            of => match self.iterable().and_then(|iterable| self.as_supertype(of, iterable)) {
                Some(Type::Named(_, args)) => args.first().cloned().unwrap_or(Type::Unknown),
                _ if self.has_unknown_bases(of) => Type::External,
                _ => Type::Unknown,
            },
        }
    }
}

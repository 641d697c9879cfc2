//! What expressions stand for, and their types.
//!
//! A name in an expression knows its local name; what else it depends on is its file and the type around it, whose members
//! may be named alone. So a value is found once for each of these.

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Expr, ExprId, FileFacts, Flags, FuncExpr, Part, Seen, SymbolAt, SymbolKind, VersionId, Wrap,
};

use super::engine::{Engine, File, Place, is_type};
use super::members::{Levels, Want};
use super::names::Found;
use super::overloads::{Given, label, place_of};
use super::scoping::{Apart, Unit};
use super::types::{Arguments, FuncType, Type};

/// Longer chains of calls and members are found step by step, so that they need no recursion.
const LONG: usize = 8;

/// No chain is followed further.
const MAX_CHAIN: usize = 500;

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A value of this type.
    Of(Type),
    /// The type itself.
    TypeName(Type),
    /// Functions of one name, and what stands for the type parameters around them.
    Functions(Rc<[SymbolAt]>, Rc<Arguments>),
    Package(Rc<str>),
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

impl Engine<'_> {
    /// What an expression stands for, seen from the type around it.
    pub(super) fn value(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let chain = self.chain(file, around, id);
        // The first steps first: each is remembered, and the next one asks for it.
        for &step in chain.iter().skip(1).rev().filter(|_| chain.len() > LONG) {
            self.find_value(file, around, step);
        }
        self.find_value(file, around, id)
    }

    fn chain(&self, file: &File, around: Option<u32>, id: ExprId) -> Vec<ExprId> {
        let before = |id: &ExprId| match file.facts().expr(*id) {
            Expr::Member { of, .. } | Expr::Call { callee: of, .. } | Expr::Index { of, .. } => Some(*of),
            _ => None,
        };
        let open = |id: &ExprId| !self.values.knows(&(file.id(), around, *id));
        std::iter::successors(Some(id), before).take(MAX_CHAIN).take_while(open).collect()
    }

    fn find_value(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        self.values.answer(&self.course, (file.id(), around, id), Value::UNKNOWN, || self.value_of(file, around, id))
    }

    fn value_of(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let of_type = |of: ExprId| self.value(file, around, of).into_type();
        Value::Of(match file.facts().expr(id) {
            Expr::Name { name, seen } => {
                return self.settled(self.named_value(file, around, file.name(*name), *seen));
            }
            Expr::Member { of, name } => match self.implied_binding(file, *of) {
                Some(binding) => return self.implied_value(file, around, binding, file.name(*name)),
                None => return self.settled(self.select(file, self.value(file, around, *of), file.name(*name))),
            },
            Expr::Part { of, part: Part::Whole } if let Some(binding) = self.implied_binding(file, *of) => {
                match self.receivers(file, binding).first() {
                    Some(of) => of.clone(),
                    None => self.this(file, around),
                }
            }
            Expr::Call { callee, args } => self.called(file, around, *callee, args),
            Expr::Index { of, .. } => self.indexed(&of_type(*of)),
            Expr::Part { of, part: Part::Element } => self.element(&of_type(*of)),
            Expr::Apply { of, args } => match self.value(file, around, *of) {
                Value::TypeName(Type::Named(symbol, _)) => {
                    let given = args.iter().map(|of| self.type_at(file, around, *of)).collect();
                    return Value::TypeName(Type::Named(self.of_arity(symbol, args.len()), given));
                }
                Value::TypeName(Type::Func(of)) if !of.own.is_empty() => {
                    let given = args.iter().map(|of| self.type_at(file, around, *of));
                    let with: Arguments = of.own.iter().copied().zip(given).collect();
                    return Value::TypeName(Type::Func(of).with(&with));
                }
                other => return self.applied(file, around, other, args),
            },
            Expr::Cast(to) | Expr::New(to) => self.type_at(file, around, *to),
            Expr::Slice(of) => of_type(*of),
            Expr::Wrap { how: Wrap::Ref, of } => Type::list(of_type(*of)),
            Expr::Wrap { how: Wrap::Deref, of } => match of_type(*of) {
                Type::List(of) => of.as_ref().clone(),
                other => self.pointed(other),
            },
            Expr::Part { of, part: Part::Whole } => of_type(*of),
            // An argument, or a parameter's type, with the name that callers give it.
            Expr::Part { of, part: Part::Field(_) } => return self.value(file, around, *of),
            Expr::Literal(of) => return Value::Of(self.literal(*of)),
            Expr::List(_) | Expr::Func(_) => return Value::TypeName(self.type_at(file, around, id)),
            Expr::This => self.this(file, around),
            Expr::Super => {
                match around.and_then(|place| self.bases(SymbolAt { file: file.id(), place }).first().cloned()) {
                    Some(base) => base,
                    None => self.root().map_or(Type::Unknown, Type::named),
                }
            }
            Expr::Either(all) => {
                let known = all.iter().map(|of| of_type(*of)).find(|of| of.is_known() && *of != Type::Basic("null"));
                known.unwrap_or(Type::Unknown)
            }
            Expr::Closure { params, back } => Type::Closure { file: file.id(), around, back: *back, params: *params },
            Expr::Argument { callee, arity, given } => self.wanted(file, around, *callee, *arity, given),
            Expr::ParamOf { of, at } => match self.function_of(&of_type(*of)) {
                Some(of) => of.params.get(*at as usize + usize::from(of.on_first)).cloned().unwrap_or(Type::Unknown),
                None => Type::Unknown,
            },
            Expr::Module(name) if file.name(*name).is_empty() => return Value::Package("".into()),
            Expr::Module(name) if self.scoping.unit == Unit::Package => {
                let found = self.find_qualified(file.name(*name));
                let module = found.iter().find(|at| self.fits(**at, Want::Made));
                return Value::TypeName(module.map_or(Type::External, |at| Type::named(*at)));
            }
            Expr::Module(name) => return self.module_value(file, file.name(*name)),
            _ => Type::Unknown,
        })
    }

    /// What a module gives that is loaded by this name.
    fn module_value(&self, file: &Rc<File>, name: &str) -> Value {
        let files = (self.scoping.module)(&*self.world, &file.file.path, name);
        let Some(&first) = files.first() else { return Value::Of(Type::External) };
        let Some(module) = self.file(first) else { return Value::UNKNOWN };
        match module.facts().value {
            Some(value) => self.value(&module, None, value),
            None => Value::Of(Type::File(first)),
        }
    }

    pub(super) fn named_value(&self, file: &Rc<File>, around: Option<u32>, name: &str, seen: Seen) -> Value {
        match seen {
            Seen::Local(binding) => return self.local(file, binding),
            Seen::Symbol(place) => return self.symbols_value(&[SymbolAt { file: file.id(), place }]),
            Seen::Nowhere => {}
        }
        if let Some(plain) = self.plain(name) {
            return Value::TypeName(Type::Basic(plain));
        }
        if name.is_empty() && self.scoping.unit == Unit::Namespace {
            return Value::Package("".into());
        }
        if let Some(whole) = self.absolute(name) {
            // With a separator behind it, it is a package and nothing else.
            if let Some(package) = whole.strip_suffix(self.scoping.separator) {
                return Value::Package(package.into());
            }
            return match &*self.find_qualified(whole) {
                [] if whole.is_empty() || self.is_package(whole) => Value::Package(whole.into()),
                [] => Value::Of(Type::External),
                found => self.symbols_value(found),
            };
        }
        let place = Place { file: file.clone(), symbol: around };
        match self.look_up(&place, self.bare(name), self.want(name)) {
            Found::Symbols(targets) => self.symbols_value(&targets),
            Found::Members(levels) => self.first_level(&levels),
            Found::Guess(target) => self.symbols_value(&[target]),
            Found::External => Value::Of(Type::External),
            found @ (Found::Outside | Found::Nothing) if self.scoping.known_packages => {
                match self.package_at(&place, name) {
                    Some(package) => Value::Package(package.into()),
                    None if matches!(found, Found::Outside) => Value::Of(Type::External),
                    None => Value::UNKNOWN,
                }
            }
            // By custom, what begins with a capital letter is no package.
            Found::Outside if name.starts_with(char::is_uppercase) => Value::Of(Type::External),
            Found::Outside | Found::Nothing if self.scoping.unit == Unit::Package => Value::Package(name.into()),
            // What a function from outside gives may be anything.
            Found::Outside if self.scoping.unit == Unit::Program => Value::UNKNOWN,
            Found::Outside => Value::Of(Type::External),
            _ => Value::UNKNOWN,
        }
    }

    /// A name without the word that says which kind of type it is.
    fn bare<'n>(&self, name: &'n str) -> &'n str {
        name.rsplit(' ').next().unwrap_or(name)
    }

    /// What a name of an expression is looked for as: one with a word before it is a type.
    fn want(&self, name: &str) -> Want {
        if name.contains(' ') { Want::Made } else { Want::Value }
    }

    fn local(&self, file: &Rc<File>, binding: u32) -> Value {
        match file.binding(binding).map(|of| of.kind) {
            Some(BindingKind::TypeParam) => Value::TypeName(Type::Param(file.id(), binding)),
            Some(_) => match self.binding_type(file, binding) {
                Type::Unknown if self.scoping.types_are_values => {
                    let of = file.binding(binding).filter(|of| of.kind == BindingKind::Local && of.part == Part::Whole);
                    let held = of.and_then(|of| Some(self.value(file, self.class_of(file, of.symbol), of.value?)));
                    held.filter(|held| matches!(held, Value::Functions(..))).unwrap_or(Value::UNKNOWN)
                }
                of => Value::Of(of),
            },
            None => Value::UNKNOWN,
        }
    }

    /// What symbols of one name stand for.
    pub(super) fn symbols_value(&self, all: &[SymbolAt]) -> Value {
        let is_plain = |at: &&SymbolAt| self.file(at.file).is_some_and(|file| file.type_params(at.place).is_empty());
        let plain = all.iter().find(|at| self.scoping.generics_apart && is_plain(at));
        let main = self.main(all.to_vec());
        let Some(&first) = plain.or(main.first()) else { return Value::UNKNOWN };
        match self.kind(first) {
            Some(SymbolKind::Type) => Value::TypeName(match self.symbol_type(first) {
                Type::Unknown => Type::named(first),
                of => of,
            }),
            Some(kind) if is_type(kind) => Value::TypeName(Type::named(first)),
            Some(SymbolKind::Namespace) if self.scoping.known_packages => {
                let file = self.file(first.file);
                let symbol = file.as_ref().and_then(|file| file.symbol(first.place));
                symbol.map_or(Value::UNKNOWN, |of| Value::Package(of.qualified_name.as_str().into()))
            }
            Some(SymbolKind::Namespace) => self.namespace_value(first),
            Some(SymbolKind::Method | SymbolKind::Fn | SymbolKind::Prototype | SymbolKind::Macro) => {
                Value::Functions(all.into(), Rc::default())
            }
            Some(_) => match self.symbol_type(first) {
                Type::Unknown if self.scoping.types_are_values => self.function_held(first).unwrap_or(Value::UNKNOWN),
                of => Value::Of(of),
            },
            None => Value::UNKNOWN,
        }
    }

    /// The functions that a constant is another name for.
    pub(super) fn function_held(&self, at: SymbolAt) -> Option<Value> {
        let file = self.file(at.file)?;
        let symbol = file.symbol(at.place).filter(|of| of.kind == SymbolKind::Const)?;
        let value = self.value(&file, self.class_of(&file, symbol.parent), symbol.value?);
        matches!(value, Value::Functions(..)).then_some(value)
    }

    /// `x.name`.
    pub(super) fn select(&self, file: &Rc<File>, of: Value, name: &str) -> Value {
        let of = match of {
            Value::Of(of) | Value::TypeName(of) => of,
            Value::Package(package) => {
                if self.scoping.unit == Unit::Namespace {
                    return match self.in_package(file, &package, name, Want::Any) {
                        Some(found) => self.symbols_value(&found),
                        None if self.is_outside(&package) => Value::Of(Type::External),
                        None => Value::UNKNOWN,
                    };
                }
                let whole = self.joined(&package, name);
                return match &*self.find_qualified(&whole) {
                    [] if self.scoping.known_packages && !self.is_package(&whole) => {
                        match self.is_unheard(name, Want::Any) {
                            true => Value::Of(Type::External),
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
            return Value::Of(of);
        }
        if let (Type::List(_), Some((_, plain))) =
            (&of, self.scoping.lists_have.iter().find(|(known, _)| *known == name))
        {
            return Value::Of(Type::Basic(plain));
        }
        for want in [Want::Value, Want::Type] {
            let levels = self.members(&of, name, want);
            if !levels.levels.is_empty() {
                match self.first_level(&levels) {
                    // Which of several levels is meant, the arguments tell.
                    Value::Functions(..) if self.scoping.extensions => break,
                    found => return found,
                }
            }
        }
        if let Some(functions) = self.methods(&of, name) {
            return functions;
        }
        match self.members(&of, name, Want::Any) {
            levels if levels.outside && !levels.unknown => Value::Of(Type::External),
            _ => Value::UNKNOWN,
        }
    }

    /// What members stand for: those of the nearest type that has any.
    pub(super) fn first_level(&self, levels: &Levels) -> Value {
        let Some((found, with)) = levels.levels.first() else { return Value::UNKNOWN };
        match self.symbols_value(found) {
            Value::Of(of) => Value::Of(of.with(with)),
            Value::Functions(found, _) => Value::Functions(found, Rc::new(with.clone())),
            other => other,
        }
    }

    /// What a call gives.
    fn called(&self, file: &Rc<File>, around: Option<u32>, callee: ExprId, args: &[ExprId]) -> Type {
        if let Expr::Name { name, .. } = file.facts().expr(callee)
            && let Some((_, at)) = self.scoping.passes.iter().find(|(known, _)| *known == file.name(*name))
        {
            return args.get(*at).map_or(Type::Unknown, |of| self.value(file, around, *of).into_type());
        }
        if let Expr::New(of) = file.facts().expr(callee) {
            let of = self.type_at(file, around, *of);
            return self.made(&of, &self.given_args(file, around, args));
        }
        match self.callee(file, around, callee) {
            Value::Functions(all, with) => {
                let given = self.given_args(file, around, args);
                let chosen = self.overloads(&all, &given);
                let Some(&chosen) = chosen.first() else { return Type::Unknown };
                match self.symbol_type(chosen) {
                    Type::Func(of) if self.scoping.bare_calls && of.params.is_empty() && !given.is_empty() => {
                        self.called_value(&self.result(&of, &with, &[]), &given)
                    }
                    Type::Func(of) => self.result(&of, &with, &given),
                    // A function that makes types is a generic with its arguments.
                    Type::Named(at, _) if at == chosen => Type::Named(at, given.types.into()),
                    other => other.with(&with),
                }
            }
            Value::TypeName(of) if self.scoping.objects => self.called_object(of, &self.given_args(file, around, args)),
            Value::Of(of) if self.scoping.objects => self.called_value(&of, &self.given_args(file, around, args)),
            Value::TypeName(of) => match self.scoping.calls_make {
                true => self.made(&of, &self.given_args(file, around, args)),
                false => of,
            },
            Value::Of(of) => match self.function_of(&of) {
                Some(of) => of.result.clone(),
                None if of == Type::External => Type::External,
                None => Type::Unknown,
            },
            Value::Package(_) => Type::Unknown,
        }
    }

    /// A value that is made of a type; a generic one that says nothing about its arguments takes them from what its
    /// constructor is given.
    pub(super) fn made(&self, of: &Type, given: &Given) -> Type {
        let Type::Named(at, arguments) = of else { return of.clone() };
        let Some(file) = self.file(at.file).filter(|_| arguments.is_empty() && !given.is_empty()) else {
            return of.clone();
        };
        let own: Vec<(VersionId, u32)> = file.type_params(at.place).iter().map(|&param| (at.file, param)).collect();
        let chosen = self.overloads(&self.made_by(*at), given);
        let Some(Type::Func(by)) = chosen.first().filter(|_| !own.is_empty()).map(|at| self.symbol_type(*at)) else {
            return of.clone();
        };
        let by = FuncType { own: own.clone(), ..by.as_ref().clone() };
        let whole = Type::Named(*at, own.iter().map(|(file, param)| Type::Param(*file, *param)).collect());
        whole.with(&self.learned(&by, &Arguments::new(), given))
    }

    /// What is called. Where a field may bear the name of a function, the function is meant.
    fn callee(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Value {
        let functions = match file.facts().expr(id) {
            Expr::Name { name, seen } if self.scoping.bare_calls => {
                Some(self.named_value(file, around, file.name(*name), *seen))
            }
            Expr::Member { of, name } if self.scoping.bare_calls => {
                Some(self.select(file, self.value(file, around, *of), file.name(*name)))
            }
            Expr::Apply { of, args } if self.scoping.bare_calls => match self.callee(file, around, *of) {
                Value::TypeName(_) => None,
                other => Some(self.applied(file, around, other, args)),
            },
            _ if self.scoping.apart != Apart::All => None,
            Expr::Apply { of, args } => match self.callee(file, around, *of) {
                Value::Functions(all, with) => Some(self.applied(file, around, Value::Functions(all, with), args)),
                _ => None,
            },
            Expr::Member { of, name } => match self.implied_binding(file, *of) {
                Some(binding) => {
                    let found = self.receivers(file, binding).iter().find_map(|of| self.methods(of, file.name(*name)));
                    found.or_else(|| self.called_alone(file, around, file.name(*name)))
                }
                None => match self.value(file, around, *of) {
                    Value::Of(of) | Value::TypeName(of) => self.methods(&of, file.name(*name)),
                    _ => None,
                },
            },
            Expr::Name { name, seen: Seen::Nowhere } => self.called_alone(file, around, file.name(*name)),
            _ => None,
        };
        functions.unwrap_or_else(|| self.value(file, around, id))
    }

    /// What is called by a name that stands alone.
    fn called_alone(&self, file: &Rc<File>, around: Option<u32>, name: &str) -> Option<Value> {
        let place = Place { file: file.clone(), symbol: around };
        match self.look_up(&place, name, Want::Call) {
            Found::Symbols(targets) => Some(self.symbols_value(&targets)),
            Found::Members(levels) => Some(all_levels(&levels)),
            _ => None,
        }
    }

    /// The functions of that name that a type has; which of several levels is meant, the arguments tell.
    pub(super) fn methods(&self, of: &Type, name: &str) -> Option<Value> {
        let levels = self.members(of, name, Want::Call);
        (!levels.levels.is_empty()).then(|| all_levels(&levels))
    }

    /// The types of the arguments of a call.
    pub(super) fn given(&self, place: &Place, call: ExprId) -> Given {
        let around = self.class_of(&place.file, place.symbol);
        match place.file.facts().expr(call) {
            Expr::Call { args, .. } => self.given_args(&place.file, around, args),
            _ => Given::default(),
        }
    }

    fn given_args(&self, file: &Rc<File>, around: Option<u32>, args: &[ExprId]) -> Given {
        let types = self.types_of(file, around, args);
        let labels = args.iter().filter(|_| self.scoping.labels).map(|&arg| label(file, arg)).collect();
        Given { types, labels }
    }

    fn types_of(&self, file: &Rc<File>, around: Option<u32>, args: &[ExprId]) -> Vec<Type> {
        let one = |of: &ExprId| match self.value(file, around, *of) {
            Value::Functions(all, with) => match all.first().map(|first| self.symbol_type(*first)) {
                Some(Type::Func(of)) if all.len() == 1 => Type::Func(of).with(&with),
                _ => Type::Unknown,
            },
            value => value.into_type(),
        };
        args.iter().map(one).collect()
    }

    /// What a function gives for arguments of these types.
    pub(super) fn result(&self, of: &FuncType, with: &Arguments, given: &[Type]) -> Type {
        let result = of.result.with(with);
        if !result.names_any(&of.own) {
            return result;
        }
        result.with(&self.learned(of, with, given))
    }

    /// What the type parameters of a function are, by what it is given.
    fn learned(&self, of: &FuncType, with: &Arguments, given: &[Type]) -> Arguments {
        let mut learned = Arguments::new();
        for (n, argument) in given.iter().enumerate() {
            let last = of.params.len().saturating_sub(1);
            let place = place_of(of, n, given.len(), matches!(argument, Type::Closure { .. }));
            let Some(param) = of.params.get(place) else { break };
            let param = param.with(with).with(&learned);
            match &param {
                Type::List(each) if of.variadic && n >= last && !matches!(argument, Type::List(_)) => {
                    self.learn(each, argument, &of.own, &mut learned);
                }
                param => self.learn(param, argument, &of.own, &mut learned),
            }
        }
        // What could not be learned is some type, and not the function's own parameter.
        for own in &of.own {
            if !learned.iter().any(|(known, _)| known == own) {
                learned.push((*own, Type::Unknown));
            }
        }
        learned
    }

    pub(super) fn learn(&self, param: &Type, given: &Type, own: &[(VersionId, u32)], learned: &mut Arguments) {
        match (param, given) {
            (_, Type::Unknown | Type::Basic("null")) => {}
            (Type::Param(file, binding), given) if own.contains(&(*file, *binding)) => {
                let is_known = learned.iter().any(|(of, _)| *of == (*file, *binding));
                learned.extend((!is_known).then(|| ((*file, *binding), self.boxed(given))));
            }
            (Type::List(of), Type::List(given)) => self.learn(of, given, own, learned),
            (Type::Named(..) | Type::Func(_), Type::Closure { .. } | Type::Func(_)) => {
                let Some(wanted) = self.function_of(param).filter(|_| param.names_any(own)) else { return };
                let given = match given {
                    Type::Closure { file, around, back: Some(back), .. } => match self.file(*file) {
                        Some(file) => self.value(&file, *around, *back).into_type(),
                        None => Type::Unknown,
                    },
                    Type::Func(of) => of.result.clone(),
                    _ => Type::Unknown,
                };
                self.learn(&wanted.result, &given, own, learned);
            }
            (Type::Named(of, args), given) if !args.is_empty() => {
                if let Some(Type::Named(_, given)) = self.seen_as(given, *of) {
                    args.iter().zip(given.iter()).for_each(|(args, given)| self.learn(args, given, own, learned));
                }
            }
            _ => {}
        }
    }

    /// What a function wants for the argument that follows those given.
    fn wanted(&self, file: &Rc<File>, around: Option<u32>, callee: ExprId, arity: u32, given: &[ExprId]) -> Type {
        let (all, with) = match (file.facts().expr(callee), self.callee(file, around, callee)) {
            (Expr::New(of), _) => match self.type_at(file, around, *of) {
                Type::Named(of, args) => (self.made_by(of), Rc::new(self.arguments(of, &args))),
                _ => return Type::Unknown,
            },
            (_, Value::Functions(all, with)) => (all, with),
            (_, Value::Of(Type::Func(of))) => {
                let place = place_of(&of, given.len(), arity as usize, true);
                return of.params.get(place).cloned().unwrap_or(Type::Unknown);
            }
            (_, Value::TypeName(Type::Named(of, args))) if self.scoping.calls_make => {
                // An interface of one method is made from a function.
                let made = Type::Named(of, args.clone());
                if arity == 1 && self.made_by(of).is_empty() && self.function_of(&made).is_some() {
                    return made;
                }
                (self.made_by(of), Rc::new(self.arguments(of, &args)))
            }
            _ => return Type::Unknown,
        };
        let types = self.types_of(file, around, given);
        for &one in all.iter() {
            let Type::Func(of) = self.symbol_type(one) else { continue };
            let fits = super::overloads::takes(&of, arity as usize);
            let last = of.params.len().saturating_sub(1);
            let place = place_of(&of, given.len(), arity as usize, true);
            let Some(param) = of.params.get(place).filter(|_| fits) else { continue };
            let param = match param {
                Type::List(each) if of.variadic && given.len() >= last => each.as_ref(),
                param => param,
            };
            let param = param.with(&with).with(&self.learned(&of, &with, &types));
            if all.len() == 1 || self.function_of(&param).is_some() {
                return param;
            }
        }
        Type::Unknown
    }

    /// What makes values of a type: its constructors, and the declaration itself if that takes parameters.
    pub(super) fn made_by(&self, of: SymbolAt) -> Rc<[SymbolAt]> {
        let file = self.file(of.file);
        let own = file.as_ref().and_then(|file| Some(file.facts().expr(file.symbol(of.place)?.annotation?)));
        let own = matches!(own, Some(Expr::Func(_))).then_some(of);
        own.into_iter().chain(self.all_constructors(of)).collect()
    }

    /// What a loop over a value gives.
    pub(super) fn element(&self, of: &Type) -> Type {
        match of {
            Type::List(of) => of.as_ref().clone(),
            Type::External | Type::Unknown => of.clone(),
            of if self.scoping.operators => self.looped(of),
            of => match self.iterable().and_then(|iterable| self.seen_as(of, iterable)) {
                Some(Type::Named(_, args)) => args.first().cloned().unwrap_or(Type::Unknown),
                _ if self.is_open(of) => Type::External,
                _ => Type::Unknown,
            },
        }
    }

    /// The type of the value that a function is called on.
    pub(super) fn this(&self, file: &Rc<File>, around: Option<u32>) -> Type {
        let Some(place) = around else { return Type::Unknown };
        let at = SymbolAt { file: file.id(), place };
        match file.symbol(place) {
            Some(symbol) if is_type(symbol.kind) => {
                let own = file.type_params(place).iter().map(|&binding| Type::Param(file.id(), binding));
                Type::Named(at, own.collect())
            }
            // A function of a class without a name.
            Some(symbol) if symbol.owner.is_none() && symbol.kind != SymbolKind::Impl => {
                self.bases(at).first().cloned().unwrap_or(Type::Unknown)
            }
            Some(symbol) => {
                match symbol.owner.map(|owner| self.value(file, self.class_of(file, symbol.parent), owner).into_type())
                {
                    Some(of) => of,
                    None => Type::Unknown,
                }
            }
            None => Type::Unknown,
        }
    }

    /// The declared type of a symbol, or that of its value.
    pub(super) fn symbol_type(&self, at: SymbolAt) -> Type {
        self.symbol_types.answer(&self.course, at, Type::Unknown, || {
            let Some(file) = self.file(at.file) else { return Type::Unknown };
            let Some(symbol) = file.symbol(at.place) else { return Type::Unknown };
            // Another name for a type is seen from what is around it.
            let from = if is_type(symbol.kind) { symbol.parent } else { Some(at.place) };
            let around = self.class_of(&file, from);
            if self.is_own_type(&file, at.place) {
                return Type::named(at);
            }
            // A structure that is written out where it is used belongs to what it is used for.
            if let Some(of) = symbol.annotation.and_then(|of| unnamed(&file, of)) {
                return (0..of).fold(Type::named(at), |of, _| Type::list(of));
            }
            let declared = symbol.annotation.map_or(Type::Unknown, |of| match file.facts().expr(of) {
                Expr::Func(of) => {
                    let own = file.type_params(at.place).iter().map(|&binding| (at.file, binding)).collect();
                    let params = of.params.iter().map(|of| self.type_at(&file, around, *of)).collect();
                    let result = match (of.results.first(), symbol.value) {
                        (Some(of), _) => self.type_at(&file, around, *of),
                        (None, Some(value)) => self.value(&file, around, value).into_type(),
                        (None, None) => Type::Basic("void"),
                    };
                    let optional = optional(file.facts(), &of.params).max(self.optional(&file, at.place, of));
                    let optional = optional.max(of.optional as usize);
                    let (variadic, on_first) = (of.variadic, of.on_first);
                    Type::Func(Rc::new(FuncType { own, params, variadic, optional, on_first, result }))
                }
                _ => self.type_at(&file, around, of),
            });
            match symbol.value.filter(|_| !declared.is_known()) {
                Some(value) => self.value(&file, around, value).into_type(),
                None => declared,
            }
        })
    }

    /// Whether a value is a table that is written out for it, or that functions are put into.
    fn is_own_type(&self, file: &File, place: u32) -> bool {
        let Some(symbol) = file.symbol(place).filter(|of| of.value.is_some()) else { return false };
        // What a function gives back is another each time, unless it is a type.
        if symbol.kind == SymbolKind::Fn && !self.scoping.types_are_values {
            return false;
        }
        let is_table = symbol.value.is_some_and(|value| matches!(file.facts().expr(value), Expr::Inline(_)));
        let owns = |owner: ExprId| matches!(file.facts().expr(owner), Expr::Name { seen: Seen::Symbol(of), .. } if *of == place);
        is_table || file.facts().symbols.iter().filter_map(|of| of.owner).any(owns)
    }

    /// How many parameters of a function may be left out: those with a value.
    fn optional(&self, file: &File, place: u32, of: &FuncExpr) -> usize {
        let count = of.params.len() - usize::from(of.variadic && !of.params.is_empty());
        let own = file.params(place);
        // Those of closures in the function come behind its own, and the value that it is called on comes first.
        let takes_self = file.symbol(place).is_some_and(|of| of.flags.has(Flags::TAKES_SELF) && of.owner.is_some());
        let own = own.iter().skip(usize::from(takes_self)).take(count);
        let is_optional = |at: &&u32| file.binding(**at).is_some_and(|of| of.value.is_some());
        own.filter(is_optional).count()
    }

    fn binding_type(&self, file: &Rc<File>, at: u32) -> Type {
        self.binding_types.answer(&self.course, (file.id(), at), Type::Unknown, || {
            let Some(binding) = file.binding(at) else { return Type::Unknown };
            let around = self.class_of(file, binding.symbol);
            let declared = binding.annotation.map_or(Type::Unknown, |of| self.type_at(file, around, of));
            if declared.is_known() {
                return declared;
            }
            let Some(value) = binding.value else { return Type::Unknown };
            let value = self.value(file, around, value).into_type();
            match binding.part {
                // What may be left out says nothing of what is given.
                Part::Whole if binding.kind == BindingKind::Param && value == Type::Basic("null") => Type::Unknown,
                Part::Whole => value,
                Part::Element => self.element(&value),
                _ => Type::Unknown,
            }
        })
    }

    /// The type that an expression names.
    pub(super) fn type_at(&self, file: &Rc<File>, around: Option<u32>, id: ExprId) -> Type {
        let Some(_deeper) = self.course.deeper() else { return Type::Unknown };
        match file.facts().expr(id) {
            Expr::List(of) => Type::list(self.type_at(file, around, *of)),
            Expr::Part { of, part: Part::Field(_) } => self.type_at(file, around, *of),
            Expr::Func(of) => {
                let params = of.params.iter().map(|of| self.type_at(file, around, *of)).collect();
                let result = of.results.first().map_or(Type::Unknown, |of| self.type_at(file, around, *of));
                let optional = optional(file.facts(), &of.params).max(of.optional as usize);
                let (variadic, on_first, own) = (of.variadic, of.on_first, Vec::new());
                Type::Func(Rc::new(FuncType { own, params, variadic, optional, on_first, result }))
            }
            // A parameter that need not be given.
            Expr::Either(of) if of.len() == 1 => self.type_at(file, around, of[0]),
            Expr::Name { name, seen: Seen::Nowhere } => self.type_named(file, around, file.name(*name)),
            // Beside a type there may be a value of the same name.
            Expr::Apply { of, args } if self.scoping.objects => match self.type_at(file, around, *of) {
                Type::Named(symbol, _) => {
                    Type::Named(symbol, args.iter().map(|of| self.type_at(file, around, *of)).collect())
                }
                other => other,
            },
            Expr::Member { of, name } if self.scoping.objects => match self.value(file, around, *of) {
                Value::Of(of) | Value::TypeName(of) if of.is_known() && of != Type::External => {
                    match self.first_level(&self.members(&of, file.name(*name), Want::Type)) {
                        Value::TypeName(of) => of,
                        _ => Type::Unknown,
                    }
                }
                Value::Package(package) => {
                    let all = self.find_qualified(&self.joined(&package, file.name(*name)));
                    match all.iter().find(|at| self.fits(**at, Want::Type)) {
                        Some(&of) => match self.symbols_value(&[of]) {
                            Value::TypeName(of) => of,
                            _ => Type::Unknown,
                        },
                        None => Type::Unknown,
                    }
                }
                Value::Of(of) | Value::TypeName(of) => of,
                Value::Functions(..) => Type::Unknown,
            },
            // Of several types the first that has members says most.
            Expr::Either(all) => {
                let all = || all.iter().map(|of| self.type_at(file, around, *of));
                let is_plain = |of: &Type| matches!(of, Type::Unknown | Type::Basic(_));
                all().find(|of| !is_plain(of)).or_else(|| all().find(Type::is_known)).unwrap_or(Type::Unknown)
            }
            _ => self.as_type(self.value(file, around, id)),
        }
    }

    /// The type that stands where a type has to stand.
    fn as_type(&self, value: Value) -> Type {
        match value {
            Value::TypeName(of) => of,
            Value::Of(Type::External) => Type::External,
            Value::Of(of) if self.scoping.types_are_values => of,
            _ => Type::Unknown,
        }
    }

    /// The type of a name that stands where a type has to stand.
    fn type_named(&self, file: &Rc<File>, around: Option<u32>, name: &str) -> Type {
        if let Some(plain) = self.plain(name) {
            return Type::Basic(plain);
        }
        let place = Place { file: file.clone(), symbol: around };
        match self.look_up(&place, self.bare(name), Want::Made) {
            Found::Symbols(mut targets) => {
                // `struct a` and `a` are two names.
                let is_tag = name.contains(' ') || self.scoping.unit == Unit::Namespace;
                let is_meant = |at: &SymbolAt| (self.kind(*at) == Some(SymbolKind::Type)) != is_tag;
                if targets.iter().any(is_meant) {
                    targets.retain(is_meant);
                }
                self.as_type(self.symbols_value(&targets))
            }
            Found::Members(levels) => self.as_type(self.first_level(&levels)),
            Found::External | Found::Outside => Type::External,
            _ => Type::Unknown,
        }
    }
}

/// Of a structure without a name, or of lists of such, how many lists.
fn unnamed(file: &File, mut of: ExprId) -> Option<u32> {
    let mut lists = 0;
    loop {
        match file.facts().expr(of) {
            Expr::Inline(_) => return Some(lists),
            Expr::List(inner) => (of, lists) = (*inner, lists + 1),
            _ => return None,
        }
    }
}

/// How many of the last parameters need not be given.
fn optional(facts: &FileFacts, params: &[ExprId]) -> usize {
    params.iter().rev().take_while(|of| matches!(facts.expr(**of), Expr::Either(of) if of.len() == 1)).count()
}

/// Functions of several types, of which the arguments tell the one that is meant.
fn all_levels(levels: &Levels) -> Value {
    let with: Arguments = levels.levels.iter().flat_map(|(_, with)| with.iter().cloned()).collect();
    Value::Functions(levels.all().collect(), Rc::new(with))
}

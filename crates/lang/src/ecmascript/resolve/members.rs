//! Looks up members: those that a type declares itself or inherits.

use std::rc::Rc;

use codecompass_model::{Flags, Symbol, SymbolAt, SymbolKind};

use super::EcmaResolver;
use super::built_in::is_language_member;
use super::index::{Index, is_member};
use super::names::{NameTarget, Space};
use super::split;
use super::types::{Scope, Type, TypeText};

/// The result of a member lookup.
#[derive(Clone, Debug)]
pub(super) enum Member {
    /// Symbols, each with the arguments of its enclosing type parameters.
    Symbols(Vec<(SymbolAt, TypeArgs)>),
    /// No symbol, but a type: a member of a type of the language.
    Typed(Type),
    /// A member in the view without a symbol: of an inline object type, or of a record.
    Inline(Type),
    /// The type is external, or all objects have the member.
    External,
    /// The type is known, and declares no such member.
    Missing,
    /// The type is unknown.
    Unknown,
}

/// The type arguments of a receiver, by the name of the parameter.
pub(super) type TypeArgs = Rc<[(String, Type)]>;

/// Members that all functions have.
const FUNCTION_MEMBERS: &[&str] = &["apply", "bind", "call", "length", "name", "toString"];

/// The maximum number of base types to follow.
const MAX_BASES: usize = 16;

impl EcmaResolver<'_> {
    /// Returns the member of a type.
    pub(super) fn member(&self, of: &Type, name: &str) -> Member {
        match of {
            Type::Unknown => Member::Unknown,
            Type::External => Member::External,
            Type::ExternalResult if is_language_member(name) => Member::External,
            Type::ExternalResult => Member::Unknown,
            Type::Union(types) => self.member_of_each(types, name),
            Type::Module(file) => self.member_of_target(self.export(*file, name, Space::Value)),
            Type::Instance(symbol, arguments) => self.instance_member(*symbol, arguments, name, MAX_BASES),
            Type::Value(symbol) | Type::Bound(symbol, _) => self.value_member(*symbol, name),
            Type::Literal(file, around, line) => self.literal_member((*file, *around, *line), name),
            Type::Inline(written) => self.inline_member(written, name),
            Type::List(_) | Type::Dict(_) | Type::Promise(_) | Type::Tuple(_) if is_language_member(name) => {
                Member::Typed(Type::Method(Rc::new(of.clone()), Rc::from(name)))
            }
            // The keys of a record are its members.
            Type::Dict(value) => Member::Inline((**value).clone()),
            Type::List(_) | Type::Promise(_) | Type::Tuple(_) => Member::Unknown,
            Type::Method(..) if is_language_member(name) => Member::External,
            Type::Method(..) => Member::Unknown,
        }
    }

    fn member_of_each(&self, types: &[Type], name: &str) -> Member {
        let (mut symbols, mut typed, mut rest) = (Vec::new(), Vec::new(), Member::Missing);
        let mut is_inline = false;
        for one in types {
            match self.member(one, name) {
                Member::Symbols(found) => symbols.extend(found),
                Member::Typed(found) => typed.push(found),
                Member::Inline(found) => {
                    is_inline = true;
                    typed.push(found);
                }
                Member::Missing => {}
                other => rest = other,
            }
        }
        symbols.dedup_by_key(|(symbol, _)| *symbol);
        match () {
            () if !symbols.is_empty() => Member::Symbols(symbols),
            () if is_inline => Member::Inline(Type::union_of(typed)),
            () if !typed.is_empty() => Member::Typed(Type::union_of(typed)),
            () => rest,
        }
    }

    fn member_of_target(&self, target: NameTarget) -> Member {
        match target {
            NameTarget::Symbols(symbols) => Member::Symbols(symbols.into_iter().map(|at| (at, Rc::from([]))).collect()),
            NameTarget::Module(file) => Member::Typed(Type::Module(file)),
            NameTarget::External => Member::External,
            NameTarget::Local(..) | NameTarget::Unresolved => Member::Missing,
        }
    }

    /// Returns a member of an instance of a class or interface, or of the target of an alias.
    fn instance_member(&self, of: SymbolAt, arguments: &[Type], name: &str, bases: usize) -> Member {
        let Some(index) = self.index(of.file) else { return Member::Unknown };
        let (Some(symbol), Some(bases)) = (index.symbol(of.ordinal), bases.checked_sub(1)) else {
            return Member::Unknown;
        };
        let given = self.type_args_of(of, arguments);
        let mut found: Vec<(SymbolAt, TypeArgs)> = Vec::new();
        for part in self.merged(&index, of) {
            let Some(owner) = index.symbol(part.ordinal) else { continue };
            let own = members_of(&index, part.ordinal, owner, name, false);
            found.extend(own.into_iter().map(|place| (SymbolAt { file: of.file, ordinal: place }, given.clone())));
        }
        if !found.is_empty() {
            return Member::Symbols(found);
        }
        match symbol.kind {
            SymbolKind::Type => match self.alias_of(of, arguments) {
                Type::Instance(to, _) if to == of => Member::Unknown,
                aliased => self.query_stack.with_depth_limit(Member::Unknown, || self.member(&aliased, name)),
            },
            SymbolKind::Enum if is_language_member(name) => Member::External,
            _ => self.inherited(&index, of, &given, bases, name),
        }
    }

    /// Returns a member that a base class or interface declares.
    fn inherited(&self, index: &Index, of: SymbolAt, given: &TypeArgs, bases: usize, name: &str) -> Member {
        let mut result = Member::Missing;
        for part in self.merged(index, of) {
            for base in self.bases(index, part, given).iter() {
                let found = self.query_stack.with_depth_limit(Member::Unknown, || match base {
                    Type::Instance(symbol, arguments) => self.instance_member(*symbol, arguments, name, bases),
                    other => self.member(other, name),
                });
                match found {
                    Member::Symbols(_) | Member::Typed(_) | Member::Inline(_) => return found,
                    Member::Missing => {}
                    other => result = other,
                }
            }
        }
        result
    }

    /// Returns the base types that a class or interface names, as instances.
    pub(super) fn bases(&self, index: &Index, of: SymbolAt, given: &TypeArgs) -> Vec<Type> {
        let Some(symbol) = index.symbol(of.ordinal) else { return Vec::new() };
        let scope = self.scope_in(of, symbol, given);
        let header = header_after_name(index, symbol);
        let is_interface = symbol.kind == SymbolKind::Interface;
        let Some(at) = split::find(header, true, |rest| split::after_keyword(rest, "extends").is_some()) else {
            return Vec::new();
        };
        let list = &header[at + "extends".len()..];
        let end = split::find(list, true, |rest| rest.starts_with(" implements ")).unwrap_or(list.len());
        let list = list[..end].trim();
        if is_interface {
            return split::split_top_level(list, true, ",")
                .into_iter()
                .map(|base| self.type_from_text(base, &scope))
                .collect();
        }
        if list.contains('(') {
            return vec![self.instance_of(&self.value(list, &scope), &[])];
        }
        vec![match self.type_from_text(list, &scope) {
            // A base class is a value: a function in JavaScript, a module whose whole export is the class.
            Type::Unknown => self.instance_of(&self.value(list, &scope), &[]),
            found => found,
        }]
    }

    /// Returns the declarations that are merged with this one: interfaces, classes and namespaces of the same name.
    fn merged(&self, index: &Index, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(symbol) = index.symbol(of.ordinal) else { return vec![of] };
        if !matches!(symbol.kind, SymbolKind::Interface | SymbolKind::Class) {
            return vec![of];
        }
        let same = index.named(symbol.parent, &symbol.name).iter().filter(|&&place| {
            let kind = index.symbol(place).map(|symbol| symbol.kind);
            place == of.ordinal || kind == Some(SymbolKind::Interface)
        });
        same.map(|&place| SymbolAt { file: of.file, ordinal: place }).collect()
    }

    /// Returns a member of a symbol that is itself a value.
    fn value_member(&self, of: SymbolAt, name: &str) -> Member {
        if name == "prototype" {
            return Member::Typed(Type::Instance(of, Rc::from([])));
        }
        let found = self.static_members(of, name);
        if !found.is_empty() {
            return Member::Symbols(found.into_iter().map(|at| (at, Rc::from([]))).collect());
        }
        let Some(index) = self.index(of.file) else { return Member::Unknown };
        let kind = index.symbol(of.ordinal).map(|symbol| symbol.kind);
        let is_function = matches!(kind, Some(SymbolKind::Fn | SymbolKind::Method | SymbolKind::Class));
        if is_function && FUNCTION_MEMBERS.contains(&name) { Member::External } else { Member::Missing }
    }

    /// Returns the static members of a class, enum, namespace, function or object literal, and of its base classes.
    pub(super) fn static_members(&self, of: SymbolAt, name: &str) -> Vec<SymbolAt> {
        let (mut of, mut found) = (of, Vec::new());
        for _ in 0..MAX_BASES {
            let Some(index) = self.index(of.file) else { break };
            let Some(symbol) = index.symbol(of.ordinal) else { break };
            let same = index.named(symbol.parent, &symbol.name).iter();
            let parts = same.filter(|&&place| {
                let other = index.symbol(place).map(|symbol| symbol.kind);
                place == of.ordinal
                    || other == Some(SymbolKind::Namespace)
                    || other == Some(symbol.kind) && !is_scoped(symbol.kind)
            });
            for &part in parts {
                let Some(owner) = index.symbol(part) else { continue };
                let own = members_of(&index, part, owner, name, true);
                found.extend(own.into_iter().map(|place| SymbolAt { file: of.file, ordinal: place }));
            }
            if !found.is_empty() || symbol.kind != SymbolKind::Class {
                break;
            }
            match self.bases(&index, of, &Rc::from([])).first() {
                Some(Type::Instance(base, _)) if *base != of => of = *base,
                _ => break,
            }
        }
        found
    }

    /// Returns a function of an object literal that is the value of a local binding.
    fn literal_member(&self, (file, around, line): (u32, Option<u32>, u32), name: &str) -> Member {
        let Some(index) = self.index(file) else { return Member::Unknown };
        let fits = |&&place: &&u32| {
            index.symbol(place).is_some_and(|symbol| is_member(symbol.kind) && symbol.lines.start >= line)
        };
        let lines = index.lines(&*self.world);
        let indent = |line: u32| lines.indent(line);
        let found = index.named(around, name).iter().find(fits).copied().filter(|&place| {
            let start = index.symbol(place).map_or(0, |symbol| symbol.lines.start);
            start == line || (line + 1..=start).all(|at| indent(at).is_none_or(|found| Some(found) > indent(line)))
        });
        match found {
            Some(place) => Member::Symbols(vec![(SymbolAt { file, ordinal: place }, Rc::from([]))]),
            None => Member::Unknown,
        }
    }

    /// Returns a member of an inline object type.
    fn inline_member(&self, written: &TypeText, name: &str) -> Member {
        let Some((inside, _)) = split::group(&written.text).filter(|_| written.text.starts_with('{')) else {
            return if FUNCTION_MEMBERS.contains(&name) { Member::External } else { Member::Unknown };
        };
        for part in object_parts(inside) {
            let part = part.trim_start_matches("readonly ").trim();
            let (key, rest) = key_of(part);
            if key != name {
                continue;
            }
            let rest = rest.trim_start().trim_start_matches('?').trim_start();
            if let Some(declared) = rest.strip_prefix(':') {
                return Member::Inline(self.type_from_text(declared, &written.scope));
            }
            if rest.starts_with(['(', '<']) {
                let text = rest.replacen("):", ") =>", 1);
                return Member::Inline(Type::Inline(Rc::new(TypeText { text, scope: written.scope.clone() })));
            }
        }
        Member::Unknown
    }

    pub(super) fn kind(&self, of: SymbolAt) -> Option<SymbolKind> {
        self.index(of.file).and_then(|index| index.symbol(of.ordinal).map(|symbol| symbol.kind))
    }

    /// Returns the scope inside a symbol, with its type arguments.
    pub(super) fn scope_in(&self, of: SymbolAt, symbol: &Symbol, given: &TypeArgs) -> Scope {
        let mut scope = Scope::new(of.file, Some(of.ordinal), symbol.lines.start);
        scope.type_args = given.clone();
        scope
    }
}

/// Returns whether symbols of a kind are block-scoped: those of one name in different blocks are different.
fn is_scoped(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Const | SymbolKind::Var | SymbolKind::Fn | SymbolKind::Class)
}

/// Returns the members of a symbol by name: those inside it, and those attached to it by assignment.
fn members_of(index: &Index, place: u32, owner: &Symbol, name: &str, is_static: bool) -> Vec<u32> {
    let is_class = owner.kind == SymbolKind::Class;
    let is_function = matches!(owner.kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor);
    let fits = |&&place: &&u32| {
        index.symbol(place).is_some_and(|symbol| match () {
            () if is_class => is_member(symbol.kind) && symbol.flags.has(Flags::STATIC) == is_static,
            () if is_function => is_member(symbol.kind),
            () => true,
        })
    };
    let inside = index.named(Some(place), name).iter().filter(fits).copied();
    inside.chain(index.attached(owner, name).iter().copied()).collect()
}

/// Returns the part of a class or interface header after the name and type parameters.
pub(super) fn header_after_name<'i>(index: &'i Index, symbol: &Symbol) -> &'i str {
    let rest = index.header(symbol);
    match split::group(rest).filter(|_| rest.starts_with('<')) {
        Some((_, rest)) => rest,
        None => rest,
    }
}

/// Splits the members of an object type.
pub(super) fn object_parts(inside: &str) -> Vec<&str> {
    let lines = split::split_top_level(inside, true, ";");
    let parts = lines.into_iter().flat_map(|part| split::split_top_level(part, true, ","));
    parts
        .flat_map(|part| split::split_top_level(part, true, "\n"))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

fn key_of(part: &str) -> (&str, &str) {
    match part.chars().next() {
        Some(quote @ ('"' | '\'')) => part[1..].split_once(quote).unwrap_or(("", "")),
        _ => split::word(part),
    }
}

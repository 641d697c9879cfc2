//! Names in namespaces, each of which stands in many files: a file sees what it includes.
//!
//! What is declared in one file and defined in another is one thing. So all declarations are candidates while arguments are
//! compared, because only they say which parameters need not be given; then each steps back behind its definition.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{ExprId, Flags, Import, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, File, Place, is_type};
use super::members::Want;
use super::names::Found;
use super::scoping::Unit;
use super::types::Type;
use super::values::Value;

/// More namespaces are not looked through for a name.
const MAX_NAMESPACES: usize = 32;

/// An operator that gives what has an operator is followed so often.
const MAX_POINTERS: usize = 4;

/// Names that a namespace takes over from another.
#[derive(Debug)]
pub(super) struct Using {
    /// The namespace that takes them over, as a qualified name.
    inside: String,
    /// The one that has them.
    from: String,
    /// One name; none for all of them.
    name: Option<String>,
}

impl Engine<'_> {
    /// The files that a file sees, itself among them.
    fn visible(&self, file: &Rc<File>) -> Rc<HashSet<VersionId>> {
        self.visible.once(&file.id(), || {
            let included = self.included(file);
            Rc::new(included.iter().copied().chain([file.id()]).collect())
        })
    }

    /// A name that stands alone: in the namespaces around it, from the inside.
    pub(super) fn in_namespaces(&self, place: &Place, name: &str, want: Want) -> Option<Found> {
        for unit in self.namespaces_around(&place.file, place.symbol) {
            if let Some(found) = self.in_package(&place.file, &unit, name, want) {
                return Some(Found::Symbols(found));
            }
        }
        // Macros know no namespaces.
        let visible = self.visible(&place.file);
        let named = self.symbols_named(name);
        let is_seen = |at: &SymbolAt| visible.contains(&at.file) && self.kind(*at) == Some(SymbolKind::Macro);
        let macros: Vec<SymbolAt> = named.iter().copied().filter(|at| is_seen(at) && self.fits(*at, want)).collect();
        (!macros.is_empty()).then_some(Found::Symbols(macros))
    }

    /// The namespaces around a symbol, from the inside. A member that stands outside of its type sees those of the type.
    fn namespaces_around(&self, file: &Rc<File>, symbol: Option<u32>) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !all.iter().any(|known| known == name) {
                all.push(name.to_owned());
            }
        };
        for at in file.around(symbol) {
            let Some(symbol) = file.symbol(at) else { continue };
            if symbol.kind == SymbolKind::Namespace {
                add(&symbol.qualified_name);
            }
            let Some(owner) = symbol.owner else { continue };
            match self.value(file, self.class_of(file, symbol.parent), owner) {
                Value::Package(package) => {
                    let mut package: &str = &package;
                    while !package.is_empty() {
                        add(package);
                        package = package.rsplit_once(self.scoping.separator).map_or("", |(outer, _)| outer);
                    }
                }
                Value::TypeName(Type::Named(of, _)) => {
                    let Some(other) = self.file(of.file) else { continue };
                    let around = other.around(Some(of.place)).filter_map(|at| other.symbol(at));
                    around.filter(|of| of.kind == SymbolKind::Namespace).for_each(|of| add(&of.qualified_name));
                }
                _ => {}
            }
        }
        add("");
        all
    }

    /// What a package, or a namespace as a file sees it, has of a name; `None` for nothing.
    pub(super) fn in_package(&self, file: &Rc<File>, package: &str, name: &str, want: Want) -> Option<Vec<SymbolAt>> {
        if self.scoping.unit != Unit::Namespace {
            let found = self.find_qualified(&self.joined(package, name));
            return (!found.is_empty()).then(|| found.to_vec());
        }
        let mut open = vec![package.to_owned()];
        let mut next = 0;
        while let Some(unit) = open.get(next).cloned().filter(|_| next < MAX_NAMESPACES) {
            next += 1;
            let found = self.standing_in(file, &unit, name, want);
            if !found.is_empty() {
                return Some(found);
            }
            for using in self.usings(file).iter().filter(|using| using.inside == unit) {
                match &using.name {
                    Some(one) if one == name => {
                        let found = self.taken_over(file, using, want);
                        if !found.is_empty() {
                            return Some(found);
                        }
                    }
                    None if !open.contains(&using.from) => open.push(using.from.clone()),
                    _ => {}
                }
            }
        }
        None
    }

    /// One name that is taken over from a namespace or a type.
    fn taken_over(&self, file: &Rc<File>, using: &Using, want: Want) -> Vec<SymbolAt> {
        let Some(name) = &using.name else { return Vec::new() };
        let own = self.standing_in(file, &using.from, name, want);
        let of = self.find_qualified(&using.from).iter().copied().find(|at| self.kind(*at).is_some_and(is_type));
        match of {
            Some(of) if own.is_empty() => self.members(&Type::named(of), name, want).all().collect(),
            _ => own,
        }
    }

    /// What stands in a namespace itself, in files that a file sees.
    fn standing_in(&self, file: &Rc<File>, unit: &str, name: &str, want: Want) -> Vec<SymbolAt> {
        let whole = self.joined(unit, name);
        let named = self.symbols_named(name);
        let is_meant = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let Some(symbol) = file.symbol(at.place) else { return false };
            let around = || symbol.parent.and_then(|parent| file.symbol(parent));
            symbol.qualified_name == whole && self.fits(*at, want)
                || symbol.kind == SymbolKind::Variant
                    && self.fits(*at, want)
                    && around().is_some_and(|of| {
                        of.flags.has(Flags::EMBEDDED) && of.qualified_name == self.joined(unit, &of.name)
                    })
        };
        let all: Vec<SymbolAt> = named.iter().copied().filter(is_meant).collect();
        let visible = self.visible(file);
        let is_seen = |at: &SymbolAt| visible.contains(&at.file);
        let (seen, mut rest): (Vec<SymbolAt>, Vec<SymbolAt>) = all.into_iter().partition(is_seen);
        let is_namespace = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Namespace);
        if let Some(&first) = seen.first().or(rest.first()).filter(|at| is_namespace(at)) {
            return vec![first];
        }
        if seen.is_empty() && rest.iter().all(|at| self.library().has(at.file)) {
            return rest;
        }
        rest.retain(|at| !self.library().has(at.file) && !self.is_hidden(*at));
        if seen.is_empty() {
            // A name of a namespace that one file defines is meant, however that comes to be included.
            if rest.iter().any(|at| self.is_beside(*at, file)) {
                rest.retain(|at| self.is_beside(*at, file));
            }
            let mut files: Vec<VersionId> = self.defined(rest.clone()).iter().map(|at| at.file).collect();
            files.dedup();
            return if unit.is_empty() || files.len() > 1 { Vec::new() } else { rest };
        }
        seen
    }

    /// Whether no other file can mean a symbol.
    pub(super) fn is_hidden(&self, at: SymbolAt) -> bool {
        let flags = self.file(at.file).and_then(|file| file.symbol(at.place).map(|symbol| symbol.flags));
        flags.is_some_and(|flags| flags.has(Flags::FILE_ONLY))
    }

    /// What the files that a file sees take over.
    fn usings(&self, file: &Rc<File>) -> Rc<[Using]> {
        self.usings.once(&file.id(), || {
            let mut all = Vec::new();
            for id in self.included(file).iter().copied().chain([file.id()]) {
                let Some(one) = self.file(id) else { continue };
                for import in one.facts().imports.iter().filter(|import| !import.reexport) {
                    let around = import.symbol.and_then(|at| one.symbol(at)).map(|of| of.kind);
                    // What a function takes over is its own, and a type has it from what it is made from.
                    let is_shared = around.is_none_or(|kind| kind == SymbolKind::Namespace);
                    if is_shared || id == file.id() && !around.is_some_and(is_type) {
                        all.push(self.using(&one, import));
                    }
                }
            }
            all.into()
        })
    }

    /// What an import takes over: its path is looked for from the namespace it stands in outwards.
    fn using(&self, file: &Rc<File>, import: &Import) -> Using {
        let mut around = file.around(import.symbol).filter_map(|at| file.symbol(at));
        let inside = around.find(|of| of.kind == SymbolKind::Namespace).map_or("", |of| of.qualified_name.as_str());
        let mut unit = inside;
        let from = loop {
            let whole = self.joined(unit, &import.module);
            if unit.is_empty() || !self.find_qualified(&whole).is_empty() {
                break whole;
            }
            unit = unit.rsplit_once(self.scoping.separator).map_or("", |(outer, _)| outer);
        };
        Using { inside: inside.to_owned(), from, name: import.name.clone() }
    }

    /// Whom such an import means.
    pub(super) fn used(&self, file: &Rc<File>, import: &Import) -> Found {
        let using = self.using(file, import);
        let found = match &using.name {
            Some(_) => self.taken_over(file, &using, Want::Any),
            None => {
                let all = self.find_qualified(&using.from);
                let visible = self.visible(file);
                let seen = all.iter().find(|at| visible.contains(&at.file));
                seen.or(all.first()).copied().into_iter().collect()
            }
        };
        match found.as_slice() {
            [] if self.is_outside(&using.from) => Found::External,
            [] => Found::Nothing,
            _ => Found::Symbols(self.completed(found)),
        }
    }

    /// Whether a namespace is one of the library, or nowhere in the view.
    pub(super) fn is_outside(&self, package: &str) -> bool {
        if self.scoping.unit != Unit::Namespace || package.is_empty() {
            return false;
        }
        let first = package.split(self.scoping.separator).next().unwrap_or(package);
        let is_known = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Namespace);
        self.library().named(first).iter().any(is_known) || self.find_qualified(package).is_empty()
    }

    /// A namespace as a value; one that only has another name is that other.
    pub(super) fn namespace_value(&self, at: SymbolAt) -> Value {
        let Some(file) = self.file(at.file) else { return Value::Of(Type::Unknown) };
        let Some(symbol) = file.symbol(at.place) else { return Value::Of(Type::Unknown) };
        match symbol.annotation {
            Some(of) => self.value(&file, self.class_of(&file, symbol.parent), of),
            None => Value::Package(symbol.qualified_name.as_str().into()),
        }
    }

    /// The type that a member belongs to that stands outside of it, and the types around that.
    pub(super) fn around_owner(&self, file: &Rc<File>, at: u32) -> Vec<Type> {
        let of = self.this(file, Some(at));
        let mut all = vec![of.clone()];
        if let Type::Named(owner, _) = of
            && let Some(other) = self.file(owner.file)
        {
            let around = other.around(Some(owner.place)).skip(1);
            let types = around.filter(|&at| other.symbol(at).is_some_and(|symbol| is_type(symbol.kind)));
            all.extend(types.map(|place| Type::named(SymbolAt { file: owner.file, place })));
        }
        all
    }

    /// Whether a symbol declares a constructor, which nobody names.
    pub(super) fn is_made_by(&self, at: SymbolAt) -> bool {
        if self.scoping.unit != Unit::Namespace {
            return false;
        }
        let Some(file) = self.file(at.file) else { return false };
        let Some(symbol) = file.symbol(at.place).filter(|of| of.kind == SymbolKind::Prototype) else { return false };
        let around = symbol.parent.and_then(|parent| file.symbol(parent));
        around.is_some_and(|of| is_type(of.kind) && of.name == symbol.name)
    }

    /// The constructors of a type, declared in it and defined anywhere.
    pub(super) fn constructors_anywhere(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(of.file) else { return Vec::new() };
        let Some(name) = file.symbol(of.place).map(|symbol| symbol.name.as_str()) else { return Vec::new() };
        let own = file.named(Some(of.place), name).iter().map(|&place| SymbolAt { file: of.file, place });
        let is_one = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Constructor) || self.is_made_by(*at);
        let mut all: Vec<SymbolAt> = own.filter(is_one).collect();
        for &at in self.symbols_named(name).iter() {
            if self.kind(at) == Some(SymbolKind::Constructor) && !all.contains(&at) && self.owner(at) == Some(of) {
                all.push(at);
            }
        }
        all
    }

    /// The definitions of what was found, in the place of declarations of the same.
    pub(super) fn completed(&self, found: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if self.scoping.unit != Unit::Namespace || found.iter().all(|at| self.is_definition(*at)) {
            return found;
        }
        let mut all: Vec<SymbolAt> = Vec::new();
        for at in found {
            let defined = if self.is_definition(at) { Vec::new() } else { self.definitions(at) };
            for one in if defined.is_empty() { vec![at] } else { defined } {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        all
    }

    /// The definitions of what a symbol declares.
    fn definitions(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(declared.place) else { return Vec::new() };
        let of = symbol.parent.filter(|&at| file.symbol(at).is_some_and(|around| is_type(around.kind)));
        let of = of.map(|place| SymbolAt { file: declared.file, place });
        let is_one = |at: &SymbolAt| {
            let is_same = match of {
                Some(of) => self.owner(*at) == Some(of),
                None => {
                    let other = self.file(at.file);
                    let name = |other: &Rc<File>| other.symbol(at.place).map(|of| of.qualified_name.clone());
                    let is_seen = at.file == declared.file || !self.is_hidden(*at);
                    is_seen && other.as_ref().and_then(name).as_ref() == Some(&symbol.qualified_name)
                }
            };
            is_same && self.is_definition(*at) && self.kind(*at).is_some_and(|kind| !is_type(kind))
        };
        let all: Vec<SymbolAt> = self.symbols_named(&symbol.name).iter().copied().filter(is_one).collect();
        let own = self.symbol_type(declared);
        let exact: Vec<SymbolAt> = all.iter().copied().filter(|at| alike(&self.symbol_type(*at), &own)).collect();
        let is_beside = |at: &SymbolAt| self.is_beside(*at, &file);
        match exact.iter().any(is_beside) && of.is_none() {
            true => exact.into_iter().filter(is_beside).collect(),
            false => exact,
        }
    }

    /// Functions with what is written for their type parameters.
    pub(super) fn applied(&self, file: &Rc<File>, around: Option<u32>, of: Value, args: &[ExprId]) -> Value {
        let Value::Functions(all, with) = of else { return of };
        let given: Vec<Type> = args.iter().map(|of| self.type_at(file, around, *of)).collect();
        let mut with = with.as_ref().clone();
        for &at in all.iter() {
            with.extend(self.arguments(at, &given));
        }
        Value::Functions(all, Rc::new(with))
    }

    /// What a member gives that takes nothing, or of which only the result counts.
    fn given_by(&self, of: &Type, name: &str) -> Option<Type> {
        let levels = self.members(of, name, Want::Call);
        let (found, with) = levels.levels.first()?;
        match self.symbol_type(*found.first()?) {
            Type::Func(of) => Some(of.result.with(with)),
            _ => None,
        }
    }

    /// What a value points to that is no plain pointer.
    pub(super) fn pointed(&self, of: Type) -> Type {
        let mut of = of;
        for _ in 0..MAX_POINTERS {
            if !self.scoping.operators || !matches!(of, Type::Named(..)) {
                return of;
            }
            of = match (self.given_by(&of, "operator->"), self.given_by(&of, "operator*")) {
                (Some(Type::List(to)), _) => return to.as_ref().clone(),
                (Some(to), _) => to,
                (None, Some(to)) => return to,
                (None, None) => return of,
            };
        }
        of
    }

    /// What stands at a place of a value.
    pub(super) fn indexed(&self, of: &Type) -> Type {
        if let Type::Named(..) = of
            && self.scoping.operators
        {
            return self.given_by(of, "operator[]").unwrap_or_else(|| self.lost(of));
        }
        let levels = self.scoping.indexer.map(|name| self.members(of, name, Want::Value));
        match levels.filter(|levels| !levels.levels.is_empty()) {
            Some(levels) => self.first_level(&levels).into_type(),
            None => self.element(of),
        }
    }

    /// What a loop over a value gives that says where it begins.
    pub(super) fn looped(&self, of: &Type) -> Type {
        match self.given_by(of, "begin") {
            Some(Type::List(of)) => of.as_ref().clone(),
            Some(of) => self.given_by(&of, "operator*").unwrap_or_else(|| self.lost(&of)),
            None => self.lost(of),
        }
    }

    /// What a type gives that does not say so itself.
    fn lost(&self, of: &Type) -> Type {
        if self.is_open(of) { Type::External } else { Type::Unknown }
    }
}

/// Whether two types may be one, as written in two places.
fn alike(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Unknown | Type::External | Type::Param(..), _)
        | (_, Type::Unknown | Type::External | Type::Param(..)) => true,
        (Type::Named(one, _), Type::Named(other, _)) => one == other,
        (Type::List(one), Type::List(other)) => alike(one, other),
        (Type::Func(one), Type::Func(other)) => {
            one.params.len() == other.params.len() && one.params.iter().zip(&other.params).all(|(a, b)| alike(a, b))
        }
        (one, other) => one == other,
    }
}

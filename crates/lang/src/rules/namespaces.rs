//! Names in namespaces that extend over many files: a file sees the files it includes.
//!
//! A declaration in one file and its definition in another are one symbol to the reader. So all declarations are
//! candidates while arguments are matched, because only declarations state which parameters are optional; then the
//! definitions replace them.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{ExprId, Flags, Import, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, File, LookupSite, is_type};
use super::members::LookupKind;
use super::names::NameTarget;
use super::scope_policy::Unit;
use super::types::Type;
use super::values::Value;

/// The maximum number of namespaces to search for a name.
const MAX_NAMESPACES: usize = 32;

/// The maximum length of a chain of overloaded operators.
const MAX_OPERATOR_CHAIN: usize = 4;

/// Names that a namespace imports from another by `using`.
#[derive(Debug)]
pub(super) struct Using {
    /// The qualified name of the namespace that imports them.
    namespace: String,
    /// The namespace that declares them.
    from: String,
    /// The name; `None` for all names.
    name: Option<String>,
}

impl Engine<'_> {
    /// Returns the files that a file sees, including itself.
    fn visible(&self, file: &Rc<File>) -> Rc<HashSet<VersionId>> {
        self.visible.get_or_compute(&file.id(), || {
            let included = self.included(file);
            Rc::new(included.iter().copied().chain([file.id()]).collect())
        })
    }

    /// Looks up a bare name in the enclosing namespaces, from the inside.
    pub(super) fn in_namespaces(&self, place: &LookupSite, name: &str, want: LookupKind) -> Option<NameTarget> {
        for unit in self.enclosing_namespaces(&place.file, place.symbol) {
            if let Some(found) = self.in_package(&place.file, &unit, name, want) {
                return Some(NameTarget::Symbols(found));
            }
        }
        // Macros do not belong to namespaces.
        let visible = self.visible(&place.file);
        let named = self.symbols_named(name);
        let is_seen = |at: &SymbolAt| visible.contains(&at.file) && self.kind(*at) == Some(SymbolKind::Macro);
        let macros: Vec<SymbolAt> =
            named.iter().copied().filter(|at| is_seen(at) && self.matches_kind(*at, want)).collect();
        (!macros.is_empty()).then_some(NameTarget::Symbols(macros))
    }

    /// Returns the enclosing namespaces of a symbol, from the inside. An out-of-line member also sees those of its
    /// type.
    fn enclosing_namespaces(&self, file: &Rc<File>, symbol: Option<u32>) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !all.iter().any(|known| known == name) {
                all.push(name.to_owned());
            }
        };
        for at in file.ancestors(symbol) {
            let Some(symbol) = file.symbol(at) else { continue };
            if symbol.kind == SymbolKind::Namespace {
                add(&symbol.qualified_name);
            }
            let Some(owner) = symbol.owner else { continue };
            match self.value(file, self.enclosing_type(file, symbol.parent), owner) {
                Value::Package(package) => {
                    let mut package: &str = &package;
                    while !package.is_empty() {
                        add(package);
                        package = package.rsplit_once(self.policy.separator).map_or("", |(outer, _)| outer);
                    }
                }
                Value::TypeName(Type::Named(of, _)) => {
                    let Some(other) = self.file(of.file) else { continue };
                    let around = other.ancestors(Some(of.ordinal)).filter_map(|at| other.symbol(at));
                    around.filter(|of| of.kind == SymbolKind::Namespace).for_each(|of| add(&of.qualified_name));
                }
                _ => {}
            }
        }
        add("");
        all
    }

    /// Returns the symbols with a name in a package, or in a namespace as a file sees it; `None` if there are none.
    pub(super) fn in_package(
        &self,
        file: &Rc<File>,
        package: &str,
        name: &str,
        want: LookupKind,
    ) -> Option<Vec<SymbolAt>> {
        if self.policy.unit != Unit::Namespace {
            let found = self.find_qualified(&self.join_qualified(package, name));
            return (!found.is_empty()).then(|| found.to_vec());
        }
        let mut open = vec![package.to_owned()];
        let mut next = 0;
        while let Some(unit) = open.get(next).cloned().filter(|_| next < MAX_NAMESPACES) {
            next += 1;
            let found = self.declared_in_namespace(file, &unit, name, want);
            if !found.is_empty() {
                return Some(found);
            }
            for using in self.usings(file).iter().filter(|using| using.namespace == unit) {
                match &using.name {
                    Some(one) if one == name => {
                        let found = self.using_declaration_targets(file, using, want);
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

    /// Returns the targets of one name that is imported from a namespace or a type.
    fn using_declaration_targets(&self, file: &Rc<File>, using: &Using, want: LookupKind) -> Vec<SymbolAt> {
        let Some(name) = &using.name else { return Vec::new() };
        let own = self.declared_in_namespace(file, &using.from, name, want);
        let of = self.find_qualified(&using.from).iter().copied().find(|at| self.kind(*at).is_some_and(is_type));
        match of {
            Some(of) if own.is_empty() => self.members(&Type::named(of), name, want).all().collect(),
            _ => own,
        }
    }

    /// Returns the symbols declared in the namespace itself, in files that a file sees.
    fn declared_in_namespace(&self, file: &Rc<File>, unit: &str, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        let whole = self.join_qualified(unit, name);
        let named = self.symbols_named(name);
        let is_meant = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let Some(symbol) = file.symbol(at.ordinal) else { return false };
            let around = || symbol.parent.and_then(|parent| file.symbol(parent));
            symbol.qualified_name == whole && self.matches_kind(*at, want)
                || symbol.kind == SymbolKind::Variant
                    && self.matches_kind(*at, want)
                    && around().is_some_and(|of| {
                        of.flags.has(Flags::EMBEDDED) && of.qualified_name == self.join_qualified(unit, &of.name)
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
            // A name of a namespace that only one file defines resolves to it, however it comes to be included.
            if rest.iter().any(|at| self.is_in_same_folder(*at, file)) {
                rest.retain(|at| self.is_in_same_folder(*at, file));
            }
            let mut files: Vec<VersionId> = self.prefer_definitions(rest.clone()).iter().map(|at| at.file).collect();
            files.dedup();
            return if unit.is_empty() || files.len() > 1 { Vec::new() } else { rest };
        }
        seen
    }

    /// Returns whether a symbol is visible in its own file only.
    pub(super) fn is_hidden(&self, at: SymbolAt) -> bool {
        let flags = self.file(at.file).and_then(|file| file.symbol(at.ordinal).map(|symbol| symbol.flags));
        flags.is_some_and(|flags| flags.has(Flags::FILE_ONLY))
    }

    /// Returns the `using` declarations and directives of the files that a file sees.
    fn usings(&self, file: &Rc<File>) -> Rc<[Using]> {
        self.usings.get_or_compute(&file.id(), || {
            let mut all = Vec::new();
            for id in self.included(file).iter().copied().chain([file.id()]) {
                let Some(one) = self.file(id) else { continue };
                for import in one.facts().imports.iter().filter(|import| !import.reexport) {
                    let around = import.symbol.and_then(|at| one.symbol(at)).map(|of| of.kind);
                    // A `using` in a function is local to it, and a type gets those names from its base types.
                    let is_shared = around.is_none_or(|kind| kind == SymbolKind::Namespace);
                    if is_shared || id == file.id() && !around.is_some_and(is_type) {
                        all.push(self.using_of_import(&one, import));
                    }
                }
            }
            all.into()
        })
    }

    /// Returns the names of a `using` import: its path is looked up from its namespace outwards.
    fn using_of_import(&self, file: &Rc<File>, import: &Import) -> Using {
        let mut around = file.ancestors(import.symbol).filter_map(|at| file.symbol(at));
        let inside = around.find(|of| of.kind == SymbolKind::Namespace).map_or("", |of| of.qualified_name.as_str());
        let mut unit = inside;
        let from = loop {
            let whole = self.join_qualified(unit, &import.module);
            if unit.is_empty() || !self.find_qualified(&whole).is_empty() {
                break whole;
            }
            unit = unit.rsplit_once(self.policy.separator).map_or("", |(outer, _)| outer);
        };
        Using { namespace: inside.to_owned(), from, name: import.name.clone() }
    }

    /// Resolves a `using` import.
    pub(super) fn using_target(&self, file: &Rc<File>, import: &Import) -> NameTarget {
        let using = self.using_of_import(file, import);
        let found = match &using.name {
            Some(_) => self.using_declaration_targets(file, &using, LookupKind::Any),
            None => {
                let all = self.find_qualified(&using.from);
                let visible = self.visible(file);
                let seen = all.iter().find(|at| visible.contains(&at.file));
                seen.or(all.first()).copied().into_iter().collect()
            }
        };
        match found.as_slice() {
            [] if self.is_external_package(&using.from) => NameTarget::External,
            [] => NameTarget::Unresolved,
            _ => NameTarget::Symbols(self.with_definitions(found)),
        }
    }

    /// Returns whether a namespace belongs to the library, or does not occur in the view.
    pub(super) fn is_external_package(&self, package: &str) -> bool {
        if self.policy.unit != Unit::Namespace || package.is_empty() {
            return false;
        }
        let first = package.split(self.policy.separator).next().unwrap_or(package);
        let is_known = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Namespace);
        self.library().named(first).iter().any(is_known) || self.find_qualified(package).is_empty()
    }

    /// Returns a namespace as a value; an alias is replaced by its target.
    pub(super) fn namespace_value(&self, at: SymbolAt) -> Value {
        let Some(file) = self.file(at.file) else { return Value::Typed(Type::Unknown) };
        let Some(symbol) = file.symbol(at.ordinal) else { return Value::Typed(Type::Unknown) };
        match symbol.annotation {
            Some(of) => self.value(&file, self.enclosing_type(&file, symbol.parent), of),
            None => Value::Package(symbol.qualified_name.as_str().into()),
        }
    }

    /// Returns the owner type of an out-of-line member, and the types that enclose it.
    pub(super) fn enclosing_owner_types(&self, file: &Rc<File>, at: u32) -> Vec<Type> {
        let of = self.this_type(file, Some(at));
        let mut all = vec![of.clone()];
        if let Type::Named(owner, _) = of
            && let Some(other) = self.file(owner.file)
        {
            let around = other.ancestors(Some(owner.ordinal)).skip(1);
            let types = around.filter(|&at| other.symbol(at).is_some_and(|symbol| is_type(symbol.kind)));
            all.extend(types.map(|place| Type::named(SymbolAt { file: owner.file, ordinal: place })));
        }
        all
    }

    /// Returns whether a symbol declares a constructor, which code cannot name.
    pub(super) fn is_constructor_declaration(&self, at: SymbolAt) -> bool {
        if self.policy.unit != Unit::Namespace {
            return false;
        }
        let Some(file) = self.file(at.file) else { return false };
        let Some(symbol) = file.symbol(at.ordinal).filter(|of| of.kind == SymbolKind::Prototype) else { return false };
        let around = symbol.parent.and_then(|parent| file.symbol(parent));
        around.is_some_and(|of| is_type(of.kind) && of.name == symbol.name)
    }

    /// Returns the constructors of a type, declared in it or defined anywhere.
    pub(super) fn constructors_anywhere(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(of.file) else { return Vec::new() };
        let Some(name) = file.symbol(of.ordinal).map(|symbol| symbol.name.as_str()) else { return Vec::new() };
        let own = file.named(Some(of.ordinal), name).iter().map(|&place| SymbolAt { file: of.file, ordinal: place });
        let is_one =
            |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Constructor) || self.is_constructor_declaration(*at);
        let mut all: Vec<SymbolAt> = own.filter(is_one).collect();
        for &at in self.symbols_named(name).iter() {
            if self.kind(at) == Some(SymbolKind::Constructor) && !all.contains(&at) && self.find_owner(at) == Some(of) {
                all.push(at);
            }
        }
        all
    }

    /// Replaces declarations by their definitions.
    pub(super) fn with_definitions(&self, found: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if self.policy.unit != Unit::Namespace || found.iter().all(|at| self.is_definition(*at)) {
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

    /// Returns the definitions of a declared symbol.
    fn definitions(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(declared.ordinal) else { return Vec::new() };
        let of = symbol.parent.filter(|&at| file.symbol(at).is_some_and(|around| is_type(around.kind)));
        let of = of.map(|place| SymbolAt { file: declared.file, ordinal: place });
        let is_one = |at: &SymbolAt| {
            let is_same = match of {
                Some(of) => self.find_owner(*at) == Some(of),
                None => {
                    let other = self.file(at.file);
                    let name = |other: &Rc<File>| other.symbol(at.ordinal).map(|of| of.qualified_name.clone());
                    let is_seen = at.file == declared.file || !self.is_hidden(*at);
                    is_seen && other.as_ref().and_then(name).as_ref() == Some(&symbol.qualified_name)
                }
            };
            is_same && self.is_definition(*at) && self.kind(*at).is_some_and(|kind| !is_type(kind))
        };
        let all: Vec<SymbolAt> = self.symbols_named(&symbol.name).iter().copied().filter(is_one).collect();
        let own = self.symbol_type(declared);
        let exact: Vec<SymbolAt> =
            all.iter().copied().filter(|at| may_be_same_type(&self.symbol_type(*at), &own)).collect();
        let is_beside = |at: &SymbolAt| self.is_in_same_folder(*at, &file);
        match exact.iter().any(is_beside) && of.is_none() {
            true => exact.into_iter().filter(is_beside).collect(),
            false => exact,
        }
    }

    /// Returns functions with explicit arguments for their type parameters.
    pub(super) fn with_explicit_type_args(
        &self,
        file: &Rc<File>,
        around: Option<u32>,
        of: Value,
        args: &[ExprId],
    ) -> Value {
        let Value::Functions(all, with) = of else { return of };
        let given: Vec<Type> = args.iter().map(|of| self.type_at(file, around, *of)).collect();
        let mut with = with.as_ref().clone();
        for &at in all.iter() {
            with.extend(self.arguments(at, &given));
        }
        Value::Functions(all, Rc::new(with))
    }

    /// Returns the result type of a member without parameters, or of any member where only the result matters.
    fn member_result(&self, of: &Type, name: &str) -> Option<Type> {
        let levels = self.members(of, name, LookupKind::Call);
        let (found, with) = levels.sets.first()?;
        match self.symbol_type(*found.first()?) {
            Type::Func(of) => Some(of.result.with(with)),
            _ => None,
        }
    }

    /// Returns the type that a smart pointer dereferences to.
    pub(super) fn dereferenced(&self, of: Type) -> Type {
        let mut of = of;
        for _ in 0..MAX_OPERATOR_CHAIN {
            if !self.policy.operators || !matches!(of, Type::Named(..)) {
                return of;
            }
            of = match (self.member_result(&of, "operator->"), self.member_result(&of, "operator*")) {
                (Some(Type::List(to)), _) => return to.as_ref().clone(),
                (Some(to), _) => to,
                (None, Some(to)) => return to,
                (None, None) => return of,
            };
        }
        of
    }

    /// Returns the type of an indexed element.
    pub(super) fn indexed(&self, of: &Type) -> Type {
        if let Type::Named(..) = of
            && self.policy.operators
        {
            return self.member_result(of, "operator[]").unwrap_or_else(|| self.external_or_unknown(of));
        }
        let levels = self.policy.indexer.map(|name| self.members(of, name, LookupKind::Value));
        match levels.filter(|levels| !levels.sets.is_empty()) {
            Some(levels) => self.nearest_set_value(&levels).into_type(),
            None => self.element(of),
        }
    }

    /// Returns the element type of a loop over a value with a `begin` member.
    pub(super) fn loop_element(&self, of: &Type) -> Type {
        match self.member_result(of, "begin") {
            Some(Type::List(of)) => of.as_ref().clone(),
            Some(of) => self.member_result(&of, "operator*").unwrap_or_else(|| self.external_or_unknown(&of)),
            None => self.external_or_unknown(of),
        }
    }

    /// Returns the type of a result that the type itself does not declare: external if some of its bases are unknown.
    fn external_or_unknown(&self, of: &Type) -> Type {
        if self.has_unknown_bases(of) { Type::External } else { Type::Unknown }
    }
}

/// Returns whether two types from two declarations may be the same.
fn may_be_same_type(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Unknown | Type::External | Type::Param(..), _)
        | (_, Type::Unknown | Type::External | Type::Param(..)) => true,
        (Type::Named(one, _), Type::Named(other, _)) => one == other,
        (Type::List(one), Type::List(other)) => may_be_same_type(one, other),
        (Type::Func(one), Type::Func(other)) => {
            one.params.len() == other.params.len()
                && one.params.iter().zip(&other.params).all(|(a, b)| may_be_same_type(a, b))
        }
        (one, other) => one == other,
    }
}

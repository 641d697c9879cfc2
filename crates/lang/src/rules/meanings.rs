//! The resolution of names: bare, with a receiver or qualifier, and in imports.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Import, Meaning, RefShape, Reference, SymbolAt, SymbolKind};

use super::engine::{Engine, File, Place};
use super::members::{Levels, Side, Want};
use super::names::Found;
use super::overloads::{Given, takes};
use super::scoping::{Parts, Unit};
use super::types::Type;
use super::values::Value;

impl Engine<'_> {
    /// Resolves a bare name.
    pub(super) fn bare_name(&self, place: &Place, reference: &Reference, call: Option<ExprId>) -> Meaning {
        if reference.binding.is_some() && reference.qualifier.is_none() {
            return Meaning::Local;
        }
        let name = place.file.name(reference.name);
        if reference.shape == RefShape::Construct && is_own(name) {
            return self.own_constructor(place, matches!(name, "super" | "base" | "parent"), call);
        }
        let want = Want::of(reference.shape);
        let found = match self.look_up(place, name, want) {
            Found::Nothing | Found::Outside
                if reference.shape == RefShape::Decorator && !self.scoping.decorator_ending.is_empty() =>
            {
                self.look_up(place, &[name, self.scoping.decorator_ending].concat(), want)
            }
            found => found,
        };
        match found {
            Found::Symbols(targets) => self.chosen(place, targets, want, call, "in scope"),
            Found::Members(levels) => {
                let given = call.map(|call| self.given(place, call));
                let picked = self.taking(self.pick(&levels, given.as_ref(), want), given.as_ref(), want);
                if picked.is_empty() {
                    return match self.look_beyond(place, name, want) {
                        Found::Symbols(targets) => self.chosen(place, targets, want, call, "in scope"),
                        Found::External | Found::Outside => Meaning::External,
                        _ => Meaning::Unknown("no function of that name has this arity"),
                    };
                }
                let picked = self.completed(picked);
                self.proved(self.with_constructors(picked, want, given.as_ref()), "a member of an enclosing type")
            }
            Found::Guess(target) => Meaning::guessed(target, "the only one of that name"),
            Found::Module(files) => Meaning::Module(files),
            Found::Outside if self.scoping.known_packages => match self.package_at(place, name) {
                Some(package) => Meaning::Module(self.package_files(&package).to_vec()),
                None => Meaning::External,
            },
            Found::External | Found::Outside => Meaning::External,
            Found::Nothing if self.is_plain(name) => Meaning::External,
            Found::Nothing => Meaning::Unknown("no such name in scope"),
        }
    }

    /// Resolves a name with a receiver or qualifier.
    pub(super) fn qualified_name(
        &self,
        place: &Place,
        reference: &Reference,
        of: ExprId,
        call: Option<ExprId>,
    ) -> Meaning {
        let before = place.file.facts().expr(of);
        let name = match (before, place.file.name(reference.name)) {
            // `super` alone calls the method that the enclosing function overrides.
            (Expr::Super, "super") => self.function_around(place),
            (_, name) => name,
        };
        let want = Want::of(reference.shape);
        if let (Unit::Module, Expr::Module(module)) = (self.scoping.unit, before) {
            return self.behind_module(place, place.file.name(*module), name, want);
        }
        if let Some(module) = self.module_itself(&place.file, of, name, want) {
            return module;
        }
        let is_own = matches!(before, Expr::This | Expr::Super);
        match self.value(&place.file, self.class_of(&place.file, place.symbol), of) {
            Value::Package(package) => {
                if self.scoping.unit == Unit::Namespace {
                    let found = self.in_package(&place.file, &package, name, want);
                    return match found.or_else(|| self.in_package(&place.file, &package, name, Want::Any)) {
                        Some(found) => self.chosen(place, found, want, call, "in a package"),
                        None if self.is_outside(&package) => Meaning::External,
                        None if package.is_empty() && self.is_unheard(name, want) => Meaning::External,
                        None => Meaning::Unknown("no such name in the package"),
                    };
                }
                let whole = self.joined(&package, name);
                match &*self.main(self.find_qualified(&whole).to_vec()) {
                    [] if self.scoping.known_packages && !self.package_files(&whole).is_empty() => {
                        Meaning::Module(self.package_files(&whole).to_vec())
                    }
                    [] if package.is_empty() || self.scoping.open_world && self.is_unheard(name, want) => {
                        Meaning::External
                    }
                    [] if self.scoping.known_packages && !self.is_package(&package) => Meaning::External,
                    [] => Meaning::Unknown("no such name in the package"),
                    found => {
                        let fitting: Vec<SymbolAt> = found.iter().copied().filter(|&at| self.fits(at, want)).collect();
                        let found = if fitting.is_empty() { found.to_vec() } else { fitting };
                        self.chosen(place, found, want, call, "in a package")
                    }
                }
            }
            Value::TypeName(of) => match self.made_value(&of, name) {
                Some(made) => self.proved(made, "constructed value"),
                None => self.member_meaning(place, &of, name, Side::Type, want, call),
            },
            Value::Of(of) => {
                let side = if is_own { self.side_of(place) } else { Side::Value };
                self.member_meaning(place, &of, name, side, want, call)
            }
            Value::Functions(all, _) if all.first().is_some_and(|at| self.library().has(at.file)) => Meaning::External,
            Value::Functions(..) => Meaning::Unknown("a member of a function"),
        }
    }

    /// Resolves a module by its full name. The reference is the last segment of it, or an alias of all of it.
    pub(super) fn module_itself(&self, file: &File, of: ExprId, name: &str, want: Want) -> Option<Meaning> {
        let Expr::Module(whole) = file.facts().expr(of) else { return None };
        let whole = file.name(*whole);
        // A name that begins with a small letter is a member of the module.
        if whole.is_empty()
            || !name.starts_with(char::is_uppercase)
            || self.scoping.unit != Unit::Package
            || !matches!(want, Want::Type | Want::Made)
        {
            return None;
        }
        let found = self.find_qualified(whole).iter().copied().filter(|&at| self.fits(at, want)).collect::<Vec<_>>();
        Some(if found.is_empty() { Meaning::External } else { self.proved(found, "a module by its name") })
    }

    /// Keeps the functions with the arity of the call, if other arities are other functions. Drops functions without
    /// type parameters if the call has explicit type arguments.
    pub(super) fn taking(&self, mut targets: Vec<SymbolAt>, given: Option<&Given>, want: Want) -> Vec<SymbolAt> {
        let Some(given) = given.filter(|_| want == Want::Call) else { return targets };
        if self.scoping.told_types && given.told > 0 {
            let is_function = |at: SymbolAt| matches!(self.kind(at), Some(SymbolKind::Fn | SymbolKind::Method));
            targets.retain(|&at| !is_function(at) || self.type_arity(at) > 0);
        }
        if self.scoping.by_arity {
            targets.retain(|at| match self.symbol_type(*at) {
                Type::Func(of) => takes(&of, given.len()),
                _ => true,
            });
        }
        targets
    }

    /// Returns the name of the enclosing function.
    pub(super) fn function_around<'f>(&self, place: &'f Place) -> &'f str {
        let file = &place.file;
        let mut around = file.around(place.symbol).filter_map(|at| file.symbol(at));
        around.find(|of| matches!(of.kind, SymbolKind::Method | SymbolKind::Fn)).map_or("", |of| of.name.as_str())
    }

    pub(super) fn member_meaning(
        &self,
        place: &Place,
        of: &Type,
        name: &str,
        side: Side,
        want: Want,
        call: Option<ExprId>,
    ) -> Meaning {
        match of {
            // No symbol of the view has the name.
            Type::Unknown if self.scoping.open_world && self.is_unheard(name, want) => return Meaning::External,
            Type::Unknown => return Meaning::Unknown("the type of the receiver is not known"),
            Type::External | Type::Basic(_) => return Meaning::External,
            _ => {}
        }
        let look = |want: Want| self.on_side(self.members_as(of, name, want), side);
        let mut levels = self.seen_from(place, look(want));
        // A name that is not a variable may be a type, or a function passed as a value.
        for other in [Want::Type, Want::Call] {
            if levels.levels.is_empty() && want == Want::Value {
                levels = self.seen_from(place, look(other));
            }
        }
        let given = call.map(|call| self.given(place, call));
        let picked = self.taking(self.pick(&levels, given.as_ref(), want), given.as_ref(), want);
        match self.completed(picked) {
            picked if !picked.is_empty() => {
                self.proved(self.with_constructors(picked, want, given.as_ref()), "a member of the type")
            }
            _ if want == Want::Made && !self.named_constructors(of, name, given.as_ref()).is_empty() => {
                self.proved(self.named_constructors(of, name, given.as_ref()), "a constructor of the type")
            }
            _ if levels.outside || self.is_only_outside(of, name) => Meaning::External,
            _ if self.scoping.open_world && self.is_unheard(name, want) => Meaning::External,
            _ if levels.unknown => Meaning::Unknown("a base type is unknown"),
            _ => Meaning::Unknown("the type has no such member"),
        }
    }

    /// Returns whether a member can only be external: the type belongs to the library, and no extension in the view has
    /// this name.
    pub(super) fn is_only_outside(&self, of: &Type, name: &str) -> bool {
        let is_known = matches!(of, Type::Named(at, _) if self.library().has(at.file));
        let is_own = |at: &SymbolAt| !self.library().has(at.file);
        let is_seen = || !self.scoping.parts_in_scope && self.symbols_named(name).iter().any(is_own);
        is_known && self.scoping.parts == Parts::ByOwner && !is_seen()
    }

    /// Returns the members with a name. A called member that is not a function is a type that is constructed, or a
    /// field with a function.
    pub(super) fn members_as(&self, of: &Type, name: &str, want: Want) -> Rc<Levels> {
        let found = self.members(of, name, want);
        let is_call = want == Want::Call;
        let others = [(self.scoping.calls_make, Want::Made), (self.scoping.calls_fields, Want::Value)];
        let others = others.into_iter().filter(|(holds, _)| is_call && *holds && found.levels.is_empty());
        let others = others.map(|(_, want)| self.members(of, name, want));
        others.into_iter().find(|levels| !levels.levels.is_empty()).unwrap_or(found)
    }

    /// Keeps the symbols that match the arguments of a call.
    pub(super) fn chosen(
        &self,
        place: &Place,
        targets: Vec<SymbolAt>,
        want: Want,
        call: Option<ExprId>,
        why: &'static str,
    ) -> Meaning {
        let given = call.map(|call| self.given(place, call));
        let targets = self.with_arity(targets, call.map_or(0, |call| self.type_arguments(place, call)));
        let targets = match (&given, want) {
            (Some(given), Want::Call) => self.overloads(&targets, given),
            _ => targets,
        };
        let targets = self.taking(targets, given.as_ref(), want);
        if targets.is_empty() {
            return Meaning::Unknown("no function of that name has this arity");
        }
        let targets = self.completed(targets);
        self.proved(self.with_constructors(targets, want, given.as_ref()), why)
    }

    /// Returns the number of type arguments of a type where it is named.
    pub(super) fn type_arguments(&self, place: &Place, mut of: ExprId) -> usize {
        let facts = place.file.facts();
        if let Expr::Call { callee, .. } = facts.expr(of)
            && let Expr::New(made) = facts.expr(*callee)
        {
            of = *made;
        }
        if let Expr::Apply { args, .. } = facts.expr(of) { args.len() } else { 0 }
    }

    /// Resolves an import.
    pub(super) fn import_meaning(&self, file: &Rc<File>, import: &Import) -> Meaning {
        match self.imported(file, import) {
            Found::Symbols(targets) => self.proved(targets, "imported"),
            Found::Guess(target) => Meaning::guessed(target, "imported"),
            Found::Module(files) => Meaning::Module(files),
            Found::Members(levels) => self.proved(levels.all().collect(), "imported"),
            Found::External | Found::Outside => Meaning::External,
            Found::Nothing => Meaning::Unknown("no symbol has the imported name"),
        }
    }

    /// Resolves a name in an import or in a package clause.
    pub(super) fn in_import(&self, file: &Rc<File>, reference: &Reference) -> Meaning {
        use crate::resolve::imports::{Part, part};
        if self.scoping.unit == Unit::Module {
            return self.in_module_import(file, reference);
        }
        let imports = &file.facts().imports;
        let near = part(file.facts(), reference).filter(|part| {
            let (Part::Whole(at) | Part::Path(at, _)) = part;
            imports.get(*at as usize).is_some_and(|import| import.line.abs_diff(reference.line) < 2)
        });
        match near {
            Some(Part::Whole(at)) => self.import_meaning(file, &imports[at as usize]),
            Some(Part::Path(at, count)) => {
                let path =
                    crate::resolve::imports::segments(&imports[at as usize])[..count].join(self.scoping.separator);
                match &*self.find_qualified(&path) {
                    [] if self.scoping.known_packages && !self.package_files(&path).is_empty() => {
                        Meaning::Module(self.package_files(&path).to_vec())
                    }
                    [] => Meaning::External,
                    found => self.proved(found.to_vec(), "in the path of an import"),
                }
            }
            None => Meaning::External,
        }
    }
}

/// Returns whether a name refers to the enclosing class or its base type.
fn is_own(name: &str) -> bool {
    matches!(name, "this" | "super" | "base" | "self" | "static" | "parent")
}

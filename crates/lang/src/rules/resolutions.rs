//! The resolution of names: bare, with a receiver or qualifier, and in imports.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Import, RefShape, Reference, Resolution, SymbolAt, SymbolKind};

use super::engine::{Engine, File, LookupSite};
use super::members::{LookupKind, MemberAccess, MemberSets};
use super::names::NameTarget;
use super::overloads::{CallArgs, accepts_arity};
use super::scope_policy::{OutOfLineMembers, Unit};
use super::types::Type;
use super::values::Value;

impl Engine<'_> {
    /// Resolves a bare name.
    pub(super) fn bare_name(&self, place: &LookupSite, reference: &Reference, call: Option<ExprId>) -> Resolution {
        if reference.binding.is_some() && reference.qualifier.is_none() {
            return Resolution::Local;
        }
        let name = place.file.name(reference.name);
        if reference.shape == RefShape::Construct && is_self_name(name) {
            return self.constructor_call_resolution(place, matches!(name, "super" | "base" | "parent"), call);
        }
        let want = LookupKind::from_shape(reference.shape);
        let found = match self.look_up(place, name, want) {
            NameTarget::Unresolved | NameTarget::MaybeExternal
                if reference.shape == RefShape::Decorator && !self.policy.decorator_ending.is_empty() =>
            {
                self.look_up(place, &[name, self.policy.decorator_ending].concat(), want)
            }
            found => found,
        };
        match found {
            NameTarget::Symbols(targets) => self.select_overloads(place, targets, want, call, "in scope"),
            NameTarget::Members(levels) => {
                let given = call.map(|call| self.call_args(place, call));
                let picked =
                    self.filter_by_arity(self.pick_members(&levels, given.as_ref(), want), given.as_ref(), want);
                if picked.is_empty() {
                    return match self.look_up_outer(place, name, want) {
                        NameTarget::Symbols(targets) => self.select_overloads(place, targets, want, call, "in scope"),
                        NameTarget::External | NameTarget::MaybeExternal => Resolution::External,
                        _ => Resolution::Unknown("no function of that name has this arity"),
                    };
                }
                let picked = self.with_definitions(picked);
                self.symbols_resolution(
                    self.with_constructors(picked, want, given.as_ref()),
                    "a member of an enclosing type",
                )
            }
            NameTarget::Guess(target) => Resolution::heuristic(target, "the only one of that name"),
            NameTarget::Module(files) => Resolution::Module(files),
            NameTarget::MaybeExternal if self.policy.packages_must_exist => match self.package_at(place, name) {
                Some(package) => Resolution::Module(self.package_files(&package).to_vec()),
                None => Resolution::External,
            },
            NameTarget::External | NameTarget::MaybeExternal => Resolution::External,
            NameTarget::Unresolved if self.is_basic_type(name) => Resolution::External,
            NameTarget::Unresolved => Resolution::Unknown("no such name in scope"),
        }
    }

    /// Resolves a name with a receiver or qualifier.
    pub(super) fn qualified_name(
        &self,
        place: &LookupSite,
        reference: &Reference,
        of: ExprId,
        call: Option<ExprId>,
    ) -> Resolution {
        let before = place.file.facts().expr(of);
        let name = match (before, place.file.name(reference.name)) {
            // `super` alone calls the method that the enclosing function overrides.
            (Expr::Super, "super") => self.enclosing_function_name(place),
            (_, name) => name,
        };
        let want = LookupKind::from_shape(reference.shape);
        if let (Unit::Module, Expr::Module(module)) = (self.policy.unit, before) {
            return self.module_member_resolution(place, place.file.name(*module), name, want);
        }
        if let Some(module) = self.module_resolution(&place.file, of, name, want) {
            return module;
        }
        let is_own = matches!(before, Expr::This | Expr::Super);
        match self.value(&place.file, self.enclosing_type(&place.file, place.symbol), of) {
            Value::Package(package) => {
                if self.policy.unit == Unit::Namespace {
                    let found = self.in_package(&place.file, &package, name, want);
                    return match found.or_else(|| self.in_package(&place.file, &package, name, LookupKind::Any)) {
                        Some(found) => self.select_overloads(place, found, want, call, "in a package"),
                        None if self.is_external_package(&package) => Resolution::External,
                        None if package.is_empty() && self.is_undefined(name, want) => Resolution::External,
                        None => Resolution::Unknown("no such name in the package"),
                    };
                }
                let whole = self.join_qualified(&package, name);
                match &*self.main_declaration(self.find_qualified(&whole).to_vec()) {
                    [] if self.policy.packages_must_exist && !self.package_files(&whole).is_empty() => {
                        Resolution::Module(self.package_files(&whole).to_vec())
                    }
                    [] if package.is_empty()
                        || self.policy.unknown_names_are_external && self.is_undefined(name, want) =>
                    {
                        Resolution::External
                    }
                    [] if self.policy.packages_must_exist && !self.is_package(&package) => Resolution::External,
                    [] => Resolution::Unknown("no such name in the package"),
                    found => {
                        let fitting: Vec<SymbolAt> =
                            found.iter().copied().filter(|&at| self.matches_kind(at, want)).collect();
                        let found = if fitting.is_empty() { found.to_vec() } else { fitting };
                        self.select_overloads(place, found, want, call, "in a package")
                    }
                }
            }
            Value::TypeName(of) => match self.factory_targets(&of, name) {
                Some(made) => self.symbols_resolution(made, "constructed value"),
                None => self.member_resolution(place, &of, name, MemberAccess::Static, want, call),
            },
            Value::Typed(of) => {
                let side = if is_own { self.access_from(place) } else { MemberAccess::Instance };
                self.member_resolution(place, &of, name, side, want, call)
            }
            Value::Functions(all, _) if all.first().is_some_and(|at| self.library().has(at.file)) => {
                Resolution::External
            }
            Value::Functions(..) => Resolution::Unknown("a member of a function"),
        }
    }

    /// Resolves a module by its full name. The reference is the last segment of it, or an alias of all of it.
    pub(super) fn module_resolution(
        &self,
        file: &File,
        of: ExprId,
        name: &str,
        want: LookupKind,
    ) -> Option<Resolution> {
        let Expr::Module(whole) = file.facts().expr(of) else { return None };
        let whole = file.name(*whole);
        // A name that begins with a small letter is a member of the module.
        if whole.is_empty()
            || !name.starts_with(char::is_uppercase)
            || self.policy.unit != Unit::Package
            || !matches!(want, LookupKind::Type | LookupKind::Construct)
        {
            return None;
        }
        let found =
            self.find_qualified(whole).iter().copied().filter(|&at| self.matches_kind(at, want)).collect::<Vec<_>>();
        Some(if found.is_empty() {
            Resolution::External
        } else {
            self.symbols_resolution(found, "a module by its name")
        })
    }

    /// Keeps the functions with the arity of the call, if other arities are other functions. Drops functions without
    /// type parameters if the call has explicit type arguments.
    pub(super) fn filter_by_arity(
        &self,
        mut targets: Vec<SymbolAt>,
        given: Option<&CallArgs>,
        want: LookupKind,
    ) -> Vec<SymbolAt> {
        let Some(given) = given.filter(|_| want == LookupKind::Call) else { return targets };
        if self.policy.explicit_type_args_need_params && given.explicit_type_args > 0 {
            let is_function = |at: SymbolAt| matches!(self.kind(at), Some(SymbolKind::Fn | SymbolKind::Method));
            targets.retain(|&at| !is_function(at) || self.type_arity(at) > 0);
        }
        if self.policy.arity_distinguishes {
            targets.retain(|at| match self.symbol_type(*at) {
                Type::Func(of) => accepts_arity(&of, given.len()),
                _ => true,
            });
        }
        targets
    }

    /// Returns the name of the enclosing function.
    pub(super) fn enclosing_function_name<'f>(&self, place: &'f LookupSite) -> &'f str {
        let file = &place.file;
        let mut around = file.ancestors(place.symbol).filter_map(|at| file.symbol(at));
        around.find(|of| matches!(of.kind, SymbolKind::Method | SymbolKind::Fn)).map_or("", |of| of.name.as_str())
    }

    pub(super) fn member_resolution(
        &self,
        place: &LookupSite,
        of: &Type,
        name: &str,
        side: MemberAccess,
        want: LookupKind,
        call: Option<ExprId>,
    ) -> Resolution {
        match of {
            // No symbol of the view has the name.
            Type::Unknown if self.policy.unknown_names_are_external && self.is_undefined(name, want) => {
                return Resolution::External;
            }
            Type::Unknown => return Resolution::Unknown("the type of the receiver is unknown"),
            Type::External | Type::Basic(_) => return Resolution::External,
            _ => {}
        }
        let look = |want: LookupKind| self.filter_by_access(self.members_as(of, name, want), side);
        let mut levels = self.visible_from(place, look(want));
        // A name that is not a variable may be a type, or a function passed as a value.
        for other in [LookupKind::Type, LookupKind::Call] {
            if levels.sets.is_empty() && want == LookupKind::Value {
                levels = self.visible_from(place, look(other));
            }
        }
        let given = call.map(|call| self.call_args(place, call));
        let picked = self.filter_by_arity(self.pick_members(&levels, given.as_ref(), want), given.as_ref(), want);
        match self.with_definitions(picked) {
            picked if !picked.is_empty() => {
                self.symbols_resolution(self.with_constructors(picked, want, given.as_ref()), "a member of the type")
            }
            _ if want == LookupKind::Construct && !self.named_constructors(of, name, given.as_ref()).is_empty() => {
                self.symbols_resolution(self.named_constructors(of, name, given.as_ref()), "a constructor of the type")
            }
            _ if levels.external || self.is_external_member(of, name) => Resolution::External,
            _ if self.policy.unknown_names_are_external && self.is_undefined(name, want) => Resolution::External,
            _ if levels.unknown => Resolution::Unknown("a base type is unknown"),
            _ => Resolution::Unknown("the type has no such member"),
        }
    }

    /// Returns whether a member can only be external: the type belongs to the library, and no extension in the view has
    /// this name.
    pub(super) fn is_external_member(&self, of: &Type, name: &str) -> bool {
        let is_known = matches!(of, Type::Named(at, _) if self.library().has(at.file));
        let is_own = |at: &SymbolAt| !self.library().has(at.file);
        let is_seen = || !self.policy.extensions_need_scope && self.symbols_named(name).iter().any(is_own);
        is_known && self.policy.out_of_line == OutOfLineMembers::ByOwner && !is_seen()
    }

    /// Returns the members with a name. A called member that is not a function is a type that is constructed, or a
    /// field with a function.
    pub(super) fn members_as(&self, of: &Type, name: &str, want: LookupKind) -> Rc<MemberSets> {
        let found = self.members(of, name, want);
        let is_call = want == LookupKind::Call;
        let others =
            [(self.policy.calls_construct, LookupKind::Construct), (self.policy.calls_fields, LookupKind::Value)];
        let others = others.into_iter().filter(|(holds, _)| is_call && *holds && found.sets.is_empty());
        let others = others.map(|(_, want)| self.members(of, name, want));
        others.into_iter().find(|levels| !levels.sets.is_empty()).unwrap_or(found)
    }

    /// Keeps the symbols that match the arguments of a call.
    pub(super) fn select_overloads(
        &self,
        place: &LookupSite,
        targets: Vec<SymbolAt>,
        want: LookupKind,
        call: Option<ExprId>,
        why: &'static str,
    ) -> Resolution {
        let given = call.map(|call| self.call_args(place, call));
        let targets = self.with_arity(targets, call.map_or(0, |call| self.type_arguments(place, call)));
        let targets = match (&given, want) {
            (Some(given), LookupKind::Call) => self.overloads(&targets, given),
            _ => targets,
        };
        let targets = self.filter_by_arity(targets, given.as_ref(), want);
        if targets.is_empty() {
            return Resolution::Unknown("no function of that name has this arity");
        }
        let targets = self.with_definitions(targets);
        self.symbols_resolution(self.with_constructors(targets, want, given.as_ref()), why)
    }

    /// Returns the number of type arguments of a type where it is named.
    pub(super) fn type_arguments(&self, place: &LookupSite, mut of: ExprId) -> usize {
        let facts = place.file.facts();
        if let Expr::Call { callee, .. } = facts.expr(of)
            && let Expr::New(made) = facts.expr(*callee)
        {
            of = *made;
        }
        if let Expr::Apply { args, .. } = facts.expr(of) { args.len() } else { 0 }
    }

    /// Resolves an import.
    pub(super) fn import_resolution(&self, file: &Rc<File>, import: &Import) -> Resolution {
        match self.imported(file, import) {
            NameTarget::Symbols(targets) => self.symbols_resolution(targets, "imported"),
            NameTarget::Guess(target) => Resolution::heuristic(target, "imported"),
            NameTarget::Module(files) => Resolution::Module(files),
            NameTarget::Members(levels) => self.symbols_resolution(levels.all().collect(), "imported"),
            NameTarget::External | NameTarget::MaybeExternal => Resolution::External,
            NameTarget::Unresolved => Resolution::Unknown("no symbol has the imported name"),
        }
    }

    /// Resolves a name in an import or in a package clause.
    pub(super) fn import_name_resolution(&self, file: &Rc<File>, reference: &Reference) -> Resolution {
        use crate::resolve::imports::{ImportName, import_name_at};
        if self.policy.unit == Unit::Module {
            return self.module_import_name_resolution(file, reference);
        }
        let imports = &file.facts().imports;
        let near = import_name_at(file.facts(), reference).filter(|part| {
            let (ImportName::Imported(at) | ImportName::PathSegment(at, _)) = part;
            imports.get(*at as usize).is_some_and(|import| import.line.abs_diff(reference.line) < 2)
        });
        match near {
            Some(ImportName::Imported(at)) => self.import_resolution(file, &imports[at as usize]),
            Some(ImportName::PathSegment(at, count)) => {
                let path =
                    crate::resolve::imports::segments(&imports[at as usize])[..count].join(self.policy.separator);
                match &*self.find_qualified(&path) {
                    [] if self.policy.packages_must_exist && !self.package_files(&path).is_empty() => {
                        Resolution::Module(self.package_files(&path).to_vec())
                    }
                    [] => Resolution::External,
                    found => self.symbols_resolution(found.to_vec(), "in the path of an import"),
                }
            }
            None => Resolution::External,
        }
    }
}

/// Returns whether a name refers to the enclosing class or its base type.
fn is_self_name(name: &str) -> bool {
    matches!(name, "this" | "super" | "base" | "self" | "static" | "parent")
}

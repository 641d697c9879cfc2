//! Resolves bare names.

use std::rc::Rc;

use codecompass_model::{Flags, Import, ImportForm, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, File, LookupSite, is_type};
use super::members::{LookupKind, MemberAccess, MemberSets};
use super::scope_policy::{LookupStep, Namespaces, OuterUnits, Unit};
use super::types::Type;

/// The maximum number of modules to follow that use each other.
const MAX_USED_MODULES: usize = 16;

/// The target of a name.
pub(super) enum NameTarget {
    Symbols(Vec<SymbolAt>),
    /// Members of the enclosing types.
    Members(Rc<MemberSets>),
    /// The only candidate, without evidence.
    Guess(SymbolAt),
    Module(Vec<VersionId>),
    External,
    /// Not in the view; an external symbol may have the name.
    MaybeExternal,
    Unresolved,
}

impl NameTarget {
    fn from_symbols(symbols: Vec<SymbolAt>) -> Option<Self> {
        if symbols.is_empty() { None } else { Some(NameTarget::Symbols(symbols)) }
    }
}

impl Engine<'_> {
    /// Looks up a name at a site. If variables, functions and types may share a name, a name that is not a variable may
    /// be a type.
    pub(super) fn look_up(&self, place: &LookupSite, name: &str, want: LookupKind) -> NameTarget {
        match self.look_up_inner(place, name, want) {
            NameTarget::Unresolved | NameTarget::MaybeExternal
                if want == LookupKind::Call && self.policy.calls_construct =>
            {
                match self.look_up_inner(place, name, LookupKind::Construct) {
                    NameTarget::Unresolved | NameTarget::MaybeExternal if self.policy.calls_fields => {
                        self.look_up_inner(place, name, LookupKind::Value)
                    }
                    found => found,
                }
            }
            NameTarget::Unresolved | NameTarget::MaybeExternal | NameTarget::External
                if want == LookupKind::Value && self.policy.namespaces != Namespaces::Shared =>
            {
                self.look_up_inner(place, name, LookupKind::Type)
            }
            found => found,
        }
    }

    fn look_up_inner(&self, place: &LookupSite, name: &str, want: LookupKind) -> NameTarget {
        if let Some(whole) = self.absolute(name) {
            let found = self.find_qualified(whole);
            let found = found.iter().copied().filter(|&at| self.matches_kind(at, want)).collect();
            return NameTarget::from_symbols(found).unwrap_or(NameTarget::External);
        }
        self.look_up_in_order(self.policy.lookup_order, place, name, want)
    }

    /// Looks up a name at outer steps, for a call with an arity that no enclosing declaration has.
    pub(super) fn look_up_outer(&self, place: &LookupSite, name: &str, want: LookupKind) -> NameTarget {
        let near = self.policy.lookup_order.iter().take_while(|look| **look == LookupStep::Enclosing).count();
        self.look_up_in_order(&self.policy.lookup_order[near..], place, name, want)
    }

    fn look_up_in_order(&self, order: &[LookupStep], place: &LookupSite, name: &str, want: LookupKind) -> NameTarget {
        let mut outside = self.policy.unknown_names_are_external
            || self.policy.unknown_calls_are_external && want == LookupKind::Call;
        for look in order {
            let found = match look {
                LookupStep::Enclosing => self.in_enclosing_symbols(place, name, want, &mut outside),
                LookupStep::File => self.in_file(&place.file, name, want),
                LookupStep::Import if self.policy.unit == Unit::Module => {
                    self.by_module(&place.file, name, want, &mut outside)
                }
                LookupStep::Import => self.by_import(place, name, want),
                LookupStep::Unit => self.in_unit(place, name, want, &mut outside),
                LookupStep::Glob => self.by_glob(place, name, want, &mut outside),
                LookupStep::Library => self.in_library(name, want),
                LookupStep::Global => self.in_program(&place.file, name, want),
            };
            if let Some(found) = found {
                return found;
            }
        }
        // An external symbol may have the name if no symbol of the view can.
        if outside && self.is_undefined_bare(name, want) { NameTarget::MaybeExternal } else { NameTarget::Unresolved }
    }

    /// Returns whether no symbol of the view that can be a bare name has this name.
    fn is_undefined_bare(&self, name: &str, want: LookupKind) -> bool {
        if self.policy.implicit_this || !self.policy.unknown_names_are_external {
            return self.is_undefined(name, want);
        }
        let is_top = |at: &SymbolAt| {
            self.file(at.file).is_some_and(|file| file.symbol(at.ordinal).is_some_and(|symbol| symbol.parent.is_none()))
        };
        !self
            .symbols_named(name)
            .iter()
            .any(|at| self.matches_kind(*at, want) && is_top(at) && !self.library().has(at.file))
    }

    /// Returns whether no symbol of the view has this name.
    pub(super) fn is_undefined(&self, name: &str, want: LookupKind) -> bool {
        !self.symbols_named(name).iter().any(|&at| self.matches_kind(at, want) && !self.library().has(at.file))
    }

    /// Returns whether a symbol has the kind of the lookup.
    pub(super) fn matches_kind(&self, at: SymbolAt, want: LookupKind) -> bool {
        let Some(file) = self.file(at.file) else { return false };
        let is_meant = file.symbol(at.ordinal).is_some_and(|symbol| match symbol.kind {
            SymbolKind::Constructor => want == LookupKind::Call && self.policy.constructor.is_some(),
            // A package is recognised by its members.
            SymbolKind::Namespace if self.policy.packages_must_exist => want == LookupKind::Any,
            _ if want == LookupKind::Call && symbol.flags.has(Flags::READ_BY_CALL) => true,
            SymbolKind::Module
                if self.policy.modules_are_objects && matches!(want, LookupKind::Type | LookupKind::Construct) =>
            {
                false
            }
            SymbolKind::Module if self.policy.modules_are_objects && want == LookupKind::Value => true,
            kind => want.accepts(kind, self.policy.namespaces),
        });
        is_meant && !self.is_constructor_declaration(at)
    }

    pub(super) fn filter_by_kind(&self, file: &File, places: &[u32], want: LookupKind) -> Vec<SymbolAt> {
        let all = places.iter().map(|&place| SymbolAt { file: file.id(), ordinal: place });
        all.filter(|&at| self.matches_kind(at, want)).collect()
    }

    /// Looks up a name in the enclosing symbols, from the inside: in their declarations, and in the members that types
    /// among them inherit.
    fn in_enclosing_symbols(
        &self,
        place: &LookupSite,
        name: &str,
        want: LookupKind,
        outside: &mut bool,
    ) -> Option<NameTarget> {
        let file = &place.file;
        let mut side = self.access_from(place);
        for at in file.ancestors(place.symbol) {
            let symbol = file.symbol(at)?;
            let is_class = is_type(symbol.kind);
            let own = SymbolAt { file: file.id(), ordinal: at };
            let is_meant = || !self.policy.modules_are_objects || self.matches_kind(own, want);
            if is_class && symbol.name == name && matches!(want, LookupKind::Type | LookupKind::Construct) && is_meant()
            {
                let all = if self.policy.generic_arity_distinguishes {
                    self.find_qualified(&symbol.qualified_name).to_vec()
                } else {
                    vec![own]
                };
                return NameTarget::from_symbols(all);
            }
            // Names in a table or a field need a qualifier, and a namespace may extend over many files.
            let is_spread = self.policy.unit == Unit::Namespace && symbol.kind == SymbolKind::Namespace;
            let is_behind = is_spread || matches!(symbol.kind, SymbolKind::Var | SymbolKind::Field);
            if !is_class && !is_behind || self.policy.types_are_scopes {
                let own = self.without_qualified_only(self.directly_in(file, Some(at), name, want));
                if !own.is_empty() {
                    return NameTarget::from_symbols(own);
                }
            }
            if self.policy.implicit_this {
                if !is_class && !symbol.bases.is_empty() && symbol.kind != SymbolKind::Impl {
                    // The other methods of an anonymous class are its siblings.
                    let is_beside = |at: &SymbolAt| file.symbol(at.ordinal).is_some_and(|of| of.bases == symbol.bases);
                    let beside =
                        self.filter_by_kind(file, file.named(symbol.parent, name), want).into_iter().filter(is_beside);
                    let beside: Vec<SymbolAt> = beside.collect();
                    if !beside.is_empty() {
                        return NameTarget::from_symbols(beside);
                    }
                }
                let types = match symbol.kind {
                    _ if is_class => vec![Type::named(own)],
                    SymbolKind::Impl => vec![self.this_type(file, Some(at))],
                    // An out-of-line member of a type.
                    _ if symbol.owner.is_some() && self.policy.extensions_need_scope => {
                        vec![self.this_type(file, Some(at))]
                    }
                    _ if symbol.owner.is_some() => self.enclosing_owner_types(file, at),
                    _ => self.bases(own).to_vec(),
                };
                for of in types {
                    let levels = self.filter_by_access(self.members(&of, name, want), side);
                    if !levels.sets.is_empty() {
                        return Some(NameTarget::Members(levels));
                    }
                    *outside |= levels.external || levels.unknown;
                }
            }
            if is_class {
                side = MemberAccess::Nested;
            }
            if self.policy.closed_types
                && (is_class && symbol.kind != SymbolKind::Type || symbol.kind == SymbolKind::Impl)
            {
                return None;
            }
        }
        None
    }

    /// Returns the symbols with a name directly in a symbol, or at file level, that need no qualifier. In an included
    /// file these are also the declarations inside its types, except fields.
    fn directly_in(&self, file: &File, around: Option<u32>, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        use SymbolKind::{Enum, Struct, Union, Variant};
        let is_free = |at: &SymbolAt| {
            let symbol = file.symbol(at.ordinal);
            let is_hidden = |flags: Flags| around.is_none() && flags.has(Flags::BLOCK_ONLY);
            symbol.is_some_and(|of| of.owner.is_none() && !is_hidden(of.flags))
        };
        let own = self.filter_by_kind(file, file.named(around, name), want).into_iter().filter(is_free);
        if around.is_some() || self.policy.unit != Unit::Include {
            return own.collect();
        }
        let is_inner = |at: &SymbolAt| {
            let Some(symbol) = file.symbol(at.ordinal).filter(|of| of.parent.is_some()) else { return false };
            let in_types =
                |&at: &u32| file.symbol(at).is_some_and(|of| is_type(of.kind) || of.kind == SymbolKind::Field);
            matches!(symbol.kind, Enum | Struct | Union | Variant)
                && file.ancestors(symbol.parent).all(|at| in_types(&at))
        };
        let inner = self.filter_by_kind(file, file.named_anywhere(name), want).into_iter().filter(is_inner);
        own.chain(inner).collect()
    }

    /// Removes symbols that always need a qualifier.
    fn without_qualified_only(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if self.policy.types_are_scopes {
            all.retain(|at| !matches!(self.kind(*at), Some(SymbolKind::Field | SymbolKind::Variant)));
        }
        all
    }

    fn in_file(&self, file: &Rc<File>, name: &str, want: LookupKind) -> Option<NameTarget> {
        if self.policy.unit == Unit::Module {
            return NameTarget::from_symbols(self.declared_in(file, name, want));
        }
        let defined = self.prefer_definitions(self.without_qualified_only(self.directly_in(file, None, name, want)));
        if self.policy.unit == Unit::Include && !defined.iter().any(|at| self.is_definition(*at)) {
            return None;
        }
        NameTarget::from_symbols(defined)
    }

    /// Removes declarations if there are definitions.
    pub(super) fn prefer_definitions(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if all.iter().any(|at| self.is_definition(*at)) {
            all.retain(|at| self.is_definition(*at));
        }
        all
    }

    pub(super) fn is_definition(&self, at: SymbolAt) -> bool {
        self.kind(at).is_some_and(|kind| kind != SymbolKind::Prototype)
    }

    fn by_import(&self, place: &LookupSite, name: &str, want: LookupKind) -> Option<NameTarget> {
        let file = &place.file;
        let mut outside = false;
        let mut found = Vec::new();
        let imports = file.imports_named(name).iter().map(|&at| &file.facts().imports[at as usize]);
        let is_used = |import: &Import| import.form == ImportForm::Dynamic && !self.policy.using_macros.is_empty();
        for import in imports.filter(|import| is_import_in_scope(place, import) && !is_used(import)) {
            match self.imported(file, import) {
                NameTarget::Symbols(targets) => {
                    found.extend(targets.into_iter().filter(|&at| self.matches_kind(at, want)));
                }
                NameTarget::External => outside = true,
                _ => {}
            }
        }
        NameTarget::from_symbols(found).or(outside.then_some(NameTarget::External))
    }

    /// Returns the target of an import.
    pub(super) fn imported(&self, file: &Rc<File>, import: &Import) -> NameTarget {
        if self.policy.unit == Unit::Module {
            return self.module_import(file, import);
        }
        if self.policy.unit == Unit::Namespace && !import.reexport {
            return self.using_target(file, import);
        }
        if self.policy.unit != Unit::Package {
            let files = (self.policy.resolve_module)(&*self.world, &file.file.path, &import.module);
            return if files.is_empty() { NameTarget::External } else { NameTarget::Module(files) };
        }
        let Some(name) = &import.name else {
            let all = self.modules(file, &import.module);
            return match all.iter().map(|module| self.find_qualified(module)).find(|found| !found.is_empty()) {
                None if self.policy.packages_must_exist => {
                    let place = LookupSite { file: file.clone(), symbol: None };
                    match self.package_at(&place, &import.module) {
                        Some(package) => NameTarget::Module(self.package_files(&package).to_vec()),
                        None => NameTarget::External,
                    }
                }
                None => NameTarget::External,
                Some(found) => NameTarget::Symbols(found.to_vec()),
            };
        };
        let mut found = Vec::new();
        let mut module = import.module.clone();
        for one in self.modules(file, &import.module) {
            found = self.find_qualified(&self.join_qualified(&one, name)).to_vec();
            module = one;
            if !found.is_empty() || !self.find_qualified(&module).is_empty() {
                break;
            }
        }
        if import.form == ImportForm::Static
            && let Some(of) = self.prefer_module(&self.find_qualified(&module))
        {
            // A class also exports its inherited members.
            found = self.members(&Type::named(of), name, LookupKind::Any).all().collect();
        }
        NameTarget::from_symbols(found).unwrap_or(NameTarget::External)
    }

    fn in_unit(&self, place: &LookupSite, name: &str, want: LookupKind, outside: &mut bool) -> Option<NameTarget> {
        let file = &place.file;
        match self.policy.unit {
            Unit::File | Unit::Module => None,
            Unit::Package => {
                for unit in self.candidate_units(place, want) {
                    let found = self.find_qualified(&self.join_qualified(unit, name));
                    let is_seen =
                        |at: &SymbolAt| self.matches_kind(*at, want) && (at.file == file.id() || !self.is_hidden(*at));
                    let found: Vec<SymbolAt> = found.iter().copied().filter(is_seen).collect();
                    if !found.is_empty() {
                        return NameTarget::from_symbols(if unit.is_empty() {
                            self.nearest(file, found)
                        } else {
                            found
                        });
                    }
                }
                None
            }
            Unit::Namespace => {
                *outside |= self.includes_external(file);
                self.in_namespaces(place, name, want)
            }
            Unit::Program => {
                // A name without a declaration is external.
                *outside = true;
                let found = self.find_qualified(name);
                let found: Vec<SymbolAt> = found.iter().copied().filter(|&at| self.matches_kind(at, want)).collect();
                NameTarget::from_symbols(self.main_declaration(found))
            }
            Unit::Include => {
                *outside |= self.includes_external(file);
                self.by_include(file, name, want)
            }
        }
    }

    /// Returns the packages in which a name is looked up: the enclosing namespaces, from the inside, or the package of
    /// the file, and their outer packages.
    pub(super) fn candidate_units<'p>(&self, place: &'p LookupSite, want: LookupKind) -> Vec<&'p str> {
        let file = &place.file;
        let is_namespace = |at: &u32| file.symbol(*at).is_some_and(|of| of.kind == SymbolKind::Namespace);
        let around: Vec<u32> = file.ancestors(place.symbol).filter(is_namespace).collect();
        let around = around.iter().filter_map(|&at| file.symbol(at)).map(|of| of.qualified_name.as_str());
        let mut units: Vec<&str> = around.collect();
        if units.is_empty() {
            units.push(&file.package);
        }
        match self.policy.outer_units {
            OuterUnits::All => {
                let mut inner = units.last().copied().unwrap_or("");
                while let Some((outer, _)) = inner.rsplit_once(self.policy.separator) {
                    units.push(outer);
                    inner = outer;
                }
                units.push("");
                units.dedup();
            }
            OuterUnits::Root if !matches!(want, LookupKind::Type | LookupKind::Construct) => units.push(""),
            OuterUnits::Root | OuterUnits::None => {}
        }
        units
    }

    /// Of several types with one name and no distinguishing package, returns those whose folders share the longest
    /// prefix with the file's folder.
    fn nearest(&self, file: &File, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if all.len() < 2 || !all.iter().all(|&at| self.kind(at).is_some_and(is_type)) {
            return all;
        }
        let common = |at: &SymbolAt| {
            let Some(other) = self.file(at.file) else { return 0 };
            let both = folder(&other.file.path).split('/').zip(folder(&file.file.path).split('/'));
            both.take_while(|(a, b)| a == b).count()
        };
        let most = all.iter().map(common).max().unwrap_or(0);
        all.retain(|at| common(at) == most);
        all
    }

    /// Of several declarations of one type, returns the longest.
    pub(super) fn main_declaration(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if !self.has_open_types() || all.len() < 2 || !all.iter().all(|&at| self.kind(at).is_some_and(is_type)) {
            return all;
        }
        let length = |at: &SymbolAt| {
            let file = self.file(at.file)?;
            file.symbol(at.ordinal).map(|symbol| symbol.span.end - symbol.span.start)
        };
        // Of equally long ones, the first wins.
        all.sort_by_key(|at| std::cmp::Reverse(length(at)));
        all.truncate(1);
        all
    }

    /// Joins a package and a name to a qualified name.
    pub(super) fn join_qualified(&self, package: &str, name: &str) -> String {
        if package.is_empty() { name.to_owned() } else { [package, self.policy.separator, name].concat() }
    }

    /// Looks up a name in the includes of a file. If it is only declared there, its definition is elsewhere.
    fn by_include(&self, file: &Rc<File>, name: &str, want: LookupKind) -> Option<NameTarget> {
        let mut declared = self.directly_in(file, None, name, want);
        for &id in self.included(file).iter() {
            let Some(other) = self.file(id) else { continue };
            declared.extend(self.directly_in(&other, None, name, want));
        }
        let declared = self.prefer_definitions(declared);
        if declared.iter().any(|at| self.is_definition(*at)) {
            return NameTarget::from_symbols(declared);
        }
        if declared.is_empty() {
            return None;
        }
        let mut shared = self.program_definitions(file, name, want);
        // Of several definitions, those in files that include the same declaration win.
        let knows = |at: &SymbolAt| {
            let Some(other) = self.file(at.file) else { return false };
            let included = self.included(&other);
            declared.iter().any(|declared| included.contains(&declared.file))
        };
        if shared.len() > 1 && shared.iter().any(knows) {
            shared.retain(knows);
        }
        NameTarget::from_symbols(if shared.is_empty() { declared } else { shared })
    }

    /// Returns the definitions of a name that the whole program shares; of several, those nearest to the file.
    fn program_definitions(&self, file: &File, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        let is_shared = |at: &SymbolAt| {
            let Some(other) = self.file(at.file) else { return false };
            let is_seen = other.symbol(at.ordinal).is_some_and(|symbol| {
                let is_hidden = symbol.flags.has(Flags::FILE_ONLY) || symbol.flags.has(Flags::BLOCK_ONLY);
                symbol.parent.is_none() && symbol.owner.is_none() && !is_hidden
            });
            is_seen && self.matches_kind(*at, want) && self.is_definition(*at)
        };
        let mut all: Vec<SymbolAt> = self.symbols_named(name).iter().copied().filter(is_shared).collect();
        if self.policy.unit == Unit::Include {
            // Constants and types that the file does not include are no candidates.
            all.retain(|at| matches!(self.kind(*at), Some(SymbolKind::Fn | SymbolKind::Var)));
        }
        if all.len() > 1 && all.iter().any(|at| self.is_in_same_folder(*at, file)) {
            all.retain(|at| self.is_in_same_folder(*at, file));
        }
        all
    }

    /// Returns whether a symbol is in the folder of a file.
    pub(super) fn is_in_same_folder(&self, at: SymbolAt, file: &File) -> bool {
        let is_beside = |other: &File| folder(&other.file.path) == folder(&file.file.path);
        self.policy.folders_are_programs && self.file(at.file).is_some_and(|other| is_beside(&other))
    }

    fn by_glob(&self, place: &LookupSite, name: &str, want: LookupKind, outside: &mut bool) -> Option<NameTarget> {
        let file = &place.file;
        let folder = folder(&file.file.path);
        let shared = self
            .shared_imports
            .get_or_compute(folder, || (self.policy.shared_imports)(&*self.world, &file.file.path).into());
        // A path may begin in an outer package of the file.
        let units = if self.policy.outer_units == OuterUnits::All {
            self.candidate_units(place, LookupKind::Any)
        } else {
            vec![""]
        };
        let mut found: Vec<SymbolAt> = Vec::new();
        let imports =
            file.facts().imports.iter().filter(|import| is_import_in_scope(place, import)).chain(shared.iter());
        for import in imports.filter(|import| import.glob) {
            if import.form == ImportForm::Dynamic && !self.policy.using_macros.is_empty() {
                found.extend(self.by_use(import, name, want, outside));
                continue;
            }
            let modules = match self.policy.relative_imports {
                true => self.modules(file, &import.module),
                false => units.iter().map(|unit| self.join_qualified(unit, &import.module)).collect(),
            };
            let mut missing = 0;
            for module in &modules {
                let whole = self.join_qualified(module, name);
                let named = self.find_qualified(&whole);
                found.extend(named.iter().copied().filter(|&at| self.matches_kind(at, want)));
                match self.prefer_module(&self.find_qualified(module)) {
                    Some(of) => {
                        let inherited = self.members(&Type::named(of), name, want);
                        found.extend(inherited.all().filter(|at| !named.contains(at)));
                    }
                    None => missing += 1,
                }
            }
            let is_outside = if self.policy.relative_imports { missing == modules.len() } else { missing > 0 };
            let is_meant =
                import.form != ImportForm::TypeOnly || matches!(want, LookupKind::Type | LookupKind::Construct);
            *outside |= is_outside && is_meant;
        }
        let mut seen = Vec::new();
        found.retain(|at| {
            !seen.contains(at) && {
                seen.push(*at);
                true
            }
        });
        NameTarget::from_symbols(found)
    }

    /// Returns the names that `use` of a module imports: imports and definitions of its using macro, or of the
    /// function that is named beside the module.
    fn by_use(&self, import: &Import, name: &str, want: LookupKind, outside: &mut bool) -> Vec<SymbolAt> {
        let mut found = Vec::new();
        let mut modules = vec![(import.module.clone(), import.name.clone())];
        let mut next = 0;
        while let Some((module, part)) = modules.get(next).cloned().filter(|_| modules.len() < MAX_USED_MODULES) {
            next += 1;
            let all = self.find_qualified(&module);
            *outside |= all.is_empty();
            for at in all.iter() {
                let Some(file) = self.file(at.file) else { continue };
                let using = self.policy.using_macros.iter().copied().chain(part.as_deref());
                let macros = using.flat_map(|using| file.named(Some(at.ordinal), using));
                for &macro_at in macros {
                    found.extend(self.filter_by_kind(&file, file.named(Some(macro_at), name), want));
                    for &import in file.imports(Some(macro_at)) {
                        let import = &file.facts().imports[import as usize];
                        let is_used = import.form == ImportForm::Dynamic;
                        let used = (import.module.clone(), import.name.clone());
                        if is_used && !modules.contains(&used) {
                            modules.push(used);
                        }
                        let is_named = !is_used && (import.glob || import.name.as_deref() == Some(name));
                        let named = self.find_qualified(&self.join_qualified(&import.module, name));
                        found.extend(named.iter().copied().filter(|&at| is_named && self.matches_kind(at, want)));
                        *outside |= is_named && self.find_qualified(&import.module).is_empty();
                    }
                }
            }
        }
        let mut seen = Vec::new();
        found.retain(|at| {
            !seen.contains(at) && {
                seen.push(*at);
                true
            }
        });
        found
    }

    fn in_library(&self, name: &str, want: LookupKind) -> Option<NameTarget> {
        if self.policy.unit == Unit::Package {
            // The view may be that of the library itself.
            let whole = self.find_qualified(&self.join_qualified(self.policy.prelude, name));
            let own = whole.iter().copied().filter(|&at| self.matches_kind(at, want)).collect();
            if let Some(found) = NameTarget::from_symbols(own) {
                return Some(found);
            }
        }
        let is_open = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let is_top =
                file.symbol(at.ordinal).is_some_and(|symbol| symbol.parent.is_none() && symbol.owner.is_none());
            let is_top = is_top || self.policy.unit == Unit::Module && self.is_only_in_types(&file, at.ordinal);
            is_top && file.package == self.policy.prelude
        };
        let all = self.library().named(name).iter().copied();
        NameTarget::from_symbols(all.filter(|at| self.matches_kind(*at, want) && is_open(at)).collect())
    }

    /// Looks up a name that the whole program shares, from a file that does not state its origin.
    fn in_program(&self, file: &Rc<File>, name: &str, want: LookupKind) -> Option<NameTarget> {
        let all = self.program_definitions(file, name, want);
        let own: Vec<SymbolAt> = all.iter().copied().filter(|at| !self.library().has(at.file)).collect();
        match (own.as_slice(), all.as_slice()) {
            ([], []) => None,
            ([], _) => Some(NameTarget::External),
            ([only], _) if self.policy.unit == Unit::Include && self.is_in_same_folder(*only, file) => {
                Some(NameTarget::Symbols(own))
            }
            (&[only], _) => Some(NameTarget::Guess(only)),
            _ => None,
        }
    }
}

/// Returns whether a site is inside the block of an import.
fn is_import_in_scope(place: &LookupSite, import: &Import) -> bool {
    import.symbol.is_none_or(|block| place.file.ancestors(place.symbol).any(|at| at == block))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

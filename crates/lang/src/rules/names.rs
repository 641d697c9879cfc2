//! Resolves bare names.

use std::rc::Rc;

use codecompass_model::{Flags, Import, ImportForm, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, File, Place, is_type};
use super::members::{Levels, Side, Want};
use super::scoping::{Apart, Look, Outer, Unit};
use super::types::Type;

/// The maximum number of modules to follow that use each other.
const MAX_USED: usize = 16;

/// The target of a name.
pub(super) enum Found {
    Symbols(Vec<SymbolAt>),
    /// Members of the enclosing types.
    Members(Rc<Levels>),
    /// The only candidate, without evidence.
    Guess(SymbolAt),
    Module(Vec<VersionId>),
    External,
    /// Not in the view; an external symbol may have the name.
    Outside,
    Nothing,
}

impl Found {
    fn of(symbols: Vec<SymbolAt>) -> Option<Self> {
        if symbols.is_empty() { None } else { Some(Found::Symbols(symbols)) }
    }
}

impl Engine<'_> {
    /// Looks up a name at a site. If variables, functions and types may share a name, a name that is not a variable may
    /// be a type.
    pub(super) fn look_up(&self, place: &Place, name: &str, want: Want) -> Found {
        match self.look_for(place, name, want) {
            Found::Nothing | Found::Outside if want == Want::Call && self.scoping.calls_make => {
                match self.look_for(place, name, Want::Made) {
                    Found::Nothing | Found::Outside if self.scoping.calls_fields => {
                        self.look_for(place, name, Want::Value)
                    }
                    found => found,
                }
            }
            Found::Nothing | Found::Outside | Found::External
                if want == Want::Value && self.scoping.apart != Apart::Nothing =>
            {
                self.look_for(place, name, Want::Type)
            }
            found => found,
        }
    }

    fn look_for(&self, place: &Place, name: &str, want: Want) -> Found {
        if let Some(whole) = self.absolute(name) {
            let found = self.find_qualified(whole);
            let found = found.iter().copied().filter(|&at| self.fits(at, want)).collect();
            return Found::of(found).unwrap_or(Found::External);
        }
        self.look_in(self.scoping.order, place, name, want)
    }

    /// Looks up a name at outer steps, for a call with an arity that no enclosing declaration has.
    pub(super) fn look_beyond(&self, place: &Place, name: &str, want: Want) -> Found {
        let near = self.scoping.order.iter().take_while(|look| **look == Look::Around).count();
        self.look_in(&self.scoping.order[near..], place, name, want)
    }

    fn look_in(&self, order: &[Look], place: &Place, name: &str, want: Want) -> Found {
        let mut outside = self.scoping.open_world || self.scoping.calls_outside && want == Want::Call;
        for look in order {
            let found = match look {
                Look::Around => self.around(place, name, want, &mut outside),
                Look::File => self.in_file(&place.file, name, want),
                Look::Import if self.scoping.unit == Unit::Module => {
                    self.by_module(&place.file, name, want, &mut outside)
                }
                Look::Import => self.by_import(place, name, want),
                Look::Unit => self.in_unit(place, name, want, &mut outside),
                Look::Glob => self.by_glob(place, name, want, &mut outside),
                Look::Library => self.in_library(name, want),
                Look::Global => self.everywhere(&place.file, name, want),
            };
            if let Some(found) = found {
                return found;
            }
        }
        // An external symbol may have the name if no symbol of the view can.
        if outside && self.is_unheard_alone(name, want) { Found::Outside } else { Found::Nothing }
    }

    /// Returns whether no symbol of the view that can be a bare name has this name.
    fn is_unheard_alone(&self, name: &str, want: Want) -> bool {
        if self.scoping.implicit_this || !self.scoping.open_world {
            return self.is_unheard(name, want);
        }
        let is_top = |at: &SymbolAt| {
            self.file(at.file).is_some_and(|file| file.symbol(at.place).is_some_and(|symbol| symbol.parent.is_none()))
        };
        !self.symbols_named(name).iter().any(|at| self.fits(*at, want) && is_top(at) && !self.library().has(at.file))
    }

    /// Returns whether no symbol of the view has this name.
    pub(super) fn is_unheard(&self, name: &str, want: Want) -> bool {
        !self.symbols_named(name).iter().any(|&at| self.fits(at, want) && !self.library().has(at.file))
    }

    /// Returns whether a symbol has the kind of the lookup.
    pub(super) fn fits(&self, at: SymbolAt, want: Want) -> bool {
        let Some(file) = self.file(at.file) else { return false };
        let is_meant = file.symbol(at.place).is_some_and(|symbol| match symbol.kind {
            SymbolKind::Constructor => want == Want::Call && self.scoping.constructor.is_some(),
            // A package is recognised by its members.
            SymbolKind::Namespace if self.scoping.known_packages => want == Want::Any,
            _ if want == Want::Call && symbol.flags.has(Flags::READ_BY_CALL) => true,
            SymbolKind::Module if self.scoping.objects && matches!(want, Want::Type | Want::Made) => false,
            SymbolKind::Module if self.scoping.objects && want == Want::Value => true,
            kind => want.takes(kind, self.scoping.apart),
        });
        is_meant && !self.is_made_by(at)
    }

    pub(super) fn fitting(&self, file: &File, places: &[u32], want: Want) -> Vec<SymbolAt> {
        let all = places.iter().map(|&place| SymbolAt { file: file.id(), place });
        all.filter(|&at| self.fits(at, want)).collect()
    }

    /// Looks up a name in the enclosing symbols, from the inside: in their declarations, and in the members that types
    /// among them inherit.
    fn around(&self, place: &Place, name: &str, want: Want, outside: &mut bool) -> Option<Found> {
        let file = &place.file;
        let mut side = self.side_of(place);
        for at in file.around(place.symbol) {
            let symbol = file.symbol(at)?;
            let is_class = is_type(symbol.kind);
            let own = SymbolAt { file: file.id(), place: at };
            let is_meant = || !self.scoping.objects || self.fits(own, want);
            if is_class && symbol.name == name && matches!(want, Want::Type | Want::Made) && is_meant() {
                let all = if self.scoping.generics_apart {
                    self.find_qualified(&symbol.qualified_name).to_vec()
                } else {
                    vec![own]
                };
                return Found::of(all);
            }
            // Names in a table or a field need a qualifier, and a namespace may extend over many files.
            let is_spread = self.scoping.unit == Unit::Namespace && symbol.kind == SymbolKind::Namespace;
            let is_behind = is_spread || matches!(symbol.kind, SymbolKind::Var | SymbolKind::Field);
            if !is_class && !is_behind || self.scoping.types_enclose {
                let own = self.named_alone(self.at_level(file, Some(at), name, want));
                if !own.is_empty() {
                    return Found::of(own);
                }
            }
            if self.scoping.implicit_this {
                if !is_class && !symbol.bases.is_empty() && symbol.kind != SymbolKind::Impl {
                    // The other methods of an anonymous class are its siblings.
                    let is_beside = |at: &SymbolAt| file.symbol(at.place).is_some_and(|of| of.bases == symbol.bases);
                    let beside =
                        self.fitting(file, file.named(symbol.parent, name), want).into_iter().filter(is_beside);
                    let beside: Vec<SymbolAt> = beside.collect();
                    if !beside.is_empty() {
                        return Found::of(beside);
                    }
                }
                let types = match symbol.kind {
                    _ if is_class => vec![Type::named(own)],
                    SymbolKind::Impl => vec![self.this(file, Some(at))],
                    // An out-of-line member of a type.
                    _ if symbol.owner.is_some() && self.scoping.parts_in_scope => vec![self.this(file, Some(at))],
                    _ if symbol.owner.is_some() => self.around_owner(file, at),
                    _ => self.bases(own).to_vec(),
                };
                for of in types {
                    let levels = self.on_side(self.members(&of, name, want), side);
                    if !levels.levels.is_empty() {
                        return Some(Found::Members(levels));
                    }
                    *outside |= levels.outside || levels.unknown;
                }
            }
            if is_class {
                side = Side::Around;
            }
            if self.scoping.closed_types
                && (is_class && symbol.kind != SymbolKind::Type || symbol.kind == SymbolKind::Impl)
            {
                return None;
            }
        }
        None
    }

    /// Returns the symbols with a name directly in a symbol, or at file level, that need no qualifier. In an included
    /// file these are also the declarations inside its types, except fields.
    fn at_level(&self, file: &File, around: Option<u32>, name: &str, want: Want) -> Vec<SymbolAt> {
        use SymbolKind::{Enum, Struct, Union, Variant};
        let is_free = |at: &SymbolAt| {
            let symbol = file.symbol(at.place);
            let is_hidden = |flags: Flags| around.is_none() && flags.has(Flags::BLOCK_ONLY);
            symbol.is_some_and(|of| of.owner.is_none() && !is_hidden(of.flags))
        };
        let own = self.fitting(file, file.named(around, name), want).into_iter().filter(is_free);
        if around.is_some() || self.scoping.unit != Unit::Include {
            return own.collect();
        }
        let is_inner = |at: &SymbolAt| {
            let Some(symbol) = file.symbol(at.place).filter(|of| of.parent.is_some()) else { return false };
            let in_types =
                |&at: &u32| file.symbol(at).is_some_and(|of| is_type(of.kind) || of.kind == SymbolKind::Field);
            matches!(symbol.kind, Enum | Struct | Union | Variant) && file.around(symbol.parent).all(|at| in_types(&at))
        };
        let inner = self.fitting(file, file.anywhere(name), want).into_iter().filter(is_inner);
        own.chain(inner).collect()
    }

    /// Removes symbols that always need a qualifier.
    fn named_alone(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if self.scoping.types_enclose {
            all.retain(|at| !matches!(self.kind(*at), Some(SymbolKind::Field | SymbolKind::Variant)));
        }
        all
    }

    fn in_file(&self, file: &Rc<File>, name: &str, want: Want) -> Option<Found> {
        if self.scoping.unit == Unit::Module {
            return Found::of(self.declared_in(file, name, want));
        }
        let defined = self.defined(self.named_alone(self.at_level(file, None, name, want)));
        if self.scoping.unit == Unit::Include && !defined.iter().any(|at| self.is_definition(*at)) {
            return None;
        }
        Found::of(defined)
    }

    /// Removes declarations if there are definitions.
    pub(super) fn defined(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if all.iter().any(|at| self.is_definition(*at)) {
            all.retain(|at| self.is_definition(*at));
        }
        all
    }

    pub(super) fn is_definition(&self, at: SymbolAt) -> bool {
        self.kind(at).is_some_and(|kind| kind != SymbolKind::Prototype)
    }

    fn by_import(&self, place: &Place, name: &str, want: Want) -> Option<Found> {
        let file = &place.file;
        let mut outside = false;
        let mut found = Vec::new();
        let imports = file.imports_named(name).iter().map(|&at| &file.facts().imports[at as usize]);
        let is_used = |import: &Import| import.form == ImportForm::Dynamic && !self.scoping.using.is_empty();
        for import in imports.filter(|import| is_in_sight(place, import) && !is_used(import)) {
            match self.imported(file, import) {
                Found::Symbols(targets) => found.extend(targets.into_iter().filter(|&at| self.fits(at, want))),
                Found::External => outside = true,
                _ => {}
            }
        }
        Found::of(found).or(outside.then_some(Found::External))
    }

    /// Returns the target of an import.
    pub(super) fn imported(&self, file: &Rc<File>, import: &Import) -> Found {
        if self.scoping.unit == Unit::Module {
            return self.module_import(file, import);
        }
        if self.scoping.unit == Unit::Namespace && !import.reexport {
            return self.used(file, import);
        }
        if self.scoping.unit != Unit::Package {
            let files = (self.scoping.module)(&*self.world, &file.file.path, &import.module);
            return if files.is_empty() { Found::External } else { Found::Module(files) };
        }
        let Some(name) = &import.name else {
            let all = self.modules(file, &import.module);
            return match all.iter().map(|module| self.find_qualified(module)).find(|found| !found.is_empty()) {
                None if self.scoping.known_packages => {
                    let place = Place { file: file.clone(), symbol: None };
                    match self.package_at(&place, &import.module) {
                        Some(package) => Found::Module(self.package_files(&package).to_vec()),
                        None => Found::External,
                    }
                }
                None => Found::External,
                Some(found) => Found::Symbols(found.to_vec()),
            };
        };
        let mut found = Vec::new();
        let mut module = import.module.clone();
        for one in self.modules(file, &import.module) {
            found = self.find_qualified(&self.joined(&one, name)).to_vec();
            module = one;
            if !found.is_empty() || !self.find_qualified(&module).is_empty() {
                break;
            }
        }
        if import.form == ImportForm::Static
            && let Some(of) = self.value_first(&self.find_qualified(&module))
        {
            // A class also exports its inherited members.
            found = self.members(&Type::named(of), name, Want::Any).all().collect();
        }
        Found::of(found).unwrap_or(Found::External)
    }

    fn in_unit(&self, place: &Place, name: &str, want: Want, outside: &mut bool) -> Option<Found> {
        let file = &place.file;
        match self.scoping.unit {
            Unit::File | Unit::Module => None,
            Unit::Package => {
                for unit in self.units(place, want) {
                    let found = self.find_qualified(&self.joined(unit, name));
                    let is_seen =
                        |at: &SymbolAt| self.fits(*at, want) && (at.file == file.id() || !self.is_hidden(*at));
                    let found: Vec<SymbolAt> = found.iter().copied().filter(is_seen).collect();
                    if !found.is_empty() {
                        return Found::of(if unit.is_empty() { self.nearest(file, found) } else { found });
                    }
                }
                None
            }
            Unit::Namespace => {
                *outside |= self.includes_outside(file);
                self.in_namespaces(place, name, want)
            }
            Unit::Program => {
                // A name without a declaration is external.
                *outside = true;
                let found = self.find_qualified(name);
                let found: Vec<SymbolAt> = found.iter().copied().filter(|&at| self.fits(at, want)).collect();
                Found::of(self.main(found))
            }
            Unit::Include => {
                *outside |= self.includes_outside(file);
                self.by_include(file, name, want)
            }
        }
    }

    /// Returns the packages in which a name is looked up: the enclosing namespaces, from the inside, or the package of
    /// the file, and their outer packages.
    pub(super) fn units<'p>(&self, place: &'p Place, want: Want) -> Vec<&'p str> {
        let file = &place.file;
        let is_namespace = |at: &u32| file.symbol(*at).is_some_and(|of| of.kind == SymbolKind::Namespace);
        let around: Vec<u32> = file.around(place.symbol).filter(is_namespace).collect();
        let around = around.iter().filter_map(|&at| file.symbol(at)).map(|of| of.qualified_name.as_str());
        let mut units: Vec<&str> = around.collect();
        if units.is_empty() {
            units.push(&file.package);
        }
        match self.scoping.outer {
            Outer::All => {
                let mut inner = units.last().copied().unwrap_or("");
                while let Some((outer, _)) = inner.rsplit_once(self.scoping.separator) {
                    units.push(outer);
                    inner = outer;
                }
                units.push("");
                units.dedup();
            }
            Outer::Root if !matches!(want, Want::Type | Want::Made) => units.push(""),
            Outer::Root | Outer::Nothing => {}
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
    pub(super) fn main(&self, mut all: Vec<SymbolAt>) -> Vec<SymbolAt> {
        if !self.opens_types() || all.len() < 2 || !all.iter().all(|&at| self.kind(at).is_some_and(is_type)) {
            return all;
        }
        let length = |at: &SymbolAt| {
            let file = self.file(at.file)?;
            file.symbol(at.place).map(|symbol| symbol.span.end - symbol.span.start)
        };
        // Of equally long ones, the first wins.
        all.sort_by_key(|at| std::cmp::Reverse(length(at)));
        all.truncate(1);
        all
    }

    /// Joins a package and a name to a qualified name.
    pub(super) fn joined(&self, package: &str, name: &str) -> String {
        if package.is_empty() { name.to_owned() } else { [package, self.scoping.separator, name].concat() }
    }

    /// Looks up a name in the includes of a file. If it is only declared there, its definition is elsewhere.
    fn by_include(&self, file: &Rc<File>, name: &str, want: Want) -> Option<Found> {
        let mut declared = self.at_level(file, None, name, want);
        for &id in self.included(file).iter() {
            let Some(other) = self.file(id) else { continue };
            declared.extend(self.at_level(&other, None, name, want));
        }
        let declared = self.defined(declared);
        if declared.iter().any(|at| self.is_definition(*at)) {
            return Found::of(declared);
        }
        if declared.is_empty() {
            return None;
        }
        let mut shared = self.shared(file, name, want);
        // Of several definitions, those in files that include the same declaration win.
        let knows = |at: &SymbolAt| {
            let Some(other) = self.file(at.file) else { return false };
            let included = self.included(&other);
            declared.iter().any(|declared| included.contains(&declared.file))
        };
        if shared.len() > 1 && shared.iter().any(knows) {
            shared.retain(knows);
        }
        Found::of(if shared.is_empty() { declared } else { shared })
    }

    /// Returns the definitions of a name that the whole program shares; of several, those nearest to the file.
    fn shared(&self, file: &File, name: &str, want: Want) -> Vec<SymbolAt> {
        let is_shared = |at: &SymbolAt| {
            let Some(other) = self.file(at.file) else { return false };
            let is_seen = other.symbol(at.place).is_some_and(|symbol| {
                let is_hidden = symbol.flags.has(Flags::FILE_ONLY) || symbol.flags.has(Flags::BLOCK_ONLY);
                symbol.parent.is_none() && symbol.owner.is_none() && !is_hidden
            });
            is_seen && self.fits(*at, want) && self.is_definition(*at)
        };
        let mut all: Vec<SymbolAt> = self.symbols_named(name).iter().copied().filter(is_shared).collect();
        if self.scoping.unit == Unit::Include {
            // Constants and types that the file does not include are no candidates.
            all.retain(|at| matches!(self.kind(*at), Some(SymbolKind::Fn | SymbolKind::Var)));
        }
        if all.len() > 1 && all.iter().any(|at| self.is_beside(*at, file)) {
            all.retain(|at| self.is_beside(*at, file));
        }
        all
    }

    /// Returns whether a symbol is in the folder of a file.
    pub(super) fn is_beside(&self, at: SymbolAt, file: &File) -> bool {
        let is_beside = |other: &File| folder(&other.file.path) == folder(&file.file.path);
        self.scoping.folders && self.file(at.file).is_some_and(|other| is_beside(&other))
    }

    fn by_glob(&self, place: &Place, name: &str, want: Want, outside: &mut bool) -> Option<Found> {
        let file = &place.file;
        let folder = folder(&file.file.path);
        let shared =
            self.shared_imports.once(folder, || (self.scoping.shared_imports)(&*self.world, &file.file.path).into());
        // A path may begin in an outer package of the file.
        let units = if self.scoping.outer == Outer::All { self.units(place, Want::Any) } else { vec![""] };
        let mut found: Vec<SymbolAt> = Vec::new();
        let imports = file.facts().imports.iter().filter(|import| is_in_sight(place, import)).chain(shared.iter());
        for import in imports.filter(|import| import.glob) {
            if import.form == ImportForm::Dynamic && !self.scoping.using.is_empty() {
                found.extend(self.by_use(import, name, want, outside));
                continue;
            }
            let modules = match self.scoping.relative_imports {
                true => self.modules(file, &import.module),
                false => units.iter().map(|unit| self.joined(unit, &import.module)).collect(),
            };
            let mut missing = 0;
            for module in &modules {
                let whole = self.joined(module, name);
                let named = self.find_qualified(&whole);
                found.extend(named.iter().copied().filter(|&at| self.fits(at, want)));
                match self.value_first(&self.find_qualified(module)) {
                    Some(of) => {
                        let inherited = self.members(&Type::named(of), name, want);
                        found.extend(inherited.all().filter(|at| !named.contains(at)));
                    }
                    None => missing += 1,
                }
            }
            let is_outside = if self.scoping.relative_imports { missing == modules.len() } else { missing > 0 };
            let is_meant = import.form != ImportForm::TypeOnly || matches!(want, Want::Type | Want::Made);
            *outside |= is_outside && is_meant;
        }
        let mut seen = Vec::new();
        found.retain(|at| {
            !seen.contains(at) && {
                seen.push(*at);
                true
            }
        });
        Found::of(found)
    }

    /// Returns the names that `use` of a module imports: imports and definitions of its using macro, or of the
    /// function that is named beside the module.
    fn by_use(&self, import: &Import, name: &str, want: Want, outside: &mut bool) -> Vec<SymbolAt> {
        let mut found = Vec::new();
        let mut modules = vec![(import.module.clone(), import.name.clone())];
        let mut next = 0;
        while let Some((module, part)) = modules.get(next).cloned().filter(|_| modules.len() < MAX_USED) {
            next += 1;
            let all = self.find_qualified(&module);
            *outside |= all.is_empty();
            for at in all.iter() {
                let Some(file) = self.file(at.file) else { continue };
                let using = self.scoping.using.iter().copied().chain(part.as_deref());
                let macros = using.flat_map(|using| file.named(Some(at.place), using));
                for &macro_at in macros {
                    found.extend(self.fitting(&file, file.named(Some(macro_at), name), want));
                    for &import in file.imports(Some(macro_at)) {
                        let import = &file.facts().imports[import as usize];
                        let is_used = import.form == ImportForm::Dynamic;
                        let used = (import.module.clone(), import.name.clone());
                        if is_used && !modules.contains(&used) {
                            modules.push(used);
                        }
                        let is_named = !is_used && (import.glob || import.name.as_deref() == Some(name));
                        let named = self.find_qualified(&self.joined(&import.module, name));
                        found.extend(named.iter().copied().filter(|&at| is_named && self.fits(at, want)));
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

    fn in_library(&self, name: &str, want: Want) -> Option<Found> {
        if self.scoping.unit == Unit::Package {
            // The view may be that of the library itself.
            let whole = self.find_qualified(&self.joined(self.scoping.open_library, name));
            let own = whole.iter().copied().filter(|&at| self.fits(at, want)).collect();
            if let Some(found) = Found::of(own) {
                return Some(found);
            }
        }
        let is_open = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let is_top = file.symbol(at.place).is_some_and(|symbol| symbol.parent.is_none() && symbol.owner.is_none());
            let is_top = is_top || self.scoping.unit == Unit::Module && self.is_in_types(&file, at.place);
            is_top && file.package == self.scoping.open_library
        };
        let all = self.library().named(name).iter().copied();
        Found::of(all.filter(|at| self.fits(*at, want) && is_open(at)).collect())
    }

    /// Looks up a name that the whole program shares, from a file that does not state its origin.
    fn everywhere(&self, file: &Rc<File>, name: &str, want: Want) -> Option<Found> {
        let all = self.shared(file, name, want);
        let own: Vec<SymbolAt> = all.iter().copied().filter(|at| !self.library().has(at.file)).collect();
        match (own.as_slice(), all.as_slice()) {
            ([], []) => None,
            ([], _) => Some(Found::External),
            ([only], _) if self.scoping.unit == Unit::Include && self.is_beside(*only, file) => {
                Some(Found::Symbols(own))
            }
            (&[only], _) => Some(Found::Guess(only)),
            _ => None,
        }
    }
}

/// Returns whether a site is inside the block of an import.
fn is_in_sight(place: &Place, import: &Import) -> bool {
    import.symbol.is_none_or(|block| place.file.around(place.symbol).any(|at| at == block))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

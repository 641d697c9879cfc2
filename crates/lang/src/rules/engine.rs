//! The resolver of all languages that are tables.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{
    Confidence, Expr, ExprId, Import, Meaning, RefShape, Reference, Resolver, SourceFile, SymbolAt, SymbolKind,
    VersionId, World,
};

use super::index::Index;
use super::members::{Levels, Side, Want};
use super::memo::{Course, Memo};
use super::modules::{Asked, Handed};
use super::names::Found;
use super::namespaces::Using;
use super::overloads::{Given, takes};
use super::scoping::{Parts, Scoping, Unit};
use super::stubs::Library;
use super::types::Type;
use super::values::Value;

/// More steps than any honest expression needs.
const MAX_STEPS: u32 = 20_000;

/// More types are not looked through for a constructor.
const MAX_BASES: usize = 16;

/// Deeper recursion than any honest expression needs.
const MAX_DEPTH: u32 = 60;

/// The rules of a language at work on one view.
pub(super) struct Engine<'w> {
    pub(super) world: Rc<dyn World + 'w>,
    pub(super) scoping: &'static Scoping,
    pub(super) library: OnceCell<Library>,
    pub(super) files: Memo<VersionId, Option<Rc<File>>>,
    pub(super) qualified: Memo<String, Rc<[SymbolAt]>>,
    pub(super) named: Memo<String, Rc<[SymbolAt]>>,
    pub(super) packages: Memo<String, Rc<[VersionId]>>,
    pub(super) shared_imports: Memo<String, Rc<[Import]>>,
    pub(super) included: Memo<VersionId, Rc<[VersionId]>>,
    pub(super) outside: Memo<VersionId, bool>,
    pub(super) visible: Memo<VersionId, Rc<HashSet<VersionId>>>,
    pub(super) usings: Memo<VersionId, Rc<[Using]>>,
    pub(super) values: Memo<(VersionId, Option<u32>, ExprId), Value>,
    pub(super) symbol_types: Memo<SymbolAt, Type>,
    pub(super) binding_types: Memo<(VersionId, u32), Type>,
    pub(super) bases: Memo<SymbolAt, Rc<[Type]>>,
    pub(super) levels: Memo<(Type, String, Want), Rc<Levels>>,
    pub(super) handed: Memo<Asked, Rc<Handed>>,
    pub(super) brought_in: Memo<Asked, Rc<(Handed, bool)>>,
    pub(super) passing: Memo<VersionId, bool>,
    pub(super) imported: Memo<VersionId, Rc<[Vec<VersionId>]>>,
    pub(super) mains: Memo<SymbolAt, SymbolAt>,
    pub(super) blocks: Memo<SymbolAt, Rc<[SymbolAt]>>,
    pub(super) parts: Memo<VersionId, Rc<HashMap<SymbolAt, Vec<SymbolAt>>>>,
    pub(super) owned: Memo<String, Rc<[(SymbolAt, SymbolAt)]>>,
    pub(super) course: Course,
}

/// A file, and what the rules ask of it beside its facts.
pub(super) struct File {
    index: Index,
    /// The package that its qualified names begin with.
    pub(super) package: String,
    /// The namespaces that are written in it.
    pub(super) namespaces: Vec<String>,
}

impl Deref for File {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl File {
    pub(super) fn new(source: Rc<SourceFile>) -> Self {
        // A block that belongs to a type may belong to one that stands deeper.
        let is_plain = |kind: SymbolKind| kind.can_be_named() && kind != SymbolKind::Impl;
        let top = source.facts.symbols.iter().find(|symbol| symbol.parent.is_none() && is_plain(symbol.kind));
        let package = top.and_then(|top| top.qualified_name.strip_suffix(top.name.as_str()));
        let package = package.unwrap_or("").trim_end_matches(['.', ':', '\\']).to_owned();
        let namespaces = source.facts.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Namespace);
        let namespaces = namespaces.map(|symbol| symbol.qualified_name.clone()).collect();
        File { index: Index::new(source, given_name), package, namespaces }
    }
}

/// The name that an import gives what it brings in.
fn given_name(import: &Import) -> Option<&str> {
    import.alias.as_deref().or(import.name.as_deref())
}

/// A place that a name stands at.
pub(super) struct Place {
    pub(super) file: Rc<File>,
    /// The innermost symbol around it.
    pub(super) symbol: Option<u32>,
}

/// The constructor, as a language takes it.
pub(crate) fn resolver<'w>(scoping: &'static Scoping, world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Engine {
        world,
        scoping,
        library: OnceCell::new(),
        files: Memo::default(),
        qualified: Memo::default(),
        named: Memo::default(),
        packages: Memo::default(),
        shared_imports: Memo::default(),
        included: Memo::default(),
        outside: Memo::default(),
        visible: Memo::default(),
        usings: Memo::default(),
        values: Memo::default(),
        symbol_types: Memo::default(),
        binding_types: Memo::default(),
        bases: Memo::default(),
        levels: Memo::default(),
        handed: Memo::default(),
        brought_in: Memo::default(),
        passing: Memo::default(),
        imported: Memo::default(),
        mains: Memo::default(),
        blocks: Memo::default(),
        parts: Memo::default(),
        owned: Memo::default(),
        course: Course::new(MAX_DEPTH, MAX_STEPS),
    })
}

impl Resolver for Engine<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let Some(file) = self.file(file) else { return Meaning::Unknown("no such file") };
        let Some(&reference) = file.facts().references.get(at as usize) else {
            return Meaning::Unknown("no such reference");
        };
        let call = file.facts().call_of(at);
        if let Some(place) = file.facts().seen_by(at) {
            return Meaning::proved(SymbolAt { file: file.id(), place }, "declared in a block around");
        }
        let place = Place { file, symbol: reference.symbol };
        match (reference.shape, reference.qualifier) {
            (RefShape::Binds, _) => Meaning::Local,
            (RefShape::Import, _) => self.in_import(&place.file, &reference),
            (RefShape::Mention, _) => Meaning::Unknown("no rule reads a name here"),
            (_, Some(of)) if let Some(binding) = self.implied_binding(&place.file, of) => {
                self.implied_name(&place, &reference, binding, call)
            }
            // A name that may be a member of what it is compared with, and else stands alone.
            (RefShape::Value, Some(of)) => match self.qualified_name(&place, &reference, of, call) {
                found @ Meaning::Symbols { .. } => found,
                _ => self.bare_name(&place, &reference, call),
            },
            (_, Some(qualifier)) => self.qualified_name(&place, &reference, qualifier, call),
            (_, None) => self.bare_name(&place, &reference, call),
        }
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let Some(file) = self.file(file) else { return Meaning::Unknown("no such file") };
        match file.facts().imports.get(at as usize) {
            Some(import) => self.import_meaning(&file, import),
            None => Meaning::Unknown("no such import"),
        }
    }

    fn calls_fields(&self) -> bool {
        self.scoping.calls_fields
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.course.begin();
        self.parts(declared)
    }

    fn owner_of(&self, part: SymbolAt) -> Option<SymbolAt> {
        self.course.begin();
        self.owner(part)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.course.begin();
        self.overriding(declared)
    }
}

impl Engine<'_> {
    pub(super) fn file(&self, id: VersionId) -> Option<Rc<File>> {
        self.files.once(&id, || {
            let library = self.library().file(id);
            let source = library.or_else(|| self.world.file(id))?;
            (source.language == self.scoping.language || self.scoping.kin.contains(&source.language.as_str()))
                .then(|| Rc::new(File::new(source)))
        })
    }

    pub(super) fn library(&self) -> &Library {
        self.library.get_or_init(|| Library::read(self.scoping))
    }

    pub(super) fn kind(&self, at: SymbolAt) -> Option<SymbolKind> {
        self.file(at.file)?.symbol(at.place).map(|symbol| symbol.kind)
    }

    /// What is meant by symbols that were found: those of the library are from outside.
    pub(super) fn proved(&self, targets: Vec<SymbolAt>, why: &'static str) -> Meaning {
        let mut targets = self.main(targets);
        if targets.iter().any(|at| !self.library().has(at.file)) {
            targets.retain(|at| !self.library().has(at.file));
        }
        match targets.first() {
            None => Meaning::Unknown("no such name"),
            Some(first) if self.library().has(first.file) => Meaning::External,
            Some(_) => Meaning::Symbols { targets, confidence: Confidence::Static, why },
        }
    }

    /// A name that stands alone.
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
                        _ => Meaning::Unknown("no function of that name takes so many arguments"),
                    };
                }
                let picked = self.completed(picked);
                self.proved(self.with_constructors(picked, want, given.as_ref()), "a member of a type around")
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

    /// A name behind something.
    fn qualified_name(&self, place: &Place, reference: &Reference, of: ExprId, call: Option<ExprId>) -> Meaning {
        let before = place.file.facts().expr(of);
        let name = match (before, place.file.name(reference.name)) {
            // `super` alone calls what the function around it overrides.
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
                Some(made) => self.proved(made, "a value that is made"),
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

    /// A module by its whole name; the reference is the last part of that, or a shorter name for all of it.
    fn module_itself(&self, file: &File, of: ExprId, name: &str, want: Want) -> Option<Meaning> {
        let Expr::Module(whole) = file.facts().expr(of) else { return None };
        let whole = file.name(*whole);
        // What begins with a small letter is a member of it.
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

    /// Of functions those that take as many arguments as they are given, where others of the name are other functions.
    fn taking(&self, mut targets: Vec<SymbolAt>, given: Option<&Given>, want: Want) -> Vec<SymbolAt> {
        if let (true, Some(given), Want::Call) = (self.scoping.by_arity, given, want) {
            targets.retain(|at| match self.symbol_type(*at) {
                Type::Func(of) => takes(&of, given.len()),
                _ => true,
            });
        }
        targets
    }

    /// The name of the function around a place.
    fn function_around<'f>(&self, place: &'f Place) -> &'f str {
        let file = &place.file;
        let mut around = file.around(place.symbol).filter_map(|at| file.symbol(at));
        around.find(|of| matches!(of.kind, SymbolKind::Method | SymbolKind::Fn)).map_or("", |of| of.name.as_str())
    }

    /// A type and the method that is run, if a member of this name makes values of the type.
    fn made_value(&self, of: &Type, name: &str) -> Option<Vec<SymbolAt>> {
        let (_, runs) = self.scoping.maker.filter(|(maker, _)| *maker == name)?;
        let Type::Named(at, _) = of else { return None };
        let own = self.on_side(self.members(of, name, Want::Call), Side::Type);
        if !own.levels.is_empty() {
            return None;
        }
        let run = self.members(of, runs, Want::Call);
        let run = run.levels.first().map_or(&[][..], |(found, _)| found.as_slice());
        Some(std::iter::once(*at).chain(run.iter().copied().filter(|at| !self.library().has(at.file))).collect())
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
            // Nothing in the view can be meant.
            Type::Unknown if self.scoping.open_world && self.is_unheard(name, want) => return Meaning::External,
            Type::Unknown => return Meaning::Unknown("the type of the receiver is not known"),
            Type::External | Type::Basic(_) => return Meaning::External,
            _ => {}
        }
        let look = |want: Want| self.on_side(self.members_as(of, name, want), side);
        let mut levels = self.seen_from(place, look(want));
        // What is no variable may be a type, or a function that is handed on.
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
            _ if levels.unknown => Meaning::Unknown("the type is made from one that is not known"),
            _ => Meaning::Unknown("the type has no such member"),
        }
    }

    /// Whether a member can come from outside alone: the type is one of the library, and what the view adds to types has not
    /// this name.
    fn is_only_outside(&self, of: &Type, name: &str) -> bool {
        let is_known = matches!(of, Type::Named(at, _) if self.library().has(at.file));
        let is_own = |at: &SymbolAt| !self.library().has(at.file);
        let is_seen = || !self.scoping.parts_in_scope && self.symbols_named(name).iter().any(is_own);
        is_known && self.scoping.parts == Parts::ByOwner && !is_seen()
    }

    /// The members of a name. What is called and is no function is a type, of which a value is made, or holds a function.
    pub(super) fn members_as(&self, of: &Type, name: &str, want: Want) -> Rc<Levels> {
        let found = self.members(of, name, want);
        let is_call = want == Want::Call;
        let others = [(self.scoping.calls_make, Want::Made), (self.scoping.calls_fields, Want::Value)];
        let others = others.into_iter().filter(|(holds, _)| is_call && *holds && found.levels.is_empty());
        let others = others.map(|(_, want)| self.members(of, name, want));
        others.into_iter().find(|levels| !levels.levels.is_empty()).unwrap_or(found)
    }

    /// Those of the symbols found that the arguments of a call fit.
    fn chosen(
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
            return Meaning::Unknown("no function of that name takes so many arguments");
        }
        let targets = self.completed(targets);
        self.proved(self.with_constructors(targets, want, given.as_ref()), why)
    }

    /// How many type arguments a type is given where it is named.
    fn type_arguments(&self, place: &Place, mut of: ExprId) -> usize {
        let facts = place.file.facts();
        if let Expr::Call { callee, .. } = facts.expr(of)
            && let Expr::New(made) = facts.expr(*callee)
        {
            of = *made;
        }
        if let Expr::Apply { args, .. } = facts.expr(of) { args.len() } else { 0 }
    }

    /// A value that is made means its type and the constructor that the arguments fit.
    fn with_constructors(&self, mut targets: Vec<SymbolAt>, want: Want, given: Option<&Given>) -> Vec<SymbolAt> {
        if let (Want::Call | Want::Made, true, &[only]) = (want, self.scoping.types_are_values, targets.as_slice()) {
            targets = self.held(only).unwrap_or(targets);
        }
        let makes = want == Want::Made || want == Want::Call && self.scoping.calls_make;
        if let (true, Some(&of)) = (want == Want::Call && self.scoping.objects, targets.first())
            && let Some(applied) = self.applies(of, given)
        {
            return applied;
        }
        let is_one = targets.len() == 1 || self.scoping.parts == Parts::ByName;
        if let (true, true, Some(&of)) = (makes, is_one, targets.first())
            && self.kind(of).is_some_and(is_type)
        {
            targets.extend(self.constructors(of, given));
        }
        targets
    }

    /// What a constant is another name for: a function or a type.
    fn held(&self, at: SymbolAt) -> Option<Vec<SymbolAt>> {
        if self.kind(at) != Some(SymbolKind::Const) {
            return None;
        }
        match self.symbol_type(at) {
            Type::Named(of, _) if self.kind(of).is_some_and(is_type) => Some(vec![of]),
            Type::Unknown => match self.function_held(at)? {
                Value::Functions(all, _) => Some(all.to_vec()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The constructors of a type that arguments fit.
    fn constructors(&self, of: SymbolAt, given: Option<&Given>) -> Vec<SymbolAt> {
        let mut all = match self.scoping.unit {
            Unit::Namespace => self.constructors_anywhere(of),
            _ => self.made_by(of).to_vec(),
        };
        if self.scoping.parts == Parts::ByOwner {
            all.extend(self.constructors_in_blocks(of));
        }
        let mut found = match given {
            Some(given) => self.completed(self.overloads(&all, given)),
            None => self.completed(all),
        };
        // The declaration is told already.
        found.retain(|at| *at != of);
        found
    }

    /// All constructors of a type.
    pub(super) fn all_constructors(&self, of: SymbolAt) -> Vec<SymbolAt> {
        if let Some(name) = self.scoping.constructor {
            let levels = self.members(&Type::named(of), name, Want::Call);
            return levels.levels.first().map_or_else(Vec::new, |(found, _)| found.clone());
        }
        let parts = if self.scoping.parts == Parts::ByName { self.parts(of) } else { Vec::new() };
        let mut all = Vec::new();
        for of in std::iter::once(of).chain(parts) {
            let Some(file) = self.file(of.file) else { continue };
            let is_one = |at: &&u32| file.symbol(**at).is_some_and(|symbol| symbol.kind == SymbolKind::Constructor);
            let found = file.children(Some(of.place)).iter().filter(is_one);
            all.extend(found.map(|&place| SymbolAt { file: of.file, place }));
        }
        all
    }

    /// The constructors that stand in blocks that belong to a type.
    fn constructors_in_blocks(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let mut all = Vec::new();
        for &block in self.blocks(of).iter() {
            let Some(file) = self.file(block.file) else { continue };
            let places = file.children(Some(block.place)).iter().map(|&place| SymbolAt { file: block.file, place });
            all.extend(places.filter(|&at| self.kind(at) == Some(SymbolKind::Constructor)));
        }
        all
    }

    /// A constructor that is named behind its type, or behind a value of it: of the nearest type that has one.
    fn named_constructors(&self, of: &Type, name: &str, given: Option<&Given>) -> Vec<SymbolAt> {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_BASES) {
            next += 1;
            let Type::Named(at, _) = of else { continue };
            let mut found = self.constructors(at, given);
            found.retain(|&at| {
                self.file(at.file).is_some_and(|file| file.symbol(at.place).is_some_and(|of| of.name == name))
            });
            if !found.is_empty() {
                return found;
            }
            open.extend(self.bases(at).iter().cloned());
        }
        Vec::new()
    }

    /// `this(…)` and `super(…)`.
    fn own_constructor(&self, place: &Place, is_super: bool, call: Option<ExprId>) -> Meaning {
        let Some(class) = self.class_of(&place.file, place.symbol) else { return Meaning::Unknown("no class") };
        let class = SymbolAt { file: place.file.id(), place: class };
        let of = match is_super {
            false => Type::named(class),
            true => match self.bases(class).first() {
                Some(base) => base.clone(),
                None => return Meaning::External,
            },
        };
        match of {
            Type::Named(of, _) => {
                let given = call.map(|call| self.given(place, call));
                let found = self.constructors(of, given.as_ref());
                self.proved(if found.is_empty() { vec![of] } else { found }, "a constructor of the class")
            }
            Type::External => Meaning::External,
            _ => Meaning::Unknown("the base is not known"),
        }
    }

    /// Whether a name is that of a plain type.
    pub(super) fn is_plain(&self, name: &str) -> bool {
        self.plain(name).is_some()
    }

    /// The nearest symbol around that has members of its own: a type, or a function of a class without a name.
    pub(super) fn class_of(&self, file: &File, symbol: Option<u32>) -> Option<u32> {
        if self.scoping.unit == Unit::Include {
            return None;
        }
        let has_namespaces = self.scoping.unit == Unit::Namespace;
        file.around(symbol).find(|&at| {
            file.symbol(at).is_some_and(|symbol| {
                let has_members = has_namespaces || self.scoping.known_packages;
                is_type(symbol.kind)
                    || !symbol.bases.is_empty()
                    || symbol.owner.is_some()
                    || has_members && symbol.kind == SymbolKind::Namespace
            })
        })
    }

    /// Whom an import means.
    fn import_meaning(&self, file: &Rc<File>, import: &Import) -> Meaning {
        match self.imported(file, import) {
            Found::Symbols(targets) => self.proved(targets, "imported"),
            Found::Guess(target) => Meaning::guessed(target, "imported"),
            Found::Module(files) => Meaning::Module(files),
            Found::Members(levels) => self.proved(levels.all().collect(), "imported"),
            Found::External | Found::Outside => Meaning::External,
            Found::Nothing => Meaning::Unknown("nothing has the name that is imported"),
        }
    }

    /// A name in an import, or in a package clause.
    fn in_import(&self, file: &Rc<File>, reference: &Reference) -> Meaning {
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

/// Whether a name means the class around it, or what that is made from.
fn is_own(name: &str) -> bool {
    matches!(name, "this" | "super" | "base" | "self" | "static" | "parent")
}

/// Whether a symbol of this kind is a type.
pub(crate) fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Interface, Module, Struct, Trait, Type, Union};
    matches!(kind, Class | Enum | Interface | Module | Struct | Trait | Type | Union)
}

//! Packages and files, indexed once for lookups: names, methods by type, members by their parent.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{FileFacts, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId, World};

use crate::rules::index::Index;

/// The packages of a folder: one, its external test package, and possibly some that no build includes.
#[derive(Default)]
pub(super) struct Folder {
    pub(super) packages: HashMap<String, Rc<Package>>,
    /// The package that an import of the folder refers to.
    pub(super) imported: Option<Rc<Package>>,
}

/// A package: the files of a folder with one package clause.
#[derive(Default)]
pub(super) struct Package {
    pub(super) name: String,
    /// Its files without tests.
    pub(super) files: Vec<VersionId>,
    /// The names that its files declare. A name can have several symbols, under different build constraints.
    names: HashMap<String, Vec<SymbolAt>>,
    /// The methods of its types, by type and name.
    methods: HashMap<String, HashMap<String, Vec<SymbolAt>>>,
}

impl Package {
    /// Returns the symbols of a name.
    pub(super) fn find(&self, name: &str) -> &[SymbolAt] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the methods of that name that a type declares.
    pub(super) fn method(&self, of: &str, name: &str) -> &[SymbolAt] {
        self.methods.get(of).and_then(|methods| methods.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Ranks a package as the target of an import: programs and notes beside a package are not the target.
    fn rank(&self) -> (bool, usize, String) {
        (self.name != "main", self.files.len(), self.name.clone())
    }

    fn add(&mut self, file: &SourceFile) {
        if !is_test(&file.path) {
            self.files.push(file.id);
        }
        for (place, symbol) in file.facts.symbols.iter().enumerate() {
            if symbol.parent.is_some() || !symbol.kind.can_be_named() {
                continue;
            }
            let at = SymbolAt { file: file.id, ordinal: place as u32 };
            match receiver(&file.facts, symbol) {
                Some(of) => {
                    let methods = self.methods.entry(of.to_owned()).or_default();
                    methods.entry(symbol.name.clone()).or_default().push(at);
                }
                // These cannot be named: `init`, and the members of types in closures without an enclosing symbol.
                None if symbol.name == "init" || matches!(symbol.kind, SymbolKind::Field | SymbolKind::Method) => {}
                None => self.names.entry(symbol.name.clone()).or_default().push(at),
            }
        }
    }
}

/// Returns the type that a method is declared for.
pub(super) fn receiver<'f>(facts: &'f FileFacts, symbol: &Symbol) -> Option<&'f str> {
    facts.head_name(symbol.owner?)
}

/// Returns whether a symbol contains local bindings.
pub(super) fn is_function(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Fn | SymbolKind::Method)
}

/// Returns whether a file is only built for tests.
pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}

impl Folder {
    /// Reads the Go files of a folder.
    pub(super) fn read(world: &dyn World, folder: &str) -> Self {
        let mut packages: HashMap<String, Package> = HashMap::new();
        let mut silent = Vec::new();
        for &id in world.files_in(folder).iter() {
            let Some(file) = world.file(id).filter(|file| file.language == "go") else { continue };
            if file.facts.symbols.is_empty() {
                silent.push(id);
                continue;
            }
            let name = package_name(&file);
            packages.entry(name.clone()).or_insert_with(|| Package { name, ..Package::default() }).add(&file);
        }
        // The package of files without a symbol is unknown: most likely the imported one.
        let main =
            packages.values_mut().filter(|package| !package.files.is_empty()).max_by_key(|package| package.rank());
        if let Some(main) = main {
            main.files.extend(silent);
        }
        let packages: HashMap<String, Rc<Package>> =
            packages.into_iter().map(|(name, package)| (name, Rc::new(package))).collect();
        let imported =
            packages.values().filter(|package| !package.files.is_empty()).max_by_key(|package| package.rank()).cloned();
        Self { packages, imported }
    }
}

/// Returns the package clause, which all qualified names of a file begin with.
fn package_name(file: &SourceFile) -> String {
    let first = file.facts.symbols.first().and_then(|symbol| symbol.qualified_name.split('.').next());
    first.unwrap_or("").to_owned()
}

/// A file with the lookups that only Go needs.
pub(super) struct FileIndex {
    index: Index,
    pub(super) folder: String,
    pub(super) package: String,
    /// The import that a name refers to, cached on first use.
    pub(super) imports: RefCell<HashMap<String, Option<u32>>>,
}

impl Deref for FileIndex {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl FileIndex {
    pub(super) fn new(source: Rc<SourceFile>) -> Self {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let package = package_name(&source);
        let index = Index::new(source, |import| import.alias.as_deref());
        Self { index, folder, package, imports: RefCell::default() }
    }

    /// Returns the direct children of a symbol.
    pub(super) fn members(&self, place: u32) -> impl Iterator<Item = (u32, &Symbol)> {
        self.children(Some(place)).iter().filter_map(|&at| self.symbol(at).map(|symbol| (at, symbol)))
    }

    /// Returns the type that a method is declared for.
    pub(super) fn receiver(&self, symbol: &Symbol) -> Option<&str> {
        receiver(self.facts(), symbol)
    }

    /// Returns the members of an inline type in these bytes, without those of types inside it.
    pub(super) fn members_within(&self, start: u32, end: u32) -> impl Iterator<Item = (u32, &Symbol)> {
        let symbols = &self.facts().symbols;
        let first = symbols.partition_point(|symbol| symbol.span.start < start);
        let within = (first..symbols.len()).map(|at| (at as u32, &symbols[at]));
        let within = within.take_while(move |(_, symbol)| symbol.span.start < end);
        within.filter(move |(_, symbol)| {
            let is_member = matches!(symbol.kind, SymbolKind::Field | SymbolKind::Method);
            is_member && symbol.parent.is_none_or(|parent| (parent as usize) < first)
        })
    }
}

/// Returns whether an external package may have a name, by its path: the file does not contain its name.
pub(super) fn may_be_named(path: &str, name: &str) -> bool {
    let mut elements = path.rsplit('/');
    let last = elements.next().unwrap_or(path);
    let is_version =
        |text: &str| text.len() > 1 && text.starts_with('v') && text[1..].bytes().all(|b| b.is_ascii_digit());
    let last = if is_version(last) { elements.next().unwrap_or(last) } else { last };
    let last = last.rsplit_once('.').filter(|(_, end)| is_version(end)).map_or(last, |(bare, _)| bare);
    let same = |part: &str| part == name;
    same(last)
        || same(last.strip_prefix("go-").unwrap_or(last))
        || same(last.strip_suffix("-go").unwrap_or(last))
        || same(last.strip_suffix(".go").unwrap_or(last))
        || last.rsplit(['-', '.']).next().is_some_and(same)
        || last.replace(['-', '.'], "_") == name
        || last.replace(['-', '.'], "") == name
}

//! Related symbols: the symbols that a symbol uses, its users, and nearby symbols.

use std::collections::{HashMap, HashSet};

use codecompass_model::{Confidence, Resolution, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId};
use codecompass_store::Result;

use super::{EdgeKind, Graph};

/// The scope of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The file and its imports.
    File,
    /// Also the other files of its folder.
    Module,
    /// Also the other files under the nearest manifest.
    Package,
}

impl Scope {
    /// All scopes by their words on the wire.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("file", Scope::File), ("module", Scope::Module), ("package", Scope::Package)];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::File => "file",
            Scope::Module => "module",
            Scope::Package => "package",
        }
    }
}

/// How a symbol is related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// In the same file.
    SameFile,
    /// In another file of the folder.
    SameModule,
    /// In another folder of the package.
    SamePackage,
    /// One of the two refers to the other through an import.
    Imported,
}

impl Relation {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Relation::SameFile => "same_file",
            Relation::SameModule => "same_module",
            Relation::SamePackage => "same_package",
            Relation::Imported => "imported",
        }
    }
}

/// The direction of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The anchor uses this symbol.
    Uses,
    /// This symbol uses the anchor.
    UsedBy,
}

impl Usage {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Usage::Uses => "uses",
            Usage::UsedBy => "used_by",
        }
    }
}

/// The related symbols.
#[derive(Clone, Debug, Default)]
pub struct Related {
    /// The symbols, most likely needed first.
    pub symbols: Vec<(SymbolAt, Relation, Option<Usage>)>,
}

/// The sort key of a symbol in the list: smaller is nearer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Proximity {
    tier: Tier,
    /// Heuristic edges, tests, and members of other symbols come later.
    less: (Confidence, bool, bool),
    distance: u64,
    path: String,
    place: u32,
}

/// How likely the symbol is needed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Used,
    Uses,
    SameType,
    Imported,
    Near,
    SameFolder,
    Package,
}

/// The list under construction: each symbol once, with its nearest key.
struct RelatedList {
    symbols: HashMap<SymbolAt, (Proximity, Relation)>,
    /// Whether the anchor is in a test: then other tests are not ranked lower.
    for_test: bool,
}

impl RelatedList {
    fn add(&mut self, at: SymbolAt, nearness: Proximity, relation: Relation) {
        match self.symbols.get_mut(&at) {
            Some(known) if known.0 <= nearness => {}
            Some(known) => known.0 = nearness,
            None => {
                self.symbols.insert(at, (nearness, relation));
            }
        }
    }
}

impl Graph<'_> {
    /// Returns the symbols related to one. A symbol that is reached through an import is `Imported` wherever it is
    /// defined.
    pub fn related(&self, anchor: SymbolAt, scope: Scope) -> Result<Related> {
        let Some(file) = self.file(anchor.file) else { return Ok(Related::default()) };
        let mut list = RelatedList { symbols: HashMap::new(), for_test: self.is_in_test(&file, Some(anchor.ordinal)) };
        self.add_used(&file, anchor, &mut list);
        self.add_users(&file, anchor, &mut list)?;
        self.add_imported(&file, &mut list);
        add_file_symbols(&file, anchor.ordinal, &mut list);
        if scope >= Scope::Module {
            self.add_folder_symbols(&file, scope, &mut list)?;
        }
        self.failure()?;
        list.symbols.remove(&anchor);
        let within = |relation: Relation| match relation {
            Relation::SameFile | Relation::Imported => true,
            Relation::SameModule => scope >= Scope::Module,
            Relation::SamePackage => scope == Scope::Package,
        };
        let mut found: Vec<(Proximity, SymbolAt, Relation)> =
            list.symbols.into_iter().map(|(at, (nearness, relation))| (nearness, at, relation)).collect();
        found.retain(|(_, _, relation)| within(*relation));
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let link = |tier: Tier| match tier {
            Tier::Used => Some(Usage::Uses),
            Tier::Uses => Some(Usage::UsedBy),
            _ => None,
        };
        let symbols = found.into_iter().map(|(nearness, at, relation)| (at, relation, link(nearness.tier)));
        Ok(Related { symbols: symbols.collect() })
    }

    /// Adds the symbols that are used inside the anchor.
    fn add_used(&self, file: &SourceFile, anchor: SymbolAt, list: &mut RelatedList) {
        for (at, reference) in file.facts.references.iter().enumerate() {
            if !reference.shape.is_use() || !is_within(&file.facts.symbols, reference.symbol, anchor.ordinal) {
                continue;
            }
            if self.budget.is_spent() {
                return;
            }
            let Resolution::Symbols { targets, confidence, .. } = self.resolve(file, at as u32) else { continue };
            for target in targets.into_iter().filter(|target| *target != anchor) {
                let distance = u64::from(reference.line);
                self.add_linked(file, target, Tier::Used, confidence, distance, list);
            }
        }
    }

    /// Adds the symbols that use the anchor; for a file that only imports it, the import.
    fn add_users(&self, file: &SourceFile, anchor: SymbolAt, list: &mut RelatedList) -> Result<()> {
        let Some(symbol) = file.facts.symbols.get(anchor.ordinal as usize) else { return Ok(()) };
        let found = self.references_to_name(&symbol.name)?;
        let mut importing = Vec::new();
        let mut using = HashSet::new();
        for site in found.proved(anchor) {
            let outline = self.snapshot().outline(site.file.id)?;
            let symbols = &outline.symbols;
            let is_own = |from: u32| site.file.id == file.id && is_within(symbols, Some(from), anchor.ordinal);
            let from = site.from.filter(|from| !is_own(*from));
            if site.kind == EdgeKind::Imports {
                importing.push(site);
                continue;
            }
            let Some(place) = from.and_then(|from| listed_symbol(symbols, from)) else { continue };
            using.insert(site.file.id);
            let user = SymbolAt { file: site.file.id, ordinal: place };
            self.add_linked(file, user, Tier::Uses, site.confidence, 0, list);
        }
        for site in importing.into_iter().filter(|site| !using.contains(&site.file.id)) {
            let outline = self.snapshot().outline(site.file.id)?;
            let import = outline.symbols.iter().enumerate().find(|(_, symbol)| {
                symbol.kind == SymbolKind::Use && (symbol.lines.start..=symbol.lines.end).contains(&site.line)
            });
            if let Some((place, _)) = import {
                let user = SymbolAt { file: site.file.id, ordinal: place as u32 };
                self.add_linked(file, user, Tier::Uses, Confidence::Heuristic, 0, list);
            }
        }
        Ok(())
    }

    /// Adds the imports of the file, whether the anchor uses them or not.
    fn add_imported(&self, file: &SourceFile, list: &mut RelatedList) {
        for (at, import) in file.facts.imports.iter().enumerate() {
            if self.budget.is_spent() {
                return;
            }
            for target in self.resolve_import(file, at as u32).targets() {
                self.add_linked(file, *target, Tier::Imported, Confidence::Static, u64::from(import.line), list);
            }
        }
    }

    /// Adds a symbol that refers to the file, or to which the file refers.
    fn add_linked(
        &self,
        file: &SourceFile,
        at: SymbolAt,
        tier: Tier,
        confidence: Confidence,
        distance: u64,
        list: &mut RelatedList,
    ) {
        let Some(other) = self.file(at.file) else { return };
        let relation = match () {
            () if at.file == file.id => Relation::SameFile,
            () if self.is_in_same_unit(file, &other) => Relation::SameModule,
            () => Relation::Imported,
        };
        let is_test = !list.for_test && self.is_in_test(&other, Some(at.ordinal));
        let is_small = other.facts.symbols.get(at.ordinal as usize).is_some_and(|symbol| is_member_kind(symbol.kind));
        let less = (confidence, is_test, is_small);
        list.add(at, Proximity { tier, less, distance, path: other.path.clone(), place: at.ordinal }, relation);
    }

    /// Adds the symbols of the folder or the package.
    fn add_folder_symbols(&self, file: &SourceFile, scope: Scope, list: &mut RelatedList) -> Result<()> {
        let snapshot = self.snapshot();
        let languages = self.languages();
        let catalogue = snapshot.versions_by_id()?;
        let own = folder(&file.path);
        let roots: HashSet<&str> = catalogue
            .values()
            .filter(|version| languages.is_manifest(version.path.rsplit('/').next().unwrap_or_default()))
            .map(|version| folder(&version.path))
            .collect();
        let package = package_root(own, &roots);
        let mut others: Vec<(u64, &str, VersionId)> = Vec::new();
        for version in catalogue.values().filter(|version| version.id != file.id) {
            let its = folder(&version.path);
            let is_in = its == own || scope == Scope::Package && package_root(its, &roots) == package;
            if is_in {
                others.push((folder_distance(own, its), &version.path, version.id));
            }
        }
        others.sort_unstable();
        for (steps, path, id) in others {
            if self.budget.is_spent() {
                return Ok(());
            }
            let (tier, relation) = match steps {
                0 => (Tier::SameFolder, Relation::SameModule),
                _ => (Tier::Package, Relation::SamePackage),
            };
            let outline = snapshot.outline(id)?;
            let is_code = |symbol: &Symbol| symbol.kind != SymbolKind::Use && !symbol.kind.is_landmark();
            let defined = outline.symbols.iter().enumerate().filter(|(_, symbol)| is_code(symbol));
            for (place, symbol) in defined {
                let place = place as u32;
                let less = (Confidence::Static, languages.is_test(path, symbol.in_test), symbol.parent.is_some());
                let nearness = Proximity { tier, less, distance: steps, path: path.to_owned(), place };
                list.add(SymbolAt { file: id, ordinal: place }, nearness, relation);
            }
        }
        Ok(())
    }
}

/// Adds the other symbols of the file: those of the same type first, then by distance in lines.
fn add_file_symbols(file: &SourceFile, anchor: u32, list: &mut RelatedList) {
    let symbols = &file.facts.symbols;
    let Some(own) = symbols.get(anchor as usize) else { return };
    let parent = |at: Option<u32>| at.and_then(|at| symbols.get(at as usize));
    // The blocks of a type count as one type.
    let type_name = parent(own.parent).map_or(&own.qualified_name, |parent| &parent.qualified_name);
    for (place, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind != SymbolKind::Use) {
        let is_same_type = symbol.qualified_name == *type_name
            || symbol.qualified_name == own.qualified_name
            || parent(symbol.parent).is_some_and(|parent| {
                parent.qualified_name == *type_name || parent.qualified_name == own.qualified_name
            });
        let tier = if is_same_type { Tier::SameType } else { Tier::Near };
        let is_test = !list.for_test && symbol.in_test;
        let less = (Confidence::Static, is_test || is_member_kind(symbol.kind) && !is_same_type, false);
        let distance = u64::from(symbol.lines.start.abs_diff(own.lines.start));
        let place = place as u32;
        let nearness = Proximity { tier, less, distance, path: file.path.clone(), place };
        list.add(SymbolAt { file: file.id, ordinal: place }, nearness, Relation::SameFile);
    }
}

/// Whether symbols of this kind are shown as part of their type.
fn is_member_kind(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Variant | SymbolKind::Property)
}

/// Whether a symbol is the other one, or is nested in it.
pub(super) fn is_within(symbols: &[Symbol], symbol: Option<u32>, other: u32) -> bool {
    let mut around = symbol;
    while let Some(at) = around {
        if at == other {
            return true;
        }
        around = symbols.get(at as usize).and_then(|symbol| symbol.parent).filter(|parent| *parent < at);
    }
    false
}

/// Returns the symbol to list for a reference: the enclosing function instead of a parameter or local binding.
fn listed_symbol(symbols: &[Symbol], from: u32) -> Option<u32> {
    super::enclosing_function(symbols, Some(from)).or(Some(from))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the nearest folder with a manifest, starting at the given one, or the root.
fn package_root<'p>(of: &'p str, roots: &HashSet<&str>) -> &'p str {
    let mut at = of;
    while !at.is_empty() && !roots.contains(at) {
        at = folder(at);
    }
    at
}

/// Returns the number of steps from one folder to another.
fn folder_distance(from: &str, to: &str) -> u64 {
    let (from, to): (Vec<&str>, Vec<&str>) = (path_components(from), path_components(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    (from.len() + to.len() - 2 * shared) as u64
}

fn path_components(folder: &str) -> Vec<&str> {
    folder.split('/').filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_root_is_the_nearest_manifest_folder() {
        let roots = HashSet::from(["a/b", ""]);
        for (of, expected) in [("a/b/c/d", "a/b"), ("a/b", "a/b"), ("a", ""), ("", ""), ("a/bc", "")] {
            assert_eq!(package_root(of, &roots), expected, "{of}");
        }
        for (from, to, expected) in [("a/b", "a/b", 0), ("a/b", "a", 1), ("a/b", "a/c", 2), ("", "a/b", 2)] {
            assert_eq!(folder_distance(from, to), expected, "{from} {to}");
        }
    }
}

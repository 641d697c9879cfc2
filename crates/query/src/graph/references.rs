//! Finds the references to a symbol.
//!
//! The scan visits all occurrences of the name, and occurrences of its import aliases. Each resolves to the symbol, to
//! something else, or is unresolved. Unresolved references are listed last, so that the list is never shorter than the
//! result of a search for the word in code. The `classify` module defines the five classes and their counts.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{Confidence, RefShape, Resolution, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId};
use codecompass_store::{Prefilter, Result, Run, VersionInfo};

use super::classify::{
    Class, Classification, ClassifyTarget, Counts, Definition, Occurrence, OccurrenceResolution, Position,
};
use super::written_form::{TargetForm, WrittenForm};
use super::{EdgeKind, Graph};

/// A position that refers to a symbol.
#[derive(Clone, Debug)]
pub struct Site {
    /// The file.
    pub file: Rc<VersionInfo>,
    /// The line.
    pub line: u32,
    /// The column in bytes, from 0.
    pub column: u32,
    /// The kind of the edge.
    pub kind: EdgeKind,
    /// How the name is written.
    pub shape: RefShape,
    /// The innermost enclosing symbol.
    pub from: Option<u32>,
    /// The confidence of the resolution.
    pub confidence: Confidence,
    /// The reason in a few words.
    pub why: &'static str,
    /// Whether it is in a test.
    pub in_test: bool,
    /// Whether it is unresolved, but no other member of the view has the name.
    pub is_only: bool,
    /// Whether the name is written as a member of a value.
    is_member: bool,
    /// Whether it is unresolved, but the symbol fits better than others with the name.
    is_guess: bool,
}

impl Site {
    fn position(&self) -> Position {
        (self.file.id, self.line, self.column)
    }
}

/// How far a scan came before its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanProgress {
    /// The number of occurrences of the name that were examined. If all were, only imports are missing.
    pub examined: usize,
    /// The number of occurrences of the name.
    pub total: usize,
}

/// All references to a name.
#[derive(Clone, Debug, Default)]
pub struct NameReferences {
    /// The sites that resolve to each symbol, heuristic ones included.
    by_target: HashMap<SymbolAt, Vec<Site>>,
    /// Occurrences that may refer to any symbol with the name.
    unresolved: Vec<Site>,
    /// All occurrences of the name.
    occurrences: Vec<Occurrence>,
    /// The definitions with the name.
    definitions: Vec<Definition>,
    /// The definitions that are members.
    members: Vec<(SymbolAt, String)>,
    /// The number of occurrences that were scanned.
    files_scanned: usize,
    /// The number of occurrences of the name.
    total: usize,
    /// Whether imports were not scanned completely.
    is_cut: bool,
}

impl NameReferences {
    /// Whether all occurrences were scanned.
    pub fn is_complete(&self) -> bool {
        self.files_scanned == self.total && !self.is_cut
    }

    /// The progress of an incomplete scan.
    pub fn progress(&self) -> Option<ScanProgress> {
        (!self.is_complete()).then_some(ScanProgress { examined: self.files_scanned, total: self.total })
    }

    /// The number of sites that resolve to a symbol.
    pub fn count(&self, target: SymbolAt) -> usize {
        self.proved(target).len()
    }

    /// The sites that resolve to a symbol, statically or by heuristic.
    pub fn proved(&self, target: SymbolAt) -> &[Site] {
        self.by_target.get(&target).map_or(&[], Vec::as_slice)
    }

    /// Returns the files in which the name occurs in code of the accepted languages.
    pub fn files(&self, is_kin: impl Fn(&str) -> bool) -> HashSet<VersionId> {
        let places = self.occurrences.iter().map(|place| &place.file);
        let files = places.chain(self.definitions.iter().map(|definition| &definition.file));
        files.filter(|file| is_kin(&file.language)).map(|file| file.id).collect()
    }

    /// Returns the lines of a file with occurrences of the name that were examined.
    pub(super) fn lines_in(&self, file: VersionId) -> HashSet<u32> {
        self.occurrences.iter().filter(|place| place.file.id == file).map(|place| place.line).collect()
    }

    /// Returns the sites that refer to a symbol, confirmed ones first, then unresolved ones in the order of files, and
    /// the classification of all occurrences of its name. `is_kin` decides whether occurrences in a language can refer
    /// to it.
    pub fn classify(
        &self,
        graph: &Graph<'_>,
        target: SymbolAt,
        symbol: &Symbol,
        is_kin: impl Fn(&str) -> bool,
    ) -> (Vec<Site>, Counts) {
        let form = TargetForm::new(graph, target, symbol);
        let may_mean = |language: &str, written: WrittenForm| form.allows(language, written);
        let asked = ClassifyTarget { target, can_interop: &is_kin, can_refer_to: &may_mean };
        let is_proved = |site: &&Site| site.confidence == Confidence::Static;
        let proved = self.proved(target).iter().filter(is_proved).map(Site::position);
        let account = Classification::classify(&asked, &self.definitions, &self.occurrences, proved);
        let mut members = self.members.iter().filter(|(_, language)| is_kin(language));
        let is_only = members.next().is_some_and(|(at, _)| *at == target) && members.next().is_none();
        let mut sites: Vec<Site> = Vec::new();
        // Heuristic sites for the symbol precede those for any symbol, so the first entry for a position is kept.
        let mut seen: HashSet<Position> = HashSet::new();
        let guesses = self.proved(target).len();
        for (n, site) in self.proved(target).iter().chain(&self.unresolved).enumerate() {
            let is_shown = match (account.class(site.position()), site.confidence) {
                (Some(Class::Proved | Class::Beyond), Confidence::Static) => true,
                (Some(Class::Undecided), Confidence::Heuristic) => seen.insert(site.position()),
                _ => false,
            };
            if is_shown {
                let is_guess = n < guesses;
                let is_only = is_only && site.is_member && site.confidence == Confidence::Heuristic;
                sites.push(Site { is_only, is_guess, ..site.clone() });
            }
        }
        sites.sort_by(|a, b| site_order(a).cmp(&site_order(b)));
        sites.dedup_by(|a, b| a.position() == b.position());
        (sites, account.counts())
    }

    /// Returns the unresolved calls with the name of a symbol.
    pub(super) fn unresolved_calls(
        &self,
        graph: &Graph<'_>,
        target: SymbolAt,
        symbol: &Symbol,
        is_kin: impl Fn(&str) -> bool,
    ) -> Vec<Site> {
        let (mut sites, _) = self.classify(graph, target, symbol, is_kin);
        sites.retain(|site| site.confidence == Confidence::Heuristic && site.kind == EdgeKind::Calls);
        sites
    }
}

/// Confirmed before unresolved, then sites to which only this symbol fits, then those to which it fits best, code before
/// tests, then by location.
fn site_order(site: &Site) -> (Confidence, bool, bool, bool, &str, u32, u32) {
    let is_guess = site.is_guess || site.confidence == Confidence::Static;
    (site.confidence, !site.is_only, !is_guess, site.in_test, &site.file.path, site.line, site.column)
}

/// Whether a key of a literal or pattern, or the name of an argument, can refer to a symbol.
pub(super) fn is_member(symbol: &Symbol) -> bool {
    use SymbolKind::{Field, Method, Property, Var};
    matches!(symbol.kind, Field | Method | Property) || symbol.kind == Var && symbol.parent.is_some()
}

/// Whether a symbol is a member of a type.
pub(super) fn is_member_of(symbols: &[Symbol], symbol: &Symbol) -> bool {
    use SymbolKind::{Class, Const, Fn, Impl, Interface, Struct, Trait, Var};
    let around = symbol.parent.and_then(|at| symbols.get(at as usize)).map(|around| around.kind);
    is_member(symbol)
        || matches!(symbol.kind, Fn | Const | Var)
            && around.is_some_and(|kind| matches!(kind, Class | Impl | Interface | Struct | Trait))
}

/// Whether a symbol's own name is written in code where it is defined, and not as a string.
fn is_named_at_definition(symbol: &Symbol) -> bool {
    let length = (symbol.name_span.end - symbol.name_span.start) as usize;
    let is_word = symbol.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '#'))
        && !symbol.name.starts_with(|c: char| c.is_ascii_digit());
    // A quoted key starts before its name.
    let is_quoted = matches!(symbol.kind, SymbolKind::Field | SymbolKind::Property)
        && symbol.name_span.start == symbol.span.start + 1;
    has_own_name(symbol.kind) && length == symbol.name.len() && is_word && !is_quoted
}

/// Whether symbols of this kind have a name of their own: not the name of another symbol, and not a title.
fn has_own_name(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Use | SymbolKind::Impl | SymbolKind::Test)
}

/// Whether a symbol can be called at all.
pub(super) fn can_be_called(symbol: &Symbol) -> bool {
    use SymbolKind::{Enum, Interface, Module, Namespace, Trait};
    !matches!(symbol.kind, Enum | Interface | Module | Namespace | Trait)
}

/// The progress of scanning the occurrences of a name. Finished files are not scanned again.
struct NameScan {
    /// The files that contain the name, with the ordinals of the references.
    files: Vec<(VersionId, Vec<u32>)>,
    /// The number of scanned files.
    files_done: usize,
    /// The files that may import the name, and the number of those that were scanned.
    importers: Vec<VersionId>,
    imported: usize,
    found: Rc<NameReferences>,
}

/// The name scans of a view. They stay valid while the view is unchanged, also for its next snapshot.
#[derive(Default)]
pub struct ReferenceCache {
    scans: RefCell<NameScans>,
}

/// Name scans in two generations: those that are not used while half of the limits is refilled are dropped.
#[derive(Default)]
struct NameScans {
    young: HashMap<String, NameScan>,
    old: HashMap<String, NameScan>,
    /// The number of occurrences in the young scans.
    places: usize,
}

impl NameScans {
    fn take(&mut self, name: &str) -> Option<NameScan> {
        match self.young.remove(name) {
            Some(scan) => {
                self.places -= scan.found.files_scanned;
                Some(scan)
            }
            None => self.old.remove(name),
        }
    }

    fn insert(&mut self, name: &str, scan: NameScan) {
        if self.young.len() >= MAX_CACHED_NAMES / 2 || self.places >= MAX_CACHED_SITES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.places = 0;
        }
        self.places += scan.found.files_scanned;
        self.young.insert(name.to_owned(), scan);
    }
}

impl ReferenceCache {
    /// Keeps the incomplete scans, which the next query continues, and evicts the complete ones, which can be redone.
    pub fn evict_complete(&self) {
        let mut scans = self.scans.borrow_mut();
        scans.old.retain(|_, scan| !scan.found.is_complete());
        scans.young.retain(|_, scan| !scan.found.is_complete());
        scans.places = scans.young.values().map(|scan| scan.found.files_scanned).sum();
    }
}

/// The maximum numbers of cached names and of their occurrences.
const MAX_CACHED_NAMES: usize = 1_000;
const MAX_CACHED_SITES: usize = 100_000;

/// With more definitions than this, none is treated as the only member with the name, so members are not collected.
const MAX_MEMBER_CANDIDATES: usize = 50;

impl Graph<'_> {
    /// Scans all occurrences of a name, continuing an earlier scan that was cut off.
    pub fn references_to_name(&self, name: &str) -> Result<Rc<NameReferences>> {
        let begun = self.cache.references.scans.borrow_mut().take(name);
        let mut scan = match begun {
            Some(scan) => scan,
            None => self.start_scan(name)?,
        };
        if !scan.found.is_complete() {
            self.continue_scan(name, &mut scan)?;
        }
        let found = Rc::clone(&scan.found);
        self.cache.references.scans.borrow_mut().insert(name, scan);
        Ok(found)
    }

    fn start_scan(&self, name: &str) -> Result<NameScan> {
        let mut found = NameReferences::default();
        let candidates = self.snapshot().references_named(name)?;
        let mut files: Vec<(bool, String, VersionId, Vec<u32>)> = Vec::with_capacity(candidates.len());
        let mut bearing: HashSet<VersionId> = HashSet::with_capacity(candidates.len());
        for (version, places) in candidates {
            found.total += places.len();
            bearing.insert(version);
            let info = self.snapshot().version(version)?;
            let path = info.map(|info| info.path.clone()).unwrap_or_default();
            files.push((self.languages().is_test_path(&path), path, version, places));
        }
        // Files that are not tests by their path come first, so that a timeout omits the least important ones.
        files.sort();
        let files = files.into_iter().map(|(_, _, version, places)| (version, places)).collect();
        self.add_definitions(name, &bearing, &mut found)?;
        let importers = self.importers(name)?;
        found.is_cut = !importers.is_empty();
        Ok(NameScan { files, files_done: 0, importers, imported: 0, found: Rc::new(found) })
    }

    /// Adds the definitions with a name. Definitions in files that also refer to it get their position when the file is
    /// read.
    fn add_definitions(&self, name: &str, bearing: &HashSet<VersionId>, found: &mut NameReferences) -> Result<()> {
        let rows = self.snapshot().symbols_named(name)?;
        let are_few = rows.len() <= MAX_MEMBER_CANDIDATES;
        for row in rows {
            if !has_own_name(row.kind) {
                continue;
            }
            let Some(file) = self.snapshot().version(row.version)? else { continue };
            let outline = if are_few { Some(self.snapshot().outline(row.version)?) } else { None };
            let symbol = outline.as_ref().and_then(|outline| outline.symbols.get(row.ordinal as usize));
            if let (Some(outline), Some(symbol)) = (&outline, symbol)
                && is_member_of(&outline.symbols, symbol)
            {
                found.members.push((SymbolAt { file: row.version, ordinal: row.ordinal }, file.language.clone()));
            }
            if !bearing.contains(&row.version) && symbol.is_none_or(is_named_at_definition) {
                let place = symbol.map(|symbol| (symbol.name_line, symbol.name_column));
                found.definitions.push(Definition { file, symbol: row.ordinal, place });
            }
        }
        Ok(())
    }

    fn continue_scan(&self, name: &str, look: &mut NameScan) -> Result<()> {
        let found = Rc::make_mut(&mut look.found);
        while let Some((version, places)) = look.files.get(look.files_done).filter(|_| !self.budget.is_spent()) {
            look.files_done += 1;
            found.files_scanned += places.len();
            let Some(file) = self.file(*version) else { continue };
            let Some(info) = self.snapshot().version(*version)? else { continue };
            for (at, symbol) in file.facts.symbols.iter().enumerate() {
                if symbol.name == name && is_named_at_definition(symbol) {
                    let place = Some((symbol.name_line, symbol.name_column));
                    found.definitions.push(Definition { file: Rc::clone(&info), symbol: at as u32, place });
                }
            }
            let mut is_imported = false;
            for at in places {
                self.visit_reference(&file, &info, *at, true, found);
                is_imported |= file.facts.references.get(*at as usize).is_some_and(|one| one.shape == RefShape::Import);
            }
            if is_imported {
                self.visit_aliases(&file, &info, name, found);
            }
        }
        while let Some(version) = look.importers.get(look.imported).filter(|_| !self.budget.is_spent()) {
            look.imported += 1;
            self.visit_imports(*version, name, found)?;
        }
        found.is_cut = look.imported < look.importers.len();
        self.failure()
    }

    /// Resolves one reference. If `bears` is true, it is an occurrence of the name and is classified; otherwise it is
    /// visited because an import gave the symbol another name.
    fn visit_reference(
        &self,
        file: &Rc<SourceFile>,
        info: &Rc<VersionInfo>,
        at: u32,
        bears: bool,
        found: &mut NameReferences,
    ) {
        let Some(reference) = file.facts.references.get(at as usize) else { return };
        let site = |kind, confidence, why| Site {
            file: Rc::clone(info),
            line: reference.line,
            column: reference.column,
            kind,
            shape: reference.shape,
            from: reference.symbol,
            confidence,
            why,
            in_test: self.is_in_test(file, reference.symbol),
            is_only: false,
            is_member: matches!(reference.shape, RefShape::Member | RefShape::MemberCall | RefShape::SelfCall),
            is_guess: false,
        };
        let is_key = reference.shape == RefShape::Member && reference.qualifier.is_none();
        let open = || {
            let arguments = self.resolver(&file.language).and_then(|resolver| resolver.argument_count(file.id, at));
            OccurrenceResolution::Unresolved(WrittenForm { shape: reference.shape, is_key, arguments })
        };
        let known = match self.resolve(file, at) {
            Resolution::Symbols { targets, confidence, why } => {
                for target in &targets {
                    let kind = self.kind_of(reference, *target);
                    found.by_target.entry(*target).or_default().push(site(kind, confidence, why));
                }
                match confidence {
                    Confidence::Static => OccurrenceResolution::ResolvesTo,
                    // Nothing is confirmed, so it may also refer to any other symbol.
                    Confidence::Heuristic => {
                        if bears {
                            let kind = EdgeKind::for_reference(reference.shape, None);
                            found.unresolved.push(site(
                                kind,
                                confidence,
                                "another symbol with that name is more likely",
                            ));
                        }
                        open()
                    }
                }
            }
            Resolution::Module(_) => OccurrenceResolution::ResolvesTo,
            Resolution::External | Resolution::Local => OccurrenceResolution::Outside,
            Resolution::Unknown(why) => {
                if bears {
                    found.unresolved.push(site(
                        EdgeKind::for_reference(reference.shape, None),
                        Confidence::Heuristic,
                        why,
                    ));
                }
                open()
            }
        };
        if bears && reference.is_name {
            let (line, column) = (reference.line, reference.column);
            found.occurrences.push(Occurrence { file: Rc::clone(info), line, column, resolution: known });
        }
    }

    /// Visits references by the other names that imports of the file give to the name.
    fn visit_aliases(&self, file: &Rc<SourceFile>, info: &Rc<VersionInfo>, name: &str, found: &mut NameReferences) {
        let imports = file.facts.imports.iter().filter(|import| import.name.as_deref() == Some(name));
        let mut aliases: Vec<&str> = imports.filter_map(|import| import.alias.as_deref()).collect();
        aliases.retain(|alias| *alias != name);
        aliases.sort_unstable();
        aliases.dedup();
        for alias in aliases {
            self.visit_alias(file, info, alias, found);
        }
    }

    fn visit_alias(&self, file: &Rc<SourceFile>, info: &Rc<VersionInfo>, alias: &str, found: &mut NameReferences) {
        for (at, reference) in file.facts.references.iter().enumerate() {
            let is_it = file.facts.names.get(reference.name as usize).is_some_and(|name| name == alias);
            if is_it && !matches!(reference.shape, RefShape::Import | RefShape::Binds) {
                self.visit_reference(file, info, at as u32, false, found);
            }
        }
    }

    /// Returns the files that may import the symbol from a module with its name under any alias: those that contain the
    /// word. Only some languages allow that, and symbols that cannot be imported are not searched for.
    fn importers(&self, name: &str) -> Result<Vec<VersionId>> {
        let can_be_imported = |kind| !matches!(kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Constructor);
        let mut is_one = false;
        for row in self.snapshot().symbols_named(name)? {
            let language = self.snapshot().version(row.version)?.map(|version| version.language.clone());
            is_one |= row.kind.can_be_named()
                && can_be_imported(row.kind)
                && language.is_some_and(|of| self.modules_are_values(&of));
        }
        if !is_one {
            return Ok(Vec::new());
        }
        let need = Prefilter::Run(Run::new(&name.to_lowercase(), (true, true)));
        Ok(self.snapshot().prefilter_files(&need, false, &|| true)?.into_iter().collect())
    }

    /// Visits imports of a module with the name, and references by the names that such imports define.
    fn visit_imports(&self, version: VersionId, name: &str, found: &mut NameReferences) -> Result<()> {
        // An outline is faster to read than all facts, and shows whether there is such an import.
        let outline = self.snapshot().outline(version)?;
        let mut imports = outline.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Use);
        if !imports.any(|symbol| symbol.name.contains(name)) {
            return Ok(());
        }
        let Some(file) = self.file(version) else { return Ok(()) };
        let Some(info) = self.snapshot().version(version)? else { return Ok(()) };
        for (at, import) in file.facts.imports.iter().enumerate() {
            let bears = |word: &Option<String>| word.as_deref() == Some(name);
            // Imports with the name itself were visited as occurrences.
            if bears(&import.name) || bears(&import.alias) || !ends_with(&import.module, name) {
                continue;
            }
            if let Resolution::Symbols { targets, confidence, why } = self.resolve_import(&file, at as u32) {
                for target in targets {
                    found.by_target.entry(target).or_default().push(Site {
                        file: Rc::clone(&info),
                        line: import.line,
                        column: 0,
                        kind: EdgeKind::Imports,
                        shape: RefShape::Import,
                        from: import.symbol,
                        confidence,
                        why,
                        in_test: self.is_in_test(&file, import.symbol),
                        is_only: false,
                        is_member: false,
                        is_guess: false,
                    });
                }
            }
            if let Some(alias) = &import.alias {
                self.visit_alias(&file, &info, alias, found);
            }
        }
        Ok(())
    }
}

fn ends_with(module: &str, name: &str) -> bool {
    module.rsplit([':', '.', '/']).next() == Some(name)
}

/// Whether a reference of this shape is a call.
pub(super) fn is_call(shape: RefShape) -> bool {
    EdgeKind::for_reference(shape, None) == EdgeKind::Calls
}

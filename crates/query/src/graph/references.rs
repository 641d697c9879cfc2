//! Finds the references to a symbol.
//!
//! The scan visits all occurrences of the name, and occurrences of its import aliases. Each resolves to the symbol, to
//! something else, or is unresolved. Unresolved references are listed last, so that the list is never shorter than the
//! result of a search for the word in code. The `classify` module defines the five classes and their counts.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{Confidence, Meaning, RefShape, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId};
use codecompass_store::{Need, Result, Run, VersionInfo};

use super::account::{Account, Asked, At, Class, Counts, Definition, Known, Place};
use super::{EdgeKind, Graph};
use crate::search::features;

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
}

impl Site {
    fn at(&self) -> At {
        (self.file.id, self.line, self.column)
    }
}

/// All references to a name.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The sites that resolve to each symbol, heuristic ones included.
    by_target: HashMap<SymbolAt, Vec<Site>>,
    /// Occurrences that may refer to any symbol with the name.
    open: Vec<Site>,
    /// All occurrences of the name.
    places: Vec<Place>,
    /// The definitions with the name.
    definitions: Vec<Definition>,
    /// The definitions that are members.
    members: Vec<(SymbolAt, String)>,
    /// The number of occurrences that were scanned.
    pub looked_at: usize,
    /// The number of occurrences of the name.
    pub total: usize,
    /// Whether imports were not scanned completely.
    is_cut: bool,
}

impl Found {
    /// Whether all occurrences were scanned.
    pub fn is_complete(&self) -> bool {
        self.looked_at == self.total && !self.is_cut
    }

    /// The number of sites that resolve to a symbol.
    pub fn count(&self, target: SymbolAt) -> usize {
        self.proved(target).len()
    }

    /// The sites that resolve to a symbol, statically or by heuristic.
    pub(super) fn proved(&self, target: SymbolAt) -> &[Site] {
        self.by_target.get(&target).map_or(&[], Vec::as_slice)
    }

    /// Returns the files in which the name occurs in code of the accepted languages.
    pub fn files(&self, is_kin: impl Fn(&str) -> bool) -> HashSet<VersionId> {
        let places = self.places.iter().map(|place| &place.file);
        let files = places.chain(self.definitions.iter().map(|definition| &definition.file));
        files.filter(|file| is_kin(&file.language)).map(|file| file.id).collect()
    }

    /// Returns the sites that refer to a symbol, confirmed ones first, then unresolved ones in the order of files, and
    /// the classification of all occurrences of its name. `is_kin` decides whether occurrences in a language can refer
    /// to it.
    pub fn account(&self, target: SymbolAt, symbol: &Symbol, is_kin: impl Fn(&str) -> bool) -> (Vec<Site>, Counts) {
        let may_mean =
            |is_call: bool, is_key: bool| (!is_call || can_be_called(symbol)) && (!is_key || is_member(symbol));
        let asked = Asked { target, is_kin: &is_kin, may_mean: &may_mean };
        let is_proved = |site: &&Site| site.confidence == Confidence::Static;
        let proved = self.proved(target).iter().filter(is_proved).map(Site::at);
        let account = Account::of(&asked, &self.definitions, &self.places, proved);
        let mut members = self.members.iter().filter(|(_, language)| is_kin(language));
        let is_only = members.next().is_some_and(|(at, _)| *at == target) && members.next().is_none();
        let mut sites: Vec<Site> = Vec::new();
        for site in self.proved(target).iter().chain(&self.open) {
            let class = account.class(site.at());
            match (class, site.confidence) {
                (Some(Class::Proved | Class::Beyond), Confidence::Static) => sites.push(site.clone()),
                (Some(Class::Undecided), Confidence::Heuristic) => {
                    sites.push(Site { is_only: is_only && site.is_member, ..site.clone() });
                }
                _ => {}
            }
        }
        // Heuristic sites precede unresolved ones, so the first entry for a position is kept.
        sites.sort_by(|a, b| key(a).cmp(&key(b)));
        sites.dedup_by(|a, b| a.at() == b.at());
        (sites, account.counts())
    }

    /// Returns the unresolved calls with the name of a symbol.
    pub(super) fn open_calls(&self, target: SymbolAt, symbol: &Symbol, is_kin: impl Fn(&str) -> bool) -> Vec<Site> {
        let (mut sites, _) = self.account(target, symbol, is_kin);
        sites.retain(|site| site.confidence == Confidence::Heuristic && site.kind == EdgeKind::Calls);
        sites
    }
}

/// Confirmed before unresolved, then sites to which only this symbol fits, code before tests, then by location.
fn key(site: &Site) -> (Confidence, bool, bool, &str, u32, u32) {
    (site.confidence, !site.is_only, site.in_test, &site.file.path, site.line, site.column)
}

/// Whether a key of a literal or pattern, or the name of an argument, can refer to a symbol.
fn is_member(symbol: &Symbol) -> bool {
    use SymbolKind::{Field, Method, Property, Var};
    matches!(symbol.kind, Field | Method | Property) || symbol.kind == Var && symbol.parent.is_some()
}

/// Whether a symbol is a member of a type.
fn is_member_of(symbols: &[Symbol], symbol: &Symbol) -> bool {
    use SymbolKind::{Class, Const, Fn, Impl, Interface, Struct, Trait, Var};
    let around = symbol.parent.and_then(|at| symbols.get(at as usize)).map(|around| around.kind);
    is_member(symbol)
        || matches!(symbol.kind, Fn | Const | Var)
            && around.is_some_and(|kind| matches!(kind, Class | Impl | Interface | Struct | Trait))
}

/// Whether a symbol's own name is written in code where it is defined, and not as a string.
fn is_defined(symbol: &Symbol) -> bool {
    let length = (symbol.name_span.end - symbol.name_span.start) as usize;
    let is_word = symbol.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '#'))
        && !symbol.name.starts_with(|c: char| c.is_ascii_digit());
    // A quoted key starts before its name.
    let is_quoted = matches!(symbol.kind, SymbolKind::Field | SymbolKind::Property)
        && symbol.name_span.start == symbol.span.start + 1;
    is_named(symbol.kind) && length == symbol.name.len() && is_word && !is_quoted
}

/// Whether symbols of this kind have a name of their own: not the name of another symbol, and not a title.
fn is_named(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Use | SymbolKind::Impl | SymbolKind::Test)
}

/// Whether a symbol can be called at all.
fn can_be_called(symbol: &Symbol) -> bool {
    use SymbolKind::{Enum, Interface, Module, Namespace, Trait};
    !matches!(symbol.kind, Enum | Interface | Module | Namespace | Trait)
}

/// The progress of scanning the occurrences of a name. Finished files are not scanned again.
struct Look {
    /// The files that contain the name, with the ordinals of the references.
    files: Vec<(VersionId, Vec<u32>)>,
    /// The number of scanned files.
    done: usize,
    /// The files that may import the name, and the number of those that were scanned.
    importers: Vec<VersionId>,
    imported: usize,
    found: Rc<Found>,
}

/// The name scans of a view. They stay valid while the view is unchanged, also for its next snapshot.
#[derive(Default)]
pub struct Looks {
    by_name: RefCell<HashMap<String, Look>>,
}

impl Looks {
    /// Keeps the incomplete scans, which the next query continues, and evicts the complete ones, which can be redone.
    pub fn rest(&self) {
        self.by_name.borrow_mut().retain(|_, look| !look.found.is_complete());
    }
}

/// The maximum numbers of cached names and of their occurrences.
const NAMES: usize = 200;
const PLACES: usize = 200_000;

/// With more definitions than this, none is treated as the only member with the name, so members are not collected.
const MANY: usize = 50;

impl Graph<'_> {
    /// Scans all occurrences of a name, continuing an earlier scan that was cut off.
    pub fn named(&self, name: &str) -> Result<Rc<Found>> {
        let begun = self.memory.looks.by_name.borrow_mut().remove(name);
        let mut look = match begun {
            Some(look) => look,
            None => self.begin(name)?,
        };
        if !look.found.is_complete() {
            self.go_on(name, &mut look)?;
        }
        let found = Rc::clone(&look.found);
        let mut looks = self.memory.looks.by_name.borrow_mut();
        let places: usize = looks.values().map(|look| look.found.looked_at).sum();
        if looks.len() >= NAMES || places >= PLACES {
            looks.clear();
        }
        looks.insert(name.to_owned(), look);
        Ok(found)
    }

    fn begin(&self, name: &str) -> Result<Look> {
        let mut found = Found::default();
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
        self.define(name, &bearing, &mut found)?;
        let importers = self.importers(name)?;
        found.is_cut = !importers.is_empty();
        Ok(Look { files, done: 0, importers, imported: 0, found: Rc::new(found) })
    }

    /// Adds the definitions with a name. Definitions in files that also refer to it get their position when the file is
    /// read.
    fn define(&self, name: &str, bearing: &HashSet<VersionId>, found: &mut Found) -> Result<()> {
        let rows = self.snapshot().symbols_named(name)?;
        let are_few = rows.len() <= MANY;
        for row in rows {
            if !is_named(row.kind) {
                continue;
            }
            let Some(file) = self.snapshot().version(row.version)? else { continue };
            let outline = if are_few { Some(self.snapshot().outline(row.version)?) } else { None };
            let symbol = outline.as_ref().and_then(|outline| outline.symbols.get(row.place as usize));
            if let (Some(outline), Some(symbol)) = (&outline, symbol)
                && is_member_of(&outline.symbols, symbol)
            {
                found.members.push((SymbolAt { file: row.version, place: row.place }, file.language.clone()));
            }
            if !bearing.contains(&row.version) && symbol.is_none_or(is_defined) {
                let place = symbol.map(|symbol| (symbol.name_line, symbol.name_column));
                found.definitions.push(Definition { file, symbol: row.place, place });
            }
        }
        Ok(())
    }

    fn go_on(&self, name: &str, look: &mut Look) -> Result<()> {
        let found = Rc::make_mut(&mut look.found);
        while let Some((version, places)) = look.files.get(look.done).filter(|_| !self.budget.is_spent()) {
            look.done += 1;
            found.looked_at += places.len();
            let Some(file) = self.file(*version) else { continue };
            let Some(info) = self.snapshot().version(*version)? else { continue };
            for (at, symbol) in file.facts.symbols.iter().enumerate() {
                if symbol.name == name && is_defined(symbol) {
                    let place = Some((symbol.name_line, symbol.name_column));
                    found.definitions.push(Definition { file: Rc::clone(&info), symbol: at as u32, place });
                }
            }
            let mut is_imported = false;
            for at in places {
                self.look(&file, &info, *at, true, found);
                is_imported |= file.facts.references.get(*at as usize).is_some_and(|one| one.shape == RefShape::Import);
            }
            if is_imported {
                self.look_at_aliases(&file, &info, name, found);
            }
        }
        while let Some(version) = look.importers.get(look.imported).filter(|_| !self.budget.is_spent()) {
            look.imported += 1;
            self.look_at_imports(*version, name, found)?;
        }
        found.is_cut = look.imported < look.importers.len();
        self.failure()
    }

    /// Resolves one reference. If `bears` is true, it is an occurrence of the name and is classified; otherwise it is
    /// visited because an import gave the symbol another name.
    fn look(&self, file: &Rc<SourceFile>, info: &Rc<VersionInfo>, at: u32, bears: bool, found: &mut Found) {
        let Some(reference) = file.facts.references.get(at as usize) else { return };
        let site = |kind, confidence, why| Site {
            file: Rc::clone(info),
            line: reference.line,
            column: reference.column,
            kind,
            from: reference.symbol,
            confidence,
            why,
            in_test: self.is_in_test(file, reference.symbol),
            is_only: false,
            is_member: matches!(reference.shape, RefShape::Member | RefShape::MemberCall | RefShape::SelfCall),
        };
        let is_key = reference.shape == RefShape::Member && reference.qualifier.is_none();
        let open = Known::Open { is_call: is_call(reference.shape), is_key };
        let known = match self.meaning(file, at) {
            Meaning::Symbols { targets, confidence, why } => {
                for target in &targets {
                    let kind = self.kind_of(reference, *target);
                    found.by_target.entry(*target).or_default().push(site(kind, confidence, why));
                }
                match confidence {
                    Confidence::Static => Known::Means,
                    // Nothing is confirmed, so it may also refer to any other symbol.
                    Confidence::Heuristic => {
                        if bears {
                            let kind = EdgeKind::of(reference.shape, None);
                            found.open.push(site(kind, confidence, "another symbol with that name is more likely"));
                        }
                        open
                    }
                }
            }
            Meaning::Module(_) => Known::Means,
            Meaning::External | Meaning::Local => Known::Outside,
            Meaning::Unknown(why) => {
                if bears {
                    found.open.push(site(EdgeKind::of(reference.shape, None), Confidence::Heuristic, why));
                }
                open
            }
        };
        if bears && reference.is_name {
            let (line, column) = (reference.line, reference.column);
            found.places.push(Place { file: Rc::clone(info), line, column, known });
        }
    }

    /// Visits references by the other names that imports of the file give to the name.
    fn look_at_aliases(&self, file: &Rc<SourceFile>, info: &Rc<VersionInfo>, name: &str, found: &mut Found) {
        let imports = file.facts.imports.iter().filter(|import| import.name.as_deref() == Some(name));
        let mut aliases: Vec<&str> = imports.filter_map(|import| import.alias.as_deref()).collect();
        aliases.retain(|alias| *alias != name);
        aliases.sort_unstable();
        aliases.dedup();
        for alias in aliases {
            self.look_at_alias(file, info, alias, found);
        }
    }

    fn look_at_alias(&self, file: &Rc<SourceFile>, info: &Rc<VersionInfo>, alias: &str, found: &mut Found) {
        for (at, reference) in file.facts.references.iter().enumerate() {
            let is_it = file.facts.names.get(reference.name as usize).is_some_and(|name| name == alias);
            if is_it && !matches!(reference.shape, RefShape::Import | RefShape::Binds) {
                self.look(file, info, at as u32, false, found);
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
        let need = Need::Run(Run::new(&name.to_lowercase(), (true, true)));
        Ok(self.snapshot().may_hold(&need, false, &|| true)?.into_iter().collect())
    }

    /// Visits imports of a module with the name, and references by the names that such imports define.
    fn look_at_imports(&self, version: VersionId, name: &str, found: &mut Found) -> Result<()> {
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
            if let Meaning::Symbols { targets, confidence, why } = self.imported(&file, at as u32) {
                for target in targets {
                    found.by_target.entry(target).or_default().push(Site {
                        file: Rc::clone(&info),
                        line: import.line,
                        column: 0,
                        kind: EdgeKind::Imports,
                        from: import.symbol,
                        confidence,
                        why,
                        in_test: self.is_in_test(&file, import.symbol),
                        is_only: false,
                        is_member: false,
                    });
                }
            }
            if let Some(alias) = &import.alias {
                self.look_at_alias(&file, &info, alias, found);
            }
        }
        Ok(())
    }

    /// Sorts symbols with one name by use: not in tests, most referenced, public.
    pub fn by_use(&self, found: &Found, candidates: &[SymbolAt]) -> Vec<SymbolAt> {
        let mut order: Vec<(bool, Reverse<usize>, bool, String, u32, SymbolAt)> = Vec::new();
        for at in candidates {
            let Some(file) = self.file(at.file) else { continue };
            let Some(symbol) = file.facts.symbols.get(at.place as usize) else { continue };
            let is_test = self.is_in_test(&file, Some(at.place)) || features::is_example(&file.path);
            let is_hidden = symbol.visibility.is_some_and(|visibility| visibility.as_str() != "public");
            order.push((is_test, Reverse(found.count(*at)), is_hidden, file.path.clone(), at.place, *at));
        }
        order.sort();
        order.into_iter().map(|(.., at)| at).collect()
    }
}

fn ends_with(module: &str, name: &str) -> bool {
    module.rsplit([':', '.', '/']).next() == Some(name)
}

/// Whether a reference of this shape is a call.
pub(super) fn is_call(shape: RefShape) -> bool {
    EdgeKind::of(shape, None) == EdgeKind::Calls
}

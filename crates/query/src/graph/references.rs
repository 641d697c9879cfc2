//! Who refers to this symbol?
//!
//! All places that bear its name are looked at, and those that bear another name because an import gave it one. Each
//! means the symbol, or something else, or nobody knows: what nobody knows is listed last, as a guess, so that no list is
//! shorter than what a search for the word finds.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{
    Confidence, Meaning, RefShape, SourceFile, Symbol, SymbolAt, SymbolKind, VersionId, is_test_path,
};
use codecompass_store::{Need, Result, Run, VersionInfo};

use super::{EdgeKind, Graph};
use crate::search::features;

/// A place that refers to a symbol.
#[derive(Clone, Debug)]
pub struct Site {
    /// The file.
    pub file: Rc<VersionInfo>,
    /// The line.
    pub line: u32,
    /// The column in bytes, from 0.
    pub column: u32,
    /// What kind of edge.
    pub kind: EdgeKind,
    /// The innermost symbol around it.
    pub from: Option<u32>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why, in a few words.
    pub why: &'static str,
    /// Whether it stands in a test.
    pub in_test: bool,
}

/// All that was found about a name.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// By symbol, the places that mean it.
    by_target: HashMap<SymbolAt, Vec<Site>>,
    /// Places that bear the name and may mean any of its bearers.
    open: Vec<Site>,
    /// Keys of literals and patterns, which may mean any member of that name.
    keys: Vec<Site>,
    /// How many places were looked at.
    pub looked_at: usize,
    /// How many bear the name.
    pub total: usize,
    /// Whether imports were left out.
    is_cut: bool,
}

impl Found {
    /// Whether all places were looked at.
    pub fn is_complete(&self) -> bool {
        self.looked_at == self.total && !self.is_cut
    }

    /// How many places are known to mean a symbol.
    pub fn count(&self, target: SymbolAt) -> usize {
        self.by_target.get(&target).map_or(0, Vec::len)
    }

    /// The places that are known, or guessed by rule, to mean a symbol.
    pub(super) fn proved(&self, target: SymbolAt) -> &[Site] {
        self.by_target.get(&target).map_or(&[], Vec::as_slice)
    }

    /// The calls that bear the name of a symbol, and nobody can tell whether they mean it.
    pub(super) fn open_calls<'s>(
        &'s self,
        symbol: &Symbol,
        is_kin: impl Fn(&str) -> bool + 's,
    ) -> impl Iterator<Item = &'s Site> {
        let is_fitting = fits(EdgeKind::Calls, symbol);
        self.open.iter().filter(move |site| is_fitting && site.kind == EdgeKind::Calls && is_kin(&site.file.language))
    }

    /// The places that mean a symbol, the proved ones first, then those that nobody can tell, in the order of files.
    /// `is_kin` tells which languages' places can mean it.
    pub fn sites(&self, target: SymbolAt, symbol: &Symbol, is_kin: impl Fn(&str) -> bool) -> Vec<Site> {
        let mut sites = self.by_target.get(&target).cloned().unwrap_or_default();
        let may_mean = |site: &&Site| is_kin(&site.file.language) && fits(site.kind, symbol);
        sites.extend(self.open.iter().filter(may_mean).cloned());
        if is_member(symbol.kind) {
            sites.extend(self.keys.iter().filter(may_mean).cloned());
        }
        sites.sort_by(|a, b| key(a).cmp(&key(b)));
        sites.dedup_by(|a, b| a.file.id == b.file.id && (a.line, a.column, a.kind) == (b.line, b.column, b.kind));
        sites
    }
}

/// Proved before guessed, code before tests, then by place.
fn key(site: &Site) -> (Confidence, bool, &str, u32, u32) {
    (site.confidence, site.in_test, &site.file.path, site.line, site.column)
}

/// Whether a symbol of this kind can be meant by a key.
fn is_member(kind: SymbolKind) -> bool {
    use SymbolKind::{Field, Method, Property};
    matches!(kind, Field | Method | Property)
}

/// Whether an edge of this kind can lead to such a symbol at all.
fn fits(kind: EdgeKind, symbol: &Symbol) -> bool {
    use SymbolKind::{
        Class, Const, Constructor, Field, Fn, Macro, Method, Property, Static, Struct, Type, Var, Variant,
    };
    match kind {
        EdgeKind::Calls => matches!(
            symbol.kind,
            Fn | Method
                | Class
                | Constructor
                | Macro
                | Struct
                | Variant
                | Var
                | Const
                | Static
                | Field
                | Property
                | Type
        ),
        _ => true,
    }
}

/// How far the look at the bearers of a name is. What is done is not done again.
struct Look {
    /// The files that bear the name, and where.
    files: Vec<(VersionId, Vec<u32>)>,
    /// So many of them were looked at.
    done: usize,
    /// The files that may import it, and how many of them were looked at.
    importers: Vec<VersionId>,
    imported: usize,
    found: Rc<Found>,
}

/// What was found out about names: of use for as long as the view is the same, also for the next snapshot of it.
#[derive(Default)]
pub struct Looks {
    by_name: RefCell<HashMap<String, Look>>,
}

impl Looks {
    /// Keeps what was cut off, which the next question goes on from, and lets the rest go: that is found again.
    pub fn rest(&self) {
        self.by_name.borrow_mut().retain(|_, look| !look.found.is_complete());
    }
}

/// So many names are remembered at a time, and so many places of theirs.
const NAMES: usize = 200;
const PLACES: usize = 200_000;

impl Graph<'_> {
    /// Looks at every place that bears a name, and goes on where an earlier look had to stop.
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
        for (version, places) in candidates {
            found.total += places.len();
            let info = self.snapshot().version(version)?;
            let path = info.map(|info| info.path.clone()).unwrap_or_default();
            files.push((is_test_path(&path), path, version, places));
        }
        // Files that are no tests by their path first: what is left out when time runs out matters least.
        files.sort();
        let files = files.into_iter().map(|(_, _, version, places)| (version, places)).collect();
        let importers = self.importers(name)?;
        found.is_cut = !importers.is_empty();
        Ok(Look { files, done: 0, importers, imported: 0, found: Rc::new(found) })
    }

    fn go_on(&self, name: &str, look: &mut Look) -> Result<()> {
        let found = Rc::make_mut(&mut look.found);
        while let Some((version, places)) = look.files.get(look.done).filter(|_| !self.budget.is_spent()) {
            look.done += 1;
            found.looked_at += places.len();
            let Some(file) = self.file(*version) else { continue };
            for at in places {
                self.look(&file, *at, found)?;
            }
        }
        while let Some(version) = look.importers.get(look.imported).filter(|_| !self.budget.is_spent()) {
            look.imported += 1;
            self.look_at_imports(*version, name, found)?;
        }
        found.is_cut = look.imported < look.importers.len();
        self.failure()
    }

    fn look(&self, file: &Rc<SourceFile>, at: u32, found: &mut Found) -> Result<()> {
        let Some(reference) = file.facts.references.get(at as usize) else { return Ok(()) };
        let Some(version) = self.snapshot().version(file.id)? else { return Ok(()) };
        let site = |kind, confidence, why| Site {
            file: Rc::clone(&version),
            line: reference.line,
            column: reference.column,
            kind,
            from: reference.symbol,
            confidence,
            why,
            in_test: file.is_in_test(reference.symbol),
        };
        match self.meaning(file, at) {
            Meaning::Symbols { targets, confidence, why } => {
                for target in targets {
                    let kind = self.kind_of(reference, target);
                    found.by_target.entry(target).or_default().push(site(kind, confidence, why));
                }
            }
            Meaning::Unknown(why) if self.knows(&file.language) => {
                let is_key = reference.shape == RefShape::Member && reference.qualifier.is_none();
                let list = if is_key { &mut found.keys } else { &mut found.open };
                list.push(site(EdgeKind::of(reference.shape, None), Confidence::Heuristic, why));
            }
            _ => {}
        }
        Ok(())
    }

    /// The files that may import a name: those that have the word in them. What nobody can import is not looked for.
    fn importers(&self, name: &str) -> Result<Vec<VersionId>> {
        let can_be_imported = |kind| !matches!(kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Constructor);
        if !self.snapshot().symbols_named(name)?.iter().any(|row| row.kind.can_be_named() && can_be_imported(row.kind))
        {
            return Ok(Vec::new());
        }
        let need = Need::Run(Run::new(&name.to_lowercase(), (true, true)));
        Ok(self.snapshot().may_hold(&need, false)?.into_iter().collect())
    }

    /// Imports of the name, and places that bear the other name an import gave it.
    fn look_at_imports(&self, version: VersionId, name: &str, found: &mut Found) -> Result<()> {
        // An outline is read faster than all facts, and tells whether there is such an import.
        let outline = self.snapshot().outline(version)?;
        let mut imports = outline.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Use);
        if !imports.any(|symbol| ends_with(&symbol.name, name)) {
            return Ok(());
        }
        let Some(file) = self.file(version) else { return Ok(()) };
        for (at, import) in file.facts.imports.iter().enumerate() {
            if import.name.as_deref() == Some(name) || ends_with(&import.module, name) {
                self.look_at_import(&file, at as u32, name, found)?;
            }
        }
        Ok(())
    }

    fn look_at_import(&self, file: &Rc<SourceFile>, at: u32, name: &str, found: &mut Found) -> Result<()> {
        let import = &file.facts.imports[at as usize];
        let Some(version) = self.snapshot().version(file.id)? else { return Ok(()) };
        if let Meaning::Symbols { targets, confidence, why } = self.imported(file, at) {
            for target in targets {
                found.by_target.entry(target).or_default().push(Site {
                    file: Rc::clone(&version),
                    line: import.line,
                    column: 0,
                    kind: EdgeKind::Imports,
                    from: import.symbol,
                    confidence,
                    why,
                    in_test: file.is_in_test(import.symbol),
                });
            }
        }
        let Some(alias) = import.alias.as_deref().filter(|alias| *alias != name) else { return Ok(()) };
        for (at, reference) in file.facts.references.iter().enumerate() {
            if file.facts.names.get(reference.name as usize).is_some_and(|name| name == alias) {
                self.look(file, at as u32, found)?;
            }
        }
        Ok(())
    }

    /// Of several symbols with one name, the one that users mean: not in a test, public, most referred to.
    pub fn meant(&self, found: &Found, candidates: &[SymbolAt]) -> Vec<SymbolAt> {
        let mut order: Vec<(bool, Reverse<usize>, bool, String, u32, SymbolAt)> = Vec::new();
        for at in candidates {
            let Some(file) = self.file(at.file) else { continue };
            let Some(symbol) = file.facts.symbols.get(at.place as usize) else { continue };
            let is_test = file.is_in_test(Some(at.place)) || features::is_example(&file.path);
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

/// Whether a reference of this shape is one that calls.
pub(super) fn is_call(shape: RefShape) -> bool {
    EdgeKind::of(shape, None) == EdgeKind::Calls
}

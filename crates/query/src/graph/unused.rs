//! Unused symbols: definitions that nothing in the view refers to, each with the reason.
//!
//! The list errs on the side of use: an unresolved occurrence that may mean the symbol counts as a use, and so do a
//! decorator, an entry point and a method that its base type may call.

use codecompass_model::{SourceFile, Symbol, SymbolAt, SymbolKind, Visibility};
use codecompass_store::{Prefilter, Result, Run};

use super::related::is_within;
use super::{EdgeKind, FoundReferences, Graph};

/// A name in more files than this is not examined: it is a common word.
const MAX_TEXTS: u64 = 200;

/// The reason why a symbol is believed to be unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedReason {
    /// The uses by itself: recursion.
    pub own: usize,
    /// The uses by tests.
    pub tests: usize,
    /// The occurrences of the name that refer to other symbols.
    pub elsewhere: usize,
    /// Whether other repositories may use it.
    pub is_public: bool,
    /// Whether it has base types, which may register it.
    pub has_bases: bool,
}

/// An unused symbol.
#[derive(Clone, Copy, Debug)]
pub struct UnusedSymbol {
    /// The symbol.
    pub at: SymbolAt,
    /// The reason.
    pub reason: UnusedReason,
}

/// Attributes that do not register a symbol anywhere.
const HARMLESS_ATTRIBUTES: &[&str] = &[
    "allow",
    "cfg",
    "cold",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "inline",
    "must_use",
    "non_exhaustive",
    "repr",
    "staticmethod",
    "classmethod",
    "dataclass",
    "Deprecated",
    "SuppressWarnings",
    "Nullable",
];

impl Graph<'_> {
    /// Returns the unused symbols of a file in order, and whether the time sufficed for all of them.
    pub fn unused_in(&self, file: &SourceFile, text: &str) -> Result<(Vec<UnusedSymbol>, bool)> {
        let mut unused = Vec::new();
        for (ordinal, symbol) in file.facts.symbols.iter().enumerate() {
            if !self.can_be_unused(file, text, ordinal as u32, symbol) {
                continue;
            }
            if self.budget.is_spent() {
                return Ok((unused, false));
            }
            let at = SymbolAt { file: file.id, ordinal: ordinal as u32 };
            if let Some(reason) = self.unused_reason(file, at, symbol)? {
                unused.push(UnusedSymbol { at, reason });
            }
        }
        let is_complete = self.finish()?;
        Ok((unused, is_complete))
    }

    /// Returns why a symbol is unused; `None` if it may be used.
    fn unused_reason(&self, file: &SourceFile, at: SymbolAt, symbol: &Symbol) -> Result<Option<UnusedReason>> {
        let found = self.references_to_name(&symbol.name)?;
        if !found.is_complete() {
            return Ok(None);
        }
        let (sites, counts) = found.classify(self, at, symbol, |language| self.can_interop(language, &file.language));
        let is_public = symbol.visibility != Some(Visibility::Private);
        let mut reason = UnusedReason {
            own: 0,
            tests: 0,
            elsewhere: counts.elsewhere,
            is_public,
            has_bases: !symbol.bases.is_empty(),
        };
        for site in &sites {
            let symbols = &self.snapshot().outline(site.file.id)?.symbols;
            match () {
                _ if site.file.id == at.file && is_within(symbols, site.from, at.ordinal) => reason.own += 1,
                _ if site.in_test || self.languages().is_test_path(&site.file.path) => reason.tests += 1,
                _ => return Ok(None),
            }
        }
        // A method with homonyms may be called without its type being known.
        let is_vague = counts.elsewhere > 0 && is_member(&file.facts.symbols, symbol);
        if is_public && is_vague || counts.elsewhere > 0 && has_variant(&file.facts.symbols, at.ordinal) {
            return Ok(None);
        }
        // A call of the declaration reaches its implementations.
        let is_reached = || -> Result<bool> {
            Ok(!self.declarations(at).is_empty() || !self.dispatch_calls(&found, at)?.is_empty())
        };
        if is_member(&file.facts.symbols, symbol) && is_reached()?
            || self.is_in_text(&found, &symbol.name, is_public)?
        {
            return Ok(None);
        }
        Ok(Some(reason))
    }

    /// Whether a name occurs where resolution does not look: in a string or in the arguments of a macro; for a public
    /// symbol also in documentation and configuration. Lines that are comments do not count.
    fn is_in_text(&self, found: &FoundReferences, name: &str, is_public: bool) -> Result<bool> {
        let word = Prefilter::Run(Run::new(&name.to_lowercase(), (true, true)));
        let files = self.snapshot().prefilter_files(&word, false, &|| true)?;
        if files.len() > MAX_TEXTS {
            return Ok(true);
        }
        for id in files {
            let Some(version) = self.snapshot().version(id)? else { continue };
            let is_code = self.languages().is_code(&version.language);
            if !is_code && !is_public {
                continue;
            }
            let mut known = found.lines_in(id);
            let outline = self.snapshot().outline(id)?;
            known.extend(outline.symbols.iter().filter(|symbol| symbol.name == name).map(|symbol| symbol.name_line));
            let text = self.snapshot().text(id)?;
            let is_use = |(number, line): (u32, &str)| {
                !known.contains(&number) && has_word(line, name) && !(is_code && is_comment(line))
            };
            if (1..).zip(text.lines()).any(is_use) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a symbol would have to be referred to in order to be used.
    fn can_be_unused(&self, file: &SourceFile, text: &str, ordinal: u32, symbol: &Symbol) -> bool {
        use SymbolKind as K;
        let is_listed = match symbol.kind {
            K::Fn
            | K::Method
            | K::Struct
            | K::Class
            | K::Enum
            | K::Trait
            | K::Interface
            | K::Type
            | K::Union
            | K::Macro => true,
            K::Const | K::Static | K::Var => symbol.parent.is_none(),
            _ => false,
        };
        let is_entry_point = matches!(symbol.name.as_str(), "main" | "init" | "constructor" | "_")
            || symbol.name.starts_with("__") && symbol.name.ends_with("__")
            || !symbol.name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        is_listed
            && !is_entry_point
            && symbol.impl_trait.is_none()
            && !self.is_in_test(file, Some(ordinal))
            && !is_registered(symbol, text)
            && !is_expression(symbol, text)
            && !self.may_be_called_by_base(file, symbol)
    }

    /// Whether a symbol is a method that is not private, of a type with base types: one outside the view may call it.
    fn may_be_called_by_base(&self, file: &SourceFile, symbol: &Symbol) -> bool {
        let Some(parent) = symbol.parent.filter(|_| symbol.visibility != Some(Visibility::Private)) else {
            return false;
        };
        let has_bases = file.facts.symbols.get(parent as usize).is_some_and(|parent| !parent.bases.is_empty());
        let names_base =
            |shape| matches!(EdgeKind::for_reference(shape, None), EdgeKind::Extends | EdgeKind::Implements);
        has_bases
            || file
                .facts
                .references
                .iter()
                .any(|reference| reference.symbol == Some(parent) && names_base(reference.shape))
    }
}

/// Whether a line contains a name as a whole word.
fn has_word(line: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_word) && !line[at + name.len()..].starts_with(is_word))
}

/// Whether a line is a comment, as far as one line shows it.
fn is_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", ";", "%"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Whether the file defines a symbol twice, for different builds.
fn has_variant(symbols: &[Symbol], ordinal: u32) -> bool {
    let own = &symbols[ordinal as usize];
    let mut others = symbols.iter().enumerate().filter(|(at, _)| *at != ordinal as usize);
    others.any(|(_, other)| other.qualified_name == own.qualified_name && other.kind == own.kind)
}

/// Whether a symbol is a method or another member of a type.
fn is_member(symbols: &[Symbol], symbol: &Symbol) -> bool {
    use SymbolKind::{Class, Enum, Impl, Interface, Method, Struct, Trait, Union};
    let parent = symbol.parent.and_then(|parent| symbols.get(parent as usize));
    symbol.kind == Method
        || parent.is_some_and(|parent| matches!(parent.kind, Class | Enum | Impl | Interface | Struct | Trait | Union))
}

/// Whether a function or class is an expression: its value is used where it is written, by no name.
fn is_expression(symbol: &Symbol, text: &str) -> bool {
    let start = symbol.outer_start.min(symbol.span.start) as usize;
    let before = text.get(..start).unwrap_or_default().trim_end();
    matches!(symbol.kind, SymbolKind::Fn | SymbolKind::Class)
        && (before.ends_with(['=', '(', ',', '[', '?', '&', '|'])
            || ["=>", "return", "default"].iter().any(|word| before.ends_with(word)))
}

/// Whether a decorator or attribute may make something else use a symbol.
fn is_registered(symbol: &Symbol, text: &str) -> bool {
    let before = text.get(symbol.outer_start as usize..symbol.span.start as usize).unwrap_or_default();
    let doc = symbol.doc.filter(|doc| doc.start < symbol.span.start).map(|doc| doc.text(text));
    let before = doc.map_or_else(|| before.to_owned(), |doc| before.replace(doc, ""));
    let names = before.lines().map(str::trim).filter_map(|line| {
        let name = line.strip_prefix('@').or_else(|| line.strip_prefix("#["))?;
        Some(name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or(name))
    });
    let mut names = names.filter(|name| !name.is_empty());
    names.any(|name| !HARMLESS_ATTRIBUTES.contains(&name))
}

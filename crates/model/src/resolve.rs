//! Whom a reference means: the questions a language's rules may ask of a view, and the answers they give.
//!
//! Facts say what is written; a view says which files there are. A [`Resolver`] brings the two together, for one
//! language and one view, and looks up only what a question needs. It is pure: the same view gives the same answers.

use std::rc::Rc;

use crate::{FileFacts, VersionId};

/// A symbol of a view: a file version and the symbol's place in its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolAt {
    /// The file.
    pub file: VersionId,
    /// The index into [`FileFacts::symbols`].
    pub place: u32,
}

/// A file of a view.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its id.
    pub id: VersionId,
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its language's name.
    pub language: String,
    /// What it says.
    pub facts: Rc<FileFacts>,
}

/// What a view can be asked. Answers are in the order of paths, then of places, and do not change while somebody asks.
pub trait World {
    /// A file; `None` when the view has none of that id.
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>>;

    /// The file at a path.
    fn file_at(&self, path: &str) -> Option<VersionId>;

    /// The files that stand directly in a folder (`""` for the root), of all languages.
    fn files_in(&self, folder: &str) -> Rc<[VersionId]>;

    /// The files whose last path segment is this one, anywhere: `go.mod`, `__init__.py`.
    fn files_named(&self, name: &str) -> Rc<[VersionId]>;

    /// The text of a file.
    fn text(&self, id: VersionId) -> Option<Rc<str>>;

    /// The symbols with exactly this simple name, imports left out.
    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]>;

    /// The files with a reference of exactly this name.
    fn files_naming(&self, name: &str) -> Rc<[VersionId]>;
}

impl<W: World + ?Sized> World for &W {
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        (**self).file(id)
    }

    fn file_at(&self, path: &str) -> Option<VersionId> {
        (**self).file_at(path)
    }

    fn files_in(&self, folder: &str) -> Rc<[VersionId]> {
        (**self).files_in(folder)
    }

    fn files_named(&self, name: &str) -> Rc<[VersionId]> {
        (**self).files_named(name)
    }

    fn text(&self, id: VersionId) -> Option<Rc<str>> {
        (**self).text(id)
    }

    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        (**self).symbols_named(name)
    }

    fn files_naming(&self, name: &str) -> Rc<[VersionId]> {
        (**self).files_naming(name)
    }
}

/// Whom a reference or an import means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// These symbols of the view: one, or several that stand for the same (overloads, conditional definitions).
    Symbols {
        /// The symbols.
        targets: Vec<SymbolAt>,
        /// How sure that is.
        confidence: Confidence,
        /// Why, in a few words.
        why: &'static str,
    },
    /// A module of the view: the files that make it up.
    Module(Vec<VersionId>),
    /// Something that is known to be outside of the view: a library's, or built in.
    External,
    /// A local variable, parameter or type parameter.
    Local,
    /// Nobody knows, and why.
    Unknown(&'static str),
}

/// Functions that a call reaches through another, which gave them back: `handler` through `jwt` in `jwt()(request)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The functions that are called.
    pub targets: Vec<SymbolAt>,
    /// The function that gave them back.
    pub via: SymbolAt,
}

/// How sure a meaning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// Proved by scope, import or type.
    Static,
    /// The best guess.
    Heuristic,
}

impl Confidence {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Static => "static",
            Confidence::Heuristic => "heuristic",
        }
    }
}

impl Meaning {
    /// One symbol, proved.
    pub fn proved(target: SymbolAt, why: &'static str) -> Self {
        Meaning::Symbols { targets: vec![target], confidence: Confidence::Static, why }
    }

    /// One symbol, guessed.
    pub fn guessed(target: SymbolAt, why: &'static str) -> Self {
        Meaning::Symbols { targets: vec![target], confidence: Confidence::Heuristic, why }
    }

    /// The symbols that are meant; none when something else is.
    pub fn targets(&self) -> &[SymbolAt] {
        match self {
            Meaning::Symbols { targets, .. } => targets,
            _ => &[],
        }
    }
}

/// One language's rules at work on one view, with whatever they remember of it.
pub trait Resolver {
    /// Whom a reference of a file means, by its index into [`FileFacts::references`].
    fn reference(&self, file: VersionId, at: u32) -> Meaning;

    /// Whom an import of a file means, by its index into [`FileFacts::imports`].
    fn import(&self, file: VersionId, at: u32) -> Meaning;

    /// The other languages whose files can mean this one's symbols, by name.
    fn kin(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a module can be a value itself, so that an import may give what it stands for any name.
    fn modules_are_values(&self) -> bool {
        false
    }

    /// Whether whoever calls what a field holds calls the field. Where functions are values of their own, whom it calls is
    /// known when it runs, and the field is only read.
    fn calls_fields(&self) -> bool {
        true
    }

    /// The functions written inside of this one that a call of it gives back: who calls `jwt()` reaches them through it.
    fn returned(&self, _function: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }

    /// What a call reaches besides what it names: what is called is what another function gave back.
    fn reached(&self, _file: VersionId, _at: u32) -> Option<Reached> {
        None
    }

    /// The symbols that belong to a type and stand outside of its declaration: blocks of methods, methods in other files,
    /// further declarations of it.
    fn parts_of(&self, _declared: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }

    /// The type to which a symbol belongs that stands outside of it.
    fn owner_of(&self, _part: SymbolAt) -> Option<SymbolAt> {
        None
    }

    /// Whether the files of a folder see each other without an import.
    fn folders_are_units(&self) -> bool {
        false
    }

    /// The methods that implement or override a declared one, as far as they are known.
    fn implementations(&self, _declared: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }
}

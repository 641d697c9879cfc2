//! Name resolution: the queries that a language's rules may make against a view, and the results they return.
//!
//! Facts say what is written; a view says which files exist. A [`Resolver`] combines the two for one language and one
//! view, and looks up only what a request needs. It is pure: the same view gives the same results.

use std::rc::Rc;
use std::sync::Arc;

use crate::{FileFacts, VersionId};

/// A symbol of a view: a file version and the symbol's index in its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolAt {
    /// The file.
    pub file: VersionId,
    /// The index into [`FileFacts::symbols`].
    pub ordinal: u32,
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
    /// Its facts.
    pub facts: Arc<FileFacts>,
}

/// The queries that a view answers. Results are ordered by path, then by index, and stay the same while the value
/// exists.
pub trait World {
    /// Returns a file; `None` if the view has no file with that id.
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>>;

    /// Returns the file at a path.
    fn file_at(&self, path: &str) -> Option<VersionId>;

    /// Returns the files directly in a folder (`""` for the root), of all languages.
    fn files_in(&self, folder: &str) -> Rc<[VersionId]>;

    /// Returns the files with this last path segment, in any folder: `go.mod`, `__init__.py`.
    fn files_named(&self, name: &str) -> Rc<[VersionId]>;

    /// Returns the text of a file.
    fn text(&self, id: VersionId) -> Option<Arc<str>>;

    /// Returns the symbols with exactly this simple name, without imports.
    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]>;

    /// Returns the files with a reference of exactly this name.
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

    fn text(&self, id: VersionId) -> Option<Arc<str>> {
        (**self).text(id)
    }

    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        (**self).symbols_named(name)
    }

    fn files_naming(&self, name: &str) -> Rc<[VersionId]> {
        (**self).files_naming(name)
    }
}

/// The result of resolving a reference or an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Symbols of the view: one, or several equivalent ones (overloads, conditional definitions).
    Symbols {
        /// The symbols.
        targets: Vec<SymbolAt>,
        /// The confidence of the result.
        confidence: Confidence,
        /// The reason, in a few words.
        why: &'static str,
    },
    /// A module of the view: the files that make it up.
    Module(Vec<VersionId>),
    /// An item outside the view: of a library, or built in.
    External,
    /// A local variable, parameter or type parameter.
    Local,
    /// Unresolved, with the reason.
    Unknown(&'static str),
}

/// Functions that a call reaches because another function returned them: `handler` through `jwt` in `jwt()(request)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedCall {
    /// The called functions.
    pub targets: Vec<SymbolAt>,
    /// The function that returned them.
    pub via: SymbolAt,
}

/// The confidence of a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// Confirmed by scope, import or type.
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

impl Resolution {
    /// Creates a confirmed resolution to one symbol.
    pub fn proved(target: SymbolAt, why: &'static str) -> Self {
        Resolution::Symbols { targets: vec![target], confidence: Confidence::Static, why }
    }

    /// Creates a heuristic resolution to one symbol.
    pub fn heuristic(target: SymbolAt, why: &'static str) -> Self {
        Resolution::Symbols { targets: vec![target], confidence: Confidence::Heuristic, why }
    }

    /// Returns the resolved symbols; empty for every other result.
    pub fn targets(&self) -> &[SymbolAt] {
        match self {
            Resolution::Symbols { targets, .. } => targets,
            _ => &[],
        }
    }
}

/// What the syntax of a call says about the symbols that it may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSyntax {
    /// Whether a call of a bare name may call a member of a type.
    pub bare_calls_reach_members: bool,
    /// Whether a call on a value may call a function that belongs to no type, because the value may be a module.
    pub member_calls_reach_functions: bool,
}

impl CallSyntax {
    /// The syntax excludes nothing.
    pub const OPEN: Self = Self { bare_calls_reach_members: true, member_calls_reach_functions: true };

    /// Members are called on values, and other functions are not.
    pub const STRICT: Self = Self { bare_calls_reach_members: false, member_calls_reach_functions: false };
}

/// The rules of one language applied to one view, with a cache of their results.
pub trait Resolver {
    /// Resolves a reference of a file, by its index into [`FileFacts::references`].
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution;

    /// Resolves an import of a file, by its index into [`FileFacts::imports`].
    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution;

    /// The names of the other languages with files that can refer to symbols of this one.
    fn interop_languages(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a module can be a value itself, so that an import may give its value any name.
    fn modules_are_values(&self) -> bool {
        false
    }

    /// Whether calling the value of a field counts as calling the field. In languages with first-class functions the
    /// callee is known only at run time, and the field is merely read.
    fn calls_fields(&self) -> bool {
        true
    }

    /// What the syntax of a call excludes in this language.
    fn call_syntax(&self) -> CallSyntax {
        CallSyntax::OPEN
    }

    /// Returns the number of arguments of a call, if the language's functions fix it; `None` otherwise.
    fn argument_count(&self, _file: VersionId, _at: u32) -> Option<u32> {
        None
    }

    /// Whether a function may be called with this number of arguments.
    fn accepts_arguments(&self, _function: SymbolAt, _count: u32) -> bool {
        true
    }

    /// Returns the nested functions that a call of this function returns: a caller of `jwt()` reaches them through it.
    fn returned_functions(&self, _function: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }

    /// Returns the functions that a call reaches beyond the named one, because it calls the result of another call.
    fn returned_call(&self, _file: VersionId, _at: u32) -> Option<ReturnedCall> {
        None
    }

    /// Returns the out-of-line members of a type: blocks of methods, methods in other files, further declarations of
    /// it.
    fn out_of_line_members(&self, _declared: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }

    /// Returns the type that an out-of-line member belongs to.
    fn owner_of_member(&self, _part: SymbolAt) -> Option<SymbolAt> {
        None
    }

    /// Whether the files of a folder see each other without an import.
    fn folders_are_units(&self) -> bool {
        false
    }

    /// Returns the known methods that implement or override a declared one.
    fn implementations(&self, _declared: SymbolAt) -> Vec<SymbolAt> {
        Vec::new()
    }
}

//! Language knowledge behind a trait. The implementation knows every language; callers name none.

use std::fmt::Debug;
use std::rc::Rc;

use crate::{Resolver, World};

/// Knowledge about languages for readers of an index. All methods are pure: results depend on the arguments alone.
pub trait Languages: Debug + Sync {
    /// Returns the resolution rules of a language for a view; `None` for a language without rules.
    fn resolver(&self, language: &str, world: Rc<dyn World>) -> Option<Box<dyn Resolver>>;

    /// Whether a path belongs to a test, regardless of the file's content.
    fn is_test_path(&self, path: &str) -> bool;

    /// Whether a location is in a test. Ranking, references, calls and diffs all use this one definition. Either the
    /// file's path says so, or extraction marked the enclosing symbol (`is_marked`, from
    /// [`Symbol::in_test`](crate::Symbol::in_test)): it is a test block, has a test attribute, or is inside such a
    /// symbol.
    fn is_test(&self, path: &str, is_marked: bool) -> bool {
        is_marked || self.is_test_path(path)
    }

    /// Whether files of a language are code, and not prose, data or configuration.
    fn is_code(&self, language: &str) -> bool;

    /// Whether a grammar parses the files of a language. In other languages symbols are landmarks and the text stays
    /// text.
    fn has_grammar(&self, language: &str) -> bool;

    /// Whether a word is a file extension, which distinguishes a file name from a method (`jwt.rs`, `session.get`).
    fn is_extension(&self, word: &str) -> bool;

    /// Whether a file with this name, without its extension, takes its meaning from its folder.
    fn is_named_for_folder(&self, stem: &str) -> bool;

    /// Whether a file with this name mostly re-exports or only declares items that are defined elsewhere.
    fn is_reexport_file(&self, file_name: &str) -> bool;

    /// Whether a file of this name makes its folder a package.
    fn is_manifest(&self, file_name: &str) -> bool;

    /// The names of the methods that run when a value of a class is created; the usual constructor is first. Methods
    /// that the grammar itself reports as constructors are not included.
    fn constructors(&self, language: &str) -> &'static [&'static str];

    /// Whether several functions with this name coexist and all of them run, so that none is a variant of another.
    fn is_repeatable_function(&self, language: &str, name: &str) -> bool;

    /// The unqualified name that a line defines if it looks like a definition. For code that no grammar has parsed.
    fn defined_name<'l>(&self, line: &'l str) -> Option<&'l str>;
}

//! What is known of languages, as questions. Who answers knows them all; who asks knows none by name.

use std::fmt::Debug;
use std::rc::Rc;

use crate::{Resolver, World};

/// The languages, as whoever reads an index asks about them. All answers are pure: they depend on what is asked alone.
pub trait Languages: Debug + Sync {
    /// The rules of a language at work on a view; `None` for a language without rules.
    fn resolver(&self, language: &str, world: Rc<dyn World>) -> Option<Box<dyn Resolver>>;

    /// Whether a path is that of a test, whatever stands in the file.
    fn is_test_path(&self, path: &str) -> bool;

    /// Whether a place is in a test: one question with one answer, for ranking, references, calls and diffs alike. The path
    /// of its file says so, or the symbol around it `is_marked` ([`Symbol::in_test`](crate::Symbol::in_test)): by extraction,
    /// because it is a test block, has the attribute of a test, or stands inside of such a symbol.
    fn is_test(&self, path: &str, is_marked: bool) -> bool {
        is_marked || self.is_test_path(path)
    }

    /// Whether files of a language are code, and not prose, data or configuration.
    fn is_code(&self, language: &str) -> bool;

    /// Whether a grammar reads files of a language. The symbols of others are landmarks, and their text stays text.
    fn has_grammar(&self, language: &str) -> bool;

    /// Whether a word is an extension that tells a file's name from a method's (`jwt.rs`, `session.get`).
    fn is_extension(&self, word: &str) -> bool;

    /// Whether a file of this name, without its extension, is named for the folder that it stands in.
    fn is_named_for_folder(&self, stem: &str) -> bool;

    /// Whether a file of this name mostly passes on what stands elsewhere, or only declares it.
    fn passes_on(&self, file_name: &str) -> bool;

    /// Whether a file of this name makes its folder a package.
    fn is_manifest(&self, file_name: &str) -> bool;

    /// The names of the functions of a class that are run when a value of it is made; the first one is what a class is made
    /// by, as a rule. What a grammar calls a constructor is none of these.
    fn constructors(&self, language: &str) -> &'static [&'static str];

    /// Whether functions of this name stand side by side and are all run, so that none of them is a variant of another.
    fn is_run_beside_others(&self, language: &str, name: &str) -> bool;

    /// The name that a line defines, without its path, if it looks like a definition: for code that no grammar has read.
    fn defined_name<'l>(&self, line: &'l str) -> Option<&'l str>;
}

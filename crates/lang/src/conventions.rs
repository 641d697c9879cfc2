//! Naming conventions of languages for files and functions. Each language defines its own beside its grammar.

/// The naming conventions of a language.
pub(crate) struct Conventions {
    /// Folders of test files, case-insensitive.
    pub(crate) test_folders: &'static [&'static str],
    /// Prefixes of test file names, case-insensitive.
    pub(crate) test_prefixes: &'static [&'static str],
    /// Parts of test file names, case-insensitive.
    pub(crate) test_infixes: &'static [&'static str],
    /// Methods that run when a class is instantiated and are ordinary methods in the grammar. The first is the usual
    /// one.
    pub(crate) constructors: &'static [&'static str],
    /// Functions that may be defined several times side by side and are all run.
    pub(crate) repeatable_functions: &'static [&'static str],
    /// Files that make their folder a package.
    pub(crate) manifests: &'static [&'static str],
    /// Stems of files that are named for their folder.
    pub(crate) folder_stems: &'static [&'static str],
    /// Files that mostly re-export or only declare symbols, case-insensitive: whole names, and endings that begin with
    /// a dot.
    pub(crate) reexport_files: &'static [&'static str],
}

impl Conventions {
    /// No conventions.
    pub(crate) const NONE: Self = Self {
        test_folders: &[],
        test_prefixes: &[],
        test_infixes: &[],
        constructors: &[],
        repeatable_functions: &[],
        manifests: &[],
        folder_stems: &[],
        reexport_files: &[],
    };
}

/// Conventions of all languages, or of languages without a grammar.
pub(crate) const COMMON: Conventions = Conventions {
    test_folders: &["test", "tests", "testing", "spec", "specs", "test_utils", "e2e", "regress"],
    test_infixes: &["_spec."],
    folder_stems: &["init", "main"],
    ..Conventions::NONE
};

//! Naming conventions of languages for files and functions, and the queries about them.
//!
//! Each language defines its [`Conventions`] beside its grammar. Most queries are about a path or a word, not about a
//! language. For them the conventions of all languages apply: people carry conventions from one language to the next
//! (`test_x.rs`), and files without a grammar follow them, too.

use std::rc::Rc;
use std::sync::LazyLock;

use codecompass_model::{Languages, Resolver, World};

use crate::{LANGUAGES, definitions, detect};

/// The naming conventions of a language.
pub(crate) struct Customs {
    /// Folders of test files, case-insensitive.
    pub(crate) test_folders: &'static [&'static str],
    /// Prefixes of test file names, case-insensitive.
    pub(crate) test_beginnings: &'static [&'static str],
    /// Parts of test file names, case-insensitive.
    pub(crate) test_marks: &'static [&'static str],
    /// Methods that run when a class is instantiated and are ordinary methods in the grammar. The first is the usual
    /// one.
    pub(crate) constructors: &'static [&'static str],
    /// Functions that may be defined several times side by side and are all run.
    pub(crate) run_beside_others: &'static [&'static str],
    /// Files that make their folder a package.
    pub(crate) manifests: &'static [&'static str],
    /// Stems of files that are named for their folder.
    pub(crate) folder_stems: &'static [&'static str],
    /// Files that mostly re-export or only declare symbols, case-insensitive: whole names, and endings that begin with
    /// a dot.
    pub(crate) passing_on: &'static [&'static str],
}

impl Customs {
    /// No conventions.
    pub(crate) const NONE: Self = Self {
        test_folders: &[],
        test_beginnings: &[],
        test_marks: &[],
        constructors: &[],
        run_beside_others: &[],
        manifests: &[],
        folder_stems: &[],
        passing_on: &[],
    };
}

/// Conventions of all languages, or of languages without a grammar.
const COMMON: Customs = Customs {
    test_folders: &["test", "tests", "testing", "spec", "specs", "test_utils", "e2e"],
    test_marks: &["_spec."],
    folder_stems: &["init", "main"],
    ..Customs::NONE
};

/// The languages, for readers of an index.
pub const REGISTRY: &dyn Languages = &Registry;

#[derive(Debug)]
struct Registry;

impl Languages for Registry {
    fn resolver(&self, language: &str, world: Rc<dyn World>) -> Option<Box<dyn Resolver>> {
        crate::resolver(language, world)
    }

    fn is_test_path(&self, path: &str) -> bool {
        is_test_path(path)
    }

    fn is_code(&self, language: &str) -> bool {
        detect::is_code(language)
    }

    fn has_grammar(&self, language: &str) -> bool {
        crate::has_rules(language)
    }

    fn is_extension(&self, word: &str) -> bool {
        detect::is_telling_extension(word)
    }

    fn is_named_for_folder(&self, stem: &str) -> bool {
        all().any(|customs| customs.folder_stems.contains(&stem))
    }

    fn passes_on(&self, file_name: &str) -> bool {
        let is_one = |name: &&str| match name.starts_with('.') {
            true => ends(file_name, name),
            false => file_name.eq_ignore_ascii_case(name),
        };
        all().flat_map(|customs| customs.passing_on).any(is_one)
    }

    fn is_manifest(&self, file_name: &str) -> bool {
        all().any(|customs| customs.manifests.contains(&file_name))
    }

    fn constructors(&self, language: &str) -> &'static [&'static str] {
        of(language).map_or(&[], |customs| customs.constructors)
    }

    fn is_run_beside_others(&self, language: &str, name: &str) -> bool {
        of(language).is_some_and(|customs| customs.run_beside_others.contains(&name))
    }

    fn defined_name<'l>(&self, line: &'l str) -> Option<&'l str> {
        definitions::defined_name(line)
    }
}

/// The test path conventions of all languages together, because every ranked file is checked against them.
struct TestPaths {
    folders: Vec<&'static str>,
    beginnings: Vec<&'static str>,
    marks: Vec<&'static str>,
}

static TEST_PATHS: LazyLock<TestPaths> = LazyLock::new(|| {
    let united = |list: fn(&Customs) -> &'static [&'static str]| {
        let mut united: Vec<&'static str> = all().flat_map(list).copied().collect();
        united.sort_unstable();
        united.dedup();
        united
    };
    TestPaths {
        folders: united(|customs| customs.test_folders),
        beginnings: united(|customs| customs.test_beginnings),
        marks: united(|customs| customs.test_marks),
    }
});

/// Returns whether a path is a test path: test runners of some language look for it, or its folder is one where people
/// put test helpers and test data.
pub fn is_test_path(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let begins = |start: &str| file.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    let holds = |part: &str| file.as_bytes().windows(part.len()).any(|at| at.eq_ignore_ascii_case(part.as_bytes()));
    let known = &*TEST_PATHS;
    let is_named = |folder: &str| known.folders.iter().any(|name| folder.eq_ignore_ascii_case(name));
    folders.split('/').any(is_named)
        || known.beginnings.iter().any(|start| begins(start))
        || known.marks.iter().any(|part| holds(part))
}

fn all() -> impl Iterator<Item = &'static Customs> {
    std::iter::once(&COMMON).chain(LANGUAGES.iter().map(|language| &language.customs))
}

fn of(language: &str) -> Option<&'static Customs> {
    LANGUAGES.iter().find(|known| known.name == language).map(|known| &known.customs)
}

fn ends(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_folder_and_by_name() {
        for (path, expected) in [
            ("tests/api.rs", true),
            ("src/Tests/Api.cs", true),
            ("src/__tests__/app.ts", true),
            ("pkg/testdata/a.go", true),
            ("src/parser/tests.rs", true),
            ("polls/tests.py", true),
            ("polls/test_models.py", true),
            ("src/test_models.rs", true),
            ("conftest.py", true),
            ("context_test.go", true),
            ("src/app.test.ts", true),
            ("src/app.spec.tsx", true),
            ("models/user_spec.rb", true),
            ("src/x_tests.rs", true),
            ("src/commands/test.rs", false),
            ("src/latest.rs", false),
            ("src/attest/mod.rs", false),
            ("contest.py", false),
            ("src/tests_of_time.rs", false),
        ] {
            assert_eq!(REGISTRY.is_test_path(path), expected, "{path}");
            assert!(REGISTRY.is_test(path, true), "{path}: the flag alone suffices");
            assert_eq!(REGISTRY.is_test(path, false), expected, "{path}: without the flag the path decides");
        }
    }

    #[test]
    fn names_of_files_tell_what_they_are_for() {
        for stem in ["mod", "lib", "main", "index", "init", "__init__"] {
            assert!(REGISTRY.is_named_for_folder(stem), "{stem}");
        }
        for name in ["Cargo.toml", "go.mod", "package.json", "pyproject.toml", "setup.py", "setup.cfg"] {
            assert!(REGISTRY.is_manifest(name), "{name}");
        }
        for name in ["__init__.py", "__INIT__.PY", "a.pyi", "types.d.ts"] {
            assert!(REGISTRY.passes_on(name), "{name}");
        }
        assert!(!REGISTRY.is_named_for_folder("jwt") && !REGISTRY.is_manifest("Cargo.lock"));
        assert!(!REGISTRY.passes_on("a__init__.py") && !REGISTRY.passes_on("init.py") && !REGISTRY.passes_on("a.ts"));
    }

    #[test]
    fn a_custom_of_one_language_is_none_of_another() {
        assert_eq!(REGISTRY.constructors("python"), ["__init__", "__new__"]);
        assert!(REGISTRY.constructors("rust").is_empty() && REGISTRY.constructors("text").is_empty());
        assert!(REGISTRY.is_run_beside_others("go", "init") && !REGISTRY.is_run_beside_others("python", "init"));
        assert!(REGISTRY.is_code("rust") && REGISTRY.is_code("zig") && !REGISTRY.is_code("markdown"));
    }
}

//! The languages, for readers of an index: resolvers, and queries about naming conventions.
//!
//! Most queries are about a path or a word, not about a language. For them the conventions of all languages apply:
//! people carry conventions from one language to the next (`test_x.rs`), and files without a grammar follow them, too.

use std::rc::Rc;
use std::sync::LazyLock;

use codecompass_model::{Languages, Resolver, World};

use crate::conventions::{COMMON, Conventions};
use crate::{LANGUAGES, Rules, definitions, detect, rules};

/// The languages, for readers of an index.
pub const REGISTRY: &dyn Languages = &Registry;

#[derive(Debug)]
struct Registry;

impl Languages for Registry {
    fn resolver(&self, language: &str, world: Rc<dyn World>) -> Option<Box<dyn Resolver>> {
        resolver(language, world)
    }

    fn is_test_path(&self, path: &str) -> bool {
        is_test_path(path)
    }

    fn is_code(&self, language: &str) -> bool {
        detect::is_code(language)
    }

    fn has_grammar(&self, language: &str) -> bool {
        has_rules(language)
    }

    fn is_extension(&self, word: &str) -> bool {
        detect::is_file_name_extension(word)
    }

    fn is_named_for_folder(&self, stem: &str) -> bool {
        all().any(|customs| customs.folder_stems.contains(&stem))
    }

    fn is_reexport_file(&self, file_name: &str) -> bool {
        let is_one = |name: &&str| match name.starts_with('.') {
            true => ends(file_name, name),
            false => file_name.eq_ignore_ascii_case(name),
        };
        all().flat_map(|customs| customs.reexport_files).any(is_one)
    }

    fn is_manifest(&self, file_name: &str) -> bool {
        all().any(|customs| customs.manifests.contains(&file_name))
    }

    fn constructors(&self, language: &str) -> &'static [&'static str] {
        for_language(language).map_or(&[], |customs| customs.constructors)
    }

    fn is_repeatable_function(&self, language: &str, name: &str) -> bool {
        for_language(language).is_some_and(|customs| customs.repeatable_functions.contains(&name))
    }

    fn defined_name<'l>(&self, line: &'l str) -> Option<&'l str> {
        definitions::defined_name(line)
    }
}

/// Returns whether a language has a resolver.
pub fn has_rules(language: &str) -> bool {
    LANGUAGES.iter().any(|known| known.name == language)
}

/// Creates the resolver of a language for a view; `None` for a language without one.
pub fn resolver<'w>(language: &str, world: Rc<dyn World + 'w>) -> Option<Box<dyn Resolver + 'w>> {
    let language = LANGUAGES.iter().find(|known| known.name == language)?;
    Some(match language.rules {
        Rules::Custom(resolver) => resolver(world),
        Rules::Shared(scoping) => rules::resolver(scoping, world),
    })
}

/// The test path conventions of all languages together, because every ranked file is checked against them.
struct TestPaths {
    folders: Vec<&'static str>,
    prefixes: Vec<&'static str>,
    infixes: Vec<&'static str>,
}

static TEST_PATHS: LazyLock<TestPaths> = LazyLock::new(|| {
    let united = |list: fn(&Conventions) -> &'static [&'static str]| {
        let mut united: Vec<&'static str> = all().flat_map(list).copied().collect();
        united.sort_unstable();
        united.dedup();
        united
    };
    TestPaths {
        folders: united(|customs| customs.test_folders),
        prefixes: united(|customs| customs.test_prefixes),
        infixes: united(|customs| customs.test_infixes),
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
        || known.prefixes.iter().any(|start| begins(start))
        || known.infixes.iter().any(|part| holds(part))
}

fn all() -> impl Iterator<Item = &'static Conventions> {
    std::iter::once(&COMMON).chain(LANGUAGES.iter().map(|language| &language.conventions))
}

fn for_language(language: &str) -> Option<&'static Conventions> {
    LANGUAGES.iter().find(|known| known.name == language).map(|known| &known.conventions)
}

fn ends(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_recognised_by_folder_and_name() {
        for (path, expected) in [
            ("tests/api.rs", true),
            ("src/Tests/Api.cs", true),
            ("src/__tests__/app.ts", true),
            ("regress/attach.sh", true),
            ("ml/regression/model.py", false),
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
    fn file_names_have_roles() {
        for stem in ["mod", "lib", "main", "index", "init", "__init__"] {
            assert!(REGISTRY.is_named_for_folder(stem), "{stem}");
        }
        for name in ["Cargo.toml", "go.mod", "package.json", "pyproject.toml", "setup.py", "setup.cfg"] {
            assert!(REGISTRY.is_manifest(name), "{name}");
        }
        for name in ["__init__.py", "__INIT__.PY", "a.pyi", "types.d.ts"] {
            assert!(REGISTRY.is_reexport_file(name), "{name}");
        }
        assert!(!REGISTRY.is_named_for_folder("jwt") && !REGISTRY.is_manifest("Cargo.lock"));
        assert!(
            !REGISTRY.is_reexport_file("a__init__.py")
                && !REGISTRY.is_reexport_file("init.py")
                && !REGISTRY.is_reexport_file("a.ts")
        );
    }

    #[test]
    fn conventions_are_per_language() {
        assert_eq!(REGISTRY.constructors("python"), ["__init__", "__new__"]);
        assert!(REGISTRY.constructors("rust").is_empty() && REGISTRY.constructors("text").is_empty());
        assert!(REGISTRY.is_repeatable_function("go", "init") && !REGISTRY.is_repeatable_function("python", "init"));
        assert!(REGISTRY.is_code("rust") && REGISTRY.is_code("zig") && !REGISTRY.is_code("markdown"));
    }
}

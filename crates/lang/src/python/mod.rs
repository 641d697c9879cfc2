//! The language support for Python.
//!
//! Extraction makes these decisions, which the shared rules do not define:
//!
//! - A class is an enumeration if a base has such a name (`Enum`, `Flag`, … or any name that ends in `Enum`). It stays
//!   a `class`; names that it assigns without a type and without a leading underscore are `variant`s.
//! - `self.x = …` in a method makes `x` a `field` of the class, located at its first assignment, `__init__` before all
//!   others; references in the value still belong to the method. Functions inside methods declare no fields.
//! - A name of a file or class is one symbol, at its first assignment, also in `if`, `try`, `with` and `for`; functions
//!   and classes that are defined again are further symbols.
//! - `type X = …` and `X: TypeAlias = …` are `type`; a name that is assigned a `lambda`, a named tuple or a type
//!   variable is a variable with its value.
//! - References in decorators belong to the decorated symbol; those in defaults and types of parameters to the
//!   function.
//! - The doc of a definition is its docstring, else the comment lines directly above it; a variable's may be below it.
//! - The target of a `with` is assumed to be the value itself; `*args: T` has the type `T` inside.
//! - In a comprehension the first iterable is looked up inside too, though Python evaluates it outside.

mod assignments;
mod definitions;
mod docs_and_comments;
mod imports;
mod kinds;
mod module;
mod patterns;
mod resolve;
mod scopes;
mod walk;

use crate::conventions::Conventions;
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry.
pub(crate) const LANGUAGE: Language = Language {
    name: "python",
    facts_version: 4,
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy", "uv"],
    has_visibility: false,
    depth: Depth::Types,
    measured: "calls .997 / .999 on requests, against pyright",
    conventions: Conventions {
        test_prefixes: &["test_", "conftest", "tests."],
        constructors: &["__init__", "__new__"],
        manifests: &["pyproject.toml", "setup.py", "setup.cfg"],
        folder_stems: &["__init__"],
        reexport_files: &["__init__.py", ".pyi"],
        ..Conventions::NONE
    },
    grammar: Grammar {
        load: || tree_sitter_python::LANGUAGE.into(),
        kinds: kinds::kind::NAMES,
        fields: kinds::field::NAMES,
        fielded: kinds::FIELDED,
        opaque: kinds::OPAQUE,
        names: kinds::NAMES,
        imports: kinds::IMPORTS,
        words: kinds::WORDS,
        repair: None,
        retries: false,
    },
    walk: Walk::Custom(walk::walk),
    rules: Rules::Custom(resolve::resolver),
};

//! Python.

mod definitions;
mod imports;
mod kinds;
mod module;
mod walk;

use crate::Language;
use crate::tree::Grammar;

/// The value for the registry.
pub(crate) const LANGUAGE: Language = Language {
    name: "python",
    facts_version: 1,
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy", "uv"],
    grammar: Grammar {
        load: || tree_sitter_python::LANGUAGE.into(),
        kinds: kinds::kind::NAMES,
        fields: kinds::field::NAMES,
        fielded: kinds::FIELDED,
        opaque: kinds::OPAQUE,
        repair: None,
    },
    walk: walk::walk,
};

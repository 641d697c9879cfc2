//! The language support for Go.
//!
//! A qualified name begins with the package clause and contains nothing of the path: `gin.Context.Next`. A method is
//! beside its type, so it has no parent; its receiver's type is its owner, and part of its qualified name. A file knows
//! only the path of an imported package, not its name: the last path element is a guess that the resolver may correct.
//! Subtests with their titles as names are symbols below their function (`test_blocks`).

mod calls;
mod declarations;
mod directives;
mod imports;
mod kinds;
mod literals;
mod locals;
mod lower;
mod resolve;
mod test_blocks;
mod types;
mod walk;

use crate::conventions::Conventions;
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry.
pub(crate) const LANGUAGE: Language = Language {
    name: "go",
    facts_version: 4,
    extensions: &["go"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls 1.0 / 1.0 on gin, against go/types",
    conventions: Conventions {
        test_folders: &["testdata"],
        test_infixes: &["_test."],
        repeatable_functions: &["init"],
        manifests: &["go.mod"],
        folder_stems: &["main"],
        ..Conventions::NONE
    },
    grammar: Grammar {
        load: || tree_sitter_go::LANGUAGE.into(),
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

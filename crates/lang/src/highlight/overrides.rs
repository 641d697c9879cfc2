//! The exceptions of languages for highlighting, in one table.

use super::HighlightKind::{self, Attribute, Constant, Function, Keyword, Type};

/// The exceptions of some languages.
pub(super) struct LanguageOverrides {
    /// Their names.
    languages: &'static [&'static str],
    /// Node kinds with names that are misleading or say nothing about their role.
    pub(super) kinds: &'static [(&'static str, Option<HighlightKind>)],
    /// Names with a fixed kind wherever they occur, separated by blanks.
    pub(super) words: &'static [(HighlightKind, &'static str)],
    /// The node kind with string literals that are docs.
    pub(super) doc_kind: Option<&'static str>,
    /// Whether a name with a capital letter is a type if nothing else is known about it.
    pub(super) types_are_capitalised: bool,
    /// The character before a name that makes it an attribute.
    pub(super) attribute_sign: Option<u8>,
    /// The kind of words that a repair hides from the parser.
    pub(super) repaired: Option<HighlightKind>,
}

/// No exceptions.
const NO_OVERRIDES: LanguageOverrides = LanguageOverrides {
    languages: &[],
    kinds: &[],
    words: &[],
    doc_kind: None,
    types_are_capitalised: true,
    attribute_sign: None,
    repaired: None,
};

const OVERRIDES: &[LanguageOverrides] = &[
    LanguageOverrides { languages: &["c", "go"], types_are_capitalised: false, ..NO_OVERRIDES },
    LanguageOverrides {
        languages: &["cpp"],
        words: &[(Keyword, "const_cast dynamic_cast reinterpret_cast static_cast")],
        types_are_capitalised: false,
        repaired: Some(Attribute),
        ..NO_OVERRIDES
    },
    LanguageOverrides {
        languages: &["csharp"],
        words: &[(Keyword, "nameof")],
        types_are_capitalised: false,
        ..NO_OVERRIDES
    },
    LanguageOverrides {
        languages: &["elixir"],
        kinds: &[("alias", Some(Type)), ("keyword", None)],
        words: &[(
            Keyword,
            "alias case cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop \
             defmodule defp defprotocol defstruct for if import quote raise receive require super throw try \
             unless unquote use with",
        )],
        attribute_sign: Some(b'@'),
        ..NO_OVERRIDES
    },
    LanguageOverrides {
        languages: &["haskell"],
        kinds: &[("boolean", None), ("constructor", Some(Type)), ("module_id", Some(Type)), ("name", Some(Type))],
        words: &[(Constant, "False Nothing True")],
        ..NO_OVERRIDES
    },
    LanguageOverrides { languages: &["java"], words: &[(Keyword, "var")], ..NO_OVERRIDES },
    LanguageOverrides {
        languages: &["kotlin", "svelte", "typescript", "vue"],
        repaired: Some(Keyword),
        ..NO_OVERRIDES
    },
    LanguageOverrides { languages: &["lua"], words: &[(Keyword, "self")], ..NO_OVERRIDES },
    LanguageOverrides {
        languages: &["python"],
        kinds: &[("attribute", None)],
        words: &[(Keyword, "cls self")],
        doc_kind: Some("expression_statement"),
        ..NO_OVERRIDES
    },
    LanguageOverrides {
        languages: &["ruby"],
        words: &[(Keyword, "private protected raise require require_relative")],
        ..NO_OVERRIDES
    },
    LanguageOverrides {
        languages: &["rust"],
        kinds: &[("fragment_specifier", Some(Type)), ("lifetime", Some(Type))],
        words: &[(Constant, "None")],
        ..NO_OVERRIDES
    },
    LanguageOverrides { languages: &["scala"], words: &[(Constant, "Nil None")], ..NO_OVERRIDES },
    LanguageOverrides {
        languages: &["shell"],
        words: &[(Keyword, "break continue eval exec exit return set shift source trap")],
        repaired: Some(Keyword),
        ..NO_OVERRIDES
    },
    LanguageOverrides { languages: &["zig"], kinds: &[("builtin_identifier", Some(Function))], ..NO_OVERRIDES },
];

/// Returns the exceptions of a language.
pub(super) fn overrides_for(language: &str) -> &'static LanguageOverrides {
    OVERRIDES.iter().find(|odd| odd.languages.contains(&language)).unwrap_or(&NO_OVERRIDES)
}

impl LanguageOverrides {
    /// Returns the fixed kind of a name.
    pub(super) fn word(&self, name: &str) -> Option<HighlightKind> {
        self.words.iter().find(|(_, words)| words.split(' ').any(|word| word == name)).map(|(colour, _)| *colour)
    }
}

#[cfg(test)]
mod tests {
    use super::OVERRIDES;
    use crate::LANGUAGES;

    #[test]
    fn overridden_kinds_are_in_the_grammar() {
        for odd in OVERRIDES {
            for name in odd.languages {
                let known: Vec<_> = LANGUAGES.iter().filter(|known| known.name == *name).collect();
                assert!(!known.is_empty(), "{name} is not a language");
                let has = |kind: &str| known.iter().any(|one| (one.grammar.load)().id_for_node_kind(kind, true) != 0);
                let kinds = odd.kinds.iter().map(|(kind, _)| *kind).chain(odd.doc_kind);
                kinds.for_each(|kind| assert!(has(kind), "{name} has no node {kind}"));
            }
        }
        let names: Vec<_> = OVERRIDES.iter().flat_map(|odd| odd.languages).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(names.len(), once.len());
    }
}

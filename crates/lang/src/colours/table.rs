//! The exceptions of languages for highlighting, in one table.

use super::Colour::{self, Attribute, Constant, Function, Keyword, Type};

/// The exceptions of some languages.
pub(super) struct Odd {
    /// Their names.
    languages: &'static [&'static str],
    /// Node kinds with names that are misleading or say nothing about their role.
    pub(super) kinds: &'static [(&'static str, Option<Colour>)],
    /// Names with a fixed kind wherever they occur, separated by blanks.
    pub(super) words: &'static [(Colour, &'static str)],
    /// The node kind with string literals that are docs.
    pub(super) documents: Option<&'static str>,
    /// Whether a name with a capital letter is a type if nothing else is known about it.
    pub(super) capitals: bool,
    /// The character before a name that makes it an attribute.
    pub(super) sign: Option<u8>,
    /// The kind of words that a repair hides from the parser.
    pub(super) repaired: Option<Colour>,
}

/// No exceptions.
const EVEN: Odd =
    Odd { languages: &[], kinds: &[], words: &[], documents: None, capitals: true, sign: None, repaired: None };

const TABLE: &[Odd] = &[
    Odd { languages: &["c", "go"], capitals: false, ..EVEN },
    Odd {
        languages: &["cpp"],
        words: &[(Keyword, "const_cast dynamic_cast reinterpret_cast static_cast")],
        capitals: false,
        repaired: Some(Attribute),
        ..EVEN
    },
    Odd { languages: &["csharp"], words: &[(Keyword, "nameof")], capitals: false, ..EVEN },
    Odd {
        languages: &["elixir"],
        kinds: &[("alias", Some(Type)), ("keyword", None)],
        words: &[(
            Keyword,
            "alias case cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop \
             defmodule defp defprotocol defstruct for if import quote raise receive require super throw try \
             unless unquote use with",
        )],
        sign: Some(b'@'),
        ..EVEN
    },
    Odd {
        languages: &["haskell"],
        kinds: &[("boolean", None), ("constructor", Some(Type)), ("module_id", Some(Type)), ("name", Some(Type))],
        words: &[(Constant, "False Nothing True")],
        ..EVEN
    },
    Odd { languages: &["java"], words: &[(Keyword, "var")], ..EVEN },
    Odd { languages: &["kotlin", "svelte", "typescript", "vue"], repaired: Some(Keyword), ..EVEN },
    Odd { languages: &["lua"], words: &[(Keyword, "self")], ..EVEN },
    Odd {
        languages: &["python"],
        kinds: &[("attribute", None)],
        words: &[(Keyword, "cls self")],
        documents: Some("expression_statement"),
        ..EVEN
    },
    Odd { languages: &["ruby"], words: &[(Keyword, "private protected raise require require_relative")], ..EVEN },
    Odd {
        languages: &["rust"],
        kinds: &[("fragment_specifier", Some(Type)), ("lifetime", Some(Type))],
        words: &[(Constant, "None")],
        ..EVEN
    },
    Odd { languages: &["scala"], words: &[(Constant, "Nil None")], ..EVEN },
    Odd {
        languages: &["shell"],
        words: &[(Keyword, "break continue eval exec exit return set shift source trap")],
        repaired: Some(Keyword),
        ..EVEN
    },
    Odd { languages: &["zig"], kinds: &[("builtin_identifier", Some(Function))], ..EVEN },
];

/// Returns the exceptions of a language.
pub(super) fn odd(language: &str) -> &'static Odd {
    TABLE.iter().find(|odd| odd.languages.contains(&language)).unwrap_or(&EVEN)
}

impl Odd {
    /// Returns the fixed kind of a name.
    pub(super) fn word(&self, name: &str) -> Option<Colour> {
        self.words.iter().find(|(_, words)| words.split(' ').any(|word| word == name)).map(|(colour, _)| *colour)
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::LANGUAGES;

    #[test]
    fn every_kind_of_the_table_is_in_its_grammar() {
        for odd in TABLE {
            for name in odd.languages {
                let known: Vec<_> = LANGUAGES.iter().filter(|known| known.name == *name).collect();
                assert!(!known.is_empty(), "{name} is not a language");
                let has = |kind: &str| known.iter().any(|one| (one.grammar.load)().id_for_node_kind(kind, true) != 0);
                let kinds = odd.kinds.iter().map(|(kind, _)| *kind).chain(odd.documents);
                kinds.for_each(|kind| assert!(has(kind), "{name} has no node {kind}"));
            }
        }
        let names: Vec<_> = TABLE.iter().flat_map(|odd| odd.languages).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(names.len(), once.len());
    }
}

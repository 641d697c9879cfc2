//! What a language consists of: how its files are recognised, extracted and resolved.

use std::rc::Rc;

use codecompass_model::{Resolver, Span, World};

use crate::conventions::Conventions;
use crate::draft::Draft;
use crate::rules::ScopePolicy;
use crate::spec::LanguageSpec;
use crate::tree::{Grammar, Tree};

/// A language with a grammar: how its files are recognised, extracted and resolved.
pub struct Language {
    /// The name on the wire. Values with the same name are grammars of one language and have the same version.
    pub name: &'static str,
    /// The version of the extracted facts, raised whenever they change.
    pub facts_version: u32,
    /// Extensions of its files, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole names of files that belong to it regardless of their extension.
    pub file_names: &'static [&'static str],
    /// Interpreters that a shebang line may name; a trailing version number is ignored.
    pub interpreters: &'static [&'static str],
    /// Whether the language itself defines visibility. If not, facts follow the naming convention (a leading
    /// underscore) because ranking uses it, but answers do not show it as a visibility.
    pub has_visibility: bool,
    /// The depth of resolution.
    pub depth: Depth,
    /// The measured accuracy, for people: the ground truth and the result.
    pub measured: &'static str,
    /// Its naming conventions for files and functions.
    pub(crate) conventions: Conventions,
    /// The parts of the grammar that the flat tree keeps.
    pub(crate) grammar: Grammar,
    /// The walk over the tree.
    pub(crate) walk: Walk,
    /// The resolver of references.
    pub(crate) rules: Rules,
}

/// The depth to which references of a language are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// By scopes, imports, and by receivers that are named explicitly.
    Scopes,
    /// Also by the types of receivers.
    Types,
}

impl Depth {
    /// Returns the word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Depth::Scopes => "scopes",
            Depth::Types => "types",
        }
    }
}

/// The support for a language, for people.
#[derive(Clone, Debug)]
pub struct LanguageSupport {
    /// The name on the wire.
    pub name: &'static str,
    /// Extensions of its files.
    pub extensions: Vec<&'static str>,
    /// Whole names of files.
    pub file_names: Vec<&'static str>,
    /// The depth of resolution; `None` for a language without a grammar.
    pub depth: Option<Depth>,
    /// Whether a language without a grammar has landmarks.
    pub landmarks: bool,
    /// The measured accuracy.
    pub measured: &'static str,
}

/// The walk that turns the tree of a language into facts.
pub(crate) enum Walk {
    /// A walk of its own.
    Custom(fn(&Tree, &mut Draft<'_>)),
    /// The walk of its table.
    Table(&'static LanguageSpec),
    /// A walk over code that is embedded in another text.
    Embedded {
        /// Returns the text with everything but the code blanked, so that no byte moves.
        code: fn(&str) -> String,
        /// Returns the words outside the code, given the whole text and the code in it.
        words: fn(&str, &str) -> Vec<Span>,
        walk: fn(&Tree, &mut Draft<'_>),
    },
}

/// The resolver of a language.
pub(crate) enum Rules {
    /// A resolver of its own.
    Custom(for<'w> fn(Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w>),
    /// The resolver that all tables share, with a scope policy.
    Shared(&'static ScopePolicy),
}

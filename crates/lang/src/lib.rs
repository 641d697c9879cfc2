//! Bytes and a path become facts.
//!
//! [`extract`] is pure and total: any path and any bytes give an [`Extracted`], broken code gives fewer facts and a
//! problem as data, and the same input gives the same facts on every machine. Nothing here reads a disk, knows git, or
//! looks at another file.
//!
//! # How a file becomes facts
//!
//! 1. `detect` names the language by file name, extension or shebang line.
//! 2. `parse` runs tree-sitter, with a parser per thread and language and a budget of parser steps.
//! 3. `tree` copies the syntax tree once into a flat array in source order, kinds and fields as small numbers.
//! 4. The language's own `walk` makes one pass over that array and tells a `draft` what it sees.
//! 5. `draft` closes the facts: ordinals and content hashes; `chunk` cuts the text into pieces for search.
//!
//! A text without a grammar takes the first and the last step only; where its format has a small reader, `landmarks` adds what
//! people look for in it: headings, keys, tables, targets.
//!
//! # Adding a language
//!
//! A language is one folder whose `mod.rs` holds one [`Language`] value, and one line in [`LANGUAGES`]. Nothing else names a
//! language: there is no `match` over languages anywhere, and none is needed. New ones are tables (`recipe`, `rules`;
//! `src/java/` is the example): CONTRIBUTING.md has the recipe. What follows is about those with a walk of their own, of which a folder
//! may hold several values that share it (`src/ecmascript/`), one for each grammar.
//!
//! - `kinds.rs` lists the node kinds and fields the walk looks at (`codes!`). Leaves of any other kind, punctuation above
//!   all, are not even copied; children get their field only below the kinds listed in `Grammar::fielded`, because asking
//!   tree-sitter for a field costs more than visiting the node. A test fails for a name that the grammar does not have.
//! - `walk.rs` is a loop over node indices and never recurses, so nesting can not exhaust the stack. A node that knows
//!   what a descendant means leaves a role there (`Roles::mark`); the leaf acts on it when the loop arrives. That keeps
//!   references in source order and every decision beside the syntax that causes it.
//! - Symbols are entered in source order and stay the enclosing symbol up to the end of their node. A qualified name is
//!   its parent's, the language's separator and its own; the file's part comes from the path alone.
//! - `customs` has the names that mean something: tests, constructors, manifests, files named for their folder. The read
//!   path asks for them through `codecompass_model::Languages` ([`REGISTRY`]), so that no language is named outside of here.
//! - Raise `facts_version` with every change of what is extracted, however small; versions extracted under an old number
//!   are extracted again.
//! - Promises in comments under `fixtures/<language>/` say what is extracted; the test over all fixtures finds the folder
//!   by the language's name and mutilates every file in it as well.

mod c;
mod chunk;
mod colours;
mod comments;
mod cpp;
mod csharp;
mod customs;
mod definitions;
mod detect;
mod draft;
mod ecmascript;
mod elixir;
mod exprs;
mod go;
mod haskell;
mod header;
mod headers;
mod identity;
mod java;
mod kotlin;
mod landmarks;
mod leaves;
mod lines;
mod locals;
mod lua;
mod names;
mod parse;
mod parser_memory;
mod php;
mod python;
mod recipe;
mod resolve;
mod roles;
mod ruby;
mod rules;
mod rust;
mod scala;
mod shell;
mod swift;
mod text;
mod tree;
mod zig;

use std::cell::Cell;
use std::rc::Rc;

use codecompass_model::{FileFacts, Problem, ProblemKind, Resolver, Span, World};

pub use colours::{Colour, Coloured, colours, colours_while};
pub use customs::{REGISTRY, is_test_path};
pub use detect::is_code_extension;

use customs::Customs;
use draft::Draft;
use lines::LineStarts;
use parse::Exceeded;
use recipe::Recipe;
use rules::Scoping;
use tree::{Grammar, Tree};

/// A language with a grammar: how its files are recognised, and how facts are made of them.
pub struct Language {
    /// The name on the wire. Values with the same name are grammars of one language and have the same version.
    pub name: &'static str,
    /// Raised whenever extraction says something else than before.
    pub facts_version: u32,
    /// Extensions of its files, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole names of files that belong to it whatever their extension.
    pub file_names: &'static [&'static str],
    /// Interpreters that a shebang line may name; a trailing version number is ignored.
    pub interpreters: &'static [&'static str],
    /// Whether the language itself says who may use a symbol. Where it does not, facts hold what custom says (a leading
    /// underscore), because ranking looks at it; no answer shows that as a visibility.
    pub has_visibility: bool,
    /// How far references find what they mean.
    pub depth: Depth,
    /// What was measured of it, for people: against what, and how well it did.
    pub measured: &'static str,
    /// What names of files and functions mean to those who write it.
    pub(crate) customs: Customs,
    /// What the flat tree keeps of the grammar's nodes.
    pub(crate) grammar: Grammar,
    /// How the tree is read.
    pub(crate) walk: Walk,
    /// The rules by which references find what they mean.
    pub(crate) rules: Rules,
}

/// How far references of a language find what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// By scopes, imports, and what a function is called on when it is named so.
    Scopes,
    /// By the types of receivers as well.
    Types,
}

impl Depth {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Depth::Scopes => "scopes",
            Depth::Types => "types",
        }
    }
}

/// What is known of a language, for people.
#[derive(Clone, Debug)]
pub struct Support {
    /// The name on the wire.
    pub name: &'static str,
    /// Extensions of its files.
    pub extensions: Vec<&'static str>,
    /// Whole names of files.
    pub file_names: Vec<&'static str>,
    /// How far references are resolved; none of a text that is searched as text.
    pub depth: Option<Depth>,
    /// Whether a text without a grammar has landmarks.
    pub landmarks: bool,
    /// What was measured.
    pub measured: &'static str,
}

/// Every language that [`extract`] can return: those with symbols and references first, then the texts, each sorted.
pub fn support() -> Vec<Support> {
    let mut all: Vec<Support> = Vec::new();
    for language in LANGUAGES {
        match all.iter_mut().find(|known| known.name == language.name) {
            Some(known) => {
                known.extensions.extend(language.extensions);
                known.file_names.extend(language.file_names);
            }
            None => all.push(Support {
                name: language.name,
                extensions: language.extensions.to_vec(),
                file_names: language.file_names.to_vec(),
                depth: Some(language.depth),
                landmarks: false,
                measured: language.measured,
            }),
        }
    }
    all.sort_by_key(|one| one.name);
    let mut texts = detect::plain_support();
    texts.sort_by_key(|one| one.name);
    all.extend(texts);
    all
}

/// How the tree of a language becomes facts.
pub(crate) enum Walk {
    /// By a pass of its own.
    Own(fn(&Tree, &mut Draft<'_>)),
    /// By its table.
    Table(&'static Recipe),
    /// By a pass over what stands inside of another text.
    Embedded {
        /// The text with all else blanked, so that no byte moves.
        code: fn(&str) -> String,
        /// Of the whole text and the code in it, the words that stand outside of the code.
        words: fn(&str, &str) -> Vec<Span>,
        walk: fn(&Tree, &mut Draft<'_>),
    },
}

/// How references of a language find what they mean.
pub(crate) enum Rules {
    /// By rules of its own.
    Own(for<'w> fn(Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w>),
    /// By the rules that all tables share, and its policies.
    Shared(&'static Scoping),
}

/// The languages with a grammar.
pub const LANGUAGES: &[&Language] = &[
    &c::LANGUAGE,
    &cpp::LANGUAGE,
    &csharp::LANGUAGE,
    &ecmascript::JAVASCRIPT,
    &ecmascript::TSX,
    &ecmascript::TYPESCRIPT,
    &elixir::LANGUAGE,
    &go::LANGUAGE,
    &haskell::LANGUAGE,
    &java::LANGUAGE,
    &kotlin::LANGUAGE,
    &lua::LANGUAGE,
    &php::LANGUAGE,
    &python::LANGUAGE,
    &ruby::LANGUAGE,
    &rust::LANGUAGE,
    &scala::LANGUAGE,
    &shell::LANGUAGE,
    &ecmascript::SVELTE,
    &swift::LANGUAGE,
    &ecmascript::VUE,
    &zig::LANGUAGE,
];

/// The facts version of every text that neither a grammar nor a reader of landmarks looks at.
const PLAIN_VERSION: u32 = 1;

/// The bit of a facts version that says that the language was chosen.
const CHOSEN: u32 = 1 << 30;

/// A text this long has no facts: offsets are 32 bits wide.
const MAX_BYTES: usize = i32::MAX as usize;

/// What one file says.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The language's name, `text` when nothing better is known.
    pub language: &'static str,
    /// The number of the rules that were used.
    pub facts_version: u32,
    /// The text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// The facts.
    pub facts: FileFacts,
}

/// Whether a language has rules by which references find what they mean.
pub fn has_rules(language: &str) -> bool {
    LANGUAGES.iter().any(|known| known.name == language)
}

/// Whether a language says who may use a symbol, so that answers show it.
pub fn has_visibility(language: &str) -> bool {
    LANGUAGES.iter().any(|known| known.name == language && known.has_visibility)
}

/// The rules of a language at work on a view; `None` for a language without rules.
pub fn resolver<'w>(language: &str, world: Rc<dyn World + 'w>) -> Option<Box<dyn Resolver + 'w>> {
    let language = LANGUAGES.iter().find(|known| known.name == language)?;
    Some(match language.rules {
        Rules::Own(resolver) => resolver(world),
        Rules::Shared(scoping) => rules::resolver(scoping, world),
    })
}

/// Extracts the facts of a file from its path and bytes. Never fails.
pub fn extract(path: &str, bytes: Vec<u8>) -> Extracted {
    extract_while(path, bytes, &|| true).expect("because nobody says stop")
}

/// The same for a caller who may lose patience: `go_on` is asked now and then while the file is parsed, and once it has
/// said no there is nothing. What is extracted does not depend on it.
pub fn extract_while(path: &str, bytes: Vec<u8>, go_on: &dyn Fn() -> bool) -> Option<Extracted> {
    extract_as(path, bytes, None, go_on)
}

/// The same for a file whose language somebody chose. Its facts version tells so ([`chosen_version`]): nothing that was found out
/// without the choice is taken for it, nor the other way round. A name that is none chooses nothing.
pub fn extract_as(path: &str, bytes: Vec<u8>, chosen: Option<&str>, go_on: &dyn Fn() -> bool) -> Option<Extracted> {
    let stopped = Cell::new(false);
    let go_on = || {
        stopped.set(stopped.get() || !go_on());
        !stopped.get()
    };
    let (text, damaged) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(line as u32))
        }
    };
    let chosen = chosen.and_then(|name| detect::named(name, path));
    let is_chosen = chosen.is_some();
    let found = chosen.unwrap_or_else(|| detect::detect(path, &text));
    let mut facts = match found.language {
        _ if text.len() > MAX_BYTES => too_long(),
        Some(language) => grammar_facts(language, path, &text, &go_on),
        None => text_facts(found.name, path, &text),
    };
    if let Some(line) = damaged {
        facts.problems.push(Problem { kind: ProblemKind::NotUtf8, line, count: 1 });
    }
    let facts_version = found.language.map_or_else(|| plain_version(found.name), |language| language.facts_version);
    let facts_version = if is_chosen { facts_version | CHOSEN } else { facts_version };
    (!stopped.get()).then_some(Extracted { language: found.name, facts_version, text, facts })
}

/// The facts version of a language by name; `None` when [`extract`] never returns that name.
pub fn facts_version(language: &str) -> Option<u32> {
    match LANGUAGES.iter().find(|known| known.name == language) {
        Some(known) => Some(known.facts_version),
        None => detect::is_plain(language).then(|| plain_version(language)),
    }
}

/// The facts version of files for which a language was chosen by name.
pub fn chosen_version(language: &str) -> Option<u32> {
    facts_version(language).map(|version| version | CHOSEN)
}

/// The facts version of a text without a grammar.
fn plain_version(language: &str) -> u32 {
    landmarks::reader(language).map_or(PLAIN_VERSION, |reader| reader.version)
}

/// One number over the names and versions of all languages: it changes when any of them does.
pub fn facts_key() -> u64 {
    let mut key = names::hash(format!("text {PLAIN_VERSION}").as_bytes());
    let versions = LANGUAGES.iter().map(|language| (language.name, language.facts_version));
    for (name, version) in versions.chain(landmarks::versions()) {
        key = names::hash(format!("{key:x} {name} {version}").as_bytes());
    }
    key
}

/// Whether [`extract`] can return this language.
pub fn is_language(name: &str) -> bool {
    facts_version(name).is_some()
}

/// Every language that [`extract`] can return, sorted.
pub fn language_names() -> Vec<&'static str> {
    let mut all: Vec<_> = LANGUAGES.iter().map(|language| language.name).chain(detect::plain_names()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The floor that indexing is measured against: parses and drops the tree, or counts the words of a text without a
/// grammar. Returns how many nodes or words there were.
pub fn parse_only(path: &str, bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    match detect::detect(path, &text).language {
        Some(language) => parse::with_tree(language, &text, |tree| tree.root_node().descendant_count()).unwrap_or(0),
        None => text::count_words(&text),
    }
}

/// Every language with a grammar, and the version of its facts; one with several grammars is told once.
pub fn versions() -> Vec<(&'static str, u32)> {
    let mut versions: Vec<(&'static str, u32)> =
        LANGUAGES.iter().map(|language| (language.name, language.facts_version)).collect();
    versions.sort_unstable();
    versions.dedup_by_key(|(name, _)| *name);
    versions
}

/// Loads every grammar and parses a line with it. A language with several grammars fails when one of them does.
pub fn check_grammars() -> Vec<(&'static str, Result<(), String>)> {
    let mut checked: Vec<(&'static str, Result<(), String>)> = Vec::new();
    for language in LANGUAGES {
        let result = parse::check(language);
        match checked.iter_mut().find(|(name, _)| *name == language.name) {
            Some((_, so_far)) => *so_far = std::mem::replace(so_far, Ok(())).and(result),
            None => checked.push((language.name, result)),
        }
    }
    checked
}

fn grammar_facts(language: &'static Language, path: &str, text: &str, go_on: &dyn Fn() -> bool) -> FileFacts {
    let embedded = match language.walk {
        Walk::Embedded { code, .. } => Some(code(text)).filter(|code| code.len() == text.len()),
        _ => None,
    };
    let code = embedded.as_deref().unwrap_or(text);
    match parse::with_flat_tree(language, code, go_on, |tree| draft_facts(language, path, (text, code), tree)) {
        Ok(facts) => facts,
        Err(exceeded) => {
            let kind = match exceeded {
                Exceeded::Steps => ProblemKind::TimeLimit,
                Exceeded::Memory => ProblemKind::MemoryLimit,
            };
            plain_facts(text, vec![Problem { kind, line: 1, count: 1 }])
        }
    }
}

fn draft_facts(language: &Language, path: &str, (text, code): (&str, &str), tree: &Tree) -> FileFacts {
    let lines = LineStarts::new(text);
    let mut draft = Draft::new(path, text, &lines);
    match language.walk {
        Walk::Own(walk) => walk(tree, &mut draft),
        Walk::Embedded { walk, words, .. } => {
            walk(tree, &mut draft);
            draft.mention(words(text, code));
        }
        Walk::Table(recipe) => recipe::walk(recipe, tree, &mut draft),
    }
    let mut facts = draft.finish(tree, &language.grammar);
    facts.chunks = chunk::of_code(text, &lines, &facts.symbols);
    facts
}

fn plain_facts(text: &str, problems: Vec<Problem>) -> FileFacts {
    let lines = LineStarts::new(text);
    FileFacts { lines: lines.count(), chunks: chunk::of_text(text, &lines), problems, ..FileFacts::default() }
}

/// The facts of a text without a grammar, with its landmarks where its format has a reader.
fn text_facts(language: &str, path: &str, text: &str) -> FileFacts {
    let lines = LineStarts::new(text);
    let mut facts = FileFacts { lines: lines.count(), ..FileFacts::default() };
    if let Some(reader) = landmarks::reader(language) {
        landmarks::add(reader, path, text, &lines, &mut facts);
    }
    facts.chunks = chunk::of_code(text, &lines, &facts.symbols);
    facts
}

fn too_long() -> FileFacts {
    let problems = vec![Problem { kind: ProblemKind::TooMany, line: 1, count: 1 }];
    FileFacts { problems, ..FileFacts::default() }
}

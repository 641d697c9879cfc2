//! Extracts facts from source files, and resolves the names in them.
//!
//! [`extract`] turns a path and bytes into facts. It is pure and total: any path and any bytes give an [`Extracted`].
//! Broken code gives fewer facts and a problem as data. The same input gives the same facts on every machine.
//! Extraction does not read the disk, does not use git, and looks at no other file. It never panics, never recurses on
//! the depth of the input, and has bounded cost: a parse has a budget of parser steps and of bytes that its lexer reads
//! again, not of time. [`extract_while`] returns `None` on cancellation; nothing is stored then.
//!
//! # From file to facts
//!
//! 1. `detect` finds the language by file name, extension or shebang line.
//! 2. `parse` runs tree-sitter, with a parser per thread and language. A language may rewrite the text before, without
//!    moving a byte; `preprocessor` does so for C, C++ and C#.
//! 3. `tree` copies the syntax tree once into a flat array in source order, with kinds and fields as small numbers.
//! 4. The language's walk makes one pass over that array and reports to a `draft`. A cursor walk over all nodes costs a
//!    fraction of the parse; tree-sitter queries with many patterns cost as much as the parse.
//! 5. `draft` completes the facts: `unreferenced` adds a reference for every name that the walk did not report,
//!    `identity` adds ordinals and content hashes, and `chunk` splits the text outside symbols into chunks for search.
//!
//! # Languages
//!
//! A language is a folder with a [`Language`] value and one line in [`LANGUAGES`]. There is no `match` over languages
//! anywhere. New languages are tables (`spec`; `src/java/` is the example): rows map node kinds to actions, a scope
//! policy (`rules::ScopePolicy`) sets the lookup order of names, and hooks handle the exceptions. One walk, one
//! lowering and one resolver serve all tables. CONTRIBUTING.md lists the steps for a new one. A node acts when the walk
//! advances to it. Values act again when the walk leaves them, because by then a closure inside has recorded its result
//! in its own scope.
//!
//! Go, Python, ECMAScript and Rust are older and have a custom walk and resolver. Several values may share one folder,
//! one per grammar (`src/ecmascript/`). For custom walks:
//!
//! - `kinds.rs` lists the node kinds and fields that the walk uses (`codes!`). Leaves of other kinds, mostly
//!   punctuation, are not copied. Children get their field only below the kinds in `Grammar::fielded`, because a field
//!   lookup in tree-sitter costs more than a visit of the node. A test fails for a name that the grammar does not have.
//! - `walk.rs` is a loop over node indices and never recurses, so nesting cannot exhaust the stack. A node that
//!   determines the role of a descendant marks it (`Roles::mark`), and the leaf acts on its role when the loop reaches
//!   it. This keeps references in source order and every decision beside the syntax that causes it.
//! - Symbols are added in source order. A symbol stays the enclosing one up to the end of its node. Its qualified name
//!   consists of its parent's, the language's separator and its own segment; the file's part depends on the path alone.
//!
//! Raise `facts_version` with every change of the extracted facts. Stored versions with an old number count as not
//! stored; until the next sync has extracted them again, answers are partial and say so (`ViewInfo::facts_key` differs
//! from `extraction_key()`).
//!
//! # Conventions and detection
//!
//! `Conventions` hold the names with a special role: tests, constructors, manifests, files named for their folder,
//! files that only re-export. Queries reach them through `codecompass_model::Languages` ([`REGISTRY`]), so that no
//! other crate names a language.
//!
//! `detect` finds the language unless the configuration overrides it (`index/src/source/language_overrides.rs`).
//! Overridden files have their own facts version ([`explicit_version`]), and the overrides are part of
//! `extraction_key`. When they change, views become outdated, and a stored version is valid only if it was extracted in
//! the language that its path has now.
//!
//! Vue and Svelte components are code embedded in another text (`Walk::Embedded`). Everything except the scripts is
//! blanked before the parse, so that no byte moves. Words of the markup that name a declaration of the scripts become
//! mentions.
//!
//! # Resolvers, worlds and stubs
//!
//! [`resolver`] creates a `Resolver` (the trait is in `model`) for one `World`. A world offers the few lookups in a
//! view that resolvers may use: `SnapshotWorld` (in `query`) reads a snapshot, `testkit::MemoryWorld` is for tests and
//! `examples/edges.rs`.
//!
//! Resolvers are demand-driven. All use the per-file index of `rules/index.rs` (sorted indices into the facts, no
//! copied text) and the cache of `rules/memo.rs`, which drops cyclic and truncated results after the top-level query.
//! The resolver of the tables (`rules/engine.rs`) resolves bare names (`names`), types expressions (`values`), collects
//! the members of a type (`members`, one member set per base type) and selects overloads (`overloads`). A value depends
//! on its file and on the enclosing type, whose members can be bare names, so it is computed once per pair.
//!
//! Stubs (`library.stubs`) are the part of a standard library that types flow through, in the language itself. They are
//! extracted like any file; their file ids occur in no view, and symbols found in them are external. A `Resolution` of
//! `External` or `Local` needs evidence; without it the result is `Unknown`. An unknown name never resolves to a symbol
//! merely because it has the same name.
//!
//! # Test blocks
//!
//! A test block (`describe`, `it`, `test` and their variants, `t.Run`) is a symbol of kind `test`. Its name is its
//! title, or `test` if the title is not a literal. Blocks are parents in outlines, but they are not part of the
//! qualified names of other symbols (`Symbol::naming_ancestor`), so ids do not depend on the tests around a function.
//! Code cannot name them (`SymbolKind::can_be_named`): resolvers never see them as candidates, and the text index has
//! no record of them besides the chunks that contain their titles. They can be callers, as functions are.
//!
//! # Landmarks
//!
//! A file without a grammar may have landmarks (`landmarks`): headings, keys, tables, targets. They are symbols of
//! kinds that code cannot name (`SymbolKind::is_landmark`), found by one small reader per format, a loop over lines or
//! bytes. They appear in outlines and in the index by name, where they rank after code, and nowhere else. They own no
//! line and have no document, so the text around them is split into chunks as if they did not exist
//! (`model::has_landmarks`). Resolvers never see them. Each reader has its own version, so an improved reader causes
//! only its own files to be extracted again.
//!
//! # Highlighting
//!
//! [`highlight()`] finds comments, string literals, keywords, types and function names for display. One walk serves all
//! grammars, because they use similar names for their kinds. Exceptions of a language are rows of
//! `highlight/overrides.rs`; formats without a grammar are rows of `highlight/formats.rs`. Highlighting is not stored
//! and has no version.
//!
//! # Tests
//!
//! Expectations in comments under `fixtures/<language>/` state the extracted facts; the test over all fixtures finds
//! the folder by the language's name and also mutilates every file in it. Worlds (`worlds/`) have marks under the code
//! that state what names resolve to. Findings of the fuzz target are replayed from `fixtures/fuzz/`.

mod c;
mod chunk;
mod comments;
mod conventions;
mod cpp;
mod cpp_header;
mod csharp;
mod definitions;
mod detect;
mod draft;
mod ecmascript;
mod elixir;
mod exprs;
mod extraction;
mod go;
mod haskell;
mod header;
mod highlight;
mod identity;
mod interner;
mod java;
mod kotlin;
mod landmarks;
mod language;
mod languages;
mod lines;
mod locals;
mod lua;
mod parse;
mod parser_memory;
mod php;
mod preprocessor;
mod python;
mod registry;
mod resolve;
mod roles;
mod ruby;
mod rules;
mod rust;
mod scala;
mod shell;
mod spec;
mod swift;
mod text;
mod tree;
mod unreferenced;
mod zig;

use std::cell::Cell;

use codecompass_model::{FileFacts, Problem, ProblemKind};

pub use detect::is_code_extension;
pub use highlight::{HighlightKind, HighlightSpan, highlight, highlight_while};
pub use language::{Depth, Language, LanguageSupport};
pub use languages::LANGUAGES;
pub use registry::{REGISTRY, has_rules, is_test_path, resolver};

use extraction::{MAX_BYTES, grammar_facts};
pub(crate) use language::{Rules, Walk};
use lines::LineStarts;

/// Returns every language that [`extract`] can return: those with a grammar first, then the others, each sorted.
pub fn supported_languages() -> Vec<LanguageSupport> {
    let mut all: Vec<LanguageSupport> = Vec::new();
    for language in LANGUAGES {
        match all.iter_mut().find(|known| known.name == language.name) {
            Some(known) => {
                known.extensions.extend(language.extensions);
                known.file_names.extend(language.file_names);
            }
            None => all.push(LanguageSupport {
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

/// The facts version of every text without a grammar and without a landmark reader.
const PLAIN_VERSION: u32 = 1;

/// The bit of a facts version that marks an explicitly selected language.
const EXPLICIT_LANGUAGE_BIT: u32 = 1 << 30;

/// The result of extracting one file.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The language's name; `text` if the language is unknown.
    pub language: &'static str,
    /// The facts version of the language.
    pub facts_version: u32,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The facts.
    pub facts: FileFacts,
}

/// Returns whether a language defines visibility, so that answers show it.
pub fn has_visibility(language: &str) -> bool {
    LANGUAGES.iter().any(|known| known.name == language && known.has_visibility)
}

/// Extracts the facts of a file from its path and bytes. Never fails.
pub fn extract(path: &str, bytes: Vec<u8>) -> Extracted {
    extract_while(path, bytes, &|| true).expect("because nothing cancels it")
}

/// Extracts a file like [`extract`], with cancellation: `go_on` is polled while the file is parsed, and once it returns
/// false the result is `None`. The extracted facts do not depend on it.
pub fn extract_while(path: &str, bytes: Vec<u8>, go_on: &dyn Fn() -> bool) -> Option<Extracted> {
    extract_as(path, bytes, None, go_on)
}

/// Extracts a file in an explicitly selected language. Its facts version differs ([`explicit_version`]), so that facts
/// extracted with and without the selection are never mistaken for each other. An unknown language name selects
/// nothing.
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
    let chosen = chosen.and_then(|name| detect::by_name(name, path));
    let is_chosen = chosen.is_some();
    let found = chosen.unwrap_or_else(|| detect::detect(path, &text));
    let mut facts = match found.language {
        _ if text.len() > MAX_BYTES => oversized_facts(),
        Some(language) => grammar_facts(language, (path, is_test_path(path)), &text, &go_on),
        None => text_facts(found.name, path, &text),
    };
    if let Some(line) = damaged {
        facts.problems.push(Problem { kind: ProblemKind::NotUtf8, line, count: 1 });
    }
    let facts_version = found.language.map_or_else(|| plain_version(found.name), |language| language.facts_version);
    let facts_version = if is_chosen { facts_version | EXPLICIT_LANGUAGE_BIT } else { facts_version };
    (!stopped.get()).then_some(Extracted { language: found.name, facts_version, text, facts })
}

/// Returns the facts version of a language by name; `None` if [`extract`] never returns that name.
pub fn facts_version(language: &str) -> Option<u32> {
    match LANGUAGES.iter().find(|known| known.name == language) {
        Some(known) => Some(known.facts_version),
        None => detect::is_plain(language).then(|| plain_version(language)),
    }
}

/// Returns the facts version of files with an explicitly selected language.
pub fn explicit_version(language: &str) -> Option<u32> {
    facts_version(language).map(|version| version | EXPLICIT_LANGUAGE_BIT)
}

/// Returns the facts version of a text without a grammar.
fn plain_version(language: &str) -> u32 {
    landmarks::reader(language).map_or(PLAIN_VERSION, |reader| reader.version)
}

/// Returns a hash of the names and versions of all languages, which changes when any of them does.
pub fn facts_key() -> u64 {
    let mut key = interner::hash(format!("text {PLAIN_VERSION}").as_bytes());
    let versions = LANGUAGES.iter().map(|language| (language.name, language.facts_version));
    for (name, version) in versions.chain(landmarks::versions()) {
        key = interner::hash(format!("{key:x} {name} {version}").as_bytes());
    }
    key
}

/// Returns whether [`extract`] can return this language.
pub fn is_language(name: &str) -> bool {
    facts_version(name).is_some()
}

/// Returns every language that [`extract`] can return, sorted.
pub fn language_names() -> Vec<&'static str> {
    let mut all: Vec<_> = LANGUAGES.iter().map(|language| language.name).chain(detect::plain_names()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Measures the lower bound of indexing cost: parses and drops the tree, or counts the words of a text without a
/// grammar. Returns the number of nodes or words.
pub fn parse_only(path: &str, bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    match detect::detect(path, &text).language {
        Some(language) => parse::with_tree(language, &text, |tree| tree.root_node().descendant_count()).unwrap_or(0),
        None => text::count_words(&text),
    }
}

/// Returns every language with a grammar once, with its facts version.
pub fn versions() -> Vec<(&'static str, u32)> {
    let mut versions: Vec<(&'static str, u32)> =
        LANGUAGES.iter().map(|language| (language.name, language.facts_version)).collect();
    versions.sort_unstable();
    versions.dedup_by_key(|(name, _)| *name);
    versions
}

/// Loads every grammar and parses a line with it. A language with several grammars fails if one of them does.
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

/// Returns the facts of a text without a grammar, with its landmarks if its format has a reader.
fn text_facts(language: &str, path: &str, text: &str) -> FileFacts {
    let lines = LineStarts::new(text);
    let mut facts = FileFacts { lines: lines.count(), ..FileFacts::default() };
    if let Some(reader) = landmarks::reader(language) {
        landmarks::add(reader, path, text, &lines, &mut facts);
    }
    facts.chunks = chunk::chunk_code(text, &lines, &facts.symbols);
    facts
}

fn oversized_facts() -> FileFacts {
    let problems = vec![Problem { kind: ProblemKind::TooMany, line: 1, count: 1 }];
    FileFacts { problems, ..FileFacts::default() }
}

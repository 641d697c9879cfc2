//! File versions: what is known of one, and a new one on its way into the store.

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{BlobId, Chunk, FileFacts, SkipReason, Symbol, SymbolKind, VersionId, Visibility};

use crate::text::{Mark, is_huge};
use crate::tokens::{long_words, lower, tokens};
use crate::{codec, lists};

/// A version that is stored already.
#[derive(Clone, Debug)]
pub struct KnownVersion {
    /// Its id.
    pub id: VersionId,
    /// The name of its bytes.
    pub blob: BlobId,
    /// How many bytes.
    pub size: u64,
    /// The language it was read as.
    pub language: String,
    /// The facts version it was read with.
    pub facts_version: u32,
    /// Why it is in no view, if it is in none.
    pub skip: Option<SkipReason>,
}

/// What an answer says about a file version.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// Its id.
    pub id: VersionId,
    /// Its path from the root.
    pub path: String,
    /// The name of its bytes.
    pub blob: BlobId,
    /// The language it was read as.
    pub language: String,
    /// The facts version it was read with.
    pub facts_version: u32,
    /// How many lines it has.
    pub lines: u32,
    /// How many symbols it defines.
    pub symbols: u32,
}

/// A version ready to be written: everything that costs time is done in the worker that makes it.
#[derive(Debug)]
pub struct NewVersion {
    pub(crate) id: VersionId,
    pub(crate) path: String,
    pub(crate) blob: BlobId,
    pub(crate) size: u64,
    pub(crate) language: &'static str,
    pub(crate) facts_version: u32,
    pub(crate) skip: Option<SkipReason>,
    pub(crate) lines: u32,
    pub(crate) problems: u32,
    /// The outline, and the rest.
    pub(crate) facts: (Vec<u8>, Vec<u8>),
    pub(crate) text: Vec<u8>,
    pub(crate) symbols: Vec<SymbolEntry>,
    pub(crate) references: Vec<(String, Vec<u8>)>,
    pub(crate) documents: Documents,
    /// Chunk and symbol documents, once `documents` was handed to the text index.
    pub(crate) counts: (i64, i64),
}

/// One row of `symbol_relations`.
#[derive(Debug)]
pub(crate) struct SymbolEntry {
    pub(crate) name: String,
    pub(crate) kind: SymbolKind,
    pub(crate) is_public: bool,
    pub(crate) in_test: bool,
    pub(crate) line: u32,
    pub(crate) symbol_key: i64,
    pub(crate) stable_key: i64,
}

/// What the text index gets for a version, and how many tokens that is.
#[derive(Debug, Default, Clone)]
pub(crate) struct Documents {
    pub(crate) chunks: Vec<String>,
    /// The symbol's place in the file, and its name and qualified name.
    pub(crate) symbols: Vec<(u32, String)>,
    pub(crate) file: String,
    pub(crate) chunk_tokens: u64,
    pub(crate) symbol_tokens: u64,
    pub(crate) file_tokens: u64,
    pub(crate) marks: Vec<Mark>,
    /// The words of a chunk that are too long to be tokens, by its place.
    pub(crate) long: Vec<(usize, Vec<String>)>,
}

impl NewVersion {
    /// A version with its facts and text.
    pub fn new(
        id: VersionId,
        path: String,
        blob: BlobId,
        size: u64,
        (language, facts_version): (&'static str, u32),
        facts: &FileFacts,
        text: &str,
    ) -> Self {
        Self {
            id,
            blob,
            size,
            language,
            facts_version,
            skip: None,
            lines: facts.lines,
            problems: facts.problems.len() as u32,
            facts: codec::encode_facts(facts),
            text: codec::pack(text.as_bytes()),
            symbols: symbol_entries(&path, language, facts),
            references: lists::file_parts(facts),
            documents: Documents::of(&path, &facts.symbols, &facts.chunks, text),
            counts: (0, 0),
            path,
        }
    }

    /// A version whose content keeps it out of all views; remembered so that it is not read again.
    pub fn skipped(
        id: VersionId,
        path: String,
        blob: BlobId,
        size: u64,
        rules_version: u32,
        reason: SkipReason,
    ) -> Self {
        Self {
            id,
            path,
            blob,
            size,
            language: "",
            facts_version: rules_version,
            skip: Some(reason),
            lines: 0,
            problems: 0,
            facts: Default::default(),
            text: Vec::new(),
            symbols: Vec::new(),
            references: Vec::new(),
            documents: Documents::default(),
            counts: (0, 0),
        }
    }

    /// Its id.
    pub fn id(&self) -> VersionId {
        self.id
    }

    /// How many symbols it defines.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// Roughly the memory it holds until it is written.
    pub(crate) fn weight(&self) -> usize {
        let names: usize = self.references.iter().map(|(name, part)| name.len() + part.len() + 64).sum();
        self.facts.0.len() + self.facts.1.len() + self.text.len() + self.symbols.len() * 96 + names + 256
    }
}

/// The part of a path that says what a file is about: its name and the two folders around it.
fn place_words(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(2).map_or(0, |(at, _)| at + 1);
    &path[start..]
}

fn symbol_entries(path: &str, language: &str, facts: &FileFacts) -> Vec<SymbolEntry> {
    let entry = |symbol: &Symbol| SymbolEntry {
        name: symbol.name.clone(),
        kind: symbol.kind,
        is_public: symbol.visibility == Some(Visibility::Public),
        in_test: symbol.in_test,
        line: symbol.lines.start,
        symbol_key: SymbolId::of(path, symbol).key(),
        stable_key: StableId::of(language, symbol).key(),
    };
    facts.symbols.iter().map(entry).collect()
}

/// The long words of a chunk in lower case, with its place, if it has any.
fn long_words_of((place, chunk): (usize, &String)) -> Option<(usize, Vec<String>)> {
    let words: Vec<String> = long_words(chunk).filter(|word| !is_huge(word)).map(lower).collect();
    (!words.is_empty()).then_some((place, words))
}

impl Documents {
    /// The documents of a version: a pure function of path, facts and text, so they can be made again from the store.
    pub(crate) fn of(path: &str, symbols: &[Symbol], chunks: &[Chunk], text: &str) -> Self {
        let place = place_words(path);
        let chunk = |chunk: &Chunk| {
            // A test's title stands in the piece itself, and would count twice.
            let symbol = Symbol::naming(symbols, chunk.symbol);
            [chunk.span.text(text), "\n", symbol.map_or("", |symbol| &symbol.qualified_name), "\n", place].concat()
        };
        let chunks: Vec<String> = chunks.iter().map(chunk).collect();
        let named = symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.can_be_named());
        let symbols: Vec<(u32, String)> =
            named.map(|(place, symbol)| (place as u32, format!("{} {}", symbol.name, symbol.qualified_name))).collect();
        Self {
            chunk_tokens: chunks.iter().map(|chunk| tokens(chunk).count() as u64).sum(),
            symbol_tokens: symbols.iter().map(|(_, text)| tokens(text).count() as u64).sum(),
            file_tokens: tokens(path).count() as u64,
            file: path.to_owned(),
            marks: Mark::of(text),
            long: chunks.iter().enumerate().filter_map(long_words_of).collect(),
            chunks,
            symbols,
        }
    }
}

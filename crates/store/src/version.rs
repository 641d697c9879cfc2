//! File versions: the metadata of a stored one, and a new one before it is stored.

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{
    BlobId, Chunk, FileFacts, LineOwners, SkipReason, Symbol, SymbolKind, VersionId, Visibility, has_landmarks,
};

use crate::text_fields::{TextFlag, is_huge};
use crate::tokens::{long_words, lower, tokens};
use crate::{SymbolPayload, codec, postings};

/// A stored version.
#[derive(Clone, Debug)]
pub struct StoredVersion {
    /// Its id.
    pub id: VersionId,
    /// The id of its bytes.
    pub blob: BlobId,
    /// Its size in bytes.
    pub size: u64,
    /// The language it was parsed as.
    pub language: String,
    /// The facts version it was extracted with.
    pub facts_version: u32,
    /// Why it is in no view, if it is in none.
    pub skip: Option<SkipReason>,
}

/// The metadata of a file version in an answer.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// Its id.
    pub id: VersionId,
    /// Its path from the root.
    pub path: String,
    /// The id of its bytes.
    pub blob: BlobId,
    /// The language it was parsed as.
    pub language: String,
    /// The facts version it was extracted with.
    pub facts_version: u32,
    /// The number of lines.
    pub lines: u32,
    /// The number of symbols.
    pub symbols: u32,
    /// The size in bytes.
    pub bytes: u64,
}

/// A version ready to be written. The worker thread that creates it does all expensive work.
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
    /// The outline and the other facts.
    pub(crate) facts: (Vec<u8>, Vec<u8>),
    pub(crate) text: Vec<u8>,
    pub(crate) symbols: Vec<SymbolEntry>,
    pub(crate) references: Vec<(String, Vec<u8>)>,
    pub(crate) documents: Documents,
    /// The numbers of chunks and symbols, set when `documents` is passed to the text index.
    pub(crate) counts: (i64, i64),
}

/// One row of `symbol_relations`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SymbolEntry {
    pub(crate) name: String,
    pub(crate) kind: SymbolKind,
    pub(crate) is_public: bool,
    pub(crate) in_test: bool,
    pub(crate) line: u32,
    pub(crate) symbol_key: i64,
    pub(crate) stable_key: i64,
}

/// The documents of a version in the text index, and their token counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Documents {
    /// The text outside symbols, by ordinal.
    pub(crate) pieces: Vec<Passage>,
    pub(crate) symbols: Vec<SymbolDocument>,
    pub(crate) file: String,
    pub(crate) piece_tokens: u64,
    pub(crate) name_tokens: u64,
    pub(crate) doc_tokens: u64,
    pub(crate) own_tokens: u64,
    pub(crate) file_tokens: u64,
    pub(crate) marks: Vec<TextFlag>,
}

/// The text fields of a symbol.
#[derive(Debug, Default, Clone)]
pub(crate) struct SymbolDocument {
    /// Its index in the file.
    pub(crate) ordinal: u32,
    pub(crate) payload: SymbolPayload,
    pub(crate) name: String,
    pub(crate) doc: String,
    /// The lines that belong to it and to no nested symbol.
    pub(crate) own: Passage,
}

/// Lines of a file, with further terms that find them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Passage {
    pub(crate) text: String,
    /// The words that are too long to be tokens.
    pub(crate) long: Vec<String>,
}

impl Passage {
    fn new(text: String) -> Self {
        let long = long_words(&text).filter(|word| !is_huge(word)).map(lower).collect();
        Self { text, long }
    }
}

impl NewVersion {
    /// Creates a version with its facts and text.
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
            symbols: symbol_entries(&path, language, &facts.symbols),
            references: postings::file_postings(facts),
            documents: Documents::build(&path, &facts.symbols, &facts.chunks, text),
            counts: (0, 0),
            path,
        }
    }

    /// Creates a version that its content excludes from all views; recorded so that it is not read again.
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

    /// Returns the number of symbols it defines.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// Estimates its memory in bytes until it is written.
    pub(crate) fn weight(&self) -> usize {
        let names: usize = self.references.iter().map(|(name, part)| name.len() + part.len() + 64).sum();
        self.facts.0.len() + self.facts.1.len() + self.text.len() + self.symbols.len() * 96 + names + 256
    }
}

/// Returns the part of a path that says what a file is about: its name and the two folders around it.
fn path_words(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(2).map_or(0, |(at, _)| at + 1);
    &path[start..]
}

/// Returns the rows of a file's symbols.
pub(crate) fn symbol_entries(path: &str, language: &str, symbols: &[Symbol]) -> Vec<SymbolEntry> {
    let entry = |symbol: &Symbol| SymbolEntry {
        name: symbol.name.clone(),
        kind: symbol.kind,
        is_public: symbol.visibility == Some(Visibility::Public),
        in_test: symbol.in_test,
        line: symbol.lines.start,
        symbol_key: SymbolId::new(path, symbol).key(),
        stable_key: StableId::new(language, symbol).key(),
    };
    symbols.iter().map(entry).collect()
}

impl Documents {
    /// Builds the documents of a version: a pure function of path, facts and text, so they can be rebuilt from the
    /// store. Every line with text is in one of them, so that a search for text on one line needs only one document.
    pub(crate) fn build(path: &str, symbols: &[Symbol], chunks: &[Chunk], text: &str) -> Self {
        let around = path_words(path);
        // There is little text between symbols, and the path would dominate it. In a text with landmarks everything is
        // text.
        let of_pieces = if symbols.is_empty() || has_landmarks(symbols) { around } else { "" };
        let piece = |chunk: &Chunk| Passage::new([chunk.span.text(text), "\n", of_pieces].concat());
        let pieces: Vec<Passage> = chunks.iter().map(piece).collect();
        let symbols = symbol_documents(symbols, text, around);
        let count = |text: &str| tokens(text).count() as u64;
        Self {
            piece_tokens: pieces.iter().map(|piece| count(&piece.text)).sum(),
            name_tokens: symbols.iter().map(|symbol| count(&symbol.name)).sum(),
            doc_tokens: symbols.iter().map(|symbol| count(&symbol.doc)).sum(),
            own_tokens: symbols.iter().map(|symbol| count(&symbol.own.text)).sum(),
            file_tokens: count(path),
            file: path.to_owned(),
            marks: TextFlag::from_text(text),
            pieces,
            symbols,
        }
    }
}

/// Returns the symbols without imports, each with its own lines, its qualified name and the words around its file. A
/// symbol that does not own the line of its name also gets its signature and docs. Landmarks have no documents: their
/// chunks do.
fn symbol_documents(symbols: &[Symbol], text: &str, around: &str) -> Vec<SymbolDocument> {
    if symbols.is_empty() || has_landmarks(symbols) {
        return Vec::new();
    }
    let owners = LineOwners::new(text, symbols);
    let mut own: Vec<String> = vec![String::new(); symbols.len()];
    for (owner, line) in owners.iter().zip(text.split_inclusive('\n')) {
        if let Some(owner) = owner {
            own[owner as usize].push_str(line);
        }
    }
    let named = symbols.iter().zip(own).enumerate().filter(|(_, (symbol, _))| symbol.kind != SymbolKind::Use);
    let document = |(place, (symbol, mut own)): (usize, (&Symbol, String))| {
        let place = place as u32;
        if owners.owner_at(symbol.name_line) != Some(place) {
            let doc = symbol.doc.map_or("", |doc| doc.text(text));
            own = [&own, "\n", &symbol.signature, "\n", doc].concat();
        }
        let own = Passage::new([&own, "\n", &symbol.qualified_name, "\n", around].concat());
        // The title of a test describes it as docs do, and no code uses it as a name.
        let (name, doc) = match symbol.kind.can_be_named() {
            true => (symbol.name.as_str(), symbol.doc.map_or("", |doc| doc.text(text))),
            false => ("", symbol.name.as_str()),
        };
        SymbolDocument {
            ordinal: place,
            payload: SymbolPayload::from_symbol(symbol),
            name: name.to_owned(),
            doc: doc.to_owned(),
            own,
        }
    };
    named.map(document).collect()
}

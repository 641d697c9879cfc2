//! What may be a place of the answer, and what words tell of it before anything is read. Plain values, that gathering fills
//! and features weigh.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use codecompass_model::{Chunk, Owners, VersionId};
use codecompass_store::{Glance, Outline};

/// Something that may be a place of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Candidate {
    /// A symbol, by its place among the file's symbols.
    Symbol(VersionId, u32),
    /// A piece of a file outside symbols, by its place among the file's pieces.
    Piece(VersionId, u32),
    /// A file as a whole.
    File(VersionId),
}

impl Candidate {
    pub(super) fn version(self) -> VersionId {
        match self {
            Candidate::Symbol(version, _) | Candidate::Piece(version, _) | Candidate::File(version) => version,
        }
    }

    /// What a line of a file belongs to; nothing for a blank line between symbols.
    pub(super) fn at(version: VersionId, outline: &Outline, owners: &Owners, line: u32) -> Option<Self> {
        if let Some(owner) = owners.of(line) {
            return Some(Candidate::Symbol(version, owner));
        }
        let holds = |chunk: &Chunk| (chunk.lines.start..=chunk.lines.end).contains(&line);
        outline.chunks.iter().position(holds).map(|piece| Candidate::Piece(version, piece as u32))
    }
}

/// What is known of a file once all words are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct FileSigns {
    /// Where its symbols stand among those that hold a word.
    pub(super) symbols: Range<usize>,
    /// Where its pieces stand among those that hold one.
    pub(super) pieces: Range<usize>,
    /// Whether the name of one may be exactly what was asked for.
    pub(super) may_be_exact: bool,
    /// Whether a line of it holds the wanted text.
    pub(super) has_text: bool,
    /// Whether it may be code that no grammar has read.
    pub(super) may_be_unread: bool,
    /// The best of them and their sum, by BM25 over the ceiling.
    pub(super) best: f64,
    pub(super) sum: f64,
    /// The most of the question's weight that one of them holds, and that the name of one does.
    pub(super) best_coverage: f64,
    pub(super) best_name: f64,
    /// BM25 of its whole text.
    pub(super) text: f64,
    /// BM25 of its path.
    pub(super) path: f64,
    /// Whether the file's name may bear a word, 0 or 1.
    pub(super) name: f64,
    /// The most that the words in its name can weigh.
    pub(super) name_words: f64,
    /// The share of the words' weight that the file holds somewhere.
    pub(super) coverage: f64,
}

/// What is known of a record before its file is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordSigns {
    /// BM25 over the ceiling.
    pub(super) bm25: f64,
    /// The terms that it holds.
    pub(super) terms: u64,
    /// The share of the question's weight that its name holds.
    pub(super) name_share: f64,
    /// The share of its name's words that were asked for.
    pub(super) precision: f64,
    /// The share of the question's weight that it holds.
    pub(super) coverage: f64,
    /// Whether its name may be exactly what was asked for.
    pub(super) may_be_exact: bool,
    /// Whether one of its lines may hold the wanted text.
    pub(super) may_have_text: bool,
    /// What is told of a symbol, if anything is.
    pub(super) glance: Option<Glance>,
}

/// By what they belong to, the lines that hold something.
pub(super) type LinesOfCandidates = BTreeMap<Candidate, Vec<u32>>;

/// Per file, the lines that hold something.
pub(super) type LinesOfFiles = HashMap<VersionId, Vec<u32>>;

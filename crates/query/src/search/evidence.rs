//! Candidates and the evidence for them before anything is read: plain values that the lookup fills and the features
//! score.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use codecompass_model::{Chunk, LineOwners, VersionId};
use codecompass_store::{Outline, SymbolPayload};

/// Something that may become a search hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Candidate {
    /// A symbol, by its ordinal in the file.
    Symbol(VersionId, u32),
    /// A chunk of text outside symbols, by its ordinal in the file.
    Chunk(VersionId, u32),
    /// A whole file.
    File(VersionId),
}

impl Candidate {
    pub(super) fn version(self) -> VersionId {
        match self {
            Candidate::Symbol(version, _) | Candidate::Chunk(version, _) | Candidate::File(version) => version,
        }
    }

    /// Returns the candidate to which a line belongs; `None` for a blank line between symbols.
    pub(super) fn at_line(version: VersionId, outline: &Outline, owners: &LineOwners, line: u32) -> Option<Self> {
        if let Some(owner) = owners.owner_at(line) {
            return Some(Candidate::Symbol(version, owner));
        }
        let holds = |chunk: &Chunk| (chunk.lines.start..=chunk.lines.end).contains(&line);
        outline.chunks.iter().position(holds).map(|piece| Candidate::Chunk(version, piece as u32))
    }
}

/// The evidence for a file after all words were looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct FileEvidence {
    /// The range of its symbols among the matching symbols.
    pub(super) symbols: Range<usize>,
    /// The range of its chunks among the matching chunks.
    pub(super) chunks: Range<usize>,
    /// Whether a symbol name may match the query exactly.
    pub(super) may_be_exact: bool,
    /// Whether a line matches literally.
    pub(super) has_text: bool,
    /// Whether it may be code that no grammar has parsed.
    pub(super) may_be_unparsed: bool,
    /// The score of its first frame in a stack trace.
    pub(super) frame: f64,
    /// The maximum and the sum of the records' BM25 scores relative to the ceiling.
    pub(super) best: f64,
    pub(super) sum: f64,
    /// The largest share of the query's weight in one record, and in the name of one.
    pub(super) best_coverage: f64,
    pub(super) best_name: f64,
    /// BM25 of the whole text.
    pub(super) text: f64,
    /// BM25 of the path.
    pub(super) path: f64,
    /// Whether the file's name may contain a query word, 0 or 1.
    pub(super) name: f64,
    /// An upper bound for the weight of the query words in its name.
    pub(super) name_words: f64,
    /// The share of the query's weight that the file contains anywhere.
    pub(super) coverage: f64,
}

/// The evidence for a record before its file is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordEvidence {
    /// BM25 relative to the ceiling.
    pub(super) bm25: f64,
    /// The terms that it contains.
    pub(super) terms: u64,
    /// The share of the query's weight in its name.
    pub(super) name_share: f64,
    /// The share of its name's words that are in the query.
    pub(super) precision: f64,
    /// The share of the query's weight that it contains.
    pub(super) coverage: f64,
    /// Whether its name may match the query exactly.
    pub(super) may_be_exact: bool,
    /// Whether one of its lines may match literally.
    pub(super) may_have_text: bool,
    /// The score of its frame in a stack trace, 0 if it has none.
    pub(super) frame: f64,
    /// The payload of a symbol, if there is one.
    pub(super) payload: Option<SymbolPayload>,
}

/// Matching lines by candidate.
pub(super) type CandidateLines = BTreeMap<Candidate, Vec<u32>>;

/// Matching lines by file.
pub(super) type FileLines = HashMap<VersionId, Vec<u32>>;

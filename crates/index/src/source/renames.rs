//! Detects which deleted and added files are renames, as `git diff -M` does, with a threshold of half of the text.
//!
//! First it pairs files with the same bytes; then files whose names are unique, if three quarters of the text are
//! equal; then the best pairs of all remaining files, unless there are more than git would try. The similarity of two
//! texts is estimated by their spans: a span ends with its line or after 64 bytes and is identified by a hash. The
//! score is the number of bytes in common spans, relative to the longer text.
//!
//! The hash and every order below are git's, so that the pairs are the same. One thing differs: whether a text is
//! binary depends only on its bytes, never on an attribute.

use std::collections::HashMap;

use codecompass_model::BlobId;

use super::changes::TreeEntry;
use super::objects::BlobReader;

/// Provides the bytes of blobs.
pub trait BlobSource {
    /// Returns the size of a blob in bytes; `None` if it cannot be read.
    fn size(&mut self, blob: &BlobId) -> Option<u64>;
    /// Returns its bytes.
    fn bytes(&mut self, blob: &BlobId) -> Option<Vec<u8>>;
}

impl BlobSource for BlobReader {
    fn size(&mut self, blob: &BlobId) -> Option<u64> {
        BlobReader::size(self, blob).ok()
    }

    fn bytes(&mut self, blob: &BlobId) -> Option<Vec<u8>> {
        self.read(blob).ok()
    }
}

/// The similarity score of equal texts.
const MAX_SCORE: u64 = 60_000;
const MIN_RENAME_SCORE: u64 = MAX_SCORE / 2;
/// The minimum score of a pair with a unique name.
const MIN_BASENAME_SCORE: u64 = MAX_SCORE * 3 / 4;
/// No more pairs than the square of this are compared.
const RENAME_LIMIT: usize = 1000;
/// The maximum number of candidate sources per target.
const CANDIDATES_PER_TARGET: usize = 4;
/// The maximum number of sources with the same bytes that are considered for a target.
const MAX_EXACT_CANDIDATES: usize = 100;
/// Larger texts are not compared: reading them costs more than the result is worth.
const MAX_TEXT_BYTES: u64 = 64 << 20;
/// The maximum total size of the texts that are compared for one answer. Blobs that differ in a line take a few bytes
/// each in a pack, so a small repository can have gigabytes of them. Files beyond the limit are not compared, so they
/// count as added and deleted.
const MAX_COMPARED_BYTES: u64 = 128 << 20;
/// The maximum number of spans that are compared for one answer: a few seconds.
const MAX_STEPS: u64 = 1 << 31;

/// Returns pairs of indexes into sources and targets, both sorted by path.
pub(super) fn find_renames(
    sources: &[(&str, TreeEntry)],
    targets: &[(&str, TreeEntry)],
    contents: &mut dyn BlobSource,
) -> Vec<(usize, usize)> {
    let mut search = RenameDetector {
        sources,
        targets,
        source_of: vec![None; targets.len()],
        is_used: vec![false; sources.len()],
        texts: SpanHashCache {
            contents,
            span_hashes: HashMap::new(),
            sizes: HashMap::new(),
            bytes_left: MAX_COMPARED_BYTES,
        },
        steps_left: MAX_STEPS,
    };
    if !sources.is_empty() && !targets.is_empty() {
        search.pair_exact();
        search.pair_by_basename();
        search.pair_by_similarity();
    }
    let found = search.source_of.iter().enumerate();
    found.filter_map(|(target, source)| Some(((*source)?, target))).collect()
}

struct RenameDetector<'s> {
    sources: &'s [(&'s str, TreeEntry)],
    targets: &'s [(&'s str, TreeEntry)],
    /// By target.
    source_of: Vec<Option<usize>>,
    is_used: Vec<bool>,
    texts: SpanHashCache<'s>,
    steps_left: u64,
}

/// A possible source of a target.
#[derive(Clone, Copy)]
struct Candidate {
    source: usize,
    target: usize,
    score: u64,
    same_name: bool,
}

impl Candidate {
    /// Returns the rank; better candidates have a greater one.
    fn rank(&self) -> (u64, bool) {
        (self.score, self.same_name)
    }
}

impl RenameDetector<'_> {
    fn pair(&mut self, source: usize, target: usize) {
        self.source_of[target] = Some(source);
        self.is_used[source] = true;
    }

    fn free_sources(&self) -> Vec<usize> {
        (0..self.sources.len()).filter(|source| !self.is_used[*source]).collect()
    }

    fn free_targets(&self) -> Vec<usize> {
        (0..self.targets.len()).filter(|target| self.source_of[*target].is_none()).collect()
    }

    /// Pairs files with the same bytes; among several, prefers one with the same name.
    fn pair_exact(&mut self) {
        let mut by_blob: HashMap<BlobId, Vec<usize>> = HashMap::new();
        for (at, (_, side)) in self.sources.iter().enumerate() {
            by_blob.entry(side.blob).or_default().push(at);
        }
        for (target, (path, side)) in self.targets.iter().enumerate() {
            let Some(alike) = by_blob.get(&side.blob) else { continue };
            let fits = |source: &&usize| {
                let form = self.sources[**source].1.mode;
                !self.is_used[**source] && (form == side.mode || form.is_file() && side.mode.is_file())
            };
            let fitting: Vec<usize> = alike.iter().filter(fits).take(MAX_EXACT_CANDIDATES).copied().collect();
            let same_name = fitting.iter().find(|source| file_name(self.sources[**source].0) == file_name(path));
            if let Some(source) = same_name.or(fitting.first()) {
                self.pair(*source, target);
            }
        }
    }

    /// Pairs files with a name that is unique on both sides.
    fn pair_by_basename(&mut self) {
        let (sources, targets) = (self.free_sources(), self.free_targets());
        let only = |files: &[(&str, TreeEntry)], free: &[usize]| {
            let mut by_name: HashMap<String, Option<usize>> = HashMap::new();
            for at in free {
                by_name.entry(file_name(files[*at].0).to_owned()).and_modify(|one| *one = None).or_insert(Some(*at));
            }
            by_name
        };
        let (source_names, target_names) = (only(self.sources, &sources), only(self.targets, &targets));
        for source in sources {
            let name = file_name(self.sources[source].0);
            let is_only = source_names.get(name).copied().flatten() == Some(source);
            let Some(target) = target_names.get(name).copied().flatten().filter(|_| is_only) else { continue };
            if self.source_of[target].is_none()
                && self.similarity(source, target, MIN_BASENAME_SCORE) >= MIN_BASENAME_SCORE
            {
                self.pair(source, target);
            }
        }
    }

    /// Pairs the remaining files by the highest similarity.
    fn pair_by_similarity(&mut self) {
        let (sources, targets) = (self.free_sources(), self.free_targets());
        if sources.is_empty() || sources.len().saturating_mul(targets.len()) > RENAME_LIMIT * RENAME_LIMIT {
            return;
        }
        let mut all: Vec<Candidate> = Vec::new();
        for target in targets {
            let mut best: [Option<Candidate>; CANDIDATES_PER_TARGET] = [None; CANDIDATES_PER_TARGET];
            for source in &sources {
                let same_name = file_name(self.sources[*source].0) == file_name(self.targets[target].0);
                let score = self.similarity(*source, target, MIN_RENAME_SCORE);
                keep_better(&mut best, Candidate { source: *source, target, score, same_name });
            }
            self.texts.span_hashes.remove(&self.targets[target].1.blob);
            all.extend(best.into_iter().flatten());
        }
        all.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
        for candidate in all.into_iter().filter(|candidate| candidate.score >= MIN_RENAME_SCORE) {
            if self.source_of[candidate.target].is_none() && !self.is_used[candidate.source] {
                self.pair(candidate.source, candidate.target);
            }
        }
    }

    /// Returns the similarity score of two texts; 0 if it cannot reach the needed score.
    fn similarity(&mut self, source: usize, target: usize, needed: u64) -> u64 {
        let (one, two) = (self.sources[source].1, self.targets[target].1);
        if !one.mode.is_file() || !two.mode.is_file() {
            return 0;
        }
        let (Some(one_size), Some(two_size)) = (self.texts.size(&one.blob), self.texts.size(&two.blob)) else {
            return 0;
        };
        let (longer, shorter) = (one_size.max(two_size), one_size.min(two_size));
        if longer > MAX_TEXT_BYTES || longer * (MAX_SCORE - needed) < (longer - shorter) * MAX_SCORE || two_size == 0 {
            return 0;
        }
        self.texts.read(&one.blob);
        self.texts.read(&two.blob);
        match (self.texts.span_hashes.get(&one.blob), self.texts.span_hashes.get(&two.blob)) {
            (Some(Some(one)), Some(Some(two))) => {
                let Some(left) = self.steps_left.checked_sub((one.len() + two.len()) as u64) else { return 0 };
                self.steps_left = left;
                common_bytes(one, two) * MAX_SCORE / longer
            }
            _ => 0,
        }
    }
}

/// Replaces the worst candidate if the new one is better. Among equally bad ones, replaces the first.
fn keep_better(best: &mut [Option<Candidate>; CANDIDATES_PER_TARGET], new: Candidate) {
    let worth = |candidate: &Option<Candidate>| candidate.as_ref().map(Candidate::rank);
    let mut worst = 0;
    for at in 1..CANDIDATES_PER_TARGET {
        if worth(&best[at]) < worth(&best[worst]) {
            worst = at;
        }
    }
    if worth(&best[worst]) < Some(new.rank()) {
        best[worst] = Some(new);
    }
}

/// A cache of span hashes and sizes of the texts read so far.
struct SpanHashCache<'c> {
    contents: &'c mut dyn BlobSource,
    span_hashes: HashMap<BlobId, Option<SpanHashes>>,
    sizes: HashMap<BlobId, Option<u64>>,
    bytes_left: u64,
}

impl SpanHashCache<'_> {
    fn size(&mut self, blob: &BlobId) -> Option<u64> {
        *self.sizes.entry(*blob).or_insert_with(|| self.contents.size(blob))
    }

    fn read(&mut self, blob: &BlobId) {
        if self.span_hashes.contains_key(blob) {
            return;
        }
        let left = self.size(blob).and_then(|size| self.bytes_left.checked_sub(size));
        let found = left.and_then(|left| {
            self.bytes_left = left;
            self.contents.bytes(blob).map(|bytes| span_hashes(&bytes))
        });
        self.span_hashes.insert(*blob, found);
    }
}

/// The number of bytes of a text's spans per hash, sorted by hash.
type SpanHashes = Vec<(u32, u32)>;

fn span_hashes(bytes: &[u8]) -> SpanHashes {
    const MAX_SPAN_BYTES: u32 = 64;
    let is_text = !bytes.iter().take(8000).any(|byte| *byte == 0);
    let mut found: HashMap<u32, u32> = HashMap::new();
    let (mut low, mut high, mut length) = (0u32, 0u32, 0u32);
    for (at, byte) in bytes.iter().enumerate() {
        // Line-end style does not count.
        if is_text && *byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
            continue;
        }
        let before = low;
        low = ((low << 7) ^ (high >> 25)).wrapping_add(u32::from(*byte));
        high = (high << 7) ^ (before >> 25);
        length += 1;
        if length == MAX_SPAN_BYTES || *byte == b'\n' {
            *found.entry(hash(low, high)).or_default() += length;
            (low, high, length) = (0, 0, 0);
        }
    }
    if length > 0 {
        *found.entry(hash(low, high)).or_default() += length;
    }
    let mut found: SpanHashes = found.into_iter().collect();
    found.sort_unstable();
    found
}

fn hash(low: u32, high: u32) -> u32 {
    const HASH_MODULUS: u32 = 107_927;
    low.wrapping_add(high.wrapping_mul(0x61)) % HASH_MODULUS
}

/// Returns the number of bytes in common spans.
fn common_bytes(one: &SpanHashes, two: &SpanHashes) -> u64 {
    let (mut sum, mut at) = (0, 0);
    for (hash, count) in one {
        while two.get(at).is_some_and(|(other, _)| other < hash) {
            at += 1;
        }
        if let Some((other, theirs)) = two.get(at)
            && other == hash
        {
            sum += u64::from(*count.min(theirs));
        }
    }
    sum
}

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

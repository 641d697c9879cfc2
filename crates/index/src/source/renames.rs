//! Which file that went and which that came are one: as `git diff -M` tells it, at half of the text.
//!
//! Files of the same bytes first; then files whose name no other has, when three quarters of the text are the same;
//! then the best pairs of all that are left, unless those are so many that git would not try. How alike two texts are
//! is estimated by their pieces: a piece ends with its line or after 64 bytes and is told by a hash; the bytes of the
//! pieces that both have count against the longer text.
//!
//! The hash and every order below are git's, because a pair more or less here is another answer there. One thing is
//! not: whether a text is binary is told by its bytes alone, never by an attribute.

use std::collections::HashMap;

use codecompass_model::BlobId;

use super::changes::TreeEntry;
use super::objects::BlobReader;

/// Where the bytes of blobs come from.
pub trait BlobSource {
    /// How many bytes a blob has; `None` when it can not be had.
    fn size(&mut self, blob: &BlobId) -> Option<u64>;
    /// Its bytes.
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

/// Likeness is counted in these parts.
const MAX_SCORE: u64 = 60_000;
const MIN_RENAME_SCORE: u64 = MAX_SCORE / 2;
/// What a unique name has to have.
const MIN_BASENAME_SCORE: u64 = MAX_SCORE * 3 / 4;
/// More pairs than the square of it are not compared.
const RENAME_LIMIT: usize = 1000;
/// So many sources are remembered for a target.
const CANDIDATES_PER_TARGET: usize = 4;
/// So many sources of the same bytes are looked at for a target.
const MAX_EXACT_CANDIDATES: usize = 100;
/// Texts beyond this are not compared: reading them costs more than the answer is worth.
const MAX_TEXT_BYTES: u64 = 64 << 20;
/// The maximum size of all texts that are compared for one answer. Blobs that differ in a line take a few bytes each in a
/// pack, so a small repository can have gigabytes of them. What is beyond the limit is not compared, so it counts as added
/// and deleted.
const MAX_COMPARED_BYTES: u64 = 128 << 20;
/// The maximum number of pieces that are held against each other for one answer: a few seconds.
const MAX_STEPS: u64 = 1 << 31;

/// Pairs of indexes into sources and targets, both of which are sorted by path.
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

/// A source that may be where a target came from.
#[derive(Clone, Copy)]
struct Candidate {
    source: usize,
    target: usize,
    score: u64,
    same_name: bool,
}

impl Candidate {
    /// The better ones are greater.
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

    /// Files of the same bytes; of several, one with the same name.
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

    /// Files whose name is the only one of its kind on both sides.
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

    /// Of all that is left, the pairs that are most alike.
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

    /// How much of the longer text both have; nothing when it can not be as much as is needed.
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

/// Puts a candidate in the place of the worst one, if it is better. Of equally bad ones the first goes.
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

/// What was read, as the pieces that tell how alike two texts are.
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

/// By hash, how many bytes the pieces of a text have; in the order of hashes.
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

/// How many bytes both have.
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

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

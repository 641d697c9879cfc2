//! Search: the right place first.
//!
//! Words are looked up in pieces of text, in symbols and in paths; what they find is joined to one list of **places**
//! (a piece of a file, with the symbol that answers best in it), each place is scored by [`features`], and the list is
//! put in order. A score is a sum of named contributions and nothing else, so its explanation is its computation.

mod features;
mod intent;
mod terms;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{Chunk, FileFacts, Symbol, SymbolKind, VersionId};
use codecompass_store::{Record, Result, Snapshot, StoreError, TextHits, VersionInfo};

pub use features::{Contributions, Reasons};
pub use intent::Intent;

use features::{Asked, FileSigns, PlaceSigns};

/// So many places are looked at closely; what the words alone rank lower has no chance.
const CLOSELY: usize = 400;

/// The question.
#[derive(Clone, Debug)]
pub struct Search<'q> {
    /// What was typed.
    pub query: &'q str,
    /// Only this language.
    pub language: Option<&'q str>,
    /// Only symbols of these kinds; empty for everything.
    pub kinds: &'q [SymbolKind],
    /// At most so many.
    pub limit: usize,
}

/// A place that answers.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub version: VersionInfo,
    /// The piece of it.
    pub chunk: Chunk,
    /// What each feature adds; their sum decides.
    pub contributions: Contributions,
    /// The features themselves.
    pub reasons: Reasons,
    facts: Rc<FileFacts>,
    symbol: Option<u32>,
    stems: Rc<HashSet<String>>,
}

impl Place {
    /// The symbol that answers best in the piece, or the one around it.
    pub fn symbol(&self) -> Option<&Symbol> {
        self.facts.symbols.get(self.symbol? as usize)
    }

    /// The line that defines the symbol, if it is in the piece, and the lines that hold the most of what was asked for,
    /// at most so many, in order.
    pub fn snippet(&self, snapshot: &Snapshot, lines: usize) -> Result<String> {
        let text = snapshot.text(self.version.id)?;
        let all: Vec<&str> = self.chunk.span.text(&text).lines().collect();
        let defined = self.symbol().map(|symbol| symbol.name_line.wrapping_sub(self.chunk.lines.start) as usize);
        let worth = |at: usize, line: &str| match defined == Some(at) {
            true => usize::MAX,
            false => features::known_words(&self.stems, line),
        };
        let mut ranked: Vec<(usize, usize)> = all.iter().enumerate().map(|(at, line)| (worth(at, line), at)).collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut chosen: Vec<usize> =
            ranked.into_iter().filter(|(words, _)| *words > 0).take(lines).map(|(_, at)| at).collect();
        chosen.sort_unstable();
        Ok(chosen.into_iter().map(|at| all[at].trim_end()).collect::<Vec<_>>().join("\n"))
    }

    /// The sum of all contributions.
    pub fn total(&self) -> f64 {
        self.contributions.total()
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best first.
    pub places: Vec<Place>,
    /// How many places hold some of the words.
    pub total: usize,
    /// What the query looks like.
    pub intent: Intent,
}

/// Finds the places that answer a query.
pub fn search(snapshot: &Snapshot, question: &Search<'_>) -> Result<Found> {
    let intent = Intent::of(question.query);
    let words = terms::words(question.query);
    let asked = Asked::new(question.query, intent, &words);
    let chunks = snapshot.search(Record::Chunk, &terms::groups(snapshot, Record::Chunk, &words)?)?;
    let symbols = snapshot.search(Record::Symbol, &terms::groups(snapshot, Record::Symbol, &words)?)?;
    let files = snapshot.search(Record::File, &terms::groups(snapshot, Record::File, &words)?)?;
    let gathered = Gathered::new(&chunks, &symbols, &files);
    let mut places = Vec::new();
    for (version, place) in gathered.best(CLOSELY) {
        places.extend(look(snapshot, question, &asked, &gathered, version, place)?);
    }
    features::rank(&mut places);
    let total = gathered.places.len();
    places.truncate(question.limit);
    Ok(Found { places, total, intent })
}

/// Everything the words found, by file and place.
struct Gathered {
    /// BM25 of a piece over its ceiling, and the terms in it.
    places: HashMap<(VersionId, u32), (f64, u64)>,
    /// Per file: BM25 of its symbols over the ceiling.
    symbols: HashMap<VersionId, Vec<(u32, f64)>>,
    files: HashMap<VersionId, FileSigns>,
    raw_ceiling: f64,
}

impl Gathered {
    fn new(chunks: &TextHits, symbols: &TextHits, files: &TextHits) -> Self {
        let share = |score: f64, found: &TextHits| if found.ceiling > 0.0 { score / found.ceiling } else { 0.0 };
        let mut gathered = Self {
            places: HashMap::with_capacity(chunks.hits.len()),
            symbols: HashMap::new(),
            files: HashMap::new(),
            raw_ceiling: chunks.ceiling,
        };
        for hit in &chunks.hits {
            gathered.places.insert((hit.version, hit.place), (share(hit.score, chunks), hit.terms));
            let file = gathered.files.entry(hit.version).or_default();
            file.terms |= hit.terms;
            file.best_chunk = file.best_chunk.max(share(hit.score, chunks));
            file.chunk_sum += share(hit.score, chunks);
        }
        for hit in &symbols.hits {
            gathered.symbols.entry(hit.version).or_default().push((hit.place, share(hit.score, symbols)));
            let file = gathered.files.entry(hit.version).or_default();
            file.best_symbol = file.best_symbol.max(share(hit.score, symbols));
        }
        for hit in &files.hits {
            gathered.files.entry(hit.version).or_default().path = share(hit.score, files);
        }
        let weight: f64 = chunks.rarity.iter().sum();
        for file in gathered.files.values_mut() {
            let held = chunks.rarity.iter().enumerate().filter(|(at, _)| file.terms >> (*at).min(63) & 1 == 1);
            file.coverage = if weight > 0.0 { held.map(|(_, rarity)| rarity).sum::<f64>() / weight } else { 0.0 };
        }
        gathered
    }

    /// The places worth a close look: by words and by what is known of their file, in a fixed order.
    fn best(&self, count: usize) -> Vec<(VersionId, u32)> {
        let mut ranked: Vec<(f64, VersionId, u32)> = self
            .places
            .iter()
            .map(|(&(version, place), &(score, _))| {
                let file = &self.files[&version];
                (score + 0.5 * file.best_symbol + 0.5 * file.path + 0.3 * file.coverage, version, place)
            })
            .collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        ranked.truncate(count);
        ranked.into_iter().map(|(_, version, place)| (version, place)).collect()
    }
}

fn look(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    version: VersionId,
    place: u32,
) -> Result<Option<Place>> {
    let lost = || StoreError::Corrupt(format!("piece {place} of file version {version}"));
    let info = snapshot.version(version)?.ok_or_else(lost)?;
    if question.language.is_some_and(|language| language != info.language) {
        return Ok(None);
    }
    let facts = snapshot.facts(version)?;
    let chunk = *facts.chunks.get(place as usize).ok_or_else(lost)?;
    let (symbol, symbol_score) = best_symbol(&facts, &chunk, gathered.symbols.get(&version));
    let found = symbol.and_then(|symbol| facts.symbols.get(symbol as usize));
    if !question.kinds.is_empty() && !found.is_some_and(|symbol| question.kinds.contains(&symbol.kind)) {
        return Ok(None);
    }
    let (bm25, _) = gathered.places.get(&(version, place)).copied().unwrap_or_default();
    let signs = PlaceSigns {
        path: &info.path,
        symbol: found,
        defined_here: found.is_some_and(|symbol| (chunk.lines.start..=chunk.lines.end).contains(&symbol.name_line)),
        bm25,
        raw_bm25: bm25 * gathered.raw_ceiling,
        symbol_score,
        file: &gathered.files[&version],
        is_code: is_code(&info.language),
    };
    let (contributions, reasons) = features::score(asked, &signs);
    Ok(Some(Place { version: info, chunk, contributions, reasons, facts, symbol, stems: asked.stems.clone() }))
}

/// Languages that are prose, data or configuration.
fn is_code(language: &str) -> bool {
    const OTHER: [&str; 14] = [
        "text",
        "markdown",
        "json",
        "yaml",
        "toml",
        "xml",
        "html",
        "css",
        "ini",
        "csv",
        "rst",
        "restructuredtext",
        "lock",
        "svg",
    ];
    !OTHER.contains(&language)
}

/// Of the symbols named in a piece, the one that bears the words best; else the one the piece belongs to.
fn best_symbol(facts: &FileFacts, chunk: &Chunk, found: Option<&Vec<(u32, f64)>>) -> (Option<u32>, f64) {
    let inside = |symbol: u32| {
        let symbol = facts.symbols.get(symbol as usize);
        symbol.is_some_and(|symbol| (chunk.lines.start..=chunk.lines.end).contains(&symbol.name_line))
    };
    let best = found
        .into_iter()
        .flatten()
        .filter(|(symbol, _)| inside(*symbol))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    match best {
        Some(&(symbol, score)) => (Some(symbol), score),
        None => (chunk.symbol, 0.0),
    }
}

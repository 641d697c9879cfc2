//! Explains why a location is in the result list and at which rank, or why it is not.

use codecompass_model::LineOwners;
use codecompass_store::{Result, Snapshot, VersionInfo};

use super::candidates::Candidates;
use super::evidence::Candidate;
use super::parsed_query::ParsedQuery;
use super::quoted::Quoted;
use super::{MAX_RESULTS, SearchHit, SearchRequest, rank, read_candidate};

/// The explanation for one location.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// The location is in the list.
    Hit {
        /// The search hit, with the contribution of each feature.
        hit: Box<SearchHit>,
        /// The rank in the list, from 1.
        rank: usize,
    },
    /// The location is not in the list.
    Missing(MissReason),
}

/// The reason why a location is not in the list.
#[derive(Clone, Debug)]
pub enum MissReason {
    /// The view does not contain the file.
    NoSuchFile,
    /// The line is beyond the end of the file.
    PastEnd {
        /// The number of lines in the file.
        lines: u32,
    },
    /// A filter by language, path or kind excludes the file or the symbol.
    Filtered {
        /// The filter: `language`, `path_filter` or `kind`.
        by: &'static str,
        /// The value that the location has instead.
        found: String,
    },
    /// The location contains none of the words.
    NoMatchingWord {
        /// The words that were looked up.
        words: Vec<String>,
    },
    /// Other hits have higher scores.
    RankedBelow {
        /// The search hit, with the contribution of each feature.
        hit: Box<SearchHit>,
        /// The rank, from 1; unknown if it is beyond the maximum length of a list.
        rank: Option<usize>,
        /// The total of the last hit in the list.
        needed: f64,
    },
}

/// Explains the presence or absence of one location in the results of a query. `offset` is ignored.
pub fn explain(snapshot: &Snapshot, request: &SearchRequest<'_>, path: &str, line: u32) -> Result<Explanation> {
    match Quoted::parse(request) {
        Some(quoted) if quoted.occurs_anywhere(snapshot, request)? => {
            explain_unquoted(snapshot, &quoted.to_request(request), path, line)
        }
        _ => explain_unquoted(snapshot, request, path, line),
    }
}

fn explain_unquoted(snapshot: &Snapshot, request: &SearchRequest<'_>, path: &str, line: u32) -> Result<Explanation> {
    let parsed = ParsedQuery::new(snapshot, request)?;
    let candidates = Candidates::new(snapshot, request, &parsed)?;
    let listed = rank(snapshot, request, &parsed, &candidates, MAX_RESULTS)?;
    let is_in = |hit: &SearchHit| hit.version.path == path && (hit.lines.start..=hit.lines.end).contains(&line);
    let starts = |hit: &SearchHit| hit.version.path == path && hit.lines.start == line;
    let within = &listed[..listed.len().min(request.limit)];
    // A hit that starts at the line is preferred, else the smallest one that contains it.
    let begins = within.iter().position(starts);
    let around = || (0..within.len()).filter(|at| is_in(&within[*at])).min_by_key(|at| span_lines(&within[*at]));
    if let Some(at) = begins.or_else(around) {
        return Ok(Explanation::Hit { hit: Box::new(listed[at].clone()), rank: at + 1 });
    }
    let Some(version) = snapshot.version_at(path)? else {
        return Ok(Explanation::Missing(MissReason::NoSuchFile));
    };
    miss_reason(snapshot, request, &parsed, &candidates, &listed, &version, line).map(Explanation::Missing)
}

fn span_lines(hit: &SearchHit) -> u32 {
    hit.lines.end - hit.lines.start
}

fn miss_reason(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    listed: &[SearchHit],
    version: &VersionInfo,
    line: u32,
) -> Result<MissReason> {
    if line > version.lines.max(1) || line == 0 {
        return Ok(MissReason::PastEnd { lines: version.lines });
    }
    if request.language.is_some_and(|language| language != version.language) {
        return Ok(MissReason::Filtered { by: "language", found: version.language.clone() });
    }
    if !request.accepts(&version.path, &version.language) {
        return Ok(MissReason::Filtered { by: "path_filter", found: version.path.clone() });
    }
    let outline = snapshot.outline(version.id)?;
    let owners = LineOwners::new(&snapshot.text(version.id)?, &outline.symbols);
    let found = Candidate::at_line(version.id, &outline, &owners, line);
    let no_word = || MissReason::NoMatchingWord { words: parsed.word_texts() };
    let Some(candidate) = found else { return Ok(no_word()) };
    if !candidates.contains(snapshot, candidate)? {
        return Ok(no_word());
    }
    let Some(hit) = read_candidate(snapshot, request, parsed, candidates, candidate)? else {
        let symbol = owners.owner_at(line).and_then(|symbol| outline.symbols.get(symbol as usize));
        let found = symbol.map_or("no symbol".to_owned(), |symbol| symbol.kind.to_string());
        return Ok(MissReason::Filtered { by: "kind", found });
    };
    let needed = listed.get(request.limit.min(listed.len()).saturating_sub(1)).map_or(0.0, |last| last.scores.total());
    let at = listed.iter().position(|other| other.candidate == candidate);
    let hit = at.map_or(hit, |at| listed[at].clone());
    Ok(MissReason::RankedBelow { hit: Box::new(hit), rank: at.map(|at| at + 1), needed })
}

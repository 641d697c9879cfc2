//! Explains why a location is in the result list and at which rank, or why it is not.

use codecompass_model::Owners;
use codecompass_store::{Result, Snapshot, VersionInfo};

use super::asked::Asked;
use super::gather::Gathered;
use super::quoted::Quoted;
use super::signs::Candidate;
use super::{CLOSELY, Place, Search, look, rank};

/// The explanation for one location.
#[derive(Clone, Debug)]
pub enum Explained {
    /// The location is in the list.
    Hit {
        /// The search hit, with the contribution of each feature.
        place: Box<Place>,
        /// The rank in the list, from 1.
        rank: usize,
    },
    /// The location is not in the list.
    Missing(Why),
}

/// The reason why a location is not in the list.
#[derive(Clone, Debug)]
pub enum Why {
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
    NoWord {
        /// The words that were looked up.
        words: Vec<String>,
    },
    /// Other hits have higher scores.
    Behind {
        /// The search hit, with the contribution of each feature.
        place: Box<Place>,
        /// The rank, from 1; unknown if it is beyond the maximum length of a list.
        rank: Option<usize>,
        /// The total of the last hit in the list.
        needed: f64,
    },
}

/// Explains the presence or absence of one location in the results of a query. `offset` is ignored.
pub fn explain(snapshot: &Snapshot, question: &Search<'_>, path: &str, line: u32) -> Result<Explained> {
    match Quoted::of(question) {
        Some(quoted) if quoted.is_anywhere(snapshot, question)? => {
            explain_as(snapshot, &quoted.question(question), path, line)
        }
        _ => explain_as(snapshot, question, path, line),
    }
}

fn explain_as(snapshot: &Snapshot, question: &Search<'_>, path: &str, line: u32) -> Result<Explained> {
    let asked = Asked::new(snapshot, question)?;
    let gathered = Gathered::new(snapshot, question, &asked)?;
    let listed = rank(snapshot, question, &asked, &gathered, CLOSELY)?;
    let is_in = |place: &Place| place.version.path == path && (place.lines.start..=place.lines.end).contains(&line);
    let starts = |place: &Place| place.version.path == path && place.lines.start == line;
    let within = &listed[..listed.len().min(question.limit)];
    // A hit that starts at the line is preferred, else the smallest one that contains it.
    let begins = within.iter().position(starts);
    let around = || (0..within.len()).filter(|at| is_in(&within[*at])).min_by_key(|at| size(&within[*at]));
    if let Some(at) = begins.or_else(around) {
        return Ok(Explained::Hit { place: Box::new(listed[at].clone()), rank: at + 1 });
    }
    let Some(version) = snapshot.version_at(path)? else {
        return Ok(Explained::Missing(Why::NoSuchFile));
    };
    why_not(snapshot, question, &asked, &gathered, &listed, &version, line).map(Explained::Missing)
}

fn size(place: &Place) -> u32 {
    place.lines.end - place.lines.start
}

fn why_not(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    listed: &[Place],
    version: &VersionInfo,
    line: u32,
) -> Result<Why> {
    if line > version.lines.max(1) || line == 0 {
        return Ok(Why::PastEnd { lines: version.lines });
    }
    if question.language.is_some_and(|language| language != version.language) {
        return Ok(Why::Filtered { by: "language", found: version.language.clone() });
    }
    if !question.accepts(&version.path, &version.language) {
        return Ok(Why::Filtered { by: "path_filter", found: version.path.clone() });
    }
    let outline = snapshot.outline(version.id)?;
    let owners = Owners::new(&snapshot.text(version.id)?, &outline.symbols);
    let found = Candidate::at(version.id, &outline, &owners, line);
    let no_word = || Why::NoWord { words: asked.texts() };
    let Some(candidate) = found else { return Ok(no_word()) };
    if !gathered.holds(snapshot, candidate)? {
        return Ok(no_word());
    }
    let Some(place) = look(snapshot, question, asked, gathered, candidate)? else {
        let symbol = owners.of(line).and_then(|symbol| outline.symbols.get(symbol as usize));
        let found = symbol.map_or("no symbol".to_owned(), |symbol| symbol.kind.to_string());
        return Ok(Why::Filtered { by: "kind", found });
    };
    let needed = listed.get(question.limit.min(listed.len()).saturating_sub(1)).map_or(0.0, |last| last.scores.total());
    let at = listed.iter().position(|other| other.candidate == candidate);
    let place = at.map_or(place, |at| listed[at].clone());
    Ok(Why::Behind { place: Box::new(place), rank: at.map(|at| at + 1), needed })
}

//! Why a place is in the list and where, or why it is not.

use codecompass_store::{Result, Snapshot, VersionInfo};

use super::features::Asked;
use super::gather::{Candidate, Gathered};
use super::quoted::Quoted;
use super::{CLOSELY, Place, Search, look, rank};

/// The answer to "why is this place there, or not?".
#[derive(Clone, Debug)]
pub enum Explained {
    /// It is in the list.
    Hit {
        /// The place, with what each feature adds.
        place: Box<Place>,
        /// Its place in the list, from 1.
        rank: usize,
    },
    /// It is not.
    Missing(Why),
}

/// What kept a place out of the list.
#[derive(Clone, Debug)]
pub enum Why {
    /// No such file is in the view.
    NoSuchFile,
    /// The file does not have so many lines.
    PastEnd {
        /// It has these.
        lines: u32,
    },
    /// A filter by language, path or kind keeps the file or the symbol out.
    Filtered {
        /// The filter: `language`, `path_filter` or `kind`.
        by: &'static str,
        /// What the place has instead.
        found: String,
    },
    /// None of the words stand there.
    NoWord {
        /// The words that were looked for.
        words: Vec<String>,
    },
    /// Its symbol is in the list through another of its pieces, or its piece through a symbol in it.
    Shown {
        /// The line that stands for it.
        line: u32,
        /// Its place in the list, from 1.
        rank: usize,
    },
    /// Others are better.
    Behind {
        /// The place, with what each feature adds.
        place: Box<Place>,
        /// Its place in the list, from 1; unknown when it was not worth a close look.
        rank: Option<usize>,
        /// What the last place of the list has.
        needed: f64,
    },
}

/// Explains one place of the list that a question gets, or its absence. `offset` is not looked at.
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
    let within = |place: &&Place| place.version.path == path && (place.lines.start..=place.lines.end).contains(&line);
    let starts = |place: &&Place| place.version.path == path && place.lines.start == line;
    let limit = question.limit;
    let position = |test: &dyn Fn(&&Place) -> bool| listed.iter().position(|place| test(&place));
    if let Some(at) = position(&starts).or_else(|| position(&within)).filter(|at| *at < limit) {
        let mut place = listed[at].clone();
        place.point_at_best_line(snapshot)?;
        return Ok(Explained::Hit { place: Box::new(place), rank: at + 1 });
    }
    let Some(version) = snapshot.version_at(path)? else {
        return Ok(Explained::Missing(Why::NoSuchFile));
    };
    why_not(snapshot, question, &asked, &gathered, &listed, &version, line).map(Explained::Missing)
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
    let piece = outline.chunks.iter().position(|chunk| (chunk.lines.start..=chunk.lines.end).contains(&line));
    let candidate = Candidate::Piece(version.id, piece.unwrap_or_default() as u32);
    if !gathered.holds(candidate) {
        return Ok(Why::NoWord { words: asked.texts() });
    }
    let Some(place) = look(snapshot, question, asked, gathered, candidate)? else {
        let kind =
            outline.chunks.get(piece.unwrap_or_default()).and_then(|chunk| outline.symbols.get(chunk.symbol? as usize));
        let found = kind.map_or("no symbol".to_owned(), |symbol| symbol.kind.to_string());
        return Ok(Why::Filtered { by: "kind", found });
    };
    let same =
        |other: &Place| other.version.id == version.id && other.owner().is_some() && other.owner() == place.owner();
    let is_itself = |other: &Place| other.candidate == candidate;
    // A listed place that begins in this piece does not hold the line, or it would have been found before.
    let shown = listed.iter().position(|other| same(other) || is_itself(other));
    if let Some(at) = shown.filter(|at| *at < question.limit) {
        return Ok(Why::Shown { line: listed[at].lines.start, rank: at + 1 });
    }
    let needed = listed.get(question.limit.min(listed.len()).saturating_sub(1)).map_or(0.0, |last| last.scores.total());
    let at = listed.iter().position(is_itself);
    let place = at.map_or(place, |at| listed[at].clone());
    Ok(Why::Behind { place: Box::new(place), rank: at.map(|at| at + 1), needed })
}

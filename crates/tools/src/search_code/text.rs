//! Search results as text: a row per hit, and the code itself where it is short.

use codecompass_lang::REGISTRY;
use codecompass_model::{Lines, Symbol, SymbolKind};
use codecompass_query::{HitKind, Intent, SearchHit, SearchResults, select_lines};
use codecompass_store::Snapshot;

use crate::graph;
use crate::rows;
use crate::shape::{self, DetailLevel, ResultShape};
use codecompass_query::tokens;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{Reader, style};

/// The maximum number of best hits of a query in words that are shown in full.
const MAX_BODIES: usize = 3;

/// The maximum length of such a hit, in lines.
const MAX_BODY_LINES: u32 = 14;

/// The maximum length of a header among several definitions, in characters.
const SHORT_HEADER_CHARS: usize = 56;

/// The maximum length of the header of a hit for an agent, in characters.
const AGENT_HEADER_CHARS: usize = 80;

/// The maximum length of the header above a matching line, in characters.
const NARROW_HEADER_CHARS: usize = 90;

/// The maximum distance of a doc comment above its symbol, in lines.
const MAX_DOC_DISTANCE: usize = 30;

/// The number of hits of a query in words that are described to an agent. In `eval/economy` the answer is among them.
const MAX_DESCRIBED: usize = 5;

/// The maximum number of hits of a query in words for an agent that sets no limit.
pub(super) const MAX_NAMED: usize = 8;

/// The token budget of all bodies together.
const MAX_BODY_TOKENS: u64 = 220;

/// The hits that define exactly the requested name; empty if the query is not a name, or has no definition.
pub(super) fn exact_definitions<'f>(query: &str, found: &'f SearchResults) -> Vec<&'f SearchHit> {
    if found.intent != Intent::Symbol {
        return Vec::new();
    }
    let name = query.trim().trim_end_matches("()");
    let is_it = |place: &&SearchHit| {
        let Some(symbol) = place.symbol().filter(|_| place.kind == HitKind::Symbol) else { return false };
        let end = symbol.qualified_name.strip_suffix(name);
        let is_suffix = end.is_some_and(|before| before.is_empty() || before.ends_with([':', '.']));
        symbol.kind != SymbolKind::Use && (symbol.name == name || is_suffix)
    };
    found.hits.iter().filter(is_it).collect()
}

/// A text per definition of a name. With several, each path is written once and headers are short. Definitions in tests
/// come last, by location only, unless there are no others.
pub(super) fn definitions(shape: ResultShape, places: &[&SearchHit]) -> Vec<String> {
    let is_test =
        |place: &SearchHit| REGISTRY.is_test(&place.version.path, place.symbol().is_some_and(|symbol| symbol.in_test));
    let (tests, code): (Vec<&SearchHit>, Vec<&SearchHit>) = places.iter().copied().partition(|place| is_test(place));
    let has_reasons = places.iter().any(|place| !shape.reasons_text(&place.scores).is_empty());
    if code.is_empty() || has_reasons {
        return file_rows(shape, places);
    }
    let mut rows = file_rows(shape, &code);
    for (number, place) in tests.iter().enumerate() {
        let before = match tests[..number].last() {
            None => "tests: ".to_owned(),
            Some(last) if last.version.path == place.version.path => ",".to_owned(),
            Some(_) => ", ".to_owned(),
        };
        let start = Lines { end: place.lines.start, ..place.lines };
        let at = if before == "," { rows::lines_text(start) } else { rows::location(&place.version.path, start) };
        rows.push(before + &at);
    }
    rows
}

fn file_rows(shape: ResultShape, places: &[&SearchHit]) -> Vec<String> {
    let mut order: Vec<&str> = Vec::new();
    places.iter().for_each(|place| {
        if !order.contains(&place.version.path.as_str()) {
            order.push(&place.version.path);
        }
    });
    let mut rows = Vec::with_capacity(places.len());
    for path in order {
        let characters = if places.len() > 1 { SHORT_HEADER_CHARS } else { rows::MAX_ROW_CHARS };
        let mut here: Vec<(String, Vec<&SearchHit>)> = Vec::new();
        for place in places.iter().filter(|place| place.version.path == path) {
            let header = place.symbol().map(|symbol| rows::header(symbol, characters)).unwrap_or_default();
            let header = format!("{header}\n{}", shape.reasons_text(&place.scores));
            // Overloads that look alike share a row.
            match here.iter_mut().find(|(known, _)| *known == header) {
                Some((_, overloads)) => overloads.push(place),
                None => here.push((header, vec![place])),
            }
        }
        let is_alone = here.len() == 1;
        for (number, (header, overloads)) in here.into_iter().enumerate() {
            let lines: Vec<String> = overloads.iter().map(|place| rows::lines_text(place.lines)).collect();
            let path = style::path(&escape_control(path));
            let at = match number {
                _ if is_alone => format!("{path}:"),
                0 => format!("{path}\n "),
                _ => " ".to_owned(),
            };
            rows.push(format!("{at}{} {header}", lines.join(",")));
            // Every definition has a text, so that they can be counted.
            rows.extend(overloads.iter().skip(1).map(|_| String::new()));
        }
    }
    rows
}

/// A text per hit. Of a query in words, the best hits are shown in full if they are short; for an agent, the later ones
/// are only named.
pub(super) fn rows(
    snapshot: &Snapshot,
    shape: ResultShape,
    places: &[&SearchHit],
    in_words: bool,
    reader: Reader,
) -> Result<Vec<String>, AppError> {
    let mut rows = Vec::with_capacity(places.len());
    let mut left = if in_words { MAX_BODY_TOKENS } else { 0 };
    let described = if in_words && reader == Reader::Agent { MAX_DESCRIBED } else { usize::MAX };
    let mut whole: Vec<&SearchHit> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        // A hit that overlaps a body was mostly shown with it.
        let is_shown = |other: &&SearchHit| other.version.id == place.version.id && overlap(other.lines, place.lines);
        let is_new = number < MAX_BODIES && !whole.iter().any(is_shown);
        let body = if is_new { short_body(snapshot, place, reader, &mut left)? } else { None };
        whole.extend(body.is_some().then_some(*place));
        rows.push(
            match body {
                Some(body) => body,
                None if number >= described && shape.detail == DetailLevel::Signature => brief_row(place),
                None => row(snapshot, shape, place, reader)?,
            } + &shape.reasons_text(&place.scores),
        );
    }
    separate(&mut rows);
    Ok(rows)
}

/// Separates results of several lines from their neighbours.
fn separate(rows: &mut [String]) {
    let is_long: Vec<bool> = rows.iter().map(|row| row.lines().count() > 1).collect();
    for (number, row) in rows.iter_mut().enumerate().skip(1) {
        if is_long[number] || is_long[number - 1] {
            row.insert(0, style::GAP);
        }
    }
}

/// The location and the name of a hit.
fn brief_row(place: &SearchHit) -> String {
    let name = place.symbol().filter(|_| place.kind == HitKind::Symbol);
    let name = name.map(|symbol| format!(" {}", escape_control(&rows::short_name(symbol)))).unwrap_or_default();
    format!("{}{name}\n", rows::location(&place.version.path, place.lines))
}

fn row(snapshot: &Snapshot, shape: ResultShape, place: &SearchHit, reader: Reader) -> Result<String, AppError> {
    let path = &place.version.path;
    if shape.detail == DetailLevel::Location || shape.compact {
        return Ok(format!("{}\n", rows::location(path, place.lines)));
    }
    let symbol = place.symbol();
    if let (DetailLevel::Context, Some(at), Some(symbol)) = (shape.detail, place.symbol_ordinal(), symbol) {
        let head = format!("{} {}\n", rows::location(path, place.lines), rows::header(symbol, rows::MAX_ROW_CHARS));
        return Ok(head + &shape::preview(snapshot, &place.version, at)?);
    }
    Ok(match (place.kind, symbol) {
        (HitKind::Symbol, Some(symbol)) => {
            let characters = if reader == Reader::Agent { AGENT_HEADER_CHARS } else { rows::MAX_ROW_CHARS };
            let header = rows::header(symbol, characters);
            let mut text = format!("{} {header}\n", rows::location(path, place.lines));
            // The header does not show why the hit matched, so the best line is added.
            if let Some(line) = place.frame_line().filter(|line| *line != symbol.lines.start) {
                let source = graph::source_line(snapshot, place.version.id, line)?;
                text += &format!("  {}: {}\n", style::number(line), rows::source(&source));
            } else if place.match_ranges(&symbol.signature).is_empty() {
                text += &best_line(snapshot, place, symbol.lines.start)?;
            }
            text
        }
        (HitKind::File, _) => format!("{}\n", rows::location(path, place.lines)),
        (_, symbol) => {
            let lines = place.matching_lines(snapshot, 1)?;
            let (line, text) = lines.first().map_or((place.lines.start, ""), |(line, text)| (*line, text.as_str()));
            let outline = snapshot.outline(place.version.id)?;
            let whole = snapshot.text(place.version.id)?;
            let symbol = documented_symbol(&outline.symbols, &whole, line)
                .or_else(|| symbol.filter(|symbol| symbol.kind != SymbolKind::Use && within(symbol.lines, line)));
            match symbol.filter(|symbol| symbol.lines.start != line) {
                Some(symbol) => format!(
                    "{} {}\n  {}: {}\n",
                    rows::location(path, symbol.lines),
                    rows::header(symbol, NARROW_HEADER_CHARS),
                    style::number(line),
                    mark_words(place, text)
                ),
                None => {
                    format!("{} {}\n", rows::location(path, Lines { start: line, end: line }), mark_words(place, text))
                }
            }
        }
    })
}

fn overlap(one: Lines, other: Lines) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn within(lines: Lines, line: u32) -> bool {
    (lines.start..=lines.end).contains(&line)
}

/// The symbol documented by a comment line: it begins below that line, with only comments between them.
fn documented_symbol<'s>(symbols: &'s [Symbol], text: &str, line: u32) -> Option<&'s Symbol> {
    const COMMENT_MARKS: [&str; 6] = ["//", "#", "*", "/*", "--", "@"];
    let is_code = |symbol: &&Symbol| symbol.kind != SymbolKind::Use && !symbol.kind.is_landmark();
    let next = symbols.iter().filter(is_code).filter(|symbol| symbol.lines.start > line);
    let next = next.min_by_key(|symbol| symbol.lines.start)?;
    let between = select_lines(text, Lines { start: line, end: next.lines.start - 1 });
    let is_comment = |line: &&str| COMMENT_MARKS.iter().any(|mark| line.trim_start().starts_with(mark));
    (between.len() <= MAX_DOC_DISTANCE && between.iter().all(is_comment)).then_some(next)
}

/// The line of a symbol with the most query words.
fn best_line(snapshot: &Snapshot, place: &SearchHit, declared: u32) -> Result<String, AppError> {
    let lines = place.matching_lines(snapshot, 2)?;
    let best = lines.iter().find(|(line, text)| *line != declared && !place.match_ranges(text).is_empty());
    let text = best.map(|(line, text)| format!("  {}: {}\n", style::number(*line), mark_words(place, text)));
    Ok(text.unwrap_or_default())
}

/// A line with the query words highlighted.
fn mark_words(place: &SearchHit, line: &str) -> String {
    let line = shape::truncate(line.trim(), rows::MAX_ROW_CHARS);
    let mut text = String::new();
    let mut from = 0;
    for range in place.match_ranges(&line) {
        text += &escape_control(&line[from..range.start]);
        text += &style::hit(&escape_control(&line[range.clone()]));
        from = range.end;
    }
    text + &escape_control(&line[from..])
}

/// The lines of a symbol, if it is short and the budget allows it.
fn short_body(
    snapshot: &Snapshot,
    place: &SearchHit,
    reader: Reader,
    left: &mut u64,
) -> Result<Option<String>, AppError> {
    let Some(symbol) = place.symbol().filter(|_| place.kind == HitKind::Symbol && *left > 0) else { return Ok(None) };
    let lines = symbol.lines;
    if lines.end - lines.start >= MAX_BODY_LINES || lines.end == lines.start {
        return Ok(None);
    }
    let text = snapshot.text(place.version.id)?;
    let source = select_lines(&text, lines).into_iter();
    let body: String = match reader {
        Reader::Agent => rows::SparseNumbers::rows(lines.start, source),
        Reader::Person => (lines.start..).zip(source).map(|(at, line)| rows::numbered(at, line) + "\n").collect(),
    };
    let cost = tokens::upper_estimate(&body);
    if cost > *left {
        return Ok(None);
    }
    *left -= cost;
    let name = style::name(&escape_control(&rows::short_name(symbol)));
    Ok(Some(format!("{} {name}\n{body}", rows::location(&place.version.path, lines))))
}

//! Finds source lines for formatted messages by the fixed parts of their string literals, ignoring the interpolated
//! values.

use std::collections::{HashMap, HashSet};

use codecompass_model::{LineOwners, VersionId};
use codecompass_store::{Result, Snapshot, TextHit, TextResults};

use super::evidence::{Candidate, FileLines};
use super::{Intent, SearchRequest, report, trace};

/// The maximum number of records with matching words that are read.
const MAX_READ: usize = 48;

/// If ties with the last record make the set larger than this, the tied records are dropped.
const MAX_TIED: usize = 200;

/// The minimum share of a message that fixed parts must cover; less is coincidence.
const MIN_SHARE: f64 = 0.3;

/// The same for a sentence that may not be a message.
const MIN_SENTENCE_SHARE: f64 = 0.6;

/// The minimum number of letters that fixed parts must cover.
const MIN_LETTERS: usize = 8;

/// Returns the message in a query or report, and the minimum share of it that fixed parts must cover.
pub(super) fn find_message(query: &str, intent: Intent, is_trace: bool) -> Option<(&str, f64)> {
    let query = query.trim();
    if let Some(message) = trace::message(query).filter(|_| is_trace || report::is_report(query)) {
        return Some((message, MIN_SHARE));
    }
    if report::is_report(query) {
        const ERROR_MARKERS: &[&str] =
            &["Error: ", "Exception: ", "panic: ", "panicked at ", "error: ", "fatal: ", "FAILED "];
        let line = query.lines().rev().find(|line| ERROR_MARKERS.iter().any(|sign| line.contains(sign)))?;
        return Some((line.trim(), MIN_SHARE));
    }
    const QUESTION_WORDS: &[&str] = &["how", "what", "when", "where", "which", "who", "why"];
    let is_question =
        query.split_whitespace().next().is_some_and(|first| QUESTION_WORDS.contains(&first.to_lowercase().as_str()));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty();
    let is_put_in = |word: &str| {
        word.contains(['"', '\'', '`', '/']) || is_number(word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let least = match intent {
        _ if query.split_whitespace().count() < 3 => None,
        Intent::Error => Some(MIN_SHARE),
        Intent::NaturalLanguage if is_question => None,
        Intent::NaturalLanguage if query.split_whitespace().any(is_put_in) => Some(MIN_SHARE),
        Intent::NaturalLanguage if query.ends_with(['.', '!']) || query.starts_with(char::is_uppercase) => {
            Some(MIN_SENTENCE_SHARE)
        }
        _ => None,
    };
    least.map(|least| (query, least))
}

/// Returns the lines whose string literals have fixed parts in the message, from the records that best match its words,
/// and only those that cover nearly as much of it as the best line; the share that the best line covers; and whether
/// the time limit was reached before all records were read.
pub(super) fn matching_lines(
    snapshot: &Snapshot,
    question: &SearchRequest<'_>,
    (message, least): (&str, f64),
    found: &TextResults,
) -> Result<(FileLines, f64, bool)> {
    let mut lines: Vec<(VersionId, u32, f64)> = Vec::new();
    let mut wanted: HashMap<VersionId, HashSet<Candidate>> = HashMap::new();
    for candidate in best_by_words(found) {
        wanted.entry(candidate.version()).or_default().insert(candidate);
    }
    let mut is_late = false;
    for (id, candidates) in wanted {
        is_late = !(question.should_continue)();
        if is_late {
            break;
        }
        let accepts = snapshot.version(id)?.is_some_and(|info| question.accepts(&info.path, &info.language));
        if !accepts {
            continue;
        }
        let (outline, text) = (snapshot.outline(id)?, snapshot.text(id)?);
        let owners = LineOwners::new(&text, &outline.symbols);
        for (number, line) in (1u32..).zip(text.lines()) {
            let share = fixed_share(line, message);
            let holder = || Candidate::at_line(id, &outline, &owners, number);
            if share >= least && holder().is_some_and(|holder| candidates.contains(&holder)) {
                lines.push((id, number, share));
            }
        }
    }
    let best = lines.iter().map(|line| line.2).fold(0.0, f64::max);
    let mut of_files = FileLines::new();
    for (id, number, _) in lines.into_iter().filter(|line| line.2 >= 0.8 * best) {
        of_files.entry(id).or_default().push(number);
    }
    of_files.values_mut().for_each(|lines| lines.sort_unstable());
    Ok((of_files, best, is_late))
}

/// Returns the records with the highest scores. Ties with the last one are kept or dropped together, because ids must
/// not decide.
fn best_by_words(found: &TextResults) -> Vec<Candidate> {
    let symbols = found.symbols.hits.iter().map(|hit| (hit.score, Candidate::Symbol(hit.version, hit.ordinal)));
    let piece = |hit: &TextHit| (hit.score, Candidate::Chunk(hit.version, hit.ordinal));
    let mut all: Vec<(f64, Candidate)> = symbols.chain(found.chunks.hits.iter().map(piece)).collect();
    if all.len() > MAX_READ {
        let (_, (last, _), _) = all.select_nth_unstable_by(MAX_READ - 1, |a, b| b.0.total_cmp(&a.0));
        let last = *last;
        all.retain(|(score, _)| *score >= last);
        if all.len() > MAX_TIED {
            all.retain(|(score, _)| *score > last);
        }
    }
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the share of a message's letters that the fixed parts of a line's string literals cover, if all parts with
/// three letters or more occur in it in order.
fn fixed_share(line: &str, message: &str) -> f64 {
    let all = letters(message);
    let mut best = 0;
    for text in string_literals(line) {
        let mut rest = message;
        let mut matched = 0;
        let mut is_held = true;
        for part in fixed_parts(text) {
            match rest.find(part) {
                Some(at) => {
                    matched += letters(part);
                    rest = &rest[at + part.len()..];
                }
                None => is_held &= letters(part) < 3,
            }
        }
        if is_held && matched >= MIN_LETTERS {
            best = best.max(matched);
        }
    }
    if all == 0 { 0.0 } else { best as f64 / all as f64 }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns the string literals in a line of code. An apostrophe inside a word does not open one.
fn string_literals(line: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut from = 0;
    while let Some(open) = line[from..].find(['"', '\'', '`']).map(|at| at + from) {
        let quote = line.as_bytes()[open];
        let after_word = quote == b'\'' && line[..open].ends_with(|c: char| c.is_alphanumeric());
        let inside = &line[open + 1..];
        let is_close = |at: usize| inside.as_bytes()[at] == quote && !is_escaped(inside, at);
        let close = (0..inside.len()).find(|at| is_close(*at));
        match close {
            Some(end) if !after_word => {
                texts.push(&inside[..end]);
                from = open + 1 + end + 1;
            }
            // The literal continues on the next line.
            None if quote != b'\'' => {
                texts.push(inside);
                break;
            }
            _ => from = open + 1,
        }
    }
    texts
}

fn is_escaped(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Splits a text at its placeholders and escapes: `{x}`, `${x}`, `%s`, `\n`.
fn fixed_parts(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            b'{' => text[at..].find('}').map(|end| at + end + 1),
            b'$' | b'#' if bytes.get(at + 1) == Some(&b'{') => text[at..].find('}').map(|end| at + end + 1),
            b'%' => format_verb_end(text, at),
            b'\\' => Some((at + 2).min(bytes.len())).filter(|end| text.is_char_boundary(*end)),
            _ => None,
        };
        match end {
            Some(end) => {
                parts.push(&text[start..at]);
                (start, at) = (end, end);
            }
            None => at += 1,
        }
    }
    parts.push(&text[start..]);
    let trimmed = parts.into_iter().map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(|part| !part.is_empty()).collect()
}

/// Returns the end of `%d`, `%-5.2f`, `%(name)s`.
fn format_verb_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at + 1..];
    let named = rest.strip_prefix('(').and_then(|inside| inside.find(')')).map_or(0, |end| end + 2);
    let is_flag = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '#' | '.' | '*' | 'l');
    let verb = rest[named..].find(|c: char| !is_flag(c))? + named;
    rest[verb..].starts_with(|c: char| c.is_ascii_alphabetic()).then_some(at + 1 + verb + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_by_fixed_parts() {
        let table: &[(&str, &str, bool)] = &[
            (r#"bail!("the len is {len} but the index is {index}")"#, "the len is 3 but the index is 5", true),
            (r#"raise ValueError(f"unknown option {name!r} for {cmd}")"#, "unknown option 'x' for build", true),
            (r#"fmt.Errorf("open %s: too many links (%d)", p, n)"#, "open a/b.txt: too many links (7)", true),
            ("throw new Error(`Cannot find module '${id}' from`)", "Cannot find module 'left-pad' from", true),
            (r#"log("the index is {i} but the len is {n}")"#, "the len is 3 but the index is 5", false),
            (r#"let x = "is";"#, "the len is 3 but the index is 5", false),
            ("it's the len is", "the len is 3 but the index is 5", false),
            (r#"say("broken {"#, "broken", false),
        ];
        for (line, message, expected) in table {
            assert_eq!(fixed_share(line, message) >= MIN_SHARE, *expected, "{line}: {}", fixed_share(line, message));
        }
    }
}

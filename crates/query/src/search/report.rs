//! Reports as queries: a pasted issue, a stack trace, the output of a failing test.
//!
//! Names in code and the first line have their normal weight, other prose less, and the boilerplate of reports
//! (headings, versions, politeness, addresses) none. A frame of a trace is not text: it names a file, a line and a
//! function.

use std::collections::HashMap;

use codecompass_model::Languages;

use super::terms::{QueryWord, STOP_WORDS, words};
use super::trace::{self, Frame};

/// A query with more words than this is a report.
const MIN_REPORT_WORDS: usize = 40;

/// A query with more lines than this is a report.
const MAX_QUESTION_LINES: usize = 2;

/// The maximum number of words of a report that are looked up; each has a bit in a mask.
const MAX_REPORT_WORDS: usize = 56;

/// The weight of a prose word after the first line.
const PROSE_WEIGHT: f64 = 0.4;

/// Words that occur in reports about any program.
const BOILERPLATE: &str = "
    actual actually also am another anyone anything because behavior behaviour believe best bug but cannot cause
    checked could currently description did didn doesn don dear environment etc even everything exactly example
    expect expected feature following happening hello help here hi however info information instead isn issue
    issues just know last latest like linux looks macos maybe minimal more most need no not note now only
    operating other output please possible pr problem proposed recent regards report repro reproduce reproducible
    reproduction result results same see seem seems similar since snippet something steps sure system than thank
    thanks thing think though traceback tried try trying version versions very want way whether windows without
    won would wrong yes your
";

/// Whether a query is a report rather than a question.
pub(super) fn is_report(query: &str) -> bool {
    query.trim().lines().count() > MAX_QUESTION_LINES || query.split_whitespace().count() > MIN_REPORT_WORDS
}

/// Returns the words that characterise a report, highest weight first.
pub(super) fn report_words(query: &str, languages: &dyn Languages) -> Vec<QueryWord> {
    let mut found: HashMap<String, (QueryWord, usize)> = HashMap::new();
    let mut order = 0;
    let mut is_fenced = false;
    let first = query.lines().position(|line| !line.trim().is_empty() && !trace::is_header(line));
    for (number, line) in query.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let is_title = Some(number) == first;
        if !is_title && is_noise(line) || trace::is_header(line) {
            continue;
        }
        let text = match trace::parse_line(line, languages) {
            Some(frame) => frame_words(&frame),
            None => trace::without_boilerplate(line)
                .split_whitespace()
                .filter(|word| !word.contains("://"))
                .collect::<Vec<_>>()
                .join(" "),
        };
        for word in words(&text) {
            let is_name = is_fenced || !word.is_prose || is_quoted(&text, &word.text);
            let worth = if is_title || is_name { word.weight } else { word.weight * PROSE_WEIGHT };
            if !is_salient(&word.text) {
                continue;
            }
            let (known, _) = found.entry(word.text.clone()).or_insert_with(|| {
                order += 1;
                (QueryWord { weight: 0.0, ..word.clone() }, order)
            });
            // A repeated word counts slightly more.
            known.weight = if known.weight == 0.0 { worth } else { known.weight.max(worth) + 0.1 * worth };
        }
    }
    let mut all: Vec<(QueryWord, usize)> = found.into_values().collect();
    all.sort_by(|(a, at), (b, then)| b.weight.total_cmp(&a.weight).then(at.cmp(then)));
    all.truncate(MAX_REPORT_WORDS);
    all.into_iter().map(|(word, _)| word).collect()
}

/// Returns the words of a frame: the function, and the file name without folders and extension.
fn frame_words(frame: &Frame) -> String {
    let file = frame.path.as_deref().map_or("", |path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    format!("{} {stem}", frame.name.as_deref().unwrap_or_default())
}

/// Whether a line is a heading, a version, a separator or an empty box.
fn is_noise(line: &str) -> bool {
    let line = line.trim();
    let is_version = |word: &str| {
        let word = word.trim_start_matches(['v', '=']);
        word.starts_with(|c: char| c.is_ascii_digit()) && word.matches('.').count() >= 1 && word.len() >= 3
    };
    let few = line.split_whitespace().count() <= 6;
    line.starts_with('#') && few
        || line.starts_with("- [")
        || line.starts_with("<!--")
        || few && line.split_whitespace().any(is_version)
        || line.chars().all(|c| !c.is_alphanumeric())
}

fn is_quoted(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split('`').skip(1).step_by(2).any(|part| part.contains(word))
}

fn is_salient(word: &str) -> bool {
    word.len() > 1
        && word.chars().any(char::is_alphabetic)
        && !BOILERPLATE.split_whitespace().any(|other| other == word)
        && !STOP_WORDS.contains(&word)
        && !is_hexadecimal(word)
}

fn is_hexadecimal(word: &str) -> bool {
    word.len() >= 6
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.trim_start_matches("0x").bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_and_names_outweigh_boilerplate() {
        let report = "Session cookies are lost on redirect\n\n## Steps to reproduce\nPlease see `resolve_redirects` in a \
            loop of requests.\n- OS: Linux 5.4.1\nhttps://example.org/x\n";
        let words = report_words(report, codecompass_lang::REGISTRY);
        let weight = |text: &str| words.iter().find(|word| word.text == text).map(|word| word.weight);
        assert!(weight("cookies") >= Some(1.0) && weight("resolve_redirects") >= Some(1.0), "{words:?}");
        assert!(weight("loop").is_some_and(|weight| weight < 0.5), "{words:?}");
        assert_eq!(
            (weight("reproduce"), weight("please"), weight("linux"), weight("example")),
            (None, None, None, None)
        );
        assert!(is_report(report) && !is_report("how is a session kept"));
    }
}

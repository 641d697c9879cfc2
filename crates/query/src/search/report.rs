//! Reports as queries: a pasted issue, a stack trace, the output of a failing test.
//!
//! Names in code and the first line have their normal weight, other prose less, and the boilerplate of reports
//! (headings, versions, politeness, addresses) none. A frame of a trace is not text: it names a file, a line and a
//! function.

use std::collections::HashMap;

use codecompass_model::Languages;

use super::intent::parse_path;
use super::terms::{QueryWord, STOP_WORDS, words};

/// A query with more words than this is a report.
const MIN_REPORT_WORDS: usize = 40;

/// A query with more lines than this is a report.
const MAX_QUESTION_LINES: usize = 2;

/// The maximum number of words of a report that are looked up; each has a bit in a mask.
const MAX_REPORT_WORDS: usize = 56;

/// The maximum number of frames of a trace that are used.
const MAX_FRAMES: usize = 12;

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

/// A location in a stack trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// The path as printed, if there is one.
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
    /// The last segment of the function's name.
    pub(super) name: Option<String>,
}

/// Whether a query is a report rather than a question.
pub(super) fn is_report(query: &str) -> bool {
    query.trim().lines().count() > MAX_QUESTION_LINES || query.split_whitespace().count() > MIN_REPORT_WORDS
}

/// Returns the frames of a trace in order. Above the limit only the first and the last ones are kept. Some programs
/// print the function on one line and its location on the next.
pub(super) fn parse_frames(query: &str, languages: &dyn Languages) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut is_open = false;
    for line in query.lines() {
        let Some(next) = parse_frame(line, languages) else {
            is_open = false;
            continue;
        };
        match frames.last_mut().filter(|_| is_open && next.name.is_none()) {
            Some(last) => *last = Frame { name: last.name.take(), ..next },
            None => frames.push(next),
        }
        is_open = frames.last().is_some_and(|last| last.path.is_none());
    }
    if frames.len() > MAX_FRAMES {
        frames.drain(MAX_FRAMES / 2..frames.len() - MAX_FRAMES / 2);
    }
    frames
}

/// Parses a line of a trace: `File "a.py", line 3, in f`, `at f (a.js:3:5)`, `a.go:3 +0x1d`, `3: a::f`, `a.f(0x1, …)`.
fn parse_frame(line: &str, languages: &dyn Languages) -> Option<Frame> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("File \"") {
        let (path, rest) = rest.split_once('"')?;
        let number = rest.strip_prefix(", line ")?;
        let (number, name) = number.split_once(", in ").unwrap_or((number, ""));
        return Some(Frame { path: Some(path.to_owned()), line: number.trim().parse().ok(), name: last_name(name) });
    }
    if let Some(rest) = line.strip_prefix("at ") {
        let (name, place) = match rest.split_once(" (") {
            Some((name, place)) => (name, place.trim_end_matches(')')),
            None => ("", rest),
        };
        let (path, number) = parse_path(place.split_whitespace().last()?, languages)?;
        return Some(Frame { path: Some(path.to_owned()), line: number, name: last_name(name) });
    }
    let first = line.split_whitespace().next()?;
    if let Some((path, Some(number))) = parse_path(first, languages) {
        let is_frame = line == first || line.contains(" +0x") || line.contains(" in ");
        let name = line.split_once(" in ").map_or("", |(_, name)| name);
        return is_frame.then(|| Frame { path: Some(path.to_owned()), line: Some(number), name: last_name(name) });
    }
    let is_numbered = first.strip_suffix(':').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let name = if is_numbered { line[first.len()..].trim() } else { go_function(line)? };
    let is_name = name.contains("::") || name.contains('.');
    let name = last_name(name).filter(|_| is_name && !name.contains(' '))?;
    Some(Frame { path: None, line: None, name: Some(name) })
}

/// Returns the function of a line like `main.(*Server).handle(0xc000, 0x1)`.
fn go_function(line: &str) -> Option<&str> {
    let (name, arguments) = line.rsplit_once('(')?;
    let is_call = arguments.ends_with(')') && (arguments.contains("0x") || arguments == "...)" || arguments == ")");
    Some(name).filter(|name| is_call && !name.contains(' ') && name.contains('.'))
}

fn last_name(name: &str) -> Option<String> {
    let name = name.trim().trim_end_matches("()").trim_end_matches("::{{closure}}");
    let last = name.rsplit(['.', ':', ' ', '/']).next()?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    Some(last.to_owned()).filter(|last| !last.is_empty() && last.chars().all(is_name))
}

/// Returns the words that characterise a report, highest weight first.
pub(super) fn report_words(query: &str, languages: &dyn Languages) -> Vec<QueryWord> {
    let mut found: HashMap<String, (QueryWord, usize)> = HashMap::new();
    let mut order = 0;
    let mut is_fenced = false;
    let first = query.lines().position(|line| !line.trim().is_empty());
    for (number, line) in query.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let is_title = Some(number) == first;
        if !is_title && is_noise(line) {
            continue;
        }
        let text = match parse_frame(line, languages) {
            Some(frame) => frame_words(&frame),
            None => line.split_whitespace().filter(|word| !word.contains("://")).collect::<Vec<_>>().join(" "),
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
    fn frames_of_several_languages() {
        type Expected<'t> = Option<(&'t str, Option<u32>, &'t str)>;
        let table: &[(&str, Expected<'_>)] = &[
            ("  File \"/usr/lib/app/views.py\", line 12, in get", Some(("/usr/lib/app/views.py", Some(12), "get"))),
            ("    at Router.match (src/router.ts:10:5)", Some(("src/router.ts", Some(10), "match"))),
            ("    at /app/src/router.js:10:5", Some(("/app/src/router.js", Some(10), ""))),
            ("             at src/main.rs:4:5", Some(("src/main.rs", Some(4), ""))),
            ("   3: app::store::open", Some(("", None, "open"))),
            ("main.(*Server).handle(0xc000, 0x1)", Some(("", None, "handle"))),
            ("\t/go/src/app/server.go:123 +0x1d", Some(("/go/src/app/server.go", Some(123), ""))),
            ("the call of parse(x) is wrong", None),
            ("see src/main.rs:4 for that", None),
            ("", None),
        ];
        for (line, expected) in table {
            let found = parse_frame(line, codecompass_lang::REGISTRY);
            let found = found.as_ref().map(|frame| {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                (text(&frame.path), frame.line, text(&frame.name))
            });
            let expected = expected.map(|(path, line, name)| (path.to_owned(), line, name.to_owned()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn two_line_frames_are_joined() {
        let trace = "panic: boom\nmain.(*Server).handle(0xc000, 0x1)\n\t/go/src/app/server.go:123 +0x1d\nmain.main()\n";
        let found: Vec<_> = parse_frames(trace, codecompass_lang::REGISTRY)
            .into_iter()
            .map(|frame| (frame.path.unwrap_or_default(), frame.name.unwrap_or_default()))
            .collect();
        let expected = [("/go/src/app/server.go", "handle"), ("", "main")];
        assert_eq!(found, expected.map(|(path, name)| (path.to_owned(), name.to_owned())));
    }

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

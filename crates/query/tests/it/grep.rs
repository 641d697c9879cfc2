//! Exact search is complete and exact: for any texts and patterns it finds the same matches as a scan of all lines.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use codecompass_query::grep::{Pattern, PatternOptions, find, find_cancellable};
use codecompass_store::{Snapshot, StoreError};
use proptest::prelude::*;
use regex_automata::meta;
use regex_automata::util::syntax;

/// Fragments of test texts: words in all cases, characters on which tokenizer and regex differ, line ends.
const FRAGMENTS: &[&str] = &[
    "foo",
    "Foo",
    "FOO",
    "bar",
    "fooBar",
    "foo_bar",
    "_",
    "__",
    "x",
    "X1",
    "9",
    "kiss",
    "KISS",
    "ki\u{17f}s",
    "\u{212a}iss",
    "größe",
    "GRÖSSE",
    "ςσΣ",
    "m²",
    "名前",
    "🦀",
    " ",
    ".",
    "::",
    "(",
    "-",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "Abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNO",
];

/// Regular expressions that cover all kinds of syntax.
const REGEXES: &[&str] = &[
    "foo",
    "fo+",
    r"foo\.bar",
    r"\bfoo\b",
    r"^foo",
    r"bar$",
    "foo|bar",
    r"foo\s*bar",
    r"(foo|x)\(",
    "[fF]oo",
    "(?i)kiss",
    "(?i)größe",
    "(?i)σ",
    r"\w+_bar",
    r"oo[^a-z]b",
    ".",
    "^$",
    "x*",
    r"foo\W",
    r"\Bbar",
    "(?:foo){2}",
    r"m²\b",
    r"\bm",
    r"(?-u:\b)foo",
    "_foo_",
    "名",
    r"foo.*bar",
    r"\d",
    "o_b",
    r"::\s*x",
    r"\S+\s+foo",
    "(?i)_BAR",
    r"\Afoo",
    r"bar\z",
];

/// A snapshot of a folder with these texts.
struct IndexedTexts {
    texts: BTreeMap<String, String>,
    snapshot: Snapshot,
    _folders: [tempfile::TempDir; 2],
}

fn index(texts: &[String]) -> IndexedTexts {
    let folders = [
        tempfile::tempdir().expect("because it can be created"),
        tempfile::tempdir().expect("because it can be created"),
    ];
    for (at, text) in texts.iter().enumerate() {
        std::fs::write(folders[0].path().join(format!("f{at}.{}", ["txt", "rs", "py"][at % 3])), text)
            .expect("because it can be written");
    }
    let snapshot = support::indexed(&folders);
    let versions = snapshot.versions().expect("because they are stored");
    let texts = versions
        .iter()
        .map(|one| (one.path.clone(), snapshot.text(one.id).expect("because it is stored").to_string()))
        .collect();
    IndexedTexts { texts, snapshot, _folders: folders }
}

/// Returns path, line and text of each match by matching every line of every text separately.
fn scan(indexed: &IndexedTexts, wanted: &PatternOptions<'_>) -> Vec<String> {
    let text = if wanted.literal { regex_syntax::escape(wanted.text) } else { wanted.text.to_owned() };
    let text = if wanted.word { format!(r"\b{{start-half}}(?:{text})\b{{end-half}}") } else { text };
    let options = syntax::Config::new().case_insensitive(wanted.ignore_case).multi_line(true);
    let regex = meta::Regex::builder().syntax(options).build(&text).expect("because it is a valid regex");
    let mut found = Vec::new();
    for (path, text) in &indexed.texts {
        // The start and end of a text are in its first and last line only.
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n').count();
        let is_meant = |at: usize| {
            (!wanted.text.contains(r"\A") || at == 0)
                && (!wanted.text.contains(r"\z") || at + 1 == lines && !text.ends_with('\n'))
        };
        for (at, line) in text.strip_suffix('\n').unwrap_or(text).split('\n').enumerate() {
            let matches: Vec<&str> =
                regex.find_iter(line).map(|one| line[one.range()].trim_end_matches('\r')).collect();
            if !matches.is_empty() && !text.is_empty() && is_meant(at) {
                found.push(format!("{path}:{} {matches:?}", at + 1));
            }
        }
    }
    found
}

fn search(indexed: &IndexedTexts, wanted: &PatternOptions<'_>) -> Vec<String> {
    let pattern = Pattern::new(wanted).expect("because the pattern is valid");
    let found = find(&indexed.snapshot, &pattern, |_| true, None).expect("because it is readable");
    assert!(found.is_complete);
    let mut lines = Vec::new();
    for file in &found.files {
        for line in &file.lines {
            let matches: Vec<&str> = line.ranges.iter().map(|range| &line.text[range.clone()]).collect();
            lines.push(format!("{}:{} {matches:?}", file.version.path, line.number));
        }
    }
    for enough in [1, lines.len() / 2, lines.len()] {
        let first = find(&indexed.snapshot, &pattern, |_| true, Some(enough)).expect("because it is readable");
        assert_eq!((first.matches, first.is_complete), (enough.min(lines.len()), enough >= lines.len()));
    }
    lines
}

fn assert_matches_scan(indexed: &IndexedTexts, wanted: &PatternOptions<'_>) {
    assert_eq!(search(indexed, wanted), scan(indexed, wanted), "{wanted:?} in {:?}", indexed.texts);
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(FRAGMENTS), 1..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grep_equals_a_full_scan(
        texts in prop::collection::vec(text(), 1..7),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1usize..24), 20),
    ) {
        let indexed = index(&texts);
        for regex in REGEXES {
            for (ignore_case, word) in [(false, false), (true, false), (false, true)] {
                assert_matches_scan(&indexed, &PatternOptions { text: regex, literal: false, ignore_case, word });
            }
        }
        for (file, start, length) in cuts {
            let chars: Vec<char> = file.get(&texts).chars().collect();
            let start = start.index(chars.len());
            let literal: String = chars[start..].iter().take(length).take_while(|char| **char != '\n').collect();
            for (ignore_case, word) in [(false, false), (true, false), (false, true), (true, true)] {
                if !literal.is_empty() {
                    assert_matches_scan(&indexed, &PatternOptions { text: &literal, literal: true, ignore_case, word });
                }
            }
        }
    }
}

#[test]
fn overlapping_matches_in_a_word() {
    let indexed = index(&["a9fooBarfooBarFOO next".to_owned(), "other".to_owned()]);
    for text in ["oBarFOO ", "fooBarFOO ", "fooBarfooBarFOO ", "FOO "] {
        assert_matches_scan(&indexed, &PatternOptions { text, literal: true, ignore_case: false, word: false });
    }
}

#[test]
fn literals_span_lines_and_regexes_do_not() {
    let indexed = index(&["one two\nthree\nfour".to_owned()]);
    let wanted = |text, literal| PatternOptions { text, literal, ignore_case: false, word: false };
    assert_eq!(search(&indexed, &wanted("two\nth", true)), ["f0.txt:1 [\"two\"]"]);
    assert!(search(&indexed, &wanted(r"two\s+th", false)).is_empty());
    assert!(Pattern::new(&wanted(r"two\nth", false)).is_err());
    assert!(Pattern::new(&wanted("two(", false)).is_err_and(|error| error.0.contains("unclosed group")));
}

/// Returns a text of many slices whose last line has no line end.
fn long_text() -> String {
    let line = |at: usize| match at % 7 {
        0 => "foo bar\n".to_owned(),
        1 => "\n".to_owned(),
        2 => format!("{} größe\r\n", "x".repeat(at % 5000)),
        _ => format!("fn f_{at}(x: usize) -> usize {{ x + {at} }}\n"),
    };
    (0..3000).map(line).collect::<String>() + "foo bar"
}

#[test]
fn sliced_text_matches_like_one() {
    let indexed = index(&[long_text()]);
    assert!(indexed.texts["f0.txt"].len() > 500_000, "it has many slices");
    for regex in ["foo", "^", "$", "^$", "x*", r"\Afoo", r"bar\z", r"bar$", r"\bfoo\b", "größe.$", r"[^x]$", "."] {
        assert_matches_scan(&indexed, &PatternOptions { text: regex, literal: false, ignore_case: false, word: false });
    }
    let wanted = PatternOptions { text: "foo bar\n\nx", literal: true, ignore_case: true, word: false };
    let pattern = Pattern::new(&wanted).expect("because the pattern is valid");
    let found = find(&indexed.snapshot, &pattern, |_| true, None).expect("because it is readable");
    let lines = indexed.texts["f0.txt"].matches("foo bar\n\nx").count();
    assert_eq!((found.matches, found.is_complete), (lines, true), "slices do not split a literal");
}

#[test]
fn long_lines_match_like_short_ones() {
    let long = long_text().replace(['\r', '\n'], " ");
    let indexed = index(&[format!("{long}\n{long}\nfoo bar")]);
    for regex in
        ["foo", "^", "$", "x*$", r"\Afoo", r"bar\z", r"\bfoo\b", "größe.", "f_[0-9]+7?", "foo.*größe", "foo.*?x"]
    {
        for (ignore_case, word) in [(false, false), (true, false), (false, true)] {
            assert_matches_scan(&indexed, &PatternOptions { text: regex, literal: false, ignore_case, word });
        }
    }
}

#[test]
fn cancellation_is_checked_inside_a_file() {
    let indexed = index(&[long_text()]);
    let wanted = PatternOptions { text: "f_[0-9]+x?", literal: false, ignore_case: false, word: false };
    let pattern = Pattern::new(&wanted).expect("because the pattern is valid");
    let all = find(&indexed.snapshot, &pattern, |_| true, None).expect("because it is readable").matches;
    let looks = AtomicUsize::new(0);
    let goes_on = || looks.fetch_add(1, Ordering::Relaxed) < 3;
    let found =
        find_cancellable(&indexed.snapshot, &pattern, |_| true, None, &goes_on).expect("because it is readable");
    assert!(found.timed_out && !found.is_complete, "{found:?}");
    assert!(0 < found.matches && found.matches < all / 2, "{} of {all}", found.matches);
    assert_eq!(looks.into_inner(), 4, "no check follows the cancellation");
}

#[test]
fn cancellation_is_checked_during_term_lookup() {
    let indexed = index(&["one two\n".to_owned(), "word99 here\n".to_owned(), "three\n".to_owned()]);
    let words: Vec<String> = (0..100).map(|number| format!("ord{number}\\b")).collect();
    let wanted = PatternOptions { text: &words.join("|"), literal: false, ignore_case: false, word: false };
    let pattern = Pattern::new(&wanted).expect("because the pattern is valid");
    let all = find(&indexed.snapshot, &pattern, |_| true, None).expect("because it is readable");
    assert_eq!((all.matches, all.files_scanned), (1, 1), "words select the files");
    let found =
        find_cancellable(&indexed.snapshot, &pattern, |_| true, None, &|| false).expect("because it is readable");
    assert!(found.timed_out && found.files_scanned == 3, "every file remains a candidate: {found:?}");
}

#[test]
fn cancelled_search_stops_reading() {
    let indexed = index(&["one two\n".to_owned(), "two\n".to_owned()]);
    let stop = Arc::new(AtomicBool::new(false));
    indexed.snapshot.set_cancel_flag(&stop);
    let wanted = PatternOptions { text: "t.o", literal: false, ignore_case: false, word: false };
    let pattern = Pattern::new(&wanted).expect("because the pattern is valid");
    let found = || find(&indexed.snapshot, &pattern, |_| true, None);
    assert_eq!(found().expect("because it is readable").matches, 2);
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(found(), Err(StoreError::Cancelled)));
    indexed.snapshot.set_cancel_flag(&Arc::default());
    assert_eq!(found().expect("because the flag was reset").matches, 2);
}

#[test]
fn oversized_regex_is_refused() {
    let wanted = |text| PatternOptions { text, literal: false, ignore_case: false, word: false };
    for text in [
        r"((((\w{100}){10}){10}){10})",
        "((((((((((((((((a{4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4}){4})",
    ] {
        let told = Pattern::new(&wanted(text)).expect_err("because it is too large").0;
        assert!(told.contains("too large"), "{told}");
    }
    Pattern::new(&wanted(".{0,500}q.{0,500}z.{0,500}w")).expect("because it is slow, but not large");
}

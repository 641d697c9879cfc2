//! Highlighting: the spans of each language, and valid spans for any bytes.
//!
//! A fixture in `fixtures/colours/` is a file with an extra line under each of its lines: a letter for each character
//! with a highlight kind. The file without these lines is highlighted, under the fixture's own name.

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_lang::{HighlightKind, HighlightSpan, LANGUAGES, extract, highlight, highlight_while};
use proptest::prelude::*;

/// Returns the letter of a highlight kind in fixtures.
fn letter(colour: HighlightKind) -> char {
    match colour {
        HighlightKind::Comment => 'c',
        HighlightKind::Doc => 'd',
        HighlightKind::Text => 's',
        HighlightKind::Number => 'n',
        HighlightKind::Keyword => 'k',
        HighlightKind::Type => 'T',
        HighlightKind::Function => 'f',
        HighlightKind::Constant => 'C',
        HighlightKind::Attribute => 'a',
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/colours")
}

fn fixtures() -> Vec<(String, String)> {
    let files = fs::read_dir(folder()).expect("because the folder exists").flatten();
    let read = |path: PathBuf| fs::read_to_string(path).expect("because fixtures exist");
    let mut all: Vec<_> =
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), read(file.path()))).collect();
    all.sort();
    all
}

/// Returns the lines of a fixture that are code.
fn code(fixture: &str) -> String {
    fixture.lines().step_by(2).flat_map(|line| [line, "\n"]).collect()
}

/// Renders the text with its highlight kinds under each line.
fn drawn(text: &str, all: &[HighlightSpan]) -> String {
    let mut drawn = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let colour = |at: usize| all.iter().find(|one| (one.start as usize..one.end as usize).contains(&at));
        let marks = line.trim_end().char_indices().map(|(at, c)| match colour(start + at) {
            Some(one) if c != ' ' => letter(one.kind),
            _ => ' ',
        });
        let marks: String = marks.collect();
        drawn += &format!("{line}{}\n", marks.trim_end());
        start += line.len();
    }
    drawn
}

fn check(path: &str, bytes: &[u8], language: Option<&str>) -> Vec<HighlightSpan> {
    let text = String::from_utf8_lossy(bytes);
    let all = highlight(path, bytes, language);
    let mut end = 0;
    for one in &all {
        assert!(end <= one.start && one.start < one.end, "{path}: {one:?} after {end}");
        assert!(text.get(one.start as usize..one.end as usize).is_some(), "{path}: {one:?}");
        end = one.end;
    }
    all
}

#[test]
fn fixtures_match_highlights() {
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for (name, fixture) in fixtures() {
        let code = code(&fixture);
        seen.push(extract(&name, code.clone().into_bytes()).language);
        let found = drawn(&code, &check(&name, code.as_bytes(), None));
        if found != fixture {
            wrong.push(format!("=== {name} has other colours:\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> = LANGUAGES.iter().map(|one| one.name).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no fixture for {missing:?}");
}

#[test]
fn explicit_language_is_used() {
    let all = check("a.inc", b"return 1", Some("lua"));
    assert_eq!(all.iter().map(|one| one.kind.name()).collect::<Vec<_>>(), ["keyword", "number"]);
    assert!(check("a.inc", b"return 1", None).is_empty());
    assert!(check("a.inc", b"return 1", Some("klingon")).is_empty());
}

/// The scanner is linear. The time limit of a parse is tested with extraction, so code is short here.
#[test]
fn deep_and_unclosed_texts_terminate() {
    let scraps = ["(", "{", "[", "\"", "'", "\\\"", "`${", "/*", "<a b='", "#", "é\"", "a: ", "f(", "\"#{", "<!--"];
    for (name, _) in fixtures() {
        let is_code = LANGUAGES.iter().any(|known| known.name == extract(&name, Vec::new()).language);
        let (count, scraps) = if is_code { (700, &scraps[..14]) } else { (40_000, &scraps[..]) };
        scraps.iter().for_each(|scrap| drop(check(&name, scrap.repeat(count).as_bytes(), None)));
    }
}

/// Cancellation returns nothing.
#[test]
fn cancelled_highlight_is_empty() {
    let text = "f(a);\n".repeat(20_000);
    assert!(highlight_while("a.c", text.as_bytes(), None, &|| false).is_none());
    assert!(highlight_while("a.c", text.as_bytes(), None, &|| true).is_some_and(|all| all.len() == 20_000));
}

#[test]
fn all_fixtures_have_valid_spans() {
    let root = folder().parent().expect("because the folder is below fixtures").to_owned();
    for folder in fs::read_dir(root).expect("because the folder exists").flatten() {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let path = file.path().display().to_string();
            check(&path, &fs::read(file.path()).expect("because fixtures exist"), None);
        }
    }
}

/// A fixture's name, and its text with parts removed or moved.
fn mutilated() -> impl Strategy<Value = (String, Vec<u8>)> {
    let cut = (any::<prop::sample::Index>(), 0..80_usize, any::<prop::sample::Index>(), any::<bool>());
    (prop::sample::select(fixtures()), prop::collection::vec(cut, 1..5)).prop_map(|((name, fixture), cuts)| {
        let mut bytes = code(&fixture).into_bytes();
        for (from, len, to, is_moved) in cuts {
            let from = from.index(bytes.len() + 1);
            let piece: Vec<u8> = bytes.drain(from..bytes.len().min(from + len)).collect();
            let to = to.index(bytes.len() + 1);
            bytes.splice(to..to, piece.into_iter().filter(|_| is_moved));
        }
        (name, bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn mutated_code_has_valid_spans((name, bytes) in mutilated()) {
        check(&name, &bytes, None);
    }

    #[test]
    fn any_bytes_have_valid_spans(
        (name, _) in prop::sample::select(fixtures()),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        text in "[\\PC\n\"'`#/*<>-]{0,200}",
    ) {
        check(&name, &bytes, None);
        check(&name, text.as_bytes(), None);
    }
}

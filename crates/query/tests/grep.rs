//! Exact search is complete and exact: on any texts and patterns it finds what a scan of all lines finds.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use codecompass_index::source::{Limits, Workspace};
use codecompass_index::{Options, Target, sync};
use codecompass_query::grep::{Pattern, Wanted, find};
use codecompass_store::{ProjectDir, Snapshot, Store, Tuning};
use proptest::prelude::*;
use regex_automata::meta;
use regex_automata::util::syntax;

/// What texts are made of: words in all cases, characters that tokens and expressions see differently, line ends.
const PIECES: &[&str] = &[
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

/// Expressions with something of everything.
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
];

/// A snapshot of a folder with these texts.
struct Indexed {
    texts: BTreeMap<String, String>,
    snapshot: Snapshot,
    _folders: [tempfile::TempDir; 2],
}

fn index(texts: &[String]) -> Indexed {
    let folders = [tempfile::tempdir().expect("a temp folder"), tempfile::tempdir().expect("a temp folder")];
    for (at, text) in texts.iter().enumerate() {
        std::fs::write(folders[0].path().join(format!("f{at}.{}", ["txt", "rs", "py"][at % 3])), text)
            .expect("written");
    }
    let workspace = Workspace::discover(folders[0].path(), None).expect("it is a workspace");
    let (dir, target) = (ProjectDir::new(folders[1].path().join("p")), Target::of(&workspace, None).expect("a target"));
    let options = Options {
        force: false,
        upgrade: false,
        wait: true,
        changed: None,
        limits: Limits::default(),
        threads: 1,
        tuning: Tuning::default(),
        point: None,
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
        job_id: None,
        started: &|_| (),
    };
    sync(&dir, &workspace, &target, &options).expect("it is indexed");
    let snapshot = Store::open(&dir).and_then(|store| store.snapshot(&target.key)).expect("it is published");
    let versions = snapshot.versions().expect("they are stored");
    let texts = versions
        .iter()
        .map(|one| (one.path.clone(), snapshot.text(one.id).expect("it is stored").to_string()))
        .collect();
    Indexed { texts, snapshot, _folders: folders }
}

/// Path, line and the text of each match, by matching every line of every text alone.
fn scan(indexed: &Indexed, wanted: &Wanted<'_>) -> Vec<String> {
    let text = if wanted.literal { regex_syntax::escape(wanted.text) } else { wanted.text.to_owned() };
    let text = if wanted.word { format!(r"\b{{start-half}}(?:{text})\b{{end-half}}") } else { text };
    let options = syntax::Config::new().case_insensitive(wanted.ignore_case).multi_line(true);
    let regex = meta::Regex::builder().syntax(options).build(&text).expect("it is an expression");
    let mut found = Vec::new();
    for (path, text) in &indexed.texts {
        for (at, line) in text.strip_suffix('\n').unwrap_or(text).split('\n').enumerate() {
            let matches: Vec<&str> =
                regex.find_iter(line).map(|one| line[one.range()].trim_end_matches('\r')).collect();
            if !matches.is_empty() && !text.is_empty() {
                found.push(format!("{path}:{} {matches:?}", at + 1));
            }
        }
    }
    found
}

fn search(indexed: &Indexed, wanted: &Wanted<'_>) -> Vec<String> {
    let pattern = Pattern::new(wanted).expect("it is a pattern");
    let found = find(&indexed.snapshot, &pattern, |_| true, None).expect("it reads");
    assert!(found.is_complete);
    let mut lines = Vec::new();
    for file in &found.files {
        for line in &file.lines {
            let matches: Vec<&str> = line.ranges.iter().map(|range| &line.text[range.clone()]).collect();
            lines.push(format!("{}:{} {matches:?}", file.version.path, line.number));
        }
    }
    for enough in [1, lines.len() / 2, lines.len()] {
        let first = find(&indexed.snapshot, &pattern, |_| true, Some(enough)).expect("it reads");
        assert_eq!((first.matches, first.is_complete), (enough.min(lines.len()), enough >= lines.len()));
    }
    lines
}

fn check(indexed: &Indexed, wanted: &Wanted<'_>) {
    assert_eq!(search(indexed, wanted), scan(indexed, wanted), "{wanted:?} in {:?}", indexed.texts);
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_a_scan_finds(
        texts in prop::collection::vec(text(), 1..7),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1usize..24), 20),
    ) {
        let indexed = index(&texts);
        for regex in REGEXES {
            for (ignore_case, word) in [(false, false), (true, false), (false, true)] {
                check(&indexed, &Wanted { text: regex, literal: false, ignore_case, word });
            }
        }
        for (file, start, length) in cuts {
            let chars: Vec<char> = file.get(&texts).chars().collect();
            let start = start.index(chars.len());
            let literal: String = chars[start..].iter().take(length).take_while(|char| **char != '\n').collect();
            for (ignore_case, word) in [(false, false), (true, false), (false, true), (true, true)] {
                if !literal.is_empty() {
                    check(&indexed, &Wanted { text: &literal, literal: true, ignore_case, word });
                }
            }
        }
    }
}

#[test]
fn a_literal_may_span_lines_and_an_expression_may_not() {
    let indexed = index(&["one two\nthree\nfour".to_owned()]);
    let wanted = |text, literal| Wanted { text, literal, ignore_case: false, word: false };
    assert_eq!(search(&indexed, &wanted("two\nth", true)), ["f0.txt:1 [\"two\"]"]);
    assert!(search(&indexed, &wanted(r"two\s+th", false)).is_empty());
    assert!(Pattern::new(&wanted(r"two\nth", false)).is_err());
    assert!(Pattern::new(&wanted("two(", false)).is_err_and(|error| error.0.contains("unclosed group")));
}

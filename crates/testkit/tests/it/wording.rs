//! How the project writes: plain words in comments and docs, retired names that stay retired, promises that name their
//! tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words of the old dialect, and what to write instead.
const DIALECT: &[(&str, &str)] = &[
    ("stands", "is, occurs"),
    ("nobody", "no process, no client"),
    ("somebody", "a user, a client"),
    ("whoever", "the caller"),
    ("told", "reported"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("bears", "has"),
    ("heed", "check"),
    ("so many", "the maximum number of"),
    ("so long", "the time limit of"),
];

/// The maximum number of uses of a word per 1,000 lines.
const MAX_PER_THOUSAND: usize = 2;

/// Names of types that said nothing to a reader, or named several things.
const RETIRED_TYPES: &[&str] = &[
    "Apart",
    "Asked",
    "AtOnce",
    "Attention",
    "Care",
    "Course",
    "Customs",
    "Desk",
    "Gathered",
    "Glance",
    "Looks",
    "Meaning",
    "Meant",
    "Patience",
    "Question",
    "Reached",
    "Scoping",
    "Shelf",
    "Shown",
    "Standing",
    "Through",
    "Told",
    "Upkeep",
    "Worth",
];

/// Names of modules.
const RETIRED_MODULES: &[&str] = &[
    "at_once",
    "breakdown",
    "customs",
    "desk",
    "examined",
    "glance",
    "meaning",
    "meant",
    "near",
    "patience",
    "recipe",
    "several",
    "signs",
    "standing",
    "twins",
    "upkeep",
    "versus",
];

/// Names of constants and functions.
const RETIRED_ITEMS: &[&str] = &[
    "const BRIEFLY",
    "const CLOSELY",
    "const MANY",
    "const MOST",
    "const PATIENCE",
    "const SOON",
    "fn heed",
    "fn let_go",
    "fn obey",
    "fn of",
    "fn settle",
];

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("because it is in crates/");
    crates.parent().expect("because crates/ is in the root").to_owned()
}

/// The files below a folder that have this extension, without build output and this file.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !matches!(name, "target" | "fixtures" | "node_modules" | ".git") {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) && name != "wording.rs" {
            found.push(path);
        }
    }
}

fn read_all(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root().join(folder), extension, &mut found);
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).unwrap_or_default())).collect()
}

/// Checks how often the dialect's words occur in these lines.
fn check(lines: &[String]) {
    assert!(lines.len() > 1000, "only {} lines were found", lines.len());
    let text = lines.join("\n").to_lowercase();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut frequent = Vec::new();
    for (word, instead) in DIALECT {
        let uses = text
            .match_indices(word)
            .filter(|(at, _)| !text[..*at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter));
        let count = uses.count();
        if count * 1000 > MAX_PER_THOUSAND * lines.len() {
            frequent.push(format!("{word}: {count} in {} lines (write: {instead})", lines.len()));
        }
    }
    assert!(frequent.is_empty(), "{}", frequent.join("\n"));
}

#[test]
fn comments_are_plain_english() {
    let texts = read_all("crates", "rs");
    let lines = texts.iter().flat_map(|(_, text)| text.lines()).map(str::trim_start);
    check(&lines.filter(|line| line.starts_with("//")).map(str::to_owned).collect::<Vec<_>>());
}

#[test]
fn docs_are_plain_english() {
    let texts = read_all(".", "md");
    check(&texts.iter().flat_map(|(_, text)| text.lines()).map(str::to_owned).collect::<Vec<_>>());
}

#[test]
fn retired_names_stay_retired() {
    let mut found = Vec::new();
    for (path, text) in read_all("crates", "rs") {
        let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        for line in code {
            let words: BTreeSet<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let declares = |keyword: &str| words.contains(keyword) && !line.contains('"');
            let is_type = ["struct", "enum", "trait", "type"].into_iter().any(declares);
            let after = |keyword: &str| line.split(keyword).nth(1).unwrap_or_default().trim_start();
            let names = |keyword: &str, name: &str| {
                after(keyword)
                    .strip_prefix(name)
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            let retired_type = RETIRED_TYPES.iter().find(|name| {
                is_type && ["struct ", "enum ", "trait ", "type "].iter().any(|keyword| names(keyword, name))
            });
            let retired_module = RETIRED_MODULES.iter().find(|name| declares("mod") && names("mod ", name));
            let retired_item = RETIRED_ITEMS.iter().find(|item| {
                let (keyword, name) = item.split_once(' ').expect("because each has a keyword");
                declares(keyword) && names(&format!("{keyword} "), name)
            });
            if let Some(name) = retired_type.or(retired_module).or(retired_item) {
                found.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "names that say nothing to a reader:\n{}", found.join("\n"));
}

#[test]
fn security_promises_name_tests() {
    let security = fs::read_to_string(root().join("SECURITY.md")).expect("because it is in the root");
    let sources: String = read_all("crates", "rs").into_iter().map(|(_, text)| text).collect();
    let mut count = 0;
    let promises =
        security.lines().skip_while(|line| !line.starts_with("## Promises")).filter(|line| line.starts_with("| "));
    for promise in promises.take_while(|line| !line.starts_with("## Not")) {
        let tests = promise.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        let is_head = tests.trim() == "tests";
        assert!(is_head || !names.is_empty(), "no test is named: {promise}");
        for name in names.into_iter().filter(|name| *name != "unsafe_code") {
            count += 1;
            assert!(sources.contains(&format!("fn {name}(")), "there is no test {name}");
        }
    }
    assert!(count > 40, "only {count} tests are named");
}

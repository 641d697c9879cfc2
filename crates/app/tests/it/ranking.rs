//! Ranking goldens: queries with the expected hit, over a small service and over this project.

use crate::support;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use codecompass_testkit::{Repository, expect_file, shell_words};
use serde_json::Value;
use support::{Project, ranking_file};

/// A hit with a lower rank counts as not found.
const MAX_RANK: usize = 10;

#[test]
fn service_queries_match_the_golden_ranks() {
    let sheet = GoldenFile::read("service.golden");
    let ranked = sheet.ask(&Project::service());
    expect_file(ranking_file("service.golden"), &sheet.with_ranks(&ranked));
    sheet.check_floor(&ranked);
}

#[test]
fn project_queries_reach_the_floor() {
    let repository = Repository::new();
    copy(&root(), Path::new(""), &repository);
    repository.commit("this project");
    let project = Project::new(repository);
    project.run_ok("index");
    let sheet = GoldenFile::read("project.questions");
    for question in sheet.questions() {
        let is_there = |place: &&str| root().join(place).is_file();
        let gone: Vec<&str> = question.expected.iter().map(String::as_str).filter(|place| !is_there(place)).collect();
        assert!(gone.is_empty(), "{:?} expects {gone:?}, which does not exist", question.query);
    }
    sheet.check_floor(&sheet.ask(&project));
    check_readme_example(&project);
}

/// Checks that the first result of the README's example query is the symbol and the file that the README names.
fn check_readme_example(project: &Project) {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README can be read");
    let query = readme.split("-- search \"").nth(1).and_then(|rest| rest.split('"').next());
    let query = query.expect("the README has an example query").to_owned();
    let first = GoldenQuery { expected: Vec::new(), query }.ask(project).first;
    let is_named = first.split('#').all(|part| readme.contains(&format!("`{part}`")));
    assert!(is_named, "the README names another result than {first}");
}

/// A list of queries; in a golden, each with the rank of its expected hit.
struct GoldenFile {
    name: &'static str,
    lines: Vec<GoldenLine>,
}

enum GoldenLine {
    /// Title, notes, headings.
    Prose(String),
    /// The minimum mean.
    Floor(String),
    /// The measured values: rewritten in each update.
    Measured,
    Question(GoldenQuery),
}

struct GoldenQuery {
    /// `path` or `path#symbol`; any of them is accepted.
    expected: Vec<String>,
    query: String,
}

/// The result of a query.
struct Ranked {
    rank: Option<usize>,
    /// The first hit.
    first: String,
}

/// Separates an expected hit from its query.
const ARROW: &str = "  ←  ";

impl GoldenFile {
    fn read(name: &'static str) -> Self {
        let text = fs::read_to_string(ranking_file(name)).expect("the queries can be read");
        let lines = text.lines().filter(|line| !line.starts_with("      ")).map(GoldenLine::parse).collect();
        Self { name, lines }
    }

    fn questions(&self) -> impl Iterator<Item = &GoldenQuery> {
        self.lines.iter().filter_map(|line| match line {
            GoldenLine::Question(question) => Some(question),
            _ => None,
        })
    }

    /// Runs all queries, some in parallel.
    fn ask(&self, project: &Project) -> Vec<Ranked> {
        let questions: Vec<&GoldenQuery> = self.questions().collect();
        assert!(questions.len() >= 30, "{} has only {} queries", self.name, questions.len());
        let share = questions.len().div_ceil(4);
        thread::scope(|scope| {
            let ask = |some: &[&GoldenQuery]| some.iter().map(|question| question.ask(project)).collect::<Vec<_>>();
            let parts: Vec<_> = questions.chunks(share).map(|some| scope.spawn(move || ask(some))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("a query is answered")).collect()
        })
    }

    /// Returns the text of the golden with these ranks.
    fn with_ranks(&self, ranked: &[Ranked]) -> String {
        let mut text = String::new();
        let mut ranked_in_order = ranked.iter();
        for line in &self.lines {
            match line {
                GoldenLine::Prose(prose) => writeln!(text, "{prose}"),
                GoldenLine::Floor(floor) => writeln!(text, "floor {floor}"),
                GoldenLine::Measured => writeln!(text, "MRR {:.3}", mean(ranked)),
                GoldenLine::Question(question) => {
                    let ranked = ranked_in_order.next().expect("each query was run");
                    let rank = ranked.rank.map_or("-".to_owned(), |rank| rank.to_string());
                    let line = format!("{rank:>2}  {}{ARROW}{}", question.expected.join(" or "), question.query);
                    match ranked.rank {
                        Some(1) => writeln!(text, "{line}"),
                        _ => writeln!(text, "{line}\n      first: {}", ranked.first),
                    }
                }
            }
            .expect("a string takes any text");
        }
        text
    }

    #[track_caller]
    fn check_floor(&self, ranked: &[Ranked]) {
        let floor = self.lines.iter().find_map(|line| match line {
            GoldenLine::Floor(floor) => floor.parse::<f64>().ok(),
            _ => None,
        });
        let floor = floor.unwrap_or_else(|| panic!("{} has no line `floor 0.…`", self.name));
        assert!(mean(ranked) >= floor, "MRR {:.3} is below {floor}:\n{}", mean(ranked), self.with_ranks(ranked));
    }
}

impl GoldenLine {
    fn parse(line: &str) -> Self {
        if let Some(floor) = line.strip_prefix("floor ") {
            return Self::Floor(floor.to_owned());
        }
        if line.starts_with("MRR ") {
            return Self::Measured;
        }
        let Some((expected, query)) = line.split_once(ARROW) else {
            return Self::Prose(line.to_owned());
        };
        // In a golden the rank comes first.
        let expected = expected.trim_start();
        let expected = expected.split_once("  ").map_or(expected, |(_, places)| places);
        Self::Question(GoldenQuery {
            expected: expected.split(" or ").map(|place| place.trim().to_owned()).collect(),
            query: query.to_owned(),
        })
    }
}

impl GoldenQuery {
    fn ask(&self, project: &Project) -> Ranked {
        let query = shell_words::quote(&self.query);
        let command = format!("search {query} --json --no-sync --detail location --limit {MAX_RANK}");
        let reply = project.run(&command);
        assert!(matches!(reply.code, Some(0 | 1)), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
        let results = answer["results"].as_array().expect("an answer has results");
        let is_meant = |result: &Value| self.expected.iter().any(|place| is_at(place, result));
        let first = results.first().map_or("nothing".to_owned(), |result| match result["name"].as_str() {
            Some(name) => format!("{}#{name}", result["path"].as_str().unwrap_or_default()),
            None => result["path"].as_str().unwrap_or_default().to_owned(),
        });
        let rank =
            results.iter().position(is_meant).map(|at| match self.expected.iter().any(|place| place.contains('#')) {
                true => at + 1,
                // Several results of one file count as one file to open.
                false => results[..=at].iter().map(|result| &result["path"]).collect::<HashSet<_>>().len(),
            });
        Ranked { rank, first }
    }
}

fn is_at(place: &str, result: &Value) -> bool {
    let (path, name) = place.split_once('#').map_or((place, None), |(path, name)| (path, Some(name)));
    result["path"] == path && name.is_none_or(|name| result["name"] == name)
}

/// Returns the mean reciprocal rank: 1 if every expected hit is first, 0.5 if every one is second.
fn mean(ranked: &[Ranked]) -> f64 {
    let sum: f64 = ranked.iter().filter_map(|ranked| ranked.rank).map(|rank| 1.0 / rank as f64).sum();
    sum / ranked.len() as f64
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the app lies in crates/app").to_owned()
}

/// Copies sources and docs, without these query files: each query would find its own text.
fn copy(root: &Path, folder: &Path, repository: &Repository) {
    const SKIPPED_FOLDERS: &[&str] = &["target", "fixtures", "ranking", "corpus", "artifacts"];
    for entry in fs::read_dir(root.join(folder)).expect("the project can be listed").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && !SKIPPED_FOLDERS.contains(&name.as_str()) {
            copy(root, &path, repository);
        } else if !is_folder && [".rs", ".md", ".toml", ".case"].iter().any(|end| name.ends_with(end)) {
            let text = fs::read_to_string(root.join(&path)).expect("a source is text");
            repository.write(path.to_str().expect("our paths are UTF-8"), &text);
        }
    }
}

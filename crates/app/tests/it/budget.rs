//! The law of budgets: `get_code_context` never exceeds its budget, by the contract's formula and by our own estimate,
//! and no omitted item would have fitted.

use crate::support;

use codecompass_query::tokens::{Budget, Cost};
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient};

/// Random numbers, the same in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

const WORDS: &[&str] = &["token", "validate", "session", "route", "cache", "parse", "render", "user", "limit", "queue"];

/// A few dozen files with symbols that have bodies of all lengths.
fn project() -> Project {
    let mut chance = Rng(3);
    let mut files: Vec<(String, String)> = Vec::new();
    for number in 0..24 {
        let (one, other) = (WORDS[number % 10], WORDS[(number * 7 + 3) % 10]);
        let mut text = format!("class {one}_{other}_{number}:\n    \"\"\"The {one} of a {other}.\"\"\"\n");
        for method in 0..1 + chance.below(6) {
            let word = WORDS[chance.below(10) as usize];
            text += &format!("\n    def {word}_{method}(self, {other}, value_{number}=\"a b c\"):\n");
            for line in 0..1 + chance.below(12) {
                text += &format!("        {word}_{line} = self.{one}({other}, {line} * {number}, \"{one} {word}\")\n");
            }
        }
        text += &format!("\n\ndef {one}(value):\n    return value.{other} + {number}\n");
        files.push((format!("app/{one}/{other}_{number}.py"), text));
    }
    files.push(("README.md".into(), "# Tokens\n\nHow a token is validated and cached.\n".repeat(12)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = Project::with_files(&files);
    project.run_ok("index");
    project
}

fn items(answer: &Value) -> Vec<Value> {
    answer["context_items"].as_array().cloned().unwrap_or_default()
}

/// Returns the key of an item, complete or not.
fn key(item: &Value) -> String {
    format!("{} {} {}", item["path"], item["line_start"], item["qualified_name"])
}

fn is_inside(item: &Value, other: &Value) -> bool {
    let line = |item: &Value, name: &str| item[name].as_u64().unwrap_or_default();
    item["path"] == other["path"]
        && line(item, "line_start") >= line(other, "line_start")
        && line(item, "line_end") <= line(other, "line_end")
        && key(item) != key(other)
}

#[test]
fn budgets_are_respected_and_used_fully() {
    let project = project();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let mut chance = Rng(11);
    let mut cut = 0;
    for round in 0..300 {
        let words: Vec<&str> = (0..=chance.below(3)).map(|_| WORDS[chance.below(10) as usize]).collect();
        let query = words.join(" ");
        let strategy = if chance.below(2) == 0 { "breadth" } else { "depth" };
        let most = if round % 3 == 0 { 20_000 } else { 1500 };
        let max_tokens = 1 + chance.below(most);
        let ask =
            |max_tokens: u64, strategy: &str| json!({ "query": query, "strategy": strategy, "max_tokens": max_tokens });
        let answer = client.call("get_code_context", ask(max_tokens, strategy));
        let given = items(&answer);
        let mut budget = Budget::new(max_tokens, 63_488);
        for item in &given {
            assert!(budget.take(&item.to_string()), "{query} {strategy} {max_tokens}: {item} exceeds the budget");
        }
        let formula = |item: &Value| (item.to_string().split_whitespace().count() as f64 * 1.3).ceil() as u64;
        let about = &answer["metadata"];
        assert_eq!(answer["estimated_tokens"], json!(given.iter().map(formula).sum::<u64>()));
        assert_eq!(about["token_upper_estimate"], json!(budget.spent.tokens()));
        assert!(budget.spent.tokens() <= max_tokens && budget.spent.formula <= max_tokens);
        let total = about["total_candidates"].as_u64().expect("a number");
        let left = about["remaining_candidates"].as_u64().unwrap_or(0);
        assert_eq!(total, given.len() as u64 + left, "{about}");
        assert_eq!(about["returned"], json!(given.len()));
        assert_eq!((answer["truncated"] == true, about["result_completeness"] == "partial"), (left > 0, left > 0));
        assert_eq!(about["suggestion"].is_string(), left > 0 || given.is_empty());
        cut += u64::from(left > 0);
        // A signature is the smallest form of a candidate.
        let all = items(&client.call("get_code_context", ask(1_000_000, "breadth")));
        let whole: Vec<&Value> = given.iter().filter(|item| item["body"].is_string()).collect();
        for candidate in all.iter().filter(|candidate| !given.iter().any(|item| key(item) == key(candidate))) {
            let is_there = whole.iter().any(|item| is_inside(candidate, item));
            let is_enough = budget.allows(Cost::measure(&candidate.to_string()));
            assert!(is_there || !is_enough, "{query} {strategy} {max_tokens}: {candidate} would have fitted");
        }
        let mut keys: Vec<String> = given.iter().map(key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), given.len(), "no item is repeated");
        assert!(
            !given.iter().any(|item| whole.iter().any(|other| is_inside(item, other))),
            "no item is inside another one"
        );
    }
    assert!(cut > 100, "{cut} answers were truncated");
}

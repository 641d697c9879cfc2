//! The law of texts: every location in an answer's JSON is in its text, or counted in the line that reports omissions
//! there.
//!
//! The JSON is requested without limits, the text with an agent's defaults, so that the two can be compared location by
//! location: for each location that a text does not show, one of its lines must count items of that kind, and the
//! numbers must be equal.

use crate::support;

use std::collections::BTreeSet;

use codecompass_lang::is_test_path;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient};

/// A location in the JSON.
#[derive(Clone, Debug)]
struct Location {
    path: String,
    start: u64,
    end: u64,
    /// Any of its lines may represent it: for a chunk of text, or for a caller, which is shown by the line of the call.
    is_loose: bool,
}

/// An item of a list, with its locations: that of a call has two.
#[derive(Clone, Debug, Default)]
struct Item {
    places: Vec<Location>,
    name: String,
    kind: String,
    is_test: bool,
}

/// Returns every item of an answer that has a location; the answer itself is an item, too.
fn items(value: &Value, path: Option<&str>, is_loose: bool) -> Vec<Item> {
    let mut own = Item::default();
    let mut inner = Vec::new();
    gather(value, path, is_loose, &mut own, &mut inner);
    if !own.places.is_empty() {
        inner.insert(0, own);
    }
    inner
}

fn gather(value: &Value, path: Option<&str>, is_loose: bool, item: &mut Item, inner: &mut Vec<Item>) {
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Array(list) => return list.iter().for_each(|one| inner.extend(items(one, path, is_loose))),
        _ => return,
    };
    let word = |key: &str| fields.get(key).and_then(Value::as_str);
    let own = word("path").or(word("file_path")).or(word("file")).or(path);
    let line = |key: &str| fields.get(key).and_then(Value::as_u64);
    let within = |key: &str| fields.get("lines").and_then(|lines| lines[key].as_u64());
    if let (Some(path), Some(start)) = (own, line("line_start").or(line("line")).or(within("start"))) {
        let end = line("line_end").or(within("end")).unwrap_or(start);
        if item.places.is_empty() {
            item.name = word("name").or(word("symbol")).unwrap_or_default().to_owned();
            item.kind = word("kind").unwrap_or_default().to_owned();
        }
        item.is_test |= is_test_path(path);
        item.places.push(Location { path: path.to_owned(), start, end, is_loose });
    }
    for (key, value) in fields {
        match key.as_str() {
            // Suggestions are not locations, and for changes the newer side is shown.
            "metadata" | "suggestions" | "suggested_next_actions" | "file_changes" | "before" | "after" => {}
            "results" | "context_items" => gather(value, own, true, item, inner),
            "callers" => {
                for edge in value.as_array().into_iter().flatten() {
                    let mut call = Item::default();
                    gather(&edge["symbol"], None, true, &mut call, inner);
                    gather(&edge["call_site"], None, false, &mut call, inner);
                    inner.push(call);
                }
            }
            _ => gather(value, own, is_loose, item, inner),
        }
    }
}

/// The content of a text: lines by path, and counts of the items it does not show.
#[derive(Debug, Default)]
struct ParsedText {
    shown: BTreeSet<(String, u64, u64)>,
    imports: u64,
    tests: u64,
    /// Shown in the row of a type, by name; further ones as a number.
    names: BTreeSet<String>,
    more_names: u64,
    /// Shown with the items that contain them.
    parts: u64,
    cut: u64,
    /// There are more, and their number is unknown.
    is_open: bool,
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(|char: char| !char.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// Parses the lines of `12`, `12-20`, `3,7,9`.
fn ranges(word: &str) -> Option<Vec<(u64, u64)>> {
    let range = |part: &str| match part.split_once('-') {
        Some((start, end)) => Some((start.parse().ok()?, end.parse().ok()?)),
        None => part.parse().ok().map(|line| (line, line)),
    };
    word.split(',').map(range).collect()
}

impl ParsedText {
    fn read(text: &str, paths: &BTreeSet<String>, is_outline: bool) -> Self {
        let mut read = Self::default();
        let mut heading = String::new();
        for row in text.lines() {
            read.add_counts(row);
            if is_outline {
                read.add_names(row);
            }
            let words: Vec<&str> = row.split([' ', '(', ')']).map(|word| word.trim_end_matches([',', ':'])).collect();
            let first = words.iter().find(|word| !word.is_empty()).unwrap_or(&"");
            let mut add = |path: &str, word: &str| {
                for (start, end) in ranges(word.trim_end_matches('?')).unwrap_or_default() {
                    read.shown.insert((path.to_owned(), start, end));
                }
            };
            // The number at the start of a row is a line of the file above it, whatever else the row names.
            add(&heading, first.trim_start_matches(['+', '-', '~']));
            let mut path = heading.clone();
            for word in &words {
                if paths.contains(*word) {
                    path = (*word).to_owned();
                }
                let Some((before, after)) = word.rsplit_once(':') else { continue };
                if paths.contains(before) {
                    path = before.to_owned();
                }
                add(&path, after);
            }
            if !row.starts_with(' ') {
                heading = path;
            }
        }
        read
    }

    /// Adds the counts in a row of items that are not shown.
    fn add_counts(&mut self, row: &str) {
        let counts = numbers(row);
        if row.starts_with('…') && row.contains("and more") {
            self.is_open = true;
        } else if row.starts_with('…') {
            self.cut += match row.contains(" of ") {
                true => counts[1].saturating_sub(counts[0]),
                false => counts[0],
            };
        } else if row.starts_with("tests: ") && row.contains(" in ") {
            self.tests += counts[0];
        } else if let Some((_, imports)) = row.split_once(", ").filter(|(_, rest)| rest.contains(" import")) {
            self.imports += numbers(imports)[0];
        }
        if let Some((_, parts)) = row.rsplit_once(" with ").filter(|(_, rest)| rest.contains(" part")) {
            self.parts += numbers(parts)[0];
        }
    }

    /// Adds the names that an outline shows in the row of a type or of several values.
    fn add_names(&mut self, row: &str) {
        if let Some((_, folded)) = row.rsplit_once('{').filter(|_| row.ends_with('}')) {
            let (names, more) = folded.split_once('…').unwrap_or((folded, ""));
            self.names.extend(names.split([',', '}']).map(|name| name.trim().to_owned()));
            self.more_names += numbers(more).first().copied().unwrap_or(0);
        }
    }

    fn shows(&self, place: &Location) -> bool {
        self.shown.iter().any(|(path, start, end)| {
            let is_there = match place.is_loose {
                true => *start <= place.end && place.start <= *end,
                false => *start == place.start,
            };
            *path == place.path && is_there
        })
    }

    /// Subtracts every item that is not shown from the count of its kind. Returns the mismatches.
    fn match_counts(&mut self, missing: &[&Item], is_exact: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for item in missing {
            let number = match item {
                item if item.kind == "use" => &mut self.imports,
                item if self.names.contains(&item.name) => continue,
                item if item.is_test && self.tests > 0 => &mut self.tests,
                _ if self.more_names > 0 => &mut self.more_names,
                _ if self.parts > 0 => &mut self.parts,
                _ if self.is_open => continue,
                _ => &mut self.cut,
            };
            match number.checked_sub(1) {
                Some(left) => *number = left,
                None => wrong.push(format!("{item:?} is neither shown nor counted")),
            }
        }
        let cut = if is_exact { self.cut } else { 0 };
        let left =
            [("imports", self.imports), ("tests", self.tests), ("names", self.more_names), ("parts", self.parts)];
        for (what, left) in left.into_iter().chain([("cut", cut)]).filter(|(_, left)| *left > 0) {
            wrong.push(format!("{left} of {what} are counted too many"));
        }
        wrong
    }
}

fn pipe(project: &Project, args: &[&str]) -> StdioClient {
    StdioClient::open(project.repository.root(), project.home.path(), args)
}

/// The service with edits, so that there is something to compare.
fn edited() -> Project {
    let project = Project::service();
    let repository = &project.repository;
    repository.write("server/src/fresh.rs", "pub fn fresh_one() -> u8 {\n    validate_token()\n}\n");
    let jwt = repository.path("server/src/auth/jwt.rs");
    let text = std::fs::read_to_string(jwt).expect("it exists");
    repository.write("server/src/auth/jwt.rs", text.replace("key: &[u8])", "key: &[u8], strict: bool)"));
    repository.write("cli/cmd/push.go", "package cmd\n");
    repository.write("server/tests/auth.rs", "#[test]\nfn another() {}\n\n#[test]\nfn third() {}\n");
    project.run_ok("sync");
    project
}

/// Returns typical queries of agents, by tool.
fn questions(project: &Project) -> Vec<(&'static str, Value)> {
    let mut questions = vec![
        ("search_code", json!({ "query": "where is rate limiting implemented" })),
        ("search_code", json!({ "query": "validate_token" })),
        ("search_code", json!({ "query": "Config", "limit": 30 })),
        ("locate_symbol", json!({ "name": "Config" })),
        ("grep_code", json!({ "pattern": "token", "ignore_case": true })),
        ("grep_code", json!({ "pattern": "fn ", "context": 1, "limit": 20 })),
        ("read_code", json!({ "what": ["Config", "validate_token", "server/src/auth/jwt.rs:1-4", "nobody_at_all"] })),
        ("diff_context", json!({ "base_ref": "HEAD", "head_ref": "@worktree" })),
        ("diff_context", json!({ "base_ref": "HEAD", "head_ref": "@worktree", "limit": 4 })),
        ("diff_context", json!({ "base_ref": "HEAD", "head_ref": "@worktree", "tests": "include" })),
        ("get_code_context", json!({ "query": "how are uploads stored", "max_tokens": 6000 })),
        ("get_code_context", json!({ "query": "", "symbols": ["Config", "validate_token"], "max_tokens": 6000 })),
        ("find_related_symbols", json!({ "symbol_name": "validate_token" })),
        ("get_symbol_hierarchy", json!({ "symbol_name": "dispatch" })),
    ];
    for name in ["validate_token", "Config", "check", "put", "ApiError", "retryDelay"] {
        questions.push(("find_references", json!({ "symbol_name": name })));
        questions.push(("find_references", json!({ "symbol_name": name, "limit": 2 })));
        questions.push(("get_call_graph", json!({ "symbol_name": name, "depth": 2 })));
        questions.push(("get_call_graph", json!({ "symbol_name": name, "depth": 3, "limit": 2 })));
    }
    let listed = project.repository.git(&["ls-files"]);
    let ends = [".rs", ".py", ".go", ".ts", ".tsx"];
    let files = listed.lines().filter(|path| ends.iter().any(|end| path.ends_with(end)));
    questions.extend(files.map(|path| ("get_file_outline", json!({ "path": path }))));
    questions
}

/// Returns the same query without a limit, if the tool has one.
fn without_limits(tool: &str, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    if ["find_references", "get_call_graph", "grep_code", "diff_context"].contains(&tool) {
        arguments["limit"] = json!(200);
    }
    arguments
}

#[test]
fn every_json_location_is_in_the_text_or_counted() {
    let project = edited();
    check_all(&project, &questions(&project));
}

#[test]
fn text_is_complete_for_interfaces_tests_and_homonyms() {
    let calls: String = (0..9).map(|at| format!("func use{at}(s Store) {{ s.Put() }}\n")).collect();
    let direct: String = (0..9).map(|at| format!("func own{at}(d Disk) {{ d.Put() }}\n")).collect();
    let store = format!(
        "package a\n\ntype Store interface {{\n\tPut()\n}}\n\ntype Disk struct {{\n\tone int\n\ttwo int\n\t\
         three int\n\tfour int\n\tfive int\n\tsix int\n}}\n\n\
         func (d Disk) Put() {{}}\n\ntype Tape struct{{}}\n\nfunc (t Tape) Put() {{}}\n\n{calls}{direct}"
    );
    let tests: String = (0..14).map(|at| format!("func TestPut{at}(t *T) {{ Disk{{}}.Put() }}\n")).collect();
    let tests = format!("package a\n\n{tests}");
    let files = [("go.mod", "module a\n"), ("a.go", store.as_str()), ("a_test.go", &tests), ("b.go", "package a\n")];
    let project = Project::indexed(&files);
    let mut questions = vec![("get_file_outline", json!({ "path": "a.go" }))];
    for name in ["a.go:16", "a.go:4", "Disk", "Put"] {
        questions.push(("find_references", json!({ "symbol_name": name })));
        questions.push(("find_references", json!({ "symbol_name": name, "limit": 12 })));
        questions.push(("get_call_graph", json!({ "symbol_name": name, "depth": 2 })));
        questions.push(("get_call_graph", json!({ "symbol_name": name, "limit": 12, "direction": "callers" })));
    }
    check_all(&project, &questions);
}

/// Compares the text of every query with its JSON.
fn check_all(project: &Project, questions: &[(&str, Value)]) {
    let mut machine = pipe(project, &[]);
    let mut agent = pipe(project, &["--answers", "text", "--tools", "all"]);
    let listed = project.repository.git(&["ls-files", "--cached", "--others"]);
    let paths: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let mut wrong = Vec::new();
    let mut counted = 0;
    for (tool, arguments) in questions {
        let json = machine.call(tool, without_limits(tool, arguments));
        let response = agent.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = response["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        assert_ne!(response["result"]["isError"], json!(true), "{tool} {arguments}: {text}");
        // Two uses on one line are one location.
        let mut wanted = items(&json, None, false);
        let key = |item: &Item| format!("{:?} {} {}", item.places, item.name, item.kind);
        wanted.dedup_by(|one, before| key(one) == key(before));
        let mut read = ParsedText::read(&text, &paths, *tool == "get_file_outline");
        let is_shown = |item: &&Item| item.places.iter().all(|place| read.shows(place));
        let missing: Vec<&Item> = wanted.iter().filter(|item| !is_shown(item)).collect();
        counted += missing.len();
        // A search counts chunks, several of which may be one location, and the budgets of the two formats differ.
        let is_exact = !["search_code", "locate_symbol", "get_code_context"].contains(tool);
        let found = read.match_counts(&missing, is_exact);
        if !found.is_empty() {
            wrong.push(format!("{tool} {arguments}:\n{}\nin\n{text}", found.join("\n")));
        }
    }
    assert!(counted > 20, "only {counted} items were counted");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

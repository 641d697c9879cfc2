//! Properties of every answer to a query, independent of the weights: sums, pages, handles, shapes, and that no query
//! is a syntax error.

use crate::support;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use codecompass_testkit::{Size, random_repository, shell_words::quote};
use serde_json::Value;
use support::Project;

/// One query of each kind, and some mixed ones.
const QUERIES: &[&str] = &[
    "validate_token",
    "Config",
    "RateLimiter::check",
    "where is rate limiting implemented",
    "how are expired uploads deleted",
    "server/src/auth/jwt.rs",
    "cli/cmd/push.go:13",
    "\"connection reset by storage backend\"",
    "error: cannot make a thumbnail",
    "upload",
];

#[test]
fn explanation_parts_add_up() {
    let project = Project::service();
    for query in QUERIES {
        let results = results(&project.json(&format!("search {} --limit 12", quote(query))));
        for (at, result) in results.iter().enumerate() {
            let place = format!("{}:{}", text(result, "path"), result["line_start"]);
            let told = project.json(&format!("explain {} {} --no-sync", quote(query), quote(&place)));
            let about = format!("{query:?} at {place}: {told:#}");
            let scoring = told["scoring"].as_object().expect("an explanation has a scoring");
            let parts = scoring.iter().filter(|(key, _)| *key != "total");
            let sum: f64 = parts.map(|(_, part)| part.as_f64().expect("a part is a number")).sum();
            assert!((sum - number(&told["scoring"], "total")).abs() < 1e-9, "{about}");
            check_ranges(&told["scoring"], &about);
            // A hit is identified by path and line, so the best of several on one line is explained.
            let same = |other: &&Value| other["path"] == result["path"] && other["line_start"] == result["line_start"];
            let (first, meant) = (results.iter().position(|other| same(&other)), results.iter().find(same));
            let meant = meant.expect("the hit is in the list");
            assert_eq!(
                (&told["result"]["score"], &told["result"]["result_id"]),
                (&meant["score"], &meant["result_id"])
            );
            assert_eq!(told["rank"], first.unwrap_or(at) + 1, "{about}");
        }
    }
}

/// Checks the ranges of the contract. `bm25` and `total` have no upper bound.
fn check_ranges(scoring: &Value, about: &str) {
    const RANGES: &[(&str, f64)] = &[
        ("bm25", f64::INFINITY),
        ("exact_match", 0.2),
        ("qualified_name", 0.1),
        ("path_affinity", 0.1),
        ("definition_boost", 0.15),
        ("kind_match", 0.05),
    ];
    for (key, most) in RANGES {
        assert!((0.0..=*most).contains(&number(scoring, key)), "{key} is out of its range in {about}");
    }
}

#[test]
fn reasons_have_requested_fields() {
    const BASIC: &[&str] = &["definition_boost", "exact_match_boost", "final_score", "result_index"];
    const FULL: &[&str] = &["bm25_score", "kind_match", "path_affinity", "qualified_name_boost"];
    let project = Project::service();
    let locates = ["Config", "Client.Login", "put"].map(|name| format!("locate {name}"));
    let searches = QUERIES.iter().map(|query| format!("search {}", quote(query)));
    for command in searches.chain(locates) {
        assert_eq!(project.json(&command)["metadata"].get("ranking_reasons"), None, "{command}");
        let plain = results(&project.json(&command));
        for level in ["basic", "full"] {
            let answer = project.json(&format!("{command} --explain={level}"));
            assert_eq!(results(&answer), plain, "{command}: reasons do not change the results");
            let reasons = answer["metadata"]["ranking_reasons"].as_array().expect("there are reasons");
            assert_eq!(reasons.len(), plain.len(), "{command}");
            for (at, (reason, result)) in reasons.iter().zip(&plain).enumerate() {
                let fields: BTreeSet<&str> = reason.as_object().expect("fields").keys().map(String::as_str).collect();
                match level {
                    "basic" => assert_eq!(fields, BASIC.iter().copied().collect(), "{command}"),
                    _ => assert!(BASIC.iter().chain(FULL).all(|field| fields.contains(field)), "{command}: {reason}"),
                }
                let factors = fields.iter().filter(|field| !["result_index", "bm25_score"].contains(field));
                for field in factors {
                    assert!((0.0..=1.0).contains(&number(reason, field)), "{command}: {field} in {reason}");
                }
                assert_eq!((&reason["result_index"], &reason["final_score"]), (&Value::from(at), &result["score"]));
            }
        }
    }
}

#[test]
fn next_actions_are_valid_calls() {
    let project = Project::service();
    for query in QUERIES.iter().chain(&["validat_token", "how is teh sesion evicted", "zzzz qqqq"]) {
        let reply = project.run(&format!("search {} --json", quote(query)));
        let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
        let actions = answer["suggested_next_actions"].as_array().expect("there is a list of actions");
        assert!(actions.len() <= 3, "{query:?}: {actions:?}");
        let distinct: HashSet<String> = actions.iter().map(Value::to_string).collect();
        assert_eq!(distinct.len(), actions.len(), "{query:?}: {actions:?}");
        for action in actions {
            let command = command_of(action);
            let reply = project.run(&command);
            assert!(matches!(reply.code, Some(0 | 1)), "{query:?}: `{command}` said {}", reply.stderr);
            serde_json::from_str::<Value>(&reply.stdout).expect("an answer is JSON");
            assert!(action["tool"] != "locate_symbol" || reply.code == Some(0), "{query:?}: {action} finds nothing");
        }
    }
}

/// Returns the command line of a tool call.
fn command_of(action: &Value) -> String {
    let fields = action.as_object().expect("an action is an object");
    let (tool, subject) = match text(action, "tool") {
        "locate_symbol" => ("locate", "name"),
        "search_code" => ("search", "query"),
        tool => panic!("no command is known for {tool}"),
    };
    let mut command = format!("{tool} {} --json", quote(text(action, subject)));
    for (field, value) in fields.iter().filter(|(field, _)| !["tool", subject].contains(&field.as_str())) {
        command += &format!(" --{field} {}", quote(&value.as_str().map_or(value.to_string(), str::to_owned)));
    }
    command
}

#[test]
fn pages_cover_the_list_once() {
    let project = Project::service();
    let locates = ["new", "put", "upload", "JobQueue"].map(|name| format!("locate {name}"));
    let searches = QUERIES.iter().map(|query| format!("search {} --detail location", quote(query)));
    for command in searches.chain(locates) {
        let whole = results(&project.json(&format!("{command} --all")));
        let ids: HashSet<String> = whole.iter().map(identity).collect();
        assert_eq!(ids.len(), whole.len(), "{command}: a hit is listed twice");
        for limit in [3, 7] {
            let mut pages = Vec::new();
            let mut cursor = String::new();
            loop {
                let page = project.json(&format!("{command} --limit {limit} {cursor}"));
                let found = results(&page);
                assert!(!found.is_empty() && found.len() <= limit, "{command}: a page of {}", found.len());
                pages.extend(found);
                let Some(next) = page["metadata"]["next_cursor"].as_str() else { break };
                assert_eq!(page["metadata"]["result_completeness"], "truncated", "{command}");
                cursor = format!("--cursor {next}");
            }
            assert_eq!(pages, whole, "{command} by pages of {limit}");
        }
    }
}

#[test]
fn grep_pages_cover_all_lines() {
    let project = Project::service();
    let answer = project.json("grep upload --limit 100");
    let whole = results(&answer);
    assert_eq!((&answer["total_matches"], answer["metadata"].get("next_cursor")), (&Value::from(whole.len()), None));
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = project.json(&format!("grep upload --limit 3 {cursor}"));
        pages.extend(results(&page));
        let Some(next) = page["metadata"]["next_cursor"].as_str() else {
            assert_eq!(page["total_matches"], answer["total_matches"]);
            assert_eq!(page["files_matched"], answer["files_matched"]);
            break;
        };
        assert_eq!(page["metadata"]["result_completeness"], "truncated");
        assert_eq!(page.get("total_matches"), None);
        cursor = format!("--cursor {next}");
    }
    assert!(whole.len() > 3, "there is more than one page");
    assert_eq!(pages, whole);
}

#[test]
fn graph_pages_cover_the_graph() {
    let project = Project::service();
    let asked = [
        ("references ApiError", &["references"][..]),
        ("related ApiError --scope package", &["related"]),
        ("callers retryDelay --depth 3", &["callers"]),
        ("callees dispatch --depth 5", &["callees"]),
    ];
    for (command, lists) in asked {
        let list = |answer: &Value| -> Vec<Value> {
            lists.iter().flat_map(|list| answer[list].as_array().expect("a list").clone()).collect()
        };
        let answer = project.json(&format!("{command} --all"));
        let whole = list(&answer);
        assert!(whole.len() > 2, "{command} has more than one page: {answer:#}");
        assert_eq!(answer["metadata"].get("next_cursor"), None, "{command}");
        let mut pages = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = project.json(&format!("{command} --limit 2 {cursor}"));
            pages.extend(list(&page));
            let Some(next) = page["metadata"]["next_cursor"].as_str() else { break };
            assert_eq!(page["metadata"]["result_completeness"], "truncated", "{command}");
            cursor = format!("--cursor {next}");
        }
        assert_eq!(pages, whole, "{command}");
    }
}

#[test]
fn quoted_queries_match_exactly_or_say_so() {
    let project = Project::service();
    let text = "connection reset by storage backend";
    let answer = project.json(&format!("search {} --detail context", quote(&format!("\"{text}\""))));
    let literal = project.json(&format!("grep -F {}", quote(text)));
    let files = |answer: &Value| -> BTreeSet<String> {
        results(answer).iter().map(|result| self::text(result, "path").to_owned()).collect()
    };
    assert!(!results(&answer).is_empty() && files(&answer).is_subset(&files(&literal)), "{answer:#}");
    assert_eq!(answer["query_intent"], "error");
    let nowhere = project.json("search '\"storage of the moon backend\"'");
    let warned = nowhere["metadata"]["warnings"].to_string().contains("no exact match");
    assert!(warned && !results(&nowhere).is_empty(), "{nowhere:#}");
}

#[test]
fn lines_and_symbols_can_be_read() {
    let project = Project::service();
    let path = "server/src/router.rs";
    let source = fs::read_to_string(project.repository.path(path)).expect("it exists");
    let lines: Vec<&str> = source.lines().collect();
    let body = |place: &str| {
        let answer = project.json(&format!("context --symbol {path}:{place} --max-tokens 4000"));
        answer["context_items"][0]["body"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
    };
    assert_eq!(body("12-16"), lines[11..16].join("\n"));
    let dispatch = body("20");
    assert!(dispatch.starts_with("    pub fn dispatch("), "{dispatch}");
    let answer = project.json(&format!("context --symbol {path}:20 --max-tokens 4000"));
    let item = &answer["context_items"][0];
    assert!(item["above"].as_str().is_some_and(|above| above.starts_with("    /// Finds the handler")), "{item}");
    let start = item["line_start"].as_u64().expect("a line") as usize;
    assert_eq!(dispatch.lines().next(), lines.get(start - 1).copied(), "a body starts at its reported line");
    let answer = project.json(&format!("context --symbol {path}:12-16 --max-tokens 4000"));
    assert_ne!(answer["context_items"][0]["kind"], "module", "lines of a symbol are labelled with it: {answer:#}");
    let answer = project.json(&format!("context --symbol {path}:20 --max-tokens 170"));
    assert_eq!(answer["truncated"], true, "a truncated body is reported: {answer:#}");
    let answer = project.json_expecting(&format!("context --symbol {path}:9999"), 1);
    assert!(answer["metadata"]["warnings"].to_string().contains("9999"), "{answer:#}");
}

/// Returns the handle of a result; that of a definition is the symbol's.
fn identity(result: &Value) -> String {
    let id = result.get("result_id").or(result.get("symbol_id"));
    id.and_then(Value::as_str).expect("a result has a handle").to_owned()
}

#[test]
fn path_queries_find_file_and_line_symbol() {
    let project = Project::service();
    let first = |query: &str| results(&project.json(&format!("search {query} --limit 1"))).remove(0);
    let table = [
        ("server/src/auth/jwt.rs", "file", "server/src/auth/jwt.rs"),
        ("./server/src/auth/jwt.rs", "file", "server/src/auth/jwt.rs"),
        ("jwt.rs", "file", "server/src/auth/jwt.rs"),
        ("default.toml", "file", "config/default.toml"),
        ("cli/cmd/push.go:13", "symbol", "cli/cmd/push.go"),
    ];
    for (query, what, path) in table {
        let result = first(query);
        assert_eq!((text(&result, "result_type"), text(&result, "path")), (what, path), "{query}");
    }
}

#[test]
fn no_query_is_a_syntax_error() {
    let long_text = "where is the token checked, and by whom? ".repeat(250);
    let long_word = "a".repeat(5000);
    let table = [
        "auth::jwt::x",
        "error: x",
        "where's it",
        "\"",
        "'",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "?",
        "+",
        "^",
        "~1",
        "!",
        "\\",
        "/",
        ".",
        "..",
        ":",
        "::",
        "-",
        "--",
        "-x",
        "AND OR NOT",
        "AND",
        "a AND",
        "a:b:c",
        "path:\"x",
        "title:*",
        "[a TO b]",
        "a^2",
        "a~",
        "+a -b",
        "\"a b\"~3",
        "*:*",
        "🦀",
        "é",
        "日本語",
        "\u{1}\u{2}\u{7f}",
        "a\u{1b}[31mb",
        "a\nb\tc",
        "\u{202e}txt",
        "the of and",
        "is it",
        "…",
        "%s",
        "$HOME",
        "`x`",
        "<T>",
        "Vec<Option<T>>",
        "a,b;c",
        "0",
        "0x1F",
        "-1",
        "1e9",
        &long_text,
        &long_word,
    ];
    let project = Project::service();
    for query in table {
        for mode in ["auto", "literal"] {
            let command = format!("search --mode {mode} --json --limit 3 -- {}", quote(query));
            let reply = project.run(&command);
            let shown: String = query.chars().take(60).collect();
            assert!(matches!(reply.code, Some(0 | 1)), "{mode} {shown:?}: {:?} {}", reply.code, reply.stderr);
            let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
            assert_eq!(results(&answer).is_empty(), reply.code == Some(1), "{mode} {shown:?}: {answer}");
            assert_eq!(reply.stderr, "", "{mode} {shown:?}");
        }
    }
}

#[test]
fn answers_are_deterministic() {
    let project = Project::service();
    let command = "search 'where are uploads stored' --json --explain=full --detail context";
    let first = project.run_ok(command);
    let again = |times: usize| {
        let ask = || (0..times).for_each(|_| assert_eq!(project.run_ok(command), first));
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(ask))));
    };
    again(25);
    project.repository.branch("other");
    project.repository.write("uploads/stored.rs", "/// Where uploads are stored.\npub fn uploads_are_stored() {}\n");
    project.repository.commit("more about uploads");
    project.repository.checkout("main");
    project.run_ok("index --ref other");
    assert_ne!(project.run_ok(&format!("{command} --ref other")), first);
    again(2);
}

#[test]
fn names_are_located_at_definitions() {
    let sample = random_repository(11, Size::default());
    let names = sample.names.clone();
    let project = Project::new(sample.repository);
    project.run_ok("index");
    let mut missing = 0;
    for name in &names {
        missing += usize::from(!is_located(&project, name));
    }
    assert!(missing < names.len() / 2, "{missing} of {} names are on other branches only", names.len());

    let files: Vec<(String, String)> = ["model", "query", "store"].iter().flat_map(|name| sources(name)).collect();
    let project = Project::indexed(&files.iter().map(|(path, text)| (&**path, &**text)).collect::<Vec<_>>());
    let names: BTreeSet<&str> = files.iter().flat_map(|(_, text)| text.lines().filter_map(defined_name)).collect();
    assert!(names.len() > 100, "only {} names were found", names.len());
    for name in names {
        assert!(is_located(&project, name), "{name} is not found");
    }
}

/// Whether the name is found; if so, checks that the result is a definition with exactly that name.
fn is_located(project: &Project, name: &str) -> bool {
    let reply = project.run(&format!("locate {name} --json --no-sync"));
    let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
    let found = results(&answer);
    let Some(first) = found.first() else { return false };
    assert_eq!(first["name"], name, "{answer:#}");
    assert!(!["use", "impl"].contains(&text(first, "kind")), "{answer:#}");
    true
}

/// Returns the public name that a line of Rust defines.
fn defined_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").map_or(rest, |_| &rest["const ".len()..]);
    let (keyword, rest) = rest.split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    ["fn", "struct", "enum", "trait", "type", "const", "mod"].contains(&keyword).then_some(name)
}

/// Returns the Rust files of one of our crates, except those with macros: names that a macro defines are not extracted
/// as definitions.
fn sources(name: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name).join("src");
    let read = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).expect("our names are UTF-8");
        (format!("{name}/src/{file}"), fs::read_to_string(path).expect("a source can be read"))
    };
    let files = support::files_ending(&folder, "rs");
    files.iter().map(read).filter(|(_, text)| !text.contains("macro_rules!")).collect()
}

#[test]
fn compact_context_keeps_handles() {
    const HANDLES: &[&str] = &["path", "line_start", "line_end", "score"];
    const LONG: &[&str] = &["body_preview", "snippet", "related_symbols", "parent", "signature", "visibility"];
    let project = Project::service();
    let locates = ["status_code", "JobQueue", "UploadForm", "Config", "delete"].map(|name| format!("locate {name}"));
    let searches = QUERIES.iter().map(|query| format!("search {}", quote(query)));
    let mut previews = 0;
    for command in searches.chain(locates) {
        let context = results(&project.json(&format!("{command} --detail context --all")));
        let compact = results(&project.json(&format!("{command} --detail context --compact --all")));
        assert_eq!(context.len(), compact.len(), "{command}");
        for (full, short) in context.iter().zip(&compact) {
            if let Some(preview) = full["body_preview"].as_str() {
                previews += 1;
                assert!(preview.lines().count() <= 12, "{command}: {preview}");
            }
            assert!(full["related_symbols"].as_array().is_none_or(|all| (1..=5).contains(&all.len())), "{full}");
            assert!(HANDLES.iter().all(|field| short.get(field).is_some()), "{command}: {short}");
            let mut expected = full.clone();
            expected.as_object_mut().expect("a result is an object").retain(|key, _| !LONG.contains(&key.as_str()));
            assert_eq!(*short, expected, "{command}: compact omits the long fields, and nothing else");
            let fields = full.as_object().expect("a result is an object");
            assert!(fields.values().all(|value| !value.is_null()), "unknown fields are absent: {full}");
        }
    }
    assert!(previews > 20, "only {previews} previews were seen");
}

fn results(answer: &Value) -> Vec<Value> {
    answer["results"].as_array().unwrap_or_else(|| panic!("no results in {answer:#}")).clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is not a string in {value}"))
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number in {value}"))
}

#[test]
fn long_answers_respect_the_size_limit() {
    let calls: String = (0..100).map(|number| format!("    pub fn caller_{number}() {{ helper() }}\n")).collect();
    let text = format!("pub fn helper() {{}}\nmod inner {{\n    use super::helper;\n{calls}}}\n");
    let project = Project::indexed(&[("Cargo.toml", "[package]\nname = \"big\"\n"), ("src/lib.rs", &text)]);
    let cap = [("CODECOMPASS_QUERY_MAX_RESPONSE_BYTES", "8192")];
    for command in ["outline src/lib.rs", "callers helper --limit 200"] {
        let whole = project.json(command);
        assert_eq!(whole["metadata"]["result_completeness"], "complete", "{command}");
        assert!(whole.to_string().len() > 8192, "{command}: there is something to truncate");
        let reply = project.run_with(&format!("{command} --json"), &cap);
        let cut: serde_json::Value = serde_json::from_str(&reply.stdout).expect("JSON");
        assert!(cut.to_string().len() <= 8192, "{command}: {} bytes", cut.to_string().len());
        assert_eq!(cut["metadata"]["result_completeness"], "truncated", "{command}");
    }
}

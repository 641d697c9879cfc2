//! What an agent reads in the answers as text: totals that are true, and nothing that misleads it.

use crate::support;

use std::fs::File;
use std::time::Duration;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient, wait_until};

/// A server that answers in text.
fn agent(project: &Project, env: &[(&str, &str)]) -> StdioClient {
    let args = ["--answers", "text", "--no-watch", "--no-prewarm"];
    StdioClient::open_with(project.repository.root(), project.home.path(), &args, env)
}

/// Returns the text of an answer, and whether it is an error.
fn ask(client: &mut StdioClient, tool: &str, arguments: &Value) -> (String, bool) {
    let response = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    let result = &response["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {response}"));
    (text.to_owned(), result["isError"] == json!(true))
}

/// A function with an import and a call in each of thirty files.
fn many_callers() -> Project {
    let modules: String = (0..30).map(|number| format!("mod file_{number:02};\n")).collect();
    let mut files = vec![("src/lib.rs".to_owned(), format!("{modules}pub fn measure() {{}}\n"))];
    for number in 0..30 {
        let text = format!("use crate::measure;\npub fn caller_{number}() {{\n    measure();\n}}\n");
        files.push((format!("src/file_{number:02}.rs"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Project::indexed(&files)
}

#[test]
fn totals_of_an_unfinished_scan_are_lower_bounds() {
    let project = many_callers();
    let few = [("CODECOMPASS_ANSWER_STEPS", "8")];
    let name = json!({ "symbol_name": "measure" });
    let head = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let (text, is_error) = ask(&mut agent(&project, &few), "find_references", &name);
    assert!(!is_error && head(&text).contains(": at least "), "{text}");
    assert!(head(&text).contains(" of 60 places examined, ask again for the rest"), "{text}");
    assert!(!text.contains("warning"), "it is said once: {text}");
    let (text, _) = ask(&mut agent(&project, &few), "get_call_graph", &name);
    assert!(text.contains("called by at least these; ") && text.contains(" of 60 places examined"), "{text}");
    // Nothing found so far is not the same as nothing.
    let none = [("CODECOMPASS_ANSWER_STEPS", "0")];
    let (text, _) = ask(&mut agent(&project, &none), "find_references", &name);
    assert!(head(&text).ends_with(": none found yet; 0 of 60 places examined, ask again for the rest"), "{text}");
    let (text, _) = ask(&mut agent(&project, &none), "get_call_graph", &name);
    assert!(text.contains("no calls found yet; 0 of 60 places examined") && !text.contains("no known calls"), "{text}");
    let (text, _) = ask(&mut agent(&project, &none), "grep_code", &json!({ "pattern": "measure|nothing" }));
    assert!(text.contains(" of 31 files searched (time limit)") && !text.contains("No line matches"), "{text}");
    // With enough time the same call is complete.
    let (text, _) = ask(&mut agent(&project, &[]), "find_references", &name);
    assert!(head(&text).ends_with(": 60 references"), "{text}");
}

#[test]
fn unfinished_scans_are_partial_in_json() {
    let project = many_callers();
    let args = ["--no-watch", "--no-prewarm"];
    let few = [("CODECOMPASS_ANSWER_STEPS", "8")];
    let mut client = StdioClient::open_with(project.repository.root(), project.home.path(), &args, &few);
    for (tool, what) in [("find_references", "reference"), ("get_call_graph", "edge")] {
        let answer = client.call(tool, json!({ "symbol_name": "measure" }));
        let metadata = &answer["metadata"];
        assert_eq!(metadata["result_completeness"], "partial", "{answer:#}");
        let warnings = metadata["warnings"].to_string();
        assert!(warnings.contains("at least ") && warnings.contains(what), "{warnings}");
        assert!(warnings.contains(" of 60 places examined"), "{warnings}");
    }
}

#[test]
fn headlines_show_proved_and_possible_separately() {
    let source = "struct A;\nimpl A {\n    fn stop(&self) {}\n}\nfn known(a: A) {\n    a.stop();\n}\n\
                  fn unknown(x: &dyn std::any::Any) {\n    thing(x).stop();\n}\n";
    let project = Project::indexed(&[("src/lib.rs", source)]);
    let (text, _) = ask(&mut agent(&project, &[]), "find_references", &json!({ "symbol_name": "A::stop" }));
    let head = text.lines().next().unwrap_or_default();
    assert!(head.ends_with(": 1 reference, 1 possible (marked ?)"), "{text}");
    assert!(text.contains("\n 9? unknown: thing(x).stop();\n"), "{text}");
}

/// Takes the lock that every writer takes, so that no index and no sync is possible.
fn hold_write_lock(project: &Project) -> File {
    let file = File::open(project.data().join("write.lock")).expect("an earlier writer created the lock");
    assert!(wait_until(Duration::from_secs(60), || file.try_lock().is_ok()), "the lock is never released");
    file
}

fn has_command(text: &str) -> bool {
    text.contains("Run `") || text.contains("run `codecompass sync`") || text.contains("freshness_policy")
}

#[test]
fn first_call_waits_for_the_first_index() {
    let calls = [
        ("search_code", json!({ "query": "first" }), "a.py:1-2 def first()"),
        ("read_code", json!({ "what": ["first"] }), "a.py:1-2 first\n1|def first():"),
        ("find_references", json!({ "symbol_name": "first" }), "first a.py:1-2: 0 references"),
        ("grep_code", json!({ "pattern": "pass" }), "a.py\n 2 first: pass"),
    ];
    for (tool, arguments, begins) in calls {
        let project = Project::with_files(&[("a.py", "def first():\n    pass\n")]);
        let args = ["--answers", "text", "--auto-index"];
        let mut client = StdioClient::open(project.repository.root(), project.home.path(), &args);
        let meta = json!({ "progressToken": "here" });
        let asked = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let response = client.request("tools/call", asked);
        let text = response["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with(begins), "{tool}: {text}");
        // The index may be complete before the call arrives.
        let is_progress = |note: &Value| note["method"] == "notifications/progress";
        let steps = client.notifications.iter().filter(|note| is_progress(note));
        assert!(steps.into_iter().all(|step| step["params"]["progressToken"] == "here"), "{:?}", client.notifications);
    }
}

#[test]
fn calls_report_the_progress_of_an_index_that_takes_long() {
    let project = Project::with_files(&[("a.py", "def first():\n    pass\n")]);
    project.run_ok("init");
    let _lock = hold_write_lock(&project);
    let args = ["--answers", "text", "--auto-index", "--no-watch"];
    let wait = [("CODECOMPASS_MCP_WAIT_SECONDS", "1")];
    let mut client = StdioClient::open_with(project.repository.root(), project.home.path(), &args, &wait);
    for (tool, arguments) in [
        ("search_code", json!({ "query": "first" })),
        ("read_code", json!({ "what": ["first"] })),
        ("find_references", json!({ "symbol_name": "first" })),
        ("get_call_graph", json!({ "symbol_name": "first" })),
        ("get_file_outline", json!({ "path": "a.py" })),
        ("grep_code", json!({ "pattern": "pass" })),
    ] {
        let meta = json!({ "progressToken": tool });
        let response = client.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }));
        let result = &response["result"];
        assert_eq!(result["content"][0]["text"], "indexing, 0 %, ask again in about 5 s\n", "{tool}: {response}");
        assert_ne!(result["isError"], json!(true), "{response}");
        let has_progress = client.notifications.iter().any(|note| note["params"]["progressToken"] == *tool);
        assert!(has_progress, "{tool}: {:?}", client.notifications);
    }
}

#[test]
fn call_after_a_checkout_or_an_edit_waits_for_the_sync() {
    let project = Project::indexed(&[("a.py", "def old_way():\n    pass\n")]);
    project.repository.branch("feat").write("a.py", "def new_way():\n    pass\n").commit("new");
    project.repository.checkout("main");
    for flags in [&["--answers", "text"][..], &["--answers", "text", "--no-watch"]] {
        let mut client = StdioClient::open(project.repository.root(), project.home.path(), flags);
        for policy in [None, Some("strict")] {
            for (branch, name) in [("feat", "new_way"), ("main", "old_way"), ("feat", "new_way")] {
                project.repository.checkout(branch);
                let (text, _) = ask(&mut client, "search_code", &json!({ "query": name, "freshness_policy": policy }));
                assert_eq!(text, format!("a.py:1-2 def {name}()\n"), "{policy:?}");
            }
            project.repository.write("b.py", "def edited():\n    pass\n");
            let (text, _) = ask(&mut client, "search_code", &json!({ "query": "edited", "freshness_policy": policy }));
            assert_eq!(text, "b.py:1-2 def edited()\n", "{policy:?}");
            project.repository.delete("b.py");
        }
    }
}

#[test]
fn late_sync_is_reported_before_the_answer() {
    let project = Project::indexed(&[("a.py", "def old_way():\n    pass\n")]);
    project.repository.branch("feat").write("a.py", "def new_way():\n    pass\n").commit("new");
    project.repository.checkout("main");
    project.run_ok("sync");
    let _lock = hold_write_lock(&project);
    let wait = [("CODECOMPASS_MCP_WAIT_SECONDS", "1")];
    let mut client = agent(&project, &wait);
    project.repository.write("b.py", "def edited():\n    pass\n");
    let (text, _) = ask(&mut client, "search_code", &json!({ "query": "old_way" }));
    let begins = "indexing, 0 %, ask again in about 5 s\na.py:1-2 def old_way()\n";
    assert!(text.starts_with(begins) && text.contains("changes not in this answer: b.py"), "{text}");
    // Nothing of the branch is published, so there is nothing else to say.
    project.repository.delete("b.py");
    project.repository.checkout("feat");
    for policy in [None, Some("strict")] {
        let asked = json!({ "query": "new_way", "freshness_policy": policy });
        let (text, is_error) = ask(&mut client, "search_code", &asked);
        assert_eq!((text.as_str(), is_error), ("indexing, 0 %, ask again in about 5 s\n", false), "{policy:?}");
    }
}

#[test]
fn never_indexed_is_not_the_same_as_not_found() {
    let project = Project::with_files(&[("a.py", "def first():\n    pass\n")]);
    project.run_ok("init");
    let check = |project: &Project| {
        for command in ["search first", "locate first", "grep pass", "read first", "references first", "callers first"]
        {
            let shown = project.run_expecting(&format!("{command} --no-index"), 3);
            assert!(shown.contains("Nothing is indexed yet.") && shown.contains("Run `codecompass index`"), "{shown}");
        }
        for command in ["search first", "locate first", "grep pass"] {
            let answer = project.json_expecting(&format!("{command} --no-index"), 3);
            assert_eq!(answer["metadata"]["indexing_status"], "not_indexed", "{answer}");
            assert_eq!(answer["metadata"]["result_completeness"], "partial", "{answer}");
        }
        let mut client = agent(project, &[]);
        for (tool, arguments) in [
            ("search_code", json!({ "query": "first" })),
            ("read_code", json!({ "what": ["first"] })),
            ("find_references", json!({ "symbol_name": "first" })),
            ("grep_code", json!({ "pattern": "pass" })),
        ] {
            let (text, is_error) = ask(&mut client, tool, &arguments);
            assert!(is_error && text.starts_with("index_not_ready: Nothing is indexed yet."), "{tool}: {text}");
            assert!(text.contains("Ask the user to run `codecompass index`") && !has_command(&text), "{tool}: {text}");
        }
    };
    check(&project);
    // An index that was interrupted has published nothing.
    let reply = project.run_with("index", &[(codecompass_testkit::KILL_AT_WRITE, "3")]);
    assert!(reply.was_aborted(), "{reply:?}");
    check(&project);
}

/// A small project with a folder, a homonym and a class.
fn small() -> Project {
    let a = "pub fn parse(text: &str) -> usize {\n    measure(text)\n}\n\npub fn measure(text: &str) -> usize {\n    text.len()\n}\n";
    let b = "class Reader:\n    def read(self):\n        return parse()\n\n\ndef parse():\n    return 1\n";
    Project::indexed(&[("src/text/a.rs", a), ("tools/b.py", b), ("README.md", "# Title\n\nparse and measure\n")])
}

#[test]
fn obvious_parameters_are_accepted() {
    let project = small();
    let mut client = agent(&project, &[]);
    let table = [
        (
            "grep_code",
            json!({ "pattern": "measure", "path": "src" }),
            json!({ "pattern": "measure", "path_filter": "src" }),
        ),
        (
            "grep_code",
            json!({ "query": "MEASURE", "glob": "*.rs", "-i": true }),
            json!({ "pattern": "MEASURE", "path_filter": "*.rs", "ignore_case": true }),
        ),
        ("find_references", json!({ "name": "measure" }), json!({ "symbol_name": "measure" })),
        (
            "get_call_graph",
            json!({ "symbol": "measure", "direction": "incoming" }),
            json!({ "symbol_name": "measure", "direction": "callers" }),
        ),
        ("get_file_outline", json!({ "file_path": "tools/b.py" }), json!({ "path": "tools/b.py" })),
        (
            "read_code",
            json!({ "path": "src/text/a.rs", "start_line": 1, "end_line": 3 }),
            json!({ "what": ["src/text/a.rs:1-3"] }),
        ),
        ("search_code", json!({ "q": "measure", "max_results": "3" }), json!({ "query": "measure", "limit": 3 })),
    ];
    for (tool, given, own) in table {
        let (expected, _) = ask(&mut client, tool, &own);
        let (text, is_error) = ask(&mut client, tool, &given);
        let (note, answer) = text.split_once('\n').unwrap_or_default();
        assert!(!is_error && note.starts_with("understood "), "{tool} {given}: {text}");
        assert_eq!(answer, expected, "{tool} {given}");
    }
}

#[test]
fn other_notations_give_the_same_answer() {
    let project = small();
    let mut client = agent(&project, &[]);
    let table = [
        ("read_code", json!({ "what": "src/text/a.rs:5" }), json!({ "what": ["src/text/a.rs:5"] })),
        ("read_code", json!({ "what": ["src/text/a.rs#L5"] }), json!({ "what": ["src/text/a.rs:5"] })),
        ("read_code", json!({ "what": ["a.rs#L1-L3"] }), json!({ "what": ["src/text/a.rs:1-3"] })),
        ("read_code", json!({ "what": ["a.rs:5:8"] }), json!({ "what": ["src/text/a.rs:5"] })),
        ("read_code", json!({ "what": ["text/a.rs"] }), json!({ "what": ["src/text/a.rs"] })),
        ("read_code", json!({ "what": ["b.py::Reader::read"] }), json!({ "what": ["tools/b.py:2"] })),
        ("read_code", json!({ "what": ["measure()"] }), json!({ "what": ["measure"] })),
        ("find_references", json!({ "symbol_name": "a.rs:5" }), json!({ "symbol_name": "src/text/a.rs:5" })),
        ("find_references", json!({ "symbol_name": "b.py:parse" }), json!({ "symbol_name": "tools/b.py:6" })),
        (
            "find_references",
            json!({ "symbol_name": "parse", "path": "b.py" }),
            json!({ "symbol_name": "tools/b.py:6" }),
        ),
        ("get_call_graph", json!({ "symbol_name": "Reader#read" }), json!({ "symbol_name": "Reader.read" })),
        ("get_file_outline", json!({ "path": "b.py" }), json!({ "path": "tools/b.py" })),
        (
            "grep_code",
            json!({ "pattern": "parse", "path_filter": "text/a.rs" }),
            json!({ "pattern": "parse", "path_filter": "src/text/a.rs" }),
        ),
    ];
    for (tool, given, own) in table {
        let (expected, _) = ask(&mut client, tool, &own);
        let (text, is_error) = ask(&mut client, tool, &given);
        assert!(!is_error, "{tool} {given}: {text}");
        let others = |text: &str| {
            text.lines().filter(|line| !line.starts_with("others ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(others(&text), others(&expected), "{tool} {given}");
    }
    // The command line accepts them, too.
    assert_eq!(project.run_ok("read a.rs#L5"), project.run_ok("read src/text/a.rs:5"));
    assert_eq!(project.run_ok("outline b.py"), project.run_ok("outline tools/b.py"));
}

#[test]
fn folders_have_outlines() {
    let project = small();
    let mut client = agent(&project, &[]);
    let (text, is_error) = ask(&mut client, "get_file_outline", &json!({ "path": "src/text" }));
    assert!(!is_error && text.contains("src/text/a.rs") && text.contains("5-7 pub fn measure"), "{text}");
    assert_eq!(ask(&mut client, "get_file_outline", &json!({ "path": "text/" })).0, text);
    assert_eq!(ask(&mut client, "read_code", &json!({ "what": "src/text" })).0, text);
    for number in 0..900 {
        let text = format!("pub fn function_{number}() {{}}\npub struct Type{number};\n");
        project.repository.write(&format!("many/folder_{}/file_{number}.rs", number % 7), text);
    }
    project.run_ok("sync");
    for (path, row) in [(".", "many/ 900 files"), ("many", "many/folder_0/ 129 files"), ("many/folder_0", "function_0")]
    {
        let (text, is_error) = ask(&mut client, "get_file_outline", &json!({ "path": path }));
        assert!(!is_error && text.contains(row) && text.len() < 10_000, "{path}: {} bytes: {text}", text.len());
    }
}

#[test]
fn ambiguous_ends_of_paths_are_listed() {
    let project = Project::indexed(&[("a/mod.rs", "fn one() {}\n"), ("b/mod.rs", "fn two() {}\n")]);
    let mut client = agent(&project, &[]);
    let (text, _) = ask(&mut client, "read_code", &json!({ "what": "mod.rs:1" }));
    assert!(text.contains("Did you mean a/mod.rs, b/mod.rs?"), "{text}");
}

#[test]
fn refusals_name_only_offered_parameters() {
    let project = small();
    let mut client = agent(&project, &[]);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let (text, is_error) = ask(&mut client, name, &json!({ "colour": "red" }));
        assert!(is_error && text.starts_with("invalid_input: `colour` is no parameter"), "{text}");
        let offered = tool["inputSchema"]["properties"].as_object().expect("properties");
        let named = text.lines().next().and_then(|line| line.split_once("It takes: ")).expect("a list").1;
        for word in named.trim_end_matches('.').split(", ") {
            assert!(offered.contains_key(word), "{name} does not offer {word}: {text}");
        }
    }
}

/// Returns the text of an answer about some files.
fn answer(files: &[(&str, &str)], tool: &str, arguments: &Value) -> String {
    ask(&mut agent(&Project::indexed(files), &[]), tool, arguments).0
}

#[test]
fn rows_name_the_class_even_if_the_signature_has_it() {
    let source = "class Flow:\n    @classmethod\n    def from_state(cls, state) -> Flow:\n        return cls()\n";
    let text = answer(&[("flow.py", source)], "search_code", &json!({ "query": "from_state" }));
    assert_eq!(text, "flow.py:3-4 def Flow.from_state(cls, state) -> Flow\n");
}

#[test]
fn missing_names_are_said_to_be_missing() {
    let files = [("a.py", "def load_config():\n    return default_config\n\n\ndef load_state():\n    pass\n")];
    let first = |query: &str| {
        let text = answer(&files, "search_code", &json!({ "query": query }));
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first("load_konfig"), "load_konfig not found; similar names: load_config; best matches:");
    assert_eq!(first("default_config"), "no definition of default_config; best matches:");
    assert_eq!(first("load_config"), "a.py:1-2 def load_config()");
    assert!(first("loads").starts_with("a.py:"), "a plain word may be no identifier: {}", first("loads"));
}

#[test]
fn numbers_of_references_add_up() {
    let calls: String = (0..25).map(|number| format!("fn caller_{number}() {{\n    target();\n}}\n")).collect();
    let twice = "fn twice() {\n    target(); target();\n}\n";
    let test = "#[test]\nfn checks() {\n    target();\n}\n";
    let files = [("src/lib.rs", &*format!("pub fn target() {{}}\n{calls}{twice}{test}"))];
    let text = answer(&files, "find_references", &json!({ "symbol_name": "target" }));
    let head = text.lines().next().unwrap_or_default();
    assert!(head.ends_with(": 27 references, 1 of them in tests"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with(' ')).count();
    assert_eq!(rows, 21, "twenty rows and the test: {text}");
    assert!(text.contains("… 20 of 26 outside tests (limit=26)"), "{text}");
}

#[test]
fn path_to_prints_the_path_only() {
    let source =
        "fn first() {\n    second();\n    other();\n}\nfn second() {\n    third();\n}\nfn third() {}\nfn other() {}\n";
    let project = Project::indexed(&[("src/lib.rs", source)]);
    let mut client = agent(&project, &[]);
    let (text, _) = ask(&mut client, "get_call_graph", &json!({ "symbol_name": "first", "path_to": "third" }));
    assert_eq!(text, "first src/lib.rs:1 → second src/lib.rs:5 → third src/lib.rs:8\n");
    let (text, _) = ask(&mut client, "get_call_graph", &json!({ "symbol_name": "other", "path_to": "src/lib.rs:8" }));
    assert!(text.starts_with("other src/lib.rs:9: no chain to src/lib.rs:8 within "), "{text}");
}

#[test]
fn overloads_that_look_alike_share_a_row() {
    let long =
        "TQueryFnData = unknown, TError = DefaultError, TData = TQueryFnData, TQueryKey extends QueryKey = QueryKey";
    let source = format!(
        "export function use<{long}>(a: string): number\nexport function use<{long}>(a: number): number\n\
         export function use<{long}>(a: unknown): number {{\n  return 1\n}}\nexport function other(): void {{}}\n"
    );
    let files = [("use.ts", source.as_str())];
    let text = answer(&files, "get_file_outline", &json!({ "path": "use.ts" }));
    assert_eq!(text.matches("export function use<").count(), 1, "{text}");
    assert!(text.contains("\n1,2,3-5 export function use<"), "{text}");
    let text = answer(&files, "search_code", &json!({ "query": "use" }));
    assert!(text.starts_with("use.ts:3-5,1,2 export function use<") && text.contains("\n… 1 more"), "{text}");
}

#[test]
fn callers_of_overloads_share_a_line() {
    let source = "from typing import overload\n\n\n@overload\ndef unparse(a: str) -> str: ...\n\n\n@overload\n\
                  def unparse(a: bytes) -> bytes: ...\n\n\ndef unparse(a):\n    return a\n\n\ndef caller():\n    unparse(1)\n";
    let asked = json!({ "symbol_name": "unparse", "path": "url.py", "direction": "callers" });
    let text = answer(&[("url.py", source)], "get_call_graph", &asked);
    assert_eq!(text, "unparse url.py:12-13,5,9 called by url.py:17 caller\n");
}

#[test]
fn overlapping_ranges_are_read_once() {
    let source: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    let what = json!({ "what": ["a.txt:5-20", "a.txt:10-25", "a.txt:6-9", "a.txt:1-30"] });
    let text = answer(&[("a.txt", &source)], "read_code", &what);
    for number in 1..=30 {
        let line = format!("line {number}");
        let rows = text.lines().filter(|row| row.split_once('|').map_or(*row, |(_, row)| row) == line);
        assert_eq!(rows.count(), 1, "line {number}: {text}");
    }
    assert!(text.contains("a.txt:10-25 (10-20 above)\n21|line 21\nline 22\n"), "{text}");
    assert!(text.contains("a.txt:6-9 (shown above)\na.txt:1-30 (5-25 above)\n1|line 1\n"), "{text}");
    assert!(text.contains("\nline 4\n26|line 26\n"), "a gap has a number: {text}");
}

#[test]
fn code_is_exact_and_its_numbers_are_few() {
    let source: String = (1..=30).map(|number| format!("\tx{number} = 1  \n\n")).collect();
    let what = json!({ "what": ["a.txt:8-33"] });
    let text = answer(&[("a.txt", &source)], "read_code", &what);
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let lines: Vec<&str> = source.lines().collect();
    assert_eq!(rows.len(), 26, "{text}");
    for (row, number) in rows.iter().zip(8..) {
        let expected = lines[number - 1];
        let is_numbered = number == 8 || number % 10 == 0;
        assert_eq!(*row, if is_numbered { format!("{number}|{expected}") } else { expected.to_owned() });
    }
}

#[test]
fn a_line_of_a_long_function_is_read_with_its_surroundings() {
    let body: String = (0..200).map(|number| format!("    step_{number}();\n")).collect();
    let source = format!("/// Runs.\npub fn run() {{\n{body}}}\n\nfn short() {{\n    run();\n}}\n");
    let project = Project::indexed(&[("src/lib.rs", &source)]);
    let mut client = agent(&project, &[]);
    let mut read = |item: &str| ask(&mut client, "read_code", &json!({ "what": [item] })).0;
    let text = read("src/lib.rs:100");
    let begins = "src/lib.rs:1-203 run\n1|/// Runs.\npub fn run() {\n3-74|…\n75|    step_72();\n";
    assert!(text.starts_with(begins) && text.ends_with("    step_122();\n126-203|…\n"), "{text}");
    assert_eq!(text.lines().count(), 1 + 2 + 1 + 51 + 1, "{text}");
    // The lines that were left out can be read, and so can all of it.
    assert!(read("src/lib.rs:126-203").contains("\n200|    step_197();\n"));
    for whole in ["run", "src/lib.rs:2"] {
        assert!(read(whole).contains("step_199();\n}\n"), "{whole}");
    }
    assert_eq!(read("src/lib.rs:206"), "src/lib.rs:205-207 short\n205|fn short() {\n    run();\n}\n");
    assert!(project.run_ok("read src/lib.rs:100").contains("3     step_0();"), "people get all of it");
}

#[test]
fn wide_ranges_leave_out_long_docs_and_imports() {
    let imports: String = (0..6).map(|number| format!("import a.b.C{number};\n")).collect();
    let docs: String = (0..8).map(|number| format!("     * Word {number}.\n")).collect();
    let fields: String = (0..40).map(|number| format!("    int field{number};\n")).collect();
    let source = format!(
        "package a;\n\n{imports}\npublic class A {{\n{fields}    /**\n{docs}     */\n    int last() {{\n        return 1;\n    }}\n}}\n"
    );
    let project = Project::indexed(&[("a/A.java", &source)]);
    let mut client = agent(&project, &[]);
    let mut read = |item: &str| ask(&mut client, "read_code", &json!({ "what": [item] })).0;
    for item in ["a/A.java", "a/A.java:1-64"] {
        let text = read(item);
        assert!(text.contains("\n1|package a;\n\n3-8|… imports\n9|\n10|public class A {\n"), "{text}");
        let docs = "     /**\n     * Word 0.\n53-60|… docs\n61|    int last() {\n        return 1;\n";
        assert!(text.contains(docs.trim_start()), "{text}");
    }
    // What a request names is shown.
    for item in ["last", "a/A.java:53-60", "a/A.java:45-64"] {
        assert!(read(item).contains("* Word 7."), "{item}");
    }
    let both = ask(&mut client, "read_code", &json!({ "what": ["a/A.java", "a/A.java:53-60"] })).0;
    assert!(both.contains("* Word 7."), "{both}");
}

#[test]
fn grep_names_an_enclosing_symbol_once() {
    let source = "use a::run;\nfn first() {\n    run();\n    other();\n    run();\n}\nfn second() {\n    if run() { run() }\n    run();\n}\n";
    let text = answer(&[("src/lib.rs", source)], "grep_code", &json!({ "pattern": "run\\(|fn second" }));
    assert_eq!(
        text,
        "src/lib.rs\n 3 first: run();\n  5 run();\n 7 fn second() {\n  8 if run() { run() }\n  9 run();\n"
    );
}

#[test]
fn outlines_do_not_repeat_receivers() {
    let source = "package a\n\ntype Runner struct {\n\tlog string\n}\n\nfunc (self *Runner) Run(cmd *Command) error {\n\treturn nil\n}\n\n\
                  func (self *Runner) RunWithManyArguments(first *Command, second *Command) (string, error) {\n\treturn \"\", nil\n}\n\n\
                  func helper() {}\n\nfunc (self *Runner) Stop() {}\n\nfunc (self Runner) A() {}\n\nfunc (self Runner) B() {}\n\n\
                  type Other struct{}\n\nfunc plain() {}\n\nfunc (o Other) One() {}\n";
    let text = answer(&[("a.go", source)], "get_file_outline", &json!({ "path": "a.go" }));
    let expected = "a.go\n3-5 type Runner struct {log}\n 7-9 Run(cmd *Command) error\n \
                    11-13 RunWithManyArguments(first *Command, second *Command) (string, error)\n15 func helper()\n\
                    17-21 methods of Runner\n 17 Stop()\n 19 A()\n 21 B()\n23 type Other struct\n25 func plain()\n\
                    27 Other.One()\n";
    assert_eq!(text, expected);
}

#[test]
fn questions_in_words_name_later_hits_only() {
    let functions: String = (0..12)
        .map(|number| {
            format!(
                "/// Writes a report to a file.\npub fn write_report_{number}(file: &str, report: &str) {{\n{}}}\n\n",
                "    step();\n".repeat(20)
            )
        })
        .collect();
    let project = Project::indexed(&[("src/lib.rs", &functions)]);
    let mut client = agent(&project, &[]);
    let mut search = |arguments: Value| ask(&mut client, "search_code", &arguments).0;
    let text = search(json!({ "query": "where is a report written to a file" }));
    let rows: Vec<&str> = text.lines().filter(|row| row.starts_with("src/lib.rs:")).collect();
    assert_eq!(rows.len(), 8, "{text}");
    assert!(rows[..5].iter().all(|row| row.contains("pub fn write_report_")), "{text}");
    assert!(rows[5..].iter().all(|row| row.contains(" write_report_") && !row.contains("fn ")), "{text}");
    assert!(text.contains("… 8 of 12 ("), "{text}");
    let all = search(json!({ "query": "where is a report written to a file", "limit": 12 }));
    assert_eq!(all.lines().filter(|row| row.starts_with("src/lib.rs:")).count(), 12, "{all}");
}

#[test]
fn possible_callers_are_listed_if_none_is_confirmed() {
    let source = "pub struct A;\nimpl A {\n    pub fn stop(&self) {}\n}\nfn unknown(x: &dyn std::any::Any) {\n    thing(x).stop();\n}\n\
                  #[test]\nfn stops() {\n    A.stop();\n}\n";
    let asked = json!({ "symbol_name": "A::stop", "direction": "callers" });
    let text = answer(&[("src/lib.rs", source)], "get_call_graph", &asked);
    assert!(text.contains("possible calls\nsrc/lib.rs\n 6? unknown: "), "{text}");
    assert!(!text.contains("list_unresolved"), "all of them are listed: {text}");
    // A confirmed caller is enough: the others are counted.
    let source = format!("{source}fn known(a: A) {{\n    a.stop();\n}}\n");
    let text = answer(&[("src/lib.rs", &source)], "get_call_graph", &asked);
    assert!(!text.contains("6? unknown") && text.contains("possible: 1 call (list_unresolved=true)"), "{text}");
}

#[test]
fn a_budget_is_accepted_although_it_is_not_offered() {
    // Agents that are offered a budget set one that is larger than what they need.
    let project = small();
    let (text, is_error) =
        ask(&mut agent(&project, &[]), "read_code", &json!({ "what": ["measure"], "max_tokens": 5 }));
    assert!(!is_error && text.contains("3 lines, at most") && text.contains("not shown; ask for"), "{text}");
}

//! Changes between two refs, and of one symbol: the contracts of `diff_context` and `compare_symbol_between_commits`,
//! every special case and every error.

use crate::support;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient};

const HANDLER: &str = "//! Handlers.

/// Checks who asks.
pub fn authenticate(req: &Request) -> bool {
    req.user().is_some()
}

/// Says hello.
pub fn greet() -> &'static str {
    \"hello\"
}

#[inline]
pub fn quick() -> u8 {
    1
}

pub struct Request {
    user: Option<String>,
}

impl Request {
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}
";

/// `main`, and `feat` with a change of every kind; both have later commits.
fn history() -> Project {
    let repository = Repository::new();
    repository
        .write("src/handler.rs", HANDLER)
        .write("src/legacy.rs", "pub fn legacy_auth() {}\n\npub fn stays() {\n    legacy_auth();\n}\n");
    repository.write("src/caller.rs", "use crate::handler::{Request, authenticate};\n\npub fn serve(req: &Request) -> bool {\n    authenticate(req)\n}\n\npub fn old(req: &Request) {\n    crate::legacy::legacy_auth();\n}\n");
    repository.write("src/lib.rs", "mod caller;\nmod handler;\nmod legacy;\n");
    repository.write("README.md", "# Service\n").write("logo.bin", b"\0\x01\x02");
    repository.commit("one");
    repository.branch("feat");
    let handler = HANDLER
        .replace(
            "authenticate(req: &Request) -> bool {\n",
            "authenticate(req: &Request, strict: bool) -> bool {\n    let _ = strict;\n",
        )
        .replace("Says hello.", "Greets.")
        .replace("#[inline]", "#[inline(always)]")
        .replace("self.user.as_deref()", "self.user.as_deref().filter(|user| !user.is_empty())");
    repository.write("src/handler.rs", handler);
    repository.write("src/legacy.rs", "pub fn stays() {\n    legacy_auth();\n}\n");
    repository.write("src/oauth.rs", "pub fn refresh_token(token: &str) -> String {\n    token.to_owned()\n}\n");
    repository.write("logo.bin", b"\0\x01\x03").commit("two");
    repository.checkout("main").write("src/later.rs", "pub fn later() {}\n").commit("three");
    Project::new(repository)
}

fn indexed() -> Project {
    let project = history();
    project.run_ok("index");
    project.run_ok("index --ref feat");
    project
}

/// Formats the changes as `+ authenticate`, `~ greet signature body` and so on.
fn changes_summary(answer: &Value) -> Vec<String> {
    let changes = answer["changes"].as_array().expect("there is a list").iter();
    let mark = |change: &Value| match change["change_type"].as_str() {
        Some("added") => "+",
        Some("deleted") => "-",
        _ => "~",
    };
    let parts = |change: &Value| {
        let parts = change["changed"].as_array().into_iter().flatten();
        parts.map(|part| format!(" {}", part.as_str().unwrap_or_default())).collect::<String>()
    };
    changes
        .map(|change| format!("{} {}{}", mark(change), change["symbol"].as_str().unwrap_or_default(), parts(change)))
        .collect()
}

fn files(answer: &Value) -> Vec<String> {
    let files = answer["file_changes"].as_array().expect("there is a list").iter();
    let from = |file: &Value| file["old_path"].as_str().map(|old| format!(" from {old}")).unwrap_or_default();
    files.map(|file| format!("{} {}{}", file["change_type"], file["path"], from(file)).replace('"', "")).collect()
}

#[test]
fn branch_is_compared_with_merge_base() {
    let project = indexed();
    let answer = project.json("diff main feat");
    assert_eq!((&answer["base_ref"], &answer["head_ref"]), (&json!("main"), &json!("feat")));
    assert_eq!(answer["merge_base_commit"], project.repository.git(&["merge-base", "main", "feat"]).trim());
    let told = changes_summary(&answer);
    let expected =
        ["~ authenticate signature body", "~ quick attributes", "~ user body", "- legacy_auth", "+ refresh_token"];
    assert_eq!(told, expected);
    assert_eq!(
        (&answer["total_changes"], &answer["doc_only_changes"], &answer["moved_symbols"]),
        (&json!(5), &json!(1), &json!(0))
    );
    assert_eq!(
        files(&answer),
        ["modified logo.bin", "modified src/handler.rs", "modified src/legacy.rs", "added src/oauth.rs"]
    );
    assert_eq!(answer["affected_files"], 4);
    let metadata = &answer["metadata"];
    assert_eq!((&metadata["ref"], &metadata["result_completeness"]), (&json!("feat"), &json!("complete")));
    assert_eq!(metadata["indexed_commit"], project.repository.rev("feat"));
    assert_eq!((&metadata["cruxe_protocol_version"], &metadata["freshness_status"]), (&json!("1.0"), &json!("fresh")));
}

#[test]
fn change_fields_match_the_contract() {
    let project = indexed();
    let answer = project.json("diff main feat");
    let change = &answer["changes"][0];
    let before = &change["before"];
    let keys: Vec<&String> = before.as_object().expect("a record").keys().collect();
    let expected =
        ["symbol_id", "symbol_stable_id", "kind", "qualified_name", "signature", "path", "line_start", "line_end"];
    assert_eq!(keys, expected);
    assert_eq!(before["signature"], "pub fn authenticate(req: &Request) -> bool");
    assert_eq!((&before["line_start"], &before["line_end"]), (&json!(4), &json!(6)));
    assert_eq!(change["after"]["signature"], "pub fn authenticate(req: &Request, strict: bool) -> bool");
    assert_eq!((&change["path"], &change["lines"]), (&json!("src/handler.rs"), &json!({ "start": 4, "end": 7 })));
    for key in ["symbol_id", "symbol_stable_id", "qualified_name"] {
        assert_eq!(change["before"][key], change["after"][key], "{key}");
    }
    let by_name =
        |name: &str| answer["changes"].as_array().into_iter().flatten().find(|change| change["symbol"] == name);
    let (added, deleted) = (by_name("refresh_token").expect("it came"), by_name("legacy_auth").expect("it went"));
    assert_eq!((&added["before"], &added["after"]["line_start"]), (&Value::Null, &json!(1)));
    assert_eq!((&deleted["after"], &deleted["lines"]), (&Value::Null, &json!({ "start": 1, "end": 1 })));
    assert!(added.get("changed").is_none() && deleted.get("changed").is_none());
}

#[test]
fn default_refs_are_default_branch_and_head() {
    let project = indexed();
    let answer = project.json("diff");
    assert_eq!(
        (&answer["base_ref"], &answer["head_ref"], &answer["total_changes"]),
        (&json!("main"), &json!("main"), &json!(0))
    );
    assert!(project.run_ok("diff").contains("no changes"));
    project.repository.checkout("feat");
    let answer = project.json("diff");
    assert_eq!((&answer["head_ref"], &answer["total_changes"]), (&json!("feat"), &json!(5)));
    // The checked-out branch resolves to its commit; only the work tree has the edits.
    project.repository.write("src/oauth.rs", "pub fn refresh_token(token: &str) -> String {\n    String::new()\n}\n");
    project.repository.write("src/draft.rs", "pub fn draft() {}\n");
    assert_eq!(changes_summary(&project.json("diff main feat")), changes_summary(&answer));
    let edited = project.json("diff HEAD @worktree");
    assert_eq!(changes_summary(&edited), ["+ draft", "~ refresh_token body"]);
    assert_eq!(files(&edited), ["added src/draft.rs", "modified src/oauth.rs"]);
    assert_eq!(
        (&edited["merge_base_commit"], &edited["head_ref"]),
        (&json!(project.repository.rev("feat")), &json!("@worktree"))
    );
    assert_eq!(project.json("diff main @worktree")["total_changes"], 6);
    // An edit that reverts a commit.
    project.repository.delete("src/oauth.rs").delete("src/draft.rs");
    assert_eq!(project.json("diff main @worktree")["total_changes"], 4);
    project.repository.git(&["checkout", "--quiet", "--detach"]);
    let detached = project.json("diff");
    assert_eq!(
        (&detached["head_ref"], &detached["total_changes"]),
        (&json!(project.repository.rev("feat")), &json!(5))
    );
}

#[test]
fn moved_files_and_symbols_are_followed() {
    let repository = Repository::new();
    let code = |name: &str| {
        format!(
            "pub fn {name}_one() -> u8 {{\n    1\n}}\n\npub struct {name} {{\n    a: u8,\n}}\n\nimpl {name} {{\n    pub fn get(&self) -> u8 {{\n        self.a\n    }}\n}}\n"
        )
    };
    repository.write("src/a.rs", code("A")).write("src/b.rs", code("B")).write("src/c.rs", code("C"));
    repository.write(
        "d.py",
        "class D:\n    x = 1\n\n    def m(self):\n        return 1\n\n    def n(self):\n        return 2\n",
    );
    repository
        .write("p/one.go", "package p\n\nfunc Moved() int { return 1 }\n\nfunc Both() int { return 1 }\n")
        .write("p/two.go", "package p\n\nfunc Two() {}\n");
    repository.commit("one");
    repository.tag("v1");
    repository.rename("src/a.rs", "src/net/a.rs");
    repository.rename("src/b.rs", "src/net/b.rs").write("src/net/b.rs", code("B").replace("self.a", "self.a + 1"));
    // A class moves to another file, and one of its methods changes.
    repository.write("d.py", "import e\n").write("e.py", "class D:\n    x = 1\n\n    def m(self):\n        return 10\n\n    def n(self):\n        return 2\n\n\ndef more():\n    return 3\n\n\ndef even_more():\n    return [more() for _ in range(10)]\n");
    // In Go the file is not part of a name.
    repository.write("p/one.go", "package p\n").write(
        "p/two.go",
        "package p\n\nfunc Two() {}\n\nfunc Moved() int { return 1 }\n\nfunc Both() int { return 2 }\n",
    );
    repository.commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    let answer = project.json("diff v1 main");
    assert_eq!(changes_summary(&answer), ["~ m body", "+ more", "+ even_more", "~ Both body", "~ get body"]);
    let paths =
        |at: usize| (answer["changes"][at]["before"]["path"].clone(), answer["changes"][at]["after"]["path"].clone());
    assert_eq!(paths(0), (json!("d.py"), json!("e.py")));
    assert_eq!(paths(3), (json!("p/one.go"), json!("p/two.go")));
    assert_eq!(paths(4), (json!("src/b.rs"), json!("src/net/b.rs")));
    assert!(files(&answer).contains(&"renamed src/net/a.rs from src/a.rs".to_owned()));
    // The class, its field and one method, and a Go function.
    assert_eq!(answer["moved_symbols"], 4, "{answer}");
    // By the old path or the new one.
    assert_eq!(changes_summary(&project.json("diff v1 main --path-filter src/b")), ["~ get body"]);
    assert_eq!(changes_summary(&project.json("diff v1 main --path-filter p/two")), ["~ Both body"]);
    let moved = project.json("compare B::get v1 main");
    assert_eq!(
        (&moved["base_version"]["path"], &moved["head_version"]["path"]),
        (&json!("src/b.rs"), &json!("src/net/b.rs"))
    );
    assert_eq!((&moved["path"], &moved["diff_summary"]["status"]), (&json!("src/net/b.rs"), &json!("modified")));
    let same = project.json("compare A_one v1 main");
    assert_eq!(same["diff_summary"], json!({ "status": "unchanged" }));
    assert_eq!(same["base_version"]["path"], "src/a.rs");
}

#[test]
fn homonyms_never_overwrite_each_other() {
    let repository = Repository::new();
    repository.write("a.go", "package p\n\nfunc init() { a() }\n").write("b.go", "package p\n\nfunc init() { b() }\n");
    repository
        .write("lib.rs", "#[cfg(unix)]\nfn x() { 1; }\n#[cfg(windows)]\nfn x() { 2; }\n#[cfg(other)]\nfn x() { 3; }\n");
    repository.commit("one");
    repository.tag("v1");
    repository.write("b.go", "package p\n\nfunc init() { bb() }\n");
    repository.write("lib.rs", "#[cfg(windows)]\nfn x() { 2; }\n#[cfg(other)]\nfn x() { 3; }\n");
    repository.commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    let answer = project.json("diff v1 main");
    // One of three variants was deleted: the function stays.
    assert_eq!(changes_summary(&answer), ["~ init body", "~ x body attributes"]);
    assert_eq!(
        (&answer["changes"][0]["path"], &answer["changes"][1]["before"]["line_start"]),
        (&json!("b.go"), &json!(2))
    );
}

#[test]
fn lists_are_paged() {
    let project = indexed();
    let first = project.json("diff main feat --limit 2");
    let told_first = changes_summary(&first);
    assert_eq!((told_first.len(), &first["total_changes"], &first["affected_files"]), (2, &json!(5), &json!(4)));
    assert_eq!(first["metadata"]["result_completeness"], "truncated");
    let cursor = first["metadata"]["next_cursor"].as_str().expect("there is more");
    let second = project.json(&format!("diff main feat --limit 200 --cursor {cursor}"));
    assert_eq!(changes_summary(&second).len(), 3);
    assert_eq!([told_first, changes_summary(&second)].concat(), changes_summary(&project.json("diff main feat --all")));
    assert!(second["metadata"].get("next_cursor").is_none());
    for (limit, listed) in [("0", 1), ("-3", 1), ("999999", 5)] {
        let answer = project.json(&format!("diff main feat --limit {limit}"));
        assert_eq!(changes_summary(&answer).len(), listed);
        assert!(
            answer["metadata"]["warnings"][0].as_str().is_some_and(|warning| warning.contains("limit")),
            "{answer}"
        );
    }
    for (question, parameter) in [
        (format!("diff main main --cursor {cursor}"), "cursor"),
        ("diff main feat --cursor nonsense".to_owned(), "cursor"),
        ("diff main feat --path-filter ../etc".to_owned(), "path_filter"),
        ("diff @worktree feat".to_owned(), "base_ref"),
        ("compare greet @worktree feat".to_owned(), "base_ref"),
    ] {
        let error = project.json_expecting(&question, 2);
        assert_eq!(
            (&error["error"]["code"], &error["error"]["data"]["parameter"]),
            (&json!("invalid_input"), &json!(parameter)),
            "{question}"
        );
    }
}

#[test]
fn path_prefix_filters_files_and_symbols() {
    let project = indexed();
    let answer = project.json("diff main feat --path-filter src/o");
    assert_eq!(
        (changes_summary(&answer), files(&answer)),
        (vec!["+ refresh_token".to_owned()], vec!["added src/oauth.rs".to_owned()])
    );
    assert_eq!((&answer["affected_files"], &answer["total_changes"]), (&json!(1), &json!(1)));
    assert_eq!(changes_summary(&project.json("diff main feat --path-filter ./src/oauth.rs")), ["+ refresh_token"]);
    assert_eq!(project.json("diff main feat --path-filter nowhere/")["affected_files"], 0);
}

#[test]
fn callers_and_edges_of_what_changed() {
    let project = indexed();
    let answer = project.json("diff main feat --callers --edges");
    let line = |item: &Value| {
        format!(
            "{} → {} {}:{}",
            item["from"]["qualified_name"],
            item["to"]["qualified_name"],
            item["call_site"]["file"],
            item["call_site"]["line"]
        )
        .replace('"', "")
    };
    let lines = |key: &str| answer[key].as_array().expect("there is a list").iter().map(line).collect::<Vec<_>>();
    // Callers that still call a deleted symbol come first, with their current lines.
    let callers = lines("affected_callers");
    assert_eq!(
        callers[..3],
        [
            "caller::old → legacy::legacy_auth src/caller.rs:8",
            "legacy::stays → legacy::legacy_auth src/legacy.rs:2",
            "caller::serve → handler::authenticate src/caller.rs:4",
        ]
    );
    let broken = &answer["affected_callers"][2];
    assert_eq!((&broken["to"]["signature_changed"], &broken["is_changed"]), (&json!(true), &json!(false)));
    assert_eq!(lines("edges_removed"), [""; 0]);
    assert_eq!(answer["metadata"]["result_completeness"], "complete");
    let plain = project.json("diff main feat");
    assert!(plain.get("affected_callers").is_none() && plain.get("edges_added").is_none());
}

/// A symbol with many callers leaves room for the callers of the others.
#[test]
fn callers_are_shared_out() {
    let repository = Repository::new();
    let tests: String = (0..60).map(|n| format!("def test_{n}():\n    busy({n})\n\n\n")).collect();
    let text = |body: &str| format!("def busy(a):\n    return {body}\n\n\ndef calm(a):\n    return {body}\n");
    repository.write("app.py", text("a")).write("test_app.py", format!("from app import busy\n\n\n{tests}"));
    repository
        .write("uses.py", "from app import busy, calm\n\n\ndef one():\n    calm(1)\n\n\ndef two():\n    busy(2)\n");
    repository.commit("one");
    repository.branch("feat");
    repository.write("app.py", text("a + 1"));
    repository.commit("two");
    repository.checkout("main");
    let project = Project::new(repository);
    project.run_ok("index");
    let answer = project.json("diff main feat --callers --limit 10");
    let callers: Vec<String> = answer["affected_callers"]
        .as_array()
        .expect("there is a list")
        .iter()
        .map(|caller| {
            format!("{} {}", caller["from"]["qualified_name"], caller["to"]["qualified_name"]).replace('"', "")
        })
        .collect();
    assert_eq!(callers.len(), 10, "{callers:?}");
    assert!(
        callers.contains(&"uses.one app.calm".to_owned()) && callers.contains(&"uses.two app.busy".to_owned()),
        "{callers:?}"
    );
}

#[test]
fn a_symbol_is_compared_between_exactly_two_refs() {
    let project = indexed();
    let answer = project.json("compare authenticate main feat");
    let summary = json!({
        "status": "modified", "signature_changed": true, "body_changed": true,
        "lines_added": 2, "lines_removed": 1, "line_range_shifted": true,
    });
    assert_eq!((&answer["symbol"], &answer["path"]), (&json!("authenticate"), &json!("src/handler.rs")));
    assert_eq!((&answer["diff_summary"], &answer["doc_changed"]), (&summary, &json!(false)));
    assert!(answer["symbol_stable_id"].as_str().is_some_and(|id| id.starts_with("b3:")));
    for (version, end) in [("base_version", 6), ("head_version", 7)] {
        let version = &answer[version];
        assert_eq!((&version["kind"], &version["language"]), (&json!("fn"), &json!("rust")));
        assert_eq!((&version["line_start"], &version["line_end"]), (&json!(4), &json!(end)));
    }
    assert!(answer["diff"].as_str().is_some_and(|diff| diff.contains("\n+    let _ = strict;\n")), "{answer}");
    assert!(project.json("compare authenticate main feat --no-diff").get("diff").is_none());
    // The comparison does not start from the merge base: main has later commits.
    let gone = project.json("compare later main feat");
    assert_eq!((&gone["head_version"], &gone["diff_summary"]["status"]), (&Value::Null, &json!("deleted")));
    let new = project.json("compare later feat main");
    assert_eq!((&new["base_version"], &new["diff_summary"]["status"]), (&Value::Null, &json!("added")));
    let same = project.json("compare greet main feat");
    assert_eq!((&same["diff_summary"], &same["doc_changed"]), (&json!({ "status": "unchanged" }), &json!(true)));
    // By a handle of either ref.
    for handle in [&answer["symbol_stable_id"], &answer["head_version"]["symbol_id"]] {
        let again = project.json(&format!("compare {} main feat", handle.as_str().unwrap_or_default()));
        assert_eq!(again["diff_summary"], summary);
    }
    // A member changed, not the symbol itself.
    let outer = project.json("compare Request main feat");
    assert_eq!(outer["diff_summary"]["status"], "unchanged");
    let missing = project.json_expecting("compare nobody main feat", 1);
    assert_eq!(missing["error"]["code"], "symbol_not_found");
    assert_eq!(
        project.json_expecting("compare greet main feat --path src/oauth.rs", 1)["error"]["code"],
        "symbol_not_found"
    );
}

#[test]
fn one_homonym_is_chosen_and_others_are_listed() {
    let project =
        Project::with_files(&[("src/a.rs", "pub fn get() -> u8 { 1 }\n"), ("src/b.rs", "pub fn get() -> u8 { 2 }\n")]);
    project.repository.tag("v1");
    project.repository.write("src/b.rs", "pub fn get() -> u8 { 3 }\n").commit("two");
    project.run_ok("index");
    let answer = project.json("compare get v1 main");
    assert_eq!(answer["other_matches"].as_array().map(Vec::len), Some(1));
    assert!(
        answer["metadata"]["warnings"][0].as_str().is_some_and(|warning| warning.contains("2 symbols")),
        "{answer}"
    );
    let other = project.json("compare get v1 main --path src/b.rs");
    assert_eq!((&other["path"], &other["diff_summary"]["status"]), (&json!("src/b.rs"), &json!("modified")));
    // In the work tree it moved to another file and changed, but no other symbol has its name.
    project.repository.delete("src/a.rs").delete("src/b.rs");
    project.repository.write("src/deep/c.rs", "pub fn get() -> u64 {\n    5\n}\n");
    let edited = project.json("compare get v1 @worktree --path src/deep/c.rs");
    assert_eq!(edited["head_version"]["path"], "src/deep/c.rs");
}

#[test]
fn server_requires_indexed_refs_and_syncs_commits() {
    let project = history();
    project.run_ok("index");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
    let question = json!({ "base_ref": "main", "head_ref": "feat" });
    let (code, error) = client.call_error("diff_context", question.clone());
    assert_eq!(code, "ref_not_indexed");
    assert_eq!(error["data"]["call"], json!({ "tool": "index_repo", "params": { "ref": "feat" } }));
    let compare = |head: &str| json!({ "symbol_name": "authenticate", "base_ref": "main", "head_ref": head });
    assert_eq!(client.call_error("compare_symbol_between_commits", compare("feat")).0, "ref_not_indexed");
    for name in ["nobody", "main:README.md", "a b\u{1}\u{202e}", ""] {
        assert_eq!(client.call_error("diff_context", json!({ "head_ref": name })).0, "ref_not_indexed", "{name:?}");
        assert_eq!(client.call_error("compare_symbol_between_commits", compare(name)).0, "ref_not_indexed", "{name:?}");
    }
    let commit = project.repository.rev("feat");
    let answer = client.call("diff_context", json!({ "head_ref": commit }));
    assert_eq!((&answer["base_ref"], changes_summary(&answer).len()), (&json!("main"), 5));
    assert_eq!(client.call("compare_symbol_between_commits", compare(&commit))["diff_summary"]["status"], "modified");
    project.run_ok("index --ref feat");
    assert_eq!(changes_summary(&client.call("diff_context", question.clone())).len(), 5);
    client.call("switch_ref", json!({ "ref": "feat" }));
    let switched = client.call("diff_context", json!({}));
    assert_eq!((&switched["head_ref"], changes_summary(&switched).len()), (&json!("feat"), 5));
    // A branch that moved is compared in its current state.
    project.repository.checkout("feat").write("src/more.rs", "pub fn more() {}\n").commit("more");
    assert_eq!(changes_summary(&client.call("diff_context", question)).len(), 6);
    let (code, _) = client.call_error("diff_context", json!({ "workspace": "/nowhere/at/all" }));
    assert_eq!(code, "project_not_found");
    let (code, _) = client.call_error(
        "compare_symbol_between_commits",
        json!({ "symbol_name": "x", "base_ref": "a", "head_ref": "b", "workspace": "/nowhere/at/all" }),
    );
    assert_eq!(code, "workspace_not_registered");
    for wrong in [json!({ "symbol_name": "x" }), json!({ "symbol_name": "x", "base_ref": "main" })] {
        assert_eq!(client.call_error("compare_symbol_between_commits", wrong).0, "invalid_input");
    }
    assert_eq!(client.call_error("diff_context", json!({ "limit": "many" })).0, "invalid_input");
}

#[test]
fn without_a_common_commit_there_is_no_merge_base() {
    let project = indexed();
    project.repository.git(&["checkout", "--quiet", "--orphan", "alone"]);
    project.repository.commit("a root of its own");
    let error = project.json_expecting("diff main alone", 5);
    assert_eq!(error["error"]["code"], "merge_base_failed");
    // The two can still be compared.
    assert_eq!(project.json("compare authenticate feat alone")["diff_summary"]["status"], "modified");
    let plain = Project::new(Repository::plain());
    plain.repository.write("a.rs", "pub fn a() {}\n");
    plain.run_ok("index");
    assert_eq!(plain.json_expecting("diff", 5)["error"]["code"], "merge_base_failed");
    assert_eq!(plain.json_expecting("compare a x y", 5)["error"]["code"], "ref_not_indexed");
    let unborn = Project::new(Repository::new());
    unborn.repository.write("a.rs", "pub fn a() {}\n");
    unborn.run_ok("index");
    for question in ["diff", "diff main @worktree", "diff HEAD @worktree"] {
        let code = unborn.json_expecting(question, 5)["error"]["code"].clone();
        assert!(code == "merge_base_failed" || code == "ref_not_indexed", "{question}: {code}");
    }
    assert_eq!(project.json_expecting("diff nobody", 5)["error"]["code"], "ref_not_indexed");
    let stranger = history();
    assert_eq!(stranger.json_expecting("diff main feat --no-index", 3)["error"]["code"], "project_not_found");
    assert!(stranger.has_no_data());
}

#[test]
fn bare_and_shallow_repositories() {
    let origin = history();
    let bare = Project::new(Repository::plain());
    let source = origin.repository.root().to_str().expect("UTF-8");
    bare.repository.git(&["clone", "--quiet", "--bare", source, "."]);
    bare.run_ok("index");
    assert_eq!(changes_summary(&bare.json("diff main feat")).len(), 5);
    assert_eq!(bare.json("compare authenticate main feat")["diff_summary"]["status"], "modified");
    assert_eq!(bare.json_expecting("diff main @worktree", 2)["error"]["code"], "invalid_input");
    let shallow = Project::new(Repository::plain());
    let source = format!("file://{source}");
    shallow.repository.git(&["clone", "--quiet", "--depth", "1", "--no-single-branch", &source, "."]);
    shallow.run_ok("index");
    assert_eq!(shallow.json_expecting("diff main origin/feat", 5)["error"]["code"], "merge_base_failed");
    assert_eq!(shallow.json("compare authenticate main origin/feat")["diff_summary"]["status"], "modified");
}

/// Two versions of a file each, and the expected differences of their symbols.
const PARTS: &[(&str, &str, &str, &[&str])] = &[
    ("a.rs", "/// Old.\nfn f() {}\n", "/// New.\nfn f() {}\n", &[]),
    ("b.rs", "/// Old.\nfn f() {}\n", "/// New.\nfn f() { g() }\n", &["~ f body doc"]),
    (
        "c.rs",
        "fn f(\n    a: u8,\n    b: u8,\n) {\n    g()\n}\n",
        "fn f(\n    a: u8,\n    b: u16,\n) {\n    g()\n}\n",
        &["~ f signature"],
    ),
    ("d.rs", "fn f() {\n    g()\n}\n", "fn f() {\r\n    g()  \r\n\r\n}\r\n", &[]),
    ("e.rs", "struct S {\n    a: u8,\n}\n", "struct S {\n    a: u8,\n    b: u8,\n}\n", &["+ b"]),
    ("f.rs", "use a::b;\nfn f() {}\n", "use a::c;\n\nfn f() {}\n", &[]),
    (
        "a.py",
        "def f(x):\n    \"\"\"Old.\"\"\"\n    return x\n",
        "def f(x):\n    \"\"\"New.\"\"\"\n    return x\n",
        &["~ f doc"],
    ),
    ("b.py", "@one\ndef f(x):\n    return x\n", "@two\ndef f(x):\n    return x\n", &["~ f attributes"]),
    (
        "c.py",
        "class A:\n    def f(self):\n        return 1\n",
        "class A(B):\n    def f(self):\n        return 2\n",
        &["~ A signature", "~ f body"],
    ),
    (
        "d.py",
        "def f(x):\n    if x:\n        a()\n        b()\n",
        "def f(x):\n    if x:\n        a()\n    b()\n",
        &["~ f body"],
    ),
    ("a.go", "package p\n\n// F is old.\nfunc F() {}\n", "package p\n\n// F is new.\nfunc F() {}\n", &[]),
    (
        "b.go",
        "package p\n\ntype T struct{}\n\nfunc (t T) M() {}\n",
        "package p\n\ntype T struct{}\n\nfunc (t *T) M() {}\n",
        &["~ M signature"],
    ),
    (
        "a.ts",
        "function f(a: number) {\n  return a\n}\n",
        "export function f(a: number) {\n  return a\n}\n",
        &["~ f signature"],
    ),
    (
        "b.ts",
        "export class A {\n  m() { return 1 }\n}\n",
        "export class A {\n  m() { return 2 }\n  n() { return 3 }\n}\n",
        &["~ m body", "+ n"],
    ),
    ("notes.txt", "one\n", "two\n", &[]),
];

#[test]
fn facets_are_distinguished() {
    let repository = Repository::new();
    for (path, before, ..) in PARTS {
        repository.write(path, before);
    }
    repository.commit("one");
    repository.tag("v1");
    for (path, _, after, _) in PARTS {
        repository.write(path, after);
    }
    repository.commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    for (path, _, _, expected) in PARTS {
        assert_eq!(changes_summary(&project.json(&format!("diff v1 main --path-filter {path}"))), *expected, "{path}");
    }
    let all = project.json("diff v1 main --docs");
    let docs: Vec<&str> =
        all["doc_changes"].as_array().into_iter().flatten().filter_map(|symbol| symbol["path"].as_str()).collect();
    assert_eq!((&all["doc_only_changes"], docs), (&json!(2), vec!["a.go", "a.rs"]));
    assert_eq!(all["affected_files"], PARTS.len());
}

#[test]
fn answers_are_bounded_and_escaped() {
    let repository = Repository::new();
    repository.write("src/lib.rs", "pub fn first() {}\n").commit("one");
    repository.tag("v1");
    for file in 0..300 {
        let long = "argument_with_a_name_that_is_long: std::collections::HashMap<String, String>, ".repeat(6);
        let code = format!("pub fn caller_{file}() {{\n    f{file}();\n}}\n\n/// Doc.\npub fn f{file}({long}) {{}}\n");
        repository.write(&format!("src/a_folder_with_a_name/and_another_folder/file_{file}.rs"), code);
    }
    repository.write("src/\u{1b}[31m\u{202e}.rs", "pub fn odd() {}\n").commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    let reply = project.run("diff v1 main --limit 200 --callers --edges --docs --json");
    let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
    assert!(answer.to_string().len() <= 65536, "{} bytes", answer.to_string().len());
    assert_eq!((&answer["total_changes"], &answer["affected_files"]), (&json!(601), &json!(301)));
    assert!(answer["metadata"]["next_cursor"].is_string());
    let text = project.run_ok("diff v1 main --path-filter src/\u{1b}") + &project.run_ok("compare odd v1 main");
    assert!(text.contains("src/\\u{1b}[31m\\u{202e}.rs"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let mut cursor = String::new();
    let mut seen = 0;
    while seen < 601 {
        let page = project.json(&format!("diff v1 main --limit 200 {cursor}"));
        seen += changes_summary(&page).len();
        cursor = page["metadata"]["next_cursor"].as_str().map(|next| format!("--cursor {next}")).unwrap_or_default();
        assert_eq!(cursor.is_empty(), seen == 601);
    }
}

#[test]
fn build_variants_and_regrouping_are_not_changes() {
    let repository = Repository::new();
    let grouped = "package a\n\nvar (\n\tone = 1\n\ttwo = 2\n)\n\ntype (\n\tFoo struct {\n\t\tx      int\n\t\tlonger string\n\t}\n)\n";
    let single = "package a\n\nvar one = 1\nvar two = 2\n\ntype Foo struct {\n\tx int\n\tlonger string\n}\n";
    repository
        .write("a.go", single)
        .write("open_linux.go", "package a\n\nfunc open() int { return 1 }\n")
        .write("open_windows.go", "package a\n\nfunc open() int { return 2 }\n\nfunc drive() int { return 3 }\n")
        .write("other/open.go", "package a\n\nfunc drive() int { return 4 }\n")
        .write("c.rs", "#[cfg(unix)]\nfn go() -> u8 { 1 }\n#[cfg(windows)]\nfn go() -> u8 { 2 }\n");
    repository.commit("one");
    repository.branch("feat").write("a.go", grouped).delete("open_windows.go");
    repository.write("c.rs", "#[cfg(unix)]\nfn go() -> u8 { 1 }\n").commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    let answer = project.json("diff main feat");
    assert_eq!(changes_summary(&answer), ["~ go body attributes", "~ open body", "- drive"], "{answer:#}");
}

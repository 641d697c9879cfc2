//! The command line: exit codes, the shape of answers and errors, registration, configuration, workspaces.

use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;

use codecompass_testkit::{Home, Repository, shell_words};
use serde_json::{Value, json};
use support::{Project, location_arg};

const NONE: [&str; 0] = [];

fn greeting() -> Project {
    Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n"), ("tools/job.py", "def job():\n    return 1\n")])
}

/// Checks the fields that all metadata has, and their values.
#[track_caller]
fn expect_metadata(answer: &Value) {
    let metadata = &answer["metadata"];
    let one_of = |field: &str, allowed: &[&str]| {
        let value = metadata[field].as_str().unwrap_or_else(|| panic!("metadata has {field}: {answer}"));
        assert!(allowed.contains(&value), "{field} is {value}, one of {allowed:?}");
    };
    one_of("codecompass_protocol_version", &["1.0"]);
    one_of("freshness_status", &["fresh", "stale", "syncing"]);
    one_of("indexing_status", &["not_indexed", "indexing", "ready", "failed"]);
    one_of("result_completeness", &["complete", "partial", "truncated"]);
    one_of("schema_status", &["compatible", "not_indexed", "reindex_required", "corrupt_manifest"]);
    assert!(metadata["ref"].as_str().is_some_and(|name| !name.is_empty()), "{answer}");
}

/// Checks that an error has a code, a sentence, data and metadata, and nothing else.
#[track_caller]
fn expect_error(answer: &Value, code: &str) {
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(answer), ["error", "metadata"]);
    assert_eq!(keys(&answer["error"]), ["code", "message", "data"]);
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.len() > 10), "{answer}");
    assert!(answer["error"]["data"].is_object(), "{answer}");
    expect_metadata(answer);
}

/// Checks that every field of the shape exists with its type: `"s"` string, `"t"` time, `"i"` integer, `"n"` number,
/// with a trailing `?` if null is allowed.
#[track_caller]
fn expect_shape(value: &Value, shape: &[(&str, &str)]) {
    for (field, kind) in shape {
        let found = value.get(*field).unwrap_or_else(|| panic!("{field} is missing: {value}"));
        let (kind, null) = kind.strip_suffix('?').map_or((*kind, false), |kind| (kind, true));
        let fits = match kind {
            "s" => found.is_string(),
            "t" => found
                .as_str()
                .is_some_and(|text| text.len() == 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z')),
            "i" => found.is_u64(),
            "n" => found.is_number(),
            "o" => found.is_object(),
            "a" => found.is_array(),
            other => panic!("no such type: {other}"),
        };
        assert!(fits || (null && found.is_null()), "{field} should be {kind}: {found}");
    }
}

#[test]
fn unregistered_project_gets_a_hint_and_stays_unregistered() {
    let project = greeting();
    for command in ["locate greet --no-index", "status", "locate greet --ref main --no-index", "status --ref main"] {
        let told = project.run_expecting(command, 3);
        assert!(told.contains("No project is registered for") && told.contains("codecompass index"), "{told}");
        let error = project.json_expecting(command, 3);
        expect_error(&error, "project_not_found");
        assert_eq!(error["error"]["data"]["workspace"], project.repository.root().to_str().expect("UTF-8"));
        assert!(error["error"]["message"].as_str().expect("text").contains("`codecompass index`"), "{error}");
    }
    assert!(project.run_expecting("doctor", 1).contains("run `codecompass index`"));
    assert!(project.has_no_data());
    let absent = project.home.path().join("not/there");
    for command in ["locate greet --no-index", "status", "doctor"] {
        let reply = project.run_with(command, &[("CODECOMPASS_HOME", absent.to_str().expect("UTF-8"))]);
        assert!(matches!(reply.code, Some(1 | 3)), "`{command}`: {reply:?}");
    }
    assert!(project.has_no_data());
}

#[test]
fn first_query_indexes_the_work_tree() {
    const NOTE: &str = "indexing first (--no-index refuses)";
    for query in ["search greet", "locate greet", "grep greet", "context greet", "outline src", "read greet"] {
        let project = greeting();
        let first = project.run(query);
        assert!(first.succeeded() && first.stderr.contains(NOTE), "`{query}`: {first:?}");
        let again = project.run(query);
        assert_eq!((&again.stdout, again.stderr.as_str()), (&first.stdout, ""), "`{query}`");
    }
    // Standard output has the answer alone.
    let project = greeting();
    let answer = project.json("search greet");
    assert_eq!(answer["metadata"]["freshness_status"], "fresh", "{answer}");
    // After `init`, and after an index that was interrupted.
    for command in ["init", "index"] {
        let project = greeting();
        project.run_with(command, &[(codecompass_testkit::KILL_AT_WRITE, "3")]);
        let first = project.run("locate greet");
        assert!(first.succeeded() && first.stderr.contains(NOTE), "after `{command}`: {first:?}");
    }
    // A published index is used as it is.
    let project = greeting();
    project.run_ok("index");
    assert_eq!(project.run("locate nothing_like_it").stderr, "");
    // A plain folder is refused, and so is an answer without a sync.
    let (plain, project) = (Home::new(), greeting());
    fs::write(plain.path().join("a.py"), "def greet(): pass\n").expect("it can be written");
    for reply in [project.run_at(plain.path(), "locate greet", &[]), project.run("locate greet --no-sync")] {
        assert!(reply.code == Some(3) && !reply.stderr.contains(NOTE), "{reply:?}");
    }
    assert!(project.has_no_data());
}

#[test]
fn init_registers_without_indexing() {
    let project = greeting();
    let first = project.json("init");
    expect_metadata(&first);
    expect_shape(&first, &[("project_id", "s"), ("repo_root", "s")]);
    assert_eq!((&first["created"], &first["vcs_mode"]), (&json!(true), &json!(true)));
    assert_eq!(first["metadata"]["indexing_status"], "not_indexed");
    assert!(project.run_expecting("init", 0).contains("Already registered"));
    let again = project.json("init");
    assert_eq!((&again["created"], &again["project_id"]), (&json!(false), &first["project_id"]));

    // Registered, with nothing published: the answer is empty and says so.
    let empty = project.json_expecting("locate greet --no-index", 3);
    assert_eq!((&empty["results"], &empty["total_candidates"]), (&json!([]), &json!(0)));
    assert_eq!(empty["metadata"]["indexing_status"], "not_indexed");
    assert!(empty["metadata"]["warnings"][0].as_str().is_some_and(|text| text.contains("codecompass index")));
    let status = project.json("status");
    assert_eq!((&status["index_status"], &status["schema_status"]), (&json!("not_indexed"), &json!("not_indexed")));
    assert_eq!((&status["last_indexed_at"], &status["recent_jobs"]), (&Value::Null, &json!([])));
    assert_eq!(project.stderr_lines(), NONE);
    let checks = project.json("doctor")["checks"].clone();
    for part in ["sqlite", "tantivy", "tree-sitter", "ignore rules"] {
        assert!(checks.as_array().is_some_and(|all| all.iter().any(|check| check["name"] == part)), "{part}: {checks}");
    }

    // Indexing publishes it; registering again changes nothing.
    project.run_ok("index");
    project.run_ok("init");
    assert_eq!(project.places("locate greet"), location_arg("src/lib.rs"));
}

#[test]
fn index_and_sync_register_by_themselves() {
    for command in ["index", "sync", "index --ref main", "sync --ref main", "index --force"] {
        let project = greeting();
        let answer = project.json(command);
        assert_eq!((&answer["status"], &answer["mode"]), (&json!("published"), &json!("full")), "{command}");
        assert_eq!(project.places("locate greet"), location_arg("src/lib.rs"), "{command}");
    }
}

#[test]
fn answers_match_the_contract() {
    let project = greeting();
    let root = project.repository.root().to_str().expect("UTF-8").to_owned();
    for command in ["index", "sync"] {
        let answer = project.json(command);
        expect_metadata(&answer);
        let shape = [("job_id", "s"), ("status", "s"), ("mode", "s"), ("file_count", "i"), ("changed_files", "i")];
        expect_shape(&answer, &shape);
        expect_shape(
            &answer,
            &[("extracted_files", "i"), ("symbol_count", "i"), ("skipped", "o"), ("duration_ms", "i")],
        );
        assert_eq!(answer["metadata"]["cruxe_protocol_version"], "1.0", "it is under version control");
        assert_eq!(
            (&answer["metadata"]["ref"], &answer["metadata"]["freshness_status"]),
            (&json!("main"), &json!("fresh"))
        );
    }
    let status = project.json("status");
    expect_metadata(&status);
    expect_shape(
        &status,
        &[
            ("project_id", "s"),
            ("repo_root", "s"),
            ("index_status", "s"),
            ("schema_status", "s"),
            ("current_schema_version", "i"),
            ("required_schema_version", "i"),
            ("last_indexed_at", "t"),
            ("ref", "s"),
            ("file_count", "i"),
            ("symbol_count", "i"),
            ("recent_jobs", "a"),
        ],
    );
    assert_eq!((&status["active_job"], &status["repo_root"]), (&Value::Null, &json!(root)));
    assert_eq!((&status["file_count"], &status["symbol_count"]), (&json!(2), &json!(2)), "two functions in two files");
    let id = status["project_id"].as_str().expect("text");
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert!(project.data().ends_with(id));
    for job in status["recent_jobs"].as_array().expect("a list") {
        let shape = [("job_id", "s"), ("ref", "s"), ("mode", "s"), ("status", "s"), ("changed_files", "i")];
        expect_shape(job, &shape);
        expect_shape(job, &[("duration_ms", "i"), ("created_at", "t")]);
    }
    let located = project.json("locate greet");
    expect_metadata(&located);
    assert_eq!(located["total_candidates"], 1);
    let hit = &located["results"][0];
    expect_shape(
        hit,
        &[
            ("symbol_id", "s"),
            ("symbol_stable_id", "s"),
            ("path", "s"),
            ("line_start", "i"),
            ("line_end", "i"),
            ("kind", "s"),
            ("name", "s"),
            ("qualified_name", "s"),
            ("signature", "s"),
            ("language", "s"),
            ("score", "n"),
        ],
    );
    let (id, stable) = (hit["symbol_id"].as_str().expect("text"), hit["symbol_stable_id"].as_str().expect("text"));
    assert!(id.starts_with("sym_") && id.len() == 30, "{id}");
    assert!(stable.starts_with("b3:") && stable.len() == 35, "{stable}");
    assert!(hit["score"].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)));
    assert!(located.to_string().len() < 1000, "one located symbol is short: {} bytes", located.to_string().len());
}

#[test]
fn errors_have_code_and_recovery_data() {
    let project = greeting();
    project.run_ok("index");
    project.repository.branch("later").write("src/x.rs", "pub fn x() {}\n").commit("later");
    project.repository.checkout("main");

    let unindexed = project.json_without_refs("locate greet --ref later", 5);
    expect_error(&unindexed, "ref_not_indexed");
    let call = json!({ "tool": "index_repo", "params": { "ref": "later" } });
    assert_eq!(unindexed["error"]["data"]["call"], call, "{unindexed}");

    let unknown = project.json_expecting("locate greet --ref nowhere", 5);
    expect_error(&unknown, "ref_not_indexed");
    assert_eq!(unknown["error"]["data"]["ref"], "nowhere");

    let kind = project.json_expecting("locate greet --kind gizmo", 2);
    expect_error(&kind, "invalid_input");
    assert_eq!(kind["error"]["data"]["parameter"], "kind");
    assert!(kind["error"]["data"]["allowed"].as_array().is_some_and(|list| list.contains(&json!("struct"))), "{kind}");

    let language = project.json_expecting("locate greet --lang cobol", 2);
    expect_error(&language, "invalid_input");
    assert!(language["error"]["data"]["allowed"].as_array().is_some_and(|list| list.contains(&json!("python"))));

    expect_error(&project.json_expecting("locate ''", 2), "invalid_input");
    expect_error(&project.json_expecting("index --ref nowhere", 5), "ref_not_indexed");
    expect_error(&project.json_expecting("index --path absent", 5), "invalid_input");
    expect_error(&project.json_expecting("index --path src/lib.rs", 5), "invalid_input");

    // None of these changed anything.
    let jobs = project.json("status")["recent_jobs"].clone();
    assert_eq!(jobs.as_array().map(Vec::len), Some(1), "{jobs}");
}

#[test]
fn usage_errors_exit_2_and_help_exits_0() {
    let project = greeting();
    for wrong in ["", "frobnicate", "locate", "index --nonsense", "locate a b", "locate a --limit many", "bench"] {
        project.run_expecting(wrong, 2);
    }
    let help = project.run_ok("--help");
    for (code, what) in [(1, "nothing found"), (4, "another process"), (5, "the source cannot be read")] {
        assert!(help.contains(&format!("  {code}  {what}")), "{help}");
    }
    for command in ["init", "index", "sync", "status", "locate", "doctor", "bench"] {
        assert!(help.contains(command), "{help}");
        let own = project.run_ok(&format!("{command} --help"));
        for option in ["--json", "--workspace", "--config", "--verbose"] {
            assert!(own.contains(option), "{command} takes {option}:\n{own}");
        }
    }
    assert!(project.run_ok("--version").starts_with("codecompass "));
    assert!(project.has_no_data());
}

#[test]
fn both_names_of_the_program_do_the_same() {
    let project = greeting();
    project.run_ok("index");
    let run = |program: &str| {
        let output = Command::new(program)
            .args(["locate", "greet", "--json"])
            .current_dir(project.repository.root())
            .env("CODECOMPASS_HOME", project.home.path())
            .output()
            .expect("the program can be run");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    assert_eq!(run(env!("CARGO_BIN_EXE_cruxe")), run(env!("CARGO_BIN_EXE_codecompass")));

    // Without the main program it cannot answer, and reports what is missing.
    let folder = tempfile::tempdir().expect("a folder can be created");
    let alone = folder.path().join(format!("cruxe{}", std::env::consts::EXE_SUFFIX));
    std::fs::copy(env!("CARGO_BIN_EXE_cruxe"), &alone).expect("it can be copied");
    let output = Command::new(&alone).arg("--version").output().expect("it can be run");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(6));
    assert!(said.starts_with("cruxe: ") && said.contains("codecompass"), "{said}");
}

#[test]
fn jobs_are_listed_newest_first() {
    let project = greeting();
    project.repository.branch("feat").write("src/more.rs", "pub fn more() {}\n").commit("more");
    project.repository.checkout("main");
    let mut ids = Vec::new();
    let mut run = |command: &str, mode: &str| {
        let answer = project.json(command);
        assert_eq!(answer["mode"], mode, "{command}");
        ids.push(answer["job_id"].clone());
    };
    run("index", "full");
    run("index", "incremental");
    run("sync", "incremental");
    run("index --ref feat", "full");
    run("sync --ref feat", "incremental");
    run("index --force", "full");
    run("sync --force", "full");
    ids.reverse();
    let status = project.json("status");
    let jobs = status["recent_jobs"].as_array().expect("a list");
    let told = |field: &str| jobs.iter().map(|job| job[field].clone()).collect::<Vec<_>>();
    assert_eq!(told("job_id"), ids);
    assert_eq!(told("ref"), ["main", "main", "feat", "feat", "main", "main", "main"]);
    assert_eq!(told("mode"), ["full", "full", "incremental", "full", "incremental", "incremental", "full"]);
    assert!(told("status").iter().all(|status| status == "published"));
    assert_eq!(told("changed_files")[2..], [json!(0), json!(3), json!(0), json!(0), json!(2)]);
}

#[test]
fn the_root_of_the_file_system_and_the_home_folder_are_refused() {
    let project = Project::new(Repository::plain());
    project.repository.write("a.rs", "pub fn a() {}\n").write("below/b.rs", "pub fn b() {}\n");
    let root = project.repository.root().to_str().expect("UTF-8");
    for command in ["index", "init", "sync"] {
        let told = project.run_expecting(&format!("{command} --path /"), 5);
        assert!(told.contains('/') && told.contains("error:"), "{told}");
        let home = project.run_with(command, &[("HOME", root)]);
        assert_eq!(home.code, Some(5), "{}{}", home.stdout, home.stderr);
    }
    assert!(project.has_no_data());
    // A folder in it is not the home folder.
    let below = project.run_with("index --path below", &[("HOME", root)]);
    assert_eq!(below.code, Some(0), "{}", below.stderr);
}

#[test]
fn path_in_work_tree_selects_the_workspace() {
    let project = greeting();
    project.repository.write("deep/er/x.rs", "pub fn x() {}\n");
    let answer = project.json("index --path deep/er");
    assert_eq!(answer["file_count"], 3, "the path does not limit the index");
    assert_eq!(project.places("locate greet --workspace tools"), location_arg("src/lib.rs"));
    assert_eq!(project.json("status --path src")["repo_root"], project.repository.root().to_str().expect("UTF-8"));
    let inside = project.run_at(&project.repository.path("deep/er"), "locate x", &[]);
    assert!(inside.stdout.starts_with("deep/er/x.rs:1 pub fn x()"), "paths are from the root: {}", inside.stdout);
    let elsewhere =
        format!("locate greet --workspace {}", shell_words::quote(&project.repository.root().to_string_lossy()));
    let elsewhere = project.run_at(Path::new("/"), &elsewhere, &[]);
    assert!(elsewhere.stdout.starts_with("src/lib.rs:1"), "{}{}", elsewhere.stdout, elsewhere.stderr);
    project.data();
}

#[test]
fn subfolder_of_registered_folder_selects_it() {
    let project = Project::new(Repository::plain());
    project.repository.write("a/b/c.rs", "pub fn c() {}\n").write("d.rs", "pub fn d() {}\n");
    project.run_ok("index");
    let inside = |command: &str| project.run_at(&project.repository.path("a/b"), command, &[]);
    assert!(inside("locate d").stdout.starts_with("d.rs:1"), "{}", inside("locate d").stderr);
    assert!(inside("sync").succeeded());
    project.data();
}

#[test]
fn wrong_settings_are_named_in_errors() {
    let project = greeting();
    let write = |path: &Path, text: &str| fs::write(path, text).expect("the file can be written");
    let user = project.home.path().join("config.toml");
    let expect = |command: &str, env: &[(&str, &str)], words: &[&str]| {
        let reply = project.run_with(command, env);
        assert_eq!(reply.code, Some(2), "{command} {env:?}: {}", reply.stderr);
        words.iter().for_each(|word| assert!(reply.stderr.contains(word), "{word}: {}", reply.stderr));
    };
    write(&user, "[index]\nthreds = 3\n");
    expect("index", &[], &["index.threds", "index.threads", "config.toml"]);
    write(&user, "[index]\nthreads = \"many\"\n");
    expect("locate greet", &[], &["index.threads", "number"]);
    write(&user, "[index\n");
    expect("status", &[], &["config.toml"]);
    write(&user, "[query]\nfreshness_policy = \"sometimes\"\n");
    expect("index", &[], &["query.freshness_policy", "strict, balanced, best_effort"]);

    // A file given by a flag replaces the user's own.
    let named = project.home.path().join("named.toml");
    write(&named, "[index]\nignore = [\"/tools/\"]\nthreads = 1\n");
    let flag = format!("--config {}", shell_words::quote(&named.to_string_lossy()));
    assert_eq!(project.json(&format!("index {flag}"))["file_count"], 1);
    expect("index --config absent.toml", &[], &["absent.toml"]);

    // Variables override files.
    write(&user, "[index]\nthreads = 1\n");
    for threads in ["1", "2", "0"] {
        let reply = project.run_with("index --force", &[("CODECOMPASS_INDEX_THREADS", threads)]);
        assert!(reply.succeeded(), "{threads} threads: {}", reply.stderr);
    }
    for wrong in ["many", "-1", "1000", ""] {
        expect("index", &[("CODECOMPASS_INDEX_THREADS", wrong)], &["CODECOMPASS_INDEX_THREADS", "index.threads"]);
    }
    let small = project.run_with("index --json", &[("CODECOMPASS_INDEX_IGNORE", "/src/, /tools/")]);
    assert!(small.stdout.contains("\"file_count\": 0"), "{}", small.stdout);
}

#[test]
fn repository_config_is_limited() {
    let project = greeting();
    project.repository.write(
        ".codecompass/config.toml",
        "[index]\nignore = [\"/tools/\"]\nthreads = 64\n[query]\nfreshness_policy = \"best_effort\"\n[hooks]\nrun = \"x\"\n",
    );
    let answer = project.json("index");
    let warnings = answer["metadata"]["warnings"].to_string();
    assert!(warnings.contains("index.threads cannot be set by a repository"), "{warnings}");
    assert!(warnings.contains(".codecompass/config.toml:7: "), "{warnings}");
    assert!(!warnings.contains("hooks"), "a repository does not speak in our voice: {warnings}");
    assert!(!warnings.contains("ignore") && !warnings.contains("freshness_policy"), "{warnings}");
    assert_eq!(project.places("locate job"), NONE);
    let complaints = project.stderr_lines();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints.iter().all(|text| text.contains(".codecompass/config.toml")), "{complaints:?}");

    // Its freshness policy applies: stale files are reported, not synced.
    project.repository.write("src/new.rs", "pub fn newest() {}\n");
    let stale = project.json_expecting("locate newest", 1);
    assert_eq!(stale["metadata"]["freshness_status"], "stale");
    // The user's own setting overrides it.
    let strict = project.run_with("locate newest --json", &[("CODECOMPASS_QUERY_FRESHNESS_POLICY", "strict")]);
    assert_eq!(strict.code, Some(3), "{}", strict.stdout);
    let strict: Value = serde_json::from_str(&strict.stdout).expect("an error is JSON");
    expect_error(&strict, "index_stale");
    let data = &strict["error"]["data"];
    assert_eq!((&data["last_indexed_commit"], &data["changed_files"]), (&data["current_head"], &json!(1)), "{data}");

    // A malformed file is a warning as well.
    project.repository.write(".codecompass/config.toml", "[index\n");
    let warnings = project.json("index")["metadata"]["warnings"].to_string();
    assert!(warnings.contains(".codecompass/config.toml"), "{warnings}");
    assert_eq!(project.places("locate job"), location_arg("tools/job.py"));
}

#[test]
fn an_answer_says_how_fresh_it_is() {
    let project = greeting();
    project.run_ok("index");
    let freshness = |command: &str| {
        let reply = project.run(&format!("{command} --json"));
        let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
        answer["metadata"]["freshness_status"].as_str().expect("the answer has a freshness status").to_owned()
    };
    assert_eq!((freshness("locate greet --no-sync"), freshness("status")), ("fresh".into(), "fresh".into()));
    project.repository.write("src/new.rs", "pub fn newest() {}\n");
    assert_eq!((freshness("locate greet --no-sync"), freshness("status")), ("stale".into(), "stale".into()));
    assert_eq!(project.places("locate newest --no-sync"), NONE);
    // A query syncs the index first.
    assert_eq!(freshness("locate greet"), "fresh");
    assert_eq!(project.places("locate newest --no-sync"), location_arg("src/new.rs"));
    project.repository.commit("new");
    assert_eq!(freshness("locate greet --no-sync"), "stale", "HEAD is another commit");
    project.run_ok("sync");
    assert_eq!((freshness("locate greet --no-sync"), freshness("status")), ("fresh".into(), "fresh".into()));
}

#[test]
fn repository_text_is_escaped_for_terminals() {
    let project = Project::new(Repository::new());
    let evil = "src/a\u{1b}[31m\u{202e}b.py";
    project.repository.write(evil, "def shown(x=\"\u{202e}\u{2066}\u{9b}\u{7}\"):\n    pass\n");
    project.repository.write("big\u{1b}\u{2069}.py", vec![b'#'; 2 << 20]);
    project.repository.commit("evil");
    let steers = |char: char| {
        char != '\n'
            && (char.is_control()
                || ('\u{202a}'..='\u{202e}').contains(&char)
                || ('\u{2066}'..='\u{2069}').contains(&char))
    };
    for command in ["index", "locate shown", "status", "doctor", "index --json", "locate shown --json", "doctor --json"]
    {
        let told = project.run_ok(command);
        assert!(!told.contains(steers), "`{command}` prints {told:?}");
    }
    for command in [
        "locate \u{1b}\u{202e}",
        "locate shown --ref \u{1b}[0m",
        "locate shown --kind \u{9b}\u{202e}",
        "index --path \u{1b}",
    ] {
        let reply = project.run(command);
        assert!(!(reply.stdout.clone() + &reply.stderr).contains(steers), "`{command:?}` prints {reply:?}");
    }
    assert!(project.run_ok("locate shown").contains("src/a\\u{1b}[31m\\u{202e}b.py:1"));
    // Escaped or not, the value is the same.
    let hit = project.json("locate shown")["results"][0].clone();
    assert_eq!(hit["path"], evil);
    assert!(hit["signature"].as_str().is_some_and(|text| text.contains('\u{2066}')), "{hit}");
}

#[test]
fn skipped_files_are_counted_by_reason() {
    let project = Project::new(Repository::new());
    let repository = &project.repository;
    repository.write("src/lib.rs", "pub fn kept() {}\n");
    repository.write(".gitignore", "/ignored.rs\n");
    repository.write("ignored.rs", "pub fn ignored() {}\n");
    repository.write(".env", "def secret(): pass\n").write("keys/server.key", "x");
    repository.write("binary.rs", b"pub fn binary() {}\n\0");
    repository.write("minified.py", format!("def minified(): return [{}]\n", "1,".repeat(4000)));
    repository.write(".gitattributes", "generated.rs linguist-generated\n");
    repository.write("generated.rs", "pub fn generated() {}\n");
    repository.write("large.rs", format!("pub fn large() {{}}\n{}", "// filler\n".repeat(110_000)));
    repository.write("node_modules/dep.py", "def foreign(): pass\n");
    repository.write("pointer.rs", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("src/lib.rs", repository.path("link.rs")).expect("a link can be created");
    repository.commit("all of it");
    let mut expected = json!({
        "ignored": 1, "builtin_folder": 1, "secret": 2, "too_large": 1, "binary": 1, "minified": 1, "generated": 1,
        "lfs_pointer": 1, "symlink": 1,
    });
    if cfg!(not(unix)) {
        expected.as_object_mut().expect("an object").remove("symlink");
    }
    let answer = project.json("index");
    assert_eq!(answer["file_count"], 3, "the code and the two files of rules");
    assert_eq!(answer["skipped"], expected);
    assert_eq!(project.json("status")["skipped"], expected);
    assert_eq!(project.json("sync")["skipped"], expected);
    let summary = project.run_ok("index --force");
    assert!(summary.contains("10 skipped:") && summary.contains("large.rs"), "{summary}");
    for name in ["ignored", "secret", "binary", "minified", "generated", "large", "foreign"] {
        assert_eq!(project.places(&format!("locate {name}")), NONE, "{name}");
    }
    assert_eq!(project.places("locate kept"), location_arg("src/lib.rs"));

    // A custom limit; files that git ignores were never committed.
    let small = project.run_with("index --json", &[("CODECOMPASS_INDEX_MAX_FILE_KIB", "2000")]);
    let small: Value = serde_json::from_str(&small.stdout).expect("an answer is JSON");
    assert_eq!((&small["file_count"], &small["skipped"]["too_large"]), (&json!(4), &Value::Null));
}

#[test]
fn later_skipped_files_are_counted() {
    let project = greeting();
    project.run_ok("index");
    let expect_counted = |what: &str| {
        project.run_ok("sync");
        project.fresh_index(&[]).expect_equal(&["status --json".to_owned()]);
        assert_eq!(project.places("locate greet"), location_arg("src/lib.rs"), "{what}");
    };
    for (path, bytes) in [
        ("b.rs", vec![0]),
        ("tools/long.py", vec![b'#'; 1 << 19]),
        (".env", vec![b'x']),
        ("tools/big.py", b"# many lines\n".repeat(200_000)),
    ] {
        project.repository.write(path, bytes);
        expect_counted(path);
        project.repository.delete(path);
        expect_counted(path);
    }
    project.repository.write(".gitignore", "/scratch/\n");
    project.repository.write("scratch/a.rs", "pub fn scratched() {}\n").write(".env", "x");
    expect_counted("scratch/a.rs");
}

#[test]
fn verbose_and_closed_pipe_work() {
    let project = greeting();
    project.run_ok("-v index");
    project.run_ok("locate greet -vv");
    let output = Command::new("sh")
        .args(["-c", &format!("{} status | head -c 1", shell_words::quote(support::PROGRAM))])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .output()
        .expect("a shell can be run");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_benchmark_measures_without_leaving_anything_behind() {
    let project = greeting();
    let report = project.json("bench index . --threads 1");
    expect_metadata(&report);
    assert_eq!(report["repositories"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report["repositories"][0]["threads"], json!(1), "{report}");
    assert!(project.run_ok("bench index .").contains("full index"));
    assert!(project.run_ok("bench query .").contains("first search"));
    project.run_expecting("bench index absent", 5);
    assert!(project.has_no_data());
}

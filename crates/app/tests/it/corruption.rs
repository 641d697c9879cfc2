//! A corrupt store: queries refuse, status and doctor still answer, and `index --force` rebuilds it.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use codecompass_testkit::Home;
use serde_json::{Value, json};
use support::client::{Client, StdioClient, wait_until};
use support::{Project, files_ending, location_arg};

const NONE: [&str; 0] = [];

/// The manifest's row with the version, as SQLite writes it: the column types, the key, the version; a checksum
/// follows.
const VERSION_ROW: &[u8] = b"\x04\x29\x01\x04schema_version\x0a";

fn project() -> Project {
    let project =
        Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n"), ("tools/job.py", "def job():\n    return 1\n")]);
    project.repository.branch("feat").write("src/lib.rs", "pub fn hello() {}\n").commit("feat");
    project.repository.checkout("main");
    project.run_ok("index");
    project.run_ok("index --ref feat");
    checkpoint_log(&project.epoch());
    project
}

/// Moves SQLite's log into the database, as SQLite itself would, so that corruption of the database is corruption of
/// the store. The log consists of a header and frames, each with a page's number, the size of the database after a
/// commit, and the page.
fn checkpoint_log(epoch: &Path) {
    let (path, log_path) = (epoch.join("store.db"), epoch.join("store.db-wal"));
    let Ok(log) = fs::read(&log_path) else { return };
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes")) as usize;
    let mut database = fs::read(&path).expect("the database exists");
    if let Some(header) = log.get(..32) {
        let page = number(&header[8..12]);
        let mut waiting = Vec::new();
        for frame in log[32..].chunks_exact(24 + page).take_while(|frame| frame[8..16] == header[16..24]) {
            waiting.push((number(&frame[..4]), &frame[24..]));
            let pages = number(&frame[4..8]);
            if pages > 0 {
                database.resize(pages * page, 0);
                for (place, bytes) in waiting.drain(..).filter(|(place, _)| *place <= pages) {
                    database[(place - 1) * page..][..page].copy_from_slice(bytes);
                }
            }
        }
    }
    fs::write(&path, database).expect("it can be written");
    fs::remove_file(log_path).expect("it existed");
    fs::remove_file(epoch.join("store.db-shm")).expect("it exists with the log");
}

/// Replaces a file's bytes with the result of `edit`.
fn change(path: &Path, edit: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    fs::write(path, edit(bytes)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Replaces the only occurrence of these bytes.
fn replace(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let places: Vec<usize> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert_eq!(places.len(), 1, "{from:?} occurs once");
    bytes[places[0]..][..to.len()].copy_from_slice(to);
    bytes
}

fn database(project: &Project) -> PathBuf {
    project.epoch().join("store.db")
}

/// Checks that queries refuse with a hint; that status and doctor answer; that writing without force changes nothing;
/// and that force rebuilds the store.
#[track_caller]
fn expect_refused_then_rebuilt(project: &Project, status: &str, found: Value) {
    for command in ["locate greet", "locate greet --no-sync", "locate hello --ref feat"] {
        let refused = project.json_expecting(command, 3);
        let error = &refused["error"];
        assert_eq!(error["code"], "index_incompatible", "{refused}");
        assert!(
            error["message"].as_str().is_some_and(|text| text.contains("`codecompass index --force`")),
            "{refused}"
        );
        assert_eq!(error["data"]["command"], "codecompass index --force");
        assert_eq!(
            (&error["data"]["schema_status"], &error["data"]["current_schema_version"]),
            (&json!(status), &found)
        );
        assert!(error["data"]["required_schema_version"].is_u64(), "{refused}");
    }
    let told = project.json("status");
    assert_eq!((&told["schema_status"], &told["metadata"]["schema_status"]), (&json!(status), &json!(status)));
    assert_eq!((&told["current_schema_version"], &told["file_count"]), (&found, &json!(0)));
    let complaints = project.stderr_lines();
    assert!(complaints.len() == 1 && complaints[0].contains(status), "{complaints:?}");
    assert!(complaints[0].contains("→ run `codecompass index --force`"), "{complaints:?}");

    for command in ["sync", "index"] {
        assert_eq!(project.json_expecting(command, 3)["error"]["code"], "index_incompatible", "{command}");
    }
    let mended = project.json("index --force");
    assert_eq!((&mended["mode"], &mended["file_count"]), (&json!("full"), &json!(2)));
    expect_healthy(project);
}

#[track_caller]
fn expect_healthy(project: &Project) {
    assert_eq!(project.places("locate greet --no-sync"), location_arg("src/lib.rs"));
    assert_eq!(project.places("locate job"), location_arg("tools/job.py"));
    project.run_ok("index --ref feat");
    assert_eq!(project.places("locate hello --ref feat"), location_arg("src/lib.rs"));
    assert_eq!(project.stderr_lines(), NONE);
    let questions = ["locate greet --json", "locate hello --json --ref feat", "status --json"];
    project.fresh_index(&["feat"]).expect_equal(&questions.map(str::to_owned));
    let entries = fs::read_dir(project.data()).expect("it can be listed");
    let epochs = entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir())).count();
    assert_eq!(epochs, 1, "the corrupt store is deleted");
}

#[test]
fn a_database_of_garbage() {
    let project = project();
    change(&database(&project), |bytes| vec![0x5a; bytes.len()]);
    expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
}

#[test]
fn an_empty_database() {
    let project = project();
    change(&database(&project), |_| Vec::new());
    expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
}

#[test]
fn a_database_that_is_gone() {
    let project = project();
    fs::remove_file(database(&project)).expect("it existed");
    expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
}

#[test]
fn a_store_that_is_gone() {
    let project = project();
    fs::remove_dir_all(project.epoch()).expect("it existed");
    expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
}

#[test]
fn a_pointer_to_nowhere() {
    for garbage in [&b"garbage"[..], b"", b"epoch-", b"epoch-99", b"../epoch-1", b"epoch-\xff"] {
        let project = project();
        fs::write(project.data().join("current"), garbage).expect("it can be written");
        expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
    }
}

#[test]
fn a_manifest_without_a_version() {
    let project = project();
    change(&database(&project), |bytes| replace(bytes, VERSION_ROW, b"\x04\x29\x01\x04schema_verzion"));
    expect_refused_then_rebuilt(&project, "corrupt_manifest", Value::Null);
}

#[test]
fn older_schema_is_rebuilt_by_index_and_by_queries() {
    let make_older = |project: &Project| {
        change(&database(project), |bytes| replace(bytes, VERSION_ROW, b"\x04\x29\x01\x04schema_version\x07"));
    };
    let indexed = project();
    make_older(&indexed);
    for command in ["locate greet --no-index", "sync"] {
        assert_eq!(indexed.json_expecting(command, 3)["error"]["code"], "index_incompatible", "{command}");
    }
    let rebuilt = indexed.json("index");
    assert_eq!((&rebuilt["mode"], &rebuilt["file_count"]), (&json!("full"), &json!(2)));
    expect_healthy(&indexed);
    let queried = project();
    make_older(&queried);
    let reply = queried.run("locate greet");
    assert!(reply.succeeded() && reply.stderr.contains("the index is of an older version"), "{reply:?}");
    expect_healthy(&queried);
}

#[test]
fn older_schema_is_rebuilt_by_auto_index_server() {
    let project = project();
    change(&database(&project), |bytes| replace(bytes, VERSION_ROW, b"\x04\x29\x01\x04schema_version\x07"));
    let ask = |client: &mut StdioClient| client.result("locate_symbol", json!({ "name": "greet" }))["answer"].clone();
    let open = |flags: &[&str]| StdioClient::open(project.repository.root(), project.home.path(), flags);
    assert_eq!(ask(&mut open(&[]))["error"]["code"], "index_incompatible");
    let mut client = open(&["--auto-index"]);
    let first = ask(&mut client);
    let state = first["metadata"]["indexing_status"].as_str().unwrap_or_default();
    assert!(["indexing", "ready"].contains(&state), "{first}");
    assert!(wait_until(Duration::from_secs(30), || ask(&mut client)["total_candidates"] == 1));
}

#[test]
fn another_version_of_the_schema() {
    let project = project();
    change(&database(&project), |bytes| replace(bytes, VERSION_ROW, b"\x04\x29\x01\x04schema_version\x63"));
    expect_refused_then_rebuilt(&project, "reindex_required", json!(99));
}

#[test]
fn truncated_or_corrupt_database() {
    for part in 1..4 {
        let project = project();
        change(&database(&project), |mut bytes| {
            bytes.truncate(bytes.len() / 4 * part);
            bytes
        });
        expect_unhealthy_then_rebuilt(&project);
        checkpoint_log(&project.epoch());
        change(&database(&project), |mut bytes| {
            let (from, to) = (bytes.len() / 4 * part, bytes.len() / 4 * part + 6000);
            let end = to.min(bytes.len());
            bytes[from..end].fill(0xa5);
            bytes
        });
        expect_unhealthy_then_rebuilt(&project);
    }
}

/// Wherever the corruption is: no panic, no wrong answer, the doctor finds it, and force rebuilds the store.
#[track_caller]
fn expect_unhealthy_then_rebuilt(project: &Project) {
    for (command, place) in
        [("locate greet --no-sync", "src/lib.rs"), ("locate hello --ref feat --no-sync", "src/lib.rs")]
    {
        let reply = project.run(&format!("{command} --json"));
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_else(|_| panic!("`{command}`: {reply:?}"));
        match reply.code {
            Some(0) => assert_eq!(support::places(&answer), location_arg(place)),
            code => assert_eq!((code, &answer["error"]["code"]), (Some(3), &json!("index_incompatible")), "{reply:?}"),
        }
    }
    assert!(project.run("status").succeeded(), "status always answers: {:?}", project.run("status"));
    let complaints = project.stderr_lines();
    assert!(complaints.iter().any(|told| told.contains("codecompass index --force")), "{complaints:?}");
    project.run_ok("index --force");
    expect_healthy(project);
}

#[test]
fn a_text_index_with_wrong_bytes() {
    for ending in ["idx", "term", "fast"] {
        let project = project();
        let segments = files_ending(&project.epoch().join("text"), ending);
        let largest = segments.iter().max_by_key(|path| path.metadata().map_or(0, |meta| meta.len()));
        change(largest.expect("there is a segment"), |mut bytes| {
            bytes[0] ^= 0xff;
            bytes
        });
        let complaints = project.stderr_lines();
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(
            complaints[0].starts_with("tantivy: ") && complaints[0].ends_with("→ run `codecompass index --force`"),
            "{complaints:?}"
        );
        assert_eq!(
            project.places("locate greet --no-sync"),
            location_arg("src/lib.rs"),
            "queries that do not need it still work"
        );
        project.run_ok("index --force");
        expect_healthy(&project);
    }
}

#[test]
fn missing_text_index_is_rebuilt_by_sync() {
    for part in ["", "meta.json", ".managed.json"] {
        let project = project();
        let text = project.epoch().join("text");
        match part {
            "" => fs::remove_dir_all(&text).expect("it existed"),
            part => fs::remove_file(text.join(part)).expect("it existed"),
        }
        let synced = project.json("sync");
        assert_eq!(
            (&synced["changed_files"], &synced["extracted_files"]),
            (&json!(0), &json!(0)),
            "no file is read again"
        );
        assert_eq!(project.stderr_lines(), NONE, "without {part}");
        expect_healthy(&project);
    }
}

#[test]
fn garbage_text_index_is_rebuilt_by_sync() {
    let project = project();
    fs::write(project.epoch().join("text/meta.json"), "garbage").expect("it can be written");
    project.run_ok("sync");
    expect_healthy(&project);
}

#[test]
fn leftover_lock_or_partial_store_is_harmless() {
    let project = project();
    fs::create_dir_all(project.data().join("epoch-7/text")).expect("it can be created");
    fs::write(project.data().join("current.new"), "epoch-").expect("it can be written");
    fs::write(project.data().join("write.lock"), "garbage").expect("it can be written");
    project.repository.write("src/new.rs", "pub fn newest() {}\n");
    project.run_ok("sync");
    assert_eq!(project.places("locate newest --no-sync"), location_arg("src/new.rs"));
    expect_healthy(&project);
}

#[test]
fn truncated_log_leaves_an_earlier_state() {
    let project = Project::with_files(&[("src/state.rs", &state(0))]);
    project.run_ok("index");
    for step in 1..5 {
        project.repository.write("src/state.rs", state(step));
        project.run_ok("sync");
    }
    let log = project.epoch().join("store.db-wal");
    let whole = fs::metadata(&log).map_or(0, |meta| meta.len());
    let saved = project.home.save();
    for part in 1..12 {
        project.home.restore(&saved);
        fs::remove_file(project.epoch().join("store.db-shm")).expect("it exists with the log");
        fs::OpenOptions::new()
            .write(true)
            .open(&log)
            .and_then(|file| file.set_len(whole / 12 * part))
            .expect("it can be truncated");
        let reply = project.run("locate state --no-sync --json");
        let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
        match reply.code {
            // Truncated before there was anything to read.
            Some(3) if answer.get("error").is_some() => {
                assert_eq!(answer["error"]["code"], "index_incompatible", "{answer}");
                project.run_ok("index --force");
            }
            Some(3) => assert_eq!(answer["metadata"]["indexing_status"], "not_indexed", "{answer}"),
            code => {
                assert_eq!((code, support::places(&answer)), (Some(0), location_arg("src/state.rs")), "{answer}");
            }
        }
        project.run_ok("sync");
        assert_eq!(project.stderr_lines(), NONE, "{part} of 12");
        project.fresh_index(&[]).expect_equal(&["locate state --json".to_owned(), "status --json".to_owned()]);
    }
}

fn state(step: usize) -> String {
    format!("pub fn state(step_{step}: ()) {{}}\n")
}

/// For each kind of file, a small one that has to be intact to find words.
const WORDS: [&str; 7] = ["idx", "pos", "term", "store", "fast", "fieldnorm", "json"];

/// Queries of every kind, about names, words, exact text, calls and files.
const QUESTIONS: [&str; 7] = [
    "search 'who greets whom' --json",
    "search greet --json",
    "grep gree[a-z] --json",
    "locate greet --json",
    "references greet --json",
    "outline src/lib.rs --json",
    "context 'greet somebody' --json",
];

fn greeting() -> Project {
    let project = Project::indexed(&[
        ("src/lib.rs", "/// Greets whoever is there.\npub fn greet(whom: &str) -> String {\n    hello(whom)\n}\n"),
        ("src/hello.rs", "pub fn hello(whom: &str) -> String {\n    format!(\"hello {whom}\")\n}\n"),
        ("tools/job.py", "def job():\n    return greet('you')\n"),
    ]);
    checkpoint_log(&project.epoch());
    project
}

/// Returns the exit code of a query, and its answer about the code.
fn answer_of(project: &Project, question: &str) -> (Option<i32>, Value) {
    let reply = project.run(question);
    assert!(!reply.stderr.contains("panicked") && !reply.stderr.contains("internal error"), "`{question}`: {reply:?}");
    let mut answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_else(|_| panic!("`{question}`: {reply:?}"));
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("metadata");
    }
    (reply.code, answer)
}

fn is_refused((code, answer): &(Option<i32>, Value)) -> bool {
    let status = &answer["error"]["data"]["schema_status"];
    *code == Some(3) && answer["error"]["code"] == "index_incompatible" && status == "corrupt_manifest"
}

/// Checks that every query is answered as before, or refused. Returns the number of refused ones.
#[track_caller]
fn expect_correct_or_refused(project: &Project, right: &[(Option<i32>, Value)], what: &str) -> usize {
    let mut refused = 0;
    for (question, right) in QUESTIONS.iter().zip(right) {
        let now = answer_of(project, question);
        refused += usize::from(is_refused(&now));
        assert!(now == *right || is_refused(&now), "{what}: `{question}` said {now:?} instead of {right:?}");
    }
    refused
}

#[test]
fn text_index_with_flipped_byte_is_reported() {
    let project = greeting();
    let right: Vec<_> = QUESTIONS.iter().map(|question| answer_of(&project, question)).collect();
    let saved = project.home.save();
    // Four offsets in each file, including the first and the last.
    for ending in WORDS {
        let count = files_ending(&project.epoch().join("text"), ending).len();
        for place in 0..4 {
            project.home.restore(&saved);
            let files = files_ending(&project.epoch().join("text"), ending);
            let path = &files[place % count];
            change(path, |mut bytes| {
                let at = (bytes.len() - 1) * place / 3;
                bytes[at] ^= 0x21;
                bytes
            });
            let what = format!("{ending}, place {place} of 3");
            let refused = expect_correct_or_refused(&project, &right, &what);
            let complaints = project.stderr_lines();
            assert_eq!(refused > 0, !complaints.is_empty(), "{what}: {refused} refused, {complaints:?}");
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
            let names_it = |told: &String| told.contains(name) && told.contains("codecompass index --force");
            assert!(complaints.iter().all(names_it), "{what}: {complaints:?}");
        }
    }
    project.run_ok("index --force");
    assert_eq!((project.stderr_lines(), expect_correct_or_refused(&project, &right, "mended")), (vec![], 0));
}

#[test]
fn text_index_with_wrong_file_is_reported() {
    let project = greeting();
    // A second segment, with files that can replace those of the first.
    project.repository.write("src/more.rs", "pub fn more() -> &'static str {\n    \"greet more\"\n}\n");
    project.run_ok("sync");
    checkpoint_log(&project.epoch());
    let right: Vec<_> = QUESTIONS.iter().map(|question| answer_of(&project, question)).collect();
    let saved = project.home.save();
    for ending in WORDS.iter().filter(|ending| **ending != "json") {
        for way in ["cut", "emptied", "gone", "another's"] {
            project.home.restore(&saved);
            let files = files_ending(&project.epoch().join("text"), ending);
            let other = fs::read(&files[1]).expect("there are two segments");
            match way {
                "gone" => fs::remove_file(&files[0]).expect("it existed"),
                _ => change(&files[0], |bytes| match way {
                    "cut" => bytes[..bytes.len() / 2].to_vec(),
                    "emptied" => Vec::new(),
                    _ => other,
                }),
            }
            let is_same = fs::read(&files[0]).is_ok_and(|bytes| Ok(bytes) == fs::read(&files[1]).map_err(drop));
            let refused = expect_correct_or_refused(&project, &right, &format!("{ending} {way}"));
            assert!(refused > 0 || is_same && *ending == "pos" || way == "gone" && *ending == "pos", "{ending} {way}");
            assert_eq!(project.stderr_lines().is_empty(), refused == 0 && way != "gone", "{ending} {way}");
        }
    }
}

#[test]
fn outdated_half_is_reported_or_updated() {
    let project = greeting();
    let (older, newer) = (Home::new(), Home::new());
    copy_folder(&project.epoch(), older.path());
    project.repository.write("src/newer.rs", "pub fn newer() {\n    greet(\"newer\")\n}\n");
    project.run_ok("sync");
    checkpoint_log(&project.epoch());
    copy_folder(&project.epoch(), newer.path());
    let right: Vec<_> = QUESTIONS.iter().map(|question| answer_of(&project, question)).collect();
    let put = |database: &Home, text: &Home| {
        fs::remove_dir_all(project.epoch()).expect("it existed");
        copy_folder(database.path(), &project.epoch());
        fs::remove_dir_all(project.epoch().join("text")).expect("it existed");
        copy_folder(&text.path().join("text"), &project.epoch().join("text"));
    };
    // The text index of an hour ago with the current database.
    put(&newer, &older);
    assert!(expect_correct_or_refused(&project, &right, "older text") > 0);
    let complaints = project.stderr_lines();
    assert!(complaints.len() == 1 && complaints[0].contains("meta.json is older than store.db"), "{complaints:?}");
    // The database of an hour ago with the current text index: a command syncs the missing files.
    put(&older, &newer);
    assert_eq!(expect_correct_or_refused(&project, &right, "older database"), 0);
    assert_eq!(project.stderr_lines(), NONE);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be created");
    for entry in fs::read_dir(from).expect("it can be listed").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy_folder(&from, &to),
            false => drop(fs::copy(from, to).expect("it can be copied")),
        }
    }
}

#[test]
fn sync_does_not_hide_corruption() {
    let project = greeting();
    let files = files_ending(&project.epoch().join("text"), "idx");
    change(&files[0], |mut bytes| {
        bytes[20] ^= 1;
        bytes
    });
    // Enough small commits to merge segments; without a check the corrupt one would be among them.
    for step in 0..10 {
        project.repository.write("src/step.rs", format!("pub fn step_{step}() {{ greet(\"{step}\") }}\n"));
        project.run("sync");
    }
    for question in ["search greet --json", "grep gree[a-z] --json"] {
        let now = answer_of(&project, question);
        assert!(is_refused(&now), "`{question}` said {now:?}");
    }
    assert!(project.stderr_lines().iter().any(|told| told.contains("wrong checksum")), "{:?}", project.stderr_lines());
    project.run_ok("index --force");
    let questions: Vec<String> = QUESTIONS.iter().map(|question| (*question).to_owned()).collect();
    project.fresh_index(&[]).expect_equal(&questions);
}

#[test]
fn server_reports_corruption_until_rebuild() {
    let project = greeting();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-prewarm", "--no-watch"]);
    assert_eq!(client.call("health_check", json!({}))["tantivy_ok"], true);
    assert_eq!(client.call("search_code", json!({ "query": "greet" }))["results"][0]["path"], "src/lib.rs");
    let files = files_ending(&project.epoch().join("text"), "fast");
    change(&files[0], |mut bytes| {
        bytes[10] ^= 0x40;
        bytes
    });
    // An open snapshot keeps what it has read. A new generation is opened and verified.
    project.repository.write("src/newer.rs", "pub fn newer() {}\n");
    project.run("sync");
    for (tool, arguments) in [
        ("search_code", json!({ "query": "greet" })),
        ("locate_symbol", json!({ "name": "greet" })),
        ("grep_code", json!({ "pattern": "greet" })),
    ] {
        let (code, error) = client.call_error(tool, arguments);
        assert_eq!(
            (code.as_str(), &error["data"]["schema_status"]),
            ("index_incompatible", &json!("corrupt_manifest"))
        );
        let told = error["data"]["damage"].as_str().unwrap_or_default();
        assert!(told.ends_with(".fast: wrong checksum"), "{error}");
    }
    let health = client.call("health_check", json!({}));
    let told =
        (&health["status"], &health["tantivy_ok"], &health["sqlite_ok"], &health["startup_checks"]["index"]["status"]);
    assert_eq!(told, (&json!("error"), &json!(false), &json!(true), &json!("corrupt_manifest")), "{health}");
    assert_eq!(client.call("index_status", json!({}))["schema_status"], "corrupt_manifest");
    project.run_ok("index --force");
    assert_eq!(client.call("search_code", json!({ "query": "greet" }))["results"][0]["path"], "src/lib.rs");
    let health = client.call("health_check", json!({}));
    assert_eq!((&health["status"], &health["tantivy_ok"]), (&json!("ready"), &json!(true)), "{health}");
}

#[test]
fn status_reports_unseen_corruption() {
    let project = greeting();
    assert_eq!(project.json("status")["schema_status"], "compatible");
    let files = files_ending(&project.epoch().join("text"), "term");
    change(&files[0], |mut bytes| {
        bytes.truncate(bytes.len() - 1);
        bytes
    });
    assert_eq!(project.json("status")["schema_status"], "corrupt_manifest");
}

#[test]
fn corrupt_blobs_are_reported_each_time() {
    const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
    let project = greeting();
    let right: Vec<_> = QUESTIONS.iter().map(|question| answer_of(&project, question)).collect();
    let saved = project.home.save();
    let bytes = fs::read(database(&project)).expect("the database exists");
    let frames: Vec<usize> = (0..bytes.len() - 16).filter(|at| bytes[*at..].starts_with(FRAME)).collect();
    assert!(frames.len() >= 9, "three files have a text, an outline and facts each: {frames:?}");
    let mut refused = 0;
    for frame in frames {
        project.home.restore(&saved);
        change(&database(&project), |mut bytes| {
            bytes[frame + 9] ^= 4;
            bytes
        });
        refused += expect_correct_or_refused(&project, &right, &format!("frame at {frame}"));
        assert_ne!(project.stderr_lines(), NONE, "frame at {frame}");
        // A server does not report an unreadable record as absent.
        let mut client =
            StdioClient::open(project.repository.root(), project.home.path(), &["--no-prewarm", "--no-watch"]);
        let mut ask = || client.result("find_references", json!({ "symbol_name": "greet" }))["answer"]["error"].clone();
        assert_eq!(ask(), ask(), "frame at {frame}");
    }
    assert!(refused > 9, "{refused} refused");
}

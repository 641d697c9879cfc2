//! Limits of the machine and of time: timeouts, the log of the database, watches, and a full disk.

use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client, StdioClient, wait_until};
use support::{PROGRAM, Project};

const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns functions with unique names: `f_{file}_{n}`.
fn functions(file: usize, count: usize, edit: usize) -> String {
    let function = |n: usize| {
        format!(
            "/// Does {n}.\npub fn f_{file}_{n}(x: usize) -> usize {{ help_{}(x) + {edit} }}\n",
            (file * 7 + n) % 97
        )
    };
    (0..count).map(function).collect()
}

/// Returns the size in bytes of the logs of all databases below a folder.
fn log_bytes(project: &Project) -> u64 {
    fs::metadata(project.epoch().join("store.db-wal")).map_or(0, |log| log.len())
}

#[test]
fn database_log_stays_small() {
    let project = Project::with_files(&[("README.md", "# Many files\n")]);
    for file in 0..100 {
        project.repository.write(&format!("src/f{file}.rs"), functions(file, 30, 0));
    }
    project.repository.commit("files");
    project.run_ok("index");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-prewarm"]);
    let mut most = 0;
    for edit in 0..60 {
        let name = format!("new_{edit}");
        let text = functions(edit, 30, edit + 1) + &format!("pub fn {name}() {{}}\n");
        project.repository.write(&format!("src/f{edit}.rs"), text);
        let is_in =
            wait_until(TEST_TIMEOUT, || client.call("locate_symbol", json!({ "name": name }))["total_candidates"] == 1);
        assert!(is_in, "{name} is never found");
        most = most.max(log_bytes(&project));
    }
    assert!(most < 8 << 20, "the log has grown to {most} bytes");
}

/// Returns the number of folders that a process watches, where the system reports it.
fn watches(process: u32) -> usize {
    let files = fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.map(|text| text.lines().filter(|line| line.starts_with("inotify wd:")).count()).sum()
}

#[test]
fn closed_workspaces_are_unwatched() {
    let project = Project::indexed(&[("a.py", "def own():\n    pass\n")]);
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let root = folder.path().canonicalize().expect("it exists");
    let make = |number: usize| {
        let path = root.join(format!("w{number}"));
        for inside in 0..9 {
            let inside = path.join(format!("d{inside}"));
            fs::create_dir_all(&inside).expect("it can be created");
            fs::write(inside.join("a.py"), format!("def only_{number}():\n    pass\n")).expect("it can be written");
        }
        path.display().to_string()
    };
    let roots = root.display().to_string();
    let args = ["--auto-workspace", "--allowed-root", &roots, "--no-prewarm"];
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &args);
    let paths: Vec<String> = (0..14).map(make).collect();
    for path in paths.iter().chain(&paths) {
        client.call("index_status", json!({ "workspace": path }));
        client.wait_for_index(json!({ "workspace": path }));
        client.call("locate_symbol", json!({ "name": "only", "workspace": path }));
    }
    // Ten folders in each of ten, and those of the server's own.
    let process = client.server.pid();
    let are_few = wait_until(TEST_TIMEOUT, || watches(process) <= 110);
    assert!(are_few, "{} folders are watched", watches(process));
}

#[test]
fn slow_regex_times_out_inside_a_file() {
    // Random letters: matching `.{0,500}q.{0,500}z.{0,500}w` here requires hundreds of simultaneous match starts.
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ['q', 'z', 'x', ' '][(state >> 60) as usize % 4]
    };
    let mut line = || "w ".to_owned() + &(0..1000).map(|_| letter()).collect::<String>();
    let lines: Vec<String> = (0..600).map(|_| line()).collect();
    let project = Project::indexed(&[("letters.txt", &(lines.join("\n") + "\n")), ("last.txt", "w\n")]);
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch", "--no-prewarm"]);
    let pattern = ".{0,500}q.{0,500}z.{0,500}w";
    let answer = client.call("grep_code", json!({ "pattern": pattern }));
    assert_eq!(answer["metadata"]["result_completeness"], "partial", "{answer}");
    assert!(answer["metadata"]["warnings"].to_string().contains("time limit"), "{answer}");
    // A cancelled call is not answered, and others are.
    let slow = client.ask("tools/call", json!({ "name": "grep_code", "arguments": { "pattern": pattern } }));
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": slow, "reason": "enough" },
    }));
    let answer = client.call("grep_code", json!({ "pattern": "^w$" }));
    assert_eq!(answer["total_matches"], 1, "{answer}");
    let health = client.call("health_check", json!({}));
    assert_eq!(health["status"], "ready", "{health}");
}

/// The steps on a disk of four megabytes. Each writes its output and exit code into a file.
const FULL_DISK_SCRIPT: &str = r#"
mount -t tmpfs -o size=4m none "$DATA" || exit 77
say() { name=$1; shift; "$PROGRAM" "$@" > "$OUT/$name" 2>&1; echo "exit $?" >> "$OUT/$name"; }
say index index
head -c "$FILL" /dev/zero > "$DATA/filler" 2>/dev/null
cp "$MORE" large.rs
say sync sync --json
say doctor doctor
say locate locate old --json
rm "$DATA/filler" large.rs
echo 'pub fn new() {}' > small.rs
say mended sync
say new locate new --json --no-sync
say sound doctor
"#;

/// Runs the script in its own namespace; `None` where the system does not allow one.
fn run_with_full_disk(fill: &str) -> Option<tempfile::TempDir> {
    let repository = Repository::new();
    repository.write("old.rs", "pub fn old() {}\n").commit("old");
    let (data, out) = (
        tempfile::tempdir().expect("a temporary folder can be created"),
        tempfile::tempdir().expect("a temporary folder can be created"),
    );
    let more = out.path().join("more.rs");
    fs::write(&more, (0..150).map(|file| functions(file, 60, file)).collect::<String>()).expect("it can be written");
    let played = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", FULL_DISK_SCRIPT])
        .current_dir(repository.root())
        .envs([("PROGRAM", PROGRAM), ("FILL", fill)])
        .envs([("DATA", data.path()), ("CODECOMPASS_HOME", data.path()), ("OUT", out.path()), ("MORE", &more)])
        .env("HOME", out.path())
        .output();
    match played {
        Ok(played) if played.status.success() => Some(out),
        _ => None,
    }
}

fn output_of(out: &Path, name: &str) -> (String, String) {
    let text = fs::read_to_string(out.join(name)).unwrap_or_default();
    let (said, code) = text.rsplit_once("exit ").unwrap_or_default();
    (said.to_owned(), code.trim().to_owned())
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is not run says so")]
fn full_disk_is_reported_and_loses_nothing() {
    // Nothing is left, or enough for a write to start: then SQLite or one of Tantivy's threads reaches the limit.
    for fill in ["4m", "3700k", "3300k", "2600k"] {
        let Some(out) = run_with_full_disk(fill) else {
            eprintln!("skipped: no disk can be made here");
            return;
        };
        let (told, code) = output_of(out.path(), "sync");
        assert_eq!(code, "6", "{fill}: {told}");
        let start = told.find('{').unwrap_or_default();
        let error: Value = serde_json::from_str(&told[start..]).unwrap_or_else(|error| panic!("{error}: {told}"));
        let error = &error["error"];
        assert_eq!((&error["code"], &error["data"]["disk_full"]), (&json!("internal_error"), &json!(true)), "{told}");
        assert!(error["data"]["free_bytes"].is_u64() && error["data"]["needed_bytes"].is_u64(), "{told}");
        let message = error["message"].as_str().unwrap_or_default();
        let folder = error["data"]["folder"].as_str().unwrap_or("?");
        for word in [folder, "are free", "are needed", "CODECOMPASS_HOME"] {
            assert!(message.contains(word), "{word}: {message}");
        }
        let (told, code) = output_of(out.path(), "doctor");
        assert!(code == "1" && told.contains("FAIL  free disk") && !told.contains("--force"), "{fill}: {told}");
        let (told, code) = output_of(out.path(), "locate");
        assert!(code == "0" && told.contains("old.rs") && told.contains("There is no space left in"), "{fill}: {told}");
        // Once there is free space, the next sync repairs it.
        let (told, code) = output_of(out.path(), "mended");
        assert_eq!(code, "0", "{fill}: {told}");
        let (told, code) = output_of(out.path(), "new");
        assert!(code == "0" && told.contains("small.rs"), "{fill}: {told}");
        let (told, _) = output_of(out.path(), "sound");
        assert!(!told.contains("FAIL  sqlite") && !told.contains("FAIL  tantivy"), "{fill}: {told}");
    }
}

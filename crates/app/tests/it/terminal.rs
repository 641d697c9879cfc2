//! Behaviour at a terminal, and optional output: the pager, colours, a log, skipped files.

use crate::support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use codecompass_testkit::Repository;
use support::{PROGRAM, Project};

fn project() -> Project {
    let repository = Repository::new();
    let functions: String = (0..40).map(|number| format!("pub fn number_{number}() {{}}\n")).collect();
    repository.write("src/lib.rs", &functions);
    repository.write("short.rs", "pub fn lone() {}\n");
    repository.write(".gitignore", "gen/\n");
    repository.write("gen/out.rs", "pub fn made() {}\n");
    repository.write("node_modules/x/index.js", "export const x = 1;\n");
    repository.write(".env", "KEY=1\n");
    repository.commit("files");
    let project = Project::new(repository);
    project.run_ok("index");
    project
}

/// Runs a command line in its own terminal, and returns the displayed output.
fn at_a_terminal(project: &Project, command: &str, env: &[(&str, &str)]) -> String {
    let output = Command::new("script")
        .args(["-qec", &format!("{PROGRAM} {command}"), "/dev/null"])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the script exists");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn long_answers_use_the_pager() {
    let project = project();
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let paged = folder.path().join("paged");
    let pager = format!("tee {}", paged.display());
    let env = [("PAGER", pager.as_str())];
    let shown = at_a_terminal(&project, "outline src/lib.rs", &env);
    let text = fs::read_to_string(&paged).expect("the pager was started");
    assert!(text.contains("number_39") && shown.contains("number_39"), "{shown}");
    fs::remove_file(&paged).expect("it exists");
    for (command, what) in [
        ("outline short.rs", "what is short"),
        ("--no-pager outline src/lib.rs", "what shall not be paged"),
        ("outline src/lib.rs --json", "what is for machines"),
    ] {
        let shown = at_a_terminal(&project, command, &env);
        assert!(shown.contains("src/lib.rs") || shown.contains("short.rs"), "{command}: {shown}");
        assert!(!paged.exists(), "{what} is printed");
    }
    let reply = project.run_with("outline src/lib.rs", &env);
    assert!(reply.stdout.contains("number_39") && !paged.exists(), "a pipe has no pager");
    let shown = at_a_terminal(&project, "outline src/lib.rs", &[("PAGER", "no-such-pager-at-all")]);
    assert!(shown.contains("number_39"), "a short answer is shown without a pager: {shown}");
}

#[test]
fn colours_are_used_at_a_terminal() {
    let project = project();
    let grep = project.run_ok("grep --color always -F number_7");
    assert!(grep.contains("\u{1b}[1;31mnumber_7\u{1b}[0m"), "{grep:?}");
    let around = project.run_ok("grep --color always -C 1 -F number_7");
    assert!(around.contains("\u{1b}[1;31mnumber_7\u{1b}[0m") && around.contains("number_6"), "{around:?}");
    assert!(!project.run_ok("grep -F number_7").contains('\u{1b}'));
    let long = format!("{}needle{}\n", "x ".repeat(60), " y".repeat(200));
    project.repository.write("long.txt", format!("{long}\tneedle é needle\n"));
    let grep = project.run_ok("grep --color always needle long.txt");
    assert_eq!(grep.matches("\u{1b}[1;31mneedle\u{1b}[0m").count(), 3, "{grep:?}");
    project.repository.write("short.rs", "pub fn lone(more: u8) {}\npub fn new_one() {}\n");
    let diff = project.run_ok("diff HEAD @worktree --color always");
    assert!(diff.contains("\u{1b}[33m~\u{1b}[0m") && diff.contains("\u{1b}[32m+\u{1b}[0m"), "{diff:?}");
    project.repository.delete("short.rs");
    let diff = project.run_ok("diff HEAD @worktree --color always");
    assert!(diff.contains("\u{1b}[1;31m-\u{1b}[0m"), "{diff:?}");
}

/// Runs a command line in its own terminal, and types a line when it is asked.
fn typed_at_a_terminal(project: &Project, command: &str, typed: &str) -> String {
    let home = project.home.path();
    let mut child = Command::new("script")
        .args(["-qec", &format!("{PROGRAM} {command}"), "/dev/null"])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", home)
        .env("HOME", home)
        .env("TERM", "dumb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the script exists");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(format!("{typed}\n").as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn ctrl_c_says_what_is_kept() {
    let project = project();
    let lock = fs::File::open(project.data().join("write.lock")).expect("an earlier writer created the lock");
    lock.try_lock().expect("no other process is writing");
    fs::remove_file(project.data().join("current")).expect("a store is in use");
    let mut child = Command::new(PROGRAM)
        .args(["locate", "lone"])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let first = lines.next().expect("it says that it indexes").expect("it can be read");
    assert!(first.contains("indexing first"), "{first}");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill exists");
    assert!(sent.success());
    let last = lines.map(|line| line.expect("it can be read")).last().unwrap_or_default();
    assert!(last.starts_with("Interrupted. The published index is unchanged"), "{last}");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn times_are_local() {
    let project = project();
    let indexed = project.json("status")["last_indexed_at"].as_str().map(str::to_owned).expect("a time");
    let shown = |zone| project.run_with("status", &[("TZ", zone)]).stdout;
    let utc = indexed.replace('T', " ").replace('Z', "");
    assert!(shown("UTC").contains(&format!("indexed {utc}\n")), "{indexed}: {}", shown("UTC"));
    assert!(!shown("JST-9").contains(&utc), "nine hours later: {}", shown("JST-9"));
}

#[test]
fn code_is_coloured_and_paths_are_links_at_a_terminal() {
    let project = project();
    assert!(!project.run_ok("read lone").contains('\u{1b}'), "not in a pipe");
    let shown = at_a_terminal(&project, "read lone", &[]);
    assert!(shown.contains("\u{1b}[34mfn\u{1b}[0m \u{1b}[1mlone\u{1b}[0m()"), "{shown:?}");
    assert!(!shown.contains("\u{1b}]8;;"), "the terminal is not known to support links: {shown:?}");
    let shown = at_a_terminal(&project, "read lone", &[("TERM", "xterm-kitty")]);
    let address = format!("\u{1b}]8;;file://{}/short.rs\u{1b}\\", project.repository.root().display());
    assert!(shown.contains(&address), "{shown:?}");
    let env = [("TERM", "xterm-kitty"), ("PAGER", "cat")];
    let shown = at_a_terminal(&project, "grep number_", &env);
    assert!(shown.contains("src/lib.rs") && !shown.contains("\u{1b}]8;;"), "a pager may not know links: {shown:?}");
}

#[test]
fn help_lists_everyday_commands_first() {
    let help = project().run_ok("--help");
    let at = |part: &str| help.find(part).unwrap_or_else(|| panic!("{part} is missing: {help}"));
    let order = [
        "Usage:",
        "Everyday commands:",
        "  search ",
        "  callers ",
        "Compare branches:",
        "Diagnose:",
        "--json",
        "Exit codes:",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{help}");
    assert_eq!(help.matches("\n  doctor ").count(), 1, "{help}");
}

#[test]
fn grep_has_headings_at_a_terminal() {
    let project = project();
    let shown = at_a_terminal(&project, "grep 'number_7|lone'", &[("TERM", "dumb")]).replace('\r', "");
    assert_eq!(shown, "short.rs\n 1 pub fn lone() {}\n\nsrc/lib.rs\n 8 pub fn number_7() {}\n");
}

#[test]
fn sections_are_separated_at_a_terminal() {
    let files = [
        ("app.py", "def add():\n    pass\n\n\ndef twice():\n    add()\n"),
        ("test_app.py", "from app import add\n\n\ndef test_add():\n    add()\n"),
    ];
    let project = Project::indexed(&files);
    let shown = at_a_terminal(&project, "callers add", &[("TERM", "dumb")]).replace('\r', "");
    assert!(shown.contains(" twice\n\ntests\ntest_app.py\n"), "{shown}");
    assert!(project.run_ok("callers add").contains(" twice\ntests\ntest_app.py\n"));
}

#[test]
fn setup_asks_at_a_terminal() {
    let project = project();
    let file = project.home.path().join(".cursor/mcp.json");
    let told = typed_at_a_terminal(&project, "setup cursor", "n");
    assert!(told.contains("Edit this file? [Y/n]") && told.contains("serve-mcp"), "{told}");
    assert!(told.contains("Nothing was changed") && !file.exists(), "{told}");
    let told = typed_at_a_terminal(&project, "setup cursor --dry-run", "n");
    assert!(!told.contains("[Y/n]") && !file.exists(), "{told}");
    let told = typed_at_a_terminal(&project, "setup cursor", "y");
    assert!(told.contains("updated (verified)") && file.exists(), "{told}");
    let told = typed_at_a_terminal(&project, "setup cursor", "n");
    assert!(told.contains("already set up") && !told.contains("[Y/n]"), "{told}");
    fs::remove_file(&file).expect("it exists");
    let told = typed_at_a_terminal(&project, "setup cursor --yes", "n");
    assert!(!told.contains("[Y/n]") && file.exists(), "{told}");
}

#[test]
fn server_at_a_terminal_explains_itself() {
    let project = project();
    let mut child = Command::new("script")
        .args(["-qefc", &format!("{PROGRAM} serve-mcp"), "/dev/null"])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the script exists");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("it prints something");
    // Its terminal ends with it.
    let _ = child.kill();
    let _ = child.wait();
    assert!(line.contains("Waiting for a client") && line.contains("codecompass setup"), "{line}");
}

#[test]
fn log_file_is_written() {
    let project = project();
    let log = project.home.path().join("log.txt");
    let path = log.to_str().expect("UTF-8");
    project.run_ok(&format!("sync --log-file {path}"));
    project.repository.write("short.rs", "pub fn lone(x: u8) {}\n");
    let reply = project.run_with("sync", &[("CODECOMPASS_LOG_FILE", path)]);
    assert!(reply.succeeded() && reply.stderr.is_empty(), "{reply:?}");
    project.run_expecting(&format!("locate x --kind nonsense --log-file {path}"), 2);
    let text = fs::read_to_string(&log).expect("it exists");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() >= 5, "{text}");
    assert!(lines.iter().all(|line| line.as_bytes()[10] == b'T' && line.contains("Z ")), "{text}");
    assert!(lines.last().is_some_and(|line| line.contains("error: ") && line.contains("nonsense")), "{text}");
}

#[test]
fn doctor_explains_skipped_file() {
    let project = project();
    let table = [
        ("src/lib.rs", 0, "is indexed for main: rust, 40 symbols"),
        ("src", 0, "is a folder with indexed files"),
        ("gen/out.rs", 1, "the file is excluded from the index, "),
        ("gen/out.rs", 1, "to index it"),
        ("node_modules/x/index.js", 1, "the file is excluded from the index, "),
        (".env", 1, "the file is excluded from the index, "),
        ("nothing.rs", 1, "the file is not in the index"),
    ];
    for (path, code, part) in table {
        let told = project.run_expecting(&format!("doctor {path}"), code);
        assert!(told.contains(part), "{path}: {told}");
    }
    assert_eq!(project.json_expecting("doctor .env", 1)["indexed"], false);
    let report = project.run_ok("doctor");
    for part in ["free disk", "inotify", "lock"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn config_errors_are_located() {
    let project = project();
    let file = project.home.path().join("config.toml");
    let told = project.run_ok("config path");
    assert!(told.contains(&file.display().to_string()) && told.contains("# missing"), "{told}");
    fs::write(&file, "[index]\nthread = 2\n").expect("it can be written");
    let told = project.run_expecting("status", 2);
    assert!(told.contains("config.toml:2: unknown key index.thread (did you mean index.threads?)"), "{told}");
    assert!(project.run_ok("config path").contains("yours = "), "the path of the file is still shown");
    fs::write(&file, "[index\n").expect("it can be written");
    assert!(project.run_expecting("status", 2).contains("config.toml: line 1, column"));
    fs::remove_file(&file).expect("it exists");
    let reply = project.run_with("status", &[("CODECOMPASS_INDEX_THREAD", "2")]);
    assert!(reply.succeeded(), "{reply:?}");
    assert!(reply.stderr.contains("CODECOMPASS_INDEX_THREAD; did you mean CODECOMPASS_INDEX_THREADS?"));
}

//! The command line is never silently wrong: flags of grep, and answers that cannot be written.

use crate::support;

use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

use codecompass_testkit::shell_words;
use support::{PROGRAM, Project};

const TEXT: &str = "class X:\n    pass\n\nclass Y(X):\n    arrow = '->'\n    flag = '-n'\n";

fn project() -> Project {
    Project::indexed(&[("src/x.py", TEXT), ("lib/y.py", "class X: pass\n")])
}

#[test]
fn grep_accepts_flags_before_the_pattern() {
    let project = project();
    let plain = project.run_ok("grep 'class X'");
    assert_eq!(plain, "lib/y.py:1:class X: pass\nsrc/x.py:1:class X:\n");
    for flags in ["-n", "-E", "-r", "-R", "-rn", "-nr", "-rnE", "--line-number", "-n -n", "-e", "-ne", "-rne"] {
        assert_eq!(project.run_ok(&format!("grep {flags} 'class X'")), plain, "{flags}");
    }
    assert_eq!(project.run_ok("grep 'class X' -rn"), plain);
    assert_eq!(project.run_ok("grep -n 'class X' src"), "src/x.py:1:class X:\n");
    assert_eq!(project.run_ok("grep -e 'class X' src"), "src/x.py:1:class X:\n", "all else is a path");
    assert_eq!(project.run_ok("grep --regexp='class X' -n src"), "src/x.py:1:class X:\n");
    for flags in ["-C1", "-C 1", "-nC1", "-A1", "-B1 -A1", "-rnA1"] {
        let said = project.run_ok(&format!("grep {flags} 'class Y'"));
        assert!(said.contains("src/x.py:4:class Y(X):\n"), "{flags}: {said}");
        assert!(said.contains("\nsrc/x.py-5-    arrow"), "{flags}: {said}");
    }
}

#[test]
fn dash_patterns_are_distinguished_from_flags() {
    let project = project();
    assert_eq!(project.run_ok("grep -- '->'"), "src/x.py:5:    arrow = '->'\n");
    assert_eq!(project.run_ok("grep -e '->'"), "src/x.py:5:    arrow = '->'\n");
    assert_eq!(project.run_ok("grep -F -e -n"), "src/x.py:6:    flag = '-n'\n");
    for wrong in ["grep '->'", "grep -Q 'class X'", "grep -nQ 'class X'", "grep --frob 'class X'", "grep -1 'class X'"]
    {
        let said = project.run_expecting(wrong, 2);
        assert!(said.contains("unexpected argument") && said.contains("Usage:"), "`{wrong}`: {said}");
    }
    assert!(project.run_expecting("grep '->'", 2).contains("-- "), "the message names a fix");
    for wrong in ["grep", "grep -n", "grep -Cx 'class X'"] {
        project.run_expecting(wrong, 2);
    }
    // `-v`, which inverts a match in grep, reports its effect here.
    let said = project.run_expecting("grep -v 'class Y'", 0);
    assert!(said.contains("inverted matching is not supported"), "{said}");
}

#[test]
fn grep_narrows_as_ripgrep_does() {
    let text = "class X: pass\nclass Z: pass\n";
    let project = Project::indexed(&[("src/x.py", TEXT), ("lib/y.py", text), ("lib/y.ts", "class X {}\n")]);
    let table = [
        ("grep class lib", "lib/y.py:1:class X: pass\nlib/y.py:2:class Z: pass\nlib/y.ts:1:class X {}\n"),
        ("grep -g '*.ts' class", "lib/y.ts:1:class X {}\n"),
        ("grep -g '*.py' -m1 class lib", "lib/y.py:1:class X: pass\n"),
        ("grep --glob '!*.py' class", "lib/y.ts:1:class X {}\n"),
        ("grep -t ts class", "lib/y.ts:1:class X {}\n"),
        ("grep --type typescript class", "lib/y.ts:1:class X {}\n"),
        ("grep --lang python --max-count 1 class", "lib/y.py:1:class X: pass\nsrc/x.py:1:class X:\n"),
        ("grep -c -m 1 class", "lib/y.py:1\nlib/y.ts:1\nsrc/x.py:1\n"),
        (
            "grep -A1 -m1 'class [YZ]'",
            "lib/y.py:2:class Z: pass\n--\nsrc/x.py:4:class Y(X):\nsrc/x.py-5-    arrow = '->'\n",
        ),
        ("grep --heading 'class Y'", "src/x.py\n 4 class Y(X):\n"),
    ];
    for (command, expected) in table {
        assert_eq!(project.run_ok(command), expected, "{command}");
    }
    let reply = project.run("grep class --limit 2");
    assert_eq!(reply.stdout.lines().count(), 2, "{reply:?}");
    assert!(
        reply.stderr.contains("… 2 lines, and more (next: --cursor"),
        "notes are not for the next program: {reply:?}"
    );
    assert!(project.run_expecting("grep -t nonsense class", 2).contains("nonsense"));
}

#[test]
fn wrong_inputs_say_what_to_do() {
    let project = Project::indexed(&[
        ("src/core/main.rs", "pub fn begin() {}\n"),
        ("src/core/search.rs", "pub fn find() {}\n"),
        ("notes.md", "# begin\n"),
    ]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let (serve, explore) = (format!("serve-mcp --transport http --port {port}"), format!("explore --port {port}"));
    let table: &[(&str, i32, &[&str])] = &[
        ("outline src/core/mian.rs", 1, &["not in the index", "Did you mean src/core/main.rs?"]),
        ("outline lib/serch.rs", 1, &["Did you mean src/core/search.rs?"]),
        ("outline src/cor", 1, &["Did you mean src/core?"]),
        ("read src/core/mian.rs", 1, &["Did you mean src/core/main.rs?"]),
        ("read src/core/mian.rs:3", 1, &["Did you mean src/core/main.rs?"]),
        ("doctor src/core/mian.rs", 1, &["not in the index", "Did you mean src/core/main.rs?"]),
        ("callers begin --in src/core/mian.rs", 1, &["Did you mean src/core/main.rs?"]),
        ("facts nothing.rs", 5, &["The file nothing.rs does not exist."]),
        ("facts src", 5, &["src is a folder, not a file."]),
        ("state import nothing.zst", 5, &["nothing.zst does not exist", "state export"]),
        ("search begin --kind fnn", 2, &["--kind", "Did you mean fn?"]),
        ("search begin --lang rst", 2, &["--lang", "Did you mean rust?"]),
        ("locate begn", 1, &["Similar names: begin"]),
        ("serch begin", 2, &["unrecognized subcommand", "'search'"]),
        ("grep '('", 2, &["Invalid pattern", "-F"]),
        ("callers", 2, &["<NAME>"]),
        ("search begin --ref mian", 5, &["Git knows no", "git branch"]),
        ("--workspace /no/such/folder status", 5, &["does not exist"]),
        ("compare begin", 2, &["<BASE>"]),
        ("context", 2, &["`QUERY` is empty"]),
        (&serve, 2, &["is already in use", "--port 0"]),
        (&explore, 2, &["is already in use", "--port 0"]),
    ];
    for (command, code, parts) in table {
        let said = project.run_expecting(command, *code);
        assert!(parts.iter().all(|part| said.contains(part)) && !said.contains("os error"), "`{command}`: {said}");
    }
}

#[test]
fn ambiguous_name_is_answered_with_the_best_match() {
    let project = Project::indexed(&[
        ("src/a.rs", "pub struct A;\npub fn load() {}\n"),
        ("src/b.rs", "pub struct B;\npub fn load() {}\npub fn run() {\n    load();\n}\n"),
    ]);
    project.repository.write("src/b.rs", "pub struct B;\npub fn load() -> u8 { 1 }\npub fn run() {\n    load();\n}\n");
    for command in ["callers load", "references load", "related load", "hierarchy load", "compare load HEAD @worktree"]
    {
        let said = project.run_ok(command);
        assert!(said.contains("src/b.rs"), "the used one is the best: `{command}`: {said}");
        assert!(said.contains("others with this name: src/a.rs:2"), "`{command}`: {said}");
        assert!(!said.contains("warning"), "`{command}`: {said}");
    }
    // The JSON of a tool follows its contract.
    for command in ["related load", "hierarchy load"] {
        assert_eq!(project.json_expecting(command, 1)["error"]["code"], "ambiguous_symbol", "{command}");
    }
    assert_eq!(project.json("compare load HEAD @worktree")["other_matches"].as_array().map(Vec::len), Some(1));
}

#[test]
fn answers_on_the_command_line_fit_a_person() {
    let functions: String = (0..40).map(|number| format!("pub fn number_{number}() {{}}\n")).collect();
    let files: Vec<(String, String)> = (0..12).map(|n| (format!("src/part_{n}.rs"), functions.clone())).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("hello.rs", "pub fn hello() {\n    let greeting = 1;\n}\npub fn uses_it() {\n    hello();\n}\n"));
    files.push(("notes.md", "# Saying hello\n"));
    let project = Project::indexed(&files);
    // `context` shows code, and signatures on request.
    assert!(project.run_ok("context hello").contains("2     let greeting = 1;"));
    assert!(!project.run_ok("context hello --strategy breadth").contains("let greeting"));
    assert_eq!(project.json("context hello")["metadata"]["strategy"], "breadth");
    // A large folder is folded.
    let folded = project.run_ok("outline .");
    assert!(folded.lines().count() < 30 && folded.contains("--all") && folded.contains("src/part_3.rs"), "{folded}");
    assert!(project.run_ok("outline . --all").lines().count() > 480);
    // What the help calls the default limit is shown.
    let found = project.run_ok("search hello");
    assert!(found.contains("hello.rs") && found.contains("notes.md"), "{found}");
    // Problems come first, and grammars take one line.
    project.repository.write(".codecompass/config.toml", "evil = 1\n");
    let report = project.run_expecting("doctor", 1);
    assert!(report.starts_with("FAIL  configuration"), "{report}");
    assert_eq!(report.matches("tree-sitter").count(), 1, "{report}");
}

fn run_with_stdout(project: &Project, command: &str, out: Stdio) -> Output {
    Command::new(PROGRAM)
        .args(shell_words::split(command).expect("well formed"))
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .env("HOME", project.home.path())
        .stdout(out)
        .output()
        .expect("the program can be run")
}

#[cfg(target_os = "linux")]
#[test]
fn write_failure_is_an_error() {
    let project = project();
    for command in [
        "export symbols",
        "export edges",
        "export symbols --json",
        "locate X",
        "locate X --json",
        "locate nobody --json",
        "outline nothing.py --json",
        "grep class",
        "status",
        "index",
        "tools",
        "--help",
        "--version",
        "grep --help",
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("the device exists");
        let output = run_with_stdout(&project, command, full.into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "`{command}` said: {said}");
        assert!(said.contains("error: The answer cannot be written to standard output: No space"), "{command}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_stays_silent() {
    let project = project();
    for command in ["export symbols", "export edges", "locate X", "grep class --json", "tools", "--help"] {
        let (reader, writer) = std::io::pipe().expect("a pipe can be created");
        drop(reader);
        let output = run_with_stdout(&project, command, writer.into());
        assert!(output.stderr.is_empty() && output.status.code() == Some(0), "`{command}`: {output:?}");
    }
}

#[test]
fn export_prints_only_lines() {
    let project = project();
    assert_eq!(project.run_ok("export symbols"), project.run_ok("export symbols --json"));
}

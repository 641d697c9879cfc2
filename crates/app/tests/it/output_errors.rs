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
    assert_eq!(plain, "lib/y.py\n 1 class X: pass\nsrc/x.py\n 1 class X:\n");
    for flags in ["-n", "-E", "-r", "-R", "-rn", "-nr", "-rnE", "--line-number", "-n -n", "-e", "-ne", "-rne"] {
        assert_eq!(project.run_ok(&format!("grep {flags} 'class X'")), plain, "{flags}");
    }
    assert_eq!(project.run_ok("grep 'class X' -rn"), plain);
    assert_eq!(project.run_ok("grep -n 'class X' src"), "src/x.py\n 1 class X:\n");
    assert_eq!(project.run_ok("grep -e 'class X' src"), "src/x.py\n 1 class X:\n", "all else is a path");
    assert_eq!(project.run_ok("grep --regexp='class X' -n src"), "src/x.py\n 1 class X:\n");
    for flags in ["-C1", "-C 1", "-nC1", "-A1", "-B1 -A1", "-rnA1"] {
        let said = project.run_ok(&format!("grep {flags} 'class Y'"));
        assert!(said.contains("\n 4: class Y(X):\n"), "{flags}: {said}");
        assert!(said.contains("\n 5     arrow"), "{flags}: {said}");
    }
}

#[test]
fn dash_patterns_are_distinguished_from_flags() {
    let project = project();
    assert_eq!(project.run_ok("grep -- '->'"), "src/x.py\n 5 arrow = '->'\n");
    assert_eq!(project.run_ok("grep -e '->'"), "src/x.py\n 5 arrow = '->'\n");
    assert_eq!(project.run_ok("grep -F -e -n"), "src/x.py\n 6 flag = '-n'\n");
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

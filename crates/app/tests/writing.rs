//! The command line is never silently wrong: answers that can not be written.

mod support;

use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

use codecompass_testkit::words;
use support::{PROGRAM, Project};

const TEXT: &str = "class X:\n    pass\n\nclass Y(X):\n    arrow = '->'\n    flag = '-n'\n";

fn project() -> Project {
    Project::indexed(&[("src/x.py", TEXT), ("lib/y.py", "class X: pass\n")])
}

fn into(project: &Project, command: &str, out: Stdio) -> Output {
    Command::new(PROGRAM)
        .args(words::split(command).expect("well formed"))
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .env("HOME", project.home.path())
        .stdout(out)
        .output()
        .expect("the program can be run")
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_can_not_be_written_is_an_error() {
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
        let full = OpenOptions::new().write(true).open("/dev/full").expect("there is such a device");
        let output = into(&project, command, full.into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "`{command}` said: {said}");
        assert!(
            said.contains("error: The answer can not be written to standard output: No space"),
            "{command}: {said}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_stays_silent() {
    let project = project();
    for command in ["export symbols", "export edges", "locate X", "grep class --json", "tools", "--help"] {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let output = into(&project, command, writer.into());
        assert!(output.stderr.is_empty() && output.status.code() == Some(0), "`{command}`: {output:?}");
    }
}

#[test]
fn lines_of_an_export_are_all_there_is() {
    let project = project();
    assert_eq!(project.done("export symbols"), project.done("export symbols --json"));
}

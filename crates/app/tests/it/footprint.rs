//! The footprint of the program: it writes nothing outside its data folder, and runs nothing from a repository.

#![cfg(unix)]

use crate::support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use codecompass_testkit::Repository;
use serde_json::json;
use support::{Project, file_contents, location_arg};

const COMMANDS: &[&str] = &[
    "locate greet",
    "status",
    "doctor",
    "init",
    "index",
    "index --ref feat",
    "locate greet --ref HEAD~0",
    "locate greet --ref feat",
    "sync",
    "status --ref feat",
    "index --force",
    "sync --changed src/lib.rs",
    "bench index .",
    "prune-overlays --dry-run",
    "prune-overlays --older-than 0",
    "doctor",
];

#[test]
fn nothing_is_written_outside_the_data_folder() {
    let project = Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n"), (".gitignore", "/ignored/\n")]);
    let repository = &project.repository;
    repository.branch("feat").write("src/x.rs", "pub fn x() {}\n").commit("x");
    repository.checkout("main");
    repository.write("src/draft.rs", "pub fn draft() {}\n").write("ignored/x.rs", "pub fn ignored() {}\n");
    // Git's index has stale stat data: a git process would refresh it.
    repository.write("src/lib.rs", "pub fn greet() {}\n");
    let user = tempfile::TempDir::new().expect("a temporary folder can be created");
    fs::write(user.path().join(".gitconfig"), "[core]\n\tautocrlf = true\n").expect("it can be written");
    let before = (file_contents(repository.root()), file_contents(user.path()));
    let home = user.path().to_str().expect("UTF-8");
    for command in COMMANDS {
        let reply = project.run_with(command, &[("HOME", home), ("XDG_DATA_HOME", home), ("XDG_CONFIG_HOME", home)]);
        assert!(!matches!(reply.code, None | Some(2 | 6 | 101)), "`{command}`: {reply:?}");
        assert!(
            (file_contents(repository.root()), file_contents(user.path())) == before,
            "`{command}` wrote something"
        );
    }
}

#[test]
fn platform_data_folder_is_the_default() {
    let project = Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n")]);
    let user = tempfile::TempDir::new().expect("a temporary folder can be created");
    let reply = project.run_with("index", &[("CODECOMPASS_HOME", ""), ("HOME", user.path().to_str().expect("UTF-8"))]);
    assert!(reply.succeeded(), "{}", reply.stderr);
    let place = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    assert!(user.path().join(place).join("codecompass/projects").is_dir());
    assert!(project.has_no_data());
}

#[test]
fn data_inside_the_repository_is_never_source() {
    let project = Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n")]);
    let inside = project.repository.path("data");
    let inside = inside.to_str().expect("UTF-8");
    for _ in 0..3 {
        let reply = project.run_with("index --json", &[("CODECOMPASS_HOME", inside)]);
        assert!(reply.stdout.contains("\"file_count\": 1,"), "{}{}", reply.stdout, reply.stderr);
    }
}

#[test]
fn repository_programs_are_never_run() {
    let project = Project::new(Repository::new());
    let repository = &project.repository;
    repository.write("src/lib.rs", "pub fn greet() {}\n").write("image.bin", "text\n");
    repository.commit("files");
    repository.branch("feat").write("src/x.rs", "pub fn x() {}\n").commit("x");
    repository.checkout("main");
    let blob = repository.git(&["rev-parse", "feat:src/x.rs"]);
    let blob = repository.path(&format!(".git/objects/{}/{}", &blob[..2], blob[2..].trim()));

    let traps = tempfile::TempDir::new().expect("a temporary folder can be created");
    let (script, marker) = (traps.path().join("trap"), traps.path().join("sprung"));
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", marker.display()))
        .expect("it can be written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    let trap = script.to_str().expect("UTF-8");
    let hooks = traps.path().join("hooks");
    fs::create_dir(&hooks).expect("it can be created");
    for hook in [
        "post-checkout",
        "post-index-change",
        "pre-commit",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ] {
        fs::copy(&script, hooks.join(hook)).expect("it can be copied");
        fs::copy(&script, repository.path(".git/hooks").join(hook)).expect("it can be copied");
    }
    // Set up after the commits, so that git itself does not trigger them.
    repository
        .write(".gitattributes", "* filter=trap diff=trap merge=trap text eol=crlf working-tree-encoding=UTF-16\n");
    let included = traps.path().join("included");
    fs::write(&included, format!("[core]\n\tfsmonitor = {trap}\n")).expect("it can be written");
    let config = format!(
        "[core]\n\tfsmonitor = {trap}\n\thooksPath = {}\n\tsshCommand = {trap}\n\tpager = {trap}\n\teditor = {trap}\n\
         \taskPass = {trap}\n\tgitProxy = {trap}\n\talternateRefsCommand = {trap}\n\
         [filter \"trap\"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n\trequired = true\n\
         [diff]\n\texternal = {trap}\n[diff \"trap\"]\n\ttextconv = {trap}\n\tcommand = {trap}\n\
         [merge \"trap\"]\n\tdriver = {trap}\n[credential]\n\thelper = {trap}\n[gpg]\n\tprogram = {trap}\n\
         [alias]\n\tstatus = !{trap}\n\tls-files = !{trap}\n[include]\n\tpath = {}\n\
         [extensions]\n\tpartialClone = origin\n\
         [remote \"origin\"]\n\turl = ext::{trap}\n\tuploadpack = {trap}\n\tpromisor = true\n",
        hooks.display(),
        included.display(),
    );
    let path = repository.path(".git/config");
    let own = fs::read_to_string(&path).expect("a repository has a configuration");
    fs::write(&path, own + &config).expect("it can be written");
    // A missing blob: a partial clone would fetch it.
    fs::remove_file(blob).expect("it was a loose object");

    for command in COMMANDS {
        let reply = project.run(command);
        assert!(!matches!(reply.code, None | Some(2 | 6 | 101)), "`{command}`: {reply:?}");
    }
    let sprung = fs::read_to_string(&marker).unwrap_or_default();
    assert_eq!(sprung, "", "a program of the repository was run");
    assert_eq!(project.places("locate greet"), location_arg("src/lib.rs"));
    let feat = project.json("index --ref feat");
    assert_eq!(feat["skipped"]["missing_object"], 1, "{feat}");
}

#[test]
fn special_files_and_non_utf8_names_are_skipped() {
    let project = Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n")]);
    let root = project.repository.root();
    let made = Command::new("mkfifo").arg(root.join("pipe.rs")).status().expect("mkfifo can be run");
    assert!(made.success());
    symlink(".", root.join("loop")).expect("a link can be created");
    symlink("/etc/passwd", root.join("outside.rs")).expect("a link can be created");
    symlink("nowhere", root.join("dangling.rs")).expect("a link can be created");
    // Some file systems do not allow such a name.
    let odd = fs::write(root.join(OsStr::from_bytes(b"odd\xff.rs")), "pub fn odd() {}\n").is_ok();
    for command in ["index", "sync"] {
        let answer = project.json(command);
        assert_eq!((&answer["file_count"], &answer["skipped"]["symlink"]), (&json!(1), &json!(3)), "{answer}");
        assert_eq!(answer["skipped"].as_object().map(|reasons| reasons.len()), Some(2 + usize::from(odd)), "{answer}");
    }
    assert_eq!(project.places("locate odd"), [] as [&str; 0]);
    assert_eq!(project.places("locate greet"), location_arg("src/lib.rs"));
    assert_eq!(project.stderr_lines(), [] as [&str; 0]);
}

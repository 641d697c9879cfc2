//! Only the owner can access the data folder, regardless of the umask and of the command that creates it.

#![cfg(unix)]

use crate::support;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use codecompass_testkit::{HOME, Repository};
use serde_json::json;
use support::PROGRAM;
use support::client::{initialize_params, wait_until};

/// A repository, and a data folder that does not exist yet.
struct User {
    repository: Repository,
    folder: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let repository = Repository::new();
        repository.write("a.rs", "pub fn one() {}\n").write("run.sh", "#!/bin/sh\n");
        repository.git(&["add", "."]);
        repository.git(&["update-index", "--chmod=+x", "run.sh"]);
        repository.commit_staged("one");
        repository.git(&["branch", "side"]);
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        fs::create_dir(folder.path().join("home")).expect("it can be created");
        Self { repository, folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("share/data")
    }

    /// Returns a command in a process with umask 0.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "umask 000; exec \"$0\" \"$@\"", PROGRAM])
            .args(args)
            .current_dir(self.repository.root())
            .env("HOME", self.folder.path().join("home"))
            .env(HOME, self.data())
            .env("CODECOMPASS_VCS_MANAGED_WORKTREES", "true")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it can be run")
    }

    /// Makes a server on a pipe write the files of a ref.
    fn switch_to(&self, name: &str) {
        let mut child = self
            .command(&["serve-mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be run");
        let call = json!({ "name": "switch_ref", "arguments": { "ref": name } });
        let messages = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25") }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
        ];
        let mut input = child.stdin.take().expect("it is piped");
        messages.iter().for_each(|message| writeln!(input, "{message}").expect("the server listens"));
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let answer = output.lines().map_while(Result::ok).find(|line| line.contains("\"id\":2"));
        child.kill().and_then(|()| child.wait()).expect("it runs");
        assert!(answer.is_some_and(|answer| answer.contains("worktree_path")));
    }

    fn run_ok(&self, args: &[&str]) {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().expect("it exists").permissions().mode() & 0o7777
}

/// Returns every file and folder below this one.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    let mut next = 0;
    while next < all.len() {
        if all[next].symlink_metadata().is_ok_and(|found| found.is_dir()) {
            let children = fs::read_dir(&all[next]).expect("it can be listed");
            let children: Vec<PathBuf> = children.flatten().map(|entry| entry.path()).collect();
            all.extend(children);
        }
        next += 1;
    }
    all
}

fn expect_private(data: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    // A running server may have removed a temporary file since the listing.
    let mode_if_there = |path: &Path| path.symlink_metadata().ok().map(|metadata| metadata.permissions().mode());
    let open: Vec<String> = everything(data)
        .into_iter()
        .filter_map(|path| Some((mode_if_there(&path)?, path)))
        .filter(|(mode, _)| mode & 0o077 != 0)
        .map(|(mode, path)| format!("{mode:o} {}", path.display()))
        .collect();
    assert!(open.is_empty(), "other users have access to:\n{}", open.join("\n"));
}

#[test]
fn data_folder_is_private() {
    let archive = |user: &User| user.folder.path().join("archive.tar.zst").display().to_string();
    let user = User::new();
    user.run_ok(&["index"]);
    user.run_ok(&["index", "--ref", "side"]);
    user.switch_to("side");
    fs::write(user.repository.path("a.rs"), "pub fn two() {}\n").expect("it can be written");
    user.run_ok(&["sync"]);
    user.run_ok(&["state", "export", &archive(&user)]);
    user.run_ok(&["index", "--force"]);
    user.run_ok(&["state", "import", &archive(&user)]);
    let log = user.data().join("projects/log").display().to_string();
    user.run_ok(&["locate", "two", "--log-file", &log, "-vv"]);
    assert!(user.data().join("worktrees").is_dir(), "the files of a ref were written");
    assert_eq!(mode(&user.data()), 0o700);
    expect_private(&user.data());

    let user = User::new();
    fs::create_dir_all(user.folder.path().join("home/.cursor")).expect("it can be created");
    user.run_ok(&["setup", "cursor"]);
    assert!(user.data().join("setup").is_dir(), "a record was kept");
    expect_private(&user.data());

    let user = User::new();
    let mut child = user
        .command(&["serve-mcp", "--transport", "http", "--port", "0", "--require-token", "--auto-index"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be run");
    let is_ready = wait_until(Duration::from_secs(60), || {
        user.data().join("recent").is_file() && user.data().join("http-token").is_file()
    });
    let modes = std::panic::catch_unwind(|| expect_private(&user.data()));
    child.kill().and_then(|()| child.wait()).expect("it runs");
    assert!(is_ready && modes.is_ok());
}

#[test]
fn open_data_folder_is_tightened_at_start() {
    let user = User::new();
    user.run_ok(&["index"]);
    for (path, open) in [("", 0o755), ("projects", 0o755), ("recent", 0o644), ("config.toml", 0o644)] {
        let path = user.data().join(path);
        if !path.exists() {
            fs::write(&path, "").expect("it can be written");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).expect("the test owns it");
    }
    user.run_ok(&["status"]);
    expect_private(&user.data());
}

#[test]
fn shared_folder_keeps_its_mode() {
    let user = User::new();
    user.run_ok(&["index"]);
    let (theirs, link) = (user.data().join("theirs"), user.data().join("recent"));
    fs::write(&theirs, "").expect("it can be written");
    symlink(&theirs, &link).expect("it can be created");
    for path in [&theirs, &user.data(), &user.data().join("projects")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the test owns it");
    }
    user.run_ok(&["status"]);
    assert_eq!((mode(&user.data()), mode(&theirs)), (0o755, 0o755), "the program did not create these folders");
    assert_eq!(mode(&user.data().join("projects")), 0o700);
}

#[test]
fn setup_keeps_private_files_private() {
    let user = User::new();
    let folder = user.folder.path().join("home/.cursor");
    fs::create_dir_all(&folder).expect("it can be created");
    let (file, temporary) = (folder.join("mcp.json"), folder.join(".mcp.json.codecompass-new"));
    let secret = "secret".repeat(20_000);
    fs::write(&file, format!("{{ \"mcpServers\": {{ \"other\": {{ \"url\": \"{secret}\" }} }} }}\n"))
        .expect("the test owns it");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the test owns it");
    // A process that may not write large files ends in the middle of its first one, and leaves it in that state.
    let script = "umask 000; ulimit -f 16; exec \"$0\" \"$@\"";
    let mut command = user.command(&[]);
    let envs: Vec<_> = command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned))).collect();
    command = Command::new("sh");
    command.args(["-c", script, PROGRAM, "setup", "cursor"]).current_dir(user.repository.root());
    command.envs(envs.into_iter().filter_map(|(name, value)| Some((name, value?))));
    command.output().expect("it can be run");
    assert_eq!(mode(&temporary), 0o600);
    user.run_ok(&["setup", "cursor"]);
    assert_eq!(mode(&file), 0o600);
    assert!(!temporary.exists());
}

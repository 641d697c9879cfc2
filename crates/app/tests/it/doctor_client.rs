//! `doctor --client` reads what the client reads: its verdict is that of the client, and its output says what to do.

// The clients' folders are those of Unix here.
#![cfg(unix)]

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use codecompass_testkit::Repository;
use serde_json::Value;
use support::PROGRAM;
use tempfile::TempDir;

/// A user with an indexed repository, the program on `PATH`, and no client yet.
struct User {
    home: TempDir,
    repository: Repository,
    variables: Vec<(&'static str, String)>,
}

impl User {
    fn new() -> Self {
        let home = TempDir::new().expect("a temporary folder can be created");
        let user = Self { home, repository: Repository::new(), variables: Vec::new() };
        user.repository.write("src/lib.rs", "pub fn only_here() {}\n");
        user.repository.commit("files");
        user.run(&["index"]);
        user
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let bin = Path::new(PROGRAM).parent().expect("a folder").display();
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.repository.root())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", format!("{bin}:/usr/bin:/bin"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.command(arguments).output().expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn doctor(&self, client: &str) -> (bool, String) {
        self.run(&["doctor", "--client", client])
    }

    /// Writes a file in the home folder (`~/…`) or in the repository.
    fn write(&self, name: &str, text: &str) {
        let path = match name.strip_prefix("~/") {
            Some(name) => self.home.path().join(name),
            None => self.repository.root().join(name),
        };
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
        fs::write(path, text.replace("REPO", &self.root())).expect("it can be written");
    }

    fn root(&self) -> String {
        self.repository.root().display().to_string()
    }

    fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/codecompass")
    }
}

/// The findings of a report in JSON: level and message.
fn findings(text: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(text).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    report["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .inspect(|check| assert_eq!(check["ok"] == true, check["level"] != "problem", "{check}"))
        .map(|check| (text(&check["level"]), text(&check["message"])))
        .collect()
}

#[test]
fn an_approved_project_entry_overrides_the_users() {
    let user = User::new();
    user.run(&["setup", "claude-code", "--project"]);
    // Another program, which the approved project entry overrides.
    let other = r#"{"mcpServers": {"codecompass": {"command": "/usr/bin/other"}}, "projects": {"REPO": TRUST}}"#;
    user.write("~/.claude.json", &other.replace("TRUST", "{}"));
    let (is_ok, text) = user.doctor("claude-code");
    assert!(!is_ok && text.contains("starts another program (not run): /usr/bin/other"), "{text}");
    user.write("~/.claude.json", &other.replace("TRUST", r#"{"hasTrustDialogAccepted": true}"#));
    user.write(".claude/settings.local.json", r#"{"enabledMcpjsonServers": ["codecompass"]}"#);
    let (is_ok, text) = user.doctor("claude-code");
    assert!(is_ok && text.contains("overrides the entry in ~/.claude.json"), "{text}");
    assert!(!text.contains("/usr/bin/other") && !text.contains("codecompass setup"), "{text}");
}

#[test]
fn problems_come_first_and_name_a_fix() {
    let user = User::new();
    user.run(&["setup", "gemini"]);
    let (is_ok, text) = user.doctor("gemini");
    let lines: Vec<&str> = text.lines().collect();
    assert!(!is_ok && lines[0].starts_with("FAIL  Gemini CLI"), "{text}");
    assert!(lines[0].contains("is not a trusted folder") && lines[1].contains("→ run `gemini` there"), "{text}");
    user.write("~/.gemini/trustedFolders.json", r#"{"REPO": "TRUST_FOLDER"}"#);
    let (is_ok, text) = user.run(&["doctor", "--client", "gemini", "--json"]);
    let found = findings(&text);
    assert!(is_ok, "{text}");
    let levels: Vec<&str> = found.iter().map(|(level, _)| level.as_str()).collect();
    assert_eq!(levels, ["ok", "ok", "ok", "note"], "{text}");
    assert!(found[3].1.contains("`gemini -p` hides the tools"), "{text}");
}

#[test]
fn a_client_without_an_entry_is_not_configured() {
    let user = User::new();
    user.write("~/.codex/config.toml", "model = \"gpt-5.5\"\n");
    let (is_ok, text) = user.doctor("codex");
    assert!(!is_ok && text.contains("not configured") && text.contains("run `codecompass setup codex`"), "{text}");
    user.write(".codex/config.toml", "[mcp_servers.codecompass]\ncommand = \"codecompass\"\nargs = [\"serve-mcp\"]\n");
    let (is_ok, text) = user.doctor("codex");
    assert!(!is_ok && text.contains("trusted projects only") && !text.contains("not configured"), "{text}");
}

#[test]
fn variables_of_the_shell_reach_clients_started_from_it() {
    let mut user = User::new();
    user.variables.push(("CODECOMPASS_HOME", user.home.path().join("data").display().to_string()));
    user.run(&["index"]);
    user.run(&["setup", "gemini", "--project"]);
    user.run(&["setup", "codex", "--project"]);
    user.write("~/.gemini/trustedFolders.json", r#"{"REPO": "TRUST_FOLDER"}"#);
    user.write("~/.codex/config.toml", "[projects.\"REPO\"]\ntrust_level = \"trusted\"\n");
    for client in ["gemini", "codex"] {
        let (is_ok, text) = user.doctor(client);
        let served = format!("with data in {}", user.home.path().join("data").display());
        assert!(is_ok && text.contains(&served), "{text}");
        assert!(text.contains("only a client started from this shell uses this shell's CODECOMPASS_HOME"), "{text}");
    }
    // An entry with a folder of its own does not depend on the shell.
    user.run(&["unsetup", "gemini", "--project"]);
    user.run(&["setup", "gemini"]);
    let (is_ok, text) = user.doctor("gemini");
    assert!(is_ok && !text.contains("started from this shell"), "{text}");
    // A client that does not pass the variable on uses another folder.
    user.write(".codex/config.toml", "[mcp_servers.codecompass]\ncommand = \"codecompass\"\nargs = [\"serve-mcp\"]\n");
    let (is_ok, text) = user.doctor("codex");
    let served = format!("with data in {}", user.data().display());
    assert!(!is_ok && text.contains(&served) && text.contains("does not pass on"), "{text}");
}

#[test]
fn a_bare_name_is_resolved_on_path() {
    let user = User::new();
    user.run(&["setup", "vscode"]);
    let (is_ok, text) = user.doctor("vscode");
    let program = Path::new(PROGRAM).canonicalize().expect("it exists");
    assert!(is_ok && text.contains(&format!("(codecompass is {})", program.display())), "{text}");
    let output = user.command(&["doctor", "--client", "vscode"]).env("PATH", "/usr/bin").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("(codecompass is not on PATH)"), "{text}");
}

#[test]
fn a_failed_server_check_says_how_to_restart() {
    let user = User::new();
    let entry = format!(
        "[mcp_servers.codecompass]\ncommand = \"{PROGRAM}\"\nargs = [\"serve-mcp\", \"--workspace\", \"/no/such\"]\n"
    );
    user.write("~/.codex/config.toml", &entry);
    let (is_ok, text) = user.doctor("codex");
    assert!(!is_ok && text.contains("continue it with `codex resume --last`"), "{text}");
    user.run(&["setup", "codex"]);
    let (is_ok, text) = user.doctor("codex");
    assert!(is_ok && !text.contains("codex resume"), "{text}");
}

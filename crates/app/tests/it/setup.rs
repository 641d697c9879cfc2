//! `setup` and `unsetup` in a home folder with the files of every client, in realistic formats.

// The clients' folders, links and file modes are specific to Unix here.
#![cfg(unix)]

use crate::support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use codecompass_testkit::{KILL_AT_WRITE, Repository};
use serde_json::{Value, json};
use support::{PROGRAM, Project};
use tempfile::TempDir;

/// A user: a home folder with clients in it, a repository, a data folder.
struct User {
    home: TempDir,
    project: Project,
}

/// The files of clients, with comments, other servers, unusual order, other line ends, tabs, trailing commas and no
/// final newline.
const FILES: &[(&str, &str)] = &[
    (
        ".claude.json",
        "{\n  \"numStartups\": 412,\n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"http\",\n      \"headers\": { \"Authorization\": \"Bearer ghp_secret\" }\n    }\n  },\n  \"projects\": { \"/x\": { \"mcpServers\": {} } }\n}",
    ),
    (
        ".codex/config.toml",
        "# Mine\r\nmodel = \"o9\"\r\n\r\n[mcp_servers.docs] # the docs\r\ncommand = \"docs\"\r\nargs = [\r\n  \"[mcp_servers.codecompass]\",\r\n]\r\n\r\n[tui]\r\nnotify = '''\r\n[x]'''",
    ),
    (
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"env\":{\"TOKEN\":\"t0k3n\"}},\"b\":{\"url\":\"http://b\"}}}",
    ),
    (
        ".config/Code/User/mcp.json",
        "// Servers\n{\n\t\"inputs\": [],\n\t/* none yet */\n\t\"servers\": {\n\t\t// \"old\": {},\n\t},\n}\n",
    ),
    (".copilot/mcp-config.json", "{ \"mcpServers\": {} }\n"),
    (
        ".config/opencode/opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\", // keep\n  \"theme\": \"x\",\n  \"mcp\": {\n    \"y\": { \"type\": \"local\", \"command\": [\"y\"] }, // why\n  }\n}\n",
    ),
    (
        ".config/zed/settings.json",
        "// Zed settings\r\n//\r\n{\r\n    \"vim_mode\": true,\r\n    \"theme\": {\r\n        \"mode\": \"system\",\r\n    },\r\n}\r\n",
    ),
    (
        ".gemini/settings.json",
        "\u{feff}{\n  \"mcpServers\": {\n    \"z\": {\"command\": \"z\"}\n  }, \"security\": {\"auth\": {}}}",
    ),
    (".codeium/windsurf/mcp_config.json", "{\n}\n"),
    (
        ".cline/data/settings/cline_mcp_settings.json",
        "{\n  \"mcpServers\":\n  {\n    \"c\": { \"disabled\": true, \"autoApprove\": [ ] }\n    // the last one\n  }\n}\n\n\n",
    ),
    (".kiro/settings/mcp.json", "{\"mcpServers\": {\n\"k\": {\"command\": \"k\"}}}"),
    (".config/amp/settings.json", "{\n  \"amp.notifications\": true\n}\n"),
    (
        ".config/goose/config.yaml",
        "GOOSE_PROVIDER: x # mine\nextensions:\n  # built in\n  developer:\n    enabled: true\n    bundled: true\n  notes:\n    envs: {KEY: t0k3n}\n    description: |\n      Two\n\n      lines\nGOOSE_MODEL: y",
    ),
    (".qwen/settings.json", "{\n  \"$version\": 3,\n  \"tools\": {\"approvalMode\": \"default\"}\n}\n"),
    (
        ".config/kilo/kilo.jsonc",
        "{\n  \"$schema\": \"https://app.kilo.ai/config.json\",\n  \"permission\": {\n    \"bash\": \"allow\",\n  },\n}\n",
    ),
    (".grok/config.toml", "[ui]\ntheme = 'x'\n\n[mcp_servers.a]\ncommand = \"a\"\nenabled = true\n"),
    (
        ".factory/mcp.json",
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"stdio\",\n      \"command\": \"a\",\n      \"args\": []\n    }\n  }\n}",
    ),
    (".qoder/settings.json", "{\r\n  \"model\": \"auto\"\r\n}\r\n"),
    (
        ".continue/config.yaml",
        "name: Mine\r\nversion: 1.0.0\r\nschema: v1\r\nmodels: []\r\nmcpServers:\r\n  # search\r\n  - name: Search\r\n    command: npx\r\n    args: [-y, search]\r\n    env:\r\n      KEY: ghp_secret\r\n",
    ),
    (
        ".vibe/config.toml",
        "active_model = \"x\" # best\n\n[[mcp_servers]]\nname = \"a\"\ntransport = \"http\"\n\n[mcp_servers.auth]\ntype = \"static\"\n\n[tools]\n",
    ),
    (".config/crush/crush.json", "{\"$schema\":\"https://charm.land/crush.json\",\"mcp\":{}}"),
    (".kimi-code/mcp.json", "{\"mcpServers\": {}}"),
    (".augment/settings.json", "{\n  \"toolPermissions\": []\n}\n"),
];

/// Installed clients without a server configuration file.
const FOLDERS: &[&str] = &[".junie"];

impl User {
    fn new() -> Self {
        let user = Self {
            home: TempDir::new().expect("a temporary folder can be created"),
            project: Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n")]),
        };
        for (path, text) in FILES {
            user.write(path, text);
        }
        for folder in FOLDERS {
            fs::create_dir_all(user.at(folder)).expect("it can be created");
        }
        user
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be created");
        fs::write(path, text).expect("it can be written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns every file below the home folder with its text, links with their targets, and folders without content.
    fn file_contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        contents(self.home.path())
    }

    fn run(&self, command: &str, env: &[(&str, &str)]) -> codecompass_testkit::Reply {
        let mut all = vec![("HOME", self.home.path().to_str().expect("UTF-8"))];
        all.extend(env);
        self.project.run_with(command, &all)
    }

    fn run_expecting(&self, command: &str, code: i32) -> String {
        let reply = self.run(command, &[]);
        assert_eq!(reply.code, Some(code), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        reply.stdout
    }

    fn json(&self, command: &str, code: i32) -> Value {
        serde_json::from_str(&self.run_expecting(&format!("{command} --json"), code)).expect("an answer is JSON")
    }

    /// Returns the outcome for each client's entry.
    fn outcomes(&self, command: &str, code: i32) -> BTreeMap<String, String> {
        let answer = self.json(command, code);
        let items = answer["clients"].as_array().expect("a list").iter();
        let word = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
        items.map(|item| (word(item, "client"), word(item, "outcome"))).collect()
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).expect("it exists");
        let output = if meta.is_symlink() {
            fs::read_link(&path).expect("a link").to_string_lossy().into_owned().into_bytes()
        } else if meta.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("it can be listed").map(|entry| entry.expect("listed").path()));
            Vec::new()
        } else {
            let mut bytes = format!("{:o} ", meta.permissions().mode()).into_bytes();
            bytes.extend(fs::read(&path).expect("it can be read"));
            bytes
        };
        all.insert(path, output);
    }
    all
}

/// Checks that the data folder has no copies of secrets from clients' files.
#[track_caller]
fn expect_no_copies(data: &Path) {
    for (path, bytes) in contents(data) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for secret in ["ghp_secret", "t0k3n", "numStartups"] {
            assert!(!text.contains(secret), "{} has {secret}", path.display());
        }
    }
}

/// Whether all of a text is in another, in its order: something was added, and nothing else changed.
fn is_kept(text: &str, within: &str) -> bool {
    let mut rest = within.chars();
    text.chars().all(|char| rest.any(|other| other == char))
}

#[test]
fn setup_is_idempotent_and_unsetup_exact() {
    let user = User::new();
    let before = user.file_contents();
    let outcomes = user.outcomes("setup", 0);
    assert_eq!(outcomes.len(), FILES.len() + FOLDERS.len(), "{outcomes:?}");
    for (client, outcome) in &outcomes {
        assert_eq!(outcome, "changed", "{client}");
    }
    expect_no_copies(user.project.home.path());
    let changed = user.file_contents();
    for (path, text) in FILES {
        assert!(user.read(path).contains("serve-mcp"), "{path}");
        let lines = user.read(path);
        assert!(is_kept(text, &lines), "{path} lost something:\n{lines}");
        assert_eq!(lines.contains("\r\n"), text.contains("\r\n"), "{path}: line ends");
        assert!(!text.contains("\r\n") || !lines.replace("\r\n", "").contains('\n'), "{path}: line ends");
    }
    assert!(user.at(".junie/mcp/mcp.json").is_file());

    let again = user.outcomes("setup", 0);
    assert!(again.values().all(|outcome| outcome == "unchanged"), "{again:?}");
    assert_eq!(user.file_contents(), changed);

    // Other options, then undo: the state before the first setup.
    let other = user.outcomes("setup --answers json --tools all", 0);
    assert!(other.values().all(|outcome| outcome == "changed"), "{other:?}");
    assert!(user.read(".cursor/mcp.json").contains("\"--tools\",\"all\""));
    assert_eq!(user.read(".cursor/mcp.json").matches("serve-mcp").count(), 1);

    user.run_expecting("unsetup", 0);
    let after = user.file_contents();
    for (path, bytes) in &before {
        let found = after.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(found.as_deref(), Some(&*String::from_utf8_lossy(bytes)), "{}", path.display());
    }
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(user.run_expecting("unsetup", 0), "codecompass is not configured in any file.\n");
    assert!(!user.project.home.path().join("setup").exists(), "no record is left");
}

#[test]
fn entries_match_their_clients() {
    let user = User::new();
    user.run_expecting("setup", 0);
    let data = user.project.home.path().to_str().expect("UTF-8");
    let arguments = json!(["serve-mcp", "--auto-index", "--answers", "text"]);
    let env = json!({ "CODECOMPASS_HOME": data });
    let claude: Value = serde_json::from_str(&user.read(".claude.json")).expect("JSON");
    assert_eq!(
        claude["mcpServers"]["codecompass"],
        json!({ "type": "stdio", "command": PROGRAM, "args": arguments, "env": env, "alwaysLoad": true })
    );
    assert_eq!(claude["projects"]["/x"]["mcpServers"], json!({}));
    let cursor: Value = serde_json::from_str(&user.read(".cursor/mcp.json")).expect("JSON");
    assert_eq!(cursor["mcpServers"]["codecompass"], json!({ "command": PROGRAM, "args": arguments, "env": env }));
    let copilot: Value = serde_json::from_str(&user.read(".copilot/mcp-config.json")).expect("JSON");
    assert_eq!(copilot["mcpServers"]["codecompass"]["deferTools"], "never");
    let amp: Value = serde_json::from_str(&user.read(".config/amp/settings.json")).expect("JSON");
    assert_eq!(amp["amp.mcpServers"]["codecompass"]["command"], PROGRAM);
    let opencode = user.read(".config/opencode/opencode.jsonc");
    assert!(opencode.contains(&format!("\"command\": [\"{PROGRAM}\", \"serve-mcp\"")), "{opencode}");
    let goose = user.read(".config/goose/config.yaml");
    assert!(
        goose.contains(&format!(
            "extensions:\n  codecompass:\n    name: \"codecompass\"\n    type: \"stdio\"\n    cmd: \"{PROGRAM}\"\n"
        )),
        "{goose}"
    );
    let own = user.read(".continue/config.yaml");
    assert!(
        own.contains(&format!("mcpServers:\r\n  - name: \"codecompass\"\r\n    command: \"{PROGRAM}\"\r\n")),
        "{own}"
    );
    let vibe = user.read(".vibe/config.toml");
    assert!(vibe.ends_with(&format!("[tools]\n\n[[mcp_servers]]\nname = \"codecompass\"\ntransport = \"stdio\"\ncommand = [\"{PROGRAM}\", \"serve-mcp\", \"--auto-index\", \"--answers\", \"text\"]\nenv = {{ CODECOMPASS_HOME = \"{data}\" }}\n")), "{vibe}");
    let qwen: Value = serde_json::from_str(&user.read(".qwen/settings.json")).expect("JSON");
    assert_eq!(qwen["mcpServers"]["codecompass"]["alwaysLoadTools"], true);
    let codex = user.read(".codex/config.toml");
    assert!(codex.contains(&format!("\r\n\r\n[mcp_servers.codecompass]\r\ncommand = \"{PROGRAM}\"\r\n")), "{codex}");
    // Files that are shared with other machines contain no path of this one.
    let code = user.read(".config/Code/User/mcp.json");
    assert!(code.contains("\"command\": \"codecompass\"") && !code.contains(data) && !code.contains(PROGRAM), "{code}");
}

#[test]
fn broken_or_read_only_files_are_left_alone() {
    let user = User::new();
    let broken = [
        (".claude.json", "{\n  \"mcpServers\": {\n", "line 3, column 1"),
        (".gemini/settings.json", "", "line 1, column 1"),
        (".codex/config.toml", "a = \n", "line 1"),
        (".copilot/mcp-config.json", "{\"mcpServers\": []}", "`mcpServers` is not an object"),
        (".kiro/settings/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "`mcpServers` occurs twice"),
        (".config/amp/settings.json", "[1]", "it is not an object"),
        (".config/goose/config.yaml", "extensions: {a: {enabled: true}}\n", "`extensions` is not in block style"),
        (".continue/config.yaml", "mcpServers: [\n", "line 2"),
        (".vibe/config.toml", "mcp_servers = 1\n", "cannot be edited safely"),
    ];
    for (path, text, _) in broken {
        user.write(path, text);
    }
    fs::write(user.at(".config/zed/settings.json"), b"{\"a\": \"\xff\"}").expect("it can be written");
    let locked = user.at(".cursor/mcp.json");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).expect("it can be set");
    let before = user.file_contents();
    let output = user.run_expecting("setup", 1);
    for (path, _, why) in broken {
        let line =
            output.lines().find(|line| line.contains(path)).unwrap_or_else(|| panic!("{path} is not named: {output}"));
        assert!(line.contains("not changed") && line.contains(why), "{line}");
    }
    assert!(output.contains("mcp.json not changed: it is read-only"), "{output}");
    let after = user.file_contents();
    for path in broken.iter().map(|(path, ..)| *path).chain([".config/zed/settings.json", ".cursor/mcp.json"]) {
        assert_eq!(after[&user.at(path)], before[&user.at(path)], "{path}");
    }
    for path in [
        ".cline/data/settings/cline_mcp_settings.json",
        ".codeium/windsurf/mcp_config.json",
        ".config/opencode/opencode.jsonc",
    ] {
        assert!(user.read(path).contains("serve-mcp"), "{path}");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).expect("it can be set");
    user.run("unsetup", &[]);
    assert_eq!(user.file_contents(), before);
}

/// One client per syntax and style of file, and one whose file does not exist: the writes of the others are the same.
const KILLED: &str = "claude-code codex zed goose continue vibe junie";

#[test]
fn kill_during_setup_is_atomic() {
    let user = User::new();
    let old = user.file_contents();
    let start = user.project.home.save();
    let setup = format!("setup {KILLED}");
    user.run_expecting(&setup, 0);
    let new = user.file_contents();
    user.run_expecting("unsetup", 0);
    user.project.home.restore(&start);
    assert_eq!(user.file_contents(), old);
    let is_old_or_new = |n: usize| {
        for (path, bytes) in user.file_contents() {
            let is_beside = path.to_string_lossy().ends_with(".codecompass-new");
            let is_known = old.get(&path) == Some(&bytes) || new.get(&path) == Some(&bytes);
            assert!(is_beside || is_known || bytes.is_empty(), "write {n}: {}", path.display());
        }
    };
    let mut ended = false;
    for n in 1..200 {
        let reply = user.run(&setup, &[(KILL_AT_WRITE, &n.to_string())]);
        assert!(reply.was_aborted() || reply.succeeded(), "{reply:?}");
        is_old_or_new(n);
        // The reverse command is killed at the same write number, so that both are killed at each of their writes.
        if n % 2 == 0 {
            let back = user.run("unsetup", &[(KILL_AT_WRITE, &n.to_string())]);
            assert!(back.was_aborted() || back.succeeded(), "{back:?}");
            is_old_or_new(n);
        }
        user.run_expecting("unsetup", 0);
        assert_eq!(user.file_contents(), old, "after write {n}");
        ended = reply.succeeded();
        if ended {
            break;
        }
    }
    assert!(ended, "it is still killed at its 200th write");
}

#[test]
fn killed_update_can_be_undone() {
    let user = User::new();
    let old = user.file_contents();
    for n in 1..200 {
        user.run_expecting(&format!("setup {KILLED}"), 0);
        let reply = user.run(&format!("setup --answers json {KILLED}"), &[(KILL_AT_WRITE, &n.to_string())]);
        user.run_expecting("unsetup", 0);
        assert_eq!(user.file_contents(), old, "after write {n}");
        if reply.succeeded() {
            return;
        }
    }
    panic!("it is still killed at its 200th write");
}

#[test]
fn user_edits_survive_unsetup() {
    let user = User::new();
    user.run_expecting("setup claude-code codex zed goose continue vibe", 0);
    for path in [".config/goose/config.yaml", ".continue/config.yaml", ".vibe/config.toml"] {
        user.write(path, &format!("# New\n{}", user.read(path)));
    }
    let claude = user.read(".claude.json").replace("412", "413").replace("\"github\"", "\"hub\"");
    user.write(".claude.json", &claude);
    let codex = user.read(".codex/config.toml") + "\r\n[profiles.x]\r\nmodel = \"o8\"\r\n";
    user.write(".codex/config.toml", &codex);
    // A second setup still records that the entry is ours.
    user.run_expecting("setup claude-code codex --answers json", 0);
    user.run_expecting("unsetup", 0);
    let original = |path: &str| FILES.iter().find(|(known, _)| *known == path).expect("it is one").1;
    let expected = original(".claude.json").replace("412", "413").replace("\"github\"", "\"hub\"");
    assert_eq!(user.read(".claude.json"), expected);
    let left = user.read(".codex/config.toml");
    assert!(left.contains("[profiles.x]") && !left.contains("serve-mcp"), "{left}");
    assert!(left.starts_with(original(".codex/config.toml")), "{left}");
    assert_eq!(user.read(".config/zed/settings.json"), original(".config/zed/settings.json"));
    for path in [".config/goose/config.yaml", ".continue/config.yaml", ".vibe/config.toml"] {
        assert_eq!(user.read(path), format!("# New\n{}", original(path)), "{path}");
    }
}

#[test]
fn replaced_user_entry_is_restored() {
    let user = User::new();
    let own = "{\n  \"mcpServers\": {\n    \"codecompass\": {\"command\": \"mine\", \"args\": [\"serve-mcp\"]},\n    \"z\": 1\n  }\n}\n";
    let table =
        "[mcp_servers.codecompass]\ncommand = \"mine\"\n\n[mcp_servers.codecompass.env]\nX = \"1\"\n\n[other]\n";
    user.write(".cursor/mcp.json", own);
    user.write(".codex/config.toml", table);
    user.run_expecting("setup cursor codex", 0);
    assert!(!user.read(".cursor/mcp.json").contains("mine") && !user.read(".codex/config.toml").contains("mine"));
    user.run_expecting("unsetup", 0);
    assert_eq!((user.read(".cursor/mcp.json").as_str(), user.read(".codex/config.toml").as_str()), (own, table));
    // The same in lists and in YAML, and in files with nothing else.
    for (client, path, text) in [
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n    codecompass:\n        cmd: mine\n        args: []\n    # more\nx: 1\n",
        ),
        ("continue", ".continue/config.yaml", "mcpServers:\n- command: mine\n  name: codecompass\n- name: b\n"),
        ("continue", ".continue/config.yaml", "name: x\nmcpServers: [] # none\nmodels:\n- a\n"),
        (
            "vibe",
            ".vibe/config.toml",
            "[[mcp_servers]]\nname = \"codecompass\"\ncommand = \"mine\"\n[mcp_servers.env]\nA = \"1\"\n\n[[mcp_servers]]\nname = \"b\"\n",
        ),
        ("vibe", ".vibe/config.toml", "mcp_servers = []\n\n[x]\n"),
        ("vibe", ".vibe/config.toml", "mcp_servers = [{ name = \"a\" }]\n"),
    ] {
        user.write(path, text);
        user.run_expecting(&format!("setup {client}"), 0);
        let after = user.read(path);
        assert!(after.contains(PROGRAM) && !after.contains("mine"), "{after}");
        user.run_expecting(&format!("setup {client} --tools all"), 0);
        user.run_expecting(&format!("unsetup {client}"), 0);
        assert_eq!(user.read(path), text);
        user.run_expecting(&format!("setup {client}"), 0);
        user.write(path, &format!("# New\n{}", user.read(path)));
        user.run_expecting(&format!("unsetup {client}"), 0);
        assert_eq!(user.read(path), format!("# New\n{text}"));
    }
    // Also if another program wrote to the file in the meantime.
    user.run_expecting("setup cursor", 0);
    user.write(".cursor/mcp.json", &user.read(".cursor/mcp.json").replace("\"z\": 1", "\"z\": 2"));
    user.run_expecting("unsetup", 0);
    assert_eq!(user.read(".cursor/mcp.json"), own.replace("\"z\": 1", "\"z\": 2"));
}

#[test]
fn links_are_followed_and_permissions_kept() {
    let user = User::new();
    let text = user.read(".cursor/mcp.json");
    user.write("dotfiles/cursor.json", &text);
    fs::remove_file(user.at(".cursor/mcp.json")).expect("it exists");
    symlink("../dotfiles/cursor.json", user.at(".cursor/mcp.json")).expect("a link can be created");
    symlink(user.at("dotfiles/junie.json"), user.at(".junie/mcp.json")).expect("a link can be created");
    fs::create_dir_all(user.at(".junie/mcp")).expect("it can be created");
    symlink(user.at("dotfiles/junie.json"), user.at(".junie/mcp/mcp.json")).expect("a link can be created");
    fs::set_permissions(user.at(".claude.json"), fs::Permissions::from_mode(0o600)).expect("it can be set");
    let before = user.file_contents();
    user.run_expecting("setup", 0);
    assert!(user.at(".cursor/mcp.json").is_symlink() && user.read("dotfiles/cursor.json").contains("serve-mcp"));
    assert!(user.at(".junie/mcp/mcp.json").is_symlink() && user.read("dotfiles/junie.json").contains("serve-mcp"));
    let mode = fs::metadata(user.at(".claude.json")).expect("it exists").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    user.run_expecting("unsetup", 0);
    assert_eq!(user.file_contents(), before);
}

#[test]
fn project_setup_writes_each_file_once() {
    let user = User::new();
    let repository = &user.project.repository;
    repository.write("AGENTS.md", "# Rules\n\nBe kind.");
    let before = contents(repository.root());
    let output = user.run_expecting(
        "setup --project --instructions --skill claude-code copilot vscode cursor codex zed windsurf",
        0,
    );
    assert!(
        output.contains("Claude Code, Copilot CLI: ") && output.contains("Windsurf: has no project file"),
        "{output}"
    );
    let shared = fs::read_to_string(repository.root().join(".mcp.json")).expect("it exists");
    assert_eq!(shared.matches("\"codecompass\": {").count(), 1, "{shared}");
    let data = user.project.home.path().to_str().expect("UTF-8");
    for path in [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", ".codex/config.toml", ".zed/settings.json"] {
        let text = fs::read_to_string(repository.root().join(path)).expect("it exists");
        assert!(text.contains("\"codecompass\"") && !text.contains(PROGRAM) && !text.contains(data), "{text}");
    }
    let agents = fs::read_to_string(repository.root().join("AGENTS.md")).expect("it exists");
    assert!(agents.starts_with("# Rules\n\nBe kind.\n\n<!-- codecompass: begin -->\n"), "{agents}");
    assert_eq!(
        agents
            .lines()
            .skip_while(|line| !line.contains("begin"))
            .skip(1)
            .take_while(|line| !line.contains("end -->"))
            .count(),
        4
    );
    assert!(repository.root().join(".agents/skills/codecompass/SKILL.md").is_file());
    user.run_expecting("unsetup --project", 0);
    assert_eq!(contents(repository.root()), before);

    // A shared entry has no path, so the name has to resolve to this program.
    assert!(output.contains("The server will not start"), "the tests' PATH does not have it: {output}");
    let bin = Path::new(PROGRAM).parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let reply = user.run("setup --project --dry-run zed", &[("PATH", &path)]);
    assert!(reply.succeeded() && !reply.stdout.contains("The server will not start"), "{reply:?}");

    // A repository must not lead us to files outside it.
    symlink(user.at(".gemini/settings.json"), repository.root().join(".mcp.json")).expect("a link can be created");
    symlink(user.at(".kiro"), repository.root().join(".kiro")).expect("a link can be created");
    let output = user.run_expecting("setup --project claude-code kiro", 1);
    assert_eq!(output.matches("it leads out of the repository").count(), 2, "{output}");
    assert!(!user.read(".gemini/settings.json").contains("serve-mcp"));
}

#[test]
fn dry_run_and_print_change_nothing() {
    let user = User::new();
    let before = user.file_contents();
    let output = user.run_expecting("setup --dry-run --instructions --skill", 0);
    assert!(
        output.contains("~/.claude.json would change") && output.contains("+ ") && !output.contains("ghp_secret"),
        "{output}"
    );
    let printed = user.run_expecting("setup --print goose codex", 0);
    assert!(printed.contains("cmd: \"") && printed.contains("[mcp_servers.codecompass]"), "{printed}");
    assert_eq!(user.file_contents(), before);
    assert!(user.project.has_no_data());
    user.run_expecting("setup", 0);
    assert!(!user.at(".claude/CLAUDE.md").exists() && !user.at(".claude/skills").exists(), "they were not requested");
    user.run_expecting("unsetup", 0);

    let empty = User {
        home: TempDir::new().expect("a temporary folder can be created"),
        project: Project::new(Repository::new()),
    };
    let output = empty.run("setup", &[("PATH", "/nowhere")]);
    assert!(output.code == Some(1) && output.stdout.contains("No client is installed"), "{output:?}");
    assert_eq!(empty.file_contents().len(), 1);
    assert!(empty.run("setup claude-cod", &[]).stderr.contains("claude-code"));
    assert!(empty.run("setup codex --tools nonsense", &[]).stderr.contains("nonsense"));
}

#[test]
fn variables_override_client_paths() {
    let user = User::new();
    let elsewhere = TempDir::new().expect("a temporary folder can be created");
    let folder = elsewhere.path().to_str().expect("UTF-8");
    let file = format!("{folder}/own.jsonc");
    let cline = format!("{folder}/servers.json");
    let env = [
        ("CLAUDE_CONFIG_DIR", folder),
        ("CODEX_HOME", folder),
        ("OPENCODE_CONFIG", file.as_str()),
        ("COPILOT_HOME", folder),
        ("GEMINI_CLI_HOME", folder),
        ("CLINE_MCP_SETTINGS_PATH", cline.as_str()),
        // The file counts, not the folder.
        ("CLINE_DIR", "/nowhere"),
        ("QWEN_HOME", &format!("{folder}/qwen")),
        ("GROK_HOME", &format!("{folder}/grok")),
        ("FACTORY_HOME_OVERRIDE", folder),
        ("QODER_CONFIG_DIR", &format!("{folder}/qoder")),
        ("VIBE_HOME", &format!("{folder}/vibe")),
        ("CRUSH_GLOBAL_CONFIG", &format!("{folder}/crush")),
        ("KIMI_CODE_HOME", &format!("{folder}/kimi")),
        ("KILO_CONFIG", &format!("{folder}/kilo.json")),
    ];
    let before = user.file_contents();
    let clients = "claude-code codex opencode copilot gemini cline qwen grok droid qoder vibe crush kimi kilo";
    assert_eq!(user.run(&format!("setup {clients}"), &env).code, Some(0));
    assert_eq!(user.file_contents(), before);
    let names = [
        ".claude.json",
        "config.toml",
        "own.jsonc",
        "mcp-config.json",
        ".gemini/settings.json",
        "servers.json",
        "qwen/settings.json",
        "grok/config.toml",
        ".factory/mcp.json",
        "qoder/settings.json",
        "vibe/config.toml",
        "crush/crush.json",
        "kimi/mcp.json",
        "kilo.json",
    ];
    for name in names {
        assert!(fs::read_to_string(elsewhere.path().join(name)).expect("it exists").contains("serve-mcp"), "{name}");
    }
    assert_eq!(user.run("unsetup", &env).code, Some(0));
    assert_eq!(fs::read_dir(elsewhere.path()).expect("it can be listed").count(), 0);
}

#[test]
fn programs_on_path_are_found_but_not_run() {
    let user = User {
        home: TempDir::new().expect("a temporary folder can be created"),
        project: Project::new(Repository::new()),
    };
    let script = "#!/bin/sh\ntouch \"$HOME/was-run\"\n";
    // `zed`, `goose` and `code` alone may be other programs; `amp` leads to the package of the client.
    let names = ["claude", "codex", "copilot", "cline", "gemini", "zed", "goose", "code"];
    let package = "lib/node_modules/@sourcegraph/amp/dist/main.js";
    for path in names.map(|name| format!("bin/{name}")).iter().map(String::as_str).chain([package]) {
        user.write(path, script);
        fs::set_permissions(user.at(path), fs::Permissions::from_mode(0o755)).expect("it can be set");
    }
    symlink(user.at(package), user.at("bin/amp")).expect("a link can be created");
    let before = user.file_contents();
    let bin = user.at("bin").display().to_string();
    let reply = user.run("setup --json", &[("PATH", &bin)]);
    let answer: Value = serde_json::from_str(&reply.stdout).expect("an answer is JSON");
    let mut found: Vec<&str> =
        answer["clients"].as_array().expect("a list").iter().filter_map(|item| item["client"].as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, ["amp", "claude-code", "cline", "codex", "copilot", "gemini"], "{answer}");
    assert!(!user.at("was-run").exists(), "no program is run");
    assert_eq!(user.run("unsetup", &[("PATH", &bin)]).code, Some(0));
    assert_eq!(user.file_contents(), before);
}

const LIST: &str = "direct_only_tool_namespaces";

#[test]
fn entry_names_the_link_that_was_invoked() {
    let user = User::new();
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be created");
    let (versioned, bin) = (folder.path().join("Cellar/1.0"), folder.path().join("bin"));
    fs::create_dir_all(&versioned).expect("it can be created");
    fs::create_dir_all(&bin).expect("it can be created");
    fs::hard_link(PROGRAM, versioned.join("codecompass")).expect("both are in the target folder");
    let link = bin.join("codecompass");
    symlink(versioned.join("codecompass"), &link).expect("it can be created");
    let named = |program: &Path, path: &Path| {
        let output = std::process::Command::new(program)
            .args(["setup", "cursor", "--print", "--json"])
            .current_dir(user.project.repository.root())
            .env("HOME", user.home.path())
            .env("CODECOMPASS_HOME", user.project.home.path())
            .env("PATH", path)
            .output()
            .expect("it runs");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer is JSON");
        answer["clients"][0]["entry"]["command"].as_str().map(PathBuf::from)
    };
    assert_eq!(named(&link, Path::new("")), Some(link.clone()), "a link given by its path");
    assert_eq!(named(&versioned.join("codecompass"), Path::new("")), Some(versioned.join("codecompass")));
    let by_name = std::process::Command::new("sh")
        .args(["-c", "exec codecompass setup cursor --print"])
        .env("HOME", user.home.path())
        .env("CODECOMPASS_HOME", user.project.home.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&by_name.stdout).into_owned();
    assert!(text.contains(&link.display().to_string()) && !text.contains("Cellar"), "found on PATH: {text}");
}

#[test]
fn codex_offers_the_tools_directly() {
    let user = User::new();
    let path = ".codex/config.toml";
    let table = [
        ("model = \"o9\"\n", "\n[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__codecompass\"]\n"),
        ("[features]\nx = true", "\n[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__codecompass\"]\n"),
        (
            "[features.code_mode]\nenabled = true\n\n[tui]\n",
            "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__codecompass\"]\nenabled = true\n",
        ),
        (
            "[features.code_mode]\ndirect_only_tool_namespaces = [\n  \"mcp__a\", # mine\n]\n",
            "  \"mcp__a\", \"mcp__codecompass\", # mine\n",
        ),
    ];
    for (before, expected) in table {
        user.write(path, before);
        let output = user.run_expecting("setup codex", 0);
        let after = user.read(path);
        assert!(after.contains(expected) && after.contains("[mcp_servers.codecompass]"), "{after}");
        assert!(
            !output.contains(LIST) || output.contains(&format!("+ {LIST}")) || output.contains("mcp__a"),
            "{output}"
        );
        assert!(user.run_expecting("setup codex", 0).contains("already set up"));
        user.run_expecting("setup codex --answers json", 0);
        user.run_expecting("unsetup codex", 0);
        assert_eq!(user.read(path), before);
        // Also after the user changed the file.
        user.run_expecting("setup codex", 0);
        user.write(path, &format!("# New\n{}", user.read(path)));
        user.run_expecting("unsetup codex", 0);
        assert_eq!(user.read(path).trim_end(), format!("# New\n{before}").trim_end());
    }
    // An entry of an earlier version gets the setting.
    user.write(path, "[mcp_servers.codecompass]\ncommand = \"mine\"\n");
    user.run_expecting("setup codex", 0);
    assert!(user.read(path).contains(LIST));
    user.run_expecting("unsetup codex", 0);
    assert_eq!(user.read(path), "[mcp_servers.codecompass]\ncommand = \"mine\"\n");
}

#[test]
fn codex_settings_that_exclude_ours_stay() {
    let user = User::new();
    let path = ".codex/config.toml";
    for before in [
        "[features]\ncode_mode = true\n",
        "features = { code_mode = false }\n",
        "[features]\ncode_mode = { enabled = true }\n",
        "[features.code_mode]\ndirect_only_tool_namespaces = \"all\"\n",
    ] {
        user.write(path, before);
        let output = user.run_expecting("setup codex", 0);
        assert!(
            output.contains("the file has another setting in its place")
                && output.contains("To add it, under `[features]`"),
            "{output}"
        );
        let after = user.read(path);
        assert!(after.starts_with(before) && !after.contains("mcp__codecompass"), "{after}");
        let output = user.run_expecting("setup codex", 0);
        assert!(output.contains("already set up") && output.contains("another setting"), "{output}");
        user.run_expecting("unsetup codex", 0);
        assert_eq!(user.read(path), before);
    }
    // A version that does not start with the setting.
    user.write(path, "");
    user.write("codex/package.json", "{\"name\": \"@openai/codex\", \"version\": \"0.141.0\"}");
    user.write("codex/bin/codex", "");
    let env = [("PATH", user.at("codex/bin").display().to_string())];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let output = user.run("setup codex", &env);
    assert!(output.stdout.contains("too old") && !user.read(path).contains(LIST), "{output:?}");
    user.write("codex/package.json", "{\"name\": \"@openai/codex\", \"version\": \"0.142.0\"}");
    let output = user.run("setup codex", &env);
    assert!(!output.stdout.contains("too old") && user.read(path).contains(LIST), "{output:?}");
}

#[test]
fn trust_is_written_only_on_request() {
    let user = User::new();
    let output = user.run_expecting("setup gemini cursor", 0);
    assert_eq!(output.matches("--trust").count(), 1, "{output}");
    assert!(!user.read(".gemini/settings.json").contains("\"trust\""));
    let output = user.run_expecting("setup gemini cursor --trust", 0);
    assert!(output.contains("Gemini CLI runs the tools without asking."), "{output}");
    assert!(user.read(".gemini/settings.json").contains("\"trust\": true"));
    assert!(!user.read(".cursor/mcp.json").contains("trust"), "it has no such field");
    // Others did not agree to it.
    let output = user.run_expecting("setup gemini --trust --project", 0);
    let file = user.project.repository.root().join(".gemini/settings.json");
    let text = fs::read_to_string(file).expect("it exists");
    assert!(!text.contains("trust") && output.contains("does not apply to a project's file"), "{output}");
}

#[test]
fn keys_that_a_client_added_stay_and_ours_go() {
    let user = User::new();
    let path = ".config/opencode/opencode.json";
    fs::remove_dir_all(user.at(".config/opencode")).expect("it exists");
    let schema = "  \"$schema\": \"https://opencode.ai/config.json\"";
    // OpenCode adds its schema to the file that setup created.
    user.run_expecting("setup opencode", 0);
    let text = user.read(path).replacen("{\n", &format!("{{\n{schema},\n"), 1);
    user.write(path, &text);
    user.run_expecting("unsetup opencode", 0);
    assert_eq!(user.read(path), format!("{{\n{schema}\n}}\n"));
    // Kilo adds a permission after it, too, and Qwen Code its version.
    for (client, path, before, after) in [
        (
            "kilo",
            ".config/kilo/kilo.jsonc",
            "  \"$schema\": \"https://app.kilo.ai/config.json\",\n",
            ",\n  \"permission\": {\n    \"bash\": \"allow\"\n  }\n",
        ),
        ("qwen", ".qwen/settings.json", "", ",\n  \"$version\": 4\n"),
    ] {
        fs::remove_file(user.at(path)).expect("it exists");
        user.run_expecting(&format!("setup {client}"), 0);
        let text = user.read(path);
        let inside = text.strip_prefix("{\n").and_then(|text| text.strip_suffix("\n}\n")).expect("an object");
        user.write(path, &format!("{{\n{before}{inside}{after}}}"));
        user.run_expecting(&format!("unsetup {client}"), 0);
        let after = after.strip_prefix(",\n").expect("another key");
        assert_eq!(user.read(path), format!("{{\n{before}{after}}}"));
    }
    // Our keys go from a file of the user, too, and those of the user stay.
    for (before, after) in [
        ("{\n  \"theme\": \"x\"\n}\n", "{\n  \"theme\": \"y\"\n}\n"),
        ("{\n  \"mcp\": {},\n  \"theme\": \"x\"\n}\n", "{\n  \"mcp\": {\n  },\n  \"theme\": \"y\"\n}\n"),
    ] {
        user.write(path, before);
        user.run_expecting("setup opencode", 0);
        user.write(path, &user.read(path).replace("\"x\"", "\"y\""));
        user.run_expecting("unsetup opencode", 0);
        assert_eq!(user.read(path), after);
    }
    // A file that only setup wrote goes, even if the client formatted it anew.
    fs::remove_dir_all(user.at(".config/opencode")).expect("it exists");
    let folders = user.file_contents();
    user.run_expecting("setup opencode", 0);
    let value: Value = serde_json::from_str(&user.read(path)).expect("JSON");
    user.write(path, &serde_json::to_string(&value).expect("JSON"));
    user.run_expecting("unsetup opencode", 0);
    assert_eq!(user.file_contents(), folders);
}

#[test]
fn files_that_the_client_has_to_create_are_not_created() {
    let user = User::new();
    for (client, path) in [("goose", ".config/goose/config.yaml"), ("continue", ".continue/config.yaml")] {
        fs::remove_file(user.at(path)).expect("it exists");
        let before = user.file_contents();
        let output = user.run_expecting(&format!("setup {client}"), 0);
        assert!(output.contains("add this manually") && output.contains("serve-mcp"), "{output}");
        assert_eq!(user.file_contents(), before);
    }
}

//! A server that is started according to each client's entry, in that client's folder and with its variables, answers
//! about the right repository with the data folder of the command line. `doctor --client` confirms it.

// The clients' folders, links and file modes are specific to Unix here.
#![cfg(unix)]

use crate::support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::PROGRAM;
use tempfile::TempDir;

/// A user with a data folder that is set by a variable, which not every client passes on.
struct User {
    home: TempDir,
    repository: Repository,
}

/// The known behavior of a client when it starts servers, specified independently of the product: the variables it
/// passes on, the folder, and how it announces the open folder.
struct ClientBehavior {
    client: &'static str,
    passes: Option<&'static [&'static str]>,
    folder: &'static str,
    folder_variable: Option<&'static str>,
    roots: bool,
}

const fn plain(client: &'static str) -> ClientBehavior {
    ClientBehavior { client, passes: None, folder: "project", folder_variable: None, roots: false }
}

const CLIENTS: &[ClientBehavior] = &[
    ClientBehavior { folder_variable: Some("CLAUDE_PROJECT_DIR"), ..plain("claude-code") },
    ClientBehavior {
        passes: Some(&["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]),
        ..plain("codex")
    },
    ClientBehavior { folder: "/", folder_variable: Some("WORKSPACE_FOLDER_PATHS"), ..plain("cursor") },
    ClientBehavior { folder: "home", roots: true, ..plain("vscode") },
    plain("copilot"),
    ClientBehavior { roots: true, ..plain("opencode") },
    plain("zed"),
    ClientBehavior { roots: true, ..plain("gemini") },
    plain("windsurf"),
    plain("cline"),
    plain("kiro"),
    plain("junie"),
    plain("amp"),
    ClientBehavior { roots: true, ..plain("goose") },
    ClientBehavior { roots: true, ..plain("qwen") },
    ClientBehavior { roots: true, ..plain("kilo") },
    plain("grok"),
    plain("droid"),
    plain("qoder"),
    plain("continue"),
    ClientBehavior { passes: Some(PYTHON), ..plain("vibe") },
    plain("crush"),
    plain("kimi"),
    plain("auggie"),
];

/// The variables that the Python library for MCP passes on.
const PYTHON: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Files that setup does not create.
const FILES: &[(&str, &str)] =
    &[(".config/goose/config.yaml", "GOOSE_MODEL: x\n"), (".continue/config.yaml", "name: x\nmodels: []\n")];

impl User {
    fn new() -> Self {
        let user =
            Self { home: TempDir::new().expect("a temporary folder can be created"), repository: Repository::new() };
        user.repository.write("src/lib.rs", "pub fn only_here() {}\n");
        user.repository.commit("files");
        for (path, text) in FILES {
            let path = user.home().join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be created");
            fs::write(path, text).expect("it can be written");
        }
        user
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn env(&self) -> Vec<(String, String)> {
        let bin = Path::new(PROGRAM).parent().expect("a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        [
            ("HOME", self.home().display().to_string()),
            ("PATH", format!("{bin}:{path}")),
            ("XDG_DATA_HOME", self.home().join("my data").display().to_string()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("TERM", "dumb".into()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(self.repository.root())
            .env_clear()
            .envs(self.env())
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    }

    fn run_ok(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
        text
    }

    /// Reads the command, arguments and variables of our entry in a file, with this test's own parser.
    fn entry(&self, file: &Path) -> (Vec<String>, Vec<(String, String)>, Vec<String>) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let entry = if file.extension().is_some_and(|end| end == "toml") {
            let value = |line: &str| line.split_once(" = ").map(|(_, value)| value.to_owned());
            let find = |key: &str| text.lines().find(|line| line.starts_with(&format!("{key} = "))).and_then(value);
            let env = find("env").map(|env| env.replace("{ CODECOMPASS_HOME =", "{ \"CODECOMPASS_HOME\":"));
            let parsed = |text: Option<String>| text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            json!({ "command": parsed(find("command")), "args": parsed(find("args")), "env": parsed(env), "env_vars": parsed(find("env_vars")) })
        } else if file.extension().is_some_and(|end| end == "yaml") {
            let lines = text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).split_once(": "));
            let field = |name: &str| {
                let found = lines.clone().find(|(key, _)| *key == name).map(|(_, value)| value);
                found.and_then(|value| serde_json::from_str::<Value>(value).ok())
            };
            json!({
                "command": field("command").or(field("cmd")),
                "args": field("args"),
                "env": field("env").or(field("envs")),
            })
        } else {
            let whole: Value = serde_json::from_str(&text).expect("a file that setup made is JSON");
            let servers = whole.as_object().expect("an object").values().next().expect("servers");
            servers["codecompass"].clone()
        };
        let words = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().map(|word| word.as_str().expect("a word").to_owned()).collect()
        };
        let line = match entry["command"].as_str() {
            Some(program) => std::iter::once(program.to_owned()).chain(words(&entry["args"])).collect(),
            None => words(&entry["command"]),
        };
        let env = entry["env"].as_object().or(entry["environment"].as_object());
        let env = env.into_iter().flatten().map(|(name, value)| (name.clone(), value.as_str().expect("text").into()));
        (line, env.collect(), words(&entry["env_vars"]))
    }

    /// Starts a server exactly so, and returns its answer to a query for the only function.
    fn answer(&self, known: &ClientBehavior, file: &Path) -> String {
        let root = self.repository.root();
        let (line, variables, more) = self.entry(file);
        let line: Vec<String> =
            line.iter().map(|word| word.replace("${workspaceFolder}", root.to_str().expect("UTF-8"))).collect();
        let is_passed = |name: &str| {
            known.passes.is_none_or(|names| names.contains(&name)) || more.iter().any(|other| other == name)
        };
        let folder = match known.folder {
            "project" => root.to_owned(),
            "home" => self.home().to_owned(),
            other => PathBuf::from(other),
        };
        let env = self.env();
        let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).expect("it is set");
        // A bare name is looked up in the client's PATH, not in that of this test.
        let program = path.split(':').map(|folder| Path::new(folder).join(&line[0])).find(|file| file.is_file());
        let mut child = Command::new(program.expect("the command exists"))
            .args(&line[1..])
            .current_dir(folder)
            .env_clear()
            .envs(env.into_iter().filter(|(name, _)| is_passed(name)))
            .envs(variables)
            .envs(known.folder_variable.map(|name| (name, root)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("it starts");
        let mut input = child.stdin.take().expect("piped");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut send = |message: Value| writeln!(input, "{message}").expect("the server reads its input");
        let capabilities = if known.roots { json!({ "roots": { "listChanged": true } }) } else { json!({}) };
        send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": { "name": known.client, "version": "1" },
        } }));
        let hello = lines.next().expect("the server answers").expect("text");
        assert!(hello.contains("\"protocolVersion\""), "{}: {hello}", known.client);
        send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "search_code", "arguments": { "query": "only_here" },
        } }));
        let answer = loop {
            let line = lines.next().unwrap_or_else(|| panic!("{} got no answer", known.client)).expect("text");
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["method"] == "roots/list" {
                let uri = format!("file://{}", root.display());
                send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [{ "uri": uri }] } }));
            } else if message["id"] == 2 {
                break message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            }
        };
        drop(input);
        child.wait().expect("it ends when its input closes");
        answer
    }
}

#[test]
fn entries_start_servers_for_the_right_repository() {
    let user = User::new();
    user.run_ok(&["index"]);
    for known in CLIENTS {
        for scope in [&[][..], &["--project"]] {
            let report = user.run_ok(&[&["setup", known.client, "--json"][..], scope].concat());
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let item = &report["clients"][0];
            let Some(file) = item["file"].as_str().filter(|_| item["outcome"] == "changed") else {
                assert!(!scope.is_empty() && item["outcome"] == "none", "{}: {report}", known.client);
                continue;
            };
            let answer = user.answer(known, Path::new(file));
            assert!(
                answer.contains("src/lib.rs") && answer.contains("only_here"),
                "{} {scope:?}: {answer}",
                known.client
            );
            user.run_ok(&[&["unsetup", known.client][..], scope].concat());
        }
    }
    assert!(!user.home().join(".local").exists(), "no client created its own data folder");
}

#[test]
fn doctor_starts_every_entry() {
    let user = User::new();
    let names: Vec<&str> = CLIENTS.iter().map(|known| known.client).collect();
    user.run_ok(&[&["setup"][..], &names].concat());
    let trusted = json!({ user.repository.root().display().to_string(): "TRUST_FOLDER" }).to_string();
    fs::write(user.home().join(".gemini/trustedFolders.json"), trusted).expect("setup has created the folder");
    let told = user.run_ok(&["doctor", "--client", "codex", "cursor", "vscode"]);
    assert!(told.contains("it is indexed at the client's first call"), "{told}");
    assert!(!user.home().join("my data/codecompass/projects").exists(), "the doctor does not index");
    user.run_ok(&["index"]);
    let told = user.run_ok(&[&["doctor", "--client"][..], &names].concat());
    let serving = format!(
        "serving {} with data in {}",
        user.repository.root().display(),
        user.home().join("my data/codecompass").display()
    );
    assert_eq!(told.matches(&serving).count(), CLIENTS.len(), "{told}");
    assert_eq!(told.matches("configured in ").count(), CLIENTS.len(), "{told}");
    // Outside a repository, there is nothing to check.
    let told = Command::new(PROGRAM)
        .args(["doctor", "--client", "codex", "cursor"])
        .current_dir(user.home())
        .env_clear()
        .envs(user.env())
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success() && text.matches("run this in a repository").count() == 2, "{text}");
    user.run_ok(&["unsetup", "zed"]);
    let (code, told) = user.run(&["doctor", "--client", "zed", "cursor"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("not configured") && told.contains("run `codecompass setup zed`"), "{told}");
}

#[test]
fn doctor_starts_only_our_entries() {
    let user = User::new();
    user.run_ok(&["index"]);
    let (script, mark) = (user.home().join("evil"), user.home().join("mark"));
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).expect("it can be written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it can be set");
    let entries = [
        json!({ "command": script, "args": ["serve-mcp"] }),
        json!({ "command": "sh", "args": ["-c", format!("touch '{}'", mark.display())] }),
        json!({ "command": PROGRAM, "args": ["forget", user.repository.root()] }),
        json!({ "command": PROGRAM, "args": ["serve-mcp", "--transport", "http"] }),
        json!({ "command": PROGRAM, "args": ["serve-mcp"], "env": { "LD_PRELOAD": mark } }),
        json!({ "args": [] }),
    ];
    for entry in entries {
        let text = json!({ "mcpServers": { "codecompass": entry } }).to_string();
        user.repository.write(".mcp.json", &text);
        let (code, told) = user.run(&["doctor", "--client", "claude-code"]);
        assert_eq!(code, Some(1), "{told}");
        let is_told = told.contains("(not run)") || told.contains("was not started") || told.contains("has no command");
        assert!(is_told && !told.contains("initialized in"), "{told}");
        assert!(!mark.exists(), "{entry} was run");
    }
    assert!(user.run_ok(&["locate", "only_here"]).contains("src/lib.rs"), "no project was removed");
}

#[test]
fn client_roots_select_the_workspace() {
    let user = User::new();
    let other = Repository::new();
    other.write("src/lib.rs", "pub fn only_there() {}\n");
    other.commit("files");
    user.run_ok(&["index"]);
    let mut child = Command::new(PROGRAM)
        .args(["serve-mcp", "--auto-index"])
        .current_dir(user.home())
        .env_clear()
        .envs(user.env())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut send = |message: Value| writeln!(input, "{message}").expect("the server reads its input");
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": { "roots": { "listChanged": true } },
        "clientInfo": { "name": "test", "version": "1" },
    } }));
    let mut next = || -> Value {
        serde_json::from_str(&lines.next().expect("the server answers").expect("text")).expect("a message")
    };
    assert_eq!(next()["id"], 1);
    let notify = |method: &str| json!({ "jsonrpc": "2.0", "method": method });
    for (number, (repository, method)) in
        [(&user.repository, "notifications/initialized"), (&other, "notifications/roots/list_changed")]
            .iter()
            .enumerate()
    {
        send(notify(method));
        let asked = next();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let uri = format!("file://{}", repository.root().display());
        send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": uri }] } }));
        let id = number + 10;
        // The notification and a query may cross; a second query comes after both.
        let mut told = Value::Null;
        for round in 0..200 {
            send(json!({ "jsonrpc": "2.0", "id": id + round * 100, "method": "tools/call", "params": {
                "name": "index_status", "arguments": {},
            } }));
            told = next()["result"]["structuredContent"].clone();
            if told["repo_root"] == json!(repository.root()) {
                break;
            }
        }
        assert_eq!(told["repo_root"], json!(repository.root()), "{told}");
    }
    drop(input);
    child.wait().expect("it ends when its input closes");
}

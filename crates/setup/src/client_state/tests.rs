//! The rules of each client, on files as the real programs write them. Each expected report agrees with the client's own
//! list of servers in the same state.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::clients::CLIENTS;

const ENTRY: &str = r#"{"command": "codecompass", "args": ["serve-mcp"]}"#;
const SERVERS: &str = r#"{"mcpServers": {"codecompass": {"command": "codecompass", "args": ["serve-mcp"]}}}"#;
const CODEX: &str = "[mcp_servers.codecompass]\ncommand = \"codecompass\"\nargs = [\"serve-mcp\"]\n";
const DIRECT: &str = "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__codecompass\"]\n";
const OPENCODE: &str = r#"{"mcp": {"codecompass": {"type": "local", "command": ["codecompass", "serve-mcp"]}}}"#;

/// A home folder, a repository and the files of an administrator.
struct Scratch {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Scratch {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be created");
        for name in ["home", "repo/sub", "system"] {
            fs::create_dir_all(folder.path().join(name)).expect("it can be created");
        }
        Self { folder, variables: Vec::new() }
    }

    /// The path of `~/…`, `/…` (of the administrator) or a path in the repository.
    fn path(&self, name: &str) -> PathBuf {
        let root = self.folder.path().canonicalize().expect("it exists");
        match (name.strip_prefix("~/"), name.strip_prefix('/')) {
            (Some(name), _) => root.join("home").join(name),
            (_, Some(name)) => root.join("system").join(name),
            _ => root.join("repo").join(name),
        }
    }

    /// Writes a file; `REPO` is the path of the repository, `ABOVE` that of the folder above.
    fn write(&self, name: &str, text: &str) -> &Self {
        let (path, repo) = (self.path(name), self.path(""));
        let text = text.replace("REPO", repo.to_str().expect("UTF-8").trim_end_matches('/'));
        let text = text.replace("ABOVE", repo.parent().and_then(Path::to_str).expect("UTF-8"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
        fs::write(path, text).expect("it can be written");
        self
    }

    fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.path(name)).expect("it exists");
        self
    }

    fn with_place<T>(&self, check: impl FnOnce(&ClientPlace<'_>) -> T) -> T {
        let variable =
            |name: &str| self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let (repo, system) = (self.path("sub").parent().map(Path::to_owned).expect("a folder"), self.path("/"));
        check(&ClientPlace {
            user: Environment { home: self.path("~/.").components().collect(), project: None, variable: &variable },
            folder: &repo,
            project: Some(&repo),
            system: &system,
            tools: &["search_code", "read_code", "find_references"],
        })
    }

    /// The used files and the remarks of a client in the table.
    fn report(&self, name: &str) -> Vec<String> {
        let client = CLIENTS.iter().find(|client| client.name == name).expect("it is in the table");
        self.with_place(|place| self.lines(&ClientState::read(client, place), place))
    }

    /// The same for a file of this client and rules that need no row in the table.
    fn report_rules(
        &self,
        like: &str,
        file: &str,
        project_file: &str,
        rules: impl FnOnce(&mut ClientState, &ClientPlace<'_>),
    ) -> Vec<String> {
        let client = CLIENTS.iter().find(|client| client.name == like).expect("it is in the table");
        let shape = client.user.expect("it has a file").shape;
        let mut state = ClientState {
            entries: Vec::new(),
            remarks: Vec::new(),
            user_file: Some(self.path(file)),
            shape: Some(shape),
            unreadable: BTreeSet::new(),
        };
        for (file, scope) in [(file, Scope::User), (project_file, Scope::Project)] {
            let file = self.path(file);
            if let Some(value) = existing_entry(shape, &file).expect("it can be read") {
                state.entries.push(FoundEntry { file, shape, value, scope });
            }
        }
        self.with_place(|place| {
            rules(&mut state, place);
            self.lines(&state, place)
        })
    }

    fn lines(&self, state: &ClientState, place: &ClientPlace<'_>) -> Vec<String> {
        let uses = state.entries.iter().map(|entry| format!("uses {}", place.short(&entry.file)));
        let remarks = state.remarks.iter().map(|remark| match remark.severity {
            Severity::Note => format!("note: {}", remark.message),
            Severity::Problem => format!("problem: {}", remark.message),
        });
        let repo = self.path("sub").parent().map(|path| path.display().to_string()).expect("a folder");
        let system = self.path("/").display().to_string();
        uses.chain(remarks).map(|line| line.replace(&repo, "REPO").replace(&system, "/")).collect()
    }
}

/// Claude Code with an entry for all projects, and a permission rule.
fn claude() -> Scratch {
    let scratch = Scratch::new();
    scratch
        .write("~/.claude.json", &format!(r#"{{"mcpServers": {{"codecompass": {ENTRY}}}}}"#))
        .write("~/.claude/settings.json", r#"{"permissions": {"allow": ["mcp__codecompass"]}}"#);
    scratch
}

#[test]
fn claude_uses_a_project_entry_after_approval() {
    let scratch = claude();
    assert_eq!(scratch.report("claude-code"), ["uses ~/.claude.json"]);
    scratch.write(".mcp.json", SERVERS);
    let pending = "REPO/.mcp.json is not used: it waits for your approval (only `claude -p` starts it without)";
    assert_eq!(scratch.report("claude-code"), ["uses ~/.claude.json".to_owned(), format!("note: {pending}")]);

    // The approval is in the project's folder, so it counts only in a trusted one.
    scratch.write(".claude/settings.local.json", r#"{"enabledMcpjsonServers": ["codecompass"]}"#);
    assert_eq!(scratch.report("claude-code")[0], "uses ~/.claude.json");
    let trusted = r#""projects": {"REPO": {"hasTrustDialogAccepted": true}}"#;
    scratch.write("~/.claude.json", &format!(r#"{{"mcpServers": {{"codecompass": {ENTRY}}}, {trusted}}}"#));
    assert_eq!(
        scratch.report("claude-code"),
        ["uses REPO/.mcp.json", "note: REPO/.mcp.json overrides the entry in ~/.claude.json"]
    );

    scratch.write("~/.claude.json", "{}").remove(".claude/settings.local.json");
    assert_eq!(scratch.report("claude-code"), ["uses REPO/.mcp.json".to_owned(), format!("problem: {pending}")]);
    scratch.write(
        "~/.claude/settings.json",
        r#"{"enableAllProjectMcpServers": true, "permissions": {"allow": ["mcp__codecompass"]}}"#,
    );
    assert_eq!(scratch.report("claude-code"), ["uses REPO/.mcp.json"]);
    scratch.write(".claude/settings.local.json", r#"{"disabledMcpjsonServers": ["codecompass"]}"#);
    assert_eq!(scratch.report("claude-code")[1], "problem: REPO/.mcp.json is not used: you have rejected it");
}

#[test]
fn claude_prefers_a_local_entry() {
    let scratch = claude();
    let local = format!(r#""projects": {{"REPO": {{"mcpServers": {{"codecompass": {ENTRY}}}}}}}"#);
    scratch.write("~/.claude.json", &format!(r#"{{"mcpServers": {{"codecompass": {ENTRY}}}, {local}}}"#));
    scratch.write("~/.claude/settings.json", r#"{"enableAllProjectMcpServers": true}"#).write(".mcp.json", SERVERS);
    let report = scratch.report("claude-code");
    assert_eq!(report[1], "note: the entry for this project in ~/.claude.json overrides the others");
    assert_eq!(report.iter().filter(|line| line.starts_with("uses ")).count(), 1, "{report:?}");
}

#[test]
fn claude_reads_the_record_of_the_main_work_tree() {
    let scratch = claude();
    let disabled = r#""projects": {"ABOVE/main": {"disabledMcpServers": ["codecompass"]}}"#;
    scratch.write("~/.claude.json", &format!(r#"{{"mcpServers": {{"codecompass": {ENTRY}}}, {disabled}}}"#));
    assert_eq!(scratch.report("claude-code"), ["uses ~/.claude.json"]);
    scratch.write(".git", "gitdir: ABOVE/main/.git/worktrees/repo\n");
    assert_eq!(scratch.report("claude-code")[1], "problem: disabled in this project");
}

#[test]
fn claude_obeys_lists_of_servers() {
    let scratch = claude();
    let managed =
        if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };
    let settings = format!("{managed}/managed-settings.json");
    let report = |text: &str| scratch.write(&settings, text).report("claude-code").split_off(1);
    for (rules, problem) in [
        (r#"{"deniedMcpServers": [{"serverName": "codecompass"}]}"#, Some("denied by deniedMcpServers")),
        (
            r#"{"deniedMcpServers": [{"serverCommand": ["codecompass", "serve-mcp"]}]}"#,
            Some("denied by deniedMcpServers"),
        ),
        (r#"{"allowedMcpServers": []}"#, Some("not among allowedMcpServers")),
        (r#"{"allowedMcpServers": [{"serverName": "codecompass"}]}"#, None),
        // A rule for a command makes names count no longer.
        (
            r#"{"allowedMcpServers": [{"serverCommand": ["x"]}, {"serverName": "codecompass"}]}"#,
            Some("not among allowedMcpServers"),
        ),
        (r#"{"allowedMcpServers": [{"serverCommand": ["codecompass", "serve-mcp"]}]}"#, None),
    ] {
        let lines = report(rules);
        match problem {
            Some(problem) => assert!(lines[0].starts_with(&format!("problem: {problem} in ")), "{rules}: {lines:?}"),
            None => assert!(lines.is_empty(), "{rules}: {lines:?}"),
        }
    }
    scratch.remove(&settings).write(&format!("{managed}/managed-mcp.json"), r#"{"mcpServers": {"other": {}}}"#);
    assert!(scratch.report("claude-code")[1].contains("allows only its own servers"));
}

#[test]
fn claude_needs_a_permission_rule_without_a_user() {
    let scratch = claude();
    scratch.write("~/.claude/settings.json", "{}");
    let note = "note: `claude -p` refuses each call, because no permission rule allows them";
    assert_eq!(scratch.report("claude-code"), ["uses ~/.claude.json", note]);
    scratch.write("~/.claude/settings.json", r#"{"permissions": {"deny": ["mcp__codecompass"]}}"#);
    assert_eq!(
        scratch.report("claude-code")[1],
        "problem: permissions.deny in ~/.claude/settings.json hides all tools"
    );
    let one = r#"{"permissions": {"deny": ["mcp__codecompass__read_code"], "allow": ["mcp__codecompass"]}}"#;
    scratch.write("~/.claude/settings.json", one);
    assert_eq!(scratch.report("claude-code")[1], "note: permissions.deny in ~/.claude/settings.json hides read_code");
}

#[test]
fn codex_reads_project_entries_in_trusted_projects() {
    let scratch = Scratch::new();
    scratch.write(".codex/config.toml", CODEX).write("~/.codex/config.toml", DIRECT);
    let ignored = "REPO/.codex/config.toml is not used: Codex reads it in trusted projects only";
    let untrusted = ["uses REPO/.codex/config.toml".to_owned(), format!("problem: {ignored}")];
    assert_eq!(scratch.report("codex"), untrusted);
    // Trust of the folder above does not count.
    scratch.write("~/.codex/config.toml", &format!("{DIRECT}[projects.\"ABOVE\"]\ntrust_level = \"trusted\"\n"));
    assert_eq!(scratch.report("codex"), untrusted);
    scratch.write("~/.codex/config.toml", &format!("{DIRECT}[projects.\"REPO\"]\ntrust_level = \"trusted\"\n"));
    assert_eq!(scratch.report("codex"), ["uses REPO/.codex/config.toml"]);
    // In a linked work tree, the main one counts if there is no decision about the linked one.
    let main = "[projects.\"ABOVE/main\"]\ntrust_level = \"trusted\"\n";
    scratch
        .write("~/.codex/config.toml", &format!("{DIRECT}{main}"))
        .write(".git", "gitdir: ABOVE/main/.git/worktrees/repo\n");
    assert_eq!(scratch.report("codex"), ["uses REPO/.codex/config.toml"]);
    let linked = "[projects.\"REPO\"]\ntrust_level = \"untrusted\"\n";
    scratch.write("~/.codex/config.toml", &format!("{DIRECT}{main}{linked}"));
    assert_eq!(scratch.report("codex"), untrusted);
    scratch.write("~/.codex/config.toml", &format!("{DIRECT}{CODEX}"));
    assert_eq!(scratch.report("codex"), ["uses ~/.codex/config.toml".to_owned(), format!("note: {ignored}")]);
}

#[test]
fn codex_merges_tables_and_disables_servers() {
    let scratch = Scratch::new();
    let trust = "[projects.\"REPO\"]\ntrust_level = \"trusted\"\n";
    scratch.write("~/.codex/config.toml", &format!("{DIRECT}{trust}{CODEX}env = {{ CODECOMPASS_HOME = \"/d\" }}\n"));
    scratch.write(".codex/config.toml", "[mcp_servers.codecompass]\nenabled = false\n");
    assert_eq!(
        scratch.report("codex"),
        ["uses REPO/.codex/config.toml", "problem: disabled: the entry in REPO/.codex/config.toml has enabled = false"]
    );
    let client = CLIENTS.iter().find(|client| client.name == "codex").expect("it is in the table");
    let merged = scratch.with_place(|place| ClientState::read(client, place).entries.remove(0).value);
    assert_eq!((&merged["command"], &merged["env"]["CODECOMPASS_HOME"]), (&json!("codecompass"), &json!("/d")));
}

#[test]
fn codex_hides_tools() {
    let scratch = Scratch::new();
    let report = |more: &str| scratch.write("~/.codex/config.toml", more).report("codex").split_off(1);
    assert_eq!(report(CODEX), ["note: most models have to search for the tools before they can call them"]);
    let project = format!("{DIRECT}{CODEX}");
    assert!(report(&project).is_empty());
    let hidden = report(&format!("{project}disabled_tools = [\"read_code\"]\n"));
    assert_eq!(hidden, ["note: `disabled_tools` in codecompass's entry hides read_code"]);
    let hidden = report(&format!("{project}enabled_tools = []\n"));
    assert_eq!(hidden, ["problem: `enabled_tools` in codecompass's entry hides all tools"]);
}

#[test]
fn gemini_needs_a_trusted_folder() {
    let mut scratch = Scratch::new();
    let trusted = SERVERS.replace("[\"serve-mcp\"]", "[\"serve-mcp\"], \"trust\": true");
    scratch.write("~/.gemini/settings.json", &trusted);
    let problem = ["uses ~/.gemini/settings.json", "problem: disabled: REPO is not a trusted folder"];
    let fine = ["uses ~/.gemini/settings.json"];
    assert_eq!(scratch.report("gemini"), problem);
    let report = |rules: &str| scratch.write("~/.gemini/trustedFolders.json", rules).report("gemini");
    assert_eq!(report(r#"{"REPO": "TRUST_FOLDER"}"#), fine);
    assert_eq!(report(r#"{"REPO": "DO_NOT_TRUST"}"#), problem);
    assert_eq!(report(r#"{"ABOVE": "TRUST_FOLDER"}"#), fine);
    assert_eq!(report(r#"{"ABOVE": "TRUST_FOLDER", "REPO": "DO_NOT_TRUST"}"#), problem);
    assert_eq!(report(r#"{"REPO/sub": "TRUST_PARENT"}"#), fine);
    assert_eq!(report(r#"{"REPO/sub": "TRUST_FOLDER"}"#), problem);
    let off = r#", "security": {"folderTrust": {"enabled": false}}}"#;
    scratch.write("~/.gemini/settings.json", &format!("{}{off}", trusted.trim_end_matches('}').to_owned() + "}}"));
    assert_eq!(scratch.report("gemini"), fine);
    scratch.write("~/.gemini/settings.json", &trusted);
    scratch.variables.push(("GEMINI_CLI_TRUST_WORKSPACE", "true".into()));
    assert_eq!(scratch.report("gemini"), fine);
}

#[test]
fn gemini_blocks_servers_and_hides_tools() {
    let scratch = Scratch::new();
    scratch.write("~/.gemini/trustedFolders.json", r#"{"REPO": "TRUST_FOLDER"}"#);
    let report = |more: &str, fields: &str| {
        let text = format!(r#"{{"mcpServers": {{"codecompass": {{"command": "codecompass"{fields}}}}}{more}}}"#);
        scratch.write("~/.gemini/settings.json", &text).report("gemini").split_off(1)
    };
    assert_eq!(report("", ""), ["note: `gemini -p` hides the tools, because there is no user to confirm a call"]);
    assert!(report("", r#", "trust": true"#).is_empty());
    assert!(report(r#", "mcp": {"allowed": ["codecompass"]}"#, "").is_empty());
    assert_eq!(
        report(r#", "mcp": {"allowed": ["other"]}"#, ""),
        ["problem: blocked: mcp.allowed does not have codecompass"]
    );
    assert_eq!(
        report(r#", "mcp": {"excluded": ["codecompass"]}"#, ""),
        ["problem: blocked: mcp.excluded has codecompass"]
    );
    assert_eq!(
        report("", r#", "trust": true, "excludeTools": ["read_code"]"#),
        ["note: `excludeTools` in codecompass's entry hides read_code"]
    );
    scratch.write("~/.gemini/mcp-server-enablement.json", r#"{"codecompass": {"enabled": false}}"#);
    assert_eq!(report("", ""), ["problem: disabled by the user"]);
}

#[test]
fn qwen_requires_trust_only_if_it_is_set() {
    let scratch = Scratch::new();
    let report = |more: &str| {
        let text = format!(r#"{{"mcpServers": {{"codecompass": {ENTRY}}}{more}}}"#);
        scratch.write("~/.qwen/settings.json", &text);
        let rules = |state: &mut ClientState, place: &ClientPlace<'_>| gemini::examine(state, place, &gemini::QWEN);
        scratch.report_rules("gemini", "~/.qwen/settings.json", ".qwen/settings.json", rules)
    };
    let note = "note: `qwen -p` refuses each call, because there is no user to confirm it";
    assert_eq!(report(""), ["uses ~/.qwen/settings.json", note]);
    assert_eq!(report(r#", "permissions": {"allow": ["mcp__codecompass"]}"#), ["uses ~/.qwen/settings.json"]);
    let on = r#", "security": {"folderTrust": {"enabled": true}}"#;
    assert_eq!(report(on)[1], "problem: disabled: REPO is not a trusted folder");
    scratch.write("~/.qwen/trustedFolders.json", r#"{"REPO": "TRUST_FOLDER"}"#);
    assert_eq!(report(on), ["uses ~/.qwen/settings.json", note]);
    let excluded = report(r#", "mcp": {"excluded": ["codecompass"]}"#);
    assert_eq!(excluded[1], "problem: blocked: mcp.excluded has codecompass");
}

#[test]
fn opencode_merges_files() {
    let mut scratch = Scratch::new();
    let (on, off) =
        (r#"{"mcp": {"codecompass": {"enabled": true}}}"#, r#"{"mcp": {"codecompass": {"enabled": false}}}"#);
    let disabled = |file: &str| {
        vec![format!("uses {file}"), format!("problem: disabled: the entry in {file} has enabled = false")]
    };
    scratch.write("~/.config/opencode/opencode.json", OPENCODE);
    assert_eq!(scratch.report("opencode"), ["uses ~/.config/opencode/opencode.json"]);
    // Each file overrides those before it.
    let layers = [
        "~/.config/opencode/opencode.jsonc",
        "~/named.json",
        "opencode.json",
        "opencode.jsonc",
        ".opencode/opencode.json",
        "~/.opencode/opencode.json",
    ];
    scratch.variables.push(("OPENCODE_CONFIG", scratch.path("~/named.json").display().to_string()));
    for file in layers {
        scratch.write(file, off);
        let shown = if file.starts_with('~') { file.to_owned() } else { format!("REPO/{file}") };
        assert_eq!(scratch.report("opencode"), disabled(&shown));
        scratch.write(file, on);
        assert_eq!(scratch.report("opencode"), [format!("uses {shown}")]);
    }
    scratch.variables.push(("OPENCODE_CONFIG_CONTENT", off.into()));
    assert_eq!(scratch.report("opencode"), disabled("$OPENCODE_CONFIG_CONTENT"));
}

#[test]
fn opencode_hides_tools() {
    let scratch = Scratch::new();
    let report = |more: &str| {
        let text = format!("{}, {more}}}", OPENCODE.strip_suffix('}').expect("an object"));
        scratch.write("~/.config/opencode/opencode.json", &text).report("opencode").split_off(1)
    };
    assert_eq!(
        report(r#""tools": {"codecompass*": false}"#),
        ["problem: `tools` in the configuration hides all tools"]
    );
    assert!(report(r#""tools": {"*": false, "codecompass_*": true}"#).is_empty(), "the last pattern decides");
    let hidden = report(r#""tools": {"codecompass_*": true, "*": false}"#);
    assert_eq!(hidden, ["problem: `tools` in the configuration hides all tools"]);
    assert_eq!(
        report(r#""permission": {"codecompass_read_code": "deny", "bash": "deny"}"#),
        ["note: `permission` in the configuration hides read_code"]
    );
}

#[test]
fn kilo_reads_files_of_both_names() {
    let scratch = Scratch::new();
    scratch.write("~/.config/kilo/opencode.json", OPENCODE);
    let rules = |state: &mut ClientState, place: &ClientPlace<'_>| opencode::examine(state, place, &opencode::KILO);
    let report = || scratch.report_rules("opencode", "~/.config/kilo/kilo.jsonc", "kilo.jsonc", rules);
    assert_eq!(report(), ["uses ~/.config/kilo/opencode.json"]);
    scratch.write(".kilo/kilo.jsonc", r#"{"mcp": {"codecompass": {"enabled": false}}}"#);
    assert_eq!(report()[1], "problem: disabled: the entry in REPO/.kilo/kilo.jsonc has enabled = false");
}

#[test]
fn copilot_reads_project_entries_in_trusted_folders() {
    let scratch = Scratch::new();
    scratch.write(".mcp.json", SERVERS);
    let ignored = "REPO/.mcp.json is not used: Copilot reads it in trusted folders only";
    assert_eq!(scratch.report("copilot"), ["uses REPO/.mcp.json".to_owned(), format!("problem: {ignored}")]);
    scratch.write("~/.copilot/mcp-config.json", SERVERS);
    let user = "uses ~/.copilot/mcp-config.json";
    assert_eq!(scratch.report("copilot"), [user.to_owned(), format!("note: {ignored}")]);
    scratch.write("~/.copilot/config.json", "// written by the client\n{\"trusted_folders\": [\"ABOVE\"]}");
    assert_eq!(
        scratch.report("copilot"),
        ["uses REPO/.mcp.json", "note: REPO/.mcp.json overrides the entry in ~/.copilot/mcp-config.json"]
    );
    scratch.remove(".mcp.json").remove("~/.copilot/mcp-config.json").write(".github/mcp.json", SERVERS);
    assert_eq!(scratch.report("copilot"), ["uses REPO/.github/mcp.json"]);
}

#[test]
fn copilot_disables_servers_and_hides_tools() {
    let scratch = Scratch::new();
    scratch.write("~/.copilot/mcp-config.json", SERVERS);
    let disabled = r#"{"disabledMcpServers": ["codecompass"]}"#;
    for (file, shown) in [
        ("~/.copilot/settings.json", "~/.copilot/settings.json"),
        (".github/copilot/settings.json", "REPO/.github/copilot/settings.json"),
    ] {
        scratch.write(file, disabled);
        let problem = format!("problem: disabled: disabledMcpServers in {shown} has codecompass");
        assert_eq!(scratch.report("copilot")[1..], [problem]);
        scratch.remove(file);
    }
    let report = |tools: &str| {
        let text = SERVERS.replace("[\"serve-mcp\"]", &format!("[\"serve-mcp\"], \"tools\": {tools}"));
        scratch.write("~/.copilot/mcp-config.json", &text).report("copilot").split_off(1)
    };
    assert!(report(r#"["*"]"#).is_empty());
    assert_eq!(report("[]"), ["problem: `tools` in codecompass's entry hides all tools"]);
    assert!(report(r#"["read_code"]"#)[0].starts_with("note: `tools` in codecompass's entry hides search_code, "));
}

#[test]
fn grok_starts_project_entries_in_trusted_folders() {
    let scratch = Scratch::new();
    let report = || scratch.report_rules("codex", "~/.grok/config.toml", ".grok/config.toml", grok::examine);
    let allowed = format!("{CODEX}\n[permission]\nallow = [\"MCPTool(codecompass__*)\"]\n");
    scratch.write("~/.grok/config.toml", CODEX);
    let note = "note: `grok -p` ends at the first call, because there is no user to confirm it";
    assert_eq!(report(), ["uses ~/.grok/config.toml", note]);
    scratch.write("~/.grok/config.toml", &allowed);
    assert_eq!(report(), ["uses ~/.grok/config.toml"]);
    scratch.write(".mcp.json", SERVERS);
    let problem = "problem: not started: this folder is not trusted, and .mcp.json has an entry of the same name";
    assert_eq!(report(), ["uses ~/.grok/config.toml", problem]);
    scratch.write("~/.grok/trusted_folders.toml", "[folders.\"REPO\"]\ntrusted = true\ndecided_at = 1794973371\n");
    assert_eq!(report(), ["uses ~/.grok/config.toml"]);
    scratch
        .write("~/.grok/config.toml", &format!("disabled_mcp_servers = [\"codecompass\"]\n\n{CODEX}enabled = false\n"));
    assert_eq!(report()[1..], ["problem: disabled: disabled_mcp_servers in ~/.grok/config.toml has codecompass"]);
    scratch.remove("~/.grok/config.toml").remove(".mcp.json").write(".grok/config.toml", CODEX);
    assert_eq!(report(), ["uses REPO/.grok/config.toml", note]);
    scratch.remove("~/.grok/trusted_folders.toml");
    assert_eq!(report()[1], "problem: REPO/.grok/config.toml is not used: Grok starts it in trusted folders only");
}

#[test]
fn entries_can_be_switched_off() {
    for (client, file, off) in [
        ("cline", "~/.cline/data/settings/cline_mcp_settings.json", "\"disabled\": true"),
        ("kimi", "~/.kimi-code/mcp.json", "\"enabled\": false"),
        ("kiro", "~/.kiro/settings/mcp.json", "\"disabled\": true"),
        ("windsurf", "~/.codeium/windsurf/mcp_config.json", "\"disabled\": true"),
        ("zed", "~/.config/zed/settings.json", "\"enabled\": false"),
    ] {
        let scratch = Scratch::new();
        let key = if client == "zed" { "context_servers" } else { "mcpServers" };
        let text = format!(r#"{{"{key}": {{"codecompass": {{"command": "codecompass", {off}}}}}}}"#);
        let problem =
            format!("problem: disabled: the entry in {file} has {}", off.replace('"', "").replace(": ", " = "));
        assert_eq!(scratch.write(file, &text).report(client), [format!("uses {file}"), problem]);
    }
}

#[test]
fn switches_do_not_depend_on_the_table() {
    let scratch = Scratch::new();
    for (client, off) in [("goose", "\"enabled\": false"), ("droid", "\"disabled\": true")] {
        let text = format!(r#"{{"mcpServers": {{"codecompass": {{"command": "codecompass", {off}}}}}}}"#);
        scratch.write("~/servers.json", &text);
        let rules = |state: &mut ClientState, place: &ClientPlace<'_>| flags::examine(state, place, client);
        let report = scratch.report_rules("cline", "~/servers.json", "none.json", rules);
        assert!(report[1].starts_with("problem: disabled: "), "{client}: {report:?}");
    }
}

#[test]
fn unreadable_files_are_reported_once() {
    let scratch = Scratch::new();
    scratch.write("~/.claude.json", "{").write("~/.claude/settings.json", "[");
    let report = scratch.report("claude-code");
    assert_eq!(report.iter().filter(|line| line.contains("cannot be read")).count(), 2, "{report:?}");
    assert!(report[0].starts_with("problem: ~/.claude.json: "), "{report:?}");
}

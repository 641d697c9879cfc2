//! Claude Code: three scopes, approval of `.mcp.json`, lists of administrators, permissions.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::clients::ENTRY_NAME;
use super::super::entry::parse_entry;
use super::{ClientPlace, ClientState, FoundEntry, Scope, has_name, has_word, words};

/// The permission rules that name all our tools.
const ALL_TOOLS: [&str; 3] = ["mcp__codecompass", "mcp__codecompass__*", "mcp__*"];

/// A settings file and its content.
struct Settings {
    file: PathBuf,
    source: Source,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    User,
    Project,
    Local,
    Managed,
}

/// Whether the user has approved the servers of `.mcp.json`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Approved,
    Pending,
    Rejected,
}

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>) {
    let config_file = state.user_file.clone().unwrap_or_default();
    let config = state.load_json(&config_file, place);
    let record = project_record(&config, place);
    let settings = load_settings(state, place);
    add_local_entry(state, &config_file, &record);
    select_scope(state, approval(&record, &settings), place);
    if has_name(&record["disabledMcpServers"]) {
        state.problem("disabled in this project", "run `claude` here and enable codecompass in `/mcp`");
    }
    check_policy(state, &settings, place);
    check_permissions(state, &settings, place);
}

/// What Claude Code has stored about the project, under the main work tree's path or else the project's own.
fn project_record(config: &Value, place: &ClientPlace<'_>) -> Value {
    let record = |root: &PathBuf| config["projects"].get(root.display().to_string()).cloned();
    place.roots().iter().rev().find_map(record).unwrap_or_default()
}

fn load_settings(state: &mut ClientState, place: &ClientPlace<'_>) -> Vec<Settings> {
    let own = place.variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| place.user.home.join(".claude"));
    let project = place.root().join(".claude");
    let managed = managed_folder(place.system);
    let mut files = vec![
        (own.join("settings.json"), Source::User),
        (project.join("settings.json"), Source::Project),
        (project.join("settings.local.json"), Source::Local),
        (managed.join("managed-settings.json"), Source::Managed),
    ];
    let parts = std::fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = parts.map(|part| part.path()).collect();
    parts.sort_unstable();
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    files.extend(parts.into_iter().filter(is_json).map(|path| (path, Source::Managed)));
    files.dedup_by(|one, other| one.0 == other.0);
    files.into_iter().map(|(file, source)| Settings { value: state.load_json(&file, place), file, source }).collect()
}

/// The folder for the settings of an administrator.
fn managed_folder(system: &Path) -> PathBuf {
    match () {
        () if cfg!(target_os = "macos") => system.join("Library/Application Support/ClaudeCode"),
        () if cfg!(windows) => system.join("Program Files/ClaudeCode"),
        () => system.join("etc/claude-code"),
    }
}

fn add_local_entry(state: &mut ClientState, file: &Path, record: &Value) {
    let (Some(value), Some(shape)) = (record["mcpServers"].get(ENTRY_NAME), state.shape) else { return };
    state.entries.push(FoundEntry { file: file.to_owned(), shape, value: value.clone(), scope: Scope::Local });
}

/// The user's choice about `.mcp.json`. Settings in the project's folder count only after the user has trusted it.
fn approval(record: &Value, settings: &[Settings]) -> Approval {
    let values = || settings.iter().map(|settings| (&settings.value, settings.source)).chain([(record, Source::Local)]);
    if values().any(|(value, _)| has_name(&value["disabledMcpjsonServers"])) {
        return Approval::Rejected;
    }
    let is_trusted = record["hasTrustDialogAccepted"] == true;
    let is_approval =
        |value: &Value| value["enableAllProjectMcpServers"] == true || has_name(&value["enabledMcpjsonServers"]);
    let counts = |source: Source| is_trusted || matches!(source, Source::User | Source::Managed);
    match values().any(|(value, source)| counts(source) && is_approval(value)) {
        true => Approval::Approved,
        false => Approval::Pending,
    }
}

/// Selects the entry by scope: local, then an approved project's, then the user's.
fn select_scope(state: &mut ClientState, approval: Approval, place: &ClientPlace<'_>) {
    if state.entry(Scope::Local).is_some() {
        let file = state.entry(Scope::Local).map(|entry| place.short(&entry.file)).unwrap_or_default();
        if state.entries.len() > 1 {
            state.note(
                format!("the entry for this project in {file} overrides the others"),
                Some(format!("to use the others, run `claude mcp remove {ENTRY_NAME} -s local`")),
            );
        }
        state.entries.retain(|entry| entry.scope == Scope::Local);
        return;
    }
    match approval {
        Approval::Approved if state.entry(Scope::Project).is_some() => state.use_only(Scope::Project, place),
        Approval::Approved => {}
        Approval::Pending => state.ignore_project(
            "it waits for your approval (only `claude -p` starts it without)",
            "run `claude` here and approve codecompass",
            place,
        ),
        Approval::Rejected => state.ignore_project(
            "you have rejected it",
            "run `claude mcp reset-project-choices`, then `claude`, and approve codecompass",
            place,
        ),
    }
}

/// Checks the lists of allowed and denied servers.
fn check_policy(state: &mut ClientState, settings: &[Settings], place: &ClientPlace<'_>) {
    let Some(entry) = state.entries.last() else { return };
    let line: Vec<String> = parse_entry(entry.shape, &entry.value)
        .map(|line| std::iter::once(line.program).chain(line.arguments).collect())
        .unwrap_or_default();
    let exclusive = managed_folder(place.system).join("managed-mcp.json");
    let managed = state.load_json(&exclusive, place);
    if !managed.is_null() && managed["mcpServers"].get(ENTRY_NAME).is_none() {
        let message = format!("not used: {} allows only its own servers", exclusive.display());
        state.problem(message, "ask your administrator to add codecompass");
        return;
    }
    let fix = |settings: &Settings| match settings.source {
        Source::Managed => "ask your administrator to allow codecompass",
        _ => "change that setting",
    };
    for settings in settings {
        if list(&settings.value, "deniedMcpServers").any(|rule| is_named(rule) || is_command(rule, &line)) {
            state.problem(format!("denied by deniedMcpServers in {}", place.short(&settings.file)), fix(settings));
            return;
        }
    }
    let only_managed = settings
        .iter()
        .any(|settings| settings.source == Source::Managed && settings.value["allowManagedMcpServersOnly"] == true);
    let deciding: Vec<&Settings> = settings
        .iter()
        .filter(|settings| settings.value["allowedMcpServers"].is_array())
        .filter(|settings| !only_managed || settings.source == Source::Managed)
        .collect();
    let rules: Vec<&Value> = deciding.iter().flat_map(|settings| list(&settings.value, "allowedMcpServers")).collect();
    // If a rule names a command, only commands count.
    let is_allowed = match rules.iter().any(|rule| rule.get("serverCommand").is_some()) {
        true => rules.iter().any(|rule| is_command(rule, &line)),
        false => rules.iter().any(|rule| is_named(rule)),
    };
    if let Some(settings) = deciding.last().filter(|_| !is_allowed) {
        let message = format!("not among allowedMcpServers in {}", place.short(&settings.file));
        state.problem(message, fix(settings));
    }
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value[key].as_array().into_iter().flatten()
}

fn is_named(rule: &Value) -> bool {
    rule["serverName"] == ENTRY_NAME
}

fn is_command(rule: &Value, line: &[String]) -> bool {
    rule["serverCommand"].is_array() && words(&rule["serverCommand"]) == line
}

/// Checks the permission rules: denied tools, and whether `claude -p` may call any.
fn check_permissions(state: &mut ClientState, settings: &[Settings], place: &ClientPlace<'_>) {
    if state.entries.is_empty() {
        return;
    }
    for settings in settings {
        let denied = &settings.value["permissions"]["deny"];
        let is_denied = |tool: &str| {
            ALL_TOOLS.iter().any(|rule| has_word(denied, rule))
                || has_word(denied, &format!("mcp__{ENTRY_NAME}__{tool}"))
        };
        state.check_tools(&format!("permissions.deny in {}", place.short(&settings.file)), place, is_denied);
    }
    let is_allowed = settings.iter().any(|settings| {
        let permissions = &settings.value["permissions"];
        permissions["defaultMode"] == "bypassPermissions"
            || words(&permissions["allow"]).iter().any(|rule| rule == "mcp__*" || rule.starts_with("mcp__codecompass"))
    });
    if !is_allowed {
        state.advise(
            "`claude -p` refuses each call, because no permission rule allows them",
            "pass `--allowedTools mcp__codecompass`, or add that name to permissions.allow in ~/.claude/settings.json",
        );
    }
}

//! Gemini CLI and Qwen Code, a fork of it: trusted folders, lists of servers, tools without a user to ask.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::clients::ENTRY_NAME;
use super::{ClientPlace, ClientState, Scope, has_name, has_word, words};

/// The differences between the two.
pub(super) struct Variant {
    program: &'static str,
    /// Whether folders have to be trusted if no setting says so.
    trust_by_default: bool,
    /// The prefix of the variables.
    prefix: &'static str,
    /// The variable that decides about trust.
    trust_variable: Option<&'static str>,
    system_folder: &'static str,
    /// What happens if there is no user to confirm a call, and what to do about it.
    unattended: (&'static str, &'static str),
}

pub(super) const GEMINI: Variant = Variant {
    program: "gemini",
    trust_by_default: true,
    prefix: "GEMINI_CLI",
    trust_variable: Some("GEMINI_CLI_TRUST_WORKSPACE"),
    system_folder: "gemini-cli",
    unattended: (
        "`gemini -p` hides the tools, because there is no user to confirm a call",
        "pass `--allowed-mcp-server-names codecompass`, or run `codecompass setup gemini --trust`: then no call is confirmed",
    ),
};
pub(super) const QWEN: Variant = Variant {
    program: "qwen",
    trust_by_default: false,
    prefix: "QWEN_CODE",
    trust_variable: None,
    system_folder: "qwen-code",
    unattended: (
        "`qwen -p` refuses each call, because there is no user to confirm it",
        "pass `--allowed-tools mcp__codecompass`, or run `codecompass setup qwen --trust`: then no call is confirmed",
    ),
};

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>, variant: &Variant) {
    let user_file = state.user_file.clone().unwrap_or_default();
    let folder = user_file.parent().map(Path::to_owned).unwrap_or_default();
    let user = state.load_json(&user_file, place);
    let system_file = place
        .variable(&format!("{}_SYSTEM_SETTINGS_PATH", variant.prefix))
        .unwrap_or_else(|| system_folder(place.system, variant.system_folder).join("settings.json"));
    let system = state.load_json(&system_file, place);
    if !is_trusted(state, place, variant, &folder, &[&system, &user]) {
        if !state.entries.is_empty() {
            let message = format!("disabled: {} is not a trusted folder", place.short(place.folder));
            state.problem(message, format!("run `{}` there and trust the folder", variant.program));
        }
        state.entries.truncate(1);
        return;
    }
    let project = place.project.filter(|root| *root != place.user.home).map_or(Value::Null, |root| {
        let name = folder.file_name().map(PathBuf::from).unwrap_or_default();
        state.load_json(&root.join(name).join("settings.json"), place)
    });
    if state.entry(Scope::Project).is_some() {
        state.use_only(Scope::Project, place);
    }
    if state.entries.is_empty() {
        return;
    }
    let layers = [&user, &project, &system];
    check_lists(state, &layers);
    let switches = state.load_json(&folder.join("mcp-server-enablement.json"), place);
    if switches[ENTRY_NAME]["enabled"] == false {
        state.problem("disabled by the user", format!("run `{} mcp enable {ENTRY_NAME}`", variant.program));
    }
    state.check_tool_lists("includeTools", "excludeTools", place);
    let is_trusted_entry = state.entries.last().is_some_and(|entry| entry.value["trust"] == true);
    if !is_trusted_entry && !layers.iter().any(|layer| allows_unattended(layer)) {
        state.advise(variant.unattended.0, variant.unattended.1);
    }
}

/// Whether settings allow our calls if there is no user to confirm them. Each program ignores the other's settings.
fn allows_unattended(settings: &Value) -> bool {
    let mcp = &settings["mcp"];
    has_name(&mcp["allowed"])
        || has_word(&mcp["allowed"], "*")
        || mcp["autoAllowInHeadless"] == true
        || settings["tools"]["approvalMode"] == "yolo"
        || words(&settings["permissions"]["allow"]).iter().any(|rule| rule.starts_with("mcp__codecompass"))
}

/// Checks the lists of allowed and excluded servers.
fn check_lists(state: &mut ClientState, layers: &[&Value]) {
    let lists = |key: &str| layers.iter().map(|layer| layer["mcp"][key].clone()).collect::<Vec<_>>();
    if lists("excluded").iter().any(has_name) {
        state.problem("blocked: mcp.excluded has codecompass", "remove it from that list");
    }
    let allowed = lists("allowed");
    let is_restricted = allowed.iter().any(|list| list.as_array().is_some_and(|names| !names.is_empty()));
    if is_restricted && !allowed.iter().any(|list| has_name(list) || has_word(list, "*")) {
        state.problem("blocked: mcp.allowed does not have codecompass", "add it to that list");
    }
}

fn system_folder(system: &Path, name: &str) -> PathBuf {
    match () {
        () if cfg!(target_os = "macos") && name == "gemini-cli" => system.join("Library/Application Support/GeminiCli"),
        () if cfg!(target_os = "macos") => system.join("Library/Application Support/QwenCode"),
        () if cfg!(windows) => system.join("ProgramData").join(name),
        () => system.join("etc").join(name),
    }
}

/// Whether the open folder is trusted: by a variable, because trust is switched off, or by the rule with the longest
/// path.
fn is_trusted(
    state: &mut ClientState,
    place: &ClientPlace<'_>,
    variant: &Variant,
    folder: &Path,
    layers: &[&Value],
) -> bool {
    let forced = variant.trust_variable.and_then(|name| place.variable(name));
    match forced.as_deref().and_then(Path::to_str) {
        Some("true") => return true,
        Some("false") => return false,
        _ => {}
    }
    let setting = layers.iter().find_map(|layer| layer["security"]["folderTrust"]["enabled"].as_bool());
    if !setting.unwrap_or(variant.trust_by_default) {
        return true;
    }
    let rules_file = place
        .variable(&format!("{}_TRUSTED_FOLDERS_PATH", variant.prefix))
        .unwrap_or_else(|| folder.join("trustedFolders.json"));
    let rules = state.load_json(&rules_file, place);
    let here = real(place.folder);
    let applies = |path: &str, level: &str| {
        let path = Path::new(path);
        let above = if level == "TRUST_PARENT" { path.parent().unwrap_or(path) } else { path };
        here.starts_with(real(above))
    };
    let matching = rules.as_object().into_iter().flatten().filter_map(|(path, level)| Some((path, level.as_str()?)));
    let strongest = matching.filter(|(path, level)| applies(path, level)).max_by_key(|(path, _)| path.len());
    strongest.is_some_and(|(_, level)| level != "DO_NOT_TRUST")
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

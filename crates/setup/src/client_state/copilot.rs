//! Copilot CLI: trusted folders, disabled servers, the list of tools in an entry.

use std::path::Path;

use super::super::clients::ENTRY_NAME;
use super::{ClientPlace, ClientState, FoundEntry, Scope, has_name, has_word, words};

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>) {
    let folder = state.user_file.as_deref().and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
    add_github_entry(state, place);
    if state.entry(Scope::Project).is_some() {
        let config = state.load_json(&folder.join("config.json"), place);
        let trusted = [words(&config["trusted_folders"]), words(&config["trustedFolders"])].concat();
        match trusted.iter().any(|path| place.folder.starts_with(path)) {
            true => state.use_only(Scope::Project, place),
            false => state.ignore_project(
                "Copilot reads it in trusted folders only",
                "run `copilot` here and trust the folder",
                place,
            ),
        }
    }
    let Some(entry) = state.entries.last() else { return };
    let tools = entry.value["tools"].clone();
    for file in [folder.join("settings.json"), place.root().join(".github/copilot/settings.json")] {
        if has_name(&state.load_json(&file, place)["disabledMcpServers"]) {
            let message = format!("disabled: disabledMcpServers in {} has codecompass", place.short(&file));
            state.problem(message, format!("run `copilot mcp enable {ENTRY_NAME}`, or remove it from that list"));
        }
    }
    if tools.is_array() && !has_word(&tools, "*") {
        state.check_tools("`tools` in codecompass's entry", place, |tool| !has_word(&tools, tool));
    }
}

/// Copilot reads `.github/mcp.json`, too, if `.mcp.json` has no entry.
fn add_github_entry(state: &mut ClientState, place: &ClientPlace<'_>) {
    let (Some(root), Some(shape), None) = (place.project, state.shape, state.entry(Scope::Project)) else { return };
    let file = root.join(".github/mcp.json");
    if let Some(value) = state.load_json(&file, place)["mcpServers"].get(ENTRY_NAME).cloned() {
        state.entries.push(FoundEntry { file, shape, value, scope: Scope::Project });
    }
}

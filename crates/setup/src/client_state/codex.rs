//! Codex: trusted projects, merged tables, disabled servers and tools, direct tools.

use serde_json::Value;

use super::{ClientPlace, ClientState, Scope, has_word, merge};

/// The namespace of our tools.
const NAMESPACE: &str = "mcp__codecompass";

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>) {
    let user_file = state.user_file.clone().unwrap_or_default();
    let mut config = state.load_toml(&user_file, place);
    if is_trusted(&config, place) {
        state.merge_entries();
        let project = state.load_toml(&place.root().join(".codex/config.toml"), place);
        if !project.is_null() {
            merge(&mut config, project);
        }
    } else if state.entry(Scope::Project).is_some() {
        state.ignore_project(
            "Codex reads it in trusted projects only",
            "run `codex` here and trust the project",
            place,
        );
    }
    if state.entries.is_empty() {
        return;
    }
    state.check_switch("enabled", false, place);
    state.check_tool_lists("enabled_tools", "disabled_tools", place);
    if !has_word(&config["features"]["code_mode"]["direct_only_tool_namespaces"], NAMESPACE) {
        state.advise(
            "most models have to search for the tools before they can call them",
            "run `codecompass setup codex`, which makes the tools direct",
        );
    }
}

/// Whether the user trusts the project, or else the main work tree of a linked one. Trust of a folder does not extend
/// to the folders below it.
fn is_trusted(config: &Value, place: &ClientPlace<'_>) -> bool {
    let level = |root: std::path::PathBuf| config["projects"].get(root.display().to_string()).cloned();
    place.roots().into_iter().find_map(level).is_some_and(|project| project["trust_level"] == "trusted")
}

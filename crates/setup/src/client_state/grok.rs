//! Grok: disabled servers, and trusted folders, which also decide about `.mcp.json`.

use std::path::Path;

use serde_json::Value;

use super::super::clients::ENTRY_NAME;
use super::{ClientPlace, ClientState, Scope, has_name, words};

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>) {
    let user_file = state.user_file.clone().unwrap_or_default();
    let folder = user_file.parent().map(Path::to_owned).unwrap_or_default();
    let config = state.load_toml(&user_file, place);
    if !is_trusted(state, place, &folder) {
        let shared = state.load_json(&place.root().join(".mcp.json"), place);
        if state.entry(Scope::User).is_some() && shared["mcpServers"].get(ENTRY_NAME).is_some() {
            // Grok then takes the user's entry for the project's.
            let message = "not started: this folder is not trusted, and .mcp.json has an entry of the same name";
            state.problem(message, "run `grok --trust` here");
        }
        state.ignore_project("Grok starts it in trusted folders only", "run `grok --trust` here", place);
    } else if state.entry(Scope::Project).is_some() {
        state.use_only(Scope::Project, place);
    }
    if state.entries.is_empty() {
        return;
    }
    if has_name(&config["disabled_mcp_servers"]) {
        let message = format!("disabled: disabled_mcp_servers in {} has codecompass", place.short(&user_file));
        state.problem(message, format!("run `grok mcp enable {ENTRY_NAME}`"));
    } else {
        state.check_switch("enabled", false, place);
    }
    let is_ours =
        |rule: &String| ["MCPTool(codecompass__", "mcp__codecompass"].iter().any(|start| rule.starts_with(start));
    if config["ui"]["permission_mode"] != "always-approve" && !words(&config["permission"]["allow"]).iter().any(is_ours)
    {
        state.advise(
            "`grok -p` ends at the first call, because there is no user to confirm it",
            "pass `--allow 'MCPTool(codecompass__*)'`, or add that rule to permission.allow in ~/.grok/config.toml",
        );
    }
}

fn is_trusted(state: &mut ClientState, place: &ClientPlace<'_>, folder: &Path) -> bool {
    let rules = state.load_toml(&folder.join("trusted_folders.toml"), place);
    let is_trusted = |(path, rule): (&String, &Value)| rule["trusted"] == true && place.folder.starts_with(path);
    rules["folders"].as_object().into_iter().flatten().any(is_trusted)
}

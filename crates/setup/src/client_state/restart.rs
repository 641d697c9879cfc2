//! What to do in each client when the server has stopped.

/// The step of each client whose behavior is known.
const STEPS: &[(&str, &str)] = &[
    ("claude-code", "Claude Code starts it again at the next call"),
    ("codex", "calls fail with \"Transport closed\": end the session and continue it with `codex resume --last`"),
    ("cursor", "switch codecompass off and on in Settings, MCP"),
    ("vscode", "run the command \"MCP: List Servers\", then codecompass, Restart Server"),
    ("copilot", "the tools disappear: end the session and continue it with `copilot --continue`"),
    ("opencode", "the tools disappear: end the session and continue it with `opencode --continue`"),
    ("kilo", "the tools disappear: end the session and continue it with `kilo --continue`"),
    ("zed", "switch codecompass off and on in the Agent Panel's settings"),
    ("gemini", "calls fail with \"Not connected\": run `/mcp reload`"),
    ("qwen", "Qwen Code starts it again at the next call"),
    ("kimi", "Kimi Code starts it again at the next call"),
    ("vibe", "Mistral Vibe starts it again at the next call"),
    ("windsurf", "press Refresh in the MCP settings"),
    ("cline", "calls fail with \"not connected\": start a new session; in the editor, press Restart Server"),
    ("goose", "calls fail with \"Transport closed\": end the session and continue it with `goose session --resume`"),
    ("grok", "calls fail with \"MCP server not found\": end the session and continue it with `grok --continue`"),
    ("continue", "calls fail with \"Not connected\": end the session and continue it with `cn --resume`"),
];

/// What to do in any other client.
const RESTART: &str = "restart the client";

/// What to do in a client when the server has stopped.
pub fn after_stop(client: &str) -> &'static str {
    STEPS.iter().find(|(name, _)| *name == client).map_or(RESTART, |(_, step)| step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::CLIENTS;

    #[test]
    fn setup_page_has_the_step_of_every_client() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/setup.md");
        let page = std::fs::read_to_string(path).expect("the page exists");
        for client in CLIENTS.iter().filter(|client| STEPS.iter().any(|(name, _)| *name == client.name)) {
            let row = format!("| {} | {} |", client.title, after_stop(client.name));
            assert!(page.contains(&row), "docs/setup.md, \"If the server stops\", needs the row: {row}");
        }
    }
}

//! The formats of entries, one per family of clients.

use super::Field::{Arguments, Command, CommandLine, Flag, Number, Passed, Trust, Variables, Word};
use super::{EntryFormat, ListElement, Listing, Syntax};

pub(super) const MCP_SERVERS: EntryFormat = EntryFormat {
    syntax: Syntax::Json,
    servers: &["mcpServers"],
    listing: Listing::Keyed,
    fields: &[Command("command"), Arguments("args"), Variables("env")],
    lists: &[],
};
/// Gemini CLI and its descendants.
pub(super) const GEMINI: EntryFormat =
    EntryFormat { fields: &[Command("command"), Arguments("args"), Variables("env"), Trust("trust")], ..MCP_SERVERS };
/// With the type that some clients need, and the others ignore.
pub(super) const TYPED: EntryFormat = EntryFormat {
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env")],
    ..MCP_SERVERS
};
/// The client finds tools by search unless the entry says otherwise.
pub(super) const QWEN: EntryFormat = EntryFormat {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Trust("trust"), Flag("alwaysLoadTools", true)],
    ..MCP_SERVERS
};
pub(super) const DROID: EntryFormat = EntryFormat {
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env"), Flag("disabled", false)],
    ..MCP_SERVERS
};
pub(super) const CRUSH: EntryFormat = EntryFormat { servers: &["mcp"], ..TYPED };
pub(super) const CLAUDE: EntryFormat = EntryFormat {
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env"), Flag("alwaysLoad", true)],
    ..MCP_SERVERS
};
pub(super) const COPILOT: EntryFormat = EntryFormat {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Word("deferTools", "never")],
    ..MCP_SERVERS
};
/// Several clients read `.mcp.json`; each ignores the fields of the others.
pub(super) const SHARED: EntryFormat = EntryFormat {
    fields: &[
        Word("type", "stdio"),
        Command("command"),
        Arguments("args"),
        Variables("env"),
        Flag("alwaysLoad", true),
        Word("deferTools", "never"),
    ],
    ..MCP_SERVERS
};
pub(super) const VS_CODE: EntryFormat = EntryFormat { servers: &["servers"], ..TYPED };
pub(super) const OPENCODE: EntryFormat = EntryFormat {
    servers: &["mcp"],
    fields: &[Word("type", "local"), CommandLine("command"), Variables("environment"), Flag("enabled", true)],
    ..MCP_SERVERS
};
pub(super) const ZED: EntryFormat = EntryFormat { servers: &["context_servers"], ..MCP_SERVERS };
pub(super) const AMP: EntryFormat = EntryFormat { servers: &["amp.mcpServers"], ..MCP_SERVERS };
pub(super) const CLINE: EntryFormat = EntryFormat {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Flag("disabled", false)],
    ..MCP_SERVERS
};
pub(super) const CODEX: EntryFormat = EntryFormat {
    syntax: Syntax::Toml,
    servers: &["mcp_servers"],
    listing: Listing::Keyed,
    fields: &[
        Command("command"),
        Arguments("args"),
        Variables("env"),
        Passed("env_vars", &["CODECOMPASS_HOME", "XDG_DATA_HOME"]),
    ],
    lists: &[CODEX_DIRECT_TOOLS],
};
/// Most models of Codex get the tools of servers only through code, unless this list has the server. Versions before
/// 0.142 (June 2026) fail to start with it.
const CODEX_DIRECT_TOOLS: ListElement = ListElement {
    path: &["features", "code_mode", "direct_only_tool_namespaces"],
    element: "mcp__codecompass",
    since: ("codex", (0, 142)),
    purpose: "With most models, Codex offers the tools directly only if `direct_only_tool_namespaces` in the table \
              `[features.code_mode]` contains \"mcp__codecompass\"",
    by_hand: "under `[features]`, write `code_mode = { enabled = true, direct_only_tool_namespaces = \
              [\"mcp__codecompass\"] }`, with your own value of `enabled`",
};
pub(super) const GOOSE: EntryFormat = EntryFormat {
    syntax: Syntax::Yaml,
    servers: &["extensions"],
    listing: Listing::Keyed,
    fields: &[
        Word("name", "codecompass"),
        Word("type", "stdio"),
        Command("cmd"),
        Arguments("args"),
        Variables("envs"),
        Flag("enabled", true),
        Number("timeout", 300),
    ],
    lists: &[],
};
pub(super) const CONTINUE: EntryFormat = EntryFormat {
    syntax: Syntax::Yaml,
    servers: &["mcpServers"],
    listing: Listing::Named("name"),
    fields: &[Word("name", "codecompass"), Command("command"), Arguments("args"), Variables("env")],
    lists: &[],
};
pub(super) const GROK: EntryFormat = EntryFormat {
    syntax: Syntax::Toml,
    servers: &["mcp_servers"],
    listing: Listing::Keyed,
    fields: &[Command("command"), Arguments("args"), Variables("env"), Flag("enabled", true)],
    lists: &[],
};
/// The command is a list, because Mistral Vibe splits a text at blanks.
pub(super) const VIBE: EntryFormat = EntryFormat {
    syntax: Syntax::Toml,
    servers: &["mcp_servers"],
    listing: Listing::Named("name"),
    fields: &[Word("name", "codecompass"), Word("transport", "stdio"), CommandLine("command"), Variables("env")],
    lists: &[],
};

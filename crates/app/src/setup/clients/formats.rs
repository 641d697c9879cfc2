//! The formats of entries, one per family of clients.

use super::Field::{Arguments, Command, CommandLine, Flag, Number, Passed, Variables, Word};
use super::{EntryFormat, Syntax};

pub(super) const MCP_SERVERS: EntryFormat = EntryFormat {
    syntax: Syntax::Json,
    servers: &["mcpServers"],
    fields: &[Command("command"), Arguments("args"), Variables("env")],
};
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
pub(super) const VS_CODE: EntryFormat = EntryFormat {
    servers: &["servers"],
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env")],
    ..MCP_SERVERS
};
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
    fields: &[
        Command("command"),
        Arguments("args"),
        Variables("env"),
        Passed("env_vars", &["CODECOMPASS_HOME", "XDG_DATA_HOME"]),
    ],
};
pub(super) const GOOSE: EntryFormat = EntryFormat {
    syntax: Syntax::Yaml,
    servers: &["extensions"],
    fields: &[
        Word("name", "codecompass"),
        Word("type", "stdio"),
        Command("cmd"),
        Arguments("args"),
        Variables("envs"),
        Flag("enabled", true),
        Number("timeout", 300),
    ],
};

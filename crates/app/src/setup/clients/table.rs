//! The table of clients.

use super::FileLocation::{self, Below, Dot, Home, Named, Platform, Project};
use super::formats::{AMP, CLAUDE, CLINE, CODEX, COPILOT, GOOSE, MCP_SERVERS, OPENCODE, SHARED, VS_CODE, ZED};
use super::{Client, ConfigFile, EntryFormat, Folder, InstructionFiles, StartBehavior};

const DEFAULT_START: StartBehavior =
    StartBehavior { passes: None, folder: Folder::Project, project_variable: None, roots: false };
const WITH_ROOTS: StartBehavior = StartBehavior { roots: true, ..DEFAULT_START };

const NO_INSTRUCTIONS: InstructionFiles = InstructionFiles { user: &[], project: None };

/// The defaults of a row: a client with nothing in particular.
const BASE: Client = Client {
    name: "",
    title: "",
    markers: &[],
    user: None,
    project: None,
    by_hand: None,
    instructions: NO_INSTRUCTIONS,
    skills: NO_INSTRUCTIONS,
    start: DEFAULT_START,
};

/// A user's own file.
const fn user_file(files: &'static [FileLocation], shape: &'static EntryFormat) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: false, folder: None, note: None })
}

/// A project's file, which is committed and so shared with other machines.
const fn project_file(files: &'static [FileLocation], shape: &'static EntryFormat) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: true, folder: None, note: None })
}

const fn instruction_files(user: &'static [FileLocation], project: &'static str) -> InstructionFiles {
    InstructionFiles { user, project: Some(project) }
}

const AGENTS: InstructionFiles = instruction_files(&[], "AGENTS.md");
const SKILL: &str = ".agents/skills/codecompass/SKILL.md";
const AGENT_SKILLS: InstructionFiles = instruction_files(&[Home(SKILL)], SKILL);

/// The table of clients.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        markers: &[Below("CLAUDE_CONFIG_DIR", ""), Home(".claude.json"), Home(".claude")],
        user: user_file(&[Below("CLAUDE_CONFIG_DIR", ".claude.json"), Home(".claude.json")], &CLAUDE),
        project: Some(ConfigFile {
            files: &[Project(".mcp.json")],
            shape: &SHARED,
            is_committed: true,
            folder: None,
            note: Some("Each user of the repository is asked to approve it."),
        }),
        instructions: instruction_files(
            &[Below("CLAUDE_CONFIG_DIR", "CLAUDE.md"), Home(".claude/CLAUDE.md")],
            "CLAUDE.md",
        ),
        skills: instruction_files(
            &[Below("CLAUDE_CONFIG_DIR", "skills/codecompass/SKILL.md"), Home(".claude/skills/codecompass/SKILL.md")],
            ".claude/skills/codecompass/SKILL.md",
        ),
        start: StartBehavior { project_variable: Some("CLAUDE_PROJECT_DIR"), roots: true, ..DEFAULT_START },
        ..BASE
    },
    Client {
        name: "codex",
        title: "Codex",
        markers: &[Below("CODEX_HOME", ""), Home(".codex")],
        user: user_file(&[Below("CODEX_HOME", "config.toml"), Home(".codex/config.toml")], &CODEX),
        project: Some(ConfigFile {
            files: &[Project(".codex/config.toml")],
            shape: &CODEX,
            is_committed: true,
            folder: None,
            note: Some("Codex reads it in trusted projects only."),
        }),
        instructions: instruction_files(&[Below("CODEX_HOME", "AGENTS.md"), Home(".codex/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: StartBehavior {
            passes: Some(&["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]),
            ..DEFAULT_START
        },
        ..BASE
    },
    Client {
        name: "cursor",
        title: "Cursor",
        markers: &[Home(".cursor")],
        user: user_file(&[Home(".cursor/mcp.json")], &MCP_SERVERS),
        project: Some(ConfigFile {
            files: &[Project(".cursor/mcp.json")],
            shape: &MCP_SERVERS,
            is_committed: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        instructions: AGENTS,
        start: StartBehavior {
            folder: Folder::Root,
            project_variable: Some("WORKSPACE_FOLDER_PATHS"),
            ..DEFAULT_START
        },
        ..BASE
    },
    Client {
        name: "vscode",
        title: "VS Code",
        markers: &[Platform("Code/User")],
        user: Some(ConfigFile {
            files: &[Platform("Code/User/mcp.json")],
            shape: &VS_CODE,
            is_committed: true,
            folder: None,
            note: Some(
                "Settings Sync copies this file to other machines, so the command has no folder: `codecompass` must be on \
                 the PATH that VS Code sees.",
            ),
        }),
        project: Some(ConfigFile {
            files: &[Project(".vscode/mcp.json")],
            shape: &VS_CODE,
            is_committed: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        instructions: instruction_files(&[], "AGENTS.md"),
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        start: StartBehavior { folder: Folder::Home, roots: true, ..DEFAULT_START },
        ..BASE
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        markers: &[Home(".copilot")],
        user: user_file(&[Home(".copilot/mcp-config.json")], &COPILOT),
        project: project_file(&[Project(".mcp.json")], &SHARED),
        instructions: AGENTS,
        skills: InstructionFiles { user: &[Home(".copilot/skills/codecompass/SKILL.md")], project: None },
        ..BASE
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        markers: &[Named("OPENCODE_CONFIG"), Dot("opencode")],
        user: user_file(
            &[Named("OPENCODE_CONFIG"), Dot("opencode/opencode.json"), Dot("opencode/opencode.jsonc")],
            &OPENCODE,
        ),
        project: project_file(&[Project("opencode.json"), Project("opencode.jsonc")], &OPENCODE),
        instructions: instruction_files(&[Dot("opencode/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: WITH_ROOTS,
        ..BASE
    },
    Client {
        name: "zed",
        title: "Zed",
        markers: &[Dot("zed")],
        user: user_file(&[Dot("zed/settings.json")], &ZED),
        project: project_file(&[Project(".zed/settings.json")], &ZED),
        instructions: AGENTS,
        skills: AGENT_SKILLS,
        ..BASE
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        markers: &[Home(".gemini")],
        user: user_file(&[Home(".gemini/settings.json")], &MCP_SERVERS),
        project: project_file(&[Project(".gemini/settings.json")], &MCP_SERVERS),
        instructions: instruction_files(&[Home(".gemini/GEMINI.md")], "GEMINI.md"),
        ..BASE
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        markers: &[Home(".codeium/windsurf")],
        user: user_file(&[Home(".codeium/windsurf/mcp_config.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".windsurf/rules/codecompass.md"),
        ..BASE
    },
    Client {
        name: "cline",
        title: "Cline",
        markers: &[Home(".cline")],
        user: Some(ConfigFile {
            files: &[Home(".cline/data/settings/cline_mcp_settings.json"), Home(".cline/mcp.json")],
            shape: &CLINE,
            is_committed: false,
            folder: None,
            note: Some("Cline does not report the open folder: its agent must name the repository (`workspace`)."),
        }),
        instructions: instruction_files(&[], ".clinerules/codecompass.md"),
        start: StartBehavior { folder: Folder::Root, ..DEFAULT_START },
        ..BASE
    },
    Client {
        name: "kiro",
        title: "Kiro",
        markers: &[Home(".kiro")],
        user: user_file(&[Home(".kiro/settings/mcp.json")], &MCP_SERVERS),
        project: project_file(&[Project(".kiro/settings/mcp.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".kiro/steering/codecompass.md"),
        ..BASE
    },
    Client {
        name: "junie",
        title: "Junie",
        markers: &[Home(".junie")],
        user: user_file(&[Home(".junie/mcp/mcp.json")], &MCP_SERVERS),
        project: project_file(&[Project(".junie/mcp/mcp.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".junie/AGENTS.md"),
        ..BASE
    },
    Client {
        name: "amp",
        title: "Amp",
        markers: &[Dot("amp")],
        user: user_file(&[Dot("amp/settings.json")], &AMP),
        project: project_file(&[Project(".amp/settings.json")], &AMP),
        instructions: AGENTS,
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        ..BASE
    },
    Client {
        name: "goose",
        title: "Goose",
        markers: &[Dot("goose")],
        by_hand: Some(("~/.config/goose/config.yaml", &GOOSE)),
        instructions: instruction_files(&[], ".goosehints"),
        ..BASE
    },
    Client {
        name: "jetbrains",
        title: "JetBrains AI Assistant",
        markers: &[Platform("JetBrains")],
        by_hand: Some(("Settings, Tools, AI Assistant, Model Context Protocol, Add, As JSON", &MCP_SERVERS)),
        ..BASE
    },
];

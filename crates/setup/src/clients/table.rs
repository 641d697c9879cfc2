//! The table of clients.

use super::FileLocation::{self, Below, Dot, Home, Named, Platform, Project};
use super::Program::{Inside, Unique};
use super::formats::{
    AMP, CLAUDE, CLINE, CODEX, CONTINUE, COPILOT, CRUSH, DROID, GEMINI, GOOSE, GROK, MCP_SERVERS, OPENCODE, QWEN,
    SHARED, TYPED, VIBE, VS_CODE, ZED,
};
use super::{Client, ConfigFile, EntryFormat, Folder, InstructionFiles, StartBehavior};

const DEFAULT_START: StartBehavior =
    StartBehavior { passes: None, folder: Folder::Project, project_variable: None, roots: false };
const WITH_ROOTS: StartBehavior = StartBehavior { roots: true, ..DEFAULT_START };

/// The Python library for MCP passes on little.
const PYTHON_START: StartBehavior =
    StartBehavior { passes: Some(&["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]), ..DEFAULT_START };

const NO_INSTRUCTIONS: InstructionFiles = InstructionFiles { user: &[], project: None };

/// The defaults of a row: a client with nothing in particular.
const BASE: Client = Client {
    name: "",
    title: "",
    markers: &[],
    programs: &[],
    user: None,
    project: None,
    by_hand: None,
    instructions: NO_INSTRUCTIONS,
    skills: NO_INSTRUCTIONS,
    without_trust: None,
    start: DEFAULT_START,
};

/// A user's own file.
const fn user_file(files: &'static [FileLocation], shape: &'static EntryFormat) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: false, needs_file: false, folder: None, note: None })
}

/// A project's file, which is committed and so shared with other machines.
const fn project_file(files: &'static [FileLocation], shape: &'static EntryFormat) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: true, needs_file: false, folder: None, note: None })
}

/// A project's file that clients read after a step of each user.
const fn trusted_file(
    files: &'static [FileLocation],
    shape: &'static EntryFormat,
    note: &'static str,
) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: true, needs_file: false, folder: None, note: Some(note) })
}

/// A user's own file that the client has to create.
const fn existing_file(files: &'static [FileLocation], shape: &'static EntryFormat) -> Option<ConfigFile> {
    Some(ConfigFile { files, shape, is_committed: false, needs_file: true, folder: None, note: None })
}

const fn instruction_files(user: &'static [FileLocation], project: &'static str) -> InstructionFiles {
    InstructionFiles { user, project: Some(project) }
}

const AGENTS: InstructionFiles = instruction_files(&[], "AGENTS.md");
const SKILL: &str = ".agents/skills/codecompass/SKILL.md";
const AGENT_SKILLS: InstructionFiles = instruction_files(&[Home(SKILL)], SKILL);

/// The table of clients.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        markers: &[Below("CLAUDE_CONFIG_DIR", ""), Home(".claude.json"), Home(".claude")],
        programs: &[Unique("claude")],
        user: user_file(&[Below("CLAUDE_CONFIG_DIR", ".claude.json"), Home(".claude.json")], &CLAUDE),
        project: trusted_file(&[Project(".mcp.json")], &SHARED, "Each user of the repository is asked to approve it."),
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
        programs: &[Unique("codex")],
        user: user_file(&[Below("CODEX_HOME", "config.toml"), Home(".codex/config.toml")], &CODEX),
        project: trusted_file(&[Project(".codex/config.toml")], &CODEX, "Codex reads it in trusted projects only."),
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
        programs: &[Unique("cursor"), Unique("cursor-agent")],
        user: user_file(&[Home(".cursor/mcp.json")], &MCP_SERVERS),
        project: Some(ConfigFile {
            files: &[Project(".cursor/mcp.json")],
            shape: &MCP_SERVERS,
            is_committed: true,
            needs_file: false,
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
        // A fork of Codex installs `code`, too.
        programs: &[Inside("code", &["/code/", "Visual Studio Code", "VS Code", "vscode"])],
        user: Some(ConfigFile {
            files: &[Platform("Code/User/mcp.json")],
            shape: &VS_CODE,
            is_committed: true,
            needs_file: false,
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
            needs_file: false,
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
        markers: &[Below("COPILOT_HOME", ""), Home(".copilot")],
        programs: &[Unique("copilot")],
        user: user_file(&[Below("COPILOT_HOME", "mcp-config.json"), Home(".copilot/mcp-config.json")], &COPILOT),
        project: project_file(&[Project(".mcp.json")], &SHARED),
        instructions: AGENTS,
        skills: InstructionFiles {
            user: &[Below("COPILOT_HOME", "skills/codecompass/SKILL.md"), Home(".copilot/skills/codecompass/SKILL.md")],
            project: None,
        },
        ..BASE
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        markers: &[Named("OPENCODE_CONFIG"), Dot("opencode")],
        programs: &[Unique("opencode")],
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
        // `zed` is also the event daemon of ZFS.
        programs: &[Unique("zeditor"), Inside("zed", &["zed.app", "Zed.app"])],
        user: user_file(&[Dot("zed/settings.json")], &ZED),
        project: project_file(&[Project(".zed/settings.json")], &ZED),
        instructions: AGENTS,
        skills: AGENT_SKILLS,
        ..BASE
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        // The variable replaces the home folder, not `.gemini` in it.
        markers: &[Below("GEMINI_CLI_HOME", ".gemini"), Home(".gemini")],
        programs: &[Unique("gemini")],
        user: user_file(&[Below("GEMINI_CLI_HOME", ".gemini/settings.json"), Home(".gemini/settings.json")], &GEMINI),
        project: project_file(&[Project(".gemini/settings.json")], &GEMINI),
        instructions: instruction_files(
            &[Below("GEMINI_CLI_HOME", ".gemini/GEMINI.md"), Home(".gemini/GEMINI.md")],
            "GEMINI.md",
        ),
        without_trust: Some(
            "Gemini CLI asks before each call, and `gemini -p` does not offer the tools; `codecompass setup gemini --trust` \
             lets it run them without asking. It starts no servers in folders that it does not trust.",
        ),
        start: WITH_ROOTS,
        ..BASE
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        markers: &[Home(".codeium/windsurf")],
        programs: &[Unique("windsurf")],
        user: user_file(&[Home(".codeium/windsurf/mcp_config.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".windsurf/rules/codecompass.md"),
        ..BASE
    },
    Client {
        name: "cline",
        title: "Cline",
        markers: &[
            Named("CLINE_MCP_SETTINGS_PATH"),
            Below("CLINE_DATA_DIR", ""),
            Below("CLINE_DIR", ""),
            Home(".cline"),
        ],
        programs: &[Unique("cline")],
        user: user_file(
            &[
                Named("CLINE_MCP_SETTINGS_PATH"),
                Below("CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
                Below("CLINE_DIR", "data/settings/cline_mcp_settings.json"),
                Home(".cline/data/settings/cline_mcp_settings.json"),
            ],
            &CLINE,
        ),
        instructions: instruction_files(&[], ".clinerules/codecompass.md"),
        ..BASE
    },
    Client {
        name: "kiro",
        title: "Kiro",
        markers: &[Home(".kiro")],
        programs: &[Unique("kiro"), Unique("kiro-cli")],
        user: user_file(&[Home(".kiro/settings/mcp.json")], &MCP_SERVERS),
        project: project_file(&[Project(".kiro/settings/mcp.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".kiro/steering/codecompass.md"),
        ..BASE
    },
    Client {
        name: "junie",
        title: "Junie",
        markers: &[Home(".junie")],
        programs: &[Unique("junie")],
        user: user_file(&[Home(".junie/mcp/mcp.json")], &MCP_SERVERS),
        project: project_file(&[Project(".junie/mcp/mcp.json")], &MCP_SERVERS),
        instructions: instruction_files(&[], ".junie/AGENTS.md"),
        ..BASE
    },
    Client {
        name: "amp",
        title: "Amp",
        markers: &[Dot("amp")],
        programs: &[Inside("amp", &["@sourcegraph/amp", "@ampcode", "/.amp/"])],
        user: user_file(&[Dot("amp/settings.json")], &AMP),
        project: project_file(&[Project(".amp/settings.json")], &AMP),
        instructions: AGENTS,
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        ..BASE
    },
    Client {
        name: "goose",
        title: "Goose",
        markers: &[Below("GOOSE_PATH_ROOT", ""), Dot("goose")],
        // `goose` is also a migration tool for databases.
        programs: &[Inside("goose", &["@aaif/goose", "block-goose"])],
        user: existing_file(&[Below("GOOSE_PATH_ROOT", "config/config.yaml"), Dot("goose/config.yaml")], &GOOSE),
        instructions: instruction_files(&[], ".goosehints"),
        start: WITH_ROOTS,
        ..BASE
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        markers: &[Below("QWEN_HOME", ""), Home(".qwen")],
        programs: &[Unique("qwen")],
        user: user_file(&[Below("QWEN_HOME", "settings.json"), Home(".qwen/settings.json")], &QWEN),
        project: trusted_file(
            &[Project(".qwen/settings.json")],
            &QWEN,
            "Each user of the repository is asked to approve it.",
        ),
        instructions: instruction_files(&[Below("QWEN_HOME", "QWEN.md"), Home(".qwen/QWEN.md")], "QWEN.md"),
        without_trust: Some(
            "Qwen Code asks before each call, which `qwen -p` cannot; `codecompass setup qwen --trust` lets it run the \
             tools without asking. It starts no servers in folders that it does not trust.",
        ),
        start: WITH_ROOTS,
        ..BASE
    },
    Client {
        name: "kilo",
        title: "Kilo",
        markers: &[Named("KILO_CONFIG"), Dot("kilo")],
        programs: &[Unique("kilocode"), Inside("kilo", &["@kilocode"])],
        user: user_file(&[Named("KILO_CONFIG"), Dot("kilo/kilo.jsonc"), Dot("kilo/kilo.json")], &OPENCODE),
        project: project_file(
            &[Project(".kilo/kilo.jsonc"), Project(".kilo/kilo.json"), Project("kilo.jsonc"), Project("kilo.json")],
            &OPENCODE,
        ),
        instructions: AGENTS,
        start: WITH_ROOTS,
        ..BASE
    },
    Client {
        name: "grok",
        title: "Grok",
        markers: &[Below("GROK_HOME", ""), Home(".grok")],
        programs: &[Inside("grok", &["@xai-official/grok", "/.grok/"])],
        user: user_file(&[Below("GROK_HOME", "config.toml"), Home(".grok/config.toml")], &GROK),
        project: project_file(&[Project(".grok/config.toml")], &GROK),
        instructions: AGENTS,
        ..BASE
    },
    Client {
        name: "droid",
        title: "Droid",
        // The variable replaces the home folder, not `.factory` in it.
        markers: &[Below("FACTORY_HOME_OVERRIDE", ".factory"), Home(".factory")],
        programs: &[Inside("droid", &["@factory/", "node_modules/droid/", "/.factory/"])],
        user: user_file(&[Below("FACTORY_HOME_OVERRIDE", ".factory/mcp.json"), Home(".factory/mcp.json")], &DROID),
        project: project_file(&[Project(".factory/mcp.json")], &DROID),
        instructions: AGENTS,
        ..BASE
    },
    Client {
        name: "qoder",
        title: "Qoder",
        markers: &[Below("QODER_CONFIG_DIR", ""), Below("QODER_CLI_HOME", ".qoder"), Home(".qoder")],
        programs: &[Unique("qodercli")],
        user: user_file(
            &[
                Below("QODER_CONFIG_DIR", "settings.json"),
                Below("QODER_CLI_HOME", ".qoder/settings.json"),
                Home(".qoder/settings.json"),
            ],
            &MCP_SERVERS,
        ),
        project: project_file(&[Project(".mcp.json")], &SHARED),
        instructions: AGENTS,
        ..BASE
    },
    Client {
        name: "continue",
        title: "Continue",
        markers: &[Below("CONTINUE_GLOBAL_DIR", ""), Home(".continue")],
        programs: &[Inside("cn", &["@continuedev/cli"])],
        user: existing_file(&[Below("CONTINUE_GLOBAL_DIR", "config.yaml"), Home(".continue/config.yaml")], &CONTINUE),
        instructions: AGENTS,
        ..BASE
    },
    Client {
        name: "vibe",
        title: "Mistral Vibe",
        markers: &[Below("VIBE_HOME", ""), Home(".vibe")],
        programs: &[Inside("vibe", &["mistral-vibe"])],
        user: user_file(&[Below("VIBE_HOME", "config.toml"), Home(".vibe/config.toml")], &VIBE),
        // No project's file: it could not pass on the data folder.
        instructions: instruction_files(&[Below("VIBE_HOME", "AGENTS.md"), Home(".vibe/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: PYTHON_START,
        ..BASE
    },
    Client {
        name: "crush",
        title: "Crush",
        markers: &[Below("CRUSH_GLOBAL_CONFIG", ""), Dot("crush")],
        programs: &[Inside("crush", &["@charmland/crush", "Cellar/crush"])],
        user: user_file(&[Below("CRUSH_GLOBAL_CONFIG", "crush.json"), Dot("crush/crush.json")], &CRUSH),
        project: project_file(&[Project("crush.json"), Project(".crush.json")], &CRUSH),
        instructions: AGENTS,
        ..BASE
    },
    Client {
        name: "kimi",
        title: "Kimi Code",
        markers: &[Below("KIMI_CODE_HOME", ""), Home(".kimi-code")],
        programs: &[Inside("kimi", &["kimi-code"])],
        user: user_file(&[Below("KIMI_CODE_HOME", "mcp.json"), Home(".kimi-code/mcp.json")], &MCP_SERVERS),
        project: project_file(&[Project(".mcp.json")], &SHARED),
        instructions: AGENTS,
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        ..BASE
    },
    Client {
        name: "auggie",
        title: "Auggie",
        markers: &[Home(".augment")],
        programs: &[Unique("auggie")],
        user: user_file(&[Home(".augment/settings.json")], &TYPED),
        project: project_file(&[Project(".augment/settings.json")], &TYPED),
        instructions: AGENTS,
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

//! The clients that can be set up: the locations of their files, the format of an entry, and how they start a server.
//!
//! One table row per client drives `setup`, `unsetup`, `doctor --client` and `docs/clients.md`. The data comes from the
//! clients' own documentation and sources.

use std::path::{Path, PathBuf};

/// A client.
pub(crate) struct Client {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The client is installed if one of these exists.
    pub(super) markers: &'static [FileLocation],
    /// The file for all projects; `None` if the entry can only be printed.
    pub(crate) user: Option<ConfigFile>,
    /// The file for one project.
    pub(crate) project: Option<ConfigFile>,
    /// The entry to add manually, if no file is edited.
    pub(super) by_hand: Option<(&'static str, &'static EntryFormat)>,
    pub(super) instructions: InstructionFiles,
    pub(super) skills: InstructionFiles,
    pub(crate) start: StartBehavior,
}

/// A configuration file with server entries.
#[derive(Clone, Copy)]
pub(crate) struct ConfigFile {
    /// The first existing file of these, or else the first possible one.
    pub(super) files: &'static [FileLocation],
    pub(crate) shape: &'static EntryFormat,
    /// Whether the file is shared with other machines: it must not contain anything specific to this one.
    pub(super) is_committed: bool,
    /// The client's placeholder for the open folder, if it does not report the folder in another way.
    pub(super) folder: Option<&'static str>,
    /// An additional step for the user.
    pub(super) note: Option<&'static str>,
}

/// Instruction files for agents: for all projects, and for one.
pub(super) struct InstructionFiles {
    pub(super) user: &'static [FileLocation],
    pub(super) project: Option<&'static str>,
}

/// The location of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileLocation {
    /// Below the home folder.
    Home(&'static str),
    /// Below `$XDG_CONFIG_HOME`, or else `~/.config`, on every platform.
    Dot(&'static str),
    /// Below the platform's folder for configuration.
    Platform(&'static str),
    /// Below the folder named by a variable. If the variable is set, no other location counts.
    Below(&'static str, &'static str),
    /// The file named by a variable, with the same rule.
    Named(&'static str),
    /// Below the root of the project.
    Project(&'static str),
}

/// The format of an entry.
pub(crate) struct EntryFormat {
    pub(super) syntax: Syntax,
    /// The keys that lead to the entries.
    pub(super) servers: &'static [&'static str],
    pub(super) fields: &'static [Field],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
    Yaml,
}

/// A field of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Word(&'static str, &'static str),
    Flag(&'static str, bool),
    Number(&'static str, u32),
    /// The program.
    Command(&'static str),
    /// Its arguments.
    Arguments(&'static str),
    /// Both in one list.
    CommandLine(&'static str),
    /// Its variables; omitted if there are none.
    Variables(&'static str),
    /// The variables to pass on to it, if the entry does not set the data folder itself.
    Passed(&'static str, &'static [&'static str]),
}

/// How a client starts a server.
pub(crate) struct StartBehavior {
    /// The variables that it passes on; `None` for all.
    pub(crate) passes: Option<&'static [&'static str]>,
    /// The working folder of the server.
    pub(crate) folder: Folder,
    /// The variable that names the open folder.
    pub(crate) project_variable: Option<&'static str>,
    /// Whether it answers `roots/list`.
    pub(crate) roots: bool,
}

impl StartBehavior {
    /// Whether a server can know the open folder without a `workspace` argument in each request.
    pub(crate) fn reports_folder(&self) -> bool {
        self.folder == Folder::Project || self.project_variable.is_some() || self.roots
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// The project folder.
    Project,
    /// The root of the file system.
    Root,
    /// The user's home folder.
    Home,
}

const DEFAULT_START: StartBehavior =
    StartBehavior { passes: None, folder: Folder::Project, project_variable: None, roots: false };
const WITH_ROOTS: StartBehavior = StartBehavior { roots: true, ..DEFAULT_START };

use Field::{Arguments, Command, CommandLine, Flag, Number, Passed, Variables, Word};

const MCP_SERVERS: EntryFormat = EntryFormat {
    syntax: Syntax::Json,
    servers: &["mcpServers"],
    fields: &[Command("command"), Arguments("args"), Variables("env")],
};
const CLAUDE: EntryFormat = EntryFormat {
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env"), Flag("alwaysLoad", true)],
    ..MCP_SERVERS
};
const COPILOT: EntryFormat = EntryFormat {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Word("deferTools", "never")],
    ..MCP_SERVERS
};
/// Several clients read `.mcp.json`; each ignores the fields of the others.
const SHARED: EntryFormat = EntryFormat {
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
const VS_CODE: EntryFormat = EntryFormat {
    servers: &["servers"],
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env")],
    ..MCP_SERVERS
};
const OPENCODE: EntryFormat = EntryFormat {
    servers: &["mcp"],
    fields: &[Word("type", "local"), CommandLine("command"), Variables("environment"), Flag("enabled", true)],
    ..MCP_SERVERS
};
const ZED: EntryFormat = EntryFormat { servers: &["context_servers"], ..MCP_SERVERS };
const AMP: EntryFormat = EntryFormat { servers: &["amp.mcpServers"], ..MCP_SERVERS };
const CLINE: EntryFormat = EntryFormat {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Flag("disabled", false)],
    ..MCP_SERVERS
};
const CODEX: EntryFormat = EntryFormat {
    syntax: Syntax::Toml,
    servers: &["mcp_servers"],
    fields: &[
        Command("command"),
        Arguments("args"),
        Variables("env"),
        Passed("env_vars", &["CODECOMPASS_HOME", "XDG_DATA_HOME"]),
    ],
};
const GOOSE: EntryFormat = EntryFormat {
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

const NO_INSTRUCTIONS: InstructionFiles = InstructionFiles { user: &[], project: None };
const AGENTS: InstructionFiles = instruction_files(&[], "AGENTS.md");
const SKILL: &str = ".agents/skills/codecompass/SKILL.md";
const AGENT_SKILLS: InstructionFiles = instruction_files(&[FileLocation::Home(SKILL)], SKILL);

/// The table of clients.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        markers: &[
            FileLocation::Below("CLAUDE_CONFIG_DIR", ""),
            FileLocation::Home(".claude.json"),
            FileLocation::Home(".claude"),
        ],
        user: user_file(
            &[FileLocation::Below("CLAUDE_CONFIG_DIR", ".claude.json"), FileLocation::Home(".claude.json")],
            &CLAUDE,
        ),
        project: Some(ConfigFile {
            files: &[FileLocation::Project(".mcp.json")],
            shape: &SHARED,
            is_committed: true,
            folder: None,
            note: Some("Each user of the repository is asked to approve it."),
        }),
        by_hand: None,
        instructions: instruction_files(
            &[FileLocation::Below("CLAUDE_CONFIG_DIR", "CLAUDE.md"), FileLocation::Home(".claude/CLAUDE.md")],
            "CLAUDE.md",
        ),
        skills: instruction_files(
            &[
                FileLocation::Below("CLAUDE_CONFIG_DIR", "skills/codecompass/SKILL.md"),
                FileLocation::Home(".claude/skills/codecompass/SKILL.md"),
            ],
            ".claude/skills/codecompass/SKILL.md",
        ),
        start: StartBehavior { project_variable: Some("CLAUDE_PROJECT_DIR"), roots: true, ..DEFAULT_START },
    },
    Client {
        name: "codex",
        title: "Codex",
        markers: &[FileLocation::Below("CODEX_HOME", ""), FileLocation::Home(".codex")],
        user: user_file(
            &[FileLocation::Below("CODEX_HOME", "config.toml"), FileLocation::Home(".codex/config.toml")],
            &CODEX,
        ),
        project: Some(ConfigFile {
            files: &[FileLocation::Project(".codex/config.toml")],
            shape: &CODEX,
            is_committed: true,
            folder: None,
            note: Some("Codex reads it in trusted projects only."),
        }),
        by_hand: None,
        instructions: instruction_files(
            &[FileLocation::Below("CODEX_HOME", "AGENTS.md"), FileLocation::Home(".codex/AGENTS.md")],
            "AGENTS.md",
        ),
        skills: AGENT_SKILLS,
        start: StartBehavior {
            passes: Some(&["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]),
            ..DEFAULT_START
        },
    },
    Client {
        name: "cursor",
        title: "Cursor",
        markers: &[FileLocation::Home(".cursor")],
        user: user_file(&[FileLocation::Home(".cursor/mcp.json")], &MCP_SERVERS),
        project: Some(ConfigFile {
            files: &[FileLocation::Project(".cursor/mcp.json")],
            shape: &MCP_SERVERS,
            is_committed: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        by_hand: None,
        instructions: AGENTS,
        skills: NO_INSTRUCTIONS,
        start: StartBehavior {
            folder: Folder::Root,
            project_variable: Some("WORKSPACE_FOLDER_PATHS"),
            ..DEFAULT_START
        },
    },
    Client {
        name: "vscode",
        title: "VS Code",
        markers: &[FileLocation::Platform("Code/User")],
        user: Some(ConfigFile {
            files: &[FileLocation::Platform("Code/User/mcp.json")],
            shape: &VS_CODE,
            is_committed: true,
            folder: None,
            note: Some(
                "Settings Sync copies this file to other machines, so the command has no folder: `codecompass` must be on \
                 the PATH that VS Code sees.",
            ),
        }),
        project: Some(ConfigFile {
            files: &[FileLocation::Project(".vscode/mcp.json")],
            shape: &VS_CODE,
            is_committed: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        by_hand: None,
        instructions: instruction_files(&[], "AGENTS.md"),
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        start: StartBehavior { folder: Folder::Home, roots: true, ..DEFAULT_START },
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        markers: &[FileLocation::Home(".copilot")],
        user: user_file(&[FileLocation::Home(".copilot/mcp-config.json")], &COPILOT),
        project: project_file(&[FileLocation::Project(".mcp.json")], &SHARED),
        by_hand: None,
        instructions: AGENTS,
        skills: InstructionFiles { user: &[FileLocation::Home(".copilot/skills/codecompass/SKILL.md")], project: None },
        start: DEFAULT_START,
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        markers: &[FileLocation::Named("OPENCODE_CONFIG"), FileLocation::Dot("opencode")],
        user: user_file(
            &[
                FileLocation::Named("OPENCODE_CONFIG"),
                FileLocation::Dot("opencode/opencode.json"),
                FileLocation::Dot("opencode/opencode.jsonc"),
            ],
            &OPENCODE,
        ),
        project: project_file(
            &[FileLocation::Project("opencode.json"), FileLocation::Project("opencode.jsonc")],
            &OPENCODE,
        ),
        by_hand: None,
        instructions: instruction_files(&[FileLocation::Dot("opencode/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: WITH_ROOTS,
    },
    Client {
        name: "zed",
        title: "Zed",
        markers: &[FileLocation::Dot("zed")],
        user: user_file(&[FileLocation::Dot("zed/settings.json")], &ZED),
        project: project_file(&[FileLocation::Project(".zed/settings.json")], &ZED),
        by_hand: None,
        instructions: AGENTS,
        skills: AGENT_SKILLS,
        start: DEFAULT_START,
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        markers: &[FileLocation::Home(".gemini")],
        user: user_file(&[FileLocation::Home(".gemini/settings.json")], &MCP_SERVERS),
        project: project_file(&[FileLocation::Project(".gemini/settings.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: instruction_files(&[FileLocation::Home(".gemini/GEMINI.md")], "GEMINI.md"),
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        markers: &[FileLocation::Home(".codeium/windsurf")],
        user: user_file(&[FileLocation::Home(".codeium/windsurf/mcp_config.json")], &MCP_SERVERS),
        project: None,
        by_hand: None,
        instructions: instruction_files(&[], ".windsurf/rules/codecompass.md"),
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
    Client {
        name: "cline",
        title: "Cline",
        markers: &[FileLocation::Home(".cline")],
        user: Some(ConfigFile {
            files: &[
                FileLocation::Home(".cline/data/settings/cline_mcp_settings.json"),
                FileLocation::Home(".cline/mcp.json"),
            ],
            shape: &CLINE,
            is_committed: false,
            folder: None,
            note: Some("Cline does not report the open folder: its agent must name the repository (`workspace`)."),
        }),
        project: None,
        by_hand: None,
        instructions: instruction_files(&[], ".clinerules/codecompass.md"),
        skills: NO_INSTRUCTIONS,
        start: StartBehavior { folder: Folder::Root, ..DEFAULT_START },
    },
    Client {
        name: "kiro",
        title: "Kiro",
        markers: &[FileLocation::Home(".kiro")],
        user: user_file(&[FileLocation::Home(".kiro/settings/mcp.json")], &MCP_SERVERS),
        project: project_file(&[FileLocation::Project(".kiro/settings/mcp.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: instruction_files(&[], ".kiro/steering/codecompass.md"),
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
    Client {
        name: "junie",
        title: "Junie",
        markers: &[FileLocation::Home(".junie")],
        user: user_file(&[FileLocation::Home(".junie/mcp/mcp.json")], &MCP_SERVERS),
        project: project_file(&[FileLocation::Project(".junie/mcp/mcp.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: instruction_files(&[], ".junie/AGENTS.md"),
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
    Client {
        name: "amp",
        title: "Amp",
        markers: &[FileLocation::Dot("amp")],
        user: user_file(&[FileLocation::Dot("amp/settings.json")], &AMP),
        project: project_file(&[FileLocation::Project(".amp/settings.json")], &AMP),
        by_hand: None,
        instructions: AGENTS,
        skills: InstructionFiles { user: &[], project: Some(SKILL) },
        start: DEFAULT_START,
    },
    Client {
        name: "goose",
        title: "Goose",
        markers: &[FileLocation::Dot("goose")],
        user: None,
        project: None,
        by_hand: Some(("~/.config/goose/config.yaml", &GOOSE)),
        instructions: instruction_files(&[], ".goosehints"),
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
    Client {
        name: "jetbrains",
        title: "JetBrains AI Assistant",
        markers: &[FileLocation::Platform("JetBrains")],
        user: None,
        project: None,
        by_hand: Some(("Settings, Tools, AI Assistant, Model Context Protocol, Add, As JSON", &MCP_SERVERS)),
        instructions: NO_INSTRUCTIONS,
        skills: NO_INSTRUCTIONS,
        start: DEFAULT_START,
    },
];

/// The user's folders and variables, which determine file locations.
pub(crate) struct Environment<'a> {
    pub(crate) home: PathBuf,
    /// The root of the project, for a project setup.
    pub(crate) project: Option<&'a Path>,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl Environment<'_> {
    /// The path of a location; `None` if it does not exist on this system.
    fn resolve(&self, place: FileLocation) -> Option<PathBuf> {
        let dot = || {
            let named = (self.variable)("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
            named.unwrap_or_else(|| self.home.join(".config"))
        };
        Some(match place {
            FileLocation::Home(path) => self.home.join(path),
            FileLocation::Dot(path) => dot().join(path),
            FileLocation::Platform(path) if cfg!(target_os = "macos") => {
                self.home.join("Library/Application Support").join(path)
            }
            FileLocation::Platform(path) if cfg!(windows) => (self.variable)("APPDATA")?.join(path),
            FileLocation::Platform(path) => dot().join(path),
            FileLocation::Below(variable, path) => (self.variable)(variable)?.join(path),
            FileLocation::Named(variable) => (self.variable)(variable)?,
            FileLocation::Project(path) => self.project?.join(path),
        })
    }

    /// The path of a configuration file.
    pub(crate) fn config_file(&self, spot: &ConfigFile) -> Option<PathBuf> {
        self.first_existing(spot.files)
    }

    fn first_existing(&self, places: &[FileLocation]) -> Option<PathBuf> {
        // A variable determines the client's location, even if nothing exists there yet.
        let named = places.iter().filter(|place| matches!(place, FileLocation::Below(..) | FileLocation::Named(_)));
        if let Some(path) = named.filter_map(|place| self.resolve(*place)).next() {
            return Some(path);
        }
        let paths: Vec<PathBuf> = places.iter().filter_map(|place| self.resolve(*place)).collect();
        let there = paths.iter().find(|path| path.symlink_metadata().is_ok()).cloned();
        there.or_else(|| paths.into_iter().next())
    }

    /// The path of an instruction file.
    pub(super) fn instruction_file(&self, notes: &InstructionFiles) -> Option<PathBuf> {
        match self.project {
            Some(root) => notes.project.map(|path| root.join(path)),
            None => self.first_existing(notes.user),
        }
    }

    /// Whether a client is installed.
    pub(crate) fn is_installed(&self, client: &Client) -> bool {
        client.markers.iter().filter_map(|place| self.resolve(*place)).any(|path| path.exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_unique_and_configurable() {
        let mut names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CLIENTS.len());
        for client in CLIENTS {
            assert!(!client.markers.is_empty(), "{}", client.name);
            assert!(client.user.is_some() != client.by_hand.is_some(), "{}", client.name);
            assert!(client.project.is_none_or(|spot| spot.is_committed), "{}: project files are shared", client.name);
        }
    }

    fn location_text(place: FileLocation) -> String {
        match place {
            FileLocation::Home(path) => format!("`~/{path}`"),
            FileLocation::Dot(path) => format!("`~/.config/{path}`"),
            FileLocation::Platform(path) => format!("`{path}` in the platform's configuration folder"),
            FileLocation::Below(variable, path) => format!("`${variable}/{path}`"),
            FileLocation::Named(variable) => format!("`${variable}`"),
            FileLocation::Project(path) => format!("`{path}`"),
        }
    }

    fn locations_text(places: &[FileLocation]) -> String {
        let texts: Vec<String> = places.iter().map(|place| location_text(*place)).collect();
        if texts.is_empty() { "–".into() } else { texts.join(", ") }
    }

    fn page() -> String {
        let mut page = String::from(
            "# Clients\n\n\
             - Covers: the files that `codecompass setup` edits for each client, and how each client starts a server.\n\
             - Result: thirteen clients are configured automatically; for the others `setup` prints what to enter.\n\
             - Reproduce: `UPDATE=1 cargo test -p codecompass --lib` generates this page; `codecompass doctor --client` checks \
             your machine.\n\n\
             When several files are listed, `setup` uses the one that a variable names, otherwise the first that exists.\n\n\
             | client | name | your file | a project's file | instructions: yours, a project's | skill: yours, a project's |\n\
             |---|---|---|---|---|---|\n",
        );
        for client in CLIENTS {
            let spot = |spot: &Option<ConfigFile>| spot.map_or("–".into(), |spot| locations_text(spot.files));
            let user = match client.by_hand {
                Some((place, _)) => format!("printed only: {place}"),
                None => spot(&client.user),
            };
            let notes = |notes: &InstructionFiles| {
                let project = notes.project.map_or("–".into(), |path| format!("`{path}`"));
                format!("{}; {project}", locations_text(notes.user))
            };
            page += &format!(
                "| {} | `{}` | {user} | {} | {} | {} |\n",
                client.title,
                client.name,
                spot(&client.project),
                notes(&client.instructions),
                notes(&client.skills)
            );
        }
        page += "\n## How each starts a server\n\n\
                 A server finds its repository by `--workspace`, then `CLAUDE_PROJECT_DIR`, `WORKSPACE_FOLDER_PATHS`, \
                 the client's roots, and finally the folder it is started in.\n\n\
                 | client | started in | names the folder by | environment passed on |\n|---|---|---|---|\n";
        for client in CLIENTS.iter().filter(|client| client.user.is_some()) {
            let start = &client.start;
            let folder = match start.folder {
                Folder::Project => "the project",
                Folder::Root => "`/`",
                Folder::Home => "the home folder",
            };
            let mut tells: Vec<String> = start.project_variable.map(|name| format!("`{name}`")).into_iter().collect();
            tells.extend(start.roots.then(|| "roots".to_owned()));
            let silent = if start.reports_folder() { "–" } else { "nothing; its agent must name it (`workspace`)" };
            let tells = if tells.is_empty() { silent.into() } else { tells.join(", ") };
            let passes = start.passes.map_or("everything".into(), |names| format!("only `{}`", names.join("`, `")));
            page += &format!("| {} | {folder} | {tells} | {passes} |\n", client.title);
        }
        page
    }

    #[test]
    fn clients_page_matches_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
        codecompass_testkit::expect_file(&path, &page());
    }

    #[test]
    fn variables_override_file_locations() {
        let none = |_: &str| None;
        let some = |name: &str| (name == "CODEX_HOME").then(|| PathBuf::from("/elsewhere"));
        let codex = CLIENTS.iter().find(|client| client.name == "codex").expect("codex is in the table");
        let spot = codex.user.as_ref().expect("codex has a user file");
        let at = |variable: &dyn Fn(&str) -> Option<PathBuf>| {
            Environment { home: "/home/x".into(), project: None, variable }.config_file(spot)
        };
        assert_eq!(at(&none), Some("/home/x/.codex/config.toml".into()));
        assert_eq!(at(&some), Some("/elsewhere/config.toml".into()));
    }
}

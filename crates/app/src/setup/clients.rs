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
    pub(super) signs: &'static [Place],
    /// The file for all projects; `None` if the entry can only be printed.
    pub(crate) user: Option<Spot>,
    /// The file for one project.
    pub(crate) project: Option<Spot>,
    /// The entry to add manually, if no file is edited.
    pub(super) by_hand: Option<(&'static str, &'static Shape)>,
    pub(super) instructions: Notes,
    pub(super) skills: Notes,
    pub(crate) start: Start,
}

/// A configuration file with server entries.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    /// The first existing file of these, or else the first possible one.
    pub(super) files: &'static [Place],
    pub(crate) shape: &'static Shape,
    /// Whether the file is shared with other machines: it must not contain anything specific to this one.
    pub(super) travels: bool,
    /// The client's placeholder for the open folder, if it does not report the folder in another way.
    pub(super) folder: Option<&'static str>,
    /// An additional step for the user.
    pub(super) note: Option<&'static str>,
}

/// Instruction files for agents: for all projects, and for one.
pub(super) struct Notes {
    pub(super) user: &'static [Place],
    pub(super) project: Option<&'static str>,
}

/// The location of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
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
pub(crate) struct Shape {
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
pub(crate) struct Start {
    /// The variables that it passes on; `None` for all.
    pub(crate) passes: Option<&'static [&'static str]>,
    /// The working folder of the server.
    pub(crate) folder: Folder,
    /// The variable that names the open folder.
    pub(crate) tells: Option<&'static str>,
    /// Whether it answers `roots/list`.
    pub(crate) roots: bool,
}

impl Start {
    /// Whether a server can know the open folder without a `workspace` argument in each request.
    pub(crate) fn says(&self) -> bool {
        self.folder == Folder::Project || self.tells.is_some() || self.roots
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

const USUAL: Start = Start { passes: None, folder: Folder::Project, tells: None, roots: false };
const WITH_ROOTS: Start = Start { roots: true, ..USUAL };

use Field::{Arguments, Command, CommandLine, Flag, Number, Passed, Variables, Word};

const MCP_SERVERS: Shape = Shape {
    syntax: Syntax::Json,
    servers: &["mcpServers"],
    fields: &[Command("command"), Arguments("args"), Variables("env")],
};
const CLAUDE: Shape = Shape {
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env"), Flag("alwaysLoad", true)],
    ..MCP_SERVERS
};
const COPILOT: Shape = Shape {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Word("deferTools", "never")],
    ..MCP_SERVERS
};
/// Several clients read `.mcp.json`; each ignores the fields of the others.
const SHARED: Shape = Shape {
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
const VS_CODE: Shape = Shape {
    servers: &["servers"],
    fields: &[Word("type", "stdio"), Command("command"), Arguments("args"), Variables("env")],
    ..MCP_SERVERS
};
const OPENCODE: Shape = Shape {
    servers: &["mcp"],
    fields: &[Word("type", "local"), CommandLine("command"), Variables("environment"), Flag("enabled", true)],
    ..MCP_SERVERS
};
const ZED: Shape = Shape { servers: &["context_servers"], ..MCP_SERVERS };
const AMP: Shape = Shape { servers: &["amp.mcpServers"], ..MCP_SERVERS };
const CLINE: Shape = Shape {
    fields: &[Command("command"), Arguments("args"), Variables("env"), Flag("disabled", false)],
    ..MCP_SERVERS
};
const CODEX: Shape = Shape {
    syntax: Syntax::Toml,
    servers: &["mcp_servers"],
    fields: &[
        Command("command"),
        Arguments("args"),
        Variables("env"),
        Passed("env_vars", &["CODECOMPASS_HOME", "XDG_DATA_HOME"]),
    ],
};
const GOOSE: Shape = Shape {
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
const fn user(files: &'static [Place], shape: &'static Shape) -> Option<Spot> {
    Some(Spot { files, shape, travels: false, folder: None, note: None })
}

/// A project's file, which is committed and so shared with other machines.
const fn project(files: &'static [Place], shape: &'static Shape) -> Option<Spot> {
    Some(Spot { files, shape, travels: true, folder: None, note: None })
}

const fn notes(user: &'static [Place], project: &'static str) -> Notes {
    Notes { user, project: Some(project) }
}

const NO_NOTES: Notes = Notes { user: &[], project: None };
const AGENTS: Notes = notes(&[], "AGENTS.md");
const SKILL: &str = ".agents/skills/codecompass/SKILL.md";
const AGENT_SKILLS: Notes = notes(&[Place::Home(SKILL)], SKILL);

/// The table of clients.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        signs: &[Place::Below("CLAUDE_CONFIG_DIR", ""), Place::Home(".claude.json"), Place::Home(".claude")],
        user: user(&[Place::Below("CLAUDE_CONFIG_DIR", ".claude.json"), Place::Home(".claude.json")], &CLAUDE),
        project: Some(Spot {
            files: &[Place::Project(".mcp.json")],
            shape: &SHARED,
            travels: true,
            folder: None,
            note: Some("Each user of the repository is asked to approve it."),
        }),
        by_hand: None,
        instructions: notes(
            &[Place::Below("CLAUDE_CONFIG_DIR", "CLAUDE.md"), Place::Home(".claude/CLAUDE.md")],
            "CLAUDE.md",
        ),
        skills: notes(
            &[
                Place::Below("CLAUDE_CONFIG_DIR", "skills/codecompass/SKILL.md"),
                Place::Home(".claude/skills/codecompass/SKILL.md"),
            ],
            ".claude/skills/codecompass/SKILL.md",
        ),
        start: Start { tells: Some("CLAUDE_PROJECT_DIR"), roots: true, ..USUAL },
    },
    Client {
        name: "codex",
        title: "Codex",
        signs: &[Place::Below("CODEX_HOME", ""), Place::Home(".codex")],
        user: user(&[Place::Below("CODEX_HOME", "config.toml"), Place::Home(".codex/config.toml")], &CODEX),
        project: Some(Spot {
            files: &[Place::Project(".codex/config.toml")],
            shape: &CODEX,
            travels: true,
            folder: None,
            note: Some("Codex reads it in trusted projects only."),
        }),
        by_hand: None,
        instructions: notes(&[Place::Below("CODEX_HOME", "AGENTS.md"), Place::Home(".codex/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: Start {
            passes: Some(&["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]),
            ..USUAL
        },
    },
    Client {
        name: "cursor",
        title: "Cursor",
        signs: &[Place::Home(".cursor")],
        user: user(&[Place::Home(".cursor/mcp.json")], &MCP_SERVERS),
        project: Some(Spot {
            files: &[Place::Project(".cursor/mcp.json")],
            shape: &MCP_SERVERS,
            travels: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        by_hand: None,
        instructions: AGENTS,
        skills: NO_NOTES,
        start: Start { folder: Folder::Root, tells: Some("WORKSPACE_FOLDER_PATHS"), ..USUAL },
    },
    Client {
        name: "vscode",
        title: "VS Code",
        signs: &[Place::Platform("Code/User")],
        user: Some(Spot {
            files: &[Place::Platform("Code/User/mcp.json")],
            shape: &VS_CODE,
            travels: true,
            folder: None,
            note: Some(
                "Settings Sync copies this file to other machines, so the command has no folder: `codecompass` must be on \
                 the PATH that VS Code sees.",
            ),
        }),
        project: Some(Spot {
            files: &[Place::Project(".vscode/mcp.json")],
            shape: &VS_CODE,
            travels: true,
            folder: Some("${workspaceFolder}"),
            note: None,
        }),
        by_hand: None,
        instructions: notes(&[], "AGENTS.md"),
        skills: Notes { user: &[], project: Some(SKILL) },
        start: Start { folder: Folder::Home, roots: true, ..USUAL },
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        signs: &[Place::Home(".copilot")],
        user: user(&[Place::Home(".copilot/mcp-config.json")], &COPILOT),
        project: project(&[Place::Project(".mcp.json")], &SHARED),
        by_hand: None,
        instructions: AGENTS,
        skills: Notes { user: &[Place::Home(".copilot/skills/codecompass/SKILL.md")], project: None },
        start: USUAL,
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        signs: &[Place::Named("OPENCODE_CONFIG"), Place::Dot("opencode")],
        user: user(
            &[
                Place::Named("OPENCODE_CONFIG"),
                Place::Dot("opencode/opencode.json"),
                Place::Dot("opencode/opencode.jsonc"),
            ],
            &OPENCODE,
        ),
        project: project(&[Place::Project("opencode.json"), Place::Project("opencode.jsonc")], &OPENCODE),
        by_hand: None,
        instructions: notes(&[Place::Dot("opencode/AGENTS.md")], "AGENTS.md"),
        skills: AGENT_SKILLS,
        start: WITH_ROOTS,
    },
    Client {
        name: "zed",
        title: "Zed",
        signs: &[Place::Dot("zed")],
        user: user(&[Place::Dot("zed/settings.json")], &ZED),
        project: project(&[Place::Project(".zed/settings.json")], &ZED),
        by_hand: None,
        instructions: AGENTS,
        skills: AGENT_SKILLS,
        start: USUAL,
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        signs: &[Place::Home(".gemini")],
        user: user(&[Place::Home(".gemini/settings.json")], &MCP_SERVERS),
        project: project(&[Place::Project(".gemini/settings.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: notes(&[Place::Home(".gemini/GEMINI.md")], "GEMINI.md"),
        skills: NO_NOTES,
        start: USUAL,
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        signs: &[Place::Home(".codeium/windsurf")],
        user: user(&[Place::Home(".codeium/windsurf/mcp_config.json")], &MCP_SERVERS),
        project: None,
        by_hand: None,
        instructions: notes(&[], ".windsurf/rules/codecompass.md"),
        skills: NO_NOTES,
        start: USUAL,
    },
    Client {
        name: "cline",
        title: "Cline",
        signs: &[Place::Home(".cline")],
        user: Some(Spot {
            files: &[Place::Home(".cline/data/settings/cline_mcp_settings.json"), Place::Home(".cline/mcp.json")],
            shape: &CLINE,
            travels: false,
            folder: None,
            note: Some("Cline does not report the open folder: its agent must name the repository (`workspace`)."),
        }),
        project: None,
        by_hand: None,
        instructions: notes(&[], ".clinerules/codecompass.md"),
        skills: NO_NOTES,
        start: Start { folder: Folder::Root, ..USUAL },
    },
    Client {
        name: "kiro",
        title: "Kiro",
        signs: &[Place::Home(".kiro")],
        user: user(&[Place::Home(".kiro/settings/mcp.json")], &MCP_SERVERS),
        project: project(&[Place::Project(".kiro/settings/mcp.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: notes(&[], ".kiro/steering/codecompass.md"),
        skills: NO_NOTES,
        start: USUAL,
    },
    Client {
        name: "junie",
        title: "Junie",
        signs: &[Place::Home(".junie")],
        user: user(&[Place::Home(".junie/mcp/mcp.json")], &MCP_SERVERS),
        project: project(&[Place::Project(".junie/mcp/mcp.json")], &MCP_SERVERS),
        by_hand: None,
        instructions: notes(&[], ".junie/AGENTS.md"),
        skills: NO_NOTES,
        start: USUAL,
    },
    Client {
        name: "amp",
        title: "Amp",
        signs: &[Place::Dot("amp")],
        user: user(&[Place::Dot("amp/settings.json")], &AMP),
        project: project(&[Place::Project(".amp/settings.json")], &AMP),
        by_hand: None,
        instructions: AGENTS,
        skills: Notes { user: &[], project: Some(SKILL) },
        start: USUAL,
    },
    Client {
        name: "goose",
        title: "Goose",
        signs: &[Place::Dot("goose")],
        user: None,
        project: None,
        by_hand: Some(("~/.config/goose/config.yaml", &GOOSE)),
        instructions: notes(&[], ".goosehints"),
        skills: NO_NOTES,
        start: USUAL,
    },
    Client {
        name: "jetbrains",
        title: "JetBrains AI Assistant",
        signs: &[Place::Platform("JetBrains")],
        user: None,
        project: None,
        by_hand: Some(("Settings, Tools, AI Assistant, Model Context Protocol, Add, As JSON", &MCP_SERVERS)),
        instructions: NO_NOTES,
        skills: NO_NOTES,
        start: USUAL,
    },
];

/// The user's folders and variables, which determine file locations.
pub(crate) struct Surroundings<'a> {
    pub(crate) home: PathBuf,
    /// The root of the project, for a project setup.
    pub(crate) project: Option<&'a Path>,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl Surroundings<'_> {
    /// The path of a location; `None` if it does not exist on this system.
    fn path(&self, place: Place) -> Option<PathBuf> {
        let dot = || {
            let named = (self.variable)("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
            named.unwrap_or_else(|| self.home.join(".config"))
        };
        Some(match place {
            Place::Home(path) => self.home.join(path),
            Place::Dot(path) => dot().join(path),
            Place::Platform(path) if cfg!(target_os = "macos") => {
                self.home.join("Library/Application Support").join(path)
            }
            Place::Platform(path) if cfg!(windows) => (self.variable)("APPDATA")?.join(path),
            Place::Platform(path) => dot().join(path),
            Place::Below(variable, path) => (self.variable)(variable)?.join(path),
            Place::Named(variable) => (self.variable)(variable)?,
            Place::Project(path) => self.project?.join(path),
        })
    }

    /// The path of a configuration file.
    pub(crate) fn file(&self, spot: &Spot) -> Option<PathBuf> {
        self.first(spot.files)
    }

    fn first(&self, places: &[Place]) -> Option<PathBuf> {
        // A variable determines the client's location, even if nothing exists there yet.
        let named = places.iter().filter(|place| matches!(place, Place::Below(..) | Place::Named(_)));
        if let Some(path) = named.filter_map(|place| self.path(*place)).next() {
            return Some(path);
        }
        let paths: Vec<PathBuf> = places.iter().filter_map(|place| self.path(*place)).collect();
        let there = paths.iter().find(|path| path.symlink_metadata().is_ok()).cloned();
        there.or_else(|| paths.into_iter().next())
    }

    /// The path of an instruction file.
    pub(super) fn note(&self, notes: &Notes) -> Option<PathBuf> {
        match self.project {
            Some(root) => notes.project.map(|path| root.join(path)),
            None => self.first(notes.user),
        }
    }

    /// Whether a client is installed.
    pub(crate) fn has(&self, client: &Client) -> bool {
        client.signs.iter().filter_map(|place| self.path(*place)).any(|path| path.exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_name_of_its_own_a_sign_and_a_way_in() {
        let mut names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CLIENTS.len());
        for client in CLIENTS {
            assert!(!client.signs.is_empty(), "{}", client.name);
            assert!(client.user.is_some() != client.by_hand.is_some(), "{}", client.name);
            assert!(client.project.is_none_or(|spot| spot.travels), "{}: project files are shared", client.name);
        }
    }

    fn place_text(place: Place) -> String {
        match place {
            Place::Home(path) => format!("`~/{path}`"),
            Place::Dot(path) => format!("`~/.config/{path}`"),
            Place::Platform(path) => format!("`{path}` in the platform's configuration folder"),
            Place::Below(variable, path) => format!("`${variable}/{path}`"),
            Place::Named(variable) => format!("`${variable}`"),
            Place::Project(path) => format!("`{path}`"),
        }
    }

    fn places_text(places: &[Place]) -> String {
        let texts: Vec<String> = places.iter().map(|place| place_text(*place)).collect();
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
            let spot = |spot: &Option<Spot>| spot.map_or("–".into(), |spot| places_text(spot.files));
            let user = match client.by_hand {
                Some((place, _)) => format!("printed only: {place}"),
                None => spot(&client.user),
            };
            let notes = |notes: &Notes| {
                let project = notes.project.map_or("–".into(), |path| format!("`{path}`"));
                format!("{}; {project}", places_text(notes.user))
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
            let mut tells: Vec<String> = start.tells.map(|name| format!("`{name}`")).into_iter().collect();
            tells.extend(start.roots.then(|| "roots".to_owned()));
            let silent = if start.says() { "–" } else { "nothing; its agent must name it (`workspace`)" };
            let tells = if tells.is_empty() { silent.into() } else { tells.join(", ") };
            let passes = start.passes.map_or("everything".into(), |names| format!("only `{}`", names.join("`, `")));
            page += &format!("| {} | {folder} | {tells} | {passes} |\n", client.title);
        }
        page
    }

    #[test]
    fn the_page_about_clients_is_what_the_table_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
        codecompass_testkit::expect_file(&path, &page());
    }

    #[test]
    fn a_variable_says_where_a_file_is_before_anything_else() {
        let none = |_: &str| None;
        let some = |name: &str| (name == "CODEX_HOME").then(|| PathBuf::from("/elsewhere"));
        let codex = CLIENTS.iter().find(|client| client.name == "codex").expect("codex is in the table");
        let spot = codex.user.as_ref().expect("codex has a user file");
        let at = |variable: &dyn Fn(&str) -> Option<PathBuf>| {
            Surroundings { home: "/home/x".into(), project: None, variable }.file(spot)
        };
        assert_eq!(at(&none), Some("/home/x/.codex/config.toml".into()));
        assert_eq!(at(&some), Some("/elsewhere/config.toml".into()));
    }
}

//! The clients that can be set up: the locations of their files, the format of an entry, and how they start a server.
//!
//! One table row per client drives `setup`, `unsetup`, `doctor --client` and `docs/clients.md`. The data comes from the
//! clients' own documentation and sources.

mod formats;
#[cfg(test)]
mod page;
mod table;

use std::path::{Path, PathBuf};

pub use table::CLIENTS;

use codecompass_workspace::launch::resolve_program;

/// The name of our entry in every client.
pub const ENTRY_NAME: &str = "codecompass";

/// A client.
pub struct Client {
    /// Its name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// The client is installed if one of these exists,
    pub(super) markers: &'static [FileLocation],
    /// or if one of these is on `PATH`. A client creates its folder only when it first runs.
    pub(super) programs: &'static [Program],
    /// The file for all projects; `None` if the entry can only be printed.
    pub user: Option<ConfigFile>,
    /// The file for one project.
    pub project: Option<ConfigFile>,
    /// The entry to add manually, if no file is edited.
    pub(super) by_hand: Option<(&'static str, &'static EntryFormat)>,
    pub(super) instructions: InstructionFiles,
    pub(super) skills: InstructionFiles,
    /// The effect of an entry without trust, if the client's entries have such a field.
    pub(super) without_trust: Option<&'static str>,
    pub start: StartBehavior,
}

/// A configuration file with server entries.
#[derive(Clone, Copy)]
pub struct ConfigFile {
    /// The first existing file of these, or else the first possible one.
    pub(super) files: &'static [FileLocation],
    pub shape: &'static EntryFormat,
    /// Whether the file is shared with other machines: it must not contain anything specific to this one.
    pub(super) is_committed: bool,
    /// Whether the client has to create the file: with one of ours, it would do without its first setup.
    pub(super) needs_file: bool,
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

/// A program whose presence on `PATH` shows that a client is installed. It is looked up, never run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Program {
    /// No other program in common use has this name.
    Unique(&'static str),
    /// Other programs have this name, too, so the path that its links lead to has to contain one of these parts.
    Inside(&'static str, &'static [&'static str]),
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
pub struct EntryFormat {
    pub(super) syntax: Syntax,
    /// The keys that lead to the entries.
    pub(super) servers: &'static [&'static str],
    pub(super) listing: Listing,
    pub(super) fields: &'static [Field],
    /// Lists elsewhere in the file that have to name our server. Only TOML files have any.
    pub(super) lists: &'static [ListElement],
}

/// How a file distinguishes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// Each is below its name.
    Keyed,
    /// Each is an item of a list, with its name in this field.
    Named(&'static str),
}

/// A word in a list of the client's settings.
#[derive(Debug)]
pub(super) struct ListElement {
    pub(super) path: &'static [&'static str],
    pub(super) element: &'static str,
    /// The first version of a program that starts with this setting.
    pub(super) since: (&'static str, (u32, u32)),
    /// The effect of the setting, for a note if it cannot be written.
    pub(super) purpose: &'static str,
    /// How to add it manually.
    pub(super) by_hand: &'static str,
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
    /// Lets the client run our tools without asking; only on request, and only in the user's own file.
    Trust(&'static str),
    /// The variables to pass on to it, if the entry does not set the data folder itself.
    Passed(&'static str, &'static [&'static str]),
}

/// How a client starts a server.
pub struct StartBehavior {
    /// The variables that it passes on; `None` for all.
    pub passes: Option<&'static [&'static str]>,
    /// The working folder of the server.
    pub folder: Folder,
    /// The variable that names the open folder.
    pub project_variable: Option<&'static str>,
    /// Whether it answers `roots/list`.
    pub roots: bool,
}

impl StartBehavior {
    /// Whether a server can know the open folder without a `workspace` argument in each request.
    pub fn reports_folder(&self) -> bool {
        self.folder == Folder::Project || self.project_variable.is_some() || self.roots
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// The project folder.
    Project,
    /// The root of the file system.
    Root,
    /// The user's home folder.
    Home,
}

/// The user's folders and variables, which determine file locations.
pub struct Environment<'a> {
    pub home: PathBuf,
    /// The root of the project, for a project setup.
    pub project: Option<&'a Path>,
    pub variable: &'a dyn Fn(&str) -> Option<PathBuf>,
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
    pub fn config_file(&self, spot: &ConfigFile) -> Option<PathBuf> {
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
    pub fn is_installed(&self, client: &Client) -> bool {
        client.markers.iter().filter_map(|place| self.resolve(*place)).any(|path| path.exists())
            || client.programs.iter().any(|program| self.has_program(*program))
    }

    fn has_program(&self, program: Program) -> bool {
        match program {
            Program::Unique(name) => self.program_path(name).is_some(),
            Program::Inside(name, parts) => self.program_path(name).is_some_and(|path| {
                let path = path.to_string_lossy().replace('\\', "/");
                parts.iter().any(|part| path.contains(part))
            }),
        }
    }

    /// Whether the installed program is known to be older than this version. Nothing is run: the version is that of the
    /// package around the program, or of the folder that a package manager made for it.
    pub(super) fn is_older(&self, (name, (major, minor)): (&str, (u32, u32))) -> bool {
        let Some(path) = self.program_path(name) else { return false };
        let package = path.ancestors().skip(1).take(3).find_map(|folder| {
            let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
            parse_version(serde_json::from_str::<serde_json::Value>(&text).ok()?.get("version")?.as_str()?)
        });
        let words: Vec<_> = path.iter().map(|word| word.to_string_lossy()).collect();
        let folder = || {
            let mut pairs = words.iter().zip(words.iter().skip(1));
            pairs.find_map(|(before, word)| parse_version(word).filter(|_| before.contains(name)))
        };
        package.or_else(folder).is_some_and(|version| version < (major, minor))
    }

    /// The real path of a program on `PATH`.
    fn program_path(&self, name: &str) -> Option<PathBuf> {
        let path = (self.variable)("PATH")?;
        let find = |name: &str| resolve_program(name, Some(path.as_os_str()));
        // Package managers of Windows install scripts.
        find(name).or_else(|| find(&format!("{name}.cmd")).filter(|_| cfg!(windows)))
    }
}

/// The first two numbers of a version.
fn parse_version(word: &str) -> Option<(u32, u32)> {
    let mut numbers = word.split('.').map(|number| number.parse::<u32>().ok());
    Some((numbers.next()??, numbers.next()??))
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

    #[test]
    fn versions_are_read_beside_the_program() {
        let folder = tempfile::TempDir::new().expect("a temporary folder can be created");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be created");
            std::fs::write(path, text).expect("it can be written");
        };
        let is_older = |bin: &str| {
            let bin = folder.path().join(bin);
            let variable = |name: &str| (name == "PATH").then(|| bin.clone());
            Environment { home: "/home/x".into(), project: None, variable: &variable }.is_older(("codex", (0, 142)))
        };
        write("npm/codex/bin/codex", "");
        assert!(!is_older("npm/codex/bin"), "an unknown version is not old");
        write("npm/codex/package.json", "{\"version\": \"0.141.0\"}");
        assert!(is_older("npm/codex/bin"));
        write("npm/codex/package.json", "{\"version\": \"0.142.0-alpha.1\"}");
        assert!(!is_older("npm/codex/bin"));
        write("Caskroom/codex/0.99.0/codex", "");
        assert!(is_older("Caskroom/codex/0.99.0") && !is_older("nowhere"));
    }
}

//! What a client does with our entries, read from the files that the client itself reads.
//!
//! A client does not use every entry that is in its files: one scope overrides another, a folder has to be trusted, a
//! server can be disabled, and tools can be hidden. There is one file per family of clients; each follows what the real
//! program does, which `docs/setup.md` describes. Nothing here starts a program or writes a file.

mod claude;
mod codex;
mod copilot;
mod flags;
mod gemini;
mod grok;
mod opencode;
pub mod restart;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::clients::ENTRY_NAME;
use super::clients::{Client, EntryFormat, Environment, Syntax};
use super::{content, display_path, existing_entry, file, jsonc, toml_text};

/// How serious a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The client works, with a limitation that the user may not expect.
    Note,
    /// The client does not use the server.
    Problem,
}

/// A remark about the state of a client, and how to fix it.
#[derive(Debug)]
pub struct Remark {
    pub severity: Severity,
    pub message: String,
    pub fix: Option<String>,
}

/// Whose entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The user's, for all projects.
    User,
    /// The project's, shared with its other users.
    Project,
    /// The user's, for this project only.
    Local,
}

/// An entry of ours in a file of a client.
pub struct FoundEntry {
    pub file: PathBuf,
    pub shape: &'static EntryFormat,
    pub value: Value,
    scope: Scope,
}

/// The locations that decide which files a client reads.
pub struct ClientPlace<'a> {
    /// The user's folders and variables.
    pub user: Environment<'a>,
    /// The folder that the client is opened in.
    pub folder: &'a Path,
    /// The root of the repository, if the folder is in one.
    pub project: Option<&'a Path>,
    /// The root of the file system, which has the files of administrators.
    pub system: &'a Path,
    /// The tools that we offer by default.
    pub tools: &'a [&'static str],
}

impl ClientPlace<'_> {
    /// The root of the repository, otherwise the open folder.
    fn root(&self) -> &Path {
        self.project.unwrap_or(self.folder)
    }

    /// The root, and the root of the main work tree if this is a linked one.
    fn roots(&self) -> Vec<PathBuf> {
        let root = self.root();
        std::iter::once(root.to_owned()).chain(main_worktree(root)).collect()
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        (self.user.variable)(name)
    }

    /// A path with `~` for the home folder.
    pub fn short(&self, path: &Path) -> String {
        display_path(path, &self.user.home)
    }
}

/// The root of the main work tree of a linked one, whose `.git` is a file that names a folder of the repository.
fn main_worktree(root: &Path) -> Option<PathBuf> {
    let text = file::read(&root.join(".git")).ok()??;
    let folder = Path::new(text.strip_prefix("gitdir:")?.trim());
    let repository = folder.ancestors().nth(2).filter(|path| path.file_name().is_some_and(|name| name == ".git"))?;
    repository.parent().map(Path::to_owned)
}

/// The state of a client: the entries it uses, and remarks about them.
pub struct ClientState {
    /// The entries that the client uses or, if there is none, that it would use without the reported problems.
    pub entries: Vec<FoundEntry>,
    pub remarks: Vec<Remark>,
    /// The client's own file, whether or not it exists.
    user_file: Option<PathBuf>,
    /// The format of entries in that file.
    shape: Option<&'static EntryFormat>,
    unreadable: BTreeSet<PathBuf>,
}

impl ClientState {
    /// Reads the state of a client.
    pub fn read(client: &Client, place: &ClientPlace<'_>) -> Self {
        let mut state = Self {
            entries: Vec::new(),
            remarks: Vec::new(),
            user_file: client.user.and_then(|spot| place.user.config_file(&spot)),
            shape: client.user.map(|spot| spot.shape),
            unreadable: BTreeSet::new(),
        };
        state.find_entries(client, place);
        match client.name {
            "claude-code" => claude::examine(&mut state, place),
            "codex" => codex::examine(&mut state, place),
            "copilot" => copilot::examine(&mut state, place),
            "gemini" => gemini::examine(&mut state, place, &gemini::GEMINI),
            "grok" => grok::examine(&mut state, place),
            "kilo" => opencode::examine(&mut state, place, &opencode::KILO),
            "opencode" => opencode::examine(&mut state, place, &opencode::OPENCODE),
            "qwen" => gemini::examine(&mut state, place, &gemini::QWEN),
            name => flags::examine(&mut state, place, name),
        }
        state
    }

    /// Finds the entries in the files of the table.
    fn find_entries(&mut self, client: &Client, place: &ClientPlace<'_>) {
        let project =
            Environment { home: place.user.home.clone(), project: place.project, variable: place.user.variable };
        let user = (client.user, &place.user, Scope::User);
        for (spot, around, scope) in
            [user, (client.project.filter(|_| place.project.is_some()), &project, Scope::Project)]
        {
            let Some(spot) = spot else { continue };
            let Some(path) = around.config_file(&spot) else { continue };
            match existing_entry(spot.shape, &path) {
                Ok(None) => {}
                Ok(Some(value)) => self.entries.push(FoundEntry { file: path, shape: spot.shape, value, scope }),
                Err(why) => self.report_unreadable(&path, &why, place),
            }
        }
    }

    /// Whether a file of the client could not be read, so that it may have an entry.
    pub fn has_unreadable_file(&self) -> bool {
        !self.unreadable.is_empty()
    }

    fn report_unreadable(&mut self, path: &Path, why: &str, place: &ClientPlace<'_>) {
        if self.unreadable.insert(path.to_owned()) {
            self.problem(format!("{}: {why}", place.short(path)), "fix the file manually");
        }
    }

    fn problem(&mut self, message: impl Into<String>, fix: impl Into<String>) {
        self.remarks.push(Remark { severity: Severity::Problem, message: message.into(), fix: Some(fix.into()) });
    }

    fn note(&mut self, message: impl Into<String>, fix: Option<String>) {
        self.remarks.push(Remark { severity: Severity::Note, message: message.into(), fix });
    }

    /// A note about a client that works; with a problem, it would only distract.
    fn advise(&mut self, message: impl Into<String>, fix: impl Into<String>) {
        if self.remarks.iter().all(|remark| remark.severity == Severity::Note) {
            self.note(message, Some(fix.into()));
        }
    }

    /// The content of a file as JSON; null if it does not exist or cannot be read, which is reported.
    fn load(&mut self, path: &Path, syntax: Syntax, place: &ClientPlace<'_>) -> Value {
        let parsed = match file::read(path) {
            Ok(None) => return Value::Null,
            Err(error) => Err(error.to_string()),
            Ok(Some(text)) if syntax == Syntax::Toml => {
                toml_text::parse(&text).map(|table| content::toml_to_json(&table))
            }
            // Some clients leave an empty file.
            Ok(Some(text)) if text.trim().is_empty() => return Value::Null,
            Ok(Some(text)) => jsonc::parse(&text).map(|root| root.value()),
        };
        parsed.unwrap_or_else(|why| {
            self.report_unreadable(path, &format!("it cannot be read: {why}"), place);
            Value::Null
        })
    }

    fn load_json(&mut self, path: &Path, place: &ClientPlace<'_>) -> Value {
        self.load(path, Syntax::Json, place)
    }

    fn load_toml(&mut self, path: &Path, place: &ClientPlace<'_>) -> Value {
        self.load(path, Syntax::Toml, place)
    }

    fn entry(&self, scope: Scope) -> Option<&FoundEntry> {
        self.entries.iter().find(|entry| entry.scope == scope)
    }

    /// Uses the entry of one scope and drops the others, which it overrides.
    fn use_only(&mut self, scope: Scope, place: &ClientPlace<'_>) {
        let used = self.entry(scope).map(|entry| place.short(&entry.file));
        let dropped: Vec<String> = self
            .entries
            .iter()
            .filter(|entry| entry.scope != scope)
            .map(|entry| place.short(&entry.file))
            .filter(|file| Some(file) != used.as_ref())
            .collect();
        if let Some(used) = used.filter(|_| !dropped.is_empty()) {
            self.note(format!("{used} overrides the entry in {}", dropped.join(" and ")), None);
        }
        self.entries.retain(|entry| entry.scope == scope);
    }

    /// Replaces the entries with one that has the fields of all of them; later ones take precedence.
    fn merge_entries(&mut self) {
        while self.entries.len() > 1 {
            let mut stronger = self.entries.remove(1);
            let mut value = self.entries[0].value.take();
            merge(&mut value, stronger.value.take());
            stronger.value = value;
            self.entries[0] = stronger;
        }
    }

    /// Reports a project's entry that the client does not read: a problem if it is the only one.
    fn ignore_project(&mut self, why: &str, fix: &str, place: &ClientPlace<'_>) {
        let Some(entry) = self.entry(Scope::Project) else { return };
        let message = format!("{} is not used: {why}", place.short(&entry.file));
        if self.entries.len() == 1 {
            self.problem(message, fix);
        } else {
            self.entries.retain(|entry| entry.scope != Scope::Project);
            self.note(message, Some(fix.to_owned()));
        }
    }

    /// Reports a server that is switched off in its entry, by a field with this value.
    fn check_switch(&mut self, field: &str, off: bool, place: &ClientPlace<'_>) {
        let is_off = |entry: &&FoundEntry| entry.value.get(field) == Some(&json!(off));
        let file = self.entries.iter().find(is_off).map(|entry| place.short(&entry.file));
        if let Some(file) = file {
            self.problem(
                format!("disabled: the entry in {file} has {field} = {off}"),
                format!("remove `{field}` there"),
            );
        }
    }

    /// Reports the tools that the client hides from the model.
    fn check_tools(&mut self, what: &str, place: &ClientPlace<'_>, is_hidden: impl Fn(&str) -> bool) {
        let hidden: Vec<&str> = place.tools.iter().copied().filter(|name| is_hidden(name)).collect();
        if hidden.len() == place.tools.len() {
            self.problem(format!("{what} hides all tools"), "remove that setting");
        } else if !hidden.is_empty() {
            self.note(format!("{what} hides {}", hidden.join(", ")), None);
        }
    }

    /// Reports tools that an entry hides with a list of those to offer and one of those to hide.
    fn check_tool_lists(&mut self, offered: &str, hidden: &str, place: &ClientPlace<'_>) {
        let Some(entry) = self.entries.last() else { return };
        let (offered_tools, hidden_tools) = (words(&entry.value[offered]), words(&entry.value[hidden]));
        let is_listed = entry.value[offered].is_array();
        let is_hidden = |tool: &str| {
            (is_listed && !offered_tools.iter().any(|name| name == tool))
                || hidden_tools.iter().any(|name| name == tool)
        };
        let what = if is_listed { offered } else { hidden };
        self.check_tools(&format!("`{what}` in {ENTRY_NAME}'s entry"), place, is_hidden);
    }
}

/// The texts of a list; empty if it is none.
fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Whether a list has this text.
fn has_word(value: &Value, wanted: &str) -> bool {
    value.as_array().is_some_and(|words| words.iter().any(|word| word == wanted))
}

/// Whether a list has our name.
fn has_name(value: &Value) -> bool {
    has_word(value, ENTRY_NAME)
}

/// Adds the members of another value, which take precedence.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[cfg(test)]
mod tests;

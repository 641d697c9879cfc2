//! Which workspace a text call without `workspace` is about.
//!
//! An agent does not name the repository it works in. It may work in another worktree of the repository, or in a plain
//! folder that holds several clones. Its arguments, and the folder that its client reports with the call, say more than
//! the folder that the server was started in:
//!
//! - Paths in the arguments that lie in another worktree of the repository: the call is about that worktree.
//! - A folder that the client reports with the call (Codex does): the call is about its work tree.
//! - A folder that holds repositories: the call is about the one that `workspace` or a path names; otherwise every
//!   repository is asked, and the answers follow each other.
//!
//! This is for text answers only: in JSON, the contracts say which workspace answers.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecompass_index::source::{Located, real_path};
use serde_json::{Map, Value};

use super::Server;
use codecompass_tools::bounds::MAX_TEXT;
use codecompass_tools::call::host::{Connection, UnknownWorkspace};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::Answer;
use codecompass_workspace::session;

/// The maximum number of repositories that one call is answered for. As many workspaces may be open by request.
pub(super) const MAX_ANSWERING: usize = 10;

/// How long a listing of the repositories in a folder is used. A clone appears within this time.
const LISTING_LIFETIME: Duration = Duration::from_secs(5);

/// The depth at which repositories are searched: `live/helix` and `live/group/helix`.
const MAX_DEPTH: usize = 2;

/// The maximum number of folder entries that are read.
const MAX_ENTRIES: usize = 5_000;

/// The maximum number of roots that clients may use because they were found here.
const MAX_GRANTED: usize = 256;

/// The parameters whose values may be paths.
const PATH_PARAMETERS: [&str; 7] = ["path", "paths", "path_filter", "what", "symbol", "name", "file"];

/// Folders that hold installed packages, not clones.
const NOT_SEARCHED: [&str; 3] = ["node_modules", "vendor", "target"];

/// The errors that mean that a repository does not have what was asked for.
const NOTHING_FOUND: [Code; 2] = [Code::SymbolNotFound, Code::FileNotFound];

/// The maximum number of repositories that are named although they were not asked.
const MAX_NAMED: usize = 20;

/// A repository in the folder that a client works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// Its path from that folder; the name of the folder for the folder itself.
    pub(super) name: String,
    /// Its root; `None` for the folder itself.
    pub(super) root: Option<PathBuf>,
}

/// Where a call is answered.
pub(super) enum Place {
    /// In the workspace that it names, or the server's own.
    AsAsked,
    /// In this work tree.
    Workspace(PathBuf),
    /// In all repositories of a folder.
    Repositories(PathBuf, Vec<Repository>),
}

/// What a server knows about places.
#[derive(Default)]
pub(super) struct Places {
    listing: Mutex<Option<(PathBuf, Instant, Vec<Repository>)>>,
    granted: Mutex<HashSet<PathBuf>>,
}

impl Places {
    /// Whether a root may be opened although it is not registered: it lies where the client works.
    pub(super) fn is_granted(&self, root: &Path) -> bool {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).contains(root)
    }

    /// Allows a root. Returns `false` if it was allowed before, or there are too many.
    fn grant(&self, root: &Path) -> bool {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.len() < MAX_GRANTED && granted.insert(root.to_owned())
    }

    /// The repositories in a plain folder, read again after some time.
    fn repositories(&self, folder: &Path) -> Vec<Repository> {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, at, found)) = &*listing
            && of == folder
            && at.elapsed() < LISTING_LIFETIME
        {
            return found.clone();
        }
        let found = find_repositories(folder);
        *listing = Some((folder.to_owned(), Instant::now(), found.clone()));
        found
    }
}

/// The answers of several repositories, one after the other.
#[derive(Default)]
pub(super) struct JoinedAnswers {
    sections: String,
    nothing_in: Vec<String>,
    lines: Vec<String>,
}

impl JoinedAnswers {
    /// Adds what a repository answered. An error in the arguments is the same for all of them.
    pub(super) fn add(
        &mut self,
        name: &str,
        answer: Result<Answer, AppError>,
        is_indexing: impl FnOnce() -> bool,
    ) -> Result<(), AppError> {
        match answer {
            Ok(answer) if answer.code == 0 => {
                let _ = write!(self.sections, "\n# {}\n{}\n", escape_control(name), answer.text.trim_end());
            }
            Ok(answer) if answer.code == Code::IndexNotReady.exit_code() => {
                self.lines.push(format!("{name}: {}", answer.text.trim_end()));
            }
            Err(error) if error.code == Code::InvalidInput => return Err(error),
            Err(error) if !NOTHING_FOUND.contains(&error.code) => self.lines.push(format!("{name}: {}", error.message)),
            _ if is_indexing() => self.lines.push(format!("{name}: being indexed, ask again in a moment")),
            _ => self.nothing_in.push(name.to_owned()),
        }
        Ok(())
    }

    /// The answer for the folder.
    pub(super) fn finish(self, folder: &Path, not_asked: &[Repository]) -> Answer {
        let mut lines = vec![format!("{} holds several repositories; `workspace` names one.", folder.display())];
        if !self.nothing_in.is_empty() {
            lines.push(format!("Nothing found in {}.", self.nothing_in.join(", ")));
        }
        lines.extend(self.lines);
        if !not_asked.is_empty() {
            let names: Vec<&str> = not_asked.iter().take(MAX_NAMED).map(|repository| &*repository.name).collect();
            let more = if not_asked.len() > MAX_NAMED { ", …" } else { "" };
            lines.push(format!("Not asked: {}{more}.", names.join(", ")));
        }
        let mut text: String = lines.iter().map(|line| escape_control(line).into_owned() + "\n").collect();
        text.push_str(&self.sections);
        Answer { text, json: Value::Null, code: u8::from(self.sections.is_empty()) }
    }
}

impl Server {
    /// The repositories in the folder that the client works in, if it is a plain folder that holds some.
    pub(super) fn repositories(&self) -> Option<(PathBuf, Vec<Repository>)> {
        if self.options.own_workspace_only {
            return None;
        }
        let own = real_path(&self.own_path()?).ok()?;
        let (found, _) = session::locate(&self.data, &own).ok()?;
        if found.is_repository || found.root != own {
            return None;
        }
        let repositories = self.places.repositories(&own);
        repositories.iter().any(|repository| repository.root.is_some()).then_some((own, repositories))
    }

    /// Indexes the repositories in the folder that the client works in, those of a call first in line: as many as
    /// answer. Returns whether there are any.
    pub(super) fn index_repositories(self: &Arc<Self>) -> bool {
        let Some((_, repositories)) = self.repositories() else { return false };
        for root in repositories.iter().take(MAX_ANSWERING).filter_map(|repository| repository.root.as_deref()) {
            self.index_place(root);
        }
        true
    }

    /// Allows a work tree to be opened and, with `--auto-index`, indexes it if that was never done.
    fn index_place(self: &Arc<Self>, root: &Path) {
        if !self.options.auto_index || !self.places.grant(root) {
            return;
        }
        let visit = self.workspaces.acquire(self, root.to_str(), UnknownWorkspace::Workspace);
        if let Err(error) = visit.and_then(|visit| self.index_if_missing(&visit)) {
            self.log(0, || format!("error: {}: {}", root.display(), error.message));
        }
    }

    /// Finds out where a call is answered, and makes paths in its arguments relative to that.
    pub(super) fn place_of(self: &Arc<Self>, arguments: &mut Map<String, Value>, client_folders: &[PathBuf]) -> Place {
        if self.options.own_workspace_only {
            return Place::AsAsked;
        }
        let folder = self.repositories();
        if let Some(asked) = arguments.get("workspace").and_then(Value::as_str).filter(|asked| !asked.is_empty()) {
            let member = folder.as_ref().and_then(|(folder, members)| named_repository(folder, members, asked));
            return member.map_or(Place::AsAsked, |root| self.member_place(root));
        }
        if let Some((folder, members)) = folder {
            return match repository_of_paths(&members, arguments) {
                Some(root) => self.member_place(root),
                None => {
                    let named =
                        client_folders.iter().find_map(|named| named_repository(&folder, &members, named.to_str()?));
                    match named {
                        Some(root) => self.member_place(root),
                        None => Place::Repositories(folder, members),
                    }
                }
            };
        }
        let Some(own) = self.own_path().and_then(|own| session::locate(&self.data, &own).ok()) else {
            return Place::AsAsked;
        };
        let located = |path: &Path| session::locate(&self.data, path).ok();
        let is_other_worktree = |found: &Located| found.project_key == own.0.project_key && found.root != own.0.root;
        let mut by_path =
            absolute_folders(arguments).into_iter().filter_map(|path| located(&path)).map(|(found, _)| found);
        if let Some(found) = by_path.find(is_other_worktree) {
            return Place::Workspace(found.root);
        }
        let reported: Vec<(Located, bool)> = client_folders.iter().filter_map(|folder| located(folder)).collect();
        if reported.iter().any(|(found, _)| found.root == own.0.root) {
            return Place::AsAsked;
        }
        let Some((found, is_registered)) = reported.into_iter().next() else { return Place::AsAsked };
        // A fixed workspace may only change to another worktree of the same repository.
        if found.project_key != own.0.project_key && self.has_own_workspace() {
            return Place::AsAsked;
        }
        if !is_registered {
            self.index_place(&found.root);
        }
        let can_answer = is_registered || self.options.auto_index;
        if can_answer { Place::Workspace(found.root) } else { Place::AsAsked }
    }

    /// Whether a job of a workspace that calls have opened is running.
    pub(super) fn is_indexing(&self, root: Option<&Path>) -> bool {
        let visit = self.workspaces.last_acquired(root.and_then(Path::to_str));
        visit.is_some_and(|visit| self.jobs.has_jobs(&visit.workspace.session.project_id))
    }

    fn member_place(self: &Arc<Self>, root: PathBuf) -> Place {
        self.index_place(&root);
        Place::Workspace(root)
    }

    /// A line that says which work tree was answered for, if that differs from what the client may believe: the
    /// previous answer of the connection was for another one, or the client reports another folder.
    pub(super) fn place_note(
        &self,
        place: Option<&Path>,
        reported: &[PathBuf],
        connection: &Connection,
    ) -> Option<String> {
        let own = || session::locate(&self.data, &self.own_path()?).ok().map(|(found, _)| found.root);
        let answered = place.map(Path::to_owned).or_else(own)?;
        let located = |folder: &PathBuf| session::locate(&self.data, folder).ok().map(|(found, _)| found.root);
        let reported: Vec<PathBuf> = reported.iter().filter_map(located).collect();
        let elsewhere = reported.first().filter(|_| !reported.contains(&answered));
        let is_moved = connection.answers_for(&answered, place.is_none());
        let is_unexpected = elsewhere.is_some_and(|folder| connection.reports_other_folder(folder));
        if !is_moved && !is_unexpected {
            return None;
        }
        let instead = elsewhere.map(|other| format!(", not for {}", other.display())).unwrap_or_default();
        Some(escape_control(&format!("Answered for {}{instead}.", answered.display())).into_owned() + "\n")
    }
}

/// The repository that a name or path means.
fn named_repository(folder: &Path, members: &[Repository], asked: &str) -> Option<PathBuf> {
    let asked = asked.trim_end_matches('/');
    let by_name = members.iter().find(|member| member.name == asked);
    let by_last_name = || {
        let mut same = members.iter().filter(|member| member.name.rsplit('/').next() == Some(asked));
        same.next().filter(|_| same.next().is_none())
    };
    if let Some(member) = by_name.or_else(by_last_name) {
        return member.root.clone();
    }
    let path = real_path(&folder.join(asked)).ok()?;
    members.iter().find_map(|member| member.root.clone().filter(|root| path.starts_with(root)))
}

/// The repository that the first path in the arguments lies in. Paths from the folder are made relative to it.
fn repository_of_paths(members: &[Repository], arguments: &mut Map<String, Value>) -> Option<PathBuf> {
    let in_member = |text: &str| {
        if Path::new(text).is_absolute() {
            let path = real_path(&existing_path(text)?).ok()?;
            return members.iter().find(|member| member.root.as_ref().is_some_and(|root| path.starts_with(root)));
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        let rest = |member: &&Repository| text.strip_prefix(&member.name).is_some_and(|rest| rest.starts_with('/'));
        members.iter().filter(|member| member.root.is_some()).find(rest)
    };
    let texts = path_arguments(arguments);
    let member = texts.iter().find_map(|text| in_member(text))?;
    let (root, prefix) = (member.root.clone()?, format!("{}/", member.name));
    // A path in another repository stays, and its error says where the call was answered.
    let relative = |text: &mut String| {
        let plain = text.strip_prefix("./").unwrap_or(text);
        let is_here = |path: &str| existing_path(&root.join(path).to_string_lossy()).is_some();
        // A repository may have a folder of its own name.
        if let Some(rest) = plain.strip_prefix(&prefix).filter(|rest| is_here(rest) || !is_here(plain)) {
            *text = rest.to_owned();
        }
    };
    for name in PATH_PARAMETERS {
        match arguments.get_mut(name) {
            Some(Value::String(text)) => relative(text),
            Some(Value::Array(list)) => {
                for item in list {
                    if let Value::String(text) = item {
                        relative(text);
                    }
                }
            }
            _ => {}
        }
    }
    Some(root)
}

/// The texts in the arguments that may be paths.
fn path_arguments(arguments: &Map<String, Value>) -> Vec<&str> {
    let values = PATH_PARAMETERS.iter().filter_map(|name| arguments.get(*name));
    let texts = values.flat_map(|value| match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).take(16).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    });
    texts.filter(|text| !text.is_empty() && text.len() <= MAX_TEXT).collect()
}

/// The folders of the absolute paths in the arguments.
fn absolute_folders(arguments: &Map<String, Value>) -> Vec<PathBuf> {
    let absolute = path_arguments(arguments).into_iter().filter(|text| Path::new(text).is_absolute());
    let folder = |path: PathBuf| if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) };
    absolute.filter_map(existing_path).filter_map(folder).collect()
}

/// The file or folder that a text starts with: `a.rs`, `a.rs:10`, `a.rs#L10`, `src/*.rs`.
fn existing_path(text: &str) -> Option<PathBuf> {
    let cut = text.find(['#', '*', '?', '{']).map_or(text, |at| &text[..at]);
    let without_line = cut.split_once(':').map_or(cut, |(path, _)| path);
    [cut, without_line].into_iter().map(PathBuf::from).find(|path| path.exists())
}

/// The repositories in a folder, sorted by name. Of several worktrees of one repository, the main one answers if it is
/// here, otherwise the first. The folder itself is the last one if it has files of its own.
fn find_repositories(folder: &Path) -> Vec<Repository> {
    let (mut roots, mut has_files, mut entries) = (Vec::new(), false, 0);
    let mut pending = vec![(folder.to_owned(), 1)];
    while let Some((parent, depth)) = pending.pop() {
        let Ok(listed) = fs::read_dir(&parent) else { continue };
        for entry in listed.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                break;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || NOT_SEARCHED.contains(&&*name) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_file() => has_files = true,
                Ok(kind) if kind.is_dir() && entry.path().join(".git").exists() => roots.push(entry.path()),
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => pending.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    let name = |root: &Path| {
        let path = root.strip_prefix(folder).unwrap_or(root).to_string_lossy();
        path.replace(std::path::MAIN_SEPARATOR, "/")
    };
    // The main worktree has a folder `.git`, the others a file.
    roots.sort_by_key(|root| (!root.join(".git").is_dir(), name(root)));
    let mut projects = HashSet::new();
    let is_first = |root: &PathBuf| {
        let located = codecompass_index::source::Workspace::locate(root, None).ok();
        located.is_some_and(|found| projects.insert(found.project_key))
    };
    let mut found: Vec<Repository> =
        roots.into_iter().filter(is_first).map(|root| Repository { name: name(&root), root: Some(root) }).collect();
    found.sort_by(|left, right| left.name.cmp(&right.name));
    if has_files && !found.is_empty() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(Repository { name, root: None });
    }
    found
}

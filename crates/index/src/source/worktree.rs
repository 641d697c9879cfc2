//! Lists the files of a work tree or plain folder.
//!
//! One parallel walk makes one lstat per file; git's index is read once. [`stat_paths`] gives a few known paths the
//! same status without a full walk. Folders and rule files are opened below the root without following links
//! (`beneath.rs`), so a walk does not leave the root even if the tree changes meanwhile.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use codecompass_model::SkipReason;
use ignore::gitignore::GitignoreBuilder;

use super::beneath::{self, Child, Kind, Refused, Root};
use super::bounds::Budget;
use super::rules::{
    Inherited, MAX_RULE_FILE_BYTES, RuleFile, RuleStack, RuleText, RuleTexts, Rules, patterns, push_level,
};
use super::tracked::{IndexRange, TrackedFiles, TrackedState};
use super::{ContentSource, Entry, FileStat, Limits, Listing, MAX_PATH_BYTES, SourceError, Workspace};

/// Lists the files of the workspace's folder: tracked files, and untracked ones that no rule excludes.
pub fn list_worktree(ws: &Workspace, limits: &Limits) -> Result<Listing, SourceError> {
    Walk::new(ws, limits)?.list()
}

/// Lists the files like [`list_worktree`]. Returns `None` if the deadline passes before the listing is complete.
pub fn list_worktree_by(ws: &Workspace, limits: &Limits, deadline: Instant) -> Result<Option<Listing>, SourceError> {
    let walk = Walk { deadline: Some(deadline), ..Walk::new(ws, limits)? };
    let listing = walk.list()?;
    Ok((Instant::now() < deadline).then_some(listing))
}

/// Checks only these relative paths, with the result that a full listing would have. Paths that are deleted, are not
/// files or lie outside have no entry. A skipped folder counts once, with its own path.
pub fn stat_paths(ws: &Workspace, paths: &[String], limits: &Limits) -> Result<Listing, SourceError> {
    let walk = match Walk::new(ws, limits) {
        Err(SourceError::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Listing::default());
        }
        walk => walk?,
    };
    let mut part = Listing::default();
    let mut folders = HashMap::from([(String::new(), Some(walk.with_rules(walk.root_folder())))]);
    let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        if !is_plain_relative(path) {
            continue;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(folder) = walk.folder_at(parent, &mut folders, &mut part) else {
            continue;
        };
        if let Ok((kind, stat)) = walk.beneath.folder(parent).and_then(|place| place.stat(OsStr::new(name)))
            && kind != Kind::Folder
        {
            walk.list_file(&folder, name, kind, || Ok(stat), &mut part);
        }
    }
    Ok(Listing::from_parts(vec![part]))
}

/// The state of a walk, and its results.
struct Walk<'a> {
    root: &'a Path,
    beneath: Root,
    limits: &'a Limits,
    budget: Budget,
    /// The error that ended the walk early.
    failure: OnceLock<SourceError>,
    rules: Rules,
    tracked: TrackedFiles,
    parts: Mutex<Vec<Listing>>,
    /// The walk stops at this time.
    deadline: Option<Instant>,
}

/// A folder to be listed.
#[derive(Clone)]
struct Folder {
    /// With the closing slash; empty for the root.
    path: String,
    /// The rules above it; after [`Walk::with_rules`], also its own.
    levels: RuleStack,
    inherited: Inherited,
    index_range: IndexRange,
}

impl<'a> Walk<'a> {
    fn new(ws: &'a Workspace, limits: &'a Limits) -> Result<Self, SourceError> {
        let mut excludes = Vec::new();
        let mut tracked = TrackedFiles::empty();
        if let Some(repo) = &ws.repo {
            if repo.is_bare() {
                return Err(SourceError::NoWorkTree { path: repo.git_dir().to_owned() });
            }
            tracked = TrackedFiles::read(&repo.git_dir().join("index"))?;
            let exclude = repo.common_dir().join("info/exclude");
            excludes.extend(patterns(&rule_text(beneath::read_file(&exclude, MAX_RULE_FILE_BYTES))));
            excludes.push(GitignoreBuilder::new(".").build_global().0);
        }
        let rules = Rules::new(limits, excludes)?;
        let beneath = Root::open(&ws.root).map_err(|error| SourceError::io(&ws.root, error))?;
        let (budget, failure) = (Budget::default(), OnceLock::new());
        let parts = Mutex::default();
        Ok(Self { root: &ws.root, beneath, limits, budget, failure, rules, tracked, parts, deadline: None })
    }

    fn list(self) -> Result<Listing, SourceError> {
        self.beneath.folder("").map_err(|error| SourceError::io(self.root, error))?;
        rayon::scope(|scope| self.visit_folder(self.root_folder(), scope));
        if let Some(failure) = self.failure.into_inner() {
            return Err(failure);
        }
        Ok(Listing::from_parts(self.parts.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())))
    }

    fn root_folder(&self) -> Folder {
        Folder { path: String::new(), levels: None, inherited: Inherited::default(), index_range: self.tracked.all() }
    }

    /// Lists one folder and spawns tasks for its sub-folders.
    fn visit_folder<'scope>(&'scope self, folder: Folder, scope: &rayon::Scope<'scope>) {
        if self.failure.get().is_some() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return;
        }
        let mut part = Listing::default();
        match self.list_folder(folder, &mut part) {
            Err(error) => drop(self.failure.set(error)),
            Ok(folders) => {
                for next in folders {
                    scope.spawn(move |scope| self.visit_folder(next, scope));
                }
            }
        }
        self.parts.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(part);
    }

    /// Lists the files of a folder. Returns the sub-folders to list.
    fn list_folder(&self, mut folder: Folder, part: &mut Listing) -> Result<Vec<Folder>, SourceError> {
        let count = |child: &Child| {
            let path_bytes = folder.path.len() + child.name.len();
            self.budget.take(1, path_bytes as u64).map_err(Stop::TooLarge)
        };
        let listed = self.beneath.folder(&folder.path).map_err(Stop::Unreadable).and_then(|place| {
            let children = place.children(count)?;
            Ok((place, children))
        });
        let (place, children) = match listed {
            Ok(listed) => listed,
            Err(Stop::TooLarge(error)) => return Err(error),
            Err(Stop::Unreadable(error)) => {
                skip_unreadable(part, &folder.path, &error);
                return Ok(Vec::new());
            }
        };
        if self.is_nested_repository(&folder, &children) {
            part.skips.add(SkipReason::Submodule, trimmed(&folder.path));
            return Ok(Vec::new());
        }
        part.folders.push(trimmed(&folder.path).to_owned());
        let texts = rule_texts(&place, &children);
        self.budget.take_rules(&texts)?;
        let descent = push_level(&folder.levels, folder.path.len(), &texts);
        descent.report(&folder.path, &mut part.skips);
        folder.levels = descent.levels;
        Ok(children.iter().filter_map(|child| self.list_child(&folder, &place, child, part)).collect())
    }

    /// Lists a file, or returns a sub-folder to list.
    fn list_child(
        &self,
        folder: &Folder,
        place: &beneath::Folder,
        child: &Child,
        part: &mut Listing,
    ) -> Option<Folder> {
        let Some(name) = child.name.to_str() else {
            part.skips.add(SkipReason::PathNotUtf8, &format!("{}{}", folder.path, child.name.to_string_lossy()));
            return None;
        };
        if name == ".git" {
            return None;
        }
        let kind = match child.kind {
            Some(kind) => Ok(kind),
            None => place.stat(&child.name).map(|(kind, _)| kind),
        };
        match kind {
            Err(error) => skip_unreadable(part, &format!("{}{name}", folder.path), &error),
            Ok(Kind::Folder) => return self.enter_folder(folder, name, part),
            Ok(kind) => self.list_file(folder, name, kind, || stat_of_file(place, &child.name), part),
        }
        None
    }

    /// Returns the sub-folder, unless it is skipped.
    fn enter_folder(&self, folder: &Folder, name: &str, part: &mut Listing) -> Option<Folder> {
        let mut path = format!("{}{name}", folder.path);
        let below = self.tracked.subfolder(&folder.index_range, name);
        let known = self.tracked.look_up(&folder.index_range, name);
        let is_submodule = matches!(known, TrackedState::Submodule);
        match self.rules.enter_folder(&folder.levels, &path, folder.inherited, is_submodule || !below.is_empty()) {
            Err(reason) => part.skips.add(reason, &path),
            Ok(_) if is_submodule => part.skips.add(SkipReason::Submodule, &path),
            Ok(inherited) => {
                path.push('/');
                return Some(Folder { path, levels: folder.levels.clone(), inherited, index_range: below });
            }
        }
        None
    }

    /// Lists a file, or counts the reason to skip it.
    fn list_file(
        &self,
        folder: &Folder,
        name: &str,
        kind: Kind,
        stat: impl FnOnce() -> std::io::Result<FileStat>,
        part: &mut Listing,
    ) {
        let path = format!("{}{name}", folder.path);
        let known = self.tracked.look_up(&folder.index_range, name);
        let reason = self.rules.file_skip_reason(&folder.levels, &path, folder.inherited, known.is_tracked()).or({
            match kind {
                Kind::File => None,
                Kind::Link => Some(SkipReason::Symlink),
                Kind::Folder | Kind::Other => Some(SkipReason::NotAFile),
            }
        });
        if let Some(reason) = reason {
            return part.skips.add(reason, &path);
        }
        let stat = match stat() {
            Ok(stat) => stat,
            Err(error) => return skip_unreadable(part, &path, &error),
        };
        if stat.size > self.limits.max_file_bytes {
            return part.skips.add(SkipReason::TooLarge, &path);
        }
        let index_blob = match known {
            TrackedState::File(entry) => self.tracked.unchanged_blob(entry, &stat),
            _ => None,
        };
        part.entries.push(Entry { path, size: stat.size, source: ContentSource::File { stat, index_blob } });
    }

    /// Whether the folder is the work tree of another repository, with no files that this one tracks.
    fn is_nested_repository(&self, folder: &Folder, children: &[Child]) -> bool {
        !folder.path.is_empty()
            && folder.index_range.is_empty()
            && children.iter().any(|child| child.name == ".git")
            && is_repository(&self.root.join(&folder.path))
    }

    /// Returns the folder with its own rules in force.
    fn with_rules(&self, mut folder: Folder) -> Folder {
        if let Ok(place) = self.beneath.folder(&folder.path) {
            let texts = RuleFile::ALL.map(|kind| read_rules(&place, OsStr::new(kind.name())));
            folder.levels = push_level(&folder.levels, folder.path.len(), &texts).levels;
        }
        folder
    }

    /// Returns the folder at this path, entered from the root as in a walk; `None` if a walk would not reach it.
    ///
    /// Descends step by step and stops at the first step that is missing or skipped. `seen` caches that step only, not
    /// the folders below it.
    fn folder_at(&self, path: &str, seen: &mut HashMap<String, Option<Folder>>, part: &mut Listing) -> Option<Folder> {
        if let Some(folder) = seen.get(path) {
            return folder.clone();
        }
        let mut folder = seen.get("").cloned().flatten()?;
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            let step = &path[..end];
            let next = match seen.get(step) {
                Some(known) => known.clone(),
                None => {
                    let next = self.step_into(&folder, step, part);
                    seen.insert(step.to_owned(), next.clone());
                    next
                }
            };
            folder = next?;
        }
        Some(folder)
    }

    /// Returns the sub-folder at this path with its own rules in force; `None` if it is missing, not a folder, or
    /// skipped.
    fn step_into(&self, parent: &Folder, path: &str, part: &mut Listing) -> Option<Folder> {
        self.beneath.folder(path).ok()?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let folder = self.enter_folder(parent, name, part)?;
        if folder.index_range.is_empty() && is_repository(&self.root.join(path)) {
            part.skips.add(SkipReason::Submodule, path);
            return None;
        }
        Some(self.with_rules(folder))
    }
}

/// Whether git would treat this folder as the root of a work tree. An empty `.git` folder does not count.
pub(super) fn is_repository(folder: &Path) -> bool {
    let dot_git = folder.join(".git");
    dot_git.is_file() || dot_git.join("HEAD").symlink_metadata().is_ok()
}

/// Whether the path is relative, not too long, and without a special step.
fn is_plain_relative(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES && path.split('/').all(|step| !matches!(step, "" | "." | ".." | ".git"))
}

/// The reason why a folder was not listed.
enum Stop {
    TooLarge(SourceError),
    Unreadable(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Unreadable(error)
    }
}

/// Returns the stat of an entry that was a file when its folder was listed, and may have changed since.
fn stat_of_file(place: &beneath::Folder, name: &OsStr) -> std::io::Result<FileStat> {
    match place.stat(name)? {
        (Kind::File, stat) => Ok(stat),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
}

fn rule_texts(place: &beneath::Folder, children: &[Child]) -> RuleTexts {
    let mut texts = RuleTexts::default();
    for child in children {
        if let Some(kind) = RuleFile::from_name(child.name.as_encoded_bytes()) {
            texts[kind as usize] = read_rules(place, &child.name);
        }
    }
    texts
}

/// The text of a rule file. Like git, this does not follow links.
fn read_rules(place: &beneath::Folder, name: &OsStr) -> RuleText {
    rule_text(place.read(name, MAX_RULE_FILE_BYTES))
}

fn rule_text(read: Result<beneath::Content, Refused>) -> RuleText {
    match read {
        Ok(content) => RuleText::Text(content.bytes),
        Err(Refused::TooLarge) => RuleText::TooLarge,
        Err(_) => RuleText::Absent,
    }
}

/// Counts an unreadable path. Files that vanished during the walk are not counted.
fn skip_unreadable(part: &mut Listing, path: &str, error: &std::io::Error) {
    if error.kind() != std::io::ErrorKind::NotFound {
        part.skips.add(SkipReason::Unreadable, trimmed(path));
    }
}

fn trimmed(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

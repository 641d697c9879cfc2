//! Resolves the paths that people and agents give to files of a workspace.
//!
//! An absolute path is valid if it is inside the workspace. A relative one starts at the root; on the command line it
//! starts at the working folder first, and at the root if nothing exists there. For an agent whose client works in a
//! subfolder it is the other way round: answers name paths from the root, so these come first. Resolved paths are
//! relative to the root, with `/`.

use std::collections::HashSet;
use std::path::Path;

use codecompass_index::source::{MAX_PATH_BYTES, PathStatus, commit_path_status, real_path, worktree_path_status};
use codecompass_model::{SkipReason, ViewKey};
use codecompass_store::Snapshot;
use codecompass_wire::{ErrorData, WrongArgument};

use crate::error::{AppError, Code};
use crate::session::Session;

/// The folder that relative paths start at.
#[derive(Clone, Debug, Default)]
pub struct PathBase {
    root: String,
    /// The working folder of a command or of a client; `None` if relative paths start at the root only.
    working_folder: Option<String>,
    /// Whether a path that exists both ways is read from the root.
    prefers_root: bool,
    /// Whether the end of a path names a file or folder, and a place is accepted in other notations.
    is_forgiving: bool,
}

/// Resolves paths in a workspace.
pub struct PathResolver<'s> {
    pub base: PathBase,
    session: &'s Session,
}

/// The file that a path resolves to.
#[derive(Debug)]
pub struct ResolvedFile {
    pub path: String,
    /// Why the view does not have it; `None` if it does.
    pub absence: Option<Absence>,
}

/// Why a file is not in a view, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It is skipped, for this reason and with this explanation.
    Skipped(SkipReason, String),
    /// It is a folder.
    Folder,
    /// It is in the work tree, but not indexed yet.
    NotIndexedYet,
    /// The reason is unknown.
    Unknown,
}

impl PathBase {
    /// Creates a base from real paths.
    pub fn new(root: &str, here: Option<&str>) -> Self {
        Self {
            root: root.to_owned(),
            working_folder: here.map(str::to_owned),
            prefers_root: false,
            is_forgiving: false,
        }
    }

    /// Accepts the end of a path.
    pub fn forgiving(self) -> Self {
        Self { is_forgiving: true, ..self }
    }

    /// The possible paths from the root, the likeliest first; a folder that was given as one ends with a slash.
    pub fn candidates(&self, parameter: &str, given: &str) -> Result<Vec<String>, AppError> {
        check_length(parameter, given)?;
        let given = as_slashes(given);
        let mut readings = Vec::new();
        if is_absolute(&given) {
            readings.extend(self.relative_to_root(&given));
        } else {
            readings.extend(
                self.working_folder.as_ref().and_then(|here| self.relative_to_root(&format!("{here}/{given}"))),
            );
            readings.extend(normalize(&given));
            if self.prefers_root {
                readings.reverse();
            }
            readings.dedup();
        }
        if readings.is_empty() { Err(self.outside_error(parameter, &given)) } else { Ok(readings) }
    }

    /// The working folder from the root, with a trailing slash; `None` at the root itself and outside of it.
    pub fn working_folder_prefix(&self) -> Option<String> {
        let inside = self.relative_to_root(&format!("{}/", self.working_folder.as_ref()?))?;
        (!inside.is_empty()).then_some(inside)
    }

    /// Whether the end of a path names a file or folder.
    pub fn is_forgiving(&self) -> bool {
        self.is_forgiving
    }

    /// Whether a path that exists both from the root and from the working folder is read from the root.
    pub fn prefers_root(&self) -> bool {
        self.prefers_root
    }

    /// An absolute path relative to the root of the workspace; `None` if it is outside, or too long to exist.
    pub fn relative_to_root(&self, absolute: &str) -> Option<String> {
        if absolute.len() > MAX_PATH_BYTES {
            return None;
        }
        let below = |path: &str| {
            let rest = path.strip_prefix(self.root.trim_end_matches('/'))?;
            rest.strip_prefix('/').or(rest.is_empty().then_some("")).map(str::to_owned)
        };
        let path = normalize(absolute)?;
        let path = if absolute.starts_with('/') { format!("/{path}") } else { path };
        below(&path).or_else(|| below(&resolve_links(&path)))
    }

    /// The error for a path outside the workspace.
    pub fn outside_error(&self, parameter: &str, given: &str) -> AppError {
        AppError::new(Code::InvalidInput, format!("`{parameter}` {given:?} leads out of the workspace {}.", self.root))
            .hint("Give a path inside it, absolute or from its root.")
            .data(ErrorData::Argument(WrongArgument {
                parameter: parameter.to_owned().into(),
                path: Some(given.to_owned()),
                workspace: Some(self.root.clone()),
                ..WrongArgument::default()
            }))
    }
}

impl<'s> PathResolver<'s> {
    /// For a server whose client works at the root, or in no known folder.
    pub fn from_root(session: &'s Session) -> Self {
        let root = with_slashes(&session.workspace.root);
        Self { base: PathBase { root, working_folder: None, prefers_root: true, is_forgiving: false }, session }
    }

    /// Accepts the end of a path that only one file has.
    pub fn forgiving(self, is_forgiving: bool) -> Self {
        if is_forgiving { Self { base: self.base.forgiving(), ..self } } else { self }
    }

    /// Whether input is accepted in other notations.
    pub fn is_forgiving(&self) -> bool {
        self.base.is_forgiving
    }

    /// For a server whose client works in this folder of the workspace.
    pub fn from_client_folder(session: &'s Session, folder: &Path) -> Self {
        let mut paths = Self::from_root(session);
        paths.base.working_folder = Some(with_slashes(folder));
        paths
    }

    /// For a command.
    pub fn from_working_folder(session: &'s Session) -> Self {
        let mut paths = Self::from_root(session);
        let here = std::env::current_dir().and_then(|folder| real_path(&folder)).ok();
        paths.base.working_folder = here.map(|folder| with_slashes(&folder));
        paths.base.prefers_root = false;
        paths
    }

    /// The file that a path means in one of these views: the first candidate that one of them has, otherwise one that
    /// is on disk, otherwise the first. The reason of an absence is that of the first view.
    pub fn resolve_file(&self, views: &[&Snapshot], parameter: &str, given: &str) -> Result<ResolvedFile, AppError> {
        let readings = self.base.candidates(parameter, given.trim())?;
        let readings: Vec<&str> = readings.iter().map(|path| path.trim_end_matches('/')).collect();
        for path in &readings {
            for view in views {
                if view.version_at(path)?.is_some() {
                    return Ok(ResolvedFile { path: (*path).to_owned(), absence: None });
                }
            }
        }
        if let (true, Some(view)) = (self.is_forgiving(), views.first())
            && !readings.iter().any(|path| self.is_on_disk(path))
            && let [path] = self.paths_ending_with(view, &readings)?.as_slice()
        {
            return Ok(ResolvedFile { path: path.clone(), absence: None });
        }
        let path = self.likeliest_candidate(&readings);
        let absence = views.first().map_or(Ok(Absence::Unknown), |view| self.absence(view, path))?;
        Ok(ResolvedFile { path: path.to_owned(), absence: Some(absence) })
    }

    /// The files of a view whose path ends with one of these, by path. The name of the work tree's own folder may precede
    /// a path.
    fn paths_ending_with(&self, view: &Snapshot, readings: &[&str]) -> Result<Vec<String>, AppError> {
        let folder = self.session.workspace.root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let inside = readings.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let wanted: Vec<&str> = readings.iter().copied().chain(inside).filter(|path| !path.is_empty()).collect();
        let is_end = |path: &str| {
            let is_it = |end: &&str| path.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            wanted.iter().any(is_it)
        };
        let catalogue = view.versions_by_id()?;
        let mut found: Vec<String> =
            catalogue.values().map(|version| &version.path).filter(|path| is_end(path)).cloned().collect();
        found.sort();
        Ok(found)
    }

    /// The folder that the end of a path names, if only one folder of the view has it; the path itself if it is a folder.
    pub fn resolve_folder(&self, view: &Snapshot, path: &str) -> Result<Option<String>, AppError> {
        let path = path.trim_matches('/');
        if path.is_empty() || view.has_path_with_prefix(&format!("{path}/"))? {
            return Ok(Some(path.to_owned()));
        }
        let inner = format!("/{path}/");
        let catalogue = view.versions_by_id()?;
        let folder = |file: &str| file.find(&inner).map(|at| file[..at + inner.len() - 1].to_owned());
        let found: HashSet<String> = catalogue.values().filter_map(|version| folder(&version.path)).collect();
        Ok(if found.len() == 1 { found.into_iter().next() } else { None })
    }

    /// The files that a path may mean if it means none exactly.
    pub fn similar_files(&self, view: &Snapshot, given: &str) -> Result<Vec<String>, AppError> {
        let readings = self.base.candidates("path", given.trim()).unwrap_or_default();
        let readings: Vec<&str> = readings.iter().map(|path| path.trim_end_matches('/')).collect();
        self.paths_ending_with(view, &readings)
    }

    /// The file of a symbol, if one was given.
    pub fn resolve_optional_file(
        &self,
        views: &[&Snapshot],
        given: Option<&str>,
    ) -> Result<Option<ResolvedFile>, AppError> {
        given.map(|given| self.resolve_file(views, "path", given)).transpose()
    }

    /// A path on disk: the candidate that exists, otherwise all candidates.
    pub fn resolve_on_disk(&self, parameter: &str, given: &str) -> Result<Vec<String>, AppError> {
        let mut readings = self.base.candidates(parameter, given)?;
        if let Some(at) = readings.iter().position(|path| self.is_on_disk(path)) {
            readings = vec![readings.swap_remove(at)];
        }
        Ok(readings)
    }

    /// The candidate that is on disk, otherwise the first.
    fn likeliest_candidate<'p>(&self, readings: &[&'p str]) -> &'p str {
        let found = readings.iter().find(|path| self.is_on_disk(path)).or(readings.first());
        found.copied().unwrap_or_default()
    }

    fn is_on_disk(&self, path: &str) -> bool {
        self.session.workspace.root.join(path).symlink_metadata().is_ok()
    }

    /// Why a view does not have a file; `Unknown` if it cannot be determined.
    fn absence(&self, view: &Snapshot, path: &str) -> Result<Absence, AppError> {
        if path.is_empty() || view.has_path_with_prefix(&format!("{path}/"))? {
            return Ok(Absence::Folder);
        }
        let (workspace, limits) = (&self.session.workspace, self.session.limits());
        let left_out = |reason: SkipReason| {
            let words = match reason {
                SkipReason::TooLarge => format!("larger than {} KiB", limits.max_file_bytes >> 10),
                _ => reason.phrase().to_owned(),
            };
            Absence::Skipped(reason, words)
        };
        if let Some(reason) = view.skip_reason_at(path)? {
            return Ok(left_out(reason));
        }
        let verdict = match (&view.info().key, &view.info().commit) {
            (ViewKey::Worktree(_), _) => worktree_path_status(workspace, path, &limits),
            (_, Some(commit)) => commit_path_status(workspace, commit, path, &limits),
            (_, None) => Ok(PathStatus::Absent),
        };
        Ok(match verdict {
            Ok(PathStatus::Skipped(reason)) => left_out(reason),
            Ok(PathStatus::Listed) => Absence::NotIndexedYet,
            Ok(PathStatus::Absent) | Err(_) => Absence::Unknown,
        })
    }
}

impl Absence {
    /// The explanation after a colon in a sentence.
    pub fn explanation_clause(&self) -> String {
        match self {
            Absence::Skipped(_, words) => format!("the file is excluded from the index, {words}"),
            Absence::Folder => "that is a folder".into(),
            Absence::NotIndexedYet => "the file is not indexed yet".into(),
            Absence::Unknown => "the file is not in the index for this ref".into(),
        }
    }

    /// The error of a tool that is about this file.
    pub fn error(&self, path: &str, ref_name: &str) -> AppError {
        let message = match self {
            Absence::Skipped(_, words) => format!("{path:?} is excluded from the index for {ref_name}: {words}."),
            Absence::Folder => format!("{path:?} is a folder, not a file."),
            Absence::NotIndexedYet => format!("{path:?} exists, but is not indexed yet."),
            Absence::Unknown => format!("{path:?} is not in the index for {ref_name}."),
        };
        let error = AppError::new(Code::FileNotFound, message);
        match self.hint() {
            Some(hint) if matches!(self, Absence::NotIndexedYet) => {
                error.hint(hint).advice("Run `codecompass sync`.").for_agent("Ask again in a moment.")
            }
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// The skip reason on the wire, for a skipped file.
    pub fn skip_reason(&self) -> Option<&'static str> {
        match self {
            Absence::Skipped(reason, _) => Some(reason.as_str()),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Absence::Skipped(SkipReason::TooLarge, _) => Some("`index.max_file_kib` is the limit."),
            Absence::Skipped(SkipReason::Ignored | SkipReason::BuiltinFolder | SkipReason::Generated, _) => {
                Some("Add a line with `!` to .codecompassignore to index it.")
            }
            Absence::Skipped(SkipReason::Secret, _) => {
                Some("Add it to `index.allow_secret_paths` in the user's own configuration to index it.")
            }
            Absence::NotIndexedYet => Some("Call sync_repo, or run `codecompass sync`."),
            _ => None,
        }
    }
}

/// Refuses a path that exceeds the maximum length of paths. The message does not repeat the path.
pub fn check_length(parameter: &str, given: &str) -> Result<(), AppError> {
    if given.len() <= MAX_PATH_BYTES {
        return Ok(());
    }
    let bytes = given.len();
    let message = format!("`{parameter}` has {bytes} bytes: a path has at most {MAX_PATH_BYTES}.");
    Err(AppError::new(Code::InvalidInput, message).data(ErrorData::Argument(WrongArgument {
        parameter: parameter.to_owned().into(),
        bytes: Some(bytes),
        max_bytes: Some(MAX_PATH_BYTES),
        ..WrongArgument::default()
    })))
}

/// A path without `.`, `..` and doubled slashes; `None` if it leads out at the top. A path that can only be a folder,
/// by its end, keeps a trailing slash.
pub fn normalize(path: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    let is_folder = matches!(path.rsplit('/').next(), Some("" | "." | ".."));
    let end = if is_folder && !steps.is_empty() { "/" } else { "" };
    Some(steps.join("/") + end)
}

/// The path with all links resolved, as far as it exists on disk.
fn resolve_links(path: &str) -> String {
    let end = if path.ends_with('/') { "/" } else { "" };
    let path = Path::new(path);
    for folder in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (real_path(folder), path.strip_prefix(folder)) {
            let whole = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
            return with_slashes(&whole) + end;
        }
    }
    with_slashes(path) + end
}

/// Whether a path is absolute, so that it starts at no folder of ours.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || Path::new(path).is_absolute()
}

fn with_slashes(path: &Path) -> String {
    as_slashes(&path.to_string_lossy())
}

/// Only on systems where a backslash cannot be part of a name.
fn as_slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_removes_dots_and_keeps_folder_slashes() {
        let table: &[(&str, Option<&str>)] = &[
            ("src/a.rs", Some("src/a.rs")),
            ("./src//a.rs", Some("src/a.rs")),
            ("src/../lib/a.rs", Some("lib/a.rs")),
            ("src/", Some("src/")),
            ("src/.", Some("src/")),
            ("src/deep/..", Some("src/")),
            (".", Some("")),
            ("", Some("")),
            ("src/..", Some("")),
            ("..", None),
            ("src/../../a.rs", None),
            ("src/..a", Some("src/..a")),
        ];
        for (given, expected) in table {
            assert_eq!(normalize(given).as_deref(), *expected, "{given}");
        }
    }
}

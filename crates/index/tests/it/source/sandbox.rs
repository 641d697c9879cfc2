//! A temporary folder with real git repositories in it, isolated from the user's configuration.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use codecompass_index::source::{ContentSource, Limits, Listing, Repo, Skips, Workspace, blob_id, list_worktree};
use codecompass_model::{BlobId, SkipReason};

/// A folder that is deleted with the test.
pub(crate) struct Sandbox {
    _folder: tempfile::TempDir,
    /// Its real path.
    pub(crate) root: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self { _folder: folder, root }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Creates a repository at this path.
    pub(crate) fn init(&self, path: &str) -> Tree {
        let root = self.at(path);
        std::fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "-q"]);
        Tree { root }
    }

    /// Creates a plain folder at this path.
    pub(crate) fn folder(&self, path: &str) -> Tree {
        let root = self.at(path);
        std::fs::create_dir_all(&root).unwrap();
        Tree { root }
    }

    /// Runs git in the sandbox itself.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }
}

/// A folder to write files in, usually a work tree.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
}

impl Tree {
    /// Uses a work tree that git created.
    pub(crate) fn existing(root: PathBuf) -> Self {
        Self { root }
    }

    /// Writes a file, with a modification time one hour ago so that git's index is newer.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(hour_ago).unwrap();
        self
    }

    /// Writes each of these files, with its own path as the text.
    pub(crate) fn touch(&self, paths: &[&str]) -> &Self {
        for path in paths {
            self.write(path, format!("{path}\n"));
        }
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        std::fs::remove_file(self.root.join(path)).unwrap();
        self
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    /// Runs a git command that must fail.
    pub(crate) fn git_fails(&self, arguments: &[&str]) {
        assert!(!run(&self.root, arguments).status.success(), "git {arguments:?} did not fail");
    }

    /// Adds everything, including ignored files, and commits it. Returns the commit's id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A", "-f", "."]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::discover(&self.root, None).unwrap()
    }

    pub(crate) fn repo(&self) -> Repo {
        self.workspace().repo.unwrap()
    }

    pub(crate) fn list(&self) -> Listing {
        self.list_with(&Limits::default())
    }

    pub(crate) fn list_with(&self, limits: &Limits) -> Listing {
        list_worktree(&self.workspace(), limits).unwrap()
    }

    pub(crate) fn list_commit(&self, name: &str) -> Listing {
        let repo = self.repo();
        let commit = repo.resolve(name).unwrap().commit;
        repo.list_commit(&commit, &Limits::default()).unwrap()
    }

    /// Returns the paths of the work tree's listing.
    pub(crate) fn paths(&self) -> Vec<String> {
        paths(&self.list())
    }

    /// Returns path and blob of each listed file: the index's blob if there is one, else the hash of the bytes on disk.
    pub(crate) fn versions(&self, listing: &Listing) -> Vec<(String, BlobId)> {
        let blob = |path: &str, place: &ContentSource| match place {
            ContentSource::Blob(id) | ContentSource::File { index_blob: Some(id), .. } => *id,
            ContentSource::File { index_blob: None, .. } => blob_id(&std::fs::read(self.root.join(path)).unwrap()),
        };
        listing.entries.iter().map(|entry| (entry.path.clone(), blob(&entry.path, &entry.source))).collect()
    }
}

pub(crate) fn paths(listing: &Listing) -> Vec<String> {
    listing.entries.iter().map(|entry| entry.path.clone()).collect()
}

/// Returns reasons and example paths, for comparison.
pub(crate) fn skipped(skips: &Skips) -> Vec<(SkipReason, Vec<&str>)> {
    skips.iter().map(|(reason, _, examples)| (reason, examples.iter().map(String::as_str).collect())).collect()
}

/// Runs git without any user configuration. Returns its output.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} in {}: {errors}", folder.display());
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "core.quotePath=false"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("LC_ALL", "C")])
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
        .envs([("GIT_COMMITTER_NAME", "C"), ("GIT_COMMITTER_EMAIL", "c@example.org")])
        .envs([("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")])
        .output()
        .unwrap()
}

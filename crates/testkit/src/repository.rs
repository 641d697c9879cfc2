//! Real git repositories in temporary folders, created by the real `git`, byte-identical on every machine.
//!
//! Author, dates and the name of the first branch are fixed, so commit ids are too. The developer's git configuration
//! is not read. A failing git command is an error in the test and panics with git's output.
//!
//! ```
//! use codecompass_testkit::Repository;
//!
//! let repo = Repository::new();
//! repo.write("src/lib.rs", "pub fn greet() {}\n");
//! repo.commit("first");
//! repo.branch("feat");
//! repo.rename("src/lib.rs", "src/hello.rs");
//! repo.commit("move");
//! repo.checkout("main");
//! assert_eq!(repo.paths("feat"), ["src/hello.rs"]);
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

/// The date of the first commit: 2024-01-01T00:00:00Z. Each further commit of a repository is one minute later.
const FIRST_COMMIT: u64 = 1_704_067_200;

/// Settings that would otherwise come from a machine's configuration.
const SETTINGS: &[&str] = &[
    "core.autocrlf=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.file.allow=always",
    "advice.detachedHead=false",
];

/// A folder in a temporary folder, usually a git work tree. It is deleted when the value is dropped.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    commits: AtomicU64,
    /// Kept for its `Drop`.
    _folder: TempDir,
}

impl Default for Repository {
    fn default() -> Self {
        Self::new()
    }
}

impl Repository {
    /// Creates an empty git repository on the branch `main`, without commits.
    pub fn new() -> Self {
        Self::on_branch("main")
    }

    /// Creates an empty git repository whose first branch has this name.
    pub fn on_branch(name: &str) -> Self {
        let repository = Self::plain();
        repository.git(&["init", "--quiet", "--initial-branch", name]);
        repository
    }

    /// Creates an empty folder without git.
    pub fn plain() -> Self {
        let folder = TempDir::new().expect("because a temporary folder can be created");
        let root = folder.path().canonicalize().expect("because the temporary folder exists").join("repo");
        std::fs::create_dir(&root).expect("because the temporary folder is writable");
        Self { root, commits: AtomicU64::new(0), _folder: folder }
    }

    /// Returns the root folder, with all links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the full path of a file, given its path from the root with `/`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file and its parent folders, replacing an older version.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let full = self.path(path);
        let folder = full.parent().expect("because a file in the repository has a folder");
        std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        std::fs::write(&full, text).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
        self
    }

    /// Returns the content of a file in the work tree.
    pub fn read(&self, path: &str) -> String {
        let full = self.path(path);
        std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
    }

    /// Deletes a file from the work tree, and the folders that become empty.
    pub fn delete(&self, path: &str) -> &Self {
        let full = self.path(path);
        std::fs::remove_file(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
        let above = full.ancestors().skip(1).take_while(|folder| *folder != self.root);
        above.take_while(|folder| std::fs::remove_dir(folder).is_ok()).for_each(drop);
        self
    }

    /// Moves a file within the work tree.
    pub fn rename(&self, from: &str, to: &str) -> &Self {
        let bytes = std::fs::read(self.path(from)).unwrap_or_else(|error| panic!("{from}: {error}"));
        self.write(to, bytes).delete(from)
    }

    /// Commits all differences from HEAD, including untracked files, and returns the commit's id. A commit may be
    /// empty.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.commit_staged(message)
    }

    /// Commits only the staged changes.
    pub fn commit_staged(&self, message: &str) -> String {
        self.git(&["commit", "--quiet", "--allow-empty", "--no-verify", "--message", message]);
        self.rev("HEAD")
    }

    /// Creates a branch at HEAD and checks it out.
    pub fn branch(&self, name: &str) -> &Self {
        self.git(&["checkout", "--quiet", "-b", name]);
        self
    }

    /// Checks out a branch, tag or commit.
    pub fn checkout(&self, reference: &str) -> &Self {
        self.git(&["checkout", "--quiet", reference]);
        self
    }

    /// Merges a branch into the current one, always with a merge commit, and returns its id. A conflict panics.
    pub fn merge(&self, branch: &str) -> String {
        self.git(&["merge", "--quiet", "--no-ff", "--no-edit", branch]);
        self.rev("HEAD")
    }

    /// Creates a lightweight tag at HEAD.
    pub fn tag(&self, name: &str) -> &Self {
        self.git(&["tag", name]);
        self
    }

    /// Moves the current branch, the index and the work tree to another commit.
    pub fn reset(&self, reference: &str) -> &Self {
        self.git(&["reset", "--quiet", "--hard", reference]);
        self
    }

    /// Creates a linked worktree of this repository in a separate folder, with the branch checked out.
    pub fn worktree(&self, branch: &str) -> Self {
        let linked = Self::plain();
        let root = linked.root.to_str().expect("because temporary folders have UTF-8 names");
        self.git(&["worktree", "add", "--quiet", root, branch]);
        linked
    }

    /// Returns the full commit id of a name.
    pub fn rev(&self, reference: &str) -> String {
        let commit = format!("{reference}^{{commit}}");
        self.git(&["rev-parse", "--verify", "--end-of-options", &commit]).trim_end().to_owned()
    }

    /// Returns the paths of a commit's tree, sorted by bytes.
    pub fn paths(&self, reference: &str) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", reference]);
        listed.split_terminator('\0').map(str::to_owned).collect()
    }

    /// Returns the content of a path in a commit.
    pub fn show(&self, reference: &str, path: &str) -> String {
        self.git(&["cat-file", "blob", &format!("{reference}:{path}")])
    }

    /// Returns all branches and tags with their commits, sorted by name.
    pub fn refs(&self) -> Vec<(String, String)> {
        let format = "--format=%(refname:short) %(objectname)";
        let listed = self.git(&["for-each-ref", format, "refs/heads", "refs/tags"]);
        let pairs = listed.lines().filter_map(|line| line.split_once(' '));
        pairs.map(|(name, id)| (name.to_owned(), id.to_owned())).collect()
    }

    /// Creates a repository that contains only this ref: one branch of that name, one commit, the same tree.
    pub fn flattened(&self, reference: &str) -> Self {
        let flat = Self::on_branch(reference);
        let index = flat.root.join(".git").join("exported-index");
        let prefix = format!("--prefix={}/", flat.root.display());
        for args in [&["read-tree", reference][..], &["checkout-index", "--all", &prefix]] {
            let output = self.command(args).env("GIT_INDEX_FILE", &index).output();
            self.expect_success(args, output);
        }
        std::fs::remove_file(&index).expect("because git has just written the index");
        flat.git(&["add", "--all", "--force"]);
        flat.commit_staged("flattened");
        flat
    }

    /// Runs any git command here and returns its output; panics when it fails.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command(args).output();
        self.expect_success(args, output)
    }

    fn command(&self, args: &[&str]) -> Command {
        let time = FIRST_COMMIT + 60 * self.commit_count(args);
        let date = format!("{time} +0000");
        let mut command = Command::new("git");
        let own = std::env::vars_os().map(|(name, _)| name);
        own.filter(|name| name.to_string_lossy().starts_with("GIT_")).for_each(|name| {
            command.env_remove(name);
        });
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .args(args)
            .current_dir(&self.root)
            .env("HOME", &self.root)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap_or(&self.root))
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "A. Author")
            .env("GIT_AUTHOR_EMAIL", "author@example.org")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", "A. Author")
            .env("GIT_COMMITTER_EMAIL", "author@example.org")
            .env("GIT_COMMITTER_DATE", &date);
        command
    }

    /// Returns the number of commits made before this command, including it when it makes one.
    fn commit_count(&self, args: &[&str]) -> u64 {
        let commits = matches!(args.first(), Some(&"commit" | &"merge" | &"rebase" | &"cherry-pick" | &"revert"));
        self.commits.fetch_add(u64::from(commits), Ordering::Relaxed)
    }

    fn expect_success(&self, args: &[&str], output: std::io::Result<Output>) -> String {
        let output = output.unwrap_or_else(|error| panic!("cannot run git: {error}"));
        assert!(
            output.status.success(),
            "git {} failed in {}:\n{}{}",
            args.join(" "),
            self.root.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

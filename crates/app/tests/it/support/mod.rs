//! A repository, a data folder and the program: shared support for the tests of the command line.

#![allow(dead_code, reason = "every test program uses a part of this")]

pub(crate) mod client;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use codecompass_testkit::{Call, Home, KILL_AT_WRITE, Product, ProductBinary, Reply, Repository, shell_words};
use serde_json::Value;

/// The program under test, a debug build.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_codecompass");

/// A repository with its own data folder.
pub(crate) struct Project {
    pub(crate) repository: Repository,
    pub(crate) home: Home,
    binary: ProductBinary,
}

impl Project {
    /// Uses a repository that is not registered.
    pub(crate) fn new(repository: Repository) -> Self {
        Self { repository, home: Home::new(), binary: ProductBinary::new(PROGRAM) }
    }

    /// Creates a git repository with these files in one commit on `main`.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let repository = Repository::new();
        for (path, text) in files {
            repository.write(path, text);
        }
        repository.commit("files");
        Self::new(repository)
    }

    /// Creates the same, already indexed.
    pub(crate) fn indexed(files: &[(&str, &str)]) -> Self {
        let project = Self::with_files(files);
        project.run_ok("index");
        project
    }

    /// Creates the small service of the ranking golden, indexed.
    pub(crate) fn service() -> Self {
        let tree = fs::read_to_string(ranking_file("service.tree")).expect("the tree can be read");
        let files: Vec<(&str, &str)> = tree.split("\n=== ").skip(1).filter_map(|file| file.split_once('\n')).collect();
        assert!(files.len() > 20, "the tree has only {} files", files.len());
        Self::indexed(&files)
    }

    /// Runs a command line in the repository, whatever its outcome.
    pub(crate) fn run(&self, command: &str) -> Reply {
        self.run_with(command, &[])
    }

    /// Runs the same with further variables.
    pub(crate) fn run_with(&self, command: &str, env: &[(&str, &str)]) -> Reply {
        self.run_at(self.repository.root(), command, env)
    }

    /// Runs the same in some folder.
    pub(crate) fn run_at(&self, cwd: &Path, command: &str, env: &[(&str, &str)]) -> Reply {
        let args = shell_words::split(command).expect("the command line of a test is well formed");
        let env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.binary.call(&Call { args: &args, cwd, home: self.home.path(), env: &env })
    }

    /// Runs a command that must end with exit code 0. Returns its output.
    pub(crate) fn run_ok(&self, command: &str) -> String {
        self.run_expecting(command, 0)
    }

    /// Runs a command that must end with this exit code. Returns its output on both channels.
    pub(crate) fn run_expecting(&self, command: &str, code: i32) -> String {
        let reply = self.run(command);
        assert_eq!(reply.code, Some(code), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        reply.stdout + &reply.stderr
    }

    /// Runs a command with `--json` that must end with exit code 0.
    pub(crate) fn json(&self, command: &str) -> Value {
        self.json_expecting(command, 0)
    }

    /// Runs a command with `--json` that must end with this exit code.
    pub(crate) fn json_expecting(&self, command: &str, code: i32) -> Value {
        let reply = self.run(&format!("{command} --json"));
        let said = format!("`{command} --json` said:\n{}{}", reply.stdout, reply.stderr);
        assert_eq!(reply.code, Some(code), "{said}");
        serde_json::from_str(&reply.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Runs the same without indexing refs automatically.
    pub(crate) fn json_without_refs(&self, command: &str, code: i32) -> Value {
        let reply = self.run_with(&format!("{command} --json"), &[("CODECOMPASS_VCS_AUTO_REFS", "false")]);
        assert_eq!(reply.code, Some(code), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        serde_json::from_str(&reply.stdout).expect("an answer is JSON")
    }

    /// Returns the locations that `locate` finds, as `path:line`; empty if nothing is found.
    pub(crate) fn places(&self, command: &str) -> Vec<String> {
        let reply = self.run(&format!("{command} --json"));
        assert!(matches!(reply.code, Some(0 | 1)), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        places(&serde_json::from_str(&reply.stdout).expect("an answer is JSON"))
    }

    /// Indexes the same repository into an empty data folder: it gives the expected answers.
    pub(crate) fn fresh_index(&self, refs: &[&str]) -> FreshIndex<'_> {
        let fresh = FreshIndex { project: self, home: Home::new() };
        fresh.run_ok("index");
        refs.iter().for_each(|name| fresh.run_ok(&format!("index --ref {name}")));
        fresh
    }

    /// Starts the program without waiting for it; its output is discarded.
    pub(crate) fn start(&self, command: &str) -> Child {
        let args = shell_words::split(command).expect("the command line of a test is well formed");
        let child = Command::new(PROGRAM)
            .args(args)
            .current_dir(self.repository.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("CODECOMPASS_HOME", self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        child.unwrap_or_else(|error| panic!("cannot run {PROGRAM}: {error}"))
    }

    /// Returns the folder with the data of this project, of which there must be exactly one.
    pub(crate) fn data(&self) -> PathBuf {
        let folders = fs::read_dir(self.home.path().join("projects")).expect("a project is registered");
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.expect("it can be listed").path()).collect();
        assert_eq!(folders.len(), 1, "one project is registered");
        folders.remove(0)
    }

    /// Returns the store in use.
    pub(crate) fn epoch(&self) -> PathBuf {
        let name = fs::read_to_string(self.data().join("current")).expect("a store is in use");
        self.data().join(name)
    }

    /// Returns the number of stores in the data folder: the one in use, and replaced or unfinished ones.
    pub(crate) fn epochs(&self) -> usize {
        let entries = fs::read_dir(self.data()).expect("a project is registered").flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("epoch-")).count()
    }

    /// Runs a command repeatedly from the same state, killed at its first write, its second, and so on, until it
    /// survives. After each run calls `check` with the write number and whether the command survived.
    pub(crate) fn kill_at_each_write(&self, command: &str, check: impl Fn(usize, bool)) {
        let start = self.home.save();
        for n in 1..100 {
            self.home.restore(&start);
            let reply = self.run_with(command, &[(KILL_AT_WRITE, &n.to_string())]);
            assert!(reply.was_aborted() || (reply.succeeded() && n > 1), "`{command}` at write {n}: {reply:?}");
            check(n, reply.succeeded());
            if reply.succeeded() {
                return;
            }
        }
        panic!("`{command}` is still killed at its 100th write");
    }

    /// Whether the data folder is empty.
    pub(crate) fn has_no_data(&self) -> bool {
        fs::read_dir(self.home.path()).expect("the data folder can be listed").next().is_none()
    }

    /// Returns every problem that `doctor` reports, as `name: message → fix`.
    pub(crate) fn stderr_lines(&self) -> Vec<String> {
        let reply = self.run("doctor --json");
        let report: Value = serde_json::from_str(&reply.stdout).expect("a report is JSON");
        let checks = report["checks"].as_array().expect("a report has checks").iter();
        let bad = checks.filter(|check| check["ok"] != true);
        let told: Vec<String> = bad
            .map(|check| format!("{}: {} → {}", check["name"], check["message"], check["mend"]).replace('"', ""))
            .collect();
        assert_eq!(reply.code, Some(i32::from(!told.is_empty())), "{}", reply.stdout);
        assert_eq!(report["ok"], told.is_empty(), "{}", reply.stdout);
        told
    }
}

/// An independent index of a project's repository, in its own data folder.
pub(crate) struct FreshIndex<'a> {
    project: &'a Project,
    home: Home,
}

impl FreshIndex<'_> {
    fn run(&self, command: &str) -> Reply {
        let args = shell_words::split(command).expect("the command line of a test is well formed");
        let cwd = self.project.repository.root();
        self.project.binary.call(&Call { args: &args, cwd, home: self.home.path(), env: &[] })
    }

    fn run_ok(&self, command: &str) {
        let reply = self.run(command);
        assert!(reply.succeeded(), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
    }

    /// Compares the answers of both data folders to the same queries, except for times, jobs and sizes.
    #[track_caller]
    pub(crate) fn expect_equal(&self, questions: &[String]) {
        for question in questions {
            let (ours, fresh) = (self.project.run(question), self.run(question));
            let (ours, fresh) = (comparable(&ours), comparable(&fresh));
            assert_eq!(ours, fresh, "`{question}`: compared with a fresh index");
        }
    }
}

/// Returns the exit code and the JSON answer without the fields that depend on time.
fn comparable(reply: &Reply) -> (Option<i32>, Value) {
    const TIME_FIELDS: &[&str] =
        &["active_job", "recent_jobs", "last_indexed_at", "index_bytes", "job_id", "duration_ms", "freshness_status"];
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| !TIME_FIELDS.contains(&key.as_str()));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(&reply.stdout).unwrap_or_else(|_| Value::from(reply.stdout.clone()));
    strip(&mut value);
    (reply.code, value)
}

/// Returns the path of a file of the ranking golden.
pub(crate) fn ranking_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ranking").join(name)
}

/// Returns the locations in an answer of `locate`, as `path:line`.
pub(crate) fn places(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().into_iter().flatten();
    results.map(|hit| format!("{}:{}", hit["path"].as_str().unwrap_or_default(), hit["line_start"])).collect()
}

/// Returns the only location of a symbol in a file with nothing else in it.
pub(crate) fn location_arg(path: &str) -> Vec<String> {
    vec![format!("{path}:1")]
}

/// Returns everything below a folder: type, length, modification time and, for files, the content.
pub(crate) fn file_contents(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let changed = meta.modified().expect("files have times here");
        let mut told = format!("{:?} {} {changed:?}", meta.file_type(), meta.len());
        if meta.is_dir() {
            let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            waiting.extend(entries.map(|entry| entry.expect("it can be listed").path()));
        } else if meta.is_file() {
            told += &format!(" {:?}", fs::read(&path).expect("it can be read"));
        }
        all.insert(path, told);
    }
    all
}

/// Returns every file below a folder as [`file_contents`] does, except for locks and the index that SQLite keeps of its
/// log.
pub(crate) fn files_of(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = file_contents(folder);
    let is_passing = |path: &Path| path.extension().is_some_and(|end| end == "lock" || end == "db-shm");
    all.retain(|path, _| path.is_file() && !is_passing(path));
    all
}

/// Returns the files with this ending in a folder, sorted.
pub(crate) fn files_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension() == Some(OsStr::new(ending))).collect();
    paths.sort();
    paths
}

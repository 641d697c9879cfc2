//! A simple fake product: it copies whole trees into its home and finds `fn NAME` and `def NAME` in them. It can be
//! given one fault, so that the tests can show that the testkit detects it.
#![allow(dead_code, unreachable_pub, reason = "shared by tests that each use a part of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use codecompass_testkit::{Call, KILL_AT_WRITE, Product, Reply};

/// The fault of the fake product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// A sync keeps deleted and outdated files in addition to the new ones.
    SyncKeepsDeletedFiles,
    /// A second sync of the same state drops the first file.
    SecondSyncDropsAFile,
    /// Indexing a branch before the work tree marks its answers.
    BranchFirstIsMarked,
    /// The answer for any ref contains the files of all refs.
    BranchesLeak,
    /// The old state is deleted before the new one is written.
    DeletesBeforeWriting,
    /// The new state is published in two steps.
    PublishesInTwoSteps,
    /// A kill leaves a lock behind, and the next run refuses to start.
    LockSurvivesAKill,
    /// The kill variable is ignored.
    CanNotBeKilled,
}

pub struct Fake(pub Fault);

/// The run was killed at a write point.
struct Killed;

struct Run<'a> {
    fault: Fault,
    call: &'a Call<'a>,
    writes_left: Option<usize>,
}

type View = BTreeMap<String, String>;

impl Product for Fake {
    fn call(&self, call: &Call<'_>) -> Reply {
        let limit = call.env.iter().find(|(name, _)| name == KILL_AT_WRITE);
        let limit = limit.filter(|_| self.0 != Fault::CanNotBeKilled);
        let writes_left = limit.map(|(_, value)| value.parse().expect("because the value is a number"));
        let mut run = Run { fault: self.0, call, writes_left };
        run.command().unwrap_or(Reply { stdout: String::new(), stderr: String::new(), code: None })
    }
}

fn reply(code: i32, stdout: String, stderr: &str) -> Reply {
    Reply { stdout, stderr: stderr.to_owned(), code: Some(code) }
}

impl Run<'_> {
    fn command(&mut self) -> Result<Reply, Killed> {
        let args = self.call.args;
        let at = args.iter().position(|arg| arg == "--ref");
        let named = at.map(|at| args[at + 1].clone());
        let reference = named.unwrap_or_else(|| self.head());
        match args[0].as_str() {
            "init" => Ok(reply(0, String::new(), "")),
            "index" | "sync" => self.index(&reference),
            "locate" => Ok(self.locate(&args[1], &reference, args.iter().any(|arg| arg == "--json"))),
            other => Ok(reply(2, String::new(), &format!("no command {other}\n"))),
        }
    }

    fn index(&mut self, reference: &str) -> Result<Reply, Killed> {
        let lock = self.call.home.join("lock");
        if lock.exists() && self.fault == Fault::LockSurvivesAKill {
            return Ok(reply(4, String::new(), "locked\n"));
        }
        self.write(&lock, "")?;
        let mut view = self.tree(reference);
        let (file, old) = (self.file(reference), self.view(reference));
        let synced = self.call.args[0] == "sync";
        match self.fault {
            Fault::SyncKeepsDeletedFiles if synced => {
                let kept = old.iter().flatten().map(|(path, text)| (path.clone() + ".old", text.clone()));
                view.extend(kept.filter(|(path, _)| !path.contains(".old.old")));
            }
            Fault::SecondSyncDropsAFile if synced && old.as_ref() == Some(&view) => {
                view.pop_first();
            }
            Fault::BranchFirstIsMarked if reference != "main" && self.view("main").is_none() => {
                view = view.into_iter().map(|(path, text)| (format!("early/{path}"), text)).collect();
            }
            Fault::DeletesBeforeWriting => self.write(&file, "")?,
            Fault::PublishesInTwoSteps => {
                let half: View = view.clone().into_iter().take(view.len() / 2).collect();
                self.write(&file, &serialise(&half))?;
            }
            _ => {}
        }
        let staged = file.with_extension("staged");
        self.write(&staged, &serialise(&view))?;
        self.write_point()?;
        std::fs::rename(staged, &file).expect("because the staged view exists");
        self.write_point()?;
        std::fs::remove_file(lock).expect("because this run created the lock");
        Ok(reply(0, format!("{} files\n", view.len()), ""))
    }

    fn locate(&self, name: &str, reference: &str, json: bool) -> Reply {
        let Some(mut view) = self.view(reference) else {
            return reply(3, String::new(), &format!("{reference} is not indexed\n"));
        };
        if self.fault == Fault::BranchesLeak {
            view = std::fs::read_dir(self.call.home).expect("because the home exists").fold(view, |view, entry| {
                let text = std::fs::read_to_string(entry.expect("because the entry can be read").path())
                    .expect("because the view can be read");
                parse(&text).into_iter().chain(view).collect()
            });
        }
        let mut hits = String::new();
        for (path, text) in &view {
            for (line, code) in text.lines().enumerate() {
                let word = code.trim_start().trim_start_matches("pub ");
                let defined = word.strip_prefix("fn ").or_else(|| word.strip_prefix("def "));
                if defined.is_some_and(|rest| rest.split('(').next() == Some(name)) {
                    hits += &format!("{path}:{}  fn {name}\n", line + 1);
                }
            }
        }
        if json {
            let layer = if reference == "main" { "base" } else { "overlay" };
            let items: Vec<String> = hits.lines().map(|hit| format!("{hit:?}")).collect();
            let items = items.join(",");
            return reply(0, format!(r#"{{"hits":[{items}],"source_layer":"{layer}","took_ms":3}}"#), "");
        }
        if hits.is_empty() { reply(1, hits, &format!("no symbol {name}\n")) } else { reply(0, hits, "took 3 ms\n") }
    }

    /// Counts a write point, and aborts at the last one allowed.
    fn write_point(&mut self) -> Result<(), Killed> {
        if let Some(left) = &mut self.writes_left {
            *left -= 1;
            if *left == 0 {
                return Err(Killed);
            }
        }
        Ok(())
    }

    fn write(&mut self, path: &Path, text: &str) -> Result<(), Killed> {
        std::fs::write(path, text).expect("because the home is writable");
        self.write_point()
    }

    fn file(&self, reference: &str) -> std::path::PathBuf {
        self.call.home.join(format!("{reference}.view"))
    }

    fn view(&self, reference: &str) -> Option<View> {
        Some(parse(&std::fs::read_to_string(self.file(reference)).ok()?))
    }

    fn git(&self, args: &[&str]) -> Option<String> {
        let output =
            Command::new("git").args(args).current_dir(self.call.cwd).output().expect("because git can be run");
        output.status.success().then(|| String::from_utf8(output.stdout).expect("because the output is UTF-8"))
    }

    fn head(&self) -> String {
        let name = self.git(&["symbolic-ref", "--short", "HEAD"]);
        name.map_or_else(|| "live".to_owned(), |name| name.trim().to_owned())
    }

    /// Returns the work tree for the current ref, git's objects for another ref, and all files without git.
    fn tree(&self, reference: &str) -> View {
        if reference != self.head() {
            let listed = self.git(&["ls-tree", "-r", "--name-only", reference]).expect("because the ref exists");
            let show =
                |path: &str| self.git(&["show", &format!("{reference}:{path}")]).expect("because the file exists");
            return listed.lines().map(|path| (path.to_owned(), show(path))).collect();
        }
        let listed = self.git(&["ls-files", "--cached", "--others", "--exclude-standard"]);
        let paths = listed.unwrap_or_else(|| walk(self.call.cwd, "").join("\n"));
        let read = |path: &str| Some((path.to_owned(), std::fs::read_to_string(self.call.cwd.join(path)).ok()?));
        paths.lines().filter_map(read).collect()
    }
}

fn walk(folder: &Path, prefix: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).expect("because the folder can be read") {
        let entry = entry.expect("because the entry can be read");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            paths.extend(walk(&entry.path(), &format!("{path}/")));
        } else {
            paths.push(path);
        }
    }
    paths
}

fn serialise(view: &View) -> String {
    view.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect()
}

fn parse(text: &str) -> View {
    let parts: Vec<&str> = text.split_terminator('\0').collect();
    parts.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
}

//! Kills a command by a signal or by Ctrl-C two hundred times at random moments: the published state is complete, and
//! the next sync repairs everything.
//!
//! Each lane has a repository in which three files on two branches carry the same revision. A command is started after
//! the files got a new one, and killed at some moment of its usual duration. At whatever step it was killed, answers
//! show all three files with one revision: the previous one or the new one.

#![cfg(unix)]

use crate::support;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

use codecompass_testkit::{Home, Repository, Rng};
use serde_json::Value;
use support::Project;

/// The total number of kills, over all lanes.
const KILLS: usize = 200;
const LANES: usize = 4;

#[test]
fn kills_leave_the_published_state() {
    std::thread::scope(|scope| {
        let lanes: Vec<_> =
            (0..LANES).map(|seed| scope.spawn(move || Lane::new(seed as u64).run(KILLS / LANES))).collect();
        for lane in lanes {
            lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// The command that is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// The first command on an empty data folder.
    First,
    /// A sync after an edit of the work tree.
    Sync,
    /// A sync that extracts everything again.
    Force,
    /// A sync of a branch that moved.
    Branch,
}

impl Act {
    const ALL: [Act; 4] = [Act::First, Act::Sync, Act::Force, Act::Branch];

    fn command(self) -> &'static str {
        match self {
            Act::First => "index",
            Act::Sync => "sync",
            Act::Force => "index --force",
            Act::Branch => "index --ref feat",
        }
    }
}

struct Lane {
    project: Project,
    /// A work tree with the branch checked out, used to move it.
    feat: Repository,
    dice: Rng,
    /// The newest revision that was written.
    revision: u64,
    /// The revisions that may be published: of the work tree and of the branch. `None` if nothing is published.
    published: [Option<u64>; 2],
    /// The duration of each command when it is not killed.
    usual: [Duration; 4],
    /// The number of kills that left the previous state.
    undone: usize,
}

fn write(repository: &Repository, revision: u64) {
    repository.write("src/a.rs", format!("//! A.\npub fn marker(r{revision}: u32) {{}}\n"));
    repository
        .write("src/deep/b.rs", format!("pub struct B;\nimpl B {{\n    pub fn marker(r{revision}: u32) {{}}\n}}\n"));
    repository.write("tools/c.py", format!("def marker(r{revision}):\n    return {revision}\n"));
}

impl Lane {
    fn new(seed: u64) -> Self {
        let repository = Repository::new();
        for number in 0..8 {
            repository.write(&format!("src/same_{number}.rs"), format!("pub fn same_{number}() {{}}\n"));
        }
        write(&repository, 0);
        repository.commit("files");
        repository.git(&["branch", "feat"]);
        let feat = repository.worktree("feat");
        let project = Project::new(repository);
        let mut lane = Self {
            project,
            feat,
            dice: Rng::new(seed),
            revision: 0,
            published: [None; 2],
            usual: [Duration::ZERO; 4],
            undone: 0,
        };
        for act in Act::ALL {
            lane.edit(act);
            let began = Instant::now();
            lane.project.run_ok(act.command());
            lane.usual[act as usize] = began.elapsed();
            lane.published[usize::from(act == Act::Branch)] = Some(lane.revision);
        }
        lane
    }

    fn run(mut self, kills: usize) {
        let (mut killed, mut attempts) = (0, 0);
        while killed < kills {
            attempts += 1;
            assert!(attempts < 6 * kills, "the command ends before it is killed too often: {killed} of {attempts}");
            let act = Act::ALL[attempts % Act::ALL.len()];
            killed += usize::from(self.kill(act));
            if attempts.is_multiple_of(16) {
                self.expect_recovered();
            }
        }
        self.expect_recovered();
        assert!(self.undone > 0, "the kills came too late to stop anything");
    }

    /// Makes changes for the command to process.
    fn edit(&mut self, act: Act) {
        self.revision += 1;
        match act {
            Act::First => {
                self.project.home = Home::new();
                self.published = [None; 2];
                write(&self.project.repository, self.revision);
            }
            Act::Sync | Act::Force => write(&self.project.repository, self.revision),
            Act::Branch => {
                write(&self.feat, self.revision);
                self.feat.commit("moved on");
            }
        }
    }

    /// Starts a command, kills it, and checks the result. Returns whether it was still running.
    fn kill(&mut self, act: Act) -> bool {
        self.edit(act);
        let usual = self.usual[act as usize].as_micros() as usize;
        let delay = Duration::from_micros(self.dice.below(usual.max(1)) as u64);
        let began = Instant::now();
        let mut child = self.project.start(act.command());
        while began.elapsed() < delay {
            std::thread::yield_now();
        }
        // Every eighth run is interrupted the way a user does it.
        if self.revision.is_multiple_of(8) {
            let stop = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            stop.expect("`kill` can be run");
        } else {
            child.kill().expect("a child can be killed");
        }
        let status = child.wait().expect("a child can be waited for");
        // An interrupt is reported, and ends the command with 130.
        let killed = matches!(status.signal(), Some(2 | 9)) || status.code() == Some(130);
        assert!(killed || status.code() == Some(0), "`{}` ended with {status}", act.command());
        // Under load a command takes longer than before; kills should cover its whole duration.
        let usual = &mut self.usual[act as usize];
        *usual = if killed { *usual * 21 / 20 } else { *usual * 4 / 5 };

        let branch = usize::from(act == Act::Branch);
        let found = self.shown(["locate marker", "locate marker --ref feat"][branch]);
        let allowed =
            if killed { vec![self.published[branch], Some(self.revision)] } else { vec![Some(self.revision)] };
        assert!(
            allowed.contains(&found),
            "`{}` was killed after {delay:?}: shows {found:?}, one of {allowed:?}",
            act.command()
        );
        self.undone += usize::from(found != Some(self.revision));
        self.published[branch] = found;
        let other = self.shown(["locate marker --ref feat", "locate marker"][branch]);
        assert_eq!(other, self.published[1 - branch], "`{}` was killed after {delay:?}: the other view", act.command());
        killed
    }

    /// Returns the one revision that all three files are shown with; `None` if nothing is published.
    fn shown(&self, question: &str) -> Option<u64> {
        let reply = self.project.run(&format!("{question} --no-sync --json"));
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_else(|_| panic!("`{question}`: {reply:?}"));
        match reply.code {
            Some(0) => {}
            Some(3) if answer.get("error").is_none() => {
                assert_eq!(answer["metadata"]["indexing_status"], "not_indexed", "{answer}");
                return None;
            }
            code => {
                let known = ["project_not_found", "ref_not_indexed"];
                let error = answer["error"]["code"].as_str().unwrap_or_default();
                assert!(matches!(code, Some(3 | 5)) && known.contains(&error), "`{question}`: {reply:?}");
                return None;
            }
        }
        let results = answer["results"].as_array().expect("a list");
        let revision = |hit: &Value| -> Option<u64> {
            let signature = hit["signature"].as_str()?;
            let digits = signature.split("(r").nth(1)?;
            digits.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok()
        };
        let revisions: Vec<Option<u64>> = results.iter().map(revision).collect();
        assert!(
            revisions.len() == 3 && revisions.iter().all(|found| *found == revisions[0]),
            "a partial state: {answer}"
        );
        assert!(revisions[0].is_some(), "{answer}");
        revisions[0]
    }

    /// Checks that the next sync succeeds, and that everything is then as if no kill had happened.
    fn expect_recovered(&mut self) {
        self.project.run_ok("sync");
        self.project.run_ok("index --ref feat");
        let questions = [
            "locate marker --json",
            "locate marker --json --ref feat",
            "locate same_3 --json",
            "locate B --json --ref feat",
            "status --json",
            "status --json --ref feat",
        ];
        self.project.fresh_index(&["feat"]).expect_equal(&questions.map(str::to_owned));
        assert_eq!(self.project.stderr_lines(), [] as [&str; 0]);
        self.published = [self.shown("locate marker"), self.shown("locate marker --ref feat")];
    }
}

/// Two branches that share all files but one, an edit, and an extraction of everything again.
#[test]
fn killed_forced_index_changes_no_answer() {
    let repository = Repository::new();
    repository.write("a.rs", "pub fn shared() {}\n").write("b.rs", "pub fn other() {}\n").commit("first");
    repository.branch("feat").write("c.rs", "pub fn added() {}\n").commit("second");
    repository.checkout("main");
    let project = Project::new(repository);
    project.run_ok("index");
    project.run_ok("index --ref feat");
    let ask = || {
        let ask = |command: &str| project.json(command)["results"].clone();
        [ask("locate shared --ref feat"), ask("locate shared"), ask("search shared"), ask("search other --ref feat")]
    };
    let before = ask();
    assert_eq!(before[0][0]["source_layer"], "base");
    project.kill_at_each_write("index --force", |at, _| {
        assert_eq!(ask(), before, "after a kill at write {at}");
        // The commit's view is built again, the versions of the files are not.
        project.repository.write("a.rs", "pub fn shared() {}\n");
        project.repository.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
        assert_eq!(ask(), before, "after a kill at write {at} and a commit");
    });
}

//! Several processes index, sync and query one project at once, while its files change: only the errors of the
//! contract, and no wrong answer.
//!
//! Every query has a known answer at all times: sentinels that never change, on main and on a branch, and a counter
//! that only increases. `CODECOMPASS_TEST_SECONDS` makes the test run longer.

use crate::support;

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use codecompass_testkit::{Repository, Rng};
use serde_json::{Value, json};
use support::{Project, location_arg};

const FILLERS: usize = 12;

struct World {
    project: Project,
    /// The counter in the work tree: the minimum that a process started now may find.
    written: AtomicU64,
    /// The counter about to be written: the maximum that an ended process may have found.
    writing: AtomicU64,
    /// The highest counter in any answer so far.
    seen: AtomicU64,
    over: AtomicBool,
    asked: AtomicU64,
    busy: AtomicU64,
}

#[test]
fn concurrent_processes_get_correct_answers() {
    let seconds = std::env::var("CODECOMPASS_TEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let world = World::new();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let world = &world;
        let workers: Vec<_> = (0..4).map(|seed| scope.spawn(move || world.work(seed))).collect();
        while began.elapsed() < Duration::from_secs(seconds) && !workers.iter().any(|worker| worker.is_finished()) {
            world.edit();
        }
        world.over.store(true, Ordering::SeqCst);
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let (asked, busy) = (world.asked.into_inner(), world.busy.into_inner());
    assert!(asked > 20 && busy < asked, "{asked} queries, {busy} writers were refused");
    let project = &world.project;
    project.run_ok("sync");
    project.run_ok("index --ref feat");
    assert_eq!(project.stderr_lines(), [] as [&str; 0]);
    let questions =
        ["locate counter --json", "locate sentinel --json", "locate sentinel --json --ref feat", "status --json"];
    project.fresh_index(&["feat"]).expect_equal(&questions.map(str::to_owned));
}

impl World {
    fn new() -> Self {
        let repository = Repository::new();
        repository.write("src/sentinel.rs", "pub fn sentinel(on_main: bool) {}\n");
        repository.write("src/counter.rs", counter(0));
        for number in 0..FILLERS {
            repository.write(&format!("src/fill_{number}.py"), filler(number, 0));
        }
        repository.commit("files");
        repository.branch("feat").write("src/sentinel.rs", "pub fn sentinel(on_feat: bool) {}\n").commit("feat");
        repository.checkout("main");
        let project = Project::new(repository);
        project.run_ok("index");
        project.run_ok("index --ref feat");
        let zero = || AtomicU64::new(0);
        Self {
            project,
            written: zero(),
            writing: zero(),
            seen: zero(),
            over: AtomicBool::new(false),
            asked: zero(),
            busy: zero(),
        }
    }

    /// Increments the counter, and writes new content to every file that is not queried. Each file is replaced as a
    /// whole.
    fn edit(&self) {
        let step = self.writing.fetch_add(1, Ordering::SeqCst) + 1;
        self.replace("src/counter.rs", &counter(step));
        self.written.store(step, Ordering::SeqCst);
        (0..FILLERS).for_each(|number| self.replace(&format!("src/fill_{number}.py"), &filler(number, step)));
        // The counter is incremented after the previous value was seen, or after a while.
        let began = Instant::now();
        while self.seen.load(Ordering::SeqCst) + 1 < step && began.elapsed() < Duration::from_millis(200) {
            std::thread::yield_now();
        }
    }

    fn replace(&self, path: &str, text: &str) {
        let repository = &self.project.repository;
        let aside = repository.root().with_file_name("aside");
        fs::write(&aside, text)
            .and_then(|()| fs::rename(&aside, repository.path(path)))
            .expect("a file can be replaced");
    }

    fn work(&self, seed: u64) {
        let mut dice = Rng::new(seed);
        while !self.over.load(Ordering::SeqCst) {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match dice.below(13) {
                0 => self.write("index"),
                1 => self.write("index --force"),
                2 | 3 => self.write("sync"),
                4 => self.write("index --ref feat"),
                5 => self.status(),
                6 => self.count("locate counter --no-sync"),
                7 | 8 => self.count("locate counter"),
                9 => self.sentinel("locate sentinel", "pub fn sentinel(on_main: bool)"),
                10 => self.sentinel("locate sentinel --ref feat", "pub fn sentinel(on_feat: bool)"),
                11 => assert_eq!(self.project.stderr_lines(), [] as [&str; 0]),
                _ => self.sentinel("locate sentinel --ref main~0", "pub fn sentinel(on_main: bool)"),
            }
        }
    }

    /// Runs a writing command. It succeeds, or reports that another process is writing.
    fn write(&self, command: &str) {
        let reply = self.project.run(&format!("{command} --json"));
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_else(|_| panic!("`{command}`: {reply:?}"));
        match reply.code {
            Some(0) => assert_eq!(answer["file_count"], FILLERS + 2, "`{command}`: {answer}"),
            Some(4) => {
                self.busy.fetch_add(1, Ordering::SeqCst);
                let expected = if command.starts_with("sync") { "sync_in_progress" } else { "index_in_progress" };
                assert_eq!(answer["error"]["code"], expected, "`{command}`: {answer}");
                let job = &answer["error"]["data"]["job_id"];
                assert!(job.is_string(), "`{command}`: {answer}");
            }
            _ => panic!("`{command}`: {reply:?}"),
        }
    }

    fn status(&self) {
        let status = self.project.json("status");
        assert_eq!((&status["index_status"], &status["schema_status"]), (&json!("ready"), &json!("compatible")));
        assert_eq!(status["file_count"], FILLERS + 2, "{status}");
        let jobs = status["recent_jobs"].as_array().expect("a list");
        assert!(jobs.iter().all(|job| job["status"] == "published"), "{status}");
    }

    fn sentinel(&self, command: &str, signature: &str) {
        let answer = self.project.json(command);
        assert_eq!(support::places(&answer), location_arg("src/sentinel.rs"), "`{command}`: {answer}");
        assert_eq!(answer["results"][0]["signature"], signature, "`{command}`: {answer}");
        assert_eq!(answer["metadata"]["indexing_status"], "ready", "`{command}`: {answer}");
    }

    /// Checks that the counter never decreases, is never ahead of the file, and never behind it in an answer marked
    /// fresh.
    fn count(&self, command: &str) {
        let (seen, written) = (self.seen.load(Ordering::SeqCst), self.written.load(Ordering::SeqCst));
        let answer = self.project.json(command);
        let at_most = self.writing.load(Ordering::SeqCst);
        assert_eq!(support::places(&answer), location_arg("src/counter.rs"), "{answer}");
        let signature = answer["results"][0]["signature"].as_str().expect("text");
        let digits = signature.trim_matches(|char: char| !char.is_ascii_digit());
        let found: u64 = digits.parse().unwrap_or_else(|_| panic!("{answer}"));
        assert!((seen..=at_most).contains(&found), "`{command}`: {seen} was seen, {at_most} is written: {answer}");
        if answer["metadata"]["freshness_status"] == "fresh" {
            assert!(found >= written, "`{command}` says it is fresh: {written} was written before: {answer}");
        }
        self.seen.fetch_max(found, Ordering::SeqCst);
    }
}

fn counter(step: u64) -> String {
    format!("pub fn counter(step_{step}: ()) {{}}\n")
}

fn filler(number: usize, step: u64) -> String {
    format!("def fill_{number}_{step}():\n    return {step}\n")
}

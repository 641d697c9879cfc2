//! One writer at a time: messages for the others, and the state that a killed writer leaves.

use crate::support;

use std::fs::{self, File};
use std::process::Child;
use std::time::{Duration, Instant};

use codecompass_testkit::KILL_AT_WRITE;
use serde_json::{Value, json};
use support::{Project, location_arg};

const NONE: [&str; 0] = [];

/// Takes the lock that every writer of the project takes.
fn hold_write_lock(project: &Project) -> File {
    let file = File::open(project.data().join("write.lock")).expect("an earlier writer created the lock");
    file.try_lock().expect("no other process is writing");
    file
}

/// Kills a command at its writes, one after the other, until a run leaves an unfinished job. Returns the job's id.
fn kill_during(project: &Project, command: &str) -> (String, File) {
    for write in 1..=40 {
        let reply = project.run_with(command, &[(KILL_AT_WRITE, &write.to_string())]);
        assert!(reply.was_aborted(), "`{command}` should have been killed at write {write}: {reply:?}");
        if project.data().join("current").is_file() {
            let lock = hold_write_lock(project);
            let active = project.json("status")["active_job"].clone();
            if let Some(id) = active["job_id"].as_str() {
                return (id.to_owned(), lock);
            }
        }
    }
    panic!("`{command}` never started a job");
}

/// Waits until another process waits for a lock, where the system reports it; for a limited time in any case.
fn wait_until_blocked(child: &mut Child) {
    let began = Instant::now();
    let waiter = format!(" {} ", child.id());
    while began.elapsed() < Duration::from_secs(3) && child.try_wait().expect("it can be asked").is_none() {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        if locks.lines().any(|line| line.contains("-> ") && line.contains(&waiter)) {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn running_job_is_reported_and_queries_still_answer() {
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    project.repository.write("b.rs", "pub fn b() {}\n");
    let (id, lock) = kill_during(&project, "sync");

    for command in ["index", "index --force", "index --ref main"] {
        let busy = project.json_expecting(command, 4);
        let error = &busy["error"];
        assert_eq!((&error["code"], &error["data"]["job_id"]), (&json!("index_in_progress"), &json!(id)), "{command}");
    }
    let busy = project.json_expecting("sync", 4);
    let error = &busy["error"];
    assert_eq!((&error["code"], &error["data"]["job_id"]), (&json!("sync_in_progress"), &json!(id)));
    let told = project.run_expecting("index", 4);
    assert!(told.contains(&id) && told.contains("codecompass status"), "{told}");

    let located = project.json("locate a");
    assert_eq!(
        (support::places(&located), &located["metadata"]["freshness_status"]),
        (location_arg("a.rs"), &json!("syncing"))
    );
    assert_eq!(project.places("locate b"), NONE, "it is not published");

    let status = project.json("status");
    assert_eq!(
        (&status["index_status"], &status["metadata"]["freshness_status"]),
        (&json!("ready"), &json!("syncing"))
    );
    let active = &status["active_job"];
    assert_eq!(
        (&active["mode"], &active["status"], &active["ref"]),
        (&json!("incremental"), &json!("running"), &json!("main"))
    );
    for counter in ["files_scanned", "files_indexed", "symbols_extracted"] {
        assert!(active[counter].is_u64(), "{counter}: {active}");
    }
    assert!(active["estimated_completion_pct"].is_number() && active["changed_files"].is_null(), "{active}");
    assert!(status["recent_jobs"].as_array().is_some_and(|jobs| jobs.iter().all(|job| job["job_id"] != id.as_str())));
    assert!(project.run_ok("doctor").contains("held by a writing process"));

    // The writer is gone, so the job was interrupted; the next sync does its work.
    drop(lock);
    let status = project.json("status");
    assert_eq!(status["active_job"], Value::Null);
    let last = &status["recent_jobs"][0];
    assert_eq!((&last["job_id"], &last["status"]), (&json!(id), &json!("interrupted")));
    let complaints = project.stderr_lines();
    assert!(
        complaints.len() == 1 && complaints[0].contains("interrupted") && complaints[0].contains("codecompass sync"),
        "{complaints:?}"
    );
    project.run_ok("sync");
    assert_eq!(project.places("locate b --no-sync"), location_arg("b.rs"));
    assert_eq!(project.stderr_lines(), NONE);
    let jobs = project.json("status")["recent_jobs"].clone();
    let interrupted = jobs.as_array().expect("a list").iter().find(|job| job["job_id"] == id.as_str());
    assert_eq!(
        interrupted.map(|job| &job["status"]),
        Some(&json!("interrupted")),
        "the job is recorded as interrupted: {jobs}"
    );
}

#[test]
fn query_during_first_index_says_so() {
    let project = Project::with_files(&[("a.rs", "pub fn a() {}\n")]);
    let (_, lock) = kill_during(&project, "index");
    let located = project.json_expecting("locate a --no-index", 3);
    let metadata = &located["metadata"];
    assert_eq!(
        (&metadata["indexing_status"], &metadata["result_completeness"]),
        (&json!("indexing"), &json!("partial"))
    );
    assert_eq!(project.json("status")["index_status"], "indexing");
    drop(lock);
    let located = project.json_expecting("locate a --no-index", 3);
    assert_eq!(located["metadata"]["indexing_status"], "not_indexed");
    project.run_ok("index");
    assert_eq!(project.places("locate a --no-sync"), location_arg("a.rs"));
}

#[test]
fn first_query_waits_for_the_index_of_another_process() {
    let project = Project::with_files(&[("a.rs", "pub fn a() {}\n")]);
    let (_, lock) = kill_during(&project, "index");
    let mut child = project.start("locate a");
    wait_until_blocked(&mut child);
    assert!(child.try_wait().expect("it can be asked").is_none(), "it waits");
    drop(lock);
    assert!(child.wait().expect("it can be waited for").success());
}

#[test]
fn sync_of_another_ref_waits() {
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    project.repository.branch("feat").write("x.rs", "pub fn x() {}\n").commit("x");
    project.repository.checkout("main").write("b.rs", "pub fn b() {}\n");
    let (_, lock) = kill_during(&project, "sync");
    let mut child = project.start("sync --ref feat");
    wait_until_blocked(&mut child);
    assert!(child.try_wait().expect("it can be asked").is_none(), "it waits");
    drop(lock);
    assert!(child.wait().expect("it can be waited for").success());
    assert_eq!(project.places("locate x --ref feat --no-sync"), location_arg("x.rs"));
}

#[test]
fn writer_without_job_is_waited_for() {
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let lock = hold_write_lock(&project);
    let began = Instant::now();
    let busy = project.json_expecting("index", 4);
    assert_eq!(busy["error"]["code"], "index_in_progress");
    assert!(began.elapsed() > Duration::from_secs(1), "it did not give up at once");
    // A query does not wait for writers.
    assert_eq!(project.places("locate a"), location_arg("a.rs"));
    // Once the other writer has ended, the command continues by itself.
    let mut child = project.start("index");
    drop(lock);
    assert!(child.wait().expect("it can be waited for").success());
}

#[test]
fn strict_query_waits_for_running_sync() {
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    project.repository.write("b.rs", "pub fn b() {}\n");
    let (_, lock) = kill_during(&project, "sync");
    let began = Instant::now();
    assert_eq!(project.json_expecting("locate a --freshness strict", 3)["error"]["code"], "index_stale");
    assert!(began.elapsed() >= Duration::from_secs(2), "it did not give up at once");
    drop(lock);
}

#[test]
fn readers_do_not_block_a_writer() {
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let readers = File::options().create(true).truncate(false).write(true).open(project.data().join("readers.lock"));
    let readers = readers.expect("the file can be opened");
    readers.try_lock_shared().expect("no other process is collecting garbage");
    for round in 0..3 {
        project.repository.write("a.rs", format!("pub fn a_{round}() {{}}\n"));
        project.run_ok("sync");
        assert_eq!(project.places(&format!("locate a_{round}")), location_arg("a.rs"));
    }
    assert_eq!(project.stderr_lines(), NONE);
}

//! `projects` and `forget`: listing and removing projects in the data folder.

use crate::support;

use std::fs::{self, File};
use std::path::Path;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client as _, StdioClient};
use support::{Project, file_contents};

fn one() -> Project {
    Project::indexed(&[("a.rs", "pub fn a() {}\n")])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// Returns the listed projects.
fn listed(project: &Project) -> Vec<Value> {
    let answer = project.json("projects");
    let projects = answer["projects"].as_array().expect("a list").clone();
    assert_eq!(answer["total_projects"], projects.len(), "{answer:#}");
    let bytes: u64 = projects.iter().filter_map(|project| project["bytes"].as_u64()).sum();
    assert_eq!(answer["total_bytes"], bytes, "{answer:#}");
    assert_eq!(answer["data_folder"], text(project.home.path()));
    projects
}

/// Indexes another repository into the same data folder.
fn index_beside(project: &Project, repository: &Repository) {
    repository.write("b.rs", "pub fn b() {}\n").commit("b");
    assert!(project.run_at(repository.root(), "index", &[]).succeeded());
}

#[test]
fn projects_are_listed() {
    let project = Project::with_files(&[("a.rs", "pub fn a() {}\n")]);
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(project.run_ok("projects").contains("No projects in"));
    project.run_ok("init");
    let registered = listed(&project);
    assert_eq!((&registered[0]["last_indexed_at"], &registered[0]["gone"]), (&Value::Null, &json!(false)));
    assert!(project.run_ok("projects").contains("never indexed"));
    project.run_ok("index");
    let row = listed(&project).remove(0);
    let root = text(project.repository.root());
    assert_eq!(row["workspaces"], json!([{ "path": root, "gone": false }]), "{row:#}");
    assert_eq!(row["project_id"], project.json("status")["project_id"]);
    assert_eq!(row["schema_status"], "compatible");
    assert!(row["bytes"].as_u64().is_some_and(|bytes| bytes > 1000), "{row:#}");
    for time in ["last_indexed_at", "last_used_at"] {
        assert!(row[time].as_str().is_some_and(|time| time.len() == 20 && time.ends_with('Z')), "{row:#}");
    }
    let told = project.run_ok("projects");
    assert!(told.contains(root) && told.contains("1 project of") && !told.contains("gone"), "{told}");
    // Foreign files are ignored.
    fs::create_dir(project.home.path().join("projects/notes")).expect("the data folder can be written");
    assert_eq!(listed(&project).len(), 1);
}

#[test]
fn missing_repository_is_listed_and_removable() {
    let (project, moved) = (one(), Repository::new());
    index_beside(&project, &moved);
    let root = moved.root().to_owned();
    drop(moved);
    assert!(!root.exists());
    let gone: Vec<Value> = listed(&project).into_iter().filter(|row| row["gone"] == true).collect();
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0]["workspaces"], json!([{ "path": text(&root), "gone": true }]));
    let told = project.run_ok("projects");
    assert!(told.contains("(gone)") && told.contains("codecompass forget"), "{told}");
    let answer = project.json(&format!("forget {}/", text(&root)));
    assert_eq!((&answer["project_id"], &answer["gone"]), (&gone[0]["project_id"], &json!(true)), "{answer:#}");
    assert_eq!(answer["bytes_freed"], gone[0]["bytes"]);
    assert_eq!(listed(&project).len(), 1);
    assert!(project.data().is_dir(), "the other one still exists");
    assert_eq!(project.stderr_lines(), [] as [&str; 0]);
}

#[test]
fn forget_by_id_and_reindex() {
    let project = one();
    let before = file_contents(project.repository.root());
    let id = listed(&project)[0]["project_id"].as_str().expect("an id").to_owned();
    let told = project.run_ok(&format!("forget {id}"));
    assert!(told.contains("Forgotten") && told.contains(text(project.repository.root())), "{told}");
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(fs::read_dir(project.home.path().join("projects")).expect("it exists").next().is_none());
    assert_eq!(file_contents(project.repository.root()), before, "the repository must not change");
    assert_eq!(project.json_expecting("locate a --no-index", 3)["error"]["code"], "project_not_found");
    let again = project.json_expecting(&format!("forget {id}"), 3);
    assert_eq!(again["error"]["code"], "project_not_found", "{again:#}");
    project.run_ok("index");
    assert_eq!(project.places("locate a"), support::location_arg("a.rs"));
}

#[test]
fn forget_removes_all_worktrees() {
    let project = one();
    let linked = project.home.path().join("linked");
    project.repository.git(&["worktree", "add", "--quiet", "-b", "side", text(&linked)]);
    assert!(project.run_at(&linked, "index", &[]).succeeded());
    let rows = listed(&project);
    assert_eq!((rows.len(), rows[0]["workspaces"].as_array().map(Vec::len)), (1, Some(2)), "{rows:#?}");
    let told = project.run_ok(&format!("forget {}", text(&linked)));
    assert!(told.contains(&format!("Forgotten: {}", text(&linked))), "{told}");
    assert!(told.contains(&format!("same repository: {}", text(project.repository.root()))), "{told}");
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(linked.join("a.rs").is_file());
}

#[test]
fn forget_requires_exact_name_and_no_writer() {
    let project = one();
    let root = text(project.repository.root()).to_owned();
    project.repository.write("src/deep/b.rs", "pub fn b() {}\n");
    let before = support::files_of(&project.data());
    let lock = File::open(project.data().join("write.lock")).expect("an earlier writer created the lock");
    lock.try_lock().expect("nobody writes now");
    let busy = project.json_expecting(&format!("forget {root}"), 4);
    assert_eq!(busy["error"]["code"], "index_in_progress", "{busy:#}");
    drop(lock);
    for other in [format!("{root}/src"), "nowhere/at/all".into(), "..".into(), "/".into(), "0123456789abcdef".into()] {
        let error = project.json_expecting(&format!("forget {other}"), 3);
        assert_eq!(error["error"]["code"], "project_not_found", "{error:#}");
        assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("codecompass projects")));
    }
    assert_eq!(support::files_of(&project.data()), before);
    assert_eq!(project.run_ok("forget .").lines().count(), 1);
}

/// An index of another version and a corrupt one can be removed like any other.
#[test]
fn unreadable_project_is_listed_and_removable() {
    let project = one();
    let root = text(project.repository.root()).to_owned();
    fs::remove_file(project.epoch().join("store.db-wal")).expect("the test owns it");
    fs::write(project.epoch().join("store.db"), "this is no database".repeat(100)).expect("the test owns it");
    let row = listed(&project).remove(0);
    assert_eq!((&row["workspaces"], &row["gone"]), (&json!([]), &Value::Null), "{row:#}");
    assert_eq!(row["schema_status"], "corrupt_manifest");
    assert_eq!(project.json_expecting(&format!("forget {root}"), 3)["error"]["code"], "project_not_found");
    project.run_ok(&format!("forget {}", row["project_id"].as_str().expect("an id")));
    assert_eq!(listed(&project), [] as [Value; 0]);
}

#[cfg(unix)]
#[test]
fn forget_stays_inside_the_projects_folder() {
    let project = one();
    let kept = project.home.path().join("kept");
    fs::create_dir(&kept).expect("the data folder can be written");
    fs::write(kept.join("file"), "mine").expect("it can be written");
    std::os::unix::fs::symlink(&kept, project.data().join("epoch-99")).expect("links can be created");
    project.run_ok("forget .");
    assert_eq!(fs::read_to_string(kept.join("file")).expect("it still exists"), "mine");
    assert_eq!(listed(&project), [] as [Value; 0]);
}

#[test]
fn server_notices_a_forgotten_project() {
    let project = one();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    assert_eq!(client.call("locate_symbol", json!({ "name": "a" }))["total_candidates"], 1);
    project.run_ok("forget .");
    assert_eq!(client.call_error("locate_symbol", json!({ "name": "a" })).0, "project_not_found");
    project.run_ok("index");
    assert_eq!(client.call("locate_symbol", json!({ "name": "a" }))["total_candidates"], 1);
}

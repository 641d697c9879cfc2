//! `projects` and `forget`: what lies in the data folder, and how it is let go of.

mod support;

use std::fs::{self, File};
use std::path::Path;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client as _, Pipe};
use support::{Project, picture};

fn one() -> Project {
    Project::indexed(&[("a.rs", "pub fn a() {}\n")])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// The projects that are listed.
fn listed(project: &Project) -> Vec<Value> {
    let answer = project.json("projects");
    let projects = answer["projects"].as_array().expect("a list").clone();
    assert_eq!(answer["total_projects"], projects.len(), "{answer:#}");
    let bytes: u64 = projects.iter().filter_map(|project| project["bytes"].as_u64()).sum();
    assert_eq!(answer["total_bytes"], bytes, "{answer:#}");
    assert_eq!(answer["data_folder"], text(project.home.path()));
    projects
}

/// Indexes a further repository into the same data folder.
fn index_beside(project: &Project, repository: &Repository) {
    repository.write("b.rs", "pub fn b() {}\n").commit("b");
    assert!(project.run_at(repository.root(), "index", &[]).succeeded());
}

#[test]
fn what_lies_in_the_data_folder_is_listed() {
    let project = Project::with(&[("a.rs", "pub fn a() {}\n")]);
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(project.done("projects").contains("No projects in"));
    project.done("init");
    let registered = listed(&project);
    assert_eq!((&registered[0]["last_indexed_at"], &registered[0]["gone"]), (&Value::Null, &json!(false)));
    assert!(project.done("projects").contains("never indexed"));
    project.done("index");
    let row = listed(&project).remove(0);
    let root = text(project.repository.root());
    assert_eq!(row["workspaces"], json!([{ "path": root, "gone": false }]), "{row:#}");
    assert_eq!(row["project_id"], project.json("status")["project_id"]);
    assert_eq!(row["schema_status"], "compatible");
    assert!(row["bytes"].as_u64().is_some_and(|bytes| bytes > 1000), "{row:#}");
    for time in ["last_indexed_at", "last_used_at"] {
        assert!(row[time].as_str().is_some_and(|time| time.len() == 20 && time.ends_with('Z')), "{row:#}");
    }
    let told = project.done("projects");
    assert!(told.contains(root) && told.contains("1 project of") && !told.contains("gone"), "{told}");
    // What is none of ours is passed over.
    fs::create_dir(project.home.path().join("projects/notes")).expect("the data folder can be written");
    assert_eq!(listed(&project).len(), 1);
}

#[test]
fn a_repository_that_is_gone_is_listed_as_such_and_forgotten() {
    let (project, moved) = (one(), Repository::new());
    index_beside(&project, &moved);
    let root = moved.root().to_owned();
    drop(moved);
    assert!(!root.exists());
    let gone: Vec<Value> = listed(&project).into_iter().filter(|row| row["gone"] == true).collect();
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0]["workspaces"], json!([{ "path": text(&root), "gone": true }]));
    let told = project.done("projects");
    assert!(told.contains("(gone)") && told.contains("codecompass forget"), "{told}");
    let answer = project.json(&format!("forget {}/", text(&root)));
    assert_eq!((&answer["project_id"], &answer["gone"]), (&gone[0]["project_id"], &json!(true)), "{answer:#}");
    assert_eq!(answer["bytes_freed"], gone[0]["bytes"]);
    assert_eq!(listed(&project).len(), 1);
    assert!(project.data().is_dir(), "the other one is still there");
    assert_eq!(project.complaints(), [] as [&str; 0]);
}

#[test]
fn a_project_is_forgotten_by_its_id_and_can_be_indexed_again() {
    let project = one();
    let before = picture(project.repository.root());
    let id = listed(&project)[0]["project_id"].as_str().expect("an id").to_owned();
    let told = project.done(&format!("forget {id}"));
    assert!(told.contains("Forgotten") && told.contains(text(project.repository.root())), "{told}");
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(fs::read_dir(project.home.path().join("projects")).expect("it is there").next().is_none());
    assert_eq!(picture(project.repository.root()), before, "the repository is nobody's to touch");
    assert_eq!(project.json_ending("locate a", 3)["error"]["code"], "project_not_found");
    let again = project.json_ending(&format!("forget {id}"), 3);
    assert_eq!(again["error"]["code"], "project_not_found", "{again:#}");
    project.done("index");
    assert_eq!(project.places("locate a"), support::at("a.rs"));
}

#[test]
fn worktrees_of_a_repository_go_together_and_the_answer_says_so() {
    let project = one();
    let linked = project.home.path().join("linked");
    project.repository.git(&["worktree", "add", "--quiet", "-b", "side", text(&linked)]);
    assert!(project.run_at(&linked, "index", &[]).succeeded());
    let rows = listed(&project);
    assert_eq!((rows.len(), rows[0]["workspaces"].as_array().map(Vec::len)), (1, Some(2)), "{rows:#?}");
    let told = project.done(&format!("forget {}", text(&linked)));
    assert!(told.contains(&format!("Forgotten: {}", text(&linked))), "{told}");
    assert!(told.contains(&format!("same repository: {}", text(project.repository.root()))), "{told}");
    assert_eq!(listed(&project), [] as [Value; 0]);
    assert!(linked.join("a.rs").is_file());
}

#[test]
fn nothing_is_forgotten_while_somebody_writes_or_by_another_name() {
    let project = one();
    let root = text(project.repository.root()).to_owned();
    project.repository.write("src/deep/b.rs", "pub fn b() {}\n");
    let before = support::files_of(&project.data());
    let lock = File::open(project.data().join("write.lock")).expect("a writer was there before");
    lock.try_lock().expect("nobody writes now");
    let busy = project.json_ending(&format!("forget {root}"), 4);
    assert_eq!(busy["error"]["code"], "index_in_progress", "{busy:#}");
    drop(lock);
    for other in [format!("{root}/src"), "nowhere/at/all".into(), "..".into(), "/".into(), "0123456789abcdef".into()] {
        let error = project.json_ending(&format!("forget {other}"), 3);
        assert_eq!(error["error"]["code"], "project_not_found", "{error:#}");
        assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("codecompass projects")));
    }
    assert_eq!(support::files_of(&project.data()), before);
    assert_eq!(project.done("forget .").lines().count(), 1);
}

/// An index of another version, and one that is damaged, can be let go of like any other.
#[test]
fn what_can_not_be_read_is_listed_and_forgotten() {
    let project = one();
    let root = text(project.repository.root()).to_owned();
    fs::remove_file(project.epoch().join("store.db-wal")).expect("it is ours");
    fs::write(project.epoch().join("store.db"), "this is no database".repeat(100)).expect("it is ours");
    let row = listed(&project).remove(0);
    assert_eq!((&row["workspaces"], &row["gone"]), (&json!([]), &Value::Null), "{row:#}");
    assert_eq!(row["schema_status"], "corrupt_manifest");
    assert_eq!(project.json_ending(&format!("forget {root}"), 3)["error"]["code"], "project_not_found");
    project.done(&format!("forget {}", row["project_id"].as_str().expect("an id")));
    assert_eq!(listed(&project), [] as [Value; 0]);
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_projects_folder_is_removed() {
    let project = one();
    let kept = project.home.path().join("kept");
    fs::create_dir(&kept).expect("the data folder can be written");
    fs::write(kept.join("file"), "mine").expect("it can be written");
    std::os::unix::fs::symlink(&kept, project.data().join("epoch-99")).expect("links can be made");
    project.done("forget .");
    assert_eq!(fs::read_to_string(kept.join("file")).expect("it is still there"), "mine");
    assert_eq!(listed(&project), [] as [Value; 0]);
}

#[test]
fn a_server_finds_that_its_project_was_forgotten() {
    let project = one();
    let mut client = Pipe::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    assert_eq!(client.call("locate_symbol", json!({ "name": "a" }))["total_candidates"], 1);
    project.done("forget .");
    assert_eq!(client.fails("locate_symbol", json!({ "name": "a" })).0, "project_not_found");
    project.done("index");
    assert_eq!(client.call("locate_symbol", json!({ "name": "a" }))["total_candidates"], 1);
}

//! An index made by another version of this program: old facts are extracted again, an old schema is refused and
//! replaced.

use crate::support;

use codecompass_store::{OnMissing, SCHEMA_VERSION, SchemaStatus, Store, StoreError, Tuning, Writer};
use codecompass_testkit::Repository;
use rusqlite::Connection;
use support::{Project, dump};

fn indexed() -> (Repository, Project) {
    let repo = Repository::new();
    repo.write("src/a.rs", "pub fn a() {}\n").write("src/b.rs", "pub fn b() {}\n").write("logo.bin", [0u8, 1, 2]);
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    (repo, project)
}

/// Changes the database directly.
fn tamper(project: &Project, sql: &str) {
    let database = Connection::open(project.epoch().join("store.db")).expect("the store can be opened");
    database.execute_batch(sql).expect("the statement fits the schema");
}

#[test]
fn old_facts_versions_are_extracted_again() {
    let (_repo, project) = indexed();
    let before = dump(&project, None);
    tamper(
        &project,
        "UPDATE file_versions SET facts_version = 0 WHERE path = 'src/a.rs' OR path = 'logo.bin';
         UPDATE branch_state SET facts_key = facts_key + 1;",
    );
    let outcome = project.sync(None);
    assert_eq!(outcome.extracted, 1, "one file has old facts; the binary file is checked again and skipped again");
    assert_eq!(dump(&project, None), before);
    let view = Store::open(&project.dir())
        .expect("the store can be opened")
        .view(&project.target(None).key)
        .expect("the view can be read");
    assert_eq!(
        view.expect("it is published").facts_key,
        codecompass_index::extraction_key(&codecompass_index::source::Limits::default())
    );
    assert_eq!(project.sync(None).extracted, 0);
}

#[test]
fn language_override_rereads_files() {
    let repo = Repository::new();
    repo.write("src/a.inc", "pub fn a() {}\n").write("old/a.inc", "pub fn a() {}\n").write("b.rs", "pub fn b() {}\n");
    repo.commit("first");
    let mut project = Project::new(repo.root());
    project.sync(None);
    let before = dump(&project, None);
    let choose = |pattern: &str, language: &str| vec![(pattern.to_owned(), language.to_owned())];
    project.languages = choose("src/*.inc", "rust");
    assert_eq!(project.sync(None).extracted, 1, "the same bytes at another path are not extracted");
    let chosen = dump(&project, None);
    assert_ne!(chosen, before);
    assert_eq!(project.sync(None).extracted, 0);
    // An override that equals the detected language of a path still makes a version of its own.
    project.languages = choose("*.inc", "rust");
    assert_eq!(project.sync(None).extracted, 1);
    // Versions that were read before are still known.
    project.languages = Vec::new();
    assert_eq!(project.sync(None).extracted, 0);
    assert_eq!(dump(&project, None), before);
    project.languages = choose("src/*.inc", "rust");
    assert_eq!(project.sync(None).extracted, 0);
    assert_eq!(dump(&project, None), chosen);
    // A sync of a single known edit uses the language override.
    repo.write("src/a.inc", "pub fn c() {}\n");
    project.sync_known(&["src/a.inc"]);
    let edited = dump(&project, None);
    project.sync_forced();
    assert_eq!(dump(&project, None), edited);
}

#[test]
fn other_schema_is_refused_until_replaced() {
    let (_repo, project) = indexed();
    let before = dump(&project, None);
    tamper(&project, "UPDATE meta SET value = 99 WHERE key = 'schema_version'");
    assert_eq!(
        SchemaStatus::read(&project.dir()).expect("it is registered"),
        SchemaStatus::ReindexRequired { found: 99 }
    );
    let refused =
        |error: StoreError| matches!(error, StoreError::ReindexRequired { found: 99, required: SCHEMA_VERSION });
    assert!(Store::open(&project.dir()).is_err_and(refused));
    let opened = Writer::open(&project.dir(), OnMissing::Create, false, Tuning::default(), None, 0);
    assert!(opened.is_err_and(refused), "a plain sync does not delete an index");
    project.sync_forced();
    assert_eq!(SchemaStatus::read(&project.dir()).expect("it is registered"), SchemaStatus::Compatible);
    assert_eq!(dump(&project, None), before);
    project.check_health();
}

#[test]
fn corrupt_and_outdated_stores_are_distinguished() {
    for damage in ["DROP TABLE meta", "DELETE FROM meta WHERE key = 'schema_version'", "DROP TABLE branch_state"] {
        let (_repo, project) = indexed();
        tamper(&project, damage);
        assert_eq!(
            SchemaStatus::read(&project.dir()).expect("it is registered"),
            SchemaStatus::CorruptManifest,
            "{damage}"
        );
    }
}

#[test]
fn force_extracts_everything_once() {
    let (_repo, project) = indexed();
    let before = (dump(&project, None), dump(&project, Some("main")));
    assert_eq!(project.sync_forced().extracted, 2);
    assert_eq!((dump(&project, None), dump(&project, Some("main"))), before);
    assert_eq!(project.sync(None).extracted, 0);
}

#[test]
fn least_recent_commit_views_are_evicted() {
    let (repo, project) = indexed();
    let mut commits = Vec::new();
    for n in 0..24 {
        repo.write("src/a.rs", format!("pub fn a{n}() {{}}\n"));
        commits.push(repo.commit("next"));
    }
    for commit in &commits {
        project.sync(Some(commit));
    }
    let views = Store::open(&project.dir()).expect("the store can be opened").views().expect("the views can be read");
    let of_commits = views.iter().filter(|view| view.key.encode().starts_with("commit:")).count();
    assert_eq!(of_commits, 20);
    assert!(views.iter().any(|view| view.commit.as_ref() == commits.last()), "the newest view exists");
}

//! Secrets: they are not indexed, only the user can include them, and files that newly count as secret leave stores and
//! exports.

use crate::support;

use std::fs;
use std::path::Path;

use codecompass_testkit::{Reply, Repository};
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient};

const KEY: &str =
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n";

/// Files with secrets, each with a unique word.
const SECRETS: &[(&str, &str)] = &[
    ("prod.env", "PASSWORD=wordofenv"),
    ("config/credentials.json", "{\"token\": \"wordofcredentials\"}"),
    (".docker/config.json", "{\"auths\": \"wordofdocker\"}"),
    (".kube/config", "token: wordofkube"),
    ("infra/main.tfstate", "{\"password\": \"wordoftfstate\"}"),
    ("infra/prod.tfvars", "password = \"wordoftfvars\""),
    (".htpasswd", "me:wordofhtpasswd"),
    (".vault-token", "wordofvault"),
    ("secrets.yml", "key: wordofyml"),
    ("secrets.yaml", "key: wordofyaml"),
    ("keys/me.ppk", "wordofppk"),
    ("keys/me.kdbx", "wordofkdbx"),
];

/// A repository with all of them on `main`, and one more on `feat`.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("src/lib.rs", "pub fn plain() {}\n");
    for (path, text) in SECRETS {
        repository.write(path, *text);
    }
    repository.write("notes/tls.txt", format!("wordofkeyfile\n{KEY}"));
    repository.write("src/tls.rs", format!("pub const WORDOFCODE: &str = \"{}\";\n", KEY.replace('\n', "\\n")));
    repository.commit("first");
    repository.branch("feat").write("feat.env", "PASSWORD=wordoffeat").commit("more");
    repository.checkout("main");
    repository
}

/// Indexes with this user configuration.
fn indexed(configuration: &str) -> Project {
    let project = Project::new(repository());
    configure(&project, configuration);
    project.run_ok("index");
    project.run_ok("index --ref feat");
    project
}

fn configure(project: &Project, text: &str) {
    fs::write(project.home.path().join("config.toml"), text).expect("it can be written");
}

/// Returns the words of secrets that an answer for a ref contains.
fn leaks(project: &Project, reference: &str) -> Vec<String> {
    let grep = project.run(&format!("grep --ref {reference} -F wordof --limit 200 --json"));
    let search =
        project.run(&format!("search --ref {reference} 'wordofenv wordofkeyfile wordoffeat' --limit 50 --json"));
    let answer =
        |reply: &Reply| serde_json::from_str::<Value>(&reply.stdout).expect("an answer is JSON")["results"].to_string();
    let text = answer(&grep) + &answer(&search);
    let words = SECRETS.iter().filter_map(|(_, text)| text.find("wordof").map(|at| &text[at..]));
    let words = words.map(|rest| rest.trim_end_matches(|char: char| !char.is_ascii_lowercase()).to_owned());
    words.chain(["wordofkeyfile".into(), "wordoffeat".into()]).filter(|word| text.contains(word)).collect()
}

/// Returns the number of lines that a query without a sync finds.
fn matches(project: &Project, reference: &str) -> Value {
    let reply = project.run(&format!("grep --ref {reference} --no-sync -F wordof --json"));
    serde_json::from_str::<Value>(&reply.stdout).expect("an answer is JSON")["total_matches"].clone()
}

/// Whether any file below a folder contains the bytes of a word, in a row or a term.
fn folder_contains(folder: &Path, word: &str) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("it can be listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(word.len()).any(|part| part == word.as_bytes())) {
                return true;
            }
        }
    }
    false
}

const ALL: &str = "[index]\nallow_secret_paths = [\"*\"]\n";

#[test]
fn secrets_are_skipped_and_code_is_not() {
    let project = indexed("");
    for reference in ["main", "feat"] {
        assert_eq!(leaks(&project, reference), [""; 0], "{reference}");
    }
    assert_eq!(project.places("locate WORDOFCODE"), ["src/tls.rs:1"]);
    let why = project.run_expecting("outline prod.env", 1);
    assert!(why.contains("secret") && why.contains("index.allow_secret_paths"), "{why}");
}

#[test]
fn only_user_config_allows_secret_paths() {
    let project = indexed("[index]\nallow_secret_paths = [\"/prod.env\", \"notes/\"]\n");
    assert_eq!(leaks(&project, "main"), ["wordofenv", "wordofkeyfile"]);
    project.repository.write(".codecompass/config.toml", "[index]\nallow_secret_paths = [\"*\"]\n");
    project.run_ok("sync");
    assert_eq!(leaks(&project, "main"), ["wordofenv", "wordofkeyfile"]);
    let answer = project.json("locate plain");
    assert!(answer["metadata"]["warnings"].to_string().contains("index.allow_secret_paths cannot be set"), "{answer}");
    let bad = project.run_with("locate plain", &[("CODECOMPASS_INDEX_ALLOW_SECRET_PATHS", "{a")]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

#[test]
fn new_secrets_are_removed_from_the_store() {
    let project = indexed(ALL);
    assert_eq!(leaks(&project, "feat").len(), SECRETS.len() + 2, "the user allowed all of them");
    assert!(folder_contains(&project.data(), "wordofkube"), "its words are in the text index");
    let archive = project.home.path().join("with.tar.zst");
    project.run_ok(&format!("state export '{}'", archive.display()));
    configure(&project, "");
    // This syncs no view, and the very first answer contains none of them.
    assert_eq!(matches(&project, "feat"), 0);
    for reference in ["main", "feat"] {
        assert_eq!(leaks(&project, reference), [""; 0], "{reference}");
    }
    for word in ["wordofkube", "wordofkeyfile", "wordoffeat", "wordofenv"] {
        assert!(!folder_contains(&project.data(), word), "{word} is still stored");
    }
    assert_eq!(project.stderr_lines(), [""; 0]);
    project.run_ok("sync");
    let questions = ["locate plain", "search plain", "grep key", "outline src/tls.rs --ref feat"].map(str::to_owned);
    project.fresh_index(&["feat"]).expect_equal(&questions);
    // An archive that was made under other rules.
    project.run_ok(&format!("state import '{}'", archive.display()));
    for reference in ["main", "feat"] {
        assert_eq!(leaks(&project, reference), [""; 0], "{reference} was imported");
    }
}

#[test]
fn exports_have_no_secrets() {
    let project = indexed(ALL);
    configure(&project, "");
    let archive = project.home.path().join("without.tar.zst");
    project.run_ok(&format!("state export '{}'", archive.display()));
    let other = Project::new(repository());
    configure(&other, ALL);
    other.run_ok(&format!("state import '{}'", archive.display()));
    assert_eq!(matches(&other, "feat"), 0);
}

#[test]
fn kill_during_secret_removal_is_atomic() {
    let project = indexed(ALL);
    configure(&project, "");
    project.kill_at_each_write("sync", |at, _| {
        for reference in ["main", "feat"] {
            assert_eq!(leaks(&project, reference), [""; 0], "{reference} after a kill at write {at}");
        }
        assert_eq!(project.places("locate plain --ref feat"), ["src/lib.rs:1"], "after a kill at write {at}");
        assert_eq!(project.stderr_lines(), [""; 0], "after a kill at write {at}");
    });
}

#[test]
fn later_allowed_path_is_indexed_everywhere() {
    let project = indexed("");
    configure(&project, ALL);
    project.run_ok("sync");
    for reference in ["main", "feat"] {
        assert!(leaks(&project, reference).len() > SECRETS.len(), "{reference}");
    }
    assert_eq!(project.json("status")["file_count"], json!(SECRETS.len() + 3), "nothing else is missing");
}

#[test]
fn server_hides_secrets_of_another_writer() {
    let project = indexed("");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let grep = json!({ "pattern": "wordof", "literal": true, "ref": "feat" });
    assert_eq!(client.call("grep_code", grep.clone())["total_matches"], 0);
    let all = project.home.path().join("all.toml");
    fs::write(&all, ALL).expect("it can be written");
    project.run_ok(&format!("index --ref feat --config '{}'", all.display()));
    let answer = client.call("grep_code", grep);
    assert_eq!(answer["total_matches"], 0, "{answer}");
}

//! Properties that hold for any repository, checked on generated ones. One line in [`LAWS`] adds a tool.

use crate::support;

use std::path::PathBuf;
use std::time::Duration;

use codecompass_testkit::{
    Call, Failure, Home, IndexUpdater, KILL_AT_WRITE, Law, Product, ProductBinary, RandomRepository, Reply, Repository,
    Rng, check_branch_law, check_idempotence_law, check_incremental_law, check_rebase_law, check_road_law,
};
use serde_json::{Value, json};
use support::client::{Client, StdioClient, wait_until};

const LAWS: &[Law] = &[
    Law { name: "locate", queries: |sample| each(&names(sample), "locate {} --json") },
    Law { name: "locate by suffix", queries: |sample| each(&suffixes(sample), "locate {} --json") },
    Law { name: "locate by kind", queries: |sample| each(&names(sample)[..1], "locate {} --kind fn --limit 2 --json") },
    Law { name: "locate by language", queries: |sample| each(&names(sample)[..1], "locate {} --lang python --json") },
    Law { name: "search by name", queries: |sample| each(&names(sample)[..3], "search {} --json") },
    Law {
        name: "search by words",
        queries: |_| vec!["search \"where is the value returned\" --limit 5 --json".to_owned()],
    },
    Law {
        name: "search with filters",
        queries: |sample| {
            each(&names(sample)[..1], "search {} --lang rust --kind fn --path-filter 'src/**,!src/main.rs' --json")
        },
    },
    Law {
        name: "details and reasons",
        queries: |sample| {
            let mut questions = each(&names(sample)[1..2], "locate {} --detail context --explain=full --json");
            questions.extend(each(&names(sample)[2..3], "search {} --detail context --explain=basic --json"));
            questions.extend(each(&names(sample)[..1], "search {} --detail context --compact"));
            questions
        },
    },
    Law { name: "pages", queries: |sample| each(&names(sample)[..2], "search {} --limit 1 --detail location --json") },
    Law { name: "explain", queries: |sample| each(&places(sample), "explain {} --json") },
    Law { name: "grep", queries: |sample| each(&names(sample)[..2], "grep {} --json") },
    Law {
        name: "references and calls",
        queries: |sample| {
            let mut questions = each(&names(sample)[..2], "references {} --json");
            questions.extend(each(&names(sample)[1..3], "callers {} --depth 3 --json"));
            questions.extend(each(&names(sample)[2..4], "callees {} --depth 2 --json"));
            questions
        },
    },
    Law {
        name: "hierarchy and related",
        queries: |sample| {
            let mut questions = each(&names(sample)[..2], "hierarchy {} --direction descendants --json");
            questions.extend(each(&names(sample)[..2], "related {} --json"));
            questions.extend(each(&names(sample)[2..4], "related {} --scope package --limit 30 --json"));
            questions
        },
    },
    Law {
        name: "context",
        queries: |sample| {
            let mut questions = each(&names(sample)[..2], "context {} --max-tokens 700 --json");
            questions.extend(each(&names(sample)[2..3], "context \"where is {} used\" --strategy depth --json"));
            questions.extend(each(&names(sample)[3..4], "context --symbol {} --json"));
            questions
        },
    },
    Law {
        name: "outline",
        queries: |sample| {
            each(&sample.paths.iter().step_by(4).take(3).cloned().collect::<Vec<_>>(), "outline {} --json")
        },
    },
    Law {
        name: "texts",
        queries: |sample| {
            let mut questions = each(&names(sample)[..2], "locate {}");
            questions.extend(each(&names(sample)[1..3], "search {}"));
            questions.extend(each(&names(sample)[..2], "search --complete {}"));
            questions.push("search --complete s --limit 50".to_owned());
            questions.extend(each(&names(sample)[..2], "references {}"));
            questions.extend(each(&names(sample)[1..3], "callers {} --depth 3"));
            questions.extend(each(&names(sample)[2..4], "callees {}"));
            questions.extend(each(&names(sample)[..2], "read {}"));
            questions.extend(each(&names(sample)[..1], "grep {}"));
            questions.extend(each(&names(sample)[..1], "related {}"));
            questions.extend(each(&names(sample)[..1], "context {} --max-tokens 700"));
            questions.extend(each(&names(sample)[1..2], "hierarchy {} --direction descendants"));
            questions.extend(each(&sample.paths.iter().step_by(5).take(2).cloned().collect::<Vec<_>>(), "outline {}"));
            questions.push("search \"where is the value returned\"".to_owned());
            questions
        },
    },
    Law { name: "status", queries: |_| vec!["status --json".to_owned()] },
];

/// Queries about two refs. A single ref in its own repository has nothing to be compared with, so only the other two
/// laws apply to them.
const CHANGES: &[Law] = &[
    Law {
        name: "diff",
        queries: |_| {
            let questions = [
                "diff main {ref} --all --docs --json",
                "diff {ref} @worktree --callers --edges --json",
                "diff main {ref}",
                "diff {ref} @worktree --callers --edges",
            ];
            questions.map(str::to_owned).to_vec()
        },
    },
    Law {
        name: "compare",
        queries: |sample| {
            let mut questions = each(&names(sample)[..3], "compare {} main {ref} --json");
            questions.extend(each(&names(sample)[2..4], "compare {} {ref} @worktree --json"));
            questions.extend(each(&names(sample)[..2], "compare {} main {ref}"));
            questions
        },
    },
];

#[test]
fn ref_answers_equal_fresh_index() {
    check_branch_law(&product(), LAWS, 1..=2);
}

#[test]
fn moved_branch_equals_fresh_index() {
    check_rebase_law(&product(), LAWS, 10..=10);
}

#[test]
fn reindexing_changes_no_answer() {
    check_idempotence_law(&product(), &[LAWS, CHANGES].concat(), 3..=3);
}

#[test]
fn edited_index_equals_fresh_index() {
    check_incremental_law(&product(), &[LAWS, CHANGES].concat(), 4..=9);
}

#[test]
fn server_maintained_index_equals_fresh_index() {
    check_road_law(&product(), LAWS, 20..=21, &|repository, home| {
        Box::new(ServerUpdater {
            client: StdioClient::open(repository.root(), home.path(), &["--no-watch"]),
            policy: "balanced",
        })
    });
}

#[test]
fn watched_index_equals_fresh_index() {
    check_road_law(&product(), LAWS, 22..=24, &|repository, home| {
        Box::new(ServerUpdater {
            client: StdioClient::open(repository.root(), home.path(), &[]),
            policy: "best_effort",
        })
    });
}

#[test]
fn repeatedly_killed_index_equals_fresh_index() {
    check_road_law(&product(), LAWS, 25..=26, &|repository, home| Box::new(KilledUpdater::new(repository, home)));
}

/// Queries a server until it reports fresh. With `best_effort` a query triggers no sync: the watch has to.
struct ServerUpdater {
    client: StdioClient,
    policy: &'static str,
}

impl IndexUpdater for ServerUpdater {
    fn sync(&mut self, _: &mut Rng) -> Result<(), Failure> {
        let question = json!({ "name": "main", "freshness_policy": self.policy });
        let mut last = Value::Null;
        let is_fresh = wait_until(Duration::from_secs(60), || {
            last = self.client.result("locate_symbol", question.clone())["answer"].clone();
            last["metadata"]["freshness_status"] == "fresh"
        });
        if is_fresh { Ok(()) } else { Err(Failure(format!("it never got fresh: {last}"))) }
    }
}

/// Runs a command that is killed at some write of every sync, and then one that is not.
struct KilledUpdater {
    binary: ProductBinary,
    root: PathBuf,
    home: PathBuf,
}

impl KilledUpdater {
    fn new(repository: &Repository, home: &Home) -> Self {
        let binary = ProductBinary::new(env!("CARGO_BIN_EXE_codecompass"));
        Self { binary, root: repository.root().to_owned(), home: home.path().to_owned() }
    }
}

impl IndexUpdater for KilledUpdater {
    fn sync(&mut self, dice: &mut Rng) -> Result<(), Failure> {
        let args = ["sync".to_owned()];
        let kill = [(KILL_AT_WRITE.to_owned(), (1 + dice.below(8)).to_string())];
        self.binary.call(&Call { args: &args, cwd: &self.root, home: &self.home, env: &kill });
        let reply = self.binary.call(&Call { args: &args, cwd: &self.root, home: &self.home, env: &[] });
        if reply.succeeded() { Ok(()) } else { Err(Failure(format!("{reply:?}"))) }
    }
}

/// Returns a few of the names, spread over all; some exist on one ref only.
fn names(sample: &RandomRepository) -> Vec<String> {
    const MAX_NAMES: usize = 5;
    let step = sample.names.len().div_ceil(MAX_NAMES).max(1);
    sample.names.iter().step_by(step).cloned().collect()
}

/// Returns suffixes of qualified names: the file's stem and a function that may or may not be in it.
fn suffixes(sample: &RandomRepository) -> Vec<String> {
    let stem = |path: &String| path.rsplit('/').next().and_then(|name| name.split('.').next()).map(str::to_owned);
    let stems = sample.paths.iter().step_by(4).filter_map(stem);
    stems.zip(sample.names.iter().step_by(3)).take(3).map(|(stem, name)| format!("{stem}::{name}")).collect()
}

/// Returns names with the first line of a file, which may or may not be their location.
fn places(sample: &RandomRepository) -> Vec<String> {
    let paths = sample.paths.iter().step_by(3);
    names(sample).iter().zip(paths).take(3).map(|(name, path)| format!("{name} {path}:1")).collect()
}

fn each(names: &[String], question: &str) -> Vec<String> {
    names.iter().map(|name| question.replace("{}", name)).collect()
}

fn product() -> impl Product {
    Comparable(ProductBinary::new(env!("CARGO_BIN_EXE_codecompass")))
}

/// The program with a `status` that does not name its project: a separate repository is another project.
struct Comparable(ProductBinary);

impl Product for Comparable {
    fn call(&self, call: &Call<'_>) -> Reply {
        let mut reply = self.0.call(call);
        if call.args.first().is_some_and(|command| command == "status")
            && let Ok(Value::Object(mut status)) = serde_json::from_str(&reply.stdout)
        {
            assert!(status.remove("project_id").is_some(), "{}", reply.stdout);
            reply.stdout = Value::Object(status).to_string();
        }
        reply
    }
}

//! Prints the candidates of questions with all feature values: the data to which ranking weights are fitted.
//!
//! ```text
//! features ROOT DATA LIMIT < questions.jsonl > candidates.jsonl
//! ```
//!
//! Indexes the folder or work tree ROOT into DATA. A question is `{"query": …, "ref": …}`; `ref` is a commit and may be
//! absent. A line of output has the results in order: path, name, kind, lines and feature values.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use codecompass_index::source::{Limits, Workspace};
use codecompass_index::{SyncOptions, Target, sync};
use codecompass_lang::REGISTRY;
use codecompass_query::{Feature, SearchHit, SearchRequest, search};
use codecompass_store::{ProjectDir, Snapshot, Store, Tuning};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let usage = "usage: features ROOT DATA LIMIT";
    let [root, data, limit] = std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| usage)?;
    let limit = limit.parse()?;
    let (workspace, dir) = (Workspace::discover(Path::new(&root), None)?, ProjectDir::new(data));
    let mut at: Option<(Option<String>, Snapshot)> = None;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let wanted = question["ref"].as_str().map(str::to_owned);
        let snapshot = match at.take() {
            Some((known, snapshot)) if known == wanted => snapshot,
            _ => indexed(&workspace, &dir, wanted.as_deref())?,
        };
        let query = question["query"].as_str().unwrap_or_default();
        let found = search(&snapshot, &SearchRequest::new(query, REGISTRY, limit))?;
        let hits: Vec<Value> = found.hits.iter().map(described).collect();
        writeln!(out, "{}", json!({ "intent": format!("{:?}", found.intent), "hits": hits }))?;
        at = Some((wanted, snapshot));
    }
    Ok(())
}

fn described(hit: &SearchHit) -> Value {
    let symbol = hit.symbol();
    let values = Feature::ALL.iter().map(|feature| (feature.key(), hit.scores.value(*feature)));
    let values: serde_json::Map<String, Value> =
        values.filter(|(_, value)| *value != 0.0).map(|(key, value)| (key.to_owned(), json!(value))).collect();
    json!({
        "path": hit.version.path,
        "type": hit.kind.as_str(),
        "name": symbol.map(|symbol| symbol.name.as_str()),
        "kind": symbol.map(|symbol| symbol.kind.as_str()),
        "lines": [hit.lines.start, hit.lines.end],
        "values": values,
    })
}

fn indexed(workspace: &Workspace, dir: &ProjectDir, wanted: Option<&str>) -> Result<Snapshot, Failure> {
    let target = Target::resolve(workspace, wanted)?;
    let options = SyncOptions {
        force: false,
        upgrade: true,
        wait: true,
        changed: None,
        also: Vec::new(),
        limits: Limits::default(),
        threads: 1,
        tuning: Tuning::default(),
        point: None,
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
        job_id: None,
        started: &|_| (),
    };
    sync(dir, workspace, &target, &options)?;
    Ok(Store::open(dir)?.snapshot(&target.key)?)
}

//! The answers of `codecompass bench`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::named::Named;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer<T> {
    /// The number of cores.
    pub cores: usize,
    /// The measurements by repository.
    pub repositories: Vec<T>,
    /// The metadata.
    pub metadata: Metadata,
}

/// The cost of indexing a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Indexing {
    /// Its root.
    pub path: String,
    /// The number of threads.
    pub threads: usize,
    /// The number of files.
    pub files: u64,
    /// The number of lines.
    pub lines: u64,
    /// The size of the source.
    pub bytes: u64,
    /// The size of the index.
    pub index_bytes: u64,
    /// The cost by stage.
    pub stages: Vec<Stage>,
    /// Indexing over parsing.
    pub full_over_parse_cpu: f64,
    /// The same in elapsed time.
    pub full_over_parse_wall: f64,
    /// The speed of indexing.
    pub lines_per_second: f64,
    /// The size of the index over that of the source.
    pub index_over_source: f64,
    /// A sync without changes over a walk.
    pub noop_over_walk_wall: f64,
    /// The same in processor time.
    pub noop_over_walk_cpu: f64,
    /// The sync of one file, in milliseconds.
    pub one_file_ms: Option<f64>,
}

/// The cost of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub stage: Word,
    /// Its elapsed time, in milliseconds.
    pub wall_ms: f64,
    /// Its processor time, in milliseconds.
    pub cpu_ms: f64,
    /// Its private memory.
    pub private_bytes: u64,
}

/// The time of queries in a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queries {
    /// Its root.
    pub path: String,
    /// The number of files.
    pub files: u64,
    /// The number of lines.
    pub lines: u64,
    /// The times by kind of query.
    #[serde(flatten)]
    pub times: Named<Times>,
}

/// The times of one kind of query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile, in milliseconds.
    pub p95_ms: f64,
    /// The maximum, in milliseconds.
    pub max_ms: f64,
    /// The number of queries.
    pub queries: usize,
}

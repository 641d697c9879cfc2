//! Failed calls: a code, a message, and the data that a machine needs to recover.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::explain_ranking::Absence;
use crate::metadata::Metadata;
use crate::words::{SchemaStatus, Word};

/// The answer of a failed call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorReply {
    /// The error.
    pub error: ErrorBody,
    /// The metadata of the project, if it was determined.
    pub metadata: Metadata,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// The code, with a permanent meaning.
    pub code: Word,
    /// The description, and what to do next.
    pub message: String,
    /// The data that a machine needs to recover.
    pub data: ErrorData,
}

/// The data of an error.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ErrorData {
    /// There is none.
    None {},
    /// A wrong argument.
    Argument(WrongArgument),
    /// A file cannot be taken or written.
    File {
        /// The source cannot be read.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        source: bool,
        /// The name of the parameter.
        parameter: Word,
        /// The path of the file.
        path: String,
    },
    /// The source cannot be read.
    Source {
        /// Always true.
        source: bool,
    },
    /// An item is missing, and a command finds or makes it.
    Missing {
        /// The workspace that is not registered.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The path that no project has.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The call that helps.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<ToolCall>,
        /// The command that helps.
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<Word>,
    },
    /// The limit that was reached.
    Limit {
        /// The limit.
        limit: usize,
    },
    /// A language that is not supported.
    Language {
        /// Its name.
        language: String,
    },
    /// A ref that is unknown or not indexed.
    Ref {
        /// The ref.
        #[serde(rename = "ref")]
        ref_name: String,
        /// The call that indexes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<ToolCall>,
        /// The command that indexes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// The job that indexes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        job_id: Option<String>,
    },
    /// Two refs that cannot be compared.
    Refs {
        /// The base.
        base_ref: String,
        /// The head.
        head_ref: String,
    },
    /// A job that runs.
    Job {
        /// Its id, if it is known.
        job_id: Option<String>,
        /// What it does.
        #[serde(flatten)]
        progress: Option<JobProgress>,
    },
    /// The disk is full.
    DiskFull {
        /// Always true.
        disk_full: bool,
        /// The folder that needs space.
        folder: String,
        /// The number of free bytes, if it is known.
        free_bytes: Option<u64>,
        /// The number of bytes that are needed, if it is known.
        needed_bytes: Option<u64>,
    },
    /// Stored data that cannot be read.
    Incompatible {
        /// Why not.
        schema_status: SchemaStatus,
        /// The version of the schema that was found.
        current_schema_version: Option<i64>,
        /// The version of the schema that this program has.
        required_schema_version: i64,
        /// The command that rebuilds the data.
        command: Word,
        /// The corrupt part.
        #[serde(skip_serializing_if = "Option::is_none")]
        damage: Option<String>,
    },
    /// An archive of another format.
    OtherFormat {
        /// Why it cannot be read.
        schema_status: SchemaStatus,
        /// The version of the format that was found.
        current_format_version: i64,
        /// The version that this program has.
        required_format_version: i64,
        /// The command that makes an index without it.
        command: Word,
    },
    /// An index that is behind.
    Stale {
        /// The indexed commit.
        last_indexed_commit: Option<String>,
        /// The commit that is checked out.
        current_head: Option<String>,
        /// The number of files that differ.
        changed_files: Option<u64>,
        /// What to do.
        suggestion: Word,
    },
    /// An unknown symbol.
    Symbol {
        /// The requested name.
        symbol_name: String,
        /// The requested file.
        path: Option<String>,
        /// Similar names.
        nearest_names: Vec<String>,
        /// Why the file is not indexed.
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<Word>,
    },
    /// An unknown name.
    Name {
        /// Similar names.
        nearest_names: Vec<String>,
    },
    /// Several symbols with the requested name.
    Ambiguous {
        /// The name.
        symbol_name: String,
        /// The symbols.
        candidates: Vec<Candidate>,
        /// Their number.
        total_candidates: usize,
    },
    /// Several projects with the requested path.
    AmbiguousProject {
        /// The name of the parameter.
        parameter: Word,
        /// The path.
        path: String,
        /// The ids of the projects.
        candidates: Vec<String>,
    },
    /// An unknown file.
    FileNotFound {
        /// The requested path.
        path: String,
        /// Similar paths.
        nearest_paths: Vec<String>,
        /// Why the file is not indexed.
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<Word>,
    },
    /// A location that is no result of a query.
    NoResult {
        /// The requested path.
        result_path: String,
        /// The requested line.
        result_line_start: u32,
        /// The reason.
        why: Box<Absence>,
    },
}

/// A wrong argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WrongArgument {
    /// The name of the parameter.
    pub parameter: Word,
    /// The field that it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Word>,
    /// The allowed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Allowed>,
    /// Its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The largest allowed size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<usize>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The largest allowed size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
    /// A path that is not in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The allowed values of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Allowed {
    /// In words.
    Text(String),
    /// One by one.
    List(Vec<String>),
}

/// A call that helps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: Word,
    /// Its arguments.
    pub params: Map<String, Value>,
}

/// The progress of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobProgress {
    /// The ref that it indexes.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Whether it indexes everything.
    pub mode: Word,
    /// The number of files that are done.
    pub files_scanned: u64,
    /// The number of all files.
    pub files_total: u64,
}

/// One of several symbols with the requested name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// The kind.
    pub kind: Word,
    /// The full name.
    pub qualified_name: String,
}

impl ErrorData {
    /// A wrong argument.
    pub fn parameter(name: impl Into<Word>) -> Self {
        Self::Argument(WrongArgument { parameter: name.into(), ..WrongArgument::default() })
    }

    /// A value that is not allowed.
    pub fn not_allowed(name: impl Into<Word>, allowed: Allowed) -> Self {
        let parameter = name.into();
        Self::Argument(WrongArgument { parameter, allowed: Some(allowed), ..WrongArgument::default() })
    }

    /// An argument that is too large.
    pub fn too_large(name: impl Into<Word>, size: usize, maximum: usize) -> Self {
        let (parameter, size, maximum) = (name.into(), Some(size), Some(maximum));
        Self::Argument(WrongArgument { parameter, size, maximum, ..WrongArgument::default() })
    }

    /// A source that cannot be read.
    pub const SOURCE: Self = Self::Source { source: true };

    /// A job by its id.
    pub fn job(id: impl Into<String>) -> Self {
        Self::Job { job_id: Some(id.into()), progress: None }
    }

    /// A workspace that cannot be used.
    pub fn workspace(path: impl Into<String>) -> Self {
        Self::Missing { workspace: Some(path.into()), path: None, call: None, command: None }
    }

    /// A ref that is unknown.
    pub fn ref_name(name: impl Into<String>) -> Self {
        Self::Ref { ref_name: name.into(), call: None, command: None, job_id: None }
    }
}

/// A failed call, as a reader of the JSON sees it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Failure {
    /// The error.
    pub error: FailureBody,
    /// The metadata of the project, if it was determined.
    #[serde(default)]
    pub metadata: Option<Metadata>,
}

/// The error of a failed call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FailureBody {
    /// The code.
    pub code: String,
    /// The description, and what to do next.
    pub message: String,
    /// What helps to ask again.
    #[serde(default)]
    pub data: FailureHelp,
}

/// What helps to ask again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FailureHelp {
    /// Similar names.
    pub nearest_names: Vec<String>,
    /// Similar paths.
    pub nearest_paths: Vec<String>,
    /// Several symbols with the name.
    pub candidates: Vec<Candidate>,
}

impl Failure {
    /// A failure without data.
    pub fn new(code: &str, message: &str) -> Self {
        let (code, message, data) = (code.to_owned(), message.to_owned(), FailureHelp::default());
        Self { error: FailureBody { code, message, data }, metadata: None }
    }
}

//! Every error a user can see: a code that means one thing for ever, a message, what to do next, an exit code.

use codecompass_index::IndexError;
use codecompass_index::source::SourceError;
use codecompass_store::{SCHEMA_VERSION, StoreError};
use serde_json::{Value, json};

use crate::metadata::Metadata;

/// An error at the edge.
#[derive(Debug)]
pub(crate) struct AppError {
    /// The code on the wire.
    pub(crate) code: Code,
    /// What happened.
    pub(crate) message: String,
    /// What helps.
    pub(crate) more: Box<More>,
}

/// The part of an error that helps to get over it.
#[derive(Debug)]
pub(crate) struct More {
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// What a machine needs to recover.
    pub(crate) data: Value,
    /// What is known of the project that was asked.
    pub(crate) metadata: Metadata,
}

/// The registry of codes, as far as the commands so far need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidInput,
    ProjectNotFound,
    IndexInProgress,
    SyncInProgress,
    IndexStale,
    IndexIncompatible,
    RefNotIndexed,
    ResultNotFound,
    InternalError,
}

impl Code {
    /// The word on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Code::InvalidInput => "invalid_input",
            Code::ProjectNotFound => "project_not_found",
            Code::IndexInProgress => "index_in_progress",
            Code::SyncInProgress => "sync_in_progress",
            Code::IndexStale => "index_stale",
            Code::IndexIncompatible => "index_incompatible",
            Code::RefNotIndexed => "ref_not_indexed",
            Code::ResultNotFound => "result_not_found",
            Code::InternalError => "internal_error",
        }
    }

    /// The exit code of a command that ends with it.
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Code::ResultNotFound => 1,
            Code::InvalidInput => 2,
            Code::ProjectNotFound | Code::IndexStale | Code::IndexIncompatible => 3,
            Code::IndexInProgress | Code::SyncInProgress => 4,
            Code::RefNotIndexed => 5,
            Code::InternalError => 6,
        }
    }
}

impl AppError {
    /// An error without a hint or data.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let more = More { hint: None, data: json!({}), metadata: Metadata::unknown() };
        Self { code, message: message.into(), more: Box::new(more) }
    }

    /// With what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.more.hint = Some(hint.into());
        self
    }

    /// With what a machine needs to recover.
    pub(crate) fn data(mut self, data: Value) -> Self {
        self.more.data = data;
        self
    }

    /// With what is known of the project that was asked.
    pub(crate) fn about(mut self, metadata: Metadata) -> Self {
        self.more.metadata = metadata;
        self
    }

    /// The exit code: a source that can not be read is told apart from a wrong command line.
    pub(crate) fn exit_code(&self) -> u8 {
        if self.more.data.get("source").is_some() { 5 } else { self.code.exit_code() }
    }

    /// The project that is not registered.
    pub(crate) fn not_registered(root: &str) -> Self {
        Self::new(Code::ProjectNotFound, format!("No project is registered for {root}."))
            .hint("Run `codecompass index` there to register and index it.")
            .data(json!({ "workspace": root, "command": "codecompass index" }))
    }

    /// The ref that has no published view.
    pub(crate) fn ref_not_indexed(name: &str) -> Self {
        let command = format!("codecompass index --ref {}", quote(name));
        Self::new(Code::RefNotIndexed, format!("The ref {name:?} is not indexed."))
            .hint(format!("Run `{command}`."))
            .data(json!({
                "ref": name,
                "call": { "tool": "index_repo", "params": { "ref": name } },
                "command": command,
            }))
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let incompatible = |message: String, found: Option<i64>, status: &str| {
            Self::new(Code::IndexIncompatible, message).hint("Run `codecompass index --force` to build it anew.").data(
                json!({
                    "schema_status": status,
                    "current_schema_version": found,
                    "required_schema_version": SCHEMA_VERSION,
                    "command": "codecompass index --force",
                }),
            )
        };
        let message = sentence(&error.to_string());
        match error {
            StoreError::ReindexRequired { found, .. } => incompatible(message, Some(found), "reindex_required"),
            StoreError::Corrupt(_) => incompatible(message, None, "corrupt_manifest"),
            StoreError::NotRegistered(root) => Self::not_registered(&root.display().to_string()),
            StoreError::Locked => Self::new(Code::IndexInProgress, message)
                .hint("Wait for it to end; `codecompass status` shows how far it is."),
            StoreError::NoSuchView(_) => Self::new(Code::RefNotIndexed, message),
            StoreError::Sqlite(_) | StoreError::Text(_) | StoreError::Io { .. } => {
                Self::new(Code::InternalError, message).hint("Run `codecompass doctor` to find out what is wrong.")
            }
        }
    }
}

impl From<SourceError> for AppError {
    fn from(error: SourceError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            SourceError::UnknownRef { name } | SourceError::NotACommit { name } => {
                Self::new(Code::RefNotIndexed, message)
                    .hint("`git branch --all` and `git tag` list what there is.")
                    .data(json!({ "ref": name }))
            }
            SourceError::BadPattern { .. } => Self::new(Code::InvalidInput, message),
            _ => Self::new(Code::InvalidInput, message).data(json!({ "source": true })),
        }
    }
}

impl From<IndexError> for AppError {
    fn from(error: IndexError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            IndexError::Source(error) => error.into(),
            IndexError::Store(error) => error.into(),
            IndexError::NoVersionControl(_) => Self::new(Code::RefNotIndexed, message),
            IndexError::NoCommit => Self::new(Code::InvalidInput, message).data(json!({ "source": true })),
            IndexError::Cancelled | IndexError::Threads(_) => Self::new(Code::InternalError, message),
        }
    }
}

/// A name as a shell takes it: a branch can be called anything.
fn quote(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    match !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('-') {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// A library's message as a sentence of its own.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

//! Every error that a user can see: a code with a permanent meaning, a message, a hint and an exit code.

use std::path::{Path, PathBuf};

use codecompass_index::IndexError;
use codecompass_index::source::SourceError;
use codecompass_store::{SCHEMA_VERSION, StoreError};
use codecompass_wire::{ErrorData, ToolCall, WrongArgument};
use serde_json::{Map, Value};

use crate::data_location;
use crate::did_you_mean::nearest;
use crate::long_strings::Long;
use crate::measure::{bytes_text, free_bytes};
use crate::metadata::{Metadata, SchemaStatus};

/// An error as it is reported to users and clients.
#[derive(Debug)]
pub struct AppError {
    /// The code on the wire.
    pub code: Code,
    /// The description of the error.
    pub message: String,
    /// Hints and data.
    pub details: Box<ErrorDetails>,
}

/// The part of an error that helps to recover from it.
#[derive(Debug)]
pub struct ErrorDetails {
    /// What to do next.
    pub hint: Option<String>,
    /// The same for readers of text, who may have other tools: it names arguments and commands only.
    pub advice: Option<String>,
    /// The same for an agent, if the advice names a command.
    pub for_agent: Option<String>,
    /// The data that a machine needs to recover.
    pub data: ErrorData,
    /// Arguments that are too long to be repeated in the data.
    pub long: Long,
    /// The metadata of the project, if it was determined.
    pub metadata: Option<Metadata>,
}

macro_rules! codes {
    ($($variant:ident = $word:literal, $exit:literal: $meaning:literal;)*) => {
        /// The registry of codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($variant,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $word,)* }
            }

            /// The exit code of a command that ends with this error.
            pub const fn exit_code(self) -> u8 {
                match self { $(Code::$variant => $exit,)* }
            }

            /// The description in the reference.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidInput = "invalid_input", 2: "A parameter is missing, unknown, of the wrong type or not one of the allowed values; `data.parameter` names it, `data.allowed` says what is.";
    InvalidStrategy = "invalid_strategy", 2: "The `strategy` of get_code_context is not breadth or depth.";
    InvalidMaxTokens = "invalid_max_tokens", 2: "The `max_tokens` of get_code_context is less than 1.";
    ProjectNotFound = "project_not_found", 3: "The workspace is not registered; run `codecompass index`.";
    WorkspaceNotRegistered = "workspace_not_registered", 3: "The requested `workspace` is not registered.";
    WorkspaceNotAllowed = "workspace_not_allowed", 3: "The `workspace` is not registered and is outside every `--allowed-root`, or is not the one of `--own-workspace-only`.";
    WorkspaceLimitExceeded = "workspace_limit_exceeded", 3: "The maximum number of workspaces is open by request, and all of them are in use.";
    IndexNotReady = "index_not_ready", 3: "The request is about one named item, and nothing is published yet.";
    IndexInProgress = "index_in_progress", 4: "A job of this project is running: `data.job_id`.";
    SyncInProgress = "sync_in_progress", 4: "This ref is already being synced: `data.job_id`.";
    IndexStale = "index_stale", 3: "The index is behind and `freshness_policy` is strict, or another branch was checked out and is not published. `data` has both commits and `changed_files`.";
    IndexIncompatible = "index_incompatible", 3: "The index was made by another version, or is corrupt; `codecompass index --force` rebuilds it.";
    RefNotIndexed = "ref_not_indexed", 5: "The ref is not indexed, or git does not know it; `data.call` is the call that fixes it.";
    MergeBaseFailed = "merge_base_failed", 5: "The two refs have no commit in common, or there is no history at all.";
    OverlayNotReady = "overlay_not_ready", 4: "The first index of the ref that was switched to is queued or running: `data.job_id`.";
    NoEdgesAvailable = "no_edges_available", 3: "References are not supported for the symbol's language, or nothing is published yet.";
    SymbolNotFound = "symbol_not_found", 1: "No symbol has the name (in the given file); `data.nearest_names` may help.";
    AmbiguousSymbol = "ambiguous_symbol", 1: "Symbols with this name are in several files: `data.candidates`; give `path`, or a `symbol_id` as the name.";
    FileNotFound = "file_not_found", 1: "The file is not in the index for this ref; `data.nearest_paths` may help.";
    ResultNotFound = "result_not_found", 1: "The location is not a result of the query; `data.why` says why.";
    InternalError = "internal_error", 6: "An internal error; `codecompass doctor` helps to find the cause.";
}

/// The maximum length of an error message.
const MAX_MESSAGE_BYTES: usize = 4096;

impl AppError {
    /// Creates an error without a hint or data. A message that quotes a corrupt file of a repository is truncated.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let more = ErrorDetails {
            hint: None,
            advice: None,
            for_agent: None,
            data: ErrorData::None {},
            long: Long::default(),
            metadata: None,
        };
        let mut message = message.into();
        if message.len() > MAX_MESSAGE_BYTES {
            let end = (0..=MAX_MESSAGE_BYTES).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
            message.truncate(end);
            message.push('…');
        }
        Self { code, message, details: Box::new(more) }
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.details.hint = Some(hint.into());
        self
    }

    /// Adds what to do next for readers of text, if the hint names a tool.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.details.advice = Some(advice.into());
        self
    }

    /// Adds what an agent can do next, if the advice names a command: it may have no shell.
    pub fn for_agent(mut self, advice: impl Into<String>) -> Self {
        self.details.for_agent = Some(advice.into());
        self
    }

    /// Rewrites the texts, for readers who know parameters by other names.
    pub fn map_text(mut self, put: &dyn Fn(&str) -> String) -> Self {
        self.message = put(&self.message);
        self.details.hint = self.details.hint.as_deref().map(put);
        self.details.advice = self.details.advice.as_deref().map(put);
        self.details.for_agent = self.details.for_agent.as_deref().map(put);
        self
    }

    /// Shortens the long strings of the arguments wherever the error repeats them.
    pub fn shorten(mut self, long: Long) -> Self {
        if !long.is_empty() {
            self = self.map_text(&|text| long.shorten_text(text));
        }
        self.details.long = long;
        self
    }

    /// The error when one part of the index has an item and another part, which must have it, does not.
    pub fn inconsistent_index(what: &str) -> Self {
        StoreError::Corrupt(format!("store.db: {what} that was just found is missing")).into()
    }

    /// Adds the data that a machine needs to recover.
    pub fn data(mut self, data: ErrorData) -> Self {
        self.details.data = data;
        self
    }

    /// Adds the metadata of the project.
    pub fn with_metadata(mut self, mut metadata: Metadata) -> Self {
        if self.corruption().is_some() {
            metadata.schema = SchemaStatus::CorruptManifest;
        }
        self.details.metadata = Some(metadata);
        self
    }

    /// The corrupt part of the index, if that is the error.
    pub fn corruption(&self) -> Option<&str> {
        match &self.details.data {
            ErrorData::Incompatible { damage, .. } => damage.as_deref(),
            _ => None,
        }
    }

    /// The exit code: an unreadable source has a different code from a wrong command line.
    pub fn exit_code(&self) -> u8 {
        match self.details.data {
            ErrorData::Source { .. } | ErrorData::File { source: true, .. } => 5,
            _ => self.code.exit_code(),
        }
    }

    /// The error for a project that is not registered.
    pub fn not_registered(root: &str) -> Self {
        Self::new(Code::ProjectNotFound, format!("No project is registered for {root}."))
            .hint("Run `codecompass index` there to register and index it.")
            .data(missing_workspace(root))
    }

    /// The error for a workspace that was requested by name and is not registered.
    pub fn workspace_not_registered(path: &str) -> Self {
        Self::new(Code::WorkspaceNotRegistered, format!("The workspace {path} is not registered."))
            .hint("Run `codecompass index` there, or start the server with --auto-workspace.")
            .data(missing_workspace(path))
    }

    /// The error for a query about one named item before anything is published.
    pub fn index_not_ready() -> Self {
        Self::new(Code::IndexNotReady, "Nothing is indexed yet.")
            .hint("Call index_repo, or run `codecompass index`, and retry when it is published.")
            .advice("Run `codecompass index`, and retry when it is done.")
            .for_agent("Ask the user to run `codecompass index` there; until then, use other tools.")
            .data(ErrorData::Missing {
                workspace: None,
                path: None,
                call: Some(ToolCall { tool: "index_repo".into(), params: Map::new() }),
                command: Some("codecompass index".into()),
            })
    }

    /// The error for a full disk. `needed` is an estimate.
    pub fn disk_full(path: &Path, needed: Option<u64>) -> Self {
        let own = || data_location::find().ok().flatten().unwrap_or_default();
        let path = if path.as_os_str().is_empty() { own() } else { path.to_owned() };
        let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(&path);
        let free = free_bytes(folder);
        let free_text = free.map(|free| format!(": {} are free", bytes_text(free))).unwrap_or_default();
        let needed_text = needed.map(|needed| format!(", about {} are needed", bytes_text(needed))).unwrap_or_default();
        let folder = folder.display().to_string();
        Self::new(Code::InternalError, format!("There is no space left in {folder}{free_text}{needed_text}."))
            .hint(
                "Nothing is lost: the existing index still answers. Free some space there, or set CODECOMPASS_HOME to a \
                 folder on another disk, and run `codecompass sync`.",
            )
            .data(ErrorData::DiskFull { disk_full: true, folder, free_bytes: free, needed_bytes: needed })
    }

    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self.details.data, ErrorData::DiskFull { .. })
    }

    /// The error for an archive of another version of this program.
    fn archive_version(message: String, what: &str, found: i64, required: i64) -> Self {
        let who =
            if found > required { "here; the archive is newer" } else { "where the archive is made; it is older" };
        let (schema_status, command) = (SchemaStatus::ReindexRequired, "codecompass index".into());
        let data = match what {
            "format" => ErrorData::OtherFormat {
                schema_status,
                current_format_version: found,
                required_format_version: required,
                command,
            },
            _ => ErrorData::Incompatible {
                schema_status,
                current_schema_version: Some(found),
                required_schema_version: required,
                command,
                damage: None,
            },
        };
        Self::new(Code::IndexIncompatible, message)
            .hint(format!("Nothing was changed. Update codecompass {who}. Or run `codecompass index`."))
            .data(data)
    }

    /// The error for a ref without a published view.
    pub fn ref_not_indexed(name: &str) -> Self {
        let command = format!("codecompass index --ref {}", quote(name));
        Self::new(Code::RefNotIndexed, format!("The ref {name:?} is not indexed."))
            .hint(format!("Call index_repo with ref {name:?}, or run `{command}`."))
            .advice(format!("Run `{command}`."))
            .data(ErrorData::Ref {
                ref_name: name.to_owned(),
                call: Some(index_call(name)),
                command: Some(command),
                job_id: None,
            })
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let incompatible = |message: String, found: Option<i64>, damage: Option<String>| {
            let is_newer = found.is_some_and(|found| found > SCHEMA_VERSION);
            let first = if is_newer { "A newer codecompass made it: upgrade this one. Or run" } else { "Run" };
            Self::new(Code::IndexIncompatible, message)
                .hint(format!("{first} `codecompass index --force` to rebuild it."))
                .data(ErrorData::Incompatible {
                    schema_status: match damage {
                        Some(_) => SchemaStatus::CorruptManifest,
                        None => SchemaStatus::ReindexRequired,
                    },
                    current_schema_version: found,
                    required_schema_version: SCHEMA_VERSION,
                    command: "codecompass index --force".into(),
                    damage,
                })
        };
        let message = sentence(&error.to_string());
        match error {
            StoreError::ReindexRequired { found, .. } => incompatible(message, Some(found), None),
            StoreError::Corrupt(what) => incompatible(message, None, Some(what)),
            StoreError::NotRegistered(root) => Self::not_registered(&root.display().to_string()),
            StoreError::Locked => Self::new(Code::IndexInProgress, message)
                .hint("Wait for it to end; `codecompass status` shows the progress."),
            StoreError::NothingToExport => Self::index_not_ready()
                .hint("Run `codecompass index` first; in a git repository only committed files are exported."),
            StoreError::FileExists(path) => Self::new(Code::InvalidInput, message)
                .hint("Use --force to replace it, or choose another name.")
                .data(ErrorData::File { source: false, parameter: "path".into(), path: path.display().to_string() }),
            StoreError::Archive(why) => Self::new(Code::InvalidInput, message)
                .hint("Nothing was changed. Export it again where it was made, or run `codecompass index` here.")
                .data(ErrorData::Argument(WrongArgument {
                    parameter: "path".into(),
                    why: Some(why),
                    ..WrongArgument::default()
                })),
            StoreError::ArchiveVersion { what, found, required } => {
                Self::archive_version(message, what, found, required)
            }
            StoreError::DiskFull(path) => Self::disk_full(&path, None),
            // No caller reads this error.
            StoreError::Cancelled => Self::new(Code::InternalError, message),
            StoreError::NoSuchView(_) => Self::new(Code::RefNotIndexed, message),
            StoreError::Sqlite(_) | StoreError::Text(_) | StoreError::Io { .. } => {
                Self::new(Code::InternalError, message).hint("Run `codecompass doctor` to find the cause.")
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
                    .hint("`git branch --all` and `git tag` list the refs.")
                    .data(ErrorData::ref_name(name))
            }
            SourceError::MissingPath { path } => {
                let error = Self::new(Code::InvalidInput, message).data(ErrorData::SOURCE);
                match similar_path(&path) {
                    Some(near) => error.hint(format!("Did you mean {}?", near.display())),
                    None => error,
                }
            }
            SourceError::OutsideRoot { .. } => Self::new(Code::WorkspaceNotAllowed, OUTSIDE_ROOT)
                .hint("Move its git folder into the work tree, or start the server without that limit."),
            SourceError::BadPattern { .. } => Self::new(Code::InvalidInput, message),
            SourceError::RefusedRoot { .. } => Self::new(Code::InvalidInput, message)
                .hint("Name the repository: --workspace PATH, or CLAUDE_PROJECT_DIR where a client starts the server.")
                .data(ErrorData::SOURCE),
            _ => Self::new(Code::InvalidInput, message).data(ErrorData::SOURCE),
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
            IndexError::NoCommit => Self::new(Code::InvalidInput, message).data(ErrorData::SOURCE),
            IndexError::WorktreeUnstable => Self::new(Code::IndexStale, message).hint("Retry when that is done."),
            IndexError::Cancelled | IndexError::Threads(_) | IndexError::Watch(_) => {
                Self::new(Code::InternalError, message)
            }
        }
    }
}

/// The message for a confined repository. It does not name the folder outside: the client may not know what exists
/// there.
const OUTSIDE_ROOT: &str = "The git repository of this workspace uses a git folder, an alternate or a link outside of the folders that this \
     server may read.";

/// An existing path in the same folder with a similar name.
fn similar_path(path: &Path) -> Option<PathBuf> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names: Vec<String> =
        std::fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = nearest(name, names.iter().map(String::as_str), 1);
    near.first().map(|near| path.with_file_name(near))
}

/// The call that indexes a ref.
pub fn index_call(name: &str) -> ToolCall {
    ToolCall { tool: "index_repo".into(), params: Map::from_iter([("ref".to_owned(), Value::from(name))]) }
}

/// The data about a workspace that is not registered.
fn missing_workspace(path: &str) -> ErrorData {
    ErrorData::Missing {
        workspace: Some(path.to_owned()),
        path: None,
        call: None,
        command: Some("codecompass index".into()),
    }
}

/// A name quoted for a shell: a branch name can contain almost anything.
fn quote(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    match !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('-') {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// The message of a library as a sentence.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

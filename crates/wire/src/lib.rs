//! The answers of all tools as JSON: one module per tool, and the parts that they share.
//!
//! A tool builds a value of these types; `serde` writes it and `schemars` describes it. The order of the fields is the
//! order in the answer. A field that is absent when unknown is an `Option` that is skipped; a field that is null when
//! unknown is an `Option` that is not. The types know nothing of the index: they hold text, numbers and words.

mod batch;
mod error;
mod job;
mod metadata;
mod named;
mod result_item;
mod schema;
mod size;
mod suggestion;
mod symbol;
mod words;

pub mod commands;
pub mod compare_symbol;
pub mod diff_context;
pub mod explain_ranking;
pub mod find_references;
pub mod find_related_symbols;
pub mod get_call_graph;
pub mod get_code_context;
pub mod get_file_outline;
pub mod get_symbol_hierarchy;
pub mod grep_code;
pub mod health_check;
pub mod index_repo;
pub mod index_status;
pub mod list_refs;
pub mod locate_symbol;
pub mod pages;
pub mod read_code;
pub mod search_code;
pub mod suggest_followup_queries;
pub mod switch_ref;
pub mod sync_repo;

pub use batch::{Batch, BatchError, More, Outcome};
pub use error::{Allowed, Candidate, ErrorBody, ErrorData, ErrorReply, Failure, JobProgress, ToolCall, WrongArgument};
pub use job::{ActiveJob, JobMode, JobStatus, RecentJob};
pub use metadata::{Metadata, RankingReasons};
pub use named::{Named, Numbers};
pub use result_item::ResultItem;
pub use schema::schema;
pub use size::{ENVELOPE_BYTES, Tree, fit, fit_with_reasons, size};
pub use suggestion::Suggestion;
pub use symbol::{Counts, SymbolIdentity, SymbolName, SymbolSummary, SymbolWithLine};
pub use words::{Completeness, Freshness, Indexing, Protocol, SchemaStatus, Word};

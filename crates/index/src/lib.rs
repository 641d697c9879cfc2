//! The write path: a source is listed, what changed is read and extracted, and the result is published as views.
//!
//! ```text
//! source ─list→ changes ─read→ text ─extract→ facts ─batch→ store.publish(view) → generation n+1
//! ```
//!
//! [`sync()`] is the whole of it. [`source`] answers what only a file system or git knows; [`Target`] says which view a
//! name means; [`freshness()`] compares without writing.
//!
//! What is absent: queries, protocols, output, the environment. Nothing of a repository is ever executed, and nothing
//! is written outside the project's folder.

pub mod bench;
mod error;
mod freshness;
mod head_state;
mod pipeline;
mod plan;
pub mod source;
mod sync;
mod target;
mod watch;

pub use error::IndexError;
pub use freshness::{Freshness, any_changed, freshness};
pub use pipeline::Progress;
pub use sync::{SyncOptions, SyncOutcome, sync};
pub use target::Target;
pub use watch::{Change, Watch};

/// Raised when the rules by which content keeps a file out of all views change; those about secrets have a number of their
/// own, by which stores are looked through.
const CONTENT_RULES: u32 = 1;

/// One number for everything that decides what is extracted: a view made with another one is partly out of date.
pub fn extraction_key(limits: &source::Limits) -> u64 {
    let program = codecompass_lang::facts_key().wrapping_add(CONTENT_RULES as u64);
    program.wrapping_add(source::LanguageOverrides::key(&limits.languages))
}

/// Whether a stored version says what this program would say about its bytes, with the language that is chosen for its path.
fn is_current(version: &codecompass_store::StoredVersion, chosen: Option<&str>) -> bool {
    let current = match (version.skip, chosen) {
        (Some(_), _) => Some(CONTENT_RULES),
        (None, Some(chosen)) if codecompass_lang::is_language(chosen) => {
            codecompass_lang::explicit_version(chosen).filter(|_| version.language == chosen)
        }
        _ => codecompass_lang::facts_version(&version.language),
    };
    current == Some(version.facts_version)
}

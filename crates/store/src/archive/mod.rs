//! Archives: a store as one file that another machine can import, a tar of a compact copy compressed with zstd.
//!
//! ```text
//! manifest           the following files, with sizes and checksums
//! store.db           the database
//! text/…             the text index: its list of segments, and their files
//! ```
//!
//! The same store gives the same bytes: times, owners and modes are fixed, entries are in the manifest's order, and
//! machine-specific data (jobs, workspaces, work trees, the stat cache, access times of views) is not exported. An
//! import trusts nothing in an archive: it unpacks no entry that the manifest does not list, writes no byte beyond the
//! declared sizes, and verifies everything before a reader can see it.

mod export;
mod import;
mod manifest;
#[cfg(test)]
mod tests;

pub use export::{Archive, ExportRequest, export};
pub use import::{ImportRequest, Imported, InitialView, Replaced, import};

/// The version of the archive format. Increment it when the content of archives or its encoding changes.
pub const FORMAT_VERSION: i64 = 1;

/// The root of a plain folder's work tree inside an archive. The importing project replaces it.
const FOLDER_ROOT: &str = ".";

const MANIFEST: &str = "manifest";
const DATABASE: &str = "store.db";

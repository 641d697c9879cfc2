//! A store as one file that another machine can take in: a tar of a clean copy, compressed by zstd.
//!
//! ```text
//! manifest           what follows, with sizes and checksums
//! store.db           the database
//! text/…             the text index: its list of segments, and their files
//! ```
//!
//! The same store gives the same bytes: times, owners and modes are fixed, entries are in the manifest's order, and
//! what names this machine (jobs, workspaces, work trees, what their files looked like, when a view was last asked)
//! stays at home. Whoever reads an archive believes nothing of it: no entry is unpacked that the manifest does not
//! list, no byte is written beyond what it declares, and the whole is examined before anyone can see it.

mod export;
mod import;
mod manifest;
#[cfg(test)]
mod tests;

pub use export::{Archive, Export, export};
pub use import::{Import, Imported, Replaced, Start, import};

/// The version of archives: raised when what is written to them, or how, changes.
pub const FORMAT_VERSION: i64 = 1;

/// The work tree of a plain folder, in an archive: the one that takes it in gives it a root.
const FOLDER: &str = ".";

const MANIFEST: &str = "manifest";
const DATABASE: &str = "store.db";

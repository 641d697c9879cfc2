//! The data that answers come from: the published view of a ref, as fresh as the policy requires, and the snapshots
//! kept open between requests.
//!
//! A server and a command use the same code. They differ in who refreshes the views ([`Refresh`]): a command does
//! everything inline ([`InlineRefresh`]), a server does it in the background. This module depends on neither of them,
//! nor on any tool: they all depend on it.

mod inline_refresh;
mod published;
mod snapshot_cache;

pub use inline_refresh::{InlineRefresh, wait_for_first_index_elsewhere, wait_for_other_process};
pub use published::{Access, Published, Refresh, TargetView, published_for_target};
pub use snapshot_cache::{CacheCommand, SnapshotCache};

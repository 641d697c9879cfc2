//! The data that answers come from: the published view of a ref, as fresh as the policy requires, and the snapshots
//! kept open between requests.
//!
//! A server and a command use the same code. They differ in who refreshes the views ([`Refresh`]): a command does
//! everything inline ([`InlineRefresh`]), a server does it in the background. This module depends on neither of them,
//! nor on any tool: they all depend on it.

mod at_once;
mod desk;
mod published;

pub(crate) use at_once::{AtOnce, others_end};
pub(crate) use desk::{Desk, Order};
pub(crate) use published::{Access, At, BRIEFLY, Published, Upkeep, under_its_name};

//! What questions are answered from: the published view that a ref means, as fresh as the policy asks for, and what is kept
//! open between two questions.
//!
//! A server and a command ask alike; they differ in who looks after the views ([`Upkeep`]): a command does everything at once
//! ([`AtOnce`]), a server has others do it. Nothing here knows either, nor a tool: they all stand on this.

mod at_once;
mod desk;
mod published;

pub(crate) use at_once::{AtOnce, others_end};
pub(crate) use desk::{Desk, Order};
pub(crate) use published::{Access, At, BRIEFLY, Published, Upkeep, under_its_name};

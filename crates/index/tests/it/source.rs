//! Sources against real repositories, with `git` itself as the oracle.
#![allow(clippy::unwrap_used, reason = "a test that can not go on should say where")]

mod changes;
mod corruption;
mod hostile;
mod law;
mod objects;
mod path_status;
mod refs;
mod rules;
mod sandbox;
#[cfg(unix)]
mod trust;
mod workspace;
mod worktree;

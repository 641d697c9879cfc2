//! Sources against real repositories, with `git` itself as the oracle.
#![allow(clippy::unwrap_used, reason = "a test that can not go on should say where")]

#[path = "source/changes.rs"]
mod changes;
#[path = "source/corruption.rs"]
mod corruption;
#[path = "source/hostile.rs"]
mod hostile;
#[path = "source/law.rs"]
mod law;
#[path = "source/objects.rs"]
mod objects;
#[path = "source/path_status.rs"]
mod path_status;
#[path = "source/refs.rs"]
mod refs;
#[path = "source/rules.rs"]
mod rules;
#[path = "source/sandbox.rs"]
mod sandbox;
#[cfg(unix)]
#[path = "source/trust.rs"]
mod trust;
#[path = "source/workspace.rs"]
mod workspace;
#[path = "source/worktree.rs"]
mod worktree;

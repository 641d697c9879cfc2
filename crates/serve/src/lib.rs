//! The server: workers that answer calls, refresh in the background, and MCP over stdio and HTTP.
//!
//! `server/` answers calls and knows no transport. `workspaces` finds the workspace of a call; at most ten are open
//! because a request named them, and the least recently requested one is closed first, with its watch and its cached
//! snapshots. `jobs` runs long work in threads of its own. `workers` are the few threads that answer, each with a
//! `SnapshotCache`, which keeps stores and snapshots open while their generation is the newest and they are in use.
//! After a publication all caches evict older snapshots before the job cleans up, and two idle seconds evict the rest,
//! because an open snapshot blocks garbage collection and the reset of the log. Queries about a workspace go to one
//! thread, and to another one only while that one is busy; long queries (all but `SHORT_TOOLS` of the crate `tools`)
//! never take the last thread.
//!
//! A query ends when its time is up or its answer is no longer wanted. Scans and the budget of the graph check the time
//! limit (`time_limit.rs` of the crate `workspace`), also inside of files, and a cut answer is `partial`. A cancelled
//! call or a lost connection sets a flag that the snapshot checks (`Snapshot::set_cancel_flag`): every scan reads
//! through the snapshot, so no scan has to check it itself. The cache is cleared afterwards.
//!
//! A call with a text answer waits for an index or a sync that it needs (`mcp.wait_seconds`), because an agent that is asked
//! to retry retries at once, or gives up. `IndexWait` of the crate `workspace` has the time and the client's listener; one
//! thread is never used for waiting. JSON answers follow the contracts and do not wait.
//!
//! A client that sends a `progressToken` with `index_repo` or `sync_repo` gets its answer up to a second later, because
//! progress may only be sent while a request is open. Later, `index_status` has the counters.
//!
//! The workspace of a server is `--workspace`, else `CLAUDE_PROJECT_DIR`, `WORKSPACE_FOLDER_PATHS`, the roots of a
//! client on a pipe (`mcp/roots.rs`, requested once before anything is opened), else the working folder.
//!
//! Clients cut long texts. `server/answer_limit.rs` has the limits of known clients: an answer is rendered again with
//! less until it fits, so that it ends at a row with a hint for the rest.
//!
//! `mcp/` is the only folder that uses the SDK. It validates messages, lists the tools and passes calls on; its
//! transports are `stdio` and `http`. `mcp/sockets.rs` limits HTTP connections: the phase of a connection (head, body,
//! served, idle) determines its timeout, and which one is evicted first. `http_guard/host_check.rs` checks `Host` and
//! `Origin`.
//!
//! Pages for people are a trait (`mcp/pages.rs`): the transport admits a request and sends the response, and the crate
//! `explorer` says what a page contains.

#![allow(missing_docs, reason = "only crates of this workspace use it; names that say all have no docs")]

pub mod http_guard;
pub mod interrupt;
pub mod mcp;
pub mod server;

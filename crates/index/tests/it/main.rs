//! Integration tests of sources, syncing and stored state. One binary, so that it is linked once.

mod incremental;
mod race;
mod source;
mod support;
mod tampered;
mod upgrade;

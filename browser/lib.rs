//! Nothing but tests: see `tests/explorer.rs`.

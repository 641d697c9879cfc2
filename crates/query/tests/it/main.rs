//! Integration tests of queries over a stored snapshot. One binary, so that it is linked once.

mod grep;
mod resolve_name;
mod support;
mod traces;

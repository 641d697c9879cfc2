//! Integration tests of the test language itself, and the shape of the workspace. One binary, so that it is linked once.

mod binary;
mod cases;
mod fake;
mod laws;
mod module_graph;
mod packaging;
mod repository;
mod roads;
mod tidy;
mod wording;

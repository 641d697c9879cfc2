//! Integration tests of the embedding model. One binary, so that it is linked once.

mod golden;

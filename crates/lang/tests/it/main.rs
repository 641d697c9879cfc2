//! Integration tests of extraction and resolution over fixtures and worlds. One binary, so that it is linked once.

mod content_hash;
mod fixtures;
mod highlight;
mod hostile;
mod hostile_rules;
mod resolve;

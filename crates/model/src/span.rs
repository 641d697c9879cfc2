//! Ranges of bytes and lines.

use serde::{Deserialize, Serialize};

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The text of this range; empty when the range does not fit the text.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A range of lines, counted from 1. Both ends are inside the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub start: u32,
    /// The last line.
    pub end: u32,
}

//! Comments that wait for the declaration that follows them.
//!
//! A doc comment is a group of comments on lines of their own with no blank line between them and the declaration.
//! Directives (`//go:embed a.txt`) belong to the declaration but are not docs; each language says which comments are
//! directives.

use codecompass_model::Span;

/// The most recent group of comments.
pub(crate) struct Comments {
    group: Vec<Span>,
    is_directive: fn(&str) -> bool,
}

/// The comments above a declaration.
pub(crate) struct Docs {
    /// The start of the comments; the declaration's own start if there are none.
    pub(crate) outer_start: u32,
    /// The span from the first to the last comment that is not a directive.
    pub(crate) doc: Option<Span>,
    pub(crate) directives: Vec<Span>,
}

impl Comments {
    pub(crate) fn new(is_directive: fn(&str) -> bool) -> Self {
        Self { group: Vec::new(), is_directive }
    }

    /// Adds a comment to its group, or starts a new group.
    pub(crate) fn add(&mut self, text: &str, comment: Span) {
        let follows = self.group.last().is_some_and(|last| is_adjacent(text, last.end, comment.start));
        if !follows {
            self.group.clear();
        }
        if starts_line(text, comment.start) {
            self.group.push(comment);
        }
    }

    /// Returns the comments right above a declaration without removing them, for declarations that share a start.
    pub(crate) fn peek_above(&mut self, text: &str, start: u32) -> Docs {
        let group = self.group.clone();
        let docs = self.take_above(text, start);
        self.group = group;
        docs
    }

    /// Removes and returns the comments right above a declaration.
    pub(crate) fn take_above(&mut self, text: &str, start: u32) -> Docs {
        let mut docs = Docs { outer_start: start, doc: None, directives: Vec::new() };
        let belongs = self.group.last().is_some_and(|last| is_adjacent(text, last.end, start));
        let group = std::mem::take(&mut self.group);
        for comment in group.into_iter().filter(|_| belongs) {
            docs.outer_start = docs.outer_start.min(comment.start);
            if (self.is_directive)(comment.text(text)) {
                docs.directives.push(comment);
            } else {
                docs.doc = Some(Span { start: docs.doc.map_or(comment.start, |doc| doc.start), end: comment.end });
            }
        }
        docs
    }
}

/// Returns whether only white space with at most one line end separates two offsets.
fn is_adjacent(text: &str, from: u32, to: u32) -> bool {
    let between = text.as_bytes().get(from as usize..to as usize).unwrap_or(b"x");
    let mut lines = 0;
    between.iter().all(|byte| {
        lines += usize::from(*byte == b'\n');
        lines <= 1 && byte.is_ascii_whitespace()
    })
}

/// Returns whether only white space precedes an offset on its line.
fn starts_line(text: &str, at: u32) -> bool {
    let before = text.as_bytes()[..at as usize].iter().rev();
    before.take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

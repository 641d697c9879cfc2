//! Comments that wait for the declaration they stand above.
//!
//! A doc comment is a group of comments on lines of their own with no blank line between them and the declaration.
//! Directives (`//go:embed a.txt`) belong to the declaration, but are no docs; which comments are some, a language says.

use codecompass_model::Span;

/// The group of comments that the walk passed last.
pub(crate) struct Comments {
    group: Vec<Span>,
    is_directive: fn(&str) -> bool,
}

/// What stands above a declaration.
pub(crate) struct Docs {
    /// Where it begins; the declaration's own start when there is nothing.
    pub(crate) outer_start: u32,
    /// From the first comment that is no directive to the last.
    pub(crate) doc: Option<Span>,
    pub(crate) directives: Vec<Span>,
}

impl Comments {
    pub(crate) fn new(is_directive: fn(&str) -> bool) -> Self {
        Self { group: Vec::new(), is_directive }
    }

    /// A comment: the next of its group, or the first of a new one.
    pub(crate) fn add(&mut self, text: &str, comment: Span) {
        let follows = self.group.last().is_some_and(|last| is_adjacent(text, last.end, comment.start));
        if !follows {
            self.group.clear();
        }
        if starts_line(text, comment.start) {
            self.group.push(comment);
        }
    }

    /// What stands right above a declaration; whatever begins at the same place has it, too.
    pub(crate) fn above(&mut self, text: &str, start: u32) -> Docs {
        let group = self.group.clone();
        let docs = self.take(text, start);
        self.group = group;
        docs
    }

    /// Hands the comments right above a declaration over to it.
    pub(crate) fn take(&mut self, text: &str, start: u32) -> Docs {
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

/// Whether nothing but white space and at most one line end stands between two places.
fn is_adjacent(text: &str, from: u32, to: u32) -> bool {
    let between = text.as_bytes().get(from as usize..to as usize).unwrap_or(b"x");
    let mut lines = 0;
    between.iter().all(|byte| {
        lines += usize::from(*byte == b'\n');
        lines <= 1 && byte.is_ascii_whitespace()
    })
}

/// Whether only white space stands before a place on its line.
fn starts_line(text: &str, at: u32) -> bool {
    let before = text.as_bytes()[..at as usize].iter().rev();
    before.take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

//! Comments that wait for the declaration they stand above.
//!
//! A doc comment is a group of comments on lines of their own with no blank line between them and the declaration.
//! Directives (`//go:embed a.txt`) belong to the declaration, but are no docs.

use codecompass_model::Span;

/// The group of comments that the walk passed last.
#[derive(Default)]
pub(super) struct Comments {
    group: Vec<Span>,
}

/// What stands above a declaration.
pub(super) struct Docs {
    /// Where it begins; the declaration's own start when there is nothing.
    pub(super) outer_start: u32,
    /// From the first comment that is no directive to the last.
    pub(super) doc: Option<Span>,
    pub(super) directives: Vec<Span>,
}

impl Comments {
    /// A comment: the next of its group, or the first of a new one.
    pub(super) fn add(&mut self, text: &str, comment: Span) {
        let follows = self.group.last().is_some_and(|last| is_adjacent(text, last.end, comment.start));
        if !follows {
            self.group.clear();
        }
        if starts_line(text, comment.start) {
            self.group.push(comment);
        }
    }

    /// Hands the comments right above a declaration over to it.
    pub(super) fn take(&mut self, text: &str, start: u32) -> Docs {
        let mut docs = Docs { outer_start: start, doc: None, directives: Vec::new() };
        let belongs = self.group.last().is_some_and(|last| is_adjacent(text, last.end, start));
        for comment in self.group.drain(..).filter(|_| belongs) {
            docs.outer_start = docs.outer_start.min(comment.start);
            if is_directive(comment.text(text)) {
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

/// `//word:word` without a space, and the three that are older than that rule.
fn is_directive(comment: &str) -> bool {
    let Some(words) = comment.strip_prefix("//") else {
        return false;
    };
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = words.trim_start_matches(is_part);
    let colon = rest.len() < words.len() && rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(is_part));
    colon || ["line ", "export ", "extern "].iter().any(|old| words.starts_with(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_told_from_docs() {
        for comment in ["//go:embed a", "//nolint:all", "//export Name", "//line a.go:3"] {
            assert!(is_directive(comment), "{comment}");
        }
        for comment in ["// go:embed a", "//TODO: x", "//go: x", "/*go:x*/", "//", "//:a"] {
            assert!(!is_directive(comment), "{comment}");
        }
    }
}

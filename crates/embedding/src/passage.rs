//! Passages: the text of a symbol, in the three fields that the model weights separately.

use codecompass_model::Symbol;

/// The maximum number of bytes of a symbol's code. Beyond 900 bytes little is gained, beyond 1,500 nothing.
const MAX_CODE_BYTES: usize = 1500;

/// The number of bytes at the start of the code that count as its head. The head says what the symbol does; the rest
/// says how.
const HEAD_BYTES: usize = 450;

/// The maximum number of bytes of a symbol's docs.
const MAX_DOC_BYTES: usize = 300;

/// The maximum number of segments of a qualified name. Earlier segments are folders.
const MAX_NAME_SEGMENTS: usize = 3;

/// The text of a symbol, by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage<'t> {
    /// The name.
    pub name: &'t str,
    /// The end of the qualified name, including the name.
    pub qualified: &'t str,
    /// The doc comment as written.
    pub doc: &'t str,
    /// The code from the header on: the text before the doc comment inside it, and the text after.
    pub code: [&'t str; 2],
}

impl<'t> Passage<'t> {
    /// Creates the passage of a symbol from the text of its file.
    pub fn new(symbol: &'t Symbol, text: &'t str) -> Self {
        let (start, end) = (symbol.span.start as usize, symbol.span.end as usize);
        let doc = symbol.doc.map(|doc| (doc.start as usize, doc.end as usize));
        let inner = doc.filter(|(from, to)| start <= *from && *to <= end).unwrap_or((start, start));
        let before = truncate(slice(text, start, inner.0), MAX_CODE_BYTES);
        Self {
            name: &symbol.name,
            qualified: last_segments(&symbol.qualified_name),
            doc: truncate(doc.map_or("", |(from, to)| slice(text, from, to)), MAX_DOC_BYTES),
            code: [before, truncate(slice(text, inner.1, end), MAX_CODE_BYTES - before.len())],
        }
    }

    /// Creates the passage of a text that has no name.
    pub fn of_text(text: &'t str) -> Self {
        Self { code: [truncate(text, MAX_CODE_BYTES), ""], ..Self::default() }
    }

    /// Returns the code in two parts, the head and the rest, each before and after the doc comment inside it.
    pub fn head_and_rest(&self) -> [[&'t str; 2]; 2] {
        let [before, behind] = self.code;
        let (before, rest_before) = before.split_at(truncate(before, HEAD_BYTES).len());
        let (behind, rest_behind) = behind.split_at(truncate(behind, HEAD_BYTES - before.len()).len());
        [[before, behind], [rest_before, rest_behind]]
    }
}

fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or("")
}

fn truncate(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the last segments of a qualified name, with any separators.
fn last_segments(qualified: &str) -> &str {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut borders = 0;
    let mut was_inside = true;
    for (at, c) in qualified.char_indices().rev() {
        if was_inside && !is_inside(c) {
            borders += 1;
            if borders == MAX_NAME_SEGMENTS {
                return &qualified[at + c.len_utf8()..];
            }
        }
        was_inside = is_inside(c);
    }
    qualified
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_folders_are_dropped() {
        for (qualified, expected) in
            [("a::b::C::d", "b::C::d"), ("requests.adapters.X.send", "adapters.X.send"), ("x", "x"), ("", "")]
        {
            assert_eq!(last_segments(qualified), expected);
        }
    }

    #[test]
    fn truncates_on_char_boundary() {
        assert_eq!(truncate("éé", 3), "é");
        assert_eq!(slice("abc", 2, 9), "");
    }
}

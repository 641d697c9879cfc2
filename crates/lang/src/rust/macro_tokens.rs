//! Names inside macro calls, where the grammar sees only tokens.
//!
//! The surrounding text determines the shape of a reference: `name(` is a call, `x.name` a member, `a::name` a path.

use codecompass_model::{RefShape, Span};

use crate::draft::Draft;
use crate::text::is_capitalised;

/// The maximum length of a receiver.
const MAX_RECEIVER: usize = 120;

/// Adds the reference of a name in a token tree.
pub(super) fn identifier(draft: &mut Draft<'_>, name: Span) {
    let (before, after) = (&draft.text[..name.start as usize], &draft.text[name.end as usize..]);
    let word = draft.slice(name);
    if before.ends_with('\'') || matches!(word, "Self" | "_") || follows_keyword(before, "fn") {
        return;
    }
    let called = after.starts_with('(') || after.starts_with("::<") && is_turbofish_call(after);
    let capital = is_capitalised(word);
    let trimmed = before.trim_end();
    let (shape, qualifier) = if after.starts_with('!') && !after.starts_with("!=") {
        (RefShape::MacroCall, None)
    } else if trimmed.ends_with('.') && !trimmed.ends_with("..") {
        let receiver = receiver(draft.text, trimmed.len() - 1);
        (member(called, receiver.text(draft.text)), Some(receiver))
    } else if let Some(path) = trimmed.strip_suffix("::") {
        (free(called, capital, true, after), Some(receiver(draft.text, path.len())))
    } else {
        (free(called, capital, false, after), None)
    };
    draft.reference(name, shape, qualifier);
}

fn member(called: bool, receiver: &str) -> RefShape {
    match (called, receiver) {
        (true, "self") => RefShape::SelfCall,
        (true, _) => RefShape::MemberCall,
        (false, _) => RefShape::Member,
    }
}

fn free(called: bool, capital: bool, path: bool, after: &str) -> RefShape {
    match (called, capital, path) {
        (true, true, _) => RefShape::Construct,
        (true, false, true) => RefShape::PathCall,
        (true, false, false) => RefShape::Call,
        (false, true, _) if after.starts_with("::") => RefShape::Type,
        (false, ..) => RefShape::Value,
    }
}

/// Returns whether the preceding word is this keyword.
fn follows_keyword(before: &str, keyword: &str) -> bool {
    let Some(head) = before.strip_suffix(char::is_whitespace).and_then(|rest| rest.trim_end().strip_suffix(keyword))
    else {
        return false;
    };
    !head.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Returns whether a call follows type arguments: `::<T>(`.
fn is_turbofish_call(after: &str) -> bool {
    let mut depth = 0;
    for (at, byte) in after.bytes().enumerate().skip(2).take(MAX_RECEIVER) {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return after[at + 1..].starts_with('(');
        }
    }
    false
}

/// Returns the path or receiver that ends at `end`: names, dots, colons and brackets; white space only inside brackets.
fn receiver(text: &str, end: usize) -> Span {
    let bytes = text.as_bytes();
    let mut start = end;
    let mut depth = 0usize;
    while start > 0 && end - start < MAX_RECEIVER {
        let byte = bytes[start - 1];
        match byte {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
            _ if depth > 0 || byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_.:?".contains(&byte) => {}
            _ => break,
        }
        start -= 1;
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let start = if depth > 0 { end } else { start };
    Span { start: start as u32, end: end as u32 }
}

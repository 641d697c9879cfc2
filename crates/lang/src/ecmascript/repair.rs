//! Rewrites code that the grammar misparses, byte by byte, so that all offsets stay valid.
//!
//! The grammar parses a signature that begins with its type parameters as a continuation of the previous line if that
//! has no semicolon. It supports neither `export type * from` nor the variance in `<in out T>`. All are common in
//! type-heavy code, and one occurrence can invalidate the rest of the file. So the parser gets a semicolon in place of
//! the blank before such a signature, and blanks in place of those words; all texts still come from the original file.

use std::ops::Range;

/// The maximum number of comment lines to skip in search of the code before them.
const MAX_COMMENT_LINES: usize = 64;

/// Returns the text that the grammar can parse; `None` if nothing changes.
pub(super) fn repair(text: &str) -> Option<String> {
    let semicolons: Vec<usize> = text.match_indices('<').filter_map(|(at, _)| before_signature(text, at)).collect();
    let types = text.match_indices("export type *").map(|(at, _)| at + "export ".len()..at + "export type".len());
    let words: Vec<Range<usize>> = types.chain(variance(text, "in ")).chain(variance(text, "out ")).collect();
    if semicolons.is_empty() && words.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    semicolons.into_iter().for_each(|at| bytes[at] = b';');
    words.into_iter().for_each(|word| bytes[word].fill(b' '));
    // Only ASCII was replaced by ASCII.
    String::from_utf8(bytes).ok()
}

/// Returns the blank before a `<` that begins a line after code that may be a whole signature.
fn before_signature(text: &str, at: usize) -> Option<usize> {
    let line = text[..at].trim_end_matches([' ', '\t']);
    let is_first = line.len() < at && line.ends_with('\n');
    let mut before = is_first.then(|| line.trim_end())?;
    for _ in 0..MAX_COMMENT_LINES {
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let code = before[start..].trim_start();
        if !(code.starts_with("//") || code.starts_with('*') || code.starts_with("/*")) {
            break;
        }
        before = before[..start].trim_end();
    }
    before.bytes().last().is_some_and(may_end_signature).then(|| at - 1)
}

/// Returns the ranges of `in` or `out` before the name of a type parameter: after `<` or a comma, before another word.
fn variance<'t>(text: &'t str, word: &'static str) -> impl Iterator<Item = Range<usize>> + 't {
    text.match_indices(word).filter_map(move |(at, _)| {
        let rest = text[at + word.len()..].trim_start();
        let mut before = text[..at].trim_end();
        if before.ends_with("*/") {
            before = before[..before.rfind("/*").unwrap_or(0)].trim_end();
        }
        let before = before.strip_suffix("in").filter(|_| word == "out ").map_or(before, str::trim_end);
        let is_alone = !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
        let is_named = rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        (is_alone && is_named && before.ends_with(['<', ','])).then(|| at..at + word.len() - 1)
    })
}

/// Returns whether a signature may end with this byte.
fn may_end_signature(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b')' | b'>' | b']' | b'}' | b'\'' | b'"' | b'`')
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn semicolon_is_inserted_between_signatures() {
        let text = "interface A {\n  <T>(a: T): T\n  // more\n  <U>(a: U): A[U]\n\n  <V>(): void;\n  <W>(): void\n}\n";
        let repaired =
            "interface A {\n  <T>(a: T): T\n  // more\n ;<U>(a: U): A[U]\n\n ;<V>(): void;\n  <W>(): void\n}\n";
        assert_eq!(repair(text).as_deref(), Some(repaired));
        assert_eq!(repair("export type * from 'a'\n").as_deref(), Some("export      * from 'a'\n"));
        assert_eq!(repair("A</** a */ in T,\n out U>").as_deref(), Some("A</** a */    T,\n     U>"));
        assert_eq!(repair("A<in out T>").as_deref(), Some("A<       T>"));
        assert_eq!(repair("f(a, out) < out; for (a in b) {}; main in x"), None);
        assert_eq!(repair("type A =\n  <T>(a: T) => T\n"), None);
    }
}

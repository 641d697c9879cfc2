//! Code that the grammar gets wrong, rewritten byte by byte so that all offsets stay.
//!
//! The grammar takes a signature that begins with its type parameters for a continuation of the line before, when that has
//! no semicolon; it does not know `export type * from`, nor the variance in `<in out T>`. All are common in type-heavy
//! code, and one such place can cost the rest of the file. A text with syntax errors is therefore parsed once more, with a
//! semicolon in the place of the blank before such a signature and blanks in the place of those words; the better tree
//! counts, and all texts still come from the file as it is.

/// The text as the grammar would like it; `None` when there is nothing to change.
pub(super) fn repair(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    let mut start = 0;
    // The last byte of code so far: comments and blank lines are passed over.
    let mut last = b'{';
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with('<') && indent > 0 && is_end(last) {
            bytes[start + indent - 1] = b';';
            changed = true;
        }
        if let Some(at) = code.starts_with("export type *").then_some(start + indent + "export ".len()) {
            bytes[at..at + "type".len()].fill(b' ');
            changed = true;
        }
        let is_comment = code.starts_with("//") || code.starts_with('*') || code.starts_with("/*");
        if let Some(&byte) = code.trim_end().as_bytes().last().filter(|_| !is_comment) {
            last = byte;
        }
        start += line.len();
    }
    changed |= blank_variance(&mut bytes);
    // Only ASCII was replaced by ASCII.
    String::from_utf8(bytes).ok().filter(|_| changed)
}

/// Blanks `in` and `out` before the name of a type parameter: behind `<` or a comma, before another word.
fn blank_variance(bytes: &mut [u8]) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
    let (mut at, mut last, mut changed) = (0, b' ', false);
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|&&byte| is_word(byte)).count();
        if end == at {
            let comment = comment_length(&bytes[at..]);
            last = if comment > 0 || bytes[at].is_ascii_whitespace() { last } else { bytes[at] };
            at += comment.max(1);
            continue;
        }
        let next = end + bytes[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_variance = matches!(&bytes[at..end], b"in" | b"out") && matches!(last, b'<' | b',');
        if is_variance && next > end && bytes.get(next).is_some_and(|&byte| is_word(byte)) {
            bytes[at..end].fill(b' ');
            changed = true;
        } else {
            last = bytes[end - 1];
        }
        at = end;
    }
    changed
}

/// The length of the comment that a text begins with.
fn comment_length(bytes: &[u8]) -> usize {
    let until = |end: &[u8]| bytes.windows(end.len()).position(|window| window == end).map_or(0, |at| at + end.len());
    match bytes {
        [b'/', b'*', ..] => until(b"*/"),
        [b'/', b'/', ..] => until(b"\n"),
        _ => 0,
    }
}

/// Whether a signature may end with this byte.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b')' | b'>' | b']' | b'}' | b'\'' | b'"' | b'`')
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn a_signature_after_another_gets_a_semicolon() {
        let text = "interface A {\n  <T>(a: T): T\n  // more\n  <U>(a: U): A[U]\n\n  <V>(): void;\n  <W>(): void\n}\n";
        let repaired =
            "interface A {\n  <T>(a: T): T\n  // more\n ;<U>(a: U): A[U]\n\n ;<V>(): void;\n  <W>(): void\n}\n";
        assert_eq!(repair(text).as_deref(), Some(repaired));
        assert_eq!(repair("export type * from 'a'\n").as_deref(), Some("export      * from 'a'\n"));
        assert_eq!(repair("A</** a */ in T,\n out U>").as_deref(), Some("A</** a */    T,\n     U>"));
        assert_eq!(repair("f(a, out) < out; for (a in b) {}"), None);
        assert_eq!(repair("type A =\n  <T>(a: T) => T\n"), None);
    }
}

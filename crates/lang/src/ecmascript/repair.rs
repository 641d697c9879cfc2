//! Code that the grammar gets wrong, rewritten byte by byte so that all offsets stay.
//!
//! The grammar takes a signature that begins with its type parameters for a continuation of the line before, when that has
//! no semicolon, and does not know `export type * from`. Both are common in type-heavy code, and one such place can cost
//! the rest of the file. A text with syntax errors is therefore parsed once more with a semicolon in the place of the
//! blank before such a signature, and without the word `type`; the better tree counts.

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
    // Only ASCII was replaced by ASCII.
    String::from_utf8(bytes).ok().filter(|_| changed)
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
        assert_eq!(repair("type A =\n  <T>(a: T) => T\n"), None);
    }
}

//! Components in one file, of Vue and Svelte: markup with the code of the component in `<script>` elements.
//!
//! All but the bodies of scripts is blanked before the file is parsed, byte by byte and line by line, so that every offset is the
//! file's own. Several scripts of a file are one module, as they are to those who compile it. What the markup says is text: nothing
//! in it is a reference.

/// No tag is longer, in bytes: one that is not closed must not be looked for to the end of the text.
const LONGEST_TAG: usize = 2_000;

/// The text with nothing but the bodies of scripts in it.
pub(super) fn scripts(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut from = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        at = open + 1;
        if text[open..].starts_with("<!--") {
            at = text[open..].find("-->").map_or(text.len(), |end| open + end + 3);
        } else if let Some((body, is_code)) = script(text, open) {
            let end = end_of(text, body);
            if is_code {
                blank(&mut bytes[from..body]);
                from = end;
            }
            at = end;
        }
    }
    blank(&mut bytes[from..]);
    // Whole characters were blanked: what is kept lies between two tags.
    String::from_utf8(bytes).unwrap_or_else(|_| " ".repeat(text.len()))
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// Where the body of the script begins whose tag opens here, and whether it is code that we read.
fn script(text: &str, open: usize) -> Option<(usize, bool)> {
    const NAME: &str = "<script";
    let rest = text.get(open..)?;
    let is_one = rest.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    let attributes = rest.get(NAME.len()..).filter(|_| is_one)?;
    if !attributes.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')) {
        return None;
    }
    let mut quote = None;
    let end = attributes.bytes().take(LONGEST_TAG).position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })?;
    let attributes = &attributes[..end];
    // One that is closed at once has no body.
    (!attributes.ends_with('/')).then(|| (open + NAME.len() + end + 1, is_read(attributes)))
}

/// Whether the attributes of a script say that it is in a language that the grammar reads.
fn is_read(attributes: &str) -> bool {
    let of = |name: &str| {
        let value = attributes.split_ascii_whitespace().find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        value.map(|value| value.trim_matches(['"', '\'']).to_ascii_lowercase())
    };
    let is_known = |value: String| {
        matches!(value.as_str(), "ts" | "js" | "tsx" | "jsx" | "module" | "typescript" | "javascript")
            || value.ends_with("/javascript")
            || value.ends_with("/typescript")
    };
    [of("lang"), of("type")].into_iter().flatten().all(is_known)
}

/// Where the body that begins here ends.
fn end_of(text: &str, body: usize) -> usize {
    let is_end = |at: usize| text.get(at..at + 8).is_some_and(|tag| tag.eq_ignore_ascii_case("</script"));
    text[body..].match_indices('<').map(|(at, _)| body + at).find(|at| is_end(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::scripts;

    #[test]
    fn only_the_bodies_of_scripts_are_left() {
        let table = [
            ("<script>\na\n</script>\n<p>é</p>\n", "a"),
            ("<SCRIPT setup lang=\"ts\">a</SCRIPT>", "a"),
            ("<script a=\">\">b", "b"),
            ("<script src=\"x\"/><script>a</script>", "a"),
            ("<script lang=\"coffee\">a</script>", ""),
            ("<script type=\"application/json\">{}</script>", ""),
            ("<!-- <script>a</script> --><scripted>", ""),
            ("<script>a</script><script>b</script>", "a                 b"),
            ("<script", ""),
            ("", ""),
        ];
        for (text, left) in table {
            let code = scripts(text);
            assert_eq!((code.trim(), code.len()), (left, text.len()), "{text}");
            let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            assert_eq!(lines(&code), lines(text), "{text}");
        }
    }
}

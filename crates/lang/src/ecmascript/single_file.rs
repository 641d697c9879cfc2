//! Single-file components of Vue and Svelte: markup with the code of the component in `<script>` elements.
//!
//! Before parsing, everything except the bodies of scripts is blanked, byte by byte and line by line, so that every
//! offset is valid in the original file. Several scripts of a file are one module, as for their compilers. The markup
//! is not parsed. But it names symbols of the scripts, so its words are recorded: otherwise a function that only the
//! markup uses would seem unused.

use codecompass_model::Span;

/// The maximum length of a tag, in bytes, so that an unclosed tag is not searched to the end of the text.
const MAX_TAG_BYTES: usize = 2_000;

/// Returns the text with everything except the bodies of scripts blanked.
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
    // Whole characters were blanked: the kept text is between two tags.
    String::from_utf8(bytes).unwrap_or_else(|_| " ".repeat(text.len()))
}

/// Returns the words of the markup: all except scripts, styles and comments. `code` is the result of [`scripts`].
pub(super) fn words(text: &str, code: &str) -> Vec<Span> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
    let (bytes, code) = (text.as_bytes(), code.as_bytes());
    let mut words = Vec::new();
    let mut at = 0;
    // An unclosed comment or style is not skipped, neither here nor later.
    let mut ends = vec![("<!--", "-->"), ("<style", "</style")];
    while at < bytes.len() {
        let passed_over = ends.iter().position(|(open, _)| bytes[at..].starts_with(open.as_bytes()));
        if let Some(one) = passed_over {
            match text[at..].find(ends[one].1) {
                Some(end) => at += end,
                None => drop(ends.remove(one)),
            }
            continue;
        }
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) && code[at] == b' ' {
            at += 1;
        }
        match at > start {
            true if !bytes[start].is_ascii_digit() => words.push(Span { start: start as u32, end: at as u32 }),
            true => {}
            false => at += 1,
        }
    }
    words
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// Returns the body start of the script that opens here, and whether the grammar can parse it.
fn script(text: &str, open: usize) -> Option<(usize, bool)> {
    const NAME: &str = "<script";
    let rest = text.get(open..)?;
    let is_one = rest.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    let attributes = rest.get(NAME.len()..).filter(|_| is_one)?;
    if !attributes.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')) {
        return None;
    }
    let mut quote = None;
    let end = attributes.bytes().take(MAX_TAG_BYTES).position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })?;
    let attributes = &attributes[..end];
    // A self-closing tag has no body.
    (!attributes.ends_with('/')).then(|| (open + NAME.len() + end + 1, is_read(attributes)))
}

/// Returns whether the attributes of a script name a language that the grammar can parse.
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

/// Returns the end of the body that begins here.
fn end_of(text: &str, body: usize) -> usize {
    let is_end = |at: usize| text.get(at..at + 8).is_some_and(|tag| tag.eq_ignore_ascii_case("</script"));
    text[body..].match_indices('<').map(|(at, _)| body + at).find(|at| is_end(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{scripts, words};

    #[test]
    fn finds_markup_words() {
        let text = "<p @a=\"go(é)\">{{ b1 }}</p><!-- no --><script>no</script><style>no</style><!-- 1";
        let told: Vec<&str> = words(text, &scripts(text)).iter().map(|span| span.text(text)).collect();
        assert_eq!(told, ["p", "a", "go", "é", "b1", "p", "script", "script", "style"]);
    }

    #[test]
    fn keeps_only_script_bodies() {
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

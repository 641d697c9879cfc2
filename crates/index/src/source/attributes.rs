//! Reads from `.gitattributes` which files are marked as generated. No other attribute is read.
//!
//! A line's pattern is a gitignore pattern without `!`, and the last line that mentions an attribute wins. A file's
//! lines about `linguist-generated` therefore become gitignore lines: set is a match, unset is an exception from it.

/// The attribute that marks generated files.
const GENERATED_ATTRIBUTE: &str = "linguist-generated";

/// Returns gitignore lines that match the files a `.gitattributes` marks as generated.
pub(super) fn generated_patterns(text: &str) -> Vec<String> {
    text.lines().filter_map(generated_pattern).collect()
}

fn generated_pattern(line: &str) -> Option<String> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with(['#', '!']) || line.starts_with("[attr]") {
        return None;
    }
    let (pattern, attributes) = split_pattern(line)?;
    let generated = attributes.split_ascii_whitespace().filter_map(generated_state).next_back()?;
    Some(if generated { pattern } else { format!("!{pattern}") })
}

/// Whether this word marks a file as generated; `None` if it is about something else.
fn generated_state(word: &str) -> Option<bool> {
    let (bare, negated) = match word.strip_prefix(['-', '!']) {
        Some(rest) => (rest, true),
        None => (word, false),
    };
    match bare.split_once('=') {
        None => (bare == GENERATED_ATTRIBUTE).then_some(!negated),
        Some((name, value)) => (name == GENERATED_ATTRIBUTE).then_some(!negated && value != "false"),
    }
}

/// Returns the pattern, without the quotes that git allows around it, and the words after it.
fn split_pattern(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (pattern, rest) = line.split_once(|c: char| c.is_ascii_whitespace())?;
        return Some((pattern.to_owned(), rest));
    };
    let mut pattern = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((pattern.replace(' ', "\\ "), &quoted[at + 1..])),
            '\\' => match characters.next()?.1 {
                escaped @ ('"' | '\\') => pattern.push(escaped),
                _ => return None,
            },
            _ => pattern.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_generated_files_become_ignore_lines() {
        let cases = [
            ("*.pb.go linguist-generated", Some("*.pb.go")),
            ("  *.pb.go\ttext linguist-generated=true -diff", Some("*.pb.go")),
            ("/gen/** -linguist-generated", Some("!/gen/**")),
            ("a linguist-generated=false", Some("!a")),
            ("a !linguist-generated", Some("!a")),
            ("a linguist-generated -linguist-generated", Some("!a")),
            ("\"with space.c\" linguist-generated", Some("with\\ space.c")),
            ("\"open linguist-generated", None),
            ("# a linguist-generated", None),
            ("!a linguist-generated", None),
            ("[attr]gen linguist-generated", None),
            ("a linguist-vendored", None),
            ("linguist-generated", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(generated_pattern(line).as_deref(), expected, "{line}");
        }
    }
}

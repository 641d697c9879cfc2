//! Splits command lines into words and quotes words, following shell rules.

/// Splits a line at white space. `'…'` is literal, `"…"` supports `\"` and `\\`, and a bare `\` keeps the next
/// character.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next().ok_or("nothing follows the last \\")?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Quotes a word if it would not survive [`split`] unquoted.
pub fn quote(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

fn quoted(mark: char, chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    loop {
        match chars.next() {
            None => return Err(format!("the quote {mark} is not closed")),
            Some(c) if c == mark => return Ok(()),
            Some('\\') if mark == '"' => match chars.next() {
                Some(c @ ('"' | '\\')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => return Err(format!("the quote {mark} is not closed")),
            },
            Some(c) => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quote, split};

    #[test]
    fn splits_at_spaces_outside_quotes() {
        let words = split(r#"search 'a  b' "say \"hi\"" --x="1 2" \' """#).expect("because the line is well formed");
        assert_eq!(words, ["search", "a  b", "say \"hi\"", "--x=1 2", "'", ""]);
    }

    #[test]
    fn unclosed_quote_is_an_error() {
        assert!(split("locate 'x").is_err());
        assert!(split("locate \"x\\").is_err());
    }

    #[test]
    fn quote_round_trips() {
        for word in ["plain", "", "two words", "it's", "a\\b", "\"", "ü \\\" '"] {
            assert_eq!(split(&quote(word)).expect("because the line is well formed"), [word]);
        }
    }
}

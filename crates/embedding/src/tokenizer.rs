//! The model's tokenizer: words of letters, the parts of identifiers, short numbers. The model lower-cases them.
//!
//! Training reads texts through this iterator as well, so that the model and its users cannot disagree about words.

/// The maximum length of a word. Longer runs are data.
pub(crate) const MAX_WORD_LEN: usize = 24;

/// The maximum length of a number. Longer numbers carry no information.
const MAX_NUMBER_LEN: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Other,
    }
}

/// Returns the words of a text in order, as slices of it. `HTTPServer_v2` gives `HTTP`, `Server` and `2`: a single
/// letter is not a word.
pub fn tokenize(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let first = class(*bytes.get(at)?);
            at += 1;
            let run = |at: usize, of: Class| at + bytes[at..].iter().take_while(|byte| class(**byte) == of).count();
            match first {
                Class::Other => continue,
                Class::Digit => at = run(at, Class::Digit),
                Class::Lower => at = run(at, Class::Lower),
                Class::Upper => {
                    let capitals = run(at, Class::Upper);
                    let is_lower = bytes.get(capitals).is_some_and(|byte| class(*byte) == Class::Lower);
                    at = match (is_lower, capitals - start) {
                        (true, 1) => run(capitals, Class::Lower),
                        // The last capital starts the next word.
                        (true, _) => capitals - 1,
                        (false, _) => capitals,
                    };
                }
            }
            let (least, most) = if first == Class::Digit { (1, MAX_NUMBER_LEN) } else { (2, MAX_WORD_LEN) };
            if (least..=most).contains(&(at - start)) {
                return Some(&text[start..at]);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_identifiers() {
        for (text, parts) in [
            ("HTTPServer_v2", vec!["HTTP", "Server", "2"]),
            ("cleanPath(p string)", vec!["clean", "Path", "string"]),
            ("utf8_to_utf16 x1 ABc é aé", vec!["utf", "8", "to", "utf", "16", "1", "Bc"]),
            ("getURL URLs A 123456", vec!["get", "URL", "UR", "Ls"]),
            ("", vec![]),
        ] {
            assert_eq!(tokenize(text).collect::<Vec<_>>(), parts, "{text}");
        }
        assert_eq!(tokenize(&"x".repeat(25)).count(), 0);
    }
}

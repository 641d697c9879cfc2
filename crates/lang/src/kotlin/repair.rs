//! Repairs modifiers that the grammar misparses.
//!
//! `expect`, `open`, `inner` and similar words can also be names. Two of them before a class with a body can be parsed
//! as calls of infix functions with a trailing lambda, and then nothing is declared. Modifiers that the walk does not
//! use are blanked byte by byte until one is left. Headers are shown as written.

/// Modifiers that can also be names.
const SOFT_MODIFIERS: &[&str] =
    &["abstract", "actual", "annotation", "data", "expect", "external", "final", "inner", "open", "sealed", "value"];

/// Soft modifiers that the walk does not use.
const REMOVABLE_MODIFIERS: &[&str] = &["actual", "expect", "external", "final", "inner", "open"];

/// Modifiers that cannot be names.
const HARD_MODIFIERS: &[&str] = &["internal", "private", "protected", "public"];

/// Returns the repaired text, or `None` when nothing changes.
pub(super) fn repair(text: &str) -> Option<String> {
    let mut blanked: Vec<std::ops::Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut soft = Vec::new();
        let mut at = 0;
        while let Some(word) = word_at(line, &mut at) {
            match &line[word.clone()] {
                "class" | "interface" | "object" if soft.len() > 1 => {
                    let is_dispensable =
                        |word: &&std::ops::Range<usize>| REMOVABLE_MODIFIERS.contains(&&line[(*word).clone()]);
                    let words = soft.iter().filter(is_dispensable).take(soft.len() - 1);
                    blanked.extend(words.map(|word| start + word.start..start + word.end));
                    break;
                }
                known if SOFT_MODIFIERS.contains(&known) => soft.push(word),
                known if HARD_MODIFIERS.contains(&known) => {}
                _ => break,
            }
        }
        start += line.len();
    }
    if blanked.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    blanked.into_iter().for_each(|word| bytes[word].fill(b' '));
    // Only ASCII characters were replaced, by ASCII characters.
    String::from_utf8(bytes).ok()
}

/// Returns the next word of a line that consists of words and blanks up to this point.
fn word_at(line: &str, at: &mut usize) -> Option<std::ops::Range<usize>> {
    let blanks = line[*at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = *at + blanks;
    let length = line[start..].bytes().take_while(u8::is_ascii_lowercase).count();
    *at = start + length;
    (length > 0).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn keeps_one_soft_modifier() {
        let cases = [
            ("expect open class A {\n", Some("       open class A {\n")),
            ("  public actual abstract class A\n", Some("  public        abstract class A\n")),
            ("val x = 1\ninternal open inner class B {}\n", Some("val x = 1\ninternal      inner class B {}\n")),
            ("open class A {\n", None),
            ("expect open fun a()\n", None),
            ("data value of class\n", None),
            ("", None),
        ];
        for (text, repaired) in cases {
            assert_eq!(repair(text).as_deref(), repaired, "{text}");
        }
    }
}

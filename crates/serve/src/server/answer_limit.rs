//! The sizes of text answers that clients pass on to a model whole.
//!
//! A client that gets a longer text cuts it, often in the middle, or replaces it with the name of a file. The server
//! therefore stays below the limit itself: it ends at a row and says how to get the rest. The limits were measured with
//! the real programs (`clients/real`); a client that is not in the table gets the default size of answers.

/// A limit on the size of a text answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimit {
    max: usize,
    unit: SizeUnit,
}

/// How a client counts the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeUnit {
    /// UTF-8 bytes.
    Bytes,
    /// The characters of a JSON string, in UTF-16 units: a line end and a quotation mark count twice.
    JsonChars,
}

/// The limit of each client, by the start of the name that it gives in `initialize`. Each is a little lower than the
/// measured one: 8,000 characters of JSON with its frame, 20,480 bytes, 20,000 bytes and 28,000 characters.
const LIMITS: &[(&str, AnswerLimit)] = &[
    ("@cline/core", AnswerLimit { max: 7_700, unit: SizeUnit::JsonChars }),
    ("copilot-cli", AnswerLimit { max: 20_200, unit: SizeUnit::Bytes }),
    ("grok-shell", AnswerLimit { max: 19_700, unit: SizeUnit::Bytes }),
    ("qwen-cli-mcp-client", AnswerLimit { max: 27_700, unit: SizeUnit::Bytes }),
];

/// The limit of Codex for models that are not in its catalog: 12,000 bytes with a frame. For the others it is 48,000,
/// which is more than any answer has.
const CODEX: (&str, AnswerLimit) = ("codex-mcp-client", AnswerLimit { max: 11_700, unit: SizeUnit::Bytes });

/// The beginnings of the names of models in Codex's catalog. A newer model gets short answers, which is safe.
const CODEX_CATALOG: &[&str] = &["gpt-6", "gpt-5.5", "gpt-5.6", "gpt-daybreak", "codex-auto-review"];

/// The number of attempts to render an answer that fits.
pub(super) const MAX_ATTEMPTS: usize = 3;

/// The line at the end of an answer that had to be cut.
const CUT_NOTE: &str = "… cut to the size that this client passes on; ask for less at a time\n";

impl AnswerLimit {
    /// The limit of a client with this name. Codex also names its model in each call.
    pub(crate) fn for_client(name: &str, model: Option<&str>) -> Option<Self> {
        if name.starts_with(CODEX.0) {
            let is_known = model.is_some_and(|model| CODEX_CATALOG.iter().any(|begin| model.starts_with(begin)));
            return (!is_known).then_some(CODEX.1);
        }
        LIMITS.iter().find(|(client, _)| name.starts_with(client)).map(|(_, limit)| *limit)
    }

    /// The number of bytes to render at first. JSON makes source code a few percent longer.
    pub(super) fn first_bytes(self) -> usize {
        match self.unit {
            SizeUnit::Bytes => self.max,
            SizeUnit::JsonChars => self.max / 10 * 9,
        }
    }

    /// The number of bytes to render next, if a text that was rendered with `bytes` is too long; `None` if it fits.
    pub(super) fn next_bytes(self, bytes: usize, text: &str) -> Option<usize> {
        let size = self.size(text);
        let scaled = bytes as u128 * self.max as u128 / size.max(1) as u128;
        (size > self.max).then(|| usize::try_from(scaled).unwrap_or(bytes).min(bytes) / 20 * 19)
    }

    /// The text, cut after a line if it is too long.
    pub(super) fn cut(self, mut text: String) -> String {
        if self.size(&text) <= self.max {
            return text;
        }
        let room = self.max.saturating_sub(self.size(CUT_NOTE));
        let mut size = 0;
        let fits = |line: &&str| {
            size += self.size(line);
            size <= room
        };
        let kept: usize = text.split_inclusive('\n').take_while(fits).map(str::len).sum();
        text.truncate(kept);
        text + CUT_NOTE
    }

    fn size(self, text: &str) -> usize {
        match self.unit {
            SizeUnit::Bytes => text.len(),
            SizeUnit::JsonChars => text.chars().map(json_chars).sum(),
        }
    }
}

/// The UTF-16 units of a character in a JSON string.
fn json_chars(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        char if char < ' ' => 6,
        char => char.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_size_is_that_of_the_encoded_string() {
        let text = "fn a() {\n\t\"quoted\\\" é 漢 😀 \u{1} \r\u{8}\u{c}\n";
        let encoded = serde_json::to_string(text).expect("a string is valid JSON");
        let limit = AnswerLimit { max: 0, unit: SizeUnit::JsonChars };
        assert_eq!(limit.size(text), encoded.encode_utf16().count() - 2);
    }

    #[test]
    fn long_texts_are_rendered_smaller_until_they_fit() {
        let limit = AnswerLimit { max: 1_000, unit: SizeUnit::JsonChars };
        let render = |bytes: usize| "\"\n".repeat(bytes / 2);
        let mut bytes = limit.first_bytes();
        let mut attempts = 1;
        while let Some(next) = limit.next_bytes(bytes, &render(bytes)) {
            assert!(next < bytes);
            bytes = next;
            attempts += 1;
        }
        assert!(attempts <= MAX_ATTEMPTS && bytes > 400, "{attempts} attempts, {bytes} bytes");
    }

    #[test]
    fn clients_are_recognized_by_name_and_model() {
        let max = |name: &str, model: Option<&str>| AnswerLimit::for_client(name, model).map(|limit| limit.max);
        assert_eq!(max("@cline/core", None), Some(7_700));
        assert_eq!(max("qwen-cli-mcp-client-codecompass", None), Some(27_700));
        assert_eq!(max("grok-shell-codecompass", None), Some(19_700));
        assert_eq!(max("codex-mcp-client", Some("gpt-6.1-sol")), None);
        assert_eq!(max("codex-mcp-client", Some("local-model")), Some(11_700));
        assert_eq!(max("codex-mcp-client", None), Some(11_700));
        assert_eq!(max("claude-code", None), None);
    }

    #[test]
    fn cuts_are_at_a_line_end() {
        let limit = AnswerLimit { max: 200, unit: SizeUnit::Bytes };
        let text = "0123456789 short\n".repeat(20);
        let cut = limit.cut(text.clone());
        assert!(cut.len() <= 200 && cut.ends_with(CUT_NOTE), "{cut}");
        assert!(text.starts_with(cut.strip_suffix(CUT_NOTE).expect("it ends with the note")));
        assert_eq!(limit.cut("short\n".into()), "short\n");
    }
}

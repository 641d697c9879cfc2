//! Shortens the long strings of arguments wherever an error repeats them.

use serde_json::Value;

/// The maximum number of characters of an argument that an error repeats.
const MAX_REPEATED: usize = 160;

/// The strings of the arguments that are too long to be repeated in an error.
#[derive(Clone, Debug, Default)]
pub struct Long(Vec<String>);

impl Long {
    /// The long ones among the strings of some values.
    pub fn from_values<'v>(values: impl Iterator<Item = &'v Value>) -> Self {
        let texts = values.flat_map(|value| match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            value => Vec::from_iter(value.as_str()),
        });
        Self(texts.map(str::trim).filter(|text| text.len() > MAX_REPEATED).map(str::to_owned).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shortens them in a text.
    pub(crate) fn shorten_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, long| shortened(&text, long))
    }

    /// Shortens them in every string of a value.
    pub(crate) fn shorten_value(&self, value: &mut Value) {
        let mut open = if self.is_empty() { Vec::new() } else { vec![value] };
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => *text = self.shorten_text(text),
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => open.extend(fields.values_mut()),
                _ => {}
            }
        }
    }
}

/// The text with repetitions of a long string cut to its beginning, also where the string is escaped.
fn shortened(text: &str, long: &str) -> String {
    let escaped = format!("{long:?}");
    cut_repeats(&cut_repeats(text, &escaped[1..escaped.len() - 1]), long)
}

/// Cuts repetitions of a long string in a text. A path may have lost its end.
fn cut_repeats(text: &str, long: &str) -> String {
    let end = long.char_indices().nth(MAX_REPEATED).map_or(long.len(), |(at, _)| at);
    let (beginning, more) = long.split_at(end);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(beginning) {
        let after = &rest[at + end..];
        let same = after.chars().zip(more.chars()).take_while(|(one, other)| one == other);
        let repeated: usize = same.map(|(one, _)| one.len_utf8()).sum();
        out += &rest[..at + end];
        out += if repeated > 0 { "…" } else { "" };
        rest = &after[repeated..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{AppError, Code};

    #[test]
    fn errors_shorten_long_strings() {
        let long = "\"é\n".repeat(300);
        let error =
            AppError::new(Code::InvalidInput, format!("{long} and {long:?}.")).shorten(Long(vec![long.clone()]));
        assert!(error.message.starts_with(&long[..100]) && error.message.ends_with("…\"."), "{}", error.message);
        assert!(error.message.chars().count() < 3 * MAX_REPEATED, "{}", error.message);
    }
}

//! The position of an error in a TOML file.

/// The line of an error, where it has one.
pub fn line(text: &str, error: &toml::de::Error) -> Option<usize> {
    let at = error.span()?.start.min(text.len());
    Some(text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1)
}

/// The description and the line of an error.
pub fn error_location(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().next().unwrap_or_default().to_owned();
    match error.span() {
        Some(span) => {
            let at = (0..=span.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let line = text[..at].matches('\n').count() + 1;
            let column = text[..at].rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            format!("line {line}, column {column}: {message}")
        }
        None => message,
    }
}

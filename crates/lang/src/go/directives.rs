//! Recognises comments that are directives.

/// Returns whether a comment is `//word:word` without a space, or one of the three that predate that rule.
pub(super) fn is_directive(comment: &str) -> bool {
    let Some(words) = comment.strip_prefix("//") else {
        return false;
    };
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = words.trim_start_matches(is_part);
    let colon = rest.len() < words.len() && rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(is_part));
    colon || ["line ", "export ", "extern "].iter().any(|old| words.starts_with(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_not_docs() {
        for comment in ["//go:embed a", "//nolint:all", "//export Name", "//line a.go:3"] {
            assert!(is_directive(comment), "{comment}");
        }
        for comment in ["// go:embed a", "//TODO: x", "//go: x", "/*go:x*/", "//", "//:a"] {
            assert!(!is_directive(comment), "{comment}");
        }
    }
}

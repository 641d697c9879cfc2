//! Evaluates conditional compilation like a compiler on Linux with default features and tests.

/// Returns whether every `#[cfg(…)]` among these attributes holds; an unknown condition counts as true.
pub(super) fn is_enabled(attributes: &str, has_feature: &dyn Fn(&str) -> bool) -> bool {
    let mut rest = attributes;
    while let Some(at) = rest.find("#[cfg(") {
        rest = &rest[at + "#[cfg(".len()..];
        let end = closing(rest);
        if !predicate(&rest[..end], has_feature, 0) {
            return false;
        }
        rest = &rest[end..];
    }
    true
}

const MAX_DEPTH: usize = 16;

fn predicate(text: &str, has_feature: &dyn Fn(&str) -> bool, depth: usize) -> bool {
    let text = text.trim();
    if depth > MAX_DEPTH {
        return true;
    }
    if let Some((word, rest)) = text.split_once('(')
        && !word.contains('=')
    {
        let inner = &rest[..closing(rest)];
        let mut parts = split(inner).map(|part| predicate(part, has_feature, depth + 1));
        return match word.trim() {
            "not" => !parts.next().unwrap_or(false),
            "any" => parts.any(|holds| holds),
            "all" => parts.all(|holds| holds),
            _ => true,
        };
    }
    match text.split_once('=') {
        Some((key, value)) => {
            let value = value.trim().trim_matches('"');
            match key.trim() {
                "feature" => has_feature(value),
                "target_os" => value == "linux",
                "target_family" => value == "unix",
                "target_arch" => value == "x86_64",
                "target_pointer_width" => value == "64",
                "target_endian" => value == "little",
                "target_env" => value == "gnu",
                "panic" => value == "unwind",
                _ => false,
            }
        }
        None => matches!(text, "unix" | "test" | "debug_assertions" | "true" | "overflow_checks") || may_be_set(text),
    }
}

/// Returns whether a word is neither a platform nor a tool: a build flag, which may be set.
fn may_be_set(word: &str) -> bool {
    !matches!(word, "windows" | "miri" | "doc" | "docsrs" | "doctest" | "loom" | "fuzzing" | "false" | "proc_macro")
}

/// Returns the position of the bracket that closes the one open before this text.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Splits a text at the commas outside brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|part| !part.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_enabled;

    #[test]
    fn evaluates_for_default_build() {
        let table = [
            ("", true),
            ("#[cfg(unix)]", true),
            ("#[cfg(not(unix))]", false),
            ("#[cfg(windows)] #[inline]", false),
            ("#[cfg(any(windows, target_os = \"linux\"))]", true),
            ("#[cfg(all(test, not(feature = \"on\")))]", false),
            ("#[cfg(feature = \"off\")]", false),
            ("#[cfg(", true),
        ];
        for (attributes, expected) in table {
            assert_eq!(is_enabled(attributes, &|feature| feature == "on"), expected, "{attributes}");
        }
    }
}

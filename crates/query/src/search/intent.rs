//! Classifies a query. The contract defines the triggers; the order is error, path, symbol, natural language.

use codecompass_model::Languages;

use super::terms::STOP_WORDS;

/// The intent of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// A message, a quoted text, a stack trace, an error code.
    Error,
    /// A file.
    Path,
    /// An identifier.
    Symbol,
    /// Words.
    NaturalLanguage,
}

impl Intent {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Intent::Error => "error",
            Intent::Path => "path",
            Intent::Symbol => "symbol",
            Intent::NaturalLanguage => "natural_language",
        }
    }

    /// Classifies a query.
    pub fn classify(query: &str, languages: &dyn Languages) -> Self {
        let query = query.trim();
        if quoted_text(query).is_some() || is_trace(query) || words(query).any(is_error_code) {
            Intent::Error
        } else if parse_path(query, languages).is_some()
            || query.split_whitespace().any(|word| is_path_among_words(word, languages))
        {
            Intent::Path
        } else if is_identifier(query) {
            Intent::Symbol
        } else {
            Intent::NaturalLanguage
        }
    }
}

/// Returns the text between two quotes of the same kind, if there is one. An apostrophe inside a word is not a quote,
/// and the name of a thread that panicked is not a text to look for.
pub(super) fn quoted_text(query: &str) -> Option<&str> {
    for quote in ['"', '`', '\''] {
        let mut from = 0;
        while let Some(open) = query[from..].find(quote).map(|at| at + from) {
            let after_word = query[..open].ends_with(|c: char| c.is_alphanumeric());
            let inside = &query[open + 1..];
            match inside.find(quote) {
                Some(close) if query[..open].ends_with("thread ") => from = open + 1 + close + 1,
                Some(close) if close > 0 && !(quote == '\'' && after_word) => return Some(&inside[..close]),
                _ => from = open + 1,
            }
        }
    }
    None
}

fn is_trace(query: &str) -> bool {
    const TRACE_MARKERS: &[&str] = &[
        "traceback (most recent",
        "panicked at",
        "stack trace",
        "segmentation fault",
        "exception in thread",
        "error: ",
        "exception: ",
        "fatal: ",
        "panic: ",
        "runtime error: ",
        "sanitizer: ",
        "unhandled exception",
        "assertion failed",
        "assertion `",
        "has overflowed its stack",
    ];
    let lower = query.to_lowercase();
    let frame =
        lower.contains("file \"") && lower.contains(", line ") || lower.starts_with("at ") && lower.contains('(');
    frame || TRACE_MARKERS.iter().any(|sign| lower.contains(sign)) || lower.ends_with("error:")
}

/// Returns the words of a query, with bracketed words separated: compilers write `error[E0308]`.
fn words(query: &str) -> impl Iterator<Item = &str> {
    query.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')'))
}

/// Matches `E0277`, `TS2345`, `ERR_INVALID_ARG`, `0x80070005`.
fn is_error_code(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let (letters, digits) = word.split_at(word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len()));
    let numbered = (1..=4).contains(&letters.len())
        && letters.bytes().all(|b| b.is_ascii_uppercase())
        && digits.len() >= 3
        && digits.bytes().all(|b| b.is_ascii_digit());
    let hexadecimal =
        word.len() >= 6 && word.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    numbered
        || hexadecimal
        || word.starts_with("ERR_")
        || word.starts_with("ENO") && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Parses a query word as a path with an optional line number: `src/auth/jwt.rs:87`.
pub(super) fn parse_path<'q>(word: &'q str, languages: &dyn Languages) -> Option<(&'q str, Option<u32>)> {
    let word = word.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | '?' | ':'));
    let (path, rest) = word.split_once(':').unwrap_or((word, ""));
    let (path, line) = match rest.split(':').next().and_then(|line| line.parse().ok()) {
        Some(line) => (path, Some(line)),
        None => (word, None),
    };
    is_path(path, languages).then(|| (path.trim_start_matches("./"), line))
}

/// Returns the paths among the words of a query, each with its line number.
pub(super) fn typed_paths<'q>(
    query: &'q str,
    languages: &dyn Languages,
) -> impl Iterator<Item = (&'q str, Option<u32>)> {
    query.split_whitespace().filter_map(move |word| parse_path(word, languages))
}

/// Whether a word of a sentence is a path. One slash is not enough: people write `read/write` and `and/or`.
fn is_path_among_words(word: &str, languages: &dyn Languages) -> bool {
    let word = word.trim_end_matches('.');
    let is_rooted = ["/", "./", "../"].iter().any(|start| word.starts_with(start));
    let is_one = |path: &str| {
        has_file_extension(path, languages)
            || path.ends_with('/')
            || path.matches('/').count() > usize::from(!is_rooted)
    };
    parse_path(word, languages).is_some_and(|(path, _)| is_one(path))
}

/// Returns the path if the query consists of one path and filler words: `look into src/auth/jwt.rs`.
pub(super) fn path_alone<'q>(query: &'q str, languages: &dyn Languages) -> Option<&'q str> {
    const FILLER_WORDS: &[&str] = &[
        "look",
        "open",
        "see",
        "read",
        "view",
        "list",
        "explain",
        "file",
        "folder",
        "directory",
        "content",
        "contents",
    ];
    let query = query.trim();
    if Intent::classify(query, languages) != Intent::Path {
        return None;
    }
    if parse_path(query, languages).is_some() {
        return Some(query);
    }
    let says_nothing = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        STOP_WORDS.contains(&word.as_str()) || FILLER_WORDS.contains(&word.as_str())
    };
    let (paths, others): (Vec<&str>, Vec<&str>) =
        query.split_whitespace().partition(|word| is_path_among_words(word, languages));
    match paths.as_slice() {
        [path] if others.into_iter().all(says_nothing) => Some(path.trim_end_matches('.')),
        _ => None,
    }
}

fn is_path(query: &str, languages: &dyn Languages) -> bool {
    if query.contains(char::is_whitespace) || query.contains("::") || query.contains("://") || query.contains('(') {
        return false;
    }
    query.contains('/') || has_file_extension(query, languages)
}

/// Whether a word ends like a file name.
fn has_file_extension(word: &str, languages: &dyn Languages) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    !stem.is_empty() && languages.is_extension(extension)
}

/// Whether the query is one word that could be a possibly qualified name in some language.
fn is_identifier(query: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ':' | '.' | '#' | '-' | '!');
    let query = query.strip_suffix("()").unwrap_or(query);
    !query.is_empty()
        && query.chars().all(is_part)
        && query.chars().any(char::is_alphabetic)
        && !query.ends_with(['.', ':'])
        && !query.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_words_leave_the_path() {
        let table: &[(&str, Option<&str>)] = &[
            ("src/auth/jwt.rs", Some("src/auth/jwt.rs")),
            ("look into src/auth/jwt.rs", Some("src/auth/jwt.rs")),
            ("What is in src/auth/?", Some("src/auth/?")),
            ("claims in src/auth/jwt.rs", None),
            ("look into a.rs and b.rs", None),
            ("look into it", None),
        ];
        for (query, path) in table {
            assert_eq!(path_alone(query, codecompass_lang::REGISTRY), *path, "{query}");
        }
    }

    #[test]
    fn contract_triggers() {
        let table: &[(&str, Intent)] = &[
            ("validate_token", Intent::Symbol),
            ("JwtValidator", Intent::Symbol),
            ("auth::jwt::validate_token", Intent::Symbol),
            ("Session.get", Intent::Symbol),
            ("router", Intent::Symbol),
            ("parse()", Intent::Symbol),
            ("src/auth/jwt.rs", Intent::Path),
            ("jwt.rs", Intent::Path),
            ("auth/", Intent::Path),
            ("src/auth/jwt.rs:87", Intent::Path),
            ("jwt.rs:87:5", Intent::Path),
            ("\"connection refused\"", Intent::Error),
            ("error: cannot borrow", Intent::Error),
            ("E0277", Intent::Error),
            ("TS2345 argument", Intent::Error),
            ("error[E0308]: mismatched types", Intent::Error),
            ("why (E0308) in src/auth/jwt.rs", Intent::Error),
            ("thread 'main' panicked at src/main.rs", Intent::Error),
            ("Traceback (most recent call last)", Intent::Error),
            ("ERR_INVALID_ARG_TYPE", Intent::Error),
            ("where is rate limiting implemented", Intent::NaturalLanguage),
            ("where's it", Intent::NaturalLanguage),
            ("look into src/auth/jwt.rs", Intent::Path),
            ("how does src/lib.rs work", Intent::Path),
            ("what is in jwt.rs?", Intent::Path),
            ("open src/auth/jwt.rs:87.", Intent::Path),
            ("what lies in src/auth/", Intent::Path),
            ("what lies in crates/app/src", Intent::Path),
            ("how is read/write locking done", Intent::NaturalLanguage),
            ("and/or", Intent::Path),
            ("calls of Session.get in tests", Intent::NaturalLanguage),
            ("see https://example.org/a/b", Intent::NaturalLanguage),
            ("", Intent::NaturalLanguage),
            ("🦀", Intent::NaturalLanguage),
            ("(", Intent::NaturalLanguage),
            ("\"", Intent::NaturalLanguage),
        ];
        for (query, intent) in table {
            assert_eq!(Intent::classify(query, codecompass_lang::REGISTRY), *intent, "{query}");
        }
    }
}

//! Checks that several tools make of their input; an error names the parameter and what is allowed.

use serde_json::json;

use crate::error::{AppError, Code};

/// The most results one answer has.
const MOST: i64 = 200;

/// A language that extraction knows, in lower case.
pub(crate) fn language(word: Option<String>) -> Result<Option<String>, AppError> {
    let language = word.map(|language| language.to_lowercase());
    if let Some(language) = language.as_deref().filter(|language| !codecompass_lang::is_language(language)) {
        let known = codecompass_lang::language_names();
        return Err(unknown("language", language, known.into_iter().map(str::to_owned).collect()));
    }
    Ok(language)
}

/// A limit that is allowed, and a warning when that is not the one that was asked for.
pub(crate) fn limit(asked: i64) -> (usize, Vec<String>) {
    let limit = asked.clamp(1, MOST);
    let warnings = match limit == asked {
        true => Vec::new(),
        false => vec![format!("`limit` {asked} was changed to {limit}: it goes from 1 to {MOST}")],
    };
    (limit as usize, warnings)
}

/// A value that is none of those allowed.
pub(crate) fn unknown(parameter: &str, value: &str, allowed: Vec<String>) -> AppError {
    let list = allowed.join(", ");
    AppError::new(Code::InvalidInput, format!("`{parameter}` {value:?} is not known. Known are: {list}."))
        .data(json!({ "parameter": parameter, "allowed": allowed }))
}

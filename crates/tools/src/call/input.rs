//! Input checks shared by several tools; an error names the parameter and the allowed values.

use codecompass_model::SymbolKind;
use codecompass_model::ids::content_hash;
use codecompass_store::Snapshot;
use codecompass_wire::{Allowed, ErrorData};

use codecompass_workspace::config::FreshnessPolicy;
use codecompass_workspace::did_you_mean::nearest;
use codecompass_workspace::error::{AppError, Code};

/// The maximum number of results in one answer.
pub(crate) const MAX_RESULTS: i64 = 200;

/// A supported language, in lower case.
pub fn language(word: Option<String>) -> Result<Option<String>, AppError> {
    let language = word.map(|language| language.to_lowercase());
    if let Some(language) = language.as_deref().filter(|language| !codecompass_lang::is_language(language)) {
        let known = codecompass_lang::language_names();
        return Err(unknown_value("language", language, known.into_iter().map(str::to_owned).collect()));
    }
    Ok(language)
}

/// The same, or the language of a file extension: `py`, `.ts`. A person may write either.
pub fn language_or_extension(word: Option<String>) -> Result<Option<String>, AppError> {
    let extension = word.as_deref().map(|word| word.trim_start_matches('.').to_lowercase()).unwrap_or_default();
    let of_extension = codecompass_lang::supported_languages()
        .into_iter()
        .find(|language| language.extensions.contains(&extension.as_str()))
        .map(|language| language.name.to_owned());
    match of_extension {
        Some(found) if !codecompass_lang::is_language(&extension) => Ok(Some(found)),
        _ => language(word),
    }
}

/// The limit within its range, and a warning if it was changed.
pub fn limit(asked: i64) -> (usize, Vec<String>) {
    let limit = asked.clamp(1, MAX_RESULTS);
    let warnings = match limit == asked {
        true => Vec::new(),
        false => vec![format!("`limit` {asked} was changed to {limit}: the range is 1 to {MAX_RESULTS}")],
    };
    (limit as usize, warnings)
}

/// One of the allowed values.
pub fn one_of<T: Copy>(parameter: &str, word: Option<&str>, words: &[(&str, T)]) -> Result<Option<T>, AppError> {
    let Some(word) = word else { return Ok(None) };
    let found = words.iter().find(|(known, _)| *known == word);
    let allowed = || words.iter().map(|(word, _)| (*word).to_owned()).collect();
    found.map(|(_, meaning)| Some(*meaning)).ok_or_else(|| unknown_value(parameter, word, allowed()))
}

/// The policy for an outdated index.
pub fn policy(word: Option<&str>) -> Result<Option<FreshnessPolicy>, AppError> {
    one_of("freshness_policy", word, FreshnessPolicy::NAMES)
}

/// The symbol kinds that a filter word selects; without a word, all of them.
pub fn kinds(word: Option<&str>) -> Result<&'static [SymbolKind], AppError> {
    let known = || SymbolKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect();
    word.map_or(Ok(&[]), |word| SymbolKind::from_filter_word(word).ok_or_else(|| unknown_value("kind", word, known())))
}

/// A position in a stable list, bound to the content of a view and to the request.
pub(crate) struct Cursor {
    request_hash: u64,
}

impl Cursor {
    /// The cursors of a request; `request` contains everything that determines its list.
    pub(crate) fn new(snapshot: Option<&Snapshot>, question: &str) -> Self {
        let state = snapshot.map(|snapshot| (snapshot.info().totals, snapshot.info().facts_key));
        Self { request_hash: content_hash(&[format!("{state:?} {question}").as_bytes()]) }
    }

    /// The cursor text of an offset.
    pub(crate) fn encode(&self, offset: usize) -> String {
        format!("{offset:x}.{:016x}", self.request_hash)
    }

    /// The offset of a cursor text.
    pub(crate) fn decode(&self, text: Option<&str>) -> Result<usize, AppError> {
        let Some(text) = text else { return Ok(0) };
        let parts = text.split_once('.');
        let offset = parts.and_then(|(offset, _)| usize::from_str_radix(offset, 16).ok());
        offset.filter(|offset| self.encode(*offset) == text).ok_or_else(|| {
            AppError::new(Code::InvalidInput, "`cursor` belongs to another request, or the index has changed since.")
                .hint("Retry without it.")
                .data(ErrorData::parameter("cursor"))
        })
    }
}

/// The error for a value that is not allowed.
pub fn unknown_value(parameter: &str, value: &str, allowed: Vec<String>) -> AppError {
    let list = allowed.join(", ");
    let near = nearest(value, allowed.iter().map(String::as_str), 1);
    let meant = near.first().map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    AppError::new(Code::InvalidInput, format!("Unknown `{parameter}` {value:?}.{meant} Allowed: {list}."))
        .data(ErrorData::not_allowed(parameter.to_owned(), Allowed::List(allowed)))
}

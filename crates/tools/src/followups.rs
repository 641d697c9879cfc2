//! Suggestions for the next call after a weak or empty answer: the follow-up queries of [`codecompass_query`] as calls
//! of tools.

use codecompass_lang::REGISTRY;
use codecompass_query::followups::{self, FollowUp, MAX_FOLLOW_UPS, NextQuery, PreviousKind, PreviousQuery};
use codecompass_wire::Suggestion;
use serde_json::{Map, Value};

pub use crate::call::host::OfferedTools;
pub(crate) use codecompass_query::followups::KnownSymbols;

/// Scores below it are weak, unless the caller gives another threshold.
pub(crate) const WEAK_SCORE: f64 = 0.5;

/// The previous call.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreviousCall {
    pub(crate) tool: String,
    pub(crate) params: Map<String, Value>,
    /// The detected intent of the query, if known.
    pub(crate) intent: Option<String>,
    /// The language of its best result.
    pub(crate) language: Option<String>,
    /// The tools that may be suggested.
    pub(crate) offered: OfferedTools,
}

impl PreviousCall {
    /// A call with one relevant argument.
    pub(crate) fn new(tool: &str, parameter: &str, value: &str, offered: &OfferedTools) -> Self {
        let (params, offered) = (params([(parameter, value)]), offered.clone());
        Self { tool: tool.to_owned(), params, offered, ..Self::default() }
    }

    /// The text of the request: a query or a name.
    pub(crate) fn query_text(&self) -> &str {
        let words = ["query", "name", "symbol_name"].iter().find_map(|key| self.params.get(*key)?.as_str());
        words.unwrap_or_default()
    }

    /// The suggested next calls, without the previous call itself.
    pub(crate) fn follow_ups(&self, known: &KnownSymbols) -> Vec<Suggestion> {
        let previous = PreviousQuery {
            kind: match self.tool.as_str() {
                "search_code" => PreviousKind::Search,
                "get_code_context" => PreviousKind::Context,
                "locate_symbol" | "get_file_outline" => PreviousKind::Definition,
                _ => PreviousKind::Symbol,
            },
            text: self.query_text(),
            is_name: self.intent.as_deref().map(|intent| intent == "symbol"),
            has_language: self.params.contains_key("language"),
            language: self.language.as_deref(),
        };
        let next = followups::follow_ups(&previous, known, REGISTRY).into_iter().map(suggestion);
        next.filter(|suggestion| !self.is_repeated_by(suggestion)).take(MAX_FOLLOW_UPS).collect()
    }

    fn is_repeated_by(&self, suggestion: &Suggestion) -> bool {
        let words = |params: &Map<String, Value>| params.get("query").and_then(Value::as_str).map(str::to_lowercase);
        let (own, params) = (&self.params, &suggestion.params);
        let same_words = words(params).is_some() && words(params) == words(own);
        suggestion.tool == self.tool && (params == own || same_words && !own.contains_key("language"))
    }

    /// The suggestions of a weak answer, if there are any; those of tools that the caller lacks are left out.
    pub(crate) fn suggestions(&self, known: &KnownSymbols) -> Option<Vec<Suggestion>> {
        let mut suggestions = self.follow_ups(known);
        if suggestions.is_empty() {
            return None;
        }
        suggestions.retain(|suggestion| self.offered.includes(&suggestion.tool));
        Some(suggestions)
    }
}

/// A follow-up query as the call of a tool.
fn suggestion(FollowUp { next, reason }: FollowUp) -> Suggestion {
    let (tool, params) = match &next {
        NextQuery::Locate { name, kind } => {
            let kind = kind.map(|kind| ("kind", kind.as_str()));
            ("locate_symbol", params([("name", name.as_str())].into_iter().chain(kind)))
        }
        NextQuery::Search { query, language } => {
            let language = language.as_deref().map(|language| ("language", language));
            ("search_code", params([("query", query.as_str())].into_iter().chain(language)))
        }
        NextQuery::CallGraph { name } => ("get_call_graph", params([("symbol_name", name.as_str())])),
    };
    Suggestion { tool: tool.to_owned(), params, reason }
}

/// Arguments that are strings.
fn params<'v>(values: impl IntoIterator<Item = (&'v str, &'v str)>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

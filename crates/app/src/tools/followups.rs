//! Suggestions for the next call after a weak or empty answer: the rules behind `suggest_followup_queries` and the
//! `suggestions` field of weak answers.
//!
//! The rules are a table over the previous tool and its result. An identifier is suggested only if the index defines
//! it.

use codecompass_lang::REGISTRY;
use codecompass_model::SymbolKind;
use codecompass_query::{
    AmbiguityPolicy, Intent, NameMatch, NameQuery, SearchHit, SearchRequest, defined_names, nearest_names,
    resolve_name, salient_words, search,
};
use codecompass_store::Snapshot;
use codecompass_wire::Suggestion;
use serde_json::{Map, Value};

pub(crate) use crate::call::host::OfferedTools;
use crate::error::AppError;

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 4;

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

/// Names in the index: those found for the query words, and the definitions of the name or of similar names.
#[derive(Default)]
pub(crate) struct KnownSymbols {
    names: Vec<(String, SymbolKind)>,
    definitions: Vec<(String, SymbolKind)>,
}

impl KnownSymbols {
    /// For a query in words, with its search hits.
    pub(crate) fn for_query(snapshot: &Snapshot, query: &str, answers: &[SearchHit]) -> Result<Self, AppError> {
        Ok(Self { names: defined_names(snapshot, query, answers, MAX_SUGGESTIONS)?, definitions: Vec::new() })
    }

    /// For a name; `near` holds similar names if the caller has already searched for them.
    pub(crate) fn for_name(snapshot: &Snapshot, name: &str, near: &[String]) -> Result<Self, AppError> {
        Ok(Self { names: Vec::new(), definitions: definitions_named(snapshot, name, near)? })
    }

    /// For a query that may be words or a name.
    pub(crate) fn for_any(snapshot: &Snapshot, asked: &str) -> Result<Self, AppError> {
        // The words of a name decide whether it is suggested.
        let question =
            SearchRequest { use_embedding: false, ..SearchRequest::new(asked, REGISTRY, 2 * MAX_SUGGESTIONS) };
        let answers = search(snapshot, &question)?.hits;
        let names = defined_names(snapshot, asked, &answers, MAX_SUGGESTIONS)?;
        let near = nearest_names(snapshot, asked, 2)?;
        Ok(Self { names, definitions: definitions_named(snapshot, asked, &near)? })
    }

    /// Every name that a suggestion may use.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(&self.definitions).map(|(name, _)| name.as_str())
    }
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
    pub(crate) fn follow_ups(&self, known: KnownSymbols) -> Vec<Suggestion> {
        let mut suggestions = suggestions(self, known.names, known.definitions);
        let words = |params: &Map<String, Value>| params.get("query").and_then(Value::as_str).map(str::to_lowercase);
        let own = &self.params;
        let is_same = |suggestion: &Suggestion| {
            let params = &suggestion.params;
            let same_words = words(params).is_some() && words(params) == words(own);
            suggestion.tool == self.tool && (params == own || same_words && !own.contains_key("language"))
        };
        suggestions.retain(|suggestion| !is_same(suggestion));
        suggestions.truncate(MAX_SUGGESTIONS);
        suggestions
    }

    /// The suggestions of a weak answer, if there are any; those of tools that the caller lacks are left out.
    pub(crate) fn suggestions(&self, known: KnownSymbols) -> Option<Vec<Suggestion>> {
        let mut suggestions = self.follow_ups(known);
        if suggestions.is_empty() {
            return None;
        }
        suggestions.retain(|suggestion| self.offered.includes(&suggestion.tool));
        Some(suggestions)
    }
}

/// Arguments that are strings.
fn params<'v>(values: impl IntoIterator<Item = (&'v str, &'v str)>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// The definitions of a name or handle, or of the most similar names if there are none.
fn definitions_named(snapshot: &Snapshot, asked: &str, near: &[String]) -> Result<Vec<(String, SymbolKind)>, AppError> {
    let mut names = vec![asked.trim().to_owned()];
    names.extend(near.iter().take(2).cloned());
    let mut found: Vec<(String, SymbolKind)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let wanted = NameQuery { name, languages: REGISTRY, language: None, path: None };
        if let NameMatch::Unique { symbol, .. } = resolve_name(snapshot, &wanted, AmbiguityPolicy::First { others: 0 })?
        {
            found.push((symbol.symbol().name.clone(), symbol.symbol().kind));
        }
        if at == 0 && !found.is_empty() {
            break;
        }
    }
    found.dedup();
    Ok(found)
}

/// Whether a symbol of this kind can be called.
fn may_be_called(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(kind, Class | Constructor | Fn | Macro | Method)
}

fn suggestions(
    before: &PreviousCall,
    known: Vec<(String, SymbolKind)>,
    bearers: Vec<(String, SymbolKind)>,
) -> Vec<Suggestion> {
    let asked = before.query_text();
    let call = |tool: &str, params, reason| Suggestion { tool: tool.to_owned(), params, reason };
    let intent = before.intent.clone().unwrap_or_else(|| Intent::classify(asked, REGISTRY).as_str().to_owned());
    let words = salient_words(asked).join(" ");
    let locate = known.iter().take(2).map(|(name, kind)| {
        let reason = format!("'{name}' matches words of the query and is defined here; a lookup is exact.");
        call("locate_symbol", params([("name", name.as_str()), ("kind", kind.as_str())]), reason)
    });
    match before.tool.as_str() {
        "search_code" if intent == "symbol" => {
            let mut next = Vec::new();
            if !words.is_empty() && words != asked {
                let reason = "A broader query in words also finds code without the exact name.";
                next.push(call("search_code", params([("query", words.as_str())]), reason.into()));
            }
            if before.params.contains_key("language") {
                let reason = "The same query in all languages.";
                next.push(call("search_code", params([("query", asked)]), reason.into()));
            }
            next.into_iter().chain(locate).collect()
        }
        "search_code" | "get_code_context" => {
            let mut next: Vec<Suggestion> = locate.collect();
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let narrowed = names.first().map_or(words.clone(), |name| format!("{name} {words}"));
            let mut narrow = params([("query", narrowed.as_str())]);
            narrow
                .extend(before.language.iter().map(|language| ("language".to_owned(), Value::from(language.as_str()))));
            if !narrowed.trim().is_empty() {
                let reason = "Only the salient words, so that they weigh more.";
                next.push(call("search_code", narrow, reason.into()));
            }
            next
        }
        "locate_symbol" | "get_file_outline" => {
            let reason = "No definition has this name; a search finds its uses and its words.";
            let mut next = vec![call("search_code", params([("query", asked)]), reason.into())];
            next.extend(bearers.iter().take(1).map(|(name, kind)| {
                let reason = format!("'{name}' is the definition with the most similar name.");
                call("locate_symbol", params([("name", name.as_str()), ("kind", kind.as_str())]), reason)
            }));
            let callable = bearers.iter().chain(&known).find(|(_, kind)| may_be_called(*kind));
            next.extend(callable.map(|(name, _)| {
                let reason = format!("'{name}' can be called; its callers and callees show its use.");
                call("get_call_graph", params([("symbol_name", name.as_str())]), reason)
            }));
            next.extend(locate);
            next
        }
        // Tools that take one symbol.
        _ => {
            let (name, reason) = match bearers.first() {
                Some((name, _)) if name != asked => {
                    (name.as_str(), "The most similar name: check whether it is the right one.")
                }
                _ => (asked, "Check that the symbol exists and is the right one."),
            };
            let query = if words.is_empty() { asked.to_owned() } else { words };
            vec![
                call("locate_symbol", params([("name", name)]), reason.into()),
                call("search_code", params([("query", query.as_str())]), "Other names for the same thing.".into()),
            ]
        }
    }
}

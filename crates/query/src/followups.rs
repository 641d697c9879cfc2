//! Follow-up queries after a weak or empty answer.
//!
//! The rules are a table over the kind of the previous query. A name is suggested only if the index defines it.

use codecompass_model::{Languages, SymbolKind};
use codecompass_store::{Result, Snapshot};

use crate::search::{Intent, SearchHit, SearchRequest, defined_names, salient_words, search};
use crate::{AmbiguityPolicy, NameMatch, NameQuery, nearest_names, resolve_name};

/// The maximum number of follow-ups.
pub const MAX_FOLLOW_UPS: usize = 4;

/// The maximum number of names that are suggested because a word of the query matches them.
const MAX_MATCHING_NAMES: usize = 2;

/// The kind of the previous query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousKind {
    /// A search by words.
    Search,
    /// A request for the code that answers a question.
    Context,
    /// A lookup of definitions.
    Definition,
    /// A query about one symbol.
    Symbol,
}

/// The previous query.
#[derive(Clone, Copy, Debug)]
pub struct PreviousQuery<'q> {
    /// Its kind.
    pub kind: PreviousKind,
    /// Its words, or the name.
    pub text: &'q str,
    /// Whether the text was a name; `None` if that has to be classified.
    pub is_name: Option<bool>,
    /// Whether it was restricted to a language.
    pub has_language: bool,
    /// The language of its best result.
    pub language: Option<&'q str>,
}

/// A query to make next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextQuery {
    /// Look up the definitions of a name.
    Locate {
        /// The name.
        name: String,
        /// Only definitions of this kind.
        kind: Option<SymbolKind>,
    },
    /// Search by words.
    Search {
        /// The words.
        query: String,
        /// Only this language.
        language: Option<String>,
    },
    /// List the callers and callees of a symbol.
    CallGraph {
        /// Its name.
        name: String,
    },
}

/// A follow-up and why it may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The query.
    pub next: NextQuery,
    /// Why it may help.
    pub reason: String,
}

/// Names in the index: those found for the query words, and the definitions of the name or of similar names.
#[derive(Clone, Debug, Default)]
pub struct KnownSymbols {
    names: Vec<(String, SymbolKind)>,
    definitions: Vec<(String, SymbolKind)>,
}

impl KnownSymbols {
    /// For a query in words, with its search hits.
    pub fn for_query(snapshot: &Snapshot, query: &str, hits: &[SearchHit]) -> Result<Self> {
        Ok(Self { names: defined_names(snapshot, query, hits, MAX_FOLLOW_UPS)?, definitions: Vec::new() })
    }

    /// For a name; `near` holds similar names if the caller has already searched for them.
    pub fn for_name(
        snapshot: &Snapshot,
        languages: &'static dyn Languages,
        name: &str,
        near: &[String],
    ) -> Result<Self> {
        Ok(Self { names: Vec::new(), definitions: definitions_named(snapshot, languages, name, near)? })
    }

    /// For a query that may be words or a name.
    pub fn for_any(snapshot: &Snapshot, languages: &'static dyn Languages, text: &str) -> Result<Self> {
        // The words of a name decide whether it is suggested.
        let request = SearchRequest { use_embedding: false, ..SearchRequest::new(text, languages, 2 * MAX_FOLLOW_UPS) };
        let hits = search(snapshot, &request)?.hits;
        let names = defined_names(snapshot, text, &hits, MAX_FOLLOW_UPS)?;
        let near = nearest_names(snapshot, text, 2)?;
        Ok(Self { names, definitions: definitions_named(snapshot, languages, text, &near)? })
    }

    /// Every name that a follow-up may use.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(&self.definitions).map(|(name, _)| name.as_str())
    }
}

/// The definitions of a name or handle, or of the most similar names if there are none.
fn definitions_named(
    snapshot: &Snapshot,
    languages: &'static dyn Languages,
    name: &str,
    near: &[String],
) -> Result<Vec<(String, SymbolKind)>> {
    let mut names = vec![name.trim().to_owned()];
    names.extend(near.iter().take(2).cloned());
    let mut found: Vec<(String, SymbolKind)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let wanted = NameQuery { name, languages, language: None, path: None };
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

/// The queries to make next, most promising first. The previous query itself may be among them.
pub fn follow_ups(previous: &PreviousQuery<'_>, known: &KnownSymbols, languages: &dyn Languages) -> Vec<FollowUp> {
    let text = previous.text;
    let words = salient_words(text).join(" ");
    let matching = known.names.iter().take(MAX_MATCHING_NAMES).map(|(name, kind)| {
        let reason = format!("'{name}' matches words of the query and is defined here; a lookup is exact.");
        locate(name, Some(*kind), reason)
    });
    let is_name = || previous.is_name.unwrap_or_else(|| Intent::classify(text, languages) == Intent::Symbol);
    match previous.kind {
        PreviousKind::Search if is_name() => {
            let mut next = Vec::new();
            if !words.is_empty() && words != text {
                next.push(search_for(&words, "A broader query in words also finds code without the exact name."));
            }
            if previous.has_language {
                next.push(search_for(text, "The same query in all languages."));
            }
            next.into_iter().chain(matching).collect()
        }
        PreviousKind::Search | PreviousKind::Context => {
            let mut next: Vec<FollowUp> = matching.collect();
            let query = known.names.first().map_or(words.clone(), |(name, _)| format!("{name} {words}"));
            if !query.trim().is_empty() {
                let reason = "Only the salient words, so that they weigh more.".into();
                let language = previous.language.map(str::to_owned);
                next.push(FollowUp { next: NextQuery::Search { query, language }, reason });
            }
            next
        }
        PreviousKind::Definition => {
            let reason = "No definition has this name; a search finds its uses and its words.";
            let mut next = vec![search_for(text, reason)];
            next.extend(known.definitions.iter().take(1).map(|(name, kind)| {
                let reason = format!("'{name}' is the definition with the most similar name.");
                locate(name, Some(*kind), reason)
            }));
            let callable = known.definitions.iter().chain(&known.names).find(|(_, kind)| may_be_called(*kind));
            next.extend(callable.map(|(name, _)| FollowUp {
                next: NextQuery::CallGraph { name: name.clone() },
                reason: format!("'{name}' can be called; its callers and callees show its use."),
            }));
            next.extend(matching);
            next
        }
        PreviousKind::Symbol => {
            let (name, reason) = match known.definitions.first() {
                Some((name, _)) if name != text => {
                    (name.as_str(), "The most similar name: check whether it is the right one.")
                }
                _ => (text, "Check that the symbol exists and is the right one."),
            };
            let query = if words.is_empty() { text } else { &words };
            vec![locate(name, None, reason.into()), search_for(query, "Other names for the same thing.")]
        }
    }
}

fn locate(name: &str, kind: Option<SymbolKind>, reason: String) -> FollowUp {
    FollowUp { next: NextQuery::Locate { name: name.to_owned(), kind }, reason }
}

fn search_for(query: &str, reason: &str) -> FollowUp {
    FollowUp { next: NextQuery::Search { query: query.to_owned(), language: None }, reason: reason.to_owned() }
}

/// Whether a symbol of this kind can be called.
fn may_be_called(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(kind, Class | Constructor | Fn | Macro | Method)
}

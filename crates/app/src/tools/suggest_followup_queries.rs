//! `suggest_followup_queries`: what to ask next when an answer was weak.
//!
//! The rules are a table over the tool before and what it gave. An identifier is only suggested when something of that
//! name is indexed.

use codecompass_model::SymbolKind;
use codecompass_query::{Intent, Locate, identifiers, known_names, locate, nearest_names, telling_words};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::frame::{Effect, Kind, Tool, WORKSPACE, optional, required, schema};
use crate::error::{AppError, Code};
use crate::output::Answer;
use crate::published::Published;
use crate::server::Call;

/// At most so many suggestions.
const MOST: usize = 4;

pub(crate) const TOOL: Tool = Tool {
    name: "suggest_followup_queries",
    title: "Suggest follow-up queries",
    description: "After a weak or empty answer: the next calls worth making, checked against the index, and when to \
                  stop.",
    params: &[
        required("previous_query", Kind::Object, "{tool, params} of the call before"),
        required("previous_results", Kind::Object, "Its answer; may be abbreviated"),
        optional("confidence_threshold", Kind::Share(0.5), "Scores below it count as weak"),
        WORKSPACE,
    ],
    output: || {
        let suggestion = schema::object(&["tool", "reason"], &[], &[("params", schema::any_object())]);
        json!({ "suggestions": schema::list(suggestion), "analysis": schema::any_object() })
    },
    always: &["suggestions", "analysis"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let before = Before::read(call)?;
        let offered: Vec<&str> = call.server.tools().map(|tool| tool.name).collect();
        call.query(|_, published| answer(&before, &offered, published))
    },
};

/// The call before and what it gave.
struct Before {
    tool: String,
    params: Map<String, Value>,
    intent: Option<String>,
    results: usize,
    top_score: f64,
    threshold: f64,
    language: Option<String>,
}

impl Before {
    fn read(call: &Call<'_>) -> Result<Self, AppError> {
        let query = call.arguments.object("previous_query");
        let missing = |field: &str, what: &str| {
            AppError::new(Code::InvalidInput, format!("`previous_query` has no `{field}`: {what}."))
                .data(json!({ "parameter": "previous_query", "missing": field }))
        };
        let tool = query.get("tool").and_then(Value::as_str).filter(|tool| !tool.is_empty());
        let tool = tool.ok_or_else(|| missing("tool", "give the name of the tool"))?.to_owned();
        let params = query.get("params").and_then(Value::as_object);
        let params = params.ok_or_else(|| missing("params", "give the arguments it was called with"))?.clone();
        let given = call.arguments.object("previous_results");
        let lists = ["results", "context_items", "references", "callers", "callees", "related", "hierarchy"];
        let items: Vec<&Value> = lists.iter().filter_map(|name| given.get(*name)?.as_array()).flatten().collect();
        let scores = items.iter().filter_map(|item| item.get("score")?.as_f64());
        let stated = given.get("top_score").and_then(Value::as_f64);
        let results = items.len().max(match stated {
            Some(score) if score > 0.0 => 1,
            _ => 0,
        });
        Ok(Self {
            tool,
            params,
            intent: given.get("query_intent").and_then(Value::as_str).map(str::to_owned),
            results,
            top_score: stated.unwrap_or_else(|| scores.fold(0.0, f64::max)),
            threshold: call.arguments.share("confidence_threshold"),
            language: items.first().and_then(|item| Some(item.get("language")?.as_str()?.to_owned())),
        })
    }

    /// What was asked for: a query, or a name.
    fn asked(&self) -> &str {
        let words = ["query", "name", "symbol_name"].iter().find_map(|key| self.params.get(*key)?.as_str());
        words.unwrap_or_default()
    }

    /// Whether the answer is good enough. A tool whose results have no score is judged by whether it found anything.
    fn is_good(&self) -> bool {
        match self.tool.as_str() {
            "search_code" | "get_code_context" => self.top_score >= self.threshold,
            _ => self.results > 0 || self.top_score >= self.threshold,
        }
    }
}

fn answer(before: &Before, offered: &[&str], published: Published) -> Result<Answer, AppError> {
    let snapshot = published.snapshot.as_deref();
    let asked = before.asked();
    let (mut suggestions, mut extracted) = (Vec::new(), Vec::new());
    let mut reason = None;
    if before.is_good() {
        reason = Some("results are above confidence threshold");
    } else if asked.trim().is_empty() {
        reason = Some("the previous call has no query and no name to go on with");
    } else {
        extracted = identifiers(asked);
        let known = snapshot.map(|snapshot| known_names(snapshot, asked, MOST)).transpose()?;
        let bearers = snapshot.map(|snapshot| bearers(snapshot, asked)).transpose()?;
        suggestions = suggest(before, known.unwrap_or_default(), bearers.unwrap_or_default());
        suggestions.retain(|suggestion| offered.contains(&suggestion["tool"].as_str().unwrap_or_default()));
        suggestions.retain(|suggestion| {
            suggestion["tool"] != before.tool.as_str() || suggestion["params"] != json!(before.params)
        });
        suggestions.truncate(MOST);
        if suggestions.is_empty() {
            reason = Some("nothing better is known to ask: the words stand nowhere in the index");
        }
    }
    let mut analysis = json!({
        "previous_confidence": if before.is_good() { "high" } else { "low" },
        "top_score": before.top_score,
        "threshold": before.threshold,
        "extracted_identifiers": extracted,
    });
    if let Some(reason) = reason {
        analysis["reason"] = json!(reason);
    }
    Ok(Answer {
        text: String::new(),
        json: json!({
            "suggestions": suggestions,
            "analysis": analysis,
            "metadata": published.metadata.to_json(),
        }),
        code: 0,
    })
}

/// What is defined under a name or handle; when nothing is, under the names that come nearest.
fn bearers(snapshot: &Snapshot, asked: &str) -> Result<Vec<(String, SymbolKind)>, AppError> {
    let mut names = vec![asked.trim().to_owned()];
    names.extend(nearest_names(snapshot, asked, 2)?);
    let mut found: Vec<(String, SymbolKind)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let question = Locate { name, kinds: &[], language: None, offset: 0, limit: 1 };
        let hits = locate(snapshot, &question)?.hits;
        found.extend(hits.first().map(|hit| (hit.symbol().name.clone(), hit.symbol().kind)));
        if at == 0 && !found.is_empty() {
            break;
        }
    }
    found.dedup();
    Ok(found)
}

/// Whether a symbol of this kind may be called.
fn may_be_called(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(kind, Class | Constructor | Fn | Macro | Method)
}

fn suggest(before: &Before, known: Vec<(String, SymbolKind)>, bearers: Vec<(String, SymbolKind)>) -> Vec<Value> {
    let asked = before.asked();
    let call = |tool: &str, params: Value, reason: String| json!({ "tool": tool, "params": params, "reason": reason });
    let intent = before.intent.clone().unwrap_or_else(|| Intent::of(asked).as_str().to_owned());
    let words = telling_words(asked).join(" ");
    let locate = known.iter().take(2).map(|(name, kind)| {
        let reason = format!("'{name}' stands for words of the query and is defined here: a look-up is exact.");
        call("locate_symbol", json!({ "name": name, "kind": kind.as_str() }), reason)
    });
    match before.tool.as_str() {
        "search_code" if intent == "symbol" => {
            let mut next = Vec::new();
            if !words.is_empty() && words != asked {
                let reason = "A broader query in words also finds places that do not bear the exact name.";
                next.push(call("search_code", json!({ "query": words }), reason.into()));
            }
            if before.params.contains_key("language") {
                let reason = "The same query in all languages.";
                next.push(call("search_code", json!({ "query": asked }), reason.into()));
            }
            next.into_iter().chain(locate).collect()
        }
        "search_code" | "get_code_context" => {
            let mut next: Vec<Value> = locate.collect();
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let narrowed = names.first().map_or(words.clone(), |name| format!("{name} {words}"));
            let mut params = json!({ "query": narrowed });
            if let Some(language) = &before.language {
                params["language"] = json!(language);
            }
            if !narrowed.trim().is_empty() {
                let reason = "Only the words that tell something, so that they weigh more.";
                next.push(call("search_code", params, reason.into()));
            }
            next
        }
        "locate_symbol" | "get_file_outline" => {
            let reason = "No definition bears the name; a search finds places that use it or its words.";
            let mut next = vec![call("search_code", json!({ "query": asked }), reason.into())];
            next.extend(bearers.iter().take(1).map(|(name, kind)| {
                let reason = format!("'{name}' is what is defined under the name, or nearest to it.");
                call("locate_symbol", json!({ "name": name, "kind": kind.as_str() }), reason)
            }));
            let callable = bearers.iter().chain(&known).find(|(_, kind)| may_be_called(*kind));
            next.extend(callable.map(|(name, _)| {
                let reason = format!("'{name}' may be what is called: its callers and callees show where it is used.");
                call("get_call_graph", json!({ "symbol_name": name }), reason)
            }));
            next.extend(locate);
            next
        }
        // Tools about one symbol.
        _ => {
            let (name, reason) = match bearers.first() {
                Some((name, _)) if name != asked => (name.as_str(), "Nearest to the name is this one: does it exist?"),
                _ => (asked, "Does the symbol exist under this name, and is it the one that is meant?"),
            };
            let query = if words.is_empty() { asked.to_owned() } else { words };
            vec![
                call("locate_symbol", json!({ "name": name }), reason.into()),
                call("search_code", json!({ "query": query }), "Other names for the same thing.".into()),
            ]
        }
    }
}

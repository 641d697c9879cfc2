//! `get_code_context`: what to read for a question, fitted to a budget of tokens.
//!
//! Pieces come in the order of search and take what is left of the budget: whole, as a signature when that is too much,
//! or not at all. A later, smaller one still fills the rest, so nothing that was left out would have fitted.

use std::collections::HashSet;

use codecompass_model::ids::SymbolId;
use codecompass_query::{Locate, Mode, Piece, Search, context, locate, nearest_names, place_of, telling_words};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::followups::{Before, Known};
use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::tokens::Budget;
use super::{graph, input, shape};
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::Paths;

/// So many places of a search are candidates: more than most budgets hold, and each costs time.
const PLACES: usize = 60;

/// Room for everything around the items, in bytes.
const FRAME: u64 = 2048;

const STRATEGIES: &[&str] = &["breadth", "depth"];

pub(crate) const TOOL: Tool = Tool {
    name: "get_code_context",
    title: "Code for a question",
    description: "The code that answers a question, fitted to a token budget: 'breadth' for many symbols with \
                  signatures, 'depth' for fewer with full bodies. `symbols` reads named ones whole in one call. Use \
                  it in place of reading files.",
    params: &[
        required("query", Kind::Text, "As in search_code; may be \"\" with `symbols`"),
        optional("max_tokens", Kind::Count(Some(4000)), "Token budget"),
        optional("strategy", Kind::Choice(STRATEGIES, Some("breadth")), "").or(Code::InvalidStrategy),
        REF,
        optional("language", Kind::Text, "Only this language"),
        optional(
            "symbols",
            Kind::List,
            "To read first, whole: names, symbol_ids, or places (src/a.py:10-40, or :10 for the symbol there)",
        ),
        optional("exclude", Kind::List, "symbol_ids you already have"),
        WORKSPACE,
    ],
    output: || {
        let item = schema::object(
            &[
                "symbol_id",
                "symbol_stable_id",
                "name",
                "kind",
                "qualified_name",
                "path",
                "signature",
                "language",
                "body",
            ],
            &["line_start", "line_end"],
            &[("score", schema::number())],
        );
        json!({
            "context_items": schema::list(item),
            "estimated_tokens": schema::count(),
            "truncated": schema::flag(),
            "suggestions": schema::suggestions(),
        })
    },
    always: &["context_items", "estimated_tokens", "truncated"],
    effect: Effect::Reads,
    first: true,
    call: |call| {
        let arguments = &call.arguments;
        let question = Input {
            query: arguments.words("query"),
            max_tokens: arguments.count("max_tokens"),
            strategy: arguments.text("strategy"),
            language: arguments.text("language"),
            symbols: arguments.list("symbols"),
            exclude: arguments.list("exclude"),
        }
        .check()?;
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked, as it came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) query: String,
    pub(crate) max_tokens: i64,
    pub(crate) strategy: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) symbols: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    query: String,
    max_tokens: u64,
    is_deep: bool,
    language: Option<String>,
    symbols: Vec<String>,
    exclude: HashSet<String>,
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        if self.query.trim().is_empty() && self.symbols.is_empty() {
            return Err(AppError::new(
                Code::InvalidInput,
                "`query` is empty: say what to look for, or give `symbols`.",
            )
            .data(json!({ "parameter": "query" })));
        }
        let is_deep = match self.strategy.as_deref() {
            None | Some("breadth") => false,
            Some("depth") => true,
            Some(other) => {
                let message = format!("`strategy` {other:?} is not known: it must be breadth or depth.");
                return Err(AppError::new(Code::InvalidStrategy, message)
                    .data(json!({ "parameter": "strategy", "allowed": STRATEGIES })));
            }
        };
        let max_tokens = u64::try_from(self.max_tokens).ok().filter(|tokens| *tokens > 0).ok_or_else(|| {
            let message = format!("`max_tokens` is {}: it must be at least 1.", self.max_tokens);
            AppError::new(Code::InvalidMaxTokens, message)
                .data(json!({ "parameter": "max_tokens", "allowed": "a whole number from 1" }))
        })?;
        Ok(Question {
            language: input::language(self.language)?,
            exclude: self.exclude.into_iter().collect(),
            query: self.query,
            symbols: self.symbols,
            max_tokens,
            is_deep,
        })
    }
}

/// A piece that is in the answer.
struct Taken {
    piece: Piece,
    item: Value,
    is_whole: bool,
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let mut budget = Budget::new(question.max_tokens, (config.max_response_bytes as u64).saturating_sub(FRAME));
    let mut taken: Vec<Taken> = Vec::new();
    let mut left = 0;
    if let Some(snapshot) = snapshot {
        let named = named(snapshot, question, paths, &mut metadata);
        let named = named.map_err(|error| error.about(metadata.clone()))?;
        let keys: HashSet<_> = named.iter().map(Piece::key).collect();
        let found = found(snapshot, question)?;
        let found =
            found.into_iter().filter(|piece| !keys.contains(&piece.key())).map(|piece| (piece, question.is_deep));
        for (piece, is_deep) in named.into_iter().map(|piece| (piece, true)).chain(found) {
            if taken.iter().any(|other| other.is_whole && piece.is_inside(&other.piece)) {
                continue;
            }
            match fitted(snapshot, &piece, is_deep, &taken, &mut budget)? {
                Some((item, is_whole)) => taken.push(Taken { piece, item, is_whole }),
                None => left += 1,
            }
        }
    }
    if left > 0 {
        metadata.completeness = "partial";
    }
    let text = text(&taken, left, &budget) + &metadata.warnings_text();
    let code = u8::from(taken.is_empty());
    let (returned, total) = (taken.len(), taken.len() + left);
    let items: Vec<Value> = taken.into_iter().map(|taken| taken.item).collect();
    let mut about = metadata.to_json();
    about["total_candidates"] = json!(total);
    about["returned"] = json!(returned);
    about["strategy"] = json!(if question.is_deep { "depth" } else { "breadth" });
    about["token_upper_estimate"] = json!(budget.spent.tokens());
    if left > 0 {
        about["remaining_candidates"] = json!(left);
        about["suggestion"] = json!("Use locate_symbol for specific symbols, or increase max_tokens");
    } else if let (0, Some(snapshot)) = (returned, snapshot) {
        about["suggestion"] = json!(when_empty(snapshot, &question.query)?);
    }
    let mut json = json!({
        "context_items": items,
        "estimated_tokens": budget.spent.formula,
        "truncated": left > 0,
        "metadata": about,
    });
    if let (0, 0, Some(snapshot)) = (returned, left, snapshot) {
        let known = Known::of_words(snapshot, &question.query, &[])?;
        Before::of(TOOL.name, "query", &question.query).add_to(&mut json, known);
    }
    Ok(Answer { text, json, code })
}

/// The symbols that are asked for by name, handle or place; those that are not there are told.
fn named(
    snapshot: &Snapshot,
    question: &Question,
    paths: &Paths<'_>,
    metadata: &mut Metadata,
) -> Result<Vec<Piece>, AppError> {
    let mut seen = HashSet::new();
    let mut pieces = Vec::new();
    for name in question.symbols.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if let Some((path, lines)) = place_of(name) {
            let file = paths.file(&[snapshot], "symbols", path)?;
            match (Piece::at(snapshot, &file.path, lines)?, &file.absence) {
                (Some(piece), _) if seen.insert(piece.key()) => pieces.push(piece),
                (Some(_), _) => {}
                (None, Some(absence)) => metadata.warnings.push(format!("{name}: {}", absence.clause())),
                (None, None) => metadata.warnings.push(format!("{} has no line {}", file.path, lines.0)),
            }
            continue;
        }
        let asked = Locate { name, kinds: &[], language: question.language.as_deref(), offset: 0, limit: 1 };
        let located = locate(snapshot, &asked)?;
        let Some(hit) = located.hits.first() else {
            metadata.warnings.push(format!("no symbol {name:?} is indexed"));
            continue;
        };
        if located.total > 1 {
            let symbol = hit.symbol();
            metadata.warnings.push(format!(
                "{} symbols are called {name}; this is {} ({}:{})",
                located.total, symbol.qualified_name, hit.version.path, symbol.lines.start
            ));
        }
        let piece = Piece::named(snapshot, hit)?;
        if seen.insert(piece.key()) {
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

/// What a search finds, without what the agent has.
fn found(snapshot: &Snapshot, question: &Question) -> Result<Vec<Piece>, AppError> {
    if question.query.trim().is_empty() {
        return Ok(Vec::new());
    }
    let asked = Search {
        query: &question.query,
        mode: Mode::Words,
        language: question.language.as_deref(),
        paths: None,
        kinds: &[],
        offset: 0,
        limit: PLACES,
    };
    let mut pieces = context(snapshot, &asked)?;
    pieces.retain(|piece| {
        let id = piece.symbol().map(|symbol| SymbolId::of(&piece.version.path, symbol).to_string());
        id.is_none_or(|id| !question.exclude.contains(&id))
    });
    Ok(pieces)
}

/// The piece as an item that fits: whole, when that is wanted and nothing of it is there already, or its signature.
fn fitted(
    snapshot: &Snapshot,
    piece: &Piece,
    is_deep: bool,
    taken: &[Taken],
    budget: &mut Budget,
) -> Result<Option<(Value, bool)>, AppError> {
    if budget.is_over(piece.words()) {
        return Ok(None);
    }
    let item = item(piece);
    if is_deep && !budget.is_too_long(piece.length()) && !taken.iter().any(|other| other.piece.is_inside(piece)) {
        let mut whole = item.clone();
        whole.insert("body".into(), json!(piece.body(snapshot)?));
        let whole = Value::Object(whole);
        if budget.take(&whole.to_string()) {
            return Ok(Some((whole, true)));
        }
    }
    let item = Value::Object(item);
    Ok(budget.take(&item.to_string()).then_some((item, false)))
}

fn item(piece: &Piece) -> Map<String, Value> {
    let version = &piece.version;
    let mut item = match piece.symbol() {
        Some(symbol) => graph::identity(&version.path, &version.language, symbol),
        // What stands at the level of a file belongs to its module.
        None => graph::module_identity(&version.path, &version.language, piece.symbols()),
    };
    item.insert("path".into(), json!(version.path));
    item.insert("line_start".into(), json!(piece.lines.start));
    item.insert("line_end".into(), json!(piece.lines.end));
    let signature = piece.symbol().map(|symbol| symbol.signature.as_str()).or(piece.line.as_deref());
    item.insert("signature".into(), json!(shape::cut(signature.unwrap_or_default(), shape::SIGNATURE)));
    item.insert("language".into(), json!(version.language));
    item.insert("score".into(), json!(piece.score));
    item
}

/// What to do when nothing holds a word of the question.
fn when_empty(snapshot: &Snapshot, query: &str) -> Result<String, AppError> {
    const MOST: usize = 3;
    let mut near: Vec<String> = Vec::new();
    for word in telling_words(query) {
        for name in nearest_names(snapshot, &word, MOST)? {
            if near.len() < MOST && !near.contains(&name) {
                near.push(name);
            }
        }
    }
    Ok(match near.is_empty() {
        true => "Nothing holds these words: ask in other words, or search_code with mode \"literal\"".into(),
        false => format!("Nothing holds these words; nearest names: {}", near.join(", ")),
    })
}

fn text(taken: &[Taken], left: usize, budget: &Budget) -> String {
    let mut text = String::new();
    for Taken { piece, item, .. } in taken {
        let word = |name: &str| shown(item[name].as_str().unwrap_or_default()).into_owned();
        text += &format!(
            "{}:{}  {} {}\n",
            style::path(&shown(&piece.version.path)),
            style::number(piece.lines.start),
            style::dim(&word("kind")),
            style::name(&word("qualified_name")),
        );
        let lines = item["body"].as_str().or(item["signature"].as_str()).unwrap_or_default();
        for line in lines.lines() {
            let line = shown(&line.replace('\t', "    ")).into_owned();
            text += format!("    {line}").trim_end();
            text += "\n";
        }
    }
    if taken.is_empty() && left == 0 {
        return "Nothing answers that.\n".into();
    }
    let rest = if left > 0 { format!("; {left} more need a larger --max-tokens") } else { String::new() };
    text + &format!("{} symbols, at most {} tokens{rest}\n", taken.len(), budget.spent.tokens())
}

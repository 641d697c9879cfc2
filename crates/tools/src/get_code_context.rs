//! `get_code_context`: the code to read for a query, fitted to a token budget.
//!
//! Context items are taken in search order and use the remaining budget: whole, as a signature if the whole is too
//! large, or not at all. A later, smaller item still uses the rest, so no omitted item would have fitted.

use std::collections::HashSet;

use codecompass_lang::REGISTRY;
use codecompass_model::Lines;
use codecompass_model::ids::SymbolId;
use codecompass_query::encoder::Encoder;
use codecompass_query::tokens::{self, Budget};
use codecompass_query::{
    AmbiguityPolicy, ContextItem, NameMatch, NameQuery, QueryMode, SearchRequest, context, nearest_names,
    parse_location, resolve_name, salient_words, select_lines,
};
use codecompass_store::Snapshot;
use codecompass_wire::get_code_context::{self as wire, ContextMetadata, Strategy};
use codecompass_wire::{Allowed, ErrorData, SymbolIdentity, schema};

use super::bounds::MAX_QUERY;
use super::followups::{KnownSymbols, OfferedTools, PreviousCall};
use super::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use super::{graph, input, rows, shape};
use crate::call::QueryContext;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render, style};
use codecompass_workspace::paths::PathResolver;

/// The maximum number of search hits that are candidates: more than most budgets hold, and each costs time.
const MAX_SEARCH_HITS: usize = 60;

/// The size of everything around the items, in bytes.
const ENVELOPE_BYTES: u64 = 2048;

const STRATEGIES: &[&str] = &["breadth", "depth"];

pub const TOOL: ToolSpec = ToolSpec {
    name: "get_code_context",
    title: "Code for a question",
    description: "The code that answers a question, fitted to a token budget: 'breadth' for many symbols with \
                  signatures, 'depth' for fewer with full bodies. `symbols` reads named ones whole in one call. Use \
                  it in place of reading files.",
    params: &[
        required("query", ParamKind::Text, "As in search_code; may be \"\" with `symbols`")
            .max_bytes(MAX_QUERY)
            .optional_positional("QUERY")
            .help("A question in words, a name, a path or a message"),
        optional("max_tokens", ParamKind::Count(Some(4000)), "Token budget").flag("max-tokens"),
        optional("strategy", ParamKind::Choice(STRATEGIES, Some("breadth")), "")
            .with_error_code(Code::InvalidStrategy)
            .help(
                "depth: fewer symbols with their code; breadth: many with signatures [default: depth; breadth in JSON]",
            ),
        REF,
        shape::LANGUAGE,
        optional(
            "symbols",
            ParamKind::List,
            "To read first, whole: names, symbol_ids, or places (src/a.py:10-40, or :10 for the symbol there)",
        )
        .flag("symbol")
        .value("NAME"),
        optional("exclude", ParamKind::List, "symbol_ids you already have").value("ID"),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: true,
    call: ToolCall::Anywhere(|call| {
        let mut question = ContextArgs::parse(&call.arguments)?;
        // A person who asks for code gets code, unless they ask for signatures.
        question.is_deep |=
            call.context.form == OutputFormat::Text(Reader::Person) && !call.arguments.is_given("strategy");
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
pub struct ContextArgs {
    query: String,
    max_tokens: u64,
    /// Whether the call sets the number of tokens.
    is_bounded: bool,
    is_deep: bool,
    language: Option<String>,
    symbols: Vec<String>,
    exclude: HashSet<String>,
}

impl ContextArgs {
    /// Checks the arguments.
    pub fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let (query, symbols) = (arguments.required_text("query"), arguments.list("symbols"));
        if query.trim().is_empty() && symbols.is_empty() {
            return Err(AppError::new(
                Code::InvalidInput,
                "`query` is empty: say what to look for, or give `symbols`.",
            )
            .data(ErrorData::parameter("query")));
        }
        let is_deep = match arguments.text("strategy").as_deref() {
            None | Some("breadth") => false,
            Some("depth") => true,
            Some(other) => {
                let message = format!("`strategy` {other:?} is not known: it must be breadth or depth.");
                return Err(AppError::new(Code::InvalidStrategy, message).data(ErrorData::not_allowed(
                    "strategy",
                    Allowed::List(STRATEGIES.iter().map(|word| (*word).to_owned()).collect()),
                )));
            }
        };
        let asked = arguments.count("max_tokens");
        let max_tokens = u64::try_from(asked).ok().filter(|tokens| *tokens > 0).ok_or_else(|| {
            let message = format!("`max_tokens` is {asked}: it must be at least 1.");
            AppError::new(Code::InvalidMaxTokens, message)
                .data(ErrorData::not_allowed("max_tokens", Allowed::Text("a whole number from 1".into())))
        })?;
        Ok(Self {
            language: input::language(arguments.text("language"))?,
            exclude: arguments.list("exclude").into_iter().collect(),
            is_bounded: arguments.is_given("max_tokens"),
            query,
            symbols,
            max_tokens,
            is_deep,
        })
    }
}

/// A context item in the answer.
struct IncludedItem {
    piece: ContextItem,
    /// The rendered item, in the format of the answer.
    item: ItemContent,
    is_whole: bool,
}

enum ItemContent {
    Wire(Box<wire::Item>),
    Text(String),
}

/// The answer.
struct ContextAnswer<'c> {
    snapshot: Option<&'c Snapshot>,
    question: &'c ContextArgs,
    taken: Vec<IncludedItem>,
    /// The number of items that did not fit.
    left: usize,
    /// The number of items requested by name that are shown without their body.
    bodiless: usize,
    budget: Budget,
    metadata: Metadata,
    offered: &'c OfferedTools,
}

/// Answers the call; if nothing is published, the answer is empty and the metadata says why.
pub fn answer(inquiry: &QueryContext<'_>, question: &ContextArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&[]);
    let room = match question.is_bounded {
        true => inquiry.form.max_bytes_for_token_budget(&inquiry.config),
        false => inquiry.max_bytes(),
    };
    let budget = Budget::new(question.max_tokens, (room as u64).saturating_sub(ENVELOPE_BYTES));
    let snapshot = inquiry.snapshot();
    let mut pieces = Vec::new();
    if let Some(snapshot) = snapshot {
        let named = requested_items(snapshot, question, &inquiry.paths, &mut metadata);
        let named = named.map_err(|error| error.with_metadata(metadata.clone()))?;
        let keys: HashSet<_> = named.iter().map(ContextItem::key).collect();
        let encoder = inquiry.encoder(&mut metadata);
        let encoder = encoder.as_deref().map(|encoder| encoder as &dyn Encoder);
        let found = search_items(snapshot, question, inquiry.config.embedding, encoder)?
            .into_iter()
            .filter(|piece| !keys.contains(&piece.key()));
        pieces.extend(named.into_iter().map(|piece| (piece, true)));
        pieces.extend(found.map(|piece| (piece, false)));
    }
    let taken = Vec::new();
    let offered = &inquiry.offered;
    let mut report = ContextAnswer { snapshot, question, taken, left: 0, bodiless: 0, budget, metadata, offered };
    for (piece, is_named) in pieces {
        if let Some(snapshot) = snapshot {
            report.add(snapshot, inquiry.form, piece, is_named)?;
        }
    }
    if report.is_cut() {
        report.metadata.completeness = Completeness::Partial;
    }
    let code = u8::from(report.taken.is_empty());
    Answer::render(inquiry.form, code, report)
}

impl ContextAnswer<'_> {
    /// Whether an item was left out, or shown without its requested body.
    fn is_cut(&self) -> bool {
        self.left > 0 || self.bodiless > 0
    }

    /// Adds an item that fits: whole, if that is wanted and no part of it is there already, or as its signature.
    fn add(
        &mut self,
        snapshot: &Snapshot,
        form: OutputFormat,
        piece: ContextItem,
        is_named: bool,
    ) -> Result<(), AppError> {
        if self.taken.iter().any(|other| other.is_whole && piece.is_inside(&other.piece)) {
            return Ok(());
        }
        let is_deep = is_named || self.question.is_deep;
        let may_be_whole = is_deep
            && !self.budget.is_too_long(piece.estimated_bytes())
            && !self.taken.iter().any(|other| other.piece.is_inside(&piece));
        let fitted = match form {
            OutputFormat::Json => self.fitted_json(snapshot, &piece, may_be_whole)?,
            OutputFormat::Text(_) => self.fitted_text(snapshot, &piece, may_be_whole, is_deep)?,
        };
        match fitted {
            Some((item, is_whole)) => {
                let has_inner = self.taken.iter().any(|other| other.piece.is_inside(&piece));
                self.bodiless += usize::from(is_named && !is_whole && !has_inner);
                self.taken.push(IncludedItem { piece, item, is_whole });
            }
            None => self.left += 1,
        }
        Ok(())
    }

    fn fitted_json(
        &mut self,
        snapshot: &Snapshot,
        piece: &ContextItem,
        may_be_whole: bool,
    ) -> Result<Option<(ItemContent, bool)>, AppError> {
        if self.budget.is_over(piece.label_bytes()) {
            return Ok(None);
        }
        let item = item(piece);
        if may_be_whole {
            let mut whole = item.clone();
            if let Some(above) = piece.leading_lines(snapshot)? {
                let text = snapshot.text(piece.version.id)?;
                whole.above = Some(select_lines(&text, above).join("\n"));
            }
            whole.body = Some(piece.body(snapshot)?);
            if self.budget.take(&serde_json::to_string(&whole).unwrap_or_default()) {
                return Ok(Some((ItemContent::Wire(Box::new(whole)), true)));
            }
        }
        let fits = self.budget.take(&serde_json::to_string(&item).unwrap_or_default());
        Ok(fits.then(|| (ItemContent::Wire(Box::new(item)), false)))
    }

    fn fitted_text(
        &mut self,
        snapshot: &Snapshot,
        piece: &ContextItem,
        may_be_whole: bool,
        is_deep: bool,
    ) -> Result<Option<(ItemContent, bool)>, AppError> {
        let path = &piece.version.path;
        if may_be_whole {
            let text = snapshot.text(piece.version.id)?;
            let start = piece.leading_lines(snapshot)?.map_or(piece.lines.start, |above| above.start);
            let lines = Lines { start, end: piece.lines.end };
            let numbered = select_lines(&text, lines).into_iter().enumerate();
            let body: String = numbered.map(|(at, line)| rows::numbered(start + at as u32, line) + "\n").collect();
            let name =
                piece.label().map(|symbol| format!(" {}", style::name(&escape_control(&rows::short_name(symbol)))));
            let whole = format!("{}{}\n{body}", rows::location(path, lines), name.unwrap_or_default());
            if self.budget.take(&whole) {
                return Ok(Some((ItemContent::Text(whole), true)));
            }
        }
        let place = rows::location(path, piece.lines);
        let row = match (piece.label(), is_deep) {
            (Some(symbol), true) => {
                let text = snapshot.text(piece.version.id)?;
                let lines = select_lines(&text, piece.lines);
                let cost: u64 = lines.iter().map(|line| tokens::upper_estimate(line) + 1).sum();
                let what = format!("{} lines, at most {cost} tokens, not shown", lines.len());
                format!("{place} {}: {what}\n", escape_control(&rows::short_name(symbol)))
            }
            (Some(symbol), false) => format!("{place} {}\n", rows::header(symbol, rows::MAX_ROW_CHARS)),
            (None, _) => format!("{place} {}\n", rows::source(piece.line.as_deref().unwrap_or_default())),
        };
        Ok(self.budget.take(&row).then_some((ItemContent::Text(row), false)))
    }
}

impl Render for ContextAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let (returned, total, is_cut) = (self.taken.len(), self.taken.len() + self.left, self.is_cut());
        let query = &self.question.query;
        let suggestion = match (is_cut, returned, self.snapshot) {
            (true, ..) => Some("Use locate_symbol for specific symbols, or increase max_tokens".into()),
            (false, 0, Some(snapshot)) => Some(empty_hint(snapshot, query)?.into()),
            _ => None,
        };
        let suggestions = match (returned, self.left, self.snapshot) {
            (0, 0, Some(snapshot)) => {
                let known = KnownSymbols::for_query(snapshot, query, &[])?;
                PreviousCall::new(TOOL.name, "query", query, self.offered).suggestions(&known)
            }
            _ => None,
        };
        let items = self.taken.into_iter().filter_map(|taken| match taken.item {
            ItemContent::Wire(item) => Some(*item),
            ItemContent::Text(_) => None,
        });
        Ok(wire::Answer {
            context_items: items.collect(),
            estimated_tokens: self.budget.spent.formula,
            truncated: is_cut,
            metadata: ContextMetadata {
                base: self.metadata,
                total_candidates: total,
                returned,
                strategy: if self.question.is_deep { Strategy::Depth } else { Strategy::Breadth },
                token_upper_estimate: self.budget.spent.tokens(),
                remaining_candidates: is_cut.then_some(self.left),
                suggestion,
            },
            suggestions,
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let mut text = String::new();
        for taken in &self.taken {
            if let ItemContent::Text(item) = &taken.item {
                if taken.is_whole && !text.is_empty() {
                    text.push(style::GAP);
                }
                text += item;
            }
        }
        if self.taken.is_empty() && self.left == 0 {
            text += "No results.\n";
        }
        if self.left > 0 {
            let how = reader.argument("max_tokens", self.question.max_tokens.saturating_mul(2));
            text += &format!("… {} of {} ({how})\n", self.taken.len(), self.taken.len() + self.left);
        }
        Ok(text + &self.metadata.notes())
    }
}

/// The symbols requested by name, handle or location; missing ones are reported.
fn requested_items(
    snapshot: &Snapshot,
    question: &ContextArgs,
    paths: &PathResolver<'_>,
    metadata: &mut Metadata,
) -> Result<Vec<ContextItem>, AppError> {
    let mut seen = HashSet::new();
    let mut pieces = Vec::new();
    for name in question.symbols.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if let Some((path, lines)) = parse_location(name) {
            let file = paths.resolve_file(&[snapshot], "symbols", path)?;
            match (ContextItem::at_lines(snapshot, &file.path, lines)?, &file.absence) {
                (Some(piece), _) if seen.insert(piece.key()) => pieces.push(piece),
                (Some(_), _) => {}
                (None, Some(absence)) => metadata.warnings.push(format!("{name}: {}", absence.explanation_clause())),
                (None, None) => metadata.warnings.push(format!("{} has no line {}", file.path, lines.0)),
            }
            continue;
        }
        let wanted = NameQuery { name, languages: REGISTRY, language: question.language.as_deref(), path: None };
        let NameMatch::Unique { symbol: hit, total, .. } =
            resolve_name(snapshot, &wanted, AmbiguityPolicy::First { others: 0 })?
        else {
            metadata.warnings.push(format!("no symbol {name:?} is indexed"));
            continue;
        };
        if total > 1 {
            let symbol = hit.symbol();
            metadata.warnings.push(format!(
                "{} symbols are called {name}; showing {} ({}:{})",
                total, symbol.qualified_name, hit.version.path, symbol.lines.start
            ));
        }
        let piece = ContextItem::from_symbol_hit(snapshot, &hit)?;
        if seen.insert(piece.key()) {
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

/// The search hits, without those that the agent already has.
fn search_items(
    snapshot: &Snapshot,
    question: &ContextArgs,
    by_meaning: bool,
    encoder: Option<&dyn Encoder>,
) -> Result<Vec<ContextItem>, AppError> {
    if question.query.trim().is_empty() {
        return Ok(Vec::new());
    }
    let asked = SearchRequest {
        query: &question.query,
        languages: REGISTRY,
        mode: QueryMode::Words,
        language: question.language.as_deref(),
        paths: None,
        kinds: &[],
        offset: 0,
        limit: MAX_SEARCH_HITS,
        use_embedding: by_meaning,
        encoder,
        should_continue: &|| true,
    };
    let mut pieces = context(snapshot, &asked)?;
    pieces.retain(|piece| {
        let id = piece.symbol().map(|symbol| SymbolId::new(&piece.version.path, symbol).to_string());
        id.is_none_or(|id| !question.exclude.contains(&id))
    });
    Ok(pieces)
}

fn item(piece: &ContextItem) -> wire::Item {
    let version = &piece.version;
    let identity = match piece.label() {
        Some(symbol) => graph::identity(&version.path, &version.language, symbol),
        // Code at the level of a file belongs to its module.
        None => graph::module_identity(&version.path, &version.language, piece.symbols()),
    };
    let signature = piece.label().map(|symbol| symbol.signature.as_str()).or(piece.line.as_deref());
    wire::Item {
        symbol: SymbolIdentity {
            path: Some(version.path.clone()),
            line_start: Some(piece.lines.start),
            line_end: Some(piece.lines.end),
            ..identity
        },
        signature: shape::truncate(signature.unwrap_or_default(), shape::MAX_SIGNATURE_CHARS),
        language: version.language.clone(),
        score: piece.score,
        above: None,
        body: None,
    }
}

/// The hint when no word of the query was found.
fn empty_hint(snapshot: &Snapshot, query: &str) -> Result<String, AppError> {
    const MAX_NAMES: usize = 3;
    let mut near: Vec<String> = Vec::new();
    for word in salient_words(query) {
        for name in nearest_names(snapshot, &word, MAX_NAMES)? {
            if near.len() < MAX_NAMES && !near.contains(&name) {
                near.push(name);
            }
        }
    }
    Ok(match near.is_empty() {
        true => "No match for these words: rephrase, or use search_code with mode \"literal\"".into(),
        false => format!("No match for these words; similar names: {}", near.join(", ")),
    })
}

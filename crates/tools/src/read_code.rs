//! `read_code`: the verbatim text of symbols, locations and files, within a budget.
//!
//! Items are answered in the order of the request. Each takes from the remaining budget: complete, truncated, or as a
//! line with its length. A file that exceeds the remaining budget is shown as an outline. A missing item gets an error
//! in its position; the others are still answered.

use codecompass_lang::REGISTRY;
use codecompass_model::ids::SymbolId;
use codecompass_model::{Lines, Symbol};
use codecompass_query::{
    AmbiguityPolicy, NameMatch, NameQuery, Outline, leading_lines, nearest_names, outline, parse_location,
    select_lines, symbol_at,
};
use codecompass_store::{Snapshot, VersionInfo};
use codecompass_wire::{BatchError, ErrorData, read_code as wire, schema};

use super::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use super::{outline_text, rows, shape};
use crate::call::QueryContext;
use codecompass_query::tokens;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render, error_line, style};

/// The number of lines shown around a line outside of symbols.
const CONTEXT_LINES: u32 = 8;

/// The minimum number of lines of a truncated item.
const MIN_LINES: usize = 5;

/// The maximum number of other symbols with the same name that are listed.
const MAX_OTHERS: usize = 5;

pub const TOOL: ToolSpec = ToolSpec {
    name: "read_code",
    title: "Read code",
    description: "The exact text, with line numbers, of several items at once: symbols by name, `path:line` (the symbol \
                  there), `path:10-40`, or whole files (their outline when long).",
    params: &[
        required("what", ParamKind::List, "Names, path:line, path:10-40, files").positional("WHAT"),
        REF,
        optional("max_tokens", ParamKind::Count(None), "Budget, to get more than 2,500").flag("max-tokens"),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = ReadArgs::parse(&call.arguments)?;
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
struct ReadArgs {
    what: Vec<String>,
    max_tokens: Option<u64>,
}

impl ReadArgs {
    fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let what: Vec<String> = arguments.list("what").iter().map(|item| item.trim().to_owned()).collect();
        let invalid = |parameter: &'static str, message: String| {
            AppError::new(Code::InvalidInput, message).data(ErrorData::parameter(parameter))
        };
        if what.iter().all(String::is_empty) {
            return Err(invalid("what", "`what` is empty: give names, locations or files.".into()));
        }
        for item in &what {
            if let Some((_, (start, Some(end)))) = parse_location(item).filter(|(_, (start, end))| *end < Some(*start))
            {
                return Err(invalid("what", format!("`what` {item:?} ends before it begins: {start} is after {end}.")));
            }
        }
        let max_tokens = match arguments.is_given("max_tokens") {
            false => None,
            true => Some(u64::try_from(arguments.count("max_tokens")).ok().filter(|tokens| *tokens > 0).ok_or_else(
                || {
                    let message = format!("`max_tokens` is {}: it must be at least 1.", arguments.count("max_tokens"));
                    AppError::new(Code::InvalidMaxTokens, message).data(ErrorData::parameter("max_tokens"))
                },
            )?),
        };
        Ok(Self { what, max_tokens })
    }
}

/// The target of an item.
enum ReadTarget {
    /// Lines of a file, the symbol they belong to, and a note about them.
    Lines { version: VersionInfo, lines: Lines, symbol: Option<Box<Symbol>>, note: Option<String> },
    /// A whole file.
    File { version: VersionInfo },
}

/// An item of the answer.
struct ReadItem {
    asked: String,
    outcome: Result<Excerpt, AppError>,
}

/// The excerpt shown for an item.
struct Excerpt {
    path: String,
    lines: Lines,
    symbol: Option<Symbol>,
    note: Option<String>,
    shown: ExcerptBody,
}

enum ExcerptBody {
    /// The lines from the first one on, the number of requested lines, and an upper bound of the tokens of the rest.
    Text(Vec<String>, usize, u64),
    /// The outline of a file that is too long.
    Outline(String),
}

struct ReadAnswer {
    items: Vec<ReadItem>,
    is_cut: bool,
    metadata: Metadata,
}

fn answer(inquiry: &QueryContext<'_>, question: &ReadArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    let room = match question.max_tokens {
        Some(_) => inquiry.form.max_bytes_for_token_budget(&inquiry.config),
        None => inquiry.max_bytes(),
    };
    let mut budget = ReadBudget { bytes: room.saturating_sub(600), tokens: question.max_tokens.unwrap_or(u64::MAX) };
    let mut items = Vec::with_capacity(question.what.len());
    for asked in question.what.iter().filter(|item| !item.is_empty()) {
        let told = resolve_item(inquiry, snapshot, asked).and_then(|meant| excerpt_of(snapshot, meant, &mut budget));
        items.push(ReadItem { asked: asked.clone(), outcome: told });
    }
    let is_cut = items.iter().any(|item| item.outcome.as_ref().is_ok_and(Excerpt::is_cut));
    if is_cut {
        metadata.completeness = Completeness::Partial;
    }
    let code = u8::from(items.iter().all(|item| item.outcome.is_err()));
    Answer::render(inquiry.form, code, ReadAnswer { items, is_cut, metadata })
}

/// The remaining budget.
struct ReadBudget {
    bytes: usize,
    tokens: u64,
}

impl ReadBudget {
    /// The number of these lines that fit; takes them from the budget.
    fn take_lines(&mut self, lines: &[String]) -> usize {
        let mut taken = 0;
        for line in lines {
            let cost = tokens::upper_estimate(line) + 1;
            if line.len() + 1 > self.bytes || cost > self.tokens {
                break;
            }
            self.bytes -= line.len() + 1;
            self.tokens = self.tokens.saturating_sub(cost);
            taken += 1;
        }
        taken
    }

    fn fits(&self, lines: &[String]) -> bool {
        let mut copy = ReadBudget { bytes: self.bytes, tokens: self.tokens };
        copy.take_lines(lines) == lines.len()
    }
}

/// Resolves an item: a location, a file, or a name.
fn resolve_item(inquiry: &QueryContext<'_>, snapshot: &Snapshot, asked: &str) -> Result<ReadTarget, AppError> {
    if let Some((path, (start, end))) = parse_location(asked) {
        return resolve_location(inquiry, snapshot, path, start, end);
    }
    let file = inquiry.paths.resolve_file(&[snapshot], "what", asked);
    if let Some(version) = file.as_ref().ok().map(|file| snapshot.version_at(&file.path)).transpose()?.flatten() {
        return Ok(ReadTarget::File { version });
    }
    let wanted = NameQuery { name: asked, languages: REGISTRY, language: None, path: None };
    if let NameMatch::Unique { symbol: hit, others, total } =
        codecompass_query::resolve_name(snapshot, &wanted, AmbiguityPolicy::First { others: MAX_OTHERS })?
    {
        let symbol = hit.symbol().clone();
        let lines = with_docs(snapshot, &hit.version, &symbol)?;
        let others: Vec<String> =
            others.iter().map(|other| format!("{}:{}", other.version.path, other.symbol().lines.start)).collect();
        let more = total.saturating_sub(1 + others.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let note = (!others.is_empty()).then(|| format!("also {}{more}", others.join(", ")));
        return Ok(ReadTarget::Lines { version: (*hit.version).clone(), lines, symbol: Some(Box::new(symbol)), note });
    }
    // Text that looks like a path is a path; everything else is a name.
    match file {
        Ok(file)
            if asked.contains('/') || file.absence.as_ref().is_some_and(|absence| absence.skip_reason().is_some()) =>
        {
            let absence = file.absence.unwrap_or(codecompass_workspace::paths::Absence::Unknown);
            Err(absence.error(&file.path, &inquiry.published.metadata.ref_name))
        }
        Err(error) if asked.contains('/') => Err(error),
        _ => {
            let near = nearest_names(snapshot, asked, 3)?;
            let error = AppError::new(Code::SymbolNotFound, format!("No symbol or file {asked:?} is indexed."));
            Err(if near.is_empty() { error } else { error.hint(format!("Similar names: {}.", near.join(", "))) })
        }
    }
}

fn resolve_location(
    inquiry: &QueryContext<'_>,
    snapshot: &Snapshot,
    path: &str,
    start: u32,
    end: Option<u32>,
) -> Result<ReadTarget, AppError> {
    let file = inquiry.paths.resolve_file(&[snapshot], "what", path)?;
    let Some(version) = snapshot.version_at(&file.path)? else {
        let absence = file.absence.unwrap_or(codecompass_workspace::paths::Absence::Unknown);
        return Err(absence.error(&file.path, &inquiry.published.metadata.ref_name));
    };
    let last = version.lines.max(1);
    if start == 0 || start > last {
        let message = format!("{} has only {last} lines; line {start} does not exist.", file.path);
        return Err(AppError::new(Code::InvalidInput, message).data(ErrorData::parameter("what")));
    }
    let outline = snapshot.outline(version.id)?;
    let Some(end) = end else {
        let (lines, symbol) = match symbol_at(&outline.symbols, start, None).map(|at| &outline.symbols[at as usize]) {
            Some(symbol) => (with_docs(snapshot, &version, symbol)?, Some(Box::new(symbol.clone()))),
            None => (
                Lines { start: start.saturating_sub(CONTEXT_LINES).max(1), end: (start + CONTEXT_LINES).min(last) },
                None,
            ),
        };
        return Ok(ReadTarget::Lines { version, lines, symbol, note: None });
    };
    let lines = Lines { start, end: end.min(last) };
    let is_around = |one: &&Symbol| one.lines.start <= lines.start && lines.end <= one.lines.end;
    let around = outline.symbols.iter().filter(|one| one.kind != codecompass_model::SymbolKind::Use).rfind(is_around);
    let note = (end > last).then(|| format!("the file ends with line {last}"));
    Ok(ReadTarget::Lines { version, lines, symbol: around.cloned().map(Box::new), note })
}

/// The lines of a symbol and of the docs, attributes and decorators above it.
fn with_docs(snapshot: &Snapshot, version: &VersionInfo, symbol: &Symbol) -> Result<Lines, AppError> {
    let text = snapshot.text(version.id)?;
    let start = leading_lines(&text, symbol).map_or(symbol.lines.start, |above| above.start);
    Ok(Lines { start, end: symbol.lines.end })
}

/// The excerpt of a target, truncated to the budget.
fn excerpt_of(snapshot: &Snapshot, meant: ReadTarget, budget: &mut ReadBudget) -> Result<Excerpt, AppError> {
    let (version, lines, symbol, note, is_file) = match meant {
        ReadTarget::Lines { version, lines, symbol, note } => {
            (version, lines, symbol.map(|symbol| *symbol), note, false)
        }
        ReadTarget::File { version } => {
            let lines = Lines { start: 1, end: version.lines.max(1) };
            (version, lines, None, None, true)
        }
    };
    let text = snapshot.text(version.id)?;
    let numbered = select_lines(&text, lines).into_iter().enumerate();
    let numbered: Vec<String> = numbered.map(|(at, line)| rows::numbered(lines.start + at as u32, line)).collect();
    let wanted = numbered.len();
    let path = version.path;
    if is_file
        && !budget.fits(&numbered)
        && let Some(outline) = outline(snapshot, &path)?.filter(|outline| outline.count() > 0)
    {
        let shown = ExcerptBody::Outline(outline_excerpt(&outline, budget));
        return Ok(Excerpt { path, lines, symbol, note, shown });
    }
    let mut taken = budget.take_lines(&numbered);
    if taken < wanted && taken < MIN_LINES {
        taken = 0;
    }
    let rest = numbered[taken..].iter().map(|line| tokens::upper_estimate(line) + 1).sum();
    let shown = ExcerptBody::Text(numbered.into_iter().take(taken).collect(), wanted, rest);
    Ok(Excerpt { path, lines, symbol, note, shown })
}

/// The outline of a file instead of its text, truncated to the budget.
fn outline_excerpt(outline: &Outline, budget: &mut ReadBudget) -> String {
    let tops: Vec<u32> = outline.top_level().to_vec();
    let text =
        outline_text::text(outline, true, None, &tops, usize::MAX).finish(None, OutputFormat::Text(Reader::Agent));
    let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    let taken = budget.take_lines(&lines);
    let mut text: String = lines.iter().take(taken).map(|line| format!("{line}\n")).collect();
    if taken < lines.len() {
        text += &format!("… {taken} of {} symbols\n", lines.len());
    }
    text
}

impl Excerpt {
    fn is_cut(&self) -> bool {
        match &self.shown {
            ExcerptBody::Text(lines, wanted, _) => lines.len() < *wanted,
            ExcerptBody::Outline(_) => true,
        }
    }

    fn head(&self) -> String {
        let name = self.symbol.as_ref().map(|symbol| style::name(&escape_control(&rows::short_name(symbol))));
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let note = self.note.as_ref().map(|note| format!(" ({})", escape_control(note))).unwrap_or_default();
        format!("{}{name}{note}", rows::location(&self.path, self.lines))
    }

    fn text(&self) -> String {
        match &self.shown {
            ExcerptBody::Outline(outline) => {
                let length = self.lines.end;
                format!("{}: {length} lines, too long; its outline:\n{outline}", self.head())
            }
            ExcerptBody::Text(lines, wanted, rest) if lines.is_empty() => {
                let what = format!("{wanted} lines, at most {rest} tokens, not shown");
                format!("{}: {what}; raise max_tokens, or ask for fewer lines\n", self.head())
            }
            ExcerptBody::Text(lines, wanted, rest) => {
                let mut text = format!("{}\n", self.head());
                lines.iter().for_each(|line| text += &format!("{line}\n"));
                if lines.len() < *wanted {
                    let next = self.lines.start as usize + lines.len();
                    let (path, end) = (escape_control(&self.path), self.lines.end);
                    text += &format!("next: {path}:{next}-{end}, at most {rest} tokens\n");
                }
                text
            }
        }
    }

    fn wire(self, asked: String) -> wire::Item {
        let is_cut = self.is_cut();
        let (outline, text) = match self.shown {
            ExcerptBody::Outline(outline) => (Some(outline), None),
            ExcerptBody::Text(lines, ..) => (None, Some(lines.join("\n"))),
        };
        wire::Item {
            asked,
            line_start: Some(self.lines.start),
            line_end: Some(self.lines.end),
            name: self.symbol.as_ref().map(|symbol| symbol.name.clone()),
            kind: self.symbol.as_ref().map(|symbol| symbol.kind.as_str().into()),
            symbol_id: self.symbol.as_ref().map(|symbol| SymbolId::new(&self.path, symbol).to_string()),
            path: Some(self.path),
            outline,
            text,
            note: self.note,
            truncated: is_cut,
            ..wire::Item::default()
        }
    }
}

impl Render for ReadAnswer {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let item = |item: ReadItem| match item.outcome {
            Ok(piece) => piece.wire(item.asked),
            Err(error) => {
                let error = BatchError { code: error.code.as_str().into(), message: error.message };
                wire::Item { asked: item.asked, error: Some(error), ..wire::Item::default() }
            }
        };
        let items = self.items.into_iter().map(item).collect();
        Ok(wire::Answer { items, truncated: self.is_cut, metadata: self.metadata })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        let mut text = String::new();
        for item in &self.items {
            text += &match &item.outcome {
                Ok(piece) => piece.text(),
                Err(error) => error_line(&item.asked, error),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}

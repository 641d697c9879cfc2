//! `read_code`: the verbatim text of symbols, locations and files, within a budget.
//!
//! Items are answered in the order of the request. Each takes from the remaining budget: complete, truncated, or as a
//! line with its length. A file that exceeds the remaining budget is shown as an outline. A missing item gets an error
//! in its position; the others are still answered.

mod folds;

use std::collections::HashSet;

use codecompass_lang::REGISTRY;
use codecompass_model::ids::SymbolId;
use codecompass_model::{Lines, Symbol, SymbolAt};
use codecompass_query::graph::Graph;
use codecompass_query::{
    AmbiguityPolicy, NameMatch, NameQuery, Outline, SymbolHit, leading_lines, nearest_names, outline, parse_location,
    select_lines, symbol_at,
};
use codecompass_store::{Snapshot, VersionInfo};
use codecompass_wire::{BatchError, ErrorData, read_code as wire, schema};

use self::folds::Fold;
use super::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use super::{notation, outline_folder, outline_text, rows, shape, similar_paths, symbol_input, syntax_colors};
use crate::call::QueryContext;
use crate::find_references::uses::Uses;
use crate::graph::{self, with_graph};
use crate::input;
use codecompass_query::tokens;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Printer, Reader, Render, error_line, style};
use codecompass_workspace::paths::{Absence, ResolvedFile};
use codecompass_workspace::time_limit::TimeLimit;

/// The number of lines shown around a line outside of symbols.
const CONTEXT_LINES: u32 = 8;

/// The minimum number of lines of a truncated item.
const MIN_LINES: usize = 5;

/// What `with` can add.
const USES: [&str; 2] = ["callers", "tests"];

/// The maximum number of lines for each of them.
const MAX_USES: usize = 20;

/// The share of the remaining size that one list of lines may take.
const USES_SHARE: usize = 3;

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
        optional("with", ParamKind::List, "Also the lines that use each symbol: callers, tests")
            .brief("callers, tests"),
        // Agents that are offered a budget set one that is larger than what they need.
        optional("max_tokens", ParamKind::Count(None), "Budget, to get more than 2,500").json_only().flag("max-tokens"),
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
    with_callers: bool,
    with_tests: bool,
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
            if let Some((_, (start, Some(end)))) =
                parse_location(item).filter(|(_, (start, end))| end.is_some_and(|end| end < *start))
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
        let with: Vec<String> = arguments
            .list("with")
            .iter()
            .flat_map(|words| words.split(','))
            .map(|word| word.trim().to_owned())
            .collect();
        if let Some(word) = with.iter().find(|word| !USES.contains(&word.as_str())) {
            return Err(input::unknown_value("with", word, USES.map(str::to_owned).to_vec()));
        }
        let has = |wanted: &str| with.iter().any(|word| word == wanted);
        Ok(Self { what, with_callers: has("callers"), with_tests: has("tests"), max_tokens })
    }
}

/// The target of an item.
enum ReadTarget {
    /// Lines of a file, the symbol they belong to, what to leave out, and a note about them.
    Lines { version: VersionInfo, lines: Lines, symbol: Option<Box<Symbol>>, folds: Vec<Fold>, note: Option<String> },
    /// A whole file.
    File { version: VersionInfo },
    /// A folder, in text answers.
    Folder(String),
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
    /// The lines that use the symbol, if they were asked for, and their text.
    callers: Option<Uses>,
    tests: Option<Uses>,
    uses_text: String,
}

enum ExcerptBody {
    /// The lines from the first one on.
    Text(ShownLines),
    /// The outline of a file that is too long.
    Outline(String),
    /// The files of a folder.
    Folder(String),
}

/// Rows of a file: lines with their numbers, and folds.
struct ShownLines {
    lines: Vec<String>,
    /// The first line of all requested rows that no item above has.
    numbers: Vec<u32>,
    /// The rows in place of lines left out.
    folds: HashSet<u32>,
    /// An upper bound of the tokens of those that are not shown.
    rest: u64,
}

impl ShownLines {
    fn is_cut(&self) -> bool {
        self.lines.len() < self.numbers.len()
    }

    /// The numbers of the lines that are shown.
    fn shown_numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers[..self.lines.len()].iter().copied().filter(|number| !self.folds.contains(number))
    }
}

/// The numbers of the lines of a file that these items show.
fn shown_lines(items: &[ReadItem], path: &str) -> HashSet<u32> {
    let excerpts = items.iter().filter_map(|item| item.outcome.as_ref().ok()).filter(|excerpt| excerpt.path == path);
    let texts = excerpts.filter_map(|excerpt| match &excerpt.shown {
        ExcerptBody::Text(shown) => Some(shown),
        ExcerptBody::Outline(_) | ExcerptBody::Folder(_) => None,
    });
    texts.flat_map(ShownLines::shown_numbers).collect()
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
    let mut items: Vec<ReadItem> = Vec::with_capacity(question.what.len());
    for asked in question.what.iter().filter(|item| !item.is_empty()) {
        // In text, lines that an item above has are not repeated.
        let above = |path: &str| match inquiry.form {
            OutputFormat::Json => HashSet::new(),
            OutputFormat::Text(_) => shown_lines(&items, path),
        };
        let outcome = resolve_item(inquiry, snapshot, asked)
            .and_then(|target| excerpt_of(snapshot, inquiry.form, target, &above, &mut budget));
        items.push(ReadItem { asked: asked.clone(), outcome });
    }
    if question.with_callers || question.with_tests {
        with_graph(inquiry.resolve_cache()?, &inquiry.time_limit, |graph| {
            for excerpt in items.iter_mut().filter_map(|item| item.outcome.as_mut().ok()) {
                add_uses(graph, snapshot, question, excerpt, &mut budget)?;
            }
            graph::note_incomplete(graph, &mut metadata, false)
        })?;
    }
    if inquiry.printer.is_some_and(Printer::is_coloured) {
        for excerpt in items.iter_mut().filter_map(|item| item.outcome.as_mut().ok()) {
            excerpt.color_lines(snapshot, &inquiry.time_limit)?;
        }
    }
    let is_cut = items.iter().any(|item| item.outcome.as_ref().is_ok_and(Excerpt::is_cut));
    if is_cut {
        metadata.completeness = Completeness::Partial;
    }
    let code = u8::from(items.iter().all(|item| item.outcome.is_err()));
    Answer::render(inquiry.form, code, ReadAnswer { items, is_cut, metadata })
}

/// Adds the lines that use the symbol of an excerpt.
fn add_uses(
    graph: &Graph<'_>,
    snapshot: &Snapshot,
    question: &ReadArgs,
    excerpt: &mut Excerpt,
    budget: &mut ReadBudget,
) -> Result<(), AppError> {
    let Some(symbol) = &excerpt.symbol else { return Ok(()) };
    let Some(version) = snapshot.version_at(&excerpt.path)? else { return Ok(()) };
    let outline = snapshot.outline(version.id)?;
    let is_it = |one: &Symbol| one.span == symbol.span && one.name == symbol.name;
    let Some(ordinal) = outline.symbols.iter().position(is_it) else { return Ok(()) };
    let target = SymbolAt { file: version.id, ordinal: ordinal as u32 };
    let find =
        |is_wanted: bool, in_tests: bool| is_wanted.then(|| Uses::find(graph, target, in_tests, MAX_USES)).transpose();
    excerpt.callers = find(question.with_callers, false)?;
    excerpt.tests = find(question.with_tests, true)?;
    for uses in excerpt.callers.iter().chain(&excerpt.tests) {
        let text = uses.text(budget.bytes / USES_SHARE);
        budget.bytes = budget.bytes.saturating_sub(text.len());
        excerpt.uses_text += &text;
    }
    Ok(())
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

/// Puts the match that the graph tools choose before the others.
fn most_used_first(graph: &Graph<'_>, wanted: &NameQuery<'_>, found: NameMatch) -> Result<NameMatch, AppError> {
    let policy = AmbiguityPolicy::MostUsed { graph, prefers: |_| true };
    let best = codecompass_query::resolve_name(graph.snapshot(), wanted, policy)?;
    Ok(match (best, found) {
        (NameMatch::Unique { symbol: best, .. }, NameMatch::Unique { symbol, others, total }) => {
            let mut rest: Vec<SymbolHit> = std::iter::once(*symbol).chain(others).collect();
            let places = rest.len();
            rest.retain(|hit| hit.symbol_at() != best.symbol_at());
            rest.truncate(places - 1);
            NameMatch::Unique { symbol: best, others: rest, total }
        }
        (_, found) => found,
    })
}

/// Resolves an item: a location, a file, or a name.
fn resolve_item(inquiry: &QueryContext<'_>, snapshot: &Snapshot, asked: &str) -> Result<ReadTarget, AppError> {
    let is_forgiving = inquiry.paths.is_forgiving();
    let place = if is_forgiving { notation::location(asked) } else { asked.into() };
    if let Some((path, (start, end))) = parse_location(&place) {
        return resolve_location(inquiry, snapshot, path, start, end);
    }
    let file = inquiry.paths.resolve_file(&[snapshot], "what", asked);
    if let Some(version) = file.as_ref().ok().map(|file| snapshot.version_at(&file.path)).transpose()?.flatten() {
        return Ok(ReadTarget::File { version });
    }
    let is_folder = |file: &ResolvedFile| file.absence == Some(Absence::Folder);
    if let Some(folder) = file.as_ref().ok().filter(|file| is_forgiving && is_folder(file)) {
        return Ok(ReadTarget::Folder(folder.path.clone()));
    }
    if let Some((path, name)) = notation::file_and_name(asked).filter(|_| is_forgiving)
        && let Ok(file) = inquiry.paths.resolve_file(&[snapshot], "what", path)
        && file.absence.is_none()
        && let Some(hit) = symbol_input::symbol_in_file(snapshot, &file.path, &notation::name(name))?
    {
        let (lines, symbol) = (with_docs(snapshot, &hit.version, hit.symbol())?, Some(Box::new(hit.symbol().clone())));
        return Ok(ReadTarget::Lines { version: (*hit.version).clone(), lines, symbol, folds: Vec::new(), note: None });
    }
    let name = if is_forgiving { notation::name(asked) } else { asked.into() };
    let wanted = NameQuery { name: &name, languages: REGISTRY, language: None, path: None };
    let policy = AmbiguityPolicy::First { others: MAX_OTHERS };
    let mut found = codecompass_query::resolve_name(snapshot, &wanted, policy)?;
    let mut through = Vec::new();
    if matches!(found, NameMatch::NotFound) {
        let handle = with_graph(inquiry.resolve_cache()?, &inquiry.time_limit, |graph| {
            symbol_input::follow_reexports(graph, name.clone().into_owned(), &mut through)
        })?;
        found = codecompass_query::resolve_name(snapshot, &NameQuery { name: &handle, ..wanted }, policy)?;
    }
    if matches!(&found, NameMatch::Unique { others, .. } if !others.is_empty()) {
        found =
            with_graph(inquiry.resolve_cache()?, &inquiry.time_limit, |graph| most_used_first(graph, &wanted, found))?;
    }
    if let NameMatch::Unique { symbol: hit, others, total } = found {
        let symbol = hit.symbol().clone();
        let lines = with_docs(snapshot, &hit.version, &symbol)?;
        let others: Vec<String> =
            others.iter().map(|other| format!("{}:{}", other.version.path, other.symbol().lines.start)).collect();
        let more = total.saturating_sub(1 + others.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let note = (!others.is_empty()).then(|| format!("also {}{more}", others.join(", "))).or(through.pop());
        let (version, symbol) = ((*hit.version).clone(), Some(Box::new(symbol)));
        return Ok(ReadTarget::Lines { version, lines, symbol, folds: Vec::new(), note });
    }
    // Text that looks like a path is a path; everything else is a name.
    match file {
        Ok(file)
            if asked.contains('/') || file.absence.as_ref().is_some_and(|absence| absence.skip_reason().is_some()) =>
        {
            Err(missing_file(inquiry, snapshot, asked, file)?)
        }
        Err(error) if asked.contains('/') => Err(error),
        _ => {
            let near = nearest_names(snapshot, asked, 3)?;
            let error = AppError::new(Code::SymbolNotFound, format!("No symbol or file {asked:?} is indexed."));
            Err(if near.is_empty() { error } else { error.hint(format!("Similar names: {}.", near.join(", "))) })
        }
    }
}

/// The maximum number of files that a path may mean in a message.
const MAX_SIMILAR_FILES: usize = 5;

/// The error for a file that the view does not have, with the files that may be meant.
fn missing_file(
    inquiry: &QueryContext<'_>,
    snapshot: &Snapshot,
    given: &str,
    file: ResolvedFile,
) -> Result<AppError, AppError> {
    let absence = file.absence.unwrap_or(Absence::Unknown);
    let error = absence.error(&file.path, &inquiry.published.metadata.ref_name);
    if !inquiry.paths.is_forgiving() || absence != Absence::Unknown {
        return Ok(error);
    }
    let mut similar = inquiry.paths.similar_files(snapshot, given)?;
    if similar.is_empty() {
        similar = similar_paths::similar_paths(snapshot, &file.path)?;
    }
    let more = if similar.len() > MAX_SIMILAR_FILES { ", …" } else { "" };
    similar.truncate(MAX_SIMILAR_FILES);
    Ok(if similar.is_empty() { error } else { error.hint(format!("Did you mean {}{more}?", similar.join(", "))) })
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
        return Err(missing_file(inquiry, snapshot, path, file)?);
    };
    let last = version.lines.max(1);
    if start == 0 || start > last {
        let message = format!("{} has only {last} lines; line {start} does not exist.", file.path);
        return Err(AppError::new(Code::InvalidInput, message).data(ErrorData::parameter("what")));
    }
    let outline = snapshot.outline(version.id)?;
    let is_for_agent = inquiry.form == OutputFormat::Text(Reader::Agent);
    let Some(end) = end else {
        let Some(at) = symbol_at(&outline.symbols, start, None) else {
            let lines =
                Lines { start: start.saturating_sub(CONTEXT_LINES).max(1), end: (start + CONTEXT_LINES).min(last) };
            return Ok(ReadTarget::Lines { version, lines, symbol: None, folds: Vec::new(), note: None });
        };
        let symbol = Box::new(outline.symbols[at as usize].clone());
        let lines = with_docs(snapshot, &version, &symbol)?;
        let folds = if is_for_agent { folds::far_from(&symbol, lines, start) } else { Vec::new() };
        return Ok(ReadTarget::Lines { version, lines, symbol: Some(symbol), folds, note: None });
    };
    let lines = Lines { start, end: end.min(last) };
    let folds = match is_for_agent {
        true => folds::docs_and_imports(&outline.symbols, &snapshot.text(version.id)?, lines),
        false => Vec::new(),
    };
    let is_around = |one: &&Symbol| one.lines.start <= lines.start && lines.end <= one.lines.end;
    let around = outline.symbols.iter().filter(|one| one.kind != codecompass_model::SymbolKind::Use).rfind(is_around);
    let note = (end > last).then(|| format!("the file ends with line {last}"));
    Ok(ReadTarget::Lines { version, lines, symbol: around.cloned().map(Box::new), folds, note })
}

/// The lines of a symbol and of the docs, attributes and decorators above it.
fn with_docs(snapshot: &Snapshot, version: &VersionInfo, symbol: &Symbol) -> Result<Lines, AppError> {
    let text = snapshot.text(version.id)?;
    let start = leading_lines(&text, symbol).map_or(symbol.lines.start, |above| above.start);
    Ok(Lines { start, end: symbol.lines.end })
}

/// The excerpt of a target, truncated to the budget.
fn excerpt_of(
    snapshot: &Snapshot,
    form: OutputFormat,
    target: ReadTarget,
    above: &dyn Fn(&str) -> HashSet<u32>,
    budget: &mut ReadBudget,
) -> Result<Excerpt, AppError> {
    let is_for_agent = form == OutputFormat::Text(Reader::Agent);
    let (version, lines, symbol, folds, mut note, is_file) = match target {
        ReadTarget::Lines { version, lines, symbol, folds, note } => {
            (version, lines, symbol.map(|symbol| *symbol), folds, note, false)
        }
        ReadTarget::Folder(folder) => {
            let text = outline_folder::bounded_text(snapshot, &folder, None, budget.bytes)?.unwrap_or_default();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let taken = budget.take_lines(&lines);
            let shown = ExcerptBody::Folder(lines.into_iter().take(taken).map(|line| line + "\n").collect());
            let lines = Lines { start: 1, end: 1 };
            return Ok(Excerpt {
                path: folder,
                lines,
                symbol: None,
                note: None,
                shown,
                callers: None,
                tests: None,
                uses_text: String::new(),
            });
        }
        ReadTarget::File { version } => {
            let lines = Lines { start: 1, end: version.lines.max(1) };
            let folds = match is_for_agent {
                true => {
                    folds::docs_and_imports(&snapshot.outline(version.id)?.symbols, &snapshot.text(version.id)?, lines)
                }
                false => Vec::new(),
            };
            (version, lines, None, folds, None, true)
        }
    };
    let text = snapshot.text(version.id)?;
    let path = version.path;
    let above = above(&path);
    let all = (lines.start..).zip(select_lines(&text, lines)).filter(|(number, _)| !above.contains(number));
    let (numbers, numbered) = match is_for_agent {
        true => sparse_rows(all, &folds),
        false => all.map(|(number, line)| (number, rows::numbered(number, line))).unzip(),
    };
    let repeated: Vec<u32> = (lines.start..=lines.end).filter(|number| above.contains(number)).collect();
    if let (Some(first), Some(last)) = (repeated.first(), repeated.last()) {
        let shown = if numbers.is_empty() { "shown".to_owned() } else { format!("{first}-{last}") };
        let before = note.map(|note| format!("{note}; ")).unwrap_or_default();
        note = Some(format!("{before}{shown} above"));
    }
    if is_file
        && !budget.fits(&numbered)
        && let Some(outline) = outline(snapshot, &path)?.filter(|outline| outline.count() > 0)
    {
        let shown = ExcerptBody::Outline(outline_excerpt(&outline, budget));
        return Ok(Excerpt { path, lines, symbol, note, shown, callers: None, tests: None, uses_text: String::new() });
    }
    let mut taken = budget.take_lines(&numbered);
    if taken < numbered.len() && taken < MIN_LINES {
        taken = 0;
    }
    let rest = numbered[taken..].iter().map(|line| tokens::upper_estimate(line) + 1).sum();
    let folds = folds.iter().map(|fold| fold.lines.start).collect();
    let lines_shown = numbered.into_iter().take(taken).collect();
    let shown = ExcerptBody::Text(ShownLines { lines: lines_shown, numbers, folds, rest });
    Ok(Excerpt { path, lines, symbol, note, shown, callers: None, tests: None, uses_text: String::new() })
}

/// The rows of these lines and the numbers of their first lines, with folds in place of the lines left out.
fn sparse_rows<'l>(lines: impl Iterator<Item = (u32, &'l str)>, folds: &[Fold]) -> (Vec<u32>, Vec<String>) {
    let mut numbers = rows::SparseNumbers::default();
    let row = |(number, line): (u32, &'l str)| match folds
        .iter()
        .find(|fold| fold.lines.start <= number && number <= fold.lines.end)
    {
        Some(fold) => (number == fold.lines.start).then(|| (number, fold.row())),
        None => Some((number, numbers.row(number, line))),
    };
    lines.filter_map(row).unzip()
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
            ExcerptBody::Text(shown) => shown.is_cut(),
            ExcerptBody::Outline(_) | ExcerptBody::Folder(_) => true,
        }
    }

    /// Gives the shown lines syntax colours.
    fn color_lines(&mut self, snapshot: &Snapshot, time_limit: &TimeLimit) -> Result<(), AppError> {
        if let ExcerptBody::Text(shown) = &mut self.shown
            && let Some(version) = snapshot.version_at(&self.path)?
        {
            let numbers = &shown.numbers[..shown.lines.len()];
            shown.lines = syntax_colors::colored_lines(snapshot, &version, numbers, time_limit)?;
        }
        Ok(())
    }

    fn head(&self) -> String {
        let name = self.symbol.as_ref().map(|symbol| style::name(&escape_control(&rows::short_name(symbol))));
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let note = self.note.as_ref().map(|note| format!(" ({})", escape_control(note))).unwrap_or_default();
        format!("{}{name}{note}", rows::location(&self.path, self.lines))
    }

    fn text(&self, reader: Reader) -> String {
        match &self.shown {
            ExcerptBody::Folder(files) => files.clone(),
            ExcerptBody::Outline(outline) => {
                let length = self.lines.end;
                format!("{}: {length} lines, too long; its outline:\n{outline}", self.head())
            }
            ExcerptBody::Text(shown) if shown.lines.is_empty() && shown.is_cut() => {
                let what =
                    format!("{}, at most {} tokens, not shown", rows::count(shown.numbers.len(), "line"), shown.rest);
                let how = match reader {
                    Reader::Agent => "ask for what you need of it in another call".to_owned(),
                    Reader::Person => "raise --max-tokens, or ask for fewer lines".to_owned(),
                };
                format!("{}: {what}; {how}\n", self.head())
            }
            ExcerptBody::Text(shown) => {
                let mut text = format!("{}\n", self.head());
                shown.lines.iter().for_each(|line| text += &format!("{line}\n"));
                if let Some(next) = shown.numbers.get(shown.lines.len()) {
                    let (path, end) = (escape_control(&self.path), self.lines.end);
                    text += &format!("next: {path}:{next}-{end}, at most {} tokens\n", shown.rest);
                }
                text
            }
        }
    }

    fn wire(self, asked: String) -> wire::Item {
        let is_cut = self.is_cut();
        let (outline, text) = match self.shown {
            ExcerptBody::Outline(outline) | ExcerptBody::Folder(outline) => (Some(outline), None),
            ExcerptBody::Text(shown) => (None, Some(shown.lines.join("\n"))),
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
            callers: self.callers.as_ref().map(Uses::wire),
            tests: self.tests.as_ref().map(Uses::wire),
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

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let mut text = String::new();
        for item in &self.items {
            if !text.is_empty() {
                text.push(style::GAP);
            }
            text += &match &item.outcome {
                Ok(piece) => piece.text(reader) + &piece.uses_text,
                Err(error) => error_line(&item.asked, error, reader),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}

//! `grep_code`: every line that matches a pattern, by file, with the enclosing symbol.

use std::ops::{ControlFlow, Range};

use codecompass_lang::is_test_path;
use codecompass_model::ids::SymbolId;
use codecompass_model::{Lines, Symbol, SymbolKind};
use codecompass_query::grep::{
    FileMatches, GrepResults, MatchedLine, Pattern, PatternOptions, find_cancellable, stream,
};
use codecompass_store::{Outline, Snapshot, VersionInfo};
use codecompass_wire::{ErrorData, grep_code as wire, schema};

use super::rows::{self, RowWriter};
use super::test_filter::{TESTS, TestFilter};
use crate::call::QueryContext;
use crate::input::{self, Cursor};
use crate::path_filter::{KnownPaths, PATH_FILTER, PathFilter};
use crate::shape::{self, truncate};
use crate::tool_spec::{
    Arguments, Effect, NO_SYNC, Param, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{self, Answer, OutputFormat, Printer, Reader, Render, style};
use codecompass_workspace::time_limit::TimeLimit;

/// The default number of lines in JSON.
const DEFAULT_LIMIT: i64 = 200;

/// The maximum length of a line in JSON, in characters.
const MAX_LINE_CHARS: usize = 400;

/// A switch of the command.
const fn switch(name: &'static str, about: &'static str) -> Param {
    optional(name, ParamKind::Flag(false), about).cli_only()
}

/// A number of context lines, on the command line.
const fn context_flag(name: &'static str, about: &'static str, short: char) -> Param {
    optional(name, ParamKind::Count(None), about).cli_only().short(short).value("N")
}

pub const TOOL: ToolSpec = ToolSpec {
    name: "grep_code",
    title: "Grep code",
    description: "Every line that matches a regular expression or plain text, by file, with its enclosing symbol, on any \
                  ref. Use it for exact text; search_code ranks.",
    params: &[
        required("pattern", ParamKind::Text, "Regular expression")
            .optional_positional("PATTERN")
            .help("A regular expression, matched per line. Put one that begins with a dash after `--` or `-e`"),
        optional(
            "paths",
            ParamKind::List,
            "Only these paths: a folder or file, `.` for this folder, `src/**`, `*.rs`, `!tests/**`",
        )
        .cli_only()
        .positional("PATHGLOB"),
        optional(
            "regexp",
            ParamKind::Text,
            "The pattern, even if it begins with a dash; all other arguments are then paths",
        )
        .cli_only()
        .short('e')
        .value("PATTERN"),
        optional("literal", ParamKind::Flag(false), "Plain text").flag("fixed-strings").short('F'),
        optional("ignore_case", ParamKind::Flag(false), "").flag("ignore-case").short('i').help("Ignore case"),
        optional("word", ParamKind::Flag(false), "Whole words only").flag("word-regexp").short('w'),
        optional("context", ParamKind::Count(Some(0)), "Lines around each").short('C').value("N"),
        context_flag("before_context", "Show this number of lines before each match", 'B').flag("before-context"),
        context_flag("after_context", "Show this number of lines after each match", 'A').flag("after-context"),
        PATH_FILTER,
        optional("glob", ParamKind::List, "Only files that match, `!` excludes; can be repeated")
            .cli_only()
            .short('g')
            .value("GLOB"),
        shape::LANGUAGE.short('t').alias("type").help("Only this language, by name or file extension"),
        TESTS,
        REF,
        optional("limit", ParamKind::Count(Some(DEFAULT_LIMIT)), "Lines, at most 200")
            .help("The maximum number of lines [default: all; 200 in JSON]"),
        optional("max_count", ParamKind::Count(None), "The maximum number of matching lines per file")
            .cli_only()
            .flag("max-count")
            .short('m')
            .value("N"),
        shape::CURSOR,
        switch("heading", "Group the lines below the path of their file, as at a terminal; else path:line:text"),
        switch("files_with_matches", "Print only the names of files with a match")
            .flag("files-with-matches")
            .short('l'),
        switch("count", "Print only the number of matching lines per file")
            .short('c')
            .conflicts_with("files_with_matches"),
        switch("line_number", "Accepted for compatibility with grep: line numbers are always shown")
            .flag("line-number")
            .short('n'),
        switch("extended_regexp", "Accepted for compatibility with grep: expressions are always extended")
            .flag("extended-regexp")
            .short('E'),
        switch("recursive", "Accepted for compatibility with grep: folders are always searched").short('r').alias("R"),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = GrepArgs::parse(&call.arguments, call.context.form)?;
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
struct GrepArgs {
    pattern: Pattern,
    paths: Vec<String>,
    /// Patterns that restrict the paths further.
    globs: Vec<String>,
    language: Option<String>,
    tests: TestFilter,
    limit: Option<usize>,
    cursor: Option<String>,
    /// Everything that determines the list, except the paths.
    identity: String,
    layout: Layout,
    warnings: Vec<String>,
}

/// The layout of a text.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Print only file names.
    files_only: bool,
    /// Print only the number of matching lines per file.
    counts: bool,
    /// Whether the command was asked to group lines by file.
    heading: bool,
    /// The number of lines shown before each match.
    before: usize,
    /// The number of lines shown after each match.
    after: usize,
}

impl GrepArgs {
    /// Checks the arguments; an invalid pattern is reported in the parser's words.
    fn parse(arguments: &Arguments, form: OutputFormat) -> Result<Self, AppError> {
        let (text, paths) = pattern_and_paths(arguments);
        if text.is_empty() {
            return Err(AppError::new(
                Code::InvalidInput,
                "The pattern is missing: give a regular expression, or plain text.",
            )
            .data(ErrorData::parameter("pattern")));
        }
        let wanted = PatternOptions {
            text: &text,
            literal: arguments.flag("literal"),
            ignore_case: arguments.flag("ignore_case"),
            word: arguments.flag("word"),
        };
        let bad = |message: &str| {
            AppError::new(Code::InvalidInput, format!("Invalid pattern: {message}"))
                .hint("Use -F to search for plain text.")
                .advice("Set `literal` (-F on the command line) to search for plain text.")
                .data(ErrorData::parameter("pattern"))
        };
        let mut pattern = Pattern::new(&wanted).map_err(|error| bad(&error.0))?;
        let most_per_file = arguments.is_given("max_count").then(|| arguments.count("max_count").max(1) as usize);
        if let Some(most) = most_per_file {
            pattern = pattern.with_max_lines_per_file(most);
        }
        let language = match form {
            OutputFormat::Text(Reader::Person) => input::language_or_extension(arguments.text("language"))?,
            _ => input::language(arguments.text("language"))?,
        };
        let (limit, warnings) = match form {
            // People get all lines unless they set a limit.
            OutputFormat::Text(Reader::Person) => {
                (arguments.is_given("limit").then(|| arguments.count("limit").max(1) as usize), Vec::new())
            }
            _ => {
                let (limit, warnings) = arguments.limit();
                (Some(limit), warnings)
            }
        };
        let around = arguments.count("context").max(0);
        let beside = |name: &str| if arguments.is_given(name) { arguments.count(name).max(0) } else { around };
        let tests = TestFilter::parse(arguments)?;
        let chosen = tests.identity();
        Ok(Self {
            identity: format!(
                "grep {wanted:?} {language:?}{chosen}{}",
                most_per_file.map(|most| format!(" {most}")).unwrap_or_default()
            ),
            pattern,
            paths,
            globs: arguments.list("glob"),
            language,
            tests,
            limit,
            cursor: arguments.text("cursor"),
            layout: Layout {
                files_only: arguments.is_given("files_with_matches"),
                counts: arguments.is_given("count"),
                heading: arguments.is_given("heading"),
                before: beside("before_context") as usize,
                after: beside("after_context") as usize,
            },
            warnings,
        })
    }
}

/// The pattern and the paths. `-e` gives the pattern, so the first positional argument is then a path.
fn pattern_and_paths(arguments: &Arguments) -> (String, Vec<String>) {
    let mut paths = arguments.list("paths");
    paths.extend(arguments.text("path_filter"));
    match (arguments.text("regexp"), arguments.text("pattern")) {
        (Some(pattern), first) => {
            first.into_iter().rev().for_each(|path| paths.insert(0, path));
            (pattern, paths)
        }
        (None, pattern) => (pattern.unwrap_or_default(), paths),
    }
}

/// Answers the request. If nothing is published, the answer is empty and the metadata says why.
fn answer(inquiry: &QueryContext<'_>, question: &GrepArgs) -> Result<Answer, AppError> {
    let snapshot = inquiry.snapshot();
    let filter = PathFilter::parse(&question.paths, &inquiry.paths.base, &KnownPaths::in_view(snapshot));
    let paths = filter.map_err(|error| inquiry.with_view_context(error))?;
    let globs = PathFilter::parse(&question.globs, &inquiry.paths.base, &KnownPaths::in_view(snapshot));
    let globs = globs.map_err(|error| inquiry.with_view_context(error))?;
    let narrowed = if question.globs.is_empty() { String::new() } else { globs.identity() };
    let cursor = Cursor::new(snapshot, &format!("{} {}{narrowed}", question.identity, paths.identity()));
    let offset = cursor.decode(question.cursor.as_deref()).map_err(|error| inquiry.with_view_context(error))?;
    let mut metadata = inquiry.metadata(&question.warnings);
    let Some(snapshot) = snapshot else {
        let found = GrepResults::empty();
        let lines = GrepAnswer { snapshot, question, found, totals: Some((0, 0)), rows: None, offset, metadata };
        return Answer::render(inquiry.form, 1, lines);
    };
    let is_meant = |language: &str| question.language.as_deref().is_none_or(|wanted| wanted == language);
    let filter = |version: &VersionInfo| {
        is_meant(&version.language)
            && paths.allows(&version.path)
            && globs.allows(&version.path)
            && (!question.tests.is_filtering() || question.tests.includes(is_test_path(&version.path)))
    };
    let most = question.limit.map(|limit| offset.saturating_add(limit));
    if let Some(printer) = inquiry.printer {
        let printed = StreamedGrep { snapshot, question, offset, printer, most };
        return printed.print(filter, &inquiry.time_limit.unlimited(), &cursor, metadata);
    }
    let should_continue = inquiry.scan_time_limit.should_continue();
    let mut found = find_cancellable(snapshot, &question.pattern, filter, most, &should_continue)?;
    // The total is known only after a complete scan.
    let totals = found.is_complete.then_some((found.matches, found.files.len()));
    if !found.is_complete {
        metadata.completeness = Completeness::Truncated;
        metadata.next_cursor = Some(cursor.encode(found.matches));
    }
    if found.timed_out {
        note_timeout(&mut metadata, found.matches, (found.files_done, found.files_total));
    }
    drop_earlier_pages(&mut found, offset);
    let mut lines = GrepAnswer { snapshot: Some(snapshot), question, found, totals, rows: None, offset, metadata };
    if inquiry.form != OutputFormat::Json {
        let (text, shown) = lines.rows(snapshot, inquiry.max_bytes())?;
        if shown < lines.found.matches {
            lines.metadata.completeness = Completeness::Truncated;
            lines.metadata.next_cursor = Some(cursor.encode(offset + shown));
        }
        lines.rows = Some((text, shown));
    }
    let code = u8::from(lines.found.files.is_empty());
    Answer::render(inquiry.form, code, lines)
}

/// Notes that the time limit was reached, and how far the search came.
fn note_timeout(metadata: &mut Metadata, matches: usize, (done, total): (usize, usize)) {
    metadata.completeness = Completeness::Partial;
    let found = if matches > 0 { format!("at least {}", rows::count(matches, "line")) } else { "no line yet".into() };
    let searched = format!("{done} of {} searched (time limit)", rows::count(total, "file"));
    metadata.warnings.push(format!("{found}: {searched}; retry, or narrow `path_filter`"));
}

/// Lines that are printed file by file, because they may not fit into memory.
struct StreamedGrep<'p> {
    snapshot: &'p Snapshot,
    question: &'p GrepArgs,
    offset: usize,
    printer: &'p Printer,
    most: Option<usize>,
}

impl StreamedGrep<'_> {
    /// Prints the lines; the returned answer is the text after them.
    fn print(
        &self,
        filter: impl Fn(&VersionInfo) -> bool,
        patience: &TimeLimit,
        cursor: &Cursor,
        mut metadata: Metadata,
    ) -> Result<Answer, AppError> {
        let Self { snapshot, question, offset, .. } = *self;
        let mut sheet = RowWriter::new(usize::MAX);
        let is_flat = !question.layout.heading && !self.printer.is_terminal();
        let (mut left_out, mut shown, stopwatch) = (offset, 0, patience.stopwatch());
        let print = |mut file: FileMatches| -> Result<ControlFlow<()>, AppError> {
            let gone = left_out.min(file.lines.len());
            file.lines.drain(..gone);
            left_out -= gone;
            if file.lines.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            stopwatch.without_counting(|| {
                match is_flat && !question.layout.files_only && !question.layout.counts {
                    true => add_flat_file(&mut sheet, snapshot, question.layout, &file, &mut shown)?,
                    false => add_file(&mut sheet, snapshot, question.layout, &file, &mut shown).map(|_| ())?,
                }
                Ok(self.printer.print(&sheet.take()))
            })
        };
        let passed = stream(snapshot, &question.pattern, filter, self.most, &|| stopwatch.should_continue(), print)?;
        if !passed.is_complete {
            metadata.completeness = Completeness::Truncated;
            metadata.next_cursor = Some(cursor.encode(passed.matches));
        }
        if passed.timed_out {
            note_timeout(&mut metadata, passed.matches, (passed.files_done, passed.files_total));
        }
        let found = GrepResults { timed_out: passed.timed_out, ..GrepResults::empty() };
        let totals = passed.is_complete.then_some((passed.matches, 0));
        let rows = Some((String::new(), shown));
        let lines = GrepAnswer { snapshot: Some(snapshot), question, found, totals, rows, offset, metadata };
        let mut answer = Answer::render(OutputFormat::Text(Reader::Person), u8::from(shown == 0), lines)?;
        if is_flat {
            // Standard output has only matching lines, for the program that reads it.
            let notes = std::mem::take(&mut answer.text);
            notes.lines().for_each(|note| output::print_stderr(&output::strip_style(note)));
        }
        Ok(answer)
    }
}

/// Drops the lines of earlier pages.
fn drop_earlier_pages(found: &mut GrepResults, mut offset: usize) {
    for file in &mut found.files {
        let gone = offset.min(file.lines.len());
        file.lines.drain(..gone);
        offset -= gone;
        found.matches -= gone;
    }
    found.files.retain(|file| !file.lines.is_empty());
}

/// The answer.
struct GrepAnswer<'l> {
    snapshot: Option<&'l Snapshot>,
    question: &'l GrepArgs,
    found: GrepResults,
    /// The total numbers of lines and files, if known.
    totals: Option<(usize, usize)>,
    /// The text, and the number of lines in it.
    rows: Option<(String, usize)>,
    offset: usize,
    metadata: Metadata,
}

impl Render for GrepAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let mut results = Vec::new();
        for file in &self.found.files {
            let Some(snapshot) = self.snapshot else { break };
            let outline = snapshot.outline(file.version.id)?;
            results.extend(file.lines.iter().map(|line| matching_line(file, line, &outline)));
        }
        Ok(wire::Answer {
            results,
            total_matches: self.totals.map(|(matches, _)| matches),
            files_matched: self.totals.map(|(_, files)| files),
            metadata: self.metadata,
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let (mut text, shown) = self.rows.clone().unwrap_or_default();
        let seen = self.offset + shown;
        match (self.totals, &self.metadata.next_cursor) {
            // The warning says that nothing was found so far.
            _ if shown == 0 && self.found.timed_out => {}
            (_, None) if shown == 0 && reader == Reader::Agent && self.snapshot.is_some() => {
                text += "No line matches.\n";
            }
            (_, None) => {}
            (Some((total, _)), Some(cursor)) => {
                text += &format!("… {seen} of {total} lines (next: {})\n", reader.argument("cursor", cursor));
            }
            (None, Some(cursor)) => {
                text += &format!("… {seen} lines, and more (next: {})\n", reader.argument("cursor", cursor));
            }
        }
        Ok(text + &self.metadata.notes())
    }
}

impl GrepAnswer<'_> {
    /// The rows that fit, and the number of matches they show.
    fn rows(&self, snapshot: &Snapshot, room: usize) -> Result<(String, usize), AppError> {
        let mut sheet = RowWriter::new(room);
        let mut shown = 0;
        for file in &self.found.files {
            if !add_file(&mut sheet, snapshot, self.question.layout, file, &mut shown)? {
                break;
            }
        }
        Ok((sheet.finish(), shown))
    }
}

/// Adds the rows of a file and counts the matches in them. Returns whether all of them fit.
fn add_file(
    sheet: &mut RowWriter,
    snapshot: &Snapshot,
    layout: Layout,
    file: &FileMatches,
    count: &mut usize,
) -> Result<bool, AppError> {
    let path = &file.version.path;
    if layout.files_only || layout.counts {
        let lines = if layout.counts { format!(":{}", file.lines.len()) } else { String::new() };
        let fits = sheet.line(&format!("{}{lines}", style::path(&escape_control(path))));
        *count += if fits { file.lines.len() } else { 0 };
        return Ok(fits);
    }
    let outline = snapshot.outline(file.version.id)?;
    let whole = snapshot.text(file.version.id)?;
    let all: Vec<&str> = if layout.before + layout.after > 0 { whole.lines().collect() } else { Vec::new() };
    let mut above = None;
    for (number, block) in blocks(&file.lines, layout, all.len()).into_iter().enumerate() {
        let before = |line: usize| file.lines.partition_point(|known| (known.number as usize) < line);
        let matches = &file.lines[before(block.start)..before(block.end)];
        let rows = match all.is_empty() {
            true => matches.iter().map(|line| row(&outline, line, &mut above)).collect::<Vec<_>>().join("\n "),
            false => with_context(&all, matches, block, number > 0),
        };
        if !sheet.row(path, &rows) {
            return Ok(false);
        }
        *count += matches.len();
    }
    Ok(true)
}

/// Adds the matching lines of a file as `path:line:text`, context lines as `path-line-text`, all verbatim.
fn add_flat_file(
    sheet: &mut RowWriter,
    snapshot: &Snapshot,
    layout: Layout,
    file: &FileMatches,
    count: &mut usize,
) -> Result<(), AppError> {
    let path = style::path(&escape_control(&file.version.path));
    let whole = snapshot.text(file.version.id)?;
    let has_context = layout.before + layout.after > 0;
    let all: Vec<&str> = if has_context { whole.lines().collect() } else { Vec::new() };
    for (at, block) in blocks(&file.lines, layout, all.len()).into_iter().enumerate() {
        if has_context && (at > 0 || *count > 0) {
            sheet.line("--");
        }
        for number in block {
            let line = match file.lines.binary_search_by_key(&number, |line| line.number as usize) {
                Ok(at) => {
                    let line = &file.lines[at];
                    format!("{path}:{}:{}", style::number(line.number), rows::exact_marked(&line.text, &line.ranges))
                }
                Err(_) => format!("{path}-{number}-{}", rows::exact(all.get(number - 1).copied().unwrap_or_default())),
            };
            sheet.line(&line);
        }
    }
    *count += file.lines.len();
    Ok(())
}

/// A line with its enclosing symbol, unless the line declares that symbol. Further lines in the symbol of the row above
/// are indented below it, without its name.
fn row(outline: &Outline, line: &MatchedLine, above: &mut Option<Lines>) -> String {
    let around = enclosing(outline, line).filter(|symbol| symbol.kind != SymbolKind::Module);
    let declares = |symbol: &&Symbol| symbol.lines.start == line.number || symbol.name_line == line.number;
    let is_below = around.is_some_and(|symbol| *above == Some(symbol.lines)) && !around.as_ref().is_some_and(declares);
    *above = around.map(|symbol| symbol.lines);
    let name = match around.filter(|symbol| !is_below && !declares(symbol)) {
        Some(symbol) => format!("{}: ", style::dim(&escape_control(&rows::short_name(symbol)))),
        None => String::new(),
    };
    let indent = if is_below { " " } else { "" };
    format!("{indent}{} {name}{}", style::number(line.number), rows::source_marked(&line.text, &line.ranges))
}

/// The matches with their context lines, verbatim; a `:` follows the number of a matching line.
fn with_context(all: &[&str], matches: &[MatchedLine], block: Range<usize>, is_later: bool) -> String {
    let line = |number: usize| match matches.binary_search_by_key(&number, |line| line.number as usize) {
        Ok(at) => {
            let line = &matches[at];
            format!("{}: {}", style::number(line.number), rows::exact_marked(all[number - 1], &line.ranges))
        }
        Err(_) => format!("{number} {}", rows::exact(all[number - 1])),
    };
    let lines: Vec<String> = block.map(line).collect();
    format!("{}{}", if is_later { "--\n " } else { "" }, lines.join("\n "))
}

/// The lines to show, as ranges with gaps between them; without context lines, one range per match.
fn blocks(matches: &[MatchedLine], layout: Layout, count: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for line in matches {
        let number = line.number as usize;
        let start = number.saturating_sub(layout.before).max(1);
        let end = (number + layout.after).min(count.max(number)) + 1;
        match blocks.last_mut() {
            Some(last) if start <= last.end && count > 0 => last.end = end,
            _ => blocks.push(start..end),
        }
    }
    blocks
}

fn matching_line(file: &FileMatches, line: &MatchedLine, outline: &Outline) -> wire::MatchingLine {
    let symbol = enclosing(outline, line);
    wire::MatchingLine {
        path: file.version.path.clone(),
        line: line.number,
        column: line.column(),
        text: truncate(&line.text, MAX_LINE_CHARS),
        kind: symbol.map(|symbol| symbol.kind.as_str().into()),
        symbol: symbol.map(|symbol| symbol.qualified_name.clone()),
        symbol_id: symbol.map(|symbol| SymbolId::new(&file.version.path, symbol).to_string()),
    }
}

/// The innermost symbol around the first match. Parents precede their children, so it is the last enclosing one.
fn enclosing<'f>(outline: &'f Outline, line: &MatchedLine) -> Option<&'f Symbol> {
    let at = (line.start + line.column() - 1) as u32;
    let is_around = |symbol: &&Symbol| symbol.outer_start <= at && at < symbol.span.end;
    outline.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Use).rfind(is_around)
}

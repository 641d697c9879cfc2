//! `grep_code`: every line that matches a pattern, by file, with the enclosing symbol.

use std::ops::{ControlFlow, Range};

use codecompass_lang::is_test_path;
use codecompass_model::ids::SymbolId;
use codecompass_model::{Symbol, SymbolKind};
use codecompass_query::grep::{FileMatches, Grepped, Line, Pattern, Wanted, find_while, pass};
use codecompass_store::{Outline, Snapshot, VersionInfo};
use serde_json::{Map, Value, json};

use super::rows::{self, Sheet};
use super::test_code::{TESTS, Tests};
use crate::call::Inquiry;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, Printer, Reader, Told, style};
use crate::patience::Patience;
use crate::tools::frame::{Arguments, Effect, Kind, NO_SYNC, Param, REF, Tool, WORKSPACE, optional, required, schema};
use crate::tools::input::{self, Cursor};
use crate::tools::path_filter::{Known, PATH_FILTER, PathFilter};
use crate::tools::shape::{self, cut};

/// The default number of lines in JSON.
const PAGE: i64 = 200;

/// The maximum length of a line in JSON, in characters.
const LINE_CHARS: usize = 400;

/// A switch of the command.
const fn switch(name: &'static str, about: &'static str) -> Param {
    optional(name, Kind::Flag(false), about).on_the_command_line()
}

/// A number of context lines, on the command line.
const fn beside(name: &'static str, about: &'static str, short: char) -> Param {
    optional(name, Kind::Count(None), about).on_the_command_line().short(short).value("N")
}

pub(crate) const TOOL: Tool = Tool {
    name: "grep_code",
    title: "Grep code",
    description: "Every line that matches a regular expression or plain text, by file, with its enclosing symbol, on any \
                  ref. Use it for exact text; search_code ranks.",
    params: &[
        required("pattern", Kind::Text, "Regular expression")
            .place_if_given("PATTERN")
            .help("A regular expression, matched per line. Put one that begins with a dash after `--` or `-e`"),
        optional(
            "paths",
            Kind::List,
            "Only these paths: a folder or file, `.` for this folder, `src/**`, `*.rs`, `!tests/**`",
        )
        .on_the_command_line()
        .place("PATHGLOB"),
        optional(
            "regexp",
            Kind::Text,
            "The pattern, even if it begins with a dash; all other arguments are then paths",
        )
        .on_the_command_line()
        .short('e')
        .value("PATTERN"),
        optional("literal", Kind::Flag(false), "Plain text").flag("fixed-strings").short('F'),
        optional("ignore_case", Kind::Flag(false), "").flag("ignore-case").short('i').help("Ignore case"),
        optional("word", Kind::Flag(false), "Whole words only").flag("word-regexp").short('w'),
        optional("context", Kind::Count(Some(0)), "Lines around each").short('C').value("N"),
        beside("before_context", "Show this number of lines before each match", 'B').flag("before-context"),
        beside("after_context", "Show this number of lines after each match", 'A').flag("after-context"),
        PATH_FILTER,
        shape::LANGUAGE,
        TESTS,
        REF,
        optional("limit", Kind::Count(Some(PAGE)), "Lines, at most 200")
            .help("The maximum number of lines [default: all; 200 in JSON]"),
        shape::CURSOR,
        switch("files_with_matches", "Print only the names of files with a match")
            .flag("files-with-matches")
            .short('l'),
        switch("count", "Print only the number of matching lines per file").short('c').against("files_with_matches"),
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
    output: || {
        let line = schema::object(&["path", "text", "kind", "symbol", "symbol_id"], &["line", "column"], &[]);
        json!({
            "results": schema::list(line),
            "total_matches": schema::count(),
            "files_matched": schema::count(),
        })
    },
    always: &["results"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let question = Question::of(&call.arguments, call.form)?;
        call.inquire(|inquiry| answer(inquiry, &question))
    },
};

/// The parsed arguments.
struct Question {
    pattern: Pattern,
    paths: Vec<String>,
    language: Option<String>,
    tests: Tests,
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
    /// The number of lines shown before each match.
    before: usize,
    /// The number of lines shown after each match.
    after: usize,
}

impl Question {
    /// Checks the arguments; an invalid pattern is reported in the parser's words.
    fn of(arguments: &Arguments, form: Form) -> Result<Self, AppError> {
        let (text, paths) = pattern_and_paths(arguments);
        if text.is_empty() {
            return Err(AppError::new(
                Code::InvalidInput,
                "The pattern is missing: give a regular expression, or plain text.",
            )
            .data(json!({ "parameter": "pattern" })));
        }
        let wanted = Wanted {
            text: &text,
            literal: arguments.flag("literal"),
            ignore_case: arguments.flag("ignore_case"),
            word: arguments.flag("word"),
        };
        let bad = |message: &str| {
            AppError::new(Code::InvalidInput, format!("Invalid pattern: {message}"))
                .hint("Use -F to search for plain text.")
                .advice("Set `literal` (-F on the command line) to search for plain text.")
                .data(json!({ "parameter": "pattern" }))
        };
        let pattern = Pattern::new(&wanted).map_err(|error| bad(&error.0))?;
        let language = input::language(arguments.text("language"))?;
        let (limit, warnings) = match form {
            // People get all lines unless they set a limit.
            Form::Text(Reader::Person) => {
                (arguments.is_given("limit").then(|| arguments.count("limit").max(1) as usize), Vec::new())
            }
            _ => {
                let (limit, warnings) = arguments.limit();
                (Some(limit), warnings)
            }
        };
        let around = arguments.count("context").max(0);
        let beside = |name: &str| if arguments.is_given(name) { arguments.count(name).max(0) } else { around };
        let tests = Tests::of(arguments)?;
        let chosen = tests.identity();
        Ok(Self {
            identity: format!("grep {wanted:?} {language:?}{chosen}"),
            pattern,
            paths,
            language,
            tests,
            limit,
            cursor: arguments.text("cursor"),
            layout: Layout {
                files_only: arguments.is_given("files_with_matches"),
                counts: arguments.is_given("count"),
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
fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let snapshot = inquiry.snapshot();
    let filter = PathFilter::read(&question.paths, &inquiry.paths.start, &Known::of(snapshot));
    let paths = filter.map_err(|error| inquiry.explained(error))?;
    let cursor = Cursor::of(snapshot, &format!("{} {}", question.identity, paths.identity()));
    let offset = cursor.read(question.cursor.as_deref()).map_err(|error| inquiry.explained(error))?;
    let mut metadata = inquiry.metadata(&question.warnings);
    let nothing = Grepped { files: Vec::new(), matches: 0, files_looked_at: 0, is_complete: true, is_late: false };
    let Some(snapshot) = snapshot else {
        let lines = Lines { snapshot, question, found: nothing, totals: Some((0, 0)), rows: None, offset, metadata };
        return Answer::of(inquiry.form, 1, &lines);
    };
    let is_meant = |language: &str| question.language.as_deref().is_none_or(|wanted| wanted == language);
    let filter = |version: &VersionInfo| {
        is_meant(&version.language)
            && paths.allows(&version.path)
            && (!question.tests.is_chosen() || question.tests.lists(is_test_path(&version.path)))
    };
    let most = question.limit.map(|limit| offset.saturating_add(limit));
    if let Some(printer) = inquiry.printer {
        let printed = Printed { snapshot, question, offset, printer, most };
        return printed.print(filter, &inquiry.patience.without_end(), &cursor, metadata);
    }
    let mut found = find_while(snapshot, &question.pattern, filter, most, &inquiry.patience.goes_on())?;
    // The total is known only after a complete scan.
    let totals = found.is_complete.then_some((found.matches, found.files.len()));
    if !found.is_complete {
        metadata.completeness = Completeness::Truncated;
        metadata.next_cursor = Some(cursor.write(found.matches));
    }
    if found.is_late {
        say_late(&mut metadata);
    }
    leave_out(&mut found, offset);
    let mut lines = Lines { snapshot: Some(snapshot), question, found, totals, rows: None, offset, metadata };
    if inquiry.form != Form::Json {
        let (text, shown) = lines.rows(snapshot, inquiry.room())?;
        if shown < lines.found.matches {
            lines.metadata.completeness = Completeness::Truncated;
            lines.metadata.next_cursor = Some(cursor.write(offset + shown));
        }
        lines.rows = Some((text, shown));
    }
    let code = u8::from(lines.found.files.is_empty());
    Answer::of(inquiry.form, code, &lines)
}

/// Notes that the time limit was reached.
fn say_late(metadata: &mut Metadata) {
    metadata.completeness = Completeness::Partial;
    metadata.warnings.push("not all files were searched (time limit); retry, or narrow `path_filter`".into());
}

/// Lines that are printed file by file, because they may not fit into memory.
struct Printed<'p> {
    snapshot: &'p Snapshot,
    question: &'p Question,
    offset: usize,
    printer: &'p Printer,
    most: Option<usize>,
}

impl Printed<'_> {
    /// Prints the lines; the returned answer is the text after them.
    fn print(
        &self,
        filter: impl Fn(&VersionInfo) -> bool,
        patience: &Patience,
        cursor: &Cursor,
        mut metadata: Metadata,
    ) -> Result<Answer, AppError> {
        let Self { snapshot, question, offset, .. } = *self;
        let mut sheet = Sheet::new(usize::MAX);
        let (mut left_out, mut shown, stopwatch) = (offset, 0, patience.stopwatch());
        let print = |mut file: FileMatches| -> Result<ControlFlow<()>, AppError> {
            let gone = left_out.min(file.lines.len());
            file.lines.drain(..gone);
            left_out -= gone;
            if file.lines.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            stopwatch.pause(|| {
                add_file(&mut sheet, snapshot, question.layout, &file, &mut shown)?;
                Ok(self.printer.print(&sheet.take()))
            })
        };
        let passed = pass(snapshot, &question.pattern, filter, self.most, &|| stopwatch.goes_on(), print)?;
        if !passed.is_complete {
            metadata.completeness = Completeness::Truncated;
            metadata.next_cursor = Some(cursor.write(passed.matches));
        }
        if passed.is_late {
            say_late(&mut metadata);
        }
        let found = Grepped { files: Vec::new(), matches: 0, files_looked_at: 0, is_complete: true, is_late: false };
        let totals = passed.is_complete.then_some((passed.matches, 0));
        let rows = Some((String::new(), shown));
        let lines = Lines { snapshot: Some(snapshot), question, found, totals, rows, offset, metadata };
        Answer::of(Form::Text(Reader::Person), u8::from(shown == 0), &lines)
    }
}

/// Drops the lines of earlier pages.
fn leave_out(found: &mut Grepped, mut offset: usize) {
    for file in &mut found.files {
        let gone = offset.min(file.lines.len());
        file.lines.drain(..gone);
        offset -= gone;
        found.matches -= gone;
    }
    found.files.retain(|file| !file.lines.is_empty());
}

/// The answer.
struct Lines<'l> {
    snapshot: Option<&'l Snapshot>,
    question: &'l Question,
    found: Grepped,
    /// The total numbers of lines and files, if known.
    totals: Option<(usize, usize)>,
    /// The text, and the number of lines in it.
    rows: Option<(String, usize)>,
    offset: usize,
    metadata: Metadata,
}

impl Told for Lines<'_> {
    fn json(&self) -> Result<Value, AppError> {
        let mut results = Vec::new();
        for file in &self.found.files {
            let Some(snapshot) = self.snapshot else { break };
            let outline = snapshot.outline(file.version.id)?;
            results.extend(file.lines.iter().map(|line| result_json(file, line, &outline)));
        }
        let mut json = json!({ "results": results });
        if let Some((matches, files)) = self.totals {
            json["total_matches"] = json!(matches);
            json["files_matched"] = json!(files);
        }
        json["metadata"] = self.metadata.to_json();
        Ok(json)
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        let (mut text, shown) = self.rows.clone().unwrap_or_default();
        let seen = self.offset + shown;
        match (self.totals, &self.metadata.next_cursor) {
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

impl Lines<'_> {
    /// The rows that fit, and the number of matches they show.
    fn rows(&self, snapshot: &Snapshot, room: usize) -> Result<(String, usize), AppError> {
        let mut sheet = Sheet::new(room);
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
    sheet: &mut Sheet,
    snapshot: &Snapshot,
    layout: Layout,
    file: &FileMatches,
    count: &mut usize,
) -> Result<bool, AppError> {
    let path = &file.version.path;
    if layout.files_only || layout.counts {
        let lines = if layout.counts { format!(":{}", file.lines.len()) } else { String::new() };
        let fits = sheet.line(&format!("{}{lines}", style::path(&shown(path))));
        *count += if fits { file.lines.len() } else { 0 };
        return Ok(fits);
    }
    let outline = snapshot.outline(file.version.id)?;
    let whole = snapshot.text(file.version.id)?;
    let all: Vec<&str> = if layout.before + layout.after > 0 { whole.lines().collect() } else { Vec::new() };
    for (number, block) in blocks(&file.lines, layout, all.len()).into_iter().enumerate() {
        let before = |line: usize| file.lines.partition_point(|known| (known.number as usize) < line);
        let matches = &file.lines[before(block.start)..before(block.end)];
        let rows = match all.is_empty() {
            true => matches.iter().map(|line| row(&outline, line)).collect::<Vec<_>>().join("\n "),
            false => with_context(&all, matches, block, number > 0),
        };
        if !sheet.row(path, &rows) {
            return Ok(false);
        }
        *count += matches.len();
    }
    Ok(true)
}

/// A line with its enclosing symbol, unless the line declares that symbol.
fn row(outline: &Outline, line: &Line) -> String {
    let around = enclosing(outline, line).filter(|symbol| {
        symbol.lines.start != line.number && symbol.name_line != line.number && symbol.kind != SymbolKind::Module
    });
    let name = around.map(|symbol| format!("{}: ", style::dim(&shown(&rows::short_name(symbol))))).unwrap_or_default();
    format!("{} {name}{}", style::number(line.number), rows::source_marked(&line.text, &line.ranges))
}

/// The matches with their context lines, verbatim; a `:` follows the number of a matching line.
fn with_context(all: &[&str], matches: &[Line], block: Range<usize>, is_later: bool) -> String {
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
fn blocks(matches: &[Line], layout: Layout, count: usize) -> Vec<Range<usize>> {
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

fn result_json(file: &FileMatches, line: &Line, outline: &Outline) -> Value {
    let mut result = Map::new();
    result.insert("path".into(), json!(file.version.path));
    result.insert("line".into(), json!(line.number));
    result.insert("column".into(), json!(line.column()));
    result.insert("text".into(), json!(cut(&line.text, LINE_CHARS)));
    if let Some(symbol) = enclosing(outline, line) {
        result.insert("kind".into(), json!(symbol.kind.as_str()));
        result.insert("symbol".into(), json!(symbol.qualified_name));
        result.insert("symbol_id".into(), json!(SymbolId::of(&file.version.path, symbol).to_string()));
    }
    Value::Object(result)
}

/// The innermost symbol around the first match. Parents precede their children, so it is the last enclosing one.
fn enclosing<'f>(outline: &'f Outline, line: &Line) -> Option<&'f Symbol> {
    let at = (line.start + line.column() - 1) as u32;
    let is_around = |symbol: &&Symbol| symbol.outer_start <= at && at < symbol.span.end;
    outline.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Use).rfind(is_around)
}

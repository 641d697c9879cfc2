//! `grep`: every line that a pattern matches.

use std::ops::Range;

use codecompass_model::ids::SymbolId;
use codecompass_model::{Symbol, SymbolKind};
use codecompass_query::grep::{FileMatches, Grepped, Line, Pattern, Wanted, find};
use codecompass_store::{Outline, Snapshot, VersionInfo};
use serde_json::{Map, Value, json};

use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::Answer;
use crate::paths::Paths;
use crate::tools::input::{self, Cursor};
use crate::tools::path_filter::{Known, PathFilter};
use crate::tools::shape::cut;

/// So many lines a machine gets when it does not say.
const PAGE: i64 = 200;

/// The longest line in JSON, in characters.
const LINE_CHARS: usize = 400;

/// What is asked, as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) pattern: String,
    pub(crate) literal: bool,
    pub(crate) ignore_case: bool,
    pub(crate) word: bool,
    pub(crate) paths: Vec<String>,
    pub(crate) language: Option<String>,
    pub(crate) limit: Option<i64>,
    pub(crate) cursor: Option<String>,
    /// How it is answered; people get all there is, unless they set a limit.
    pub(crate) layout: Layout,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    pattern: Pattern,
    paths: Vec<String>,
    language: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
    /// Everything that decides the list, but for the paths.
    identity: String,
    layout: Layout,
    warnings: Vec<String>,
}

/// How the answer looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// It is for a machine; nothing else counts then.
    pub(crate) as_json: bool,
    /// Only the names of files.
    pub(crate) files_only: bool,
    /// Only how many lines match in each file.
    pub(crate) counts: bool,
    /// Lines shown before each match.
    pub(crate) before: usize,
    /// Lines shown after each match.
    pub(crate) after: usize,
}

impl Input {
    /// Checks the input; a pattern that can not be read is told in the parser's words.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let wanted =
            Wanted { text: &self.pattern, literal: self.literal, ignore_case: self.ignore_case, word: self.word };
        let bad = |message: &str| AppError::new(Code::InvalidInput, format!("The pattern can not be read: {message}"));
        let pattern = Pattern::new(&wanted).map_err(|error| bad(&error.0).hint("-F takes it as plain text."))?;
        let language = input::language(self.language)?;
        let (limit, warnings) = match self.layout.as_json {
            true => {
                let (limit, warnings) = input::limit(self.limit.unwrap_or(PAGE));
                (Some(limit), warnings)
            }
            false => (self.limit.map(|limit| limit.max(1) as usize), Vec::new()),
        };
        let identity = format!("grep {wanted:?} {language:?}");
        let Input { paths, cursor, layout, .. } = self;
        Ok(Question { pattern, paths, language, limit, cursor, identity, layout, warnings })
    }
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    paths: &Paths<'_>,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let filter = PathFilter::read(&question.paths, &paths.start, &Known::of(snapshot));
    let paths = filter.map_err(|error| error.about(metadata.clone()))?;
    let cursor = Cursor::of(snapshot, &format!("{} {}", question.identity, paths.identity()));
    let offset = cursor.read(question.cursor.as_deref()).map_err(|error| error.about(metadata.clone()))?;
    metadata.warnings.extend(question.warnings.iter().cloned());
    let Some(snapshot) = snapshot else {
        return Ok(Answer { text: metadata.warnings_text(), json: json_of(&[], Some((0, 0)), &metadata), code: 1 });
    };
    let is_meant = |language: &str| question.language.as_deref().is_none_or(|wanted| wanted == language);
    let filter = |version: &VersionInfo| is_meant(&version.language) && paths.allows(&version.path);
    let mut found = find(snapshot, &question.pattern, filter, question.limit.map(|limit| offset + limit))?;
    // How many there are is only known once all were looked for.
    let totals = found.is_complete.then_some((found.matches, found.files.len()));
    if !found.is_complete {
        metadata.completeness = "truncated";
        metadata.next_cursor = Some(cursor.write(found.matches));
    }
    leave_out(&mut found, offset);
    let (mut text, mut json) = (String::new(), Value::Null);
    if question.layout.as_json {
        json = json_of(&results(snapshot, &found)?, totals, &metadata);
    } else {
        text = text_of(snapshot, &found, question.layout)? + &metadata.warnings_text();
    }
    Ok(Answer { text, json, code: u8::from(found.files.is_empty()) })
}

/// Leaves out the lines of earlier pages.
fn leave_out(found: &mut Grepped, mut offset: usize) {
    for file in &mut found.files {
        let gone = offset.min(file.lines.len());
        file.lines.drain(..gone);
        offset -= gone;
        found.matches -= gone;
    }
    found.files.retain(|file| !file.lines.is_empty());
}

/// The answer with the numbers of lines and files in all, where they are known.
fn json_of(results: &[Value], totals: Option<(usize, usize)>, metadata: &Metadata) -> Value {
    let mut json = json!({ "results": results });
    if let Some((matches, files)) = totals {
        json["total_matches"] = json!(matches);
        json["files_matched"] = json!(files);
    }
    json["metadata"] = metadata.to_json();
    json
}

fn results(snapshot: &Snapshot, found: &Grepped) -> Result<Vec<Value>, AppError> {
    let mut results = Vec::new();
    for file in &found.files {
        let outline = snapshot.outline(file.version.id)?;
        results.extend(file.lines.iter().map(|line| result_json(file, line, &outline)));
    }
    Ok(results)
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

/// The innermost symbol around the first match. Parents stand before children, so that is the last one.
fn enclosing<'f>(outline: &'f Outline, line: &Line) -> Option<&'f Symbol> {
    let at = (line.start + line.column() - 1) as u32;
    let is_around = |symbol: &&Symbol| symbol.outer_start <= at && at < symbol.span.end;
    outline.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Use).rfind(is_around)
}

fn text_of(snapshot: &Snapshot, found: &Grepped, layout: Layout) -> Result<String, AppError> {
    let mut text = String::new();
    for file in &found.files {
        let path = shown(&file.version.path);
        if layout.files_only {
            text += &format!("{path}\n");
        } else if layout.counts {
            text += &format!("{path}:{}\n", file.lines.len());
        } else if layout.before + layout.after > 0 {
            let whole = snapshot.text(file.version.id)?;
            let separator = if text.is_empty() { "" } else { "--\n" };
            text += separator;
            text += &with_context(&path, &whole, &file.lines, layout);
        } else {
            for line in &file.lines {
                text += &format!("{path}:{}:{}\n", line.number, shown_line(&line.text));
            }
        }
    }
    if !found.is_complete {
        text += &format!("{} lines; there are more\n", found.matches);
    }
    Ok(text)
}

/// A line as it stands: tabs are no danger.
fn shown_line(line: &str) -> String {
    line.split('\t').map(shown).collect::<Vec<_>>().join("\t")
}

/// The matches with the lines around them: `:` after the number of a match, `-` after that of another line, `--` where
/// lines are left out.
fn with_context(path: &str, whole: &str, matches: &[Line], layout: Layout) -> String {
    let all: Vec<&str> = whole.lines().collect();
    let is_match = |number: usize| matches.binary_search_by_key(&(number as u32), |line| line.number).is_ok();
    let block = |range: Range<usize>| -> String {
        let line = |number: usize| {
            let mark = if is_match(number) { ':' } else { '-' };
            format!("{path}{mark}{number}{mark}{}\n", shown_line(all[number - 1]))
        };
        range.map(line).collect()
    };
    blocks(matches, layout, all.len()).into_iter().map(block).collect::<Vec<_>>().join("--\n")
}

/// The lines to show, as ranges with something left out between them.
fn blocks(matches: &[Line], layout: Layout, count: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for line in matches {
        let number = line.number as usize;
        let start = number.saturating_sub(layout.before).max(1);
        let end = (number + layout.after).min(count) + 1;
        match blocks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => blocks.push(start..end),
        }
    }
    blocks
}

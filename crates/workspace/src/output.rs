//! Writes answers to standard output, and errors and warnings to standard error.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;

use codecompass_wire::{Candidate, ErrorBody, ErrorData, ErrorReply};
use serde::Serialize;
use serde_json::Value;

use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape;
use crate::launch;
use crate::metadata::Metadata;
use crate::terminal_links;

/// An answer. A tool renders the requested format and leaves the other empty; a command that is not a tool may have
/// both.
pub struct Answer {
    /// For people and agents.
    pub text: String,
    /// For machines.
    pub json: Value,
    /// The exit code.
    pub code: u8,
}

impl Answer {
    /// Renders an answer in one format.
    pub fn render(form: OutputFormat, code: u8, value: impl Render) -> Result<Self, AppError> {
        match form {
            OutputFormat::Json => Self::from_wire(&value.wire()?, code),
            OutputFormat::Text(reader) => Ok(Self { text: value.text(reader)?, json: Value::Null, code }),
        }
    }

    /// An answer for machines.
    pub fn from_wire(wire: &impl Serialize, code: u8) -> Result<Self, AppError> {
        let json = serde_json::to_value(wire);
        let json =
            json.map_err(|error| AppError::new(Code::InternalError, format!("An answer cannot be written: {error}.")))?;
        Ok(Self { text: String::new(), json, code })
    }
}

/// The data of an answer; a format is only rendered when it is requested.
pub trait Render {
    /// The type of the JSON that the contracts define.
    type Wire: Serialize;

    /// The answer for machines.
    fn wire(self) -> Result<Self::Wire, AppError>;

    /// The text for agents and people.
    fn text(self, reader: Reader) -> Result<String, AppError>;
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    Json,
    Text(Reader),
}

/// The reader of a text: both get the same facts, but each has its own notation for arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A model behind a client, which pays for every word and may cut long texts.
    Agent,
    /// A person at a command line.
    Person,
}

/// The maximum size of a text for an agent, in bytes; clients cut longer texts or store them elsewhere.
const MAX_TEXT_BYTES: usize = 9_900;

/// The maximum size of a text for a call that sets a token budget.
const MAX_LONG_TEXT_BYTES: usize = 39_000;

impl OutputFormat {
    /// The maximum size of an answer in bytes.
    pub fn max_bytes(self, config: &Config) -> usize {
        match self {
            OutputFormat::Json => config.max_response_bytes,
            OutputFormat::Text(Reader::Agent) => MAX_TEXT_BYTES.min(config.max_response_bytes),
            OutputFormat::Text(Reader::Person) => usize::MAX,
        }
    }

    /// The same if the call sets a token budget.
    pub fn max_bytes_for_token_budget(self, config: &Config) -> usize {
        match self {
            OutputFormat::Text(Reader::Agent) => MAX_LONG_TEXT_BYTES.min(config.max_response_bytes),
            form => form.max_bytes(config),
        }
    }
}

impl Reader {
    /// An argument with its value, in the notation of this reader.
    pub fn argument(self, name: &str, value: impl std::fmt::Display) -> String {
        match self {
            Reader::Agent => format!("{name}={value}"),
            Reader::Person => format!("--{} {value}", name.replace('_', "-")),
        }
    }

    /// A switch in the notation of this reader.
    pub fn switch(self, name: &str, flag: &str) -> String {
        match self {
            Reader::Agent => format!("{name}=true"),
            Reader::Person => format!("--{flag}"),
        }
    }
}

/// Rewrites the warnings of a text; lines from a repository stay unchanged.
pub fn map_warnings(text: &str, put: &dyn Fn(&str) -> String) -> String {
    let line = |line: &str| if line.starts_with("warning: ") { put(line) } else { line.to_owned() };
    text.split_inclusive('\n').map(line).collect()
}

/// The text without colours and marks, for a client.
pub fn strip_style(text: &str) -> String {
    style::rendered(text, style::Rendering::default())
}

/// Prints an answer for machines and returns the exit code.
pub fn print_json(answer: &Answer) -> u8 {
    // Results that were printed as they were found have no JSON of their own.
    let text = if answer.json.is_null() { String::new() } else { json_text(&answer.json) };
    exit_code_after_write(write_out(&text), answer.code)
}

/// Standard output for people. Large results are printed as they are found and not kept in memory; at a terminal a long
/// text is shown in the user's pager, unless it is disabled.
pub struct Printer {
    /// The address of the folder that paths are relative to, where the terminal is known to show links.
    link_base: RefCell<Option<String>>,
    shows_links: bool,
    is_coloured: bool,
    /// Whether a person reads the output, rather than a program or a file.
    is_terminal: bool,
    sheet: RefCell<PrintBuffer>,
}

/// The state of the printed text.
struct PrintBuffer {
    /// Not written yet: it may still fit on a screen, or is too small for a write.
    pending: String,
    may_page: bool,
    pager: Option<launch::Pager>,
    failure: Option<std::io::Error>,
}

/// The number of bytes per write.
const CHUNK_BYTES: usize = 64 << 10;

impl Printer {
    pub fn new(color: Color, no_pager: bool) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let may_page = !no_pager && is_terminal;
        let sheet = PrintBuffer { pending: String::new(), may_page, pager: None, failure: None };
        let is_coloured = color.is_on();
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let shows_links = is_terminal && is_coloured && terminal_links::is_supported(&variable);
        Self { link_base: RefCell::default(), shows_links, is_coloured, is_terminal, sheet: RefCell::new(sheet) }
    }

    /// Makes paths of files below a folder links, if the terminal is known to support them.
    pub fn link_paths_to(&self, root: &Path) {
        if self.shows_links {
            *self.link_base.borrow_mut() = Some(terminal_links::address(root));
        }
    }

    fn render(&self, text: &str, sheet: &PrintBuffer) -> String {
        let base = self.link_base.borrow();
        let link_base = base.as_deref().filter(|_| sheet.pager.is_none());
        style::rendered(text, style::Rendering { colored: self.is_coloured, gaps: self.is_terminal, link_base })
    }

    /// Whether colours are shown.
    pub fn is_coloured(&self) -> bool {
        self.is_coloured
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Prints a part of an answer. Breaks off when the output is closed.
    pub fn print(&self, text: &str) -> ControlFlow<()> {
        let mut sheet = self.sheet.borrow_mut();
        let text = self.render(text, &sheet);
        sheet.pending += &text;
        sheet.begin_paging();
        let waits = if sheet.may_page { sheet.pager.is_none() } else { sheet.pending.len() < CHUNK_BYTES };
        if !waits {
            sheet.write();
        }
        if sheet.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Prints the last part and returns the exit code.
    pub fn finish(self, answer: &Answer) -> u8 {
        let text = self.render(&answer.text, &self.sheet.borrow());
        let mut sheet = self.sheet.into_inner();
        sheet.pending += &text;
        sheet.begin_paging();
        match (sheet.pager.is_some(), sheet.failure.take()) {
            // Leaving a pager early is no error.
            (true, _) => {
                sheet.write();
                answer.code
            }
            (false, Some(error)) => exit_code_after_write(Err(error), answer.code),
            (false, None) => exit_code_after_write(write_out(&sheet.pending), answer.code),
        }
    }
}

impl PrintBuffer {
    /// Starts the pager once the text exceeds a screen.
    fn begin_paging(&mut self) {
        if self.may_page && self.pager.is_none() && self.pending.lines().count() > SCREEN_LINES {
            self.pager = launch::Pager::start();
            self.may_page = self.pager.is_some();
            // An older pager shows links as text.
            if self.may_page {
                self.pending = terminal_links::without_links(&self.pending);
            }
        }
    }

    /// Writes the pending text.
    fn write(&mut self) {
        let written = match &mut self.pager {
            Some(pager) => pager.write(&self.pending),
            None => std::io::stdout().lock().write_all(self.pending.as_bytes()),
        };
        self.pending.clear();
        self.failure = self.failure.take().or(written.err());
    }
}

/// A longer text may not fit on a screen; the pager exits at once if it does.
const SCREEN_LINES: usize = 20;

/// The exit code of a command after its output: its own, unless the output could not be written.
pub fn exit_code_after_write(written: std::io::Result<()>, code: u8) -> u8 {
    match written.map_err(|error| write_error(&error)) {
        Err(Some(error)) => {
            print_stderr(&format!("error: {}", escape::escape_control(&error.message)));
            error.exit_code()
        }
        _ => code,
    }
}

/// The error of an answer that could not be written; `None` if the reader closed the pipe.
pub fn write_error(error: &std::io::Error) -> Option<AppError> {
    let message = format!("The answer cannot be written to standard output: {error}.");
    (error.kind() != std::io::ErrorKind::BrokenPipe).then(|| AppError::new(Code::InternalError, message))
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn is_on(self) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let quiet = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                std::io::stdout().is_terminal() && !quiet && !dumb
            }
        }
    }
}

/// Marks for parts of a text that may be coloured. They are control characters, which text from a repository cannot
/// contain after [`escape::escape_control`]; printing turns them into colours or removes
/// them.
pub mod style {
    const MARKS: [(char, &str); 8] = [
        ('\u{1}', "35"),
        ('\u{2}', "32"),
        ('\u{3}', "2"),
        ('\u{4}', "1"),
        ('\u{5}', "1;31"),
        ('\u{7}', "33"),
        ('\u{e}', "34"),
        ('\u{f}', "36"),
    ];
    const PATH: char = MARKS[0].0;
    const END: char = '\u{6}';
    /// A blank line between results at a terminal, nothing elsewhere.
    pub const GAP: char = '\u{b}';

    /// A path.
    pub fn path(text: &str) -> String {
        marked(0, text)
    }

    /// A line number.
    pub fn number(line: u32) -> String {
        marked(1, &line.to_string())
    }

    /// Line numbers.
    pub fn marked_number(text: &str) -> String {
        marked(1, text)
    }

    /// Secondary text.
    pub fn dim(text: &str) -> String {
        marked(2, text)
    }

    /// The name of a symbol.
    pub fn name(text: &str) -> String {
        marked(3, text)
    }

    /// Added text.
    pub fn added(text: &str) -> String {
        marked(1, text)
    }

    /// Changed text.
    pub fn changed(text: &str) -> String {
        marked(5, text)
    }

    /// A match, or removed text.
    pub fn hit(text: &str) -> String {
        marked(4, text)
    }

    /// A keyword of a language.
    pub fn keyword(text: &str) -> String {
        marked(6, text)
    }

    /// A number or constant in code.
    pub fn constant(text: &str) -> String {
        marked(7, text)
    }

    fn marked(mark: usize, text: &str) -> String {
        format!("{}{text}{END}", MARKS[mark].0)
    }

    /// What marks become.
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Rendering<'r> {
        /// Colours.
        pub(super) colored: bool,
        /// Blank lines between results.
        pub(super) gaps: bool,
        /// Links of paths to files below this address.
        pub(super) link_base: Option<&'r str>,
    }

    /// The text with what the marks become.
    pub(super) fn rendered(text: &str, Rendering { colored, gaps, link_base }: Rendering<'_>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut is_link_open = false;
        for (at, char) in text.char_indices() {
            if let (PATH, Some(base)) = (char, link_base) {
                let path = text[at + 1..].split(END).next().unwrap_or_default();
                is_link_open = super::terminal_links::open(&mut out, base, path);
            }
            if char == GAP {
                out.push_str(if gaps { "\n" } else { "" });
                continue;
            }
            let code = MARKS.iter().find(|(mark, _)| *mark == char).map(|(_, code)| *code);
            match code.or((char == END).then_some("0")) {
                Some(code) if colored => out.push_str(&format!("\u{1b}[{code}m")),
                Some(_) => {}
                None => out.push(char),
            }
            if char == END && std::mem::take(&mut is_link_open) {
                out.push_str(super::terminal_links::CLOSE);
            }
        }
        out
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn marks_become_colours_or_are_removed() {
            let text = format!("{}:{}", super::path("a.rs"), super::number(3));
            let rendered = |colored, gaps| super::rendered(&text, super::Rendering { colored, gaps, link_base: None });
            assert_eq!(rendered(false, false), "a.rs:3");
            assert_eq!(rendered(true, false), "\u{1b}[35ma.rs\u{1b}[0m:\u{1b}[32m3\u{1b}[0m");
        }
    }
}

/// Prints an error: JSON to standard output for machines, otherwise a message and a hint to standard error.
pub fn print_error(error: &AppError, as_json: bool) -> u8 {
    if as_json {
        return exit_code_after_write(write_out(&json_text(&error_json(error))), error.exit_code());
    }
    print_stderr(&format!("error: {}", escape::escape_control(&error.message)));
    // Advice that names a command also suits people; other advice names arguments of tools.
    let advice = error.details.advice.as_ref().filter(|advice| advice.contains("`codecompass "));
    if let Some(hint) = advice.or(error.details.hint.as_ref()) {
        print_stderr(&format!("hint: {}", escape::escape_control(hint)));
    }
    error.exit_code()
}

/// An error for an agent: its code, the message, and what to do.
pub fn error_text(error: &AppError) -> String {
    let mut text = format!("{}: {}\n", error.code.as_str(), escape::escape_control(&error.message));
    if let Some(hint) = advice(error, Reader::Agent) {
        text += &format!("{}\n", escape::escape_control(&hint));
    }
    text
}

/// What this reader can do about an error.
fn advice(error: &AppError, reader: Reader) -> Option<String> {
    let details = &error.details;
    let hint = details.advice.as_ref().or(details.hint.as_ref());
    match reader {
        Reader::Person => hint.cloned(),
        Reader::Agent => details.for_agent.clone().or_else(|| hint.map(|hint| for_agent(hint))),
    }
}

/// A text for people, for an agent: it may have no shell, and so does not run commands itself.
pub fn for_agent(text: &str) -> String {
    const PROGRESS: [&str; 2] =
        ["; `codecompass status` shows the progress", "; `codecompass status` shows its progress"];
    let text = PROGRESS.iter().fold(text.to_owned(), |text, part| text.replace(part, ""));
    let text = text.replace("Run `codecompass", "Ask the user to run `codecompass");
    text.replace("; run `codecompass", "; ask the user to run `codecompass")
}

/// An error about one of several requested items, in place of its answer.
pub fn error_line(asked: &str, error: &AppError, reader: Reader) -> String {
    let hint = advice(error, reader);
    let hint = hint.map(|hint| format!(" {}", escape::escape_control(&hint))).unwrap_or_default();
    format!("{}: {}{hint}\n", escape::escape_control(asked), escape::escape_control(&error.message))
}

/// The envelope of a failed call.
pub fn error_json(error: &AppError) -> Value {
    let mut message = error.message.clone();
    if let Some(hint) = &error.details.hint {
        message = format!("{message} {hint}");
    }
    let reply = ErrorReply {
        error: ErrorBody { code: error.code.as_str().into(), message, data: error.details.data.clone() },
        metadata: error.details.metadata.clone().unwrap_or_else(Metadata::unknown),
    };
    let mut json = serde_json::to_value(&reply).unwrap_or_default();
    error.details.long.shorten_value(&mut json["error"]["data"]);
    json
}

/// Prints a line to standard error.
pub fn print_stderr(line: &str) {
    // Standard error may be closed: that is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether standard input is a terminal.
pub fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Whether standard output is a terminal.
pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Shows a text and a question at the terminal, and reads the answer; only yes, or just Enter, means yes.
pub fn confirm(text: &str, question: &str) -> bool {
    let rendering = style::Rendering { colored: Color::Auto.is_on(), gaps: true, link_base: None };
    let shown = format!("{}{question} [Y/n] ", style::rendered(text, rendering));
    let mut out = std::io::stdout().lock();
    if out.write_all(shown.as_bytes()).and_then(|()| out.flush()).is_err() {
        return false;
    }
    let mut line = String::new();
    // Without a line, the input has ended.
    let is_read = std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0);
    is_read && matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

/// Whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

fn json_text(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    escape::json(&text).into_owned()
}

fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{ending}")?;
    out.flush()
}

/// Prints the candidates for an ambiguous name to standard error.
pub fn print_candidates(error: &AppError) {
    if let ErrorData::Ambiguous { candidates, total_candidates, .. } = &error.details.data {
        candidate_lines(candidates, *total_candidates).iter().for_each(|line| print_stderr(line));
    }
}

/// The maximum number of listed candidates.
const MAX_CANDIDATES: usize = 10;

/// The candidates for an ambiguous name, each with its location.
fn candidate_lines(candidates: &[Candidate], total: usize) -> Vec<String> {
    let row = |one: &Candidate| {
        let (path, name) = (escape::escape_control(&one.path), escape::escape_control(&one.qualified_name));
        format!("  {path}:{} {} {name}", one.line, one.kind)
    };
    let mut rows: Vec<String> = candidates.iter().take(MAX_CANDIDATES).map(row).collect();
    if !rows.is_empty() && total > rows.len() {
        rows.push(format!("  … {} more", total - rows.len()));
    }
    rows
}

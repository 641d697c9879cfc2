//! A compiled pattern, and the prefilter that a text must satisfy to contain a match.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use codecompass_store::Prefilter;
use memchr::memmem;
use regex_automata::{Input, meta};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use crate::grep::prefilter;
use crate::grep::stepped::{Search, Stepped};

/// The maximum memory of a compiled expression. Nested repetitions of thousands would take more than any machine has.
const MAX_COMPILED_BYTES: usize = 32 << 20;

/// The maximum of the target length of a slice, in bytes. An expression is matched against a text in slices of whole
/// lines, and the time is checked between them.
const SLICE_BYTES: usize = 8 << 10;

/// The length of a slice times the size of the compiled expression, which bounds the time per slice: some hundredths of
/// a second.
const SLICE_COST: usize = 256 << 20;

/// An expression with shorter slices than this is always searched in steps.
const SHORT_SLICE: usize = 512;

/// A pattern as requested.
#[derive(Clone, Copy, Debug)]
pub struct PatternOptions<'p> {
    /// A regular expression, or a literal.
    pub text: &'p str,
    /// Whether it is a literal.
    pub literal: bool,
    /// Whether to ignore case.
    pub ignore_case: bool,
    /// Whether to match whole words only.
    pub word: bool,
}

/// The parser's message about an invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

/// A pattern ready to be matched.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: Matcher,
    prefilter: Prefilter,
    odd: bool,
    /// Whether a match may continue in the next line: only that of a literal can.
    spans_lines: bool,
    /// The maximum number of matching lines per file.
    pub(super) max_lines_per_file: usize,
}

#[derive(Clone, Debug)]
enum Matcher {
    Literal(Box<memmem::Finder<'static>>),
    Regex(Box<Expression>),
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
struct Expression {
    regex: meta::Regex,
    hir: Hir,
    /// The length of a slice, in bytes, that is searched without checking the time.
    slice: usize,
    stepped: OnceLock<Option<Stepped>>,
}

impl Pattern {
    /// Compiles a pattern.
    pub fn new(wanted: &PatternOptions<'_>) -> Result<Self, BadPattern> {
        if wanted.literal && wanted.text.is_empty() {
            return Self::new(&PatternOptions { literal: false, ..*wanted });
        }
        if wanted.literal && !wanted.ignore_case && !wanted.word {
            let finder = memmem::Finder::new(wanted.text).into_owned();
            let (need, odd) = prefilter::from_literal(wanted.text);
            return Ok(Self::with_matcher(Matcher::Literal(Box::new(finder)), need, odd, true));
        }
        let hir = parse(wanted)?;
        // Compiled first: an expression that is too large for the compiler is too large for the prefilter.
        let config = meta::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES));
        let regex = meta::Regex::builder().configure(config).build_from_hir(&hir).map_err(|error| too_large(&error))?;
        let (need, odd) = prefilter::from_hir(&hir);
        let spans_lines = wanted.literal && wanted.text.contains('\n');
        Ok(Self::with_matcher(Matcher::Regex(Box::new(Expression::new(regex, hir))), need, odd, spans_lines))
    }

    fn with_matcher(matcher: Matcher, prefilter: Prefilter, odd: bool, spans_lines: bool) -> Self {
        Self { matcher, prefilter, odd, spans_lines, max_lines_per_file: usize::MAX }
    }

    /// The same pattern, of which at most this number of lines match per file.
    pub fn with_max_lines_per_file(self, max_lines_per_file: usize) -> Self {
        Self { max_lines_per_file, ..self }
    }

    /// Returns the prefilter that a text must satisfy.
    pub(super) fn prefilter(&self) -> &Prefilter {
        &self.prefilter
    }

    /// Whether texts with odd characters may contain a match without satisfying the prefilter.
    pub(super) fn is_odd(&self) -> bool {
        self.odd
    }

    /// Calls `found` for each match that does not overlap a previous one, in order, until it stops. `goes_on` is called
    /// before each slice of the text and after every [`CANCEL_CHECK_INTERVAL`] matches; if it returns `false`, the rest
    /// of the text is not searched, and the result says so.
    pub(super) fn for_each_match(
        &self,
        text: &str,
        goes_on: &dyn Fn() -> bool,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ScanEnd {
        let mut count = 0usize;
        let mut one = |range: Range<usize>| -> ControlFlow<ScanEnd> {
            count += 1;
            if count.is_multiple_of(CANCEL_CHECK_INTERVAL) && !goes_on() {
                return ControlFlow::Break(ScanEnd::Cancelled);
            }
            found(range).map_break(|()| ScanEnd::LimitReached)
        };
        if !goes_on() {
            return ScanEnd::Cancelled;
        }
        let outcome = match &self.matcher {
            Matcher::Literal(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).try_for_each(|at| one(at..at + length))
            }
            Matcher::Regex(expression) => {
                let slice = if self.spans_lines { text.len() } else { expression.slice };
                expression.each_match(text, slice, goes_on, one)
            }
        };
        outcome.break_value().unwrap_or(ScanEnd::Complete)
    }
}

impl Expression {
    fn new(regex: meta::Regex, hir: Hir) -> Self {
        let slice = (SLICE_COST / regex.memory_usage().max(1)).min(SLICE_BYTES);
        Self { regex, hir, slice, stepped: OnceLock::new() }
    }

    /// Calls `found` for each match, in slices of whole lines. `goes_on` is called between them, and within slow ones.
    fn each_match(
        &self,
        text: &str,
        slice: usize,
        goes_on: &dyn Fn() -> bool,
        mut one: impl FnMut(Range<usize>) -> ControlFlow<ScanEnd>,
    ) -> ControlFlow<ScanEnd> {
        let mut search: Option<Search<'_>> = None;
        for slice in slices(text, slice) {
            if slice.start > 0 && !goes_on() {
                return ControlFlow::Break(ScanEnd::Cancelled);
            }
            // The text around a slice counts for `^` and similar. An empty match at its end belongs to the next slice.
            let is_ours = |at: usize| at < slice.end || at == text.len();
            let stepped = self.is_slow(slice.len()).then(|| self.stepped()).flatten();
            if let Some(stepped) = stepped {
                let search = search.get_or_insert_with(|| stepped.search(text, goes_on));
                for found in search.matches(slice.clone()) {
                    match found {
                        Ok(found) if is_ours(found.start) => one(found)?,
                        Ok(_) => {}
                        Err(_) => return ControlFlow::Break(ScanEnd::Cancelled),
                    }
                }
            } else {
                let matches = self.regex.find_iter(Input::new(text).span(slice.clone()));
                matches.filter(|found| is_ours(found.start())).try_for_each(|found| one(found.range()))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether searching this many bytes may take longer than the time may go unchecked.
    fn is_slow(&self, bytes: usize) -> bool {
        self.slice < SHORT_SLICE || bytes > 2 * self.slice
    }

    fn stepped(&self) -> Option<&Stepped> {
        self.stepped.get_or_init(|| Stepped::new(&self.hir, MAX_COMPILED_BYTES)).as_ref()
    }
}

/// The end of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanEnd {
    /// The whole text was searched.
    Complete,
    /// The caller wanted no more matches.
    LimitReached,
    /// Time ran out before the end of the text.
    Cancelled,
}

/// The number of matches between two checks of the time.
const CANCEL_CHECK_INTERVAL: usize = 32;

/// Splits a text into slices of whole lines, of at least this many bytes except for the last.
fn slices(text: &str, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let newline = memchr::memchr(b'\n', text.as_bytes().get(start + bytes..).unwrap_or_default());
        let end = newline.map_or(text.len(), |at| start + bytes + at + 1);
        next = (end < text.len()).then_some(end);
        Some(start..end)
    })
}

/// Returns the compiler's message, or ours if it only mentions a limit.
fn too_large(error: &meta::BuildError) -> BadPattern {
    match error.size_limit() {
        Some(limit) => BadPattern(format!("it is too large: compiled, it takes more than {} MiB", limit >> 20)),
        None => BadPattern(error.to_string()),
    }
}

fn parse(wanted: &PatternOptions<'_>) -> Result<Hir, BadPattern> {
    let text = if wanted.literal { regex_syntax::escape(wanted.text) } else { wanted.text.to_owned() };
    let parsed = ParserBuilder::new().multi_line(true).case_insensitive(wanted.ignore_case).build().parse(&text);
    let mut hir = parsed.map_err(|error| BadPattern(parser_message(&error)))?;
    if !wanted.literal {
        hir = restrict_to_line(&hir)?;
    }
    if wanted.word {
        let [start, end] = [Look::WordStartHalfUnicode, Look::WordEndHalfUnicode].map(Hir::look);
        hir = Hir::concat(vec![start, hir, end]);
    }
    Ok(hir)
}

/// Returns the parser's message, without the drawing below it.
fn parser_message(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        regex_syntax::Error::Translate(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        other => other.to_string(),
    }
}

/// Returns the expression without matches that span lines: classes lose the line break, and a literal one is refused.
fn restrict_to_line(hir: &Hir) -> Result<Hir, BadPattern> {
    let all = |parts: &[Hir]| parts.iter().map(restrict_to_line).collect::<Result<Vec<_>, _>>();
    Ok(match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => hir.clone(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            return Err(BadPattern("a match does not span lines: \\n is not allowed in a regular expression".into()));
        }
        HirKind::Literal(_) => hir.clone(),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        // The class that matches nothing is always one of bytes, also when it is made from characters.
        HirKind::Class(Class::Bytes(class)) => match class.to_unicode_class() {
            Some(class) if !class.ranges().is_empty() => restrict_to_line(&Hir::class(Class::Unicode(class)))?,
            _ => hir.clone(),
        },
        HirKind::Repetition(repetition) => {
            let sub = Box::new(restrict_to_line(&repetition.sub)?);
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => restrict_to_line(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(all(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    use super::*;

    /// Returns the longest time between two calls of `goes_on` in a search that is stopped after a while.
    fn longest_gap(pattern: &Pattern, text: &str) -> Duration {
        let started = Instant::now();
        let (last, longest) = (Cell::new(started), Cell::new(Duration::ZERO));
        let look = || {
            let now = Instant::now();
            longest.set(longest.get().max(now - last.replace(now)));
            now - started < Duration::from_millis(200)
        };
        pattern.for_each_match(text, &look, |_| ControlFlow::Continue(()));
        look();
        longest.get()
    }

    /// These overflowed the stack.
    #[test]
    fn impossible_classes_match_nothing() {
        for text in [r"[^\w\W]", r"[a&&b]", r"(?i)[[:alpha:]&&[^a-z]]{200}", r"x[^\w\W]*[a&&b]"] {
            let wanted = PatternOptions { text, literal: false, ignore_case: false, word: false };
            let pattern = Pattern::new(&wanted).expect("because it is a pattern");
            let mut count = 0;
            pattern.for_each_match("abc x\n", &|| true, |_| {
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(count, 0, "{text}");
        }
    }

    /// `(.{1,900}){3}[x-z]` took over 40 seconds for a line of one megabyte, without a check of the time.
    #[test]
    fn the_time_is_looked_at_inside_of_a_line() {
        let many = (b'a'..=b'z').map(|letter| (letter as char).to_string()).collect::<Vec<_>>().join("|");
        let patterns = [
            "(.{1,900}){3}[x-z]".to_owned(),
            format!("({many}){{1000}}"),
            ".*x.*y.*z".to_owned(),
            r"(?i)\w{1,500}Q".to_owned(),
            r"\b\w{1,500}\b!".to_owned(),
            "a.*z|b".to_owned(),
        ];
        let short = "ab cde é fgh ".repeat((1 << 20) / 14);
        let long = "ab cde é fgh ".repeat((16 << 20) / 14);
        let lines = "abcdefghi jklmnop\n".repeat((1 << 20) / 18);
        for pattern in patterns {
            let wanted = PatternOptions { text: &pattern, literal: false, ignore_case: false, word: false };
            let compiled = Pattern::new(&wanted).expect("it is a pattern");
            // The automata are compiled on first use.
            longest_gap(&compiled, &short);
            for text in [&short, &long, &lines] {
                let gap = longest_gap(&compiled, text);
                assert!(gap < Duration::from_secs(5), "{pattern} in {} bytes: {gap:?}", text.len());
            }
        }
    }
}

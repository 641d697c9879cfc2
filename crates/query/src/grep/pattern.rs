//! A pattern: what it matches, and what a text must have in it to hold a match.

use std::ops::{ControlFlow, Range};

use codecompass_store::Need;
use memchr::memmem;
use regex_automata::{Input, meta};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use crate::grep::need;

/// What a compiled expression may take in memory. What is repeated thousands of times, and in layers, takes more than any
/// machine has.
const MOST_BYTES: usize = 32 << 20;

/// An expression goes through a text in slices of whole lines, of about so many bytes, with a look at the time between them:
/// there are those that take a twentieth of a second for this much.
const SLICE: usize = 8 << 10;

/// What is looked for, as it was asked.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'p> {
    /// A regular expression, or a literal.
    pub text: &'p str,
    /// Whether it is a literal.
    pub literal: bool,
    /// Whether case does not count.
    pub ignore_case: bool,
    /// Whether only whole words match.
    pub word: bool,
}

/// What is wrong with a pattern, in the parser's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

/// A pattern ready to be matched.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: Matcher,
    need: Need,
    odd: bool,
    /// Whether a match may go on in the next line: only a literal's can.
    spans_lines: bool,
}

#[derive(Clone, Debug)]
enum Matcher {
    Literal(Box<memmem::Finder<'static>>),
    Regex(meta::Regex),
}

impl Pattern {
    /// Compiles a pattern.
    pub fn new(wanted: &Wanted<'_>) -> Result<Self, BadPattern> {
        if wanted.literal && wanted.text.is_empty() {
            return Self::new(&Wanted { literal: false, ..*wanted });
        }
        if wanted.literal && !wanted.ignore_case && !wanted.word {
            let finder = memmem::Finder::new(wanted.text).into_owned();
            let (need, odd) = need::of_literal(wanted.text);
            return Ok(Self { matcher: Matcher::Literal(Box::new(finder)), need, odd, spans_lines: true });
        }
        let hir = parse(wanted)?;
        // Compiled first: what is too large for that is too large to be laid out.
        let config = meta::Config::new().nfa_size_limit(Some(MOST_BYTES));
        let regex = meta::Regex::builder().configure(config).build_from_hir(&hir).map_err(|error| too_large(&error))?;
        let (need, odd) = need::of_hir(&hir);
        Ok(Self { matcher: Matcher::Regex(regex), need, odd, spans_lines: wanted.literal })
    }

    /// What a text must have in it.
    pub(super) fn need(&self) -> &Need {
        &self.need
    }

    /// Whether texts with odd characters may hold a match whatever is needed.
    pub(super) fn is_odd(&self) -> bool {
        self.odd
    }

    /// Calls for each match that does not overlap one before, in order, until it says to stop. `goes_on` is asked before each
    /// slice of the text and every so many matches; when it says no, the rest is left out, and that is told.
    pub(super) fn each_match(
        &self,
        text: &str,
        goes_on: &dyn Fn() -> bool,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Ended {
        let mut count = 0usize;
        let mut one = |range: Range<usize>| -> ControlFlow<Ended> {
            count += 1;
            if count.is_multiple_of(MATCHES) && !goes_on() {
                return ControlFlow::Break(Ended::Late);
            }
            found(range).map_break(|()| Ended::Enough)
        };
        if !goes_on() {
            return Ended::Late;
        }
        let outcome = match &self.matcher {
            Matcher::Literal(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).try_for_each(|at| one(at..at + length))
            }
            Matcher::Regex(regex) if self.spans_lines => regex.find_iter(text).try_for_each(|found| one(found.range())),
            Matcher::Regex(regex) => slices(text).try_for_each(|slice| {
                if slice.start > 0 && !goes_on() {
                    return ControlFlow::Break(Ended::Late);
                }
                // What is around a slice counts for `^` and its like. An empty match at its end is the next one's first.
                let is_ours = |at: usize| at < slice.end || at == text.len();
                let matches = regex.find_iter(Input::new(text).span(slice.clone()));
                matches.filter(|found| is_ours(found.start())).try_for_each(|found| one(found.range()))
            }),
        };
        outcome.break_value().unwrap_or(Ended::All)
    }
}

/// How going through a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All of it was looked at.
    All,
    /// Nobody wanted more matches.
    Enough,
    /// There was no time for the rest.
    Late,
}

/// So many matches are found before the time is looked at again.
const MATCHES: usize = 32;

/// A text in pieces of whole lines.
fn slices(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let newline = memchr::memchr(b'\n', text.as_bytes().get(start + SLICE..).unwrap_or_default());
        let end = newline.map_or(text.len(), |at| start + SLICE + at + 1);
        next = (end < text.len()).then_some(end);
        Some(start..end)
    })
}

/// The compiler's words, or ours where it only says that there is a limit.
fn too_large(error: &meta::BuildError) -> BadPattern {
    match error.size_limit() {
        Some(limit) => BadPattern(format!("it is too large: compiled, it takes more than {} MiB", limit >> 20)),
        None => BadPattern(error.to_string()),
    }
}

fn parse(wanted: &Wanted<'_>) -> Result<Hir, BadPattern> {
    let text = if wanted.literal { regex_syntax::escape(wanted.text) } else { wanted.text.to_owned() };
    let parsed = ParserBuilder::new().multi_line(true).case_insensitive(wanted.ignore_case).build().parse(&text);
    let mut hir = parsed.map_err(|error| BadPattern(said(&error)))?;
    if !wanted.literal {
        hir = on_one_line(&hir)?;
    }
    if wanted.word {
        let [start, end] = [Look::WordStartHalfUnicode, Look::WordEndHalfUnicode].map(Hir::look);
        hir = Hir::concat(vec![start, hir, end]);
    }
    Ok(hir)
}

/// The parser's words, without the drawing under them.
fn said(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        regex_syntax::Error::Translate(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        other => other.to_string(),
    }
}

/// The expression without matches that span lines: classes lose the line break, a literal one is refused.
fn on_one_line(hir: &Hir) -> Result<Hir, BadPattern> {
    let all = |parts: &[Hir]| parts.iter().map(on_one_line).collect::<Result<Vec<_>, _>>();
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
        HirKind::Class(Class::Bytes(class)) => match class.to_unicode_class() {
            Some(class) => on_one_line(&Hir::class(Class::Unicode(class)))?,
            None => hir.clone(),
        },
        HirKind::Repetition(repetition) => {
            let sub = Box::new(on_one_line(&repetition.sub)?);
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => on_one_line(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(all(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
    })
}

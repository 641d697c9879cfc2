//! Computes the prefilter of a pattern: the words that a text must contain for a match.
//!
//! An expression is converted to a sequence of atoms: characters, word boundaries, and gaps with unknown content.
//! Adjacent word characters form a run; the atoms beside it decide whether its ends are closed.

use codecompass_store::{Prefilter, Run, is_odd, is_word};
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look, Repetition};

/// A class with more characters than this is not one letter in all its cases.
const MAX_CASE_VARIANTS: usize = 4;
/// A fixed number of repetitions up to this is unrolled.
const MAX_UNROLLED: u32 = 4;

/// Returns the prefilter of a literal; the second value is as in [`from_hir`].
pub(super) fn from_literal(text: &str) -> (Prefilter, bool) {
    let row = AtomSequence { atoms: text.chars().map(Atom::Char).collect(), odd: false };
    (row.into_prefilter(), false)
}

/// Returns the prefilter of an expression, and whether texts with odd characters may match without satisfying it.
pub(super) fn from_hir(hir: &Hir) -> (Prefilter, bool) {
    let mut row = AtomSequence::default();
    row.push_hir(hir);
    let odd = row.odd;
    (row.into_prefilter(), odd)
}

/// An element of an expression.
enum Atom {
    /// This character, in any case.
    Char(char),
    /// A position or character that no word spans.
    WordBoundary,
    /// Any text.
    Gap,
    /// Any text that satisfies this prefilter.
    Prefilter(Prefilter),
}

/// An expression as a sequence of atoms.
#[derive(Default)]
struct AtomSequence {
    atoms: Vec<Atom>,
    odd: bool,
}

impl AtomSequence {
    fn push_hir(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.atoms.extend(text.chars().map(Atom::Char)),
                Err(_) => self.atoms.push(Atom::Gap),
            },
            HirKind::Class(Class::Unicode(class)) => self.push_class(class),
            HirKind::Class(Class::Bytes(_)) => self.atoms.push(Atom::Gap),
            HirKind::Look(look) => self.push_look(*look),
            HirKind::Repetition(repetition) => self.push_repetition(repetition),
            HirKind::Capture(capture) => self.push_hir(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.push_hir(part)),
            HirKind::Alternation(parts) => {
                let needs = parts.iter().map(|part| {
                    let (need, odd) = from_hir(part);
                    self.odd |= odd;
                    need
                });
                let need = Prefilter::or(needs.collect());
                self.atoms.push(Atom::Prefilter(need));
            }
        }
    }

    fn push_class(&mut self, class: &ClassUnicode) {
        if let Some(letter) = self.single_letter(class) {
            self.atoms.push(Atom::Char(letter));
        } else if has_no_word(class) {
            self.odd = true;
            self.atoms.push(Atom::WordBoundary);
        } else {
            self.atoms.push(Atom::Gap);
        }
    }

    /// Returns the letter whose cases a class consists of. Odd cases do not count: they occur only in texts with odd
    /// characters.
    fn single_letter(&mut self, class: &ClassUnicode) -> Option<char> {
        let chars: Vec<char> =
            class.iter().flat_map(|range| range.start()..=range.end()).take(MAX_CASE_VARIANTS + 1).collect();
        if chars.len() > MAX_CASE_VARIANTS || chars.iter().any(|char| !is_word(*char)) {
            return None;
        }
        let mut plain = chars.iter().copied().filter(|char| !is_odd(*char));
        let first = plain.next().or(chars.first().copied())?;
        let is_one = plain.all(|char| char.to_lowercase().eq(first.to_lowercase()));
        self.odd |= is_one && chars.iter().any(|char| is_odd(*char));
        is_one.then_some(first)
    }

    fn push_look(&mut self, look: Look) {
        match look {
            Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
                self.atoms.push(Atom::WordBoundary);
            }
            Look::WordUnicode
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => {
                self.odd = true;
                self.atoms.push(Atom::WordBoundary);
            }
            // These are too weak for a boundary. They have no width, so their neighbours stay adjacent.
            Look::WordAscii
            | Look::WordAsciiNegate
            | Look::WordUnicodeNegate
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => {}
        }
    }

    fn push_repetition(&mut self, repetition: &Repetition) {
        let Repetition { min, max, sub, .. } = repetition;
        if *min == 0 {
            self.atoms.push(Atom::Gap);
        } else if *max == Some(*min) && *min <= MAX_UNROLLED {
            (0..*min).for_each(|_| self.push_hir(sub));
        } else if matches!(sub.kind(), HirKind::Class(Class::Unicode(class)) if has_no_word(class)) {
            self.push_hir(sub);
        } else {
            self.push_hir(sub);
            self.atoms.push(Atom::Gap);
        }
    }

    /// Returns the prefilter of the sequence for one line: if it spans several, that of the first line with a
    /// prefilter.
    fn into_prefilter(self) -> Prefilter {
        let mut lines = self.atoms.split(|piece| matches!(piece, Atom::Char('\n'))).map(line_prefilter);
        lines.find(|need| *need != Prefilter::MatchAll).unwrap_or(Prefilter::MatchAll)
    }
}

/// Combines the runs of a line with its other prefilters.
fn line_prefilter(pieces: &[Atom]) -> Prefilter {
    let mut runs = RunBuilder::default();
    for piece in pieces {
        match piece {
            Atom::Char(char) if is_word(*char) => runs.push(*char),
            Atom::Char(_) | Atom::WordBoundary => runs.end(true),
            Atom::Gap => runs.end(false),
            Atom::Prefilter(need) => {
                runs.end(false);
                runs.prefilters.push(need.clone());
            }
        }
    }
    runs.end(false);
    Prefilter::and(runs.prefilters)
}

/// Collects word characters into runs.
#[derive(Default)]
struct RunBuilder {
    prefilters: Vec<Prefilter>,
    run: String,
    is_closed: bool,
    was_closed: bool,
}

impl RunBuilder {
    fn push(&mut self, char: char) {
        if self.run.is_empty() {
            self.was_closed = self.is_closed;
        }
        self.run.push(char);
    }

    fn end(&mut self, is_closed: bool) {
        if !self.run.is_empty() {
            self.prefilters.push(Prefilter::Run(Run::new(&self.run, (self.was_closed, is_closed))));
            self.run.clear();
        }
        self.is_closed = is_closed;
    }
}

/// Whether a class contains no word character in the sense of regular expressions.
fn has_no_word(class: &ClassUnicode) -> bool {
    let Ok(word) = regex_syntax::parse(r"\w") else { return false };
    let HirKind::Class(Class::Unicode(word)) = word.kind() else { return false };
    let mut both = word.clone();
    both.intersect(class);
    both.ranges().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a prefilter: `<` and `>` mark closed ends, `&` and `|` are and/or, `*` matches all.
    fn format_short(need: &Prefilter) -> String {
        let join = |needs: &[Prefilter], by: &str| {
            format!("({})", needs.iter().map(format_short).collect::<Vec<_>>().join(by))
        };
        match need {
            Prefilter::MatchAll => "*".into(),
            Prefilter::Run(run) => run.to_string(),
            Prefilter::And(needs) => join(needs, " & "),
            Prefilter::Or(needs) => join(needs, " | "),
        }
    }

    #[test]
    fn prefilter_of_regexes() {
        let table = [
            ("foo", "foo"),
            ("foo.bar", "(foo & bar)"),
            (r"foo\.Bar_x", "(foo> & <bar_x)"),
            (r"\bfoo\b", "<foo>"),
            (r"^fn\s+(\w+)\(", "<fn>"),
            (r"a\s*b", "(a & b)"),
            ("foo|bar|baz qux", "(foo | bar | (baz> & <qux))"),
            ("foo|.*", "*"),
            ("(?i)Kiss", "kiss"),
            ("[fF]oo[ab]", "foo"),
            ("(ab)+c", "(ab & c)"),
            ("(ab){2}c", "ababc"),
            ("a{0,3}b?", "*"),
            ("x(?:y|z w)", "(x & (y | (z> & <w)))"),
            ("foo$", "foo>"),
            (r"(?-u:\b)foo", "foo"),
            (r"\Boo", "oo"),
            ("ÄRGER", "ärger"),
            ("[0-9]+", "*"),
            ("", "*"),
        ];
        for (pattern, expected) in table {
            let hir = regex_syntax::ParserBuilder::new().multi_line(true).build().parse(pattern).expect(pattern);
            assert_eq!(format_short(&from_hir(&hir).0), expected, "{pattern}");
        }
    }
}

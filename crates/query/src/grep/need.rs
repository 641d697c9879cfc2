//! What a text must have in it, so that a pattern can match there.
//!
//! An expression is laid out as a row of pieces: characters, what closes a word, and gaps of which nothing is known.
//! Neighbouring word characters make a run; what stands beside it tells whether it is closed.

use codecompass_store::{Need, Run, is_odd, is_word};
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look, Repetition};

/// A class with more characters than this is not one letter in its cases.
const CASES: usize = 4;
/// A fixed number of repetitions up to this is written out.
const WRITTEN_OUT: u32 = 4;

/// The need of a literal; its second part is as in [`of_hir`].
pub(super) fn of_literal(text: &str) -> (Need, bool) {
    let row = Row { pieces: text.chars().map(Piece::Char).collect(), odd: false };
    (row.need(), false)
}

/// The need of an expression, and whether texts with odd characters may hold a match without meeting it.
pub(super) fn of_hir(hir: &Hir) -> (Need, bool) {
    let mut row = Row::default();
    row.lay(hir);
    let odd = row.odd;
    (row.need(), odd)
}

/// A piece of an expression.
enum Piece {
    /// This character, in any case.
    Char(char),
    /// No word goes on across this.
    Close,
    /// Anything at all.
    Gap,
    /// Anything that meets this.
    Need(Need),
}

/// An expression laid out.
#[derive(Default)]
struct Row {
    pieces: Vec<Piece>,
    odd: bool,
}

impl Row {
    fn lay(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.pieces.extend(text.chars().map(Piece::Char)),
                Err(_) => self.pieces.push(Piece::Gap),
            },
            HirKind::Class(Class::Unicode(class)) => self.lay_class(class),
            HirKind::Class(Class::Bytes(_)) => self.pieces.push(Piece::Gap),
            HirKind::Look(look) => self.lay_look(*look),
            HirKind::Repetition(repetition) => self.lay_repetition(repetition),
            HirKind::Capture(capture) => self.lay(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.lay(part)),
            HirKind::Alternation(parts) => {
                let needs = parts.iter().map(|part| {
                    let (need, odd) = of_hir(part);
                    self.odd |= odd;
                    need
                });
                let need = Need::one(needs.collect());
                self.pieces.push(Piece::Need(need));
            }
        }
    }

    fn lay_class(&mut self, class: &ClassUnicode) {
        if let Some(letter) = self.one_letter(class) {
            self.pieces.push(Piece::Char(letter));
        } else if has_no_word(class) {
            self.odd = true;
            self.pieces.push(Piece::Close);
        } else {
            self.pieces.push(Piece::Gap);
        }
    }

    /// The letter that a class has in its cases. Odd cases do not count: they stand in texts with odd characters only.
    fn one_letter(&mut self, class: &ClassUnicode) -> Option<char> {
        let chars: Vec<char> = class.iter().flat_map(|range| range.start()..=range.end()).take(CASES + 1).collect();
        if chars.len() > CASES || chars.iter().any(|char| !is_word(*char)) {
            return None;
        }
        let mut plain = chars.iter().copied().filter(|char| !is_odd(*char));
        let first = plain.next().or(chars.first().copied())?;
        let is_one = plain.all(|char| char.to_lowercase().eq(first.to_lowercase()));
        self.odd |= is_one && chars.iter().any(|char| is_odd(*char));
        is_one.then_some(first)
    }

    fn lay_look(&mut self, look: Look) {
        match look {
            Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
                self.pieces.push(Piece::Close);
            }
            Look::WordUnicode
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => {
                self.odd = true;
                self.pieces.push(Piece::Close);
            }
            // These say too little; they take no room, so what stands beside them stays together.
            Look::WordAscii
            | Look::WordAsciiNegate
            | Look::WordUnicodeNegate
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => {}
        }
    }

    fn lay_repetition(&mut self, repetition: &Repetition) {
        let Repetition { min, max, sub, .. } = repetition;
        if *min == 0 {
            self.pieces.push(Piece::Gap);
        } else if *max == Some(*min) && *min <= WRITTEN_OUT {
            (0..*min).for_each(|_| self.lay(sub));
        } else if matches!(sub.kind(), HirKind::Class(Class::Unicode(class)) if has_no_word(class)) {
            self.lay(sub);
        } else {
            self.lay(sub);
            self.pieces.push(Piece::Gap);
        }
    }

    /// What the row needs on one line: when it has several, the first that needs anything.
    fn need(self) -> Need {
        let mut lines = self.pieces.split(|piece| matches!(piece, Piece::Char('\n'))).map(need_of_line);
        lines.find(|need| *need != Need::Anything).unwrap_or(Need::Anything)
    }
}

/// The runs of a line, and what else it needs.
fn need_of_line(pieces: &[Piece]) -> Need {
    let mut runs = Runs::default();
    for piece in pieces {
        match piece {
            Piece::Char(char) if is_word(*char) => runs.push(*char),
            Piece::Char(_) | Piece::Close => runs.end(true),
            Piece::Gap => runs.end(false),
            Piece::Need(need) => {
                runs.end(false);
                runs.needs.push(need.clone());
            }
        }
    }
    runs.end(false);
    Need::all(runs.needs)
}

/// Gathers word characters to runs.
#[derive(Default)]
struct Runs {
    needs: Vec<Need>,
    run: String,
    is_closed: bool,
    was_closed: bool,
}

impl Runs {
    fn push(&mut self, char: char) {
        if self.run.is_empty() {
            self.was_closed = self.is_closed;
        }
        self.run.push(char);
    }

    fn end(&mut self, is_closed: bool) {
        if !self.run.is_empty() {
            self.needs.push(Need::Run(Run::new(&self.run, (self.was_closed, is_closed))));
            self.run.clear();
        }
        self.is_closed = is_closed;
    }
}

/// Whether a class has nothing that counts as part of a word, as expressions see it.
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

    /// The need in short: `<` and `>` mark closed ends, `&` and `|` all and one, `*` anything.
    fn short(need: &Need) -> String {
        let join = |needs: &[Need], by: &str| format!("({})", needs.iter().map(short).collect::<Vec<_>>().join(by));
        match need {
            Need::Anything => "*".into(),
            Need::Run(run) => run.to_string(),
            Need::All(needs) => join(needs, " & "),
            Need::One(needs) => join(needs, " | "),
        }
    }

    #[test]
    fn what_an_expression_needs() {
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
            assert_eq!(short(&of_hir(&hir).0), expected, "{pattern}");
        }
    }
}

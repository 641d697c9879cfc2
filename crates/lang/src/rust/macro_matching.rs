//! Matches a macro call with the pattern of a rule and collects the names that the rule's variables capture.

use std::ops::Range;

use codecompass_model::Span;

use super::lexer::{Token, TokenKind};

/// The maximum number of tokens to match per file.
pub(super) const MAX_STEPS: usize = 200_000;

/// The maximum nesting of brackets.
pub(super) const MAX_NESTING: usize = 48;

/// The steps spent on one file, and the current nesting.
#[derive(Default)]
pub(super) struct MatchBudget {
    pub(super) steps: usize,
    pub(super) nesting: usize,
}

/// A name that a rule captured: the variable, the name, and the span of its repetition.
pub(super) struct Capture<'t> {
    pub(super) variable: &'t str,
    pub(super) captured: Span,
    pub(super) repetition: Option<Span>,
}

/// A call that is matched with a rule's pattern.
pub(super) struct Matcher<'m, 't> {
    pub(super) text: &'t str,
    pub(super) effort: &'m mut MatchBudget,
    pub(super) pattern: &'m [Token],
    pub(super) given: &'m [Token],
    pub(super) captures: Vec<Capture<'t>>,
}

impl<'t> Matcher<'_, 't> {
    fn expected(&self, at: usize) -> &'t str {
        self.pattern[at].span.text(self.text)
    }

    fn given_text(&self, at: usize) -> &'t str {
        self.given.get(at).map_or("", |token| token.span.text(self.text))
    }

    /// Matches a range of the pattern from a token on; returns the token after the match. `until` follows the range.
    pub(super) fn sequence(
        &mut self,
        pattern: Range<usize>,
        mut given: usize,
        end: usize,
        until: Option<&str>,
    ) -> Option<usize> {
        let mut at = pattern.start;
        while at < pattern.end {
            self.effort.steps += 1;
            if self.effort.steps > MAX_STEPS {
                return None;
            }
            match self.pattern[at].kind {
                TokenKind::Variable if at + 2 < pattern.end && self.expected(at + 1) == ":" => {
                    let next = (at + 3 < pattern.end).then(|| self.expected(at + 3)).filter(|next| *next != "$");
                    let stop = self.fragment(self.expected(at + 2), given, end, next.or(until))?;
                    let is_name =
                        stop == given + 1 && matches!(self.given[given].kind, TokenKind::Word | TokenKind::Variable);
                    if is_name {
                        let (variable, name) = (self.expected(at), self.given[given].span);
                        self.captures.push(Capture { variable, captured: name, repetition: None });
                    }
                    (given, at) = (stop, at + 3);
                }
                TokenKind::Punctuation if self.expected(at) == "$" && at + 1 < pattern.end => {
                    (given, at) = self.repetition(at + 1, pattern.end, given, end, until)?;
                }
                TokenKind::Open(close) => {
                    let Some(TokenKind::Open(given_close)) = self.given.get(given).map(|token| token.kind) else {
                        return None;
                    };
                    let is_same = given < end && self.given_text(given) == self.expected(at);
                    if !is_same || self.inner(at + 1..close, given + 1, given_close, None) != Some(given_close) {
                        return None;
                    }
                    (given, at) = (given_close + 1, close + 1);
                }
                _ if given < end && self.given_text(given) == self.expected(at) => (given, at) = (given + 1, at + 1),
                _ => return None,
            }
        }
        Some(given)
    }

    /// Like `sequence`, one bracket deeper.
    fn inner(&mut self, pattern: Range<usize>, given: usize, end: usize, until: Option<&str>) -> Option<usize> {
        self.effort.nesting += 1;
        let is_flat = self.effort.nesting < MAX_NESTING;
        let stop = if is_flat { self.sequence(pattern, given, end, until) } else { None };
        self.effort.nesting -= 1;
        stop
    }

    /// Matches `$( … ) , *` from its bracket on; returns the tokens after the match in the call, and after the pattern.
    fn repetition(
        &mut self,
        open: usize,
        pattern_end: usize,
        mut given: usize,
        end: usize,
        until: Option<&str>,
    ) -> Option<(usize, usize)> {
        let TokenKind::Open(close) = self.pattern[open].kind else { return None };
        let is_operator = |word: &str| matches!(word, "*" | "+" | "?");
        let mut after = close + 1;
        let separator = (after < pattern_end).then(|| self.expected(after)).filter(|word| !is_operator(word));
        after += usize::from(separator.is_some());
        // A separator `=>` is two tokens, and rare.
        let operator = (after < pattern_end).then(|| self.expected(after)).filter(|word| is_operator(word))?;
        after += 1;
        let follows = (after < pattern_end).then(|| self.expected(after)).filter(|next| *next != "$").or(until);
        let mut turn = given;
        while turn < end {
            let known = self.captures.len();
            match self.inner(open + 1..close, turn, end, separator.or(follows)) {
                Some(stop) if stop > turn => {
                    let (first, last) = (self.given[turn].span, self.given[stop - 1].span);
                    let whole = Span { start: first.start, end: last.end };
                    for capture in &mut self.captures[known..] {
                        capture.repetition.get_or_insert(whole);
                    }
                    given = stop;
                }
                _ => {
                    self.captures.truncate(known);
                    break;
                }
            }
            turn = match separator {
                _ if operator == "?" => break,
                Some(separator) if self.given_text(given) == separator => given + 1,
                Some(_) => break,
                None => given,
            };
        }
        Some((given, after))
    }

    /// Returns the token after a fragment that begins here.
    fn fragment(&self, kind: &str, from: usize, end: usize, next: Option<&str>) -> Option<usize> {
        let token = self.given.get(from).filter(|_| from < end);
        let one = |token: &Token| if let TokenKind::Open(close) = token.kind { close + 1 } else { from + 1 };
        match kind {
            "ident" => {
                token.filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Variable)).map(|_| from + 1)
            }
            "tt" => token.map(one),
            "lifetime" | "literal" => token.map(|_| from + 1 + usize::from(self.given_text(from) == "-")),
            "block" => token.filter(|_| self.given_text(from) == "{").map(one),
            "vis" => match self.given_text(from) {
                "pub" if from < end => match self.given.get(from + 1).map(|token| token.kind) {
                    Some(TokenKind::Open(close)) if self.given_text(from + 1) == "(" => Some(close + 1),
                    _ => Some(from + 1),
                },
                _ => Some(from),
            },
            "item" => None,
            _ => self.long_fragment(from, end, next),
        }
    }

    /// Matches a type, an expression or a pattern, up to `next`, or a comma, semicolon or arrow outside brackets.
    fn long_fragment(&self, from: usize, end: usize, next: Option<&str>) -> Option<usize> {
        let mut at = from;
        let mut angles = 0usize;
        while at < end {
            let word = self.given_text(at);
            let is_arrow = word == "=" && self.given_text(at + 1) == ">";
            if angles == 0 && at > from && (Some(word) == next || matches!(word, "," | ";") || is_arrow) {
                break;
            }
            match word {
                "<" => angles += 1,
                ">" if at > from && !matches!(self.given_text(at - 1), "-" | "=") => angles = angles.saturating_sub(1),
                _ => {}
            }
            at = if let TokenKind::Open(close) = self.given[at].kind { close } else { at } + 1;
        }
        (at > from).then_some(at.min(end))
    }
}

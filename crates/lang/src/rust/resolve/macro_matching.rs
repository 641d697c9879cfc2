//! Matches the tokens of a macro call with the matcher of a rule.

use std::rc::Rc;

use codecompass_model::{FileFacts, Fragment, MacroToken, MacroTree};

use super::expansion::{Given, GivenKind, GivenPart};

/// The maximum number of turns of a repetition.
const MAX_TURNS: usize = 500;

/// What a variable is bound to.
#[derive(Clone)]
pub(super) enum Captured {
    One(Given),
    /// In a repetition: one for each turn.
    Many(Vec<Captured>),
}

/// The captures of a rule.
type Captures = Vec<(Rc<str>, Captured)>;

/// The result of matching a rule.
pub(super) enum MatchResult {
    Match(Captures),
    NoMatch,
    /// The rule may match: the facts do not say.
    Unsure,
}

/// The reason why a part does not match.
enum Mismatch {
    NoMatch,
    Unsure,
}

/// Matches a call with a rule.
pub(super) fn match_rule(facts: &FileFacts, matcher: &[MacroTree], given: &[Given]) -> MatchResult {
    let mut captures = Vec::new();
    match (Matcher { facts }).trees(matcher, given, &mut captures) {
        Ok(end) if end == given.len() => MatchResult::Match(captures),
        Ok(_) | Err(Mismatch::NoMatch) => MatchResult::NoMatch,
        Err(Mismatch::Unsure) => MatchResult::Unsure,
    }
}

struct Matcher<'m> {
    facts: &'m FileFacts,
}

impl Matcher<'_> {
    /// Matches trees from the beginning of the tokens; returns the number of tokens matched.
    fn trees(&self, trees: &[MacroTree], given: &[Given], captures: &mut Captures) -> Result<usize, Mismatch> {
        let mut at = 0;
        for tree in trees {
            at += match &tree.token {
                MacroToken::Variable { name, fragment } => {
                    let (tokens, captured) = fragment_of(*fragment, &given[at..])?;
                    captures.push((self.facts.name(*name).into(), Captured::One(captured)));
                    tokens
                }
                MacroToken::Repeat { trees, separator, many } => {
                    self.repeat(trees, separator, *many, &given[at..], captures)?
                }
                token => self.token(token, given.get(at).ok_or(Mismatch::NoMatch)?, captures)?,
            };
        }
        Ok(at)
    }

    /// Matches a token or brackets.
    fn token(&self, token: &MacroToken, given: &Given, captures: &mut Captures) -> Result<usize, Mismatch> {
        let is_same = match (token, &given.kind) {
            (MacroToken::Word { name, .. }, GivenKind::Word(word, _)) => self.facts.name(*name) == &**word,
            (MacroToken::Mark(mark), GivenKind::Mark(other)) => mark == other,
            (MacroToken::Literal(Some(text)), GivenKind::Literal(other)) => self.facts.name(*text) == &**other,
            (MacroToken::Group { open, trees }, GivenKind::Group(other, inner)) if open == other => {
                self.trees(trees, inner, captures)? == inner.len()
            }
            _ => false,
        };
        if is_same { Ok(1) } else { Err(Mismatch::NoMatch) }
    }

    fn repeat(
        &self,
        trees: &[MacroTree],
        separator: &[char],
        many: bool,
        given: &[Given],
        captures: &mut Captures,
    ) -> Result<usize, Mismatch> {
        let mut turns: Vec<Captures> = Vec::new();
        let (mut at, mut turn) = (0, 0);
        while turn <= given.len() && turns.len() < MAX_TURNS {
            let mut found = Vec::new();
            match self.trees(trees, &given[turn..], &mut found) {
                Ok(tokens) if tokens > 0 => at = turn + tokens,
                Ok(_) | Err(Mismatch::NoMatch) => break,
                Err(Mismatch::Unsure) => return Err(Mismatch::Unsure),
            }
            turns.push(found);
            let follows = |(number, mark): (usize, &char)| matches!(given.get(at + number), Some(Given { kind: GivenKind::Mark(other), .. }) if other == mark);
            if !many || !separator.iter().enumerate().all(follows) {
                break;
            }
            turn = at + separator.len();
        }
        let mut names = Vec::new();
        variables(trees, &mut names);
        for name in names {
            let name = self.facts.name(name);
            let of_turn =
                |turn: &Captures| turn.iter().find(|(known, _)| &**known == name).map(|(_, captured)| captured.clone());
            captures.push((name.into(), Captured::Many(turns.iter().filter_map(of_turn).collect())));
        }
        Ok(at)
    }
}

/// Collects the variables of a matcher.
fn variables(trees: &[MacroTree], out: &mut Vec<u32>) {
    for tree in trees {
        match &tree.token {
            MacroToken::Variable { name, .. } => out.push(*name),
            MacroToken::Group { trees, .. } | MacroToken::Repeat { trees, .. } => variables(trees, out),
            _ => {}
        }
    }
}

/// Matches a variable; returns the number of tokens and what it captures.
fn fragment_of(fragment: Fragment, given: &[Given]) -> Result<(usize, Given), Mismatch> {
    let Some(first) = given.first() else {
        return Err(if fragment == Fragment::Other { Mismatch::Unsure } else { Mismatch::NoMatch });
    };
    let whole = |part: &GivenPart, is_type: bool| {
        let part = GivenPart { tokens: 1, ..part.clone() };
        let (expr, ty) = if is_type { (None, Some(part)) } else { (Some(part), None) };
        Given { kind: GivenKind::Whole, expr, ty, places: Vec::new() }
    };
    let expr = first.expr.as_ref().filter(|part| is_adjacent(part, given));
    let is_word = matches!(first.kind, GivenKind::Word(..));
    match fragment {
        Fragment::Expr => match expr {
            Some(part) => Ok((part.tokens, whole(part, false))),
            None => Err(no_beginning(first)),
        },
        Fragment::Ident if is_word => Ok((1, first.clone())),
        Fragment::Tree => Ok((1, first.clone())),
        Fragment::Type => match first.ty.as_ref().filter(|part| is_adjacent(part, given)).or(expr) {
            Some(part) => Ok((part.tokens, whole(part, true))),
            None => Err(no_beginning(first)),
        },
        Fragment::Block if matches!(first.kind, GivenKind::Group('{', _)) => Ok((1, first.clone())),
        Fragment::Literal => match (&first.kind, expr) {
            (GivenKind::Literal(_), _) => Ok((1, first.clone())),
            (GivenKind::Mark('-') | GivenKind::Whole, _) => Err(Mismatch::Unsure),
            (GivenKind::Word(word, _), _) if matches!(&**word, "true" | "false") => Ok((1, first.clone())),
            _ => Err(Mismatch::NoMatch),
        },
        Fragment::Ident | Fragment::Block => match first.kind {
            GivenKind::Whole => Err(Mismatch::Unsure),
            _ => Err(Mismatch::NoMatch),
        },
        Fragment::Lifetime | Fragment::Other => Err(Mismatch::Unsure),
    }
}

/// Returns why no expression or type begins at a token: it cannot, or the facts do not have one.
fn no_beginning(token: &Given) -> Mismatch {
    match token.kind {
        GivenKind::Mark(',' | ';' | '=' | '>' | '.' | '?' | ':' | '@' | '%' | '/' | '^' | '+' | '~') => {
            Mismatch::NoMatch
        }
        _ => Mismatch::Unsure,
    }
}

/// Returns whether the tokens of a part follow each other as where it was read.
fn is_adjacent(part: &GivenPart, given: &[Given]) -> bool {
    let (list, first) = part.place;
    part.tokens <= given.len()
        && (0..part.tokens).all(|number| part.tokens == 1 || given[number].places.contains(&(list, first + number)))
}

//! Macros and their calls as facts: trees of tokens whose expressions are lowered.
//!
//! A rule is lowered where it is defined and a call where it is written; the resolver matches the two. Only a call that
//! an expression begins with is lowered: `current!(editor).1`. The macros of the standard library that the resolver
//! knows by name are left out.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Fragment, MacroCall, MacroPart, MacroRule, MacroToken, MacroTree, Span};

use super::LANGUAGE;
use super::kinds::{field as f, kind as k};
use super::lexer::{self, Token, TokenKind};
use super::lowering::{Lowering, Names};
use super::standard_macros;
use crate::draft::Draft;
use crate::parse::{self, FragmentParser};
use crate::tree::Tree;

/// The maximum number of tokens of a call or a rule.
const MAX_TOKENS: usize = 400;

/// The maximum number of rules of a macro.
const MAX_RULES: usize = 64;

/// The maximum length of a literal to keep.
const MAX_LITERAL: usize = 16;

/// The maximum nesting of macro calls and of brackets.
const MAX_NESTING: u32 = 12;

/// The maximum number of tokens before an expression within a part of a call: `first` in `first $a:expr`.
const MAX_LEADING: usize = 4;

/// The node of the brackets in a fragment: below the file and its one statement.
pub(super) const BRACKETS: usize = 2;

/// Returns the macro call that an expression begins with, unless it is one of a standard macro.
pub(super) fn leading_call(tree: &Tree, text: &str, mut at: usize) -> Option<usize> {
    loop {
        at = match tree.kind(at) {
            k::MACRO_CALL => {
                let name = tree.node(tree.child(at, f::MACRO)?).span().text(text);
                return (!standard_macros::is_not_lowered(name)).then_some(at);
            }
            k::FIELD_EXPRESSION | k::CAST => tree.child(at, f::VALUE)?,
            k::CALL | k::GENERIC_FUNCTION => tree.child(at, f::FUNCTION)?,
            k::TRY | k::AWAIT | k::INDEX | k::PARENTHESIZED | k::REFERENCE | k::UNARY => {
                tree.children(at).find(|&child| !matches!(tree.kind(child), k::LINE_COMMENT | k::BLOCK_COMMENT))?
            }
            _ => return None,
        };
    }
}

/// Lowers an expression that begins with a macro call, with the local names that are visible at a node.
pub(super) fn expression(tree: &Tree, draft: &mut Draft<'_>, at: usize, node: usize) -> Option<ExprId> {
    let text = draft.text;
    parse::with_fragment_parser(&LANGUAGE, text.len(), |parser| {
        let mut reader = Reader { text, draft, parser, depth: 0, nested: 0 };
        reader.lower(tree, at, &mut Names::Visible { node })
    })
}

/// Lowers the rules of a `macro_rules!`.
pub(super) fn rules(draft: &mut Draft<'_>, definition: Span) -> Option<ExprId> {
    let text = draft.text;
    let tokens = lexer::tokens(text, definition);
    let word = |at: usize| tokens.get(at).map_or("", |token: &Token| token.span.text(text));
    let open = tokens.iter().position(|token| matches!(token.kind, TokenKind::Open(_)))?;
    let TokenKind::Open(end) = tokens[open].kind else { return None };
    let found = parse::with_fragment_parser(&LANGUAGE, text.len(), |parser| {
        let mut reader = Reader { text, draft, parser, depth: 0, nested: 0 };
        let mut rules = Vec::new();
        let mut at = open + 1;
        while at < end && rules.len() < MAX_RULES {
            let TokenKind::Open(matcher_end) = tokens[at].kind else { return None };
            let Some(TokenKind::Open(value_end)) = tokens.get(matcher_end + 3).map(|token| token.kind) else {
                return None;
            };
            let fits = value_end - at <= MAX_TOKENS;
            let matcher = if fits { reader.matcher(&tokens, at + 1, matcher_end) } else { unknown_matcher() };
            let value = if fits { reader.value(&tokens, matcher_end + 3, value_end) } else { None };
            rules.push(MacroRule { matcher, value });
            at = value_end + 1;
            at += usize::from(word(at) == ";");
        }
        Some(rules)
    })??;
    Some(draft.expr(Expr::Rules(found.into())))
}

/// Returns a matcher of which nothing is known.
fn unknown_matcher() -> Box<[MacroTree]> {
    [plain(MacroToken::Variable { name: 0, fragment: Fragment::Other })].into()
}

fn plain(token: MacroToken) -> MacroTree {
    MacroTree { token, expr: None, ty: None }
}

/// Reads macros and calls of one file.
pub(super) struct Reader<'r, 't, 'w> {
    pub(super) text: &'t str,
    pub(super) draft: &'r mut Draft<'t>,
    parser: &'r mut FragmentParser<'w>,
    /// The depth of macro calls.
    depth: u32,
    /// The depth of expressions.
    nested: u32,
}

/// The expressions that begin at each offset: the outermost first.
type Beginnings = HashMap<u32, Vec<(Rc<Tree>, usize)>>;

impl<'t> Reader<'_, 't, '_> {
    /// Lowers an expression of a tree.
    pub(super) fn lower(&mut self, tree: &Tree, at: usize, names: &mut Names<'t>) -> ExprId {
        Lowering { reader: self, tree, names }.expression(at)
    }

    /// Enters a nested expression; `false` at the limit.
    pub(super) fn deeper(&mut self, limit: u32) -> bool {
        let fits = self.nested < limit;
        self.nested += u32::from(fits);
        fits
    }

    /// Leaves a nested expression.
    pub(super) fn shallower(&mut self) {
        self.nested -= 1;
    }

    fn word(&self, token: &Token) -> &'t str {
        token.span.text(self.text)
    }

    /// Lowers a macro call of a tree.
    pub(super) fn call(&mut self, tree: &Tree, at: usize, names: &mut Names<'t>) -> Option<ExprId> {
        let path = tree.child(at, f::MACRO)?;
        let given = tree.child_of_kind(at, k::TOKEN_TREE);
        let span = match given {
            Some(given) => tree.node(given).span(),
            // The tree has no node for brackets without names.
            None => Span { start: tree.node(path).end, end: tree.node(at).end },
        };
        let tokens = lexer::tokens(self.text, span);
        let open = tokens.iter().position(|token| matches!(token.kind, TokenKind::Open(_)))?;
        let TokenKind::Open(close) = tokens[open].kind else { return None };
        if self.depth >= MAX_NESTING || close - open > MAX_TOKENS {
            return None;
        }
        self.depth += 1;
        let path = Lowering { reader: self, tree, names: &mut Names::None }.path(path);
        let beginnings = self.beginnings(&tokens, open, close);
        let given = self.trees(&tokens, (open + 1, close), &beginnings, names);
        self.depth -= 1;
        Some(self.draft.expr(Expr::Expand(MacroCall { path, given }.into())))
    }

    /// Returns the value of a rule: of its tokens as a block.
    fn value(&mut self, tokens: &[Token], open: usize, close: usize) -> Option<ExprId> {
        let piece = self.fragment(tokens, open, close, ["{", "};"]);
        let mut tree = Tree::default();
        if !self.parser.parse(&piece, tokens[open].span.start, &mut tree) || tree.len() <= BRACKETS {
            return None;
        }
        let value = self.lower(&tree, BRACKETS, &mut Names::Template(Vec::new()));
        (*self.draft.expr_at(value) != Expr::Other).then_some(value)
    }

    /// Returns the text between two brackets, with repetitions replaced: by a variable, or nothing if they are
    /// statements.
    fn fragment(&self, tokens: &[Token], open: usize, close: usize, around: [&str; 2]) -> String {
        let (start, end) = (tokens[open].span.end, tokens[close].span.start);
        let mut out = Span { start, end }.text(self.text).to_owned().into_bytes();
        let mut at = open + 1;
        while at < close {
            if let Some((last, after)) = self.repetition(tokens, at, close) {
                let is_statement = matches!(self.word(&tokens[last - 1]), ";" | "}");
                let from = (tokens[at].span.start - start) as usize;
                let to = (tokens[after - 1].span.end - start) as usize;
                out[from..to].fill(b' ');
                if !is_statement {
                    out[from..from + 2].copy_from_slice(b"$_");
                }
                at = after;
            } else {
                at += 1;
            }
        }
        [around[0], &String::from_utf8_lossy(&out), around[1]].concat()
    }

    /// Returns the closing bracket of a repetition that begins here, and the token after its operator.
    fn repetition(&self, tokens: &[Token], at: usize, end: usize) -> Option<(usize, usize)> {
        if self.word(&tokens[at]) != "$" {
            return None;
        }
        let TokenKind::Open(close) = tokens.get(at + 1)?.kind else { return None };
        let is_operator = |token: &Token| matches!(self.word(token), "*" | "+" | "?");
        // `$(…) + *` has a plus as its separator.
        let first = close + 1;
        let last = (first..end.min(first + 3)).take_while(|&at| tokens[at].kind == TokenKind::Punctuation);
        let touching = |at: usize| at == first || tokens[at - 1].span.end == tokens[at].span.start;
        let found = last.take_while(|&at| touching(at)).find(|&at| is_operator(&tokens[at]))?;
        let doubled = found == first
            && tokens.get(found + 1).is_some_and(|next| touching(found + 1) && is_operator(next) && found + 1 < end);
        Some((close, found + 1 + usize::from(doubled)))
    }

    /// Returns the trees of a matcher.
    fn matcher(&mut self, tokens: &[Token], from: usize, end: usize) -> Box<[MacroTree]> {
        let mut out = Vec::new();
        let mut at = from;
        while at < end {
            let token = &tokens[at];
            if let Some((close, after)) = self.repetition(tokens, at, end) {
                let trees = self.matcher(tokens, at + 2, close);
                out.push(self.repeat(tokens, trees, close, after));
                at = after;
                continue;
            }
            let is_typed = token.kind == TokenKind::Variable && at + 2 < end && self.word(&tokens[at + 1]) == ":";
            let (token, next) = match token.kind {
                TokenKind::Variable if is_typed => {
                    let fragment = fragment_kind(self.word(&tokens[at + 2]));
                    let name = self.draft.word(&self.word(token)[1..]);
                    (MacroToken::Variable { name, fragment }, at + 3)
                }
                TokenKind::Open(close) => {
                    let trees = self.matcher(tokens, at + 1, close);
                    (MacroToken::Group { open: self.first_char(token), trees }, close + 1)
                }
                _ => (self.single(token, &mut Names::None), at + 1),
            };
            out.push(plain(token));
            at = next;
        }
        out.into()
    }

    fn repeat(&mut self, tokens: &[Token], trees: Box<[MacroTree]>, close: usize, after: usize) -> MacroTree {
        let separator = tokens[close + 1..after - 1].iter().map(|token| self.first_char(token)).collect();
        let many = self.word(&tokens[after - 1]) != "?";
        plain(MacroToken::Repeat { trees, separator, many })
    }

    fn first_char(&self, token: &Token) -> char {
        self.word(token).chars().next().unwrap_or(' ')
    }

    /// Returns a token that is no bracket.
    fn single(&mut self, token: &Token, names: &mut Names<'t>) -> MacroToken {
        let word = self.word(token);
        match token.kind {
            TokenKind::Word => {
                let value = names.value(self.draft, word);
                MacroToken::Word { name: self.draft.word(word), value }
            }
            TokenKind::Variable => MacroToken::Hole(self.draft.word(&word[1..])),
            TokenKind::Literal => MacroToken::Literal((word.len() <= MAX_LITERAL).then(|| self.draft.word(word))),
            TokenKind::Open(_) | TokenKind::Close | TokenKind::Punctuation => MacroToken::Mark(self.first_char(token)),
        }
    }

    /// Returns the trees of a call.
    fn trees(
        &mut self,
        tokens: &[Token],
        (from, end): (usize, usize),
        beginnings: &Beginnings,
        names: &mut Names<'t>,
    ) -> Box<[MacroTree]> {
        // The first token of each tree, and the token after it.
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut at = from;
        while at < end {
            let after = match (self.repetition(tokens, at, end).filter(|_| names.has_holes()), tokens[at].kind) {
                (Some((_, after)), _) => after,
                (None, TokenKind::Open(close)) => close + 1,
                (None, _) => at + 1,
            };
            places.push((at, after));
            at = after;
        }
        let mut out = Vec::with_capacity(places.len());
        for (number, &(at, after)) in places.iter().enumerate() {
            let token = &tokens[at];
            let is_repetition = names.has_holes() && self.repetition(tokens, at, end).is_some();
            let mut tree = match token.kind {
                _ if is_repetition => {
                    let close = self.repetition(tokens, at, end).map_or(at, |(close, _)| close);
                    let trees = self.trees(tokens, (at + 2, close), &Beginnings::new(), names);
                    self.repeat(tokens, trees, close, after)
                }
                TokenKind::Open(close) => {
                    let trees = self.trees(tokens, (at + 1, close), beginnings, names);
                    plain(MacroToken::Group { open: self.first_char(token), trees })
                }
                _ => plain(self.single(token, names)),
            };
            if let Some(known) = beginnings.get(&token.span.start).filter(|_| !is_repetition) {
                self.annotate(&mut tree, (tokens, end), &places[number..], known, names);
            }
            out.push(tree);
        }
        out.into()
    }

    /// Adds the longest expression and the type that begin at a tree.
    fn annotate(
        &mut self,
        tree: &mut MacroTree,
        (tokens, end): (&[Token], usize),
        rest: &[(usize, usize)],
        known: &[(Rc<Tree>, usize)],
        names: &mut Names<'t>,
    ) {
        for (parsed, at) in known {
            let node = parsed.node(*at);
            let last = rest.iter().position(|&(_, after)| tokens[after - 1].span.end >= node.end);
            let Some(last) = last.filter(|&last| tokens[rest[last].1 - 1].span.end == node.end) else { continue };
            let is_whole = rest[..=last].iter().all(|&(at, _)| self.repetition(tokens, at, end).is_none());
            let trees = last as u32 + 1;
            let is_type = parsed.kind(BRACKETS) != k::ARRAY;
            if is_type && tree.ty.is_none() {
                let expr = Lowering { reader: self, tree: parsed, names }.type_expr(*at);
                tree.ty = Some(MacroPart { expr, trees });
            } else if !is_type && is_whole && tree.expr.is_none() && self.is_end(tokens, rest[last].1, end) {
                let expr = self.lower(parsed, *at, names);
                tree.expr = Some(MacroPart { expr, trees });
            }
        }
    }

    /// Returns whether an expression may end before this token.
    fn is_end(&self, tokens: &[Token], at: usize, end: usize) -> bool {
        at >= end
            || matches!(self.word(&tokens[at]), "," | ";")
            || self.word(&tokens[at]) == "=" && at + 1 < end && self.word(&tokens[at + 1]) == ">"
    }

    /// Returns the expressions and types that begin at the tokens of a call.
    fn beginnings(&mut self, tokens: &[Token], open: usize, close: usize) -> Beginnings {
        let mut found = Beginnings::new();
        if close == open + 1 {
            return found;
        }
        let whole = self.fragment(tokens, open, close, ["[", "];"]);
        if self.parse_into(&whole, tokens[open].span.start, &mut found) {
            return found;
        }
        let mut from = open + 1;
        let mut at = open + 1;
        while at <= close {
            let is_part_end = at == close || self.is_end(tokens, at, close) || self.divides(tokens, at);
            if is_part_end && at > from {
                self.part(tokens, from, at, &mut found);
            }
            if is_part_end {
                from = at + 1;
            }
            at = match tokens[at].kind {
                TokenKind::Open(close) => close + 1,
                _ => at + 1,
            };
        }
        found
    }

    /// Returns whether a token is a single `=` or `:`, or the end of `=>`.
    fn divides(&self, tokens: &[Token], at: usize) -> bool {
        let is_mark = |at: usize| {
            let near = tokens.get(at).filter(|token| token.kind == TokenKind::Punctuation);
            near.map_or("", |token| self.word(token))
        };
        let touches = |a: usize, b: usize| tokens[a].span.end == tokens[b].span.start;
        match is_mark(at) {
            "=" | ":" => {
                let before = at > 0 && touches(at - 1, at) && !matches!(is_mark(at - 1), "" | ")" | "]" | "}" | ">");
                let after = at + 1 < tokens.len() && touches(at, at + 1) && matches!(is_mark(at + 1), "=" | ":");
                !before && !after
            }
            ">" => at > 0 && is_mark(at - 1) == "=" && touches(at - 1, at),
            _ => false,
        }
    }

    /// Reads a part of a call, which may begin with a few other tokens.
    fn part(&mut self, tokens: &[Token], from: usize, end: usize, found: &mut Beginnings) {
        let last = tokens[end - 1].span.end;
        let is_type = tokens[from..end].iter().any(|token| self.word(token) == "<");
        let mut at = from;
        for _ in 0..MAX_LEADING {
            if at >= end {
                return;
            }
            let span = Span { start: tokens[at].span.start, end: last };
            let inner = span.text(self.text);
            let before = span.start - 1;
            if self.parse_into(&format!("[{inner}];"), before, found) {
                return;
            }
            if is_type && self.parse_into(&format!("<{inner}>::x;"), before, found) {
                return;
            }
            at = match tokens[at].kind {
                TokenKind::Open(close) => close + 1,
                _ => at + 1,
            };
        }
    }

    /// Parses a fragment and adds where its expressions begin.
    fn parse_into(&mut self, piece: &str, offset: u32, found: &mut Beginnings) -> bool {
        let mut tree = Tree::default();
        if !self.parser.parse(piece, offset, &mut tree) || tree.len() <= BRACKETS + 1 {
            return false;
        }
        let tree = Rc::new(tree);
        for at in BRACKETS + 1..tree.next(BRACKETS) {
            let start = tree.node(at).start;
            found.entry(start).or_default().push((Rc::clone(&tree), at));
        }
        true
    }
}

fn fragment_kind(word: &str) -> Fragment {
    match word {
        "expr" | "expr_2021" => Fragment::Expr,
        "ident" => Fragment::Ident,
        "ty" | "path" => Fragment::Type,
        "tt" => Fragment::Tree,
        "literal" => Fragment::Literal,
        "block" => Fragment::Block,
        "lifetime" => Fragment::Lifetime,
        _ => Fragment::Other,
    }
}

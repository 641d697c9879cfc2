//! The values of macro calls: a rule is matched with the call, and its value is inferred with what the call captured.
//!
//! Macros are unhygienic except for local names and `$crate`: a path in a rule is resolved where the macro is called,
//! `$crate` in the crate of the macro. Local names of a rule do not exist any more, because extraction has replaced
//! them by their values, so a captured name always means the caller's.

use std::rc::Rc;

use codecompass_model::{
    Confidence, Expr, ExprId, MacroCall, MacroPart, MacroToken, MacroTree, Resolution, SymbolAt, VersionId,
};

use super::RustResolver;
use super::expressions::ExprSite;
use super::macro_matching::{Captured, MatchResult, match_rule};
use super::modules::Scope;
use super::types::Ty;
use crate::rules::index::Index;

/// The maximum depth of macro calls within macros.
const MAX_EXPANSIONS: u32 = 12;

/// The maximum number of tokens of a call that variables are put into.
const MAX_TOKENS: usize = 2_000;

/// The place of lowered expressions: their file, where their names are resolved, and what their variables are bound to.
pub(super) struct Frame {
    /// The file of the expressions.
    pub(super) file: VersionId,
    /// The outermost call, where names are resolved.
    pub(super) site: ExprSite,
    /// The macro, where `$crate` is resolved.
    home: Option<Scope>,
    pub(super) captures: Vec<(Rc<str>, Captured)>,
    depth: u32,
}

/// An expression and its frame.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) frame: Rc<Frame>,
    pub(super) id: ExprId,
}

/// A token of a call: its own, or one that variables are bound to.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) kind: GivenKind,
    /// The longest expression that begins here.
    pub(super) expr: Option<GivenPart>,
    /// The type that begins here.
    pub(super) ty: Option<GivenPart>,
    /// The lists that it came through, each with its index there.
    pub(super) places: Vec<TokenPlace>,
}

/// A list of tokens, by its address, and an index there.
type TokenPlace = (usize, usize);

/// An expression or type that begins at a token. It is meant only where its tokens are still adjacent.
#[derive(Clone)]
pub(super) struct GivenPart {
    pub(super) value: Value,
    pub(super) tokens: usize,
    pub(super) place: TokenPlace,
}

/// The kinds of tokens of a call.
#[derive(Clone)]
pub(super) enum GivenKind {
    Word(Rc<str>, Value),
    Mark(char),
    Literal(Rc<str>),
    Group(char, Rc<[Given]>),
    /// A captured expression, type or anything else that no token matches.
    Whole,
}

impl Frame {
    /// Creates the frame of expressions outside macros.
    pub(super) fn of_file(file: VersionId, site: ExprSite) -> Rc<Frame> {
        Rc::new(Frame { file, site, home: None, captures: Vec::new(), depth: 0 })
    }

    /// Returns the scope in which a path is resolved.
    pub(super) fn scope_of(&self, names: &[&str]) -> Scope {
        match (names.first(), self.home) {
            (Some(&"$crate"), Some(home)) => home,
            _ => self.site.scope,
        }
    }

    /// Returns what a variable is bound to.
    pub(super) fn captured(&self, name: &str) -> Option<&Captured> {
        self.captures.iter().find(|(known, _)| &**known == name).map(|(_, captured)| captured)
    }
}

impl RustResolver<'_> {
    /// Returns the type of a macro call.
    pub(super) fn expanded(&self, frame: &Rc<Frame>, call: &MacroCall) -> Ty {
        self.find_expanded(frame, call).unwrap_or(Ty::Unknown)
    }

    fn find_expanded(&self, frame: &Rc<Frame>, call: &MacroCall) -> Option<Ty> {
        if frame.depth >= MAX_EXPANSIONS {
            return None;
        }
        let index = self.indexed(frame.file)?;
        let names = path_names(&index, call.path)?;
        let (name, path) = names.split_last()?;
        let path = Some(path).filter(|path| !path.is_empty());
        let scope = frame.scope_of(&names);
        let given = self.substituted(&index, frame, &call.given)?;
        let at = match self.macro_named(scope, name, path, frame.site.line) {
            Resolution::Symbols { targets, confidence: Confidence::Static, .. } if targets.len() == 1 => targets[0],
            Resolution::External => return self.standard_macro(name, &given),
            _ => return None,
        };
        self.matched_value(frame, at, &given)
    }

    /// Returns the type of the value of the first rule that matches.
    fn matched_value(&self, frame: &Rc<Frame>, at: SymbolAt, given: &[Given]) -> Option<Ty> {
        let index = self.indexed(at.file)?;
        let symbol = index.symbol(at.ordinal)?;
        let Expr::Rules(rules) = index.facts().expr(symbol.value?) else { return None };
        for rule in rules {
            let captures = match match_rule(index.facts(), &rule.matcher, given) {
                MatchResult::Match(captures) => captures,
                MatchResult::NoMatch => continue,
                // A later rule might match, but this one might be meant.
                MatchResult::Unsure => return None,
            };
            let home = Some(Scope { file: at.file, symbol: symbol.parent });
            let inner = Frame { file: at.file, site: frame.site, home, captures, depth: frame.depth + 1 };
            return Some(self.lowered(&Rc::new(inner), rule.value?));
        }
        None
    }

    /// Returns the type of a call of a macro of the standard library.
    fn standard_macro(&self, name: &str, given: &[Given]) -> Option<Ty> {
        let first = || {
            let value = &given.first()?.expr.as_ref()?.value;
            Some(self.lowered(&value.frame, value.id))
        };
        match name {
            "vec" => Some(Ty::library("Vec", [first().unwrap_or(Ty::Unknown)])),
            "format" => Some(Ty::library("String", [])),
            "dbg" => first(),
            _ => None,
        }
    }

    /// Puts what variables are bound to into the tokens of a call.
    fn substituted(&self, index: &Index, frame: &Rc<Frame>, trees: &[MacroTree]) -> Option<Vec<Given>> {
        let mut out = Vec::new();
        let mut budget = MAX_TOKENS;
        Substitution { index, frame, budget: &mut budget }.trees(trees, &frame.captures, &mut out)?;
        Some(out)
    }
}

/// Puts what variables are bound to into tokens.
struct Substitution<'i> {
    index: &'i Index,
    frame: &'i Rc<Frame>,
    budget: &'i mut usize,
}

impl Substitution<'_> {
    fn trees(&mut self, trees: &[MacroTree], captures: &[(Rc<str>, Captured)], out: &mut Vec<Given>) -> Option<()> {
        for (number, tree) in trees.iter().enumerate() {
            *self.budget = self.budget.checked_sub(1)?;
            let place = (trees.as_ptr() as usize, number);
            let part = |part: MacroPart| GivenPart {
                value: Value { frame: Rc::clone(self.frame), id: part.expr },
                tokens: part.trees as usize,
                place,
            };
            let (expr, ty) = (tree.expr.map(part), tree.ty.map(part));
            let add = |kind: GivenKind| Given { kind, expr: expr.clone(), ty: ty.clone(), places: vec![place] };
            match &tree.token {
                MacroToken::Word { name, value } => {
                    let value = Value { frame: Rc::clone(self.frame), id: *value };
                    out.push(add(GivenKind::Word(self.index.name(*name).into(), value)));
                }
                MacroToken::Mark(mark) => out.push(add(GivenKind::Mark(*mark))),
                MacroToken::Literal(text) => {
                    let text = text.map_or("", |text| self.index.name(text));
                    out.push(add(GivenKind::Literal(text.into())));
                }
                MacroToken::Group { open, trees } => {
                    let mut inner = Vec::new();
                    Substitution { index: self.index, frame: self.frame, budget: &mut *self.budget }
                        .trees(trees, captures, &mut inner)?;
                    out.push(add(GivenKind::Group(*open, inner.into())));
                }
                MacroToken::Hole(name) => {
                    let name = self.index.name(*name);
                    let (_, captured) = captures.iter().find(|(known, _)| &**known == name)?;
                    let Captured::One(given) = captured else { return None };
                    let mut given = given.clone();
                    given.places.push(place);
                    // An expression that begins with the variable may be longer than what it is bound to.
                    if expr.as_ref().is_some_and(|part| part.tokens > 1) {
                        given.expr = expr;
                    }
                    out.push(given);
                }
                MacroToken::Repeat { trees, separator, .. } => self.repeat(trees, separator, captures, out)?,
                MacroToken::Variable { .. } => return None,
            }
        }
        Some(())
    }

    fn repeat(
        &mut self,
        trees: &[MacroTree],
        separator: &[char],
        captures: &[(Rc<str>, Captured)],
        out: &mut Vec<Given>,
    ) -> Option<()> {
        let mut names = Vec::new();
        MacroTree::visit(trees, &mut |_, name| names.extend(name.map(|name| self.index.name(name).to_owned())));
        let is_used = |name: &str| names.iter().any(|known| known == name);
        let turns = captures.iter().filter(|(name, _)| is_used(name)).find_map(|(_, captured)| match captured {
            Captured::Many(all) => Some(all.len()),
            Captured::One(_) => None,
        })?;
        for turn in 0..turns {
            let of_turn: Vec<_> = captures
                .iter()
                .filter_map(|(name, captured)| match captured {
                    Captured::Many(all) => Some((Rc::clone(name), all.get(turn)?.clone())),
                    Captured::One(_) => Some((Rc::clone(name), captured.clone())),
                })
                .collect();
            if turn > 0 {
                let mark =
                    |&mark: &char| Given { kind: GivenKind::Mark(mark), expr: None, ty: None, places: Vec::new() };
                out.extend(separator.iter().map(mark));
            }
            self.trees(trees, &of_turn, out)?;
        }
        Some(())
    }
}

/// Returns the names of a path.
pub(super) fn path_names(index: &Index, id: ExprId) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut id = id;
    loop {
        match index.facts().expr(id) {
            Expr::Path { of, name } if *of < id => {
                names.push(index.name(*name));
                id = *of;
            }
            Expr::Name { name, .. } => {
                names.push(index.name(*name));
                break;
            }
            _ => return None,
        }
    }
    names.reverse();
    Some(names)
}

//! Lowers the expressions of macros and of their calls.
//!
//! In the value of a rule, a local name is replaced by the value of its `let`: what remains are variables, paths and
//! calls, which mean the same wherever the macro is called.

use codecompass_model::{Expr, ExprId, LexicalTarget, Literal, ValuePart, Wrap};

use super::bindings::elements_of;
use super::kinds::{field as f, kind as k};
use super::macro_facts::Reader;
use crate::draft::Draft;
use crate::text;
use crate::tree::Tree;

/// The maximum nesting of expressions.
const MAX_DEPTH: u32 = 64;

/// The maximum number of arguments, elements and arms to lower.
const MAX_ELEMENTS: usize = 32;

/// The local names that an expression may mention.
pub(super) enum Names<'t> {
    /// None: a path.
    None,
    /// Those that are visible at this node of the walk.
    Visible { node: usize },
    /// Those that the value of a rule has declared so far, with their values.
    Template(Vec<(&'t str, ExprId)>),
}

impl<'t> Names<'t> {
    /// Returns whether variables are bound to captured syntax.
    pub(super) fn has_holes(&self) -> bool {
        matches!(self, Names::Template(_))
    }

    /// Returns a bare name as an expression.
    pub(super) fn value(&self, draft: &mut Draft<'_>, name: &str) -> ExprId {
        if name == "self" {
            return draft.expr(Expr::This);
        }
        match self {
            Names::Visible { node } => draft.name_expr(name, *node),
            Names::Template(known) if let Some((_, value)) = known.iter().rev().find(|(known, _)| *known == name) => {
                *value
            }
            Names::None | Names::Template(_) => {
                let name = draft.word(name);
                draft.expr(Expr::Name { name, seen: LexicalTarget::NotLocal })
            }
        }
    }

    fn declared(&self) -> usize {
        match self {
            Names::Template(known) => known.len(),
            Names::None | Names::Visible { .. } => 0,
        }
    }

    fn forget_after(&mut self, declared: usize) {
        if let Names::Template(known) = self {
            known.truncate(declared);
        }
    }
}

/// Lowers nodes of one tree.
pub(super) struct Lowering<'l, 'r, 't, 'w> {
    pub(super) reader: &'l mut Reader<'r, 't, 'w>,
    pub(super) tree: &'l Tree,
    pub(super) names: &'l mut Names<'t>,
}

impl<'t> Lowering<'_, '_, 't, '_> {
    fn text(&self, at: usize) -> &'t str {
        self.tree.node(at).span().text(self.reader.text)
    }

    fn word(&mut self, at: usize) -> u32 {
        let word = self.text(at);
        self.reader.draft.word(word)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.reader.draft.expr(expr)
    }

    /// Returns the first child that is no comment.
    fn first(&self, at: usize) -> Option<usize> {
        let is_code = |&child: &usize| !matches!(self.tree.kind(child), k::LINE_COMMENT | k::BLOCK_COMMENT);
        self.tree.children(at).find(is_code)
    }

    /// Lowers an expression.
    pub(super) fn expression(&mut self, at: usize) -> ExprId {
        if self.reader.deeper(MAX_DEPTH) {
            let lowered = self.lowered(at);
            self.reader.shallower();
            return lowered.unwrap_or_else(|| self.add(Expr::Other));
        }
        self.add(Expr::Other)
    }

    fn lowered(&mut self, at: usize) -> Option<ExprId> {
        let tree = self.tree;
        let expr = match tree.kind(at) {
            k::IDENTIFIER | k::SELF => return Some(self.names.value(self.reader.draft, self.text(at))),
            k::METAVARIABLE | k::SCOPED_IDENTIFIER => return Some(self.path(at)),
            k::GENERIC_FUNCTION => return tree.child(at, f::FUNCTION).map(|of| self.expression(of)),
            k::PARENTHESIZED => return self.first(at).map(|of| self.expression(of)),
            k::FIELD_EXPRESSION => {
                let of = self.expression(tree.child(at, f::VALUE)?);
                Expr::Member { of, name: self.word(tree.child(at, f::FIELD)?) }
            }
            k::CALL => return self.call(at),
            k::MACRO_CALL => return self.reader.call(tree, at, self.names),
            k::TUPLE => Expr::Tuple(self.list(at)),
            k::ARRAY => Expr::List(self.first(at).map(|of| self.expression(of))?),
            k::REFERENCE => Expr::Wrap { how: Wrap::Ref, of: self.last_expression(at)? },
            k::UNARY if self.text(at).starts_with('*') => {
                Expr::Wrap { how: Wrap::Deref, of: self.last_expression(at)? }
            }
            k::UNARY => return self.last_expression(at),
            k::TRY => Expr::Part { of: self.first(at).map(|of| self.expression(of))?, part: ValuePart::Payload },
            k::AWAIT => {
                let of = self.first(at).map(|of| self.expression(of))?;
                Expr::Member { of, name: self.reader.draft.word("await") }
            }
            k::INDEX => {
                let of = self.expression(self.first(at)?);
                match tree.children(at).last()? {
                    by if tree.kind(by) == k::RANGE => Expr::Slice(of),
                    by => Expr::Index { of, by: [self.expression(by)].into() },
                }
            }
            k::STRUCT_EXPRESSION => Expr::New(self.type_expr(tree.child(at, f::NAME)?)),
            k::CAST => Expr::Cast(self.type_expr(tree.child(at, f::TYPE)?)),
            k::BLOCK => return self.block(at),
            k::UNSAFE => return tree.child_of_kind(at, k::BLOCK).and_then(|block| self.block(block)),
            k::IF => return self.branches(at),
            k::MATCH => return self.arms(at),
            k::STRING | k::RAW_STRING => Expr::Literal(Literal::Text),
            k::INTEGER => Expr::Literal(Literal::Int),
            k::FLOAT => Expr::Literal(Literal::Float),
            k::BOOLEAN => Expr::Literal(Literal::Bool),
            k::CHAR => Expr::Literal(Literal::Char),
            _ => return None,
        };
        Some(self.add(expr))
    }

    fn last_expression(&mut self, at: usize) -> Option<ExprId> {
        let last = self.tree.children(at).last()?;
        Some(self.expression(last))
    }

    fn call(&mut self, at: usize) -> Option<ExprId> {
        let function = self.tree.child(at, f::FUNCTION)?;
        let callee = self.expression(function);
        let list =
            self.tree.children(at).last().filter(|&list| self.tree.node(list).start >= self.tree.node(function).end);
        let args = list.map_or_else(|| [].into(), |list| self.list(list));
        Some(self.add(Expr::Call { callee, args }))
    }

    /// Lowers the elements of a list in brackets. The tree has no nodes for some of them.
    fn list(&mut self, at: usize) -> Box<[ExprId]> {
        let found: Vec<_> =
            elements_of(self.tree, self.reader.text, at, self.tree.node(at).start).take(MAX_ELEMENTS).collect();
        let mut out = Vec::new();
        for (element, index) in found {
            let place = index.map_or(out.len(), |index| (index as usize).min(MAX_ELEMENTS));
            while out.len() < place {
                let gap = self.add(Expr::Other);
                out.push(gap);
            }
            let element = self.expression(element);
            out.push(element);
        }
        out.into()
    }

    /// Lowers a path to a value or a macro.
    pub(super) fn path(&mut self, at: usize) -> ExprId {
        let tree = self.tree;
        match tree.kind(at) {
            k::METAVARIABLE if self.text(at) == "$_" => self.add(Expr::Other),
            k::METAVARIABLE if self.text(at) != "$crate" => {
                let name = self.reader.draft.word(&self.text(at)[1..]);
                self.add(Expr::Hole(name))
            }
            k::SCOPED_IDENTIFIER | k::SCOPED_TYPE => {
                let of = match tree.child(at, f::PATH) {
                    Some(of) => self.path(of),
                    None => Names::None.value(self.reader.draft, ""),
                };
                let Some(name) = tree.child(at, f::NAME) else { return self.add(Expr::Other) };
                let name = self.word(name);
                self.add(Expr::Path { of, name })
            }
            k::GENERIC_TYPE | k::GENERIC_TYPE_TURBOFISH => match tree.child(at, f::TYPE) {
                Some(of) => self.path(of),
                None => self.add(Expr::Other),
            },
            k::IDENTIFIER
            | k::TYPE_IDENTIFIER
            | k::PRIMITIVE_TYPE
            | k::SELF
            | k::SUPER
            | k::CRATE
            | k::METAVARIABLE => {
                let name = self.word(at);
                self.add(Expr::Name { name, seen: LexicalTarget::NotLocal })
            }
            // `<T>::name`.
            crate::tree::OTHER => match tree.children(at).next().filter(|_| tree.children(at).count() == 1) {
                Some(of) => self.path(of),
                None => self.add(Expr::Other),
            },
            _ => self.add(Expr::Other),
        }
    }

    /// Lowers a type.
    pub(super) fn type_expr(&mut self, at: usize) -> ExprId {
        let tree = self.tree;
        match tree.kind(at) {
            k::GENERIC_TYPE | k::GENERIC_TYPE_TURBOFISH if self.reader.deeper(MAX_DEPTH) => {
                let of = self.path(at);
                let is_argument = |&child: &usize| tree.kind(child) != k::LIFETIME;
                let list = tree.children(at).last().filter(|&list| tree.kind(list) == crate::tree::OTHER);
                let args: Vec<usize> = list
                    .into_iter()
                    .flat_map(|list| tree.children(list))
                    .filter(is_argument)
                    .take(MAX_ELEMENTS)
                    .collect();
                let args = args.into_iter().map(|argument| self.type_expr(argument)).collect();
                self.reader.shallower();
                self.add(Expr::Apply { of, args })
            }
            k::REFERENCE_TYPE => match tree.child(at, f::TYPE) {
                Some(of) if self.reader.deeper(MAX_DEPTH) => {
                    let of = self.type_expr(of);
                    self.reader.shallower();
                    self.add(Expr::Wrap { how: Wrap::Ref, of })
                }
                _ => self.add(Expr::Other),
            },
            k::TYPE_IDENTIFIER | k::PRIMITIVE_TYPE | k::SCOPED_TYPE | k::METAVARIABLE | k::IDENTIFIER => self.path(at),
            k::SCOPED_IDENTIFIER => self.path(at),
            _ if self.text(at).contains('$') => self.add(Expr::Other),
            // Like every other type of the language, until they are lowered.
            _ => {
                let written = text::qualifier(self.text(at));
                self.reader.draft.text_as_expr(&written)
            }
        }
    }

    /// Lowers the value of a block.
    fn block(&mut self, at: usize) -> Option<ExprId> {
        let declared = self.names.declared();
        let mut value = None;
        for child in self.tree.children(at) {
            match self.tree.kind(child) {
                k::LET => {
                    self.declare(child);
                    value = None;
                }
                k::LINE_COMMENT | k::BLOCK_COMMENT => {}
                k::EXPRESSION_STATEMENT if self.text(child).ends_with(';') => value = None,
                k::EXPRESSION_STATEMENT => value = self.first(child).map(|of| self.expression(of)),
                _ => value = Some(self.expression(child)),
            }
        }
        let end = self.tree.children(at).last().map(|last| self.tree.node(last).end)?;
        let after = &self.reader.text[end as usize..self.tree.node(at).end as usize];
        self.names.forget_after(declared);
        value.filter(|_| !after.contains(';'))
    }

    fn declare(&mut self, at: usize) {
        let Some(pattern) = self.tree.child(at, f::PATTERN) else { return };
        let value = match (self.tree.child(at, f::TYPE), self.tree.child(at, f::VALUE)) {
            (Some(declared), _) => {
                let declared = self.type_expr(declared);
                self.add(Expr::Cast(declared))
            }
            (None, Some(value)) => self.expression(value),
            (None, None) => self.add(Expr::Other),
        };
        self.bind(pattern, value, 0);
    }

    /// Gives the names of a pattern their parts of a value.
    fn bind(&mut self, at: usize, value: ExprId, depth: u32) {
        let tree = self.tree;
        match tree.kind(at) {
            k::IDENTIFIER => {
                let name = self.text(at);
                if let Names::Template(known) = &mut *self.names {
                    known.push((name, value));
                }
            }
            k::MUT_PATTERN | k::REF_PATTERN | k::REFERENCE_PATTERN => {
                if let Some(inner) = tree.children(at).last() {
                    self.bind(inner, value, depth);
                }
            }
            k::TUPLE_PATTERN if depth == 0 => {
                let parts: Vec<_> =
                    elements_of(tree, self.reader.text, at, tree.node(at).start).take(MAX_ELEMENTS).collect();
                for (part, index) in parts {
                    let own = match index {
                        Some(index) => self.add(Expr::Part { of: value, part: ValuePart::Index(index) }),
                        None => self.add(Expr::Other),
                    };
                    self.bind(part, own, depth + 1);
                }
            }
            k::TUPLE_STRUCT_PATTERN => {
                let is_payload = tree.child(at, f::TYPE).is_some_and(|of| matches!(self.text(of), "Some" | "Ok"));
                let own = match is_payload {
                    true => Expr::Part { of: value, part: ValuePart::Payload },
                    false => Expr::Other,
                };
                let own = self.add(own);
                let parts: Vec<usize> = tree.children(at).skip(1).take(MAX_ELEMENTS).collect();
                for part in parts {
                    self.bind(part, own, depth + 1);
                }
            }
            _ => {
                let other = self.add(Expr::Other);
                let names: Vec<usize> = (at..tree.next(at))
                    .filter(|&inner| matches!(tree.kind(inner), k::IDENTIFIER | k::SHORTHAND_FIELD))
                    .collect();
                for name in names {
                    let name = self.text(name);
                    if let Names::Template(known) = &mut *self.names {
                        known.push((name, other));
                    }
                }
            }
        }
    }

    /// Lowers the branches of an `if`.
    fn branches(&mut self, at: usize) -> Option<ExprId> {
        let tree = self.tree;
        let mut all = Vec::new();
        let parts: Vec<usize> = tree.children(at).collect();
        let binds = parts.iter().any(|&part| (part..tree.next(part)).any(|inner| tree.kind(inner) == k::LET_CONDITION));
        // A pattern in the condition would need its names.
        let (then, otherwise) = (tree.child_of_kind(at, k::BLOCK).filter(|_| !binds), tree.child(at, f::ALTERNATIVE));
        all.extend(then.and_then(|then| self.block(then)));
        let inner = otherwise.and_then(|otherwise| self.first(otherwise));
        all.extend(inner.map(|inner| self.expression(inner)));
        (!all.is_empty()).then(|| self.add(Expr::Either(all.into())))
    }

    /// Lowers the arms of a `match`.
    fn arms(&mut self, at: usize) -> Option<ExprId> {
        let tree = self.tree;
        let matched = self.expression(tree.child(at, f::VALUE)?);
        let body = tree.child(at, f::BODY)?;
        let mut all = Vec::new();
        let arms: Vec<usize> = tree.children(body).filter(|&arm| tree.kind(arm) == k::ARM).take(MAX_ELEMENTS).collect();
        for arm in arms {
            let declared = self.names.declared();
            if let Some(pattern) =
                tree.child_of_kind(arm, k::MATCH_PATTERN).and_then(|pattern| tree.children(pattern).next())
            {
                self.bind(pattern, matched, 0);
            }
            let value = tree.children(arm).last().filter(|&value| tree.kind(value) != k::MATCH_PATTERN);
            all.extend(value.map(|value| self.expression(value)));
            self.names.forget_after(declared);
        }
        (!all.is_empty()).then(|| self.add(Expr::Either(all.into())))
    }
}

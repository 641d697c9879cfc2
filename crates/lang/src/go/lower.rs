//! Go's expressions and types in the arena of facts.
//!
//! Only what somebody asks about is lowered: receivers, declared types, values that names get. Each node is lowered once, so
//! a chain of calls costs its length, however many references stand in it; and a name is looked up as it is seen from its own
//! node. Operators leave no trace: what `a + b` is of, its operands say.

use codecompass_model::{Expr, ExprId, FuncExpr, Literal, Part, Wrap};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::tree::Tree;

/// Deeper nesting is not looked at.
const MAX_DEPTH: u32 = 64;

/// So many new nodes are looked at for one expression.
const MAX_NODES: u32 = 400;

/// What each node was lowered to.
pub(super) struct Lowered(Vec<u32>);

/// Stands for a node that nobody has asked about.
const OPEN: u32 = u32::MAX;

impl Lowered {
    pub(super) fn new(nodes: usize) -> Self {
        Self(vec![OPEN; nodes])
    }
}

/// An expression or a type.
pub(super) fn lower(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    Lowering { walk, left: MAX_NODES, depth: 0 }.node(at)
}

/// What stands in a field of a node.
pub(super) fn lower_field(walk: &mut Walk<'_, '_>, at: usize, field: u8) -> Option<ExprId> {
    let child = walk.tree.child(at, field)?;
    Some(lower(walk, child))
}

/// The type of a function, by the node that has its parameters.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    Lowering { walk, left: MAX_NODES, depth: 0 }.function(at)
}

/// The type of one parameter; of a variadic one, that of the list.
pub(super) fn parameter_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    Lowering { walk, left: MAX_NODES, depth: 0 }.parameter(at)
}

/// A part of a value.
pub(super) fn part(walk: &mut Walk<'_, '_>, of: ExprId, part: Part) -> ExprId {
    match part {
        Part::Whole => of,
        part => walk.draft.expr(Expr::Part { of, part }),
    }
}

struct Lowering<'a, 'w, 't> {
    walk: &'a mut Walk<'w, 't>,
    left: u32,
    depth: u32,
}

impl Lowering<'_, '_, '_> {
    fn node(&mut self, at: usize) -> ExprId {
        let known = self.walk.lowered.0[at];
        if known != OPEN {
            return ExprId(known);
        }
        if self.left == 0 || self.depth >= MAX_DEPTH {
            return self.put(Expr::Other);
        }
        self.left -= 1;
        self.depth += 1;
        let id = self.lowered(at);
        self.depth -= 1;
        self.walk.lowered.0[at] = id.0;
        id
    }

    fn put(&mut self, expr: Expr) -> ExprId {
        self.walk.draft.expr(expr)
    }

    fn lowered(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let expr = match tree.kind(at) {
            k::IDENTIFIER | k::TYPE_IDENTIFIER | k::PACKAGE_IDENTIFIER => return self.name(at),
            k::SELECTOR => return self.member(at, f::OPERAND, f::FIELD),
            k::QUALIFIED_TYPE => return self.member(at, f::PACKAGE, f::NAME),
            k::CALL => return self.call(at),
            k::TYPE_CONVERSION => {
                let callee = self.child(at, f::TYPE);
                Expr::Call { callee, args: Box::default() }
            }
            k::INDEX => {
                let of = self.child(at, f::OPERAND);
                Expr::Index { of, by: Box::new([self.child(at, f::INDEX)]) }
            }
            k::TYPE_INSTANTIATION => {
                let of = self.child(at, f::TYPE);
                let others = tree.children(at).filter(|&child| tree.kind(child) != k::COMMENT).skip(1);
                Expr::Index { of, by: others.map(|other| self.node(other)).collect() }
            }
            k::GENERIC_TYPE => {
                let of = self.child(at, f::TYPE);
                let args = tree.child_of_kind(at, k::TYPE_ARGUMENTS).map_or_else(Box::default, |list| self.list(list));
                Expr::Apply { of, args }
            }
            k::SLICE => Expr::Slice(self.first(at)),
            k::TYPE_ASSERTION => Expr::Cast(self.child(at, f::TYPE)),
            k::UNARY => return self.unary(at),
            k::BINARY => return self.binary(at),
            k::PARENTHESIZED
            | k::PARENTHESIZED_TYPE
            | k::TYPE_ELEMENT
            | k::TYPE_CONSTRAINT
            | k::NEGATED_TYPE
            | k::VARIADIC_ARGUMENT => return self.first(at),
            k::COMPOSITE_LITERAL => Expr::New(self.child(at, f::TYPE)),
            k::FUNCTION_LITERAL => Expr::Lambda(self.function(at)),
            k::POINTER_TYPE => Expr::Wrap { how: Wrap::Deref, of: self.first(at) },
            k::ARRAY_TYPE | k::SLICE_TYPE | k::IMPLICIT_ARRAY_TYPE => Expr::List(self.child(at, f::ELEMENT)),
            k::MAP_TYPE => Expr::Map { key: self.child(at, f::KEY), value: self.child(at, f::VALUE) },
            k::CHANNEL_TYPE => Expr::Wrap { how: Wrap::Channel, of: self.child(at, f::VALUE) },
            k::FUNCTION_TYPE => return self.function(at),
            // The empty interface has another name, and all that is known of both is that.
            k::INTERFACE_TYPE if items(tree, at).next().is_none() => return self.walk.draft.name_expr("any", at),
            k::STRUCT_TYPE | k::INTERFACE_TYPE => Expr::Inline(tree.node(at).span()),
            k::STRING | k::RAW_STRING => Expr::Literal(Literal::Text),
            k::INT | k::IOTA => Expr::Literal(Literal::Int),
            k::FLOAT | k::IMAGINARY => Expr::Literal(Literal::Float),
            k::RUNE => Expr::Literal(Literal::Char),
            k::TRUE | k::FALSE => Expr::Literal(Literal::Bool),
            k::NIL => Expr::Literal(Literal::Null),
            _ => Expr::Other,
        };
        self.put(expr)
    }

    fn name(&mut self, at: usize) -> ExprId {
        let name = self.walk.draft.slice(self.walk.tree.node(at).span());
        self.walk.draft.name_expr(name, at)
    }

    fn member(&mut self, at: usize, of: u8, name: u8) -> ExprId {
        let of = self.child(at, of);
        let Some(name) = self.walk.tree.child(at, name) else { return self.put(Expr::Other) };
        let name = self.walk.draft.name(self.walk.tree.node(name).span());
        self.put(Expr::Member { of, name })
    }

    /// A call; the type arguments of a generic function stand between its name and what it is given.
    fn call(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let mut callee = self.child(at, f::FUNCTION);
        if let Some(list) = tree.child_of_kind(at, k::TYPE_ARGUMENTS) {
            let by = self.list(list);
            callee = self.put(Expr::Index { of: callee, by });
        }
        let args = tree.child(at, f::ARGUMENTS).map_or_else(Box::default, |list| self.list(list));
        self.put(Expr::Call { callee, args })
    }

    fn unary(&mut self, at: usize) -> ExprId {
        let operator = self.walk.draft.slice(self.walk.tree.node(at).span());
        let expr = match () {
            () if operator.starts_with('*') => Expr::Wrap { how: Wrap::Deref, of: self.first(at) },
            () if operator.starts_with("&") => Expr::Wrap { how: Wrap::Ref, of: self.first(at) },
            () if operator.starts_with("<-") => Expr::Part { of: self.first(at), part: Part::Element },
            () if operator.starts_with('!') => Expr::Literal(Literal::Bool),
            () => return self.first(at),
        };
        self.put(expr)
    }

    /// Operands with operators between them. Long sums lean to the left, so the way down is a loop.
    fn binary(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let (mut at, mut rights) = (at, Vec::new());
        let mut whole = loop {
            let mut operands = items(tree, at);
            let both = (operands.next(), operands.next());
            let (k::BINARY, (Some(left), Some(right))) = (tree.kind(at), both) else { break self.node_or_other(at) };
            let between = tree.node(left).end as usize..tree.node(right).start as usize;
            let operator = self.walk.draft.text.get(between).unwrap_or("").trim();
            if compares(operator) {
                break self.put(Expr::Literal(Literal::Bool));
            }
            if !shifts(operator) {
                rights.push(right);
            }
            at = left;
        };
        // The type of a computation is that of the operand that is no plain number or text.
        for right in rights.into_iter().rev() {
            if matches!(self.walk.draft.expr_at(whole), Expr::Literal(of) if *of != Literal::Bool) {
                whole = self.node(right);
            }
        }
        whole
    }

    /// A node that is no operator with two operands.
    fn node_or_other(&mut self, at: usize) -> ExprId {
        if self.walk.tree.kind(at) == k::BINARY { self.put(Expr::Other) } else { self.node(at) }
    }

    /// A function's type. Two names before one type are two parameters.
    fn function(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let mut of = FuncExpr { params: Vec::new(), variadic: false, results: Vec::new() };
        if let Some(list) = tree.child(at, f::PARAMETERS) {
            of.params = self.parameters(list);
            let last = items(tree, list).last();
            of.variadic = last.is_some_and(|last| tree.kind(last) == k::VARIADIC_PARAMETER);
        }
        of.results = match tree.child(at, f::RESULT) {
            Some(list) if tree.kind(list) == k::PARAMETERS => self.parameters(list),
            Some(one) => vec![self.node(one)],
            None => Vec::new(),
        };
        self.put(Expr::Func(Box::new(of)))
    }

    fn parameters(&mut self, list: usize) -> Vec<ExprId> {
        let tree = self.walk.tree;
        let mut found = Vec::new();
        for parameter in items(tree, list) {
            let Some(of) = self.parameter(parameter) else { continue };
            let names = tree.children(parameter).filter(|&child| tree.node(child).field == f::NAME).count();
            found.extend(std::iter::repeat_n(of, names.max(1)));
        }
        found
    }

    fn parameter(&mut self, at: usize) -> Option<ExprId> {
        let of = self.walk.tree.child(at, f::TYPE)?;
        let of = self.node(of);
        let is_variadic = self.walk.tree.kind(at) == k::VARIADIC_PARAMETER;
        Some(if is_variadic { self.put(Expr::List(of)) } else { of })
    }

    /// What stands in a field.
    fn child(&mut self, at: usize, field: u8) -> ExprId {
        match self.walk.tree.child(at, field) {
            Some(child) => self.node(child),
            None => self.put(Expr::Other),
        }
    }

    /// The first of what stands in a node.
    fn first(&mut self, at: usize) -> ExprId {
        match items(self.walk.tree, at).next() {
            Some(first) => self.node(first),
            None => self.put(Expr::Other),
        }
    }

    fn list(&mut self, at: usize) -> Box<[ExprId]> {
        let tree = self.walk.tree;
        items(tree, at).map(|item| self.node(item)).collect()
    }
}

/// What stands in a node, comments left out.
fn items(tree: &Tree, at: usize) -> impl Iterator<Item = usize> + '_ {
    super::locals::items(tree, Some(at))
}

/// Whether an operator gives true or false. A comment may follow it.
fn compares(operator: &str) -> bool {
    let known = ["&&", "||", "==", "!=", "<=", ">=", "<", ">"];
    !shifts(operator) && known.iter().any(|known| operator.starts_with(known))
}

fn shifts(operator: &str) -> bool {
    operator.starts_with("<<") || operator.starts_with(">>")
}

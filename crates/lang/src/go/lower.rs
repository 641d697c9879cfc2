//! Lowers Go's expressions and types into the arena of the facts.
//!
//! Only expressions that the resolver needs are lowered: receivers, declared types, values of names. Each node is
//! lowered once, so a chain of calls costs its length, regardless of the number of references in it; and a name is
//! resolved at its own node. Operators are not stored: the operands determine the type of `a + b`.

use codecompass_model::{Expr, ExprId, FuncExpr, Literal, ValuePart, Wrap};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::tree::Tree;

/// The maximum nesting.
const MAX_DEPTH: u32 = 64;

/// The maximum number of new nodes per expression, not counting the steps of its chain.
const MAX_NODES_PER_EXPR: u32 = 400;

/// The maximum length of a chain that is lowered by recursion.
const MAX_RECURSIVE_CHAIN: usize = 8;

/// The lowered expression of each node.
pub(super) struct Lowered(Vec<u32>);

/// Marks a node that is not yet lowered.
const NOT_LOWERED: u32 = u32::MAX;

impl Lowered {
    pub(super) fn new(nodes: usize) -> Self {
        Self(vec![NOT_LOWERED; nodes])
    }
}

/// Lowers an expression or a type. A long chain is lowered from its first step on, so each step finds the previous one.
pub(super) fn lower(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let steps = chain(walk, at);
    for &step in steps.iter().skip(1).rev().filter(|_| steps.len() > MAX_RECURSIVE_CHAIN) {
        Lowering { walk: &mut *walk, nodes_left: MAX_NODES_PER_EXPR, depth: 0 }.node(step);
    }
    Lowering { walk, nodes_left: MAX_NODES_PER_EXPR, depth: 0 }.node(at)
}

/// Returns a node and its chain of receivers and callees, from the outside in, up to the first that is already lowered.
fn chain(walk: &Walk<'_, '_>, at: usize) -> Vec<usize> {
    let tree = walk.tree;
    let before = |&at: &usize| match tree.kind(at) {
        k::SELECTOR | k::INDEX => tree.child(at, f::OPERAND),
        k::CALL => tree.child(at, f::FUNCTION),
        _ => None,
    };
    let is_open = |at: &usize| walk.lowered.0[*at] == NOT_LOWERED;
    std::iter::successors(Some(at), before).take_while(is_open).collect()
}

/// Lowers the child in a field of a node.
pub(super) fn lower_field(walk: &mut Walk<'_, '_>, at: usize, field: u8) -> Option<ExprId> {
    let child = walk.tree.child(at, field)?;
    Some(lower(walk, child))
}

/// Returns the type of a function, by the node that has its parameters.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    Lowering { walk, nodes_left: MAX_NODES_PER_EXPR, depth: 0 }.function(at)
}

/// Returns the type of one parameter; for a variadic one, that of the list.
pub(super) fn parameter_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    Lowering { walk, nodes_left: MAX_NODES_PER_EXPR, depth: 0 }.parameter(at)
}

/// Returns a part of a value.
pub(super) fn part(walk: &mut Walk<'_, '_>, of: ExprId, part: ValuePart) -> ExprId {
    match part {
        ValuePart::Whole => of,
        part => walk.draft.expr(Expr::Part { of, part }),
    }
}

struct Lowering<'a, 'w, 't> {
    walk: &'a mut Walk<'w, 't>,
    nodes_left: u32,
    depth: u32,
}

impl Lowering<'_, '_, '_> {
    fn node(&mut self, at: usize) -> ExprId {
        let known = self.walk.lowered.0[at];
        if known != NOT_LOWERED {
            return ExprId(known);
        }
        if self.nodes_left == 0 || self.depth >= MAX_DEPTH {
            return self.intern(Expr::Other);
        }
        self.nodes_left -= 1;
        self.depth += 1;
        let id = self.lowered(at);
        self.depth -= 1;
        self.walk.lowered.0[at] = id.0;
        id
    }

    fn intern(&mut self, expr: Expr) -> ExprId {
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
                // The grammar also parses `f[T](x)` as a conversion; then the argument adds information.
                let may_call = tree.child(at, f::TYPE).is_some_and(|of| tree.kind(of) == k::GENERIC_TYPE);
                let args =
                    if may_call { Box::new([self.child(at, f::OPERAND)]) as Box<[ExprId]> } else { Box::default() };
                Expr::Call { callee, args }
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
            // The empty interface has another name, and nothing else is known about either.
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
        self.intern(expr)
    }

    fn name(&mut self, at: usize) -> ExprId {
        let name = self.walk.draft.slice(self.walk.tree.node(at).span());
        self.walk.draft.name_expr(name, at)
    }

    fn member(&mut self, at: usize, of: u8, name: u8) -> ExprId {
        let of = self.child(at, of);
        let Some(name) = self.walk.tree.child(at, name) else { return self.intern(Expr::Other) };
        let name = self.walk.draft.name(self.walk.tree.node(name).span());
        self.intern(Expr::Member { of, name })
    }

    /// Lowers a call; the type arguments of a generic function are between its name and its arguments.
    fn call(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let mut callee = self.child(at, f::FUNCTION);
        if let Some(list) = tree.child_of_kind(at, k::TYPE_ARGUMENTS) {
            let by = self.list(list);
            callee = self.intern(Expr::Index { of: callee, by });
        }
        let args = tree.child(at, f::ARGUMENTS).map_or_else(Box::default, |list| self.list(list));
        self.intern(Expr::Call { callee, args })
    }

    fn unary(&mut self, at: usize) -> ExprId {
        let operator = self.walk.draft.slice(self.walk.tree.node(at).span());
        let expr = match () {
            () if operator.starts_with('*') => Expr::Wrap { how: Wrap::Deref, of: self.first(at) },
            () if operator.starts_with("&") => Expr::Wrap { how: Wrap::Ref, of: self.first(at) },
            () if operator.starts_with("<-") => Expr::Part { of: self.first(at), part: ValuePart::Element },
            () if operator.starts_with('!') => Expr::Literal(Literal::Bool),
            () => return self.first(at),
        };
        self.intern(expr)
    }

    /// Lowers operands with operators between them. Long sums nest to the left, so the descent is a loop.
    fn binary(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let (mut at, mut rights) = (at, Vec::new());
        let mut whole = loop {
            let mut operands = items(tree, at);
            let both = (operands.next(), operands.next());
            let (k::BINARY, (Some(left), Some(right))) = (tree.kind(at), both) else { break self.node_or_other(at) };
            let between = tree.node(left).end as usize..tree.node(right).start as usize;
            let operator = self.walk.draft.text.get(between).unwrap_or("").trim();
            if is_comparison(operator) {
                break self.intern(Expr::Literal(Literal::Bool));
            }
            if !is_shift(operator) {
                rights.push(right);
            }
            at = left;
        };
        // The type of a computation is that of the operand that is not an untyped number or string.
        for right in rights.into_iter().rev() {
            if matches!(self.walk.draft.expr_at(whole), Expr::Literal(of) if *of != Literal::Bool) {
                whole = self.node(right);
            }
        }
        whole
    }

    /// Lowers a node that is not a binary operator.
    fn node_or_other(&mut self, at: usize) -> ExprId {
        if self.walk.tree.kind(at) == k::BINARY { self.intern(Expr::Other) } else { self.node(at) }
    }

    /// Lowers a function's type. Two names before one type are two parameters.
    fn function(&mut self, at: usize) -> ExprId {
        let tree = self.walk.tree;
        let mut of = FuncExpr::default();
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
        self.intern(Expr::Func(Box::new(of)))
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
        Some(if is_variadic { self.intern(Expr::List(of)) } else { of })
    }

    /// Lowers the child in a field.
    fn child(&mut self, at: usize, field: u8) -> ExprId {
        match self.walk.tree.child(at, field) {
            Some(child) => self.node(child),
            None => self.intern(Expr::Other),
        }
    }

    /// Lowers the first child of a node.
    fn first(&mut self, at: usize) -> ExprId {
        match items(self.walk.tree, at).next() {
            Some(first) => self.node(first),
            None => self.intern(Expr::Other),
        }
    }

    fn list(&mut self, at: usize) -> Box<[ExprId]> {
        let tree = self.walk.tree;
        items(tree, at).map(|item| self.node(item)).collect()
    }
}

/// Returns the children of a node without comments.
fn items(tree: &Tree, at: usize) -> impl Iterator<Item = usize> + '_ {
    super::locals::items(tree, Some(at))
}

/// Returns whether an operator yields a boolean. A comment may follow it.
fn is_comparison(operator: &str) -> bool {
    let known = ["&&", "||", "==", "!=", "<=", ">=", "<", ">"];
    !is_shift(operator) && known.iter().any(|known| operator.starts_with(known))
}

fn is_shift(operator: &str) -> bool {
    operator.starts_with("<<") || operator.starts_with(">>")
}

#[cfg(test)]
mod tests {
    use codecompass_model::{Expr, ExprId, FileFacts, LexicalTarget};

    /// Returns the facts of a function that assigns a value to `x`.
    fn facts_of(value: &str) -> FileFacts {
        let text = format!("package p\nfunc f[T any](a A, b *B, c chan C, list ...L) {{\n\tx := {value}\n}}\n");
        crate::extract("p.go", text.into_bytes()).facts
    }

    fn value_of(facts: &FileFacts) -> ExprId {
        let x = facts.bindings.iter().find(|binding| facts.name(binding.name) == "x").expect("because x is bound");
        x.value.expect("because x has a value")
    }

    #[test]
    fn lowering_keeps_type_relevant_structure() {
        let table = [
            ("a.b.c", "a.b.c"),
            ("a.b(c, \"x\").d()", "a.b(c, \"…\").d()"),
            ("(a)", "a"),
            ("a /* why */ . b", "a.b"),
            ("&B{Name: 1}", "&B{…}"),
            ("[]*pkg.T{{}, {}}", "[]*pkg.T{…}"),
            ("map[string][]T{}", "map[string][]T{…}"),
            ("*b", "*b"),
            ("<-c", "c#element"),
            ("!a.ok()", "true"),
            ("-a", "a"),
            ("a.(pkg.T)", "(… as pkg.T)"),
            ("list[0]", "list[0]"),
            ("list[1:]", "list[:]"),
            ("f[int](a)", "f[int](a)"),
            ("pkg.Map[K, V](a)", "pkg.Map[K, V](a)"),
            ("[]byte(a)", "[]byte()"),
            ("make(chan T, 1)", "make(chan T, 0)"),
            ("func(n, m int, rest ...string) (T, error) { return g() }", "func(int, int, []string...) (T, error) {…}"),
            ("a == b && c", "true"),
            ("1 + 2 + a.n + b.m", "a.n"),
            ("\"x\" + \"y\"", "\"…\""),
            ("1 << a", "0"),
            ("nil", "nil"),
            ("struct{ n int }{1}", "{…}{…}"),
            ("interface{}(a)", "any()"),
        ];
        for (value, expected) in table {
            let facts = facts_of(value);
            assert_eq!(facts.render_expr(value_of(&facts)), expected, "{value}");
        }
    }

    #[test]
    fn names_resolve_at_their_position() {
        let text = "package p\nfunc f(a A) {\n\ta := a.b\n\ttype A struct{}\n\tvar y A\n\tfor _, a := range a {\n\t\tz := a\n\t}\n}\n";
        let facts = crate::extract("p.go", text.as_bytes().to_vec()).facts;
        let seen = |name: &str, line: u32| {
            let of = facts.bindings.iter().find(|of| of.line == line && facts.name(of.name) == name).expect(name);
            let mut id = of.annotation.or(of.value).expect("because it has a type or a value");
            while let Expr::Member { of, .. } = facts.expr(id) {
                id = *of;
            }
            match facts.expr(id) {
                Expr::Name { seen: LexicalTarget::Local(of), .. } => {
                    format!("line {}", facts.bindings[*of as usize].line)
                }
                Expr::Name { seen: LexicalTarget::Symbol(of), .. } => {
                    facts.symbols[*of as usize].qualified_name.clone()
                }
                other => format!("{other:?}"),
            }
        };
        // The parameter has the package's type; the assigned value comes from it; the later type is the function's own.
        assert!(seen("a", 2).contains("NotLocal"));
        assert_eq!(seen("a", 3), "line 2");
        assert_eq!(seen("y", 5), "p.f.A");
        assert_eq!((seen("a", 6), seen("z", 7)), ("line 3".to_owned(), "line 6".to_owned()));
    }

    #[test]
    fn long_chains_are_lowered_once() {
        let chain = format!("a{}", ".step(1)".repeat(300));
        let facts = facts_of(&chain);
        // A member and a call for each step, and little else: no step occurs twice.
        assert!(facts.exprs.len() < 640, "{}", facts.exprs.len());
        let last = facts.references.iter().rfind(|of| facts.name(of.name) == "step").expect("because it has steps");
        let mut steps = 0;
        let mut id = last.qualifier.expect("because a step has a receiver");
        while let Expr::Call { callee: of, .. } | Expr::Member { of, .. } = facts.expr(id) {
            id = *of;
            steps += 1;
        }
        assert_eq!((steps, facts.render_expr(id).as_str()), (2 * 299, "a"));
        for open in ["(", "f(", "*", "[]T{", "-", "a["] {
            facts_of(&open.repeat(3000));
        }
    }
}

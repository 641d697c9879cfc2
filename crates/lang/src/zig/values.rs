//! Lowers expressions and types of Zig.

use codecompass_model::{Expr, ExprId, Literal};

use super::containers;
use super::hooks::imported;
use crate::spec::Walk;

/// Maximum number of branches read in one expression.
const MAX_BRANCHES: usize = 8;

/// Builtins that return numbers, strings or nothing.
const BASIC_BUILTINS: &[&str] = &[
    "@intFromEnum",
    "@intFromPtr",
    "@intFromBool",
    "@intFromFloat",
    "@intCast",
    "@floatCast",
    "@floatFromInt",
    "@truncate",
    "@sizeOf",
    "@bitSizeOf",
    "@alignOf",
    "@offsetOf",
    "@bitOffsetOf",
    "@min",
    "@max",
    "@abs",
    "@mod",
    "@rem",
    "@divFloor",
    "@divExact",
    "@divTrunc",
    "@tagName",
    "@typeName",
    "@errorName",
    "@embedFile",
    "@hasDecl",
    "@hasField",
    "@typeInfo",
    "@popCount",
    "@clz",
    "@ctz",
    "@byteSwap",
    "@bitReverse",
    "@log2",
    "@sqrt",
    "@floor",
    "@ceil",
    "@round",
    "@splat",
    "@returnAddress",
    "@src",
    "@memcpy",
    "@memset",
    "@panic",
    "@compileError",
    "@compileLog",
    "@cImport",
];

/// Returns the value of a builtin.
pub(super) fn builtin(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    if let Some(module) = imported(walk, at) {
        let module = walk.draft.word(module);
        return walk.draft.expr(Expr::Module(module));
    }
    let Some(name) = walk.child_of(at, "builtin_identifier") else { return walk.other() };
    let first = walk.child_of(at, "arguments").and_then(|list| walk.items(list).next());
    match (walk.text(name), first) {
        ("@This", _) => containers::this(walk, at),
        ("@as" | "@unionInit", Some(of)) => {
            let of = walk.lower(of);
            walk.draft.expr(Expr::Cast(of))
        }
        ("@constCast" | "@volatileCast" | "@TypeOf", Some(of)) => walk.lower(of),
        (name, _) if BASIC_BUILTINS.contains(&name) => walk.draft.expr(Expr::Literal(Literal::Int)),
        _ => walk.other(),
    }
}

/// A type that is a keyword; some keywords accept any type.
pub(super) fn builtin_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.text(at) {
        "type" | "anytype" | "anyopaque" | "anyerror" => walk.other(),
        name => walk.draft.name_expr(name, at),
    }
}

/// `*T` has the members of `T`; `[*]T` is a list.
pub(super) fn pointer(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.items(at).last() else { return walk.other() };
    let is_list = walk.text(at).starts_with('[');
    let of = walk.lower(of);
    if is_list { walk.draft.expr(Expr::List(of)) } else { of }
}

/// The type of a function.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let result = walk.child(at, "type").filter(|&result| walk.text(result) != "type");
    walk.function_type(walk.child_of(at, "parameters"), result)
}

/// A call: the callee, followed by its arguments.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(callee) = walk.child(at, "function") else { return walk.other() };
    let args: Vec<usize> = walk.items(at).filter(|&item| item != callee).collect();
    let callee = walk.lower(callee);
    let args = args.into_iter().map(|arg| walk.lower(arg)).collect();
    walk.draft.expr(Expr::Call { callee, args })
}

/// `a[i]`, and `a[i..j]`, which is a list again.
pub(super) fn index(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(of), Some(by)) = (walk.child(at, "object"), walk.child(at, "index")) else { return walk.other() };
    let is_range = walk.kind(by) == "range_expression";
    let of = walk.lower(of);
    if is_range {
        return walk.draft.expr(Expr::Slice(of));
    }
    let by = Box::new([walk.other()]);
    walk.draft.expr(Expr::Index { of, by })
}

/// `a orelse b` is either operand; a comparison is a boolean; otherwise the first operand determines the type.
pub(super) fn binary(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return walk.other() };
    let between = walk.tree.node(left).end as usize..walk.tree.node(right).start as usize;
    match walk.draft.text.get(between).unwrap_or("").trim() {
        "orelse" => one_of(walk, vec![left, right]),
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "and" | "or" => walk.draft.expr(Expr::Literal(Literal::Bool)),
        _ => walk.lower(left),
    }
}

/// The values of the branches of `if`.
pub(super) fn branches(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let condition = walk.child(at, "condition");
    let all = walk.items(at).filter(|&item| Some(item) != condition && walk.kind(item) != "payload");
    let all = all.take(MAX_BRANCHES).collect();
    one_of(walk, all)
}

/// The values of the cases of `switch`.
pub(super) fn cases(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let cases = walk.items(at).filter(|&item| walk.kind(item) == "switch_case").take(MAX_BRANCHES);
    let all = cases.filter_map(|case| walk.items(case).last()).collect();
    one_of(walk, all)
}

fn one_of(walk: &mut Walk<'_, '_>, all: Vec<usize>) -> ExprId {
    let all: Box<[ExprId]> = all.into_iter().map(|one| walk.lower(one)).collect();
    match &*all {
        [] => walk.other(),
        [only] => *only,
        _ => walk.draft.expr(Expr::Either(all)),
    }
}

//! Language-specific hooks of Lua: names are defined by expressions, and functions are values.

use codecompass_model::{
    BindingKind, Expr, ExprId, Flags, Import, ImportForm, LexicalTarget, RefShape, SymbolKind, ValuePart, Visibility,
};

use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// A function with a name: `function f()`, `local function f()`, `function M.f()`, `function M:m()`.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let is_local = walk.text(at).starts_with("local");
    define_function(walk, at, name, at, is_local);
    at + 1
}

/// Defines a function under a name that is an expression; `function` is the node with its parameters and body.
fn define_function(walk: &mut Walk<'_, '_>, at: usize, name: usize, function: usize, is_local: bool) {
    let (leaf, of) = match walk.kind(name) {
        "identifier" => (Some(name), None),
        "dot_index_expression" => (walk.child(name, "field"), walk.child(name, "table")),
        "method_index_expression" => (walk.child(name, "method"), walk.child(name, "table")),
        _ => (None, None),
    };
    let Some(leaf) = leaf else { return };
    let owner = of.map(|of| walk.lower(of));
    let segment = of.map(|of| format!("{}.{}", table_path(walk.text(of)), walk.text(leaf)));
    let is_method = walk.kind(name) == "method_index_expression";
    // A name that was declared as local stays local.
    let is_local = of.is_none() && (is_local || is_local_name(walk, leaf));
    let (visibility, flags) = match is_local {
        true => (Some(Visibility::Private), Flags::BLOCK_ONLY),
        false => (None, Flags::default()),
    };
    let symbol = walk.define(
        at,
        Definition {
            segment: segment.as_deref(),
            body: walk.child(function, "body"),
            owner,
            flags: flags | Flags::TAKES_SELF.when(is_method),
            visibility,
            end: walk.tree.next(at),
            ..Definition::new(if of.is_some() { SymbolKind::Method } else { SymbolKind::Fn }, leaf)
        },
    );
    if let Some(symbol) = symbol.filter(|_| is_local) {
        // A value does not see the name that it is assigned to.
        let from = if function == at { at } else { walk.tree.next(at) };
        walk.draft.declare(walk.tree.node(leaf).span(), symbol, from);
    }
    walk.open_function(function, symbol);
    if let Some(symbol) = symbol {
        let of = walk.function_type(None, None);
        walk.draft.annotate_symbol(symbol, of, owner);
    }
}

/// Whether a name is a local variable or a local function.
fn is_local_name(walk: &mut Walk<'_, '_>, name: usize) -> bool {
    let span = walk.tree.node(name).span();
    walk.draft.lexical_target(span, name) != LexicalTarget::NotLocal
}

/// A block; the block of `repeat` ends after its condition, which sees the block's locals.
pub(super) fn block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "repeat_statement" {
        walk.scope(at);
    }
    at + 1
}

/// Returns the path of a table; for any other expression, its last name.
fn table_path(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let other = text.trim_end().rfind(|c: char| !is_part(c)).map_or(0, |at| at + 1);
    text.get(other..).unwrap_or(text).trim().trim_start_matches('.')
}

/// An anonymous function, unless its context has named it.
pub(super) fn unnamed_function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if !walk.is_open_function(at) {
        walk.open_function(at, None);
    }
    at + 1
}

/// Returns the type of a function as a value.
pub(super) fn function_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let params = walk.child(at, "parameters").map_or(0, |list| walk.items(list).count() as u32);
    walk.draft.expr(Expr::Closure { params, back: None })
}

/// Binds the parameters of a function; a first parameter named `self` gets the receiver as its value.
pub(super) fn parameters(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    let this = names.first().copied().filter(|&first| walk.text(first) == "self");
    for name in names {
        let binding = walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
        // A function that declares its receiver by name is an ordinary method.
        if let (Some(binding), true) = (binding, this == Some(name)) {
            let value = walk.draft.expr(Expr::This);
            walk.draft.set_binding_value(binding, value);
        }
    }
    at + 1
}

/// `local a, b = x, y`: symbols at file level, local bindings in functions.
pub(super) fn local(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(inner) = walk.items(at).next() else { return at + 1 };
    let (names, values) = match walk.kind(inner) {
        "assignment_statement" => assignment_sides(walk, inner),
        _ => (walk.items(inner).filter(|&item| walk.kind(item) == "identifier").collect(), Vec::new()),
    };
    assign(walk, at, &names, &values, true);
    at + 1
}

/// `a, b.c = x, y`.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "variable_declaration" {
        let (names, values) = assignment_sides(walk, at);
        assign(walk, at, &names, &values, false);
    }
    at + 1
}

/// Returns the names and the values of an assignment.
fn assignment_sides(walk: &Walk<'_, '_>, at: usize) -> (Vec<usize>, Vec<usize>) {
    let list = |kind: &str| walk.child_of(at, kind).map_or_else(Vec::new, |list| walk.items(list).collect());
    let names: Vec<usize> = list("variable_list");
    (names.into_iter().filter(|&name| walk.kind(name) != "attribute").collect(), list("expression_list"))
}

fn assign(walk: &mut Walk<'_, '_>, at: usize, names: &[usize], values: &[usize], is_local: bool) {
    let in_function = walk.is_local(at);
    // `local ok, m = pcall(require, "m")`: the second value is the module.
    let shift = usize::from(values.first().is_some_and(|&first| walk.text(first).starts_with("pcall(require")));
    for (n, &name) in names.iter().enumerate() {
        let value = n.checked_sub(shift).and_then(|n| values.get(n)).copied();
        if let Some(value) = value {
            require(walk, value, name);
        }
        let is_name = walk.kind(name) == "identifier";
        let is_known = is_name && !is_local && is_local_name(walk, name);
        match value {
            // A function assigned to a name gets that name.
            Some(value) if walk.kind(value) == "function_definition" && names.len() == 1 && !is_known => {
                define_function(walk, at, name, value, is_local);
            }
            value if is_local && in_function => {
                if let Some(binding) =
                    walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at))
                    && let Some(value) = value
                {
                    walk.defer_binding_value(binding, value);
                }
            }
            // A global name, or a file-level local, at its first assignment.
            value if is_name && (is_local || !in_function) && !is_known => variable(walk, at, name, value, is_local),
            Some(value) if walk.kind(name) == "dot_index_expression" && !in_function => {
                assign_table_field(walk, at, name, value);
            }
            _ => {}
        }
    }
}

/// `M.x = value` at file level: a field of the table.
fn assign_table_field(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: usize) {
    let (Some(leaf), Some(of)) = (walk.child(name, "field"), walk.child(name, "table")) else { return };
    let segment = format!("{}.{}", table_path(walk.text(of)), walk.text(leaf));
    let owner = Some(walk.lower(of));
    let is_table = walk.kind(value) == "table_constructor";
    let end = if is_table { walk.tree.next(at) } else { 0 };
    let field = Definition {
        segment: Some(&segment),
        value: Some(value),
        owner,
        end,
        ..Definition::new(SymbolKind::Field, leaf)
    };
    walk.define(at, field);
}

fn variable(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: Option<usize>, is_local: bool) {
    let visibility = Some(if is_local { Visibility::Private } else { Visibility::Public });
    let flags = Flags::BLOCK_ONLY.when(is_local);
    // The functions in a table belong to it.
    let is_table = value.is_some_and(|value| walk.kind(value) == "table_constructor");
    let end = if is_table { walk.tree.next(at) } else { 0 };
    let symbol =
        walk.define(at, Definition { value, visibility, flags, end, ..Definition::new(SymbolKind::Var, name) });
    // A variable is not visible in its own value: `local table = table`.
    if let Some(symbol) = symbol.filter(|_| is_local) {
        walk.draft.declare(walk.tree.node(name).span(), symbol, walk.tree.next(at));
    }
}

/// `f = function() … end` in a table.
pub(super) fn table_field(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(name), Some(value)) = (walk.child(at, "name"), walk.child(at, "value")) else { return at + 1 };
    // The key of `[f] = 1` is an expression.
    if walk.kind(name) != "identifier" || walk.text(at).starts_with('[') {
        return at + 1;
    }
    match walk.kind(value) {
        "function_definition" => {
            let body = walk.child(value, "body");
            let end = walk.tree.next(at);
            let symbol = walk.define(at, Definition { body, end, ..Definition::new(SymbolKind::Method, name) });
            walk.open_function(value, symbol);
            if let Some(symbol) = symbol {
                let of = walk.function_type(None, None);
                walk.draft.annotate_symbol(symbol, of, None);
            }
        }
        kind if !walk.is_local(at) && walk.draft.enclosing().is_some_and(|around| is_table(around.kind)) => {
            let end = if kind == "table_constructor" { walk.tree.next(at) } else { 0 };
            walk.define(at, Definition { value: Some(value), end, ..Definition::new(SymbolKind::Field, name) });
        }
        // The key of a table without a known name.
        _ => {
            walk.roles.mark(Some(name), Role::Declares);
            walk.draft.mark_label(walk.tree.node(name).span());
        }
    }
    at + 1
}

fn is_table(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Var | SymbolKind::Field)
}

/// `for k, v in pairs(t) do`.
pub(super) fn loop_names(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.child_of(at, "variable_list").map_or_else(Vec::new, |list| walk.items(list).collect());
    for name in names {
        walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at));
    }
    at + 1
}

/// `for i = 1, 10 do`.
pub(super) fn loop_number(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at));
    }
    at + 1
}

/// The first value that a function or the file returns.
pub(super) fn returns(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let first = walk.child_of(at, "expression_list").and_then(|list| walk.items(list).next());
    if let Some(first) = first {
        walk.defer_return(first);
    }
    at + 1
}

/// A call of a name, of a member, or of the result of a call.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(callee) = walk.child(at, "name") else { return at + 1 };
    let name = walk.name_node(callee);
    let shape = match walk.kind(callee) {
        "identifier" => RefShape::Call,
        _ if walk.child(callee, "table").is_some_and(|of| walk.text(of) == "self") => RefShape::SelfCall,
        _ => RefShape::MemberCall,
    };
    walk.roles.mark(name, Role::Refers(shape));
    if walk.kind(walk.parent(at)) != "expression_list" {
        require(walk, at, at);
    }
    at + 1
}

/// Returns the name of the module that an expression loads.
fn required<'t>(walk: &Walk<'_, 't>, at: usize) -> Option<(&'t str, usize)> {
    let callee = walk.child(at, "name").filter(|_| walk.kind(at) == "function_call")?;
    let first = walk.child(at, "arguments").and_then(|list| walk.items(list).next())?;
    let (callee, first) = match walk.text(callee) {
        "require" => (callee, first),
        // `pcall(require, "a")` loads the module, too.
        "pcall" if walk.text(first) == "require" => {
            (first, walk.child(at, "arguments").and_then(|list| walk.items(list).nth(1))?)
        }
        _ => return None,
    };
    let content = walk.child(first, "content").filter(|_| walk.kind(first) == "string")?;
    Some((walk.text(content), callee))
}

/// Adds an import if an expression loads a module.
fn require(walk: &mut Walk<'_, '_>, at: usize, name: usize) {
    let Some((module, _)) = required(walk, at) else { return };
    let alias = (walk.kind(name) == "identifier").then(|| walk.text(name).to_owned());
    walk.draft.import(Import {
        module: module.to_owned(),
        name: None,
        alias,
        glob: false,
        reexport: false,
        form: ImportForm::Require,
        line: walk.draft.line(walk.tree.node(at).start),
        symbol: walk.draft.enclosing_index(),
    });
}

/// The value of a call. `require` returns the value that the module returns.
pub(super) fn call_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    if let Some((module, _)) = required(walk, at) {
        let module = walk.draft.word(module);
        return walk.draft.expr(Expr::Module(module));
    }
    let Some(callee) = walk.child(at, "name") else { return walk.other() };
    if walk.text(callee) == "setmetatable" {
        return with_metatable(walk, at);
    }
    let callee = walk.lower(callee);
    let args = walk.child(at, "arguments").map_or_else(Box::default, |list| walk.lower_all(list));
    walk.draft.expr(Expr::Call { callee, args })
}

/// `setmetatable(t, m)`: either the `__index` of `m` (or `m` itself without one), or `t`.
fn with_metatable(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let list: Vec<usize> = walk.child(at, "arguments").map_or_else(Vec::new, |list| walk.items(list).collect());
    let (Some(&table), Some(&meta)) = (list.first(), list.get(1)) else { return walk.other() };
    let is_index = |field: &usize| walk.child(*field, "name").is_some_and(|name| walk.text(name) == "__index");
    let index = walk.items(meta).find(|field| walk.kind(*field) == "field" && is_index(field));
    let meta = index.and_then(|field| walk.child(field, "value")).unwrap_or(meta);
    let both = Box::new([walk.lower(meta), walk.lower(table)]);
    walk.draft.expr(Expr::Either(both))
}

/// `a or b` is either operand, `a and b` the second; any other result has no members.
pub(super) fn binary(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return walk.other() };
    let between = walk.tree.node(left).end as usize..walk.tree.node(right).start as usize;
    match walk.draft.text.get(between).unwrap_or("").trim() {
        "or" => {
            let both = Box::new([walk.lower(left), walk.lower(right)]);
            walk.draft.expr(Expr::Either(both))
        }
        "and" => walk.lower(right),
        _ => walk.other(),
    }
}

/// A table literal.
pub(super) fn table(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    walk.draft.expr(Expr::Inline(walk.tree.node(at).span()))
}

/// A name; `self` is the receiver of a method.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let is_self = walk.text(at) == "self" && !walk.draft.is_local(walk.tree.node(at).span());
    if is_self { walk.draft.expr(Expr::This) } else { walk.name_expr(at) }
}

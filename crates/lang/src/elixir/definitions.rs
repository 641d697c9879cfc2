//! Calls that define something: modules, functions, structs and tests.

use codecompass_model::{BindingKind, Expr, ExprId, Flags, FuncExpr, Import, ImportForm, Span, SymbolKind, Visibility};

use super::patterns::{self, operator};
use super::{attributes, imports, modules};
use crate::spec::{Definition, Walk};

/// Maximum number of parameters that distinguish functions.
const MAX_PARAMS: usize = 32;

/// Returns the first argument of a call.
pub(super) fn first_argument(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    walk.child_of(at, "arguments").and_then(|list| walk.items(list).next())
}

/// Returns the options after the arguments of a call.
fn options(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    walk.child_of(at, "arguments").and_then(|list| walk.child_of(list, "keywords"))
}

/// `defmodule A.B do`, `defprotocol`, `defimpl P, for: T do`.
pub(super) fn module(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    let Some(name) = first_argument(walk, at).filter(|&name| matches!(walk.kind(name), "alias" | "dot")) else {
        return;
    };
    // `defmodule __MODULE__.Inner`.
    let name = walk.child(name, "right").unwrap_or(name);
    let text = walk.text(name);
    let body = walk.child_of(at, "do_block");
    let end = walk.tree.next(at);
    let named = Some(modules::last_part(text, walk.tree.node(name).start));
    let outer = walk.noted("__MODULE__").unwrap_or("").to_owned();
    let (kind, whole) = match word {
        "defimpl" => {
            let protocol = modules::module_named(walk, name).unwrap_or_else(|| text.to_owned());
            let of = options(walk, at).and_then(|options| imports::option(walk, options, "for"));
            let of = of.and_then(|of| modules::module_named(walk, of)).unwrap_or_else(|| outer.clone());
            (SymbolKind::Impl, if of.is_empty() { protocol } else { [&protocol, ".", &of].concat() })
        }
        _ if outer.is_empty() => (SymbolKind::Module, text.to_owned()),
        _ => (SymbolKind::Module, [&outer, ".", text].concat()),
    };
    let kind = if word == "defprotocol" { SymbolKind::Interface } else { kind };
    let segment = if kind == SymbolKind::Impl { whole.as_str() } else { text };
    let doc = body.and_then(|body| attributes::module_doc(walk, body));
    if kind == SymbolKind::Impl {
        // The name is a reference to the protocol; the block has no name of its own.
        let place =
            Definition { name_span: named, doc, segment: Some(segment), body, end, ..Definition::new(kind, at) };
        walk.define(at, place);
    } else {
        walk.define(
            at,
            Definition { name_span: named, doc, segment: Some(segment), body, end, ..Definition::new(kind, name) },
        );
        // In the enclosing module, the first part of its name suffices.
        let (first, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        if !outer.is_empty() {
            walk.note(walk.tree.next(walk.parent(at)), first, whole.strip_suffix(rest).unwrap_or(&whole));
        }
    }
    walk.note(end, "__MODULE__", &whole);
}

/// Returns the head of a function: its name and its parameter list.
fn head(walk: &Walk<'_, '_>, at: usize) -> (Option<usize>, Option<usize>) {
    let mut at = at;
    if walk.kind(at) == "binary_operator" && operator(walk, at) == "when" {
        at = walk.child(at, "left").unwrap_or(at);
    }
    match walk.kind(at) {
        "identifier" => (Some(at), None),
        "call" => {
            let name = walk.child(at, "target").filter(|&name| walk.kind(name) == "identifier");
            (name.filter(|&name| walk.text(name) != "unquote"), walk.child_of(at, "arguments"))
        }
        // `def a + b`.
        "binary_operator" | "unary_operator" => (None, Some(at)),
        _ => (None, None),
    }
}

/// `def f(a, b \\ 1) when a > 1 do` and similar definitions.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    let Some(first) = first_argument(walk, at) else { return };
    let (name, params) = head(walk, first);
    let options = options(walk, at);
    let body = walk.child_of(at, "do_block").or(options);
    let is_private = matches!(word, "defp" | "defmacrop" | "defguardp");
    let kind = match word {
        "def" | "defp" | "defdelegate" => SymbolKind::Fn,
        _ => SymbolKind::Macro,
    };
    let is_open = body.is_none() && matches!(word, "def" | "defmacro");
    let symbol = name.and_then(|name| {
        let new = Definition {
            body,
            visibility: is_private.then_some(Visibility::Private),
            flags: Flags::ABSTRACT.when(is_open),
            doc: attributes::doc_of(walk, at),
            end: walk.tree.next(at),
            ..Definition::new(kind, name)
        };
        walk.define(at, new)
    });
    walk.open_function(at, symbol);
    if let (Some(symbol), true) = (symbol, name.is_some()) {
        let of = signature_type(walk, params);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    if let Some(params) = params {
        patterns::bind(walk, params, BindingKind::Param, at);
    }
}

/// Returns the signature type of a function. Parameters with a default are optional.
pub(super) fn signature_type(walk: &mut Walk<'_, '_>, params: Option<usize>) -> ExprId {
    let all: Vec<usize> = params.map_or_else(Vec::new, |params| walk.items(params).take(MAX_PARAMS).collect());
    let is_given = |param: &&usize| walk.kind(**param) == "binary_operator" && operator(walk, **param) == "\\\\";
    let optional = all.iter().filter(is_given).count();
    let other = walk.other();
    let mut of = FuncExpr { params: vec![other; all.len() - optional], variadic: optional > 0, ..FuncExpr::default() };
    if optional > 0 {
        let rest = walk.draft.expr(Expr::List(other));
        of.params.push(rest);
    }
    walk.draft.expr(Expr::Func(Box::new(of)))
}

/// `defstruct [:a, b: 1]`, `defexception [:message]`: fields.
pub(super) fn fields(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(first) = first_argument(walk, at) else { return };
    let lists: Vec<usize> = walk.child_of(first, "keywords").into_iter().chain([first]).collect();
    let mut keys = Vec::new();
    for list in lists {
        for item in walk.items(list) {
            match walk.kind(item) {
                "atom" => keys.push((item, item)),
                "pair" => keys.extend(walk.child(item, "key").map(|key| (item, key))),
                _ => {}
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    for (item, key) in keys {
        let named = Some(modules::key_span(walk, key));
        let value = walk.child(item, "value");
        walk.define(item, Definition { name_span: named, value, ..Definition::new(SymbolKind::Field, key) });
    }
}

/// `using do` of a test case template: a macro that runs where the template is used. It also imports the test runner's
/// macros.
pub(super) fn using(walk: &mut Walk<'_, '_>, at: usize, name: usize) {
    let Some(body) = walk.child_of(at, "do_block") else { return };
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body: Some(body), end, ..Definition::new(SymbolKind::Macro, name) });
    walk.draft.import(Import {
        module: "ExUnit.Case".to_owned(),
        name: None,
        alias: None,
        glob: true,
        reexport: false,
        form: ImportForm::Dynamic,
        line: walk.draft.line(walk.tree.node(at).start),
        symbol: walk.draft.enclosing_index(),
    });
    walk.open_function(at, symbol);
    if let Some(context) = first_argument(walk, at) {
        patterns::bind(walk, context, BindingKind::Param, at);
    }
}

/// `test "title", %{conn: conn} do`, `describe "title" do`, `setup %{conn: conn} do`.
pub(super) fn test(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    let (Some(list), Some(body)) = (walk.child_of(at, "arguments"), walk.child_of(at, "do_block")) else { return };
    let given: Vec<usize> = walk.items(list).take(3).collect();
    let title = given.first().copied().filter(|&title| walk.kind(title) == "string" && word != "setup");
    if let Some(title) = title {
        let Span { start, end } = walk.tree.node(title).span();
        let is_plain = walk.text(title).len() > 2 && !walk.text(title).starts_with("\"\"\"");
        let named = Some(Span { start: start + 1, end: end - 1 }).filter(|_| is_plain);
        if let Some(named) = named {
            let end = walk.tree.next(at);
            let new = Definition {
                name_span: Some(named),
                body: Some(body),
                end,
                ..Definition::new(SymbolKind::Test, title)
            };
            walk.define(at, new);
        }
    }
    walk.scope(at);
    let context = given.into_iter().find(|&item| Some(item) != title && walk.kind(item) != "keywords");
    if let Some(context) = context {
        patterns::bind(walk, context, BindingKind::Param, at);
    }
}

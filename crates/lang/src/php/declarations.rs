//! Language-specific hooks for declarations and local bindings of PHP.

use codecompass_model::BindingKind::{Local, Param};
use codecompass_model::{Expr, ExprId, Flags, Import, ImportForm, RefShape, SymbolKind, ValuePart, Visibility};

use super::docs;
use crate::draft::{ExprInput, NewBinding, NewSymbol, SymbolExtras};
use crate::spec::table::Bind;
use crate::spec::{Definition, Find, Walk, bind};
use crate::text;

/// A parameter.
pub(super) const PARAMETER: Bind = bind(Param, Find::Grandchild("variable_name", "name"))
    .of_type(Find::Field("type"))
    .value(Find::Field("default_value"));

/// A variadic parameter.
pub(super) const VARIADIC: Bind =
    bind(Param, Find::Grandchild("variable_name", "name")).of_type(Find::Field("type")).variadic();

/// `namespace A\B;`: the prefix of all qualified names after it.
pub(super) fn namespace(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else {
        walk.draft.set_prefix(String::new());
        return at + 1;
    };
    let whole: String = walk.text(name).split_whitespace().collect();
    walk.draft.set_prefix(whole);
    let parts: Vec<usize> = walk.items(name).collect();
    for part in parts {
        walk.draft.reference(walk.tree.node(part).span(), RefShape::Import, None);
    }
    walk.tree.next(name)
}

/// `use A\B;`, `use function A\f;`, `use A\{B, C as D};`: symbols and imports.
pub(super) fn uses(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let group = walk.child(at, "body").or_else(|| walk.child_of(at, "namespace_use_group"));
    let before = group.and_then(|_| walk.child_of(at, "namespace_name"));
    let before: String = before.map_or_else(String::new, |name| walk.text(name).split_whitespace().collect());
    let is_types = !matches!(word(walk.text(at), 1), "function" | "const");
    let clauses: Vec<usize> =
        walk.items(group.unwrap_or(at)).filter(|&item| walk.kind(item) == "namespace_use_clause").collect();
    for clause in clauses {
        let is_types = is_types && !matches!(word(walk.text(clause), 0), "function" | "const");
        one_use(walk, clause, &before, is_types);
    }
    walk.tree.next(at)
}

fn word(text: &str, place: usize) -> &str {
    text.split_whitespace().nth(place).unwrap_or("")
}

fn one_use(walk: &mut Walk<'_, '_>, clause: usize, before: &str, is_types: bool) {
    let alias = walk.child(clause, "alias");
    let path = walk.items(clause).find(|&item| matches!(walk.kind(item), "name" | "qualified_name"));
    let Some(path) = path else { return };
    let written: String = walk.text(path).split_whitespace().collect();
    let whole = [before, written.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\\");
    let whole = whole.trim_start_matches('\\');
    let last = if walk.kind(path) == "name" { Some(path) } else { walk.child_of(path, "name") };
    let Some(named) = alias.or(last) else { return };
    let (module, name) = whole.rsplit_once('\\').unwrap_or(("", whole));
    let node = walk.tree.node(clause);
    let shown = walk.text(named);
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: shown,
            segment: shown,
            separator: "\\",
            impl_trait: None,
            signature: text::signature(&["use ", walk.text(clause)].concat()),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(named).span(),
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras::default(),
            is_test: false,
        },
        0,
    );
    walk.draft.import(Import {
        module: module.to_owned(),
        name: Some(name.to_owned()),
        alias: alias.map(|alias| walk.text(alias).to_owned()),
        glob: false,
        reexport: false,
        form: if is_types { ImportForm::TypeOnly } else { ImportForm::Static },
        line: walk.draft.line(node.start),
        symbol: None,
    });
}

/// `require 'a.php';`.
pub(super) fn include(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let inner = at + 1..walk.tree.next(at);
    if let Some(path) = inner.rev().find(|&inner| walk.kind(inner) == "string_content") {
        let import = Import {
            module: walk.text(path).trim_start_matches('/').to_owned(),
            name: None,
            alias: None,
            glob: false,
            reexport: false,
            form: ImportForm::Require,
            line: walk.draft.line(walk.tree.node(at).start),
            symbol: walk.draft.enclosing_index(),
        };
        walk.draft.import(import);
    }
    at + 1
}

/// `define('A', 1)` at file level.
pub(super) fn define_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_define = walk.child(at, "function").is_some_and(|name| walk.text(name) == "define");
    if !is_define || walk.is_local(at) {
        return at + 1;
    }
    let first = walk.child(at, "arguments").and_then(|list| walk.items(list).next());
    let text = first.and_then(|argument| walk.items(argument).next()).filter(|&text| walk.kind(text) == "string");
    if let Some(name) = text.and_then(|text| walk.child_of(text, "string_content")) {
        walk.define(at, Definition::new(SymbolKind::Const, name));
    }
    at + 1
}

/// An anonymous class: its methods have the base types of the class.
pub(super) fn anonymous_class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(body) = walk.child(at, "body") {
        walk.unnamed.push((walk.tree.next(body), at));
    }
    at + 1
}

/// `use T;` in a class.
pub(super) fn traits(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> =
        walk.items(at).filter(|&item| matches!(walk.kind(item), "name" | "qualified_name" | "relative_name")).collect();
    for item in items {
        let base = walk.lower(item);
        walk.draft.add_base(base);
    }
    at + 1
}

/// A case is a value of the enclosing enum.
pub(super) fn constant(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(walk.parent(at));
    if let (Some(name), Some(symbol)) = (walk.child(around, "name"), walk.draft.enclosing_index())
        && walk.draft.enclosing().is_some_and(|open| open.kind == SymbolKind::Variant)
    {
        let name = walk.text(name);
        let of = super::hooks::nonlocal_name(walk, name);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// Whether a declared type does not determine its element type.
fn is_vague_type(walk: &Walk<'_, '_>, of: Option<usize>) -> bool {
    of.is_none_or(|of| matches!(walk.text(of), "array" | "iterable" | "?array" | "mixed" | "object"))
}

/// The type of a property from its doc comment.
pub(super) fn property_doc(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let declared = walk.child(walk.parent(at), "type");
    let Some(symbol) = walk.draft.enclosing_index().filter(|_| is_vague_type(walk, declared)) else { return at + 1 };
    let open = walk.draft.enclosing().filter(|open| open.kind == SymbolKind::Property);
    let Some(doc) = open.and_then(|open| open.doc).map(|doc| walk.draft.slice(doc)) else { return at + 1 };
    if let Some(of) = docs::tagged(doc, "@var", None).and_then(|of| docs::type_of(walk, of)) {
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// A function or a method; its result type may be in its doc comment.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let kind = match walk.kind(at) {
        "function_definition" => SymbolKind::Fn,
        _ if walk.text(name).eq_ignore_ascii_case("__construct") => SymbolKind::Constructor,
        _ => SymbolKind::Method,
    };
    let body = walk.child(at, "body");
    let flags = Flags::ABSTRACT.when(body.is_none());
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body, flags, end, ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    let Some(symbol) = symbol else { return at + 1 };
    let declared = walk.child(at, "return_type");
    let doc = walk.draft.enclosing().and_then(|open| open.doc).map(|doc| walk.draft.slice(doc));
    let said = doc.filter(|_| is_vague_type(walk, declared)).and_then(|doc| docs::tagged(doc, "@return", None));
    let said = said.and_then(|said| docs::type_of(walk, said));
    let of = walk.function_type(walk.child(at, "parameters"), declared);
    let of = match said {
        Some(said) => with_result(walk, of, said),
        None => of,
    };
    walk.draft.annotate_symbol(symbol, of, None);
    at + 1
}

/// Returns the type of a function with another result.
fn with_result(walk: &mut Walk<'_, '_>, of: ExprId, result: ExprId) -> ExprId {
    let Expr::Func(of) = walk.draft.expr_at(of) else { return of };
    let mut of = of.clone();
    of.results = vec![result];
    walk.draft.expr(Expr::Func(of))
}

/// A parameter; its type may be in the doc comment of the function.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let row = if walk.kind(at) == "variadic_parameter" { &VARIADIC } else { &PARAMETER };
    let Some(binding) = walk.bind_row(at, row) else { return at + 1 };
    let declared = walk.child(at, "type");
    let name = walk.find(at, row.name).map_or("", |name| walk.text(name));
    let doc = walk.draft.enclosing().and_then(|open| open.doc).filter(|_| is_vague_type(walk, declared));
    let doc = doc.map(|doc| walk.draft.slice(doc));
    if let Some(of) = doc.and_then(|doc| docs::tagged(doc, "@param", Some(name))).and_then(|of| docs::type_of(walk, of))
    {
        let of = if row.variadic { walk.draft.expr(Expr::List(of)) } else { of };
        walk.draft.set_bound(binding, of);
    }
    at + 1
}

/// `private A $a` among constructor parameters: also a property.
pub(super) fn promoted(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.find(at, PARAMETER.name) else { return at + 1 };
    parameter(walk, at);
    let annotation = walk.child(at, "type").map(|of| walk.lower(of));
    let class = walk.draft.enclosing_class_index();
    if class.is_some() {
        let new = Definition { annotation, parent: class, ..Definition::new(SymbolKind::Property, name) };
        walk.define(at, new);
    }
    at + 1
}

/// `$a = b`: a new local binding.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return at + 1 };
    let next = walk.tree.next(at);
    match walk.kind(left) {
        "variable_name" => {
            let Some(name) = walk.child_of(left, "name") else { return at + 1 };
            let doc = docs::doc_comment_before(walk, walk.tree.node(at).start);
            let said = doc.and_then(|doc| docs::tagged(doc, "@var", Some(walk.text(name))));
            let said = said.and_then(|said| docs::type_of(walk, said));
            if let Some(binding) = walk.bind_as(name, Local, said, ValuePart::Whole, next) {
                walk.defer_binding_value(binding, right);
            }
        }
        "list_literal" | "array_creation_expression" => bind_all(walk, left, next),
        _ => {}
    }
    at + 1
}

/// `$a ??= b` may be the first occurrence of a variable.
pub(super) fn augmented(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk
        .child(at, "left")
        .and_then(|left| walk.child_of(left, "name").filter(|_| walk.kind(left) == "variable_name"));
    if let (Some(name), Some(right)) = (name, walk.child(at, "right"))
        && !walk.draft.is_local(walk.tree.node(name).span())
        && let Some(binding) = walk.bind_as(name, Local, None, ValuePart::Whole, walk.tree.next(at))
    {
        walk.defer_binding_value(binding, right);
    }
    at + 1
}

/// Binds all variables of a pattern, with unknown types.
fn bind_all(walk: &mut Walk<'_, '_>, pattern: usize, from: usize) {
    for at in pattern..walk.tree.next(pattern) {
        let is_target = matches!(walk.kind(walk.parent(at)), "list_literal" | "by_ref" | "pair" | "");
        if let Some(name) = walk.child_of(at, "name").filter(|_| walk.kind(at) == "variable_name" && is_target) {
            walk.bind_as(name, Local, None, ValuePart::Whole, from);
        }
    }
}

/// `foreach ($all as $key => $one)`.
pub(super) fn foreach(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).take(2).collect();
    let &[over, target] = items.as_slice() else { return at + 1 };
    let from = walk.tree.next(target);
    let one = match walk.kind(target) {
        "pair" => walk.items(target).last(),
        _ => Some(target),
    };
    let key = walk.items(target).next().filter(|_| walk.kind(target) == "pair");
    let key = key.and_then(|key| walk.child_of(key, "name"));
    if let Some(key) = key {
        walk.bind_as(key, Local, None, ValuePart::Whole, from);
    }
    let Some(mut one) = one else { return at + 1 };
    if walk.kind(one) == "by_ref" {
        one = walk.items(one).next().unwrap_or(one);
    }
    match walk.child_of(one, "name").filter(|_| walk.kind(one) == "variable_name") {
        Some(name) => {
            let doc = docs::doc_comment_before(walk, walk.tree.node(at).start);
            let said = doc.and_then(|doc| docs::tagged(doc, "@var", Some(walk.text(name))));
            let said = said.and_then(|said| docs::type_of(walk, said));
            if let Some(binding) = walk.bind_as(name, Local, said, ValuePart::Element, from) {
                walk.defer_binding_value(binding, over);
            }
        }
        None => bind_all(walk, one, from),
    }
    at + 1
}

/// `global $a;`.
pub(super) fn global(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter_map(|item| walk.child_of(item, "name")).collect();
    for name in names {
        walk.bind_as(name, Local, None, ValuePart::Whole, at);
    }
    at + 1
}

/// In the body of `if ($a instanceof B)` the variable has that type, and after the statement it has its previous type
/// again. After `if (!$a instanceof B) return;` it has that type.
pub(super) fn narrowed(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let statement = walk.parent(at);
    let condition = walk.child(statement, "condition").and_then(|of| walk.items(of).next());
    let Some((mut test, is_body)) =
        condition.filter(|_| walk.child(statement, "body") == Some(at)).map(|of| (of, true))
    else {
        return at + 1;
    };
    let is_not = walk.kind(test) == "unary_op_expression" && walk.text(test).starts_with('!') && is_body;
    if is_not {
        test = walk.items(test).next().unwrap_or(test);
        if walk.kind(test) == "parenthesized_expression" {
            test = walk.items(test).next().unwrap_or(test);
        }
    }
    let after = walk.tree.next(statement);
    let Some((name, of)) = instance(walk, test) else { return at + 1 };
    let span = walk.tree.node(name).span();
    let old = walk.name_expr(name);
    let of = walk.lower(of);
    let mut bind = |annotation, value, from| {
        walk.draft.bind(NewBinding { name: span, kind: Local, annotation, value, part: ValuePart::Whole, from });
    };
    if !is_not {
        bind(Some(ExprInput::Expr(of)), None, at);
        bind(None, Some(ExprInput::Expr(old)), after);
    } else if always_exits(walk, at) {
        walk.draft.bind(NewBinding {
            name: span,
            kind: Local,
            annotation: Some(ExprInput::Expr(of)),
            value: None,
            part: ValuePart::Whole,
            from: after,
        });
    }
    at + 1
}

/// Returns the variable and the type of the first test in a condition.
fn instance(walk: &Walk<'_, '_>, mut test: usize) -> Option<(usize, usize)> {
    // A chain of tests nests to the left.
    for _ in 0..MAX_TESTS {
        let (left, right) = (walk.child(test, "left")?, walk.child(test, "right")?);
        let between = walk.tree.node(left).end as usize..walk.tree.node(right).start as usize;
        match walk.draft.text.get(between).unwrap_or("").trim() {
            "instanceof" => {
                let name = walk.child_of(left, "name").filter(|_| walk.kind(left) == "variable_name")?;
                let is_type = matches!(walk.kind(right), "name" | "qualified_name");
                return (is_type && walk.text(name) != "this").then_some((name, right));
            }
            "&&" => test = left,
            _ => return None,
        }
    }
    None
}

/// Maximum number of tests read in one condition.
const MAX_TESTS: usize = 8;

/// Whether a block always exits the enclosing one.
fn always_exits(walk: &Walk<'_, '_>, block: usize) -> bool {
    let Some(last) = walk.items(block).last() else { return false };
    match walk.kind(last) {
        "return_statement" | "continue_statement" => true,
        "expression_statement" => walk.items(last).next().is_some_and(|inner| walk.kind(inner) == "throw_expression"),
        _ => false,
    }
}

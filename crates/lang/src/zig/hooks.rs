//! Language-specific hooks of Zig: declarations, captures, calls, `@import`.

use codecompass_model::{BindingKind, Expr, Import, ImportForm, RefShape, SymbolKind, ValuePart};

use super::containers::{self, is_container};
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// `const a = b`, `var a: T = b`, `const a, const b = c` and `_ = a`: symbols in containers, local bindings in blocks.
pub(super) fn variable(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of_type = walk.child(at, "type");
    let mut names = Vec::new();
    let mut value = None;
    let mut end = walk.tree.node(at).start;
    let items: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) != "pub").collect();
    for item in items {
        let node = walk.tree.node(item);
        let between = walk.draft.text.get(end as usize..node.start as usize).unwrap_or("");
        let is_name = walk.kind(item) == "identifier" && Some(item) != of_type;
        if value.is_none() && between.contains('=') {
            value = Some(item);
        } else if is_name && value.is_none() && declares(between) {
            names.push(item);
        }
        end = node.end;
    }
    let is_member = is_container(walk.kind(walk.parent(at)));
    let annotation = of_type.map(|of| walk.lower(of));
    let is_alone = names.len() == 1;
    for name in names {
        match value.filter(|_| is_alone).and_then(|value| containers::container_kind(walk.kind(value))) {
            Some(kind) => container(walk, at, name, value, kind),
            None if is_member => {
                let is_const = !walk.text(at).split_whitespace().take(4).any(|word| word == "var");
                let kind = if is_const { SymbolKind::Const } else { SymbolKind::Var };
                let end = walk.tree.next(at);
                let value = value.filter(|_| is_alone);
                walk.define(at, Definition { annotation, value, end, ..Definition::new(kind, name) });
            }
            None => {
                let binding = walk.bind_as(
                    name,
                    BindingKind::Local,
                    annotation.filter(|_| is_alone),
                    ValuePart::Whole,
                    walk.tree.next(at),
                );
                if let (Some(binding), Some(value)) = (binding, value.filter(|_| is_alone)) {
                    walk.defer_binding_value(binding, value);
                }
            }
        }
    }
    at + 1
}

/// Whether the words before a name declare it.
fn declares(words: &str) -> bool {
    words.split_whitespace().next_back().is_some_and(|word| matches!(word, "const" | "var"))
}

/// A constant that is a type.
fn container(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: Option<usize>, kind: SymbolKind) {
    let first =
        value.and_then(|value| walk.tree.children(value).find(|&inner| containers::is_member(walk.kind(inner))));
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body: first, end, ..Definition::new(kind, name) });
    if let (Some(value), Some(symbol)) = (value, symbol) {
        containers::record_container(walk, value, symbol);
    }
}

/// A function. A function that returns `type` is a generic type: a call of it is the type that it returns.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let body = walk.child(at, "body");
    let around = walk.kind(walk.parent(at));
    let kind = match body {
        None => SymbolKind::Prototype,
        Some(_) if around == "source_file" || !is_container(around) => SymbolKind::Fn,
        Some(_) => SymbolKind::Method,
    };
    let end = walk.tree.next(at);
    let symbol = walk
        .child(at, "name")
        .and_then(|name| walk.define(at, Definition { body, end, ..Definition::new(kind, name) }));
    let result = walk.child(at, "type");
    let makes_types = result.is_some_and(|result| walk.text(result) == "type");
    if makes_types && symbol.is_some() {
        // Names in the returned type are looked up from here.
        let unknown = walk.other();
        walk.draft.add_base(unknown);
    }
    walk.open_function(at, symbol.filter(|_| makes_types));
    let list = walk.child_of(at, "parameters");
    let params: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    for param in params {
        // The type of a parameter may be a previous parameter.
        let annotation = walk.child(param, "type").map(|of| walk.lower(of));
        if let Some(name) = walk.child(param, "name") {
            // A function that returns a type is generic, and all its parameters are type parameters.
            let kind = if makes_types { BindingKind::TypeParam } else { BindingKind::Param };
            walk.bind_as(name, kind, annotation.filter(|_| !makes_types), ValuePart::Whole, param);
        }
    }
    if let Some(symbol) = symbol {
        let of = walk.function_type(list, result.filter(|_| !makes_types));
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// A block at container level: its result is not used.
pub(super) fn block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.open_function(at, None);
    at + 1
}

/// `|x|`: binds the value of a condition, the elements of a loop, or the payload of a switch case.
pub(super) fn payload(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    let is_first = walk.child_of(around, "payload") == Some(at);
    let mut values = Vec::new();
    let mut part = ValuePart::Whole;
    match walk.kind(around) {
        "if_statement" | "if_expression" | "if_type_expression" | "while_statement" | "while_expression"
            if is_first =>
        {
            values.extend(walk.child(around, "condition").map(|of| walk.lower(of)));
        }
        "for_statement" | "for_expression" if is_first => {
            let lists: Vec<usize> = walk.items(around).take_while(|&item| item != at).collect();
            let lists = lists.into_iter().filter(|&item| walk.kind(item) != "block_label").collect::<Vec<_>>();
            values.extend(lists.into_iter().map(|list| walk.lower(list)));
            part = ValuePart::Element;
        }
        "switch_case" => values.extend(case_payload(walk, around, at)),
        _ => {}
    }
    for (n, name) in names.into_iter().enumerate() {
        let binding = walk.bind_as(name, BindingKind::Local, None, part, at);
        if let (Some(binding), Some(&value)) = (binding, values.get(n)) {
            walk.draft.set_binding_value(binding, value);
        }
    }
    at + 1
}

/// Returns the payload of a union case: the field that the case names.
fn case_payload(walk: &mut Walk<'_, '_>, case: usize, payload: usize) -> Option<codecompass_model::ExprId> {
    let items: Vec<usize> = walk.items(case).take_while(|&item| item != payload).take(2).collect();
    let [only] = items.as_slice() else { return None };
    let name = walk.child(*only, "member").filter(|_| walk.child(*only, "object").is_none())?;
    let of = walk.items(walk.parent(case)).find(|&item| walk.kind(item) != "block_label")?;
    let of = walk.lower(of);
    let name = walk.draft.name(walk.tree.node(name).span());
    Some(walk.draft.expr(Expr::Member { of, name }))
}

/// A call of a name or of a member.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(callee) = walk.child(at, "function") else { return at + 1 };
    let (name, shape) = match walk.kind(callee) {
        "identifier" => (Some(callee), RefShape::Call),
        // A callee with a leading dot is handled by `expected_types`.
        "field_expression" if walk.child(callee, "object").is_some() => {
            let is_own = walk.child(callee, "object").is_some_and(|of| walk.text(of) == "self");
            (walk.child(callee, "member"), if is_own { RefShape::SelfCall } else { RefShape::MemberCall })
        }
        _ => return at + 1,
    };
    walk.roles.mark(name, Role::Refers(shape));
    at + 1
}

/// `@import("a.zig")` loads a file.
pub(super) fn builtin(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(module) = imported(walk, at) else { return at + 1 };
    let around = walk.parent(at);
    let name = walk.items(around).find(|&item| walk.kind(item) == "identifier");
    let alias = name.filter(|_| walk.kind(around) == "variable_declaration").map(|name| walk.text(name).to_owned());
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
    at + 1
}

/// Returns the name of the module that a builtin loads.
pub(super) fn imported<'t>(walk: &Walk<'_, 't>, at: usize) -> Option<&'t str> {
    let name = walk.child_of(at, "builtin_identifier").filter(|&name| walk.text(name) == "@import");
    let first = name.and_then(|_| walk.items(walk.child_of(at, "arguments")?).next())?;
    walk.text(first).strip_prefix('"')?.strip_suffix('"').filter(|module| !module.is_empty())
}

/// `_` is not a name.
pub(super) fn discard(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.text(at) == "_" {
        walk.roles.mark(Some(at), Role::Declares);
    }
    at + 1
}

//! Language-specific hooks of Swift: declarations whose kind is a keyword, parameters without a list node, dotted
//! types.

use codecompass_model::{
    Expr, ExprId, Flags, FuncExpr, Import, ImportForm, RefShape, SymbolKind, ValuePart, Visibility,
};

use super::types::{dotted_name, is_a_type, last_name};
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// Maximum number of ancestors searched from a node.
const MAX_ANCESTORS: usize = 60;

/// `import Foundation`, `import struct Foundation.URL`.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let Some(path) = walk.child_of(at, "identifier") else { return next };
    let names: Vec<usize> = walk.items(path).collect();
    let Some(&last) = names.last() else { return next };
    let whole: String = walk.text(path).split_whitespace().collect();
    let word = walk.text(at).split_whitespace().skip_while(|word| *word != "import").nth(1).unwrap_or("");
    let is_one = matches!(word, "struct" | "class" | "enum" | "protocol" | "func" | "var" | "let" | "typealias");
    let (module, name) = match whole.rsplit_once('.') {
        Some((module, name)) if is_one => (module.to_owned(), Some(name.to_owned())),
        _ => (whole.clone(), None),
    };
    let node = walk.tree.node(at);
    let shown = if is_one { walk.text(last) } else { whole.as_str() };
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: shown,
            segment: if is_one { shown } else { "*" },
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.text(at)),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(if is_one { last } else { path }).span(),
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
        module,
        glob: name.is_none(),
        name,
        alias: None,
        reexport: false,
        form: ImportForm::Static,
        line: walk.draft.line(node.start),
        symbol: None,
    });
    next
}

/// A dotted name in a constraint: a type parameter and its associated types.
pub(super) fn dotted(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).collect();
    for (n, &name) in names.iter().enumerate() {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Type));
        if n > 0 {
            walk.set_qualifier(name, names[n - 1]);
        }
    }
    at + 1
}

/// A class, a struct, an enum, an actor, a protocol, or an extension of one.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let is_word = |word: &str| walk.child_of(at, word).is_some();
    let kind = match walk.kind(at) {
        "protocol_declaration" => SymbolKind::Interface,
        _ if is_word("extension") => SymbolKind::Impl,
        _ if is_word("struct") => SymbolKind::Struct,
        _ if is_word("enum") => SymbolKind::Enum,
        _ => SymbolKind::Class,
    };
    let owner = (kind == SymbolKind::Impl).then(|| walk.lower(name));
    let (body, end) = (walk.child(at, "body"), walk.tree.next(at));
    // An extension has the last name of its type; its qualified names contain the full dotted name.
    let (segment, last) = match kind {
        SymbolKind::Impl => (Some(dotted_name(walk.text(name))), last_name(walk, name)),
        _ => (None, None),
    };
    let named = last.map(|last| walk.tree.node(last).span());
    let segment = segment.as_deref();
    walk.define(at, Definition { body, owner, end, segment, name_span: named, ..Definition::new(kind, name) });
    if let Some(list) = walk.child_of(at, "type_parameters") {
        walk.draft.block(end, false);
        walk.type_params(list);
    }
    at + 1
}

/// The base types of a type. Only the first base of a class may be a class.
pub(super) fn inherits(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let is_first = walk.child_of(around, "inheritance_specifier") == Some(at);
    let is_class = walk.child_of(around, "class").is_some();
    let is_extended = is_class && is_first || walk.kind(around) == "protocol_declaration";
    let Some(of) = walk.child(at, "inherits_from") else { return at + 1 };
    let shape = if is_extended { RefShape::Extends } else { RefShape::Implements };
    let name = last_name(walk, of);
    walk.roles.mark(name, Role::Refers(shape));
    let base = walk.lower(of);
    walk.draft.add_base(base);
    at + 1
}

/// `where Self: P` adds `P` to the bases of the block's type.
pub(super) fn constraint(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (of, base) = (walk.child(at, "constrained_type"), walk.child(at, "name"));
    if let (Some(of), Some(base)) = (of, base)
        && walk.text(of) == "Self"
        && walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Impl)
    {
        let base = walk.lower(base);
        walk.draft.add_base(base);
    }
    at + 1
}

/// `typealias A = B`, and `associatedtype A: B`, which is known to be a `B`.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let of = walk.items(at).filter(|&item| item > name && is_a_type(walk, item)).last();
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { end, ..Definition::new(SymbolKind::Type, name) });
    if let Some(list) = walk.child_of(at, "type_parameters") {
        walk.draft.block(end, false);
        walk.type_params(list);
    }
    if let (Some(symbol), Some(of)) = (symbol, of) {
        let of = walk.lower(of);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// `case a, b(Int)`: values of the enclosing enum, or functions that return one.
pub(super) fn cases(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.children_in(at, "name").collect();
    for name in names {
        let Some(symbol) = walk.define(at, Definition::new(SymbolKind::Variant, name)) else { continue };
        let Some(of) = enclosing_type(walk, at) else { continue };
        let contents = Some(walk.tree.next(name))
            .filter(|&next| next < walk.tree.next(at) && walk.kind(next) == "enum_type_parameters");
        let annotation = match contents {
            Some(list) => {
                let params = payload(walk, list);
                walk.draft.expr(Expr::Func(Box::new(FuncExpr { params, results: vec![of], ..FuncExpr::default() })))
            }
            None => of,
        };
        walk.draft.annotate_symbol(symbol, annotation, None);
    }
    at + 1
}

/// Returns the associated values of a case, each with its label.
fn payload(walk: &mut Walk<'_, '_>, list: usize) -> Vec<ExprId> {
    let items: Vec<usize> = walk.items(list).collect();
    let (mut params, mut label) = (Vec::new(), None);
    for item in items {
        if walk.kind(item) == "simple_identifier" {
            label = Some(item);
        } else if is_a_type(walk, item) {
            let of = walk.lower(item);
            params.push(with_label(walk, label.take(), of));
        }
    }
    params
}

/// Returns the enclosing type of a node by its name.
pub(super) fn enclosing_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let mut around = at;
    for _ in 0..MAX_ANCESTORS {
        if around == 0 {
            return None;
        }
        around = walk.parent(around);
        if matches!(walk.kind(around), "class_declaration" | "protocol_declaration") {
            let name = walk.child(around, "name")?;
            return Some(walk.lower(name));
        }
    }
    None
}

/// Whether a node is directly in a type.
pub(super) fn is_member(walk: &Walk<'_, '_>, at: usize) -> bool {
    matches!(walk.kind(walk.parent(at)), "class_body" | "enum_class_body" | "protocol_body")
}

/// A function, a method, an initialiser or a subscript.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_member = is_member(walk, at);
    let (kind, name) = match walk.kind(at) {
        "init_declaration" => (SymbolKind::Constructor, walk.child_of(at, "init")),
        "subscript_declaration" => (SymbolKind::Method, walk.child_of(at, "subscript")),
        "macro_declaration" => (SymbolKind::Macro, walk.child_of(at, "simple_identifier")),
        _ if is_member => (SymbolKind::Method, walk.child(at, "name")),
        _ => (SymbolKind::Fn, walk.child(at, "name")),
    };
    let Some(name) = name else { return at + 1 };
    let is_open = |item: &usize| matches!(walk.kind(*item), "function_body" | "computed_property" | "statements");
    let body = walk.items(at).find(is_open);
    let flags = Flags::ABSTRACT.when(body.is_none() && is_member) | Flags::STATIC.when(is_class_member(walk, at));
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body, flags, end, ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    if let Some(list) = walk.child_of(at, "type_parameters") {
        walk.type_params(list);
    }
    if let Some(symbol) = symbol {
        let result = match kind {
            SymbolKind::Constructor => enclosing_type(walk, at),
            _ => {
                let of = walk.items(at).filter(|&item| item > name && is_a_type(walk, item)).last();
                of.map(|of| walk.lower(of))
            }
        };
        let of = signature(walk, at, result);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// `class func f()`: the grammar has a separate node for the first word.
fn is_class_member(walk: &Walk<'_, '_>, at: usize) -> bool {
    walk.child_of(at, "class").is_some()
}

/// Returns the type of a function. Its parameters are siblings of its other parts.
fn signature(walk: &mut Walk<'_, '_>, at: usize, result: Option<ExprId>) -> ExprId {
    let params: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "parameter").collect();
    let mut of = FuncExpr { params: Vec::new(), results: result.into_iter().collect(), ..FuncExpr::default() };
    for param in params {
        let last = walk.items(param).last().filter(|&last| is_a_type(walk, last));
        let declared = last.map(|of| walk.lower(of));
        of.variadic = walk.text(param).ends_with("...");
        let declared = declared.unwrap_or_else(|| walk.other());
        // Callers use the first of its two names.
        let name = walk.child(param, "external_name").or_else(|| walk.child(param, "name"));
        let name = name.filter(|_| walk.kind(at) != "subscript_declaration" && walk.kind(at) != "macro_declaration");
        let declared = with_label(walk, name, declared);
        of.params.push(declared);
    }
    walk.draft.expr(Expr::Func(Box::new(of)))
}

/// Adds a label to an argument or to the type of a parameter.
pub(super) fn with_label(walk: &mut Walk<'_, '_>, label: Option<usize>, of: ExprId) -> ExprId {
    match label.map(|label| walk.text(label)) {
        None | Some("_" | "") => of,
        Some(label) => {
            let label = walk.draft.word(label);
            walk.draft.expr(Expr::Part { of, part: ValuePart::Field(label) })
        }
    }
}

/// The external name of a parameter is not a name in the function.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let label = walk.child(at, "external_name");
    mark_label(walk, label);
    at + 1
}

/// Marks a name as a label.
pub(super) fn mark_label(walk: &mut Walk<'_, '_>, name: Option<usize>) {
    if let Some(name) = name.filter(|&name| walk.roles.get(name) == Role::Unset) {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
}

/// `@Name(…)`.
pub(super) fn attribute(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child_of(at, "user_type").and_then(|of| last_name(walk, of));
    walk.roles.mark(name, Role::Refers(RefShape::Decorator));
    let words: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "simple_identifier").collect();
    for word in words {
        mark_label(walk, Some(word));
    }
    at + 1
}

/// `return x` returns a value; `break outer` names a label.
pub(super) fn control_transfer(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let result = walk.child(at, "result");
    let text = walk.text(at);
    if text.starts_with("break") || text.starts_with("continue") {
        mark_label(walk, result.filter(|&of| walk.kind(of) == "simple_identifier"));
    } else if let Some(result) = result.filter(|_| text.starts_with("return")) {
        walk.defer_return(result);
    }
    at + 1
}

/// `(a: 1, b)`: the names are labels.
pub(super) fn tuple(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.children_in(at, "name").collect();
    for name in names {
        mark_label(walk, Some(name));
    }
    at + 1
}

/// A value in parentheses is that value.
pub(super) fn tuple_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let mut values = walk.children_in(at, "value");
    match (values.next(), values.next()) {
        (Some(only), None) => {
            drop(values);
            walk.lower(only)
        }
        _ => {
            drop(values);
            walk.other()
        }
    }
}

/// `\A.b` starts with a type.
pub(super) fn key_path(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let of = walk.items(at).next().filter(|&of| walk.kind(of) == "type_identifier");
    match of {
        Some(of) => walk.lower(of),
        None => walk.other(),
    }
}

/// Keywords that look like names, and names without a declaration.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    match walk.text(at) {
        "self" | "Self" => mark_label(walk, Some(at)),
        "error" | "newValue" | "oldValue" => super::bindings::implicit(walk, at),
        _ => {}
    }
    at + 1
}

/// A name; `self` is the receiver of a method, and `Self` its type.
pub(super) fn name_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.text(at) {
        "self" => walk.draft.expr(Expr::This),
        "Self" => enclosing_type(walk, at).unwrap_or_else(|| walk.other()),
        // `.a`, the first name of a chain: its type is unknown.
        _ if follows_dot(walk, at) => {
            let of = walk.other();
            let name = walk.draft.name(walk.tree.node(at).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        _ => walk.name_expr(at),
    }
}

/// Whether a dot is right before a name.
pub(super) fn follows_dot(walk: &Walk<'_, '_>, at: usize) -> bool {
    let start = walk.tree.node(at).start as usize;
    start > 0 && walk.draft.text.as_bytes().get(start - 1) == Some(&b'.')
}

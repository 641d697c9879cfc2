//! Language-specific hooks of Java.

use codecompass_model::{
    BindingKind, Expr, ExprId, Flags, Import, ImportForm, Literal, RefShape, SymbolKind, ValuePart, Visibility,
};

use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// The package clause: the prefix of all qualified names.
pub(super) fn package(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.items(at).find(|&item| matches!(walk.kind(item), "identifier" | "scoped_identifier"));
    if let Some(name) = name {
        let name: String = walk.text(name).split_whitespace().collect();
        walk.draft.set_prefix(name);
    }
    walk.tree.next(at)
}

/// `import a.b.C;`, `import static a.b.C.f;`, `import a.b.*;`: a symbol and the import.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let path = walk.items(at).find(|&item| matches!(walk.kind(item), "identifier" | "scoped_identifier"));
    let Some(path_at) = path else { return next };
    let glob = walk.child_of(at, "asterisk").is_some();
    let is_static = walk.text(at).trim_start_matches("import").trim_start().starts_with("static");
    let whole: String = walk.text(path_at).split_whitespace().collect();
    let last = walk.child(path_at, "name").unwrap_or(path_at);
    let node = walk.tree.node(at);
    let name = walk.text(last);
    let (module, imported) = match whole.rsplit_once('.') {
        _ if glob => (whole.clone(), None),
        Some((module, name)) => (module.to_owned(), Some(name.to_owned())),
        None => (String::new(), Some(whole.clone())),
    };
    let shown = if glob { whole.as_str() } else { name };
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: shown,
            segment: if glob { "*" } else { name },
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.text(at).trim_end_matches(';')),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(if glob { path_at } else { last }).span(),
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
        name: imported,
        alias: None,
        glob,
        reexport: false,
        form: if is_static { ImportForm::Static } else { ImportForm::TypeOnly },
        line: walk.draft.line(node.start),
        symbol: None,
    });
    next
}

/// The components of a record are fields and constructor parameters.
pub(super) fn record(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let list: Vec<usize> = walk.child(at, "parameters").map_or_else(Vec::new, |list| walk.items(list).collect());
    for item in list {
        let rest = walk.child_of(item, "variable_declarator").and_then(|of| walk.child(of, "name"));
        let of = walk.child(item, "type").or_else(|| rest.and_then(|_| spread_type(walk, item)));
        let annotation = of.map(|of| walk.lower(of));
        let annotation = match rest {
            Some(_) => annotation.map(|of| walk.draft.expr(Expr::List(of))),
            None => annotation,
        };
        if let Some(name) = walk.child(item, "name").or(rest) {
            let flags = Flags::READ_BY_CALL;
            walk.define(item, Definition { annotation, flags, ..Definition::new(SymbolKind::Field, name) });
        }
    }
    at + 1
}

/// Returns the type of a variadic parameter.
fn spread_type(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    walk.items(at).find(|&item| !matches!(walk.kind(item), "modifiers" | "annotation" | "marker_annotation"))
}

/// A compact constructor of a record: its parameters are the components.
pub(super) fn compact_constructor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let mut around = walk.parent(at);
    while around > 0 && walk.kind(around) != "record_declaration" {
        around = walk.parent(around);
    }
    let Some(list) = walk.child(around, "parameters") else { return at + 1 };
    let of = walk.function_type(Some(list), None);
    if let Some(symbol) = walk.draft.enclosing_index() {
        walk.draft.annotate_symbol(symbol, of, None);
    }
    let items: Vec<usize> = walk.items(list).collect();
    for item in items {
        let annotation = walk.child(item, "type").map(|of| walk.lower(of));
        if let Some(name) = walk.child(item, "name") {
            walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
        }
    }
    at + 1
}

/// Every enum `E` extends the library type `Enum<E>`.
pub(super) fn enumeration(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        let own = walk.name_expr(name);
        let of = walk.draft.name_expr("Enum", at);
        let base = walk.draft.expr(Expr::Apply { of, args: Box::new([own]) });
        walk.draft.add_base(base);
    }
    at + 1
}

/// An array type, of any number of dimensions.
pub(super) fn array(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.child(at, "element") else { return walk.other() };
    let dimensions = walk.child_of(at, "dimensions").map_or(1, |of| walk.text(of).matches('[').count().clamp(1, 8));
    let element = walk.lower(of);
    (0..dimensions).fold(element, |of, _| walk.draft.expr(Expr::List(of)))
}

/// The body of an anonymous class.
pub(super) fn anonymous_class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(of) = walk.child(walk.parent(at), "type") {
        walk.unnamed.push((walk.tree.next(at), of));
    }
    walk.scope(at);
    at + 1
}

/// The body of a constant: a class that extends the enclosing enum.
pub(super) fn constant_body(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(walk.parent(walk.parent(at)));
    if let Some(of) = walk.child(around, "name") {
        walk.unnamed.push((walk.tree.next(at), of));
    }
    at + 1
}

/// `case RED`: a constant of the enum that the switch tests, or an ordinary name.
pub(super) fn label(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let mut around = walk.parent(at);
    while around > 0 && walk.kind(around) != "switch_expression" {
        around = walk.parent(around);
    }
    let Some(subject) = walk.child(around, "condition") else { return at + 1 };
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    for name in names {
        walk.set_qualifier(name, subject);
    }
    at + 1
}

/// `?`, and `? extends T`.
pub(super) fn wildcard(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let bound = walk.items(at).filter(|&item| walk.kind(item) != "super").last();
    match bound {
        Some(bound) => walk.lower(bound),
        None => walk.draft.name_expr("Object", at),
    }
}

/// A constant is a value of the enclosing enum.
pub(super) fn constant(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(walk.parent(at));
    if let Some(name) = walk.child(around, "name")
        && walk.draft.symbol_count() > 0
    {
        let of = walk.name_expr(name);
        let symbol = walk.draft.symbol_count() - 1;
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// The key of an annotation is a method of its type.
pub(super) fn element(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let annotation = walk.parent(walk.parent(at));
    if let (Some(key), Some(of)) = (walk.child(at, "key"), walk.child(annotation, "name")) {
        walk.roles.mark(Some(key), Role::Refers(RefShape::Member));
        walk.set_qualifier(key, of);
    }
    at + 1
}

/// `this(…)` and `super(…)` call a constructor.
pub(super) fn constructor_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(word) = walk.child(at, "constructor") else { return at + 1 };
    let args = walk.child(at, "arguments");
    let reference = walk.draft.reference_count() as u32;
    walk.draft.reference(walk.tree.node(word).span(), RefShape::Construct, None);
    if let Some(args) = args.filter(|_| walk.draft.reference_count() as u32 > reference) {
        let args = walk.lower_all(args);
        let of = if walk.kind(word) == "super" { Expr::Super } else { Expr::This };
        let callee = walk.draft.expr(of);
        let call = walk.draft.expr(Expr::Call { callee, args });
        walk.draft.set_call(reference, call);
    }
    at + 1
}

/// `a.b`, and `Outer.this`, which is a value of the outer class.
pub(super) fn field_access(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(of), Some(name)) = (walk.child(at, "object"), walk.child(at, "field")) else { return walk.other() };
    let before = walk.lower(of);
    match walk.kind(name) {
        "this" => walk.draft.expr(Expr::Cast(before)),
        _ if walk.child_of(at, "super").is_some_and(|word| word != of) => walk.draft.expr(Expr::Super),
        _ => {
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of: before, name })
        }
    }
}

/// The name after the dot.
pub(super) fn refer_to_field(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(of), Some(name)) = (walk.child(at, "object"), walk.child(at, "field"))
        && walk.kind(name) == "identifier"
    {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `A::f`: a function that is not called.
pub(super) fn method_reference(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (first, last) = (walk.items(at).next(), walk.items(at).last());
    let (Some(of), Some(name)) = (first, last.filter(|&last| Some(last) != first)) else {
        // `A::new`: `new` has no node.
        return match first {
            Some(of) => {
                let of = walk.lower(of);
                let of = walk.draft.expr(Expr::New(of));
                walk.draft.expr(Expr::Closure { params: 0, back: Some(of) })
            }
            None => walk.other(),
        };
    };
    let of = walk.lower(of);
    let name = walk.draft.name(walk.tree.node(name).span());
    walk.draft.expr(Expr::Member { of, name })
}

/// The name after the double colon.
pub(super) fn refer_to_method(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (first, last) = (walk.items(at).next(), walk.items(at).last());
    if let (Some(of), Some(name)) = (first, last.filter(|&last| Some(last) != first && walk.kind(last) == "identifier"))
    {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `T.class` is a `Class<T>`.
pub(super) fn class_literal(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.items(at).next() else { return walk.other() };
    let argument = walk.lower(of);
    let class = walk.draft.name_expr("Class", at);
    let of = walk.draft.expr(Expr::Apply { of: class, args: Box::new([argument]) });
    walk.draft.expr(Expr::Cast(of))
}

/// A number; its suffix determines its type. In a hexadecimal number the last digit is not a suffix.
pub(super) fn number(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let is_hex = walk.text(at).starts_with("0x") || walk.text(at).starts_with("0X");
    let of = match walk.text(at).as_bytes().last() {
        Some(b'l' | b'L') => "long",
        Some(b'f' | b'F') if !is_hex => "float",
        Some(_) if walk.kind(at).ends_with("floating_point_literal") => {
            return walk.draft.expr(Expr::Literal(Literal::Float));
        }
        _ => return walk.draft.expr(Expr::Literal(Literal::Int)),
    };
    let of = walk.draft.name_expr(of, at);
    walk.draft.expr(Expr::Cast(of))
}

/// A type that is a keyword.
pub(super) fn primitive(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = walk.text(at);
    walk.draft.name_expr(name, at)
}

//! Structures, enums, unions and error sets: their members, and the type of `@This()`.

use codecompass_model::{Expr, ExprId, LexicalTarget, RefShape, Span, SymbolKind};

use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// Maximum number of ancestors searched for the enclosing container.
const MAX_ANCESTORS: usize = 100;

/// Whether declarations in a node of this kind are members.
pub(super) fn is_container(kind: &str) -> bool {
    matches!(
        kind,
        "source_file" | "struct_declaration" | "union_declaration" | "enum_declaration" | "opaque_declaration"
    )
}

/// Whether a node of this kind is in the body of a container.
pub(super) fn is_member(kind: &str) -> bool {
    matches!(
        kind,
        "container_field"
            | "function_declaration"
            | "variable_declaration"
            | "test_declaration"
            | "comptime_declaration"
            | "using_namespace_declaration"
            | "comment"
    )
}

/// Returns the symbol kind of a constant with this value.
pub(super) fn container_kind(value: &str) -> Option<SymbolKind> {
    Some(match value {
        "struct_declaration" | "opaque_declaration" => SymbolKind::Struct,
        "enum_declaration" | "error_set_declaration" => SymbolKind::Enum,
        "union_declaration" => SymbolKind::Union,
        _ => return None,
    })
}

/// Records the symbol that a container belongs to: a constant, a field, or the function that returns it.
pub(super) fn record_container(walk: &mut Walk<'_, '_>, container: usize, symbol: u32) {
    let of = name_of_symbol(walk, symbol);
    walk.set_lowered(container, of);
}

/// Lowers the name of a symbol.
fn name_of_symbol(walk: &mut Walk<'_, '_>, symbol: u32) -> ExprId {
    let name = walk.draft.symbol_at(symbol).map_or_else(String::new, |of| of.name.clone());
    let name = walk.draft.word(&name);
    walk.draft.expr(Expr::Name { name, seen: LexicalTarget::Symbol(symbol) })
}

/// Declarations in a container are not visible after it.
pub(super) fn open(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.draft.block(walk.tree.next(at), false);
    at + 1
}

/// A container without a name of its own: the enclosing symbol has its members.
pub(super) fn inline(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    walk.draft.expr(Expr::Inline(walk.tree.node(at).span()))
}

/// `@This()`: the innermost container.
pub(super) fn this(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let mut around = at;
    for _ in 0..MAX_ANCESTORS {
        let inner = around;
        around = walk.parent(around);
        if inner == around || around == 0 {
            let path = walk.draft.path;
            let file = walk.draft.word(path.rsplit('/').next().unwrap_or(path));
            return walk.draft.expr(Expr::Module(file));
        }
        if !is_container(walk.kind(around)) {
            continue;
        }
        let known = walk.lower(around);
        if !matches!(walk.draft.expr_at(known), Expr::Inline(_)) {
            return known;
        }
        // The type that a function returns.
        if walk.kind(walk.parent(around)) == "return_expression"
            && let Some(symbol) = enclosing_function(walk)
        {
            let callee = name_of_symbol(walk, symbol);
            return walk.draft.expr(Expr::Call { callee, args: Box::default() });
        }
        return walk.other();
    }
    walk.other()
}

/// Returns the function that returns the type: the innermost symbol or the one that encloses it.
fn enclosing_function(walk: &Walk<'_, '_>) -> Option<u32> {
    let mut symbol = walk.draft.enclosing_index();
    for _ in 0..3 {
        let at = symbol?;
        let of = walk.draft.symbol_at(at)?;
        if of.kind == SymbolKind::Fn || of.kind == SymbolKind::Method && !of.bases.is_empty() {
            return Some(at);
        }
        symbol = of.parent;
    }
    None
}

/// A field, or a variant of an enum.
pub(super) fn member(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let of_type = walk.child(at, "type");
    let in_enum = walk.kind(around) == "enum_declaration";
    // A member of a structure without a type is itself a type: the structure is a tuple.
    let is_tuple = of_type.is_none() && matches!(walk.kind(around), "struct_declaration" | "source_file");
    if walk.kind(name) != "identifier" || is_tuple {
        return at + 1;
    }
    let end = walk.tree.next(at);
    if in_enum {
        let known = walk.lower(around);
        let annotation = Some(known).filter(|known| !matches!(walk.draft.expr_at(*known), Expr::Inline(_)));
        walk.define(at, Definition { annotation, end, ..Definition::new(SymbolKind::Variant, name) });
        return at + 1;
    }
    let written = of_type.filter(|&of| is_container(walk.kind(of)));
    let annotation = of_type.filter(|_| written.is_none()).map(|of| walk.lower(of));
    let symbol = walk.define(at, Definition { annotation, end, ..Definition::new(SymbolKind::Field, name) });
    if let (Some(written), Some(symbol)) = (written, symbol) {
        let value = walk.lower(written);
        walk.draft.set_value(symbol, value);
        record_container(walk, written, symbol);
    }
    at + 1
}

/// `error{ A, B }`: the errors of a set that a constant names.
pub(super) fn errors(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    let is_named = walk.kind(walk.parent(at)) == "variable_declaration"
        && walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Enum);
    for name in names {
        if is_named {
            walk.define(name, Definition::new(SymbolKind::Variant, name));
        } else {
            walk.roles.mark(Some(name), Role::Declares);
            walk.draft.mark_label(walk.tree.node(name).span());
        }
    }
    at + 1
}

/// `error.A`: all error sets share their names, so the set is unknown.
pub(super) fn error(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.items(at).find(|&item| walk.kind(item) == "identifier");
    if let Some(name) = name {
        let unknown = walk.other();
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.reference_with_receiver(walk.tree.node(name).span(), RefShape::Member, unknown);
    }
    at + 1
}

/// `usingnamespace a`: the enclosing container re-exports the members of `a`.
pub(super) fn using(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.items(at).find(|&item| walk.kind(item) != "pub");
    if let Some(of) = of {
        let of = walk.lower(of);
        walk.draft.add_base(of);
    }
    at + 1
}

/// `test "title" {…}` and `test name {…}`.
pub(super) fn test(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let title = walk.items(at).find(|&item| matches!(walk.kind(item), "string" | "identifier"));
    if let Some(title) = title {
        let node = walk.tree.node(at);
        let mut name_span = walk.tree.node(title).span();
        if walk.kind(title) == "string" && name_span.end >= name_span.start + 2 {
            name_span = Span { start: name_span.start + 1, end: name_span.end - 1 };
        }
        let name = walk.draft.slice(name_span);
        let body = walk.items(at).last().map_or(node.end, |body| walk.tree.node(body).start);
        let header = walk.draft.slice(Span { start: node.start, end: body.max(node.start) });
        // The name of a test is a reference to the tested declaration.
        walk.roles.mark(Some(title).filter(|&title| walk.kind(title) == "identifier"), Role::Refers(RefShape::Value));
        walk.draft.symbol(
            NewSymbol {
                kind: SymbolKind::Test,
                name,
                segment: name,
                separator: ".",
                impl_trait: None,
                signature: text::signature(header),
                visibility_text: None,
                visibility: None,
                span: node.span(),
                outer_start: node.start,
                name_span,
                attributes: &[],
                doc: None,
                annotation: None,
                value: None,
                extras: SymbolExtras::default(),
                is_test: true,
            },
            walk.tree.next(at),
        );
    }
    walk.open_function(at, None);
    at + 1
}

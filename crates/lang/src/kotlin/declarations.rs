//! Declarations: classes, functions, properties, imports.

use codecompass_model::{
    BindingKind, Expr, ExprId, Flags, FuncExpr, Import, ImportForm, RefShape, SymbolKind, ValuePart, Visibility,
};

use super::expressions::{is_expression, previous_sibling};
use super::types::{is_type, type_in, type_of};
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// The package: the prefix of all qualified names.
pub(super) fn package(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child_of(at, "identifier") {
        let name: String = walk.text(name).split_whitespace().collect();
        walk.draft.set_prefix(name);
    }
    walk.tree.next(at)
}

/// `import a.b.C`, `import a.b.*`, `import a.b.C as D`: a symbol and the import.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let Some(path) = walk.child_of(at, "identifier") else { return next };
    let Some(last) = walk.items(path).last() else { return next };
    let glob = walk.child_of(at, "wildcard_import").is_some();
    let alias_at = walk.child_of(at, "import_alias").and_then(|alias| walk.items(alias).last());
    let whole: String = walk.text(path).split_whitespace().collect();
    let whole = whole.trim_end_matches(".*").to_owned();
    let (module, imported) = match whole.rsplit_once('.') {
        _ if glob => (whole.clone(), None),
        Some((module, name)) => (module.to_owned(), Some(name.to_owned())),
        None => (String::new(), Some(whole.clone())),
    };
    let alias = alias_at.map(|alias| walk.text(alias).to_owned());
    let name = alias_at.map_or_else(|| walk.text(last), |alias| walk.text(alias));
    let node = walk.tree.node(at);
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: if glob { &whole } else { name },
            segment: if glob { "*" } else { name },
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.text(at)),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(if glob { path } else { alias_at.unwrap_or(last) }).span(),
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras::default(),
            is_test: false,
        },
        0,
    );
    let line = walk.draft.line(node.start);
    walk.draft.import(Import {
        module,
        name: imported,
        alias,
        glob,
        reexport: false,
        form: ImportForm::Static,
        line,
        symbol: None,
    });
    next
}

/// A class, interface, enum or object. Its header is a block for its type parameters and constructor parameters.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "type_identifier") else { return at + 1 };
    let from = walk.child_of(at, "modifiers").map_or(walk.tree.node(at).start, |words| walk.tree.node(words).end);
    let words = walk.draft.text.get(from as usize..walk.tree.node(name).start as usize).unwrap_or("");
    let is_enum = walk.child_of(at, "enum_class_body").is_some() || words.split_whitespace().any(|word| word == "enum");
    let kind = match words {
        _ if is_enum => SymbolKind::Enum,
        words if words.contains("interface") => SymbolKind::Interface,
        _ => SymbolKind::Class,
    };
    open_class(walk, at, Definition { ..Definition::new(kind, name) });
    at + 1
}

/// A companion object: its members are members of the enclosing class.
pub(super) fn companion(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let flags = Flags::EMBEDDED;
    let new = match walk.child_of(at, "type_identifier") {
        Some(name) => Definition { flags, ..Definition::new(SymbolKind::Class, name) },
        None => Definition { flags, name_text: Some("Companion"), ..Definition::new(SymbolKind::Class, at) },
    };
    open_class(walk, at, new);
    at + 1
}

fn open_class(walk: &mut Walk<'_, '_>, at: usize, new: Definition<'_>) {
    let body = walk.child_of(at, "class_body").or_else(|| walk.child_of(at, "enum_class_body"));
    let is_class = new.kind == SymbolKind::Class && walk.child_of(at, "type_identifier").is_some();
    let symbol = walk.define(at, Definition { body, end: walk.tree.next(at), ..new });
    walk.draft.block(walk.tree.next(at), false);
    type_params(walk, at);
    let header = walk.child_of(at, "primary_constructor");
    // A class without a header has a constructor without parameters, unless its body declares constructors.
    let has_others = || body.is_some_and(|body| walk.child_of(body, "secondary_constructor").is_some());
    if let (Some(symbol), true) = (symbol, header.is_some() || is_class && !has_others()) {
        let of = function_type(walk, header, "class_parameter", None);
        walk.draft.annotate_symbol(symbol, of, None);
    }
}

/// Binds the type parameters of a declaration, with their bounds after `where`.
fn type_params(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(list) = walk.child_of(at, "type_parameters") else { return };
    let items: Vec<usize> = walk.items(list).collect();
    let mut bound_later = Vec::new();
    for item in items {
        let Some(name) = walk.child_of(item, "type_identifier") else { continue };
        let Some(of) = walk.bind_as(name, BindingKind::TypeParam, None, ValuePart::Whole, list) else { continue };
        match type_in(walk, item) {
            Some(bound) => {
                let bound = walk.lower(bound);
                walk.draft.set_bound(of, bound);
            }
            None => bound_later.push((walk.text(name), of)),
        }
    }
    let constraints = walk.child_of(at, "type_constraints");
    let constraints: Vec<usize> = constraints.map_or_else(Vec::new, |list| walk.items(list).collect());
    for one in constraints.into_iter().take(16) {
        let name = walk.child_of(one, "type_identifier").map(|name| walk.text(name));
        let bound = type_in(walk, one);
        let of = bound_later.iter().find(|(known, _)| Some(*known) == name).map(|(_, of)| *of);
        if let (Some(of), Some(bound)) = (of, bound) {
            let bound = walk.lower(bound);
            walk.draft.set_bound(of, bound);
        }
    }
}

/// Returns the type of a function from its parameter list. Default values and modifiers are siblings of the parameters.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, list: Option<usize>, kind: &str, result: Option<usize>) -> ExprId {
    let mut of = FuncExpr::default();
    let items: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    let mut is_variadic = false;
    for item in items {
        if walk.kind(item) == "parameter_modifiers" {
            is_variadic = has_word(walk, item, "vararg");
        } else if walk.kind(item) == kind {
            let inner = walk.child_of(item, "modifiers");
            is_variadic |= inner.is_some_and(|words| has_word(walk, words, "vararg"));
            let declared = type_of(walk, item).unwrap_or_else(|| walk.other());
            of.params.push(if is_variadic { walk.draft.expr(Expr::List(declared)) } else { declared });
            of.variadic |= is_variadic;
            is_variadic = false;
            // The default value of a class parameter is inside it.
            let last = walk.items(item).last().filter(|&last| Some(last) != walk.child_of(item, "simple_identifier"));
            of.optional += u32::from(kind == "class_parameter" && last.is_some_and(|last| is_expression(walk, last)));
        } else if is_expression(walk, item) {
            of.optional += 1;
        }
    }
    of.results = result.map(|result| walk.lower(result)).into_iter().collect();
    walk.draft.expr(Expr::Func(Box::new(of)))
}

fn has_word(walk: &Walk<'_, '_>, at: usize, wanted: &str) -> bool {
    walk.text(at).split_whitespace().any(|word| word == wanted)
}

/// A parameter of a class: a property if it has `val` or `var`, else a binding visible in the initialisers of the body.
pub(super) fn class_parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "simple_identifier") else { return at + 1 };
    let annotation = type_of(walk, at);
    if walk.child_of(at, "binding_pattern_kind").is_some() {
        walk.define(at, Definition { annotation, ..Definition::new(SymbolKind::Property, name) });
    } else {
        walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
    }
    at + 1
}

/// A base type: a class if it has constructor arguments, else normally an interface.
pub(super) fn base(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(item) = walk.items(at).next() else { return at + 1 };
    let is_made = walk.kind(item) == "constructor_invocation";
    let of = if walk.kind(item) == "user_type" { Some(item) } else { walk.child_of(item, "user_type") };
    let Some(of) = of else { return at + 1 };
    let is_interface = walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Interface);
    let shape = if is_made || is_interface { RefShape::Extends } else { RefShape::Implements };
    let name = walk.items(of).filter(|&item| walk.kind(item) == "type_identifier").last();
    walk.roles.mark(name, Role::Refers(shape));
    // An anonymous object is not a symbol, so it has no recorded bases.
    if walk.kind(walk.parent(at)) != "object_literal" {
        let base = walk.lower(of);
        walk.draft.add_base(base);
    }
    at + 1
}

/// The name of an annotation, or of a constructor call in one.
pub(super) fn annotation(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.kind(walk.parent(at));
    if walk.kind(at) == "annotation" || !matches!(around, "annotation" | "delegation_specifier") {
        let of = walk.child_of(at, "constructor_invocation").unwrap_or(at);
        let of = walk.child_of(of, "user_type");
        let name = of.and_then(|of| walk.items(of).filter(|&item| walk.kind(item) == "type_identifier").last());
        walk.roles.mark(name, Role::Refers(RefShape::Decorator));
    }
    at + 1
}

/// The body of an anonymous object.
pub(super) fn anonymous_object(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    if let Some(of) = super::expressions::base_of(walk, walk.parent(at)) {
        walk.unnamed.push((walk.tree.next(at), of));
        walk.bind_implicit_object(at, of);
    }
    at + 1
}

/// A constant is a value of the enclosing enum.
pub(super) fn entry(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "simple_identifier") else { return at + 1 };
    let around = walk.parent(walk.parent(at));
    let annotation = walk.child_of(around, "type_identifier").map(|of| walk.name_expr(of));
    let body = walk.child_of(at, "class_body");
    let end = walk.tree.next(at);
    walk.define(at, Definition { annotation, body, end, ..Definition::new(SymbolKind::Variant, name) });
    at + 1
}

/// `constructor(…) : this(…) { … }`.
pub(super) fn constructor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(word) = walk.child_of(at, "constructor") else { return at + 1 };
    let list = walk.child_of(at, "function_value_parameters");
    let body = walk.child_of(at, "constructor_delegation_call").or_else(|| walk.child_of(at, "statements"));
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body, end, ..Definition::new(SymbolKind::Constructor, word) });
    walk.open_function(at, symbol);
    if let Some(symbol) = symbol {
        let of = function_type(walk, list, "parameter", None);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// `this(…)` and `super(…)` call a constructor.
pub(super) fn constructor_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let mut word = walk.tree.node(at).span();
    let is_super = walk.text(at).starts_with("super");
    word.end = word.start + if is_super { 5 } else { 4 };
    if !matches!(walk.draft.slice(word), "this" | "super") {
        return at + 1;
    }
    let reference = walk.draft.reference_count() as u32;
    walk.draft.reference(word, RefShape::Construct, None);
    if let Some(args) = walk.child_of(at, "value_arguments").filter(|_| walk.draft.reference_count() as u32 > reference)
    {
        let args = super::expressions::list_arguments(walk, args);
        let args = args.into_iter().map(|one| walk.lower(one)).collect();
        let callee = walk.draft.expr(if is_super { Expr::Super } else { Expr::This });
        let call = walk.draft.expr(Expr::Call { callee, args });
        walk.draft.set_call(reference, call);
    }
    at + 1
}

/// Whether a declaration is in a type or at file level.
fn is_member(walk: &Walk<'_, '_>, at: usize) -> bool {
    matches!(walk.kind(walk.parent(at)), "class_body" | "enum_class_body") || walk.parent(at) == 0
}

/// A function, or an extension function, which belongs to the type before its name.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "simple_identifier") else { return at + 1 };
    let list = walk.child_of(at, "function_value_parameters");
    let body = walk.child_of(at, "function_body");
    let in_type = is_member(walk, at) && walk.parent(at) != 0;
    let kind = if in_type { SymbolKind::Method } else { SymbolKind::Fn };
    let is_open = walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Interface);
    let flags = Flags::ABSTRACT.when(body.is_none() && in_type && is_open);
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { body, flags, end, ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    type_params(walk, at);
    let after = list.unwrap_or(name);
    let result = walk.items(at).find(|&item| item > after && is_type(walk.kind(item)));
    let receiver = walk.child(at, "receiver");
    let value = body.and_then(|body| walk.items(body).next()).filter(|&value| is_expression(walk, value));
    if let Some(symbol) = symbol {
        let of = function_type(walk, list, "parameter", result);
        let owner = receiver.map(|receiver| walk.lower(receiver));
        walk.draft.annotate_symbol(symbol, of, owner);
        if let Some(value) = value.filter(|_| result.is_none()) {
            walk.defer_symbol_value(symbol, value);
        }
    }
    at + 1
}

/// A parameter of a function or of a setter.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "simple_identifier") else { return at + 1 };
    // A function type may name its parameters.
    if walk.kind(walk.parent(at)) == "function_type_parameters" {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
        return at + 1;
    }
    let mut annotation = type_of(walk, at);
    if previous_sibling(walk, at)
        .is_some_and(|before| walk.kind(before) == "parameter_modifiers" && has_word(walk, before, "vararg"))
    {
        annotation = annotation.map(|of| walk.draft.expr(Expr::List(of)));
    }
    walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
    at + 1
}

/// `val` and `var`: a symbol in a type and at file level, else a local binding.
pub(super) fn property(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_value = |item: &usize| is_expression(walk, *item) || walk.kind(*item) == "property_delegate";
    let value = walk.items(at).find(is_value);
    let names: Vec<usize> = match walk.child_of(at, "multi_variable_declaration") {
        Some(list) => walk.items(list).collect(),
        None => walk.child_of(at, "variable_declaration").into_iter().collect(),
    };
    let is_whole = walk.child_of(at, "multi_variable_declaration").is_none();
    let accessors = following_accessors(walk, at);
    let last = accessors.last().copied().unwrap_or(at);
    let is_getter = |one: &usize| walk.kind(*one) == "getter";
    let getter = walk.child_of(at, "getter").or_else(|| accessors.iter().copied().find(is_getter));
    for (n, one) in names.into_iter().enumerate() {
        let Some(name) = walk.child_of(one, "simple_identifier") else { continue };
        let declared = walk.items(one).find(|&item| is_type(walk.kind(item)));
        if !is_member(walk, at) {
            let annotation = declared.map(|declared| walk.lower(declared));
            let part = if is_whole { ValuePart::Whole } else { ValuePart::Index(n as u32) };
            let binding = walk.bind_as(name, BindingKind::Local, annotation, part, walk.tree.next(at));
            if let (Some(binding), Some(value)) = (binding, value) {
                walk.defer_binding_value(binding, value);
            }
            continue;
        }
        let is_const = walk.child_of(at, "modifiers").is_some_and(|words| has_word(walk, words, "const"));
        let kind = if is_const { SymbolKind::Const } else { SymbolKind::Property };
        let body = getter.or_else(|| walk.child_of(at, "setter"));
        let end = walk.tree.next(last);
        let symbol = walk.define(at, Definition { body, end, last: Some(last), ..Definition::new(kind, name) });
        walk.draft.block(walk.tree.next(at), false);
        type_params(walk, at);
        let Some(symbol) = symbol else { continue };
        let owner = walk.child(at, "receiver").map(|receiver| walk.lower(receiver));
        let annotation = declared.map(|declared| walk.lower(declared));
        if annotation.is_some() || owner.is_some() {
            let annotation = annotation.unwrap_or_else(|| walk.other());
            walk.draft.annotate_symbol(symbol, annotation, owner);
        }
        let given_back =
            getter.and_then(|getter| walk.child_of(getter, "function_body")).and_then(|body| walk.items(body).next());
        let value = value.or(given_back.filter(|&value| is_expression(walk, value)));
        if let Some(value) = value.filter(|_| is_whole) {
            walk.defer_symbol_value(symbol, value);
        }
    }
    at + 1
}

/// Returns the accessors of a property that the grammar puts after it, because they begin on a line of their own.
fn following_accessors(walk: &Walk<'_, '_>, at: usize) -> Vec<usize> {
    let parent = walk.parent(at);
    let mut accessors = Vec::new();
    let mut next = walk.tree.next(at);
    while next < walk.tree.next(parent) {
        match walk.kind(next) {
            "getter" | "setter" => accessors.push(next),
            "line_comment" | "multiline_comment" | "modifiers" => {}
            _ => break,
        }
        next = walk.tree.next(next);
    }
    accessors
}

/// `get() = …`, `set(value) { … }`: a block in which `field` is the property's value.
pub(super) fn accessor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let start = walk.tree.node(at).start;
    let property = walk.child_of(walk.parent(at), "variable_declaration");
    let declared = property.and_then(|one| walk.items(one).find(|&item| is_type(walk.kind(item))));
    let declared = declared.map(|declared| walk.lower(declared));
    walk.draft.bind_implicit("field", start, declared, at);
    at + 1
}

/// `typealias A<T> = B<T>`.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "type_identifier") else { return at + 1 };
    let end = walk.tree.next(at);
    let flags = Flags::ALIAS;
    let symbol = walk.define(at, Definition { flags, end, ..Definition::new(SymbolKind::Type, name) });
    walk.draft.block(end, false);
    type_params(walk, at);
    let of = walk.items(at).filter(|&item| is_type(walk.kind(item))).last();
    if let (Some(symbol), Some(of)) = (symbol, of) {
        let of = walk.lower(of);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

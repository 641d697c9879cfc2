//! Functions with and without bodies, variables, and tests defined by macros.

use codecompass_model::{BindingKind, Expr, ExprId, Flags, RefShape, Span, SymbolKind, ValuePart, Visibility};

use super::paths::leaf_of;
use crate::c::declarators::{DeclaratorInfo, base_type, parameter as declared_parameter, read_declarator};
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::rules::is_type;
use crate::spec::{Definition, Walk};
use crate::text;

/// Maximum nesting depth of declarators.
const MAX_DEPTH: usize = 40;

/// The name that a declarator declares.
pub(super) struct DeclaredName {
    /// The node of the name.
    pub(super) name: usize,
    pub(super) span: Span,
    /// The node before the `::` of the name.
    pub(super) scope: Option<usize>,
    /// The last segment of the qualified name, where it differs from the name.
    pub(super) segment: Option<String>,
}

/// Returns the name in a declarator and the path before it.
pub(super) fn declared_name(walk: &Walk<'_, '_>, declarator: usize) -> Option<DeclaredName> {
    let (mut at, mut scope, mut path) = (declarator, None, String::new());
    for _ in 0..MAX_DEPTH {
        at = match walk.kind(at) {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name"
            | "operator_cast" => {
                let mut span = walk.tree.node(at).span();
                if walk.kind(at) == "operator_cast" {
                    span.end = walk.child(at, "type").map_or(span.end, |of| walk.tree.node(of).end);
                }
                let segment = (!path.is_empty()).then(|| [path.as_str(), walk.draft.slice(span)].concat());
                return Some(DeclaredName { name: at, span, scope, segment });
            }
            "qualified_identifier" => {
                if let Some(before) = walk.child(at, "scope") {
                    scope = Some(before);
                    path.extend(leaf_of(walk, before).into_iter().flat_map(|leaf| [walk.text(leaf), "::"]));
                }
                walk.children_in(at, "name").last()?
            }
            "template_function" | "template_method" | "template_type" => walk.child(at, "name")?,
            "function_declarator"
            | "init_declarator"
            | "pointer_declarator"
            | "array_declarator"
            | "pointer_type_declarator" => walk.child(at, "declarator")?,
            "parenthesized_declarator" | "attributed_declarator" | "reference_declarator" | "variadic_declarator" => {
                let is_one = |&inner: &usize| {
                    ["declarator", "identifier", "_name"].iter().any(|end| walk.kind(inner).ends_with(end))
                };
                walk.items(at).find(is_one)?
            }
            _ => return None,
        };
    }
    None
}

/// Returns the name of the innermost enclosing symbol if that is a type.
fn enclosing_class_name<'w>(walk: &'w Walk<'_, '_>) -> Option<&'w str> {
    walk.draft.enclosing().filter(|around| is_type(around.kind)).map(|around| around.name.as_str())
}

fn has_word(walk: &Walk<'_, '_>, at: usize, word: &str) -> bool {
    walk.items(at).any(|item| walk.kind(item) == "storage_class_specifier" && walk.text(item) == word)
}

/// Whether declarations here are invisible outside the file.
pub(super) fn is_hidden(walk: &Walk<'_, '_>) -> bool {
    walk.sections.iter().take(MAX_DEPTH).any(|(_, word)| *word == "namespace")
}

/// Returns the flags and the visibility of a function or a variable.
fn declared_modifiers(walk: &Walk<'_, '_>, at: usize) -> (Flags, Option<Visibility>) {
    let is_static = has_word(walk, at, "static");
    match enclosing_class_name(walk) {
        Some(_) => (Flags::STATIC.when(is_static), None),
        None => {
            let is_hidden = is_static || is_hidden(walk);
            (Flags::FILE_ONLY.when(is_hidden), is_hidden.then_some(Visibility::Private))
        }
    }
}

/// A function with its body.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "template_declaration" {
        define_function(walk, at, at);
    }
    at + 1
}

/// Defines a function; `outer` is the enclosing template declaration, or the function itself.
pub(super) fn define_function(walk: &mut Walk<'_, '_>, outer: usize, at: usize) {
    let Some(declarator) = walk.child(at, "declarator") else { return };
    if walk.is_local(outer) && walk.begins_line(outer) {
        walk.leave_functions(outer);
    }
    if is_misread_class(walk, outer, at, declarator) {
        return;
    }
    let Some(name) = declared_name(walk, declarator) else { return walk.open_function(outer, None) };
    let typed = walk.child(at, "type").is_some();
    let own = walk.draft.slice(name.span);
    let scope_name = name.scope.and_then(|scope| leaf_of(walk, scope)).map(|leaf| walk.text(leaf));
    let class = enclosing_class_name(walk).map(str::to_owned);
    let is_plain = matches!(walk.kind(name.name), "identifier" | "field_identifier");
    if !typed
        && is_plain
        && name.scope.is_none()
        && class.as_deref() != Some(own)
        && macro_function(walk, at, declarator)
    {
        return;
    }
    let is_friend = walk.kind(walk.parent(outer)) == "friend_declaration";
    let kind = match (scope_name, class.as_deref()) {
        (Some(scope), _) if scope == own => SymbolKind::Constructor,
        (None, Some(class)) if class == own && !typed => SymbolKind::Constructor,
        (Some(_), _) => SymbolKind::Method,
        (None, Some(_)) if !is_friend => SymbolKind::Method,
        _ => SymbolKind::Fn,
    };
    let (mut flags, visibility) = declared_modifiers(walk, at);
    flags = flags | Flags::ABSTRACT.when(walk.child_of(at, "pure_virtual_clause").is_some());
    let body = walk.child_of(at, "field_initializer_list").or_else(|| walk.child(at, "body"));
    let symbol = walk.define(
        outer,
        Definition {
            name_span: Some(name.span),
            segment: name.segment.as_deref(),
            body,
            flags,
            visibility,
            end: walk.tree.next(outer),
            ..Definition::new(kind, name.name)
        },
    );
    walk.open_function(outer, symbol);
    super::hooks::bind_parameters(walk, outer, at);
    let base = base_type(walk, at);
    let of = read_declarator(walk, base, declarator).of_type;
    let owner = name.scope.map(|scope| walk.lower(scope));
    if let Some(symbol) = symbol {
        walk.draft.annotate_symbol(symbol, of, owner);
    }
}

/// Whether the parser took a class with code that it cannot parse for a function: the class is the type of the function.
/// A class that lost its body to the function is defined with that body.
fn is_misread_class(walk: &mut Walk<'_, '_>, outer: usize, at: usize, declarator: usize) -> bool {
    let class = walk.child(at, "type").filter(|&of| matches!(walk.kind(of), "class_specifier" | "struct_specifier"));
    let Some(class) = class else { return false };
    if walk.child(class, "body").is_some() {
        return true;
    }
    if is_function(walk, declarator) {
        return false;
    }
    let name = walk.child(class, "name").and_then(|name| declared_name(walk, name));
    let (body, end) = (walk.child(at, "body"), walk.tree.next(outer));
    let symbol = name.filter(|_| body.is_some()).and_then(|name| {
        let kind = super::kind_of_class_key(walk.kind(class));
        let name_span = Some(name.span);
        walk.define(outer, Definition { name_span, body, end, ..Definition::new(kind, name.name) })
    });
    walk.open_function(outer, symbol);
    true
}

/// `TEST(Suite, Name) {…}`: a function defined by a macro, named by the last macro argument. With a fixture it is a
/// member of the fixture.
fn macro_function(walk: &mut Walk<'_, '_>, at: usize, declarator: usize) -> bool {
    let Some(list) = walk.child(declarator, "parameters") else { return false };
    let Some(word) = walk.child(declarator, "declarator").filter(|&word| is_macro(walk.text(word))) else {
        return false;
    };
    let all: Vec<usize> = walk.items(list).filter_map(|item| leaf_of(walk, walk.child(item, "type")?)).collect();
    let Some(&name) = all.last() else { return false };
    let macro_name = walk.text(word);
    let is_fixture =
        all.len() == 2 && (macro_name.ends_with("_F") || macro_name.ends_with("_P") || macro_name.starts_with("TYPED"));
    walk.roles.mark(Some(word), Role::Refers(RefShape::Call));
    for &leaf in all.iter().skip(usize::from(is_fixture)).filter(|&&leaf| leaf != name) {
        walk.roles.mark(Some(leaf), Role::Declares);
        walk.draft.mark_label(walk.tree.node(leaf).span());
    }
    walk.roles.mark(Some(name), Role::Declares);
    let segment = all.iter().map(|&leaf| walk.text(leaf)).collect::<Vec<_>>().join("::");
    let owner = is_fixture.then(|| walk.name_expr(all[0]));
    let span = walk.tree.node(at).span();
    let body = walk.child(at, "body").map_or(span.end, |body| walk.tree.node(body).start);
    let kind = if is_fixture { SymbolKind::Method } else { SymbolKind::Fn };
    let name = walk.tree.node(name).span();
    test_symbol(walk, kind, (span, name), &segment, body, owner, walk.tree.next(at));
    let symbol = walk.draft.symbol_count().checked_sub(1);
    walk.open_function(at, symbol);
    true
}

fn is_macro(name: &str) -> bool {
    name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// `TEST_CASE("title") {…}`: the grammar parses it as a call and a block.
pub(super) fn test_block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let block = walk.tree.next(at);
    let is_block =
        block < walk.tree.len() && walk.kind(block) == "compound_statement" && walk.parent(block) == walk.parent(at);
    let Some(call) = walk.items(at).next().filter(|&call| is_block && walk.kind(call) == "call_expression") else {
        return at + 1;
    };
    let word = walk.child(call, "function").filter(|&word| is_macro(walk.text(word)));
    let between = walk.tree.node(call).end as usize..walk.tree.node(block).start as usize;
    let is_one = word.is_some() && walk.draft.text.get(between).is_some_and(|between| between.trim().is_empty());
    let title = walk.child(call, "arguments").filter(|_| is_one).and_then(|list| walk.child_of(list, "string_literal"));
    if let Some(title) = title.and_then(|title| walk.child_of(title, "string_content")) {
        let (start, end) = (walk.tree.node(at).start, walk.tree.node(block).end);
        let name = walk.tree.node(title).span();
        let segment = walk.draft.slice(name).to_owned();
        let body = walk.tree.node(block).start;
        let span = Span { start, end };
        test_symbol(walk, SymbolKind::Test, (span, name), &segment, body, None, walk.tree.next(block));
    }
    at + 1
}

/// Adds the symbol of a test, given its span and the span of its name.
fn test_symbol(
    walk: &mut Walk<'_, '_>,
    kind: SymbolKind,
    (span, name_span): (Span, Span),
    segment: &str,
    body: u32,
    owner: Option<ExprId>,
    end: usize,
) {
    let name = walk.draft.slice(name_span);
    let header = walk.draft.slice(Span { start: span.start, end: body });
    let is_hidden = is_hidden(walk);
    walk.draft.symbol(
        NewSymbol {
            kind,
            name,
            segment,
            separator: "::",
            impl_trait: None,
            signature: text::signature(header.trim_end()),
            visibility_text: None,
            visibility: Some(if is_hidden { Visibility::Private } else { Visibility::Public }),
            span,
            outer_start: span.start,
            name_span,
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras { owner, flags: Flags::FILE_ONLY, ..SymbolExtras::default() },
            is_test: true,
        },
        end,
    );
}

/// Variables and prototypes: symbols at namespace or class level, local bindings in functions.
pub(super) fn declaration(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "template_declaration" {
        declare(walk, at, at);
    }
    at + 1
}

/// Declares the names of a declaration; `outer` is the enclosing template declaration, or the declaration itself.
pub(super) fn declare(walk: &mut Walk<'_, '_>, outer: usize, at: usize) {
    let is_template = outer != at;
    let is_member = enclosing_class_name(walk).is_some();
    let is_local = walk.is_local(at) && !is_member;
    let is_friend = walk.kind(walk.parent(outer)) == "friend_declaration";
    let (flags, visibility) = declared_modifiers(walk, at);
    let is_extern = has_word(walk, at, "extern");
    let declarators: Vec<usize> = walk.children_in(at, "declarator").collect();
    if is_template {
        walk.draft.block(walk.tree.next(outer), false);
    }
    for declarator in declarators {
        if let Some(list) =
            walk.child(declarator, "declarator").filter(|&of| walk.kind(of) == "structured_binding_declarator")
        {
            let value = walk.child(declarator, "value").map(|value| walk.lower(value));
            bind_parts(walk, list, value, declarator);
            continue;
        }
        let Some(name) = declared_name(walk, declarator) else { continue };
        let is_function = is_function(walk, declarator);
        if is_friend {
            walk.roles.mark(Some(name.name), Role::Refers(RefShape::Value));
            continue;
        }
        if is_local && (!is_function || looks_constructed(walk, declarator)) {
            local(walk, at, declarator, &name);
            continue;
        }
        if is_local {
            walk.roles.mark(Some(name.name), Role::Refers(RefShape::Value));
            continue;
        }
        if !is_function {
            refer_to_constructor(walk, at, declarator);
        }
        let value = walk.child(declarator, "value").filter(|_| walk.kind(declarator) == "init_declarator");
        let is_announced = !is_function && value.is_none() && is_extern;
        if is_announced || name.scope.is_some() && is_function {
            // An `extern` declaration is defined in another file.
            continue;
        }
        let is_open = value.is_some_and(|value| walk.text(value) == "0") && is_function;
        let kind = match (is_function, name.scope.is_some() || is_member) {
            (true, _) => SymbolKind::Prototype,
            (false, true) => SymbolKind::Field,
            (false, false) => SymbolKind::Var,
        };
        let end = match (is_template, is_function) {
            (true, _) => walk.tree.next(outer),
            // The code that initialises a variable belongs to it.
            (false, false) => walk.tree.next(declarator),
            (false, true) => 0,
        };
        let symbol = walk.define(
            outer,
            Definition {
                name_span: Some(name.span),
                segment: name.segment.as_deref(),
                value: value.filter(|_| !is_function && !has_constructor_args(walk, declarator)),
                flags: flags | Flags::ABSTRACT.when(is_open),
                visibility,
                end,
                ..Definition::new(kind, name.name)
            },
        );
        if is_template {
            super::hooks::bind_parameters(walk, outer, at);
        }
        annotate(walk, at, declarator, symbol, name.scope);
    }
}

/// Sets the declared type and the owner of a symbol.
pub(super) fn annotate(
    walk: &mut Walk<'_, '_>,
    at: usize,
    declarator: usize,
    symbol: Option<u32>,
    scope: Option<usize>,
) {
    let Some(symbol) = symbol else { return };
    let owner = scope.map(|scope| walk.lower(scope));
    if is_auto(walk, at) && !is_function(walk, declarator) {
        return;
    }
    let base = base_type(walk, at);
    let of = read_declarator(walk, base, declarator).of_type;
    walk.draft.annotate_symbol(symbol, of, owner);
}

/// Whether a declaration infers its type from its value.
pub(super) fn is_auto(walk: &Walk<'_, '_>, at: usize) -> bool {
    walk.child(at, "type").is_some_and(|of| walk.kind(of) == "placeholder_type_specifier")
}

/// Whether a declarator declares a function, and not a pointer to one.
pub(super) fn is_function(walk: &Walk<'_, '_>, declarator: usize) -> bool {
    let (mut at, mut is_function) = (declarator, false);
    for _ in 0..MAX_DEPTH {
        at = match walk.kind(at) {
            "function_declarator" => {
                is_function = true;
                match walk.child(at, "declarator") {
                    Some(inner) => inner,
                    None => return true,
                }
            }
            "operator_cast" => return true,
            "init_declarator" | "pointer_declarator" | "array_declarator" | "pointer_type_declarator" => {
                is_function = false;
                match walk.child(at, "declarator") {
                    Some(inner) => inner,
                    None => return false,
                }
            }
            "qualified_identifier" => match walk.children_in(at, "name").last() {
                Some(inner) => inner,
                None => return is_function,
            },
            "parenthesized_declarator" | "attributed_declarator" | "reference_declarator" => {
                match walk
                    .items(at)
                    .find(|&inner| walk.kind(inner).contains("declarator") || walk.kind(inner).contains("identifier"))
                {
                    Some(inner) => inner,
                    None => return is_function,
                }
            }
            _ => return is_function,
        };
    }
    is_function
}

/// Whether an apparent function declaration inside a function constructs a value: `T x(a, b)`.
fn looks_constructed(walk: &Walk<'_, '_>, declarator: usize) -> bool {
    let Some(list) = walk.child(declarator, "parameters").filter(|_| walk.kind(declarator) == "function_declarator")
    else {
        return false;
    };
    let is_name = |item: usize| {
        walk.kind(item) == "parameter_declaration"
            && walk.child(item, "declarator").is_none()
            && walk
                .child(item, "type")
                .is_some_and(|of| matches!(walk.kind(of), "type_identifier" | "qualified_identifier"))
    };
    walk.items(list).next().is_some() && walk.items(list).all(is_name)
}

/// Whether a declarator has constructor arguments.
fn has_constructor_args(walk: &Walk<'_, '_>, declarator: usize) -> bool {
    let value = walk.child(declarator, "value");
    value.is_some_and(|value| matches!(walk.kind(value), "argument_list" | "initializer_list"))
        && walk
            .child(declarator, "declarator")
            .is_some_and(|of| matches!(walk.kind(of), "identifier" | "qualified_identifier"))
}

/// `T x(…)` constructs a value of `T`.
fn refer_to_constructor(walk: &mut Walk<'_, '_>, at: usize, declarator: usize) {
    if !has_constructor_args(walk, declarator) && !looks_constructed(walk, declarator) {
        return;
    }
    if let Some(leaf) = walk.child(at, "type").and_then(|of| leaf_of(walk, of)) {
        walk.roles.mark(Some(leaf), Role::Refers(RefShape::Construct));
        walk.call(declarator, Some(leaf));
    }
}

/// The value that a declarator constructs or is initialised with.
pub(super) fn declared_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let args: Box<[ExprId]> = match (walk.kind(at), walk.child(at, "value")) {
        ("init_declarator", Some(list)) if has_constructor_args(walk, at) => walk.lower_all(list),
        ("init_declarator", Some(value)) => return walk.lower(value),
        ("function_declarator", _) if looks_constructed(walk, at) => {
            let items: Vec<usize> =
                walk.child(at, "parameters").map_or_else(Vec::new, |list| walk.items(list).collect());
            let types: Vec<usize> = items.into_iter().filter_map(|item| walk.child(item, "type")).collect();
            types.into_iter().map(|of| walk.lower(of)).collect()
        }
        _ => return walk.other(),
    };
    let around = walk.parent(at);
    let of = base_type(walk, around);
    let callee = walk.draft.expr(Expr::New(of));
    walk.draft.expr(Expr::Call { callee, args })
}

/// A local variable.
fn local(walk: &mut Walk<'_, '_>, at: usize, declarator: usize, name: &DeclaredName) {
    refer_to_constructor(walk, at, declarator);
    let is_auto = is_auto(walk, at);
    let base = base_type(walk, at);
    let annotation = if looks_constructed(walk, declarator) {
        let all: Vec<usize> =
            (declarator..walk.tree.next(declarator)).filter(|&one| walk.kind(one) == "type_identifier").collect();
        all.into_iter().for_each(|leaf| walk.roles.mark(Some(leaf), Role::Refers(RefShape::Value)));
        base
    } else {
        let DeclaratorInfo { of_type, .. } = read_declarator(walk, base, declarator);
        of_type
    };
    let binding =
        walk.bind_as(name.name, BindingKind::Local, (!is_auto).then_some(annotation), ValuePart::Whole, name.name);
    let value = walk.child(declarator, "value").filter(|_| walk.kind(declarator) == "init_declarator");
    if let (Some(binding), Some(value)) =
        (binding, value.filter(|_| is_auto || !has_constructor_args(walk, declarator)))
    {
        let list = matches!(walk.kind(value), "argument_list" | "initializer_list");
        // `auto x(a)` and `auto x{a}` are `a`.
        let value = if list { walk.items(value).next().unwrap_or(value) } else { value };
        walk.defer_binding_value(binding, value);
    }
}

/// `auto [a, b] = …`: the elements of a pair.
pub(super) fn bind_parts(walk: &mut Walk<'_, '_>, list: usize, value: Option<ExprId>, from: usize) {
    let names: Vec<usize> = walk.items(list).collect();
    let is_pair = names.len() == 2;
    for (name, part) in names.into_iter().zip(["first", "second"].into_iter().chain(std::iter::repeat(""))) {
        let binding = walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, from);
        if let (Some(binding), Some(of), true) = (binding, value, is_pair) {
            let name = walk.draft.word(part);
            let value = walk.draft.expr(Expr::Member { of, name });
            walk.draft.set_binding_value(binding, value);
        }
    }
}

/// A parameter of a function.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_auto = is_auto(walk, at);
    let of = declared_parameter(walk, at);
    let Some(name) = of.name.filter(|&name| walk.roles.get(name) == Role::Unset) else { return at + 1 };
    let is_template = walk.kind(walk.parent(at)) == "template_parameter_list";
    if walk.is_local(at) || is_template {
        let of_type = match walk.kind(at) {
            "variadic_parameter_declaration" => walk.draft.expr(Expr::List(of.of_type)),
            _ => of.of_type,
        };
        walk.bind_as(name, BindingKind::Param, (!is_auto).then_some(of_type), ValuePart::Whole, at);
    } else {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}

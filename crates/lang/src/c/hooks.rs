//! Language-specific hooks of C: declarations, tags, the preprocessor.

use codecompass_model::{
    BindingKind, Expr, ExprId, Flags, Import, ImportForm, RefShape, Span, SymbolKind, ValuePart, Visibility, Wrap,
};

use super::declarators::{base_type, parameter as declared_parameter, read_declarator};
use super::kind_of_tag;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// A function with its body.
pub(crate) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(declarator) = walk.child(at, "declarator") else { return at + 1 };
    if walk.is_local(at) {
        // C has no functions in functions: either the end of the outer one was missed, or this is none.
        if !walk.begins_line(at) {
            return at + 1;
        }
        walk.leave_functions(at);
    }
    let base = base_type(walk, at);
    let of = read_declarator(walk, base, declarator);
    let body = walk.child(at, "body");
    let end = walk.tree.next(at);
    let symbol = of.name.and_then(|name| {
        let annotation = Some(of.of_type);
        walk.define(at, Definition { annotation, body, end, ..Definition::new(SymbolKind::Fn, name) })
    });
    walk.open_function(at, symbol);
    at + 1
}

/// Variables and prototypes: symbols at file level, local bindings in functions.
pub(crate) fn declaration(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let base = base_type(walk, at);
    let declarators: Vec<usize> = walk.children_in(at, "declarator").collect();
    let is_extern =
        walk.items(at).any(|item| walk.kind(item) == "storage_class_specifier" && walk.text(item) == "extern");
    let is_local = walk.is_local(at);
    let mut end = if encloses_members(walk, at, declarators.len()) { walk.tree.next(at) } else { 0 };
    for declarator in declarators {
        let of = read_declarator(walk, base, declarator);
        let Some(name) = of.name else { continue };
        let annotation = Some(of.of_type);
        match (of.is_function, is_local) {
            (true, true) => walk.roles.mark(Some(name), Role::Refers(RefShape::Value)),
            (true, false) => {
                walk.define(at, Definition { annotation, end, ..Definition::new(SymbolKind::Prototype, name) });
            }
            (false, true) if is_extern => {}
            (false, true) => {
                let binding = walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Whole, name);
                if let (Some(binding), Some(value)) = (binding, of.value) {
                    walk.defer_binding_value(binding, value);
                }
            }
            // An `extern` declaration without a value is defined in another file.
            (false, false) if is_extern && of.value.is_none() => {}
            (false, false) => {
                let value = of.value;
                walk.define(at, Definition { annotation, value, end, ..Definition::new(SymbolKind::Var, name) });
            }
        }
        end = 0;
    }
    at + 1
}

/// Whether the contents of a declaration belong to the first symbol that it declares. A structure with a tag keeps its
/// own members. A structure without a tag gives them to that symbol. Anything else does so where only one name is
/// declared.
fn encloses_members(walk: &Walk<'_, '_>, at: usize, names: usize) -> bool {
    let of = walk.child(at, "type").filter(|&of| walk.child(of, "body").is_some());
    match of {
        Some(of) => walk.child(of, "name").is_none(),
        None => names == 1,
    }
}

/// The fields of one declaration.
pub(crate) fn fields(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let base = base_type(walk, at);
    let declarators: Vec<usize> = walk.children_in(at, "declarator").collect();
    // The members of a structure without a tag belong to the field.
    let mut end = if encloses_members(walk, at, declarators.len()) { walk.tree.next(at) } else { 0 };
    for declarator in declarators {
        let of = read_declarator(walk, base, declarator);
        if let Some(name) = of.name {
            let annotation = Some(of.of_type);
            walk.define(at, Definition { annotation, end, ..Definition::new(SymbolKind::Field, name) });
        }
        end = 0;
    }
    at + 1
}

/// `typedef`: aliases of a type. A structure without a tag gets its name here.
pub(crate) fn type_definition(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.child(at, "type");
    let unnamed = of.filter(|&of| walk.child(of, "body").is_some() && walk.child(of, "name").is_none());
    let base = base_type(walk, at);
    let declarators: Vec<usize> = walk.children_in(at, "declarator").collect();
    let is_plain = |declarator: &usize| walk.kind(*declarator) == "type_identifier";
    let named = unnamed.and_then(|_| declarators.first().copied().filter(is_plain));
    for declarator in declarators.into_iter().filter(|declarator| Some(*declarator) != named) {
        let declared = read_declarator(walk, base, declarator);
        let Some(name) = declared.name else { continue };
        let (annotation, flags) = (Some(declared.of_type), Flags::ALIAS);
        walk.define(at, Definition { annotation, flags, ..Definition::new(SymbolKind::Type, name) });
    }
    // The structure comes last because the nodes that follow are inside it.
    if let (Some(of), Some(name)) = (unnamed, named) {
        let (body, end) = (walk.child(of, "body"), walk.tree.next(at));
        walk.define(at, Definition { body, end, ..Definition::new(kind_of_tag(walk.kind(of)), name) });
    }
    at + 1
}

/// `struct a {…}`: a symbol; without a body it is only a reference.
pub(crate) fn structure(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(name), Some(body)) = (walk.child(at, "name"), walk.child(at, "body")) {
        let (body, end) = (Some(body), walk.tree.next(at));
        walk.define(at, Definition { body, end, ..Definition::new(kind_of_tag(walk.kind(at)), name) });
    }
    at + 1
}

/// A type named by its tag. Tags have their own namespace.
pub(crate) fn tagged(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.child(at, "name") {
        Some(name) => {
            let word = walk.kind(at).split('_').next().unwrap_or("struct");
            let name = format!("{word} {}", walk.text(name));
            walk.draft.name_expr(&name, at)
        }
        None => {
            let span = walk.tree.node(at).span();
            // A structure that `typedef` names is known by that name.
            let around = walk.parent(at);
            let named = (walk.kind(around) == "type_definition").then(|| walk.child(around, "declarator")).flatten();
            match named.filter(|&name| walk.kind(name) == "type_identifier") {
                Some(name) => walk.name_expr(name),
                None => walk.draft.expr(Expr::Inline(span)),
            }
        }
    }
}

/// A parameter of a function.
pub(crate) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = declared_parameter(walk, at);
    if let Some(name) = of.name.filter(|_| is_of_defined_function(walk, at)) {
        walk.bind_as(name, BindingKind::Param, Some(of.of_type), ValuePart::Whole, at);
    } else if let Some(name) = of.name {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}

/// Whether a parameter belongs to the function being defined, and not to the type of one of its parameters.
fn is_of_defined_function(walk: &Walk<'_, '_>, at: usize) -> bool {
    let mut around = walk.parent(walk.parent(at));
    while walk.kind(around).ends_with("declarator") {
        around = walk.parent(around);
    }
    walk.kind(around) == "function_definition"
}

/// The names in an old-style (K&R) parameter list, whose types follow after the list.
pub(crate) fn old_parameters(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_meant = |&item: &usize| walk.kind(item) == "identifier" && walk.is_local(at);
    let names: Vec<usize> = walk.items(at).filter(is_meant).collect();
    for name in names {
        walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
    }
    at + 1
}

/// `#include`: a symbol and the import.
pub(crate) fn include(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let Some(path_at) = walk.child(at, "path") else { return next };
    let quoted = walk.tree.node(path_at).span();
    if !matches!(walk.kind(path_at), "string_literal" | "system_lib_string") || quoted.end < quoted.start + 2 {
        return at + 1;
    }
    let name_span = Span { start: quoted.start + 1, end: quoted.end - 1 };
    let path = walk.draft.slice(name_span);
    let node = walk.tree.node(at);
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: path,
            segment: path,
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.draft.slice(Span { start: node.start, end: quoted.end })),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: Span { start: node.start, end: quoted.end },
            outer_start: node.start,
            name_span,
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
        module: path.to_owned(),
        name: None,
        alias: None,
        glob: true,
        reexport: true,
        form: ImportForm::Static,
        line: walk.draft.line(name_span.start),
        symbol: walk.draft.enclosing_index(),
    });
    next
}

/// `#define`, unless it is an include guard.
pub(crate) fn macro_definition(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let around = walk.parent(at);
    let guarded = walk.child(around, "name").filter(|_| walk.kind(around) == "preproc_ifdef");
    let is_guard =
        walk.child(at, "value").is_none() && guarded.is_some_and(|guard| walk.text(guard) == walk.text(name));
    if is_guard {
        return at + 1;
    }
    let (value, end) = (walk.child(at, "value"), walk.tree.next(at));
    walk.define(
        at,
        Definition {
            body: value.filter(|&value| walk.text(value).len() > 60),
            end,
            ..Definition::new(SymbolKind::Macro, name)
        },
    );
    if let Some(list) = walk.child(at, "parameters") {
        walk.scope(at);
        let names: Vec<usize> = walk.items(list).collect();
        for name in names {
            walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, list);
        }
    }
    at + 1
}

/// The replacement text of a macro. The grammar does not parse it, but calls in it are references.
pub(crate) fn macro_text(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    macro_text_without(walk, at, &[])
}

/// Like `macro_text`, for a language with additional keywords.
pub(crate) fn macro_text_without(walk: &mut Walk<'_, '_>, at: usize, words: &[&str]) -> usize {
    let span = walk.tree.node(at).span();
    let bytes = walk.draft.slice(span).as_bytes();
    let is_word = |name: &str| KEYWORDS.contains(&name) || words.contains(&name);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut from, mut quote) = (0, 0);
    while from < bytes.len() {
        let byte = bytes[from];
        let mut to = from + 1;
        if quote != 0 {
            to += usize::from(byte == b'\\');
            quote = if byte == quote { 0 } else { quote };
        } else if byte == b'"' || byte == b'\'' {
            quote = byte;
        } else if is_part(byte) {
            to = from + bytes[from..].iter().take_while(|byte| is_part(**byte)).count();
            let name = Span { start: span.start + from as u32, end: span.start + to as u32 };
            let next = bytes[to..].iter().find(|byte| !byte.is_ascii_whitespace());
            let before = bytes[..from].iter().rev().find(|byte| !byte.is_ascii_whitespace());
            let is_member = matches!(before, Some(b'.')) || bytes[..from].ends_with(b"->");
            if !byte.is_ascii_digit() && !is_member && !is_word(walk.draft.slice(name)) {
                let shape = if next == Some(&b'(') { RefShape::Call } else { RefShape::Value };
                walk.draft.reference(name, shape, None);
            }
        }
        from = to;
    }
    at + 1
}

/// Keywords, which are not names.
pub(crate) const KEYWORDS: &[&str] = &[
    "break", "case", "char", "const", "continue", "default", "defined", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "return", "short", "signed", "sizeof", "static",
    "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
];

/// `&x` and `*x`.
pub(crate) fn pointer(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let how = if walk.text(at).starts_with('&') { Wrap::Ref } else { Wrap::Deref };
    match walk.child(at, "argument") {
        Some(of) => {
            let of = walk.lower(of);
            walk.draft.expr(Expr::Wrap { how, of })
        }
        None => walk.other(),
    }
}

/// `.field = …` in an initialiser list: a field of the type that the list initialises.
pub(crate) fn designated(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let field = walk.child(at, "designator").filter(|&of| walk.kind(of) == "field_designator");
    let name = field.and_then(|field| walk.items(field).next());
    let (mut around, mut depth) = (walk.parent(at), 0);
    while walk.kind(around) == "initializer_list" {
        (around, depth) = (walk.parent(around), depth + 1);
    }
    // In nested braces, only the elements of an array have the declared type.
    let is_list = walk.child(around, "declarator").is_some_and(|of| walk.kind(of) == "array_declarator");
    let of = match walk.kind(around) {
        _ if depth != 1 + usize::from(is_list) => None,
        "init_declarator" => walk.child(walk.parent(around), "type"),
        "compound_literal_expression" => walk.child(around, "type"),
        _ => None,
    };
    if let (Some(name), Some(of)) = (name, of) {
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `offsetof(struct a, b)`.
pub(crate) fn offset(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let member = walk.items(at).find(|&item| walk.kind(item) == "field_identifier");
    if let (Some(member), Some(of)) = (member, walk.child(at, "type")) {
        walk.set_qualifier(member, of);
    }
    at + 1
}

/// A type that consists of one or more keywords.
pub(crate) fn primitive(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = walk.text(at);
    let name = if walk.kind(at) == "primitive_type" { name } else { "int" };
    walk.draft.name_expr(name, at)
}

/// A type in a cast. Its pointer declarators come after it.
pub(crate) fn described_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let base = base_type(walk, at);
    match walk.child(at, "declarator") {
        Some(declarator) => read_declarator(walk, base, declarator).of_type,
        None => base,
    }
}

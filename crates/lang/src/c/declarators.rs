//! Declarators: the name and type that each one declares, read from the inside out.

use codecompass_model::{Expr, ExprId, FuncExpr};

use crate::spec::Walk;

/// Maximum nesting depth of a declarator. Deeper parts are ignored.
const MAX_DEPTH: usize = 40;

/// The name, type and value that one declarator declares.
pub(crate) struct DeclaratorInfo {
    /// The node of the name; `None` for a parameter without one.
    pub(crate) name: Option<usize>,
    pub(crate) of_type: ExprId,
    /// Whether it declares a function. A pointer to a function does not count.
    pub(crate) is_function: bool,
    pub(crate) value: Option<usize>,
}

/// Applies a declarator to a base type.
pub(crate) fn read_declarator(walk: &mut Walk<'_, '_>, base: ExprId, declarator: usize) -> DeclaratorInfo {
    let mut found = DeclaratorInfo { name: None, of_type: base, is_function: false, value: None };
    let mut at = Some(declarator);
    for _ in 0..MAX_DEPTH {
        let Some(node) = at else { break };
        at = match walk.kind(node) {
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" | "destructor_name"
            | "operator_name" => {
                found.name = Some(node);
                break;
            }
            // `void A::f()`, and `f<int>()`.
            "qualified_identifier" => walk.children_in(node, "name").last(),
            "template_function" | "template_method" | "template_type" => walk.child(node, "name"),
            "operator_cast" => {
                let base = base_type(walk, node);
                found.name = Some(node);
                found.is_function = true;
                let behind = walk.child(node, "declarator");
                found.of_type = behind.map_or(base, |behind| read_declarator(walk, base, behind).of_type);
                break;
            }
            "pointer_type_declarator" => {
                found.is_function = false;
                walk.child(node, "declarator")
            }
            "init_declarator" => {
                found.value = walk.child(node, "value");
                walk.child(node, "declarator")
            }
            "pointer_declarator" | "array_declarator" | "abstract_pointer_declarator" | "abstract_array_declarator" => {
                found.is_function = false;
                found.of_type = walk.draft.expr(Expr::List(found.of_type));
                walk.child(node, "declarator")
            }
            "function_declarator" | "abstract_function_declarator" => {
                found.is_function = true;
                found.of_type = function(walk, node, found.of_type);
                // `int attribute(1, 2) f(int a)`: the grammar parses the macro as the name.
                let behind = walk.child_of(node, "call_expression").and_then(|call| walk.child(call, "function"));
                behind.or_else(|| walk.child(node, "declarator"))
            }
            // A reference has the members of its target.
            "parenthesized_declarator"
            | "attributed_declarator"
            | "abstract_parenthesized_declarator"
            | "reference_declarator"
            | "abstract_reference_declarator"
            | "variadic_declarator" => walk.items(node).find(|&inner| is_declarator(walk.kind(inner))),
            _ => None,
        };
    }
    found
}

fn is_declarator(kind: &str) -> bool {
    kind.ends_with("declarator") || kind.ends_with("identifier") || kind.ends_with("_name")
}

/// Returns the type of a function with this result.
fn function(walk: &mut Walk<'_, '_>, at: usize, result: ExprId) -> ExprId {
    let list: Vec<usize> = walk.child(at, "parameters").map_or_else(Vec::new, |list| walk.items(list).collect());
    let mut of = FuncExpr { results: vec![result], ..FuncExpr::default() };
    let behind = walk.child_of(at, "trailing_return_type").and_then(|of| walk.items(of).next());
    if let Some(behind) = behind {
        of.results = vec![walk.lower(behind)];
    }
    for item in list {
        match walk.kind(item) {
            "variadic_parameter" => of.variadic = true,
            "parameter_declaration" => of.params.push(parameter(walk, item).of_type),
            // An optional parameter is encoded as a union with a single alternative.
            "optional_parameter_declaration" => {
                let param = parameter(walk, item).of_type;
                of.params.push(walk.draft.expr(Expr::Either(Box::new([param]))));
            }
            "variadic_parameter_declaration" => {
                of.variadic = true;
                let each = parameter(walk, item).of_type;
                of.params.push(walk.draft.expr(Expr::List(each)));
            }
            _ => of.params.push(walk.other()),
        }
    }
    walk.draft.expr(Expr::Func(Box::new(of)))
}

/// Returns the name and type of a parameter.
pub(crate) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> DeclaratorInfo {
    let base = base_type(walk, at);
    match walk.child(at, "declarator") {
        Some(declarator) => read_declarator(walk, base, declarator),
        None => DeclaratorInfo { name: None, of_type: base, is_function: false, value: None },
    }
}

/// Returns the type before the declarators.
pub(crate) fn base_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.child(at, "type") {
        Some(of) => walk.lower(of),
        None => walk.other(),
    }
}

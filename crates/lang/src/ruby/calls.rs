//! Calls of methods and of language constructs, and names that may be a variable or a call.

use codecompass_model::{Expr, ExprId, Import, ImportForm, LexicalTarget, RefShape};

use super::hooks::{declaring_call, type_around};
use crate::roles::Role;
use crate::spec::Walk;

/// A call: sets the reference shape of its name, and adds the declarations and imports that it makes.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "method") else { return at + 1 };
    let (word, receiver) = (walk.text(name), walk.child(at, "receiver"));
    let is_own = receiver.is_some_and(|of| walk.kind(of) == "self");
    // The grammar parses `A::B` as a call only when an argument list follows.
    let shape = match receiver {
        _ if word == "new" => RefShape::Construct,
        Some(_) if is_own => RefShape::SelfCall,
        Some(_) => RefShape::MemberCall,
        None => RefShape::Call,
    };
    walk.roles.mark(Some(name), Role::Refers(shape));
    match receiver {
        Some(of) => walk.set_qualifier(name, of),
        None if word == "new" => {
            if let Some(of) = type_around(walk, at) {
                walk.set_qualifier_expr(name, of);
            }
        }
        None => {
            require(walk, at, word);
            declaring_call(walk, at, word);
        }
    }
    at + 1
}

/// `require "a"`.
fn require(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    if !matches!(word, "require" | "require_relative" | "load" | "autoload") {
        return;
    }
    let args: Vec<usize> = walk.child(at, "arguments").map_or_else(Vec::new, |list| walk.items(list).collect());
    let Some(&text) = args.last() else { return };
    let Some(content) = walk.child_of(text, "string_content").filter(|_| walk.kind(text) == "string") else { return };
    // An interpolated string is not a module name.
    if walk.items(text).nth(1).is_some() {
        return;
    }
    let module = walk.text(content);
    let module = if word == "require_relative" { format!("./{module}") } else { module.to_owned() };
    walk.draft.import(Import {
        module,
        name: None,
        alias: None,
        glob: false,
        reexport: false,
        form: ImportForm::Require,
        line: walk.draft.line(walk.tree.node(at).start),
        symbol: walk.draft.enclosing_index(),
    });
}

/// The value of a call: `X.new` is a value of `X`, `self.class` the class itself.
pub(super) fn call_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(name) = walk.child(at, "method") else { return walk.other() };
    let receiver = walk.child(at, "receiver");
    let word = walk.text(name);
    let args = Box::default();
    let callee = match (receiver, word) {
        (Some(of), "class") if walk.kind(of) == "self" => return type_around(walk, at).unwrap_or_else(|| walk.other()),
        // These return their receiver.
        (Some(of), "freeze" | "dup" | "clone" | "tap" | "itself") => return walk.lower(of),
        (Some(of), "new") => {
            let of = walk.lower(of);
            walk.draft.expr(Expr::New(of))
        }
        (None, "new") => match type_around(walk, at) {
            Some(of) => walk.draft.expr(Expr::New(of)),
            None => return walk.other(),
        },
        (Some(of), _) => {
            let of = walk.lower(of);
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        (None, _) if walk.kind(name) == "identifier" => walk.name_expr(name),
        (None, _) => return walk.other(),
    };
    walk.draft.expr(Expr::Call { callee, args })
}

/// `A::B`.
pub(super) fn scope(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        match walk.child(at, "scope") {
            Some(of) => walk.set_qualifier(name, of),
            None => {
                // `::A` is looked up at the top level only.
                let of = walk.draft.word("");
                let of = walk.draft.expr(Expr::Module(of));
                walk.set_qualifier_expr(name, of);
            }
        }
    }
    at + 1
}

/// Lowers `A::B`.
pub(super) fn scope_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(name) = walk.child(at, "name") else { return walk.other() };
    match walk.child(at, "scope") {
        Some(of) => {
            let of = walk.lower(of);
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        None => {
            let of = walk.draft.word("");
            let of = walk.draft.expr(Expr::Module(of));
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
    }
}

/// `a || b` is either operand.
pub(super) fn binary(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return walk.other() };
    match walk.text_between(left, right).trim() {
        "||" | "or" => {
            let both = Box::new([walk.lower(left), walk.lower(right)]);
            walk.draft.expr(Expr::Either(both))
        }
        "&&" | "and" => walk.lower(right),
        _ => walk.other(),
    }
}

/// An array or hash literal has a library type.
pub(super) fn array(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = if walk.kind(at) == "array" { "Array" } else { "Hash" };
    let of = walk.draft.name_expr(name, at);
    walk.draft.expr(Expr::Cast(of))
}

/// A symbol literal has a library type.
pub(super) fn symbol(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let of = walk.draft.name_expr("Symbol", at);
    walk.draft.expr(Expr::Cast(of))
}

/// `super` calls the method that the enclosing method overrides.
pub(super) fn super_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.draft.expr(Expr::Super);
    walk.draft.reference_with_receiver(walk.tree.node(at).span(), RefShape::MemberCall, of);
    at + 1
}

/// A name that is not a variable is a call of the object's own method.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_local = walk.draft.is_local(walk.tree.node(at).span());
    if matches!(walk.text(at), "__method__" | "__dir__" | "private" | "public" | "protected" | "module_function")
        && !is_local
    {
        walk.roles.mark(Some(at), Role::Declares);
        walk.draft.mark_label(walk.tree.node(at).span());
    } else if !is_local && walk.text(at) == "new" && walk.roles.get(at) == Role::Unset {
        // A bare `new` constructs a value of the enclosing class.
        walk.roles.mark(Some(at), Role::Refers(RefShape::Construct));
        if let Some(of) = type_around(walk, at) {
            walk.set_qualifier_expr(at, of);
        }
    } else if !is_local {
        walk.roles.mark(Some(at), Role::Refers(RefShape::Call));
    }
    at + 1
}

/// Lowers a bare name; for a call, its result.
pub(super) fn name_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = walk.name_expr(at);
    if matches!(walk.draft.expr_at(name), Expr::Name { seen: LexicalTarget::Local(_), .. }) {
        return name;
    }
    let made = (walk.text(at) == "new").then(|| type_around(walk, at)).flatten();
    let name = made.map_or(name, |of| walk.draft.expr(Expr::New(of)));
    walk.draft.expr(Expr::Call { callee: name, args: Box::default() })
}

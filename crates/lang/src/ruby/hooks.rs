//! Declarations of Ruby: classes and modules, methods, and calls that declare something.

use codecompass_model::{ExprId, Flags, RefShape, Span, SymbolKind, Visibility};

use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Marks on nodes: the definition is private, protected, or belongs to the class itself.
pub(super) const PRIVATE: u32 = 1;
pub(super) const PROTECTED: u32 = 2;
pub(super) const STATIC: u32 = 4;

/// Maximum number of ancestors searched from a node.
const MAX_ANCESTORS: usize = 60;

/// `class A::B < C`, `module M`.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    // The keyword is a node of the same kind.
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let leaf = if walk.kind(name) == "scope_resolution" { walk.child(name, "name") } else { Some(name) };
    let Some(leaf) = leaf else { return at + 1 };
    let kind = if walk.kind(at) == "module" { SymbolKind::Module } else { SymbolKind::Class };
    let segment: String = walk.text(name).split_whitespace().collect();
    let body = walk.child(at, "body");
    // The header ends with the superclass; no token marks the start of the body.
    let end = walk.tree.next(at);
    let before = walk.child(at, "superclass").unwrap_or(name);
    let head = Some(walk.tree.node(before).end);
    let segment = Some(segment.trim_start_matches(':'));
    walk.define(at, Definition { segment, head, end, ..Definition::new(kind, leaf) });
    walk.draft.block(end, true);
    if let Some(body) = body {
        note_visibility(walk, body, 0);
    }
    at + 1
}

/// A bare `private` applies to everything after it; in `class << self` everything belongs to the class.
fn note_visibility(walk: &mut Walk<'_, '_>, body: usize, always: u32) {
    let items: Vec<usize> = walk.items(body).collect();
    let mut now = 0;
    for item in items {
        match (walk.kind(item), walk.text(item)) {
            ("identifier", "private") => now = PRIVATE,
            ("identifier", "protected") => now = PROTECTED,
            ("identifier", "public") => now = 0,
            ("method" | "call", _) if now | always != 0 => walk.mark(item, now | always),
            _ => {}
        }
    }
}

/// `class << self`.
pub(super) fn singleton_class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(body) = walk.child(at, "body") {
        note_visibility(walk, body, STATIC);
    }
    at + 1
}

/// `< Base`.
pub(super) fn superclass(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.items(at).next();
    if let Some(of) = of {
        base(walk, of, RefShape::Extends);
    }
    at + 1
}

/// Adds a base type to the enclosing class.
pub(super) fn base(walk: &mut Walk<'_, '_>, of: usize, shape: RefShape) {
    let name = match walk.kind(of) {
        "constant" => Some(of),
        "scope_resolution" => walk.child(of, "name"),
        _ => return,
    };
    walk.roles.mark(name, Role::Refers(shape));
    let of = walk.lower(of);
    walk.draft.add_base(of);
}

/// `def a`, `def self.a`.
pub(super) fn method(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    // The setter of `a` is named `a=`; the inner name is not a name of its own.
    let inner = walk.child(name, "name").filter(|_| walk.kind(name) == "setter");
    walk.roles.mark(inner, Role::Declares);
    let note = notes_of(walk, at);
    let is_static = walk.kind(at) == "singleton_method" || note & STATIC != 0;
    let in_type = walk.draft.enclosing().is_some_and(|around| is_type(around.kind));
    let (body, end) = (walk.child(at, "body"), walk.tree.next(at));
    let visibility = match note {
        note if note & PRIVATE != 0 && walk.kind(at) == "method" => Visibility::Private,
        note if note & PROTECTED != 0 => Visibility::Protected,
        _ => Visibility::Public,
    };
    let kind = if in_type { SymbolKind::Method } else { SymbolKind::Fn };
    let flags = Flags::STATIC.when(is_static);
    let before = walk.child(at, "parameters").unwrap_or(name);
    let head = Some(walk.tree.node(before).end);
    let visibility = Some(visibility);
    let symbol = walk.define(at, Definition { head, flags, visibility, end, ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    walk.draft.block(end, true);
    if let Some(symbol) = symbol {
        let of = walk.function_type(None, None);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    let last = body.and_then(|body| match walk.kind(body) {
        "body_statement" => walk.items(body).last(),
        _ => Some(body),
    });
    if let Some(last) = last.filter(|&last| !matches!(walk.kind(last), "return" | "rescue" | "")) {
        walk.defer_return(last);
    }
    at + 1
}

/// Returns the marks of a definition, which may be an argument: `private def a`.
fn notes_of(walk: &Walk<'_, '_>, at: usize) -> u32 {
    let own = walk.marked(at);
    let list = walk.parent(at);
    if walk.kind(list) != "argument_list" {
        return own;
    }
    let call = walk.parent(list);
    let word = walk.child(call, "method").map_or("", |name| walk.text(name));
    let said = match word {
        "private" => PRIVATE,
        "protected" => PROTECTED,
        "private_class_method" => STATIC,
        _ => 0,
    };
    own | said | walk.marked(call)
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Class | SymbolKind::Module)
}

/// `return a`.
pub(super) fn returns(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let list = walk.child_of(at, "argument_list");
    if let Some(first) = list.and_then(|list| walk.items(list).next()) {
        walk.defer_return(first);
    }
    at + 1
}

/// `alias new old`.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(name), Some(old)) = (walk.child(at, "name"), walk.child(at, "alias")) else { return at + 1 };
    if walk.kind(name) == "identifier" {
        walk.define(at, Definition::new(SymbolKind::Method, name));
    }
    walk.roles.mark(Some(old), Role::Refers(RefShape::Value));
    at + 1
}

/// Adds the declarations of a call in a class: `attr_reader :a`, `define_method(:a)`, `alias_method :a, :b`.
pub(super) fn declaring_call(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    let Some(list) = walk.child(at, "arguments") else { return };
    if !walk.draft.enclosing().is_some_and(|around| is_type(around.kind)) {
        return;
    }
    let args: Vec<usize> = walk.items(list).collect();
    match word {
        "attr_accessor" | "attr_reader" | "attr_writer" | "attr" => {
            for &arg in &args {
                by_symbol(walk, at, arg, SymbolKind::Property, 0);
            }
        }
        "alias_method" => {
            if let Some(&name) = args.first() {
                by_symbol(walk, at, name, SymbolKind::Method, 0);
            }
        }
        "define_method" | "define_singleton_method" => {
            if let Some(&name) = args.first() {
                let end = walk.tree.next(at);
                let symbol = by_symbol(walk, at, name, SymbolKind::Method, end);
                if symbol.is_some() {
                    walk.open_function(at, symbol);
                }
            }
        }
        "include" | "extend" | "prepend" => {
            for &arg in &args {
                base(walk, arg, RefShape::Implements);
            }
        }
        _ => {}
    }
}

/// Returns the name that a symbol or a string spells.
fn spelled_name(walk: &Walk<'_, '_>, at: usize) -> Option<Span> {
    let span = walk.tree.node(at).span();
    match walk.kind(at) {
        "simple_symbol" => Some(Span { start: span.start + 1, end: span.end }),
        "string" => walk.child_of(at, "string_content").map(|text| walk.tree.node(text).span()),
        _ => None,
    }
    .filter(|name| walk.draft.slice(*name).bytes().all(|b| b.is_ascii_alphanumeric() || b"_?!=".contains(&b)))
}

fn by_symbol(walk: &mut Walk<'_, '_>, at: usize, name: usize, kind: SymbolKind, end: usize) -> Option<u32> {
    let named = spelled_name(walk, name)?;
    let note = notes_of(walk, at);
    let visibility = if note & PRIVATE != 0 { Visibility::Private } else { Visibility::Public };
    let head = walk.child(at, "arguments").map(|list| walk.tree.node(list).end);
    let flags = Flags::STATIC.when(note & STATIC != 0);
    let (named, visibility) = (Some(named), Some(visibility));
    walk.define(at, Definition { name_span: named, head, flags, visibility, end, ..Definition::new(kind, name) })
}

/// `A = 1`, `A = Struct.new(:a, :b)`, `A = Class.new(B)`.
pub(super) fn constant(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: usize) {
    let made = (walk.kind(value) == "call" && walk.child(value, "method").is_some_and(|name| walk.text(name) == "new"))
        .then(|| walk.child(value, "receiver").map_or("", |of| walk.text(of)));
    let list = walk.child(value, "arguments");
    match made {
        Some("Struct" | "Class" | "Module" | "Data") => {
            let kind = if made == Some("Module") { SymbolKind::Module } else { SymbolKind::Class };
            let end = walk.tree.next(at);
            walk.define(at, Definition { body: walk.child(value, "block"), end, ..Definition::new(kind, name) });
            let args: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
            for arg in args {
                match made {
                    Some("Class") => base(walk, arg, RefShape::Extends),
                    _ => drop(by_symbol(walk, arg, arg, SymbolKind::Property, 0)),
                }
            }
        }
        _ => {
            let end = walk.tree.next(at);
            walk.define(at, Definition { value: Some(value), end, ..Definition::new(SymbolKind::Const, name) });
        }
    }
}

/// Returns the enclosing class or module of a node by its name.
pub(super) fn type_around(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let mut around = at;
    for _ in 0..MAX_ANCESTORS {
        if around == 0 {
            return None;
        }
        around = walk.parent(around);
        if matches!(walk.kind(around), "class" | "module") {
            let name = walk.child(around, "name")?;
            return Some(walk.lower(name));
        }
    }
    None
}

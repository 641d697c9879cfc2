//! The types that a language's table consists of.

use codecompass_model::{BindingKind, ExprId, Flags, Literal, RefShape, SymbolKind, ValuePart, Visibility};

use super::walk::Walk;

/// The specification of a language for the walk.
pub(crate) struct LanguageSpec {
    /// The separator in qualified names.
    pub(crate) separator: &'static str,
    pub(crate) rows: &'static [Row],
    /// The fields that rows and hooks use.
    pub(crate) fields: &'static [&'static str],
    /// The named kinds of the grammar that need no row: only their children matter.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the laws read it"))]
    pub(crate) ignored: &'static [&'static str],
    /// The kinds of comments.
    pub(crate) comments: &'static [&'static str],
    /// The kinds of nodes, beside or before a declaration's own words, that contain modifiers.
    pub(crate) modifiers: &'static [&'static str],
    /// The kinds of annotations and attributes, which do not count as a declaration's own lines.
    pub(crate) attributes: &'static [&'static str],
    /// The meanings of modifiers.
    pub(crate) modifier_words: &'static [(&'static str, ModifierMeaning)],
    /// The default visibility, by the kind of the symbol and of the enclosing one; `None` if the language has no
    /// visibility.
    pub(crate) visibility: fn(SymbolKind, Option<SymbolKind>) -> Option<Visibility>,
    /// Annotations that make a function a test.
    pub(crate) test_marks: &'static [&'static str],
    /// Words in type position that mean that the type is inferred.
    pub(crate) inferred_types: &'static [&'static str],
    /// Words that are never names of symbols, though a grammar may parse them as names in broken code.
    pub(crate) keywords: &'static [&'static str],
    /// Whether a callee is never a local variable.
    pub(crate) calls_skip_locals: bool,
    /// Whether arguments distinguish several functions of a name.
    pub(crate) overloads: bool,
    /// Whether functions do not declare their results.
    pub(crate) infers: bool,
    /// Runs before the walk.
    pub(crate) begin: fn(&mut Walk<'_, '_>),
}

impl LanguageSpec {
    /// An empty specification.
    pub(crate) const PLAIN: Self = Self {
        separator: ".",
        rows: &[],
        fields: &[],
        ignored: &[],
        comments: &[],
        modifiers: &[],
        attributes: &[],
        modifier_words: &[],
        visibility: |_, _| None,
        test_marks: &[],
        inferred_types: &[],
        keywords: &[],
        calls_skip_locals: false,
        overloads: false,
        infers: false,
        begin: |_| {},
    };
}

/// The meaning of a modifier.
#[derive(Clone, Copy)]
pub(crate) enum ModifierMeaning {
    Visibility(Visibility),
    Flag(Flags),
}

/// A node kind, and the actions of a node of that kind, in order.
pub(crate) struct Row {
    pub(crate) kind: &'static str,
    pub(crate) actions: &'static [Action],
}

pub(crate) const fn row(kind: &'static str, does: &'static [Action]) -> Row {
    Row { kind, actions: does }
}

/// An action of a node.
pub(crate) enum Action {
    /// Defines a symbol.
    Define(Define),
    /// Opens a lexical block.
    Scope,
    /// Binds a local name.
    Bind(Bind),
    /// Adds the types in the node as bases of the enclosing symbol.
    Bases(RefShape),
    /// Refers to a name, with this shape unless an outer node assigns another.
    Leaf(RefShape),
    /// Assigns this shape to the name at the selector.
    Refers(Find, RefShape),
    /// Marks the names in the node as labels that refer to nothing.
    Label,
    /// Is an expression or a type.
    Lower(Lower),
    /// Returns a value from the enclosing function.
    Returns,
    /// Records the fields of the children.
    Fields,
    /// Is a comment.
    Comment,
    /// Imports names or names the package: the names in the node are imported.
    Imports,
    /// Skips everything in the node, including its names.
    Opaque,
    /// Runs another action, but only below a node of this kind.
    In(&'static str, &'static Action),
    /// Runs a language-specific hook, which returns the next node to visit.
    Hook(fn(&mut Walk<'_, '_>, usize) -> usize),
}

/// A selector of a node, relative to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Find {
    Nowhere,
    /// The child in this field.
    Field(&'static str),
    /// The parent's child in this field: the node itself or a sibling.
    ParentField(&'static str),
    /// The first child of this kind.
    Kind(&'static str),
    /// The first child that is not a comment.
    First,
    /// The last child that is not a comment.
    Last,
    /// The child in this field of the first child of this kind.
    ChildField(&'static str, &'static str),
    /// The first child of the second kind in the first child of the first kind.
    Grandchild(&'static str, &'static str),
    /// The first child of none of these kinds that is not a comment.
    Except(&'static [&'static str]),
}

/// The definition of a symbol.
pub(crate) struct Define {
    pub(crate) kind: SymbolKind,
    pub(crate) name: Find,
    pub(crate) params: Find,
    pub(crate) type_params: Find,
    pub(crate) of_type: Find,
    pub(crate) value: Find,
    /// The node that ends the header.
    pub(crate) body: Find,
}

pub(crate) const fn define(kind: SymbolKind) -> Define {
    let none = Find::Nowhere;
    Define { kind, name: Find::Field("name"), params: none, type_params: none, of_type: none, value: none, body: none }
}

impl Define {
    pub(crate) const fn params(self, params: &'static str) -> Self {
        Self { params: Find::Field(params), ..self }
    }

    pub(crate) const fn generic(self, type_params: &'static str) -> Self {
        Self { type_params: Find::Field(type_params), ..self }
    }

    pub(crate) const fn of_type(self, of_type: Find) -> Self {
        Self { of_type, ..self }
    }

    pub(crate) const fn value(self, value: Find) -> Self {
        Self { value, ..self }
    }

    pub(crate) const fn body(self, body: &'static str) -> Self {
        Self { body: Find::Field(body), ..self }
    }
}

/// A local binding.
pub(crate) struct Bind {
    pub(crate) kind: BindingKind,
    pub(crate) name: Find,
    pub(crate) of_type: Find,
    pub(crate) value: Find,
    pub(crate) part: ValuePart,
    /// Whether it is visible in its own value.
    pub(crate) in_own_value: bool,
    /// Whether it accepts any number of values.
    pub(crate) variadic: bool,
}

pub(crate) const fn bind(kind: BindingKind, name: Find) -> Bind {
    let none = Find::Nowhere;
    Bind { kind, name, of_type: none, value: none, part: ValuePart::Whole, in_own_value: false, variadic: false }
}

impl Bind {
    pub(crate) const fn of_type(self, of_type: Find) -> Self {
        Self { of_type, ..self }
    }

    pub(crate) const fn value(self, value: Find) -> Self {
        Self { value, ..self }
    }

    pub(crate) const fn part(self, part: ValuePart) -> Self {
        Self { part, ..self }
    }

    pub(crate) const fn variadic(self) -> Self {
        Self { variadic: true, ..self }
    }
}

/// The form of an expression or a type.
pub(crate) enum Lower {
    This,
    Super,
    /// `of.name`.
    Member(Find, Find),
    /// `of.name` or `of->name`: a member of the value that `of` points to.
    PointerMember(Find, Find),
    /// A call of a name, with or without a receiver.
    Call {
        of: Find,
        name: Find,
        args: Find,
    },
    /// A call of any expression.
    CallOf(Find, Find),
    /// A call of any expression, with explicit type arguments. A function finds the arguments, because they occur at
    /// more than one position.
    CallWith(Find, Find, fn(&Walk<'_, '_>, usize) -> Vec<usize>),
    /// A constructed value: its type and the constructor arguments.
    New(Find, Find),
    /// A constructed list with this element type.
    NewList(Find),
    /// An indexed element.
    Index(Find, Find),
    /// A generic type or function with its type arguments.
    Generic(Find, Find),
    /// A cast to a type.
    Cast(Find),
    /// The same as the selected node.
    Same(Find),
    /// One of these alternatives.
    Either(&'static [Find]),
    /// Two operands and an operator.
    Binary,
    /// The type of a list or pointer.
    List(Find),
    /// A closure: its parameters and its body.
    Closure(Find, Find),
    Literal(Literal),
    Hook(fn(&mut Walk<'_, '_>, usize) -> ExprId),
}

/// Returns the kinds of the rows, in order.
pub(crate) const fn kinds<const N: usize>(rows: &[Row]) -> [&'static str; N] {
    let mut kinds = [""; N];
    let mut at = 0;
    while at < N {
        kinds[at] = rows[at].kind;
        at += 1;
    }
    kinds
}

/// The rows that a code list consists of.
#[derive(Clone, Copy)]
pub(crate) enum CodeList {
    Fielded,
    Opaque,
    Names,
    Imports,
}

/// Returns the codes of some rows; the remaining entries match no row.
pub(crate) const fn codes<const N: usize>(rows: &[Row], which: CodeList) -> [u8; N] {
    let mut codes = [u8::MAX; N];
    let mut at = 0;
    while at < N {
        if has_action(rows[at].actions, which) {
            codes[at] = at as u8 + 1;
        }
        at += 1;
    }
    codes
}

const fn has_action(does: &[Action], which: CodeList) -> bool {
    let mut at = 0;
    while at < does.len() {
        match (&does[at], which) {
            (Action::Opaque | Action::Comment, CodeList::Opaque) | (Action::Leaf(_), CodeList::Names) => return true,
            (Action::Imports, CodeList::Imports) => return true,
            (Action::Opaque | Action::Comment | Action::Leaf(_) | Action::Scope | Action::Label, CodeList::Fielded) => {
            }
            (_, CodeList::Fielded) => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Builds the [`Grammar`](crate::tree::Grammar) of a table.
macro_rules! grammar {
    ($rows:expr, $fields:expr, $words:expr, $load:expr) => {{
        use $crate::spec::table::{CodeList, codes, kinds};
        const N: usize = $rows.len();
        const KINDS: &[&str] = &kinds::<N>($rows);
        const FIELDED: &[u8] = &codes::<N>($rows, CodeList::Fielded);
        const OPAQUE: &[u8] = &codes::<N>($rows, CodeList::Opaque);
        const NAMES: &[u8] = &codes::<N>($rows, CodeList::Names);
        const IMPORTS: &[u8] = &codes::<N>($rows, CodeList::Imports);
        $crate::tree::Grammar {
            load: $load,
            kinds: KINDS,
            fields: $fields,
            fielded: FIELDED,
            opaque: OPAQUE,
            names: NAMES,
            imports: IMPORTS,
            words: $words,
            repair: None,
            retries: false,
        }
    }};
}
pub(crate) use grammar;

//! What the rows of a language say.

use codecompass_model::{BindingKind, ExprId, Flags, Literal, Part, RefShape, SymbolKind, Visibility};

use super::walk::Walk;

/// A language for the walk.
pub(crate) struct Recipe {
    /// What stands between the parts of a qualified name.
    pub(crate) separator: &'static str,
    pub(crate) rows: &'static [Row],
    /// The fields that rows and hooks name.
    pub(crate) fields: &'static [&'static str],
    /// The named kinds of the grammar that need no row: nothing but what stands in them is of interest.
    #[cfg_attr(not(test), expect(dead_code, reason = "a law reads it"))]
    pub(crate) ignored: &'static [&'static str],
    /// The kinds of comments.
    pub(crate) comments: &'static [&'static str],
    /// The kinds of nodes, beside or in front of a declaration's own words, that have words which say something about it.
    pub(crate) modifiers: &'static [&'static str],
    /// The kinds of annotations and attributes, which are no part of a declaration's own lines.
    pub(crate) attributes: &'static [&'static str],
    /// What these words say.
    pub(crate) words: &'static [(&'static str, Means)],
    /// The visibility of what no word says it of, by what it is and by what is around it; nothing where the language has
    /// none.
    pub(crate) visibility: fn(SymbolKind, Option<SymbolKind>) -> Option<Visibility>,
    /// Annotations that make a function a test.
    pub(crate) test_marks: &'static [&'static str],
    /// Words that stand where a type has to stand, and say that there is none to be read.
    pub(crate) inferred: &'static [&'static str],
    /// Words that no symbol is called by, though a grammar may take them for names in broken code.
    pub(crate) keywords: &'static [&'static str],
    /// Whether what is called is never a local variable.
    pub(crate) calls_apart: bool,
    /// Whether several functions of a name are told apart by their arguments.
    pub(crate) overloads: bool,
    /// Whether functions do not say what they give back.
    pub(crate) infers: bool,
    /// What is done before anything else.
    pub(crate) begin: fn(&mut Walk<'_, '_>),
}

impl Recipe {
    /// A language of which nothing is said.
    pub(crate) const PLAIN: Self = Self {
        separator: ".",
        rows: &[],
        fields: &[],
        ignored: &[],
        comments: &[],
        modifiers: &[],
        attributes: &[],
        words: &[],
        visibility: |_, _| None,
        test_marks: &[],
        inferred: &[],
        keywords: &[],
        calls_apart: false,
        overloads: false,
        infers: false,
        begin: |_| {},
    };
}

/// What a word in front of a declaration says.
#[derive(Clone, Copy)]
pub(crate) enum Means {
    Seen(Visibility),
    Flag(Flags),
}

/// A kind of node, and what a node of that kind does, in this order.
pub(crate) struct Row {
    pub(crate) kind: &'static str,
    pub(crate) does: &'static [Do],
}

pub(crate) const fn row(kind: &'static str, does: &'static [Do]) -> Row {
    Row { kind, does }
}

/// What a node does.
pub(crate) enum Do {
    /// It is a symbol.
    Define(Define),
    /// It is a lexical block.
    Scope,
    /// It binds a local name.
    Bind(Bind),
    /// The types in it are what the symbol around it is made from.
    Bases(RefShape),
    /// It is a name, and refers in this way unless something around it says otherwise.
    Leaf(RefShape),
    /// The name in a field refers in this way.
    Refers(Find, RefShape),
    /// The names in it mean nothing but themselves.
    Label,
    /// It is an expression or a type.
    Lower(Lower),
    /// It says what the function around it gives back.
    Returns,
    /// What stands in it asks for its fields.
    Fields,
    /// It is a comment.
    Comment,
    /// It brings names into scope, or names the package: the names in it are imported.
    Imports,
    /// Nothing in it is of interest, not even its names.
    Opaque,
    /// The same as another step, below a node of this kind only.
    In(&'static str, &'static Do),
    /// Something odd. Gives the node to go on with.
    Hook(fn(&mut Walk<'_, '_>, usize) -> usize),
}

/// Where something stands, as seen from a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Find {
    Nowhere,
    /// In this field of the node.
    Field(&'static str),
    /// In this field of the node around it.
    Up(&'static str),
    /// The first child of this kind.
    Kind(&'static str),
    /// The first child that is no comment.
    First,
    /// The last one.
    Last,
    /// In this field of the first child of this kind.
    Within(&'static str, &'static str),
    /// The first child of the second kind in the first child of the first.
    Inside(&'static str, &'static str),
    /// The first child of none of these kinds, which is no comment.
    Beside(&'static [&'static str]),
}

/// A symbol.
pub(crate) struct Define {
    pub(crate) kind: SymbolKind,
    pub(crate) name: Find,
    pub(crate) params: Find,
    pub(crate) type_params: Find,
    pub(crate) of_type: Find,
    pub(crate) value: Find,
    /// Where the header ends.
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

/// A local name.
pub(crate) struct Bind {
    pub(crate) kind: BindingKind,
    pub(crate) name: Find,
    pub(crate) of_type: Find,
    pub(crate) value: Find,
    pub(crate) part: Part,
    /// Whether it can be seen in its own value.
    pub(crate) at_once: bool,
    /// Whether it takes any number of values.
    pub(crate) variadic: bool,
}

pub(crate) const fn bind(kind: BindingKind, name: Find) -> Bind {
    let none = Find::Nowhere;
    Bind { kind, name, of_type: none, value: none, part: Part::Whole, at_once: false, variadic: false }
}

impl Bind {
    pub(crate) const fn of_type(self, of_type: Find) -> Self {
        Self { of_type, ..self }
    }

    pub(crate) const fn value(self, value: Find) -> Self {
        Self { value, ..self }
    }

    pub(crate) const fn part(self, part: Part) -> Self {
        Self { part, ..self }
    }

    pub(crate) const fn variadic(self) -> Self {
        Self { variadic: true, ..self }
    }
}

/// What an expression or a type is.
pub(crate) enum Lower {
    This,
    Super,
    /// `of.name`.
    Member(Find, Find),
    /// The same, or `of->name`: a member of what `of` points to.
    Pointed(Find, Find),
    /// A call: of a name behind a value, or alone.
    Call {
        of: Find,
        name: Find,
        args: Find,
    },
    /// A call of any expression.
    CallOf(Find, Find),
    /// A call of any expression, what is written for its type parameters, and the arguments, which stand at more than one
    /// place: they are found by a function.
    CallWith(Find, Find, fn(&Walk<'_, '_>, usize) -> Vec<usize>),
    /// A value that is made: its type and what the constructor is given.
    New(Find, Find),
    /// A list that is made, of this type of elements.
    NewList(Find),
    /// An element.
    Index(Find, Find),
    /// A generic with its arguments.
    Generic(Find, Find),
    /// A value that is said to be of a type.
    Cast(Find),
    /// The same as what stands there.
    Same(Find),
    /// One of these.
    Either(&'static [Find]),
    /// Two operands and an operator.
    Binary,
    /// The type of lists, or of pointers.
    List(Find),
    /// A function without a name: its parameters and its body.
    Closure(Find, Find),
    Literal(Literal),
    Hook(fn(&mut Walk<'_, '_>, usize) -> ExprId),
}

/// The kinds of the rows, in order.
pub(crate) const fn kinds<const N: usize>(rows: &[Row]) -> [&'static str; N] {
    let mut kinds = [""; N];
    let mut at = 0;
    while at < N {
        kinds[at] = rows[at].kind;
        at += 1;
    }
    kinds
}

/// Which rows a code list is made of.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    Fielded,
    Opaque,
    Names,
    Imports,
}

/// The codes of some rows; the rest of the list is no row's code.
pub(crate) const fn codes<const N: usize>(rows: &[Row], which: Which) -> [u8; N] {
    let mut codes = [u8::MAX; N];
    let mut at = 0;
    while at < N {
        if is_one(rows[at].does, which) {
            codes[at] = at as u8 + 1;
        }
        at += 1;
    }
    codes
}

const fn is_one(does: &[Do], which: Which) -> bool {
    let mut at = 0;
    while at < does.len() {
        match (&does[at], which) {
            (Do::Opaque | Do::Comment, Which::Opaque) | (Do::Leaf(_), Which::Names) => return true,
            (Do::Imports, Which::Imports) => return true,
            (Do::Opaque | Do::Comment | Do::Leaf(_) | Do::Scope | Do::Label, Which::Fielded) => {}
            (_, Which::Fielded) => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// The [`Grammar`](crate::tree::Grammar) of a table.
macro_rules! grammar {
    ($rows:expr, $fields:expr, $words:expr, $load:expr) => {{
        use $crate::recipe::table::{Which, codes, kinds};
        const N: usize = $rows.len();
        const KINDS: &[&str] = &kinds::<N>($rows);
        const FIELDED: &[u8] = &codes::<N>($rows, Which::Fielded);
        const OPAQUE: &[u8] = &codes::<N>($rows, Which::Opaque);
        const NAMES: &[u8] = &codes::<N>($rows, Which::Names);
        const IMPORTS: &[u8] = &codes::<N>($rows, Which::Imports);
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

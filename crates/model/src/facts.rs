//! What a file says about itself: the one narrow waist between extraction and everything after it.
//!
//! Facts depend on a path and bytes and on nothing else. Whom a reference means is not a fact: that is answered at
//! query time, against a snapshot.

use serde::{Deserialize, Serialize};

use crate::{Expr, ExprId, SymbolKind, Visibility};

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The text of this range; empty when the range does not fit the text.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A range of lines, both counted from 1, both inside the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub start: u32,
    /// The last line.
    pub end: u32,
}

/// All that extraction says about one file version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The identifiers that references and expressions name, each once; [`Reference::name`] is an index into it.
    pub names: Vec<String>,
    /// The expressions and types that symbols, references and local names speak of, each once; parts come first.
    pub exprs: Vec<Expr>,
    /// Symbols in source order; a parent stands before its children.
    pub symbols: Vec<Symbol>,
    /// References in source order: every name in the code that is no symbol's own has one, so that nothing is looked over.
    pub references: Vec<Reference>,
    /// What the file brings into scope.
    pub imports: Vec<Import>,
    /// Names that are local to some part of the file: parameters, variables, patterns, type parameters.
    pub bindings: Vec<Binding>,
    /// The text outside symbols in pieces for search, on line borders, in order.
    pub chunks: Vec<Chunk>,
    /// What could not be read. Never a reason to fail.
    pub problems: Vec<Problem>,
    /// How many lines the file has.
    pub lines: u32,
    /// The calls whose arguments tell which of several functions is meant: a reference to the name that is called, and the
    /// whole call. In the order of references.
    pub calls: Vec<(u32, ExprId)>,
    /// What the file gives to whoever loads it.
    pub value: Option<ExprId>,
    /// The references that mean a symbol of a block around them, and that symbol. In the order of references.
    pub seen: Vec<(u32, u32)>,
}

impl FileFacts {
    /// The whole call of which a reference names what is called.
    pub fn call_of(&self, reference: u32) -> Option<ExprId> {
        let at = self.calls.binary_search_by_key(&reference, |(of, _)| *of).ok()?;
        Some(self.calls[at].1)
    }

    /// The symbol of a block that a reference means.
    pub fn seen_by(&self, reference: u32) -> Option<u32> {
        let at = self.seen.binary_search_by_key(&reference, |(of, _)| *of).ok()?;
        Some(self.seen[at].1)
    }
}

/// A definition written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its simple name.
    pub name: String,
    /// Its full name, a function of the file's own path and text.
    pub qualified_name: String,
    /// The index of the enclosing symbol.
    pub parent: Option<u32>,
    /// The trait of an `impl Trait for Type` block, for the block and for what stands in it.
    pub impl_trait: Option<String>,
    /// The how-manieth of its equals (kind, qualified name and trait) in the file, from 0.
    pub ordinal: u32,
    /// The whole header on one line.
    pub signature: String,
    /// The visibility as written (`pub(crate)`, `export`).
    pub visibility_text: Option<String>,
    /// The visibility in common words; where the language has none, what custom says, which no answer shows.
    pub visibility: Option<Visibility>,
    /// The lines from the declaration's first own token to its end; docs, attributes and decorators are outside.
    pub lines: Lines,
    /// The bytes of those lines' declaration.
    pub span: Span,
    /// Where docs, attributes and decorators begin; equal to `span.start` without any.
    pub outer_start: u32,
    /// The bytes of the name itself; empty where the symbol has no name of its own.
    pub name_span: Span,
    /// The line of the name.
    pub name_line: u32,
    /// The column of the name in bytes, from 0.
    pub name_column: u32,
    /// The doc comment or docstring, with its comment marks or quotes.
    pub doc: Option<Span>,
    /// The declared type: of a field, variable or constant, of a function (or only of what it gives back), what an alias
    /// stands for.
    pub annotation: Option<ExprId>,
    /// The expression it starts with, or what a function gives back.
    pub value: Option<ExprId>,
    /// The type, as written, that a member belongs to which stands outside of it.
    pub owner: Option<ExprId>,
    /// The types that a type is made from, as written: base classes, embedded interfaces.
    pub bases: Vec<ExprId>,
    /// The header behind the name, of a language whose rules still read text.
    pub header: Option<ExprId>,
    /// What else its declaration says about it.
    pub flags: Flags,
    /// A hash of attributes and own text: without trailing white space, line-end style and the text of children.
    pub content_hash: u64,
    /// Whether its own text, or that of a symbol around it, makes it a test: a test block, `#[test]`, `#[cfg(test)]`.
    /// What its path says is not in here: see [`crate::Languages::is_test`].
    pub in_test: bool,
}

impl Symbol {
    /// The innermost symbol, from this place of a list on and outwards, that enters the names of what stands in it. A test
    /// block does not, so that a function in one has the name it would have without it.
    pub fn naming(symbols: &[Symbol], mut place: Option<u32>) -> Option<&Symbol> {
        loop {
            let at = place?;
            let symbol = symbols.get(at as usize)?;
            if symbol.kind != SymbolKind::Test {
                return Some(symbol);
            }
            // A parent stands before its children: facts that say otherwise must not lead in circles.
            place = symbol.parent.filter(|parent| *parent < at);
        }
    }
}

/// What a declaration says about a symbol, beside what has a field of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(u16);

impl Flags {
    /// It belongs to the class itself, and not to its instances.
    pub const STATIC: Flags = Flags(1);
    /// It is another name for a type, and no type of its own.
    pub const ALIAS: Flags = Flags(1 << 1);
    /// A field that has no name but that of its type, and hands on what that has.
    pub const EMBEDDED: Flags = Flags(1 << 2);
    /// Calls of it give a promise of what it gives back.
    pub const ASYNC: Flags = Flags(1 << 3);
    /// Its first parameter is the value that it is called on, by name.
    pub const TAKES_SELF: Flags = Flags(1 << 4);
    /// It gets a value where it is declared.
    pub const INITIALISED: Flags = Flags(1 << 5);
    /// It is what its module exports as a whole.
    pub const MODULE_ITSELF: Flags = Flags(1 << 6);
    /// It is left to others to say what it does.
    pub const ABSTRACT: Flags = Flags(1 << 7);
    /// It can be named in its own file alone.
    pub const FILE_ONLY: Flags = Flags(1 << 8);
    /// It can be named in the block alone that it is declared in, and only where extraction has seen it.
    pub const BLOCK_ONLY: Flags = Flags(1 << 9);
    /// A call of its name gives what it holds.
    pub const READ_BY_CALL: Flags = Flags(1 << 10);

    /// Whether all of these are set.
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These flags when something holds, none otherwise.
    pub const fn when(self, holds: bool) -> Flags {
        if holds { self } else { Flags(0) }
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// How a reference is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RefShape {
    /// A call of a bare name: `f()`.
    Call,
    /// A call of a path: `a::f()`; the qualifier is what stands before the name.
    PathCall,
    /// A call of a member of `self` or `this`.
    SelfCall,
    /// A call of a member of any other receiver; the qualifier is the receiver.
    MemberCall,
    /// A macro call.
    MacroCall,
    /// A value made by a constructor or a struct literal.
    Construct,
    /// A type mentioned in a type position.
    Type,
    /// A base class or supertrait.
    Extends,
    /// A trait or interface that is implemented.
    Implements,
    /// A decorator or an attribute.
    Decorator,
    /// A JSX element.
    Jsx,
    /// A name read, written or passed on as a value.
    Value,
    /// A member read or written: `x.y`; the qualifier is the receiver.
    Member,
    /// A local name where it is declared, or a name of a language of its own, such as a label: nothing else is meant.
    Binds,
    /// A name in an import, a part of its path, or a package clause.
    Import,
    /// A name in code that none of these says anything about: in an attribute, or where the parser lost its way.
    Mention,
}

impl RefShape {
    /// Whether it says what is done with what is named. The others are there so that every name is accounted for.
    pub const fn is_use(self) -> bool {
        !matches!(self, RefShape::Binds | RefShape::Import | RefShape::Mention)
    }

    /// The word that `facts` and tests print.
    pub const fn as_str(self) -> &'static str {
        match self {
            RefShape::Call => "call",
            RefShape::PathCall => "path-call",
            RefShape::SelfCall => "self-call",
            RefShape::MemberCall => "member-call",
            RefShape::MacroCall => "macro-call",
            RefShape::Construct => "construct",
            RefShape::Type => "type",
            RefShape::Extends => "extends",
            RefShape::Implements => "implements",
            RefShape::Decorator => "decorator",
            RefShape::Jsx => "jsx",
            RefShape::Value => "value",
            RefShape::Member => "member",
            RefShape::Binds => "binds",
            RefShape::Import => "import",
            RefShape::Mention => "mention",
        }
    }
}

/// A place that names something defined elsewhere, or maybe here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Index into [`FileFacts::names`] of the simple name.
    pub name: u32,
    /// How it is written.
    pub shape: RefShape,
    /// The path or receiver before the name.
    pub qualifier: Option<ExprId>,
    /// The line of the name.
    pub line: u32,
    /// The column of the name in bytes, from 0.
    pub column: u32,
    /// The innermost symbol around it.
    pub symbol: Option<u32>,
    /// The local name that is meant, as an index into [`FileFacts::bindings`]: by the name itself when it stands alone,
    /// else by the first name of its qualifier.
    pub binding: Option<u32>,
    /// Whether the grammar has a name here. Else it is a keyword, or stands in a string that the language reads: a type in
    /// quotes, `{name}` in a format.
    pub is_name: bool,
}

/// A name that is local to a part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Index into [`FileFacts::names`].
    pub name: u32,
    /// What kind of local name.
    pub kind: BindingKind,
    /// Its declared type, the type that its place gives to a parameter, or the bound of a type parameter.
    pub annotation: Option<ExprId>,
    /// The expression it gets its value from.
    pub value: Option<ExprId>,
    /// Which part of that type or value it is.
    pub part: Part,
    /// The line of the name.
    pub line: u32,
    /// The innermost symbol around it.
    pub symbol: Option<u32>,
}

/// The kinds of local names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    /// A parameter of a function or closure.
    Param,
    /// A variable.
    Local,
    /// A type parameter.
    TypeParam,
}

impl BindingKind {
    /// The word that `facts` and tests print.
    pub const fn as_str(self) -> &'static str {
        match self {
            BindingKind::Param => "param",
            BindingKind::Local => "local",
            BindingKind::TypeParam => "type-param",
        }
    }
}

/// Which part of a type or value a local name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    /// All of it.
    Whole,
    /// One element of what is looped over.
    Element,
    /// What stands inside a variant of one value: `x` in `Some(x)`.
    Payload,
    /// The n-th of several: of a tuple, a list, or the values a call gives back.
    Index(u32),
    /// A field, by its index into [`FileFacts::names`].
    Field(u32),
    /// Something deeper inside.
    Inside,
}

/// One name, or a glob, that an import brings into scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module path as written, without the imported name (`crate::auth`, `.models`, `os.path`).
    pub module: String,
    /// The imported name; absent for a whole module or a glob.
    pub name: Option<String>,
    /// The name it gets here when that differs.
    pub alias: Option<String>,
    /// Whether all names of the module are meant.
    pub glob: bool,
    /// Whether the name is exported again.
    pub reexport: bool,
    /// How it is written.
    pub form: ImportForm,
    /// The line.
    pub line: u32,
    /// The innermost symbol around it.
    pub symbol: Option<u32>,
}

/// The ways to import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportForm {
    /// A declaration.
    #[default]
    Static,
    /// A declaration that only brings types in.
    TypeOnly,
    /// An expression that loads when it runs: `import("x")`.
    Dynamic,
    /// A call of `require`.
    Require,
}

impl ImportForm {
    /// The word that `facts` and tests print.
    pub const fn as_str(self) -> &'static str {
        match self {
            ImportForm::Static => "import",
            ImportForm::TypeOnly => "import-type",
            ImportForm::Dynamic => "dynamic-import",
            ImportForm::Require => "require",
        }
    }
}

/// A piece of the text that belongs to no symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Its bytes: whole lines.
    pub span: Span,
    /// Its lines.
    pub lines: Lines,
}

/// Something about the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What went wrong.
    pub kind: ProblemKind,
    /// The first line it was seen on.
    pub line: u32,
    /// How often.
    pub count: u32,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProblemKind {
    /// The parser had to skip or invent tokens.
    Syntax,
    /// Parsing took too long and was given up: chunks only.
    TimeLimit,
    /// Nested too deeply: what is below is not looked at.
    TooDeep,
    /// Bytes that are no UTF-8 were replaced.
    NotUtf8,
    /// More symbols or references than a file may have: the rest is left out.
    TooMany,
    /// The parser would have held too much memory and was stopped: chunks only.
    MemoryLimit,
}

impl ProblemKind {
    /// The word for people and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Syntax => "syntax",
            ProblemKind::TimeLimit => "time_limit",
            ProblemKind::TooDeep => "too_deep",
            ProblemKind::NotUtf8 => "not_utf8",
            ProblemKind::TooMany => "too_many",
            ProblemKind::MemoryLimit => "memory_limit",
        }
    }
}

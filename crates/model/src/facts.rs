//! Facts about a file: the narrow interface between extraction and everything after it.
//!
//! Facts depend on a path and bytes and on nothing else. The target of a reference is not a fact: it is resolved at
//! query time, against a snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Expr, ExprId, Lines, Span, SymbolKind, ValuePart, Visibility};

/// All facts that extraction finds in one file version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The identifiers that references and expressions use, each once; [`Reference::name`] is an index into it.
    pub names: Vec<String>,
    /// The expressions and types that symbols, references and local names use, each once. Operands come first.
    pub exprs: Vec<Expr>,
    /// Symbols in source order; a parent comes before its children.
    pub symbols: Arc<Vec<Symbol>>,
    /// References in source order. Every name in the code except the names of symbols has one, so that no name is
    /// missed.
    pub references: Vec<Reference>,
    /// The names that the file brings into scope.
    pub imports: Vec<Import>,
    /// Names that are local to some part of the file: parameters, variables, patterns, type parameters.
    pub bindings: Vec<Binding>,
    /// The text outside symbols in chunks for search, split between lines, in order.
    pub chunks: Vec<Chunk>,
    /// The parts that could not be read. They never make extraction fail.
    pub problems: Vec<Problem>,
    /// The number of lines in the file.
    pub lines: u32,
    /// The calls with arguments that select one of several functions: the reference to the called name, and the whole
    /// call. In the order of references.
    pub calls: Vec<(u32, ExprId)>,
    /// The value that code gets by loading the file.
    pub value: Option<ExprId>,
    /// The references that resolve to a symbol of a block around them, with that symbol. In the order of references.
    pub block_targets: Vec<(u32, u32)>,
}

impl FileFacts {
    /// Returns the whole call for a reference that names its callee.
    pub fn call_at(&self, reference: u32) -> Option<ExprId> {
        let at = self.calls.binary_search_by_key(&reference, |(of, _)| *of).ok()?;
        Some(self.calls[at].1)
    }

    /// Returns the block symbol that a reference resolves to.
    pub fn block_target(&self, reference: u32) -> Option<u32> {
        let at = self.block_targets.binary_search_by_key(&reference, |(of, _)| *of).ok()?;
        Some(self.block_targets[at].1)
    }
}

/// A definition written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its kind.
    pub kind: SymbolKind,
    /// Its simple name.
    pub name: String,
    /// Its full name. A function of the file's path and text alone.
    pub qualified_name: String,
    /// The index of the enclosing symbol.
    pub parent: Option<u32>,
    /// The trait of an `impl Trait for Type` block, for the block and the symbols in it.
    pub impl_trait: Option<String>,
    /// The number, from 0, among the symbols of the file with the same kind, qualified name and trait.
    pub ordinal: u32,
    /// The whole header on one line.
    pub signature: String,
    /// The visibility as written (`pub(crate)`, `export`).
    pub visibility_text: Option<String>,
    /// The visibility in common terms. In a language without visibility it follows convention, which no answer shows.
    pub visibility: Option<Visibility>,
    /// The lines from the declaration's first own token to its end; docs, attributes and decorators are outside.
    pub lines: Lines,
    /// The bytes of the declaration on those lines.
    pub span: Span,
    /// The start of docs, attributes and decorators; equal to `span.start` without any.
    pub outer_start: u32,
    /// The bytes of the name; empty if the symbol has no name of its own.
    pub name_span: Span,
    /// The line of the name.
    pub name_line: u32,
    /// The column of the name in bytes, from 0.
    pub name_column: u32,
    /// The doc comment or docstring, including comment markers or quotes.
    pub doc: Option<Span>,
    /// The declared type of a field, variable or constant, the type of a function (or only of its result), or the
    /// target of an alias.
    pub annotation: Option<ExprId>,
    /// The initial value, or the result of a function.
    pub value: Option<ExprId>,
    /// The type, as written, that an out-of-line member belongs to.
    pub owner: Option<ExprId>,
    /// The base types of a type, as written: base classes, embedded interfaces.
    pub bases: Vec<ExprId>,
    /// The header after the name, for languages with rules that still parse text.
    pub header: Option<ExprId>,
    /// Further properties of its declaration.
    pub flags: Flags,
    /// A hash of its attributes and own text, without trailing white space, line-end style and the text of children.
    pub content_hash: u64,
    /// Whether its own text, or that of an enclosing symbol, makes it a test: a test block, `#[test]`, `#[cfg(test)]`.
    /// The path is not considered here: see [`crate::Languages::is_test`].
    pub in_test: bool,
}

impl Symbol {
    /// Returns the innermost symbol, from this ordinal outwards, that contributes its name to the qualified names of
    /// its children. Test blocks are skipped, so that a function inside one has the name it would have without it.
    pub fn naming_ancestor(symbols: &[Symbol], mut place: Option<u32>) -> Option<&Symbol> {
        loop {
            let at = place?;
            let symbol = symbols.get(at as usize)?;
            if symbol.kind != SymbolKind::Test {
                return Some(symbol);
            }
            // A parent comes before its children. Corrupt facts must not cause an endless loop.
            place = symbol.parent.filter(|parent| *parent < at);
        }
    }
}

/// Properties of a declaration that have no field of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(u16);

impl Flags {
    /// It belongs to the class itself, not to its instances.
    pub const STATIC: Flags = Flags(1);
    /// It is another name for a type, not a type of its own.
    pub const ALIAS: Flags = Flags(1 << 1);
    /// A field that is named after its type and promotes the members of that type.
    pub const EMBEDDED: Flags = Flags(1 << 2);
    /// Calls of it return a promise of its result.
    pub const ASYNC: Flags = Flags(1 << 3);
    /// Its first parameter is the receiver, by name.
    pub const TAKES_SELF: Flags = Flags(1 << 4);
    /// It has an initial value.
    pub const INITIALISED: Flags = Flags(1 << 5);
    /// It is the whole export of its module.
    pub const MODULE_ITSELF: Flags = Flags(1 << 6);
    /// It has no implementation of its own.
    pub const ABSTRACT: Flags = Flags(1 << 7);
    /// It can be named only in its own file.
    pub const FILE_ONLY: Flags = Flags(1 << 8);
    /// It can be named only in the block that declares it, and only by references that extraction has linked to it.
    pub const BLOCK_ONLY: Flags = Flags(1 << 9);
    /// Calling its name returns the value it holds.
    pub const READ_BY_CALL: Flags = Flags(1 << 10);
    /// It, and its members, are declared once for all platforms and once more for each.
    pub const PER_PLATFORM: Flags = Flags(1 << 11);

    /// Whether all of these flags are set.
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns these flags if the condition holds, none otherwise.
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
    /// A call of a path: `a::f()`; the qualifier is the path before the name.
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
    /// A local name at its declaration, or a name in a namespace of its own, such as a label. It refers to nothing
    /// else.
    Binds,
    /// A name in an import, a segment of its path, or a package clause.
    Import,
    /// Any other name in code: in an attribute, or where the parser failed.
    Mention,
}

impl RefShape {
    /// Whether it says how the named item is used. The other shapes exist so that every name is covered.
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

/// An occurrence of a name that is defined elsewhere, or perhaps in the same file.
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
    /// The innermost enclosing symbol.
    pub symbol: Option<u32>,
    /// The local name that it resolves to, as an index into [`FileFacts::bindings`]. For a qualified name, the target
    /// of the first name in the qualifier.
    pub binding: Option<u32>,
    /// Whether the grammar has a name here. Otherwise it is a keyword, or inside a string that the language reads: a
    /// quoted type, `{name}` in a format.
    pub is_name: bool,
}

/// A name that is local to a part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Index into [`FileFacts::names`].
    pub name: u32,
    /// Its kind.
    pub kind: BindingKind,
    /// Its declared type, the type that the context gives to a parameter, or the bound of a type parameter.
    pub annotation: Option<ExprId>,
    /// The expression it gets its value from.
    pub value: Option<ExprId>,
    /// The part of that type or value that it is bound to.
    pub part: ValuePart,
    /// The line of the name.
    pub line: u32,
    /// The innermost enclosing symbol.
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

/// One name, or a glob, that an import brings into scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module path as written, without the imported name (`crate::auth`, `.models`, `os.path`).
    pub module: String,
    /// The imported name; absent for a whole module or a glob.
    pub name: Option<String>,
    /// The local name, if it differs.
    pub alias: Option<String>,
    /// Whether all names of the module are imported.
    pub glob: bool,
    /// Whether the name is exported again.
    pub reexport: bool,
    /// How it is written.
    pub form: ImportForm,
    /// The line.
    pub line: u32,
    /// The innermost enclosing symbol.
    pub symbol: Option<u32>,
}

/// The ways to import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportForm {
    /// A declaration.
    #[default]
    Static,
    /// A declaration that imports types only.
    TypeOnly,
    /// An expression that imports at run time: `import("x")`.
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

/// A chunk of text that belongs to no symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Its bytes: whole lines.
    pub span: Span,
    /// Its lines.
    pub lines: Lines,
}

/// A part of the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The first line with the problem.
    pub line: u32,
    /// The number of occurrences.
    pub count: u32,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProblemKind {
    /// The parser had to skip or invent tokens.
    Syntax,
    /// Parsing exceeded its time limit and was cancelled; the file has chunks only.
    TimeLimit,
    /// Nested too deeply: the levels below are not read.
    TooDeep,
    /// Bytes that are not UTF-8 were replaced.
    NotUtf8,
    /// More symbols or references than a file may have: the others are dropped.
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

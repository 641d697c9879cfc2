//! Expressions and types as facts hold them: structure without syntax.
//!
//! Extraction has the syntax tree, so it lowers every expression that resolution rules may need into an arena of the
//! file ([`FileFacts::exprs`](crate::FileFacts::exprs)): receivers, declared types, values. Equal expressions share one entry, and
//! operands come before the expressions that use them. The local name or block symbol that a name refers to is known
//! where the expression occurs, so the name records it. Values and types share one vocabulary, because in many
//! languages `f(x)` may be a call or a conversion, and `a[b]` an element or a generic with its argument.

use serde::{Deserialize, Serialize};

use crate::{ExprId, MacroCall, MacroRule, Span};

/// An expression or a type. Names are indices into [`FileFacts::names`](crate::FileFacts::names).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// The source text on one line, for languages with rules that still parse text.
    Text(u32),
    /// A bare name.
    Name {
        /// The name. A space in it, with or without a keyword before the space, marks a type or a container of names.
        name: u32,
        /// The target of the name, as far as the blocks of the file determine it.
        seen: LexicalTarget,
    },
    /// `of.name`.
    Member {
        /// The expression before the dot.
        of: ExprId,
        /// The name.
        name: u32,
    },
    /// A call, or a conversion that looks like one.
    Call {
        /// The called expression.
        callee: ExprId,
        /// The arguments.
        args: Box<[ExprId]>,
    },
    /// `of[by]`: an element, or a generic with its arguments where the syntax is the same for both.
    Index {
        /// The indexed expression.
        of: ExprId,
        /// The expressions in the brackets.
        by: Box<[ExprId]>,
    },
    /// A generic with its arguments.
    Apply {
        /// The generic.
        of: ExprId,
        /// The arguments.
        args: Box<[ExprId]>,
    },
    /// A slice: some elements of a list, as a list.
    Slice(ExprId),
    /// A value with its type in front: `T{…}`.
    New(ExprId),
    /// A value that is asserted or converted to be of this type.
    Cast(ExprId),
    /// A value or type behind a pointer, reference or channel.
    Wrap {
        /// The kind of wrapper.
        how: Wrap,
        /// The value or type.
        of: ExprId,
    },
    /// A part of a value.
    Part {
        /// The whole value.
        of: ExprId,
        /// The selected part.
        part: ValuePart,
    },
    /// The type of lists with this element type.
    List(ExprId),
    /// A map type.
    Map {
        /// The type of keys.
        key: ExprId,
        /// The type of values.
        value: ExprId,
    },
    /// A function type.
    Func(Box<FuncExpr>),
    /// An anonymous function with this function type.
    Lambda(ExprId),
    /// A type that is written out where it is used. Its members are the symbols in these bytes.
    Inline(Span),
    /// A literal.
    Literal(Literal),
    /// An expression that no rule reads.
    Other,
    /// The value that the enclosing function is called on.
    This,
    /// The same value, seen as its base type.
    Super,
    /// One of these values; they all have the same type.
    Either(Box<[ExprId]>),
    /// An anonymous function with its number of parameters and its result.
    Closure {
        /// The number of parameters.
        params: u32,
        /// The result.
        back: Option<ExprId>,
    },
    /// The type that a function expects for one of its arguments.
    Argument {
        /// The function.
        callee: ExprId,
        /// The number of arguments of the call.
        arity: u32,
        /// The arguments before this one.
        given: Box<[ExprId]>,
    },
    /// A parameter of an expected function.
    ParamOf {
        /// The expected function.
        of: ExprId,
        /// The number of the parameter, from 0.
        at: u32,
    },
    /// The value of the module that is loaded by this name.
    Module(u32),
    /// Several values or types side by side.
    Tuple(Box<[ExprId]>),
    /// `of::name`.
    Path {
        /// The path before the name.
        of: ExprId,
        /// The name.
        name: u32,
    },
    /// The syntax that a variable of a macro captured.
    Hole(u32),
    /// The value of a macro call.
    Expand(Box<MacroCall>),
    /// A macro.
    Rules(Box<[MacroRule]>),
}

/// The parameters and results of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FuncExpr {
    /// The types of its parameters.
    pub params: Vec<ExprId>,
    /// Whether the last parameter takes any number of values; its type is that of the list.
    pub variadic: bool,
    /// The number of parameters with a default value, which a call may omit.
    pub optional: u32,
    /// Whether the first parameter is the receiver.
    pub has_receiver: bool,
    /// The types of its results.
    pub results: Vec<ExprId>,
}

/// The target of a bare name, as far as the blocks around it determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LexicalTarget {
    /// The blocks declare no such name: it comes from the file, its unit, an import, or the global scope.
    NotLocal,
    /// A local name, as an index into [`FileFacts::bindings`](crate::FileFacts::bindings).
    Local(u32),
    /// A symbol that is declared in a block, as an index into [`FileFacts::symbols`](crate::FileFacts::symbols).
    Symbol(u32),
}

/// The ways to wrap a value or type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wrap {
    /// The pointee of a value; of a type, the type of pointers to it.
    Deref,
    /// A pointer to the value.
    Ref,
    /// The type of channels of this type.
    Channel,
}

/// The kinds of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Literal {
    /// A text.
    Text,
    /// A whole number.
    Int,
    /// A number with a fraction.
    Float,
    /// A character.
    Char,
    /// True or false.
    Bool,
    /// Nothing.
    Null,
}

/// The part of a type or value that a local name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValuePart {
    /// All of it.
    Whole,
    /// One element of the iterated value.
    Element,
    /// The content of a variant with one value: `x` in `Some(x)`.
    Payload,
    /// The n-th element of a tuple, a list, or the results of a call.
    Index(u32),
    /// A field, by its index into [`FileFacts::names`](crate::FileFacts::names).
    Field(u32),
    /// Something deeper inside.
    Inside,
}

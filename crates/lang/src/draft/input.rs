//! Symbols, local bindings and expressions as a walk reports them to the draft.

use codecompass_model::{BindingKind, ExprId, Flags, Span, SymbolKind, ValuePart, Visibility};

/// A symbol as the walk reports it.
pub(crate) struct NewSymbol<'a> {
    pub(crate) kind: SymbolKind,
    /// The name it is listed under.
    pub(crate) name: &'a str,
    /// The last segment of its qualified name, nearly always the name.
    pub(crate) segment: &'a str,
    /// The separator between its parent's qualified name and the segment.
    pub(crate) separator: &'static str,
    /// The trait of an impl block; `None` inherits that of the enclosing symbol.
    pub(crate) impl_trait: Option<Option<String>>,
    pub(crate) signature: String,
    pub(crate) visibility_text: Option<String>,
    pub(crate) visibility: Option<Visibility>,
    pub(crate) span: Span,
    pub(crate) outer_start: u32,
    pub(crate) name_span: Span,
    /// The attributes or decorators that count as its own text.
    pub(crate) attributes: &'a [Span],
    /// Its doc comment or docstring.
    pub(crate) doc: Option<Span>,
    /// Its declared type, return type, or the type it is an alias of.
    pub(crate) annotation: Option<ExprInput>,
    /// Its initial value.
    pub(crate) value: Option<ExprInput>,
    /// Properties that only some symbols have.
    pub(crate) extras: SymbolExtras,
    /// Whether its own text makes it a test. Symbols inside a test are tests, too.
    pub(crate) is_test: bool,
}

/// Properties that only some symbols have.
#[derive(Default)]
pub(crate) struct SymbolExtras {
    /// The source text of the owner type of an out-of-line member.
    pub(crate) owner: Option<ExprId>,
    /// Its base types.
    pub(crate) bases: Vec<ExprId>,
    /// Its header after the name, for resolvers that parse text.
    pub(crate) header: Option<ExprId>,
    pub(crate) flags: Flags,
}

/// An expression or a type as a walk passes it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExprInput {
    /// The text of a range, from a walk whose resolver parses text.
    Text(Span),
    /// An expression of the arena.
    Expr(ExprId),
}

impl From<Span> for ExprInput {
    fn from(span: Span) -> Self {
        ExprInput::Text(span)
    }
}

/// A local binding as the walk reports it.
pub(crate) struct NewBinding {
    pub(crate) name: Span,
    pub(crate) kind: BindingKind,
    /// Its declared type, or the bound of a type parameter.
    pub(crate) annotation: Option<ExprInput>,
    /// The expression that provides its value.
    pub(crate) value: Option<ExprInput>,
    /// The part of that value which it gets.
    pub(crate) part: ValuePart,
    /// The first node where it is visible: `x` of `let x = x + 1` is visible only after the statement.
    pub(crate) from: usize,
}

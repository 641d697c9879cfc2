//! Symbols, local names and expressions as a walk describes them to the draft.

use codecompass_model::{BindingKind, ExprId, Flags, Part, Span, SymbolKind, Visibility};

/// A symbol as the walk describes it.
pub(crate) struct NewSymbol<'a> {
    pub(crate) kind: SymbolKind,
    /// The name it is listed under.
    pub(crate) name: &'a str,
    /// The last part of its qualified name, nearly always the name.
    pub(crate) segment: &'a str,
    /// Between its parent's qualified name and the segment.
    pub(crate) separator: &'static str,
    /// The trait of an impl block; `None` takes over what holds around the symbol.
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
    /// Its declared type, what it gives back, or what it stands for.
    pub(crate) annotation: Option<Said>,
    /// The expression it starts with.
    pub(crate) value: Option<Said>,
    /// What only some symbols have.
    pub(crate) more: More,
    /// Whether its own text makes it a test; what stands in a test is one as well.
    pub(crate) is_test: bool,
}

/// What only some symbols have.
#[derive(Default)]
pub(crate) struct More {
    /// The type, as written, of a member that stands outside of it.
    pub(crate) owner: Option<ExprId>,
    /// The types it is made from.
    pub(crate) bases: Vec<ExprId>,
    /// Its header behind the name, where rules still read text.
    pub(crate) header: Option<ExprId>,
    pub(crate) flags: Flags,
}

/// An expression or a type as a walk hands it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// The text of a range, from a walk whose rules still read text.
    Text(Span),
    /// An expression of the arena.
    Expr(ExprId),
}

impl From<Span> for Said {
    fn from(span: Span) -> Self {
        Said::Text(span)
    }
}

/// A local name as the walk describes it.
pub(crate) struct NewBinding {
    pub(crate) name: Span,
    pub(crate) kind: BindingKind,
    /// Its declared type, or the bound of a type parameter.
    pub(crate) annotation: Option<Said>,
    /// The expression it gets its value from.
    pub(crate) value: Option<Said>,
    /// Which part of that it is.
    pub(crate) part: Part,
    /// The node from which on it can be seen: `x` in `let x = x + 1` only after the statement.
    pub(crate) from: usize,
}

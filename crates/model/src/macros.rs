//! Macros by example as facts hold them: rules and calls as trees of tokens, whose expressions are lowered already.
//!
//! A macro and its calls are in different files, so extraction can expand neither. It stores what expansion needs
//! without the text: a token that begins an expression or a type names it, with the number of trees it extends over. A
//! capture is therefore one lowered expression of the caller, and the value of a rule is a lowered expression with
//! [`Expr::Hole`](crate::Expr::Hole) for each variable.

use serde::{Deserialize, Serialize};

use crate::ExprId;

/// A call of a macro.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MacroCall {
    /// The path of the macro.
    pub path: ExprId,
    /// The tokens between its brackets.
    pub given: Box<[MacroTree]>,
}

/// A rule of a macro.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MacroRule {
    /// The tokens that a call must match.
    pub matcher: Box<[MacroTree]>,
    /// The value that it expands to, if it expands to an expression that extraction can lower. Its own local names are
    /// replaced by their values.
    pub value: Option<ExprId>,
}

/// A token, or brackets with the tokens between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MacroTree {
    /// The token.
    pub token: MacroToken,
    /// The longest expression that begins here.
    pub expr: Option<MacroPart>,
    /// The type that begins here, if it does not look like an expression.
    pub ty: Option<MacroPart>,
}

/// An expression or type that extends over several trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MacroPart {
    /// The expression or type.
    pub expr: ExprId,
    /// The number of trees.
    pub trees: u32,
}

/// A token. Names are indices into [`FileFacts::names`](crate::FileFacts::names).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MacroToken {
    /// A name or a keyword.
    Word {
        /// The word.
        name: u32,
        /// The name as an expression of its own.
        value: ExprId,
    },
    /// A character of punctuation.
    Mark(char),
    /// A literal with its text, unless that is long.
    Literal(Option<u32>),
    /// Brackets.
    Group {
        /// The opening bracket.
        open: char,
        /// The trees between the brackets.
        trees: Box<[MacroTree]>,
    },
    /// A variable in the value of a rule.
    Hole(u32),
    /// A variable in a matcher.
    Variable {
        /// Its name.
        name: u32,
        /// What it matches.
        fragment: Fragment,
    },
    /// A repetition.
    Repeat {
        /// The trees to repeat.
        trees: Box<[MacroTree]>,
        /// The punctuation between them.
        separator: Box<[char]>,
        /// Whether they may occur several times.
        many: bool,
    },
}

/// The kinds of syntax that a variable of a macro matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fragment {
    /// An expression.
    Expr,
    /// A name.
    Ident,
    /// A type or a path.
    Type,
    /// A token tree.
    Tree,
    /// A literal.
    Literal,
    /// A block.
    Block,
    /// A lifetime.
    Lifetime,
    /// Anything else.
    Other,
}

impl MacroTree {
    /// Calls a function with each expression and each name of these trees.
    pub fn visit(trees: &[MacroTree], see: &mut dyn FnMut(Option<ExprId>, Option<u32>)) {
        for tree in trees {
            for part in [tree.expr, tree.ty].into_iter().flatten() {
                see(Some(part.expr), None);
            }
            match &tree.token {
                MacroToken::Word { name, value } => see(Some(*value), Some(*name)),
                MacroToken::Hole(name) | MacroToken::Variable { name, .. } | MacroToken::Literal(Some(name)) => {
                    see(None, Some(*name));
                }
                MacroToken::Group { trees, .. } | MacroToken::Repeat { trees, .. } => MacroTree::visit(trees, see),
                MacroToken::Mark(_) | MacroToken::Literal(None) => {}
            }
        }
    }

    /// Returns the number of bytes that trees have on the heap.
    pub(crate) fn heap_bytes(trees: &[MacroTree]) -> usize {
        let inner = |tree: &MacroTree| match &tree.token {
            MacroToken::Group { trees, .. } => MacroTree::heap_bytes(trees),
            MacroToken::Repeat { trees, separator, .. } => MacroTree::heap_bytes(trees) + size_of_val(&separator[..]),
            _ => 0,
        };
        size_of_val(trees) + trees.iter().map(inner).sum::<usize>()
    }
}

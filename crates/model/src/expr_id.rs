//! The ids of expressions.

use serde::{Deserialize, Serialize};

/// An index into [`FileFacts::exprs`](crate::FileFacts::exprs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExprId(pub u32);

impl ExprId {
    /// The parameter number with which [`Expr::ParamOf`](crate::Expr::ParamOf) selects the receiver of a function.
    pub const RECEIVER: u32 = u32::MAX;
}

//! The arena of a file's expressions while it is being filled: equal ones are one entry.

use codecompass_model::{Expr, ExprId, Seen};

use crate::names::FastMap;

/// See the module.
#[derive(Default)]
pub(crate) struct Exprs {
    all: Vec<Expr>,
    known: FastMap<Expr, u32>,
    /// By name: the number of the text, from 1; 0 when there is none. Most expressions are texts, and need no hash.
    texts: Vec<u32>,
}

impl Exprs {
    /// The id of an expression, added when it is new. Its parts are there already.
    pub(crate) fn intern(&mut self, expr: Expr) -> ExprId {
        if let Some(&known) = self.known.get(&expr) {
            return ExprId(known);
        }
        let id = self.all.len() as u32;
        self.all.push(expr.clone());
        self.known.insert(expr, id);
        ExprId(id)
    }

    /// The id of a text.
    pub(crate) fn text(&mut self, name: u32) -> ExprId {
        let at = name as usize;
        if self.texts.len() <= at {
            self.texts.resize(at + 1, 0);
        }
        if self.texts[at] == 0 {
            self.all.push(Expr::Text(name));
            self.texts[at] = self.all.len() as u32;
        }
        ExprId(self.texts[at] - 1)
    }

    pub(crate) fn get(&self, id: ExprId) -> &Expr {
        &self.all[id.0 as usize]
    }

    /// The local name that an expression begins with.
    pub(crate) fn first_local(&self, mut id: ExprId) -> Option<u32> {
        loop {
            id = match self.get(id) {
                Expr::Name { seen: Seen::Local(binding), .. } => return Some(*binding),
                Expr::Member { of, .. }
                | Expr::Call { callee: of, .. }
                | Expr::Index { of, .. }
                | Expr::Apply { of, .. }
                | Expr::Slice(of)
                | Expr::New(of)
                | Expr::Wrap { of, .. }
                | Expr::Part { of, .. } => *of,
                _ => return None,
            };
        }
    }

    /// The expressions in the order of their ids.
    pub(crate) fn into_list(self) -> Vec<Expr> {
        self.all
    }
}

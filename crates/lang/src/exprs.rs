//! The arena of a file's expressions under construction. Equal expressions share one entry.

use codecompass_model::{Expr, ExprId, LexicalTarget};

use crate::interner::FastMap;

/// The expressions of a file, interned.
#[derive(Default)]
pub(crate) struct ExprArena {
    all: Vec<Expr>,
    ids: FastMap<Expr, u32>,
    /// By name: the number of the text, from 1; 0 if there is none. Most expressions are texts and need no hash lookup.
    texts: Vec<u32>,
}

impl ExprArena {
    /// Returns the id of an expression and adds it if it is new. Its operands must be there already.
    pub(crate) fn intern(&mut self, expr: Expr) -> ExprId {
        if let Some(&known) = self.ids.get(&expr) {
            return ExprId(known);
        }
        let id = self.all.len() as u32;
        self.all.push(expr.clone());
        self.ids.insert(expr, id);
        ExprId(id)
    }

    /// Returns the id of a text.
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

    /// Returns the local binding that an expression begins with.
    pub(crate) fn first_local(&self, mut id: ExprId) -> Option<u32> {
        loop {
            id = match self.get(id) {
                Expr::Name { seen: LexicalTarget::Local(binding), .. } => return Some(*binding),
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

    /// Returns the expressions in the order of their ids.
    pub(crate) fn into_list(self) -> Vec<Expr> {
        self.all
    }
}

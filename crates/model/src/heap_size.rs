//! The size of facts in memory, by which caches are limited.

use crate::{Expr, FileFacts, FuncExpr, Import, MacroCall, MacroRule, MacroTree, Symbol};

impl FileFacts {
    /// Returns the number of bytes that it has on the heap, without its symbols, which it can share with others.
    pub fn heap_bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| size_of::<String>() + allocated(name.len())).sum();
        let exprs: usize = self.exprs.iter().map(|expr| size_of::<Expr>() + expr_bytes(expr)).sum();
        let imports: usize = self.imports.iter().map(|import| size_of::<Import>() + import_bytes(import)).sum();
        let others = size_of_val(&self.references[..])
            + size_of_val(&self.bindings[..])
            + size_of_val(&self.chunks[..])
            + size_of_val(&self.problems[..])
            + size_of_val(&self.calls[..])
            + size_of_val(&self.block_targets[..]);
        size_of::<Self>() + names + exprs + imports + others
    }

    /// Returns the number of bytes that its symbols have on the heap.
    pub fn symbols_heap_bytes(&self) -> usize {
        self.symbols.iter().map(|symbol| size_of::<Symbol>() + symbol.heap_bytes()).sum()
    }
}

impl Symbol {
    /// Returns the number of bytes that it has on the heap.
    pub fn heap_bytes(&self) -> usize {
        let texts: usize =
            [&self.name, &self.qualified_name, &self.signature].map(|text| allocated(text.len())).iter().sum();
        let parts = optional_bytes(&self.impl_trait) + optional_bytes(&self.visibility_text);
        texts + parts + allocated(size_of_val(&self.bases[..]))
    }
}

fn import_bytes(import: &Import) -> usize {
    allocated(import.module.len()) + optional_bytes(&import.name) + optional_bytes(&import.alias)
}

fn expr_bytes(expr: &Expr) -> usize {
    match expr {
        Expr::Call { args: list, .. }
        | Expr::Index { by: list, .. }
        | Expr::Apply { args: list, .. }
        | Expr::Either(list)
        | Expr::Tuple(list)
        | Expr::Argument { given: list, .. } => allocated(size_of_val(&list[..])),
        Expr::Func(of) => size_of::<FuncExpr>() + size_of_val(&of.params[..]) + size_of_val(&of.results[..]),
        Expr::Expand(call) => size_of::<MacroCall>() + MacroTree::heap_bytes(&call.given),
        Expr::Rules(rules) => {
            size_of::<MacroRule>() * rules.len()
                + rules.iter().map(|rule| MacroTree::heap_bytes(&rule.matcher)).sum::<usize>()
        }
        _ => 0,
    }
}

fn optional_bytes(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, |text| allocated(text.len()))
}

/// Returns the size of an allocation of `bytes` bytes.
const fn allocated(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.next_multiple_of(8) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn names_and_lists_are_counted() {
        let empty = FileFacts::default().heap_bytes();
        let named = FileFacts { names: vec!["a_longer_name".to_owned(); 100], ..FileFacts::default() };
        assert_eq!(named.heap_bytes() - empty, 100 * (size_of::<String>() + 16));
        let list = Expr::Either(vec![crate::ExprId(0); 10].into());
        let listed = FileFacts { exprs: vec![list], ..FileFacts::default() };
        assert_eq!(listed.heap_bytes() - empty, size_of::<Expr>() + 40);
        assert_eq!(FileFacts { symbols: Arc::default(), ..named }.symbols_heap_bytes(), 0);
    }
}

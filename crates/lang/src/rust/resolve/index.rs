//! The facts of one file, sorted for look-ups by parent and by name.

use std::cell::OnceCell;
use std::rc::Rc;

use codecompass_model::{
    Binding, BindingKind, ExprId, FileFacts, Reference, SourceFile, Symbol, SymbolKind, VersionId,
};

/// A file with what is looked up in it again and again.
pub(super) struct Indexed {
    pub(super) file: Rc<SourceFile>,
    /// Symbols without imports, by parent, name and place.
    symbols: Vec<u32>,
    /// Imports by the symbol around them.
    imports: Vec<u32>,
    /// Type parameters by the symbol that has them.
    parameters: Vec<u32>,
    /// Declared parameters of functions by the symbol around them.
    arguments: Vec<u32>,
    /// Names by spelling.
    names: Vec<u32>,
    /// References without a qualifier, by name and place.
    references: Vec<u32>,
    /// Bindings by name and place.
    bindings: Vec<u32>,
    /// Where lines begin, once somebody asked.
    lines: OnceCell<Vec<u32>>,
}

impl Indexed {
    pub(super) fn new(file: Rc<SourceFile>) -> Self {
        let facts = Rc::clone(&file);
        let facts = &facts.facts;
        let all = |count: usize| (0..count as u32).collect::<Vec<u32>>();
        let mut symbols = all(facts.symbols.len());
        symbols.retain(|&at| facts.symbols[at as usize].kind != SymbolKind::Use);
        symbols.sort_by(|&a, &b| {
            let key = |at: u32| (facts.symbols[at as usize].parent, facts.symbols[at as usize].name.as_str(), at);
            key(a).cmp(&key(b))
        });
        let mut imports = all(facts.imports.len());
        imports.sort_by_key(|&at| (facts.imports[at as usize].symbol, at));
        let mut parameters = all(facts.bindings.len());
        parameters.retain(|&at| facts.bindings[at as usize].kind == BindingKind::TypeParam);
        parameters.sort_by_key(|&at| (facts.bindings[at as usize].symbol, at));
        let mut arguments = all(facts.bindings.len());
        arguments.retain(|&at| {
            let binding = &facts.bindings[at as usize];
            binding.kind == BindingKind::Param && binding.annotation.is_some()
        });
        arguments.sort_by_key(|&at| (facts.bindings[at as usize].symbol, at));
        let mut names = all(facts.names.len());
        names.sort_by(|&a, &b| facts.names[a as usize].cmp(&facts.names[b as usize]));
        let mut references = all(facts.references.len());
        references.retain(|&at| {
            let reference = &facts.references[at as usize];
            reference.qualifier.is_none() && reference.shape.is_use()
        });
        references.sort_by_key(|&at| (facts.references[at as usize].name, at));
        let mut bindings = all(facts.bindings.len());
        bindings.sort_by_key(|&at| (facts.bindings[at as usize].name, at));
        Indexed { file, symbols, imports, parameters, arguments, names, references, bindings, lines: OnceCell::new() }
    }

    pub(super) fn id(&self) -> VersionId {
        self.file.id
    }

    pub(super) fn facts(&self) -> &FileFacts {
        &self.file.facts
    }

    pub(super) fn symbol(&self, at: u32) -> Option<&Symbol> {
        self.facts().symbols.get(at as usize)
    }

    /// The text of an expression.
    pub(super) fn written(&self, id: ExprId) -> &str {
        self.facts().written(id)
    }

    /// A text of the facts.
    pub(super) fn name(&self, at: u32) -> &str {
        self.facts().names.get(at as usize).map_or("", String::as_str)
    }

    /// The text of a symbol's type.
    pub(super) fn annotation(&self, symbol: u32) -> Option<&str> {
        Some(self.written(self.symbol(symbol)?.annotation?))
    }

    /// The symbols below a parent.
    pub(super) fn children(&self, parent: Option<u32>) -> &[u32] {
        range(&self.symbols, |at| self.facts().symbols[*at as usize].parent.cmp(&parent))
    }

    /// The symbols of this name below a parent.
    pub(super) fn named(&self, parent: Option<u32>, name: &str) -> &[u32] {
        let symbol = |at: &u32| &self.facts().symbols[*at as usize];
        range(&self.symbols, |at| (symbol(at).parent, symbol(at).name.as_str()).cmp(&(parent, name)))
    }

    /// The imports directly in a symbol, or in the file.
    pub(super) fn imports(&self, symbol: Option<u32>) -> &[u32] {
        range(&self.imports, |at| self.facts().imports[*at as usize].symbol.cmp(&symbol))
    }

    /// The type parameters of a symbol, as bindings.
    pub(super) fn parameters(&self, symbol: u32) -> &[u32] {
        range(&self.parameters, |at| self.facts().bindings[*at as usize].symbol.cmp(&Some(symbol)))
    }

    /// The declared parameters of a function, and of closures in it, in order.
    pub(super) fn arguments(&self, symbol: u32) -> impl Iterator<Item = &Binding> {
        let own = range(&self.arguments, |at| self.facts().bindings[*at as usize].symbol.cmp(&Some(symbol)));
        own.iter().map(|&at| &self.facts().bindings[at as usize])
    }

    /// The references of this name that stand alone.
    pub(super) fn references(&self, name: &str) -> &[u32] {
        let Some(name) = self.name_at(name) else { return &[] };
        range(&self.references, |at| self.facts().references[*at as usize].name.cmp(&name))
    }

    /// The bindings of this name.
    pub(super) fn bindings(&self, name: &str) -> &[u32] {
        let Some(name) = self.name_at(name) else { return &[] };
        range(&self.bindings, |at| self.facts().bindings[*at as usize].name.cmp(&name))
    }

    /// Where a line begins in the file's text.
    pub(super) fn line_start(&self, text: &str, line: u32) -> Option<usize> {
        let starts = self.lines.get_or_init(|| {
            let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
            std::iter::once(0).chain(after).collect()
        });
        starts.get(line.checked_sub(1)? as usize).map(|&at| at as usize)
    }

    /// The line of a place in the file's text.
    pub(super) fn line_of(&self, text: &str, offset: usize) -> u32 {
        let _ = self.line_start(text, 1);
        let starts = self.lines.get().map_or(&[] as &[u32], Vec::as_slice);
        starts.partition_point(|&start| start as usize <= offset) as u32
    }

    /// The reference to the name at this place of the text.
    pub(super) fn reference_at(&self, text: &str, offset: usize) -> Option<Reference> {
        let line = self.line_of(text, offset);
        let column = offset.checked_sub(self.line_start(text, line)?)?;
        let references = &self.facts().references;
        let at = references.binary_search_by_key(&(line, column as u32), |known| (known.line, known.column));
        at.ok().map(|at| references[at])
    }

    /// A symbol and all around it, from the inside.
    pub(super) fn around(&self, symbol: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(symbol, |&at| self.symbol(at)?.parent.filter(|&parent| parent < at))
    }

    /// The nearest symbol around of one of these kinds.
    pub(super) fn nearest(&self, symbol: Option<u32>, kinds: &[SymbolKind]) -> Option<u32> {
        self.around(symbol).find(|&at| self.symbol(at).is_some_and(|symbol| kinds.contains(&symbol.kind)))
    }

    fn name_at(&self, name: &str) -> Option<u32> {
        let found = self.names.binary_search_by(|&at| self.facts().names[at as usize].as_str().cmp(name)).ok()?;
        Some(self.names[found])
    }
}

fn range(list: &[u32], order: impl Fn(&u32) -> std::cmp::Ordering) -> &[u32] {
    let start = list.partition_point(|at| order(at).is_lt());
    let end = start + list[start..].partition_point(|at| order(at).is_eq());
    &list[start..end]
}

//! The facts of one file, sorted for the lookups that the resolvers of all languages make.
//!
//! Each list holds indices into the facts, sorted by its key, and is created on first use: no text is copied, and a
//! language pays only for the lists it uses. Names are sorted by hash, so that a search compares numbers. Lookups that
//! only one language needs are in its folder, on top of this.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{
    Binding, BindingKind, ExprId, FileFacts, Import, RefShape, Reference, SourceFile, Symbol, SymbolKind, VersionId,
    World,
};

use crate::interner::hash;
use crate::lines::LineStarts;

/// Indices into the facts, in lookup order.
type SortedIndices = OnceCell<Box<[u32]>>;

/// Returns the local name of an import; `None` if it declares none.
pub(crate) type LocalNameFn = fn(&Import) -> Option<&str>;

/// A file with its facts sorted for lookups.
pub(crate) struct Index {
    pub(crate) file: Rc<SourceFile>,
    local_name: LocalNameFn,
    /// Symbols that code can name, by parent and index.
    children: SortedIndices,
    /// Symbols that code can name, by name and parent.
    named: OnceCell<NameIndex>,
    /// Imports by their enclosing symbol.
    imports: SortedIndices,
    /// Imports by local name.
    imports_named: OnceCell<NameIndex>,
    /// Type parameters by the symbol that declares them.
    type_params: SortedIndices,
    /// Parameters by their function; those of closures by the function around the closure.
    params: SortedIndices,
    /// Bindings by name.
    bindings: OnceCell<NameIndex>,
    /// References without a qualifier, by name.
    references: OnceCell<NameIndex>,
    /// Decorators by the decorated symbol.
    decorators: SortedIndices,
    /// References to the base types of a symbol, by that symbol.
    bases: SortedIndices,
    lines: OnceCell<Lines>,
}

impl Index {
    pub(crate) fn new(file: Rc<SourceFile>, given_name: LocalNameFn) -> Self {
        Index {
            file,
            local_name: given_name,
            children: SortedIndices::new(),
            named: OnceCell::new(),
            imports: SortedIndices::new(),
            imports_named: OnceCell::new(),
            type_params: SortedIndices::new(),
            params: SortedIndices::new(),
            bindings: OnceCell::new(),
            references: OnceCell::new(),
            decorators: SortedIndices::new(),
            bases: SortedIndices::new(),
            lines: OnceCell::new(),
        }
    }

    pub(crate) fn id(&self) -> VersionId {
        self.file.id
    }

    pub(crate) fn facts(&self) -> &FileFacts {
        &self.file.facts
    }

    pub(crate) fn symbol(&self, at: u32) -> Option<&Symbol> {
        self.facts().symbols.get(at as usize)
    }

    pub(crate) fn binding(&self, at: u32) -> Option<&Binding> {
        self.facts().bindings.get(at as usize)
    }

    /// Returns a name of the facts.
    pub(crate) fn name(&self, at: u32) -> &str {
        self.facts().names.get(at as usize).map_or("", String::as_str)
    }

    /// Returns the text of an expression.
    pub(crate) fn expr_text(&self, id: ExprId) -> &str {
        self.facts().raw_text(id)
    }

    /// Returns the text of a symbol's type.
    pub(crate) fn annotation(&self, symbol: u32) -> Option<&str> {
        Some(self.expr_text(self.symbol(symbol)?.annotation?))
    }

    /// Returns the symbols below a parent, or at file level, in source order.
    pub(crate) fn children(&self, parent: Option<u32>) -> &[u32] {
        let of = |at: u32| self.facts().symbols[at as usize].parent;
        range(self.children.get_or_init(|| sorted(self.nameable_symbols(), |a, b| of(a).cmp(&of(b)))), |at| {
            of(at).cmp(&parent)
        })
    }

    /// Returns the symbols with this name below a parent, or at file level.
    pub(crate) fn named(&self, parent: Option<u32>, name: &str) -> &[u32] {
        let of = |at: u32| {
            let symbol = &self.facts().symbols[at as usize];
            (symbol.name.as_str(), symbol.parent)
        };
        self.named.get_or_init(|| NameIndex::new(self.nameable_symbols(), of)).find((name, parent), of)
    }

    /// Returns the symbols with this name at any level.
    pub(crate) fn named_anywhere(&self, name: &str) -> &[u32] {
        let of = |at: u32| {
            let symbol = &self.facts().symbols[at as usize];
            (symbol.name.as_str(), symbol.parent)
        };
        self.named.get_or_init(|| NameIndex::new(self.nameable_symbols(), of)).find_by_name(name, of)
    }

    /// Returns the imports directly in a symbol, or at file level.
    pub(crate) fn imports(&self, symbol: Option<u32>) -> &[u32] {
        let of = |at: u32| self.facts().imports[at as usize].symbol;
        let all = || sorted(indices_where(&self.facts().imports, |_| true), |a, b| of(a).cmp(&of(b)));
        range(self.imports.get_or_init(all), |at| of(at).cmp(&symbol))
    }

    /// Returns the imports with this local name, anywhere in the file.
    pub(crate) fn imports_named(&self, name: &str) -> &[u32] {
        let of = |at: u32| ((self.local_name)(&self.facts().imports[at as usize]).unwrap_or(""), None);
        let is_named = |import: &Import| (self.local_name)(import).is_some();
        let all = || NameIndex::new(indices_where(&self.facts().imports, is_named), of);
        self.imports_named.get_or_init(all).find((name, None), of)
    }

    /// Returns the type parameters of a symbol, as bindings.
    pub(crate) fn type_params(&self, symbol: u32) -> &[u32] {
        self.bindings_of(&self.type_params, BindingKind::TypeParam, symbol)
    }

    /// Returns the parameters of a function and of closures in it, as bindings.
    pub(crate) fn params(&self, symbol: u32) -> &[u32] {
        self.bindings_of(&self.params, BindingKind::Param, symbol)
    }

    /// Returns the bindings with this name.
    pub(crate) fn bindings(&self, name: &str) -> &[u32] {
        let of = |at: u32| (self.name(self.facts().bindings[at as usize].name), None);
        let all = || NameIndex::new(indices_where(&self.facts().bindings, |_| true), of);
        self.bindings.get_or_init(all).find((name, None), of)
    }

    /// Returns the bare uses of this name.
    pub(crate) fn references(&self, name: &str) -> &[u32] {
        let of = |at: u32| (self.name(self.facts().references[at as usize].name), None);
        let is_alone = |reference: &Reference| reference.qualifier.is_none() && reference.shape.is_use();
        let all = || NameIndex::new(indices_where(&self.facts().references, is_alone), of);
        self.references.get_or_init(all).find((name, None), of)
    }

    /// Returns the references that decorate a symbol.
    pub(crate) fn decorators(&self, symbol: u32) -> &[u32] {
        self.references_of(&self.decorators, RefShape::Decorator, symbol)
    }

    /// Returns the references to types that a symbol extends or embeds.
    pub(crate) fn bases(&self, symbol: u32) -> &[u32] {
        self.references_of(&self.bases, RefShape::Extends, symbol)
    }

    /// Returns the reference to the name at this offset of the text.
    pub(crate) fn reference_at(&self, world: &dyn World, offset: usize) -> Option<Reference> {
        let line = self.lines(world).line_of(offset);
        let column = offset.checked_sub(self.lines(world).start(line))?;
        let references = &self.facts().references;
        let at = references.binary_search_by_key(&(line, column as u32), |known| (known.line, known.column));
        at.ok().map(|at| references[at])
    }

    /// Returns a symbol and all enclosing ones, from the inside.
    pub(crate) fn ancestors(&self, symbol: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        // A parent has a smaller index than its children. Facts that violate this must not cause an endless loop.
        std::iter::successors(symbol, |&at| self.symbol(at)?.parent.filter(|&parent| parent < at))
    }

    /// Returns the nearest enclosing symbol of one of these kinds.
    pub(crate) fn nearest_ancestor(&self, symbol: Option<u32>, kinds: &[SymbolKind]) -> Option<u32> {
        self.ancestors(symbol).find(|&at| self.symbol(at).is_some_and(|symbol| kinds.contains(&symbol.kind)))
    }

    /// Returns the text of the file by lines; empty if the view has no text.
    pub(crate) fn lines(&self, world: &dyn World) -> &Lines {
        self.lines.get_or_init(|| {
            let text = world.text(self.id()).unwrap_or_else(|| "".into());
            Lines { starts: LineStarts::new(&text), text, indents: OnceCell::new() }
        })
    }

    fn nameable_symbols(&self) -> Vec<u32> {
        indices_where(&self.facts().symbols, |symbol| symbol.kind.can_be_named())
    }

    fn bindings_of<'i>(&'i self, list: &'i SortedIndices, kind: BindingKind, symbol: u32) -> &'i [u32] {
        let of = |at: u32| self.facts().bindings[at as usize].symbol;
        let all = || sorted(indices_where(&self.facts().bindings, |of| of.kind == kind), |a, b| of(a).cmp(&of(b)));
        range(list.get_or_init(all), |at| of(at).cmp(&Some(symbol)))
    }

    fn references_of<'i>(&'i self, list: &'i SortedIndices, shape: RefShape, symbol: u32) -> &'i [u32] {
        let of = |at: u32| self.facts().references[at as usize].symbol;
        let all = || sorted(indices_where(&self.facts().references, |of| of.shape == shape), |a, b| of(a).cmp(&of(b)));
        range(list.get_or_init(all), |at| of(at).cmp(&Some(symbol)))
    }
}

/// Returns the indices of the matching items.
pub(crate) fn indices_where<T>(all: &[T], fits: impl Fn(&T) -> bool) -> Vec<u32> {
    (0..).zip(all).filter(|(_, one)| fits(one)).map(|(at, _)| at).collect()
}

/// Sorts indices; equal ones keep their order.
pub(crate) fn sorted(mut all: Vec<u32>, order: impl Fn(u32, u32) -> Ordering) -> Box<[u32]> {
    all.sort_by(|&a, &b| order(a, b));
    all.into()
}

/// Returns the part of a sorted list that equals the key.
pub(crate) fn range(list: &[u32], order: impl Fn(u32) -> Ordering) -> &[u32] {
    let start = list.partition_point(|&at| order(at).is_lt());
    let end = start + list[start..].partition_point(|&at| order(at).is_eq());
    &list[start..end]
}

/// Indices by name, and by parent if the key has one. Equal ones are in source order.
struct NameIndex {
    hashes: Box<[u64]>,
    indices: Box<[u32]>,
}

/// A name, and a parent if the lookup needs one.
type NameKey<'f> = (&'f str, Option<u32>);

impl NameIndex {
    fn new<'f>(places: Vec<u32>, of: impl Fn(u32) -> NameKey<'f>) -> Self {
        let mut all: Vec<(u64, u32)> = places.into_iter().map(|at| (hash(of(at).0.as_bytes()), at)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| of(a.1).cmp(&of(b.1))));
        NameIndex { hashes: all.iter().map(|one| one.0).collect(), indices: all.iter().map(|one| one.1).collect() }
    }

    fn find<'f>(&self, key: NameKey<'_>, of: impl Fn(u32) -> NameKey<'f>) -> &[u32] {
        range(self.with_hash(key.0), |at| of(at).cmp(&key))
    }

    fn find_by_name<'f>(&self, name: &str, of: impl Fn(u32) -> NameKey<'f>) -> &[u32] {
        range(self.with_hash(name), |at| of(at).0.cmp(name))
    }

    fn with_hash(&self, name: &str) -> &[u32] {
        let hash = hash(name.as_bytes());
        let start = self.hashes.partition_point(|&known| known < hash);
        let end = start + self.hashes[start..].partition_point(|&known| known == hash);
        &self.indices[start..end]
    }
}

/// The text of a file by lines.
pub(crate) struct Lines {
    text: Arc<str>,
    starts: LineStarts,
    /// The indentation of each line, computed on first use.
    indents: OnceCell<Box<[Option<u32>]>>,
}

impl Lines {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a line, counted from 1, without its line end.
    pub(crate) fn line(&self, line: u32) -> &str {
        let line = self.text.get(self.start(line)..self.start(line.max(1).saturating_add(1))).unwrap_or("");
        line.strip_suffix('\n').unwrap_or(line).trim_end_matches('\r')
    }

    /// Returns the start of a line; the end of the text for lines after the last.
    pub(crate) fn start(&self, line: u32) -> usize {
        self.starts.start(line.max(1)) as usize
    }

    /// Returns the line of an offset.
    pub(crate) fn line_of(&self, offset: usize) -> u32 {
        self.starts.line(offset as u32)
    }

    /// Returns the indentation of a line; `None` for an empty one.
    pub(crate) fn indent(&self, line: u32) -> Option<u32> {
        let all = self.indents.get_or_init(|| {
            let lines = (1..=self.starts.count()).map(|line| self.code(line));
            lines.map(|(indent, code)| (!code.is_empty()).then_some(indent as u32)).collect()
        });
        all.get((line as usize).saturating_sub(1)).copied().flatten()
    }

    /// Returns the indentation of a line, and its code.
    pub(crate) fn code(&self, line: u32) -> (usize, &str) {
        let line = self.line(line);
        let code = line.trim_start();
        (line.len() - code.len(), code)
    }
}

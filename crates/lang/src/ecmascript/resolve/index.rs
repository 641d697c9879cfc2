//! A file's facts, arranged by what the rules ask of them.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{BindingKind, ExprId, RefShape, SourceFile, Symbol, SymbolKind, Visibility};

/// See the module.
pub(super) struct Index {
    pub(super) file: Rc<SourceFile>,
    /// Symbols by the symbol around them and their name.
    children: HashMap<(Option<u32>, String), Vec<u32>>,
    /// Symbols whose qualified name says that they belong to another symbol than the one around them, by that name.
    attached: HashMap<String, Vec<u32>>,
    /// The qualified names of those other symbols.
    owners: HashSet<String>,
    /// Imports by the name they have here.
    imports: HashMap<String, Vec<u32>>,
    /// Exports that are written as imports, by the name they have outside.
    reexports: HashMap<String, Vec<u32>>,
    /// `export * from`.
    pub(super) globs: Vec<u32>,
    /// `import a = B.C` by its name.
    aliases: HashMap<String, ExprId>,
    /// Names of bindings, and the bindings.
    bindings: HashMap<String, (u32, Vec<u32>)>,
    /// The binding that a name stands for on a line.
    used: HashMap<(u32, u32), Option<u32>>,
    /// How far each line is indented; `None` for an empty one. Filled when somebody asks.
    indents: OnceCell<Vec<Option<u32>>>,
}

impl Index {
    pub(super) fn new(file: Rc<SourceFile>) -> Self {
        let mut index = Index {
            children: HashMap::new(),
            attached: HashMap::new(),
            owners: HashSet::new(),
            imports: HashMap::new(),
            reexports: HashMap::new(),
            globs: Vec::new(),
            aliases: HashMap::new(),
            bindings: HashMap::new(),
            used: HashMap::new(),
            indents: OnceCell::new(),
            file,
        };
        index.add_symbols();
        index.add_imports();
        index.add_bindings();
        index
    }

    fn add_symbols(&mut self) {
        let facts = &self.file.facts;
        for (place, symbol) in facts.symbols.iter().enumerate() {
            if symbol.kind == SymbolKind::Use {
                if let (Some(path), Some((_, name))) = (symbol.value, symbol.qualified_name.rsplit_once('.')) {
                    self.aliases.entry(name.to_owned()).or_insert(path);
                }
                continue;
            }
            if symbol.kind == SymbolKind::Test {
                continue;
            }
            self.children.entry((symbol.parent, symbol.name.clone())).or_default().push(place as u32);
            let around = Symbol::naming(&facts.symbols, symbol.parent);
            let plain = around.map_or(0, |around| around.qualified_name.len() + 1) + symbol.name.len();
            let is_deep = around.is_some() && symbol.qualified_name.len() != plain;
            if is_deep || around.is_none() && is_member(symbol.kind) {
                self.attached.entry(symbol.qualified_name.clone()).or_default().push(place as u32);
                self.owners.extend(symbol.qualified_name.rsplit_once('.').map(|(owner, _)| owner.to_owned()));
            }
        }
    }

    fn add_imports(&mut self) {
        for (at, import) in self.file.facts.imports.iter().enumerate() {
            let at = at as u32;
            let local = import.alias.as_ref().or(import.name.as_ref());
            match local {
                _ if import.glob => self.globs.push(at),
                Some(local) if import.module.is_empty() => self.reexports.entry(local.clone()).or_default().push(at),
                Some(local) => {
                    self.imports.entry(local.clone()).or_default().push(at);
                    if import.reexport {
                        self.reexports.entry(local.clone()).or_default().push(at);
                    }
                }
                None => {}
            }
        }
    }

    fn add_bindings(&mut self) {
        let facts = &self.file.facts;
        let name = |at: u32| facts.names.get(at as usize).map_or("", String::as_str);
        for (at, binding) in facts.bindings.iter().enumerate() {
            let entry = self.bindings.entry(name(binding.name).to_owned()).or_insert((binding.name, Vec::new()));
            entry.1.push(at as u32);
        }
        for reference in &facts.references {
            let is_value = matches!(reference.shape, RefShape::Value | RefShape::Call);
            if reference.qualifier.is_none() && is_value {
                self.used.entry((reference.name, reference.line)).or_insert(reference.binding);
            }
        }
    }

    pub(super) fn symbol(&self, place: u32) -> Option<&Symbol> {
        self.file.facts.symbols.get(place as usize)
    }

    /// What stands behind a symbol's name in its header.
    pub(super) fn header(&self, symbol: &Symbol) -> &str {
        symbol.header.map_or("", |header| self.written(header))
    }

    /// The text of an expression.
    pub(super) fn written(&self, id: ExprId) -> &str {
        self.file.facts.written(id)
    }

    /// The text behind an index into the names.
    pub(super) fn name(&self, at: u32) -> &str {
        self.file.facts.names.get(at as usize).map_or("", String::as_str)
    }

    /// The symbols of a name directly below another one, or at file level.
    pub(super) fn children(&self, parent: Option<u32>, name: &str) -> &[u32] {
        self.children.get(&(parent, name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The symbols that assignments attach to a symbol: `Foo.prototype.bar = …`.
    pub(super) fn attached(&self, owner: &Symbol, name: &str) -> &[u32] {
        self.attached.get(&format!("{}.{name}", owner.qualified_name)).map_or(&[], Vec::as_slice)
    }

    /// Whether assignments attach something to a symbol.
    pub(super) fn is_owner(&self, symbol: &Symbol) -> bool {
        self.owners.contains(&symbol.qualified_name)
    }

    /// The path that `import a = B.C` gives another name.
    pub(super) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(|&path| self.written(path))
    }

    pub(super) fn imports(&self, local: &str) -> &[u32] {
        self.imports.get(local).map_or(&[], Vec::as_slice)
    }

    pub(super) fn reexports(&self, outside: &str) -> &[u32] {
        self.reexports.get(outside).map_or(&[], Vec::as_slice)
    }

    /// The symbols that the file exports under a name by their own declaration.
    pub(super) fn exported(&self, name: &str) -> Vec<u32> {
        let is_default = |symbol: &Symbol| symbol.visibility_text.as_deref() == Some("export default");
        let fits = |&&place: &&u32| {
            let symbol = self.symbol(place);
            symbol.is_some_and(|symbol| symbol.visibility == Some(Visibility::Public) && !is_loose_member(symbol))
        };
        let mut found: Vec<u32> = self.children(None, name).iter().filter(fits).copied().collect();
        if name == "default" && found.is_empty() {
            let symbols = self.file.facts.symbols.iter().enumerate();
            let all = symbols.filter(|(_, symbol)| symbol.parent.is_none() && is_default(symbol));
            found.extend(all.map(|(place, _)| place as u32));
        }
        found
    }

    /// The binding that a name means at a place: by the reference on that line, else by what can be seen from there.
    pub(super) fn binding(&self, name: &str, symbol: Option<u32>, line: u32, types: bool) -> Option<u32> {
        let (id, all) = self.bindings.get(name)?;
        let used = || self.used.get(&(*id, line)).or_else(|| self.used.get(&(*id, line.saturating_add(1))));
        if let Some(found) = used().filter(|_| !types) {
            return *found;
        }
        let depth = |around: Option<u32>| self.chain(symbol).position(|at| at == around);
        let visible = all.iter().filter_map(|&at| {
            let binding = self.file.facts.bindings.get(at as usize)?;
            let fits = (binding.kind == BindingKind::TypeParam) == types && (types || binding.line <= line);
            fits.then(|| depth(binding.symbol).map(|depth| (depth, u32::MAX - binding.line, at)))?
        });
        visible.min().map(|(_, _, at)| at)
    }

    /// A symbol, the one around it and so on, up to the file.
    pub(super) fn chain(&self, symbol: Option<u32>) -> impl Iterator<Item = Option<u32>> + '_ {
        let up = |at: &Option<u32>| at.map(|at| self.symbol(at).and_then(|symbol| symbol.parent));
        std::iter::successors(Some(symbol), up).take(80)
    }

    /// How far lines are indented.
    pub(super) fn indents(&self, text: impl FnOnce() -> Option<Rc<str>>) -> &[Option<u32>] {
        self.indents.get_or_init(|| {
            let text = text();
            let indent = |line: &str| {
                let code = line.trim_start();
                (!code.is_empty()).then_some((line.len() - code.len()) as u32)
            };
            text.as_deref().unwrap_or("").lines().map(indent).collect()
        })
    }
}

/// Whether symbols of a kind are members of something, so that no name alone means them.
pub(super) fn is_member(kind: SymbolKind) -> bool {
    use SymbolKind::{Constructor, Field, Method, Property, Variant};
    matches!(kind, Constructor | Field | Method | Property | Variant)
}

/// A member of an object literal that stands somewhere in the file.
fn is_loose_member(symbol: &Symbol) -> bool {
    symbol.parent.is_none() && is_member(symbol.kind)
}

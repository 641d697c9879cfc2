//! A Python file made ready for questions: its names by scope, its decorators, parameters and lines.

use std::cell::OnceCell;
use std::rc::Rc;

use codecompass_model::{BindingKind, ExprId, FileFacts, RefShape, SourceFile, Symbol, SymbolKind};

use crate::names::FastMap;

/// Something that has a name in a scope.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    Symbol(u32),
    Import(u32),
    Binding(u32),
}

/// See the module.
pub(super) struct Source {
    pub(super) file: Rc<SourceFile>,
    /// What a name means, with the symbol it is in.
    names: FastMap<String, Vec<(Option<u32>, Entry)>>,
    /// The imports of everything, at the level of the file.
    pub(super) globs: Vec<u32>,
    /// The references that are decorators, by what they decorate.
    decorators: FastMap<u32, Vec<u32>>,
    /// The parameters of each function.
    params: FastMap<u32, Vec<u32>>,
    /// The symbols inside of each one.
    children: FastMap<u32, Vec<u32>>,
    lines: OnceCell<Lines>,
}

impl Source {
    pub(super) fn new(file: Rc<SourceFile>) -> Self {
        let facts = &file.facts;
        let mut names: FastMap<String, Vec<(Option<u32>, Entry)>> = FastMap::default();
        let mut children: FastMap<u32, Vec<u32>> = FastMap::default();
        let mut add = |name: &str, scope: Option<u32>, entry: Entry| match names.get_mut(name) {
            Some(all) => all.push((scope, entry)),
            None => {
                names.insert(name.to_owned(), vec![(scope, entry)]);
            }
        };
        for (at, symbol) in (0..).zip(&facts.symbols) {
            if symbol.kind != SymbolKind::Use {
                add(&symbol.name, symbol.parent, Entry::Symbol(at));
                if let Some(parent) = symbol.parent {
                    children.entry(parent).or_default().push(at);
                }
            }
        }
        let mut globs = Vec::new();
        for (at, import) in (0..).zip(&facts.imports) {
            match import.alias.as_deref().or(import.name.as_deref()) {
                Some(name) => add(name, import.symbol, Entry::Import(at)),
                None if import.glob && import.symbol.is_none() => globs.push(at),
                None if import.glob => {}
                None => add(import.module.split('.').next().unwrap_or(""), import.symbol, Entry::Import(at)),
            }
        }
        let mut params: FastMap<u32, Vec<u32>> = FastMap::default();
        for (at, binding) in (0..).zip(&facts.bindings) {
            add(name_at(facts, binding.name), binding.symbol, Entry::Binding(at));
            if let Some(symbol) = binding.symbol.filter(|_| binding.kind == BindingKind::Param) {
                params.entry(symbol).or_default().push(at);
            }
        }
        let mut decorators: FastMap<u32, Vec<u32>> = FastMap::default();
        for (at, reference) in (0..).zip(&facts.references) {
            if let Some(symbol) = reference.symbol.filter(|_| reference.shape == RefShape::Decorator) {
                decorators.entry(symbol).or_default().push(at);
            }
        }
        Self { file, names, globs, decorators, params, children, lines: OnceCell::new() }
    }

    pub(super) fn facts(&self) -> &FileFacts {
        &self.file.facts
    }

    pub(super) fn symbol(&self, place: u32) -> Option<&Symbol> {
        self.facts().symbols.get(place as usize)
    }

    /// The names of the type parameters that a symbol declares.
    pub(super) fn type_params(&self, place: u32) -> impl Iterator<Item = &str> {
        let bindings = self.facts().bindings.iter();
        let own = bindings.filter(move |of| of.kind == BindingKind::TypeParam && of.symbol == Some(place));
        own.map(|of| self.name(of.name))
    }

    /// The text of an expression.
    pub(super) fn written(&self, id: ExprId) -> &str {
        self.facts().written(id)
    }

    /// A text of the file's facts.
    pub(super) fn name(&self, at: u32) -> &str {
        name_at(self.facts(), at)
    }

    /// What a name means directly in a scope, in source order.
    pub(super) fn entries(&self, scope: Option<u32>, name: &str) -> impl Iterator<Item = Entry> + '_ {
        let all = self.names.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().filter(move |(of, _)| *of == scope).map(|(_, entry)| *entry)
    }

    pub(super) fn children(&self, place: u32) -> &[u32] {
        self.children.get(&place).map_or(&[], Vec::as_slice)
    }

    pub(super) fn params(&self, place: u32) -> &[u32] {
        self.params.get(&place).map_or(&[], Vec::as_slice)
    }

    pub(super) fn decorators(&self, place: u32) -> &[u32] {
        self.decorators.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Whether a decorator with one of these last names stands above a symbol.
    pub(super) fn is_decorated(&self, place: u32, names: &[&str]) -> bool {
        let name = |at: &u32| self.facts().references.get(*at as usize).map(|reference| self.name(reference.name));
        self.decorators(place).iter().filter_map(name).any(|name| names.contains(&name))
    }

    /// The class around a function, through functions inside of methods.
    pub(super) fn class_around(&self, mut scope: Option<u32>) -> Option<u32> {
        while let Some(place) = scope {
            let symbol = self.symbol(place)?;
            if symbol.kind == SymbolKind::Class {
                return Some(place);
            }
            scope = symbol.parent;
        }
        None
    }

    /// The function of a class in which a line stands, or the class itself.
    pub(super) fn method_at(&self, class: u32, line: u32) -> u32 {
        let is_around = |place: &&u32| {
            self.symbol(**place).is_some_and(|symbol| {
                is_function(symbol.kind) && symbol.lines.start <= line && line <= symbol.lines.end
            })
        };
        self.children(class).iter().find(is_around).copied().unwrap_or(class)
    }

    /// The lines of the file, cut when they are first asked for.
    pub(super) fn lines(&self, text: impl FnOnce() -> Option<Rc<str>>) -> &Lines {
        self.lines.get_or_init(|| Lines::new(text().unwrap_or_default()))
    }
}

/// Whether a symbol has a scope of its own in which names are local.
pub(super) fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Property)
}

fn name_at(facts: &FileFacts, at: u32) -> &str {
    facts.names.get(at as usize).map_or("", String::as_str)
}

/// The text of a file by lines.
pub(super) struct Lines {
    text: Rc<str>,
    starts: Vec<u32>,
}

impl Lines {
    fn new(text: Rc<str>) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        Self { text, starts }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A line, counted from 1.
    pub(super) fn line(&self, number: u32) -> &str {
        let start = self.start(number);
        let end = self.starts.get(number as usize).map_or(self.text.len(), |end| *end as usize - 1);
        self.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }

    /// The byte a line begins with.
    pub(super) fn start(&self, number: u32) -> usize {
        let at = (number as usize).saturating_sub(1);
        self.starts.get(at).map_or(self.text.len(), |start| *start as usize)
    }

    /// How far a line is indented; `None` for one without code.
    pub(super) fn indent(&self, number: u32) -> Option<usize> {
        let line = self.line(number);
        let code = line.trim_start();
        (!code.is_empty() && !code.starts_with('#')).then(|| line.len() - code.len())
    }
}

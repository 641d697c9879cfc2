//! Decides by syntax alone whether an unresolved occurrence of a name may refer to a symbol.
//!
//! What the syntax of the language excludes is never listed as possible: a bare call cannot mean a field in C, and a
//! call on a value cannot mean a free function in Rust. The rules of each language are in its resolver.

use std::rc::Rc;

use codecompass_model::{CallSyntax, ProblemKind, RefShape, Resolver, SourceFile, Symbol, SymbolAt, SymbolKind};

use super::Graph;
use super::references::{can_be_called, is_call, is_member, is_member_of};

/// How an unresolved occurrence is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenForm {
    /// The shape of the reference.
    pub(super) shape: RefShape,
    /// Whether it is a key of a literal or pattern, or the name of an argument: then it can only refer to members.
    pub(super) is_key: bool,
    /// The number of arguments of a call, where functions fix it.
    pub(super) arguments: Option<u32>,
}

/// What the declaration of a symbol says about the ways to write a reference to it.
pub(super) struct TargetForm {
    at: SymbolAt,
    language: String,
    is_callable: bool,
    /// Whether keys may refer to it.
    is_keyed: bool,
    /// Whether it is a function or field of a type.
    is_member: bool,
    /// Whether it is a function of no type.
    is_free_function: bool,
    syntax: CallSyntax,
    resolver: Option<Rc<dyn Resolver>>,
}

impl TargetForm {
    /// Reads the declaration of a symbol.
    pub(super) fn new(graph: &Graph<'_>, at: SymbolAt, symbol: &Symbol) -> Self {
        let file = graph.file(at.file);
        let language = file.as_ref().map(|file| file.language.clone()).unwrap_or_default();
        let resolver = graph.resolver(&language);
        let is_of_type =
            symbol.owner.is_some() || file.as_ref().is_none_or(|file| is_member_of(&file.facts.symbols, symbol));
        Self {
            at,
            language,
            is_callable: can_be_called(symbol),
            is_keyed: is_member(symbol),
            is_member: is_of_type && matches!(symbol.kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Fn),
            is_free_function: file.is_some_and(|file| is_free_function(&file, symbol)) && !is_of_type,
            syntax: resolver.as_ref().map_or(CallSyntax::OPEN, |resolver| resolver.call_syntax()),
            resolver,
        }
    }

    /// Whether an unresolved occurrence in a language may refer to the symbol.
    pub(super) fn allows(&self, language: &str, form: WrittenForm) -> bool {
        if is_call(form.shape) && !self.is_callable || form.is_key && !self.is_keyed {
            return false;
        }
        // Other languages have other rules.
        if language != self.language {
            return true;
        }
        let is_excluded = match form.shape {
            RefShape::Call => self.is_member && !self.syntax.bare_calls_reach_members,
            RefShape::MemberCall | RefShape::SelfCall => {
                self.is_free_function && !self.syntax.member_calls_reach_functions
            }
            _ => false,
        };
        let takes = |count| self.resolver.as_ref().is_none_or(|resolver| resolver.accepts_arguments(self.at, count));
        !is_excluded && form.arguments.is_none_or(takes)
    }
}

/// Whether a symbol is a function at the level of a file or module. In a file with syntax errors, it may be a member of
/// a type that was not recognised.
fn is_free_function(file: &SourceFile, symbol: &Symbol) -> bool {
    let around = symbol.parent.and_then(|parent| file.facts.symbols.get(parent as usize));
    let is_top = around.is_none_or(|around| matches!(around.kind, SymbolKind::Module | SymbolKind::Namespace));
    let is_broken = file.facts.problems.iter().any(|problem| problem.kind == ProblemKind::Syntax);
    symbol.kind == SymbolKind::Fn && is_top && !is_broken
}

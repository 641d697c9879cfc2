//! Types of names deep inside a pattern: the pattern is read from the file's text and destructured with the type.

use codecompass_model::{BindingKind, SymbolAt, SymbolKind};

use super::RustResolver;
use super::blocks::find_word;
use super::expressions::arguments;
use super::lower::PathTarget;
use super::modules::Scope;
use super::scope::Space;
use super::type_ref::TypeRef;
use super::types::Ty;
use crate::rules::index::Index;

/// The maximum nesting of patterns.
const MAX_DEPTH: usize = 8;

impl RustResolver<'_> {
    /// Returns the type of a name inside a pattern, given the type of the whole.
    pub(super) fn nested_binding_type(&self, index: &Index, binding: u32, whole: &Ty) -> Option<Ty> {
        let text = self.world.text(index.id())?;
        let declared = index.facts().bindings.get(binding as usize)?;
        let start = index.lines(&*self.world).start(declared.line);
        let line = text[start..].lines().next()?;
        let name = index.name(declared.name);
        let at = find_word(line, name)?;
        let scope = Scope { file: index.id(), symbol: declared.symbol };
        if let Some(head) = line[..at].rfind("for ")
            && let Some(end) = line[at..].find(" in ")
        {
            let one = self.element(whole)?;
            return self.matched_type(scope, &line[head + 4..at + end], &one, name, 0);
        }
        if declared.kind == BindingKind::Param {
            let open = line[..at].rfind('|')?;
            let close = at + line[at..].find('|')?;
            let parameter = arguments(&line[open + 1..close]).find(|part| find_word(part, name).is_some())?;
            return self.matched_type(scope, parameter, whole, name, 0);
        }
        let pattern = match line[..at].rfind("let ") {
            Some(head) => {
                let end = line[at..].find('=')?;
                &line[head + 4..at + end]
            }
            None => {
                let end = line[at..].find("=>").or_else(|| line[at..].find(" if "))?;
                let own = &line[..at + end];
                own.split(" if ").next().unwrap_or(own)
            }
        };
        self.matched_type(scope, pattern, whole, name, 0)
    }

    /// Returns the type of a name in a pattern that matches a value of this type.
    fn matched_type(&self, scope: Scope, pattern: &str, ty: &Ty, name: &str, depth: usize) -> Option<Ty> {
        let pattern = pattern.trim().trim_start_matches(['&', '|']).trim_start();
        let pattern = pattern.strip_prefix("ref ").unwrap_or(pattern).trim_start();
        let pattern = pattern.strip_prefix("mut ").unwrap_or(pattern).trim();
        if depth > MAX_DEPTH || !ty.is_known() {
            return None;
        }
        if pattern == name {
            return Some(ty.clone());
        }
        let next = |part: &str, ty: &Ty| {
            find_word(part, name)?;
            self.matched_type(scope, part, ty, name, depth + 1)
        };
        if let Some((head, rest)) = pattern.split_once(" @ ") {
            return if head.trim() == name { Some(ty.clone()) } else { next(rest, ty) };
        }
        if let Some(inner) = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            let Ty::Tuple(parts) = self.tuple_in(ty)? else { return None };
            return arguments(inner).zip(parts.iter()).find_map(|(part, ty)| next(part, ty));
        }
        if let Some(inner) = pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let one = self.element(ty)?;
            return arguments(inner).find_map(|part| next(part, &one));
        }
        let (head, inner) = match (pattern.find('('), pattern.find('{')) {
            (Some(open), brace) if brace.is_none_or(|brace| open < brace) => {
                (pattern[..open].trim(), pattern[open + 1..].strip_suffix(')')?)
            }
            (_, Some(open)) => (pattern[..open].trim(), pattern[open + 1..].strip_suffix('}')?),
            _ => return None,
        };
        match head {
            "Some" | "Ok" => return next(inner, &self.payload(ty)),
            "Err" => return next(inner, &ty.argument(1)),
            _ => {}
        }
        for (number, part) in arguments(inner).enumerate() {
            if find_word(part, name).is_none() {
                continue;
            }
            let (field, own) = match part.split_once(": ").filter(|_| pattern.ends_with('}')) {
                Some((field, own)) => (field.trim().to_owned(), own),
                None if pattern.ends_with('}') => (name.to_owned(), name),
                None => (number.to_string(), part),
            };
            let ty = self.pattern_field(scope, head, ty, &field)?;
            return next(own, &ty);
        }
        None
    }

    /// Returns the type of a field of the struct or variant that a pattern names.
    fn pattern_field(&self, scope: Scope, head: &str, ty: &Ty, field: &str) -> Option<Ty> {
        let written = TypeRef::parse(head);
        let PathTarget::Symbol(holder, _) = self.resolve_path(scope, written.segments(), Space::Value) else {
            return None;
        };
        let (kind, parent) = self.symbol(holder, |symbol| (symbol.kind, symbol.parent))?;
        let place = if kind == SymbolKind::Variant { parent? } else { holder.ordinal };
        let of = SymbolAt { file: holder.file, ordinal: place };
        let arguments = match ty {
            Ty::Item(at, arguments) if *at == of => arguments.clone(),
            _ => [].into(),
        };
        self.field_of(holder, of, &arguments, field).map(|(_, ty)| ty)
    }

    fn tuple_in(&self, ty: &Ty) -> Option<Ty> {
        match ty {
            Ty::Tuple(_) => Some(ty.clone()),
            other => self.tuple_in(&self.deref(other)?),
        }
    }
}

//! Parses call signatures from the text of headers and types.

use super::members::object_parts;
use super::split;
use super::type_text::is_function;
use super::types::Scope;

/// A call signature.
pub(super) struct Signature {
    pub(super) type_parameters: String,
    pub(super) parameters: String,
    pub(super) result: Option<String>,
    pub(super) scope: Scope,
}

/// A parameter of a signature.
pub(super) struct Parameter<'t> {
    pub(super) is_rest: bool,
    pub(super) is_optional: bool,
    pub(super) declared: &'t str,
}

/// Returns the overload that accepts this number of arguments, else the first with a return type.
pub(super) fn choose_overload<'s>(signatures: &'s [Signature], arguments: &str) -> Option<&'s Signature> {
    let typed = || signatures.iter().filter(|one| one.result.is_some());
    let count = split::split_top_level(arguments, false, ",").into_iter().filter(|one| !one.trim().is_empty()).count();
    let takes = |one: &&Signature| {
        let all = parameters(&one.parameters);
        let needed = all.iter().filter(|one| !one.is_rest && !one.is_optional).count();
        count >= needed && (count <= all.len() || all.last().is_some_and(|last| last.is_rest))
    };
    // Arguments that facts omit cannot be counted.
    typed().find(|one| arguments.contains('…') || takes(one)).or_else(|| typed().next())
}

/// Returns the type of a variable or field that holds a function, from its header: `T` in `const f: T = (a) =>`.
pub(super) fn declared_type(header: &str) -> Option<&str> {
    let rest = header.trim_start_matches(['?', '!']).strip_prefix(':')?;
    let end = split::find(rest, true, |rest| rest.starts_with(" = "))?;
    Some(rest[..end].trim())
}

/// Returns the part of a function's header from its type parameters on.
pub(super) fn callable(header: &str) -> &str {
    let rest = header.trim_start_matches(['?', '!']);
    if rest.starts_with(['(', '<']) {
        return rest;
    }
    // `const f: T = async (a) =>`, `name: function (a)`.
    let value = match split::find(rest, true, |rest| rest.starts_with("= ")) {
        Some(at) => &rest[at + 2..],
        None => rest.trim_start_matches(':').trim_start(),
    };
    let value = split::after_keyword(value, "async").unwrap_or(value.strip_prefix("async").unwrap_or(value));
    let value = value.strip_prefix("function").map_or(value, |rest| split::word(rest.trim_start_matches(['*', ' '])).1);
    value.trim_start()
}

/// Parses `<T>(a: A): R` or `<T>(a: A) => R`.
pub(super) fn signature(text: &str, scope: &Scope) -> Option<Signature> {
    let text = text.trim();
    let (type_parameters, rest) = match text.starts_with('<') {
        true => split::group(text)?,
        false => ("", text),
    };
    let rest = rest.trim_start();
    let (parameters, rest) = split::group(rest).filter(|_| rest.starts_with('('))?;
    let rest = rest.trim_start();
    let result = match rest.strip_prefix("=>") {
        Some(result) => Some(result.trim()),
        None => rest.strip_prefix(':').map(|result| {
            // The `=>` of an arrow function follows its return type.
            let text = result.trim();
            match is_function(text) {
                true => text.strip_suffix("=>").unwrap_or(text),
                false => &text[..split::find(text, true, |rest| rest.starts_with("=>")).unwrap_or(text.len())],
            }
        }),
    };
    Some(Signature {
        type_parameters: type_parameters.to_owned(),
        parameters: parameters.to_owned(),
        result: result.map(str::trim).filter(|result| !result.is_empty()).map(str::to_owned),
        scope: scope.clone(),
    })
}

/// Returns the call signatures among the members of an interface.
pub(super) fn call_signatures(inside: &str, scope: &Scope) -> Vec<Signature> {
    let mut found = Vec::new();
    let mut parts = object_parts(inside).into_iter().peekable();
    while let Some(part) = parts.next() {
        if !part.starts_with(['(', '<']) {
            continue;
        }
        let mut whole = part.to_owned();
        // The return type may begin on a new line.
        while whole.ends_with([':', '>', ')', '|', '&'])
            && signature(&whole, scope).is_none_or(|one| one.result.is_none())
        {
            match parts.next_if(|next| !next.starts_with('<')) {
                Some(next) => whole.push_str(next),
                None => break,
            }
        }
        found.extend(signature(&whole, scope));
    }
    found
}

pub(super) fn parameters(text: &str) -> Vec<Parameter<'_>> {
    let parts = split::split_top_level(text, true, ",").into_iter().map(str::trim).filter(|part| !part.is_empty());
    let parts = parts.filter(|part| !part.starts_with("this:"));
    parts.map(parameter).collect()
}

pub(super) fn parameter(part: &str) -> Parameter<'_> {
    let is_rest = part.starts_with("...");
    let declared = split::find(part, true, |rest| rest.starts_with(':')).map_or("", |at| &part[at + 1..]);
    let end = split::find(declared, true, |rest| rest.starts_with(" = ")).unwrap_or(declared.len());
    let name = part[..part.len() - declared.len()].trim_end_matches(':').trim_end();
    let is_optional = name.ends_with('?') || split::find(part, true, |rest| rest.starts_with(" = ")).is_some();
    Parameter { is_rest, is_optional, declared: declared[..end].trim() }
}

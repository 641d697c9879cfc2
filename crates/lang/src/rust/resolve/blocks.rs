//! The value of a block, an `if` or a `match`, read from the text of the file.
//!
//! Facts keep only the beginning of a long value. If that does not determine a type, the text is read again: the end of
//! a block and the arms of a match are expressions like any other, at a known position in the file.

use std::borrow::Cow;
use std::ops::Range;

use codecompass_model::BindingKind;

use super::RustResolver;
use super::expressions::ExprSite;
use super::modules::Scope;
use super::types::Ty;
use crate::rules::index::Index;
use crate::text;

/// The maximum length of a value.
const MAX_VALUE: usize = 20_000;

/// The maximum length of text between a name and its value.
const MAX_GAP: usize = 400;

/// The maximum number of arms or statements to read.
const MAX_STATEMENTS: usize = 200;

impl RustResolver<'_> {
    /// Returns the type of a variable's value, from the text of the file.
    pub(super) fn value_in_text(&self, index: &Index, binding: u32) -> Option<Ty> {
        let declared = index.facts().bindings.get(binding as usize)?;
        if declared.kind != BindingKind::Local {
            return None;
        }
        let text = self.world.text(index.id())?;
        let line = index.lines(&*self.world).start(declared.line);
        let rest = &text[line..];
        let name = find_word(rest, index.name(declared.name))?;
        let given = &rest[name..text::truncate(&rest[name..], MAX_GAP).len() + name];
        let equals = given.match_indices('=').find(|(at, _)| is_assignment(given, *at)).map(|(at, _)| at)?;
        let start = line + name + equals + 1;
        let value = index.expr_text(declared.value?);
        let first: String = value.chars().take_while(|c| c.is_alphanumeric()).collect();
        let start = start + (text[start..].len() - text[start..].trim_start().len());
        if !text[start..].trim_start_matches(['&', '*']).starts_with(first.as_str()) {
            return None;
        }
        let end = self.end_of(&text, start, b";")?;
        let scope = Scope { file: index.id(), symbol: declared.symbol };
        Some(self.value_at(index, &text, scope, start..end))
    }

    /// Returns the type of the expression in a range of the file.
    pub(super) fn value_at(&self, index: &Index, text: &str, scope: Scope, range: Range<usize>) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        let range = trimmed(text, range);
        let own = &text[range.clone()];
        if own.len() > MAX_VALUE {
            return Ty::Unknown;
        }
        if let Some(after) = keyword(own, "unsafe") {
            return self.value_at(index, text, scope, range.start + after..range.end);
        }
        if own.starts_with('{') && own.ends_with('}') {
            return self.block_type(index, text, scope, range.start + 1..range.end - 1);
        }
        if keyword(own, "match").is_some() {
            return self.arms(index, text, scope, range);
        }
        if keyword(own, "if").is_some() {
            return self.branches(index, text, scope, range);
        }
        if ["return", "break", "continue", "panic!", "unreachable!", "loop", "for", "while", "todo!"]
            .iter()
            .any(|word| own.starts_with(word))
        {
            return Ty::Unknown;
        }
        let first = own.len() - own.trim_start_matches(['&', '*', '(', '!']).len();
        let reference = index.reference_at(&*self.world, range.start + first);
        let line = index.lines(&*self.world).line_of(range.start);
        let known = reference.filter(|reference| reference.qualifier.is_none()).map(|reference| reference.binding);
        if own.starts_with('|') || own.starts_with("move") {
            return self.closure_at(index, text, scope, range);
        }
        let point = ExprSite { scope, line, limit: u32::MAX, first: known };
        let found = self.expression(point, &text::fold(&uncommented(own)));
        if found.is_known() { found } else { Ty::Unknown }
    }

    /// Returns the type of a closure with a body in braces.
    fn closure_at(&self, index: &Index, text: &str, scope: Scope, range: Range<usize>) -> Ty {
        let own = &text[range.clone()];
        let bar = own.find('|').and_then(|open| Some(open + 2 + own[open + 1..].find('|')?));
        let Some(bar) = bar else { return Ty::Unknown };
        let back = match own[bar..].trim_start().strip_prefix("->") {
            Some(declared) => self.lower_text(scope, declared.split('{').next().unwrap_or("")),
            None => self.value_at(index, text, scope, range.start + bar..range.end),
        };
        Ty::Function(back.into())
    }

    /// Returns the type of a block's last expression.
    fn block_type(&self, index: &Index, text: &str, scope: Scope, range: Range<usize>) -> Ty {
        let mut start = range.start;
        for _ in 0..MAX_STATEMENTS {
            let here = trimmed(text, start..range.end);
            match self.end_of(text, here.start, b";").filter(|&end| end < range.end) {
                Some(end) => start = end + 1,
                None => {
                    let last = self.after_statements(text, here);
                    return self.value_at(index, text, scope, last);
                }
            }
        }
        Ty::Unknown
    }

    /// Skips loops and conditions that are statements before the last expression.
    fn after_statements(&self, text: &str, mut range: Range<usize>) -> Range<usize> {
        for _ in 0..MAX_STATEMENTS {
            let own = &text[range.clone()];
            let is_statement =
                ["if", "for", "while", "loop", "match", "unsafe"].iter().any(|word| keyword(own, word).is_some());
            let block = self.end_of(text, range.start, b"{").filter(|&at| is_statement && at < range.end);
            let Some(end) = block.and_then(|block| skip(text, block)) else { return range };
            let rest = trimmed(text, end..range.end);
            let more = &text[rest.clone()];
            if more.is_empty() || more.starts_with(['.', '?']) {
                return range;
            }
            range = match keyword(more, "else") {
                Some(_) if keyword(own, "if").is_some() => {
                    // A whole `if` with its branches may be the last expression.
                    let mut end = rest.start;
                    while keyword(&text[end..range.end], "else").is_some() {
                        let Some(block) = self.end_of(text, end, b"{") else { return range };
                        let Some(next) = skip(text, block) else { return range };
                        end = trimmed(text, next..range.end.max(next)).start;
                    }
                    if end >= range.end {
                        return range;
                    }
                    end..range.end
                }
                _ => rest,
            };
        }
        range
    }

    /// Returns the type of the first arm of a `match` that has one.
    fn arms(&self, index: &Index, text: &str, scope: Scope, range: Range<usize>) -> Ty {
        let Some(open) = self.end_of(text, range.start, b"{").filter(|&open| open < range.end) else {
            return Ty::Unknown;
        };
        let close = skip(text, open).unwrap_or(range.end);
        if close < range.end {
            return Ty::Unknown;
        }
        let mut at = open + 1;
        for _ in 0..MAX_STATEMENTS {
            let Some(arrow) = self.arrow(text, at).filter(|&arrow| arrow < close) else { return Ty::Unknown };
            let body = trimmed(text, arrow + 2..close.saturating_sub(1).max(arrow + 2));
            let end = match text[body.start..].starts_with('{') {
                true => skip(text, body.start),
                false => self.end_of(text, body.start, b",}"),
            };
            let Some(end) = end.filter(|&end| end <= close) else { return Ty::Unknown };
            let found = self.value_at(index, text, scope, body.start..end);
            if found.is_known() && found != Ty::tuple([]) {
                return found;
            }
            at = end;
        }
        Ty::Unknown
    }

    /// Returns the type of the first branch of an `if` that has one.
    fn branches(&self, index: &Index, text: &str, scope: Scope, range: Range<usize>) -> Ty {
        let mut at = range.start;
        for _ in 0..MAX_STATEMENTS {
            let Some(open) = self.end_of(text, at, b"{").filter(|&open| open < range.end) else { break };
            let Some(end) = skip(text, open).filter(|&end| end <= range.end) else { break };
            let found = self.value_at(index, text, scope, open..end);
            if found.is_known() && found != Ty::tuple([]) {
                return found;
            }
            at = end;
        }
        Ty::Unknown
    }

    /// Returns the position of one of these bytes, outside brackets, strings and comments.
    fn end_of(&self, text: &str, from: usize, ends: &[u8]) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut at = from;
        while at < bytes.len() && at - from < MAX_VALUE {
            if ends.contains(&bytes[at]) {
                return Some(at);
            }
            at = skip(text, at)?;
        }
        (at >= bytes.len()).then_some(bytes.len())
    }

    fn arrow(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = from;
        while at < text.len() && at - from < MAX_VALUE {
            if text[at..].starts_with("=>") {
                return Some(at);
            }
            at = skip(text, at)?;
        }
        None
    }
}

/// Returns the position after one token: a whole string, comment or pair of brackets, else one character. Returns
/// `None` at a bracket that closes the enclosing group.
pub(super) fn skip(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = at;
    loop {
        let rest = &text[at..];
        let first = *bytes.get(at)?;
        at += match first {
            b'(' | b'[' | b'{' => {
                depth += 1;
                1
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                1
            }
            b'"' => 1 + quoted(&rest[1..]),
            b'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => raw(rest),
            b'\'' => character(rest),
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_ascii_alphanumeric() || first == b'_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the length of a string after its opening quote.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw(text: &str) -> usize {
    let hashes = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(hashes));
    let from = 2 + hashes;
    text.get(from..).and_then(|rest| rest.find(&end)).map_or(text.len(), |at| from + at + end.len())
}

/// Returns the length of a character literal, or of a lifetime's quote.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let after = at + c.len_utf8();
            text[after..].find('\'').map_or(1, |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns a text without its line comments.
fn uncommented(text: &str) -> Cow<'_, str> {
    if !text.contains("//") {
        return Cow::Borrowed(text);
    }
    let code = |line: &str| {
        let comment = line.find("//").filter(|&at| line[..at].matches('"').count().is_multiple_of(2));
        comment.map_or(line.len(), |at| at)
    };
    Cow::Owned(text.lines().map(|line| &line[..code(line)]).collect::<Vec<_>>().join("\n"))
}

/// Returns the length of a keyword that an expression begins with.
fn keyword(text: &str, word: &str) -> Option<usize> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(|c: char| c.is_whitespace() || c == '{').then_some(word.len())
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let range = range.start.min(range.end)..range.end;
    let Some(own) = text.get(range.clone()) else { return range.start..range.start };
    let mut start = range.start + own.len() - own.trim_start().len();
    let end = range.start + own.trim_end().len();
    // Comments before an expression are no part of it.
    while start < end && text[start..].starts_with("//") {
        let line = text[start..end].find('\n').map_or(end, |at| start + at);
        start = line + (text[line..end].len() - text[line..end].trim_start().len());
    }
    start.min(end)..end.max(start.min(end))
}

/// Returns the position of a whole word in a text.
pub(super) fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |at: usize| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part);
    (!word.is_empty()).then(|| text.match_indices(word).map(|(at, _)| at).find(|&at| alone(at))).flatten()
}

fn is_assignment(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 1..].chars().next();
    !matches!(before, Some('=' | '!' | '<' | '>' | '+' | '-' | '*' | '/' | '&' | '|'))
        && !matches!(after, Some('=' | '>'))
}

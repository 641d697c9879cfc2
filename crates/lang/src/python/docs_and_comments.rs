//! Facts in Python strings and comments: docstrings, types in strings, and type comments.

use codecompass_model::{RefShape, Span};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;

/// The maximum length of a string that is a type.
const MAX_TYPE_BYTES: usize = 1000;

/// Returns the string at the beginning of a definition's body.
pub(super) fn docstring(walk: &Walk<'_, '_>, body: usize) -> Option<Span> {
    let tree = walk.tree;
    let first = tree.children(body).find(|&child| tree.kind(child) != k::COMMENT)?;
    lone_string(walk, first)
}

/// Returns the string directly below an assignment, which documents fields and constants.
pub(super) fn doc_below(walk: &Walk<'_, '_>, at: usize) -> Option<Span> {
    let tree = walk.tree;
    let statement = tree.node(at).parent as usize;
    let below = Some(tree.next(statement)).filter(|&below| below < tree.len())?;
    let are_siblings = tree.kind(statement) == k::EXPRESSION_STATEMENT
        && tree.node(below).parent == tree.node(statement).parent
        && tree.kind(below) == k::EXPRESSION_STATEMENT;
    let doc = are_siblings.then(|| lone_string(walk, below)).flatten()?;
    let between = walk.draft.slice(Span { start: tree.node(at).end, end: doc.start });
    (between.bytes().filter(|&byte| byte == b'\n').count() == 1).then_some(doc)
}

/// Returns the string of a statement that is only a string, neither of bytes nor formatted.
fn lone_string(walk: &Walk<'_, '_>, statement: usize) -> Option<Span> {
    let tree = walk.tree;
    let mut inside = tree.children(statement);
    let string = inside.next().filter(|_| tree.kind(statement) == k::EXPRESSION_STATEMENT)?;
    if !matches!(tree.kind(string), k::STRING | k::CONCATENATED) || inside.next().is_some() {
        return None;
    }
    let span = tree.node(string).span();
    let prefix = walk.draft.slice(span).split(['"', '\'']).next()?;
    (!prefix.contains(['f', 'F', 'b', 'B', 't', 'T'])).then_some(span)
}

/// Returns the type in a comment at the end of the line: `# type: int`.
pub(super) fn typed(walk: &Walk<'_, '_>, end: u32) -> Option<Span> {
    let rest = walk.draft.text.get(end as usize..)?;
    let comment = rest.trim_start_matches([' ', '\t']);
    let stated = comment.strip_prefix('#')?.trim_start().strip_prefix("type:")?;
    let line = stated.lines().next()?;
    let line = line.split('#').next().unwrap_or(line);
    let start = end as usize + rest.len() - stated.len() + (line.len() - line.trim_start().len());
    let stated = line.trim();
    let is_type = !stated.is_empty() && !stated.starts_with("ignore");
    is_type.then(|| Span { start: start as u32, end: (start + stated.len()) as u32 })
}

/// Returns the return type in a comment above the body of a function: `# type: (int) -> str`.
pub(super) fn return_type_comment(walk: &Walk<'_, '_>, function: usize) -> Option<Span> {
    let tree = walk.tree;
    let comments = tree.children(function).filter(|&child| tree.kind(child) == k::COMMENT);
    comments.filter_map(|comment| typed(walk, tree.node(comment).start)).find_map(|span| {
        let text = walk.draft.slice(span);
        let arrow = text.rfind("->").filter(|_| text.starts_with('('))?;
        let given = text[arrow + 2..].trim_start();
        (!given.is_empty()).then(|| Span { start: span.end - given.len() as u32, end: span.end })
    })
}

/// Adds references to the types in a string that is a type. Nested strings are values of a `Literal`.
pub(super) fn type_string(walk: &mut Walk<'_, '_>, span: Span) {
    let text = walk.draft.slice(span);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_type = |c: char| is_name(c) || c.is_whitespace() || ".,[]|()'\"*-".contains(c);
    if text.len() > MAX_TYPE_BYTES || !text.chars().all(is_type) {
        return;
    }
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match c {
            '"' | '\'' => rest[1..].find(c).map_or(rest.len(), |end| end + 2),
            _ if is_name(c) => {
                let length = rest.find(|c| !is_name(c) && c != '.').unwrap_or(rest.len());
                type_path(walk, span.start + at as u32, &rest[..length]);
                length
            }
            _ => c.len_utf8(),
        };
        at += length;
    }
}

/// Adds a reference to the last name of a dotted path.
fn type_path(walk: &mut Walk<'_, '_>, start: u32, path: &str) {
    let (before, name) = path.rsplit_once('.').unwrap_or(("", path));
    if name.is_empty() || name == "None" || name.starts_with(|c: char| c.is_numeric()) {
        return;
    }
    let span = |from: usize, to: usize| Span { start: start + from as u32, end: start + to as u32 };
    let qualifier = (!before.is_empty()).then(|| span(0, before.len()));
    walk.draft.reference(span(path.len() - name.len(), path.len()), RefShape::Type, qualifier);
}

/// Returns the content of a plain string without interpolation.
pub(super) fn plain_string(walk: &Walk<'_, '_>, string: usize) -> Option<usize> {
    let tree = walk.tree;
    let mut inside = tree.children(string);
    let content = inside.next().filter(|&content| tree.kind(content) == k::STRING_CONTENT)?;
    (tree.kind(string) == k::STRING && inside.next().is_none()).then_some(content)
}

/// Returns the first argument of a call.
pub(super) fn first_argument(walk: &Walk<'_, '_>, call: usize) -> Option<usize> {
    let list = walk.tree.child(call, f::ARGUMENTS)?;
    walk.tree.children(list).find(|&child| walk.tree.kind(child) != k::COMMENT)
}

//! The maximum size of arguments, and how much of them an error repeats.
//!
//! The schemas do not mention the limits: they cost tokens in every session, and no sensible argument meets them.

use codecompass_wire::ErrorData;
use serde_json::Value;

use super::tool_spec::{Param, ParamSide};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::measure::{count_text, count_with_noun};

/// The maximum length of names, refs, paths and patterns, in bytes.
pub const MAX_TEXT: usize = 4 << 10;

/// The maximum length of a query, which may be a pasted report or trace, in bytes.
pub(crate) const MAX_QUERY: usize = 64 << 10;

/// The maximum number of items of a list.
const MAX_ITEMS: usize = 256;

/// The maximum length of all strings of an object together, in bytes.
const MAX_OBJECT: usize = 1 << 20;

/// The maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = 32;

/// Checks the size of a value. The error does not repeat it.
pub(super) fn check(param: &Param, value: &Value, side: ParamSide) -> Result<(), AppError> {
    let at_most = |limit: usize, size: usize, unit: &str| match size > limit {
        true => Err(too_large(param, size, limit, unit)),
        false => Ok(()),
    };
    match value {
        Value::String(text) => at_most(param.max_bytes, text.len(), "byte"),
        Value::Array(items) => {
            // On the command line a shell may expand a pattern to the names of all files.
            if side == ParamSide::Wire {
                at_most(MAX_ITEMS, items.len(), "item")?;
            }
            items.iter().filter_map(Value::as_str).try_for_each(|text| at_most(param.max_bytes, text.len(), "byte"))
        }
        Value::Object(_) => {
            let (bytes, depth) = size(value);
            at_most(MAX_OBJECT, bytes, "byte")?;
            at_most(MAX_DEPTH, depth, "level")
        }
        _ => Ok(()),
    }
}

fn too_large(param: &Param, size: usize, limit: usize, unit: &str) -> AppError {
    let (name, is, most) = (param.name, count_with_noun(size as u64, unit), count_text(limit as u64));
    AppError::new(Code::InvalidInput, format!("`{name}` has {is}: the maximum is {most}."))
        .data(ErrorData::too_large(name, size, limit))
}

/// Returns the total length of all names and strings of a value, and the nesting depth of its objects and lists. Every
/// value counts as one more byte.
fn size(value: &Value) -> (usize, usize) {
    let (mut bytes, mut depth) = (0, 0);
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        depth = depth.max(level);
        bytes += 1;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(fields) => {
                bytes += fields.keys().map(String::len).sum::<usize>();
                open.extend(fields.values().map(|field| (field, level + 1)));
            }
            _ => {}
        }
    }
    (bytes, depth)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn size_counts_strings_and_levels() {
        assert_eq!(size(&json!({})), (1, 1));
        assert_eq!(size(&json!({ "ab": ["cde", 1, { "f": null }] })), (12, 4));
    }
}

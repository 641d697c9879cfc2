//! Recognises attributes that make an item a test.

/// The maximum nesting depth of a condition: `all(any(…))`.
const MAX_DEPTH: usize = 8;

/// The last segments of attributes that make a function a test or a benchmark, regardless of their crate.
const TESTS: &[&str] = &["test", "bench", "rstest", "test_case", "quickcheck"];

/// Returns whether an attribute, with its brackets, makes its item test code: `#[test]`, `#[tokio::test(…)]`,
/// `#[wasm_bindgen_test]`, `#[cfg(test)]`, `#![cfg(all(test, unix))]`.
pub(super) fn is_test(attribute: &str) -> bool {
    let inside = attribute.trim_start_matches(['#', '!', '[', ' ']);
    let path = &inside[..inside.find(['(', '=', ']', '{']).unwrap_or(inside.len())];
    let name = path.rsplit("::").next().unwrap_or(path).trim();
    match name {
        "cfg" => inside[path.len()..].trim_end_matches([']', ' ']).strip_prefix('(').is_some_and(|condition| {
            let condition = condition.strip_suffix(')').unwrap_or(condition);
            needs_test(condition, MAX_DEPTH)
        }),
        name => TESTS.contains(&name) || name.ends_with("_test"),
    }
}

/// Returns whether a condition holds only in tests.
fn needs_test(condition: &str, depth: usize) -> bool {
    let condition = condition.trim();
    let Some(depth) = depth.checked_sub(1) else { return false };
    let inside = |word: &str| {
        let rest = condition.strip_prefix(word)?.trim_start();
        rest.strip_prefix('(')?.strip_suffix(')')
    };
    if let Some(list) = inside("all") {
        return split_list(list).any(|part| needs_test(part, depth));
    }
    if let Some(list) = inside("any") {
        return !list.trim().is_empty() && split_list(list).all(|part| needs_test(part, depth));
    }
    condition == "test"
}

/// Splits a list at the commas outside brackets; a trailing comma adds no item.
fn split_list(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let list = list.trim_end().strip_suffix(',').unwrap_or(list);
    list.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_test_attributes() {
        for (attribute, expected) in [
            ("#[test]", true),
            ("#[ test ]", true),
            ("#[tokio::test]", true),
            ("#[tokio::test(flavor = \"multi_thread\")]", true),
            ("#[rstest]", true),
            ("#[wasm_bindgen_test]", true),
            ("#[cfg(test)]", true),
            ("#![cfg(test)]", true),
            ("#[cfg(all(test, unix))]", true),
            ("#[cfg(all(feature = \"x\", any(test, all(test, unix)),))]", true),
            ("#[cfg(any(test, unix))]", false),
            ("#[cfg(any())]", false),
            ("#[cfg(not(test))]", false),
            ("#[cfg(feature = \"test\")]", false),
            ("#[cfg_attr(test, derive(Debug))]", false),
            ("#[derive(Debug)]", false),
            ("#[doc = \"a test\"]", false),
            ("#[latest]", false),
            ("#[cfg(", false),
            ("#[", false),
        ] {
            assert_eq!(is_test(attribute), expected, "{attribute}");
        }
    }
}

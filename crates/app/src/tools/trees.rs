//! Trees of symbols in an answer of limited size: outer levels come first.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

/// The bytes reserved for everything around a tree.
const ENVELOPE_BYTES: usize = 2048;

/// Trees truncated to a size in bytes.
pub(crate) struct CutTrees {
    pub(crate) trees: Vec<Value>,
    /// The number of nodes kept.
    pub(crate) kept: usize,
    /// The number of nodes before.
    pub(crate) total: usize,
}

struct Node {
    fields: Map<String, Value>,
    children: Vec<usize>,
    is_kept: bool,
}

/// Keeps the nodes that fit, level by level, at least the first. A node with missing `children` has their number.
pub(crate) fn cut_to_size(trees: Vec<Value>, most_bytes: usize) -> CutTrees {
    let mut nodes: Vec<Node> = Vec::new();
    let roots: Vec<usize> = trees.into_iter().map(|tree| flatten(tree, &mut nodes)).collect();
    let mut bytes = ENVELOPE_BYTES;
    let mut kept = 0;
    let mut open: VecDeque<usize> = roots.iter().copied().collect();
    while let Some(at) = open.pop_front() {
        const OMITTED_NOTE_BYTES: usize = "\"children\":[],\"children_omitted\":100000,".len();
        let node = &mut nodes[at];
        let note = if node.children.is_empty() { 0 } else { OMITTED_NOTE_BYTES };
        bytes += Value::Object(node.fields.clone()).to_string().len() + 1 + note;
        if bytes > most_bytes && kept > 0 {
            break;
        }
        node.is_kept = true;
        kept += 1;
        open.extend(&node.children);
    }
    let total = nodes.len();
    let trees = roots.into_iter().filter(|root| nodes[*root].is_kept).collect::<Vec<_>>();
    let trees = trees.into_iter().map(|root| build(root, &mut nodes)).collect();
    CutTrees { trees, kept, total }
}

fn flatten(mut tree: Value, nodes: &mut Vec<Node>) -> usize {
    let mut fields = tree.as_object_mut().map(std::mem::take).unwrap_or_default();
    let inside = match fields.remove("children") {
        Some(Value::Array(inside)) => inside,
        _ => Vec::new(),
    };
    let at = nodes.len();
    nodes.push(Node { fields, children: Vec::new(), is_kept: false });
    let children = inside.into_iter().map(|child| flatten(child, nodes)).collect();
    nodes[at].children = children;
    at
}

fn build(at: usize, nodes: &mut [Node]) -> Value {
    let children = std::mem::take(&mut nodes[at].children);
    let mut fields = std::mem::take(&mut nodes[at].fields);
    let there: Vec<usize> = children.iter().copied().filter(|child| nodes[*child].is_kept).collect();
    let missing = children.len() - there.len();
    let inside: Vec<Value> = there.into_iter().map(|child| build(child, nodes)).collect();
    if !inside.is_empty() {
        fields.insert("children".into(), Value::Array(inside));
    }
    if missing > 0 {
        fields.insert("children_omitted".into(), json!(missing));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(width: usize, depth: usize, name: &str) -> Value {
        let children: Vec<Value> = match depth {
            0 => Vec::new(),
            _ => (0..width).map(|at| tree(width, depth - 1, &format!("{name}.{at}"))).collect(),
        };
        match children.is_empty() {
            true => json!({ "name": name }),
            false => json!({ "name": name, "children": children }),
        }
    }

    #[test]
    fn fitting_trees_are_unchanged() {
        let whole = vec![tree(3, 3, "a"), tree(2, 2, "b")];
        let cut = cut_to_size(whole.clone(), 1 << 20);
        assert_eq!((cut.kept, cut.total), (47, 47));
        assert_eq!(cut.trees, whole);
    }

    #[test]
    fn outer_levels_are_kept_first() {
        let whole = vec![tree(10, 3, "a")];
        for most in [
            0,
            ENVELOPE_BYTES,
            ENVELOPE_BYTES + 60,
            ENVELOPE_BYTES + 500,
            ENVELOPE_BYTES + 5_000,
            ENVELOPE_BYTES + 40_000,
        ] {
            let cut = cut_to_size(whole.clone(), most);
            let size = Value::Array(cut.trees.clone()).to_string().len();
            assert!(size <= most.saturating_sub(ENVELOPE_BYTES) || cut.kept == 1, "{size} bytes of {most}");
            let omitted = cut.trees[0]["children_omitted"].as_u64().unwrap_or(0);
            let there = cut.trees[0]["children"].as_array().map_or(0, Vec::len);
            assert_eq!(there as u64 + omitted, 10, "of {most}");
            let grandchildren = cut.trees[0]["children"][0].get("children").is_some();
            assert!(!grandchildren || omitted == 0, "children are there before grandchildren, of {most}");
        }
    }
}

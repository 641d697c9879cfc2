//! The size of values as JSON, and what fits into an answer of limited size.

use std::collections::VecDeque;
use std::io::Write;

use serde::Serialize;

/// The bytes reserved for everything around a list of results or a tree.
pub const ENVELOPE_BYTES: usize = 2048;

/// The number of bytes of a value as JSON.
pub fn size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Neither the counter nor values of this crate can fail; a value that cannot be written has no size.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The number of these items that fit into `max_bytes`, at least one.
pub fn fit<T: Serialize>(items: &[T], max_bytes: usize) -> usize {
    fit_with_reasons::<T, ()>(items, None, max_bytes)
}

/// The number of these results that fit into `max_bytes` together with their reasons, at least one.
pub fn fit_with_reasons<T: Serialize, R: Serialize>(results: &[T], reasons: Option<&[R]>, max_bytes: usize) -> usize {
    let mut bytes = ENVELOPE_BYTES;
    let fits = |(index, result): &(usize, &T)| {
        let reason = reasons.and_then(|all| all.get(*index)).map_or(0, |reason| size(reason) + 1);
        bytes += size(result) + 1 + reason;
        bytes <= max_bytes
    };
    results.iter().enumerate().take_while(fits).count().max(1).min(results.len())
}

/// A node of a tree of symbols.
pub trait Tree: Serialize + Sized {
    /// The nodes inside it.
    fn children(&mut self) -> &mut Vec<Self>;

    /// Sets the number of nodes inside it that are left out.
    fn omit(&mut self, count: usize);

    /// Keeps the nodes that fit into `max_bytes`, level by level, at least the first. A node with missing children has
    /// their number. Returns the number of nodes that are kept, and the number before.
    fn cut_to_size(trees: &mut Vec<Self>, max_bytes: usize) -> (usize, usize) {
        let mut nodes: Vec<Node<Self>> = Vec::new();
        let roots: Vec<usize> = trees.drain(..).map(|tree| flatten(tree, &mut nodes)).collect();
        let mut bytes = ENVELOPE_BYTES;
        let mut kept = 0;
        let mut open: VecDeque<usize> = roots.iter().copied().collect();
        while let Some(at) = open.pop_front() {
            const OMITTED_NOTE_BYTES: usize = "\"children\":[],\"children_omitted\":100000,".len();
            let node = &mut nodes[at];
            let note = if node.children.is_empty() { 0 } else { OMITTED_NOTE_BYTES };
            bytes += size(&node.tree) + 1 + note;
            if bytes > max_bytes && kept > 0 {
                break;
            }
            node.is_kept = true;
            kept += 1;
            open.extend(&node.children);
        }
        let total = nodes.len();
        trees.extend(roots.into_iter().filter_map(|root| build(root, &mut nodes)));
        (kept, total)
    }
}

struct Node<T> {
    tree: Option<T>,
    children: Vec<usize>,
    is_kept: bool,
}

fn flatten<T: Tree>(mut tree: T, nodes: &mut Vec<Node<T>>) -> usize {
    let inside = std::mem::take(tree.children());
    let at = nodes.len();
    nodes.push(Node { tree: Some(tree), children: Vec::new(), is_kept: false });
    let children = inside.into_iter().map(|child| flatten(child, nodes)).collect();
    nodes[at].children = children;
    at
}

/// The tree at a node, without what is not kept.
fn build<T: Tree>(at: usize, nodes: &mut [Node<T>]) -> Option<T> {
    let mut tree = nodes[at].tree.take().filter(|_| nodes[at].is_kept)?;
    let children = std::mem::take(&mut nodes[at].children);
    let total = children.len();
    let inside: Vec<T> = children.into_iter().filter_map(|child| build(child, nodes)).collect();
    if inside.len() < total {
        tree.omit(total - inside.len());
    }
    *tree.children() = inside;
    Some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize)]
    struct Node {
        name: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        children: Vec<Node>,
        #[serde(skip_serializing_if = "Option::is_none")]
        children_omitted: Option<usize>,
    }

    impl Tree for Node {
        fn children(&mut self) -> &mut Vec<Self> {
            &mut self.children
        }

        fn omit(&mut self, count: usize) {
            self.children_omitted = Some(count);
        }
    }

    fn tree(width: usize, depth: usize, name: &str) -> Node {
        let inside = if depth == 0 { 0 } else { width };
        let children = (0..inside).map(|at| tree(width, depth - 1, &format!("{name}.{at}"))).collect();
        Node { name: name.to_owned(), children, children_omitted: None }
    }

    #[test]
    fn size_is_the_length_of_the_text() {
        for value in [tree(3, 2, "ä\n\"\u{7f}"), tree(0, 0, "")] {
            assert_eq!(size(&value), serde_json::to_string(&value).expect("it can be written").len());
        }
    }

    #[test]
    fn at_least_one_item_fits() {
        let items = ["x".repeat(100), "y".repeat(100)];
        assert_eq!(fit(&items, 0), 1);
        assert_eq!(fit(&items, ENVELOPE_BYTES + 205), 1);
        assert_eq!(fit(&items, ENVELOPE_BYTES + 206), 2);
        assert_eq!(fit::<String>(&[], 0), 0);
    }

    #[test]
    fn fitting_trees_are_unchanged() {
        let whole = vec![tree(3, 3, "a"), tree(2, 2, "b")];
        let mut cut = whole.clone();
        assert_eq!(Tree::cut_to_size(&mut cut, 1 << 20), (47, 47));
        assert_eq!(cut, whole);
    }

    #[test]
    fn outer_levels_are_kept_first() {
        for more in [0, 60, 500, 5_000, 40_000] {
            let mut cut = vec![tree(10, 3, "a")];
            let (kept, _) = Tree::cut_to_size(&mut cut, ENVELOPE_BYTES + more);
            assert!(size(&cut) <= more || kept == 1, "{} bytes of {more}", size(&cut));
            let omitted = cut[0].children_omitted.unwrap_or(0);
            assert_eq!(cut[0].children.len() + omitted, 10, "of {more}");
            let has_grandchildren = cut[0].children.first().is_some_and(|child| !child.children.is_empty());
            assert!(!has_grandchildren || omitted == 0, "children are there before grandchildren, of {more}");
        }
    }
}

//! The column of each node: as given, or else one after all its callers.

use super::Graph;

/// The column of each node. Columns are numbered from zero and none is empty.
pub(super) fn assign_layers(graph: &Graph) -> Vec<usize> {
    let count = graph.nodes.len();
    let (order, forward) = without_cycles(graph);
    let mut callers = vec![Vec::new(); count];
    let mut callees = vec![Vec::new(); count];
    for (from, to) in forward {
        callees[from].push(to);
        callers[to].push(from);
    }
    // Hops are small, but arbitrary numbers must not overflow.
    let mut layers: Vec<Option<i64>> = graph.nodes.iter().map(|node| node.layer.map(i64::from)).collect();
    let behind = |layers: &[Option<i64>], node: usize| callers[node].iter().filter_map(|caller| layers[*caller]).max();
    let before = |layers: &[Option<i64>], node: usize| callees[node].iter().filter_map(|callee| layers[*callee]).min();
    // Known columns determine those to their right, then those to their left. A node that is still unknown has no known
    // neighbour, and starts at zero.
    for &node in &order {
        layers[node] = layers[node].or_else(|| Some(behind(&layers, node)? + 1));
    }
    for &node in order.iter().rev() {
        layers[node] = layers[node].or_else(|| Some(before(&layers, node)? - 1));
    }
    let free: Vec<bool> = layers.iter().map(Option::is_none).collect();
    for &node in &order {
        layers[node] = layers[node].or_else(|| Some(behind(&layers, node).map_or(0, |layer| layer + 1)));
    }
    // A node without callers is placed right before its callees.
    for &node in order.iter().filter(|node| free[**node] && callers[**node].is_empty()) {
        layers[node] = before(&layers, node).map(|layer| layer - 1).or(layers[node]);
    }
    let layers: Vec<i64> = layers.into_iter().map(|layer| layer.unwrap_or(0)).collect();
    let mut used = layers.clone();
    used.sort_unstable();
    used.dedup();
    layers.iter().map(|layer| used.binary_search(layer).unwrap_or(0)).collect()
}

/// The nodes in topological order of the kept edges. Edges back to a node on the search stack are dropped.
fn without_cycles(graph: &Graph) -> (Vec<usize>, Vec<(usize, usize)>) {
    let count = graph.nodes.len();
    let mut callees = vec![Vec::new(); count];
    for &(from, to) in graph.edges.iter().filter(|edge| super::is_edge(graph, **edge)) {
        callees[from].push(to);
    }
    let (mut is_seen, mut is_open) = (vec![false; count], vec![false; count]);
    let (mut left, mut forward) = (Vec::with_capacity(count), Vec::new());
    // Nodes without callers come first, so that the dropped edges are those a reader would call back edges.
    let mut is_called = vec![false; count];
    callees.iter().flatten().for_each(|callee| is_called[*callee] = true);
    let roots = (0..count).filter(|node| !is_called[*node]).chain(0..count);
    for root in roots {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if !std::mem::replace(&mut is_seen[root], true) {
            is_open[root] = true;
            path.push((root, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&callee) = callees[node].get(*next) else {
                is_open[node] = false;
                left.push(node);
                path.pop();
                continue;
            };
            *next += 1;
            if is_open[callee] {
                continue;
            }
            forward.push((node, callee));
            if !std::mem::replace(&mut is_seen[callee], true) {
                is_open[callee] = true;
                path.push((callee, 0));
            }
        }
    }
    left.reverse();
    (left, forward)
}

//! Layout tests: invariants of any graph, and the layout of small ones.

use super::*;

fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
    let node = |at: usize| Node { width: 60 + (at as i32 * 37) % 90, height: 20 + (at as i32 * 13) % 17, layer: None };
    Graph { nodes: (0..nodes).map(node).collect(), edges: edges.to_vec() }
}

/// A deterministic pseudo-random graph, optionally with hops from the first node.
fn pseudo_random_graph(seed: u64, nodes: usize, edges: usize, hops: bool) -> Graph {
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let edges: Vec<_> = (0..edges).map(|_| (below(nodes), below(nodes))).collect();
    let mut graph = graph(nodes, &edges);
    for node in graph.nodes.iter_mut().skip(1).filter(|_| hops) {
        node.layer = Some(below(7) as i32 - 3);
    }
    graph
}

/// The number of crossings in the computed order.
fn crossing_count(graph: &Graph) -> usize {
    let mut net = build_layers(graph, &layers::assign_layers(graph));
    order::order_columns(&mut net);
    let mut places = vec![0; net.items.len()];
    net.columns.iter().for_each(|column| column.iter().enumerate().for_each(|(at, item)| places[*item] = at));
    order::crossings(&net, &places)
}

/// Computes the layout and checks all invariants.
fn check(graph: &Graph) -> Layout {
    let layout = super::layout(graph);
    assert_eq!(layout, super::layout(graph), "the layout is deterministic");
    let boxes: Vec<_> = (0..graph.nodes.len())
        .map(|node| {
            let (Point { x, y }, (width, height)) = (layout.positions[node], size(graph, node));
            assert!(x >= 0 && y >= 0 && x + width <= layout.width && y + height <= layout.height, "{node} is outside");
            (x, y, x + width, y + height)
        })
        .collect();
    for (at, one) in boxes.iter().enumerate() {
        for other in &boxes[..at] {
            let apart = one.2 <= other.0 || other.2 <= one.0 || one.3 <= other.1 || other.3 <= one.1;
            assert!(apart, "{one:?} overlaps {other:?}");
        }
    }
    assert_eq!(layout.edges.len(), graph.edges.len());
    for (&(from, to), line) in graph.edges.iter().zip(&layout.edges) {
        if !is_edge(graph, (from, to)) {
            assert!(line.is_empty());
            continue;
        }
        assert!(line.len() >= 4 && line.len() % 3 == 1, "{line:?}");
        let is_at = |point: Point, node: usize| {
            let (left, top, right, bottom) = boxes[node];
            (point.x == left || point.x == right) && (top..=bottom).contains(&point.y)
        };
        assert!(is_at(line[0], from) && is_at(line[line.len() - 1], to), "{from} to {to}: {line:?}");
        let is_inside = |point: &Point| (0..=layout.width).contains(&point.x) && (0..=layout.height).contains(&point.y);
        assert!(line.iter().all(is_inside), "{line:?}");
        // Only lines within a column may cross a box: elsewhere lines pass columns horizontally, between boxes.
        for level in line.windows(2).filter(|pair| pair[0].y == pair[1].y && from != to) {
            let (low, high) = (level[0].x.min(level[1].x), level[0].x.max(level[1].x));
            for (node, (left, top, right, bottom)) in boxes.iter().enumerate() {
                let is_over = low < *right && high > *left && level[0].y > *top && level[0].y < *bottom;
                let is_own = node == from || node == to || layout.positions[from].x == layout.positions[to].x;
                assert!(!is_over || is_own || is_bent(line, level), "{from} to {to} crosses {node}");
            }
        }
    }
    layout
}

/// Whether a horizontal segment is the handle of a curve, which the line itself leaves.
fn is_bent(line: &[Point], level: &[Point]) -> bool {
    line[1..].chunks(3).any(|curve| curve[2].y != level[0].y && curve.contains(&level[1]))
}

#[test]
fn callers_are_left_of_callees() {
    let layout = check(&graph(4, &[(0, 1), (1, 2), (0, 2), (3, 2)]));
    let x = |node: usize| layout.positions[node].x;
    assert!(x(0) < x(1) && x(1) < x(2) && x(3) == x(1), "{:?}", layout.positions);
}

#[test]
fn single_chain_is_straight() {
    let mut chain = graph(4, &[(0, 1), (1, 2), (2, 3)]);
    chain.nodes.iter_mut().for_each(|node| node.height = 20);
    let layout = check(&chain);
    assert!(layout.positions.iter().all(|place| place.y == 0) && layout.height == 20, "{layout:?}");
    assert!(layout.edges.iter().flatten().all(|point| point.y == 10));
}

#[test]
fn caller_of_three_is_centred() {
    let mut star = graph(4, &[(0, 1), (0, 2), (0, 3)]);
    star.nodes.iter_mut().for_each(|node| node.height = 20);
    let layout = check(&star);
    assert_eq!(layout.positions.iter().map(|place| place.y).collect::<Vec<_>>(), [36, 0, 36, 72]);
}

#[test]
fn given_layers_are_kept() {
    let mut given = graph(5, &[(1, 0), (0, 2), (3, 1), (2, 4), (4, 1)]);
    given.nodes[0].layer = Some(0);
    given.nodes[1].layer = Some(-5);
    given.nodes[2].layer = Some(7);
    assert_eq!(layers::assign_layers(&given), [2, 1, 3, 0, 4]);
    check(&given);
}

#[test]
fn trees_have_no_crossings() {
    for ways in 1..5 {
        let edges: Vec<_> = (1..80).map(|node| ((node - 1) / ways, node)).collect();
        let back: Vec<_> = edges.iter().map(|(from, to)| (*to, *from)).collect();
        // Callers of the root are a tree to the left, callees a tree to the right.
        let both: Vec<_> = edges
            .iter()
            .copied()
            .chain((1..80).map(|node| {
                let up = |node: usize| if node == 0 { 0 } else { node + 79 };
                (up(node), up((node - 1) / ways))
            }))
            .collect();
        for (nodes, edges) in [(80, &edges), (80, &back), (159, &both)] {
            let tree = graph(nodes, edges);
            assert_eq!(crossing_count(&tree), 0, "{ways}");
            check(&tree);
        }
    }
}

#[test]
fn small_graphs_have_the_fewest_crossings() {
    let rows = |edges: &[(usize, usize)]| edges.iter().map(|(from, to)| (*from, *to + 3)).collect::<Vec<_>>();
    // Complete graphs of two by two and of three by three; a ladder in reverse order.
    assert_eq!(crossing_count(&graph(5, &rows(&[(0, 0), (0, 1), (1, 0), (1, 1)]))), 1);
    let all: Vec<_> = (0..9).map(|at| (at / 3, at % 3)).collect();
    assert_eq!(crossing_count(&graph(6, &rows(&all))), 9);
    assert_eq!(crossing_count(&graph(6, &rows(&[(0, 2), (1, 1), (2, 0)]))), 0);
    // A diamond with a long way around.
    assert_eq!(crossing_count(&graph(6, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 5), (5, 4)])), 0);
}

#[test]
fn cycles_loops_and_doubled_edges_are_drawn() {
    check(&graph(3, &[(0, 1), (1, 2), (2, 0), (1, 1), (0, 1), (1, 0)]));
    let mut column = graph(4, &[(0, 3), (3, 0), (1, 2), (2, 2)]);
    column.nodes.iter_mut().for_each(|node| node.layer = Some(1));
    let layout = check(&column);
    assert!(layout.edges.iter().all(|line| line[3].x > line[0].x));
    check(&graph(1, &[(0, 0)]));
}

#[test]
fn odd_input_is_drawn() {
    assert_eq!(check(&graph(0, &[])), Layout::default());
    assert_eq!(check(&graph(0, &[(0, 1)])).edges, [[]]);
    check(&graph(2, &[(0, 7), (9, 1), (0, 1)]));
    let mut wide = graph(3, &[(0, 1), (1, 2), (2, 0)]);
    wide.nodes[0] = Node { width: i32::MAX, height: i32::MIN, layer: Some(i32::MIN) };
    wide.nodes[1] = Node { width: -1, height: i32::MAX, layer: Some(i32::MAX) };
    check(&wide);
}

#[test]
fn random_graphs_satisfy_invariants() {
    for seed in 0..60 {
        for hops in [false, true] {
            check(&pseudo_random_graph(seed, 1 + seed as usize % 23, seed as usize * 2, hops));
        }
    }
    check(&pseudo_random_graph(1, 120, 300, true));
}

/// Run with `--ignored --nocapture` for a figure.
#[test]
#[ignore = "a measurement"]
fn time_of_two_hundred_nodes() {
    for hops in [true, false] {
        let graph = pseudo_random_graph(7, 200, 600, hops);
        let started = std::time::Instant::now();
        let layouts = 20;
        (0..layouts).for_each(|_| drop(std::hint::black_box(layout(&graph))));
        let took = started.elapsed() / layouts;
        let layout = layout(&graph);
        std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!(
                "hops {hops}: {took:?}, {} x {}, {} crossings\n",
                layout.width,
                layout.height,
                crossing_count(&graph)
            ),
        )
        .expect("stderr is writable");
    }
}

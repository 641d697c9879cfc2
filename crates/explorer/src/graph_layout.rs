//! Positions of the boxes and lines of a call graph, from left to right: callers are left of their callees.
//!
//! The algorithm is Sugiyama's, in four steps: each node gets a layer, which is a column (`layers`); a line that passes
//! columns gets a bend in each of them, so that all lines connect neighbouring columns; the columns are ordered to have
//! few crossings (`order`); and every item gets a height at which lines are as straight as the boxes allow
//! (`coordinates`).
//!
//! All numbers are integers, and ties follow the order of the input, so a graph has the same drawing on every machine.
//! The function is total: an edge without valid nodes has no line, and no size or layer is too large.

mod coordinates;
mod layers;
mod order;
#[cfg(test)]
mod tests;

/// The gap between two columns.
const COLUMN_GAP: i32 = 80;

/// The distance of a line that returns to its own column. Less than the gap.
const BULGE: i32 = 28;

/// The maximum width and height of a box.
const MAX_BOX_SIZE: i32 = 10_000;

/// A box.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub(crate) width: i32,
    pub(crate) height: i32,
    /// Its column if known, as the number of hops from some node: callers have lower numbers. Empty columns are
    /// skipped.
    pub(crate) layer: Option<i32>,
}

/// Boxes, and lines between them by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

/// A drawing with its upper left corner at zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The upper left corner of each box.
    pub(crate) positions: Vec<Point>,
    /// The points of the cubic curves of each edge: the start, then for each curve two control points and its end. A
    /// line to the right goes from right border to left border, one to the left from left to right, and one within a
    /// column from right to right.
    pub(crate) edges: Vec<Vec<Point>>,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// A box, or the bend of a line in a column that it passes.
#[derive(Clone, Copy, Debug)]
struct LayerItem {
    layer: usize,
    height: i32,
    is_bend: bool,
}

/// The graph with bends. The first items are the nodes, at their own indices.
struct LayeredGraph {
    items: Vec<LayerItem>,
    /// For each item, its neighbours in the column to the left, and to the right.
    left: Vec<Vec<usize>>,
    right: Vec<Vec<usize>>,
    /// For each edge, its items from left to right: both end nodes and the bends between them. Empty if both ends are
    /// in one column.
    chains: Vec<Vec<usize>>,
    /// The items of each column, from the top.
    columns: Vec<Vec<usize>>,
}

/// Computes the layout of a graph.
pub(crate) fn layout(graph: &Graph) -> Layout {
    let layers = layers::assign_layers(graph);
    let mut net = build_layers(graph, &layers);
    order::order_columns(&mut net);
    let tops = coordinates::tops(&net);
    let columns = columns(graph, &layers, net.columns.len());
    let places: Vec<Point> =
        (0..graph.nodes.len()).map(|node| Point { x: columns[layers[node]].0, y: tops[node] }).collect();
    let middles: Vec<i32> = net.items.iter().zip(&tops).map(|(item, top)| top + item.height / 2).collect();
    let line = |(edge, chain): (&(usize, usize), &Vec<usize>)| match chain.as_slice() {
        [] => edge_around_column(graph, &places, &columns, &layers, *edge),
        chain => edge_across_columns(graph, &places, &columns, &net, &middles, (*edge, chain)),
    };
    let edges: Vec<Vec<Point>> = graph.edges.iter().zip(&net.chains).map(line).collect();
    let points = edges.iter().flatten();
    let right = (0..places.len()).map(|node| places[node].x + size(graph, node).0);
    let bottom = (0..places.len()).map(|node| places[node].y + size(graph, node).1);
    let width = right.chain(points.clone().map(|point| point.x)).max().unwrap_or(0);
    let height = bottom.chain(points.map(|point| point.y)).max().unwrap_or(0);
    Layout { positions: places, edges, width, height }
}

/// The width and height of a box.
fn size(graph: &Graph, node: usize) -> (i32, i32) {
    let node = graph.nodes[node];
    (node.width.clamp(0, MAX_BOX_SIZE), node.height.clamp(0, MAX_BOX_SIZE))
}

/// Whether an edge has valid nodes.
fn is_edge(graph: &Graph, (from, to): (usize, usize)) -> bool {
    from < graph.nodes.len() && to < graph.nodes.len()
}

/// The items of a graph, and the lines from column to column.
fn build_layers(graph: &Graph, layers: &[usize]) -> LayeredGraph {
    let mut items: Vec<LayerItem> = (0..graph.nodes.len())
        .map(|node| LayerItem { layer: layers[node], height: size(graph, node).1, is_bend: false })
        .collect();
    let mut chains = Vec::with_capacity(graph.edges.len());
    for &(from, to) in &graph.edges {
        let mut chain = Vec::new();
        if is_edge(graph, (from, to)) && layers[from] != layers[to] {
            let (first, last) = if layers[from] < layers[to] { (from, to) } else { (to, from) };
            chain.push(first);
            for layer in layers[first] + 1..layers[last] {
                chain.push(items.len());
                items.push(LayerItem { layer, height: 0, is_bend: true });
            }
            chain.push(last);
        }
        chains.push(chain);
    }
    let (mut left, mut right) = (vec![Vec::new(); items.len()], vec![Vec::new(); items.len()]);
    for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
        right[pair[0]].push(pair[1]);
        left[pair[1]].push(pair[0]);
    }
    let count = layers.iter().max().map_or(0, |last| last + 1);
    LayeredGraph { items, left, right, chains, columns: vec![Vec::new(); count] }
}

/// The left border and the width of each column.
fn columns(graph: &Graph, layers: &[usize], count: usize) -> Vec<(i32, i32)> {
    let mut columns = vec![(0, 0); count];
    for (node, layer) in layers.iter().enumerate() {
        columns[*layer].1 = columns[*layer].1.max(size(graph, node).0);
    }
    let mut x = 0;
    for column in &mut columns {
        column.0 = x;
        x += column.1 + COLUMN_GAP;
    }
    columns
}

/// A line across columns. Lines to the left end a little lower than those to the right, so that two functions that call
/// each other have two lines.
fn edge_across_columns(
    graph: &Graph,
    places: &[Point],
    columns: &[(i32, i32)],
    net: &LayeredGraph,
    middles: &[i32],
    ((from, to), chain): ((usize, usize), &[usize]),
) -> Vec<Point> {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    let is_back = first == to && last == from;
    let port = |node: usize| match is_back {
        true => places[node].y + size(graph, node).1 * 3 / 4,
        false => middles[node],
    };
    let mut line = EdgePath::from(Point { x: places[first].x + size(graph, first).0, y: port(first) });
    // A line leaves a narrow box horizontally, so that it does not cut the corner of a wider box in the same column.
    let (x, width) = columns[net.items[first].layer];
    line.straight_to(Point { x: x + width, y: port(first) });
    for &bend in &chain[1..chain.len() - 1] {
        let (x, width) = columns[net.items[bend].layer];
        line.curve_to(Point { x, y: middles[bend] });
        line.straight_to(Point { x: x + width, y: middles[bend] });
    }
    line.curve_to(Point { x: places[last].x, y: port(last) });
    if is_back {
        line.points.reverse();
    }
    line.points
}

/// A line that ends in its own column, or at its own box, drawn around to the right. Empty for an edge without valid
/// nodes.
fn edge_around_column(
    graph: &Graph,
    places: &[Point],
    columns: &[(i32, i32)],
    layers: &[usize],
    (from, to): (usize, usize),
) -> Vec<Point> {
    if !is_edge(graph, (from, to)) {
        return Vec::new();
    }
    let end = |node: usize, quarters: i32| {
        let (width, height) = size(graph, node);
        Point { x: places[node].x + width, y: places[node].y + height * quarters / 4 }
    };
    let (start, end, out) = match from == to {
        true => (end(from, 1), end(from, 3), end(from, 0).x + BULGE),
        false => (end(from, 3), end(to, 1), columns[layers[from]].0 + columns[layers[from]].1 + BULGE),
    };
    let middle = Point { x: out, y: (start.y + end.y) / 2 };
    vec![
        start,
        Point { x: out, y: start.y },
        Point { x: out, y: start.y },
        middle,
        Point { x: out, y: end.y },
        Point { x: out, y: end.y },
        end,
    ]
}

/// The points of a line that is drawn to the right.
struct EdgePath {
    points: Vec<Point>,
    at: Point,
}

impl EdgePath {
    fn from(at: Point) -> Self {
        Self { points: vec![at], at }
    }

    /// Adds a curve to a point; it is horizontal at both ends.
    fn curve_to(&mut self, to: Point) {
        let x = (self.at.x + to.x) / 2;
        self.add([Point { x, y: self.at.y }, Point { x, y: to.y }, to]);
    }

    fn straight_to(&mut self, to: Point) {
        let between = |part: i32| Point {
            x: self.at.x + (to.x - self.at.x) * part / 3,
            y: self.at.y + (to.y - self.at.y) * part / 3,
        };
        if to != self.at {
            self.add([between(1), between(2), to]);
        }
    }

    fn add(&mut self, points: [Point; 3]) {
        self.points.extend(points);
        self.at = points[2];
    }
}

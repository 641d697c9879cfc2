//! Call graphs as SVG, laid out by [`graph_layout`](super::graph_layout).

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};

use super::graph_layout::{Graph, Node, Point, layout};
use super::lists::{escape_name, short_name};

/// A box.
pub(super) struct GraphBox {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) about: String,
    pub(super) href: String,
    /// Its CSS class: `own`, `changed`, `test`, or empty.
    pub(super) class: &'static str,
    /// Its distance in calls; callers are negative.
    pub(super) hop: Option<i32>,
}

/// Boxes by key, and the calls between them.
#[derive(Default)]
pub(super) struct CallDrawing {
    items: Vec<GraphBox>,
    index_by_key: HashMap<String, usize>,
    edges: Vec<(usize, usize)>,
}

/// The width of a letter, in fifths, and the height of a box; they fit the font of the style sheet.
const LETTER_WIDTH: i32 = 36;
const BOX_HEIGHT: i32 = 26;
const MAX_NAME_CHARS: usize = 36;

impl CallDrawing {
    /// Adds a box, unless its key exists.
    pub(super) fn add(&mut self, item: GraphBox) {
        if !self.index_by_key.contains_key(&item.key) {
            self.index_by_key.insert(item.key.clone(), self.items.len());
            self.items.push(item);
        }
    }

    /// Adds a call, once.
    pub(super) fn connect(&mut self, from: &str, to: &str) {
        if let (Some(from), Some(to)) = (self.index_by_key.get(from), self.index_by_key.get(to))
            && !self.edges.contains(&(*from, *to))
        {
            self.edges.push((*from, *to));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Renders SVG. The boxes are links, and the title describes the drawing.
    pub(super) fn draw(&self, title: &str) -> Markup {
        let names: Vec<String> =
            self.items.iter().map(|item| truncate_name(&escape_name(short_name(&item.name)))).collect();
        let node = |(item, name): (&GraphBox, &String)| Node {
            width: name.chars().count() as i32 * LETTER_WIDTH / 5 + 20,
            height: BOX_HEIGHT,
            layer: item.hop,
        };
        let nodes: Vec<Node> = self.items.iter().zip(&names).map(node).collect();
        let graph = Graph { nodes, edges: self.edges.clone() };
        let laid = layout(&graph);
        let (width, height) = (laid.width + 2, laid.height + 2);
        html! {
            div.picture tabindex="0" {
                svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("-1 -1 {width} {height}")) role="group" aria-label=(title) {
                    defs {
                        marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                            path d="M0 0L8 4L0 8z" {}
                        }
                    }
                    @for path in &laid.edges { path.edge d=(PreEscaped(curve(path))) marker-end="url(#tip)" {} }
                    @for ((item, name), (node, place)) in self.items.iter().zip(&names).zip(graph.nodes.iter().zip(&laid.positions)) {
                        a href=(item.href) class=(format!("node {}", item.class)) aria-label=(escape_name(&item.about)) {
                            title { (escape_name(&item.about)) }
                            rect x=(place.x) y=(place.y) width=(node.width) height=(node.height) rx="5" {}
                            text x=(place.x + 10) y=(place.y + 17) { (name) }
                        }
                    }
                }
            }
        }
    }
}

/// Truncates a name at its start: the end of a long name is the most specific.
fn truncate_name(name: &str) -> String {
    let length = name.chars().count();
    if length <= MAX_NAME_CHARS {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(length - MAX_NAME_CHARS + 1).collect::<String>())
    }
}

/// The curves of an edge in SVG syntax.
fn curve(points: &[Point]) -> String {
    let Some((first, rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{} {}", first.x, first.y);
    for [one, other, end] in rest.as_chunks().0 {
        path += &format!("C{} {} {} {} {} {}", one.x, one.y, other.x, other.y, end.x, end.y);
    }
    path
}

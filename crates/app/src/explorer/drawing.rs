//! Call graphs as SVG, laid out by [`graph_layout`](super::graph_layout).

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};

use super::layered::{Graph, Node, Point, lay_out};
use super::lists::{plain, short};

/// A box.
pub(super) struct Item {
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
pub(super) struct Picture {
    items: Vec<Item>,
    places: HashMap<String, usize>,
    edges: Vec<(usize, usize)>,
}

/// The width of a letter, in fifths, and the height of a box; they fit the font of the style sheet.
const LETTER: i32 = 36;
const HEIGHT: i32 = 26;
const LONGEST: usize = 36;

impl Picture {
    /// Adds a box, unless its key exists.
    pub(super) fn add(&mut self, item: Item) {
        if !self.places.contains_key(&item.key) {
            self.places.insert(item.key.clone(), self.items.len());
            self.items.push(item);
        }
    }

    /// Adds a call, once.
    pub(super) fn connect(&mut self, from: &str, to: &str) {
        if let (Some(from), Some(to)) = (self.places.get(from), self.places.get(to))
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
        let names: Vec<String> = self.items.iter().map(|item| cut(&plain(short(&item.name)))).collect();
        let node = |(item, name): (&Item, &String)| Node {
            width: name.chars().count() as i32 * LETTER / 5 + 20,
            height: HEIGHT,
            layer: item.hop,
        };
        let nodes: Vec<Node> = self.items.iter().zip(&names).map(node).collect();
        let graph = Graph { nodes, edges: self.edges.clone() };
        let laid = lay_out(&graph);
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
                    @for ((item, name), (node, place)) in self.items.iter().zip(&names).zip(graph.nodes.iter().zip(&laid.places)) {
                        a href=(item.href) class=(format!("node {}", item.class)) aria-label=(plain(&item.about)) {
                            title { (plain(&item.about)) }
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
fn cut(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(length - LONGEST + 1).collect::<String>())
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

//! Pictures of calls: boxes and arrows as SVG, laid out by [`layered`](super::layered).

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
    /// What it is, as a class: `own`, `changed`, `test`, or nothing.
    pub(super) class: &'static str,
    /// How many calls it is away; callers are below zero.
    pub(super) hop: Option<i32>,
}

/// Boxes by their keys, and calls between them.
#[derive(Default)]
pub(super) struct Picture {
    items: Vec<Item>,
    places: HashMap<String, usize>,
    edges: Vec<(usize, usize)>,
}

/// So wide is a letter, in fifths, and so high a box; the style sheet has the font for it.
const LETTER: i32 = 36;
const HEIGHT: i32 = 26;
const LONGEST: usize = 36;

impl Picture {
    /// Adds a box, unless there is one of its key.
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

    /// As SVG. Its boxes are links, and it says in words what it shows.
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

/// The end of a long name says most.
fn cut(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(length - LONGEST + 1).collect::<String>())
    }
}

/// The curves of an edge, as SVG writes them.
fn curve(points: &[Point]) -> String {
    let Some((first, rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{} {}", first.x, first.y);
    for [one, other, end] in rest.as_chunks().0 {
        path += &format!("C{} {} {} {} {} {}", one.x, one.y, other.x, other.y, end.x, end.y);
    }
    path
}

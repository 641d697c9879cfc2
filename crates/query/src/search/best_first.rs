//! The kernel of ranking: selects the best of many places whose scores are expensive to compute.
//!
//! **Guarantee.** The first place of the list is the one with the highest total. Each next place is the one, among the
//! places that are not taken yet, with the highest score *after those that were taken*: its total minus a loss that the
//! taken places cause. Among equal scores the smaller place by [`Ord`] comes first. Nothing else decides, neither the
//! requested count nor the order of the candidates, so a longer list starts with the shorter one.
//!
//! **Algorithm.** Everything that may become a place is in one heap, keyed by a bound that its score cannot exceed: a
//! file by the bound of its best candidate, a candidate by a bound from its evidence, a place that was read by its
//! score when it was last computed. The loop pops the entry with the highest bound. If it is a node, the loop opens it
//! and pushes its contents with bounds that are not higher. If it is a place, the loop computes its score again: if the
//! score has fallen since, the place goes back with its new score; else it is the next place of the list.
//!
//! **Correctness.** Let `p` be a place that is popped with bound `w` and still has the score `w`. Every remaining entry
//! has a bound of at most `w`, so nothing left in the heap can have a higher score now. Could another place have
//! exactly the score `w` and be smaller? Not a place inside an unopened node: among equal bounds, nodes are popped
//! before places, so no node with bound `w` is left. Not a place that was read and has the score `w`: its bound is at
//! least `w`, hence exactly `w`, and among equal bounds the smaller place is popped first. So `p` is the next place.
//! The loss of a place only grows as more places are taken (the contract of [`Choice::score`]), so an upper bound stays
//! an upper bound. The loop ends: a node is opened once, and a place, or a node that stands for itself, goes back only if
//! its bound has fallen, which requires that another place was taken in between.
//!
//! All this requires that bounds are correct. The oracle in the tests takes that for granted. For the real bounds
//! (`features::upper_bound_of_file` and similar functions), debug builds check each step: nothing that comes out of a
//! node exceeds the bound of the node.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The contents of a node.
pub(super) type Contents<C> = Vec<Opened<<C as Choice>::Node, <C as Choice>::Place>>;

/// The operations that the kernel needs on the items it selects from.
pub(super) trait Choice: Sized {
    /// An unopened item that contains places.
    type Node;
    /// A place with a total; among equal scores the smaller place comes first.
    type Place: Ord;
    /// The error of opening a node.
    type Error;

    /// Opens a node and returns its contents, each node with an upper bound for everything in it.
    fn open(&mut self, node: Self::Node) -> Result<Contents<Self>, Self::Error>;

    /// The score of a place after those that were taken. It never increases, because places are only added.
    fn score(&self, hit: &Self::Place) -> i64;

    /// Records that a place is taken.
    fn take(&mut self, hit: &mut Self::Place);
}

/// The contents of an opened node.
pub(super) enum Opened<N, P> {
    /// Another node, with an upper bound for everything in it.
    Node(N, i64),
    /// A place.
    Place(P),
}

/// Returns the best places in order, at most `count`.
pub(super) fn best_first<C: Choice>(
    choice: &mut C,
    roots: Vec<(C::Node, i64)>,
    count: usize,
) -> Result<Vec<C::Place>, C::Error> {
    let roots = roots.into_iter().map(|(node, bound)| HeapEntry { bound, what: Opened::Node(node, bound) });
    let mut heap: BinaryHeap<HeapEntry<C::Node, C::Place>> = roots.collect();
    let mut list = Vec::new();
    while list.len() < count {
        let Some(HeapEntry { bound: most, what }) = heap.pop() else { break };
        match what {
            Opened::Node(node, _) => {
                for opened in choice.open(node)? {
                    let bound = match &opened {
                        Opened::Node(_, bound) => *bound,
                        Opened::Place(hit) => choice.score(hit),
                    };
                    debug_assert!(bound <= most, "{bound} exceeds the bound {most} of its node");
                    heap.push(HeapEntry { bound, what: opened });
                }
            }
            Opened::Place(mut hit) => match choice.score(&hit) {
                worth if worth < most => heap.push(HeapEntry { bound: worth, what: Opened::Place(hit) }),
                _ => {
                    choice.take(&mut hit);
                    list.push(hit);
                }
            },
        }
    }
    Ok(list)
}

/// A heap entry: an upper bound of its score, and its contents.
struct HeapEntry<N, P> {
    bound: i64,
    what: Opened<N, P>,
}

impl<N, P: Ord> Ord for HeapEntry<N, P> {
    /// The greatest entry is popped first: the highest bound, then nodes, then the smallest place.
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.cmp(&other.bound).then_with(|| match (&self.what, &other.what) {
            (Opened::Node(..), Opened::Node(..)) => Ordering::Equal,
            (Opened::Node(..), Opened::Place(_)) => Ordering::Greater,
            (Opened::Place(_), Opened::Node(..)) => Ordering::Less,
            (Opened::Place(one), Opened::Place(another)) => another.cmp(one),
        })
    }
}

impl<N, P: Ord> PartialOrd for HeapEntry<N, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N, P: Ord> PartialEq for HeapEntry<N, P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<N, P: Ord> Eq for HeapEntry<N, P> {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;

    /// A place: its rank among equals, its file, its total.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct TestPlace {
        name: u32,
        file: u32,
        total: i64,
    }

    #[derive(Clone)]
    enum TestNode {
        File(Vec<(TestPlace, i64)>),
        One(TestPlace),
    }

    /// Places of files; each loses a step for every taken place of its file, up to a limit.
    #[derive(Default)]
    struct TestChoice {
        taken: HashMap<u32, i64>,
        opened: usize,
    }

    fn loss(taken: i64) -> i64 {
        taken.min(3) * 2
    }

    impl Choice for TestChoice {
        type Node = TestNode;
        type Place = TestPlace;
        type Error = Infallible;

        fn open(&mut self, node: TestNode) -> Result<Vec<Opened<TestNode, TestPlace>>, Infallible> {
            self.opened += 1;
            Ok(match node {
                TestNode::File(spots) => spots
                    .into_iter()
                    .map(|(spot, slack)| Opened::Node(TestNode::One(spot), spot.total + slack))
                    .collect(),
                TestNode::One(spot) => vec![Opened::Place(spot)],
            })
        }

        fn score(&self, hit: &TestPlace) -> i64 {
            hit.total - loss(self.taken.get(&hit.file).copied().unwrap_or(0))
        }

        fn take(&mut self, hit: &mut TestPlace) {
            *self.taken.entry(hit.file).or_default() += 1;
        }
    }

    /// The guarantee, implemented literally: examines everything and takes the best place each time.
    fn brute_force(mut spots: Vec<TestPlace>, count: usize) -> Vec<TestPlace> {
        let mut shelf = TestChoice::default();
        let mut list = Vec::new();
        while list.len() < count && !spots.is_empty() {
            let best = (0..spots.len())
                .max_by(|&a, &b| {
                    (shelf.score(&spots[a]), std::cmp::Reverse(spots[a]))
                        .cmp(&(shelf.score(&spots[b]), std::cmp::Reverse(spots[b])))
                })
                .expect("because the list is not empty");
            let mut spot = spots.swap_remove(best);
            shelf.take(&mut spot);
            list.push(spot);
        }
        list
    }

    /// A deterministic pseudo-random number generator.
    struct Rng(u64);

    impl Rng {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % end
        }
    }

    #[test]
    fn result_equals_brute_force() {
        let mut numbers = Rng(7);
        for round in 0..600 {
            // Few distinct totals, so that there are many ties.
            let (files, range) = (1 + numbers.below(6), 1 + numbers.below(12));
            let spots: Vec<TestPlace> = (0..numbers.below(40) as u32)
                .map(|name| TestPlace {
                    name: name ^ 21,
                    file: numbers.below(files) as u32,
                    total: numbers.below(range) as i64 - 3,
                })
                .collect();
            let mut roots: Vec<(TestNode, i64)> = Vec::new();
            for file in 0..files as u32 {
                let own: Vec<(TestPlace, i64)> = spots
                    .iter()
                    .filter(|spot| spot.file == file)
                    .map(|spot| (*spot, numbers.below(4) as i64))
                    .collect();
                let bound = own.iter().map(|(spot, slack)| spot.total + slack).max().unwrap_or(0);
                roots.push((TestNode::File(own), bound + numbers.below(3) as i64));
            }
            let whole = brute_force(spots.clone(), usize::MAX);
            for count in [0, 1, 2, 5, 100] {
                let mut shelf = TestChoice::default();
                let list = best_first(&mut shelf, roots.clone(), count).expect("because it is infallible");
                assert_eq!(list, whole[..count.min(whole.len())], "round {round}, count {count}");
            }
        }
    }

    #[test]
    fn unreachable_nodes_are_not_opened() {
        let spot = |name: u32, total: i64| TestPlace { name, file: name, total };
        let roots = (0..100).map(|name| (TestNode::One(spot(name, i64::from(name))), i64::from(name))).collect();
        let mut shelf = TestChoice::default();
        let list = best_first(&mut shelf, roots, 3).expect("because it is infallible");
        assert_eq!(list.iter().map(|spot| spot.name).collect::<Vec<_>>(), [99, 98, 97]);
        assert_eq!(shelf.opened, 3);
    }
}

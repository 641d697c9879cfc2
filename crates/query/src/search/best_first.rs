//! The kernel of ranking: the best of many places whose worth is dear to work out.
//!
//! **What is promised.** The first place of the list is the one with the highest total. Each next one is, of the places not
//! taken yet, the one that is worth the most *behind those that were taken*: its total less what it loses because they
//! are there. Of equals the smaller one by [`Ord`] comes first. Nothing else decides, neither how many are wanted nor in
//! which order candidates come in, so a longer list begins with the shorter one.
//!
//! **How.** Everything that may become a place lies in one heap under a number that its worth can not exceed: a file under
//! what its best candidate could have, a candidate under what is known of it, a place that was read under its worth as of
//! when it was last weighed. The highest is taken off. A node is opened, which puts what is in it back under numbers that
//! are not higher. A place is weighed again: when it lost something since, it goes back under its new worth, else it is
//! the next of the list.
//!
//! **Why that is right.** Let `p` be a place that comes off under `w` and is still worth `w`. Whatever is left in the heap lies
//! under at most `w`, so nothing in it can be worth more now. Could something else be worth exactly `w` and be smaller? Not
//! a place inside an unopened node: of equal numbers nodes come off before places, so no node is left under `w`. Not a place
//! that was read and is worth `w`: it lies under at least `w`, hence under `w`, and of equal numbers the smaller place comes
//! off first. So `p` is the one. What a place loses only grows as more are taken (that is [`Choice::worth`]'s side of the
//! bargain), so a number that was an upper bound stays one. And the loop ends: a node is opened once, and a place goes
//! back only when its worth has fallen, for which another one must have been taken in between.
//!
//! What has to hold for all this is that bounds are bounds. The oracle below takes that for granted; where they are worked out
//! (`features::upper_bound_of_file` and its like), debug builds check each step: nothing comes out of a node above what it lay under.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// All that is in a node.
pub(super) type All<C> = Vec<Opened<<C as Choice>::Node, <C as Choice>::Place>>;

/// What the kernel has to know of the things it chooses from.
pub(super) trait Choice: Sized {
    /// Something with places in it that is not looked at yet.
    type Node;
    /// A place with a total; of two that are worth the same the smaller one comes first.
    type Place: Ord;
    /// What may go wrong when one looks.
    type Error;

    /// Looks into a node: gives what is in it, each node with a number that nothing in it exceeds.
    fn open(&mut self, node: Self::Node) -> Result<All<Self>, Self::Error>;

    /// What a place is worth behind those that were taken. Never more than before, for more were taken since.
    fn worth(&self, place: &Self::Place) -> i64;

    /// Notes that a place is taken.
    fn take(&mut self, place: &mut Self::Place);
}

/// What a node turns out to be.
pub(super) enum Opened<N, P> {
    /// Another node, and what nothing in it exceeds.
    Node(N, i64),
    /// A place.
    Place(P),
}

/// The best places in order, at most so many.
pub(super) fn best_first<C: Choice>(
    choice: &mut C,
    roots: Vec<(C::Node, i64)>,
    count: usize,
) -> Result<Vec<C::Place>, C::Error> {
    let roots = roots.into_iter().map(|(node, bound)| Entry { most: bound, what: Opened::Node(node, bound) });
    let mut heap: BinaryHeap<Entry<C::Node, C::Place>> = roots.collect();
    let mut list = Vec::new();
    while list.len() < count {
        let Some(Entry { most, what }) = heap.pop() else { break };
        match what {
            Opened::Node(node, _) => {
                for opened in choice.open(node)? {
                    let bound = match &opened {
                        Opened::Node(_, bound) => *bound,
                        Opened::Place(place) => choice.worth(place),
                    };
                    debug_assert!(bound <= most, "{bound} came out of a node that lay under {most}");
                    heap.push(Entry { most: bound, what: opened });
                }
            }
            Opened::Place(mut place) => match choice.worth(&place) {
                worth if worth < most => heap.push(Entry { most: worth, what: Opened::Place(place) }),
                _ => {
                    choice.take(&mut place);
                    list.push(place);
                }
            },
        }
    }
    Ok(list)
}

/// Something in the heap: what it can be worth at most, and what it is.
struct Entry<N, P> {
    most: i64,
    what: Opened<N, P>,
}

impl<N, P: Ord> Ord for Entry<N, P> {
    /// The greatest comes off first: the highest number, then nodes, then the smallest place.
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.cmp(&other.most).then_with(|| match (&self.what, &other.what) {
            (Opened::Node(..), Opened::Node(..)) => Ordering::Equal,
            (Opened::Node(..), Opened::Place(_)) => Ordering::Greater,
            (Opened::Place(_), Opened::Node(..)) => Ordering::Less,
            (Opened::Place(one), Opened::Place(another)) => another.cmp(one),
        })
    }
}

impl<N, P: Ord> PartialOrd for Entry<N, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N, P: Ord> PartialEq for Entry<N, P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<N, P: Ord> Eq for Entry<N, P> {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;

    /// A place: where it comes among equals, its file, its total.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Spot {
        name: u32,
        file: u32,
        total: i64,
    }

    #[derive(Clone)]
    enum Box {
        File(Vec<(Spot, i64)>),
        One(Spot),
    }

    /// Places of files; each loses a step for every one of its file that was taken, up to a floor.
    #[derive(Default)]
    struct Shelf {
        taken: HashMap<u32, i64>,
        opened: usize,
    }

    fn loss(taken: i64) -> i64 {
        taken.min(3) * 2
    }

    impl Choice for Shelf {
        type Node = Box;
        type Place = Spot;
        type Error = Infallible;

        fn open(&mut self, node: Box) -> Result<Vec<Opened<Box, Spot>>, Infallible> {
            self.opened += 1;
            Ok(match node {
                Box::File(spots) => {
                    spots.into_iter().map(|(spot, slack)| Opened::Node(Box::One(spot), spot.total + slack)).collect()
                }
                Box::One(spot) => vec![Opened::Place(spot)],
            })
        }

        fn worth(&self, place: &Spot) -> i64 {
            place.total - loss(self.taken.get(&place.file).copied().unwrap_or(0))
        }

        fn take(&mut self, place: &mut Spot) {
            *self.taken.entry(place.file).or_default() += 1;
        }
    }

    /// The definition, word for word: look at everything, and take the best each time.
    fn brute_force(mut spots: Vec<Spot>, count: usize) -> Vec<Spot> {
        let mut shelf = Shelf::default();
        let mut list = Vec::new();
        while list.len() < count && !spots.is_empty() {
            let best = (0..spots.len())
                .max_by(|&a, &b| {
                    (shelf.worth(&spots[a]), std::cmp::Reverse(spots[a]))
                        .cmp(&(shelf.worth(&spots[b]), std::cmp::Reverse(spots[b])))
                })
                .expect("there are some");
            let mut spot = spots.swap_remove(best);
            shelf.take(&mut spot);
            list.push(spot);
        }
        list
    }

    /// Numbers that look random and are the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % end
        }
    }

    #[test]
    fn the_list_is_that_of_brute_force() {
        let mut numbers = Numbers(7);
        for round in 0..600 {
            // Few different totals, so that there are many ties.
            let (files, range) = (1 + numbers.below(6), 1 + numbers.below(12));
            let spots: Vec<Spot> = (0..numbers.below(40) as u32)
                .map(|name| Spot {
                    name: name ^ 21,
                    file: numbers.below(files) as u32,
                    total: numbers.below(range) as i64 - 3,
                })
                .collect();
            let mut roots: Vec<(Box, i64)> = Vec::new();
            for file in 0..files as u32 {
                let own: Vec<(Spot, i64)> = spots
                    .iter()
                    .filter(|spot| spot.file == file)
                    .map(|spot| (*spot, numbers.below(4) as i64))
                    .collect();
                let bound = own.iter().map(|(spot, slack)| spot.total + slack).max().unwrap_or(0);
                roots.push((Box::File(own), bound + numbers.below(3) as i64));
            }
            let whole = brute_force(spots.clone(), usize::MAX);
            for count in [0, 1, 2, 5, 100] {
                let mut shelf = Shelf::default();
                let list = best_first(&mut shelf, roots.clone(), count).expect("nothing can go wrong");
                assert_eq!(list, whole[..count.min(whole.len())], "round {round}, {count} wanted");
            }
        }
    }

    #[test]
    fn what_can_not_come_into_the_list_is_not_looked_at() {
        let spot = |name: u32, total: i64| Spot { name, file: name, total };
        let roots = (0..100).map(|name| (Box::One(spot(name, i64::from(name))), i64::from(name))).collect();
        let mut shelf = Shelf::default();
        let list = best_first(&mut shelf, roots, 3).expect("nothing can go wrong");
        assert_eq!(list.iter().map(|spot| spot.name).collect::<Vec<_>>(), [99, 98, 97]);
        assert_eq!(shelf.opened, 3);
    }
}

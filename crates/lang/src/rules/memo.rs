//! Caches query results, detects cyclic queries, and limits the cost of a query.
//!
//! A query that comes up again while it is being answered has no result yet, and a query that exceeds the limits has
//! none either. Results computed on the way then depend on the query that came first, so they are kept only until the
//! top-level query is answered. This way the same query gets the same result regardless of earlier queries.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::Hash;

use crate::names::FastMap;

/// The state of the current top-level query. All queries of a resolver share it.
pub(crate) struct Course {
    max_depth: u32,
    max_steps: u32,
    depth: Cell<u32>,
    steps: Cell<u32>,
    /// The number of truncated computations.
    cuts: Cell<u32>,
    /// The number of the top-level query.
    round: Cell<u32>,
}

/// A guard held during a nested query.
pub(crate) struct Deeper<'c>(&'c Course);

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get().saturating_sub(1));
    }
}

impl Course {
    /// Creates a query stack with a maximum nesting depth and a maximum number of steps per top-level query.
    pub(crate) fn new(max_depth: u32, max_steps: u32) -> Self {
        let zero = || Cell::new(0);
        Course { max_depth, max_steps, depth: zero(), steps: zero(), cuts: zero(), round: zero() }
    }

    /// Begins a top-level query.
    pub(crate) fn begin(&self) {
        self.depth.set(0);
        self.steps.set(0);
        self.round.set(self.round.get().wrapping_add(1));
    }

    /// Enters a nested query; returns `None` if a limit is exceeded.
    pub(crate) fn deeper(&self) -> Option<Deeper<'_>> {
        if self.depth.get() >= self.max_depth || self.steps.get() >= self.max_steps {
            self.cut();
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        self.steps.set(self.steps.get() + 1);
        Some(Deeper(self))
    }

    /// Returns the result of a nested query; `otherwise` if a limit is exceeded.
    pub(crate) fn guarded<T>(&self, otherwise: T, look: impl FnOnce() -> T) -> T {
        match self.deeper() {
            Some(_deeper) => look(),
            None => otherwise,
        }
    }

    /// Records that a computation was truncated, so that the results in progress are not cached.
    pub(crate) fn cut(&self) {
        self.cuts.set(self.cuts.get().wrapping_add(1));
    }
}

/// The results of one kind of query.
pub(crate) struct Memo<K, V> {
    done: RefCell<FastMap<K, V>>,
    /// Queries in progress, and results that depend on one of them.
    open: RefCell<FastMap<K, Option<V>>>,
    /// The number of the top-level query that `in_progress` belongs to.
    round: Cell<u32>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { done: RefCell::default(), open: RefCell::default(), round: Cell::new(0) }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// Returns whether the result of a query is cached.
    pub(crate) fn knows(&self, key: &K) -> bool {
        self.done.borrow().contains_key(key)
    }

    /// Returns the cached result.
    pub(crate) fn known(&self, key: &K) -> Option<V> {
        self.done.borrow().get(key).cloned()
    }

    /// Returns the result of a query that is never cyclic.
    pub(crate) fn once<Q>(&self, key: &Q, look: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(known) = self.done.borrow().get(key) {
            return known.clone();
        }
        let value = look();
        self.done.borrow_mut().insert(key.to_owned(), value.clone());
        value
    }

    /// Returns the result of a query that is never cyclic but may exceed a limit.
    pub(crate) fn unless_cut(&self, course: &Course, key: K, look: impl FnOnce() -> V) -> V {
        if let Some(known) = self.done.borrow().get(&key) {
            return known.clone();
        }
        let cuts = course.cuts.get();
        let value = look();
        if course.cuts.get() == cuts {
            self.done.borrow_mut().insert(key, value.clone());
        }
        value
    }

    /// Returns the result of a query; `otherwise` if it is cyclic or exceeds a limit.
    pub(crate) fn answer(&self, course: &Course, key: K, otherwise: V, look: impl FnOnce() -> V) -> V {
        if let Some(known) = self.done.borrow().get(&key) {
            return known.clone();
        }
        if self.round.replace(course.round.get()) != course.round.get() {
            self.open.borrow_mut().clear();
        }
        let seen = self.open.borrow().get(&key).cloned();
        if let Some(seen) = seen {
            course.cut();
            return seen.unwrap_or(otherwise);
        }
        let Some(deeper) = course.deeper() else { return otherwise };
        self.open.borrow_mut().insert(key.clone(), None);
        let cuts = course.cuts.get();
        let value = look();
        drop(deeper);
        if course.cuts.get() == cuts {
            self.open.borrow_mut().remove(&key);
            self.done.borrow_mut().insert(key, value.clone());
        } else {
            self.open.borrow_mut().insert(key, Some(value.clone()));
        }
        value
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, Option<V>> {
    /// Searches for a value among several keys that lead to each other. A cycle does not invalidate a found value, and
    /// if the search that began at the top level found nothing, there is nothing: both results are cached.
    pub(crate) fn search(&self, course: &Course, key: K, look: impl FnOnce() -> Option<V>) -> Option<V> {
        if let Some(known) = self.done.borrow().get(&key) {
            return known.clone();
        }
        if self.open.borrow().contains_key(&key) {
            course.cut();
            return None;
        }
        let deeper = course.deeper()?;
        self.open.borrow_mut().insert(key.clone(), None);
        let cuts = course.cuts.get();
        let found = look();
        drop(deeper);
        self.open.borrow_mut().remove(&key);
        if found.is_some() || course.cuts.get() == cuts || course.depth.get() == 0 {
            self.done.borrow_mut().insert(key, found.clone());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums up all numbers reachable from one, each once.
    fn sum(memo: &Memo<u32, u32>, course: &Course, at: u32, edges: &[&[u32]]) -> u32 {
        memo.answer(course, at, 0, || {
            at + edges[at as usize].iter().map(|&to| sum(memo, course, to, edges)).sum::<u32>()
        })
    }

    #[test]
    fn what_a_circle_cut_short_is_forgotten_with_the_question() {
        let edges: &[&[u32]] = &[&[], &[2], &[1, 3], &[]];
        let course = Course::new(10, 100);
        let memo = Memo::default();
        let ask = |at| {
            course.begin();
            sum(&memo, &course, at, edges)
        };
        assert_eq!([ask(1), ask(2), ask(1)], [6, 6, 6]);
        assert!(memo.done.borrow().contains_key(&3), "a result that depends on no cycle is cached");
        assert!(!memo.done.borrow().contains_key(&1) && !memo.done.borrow().contains_key(&2));
    }

    #[test]
    fn what_leads_too_far_is_not_remembered() {
        let edges: &[&[u32]] = &[&[], &[2], &[3], &[4], &[]];
        for course in [Course::new(3, 100), Course::new(100, 3)] {
            let memo = Memo::default();
            course.begin();
            assert_eq!(sum(&memo, &course, 1, edges), 6);
            assert!(memo.done.borrow().is_empty());
            course.begin();
            assert_eq!([sum(&memo, &course, 3, edges), course.depth.get()], [7, 0]);
            assert_eq!(memo.done.borrow().len(), 2);
        }
    }

    #[test]
    fn a_search_in_circles_finds_what_is_there_and_what_is_not() {
        let edges: &[&[u32]] = &[&[], &[2], &[1, 3], &[]];
        fn find(memo: &Memo<u32, Option<u32>>, course: &Course, at: u32, edges: &[&[u32]], wanted: u32) -> Option<u32> {
            let below = || edges[at as usize].iter().find_map(|&to| find(memo, course, to, edges, wanted));
            memo.search(course, at, || (at == wanted).then_some(at).or_else(below))
        }
        let course = Course::new(10, 100);
        course.begin();
        let memo = Memo::default();
        assert_eq!(find(&memo, &course, 1, edges, 3), Some(3));
        assert_eq!(memo.done.borrow().len(), 3, "results found on the way are cached");
        let memo = Memo::default();
        assert_eq!(find(&memo, &course, 1, edges, 9), None);
        assert!(memo.done.borrow().contains_key(&1) && !memo.done.borrow().contains_key(&2));
    }

    #[test]
    fn what_is_known_is_not_looked_for_again() {
        let memo: Memo<String, u32> = Memo::default();
        assert_eq!([memo.once("a", || 1), memo.once("a", || 2), memo.once("b", || 3)], [1, 1, 3]);
    }
}

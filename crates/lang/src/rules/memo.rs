//! Caches query results, detects cyclic queries, and limits the cost of a query.
//!
//! A query that comes up again while it is being answered has no result yet, and a query that exceeds the limits has
//! none either. Results computed on the way then depend on the query that came first, so they are kept only until the
//! top-level query is answered. This way the same query gets the same result regardless of earlier queries.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::Hash;

use crate::interner::FastMap;

/// The state of the current top-level query. All queries of a resolver share it.
pub(crate) struct QueryStack {
    max_depth: u32,
    max_steps: u32,
    depth: Cell<u32>,
    steps: Cell<u32>,
    /// The number of truncated computations.
    truncations: Cell<u32>,
    /// The number of the top-level query.
    query: Cell<u32>,
}

/// A guard held during a nested query.
pub(crate) struct DepthGuard<'c>(&'c QueryStack);

impl Drop for DepthGuard<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get().saturating_sub(1));
    }
}

impl QueryStack {
    /// Creates a query stack with a maximum nesting depth and a maximum number of steps per top-level query.
    pub(crate) fn new(max_depth: u32, max_steps: u32) -> Self {
        let zero = || Cell::new(0);
        QueryStack { max_depth, max_steps, depth: zero(), steps: zero(), truncations: zero(), query: zero() }
    }

    /// Begins a top-level query.
    pub(crate) fn begin_query(&self) {
        self.depth.set(0);
        self.steps.set(0);
        self.query.set(self.query.get().wrapping_add(1));
    }

    /// Enters a nested query; returns `None` if a limit is exceeded.
    pub(crate) fn descend(&self) -> Option<DepthGuard<'_>> {
        if self.depth.get() >= self.max_depth || self.steps.get() >= self.max_steps {
            self.mark_truncated();
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        self.steps.set(self.steps.get() + 1);
        Some(DepthGuard(self))
    }

    /// Returns the result of a nested query; `otherwise` if a limit is exceeded.
    pub(crate) fn with_depth_limit<T>(&self, otherwise: T, look: impl FnOnce() -> T) -> T {
        match self.descend() {
            Some(_deeper) => look(),
            None => otherwise,
        }
    }

    /// Records that a computation was truncated, so that the results in progress are not cached.
    pub(crate) fn mark_truncated(&self) {
        self.truncations.set(self.truncations.get().wrapping_add(1));
    }
}

/// The results of one kind of query.
pub(crate) struct Memo<K, V> {
    cached: RefCell<FastMap<K, V>>,
    /// Queries in progress, and results that depend on one of them.
    in_progress: RefCell<FastMap<K, Option<V>>>,
    /// The number of the top-level query that `in_progress` belongs to.
    query: Cell<u32>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { cached: RefCell::default(), in_progress: RefCell::default(), query: Cell::new(0) }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// Returns whether the result of a query is cached.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.cached.borrow().contains_key(key)
    }

    /// Returns the cached result.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.cached.borrow().get(key).cloned()
    }

    /// Returns the result of a query that is never cyclic.
    pub(crate) fn get_or_compute<Q>(&self, key: &Q, look: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(known) = self.cached.borrow().get(key) {
            return known.clone();
        }
        let value = look();
        self.cached.borrow_mut().insert(key.to_owned(), value.clone());
        value
    }

    /// Returns the result of a query that is never cyclic but may exceed a limit.
    pub(crate) fn get_or_compute_complete(&self, course: &QueryStack, key: K, look: impl FnOnce() -> V) -> V {
        if let Some(known) = self.cached.borrow().get(&key) {
            return known.clone();
        }
        let cuts = course.truncations.get();
        let value = look();
        if course.truncations.get() == cuts {
            self.cached.borrow_mut().insert(key, value.clone());
        }
        value
    }

    /// Returns the result of a query; `otherwise` if it is cyclic or exceeds a limit.
    pub(crate) fn compute_cyclic(&self, course: &QueryStack, key: K, otherwise: V, look: impl FnOnce() -> V) -> V {
        if let Some(known) = self.cached.borrow().get(&key) {
            return known.clone();
        }
        if self.query.replace(course.query.get()) != course.query.get() {
            self.in_progress.borrow_mut().clear();
        }
        let seen = self.in_progress.borrow().get(&key).cloned();
        if let Some(seen) = seen {
            course.mark_truncated();
            return seen.unwrap_or(otherwise);
        }
        let Some(deeper) = course.descend() else { return otherwise };
        self.in_progress.borrow_mut().insert(key.clone(), None);
        let cuts = course.truncations.get();
        let value = look();
        drop(deeper);
        if course.truncations.get() == cuts {
            self.in_progress.borrow_mut().remove(&key);
            self.cached.borrow_mut().insert(key, value.clone());
        } else {
            self.in_progress.borrow_mut().insert(key, Some(value.clone()));
        }
        value
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, Option<V>> {
    /// Searches for a value among several keys that lead to each other. A cycle does not invalidate a found value, and
    /// if the search that began at the top level found nothing, there is nothing: both results are cached.
    pub(crate) fn search(&self, course: &QueryStack, key: K, look: impl FnOnce() -> Option<V>) -> Option<V> {
        if let Some(known) = self.cached.borrow().get(&key) {
            return known.clone();
        }
        if self.in_progress.borrow().contains_key(&key) {
            course.mark_truncated();
            return None;
        }
        let deeper = course.descend()?;
        self.in_progress.borrow_mut().insert(key.clone(), None);
        let cuts = course.truncations.get();
        let found = look();
        drop(deeper);
        self.in_progress.borrow_mut().remove(&key);
        if found.is_some() || course.truncations.get() == cuts || course.depth.get() == 0 {
            self.cached.borrow_mut().insert(key, found.clone());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums up all numbers reachable from one, each once.
    fn sum(memo: &Memo<u32, u32>, course: &QueryStack, at: u32, edges: &[&[u32]]) -> u32 {
        memo.compute_cyclic(course, at, 0, || {
            at + edges[at as usize].iter().map(|&to| sum(memo, course, to, edges)).sum::<u32>()
        })
    }

    #[test]
    fn cyclic_results_are_dropped_after_the_query() {
        let edges: &[&[u32]] = &[&[], &[2], &[1, 3], &[]];
        let course = QueryStack::new(10, 100);
        let memo = Memo::default();
        let ask = |at| {
            course.begin_query();
            sum(&memo, &course, at, edges)
        };
        assert_eq!([ask(1), ask(2), ask(1)], [6, 6, 6]);
        assert!(memo.cached.borrow().contains_key(&3), "a result that depends on no cycle is cached");
        assert!(!memo.cached.borrow().contains_key(&1) && !memo.cached.borrow().contains_key(&2));
    }

    #[test]
    fn truncated_results_are_not_cached() {
        let edges: &[&[u32]] = &[&[], &[2], &[3], &[4], &[]];
        for course in [QueryStack::new(3, 100), QueryStack::new(100, 3)] {
            let memo = Memo::default();
            course.begin_query();
            assert_eq!(sum(&memo, &course, 1, edges), 6);
            assert!(memo.cached.borrow().is_empty());
            course.begin_query();
            assert_eq!([sum(&memo, &course, 3, edges), course.depth.get()], [7, 0]);
            assert_eq!(memo.cached.borrow().len(), 2);
        }
    }

    #[test]
    fn cyclic_search_terminates() {
        let edges: &[&[u32]] = &[&[], &[2], &[1, 3], &[]];
        fn find(
            memo: &Memo<u32, Option<u32>>,
            course: &QueryStack,
            at: u32,
            edges: &[&[u32]],
            wanted: u32,
        ) -> Option<u32> {
            let below = || edges[at as usize].iter().find_map(|&to| find(memo, course, to, edges, wanted));
            memo.search(course, at, || (at == wanted).then_some(at).or_else(below))
        }
        let course = QueryStack::new(10, 100);
        course.begin_query();
        let memo = Memo::default();
        assert_eq!(find(&memo, &course, 1, edges, 3), Some(3));
        assert_eq!(memo.cached.borrow().len(), 3, "results found on the way are cached");
        let memo = Memo::default();
        assert_eq!(find(&memo, &course, 1, edges, 9), None);
        assert!(memo.cached.borrow().contains_key(&1) && !memo.cached.borrow().contains_key(&2));
    }

    #[test]
    fn computes_once() {
        let memo: Memo<String, u32> = Memo::default();
        assert_eq!(
            [memo.get_or_compute("a", || 1), memo.get_or_compute("a", || 2), memo.get_or_compute("b", || 3)],
            [1, 1, 3]
        );
    }
}

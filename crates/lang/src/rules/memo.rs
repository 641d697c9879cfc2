//! Answers that are remembered, questions that lead back to themselves, and how far one question may lead.
//!
//! A question that comes up again while it is being answered has no answer yet, and one that leads too far has none either.
//! What is found out on the way then depends on where one began to ask, so it is kept only until the question from outside
//! is answered: the same question gets the same answer whatever was asked before it.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::Hash;

use crate::names::FastMap;

/// What the question from outside has led to so far. All questions of a resolver share one.
pub(crate) struct Course {
    max_depth: u32,
    max_steps: u32,
    depth: Cell<u32>,
    steps: Cell<u32>,
    /// How often something was given up.
    cuts: Cell<u32>,
    /// The number of the question from outside.
    round: Cell<u32>,
}

/// Held while a question is looked into that another one led to.
pub(crate) struct Deeper<'c>(&'c Course);

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get().saturating_sub(1));
    }
}

impl Course {
    /// A course on which questions lead at most so deep, and one from outside to at most so many.
    pub(crate) fn new(max_depth: u32, max_steps: u32) -> Self {
        let zero = || Cell::new(0);
        Course { max_depth, max_steps, depth: zero(), steps: zero(), cuts: zero(), round: zero() }
    }

    /// Begins a question from outside.
    pub(crate) fn begin(&self) {
        self.depth.set(0);
        self.steps.set(0);
        self.round.set(self.round.get().wrapping_add(1));
    }

    /// One question further down; `None` when that leads too far.
    pub(crate) fn deeper(&self) -> Option<Deeper<'_>> {
        if self.depth.get() >= self.max_depth || self.steps.get() >= self.max_steps {
            self.cut();
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        self.steps.set(self.steps.get() + 1);
        Some(Deeper(self))
    }

    /// What is found one question further down; `otherwise` when that leads too far.
    pub(crate) fn guarded<T>(&self, otherwise: T, look: impl FnOnce() -> T) -> T {
        match self.deeper() {
            Some(_deeper) => look(),
            None => otherwise,
        }
    }

    /// Says that something was given up: what is being found out is not remembered.
    pub(crate) fn cut(&self) {
        self.cuts.set(self.cuts.get().wrapping_add(1));
    }
}

/// The answers to one kind of question.
pub(crate) struct Memo<K, V> {
    done: RefCell<FastMap<K, V>>,
    /// Questions being asked, and answers that hang on one of them.
    open: RefCell<FastMap<K, Option<V>>>,
    /// The question from outside that `open` is about.
    round: Cell<u32>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { done: RefCell::default(), open: RefCell::default(), round: Cell::new(0) }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// Whether the answer to a question is remembered.
    pub(crate) fn knows(&self, key: &K) -> bool {
        self.done.borrow().contains_key(key)
    }

    /// The answer that is remembered.
    pub(crate) fn known(&self, key: &K) -> Option<V> {
        self.done.borrow().get(key).cloned()
    }

    /// The answer to a question that never leads back to itself.
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

    /// The answer to a question that never leads back to itself, but maybe too far.
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

    /// The answer to a question; `otherwise` when it leads back to itself or too far.
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
    /// Something that stands in one of several places, of which each leads to others. Going in circles takes nothing away
    /// from what is found, and where a search began that found nothing, there is nothing: both are remembered.
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

    /// Numbers lead to those beside them: the sum of all that can be reached, each once.
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
        assert!(memo.done.borrow().contains_key(&3), "what hangs on nothing open is remembered");
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
        assert_eq!(memo.done.borrow().len(), 3, "what was found on the way is remembered");
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

//! Answers that are remembered, and questions that lead back to themselves.
//!
//! A question that comes up again while it is being answered has no answer yet. What is found out below it then depends
//! on where one began to ask, so it is kept only until the outermost question is answered: the same question gets the
//! same answer whatever was asked before it.

use std::cell::{Cell, RefCell};
use std::hash::Hash;

use crate::names::FastMap;

/// So many questions may hang on one another.
const MAX_DEPTH: u32 = 48;

/// The answers to one kind of question.
pub(super) struct Memo<K, V> {
    done: RefCell<FastMap<K, V>>,
    /// Questions being asked, and answers that hang on one of them.
    open: RefCell<FastMap<K, Option<V>>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { done: RefCell::default(), open: RefCell::default() }
    }
}

/// What all questions of one resolver share.
#[derive(Default)]
pub(super) struct Course {
    depth: Cell<u32>,
    is_cut: Cell<bool>,
}

impl Course {
    /// Begins anew after an outermost question.
    pub(super) fn rest(&self) {
        self.depth.set(0);
        self.is_cut.set(false);
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// The answer to a question; `otherwise` when it leads back to itself or too far.
    pub(super) fn answer(&self, course: &Course, key: K, otherwise: V, answer: impl FnOnce() -> V) -> V {
        if let Some(known) = self.done.borrow().get(&key) {
            return known.clone();
        }
        let seen = self.open.borrow().get(&key).cloned();
        if seen.is_some() || course.depth.get() >= MAX_DEPTH {
            course.is_cut.set(true);
            return seen.flatten().unwrap_or(otherwise);
        }
        self.open.borrow_mut().insert(key.clone(), None);
        course.depth.set(course.depth.get() + 1);
        let was_cut = course.is_cut.replace(false);
        let value = answer();
        course.depth.set(course.depth.get().saturating_sub(1));
        if course.is_cut.get() {
            self.open.borrow_mut().insert(key, Some(value.clone()));
        } else {
            self.open.borrow_mut().remove(&key);
            self.done.borrow_mut().insert(key, value.clone());
        }
        course.is_cut.set(was_cut || course.is_cut.get());
        value
    }

    /// Forgets what hung on a question that is answered now.
    pub(super) fn settle(&self) {
        self.open.borrow_mut().clear();
    }
}

//! The time budget of a graph query, and whether it was exhausted before all work was done.
//!
//! Every loop that does work checks the budget before each step; there is no other way to check the time. A refused
//! step is recorded, so a caller cannot skip work and still report a complete answer.

use std::cell::Cell;

/// A time budget that records whether it refused a step.
pub struct Budget<'a> {
    is_over: &'a dyn Fn() -> bool,
    was_refused: Cell<bool>,
}

impl<'a> Budget<'a> {
    /// Creates a budget that lasts until `is_over` returns true.
    pub fn new(is_over: &'a dyn Fn() -> bool) -> Self {
        Self { is_over, was_refused: Cell::new(false) }
    }

    /// Whether there is no time for another step. Call it only if there is a step to do: a refusal makes the answer
    /// partial.
    pub(super) fn is_spent(&self) -> bool {
        let is_spent = self.was_refused.get() || (self.is_over)();
        self.was_refused.set(is_spent);
        is_spent
    }

    /// Whether no step was refused so far.
    pub(super) fn was_sufficient(&self) -> bool {
        !self.was_refused.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_refused_step_is_remembered() {
        let left = Cell::new(2u32);
        let is_over = || left.replace(left.get().saturating_sub(1)) == 0;
        let budget = Budget::new(&is_over);
        assert!(!budget.is_spent() && !budget.is_spent() && budget.was_sufficient());
        assert!(budget.is_spent() && !budget.was_sufficient());
        left.set(5);
        assert!(budget.is_spent(), "a refusal is permanent");
    }
}

//! Time: how long a question may go on looking, and whether it had to stop before everything was looked at.
//!
//! Whoever works through something asks here before each step, and there is no other way to ask. A step that is refused is
//! remembered, so that no caller can leave something out and have the answer called complete.

use std::cell::Cell;

/// See the module.
pub struct Budget<'a> {
    is_over: &'a dyn Fn() -> bool,
    was_refused: Cell<bool>,
}

impl<'a> Budget<'a> {
    /// A budget that lasts until `is_over` says so.
    pub fn new(is_over: &'a dyn Fn() -> bool) -> Self {
        Self { is_over, was_refused: Cell::new(false) }
    }

    /// Whether there is no time for another step. Only for those who have one to do: a refusal makes the answer partial.
    pub(super) fn is_spent(&self) -> bool {
        let is_spent = self.was_refused.get() || (self.is_over)();
        self.was_refused.set(is_spent);
        is_spent
    }

    /// Whether no step was refused so far.
    pub(super) fn was_enough(&self) -> bool {
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
        assert!(!budget.is_spent() && !budget.is_spent() && budget.was_enough());
        assert!(budget.is_spent() && !budget.was_enough());
        left.set(5);
        assert!(budget.is_spent(), "what was left out stays left out");
    }
}

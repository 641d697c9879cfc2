//! Limits the time of a query: until its time is up or the answer is no longer wanted.
//!
//! Time counts from the start of the actual work. Waiting in the queue, or for a branch to be synced, does not shorten
//! the answer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The time limit of a query.
#[derive(Clone, Debug)]
pub struct TimeLimit {
    time: Duration,
    cancel: Arc<AtomicBool>,
    /// The number of checks after which the time counts as over, for tests that must not depend on a clock.
    max_steps: Option<u64>,
}

impl TimeLimit {
    /// A limit that also ends when the flag is set.
    pub fn new(time: Duration, gone: &Arc<AtomicBool>) -> Self {
        Self { time, cancel: Arc::clone(gone), max_steps: None }
    }

    /// The same limit, which also ends after this number of checks.
    pub fn with_max_steps(self, max_steps: Option<u64>) -> Self {
        Self { max_steps, ..self }
    }

    /// A fraction of the time: `parts` out of `of` equal parts.
    pub fn fraction(&self, parts: u32, of: u32) -> Self {
        Self { time: self.time * parts / of, ..self.clone() }
    }

    /// No limit: the user sees results as they are found and can stop the command.
    pub fn unlimited(&self) -> Self {
        Self { time: Duration::from_secs(365 * 24 * 3600), ..self.clone() }
    }

    /// The same limit, but at most this time.
    pub fn at_most(&self, time: Duration) -> Self {
        Self { time: self.time.min(time), ..self.clone() }
    }

    /// Returns a check that is called repeatedly. Time counts from the first call.
    pub fn should_continue(&self) -> impl Fn() -> bool + Sync {
        let stopwatch = self.stopwatch();
        move || stopwatch.should_continue()
    }

    /// The same for work with pauses.
    pub fn stopwatch(&self) -> Stopwatch {
        let steps = AtomicU64::new(0);
        Stopwatch { limit: self.clone(), began: OnceLock::new(), paused: AtomicU64::new(0), steps }
    }

    /// The deadline if the work starts now.
    pub fn deadline(&self) -> Deadline {
        let (steps, max_steps) = (Arc::default(), self.max_steps);
        Deadline { until: Instant::now() + self.time, cancel: Arc::clone(&self.cancel), steps, max_steps }
    }
}

/// Time that counts from the first check, without pauses: reading the output may take any time.
#[derive(Debug)]
pub struct Stopwatch {
    limit: TimeLimit,
    began: OnceLock<Instant>,
    /// In microseconds.
    paused: AtomicU64,
    steps: AtomicU64,
}

impl Stopwatch {
    /// Whether there is time left.
    pub fn should_continue(&self) -> bool {
        let TimeLimit { time, cancel: gone, max_steps } = &self.limit;
        if are_over(*max_steps, &self.steps) {
            return false;
        }
        let paused = Duration::from_micros(self.paused.load(Ordering::Relaxed));
        !gone.load(Ordering::Relaxed) && self.began.get_or_init(Instant::now).elapsed() < *time + paused
    }

    /// Runs something without counting its time.
    pub fn without_counting<T>(&self, other: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = other();
        self.paused.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        done
    }
}

/// A deadline. Every scan checks it often enough to stop without a noticeable delay.
#[derive(Clone, Debug)]
pub struct Deadline {
    until: Instant,
    cancel: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
    max_steps: Option<u64>,
}

impl Deadline {
    /// Whether to stop now.
    pub fn is_over(&self) -> bool {
        are_over(self.max_steps, &self.steps) || self.cancel.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Counts a step if steps are limited. Returns whether all of them were made.
fn are_over(max_steps: Option<u64>, steps: &AtomicU64) -> bool {
    max_steps.is_some_and(|max| steps.fetch_add(1, Ordering::Relaxed) >= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_ends_by_time_or_cancellation() {
        let gone = Arc::new(AtomicBool::new(false));
        let patience = TimeLimit::new(Duration::from_secs(3600), &gone);
        let (deadline, part) = (patience.deadline(), patience.fraction(1, 3).deadline());
        assert!(!deadline.is_over() && !part.is_over());
        assert!(TimeLimit::new(Duration::ZERO, &gone).deadline().is_over());
        let steps = patience.with_max_steps(Some(2)).deadline();
        assert!(!steps.is_over() && !steps.is_over() && steps.is_over() && steps.is_over());
        gone.store(true, Ordering::Relaxed);
        assert!(deadline.is_over() && part.is_over());
    }
}

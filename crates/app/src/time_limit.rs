//! How long a question may be worked on: until its time is up, or nobody wants the answer any more.
//!
//! Time counts from when there is something to look through: what a question waited before that, for its turn or for a
//! branch to be brought in, does not make its answer shorter.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a question may take.
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    time: Duration,
    cancel: Arc<AtomicBool>,
}

impl TimeLimit {
    /// So much time, as long as this is not set.
    pub(crate) fn new(time: Duration, gone: &Arc<AtomicBool>) -> Self {
        Self { time, cancel: Arc::clone(gone) }
    }

    /// So many of so many equal parts of the time.
    pub(crate) fn fraction(&self, parts: u32, of: u32) -> Self {
        Self { time: self.time * parts / of, cancel: Arc::clone(&self.cancel) }
    }

    /// As long as it takes: somebody sees what is found as it is found, and ends it when he has enough.
    pub(crate) fn unlimited(&self) -> Self {
        Self { time: Duration::from_secs(365 * 24 * 3600), cancel: Arc::clone(&self.cancel) }
    }

    /// No more time than that.
    pub(crate) fn at_most(&self, time: Duration) -> Self {
        Self { time: self.time.min(time), cancel: Arc::clone(&self.cancel) }
    }

    /// Whether to go on, for who asks time and again. Time counts from the first time.
    pub(crate) fn should_continue(&self) -> impl Fn() -> bool + Sync {
        let stopwatch = self.stopwatch();
        move || stopwatch.should_continue()
    }

    /// The same for who does other things in between.
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        Stopwatch { limit: self.clone(), began: OnceLock::new(), paused: AtomicU64::new(0) }
    }

    /// The moment it ends when work begins now.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline { until: Instant::now() + self.time, cancel: Arc::clone(&self.cancel) }
    }
}

/// Time that counts from the first look at it, save where it is paused: a reader may take as long as he likes.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    limit: TimeLimit,
    began: OnceLock<Instant>,
    /// In microseconds.
    paused: AtomicU64,
}

impl Stopwatch {
    /// Whether there is time left.
    pub(crate) fn should_continue(&self) -> bool {
        let TimeLimit { time, cancel: gone } = &self.limit;
        let paused = Duration::from_micros(self.paused.load(Ordering::Relaxed));
        !gone.load(Ordering::Relaxed) && self.began.get_or_init(Instant::now).elapsed() < *time + paused
    }

    /// Does something that is not counted.
    pub(crate) fn without_counting<T>(&self, other: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = other();
        self.paused.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        done
    }
}

/// When to stop. Every scan looks at it, and more often than it takes to notice.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    until: Instant,
    cancel: Arc<AtomicBool>,
}

impl Deadline {
    /// Whether to stop now.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
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
        gone.store(true, Ordering::Relaxed);
        assert!(deadline.is_over() && part.is_over());
    }
}

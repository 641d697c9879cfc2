//! How long a question may be worked on: until its time is up, or nobody wants the answer any more.
//!
//! Time counts from when there is something to look through: what a question waited before that, for its turn or for a
//! branch to be brought in, does not make its answer shorter.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a question may take.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    time: Duration,
    gone: Arc<AtomicBool>,
}

impl Patience {
    /// So much time, as long as this is not set.
    pub(crate) fn new(time: Duration, gone: &Arc<AtomicBool>) -> Self {
        Self { time, gone: Arc::clone(gone) }
    }

    /// So many of so many equal parts of the time.
    pub(crate) fn part(&self, parts: u32, of: u32) -> Self {
        Self { time: self.time * parts / of, gone: Arc::clone(&self.gone) }
    }

    /// As long as it takes: somebody sees what is found as it is found, and ends it when he has enough.
    pub(crate) fn without_end(&self) -> Self {
        Self { time: Duration::from_secs(365 * 24 * 3600), gone: Arc::clone(&self.gone) }
    }

    /// No more time than that.
    pub(crate) fn at_most(&self, time: Duration) -> Self {
        Self { time: self.time.min(time), gone: Arc::clone(&self.gone) }
    }

    /// Whether to go on, for who asks time and again. Time counts from the first time.
    pub(crate) fn goes_on(&self) -> impl Fn() -> bool + Sync {
        let stopwatch = self.stopwatch();
        move || stopwatch.goes_on()
    }

    /// The same for who does other things in between.
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        Stopwatch { patience: self.clone(), began: OnceLock::new(), paused: AtomicU64::new(0) }
    }

    /// The moment it ends when work begins now.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline { until: Instant::now() + self.time, gone: Arc::clone(&self.gone) }
    }
}

/// Time that counts from the first look at it, save where it is paused: a reader may take as long as he likes.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    patience: Patience,
    began: OnceLock<Instant>,
    /// In microseconds.
    paused: AtomicU64,
}

impl Stopwatch {
    /// Whether there is time left.
    pub(crate) fn goes_on(&self) -> bool {
        let Patience { time, gone } = &self.patience;
        let paused = Duration::from_micros(self.paused.load(Ordering::Relaxed));
        !gone.load(Ordering::Relaxed) && self.began.get_or_init(Instant::now).elapsed() < *time + paused
    }

    /// Does something that is not counted.
    pub(crate) fn pause<T>(&self, other: impl FnOnce() -> T) -> T {
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
    gone: Arc<AtomicBool>,
}

impl Deadline {
    /// Whether to stop now.
    pub(crate) fn is_over(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_its_time_or_with_the_one_who_asks() {
        let gone = Arc::new(AtomicBool::new(false));
        let patience = Patience::new(Duration::from_secs(3600), &gone);
        let (deadline, part) = (patience.deadline(), patience.part(1, 3).deadline());
        assert!(!deadline.is_over() && !part.is_over());
        assert!(Patience::new(Duration::ZERO, &gone).deadline().is_over());
        gone.store(true, Ordering::Relaxed);
        assert!(deadline.is_over() && part.is_over());
    }
}

//! Progress on standard error: a bar on a terminal, seldom lines elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use codecompass_index::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{complain, stderr_is_terminal};

/// Plain lines come no more often than this.
const PAUSE: Duration = Duration::from_secs(2);

/// Shows how far a sync is.
pub(crate) struct Meter {
    bar: Option<ProgressBar>,
    began: Instant,
    last_line: Mutex<Instant>,
}

impl Meter {
    /// A meter that shows nothing until there is something worth showing.
    pub(crate) fn new(as_json: bool) -> Self {
        let now = Instant::now();
        let bar = (stderr_is_terminal() && !as_json).then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} files, {per_sec}, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, began: now, last_line: Mutex::new(now) }
    }

    /// Takes note of progress.
    pub(crate) fn show(&self, progress: Progress) {
        match &self.bar {
            Some(bar) => show_bar(bar, progress),
            None => self.show_line(progress),
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show_line(&self, progress: Progress) {
        let Progress::Extracting { done, total, .. } = progress else {
            return;
        };
        let Ok(mut last) = self.last_line.lock() else {
            return;
        };
        if last.elapsed() < PAUSE {
            return;
        }
        *last = Instant::now();
        let rate = done as f64 / self.began.elapsed().as_secs_f64().max(0.001);
        let left = (total - done) as f64 / rate.max(0.001);
        complain(&format!("{done} of {total} files, {rate:.0} files/s, {left:.0} s left"));
    }
}

fn show_bar(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Listing => bar.set_message("listing"),
        Progress::Extracting { done, total, .. } => {
            bar.set_message("indexing");
            bar.set_length(total);
            bar.set_position(done);
        }
        Progress::Publishing => bar.set_message("publishing"),
        Progress::Published => bar.set_message("cleaning up"),
    }
}

//! Progress on standard error: a bar on a terminal, occasional lines otherwise.

use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use codecompass_index::Progress;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::measure::{count_text, count_with_noun, rate_text};
use crate::output::{print_stderr, stderr_is_terminal};

/// The minimum time between plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Shows the progress of a sync.
pub(crate) struct ProgressMeter {
    bar: Option<ProgressBar>,
    /// The times of the last line and of the first finished file: listing files is not part of the rate.
    lines: Mutex<(Instant, Option<Instant>)>,
}

impl ProgressMeter {
    /// Creates a meter that shows nothing until there is progress.
    pub(crate) fn new(as_json: bool) -> Self {
        let now = Instant::now();
        let bar = (stderr_is_terminal() && !as_json).then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{msg} …");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { bar, lines: Mutex::new((now, None)) }
    }

    /// Shows progress.
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
        let Ok(mut lines) = self.lines.lock() else {
            return;
        };
        let (last, began) = &mut *lines;
        let began = *began.get_or_insert_with(Instant::now);
        if last.elapsed() < LINE_INTERVAL {
            return;
        }
        *last = Instant::now();
        print_stderr(&line(done, total, began.elapsed()));
    }
}

/// The progress, with rate and remaining time once they can be estimated.
fn line(done: u64, total: u64, took: Duration) -> String {
    let far = format!("{} of {}", count_text(done), count_with_noun(total, "file"));
    if done < 10 || took < Duration::from_secs(1) {
        return far;
    }
    let left = took.mul_f64(total.saturating_sub(done) as f64 / done as f64);
    format!("{far}, {}, about {} left", rate_text(done, took, "file"), left_text(left))
}

/// The style of a bar whose length is known.
fn bar_style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} files, {rate}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        // A bar that cannot be written shows no rate.
        let _ = out.write_str(&bar_rate(state.per_sec()));
    })
}

/// The rate in a bar, rounded to what can be read while it changes.
fn bar_rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 10.0 => format!("{} files/s", count_text(rate.round() as u64)),
        rate => format!("{rate:.1} files/s"),
    }
}

fn left_text(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..90 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

fn show_bar(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Listing => bar.set_message("listing"),
        Progress::Extracting { done, total, .. } => {
            bar.set_message("indexing");
            if bar.length().is_none() && total > 0 {
                bar.set_style(bar_style());
            }
            bar.set_length(total);
            bar.set_position(done);
        }
        Progress::Publishing => bar.set_message("publishing"),
        Progress::Published => bar.set_message("cleaning up"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_in_a_bar_are_rounded() {
        assert_eq!(bar_rate(1624.683), "1,625 files/s");
        assert_eq!(bar_rate(4.26), "4.3 files/s");
    }

    #[test]
    fn progress_line_shows_known_values() {
        let second = Duration::from_secs(1);
        assert_eq!(line(1, 9, second * 10), "1 of 9 files");
        assert_eq!(line(0, 1, second), "0 of 1 file");
        assert_eq!(line(500, 2000, second * 5), "500 of 2,000 files, 100 files/s, about 15 s left");
        assert_eq!(line(20, 2000, second * 4), "20 of 2,000 files, 5.0 files/s, about 7 min left");
    }
}

//! The current time, for timestamps in the store, and times as text.

use std::time::SystemTime;

use jiff::Timestamp;

/// A day in milliseconds.
pub const DAY: i64 = 24 * HOUR;
/// An hour in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;

/// Milliseconds since 1970. In debug builds a test may shift it by a number of days.
pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
    now.saturating_add(days_ahead().saturating_mul(DAY))
}

fn days_ahead() -> i64 {
    let asked = if cfg!(debug_assertions) { std::env::var("CODECOMPASS_DAYS_AHEAD").ok() } else { None };
    asked.and_then(|days| days.parse().ok()).unwrap_or(0)
}

/// A time in RFC 3339, in UTC, to the second.
pub fn time_text(milliseconds: i64) -> String {
    Timestamp::from_second(milliseconds.div_euclid(1000)).map(|time| time.to_string()).unwrap_or_default()
}

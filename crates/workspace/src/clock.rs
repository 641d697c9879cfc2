//! The current time, for timestamps in the store, and times as text.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::output::Reader;

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

/// A time for people, in the local time zone, to the second: `2026-03-01 14:05:09`.
fn local_time_text(milliseconds: i64) -> String {
    let time = Timestamp::from_second(milliseconds.div_euclid(1000));
    time.map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default()
}

/// A time for this reader: local for a person, in RFC 3339 for an agent.
pub fn time_for(reader: Reader, milliseconds: i64) -> String {
    match reader {
        Reader::Person => local_time_text(milliseconds),
        Reader::Agent => time_text(milliseconds),
    }
}

/// A time in RFC 3339, in UTC, to the second.
pub fn time_text(milliseconds: i64) -> String {
    Timestamp::from_second(milliseconds.div_euclid(1000)).map(|time| time.to_string()).unwrap_or_default()
}

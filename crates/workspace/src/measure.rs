//! Numbers formatted for people, and figures of the operating system about this process.

use std::time::Duration;

/// `1234567` as `1,234,567`.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 file`, `2,000 files`.
pub fn count_with_noun(count: u64, one: &str) -> String {
    format!("{} {one}{}", count_text(count), if count == 1 { "" } else { "s" })
}

/// A rate per second, with the significant digits only.
pub(crate) fn rate_text(count: u64, took: Duration, one: &str) -> String {
    let rate = count as f64 / took.as_secs_f64().max(0.001);
    if rate < 10.0 { format!("{rate:.1} {one}s/s") } else { format!("{} {one}s/s", count_text(rate.round() as u64)) }
}

/// Bytes in the most readable unit.
pub fn bytes_text(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

/// A duration in the most readable unit.
pub fn seconds_text(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

/// The number of free bytes on the file system of a path; `None` if the system does not report it.
#[cfg(unix)]
pub fn free_bytes(path: &std::path::Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with a zero byte, and the other pointer is to a valid, writable statvfs, which the call
    // fills in; zeroed memory is a valid statvfs.
    #[expect(unsafe_code, reason = "a system call that std does not offer")]
    let (outcome, found) = unsafe { (libc::statvfs(path.as_ptr(), found.as_mut_ptr()), found.assume_init()) };
    #[allow(clippy::useless_conversion, reason = "the types differ between systems")]
    (outcome == 0).then(|| u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}

/// Not available on this system.
#[cfg(not(unix))]
pub fn free_bytes(_path: &std::path::Path) -> Option<u64> {
    None
}

/// The maximum number of open descriptors of this process; `None` if the system does not report it.
#[cfg(unix)]
pub fn descriptors() -> Option<u64> {
    let mut limit = std::mem::MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: the pointer is to a valid, writable rlimit, which the call fills in; zeroed memory is a valid rlimit.
    #[expect(unsafe_code, reason = "a system call that std does not offer")]
    let (outcome, limit) = unsafe { (libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()), limit.assume_init()) };
    #[allow(clippy::useless_conversion, reason = "the types differ between systems")]
    (outcome == 0).then(|| u64::from(limit.rlim_cur))
}

/// Not available on this system.
#[cfg(not(unix))]
pub fn descriptors() -> Option<u64> {
    None
}

/// CPU time of this process, over all its threads.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a valid, writable rusage, which the call fills in; zeroed memory is a valid rusage.
    #[expect(unsafe_code, reason = "a system call that std does not offer")]
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// CPU time is not measured on this system.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    Duration::ZERO
}

/// The private memory of this process in bytes, if the system reports it.
pub fn private_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Makes the allocator return the memory that this thread has freed to the system instead of keeping it.
pub fn release_memory() {
    #[allow(unsafe_code, reason = "there is no safe way to ask the allocator")]
    // SAFETY: the call takes no pointers and collects only unused memory.
    unsafe {
        libmimalloc_sys::mi_collect(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count_text(0), "0");
        assert_eq!(count_text(999), "999");
        assert_eq!(count_text(1234567), "1,234,567");
        assert_eq!(bytes_text(1023), "1023 B");
        assert_eq!(bytes_text(1536), "1.5 KiB");
        assert_eq!(seconds_text(Duration::from_millis(40)), "40 ms");
        assert_eq!(seconds_text(Duration::from_millis(3210)), "3.2 s");
    }
}

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

/// Options of the allocator that its bindings do not name. A test compares their defaults.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const RECLAIM_PAGES_ON_FREE: libmimalloc_sys::mi_option_t = 35;
const RETAINED_FULL_PAGES: libmimalloc_sys::mi_option_t = 36;
const ALLOW_HUGE_PAGES: libmimalloc_sys::mi_option_t = 43;

/// Makes the allocator return free pages at once and in small units, and reuse the pages of threads that have ended. A
/// server lives long and shares the machine, while the defaults save system calls: pages are kept for a second, and
/// huge pages, which are returned only whole, are asked for. With them a server held twice as much memory as was in use.
/// Threads that are running keep their settings.
pub fn prefer_little_memory() {
    #[allow(unsafe_code, reason = "there is no safe way to configure the allocator")]
    // SAFETY: the calls take no pointers and change settings that are read at each use.
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 0);
        libmimalloc_sys::mi_option_set(RECLAIM_PAGES_ON_FREE, 1);
        libmimalloc_sys::mi_option_set(RETAINED_FULL_PAGES, 0);
        libmimalloc_sys::mi_option_set(ALLOW_HUGE_PAGES, 0);
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocator_options_have_their_numbers() {
        #[allow(unsafe_code, reason = "there is no safe way to ask the allocator")]
        // SAFETY: the call takes no pointers and reads a setting.
        let option = |option| unsafe { libmimalloc_sys::mi_option_get(option) };
        assert_eq!((option(PURGE_DELAY), option(PURGE_DELAY + 9)), (1000, 1), "purge_delay and arena_purge_mult");
        assert_eq!((option(RECLAIM_PAGES_ON_FREE), option(RETAINED_FULL_PAGES)), (0, 2), "in this order");
        assert_eq!(
            (option(ALLOW_HUGE_PAGES), option(ALLOW_HUGE_PAGES + 1)),
            (1, 0),
            "allow_thp and minimal_purge_size"
        );
    }

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

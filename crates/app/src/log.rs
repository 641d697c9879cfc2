//! A log file, for those who ask for one: what is said on standard error with `-vv`, each line with its time.

use std::io::Write;
use std::path::Path;

use codecompass_store::private;
use jiff::Timestamp;

use crate::escape::escape_control;

/// The variable that names the file, where no flag does.
pub(crate) const VARIABLE: &str = "CODECOMPASS_LOG_FILE";

/// Adds a line, if anybody wants it. Whoever can not be written to misses it: that is no reason to fail.
pub(crate) fn append(file: Option<&Path>, line: &str) {
    let Some(file) = file else { return };
    if let Ok(mut file) = private::options().create(true).append(true).open(file) {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let _ = writeln!(file, "{now} {} {}", std::process::id(), escape_control(line));
    }
}

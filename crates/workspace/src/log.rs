//! The optional log file: the lines that `-vv` prints to standard error, each with its time.

use std::io::Write;
use std::path::Path;

use codecompass_store::private;
use jiff::Timestamp;

use crate::escape::escape_control;

/// The variable that names the file if no flag does.
pub const VARIABLE: &str = "CODECOMPASS_LOG_FILE";

/// Appends a line if there is a log file. A write error is ignored: it is no reason to fail.
pub fn append(file: Option<&Path>, line: &str) {
    let Some(file) = file else { return };
    if let Ok(mut file) = private::options().create(true).append(true).open(file) {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let _ = writeln!(file, "{now} {} {}", std::process::id(), escape_control(line));
    }
}

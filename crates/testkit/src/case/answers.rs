//! Answers as the lines of a case file: `exit N`, then `stderr: …` lines, then standard output.

use super::parse::{is_marker, unescape};
use crate::answer::Answer;

const EXIT: &str = "exit ";
const STDERR: &str = "stderr: ";
const KILLED: &str = "exit by a signal";

fn is_special_in_answer(line: &str) -> bool {
    is_marker(line) || line.starts_with(EXIT) || line.starts_with(STDERR)
}

pub(super) fn parse_answer(block: &[String]) -> Result<Answer, String> {
    let mut lines = block.iter().map(String::as_str).peekable();
    let code = match lines.next_if(|line| line.starts_with(EXIT)) {
        None => Some(0),
        Some(KILLED) => None,
        Some(line) => {
            let code = line[EXIT.len()..].trim().parse();
            Some(code.map_err(|_| format!("expected `exit NUMBER` or `{KILLED}`, found {line:?}"))?)
        }
    };
    let mut stderr = Vec::new();
    while let Some(line) = lines.next_if(|line| line.starts_with(STDERR) || *line == STDERR.trim_end()) {
        stderr.push(line[STDERR.len().min(line.len())..].to_owned());
    }
    let stdout: Vec<&str> = lines.map(|line| unescape(line, is_special_in_answer)).collect();
    if code == Some(0) && block.iter().skip(1).any(|line| line.starts_with(EXIT)) {
        return Err(
            "`exit NUMBER` must directly follow the query (write `\\exit …` for a line of the answer)".to_owned()
        );
    }
    Ok(Answer { code, stderr: (!stderr.is_empty()).then(|| stderr.join("\n")), stdout: stdout.join("\n") })
}

impl Answer {
    /// Returns the answer in the notation of a case file.
    pub fn text(&self) -> String {
        answer_lines(self).join("\n")
    }
}

/// Returns an answer as the lines of a case file.
pub(super) fn answer_lines(answer: &Answer) -> Vec<String> {
    let mut lines = Vec::new();
    match answer.code {
        Some(0) => {}
        Some(code) => lines.push(format!("{EXIT}{code}")),
        None => lines.push(KILLED.to_owned()),
    }
    let stderr = answer.stderr.iter().flat_map(|text| text.lines());
    lines.extend(stderr.map(|line| format!("{STDERR}{line}").trim_end().to_owned()));
    lines.extend(answer.stdout.lines().map(escape));
    lines
}

fn escape(line: &str) -> String {
    let special = is_special_in_answer(line.trim_start_matches('\\'));
    if special { format!("\\{line}") } else { line.to_owned() }
}

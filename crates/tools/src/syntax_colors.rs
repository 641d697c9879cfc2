//! Source lines with syntax colours, for a terminal.

use std::ops::Range;
use std::time::Duration;

use codecompass_lang::{HighlightKind, HighlightSpan, highlight_while};
use codecompass_store::{Snapshot, VersionInfo};

use super::rows;
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::style;
use codecompass_workspace::time_limit::TimeLimit;

/// The time limit for parsing a file for its colours; a file that takes longer has none.
const HIGHLIGHT_TIMEOUT: Duration = Duration::from_millis(200);

/// The lines with these numbers, each with its number and in colours.
pub(crate) fn colored_lines(
    snapshot: &Snapshot,
    version: &VersionInfo,
    numbers: &[u32],
    time_limit: &TimeLimit,
) -> Result<Vec<String>, AppError> {
    let text = snapshot.text(version.id)?;
    let deadline = time_limit.at_most(HIGHLIGHT_TIMEOUT).deadline();
    let spans = highlight_while(&version.path, text.as_bytes(), Some(&version.language), &|| !deadline.is_over());
    let spans = spans.unwrap_or_default();
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push(start..start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
    }
    let colored = |number: &u32| {
        let line = lines.get(*number as usize - 1).cloned().unwrap_or_default();
        format!("{} {}", style::dim(&number.to_string()), colored_line(&text, line, &spans))
    };
    Ok(numbers.iter().map(colored).collect())
}

/// A line of a text; the spans are ordered and do not overlap.
fn colored_line(text: &str, line: Range<usize>, spans: &[HighlightSpan]) -> String {
    let first = spans.partition_point(|span| span.end as usize <= line.start);
    let mut out = String::new();
    let mut at = line.start;
    for span in spans[first..].iter().take_while(|span| (span.start as usize) < line.end) {
        let (start, end) = ((span.start as usize).max(at), (span.end as usize).min(line.end));
        out += &rows::exact(&text[at..start]);
        out += &colored(span.kind, &rows::exact(&text[start..end]));
        at = end;
    }
    out + &rows::exact(&text[at..line.end])
}

fn colored(kind: HighlightKind, text: &str) -> String {
    match kind {
        HighlightKind::Comment | HighlightKind::Doc => style::dim(text),
        HighlightKind::Text => style::added(text),
        HighlightKind::Number | HighlightKind::Constant => style::constant(text),
        HighlightKind::Keyword => style::keyword(text),
        HighlightKind::Type => style::changed(text),
        HighlightKind::Function => style::name(text),
        HighlightKind::Attribute => style::path(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_cover_the_line_only() {
        let text = "a /* x\ny */ b\n";
        let span = HighlightSpan { start: 2, end: 11, kind: HighlightKind::Comment };
        assert_eq!(colored_line(text, 0..6, &[span]), format!("a {}", style::dim("/* x")));
        assert_eq!(colored_line(text, 7..13, &[span]), format!("{} b", style::dim("y */")));
        assert_eq!(colored_line(text, 14..14, &[span]), "");
    }
}

//! Code on a page: numbered lines, highlighted words, names linked to their definitions.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::address::CodeState;
use crate::escape::escape_control;

/// The lines of an answer of `source`. `marks` are highlighted lines.
pub(super) fn lines(at: &CodeState, source: &Value, marks: &[u64]) -> Markup {
    let text = source["text"].as_str().unwrap_or_default();
    let first = source["first_line"].as_u64().unwrap_or(1);
    let colours = Spans::from_json(&source["colours"]);
    let links = Spans::from_json(&source["links"]);
    let mut out = String::with_capacity(text.len() * 4);
    let mut start = 0;
    for (number, line) in (first..).zip(text.split_inclusive('\n')) {
        let class = if marks.contains(&number) { "l lit" } else { "l" };
        let body = line.trim_end_matches(['\n', '\r']);
        out += &format!(
            "<span class=\"{class}\" id=\"L{number}\"><a class=\"n\" href=\"#L{number}\">{number}</a><span class=\"t\">"
        );
        push_line(&mut out, at, text, (start, start + body.len()), &colours, &links);
        // The line break is inside, so that an empty line has its height and copied lines stay separate.
        out += "\n</span></span>";
        start += line.len();
    }
    html! {
        pre.code tabindex="0" { code { (PreEscaped(out)) } }
        @if source["has_all_links"] == false { p.dim data-partial { "Not all names are resolved yet." } }
    }
}

/// Ordered ranges of an answer with their details.
struct Spans<'v> {
    spans: Vec<(usize, usize, &'v [Value])>,
}

impl<'v> Spans<'v> {
    fn from_json(value: &'v Value) -> Self {
        let span = |one: &'v Value| {
            let fields = one.as_array()?;
            let number = |at: usize| fields.get(at).and_then(Value::as_u64).map(|number| number as usize);
            Some((number(0)?, number(1)?, fields.get(2..)?))
        };
        Self { spans: value.as_array().into_iter().flatten().filter_map(span).collect() }
    }

    /// The spans that overlap a range.
    fn overlapping(&self, (start, end): (usize, usize)) -> &[(usize, usize, &'v [Value])] {
        let from = self.spans.partition_point(|span| span.1 <= start);
        let to = self.spans.partition_point(|span| span.0 < end);
        self.spans.get(from..to).unwrap_or_default()
    }
}

/// Renders a line: links outside, highlighting inside them. Both lists are ordered and do not overlap within
/// themselves, so one walk over the boundaries of both is enough.
fn push_line(
    out: &mut String,
    at: &CodeState,
    text: &str,
    range: (usize, usize),
    colours: &Spans<'_>,
    links: &Spans<'_>,
) {
    let mut place = range.0;
    for (start, end, fields) in links.overlapping(range) {
        let (start, end) = ((*start).max(place), (*end).min(range.1));
        if start >= end {
            continue;
        }
        push_coloured(out, text, (place, start), colours);
        let field = |at: usize| fields.get(at).and_then(Value::as_str).unwrap_or_default();
        let class = match field(2) {
            "definition" => "d",
            "guess" => "r guess",
            _ => "r",
        };
        out.push_str(&format!("<a class=\"{class}\" href=\"{}\" title=\"", escaped(&at.symbol(field(0)))));
        out.push_str(&escaped(&escape_control(field(1))));
        out.push_str("\">");
        push_coloured(out, text, (start, end), colours);
        out.push_str("</a>");
        place = end;
    }
    push_coloured(out, text, (place, range.1), colours);
}

fn push_coloured(out: &mut String, text: &str, range: (usize, usize), colours: &Spans<'_>) {
    let mut place = range.0;
    for (start, end, fields) in colours.overlapping(range) {
        let (start, end) = ((*start).max(place), (*end).min(range.1));
        if start >= end {
            continue;
        }
        push_text(out, text.get(place..start));
        let name = fields.first().and_then(Value::as_str).unwrap_or_default();
        out.push_str(&format!("<span class=\"c-{name}\">"));
        push_text(out, text.get(start..end));
        out.push_str("</span>");
        place = end;
    }
    push_text(out, text.get(place..range.1));
}

/// Escapes text: no mark-up, and control or invisible characters are written out.
fn push_text(out: &mut String, text: Option<&str>) {
    let text = text.unwrap_or_default();
    for part in text.split_inclusive('\t') {
        let (body, tab) = part.strip_suffix('\t').map_or((part, ""), |body| (body, "\t"));
        let visible = escape_control(body);
        match visible == body {
            true => out.push_str(&escaped(body)),
            false => out.push_str(&format!("<span class=\"odd\">{}</span>", escaped(&visible))),
        }
        out.push_str(tab);
    }
}

/// Escapes text for HTML and for attributes in double quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_coloured_and_names_linked() {
        let source = json!({
            "text": "fn a() {\n\tb(\"<x>\")\n}\n",
            "first_line": 7,
            "colours": [[0, 2, "keyword"], [12, 17, "text"]],
            "links": [[10, 11, "sym_1", "fn b"]],
        });
        let page = lines(&CodeState::default(), &source, &[8]).into_string();
        assert!(page.contains("<span class=\"c-keyword\">fn</span> a() {"), "{page}");
        assert!(page.contains("<a class=\"r\" href=\"/symbol/sym_1\" title=\"fn b\">b</a>("), "{page}");
        assert!(page.contains("<span class=\"c-text\">&quot;&lt;x&gt;&quot;</span>"), "{page}");
        assert!(page.contains("<span class=\"l lit\" id=\"L8\">"), "{page}");
    }

    #[test]
    fn text_is_escaped() {
        let hostile = "</code><script>alert(1)</script> \u{202e}x' onmouseover=\"y\"\r\n";
        let source = json!({
            "text": hostile, "first_line": 1,
            "colours": [[0, 40, "text"]], "links": [[4, 9, "sym\"><b>", "\"><img src=x>"]],
        });
        let page = lines(&CodeState::default(), &source, &[]).into_string();
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"), "{page}");
        assert!(page.contains("\\u{202e}") && !page.contains('\u{202e}'));
    }
}

//! Code on a page: numbered lines, highlighted words, names linked to their definitions.

use codecompass_wire::Word;
use codecompass_wire::pages::{Link, Source};
use maud::{Markup, PreEscaped, html};

use super::address::CodeState;
use codecompass_workspace::escape::escape_control;

/// The lines of an answer of `source`. `marks` are highlighted lines.
pub(super) fn lines(at: &CodeState, source: &Source, marks: &[u32]) -> Markup {
    let text = source.text.as_str();
    let colours = Spans { spans: source.colours.iter().map(|(start, end, kind)| (*start, *end, kind)).collect() };
    let links = Spans { spans: source.links.iter().map(|link| (range(link).0, range(link).1, link)).collect() };
    let mut out = String::with_capacity(text.len() * 4);
    let mut start = 0;
    for (number, line) in (source.first_line..).zip(text.split_inclusive('\n')) {
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
        @if !source.has_all_links { p.dim data-partial { "Not all names are resolved yet." } }
    }
}

/// The start and end of a link.
fn range(link: &Link) -> (usize, usize) {
    match link {
        Link::Reference(start, end, ..) | Link::Marked(start, end, ..) => (*start, *end),
    }
}

/// Ordered ranges of an answer with their details.
struct Spans<T> {
    spans: Vec<(usize, usize, T)>,
}

impl<T> Spans<T> {
    /// The spans that overlap a range.
    fn overlapping(&self, (start, end): (usize, usize)) -> &[(usize, usize, T)] {
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
    colours: &Spans<&Word>,
    links: &Spans<&Link>,
) {
    let mut place = range.0;
    for (start, end, link) in links.overlapping(range) {
        let (start, end) = ((*start).max(place), (*end).min(range.1));
        if start >= end {
            continue;
        }
        push_coloured(out, text, (place, start), colours);
        let (id, about, class) = match link {
            Link::Reference(_, _, id, about) => (id, about, "r"),
            Link::Marked(_, _, id, about, word) if word == "definition" => (id, about, "d"),
            Link::Marked(_, _, id, about, _) => (id, about, "r guess"),
        };
        out.push_str(&format!("<a class=\"{class}\" href=\"{}\" title=\"", escaped(&at.symbol(id))));
        out.push_str(&escaped(&escape_control(about)));
        out.push_str("\">");
        push_coloured(out, text, (start, end), colours);
        out.push_str("</a>");
        place = end;
    }
    push_coloured(out, text, (place, range.1), colours);
}

fn push_coloured(out: &mut String, text: &str, range: (usize, usize), colours: &Spans<&Word>) {
    let mut place = range.0;
    for (start, end, name) in colours.overlapping(range) {
        let (start, end) = ((*start).max(place), (*end).min(range.1));
        if start >= end {
            continue;
        }
        push_text(out, text.get(place..start));
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
    use codecompass_wire::Metadata;

    fn source(text: &str, first_line: u32, colours: Vec<(usize, usize, Word)>, links: Vec<Link>) -> Source {
        Source {
            path: "a.rs".into(),
            language: "rust".into(),
            total_lines: 1,
            first_line,
            last_line: 1,
            is_edited: false,
            symbol: None,
            around: Vec::new(),
            inside: Vec::new(),
            others: Vec::new(),
            text: text.to_owned(),
            colours,
            has_all_links: true,
            links,
            metadata: Metadata::unknown(),
        }
    }

    #[test]
    fn words_are_coloured_and_names_linked() {
        let colours = vec![(0, 2, "keyword".into()), (12, 17, "text".into())];
        let links = vec![Link::Reference(10, 11, "sym_1".into(), "fn b".into())];
        let source = source("fn a() {\n\tb(\"<x>\")\n}\n", 7, colours, links);
        let page = lines(&CodeState::default(), &source, &[8]).into_string();
        assert!(page.contains("<span class=\"c-keyword\">fn</span> a() {"), "{page}");
        assert!(page.contains("<a class=\"r\" href=\"/symbol/sym_1\" title=\"fn b\">b</a>("), "{page}");
        assert!(page.contains("<span class=\"c-text\">&quot;&lt;x&gt;&quot;</span>"), "{page}");
        assert!(page.contains("<span class=\"l lit\" id=\"L8\">"), "{page}");
    }

    #[test]
    fn text_is_escaped() {
        let hostile = "</code><script>alert(1)</script> \u{202e}x' onmouseover=\"y\"\r\n";
        let links = vec![Link::Reference(4, 9, "sym\"><b>".into(), "\"><img src=x>".into())];
        let source = source(hostile, 1, vec![(0, 40, "text".into())], links);
        let page = lines(&CodeState::default(), &source, &[]).into_string();
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"), "{page}");
        assert!(page.contains("\\u{202e}") && !page.contains('\u{202e}'));
    }
}

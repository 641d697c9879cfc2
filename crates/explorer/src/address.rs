//! Addresses: parses requests, and builds links that keep the current ref and work tree.

use std::fmt::Write;

/// The query string of an address, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses a query string. Invalid UTF-8 becomes replacement characters, which match no name.
    pub(super) fn parse(text: Option<&str>) -> Self {
        let parts = text.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decode_segments(&name.replace('+', " ")), decode_segments(&value.replace('+', " ")))
        };
        Self { pairs: parts.map(pair).collect() }
    }

    /// The value of a name, if it is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    /// All pairs except those with these names.
    pub(super) fn without(&self, names: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.pairs
            .iter()
            .filter(move |(name, value)| !value.is_empty() && !names.contains(name))
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The state of the code that a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeState {
    /// A branch, tag or commit; `None` for the work tree.
    pub(super) ref_name: Option<String>,
    /// The folder of another work tree of the repository.
    pub(super) tree: Option<String>,
}

impl CodeState {
    pub(super) fn from_query(query: &Query) -> Self {
        Self { ref_name: query.get("ref").map(str::to_owned), tree: query.get("tree").map(str::to_owned) }
    }

    /// The address of a screen for the same state. `segments` are encoded one by one.
    pub(super) fn href(&self, segments: &[&str], pairs: &[(&str, &str)]) -> String {
        let mut address = String::new();
        for segment in segments {
            address.push('/');
            encode(&mut address, segment, true);
        }
        if address.is_empty() {
            address.push('/');
        }
        let own = [("ref", self.ref_name.as_deref()), ("tree", self.tree.as_deref())];
        let own = own.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let mut is_first = true;
        for (name, value) in pairs.iter().copied().chain(own).filter(|(_, value)| !value.is_empty()) {
            address.push(if is_first { '?' } else { '&' });
            is_first = false;
            encode(&mut address, name, false);
            address.push('=');
            encode(&mut address, value, false);
        }
        address
    }

    /// The page of a symbol.
    pub(super) fn symbol(&self, id: &str) -> String {
        self.href(&["symbol", id], &[])
    }

    /// A line of a file. The page shows only an excerpt around the line, so the query names it too.
    pub(super) fn line(&self, path: &str, line: u64) -> String {
        let text = line.to_string();
        format!("{}#L{line}", self.href(&["file", path], &[("line", &text)]))
    }
}

/// Decodes the path segments after the first one.
pub(super) fn decode_segments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Encodes everything except letters, digits and a few characters without special meaning in an address.
fn encode(out: &mut String, text: &str, is_path: bool) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            b'/' if is_path => out.push('/'),
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for name in ["src/a b.rs", "q?x=1&y#L3", "100%/ü/\u{202e}", "a+b", "\"><script>", "%41", "a\nb"] {
            let at = CodeState { ref_name: Some(name.into()), tree: None };
            let href = at.href(&["file", name], &[("line", "3")]);
            assert!(href.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/?=&%-_.~".contains(&byte)), "{href}");
            let (path, query) = href.split_once('?').expect("a query");
            assert_eq!(decode_segments(path.strip_prefix("/file/").expect("a file")), name);
            let query = Query::parse(Some(query));
            assert_eq!((CodeState::from_query(&query), query.number("line")), (at, Some(3)));
        }
        assert_eq!(CodeState::default().href(&[], &[]), "/");
        assert_eq!(decode_segments("%zz%4"), "%zz%4");
    }
}

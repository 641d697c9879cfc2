//! A lenient parser of JSON with comments and trailing commas, as in `tsconfig.json` and `package.json`.

/// A value; numbers and words are not distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
    Other,
}

const MAX_DEPTH: usize = 24;

impl Json {
    /// Parses a text; invalid parts are skipped.
    pub(super) fn read(text: &str) -> Json {
        let mut reader = Reader { rest: text.trim_start_matches('\u{feff}') };
        reader.value(MAX_DEPTH)
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the entries of a map; none for other values.
    pub(super) fn entries(&self) -> &[(String, Json)] {
        match self {
            Json::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns every string in it, in order.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Json::Text(text) => vec![text],
            Json::List(items) => items.iter().flat_map(Json::texts).collect(),
            Json::Map(entries) => entries.iter().flat_map(|(_, value)| value.texts()).collect(),
            Json::Other => Vec::new(),
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Json {
        self.skip();
        match self.rest.chars().next() {
            Some('"') => Json::Text(self.string()),
            Some('[') if depth > 0 => self.list(depth - 1),
            Some('{') if depth > 0 => self.map(depth - 1),
            _ => {
                let end = self.rest.find([',', ']', '}', '\n']).unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
                Json::Other
            }
        }
    }

    fn list(&mut self, depth: usize) -> Json {
        let mut items = Vec::new();
        self.rest = &self.rest[1..];
        while !self.ends(']') {
            items.push(self.value(depth));
        }
        Json::List(items)
    }

    fn map(&mut self, depth: usize) -> Json {
        let mut entries = Vec::new();
        self.rest = &self.rest[1..];
        while !self.ends('}') {
            if !self.rest.starts_with('"') {
                // Not JSON: the rest is lost, the values so far are kept.
                self.rest = "";
                break;
            }
            let key = self.string();
            self.skip();
            self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
            entries.push((key, self.value(depth)));
        }
        Json::Map(entries)
    }

    /// Returns whether the bracket closes here, or the text ends; skips commas.
    fn ends(&mut self, close: char) -> bool {
        self.skip();
        while let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            self.skip();
        }
        match self.rest.strip_prefix(close) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => self.rest.is_empty() || self.rest.starts_with([']', '}']) && self.skip_unmatched(),
        }
    }

    /// Skips an unmatched closing bracket.
    fn skip_unmatched(&mut self) -> bool {
        self.rest = &self.rest[1..];
        true
    }

    fn string(&mut self) -> String {
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        chars.next();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return out;
                }
                '\\' => out.extend(chars.next().map(|(_, escaped)| escaped)),
                _ => out.push(c),
            }
        }
        self.rest = "";
        out
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("//") {
                self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn accepts_comments_and_trailing_commas() {
        let read = Json::read("{ // a\n \"a\": [\"x\", 1, /* b */ \"y\",], \"b\": {\"c\": true,}, }");
        assert_eq!(read.get("a").map(Json::texts), Some(vec!["x", "y"]));
        assert_eq!(read.get("b").and_then(|b| b.get("c")), Some(&Json::Other));
        for broken in ["", "{", "[", "{\"a\"", "{\"a\":", "{a: 1}", "\"", "[}", "{]", "\\"] {
            Json::read(broken);
        }
    }
}

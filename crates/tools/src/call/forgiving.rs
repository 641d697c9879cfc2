//! Arguments as agents write them: other names for parameters, a string for a list, a number as a string.
//!
//! A refused call costs an agent a whole turn, and it tries the same names as everyone else. So calls with text answers
//! accept them. The schema does not mention them: it would grow, and the names in it are the ones to use. A line before
//! the answer says what was read differently. JSON answers follow the contracts, which refuse unknown parameters.

use serde_json::{Map, Value};

use super::tool_spec::{Param, ParamKind, ParamSide, ToolSpec};
use codecompass_workspace::escape::{escape_control, truncate_to};

/// Arguments under their own names, and how others were read.
pub struct Understood {
    pub values: Map<String, Value>,
    notes: Vec<String>,
    ignored: Vec<String>,
}

/// Other names for parameters. If a tool has several of the parameters of a name, the first that was not given is meant.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "symbol_name",
        &[
            "name",
            "symbol",
            "identifier",
            "function",
            "function_name",
            "method",
            "class",
            "query",
            "symbol_id",
            "target",
            "what",
            "names",
            "symbols",
            "id",
        ],
    ),
    ("query", &["q", "question", "search", "pattern", "prompt", "name", "symbol", "symbol_name", "keywords", "text"]),
    ("pattern", &["query", "regex", "regexp", "search", "text", "string", "q", "needle", "expression"]),
    (
        "what",
        &[
            "path",
            "paths",
            "file",
            "files",
            "file_path",
            "file_paths",
            "filepath",
            "filename",
            "name",
            "names",
            "symbol",
            "symbols",
            "symbol_name",
            "symbol_names",
            "target",
            "targets",
            "location",
            "locations",
            "item",
            "items",
            "query",
            "id",
            "ids",
        ],
    ),
    (
        "path",
        &[
            "file",
            "file_path",
            "filepath",
            "filename",
            "file_name",
            "relative_path",
            "uri",
            "in",
            "folder",
            "dir",
            "directory",
            "what",
            "paths",
        ],
    ),
    ("name", &["symbol_name", "symbol", "identifier", "query", "filter", "symbol_id", "what"]),
    (
        "path_filter",
        &[
            "path",
            "paths",
            "glob",
            "globs",
            "file",
            "files",
            "file_path",
            "include",
            "includes",
            "dir",
            "directory",
            "folder",
            "filter",
            "file_pattern",
            "in",
            "scope",
        ],
    ),
    ("kind", &["kinds", "type", "edge_type", "symbol_kind", "symbol_type", "relation"]),
    ("language", &["lang", "type", "file_type"]),
    ("ignore_case", &["case_insensitive", "-i"]),
    ("literal", &["fixed_strings", "fixed_string", "fixed", "plain", "is_literal", "-f"]),
    ("word", &["whole_word", "word_regexp", "-w"]),
    (
        "context",
        &["context_lines", "lines_of_context", "-c", "-a", "-b", "before", "after", "before_context", "after_context"],
    ),
    ("limit", &["max_results", "max", "max_count", "count", "top_k", "num_results", "head_limit", "max_matches"]),
    ("ref", &["branch", "revision", "rev", "commit", "git_ref", "tag"]),
    ("depth", &["max_depth", "levels"]),
    ("path_to", &["to", "target", "end"]),
    ("also", &["names", "others", "symbols", "more"]),
    ("tests", &["include_tests", "test"]),
    ("max_tokens", &["budget", "token_budget", "tokens"]),
    ("include_text", &["text", "comments", "include_comments"]),
    ("base_ref", &["base", "from", "before", "old", "since"]),
    ("head_ref", &["head", "to", "after", "new", "branch", "ref"]),
    ("cursor", &["next_cursor", "page_token", "next"]),
    ("workspace", &["repo", "repository", "project", "repo_path", "project_path", "root"]),
];

/// Parameters of other programs that change nothing here: line numbers are always shown.
const IGNORED: &[&str] = &[
    "output_mode",
    "line_numbers",
    "line_number",
    "recursive",
    "-n",
    "explanation",
    "reason",
    "column",
    "col",
    "multiline",
];

/// The names of the first and of the last line of a range.
const STARTS: &[&str] = &["line", "start", "start_line", "line_start", "from_line", "offset", "from"];
const ENDS: &[&str] = &["end", "end_line", "line_end", "to_line", "to"];

/// Other words for the values of parameters.
const WORDS: &[(&str, &[(&str, &str)])] = &[
    (
        "direction",
        &[
            ("caller", "callers"),
            ("incoming", "callers"),
            ("in", "callers"),
            ("up", "callers"),
            ("upstream", "callers"),
            ("callee", "callees"),
            ("outgoing", "callees"),
            ("out", "callees"),
            ("down", "callees"),
            ("downstream", "callees"),
            ("all", "both"),
            ("parents", "ancestors"),
            ("children", "descendants"),
        ],
    ),
    (
        "kind",
        &[
            ("import", "imports"),
            ("call", "calls"),
            ("implement", "implements"),
            ("extend", "extends"),
            ("reference", "references"),
        ],
    ),
    ("tests", &[("true", "include"), ("false", "exclude"), ("yes", "include"), ("no", "exclude"), ("none", "exclude")]),
    (
        "mode",
        &[("exact", "literal"), ("text", "literal"), ("fixed", "literal"), ("semantic", "auto"), ("regexp", "regex")],
    ),
    ("depth", &[("full", "all"), ("1", "top")]),
];

/// Values that mean the same as none.
const NO_REF: &[&str] = &["", "worktree", "@worktree", "current", "working tree"];

impl Understood {
    /// Reads the arguments of a call.
    pub fn new(tool: &ToolSpec, given: Map<String, Value>) -> Self {
        let mut read = Self { values: Map::new(), notes: Vec::new(), ignored: Vec::new() };
        let mut rest = Vec::new();
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            match param(tool, &name).or_else(|| param(tool, &snake_case(&name))) {
                Some(param) => drop(read.values.insert(param.name.to_owned(), value)),
                None => rest.push((name, value)),
            }
        }
        read.place_lines(tool, &mut rest);
        for (name, value) in rest {
            read.place(tool, name, value);
        }
        for param in tool.params.iter().filter(|param| param.is_for(ParamSide::Wire)) {
            read.fix_value(tool, param);
        }
        read
    }

    /// A line for the agent if something was read differently.
    pub fn note(&self) -> String {
        const MAX_CHARS: usize = 160;
        let part = |word: &str, parts: &[String]| {
            (!parts.is_empty()).then(|| format!("{word} {}", truncate_to(&parts.join(", "), MAX_CHARS)))
        };
        let parts = [part("understood", &self.notes), part("ignored", &self.ignored)];
        let note = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        if note.is_empty() { note } else { format!("{}\n", escape_control(&note)) }
    }

    /// Finds the parameter that another name means. A name without one stays, and is refused later.
    fn place(&mut self, tool: &ToolSpec, name: String, value: Value) {
        let word = snake_case(&name);
        let has = |param_name: &str| param(tool, param_name).is_some();
        let flag = as_flag(&value);
        match (word.as_str(), flag) {
            ("case_sensitive", Some(flag)) if has("ignore_case") => {
                return self.set("ignore_case", &name, (!flag).into());
            }
            ("regex" | "is_regex" | "use_regex" | "regexp", Some(flag)) if has("literal") => {
                return self.set("literal", &name, (!flag).into());
            }
            ("regex" | "is_regex" | "use_regex", Some(true)) if has("mode") => {
                return self.set("mode", &name, "regex".into());
            }
            ("literal" | "fixed_strings" | "exact", Some(true)) if has("mode") => {
                return self.set("mode", &name, "literal".into());
            }
            ("exclude_tests", Some(flag)) if has("tests") => {
                return self.set("tests", &name, (if flag { "exclude" } else { "include" }).into());
            }
            _ if IGNORED.contains(&word.as_str()) => return self.ignored.push(name),
            _ => {}
        }
        let is_meant = |(known, others): &&(&str, &[&str])| {
            has(known) && !self.values.contains_key(*known) && others.contains(&word.as_str())
        };
        match ALIASES.iter().find(is_meant) {
            Some((known, _)) => self.set(known, &name, value),
            // The same value twice is no contradiction.
            None if self
                .values
                .values()
                .any(|known| *known == value || *known == Value::Array(vec![value.clone()])) => {}
            None => drop(self.values.insert(name, value)),
        }
    }

    fn set(&mut self, known: &str, name: &str, value: Value) {
        self.notes.push(format!("{name} as {known}"));
        self.values.insert(known.to_owned(), value);
    }

    /// Joins a path with the lines beside it: `path`, `start_line` and `end_line` are one item of `read_code`, and
    /// `path` with `line` names the symbol there.
    fn place_lines(&mut self, tool: &ToolSpec, rest: &mut Vec<(String, Value)>) {
        let takes_items = param(tool, "what").is_some();
        let takes_symbol = param(tool, "symbol_name").is_some() && !self.values.contains_key("symbol_name");
        if !takes_items && !takes_symbol {
            return;
        }
        let take = |rest: &mut Vec<(String, Value)>, names: &[&str]| {
            let at = rest
                .iter()
                .position(|(name, value)| names.contains(&snake_case(name).as_str()) && as_count(value).is_some())?;
            as_count(&rest.remove(at).1)
        };
        let has_lines = |(name, value): &(String, Value)| {
            let is_line = STARTS.contains(&snake_case(name).as_str()) && as_count(value).is_some();
            is_line || snake_case(name) == "lines" || snake_case(name) == "range"
        };
        if !rest.iter().any(has_lines) {
            return;
        }
        let is_path = |(name, value): &(String, Value)| {
            let name = snake_case(name);
            value.is_string() && (name == "path" || name == "what" || name.starts_with("file"))
        };
        let beside = rest.iter().position(is_path).map(|at| rest.remove(at).1);
        let known = if takes_items { "what" } else { "path" };
        let Some(path) = beside.or_else(|| self.values.remove(known)) else { return };
        let path = match path {
            Value::String(path) => path,
            Value::Array(items) if items.len() == 1 && items[0].is_string() => {
                items[0].as_str().unwrap_or_default().to_owned()
            }
            other => return drop(self.values.insert(known.to_owned(), other)),
        };
        let range = rest.iter().position(|(name, _)| matches!(snake_case(name).as_str(), "lines" | "range"));
        let lines = match range.map(|at| rest.remove(at).1) {
            Some(Value::Array(ends)) => ends.iter().filter_map(as_count).map(|end| end.to_string()).collect::<Vec<_>>(),
            Some(Value::String(lines)) => vec![lines],
            Some(value) => as_count(&value).map(|line| line.to_string()).into_iter().collect(),
            None => {
                let start = take(rest, STARTS).unwrap_or(1).max(1);
                let end = take(rest, ENDS).or_else(|| {
                    take(rest, &["limit", "count"]).map(|count| start.saturating_add(count).saturating_sub(1))
                });
                [Some(start), end].into_iter().flatten().map(|line| line.to_string()).collect()
            }
        };
        let place = format!("{path}:{}", lines.join("-"));
        let known = if takes_items { "what" } else { "symbol_name" };
        self.notes.push(format!("the lines as {known}={place}"));
        self.values.insert(known.to_owned(), place.into());
    }

    /// Turns the value of a parameter into its type, if there is only one way to read it.
    fn fix_value(&mut self, tool: &ToolSpec, param: &Param) {
        let Some(value) = self.values.remove(param.name) else { return };
        let is_empty = value.as_str().is_some_and(|text| text.trim().is_empty());
        let is_default = match param.name {
            "ref" => value.as_str().is_some_and(|text| NO_REF.contains(&text.trim())),
            "workspace" => is_empty || value.as_str() == Some("."),
            _ => is_empty && !param.required,
        };
        if is_default {
            return;
        }
        let fixed = match param.kind {
            ParamKind::List => as_list(&value),
            ParamKind::Flag(_) => as_flag(&value).map(Value::from),
            ParamKind::Count(_) => as_count(&value).map(Value::from),
            ParamKind::Choice(words, _) => as_choice(param.name, words, &value),
            ParamKind::Text => return self.fix_text(tool, param, value),
            ParamKind::Share(_) => value.as_str().and_then(|text| text.trim().parse::<f64>().ok()).map(Value::from),
            ParamKind::Object => None,
        };
        // Agents say "all kinds" where leaving the parameter out does.
        let is_all = matches!(param.kind, ParamKind::Choice(_, None)) && value.as_str() == Some("all");
        if !is_all {
            self.values.insert(param.name.to_owned(), fixed.unwrap_or(value));
        }
    }

    /// A text. Of several names, the others are further names; of several paths, any may match.
    fn fix_text(&mut self, tool: &ToolSpec, param: &Param, value: Value) {
        let mut items = match &value {
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
            }
            Value::Number(number) => vec![number.to_string()],
            _ => return drop(self.values.insert(param.name.to_owned(), value)),
        };
        let text = match param.name {
            _ if items.len() == 1 => items.remove(0),
            "symbol_name" | "name" if !items.is_empty() && tool.params.iter().any(|param| param.name == "also") => {
                let first = items.remove(0);
                let also =
                    self.values.remove("also").as_ref().and_then(as_list).unwrap_or_else(|| Value::Array(Vec::new()));
                items.extend(also.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
                self.values.insert("also".into(), items.into());
                first
            }
            "path_filter" => items.join(","),
            "query" => items.join(" "),
            "pattern" => items.join("|"),
            _ => return drop(self.values.insert(param.name.to_owned(), value)),
        };
        self.values.insert(param.name.to_owned(), text.into());
    }
}

/// The parameter of a name that clients may set.
fn param<'t>(tool: &'t ToolSpec, name: &str) -> Option<&'t Param> {
    tool.params.iter().find(|param| param.name == name && param.is_for(ParamSide::Wire))
}

/// `symbolName`, `symbol-name` and `--symbol-name` as `symbol_name`; a short option such as `-C` in lower case.
fn snake_case(name: &str) -> String {
    if name.len() == 2 && name.starts_with('-') {
        return name.to_ascii_lowercase();
    }
    let mut word = String::with_capacity(name.len());
    let mut was_small = false;
    for char in name.trim_start_matches('-').chars() {
        if char.is_ascii_uppercase() && was_small {
            word.push('_');
        }
        was_small = char.is_ascii_lowercase() || char.is_ascii_digit();
        word.push(if char == '-' { '_' } else { char.to_ascii_lowercase() });
    }
    word
}

fn as_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_u64().filter(|number| *number < 2).map(|number| number == 1),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Some(true),
            "false" | "no" | "0" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn as_count(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().trim_start_matches('L').parse().ok(),
        value => value.as_i64(),
    }
}

fn as_choice(name: &str, words: &[&str], value: &Value) -> Option<Value> {
    let text = match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) if items.len() == 1 => items[0].as_str()?.to_owned(),
        value => value.as_str()?.to_owned(),
    };
    let text = text.trim().to_lowercase();
    let other =
        WORDS.iter().filter(|(of, _)| *of == name).flat_map(|(_, pairs)| *pairs).find(|(word, _)| *word == text);
    let word = other.map_or(text.as_str(), |(_, word)| word);
    words.contains(&word).then(|| word.into())
}

/// A list of strings: JSON in a string, lines, items between commas, or one item. Commas inside brackets separate
/// nothing.
fn as_list(value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_number()) => {
            let items = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            return Some(items.collect::<Vec<_>>().into());
        }
        _ => return None,
    };
    if let Ok(Value::Array(items)) = serde_json::from_str(text)
        && items.iter().all(Value::is_string)
    {
        return Some(items.into());
    }
    let mut depth = 0usize;
    let items = text.split(|char: char| {
        match char {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == '\n' || char == ',' && depth == 0
    });
    let items: Vec<&str> = items.map(str::trim).filter(|item| !item.is_empty()).collect();
    Some(items.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::TOOLS;

    /// Reads arguments, and returns them with the note.
    fn read(tool: &str, given: Value) -> (Value, String) {
        let tool = TOOLS.iter().find(|known| known.name == tool).expect("there is such a tool");
        let read = Understood::new(tool, given.as_object().cloned().expect("an object"));
        let note = read.note();
        (Value::Object(read.values), note.trim_end().trim_start_matches("understood ").to_owned())
    }

    #[test]
    fn other_names_are_understood_and_said() {
        let table = [
            (
                "grep_code",
                json!({ "query": "x", "path": "src" }),
                json!({ "pattern": "x", "path_filter": "src" }),
                "query as pattern, path as path_filter",
            ),
            (
                "grep_code",
                json!({ "pattern": "x", "glob": "*.rs" }),
                json!({ "pattern": "x", "path_filter": "*.rs" }),
                "glob as path_filter",
            ),
            (
                "grep_code",
                json!({ "pattern": "x", "-i": true, "-C": 3 }),
                json!({ "pattern": "x", "ignore_case": true, "context": 3 }),
                "-i as ignore_case, -C as context",
            ),
            (
                "grep_code",
                json!({ "pattern": "x", "caseSensitive": false, "regex": false }),
                json!({ "pattern": "x", "ignore_case": true, "literal": true }),
                "caseSensitive as ignore_case, regex as literal",
            ),
            (
                "grep_code",
                json!({ "pattern": "x", "output_mode": "content" }),
                json!({ "pattern": "x" }),
                "ignored output_mode",
            ),
            ("find_references", json!({ "name": "f" }), json!({ "symbol_name": "f" }), "name as symbol_name"),
            (
                "find_references",
                json!({ "symbol": "f", "file": "a.rs" }),
                json!({ "symbol_name": "f", "path": "a.rs" }),
                "symbol as symbol_name, file as path",
            ),
            (
                "find_references",
                json!({ "path": "a.rs", "line": 10 }),
                json!({ "symbol_name": "a.rs:10" }),
                "the lines as symbol_name=a.rs:10",
            ),
            ("get_file_outline", json!({ "file_path": "a.rs" }), json!({ "path": "a.rs" }), "file_path as path"),
            ("read_code", json!({ "path": "a.rs" }), json!({ "what": ["a.rs"] }), "path as what"),
            (
                "read_code",
                json!({ "path": "a.rs", "start_line": 10, "end_line": "40" }),
                json!({ "what": ["a.rs:10-40"] }),
                "the lines as what=a.rs:10-40",
            ),
            (
                "read_code",
                json!({ "file_path": "a.rs", "offset": 10, "limit": 5 }),
                json!({ "what": ["a.rs:10-14"] }),
                "the lines as what=a.rs:10-14",
            ),
            (
                "search_code",
                json!({ "q": "x", "max_results": "5", "path": ["a", "b"] }),
                json!({ "query": "x", "limit": 5, "path_filter": "a,b" }),
                "q as query, max_results as limit, path as path_filter",
            ),
            (
                "search_code",
                json!({ "query": "x", "regex": true }),
                json!({ "query": "x", "mode": "regex" }),
                "regex as mode",
            ),
            (
                "diff_context",
                json!({ "base": "main", "head": "feat" }),
                json!({ "base_ref": "main", "head_ref": "feat" }),
                "base as base_ref, head as head_ref",
            ),
        ];
        for (tool, given, expected, note) in table {
            assert_eq!(read(tool, given.clone()), (expected, note.to_owned()), "{tool} {given}");
        }
    }

    #[test]
    fn values_of_another_type_are_read_silently() {
        let table = [
            ("read_code", json!({ "what": "a.rs:10" }), json!({ "what": ["a.rs:10"] })),
            ("read_code", json!({ "what": "[\"a\", \"b\"]" }), json!({ "what": ["a", "b"] })),
            ("read_code", json!({ "what": "a.rs:1, Map<K, V>\nb" }), json!({ "what": ["a.rs:1", "Map<K, V>", "b"] })),
            (
                "find_references",
                json!({ "symbol_name": ["f", "g"], "also": "h" }),
                json!({ "symbol_name": "f", "also": ["g", "h"] }),
            ),
            (
                "find_references",
                json!({ "symbolName": "f", "limit": "7", "tests": false, "kind": "Call" }),
                json!({ "symbol_name": "f", "limit": 7, "tests": "exclude", "kind": "calls" }),
            ),
            (
                "get_call_graph",
                json!({ "symbol_name": "f", "direction": "incoming", "depth": "2", "ref": "" }),
                json!({ "symbol_name": "f", "direction": "callers", "depth": 2 }),
            ),
            (
                "search_code",
                json!({ "query": 404, "path_filter": "", "kind": "fn" }),
                json!({ "query": "404", "kind": "fn" }),
            ),
            ("grep_code", json!({ "pattern": "x", "literal": "true" }), json!({ "pattern": "x", "literal": true })),
        ];
        for (tool, given, expected) in table {
            assert_eq!(read(tool, given.clone()), (expected, String::new()), "{tool} {given}");
        }
    }

    #[test]
    fn unknown_names_and_contradictions_stay() {
        for given in [json!({ "symbol_name": "f", "colour": 1 }), json!({ "symbol_name": "f", "name": "g" })] {
            assert_eq!(read("find_references", given.clone()), (given, String::new()));
        }
        let twice = json!({ "symbol_name": "f", "name": "f" });
        assert_eq!(read("find_references", twice).0, json!({ "symbol_name": "f" }));
    }

    /// The contracts' own arguments keep their meaning.
    #[test]
    fn own_names_are_left_alone() {
        for tool in TOOLS {
            for one in tool.params.iter().filter(|one| one.is_for(ParamSide::Wire)) {
                let value = match one.kind {
                    ParamKind::Text => json!("x"),
                    ParamKind::Flag(_) => json!(true),
                    ParamKind::Count(_) => json!(3),
                    ParamKind::Share(_) => json!(0.5),
                    ParamKind::Choice(words, _) => json!(words[0]),
                    ParamKind::Object => json!({ "a": 1 }),
                    ParamKind::List => json!(["x"]),
                };
                let given = json!({ one.name: value });
                assert_eq!(read(tool.name, given.clone()), (given, String::new()), "{}", tool.name);
            }
        }
    }
}

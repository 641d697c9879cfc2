//! Answers with machine-dependent and time-dependent text redacted, so that they can be stored in a file and compared.
//!
//! Only these are replaced: the repository's root by `[root]`, the data directory by `[home]`, the commits that a
//! fixture's refs point at by `[commit:NAME]`, points in time by `[timestamp]`, durations by `[time]`, sizes by
//! `[size]`, job ids by `[job]`. JSON is formatted over several lines so that a diff shows the field. The order of an
//! answer's keys is kept.

use std::path::Path;

use serde_json::Value;

use crate::product::Reply;

/// JSON keys that the branch law ignores at any depth: the source of a version, facts known only to git, times, jobs
/// and freshness. Every other byte of an answer for a ref must equal that of a fresh index of the ref alone.
pub const LAW_EXCEPTIONS: &[&str] = &[
    "source_layer",
    "merge_base",
    "merge_base_commit",
    "indexed_commit",
    "last_indexed_commit",
    "last_indexed_at",
    "last_accessed_at",
    "created_at",
    "started_at",
    "finished_at",
    "duration_ms",
    "uptime_seconds",
    "job_id",
    "active_job",
    "recent_jobs",
    "freshness",
    "freshness_status",
];

/// A comparable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code; `None` when a signal ended the process.
    pub code: Option<i32>,
    /// The text on standard error; `None` in an expectation that ignores it.
    pub stderr: Option<String>,
    /// The text on standard output, without trailing white space.
    pub stdout: String,
}

/// Texts that differ between machines, with their placeholders.
#[derive(Clone, Debug, Default)]
pub struct Redactions {
    /// Texts and their placeholders, replaced in this order.
    pub paths: Vec<(String, &'static str)>,
    /// Refs and the ids of their commits; a commit is named by its first ref.
    pub commits: Vec<(String, String)>,
}

impl Redactions {
    /// Creates the redactions for answers about a repository at `root` with a data directory at `home`.
    pub fn new(root: &Path, home: &Path, commits: Vec<(String, String)>) -> Self {
        let forms = |path: &Path, name| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            [(real.display().to_string(), name), (path.display().to_string(), name)]
        };
        let mut places: Vec<_> = [forms(root, "[root]"), forms(home, "[home]")].into_iter().flatten().collect();
        places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self { paths: places, commits }
    }
}

impl Answer {
    /// Redacts a reply.
    pub fn new(reply: &Reply, names: &Redactions) -> Self {
        let clean = |text: &str| redact(&format_json(text, &|_| false), names).trim_end().to_owned();
        Self { code: reply.code, stderr: Some(clean(&reply.stderr)), stdout: clean(&reply.stdout) }
    }

    /// Returns the answer without the JSON fields that the branch law ignores.
    pub fn without_law_exceptions(&self) -> Self {
        let strip = |text: &str| format_json(text, &|key| LAW_EXCEPTIONS.contains(&key));
        Self { code: self.code, stderr: self.stderr.as_deref().map(strip), stdout: strip(&self.stdout) }
    }

    /// Whether an actual answer meets this expectation.
    pub fn accepts(&self, actual: &Self) -> bool {
        *self == actual.comparable_to(self)
    }

    /// Returns the actual answer with standard error only where it counts: after a failure, and where the expectation
    /// has it.
    pub fn comparable_to(&self, expected: &Self) -> Self {
        let counts = expected.stderr.is_some() || self.code != Some(0);
        let stderr = self.stderr.clone().filter(|text| counts && !text.is_empty());
        Self { code: self.code, stderr, stdout: self.stdout.clone() }
    }
}

/// Formats JSON over several lines, without the dropped keys; returns any other text unchanged.
fn format_json(text: &str, dropped: &dyn Fn(&str) -> bool) -> String {
    if !text.trim_start().starts_with(['{', '[']) {
        return text.to_owned();
    }
    let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let Ok(documents) = documents else {
        return text.to_owned();
    };
    let lay_out = |mut value: Value| {
        strip_keys(&mut value, dropped);
        serde_json::to_string_pretty(&value).expect("because a JSON value can be serialized")
    };
    documents.into_iter().map(lay_out).collect::<Vec<_>>().join("\n")
}

fn strip_keys(value: &mut Value, dropped: &dyn Fn(&str) -> bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| strip_keys(item, dropped)),
        Value::Object(fields) => {
            fields.retain(|key, _| !dropped(key));
            for (key, field) in fields.iter_mut() {
                match placeholder_for_key(key) {
                    Some(name) if field.is_number() || field.is_string() => {
                        *field = Value::from(name);
                    }
                    _ => strip_keys(field, dropped),
                }
            }
        }
        _ => {}
    }
}

fn placeholder_for_key(key: &str) -> Option<&'static str> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| key.ends_with(ending));
    match key {
        "job_id" => Some("[job]"),
        _ if ends(&["_ms", "_seconds", "_secs"]) => Some("[time]"),
        _ if ends(&["_bytes"]) => Some("[size]"),
        _ => None,
    }
}

/// Replaces machine-dependent and time-dependent text by placeholders. The function is idempotent.
pub fn redact(text: &str, names: &Redactions) -> String {
    let mut text = text.to_owned();
    for (path, name) in &names.paths {
        text = text.replace(path.as_str(), name);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        // A token starts only outside another one. `:` and `/` continue a token, because of paths and positions such as
        // `a.rs:3`.
        let fresh = !out.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'));
        let found = if fresh { replacement(rest, &out, names) } else { None };
        match found {
            Some((length, name)) => {
                out.push_str(&name);
                rest = &rest[length..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

fn replacement(rest: &str, before: &str, names: &Redactions) -> Option<(usize, String)> {
    let fixed = |(length, name): (usize, &str)| (length, name.to_owned());
    timestamp(rest)
        .map(fixed)
        .or_else(|| commit(rest, names))
        .or_else(|| redact_quantity(rest).map(fixed))
        .or_else(|| job(rest, before).map(fixed))
}

fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

fn digits(text: &str) -> usize {
    run(text, |c| c.is_ascii_digit())
}

/// RFC 3339, as in `2024-01-01T00:00:00.5Z`.
fn timestamp(text: &str) -> Option<(usize, &'static str)> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let head = text.as_bytes().get(..SHAPE.len())?;
    let fits = |(have, shape): (&u8, &u8)| {
        if *shape == b'0' { have.is_ascii_digit() } else { have == shape }
    };
    if !head.iter().zip(SHAPE).all(fits) {
        return None;
    }
    let mut length = SHAPE.len();
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    let zone = &text[length..];
    length += match zone.chars().next()? {
        'Z' => 1,
        '+' | '-' if zone.len() >= 6 && zone.is_char_boundary(6) => 6,
        _ => return None,
    };
    Some((length, "[timestamp]"))
}

/// A commit that a ref of the fixture points at: the full id, or an abbreviation of at least seven characters.
fn commit(text: &str, names: &Redactions) -> Option<(usize, String)> {
    let length = run(text, |c| c.is_ascii_hexdigit());
    if length < 7 || text[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let (name, _) = names.commits.iter().find(|(_, id)| id.starts_with(&text[..length]))?;
    Some((length, format!("[commit:{name}]")))
}

/// A duration or a size: a number, at most one space, a unit.
fn redact_quantity(text: &str) -> Option<(usize, &'static str)> {
    const TIMES: &[&str] = &["ns", "µs", "us", "ms", "s", "sec", "secs", "second", "seconds", "min"];
    const SIZES: &[&str] = &["B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB", "byte", "bytes"];
    let mut length = digits(text);
    if length == 0 {
        return None;
    }
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    length += usize::from(text[length..].starts_with(' '));
    let unit = &text[length..][..run(&text[length..], |c| c.is_alphanumeric() || c == '_')];
    let name = match unit {
        unit if TIMES.contains(&unit) => "[time]",
        unit if SIZES.contains(&unit) => "[size]",
        _ => return None,
    };
    Some((length + unit.len(), name))
}

/// The word after `job`, when it looks like an id.
fn job(text: &str, before: &str) -> Option<(usize, &'static str)> {
    let before = before.trim_end_matches([' ', ':', '"']);
    if !(before.ends_with("job") || before.ends_with("job_id")) {
        return None;
    }
    let length = run(text, |c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let word = &text[..length];
    (length >= 6 && word.contains(|c: char| c.is_ascii_digit())).then_some((length, "[job]"))
}

#[cfg(test)]
mod tests {
    use super::{Answer, Redactions, redact};
    use crate::product::Reply;
    use std::path::Path;

    fn names() -> Redactions {
        let id = "0123456789abcdef0123456789abcdef01234567".to_owned();
        Redactions::new(Path::new("/tmp/x/repo"), Path::new("/tmp/x/repo/home"), vec![("main".to_owned(), id)])
    }

    #[test]
    fn machine_dependent_text_is_redacted() {
        let table = [
            ("in /tmp/x/repo/src and /tmp/x/repo/home/db", "in [root]/src and [home]/db"),
            ("took 12 ms, 1.5s and 3 µs.", "took [time], [time] and [time]."),
            ("at 2026-02-23T10:30:00Z or 2026-02-23T10:30:00.123+01:00", "at [timestamp] or [timestamp]"),
            ("commit 0123456789abcdef0123456789abcdef01234567, 0123456", "commit [commit:main], [commit:main]"),
            ("size 1.2 MiB", "size [size]"),
            ("job 01hx3abc done", "job [job] done"),
        ];
        for (text, expected) in table {
            assert_eq!(redact(text, &names()), expected);
            assert_eq!(redact(expected, &names()), expected);
        }
    }

    #[test]
    fn lookalikes_are_kept() {
        let table =
            ["src/a.rs:3  s", "v1.2", "deadbeef1", "3 files", "x12ms", "2026-02-23", "the job is done", "a 5 é"];
        for text in table {
            assert_eq!(redact(text, &names()), text);
        }
    }

    #[test]
    fn json_is_formatted_and_law_exceptions_dropped() {
        let stdout = r#"{"z":[{"source_layer":"base","path":"a"}],"duration_ms":7,"job_id":null,"a":1.5}"#;
        let reply = Reply { stdout: stdout.to_owned(), stderr: String::new(), code: Some(0) };
        let answer = Answer::new(&reply, &names());
        assert!(answer.stdout.contains("\"duration_ms\": \"[time]\""), "{}", answer.stdout);
        assert!(answer.stdout.contains("\"job_id\": null"), "{}", answer.stdout);
        let under_law = "{\n  \"z\": [\n    {\n      \"path\": \"a\"\n    }\n  ],\n  \"a\": 1.5\n}";
        assert_eq!(answer.without_law_exceptions().stdout, under_law);
    }
}

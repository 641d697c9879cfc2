//! Which paths are meant: patterns as in `.gitignore`, some that let through and some, with `!`, that keep out.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{AppError, Code};

/// See the module. A path is allowed when some pattern lets it through, or there is none that could, and none keeps
/// it out.
#[derive(Clone, Debug)]
pub(crate) struct PathFilter {
    patterns: Vec<String>,
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl PathFilter {
    /// Reads patterns that stand between commas. One without a slash holds at any depth; one that names a folder holds for
    /// all that is in it.
    pub(crate) fn new(patterns: &str) -> Result<Self, AppError> {
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut has_wanted = false;
        let mut all = Vec::new();
        for pattern in split(patterns).into_iter().map(str::trim).filter(|pattern| !pattern.is_empty()) {
            all.push(pattern.to_owned());
            let (into, pattern) = match pattern.strip_prefix('!') {
                Some(rest) => (&mut unwanted, rest),
                None => {
                    has_wanted = true;
                    (&mut wanted, pattern)
                }
            };
            add(into, pattern)?;
        }
        let wanted = if has_wanted { Some(build(&wanted)?) } else { None };
        Ok(Self { patterns: all, wanted, unwanted: build(&unwanted)? })
    }

    /// Whether a path is meant.
    pub(crate) fn allows(&self, path: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(path)) && !self.unwanted.is_match(path)
    }
}

impl fmt::Display for PathFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.patterns.join(","))
    }
}

/// Cuts at commas that do not stand in braces.
fn split(patterns: &str) -> Vec<&str> {
    let mut depth = 0usize;
    patterns
        .split(|char: char| {
            match char {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            char == ',' && depth == 0
        })
        .collect()
}

fn add(into: &mut GlobSetBuilder, pattern: &str) -> Result<(), AppError> {
    let whole = pattern.trim_start_matches("./").trim_end_matches('/');
    let rooted = match whole.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if whole.contains('/') => whole.to_owned(),
        None => format!("**/{whole}"),
    };
    for glob in [rooted.clone(), format!("{rooted}/**")] {
        let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
        into.add(glob.map_err(|error| bad(&error))?);
    }
    Ok(())
}

fn build(patterns: &GlobSetBuilder) -> Result<GlobSet, AppError> {
    patterns.build().map_err(|error| bad(&error))
}

fn bad(error: &globset::Error) -> AppError {
    AppError::new(Code::InvalidInput, format!("A pattern of `path_filter` can not be read: {error}."))
        .data(serde_json::json!({ "parameter": "path_filter" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_let_through_and_keep_out() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("", &["a.rs", "src/a.rs"], &[]),
            ("*.rs", &["a.rs", "src/deep/a.rs"], &["a.py"]),
            ("src/**", &["src/a.rs", "src/x/b.py"], &["a.rs", "lib/src/a.rs"]),
            ("src", &["src/a.rs", "lib/src/a.rs"], &["source/a.rs"]),
            ("src/", &["src/a.rs"], &["a.rs"]),
            ("/src", &["src/a.rs"], &["lib/src/a.rs"]),
            ("crates/app", &["crates/app/a.rs"], &["crates/apple/a.rs"]),
            ("src/*.rs", &["src/a.rs"], &["src/x/a.rs"]),
            ("!tests/**", &["src/a.rs"], &["tests/a.rs"]),
            ("*.{rs,py}, !b.*", &["a.rs", "x/a.py"], &["b.rs", "a.go"]),
            ("./a.rs", &["a.rs", "x/a.rs"], &["b.rs"]),
        ];
        for (patterns, allowed, refused) in table {
            let filter = PathFilter::new(patterns).expect(patterns);
            assert!(allowed.iter().all(|path| filter.allows(path)), "{patterns}");
            assert!(!refused.iter().any(|path| filter.allows(path)), "{patterns}");
        }
        assert!(PathFilter::new("a[").is_err());
    }
}

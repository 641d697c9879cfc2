//! Which paths are meant by `path_filter`: one meaning, wherever it is taken.
//!
//! A value that begins some path of the view is a prefix, whatever its characters. Else, without any of `*?[{!,` and
//! without a slash, it is the name of a file or folder at any depth. Else it is patterns as in ignore files, with commas
//! between them; those with `!` leave out.

use codecompass_store::Snapshot;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::json;

use super::frame::{Kind, Param, optional};
use super::shape::cut;
use crate::error::{AppError, Code};
use crate::paths::{Start, settled};

/// The parameter.
pub(crate) const PATH_FILTER: Param = optional(
    "path_filter",
    Kind::Text,
    "Only these files: the beginning of a path, a file or folder name, or patterns (`src/**,!*_test.go`)",
)
.brief("Path prefix, name, or globs: `src/**,!*_test.go`")
.flag("path-filter")
.value("PATHS");

/// Every character that makes a value patterns.
const SPECIAL: [char; 6] = ['*', '?', '[', '{', '!', ','];

/// See the module. A path is meant when something wants it, or nothing could, and nothing leaves it out.
#[derive(Debug, Default)]
pub(crate) struct PathFilter {
    wanted: Parts,
    unwanted: Parts,
}

/// The maximum number of patterns in all values.
const MAX_PATTERNS: usize = 256;

/// Paths that any of several parts has.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    /// The patterns of all parts: a path is matched against them at once.
    globs: GlobSet,
}

impl Parts {
    fn new(parts: Vec<Part>) -> Result<Self, AppError> {
        let mut globs = GlobSetBuilder::new();
        for part in &parts {
            if let Part::Pattern(_, of_part) = part {
                for glob in of_part {
                    globs.add(glob.clone());
                }
            }
        }
        Ok(Self { parts, globs: globs.build().map_err(|error| bad(&error))? })
    }

    fn has(&self, path: &str) -> bool {
        self.globs.is_match(path) || self.parts.iter().any(|part| part.has_plainly(path))
    }

    fn identity(&self) -> Vec<String> {
        self.parts.iter().map(Part::identity).collect()
    }
}

/// Some paths.
#[derive(Debug)]
enum Part {
    Prefix(String),
    Name(String),
    Pattern(String, Vec<Glob>),
}

/// The paths that a filter is read against.
#[derive(Default)]
pub(crate) struct Known<'v> {
    pub(crate) views: Vec<&'v Snapshot>,
    /// Further ones.
    pub(crate) paths: Vec<&'v str>,
}

impl<'v> Known<'v> {
    /// Those of a view; none where nothing is published.
    pub(crate) fn of(view: Option<&'v Snapshot>) -> Self {
        Self { views: view.into_iter().collect(), paths: Vec::new() }
    }

    fn have_beginning(&self, start: &str) -> Result<bool, AppError> {
        for view in &self.views {
            if view.has_path_beginning(start)? {
                return Ok(true);
            }
        }
        Ok(self.paths.iter().any(|path| path.starts_with(start)))
    }

    fn have(&self, part: Part) -> Result<bool, AppError> {
        let part = Parts::new(vec![part])?;
        for view in &self.views {
            if view.catalogue()?.values().any(|version| part.has(&version.path)) {
                return Ok(true);
            }
        }
        Ok(self.paths.iter().any(|path| part.has(path)))
    }
}

impl PathFilter {
    /// Reads values; what several of them want adds up.
    pub(crate) fn read<S: AsRef<str>>(values: &[S], start: &Start, known: &Known<'_>) -> Result<Self, AppError> {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for value in values.iter().map(AsRef::as_ref).filter(|value| !value.trim().is_empty()) {
            add([&mut wanted, &mut unwanted], value, start, known)?;
        }
        Ok(Self { wanted: Parts::new(wanted)?, unwanted: Parts::new(unwanted)? })
    }

    /// Whether a path is meant.
    pub(crate) fn allows(&self, path: &str) -> bool {
        (self.wanted.parts.is_empty() || self.wanted.has(path)) && !self.unwanted.has(path)
    }

    /// What it was understood as: the same text, the same paths.
    pub(crate) fn identity(&self) -> String {
        format!("{:?} {:?}", self.wanted.identity(), self.unwanted.identity())
    }
}

/// Reads a value and adds its parts.
fn add([wanted, unwanted]: [&mut Vec<Part>; 2], value: &str, start: &Start, known: &Known<'_>) -> Result<(), AppError> {
    for value in [value, value.trim()] {
        if let Some(prefix) = prefix(value, start, known)? {
            wanted.push(Part::Prefix(prefix));
            return Ok(());
        }
    }
    let value = value.trim();
    if !value.contains(SPECIAL) && !value.contains('/') {
        wanted.push(Part::Name(value.to_owned()));
        return Ok(());
    }
    let patterns: Vec<&str> = split(value).into_iter().map(str::trim).filter(|pattern| !pattern.is_empty()).collect();
    if patterns.len() > MAX_PATTERNS {
        let message = format!("`path_filter` has {} patterns: the maximum is {MAX_PATTERNS}.", patterns.len());
        return Err(AppError::new(Code::InvalidInput, message)
            .data(json!({ "parameter": "path_filter", "size": patterns.len(), "maximum": MAX_PATTERNS })));
    }
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) => unwanted.push(part(pattern, start, known)?),
            None => wanted.push(part(pattern, start, known)?),
        }
    }
    Ok(())
}

impl Part {
    /// Whether it has a path, for parts that are no patterns.
    fn has_plainly(&self, path: &str) -> bool {
        match self {
            Part::Prefix(prefix) => path.starts_with(prefix),
            Part::Name(name) => path.split('/').any(|step| step == name),
            Part::Pattern(..) => false,
        }
    }

    fn identity(&self) -> String {
        match self {
            Part::Prefix(prefix) => format!("^{prefix}"),
            Part::Name(name) => format!("={name}"),
            Part::Pattern(pattern, _) => format!("~{pattern}"),
        }
    }
}

/// The value as the beginning of paths that are there.
fn prefix(value: &str, start: &Start, known: &Known<'_>) -> Result<Option<String>, AppError> {
    let readings = match start.readings("path_filter", value) {
        Ok(readings) => readings,
        // Patterns are read one by one; and as in ignore files, one may begin at the root with a slash.
        Err(_) if value.contains(SPECIAL) => return Ok(None),
        Err(_) if value.starts_with('/') => vec![value.trim_start_matches('/').to_owned()],
        Err(error) => return Err(error),
    };
    for reading in &readings {
        if known.have_beginning(reading)? {
            return Ok(Some(reading.clone()));
        }
    }
    let is_elsewhere = value.starts_with('/') && !value.contains(SPECIAL) && start.inside(value).is_none();
    if is_elsewhere { Err(start.outside("path_filter", value)) } else { Ok(None) }
}

/// A pattern. One with a slash begins at the working folder when it then has something, else at the root; others, and those
/// that begin with `**/`, hold at any depth.
fn part(pattern: &str, start: &Start, known: &Known<'_>) -> Result<Part, AppError> {
    let is_anchored = pattern.trim_end_matches('/').contains('/') && !pattern.starts_with("**/");
    if !is_anchored {
        return globs(&format!("**/{}", pattern.trim_start_matches("**/")));
    }
    if pattern.starts_with('/') {
        let inside = start.inside(pattern);
        return globs(inside.as_deref().unwrap_or(pattern.trim_start_matches('/')));
    }
    let here = start.folder().map(|here| globset::escape(&here)).unwrap_or_default();
    let from = |folder: &str| settled(&format!("{folder}{pattern}"));
    let (from_here, from_root) = (from(&here), from(""));
    if let Some(reading) = from_here.filter(|reading| from_root.as_ref() != Some(reading)) {
        if from_root.is_none() || known.have(globs(&reading)?)? {
            return globs(&reading);
        }
    }
    from_root.map_or_else(|| Err(start.outside("path_filter", pattern)), |reading| globs(&reading))
}

/// A pattern from the root. It holds for a file, unless it ends with a slash, and for all that is in a folder.
fn globs(pattern: &str) -> Result<Part, AppError> {
    let whole = pattern.trim_end_matches('/');
    let inside = format!("{whole}/**");
    let file = (whole == pattern).then_some(whole);
    let glob = |glob: &str| GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    let globs: Result<Vec<Glob>, _> = file.into_iter().chain([inside.as_str()]).map(glob).collect();
    Ok(Part::Pattern(pattern.to_owned(), globs.map_err(|error| bad(&error))?))
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

fn bad(error: &globset::Error) -> AppError {
    let error = cut(&error.to_string(), 200);
    AppError::new(Code::InvalidInput, format!("A pattern of `path_filter` can not be read: {error}."))
        .data(json!({ "parameter": "path_filter" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[&str] = &[
        "app/[id]/page.ts",
        "app/i/page.ts",
        "crates/app/src/a.rs",
        "crates/app/tests/t.rs",
        "crates/apple/a.rs",
        "deep/src/b.py",
        "deep/tests/x.py",
        "lib.rs",
        "odd,name!.rs",
        "src/a.rs",
        "src/lib.rs",
        "src/x/a.rs",
    ];

    fn allowed(start: &Start, values: &[&str]) -> Result<Vec<&'static str>, AppError> {
        let known = Known { views: Vec::new(), paths: PATHS.to_vec() };
        let filter = PathFilter::read(values, start, &known)?;
        Ok(PATHS.iter().copied().filter(|path| filter.allows(path)).collect())
    }

    #[track_caller]
    fn expect(start: &Start, table: &[(&[&str], &[&str])]) {
        for (values, expected) in table {
            let found = allowed(start, values).unwrap_or_else(|error| panic!("{values:?}: {}", error.message));
            assert_eq!(found, *expected, "{values:?}");
        }
    }

    #[test]
    fn a_value_is_a_prefix_else_a_name_else_patterns() {
        let table: &[(&[&str], &[&str])] = &[
            (&[], PATHS),
            (&[""], PATHS),
            (&["."], PATHS),
            // Prefixes, whatever their characters.
            (&["src"], &["src/a.rs", "src/lib.rs", "src/x/a.rs"]),
            (&["src/"], &["src/a.rs", "src/lib.rs", "src/x/a.rs"]),
            (&["./src/x"], &["src/x/a.rs"]),
            (&["src/../src/x"], &["src/x/a.rs"]),
            (&["/root/src/x/"], &["src/x/a.rs"]),
            (&["/src/x"], &["src/x/a.rs"]),
            (&["crates/app"], &["crates/app/src/a.rs", "crates/app/tests/t.rs", "crates/apple/a.rs"]),
            (&["crates/app/"], &["crates/app/src/a.rs", "crates/app/tests/t.rs"]),
            (&["app/[id]"], &["app/[id]/page.ts"]),
            (&["odd,name!"], &["odd,name!.rs"]),
            // Names at any depth.
            (&["tests"], &["crates/app/tests/t.rs", "deep/tests/x.py"]),
            (&["page.ts"], &["app/[id]/page.ts", "app/i/page.ts"]),
            (&["est"], &[]),
            // Patterns.
            (&["*.py"], &["deep/src/b.py", "deep/tests/x.py"]),
            (&["**/src/**,!src/**"], &["crates/app/src/a.rs", "deep/src/b.py"]),
            (&["src/*.rs"], &["src/a.rs", "src/lib.rs"]),
            (&["/src/*.rs"], &["src/a.rs", "src/lib.rs"]),
            (&["/root/src/*.rs"], &["src/a.rs", "src/lib.rs"]),
            (&["x/,tests/"], &["crates/app/tests/t.rs", "deep/tests/x.py", "src/x/a.rs"]),
            (&["a.rs/,lib.{rs,py}"], &["lib.rs", "src/lib.rs"]),
            (&["nowhere/"], &[]),
            // What several values want adds up; what one leaves out is out.
            (&["deep", "lib.rs", "!tests"], &["deep/src/b.py", "lib.rs"]),
        ];
        expect(&Start::at("/root", None), table);
    }

    #[test]
    fn on_the_command_line_the_working_folder_comes_first() {
        let table: &[(&[&str], &[&str])] = &[
            (&["."], &["crates/app/src/a.rs", "crates/app/tests/t.rs"]),
            (&["src"], &["crates/app/src/a.rs"]),
            (&["./tests"], &["crates/app/tests/t.rs"]),
            (&["../apple"], &["crates/apple/a.rs"]),
            (&[".."], &["crates/app/src/a.rs", "crates/app/tests/t.rs", "crates/apple/a.rs"]),
            (&["deep"], &["deep/src/b.py", "deep/tests/x.py"]),
            (&["x"], &["src/x/a.rs"]),
            (&["src/*.rs"], &["crates/app/src/a.rs"]),
            (&["deep/*/*.py"], &["deep/src/b.py", "deep/tests/x.py"]),
            (&["**/tests/**"], &["crates/app/tests/t.rs", "deep/tests/x.py"]),
            (&["/root/src/x"], &["src/x/a.rs"]),
        ];
        expect(&Start::at("/root", Some("/root/crates/app")), table);
        expect(&Start::at("/root", Some("/root/app/[id]")), &[(&["./*.ts"], &["app/[id]/page.ts"])]);
        expect(&Start::at("/root", Some("/elsewhere")), &[(&["src/x"], &["src/x/a.rs"]), (&["."], PATHS)]);
    }

    #[test]
    fn what_can_not_be_read_and_what_lies_elsewhere_is_invalid() {
        let table = ["a[", "src/[", "*.{rs", "../etc", "/etc/passwd", "/etc", "src/../../x", "../*.rs", "!../x"];
        for value in table {
            let error = allowed(&Start::at("/root", None), &[value]).expect_err(value);
            assert_eq!((error.code, &error.more.data["parameter"]), (Code::InvalidInput, &"path_filter".into()));
        }
    }
}

//! The `path_filter` parameter, with one definition for all tools.
//!
//! A value that is a prefix of some path of the view is a prefix, whatever its characters. Otherwise, without any of
//! `*?[{!,` and without a slash, it is the name of a file or folder at any depth. Otherwise it is a list of patterns as
//! in ignore files, separated by commas; those with `!` exclude.

use codecompass_store::Snapshot;
use codecompass_wire::ErrorData;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::shape::truncate;
use super::tool_spec::{Param, ParamKind, optional};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::paths::{PathBase, normalize};

/// The parameter.
pub(crate) const PATH_FILTER: Param = optional(
    "path_filter",
    ParamKind::Text,
    "Only these files: a path prefix, a file or folder name, or patterns (`src/**,!*_test.go`)",
)
.brief("Path prefix, name, or globs: `src/**,!*_test.go`")
.flag("path-filter")
.value("PATHS");

/// The characters that make a value a list of patterns.
const SPECIAL: [char; 6] = ['*', '?', '[', '{', '!', ','];

/// A parsed filter. It allows a path if an include part matches it, or there are none, and no exclude part matches it.
#[derive(Debug, Default)]
pub(crate) struct PathFilter {
    wanted: Parts,
    exclude: Parts,
}

/// The maximum number of patterns in all values.
const MAX_PATTERNS: usize = 256;

/// Paths that match any of several parts.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<PathMatcher>,
    /// The patterns of all parts: a path is matched against them at once.
    globs: GlobSet,
}

impl Parts {
    fn new(parts: Vec<PathMatcher>) -> Result<Self, AppError> {
        let mut globs = GlobSetBuilder::new();
        for part in &parts {
            if let PathMatcher::Pattern(_, of_part) = part {
                for glob in of_part {
                    globs.add(glob.clone());
                }
            }
        }
        Ok(Self { parts, globs: globs.build().map_err(|error| invalid_pattern(&error))? })
    }

    fn matches(&self, path: &str) -> bool {
        self.globs.is_match(path) || self.parts.iter().any(|part| part.has_plainly(path))
    }

    fn identity(&self) -> Vec<String> {
        self.parts.iter().map(PathMatcher::identity).collect()
    }
}

/// One part of a filter.
#[derive(Debug)]
enum PathMatcher {
    Prefix(String),
    Name(String),
    Pattern(String, Vec<Glob>),
}

/// The paths that a filter is parsed against.
#[derive(Default)]
pub(crate) struct KnownPaths<'v> {
    pub(crate) views: Vec<&'v Snapshot>,
    /// Additional paths.
    pub(crate) paths: Vec<&'v str>,
}

impl<'v> KnownPaths<'v> {
    /// Those of a view; none if nothing is published.
    pub(crate) fn in_view(view: Option<&'v Snapshot>) -> Self {
        Self { views: view.into_iter().collect(), paths: Vec::new() }
    }

    fn has_prefix(&self, start: &str) -> Result<bool, AppError> {
        for view in &self.views {
            if view.has_path_with_prefix(start)? {
                return Ok(true);
            }
        }
        Ok(self.paths.iter().any(|path| path.starts_with(start)))
    }

    fn has_match(&self, part: PathMatcher) -> Result<bool, AppError> {
        let part = Parts::new(vec![part])?;
        for view in &self.views {
            if view.versions_by_id()?.values().any(|version| part.matches(&version.path)) {
                return Ok(true);
            }
        }
        Ok(self.paths.iter().any(|path| part.matches(path)))
    }
}

impl PathFilter {
    /// Parses values; the include parts of several values are combined.
    pub(crate) fn parse<S: AsRef<str>>(
        values: &[S],
        start: &PathBase,
        known: &KnownPaths<'_>,
    ) -> Result<Self, AppError> {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for value in values.iter().map(AsRef::as_ref).filter(|value| !value.trim().is_empty()) {
            add([&mut wanted, &mut unwanted], value, start, known)?;
        }
        Ok(Self { wanted: Parts::new(wanted)?, exclude: Parts::new(unwanted)? })
    }

    /// Whether the filter allows a path.
    pub(crate) fn allows(&self, path: &str) -> bool {
        (self.wanted.parts.is_empty() || self.wanted.matches(path)) && !self.exclude.matches(path)
    }

    /// The parsed form: filters with the same text allow the same paths.
    pub(crate) fn identity(&self) -> String {
        format!("{:?} {:?}", self.wanted.identity(), self.exclude.identity())
    }
}

/// Parses a value and adds its parts.
fn add(
    [wanted, unwanted]: [&mut Vec<PathMatcher>; 2],
    value: &str,
    start: &PathBase,
    known: &KnownPaths<'_>,
) -> Result<(), AppError> {
    for value in [value, value.trim()] {
        if let Some(prefix) = prefix(value, start, known)? {
            wanted.push(PathMatcher::Prefix(prefix));
            return Ok(());
        }
    }
    let value = value.trim();
    if !value.contains(SPECIAL) && !value.contains('/') {
        wanted.push(PathMatcher::Name(value.to_owned()));
        return Ok(());
    }
    // The end of a path, if nothing begins with it.
    if start.is_forgiving() && !value.contains(SPECIAL) && !known.has_match(parse_pattern(value, start, known)?)? {
        wanted.push(globs(&format!("**/{}", value.trim_matches('/')))?);
        return Ok(());
    }
    let patterns: Vec<&str> = split(value).into_iter().map(str::trim).filter(|pattern| !pattern.is_empty()).collect();
    if patterns.len() > MAX_PATTERNS {
        let message = format!("`path_filter` has {} patterns: the maximum is {MAX_PATTERNS}.", patterns.len());
        return Err(AppError::new(Code::InvalidInput, message).data(ErrorData::too_large(
            "path_filter",
            patterns.len(),
            MAX_PATTERNS,
        )));
    }
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) => unwanted.push(parse_pattern(pattern, start, known)?),
            None => wanted.push(parse_pattern(pattern, start, known)?),
        }
    }
    Ok(())
}

impl PathMatcher {
    /// Whether a part that is not a pattern matches a path.
    fn has_plainly(&self, path: &str) -> bool {
        match self {
            PathMatcher::Prefix(prefix) => path.starts_with(prefix),
            PathMatcher::Name(name) => path.split('/').any(|step| step == name),
            PathMatcher::Pattern(..) => false,
        }
    }

    fn identity(&self) -> String {
        match self {
            PathMatcher::Prefix(prefix) => format!("^{prefix}"),
            PathMatcher::Name(name) => format!("={name}"),
            PathMatcher::Pattern(pattern, _) => format!("~{pattern}"),
        }
    }
}

/// The value as a prefix of existing paths.
fn prefix(value: &str, start: &PathBase, known: &KnownPaths<'_>) -> Result<Option<String>, AppError> {
    let readings = match start.candidates("path_filter", value) {
        Ok(readings) => readings,
        // Patterns are parsed one by one; as in ignore files, a pattern may begin at the root with a slash.
        Err(_) if value.contains(SPECIAL) => return Ok(None),
        Err(_) if value.starts_with('/') => vec![value.trim_start_matches('/').to_owned()],
        Err(error) => return Err(error),
    };
    for reading in &readings {
        if known.has_prefix(reading)? {
            return Ok(Some(reading.clone()));
        }
    }
    let is_elsewhere = value.starts_with('/') && !value.contains(SPECIAL) && start.relative_to_root(value).is_none();
    if is_elsewhere { Err(start.outside_error("path_filter", value)) } else { Ok(None) }
}

/// Parses a pattern. One with a slash begins at the working folder or at the root: at the preferred one if it matches
/// something there, otherwise at the other. Others, and those that begin with `**/`, match at any depth.
fn parse_pattern(pattern: &str, start: &PathBase, known: &KnownPaths<'_>) -> Result<PathMatcher, AppError> {
    let is_anchored = pattern.trim_end_matches('/').contains('/') && !pattern.starts_with("**/");
    if !is_anchored {
        return globs(&format!("**/{}", pattern.trim_start_matches("**/")));
    }
    if pattern.starts_with('/') {
        let inside = start.relative_to_root(pattern);
        return globs(inside.as_deref().unwrap_or(pattern.trim_start_matches('/')));
    }
    let here = start.working_folder_prefix().map(|here| globset::escape(&here)).unwrap_or_default();
    let from = |folder: &str| normalize(&format!("{folder}{pattern}"));
    let (from_here, from_root) = (from(&here), from(""));
    if let Some(reading) = from_here.filter(|reading| from_root.as_ref() != Some(reading))
        && starts_here(start, from_root.as_deref(), &reading, known)?
    {
        return globs(&reading);
    }
    from_root.map_or_else(|| Err(start.outside_error("path_filter", pattern)), |reading| globs(&reading))
}

/// Whether a pattern begins at the working folder rather than at the root.
fn starts_here(
    start: &PathBase,
    from_root: Option<&str>,
    from_here: &str,
    known: &KnownPaths<'_>,
) -> Result<bool, AppError> {
    let Some(from_root) = from_root else { return Ok(true) };
    let is_root_used = start.prefers_root() && known.has_match(globs(from_root)?)?;
    Ok(!is_root_used && known.has_match(globs(from_here)?)?)
}

/// A pattern from the root. It matches a file, unless it ends with a slash, and everything inside a folder.
fn globs(pattern: &str) -> Result<PathMatcher, AppError> {
    let whole = pattern.trim_end_matches('/');
    let inside = format!("{whole}/**");
    let file = (whole == pattern).then_some(whole);
    let glob = |glob: &str| GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    let globs: Result<Vec<Glob>, _> = file.into_iter().chain([inside.as_str()]).map(glob).collect();
    Ok(PathMatcher::Pattern(pattern.to_owned(), globs.map_err(|error| invalid_pattern(&error))?))
}

/// Splits at commas outside of braces.
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

fn invalid_pattern(error: &globset::Error) -> AppError {
    let error = truncate(&error.to_string(), 200);
    AppError::new(Code::InvalidInput, format!("Invalid pattern in `path_filter`: {error}."))
        .data(ErrorData::parameter("path_filter"))
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

    fn allowed(start: &PathBase, values: &[&str]) -> Result<Vec<&'static str>, AppError> {
        let known = KnownPaths { views: Vec::new(), paths: PATHS.to_vec() };
        let filter = PathFilter::parse(values, start, &known)?;
        Ok(PATHS.iter().copied().filter(|path| filter.allows(path)).collect())
    }

    #[track_caller]
    fn expect(start: &PathBase, table: &[(&[&str], &[&str])]) {
        for (values, expected) in table {
            let found = allowed(start, values).unwrap_or_else(|error| panic!("{values:?}: {}", error.message));
            assert_eq!(found, *expected, "{values:?}");
        }
    }

    #[test]
    fn values_are_prefix_then_name_then_patterns() {
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
            // Include parts are combined; an exclude part of any value applies to all.
            (&["deep", "lib.rs", "!tests"], &["deep/src/b.py", "lib.rs"]),
        ];
        expect(&PathBase::new("/root", None), table);
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
        expect(&PathBase::new("/root", Some("/root/crates/app")), table);
        expect(&PathBase::new("/root", Some("/root/app/[id]")), &[(&["./*.ts"], &["app/[id]/page.ts"])]);
        expect(&PathBase::new("/root", Some("/elsewhere")), &[(&["src/x"], &["src/x/a.rs"]), (&["."], PATHS)]);
    }

    #[test]
    fn ends_of_paths_match_where_they_are_accepted() {
        let known = KnownPaths { views: Vec::new(), paths: PATHS.to_vec() };
        let start = PathBase::new("/root", None).forgiving();
        let allowed = |value: &str| {
            let filter = PathFilter::parse(&[value], &start, &known).expect("it is valid");
            PATHS.iter().copied().filter(|path| filter.allows(path)).collect::<Vec<_>>()
        };
        assert_eq!(allowed("app/src"), ["crates/app/src/a.rs"]);
        assert_eq!(allowed("app/src/a.rs"), ["crates/app/src/a.rs"]);
        assert_eq!(allowed("src/x"), ["src/x/a.rs"]);
        assert!(allowed("no/where").is_empty());
    }

    #[test]
    fn invalid_patterns_and_outside_paths_are_errors() {
        let table = ["a[", "src/[", "*.{rs", "../etc", "/etc/passwd", "/etc", "src/../../x", "../*.rs", "!../x"];
        for value in table {
            let error = allowed(&PathBase::new("/root", None), &[value]).expect_err(value);
            let ErrorData::Argument(wrong) = &error.details.data else { panic!("{error:?}") };
            assert_eq!((error.code, &*wrong.parameter), (Code::InvalidInput, "path_filter"));
        }
    }
}

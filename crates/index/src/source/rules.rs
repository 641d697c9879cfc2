//! Decides which files and folders belong to a listing: one engine for work trees and for git trees.
//!
//! From the strongest to the weakest, the first rule that matches a file or folder decides:
//!
//! 1. `.codecompassignore`, for all files; `!pattern` includes again what any rule below excluded, and files marked as
//!    generated (also those below a folder that it includes);
//! 2. `.ignore`, for all files, likewise except for generated files;
//! 3. `.gitignore`, `info/exclude` and the user's global excludes, for untracked files only, and only to exclude;
//! 4. the patterns of the configuration, for all files;
//! 5. the folders excluded by default; those with an ambiguous name (`build`, `dist`, `out`, `target`, `venv`) only if
//!    nothing in them is tracked, and unless a `.gitignore` excepts them with `!`.
//!
//! Each kind of rule file may be in every folder; within a kind the deeper file wins, within a file the last line. As
//! in git, nothing below an excluded folder is checked: to include `vendor/mine/`, include `vendor/` first. No rule
//! includes files that are too large or not regular files, and only the user's own configuration can include files that
//! may hold secrets (`secrets.rs`).
//!
//! Rule files are untrusted input and are bounded: in size, in the patterns in force in one folder, and in total per
//! listing (`bounds.rs`). A rule file that exceeds a limit is not read in part, and files it would exclude are not
//! listed: it counts as the single line `*`, so that it excludes everything in its folder (a `.gitignore`, everything
//! that is untracked). A `.gitattributes` that exceeds a limit marks nothing, since it only marks generated files. Both
//! are counted as [`SkipReason::TooLarge`] with the path of the rule file.
//!
//! A folder is tracked if git's index has a file below it. Tracked files below a git-ignored folder are listed, its
//! untracked files are not. In a git tree everything is tracked, so `.gitignore` files are not read there; in a plain
//! folder nothing is tracked.

use std::sync::Arc;

use codecompass_model::SkipReason;
use codecompass_store::SecretRules;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::attributes::generated_patterns;
use super::builtin_excludes;
use super::{Limits, Secrets, Skips, SourceError};

/// The maximum size of a rule file. Those of large public repositories have a few kilobytes.
pub(super) const MAX_RULE_FILE_BYTES: u64 = 512 << 10;

/// The maximum cost of the patterns that are in force in one folder: its own and those of all folders above it. See
/// [`cost`]. A path is matched against all of them, so this bounds the time per path however deep the files are nested.
const MAX_PATTERN_COST: u64 = 64 << 10;

/// The kinds of rule files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleFile {
    CodeCompass,
    Ignore,
    Git,
    Attributes,
}

impl RuleFile {
    /// Every kind, in the order of [`RuleTexts`].
    pub(super) const ALL: [RuleFile; 4] =
        [RuleFile::CodeCompass, RuleFile::Ignore, RuleFile::Git, RuleFile::Attributes];

    pub(super) fn name(self) -> &'static str {
        match self {
            RuleFile::CodeCompass => ".codecompassignore",
            RuleFile::Ignore => ".ignore",
            RuleFile::Git => ".gitignore",
            RuleFile::Attributes => ".gitattributes",
        }
    }

    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        (name.first() == Some(&b'.')).then(|| Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name))?
    }
}

/// The content of a rule file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum RuleText {
    /// It does not exist or cannot be read.
    #[default]
    Absent,
    /// Its bytes.
    Text(Vec<u8>),
    /// It has more than [`MAX_RULE_FILE_BYTES`].
    TooLarge,
}

/// The contents of a folder's rule files, by [`RuleFile::ALL`].
pub(super) type RuleTexts = [RuleText; 4];

/// The patterns of a rule file exceed a limit.
#[derive(Debug)]
struct TooCostly;

/// The rules of a folder that has any, on top of those of its parents.
pub(super) struct RuleLevel {
    parent: RuleStack,
    /// Length of the folder's path with its closing slash: the prefix to remove before matching.
    prefix: usize,
    /// The cost of its patterns and of those of its parents.
    cost: u64,
    matchers: [Option<Gitignore>; 4],
}

/// The rules in force in a folder, the deepest first; `None` if there are none.
pub(super) type RuleStack = Option<Arc<RuleLevel>>;

/// The state that a folder passes on to its entries.
#[derive(Clone, Copy, Default)]
pub(super) struct Inherited {
    /// It, or a folder above, is ignored by git: untracked files in it are skipped.
    git_ignored: bool,
    /// A `.codecompassignore` includes it, or a folder above.
    explicitly_included: bool,
}

/// The rules for the whole source.
pub(super) struct Rules {
    configured: Option<Gitignore>,
    /// `info/exclude`, then the user's global excludes.
    excludes: Vec<Gitignore>,
    secrets: Secrets,
}

impl Rules {
    /// Creates the rules from the configuration, with git's excludes (from the strongest to the weakest) for untracked
    /// files.
    pub(super) fn new(limits: &Limits, excludes: Vec<Gitignore>) -> Result<Self, SourceError> {
        let mut builder = builder();
        for pattern in &limits.extra_ignore {
            builder
                .add_line(None, pattern)
                .map_err(|error| SourceError::BadPattern { pattern: pattern.clone(), what: error.to_string() })?;
        }
        let configured = builder.build().ok().filter(|matcher| !matcher.is_empty());
        let excludes = excludes.into_iter().filter(|matcher| !matcher.is_empty()).collect();
        Ok(Self { configured, excludes, secrets: limits.secrets()? })
    }

    /// Returns the state to pass on into this folder, or the reason to skip it.
    pub(super) fn enter_folder(
        &self,
        levels: &RuleStack,
        path: &str,
        from: Inherited,
        tracked: bool,
    ) -> Result<Inherited, SkipReason> {
        let asked = |kind| nearest_decision(levels, kind, path, true);
        match asked(RuleFile::CodeCompass) {
            Some(true) => {
                return Ok(Inherited { git_ignored: false, explicitly_included: true });
            }
            Some(false) => return Err(SkipReason::Ignored),
            None => {}
        }
        match asked(RuleFile::Ignore) {
            Some(true) => {
                return Ok(Inherited { git_ignored: false, ..from });
            }
            Some(false) => return Err(SkipReason::Ignored),
            None => {}
        }
        let by_git = if from.git_ignored { Some(false) } else { self.git_decision(levels, path, true) };
        let inherited = Inherited { git_ignored: by_git == Some(false), ..from };
        if inherited.git_ignored && !tracked {
            return Err(SkipReason::Ignored);
        }
        match self.configured_decision(path, true) {
            Some(true) => return Ok(inherited),
            Some(false) => return Err(SkipReason::Ignored),
            None => {}
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let excepted = by_git == Some(true) && builtin_excludes::is_ambiguous_folder(name);
        if builtin_excludes::is_excluded_folder(name, tracked) && !excepted {
            return Err(SkipReason::BuiltinFolder);
        }
        Ok(inherited)
    }

    /// Returns the reason to skip this file, if its path gives one.
    pub(super) fn file_skip_reason(
        &self,
        levels: &RuleStack,
        path: &str,
        from: Inherited,
        tracked: bool,
    ) -> Option<SkipReason> {
        let asked = nearest_decision(levels, RuleFile::CodeCompass, path, false);
        let kept = asked
            .or_else(|| nearest_decision(levels, RuleFile::Ignore, path, false))
            .or_else(|| {
                let ignored = !tracked && (from.git_ignored || self.git_decision(levels, path, false) == Some(false));
                ignored.then_some(false)
            })
            .or_else(|| self.configured_decision(path, false));
        if kept == Some(false) {
            Some(SkipReason::Ignored)
        } else if self.secrets.is_secret_path(path) {
            Some(SkipReason::Secret)
        } else if asked.is_none()
            && !from.explicitly_included
            && nearest_decision(levels, RuleFile::Attributes, path, false) == Some(false)
        {
            Some(SkipReason::Generated)
        } else {
            None
        }
    }

    /// Returns the decision of git's ignore rules, tracked or not: `Some(true)` for an exception.
    fn git_decision(&self, levels: &RuleStack, path: &str, is_folder: bool) -> Option<bool> {
        nearest_decision(levels, RuleFile::Git, path, is_folder)
            .or_else(|| self.excludes.iter().find_map(|matcher| decision(matcher, path, is_folder)))
    }

    fn configured_decision(&self, path: &str, is_folder: bool) -> Option<bool> {
        self.configured.as_ref().and_then(|matcher| decision(matcher, path, is_folder))
    }
}

/// The rules that apply in a folder.
pub(super) struct Descent {
    /// The rules in force.
    pub(super) levels: RuleStack,
    /// The rule files that exceed a limit.
    refused: Vec<RuleFile>,
}

impl Descent {
    /// Counts the rule files that exceed a limit. `folder` is the path with the closing slash.
    pub(super) fn report(&self, folder: &str, skips: &mut Skips) {
        for kind in &self.refused {
            skips.add(SkipReason::TooLarge, &format!("{folder}{}", kind.name()));
        }
    }
}

/// Pushes a folder's rules on top of those above it. `prefix` is the length of its path with the closing slash.
pub(super) fn push_level(above: &RuleStack, prefix: usize, texts: &RuleTexts) -> Descent {
    let mut cost = above.as_ref().map_or(0, |level| level.cost);
    let mut refused = Vec::new();
    let matchers = RuleFile::ALL.map(|kind| {
        let found = match &texts[kind as usize] {
            RuleText::Absent => return None,
            RuleText::TooLarge => Err(TooCostly),
            RuleText::Text(text) => matcher_of(kind, text, &mut cost),
        };
        found.unwrap_or_else(|TooCostly| {
            refused.push(kind);
            (kind != RuleFile::Attributes).then(everything)
        })
    });
    if matchers.iter().all(Option::is_none) {
        return Descent { levels: above.clone(), refused };
    }
    Descent { levels: Some(Arc::new(RuleLevel { parent: above.clone(), prefix, cost, matchers })), refused }
}

/// Returns the matcher of a rule file, and adds its cost to the total.
fn matcher_of(kind: RuleFile, text: &[u8], cost: &mut u64) -> Result<Option<Gitignore>, TooCostly> {
    let text = String::from_utf8_lossy(text);
    match kind {
        RuleFile::Attributes => {
            let lines = generated_patterns(&text);
            matcher(lines.iter().map(String::as_str), cost)
        }
        _ => matcher(text.strip_prefix('\u{feff}').unwrap_or(&text).lines(), cost),
    }
}

/// Returns the patterns of a file like `info/exclude`, relative to the root; `None` if there is no such file.
pub(super) fn patterns(text: &RuleText) -> Option<Gitignore> {
    match text {
        RuleText::Absent => None,
        RuleText::TooLarge => Some(everything()),
        RuleText::Text(text) => matcher_of(RuleFile::Git, text, &mut 0).unwrap_or_else(|TooCostly| Some(everything())),
    }
}

/// Matches every path: the replacement for a rule file that exceeds a limit.
fn everything() -> Gitignore {
    let mut builder = builder();
    let _ = builder.add_line(None, "*");
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Checks that a line of the configuration is a valid pattern.
pub fn check_pattern(pattern: &str) -> Result<(), SourceError> {
    let bad = |error: ignore::Error| SourceError::BadPattern { pattern: pattern.to_owned(), what: error.to_string() };
    builder().add_line(None, pattern).map(drop).map_err(bad)
}

/// Returns the decision of the deepest rule file of this kind that matches the path: `Some(true)` to keep it.
fn nearest_decision(levels: &RuleStack, kind: RuleFile, path: &str, is_folder: bool) -> Option<bool> {
    let mut next = levels.as_ref();
    while let Some(level) = next {
        if let Some(matcher) = &level.matchers[kind as usize]
            && let Some(keep) = decision(matcher, path.get(level.prefix..)?, is_folder)
        {
            return Some(keep);
        }
        next = level.parent.as_ref();
    }
    None
}

fn decision(matcher: &Gitignore, path: &str, is_folder: bool) -> Option<bool> {
    match matcher.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(false),
        Match::Whitelist(_) => Some(true),
    }
}

/// Returns a matcher for these lines; like git, it ignores malformed lines.
fn matcher<'a>(lines: impl Iterator<Item = &'a str> + Clone, sum: &mut u64) -> Result<Option<Gitignore>, TooCostly> {
    let with_these = lines.clone().map(cost).fold(*sum, u64::saturating_add);
    if with_these > MAX_PATTERN_COST {
        return Err(TooCostly);
    }
    *sum = with_these;
    let mut builder = builder();
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    // The lines were parsed one by one; this fails only if the automaton of all of them is too large.
    let matcher = builder.build().map_err(|_| TooCostly)?;
    Ok(Some(matcher).filter(|matcher| !matcher.is_empty()))
}

/// Returns the cost of a line when a path is matched. Plain names and extensions are looked up in a table and cost 1
/// each, regardless of their number. All others become one automaton whose size grows with their length, so they cost
/// their length.
fn cost(line: &str) -> u64 {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return 0;
    }
    let pattern = line.strip_prefix('!').unwrap_or(line);
    let rest = pattern.strip_prefix("*.").filter(|rest| !rest.contains(['/', '.'])).unwrap_or(pattern);
    if rest.contains(['*', '?', '[', '{', '\\']) { line.len() as u64 } else { 1 }
}

/// All paths are already relative when they are matched, so the matcher must not strip a prefix itself.
fn builder() -> GitignoreBuilder {
    GitignoreBuilder::new(".")
}

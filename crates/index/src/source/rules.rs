//! Which files and folders belong to a listing: one engine for work trees and for git trees.
//!
//! From the strongest to the weakest, the first rule that speaks of a file or folder decides:
//!
//! 1. `.codecompassignore`, for all files; `!pattern` brings back what any rule below took away, and files marked as
//!    generated (those below a folder that it brings back, too);
//! 2. `.ignore`, for all files, likewise but for generated files;
//! 3. `.gitignore`, `info/exclude` and the user's global excludes, for untracked files only, and only to take away;
//! 4. the patterns of the configuration, for all files;
//! 5. the folders left out by default; those whose name is ambiguous (`build`, `dist`, `out`, `target`, `venv`) only
//!    where nothing in them is tracked, and unless a `.gitignore` excepts them with `!`.
//!
//! Each kind of file may stand in every folder; within a kind the deeper file wins, within a file the last line. As in
//! git, nothing below a left-out folder is looked at: to bring back `vendor/mine/`, bring back `vendor/` first. No rule
//! brings back files that are too large or no regular files, and only the user's own configuration those that may hold
//! secrets (`secrets.rs`).
//!
//! Rule files are foreign input and are bounded: in size, in the patterns in force in one folder, and in sum per listing
//! (`bounds.rs`). A rule file that exceeds a limit is not read in part, and what it would leave out is not listed: it
//! counts as the single line `*`, so that it leaves out everything in its folder (a `.gitignore`, all that is
//! untracked). A `.gitattributes` that exceeds a limit marks nothing, since it only tells generated files. Both are
//! counted as [`SkipReason::TooLarge`] with the path of the rule file.
//!
//! A folder is tracked when git's index has a file below it. Tracked files below a git-ignored folder are listed, its
//! untracked files are not. In a git tree everything is tracked, so `.gitignore` files are not even read there; in a
//! plain folder nothing is.

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

/// The kinds of files that hold rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleFile {
    CodeCompass,
    Ignore,
    Git,
    Attributes,
}

impl RuleFile {
    /// Every kind, by its place in [`RuleTexts`].
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
    /// There is none, or it can not be read.
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

/// The rules of a folder that has any, above those of its parents.
pub(super) struct RuleLevel {
    parent: RuleStack,
    /// Length of the folder's path with its closing slash: what to cut off before matching.
    prefix: usize,
    /// The cost of its patterns and of those of its parents.
    cost: u64,
    matchers: [Option<Gitignore>; 4],
}

/// The rules in force in a folder, the deepest first; `None` where nobody wrote any.
pub(super) type RuleStack = Option<Arc<RuleLevel>>;

/// What a folder hands down to what is in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Inherited {
    /// It, or a folder above, is ignored by git: untracked files in it are left out.
    git_ignored: bool,
    /// A `.codecompassignore` asked for it, or for a folder above.
    explicitly_included: bool,
}

/// The rules that hold for the whole source.
pub(super) struct Rules {
    configured: Option<Gitignore>,
    /// `info/exclude`, then the user's global excludes.
    excludes: Vec<Gitignore>,
    secrets: Secrets,
}

impl Rules {
    /// The rules of the configuration, with git's excludes (from the stronger to the weaker) for untracked files.
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

    /// What to hand down into this folder, or why to leave it out.
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

    /// Why to leave out this file, if there is a reason in its path.
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

    /// What git's ignore rules say, tracked or not: `Some(true)` for an exception.
    fn git_decision(&self, levels: &RuleStack, path: &str, is_folder: bool) -> Option<bool> {
        nearest_decision(levels, RuleFile::Git, path, is_folder)
            .or_else(|| self.excludes.iter().find_map(|matcher| decision(matcher, path, is_folder)))
    }

    fn configured_decision(&self, path: &str, is_folder: bool) -> Option<bool> {
        self.configured.as_ref().and_then(|matcher| decision(matcher, path, is_folder))
    }
}

/// What holds in a folder.
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

/// Puts a folder's rules on top of those above it. `prefix` is the length of its path with the closing slash.
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

/// The matcher of a rule file, whose cost is added to the sum so far.
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

/// The patterns of a file like `info/exclude`, relative to the root; `None` when there is no such file.
pub(super) fn patterns(text: &RuleText) -> Option<Gitignore> {
    match text {
        RuleText::Absent => None,
        RuleText::TooLarge => Some(everything()),
        RuleText::Text(text) => matcher_of(RuleFile::Git, text, &mut 0).unwrap_or_else(|TooCostly| Some(everything())),
    }
}

/// Matches every path: what a rule file that exceeds a limit counts as.
fn everything() -> Gitignore {
    let mut builder = builder();
    let _ = builder.add_line(None, "*");
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Whether a line of the configuration can be read as a pattern.
pub fn check_pattern(pattern: &str) -> Result<(), SourceError> {
    let bad = |error: ignore::Error| SourceError::BadPattern { pattern: pattern.to_owned(), what: error.to_string() };
    builder().add_line(None, pattern).map(drop).map_err(bad)
}

/// What the deepest rule file of this kind that speaks of the path says: `Some(true)` to keep it.
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

/// A matcher of these lines; like git, it passes over those it can not read.
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
    // The lines were read one by one; what fails here is the automaton of them all, by its size.
    let matcher = builder.build().map_err(|_| TooCostly)?;
    Ok(Some(matcher).filter(|matcher| !matcher.is_empty()))
}

/// What a line costs when a path is matched. Plain names and extensions are looked up in a table and cost 1 each, however
/// many there are. All others become one automaton whose size grows with their length, so they cost their length.
fn cost(line: &str) -> u64 {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return 0;
    }
    let pattern = line.strip_prefix('!').unwrap_or(line);
    let rest = pattern.strip_prefix("*.").filter(|rest| !rest.contains(['/', '.'])).unwrap_or(pattern);
    if rest.contains(['*', '?', '[', '{', '\\']) { line.len() as u64 } else { 1 }
}

/// All matching is done on paths that are already relative, so the matcher must not cut anything off itself.
fn builder() -> GitignoreBuilder {
    GitignoreBuilder::new(".")
}

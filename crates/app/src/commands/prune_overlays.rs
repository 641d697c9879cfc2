//! `codecompass prune-overlays`: removes unused views and frees their space.

use std::collections::HashSet;
use std::path::Path;

use codecompass_index::source::{Repo, SourceError, Workspace};
use codecompass_model::ViewKey;
use codecompass_store::{PruneOutcome, ViewInfo, prune};
use codecompass_wire::commands::views as wire;

use super::state::{view_kind, view_name};
use crate::cli::{Common, PruneArgs};
use codecompass_workspace::clock::time_text;
use codecompass_workspace::clock::{DAY, now_ms};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::{bytes_text, count_with_noun};
use codecompass_workspace::output::Answer;
use codecompass_workspace::session::{Session, kill_point};
use codecompass_workspace::views::published_for_target;
use codecompass_workspace::worktrees;

/// Why a view is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PruneReason {
    /// Unused for this number of days.
    Inactive(i64),
    /// The branch, tag or commit no longer exists in git.
    NotInGit,
    /// The folder of the work tree no longer exists.
    NoFolder,
}

impl PruneReason {
    fn as_str(self) -> &'static str {
        match self {
            PruneReason::Inactive(_) => "inactive",
            PruneReason::NotInGit => "not_in_git",
            PruneReason::NoFolder => "no_folder",
        }
    }

    fn phrase(self) -> String {
        match self {
            PruneReason::Inactive(days) => format!("not used for {days} days"),
            PruneReason::NotInGit => "no longer in git".into(),
            PruneReason::NoFolder => "its folder is gone".into(),
        }
    }
}

pub(crate) fn run(common: &Common, args: &PruneArgs) -> Result<Answer, AppError> {
    let session = Session::open(&common.session_options(), None)?;
    let store = session.store()?;
    let rules = PruneRules::new(&session, args.older_than)?;
    let views = store.views()?;
    for view in &views {
        session.log_verbose(1, || {
            format!("{}: {}", view.key, rules.prune_reason(view).map_or("stays".into(), PruneReason::phrase))
        });
    }
    let pruned = match args.dry_run {
        true => PruneOutcome {
            views: views.iter().filter(|view| rules.prune_reason(view).is_some()).cloned().collect(),
            bytes_before: session.dir.disk_bytes(),
            ..PruneOutcome::default()
        },
        false => {
            drop(store);
            let choose = |views: &[ViewInfo]| -> Vec<ViewKey> {
                views.iter().filter(|view| rules.prune_reason(view).is_some()).map(|view| view.key.clone()).collect()
            };
            prune(&session.dir, &choose, kill_point(), rules.now)?
        }
    };
    if !args.dry_run {
        let gone = pruned.views.iter().filter(|view| !matches!(view.key, ViewKey::Worktree(_)));
        for view in gone {
            // After its view: a folder left behind by a kill is recreated or removed with the next view of its name.
            if worktrees::remove(&session, &view_name(&view.key))? {
                session.log_verbose(1, || format!("{}: removed its managed worktree", view.key));
            }
        }
    }
    answer(&session, args, &rules, &views, &pruned)
}

/// The rules for pruning.
struct PruneRules<'a> {
    repo: Option<&'a Repo>,
    default: Option<String>,
    /// Branches, and commits of detached heads, that are checked out in an existing work tree.
    checked_out: HashSet<ViewKey>,
    now: i64,
    older_than: i64,
}

impl<'a> PruneRules<'a> {
    fn new(session: &'a Session, days: u32) -> Result<Self, AppError> {
        let repo = session.workspace.repo.as_ref();
        let mut checked_out = HashSet::new();
        for root in repo.map(|repo| repo.worktrees()).transpose()?.into_iter().flatten() {
            let opened = Workspace::discover(&root, None).ok().and_then(|workspace| workspace.repo);
            let Some(head) = opened.and_then(|repo| repo.head().ok()) else { continue };
            checked_out.extend(head.branch.map(ViewKey::Ref).or(head.commit.map(ViewKey::Commit)));
        }
        let older_than = i64::from(days) * DAY;
        Ok(Self { repo, default: session.default_branch(), checked_out, now: now_ms(), older_than })
    }

    /// Why a view is removed; `None` if it stays.
    fn prune_reason(&self, view: &ViewInfo) -> Option<PruneReason> {
        let is_default = matches!(&view.key, ViewKey::Ref(name) if self.default.as_ref() == Some(name));
        if is_default || self.checked_out.contains(&view.key) {
            return None;
        }
        if let ViewKey::Worktree(root) = &view.key {
            return (!Path::new(root).is_dir()).then_some(PruneReason::NoFolder);
        }
        if !self.is_in_git(&view.key) {
            return Some(PruneReason::NotInGit);
        }
        let idle = self.now.saturating_sub(view.last_accessed_at);
        (idle >= self.older_than).then_some(PruneReason::Inactive(idle / DAY))
    }

    /// Whether git still has the ref or commit of a view. If that is unknown, the view counts as existing.
    fn is_in_git(&self, key: &ViewKey) -> bool {
        let Some(repo) = self.repo else { return false };
        match repo.resolve(&view_name(key)) {
            Ok(resolved) => resolved.key == *key,
            Err(error) => !matches!(
                error,
                SourceError::UnknownRef { .. } | SourceError::NotACommit { .. } | SourceError::MissingObject { .. }
            ),
        }
    }
}

fn answer(
    session: &Session,
    args: &PruneArgs,
    rules: &PruneRules<'_>,
    before: &[ViewInfo],
    pruned: &PruneOutcome,
) -> Result<Answer, AppError> {
    let here = session.target(None)?;
    let metadata = session.metadata(&here, published_for_target(&session.store()?, &here)?.as_ref());
    let removed = wire::Removed {
        removed_file_versions: pruned.removed_versions,
        bytes_after: pruned.bytes_after,
        bytes_freed: if pruned.is_freed { freed_bytes(pruned) } else { 0 },
        space_freed: pruned.is_freed,
    };
    let answer = wire::Prune {
        dry_run: args.dry_run,
        older_than_days: args.older_than,
        pruned: pruned.views.iter().map(|view| pruned_view(rules, view)).collect(),
        kept: before.len().saturating_sub(pruned.views.len()),
        bytes_before: pruned.bytes_before,
        removed: (!args.dry_run).then_some(removed),
        metadata,
    };
    Ok(Answer { text: text(args, rules, pruned), ..Answer::from_wire(&answer, 0)? })
}

fn freed_bytes(pruned: &PruneOutcome) -> u64 {
    pruned.bytes_before.saturating_sub(pruned.bytes_after)
}

fn pruned_view(rules: &PruneRules<'_>, view: &ViewInfo) -> wire::PrunedView {
    wire::PrunedView {
        ref_name: view_name(&view.key),
        kind: view_kind(&view.key).into(),
        reason: rules.prune_reason(view).map(|reason| reason.as_str().into()),
        last_accessed_at: time_text(view.last_accessed_at),
        file_count: view.totals.files as u64,
    }
}

fn text(args: &PruneArgs, rules: &PruneRules<'_>, pruned: &PruneOutcome) -> String {
    let mut text = match (pruned.views.len(), args.dry_run) {
        (0, _) => format!("Nothing to prune: all views were used in the last {} days\n", args.older_than),
        (count, true) => format!("Would prune {count}:\n"),
        (count, false) => format!("Pruned {count}:\n"),
    };
    for view in &pruned.views {
        let why = rules.prune_reason(view).map(PruneReason::phrase).unwrap_or_default();
        text += &format!("  {} {} ({why})\n", view_kind(&view.key), escape_control(&view_name(&view.key)));
    }
    if args.dry_run || (pruned.views.is_empty() && pruned.removed_versions == 0) {
        return text;
    }
    let (before, after) = (bytes_text(pruned.bytes_before), bytes_text(pruned.bytes_after));
    text += &format!("{} removed; the index was {before}", count_with_noun(pruned.removed_versions, "file version"));
    text += &match pruned.is_freed {
        true => format!(" and is {after}: {} freed\n", bytes_text(freed_bytes(pruned))),
        false => format!(" and is {after}; the old one is still in use, and a later write frees it\n"),
    };
    text
}

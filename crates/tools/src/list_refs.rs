//! `list_refs`: the indexed branches and tags, and what each adds.

use std::collections::HashSet;

use codecompass_index::Target;
use codecompass_index::source::{ContentSource, Entry};
use codecompass_model::ViewKey;
use codecompass_store::{RoaringBitmap, Store, ViewInfo};
use codecompass_wire::{list_refs as wire, schema};

use super::tool_spec::{Effect, ToolCall, ToolSpec, WORKSPACE};
use crate::call::host::UnknownWorkspace;
use codecompass_workspace::clock::time_text;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::count_with_noun;
use codecompass_workspace::metadata::{Freshness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render, style};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::published_for_target;

pub const TOOL: ToolSpec = ToolSpec {
    name: "list_refs",
    title: "List indexed refs",
    description: "The indexed branches and tags with commit, status and additions since the merge base. \
                  Any of them can be given as `ref` to the other tools.",
    params: &[WORKSPACE],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let held = call.session(UnknownWorkspace::Project)?;
        let explained = |error: AppError| held.with_project_context(error, None);
        let target = call.target(&held)?;
        held.store().map_err(explained)?;
        let freshness = call.freshness(&held, &target);
        answer(call.context.form, &held, &target, freshness, &|target| held.is_syncing(target)).map_err(explained)
    }),
};

/// Answers for a workspace. `is_indexing` reports the jobs of this process.
fn answer(
    form: OutputFormat,
    session: &Session,
    target: &Target,
    freshness: Freshness,
    is_indexing: &dyn Fn(&Target) -> bool,
) -> Result<Answer, AppError> {
    let store = session.store()?;
    let own = store.view(&target.key)?;
    let default = session.default_branch();
    let views = store.views()?;
    let mut listed: Vec<&ViewInfo> = views.iter().filter(|view| matches!(view.key, ViewKey::Ref(_))).collect();
    // A work tree on a branch without commits, or on no branch, gets its own row.
    let is_named = |name: &str| views.iter().any(|view| view.key == ViewKey::Ref(name.to_owned()));
    listed.extend(own.iter().filter(|view| !is_named(&view.ref_name)));
    let is_default = |view: &ViewInfo| default.as_ref().is_none_or(|default| *default == view.ref_name);
    listed.sort_by(|a, b| (!is_default(a), &a.ref_name).cmp(&(!is_default(b), &b.ref_name)));
    let base = views.iter().find(|view| default.as_ref().is_some_and(|name| view.key == ViewKey::Ref(name.clone())));
    let mut refs = Vec::with_capacity(listed.len());
    for view in listed {
        let base = base.filter(|_| !is_default(view));
        // A commit that git no longer has cannot be compared.
        let added = base.and_then(|base| AddedOnRef::since_merge_base(session, &store, base, view).unwrap_or_default());
        let status = status(session, view, is_indexing);
        refs.push(RefRow { view, is_default: is_default(view), added, status });
    }
    let mut metadata = session.metadata(target, published_for_target(&store, target)?.as_ref());
    metadata.freshness = freshness;
    Answer::render(form, 0, RefsAnswer { refs, vcs: session.vcs(), metadata })
}

/// A ref in the list.
struct RefRow<'v> {
    view: &'v ViewInfo,
    is_default: bool,
    added: Option<AddedOnRef>,
    status: &'static str,
}

impl RefRow<'_> {
    fn files(&self) -> u64 {
        self.added.as_ref().map_or(self.view.totals.files as u64, |added| added.files)
    }

    fn symbols(&self) -> u64 {
        self.added.as_ref().map_or(self.view.totals.symbols as u64, |added| added.symbols)
    }

    fn distance(&self) -> Option<(u64, u64)> {
        self.added.as_ref().and_then(|added| added.distance)
    }

    fn wire(&self) -> wire::RefState {
        let distance = self.distance();
        wire::RefState {
            ref_name: self.view.ref_name.clone(),
            is_default: self.is_default,
            last_indexed_commit: self.view.commit.clone(),
            merge_base_commit: self.added.as_ref().map(|added| added.merge_base.clone()),
            file_count: self.files(),
            symbol_count: self.symbols(),
            status: self.status.into(),
            last_accessed_at: time_text(self.view.last_accessed_at),
            ahead: distance.map(|(ahead, _)| ahead),
            behind: distance.map(|(_, behind)| behind),
        }
    }

    fn text(&self) -> String {
        let commit: String = self.view.commit.iter().flat_map(|commit| commit.chars()).take(10).collect();
        let added = if self.added.is_some() { "+" } else { "" };
        let distance = self.distance().map(|(ahead, behind)| format!(", {ahead} ahead, {behind} behind"));
        let default = if self.is_default { ", default" } else { "" };
        format!(
            "{} {} {added}{}, {added}{}, {}{default}{}\n",
            style::name(&escape_control(&self.view.ref_name)),
            style::dim(&commit),
            count_with_noun(self.files(), "file"),
            count_with_noun(self.symbols(), "symbol"),
            self.status,
            distance.unwrap_or_default(),
        )
    }
}

/// The answer.
struct RefsAnswer<'v> {
    refs: Vec<RefRow<'v>>,
    vcs: bool,
    metadata: Metadata,
}

impl Render for RefsAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(wire::Answer {
            total_refs: self.refs.len(),
            refs: self.refs.iter().map(RefRow::wire).collect(),
            vcs_mode: self.vcs,
            metadata: self.metadata,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        let text: String = self.refs.iter().map(RefRow::text).collect();
        let text = if text.is_empty() { "Nothing is indexed yet.\n".into() } else { text };
        Ok(text + &self.metadata.notes())
    }
}

/// Whether the ref still points to the indexed commit.
fn status(session: &Session, view: &ViewInfo, is_indexing: &dyn Fn(&Target) -> bool) -> &'static str {
    let Ok(target) = session.target(Some(&view.ref_name)) else { return "stale" };
    let is_moving =
        is_indexing(&target) || session.active_job().is_some_and(|job| job.view.as_ref() == Some(&view.key));
    match (is_moving, target.commit == view.commit) {
        (true, _) => "indexing",
        (false, true) => "active",
        (false, false) => "stale",
    }
}

/// The changes of a ref since its merge base.
struct AddedOnRef {
    merge_base: String,
    files: u64,
    symbols: u64,
    /// The number of commits ahead of and behind the default branch.
    distance: Option<(u64, u64)>,
}

impl AddedOnRef {
    fn since_merge_base(
        session: &Session,
        store: &Store,
        base: &ViewInfo,
        view: &ViewInfo,
    ) -> Result<Option<Self>, AppError> {
        let (Some(repo), Some(default), Some(head)) = (&session.workspace.repo, &base.commit, &view.commit) else {
            return Ok(None);
        };
        let Some(merge_base) = repo.merge_base(default, head)? else { return Ok(None) };
        let snapshot = store.snapshot(&view.key)?;
        let added: RoaringBitmap = match snapshot.members_of(&base.key)? {
            Some(members) if merge_base == *default => snapshot.members() - members,
            _ => {
                let listing = repo.list_commit(&merge_base, &session.limits())?;
                let blob = |entry: &'_ Entry| match entry.source {
                    ContentSource::Blob(blob) => Some(blob),
                    ContentSource::File { index_blob, .. } => index_blob,
                };
                let known: HashSet<(&str, _)> =
                    listing.entries.iter().filter_map(|entry| Some((entry.path.as_str(), blob(entry)?))).collect();
                let is_new =
                    |version: &codecompass_store::VersionInfo| !known.contains(&(version.path.as_str(), version.blob));
                snapshot.versions()?.iter().filter(|version| is_new(version)).map(|version| version.id).collect()
            }
        };
        let distance = repo.ahead_behind(default, head).unwrap_or_default();
        Ok(Some(Self { merge_base, files: added.len(), symbols: store.symbol_count(&added)?, distance }))
    }
}

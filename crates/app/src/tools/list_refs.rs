//! `list_refs`: which branches and tags are indexed, and what each adds.

use std::collections::HashSet;

use codecompass_index::Target;
use codecompass_index::source::{Entry, Place};
use codecompass_model::ViewKey;
use codecompass_store::{RoaringBitmap, Store, ViewInfo};
use serde_json::{Value, json};

use super::frame::{Effect, Tool, WORKSPACE, schema};
use super::index_status::time_text;
use crate::error::AppError;
use crate::escape::shown;
use crate::measure::count_text;
use crate::output::{Answer, style};
use crate::published::under_its_name;
use crate::server::places::Unknown;
use crate::session::Session;

pub(crate) const TOOL: Tool = Tool {
    name: "list_refs",
    title: "List indexed refs",
    description: "The indexed branches and tags with their commit, status and what each adds over its merge base. \
                  Any of them can be given as `ref` to the other tools.",
    params: &[WORKSPACE],
    output: || {
        let one = schema::object(
            &["ref", "status", "last_accessed_at"],
            &["file_count", "symbol_count", "ahead", "behind"],
            &[
                ("is_default", schema::flag()),
                ("last_indexed_commit", schema::text_or_null()),
                ("merge_base_commit", schema::text_or_null()),
            ],
        );
        json!({ "refs": schema::list(one), "total_refs": schema::count(), "vcs_mode": schema::flag() })
    },
    always: &["refs", "total_refs", "vcs_mode"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let visit = call.visit(Unknown::Project)?;
        let session = &visit.place.session;
        let explained = |error: AppError| session.explain(error, None);
        let target = call.target(&visit)?;
        let freshness = call.freshness(&visit, &target);
        let is_indexing = |target: &Target| call.server.jobs.of_view(&session.project_id, target).is_some();
        answer(session, &target, freshness, &is_indexing).map_err(explained)
    },
};

/// Answers for a workspace. `is_indexing` knows of jobs that only this process has.
pub(crate) fn answer(
    session: &Session,
    target: &Target,
    freshness: &'static str,
    is_indexing: &dyn Fn(&Target) -> bool,
) -> Result<Answer, AppError> {
    let store = session.store()?;
    let own = store.view(&target.key)?;
    let default = session.default_branch();
    let views = store.views()?;
    let mut listed: Vec<&ViewInfo> = views.iter().filter(|view| matches!(view.key, ViewKey::Ref(_))).collect();
    // A work tree whose branch has no commit yet, or none at all, is listed for itself.
    let is_named = |name: &str| views.iter().any(|view| view.key == ViewKey::Ref(name.to_owned()));
    listed.extend(own.iter().filter(|view| !is_named(&view.ref_name)));
    let is_default = |view: &ViewInfo| default.as_ref().is_none_or(|default| *default == view.ref_name);
    listed.sort_by(|a, b| (!is_default(a), &a.ref_name).cmp(&(!is_default(b), &b.ref_name)));
    let base = views.iter().find(|view| default.as_ref().is_some_and(|name| view.key == ViewKey::Ref(name.clone())));
    let mut refs = Vec::with_capacity(listed.len());
    for view in listed {
        let base = base.filter(|_| !is_default(view));
        // What git does not have any more can not be compared with anything.
        let added = base.and_then(|base| Added::over(session, &store, base, view).unwrap_or_default());
        let mut one = json!({
            "ref": view.ref_name,
            "is_default": is_default(view),
            "last_indexed_commit": view.commit,
            "merge_base_commit": added.as_ref().map(|added| &added.merge_base),
            "file_count": added.as_ref().map_or(view.totals.files as u64, |added| added.files),
            "symbol_count": added.as_ref().map_or(view.totals.symbols as u64, |added| added.symbols),
            "status": status(session, view, is_indexing),
            "last_accessed_at": time_text(view.last_accessed_at),
        });
        if let Some((ahead, behind)) = added.and_then(|added| added.distance) {
            one["ahead"] = json!(ahead);
            one["behind"] = json!(behind);
        }
        refs.push(one);
    }
    let mut metadata = session.metadata(target, under_its_name(&store, target)?.as_ref());
    metadata.freshness = freshness;
    Ok(Answer {
        text: text(&refs) + &metadata.warnings_text(),
        json: json!({
            "total_refs": refs.len(),
            "refs": refs,
            "vcs_mode": session.vcs(),
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
}

fn text(refs: &[Value]) -> String {
    let mut text = String::new();
    for one in refs {
        let word = |name: &str| shown(one[name].as_str().unwrap_or_default()).into_owned();
        let commit: String = word("last_indexed_commit").chars().take(10).collect();
        let count = |name: &str| count_text(one[name].as_u64().unwrap_or_default());
        let added = if one["merge_base_commit"].is_null() { "" } else { "+" };
        let distance = match (one["ahead"].as_u64(), one["behind"].as_u64()) {
            (Some(ahead), Some(behind)) => format!(", {ahead} ahead, {behind} behind"),
            _ => String::new(),
        };
        let default = if one["is_default"] == true { ", default" } else { "" };
        text += &format!(
            "{}  {}  {added}{} files, {added}{} symbols  {}{default}{distance}\n",
            style::name(&word("ref")),
            style::dim(&commit),
            count("file_count"),
            count("symbol_count"),
            word("status"),
        );
    }
    if text.is_empty() { "Nothing is indexed yet.\n".into() } else { text }
}

/// Whether the ref still stands where it was indexed.
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

/// What a ref has that the commit it parted from has not.
struct Added {
    merge_base: String,
    files: u64,
    symbols: u64,
    /// How many commits it has that the default branch has not, and the other way round.
    distance: Option<(u64, u64)>,
}

impl Added {
    fn over(session: &Session, store: &Store, base: &ViewInfo, view: &ViewInfo) -> Result<Option<Self>, AppError> {
        let (Some(repo), Some(default), Some(head)) = (&session.workspace.repo, &base.commit, &view.commit) else {
            return Ok(None);
        };
        let Some(merge_base) = repo.merge_base(default, head)? else { return Ok(None) };
        let snapshot = store.snapshot(&view.key)?;
        let added: RoaringBitmap = match snapshot.members_of(&base.key)? {
            Some(members) if merge_base == *default => snapshot.members() - members,
            _ => {
                let listing = repo.list_commit(&merge_base, &session.limits())?;
                let blob = |entry: &'_ Entry| match entry.place {
                    Place::Blob(blob) => Some(blob),
                    Place::File { index_blob, .. } => index_blob,
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

//! `list_refs`: which branches and tags are indexed, and what each adds.

use std::collections::HashSet;

use codecompass_index::source::{Entry, Place};
use codecompass_model::ViewKey;
use codecompass_store::{RoaringBitmap, Store, ViewInfo};
use serde_json::{Value, json};

use super::frame::{Effect, Tool, WORKSPACE, schema};
use super::index_status::time_text;
use crate::error::AppError;
use crate::output::Answer;
use crate::server::Call;
use crate::server::places::{Unknown, Visit};
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
            &["file_count", "symbol_count"],
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
        answer(call, &visit).map_err(|error| session.explain(error, None))
    },
};

fn answer(call: &mut Call<'_>, visit: &Visit) -> Result<Answer, AppError> {
    let session = &visit.place.session;
    let target = call.target(visit)?;
    let freshness = call.freshness(visit, &target);
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
        let added = base.map(|base| Added::over(session, &store, base, view)).transpose()?.flatten();
        refs.push(json!({
            "ref": view.ref_name,
            "is_default": is_default(view),
            "last_indexed_commit": view.commit,
            "merge_base_commit": added.as_ref().map(|added| &added.merge_base),
            "file_count": added.as_ref().map_or(view.totals.files as u64, |added| added.files),
            "symbol_count": added.as_ref().map_or(view.totals.symbols as u64, |added| added.symbols),
            "status": status(call, session, view),
            "last_accessed_at": time_text(view.last_accessed_at),
        }));
    }
    let mut metadata = session.metadata(&target, own.as_ref());
    metadata.freshness = freshness;
    Ok(Answer {
        text: String::new(),
        json: json!({
            "total_refs": refs.len(),
            "refs": refs,
            "vcs_mode": session.vcs(),
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
}

/// Whether the ref still stands where it was indexed.
fn status(call: &Call<'_>, session: &Session, view: &ViewInfo) -> Value {
    let Ok(target) = session.target(Some(&view.ref_name)) else { return json!("stale") };
    let is_moving = call.server.jobs.of_view(&session.project_id, &target).is_some()
        || session.active_job().is_some_and(|job| job.view.as_ref() == Some(&view.key));
    json!(match (is_moving, target.commit == view.commit) {
        (true, _) => "indexing",
        (false, true) => "active",
        (false, false) => "stale",
    })
}

/// What a ref has that the commit it parted from has not.
struct Added {
    merge_base: String,
    files: u64,
    symbols: u64,
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
        Ok(Some(Self { merge_base, files: added.len(), symbols: store.symbol_count(&added)? }))
    }
}

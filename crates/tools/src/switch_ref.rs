//! `switch_ref`: sets the default ref of later calls of this connection.

use codecompass_model::ViewKey;
use codecompass_wire::{ErrorData, schema, switch_ref as wire};

use super::tool_spec::{Effect, ParamKind, ToolCall, ToolSpec, WORKSPACE, required};
use crate::call::Call;
use crate::call::host::{HostedWorkspace, UnknownWorkspace};
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::error::{AppError, Code, index_call};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Metadata, MetadataText};
use codecompass_workspace::output::{Answer, Reader, Render};
use codecompass_workspace::views::published_for_target;
use codecompass_workspace::worktrees;

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "switch_ref",
    title: "Switch ref",
    description: "Make an indexed branch, tag or commit the default `ref` of this connection's later calls. Nothing is \
                  checked out.",
    params: &[required("ref", ParamKind::Text, "The ref to switch to"), WORKSPACE],
    output: schema::<wire::Answer>,
    effect: Effect::Switches,
    first: false,
    call: ToolCall::OnServer(|call, host| {
        let place = &*call.hosted(host, UnknownWorkspace::Workspace)?;
        let asked = call.arguments.required_text("ref");
        answer(call, place, &asked).map_err(|error| place.session().with_project_context(error, Some(&asked)))
    }),
};

fn answer(call: &mut Call<'_>, place: &dyn HostedWorkspace, asked: &str) -> Result<Answer, AppError> {
    let session = place.session();
    let root = &session.workspace.root;
    let store = session.store()?;
    let target = session.target(Some(asked)).map_err(|error| unknown_ref(error, asked))?;
    let view = match published_for_target(&store, &target)? {
        Some(view) => view,
        None => return Err(not_published(place, &target)),
    };
    // The switch succeeds even if this note cannot be written.
    let _ = store.touch(&target.key, now_ms());
    let before = call.context.connection.as_ref().and_then(|connection| connection.switched_ref(root));
    let previous = match before {
        Some(before) => before,
        None => session.target(None)?.ref_name,
    };
    let freshness = call.hosted_freshness(place, &target);
    let mut metadata = session.metadata(&target, Some(&view));
    metadata.freshness = freshness;
    match &call.context.connection {
        Some(connection) if connection.switch(root, asked.to_owned()) => {}
        Some(_) => {
            metadata.warnings.push("this connection cannot store any more refs: pass `ref` with each call".into());
        }
        None => {
            metadata.warnings.push("this request has no connection that stores it: pass `ref` with each call".into());
        }
    }
    let worktree = match (&target.key, &session.workspace.repo) {
        (ViewKey::Worktree(root), _) => Some(root.clone()),
        (ViewKey::Ref(name), Some(repo)) => repo.worktree_for_branch(name)?.map(|root| root.display().to_string()),
        _ => None,
    };
    let worktree = match worktree {
        None if session.config.managed_worktrees => {
            worktrees::ensure(session, &target)?.map(|root| root.display().to_string())
        }
        found => found,
    };
    let status = if view.commit == target.commit { "active" } else { "stale" };
    let ref_name = target.ref_name;
    Answer::render(
        call.context.form,
        0,
        SwitchAnswer { ref_name, previous, worktree, status, commit: view.commit, metadata },
    )
}

/// The answer.
struct SwitchAnswer {
    ref_name: String,
    previous: String,
    worktree: Option<String>,
    status: &'static str,
    commit: Option<String>,
    metadata: Metadata,
}

impl Render for SwitchAnswer {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(wire::Answer {
            ref_name: self.ref_name,
            previous_ref: self.previous,
            worktree_path: self.worktree,
            status: self.status.into(),
            last_indexed_commit: self.commit,
            metadata: self.metadata,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        let commit = self.commit.as_deref().map(|commit| format!(" at {}", commit.get(..10).unwrap_or(commit)));
        let files = self.worktree.as_deref().map(|root| format!(", files in {}", escape_control(root)));
        let (now, before) = (escape_control(&self.ref_name), escape_control(&self.previous));
        let (commit, files) = (commit.unwrap_or_default(), files.unwrap_or_default());
        Ok(format!("{now}{commit}{files}; before: {before}\n") + &self.metadata.notes())
    }
}

/// The error for an unknown ref, which cannot be indexed yet; the call that fixes it is the same.
fn unknown_ref(mut error: AppError, asked: &str) -> AppError {
    error.code = Code::RefNotIndexed;
    let known = error.details.hint.take().map(|hint| hint + " ").unwrap_or_default();
    let error = error.advice(known.trim_end());
    error.hint(format!("{known}Call index_repo with ref {asked:?} once it exists.")).data(ErrorData::Ref {
        ref_name: asked.to_owned(),
        call: Some(index_call(asked)),
        command: None,
        job_id: None,
    })
}

/// The error for an unpublished ref: its first job may be running, or none was started.
fn not_published(place: &dyn HostedWorkspace, target: &codecompass_index::Target) -> AppError {
    let ours = place.job_for_view(target).map(|job| job.id.clone());
    let theirs = || place.session().active_job().filter(|job| job.view.as_ref() == Some(&target.key)).map(|job| job.id);
    match ours.or_else(theirs) {
        Some(job) => {
            AppError::new(Code::OverlayNotReady, format!("{} is being indexed by job {job}.", target.ref_name))
                .hint("Retry when index_status shows it as published.")
                .advice("Retry in a moment; `codecompass status` shows the progress.")
                .data(ErrorData::Ref {
                    ref_name: target.ref_name.clone(),
                    call: None,
                    command: None,
                    job_id: Some(job),
                })
        }
        None => AppError::ref_not_indexed(&target.ref_name),
    }
}

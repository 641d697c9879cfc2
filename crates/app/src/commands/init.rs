//! `codecompass init`: registers a project.

use codecompass_store::{OnMissing, Tuning, Writer};
use codecompass_wire::commands::index as wire;

use crate::cli::{Common, PathArg};
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::Answer;
use codecompass_workspace::session::Session;
use codecompass_workspace::views::published_for_target;

pub(crate) fn run(common: &Common, args: &PathArg) -> Result<Answer, AppError> {
    let session = Session::open(&common.session_options(), args.path.as_deref())?;
    let known = session.dir.is_registered();
    let now = now_ms();
    let mut writer = Writer::open(&session.dir, OnMissing::Create, true, Tuning::default(), None, now)?;
    writer.register(&session.root(), now)?;
    writer.finish()?;
    let target = session.target(None)?;
    let store = session.store()?;
    let view = published_for_target(&store, &target)?;
    let done = if known { "Already registered" } else { "Registered" };
    let mode = if session.vcs() { "git" } else { "a plain folder" };
    let next = if view.is_none() { "\nRun `codecompass index` to index it." } else { "" };
    let text = format!("{done}: {} ({mode}, project {}){next}", escape_control(&session.root()), session.project_id);
    let answer = wire::Init {
        project_id: session.project_id.clone(),
        repo_root: session.root(),
        vcs_mode: session.vcs(),
        created: !known,
        metadata: session.metadata(&target, view.as_ref()),
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

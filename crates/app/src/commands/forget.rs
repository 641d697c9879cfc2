//! `codecompass forget`: removes the stored data of one project, even if its repository is gone.

use std::path::{Path, PathBuf};

use codecompass_index::source::real_path;
use codecompass_store::remove_project;
use codecompass_wire::ErrorData;
use codecompass_wire::commands::projects as wire;

use crate::cli::ForgetArgs;
use crate::projects::{self, StoredProject};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::bytes_text;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::Answer;
use codecompass_workspace::session::data_folder;

pub(crate) fn run(args: &ForgetArgs) -> Result<Answer, AppError> {
    let data = data_folder()?;
    let project = find(&data, &args.path)?;
    let (roots, gone) = (project.overview.workspaces.clone(), project.are_all_workspaces_gone());
    let bytes = remove_project(&project.dir)?;
    let asked = resolve_existing(&args.path);
    let name = roots.iter().find(|root| Path::new(root) == asked).or(roots.first()).unwrap_or(&project.id);
    let mut text =
        format!("Forgotten: {} (project {}, {} freed)\n", escape_control(name), project.id, bytes_text(bytes));
    for other in roots.iter().filter(|root| *root != name) {
        text += &format!("Also removed, because it is in the same repository: {}\n", escape_control(other));
    }
    // Managed worktrees are not part of the index, and their files may be open in an editor.
    let worktrees = data.join("worktrees").join(&project.id);
    let left = worktrees.is_dir().then(|| worktrees.display().to_string());
    if let Some(left) = &left {
        text += &format!("Its managed worktrees are kept: {}\n", escape_control(left));
    }
    let answer = wire::Forget {
        project_id: project.id,
        workspaces: roots,
        gone,
        bytes_freed: bytes,
        managed_worktrees: left,
        metadata: Metadata::unknown(),
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

/// The project with this id, or with a workspace of exactly this path: a folder inside one is too vague for a deletion.
fn find(data: &Path, asked: &Path) -> Result<StoredProject, AppError> {
    let path = resolve_existing(asked);
    let is_meant = |known: &StoredProject| {
        let mut roots = known.overview.workspaces.iter();
        Some(known.id.as_str()) == asked.to_str() || roots.any(|root| Path::new(root) == path)
    };
    let mut meant: Vec<StoredProject> = projects::all(data).into_iter().filter(is_meant).collect();
    let shown_path = path.display().to_string();
    match meant.len() {
        1 => Ok(meant.remove(0)),
        0 => Err(AppError::new(Code::ProjectNotFound, format!("No project is registered for {shown_path}."))
            .hint("Run `codecompass projects`, and give a path or an id from its list.")
            .data(ErrorData::Missing {
                workspace: None,
                path: Some(shown_path),
                call: None,
                command: Some("codecompass projects".into()),
            })),
        count => {
            // The folder was a different repository before.
            let ids: Vec<String> = meant.iter().map(|known| known.id.clone()).collect();
            Err(AppError::new(Code::InvalidInput, format!("{count} projects are registered for {shown_path}."))
                .hint(format!("Give the id of one of them: {}.", ids.join(", ")))
                .data(ErrorData::AmbiguousProject { parameter: "path".into(), path: shown_path, candidates: ids }))
        }
    }
}

/// The real path; for a missing one, the real path of its nearest existing ancestor with the rest appended.
fn resolve_existing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|above| Some((real_path(above).ok()?, path.strip_prefix(above).ok()?)));
    match found {
        Some((real, rest)) if rest.as_os_str().is_empty() => real,
        Some((real, rest)) => real.join(rest),
        None => path.clone(),
    }
}

//! `codecompass projects`: lists the data folder.

use codecompass_wire::commands::projects as wire;

use crate::projects;
use codecompass_workspace::clock::time_for;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::bytes_text;
use codecompass_workspace::metadata::{Metadata, SchemaStatus};
use codecompass_workspace::output::{Answer, Reader, style};
use codecompass_workspace::session::data_folder;

pub(crate) fn run() -> Result<Answer, AppError> {
    let data = data_folder()?;
    let all = projects::all(&data);
    let projects: Vec<wire::Project> = all.iter().map(projects::StoredProject::wire).collect();
    let answer = wire::Answer {
        data_folder: data.display().to_string(),
        total_projects: projects.len(),
        total_bytes: projects.iter().map(|project| project.bytes).sum(),
        projects,
        metadata: Metadata::unknown(),
    };
    Ok(Answer { text: text(&answer, &all), ..Answer::from_wire(&answer, 0)? })
}

fn text(answer: &wire::Answer, all: &[projects::StoredProject]) -> String {
    let folder = escape_control(&answer.data_folder);
    if answer.projects.is_empty() {
        return format!("No projects in {folder}\n");
    }
    let mut text: String = answer.projects.iter().zip(all).map(project_text).collect();
    let (count, plural) = (answer.total_projects, if answer.total_projects == 1 { "" } else { "s" });
    text += &format!("{count} project{plural} of {} in {folder}\n", bytes_text(answer.total_bytes));
    if answer.projects.iter().any(|project| project.gone == Some(true)) {
        text += "`codecompass forget PATH` frees the space of a project that is gone\n";
    }
    text
}

/// A line for the project, and one for each further workspace of it.
fn project_text((project, stored): (&wire::Project, &projects::StoredProject)) -> String {
    let mut lines = project.workspaces.iter().map(|workspace| {
        let gone = if workspace.gone { " (gone)" } else { "" };
        format!("{}{gone}", style::path(&escape_control(&workspace.path)))
    });
    let first = lines.next().unwrap_or_else(|| "(unknown workspaces)".to_owned());
    let mut facts = vec![project.project_id.clone(), bytes_text(project.bytes)];
    let time = |milliseconds| time_for(Reader::Person, milliseconds);
    let indexed = stored.overview.indexed_at.map(|at| format!("indexed {}", time(at)));
    facts.push(indexed.unwrap_or_else(|| "never indexed".to_owned()));
    facts.extend(stored.overview.last_accessed_at.map(|at| format!("used {}", time(at))));
    let is_usable = |status: &SchemaStatus| matches!(status, SchemaStatus::Compatible | SchemaStatus::NotIndexed);
    facts.extend(project.schema_status.filter(|status| !is_usable(status)).map(|status| status.as_str().to_owned()));
    let further: String = lines.map(|line| format!("  and {line}\n")).collect();
    format!("{first}  {}\n{further}", style::dim(&facts.join(", ")))
}

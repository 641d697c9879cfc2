//! `codecompass projects`: lists the data folder.

use serde_json::{Value, json};

use crate::error::AppError;
use crate::escape::escape_control;
use crate::measure::bytes_text;
use crate::metadata::{Metadata, MetadataText};
use crate::output::{Answer, style};
use crate::projects;
use crate::session::data_folder;

pub(crate) fn run() -> Result<Answer, AppError> {
    let data = data_folder()?;
    let projects: Vec<Value> = projects::all(&data).iter().map(projects::StoredProject::to_json).collect();
    let bytes: u64 = projects.iter().filter_map(|project| project["bytes"].as_u64()).sum();
    let folder = data.display().to_string();
    Ok(Answer {
        text: text(&projects, bytes, &folder),
        json: json!({
            "data_folder": folder,
            "total_projects": projects.len(),
            "total_bytes": bytes,
            "projects": projects,
            "metadata": Metadata::unknown().to_json(),
        }),
        code: 0,
    })
}

fn text(projects: &[Value], bytes: u64, folder: &str) -> String {
    if projects.is_empty() {
        return format!("No projects in {}\n", escape_control(folder));
    }
    let mut text: String = projects.iter().map(project_text).collect();
    let plural = if projects.len() == 1 { "" } else { "s" };
    text += &format!("{} project{plural} of {} in {}\n", projects.len(), bytes_text(bytes), escape_control(folder));
    if projects.iter().any(|project| project["gone"] == true) {
        text += "`codecompass forget PATH` frees the space of a project that is gone\n";
    }
    text
}

/// A line for the project, and one for each further workspace of it.
fn project_text(project: &Value) -> String {
    let word = |value: &Value| escape_control(value.as_str().unwrap_or_default()).into_owned();
    let workspaces = project["workspaces"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines = workspaces.iter().map(|workspace| {
        let gone = if workspace["gone"] == true { " (gone)" } else { "" };
        format!("{}{gone}", style::path(&word(&workspace["path"])))
    });
    let first = lines.next().unwrap_or_else(|| "(unknown workspaces)".to_owned());
    let mut facts = vec![word(&project["project_id"]), bytes_text(project["bytes"].as_u64().unwrap_or_default())];
    facts.push(match &project["last_indexed_at"] {
        Value::Null => "never indexed".to_owned(),
        time => format!("indexed {}", word(time)),
    });
    if !project["last_used_at"].is_null() {
        facts.push(format!("used {}", word(&project["last_used_at"])));
    }
    let status = project["schema_status"].as_str().filter(|status| !["compatible", "not_indexed"].contains(status));
    facts.extend(status.map(str::to_owned));
    let further: String = lines.map(|line| format!("  and {line}\n")).collect();
    format!("{first}  {}\n{further}", style::dim(&facts.join(", ")))
}

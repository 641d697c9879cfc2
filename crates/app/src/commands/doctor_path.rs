//! `codecompass doctor FILE`: whether a file is indexed, and if not, why it is skipped.

use codecompass_query::outline;
use codecompass_wire::commands::doctor as wire;

use crate::cli::Common;
use codecompass_tools::similar_paths;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::count_with_noun;
use codecompass_workspace::output::{Answer, style};
use codecompass_workspace::paths::{Absence, PathResolver};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::{Access, Published};

pub(crate) fn run(common: &Common, given: &str) -> Result<Answer, AppError> {
    let session = Session::open(&common.session_options(), None)?;
    let published = Published::open(&session, Access { no_sync: true, ..Access::default() })?;
    let metadata = published.metadata.clone();
    let Some(snapshot) = published.snapshot.as_deref() else {
        return Err(AppError::index_not_ready().with_metadata(metadata));
    };
    let file = PathResolver::from_working_folder(&session).resolve_file(&[snapshot], "FILE", given)?;
    let name = style::path(&escape_control(&file.path));
    let (text, why) = match &file.absence {
        None => {
            let outline = outline(snapshot, &file.path)?;
            let about = outline.map(|outline| {
                format!(": {}, {}", outline.version.language, count_with_noun(outline.count() as u64, "symbol"))
            });
            (
                format!("{name} is indexed for {}{}\n", escape_control(&metadata.ref_name), about.unwrap_or_default()),
                None,
            )
        }
        Some(Absence::Folder) => (format!("{name} is a folder with indexed files\n"), None),
        Some(absence) => {
            let similar = match absence {
                Absence::Unknown => similar_paths::did_you_mean(&similar_paths::similar_paths(snapshot, &file.path)?),
                _ => None,
            };
            let hint = absence.hint().map(str::to_owned).or(similar);
            let hint = hint.map(|hint| format!("      → {}\n", escape_control(&hint))).unwrap_or_default();
            (format!("{name}: {}\n{hint}", escape_control(&absence.explanation_clause())), Some(absence))
        }
    };
    let answer = wire::File {
        path: file.path.clone(),
        indexed: file.absence.is_none(),
        left_out: why.and_then(Absence::skip_reason).map(Into::into),
        message: why.map(Absence::explanation_clause),
        metadata,
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, u8::from(why.is_some()))? })
}

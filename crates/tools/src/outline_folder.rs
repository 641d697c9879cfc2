//! The outline of a folder, for the command line: the top-level declarations of its files, file by file.

use codecompass_model::SymbolKind;
use codecompass_query::outline;
use codecompass_store::Snapshot;

use super::{outline_text, rows};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::style;

/// The text for the files below a folder; `None` if there are none.
pub(super) fn text(snapshot: &Snapshot, folder: &str, name: Option<&str>) -> Result<Option<String>, AppError> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{}/", folder.trim_end_matches('/')) };
    let catalogue = snapshot.versions_by_id()?;
    let mut paths: Vec<&str> =
        catalogue.values().map(|version| version.path.as_str()).filter(|path| path.starts_with(&prefix)).collect();
    paths.sort_unstable();
    if paths.is_empty() {
        return Ok(None);
    }
    let mut text = String::new();
    let mut plain = 0;
    for path in &paths {
        let Some(outline) = outline(snapshot, path)? else { continue };
        let is_meant = |place: &u32| {
            let symbol = outline.symbol(*place);
            name.is_none_or(|name| symbol.name.to_lowercase().contains(name))
        };
        let tops: Vec<u32> = outline.top_level().iter().copied().filter(is_meant).collect();
        match tops.iter().any(|place| outline.symbol(*place).kind != SymbolKind::Use) {
            true => text += &outline_text::text(&outline, false, name, &tops, usize::MAX).finish(None, PERSON),
            false => plain += 1,
        }
    }
    let place = if folder.is_empty() { "." } else { folder };
    let head = format!("{}: {}", style::path(&escape_control(place)), rows::count(paths.len(), "file"));
    let rest = if plain > 0 { style::dim(&format!(", {plain} without symbols")) } else { String::new() };
    Ok(Some(format!("{head}{rest}\n{text}")))
}

const PERSON: codecompass_workspace::output::OutputFormat =
    codecompass_workspace::output::OutputFormat::Text(codecompass_workspace::output::Reader::Person);

//! The outline of a folder: the top-level declarations of its files, file by file. For an agent, whose answers are
//! bounded, a large folder has a row of names per file, and a larger one a row per subfolder.

use codecompass_model::{Symbol, SymbolKind};
use codecompass_query::outline;
use codecompass_store::Snapshot;

use super::{outline_text, rows};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::style;

/// The maximum number of files whose declarations are read for an agent.
const MAX_READ_FILES: usize = 400;

/// The maximum number of names in the row of a file.
const MAX_NAMES: usize = 6;

/// The text for an agent, of about `room` bytes at most; `None` if there are no files below the folder.
pub(super) fn bounded_text(
    snapshot: &Snapshot,
    folder: &str,
    name: Option<&str>,
    room: usize,
) -> Result<Option<String>, AppError> {
    Ok(folder_text(snapshot, folder, name, (room, usize::MAX))?.map(|(text, _)| text))
}

/// The same, with a maximum number of lines; and whether declarations are left out.
fn folder_text(
    snapshot: &Snapshot,
    folder: &str,
    name: Option<&str>,
    (room, max_lines): (usize, usize),
) -> Result<Option<(String, bool)>, AppError> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let catalogue = snapshot.versions_by_id()?;
    let mut paths: Vec<&str> =
        catalogue.values().map(|version| version.path.as_str()).filter(|path| path.starts_with(&prefix)).collect();
    paths.sort_unstable();
    if paths.is_empty() {
        return Ok(None);
    }
    if paths.len() <= MAX_READ_FILES {
        if let Some(text) =
            text(snapshot, folder, name)?.filter(|text| text.len() < room && text.lines().count() <= max_lines)
        {
            return Ok(Some((text, false)));
        }
        let rows = paths.iter().map(|path| names_row(snapshot, path, name)).collect::<Result<Vec<_>, _>>()?;
        let head =
            format!("{}/: {}; outline one for its lines\n", escape_control(folder), rows::count(paths.len(), "file"));
        if rows.iter().map(String::len).sum::<usize>() + head.len() < room && rows.len() < max_lines {
            return Ok(Some((head + &rows.concat(), true)));
        }
    }
    let mut sheet = rows::RowWriter::new(room);
    let place = if folder.is_empty() { "." } else { folder };
    let what = rows::count(paths.len(), "file");
    sheet.line(&format!("{}: {what}; outline a subfolder or a file for what is in it", escape_control(place)));
    let mut shown = 0;
    for (inside, files) in by_entry(&paths, prefix.len()) {
        let row = match files {
            1 if !inside.ends_with('/') => names_row(snapshot, inside, name)?.trim_end().to_owned(),
            _ => format!("{} {}", escape_control(inside), rows::count(files, "file")),
        };
        if !sheet.line(&row) {
            break;
        }
        shown += files;
    }
    let mut text = sheet.finish();
    if shown < paths.len() {
        text += &format!("… {shown} of {what}\n");
    }
    Ok(Some((text, true)))
}

/// The entries of a folder in order: its files, and its subfolders with a slash; each with the number of files.
fn by_entry<'p>(paths: &[&'p str], prefix: usize) -> Vec<(&'p str, usize)> {
    let mut entries: Vec<(&str, usize)> = Vec::new();
    for path in paths {
        let entry = path[prefix..].find('/').map_or(*path, |end| &path[..prefix + end + 1]);
        match entries.last_mut() {
            Some((last, files)) if *last == entry => *files += 1,
            _ => entries.push((entry, 1)),
        }
    }
    entries
}

/// A file with the names of its first top-level symbols.
fn names_row(snapshot: &Snapshot, path: &str, name: Option<&str>) -> Result<String, AppError> {
    let mut names = Vec::new();
    if let Some(outline) = outline(snapshot, path)? {
        let symbols = outline.top_level().iter().map(|place| outline.symbol(*place));
        let is_meant = |symbol: &&Symbol| {
            !matches!(symbol.kind, SymbolKind::Use | SymbolKind::Impl)
                && name.is_none_or(|name| symbol.name.to_lowercase().contains(name))
        };
        for symbol in symbols.filter(is_meant) {
            // An `impl` block has the name of its type.
            if !names.contains(&symbol.name) {
                names.push(symbol.name.clone());
            }
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let more = if more > 0 { format!(", … {more} more") } else { String::new() };
    let names = if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) };
    Ok(format!("{}\n", escape_control(&format!("{path}{names}"))))
}

/// The maximum size of the outline of a folder on the command line, in bytes and lines: a few screens.
const MAX_PERSON_SIZE: (usize, usize) = (12_000, 120);

/// The text for a person, folded if the folder is large; `None` if there are no files below the folder.
pub(super) fn folded_text(snapshot: &Snapshot, folder: &str, name: Option<&str>) -> Result<Option<String>, AppError> {
    let found = folder_text(snapshot, folder, name, MAX_PERSON_SIZE)?;
    Ok(found.map(|(text, is_folded)| match is_folded {
        true => text.replacen('\n', " (--all shows every declaration)\n", 1),
        false => text,
    }))
}

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
            true => {
                text.push(style::GAP);
                text += &outline_text::text(&outline, false, name, &tops, usize::MAX).finish(None, PERSON);
            }
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

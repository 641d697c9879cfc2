//! Resolves `source` paths to files.

use codecompass_model::{Span, VersionId, World};

use crate::spec::Walk;

/// Expressions with which a script finds its own folder.
const SCRIPT_FOLDER_MARKERS: &[&str] = &["BASH_SOURCE", "$0", "${0", "%x"];

/// Returns the path in a word of a script, as written without quotes: `./x.sh` for a file in the script's folder,
/// `$a/x.sh` for a file in a folder that is known only at run time.
pub(super) fn path(walk: &Walk<'_, '_>, at: usize) -> Option<String> {
    let node = walk.tree.node(at);
    let dynamic =
        |child: &usize| matches!(walk.kind(*child), "simple_expansion" | "expansion" | "command_substitution");
    // The parts of `"$a"/b.sh` are one word.
    let within = (at + 1..walk.tree.next(at)).filter(dynamic).map(|child| walk.tree.node(child));
    let is_dynamic = dynamic(&at);
    let end = if is_dynamic { Some(node.end) } else { within.map(|child| child.end).max() };
    let bare = |text: &str| text.replace(['"', '\''], "");
    let Some(end) = end else { return Some(bare(walk.text(at))).filter(|path| !path.is_empty()) };
    let front = walk.draft.slice(Span { start: node.start, end });
    let rest = bare(walk.draft.slice(Span { start: end, end: node.end }));
    let rest = rest.strip_prefix('/').filter(|rest| !rest.is_empty());
    match rest {
        Some(rest) if SCRIPT_FOLDER_MARKERS.iter().any(|own| front.contains(own)) && !front.contains("..") => {
            Some(format!("./{rest}"))
        }
        Some(rest) => {
            let word = front.trim_start_matches(['"', '\'', '$', '{', '(']);
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
            Some(format!("${}/{rest}", &word[..end]))
        }
        None => Some(bare(walk.text(at)).split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// Returns the file at a path, else the only file of the view whose path has this suffix.
pub(super) fn resolve_source(world: &dyn World, from: &str, path: &str) -> Vec<VersionId> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rest = match path.strip_prefix('$') {
        Some(rest) => rest.split_once('/').map_or("", |(_, rest)| rest),
        // The file is outside the view, on the machine that runs the script.
        None if path.starts_with(['/', '~', '-']) => return Vec::new(),
        None => {
            let there = [folder, ""].iter().find_map(|folder| world.file_at(&join(folder, path)?));
            if let Some(there) = there {
                return vec![there];
            }
            path
        }
    };
    if rest.contains(['$', '*', '`', '(']) {
        return Vec::new();
    }
    let rest = rest.trim_start_matches("../").trim_start_matches("./");
    let name = rest.rsplit('/').next().unwrap_or(rest);
    let ends = |path: &str| path == rest || path.strip_suffix(rest).is_some_and(|before| before.ends_with('/'));
    let named = world.files_named(name);
    let mut fitting = named.iter().copied().filter(|id| world.file(*id).is_some_and(|file| ends(&file.path)));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => vec![only],
        _ => Vec::new(),
    }
}

/// Joins a path to a folder; `None` when the result is outside the view.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

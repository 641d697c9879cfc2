//! Finds the code that the frames of a stack trace name.
//!
//! A trace names files as they were when the program was built: at another root, at an installed location, or by file
//! name alone. A file of the view is accepted if the two paths agree at their ends and nothing speaks against it; the
//! less they agree, the more the function's name and the line have to.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{LineOwners, Symbol, SymbolKind, VersionId};
use codecompass_store::{Outline, Result, Snapshot, VersionInfo};

use super::SearchRequest;
use super::evidence::Candidate;
use super::trace::Frame;

/// The maximum number of frames that lead the list. The rest of it is for what the words find.
pub(super) const MAX_LEADING: usize = 5;

/// The maximum number of files that one frame may mean.
const MAX_HOMONYMS: usize = 3;

/// A name that more functions than this have says nothing without a file.
const MAX_NAMED: usize = 32;

/// Folders of libraries: a file below them is rarely one of the view.
const LIBRARY_FOLDERS: &[&str] = &[
    "site-packages",
    "dist-packages",
    "node_modules",
    "rustc",
    "registry",
    "gems",
    "lib",
    "lib64",
    "pkg",
    "usr",
    "vendor",
    "libsanitizer",
    "compiler-rt",
];

/// The code that a frame names, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameMatch {
    pub(super) candidate: Candidate,
    pub(super) line: Option<u32>,
}

/// Returns the code that the frames name, innermost first and each once.
pub(super) fn resolve(snapshot: &Snapshot, request: &SearchRequest<'_>, frames: &[Frame]) -> Result<Vec<FrameMatch>> {
    let mut found: Vec<FrameMatch> = Vec::new();
    if frames.is_empty() {
        return Ok(found);
    }
    let files = files_by_name(snapshot, request, frames)?;
    for frame in frames {
        let embedded = match file_name(frame) {
            Some(name) => in_files(snapshot, frame, files.get(name).map_or(&[], Vec::as_slice))?,
            None => by_name(snapshot, request, frame)?,
        };
        for next in embedded {
            if !found.iter().any(|known| known.candidate == next.candidate) {
                found.push(next);
            }
        }
        if found.len() >= MAX_LEADING {
            break;
        }
    }
    found.truncate(MAX_LEADING);
    Ok(found)
}

fn file_name(frame: &Frame) -> Option<&str> {
    frame.path.as_deref().and_then(|path| path.rsplit('/').next())
}

/// Returns the accepted files with the file names of the frames, in the order of their paths.
fn files_by_name<'f>(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    frames: &'f [Frame],
) -> Result<HashMap<&'f str, Vec<Rc<VersionInfo>>>> {
    let wanted: HashSet<&str> = frames.iter().filter_map(file_name).collect();
    let mut files: HashMap<&str, Vec<Rc<VersionInfo>>> = HashMap::new();
    if wanted.is_empty() {
        return Ok(files);
    }
    for info in snapshot.versions_by_id()?.values() {
        let name = info.path.rsplit('/').next().and_then(|name| wanted.get(name));
        if let Some(name) = name.filter(|_| request.accepts(&info.path, &info.language)) {
            files.entry(name).or_default().push(Rc::clone(info));
        }
    }
    files.values_mut().for_each(|files| files.sort_by(|a, b| a.path.cmp(&b.path)));
    Ok(files)
}

/// How well a file of the view fits a printed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The function must have the frame's name, and its line.
    NeedsBoth,
    /// The function must have the frame's name.
    NeedsName,
    /// One path is the end of the other.
    Whole,
}

/// Compares paths from their ends; also returns the number of equal components.
fn fit(frame: &Frame, path: &str) -> Option<(Fit, usize)> {
    let printed = frame.path.as_deref()?.trim_start_matches("./");
    let is_absolute = printed.starts_with('/');
    let components = |path: &str| path.split('/').filter(|part| !part.is_empty() && *part != "..").count();
    let equal =
        |a: &str, b: &str| a.rsplit('/').zip(b.rsplit('/')).take_while(|(a, b)| a == b && !a.is_empty()).count();
    if let Some(package) = frame.folder.as_deref() {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let shared = equal(folder, package);
        let is_whole = package.is_empty() || shared > 0;
        return Some((if is_whole { Fit::Whole } else { Fit::NeedsBoth }, 1 + shared));
    }
    let shared = equal(path, printed);
    let is_view_path = shared == components(path);
    let is_printed = shared == components(printed) && !is_absolute;
    let is_library = printed.rsplit('/').skip(shared).any(|folder| LIBRARY_FOLDERS.contains(&folder));
    let fit = match shared {
        0 => return None,
        _ if is_printed => Fit::Whole,
        1 if is_view_path && !is_library => Fit::Whole,
        1 | 2 if is_library => Fit::NeedsBoth,
        _ if is_view_path => Fit::Whole,
        1 => Fit::NeedsBoth,
        _ => Fit::NeedsName,
    };
    Some((fit, shared))
}

/// Returns what a frame names in the files that fit best.
fn in_files(snapshot: &Snapshot, frame: &Frame, files: &[Rc<VersionInfo>]) -> Result<Vec<FrameMatch>> {
    let fits: Vec<_> = files.iter().filter_map(|info| Some((fit(frame, &info.path)?, info))).collect();
    let Some(best) = fits.iter().map(|(fit, _)| *fit).max() else { return Ok(Vec::new()) };
    let mut embedded: Vec<(bool, FrameMatch)> = Vec::new();
    for (_, info) in fits.iter().filter(|(fit, _)| *fit == best).take(4 * MAX_HOMONYMS) {
        let Some((candidate, named, has_line)) = in_file(snapshot, frame, info)? else { continue };
        let is_accepted = match best.0 {
            Fit::Whole => named || frame.line.is_some_and(|line| line <= info.lines),
            Fit::NeedsName => named,
            Fit::NeedsBoth => named && has_line,
        };
        if is_accepted {
            embedded.push((named, FrameMatch { candidate, line: frame.line.filter(|_| has_line) }));
        }
    }
    // Of several files those with a function of that name are meant.
    let has_named = embedded.iter().any(|(named, _)| *named);
    let embedded = embedded.into_iter().filter(|(named, _)| *named || !has_named).map(|(_, found)| found);
    Ok(embedded.take(MAX_HOMONYMS).collect())
}

/// Returns what a frame names in a file, whether it has the frame's name, and whether it contains the line. A name is
/// preferred to a line, because the trace may be of another version of the file.
fn in_file(snapshot: &Snapshot, frame: &Frame, info: &VersionInfo) -> Result<Option<(Candidate, bool, bool)>> {
    let outline = snapshot.outline(info.id)?;
    let contains =
        |symbol: &Symbol| frame.line.is_some_and(|line| (symbol.lines.start..=symbol.lines.end).contains(&line));
    if let Some(at) = named_symbol(&outline, frame) {
        return Ok(Some((Candidate::Symbol(info.id, at), true, contains(&outline.symbols[at as usize]))));
    }
    let Some(line) = frame.line else { return Ok(None) };
    Ok(symbol_or_chunk(snapshot, info.id, &outline, line)?.map(|candidate| (candidate, false, true)))
}

/// Returns the symbol with the name of a frame: the innermost one around its line, else the nearest one to it.
fn named_symbol(outline: &Outline, frame: &Frame) -> Option<u32> {
    let name = frame.name.as_deref()?;
    let is_one = |symbol: &Symbol| symbol.name == name && is_runnable(symbol.kind);
    let all = outline.symbols.iter().enumerate().filter(|(_, symbol)| is_one(symbol));
    let distance = |symbol: &Symbol| match frame.line {
        Some(line) => symbol.lines.start.saturating_sub(line) + line.saturating_sub(symbol.lines.end),
        None => 0,
    };
    let is_qualified = |symbol: &Symbol| {
        let before = symbol.qualified_name.rsplit(['.', ':']).filter(|part| !part.is_empty()).nth(1);
        frame.qualifier.is_some() && before == frame.qualifier.as_deref()
    };
    all.min_by_key(|(at, symbol)| (distance(symbol), !is_qualified(symbol), usize::MAX - at)).map(|(at, _)| at as u32)
}

/// Whether a symbol can be the function of a frame: a type's name may mean its constructor.
fn is_runnable(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    is_function(kind) || matches!(kind, K::Struct | K::Class | K::Const | K::Var | K::Property | K::Static)
}

fn is_function(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    matches!(kind, K::Fn | K::Method | K::Constructor | K::Macro | K::Test)
}

/// Returns the innermost function around a line, else the innermost symbol or the chunk.
fn symbol_or_chunk(snapshot: &Snapshot, id: VersionId, outline: &Outline, line: u32) -> Result<Option<Candidate>> {
    let around = |symbol: &&Symbol| (symbol.lines.start..=symbol.lines.end).contains(&line);
    let innermost = |is_one: &dyn Fn(SymbolKind) -> bool| {
        outline.symbols.iter().rposition(|symbol| around(&symbol) && is_one(symbol.kind))
    };
    let is_code = |kind: SymbolKind| kind != SymbolKind::Use && !kind.is_landmark();
    if let Some(at) = innermost(&is_function).or_else(|| innermost(&is_code)) {
        return Ok(Some(Candidate::Symbol(id, at as u32)));
    }
    let owners = LineOwners::new(&snapshot.text(id)?, &outline.symbols);
    Ok(Candidate::at_line(id, outline, &owners, line))
}

/// Returns the only function that a frame without a file can mean.
fn by_name(snapshot: &Snapshot, request: &SearchRequest<'_>, frame: &Frame) -> Result<Vec<FrameMatch>> {
    let Some(name) = frame.name.as_deref() else { return Ok(Vec::new()) };
    let rows: Vec<_> = snapshot.symbols_named(name)?.into_iter().filter(|row| is_function(row.kind)).collect();
    if rows.len() > MAX_NAMED {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for row in rows {
        let Some(info) = snapshot.version(row.version)? else { continue };
        if !request.accepts(&info.path, &info.language) {
            continue;
        }
        let outline = snapshot.outline(row.version)?;
        let Some(symbol) = outline.symbols.get(row.ordinal as usize) else { continue };
        if is_qualified_as(frame, &info.path, &symbol.qualified_name) {
            found.push(FrameMatch { candidate: Candidate::Symbol(row.version, row.ordinal), line: None });
        }
    }
    Ok(if found.len() == 1 { found } else { Vec::new() })
}

/// Whether a qualified name has the qualifier of a frame, or the path has it as a folder: a package of Go, a crate.
fn is_qualified_as(frame: &Frame, path: &str, qualified_name: &str) -> bool {
    let Some(qualifier) = frame.qualifier.as_deref() else { return true };
    let is_it = |part: &str| part == qualifier || part.contains('-') && part.replace('-', "_") == qualifier;
    qualified_name.rsplit(['.', ':']).skip(1).any(is_it) || path.rsplit('/').skip(1).any(is_it)
}

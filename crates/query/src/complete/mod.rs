//! Completion: the names of symbols and files that continue what was typed.
//!
//! What was typed is a prefix (`get_objec`), or the beginnings of the words in a name (`QuerySe`, `HTTPResp`, `qs`). A
//! qualifier selects the enclosing symbol in the same way (`qs.filt`). Every name with the same first character is
//! compared, so nothing depends on other names in the index; only what is shown is read.

mod typed;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{Languages, SymbolKind, VersionId};
use codecompass_store::{NameBlock, PathOrder, Result, RoaringBitmap, Snapshot, SymbolRow};
use typed::{Match, Typed};

use crate::SymbolHit;

/// The maximum number of files whose symbols are read to check a qualifier.
const MAX_QUALIFIED_FILES: usize = 60;

/// Of four completions, at least one is a file if that many match.
const FILE_SHARE: usize = 4;

/// A name that continues what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text to insert: the name, with its owner if a qualifier was typed, or the path of a file.
    pub text: String,
    /// The kind of the symbol; `None` for a file.
    pub kind: Option<SymbolKind>,
    /// The file of the best symbol with this name, or the file itself.
    pub path: String,
    /// The first line of that symbol; 1 for a file.
    pub line: u32,
    /// The number of symbols with this name.
    pub symbols: usize,
    /// The `result_id` of the best symbol.
    pub id: Option<String>,
}

/// Returns up to `most` completions: prefixes before other matches, functions and types before values, shorter names
/// before longer ones, and symbols before files unless a path was typed.
pub fn complete(snapshot: &Snapshot, languages: &dyn Languages, typed: &str, most: usize) -> Result<Vec<Completion>> {
    let typed = typed.trim();
    if typed.is_empty() || most == 0 {
        return Ok(Vec::new());
    }
    let paths = snapshot.paths()?;
    let files = files(&paths, typed, most);
    let view = View { snapshot, languages, paths: &paths };
    let mut found = Vec::new();
    if !typed.contains('/') {
        let room = most - files.len().min(most / FILE_SHARE);
        found = match split_qualifier(typed) {
            (Some(qualifier), name) => view.qualified_names(qualifier, name, room)?,
            (None, name) => view.symbol_names(name, room)?,
        };
    }
    found.extend(files.into_iter().take(most - found.len()));
    Ok(found)
}

/// The qualifier directly before the name, if one was typed, and the name.
fn split_qualifier(typed: &str) -> (Option<&str>, &str) {
    let marks = [':', '.', '#'];
    let Some(at) = typed.rfind(marks) else { return (None, typed) };
    let before = typed[..at].trim_end_matches(marks);
    let qualifier = before.rsplit(marks).next().filter(|qualifier| !qualifier.is_empty());
    (qualifier, &typed[at + 1..])
}

/// The names that continue what was typed, the best first, as far as they are requested.
struct Names {
    blocks: Vec<Arc<NameBlock>>,
    best: BinaryHeap<Reverse<RankedName>>,
}

/// A match, whether it is a value, whether it differs in case, the length of its name, the block, and the number of the
/// name, in the order of names.
type RankedName = (Match, bool, bool, u32, u32, u32);

impl Names {
    fn find(snapshot: &Snapshot, typed: &str) -> Result<Self> {
        let typed = Typed::new(typed);
        let first = typed.first_characters().into_iter();
        let blocks: Vec<Arc<NameBlock>> = first.map(|first| snapshot.names_from(first)).collect::<Result<_>>()?;
        let mut found = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            for number in (0..block.len()).filter(|number| typed.may_match(block.letters(*number))) {
                let name = block.name(number);
                let Some(fit) = typed.matches(name) else { continue };
                let (is_value, is_other_case) = (block.is_value(number), typed.differs_in_case(name));
                let length = name.len() as u32;
                found.push(Reverse((fit, is_value, is_other_case, length, at as u32, number as u32)));
            }
        }
        Ok(Self { blocks, best: found.into() })
    }

    /// Returns the next name and its symbols.
    fn next(&mut self) -> Option<(&str, &[SymbolRow])> {
        let Reverse((.., block, number)) = self.best.pop()?;
        let block = &self.blocks[block as usize];
        Some((block.name(number as usize), block.symbols(number as usize)))
    }
}

/// The view whose names are completed.
struct View<'v> {
    snapshot: &'v Snapshot,
    languages: &'v dyn Languages,
    paths: &'v PathOrder,
}

impl View<'_> {
    fn symbol_names(&self, typed: &str, most: usize) -> Result<Vec<Completion>> {
        let mut names = Names::find(self.snapshot, typed)?;
        let mut found = Vec::new();
        while found.len() < most {
            let Some((name, rows)) = names.next() else { break };
            let Some(row) = rows.iter().min_by_key(|row| self.preference(row)) else { continue };
            let Some(version) = self.snapshot.version(row.version)? else { continue };
            let (kind, line) = (Some(row.kind), row.line);
            let (id, path) = (Some(self.snapshot.short_id(row)?), version.path.clone());
            found.push(Completion { text: name.into(), kind, path, line, symbols: rows.len(), id });
        }
        Ok(found)
    }

    /// The order of symbols with one name: code before tests, public before private, then by path and line.
    fn preference(&self, row: &SymbolRow) -> (bool, bool, bool, u32, u32) {
        let (position, path) = self.paths.find(row.version).unwrap_or((u32::MAX, ""));
        let is_test = row.in_test || self.languages.is_test_path(path);
        (is_test, row.kind.is_value(), !row.is_public, position, row.line)
    }

    fn qualified_names(&self, qualifier: &str, typed: &str, most: usize) -> Result<Vec<Completion>> {
        let owners = Typed::new(qualifier);
        let mut found: Vec<Completion> = Vec::new();
        let mut read: Vec<VersionId> = Vec::new();
        for (name, row) in self.possible_members(qualifier, typed)? {
            if !read.contains(&row.version) {
                if read.len() == MAX_QUALIFIED_FILES {
                    continue;
                }
                read.push(row.version);
            }
            let hit = SymbolHit::read(self.snapshot, &row)?;
            let Some((owner, mark)) = owner_of(&hit.symbol().qualified_name, &name) else { continue };
            if owners.matches(owner).is_none() || owners.differs_in_case(owner) {
                continue;
            }
            let text = format!("{owner}{mark}{name}");
            if let Some(known) = found.iter_mut().find(|known| known.text == text) {
                known.symbols += 1;
            } else if found.len() < most {
                let (path, line, kind) = (hit.version.path.clone(), row.line, Some(row.kind));
                found.push(Completion { text, kind, path, line, symbols: 1, id: Some(self.snapshot.short_id(&row)?) });
            }
        }
        Ok(found)
    }

    /// The symbols whose names continue what was typed, with their names, in the order in which they are read: first
    /// those in files that have a symbol for the qualifier, which is usually their owner.
    fn possible_members(&self, qualifier: &str, typed: &str) -> Result<Vec<(Rc<str>, SymbolRow)>> {
        let owner_files = files_with(self.snapshot, qualifier)?;
        let mut names = Names::find(self.snapshot, typed)?;
        let mut symbols: Vec<(Rc<str>, SymbolRow)> = Vec::new();
        while let Some((name, rows)) = names.next() {
            let (name, start) = (Rc::from(name), symbols.len());
            symbols.extend(rows.iter().map(|row| (Rc::clone(&name), row.clone())));
            symbols[start..].sort_by_cached_key(|(_, row)| self.preference(row));
        }
        // The sort is stable: the best names stay first.
        symbols.sort_by_key(|(_, row)| !owner_files.contains(row.version));
        Ok(symbols)
    }
}

/// The files with symbols whose names continue what was typed.
fn files_with(snapshot: &Snapshot, typed: &str) -> Result<RoaringBitmap> {
    let mut names = Names::find(snapshot, typed)?;
    let mut files = RoaringBitmap::new();
    while let Some((_, rows)) = names.next() {
        files.extend(rows.iter().map(|row| row.version));
    }
    Ok(files)
}

/// The name before the last one of a qualified name, and the separator between them.
fn owner_of<'q>(qualified: &'q str, name: &str) -> Option<(&'q str, &'static str)> {
    let before = qualified.strip_suffix(name)?;
    let mark = ["::", ".", "#"].into_iter().find(|mark| before.ends_with(mark))?;
    let owner = before.strip_suffix(mark)?.rsplit([':', '.', '#']).next()?;
    (!owner.is_empty()).then_some((owner, mark))
}

/// The files whose names continue what was typed; with a folder, also those whose paths do.
fn files(paths: &PathOrder, typed: &str, most: usize) -> Vec<Completion> {
    let (folder, name) = typed.rsplit_once('/').map_or((None, typed), |(folder, name)| (Some(folder), name));
    let name = Typed::new(name);
    let fit = |path: &str| {
        let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
        match folder {
            None => name.matches(file),
            Some(_) if path.starts_with(typed) => Some(Match::Prefix),
            Some(folder) => is_folder(above, folder).then(|| name.matches(file)).flatten(),
        }
    };
    let ranked = |(_, path)| Some(Reverse((fit(path)?, path.len(), path)));
    let mut best: BinaryHeap<_> = paths.iter().filter_map(ranked).collect();
    let next = || best.pop().map(|Reverse((.., path))| path);
    let file = |path: &str| {
        let (text, path) = (path.to_owned(), path.to_owned());
        Completion { text, kind: None, path, line: 1, symbols: 0, id: None }
    };
    std::iter::from_fn(next).take(most).map(file).collect()
}

/// Whether a path of a folder is this one, or ends in it.
fn is_folder(path: &str, folder: &str) -> bool {
    path.strip_suffix(folder).is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_the_name_before() {
        assert_eq!(owner_of("django.db.QuerySet.filter", "filter"), Some(("QuerySet", ".")));
        assert_eq!(owner_of("auth::Jwt::check", "check"), Some(("Jwt", "::")));
        assert_eq!(owner_of("check", "check"), None);
        assert_eq!(split_qualifier("a.qs.filt"), (Some("qs"), "filt"));
        assert_eq!(split_qualifier("Jwt::ch"), (Some("Jwt"), "ch"));
        assert_eq!(split_qualifier("plain"), (None, "plain"));
    }

    #[test]
    fn folders_match_from_their_end() {
        let table =
            [("a/b", "b", true), ("a/b", "a/b", true), ("a/xb", "b", false), ("", "b", false), ("b", "a/b", false)];
        for (path, folder, expected) in table {
            assert_eq!(is_folder(path, folder), expected, "{path} {folder}");
        }
    }
}

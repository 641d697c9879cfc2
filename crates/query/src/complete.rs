//! Completion: the names of symbols and files that continue what was typed.
//!
//! What was typed is a prefix (`get_objec`), or the beginnings of the words in a name (`QuerySe`, `HTTPResp`, `qs`). A
//! qualifier selects the enclosing symbol in the same way (`qs.filt`). The dictionary of the text index has the words in
//! lower case; it yields candidates, and the symbols with these names decide.

use std::rc::Rc;

use codecompass_model::SymbolKind;
use codecompass_store::{PrefixDecision, Result, Snapshot, SymbolRow, TextField, VersionInfo};

use crate::SymbolHit;

/// The maximum number of words of the dictionary whose symbols are read.
const MAX_WORDS: usize = 150;

/// The maximum number of symbols that are read to check a qualifier.
const MAX_QUALIFIED: usize = 200;

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
}

/// Returns up to `most` completions: prefixes before other matches, shorter names before longer ones, and symbols before
/// files unless a path was typed.
pub fn complete(snapshot: &Snapshot, typed: &str, most: usize) -> Result<Vec<Completion>> {
    let typed = typed.trim();
    if typed.is_empty() || most == 0 {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    if !typed.contains('/') {
        let (qualifier, name) = split_qualifier(typed);
        found = match qualifier {
            Some(qualifier) => qualified_names(snapshot, qualifier, name, most)?,
            None => symbol_names(snapshot, name, most)?,
        };
    }
    if found.len() < most {
        found.extend(files(snapshot, typed, most - found.len())?);
    }
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

fn symbol_names(snapshot: &Snapshot, typed: &str, most: usize) -> Result<Vec<Completion>> {
    let mut found = Vec::new();
    for name in names(snapshot, typed, most)? {
        if found.len() >= most {
            break;
        }
        let rows: Vec<SymbolRow> =
            snapshot.symbols_named(&name)?.into_iter().filter(|row| row.kind.can_be_named()).collect();
        let Some((row, version)) = best(snapshot, &rows)? else { continue };
        let (kind, line) = (Some(row.kind), row.line);
        found.push(Completion { text: name, kind, path: version.path.clone(), line, symbols: rows.len() });
    }
    Ok(found)
}

/// The symbol that is shown for its name: code before tests, public before private, then the first by path and line.
fn best<'r>(snapshot: &Snapshot, rows: &'r [SymbolRow]) -> Result<Option<(&'r SymbolRow, Rc<VersionInfo>)>> {
    let mut best: Option<(&SymbolRow, Rc<VersionInfo>)> = None;
    // More homonyms would cost more than the choice between them is worth.
    for row in rows.iter().take(MAX_QUALIFIED) {
        let Some(version) = snapshot.version(row.version)? else { continue };
        let rank =
            |row: &SymbolRow, version: &VersionInfo| (row.in_test, !row.is_public, version.path.clone(), row.line);
        if best.as_ref().is_none_or(|(known, file)| rank(row, &version) < rank(known, file)) {
            best = Some((row, version));
        }
    }
    Ok(best)
}

fn qualified_names(snapshot: &Snapshot, qualifier: &str, typed: &str, most: usize) -> Result<Vec<Completion>> {
    let mut found: Vec<Completion> = Vec::new();
    let mut read = 0;
    for name in names(snapshot, typed, MAX_WORDS)? {
        for row in snapshot.symbols_named(&name)?.into_iter().filter(|row| row.kind.can_be_named()) {
            read += 1;
            if read > MAX_QUALIFIED || found.len() >= most {
                return Ok(found);
            }
            let hit = SymbolHit::read(snapshot, &row)?;
            let Some((owner, mark)) = owner_of(&hit.symbol().qualified_name, &name) else { continue };
            if !begins_words(qualifier, owner) {
                continue;
            }
            let text = format!("{owner}{mark}{name}");
            match found.iter_mut().find(|known| known.text == text) {
                Some(known) => known.symbols += 1,
                None => {
                    let (path, line) = (hit.version.path.clone(), row.line);
                    found.push(Completion { text, kind: Some(row.kind), path, line, symbols: 1 });
                }
            }
        }
    }
    Ok(found)
}

/// The name before the last one of a qualified name, and the separator between them.
fn owner_of<'q>(qualified: &'q str, name: &str) -> Option<(&'q str, &'static str)> {
    let before = qualified.strip_suffix(name)?;
    let mark = ["::", ".", "#"].into_iter().find(|mark| before.ends_with(mark))?;
    let owner = before.strip_suffix(mark)?.rsplit([':', '.', '#']).next()?;
    (!owner.is_empty()).then_some((owner, mark))
}

/// The symbol names of the view that continue what was typed, best first; at least `enough`, if there are as many.
fn names(snapshot: &Snapshot, typed: &str, enough: usize) -> Result<Vec<String>> {
    let wanted: Vec<char> = letters(typed).collect();
    // Names are stored without outer underscores.
    let Some(first) = typed.trim_start_matches('_').chars().next() else { return Ok(Vec::new()) };
    let start = first.to_lowercase().to_string();
    // The words of the dictionary are in lower case.
    let fit = |word: &str| {
        let mut rest = word.chars();
        match wanted.iter().all(|letter| rest.any(|char| char == *letter)) {
            true => PrefixDecision::Accept,
            false => PrefixDecision::Reject,
        }
    };
    let mut words = snapshot.words_with_prefix(TextField::Name, &start, fit)?;
    let begins = |word: &str| letters(word).take(wanted.len()).eq(wanted.iter().copied());
    words.sort_by_cached_key(|word| (!begins(word), word.len(), word.clone()));
    let mut names: Vec<String> = Vec::new();
    for word in words.iter().take(MAX_WORDS) {
        // Prefixes come first, and shorter words: the rest would not be shown.
        if names.len() >= enough {
            break;
        }
        names.extend(snapshot.names_like(word)?.into_iter().filter(|name| begins_words(typed, name)));
    }
    names.sort_by_cached_key(|name| (!name.starts_with(typed), !begins(name), name.len(), name.clone()));
    names.dedup();
    Ok(names)
}

fn files(snapshot: &Snapshot, typed: &str, most: usize) -> Result<Vec<Completion>> {
    let (folder, name) = typed.rsplit_once('/').map_or((None, typed), |(folder, name)| (Some(folder), name));
    let mut paths: Vec<&str> = Vec::new();
    for version in snapshot.versions_by_id()?.values() {
        let (above, file) = version.path.rsplit_once('/').unwrap_or(("", &version.path));
        let is_in_folder = folder.is_none_or(|folder| above == folder || above.ends_with(&format!("/{folder}")));
        if version.path.starts_with(typed) || (is_in_folder && begins_words(name, file)) {
            paths.push(&version.path);
        }
    }
    let is_prefix =
        |path: &str| path.starts_with(typed) || path.rsplit('/').next().is_some_and(|file| file.starts_with(name));
    paths.sort_unstable_by_key(|path| (!is_prefix(path), path.len(), *path));
    let file = |path: &str| Completion { text: path.into(), kind: None, path: path.into(), line: 1, symbols: 0 };
    Ok(paths.into_iter().take(most).map(file).collect())
}

/// The letters and digits in lower case.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Whether what was typed consists of beginnings of words of a name, in order, from its first word on. A capital letter
/// after a small one begins a word, as does any letter after another character.
fn begins_words(typed: &str, name: &str) -> bool {
    // Most names differ in the first letter.
    if letters(typed).next().is_none_or(|first| letters(name).next() != Some(first)) {
        return false;
    }
    let wanted: Vec<char> = letters(typed).collect();
    let mut letters_of_name: Vec<(char, bool)> = Vec::new();
    let mut before: Option<char> = None;
    let chars: Vec<char> = name.chars().collect();
    for (at, char) in chars.iter().enumerate() {
        if char.is_alphanumeric() {
            let is_after_small = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
            // The last capital of several begins a word: `HTTPResponse`.
            let is_before_small = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
            let is_start = !before.is_some_and(char::is_alphanumeric)
                || char.is_uppercase() && (is_after_small || is_before_small);
            letters_of_name.extend(char.to_lowercase().map(|letter| (letter, is_start)));
        }
        before = Some(*char);
    }
    // The positions in the name at which the letters so far can end.
    let mut ends: Vec<usize> = vec![0];
    for (number, letter) in wanted.iter().enumerate() {
        let mut next: Vec<usize> = Vec::new();
        for end in ends {
            let jumps = (number > 0).then(|| end + 1..letters_of_name.len()).into_iter().flatten();
            let steps = std::iter::once(end).chain(jumps.filter(|at| letters_of_name[*at].1));
            for at in steps.filter(|at| letters_of_name.get(*at).is_some_and(|(known, _)| known == letter)) {
                if !next.contains(&(at + 1)) {
                    next.push(at + 1);
                }
            }
        }
        ends = next;
    }
    !wanted.is_empty() && !ends.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_words_match() {
        let table = [
            ("QuerySe", "QuerySet", true),
            ("qs", "QuerySet", true),
            ("QS", "QuerySet", true),
            ("querys", "QuerySet", true),
            ("get_objec", "get_object_or_404", true),
            ("getObj", "get_object_or_404", true),
            ("goo4", "get_object_or_404", true),
            ("HTTPResp", "HTTPResponse", true),
            ("hr", "HTTPResponse", true),
            ("httpr", "HTTPResponse", true),
            ("_priv", "_private_name", true),
            ("set", "QuerySet", false),
            ("qet", "QuerySet", false),
            ("queryx", "QuerySet", false),
            ("", "QuerySet", false),
            ("parse2", "parse_utf8_2", true),
        ];
        for (typed, name, expected) in table {
            assert_eq!(begins_words(typed, name), expected, "{typed} {name}");
        }
    }

    #[test]
    fn owners_are_the_name_before() {
        assert_eq!(owner_of("django.db.QuerySet.filter", "filter"), Some(("QuerySet", ".")));
        assert_eq!(owner_of("auth::Jwt::check", "check"), Some(("Jwt", "::")));
        assert_eq!(owner_of("check", "check"), None);
        assert_eq!(split_qualifier("a.qs.filt"), (Some("qs"), "filt"));
        assert_eq!(split_qualifier("Jwt::ch"), (Some("Jwt"), "ch"));
        assert_eq!(split_qualifier("plain"), (None, "plain"));
    }
}

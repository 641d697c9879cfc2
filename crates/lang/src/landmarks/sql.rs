//! Finds database tables and routines: the objects of `CREATE` statements, in any dialect. A view is a table;
//! functions, procedures and triggers are routines.
//!
//! A statement begins at the start of a line or after a semicolon, because in some dialects nothing ends the previous
//! one. It ends with its semicolon. Semicolons in the body of a routine, between `BEGIN` and `END` or between dollar
//! signs, do not end it.

use codecompass_model::SymbolKind;

use super::scan::{Scanner, comment_above, is_word};
use super::{Landmark, LandmarkBuilder};

/// The maximum number of words between `CREATE` and the kind of object.
const MAX_CREATE_WORDS: usize = 12;

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let mut scan = Scanner::new(reading.text);
    // Whether a statement may begin here.
    let mut begins = true;
    // The number of open blocks and brackets in the statement.
    let (mut blocks, mut brackets) = (0usize, 0usize);
    let mut is_routine = false;
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        if skip_text(&mut scan) {
            continue;
        }
        match byte {
            b';' => {
                scan.at += 1;
                if blocks == 0 {
                    reading.close_to(0, scan.at);
                    (is_routine, brackets) = (false, 0);
                }
                begins = blocks == 0;
            }
            b'\n' => {
                scan.at += 1;
                begins = begins || blocks == 0 && brackets == 0;
            }
            byte if byte.is_ascii_whitespace() => scan.at += 1,
            byte if is_word(byte) || byte >= 0x80 => {
                let word = scan.word(is_word);
                if std::mem::take(&mut begins) && word.eq_ignore_ascii_case("create") {
                    if let Some(kind) = created(reading, &mut scan, start) {
                        (is_routine, blocks, brackets) = (kind == SymbolKind::Routine, 0, 0);
                    }
                } else if is_routine {
                    blocks = blocks_after(&mut scan, word, blocks);
                }
            }
            _ => {
                scan.at += 1;
                match byte {
                    b'(' => brackets += 1,
                    b')' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                begins = false;
            }
        }
    }
}

/// Returns the number of open blocks of a routine after a word.
fn blocks_after(scan: &mut Scanner<'_>, word: &str, blocks: usize) -> usize {
    let is = |what: &str| word.eq_ignore_ascii_case(what);
    if is("begin") || is("case") {
        return blocks + 1;
    }
    if !is("end") {
        return blocks;
    }
    // The end of a loop or a condition was not counted.
    while scan.byte().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
        scan.at += 1;
    }
    let next = scan.word(is_word).to_ascii_lowercase();
    match matches!(next.as_str(), "if" | "loop" | "while" | "repeat" | "for") {
        true => blocks,
        false => blocks.saturating_sub(1),
    }
}

/// Opens the landmark of a statement after its first word was read.
fn created(reading: &mut LandmarkBuilder<'_>, scan: &mut Scanner<'_>, start: usize) -> Option<SymbolKind> {
    let text = reading.text;
    let mut kind = None;
    for _ in 0..MAX_CREATE_WORDS {
        let word = next_word(scan)?.to_ascii_lowercase();
        kind = match word.as_str() {
            "table" | "view" => Some(SymbolKind::Table),
            "function" | "procedure" | "proc" | "trigger" => Some(SymbolKind::Routine),
            "index" | "type" | "schema" | "database" | "role" | "user" | "extension" | "sequence" => return None,
            _ => continue,
        };
        break;
    }
    let kind = kind?;
    let mut at = scan.at;
    let mut parts = name(scan);
    let is =
        |parts: &[(usize, &str)], what: &str| parts.first().is_some_and(|(_, word)| word.eq_ignore_ascii_case(what));
    if is(&parts, "if") {
        next_word(scan)?;
        if !text[at..scan.at].to_ascii_lowercase().contains("exists") {
            next_word(scan)?;
        }
        at = scan.at;
        parts = name(scan);
    }
    let (name_at, name) = parts.pop()?;
    let before: Vec<&str> = parts.iter().map(|(_, part)| *part).collect();
    reading.close_to(0, start);
    let header_end = if kind == SymbolKind::Routine { parameters_end(text, scan.at) } else { scan.at };
    let doc = comment_above(text, start, &["--"]);
    let before = before.join(".");
    let landmark = Landmark { kind, name, name_prefix: &before, start, at: name_at.max(at), header_end, doc };
    reading.open(landmark).then_some(kind)
}

/// Returns the next word after white space and comments; `None` if something follows that no statement has there.
fn next_word<'t>(scan: &mut Scanner<'t>) -> Option<&'t str> {
    while let Some(byte) = scan.byte() {
        if byte.is_ascii_whitespace() || matches!(byte, b'=' | b'@' | b'%' | b'`' | b'\'') {
            scan.at += 1;
        } else if !scan.skip_comment(&["--"]) {
            break;
        }
    }
    Some(scan.word(is_word)).filter(|word| !word.is_empty())
}

/// Returns the parts of a name, quoted or not, each with its offset.
fn name<'t>(scan: &mut Scanner<'t>) -> Vec<(usize, &'t str)> {
    const MAX_NAME_PARTS: usize = 4;
    let mut parts = Vec::new();
    scan.skip_space();
    while parts.len() < MAX_NAME_PARTS {
        let quote = scan.byte().filter(|byte| matches!(byte, b'"' | b'`' | b'['));
        scan.at += usize::from(quote.is_some());
        let at = scan.at;
        let part = match quote {
            None => scan.word(|byte| is_word(byte) || matches!(byte, b'$' | b'#')),
            Some(quote) => {
                let end = if quote == b'[' { b']' } else { quote };
                scan.word(|byte| byte != end && byte != b'\n')
            }
        };
        scan.at += usize::from(quote.is_some() && scan.byte().is_some_and(|byte| byte != b'\n'));
        if part.is_empty() {
            break;
        }
        parts.push((at, part));
        if scan.byte() != Some(b'.') {
            break;
        }
        scan.at += 1;
    }
    parts
}

/// Returns the end of the parameters that begin here; `at` if there are none.
fn parameters_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let rest = &rest[..rest.bytes().take(2 * super::MAX_HEADER_BYTES).count()];
    if !rest.trim_start().starts_with('(') {
        return at;
    }
    let mut open = 0usize;
    for (offset, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => continue,
        }
        if open == 0 {
            return at + offset + 1;
        }
    }
    at
}

/// Advances past the comment, string, quoted name or dollar-quoted text that begins here; returns whether there is one.
fn skip_text(scan: &mut Scanner<'_>) -> bool {
    match scan.byte() {
        Some(b'-' | b'/') => scan.skip_comment(&["--"]),
        Some(b'\'') => {
            skip_quoted(scan);
            true
        }
        Some(b'"' | b'`') => {
            scan.skip_string(true);
            true
        }
        Some(b'$') => {
            let start = scan.at;
            scan.at += 1;
            let tag = scan.word(is_word);
            if scan.byte() != Some(b'$') || tag.starts_with(|c: char| c.is_ascii_digit()) {
                scan.at = start + 1;
                return true;
            }
            scan.at += 1;
            scan.skip_past(&format!("${tag}$"));
            true
        }
        _ => false,
    }
}

/// Advances past a string. In some dialects a backslash escapes the quote: the string continues if text follows.
fn skip_quoted(scan: &mut Scanner<'_>) {
    scan.at += 1;
    let mut is_escaped = false;
    while let Some(byte) = scan.byte() {
        scan.at += 1;
        if byte == b'\'' {
            let ends = scan.byte().is_none_or(|next| matches!(next, b',' | b')' | b';' | b' ' | b'\n' | b'\r'));
            if !is_escaped || ends {
                return;
            }
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn finds_tables_and_routines() {
        let text = "-- People.\nCREATE TABLE IF NOT EXISTS public.\"users\" (\n  id int, -- ;\n  name text DEFAULT 'a;''b'\n);\ncreate or replace view v as select 1;\nCREATE INDEX i ON users (id);\nCREATE OR REPLACE FUNCTION f(a int, b text)\nRETURNS int AS $body$\nBEGIN\n  CREATE TABLE no (a int);\nEND;\n$body$ LANGUAGE plpgsql;\nCREATE TRIGGER t BEFORE INSERT ON users EXECUTE FUNCTION f();\nALTER TABLE users ADD x int;\n";
        let expected = ["table public.users 2-5", "table v 6-6", "routine f 8-13", "routine t 14-14"];
        assert_eq!(render_landmarks("sql", text), expected);
        let facts = facts("sql", text);
        assert_eq!(facts.symbols[0].name, "users");
        assert_eq!(facts.symbols[0].doc.map(|doc| doc.text(text)), Some("-- People."));
        assert_eq!(facts.symbols[2].signature, "CREATE OR REPLACE FUNCTION f(a int, b text)");
    }

    #[test]
    fn reads_other_dialects() {
        let text = "CREATE TABLE [dbo].[Users] (id int)\nGO\nCREATE PROCEDURE dbo.p @a int AS\nBEGIN\n  SELECT CASE WHEN 1 THEN 2 END;\n  IF x THEN y; END IF;\n  CREATE TABLE #t (a int);\nEND;\nCREATE TABLE `b` (x text);\nINSERT INTO b VALUES ('it\\'s; CREATE TABLE no (', '\\');\nCREATE TABLE c (x text);\n";
        let expected = ["table dbo.Users 1-2", "routine dbo.p 3-8", "table b 9-9", "table c 11-11"];
        assert_eq!(render_landmarks("sql", text), expected);
    }

    #[test]
    fn broken_statements_have_no_landmarks() {
        assert!(render_landmarks("sql", "CREATE\n").is_empty() && render_landmarks("sql", "CREATE TABLE").is_empty());
        assert!(
            render_landmarks("sql", "create table if").is_empty()
                && render_landmarks("sql", "$a$ create table b").is_empty()
        );
    }
}

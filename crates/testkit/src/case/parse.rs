//! Parses the lines of a case file into a [`Case`]. Errors carry the index of their line, from 0.

use std::collections::BTreeMap;
use std::ops::Range;

use super::answers::parse_answer;
use super::{Branch, Case, CaseQuery, Change, DEFAULT_BRANCH, Edit};
use crate::road_names::ROAD_NAMES;
use crate::shell_words;

/// Starts a file.
const FILE: &str = "=== ";
/// Starts a query.
const QUERY: &str = "? ";
/// Starts a line of prose between the parts of a case.
const NOTE: &str = "--- ";

impl Case {
    pub(super) fn parse_lines(&mut self) -> Result<(), (usize, String)> {
        let starts: Vec<usize> = (0..self.lines.len()).filter(|index| is_marker(&self.lines[*index])).collect();
        let first = starts.first().copied().unwrap_or(self.lines.len());
        self.parse_header(first)?;
        let mut trees = BranchTrees::default();
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(self.lines.len());
            let end = start + 1 + trimmed_len(&self.lines[start + 1..end]);
            let line = self.lines[*start].clone();
            let parsed = if let Some(head) = line.strip_prefix(FILE) {
                let body = self.lines[start + 1..end].to_vec();
                self.parse_file(head, &body, &mut trees)
            } else if let Some(command) = line.strip_prefix(QUERY) {
                self.parse_query(command, start + 1..end)
            } else {
                Ok(())
            };
            parsed.map_err(|message| (*start, message))?;
        }
        if self.queries.is_empty() {
            return Err((self.lines.len(), "the case has no query: add a line such as `? locate greet`".to_owned()));
        }
        for name in &self.unindexed {
            if !self.branches.iter().any(|branch| branch.name == *name) {
                return Err((0, format!("not indexed: there is no branch {name:?}")));
            }
        }
        Ok(())
    }

    fn parse_header(&mut self, end: usize) -> Result<(), (usize, String)> {
        let mut title = Vec::new();
        for index in 0..end {
            let line = self.lines[index].trim().to_owned();
            let parsed = if let Some(rest) = line.strip_prefix("roads:") {
                self.parse_roads(rest.trim())
            } else if let Some(rest) = line.strip_prefix("not indexed:") {
                self.unindexed = rest.split(',').map(|name| name.trim().to_owned()).collect();
                Ok(())
            } else if line == "folder: plain" {
                self.plain = true;
                Ok(())
            } else {
                title.push(line);
                Ok(())
            };
            parsed.map_err(|message| (index, message))?;
        }
        self.title = title.join(" ").trim().to_owned();
        if self.title.is_empty() {
            return Err((0, "a case starts with the sentence that it proves".to_owned()));
        }
        Ok(())
    }

    fn parse_roads(&mut self, text: &str) -> Result<(), String> {
        let (choice, reason) = text.split_once(" because ").unwrap_or((text, ""));
        if reason.trim().is_empty() {
            return Err("excluding a road requires a reason: `roads: all but killed because …`".to_owned());
        }
        let (keep, names) = match (choice.strip_prefix("all but "), choice.strip_prefix("only ")) {
            (Some(names), _) => (false, names),
            (_, Some(names)) => (true, names),
            _ => {
                return Err("expected `roads: all but … because …` or `roads: only … because …`".to_owned());
            }
        };
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        if let Some(name) = names.iter().find(|name| !ROAD_NAMES.contains(name)) {
            return Err(format!("there is no road {name:?}; the roads are: {}", ROAD_NAMES.join(", ")));
        }
        self.excluded_roads = ROAD_NAMES.iter().copied().filter(|name| names.contains(name) != keep).collect();
        Ok(())
    }

    fn parse_file(&mut self, head: &str, body: &[String], trees: &mut BranchTrees) -> Result<(), String> {
        let (branch, rest) = match head.split_once(": ") {
            Some((branch, rest)) => (branch.trim(), rest),
            None => (DEFAULT_BRANCH, head),
        };
        if self.plain && branch != DEFAULT_BRANCH {
            return Err("a plain folder has no branches and nothing uncommitted".to_owned());
        }
        if branch == DEFAULT_BRANCH && head.contains(": ") {
            return Err(format!("files of {DEFAULT_BRANCH} are written without the branch name"));
        }
        if branch == DEFAULT_BRANCH && !(self.branches.is_empty() && self.uncommitted.is_empty()) {
            return Err(format!("files of {DEFAULT_BRANCH} come before those of branches and uncommitted ones"));
        }
        let words = shell_words::split(rest)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let ["from", base] = words[..] {
            return self.start_branch(branch, base, body, trees);
        }
        if branch != DEFAULT_BRANCH && branch != UNCOMMITTED && !trees.0.contains_key(branch) {
            self.start_branch(branch, DEFAULT_BRANCH, &[], trees)?;
        }
        if branch == UNCOMMITTED && !trees.0.contains_key(branch) {
            trees.start(UNCOMMITTED, DEFAULT_BRANCH)?;
        }
        let text = join_lines(body);
        let change = match words[..] {
            [path] => Change { path: path.to_owned(), edit: Edit::Write(text) },
            [path, "deleted"] if body.is_empty() => Change { path: path.to_owned(), edit: Edit::Delete },
            [_, "deleted"] => return Err("a deleted file has no text".to_owned()),
            [path, "renamed", to] => {
                let text = (!body.is_empty()).then_some(text);
                Change { path: path.to_owned(), edit: Edit::Rename(to.to_owned(), text) }
            }
            _ => {
                return Err("expected `=== [BRANCH: ]PATH`, `… PATH deleted`, `… PATH renamed PATH` or \
                            `=== BRANCH: from BRANCH` (quote a path with spaces)"
                    .to_owned());
            }
        };
        trees.apply(branch, &change)?;
        match branch {
            DEFAULT_BRANCH => self.files.push(change),
            UNCOMMITTED => self.uncommitted.push(change),
            name => {
                let branch = self.branches.iter_mut().find(|branch| branch.name == name);
                branch.expect("because a branch starts before its first change").changes.push(change);
            }
        }
        Ok(())
    }

    fn start_branch(&mut self, name: &str, from: &str, body: &[String], trees: &mut BranchTrees) -> Result<(), String> {
        if name == DEFAULT_BRANCH || name == UNCOMMITTED {
            return Err(format!("{name:?} does not start from a branch"));
        }
        if !body.is_empty() {
            return Err("the start of a branch has no text".to_owned());
        }
        trees.start(name, from)?;
        self.branches.push(Branch { name: name.to_owned(), from: from.to_owned(), changes: Vec::new() });
        Ok(())
    }

    fn parse_query(&mut self, command: &str, block: Range<usize>) -> Result<(), String> {
        let words = shell_words::split(command)?;
        if words.is_empty() {
            return Err("the query is empty".to_owned());
        }
        let expected = parse_answer(&self.lines[block.clone()])?;
        self.queries.push(CaseQuery { line: block.start, words, expected, block });
        Ok(())
    }
}

/// The pseudo branch name for changes of the work tree.
const UNCOMMITTED: &str = "uncommitted";

/// The paths of each branch so far, to check deletions, renames and repeated writes.
#[derive(Default)]
struct BranchTrees(BTreeMap<String, BTreeMap<String, bool>>);

impl BranchTrees {
    fn start(&mut self, name: &str, from: &str) -> Result<(), String> {
        if self.0.contains_key(name) {
            return Err(format!("the branch {name:?} already exists"));
        }
        let base = match self.0.get(from) {
            Some(tree) => tree.keys().map(|path| (path.clone(), false)).collect(),
            None if from == DEFAULT_BRANCH => BTreeMap::new(),
            None => return Err(format!("there is no branch {from:?} yet")),
        };
        self.0.insert(name.to_owned(), base);
        Ok(())
    }

    /// Applies the change; the flag of a path says that this branch has already written it.
    fn apply(&mut self, branch: &str, change: &Change) -> Result<(), String> {
        let tree = self.0.entry(branch.to_owned()).or_default();
        let path = &change.path;
        let end = if let Edit::Rename(to, _) = &change.edit { to } else { path };
        if let Some(bad) = [path, end].into_iter().find(|path| !is_inside(path)) {
            return Err(format!("{bad:?} is outside the repository"));
        }
        match &change.edit {
            Edit::Write(_) if tree.insert(path.clone(), true) == Some(true) => {
                Err(format!("{path} is written twice on {branch}"))
            }
            Edit::Write(_) => Ok(()),
            Edit::Delete | Edit::Rename(..) if tree.remove(path).is_none() => {
                Err(format!("there is no {path} on {branch} to delete or rename"))
            }
            Edit::Delete => Ok(()),
            Edit::Rename(to, _) if tree.insert(to.clone(), true).is_some() => {
                Err(format!("{to} already exists on {branch}"))
            }
            Edit::Rename(..) => Ok(()),
        }
    }
}

fn is_inside(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"))
}

pub(super) fn is_marker(line: &str) -> bool {
    [FILE, QUERY, NOTE].iter().any(|marker| line.starts_with(marker))
}

/// Returns the number of lines without the trailing blank ones.
fn trimmed_len(lines: &[String]) -> usize {
    lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1)
}

fn join_lines(body: &[String]) -> String {
    body.iter().map(|line| unescape(line, is_marker).to_owned() + "\n").collect()
}

/// Removes one `\` from a line that would be special without its backslashes.
pub(super) fn unescape(line: &str, special: fn(&str) -> bool) -> &str {
    let bare = line.trim_start_matches('\\');
    if bare.len() < line.len() && special(bare) { &line[1..] } else { line }
}

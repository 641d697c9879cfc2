//! Branches of `#if` that are not complete declarations or statements: one of them is left, the others are blanked.
//!
//! A group of branches is left as it is where each branch is complete: it begins and ends between declarations or
//! statements, and closes what it opens. Of another group, the lines `#if` to `#endif` are blanked. All its branches
//! stay where they can follow one another, as elements of a list do. Otherwise one is chosen: the branch that the value
//! of the condition demands, if an earlier group on the same condition was decided, or else the one that opens or closes
//! the most. Of the other branches, what is complete stays.

use std::collections::HashMap;
use std::ops::Range;

use super::edits::Edits;
use super::tokens::Token;

/// The maximum depth of nested conditions; deeper ones are left as they are.
const MAX_DEPTH: usize = 32;

/// Words that go on with what comes before them.
const CONTINUING_WORDS: &[&str] = &["else", "catch", "where"];

/// Words before braces that cannot end without them.
const OPENING_WORDS: &[&str] = &["do", "else", "struct", "class", "union", "enum", "namespace", "extern", "try", "{"];

/// What languages with a preprocessor differ in.
pub(crate) struct Branches {
    /// Names with a known value.
    pub(crate) known: &'static [(&'static str, bool)],
}

/// Blanks the branches that cannot be parsed together.
pub(crate) fn resolve_branches(tokens: &[Token<'_>], language: &Branches, edits: &mut Edits<'_, '_>) {
    if !tokens.iter().any(Token::is_directive) {
        return;
    }
    let known = language.known;
    let values = known.iter().copied().collect();
    let mut pass = Pass { tokens, known, values, open: Vec::new(), branch: Branch::default(), round: 0, skipped: 0 };
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_directive() {
            pass.token(at);
            continue;
        }
        match token.directive() {
            "if" | "ifdef" | "ifndef" => pass.begin(at),
            "elif" | "else" | "elifdef" | "elifndef" => pass.next_branch(at),
            "endif" => pass.end(at, edits),
            _ => {}
        }
    }
}

/// The kind of an open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// A parenthesis or a square bracket.
    Round,
    /// The braces of a list of values or of an enum.
    List,
    /// Other braces: declarations or statements.
    Block,
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Open {
    kind: Bracket,
    token: usize,
    /// The first token of the declaration or statement with the bracket.
    item: usize,
}

/// A branch, or the whole file, as far as it was read.
#[derive(Default)]
struct Branch {
    /// The directive before it.
    directive: usize,
    /// Brackets that it opens.
    opens: Vec<Open>,
    /// The number of brackets that it closes and did not open, and the last of them.
    closes: usize,
    last_close: usize,
    /// Its first and last token.
    first: Option<usize>,
    last: Option<usize>,
    /// Whether a declaration or statement ends at its last token.
    is_complete: bool,
    /// The first token of the current declaration or statement.
    item: usize,
    /// Whether the current declaration or statement contains `enum`.
    is_enum: bool,
}

impl Branch {
    fn is_balanced(&self) -> bool {
        self.opens.is_empty() && self.closes == 0
    }
}

/// The branches between `#if` and `#endif`.
struct Group {
    branches: Vec<Branch>,
    /// What contains the group, as far as it was read.
    around: Branch,
    /// The bracket around the group.
    context: Bracket,
    /// Whether the group begins between declarations or statements.
    is_aligned: bool,
}

/// The pass over the tokens of a file.
struct Pass<'p, 't> {
    tokens: &'p [Token<'t>],
    /// Conditions with the same value in all files.
    known: &'p [(&'static str, bool)],
    /// Conditions with a decided value.
    values: HashMap<&'t str, bool>,
    open: Vec<Group>,
    branch: Branch,
    /// The first of the last pair of parentheses.
    round: usize,
    /// The number of open conditions that are too deep.
    skipped: usize,
}

impl<'t> Pass<'_, 't> {
    /// Returns the bracket around the next token.
    fn context(&self) -> Bracket {
        match self.branch.opens.last() {
            Some(open) => open.kind,
            None => self.open.last().map_or(Bracket::Block, |group| group.context),
        }
    }

    fn text(&self, at: usize) -> &'t str {
        self.tokens[at].text
    }

    fn token(&mut self, at: usize) {
        let text = self.text(at);
        if self.branch.first.is_none() {
            (self.branch.first, self.branch.item) = (Some(at), at);
        }
        if self.branch.is_complete {
            (self.branch.item, self.branch.is_enum) = (at, false);
        }
        self.branch.is_complete = false;
        match text {
            "(" | "[" => {
                self.push(Bracket::Round, at);
                self.branch.is_enum = false;
            }
            "{" => {
                let kind = self.brace();
                self.push(kind, at);
                self.branch.is_complete = kind == Bracket::Block;
            }
            ")" | "]" => self.close_round(at),
            "}" => self.close_brace(at),
            ";" | ":" => self.branch.is_complete = self.context() == Bracket::Block,
            "enum" => self.branch.is_enum = true,
            _ => self.branch.is_complete = self.is_lone_macro(at, at),
        }
        self.branch.last = Some(at);
    }

    fn push(&mut self, kind: Bracket, token: usize) {
        let item = self.branch.item;
        self.branch.opens.push(Open { kind, token, item });
    }

    /// Returns the kind of an opening brace.
    fn brace(&self) -> Bracket {
        let before = self.branch.last.map_or("", |last| self.text(last));
        let is_list = self.branch.is_enum
            || matches!(before, "=" | "," | "(" | "return")
            || self.context() == Bracket::List
            || self.context() == Bracket::Round && before == ")" && !self.is_lambda();
        if is_list { Bracket::List } else { Bracket::Block }
    }

    /// Whether the parentheses before a brace are the parameters of a lambda.
    fn is_lambda(&self) -> bool {
        self.round.checked_sub(1).is_some_and(|before| self.text(before) == "]")
    }

    fn close_round(&mut self, at: usize) {
        match self.branch.opens.last() {
            Some(open) if open.kind == Bracket::Round => {
                let open = open.token;
                self.branch.opens.pop();
                self.round = open;
                self.branch.is_complete = open > 0 && self.is_lone_macro(open - 1, at);
            }
            Some(_) => {}
            None => (self.branch.closes, self.branch.last_close) = (self.branch.closes + 1, at),
        }
    }

    fn close_brace(&mut self, at: usize) {
        while self.branch.opens.pop_if(|open| open.kind == Bracket::Round).is_some() {}
        if self.branch.opens.pop().is_none() {
            (self.branch.closes, self.branch.last_close) = (self.branch.closes + 1, at);
        }
        self.branch.is_complete = self.context() == Bracket::Block;
    }

    /// Whether a statement consists of a macro, alone on its line.
    fn is_lone_macro(&self, name: usize, end: usize) -> bool {
        let (first, next) = (self.tokens[name], self.tokens.get(end + 1));
        name == self.branch.item
            && first.is_first
            && first.is_macro()
            && self.context() == Bracket::Block
            && next.is_none_or(|next| next.is_first && !matches!(next.text, "{" | "(" | "=" | ";"))
    }

    fn begin(&mut self, at: usize) {
        if self.open.len() >= MAX_DEPTH {
            self.skipped += 1;
            return;
        }
        let context = self.context();
        let is_aligned = context == Bracket::Block
            && match self.branch.last {
                Some(_) => self.branch.is_complete,
                None => self.open.last().is_none_or(|group| group.is_aligned),
            };
        let around = std::mem::replace(&mut self.branch, Branch { directive: at, ..Branch::default() });
        self.open.push(Group { branches: Vec::new(), around, context, is_aligned });
    }

    fn next_branch(&mut self, at: usize) {
        if self.skipped > 0 {
            return;
        }
        if let Some(group) = self.open.last_mut() {
            let next = Branch { directive: at, ..Branch::default() };
            group.branches.push(std::mem::replace(&mut self.branch, next));
        }
    }

    fn end(&mut self, at: usize, edits: &mut Edits<'_, '_>) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let Some(mut group) = self.open.pop() else { return };
        let around = std::mem::take(&mut group.around);
        group.branches.push(std::mem::replace(&mut self.branch, around));
        let chosen = match self.is_parsed_as_written(&group) {
            true => None,
            false => self.linearise(&group, at, edits),
        };
        match chosen {
            None => self.go_on_after_all(&group),
            Some(chosen) if chosen < group.branches.len() => self.go_on_after(group.branches.swap_remove(chosen)),
            Some(_) => {}
        }
    }

    /// Continues after a group whose branches all stay.
    fn go_on_after_all(&mut self, group: &Group) {
        let branches = || group.branches.iter().filter(|branch| branch.last.is_some());
        let Some(last) = branches().next_back() else { return };
        let is_complete = branches().all(|branch| branch.is_complete);
        self.go_on(last, is_complete);
    }

    /// Continues after the branch that was chosen: what it leaves open stays open after it.
    fn go_on_after(&mut self, branch: Branch) {
        if branch.last.is_none() {
            return;
        }
        self.go_on(&branch, branch.is_complete);
        for _ in 0..branch.closes {
            if self.branch.opens.pop().is_none() {
                (self.branch.closes, self.branch.last_close) = (self.branch.closes + 1, branch.last_close);
            }
        }
        self.branch.opens.extend(branch.opens);
    }

    fn go_on(&mut self, branch: &Branch, is_complete: bool) {
        let is_new = self.branch.last.is_none() || self.branch.is_complete || branch.first != Some(branch.item);
        if is_new {
            (self.branch.item, self.branch.is_enum) = (branch.item, branch.is_enum);
        }
        self.branch.first = self.branch.first.or(branch.first);
        self.branch.last = branch.last;
        self.branch.is_complete = is_complete;
    }

    /// Whether the grammar parses a group as it is.
    fn is_parsed_as_written(&self, group: &Group) -> bool {
        let is_whole = |branch: &Branch| {
            let first = branch.first.map_or("", |first| self.text(first));
            branch.is_balanced() && (branch.is_complete || branch.last.is_none()) && !CONTINUING_WORDS.contains(&first)
        };
        group.is_aligned && group.branches.iter().all(is_whole)
    }

    /// Blanks the directives of a group, and the branches that cannot stay. Returns the branch that was chosen, a number
    /// after the last for none.
    fn linearise(&mut self, group: &Group, end: usize, edits: &mut Edits<'_, '_>) -> Option<usize> {
        let branches = &group.branches;
        branches.iter().for_each(|branch| edits.blank(branch.directive..branch.directive + 1));
        edits.blank(end..end + 1);
        let values = self.branch_values(branches);
        let is_decided = values.contains(&Some(true)) || values.iter().all(|value| *value == Some(false));
        let follow_one_another = branches.iter().all(Branch::is_balanced) && self.follow_one_another(group);
        if follow_one_another && !branches.iter().any(|branch| self.is_never(branch)) {
            return None;
        }
        let chosen = match is_decided {
            true => values.iter().position(|value| *value == Some(true)).unwrap_or(branches.len()),
            false => best_branch(branches, &values),
        };
        self.decide(branches, chosen);
        for (at, branch) in branches.iter().enumerate().filter(|(at, _)| *at != chosen) {
            let to = branches.get(at + 1).map_or(end, |next| next.directive);
            self.blank_incomplete(branch, branch.directive + 1..to, at < chosen, edits);
        }
        Some(chosen)
    }

    /// Whether a branch is never compiled, whatever is configured.
    fn is_never(&self, branch: &Branch) -> bool {
        match condition(self.text(branch.directive)) {
            Condition::Never => true,
            Condition::Name(name, is) => self.known.iter().any(|(known, value)| *known == name && *value != is),
            _ => false,
        }
    }

    /// Whether the branches make sense one after another.
    fn follow_one_another(&self, group: &Group) -> bool {
        let mut branches = group.branches.iter().filter(|branch| branch.last.is_some());
        if group.branches.len() == 1 {
            return true;
        }
        let joins = |text: &str| matches!(text, "," | "|" | "&" | "+" | "?");
        let edge = |at: Option<usize>| at.map_or("", |at| self.text(at));
        if group.context != Bracket::Block {
            let is_text = |at: Option<usize>| edge(at).starts_with('"');
            return branches.all(|branch| {
                joins(edge(branch.first)) || joins(edge(branch.last)) || is_text(branch.first) && is_text(branch.last)
            });
        }
        let before = edge(self.branch.last);
        let is_statement = |branch: &Branch| {
            let first = branch.first.map_or("", |first| self.text(first));
            let next = branch.first.and_then(|first| self.tokens.get(first + 1)).map_or("", |next| next.text);
            let begins = match first {
                "else" => next == "if",
                _ => !matches!(first, "{" | "=" | ":" | "." | "-") && !joins(first),
            };
            begins && branch.is_complete
        };
        matches!(before, ")" | "else" | "}" | ";" | "{" | "") && branches.all(is_statement)
    }

    /// Returns the values of the conditions of branches, as far as they are known.
    fn branch_values(&self, branches: &[Branch]) -> Vec<Option<bool>> {
        let mut values = Vec::with_capacity(branches.len());
        // Whether one of the branches before is the one; `None` if that is unknown.
        let mut before = Some(false);
        for branch in branches {
            let own = match condition(self.text(branch.directive)) {
                Condition::Always => Some(true),
                Condition::Never => Some(false),
                Condition::Name(name, is) => self.values.get(name).map(|value| *value == is),
                Condition::Other => None,
            };
            values.push(match (before, own) {
                (Some(true), _) | (_, Some(false)) => Some(false),
                (Some(false), own) => own,
                (None, _) => None,
            });
            before = match (before, own) {
                (Some(true), _) | (_, Some(true)) if before.is_some() => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        values
    }

    /// Records the value that a choice gives to a condition.
    fn decide(&mut self, branches: &[Branch], chosen: usize) {
        for (at, branch) in branches.iter().enumerate().take(chosen + 1) {
            if let Condition::Name(name, is) = condition(self.text(branch.directive)) {
                self.values.entry(name).or_insert(is == (at == chosen));
            }
        }
    }

    /// Blanks a branch that was not chosen, except for complete declarations and statements.
    fn blank_incomplete(&self, branch: &Branch, range: Range<usize>, is_before: bool, edits: &mut Edits<'_, '_>) {
        let first = branch.first.map_or("", |first| self.text(first));
        let goes_on = CONTINUING_WORDS.contains(&first);
        if branch.closes == 0 && is_before && !goes_on {
            return match branch.opens.first() {
                None if branch.is_complete => {}
                Some(open) if open.kind == Bracket::Block => self.blank_opening(branch, *open, range, edits),
                _ => edits.blank_code(range),
            };
        }
        if branch.opens.is_empty() && branch.closes > 0 && !is_before && branch.is_complete {
            return edits.blank_code(range.start..branch.last_close + 1);
        }
        edits.blank_code(range);
    }

    /// Blanks what a branch leaves open: `if (a) {` becomes `if (a) ;`, and a function only declared.
    fn blank_opening(&self, branch: &Branch, open: Open, range: Range<usize>, edits: &mut Edits<'_, '_>) {
        let is_last = branch.opens.len() == 1 && branch.last == Some(open.token);
        if is_last && !OPENING_WORDS.contains(&self.text(open.item)) {
            edits.put(self.tokens[open.token].start, b';');
        } else {
            edits.blank_code(open.item.max(range.start)..range.end);
        }
    }
}

/// Returns the branch to parse where no condition is known: the one that opens or closes the most.
fn best_branch(branches: &[Branch], values: &[Option<bool>]) -> usize {
    let weight = |at: &usize| branches[*at].opens.len() + branches[*at].closes;
    let candidates = || (0..branches.len()).filter(|&at| values[at] != Some(false));
    let most = candidates().map(|at| weight(&at)).max().unwrap_or(0);
    let mut best = candidates().filter(|at| weight(at) == most);
    let only_opens = candidates().all(|at| branches[at].closes == 0) && most > 0;
    let chosen = if only_opens { best.next_back() } else { best.next() };
    chosen.unwrap_or(branches.len())
}

/// The condition of a branch.
enum Condition<'t> {
    Always,
    Never,
    /// Whether a name is defined or true, or is not.
    Name(&'t str, bool),
    Other,
}

/// Parses the condition of a preprocessor line.
fn condition(line: &str) -> Condition<'_> {
    let rest = line.trim_start_matches('#').trim_start();
    let (word, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len()));
    let end = ["//", "/*"].iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    let (mut rest, mut is) = (rest[..end].trim(), true);
    match word {
        "else" => return Condition::Always,
        "ifndef" | "elifndef" => is = false,
        "ifdef" | "elifdef" => {}
        _ => {
            if let Some(inner) = rest.strip_prefix('!') {
                (rest, is) = (inner.trim_start(), false);
            }
            rest = rest.strip_prefix("defined").map_or(rest, str::trim_start);
            rest = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(rest).trim();
        }
    }
    let is_name = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest {
        "0" | "false" => Condition::Never,
        "1" | "true" => Condition::Always,
        _ if is_name => Condition::Name(rest, is),
        _ => Condition::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Branches, resolve_branches};
    use crate::preprocessor::{Edits, Strings, tokens};

    /// Returns the lines of a text that are left, without the blank ones.
    fn left(text: &str) -> String {
        let tokens = tokens(text, Strings::C);
        let mut edits = Edits::new(&tokens, &[], true);
        resolve_branches(&tokens, &Branches { known: &[("KNOWN", false)] }, &mut edits);
        let text = edits.apply(text).map_or(text.to_owned(), |repair| repair.text);
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn complete_branches_stay() {
        for text in [
            "#ifndef H\n#define H\nint a;\n#if A\nint f(void) {\n}\n#else\nint g(void);\n#endif\n#endif",
            "void f(void) {\nswitch (a) {\n#if A\ncase 1:\nb();\n#endif\ndefault:\nc();\n}\n}",
            "#if A\n#include <a.h>\n#elif B\n#error\n#endif",
        ] {
            assert_eq!(left(text), text);
        }
    }

    #[test]
    fn one_branch_of_others_is_left() {
        for (text, expected) in [
            ("#if A\nint f(int a) {\n#else\nint f(void) {\n#endif\n}", "int f(int a) ;\nint f(void) {\n}"),
            ("#ifdef A\nif (a) {\n#endif\nb();\n#ifdef A\n}\n#endif", "if (a) {\nb();\n}"),
            ("#ifndef A\nc();\n#else\nif (a) {\n#endif\nb();\n#ifdef A\n}\n#endif", "c();\nif (a) {\nb();\n}"),
            ("#ifdef KNOWN\nextern \"C\" {\n#endif\nint a;\n#ifdef KNOWN\n}\n#endif", "int a;"),
            ("f(a\n#if A\n, b\n#else\n, c\n#endif\n);", "f(a\n, b\n, c\n);"),
            ("f(\n#if A\nb\n#else\nc\n#endif\n);", "f(\nb\n);"),
            ("#if 0\nif (a) {\n#else\nif (b) {\n#endif\n}", "if (a) ;\nif (b) {\n}"),
            ("if (a) {\n}\n#if A\nelse if (b) {\n}\n#endif\nc();", "if (a) {\n}\nelse if (b) {\n}\nc();"),
            ("a = {\n#if A\n1,\n#endif\n2 };", "a = {\n1,\n2 };"),
            ("f(\n#if A\nb\n#else\n#define C\nc\n#endif\n);", "f(\nb\n#define C\n);"),
        ] {
            assert_eq!(left(text), expected, "{text}");
        }
    }
}

//! Worlds for the resolver tests: a few files in one text, with marks under the code that give its resolution.
//!
//! ```text
//! A method is found by the type of its receiver.
//!
//! == src/main.rs
//! fn run(c: &Circle) {
//!     c.area();
//!       ^^^^ → src/kit.rs:12
//! }
//! ```
//!
//! The text starts with the sentence that it proves; `== path` starts a file. A line whose first character is a caret
//! is a mark: its carets are below the marked text in the nearest line above that is not a mark. Marks are removed
//! before the code is parsed, so they need no comment sign, may be inside strings, may start in the first column, and
//! do not count as lines: a new mark moves no target. The mark kind ([`MarkKind`]) is before the arrow, empty for a
//! reference. The answer is after it, in the notation of the test that reads it, or `?` for an answer to be filled in
//! ([`fill_in`]). `TRUTH but TODAY` is a known gap: the answer by the language's rules, and the resolver's answer.

/// Starts a file.
const FILE: &str = "== ";
/// Separates a mark kind and its answer.
const ARROW: char = '→';
/// The placeholder for an answer to be filled in.
const UNFILLED: &str = "?";
/// Separates the right answer of a known gap from the resolver's.
const BUT: &str = " but ";

/// A few files and their marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedWorld {
    /// The sentence that it proves.
    pub title: String,
    /// Path and text of each file, without marks.
    pub files: Vec<(String, String)>,
    /// The marks, in order.
    pub marks: Vec<Mark>,
}

/// An expectation about one position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line of the mark in the whole text, from 1.
    pub source_line: usize,
    /// The marked file.
    pub path: String,
    /// The marked line in the file, from 1.
    pub line: u32,
    /// The marked column in bytes, from 0.
    pub column: u32,
    /// The text above the carets.
    pub name: String,
    /// The kind of the mark.
    pub kind: MarkKind,
    /// The answer by the language's rules; `None` for one to be filled in.
    pub expected: Option<String>,
    /// The resolver's answer, if this is a known gap; it differs from `expected`.
    pub today: Option<String>,
}

/// The property that a mark checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The resolution of the reference.
    Reference,
    /// The resolution of the import.
    Import,
    /// The target of a returned call, through the function that returned it.
    ReturnedCall,
    /// The methods that implement or override the symbol named here.
    Implementations,
}

/// The mark kinds by the word before the arrow.
const MARK_KINDS: &[(&str, MarkKind)] = &[
    ("", MarkKind::Reference),
    ("import", MarkKind::Import),
    ("reached", MarkKind::ReturnedCall),
    ("implementations", MarkKind::Implementations),
];

impl MarkedWorld {
    /// Parses a world. An error carries its line, from 1.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut world = MarkedWorld::default();
        let mut title = Vec::new();
        let mut code: Vec<&str> = Vec::new();
        for (at, line) in (1..).zip(text.lines()) {
            if let Some(path) = line.strip_prefix(FILE) {
                world.finish_file(&mut code);
                world.files.push((path.trim().to_owned(), String::new()));
            } else if world.files.is_empty() {
                title.push(line.trim());
            } else if line.trim_start().starts_with('^') {
                let mark = world.mark(at, line, &code).map_err(|message| (at, message))?;
                world.marks.push(mark);
            } else {
                code.push(line);
            }
        }
        world.finish_file(&mut code);
        world.title = title.join(" ").trim().to_owned();
        match () {
            () if world.title.is_empty() => Err((1, "a world starts with the sentence that it proves".into())),
            () if world.marks.is_empty() => Err((1, "the world has no marks, so it proves nothing".into())),
            () => Ok(world),
        }
    }

    /// Sets the text of the last file. Trailing blank lines do not count.
    fn finish_file(&mut self, code: &mut Vec<&str>) {
        while code.last().is_some_and(|line| line.trim().is_empty()) {
            code.pop();
        }
        if let Some((_, text)) = self.files.last_mut() {
            *text = code.drain(..).flat_map(|line| [line, "\n"]).collect();
        }
    }

    fn mark(&self, written_at: usize, line: &str, code: &[&str]) -> Result<Mark, String> {
        let (before, words) =
            line.split_once(ARROW).ok_or("a mark consists of carets, a mark kind, `→` and the answer")?;
        let carets = before.trim_start();
        let width = carets.chars().take_while(|&sign| sign == '^').count();
        let blank = before.chars().count() - carets.chars().count();
        let (of, _) = self.files.last().ok_or("a mark must be below the code of a file")?;
        let above = *code.last().ok_or("a mark must be below a line of code")?;
        let mut over = above.char_indices().map(|(at, _)| at).chain([above.len()]).skip(blank);
        let start = over.next().ok_or("there is no code above the carets")?;
        let end = over.nth(width - 1).ok_or("the carets extend past the end of the line above")?;
        if above.chars().zip(before.chars()).take(blank).any(|(above, blank)| (above == '\t') != (blank == '\t')) {
            return Err("the white space before the carets differs from that of the line above".into());
        }
        let word = carets[width..].trim();
        let asked = MARK_KINDS.iter().find(|(known, _)| *known == word).map(|(_, asked)| *asked);
        let (expected, today) = match words.split_once(BUT) {
            Some((truth, today)) => (truth.trim(), Some(today.trim().to_owned())),
            None => (words.trim(), None),
        };
        if today.as_deref() == Some(expected) {
            return Err("both answers of the gap are the same, so it is none".into());
        }
        Ok(Mark {
            source_line: written_at,
            path: of.clone(),
            line: code.len() as u32,
            column: start as u32,
            name: above[start..end].to_owned(),
            kind: asked.ok_or_else(|| format!("unknown mark kind {word:?}"))?,
            expected: Some(expected).filter(|words| *words != UNFILLED).map(str::to_owned),
            today,
        })
    }
}

/// Returns the text of a world with answers in place of `?`, each with the line of its mark.
pub fn fill_in(text: &str, answers: &[(usize, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (at, answer) in answers {
        let line = &mut lines[at - 1];
        let end = line.find(ARROW).expect("because a mark has an arrow") + ARROW.len_utf8();
        line.truncate(end);
        line.push(' ');
        line.push_str(answer);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "It is so.\n\n== a.go\n\tf(ü, x)\n\t^ → b.go:1\n\t     ^ → ?\n\n== b.go\nfunc f() {}\n     ^ implementations → nothing\n}\n\n";

    fn parse_error(text: &str) -> (usize, String) {
        MarkedWorld::parse(text).expect_err("because the text is not a world")
    }

    #[test]
    fn marks_refer_to_code_above() {
        let world = MarkedWorld::parse(TEXT).expect("because the text is a world");
        assert_eq!(world.title, "It is so.");
        let files = [("a.go", "\tf(ü, x)\n"), ("b.go", "func f() {}\n}\n")];
        assert_eq!(world.files, files.map(|(path, text)| (path.to_owned(), text.to_owned())));
        let mark = |written_at, path: &str, column, name: &str, asked, expected: Option<&str>| {
            let (path, name, expected) = (path.to_owned(), name.to_owned(), expected.map(str::to_owned));
            Mark { source_line: written_at, path, line: 1, column, name, kind: asked, expected, today: None }
        };
        let expected = [
            mark(5, "a.go", 1, "f", MarkKind::Reference, Some("b.go:1")),
            mark(6, "a.go", 7, "x", MarkKind::Reference, None),
            mark(10, "b.go", 5, "f", MarkKind::Implementations, Some("nothing")),
        ];
        assert_eq!(world.marks, expected);
    }

    #[test]
    fn gaps_have_two_answers() {
        let world = MarkedWorld::parse("It is so.\n== a.go\nf\n^ → b.go:1 but guess b.go:2\n");
        let mark = &world.expect("because the text is a world").marks[0];
        assert_eq!((mark.expected.as_deref(), mark.today.as_deref()), (Some("b.go:1"), Some("guess b.go:2")));
    }

    #[test]
    fn fills_in_unanswered_marks() {
        let filled = fill_in(TEXT, &[(6, "local".to_owned())]);
        assert_eq!(filled, TEXT.replace("→ ?", "→ local"));
    }

    #[test]
    fn ambiguous_worlds_are_rejected() {
        let world = |code: &str| format!("It is so.\n== a.go\n{code}");
        assert_eq!(parse_error("== a.go\nf\n^ → local\n").1, "a world starts with the sentence that it proves");
        assert_eq!(parse_error(&world("f\n")), (1, "the world has no marks, so it proves nothing".into()));
        assert_eq!(parse_error(&world("^ → local\n")), (3, "a mark must be below a line of code".into()));
        assert_eq!(parse_error(&world("f\n^ local\n")).0, 4);
        assert_eq!(parse_error(&world("f\n^ asks → local\n")).1, "unknown mark kind \"asks\"");
        let same = parse_error(&world("f\n^ → local but local\n")).1;
        assert_eq!(same, "both answers of the gap are the same, so it is none");
        assert_eq!(parse_error(&world("f()\n ^^^ → local\n")).1, "the carets extend past the end of the line above");
        assert_eq!(parse_error(&world("f\n   ^ → local\n")).1, "there is no code above the carets");
        assert!(parse_error(&world("\tf\n ^ → local\n")).1.starts_with("the white space before the carets"));
    }
}

//! Expectations in comments: properties of a fixture, written in the fixture.
//!
//! A comment line that contains only the comment mark, spaces, carets and words states an expectation about the nearest
//! line above that is not an expectation itself, at the column of its first caret:
//!
//! ```text
//! fn greet() {
//! // ^^^^^ def fn greet
//! ```
//!
//! The test that reads the words defines their meaning.

/// An expectation about one position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The line of the position, from 1.
    pub line: u32,
    /// The column of the position in bytes, from 0.
    pub column: u32,
    /// The words after the carets.
    pub text: String,
}

/// Returns the expectations in a text with this comment mark, in order.
pub fn expectations(text: &str, comment: &str) -> Vec<Expectation> {
    let mut line_of_code = 0;
    let mut found = Vec::new();
    for (line, content) in (1u32..).zip(text.lines()) {
        match parse_expectation(content, comment) {
            Some((column, words)) => found.push(Expectation { line: line_of_code, column, text: words.to_owned() }),
            None => line_of_code = line,
        }
    }
    found
}

/// Returns the column and the words of an expectation; `None` for any other line.
fn parse_expectation<'t>(line: &'t str, comment: &str) -> Option<(u32, &'t str)> {
    let carets = line.trim_start().strip_prefix(comment)?.trim_start_matches(' ');
    let words = carets.trim_start_matches('^');
    let column = line.len() - carets.len();
    (words.len() < carets.len()).then(|| (column as u32, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectation_refers_to_nearest_code_line() {
        let text = "fn greet() {\n// ^^^^^ def fn greet\n//       ^ end\n    // plain ^ comment\n//^\nx\n";
        let place = |line, column, text: &str| Expectation { line, column, text: text.to_owned() };
        let expected = [place(1, 3, "def fn greet"), place(1, 9, "end"), place(4, 2, "")];
        assert_eq!(expectations(text, "//"), expected);
        assert_eq!(expectations("a b\n# ^ ref b\n", "#"), [place(1, 2, "ref b")]);
        assert_eq!(expectations("", "//"), []);
    }
}

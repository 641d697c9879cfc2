//! Bats tests: `@test "title" {` is not shell syntax, so the parser reads a function of the same length instead.

use codecompass_model::Span;

use crate::spec::Walk;

/// The prefix of a test.
const MARK: &str = "@test ";

/// Replaces tests by functions; `None` when there are none.
pub(super) fn as_functions(text: &str) -> Option<String> {
    if !text.contains(MARK) {
        return None;
    }
    let mut all = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match titled(line) {
            Some(title) => {
                all.extend(std::iter::repeat_n(' ', title.start as usize));
                let bytes = line.as_bytes()[title.start as usize..title.end as usize].iter().enumerate();
                // The name starts with a letter, so it is neither a number nor a keyword.
                all.extend(bytes.map(|(at, byte)| match byte {
                    _ if at == 0 => 'T',
                    byte if byte.is_ascii_alphanumeric() => char::from(*byte),
                    _ => '_',
                }));
                all.push_str("()");
                all.push_str(&line[title.end as usize + 2..]);
            }
            None => all.push_str(line),
        }
    }
    Some(all)
}

/// Returns the span of the title in a line that starts a test.
fn titled(line: &str) -> Option<Span> {
    let rest = line.trim_start().strip_prefix(MARK)?.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let start = line.len() - rest.len() + 1;
    let body = line.trim_end().strip_suffix('{')?;
    let end = body.trim_end().strip_suffix(quote)?.len();
    (end > start && body.len() > end + 1).then_some(Span { start: start as u32, end: end as u32 })
}

/// Returns the start of the test with this title node; `None` when it is not a test.
pub(super) fn start(walk: &Walk<'_, '_>, title: usize) -> Option<u32> {
    let start = walk.tree.node(title).start;
    let before = walk.draft.slice(Span { start: walk.draft.line_start(start), end: start });
    let mark = before.trim_start();
    let is_test = mark.starts_with(MARK) && mark.ends_with(['"', '\'']);
    is_test.then(|| start - mark.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::as_functions;

    #[test]
    fn tests_become_functions_of_same_length() {
        let cases = [
            ("@test \"it runs\" {\n", "       Tt_runs(){\n"),
            ("  @test 'ä' {", "         T_(){"),
            ("@test \"a\"{\n", "@test \"a\"{\n"),
            ("@test \"\" {\n", "@test \"\" {\n"),
            ("@test \"open {\n", "@test \"open {\n"),
            ("@test {\n", "@test {\n"),
        ];
        for (from, to) in cases {
            assert_eq!(as_functions(from).as_deref(), Some(to));
            assert_eq!(from.len(), to.len());
        }
        assert_eq!(as_functions("echo\n"), None);
    }
}

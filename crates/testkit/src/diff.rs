//! A line diff for failure messages: `-` is expected, `+` is actual, with three lines of context around each change.

const CONTEXT: usize = 3;
const MAX_LINES: usize = 60;

/// Returns the diff of two texts, readable in a terminal; empty when they have the same lines.
pub fn diff(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    if old == new {
        return String::new();
    }
    let marked = diff_lines(&old, &new);
    let shown = near_changes(&marked);
    let mut lines = Vec::new();
    let mut last = None;
    for index in shown {
        if last.is_some_and(|last| last + 1 != index) || (last.is_none() && index > 0) {
            lines.push("  …".to_owned());
        }
        let (sign, line) = marked[index];
        lines.push(format!("{sign} {line}").trim_end().to_owned());
        last = Some(index);
    }
    let left_out = lines.len().saturating_sub(MAX_LINES);
    if left_out > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("  … and {left_out} more lines"));
    }
    lines.join("\n")
}

/// Returns every line of both texts once, with its sign, in the order of an edit from `old` to `new`.
fn diff_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);

    // longest[i][j]: the length of the longest common subsequence of a[i..] and b[j..].
    let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] =
                if a[i] == b[j] { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let mut marked: Vec<_> = old[..head].iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            marked.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            marked.push(('-', a[i]));
            i += 1;
        } else {
            marked.push(('+', b[j]));
            j += 1;
        }
    }
    marked.extend(old[old.len() - tail..].iter().map(|line| (' ', *line)));
    marked
}

fn near_changes(marked: &[(char, &str)]) -> Vec<usize> {
    let near = |index: usize| {
        let window = index.saturating_sub(CONTEXT)..(index + CONTEXT + 1).min(marked.len());
        marked[window].iter().any(|(sign, _)| *sign != ' ')
    };
    (0..marked.len()).filter(|index| near(*index)).collect()
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn equal_texts_have_empty_diff() {
        assert_eq!(diff("a\nb\n", "a\nb"), "");
    }

    #[test]
    fn changed_line_is_shown_with_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        assert_eq!(diff(old, new), "  …\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8");
    }

    #[test]
    fn added_and_removed_lines_are_signed() {
        assert_eq!(diff("", "new"), "+ new");
        assert_eq!(diff("a\nb", "b"), "- a\n  b");
    }
}

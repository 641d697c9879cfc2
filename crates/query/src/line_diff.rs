//! Line diff of two texts: a shortest edit script by Myers' algorithm.

use std::collections::HashMap;

/// One step from the old lines to the new lines, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A line in both texts.
    Same(usize, usize),
    /// A removed line.
    Removed(usize),
    /// An added line.
    Added(usize),
}

/// The maximum number of edits that are searched for. Beyond it the differing middle is reported as fully replaced.
const MAX_EDITS: usize = 1500;

/// Returns the steps from the old lines to the new lines. White space at line ends is ignored.
pub fn diff_lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Step> {
    let mut numbers: HashMap<&'t str, u32> = HashMap::new();
    let mut number = |line: &&'t str| {
        let next = numbers.len() as u32;
        *numbers.entry(line.trim_end()).or_insert(next)
    };
    let one: Vec<u32> = old.iter().map(&mut number).collect();
    let two: Vec<u32> = new.iter().map(&mut number).collect();
    let front = one.iter().zip(&two).take_while(|(a, b)| a == b).count();
    let rest = (one.len() - front).min(two.len() - front);
    let back = one.iter().rev().zip(two.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (one.len() - back, two.len() - back);
    let mut steps: Vec<Step> = (0..front).map(|at| Step::Same(at, at)).collect();
    match shortest_script(&one[front..old_end], &two[front..new_end]) {
        Some(middle) => steps.extend(middle.into_iter().map(|step| match step {
            Step::Same(old, new) => Step::Same(old + front, new + front),
            Step::Removed(old) => Step::Removed(old + front),
            Step::Added(new) => Step::Added(new + front),
        })),
        None => {
            steps.extend((front..old_end).map(Step::Removed));
            steps.extend((front..new_end).map(Step::Added));
        }
    }
    steps.extend((0..back).map(|at| Step::Same(old_end + at, new_end + at)));
    steps
}

/// Returns a shortest script, or `None` if it needs more than [`MAX_EDITS`] edits. `reach[k]` is the number of old
/// lines consumed on diagonal k; the number of edits is the number of earlier states.
fn shortest_script(old: &[u32], new: &[u32]) -> Option<Vec<Step>> {
    let (rows, columns) = (old.len() as isize, new.len() as isize);
    let most = (old.len() + new.len()).min(MAX_EDITS) as isize;
    let middle = most + 1;
    let mut reach = vec![0isize; 2 * middle as usize + 1];
    let mut earlier: Vec<Vec<isize>> = Vec::new();
    for edits in 0..=most {
        earlier.push(reach[(middle - edits - 1).max(0) as usize..=(middle + edits + 1) as usize].to_vec());
        for diagonal in (-edits..=edits).step_by(2) {
            let at = (middle + diagonal) as usize;
            let comes_down = diagonal == -edits || diagonal != edits && reach[at - 1] < reach[at + 1];
            let mut row = if comes_down { reach[at + 1] } else { reach[at - 1] + 1 };
            while row < rows && row - diagonal < columns && old[row as usize] == new[(row - diagonal) as usize] {
                row += 1;
            }
            reach[at] = row;
            if row >= rows && row - diagonal >= columns {
                return Some(backtrack(&earlier, rows, columns));
            }
        }
    }
    None
}

/// Reconstructs the steps from the states before each edit.
fn backtrack(earlier: &[Vec<isize>], rows: isize, columns: isize) -> Vec<Step> {
    let (mut row, mut column) = (rows, columns);
    let mut steps = Vec::new();
    for (edits, reach) in earlier.iter().enumerate().rev() {
        let (edits, diagonal) = (edits as isize, row - column);
        // The state covers the diagonals from -edits - 1 to edits + 1.
        let at = |diagonal: isize| reach[(diagonal + edits + 1) as usize];
        let comes_down = diagonal == -edits || diagonal != edits && at(diagonal - 1) < at(diagonal + 1);
        let from = if comes_down { diagonal + 1 } else { diagonal - 1 };
        let (old_row, old_column) = if edits == 0 { (0, 0) } else { (at(from), at(from) - from) };
        while row > old_row && column > old_column {
            (row, column) = (row - 1, column - 1);
            steps.push(Step::Same(row as usize, column as usize));
        }
        if edits > 0 {
            steps.push(if comes_down { Step::Added(old_column as usize) } else { Step::Removed(old_row as usize) });
        }
        (row, column) = (old_row, old_column);
    }
    steps.reverse();
    steps
}

/// Returns the numbers of added and removed lines.
pub fn counts(steps: &[Step]) -> (usize, usize) {
    let count = |is_it: fn(&Step) -> bool| steps.iter().filter(|step| is_it(step)).count();
    (count(|step| matches!(step, Step::Added(_))), count(|step| matches!(step, Step::Removed(_))))
}

/// Formats the steps as a unified diff with this number of unchanged lines around each change. Each input line has its
/// line number.
pub fn unified(old: &[(u32, &str)], new: &[(u32, &str)], steps: &[Step], context: usize) -> String {
    let changes: Vec<usize> = (0..steps.len()).filter(|at| !matches!(steps[*at], Step::Same(..))).collect();
    let mut text = String::new();
    let mut next = 0;
    while let Some(first) = changes.get(next) {
        let mut last = *first;
        while let Some(change) = changes.get(next).filter(|change| **change <= last + 2 * context + 1) {
            last = *change;
            next += 1;
        }
        let hunk = &steps[first.saturating_sub(context)..(last + context + 1).min(steps.len())];
        text += &header(old, new, hunk);
        for step in hunk {
            let (mark, line) = match step {
                Step::Same(_, at) => (' ', new[*at].1),
                Step::Removed(at) => ('-', old[*at].1),
                Step::Added(at) => ('+', new[*at].1),
            };
            text.push(mark);
            text += line;
            text.push('\n');
        }
    }
    text
}

fn header(old: &[(u32, &str)], new: &[(u32, &str)], hunk: &[Step]) -> String {
    let (mut olds, mut news) = (Vec::new(), Vec::new());
    for step in hunk {
        if let Step::Same(at, _) | Step::Removed(at) = step {
            olds.push(old[*at].0);
        }
        if let Step::Same(_, at) | Step::Added(at) = step {
            news.push(new[*at].0);
        }
    }
    let first = |lines: &[u32]| lines.first().copied().unwrap_or_default();
    format!("@@ -{},{} +{},{} @@\n", first(&olds), olds.len(), first(&news), news.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the longest common subsequence, by the textbook algorithm.
    fn lcs_length(old: &[&str], new: &[&str]) -> usize {
        let mut best = vec![vec![0; new.len() + 1]; old.len() + 1];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                best[i][j] = if old[i] == new[j] { best[i + 1][j + 1] + 1 } else { best[i + 1][j].max(best[i][j + 1]) };
            }
        }
        best[0][0]
    }

    #[test]
    fn steps_are_correct_and_minimal() {
        let mut dice = 7u64;
        let mut roll = |most: usize| {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (dice >> 33) as usize % most
        };
        for _ in 0..500 {
            let mut lines = || -> Vec<&str> { (0..roll(12)).map(|_| ["a", "b", "c"][roll(3)]).collect() };
            let (old, new) = (lines(), lines());
            let steps = diff_lines(&old, &new);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for step in &steps {
                match step {
                    Step::Same(i, j) => {
                        assert_eq!(old[*i], new[*j]);
                        before.push(*i);
                        after.push(*j);
                    }
                    Step::Removed(i) => before.push(*i),
                    Step::Added(j) => after.push(*j),
                }
            }
            assert_eq!(before, (0..old.len()).collect::<Vec<_>>(), "{old:?} {new:?}");
            assert_eq!(after, (0..new.len()).collect::<Vec<_>>(), "{old:?} {new:?}");
            let same = lcs_length(&old, &new);
            assert_eq!(counts(&steps), (new.len() - same, old.len() - same), "{old:?} {new:?}");
        }
    }

    #[test]
    fn unrelated_texts_are_replaced() {
        let old: Vec<String> = (0..2000).map(|at| format!("old {at}")).collect();
        let new: Vec<String> = (0..2000).map(|at| format!("new {at}")).collect();
        let lines = |texts: &'_ [String]| texts.iter().map(|text| text.clone().leak() as &str).collect::<Vec<_>>();
        assert_eq!(counts(&diff_lines(&lines(&old), &lines(&new))), (2000, 2000));
    }

    #[test]
    fn unified_diff_hunk_headers() {
        let numbered = |text: &'static str| -> Vec<(u32, &str)> { (10..).zip(text.lines()).collect() };
        let old = numbered("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm");
        let new = numbered("a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn");
        let plain = |lines: &[(u32, &'static str)]| lines.iter().map(|(_, line)| *line).collect::<Vec<_>>();
        let steps = diff_lines(&plain(&old), &plain(&new));
        let text = unified(&old, &new, &steps, 3);
        assert_eq!(text, "@@ -10,5 +10,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -20,3 +20,4 @@\n k\n l\n m\n+n\n");
    }
}

//! The order of each column, chosen for few crossings.
//!
//! It starts with the order in which a search along the lines visits the items; a tree then has no crossings. Sweeps
//! from left to right and back move each item to the mean position of its neighbours, swaps of adjacent items improve
//! what means cannot, and the best order is kept.

use super::LayeredGraph;

/// The maximum number of sweeps.
const MAX_SWEEPS: usize = 24;

/// The maximum number of sweeps without an improvement.
const MAX_IDLE_SWEEPS: usize = 6;

/// The maximum number of swap rounds.
const MAX_SWAP_ROUNDS: usize = 8;

/// The scale of mean positions, which are integers.
const POSITION_SCALE: usize = 1 << 16;

/// Orders the columns of a graph.
pub(super) fn order_columns(net: &mut LayeredGraph) {
    initial_order(net);
    let mut places = vec![0; net.items.len()];
    index_positions(net, &mut places);
    let mut best = (crossings(net, &places), net.columns.clone());
    let mut idle = 0;
    for sweep in 0..MAX_SWEEPS {
        if best.0 == 0 || idle >= MAX_IDLE_SWEEPS {
            break;
        }
        sort_by_means(net, &mut places, sweep % 2 == 0);
        let count = crossings(net, &places);
        idle += 1;
        if count < best.0 {
            best = (count, net.columns.clone());
            idle = 0;
        }
    }
    net.columns = best.1;
    index_positions(net, &mut places);
    swap(net, &mut places);
}

/// The order in which a search visits the items.
fn initial_order(net: &mut LayeredGraph) {
    let mut is_seen = vec![false; net.items.len()];
    for root in 0..net.items.len() {
        let mut open = vec![root];
        while let Some(item) = open.pop() {
            if std::mem::replace(&mut is_seen[item], true) {
                continue;
            }
            net.columns[net.items[item].layer].push(item);
            open.extend(net.left[item].iter().rev().filter(|next| !is_seen[**next]));
            open.extend(net.right[item].iter().rev().filter(|next| !is_seen[**next]));
        }
    }
}

/// Records the position of each item in its column.
fn index_positions(net: &LayeredGraph, places: &mut [usize]) {
    for column in &net.columns {
        column.iter().enumerate().for_each(|(place, item)| places[*item] = place);
    }
}

/// One sweep. Items without neighbours in the previous column keep their positions; the others are sorted among theirs.
fn sort_by_means(net: &mut LayeredGraph, places: &mut [usize], to_right: bool) {
    let count = net.columns.len();
    let beside = if to_right { &net.left } else { &net.right };
    for step in 1..count {
        let column = &mut net.columns[if to_right { step } else { count - 1 - step }];
        let mut moved: Vec<(usize, usize)> = column
            .iter()
            .filter(|item| !beside[**item].is_empty())
            .map(|item| {
                let sum: usize = beside[*item].iter().map(|other| places[*other] * POSITION_SCALE).sum();
                (sum / beside[*item].len(), *item)
            })
            .collect();
        moved.sort_by_key(|(mean, _)| *mean);
        let mut moved = moved.into_iter();
        for (place, item) in column.iter_mut().enumerate() {
            if !beside[*item].is_empty() {
                *item = moved.next().map_or(*item, |(_, next)| next);
            }
            places[*item] = place;
        }
    }
}

/// Swaps adjacent items in a column while that reduces crossings.
fn swap(net: &mut LayeredGraph, places: &mut [usize]) {
    for _ in 0..MAX_SWAP_ROUNDS {
        let mut is_better = false;
        for column in &mut net.columns {
            // For each item, the positions of its neighbours. None of them is in this column.
            let ends = |item: &usize| [&net.left[*item], &net.right[*item]].map(|beside| sorted(beside, places));
            let mut ends: Vec<[Vec<usize>; 2]> = column.iter().map(ends).collect();
            for upper in 0..column.len().saturating_sub(1) {
                let (one, other) = (&ends[upper], &ends[upper + 1]);
                let now = count_inversions(&one[0], &other[0]) + count_inversions(&one[1], &other[1]);
                let then = count_inversions(&other[0], &one[0]) + count_inversions(&other[1], &one[1]);
                if then < now {
                    column.swap(upper, upper + 1);
                    ends.swap(upper, upper + 1);
                    is_better = true;
                }
            }
            column.iter().enumerate().for_each(|(place, item)| places[*item] = place);
        }
        if !is_better {
            return;
        }
    }
}

fn sorted(items: &[usize], places: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = items.iter().map(|item| places[*item]).collect();
    all.sort_unstable();
    all
}

/// The number of pairs with the first position below the second.
fn count_inversions(upper: &[usize], lower: &[usize]) -> usize {
    let mut below = 0;
    let mut count = 0;
    for place in upper {
        while below < lower.len() && lower[below] < *place {
            below += 1;
        }
        count += below;
    }
    count
}

/// The number of crossings between all columns. Lines within one column do not count.
pub(super) fn crossings(net: &LayeredGraph, places: &[usize]) -> usize {
    let mut count = 0;
    let mut lines: Vec<usize> = Vec::new();
    for pair in net.columns.windows(2) {
        // Lines from the top down by start: each crosses the earlier ones that end further down.
        lines.clear();
        for item in &pair[0] {
            let begin = lines.len();
            lines.extend(net.right[*item].iter().map(|other| places[*other]));
            lines[begin..].sort_unstable();
        }
        let mut tree = vec![0_usize; pair[1].len() + 1];
        for (before, end) in lines.iter().enumerate() {
            let mut not_below = 0;
            let mut at = end + 1;
            while at > 0 {
                not_below += tree[at];
                at &= at - 1;
            }
            count += before - not_below;
            let mut at = end + 1;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
    }
    count
}

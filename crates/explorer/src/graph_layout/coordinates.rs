//! The height of each item, once the order of the columns is known.
//!
//! Each item should be level with its neighbours. Columns are processed back and forth, and each takes the positions
//! closest to the desired ones that keep its order and its gaps. Without the gaps this is isotonic regression, solved
//! in one pass: if a desired position is above the previous one, the two share their mean, and so on backwards.

use super::LayeredGraph;

/// The gap between two boxes of a column.
const BOX_GAP: i64 = 16;

/// The gap between two bends, or a bend and a box.
const BEND_GAP: i64 = 10;

/// The number of passes in each direction.
const ALIGN_PASSES: usize = 6;

/// The weight of a bend relative to a box: a straight line matters more than a box centred between its lines.
const BEND_WEIGHT: i64 = 4;

/// The upper border of each item; the uppermost is at zero.
pub(super) fn tops(net: &LayeredGraph) -> Vec<i32> {
    let mut middles = stack_columns(net);
    for pass in 0..2 * ALIGN_PASSES {
        let to_right = pass % 2 == 0;
        let beside = if to_right { &net.left } else { &net.right };
        for step in 0..net.columns.len() {
            let column = if to_right { step } else { net.columns.len() - 1 - step };
            align_column(net, &mut middles, column, |item| [&beside[item], &[]]);
        }
    }
    for column in 0..net.columns.len() {
        align_column(net, &mut middles, column, |item| [&net.left[item], &net.right[item]]);
    }
    let tops = || middles.iter().zip(&net.items).map(|(middle, item)| middle - i64::from(item.height / 2));
    let least = tops().min().unwrap_or(0);
    tops().map(|top| i32::try_from(top - least).unwrap_or(i32::MAX / 2)).collect()
}

/// Each column stacked from the top with only its gaps; the middles of all columns are on one line.
fn stack_columns(net: &LayeredGraph) -> Vec<i64> {
    let mut middles = vec![0; net.items.len()];
    for column in &net.columns {
        let offsets = offsets(net, column);
        let half = offsets.last().copied().unwrap_or(0) / 2;
        column.iter().zip(offsets).for_each(|(item, offset)| middles[*item] = offset - half);
    }
    middles
}

/// The minimum distance of each middle in a column from the first one.
fn offsets(net: &LayeredGraph, column: &[usize]) -> Vec<i64> {
    let mut at = 0;
    let mut offsets = Vec::with_capacity(column.len());
    for (place, item) in column.iter().enumerate() {
        if let Some(above) = place.checked_sub(1).map(|above| net.items[column[above]]) {
            let own = net.items[*item];
            let gap = if above.is_bend || own.is_bend { BEND_GAP } else { BOX_GAP };
            // From middle to middle: the lower half of the upper item, which is the larger half of an odd height.
            at += i64::from(above.height - above.height / 2) + gap + i64::from(own.height / 2);
        }
        offsets.push(at);
    }
    offsets
}

/// Moves a column as close to the desired positions as its order allows.
fn align_column<'n>(
    net: &'n LayeredGraph,
    middles: &mut [i64],
    column: usize,
    beside: impl Fn(usize) -> [&'n [usize]; 2],
) {
    let column = &net.columns[column];
    let offsets = offsets(net, column);
    // Blocks of items at their minimum distances: the sum of desired positions, the sum of weights, and the number of
    // items.
    let mut blocks: Vec<(i64, i64, usize)> = Vec::new();
    for (item, offset) in column.iter().zip(&offsets) {
        let weight = if net.items[*item].is_bend { BEND_WEIGHT } else { 1 };
        let mut block = ((desired_middle(middles, *item, beside(*item)) - offset) * weight, weight, 1);
        while let Some(above) = blocks.pop_if(|above| mean(above) > mean(&block)) {
            block = (above.0 + block.0, above.1 + block.1, above.2 + block.2);
        }
        blocks.push(block);
    }
    let shifts = blocks.iter().flat_map(|block| std::iter::repeat_n(mean(block), block.2));
    for ((item, offset), shift) in column.iter().zip(&offsets).zip(shifts) {
        middles[*item] = offset + shift;
    }
}

fn mean((sum, weight, _): &(i64, i64, usize)) -> i64 {
    sum.div_euclid(*weight)
}

/// The middle of an item's neighbours, or its own position if it has none.
fn desired_middle(middles: &[i64], item: usize, beside: [&[usize]; 2]) -> i64 {
    if let [&[other], []] | [[], &[other]] = beside {
        return middles[other];
    }
    let mut all: Vec<i64> = beside.into_iter().flatten().map(|other| middles[*other]).collect();
    all.sort_unstable();
    match all.len() {
        0 => middles[item],
        len => (all[(len - 1) / 2] + all[len / 2]).div_euclid(2),
    }
}

//! The allocator of tree-sitter: memory from the program's global allocator, counted per thread.
//!
//! Error recovery copies the parser's stack, so a few kilobytes of hostile text can make tree-sitter hold gigabytes. It
//! has no limit of its own and aborts if it gets no memory. The counts let [`crate::parse`] stop a parse in time. They
//! depend only on the text and the grammar, so the same text is stopped at the same position on every machine.

#![allow(unsafe_code, reason = "tree-sitter takes its allocator as C functions")]

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

/// The alignment of every block, which is that of C's `malloc` on the supported systems.
const ALIGNMENT: usize = 16;

/// Bytes before every block, which hold its size. A multiple of [`ALIGNMENT`].
const HEADER: usize = ALIGNMENT;

/// Memory that tree-sitter allocated on a thread, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Bytes in use.
    pub(crate) live: usize,
    /// Bytes ever allocated, freed or not.
    pub(crate) allocated: usize,
}

thread_local! {
    static USAGE: Cell<Usage> = const { Cell::new(Usage { live: 0, allocated: 0 }) };
}

/// Installs the allocator. Must be called before any other function of tree-sitter.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let allocator = Allocator { malloc, calloc, realloc, free };
        // SAFETY: the four functions are one family, and their blocks are aligned as those of `malloc`. `parse.rs` is
        // the only user of tree-sitter in the program and calls this before it creates a parser, so no block of another
        // allocator exists yet. `Once` lets one thread run it while the others wait.
        unsafe { tree_sitter::set_allocator(Some(allocator)) }
    });
}

/// Returns the memory that tree-sitter has allocated on this thread so far.
pub(crate) fn usage() -> Usage {
    USAGE.get()
}

/// Counts a block of `freed` bytes that became one of `taken` bytes.
fn count(freed: usize, taken: usize) {
    let usage = USAGE.get();
    USAGE.set(Usage {
        // A block may be freed by another thread than the one that allocated it, if a parser is moved.
        live: usage.live.saturating_sub(freed).saturating_add(taken),
        allocated: usage.allocated.wrapping_add(taken),
    });
}

/// Returns the layout of a block of this size with its header. Ends the program if no address space is that large, as
/// tree-sitter does if C's `malloc` fails.
fn layout(size: usize) -> Layout {
    let layout = size.checked_add(HEADER).and_then(|total| Layout::from_size_align(total, ALIGNMENT).ok());
    layout.unwrap_or_else(|| alloc::handle_alloc_error(Layout::new::<u128>()))
}

/// Writes the header of a new block and returns the address after it, which tree-sitter uses.
///
/// # Safety
///
/// `start` is null, or the start of a live allocation of `layout(size)`.
unsafe fn hand_out(start: *mut u8, size: usize) -> *mut c_void {
    if start.is_null() {
        alloc::handle_alloc_error(layout(size));
    }
    // SAFETY: the allocation has HEADER bytes before the block, and its start is aligned for a `usize`.
    unsafe {
        start.cast::<usize>().write(size);
        start.add(HEADER).cast()
    }
}

/// Returns the start of the allocation that contains a block, and the size of the block.
///
/// # Safety
///
/// `block` came from [`hand_out`] and was not freed.
unsafe fn header(block: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: a block is HEADER bytes after the start of its allocation, where `hand_out` wrote its size.
    unsafe {
        let start = block.cast::<u8>().sub(HEADER);
        (start, start.cast::<usize>().read())
    }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    count(0, size);
    // SAFETY: the layout is never empty, since it includes the header, and it is the one that `hand_out` requires.
    unsafe { hand_out(alloc::alloc(layout(size)), size) }
}

unsafe extern "C" fn calloc(number: usize, each: usize) -> *mut c_void {
    let size = number.saturating_mul(each);
    count(0, size);
    // SAFETY: as in `malloc`. A product that overflows is too large for a layout.
    unsafe { hand_out(alloc::alloc_zeroed(layout(size)), size) }
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: `malloc` has no requirements for its caller.
        return unsafe { malloc(size) };
    }
    // SAFETY: tree-sitter passes only blocks of this allocator that it has not freed. Their layout is that of the size
    // in their header, and the new total is that of a valid layout.
    unsafe {
        let (start, before) = header(block);
        count(before, size);
        hand_out(alloc::realloc(start, layout(before), layout(size).size()), size)
    }
}

unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: as in `realloc`.
    unsafe {
        let (start, size) = header(block);
        count(size, 0);
        alloc::dealloc(start, layout(size));
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn blocks_are_counted_aligned_and_keep_their_content() {
        let before = usage();
        let live = || usage().live - before.live;
        // SAFETY: every block is used within its size and freed once.
        unsafe {
            let zeroed = calloc(3, 7).cast::<u8>();
            assert_eq!(std::slice::from_raw_parts(zeroed, 21), [0; 21]);
            assert_eq!(live(), 21);
            zeroed.write_bytes(9, 21);
            let grown = realloc(zeroed.cast(), 5000).cast::<u8>();
            assert_eq!(std::slice::from_raw_parts(grown, 21), [9; 21]);
            assert_eq!((live(), grown as usize % ALIGNMENT), (5000, 0));
            let empty = malloc(0);
            let other = realloc(ptr::null_mut(), 40);
            assert!(!empty.is_null() && (other as usize).is_multiple_of(ALIGNMENT));
            assert_eq!(live(), 5040);
            [grown.cast(), empty, other, ptr::null_mut()].into_iter().for_each(|block| free(block));
        }
        assert_eq!((live(), usage().allocated - before.allocated), (0, 21 + 5000 + 40));
    }
}

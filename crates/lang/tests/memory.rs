//! Extraction holds a bounded amount of memory, whatever the text.
//!
//! The allocator of this test counts per thread, so other tests do not disturb it. The parser uses the program's
//! allocator, so the counts include its memory.

#![allow(unsafe_code, reason = "a global allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;

use codecompass_lang::{LANGUAGES, extract, highlight};
use codecompass_model::ProblemKind;

struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    LIVE.set(LIVE.get() + bytes);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as the caller guarantees.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the work. Returns its result and its peak memory in bytes.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before) as usize)
}

/// The maximum memory for the extraction of a hostile file.
const MAX_BYTES: usize = 200 << 20;

/// Fragments of text that open something, close nothing, or are an error in most languages.
const UNITS: &[&str] = &[
    "/*\n", "*/\n", "#\n", "(", "{", "<", "\"", "'", "(]", "a(", "a.", "=a", "@", "->", "if ", "end\n", "<<A\n",
    "#if 1\n",
];

fn first_paths() -> impl Iterator<Item = String> {
    LANGUAGES.iter().filter_map(|language| language.extensions.first()).map(|extension| format!("a.{extension}"))
}

/// Python has other comments, so every line is an error. 4 KiB of this took 0.58 GB before there was a limit.
#[test]
fn error_lines_stop_at_the_memory_limit() {
    for kib in [4, 8, 64, 256, 1024] {
        let text = "/*\n".repeat((kib << 10) / 3);
        let (extracted, held) = peak(|| extract("a.py", text.clone().into_bytes()));
        let kinds: Vec<_> = extracted.facts.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::MemoryLimit], "{kib} KiB");
        assert!(held < MAX_BYTES, "{kib} KiB: {} MiB", held >> 20);
        assert_eq!(extracted.facts.lines as usize, text.lines().count());
        assert!(!extracted.facts.chunks.is_empty(), "its text is searchable");
        let (_, held) = peak(|| highlight("a.py", text.as_bytes(), None));
        assert!(held < MAX_BYTES, "highlighting of {kib} KiB: {} MiB", held >> 20);
    }
}

#[test]
fn hostile_texts_use_bounded_memory() {
    for path in first_paths() {
        for unit in UNITS {
            let (_, held) = peak(|| extract(&path, unit.repeat((8 << 10) / unit.len()).into_bytes()));
            assert!(held < MAX_BYTES, "{path}, {unit:?}: {} MiB", held >> 20);
        }
    }
}

/// The limit of a parse must be sufficient for large files: for the parser they are like the parts they consist of.
#[test]
fn a_megabyte_of_every_language_is_parsed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for language in LANGUAGES {
        let folder = fs::read_dir(root.join(language.name)).expect("every language has fixtures");
        let files = folder.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with("broken"));
        for file in files {
            let path = file.path().display().to_string();
            let text = fs::read_to_string(file.path()).expect("a fixture is text") + "\n";
            let extracted = extract(&path, text.repeat((1 << 20) / text.len()).into_bytes());
            let kinds = extracted.facts.problems.iter().map(|problem| problem.kind);
            let exceeded: Vec<_> =
                kinds.filter(|kind| matches!(kind, ProblemKind::TimeLimit | ProblemKind::MemoryLimit)).collect();
            assert_eq!(exceeded, [], "{path}");
        }
    }
}

//! Local bindings that are visible at a node: lexical blocks, shadowing, hiding.
//!
//! Live names are on one stack, and blocks mark positions in it. Each name links to the previous live name of the same
//! spelling, so a lookup follows one chain regardless of the number of names in a function.

use codecompass_model::LexicalTarget;

/// The maximum number of names to check for a repeated declaration in one block.
const MAX_BLOCK_NAMES: usize = 2000;

/// The maximum number of bindings of one spelling to check for the visible one.
const MAX_SAME_NAME: usize = 256;

/// The pseudo binding of a symbol or import that hides the outer local bindings.
const HIDDEN: u32 = u32::MAX;

/// Marks a symbol among the local bindings; the other bits are its index in the list of symbols.
const SYMBOL_BIT: u32 = 1 << 31;

/// A lexical block that is still open.
struct Block {
    /// The index of the first node after it.
    end: usize,
    /// The number of live names when it was opened.
    live: usize,
    /// Live names up to this number are not visible in it.
    floor: usize,
}

/// A local binding that is visible from some node on.
struct LiveName {
    binding: u32,
    name: u32,
    is_type: bool,
    from: usize,
    /// The number of the previous live name of the same spelling; 0 if there is none.
    previous: u32,
}

/// The local bindings in scope during a walk.
#[derive(Default)]
pub(crate) struct Locals {
    blocks: Vec<Block>,
    live: Vec<LiveName>,
    /// By name: the number of the innermost live name of this spelling, from 1; 0 if there is none.
    latest: Vec<u32>,
    /// The current node of the walk.
    at: usize,
}

impl Locals {
    /// Closes the blocks that end before this node.
    pub(crate) fn advance_to(&mut self, node: usize) {
        self.at = node;
        while let Some(block) = self.blocks.pop_if(|block| block.end <= node) {
            self.truncate_live(block.live);
        }
    }

    /// Returns the number of open blocks.
    pub(crate) fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// Closes the innermost blocks until `depth` of them are open.
    pub(crate) fn close_to(&mut self, depth: usize) {
        while self.blocks.len() > depth
            && let Some(block) = self.blocks.pop()
        {
            self.truncate_live(block.live);
        }
    }

    fn truncate_live(&mut self, live: usize) {
        for gone in self.live.drain(live..).rev() {
            self.latest[gone.name as usize] = gone.previous;
        }
    }

    /// Opens a block up to the node `end`. In a `closed` block the outer names are not visible.
    pub(crate) fn open(&mut self, end: usize, closed: bool) {
        let live = self.live.len();
        let floor = if closed { live } else { self.floor() };
        self.blocks.push(Block { end, live, floor });
    }

    /// Adds a name to the innermost open block.
    pub(crate) fn add(&mut self, binding: u32, name: u32, is_type: bool, from: usize) {
        if self.latest.len() <= name as usize {
            self.latest.resize(name as usize + 1, 0);
        }
        let number = self.live.len() as u32 + 1;
        let before = std::mem::replace(&mut self.latest[name as usize], number);
        self.live.push(LiveName { binding, name, is_type, from, previous: before });
    }

    /// Makes this name refer to something other than an outer local binding in the innermost open block.
    pub(crate) fn hide(&mut self, name: u32, from: usize) {
        if self.latest.get(name as usize).is_some_and(|&number| number > 0) {
            self.add(HIDDEN, name, false, from);
        }
    }

    /// Makes this name refer to a symbol in the innermost open block, where the symbol is declared.
    pub(crate) fn declare(&mut self, name: u32, symbol: u32, from: usize) {
        self.add(symbol | SYMBOL_BIT, name, true, from);
    }

    /// Returns the lexical target of a bare name at a node, whatever kind of name it is.
    pub(crate) fn lexical_target(&self, name: u32, node: usize) -> LexicalTarget {
        match self.find_live(name, None, node) {
            Some(HIDDEN) | None => LexicalTarget::NotLocal,
            Some(symbol) if symbol & SYMBOL_BIT != 0 => LexicalTarget::Symbol(symbol & !SYMBOL_BIT),
            Some(binding) => LexicalTarget::Local(binding),
        }
    }

    /// Returns whether the innermost open block already has a name of this spelling.
    pub(crate) fn is_bound_here(&self, name: u32) -> bool {
        let first = self.blocks.last().map_or(0, |block| block.live);
        self.live[first..].iter().rev().take(MAX_BLOCK_NAMES).any(|live| live.name == name)
    }

    /// Returns the visible local binding with this name. `is_type` restricts the lookup to type parameters, or to other
    /// bindings.
    pub(crate) fn find(&self, name: u32, is_type: Option<bool>) -> Option<u32> {
        self.find_live(name, is_type, self.at).filter(|found| found & SYMBOL_BIT == 0)
    }

    fn find_live(&self, name: u32, is_type: Option<bool>, node: usize) -> Option<u32> {
        let floor = self.floor();
        let mut number = self.latest.get(name as usize).copied().unwrap_or(0) as usize;
        for _ in 0..MAX_SAME_NAME {
            let live = self.live.get(number.checked_sub(1)?).filter(|_| number > floor)?;
            let is_seen = live.from <= node;
            if is_seen && live.binding & SYMBOL_BIT != 0 {
                return Some(live.binding);
            }
            if is_seen && is_type.is_none_or(|wanted| wanted == live.is_type) {
                return Some(live.binding);
            }
            number = live.previous as usize;
        }
        None
    }

    fn floor(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.floor)
    }
}

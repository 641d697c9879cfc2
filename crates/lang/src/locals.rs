//! Local names that can be seen at a place: lexical blocks, shadowing, hiding.
//!
//! Live names lie on one stack, blocks mark it, and each name knows the live one of the same spelling before it, so that
//! a look-up walks one chain however many names a function has.

use codecompass_model::Seen;

/// How many names of one block are looked through for one that is declared again.
const MAX_LOOKED_AT: usize = 2000;

/// How many local names of one spelling are looked through for the one that can be seen.
const MAX_HOMONYMS: usize = 256;

/// Stands for the symbol or import that hides the local names around it.
const HIDDEN: u32 = u32::MAX;

/// Marks a symbol among the local names: the rest is its place in the list of symbols.
const SYMBOL: u32 = 1 << 31;

/// A lexical block that is still open.
struct Block {
    /// The index of the first node after it.
    end: usize,
    /// How many names were live when it was opened.
    live: usize,
    /// Live names up to this number can not be seen in it.
    floor: usize,
}

/// A local name that can be seen, from some node on.
struct Live {
    binding: u32,
    name: u32,
    is_type: bool,
    from: usize,
    /// The number of the live name of the same spelling before this one; 0 when there is none.
    before: u32,
}

/// The local names in sight while a walk goes on.
#[derive(Default)]
pub(crate) struct Locals {
    blocks: Vec<Block>,
    live: Vec<Live>,
    /// By name: the number of the innermost live name of this spelling, from 1; 0 when there is none.
    latest: Vec<u32>,
    /// The node the walk is at.
    at: usize,
}

impl Locals {
    /// Closes the blocks that end before this node.
    pub(crate) fn arrive(&mut self, node: usize) {
        self.at = node;
        while let Some(block) = self.blocks.pop_if(|block| block.end <= node) {
            self.forget(block.live);
        }
    }

    /// How many blocks are open.
    pub(crate) fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// Closes all blocks beyond so many.
    pub(crate) fn close_to(&mut self, depth: usize) {
        while self.blocks.len() > depth
            && let Some(block) = self.blocks.pop()
        {
            self.forget(block.live);
        }
    }

    fn forget(&mut self, live: usize) {
        for gone in self.live.drain(live..).rev() {
            self.latest[gone.name as usize] = gone.before;
        }
    }

    /// Opens a block up to the node `end`; in a `closed` one the names from outside can not be seen.
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
        self.live.push(Live { binding, name, is_type, from, before });
    }

    /// In the innermost open block this name means something else than a local name from outside.
    pub(crate) fn hide(&mut self, name: u32, from: usize) {
        if self.latest.get(name as usize).is_some_and(|&number| number > 0) {
            self.add(HIDDEN, name, false, from);
        }
    }

    /// In the innermost open block this name means a symbol that is declared there.
    pub(crate) fn declare(&mut self, name: u32, symbol: u32, from: usize) {
        self.add(symbol | SYMBOL, name, true, from);
    }

    /// What the blocks say about a name that stands alone at a node, whatever it is the name of.
    pub(crate) fn see(&self, name: u32, node: usize) -> Seen {
        match self.live(name, None, node) {
            Some(HIDDEN) | None => Seen::Nowhere,
            Some(symbol) if symbol & SYMBOL != 0 => Seen::Symbol(symbol & !SYMBOL),
            Some(binding) => Seen::Local(binding),
        }
    }

    /// Whether the innermost open block has a name of this spelling already.
    pub(crate) fn is_bound_here(&self, name: u32) -> bool {
        let first = self.blocks.last().map_or(0, |block| block.live);
        self.live[first..].iter().rev().take(MAX_LOOKED_AT).any(|live| live.name == name)
    }

    /// The local name that can be seen under this one; only a type parameter, or only none, when that is asked for.
    pub(crate) fn find(&self, name: u32, is_type: Option<bool>) -> Option<u32> {
        self.live(name, is_type, self.at).filter(|found| found & SYMBOL == 0)
    }

    fn live(&self, name: u32, is_type: Option<bool>, node: usize) -> Option<u32> {
        let floor = self.floor();
        let mut number = self.latest.get(name as usize).copied().unwrap_or(0) as usize;
        for _ in 0..MAX_HOMONYMS {
            let live = self.live.get(number.checked_sub(1)?).filter(|_| number > floor)?;
            let is_seen = live.from <= node;
            if is_seen && live.binding & SYMBOL != 0 {
                return Some(live.binding);
            }
            if is_seen && is_type.is_none_or(|wanted| wanted == live.is_type) {
                return Some(live.binding);
            }
            number = live.before as usize;
        }
        None
    }

    fn floor(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.floor)
    }
}

//! A search that can be stopped at any byte.
//!
//! The engines of `regex-automata` return when they have a match or the text ends. That takes minutes for a large
//! expression and a line of megabytes. Here the same automata are driven byte by byte, and `goes_on` is called at
//! regular intervals. A lazy DFA finds the end of a match, and another one, backwards, its start. DFAs do not support
//! Unicode word boundaries next to non-ASCII characters: there the NFA is simulated. The matches are those of
//! `meta::Regex`.

use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, State, WhichCaptures};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, Match, MatchError, MatchErrorKind, MatchKind, PatternID};
use regex_syntax::hir::Hir;

/// The number of visits to states of the NFA between two calls of `goes_on`: some milliseconds.
const VISITS_PER_CHECK: usize = 1 << 16;

/// A step of the DFA costs one visit per this many states of the NFA. Most steps cost less, since their next state is
/// cached.
const STATES_PER_VISIT: usize = 16;

/// An expression that is searched in steps.
#[derive(Clone, Debug)]
pub(super) struct Stepped {
    nfa: NFA,
    /// The DFAs of the expression forwards and backwards.
    dfas: Option<(DFA, DFA)>,
}

impl Stepped {
    /// Compiles an expression; `None` if its automata take more than `max_bytes`.
    pub(super) fn new(hir: &Hir, max_bytes: usize) -> Option<Self> {
        let config = thompson::Config::new().nfa_size_limit(Some(max_bytes)).which_captures(WhichCaptures::None);
        let compile = |config| thompson::Compiler::new().configure(config).build_from_hir(hir).ok();
        let nfa = compile(config.clone())?;
        let backwards = compile(config.reverse(true));
        let dfas = backwards
            .and_then(|backwards| Some((dfa(nfa.clone(), MatchKind::LeftmostFirst)?, dfa(backwards, MatchKind::All)?)));
        Some(Self { nfa, dfas })
    }

    /// Starts a search through a text.
    pub(super) fn search<'s>(&'s self, text: &'s str, goes_on: &'s dyn Fn() -> bool) -> Search<'s> {
        let caches = self.dfas.as_ref().map(|(forward, backward)| (forward.create_cache(), backward.create_cache()));
        let visits_per_byte = 1 + self.nfa.states().len() / STATES_PER_VISIT;
        Search { stepped: self, text, caches, threads: None, visits_per_byte, clock: Clock { goes_on, visits: 0 } }
    }
}

fn dfa(nfa: NFA, kind: MatchKind) -> Option<DFA> {
    let config = DFA::config().match_kind(kind).unicode_word_boundary(true).skip_cache_capacity_check(true);
    DFA::builder().configure(config).build_from_nfa(nfa).ok()
}

/// The state of a search through one text.
pub(super) struct Search<'s> {
    stepped: &'s Stepped,
    text: &'s str,
    /// The cached states of the DFAs; `None` after a DFA found something it does not support.
    caches: Option<(Cache, Cache)>,
    threads: Option<[Threads; 2]>,
    /// The number of visits that a step of a DFA counts as.
    visits_per_byte: usize,
    clock: Clock<'s>,
}

/// The search was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl<'s> Search<'s> {
    /// Returns the matches in a part of the text, as `meta::Regex::find_iter` does. The text around the part counts for
    /// `^` and similar. The last item is an error if the search was stopped.
    pub(super) fn matches(&mut self, part: Range<usize>) -> impl Iterator<Item = Result<Range<usize>, Stopped>> {
        let mut searcher = Searcher::new(Input::new(self.text).span(part));
        let mut is_stopped = false;
        std::iter::from_fn(move || {
            if is_stopped {
                return None;
            }
            let found = searcher.try_advance(|input| self.find(input.clone()));
            is_stopped = found.is_err();
            found.map_err(|_| Stopped).map(|found| found.map(|found| found.range())).transpose()
        })
    }

    fn find(&mut self, mut input: Input<'_>) -> Result<Option<Match>, MatchError> {
        while input.start() <= input.end() {
            let found = match self.find_by_dfa(&input) {
                Err(error) if matches!(error.kind(), MatchErrorKind::Quit { .. }) => {
                    self.caches = None;
                    self.find_by_threads(&input)
                }
                found => found,
            }?;
            match found {
                // Only an empty match can lie within a character, and the first match starts there.
                Some(found) if !self.text.is_char_boundary(found.end) => input.set_start(found.end + 1),
                found => return Ok(found.map(|found| Match::new(PatternID::ZERO, found))),
            }
        }
        Ok(None)
    }

    /// Finds the first match with the DFAs. The error is [`MatchErrorKind::Quit`] if they cannot.
    fn find_by_dfa(&mut self, input: &Input<'_>) -> Result<Option<Range<usize>>, MatchError> {
        let (Some((forward, backward)), Some((forward_cache, backward_cache))) = (&self.stepped.dfas, &mut self.caches)
        else {
            return Err(MatchError::quit(0, input.start()));
        };
        let start = forward.start_state_forward(forward_cache, input)?;
        let mut run = Run { dfa: forward, cache: forward_cache, state: start, end: None };
        for at in input.start()..input.end() {
            self.clock.tick(self.visits_per_byte)?;
            if run.step(input.haystack().get(at), at)? {
                break;
            }
        }
        run.step(input.haystack().get(input.end()), input.end())?;
        let Some(end) = run.end else {
            return Ok(None);
        };
        let input = input.clone().span(input.start()..end).anchored(Anchored::Yes);
        let start = backward.start_state_reverse(backward_cache, &input)?;
        let mut run = Run { dfa: backward, cache: backward_cache, state: start, end: None };
        for at in (input.start()..end).rev() {
            self.clock.tick(self.visits_per_byte)?;
            if run.step(input.haystack().get(at), at + 1)? {
                break;
            }
        }
        run.step(input.start().checked_sub(1).and_then(|at| input.haystack().get(at)), input.start())?;
        let start = run.end.ok_or_else(|| MatchError::quit(0, end))?;
        Ok(Some(start..end))
    }

    /// Finds the first match by following all paths through the NFA at once.
    fn find_by_threads(&mut self, input: &Input<'_>) -> Result<Option<Range<usize>>, MatchError> {
        let nfa = &self.stepped.nfa;
        let states = nfa.states().len();
        let [now, next] = self.threads.get_or_insert_with(|| [Threads::new(states), Threads::new(states)]);
        now.clear();
        let mut found = None;
        for at in input.start()..=input.end() {
            if found.is_none() {
                now.follow(nfa, (nfa.start_anchored(), at), input.haystack(), at);
            }
            if now.waiting.is_empty() && found.is_some() {
                break;
            }
            next.clear();
            for &(state, start) in &now.waiting {
                if let State::Match { .. } = nfa.state(state) {
                    // The threads after it in the list have a lower priority.
                    found = Some(start..at);
                    break;
                }
                if at < input.end()
                    && let Some(then) = after(nfa.state(state), input.haystack(), at)
                {
                    next.follow(nfa, (then, start), input.haystack(), at + 1);
                }
            }
            self.clock.tick(1 + now.waiting.len() + next.visits)?;
            std::mem::swap(now, next);
        }
        Ok(found)
    }
}

/// A DFA while it processes a text.
struct Run<'r> {
    dfa: &'r DFA,
    cache: &'r mut Cache,
    state: LazyStateID,
    /// The offset of the last match.
    end: Option<usize>,
}

impl Run<'_> {
    /// Processes the next byte, or the edge of the text. A match is detected one byte late: it ends at `at`, before the
    /// byte. Returns whether there is nothing more to find.
    fn step(&mut self, byte: Option<&u8>, at: usize) -> Result<bool, MatchError> {
        if self.state.is_dead() {
            return Ok(true);
        }
        let next = match byte {
            Some(&byte) => self.dfa.next_state(self.cache, self.state, byte),
            None => self.dfa.next_eoi_state(self.cache, self.state),
        };
        self.state = next.map_err(|_| MatchError::quit(0, at))?;
        if self.state.is_quit() {
            return Err(MatchError::quit(0, at));
        }
        if self.state.is_match() {
            self.end = Some(at);
        }
        Ok(self.state.is_dead())
    }
}

/// Returns the state after the byte at `at`.
fn after(state: &State, text: &[u8], at: usize) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches(text, at).then_some(trans.next),
        State::Sparse(sparse) => sparse.matches(text, at),
        State::Dense(dense) => dense.matches(text, at),
        _ => None,
    }
}

/// The states of the NFA at one offset of the text, best first, each with the start of its match.
struct Threads {
    waiting: Vec<(StateID, usize)>,
    /// By state, the last round in which it was visited.
    visited: Vec<u32>,
    round: u32,
    visits: usize,
    open: Vec<StateID>,
}

impl Threads {
    fn new(states: usize) -> Self {
        Self { waiting: Vec::new(), visited: vec![0; states], round: 0, visits: 0, open: Vec::new() }
    }

    fn clear(&mut self) {
        self.waiting.clear();
        self.visits = 0;
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.visited.fill(0);
            self.round = 1;
        }
    }

    /// Adds the states that are reachable without a byte, and that wait for one or are a match.
    fn follow(&mut self, nfa: &NFA, (from, start): (StateID, usize), text: &[u8], at: usize) {
        self.open.push(from);
        while let Some(id) = self.open.pop() {
            if std::mem::replace(&mut self.visited[id.as_usize()], self.round) == self.round {
                continue;
            }
            self.visits += 1;
            match nfa.state(id) {
                State::Look { look, next } if nfa.look_matcher().matches(*look, text, at) => self.open.push(*next),
                State::Look { .. } | State::Fail => {}
                State::Union { alternates } => self.open.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => self.open.extend([*alt2, *alt1]),
                State::Capture { next, .. } => self.open.push(*next),
                _ => self.waiting.push((id, start)),
            }
        }
    }
}

/// Calls `goes_on` at regular intervals.
struct Clock<'s> {
    goes_on: &'s dyn Fn() -> bool,
    visits: usize,
}

impl Clock<'_> {
    fn tick(&mut self, visits: usize) -> Result<(), MatchError> {
        self.visits += visits;
        if self.visits < VISITS_PER_CHECK {
            return Ok(());
        }
        self.visits = 0;
        if (self.goes_on)() { Ok(()) } else { Err(MatchError::gave_up(0)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_automata::meta;

    use super::*;

    fn hir(pattern: &str) -> Option<Hir> {
        regex_syntax::ParserBuilder::new().multi_line(true).build().parse(pattern).ok()
    }

    /// Returns the matches of the DFAs, and those of the NFA alone.
    fn stepped(hir: &Hir, text: &str, part: Range<usize>) -> [Vec<Range<usize>>; 2] {
        let both = Stepped::new(hir, 1 << 20).expect("it is small");
        let alone = Stepped { dfas: None, ..both.clone() };
        [both, alone].map(|stepped| {
            let mut search = stepped.search(text, &|| true);
            let found = search.matches(part.clone()).collect::<Result<Vec<_>, _>>();
            found.expect("it was not stopped")
        })
    }

    fn check(pattern: &str, text: &str, part: Range<usize>) {
        let Some(hir) = hir(pattern) else { return };
        let regex = meta::Regex::builder().build_from_hir(&hir).expect("it is small");
        let expected: Vec<_> =
            regex.find_iter(Input::new(text).span(part.clone())).map(|found| found.range()).collect();
        for found in stepped(&hir, text, part.clone()) {
            assert_eq!(found, expected, "{pattern:?} in {text:?}, {part:?}");
        }
    }

    #[test]
    fn matches_are_those_of_the_other_engines() {
        let patterns = [
            "",
            "a",
            "a*",
            "a*?",
            "a|ab",
            "ab|a",
            "(a|b)*c",
            "a.*c",
            "a.*?c",
            "^",
            "$",
            "^a$",
            r"\b",
            r"\B",
            r"\ba\b",
            r"\b{start}a",
            "(?i)É",
            "é?",
            ".",
            ".{2}",
            r"\w+",
            "(?-u:\\b)a",
            "[^a]",
            "(?s:.)*",
            "(.{1,3}){2}[x-z]",
            "c$",
            "a{2,}|b",
            r"(\bé|a\B)*?b",
            "(?:)|b",
        ];
        for pattern in patterns {
            for text in ["", "a", "ab\nac é\n", "aaé bé", "é", "\n\n", "x😀y", "abcabc xyz", "a\r\nb", "éaé"] {
                let edges = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
                for start in edges.clone() {
                    edges.clone().filter(|end| *end >= start).for_each(|end| check(pattern, text, start..end));
                }
            }
        }
    }

    /// The elements of random expressions; those that do not parse are skipped.
    const PIECES: &[&str] =
        &["a", "b", "é", ".", "^", "$", r"\b", r"\B", "[^a]", "(a|", ")", "b*", ".*?", "b{1,3}", r"\w+", "|", "(?i:É)"];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn matches_of_random_expressions_are_those_of_the_other_engines(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 1..8),
            text in "[abcé \n]{0,24}",
        ) {
            check(&pieces.concat(), &text, 0..text.len());
        }
    }

    #[test]
    fn a_search_stops_when_it_is_told_to() {
        let line = "ab é".repeat(1 << 16);
        for pattern in ["(.{1,900}){3}[x-z]", r"(\w{1,100} ){9}x", "a.*z|é", r"\bq\b"] {
            let stepped = Stepped::new(&hir(pattern).expect("it is valid"), 32 << 20).expect("it is small enough");
            for stepped in [&stepped, &Stepped { dfas: None, ..stepped.clone() }] {
                let asked = std::cell::Cell::new(0);
                let goes_on = || {
                    asked.set(asked.get() + 1);
                    asked.get() < 4
                };
                let last = stepped.search(&line, &goes_on).matches(0..line.len()).last();
                assert_eq!((last, asked.get()), (Some(Err(Stopped)), 4), "{pattern}");
            }
        }
    }
}

//! The threads that answer: away from the transport's, each with a desk of its own.
//!
//! Every workspace has a thread that its questions go to, because that thread has it open and remembers what was resolved.
//! Only while that one is busy, another steps in.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::desk::Desk;
use crate::measure;

/// Nobody asked for so long: what is open is let go.
const IDLE: Duration = Duration::from_secs(2);

type Task = Box<dyn FnOnce(&mut Desk) + Send>;

/// See the module.
#[derive(Clone)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Each with the thread it should go to.
    tasks: VecDeque<(usize, Task)>,
    busy: Vec<bool>,
}

impl State {
    /// The first task that a thread may take.
    fn place_for(&self, me: usize) -> Option<usize> {
        self.tasks.iter().position(|(home, _)| *home == me || self.busy[*home])
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Starts so many threads. They live as long as the process.
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        let state = State { tasks: VecDeque::new(), busy: vec![false; count] };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        for me in 0..count {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("answer-{me}")).spawn(move || work(&shared, me))?;
        }
        Ok(Self { shared })
    }

    /// Hands in a task about something; tasks about the same thing go to the same thread if they can.
    pub(crate) fn submit(&self, about: &str, task: impl FnOnce(&mut Desk) + Send + 'static) {
        let mut state = self.shared.lock();
        let sum = about.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let home = sum % state.busy.len();
        state.tasks.push_back((home, Box::new(task)));
        self.shared.changed.notify_all();
    }
}

fn work(shared: &Shared, me: usize) {
    let mut desk = Desk::default();
    loop {
        let nothing = |state: &mut State| state.place_for(me).is_none();
        let waited = shared.changed.wait_timeout_while(shared.lock(), IDLE, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.place_for(me).and_then(|place| state.tasks.remove(place)) {
            Some((_, task)) => {
                state.busy[me] = true;
                // Others may now take what waits for this thread.
                shared.changed.notify_all();
                drop(state);
                // A task that breaks down takes no thread with it, only what that thread had open.
                if catch_unwind(AssertUnwindSafe(|| task(&mut desk))).is_err() {
                    desk.clear();
                }
                shared.lock().busy[me] = false;
            }
            None => {
                // Without a task there is nothing to wake up for until one arrives.
                drop(state);
                desk.rest();
                measure::give_back();
                drop(shared.changed.wait_while(shared.lock(), nothing));
            }
        }
    }
}

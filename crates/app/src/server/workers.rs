//! The threads that answer: away from the transport's, each with a desk of its own.
//!
//! Every workspace has a thread that its questions go to, because that thread has it open and remembers what was resolved.
//! Only while that one is busy, another steps in. One thread is never taken by long questions: whoever only wants to know
//! where something stands, or how the server is, gets it at once, whatever else is going on. Which questions are long is told
//! by the tool, since nothing can be taken back once a thread has begun.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::measure;
use crate::views::{Desk, Order};

/// Nobody asked for so long: what is open is let go.
const IDLE: Duration = Duration::from_secs(2);

type Task = Box<dyn FnOnce(&mut Desk) + Send>;

/// See the module.
#[derive(Clone)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

/// How much of a thread's time a task may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// It looks up a few things.
    Short,
    /// It may go through everything, or wait for somebody.
    Long,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Somebody has done as he was told.
    obeyed: Condvar,
}

struct Waiting {
    /// The thread it should go to.
    home: usize,
    length: Length,
    task: Task,
}

struct State {
    tasks: VecDeque<Waiting>,
    /// What each thread does now.
    busy: Vec<Option<Length>>,
    /// What each thread was told and has not done yet.
    orders: Vec<Vec<Order>>,
}

impl State {
    /// The first task that a thread may take.
    fn place_for(&self, me: usize) -> Option<usize> {
        let long = self.busy.iter().filter(|busy| **busy == Some(Length::Long)).count();
        let may_be_long = long + 1 < self.busy.len();
        let is_allowed = |waiting: &Waiting| waiting.length == Length::Short || may_be_long;
        let is_mine = |waiting: &Waiting| waiting.home == me || self.busy[waiting.home].is_some();
        self.tasks.iter().position(|waiting| is_mine(waiting) && is_allowed(waiting))
    }

    /// Whether a thread has nothing to do.
    fn is_idle(&self, me: usize) -> bool {
        self.orders[me].is_empty() && self.place_for(me).is_none()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Starts so many threads, at least two. They live as long as the process.
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        let count = count.max(2);
        let state = State { tasks: VecDeque::new(), busy: vec![None; count], orders: vec![Vec::new(); count] };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), obeyed: Condvar::new() });
        for me in 0..count {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("answer-{me}")).spawn(move || work(&shared, me))?;
        }
        Ok(Self { shared })
    }

    /// Hands in a task about something; tasks about the same thing go to the same thread if they can.
    pub(crate) fn submit(&self, about: &str, length: Length, task: impl FnOnce(&mut Desk) + Send + 'static) {
        let mut state = self.shared.lock();
        let sum = about.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let home = sum % state.busy.len();
        state.tasks.push_back(Waiting { home, length, task: Box::new(task) });
        self.shared.changed.notify_all();
    }

    /// Tells all threads something, and waits until those that do nothing else have done it, but no longer than that.
    pub(crate) fn tell(&self, order: &Order, patience: Duration) {
        let mut state = self.shared.lock();
        for orders in &mut state.orders {
            // Once for the time that is just being heeded, and once for what came after.
            if orders.iter().filter(|known| *known == order).count() < 2 {
                orders.push(order.clone());
            }
        }
        self.shared.changed.notify_all();
        let is_pending = |state: &mut State| {
            state.orders.iter().zip(&state.busy).any(|(orders, busy)| busy.is_none() && orders.contains(order))
        };
        drop(self.shared.obeyed.wait_timeout_while(state, patience, is_pending));
    }
}

fn work(shared: &Shared, me: usize) {
    let mut desk = Desk::default();
    loop {
        let nothing = |state: &mut State| state.is_idle(me);
        let waited = shared.changed.wait_timeout_while(shared.lock(), IDLE, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.orders[me].is_empty() {
            let orders = state.orders[me].clone();
            drop(state);
            orders.iter().for_each(|order| desk.obey(order));
            shared.lock().orders[me].drain(..orders.len());
            shared.obeyed.notify_all();
            continue;
        }
        match state.place_for(me).and_then(|place| state.tasks.remove(place)) {
            Some(Waiting { length, task, .. }) => {
                state.busy[me] = Some(length);
                // Others may now take what waits for this thread.
                shared.changed.notify_all();
                drop(state);
                // A task that breaks down takes no thread with it, only what that thread had open.
                if catch_unwind(AssertUnwindSafe(|| task(&mut desk))).is_err() {
                    desk.clear();
                }
                desk.tidy(IDLE);
                shared.lock().busy[me] = None;
                // A long task that had to wait for the end of this one may be another thread's.
                shared.changed.notify_all();
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG_ENOUGH: Duration = Duration::from_secs(30);

    #[test]
    fn long_questions_never_take_every_thread() {
        let workers = Workers::start(4).expect("threads can be started");
        let (begun, has_begun) = mpsc::channel();
        let gates: Vec<mpsc::Sender<()>> = (0..4)
            .map(|number| {
                let (gate, is_open) = mpsc::channel::<()>();
                let begun = begun.clone();
                workers.submit(&format!("workspace {number}"), Length::Long, move |_| {
                    begun.send(number).expect("the test listens");
                    let _ = is_open.recv();
                });
                gate
            })
            .collect();
        let running: Vec<usize> = (0..3).map(|_| has_begun.recv_timeout(LONG_ENOUGH).expect("three may run")).collect();
        // Whatever they are about, and whosever thread they would go to: short ones are answered beside them.
        for number in 0..8 {
            let (answer, answered) = mpsc::channel();
            workers.submit(&format!("workspace {number}"), Length::Short, move |_| answer.send(()).expect("it waits"));
            answered.recv_timeout(LONG_ENOUGH).expect("a short question is answered while three long ones run");
        }
        assert!(has_begun.try_recv().is_err(), "the fourth has to wait");
        gates[running[0]].send(()).expect("it waits");
        let last = has_begun.recv_timeout(LONG_ENOUGH).expect("now it is its turn");
        assert!(!running.contains(&last), "{last} of {running:?}");
    }

    #[test]
    fn an_order_is_waited_for_only_where_nothing_runs() {
        let workers = Workers::start(2).expect("threads can be started");
        let (gate, is_open) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        workers.submit("", Length::Long, move |_| {
            begun.send(()).expect("the test listens");
            let _ = is_open.recv();
        });
        has_begun.recv_timeout(LONG_ENOUGH).expect("it runs");
        workers.tell(&Order::Forget("somewhere".into()), LONG_ENOUGH);
        let left: usize = workers.shared.lock().orders.iter().map(Vec::len).sum();
        assert_eq!(left, 1, "the busy one has not heard of it yet");
        gate.send(()).expect("it waits");
        let obeyed = workers.shared.obeyed.wait_timeout_while(workers.shared.lock(), LONG_ENOUGH, |state| {
            state.orders.iter().any(|orders| !orders.is_empty())
        });
        assert!(!obeyed.expect("nobody panicked").1.timed_out(), "it hears of it when it is done");
    }
}

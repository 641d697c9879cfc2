//! The worker threads that answer: separate from those of the transport, each with its own snapshot cache.
//!
//! Each workspace has a home thread for its queries, because that thread has it open and caches resolved names. Another
//! thread takes a query only while the home thread is busy. One thread is never used for long queries, so a short
//! lookup or a health check is answered at once, whatever else is running. The tool determines which queries are long,
//! because a started task cannot be moved.
//!
//! A thread counts as free before it sends an answer: a client that asks again at once would otherwise find the home
//! thread busy, and every other thread would come to cache the same workspace.
//!
//! Clients take turns: the next task belongs to the client with the fewest running tasks that was served longest ago.
//! One client uses at most all long-task threads but one, so that a long task of another client also starts at once.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use codecompass_workspace::measure;
use codecompass_workspace::session::VERSION_CACHE;
use codecompass_workspace::views::{CacheCommand, SnapshotCache};

/// After this idle time everything that is open is evicted.
const IDLE_EVICT_TIME: Duration = Duration::from_secs(2);

/// After this time without queries in any thread, the decoded files are dropped, too.
const IDLE_CLEAR_TIME: Duration = Duration::from_secs(120);

/// The maximum number of waiting tasks of one client if there are several clients.
const MAX_WAITING_PER_CLIENT: usize = 64;

/// The maximum number of waiting tasks.
const MAX_WAITING: usize = 1024;

/// A task returns the delivery of its result, which happens once its thread counts as free.
type Task = Box<dyn FnOnce(&mut SnapshotCache) -> Delivery + Send>;

/// Sends a result to where it was asked for.
pub(crate) type Delivery = Box<dyn FnOnce() + Send>;

/// Returns the delivery of a task without a result.
pub(crate) fn nothing_to_deliver() -> Delivery {
    Box::new(|| {})
}

/// The client of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// The server itself.
    Server,
    /// The only client of a pipe.
    Pipe,
    /// The pages of the explorer.
    Pages,
    /// Health checks outside of the protocol.
    Health,
    /// A session.
    Session(u64),
    /// All requests from an address without a session.
    Address(IpAddr),
}

impl Client {
    /// The maximum number of its tasks that may wait. A pipe has no other client to protect.
    fn max_waiting(self) -> usize {
        match self {
            Self::Server => usize::MAX,
            Self::Pipe => MAX_WAITING,
            Self::Pages | Self::Health | Self::Session(_) | Self::Address(_) => MAX_WAITING_PER_CLIENT,
        }
    }
}

/// The queue is full for this client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull;

/// The worker threads and their queue.
#[derive(Clone)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

/// How long a task may occupy a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskLength {
    /// It does a few lookups.
    Short,
    /// It may scan everything, or wait for a job.
    Long,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Signals that a thread has applied its commands.
    commands_applied: Condvar,
}

struct QueuedTask {
    /// The home thread of the task.
    home: usize,
    client: Client,
    length: TaskLength,
    /// Set when the answer is no longer wanted.
    gone: Arc<AtomicBool>,
    task: Task,
}

/// The load of a client in the queue and on the threads.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    waiting: usize,
    running: usize,
    /// The number of its running long tasks.
    long: usize,
    /// The turn in which one of its tasks last began.
    served: u64,
}

struct State {
    tasks: VecDeque<QueuedTask>,
    /// The current task of each thread, with its client.
    busy: Vec<Option<(Client, TaskLength)>>,
    /// The clients with waiting or running tasks.
    loads: HashMap<Client, Load>,
    /// The number of tasks begun so far.
    turns: u64,
    /// The commands that each thread has not applied yet.
    commands: Vec<Vec<CacheCommand>>,
}

impl State {
    fn new(threads: usize) -> Self {
        Self {
            tasks: VecDeque::new(),
            busy: vec![None; threads],
            loads: HashMap::new(),
            turns: 0,
            commands: vec![Vec::new(); threads],
        }
    }

    /// Whether a thread may take a task now, by its home thread and its length.
    fn takes(&self, me: usize) -> impl Fn(&QueuedTask) -> bool {
        let threads = self.busy.len();
        let long = self.busy.iter().filter(|busy| matches!(busy, Some((_, TaskLength::Long)))).count();
        let may_be_long = long + 1 < threads;
        let max_long_per_client = threads.saturating_sub(2).max(1);
        move |waiting| {
            let is_mine = waiting.home == me || self.busy[waiting.home].is_some();
            let is_allowed = waiting.length == TaskLength::Short
                || may_be_long && self.load(waiting.client).long < max_long_per_client;
            is_mine && is_allowed
        }
    }

    /// Returns the next task for a thread: from the client with the fewest running tasks, among equals from the one that
    /// was served longest ago, and its oldest task.
    fn next_task_for(&self, me: usize) -> Option<usize> {
        let takes = self.takes(me);
        let found = self.tasks.iter().enumerate().filter(|(_, waiting)| takes(waiting));
        let rank = |client| {
            let load = self.load(client);
            (load.running, load.served)
        };
        found.min_by_key(|(place, waiting)| (rank(waiting.client), *place)).map(|(place, _)| place)
    }

    /// Whether a thread has nothing to do.
    fn is_idle(&self, me: usize) -> bool {
        self.commands[me].is_empty() && !self.tasks.iter().any(self.takes(me))
    }

    fn load(&self, client: Client) -> Load {
        self.loads.get(&client).copied().unwrap_or_default()
    }

    /// Changes the load of a client, and drops a client without tasks.
    fn count(&mut self, client: Client, change: impl FnOnce(&mut Load)) {
        let load = self.loads.entry(client).or_default();
        change(load);
        if load.waiting == 0 && load.running == 0 {
            self.loads.remove(&client);
        }
    }

    /// Adds a task to the end of the queue, unless it is full.
    fn push(&mut self, waiting: QueuedTask) -> Result<(), QueueFull> {
        let client = waiting.client;
        let is_full = |state: &Self| {
            let total = if client == Client::Server { 0 } else { state.tasks.len() };
            state.load(client).waiting >= client.max_waiting() || total >= MAX_WAITING
        };
        if is_full(self) {
            self.drop_abandoned();
        }
        if is_full(self) {
            return Err(QueueFull);
        }
        self.count(client, |load| load.waiting += 1);
        self.tasks.push_back(waiting);
        Ok(())
    }

    /// Takes the next task for a thread and records that it runs.
    fn begin(&mut self, me: usize) -> Option<Task> {
        self.drop_abandoned();
        let QueuedTask { client, length, task, .. } = self.tasks.remove(self.next_task_for(me)?)?;
        self.turns += 1;
        let turn = self.turns;
        self.count(client, |load| {
            load.waiting -= 1;
            load.running += 1;
            load.long += usize::from(length == TaskLength::Long);
            load.served = turn;
        });
        self.busy[me] = Some((client, length));
        Some(task)
    }

    /// Records that the task of a thread is over.
    fn end(&mut self, me: usize) {
        let Some((client, length)) = self.busy[me].take() else { return };
        self.count(client, |load| {
            load.running -= 1;
            load.long -= usize::from(length == TaskLength::Long);
        });
    }

    /// Removes tasks whose answer is no longer wanted.
    fn drop_abandoned(&mut self) {
        let is_gone = |waiting: &QueuedTask| waiting.gone.load(Ordering::Relaxed);
        if !self.tasks.iter().any(is_gone) {
            return;
        }
        let (gone, kept) = std::mem::take(&mut self.tasks).into_iter().partition::<VecDeque<_>, _>(is_gone);
        self.tasks = kept;
        for waiting in gone {
            self.count(waiting.client, |load| load.waiting -= 1);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Starts this number of threads, at least two. They live as long as the process.
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        let count = count.max(2);
        let state = Mutex::new(State::new(count));
        let shared = Arc::new(Shared { state, changed: Condvar::new(), commands_applied: Condvar::new() });
        for me in 0..count {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("answer-{me}")).spawn(move || worker_loop(&shared, me))?;
        }
        Ok(Self { shared })
    }

    /// Submits a task about a workspace; tasks about the same workspace go to the same thread if possible. A task whose
    /// `gone` flag is set before it begins is dropped.
    pub(crate) fn submit(
        &self,
        client: Client,
        about: &str,
        length: TaskLength,
        gone: &Arc<AtomicBool>,
        task: impl FnOnce(&mut SnapshotCache) -> Delivery + Send + 'static,
    ) -> Result<(), QueueFull> {
        let mut state = self.shared.lock();
        let sum = about.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let home = sum % state.busy.len();
        state.push(QueuedTask { home, client, length, gone: Arc::clone(gone), task: Box::new(task) })?;
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Sends a command to all threads and waits, up to the given time, until the idle threads have applied it.
    pub(crate) fn broadcast(&self, order: &CacheCommand, patience: Duration) {
        let mut state = self.shared.lock();
        for orders in &mut state.commands {
            // Once for the command that is being applied now, and once for data opened after it.
            if orders.iter().filter(|known| *known == order).count() < 2 {
                orders.push(order.clone());
            }
        }
        self.shared.changed.notify_all();
        let is_pending = |state: &mut State| {
            state.commands.iter().zip(&state.busy).any(|(orders, busy)| busy.is_none() && orders.contains(order))
        };
        drop(self.shared.commands_applied.wait_timeout_while(state, patience, is_pending));
    }
}

fn worker_loop(shared: &Shared, me: usize) {
    let mut desk = SnapshotCache::default();
    loop {
        let nothing = |state: &mut State| state.is_idle(me);
        let waited = shared.changed.wait_timeout_while(shared.lock(), IDLE_EVICT_TIME, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.commands[me].is_empty() {
            let orders = state.commands[me].clone();
            drop(state);
            orders.iter().for_each(|order| desk.apply(order));
            shared.lock().commands[me].drain(..orders.len());
            shared.commands_applied.notify_all();
            continue;
        }
        match state.begin(me) {
            Some(task) => {
                // Other threads may now take tasks that wait for this thread.
                shared.changed.notify_all();
                drop(state);
                // A panicking task does not end its thread, but clears the thread's cache.
                let delivery = catch_unwind(AssertUnwindSafe(|| task(&mut desk)));
                if delivery.is_err() {
                    desk.clear();
                }
                shared.lock().end(me);
                // Another thread may take a long task that had to wait for the end of this one.
                shared.changed.notify_all();
                let _ = delivery.map(|deliver| catch_unwind(AssertUnwindSafe(deliver)));
                desk.evict_idle(IDLE_EVICT_TIME);
            }
            None => {
                drop(state);
                desk.evict_finished();
                measure::release_memory();
                let uses = VERSION_CACHE.uses();
                let waited = shared.changed.wait_timeout_while(shared.lock(), IDLE_CLEAR_TIME, nothing);
                let is_idle = waited.is_ok_and(|(_, waited)| waited.timed_out());
                if is_idle && VERSION_CACHE.uses() == uses {
                    VERSION_CACHE.clear();
                    measure::release_memory();
                }
                // Without a task there is nothing to wake up for until one arrives.
                drop(shared.changed.wait_while(shared.lock(), nothing));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const TEST_TIMEOUT: Duration = Duration::from_secs(30);

    const ONE: Client = Client::Session(1);
    const OTHER: Client = Client::Session(2);

    fn submit(workers: &Workers, client: Client, length: TaskLength, task: impl FnOnce() + Send + 'static) {
        let run = move |_: &mut SnapshotCache| {
            task();
            nothing_to_deliver()
        };
        workers.submit(client, "", length, &Arc::default(), run).expect("there is room");
    }

    #[test]
    fn a_client_that_asks_again_at_once_finds_its_home_thread_free() {
        let workers = Workers::start(4).expect("threads can be started");
        let mut threads = std::collections::HashSet::new();
        for _ in 0..500 {
            let (answer, answered) = mpsc::channel();
            let run = move |_: &mut SnapshotCache| -> Delivery {
                let thread = std::thread::current().id();
                Box::new(move || answer.send(thread).expect("it waits"))
            };
            workers.submit(ONE, "", TaskLength::Short, &Arc::default(), run).expect("there is room");
            threads.insert(answered.recv_timeout(TEST_TIMEOUT).expect("it is answered"));
        }
        assert_eq!(threads.len(), 1, "every thread that answers fills a cache of its own");
    }

    #[test]
    fn a_client_that_asks_for_much_leaves_a_thread_to_others() {
        let workers = Workers::start(4).expect("threads can be started");
        let (begun, has_begun) = mpsc::channel();
        let (gate, is_open) = mpsc::channel::<()>();
        let is_open = Arc::new(Mutex::new(is_open));
        for _ in 0..20 {
            let (begun, is_open) = (begun.clone(), Arc::clone(&is_open));
            submit(&workers, ONE, TaskLength::Long, move || {
                begun.send(()).expect("the test listens");
                let _ = is_open.lock().expect("it is not poisoned").recv();
            });
        }
        (0..2).for_each(|_| has_begun.recv_timeout(TEST_TIMEOUT).expect("two of four threads are for one client"));
        for _ in 0..8 {
            let (answer, answered) = mpsc::channel();
            submit(&workers, OTHER, TaskLength::Long, move || answer.send(()).expect("it waits"));
            answered.recv_timeout(TEST_TIMEOUT).expect("another client is served beside them");
        }
        assert!(has_begun.try_recv().is_err(), "a third long task of the first client has to wait");
        drop(gate);
    }

    #[test]
    fn clients_take_turns() {
        let mut state = State::new(1);
        let waiting = |client| QueuedTask {
            home: 0,
            client,
            length: TaskLength::Short,
            gone: Arc::default(),
            task: Box::new(|_| nothing_to_deliver()),
        };
        (0..50).for_each(|_| state.push(waiting(ONE)).expect("there is room"));
        (0..3).for_each(|_| state.push(waiting(OTHER)).expect("there is room"));
        let served: Vec<Client> = (0..8)
            .map(|_| {
                assert!(state.begin(0).is_some(), "there is more");
                let (client, _) = state.busy[0].expect("it runs");
                state.end(0);
                client
            })
            .collect();
        assert_eq!(served, [ONE, OTHER, ONE, OTHER, ONE, OTHER, ONE, ONE]);
    }

    #[test]
    fn the_queue_of_a_client_is_bounded_and_what_is_gone_makes_room() {
        let mut state = State::new(1);
        let gone = Arc::new(AtomicBool::new(false));
        let waiting = |client| {
            let gone = Arc::clone(&gone);
            QueuedTask { home: 0, client, length: TaskLength::Long, gone, task: Box::new(|_| nothing_to_deliver()) }
        };
        (0..MAX_WAITING_PER_CLIENT).for_each(|_| state.push(waiting(ONE)).expect("there is room"));
        assert_eq!(state.push(waiting(ONE)), Err(QueueFull));
        assert_eq!((state.push(waiting(OTHER)), state.push(waiting(Client::Server))), (Ok(()), Ok(())));
        for session in 3..100 {
            (0..MAX_WAITING_PER_CLIENT).filter(|_| state.push(waiting(Client::Session(session))).is_ok()).count();
        }
        assert_eq!((state.tasks.len(), state.push(waiting(OTHER))), (MAX_WAITING, Err(QueueFull)));
        gone.store(true, Ordering::Relaxed);
        state.push(waiting(ONE)).expect("the others were cancelled");
        assert_eq!((state.tasks.len(), state.loads.len()), (1, 1));
    }

    #[test]
    fn long_tasks_never_take_every_thread() {
        let workers = Workers::start(4).expect("threads can be started");
        let (begun, has_begun) = mpsc::channel();
        let gates: Vec<mpsc::Sender<()>> = (0..4)
            .map(|number| {
                let (gate, is_open) = mpsc::channel::<()>();
                let begun = begun.clone();
                let run = move |_: &mut SnapshotCache| {
                    begun.send(number).expect("the test listens");
                    let _ = is_open.recv();
                    nothing_to_deliver()
                };
                let (client, about) = (Client::Session(number as u64), format!("workspace {number}"));
                workers.submit(client, &about, TaskLength::Long, &Arc::default(), run).expect("there is room");
                gate
            })
            .collect();
        let running: Vec<usize> =
            (0..3).map(|_| has_begun.recv_timeout(TEST_TIMEOUT).expect("three may run")).collect();
        // Short tasks are answered beside long ones, whatever their workspace and home thread.
        for number in 0..8 {
            let (answer, answered) = mpsc::channel();
            let about = format!("workspace {number}");
            let run = move |_: &mut SnapshotCache| -> Delivery { Box::new(move || answer.send(()).expect("it waits")) };
            workers.submit(ONE, &about, TaskLength::Short, &Arc::default(), run).expect("there is room");
            answered.recv_timeout(TEST_TIMEOUT).expect("a short question is answered while three long ones run");
        }
        assert!(has_begun.try_recv().is_err(), "the fourth has to wait");
        gates[running[0]].send(()).expect("it waits");
        let last = has_begun.recv_timeout(TEST_TIMEOUT).expect("now it is its turn");
        assert!(!running.contains(&last), "{last} of {running:?}");
    }

    #[test]
    fn broadcast_waits_only_for_idle_threads() {
        let workers = Workers::start(2).expect("threads can be started");
        let (gate, is_open) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        submit(&workers, ONE, TaskLength::Long, move || {
            begun.send(()).expect("the test listens");
            let _ = is_open.recv();
        });
        has_begun.recv_timeout(TEST_TIMEOUT).expect("it runs");
        workers.broadcast(&CacheCommand::EvictProject("somewhere".into()), TEST_TIMEOUT);
        let left: usize = workers.shared.lock().commands.iter().map(Vec::len).sum();
        assert_eq!(left, 1, "the busy thread has not applied it yet");
        gate.send(()).expect("it waits");
        let obeyed = workers.shared.commands_applied.wait_timeout_while(workers.shared.lock(), TEST_TIMEOUT, |state| {
            state.commands.iter().any(|orders| !orders.is_empty())
        });
        assert!(!obeyed.expect("no thread panicked").1.timed_out(), "it applies the command when it is done");
    }
}

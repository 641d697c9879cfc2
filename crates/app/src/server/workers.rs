//! The threads that answer: away from the transport's, each with a desk of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::desk::Desk;
use crate::measure;

/// Nobody asked for so long: what is open is let go.
const IDLE: Duration = Duration::from_secs(2);

type Task = Box<dyn FnOnce(&mut Desk) + Send>;

/// See the module.
#[derive(Clone)]
pub(crate) struct Workers {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    tasks: Mutex<VecDeque<Task>>,
    arrived: Condvar,
}

impl Workers {
    /// Starts so many threads. They live as long as the process.
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        let queue = Arc::<Queue>::default();
        for number in 0..count {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name(format!("answer-{number}")).spawn(move || work(&queue))?;
        }
        Ok(Self { queue })
    }

    /// Hands in a task.
    pub(crate) fn submit(&self, task: impl FnOnce(&mut Desk) + Send + 'static) {
        self.queue.tasks.lock().unwrap_or_else(PoisonError::into_inner).push_back(Box::new(task));
        self.queue.arrived.notify_one();
    }
}

fn work(queue: &Queue) {
    let mut desk = Desk::default();
    loop {
        let tasks = queue.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = queue.arrived.wait_timeout_while(tasks, IDLE, |tasks| tasks.is_empty());
        let (mut tasks, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match tasks.pop_front() {
            Some(task) => {
                drop(tasks);
                task(&mut desk);
            }
            None => {
                // Without a task there is nothing to wake up for until one arrives.
                drop(tasks);
                desk.clear();
                measure::give_back();
                let tasks = queue.tasks.lock().unwrap_or_else(PoisonError::into_inner);
                drop(queue.arrived.wait_while(tasks, |tasks| tasks.is_empty()));
            }
        }
    }
}

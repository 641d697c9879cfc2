//! Text scans: applies a function to many texts of a snapshot, on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use codecompass_model::VersionId;

use crate::snapshot::check_cancelled;
use crate::text_loader::TextLoader;
use crate::{Result, Snapshot, StoreError};

/// The minimum number of texts for a second thread. Fewer are unpacked before it has started.
const TEXTS_PER_THREAD: usize = 128;
/// A cached text costs this fraction of one that must be read.
const CACHED_TEXT_DISCOUNT: usize = 8;
/// The size of the texts that one scan adds to the cache. More would displace what other queries need, and the scan
/// would hold all of it until its end.
const MAX_CACHED_BYTES: usize = 4 << 20;

impl Snapshot {
    /// Applies `look` to the texts of these versions and returns the results in their order.
    pub fn map_texts<T: Send>(&self, ids: &[VersionId], look: impl Fn(&str) -> T + Sync) -> Result<Vec<T>> {
        let at_hand: Vec<Option<Arc<str>>> = ids.iter().map(|id| self.cached_text(*id)).collect::<Result<_>>()?;
        let known = at_hand.iter().flatten().count();
        let threads =
            if ids.len() - known + known / CACHED_TEXT_DISCOUNT < TEXTS_PER_THREAD { 1 } else { thread_count() };
        let mut readers = self.readers.borrow_mut();
        while readers.len() < threads && known < ids.len() {
            readers.push(TextLoader::open(self.epoch())?);
        }
        let mut readers: Vec<Option<&mut TextLoader>> = readers.iter_mut().take(threads).map(Some).collect();
        readers.resize_with(threads, || None);
        let items: Vec<(VersionId, Option<Arc<str>>)> = ids.iter().copied().zip(at_hand).collect();
        let stop = self.cancel.borrow().clone();
        let cached_bytes = AtomicUsize::new(0);
        let is_cacheable = |text: &str| cached_bytes.fetch_add(text.len(), Ordering::Relaxed) < MAX_CACHED_BYTES;
        let shares = in_threads(readers, |mut reader, first| {
            let share = items.iter().skip(first).step_by(threads);
            let mut one = |(id, text): &(VersionId, Option<Arc<str>>)| -> Result<(T, Option<Box<str>>)> {
                check_cancelled(&stop)?;
                match (text, &mut reader) {
                    (Some(text), _) => Ok((look(text), None)),
                    (None, Some(reader)) => {
                        reader.read(*id, |text| (look(text), is_cacheable(text).then(|| text.into())))
                    }
                    (None, None) => Err(StoreError::Corrupt(format!("no reader for file version {id}"))),
                }
            };
            share.map(&mut one).collect::<Result<Vec<_>>>()
        })?;
        let mut shares: Vec<_> = shares.into_iter().map(Vec::into_iter).collect();
        let mut looks = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            let (look, read) = shares[at % threads].next().expect("because each text has a result");
            if let Some(text) = read {
                // Copied, so that no memory of a thread that has ended stays in use.
                self.cache_text(*id, &Arc::from(&*text))?;
            }
            looks.push(look);
        }
        Ok(looks)
    }
}

fn thread_count() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(4))
}

/// Runs each reader on its own thread with its number; a single one runs on the current thread.
fn in_threads<R: Send, T: Send>(
    mut readers: Vec<R>,
    work: impl Fn(R, usize) -> Result<Vec<T>> + Sync,
) -> Result<Vec<Vec<T>>> {
    if readers.len() == 1 {
        return Ok(vec![work(readers.remove(0), 0)?]);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> =
            readers.into_iter().enumerate().map(|(number, reader)| scope.spawn(move || work(reader, number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

//! Runs every case of a folder on every road, and reports all failures together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::case::Case;
use crate::case_run::Failure;
use crate::golden::update_requested;
use crate::product::Product;
use crate::roads::{ROADS, Road, first_answers};

/// Runs all `*.case` files under a folder on all roads, and panics with every failure.
///
/// With `UPDATE=1` the answers in the files are rewritten from the first road; the other roads must then agree with
/// them. `CASE=text` and `ROAD=text` run only the cases and roads whose names contain the text.
pub fn run_cases(dir: &Path, product: &dyn Product) {
    let wanted = |name: &str| std::env::var(name).unwrap_or_default();
    let options = Options { update: update_requested(), case: wanted("CASE"), road: wanted("ROAD") };
    let failures = run_cases_with(dir, product, &options);
    assert!(failures.is_empty(), "{}", report(&failures));
}

/// The options that [`run_cases`] reads from the environment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rewrite the answers in the case files.
    pub update: bool,
    /// Only cases whose file name contains this.
    pub case: String,
    /// Only roads whose name contains this.
    pub road: String,
}

/// Runs the cases of a folder, and returns the failures: `x.case on road 'y'` and the reason.
pub fn run_cases_with(dir: &Path, product: &dyn Product, options: &Options) -> Vec<(String, Failure)> {
    let mut failures = Vec::new();
    let paths = list_cases(dir);
    if paths.is_empty() {
        failures.push((dir.display().to_string(), Failure("there is no case in this folder".to_owned())));
    }
    let shown = |path: &Path| path.strip_prefix(dir).unwrap_or(path).display().to_string();
    let chosen: Vec<PathBuf> = paths.into_iter().filter(|path| shown(path).contains(&options.case)).collect();
    if options.update {
        let update = |path: &PathBuf| update_case(path, product).err().map(|why| (shown(path), why));
        failures.extend(parallel_map(&chosen, update));
    }
    let mut journeys = Vec::new();
    for path in &chosen {
        match Case::read(path) {
            Ok(case) => {
                let roads = Road::for_case(&case).filter(|road| road.name.contains(&options.road)).collect::<Vec<_>>();
                let case = std::sync::Arc::new(case);
                journeys.extend(roads.into_iter().map(|road| (case.clone(), road)));
            }
            Err(error) => failures.push((shown(path), Failure(error.to_string()))),
        }
    }
    failures.extend(parallel_map(&journeys, |(case, road)| {
        let failure = catch_panic(|| (road.walk)(case, product)).err()?;
        Some((format!("{} on road '{}'", shown(&case.path), road.name), failure))
    }));
    failures
}

/// Returns all case files under a folder, sorted.
pub fn list_cases(dir: &Path) -> Vec<PathBuf> {
    let mut cases = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("because a folder of cases can be listed").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "case") {
                cases.push(path);
            }
        }
    }
    cases.sort();
    cases
}

/// Runs one case file on one road.
pub fn run_case(path: &Path, road: &Road, product: &dyn Product) -> Result<(), Failure> {
    let case = Case::read(path).map_err(|error| Failure(error.to_string()))?;
    catch_panic(|| (road.walk)(&case, product))
}

/// Rewrites the answers of a case file from the first road. Returns whether the file has changed.
pub fn update_case(path: &Path, product: &dyn Product) -> Result<bool, Failure> {
    let case = Case::read(path).map_err(|error| Failure(error.to_string()))?;
    let answers = catch_panic(|| first_answers(&case, product))?;
    if case.queries.iter().zip(&answers).all(|(question, answer)| question.expected.accepts(answer)) {
        return Ok(false);
    }
    let written = std::fs::write(path, case.with_answers(&answers));
    written.map_err(|error| Failure(format!("{}: {error}", path.display())))?;
    Ok(true)
}

/// Returns all failures as one text, with the next steps.
pub fn report(failures: &[(String, Failure)]) -> String {
    let mut text = String::new();
    for (name, failure) in failures {
        text += &format!("\n──── {name}\n{failure}\n");
    }
    let first = ROADS[0].name;
    let count = failures.len();
    text + &format!(
        "\n{count} failed. Lines with - were expected, lines with + are actual.\n\
         Run some: CASE=text ROAD=text. Accept the answers of the road '{first}': UPDATE=1.\n"
    )
}

/// Turns a panic, of git or of the fake product, into a failure of this case, so that the other cases still run.
fn catch_panic<T>(walk: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(walk)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure(format!("panicked: {}", text.unwrap_or_default())))
    })
}

/// Maps items on a few threads, and keeps the results in the order of the items. Most of the time is spent waiting for
/// processes.
fn parallel_map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while let Some((index, item)) = next_item(items, &next) {
                    if let Some(result) = work(item) {
                        results.lock().expect("because no thread panics while it holds the lock").push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().expect("because no thread panicked");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn next_item<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, items.get(index)?))
}

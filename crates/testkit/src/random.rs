//! Generated repositories: small Rust and Python files whose functions call each other, on branches that diverge,
//! merge, rename and delete.
//!
//! The same seed gives the same repository, including commit ids. Names deliberately come from a small set, because
//! equal names in different files and on different branches cause the most errors.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::Repository;

/// A small random number generator with the same output on every machine (xorshift64*).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator that depends only on the seed.
    pub fn new(seed: u64) -> Self {
        // Spreads small seeds over all bits; the state must not be 0.
        Self((seed.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("because a usize fits into 64 bits");
        usize::try_from((self.next_u64() >> 32) % end).expect("because the value is below a usize")
    }

    /// Returns one of the items, which must not be empty.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The size of a generated repository.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The number of files in the first commit.
    pub files: usize,
    /// The number of branches besides `main`.
    pub branches: usize,
    /// The number of commits on each branch.
    pub commits: usize,
    /// The number of edits in each commit.
    pub edits: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { files: 8, branches: 3, commits: 2, edits: 3 }
    }
}

/// A generated repository and the data for queries about it.
#[derive(Debug)]
pub struct RandomRepository {
    /// The repository, with `main` checked out and nothing uncommitted.
    pub repository: Repository,
    /// Its branches, `main` first, and its tag.
    pub refs: Vec<String>,
    /// The names of all functions on any ref, sorted. No ref has all of them.
    pub names: Vec<String>,
    /// The paths of all files on any ref, sorted.
    pub paths: Vec<String>,
    /// For each branch, the trees of its commits along the first parents.
    history: BTreeMap<String, Vec<Tree>>,
    head: String,
    work: Tree,
}

/// The placeholder for a branch in detached HEAD state.
const DETACHED: &str = "(no branch)";

type Tree = BTreeMap<String, Vec<Function>>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    name: String,
    /// The called functions, each with its file.
    calls: Vec<(String, String)>,
}

const VERBS: &[&str] = &["load", "store", "parse", "check", "merge", "send"];
const NOUNS: &[&str] = &["token", "user", "file", "index", "query"];
const FOLDERS: &[&str] = &["src", "src/net", "tools", "tools/jobs"];

/// Creates a repository that depends only on the seed and the size.
pub fn random_repository(seed: u64, size: Size) -> RandomRepository {
    let mut dice = Rng::new(seed);
    let mut sample = RandomRepository {
        repository: Repository::new(),
        refs: vec!["main".to_owned()],
        names: Vec::new(),
        paths: Vec::new(),
        history: BTreeMap::from([("main".to_owned(), Vec::new())]),
        head: "main".to_owned(),
        work: Tree::new(),
    };
    sample.change(|tree| (0..size.files.max(1)).for_each(|_| add_file(tree, &mut dice)));
    sample.commit();
    sample.repository.tag("v1");
    for number in 1..=size.branches {
        let bases: Vec<String> = sample.history.keys().cloned().collect();
        let base = dice.choose(&bases).clone();
        sample.checkout(&base);
        sample.branch(&format!("topic-{number}"));
        for _ in 0..size.commits.max(1) {
            (0..size.edits).for_each(|_| sample.change(|tree| edit(tree, &mut dice)));
            sample.commit();
        }
        if dice.below(2) == 0 {
            let other = dice.choose(&bases).clone();
            sample.merge(&other);
        }
    }
    sample.checkout("main");
    sample.refs.push("v1".to_owned());
    sample.refresh_names_and_paths();
    sample
}

impl RandomRepository {
    /// Makes one typical change: edits, adds, renames or deletes a file, commits, amends, checks out another branch or
    /// a detached HEAD, creates a branch, or drops changes or a commit. Returns a description.
    pub fn random_change(&mut self, dice: &mut Rng) -> String {
        let done = match dice.below(13) {
            0..=5 => {
                self.change(|tree| edit(tree, dice));
                "edit".to_owned()
            }
            6 => {
                self.commit();
                "commit".to_owned()
            }
            7 => {
                self.commit();
                let branches: Vec<String> = self.history.keys().filter(|name| *name != DETACHED).cloned().collect();
                let name = dice.choose(&branches).clone();
                self.checkout(&name);
                format!("checkout {name}")
            }
            8 => self.reset(0),
            9 => self.reset(1),
            // The next two keep uncommitted changes.
            10 => {
                self.repository.git(&["checkout", "--quiet", "--detach"]);
                self.history.insert(DETACHED.to_owned(), self.history[&self.head].clone());
                self.head = DETACHED.to_owned();
                "detach".to_owned()
            }
            11 => {
                let name = format!("later-{}", self.refs.len());
                self.branch(&name);
                format!("branch {name}")
            }
            _ => self.amend(),
        };
        self.refresh_names_and_paths();
        done
    }

    /// Moves a branch on top of `main`, as one commit with its files, those of `main` and one more edit, like a rebase
    /// with a force-push.
    pub fn rebase(&mut self, name: &str, dice: &mut Rng) {
        self.checkout(name);
        let ours = self.work.clone();
        self.repository.reset("main");
        self.history.insert(name.to_owned(), self.history["main"].clone());
        self.work = self.history["main"].last().expect("because every branch has a commit").clone();
        self.change(|tree| {
            tree.extend(ours);
            edit(tree, dice);
        });
        self.commit();
        self.checkout("main");
        self.refresh_names_and_paths();
    }

    fn change(&mut self, edit: impl FnOnce(&mut Tree)) {
        let before = self.work.clone();
        edit(&mut self.work);
        for path in before.keys().filter(|path| !self.work.contains_key(*path)) {
            self.repository.delete(path);
        }
        for (path, functions) in self.work.iter().filter(|(path, functions)| before.get(*path) != Some(functions)) {
            self.repository.write(path, render(path, functions));
        }
    }

    fn commit(&mut self) {
        let trees = self.history.get_mut(&self.head).expect("because the current branch is known");
        self.repository.commit(&format!("{} {}", self.head, trees.len()));
        trees.push(self.work.clone());
    }

    fn amend(&mut self) -> String {
        self.repository.git(&["add", "--all"]);
        self.repository.git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "amended"]);
        let trees = self.history.get_mut(&self.head).expect("because the current head is known");
        *trees.last_mut().expect("because every branch has a commit") = self.work.clone();
        "amend".to_owned()
    }

    fn branch(&mut self, name: &str) {
        self.repository.branch(name);
        self.history.insert(name.to_owned(), self.history[&self.head].clone());
        self.head = name.to_owned();
        self.refs.push(name.to_owned());
    }

    fn checkout(&mut self, name: &str) {
        self.repository.checkout(name);
        self.head = name.to_owned();
        self.work = self.history[name].last().expect("because every branch has a commit").clone();
    }

    /// A merge commit whose tree has the files of both sides, and our version of files that both have.
    fn merge(&mut self, other: &str) {
        self.repository.git(&["merge", "--quiet", "--no-ff", "--no-commit", "--strategy", "ours", other]);
        let theirs = self.history[other].last().expect("because every branch has a commit").clone();
        self.change(|tree| {
            for (path, functions) in theirs {
                tree.entry(path).or_insert(functions);
            }
        });
        self.commit();
    }

    /// Goes back by some commits, at most to the first.
    fn reset(&mut self, back: usize) -> String {
        let trees = self.history.get_mut(&self.head).expect("because the current branch is known");
        let back = back.min(trees.len() - 1);
        trees.truncate(trees.len() - back);
        self.work = trees.last().expect("because one commit always remains").clone();
        self.repository.git(&["add", "--all"]);
        self.repository.reset(&format!("HEAD~{back}"));
        format!("reset HEAD~{back}")
    }

    /// Updates names and paths from all trees.
    fn refresh_names_and_paths(&mut self) {
        let trees = self.history.values().flatten().chain([&self.work]);
        let files: BTreeSet<(&String, &Vec<Function>)> = trees.flatten().collect();
        let names = files.iter().flat_map(|(_, functions)| functions.iter().map(|function| function.name.clone()));
        let names: BTreeSet<String> = names.chain(std::mem::take(&mut self.names)).collect();
        let paths = files.iter().map(|(path, _)| (*path).clone());
        let paths: BTreeSet<String> = paths.chain(std::mem::take(&mut self.paths)).collect();
        (self.names, self.paths) = (names.into_iter().collect(), paths.into_iter().collect());
    }
}

fn edit(tree: &mut Tree, dice: &mut Rng) {
    let paths: Vec<String> = tree.keys().cloned().collect();
    if paths.is_empty() {
        return add_file(tree, dice);
    }
    let path = dice.choose(&paths).clone();
    match dice.below(8) {
        0 => add_file(tree, dice),
        1 if paths.len() > 2 => {
            tree.remove(&path);
        }
        2 => rename_file(tree, &path, dice),
        3 => {
            let function = new_function(tree, dice);
            let functions = tree.get_mut(&path).expect("because the path was picked from the tree");
            functions.insert(dice.below(functions.len() + 1), function);
        }
        4 => {
            let functions = tree.get_mut(&path).expect("because the path was picked from the tree");
            let len = functions.len();
            if len > 0 {
                functions.remove(dice.below(len));
            }
        }
        _ => {
            let function = new_function(tree, dice);
            let functions = tree.get_mut(&path).expect("because the path was picked from the tree");
            let len = functions.len().max(1);
            functions.resize(len, function.clone());
            functions[dice.below(len)] = function;
        }
    }
}

fn add_file(tree: &mut Tree, dice: &mut Rng) {
    let path = new_path(dice);
    let functions = (0..=dice.below(4)).map(|_| new_function(tree, dice)).collect();
    tree.entry(path).or_insert(functions);
}

fn rename_file(tree: &mut Tree, path: &str, dice: &mut Rng) {
    let to = new_path(dice);
    let ending = |path: &str| path.rsplit('.').next().map(str::to_owned);
    if !tree.contains_key(&to) && ending(&to) == ending(path) {
        let functions = tree.remove(path).expect("because the path was picked from the tree");
        tree.insert(to, functions);
    }
}

fn new_path(dice: &mut Rng) -> String {
    let folder = *dice.choose(FOLDERS);
    let ending = if folder.starts_with("src") { "rs" } else { "py" };
    format!("{folder}/{}_{}.{ending}", dice.choose(NOUNS), dice.below(4))
}

fn new_function(tree: &Tree, dice: &mut Rng) -> Function {
    let name = format!("{}_{}", dice.choose(VERBS), dice.choose(NOUNS));
    let known: Vec<(&String, &Function)> =
        tree.iter().flat_map(|(path, functions)| functions.iter().map(move |function| (path, function))).collect();
    let count = if known.is_empty() { 0 } else { dice.below(3) };
    let mut call = |_| {
        let (path, function) = *dice.choose(&known);
        (function.name.clone(), path.clone())
    };
    Function { name, calls: (0..count).map(&mut call).collect() }
}

fn render(path: &str, functions: &[Function]) -> String {
    let rust = path.ends_with(".rs");
    let calls = functions.iter().flat_map(|function| &function.calls);
    let imports: BTreeSet<String> = calls.filter_map(|(name, from)| import(path, name, from)).collect();
    let mut text: String = imports.into_iter().map(|line| line + "\n").collect();
    for function in functions {
        let name = &function.name;
        text += &if rust { format!("\npub fn {name}() {{\n") } else { format!("\n\ndef {name}():\n") };
        for (called, _) in &function.calls {
            text += &if rust { format!("    {called}();\n") } else { format!("    {called}()\n") };
        }
        text += if rust { "}\n" } else { "    return None\n" };
    }
    text
}

/// The line that imports a function of another file in the same language.
fn import(path: &str, name: &str, from: &str) -> Option<String> {
    if path == from {
        return None;
    }
    match (path.ends_with(".rs"), from.strip_suffix(".rs"), from.strip_suffix(".py")) {
        (true, Some(module), _) => {
            Some(format!("use crate::{}::{name};", module.trim_start_matches("src/").replace('/', "::")))
        }
        (false, _, Some(module)) => Some(format!("from {} import {name}", module.replace('/', "."))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Rng, Size, random_repository};

    #[test]
    fn same_seed_gives_same_commits() {
        let (a, b) = (random_repository(7, Size::default()), random_repository(7, Size::default()));
        assert_eq!(a.repository.refs(), b.repository.refs());
        assert_ne!(a.repository.refs(), random_repository(8, Size::default()).repository.refs());
    }

    #[test]
    fn seeds_produce_renames_deletes_and_merges() {
        let (mut renames, mut deletes, mut merges) = (0, 0, 0);
        for seed in 0..6 {
            let sample = random_repository(seed, Size::default());
            assert_eq!(sample.refs.len(), 5, "main, three branches and a tag");
            assert_eq!(sample.repository.git(&["status", "--porcelain"]), "", "nothing is uncommitted");
            let log = sample.repository.git(&["log", "--all", "--find-renames", "--name-status", "--format="]);
            renames += log.lines().filter(|line| line.starts_with('R')).count();
            deletes += log.lines().filter(|line| line.starts_with('D')).count();
            merges += sample.repository.git(&["rev-list", "--merges", "--all"]).lines().count();
        }
        assert!(renames > 0 && deletes > 0 && merges > 0, "{renames} renames, {deletes} deletes, {merges} merges");
    }

    #[test]
    fn sample_matches_work_tree() {
        let mut sample = random_repository(3, Size::default());
        let mut dice = Rng::new(3);
        for _ in 0..30 {
            let done = sample.random_change(&mut dice);
            let listed = sample.repository.git(&["ls-files", "--cached", "--others", "--exclude-standard"]);
            let exists = |path: &&str| sample.repository.path(path).is_file();
            let mut listed: Vec<&str> = listed.lines().filter(exists).collect();
            listed.sort_unstable();
            listed.dedup();
            assert_eq!(listed, sample.work.keys().collect::<Vec<_>>(), "after {done}");
            for path in listed {
                assert_eq!(sample.repository.read(path), super::render(path, &sample.work[path]), "after {done}");
            }
        }
    }
}

//! Compares files that differ and merge bases with what git says, for pairs of commits: `changes REPOSITORY < PAIRS`.
//!
//! A line of the input is `BASE HEAD`, both full commit ids; a line of the output is what `git diff --name-status -M`
//! would print, with the merge base first.

use std::io::{BufRead, Write};
use std::path::Path;

use codecompass_index::source::{ChangeType, Workspace, with_renames};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which repository?")?;
    let workspace = Workspace::discover(Path::new(&path), None)?;
    let repo = workspace.repo.ok_or("no repository")?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (base, head) = line.split_once(' ').ok_or("BASE HEAD")?;
        writeln!(out, "# {line} {}", repo.merge_base(base, head)?.as_deref().unwrap_or("none"))?;
        let changes = with_renames(repo.tree_changes(base, head)?, &mut repo.reader());
        for change in changes {
            match change.change_type() {
                ChangeType::Added => writeln!(out, "A\t{}", change.path)?,
                ChangeType::Modified => writeln!(out, "M\t{}", change.path)?,
                ChangeType::Deleted => writeln!(out, "D\t{}", change.path)?,
                ChangeType::Renamed => writeln!(out, "R\t{}\t{}", change.path_before(), change.path)?,
            }
        }
    }
    Ok(())
}

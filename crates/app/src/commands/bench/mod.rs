//! `codecompass bench`: the cost of this program compared with the minimum work of any tool.
//!
//! Everything runs in one process, one step after another, on the same files, so that the ratios hold on any machine.
//! Absolute times are printed for reference.

mod index;
mod query;

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_store::private;
use codecompass_wire::commands::bench as wire;
use serde::Serialize;

use crate::cli::{BenchArgs, BenchCommand, Common};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, print_stderr};
use codecompass_workspace::session::data_folder;

pub(crate) fn run(common: &Common, args: &BenchArgs) -> Result<Answer, AppError> {
    match &args.what {
        BenchCommand::Index { paths, threads } => {
            let threads = if *threads == 0 { cores() } else { *threads };
            each(paths, false, |data, path| index::measure(data, common, path, threads))
        }
        BenchCommand::Query { paths, queries, indexed } => {
            each(paths, *indexed, |data, path| query::measure(data, common, path, *queries))
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Measures one repository after the other, each in a temporary data folder that is removed afterwards, or in the
/// existing data folder.
fn each<T: Serialize>(
    paths: &[PathBuf],
    in_place: bool,
    measure: impl Fn(&Path, &Path) -> Result<(String, T), AppError>,
) -> Result<Answer, AppError> {
    let mut text = String::new();
    let mut reports = Vec::new();
    for path in paths {
        print_stderr(&format!("measuring {}", escape_control(&path.display().to_string())));
        let data = if in_place { data_folder()? } else { scratch_folder()? };
        let outcome = measure(&data, path);
        if !in_place {
            // Best effort: leftovers are in the data folder, under a name that says what they are.
            let _ = fs::remove_dir_all(&data);
        }
        let (lines, report) = outcome?;
        text += &lines;
        reports.push(report);
    }
    let answer = wire::Answer { cores: cores(), repositories: reports, metadata: Metadata::unknown() };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

fn scratch_folder() -> Result<PathBuf, AppError> {
    let folder = data_folder()?.join(format!("bench-{}", std::process::id()));
    private::create_folder(&folder)
        .map_err(|error| AppError::new(Code::InternalError, format!("{}: {error}.", folder.display())))?;
    Ok(folder)
}

//! The options of `state`, `prune-overlays` and `forget`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    pub(crate) what: StateCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum StateCommand {
    /// Export everything indexed of branches, tags and commits to a .tar.zst file; uncommitted edits are not included
    Export(StateExportArgs),
    /// Import an exported index, replacing the current one; the next sync extracts only what differs
    Import(StateImportArgs),
}

#[derive(Args, Debug)]
pub(crate) struct StateExportArgs {
    /// The file to write, usually NAME.tar.zst
    pub(crate) path: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StateImportArgs {
    /// A file written by `state export`
    pub(crate) path: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct PruneArgs {
    /// Remove views that were not used for this number of days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) older_than: u32,
    /// Only list what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    /// The path of a workspace, or the id of a project, as listed by `projects`
    pub(crate) path: PathBuf,
}

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
    /// Write all that is indexed of branches, tags and commits to a .tar.zst; uncommitted edits stay here
    Export(StateExportArgs),
    /// Take in an exported index, in place of the one that is there; the next sync extracts only what differs
    Import(StateImportArgs),
}

#[derive(Args, Debug)]
pub(crate) struct StateExportArgs {
    /// The file to write, by custom NAME.tar.zst
    pub(crate) path: PathBuf,
    /// Replace a file that is there already
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StateImportArgs {
    /// The file that `state export` wrote
    pub(crate) path: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct PruneArgs {
    /// Remove what nobody asked for in so many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) older_than: u32,
    /// Only list what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    /// The path of a workspace, or the id of a project, as `projects` shows them
    pub(crate) path: PathBuf,
}

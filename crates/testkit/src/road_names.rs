//! The names of the roads, as the `roads:` line of a case has them.

/// The names, in the order of [`ROADS`](crate::ROADS).
pub(crate) const ROAD_NAMES: &[&str] =
    &["all at once", "file by file", "synced twice", "branch beside main", "branch flattened", "killed"];

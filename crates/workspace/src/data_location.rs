//! The location of the data folder.

use std::path::PathBuf;

/// The variable that names the folder.
pub const VARIABLE: &str = "CODECOMPASS_HOME";

/// The folder of all data: `$CODECOMPASS_HOME`, or the platform's data folder; `None` if neither is known.
pub fn find() -> std::io::Result<Option<PathBuf>> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable(VARIABLE) {
        return std::path::absolute(&folder).map(Some);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let platform = if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        variable("XDG_DATA_HOME").filter(|dir| dir.is_absolute()).or(home.map(|home| home.join(".local/share")))
    };
    Ok(platform.map(|folder| folder.join("codecompass")))
}

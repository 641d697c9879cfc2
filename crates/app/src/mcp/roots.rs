//! Which workspace the client of a pipe works in: the first of its roots, where it has any.
//!
//! Some clients start their servers in `/` or in the home folder. Those that speak a revision with roots are asked for them
//! once, before anything is opened or answered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;

use crate::server::Server;

/// So long a client may take to name its roots; then the folder that we were started in has to do.
const PATIENCE: Duration = Duration::from_secs(2);

/// Finds out where the client works, and begins there.
pub(super) async fn settle(server: &Arc<Server>, peer: &Peer<RoleServer>) {
    if let Some(folder) = first_root(server, peer).await {
        server.place(folder);
    }
    server.begin();
}

#[expect(deprecated, reason = "the revisions that clients speak today have roots")]
async fn first_root(server: &Arc<Server>, peer: &Peer<RoleServer>) -> Option<PathBuf> {
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let asked = tokio::time::timeout(PATIENCE, peer.list_roots()).await;
    match asked {
        Ok(Ok(answer)) => answer.roots.iter().filter_map(|root| folder(&root.uri)).find(|folder| folder.is_dir()),
        Ok(Err(error)) => {
            server.log(1, || format!("the client's roots are not known: {error}"));
            None
        }
        Err(_) => {
            server.log(1, || "the client did not name its roots in time".into());
            None
        }
    }
}

/// The folder that a `file:` URI names on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let bytes = decoded(path)?;
    let path = String::from_utf8(bytes).ok()?;
    // A drive stands behind a slash: file:///C:/x.
    let path = if cfg!(windows) { path.trim_start_matches('/').to_owned() } else { path };
    Some(PathBuf::from(path)).filter(|path| path.is_absolute())
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_this_machine_are_roots() {
        assert_eq!(folder("file:///a%20b/%C3%BC"), Some("/a b/ü".into()));
        assert_eq!(folder("file://localhost/a"), Some("/a".into()));
        for other in ["https://example.org/a", "file://host/a", "/a", "file:///a%2", "file:///a%zz", ""] {
            assert_eq!(folder(other), None, "{other}");
        }
    }
}

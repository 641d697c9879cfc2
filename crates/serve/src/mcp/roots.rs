//! The working folder of a client: MCP roots.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;

/// The time limit for the client's answer.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(1);

/// The first folder among the client's roots; `None` if it has none or does not answer.
#[expect(deprecated, reason = "the newest revision drops roots; clients of the others have them")]
pub(super) async fn first_root(peer: &Peer<RoleServer>) -> Option<PathBuf> {
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let told = tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await.ok()?.ok()?;
    let folders: Vec<PathBuf> = told.roots.iter().filter_map(|root| uri_to_path(&root.uri)).collect();
    // A file system that does not respond blocks a separate thread, not one that serves others.
    let found = tokio::task::spawn_blocking(|| folders.into_iter().find(|folder| folder.is_dir()));
    tokio::time::timeout(ROOTS_TIMEOUT, found).await.ok()?.ok()?
}

/// The path of a `file:` URI.
fn uri_to_path(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                bytes.push((digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8);
            }
            byte => bytes.push(byte),
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    let path = PathBuf::from(if cfg!(windows) { strip_drive_slash(&path) } else { &path });
    path.is_absolute().then_some(path)
}

/// The path of a drive, which a URI writes with a slash before it: `/c:/work`.
fn strip_drive_slash(path: &str) -> &str {
    match path.as_bytes() {
        [b'/', letter, b':', ..] if letter.is_ascii_alphabetic() => &path[1..],
        _ => path,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn root_is_the_path_of_its_uri() {
        for (uri, expected) in [
            ("file:///home/a/b", Some("/home/a/b")),
            ("file://localhost/home/a", Some("/home/a")),
            ("file:///with%20space/%C3%A9", Some("/with space/é")),
            ("file:///bad%2", None),
            ("file://elsewhere", None),
            ("https://example.org/a", None),
        ] {
            assert_eq!(uri_to_path(uri), expected.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn drive_slash_is_stripped() {
        for (path, expected) in [("/c:/work", "c:/work"), ("/C:", "C:"), ("//host/share", "//host/share"), ("/c", "/c")]
        {
            assert_eq!(strip_drive_slash(path), expected);
        }
    }
}

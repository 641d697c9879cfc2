//! Skip reasons that depend on the content of a file.

use codecompass_model::SkipReason;

/// Like git, look for a NUL in the first bytes only.
const BINARY_WINDOW: usize = 8000;
/// Shorter files are never considered minified.
const MIN_MINIFIED_BYTES: usize = 4096;
/// Longer lines do not occur in hand-written code.
const MAX_CODE_LINE: usize = 1000;
/// A pointer file is small; a text about pointer files may not be.
const LFS_POINTER_MAX: usize = 1024;
/// File types in which a paragraph is often one line.
const PROSE_EXTENSIONS: &[&str] = &["md", "markdown", "mdx", "rst", "txt", "adoc", "org", "tex"];

/// Returns the reason to skip a file with these bytes, if there is one.
///
/// `Binary` has a NUL in its first 8000 bytes, as in git: UTF-16 is binary, Latin-1 is not. `LfsPointer` represents
/// bytes stored elsewhere. `Minified` has 4 KiB or more, with more than half of it in lines longer than 1000 bytes;
/// prose, by its extension, is never minified.
pub fn content_skip_reason(path: &str, bytes: &[u8]) -> Option<SkipReason> {
    if bytes.iter().take(BINARY_WINDOW).any(|&byte| byte == 0) {
        Some(SkipReason::Binary)
    } else if is_lfs_pointer(bytes) {
        Some(SkipReason::LfsPointer)
    } else if is_minified(bytes) && !is_prose(path) {
        Some(SkipReason::Minified)
    } else {
        None
    }
}

fn is_lfs_pointer(bytes: &[u8]) -> bool {
    const VERSIONS: [&[u8]; 2] =
        [b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/"];
    bytes.len() <= LFS_POINTER_MAX
        && VERSIONS.iter().any(|version| bytes.starts_with(version))
        && bytes.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"oid "))
}

fn is_minified(bytes: &[u8]) -> bool {
    if bytes.len() < MIN_MINIFIED_BYTES {
        return false;
    }
    let in_long_lines: usize =
        bytes.split(|&byte| byte == b'\n').map(<[u8]>::len).filter(|&length| length > MAX_CODE_LINE).sum();
    in_long_lines > bytes.len() / 2
}

fn is_prose(path: &str) -> bool {
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    extension.is_some_and(|extension| PROSE_EXTENSIONS.iter().any(|prose| extension.eq_ignore_ascii_case(prose)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_reason_checks_nul_lfs_pointer_and_line_length() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n";
        let long = |n: usize| "x".repeat(n);
        let short_lines = "some code\n".repeat(400);
        let mut late_nul = "a\n".repeat(4000).into_bytes();
        late_nul.push(0);
        let cases: Vec<(&str, Vec<u8>, Option<SkipReason>)> = vec![
            ("a.rs", b"".to_vec(), None),
            ("a.rs", b"fn main() {}\n".to_vec(), None),
            ("a.rs", b"a\0b".to_vec(), Some(SkipReason::Binary)),
            ("a.rs", late_nul, None),
            ("a.py", b"caf\xe9 = 1\n".to_vec(), None),
            ("a.bin", pointer.into(), Some(SkipReason::LfsPointer)),
            ("a.md", format!("{pointer}{}", "text about it\n".repeat(100)).into(), None),
            ("a.js", long(4096).into(), Some(SkipReason::Minified)),
            ("a.js", long(4095).into(), None),
            ("a.md", long(9000).into(), None),
            ("README.MD", long(9000).into(), None),
            ("a.js", format!("{short_lines}{}", long(3000)).into(), None),
            ("a.js", format!("{short_lines}{}", long(5000)).into(), Some(SkipReason::Minified)),
            ("a.js", format!("{}\n", long(1000)).repeat(9).into(), None),
            ("a.js", format!("{}\n", long(1001)).repeat(9).into(), Some(SkipReason::Minified)),
        ];
        for (path, bytes, expected) in cases {
            assert_eq!(content_skip_reason(path, &bytes), expected, "{path} of {} bytes", bytes.len());
        }
    }
}

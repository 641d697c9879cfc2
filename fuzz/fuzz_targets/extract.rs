//! Fuzzes extraction with random files: for all bytes it terminates, and the facts are valid.
//!
//! If the first line is a known extension, it selects the file type of the rest; otherwise the first byte selects it.
#![no_main]

use codecompass_lang::{LANGUAGES, extract};
use codecompass_testkit::check_facts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((extension, bytes)) = split(data) else { return };
    let path = format!("src/a.{extension}");
    let extracted = extract(&path, bytes.to_vec());
    check_facts(&path, &extracted.text, &extracted.facts);
});

/// Returns the extension and the bytes of the file.
fn split(data: &[u8]) -> Option<(&'static str, &[u8])> {
    let known = || LANGUAGES.iter().flat_map(|language| language.extensions).copied().chain(["md"]);
    let line = data.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    if let Some(extension) = known().find(|extension| extension.as_bytes() == &data[..line]) {
        return Some((extension, &data[line + 1..]));
    }
    let (&choice, bytes) = data.split_first()?;
    known().nth(choice as usize % known().count()).map(|extension| (extension, bytes))
}

//! The bearer token: given by a variable, or generated once and kept in a file that only its owner can read.

use std::path::{Path, PathBuf};

use codecompass_store::private;

use codecompass_workspace::config::TOKEN_VARIABLE;
use codecompass_workspace::error::{AppError, Code};

const FILE: &str = "http-token";

/// A token, and its file unless a variable set it.
#[derive(Debug)]
pub(crate) struct Token {
    secret: String,
    pub(crate) file: Option<PathBuf>,
}

impl Token {
    /// The effective token: the given one, the one in the file, or a new one.
    pub(crate) fn load(data: &Path, given: Option<String>) -> Result<Self, AppError> {
        let wrong = |what: &str| AppError::new(Code::InvalidInput, format!("{TOKEN_VARIABLE}: {what}."));
        if let Some(secret) = given {
            let secret = secret.trim().to_owned();
            return match secret.len() >= 16 && secret.bytes().all(|byte| byte.is_ascii_graphic()) {
                true => Ok(Self { secret, file: None }),
                false => Err(wrong("a token has at least 16 printable characters")),
            };
        }
        let file = data.join(FILE);
        let secret = match std::fs::read_to_string(&file) {
            Ok(secret) if !secret.trim().is_empty() => secret.trim().to_owned(),
            _ => make(&file)?,
        };
        restrict(&file)?;
        Ok(Self { secret, file: Some(file) })
    }

    /// Whether an `Authorization` header has the token. Takes constant time, right or wrong.
    pub(crate) fn matches_header(&self, header: Option<&str>) -> bool {
        let given = header.and_then(|header| {
            let (scheme, token) = header.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        constant_time_eq(&self.secret, given.unwrap_or_default())
    }
}

/// Compares secrets. Takes constant time, right or wrong.
pub fn constant_time_eq(secret: &str, given: &str) -> bool {
    let (secret, given) = (secret.as_bytes(), given.as_bytes());
    let differences =
        secret.iter().enumerate().fold(0, |sum, (at, byte)| sum | (byte ^ given.get(at).copied().unwrap_or_default()));
    differences == 0 && given.len() == secret.len()
}

/// A random token that cannot be guessed.
pub fn random() -> Result<String, AppError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| AppError::new(Code::InternalError, format!("Cannot create a token: {error}.")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn make(file: &Path) -> Result<String, AppError> {
    let failed = |what: String| AppError::new(Code::InternalError, format!("Cannot create a token: {what}."));
    let secret = random()?;
    if let Some(folder) = file.parent() {
        private::create_folder(folder).map_err(|error| failed(error.to_string()))?;
    }
    private::write(file, secret.as_bytes()).map_err(|error| failed(format!("{}: {error}", file.display())))?;
    Ok(secret)
}

/// Removes the access of other users to a file.
fn restrict(file: &Path) -> Result<(), AppError> {
    private::restrict(file).map_err(|error| AppError::new(Code::InternalError, format!("{}: {error}.", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_full_token_matches() {
        let token = Token::load(Path::new("/nonexistent"), Some("0123456789abcdef".into())).expect("long enough");
        assert!(token.matches_header(Some("Bearer 0123456789abcdef")));
        assert!(token.matches_header(Some("bearer 0123456789abcdef")));
        for wrong in
            ["Bearer 0123456789abcdeX", "Bearer 0123456789abcde", "Bearer 0123456789abcdeff", "0123456789abcdef", ""]
        {
            assert!(!token.matches_header(Some(wrong)), "{wrong}");
        }
        assert!(!token.matches_header(None));
    }

    #[test]
    fn created_token_is_kept_private() {
        let data = tempfile::tempdir().expect("a temp folder");
        let first = Token::load(data.path(), None).expect("it can be made");
        let again = Token::load(data.path(), None).expect("it can be read");
        assert_eq!(first.secret, again.secret);
        assert_eq!(first.secret.len(), 64);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(data.path().join(FILE)).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(Token::load(data.path(), Some("short".into())).is_err());
    }
}

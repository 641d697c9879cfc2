//! Who may look: whoever opened an address with a token that was good for once.
//!
//! The token is exchanged for a cookie that no script can read and that no other site's page makes the browser send. The answer to
//! it is a page that goes on by itself, and no redirect: a link in a chat or a terminal is followed from another site, and a
//! browser sends a strict cookie only with what our own page asks for.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, header};

use crate::error::AppError;
use crate::mcp::token::{constant_time_eq, random};
use crate::output::print_stderr;

/// So many browsers may be logged in; the one that came first goes.
const MAX_BROWSERS: usize = 32;

/// What a browser says of who made it ask.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a browser says that a page of another site, or of another port, made it ask. Programs that are no browsers do
/// not send the header.
pub(super) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get_all(FETCH_SITE).iter().any(|site| site != "same-origin" && site != "none")
}

/// See the module.
pub(crate) struct LoginGate {
    /// Where the pages are: `http://127.0.0.1:9200`.
    base: String,
    /// The name of the cookie. Cookies know no ports, so that two servers on one machine need two names.
    cookie: String,
    keys: Mutex<LoginKeys>,
}

#[derive(Default)]
struct LoginKeys {
    /// The token that nobody has used yet.
    token: Option<String>,
    /// What browsers carry that are logged in.
    cookies: Vec<String>,
}

impl LoginGate {
    /// A gate that nobody has passed.
    pub(crate) fn new(base: String, port: u16) -> Self {
        Self { base, cookie: format!("codecompass_{port}"), keys: Mutex::default() }
    }

    /// An address that opens once. The one before it that nobody used does not open any more.
    pub(crate) fn new_address(&self) -> Result<String, AppError> {
        let token = random()?;
        let address = format!("{}/?token={token}", self.base);
        self.lock().token = Some(token);
        Ok(address)
    }

    /// Takes the token; the header that sets the cookie if it was the right one.
    pub(super) fn exchange(&self, token: &str) -> Option<String> {
        let mut keys = self.lock();
        if !keys.token.as_ref().is_some_and(|known| constant_time_eq(known, token)) {
            return None;
        }
        let secret = random().ok()?;
        keys.token = None;
        if keys.cookies.len() >= MAX_BROWSERS {
            keys.cookies.remove(0);
        }
        keys.cookies.push(secret.clone());
        Some(format!("{}={secret}; Path=/; HttpOnly; SameSite=Strict", self.cookie))
    }

    /// Whether a request carries a cookie of ours.
    pub(super) fn is_logged_in(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let keys = self.lock();
        pairs
            .any(|(name, value)| name == self.cookie && keys.cookies.iter().any(|known| constant_time_eq(known, value)))
    }

    /// Somebody came without a key: a new address is told where only the owner reads it, unless one is still good.
    pub(super) fn print_new_address(&self) {
        if self.lock().token.is_none()
            && let Ok(address) = self.new_address()
        {
            print_stderr(&format!("the explorer, for one more browser: {address}"));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LoginKeys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_works_once_and_cookie_persists() {
        let gate = LoginGate::new("http://127.0.0.1:9".into(), 9);
        let address = gate.new_address().expect("random numbers");
        let token = address.split_once("token=").expect("a token").1.to_owned();
        assert!(gate.exchange("").is_none() && gate.exchange(&token[1..]).is_none());
        let set = gate.exchange(&token).expect("the right one");
        assert!(gate.exchange(&token).is_none(), "only once");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"));
        let knows = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.append(header::COOKIE, value.parse().expect("a header"));
            gate.is_logged_in(&headers)
        };
        let cookie = set.split(';').next().expect("a pair");
        assert!(knows(cookie) && knows(&format!("a=b; {cookie}")));
        assert!(!knows("codecompass_9=") && !knows(&format!("{cookie}0")) && !knows(&cookie.replace("_9", "_8")));
    }

    #[test]
    fn new_address_replaces_the_old() {
        let gate = LoginGate::new(String::new(), 1);
        let token = |address: String| address.split_once("token=").expect("a token").1.to_owned();
        let first = token(gate.new_address().expect("random numbers"));
        let second = token(gate.new_address().expect("random numbers"));
        assert!(gate.exchange(&first).is_none());
        assert!(gate.exchange(&second).is_some());
    }
}

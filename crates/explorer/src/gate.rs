//! Access to the explorer: a browser that opened an address with a one-time token.
//!
//! The token is exchanged for a cookie that scripts cannot read and that pages of other sites cannot make the browser
//! send. The answer is a page that continues by itself, not a redirect: a link in a chat or a terminal counts as
//! followed from another site, and a browser sends a strict cookie only with requests of our own page.

use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, HeaderName, header};

use codecompass_serve::http_guard::token::{constant_time_eq, random};
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::print_stderr;

/// The maximum number of logged-in browsers; the first one is dropped.
const MAX_BROWSERS: usize = 32;

/// The header in which a browser names the origin of a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a browser reports that a page of another site or port caused the request. Other programs do not send the
/// header.
pub(super) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get_all(FETCH_SITE).iter().any(|site| site != "same-origin" && site != "none")
}

/// The tokens and cookies of the explorer.
pub(crate) struct LoginGate {
    /// The base address of the pages: `http://127.0.0.1:9200`.
    base: String,
    /// The name of the cookie. Cookies ignore ports, so two servers on one machine need two names.
    cookie: String,
    keys: Mutex<LoginKeys>,
}

#[derive(Default)]
struct LoginKeys {
    /// The unused token.
    token: Option<String>,
    /// The cookies of the logged-in browsers.
    cookies: Vec<String>,
}

impl LoginGate {
    /// Creates a gate without tokens and cookies.
    pub(crate) fn new(base: String, port: u16) -> Self {
        Self { base, cookie: format!("codecompass_{port}"), keys: Mutex::default() }
    }

    /// A new address that can be opened once. An earlier unused address becomes invalid.
    pub(crate) fn new_address(&self) -> Result<String, AppError> {
        let token = random()?;
        let address = format!("{}/?token={token}", self.base);
        self.lock().token = Some(token);
        Ok(address)
    }

    /// Consumes the token; returns the header that sets the cookie if the token is right.
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

    /// Whether a request has a valid cookie.
    pub(super) fn is_logged_in(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let keys = self.lock();
        pairs
            .any(|(name, value)| name == self.cookie && keys.cookies.iter().any(|known| constant_time_eq(known, value)))
    }

    /// Prints a new address on standard error after a request without a cookie, unless an unused one exists.
    pub(super) fn print_new_address(&self) {
        if self.lock().token.is_none()
            && let Ok(address) = self.new_address()
        {
            print_stderr(&format!("the explorer is also at {address} (for one more browser)"));
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

//! Checks the headers of an HTTP request: its target host, its origin, and the accepted media types.

use std::net::SocketAddr;

use axum::http::header::{ACCEPT, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};

use codecompass_workspace::error::{AppError, Code};

/// Why a request is refused.
pub type Refusal = (StatusCode, &'static str);

/// The host names of a server.
#[derive(Clone, Debug)]
pub(crate) struct HostCheck {
    /// The names of the address it listens on, without brackets: a page on them is loaded by http.
    own: Vec<String>,
    /// The names of a proxy in front of it.
    allowed: Vec<String>,
    port: u16,
}

impl HostCheck {
    pub(crate) fn new(address: SocketAddr, given: &[String]) -> Self {
        let mut own: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            own.push(address.ip().to_string());
        }
        Self { own, allowed: given.to_vec(), port: address.port() }
    }

    /// All names, in the SDK's format for hosts.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = String> {
        self.own.iter().chain(&self.allowed).map(|name| in_brackets(name))
    }

    /// The pages that may send requests, in the SDK's format for origins.
    pub(crate) fn origins(&self) -> impl Iterator<Item = String> {
        let own = self.own.iter().map(|name| format!("http://{}:{}", in_brackets(name), self.port));
        let given = self.allowed.iter().map(|name| in_brackets(name));
        own.chain(given.flat_map(|name| [format!("http://{name}:*"), format!("https://{name}:*")]))
    }

    /// Checks that a request is for this server and does not come from a foreign page.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        const NO_HOST: Refusal = (StatusCode::BAD_REQUEST, "Bad Request: missing or invalid Host");
        const UNKNOWN_HOST: Refusal = (StatusCode::FORBIDDEN, "Forbidden: unknown Host or Origin");
        // A proxy between the client and this server may have checked the other one.
        let host = single_header(headers, HOST, "Bad Request: more than one Host")?.ok_or(NO_HOST)?;
        let origin = single_header(headers, ORIGIN, "Bad Request: more than one Origin")?;
        let host = host.parse::<Authority>().ok().filter(is_host_and_port).ok_or(NO_HOST)?;
        if uri.authority().is_some_and(|named| !same_authority(named, &host)) {
            return Err((StatusCode::BAD_REQUEST, "Bad Request: the URI and Host disagree"));
        }
        let is_known = self.is_own(&host) || self.is_allowed_host(&host);
        let may_ask = origin.is_none_or(|origin| self.is_allowed_origin(origin));
        if is_known && may_ask { Ok(()) } else { Err(UNKNOWN_HOST) }
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        let of = |scheme: &str| origin.strip_prefix(scheme).and_then(|rest| rest.parse::<Authority>().ok());
        let plain = of("http://").filter(is_host_and_port);
        let secure = of("https://").filter(is_host_and_port);
        plain.as_ref().is_some_and(|page| self.is_own(page))
            || plain.or(secure).is_some_and(|page| self.is_allowed_host(&page))
    }

    fn is_own(&self, authority: &Authority) -> bool {
        self.own.contains(&host_name(authority))
    }

    fn is_allowed_host(&self, authority: &Authority) -> bool {
        self.allowed.contains(&host_name(authority))
    }
}

/// Parses a name for `--allowed-host`.
pub fn parse_allowed_host(text: &str) -> Result<String, AppError> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let is_address = bare.parse::<std::net::Ipv6Addr>().is_ok();
    let is_word = |name: &Authority| is_host_and_port(name) && name.port().is_none() && !bare.contains(['*', ':']);
    let is_name = is_address || bare.parse::<Authority>().is_ok_and(|name| is_word(&name));
    if is_name {
        return Ok(bare.to_ascii_lowercase());
    }
    Err(AppError::new(Code::InvalidInput, format!("--allowed-host {text:?} is not a host name."))
        .hint("Give the name alone, without scheme, port or path: --allowed-host code.example.org"))
}

/// Whether a client accepts each of these media types, given as `type/subtype`. A request without `Accept` accepts all.
pub fn accepts(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let ranges: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .collect();
    !headers.contains_key(ACCEPT)
        || kinds.iter().all(|kind| ranges.iter().any(|range| media_range_matches(range, kind)))
}

/// Whether a range such as `text/*;q=0.5` includes a media type.
fn media_range_matches(range: &str, kind: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let named = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_refused = parts
        .filter_map(|part| part.split_once('='))
        .any(|(name, value)| name.eq_ignore_ascii_case("q") && value.parse::<f32>().is_ok_and(|weight| weight == 0.0));
    let family = kind.split('/').next().unwrap_or_default();
    !is_refused && (named == "*/*" || named == kind || named.strip_suffix("/*") == Some(family))
}

/// The value of a header that may occur once.
fn single_header<'h>(
    headers: &'h HeaderMap,
    name: HeaderName,
    twice: &'static str,
) -> Result<Option<&'h str>, Refusal> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (_, Some(_)) => Err((StatusCode::BAD_REQUEST, twice)),
        (first, None) => Ok(first.map(|value| value.to_str().unwrap_or_default())),
    }
}

/// Whether it is a name with an optional port, and nothing else.
fn is_host_and_port(authority: &Authority) -> bool {
    let text = authority.as_str();
    let port = text.strip_prefix(authority.host()).map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    port.is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok()) && !authority.host().is_empty()
}

fn same_authority(one: &Authority, other: &Authority) -> bool {
    let port = |authority: &Authority| authority.port_u16().unwrap_or(80);
    is_host_and_port(one) && host_name(one) == host_name(other) && port(one) == port(other)
}

/// The name in an authority: lower case, without brackets.
fn host_name(authority: &Authority) -> String {
    authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

fn in_brackets(name: &str) -> String {
    if name.contains(':') { format!("[{name}]") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, headers: &[(&str, &str)]) -> u16 {
        let address = "127.0.0.1:9100".parse().expect("an address");
        let names = HostCheck::new(address, &[parse_allowed_host("Code.example.org").expect("a name")]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a header");
            map.append(name, value.parse().expect("a value"));
        }
        names.check(&uri.parse().expect("a uri"), &map).map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn hosts_and_origins_are_checked() {
        type Case = (u16, &'static [(&'static str, &'static str)]);
        let table: &[Case] = &[
            (200, &[("host", "localhost:9100")]),
            (200, &[("host", "LOCALHOST")]),
            (200, &[("host", "[::1]:9100")]),
            (200, &[("host", "127.0.0.1:9100"), ("origin", "http://127.0.0.1:9100")]),
            (200, &[("host", "code.example.org"), ("origin", "https://code.example.org")]),
            (200, &[("host", "code.example.org:8443"), ("origin", "http://CODE.example.org:1")]),
            (403, &[("host", "evil.example")]),
            (403, &[("host", "code.example.org.evil.example")]),
            (403, &[("host", "localhost"), ("origin", "https://localhost")]),
            (403, &[("host", "localhost"), ("origin", "null")]),
            (403, &[("host", "localhost"), ("origin", "http://evil.example")]),
            (403, &[("host", "localhost"), ("origin", "ftp://code.example.org")]),
            (400, &[]),
            (400, &[("host", "")]),
            (400, &[("host", "localhost:x")]),
            (400, &[("host", "me@localhost")]),
            (400, &[("host", "localhost"), ("host", "localhost")]),
            (400, &[("host", "localhost"), ("host", "evil.example")]),
            (400, &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")]),
        ];
        for (expected, headers) in table {
            assert_eq!(check("/mcp", headers), *expected, "{headers:?}");
        }
    }

    #[test]
    fn absolute_uri_must_match_host() {
        let host = [("host", "localhost:9100")];
        assert_eq!(check("http://localhost:9100/mcp", &host), 200);
        assert_eq!(check("http://LOCALHOST:9100/mcp", &host), 200);
        for uri in [
            "http://evil.example/mcp",
            "http://localhost:9101/mcp",
            "http://localhost/mcp",
            "http://me@localhost:9100/mcp",
        ] {
            assert_eq!(check(uri, &host), 400, "{uri}");
        }
        assert_eq!(check("http://localhost/mcp", &[("host", "localhost:80")]), 200);
        assert_eq!(check("http://evil.example/mcp", &[("host", "evil.example")]), 403);
    }

    #[test]
    fn allowed_host_is_a_bare_name() {
        assert_eq!(parse_allowed_host("[FE80::1]").expect("an address"), "fe80::1");
        for wrong in
            ["", "*", "*.example.org", "http://example.org", "example.org:80", "a b", "example.org/mcp", "me@x"]
        {
            assert!(parse_allowed_host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wildcards_match_media_types() {
        let takes = |accept: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, value.parse().expect("a value"));
            }
            super::accepts(&headers, &["application/json", "text/event-stream"])
        };
        assert!(takes(&[]));
        assert!(
            takes(&["*/*"]) && takes(&["application/*, text/*;q=0.1"]) && takes(&["application/json", "*/*;q=0.1"])
        );
        assert!(takes(&["application/json, text/event-stream"]) && takes(&["Application/JSON", "text/EVENT-stream"]));
        assert!(!takes(&["text/html"]) && !takes(&["application/json"]) && !takes(&["*/*;q=0"]) && !takes(&[""]));
        assert!(!takes(&["text/event-stream-of-another-kind, application/jsonp"]));
    }
}

//! The address of an encoder.

use std::net::IpAddr;

/// A checked address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address of the resource that makes vectors.
    pub(crate) url: String,
}

impl Endpoint {
    /// Checks the base address of an API. The error says what is wrong with it.
    pub fn parse(base: &str, allow_remote: bool) -> Result<Self, String> {
        let wrong = |what: &str| format!("query.embeddings {base:?}: {what}.");
        let rest = base.strip_prefix("http://").ok_or_else(|| {
            wrong(match base.starts_with("https://") {
                true => "https is not supported; give an http address, of this machine or of a proxy on it",
                false => "it must start with http://",
            })
        })?;
        if rest.contains(['?', '#', '@']) || rest.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong("only a host, a port and a path are allowed"));
        }
        let authority = rest.split('/').next().unwrap_or_default();
        let host = match authority.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if !is_local && !allow_remote {
            return Err(wrong("code would leave this machine; set query.embeddings_remote = true to allow that"));
        }
        Ok(Self { url: format!("{}/embeddings", base.trim_end_matches('/')) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_allowed_by_default() {
        for base in ["http://127.0.0.1:11434/v1", "http://localhost/v1/", "http://[::1]:80/v1", "http://127.9.9.9"] {
            assert!(Endpoint::parse(base, false).is_ok(), "{base}");
        }
        for base in ["http://10.0.0.1/v1", "http://localhost.example.org/v1", "http://127.0.0.1.example.org"] {
            let error = Endpoint::parse(base, false).expect_err(base);
            assert!(error.contains("embeddings_remote"), "{error}");
            assert!(Endpoint::parse(base, true).is_ok(), "{base}");
        }
        let wrong = ["", "https://a/v1", "ftp://a", "http://", "http://user@127.0.0.1/v1", "http://127.0.0.1/v1?a=b"];
        for base in wrong {
            assert!(Endpoint::parse(base, true).is_err(), "{base}");
        }
        assert_eq!(
            Endpoint::parse("http://localhost/v1/", false).expect("it is valid").url,
            "http://localhost/v1/embeddings"
        );
    }
}

//! Checks of HTTP requests, for agents and for pages: the host, the origin, the accepted media types and tokens.

pub(crate) mod host_check;
pub(crate) mod token;

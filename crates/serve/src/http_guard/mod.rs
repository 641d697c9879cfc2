//! Checks of HTTP requests, for agents and for pages: the host, the origin, the accepted media types and tokens.

pub mod host_check;
pub mod token;

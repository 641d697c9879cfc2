//! What the rules of all languages look things up with and remember answers in. The rules stand in each language's folder.

pub(crate) mod index;
pub(crate) mod memo;

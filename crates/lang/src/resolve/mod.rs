//! Helpers that the resolvers of several languages share. Custom resolvers are in the folders of their languages.

pub(crate) mod chain;
pub(crate) mod imports;
pub(crate) mod merged;
pub(crate) mod returned;

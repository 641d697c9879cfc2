//! What the resolvers of all languages are made of. The rules themselves stand in each language's folder.

pub(crate) mod chain;
pub(crate) mod imports;
pub(crate) mod parts;
pub(crate) mod returned;

//! The list of the languages with a grammar.

use crate::{
    Language, c, cpp, csharp, ecmascript, elixir, go, haskell, java, kotlin, lua, php, python, ruby, rust, scala,
    shell, swift, zig,
};

/// The languages with a grammar.
pub const LANGUAGES: &[&Language] = &[
    &c::LANGUAGE,
    &cpp::LANGUAGE,
    &csharp::LANGUAGE,
    &ecmascript::JAVASCRIPT,
    &ecmascript::TSX,
    &ecmascript::TYPESCRIPT,
    &elixir::LANGUAGE,
    &go::LANGUAGE,
    &haskell::LANGUAGE,
    &java::LANGUAGE,
    &kotlin::LANGUAGE,
    &lua::LANGUAGE,
    &php::LANGUAGE,
    &python::LANGUAGE,
    &ruby::LANGUAGE,
    &rust::LANGUAGE,
    &scala::LANGUAGE,
    &shell::LANGUAGE,
    &ecmascript::SVELTE,
    &swift::LANGUAGE,
    &ecmascript::VUE,
    &zig::LANGUAGE,
];

//! TypeScript and JavaScript: one walk over three grammars, and the scripts of single-file components.
//!
//! TypeScript's grammars differ in one thing (`<T>x` is a cast in `.ts` and an element in `.tsx`), and JavaScript's is
//! their subset without types, so all three share their node kinds and the walk. `.tsx` is a [`Language`] value of its
//! own because a value has one grammar; on the wire it is `typescript` as well, and both must have the same version.
//!
//! Symbols are:
//!
//! - declarations at any depth: functions, classes, interfaces, aliases, enums, namespaces, and their members;
//! - variables at file level and in namespaces; inside functions only those that hold a function or a class;
//! - functions that get a name in another way: `exports.x = …`, `Foo.prototype.bar = …`, `this.x = …`, methods and
//!   function-valued properties of all object literals, named function expressions;
//! - all named properties of an object literal that is the value of a file-level variable, of `module.exports` or of
//!   `export default`, and of object literals in it; all members of an object type that is the target of an alias;
//! - test blocks with their titles as names, which are not part of other symbols' qualified names (`test_blocks`);
//! - each name of an import or a re-export, including `const x = require(…)`, as `use`.
//!
//! A symbol is not a binding: a nested function hides outer local bindings but is found as a child of its enclosing
//! symbol. Everything else that is declared inside a function is a binding. `let`, `const` and classes are visible in
//! their whole block, since closures may use them before their line; `var` in the whole function.
//!
//! A parameter without a type has its contextual type, and a function without a declared return type has the expression
//! that it returns (`contextual_types`).
//!
//! Exported symbols are public and all others at file level private, also if a separate statement exports them (`export
//! { a }`, `module.exports = { a }`). An export of a local name is an import from the module `""`; `export = x` and
//! `module.exports = x` export the name `export=`.

mod assignments;
mod contextual_types;
mod declarations;
mod exports;
mod headers;
mod imports;
mod kinds;
mod loads;
mod members;
mod module;
mod repair;
mod resolve;
mod scopes;
mod single_file;
mod symbols;
mod test_blocks;
mod variables;
mod walk;

use crate::conventions::Conventions;
use crate::preprocessor::Repair;
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// Incremented with every change of the walk; the three values share it, and so do the two with the same name.
const VERSION: u32 = 5;

/// Tests, packages and modules have the same names in all of them.
const CONVENTIONS: Conventions = Conventions {
    test_folders: &["__tests__"],
    test_infixes: &[".spec.", ".test."],
    manifests: &["package.json"],
    folder_stems: &["index"],
    reexport_files: &[".d.ts"],
    ..Conventions::NONE
};

/// `.ts`.
pub(crate) const TYPESCRIPT: Language = Language {
    name: "typescript",
    facts_version: VERSION,
    extensions: &["ts", "mts", "cts"],
    file_names: &[],
    interpreters: &["deno", "ts-node", "bun"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .999 / .976 on hono, against the TypeScript compiler",
    conventions: CONVENTIONS,
    grammar: grammar(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    walk: Walk::Custom(walk::typescript),
    rules: Rules::Custom(resolve::resolver),
};

/// `.tsx`.
pub(crate) const TSX: Language = Language {
    name: "typescript",
    facts_version: VERSION,
    extensions: &["tsx"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .999 / .976 on hono, against the TypeScript compiler",
    conventions: CONVENTIONS,
    grammar: grammar(|| tree_sitter_typescript::LANGUAGE_TSX.into()),
    walk: Walk::Custom(walk::typescript),
    rules: Rules::Custom(resolve::resolver),
};

/// `.js`, with or without JSX.
pub(crate) const JAVASCRIPT: Language = Language {
    name: "javascript",
    facts_version: VERSION,
    extensions: &["js", "mjs", "cjs", "jsx"],
    file_names: &[],
    interpreters: &["node"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .999 / .976 on hono, against the TypeScript compiler",
    conventions: CONVENTIONS,
    grammar: Grammar { repair: None, ..grammar(|| tree_sitter_javascript::LANGUAGE.into()) },
    walk: Walk::Custom(walk::javascript),
    rules: Rules::Custom(resolve::resolver),
};

/// `.vue`: its scripts, as TypeScript, which includes plain JavaScript.
pub(crate) const VUE: Language = Language {
    name: "vue",
    extensions: &["vue"],
    interpreters: &[],
    measured: "scripts as TypeScript; templates are text",
    walk: Walk::Embedded { code: single_file::scripts, words: single_file::words, walk: walk::typescript },
    ..TYPESCRIPT
};

/// `.svelte`, in the same way.
pub(crate) const SVELTE: Language = Language { name: "svelte", extensions: &["svelte"], ..VUE };

const fn grammar(load: fn() -> tree_sitter::Language) -> Grammar {
    Grammar {
        load,
        kinds: kinds::kind::NAMES,
        fields: kinds::field::NAMES,
        fielded: kinds::FIELDED,
        opaque: kinds::OPAQUE,
        names: kinds::NAMES,
        imports: kinds::IMPORTS,
        words: kinds::WORDS,
        repair: Some(|text| repair::repair(text).map(Repair::from)),
        retries: true,
    }
}

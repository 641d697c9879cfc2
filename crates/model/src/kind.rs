//! The kinds of symbols. Their names are as short as on the wire.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// The kind of a symbol. The order is part of the stored format: append, never insert.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum SymbolKind { $($(#[$doc])* $variant,)* }

        impl SymbolKind {
            /// Every kind, in the order of the stored format.
            pub const ALL: &'static [SymbolKind] = &[$(SymbolKind::$variant,)*];

            /// The word for this kind on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(SymbolKind::$variant => $word,)* }
            }
        }
    };
}

kinds! {
    /// A free function, or in Rust any function.
    Fn = "fn",
    /// A function inside a type.
    Method = "method",
    /// A struct.
    Struct = "struct",
    /// A class.
    Class = "class",
    /// An enum.
    Enum = "enum",
    /// One case of an enum.
    Variant = "variant",
    /// A trait.
    Trait = "trait",
    /// An interface.
    Interface = "interface",
    /// A Rust `impl` block.
    Impl = "impl",
    /// A type alias or an associated type.
    Type = "type",
    /// A constant.
    Const = "const",
    /// A static.
    Static = "static",
    /// A variable at file or class level.
    Var = "var",
    /// A field.
    Field = "field",
    /// A property with accessors.
    Property = "property",
    /// A module written in the source, or a file's implicit one.
    Module = "module",
    /// A macro.
    Macro = "macro",
    /// A `use` or `import` entry.
    Use = "use",
    /// A union.
    Union = "union",
    /// A namespace.
    Namespace = "namespace",
    /// A constructor.
    Constructor = "constructor",
    /// A test block with its title as name: `describe`, `it`, `t.Run`.
    Test = "test",
    /// A function that is declared here and defined elsewhere.
    Prototype = "prototype",
    /// The content under a heading.
    Section = "section",
    /// A key of a configuration, with its value.
    Key = "key",
    /// A table or view of a database.
    Table = "table",
    /// A function, procedure or trigger of a database, or a mixin of a style sheet.
    Routine = "routine",
    /// A message of an interface description.
    Message = "message",
    /// A service of an interface description.
    Service = "service",
    /// A call that a service offers.
    Rpc = "rpc",
    /// A block of a configuration language, with its labels as name.
    Block = "block",
    /// A stage of a build in containers.
    Stage = "stage",
    /// A target of a build.
    Target = "target",
    /// A selector of a style sheet.
    Selector = "selector",
}

impl SymbolKind {
    /// The kind from its stored number.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(index as usize).copied()
    }

    /// The number this kind is stored as.
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// Whether code can refer to a symbol of this kind by name. An import only forwards a name, the name of a test
    /// block is prose, and a landmark does not occur in code.
    pub const fn can_be_named(self) -> bool {
        !matches!(self, SymbolKind::Use | SymbolKind::Test) && !self.is_landmark()
    }

    /// Whether the kind is a landmark: a navigation target in a file without functions. No grammar parses such files,
    /// all of their lines stay text chunks, and code with the same name ranks before their landmarks.
    pub const fn is_landmark(self) -> bool {
        use SymbolKind as K;
        matches!(
            self,
            K::Section
                | K::Key
                | K::Table
                | K::Routine
                | K::Message
                | K::Service
                | K::Rpc
                | K::Block
                | K::Stage
                | K::Target
                | K::Selector
        )
    }

    /// Whether the kind is a value: neither a function nor a type, nor anything that contains them.
    pub const fn is_value(self) -> bool {
        use SymbolKind as K;
        matches!(self, K::Variant | K::Const | K::Static | K::Var | K::Field | K::Property)
    }

    /// Whether name lookup returns a symbol of this kind only if nothing else has the name, or the request asks for the
    /// kind.
    pub const fn is_fallback(self) -> bool {
        matches!(self, SymbolKind::Test) || self.is_landmark()
    }

    /// Returns the kinds that a filter word selects: the wire words and their common synonyms. `fn` also selects
    /// methods. `None` if the word is not a kind.
    pub fn from_filter_word(word: &str) -> Option<&'static [SymbolKind]> {
        use SymbolKind as K;
        Some(match word.to_ascii_lowercase().as_str() {
            "fn" | "function" | "func" | "def" => &[K::Fn, K::Method, K::Constructor, K::Prototype],
            "method" => &[K::Method],
            "struct" => &[K::Struct],
            "class" => &[K::Class],
            "enum" => &[K::Enum],
            "variant" | "enum_member" => &[K::Variant],
            "trait" => &[K::Trait],
            "interface" => &[K::Interface],
            "impl" => &[K::Impl],
            "type" | "type_alias" | "alias" => &[K::Type],
            "const" | "constant" => &[K::Const],
            "static" => &[K::Static],
            "var" | "variable" | "let" => &[K::Var],
            "field" | "member" => &[K::Field],
            "property" => &[K::Property],
            "module" | "mod" => &[K::Module],
            "macro" => &[K::Macro],
            "use" | "import" => &[K::Use],
            "union" => &[K::Union],
            "namespace" => &[K::Namespace],
            "constructor" => &[K::Constructor],
            "test" => &[K::Test],
            "prototype" => &[K::Prototype],
            "section" | "heading" => &[K::Section],
            "key" => &[K::Key],
            "table" | "view" => &[K::Table],
            "routine" | "procedure" | "trigger" => &[K::Routine],
            "message" => &[K::Message],
            "service" => &[K::Service],
            "rpc" => &[K::Rpc],
            "block" | "resource" => &[K::Block],
            "stage" => &[K::Stage],
            "target" => &[K::Target],
            "selector" => &[K::Selector],
            _ => return None,
        })
    }
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_round_trips_by_word_and_index() {
        for &kind in SymbolKind::ALL {
            assert!(
                SymbolKind::from_filter_word(kind.as_str()).expect("because wire words are filters").contains(&kind)
            );
            assert_eq!(SymbolKind::from_index(kind.index()), Some(kind));
        }
        assert_eq!(SymbolKind::from_filter_word("gizmo"), None);
    }

    #[test]
    fn stored_indices_are_stable() {
        let kinds =
            [(SymbolKind::Fn, 0), (SymbolKind::Test, 21), (SymbolKind::Prototype, 22), (SymbolKind::Selector, 33)];
        assert!(kinds.iter().all(|(kind, number)| kind.index() == *number));
    }

    #[test]
    fn landmarks_cannot_be_named() {
        let landmarks = SymbolKind::ALL.iter().filter(|kind| kind.is_landmark());
        assert_eq!(landmarks.clone().count(), 11);
        assert!(landmarks.clone().all(|kind| !kind.can_be_named() && kind.is_fallback()));
    }
}

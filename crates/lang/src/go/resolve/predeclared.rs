//! Names that every Go file knows without a declaration.

/// A predeclared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predeclared {
    /// A type.
    Type(&'static str),
    /// A function.
    Func(&'static str),
    /// A constant, and its type.
    Value(&'static str),
}

const TYPES: &[&str] = &[
    "any",
    "bool",
    "byte",
    "comparable",
    "complex64",
    "complex128",
    "error",
    "float32",
    "float64",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "rune",
    "string",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintptr",
];

const FUNCTIONS: &[&str] = &[
    "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min", "new",
    "panic", "print", "println", "real", "recover",
];

/// Looks up a predeclared name.
pub(super) fn find(name: &str) -> Option<Predeclared> {
    let same = |known: &&&'static str| **known == name;
    if let Some(found) = TYPES.iter().find(same) {
        return Some(Predeclared::Type(found));
    }
    if let Some(found) = FUNCTIONS.iter().find(same) {
        return Some(Predeclared::Func(found));
    }
    match name {
        "true" | "false" => Some(Predeclared::Value("bool")),
        "iota" => Some(Predeclared::Value("int")),
        "nil" => Some(Predeclared::Value("nil")),
        _ => None,
    }
}

//! The policies of a language: in which order names are looked for, what a unit is, what imports mean.

use codecompass_model::{Import, Literal, VersionId, World};

/// What the shared rules have to know of a language.
pub(crate) struct Scoping {
    /// Its name on the wire.
    pub(crate) language: &'static str,
    /// Other languages whose files are read as if they were of this one.
    pub(crate) kin: &'static [&'static str],
    /// What stands between the parts of a qualified name.
    pub(crate) separator: &'static str,
    /// Where a name that stands alone is looked for, one after the other.
    pub(crate) order: &'static [Look],
    /// Which files see each other's names without an import.
    pub(crate) unit: Unit,
    /// Which kinds of symbols may bear one name, so that what stands there says which is meant.
    pub(crate) apart: Apart,
    /// Whether members of the type around a name can be named alone.
    pub(crate) implicit_this: bool,
    /// Whether types are values, so that a constant may stand where a type has to stand.
    pub(crate) types_are_values: bool,
    /// Whether what a type declares is named alone in it, but for its fields, which nothing names alone.
    pub(crate) types_enclose: bool,
    /// Where members of a type stand that are not in its declaration.
    pub(crate) parts: Parts,
    /// Whether a call of a type makes a value of it.
    pub(crate) calls_make: bool,
    /// Whether types say by members what operators give: `operator->`, `operator[]`, `begin`.
    pub(crate) operators: bool,
    /// Whether calling what a field holds is a call of the field.
    pub(crate) calls_fields: bool,
    /// Whether what stands around a type can not be named alone in it.
    pub(crate) closed_types: bool,
    /// The macros of a module that are run where the module is used: what they import and define is there.
    pub(crate) using: &'static [&'static str],
    /// Whether a call of what nothing in the view defines is one of something from outside: of a program.
    pub(crate) calls_outside: bool,
    /// Whether the files of a folder are a part of one program, so that a name which one of them alone has is meant.
    pub(crate) folders: bool,
    /// Whether functions of one name that take other numbers of arguments are others, so that none is meant by a call
    /// that fits none.
    pub(crate) by_arity: bool,
    /// Whether the names in front of arguments tell functions apart.
    pub(crate) labels: bool,
    /// Whether what belongs to a type itself and what belongs to its values are looked for apart.
    pub(crate) sides: bool,
    /// The member of every type that makes a value of it, and the method that is run for it.
    pub(crate) maker: Option<(&'static str, &'static str)>,
    /// Whether a module is a value, beside a type of the same name, and is called by its `apply`, as are values.
    pub(crate) objects: bool,
    /// Whether a function that takes nothing is called by its name alone.
    pub(crate) bare_calls: bool,
    /// Whether what is imported may be named as seen from the package.
    pub(crate) relative_imports: bool,
    /// Whether what is added to a type from elsewhere has to be in scope to be its member.
    pub(crate) parts_in_scope: bool,
    /// Whether a call that no function of a name takes may be one of what is inherited from outside.
    pub(crate) counts_arguments: bool,
    /// The types of literals.
    pub(crate) literals: &'static [(Literal, &'static str)],
    /// The library as far as types flow through it: a small file in the language itself, in sections behind `== name` lines.
    pub(crate) library: &'static str,
    /// The name that a section of it is extracted under.
    pub(crate) library_file: &'static str,
    /// The package of the library that needs no import.
    pub(crate) open_library: &'static str,
    /// The type of the library that all types are made from.
    pub(crate) root: Option<&'static str>,
    /// The type of the library whose first argument is what a loop over it gives.
    pub(crate) iterable: Option<&'static str>,
    /// Plain types and the types of the library that stand for them.
    pub(crate) boxes: &'static [(&'static str, &'static str)],
    /// Plain types, each of which is taken where a later one is wanted.
    pub(crate) widens: &'static [&'static str],
    /// What lists have, and the plain types of it.
    pub(crate) lists_have: &'static [(&'static str, &'static str)],
    /// Functions of the library that give back what they are given for this argument.
    pub(crate) passes: &'static [(&'static str, usize)],
    /// Which units around its own a name is looked for in, too.
    pub(crate) outer: Outer,
    /// Whether a name that nothing in the view bears comes from outside, so that no import has to say so.
    pub(crate) open_world: bool,
    /// Whether a name is taken for a package only if the view has one of that name: where types and packages are written
    /// alike.
    pub(crate) known_packages: bool,
    /// Whether functions that name what they are called on (`Flags::TAKES_SELF`, with an owner) are members of it, after all
    /// members of its own.
    pub(crate) extensions: bool,
    /// Whether types of one name are told apart by how many type parameters they have.
    pub(crate) generics_apart: bool,
    /// Whether a function that is told type arguments has type parameters of its own.
    pub(crate) told_types: bool,
    /// Whether a list is also one of the types that loops go over.
    pub(crate) lists_iterate: bool,
    /// The member whose type an element of a value has.
    pub(crate) indexer: Option<&'static str>,
    /// What constructors are called, where they are inherited and can be called by name.
    pub(crate) constructor: Option<&'static str>,
    /// What may be left out at the end of the name of a decorator.
    pub(crate) decorator_ending: &'static str,
    /// The imports of all names that a file at a path has without saying so.
    pub(crate) shared_imports: fn(&dyn World, &str) -> Vec<Import>,
    /// The files that a module's name means, as seen from a path.
    pub(crate) module: fn(&dyn World, &str, &str) -> Vec<VersionId>,
}

impl Scoping {
    /// A language of which nothing is known but its name.
    pub(crate) const PLAIN: Self = Self {
        language: "",
        kin: &[],
        separator: ".",
        order: &[Look::Around, Look::File],
        unit: Unit::File,
        apart: Apart::Nothing,
        implicit_this: false,
        types_are_values: false,
        types_enclose: false,
        parts: Parts::InFile,
        calls_make: false,
        operators: false,
        calls_fields: false,
        closed_types: false,
        using: &[],
        calls_outside: false,
        folders: true,
        by_arity: false,
        labels: false,
        sides: false,
        maker: None,
        objects: false,
        bare_calls: false,
        relative_imports: false,
        parts_in_scope: false,
        counts_arguments: false,
        literals: &[],
        library: "",
        library_file: "",
        open_library: "",
        root: None,
        iterable: None,
        boxes: &[],
        widens: &[],
        lists_have: &[],
        passes: &[],
        outer: Outer::Nothing,
        open_world: false,
        known_packages: false,
        extensions: false,
        generics_apart: false,
        told_types: false,
        lists_iterate: false,
        indexer: None,
        constructor: None,
        decorator_ending: "",
        shared_imports: |_, _| Vec::new(),
        module: |_, _, _| Vec::new(),
    };
}

/// A place where a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The symbols around it, from the inside, and what types among them are made from.
    Around,
    /// The level of the file.
    File,
    /// What imports give a name.
    Import,
    /// The other files of the unit.
    Unit,
    /// Imports of all names.
    Glob,
    /// The part of the library that needs no import.
    Library,
    /// Everywhere: names that the whole program shares.
    Global,
}

/// Which kinds of symbols may bear one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    Nothing,
    /// Types beside all others.
    Types,
    /// Types, functions and variables.
    All,
}

/// Where members of a type stand that are not in its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// In the same file, each with the type that it belongs to.
    InFile,
    /// Anywhere, each, or the block around it, with the type that it belongs to.
    ByOwner,
    /// In further declarations of the same qualified name.
    ByName,
}

/// Which units around its own a name is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outer {
    Nothing,
    /// All units that its own is a part of.
    All,
    /// The one without a name, for whatever is no type.
    Root,
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The file.
    File,
    /// The files of a package, wherever they stand: qualified names begin with it.
    Package,
    /// The file and what it includes, and what that includes.
    Include,
    /// The same, and names stand in namespaces, each of which may stand in many files.
    Namespace,
    /// The file, a module that says what it takes from others and what it hands on; what stands in its types is named alone.
    Module,
    /// All files: each sees what stands at the top of any other.
    Program,
}

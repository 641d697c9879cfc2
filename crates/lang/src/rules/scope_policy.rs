//! The scope policy of a language: the lookup order of names, the unit, and the handling of imports.

use codecompass_model::{CallSyntax, FileFacts, Import, Literal, VersionId, World};

/// The properties of a language that the shared resolver needs.
pub(crate) struct ScopePolicy {
    /// Its name on the wire.
    pub(crate) language: &'static str,
    /// Other languages with files that are read as if they were in this one.
    pub(crate) interop: &'static [&'static str],
    /// The separator in qualified names.
    pub(crate) separator: &'static str,
    /// The steps of looking up a bare name, in order.
    pub(crate) lookup_order: &'static [LookupStep],
    /// The set of files that see each other's names without an import.
    pub(crate) unit: Unit,
    /// The kinds of symbols that may share one name, so that the reference site decides between them.
    pub(crate) namespaces: Namespaces,
    /// Whether members of the enclosing type can be bare names.
    pub(crate) implicit_this: bool,
    /// Whether types are values, so that a constant may occur where a type is expected.
    pub(crate) types_are_values: bool,
    /// Whether declarations in a type can be bare names inside it, except its fields, which never are.
    pub(crate) types_are_scopes: bool,
    /// The location of members that are not in the declaration of their type.
    pub(crate) out_of_line: OutOfLineMembers,
    /// Whether a call of a type constructs a value of it.
    pub(crate) calls_construct: bool,
    /// Whether member functions define the results of operators: `operator->`, `operator[]`, `begin`.
    pub(crate) operators: bool,
    /// What the syntax of a call excludes.
    pub(crate) call_syntax: CallSyntax,
    /// Whether every call gives as many arguments as the function has parameters.
    pub(crate) arity_is_fixed: bool,
    /// Whether calling the value of a field is a call of the field.
    pub(crate) calls_fields: bool,
    /// Whether names outside a type cannot be bare names inside it.
    pub(crate) closed_types: bool,
    /// The macros of a module that are expanded where the module is used: their imports and definitions apply there.
    pub(crate) using_macros: &'static [&'static str],
    /// Whether a call of a name that the view does not define counts as external, because it runs a program (shell).
    pub(crate) unknown_calls_are_external: bool,
    /// Whether the files of a folder belong to one program, so that a name resolves if only one of them has it.
    pub(crate) folders_are_programs: bool,
    /// Whether functions of one name with different arities are different functions, so that a call with another arity
    /// resolves to none of them.
    pub(crate) arity_distinguishes: bool,
    /// Whether argument labels distinguish functions.
    pub(crate) labels_distinguish: bool,
    /// Whether static members and instance members are looked up separately.
    pub(crate) separates_static_members: bool,
    /// The member of every type that constructs a value of it, and the method that it runs.
    pub(crate) factory: Option<(&'static str, &'static str)>,
    /// Whether a module is a value, beside a type of the same name. Modules and values are called through their
    /// `apply`.
    pub(crate) modules_are_objects: bool,
    /// Whether the bare name of a function without parameters calls it.
    pub(crate) bare_calls: bool,
    /// Whether imports may be relative to the package.
    pub(crate) relative_imports: bool,
    /// Whether members that are added to a type from elsewhere must be in scope.
    pub(crate) extensions_need_scope: bool,
    /// Whether a call that fits no function of the name by arity may refer to a member of an external base type.
    pub(crate) arity_mismatch_may_be_inherited: bool,
    /// The types of literals.
    pub(crate) literals: &'static [(Literal, &'static str)],
    /// Stub declarations of the standard library that type inference needs, written in the language itself; a line `==
    /// name` starts a section.
    pub(crate) library: &'static str,
    /// The file name given to each section of `library` when it is extracted, such as `library.java`.
    pub(crate) library_file: &'static str,
    /// Extracts a section of `library`, given its file name and its text.
    pub(crate) extract_library: fn(&str, &str) -> FileFacts,
    /// The package of the library that needs no import.
    pub(crate) prelude: &'static str,
    /// The type of the library that all types extend.
    pub(crate) root: Option<&'static str>,
    /// The iterable type of the library: its first type argument is the element type of a loop over it.
    pub(crate) iterable: Option<&'static str>,
    /// Basic types and the types of the library that represent them.
    pub(crate) boxes: &'static [(&'static str, &'static str)],
    /// Basic types in widening order: each is accepted where a later one is expected.
    pub(crate) widening_order: &'static [&'static str],
    /// The members of lists, and their basic types.
    pub(crate) list_members: &'static [(&'static str, &'static str)],
    /// Functions of the library that return the argument at this index.
    pub(crate) identity_functions: &'static [(&'static str, usize)],
    /// The outer units in which a name is also looked up.
    pub(crate) outer_units: OuterUnits,
    /// Whether a name that no symbol of the view has is external, even without an import of it.
    pub(crate) unknown_names_are_external: bool,
    /// Whether a name is a package only if the view has a package of that name: for languages where types and packages
    /// have the same syntax.
    pub(crate) packages_must_exist: bool,
    /// Whether functions that declare their receiver (`Flags::TAKES_SELF`, with an owner) are members of its type,
    /// after all its own members.
    pub(crate) extensions: bool,
    /// Whether the number of type parameters distinguishes types of one name.
    pub(crate) generic_arity_distinguishes: bool,
    /// Whether a function that is called with explicit type arguments must have type parameters of its own.
    pub(crate) explicit_type_args_need_params: bool,
    /// Whether a list is also an iterable.
    pub(crate) lists_are_iterable: bool,
    /// The member with the element type of an indexed value as its type.
    pub(crate) indexer: Option<&'static str>,
    /// The name of constructors, for languages where they are inherited and can be called by name.
    pub(crate) constructor: Option<&'static str>,
    /// The ending that may be omitted in the name of a decorator.
    pub(crate) decorator_ending: &'static str,
    /// Returns the implicit glob imports of the file at a path.
    pub(crate) shared_imports: fn(&dyn World, &str) -> Vec<Import>,
    /// Returns the files of a module name, as seen from a path.
    pub(crate) resolve_module: fn(&dyn World, &str, &str) -> Vec<VersionId>,
}

impl ScopePolicy {
    /// The default policies, without a language name.
    pub(crate) const PLAIN: Self = Self {
        language: "",
        interop: &[],
        separator: ".",
        lookup_order: &[LookupStep::Enclosing, LookupStep::File],
        unit: Unit::File,
        namespaces: Namespaces::Shared,
        implicit_this: false,
        types_are_values: false,
        types_are_scopes: false,
        out_of_line: OutOfLineMembers::InFile,
        calls_construct: false,
        operators: false,
        call_syntax: CallSyntax::OPEN,
        arity_is_fixed: false,
        calls_fields: false,
        closed_types: false,
        using_macros: &[],
        unknown_calls_are_external: false,
        folders_are_programs: true,
        arity_distinguishes: false,
        labels_distinguish: false,
        separates_static_members: false,
        factory: None,
        modules_are_objects: false,
        bare_calls: false,
        relative_imports: false,
        extensions_need_scope: false,
        arity_mismatch_may_be_inherited: false,
        literals: &[],
        library: "",
        library_file: "",
        extract_library: |_, _| FileFacts::default(),
        prelude: "",
        root: None,
        iterable: None,
        boxes: &[],
        widening_order: &[],
        list_members: &[],
        identity_functions: &[],
        outer_units: OuterUnits::None,
        unknown_names_are_external: false,
        packages_must_exist: false,
        extensions: false,
        generic_arity_distinguishes: false,
        explicit_type_args_need_params: false,
        lists_are_iterable: false,
        indexer: None,
        constructor: None,
        decorator_ending: "",
        shared_imports: |_, _| Vec::new(),
        resolve_module: |_, _, _| Vec::new(),
    };
}

/// A step of the lookup of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupStep {
    /// The enclosing symbols, from the inside, and the base types of types among them.
    Enclosing,
    /// The top level of the file.
    File,
    /// Names that imports declare.
    Import,
    /// The other files of the unit.
    Unit,
    /// Glob imports.
    Glob,
    /// The part of the library that needs no import.
    Library,
    /// Everywhere: names that the whole program shares.
    Global,
}

/// The kinds of symbols that may share one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    Shared,
    /// Types are separate from everything else.
    TypesSeparate,
    /// Types, functions and variables are separate from each other.
    AllSeparate,
}

/// The location of members that are not in the declaration of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfLineMembers {
    /// In the same file, each with its owner type.
    InFile,
    /// Anywhere; each member, or the block around it, has the owner type.
    ByOwner,
    /// In further declarations with the same qualified name.
    ByName,
}

/// The outer units in which a name is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OuterUnits {
    None,
    /// All units that contain its own.
    All,
    /// The unit without a name, for everything except types.
    Root,
}

/// The unit of a language: the set of files that share names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The file.
    File,
    /// The files of a package in any folder: qualified names begin with the package.
    Package,
    /// The file and everything it includes, directly or indirectly.
    Include,
    /// Like `Include`, but names belong to namespaces, each of which may extend over many files.
    Namespace,
    /// The file, a module with imports and exports. Declarations inside its types are bare names.
    Module,
    /// All files: each sees the top-level names of every other.
    Program,
}

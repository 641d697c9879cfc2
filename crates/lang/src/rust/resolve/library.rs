//! A model of the standard library: the types that its types hold, and the return types of their methods.

use super::scope::PRIMITIVES;
use super::types::Ty;

/// Types that dereference to the type they hold.
const POINTERS: &[&str] = &[
    "Arc",
    "Box",
    "Cow",
    "LazyCell",
    "LazyLock",
    "ManuallyDrop",
    "MappedMutexGuard",
    "MutexGuard",
    "Pin",
    "Rc",
    "Ref",
    "RefMut",
    "Reverse",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Lazy",
    "CachePadded",
    "AssertUnwindSafe",
    "Wrapping",
    "OwnedMutexGuard",
];

/// Returns the type that a library type dereferences to.
pub(super) fn deref(ty: &Ty) -> Option<Ty> {
    let Ty::Library(name, arguments) = ty else { return None };
    Some(match &**name {
        name if POINTERS.contains(&name) => arguments.first().cloned().unwrap_or(Ty::Unknown),
        "Vec" | "SmallVec" | "ArrayVec" => Ty::library("[]", [ty.argument(0)]),
        "String" => Ty::library("str", []),
        "PathBuf" => Ty::library("Path", []),
        "OsString" => Ty::library("OsStr", []),
        _ => return None,
    })
}

/// Returns whether a pointer has a method itself, so that the method of the held type does not apply.
pub(super) fn has_own(ty: &Ty, method: &str) -> bool {
    let Ty::Library(name, _) = ty else { return false };
    match &**name {
        "Arc" | "Rc" | "Box" => matches!(method, "clone" | "as_ref" | "as_mut" | "borrow" | "borrow_mut" | "downcast"),
        "NonNull" => matches!(method, "clone" | "as_ref" | "as_mut" | "as_ptr" | "cast"),
        "Cow" => matches!(method, "clone" | "into_owned" | "to_mut" | "is_borrowed" | "is_owned" | "as_ref"),
        _ => false,
    }
}

/// Returns whether a type of the standard library is known well enough to rule out traits.
pub(super) fn is_data(name: &str) -> bool {
    const DATA: &[&str] = &[
        "?",
        "[]",
        "Arc",
        "BTreeMap",
        "BTreeSet",
        "BinaryHeap",
        "Box",
        "Cell",
        "Entry",
        "HashMap",
        "HashSet",
        "Iterator",
        "LinkedList",
        "Mutex",
        "MutexGuard",
        "Option",
        "OsStr",
        "OsString",
        "Path",
        "PathBuf",
        "Poll",
        "Rc",
        "RefCell",
        "Result",
        "RwLock",
        "String",
        "Vec",
        "VecDeque",
        "str",
    ];
    DATA.contains(&name) || PRIMITIVES.contains(&name)
}

/// Returns whether such a type has a trait of the standard library. A value that is only known to be external has the
/// library's own traits; nothing else is known about it.
pub(super) fn data_type_has_trait(name: &str, of: &str) -> bool {
    let is_iterator = name == "Iterator" || name == "?";
    match of {
        "Iterator" | "DoubleEndedIterator" | "ExactSizeIterator" => is_iterator,
        "IntoIterator" => element(&Ty::library(name, [Ty::Unknown])).is_some() || name == "?",
        "Read" | "Write" | "BufRead" | "Seek" => matches!(name, "[]" | "Vec" | "VecDeque" | "Box" | "Arc" | "?"),
        "Future" | "Error" => matches!(name, "Box" | "?"),
        "AsRef" | "AsMut" | "Borrow" | "BorrowMut" | "From" | "Into" | "TryFrom" | "TryInto" | "Display"
        | "ToString" | "ToOwned" | "Extend" | "FromIterator" | "FromStr" | "Deref" | "DerefMut" | "Index"
        | "IndexMut" | "Add" | "Sub" | "Mul" | "Div" | "Rem" | "Neg" | "Not" | "AddAssign" | "SubAssign"
        | "Pattern" => true,
        _ => false,
    }
}

/// Returns whether `Option` and `Result` have such a method.
pub(super) fn is_wrapper_method(method: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "and",
        "as_",
        "clone",
        "cmp",
        "copied",
        "err",
        "eq",
        "expect",
        "filter",
        "flat",
        "fmt",
        "get_or",
        "hash",
        "insert",
        "inspect",
        "into",
        "is_",
        "iter",
        "map",
        "ne",
        "ok",
        "or",
        "partial_cmp",
        "replace",
        "take",
        "to_",
        "transpose",
        "unwrap",
        "unzip",
        "xor",
        "zip",
    ];
    PREFIXES.iter().any(|beginning| method.starts_with(beginning))
}

/// Returns the element type of a loop over it.
pub(super) fn element(ty: &Ty) -> Option<Ty> {
    let Ty::Library(name, arguments) = ty else { return None };
    Some(match &**name {
        "[]" | "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "BinaryHeap" | "LinkedList" | "Iterator" | "Option"
        | "SmallVec" | "ArrayVec" | "IndexSet" | "Receiver" | "Result" => arguments.first()?.clone(),
        "HashMap" | "BTreeMap" | "IndexMap" => Ty::tuple([ty.argument(0), ty.argument(1)]),
        _ => return None,
    })
}

/// Returns the type that `?`, `Some(…)` and `Ok(…)` extract.
pub(super) fn payload(ty: &Ty) -> Option<Ty> {
    let Ty::Library(name, arguments) = ty else { return None };
    match (&**name, arguments.first()) {
        ("Poll" | "Option" | "Result", Some(inner)) => Some(inner.clone()),
        ("Option" | "Result" | "Poll", None) => None,
        // An iterator collected into a result: its elements were results.
        ("Iterator", Some(Ty::Library(name, inner))) if matches!(&**name, "Option" | "Result") => {
            Some(Ty::library("Iterator", inner.first().cloned()))
        }
        ("Iterator" | "Vec" | "[]", Some(_)) => None,
        (_, Some(inner)) if arguments.len() == 1 => Some(inner.clone()),
        // `Regex::new()` is treated as a `Regex`, regardless of its wrapper.
        (_, None) => Some(ty.clone()),
        _ => None,
    }
}

/// Returns the result type of indexing.
pub(super) fn indexed(ty: &Ty, index: &str) -> Option<Ty> {
    let Ty::Library(name, _) = ty else { return None };
    match &**name {
        "[]" | "Vec" | "VecDeque" | "SmallVec" | "ArrayVec" => {
            Some(if index.contains("..") { ty.clone() } else { ty.argument(0) })
        }
        "HashMap" | "BTreeMap" | "IndexMap" => Some(ty.argument(1)),
        "str" | "String" => Some(Ty::library("str", [])),
        _ => None,
    }
}

/// Returns the return type of a library type's method; `None` if the table has no entry.
pub(super) fn result(ty: &Ty, method: &str) -> Option<Ty> {
    let Ty::Library(name, arguments) = ty else { return None };
    let one = || ty.argument(0);
    let option = |inner: Ty| Ty::library("Option", [inner]);
    let iterator = |inner: Ty| Ty::library("Iterator", [inner]);
    match method {
        "clone" => return Some(ty.clone()),
        "to_owned" | "by_ref" | "as_mut" | "as_ref" | "borrow" | "as_deref" | "as_deref_mut" | "cloned" | "copied"
        | "to_vec" | "as_slice" | "as_mut_slice" | "into_boxed_slice" | "inspect" | "as_pin_mut"
            if is_kept_by_views(name, arguments) =>
        {
            return Some(ty.clone());
        }
        _ => {}
    }
    Some(match (&**name, method) {
        ("Option", "ok_or" | "ok_or_else" | "context" | "with_context") => Ty::library("Result", [one()]),
        ("Result", "ok") => option(one()),
        ("Result", "err") => option(ty.argument(1)),
        ("Result", "unwrap_err" | "expect_err") => ty.argument(1),
        ("Result", "map_err" | "context" | "with_context" | "or_else") => Ty::library("Result", [one()]),
        ("Option" | "Result", "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default") => one(),
        ("Option", "get_or_insert_with" | "insert" | "get_or_insert") => one(),
        ("Option", "take" | "replace" | "filter" | "or" | "or_else" | "xor") => ty.clone(),
        ("Option" | "Result", "iter" | "iter_mut" | "into_iter") => iterator(one()),
        ("Option" | "Result", "transpose" | "flatten") => one(),
        ("RefCell", "borrow" | "borrow_mut" | "into_inner" | "get_mut") => one(),
        ("Cell" | "Once", "get" | "take" | "replace" | "into_inner") => one(),
        ("RefCell", "take" | "replace") => one(),
        ("OnceCell" | "OnceLock", "get" | "get_mut" | "into_inner" | "take") => option(one()),
        ("OnceCell" | "OnceLock", "get_or_init" | "get_mut_or_init") => one(),
        ("Mutex" | "RwLock", "lock" | "read" | "write" | "into_inner" | "get_mut") => Ty::library("Result", [one()]),
        ("Mutex" | "RwLock", "try_lock" | "try_read" | "try_write") => Ty::library("Result", [one()]),
        // `Borrow` is rarely in scope; the method of the cell is.
        ("Arc" | "Rc" | "Box", "borrow" | "borrow_mut") if matches!(one(), Ty::Library(of, _) if &*of == "RefCell") => {
            one().argument(0)
        }
        (
            "Arc" | "Rc" | "Box" | "Cow" | "Pin",
            "as_ref" | "as_mut" | "borrow" | "into_owned" | "to_mut" | "get_mut",
        ) => one(),
        ("NonNull", "as_ref" | "as_mut" | "as_ptr") => one(),
        ("JoinHandle", "join") | ("Receiver", "recv" | "try_recv") => Ty::library("Result", [one()]),
        ("Receiver", "iter" | "try_iter" | "into_iter") => iterator(one()),
        ("HashMap" | "BTreeMap" | "IndexMap", _) => map(ty, method)?,
        ("Entry", "or_insert" | "or_insert_with" | "or_default" | "or_insert_with_key" | "into_mut") => ty.argument(1),
        ("Entry", "and_modify") => ty.clone(),
        (
            "[]" | "Vec" | "VecDeque" | "SmallVec" | "ArrayVec" | "HashSet" | "BTreeSet" | "BinaryHeap" | "IndexSet",
            _,
        ) => list(ty, method)?,
        ("Iterator", _) => adaptor(ty, method)?,
        ("String" | "str" | "Path" | "OsStr" | "PathBuf" | "OsString", _) if arguments.is_empty() => text(method),
        _ if arguments.is_empty() && is_non_generic(name) => external_type(),
        _ => return None,
    })
}

/// Returns whether methods such as `as_ref`, `borrow` and `to_vec` are treated as returning the receiver's own type:
/// for non-generic types, collections, `Option` and `Result`.
fn is_kept_by_views(name: &str, arguments: &[Ty]) -> bool {
    let holds = matches!(
        name,
        "[]" | "ArrayVec"
            | "BTreeMap"
            | "BTreeSet"
            | "HashMap"
            | "HashSet"
            | "IndexMap"
            | "IndexSet"
            | "Iterator"
            | "Option"
            | "Result"
            | "SmallVec"
            | "Vec"
            | "VecDeque"
    );
    holds || arguments.is_empty() && is_non_generic(name)
}

/// Returns the type of a value that is only known to be external.
pub(super) fn external_type() -> Ty {
    Ty::library("?", [])
}

/// Returns whether a library type without arguments has no type parameters.
fn is_non_generic(name: &str) -> bool {
    !matches!(
        name,
        "Option"
            | "Result"
            | "Cell"
            | "RefCell"
            | "Mutex"
            | "RwLock"
            | "OnceCell"
            | "OnceLock"
            | "Receiver"
            | "JoinHandle"
            | "Poll"
            | "Iterator"
            | "Entry"
            | "NonNull"
    ) && !POINTERS.contains(&name)
}

fn map(ty: &Ty, method: &str) -> Option<Ty> {
    let (key, value) = (ty.argument(0), ty.argument(1));
    Some(match method {
        "get" | "get_mut" | "remove" | "insert" => Ty::library("Option", [value]),
        "iter" | "iter_mut" | "into_iter" | "drain" | "range" | "range_mut" => {
            Ty::library("Iterator", [Ty::tuple([key, value])])
        }
        "keys" | "into_keys" => Ty::library("Iterator", [key]),
        "values" | "values_mut" | "into_values" => Ty::library("Iterator", [value]),
        "entry" => Ty::library("Entry", [key, value]),
        "first_key_value" | "last_key_value" | "pop_first" | "pop_last" | "remove_entry" | "get_key_value" => {
            Ty::library("Option", [Ty::tuple([key, value])])
        }
        "len" | "is_empty" | "contains_key" => external_type(),
        _ => return None,
    })
}

fn list(ty: &Ty, method: &str) -> Option<Ty> {
    let one = ty.argument(0);
    Some(match method {
        "iter" | "iter_mut" | "into_iter" | "drain" | "intersection" | "union" | "difference" | "extract_if" => {
            Ty::library("Iterator", [one])
        }
        "first" | "last" | "pop" | "first_mut" | "last_mut" | "pop_front" | "pop_back" | "front" | "back"
        | "front_mut" | "back_mut" | "peek" | "take" | "pop_first" | "pop_last" | "peek_mut" | "pop_if" => {
            Ty::library("Option", [one])
        }
        "get" | "get_mut" => Ty::library("Option", [one]),
        "remove" | "swap_remove" | "get_unchecked" => one,
        "chunks" | "windows" | "chunks_exact" | "split" | "rchunks" => {
            Ty::library("Iterator", [Ty::library("[]", [one])])
        }
        "split_at" | "split_at_mut" => Ty::tuple([Ty::library("[]", [one.clone()]), Ty::library("[]", [one])]),
        "split_first" | "split_last" => Ty::library("Option", [Ty::tuple([one.clone(), Ty::library("[]", [one])])]),
        "split_off" | "into_vec" => Ty::library("Vec", [one]),
        "len" | "is_empty" | "contains" | "capacity" | "starts_with" | "ends_with" | "position" => external_type(),
        _ => return None,
    })
}

fn adaptor(ty: &Ty, method: &str) -> Option<Ty> {
    let one = ty.argument(0);
    Some(match method {
        "next" | "last" | "nth" | "min" | "max" | "min_by" | "max_by" | "min_by_key" | "max_by_key" | "find"
        | "peek" | "next_back" | "next_if" | "peek_mut" | "reduce" | "rfind" => Ty::library("Option", [one]),
        "filter" | "skip" | "take" | "rev" | "chain" | "peekable" | "step_by" | "skip_while" | "take_while"
        | "fuse" | "cycle" | "into_iter" | "iter" | "par_iter" | "sorted" | "dedup" => ty.clone(),
        "enumerate" => Ty::library("Iterator", [Ty::tuple([external_type(), one])]),
        "zip" => Ty::library("Iterator", [Ty::tuple([one, Ty::Unknown])]),
        "flatten" => Ty::library("Iterator", [element(&one)?]),
        // The result type varies, but the elements stay.
        "collect" => ty.clone(),
        "count" | "any" | "all" | "position" | "size_hint" | "len" => external_type(),
        "partition" => Ty::tuple([Ty::Unknown, Ty::Unknown]),
        _ => return None,
    })
}

fn text(method: &str) -> Ty {
    match method {
        "lines" | "split" | "split_whitespace" | "chars" | "bytes" | "components" | "splitn" | "rsplit"
        | "ancestors" | "char_indices" | "split_terminator" | "matches" | "rsplitn" | "iter" => {
            Ty::library("Iterator", [external_type()])
        }
        "parse" => Ty::library("Result", [Ty::Unknown]),
        "parent" | "file_name" | "extension" | "strip_prefix" | "strip_suffix" | "find" | "rfind" | "to_str"
        | "get" => Ty::library("Option", [external_type()]),
        "split_once" | "rsplit_once" => Ty::library("Option", [Ty::tuple([external_type(), external_type()])]),
        _ => external_type(),
    }
}

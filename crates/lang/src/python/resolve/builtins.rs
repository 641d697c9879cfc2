//! Names that are built into Python.

/// Returns whether every file sees the name without an import.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok() || EXCEPTIONS.binary_search(&name).is_ok()
}

/// Returns whether the name of a module belongs to the standard library.
pub(super) fn is_standard(module: &str) -> bool {
    STANDARD.binary_search(&module).is_ok()
}

/// Returns whether Python's own strings, numbers, containers or files have a member of this name.
pub(super) fn is_language_member(name: &str) -> bool {
    MEMBERS.binary_search(&name).is_ok() || name.starts_with("__") && name.ends_with("__")
}

#[rustfmt::skip]
const MEMBERS: &[&str] = &[
    "add", "append", "appendleft", "as_integer_ratio", "bit_length", "capitalize", "casefold", "center", "clear", "close",
    "conjugate", "copy", "count", "decode", "difference", "discard", "encode", "endswith", "expandtabs", "extend",
    "extendleft", "fileno", "find", "flush", "format", "format_map", "from_bytes", "fromhex", "fromkeys", "get", "hex",
    "index", "insert", "intersection", "isalnum", "isalpha", "isascii", "isatty", "isdecimal", "isdigit", "isdisjoint",
    "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "issubset", "issuperset", "istitle", "isupper",
    "items", "join", "keys", "ljust", "lower", "lstrip", "maketrans", "move_to_end", "partition", "pop", "popitem",
    "popleft", "read", "readable", "readline", "readlines", "remove", "removeprefix", "removesuffix", "replace", "reverse",
    "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "seek", "seekable", "setdefault", "sort", "split",
    "splitlines", "startswith", "strip", "swapcase", "symmetric_difference", "tell", "title", "to_bytes", "translate",
    "truncate", "union", "update", "upper", "values", "writable", "write", "writelines", "zfill",
];

#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    "Ellipsis", "False", "None", "NotImplemented", "True", "__builtins__", "__debug__", "__doc__", "__file__",
    "__import__", "__loader__", "__name__", "__package__", "__path__", "__spec__", "abs", "aiter", "all", "anext", "any",
    "ascii", "basestring", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile",
    "complex", "copyright", "credits", "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "exit", "filter",
    "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int",
    "isinstance", "issubclass", "iter", "len", "license", "list", "locals", "long", "map", "max", "memoryview", "min",
    "next", "object", "oct", "open", "ord", "pow", "print", "property", "quit", "range", "raw_input", "reduce", "repr",
    "reveal_type", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super",
    "tuple", "type", "unichr", "unicode", "vars", "xrange", "zip",
];

#[rustfmt::skip]
const EXCEPTIONS: &[&str] = &[
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
    "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning",
    "EnvironmentError", "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError",
    "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError",
    "PendingDeprecationWarning", "PermissionError", "ProcessLookupError", "PythonFinalizationError", "RecursionError",
    "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError",
    "UnicodeWarning", "UserWarning", "ValueError", "Warning", "WindowsError", "ZeroDivisionError",
];

#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "__future__", "_thread", "abc", "argparse", "array", "ast", "asyncio", "atexit", "base64", "bdb", "binascii",
    "bisect", "builtins", "bz2", "calendar", "cgi", "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys",
    "compileall", "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg", "csv", "ctypes", "curses",
    "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings",
    "ensurepip", "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib",
    "functools", "gc", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac",
    "html", "http", "imaplib", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache",
    "locale", "logging", "lzma", "mailbox", "marshal", "math", "mimetypes", "mmap", "multiprocessing", "netrc", "numbers",
    "operator", "os", "pathlib", "pdb", "pickle", "pickletools", "pkgutil", "platform", "plistlib", "poplib", "posixpath",
    "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "queue", "quopri", "random", "re", "readline", "reprlib",
    "resource", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal", "site",
    "smtplib", "socket", "socketserver", "sqlite3", "ssl", "stat", "statistics", "string", "struct", "subprocess",
    "symtable", "sys", "sysconfig", "syslog", "tarfile", "tempfile", "termios", "textwrap", "threading", "time", "timeit",
    "tkinter", "token", "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "turtle", "types", "typing",
    "unicodedata", "unittest", "urllib", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg", "wsgiref",
    "xml", "xmlrpc", "zipfile", "zipimport", "zlib", "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for list in [BUILTINS, EXCEPTIONS, MEMBERS, STANDARD] {
            assert!(list.is_sorted(), "{list:?}");
        }
        assert!(is_builtin("len") && is_builtin("KeyError") && !is_builtin("HTTPError"));
    }
}

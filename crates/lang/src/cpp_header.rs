//! Decides whether a header is C or C++, which the extension does not show.

/// The maximum number of bytes to read. Many headers begin with long comments.
const MAX_BYTES: usize = 32 * 1024;

/// Line prefixes that never occur in C. C lines never contain `::` either.
const CPP_LINE_PREFIXES: &[&str] = &[
    "class ",
    "namespace ",
    "template <",
    "template<",
    "public:",
    "private:",
    "protected:",
    "using namespace ",
    "using std::",
    "inline namespace ",
    "virtual ",
    "explicit ",
    "constexpr ",
    "friend class ",
];

/// Headers of the C++ standard library, which have no extension.
const CPP_HEADERS: &[&str] = &[
    "algorithm",
    "array",
    "atomic",
    "cassert",
    "cerrno",
    "chrono",
    "climits",
    "cmath",
    "condition_variable",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "deque",
    "exception",
    "functional",
    "initializer_list",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "limits",
    "list",
    "map",
    "memory",
    "mutex",
    "new",
    "optional",
    "ostream",
    "queue",
    "set",
    "sstream",
    "stdexcept",
    "string",
    "string_view",
    "system_error",
    "thread",
    "tuple",
    "type_traits",
    "unordered_map",
    "unordered_set",
    "utility",
    "variant",
    "vector",
];

/// Returns whether the first lines of a header show that it is C++. Lines inside `#ifdef __cplusplus` are no evidence.
pub(crate) fn is_cpp(text: &str) -> bool {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (mut in_comment, mut guarded) = (false, 0_u32);
    for line in text[..end].lines() {
        let line = line.trim_start();
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("/*") {
            in_comment = !line.contains("*/");
            continue;
        }
        if let Some(directive) = line.strip_prefix('#').map(str::trim_start) {
            let is_guard = directive.starts_with("if") && directive.contains("__cplusplus");
            guarded = match directive {
                _ if is_guard => guarded + 1,
                _ if guarded > 0 && directive.starts_with("if") => guarded + 1,
                _ if guarded > 0 && directive.starts_with("endif") => guarded - 1,
                _ if guarded == 1 && directive.starts_with("else") => 0,
                _ => guarded,
            };
            let header = directive.strip_prefix("include").map(str::trim_start).and_then(|rest| rest.strip_prefix('<'));
            let name = header.and_then(|rest| rest.split('>').next());
            if guarded == 0 && name.is_some_and(|name| CPP_HEADERS.contains(&name.trim())) {
                return true;
            }
        } else if guarded == 0 {
            let end = ["\"", "//", "/*"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
            if CPP_LINE_PREFIXES.iter().any(|start| line.starts_with(start)) || line[..end].contains("::") {
                return true;
            }
        }
    }
    false
}

//! Stack traces, panics and assertions in a query.
//!
//! A line of a trace names a location: a file, a line, a function, or some of them. Formats differ in where they put
//! each and in the order of the frames; [`parse`] reads them all and returns the frames innermost first. Prose may name
//! a location, too: `networking.c:1234`.

use codecompass_model::Languages;

use super::intent::parse_path;

/// The maximum number of frames that are read; a deep recursion prints thousands.
const MAX_FRAMES: usize = 64;

/// A location in a stack trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// The path as printed, with `/` as separator and without an address, if there is one.
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
    /// The last segment of the function's name.
    pub(super) name: Option<String>,
    /// The segment before it: a type, a module or a package.
    pub(super) qualifier: Option<String>,
    /// The folder of the file, where the trace names a package and the path is only a file name (Java, Kotlin).
    pub(super) folder: Option<String>,
}

/// Returns the locations that a query names, innermost first: those of a trace, and those in prose.
pub(super) fn parse(query: &str, languages: &dyn Languages) -> Vec<Frame> {
    // The frames of each exception in order. One that caused another is printed after it, and comes first here.
    let mut blocks: Vec<Vec<Frame>> = vec![Vec::new()];
    let mut is_open = false;
    let mut count = 0;
    for line in query.lines() {
        if is_cause(line) {
            blocks.push(Vec::new());
        }
        let Some(block) = blocks.last_mut() else { break };
        let before = block.len();
        match parse_line(line, languages) {
            // Some programs print the function on one line and its location on the next.
            Some(next) => match block.last_mut().filter(|_| is_open && next.name.is_none()) {
                Some(last) => *last = Frame { path: next.path, line: next.line, ..last.clone() },
                None => block.push(next),
            },
            None => block.extend(locations(line, languages)),
        }
        is_open = block.last().is_some_and(|last| last.path.is_none());
        count += block.len() - before;
        if count > MAX_FRAMES && !is_reversed(query) {
            break;
        }
    }
    let mut frames: Vec<Frame> = blocks.into_iter().rev().flatten().collect();
    if is_reversed(query) {
        frames.reverse();
    }
    frames.truncate(MAX_FRAMES);
    frames
}

/// Whether a query contains a trace, rather than a location in prose only.
pub(super) fn is_trace(query: &str, languages: &dyn Languages) -> bool {
    query.contains("panicked at ") || query.lines().any(|line| parse_line(line, languages).is_some())
}

/// Whether the outermost frame is printed first. pytest marks the lines of the error with `E`.
fn is_reversed(query: &str) -> bool {
    query.contains("most recent call last") || query.lines().any(|line| line.starts_with("E   "))
}

fn is_cause(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Caused by:") || line.starts_with("[cause]:")
}

/// Whether a line says only that a trace follows, or how to get one.
pub(super) fn is_header(line: &str) -> bool {
    const HEADERS: &[&str] = &[
        "traceback (most recent call last)",
        "stack backtrace:",
        "stack trace:",
        "backtrace:",
        "goroutine ",
        "note: run with `rust_backtrace",
        "note: some details are omitted",
        "during handling of the above exception",
        "the above exception was the direct cause",
        "--- end of",
        "exit status ",
    ];
    let line = line.trim().to_lowercase();
    HEADERS.iter().any(|header| line.starts_with(header))
}

/// Returns a line without the words that every panic prints: `thread 'main' panicked at`.
pub(super) fn without_boilerplate(line: &str) -> &str {
    let behind = |marker: &str| line.find(marker).map(|at| &line[at + marker.len()..]);
    let thread = || line.trim_start().strip_prefix("Exception in thread \"")?.split_once('"').map(|(_, rest)| rest);
    behind("panicked at ").or_else(thread).unwrap_or(line)
}

/// Parses a line of a trace in any of the known formats.
pub(super) fn parse_line(line: &str, languages: &dyn Languages) -> Option<Frame> {
    let line = without_log_prefix(line.trim());
    if let Some(rest) = line.strip_prefix("File \"") {
        return python_frame(rest);
    }
    if let Some(rest) = line.strip_prefix("at ").or_else(|| line.strip_prefix("by ").filter(|rest| is_address(rest))) {
        return at_frame(rest, languages);
    }
    if let Some(rest) = line.strip_prefix("created by ") {
        return Some(named(rest.split(" in goroutine").next().unwrap_or(rest))).filter(|frame| frame.name.is_some());
    }
    let numbered = line.trim_start_matches(['*', ' ']).trim_start_matches("frame ");
    if let Some(rest) = numbered.strip_prefix('#') {
        return numbered_frame(rest, languages);
    }
    let line = line.strip_prefix("from ").unwrap_or(line);
    ruby_frame(line, languages)
        .or_else(|| location_first(line, languages))
        .or_else(|| rust_function(line))
        .or_else(|| go_function(line))
        .or_else(|| glibc_function(line))
        .or_else(|| firefox_frame(line, languages))
}

/// Removes what valgrind prints before each line: `==1234==`.
fn without_log_prefix(line: &str) -> &str {
    let rest = line.strip_prefix("==").and_then(|rest| rest.split_once("=="));
    match rest {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => rest.trim(),
        _ => line,
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("0x")
}

/// Parses `/a/b.py", line 3, in f`; a crash handler omits the second comma.
fn python_frame(rest: &str) -> Option<Frame> {
    let (path, rest) = rest.split_once('"')?;
    let rest = rest.strip_prefix(", line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let name = rest[digits..].trim_start_matches(',').trim().strip_prefix("in ").unwrap_or("");
    Some(Frame { path: Some(clean_path(path)), line: rest[..digits].parse().ok(), ..named(name) })
}

/// Parses what follows `at`: `f (a.js:3:5)`, `com.example.A.f(A.java:3)`, `N.A.F(String s) in C:\a.cs:line 3`,
/// `0x4005: f (a.c:12)`, `src/a.rs:3:5`.
fn at_frame(rest: &str, languages: &dyn Languages) -> Option<Frame> {
    let rest = match is_address(rest) {
        true => rest.split_once(": ")?.1,
        false => rest.trim_start_matches("async ").trim_start_matches("new "),
    };
    if let Some((name, place)) = rest.rsplit_once(") in ") {
        let (path, line) = place.rsplit_once(":line ")?;
        let name = name.split('(').next().unwrap_or(name);
        return Some(Frame { path: Some(clean_path(path)), line: line.trim().parse().ok(), ..named(name) });
    }
    let Some((name, inside)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) else {
        let (path, line) = location(rest.trim(), languages)?;
        return Some(Frame { path: Some(path), line, ..Frame::default() });
    };
    let (name, is_spaced) = (name.trim_end(), name.ends_with(' '));
    if let Some((path, line)) = location(inside, languages) {
        // `java.base/java.lang.Thread.run(Thread.java:829)`: a module, a package, a class and a method.
        let qualified = name.rsplit('/').next().unwrap_or(name);
        let packages: Vec<&str> = qualified.split('.').collect();
        let is_java = !is_spaced && !path.contains('/') && packages.len() > 1;
        let folder = is_java.then(|| packages[..packages.len() - 2].join("/"));
        return Some(Frame { path: Some(path), line, folder, ..named(name) });
    }
    let is_name = !is_spaced && name.contains('.') && !name.contains(' ');
    Some(named(name)).filter(|frame| is_name && frame.name.is_some())
}

/// Parses what follows `#` of a debugger, a sanitizer or PHP: `0  0x55 in f (x=1) at a.c:3`, `1 0x4a in f /b/a.c:3:5`,
/// `0 /b/a.php(12): A->f()`.
fn numbered_frame(rest: &str, languages: &dyn Languages) -> Option<Frame> {
    let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let rest = rest[digits..].trim_start_matches(':').trim();
    let rest = match is_address(rest) {
        true => rest.split_once(' ')?.1.trim_start_matches("in ").trim(),
        false => rest,
    };
    // `a.out`f(x=1) at a.c:3:5`
    let rest = rest.split_once('`').map_or(rest, |(_, rest)| rest);
    if let Some((place, call)) = rest.split_once(": ")
        && let Some((path, line)) = location(place, languages).filter(|(_, line)| line.is_some())
    {
        return Some(Frame { path: Some(path), line, ..named(call.split('(').next().unwrap_or(call)) });
    }
    let name = rest.split([' ', '(']).next().unwrap_or(rest);
    let last = rest.split_whitespace().last()?;
    match location(last, languages).filter(|(_, line)| line.is_some()) {
        Some((path, line)) => Some(Frame { path: Some(path), line, ..named(name) }),
        None => Some(named(name)).filter(|frame| frame.name.is_some() && rest.contains('(')),
    }
}

/// Parses `a/b.rb:3:in 'A#f': message`; older versions open with a backtick.
fn ruby_frame(line: &str, languages: &dyn Languages) -> Option<Frame> {
    let (place, rest) = line.split_once(":in ")?;
    let name = rest.strip_prefix(['`', '\''])?.split('\'').next()?;
    let (path, line) = location(place.split_whitespace().last()?, languages)?;
    let name = name.rsplit(" in ").next().unwrap_or(name);
    line.map(|line| Frame { path: Some(path), line: Some(line), ..named(name) })
}

/// Parses `a.go:3 +0x1d`, `a.py:3: in f`, and a line that is a location.
fn location_first(line: &str, languages: &dyn Languages) -> Option<Frame> {
    let first = line.split_whitespace().next()?;
    let (path, number) = location(first, languages).filter(|(_, number)| number.is_some())?;
    let name = line[first.len()..].trim().strip_prefix("in ");
    let is_frame = line == first || line.contains(" +0x") || name.is_some();
    is_frame.then(|| Frame { path: Some(path), line: number, ..named(name.unwrap_or("")) })
}

/// Parses `3: a::b::f`, with the address of older versions: `3: 0x55 - a::f`.
fn rust_function(line: &str) -> Option<Frame> {
    let (number, name) = line.split_once(':')?;
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.trim();
    let name = if is_address(name) { name.split_once(" - ")?.1 } else { name };
    let is_name = name.contains("::") && (!name.contains(' ') || name.starts_with('<'));
    Some(named(name)).filter(|frame| is_numbered && is_name && frame.name.is_some())
}

/// Parses `main.(*Server).handle(0xc000, 0x1)`.
fn go_function(line: &str) -> Option<Frame> {
    let (name, arguments) = match line.strip_suffix(')')?.rsplit_once('(') {
        Some((name, arguments)) => (name, arguments),
        None => return None,
    };
    let is_call = arguments.contains("0x") || arguments == "..." || arguments.is_empty();
    let is_name = name.contains('.') && !name.contains(' ');
    Some(named(name)).filter(|frame| is_call && is_name && frame.name.is_some())
}

/// Parses `./server(serverCron+0x1d)[0x45]`.
fn glibc_function(line: &str) -> Option<Frame> {
    let (_, rest) = line.split_once('(')?;
    let (name, rest) = rest.split_once("+0x")?;
    Some(named(name)).filter(|frame| rest.contains(")[") && frame.name.is_some())
}

/// Parses `f@http://host/src/a.js:3:5`.
fn firefox_frame(line: &str, languages: &dyn Languages) -> Option<Frame> {
    let (name, place) = line.split_once('@').filter(|(name, _)| !name.contains(' '))?;
    let (path, number) = location(place, languages).filter(|_| place.contains("://"))?;
    number.map(|number| Frame { path: Some(path), line: Some(number), ..named(name) })
}

/// Returns the locations in a line of prose: `a.c:12`, `a.c:12:5`, `a.cs(12,5)`, `a.c#L12`, `file a.c, line 12`.
fn locations(line: &str, languages: &dyn Languages) -> Vec<Frame> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some((path, number)) = location(word, languages) else { continue };
        let number = number.or_else(|| line_number_behind(&words[at + 1..]));
        let name = (at >= 3 && words[at - 1] == "file" && words[at - 3] == "function").then(|| words[at - 2]);
        if number.is_some() {
            found.push(Frame { path: Some(path), line: number, ..named(name.unwrap_or("").trim_matches(',')) });
        }
    }
    found
}

/// Parses `line 12` or `on line 12`.
fn line_number_behind(words: &[&str]) -> Option<u32> {
    let words = words.strip_prefix(&["on"]).or_else(|| words.strip_prefix(&["at"])).unwrap_or(words);
    let number = words.strip_prefix(&["line"])?.first()?;
    number.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Parses a word as a location: a path, and the line after it if there is one.
fn location(word: &str, languages: &dyn Languages) -> Option<(String, Option<u32>)> {
    let is_edge = |c: char| matches!(c, '"' | '\'' | '`' | '(' | '[' | '<' | '{' | ',' | ';');
    let word = word.trim_start_matches(is_edge);
    let word = word.trim_end_matches(|c: char| is_edge(c) || matches!(c, '>' | ']' | '}' | ':' | '.' | '!' | '?'));
    let word = clean_path(word);
    let (path, line) = match word.strip_suffix(')').unwrap_or(&word).split_once('(') {
        // `a.cs(12,5)`
        Some((path, numbers)) => (path, Some(numbers.split(',').next().unwrap_or(numbers))),
        None => match word.split_once("#L") {
            Some((path, line)) => (path, Some(line.split('-').next().unwrap_or(line))),
            None => (word.trim_end_matches(')'), None),
        },
    };
    match line {
        Some(line) => parse_path(path, languages).map(|(path, _)| (path, line.parse().ok())),
        None => parse_path(path, languages),
    }
    .map(|(path, line)| (path.to_owned(), line))
}

/// Returns a path with `/` as separator, without a drive, the address of a server or a bundler, and a query.
fn clean_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = match path.split_once("://") {
        Some((scheme, rest)) => {
            let is_remote = scheme.ends_with("http") || scheme.ends_with("https");
            let rest = if is_remote { rest.split_once('/').map_or(rest, |(_, path)| path) } else { rest };
            rest.trim_start_matches("/.").to_owned()
        }
        None => path,
    };
    let path = match path.as_bytes() {
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => &path[2..],
        _ => &path,
    };
    match path.split_once('?') {
        Some((path, query)) => format!("{path}{}", query.find(':').map_or("", |at| &query[at..])),
        None => path.to_owned(),
    }
}

/// Returns a frame with the name and the qualifier of a function as a trace prints it.
fn named(name: &str) -> Frame {
    let mut segments = segments(name);
    let name = segments.pop();
    Frame { name, qualifier: segments.pop(), ..Frame::default() }
}

/// Splits the printed name of a function, without closures, type arguments and generated parts:
/// `<a::B<T> as C>::f::{{closure}}`, `main.(*S).f.func1`, `A.lambda$f$0`, `N.A.<F>d__5.MoveNext`, `A#f`, `A->f`.
fn segments(name: &str) -> Vec<String> {
    let name = name.trim().trim_end_matches("()").trim_end_matches("-fm");
    let name = name.split(" [as ").next().unwrap_or(name);
    // The method of a state machine or a closure is between the brackets (C#).
    if let Some((owner, rest)) = name.split_once(".<")
        && let Some((method, _)) =
            rest.trim_start_matches(">c").rsplit_once(['>']).filter(|_| rest.contains(">d__") || rest.contains(">b__"))
    {
        let method = method.rsplit('<').next().unwrap_or(method);
        let owner = segments(owner).pop();
        return owner.into_iter().chain((!method.is_empty()).then(|| method.to_owned())).collect();
    }
    // `<a::B as C>::f` is `a::B::f`.
    let implemented = name.strip_prefix('<').and_then(|rest| rest.split_once(" as "));
    let whole = match implemented.and_then(|(of, rest)| Some((of, rest.split_once(">::")?.1))) {
        Some((of, method)) => format!("{of}::{method}"),
        None => name.to_owned(),
    };
    let plain = without_type_arguments(&whole);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '?' || c == '!';
    let mut all: Vec<String> = Vec::new();
    for part in plain.split(['.', ':', '#', '/', ' ', '(', ')', '*', '>']) {
        let part = part.trim_end_matches('-');
        // `A$Inner`, `lambda$run$0`
        let mut inner = part.split('$').filter(|inner| !inner.is_empty() && !inner.bytes().all(|b| b.is_ascii_digit()));
        let part = match part.starts_with("lambda$") {
            true => inner.nth(1).unwrap_or(part),
            false if part.starts_with('$') => part,
            false => inner.next_back().unwrap_or(part),
        };
        if !part.is_empty() && part.chars().all(is_name) {
            all.push(part.to_owned());
        }
    }
    while all.len() > 1 && all.last().is_some_and(|last| is_generated(last)) {
        all.pop();
    }
    all
}

/// Removes the text in angle or square brackets or in braces.
fn without_type_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut kept = String::new();
    for c in name.chars() {
        match c {
            '<' | '[' | '{' => depth += 1,
            // The arrow of `A->f` closes nothing.
            '>' | ']' | '}' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

/// Whether a segment names a closure or a symbol hash: `func1`, `1`, `h0123456789abcdef`, `ctor`.
fn is_generated(segment: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash =
        segment.len() == 17 && segment.starts_with('h') && segment[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    digits(segment)
        || segment.strip_prefix("func").is_some_and(digits)
        || matches!(segment, "ctor" | "cctor" | "invoke" | "invokeSuspend" | "MoveNext")
        || is_hash
}

/// Returns the message of a panic, an exception or a failed assertion, without the kind of error before it.
pub(super) fn message(query: &str) -> Option<&str> {
    let lines: Vec<&str> = query.lines().collect();
    if let Some(at) = lines.iter().position(|line| line.contains("panicked at ")) {
        return rust_message(&lines[at..]);
    }
    let found = lines.iter().rev().find_map(|line| error_message(line)).map(str::trim);
    found.filter(|message| message.len() >= 4)
}

/// Returns the message of a panic. Newer versions print it on the line after the location, older ones in quotes before
/// it.
fn rust_message<'q>(lines: &[&'q str]) -> Option<&'q str> {
    let (_, rest) = lines.first()?.split_once("panicked at ")?;
    if let Some(quoted) = rest.strip_prefix('\'') {
        return quoted.rsplit_once("', ").or_else(|| quoted.rsplit_once('\'')).map(|(message, _)| message);
    }
    let same_line = rest.split_once(": ").map(|(_, message)| message.trim());
    let next = || lines.iter().skip(1).map(|line| line.trim()).find(|line| !line.is_empty());
    same_line.or_else(next).filter(|message| !is_header(message))
}

fn error_message(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches("E  ").trim();
    if let Some((_, rest)) = line.split_once("Assertion `") {
        return rest.split_once('\'').map(|(expression, _)| expression);
    }
    if let Some((_, rest)) = line.split_once("ssertion failed: ") {
        return Some(rest.split(", f").next().unwrap_or(rest).trim_matches(['(', ')']));
    }
    // Ruby prints the message behind the location and the kind behind the message.
    if let Some((_, rest)) = line.split_once(":in ").and_then(|(_, rest)| rest.split_once("': ")) {
        return Some(rest.rsplit_once(" (").map_or(rest, |(message, _)| message));
    }
    for marker in ["panic: ", "runtime error: ", "fatal: ", "FAILED "] {
        if let Some((_, rest)) = line.split_once(marker) {
            return Some(rest.trim_end_matches(" [recovered]"));
        }
    }
    let (kind, message) = line.split_once(": ")?;
    let is_kind = |kind: &str| {
        let kind = kind.rsplit(' ').next().unwrap_or(kind);
        ["Error", "Exception", "Warning", "error", "Failure"].iter().any(|end| kind.ends_with(end))
    };
    match kind {
        "Caused by" | "[cause]" => message.split_once(": ").map(|(_, message)| message),
        kind if is_kind(kind) => Some(message),
        // `Uncaught TypeError: …`, `error: …` after other words.
        _ => message.split_once(": ").filter(|(kind, _)| is_kind(kind)).map(|(_, message)| message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_languages() {
        type Expected<'t> = Option<(&'t str, Option<u32>, &'t str)>;
        let table: &[(&str, Expected<'_>)] = &[
            ("  File \"/usr/lib/app/views.py\", line 12, in get", Some(("/usr/lib/app/views.py", Some(12), "get"))),
            ("    at Router.match (src/router.ts:10:5)", Some(("src/router.ts", Some(10), "match"))),
            ("    at Foo.bar [as baz] (src/router.ts:10:5)", Some(("src/router.ts", Some(10), "bar"))),
            ("    at /app/src/router.js:10:5", Some(("/app/src/router.js", Some(10), ""))),
            ("             at src/main.rs:4:5", Some(("src/main.rs", Some(4), ""))),
            ("   3: app::store::open", Some(("", None, "open"))),
            ("   3: <app::Store<T> as app::Open>::open::{{closure}}", Some(("", None, "open"))),
            ("  12:     0x55d0b1 - app::store::open::h0123456789abcdef", Some(("", None, "open"))),
            ("main.(*Server).handle(0xc000, 0x1)", Some(("", None, "handle"))),
            ("main.Map[...](...)", Some(("", None, "Map"))),
            ("main.(*Server).handle.func1.2()", Some(("", None, "handle"))),
            ("\t/go/src/app/server.go:123 +0x1d", Some(("/go/src/app/server.go", Some(123), ""))),
            ("\tat a.b.Outer$Inner.run(Outer.java:3)", Some(("Outer.java", Some(3), "run"))),
            ("#0 /srv/app/a.php(12): App\\Cart->load('x')", Some(("/srv/app/a.php", Some(12), "load"))),
            ("   at N.A.<>c__DisplayClass4_0.<Load>b__0() in /src/A.cs:line 7", Some(("/src/A.cs", Some(7), "Load"))),
            ("frame #1: 0x0001 a.out`freeClient(c=0x0) at net.c:4:5", Some(("net.c", Some(4), "freeClient"))),
            ("the call of parse(x) is wrong", None),
            ("see src/main.rs:4 for that", None),
            ("at noon (or later) it fails", None),
            ("", None),
        ];
        for (line, expected) in table {
            let found = parse_line(line, codecompass_lang::REGISTRY);
            let found = found.as_ref().map(|frame| {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                (text(&frame.path), frame.line, text(&frame.name))
            });
            let expected = expected.map(|(path, line, name)| (path.to_owned(), line, name.to_owned()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn two_line_frames_are_joined() {
        let trace = "panic: boom\nmain.(*Server).handle(0xc000, 0x1)\n\t/go/src/app/server.go:123 +0x1d\nmain.main()\n";
        let found: Vec<_> = parse(trace, codecompass_lang::REGISTRY)
            .into_iter()
            .map(|frame| (frame.path.unwrap_or_default(), frame.name.unwrap_or_default()))
            .collect();
        let expected = [("/go/src/app/server.go", "handle"), ("", "main")];
        assert_eq!(found, expected.map(|(path, name)| (path.to_owned(), name.to_owned())));
    }

    #[test]
    fn locations_in_prose() {
        let table: &[(&str, &[(&str, u32)])] = &[
            ("crash in networking.c:1234, and at (src/a.rs:3:5).", &[("networking.c", 1234), ("src/a.rs", 3)]),
            ("src/a.ts(3,5): error TS2345", &[("src/a.ts", 3)]),
            ("see https://example.org/me/app/blob/main/src/a.rs#L10-L12", &[("me/app/blob/main/src/a.rs", 10)]),
            ("in a.php on line 7", &[("a.php", 7)]),
            ("at 10:30 and/or in a.rs", &[]),
        ];
        for (line, expected) in table {
            let found: Vec<_> = locations(line, codecompass_lang::REGISTRY)
                .into_iter()
                .filter_map(|frame| Some((frame.path?, frame.line?)))
                .collect();
            let expected: Vec<_> = expected.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn messages_without_the_kind_of_error() {
        for (trace, expected) in [
            ("thread 'main' panicked at src/a.rs:1:2:\nno such key\nnote: run with `RUST_BACKTRACE=1`", "no such key"),
            ("thread 'x' panicked at 'no such key: 'a'', src/a.rs:1:2", "no such key: 'a'"),
            ("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no item", "no item"),
            ("Exception in thread \"main\" a.b.StateException: no items\n\tat a.B.c(B.java:1)", "no items"),
            ("a: b.c:4: void f(int): Assertion `c != 0' failed.", "c != 0"),
            ("a.rb:8:in `price': no price (ArgumentError)", "no price"),
            ("panic: boom here [recovered]\n", "boom here"),
        ] {
            assert_eq!(message(trace), Some(expected), "{trace}");
        }
    }
}

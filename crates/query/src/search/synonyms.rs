//! Abbreviations of words (`ctx` for context) and synonyms (`remove`, `delete`).
//!
//! The lists are general English of programming, independent of any repository. They contain no keywords or very common
//! words (`fn`, `get`): these carry no information and are the most expensive to look up.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::terms::stem;

/// Abbreviations, each with the words that it abbreviates.
const ABBREVIATIONS: &str = "
    abs: absolute
    addr: address
    alloc: allocate
    app: application
    arg: argument
    args: arguments
    arr: array
    attr: attribute
    auth: authentication authorization
    auto: automatic
    bin: binary
    buf: buffer
    calc: calculate compute
    cb: callback
    cert: certificate
    cmd: command
    cmp: compare
    col: column
    concat: concatenate join
    cond: condition
    conf: configuration config
    conn: connection
    ctor: constructor
    ctx: context
    cwd: current working directory
    db: database
    decl: declaration
    dep: dependency
    deps: dependencies
    desc: description descending
    dest: destination
    dir: directory folder
    doc: document
    dst: destination
    elem: element
    enc: encoding
    env: environment
    eq: equal
    err: error
    eval: evaluate
    exec: execute
    expr: expression
    ext: extension
    fmt: format
    gen: generate
    hdr: header
    id: identifier
    idx: index
    img: image
    info: information
    init: initialize
    iter: iterator
    lang: language
    len: length
    lib: library
    loc: location
    max: maximum
    mem: memory
    mgr: manager
    min: minimum
    msg: message
    mw: middleware
    nav: navigation
    neg: negative negate
    num: number
    obj: object
    op: operation operator
    opt: option
    opts: options
    param: parameter
    params: parameters
    perm: permission
    pkg: package
    pos: position
    prev: previous
    proc: process
    prop: property
    props: properties
    proto: protocol prototype
    ptr: pointer
    qs: query
    rand: random
    recv: receive
    ref: reference
    regex: regular expression pattern
    regexp: regular expression
    repo: repository
    req: request
    res: response result resource
    resp: response
    ret: return
    sec: second security
    sep: separator
    seq: sequence
    sess: session
    sig: signature signal
    spec: specification
    src: source
    srv: server
    stmt: statement
    sync: synchronize
    temp: temporary
    tmp: temporary
    tx: transaction
    txt: text
    util: utility
    val: value
    ver: version
    vec: vector
    ws: websocket whitespace
";

/// Groups of synonyms, one per line.
const SYNONYM_GROUPS: &str = "
    remove delete drop erase discard unset clear strip
    create make build construct
    add append insert push register attach
    check validate verify ensure assert
    fetch retrieve load obtain lookup find
    convert transform cast
    send emit dispatch post
    begin start launch
    stop end finish close shutdown abort terminate cancel
    parse decode deserialize unmarshal read
    encode serialize marshal dump
    error exception failure panic fail
    print display show format render
    change modify update replace
    clean normalize sanitize
    combine join merge concat
    split separate partition divide
    enumerate walk iterate traverse
    wait block sleep await
    retry attempt backoff
    directory folder dir
    url uri link
    handler callback listener hook
    option setting config flag parameter
    default fallback
    wrap decorate
    call invoke execute apply
    copy clone duplicate
    choose select pick
    match equal compare
    label title
    log logger trace
    user account
    password secret credential
    count size length total
    limit max maximum cap
    escape quote
    colour color
    hidden private internal
    ignore skip exclude
    extract unpack
    cache memo memoize
    save store persist
    guess detect infer determine
";

/// The related words by stem.
struct Synonyms {
    abbreviations: HashMap<&'static str, Vec<&'static str>>,
    synonyms: HashMap<&'static str, Vec<&'static str>>,
}

static SYNONYMS: LazyLock<Synonyms> = LazyLock::new(|| {
    let mut all = Synonyms { abbreviations: HashMap::new(), synonyms: HashMap::new() };
    for (short, long) in ABBREVIATIONS.lines().filter_map(|line| line.trim().split_once(": ")) {
        for long in long.split(' ') {
            all.abbreviations.entry(stem(long)).or_default().push(short);
            all.abbreviations.entry(stem(short)).or_default().push(long);
        }
    }
    for list in SYNONYM_GROUPS.lines().map(str::trim) {
        for word in list.split(' ') {
            let others = list.split(' ').filter(|other| *other != word);
            all.synonyms.entry(stem(word)).or_default().extend(others);
        }
    }
    all
});

/// Returns the abbreviations of a word, and the words that it abbreviates.
pub(super) fn abbreviations(word: &str) -> &'static [&'static str] {
    SYNONYMS.abbreviations.get(stem(word)).map_or(&[], Vec::as_slice)
}

/// Returns the synonyms of a word.
pub(super) fn synonyms(word: &str) -> &'static [&'static str] {
    SYNONYMS.synonyms.get(stem(word)).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lookup_is_symmetric_and_stemmed() {
        assert_eq!(abbreviations("contexts"), ["ctx"]);
        assert_eq!(abbreviations("ctx"), ["context"]);
        assert_eq!(abbreviations("configuration"), ["conf"]);
        assert!(abbreviations("cat").is_empty());
        assert!(synonyms("deleting").contains(&"remove") && !synonyms("deleting").contains(&"delete"));
        assert!(synonyms("cat").is_empty());
    }

    #[test]
    fn lines_have_no_duplicates() {
        for line in ABBREVIATIONS.lines().chain(SYNONYM_GROUPS.lines()) {
            let mut seen = HashSet::new();
            let words = line.split([' ', ':']).filter(|word| !word.is_empty());
            let twice = words.filter(|word| !seen.insert(*word)).collect::<Vec<_>>();
            assert!(twice.is_empty(), "{line}: {twice:?}");
        }
        let shorts = ABBREVIATIONS.lines().filter_map(|line| line.trim().split_once(": ")).map(|(short, _)| short);
        let mut seen = HashSet::new();
        assert!(shorts.into_iter().all(|short| seen.insert(short)));
    }
}

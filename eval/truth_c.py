#!/usr/bin/env python3
"""Truth of definitions, references and call sites of a C repository, made with libclang, in the format of score.py.

  truth_c.py --name owner/repo --src CHECKOUT --build COPY --make-log LOG --out repo.c.json.gz [--resource-dir DIR] [--report]

  --src       the checkout as it is (file list = tracked *.c and *.h, commit hash, and nothing else is read from it)
  --build     a configured copy of it (in-tree: `./configure` ran there, generated sources made); it is what is compiled
  --make-log  output of `make -nwk all check` in COPY: the compiler flags and directory of each file come from there
  --resource-dir  clang's own headers (stddef.h ...): Debian's libclang-common-*-dev; default: the newest under /usr/lib
  --report    print counts, and what the token scan found in compiled code that the compiler did not account for

Needs PyPI `libclang` (or python3-clang). Lines are 1-based, columns 0-based (bytes), as in the other truths.

How it works
  1. Every .c file of the build log is parsed with its own flags. Every other tracked .c file is tried with the flags of a
     neighbour ("extra": another platform's file, an example); if it parses without an error it is used, but its external
     functions do not make a call to libc an internal one. What does not parse at all is "uncompiled": nothing in it is judged.
  2. AST and preprocessing record give definitions, references, calls and macro uses. Locations are file locations: the place
     where the token is written, also in macro arguments; a token that is only in a macro's body has its macro's name there, is
     seen not to be written, and dropped (body calls are kept in the macro site's `alt`, which score.py uses with --lenient only).
     All is merged by position over the translation units.
  3. Symbols: external functions and variables are one per name, statics one per file (of their first declaration), types,
     fields, macros and locals one per definition. All lines of a function's symbol (definition, per-platform definitions,
     prototypes, the definition in an inactive #if branch) are the targets of a call: any is accepted, it counts once.
  4. Token scan: each `name(` that no compiler fact explains (inactive #if regions, uncompiled files, macro bodies, arguments a
     macro throws away) becomes an `unresolved` site: edges there are UNKNOWN, never judged. Names on inactive lines are listed
     in unindexed_defs, so that definitions reported there are not judged either.

Kinds of definition   function, macro (function-like), type (struct, union, typedef), enum, const (enumerator, object-like
     macro), field, var, param. With `?` (accepted as a target, not asked for by the definitions score): function? = prototype,
     definition named by a macro argument, or not compiled; type? = forward declaration or named by a macro argument
     (TAILQ_HEAD(name, ..)); macro? = #define in an inactive region.
Status of a site
     internal     the function has a definition (or the macro a #define) in a listed file
     external     libc, other libraries, compiler builtins, macros of their headers
     local        call through a parameter or local variable;  noncallable  through a struct field or global variable (target: its
                  declaration), or a function whose only listed line is a prototype (defined in a .y or generated file)
     unresolved   token-scan sites; and calls that bind to libc here but to a file or #define of the repository elsewhere
"""
import argparse, bisect, collections, ctypes, glob, gzip, json, os, re, shlex, subprocess, sys
import clang.cindex as ci
from clang.cindex import CursorKind as K, LinkageKind, TranslationUnit as TU

KEYWORDS = set('auto break case char const continue default do double else enum extern float for goto if inline int long register '
               'restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Generic '
               '_Static_assert _Alignof _Atomic __attribute__ __attribute __typeof__ typeof __asm__ asm __extension__ __inline '
               '__inline__ __volatile__ defined __declspec __alignof__ alignof __has_attribute __has_include'.split())
LEX = re.compile(r'(?P<ws>[ \t\f\v\r]+|\\\r?\n)|(?P<nl>\n)|(?P<com>/\*.*?\*/|//(?:\\\n|[^\n])*)|(?P<str>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
                 r'|(?P<id>[A-Za-z_$][\w$]*)|(?P<num>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<op>->|.)', re.S | re.A)
DEFKIND = {K.FUNCTION_DECL: 'function', K.STRUCT_DECL: 'type', K.UNION_DECL: 'type', K.ENUM_DECL: 'enum', K.TYPEDEF_DECL: 'type',
           K.FIELD_DECL: 'field', K.ENUM_CONSTANT_DECL: 'const', K.VAR_DECL: 'var', K.PARM_DECL: 'param'}
TAGS = (K.STRUCT_DECL, K.UNION_DECL, K.ENUM_DECL)
REFKINDS = (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.MEMBER_REF, K.TYPE_REF)
TEST = re.compile(r'(^|/)(tests?|regress|fuzz|ossfuzz)/|(^|/)test_[^/]*$')
lib = ci.conf.lib


class RangeList(ctypes.Structure):
    _fields_ = [('count', ctypes.c_uint), ('ranges', ctypes.POINTER(ci.SourceRange))]


U = ctypes.POINTER(ctypes.c_uint)
lib.clang_getFileLocation.argtypes = [ci.SourceLocation, ctypes.POINTER(ci.c_object_p), U, U, U]
lib.clang_getAllSkippedRanges.argtypes = [ci.TranslationUnit]
lib.clang_getAllSkippedRanges.restype = ctypes.POINTER(RangeList)
lib.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(RangeList)]
lib.clang_Cursor_isMacroFunctionLike.argtypes = [ci.Cursor]

Tok = collections.namedtuple('Tok', 'kind text line col directive')


class Source:
    """One tracked file: its tokens; `directive` is the name of the preprocessor directive that contains a token, or None."""
    def __init__(self, path, text):
        self.path, self.lines, self.toks = path, text.split('\n'), []
        line, bol, directive, start = 1, True, None, 0
        for m in LEX.finditer(text):
            k, s, col = m.lastgroup, m.group(), m.start() - start
            if k == 'nl':
                bol, directive = True, None
            elif k not in ('ws', 'com'):
                if bol and s == '#':
                    directive = '#'
                elif directive == '#':
                    directive = s
                bol = False
                self.toks.append(Tok(k, s, line, col, directive))
            if '\n' in s:
                line += s.count('\n')
                start = m.start() + s.rindex('\n') + 1
        self.ids = {(t.line, t.col): i for i, t in enumerate(self.toks) if t.kind == 'id'}

    def text(self, i):
        return self.toks[i].text if 0 <= i < len(self.toks) else ''

    def match(self, i, step=1):
        """Index of the bracket that closes (step -1: opens) the one at i."""
        a, depth = self.text(i), 0
        b = dict(zip('([{)]}', ')]}([{'))[a]
        while 0 <= i < len(self.toks):
            depth += (self.text(i) == a) - (self.text(i) == b)
            if not depth:
                return i
            i += step
        return i

    def called(self, i):
        """Is the name at token i the callee of a written call: f(, (f)(, (*f)(, f[i]( ?"""
        i += 1
        while self.text(i) in (')', '['):
            i = self.match(i) + 1 if self.text(i) == '[' else i + 1
        return self.text(i) == '('

    def functions(self, lo, hi):
        """Function definitions at brace depth 0 among the tokens lo..hi, by shape: yields (name token, start line, end line, static)."""
        i = begin = lo
        while i < hi:
            t = self.toks[i]
            if t.directive:
                begin = i + 1
            elif t.text == ';':
                begin = i + 1
            elif t.text == '{':
                i = self.match(i)
                begin = i + 1
            elif t.kind == 'id' and t.text not in KEYWORDS and self.text(i + 1) == '(':
                j = self.match(i + 1)
                if self.text(j + 1) == '{' and j + 1 < hi:
                    end = min(self.match(j + 1), len(self.toks) - 1)
                    yield t, self.toks[begin].line, self.toks[end].line, any(self.text(k) == 'static' for k in range(begin, i))
                i = j
            i += 1


class Maker:
    def __init__(self, a):
        self.a, self.root = a, os.path.realpath(a.build) + '/'
        names = subprocess.check_output(['git', '-C', a.src, 'ls-files', '-z', '*.c', '*.h'], text=True).split('\0')
        self.src = {p: Source(p, open(self.root + p, encoding='latin-1', newline='').read()) for p in sorted(filter(None, names))}
        self.defs = {}                                     # (path, line, col) -> record
        self.refs = collections.defaultdict(set)           # (path, line, col) -> {(key, visible)}
        self.typerefs = set()
        self.calls = collections.defaultdict(set)          # position -> {(key, visible, how)}; how: call, local, pointer
        self.callinfo = {}                                 # position -> (expr_line, recv)
        self.macros = collections.defaultdict(set)         # position of a macro use -> {key or None}
        self.fnlike = set()                                # positions of uses of function-like macros
        self.spans = collections.defaultdict(set)          # path -> spans of macro uses with arguments
        self.alt = collections.defaultdict(set)            # macro position -> keys of functions that its body calls
        self.syscalls = set()                              # function names that headers outside the repository declare
        self.seen, self.skip = set(), {}                   # header declarations taken in; path -> lines no unit compiles
        self.includes = set()
        self.log = collections.Counter()

    # ---- reading the compiler's answers -------------------------------------------------------------------------------
    def loc(self, l):
        """(tracked path or None, line, column 0-based) of the place where the token is written; path False: under the build
        copy but not tracked (generated)."""
        f, line, col, off = ci.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        lib.clang_getFileLocation(l, ctypes.byref(f), ctypes.byref(line), ctypes.byref(col), ctypes.byref(off))
        if not f:
            return None, 0, 0
        h = ctypes.cast(f, ctypes.c_void_p).value
        if h not in self.fcache:
            self.fcache[h] = self.rel(str(lib.clang_getFileName(ci.File(f))))
        return self.fcache[h], line.value, col.value - 1

    def rel(self, name):
        p = os.path.realpath(os.path.join(self.cwd, name))
        if not p.startswith(self.root):
            return None
        return p[len(self.root):] if p[len(self.root):] in self.src else False

    def written(self, pos, name):
        """Token index if `name` is really written at that place of a tracked file."""
        if not pos[0]:
            return None
        i = self.src[pos[0]].ids.get(pos[1:])
        return i if i is not None and self.src[pos[0]].toks[i].text == name else None

    def key(self, d):
        """(symbol, position of its definition if visible in this translation unit)."""
        c = self.kcache.get(d.hash)
        if c:
            return c
        k, name = d.kind, d.spelling
        if k == K.FUNCTION_DECL or (k == K.VAR_DECL and d.linkage in (LinkageKind.EXTERNAL, LinkageKind.UNIQUE_EXTERNAL)):
            df = d.get_definition()
            static = d.linkage == LinkageKind.INTERNAL
            r = ((k == K.FUNCTION_DECL and 'f' or 'v', static and self.loc(d.canonical.location)[0] or '', name),
                 df and self.loc(df.location)[0] and self.loc(df.location) or None)
            if static and not r[0][1]:
                r = (('x', '', name), None)               # a static function of a system header
        elif k in TAGS:
            df = d.get_definition()
            p = self.loc((df or d.canonical).location)
            r = (('l',) + p if df and p[0] else ('x', '', name) if df or p[0] is None else ('T', '', name), None)
        else:
            p = self.loc(d.canonical.location)
            r = (('l',) + p if p[0] else ('x', '', name), None)
        self.kcache[d.hash] = r
        return r

    def define(self, c, infn):
        name, pos = c.spelling, self.loc(c.location)
        i = self.written(pos, name) if name else None
        start, end = self.loc(c.extent.start), self.loc(c.extent.end)
        viamacro = self.inmacro(c.location, pos)
        if i is None:                                      # not written there, unless a function whose name is a macro: #define getopt BSDgetopt
            if not pos[0] or c.kind != K.FUNCTION_DECL or not c.is_definition() or end[0] != pos[0] or end[1] <= pos[1] or pos[1:] not in self.src[pos[0]].ids:
                return
            i = self.src[pos[0]].ids[pos[1:]]
            name, viamacro = self.src[pos[0]].toks[i].text, True
        kind, isdef, key = DEFKIND[c.kind], True, self.key(c)[0]
        if c.kind == K.FUNCTION_DECL:
            isdef = c.is_definition()
        elif c.kind in TAGS and not c.is_definition():
            if self.src[pos[0]].text(i + 1) != ';':        # a mere mention, `struct foo *x`
                return
            isdef, key = False, ('T', '', name)
        elif c.kind == K.VAR_DECL:
            isdef = c.storage_class != ci.StorageClass.EXTERN
            infn = infn and c.linkage == LinkageKind.NO_LINKAGE or infn and c.storage_class == ci.StorageClass.STATIC
        if kind in ('function', 'type', 'enum') and (not isdef or viamacro):
            kind = 'function?' if kind == 'function' else 'type?'
        old = self.defs.get(pos)
        if old and (old['isdef'] or not isdef):
            old['build'] |= self.inbuild
            return
        self.defs[pos] = dict(name=name, kind=kind, key=key, isdef=isdef, build=self.inbuild, local=bool(infn), body=c.kind == K.FUNCTION_DECL and isdef,
                              tag=c.kind in TAGS, start=start[1] if start[0] == pos[0] and start[1] <= pos[1] else pos[1],
                              end=end[1] if end[0] == pos[0] and end[1] >= pos[1] else pos[1])

    def inmacro(self, l, pos):
        return (l.line, l.column - 1) != pos[1:]           # python's line and column are those of the macro use

    def refer(self, c):
        d = c.referenced
        if d is None or d.kind not in DEFKIND:
            return
        pos = self.loc(c.location)
        if self.written(pos, d.spelling) is not None:
            self.refs[pos].add(self.key(d))
            if c.kind == K.TYPE_REF:
                self.typerefs.add(pos)

    def call(self, c):
        e = next(c.get_children(), None)
        while e is not None and e.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.UNARY_OPERATOR, K.ARRAY_SUBSCRIPT_EXPR, K.CSTYLE_CAST_EXPR):
            kids = [x for x in e.get_children() if x.kind.is_expression()]
            e = kids[0] if kids else None
        if e is None or e.kind not in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR) or e.referenced is None:
            self.log['calls without a named callee'] += 1
            return
        d, pos = e.referenced, self.loc(e.location)
        if not pos[0]:
            return
        key, visible = self.key(d)
        i = self.written(pos, d.spelling)
        if pos in self.macros or i is None:                # only in a macro's body
            if d.kind == K.FUNCTION_DECL:
                self.alt[pos].add(key)
            return
        s = self.src[pos[0]]
        if not s.called(i):                                # a name handed to a macro that calls it
            self.log['callee name handed to a macro'] += 1
            return
        how = 'call' if d.kind == K.FUNCTION_DECL else 'local' if d.kind == K.PARM_DECL or d.kind == K.VAR_DECL and d.semantic_parent.kind == K.FUNCTION_DECL else 'pointer'
        self.calls[pos].add((key, visible, how))
        b, recv = self.loc(c.extent.start), None
        if b[0] != pos[0] or b[1:] > pos[1:]:
            b = pos
        if e.kind == K.MEMBER_REF_EXPR:
            t = s.lines[pos[1] - 1][b[2]:pos[2]].strip().rstrip('->.').lstrip('(*').strip() if b[1] == pos[1] else ''
            recv = t or '?'
        self.callinfo[pos] = (b[1], recv)

    def walk(self, c, fn):
        k = c.kind
        if k in DEFKIND:
            if k != K.PARM_DECL or fn:
                self.define(c, fn if k != K.FUNCTION_DECL else False)
            if k == K.FUNCTION_DECL:
                fn = c.is_definition()
        elif k in REFKINDS:
            self.refer(c)
        elif k == K.CALL_EXPR:
            self.call(c)
        for x in c.get_children():
            self.walk(x, fn)

    def unit(self, path, cwd, flags, inbuild):
        """Parse one file and record its facts; False if it does not compile."""
        self.cwd, self.inbuild, self.fcache, self.kcache = cwd, inbuild, {}, {}
        t = self.index.parse(path, args=flags + ['-resource-dir', self.a.resource_dir, '-w', '-ferror-limit=0', '-working-directory=' + cwd],
                             options=TU.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [d for d in t.diagnostics if d.severity >= 3]
        if errors:
            print('%s %s: %d errors, first: %s' % ('BUILD FILE' if inbuild else 'not compiled:', os.path.relpath(path, self.root), len(errors), errors[0]), file=sys.stderr)
            if not inbuild:
                return False
        main, rest = self.rel(path), []
        for c in t.cursor.get_children():
            k = c.kind
            if k == K.MACRO_DEFINITION:
                pos = self.loc(c.location)
                if self.written(pos, c.spelling) is not None and pos not in self.defs:
                    self.defs[pos] = dict(name=c.spelling, kind='macro' if lib.clang_Cursor_isMacroFunctionLike(c) else 'const', key=('l',) + pos, isdef=True,
                                          build=inbuild, local=False, body=False, tag=False, start=pos[1], end=self.loc(c.extent.end)[1])
            elif k == K.MACRO_INSTANTIATION:
                pos = self.loc(c.location)
                if self.written(pos, c.spelling) is not None:
                    d = c.referenced
                    dp = self.loc(d.location) if d is not None else (None,)
                    self.macros[pos].add(('l',) + dp if dp[0] else None)
                    end = self.loc(c.extent.end)
                    if end[0] == pos[0] and end[1:] > (pos[1], pos[2] + len(c.spelling)):
                        self.spans[pos[0]].add((pos[1:], end[1:]))
                    if d is not None and lib.clang_Cursor_isMacroFunctionLike(d):
                        self.fnlike.add(pos)
            elif k == K.INCLUSION_DIRECTIVE:
                pos, f = self.loc(c.location), c.get_included_file()
                if pos[0] and f is not None:
                    self.includes.add((pos[0], pos[1], c.spelling, self.rel(f.name) or None))
            else:
                rest.append(c)
        for c in rest:
            pos = self.loc(c.location)
            if not pos[0]:
                if pos[0] is None and c.kind == K.FUNCTION_DECL:
                    self.syscalls.add(c.spelling)
                continue
            if pos[0] != main:                             # a header's declaration: once is enough
                sig = (c.kind.value, c.spelling, pos, self.loc(c.extent.start), self.loc(c.extent.end))
                if sig in self.seen:
                    continue
                self.seen.add(sig)
            self.walk(c, False)
        here = {main} | {self.rel(i.include.name) for i in t.get_includes()}
        skipped = collections.defaultdict(set)
        rl = lib.clang_getAllSkippedRanges(t)
        for r in rl.contents.ranges[:rl.contents.count]:
            b, e = self.loc(r.start), self.loc(r.end)
            if b[0]:
                skipped[b[0]].update(range(b[1] + 1, e[1]))
        lib.clang_disposeSourceRangeList(rl)
        for p in here:
            if p:
                self.skip[p] = self.skip[p] & skipped[p] if p in self.skip else skipped[p]
        return True

    # ---- the build ----------------------------------------------------------------------------------------------------
    def commands(self):
        """(source, directory, flags) from the make log, once per source."""
        cwd, out = [self.root], {}
        for l in open(self.a.make_log):
            m = re.match(r"make(?:\[\d+\])?: (Entering|Leaving) directory '(.*)'", l)
            if m:
                cwd = cwd + [m[2]] if m[1] == 'Entering' else cwd[:-1]
                continue
            if not re.search(r' -c ', l) or not re.search(r'\.c\b', l):
                continue
            try:
                w = shlex.split(re.sub(r'&&\s*\\?$', '', re.sub(r'`[^`]*`', '', l)))
            except ValueError:
                continue
            flags, srcs = [], [x for x in w if x.endswith('.c') and not x.startswith('-')]
            for x, y in zip(w, w[1:] + ['']):
                if re.match(r'-[DIU].|-std=|-iquote.|-isystem.', x):
                    flags.append(x)
                elif x in ('-I', '-D', '-U', '-include', '-isystem', '-iquote'):
                    flags += [x, y]
            if srcs:
                out.setdefault(os.path.realpath(os.path.join(cwd[-1], srcs[-1])), (cwd[-1], flags))
        return out

    def compile(self):
        self.index = ci.Index.create()
        cmds = self.commands()
        for p, (cwd, flags) in sorted(cmds.items()):
            self.unit(p, cwd, flags, True)
        self.log['build units'] = len(cmds)
        self.extra, self.uncompiled = [], []
        for p in self.src:
            full = self.root + p
            if p.endswith('.c') and full not in cmds and p not in self.skip:
                near = max(cmds, key=lambda q: (len(os.path.commonpath([q, full])), q))
                (self.extra if self.unit(full, cmds[near][0], cmds[near][1] + ['-I' + os.path.dirname(full)], False) else self.uncompiled).append(p)
        self.uncompiled += [p for p in self.src if p not in self.skip and p not in self.uncompiled]
        for p in self.uncompiled:
            self.skip[p] = set(range(1, len(self.src[p].lines) + 2))

    # ---- what the compiler did not see ----------------------------------------------------------------------------------
    def scan(self):
        """Definitions in inactive regions and uncompiled files, by shape; and the `name(` left over anywhere."""
        bodies = collections.defaultdict(list)
        for (p, l, _), d in self.defs.items():
            if d['body']:
                bodies[p].append((d['start'], d['end']))
        self.unindexed, self.leftover = set(), {}
        for p, s in self.src.items():
            inactive, run = self.skip[p], []
            infn = {l for a, b in bodies[p] for l in range(a, b + 1)}
            for i, t in enumerate(s.toks + [Tok('op', '', -1, 0, None)]):
                if t.line in inactive and t.line not in infn:
                    run.append(i)
                elif run:
                    for n, start, end, static in s.functions(run[0], run[-1] + 1):
                        self.defs.setdefault((p, n.line, n.col), dict(name=n.text, kind='function?', key=('f', p if static else '', n.text), isdef=True, build=None,
                                                                      local=False, body=True, tag=False, start=start, end=end))
                    run = []
                isdefine = t.directive == 'define' and s.text(i - 1) == 'define'
                if t.kind != 'id' or t.text in KEYWORDS and not isdefine:
                    continue
                pos = (p, t.line, t.col)
                if t.line in inactive:
                    self.unindexed.add((p, t.line, t.text))
                    if isdefine:
                        self.defs.setdefault(pos, dict(name=t.text, kind='macro?', key=('m', p, t.text), isdef=True, build=None, local=False, body=False, tag=False,
                                                       start=t.line, end=t.line))
                if s.text(i + 1) != '(' or isdefine or t.directive not in (None, 'define') or pos in self.defs or pos in self.calls or pos in self.macros:
                    continue
                if pos in self.typerefs or s.text(i - 1) in ('struct', 'union', 'enum'):
                    continue
                self.leftover[pos] = 'macro body' if t.directive else 'inactive' if t.line in inactive else 'active'

    # ---- putting it together ----------------------------------------------------------------------------------------------
    def resolve(self, key, visible):
        """(status, ids) of a symbol."""
        ids = self.groups.get(key, [])
        if key[0] == 'f':
            real = [self.D[i] for i in ids if self.D[i]['isdef']]
            name = key[2]
            if any(d['build'] for d in real) or real and (visible or name not in self.syscalls):
                if visible and sum(bool(d['build']) for d in real) > 1:      # one of several programs' own
                    ids = [i for i in ids if not self.D[i]['build'] or not self.D[i]['isdef'] or self.pos[i] == visible]
                return 'internal', ids
            if real or ('m', name) in self.maybe:
                return 'unresolved', []                    # libc's here, the repository's elsewhere
            return ('external', []) if not ids or name in self.syscalls else ('noncallable', ids)
        if key[0] == 'T':
            ids = sorted(set(ids + self.tags.get(key[2], [])), key=lambda i: (not self.D[i]['isdef'], i))
        elif key[0] == 'l' and ids and self.D[ids[0]]['tag']:
            ids = ids + self.groups.get(('T', '', self.D[ids[0]]['name']), [])
        return ('internal', ids) if ids else ('external', [])

    def macro(self, key, name):
        ids = self.groups.get(key, []) if key else []
        if ids:
            return 'internal', ids + self.groups.get(('m', key[1], name), [])
        return ('unresolved', []) if ('m', name) in self.maybe or self.groups.get(('f', '', name)) else ('external', [])

    @staticmethod
    def best(found):
        """One answer from those of several translation units."""
        order = ['internal', 'noncallable', 'local', 'unresolved', 'external']
        st, ids = min((s for s, _ in found), key=order.index), []
        for s, i in sorted(found):
            if s == st:
                ids += [x for x in i if x not in ids]
        return st, ids

    def build(self):
        self.D, self.pos, defs = [], sorted(self.defs), []
        for (p, l, c), d in sorted(self.defs.items()):
            defs.append(dict(id=len(defs), path=p, line=l, col=c, name=d['name'], kind=d['kind'], start_line=d['start'], end_line=d['end'], local=d['local'],
                             sym=':'.join(map(str, d['key'])), test=bool(TEST.search(p))))
            self.D.append(d)
        self.groups, self.tags = collections.defaultdict(list), collections.defaultdict(list)
        rank = lambda i: (not self.D[i]['isdef'], not self.D[i]['build'], self.D[i]['build'] is None, i)
        for i in sorted(range(len(defs)), key=rank):
            self.groups[self.D[i]['key']].append(i)
            if self.D[i]['tag'] and self.D[i]['isdef']:
                self.tags[self.D[i]['name']].append(i)
        self.maybe = {('m', d['name']) for d in self.D if d['kind'] == 'macro?'}
        fns, spans = collections.defaultdict(list), {}
        for i, d in enumerate(self.D):
            if d['body']:
                fns[defs[i]['path']].append((d['start'], d['end'], defs[i]['line'], d['name']))
        for p, ss in self.spans.items():                   # outermost macro uses only
            out = []
            for b, e in sorted(ss):
                if not out or b >= out[-1][1]:
                    out.append((b, e))
            spans[p] = out
        for v in fns.values():
            v.sort()

        def site(pos, kind, status, targets, alt=(), body=False):
            p, l, c = pos
            f = next((f for f in fns[p] if f[0] <= l <= f[1]), None)
            sp = spans.get(p, [])
            j = bisect.bisect_left(sp, ((l, c),)) - 1
            expr, recv = self.callinfo.get(pos, (l, None)) if kind == 'call' else (l, None)
            s = self.src[p]
            if recv is None and kind == 'call' and s.text(s.ids[(l, c)] - 1) in ('->', '.'):
                recv = '?'
            return dict(path=p, line=l, expr_line=expr, col=c, name=s.toks[s.ids[(l, c)]].text, kind=kind, recv=recv,
                        in_macro=body or j >= 0 and sp[j][0] < (l, c) < sp[j][1], status=status, targets=targets, alt=sorted(set(alt) - set(targets)),
                        from_line=f[2] if f else 0, from_start=f[0] if f else 0, from_name=f[3] if f else '<module>', from_chain=[f[2]] if f else [], test=bool(TEST.search(p)))

        sites, refs = [], []
        for pos, cands in self.calls.items():
            if pos in self.macros:
                self.log['position both call and macro use'] += 1
                continue
            found = []
            for key, visible, how in cands:
                st, ids = self.resolve(key, visible)
                found.append((st if how == 'call' or st == 'external' else 'local' if how == 'local' else 'noncallable', ids))
            sites.append(site(pos, 'call', *self.best(found)))
        for pos, keys in self.macros.items():
            s = self.src[pos[0]]
            i = s.ids[pos[1:]]
            name = s.toks[i].text
            st, ids = self.best([self.macro(k, name) for k in keys])
            r = dict(path=pos[0], line=pos[1], col=pos[2], name=name, status=st, defs=ids, role='ref')
            refs.append(dict(r, local=False) if ids else r)
            if s.text(i + 1) == '(' and not s.toks[i].directive and pos not in self.defs:
                if pos not in self.fnlike:
                    self.log['object-like macro before a parenthesis'] += 1
                sites.append(site(pos, 'macro', st, ids, [x for k in self.alt.get(pos, ()) for x in self.groups.get(k, [])]))
        for pos, why in self.leftover.items():
            self.log['unresolved by token scan: ' + why] += 1
            builtin = why == 'active' and re.match('__(atomic|sync|builtin)_', self.src[pos[0]].toks[self.src[pos[0]].ids[pos[1:]]].text)
            sites.append(site(pos, 'call', 'external' if builtin else 'unresolved', [], body=why == 'macro body'))
        for pos, cands in self.refs.items():
            if pos in self.macros:
                continue
            st, ids = self.best([self.resolve(*k) for k in cands])
            st = 'internal' if st == 'noncallable' else st
            s = self.src[pos[0]]
            r = dict(path=pos[0], line=pos[1], col=pos[2], name=s.toks[s.ids[pos[1:]]].text, status=st, defs=ids, role='ref')
            refs.append(dict(r, local=all(self.D[i]['local'] or self.D[i]['kind'] == 'param' for i in ids)) if ids else r)
        for d in defs:
            d['local'] |= d['kind'] == 'param'
        order = lambda x: (x['path'], x['line'], x['col'])
        sites.sort(key=order)
        refs.sort(key=order)
        edges = []
        for x in sites:
            if x['status'] == 'internal':
                d = defs[x['targets'][0]]
                edges.append(dict(from_path=x['path'], from_line=x['from_line'], from_name=x['from_name'], to_path=d['path'], to_line=d['line'], to_name=d['name'],
                                  to_kind=d['kind'], site_line=x['line'], site_col=x['col'], kind=x['kind']))
        imports = [dict(path=p, line=l, name=n, to_path=t or '') for p, l, n, t in sorted(self.includes, key=lambda x: x[:3])]
        unindexed = [dict(path=p, line=l, start_line=max(1, l - 1), name=n, kind='?') for p, l, n in sorted(self.unindexed)]
        commit = subprocess.check_output(['git', '-C', self.a.src, 'rev-parse', 'HEAD'], text=True).strip()
        files = sorted(self.src)
        meta = dict(repo=self.a.name, commit=commit, language='c', indexer='truth_c.py (libclang %s)' % self.a.clang, files=len(files), defs=len(defs),
                    defs_nonlocal=sum(not d['local'] for d in defs), callable_defs=sum(d['kind'] in ('function', 'macro', 'function?') for d in defs), refs=len(refs),
                    refs_internal=sum(r['status'] == 'internal' for r in refs), refs_internal_nonlocal=sum(r['status'] == 'internal' and not r['local'] for r in refs),
                    refs_external=sum(r['status'] == 'external' for r in refs), call_sites=len(sites), site_status=dict(collections.Counter(x['status'] for x in sites)),
                    edges=len(edges), edge_pairs=len({(x['path'], x['from_line'], min(x['targets'])) for x in sites if x['status'] == 'internal'}), imports=len(imports),
                    import_file_edges=len({(p, t) for p, _, _, t in self.includes if t and t != p}), syntactic_defs_without_index=len(unindexed),
                    notes=dict(extra_units=self.extra, uncompiled=self.uncompiled, inactive_lines=sum(map(len, self.skip.values())), log=dict(self.log)))
        return dict(meta=meta, files=files, defs=defs, refs=refs, sites=sites, edges=edges, imports=imports,
                    import_file_edges=sorted([p, t] for p, t in {(p, t) for p, _, _, t in self.includes if t and t != p}), unindexed_defs=unindexed)

    def report(self, t):
        print(json.dumps({k: v for k, v in t['meta'].items()}, indent=1))
        print('definitions', dict(collections.Counter(d['kind'] for d in t['defs'])))
        print('sites', {'%s %s' % k: v for k, v in sorted(collections.Counter((x['kind'], x['status']) for x in t['sites']).items())})
        print('in macro arguments or bodies', sum(x['in_macro'] for x in t['sites']))
        bad = [x for x in t['sites'] if x['status'] != 'unresolved' and x['line'] in self.skip[x['path']]]
        print('judged sites on lines held for inactive (should be none):', len(bad), bad[:3])
        print('external functions with several compiled definitions:', [k[2] for k, v in self.groups.items() if k[:2] == ('f', '') and sum(bool(self.D[i]['build'] and self.D[i]['isdef']) for i in v) > 1])
        print('calls of libc that the repository may replace:', collections.Counter(x['name'] for x in t['sites'] if x['status'] == 'unresolved' and (x['path'], x['line'], x['col']) not in self.leftover).most_common(40))
        print('functions with a prototype only:', collections.Counter(x['name'] for x in t['sites'] if x['status'] == 'noncallable' and t['defs'][x['targets'][0]]['kind'] == 'function?').most_common(20))
        print('unexplained `name(` in compiled code:')
        for (p, l, c), why in sorted(self.leftover.items()):
            if why == 'active':
                print('  %s:%d:%d %s' % (p, l, c, self.src[p].lines[l - 1].strip()[:110]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for x in ('name', 'src', 'build', 'make-log', 'out'):
        p.add_argument('--' + x, required=True)
    p.add_argument('--resource-dir', default=(sorted(glob.glob('/usr/lib/llvm-*/lib/clang/*')) or [''])[-1])
    p.add_argument('--clang', default='18.1.1', help='version of libclang, for the record')
    p.add_argument('--report', action='store_true')
    a = p.parse_args()
    sys.setrecursionlimit(20000)
    m = Maker(a)
    m.compile()
    m.scan()
    t = m.build()
    with gzip.GzipFile(a.out, 'wb', mtime=0) as f:
        f.write(json.dumps(t, separators=(',', ':')).encode())
    if a.report:
        m.report(t)


if __name__ == '__main__':
    main()

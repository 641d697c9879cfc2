"""What makes a repository hostile: each feature is a function of a repository and a generator that adds one thing to it."""

import os
import pathlib
import socket
import stat
import struct
import threading
import time
import zlib

from hostile import objects

FEATURES = {}
FILES_OF_GIT = ["HEAD", "config", "packed-refs", "index", "objects/info/alternates", "commondir", "refs/heads/main", "info/exclude",
    "shallow", "FETCH_HEAD", "info/attributes", "config.worktree", "objects/info/commit-graph", "refs/heads/pipe"]
FILES_OF_TREE = [".gitignore", ".ignore", ".gitattributes", ".codecompass/config.toml", ".codecompassignore", ".gitmodules",
    "src/a.py", "Cargo.toml", "package.json", "go.mod", "tsconfig.json", "compile_commands.json"]


def feature(function):
    FEATURES[function.__name__] = function
    return function


def variants(kinds):
    """Makes a feature of each kind; the function gets it as its third argument."""
    def register(function):
        for kind in kinds:
            FEATURES[f"{function.__name__}_{kind.replace(' ', '_').replace('/', '_')}"] = lambda repository, rng, kind=kind: function(repository, rng, kind)
        return function
    return register


def name_of(rng):
    return f"{rng.getrandbits(160):040x}"


def put(path, content):
    """Writes a file; a folder or file that is in the way is replaced."""
    path = pathlib.Path(path)
    # Another feature may have put a link in the place of the folder; the generator itself must not write through it.
    if path.parent.is_symlink():
        path.parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.exists():
        path.unlink()
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


# Objects

@feature
def tree_bomb(repository, rng):
    """A few trees that are shared by each other: 10^9 paths and more."""
    tree = repository.store.tree([("100644", f"f{at}.py", repository.blob) for at in range(10)])
    for _ in range(rng.choice([6, 10, 40])):
        tree = repository.store.tree([("40000", f"d{at}", tree) for at in range(rng.choice([10, 10, 1000]))])
    repository.ref("bomb", repository.store.commit(tree))


@feature
def deep_tree(repository, rng):
    tree = repository.store.tree([("100644", "f.py", repository.blob)])
    for _ in range(rng.choice([500, 3000, 10_000])):
        tree = repository.store.tree([("40000", rng.choice(["d", "a" * 200]), tree)])
    repository.ref("deep", repository.store.commit(tree))


@feature
def wide_tree(repository, rng):
    names = [f"f{at:06}" + "x" * rng.choice([0, 0, 200]) + ".py" for at in range(rng.choice([5000, 60_000]))]
    tree = repository.store.tree([("100644", name, repository.blob) for name in names])
    repository.ref("wide", repository.store.commit(tree))


@feature
def odd_names(repository, rng):
    """Names that no work tree can have, or that mean something else there."""
    odd = [
        b"..", b".", b".git", b".GIT", b"git~1", b"/etc/passwd", b"../../secret/secret", b"a\nb.py", b"a\x1b[31m.py",
        b"\xff\xfe.py", b"", b"x" * 5000 + b".py", b"a/b.py", b"CON", b"a:b.py", b"A.py", b"a.py", b"a.py",
        "e\u0301.py".encode(), "é.py".encode(), "\u202egp.py".encode(), b" .py", b"-rf.py", b"\\..\\x.py",
        b"<script>hostile</script>.py", b"$(touch x).py", b"`x`.py", b".codecompass", b"x" * 70_000,
    ]
    rng.shuffle(odd)
    inner = repository.store.tree([("100644", b"config", repository.blob), ("100644", b"x.py", repository.blob)])
    entries = [(rng.choice(["100644", "100755", "120000"]), name, repository.blob) for name in odd]
    entries += [("40000", name, inner) for name in (b"..", b".git", b"...", b"a", b"nul")]
    repository.ref("names", repository.store.commit(repository.store.tree(entries)))


@feature
def odd_modes(repository, rng):
    modes = ["0", "1", "777", "100777", "40755", "160000", "120000", "100644", "0100644", "99999999999", "ffff", "", "-1",
        "37777777777"]
    entries = [(mode, f"m{at}.py", rng.choice([repository.blob, repository.first])) for at, mode in enumerate(modes)]
    repository.ref("modes", repository.store.commit(repository.store.tree(entries)))


@feature
def missing_objects(repository, rng):
    store, away = repository.store, name_of(rng)
    repository.ref("no-tree", store.commit(away))
    repository.ref("no-blob", store.commit(store.tree([("100644", "a.py", away), ("40000", "d", away), ("160000", "s", away)])))
    repository.ref("no-parent", store.commit(repository.tree, [away]))
    repository.ref("no-commit", away)
    repository.ref("blob", repository.blob)
    repository.ref("tree", repository.tree)


@feature
def circles(repository, rng):
    """Objects that are filed under a wrong hash, so that they contain themselves."""
    store = repository.store
    tree, commit, tag, other = (name_of(rng) for _ in range(4))
    store.tree([("40000", "d", tree), ("100644", "f.py", repository.blob)], tree)
    repository.ref("circle-tree", store.commit(tree))
    store.commit(repository.tree, [commit], name=commit)
    repository.ref("circle-commit", commit)
    store.commit(repository.tree, [other, commit], name=other)
    repository.ref("circle-both", other)
    store.tag(tag, "tag", tag)
    (store.folder / "refs/tags/circle").write_text(tag + "\n")
    repository.refs.append("circle")


@feature
def odd_commits(repository, rng):
    store = repository.store
    repository.ref("many-parents", store.commit(repository.tree, [repository.first] * rng.choice([100, 20_000])))
    repository.ref("long-message", store.commit(repository.tree, [repository.first], "m" * rng.choice([10_000, 5_000_000])))
    repository.ref("odd-head", store.commit(repository.tree, [repository.first],
        more="encoding \udcff\ngpgsig " + "x\n y" * 1000 + "\n"))
    repository.ref("no-commit-at-all", store.write("commit", rng.choice([b"", b"tree", b"tree " + b"0" * 40,
        os.urandom(0) + bytes(range(256)) * 100])))
    parent = repository.first
    for at in range(rng.choice([10, 2000])):
        parent = store.commit(repository.tree, [parent], f"c{at}")
    repository.ref("long", parent)
    tag = parent
    for _ in range(rng.choice([5, 3000])):
        tag = store.tag(tag, "tag")
    (store.folder / "refs/tags/tower").write_text(tag + "\n")
    repository.refs.append("tower")


@feature
def false_sizes(repository, rng):
    """Heads that claim another size, and streams that unpack to very much."""
    store = repository.store
    huge = store.write("blob", b"def a(): pass\n", size=rng.choice([0, 1, 10**9, 10**15, 10**30, -5]))
    kind = store.write("blub", b"x")
    big = 400_000_000
    head, packer = f"blob {big}\0".encode(), zlib.compressobj(9)
    name = name_of(rng)
    path = store.folder / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        file.write(packer.compress(head))
        for _ in range(big // 4_000_000):
            file.write(packer.compress(bytes(4_000_000)))
        file.write(packer.flush())
    entries = [("100644", "a.py", huge), ("100644", "b.py", kind), ("100644", "bomb.py", name)]
    repository.ref("sizes", store.commit(store.tree(entries)))
    tree = name_of(rng)
    store.write("tree", b"40000 d\0" + bytes(19), tree, size=rng.choice([5, 10**12]))
    repository.ref("size-of-tree", store.commit(tree))


@variants(["bomb", "chain", "circle", "lie", "claims", "zlib"])
def deltas(repository, rng, kind):
    """Packs whose deltas are bombs, chains, circles or lies."""
    store = repository.store
    base = b"x" * 0xFFFFFF
    first, second = name_of(rng), name_of(rng)
    if kind == "bomb":
        count = 300
        content = objects.delta(len(base), len(base) * count, objects.copy(0, 0xFFFFFF) * count)
        rows = [(first, "blob", None, base, None), (second, "ref-delta", first, content, None)]
    elif kind == "chain":
        rows, last = [(first, "blob", None, b"a" * 100, None)], first
        for _ in range(rng.choice([100, 20_000])):
            second = name_of(rng)
            rows.append((second, "ref-delta", last, objects.delta(100, 100, objects.copy(0, 100)), None))
            last = second
    elif kind == "circle":
        content = objects.delta(100, 100, objects.copy(0, 100))
        rows = [(first, "ref-delta", second, content, None), (second, "ref-delta", first, content, None),
            (name_of(rng), "ofs-delta", 0, content, None)]
    elif kind == "lie":
        commands = rng.choice([objects.copy(2**32 - 1, 0xFFFFFF), b"\x00", b"\x7fabc", objects.copy(0, 50), b""])
        size = rng.choice([0, 10, 2**40, 2**63 - 1])
        rows = [(first, "blob", None, b"a" * 100, None), (second, "ref-delta", first,
            objects.delta(rng.choice([100, 0, 2**40]), size, commands), rng.choice([None, 2**40, 2**62]))]
    elif kind == "claims":
        rows = [(first, "blob", None, b"abc", rng.choice([2**33, 2**50, 2**62, 0])),
            (second, rng.choice(["tree", "commit"]), None, b"abc", 2**40)]
    else:
        rows = [(first, "blob", None, bytes(300_000_000), None), (second, "blob", None, b"abc", None)]
    is_damaged = rng.random() < 0.3
    cut = rng.choice([None, 40, 12, 0]) if is_damaged else None
    store.pack(rows, claims=rng.choice([None, 2**32 - 1, 0]) if is_damaged else None, cut=cut, wrong_sum=is_damaged)
    repository.ref("delta", store.commit(store.tree([("100644", "a.py", second), ("100644", "b.py", first)])))
    repository.ref("delta-tree", store.commit(second))
    repository.ref("delta-itself", second)


@feature
def damaged_git_files(repository, rng):
    """Files of git with bytes that mean nothing, or much."""
    folder = repository.store.folder
    noise = bytes(rng.getrandbits(8) for _ in range(2000))
    index = b"DIRC" + struct.pack(">II", rng.choice([2, 3, 4, 99]), rng.choice([0, 1, 2**32 - 1])) + noise
    graph = b"CGPH\x01\x01\xff\x00" + b"".join(name + struct.pack(">Q", rng.choice([0, 2**62, 50])) for name in (b"OIDF", b"OIDL",
        b"CDAT", b"EDGE")) + noise
    for name, content in {
        "index": index, "objects/info/commit-graph": graph, "objects/pack/multi-pack-index": b"MIDX\x01\x01\xff\x00" + struct.pack(">I", 2**32 - 1) + noise,
        "objects/pack/pack-x.idx": b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *([2**32 - 1] * 256)),
        "objects/pack/pack-x.pack": b"PACK" + noise, "shallow": noise,
        "logs/HEAD": b"0 " * 500_000, "config": rng.choice([b"[" * 100_000, b"[core]\n" * 200_000, b"[a \"" + b"\\" * 100_000,
            noise, b"[core]\n\tworktree = " + b"../" * 20_000]),
        "info/grafts": noise, "refs/replace/x": noise, "HEAD": rng.choice([noise, b"", b"ref: " + b"a/" * 50_000,
            b"ref: ../../secret/secret\n", b"ref: /etc/passwd\n", b"0" * 40 + b"\n", b"x" * 5_000_000]),
        "packed-refs": rng.choice([noise, b"# pack-refs with: sorted\n" + noise, b"^" * 100_000]),
    }.items():
        if rng.random() < 0.35:
            put(folder / name, content)


@feature
def refs(repository, rng):
    folder = repository.store.folder
    for at in range(rng.choice([10, 3000])):
        (folder / f"refs/heads/many{at}").write_text(rng.choice([repository.first, name_of(rng), "x", ""]) + "\n")
    for at in range(50):
        (folder / f"refs/heads/loop{at}").write_text(f"ref: refs/heads/loop{(at + 1) % 50}\n")
    (folder / "refs/heads/self").write_text("ref: refs/heads/self\n")
    (folder / "refs/heads/head").write_text("ref: HEAD\n")
    (folder / "refs/heads/out").write_text("ref: ../../../secret/secret\n")
    (folder / "refs/heads/absolute").write_text(f"ref: {repository.ground.secret}/secret\n")
    for name in ("a..b", "a b", "-x", "@", "a.lock", "x" * 200, "\u202e", "a\nb", "é", ".hidden", "a~1", "$(touch x)",
        "<script>hostile"):
        try:
            (folder / "refs/heads" / name).write_text(repository.first + "\n")
            repository.refs.append(name)
        except OSError:
            pass
    try:
        os.symlink(f"{repository.ground.secret}/secret", folder / "refs/heads/link")
        os.symlink("/dev/zero", folder / "refs/heads/endless")
        os.symlink("..", folder / "refs/heads/up")
    except OSError:
        pass
    if rng.random() < 0.5:
        lines = "".join(f"{name_of(rng)} refs/heads/packed{at:07}\n" for at in range(rng.choice([1000, 150_000])))
        put(folder / "packed-refs", "# pack-refs with: peeled fully-peeled sorted\n" + lines)
    repository.refs += ["loop0", "self", "head", "out", "absolute", "link", "endless", "up", "many0", "packed0000001"]


# Links, pipes and what else is no file

@feature
def links(repository, rng):
    root, secret = repository.root, repository.ground.secret
    for name, target in {
        "to-root": "/", "to-proc": "/proc", "to-dev": "/dev", "self": "self", "one": "two", "two": "one", "up": "..", "here": ".",
        "secret.py": f"{secret}/secret.py", "out": str(secret), "zero.py": "/dev/zero",
        "long": "a/" * 2000, "stdin.py": "/proc/self/fd/0", "mem.py": "/proc/self/mem", "src/in.py": "../../secret/secret.py",
        ".gitignore": f"{secret}/secret", ".codecompass": str(secret), "git": ".git",
    }.items():
        path = root / name
        if rng.random() < 0.7 and not os.path.lexists(path):
            path.parent.mkdir(exist_ok=True)
            os.symlink(target, path)
            repository.paths.append(name)
    repository.paths += ["secret.py", "out/secret.py", "src/in.py", "to-root/etc/passwd"]


@feature
def swapped(repository, rng):
    """Files and folders that become links to the outside and back while they are read."""
    root, secret = repository.root, repository.ground.secret
    (root / "swap").mkdir(exist_ok=True)
    for at in range(20):
        put(root / f"swap/f{at}.py", f"def swap_{at}(): pass\n")
    (root / "folder").mkdir(exist_ok=True)
    put(root / "folder/secret.py", "def inner(): pass\n")
    stop = threading.Event()

    def play():
        while not stop.is_set():
            for at in range(20):
                link, path = root / f".swap{at}", root / f"swap/f{at}.py"
                try:
                    os.symlink(secret / "secret.py", link)
                    os.rename(link, path)
                    put(root / f".plain{at}", f"def swap_{at}(): return {time.monotonic_ns()}\n")
                    os.rename(root / f".plain{at}", path)
                except OSError:
                    pass
            try:
                os.rename(root / "folder", root / ".folder")
                os.symlink(secret, root / "folder")
                time.sleep(0.0005)
                os.unlink(root / "folder")
                os.rename(root / ".folder", root / "folder")
            except OSError:
                pass

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    repository.ends.append(lambda: (stop.set(), thread.join(5)))
    repository.paths += ["swap/f0.py", "folder/secret.py"]


def special(path, rng):
    """Puts a pipe, a socket, a device, a folder, a link to something endless or a sparse file in the place of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path):
        if path.is_dir() and not path.is_symlink():
            return "folder"
        path.unlink()
    kind = rng.choice(["pipe", "pipe", "pipe", "socket", "device", "folder", "endless", "terminal", "sparse", "link to pipe",
        "unreadable"])
    try:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(path))
        elif kind == "device":
            os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(1, 5))
        elif kind == "folder":
            path.mkdir()
        elif kind == "endless":
            os.symlink("/dev/zero", path)
        elif kind == "terminal":
            os.symlink("/dev/tty", path)
        elif kind == "link to pipe":
            pipe = path.parent / "other-pipe"
            if not os.path.lexists(pipe):
                os.mkfifo(pipe)
            os.symlink("other-pipe", path)
        elif kind == "unreadable":
            put(path, "x")
            path.chmod(0)
        else:
            with open(path, "wb") as file:
                file.truncate(8 << 30)
    except OSError:
        kind += " (not made)"
    return kind


@variants(FILES_OF_GIT)
def pipe_at(repository, rng, name):
    """A pipe to which nobody writes in the place of a file of git."""
    path = repository.store.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@feature
def special_git_files(repository, rng):
    for name in rng.sample(FILES_OF_GIT, rng.choice([1, 1, 2, 4])):
        repository.notes.append(f".git/{name}: {special(repository.store.folder / name, rng)}")


@feature
def special_files(repository, rng):
    for name in rng.sample(FILES_OF_TREE, rng.choice([1, 2, 5])):
        repository.notes.append(f"{name}: {special(repository.root / name, rng)}")
        repository.paths.append(name)


@feature
def sparse_files(repository, rng):
    for name in rng.sample(["a.py", "b.rs", "data.json", "x.md", ".gitignore", "noext", "a.min.js"], 3):
        with open(repository.root / name, "ab") as file:
            file.truncate(rng.choice([1 << 20, (1 << 20) + 1, 20 << 20, 4 << 30, 1 << 40]))
        repository.paths.append(name)


@feature
def long_lines(repository, rng):
    line = rng.choice(["a", "a b ", "(", "é", "x = 1; ", "\"", "\t", "f(", "[1,", "a.b", "\x00"])
    put(repository.root / f"line.{rng.choice(repository.extensions)}", line * (rng.choice([100_000, 900_000]) // len(line)))
    put(repository.root / "lines.txt", "a" * 990_000)


@feature
def many_files(repository, rng):
    for at in range(rng.choice([500, 4000])):
        folder = repository.root / f"m{at % 37}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{at}.{rng.choice(repository.extensions)}").write_text(f"def many_{at}(): pass\n")


@feature
def deep_folders(repository, rng):
    name, depth = rng.choice([("d", 1500), ("d", 4000), ("x" * 250, 60), ("..." , 800)])
    here = os.open(repository.root, os.O_RDONLY)
    for _ in range(depth):
        try:
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_RDONLY, dir_fd=here)
        except OSError:
            break
        os.close(here)
        here = below
    file = os.open("deep.py", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(file, b"def deep(): pass\n")
    os.close(file)
    os.close(here)


@feature
def odd_file_names(repository, rng):
    for name in (b"a\nb.py", b"\x1b[31m.py", b"\xff\xfe.py", b"x" * 250 + b".py", b"A.py", b"a.py", "e\u0301.py".encode(),
        "é.py".encode(), "\u202egp.py".encode(), b" .py", b"-rf.py", b"\\.py", b"<script>hostile.py", b"$(touch x).py", b"a:b.py",
        b"%2e%2e.py", b"*.py", b"[a.py", b"{a.py", b"!a.py", b"#a.py"):
        try:
            with open(os.fsencode(repository.root) + b"/" + name, "wb") as file:
                file.write(b"def odd(): pass\n")
        except OSError:
            pass


# Settings

@variants(["nested", "patterns", "names", "attributes"])
def ignore_files(repository, rng, kind):
    patterns = [
        "*a" * 30 + "*b\n", "**/" * 200 + "x\n", "{a,b}" * 100 + "\n", "[" * 500 + "\n", "[a-z]" * 200 + "\n", "!" * 100 + "\n",
        "\\" * 99 + "\n", "a" * 10_000 + "\n", "x{y\n", "**/*a*b*c*d*e*f*g\n",
    ]
    folder, count = repository.root, 12 if kind == "nested" else rng.choice([1, 4])
    for _ in range(count):
        name = ".gitattributes" if kind == "attributes" else rng.choice([".gitignore", ".ignore"])
        size = 1_000_000 if kind == "nested" else rng.choice([1000, 100_000, 1_000_000])
        some = rng.choice(patterns)
        put(folder / name, some * (size // len(some) + 1) if kind == "patterns" else "".join(f"name{at}*\n" for at in range(size // 11)))
        folder = folder / "n"
        folder.mkdir(exist_ok=True)
        put(folder / "a.py", "def ignored_or_not(): pass\n")


SETTINGS = ["sections", "keys", "dotted", "header", "arrays", "tables", "same", "string", "patterns", "outside", "numbers", "noise",
    "deep sections"]


@variants(SETTINGS)
def settings(repository, rng, kind):
    texts = {
        "sections": lambda: "".join(f"[s{at}]\na = 1\n" for at in range(60_000)),
        "keys": lambda: "[index]\n" + "".join(f"k{at} = {at}\n" for at in range(100_000)),
        "dotted": lambda: ".".join(["a"] * 50_000) + " = 1\n",
        "header": lambda: "[" + ".".join(["a"] * 50_000) + "]\n",
        "arrays": lambda: "a = " + "[" * 100_000 + "]" * 100_000 + "\n",
        "tables": lambda: "a = " + "{a=" * 50_000 + "1" + "}" * 50_000 + "\n",
        "same": lambda: "[[a]]\n" * 200_000,
        "string": lambda: 'a = """' + "x" * 10_000_000 + '"""\n',
        "patterns": lambda: "[index]\nexclude = [" + ",".join('"' + "*a" * 20 + '"' for _ in range(20_000)) + "]\n",
        "outside": lambda: f'[index]\ninclude = ["{repository.ground.secret}/**", "../**", "/**"]\nroots = ["/"]\n[storage]\nhome = "{repository.ground.temporary}/x"\n[embedding]\ncommand = "{repository.canary}"\n',
        "numbers": lambda: "[index]\nmax_file_bytes = 99999999999999999999\n[query]\nlimit = -1\n[search]\nlimit = nan\n",
        "noise": lambda: bytes(rng.getrandbits(8) for _ in range(10_000)),
        "deep sections": lambda: "".join("[" + ".".join(["b"] * depth) + "]\n" for depth in range(1, 600)),
    }
    put(repository.root / ".codecompass/config.toml", texts[kind]())


@feature
def git_settings(repository, rng):
    """Settings of git that start programs, read other files or move the work tree. Nothing may run, nothing outside be read."""
    run, secret = repository.canary, repository.ground.secret
    lines = [
        f"[core]\n\tfsmonitor = {run}\n\thooksPath = {run.parent}\n\tsshCommand = {run}\n\tpager = {run}\n\teditor = {run}\n\taskPass = {run}\n\tgitProxy = {run}\n",
        f"[core]\n\tattributesFile = {secret}/secret\n\texcludesFile = {repository.pipe()}\n",
        f"[include]\n\tpath = {repository.pipe()}\n", "[include]\n\tpath = config\n", "[include]\n\tpath = /dev/zero\n",
        f'[filter "x"]\n\tclean = {run}\n\tsmudge = {run}\n\tprocess = {run}\n\trequired = true\n[diff "x"]\n\ttextconv = {run}\n\tcommand = {run}\n[merge "x"]\n\tdriver = {run}\n',
        f"[credential]\n\thelper = !{run}\n[alias]\n\tstatus = !{run}\n[gpg]\n\tprogram = {run}\n[uploadpack]\n\tpackObjectsHook = {run}\n", f"[core]\n\tworktree = {secret}\n",
        "[core]\n\tworktree = /\n", "[extensions]\n\tworktreeConfig = true\n\tpartialClone = origin\n\tobjectFormat = sha256\n[core]\n\trepositoryformatversion = 9\n",
        f'[remote "origin"]\n\turl = ext::{run}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n[protocol]\n\tallow = always\n', "[core]\n\tbare = true\n", "[core]\n\tbigFileThreshold = 1\n\tdeltaBaseCacheLimit = 99g\n\tlooseCompression = -99\n",
    ]
    chosen = rng.sample(lines, rng.choice([1, 2, 5]))
    put(repository.store.folder / "config", "".join(chosen))
    put(repository.root / ".gitattributes", "* filter=x diff=x merge=x text eol=crlf ident working-tree-encoding=UTF-16\n")
    for hook in ("post-checkout", "post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
        path = repository.store.folder / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        repository.ground.canary(path)
    repository.notes.append("git config: " + "; ".join(line.split("=")[0].strip().replace("\n\t", " ") for line in chosen))


@variants(["gitfile", "alternates", "commondir", "worktree", "link", "chain", "objects", "relative", "huge"])
def elsewhere(repository, rng, kind):
    """Git folders, common folders and alternates that belong to somebody else."""
    other, folder = repository.other(), repository.store.folder
    repository.refs += ["hidden", repository.hidden, "refs/heads/hidden"]
    if kind == "alternates":
        put(folder / "objects/info/alternates", f"{other}/.git/objects\n" * rng.choice([1, 1, 10_000]))
        repository.ref("hidden", repository.hidden)
    elif kind == "chain":
        put(folder / "objects/info/alternates", f"{folder}/objects\n{other}/.git/objects\n../objects\n/\n/dev\n")
        repository.ref("hidden", repository.hidden)
    elif kind == "commondir":
        put(folder / "commondir", f"{other}/.git\n")
    elif kind == "objects":
        os.rename(folder / "objects", folder / "objects-own")
        os.symlink(f"{other}/.git/objects", folder / "objects")
        repository.ref("hidden", repository.hidden)
    else:
        os.rename(folder, repository.root / ".git-own")
        if kind == "link":
            os.symlink(f"{other}/.git", folder)
        elif kind == "worktree":
            own = repository.root / "own"
            own.mkdir()
            put(own / "HEAD", "ref: refs/heads/hidden\n")
            put(own / "commondir", f"{other}/.git\n")
            put(own / "gitdir", f"{repository.root}/.git\n")
            put(folder, f"gitdir: {own}\n")
        else:
            put(folder, {"gitfile": f"gitdir: {other}/.git\n",
                "relative": f"gitdir: {os.path.relpath(other, repository.root)}/.git\n",
                "huge": "gitdir: " + "../" * 700_000}[kind])

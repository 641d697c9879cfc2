"""Git objects, packs and refs as bytes, right and wrong: no git is needed, and nothing is checked."""

import hashlib
import struct
import zlib

KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4, "ofs-delta": 6, "ref-delta": 7}


class Store:
    """A `.git` folder that is written by hand."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("objects/pack", "objects/info", "refs/heads", "refs/tags", "info"):
            (folder / name).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")

    def write(self, kind, content, name=None, size=None):
        """A loose object. With `name` it is filed under a hash that is not its own; with `size` its head is wrong."""
        head = f"{kind} {len(content) if size is None else size}\0".encode()
        name = name or hashlib.sha1(head + content).hexdigest()
        path = self.folder / "objects" / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(head + content, 1))
        return name

    def tree(self, entries, name=None):
        """A tree of (mode, name, hash), in the order in which they are given."""
        content = b"".join(mode.encode() + b" " + (at if isinstance(at,
            bytes) else at.encode()) + b"\0" + bytes.fromhex(hash) for mode, at, hash in entries)
        return self.write("tree", content, name)

    def commit(self, tree, parents=(), message="x", name=None, more=""):
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), "author A <a@b> 1700000000 +0000",
            "committer A <a@b> 1700000000 +0000"]
        return self.write("commit", ("\n".join(lines) + "\n" + more + "\n" + message + "\n").encode("utf-8", "surrogateescape"),
            name)

    def tag(self, target, kind="commit", name=None):
        return self.write("tag", f"object {target}\ntype {kind}\ntag t\ntagger A <a@b> 1700000000 +0000\n\nx\n".encode(), name)

    def branch(self, name, target):
        path = self.folder / "refs/heads" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(target + "\n")

    def pack(self, entries, name="pack-" + "a" * 40, claims=None, cut=None, wrong_sum=False):
        """A pack with its index. An entry is (hash, kind, base, content, size): the base is a hash or a distance, the size what is claimed."""
        body, rows = bytearray(b"PACK" + struct.pack(">II", 2, claims if claims is not None else len(entries))), []
        for hash, kind, base, content, size in entries:
            start = len(body)
            number = len(content) if size is None else size
            first = (KINDS[kind] << 4) | (number & 15)
            number >>= 4
            while number:
                body.append(first | 0x80)
                first, number = number & 0x7F, number >> 7
            body.append(first)
            if kind == "ref-delta":
                body += bytes.fromhex(base)
            elif kind == "ofs-delta":
                body += distance(base)
            body += zlib.compress(content, 1)
            rows.append((hash, zlib.crc32(bytes(body[start:])), start))
        body += hashlib.sha1(body).digest() if not wrong_sum else bytes(20)
        folder = self.folder / "objects/pack"
        (folder / f"{name}.pack").write_bytes(bytes(body[:cut]))
        rows.sort()
        counts = [sum(int(hash[:2], 16) <= byte for hash, _, _ in rows) for byte in range(256)] if len(rows) < 300 else fanout(rows)
        index = b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *counts) + b"".join(bytes.fromhex(hash) for hash, _,
            _ in rows)
        index += b"".join(struct.pack(">I", sum_) for _, sum_, _ in rows) + b"".join(struct.pack(">I", start) for _, _,
            start in rows) + bytes(body[-20:])
        (folder / f"{name}.idx").write_bytes(index + hashlib.sha1(index).digest())


def fanout(rows):
    counts, at = [], 0
    for byte in range(256):
        while at < len(rows) and int(rows[at][0][:2], 16) <= byte:
            at += 1
        counts.append(at)
    return counts


def distance(number):
    """The distance to the base of a delta."""
    found = [number & 0x7F]
    while number > 127:
        number = (number >> 7) - 1
        found.append(0x80 | (number & 0x7F))
    return bytes(reversed(found))


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(0x80 | (number & 0x7F))
        number >>= 7
    found.append(number)
    return bytes(found)


def delta(base_size, result_size, commands):
    return varint(base_size) + varint(result_size) + commands


def copy(offset, size):
    """The command that copies a piece of the base."""
    return bytes([0xFF]) + struct.pack("<I", offset) + struct.pack("<I", size)[:3]

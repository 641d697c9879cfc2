#!/usr/bin/env python3
"""Writes a trained model with four bits per number, as the binary reads it, and repeats its integer arithmetic.

    weights.py MODEL.npz weights.bin [golden.txt]

Layout, little-endian: `CCMEAN`, u16 version, u32 words, u32 parts, u32 width, u32 slots; u32 end offsets of the words in their text; the text;
u16 slots of a hash table from a word's FNV-1a to its row plus one; u16 weights, four per row; rows, two numbers per byte, the first half of
a row in the lower bits, each with an offset of eight. The scale of a row is part of its weights.
"""
import math
import struct
import sys

import numpy as np

from docs import words as words_of
from features import CODE, DOC, NAME, QUESTION, part_ids

MAGIC = b"CCMEAN"
VERSION = 1
MOST_WEIGHT = 16383
MOST_TIMES = 64
TIMES = [0] + [round(256 * (1 + math.log(n))) for n in range(1, MOST_TIMES + 1)]
ONE = 16384
HEAD = "<6sHIIII"


def fnv(text):
    value = 2166136261
    for byte in text:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def quantised(rows):
    """Quantises each row to integers from -7 to 7 with the best of several scales."""
    most = np.abs(rows).max(1, keepdims=True) + 1e-9
    best, error, scales = None, None, None
    for share in (1.0, .85, .72, .6, .5):
        scale = most * share / 7
        whole = np.clip(np.round(rows / scale), -7, 7)
        # The least-squares scale for these numbers.
        scale = (rows * whole).sum(1, keepdims=True) / np.maximum((whole * whole).sum(1, keepdims=True), 1)
        wrong = ((whole * scale - rows) ** 2).sum(1, keepdims=True)
        if best is None:
            best, error, scales = whole, wrong, scale
        else:
            better = wrong < error
            best, error, scales = np.where(better, whole, best), np.minimum(wrong, error), np.where(better, scale, scales)
    return best.astype(np.int8), scales


def write(words, rows, weights):
    whole, scales = quantised(rows)
    scaled = np.maximum(weights, 0) * np.maximum(scales, 0)
    # A few words have far larger weights than all others; they are clipped, so that the rest keeps its resolution.
    most = np.percentile(scaled, 99.9)
    fixed = np.minimum(np.round(scaled * (MOST_WEIGHT / most)), MOST_WEIGHT).astype("<u2")
    slots = 1
    while slots < 2 * len(words):
        slots *= 2
    table = np.zeros(slots, "<u2")
    text = [word.encode() for word in words]
    for at, word in enumerate(text):
        slot = fnv(word) % slots
        while table[slot]:
            slot = (slot + 1) % slots
        table[slot] = at + 1
    ends = np.cumsum([len(word) for word in text]).astype("<u4")
    halves = (whole + 8).astype(np.uint8)
    half = halves.shape[1] // 2
    packed = halves[:, :half] | halves[:, half:] << 4
    head = struct.pack(HEAD, MAGIC, VERSION, len(words), len(rows) - len(words), rows.shape[1], slots)
    return head + ends.tobytes() + b"".join(text) + table.tobytes() + fixed.tobytes() + packed.tobytes()


def read(data):
    """Words, rows and weights as integers."""
    magic, version, count, parts, width, slots = struct.unpack_from(HEAD, data)
    assert (magic, version) == (MAGIC, VERSION)
    at = struct.calcsize(HEAD)
    ends = np.frombuffer(data, "<u4", count, at)
    at += 4 * count
    starts = [0, *ends[:-1]]
    words = [data[at + start:at + end].decode() for start, end in zip(starts, ends)]
    at += int(ends[-1]) + 2 * slots
    weights = np.frombuffer(data, "<u2", (count + parts) * 4, at).reshape(-1, 4).astype(np.int64)
    at += 8 * (count + parts)
    packed = np.frombuffer(data, np.uint8, (count + parts) * width // 2, at).reshape(-1, width // 2)
    rows = np.empty((count + parts, width), np.int64)
    rows[:, :width // 2], rows[:, width // 2:] = packed & 15, packed >> 4
    return words, rows - 8, weights


class Whole:
    """The model as the binary computes it."""

    def __init__(self, data):
        words, self.rows, self.weights = read(data)
        self.known = {word: at for at, word in enumerate(words)}

    def vector(self, fields):
        total = np.zeros(self.rows.shape[1], np.int64)
        for field, text in fields:
            counts = {}
            for word in text:
                counts[word] = counts.get(word, 0) + 1
            for word, count in counts.items():
                times = TIMES[min(count, MOST_TIMES)]
                if word in self.known:
                    at = self.known[word]
                    total += (times * int(self.weights[at, field]) >> 10) * self.rows[at]
                else:
                    parts = part_ids(word)
                    for part in parts:
                        at = len(self.known) + part
                        total += (times * int(self.weights[at, field]) // len(parts) >> 10) * self.rows[at]
        most = int(np.abs(total).max())
        shift = max(0, most.bit_length() - 23)
        total = [int(one) >> shift for one in total]
        length = math.isqrt(sum(one * one for one in total))
        if not length:
            return [0] * len(total)
        return [(abs(one) * ONE // length) * (1 if one >= 0 else -1) for one in total]


def similarity(one, two):
    return sum(a * b for a, b in zip(one, two)) >> 13


GOLDEN = [
    ("collapse double slashes and dot-dot segments in a requested URL", "cleanPath", "gin.cleanPath", "// cleanPath is the URL version of path.Clean", "func cleanPath(p string) string { const stackBufSize = 128 }"),
    ("how long until a session cookie runs out", "expires_at", "session.Cookie.expires_at", "", "fn expires_at(&self) -> Instant { self.created + self.max_age }"),
    ("zqxwvk frobnicates", "frobnicate", "frob.frobnicate", "Frobnicates, frobnicates and frobnicates.", "def frobnicate(zqxwvk): return zqxwvk"),
    ("", "x", "x", "", ""),
    ("split text into words", "tokenize", "text.Tokenizer.tokenize", "/// Cuts a text into tokens.", "pub fn tokenize(&self, text: &str) -> Vec<Token>"),
]


def golden(model):
    """Returns lines of question, fields, the position-weighted sum of the vectors' numbers, and similarity."""
    lines = []
    for question, name, qualified, doc, code in GOLDEN:
        asked = model.vector([(QUESTION, words_of(question))])
        symbol = model.vector([(CODE, words_of(code)), (NAME, words_of(name) + words_of(qualified)), (DOC, words_of(doc))])
        sums = [sum((at + 1) * one for at, one in enumerate(vector)) for vector in (asked, symbol)]
        lines.append("\t".join([question, name, qualified, doc, code, *map(str, sums), str(similarity(asked, symbol))]))
    return "\n".join(lines) + "\n"


def main():
    kept = np.load(sys.argv[1])
    data = write(list(kept["words"]), kept["rows"], kept["weights"])
    open(sys.argv[2], "wb").write(data)
    print("%d bytes" % len(data))
    if len(sys.argv) > 3:
        open(sys.argv[3], "w").write(golden(Whole(data)))


if __name__ == "__main__":
    main()

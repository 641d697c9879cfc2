"""Texts as features of the model: ids of words, of hashed parts for unknown words, and their counts."""
import json
import math
import os

import numpy as np

WORDS = 32768
PARTS = 4096  # rows for hashed parts of unknown words
LEAST = 5  # minimum number of documents with a word
GRAM = 4
MOST_CODE = 400  # words
QUESTION, CODE, NAME, DOC = range(4)


def part_ids(word):
    """Returns the rows of a word's parts: FNV-1a of every four letters, including its boundaries."""
    text = ("<" + word + ">").encode()
    grams = [text[at:at + GRAM] for at in range(max(1, len(text) - GRAM + 1))]
    ids = []
    for gram in grams:
        value = 2166136261
        for byte in gram:
            value = (value ^ byte) * 16777619 & 0xFFFFFFFF
        ids.append(value % PARTS)
    return ids


class Vocabulary:
    """The vocabulary in the order of its rows; the rows of hashed parts follow."""

    def __init__(self, words):
        self.words = words
        self.ids = {word: at for at, word in enumerate(words)}
        self.size = len(words) + PARTS
        self.parts = {}

    @classmethod
    def of(cls, counts):
        known = sorted((word for word, count in counts.items() if count >= LEAST), key=lambda word: (-counts[word], word))
        return cls(sorted(known[:WORDS]))

    def features(self, words):
        """Returns ids and weights of a text: each word (1 + ln n), an unknown word divided over its parts."""
        counts = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        ids, weights = [], []
        for word, count in counts.items():
            weight = 1 + math.log(count)
            known = self.ids.get(word)
            if known is not None:
                ids.append(known)
                weights.append(weight)
            else:
                rows = self.parts.get(word)
                if rows is None:
                    rows = self.parts[word] = [len(self.words) + row for row in part_ids(word)]
                ids += rows
                weights += [weight / len(rows)] * len(rows)
        return ids, weights


class Texts:
    """The features of many texts, concatenated."""

    def __init__(self):
        self.ids, self.weights, self.starts = [], [], [0]

    def add(self, ids, weights):
        self.ids.append(np.array(ids, np.int32))
        self.weights.append(np.array(weights, np.float32))
        self.starts.append(self.starts[-1] + len(ids))

    def close(self):
        self.ids = np.concatenate(self.ids) if self.ids else np.zeros(0, np.int32)
        self.weights = np.concatenate(self.weights) if self.weights else np.zeros(0, np.float32)
        self.starts = np.array(self.starts, np.int64)
        return self

    def take(self, rows):
        """Returns the features of some texts: row in the list, id, weight."""
        begin, count = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        total = int(count.sum())
        row = np.repeat(np.arange(len(rows), dtype=np.int32), count)
        ends = np.cumsum(count)
        at = np.arange(total) - np.repeat(ends - count, count) + np.repeat(begin, count)
        return row, self.ids[at], self.weights[at]


def symbols(work):
    with open(os.path.join(work, "symbols.jsonl")) as lines:
        for line in lines:
            yield json.loads(line)

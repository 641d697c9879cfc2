#!/usr/bin/env python3
"""Trains the model on the pairs of WORK and leaves WORK/model-SEED.npz.

    train.py WORK [--seed N] [--runs N] [--epochs N]

A text is a bag of words: the sum of each word's vector times its weight in the field (question, code, name, doc), normalised. A
question should be nearest to its own symbol among those of a batch, an eighth of which are of the same package.
"""
import argparse
import collections
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import scipy.sparse as sparse

from docs import words
from features import CODE, DOC, MOST_CODE, NAME, QUESTION, Texts, Vocabulary, symbols
from vectors import near, start

WIDTH = 256
GROUP = 128
GROUPS = 6
TEMPERATURE = .05
DROPOUT = .2
RATE = .06
RATE_OF_WEIGHTS = .02
HELD_BACK = 40  # one package of this many is for validation


class Data:
    """The training data as features."""

    def __init__(self, work, cap):
        began = time.time()
        rows, taken = [], collections.Counter()
        for row in symbols(work):
            if taken[row["package"]] < cap:
                taken[row["package"]] += 1
                rows.append(row)
        counts = collections.Counter()
        for row in rows:
            row["asked"] = [words(sentence) for sentence in row["said"]]
            row["code"] = (row["code"] + " " + row["rest"]).split()[:MOST_CODE]
            row["names"] = row["names"].split()
            counts.update({word for sentence in row["asked"] for word in sentence} | set(row["code"]) | set(row["names"]))
        prose = [line.split() for line in open(os.path.join(work, "prose.txt"))]
        for line in prose:
            counts.update(set(line))
        self.counts = counts
        self.vocabulary = Vocabulary.of(counts)
        self.documents = len(rows) + len(prose)
        self.code, self.names, self.asked = Texts(), Texts(), Texts()
        self.question_of, self.first, package_of = [], [], []
        packages = {}
        for at, row in enumerate(rows):
            self.code.add(*self.vocabulary.features(row["code"]))
            self.names.add(*self.vocabulary.features(row["names"]))
            self.first.append(len(self.question_of))
            package_of.append(packages.setdefault(row["package"], len(packages)))
            for sentence in row["asked"]:
                self.asked.add(*self.vocabulary.features(sentence))
                self.question_of.append(at)
        for texts in (self.code, self.names, self.asked):
            texts.close()
        self.question_of, self.first = np.array(self.question_of), np.array(self.first)
        self.package_of = np.array(package_of)
        self.streams = prose + [sentence for row in rows for sentence in row["asked"]] + [row["names"] + row["code"][:60] for row in rows]
        names = sorted(packages, key=packages.get)
        held = np.array([hash_of(name) % HELD_BACK == 0 for name in names])
        self.is_held = held[self.package_of]
        print("%d symbols, %d questions, %d packages, %d words known, %.0f s" % (len(rows), len(self.question_of), len(packages), len(self.vocabulary.words), time.time() - began), flush=True)


def hash_of(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


class Bag:
    """Returns the texts of a batch as a sparse matrix over its words."""

    def __init__(self, count, parts, weights):
        row = np.concatenate([part[0] for part in parts])
        ids = np.concatenate([part[1] for part in parts])
        self.base = np.concatenate([part[2] for part in parts])
        self.field = np.concatenate([np.full(len(part[0]), field, np.int8) for part, field in zip(parts, (p[3] for p in parts))])
        self.row, self.ids = row, ids
        self.used, self.at = np.unique(ids, return_inverse=True)
        value = self.base * weights[ids, self.field]
        self.matrix = sparse.csr_matrix((value, (row, self.at)), shape=(count, len(self.used)), dtype=np.float32)


def normal(sums):
    length = np.sqrt((sums * sums).sum(1, keepdims=True)) + 1e-6
    return sums / length, length


def through_normal(gradient, unit, length):
    return (gradient - unit * (gradient * unit).sum(1, keepdims=True)) / length


class Model:
    def __init__(self, data, seed, counts):
        random = np.random.default_rng(seed)
        vocabulary = data.vocabulary
        known = len(vocabulary.words)
        self.rows = np.zeros((vocabulary.size, WIDTH), np.float32)
        self.rows[:known] = start(counts, WIDTH, seed)
        # The initial vector of a part is the mean of the known words that contain it.
        sums, times = np.zeros((vocabulary.size - known, WIDTH), np.float32), np.zeros((vocabulary.size - known, 1), np.float32)
        from features import part_ids
        for at, word in enumerate(vocabulary.words):
            for part in part_ids(word):
                sums[part] += self.rows[at]
                times[part] += 1
        sums = sums / np.maximum(times, 1) + random.standard_normal(sums.shape).astype(np.float32) * .01
        self.rows[known:] = sums / (np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6)
        rarity = np.array([np.log(data.documents / (1 + data.counts[word])) for word in vocabulary.words], np.float32)
        rarity = np.concatenate([rarity, np.full(vocabulary.size - known, rarity.mean() * .7, np.float32)])
        rarity = np.maximum(rarity, .3) / rarity.mean()
        self.weights = np.stack([rarity, rarity * .5, rarity, rarity * .7], 1).astype(np.float32)

    def copy(self):
        other = object.__new__(Model)
        other.rows, other.weights = self.rows.copy(), self.weights.copy()
        return other


def candidate_parts(data, rows, firsts, random, dropout):
    """Returns the fields of some symbols; `firsts` selects those whose first sentence is included."""
    parts = [(*data.code.take(rows), CODE), (*data.names.take(rows), NAME)]
    with_first = np.nonzero(firsts)[0]
    if len(with_first):
        row, ids, weight = data.asked.take(data.first[rows[with_first]])
        parts.append((with_first[row].astype(np.int32), ids, weight, DOC))
    return [drop(part, random, dropout) for part in parts]


def drop(part, random, dropout):
    if not dropout:
        return part
    keep = random.random(len(part[0])) >= dropout
    return part[0][keep], part[1][keep], part[2][keep], part[3]


def run(data, model, seed, epochs):
    random = np.random.default_rng(seed)
    total_rows, total_weights = np.full(model.rows.shape, 1e-3, np.float32), np.full(model.weights.shape, 1e-3, np.float32)
    questions = np.nonzero(~data.is_held[data.question_of])[0]
    step, began, losses = 0, time.time(), []
    steps = epochs * (len(questions) // (GROUP * GROUPS))
    for _ in range(epochs):
        # A package's questions in random order, cut into groups, groups in random order.
        order = questions[np.lexsort((random.random(len(questions)), data.package_of[data.question_of[questions]]))]
        groups = np.array_split(order, len(order) // GROUP)
        random.shuffle(groups)
        for at in range(0, len(groups) - GROUPS + 1, GROUPS):
            batch = np.concatenate(groups[at:at + GROUPS])
            rate = (1 - step / (steps + 1)) ** .5
            losses.append(learn(data, model, batch, random, (total_rows, total_weights), step, rate))
            step += 1
    print("seed %d: %d steps, loss %.3f -> %.3f, %.0f s" % (seed, step, np.mean(losses[:50]), np.mean(losses[-50:]), time.time() - began), flush=True)
    return model


def learn(data, model, batch, random, totals, step, rate):
    rows = data.question_of[batch]
    is_first = batch == data.first[rows]
    firsts = ~is_first & (random.random(len(batch)) < .5)
    asked = Bag(len(batch), [drop((*data.asked.take(batch), QUESTION), random, DROPOUT)], model.weights)
    symbol_bag = Bag(len(batch), candidate_parts(data, rows, firsts, random, DROPOUT), model.weights)
    asked_rows, symbol_rows = model.rows[asked.used], model.rows[symbol_bag.used]
    one, one_length = normal(asked.matrix @ asked_rows)
    two, two_length = normal(symbol_bag.matrix @ symbol_rows)
    logits = (one @ two.T) / TEMPERATURE
    same = rows[:, None] == rows[None, :]
    np.fill_diagonal(same, False)
    logits[same] = -1e9
    gradient = np.zeros_like(logits)
    loss = 0.0
    for axis in (1, 0):
        shifted = np.exp(logits - logits.max(axis, keepdims=True))
        chance = shifted / shifted.sum(axis, keepdims=True)
        loss -= np.log(np.diagonal(chance) + 1e-9).mean() / 2
        gradient += chance / 2
    gradient[np.arange(len(batch)), np.arange(len(batch))] -= 1
    gradient /= TEMPERATURE * GROUP
    to_one = through_normal(gradient @ two, one, one_length)
    to_two = through_normal(gradient.T @ one, two, two_length)
    for bag, to, old in ((asked, to_one, asked_rows), (symbol_bag, to_two, symbol_rows)):
        change = bag.matrix.T @ to
        total = totals[0][bag.used] + change * change
        totals[0][bag.used] = total
        model.rows[bag.used] -= RATE * rate * change / np.sqrt(total)
        if step % 3 == 0:
            weigh(model, bag, to, old, totals[1], rate)
    return loss


def weigh(model, bag, to, old, totals, rate):
    """Updates the weights of words per field, from the gradient of a sample of their occurrences."""
    dots = np.empty(len(bag.row), np.float32)
    for at in range(0, len(bag.row), 8192):
        some = slice(at, at + 8192)
        dots[some] = np.einsum("ij,ij->i", to[bag.row[some]], old[bag.at[some]])
    flat = bag.at * 4 + bag.field
    change = np.bincount(flat, dots * bag.base, len(bag.used) * 4).reshape(-1, 4).astype(np.float32)
    total = totals[bag.used] + change * change
    totals[bag.used] = total
    model.weights[bag.used] = np.maximum(model.weights[bag.used] - RATE_OF_WEIGHTS * rate * change / np.sqrt(total), 0)


def validate(data, model):
    """Returns the MRR of first sentences among 128 symbols of a validation package."""
    ranks = []
    held = np.nonzero(data.is_held)[0]
    for package in np.unique(data.package_of[held]):
        rows = held[data.package_of[held] == package][:GROUP]
        if len(rows) < 32:
            continue
        asked = Bag(len(rows), [(*data.asked.take(data.first[rows]), QUESTION)], model.weights)
        symbol_bag = Bag(len(rows), candidate_parts(data, rows, np.zeros(len(rows), bool), None, 0), model.weights)
        one, _ = normal(asked.matrix @ model.rows[asked.used])
        two, _ = normal(symbol_bag.matrix @ model.rows[symbol_bag.used])
        scores = one @ two.T
        ranks += list(1 / (1 + (scores > np.diagonal(scores)[:, None]).sum(1)))
    return np.mean(ranks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--cap", type=int, default=150, help="symbols of a package")
    parser.add_argument("--to", default="model", help="the beginning of what it is called")
    a = parser.parse_args()
    data = Data(a.work, a.cap)
    began = time.time()
    counts = near(data.streams, data.vocabulary)
    data.streams = None
    print("near: %d pairs, %.0f s" % (counts.nnz, time.time() - began), flush=True)
    for seed in range(a.seed, a.seed + a.seeds):
        began = time.time()
        first = Model(data, seed, counts)
        print("start: %.0f s, MRR held back %.3f" % (time.time() - began, validate(data, first)), flush=True)
        models = [run(data, first.copy(), seed * 100 + at, a.epochs) for at in range(a.runs)]
        mean = first.copy()
        mean.rows = np.mean([model.rows for model in models], 0)
        mean.weights = np.mean([model.weights for model in models], 0)
        print("held back: " + " ".join("%.3f" % validate(data, model) for model in models) + ", mean of weights %.3f" % validate(data, mean), flush=True)
        np.savez(os.path.join(a.work, "%s-%d.npz" % (a.to, seed)), words=np.array(data.vocabulary.words), rows=mean.rows, weights=mean.weights)


if __name__ == "__main__":
    sys.exit(main())

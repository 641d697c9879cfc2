#!/usr/bin/env python3
"""Compares ranking with and without the model, offline: reorders the program's own results by similarity.

    evaluate.py WORK --bin BIN --miner MINER --questions DIR --repos DIR MODEL.npz|weights.bin ...

DIR of questions has NAME.asked.json and NAME.docs.json, each a list of {query, answer: {path, name, line}, also: [...], docs: [first, last]};
`blanked` asks the docs' questions of a copy without those doc comments. The answers of BIN are cached in WORK/eval, so that models are
compared in seconds. Strict MRR@10: a result with that path and name.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

from docs import words
from features import CODE, DOC, MOST_CODE, NAME, QUESTION, Vocabulary

DEEP = 200
SAID = .75


def blank(root, questions):
    """Removes the doc comments of all requested symbols; line numbers do not change."""
    by_path = {}
    for question in questions:
        by_path.setdefault(question["answer"]["path"], []).append(question["docs"])
    for path, ranges in by_path.items():
        file = os.path.join(root, path)
        lines = open(file, encoding="utf8", errors="replace").read().split("\n")
        for first, last in ranges:
            if path.endswith(".py"):
                text = "\n".join(lines[first - 1:last])
                found = re.search(r'"""(.*?)"""', text, re.S)
                if found:
                    text = text[:found.start(1)] + re.sub(r"[^\n]", "", found.group(1)) + text[found.end(1):]
                    lines[first - 1:last] = text.split("\n")
            else:
                for at in range(first - 1, last):
                    if not lines[at].strip().startswith("#["):
                        lines[at] = ""
        open(file, "w", encoding="utf8").write("\n".join(lines))


def prepare(a, name, kind):
    """Returns the questions with the answers of BIN, and all symbols."""
    kept = os.path.join(a.work, "eval", "%s.%s.json" % (name, kind))
    if os.path.exists(kept):
        return json.load(open(kept))
    questions = json.load(open(os.path.join(a.questions, "%s.%s.json" % (name, "asked" if kind == "asked" else "docs"))))
    root = os.path.join(a.work, "eval", "copy")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(os.path.join(a.repos, name), root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    if kind == "blanked":
        blank(root, questions)
    home = os.path.join(a.work, "eval", "home")
    shutil.rmtree(home, ignore_errors=True)
    run = lambda *args: subprocess.run([os.path.abspath(a.bin), *args], cwd=root, env=dict(os.environ, CODECOMPASS_HOME=home), capture_output=True, text=True).stdout
    run("index", "--path", root)
    mined = subprocess.run([a.miner, "--all"], input="%s\t%s\n" % (name, root), capture_output=True, text=True).stdout
    symbols = [json.loads(line) for line in mined.splitlines()]
    by_name = {}
    for at, symbol in enumerate(symbols):
        by_name.setdefault((symbol["path"], symbol["name"]), []).append((symbol["line"], at))
    asked = []
    for question in questions:
        results = json.loads(run("search", question["query"], "--json", "--limit", str(DEEP), "--no-sync") or "{}").get("results", [])
        good = {(g["path"], g["name"]) for g in [question["answer"], *question.get("also", [])]}
        listed = []
        for result in results:
            key = (result["path"], result.get("name"))
            # Lines that contain the question literally count as their enclosing symbol.
            begun = [at for line, at in by_name.get(key, []) if line <= result["line_start"] + 40]
            total = result["score"] / max(1e-3, 1 - result["score"])
            listed.append([total, begun[-1] if begun else -1, key in good])
        asked.append(dict(query=question["query"], listed=listed, good=[at for at, symbol in enumerate(symbols) if (symbol["path"], symbol["name"]) in good]))
    for symbol in symbols:
        symbol["code"] += " " + symbol["rest"]
    found = dict(symbols=[{key: symbol[key] for key in ("path", "names", "doc", "code", "test", "name")} for symbol in symbols], asked=asked)
    json.dump(found, open(kept, "w"))
    return found


class Model:
    """Computes vectors of texts, with a model as trained or as shipped."""

    def __init__(self, file):
        if file.endswith(".npz"):
            kept = np.load(file)
            self.rows, self.weights = kept["rows"], kept["weights"]
            self.vocabulary = Vocabulary(list(kept["words"]))
        else:
            from weights import read
            known, rows, weights = read(open(file, "rb").read())
            self.vocabulary = Vocabulary(known)
            self.rows, self.weights = rows.astype(np.float32), weights.astype(np.float32)

    def vector(self, fields):
        total = np.zeros(self.rows.shape[1], np.float32)
        for field, text in fields:
            ids, weights = self.vocabulary.features(text)
            if ids:
                total += (np.array(weights, np.float32) * self.weights[ids, field]) @ self.rows[ids]
        return total / (np.linalg.norm(total) + 1e-6)

    def symbol(self, symbol):
        return self.vector([(CODE, symbol["code"].split()[:MOST_CODE]), (NAME, symbol["names"].split()), (DOC, words(symbol["doc"]))])


def reciprocal(order, good):
    return next((1 / (at + 1) for at, one in enumerate(order[:10]) if good[one]), 0.0)


def said(found):
    """Returns for each question whether one symbol contains nearly all of its word weight."""
    texts = [set(symbol["names"].split()) | set(symbol["code"].split()) | set(words(symbol["doc"])) for symbol in found["symbols"]]
    counts = {}
    for text in texts:
        for word in text:
            counts[word] = counts.get(word, 0) + 1
    for asked in found["asked"]:
        known = set(words(asked["query"]))
        mass = {word: np.log(1 + len(texts) / (1 + counts.get(word, 0))) for word in known}
        most = max((sum(mass[word] for word in known & texts[at]) for _, at, _ in asked["listed"][:100] if at >= 0), default=0)
        yield most > SAID * sum(mass.values())


def evaluate(sets, model, weight, deep, lift, file_weight=0.0):
    """Returns the reciprocal ranks, by set, of the reordered results."""
    ranks = {}
    for key, (found, symbols, questions) in sets.items():
        ranks[key] = []
        if weight and "said" not in found:
            found["said"] = [bool(one) for one in said(found)]
        for place, (asked, question) in enumerate(zip(found["asked"], questions)):
            listed = asked["listed"]
            totals = np.array([total for total, _, _ in listed])
            if weight and len(listed):
                counts = lambda at: at >= 0 and not found["symbols"][at]["test"]
                near = np.array([max(0.0, float(symbols[at] @ question)) if counts(at) else 0.0 for _, at, _ in listed])
                near[deep:] = 0
                is_said = found["said"][place]
                add = weight * np.maximum(0, near - lift) / (1 - lift) * (.5 if is_said else 1)
                if file_weight and not is_said:
                    files = [found["symbols"][at]["path"] if at >= 0 else "" for _, at, _ in listed]
                    mean = {file: np.mean(sorted((near[i] for i, one in enumerate(files[:deep]) if one == file), reverse=True)[:5] or [0]) for file in set(files)}
                    add = add + file_weight * np.array([mean[file] for file in files])
                totals = totals + add
            ranks[key].append(reciprocal(np.argsort(-totals, kind="stable"), [good for _, _, good in listed]))
    return ranks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--miner", required=True)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--repos", required=True)
    parser.add_argument("--weights", default="3.5")
    parser.add_argument("--deep", type=int, default=40)
    parser.add_argument("--lift", type=float, default=0.0)
    parser.add_argument("--file", type=float, default=0.0)
    parser.add_argument("models", nargs="*")
    a = parser.parse_intermixed_args()
    a.work = os.path.abspath(a.work)
    os.makedirs(os.path.join(a.work, "eval"), exist_ok=True)
    names = sorted(os.path.basename(file)[:-len(".asked.json")] for file in glob.glob(os.path.join(a.questions, "*.asked.json")))
    kinds = ("asked", "blanked", "docs")
    found = {(name, kind): prepare(a, name, kind) for name in names for kind in kinds}
    report = lambda label, ranks: print("%-28s" % label + "  ".join("%s %.3f (%s)" % (kind, np.mean([np.mean(ranks[name, kind]) for name in names]), " ".join("%.3f" % np.mean(ranks[name, kind]) for name in names)) for kind in kinds), flush=True)
    without = evaluate({key: (one, None, [None] * len(one["asked"])) for key, one in found.items()}, None, 0, 0, 0)
    report("without", without)
    for file in a.models:
        model = Model(file)
        sets = {}
        for key, one in found.items():
            symbols = np.stack([model.symbol(symbol) for symbol in one["symbols"]])
            sets[key] = (one, symbols, [model.vector([(QUESTION, words(asked["query"]))]) for asked in one["asked"]])
        alone = {key: [next((1 / (rank + 1) for rank, at in enumerate(np.argsort(-(symbols @ question))[:10]) if at in asked["good"]), 0.0) for asked, question in zip(one["asked"], questions)] for key, (one, symbols, questions) in sets.items()}
        report(os.path.basename(file) + " alone", alone)
        for weight in (float(weight) for weight in a.weights.split(",")):
            ranks = evaluate(sets, model, weight, a.deep, a.lift, a.file)
            report("%s x %g" % (os.path.basename(file), weight), ranks)
            random = np.random.default_rng(7)
            for kind in kinds:
                gains = [np.array(ranks[name, kind]) - np.array(without[name, kind]) for name in names]
                drawn = [np.mean([random.choice(gain, len(gain)).mean() for gain in gains]) for _ in range(1000)]
                print("    %-8s %+.3f [%+.3f, %+.3f]" % (kind, np.mean([gain.mean() for gain in gains]), *np.percentile(drawn, [2.5, 97.5])))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Extracts pairs of doc sentence and symbol from the fetched packages, except copies of excluded repositories.

    pairs.py WORK MINER

MINER is the example `mine` of crates/embedding. Leaves WORK/symbols.jsonl (a line per symbol: package, names, head and rest of the code,
sentences), WORK/prose.txt (paragraphs of manuals, one per line, in words) and WORK/packages.tsv.
"""
import collections
import hashlib
import json
import os
import random
import subprocess
import sys

from docs import sentences, words

MOST_OF_PACKAGE = 700
MOST_OF_SENTENCE = 4
MOST_PROSE = 400_000  # characters per package
LEAST_CODE = 12  # words: shorter code is equal by chance


def folders(root):
    for ecosystem in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, ecosystem))):
            yield ecosystem + "/" + name, os.path.join(root, ecosystem, name)


def mined(miner, root, kept, *options):
    """Returns the miner's output for each package, cached."""
    os.makedirs(kept, exist_ok=True)
    file = lambda label: os.path.join(kept, label.replace("/", "__") + ".jsonl")
    wanted = list(folders(root))
    for label, folder in wanted:
        if not os.path.exists(file(label)):
            with open(file(label) + ".new", "w") as out:
                subprocess.run([miner, *options], input="%s\t%s\n" % (label, folder), stdout=out, text=True, check=True)
            os.rename(file(label) + ".new", file(label))
    for label, _ in wanted:
        with open(file(label), encoding="utf8") as lines:
            for line in lines:
                yield json.loads(line)


def digest(text):
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def fingerprints(miner, work):
    """Returns the code of symbols and the sentences of excluded packages."""
    code, said = set(), set()
    for symbol in mined(miner, os.path.join(work, "excluded"), os.path.join(work, "mined-excluded"), "--all"):
        if symbol["code"].count(" ") >= LEAST_CODE:
            code.add(digest(symbol["code"].strip()))
        for sentence in sentences(symbol["doc"]):
            text = words(sentence)
            if len(text) >= 6:
                said.add(digest(" ".join(text)))
    return code, said


def prose(folder):
    """Returns the words of manuals, by paragraph."""
    taken = 0
    for at, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            if not file.lower().endswith((".md", ".rst", ".txt", ".adoc", ".markdown")) or "licen" in file.lower() or "change" in file.lower():
                continue
            text = open(os.path.join(at, file), errors="replace").read(100_000)
            for paragraph in text.split("\n\n"):
                if sum(c.isalpha() or c == " " for c in paragraph) > .8 * len(paragraph) and len(paragraph) > 60:
                    taken += len(paragraph)
                    yield " ".join(words(paragraph))
            if taken > MOST_PROSE:
                return


def main():
    work, miner = os.path.abspath(sys.argv[1]), sys.argv[2]
    seed = random.Random(23)
    code_known, said_known = fingerprints(miner, work)
    print("excluded: %d symbols, %d sentences" % (len(code_known), len(said_known)))
    by_package = collections.defaultdict(list)
    seen, spoken = set(), collections.Counter()
    dropped = collections.Counter()
    copies = collections.Counter()
    for symbol in mined(miner, os.path.join(work, "src"), os.path.join(work, "mined")):
        own = digest(symbol["code"].strip())
        if own in code_known and symbol["code"].count(" ") >= LEAST_CODE:
            copies[symbol["package"], symbol["path"]] += 1
            dropped["copy of excluded code"] += 1
            continue
        said = sentences(symbol["doc"])
        keys = [digest(" ".join(words(sentence))) for sentence in said]
        if any(key in said_known for key in keys):
            copies[symbol["package"], symbol["path"]] += 1
            dropped["copy of an excluded sentence"] += 1
            continue
        if symbol["test"] or not said:
            dropped["test" if symbol["test"] else "says nothing"] += 1
            continue
        if own in seen:
            dropped["seen"] += 1
            continue
        seen.add(own)
        said = [sentence for sentence, key in zip(said, keys) if spoken[key] < MOST_OF_SENTENCE]
        spoken.update(keys)
        if said:
            row = dict(package=symbol["package"], language=symbol["language"], path=symbol["path"], names=symbol["names"], code=symbol["code"].strip(), rest=symbol["rest"].strip(), said=said)
            by_package[symbol["package"]].append(row)
    # A file with two copies in it counts as a copy.
    copied = {key for key, count in copies.items() if count >= 2}
    count, languages = 0, collections.Counter()
    with open(os.path.join(work, "symbols.jsonl"), "w") as out:
        for package in sorted(by_package):
            rows = [row for row in by_package[package] if (package, row["path"]) not in copied]
            dropped["in a copied file"] += len(by_package[package]) - len(rows)
            if len(rows) > MOST_OF_PACKAGE:
                rows = sorted(seed.sample(rows, MOST_OF_PACKAGE), key=lambda row: (row["path"], row["names"]))
            for row in rows:
                out.write(json.dumps(row) + "\n")
                languages[row["language"]] += 1
                count += 1
    with open(os.path.join(work, "prose.txt"), "w") as out:
        for _, folder in folders(os.path.join(work, "src")):
            for paragraph in prose(folder):
                out.write(paragraph + "\n")
    used = {label for label, _ in folders(os.path.join(work, "src"))}
    with open(os.path.join(work, "src.jsonl")) as lines:
        rows = {(row["ecosystem"], row["name"]): row for row in map(json.loads, lines)}
    with open(os.path.join(work, "packages.tsv"), "w") as out:
        out.write("ecosystem\tname\tversion\tlicence\n")
        for (ecosystem, name), row in sorted(rows.items()):
            if not row["why"] and ecosystem + "/" + name.replace("/", "__") in used:
                out.write("%s\t%s\t%s\t%s\n" % (ecosystem, name, row["version"], row["licence"]))
    print("%d symbols of %d packages" % (count, len(by_package)), dict(languages), dict(dropped))


if __name__ == "__main__":
    main()

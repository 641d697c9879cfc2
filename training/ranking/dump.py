#!/usr/bin/env python3
"""Collects the candidates of question sets with their feature values.

    dump.py FEATURES OUT [--limit 80] KIND:ROOT:QUESTIONS[:NAME] ...

FEATURES is the example program: cargo build --release -p codecompass-query --example features. KIND is one of

    asked, asked2, docs   [{query, answer: {path, name}, also: [...]}], one symbol answers
    blanked               the same as docs, asked of a copy without the doc comments of the answers ({docs: [first, last]})
    history               {questions: [{query, parent, answers: [{path, name}]}]} as eval/history.py makes them
    files                 [{query, relevant: [...], secondary: [...]}], files answer

ROOT is the repository. One file OUT/KIND.NAME.npz is written for each set; NAME is the name of the folder unless given.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np


def blank(root, questions):
    """Removes the doc comments of the answers; line numbers do not change."""
    for question in questions:
        path = os.path.join(root, question["answer"]["path"])
        lines = open(path, encoding="utf8", errors="replace").read().split("\n")
        first, last = question["docs"]
        if path.endswith(".py"):
            text = "\n".join(lines[first - 1:last])
            if found := re.search(r'"""(.*?)"""', text, re.S):
                text = text[:found.start(1)] + re.sub(r"[^\n]", "", found.group(1)) + text[found.end(1):]
                lines[first - 1:last] = text.split("\n")
        else:
            for at in range(first - 1, last):
                if not lines[at].strip().startswith("#["):
                    lines[at] = ""
        open(path, "w", encoding="utf8").write("\n".join(lines))


def is_suffix(one, other):
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)


def read(kind, path):
    """Returns the questions of a set: query, commit, test of a result, number of answers."""
    rows = json.load(open(path))
    if kind == "history":
        for row in rows["questions"]:
            names = {(one["path"], one["name"]) for one in row["answers"]}
            yield row["query"], row["parent"], "", lambda hit, names=names: (hit["path"], hit["name"]) in names, len(names)
    elif kind == "files":
        for row in rows:
            targets = [t if isinstance(t, str) else t["path"] for t in row["relevant"] + row.get("secondary", [])]
            yield row["query"], None, row.get("category", ""), lambda hit, targets=targets: any(is_suffix(hit["path"], t) for t in targets), len(targets)
    else:
        for row in rows:
            names = {(one["path"], one["name"]) for one in [row["answer"], *row.get("also", [])]}
            yield row["query"], None, row.get("style", ""), lambda hit, names=names: (hit["path"], hit["name"]) in names, 1


def dump(args, kind, root, questions, name):
    out = os.path.join(args.out, f"{kind}.{name}.npz")
    if os.path.exists(out):
        return
    with tempfile.TemporaryDirectory() as work:
        if kind not in ("history", "files"):
            shutil.copytree(root, work + "/repo", symlinks=True, ignore=shutil.ignore_patterns(".git"))
            root = work + "/repo"
        if kind == "blanked":
            blank(root, json.load(open(questions)))
        rows = list(read(kind, questions))
        lines = [json.dumps({"query": query, "ref": ref} if ref else {"query": query}) for query, ref, *_ in rows]
        data = os.path.join(args.data, f"{kind}.{name}") if args.data else work + "/data"
        told = subprocess.run([args.features, root, data, str(args.limit)], input="\n".join(lines) + "\n", capture_output=True, text=True)
        if told.returncode:
            sys.exit(told.stderr)
    keys, index, values, good, files, kinds, starts, names = [], {}, [], [], [], [], [0], []
    for line, (_, _, _, test, _) in zip(told.stdout.splitlines(), rows):
        seen = {}
        for hit in json.loads(line)["hits"]:
            row = {}
            for key, value in hit["values"].items():
                if key not in index:
                    index[key] = len(keys)
                    keys.append(key)
                row[index[key]] = value
            values.append(row)
            good.append(test(hit))
            files.append(seen.setdefault(hit["path"], len(seen)))
            kinds.append(hit["kind"] or hit["type"])
            names.append(f"{hit['path']}:{hit['lines'][0]} {hit['name']}")
        starts.append(len(values))
    table = np.zeros((len(values), len(keys)), np.float32)
    for at, row in enumerate(values):
        for column, value in row.items():
            table[at, column] = value
    np.savez_compressed(out, keys=keys, values=table, good=np.array(good, bool), files=np.array(files, np.int32), kinds=kinds, starts=starts, names=names,
                        queries=[row[0] for row in rows], styles=[row[2] for row in rows], answers=[row[4] for row in rows])
    print(out, len(rows), "questions", len(values), "candidates", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=os.path.abspath)
    parser.add_argument("out")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--limit", type=int, default=80)
    parser.add_argument("--data", help="keep the indexes in this folder")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    for one in args.sets:
        kind, root, questions, *name = one.split(":")
        dump(args, kind, root, questions, name[0] if name else os.path.basename(root.rstrip("/")))


if __name__ == "__main__":
    main()

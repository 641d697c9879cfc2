#!/usr/bin/env python3
"""Fits the weights of the scoring model to dumped candidates, and measures them without the repository in question.

    fit.py DUMPS ../../crates/query/src/score.rs [--loss rank|softmax] [--ridge R] [--folds N] [--write]

Two losses, both over the whole list of a question. `rank` is minus the reciprocal rank of the best right result, with each comparison of
two candidates smoothed by a sigmoid: it is what is measured, and it ignores questions that are lost anyway. `softmax` is minus the
logarithm of the share of the right results in a softmax over all candidates. Each kind of questions has a total weight (SHARES), whatever
its size. Weights keep their sign. A ridge towards the weights in the table keeps what no question informs, and keeps the scale.

Only FITTED features are fitted. The five weights of the contract have fixed values; penalties, names, literal text and traces serve queries
that are not questions, which no set here asks; repetition depends on the list.

Printed for every kind: the figure with the weights in the table, with weights fitted to everything, and with weights fitted without the
repository in question (leave one out), and the bootstrap interval of the difference between the last and the first. --write replaces the
weights in the table.
"""
import argparse
import collections
import glob
import heapq
import os
import re

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
from scipy.optimize import minimize  # noqa: E402

SHARES = {"asked2": 1.3, "asked": 1.0, "docs": 2.0, "blanked": 1.0, "history": 1.0, "roots": 1.0, "whole": 1.0}
FITTED = ("bm25", "meaning", "word_match", "name_words", "coverage", "size", "file_text", "file_name", "file_name_words", "path_words",
          "file_agreement", "declaration")
FILES = ("roots", "whole")
MAX_REPEATS, NEW_WORDS = 6, .4
SMOOTHING = .04
ROW = r'^(    \w+ = "(\w+)", "\w+", )(-?[\d.]+);'


def weights_in(path):
    """Returns the table of the scoring model: key and weight, in order."""
    return {key: float(weight) for _, key, weight in re.findall(ROW, open(path).read(), re.M)}


def write(path, weights):
    """Replaces the weights in the table, rounded to hundredths."""
    put = lambda found: f"{found[1]}{round(float(weights[found[2]]), 2)};"
    text = re.sub(ROW, put, open(path).read(), flags=re.M)
    open(path, "w").write(text)


class Questions:
    """The candidates of all questions in one table."""

    def __init__(self, folder, keys):
        parts = collections.defaultdict(list)
        starts = [0]
        for path in sorted(glob.glob(folder + "/*.npz")):
            data = np.load(path)
            kind, name = os.path.basename(path)[:-4].split(".", 1)
            if kind == "files":
                kind = "roots" if name.endswith("-root") else "whole"
            table = np.zeros((len(data["values"]), len(keys)))
            for at, key in enumerate(data["keys"]):
                if key in keys and key != "repeats":
                    table[:, keys.index(key)] = data["values"][:, at]
            count = len(data["starts"]) - 1
            starts.extend(data["starts"][1:] + starts[-1])
            columns = dict(kind=[kind] * count, repo=[name.removesuffix("-root")] * count, style=data["styles"], answers=data["answers"].astype(int),
                           table=table, good=data["good"], files=data["files"])
            for key, column in columns.items():
                parts[key].append(column)
        for key, columns in parts.items():
            setattr(self, key, np.concatenate(columns))
        self.starts = np.array(starts)
        self.owner = np.repeat(np.arange(len(self.kind)), np.diff(self.starts))

    def share(self, mask):
        """Returns the weight of each question in the loss."""
        share = np.zeros(len(self.kind))
        for kind, weight in SHARES.items():
            of_kind = (self.kind == kind) & mask
            share[of_kind] = weight / max(1, of_kind.sum())
        return share

    def folds(self, count):
        """Assigns each repository to one of some groups that are left out together, spreading the kinds."""
        chosen, used = {}, collections.Counter()
        for kind in SHARES:
            for repo in sorted(set(self.repo[self.kind == kind]) - set(chosen)):
                chosen[repo] = used[kind] % count
                used[kind] += 1
        return np.array([chosen[repo] for repo in self.repo])


class Problem:
    def __init__(self, questions, mask, first, free, ridge):
        """Only questions with a right and a wrong candidate inform the weights."""
        share, right = questions.share(mask), np.bincount(questions.owner, questions.good, len(questions.kind))
        share = np.where((right > 0) & (right < np.diff(questions.starts)), share, 0)
        rows = (share > 0)[questions.owner]
        _, self.owner = np.unique(questions.owner[rows], return_inverse=True)
        self.begin = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.share, self.good = share[share > 0] / share.sum(), questions.good[rows]
        self.table, self.rest = questions.table[rows][:, free], questions.table[rows][:, ~free] @ first[~free]
        self.first, self.free, self.ridge = first, free, ridge
        self.unit = np.maximum(np.abs(first[free]), .3)

    def sums(self, values):
        return np.add.reduceat(values, self.begin)

    def rank(self, weights):
        total = self.table @ weights + self.rest
        right = np.where(self.good, total, -np.inf)
        best = np.maximum.reduceat(right, self.begin)
        rows = np.flatnonzero(self.good & (right == best[self.owner]))[::-1]
        of_best = np.zeros(len(self.begin), int)
        of_best[self.owner[rows]] = rows
        above = np.where(self.good, 0, 1 / (1 + np.exp(-np.clip((total - best[self.owner]) / SMOOTHING, -30, 30))))
        reciprocal = 1 / (1 + self.sums(above))
        slope = (self.share * reciprocal ** 2)[self.owner] * above * (1 - above) / SMOOTHING
        return -(self.share * reciprocal).sum(), slope @ self.table - self.sums(slope) @ self.table[of_best]

    def softmax(self, weights):
        total = (self.table @ weights + self.rest) / .35
        power = np.exp(total - np.maximum.reduceat(total, self.begin)[self.owner])
        whole, right = self.sums(power), np.maximum(self.sums(power * self.good), 1e-30)
        slope = (power / whole[self.owner] - power * self.good / right[self.owner]) * self.share[self.owner]
        return -(self.share * np.log(right / whole)).sum(), slope @ self.table / .35

    def solve(self, loss):
        def value(weights):
            lost, slope = getattr(self, loss)(weights)
            away = (weights - self.first[self.free]) / self.unit
            return lost + self.ridge * (away ** 2).sum(), slope + 2 * self.ridge * away / self.unit
        begin = self.first[self.free]
        bounds = [(0, None) if weight >= 0 else (None, 0) for weight in begin]
        found = minimize(value, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100})
        weights = self.first.copy()
        weights[self.free] = found.x
        return weights


def ranked(total, files, repeat, most):
    """Returns the first candidates, each after those that were taken from its file. That repeated words count less is approximated."""
    loss = lambda count: repeat * (1 - NEW_WORDS) * (min(count, MAX_REPEATS) / MAX_REPEATS) ** 2
    heap = [(-total[at], at, 0) for at in np.argsort(-total, kind="stable")[:most * 6]]
    heapq.heapify(heap)
    taken, order = collections.Counter(), []
    while heap and len(order) < most:
        _, at, known = heapq.heappop(heap)
        if taken[files[at]] != known:
            heapq.heappush(heap, (-total[at] - loss(taken[files[at]]), at, taken[files[at]]))
        else:
            order.append(at)
            taken[files[at]] += 1
    return order


def metric(questions, totals, repeat):
    """Returns the figure of each question: reciprocal rank of the symbol, NDCG@10 of the files."""
    figures = np.zeros(len(questions.kind))
    for at, kind in enumerate(questions.kind):
        begin, end = questions.starts[at:at + 2]
        files, good = questions.files[begin:end], questions.good[begin:end]
        order = ranked(totals[begin:end], files, repeat, 30 if kind in FILES else 10)
        if kind in FILES:
            seen = {files[place]: good[place] for place in order}
            gain = sum(1 / np.log2(rank + 2) for rank, is_good in enumerate(list(seen.values())[:10]) if is_good)
            figures[at] = gain / sum(1 / np.log2(rank + 2) for rank in range(min(10, max(1, questions.answers[at]))))
        else:
            figures[at] = next((1 / (rank + 1) for rank, place in enumerate(order) if good[place]), 0)
    return figures


def report(questions, figures, names):
    """Prints the mean of the repositories of each kind, and of the questions of each style."""
    draw = np.random.default_rng(1)
    for kind in SHARES:
        of_kind = questions.kind == kind
        if not of_kind.any():
            continue
        repos = sorted(set(questions.repo[of_kind]))
        means = [np.mean([one[of_kind & (questions.repo == repo)].mean() for repo in repos]) for one in figures]
        gain = (figures[-1] - figures[0])[of_kind]
        drawn = np.sort([gain[draw.integers(0, len(gain), len(gain))].mean() for _ in range(1000)])
        print(f"{kind:8} {of_kind.sum():5}", *(f" {name} {mean:.4f}" for name, mean in zip(names, means)),
              f" difference {gain.mean():+.4f} [{drawn[25]:+.4f}, {drawn[975]:+.4f}]")
    for style in sorted(set(questions.style[questions.kind == "asked2"])):
        of_style = (questions.kind == "asked2") & (questions.style == style)
        print(f"  {style:10}", *(f" {name} {one[of_style].mean():.4f}" for name, one in zip(names, figures)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dumps")
    parser.add_argument("table")
    parser.add_argument("--loss", choices=("rank", "softmax"), default="rank")
    parser.add_argument("--ridge", type=float, default=3e-3)
    parser.add_argument("--folds", type=int, default=8)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    table = weights_in(args.table)
    keys = list(table)
    first, free = np.array([table[key] for key in keys]), np.array([key in FITTED for key in keys])
    questions = Questions(args.dumps, keys)
    fit = lambda mask: Problem(questions, mask, first, free, args.ridge).solve(args.loss)
    whole = fit(np.ones(len(questions.kind), bool))
    folds, totals = questions.folds(args.folds), np.zeros(len(questions.owner))
    for fold in range(args.folds):
        rows = (folds == fold)[questions.owner]
        totals[rows] = questions.table[rows] @ fit(folds != fold)
    figures = [metric(questions, total, table["repeats"]) for total in (questions.table @ first, questions.table @ whole, totals)]
    report(questions, figures, ["table", "fitted", "left out"])
    for key, was, now in zip(keys, first, whole):
        print(f"  {key:18} {was:6.2f} {now:6.2f}" if key in FITTED else f"  {key:18} {was:6.2f}")
    if args.write:
        write(args.table, dict(zip(keys, whole)))


if __name__ == "__main__":
    main()

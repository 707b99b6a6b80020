"""CHAID against the answers of the CHAID package, predictor by predictor at the root and node by node.

``python benchmarks/chaid.py ORACLES DATA``: a folder with chaid_shared.json, and the data sets that it names with their
dtdata.py. The answers were made without Bonferroni's multipliers, so they are compared with ``bonferroni=False``. Those
for numbers are left out: that package compares variances, not means. At the end, how long fits take on all of adult.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from dtnumba import CHAIDClassifier

CLOSE = 1e-5  # the answers have six digits
MISSING = {"None", "<missing>", "nan"}


class Data:
    """Rows of one configuration, and how the answers spell their values."""

    def __init__(self, dtdata, folder, given):
        name = given["data"].removesuffix(".csv.gz").removesuffix(".npz")
        columns, schema, _ = dtdata.load(folder, name)
        self.schema = {column["name"]: column for column in schema}
        self.kinds = given["predictors"]
        self.names = list(self.kinds)
        target = columns[given["target"]].astype(float)
        has_target = target >= 0 if "levels" in self.schema[given["target"]] else ~np.isnan(target)
        rows = has_target & ~dtdata.is_test(len(target))
        X = np.column_stack([columns[name].astype(float) for name in self.names])
        coded = np.array(["levels" in self.schema[name] for name in self.names])
        X[(X < 0) & coded] = np.nan
        self.X, self.y = X[rows], target[rows].astype(int)
        self.nominal = [f for f, name in enumerate(self.names) if self.kinds[name] == "nominal"]
        self.ordinal = [f for f, name in enumerate(self.names) if self.kinds[name] == "ordinal"]

    def spelled(self, f, value):
        """Return a value as the answers spell it."""
        name = self.names[f]
        if value is None or np.isnan(value):
            return "missing"
        levels = self.schema[name].get("levels")
        if levels is None:
            return str(float(value))
        return levels[int(value)] if self.kinds[name] == "nominal" else str(int(value))

    def has_gap(self, f):
        """Whether values in order are not all neighbours to that package, which merges only n and n + 1."""
        values = np.unique(self.X[:, f][~np.isnan(self.X[:, f])])
        return f in self.ordinal and bool((np.diff(values) != 1).any())


def theirs_of(groups):
    return {frozenset("missing" if one in MISSING else one for one in group) for group in groups}


def ours_of(data, test):
    return {frozenset(data.spelled(test.feature, value) for value in group) for group in test.groups}


def close(a, b):
    return abs(a - b) <= CLOSE * abs(b) + (1e-300 if b == 0 else 0)


def model_of(data, settings, **params):
    model = CHAIDClassifier(
        alpha_merge=settings["alpha_merge"],
        bonferroni=False,
        categorical_features=data.nominal or None,
        ordinal_features=data.ordinal,
        n_jobs=1,
        **params,
    )
    return model.fit(data.X, data.y)


def compare_root(data, given, notes):
    """Return (how many predictors agree, those whose order has gaps, how many there are)."""
    tests = model_of(data, given["settings"], min_parent=2, min_child=1, max_depth=1).root_tests_
    n_same = n_gaps = 0
    for f, name in enumerate(data.names):
        theirs, ours = given["root_by_predictor"].get(name), tests[f]
        if theirs is None:
            same = ours.p_value >= given["settings"]["alpha_merge"]
        else:
            same = ours_of(data, ours) == theirs_of(theirs["groups"])
            same = same and close(ours.statistic, theirs["chi2"]) and close(ours.p_value, theirs["p"])
        n_same += same
        if not same:
            n_gaps += data.has_gap(f)
            reason = "its order has gaps" if data.has_gap(f) else "differs"
            notes.append(f"root, {name}: {reason}: {theirs and (theirs['groups'], theirs['chi2'])}, here {ours[2:5]}")
    return n_same, n_gaps, len(data.names)


def split_of(model, data, node):
    """Return the groups of a node of ours, in the order of the children."""
    trees = model.trees_
    f, left = int(trees.feature[node]), int(trees.left[node])
    rows = np.flatnonzero(model._on_way[:, node])  # noqa: SLF001  set by compare_tree
    groups = []
    for child in range(left, int(trees.right[node]) + 1):
        inside = rows[model._on_way[rows, child]]  # noqa: SLF001
        values = data.X[inside, f]
        groups.append(frozenset(data.spelled(f, value) for value in np.unique(values)))
    return groups


def compare_tree(data, given, notes):
    """Return (inner nodes that agree, those of the answers that were reached)."""
    settings = given["settings"]
    model = model_of(
        data,
        settings,
        min_parent=settings["min_parent_node_size"],
        min_child=settings["min_child_node_size"],
        max_depth=settings["max_depth"],
    )
    model._on_way = model.decision_path(data.X).toarray().astype(bool)  # noqa: SLF001
    children = {}
    for node in given["nodes"]:
        children.setdefault(node["parent"], []).append(node)
    waiting, n_same, n_all = [(given["nodes"][0], 0)], 0, 0
    while waiting:
        theirs, node = waiting.pop()
        split, is_leaf = theirs.get("split"), model.trees_.feature[node] < 0
        if split is None and is_leaf:
            continue
        n_all += 1
        ours = "a leaf" if is_leaf else f"{data.names[model.trees_.feature[node]]} p {model.p_value_[node]:.6g}"
        if split is None or is_leaf:
            notes.append(f"node {theirs['id']}: {split or theirs.get('stop')}, here {ours}")
            continue
        groups, wanted = split_of(model, data, node), theirs_of(split["groups"])
        if data.names[model.trees_.feature[node]] != split["var"] or set(groups) != wanted:
            tied = close(model.p_value_[node], split["p"])
            gap = " (its order has gaps)" if data.has_gap(data.names.index(split["var"])) else ""
            shown = [sorted(group) for group in groups]
            notes.append(f"node {theirs['id']}: {split}{gap}, here {ours} {shown}{' a tie' if tied else ''}")
            continue
        if not close(model.p_value_[node], split["p"]) or not close(model.statistic_[node], split["score"]):
            notes.append(f"node {theirs['id']}: {split}, here {ours}")
            continue
        n_same += 1
        for child in children[theirs["id"]]:
            arm = frozenset("missing" if one in MISSING else one for one in child["arm"])
            at = int(model.trees_.left[node]) + groups.index(arm)
            assert model.trees_.n_samples[at] == child["n"]
            waiting.append((child, at))
    return n_same, n_all


def time_of(fit):
    fit()
    took = []
    for _ in range(3):
        began = time.process_time()
        model = fit()
        took.append(time.process_time() - began)
    return model, min(took)


def main(oracles, folder):
    sys.path.insert(0, str(folder))
    import dtdata

    results = json.loads((Path(oracles) / "chaid_shared.json").read_text())["results"]
    totals = np.zeros(5, int)
    for name, given in results.items():
        if given["settings"].get("dep_variable_type") == "continuous":
            print(f"{name:45s} left out: compares variances")
            continue
        data, notes = Data(dtdata, str(folder), given), []
        counts = [*compare_root(data, given, notes), *compare_tree(data, given, notes)]
        totals += counts
        print(f"{name:45s} predictors {counts[0]} of {counts[2]}, splits {counts[3]} of {counts[4]}")
        for note in notes:
            print("    " + note)
    print(f"predictors {totals[0]} of {totals[2]} ({totals[1]} have gaps), splits {totals[3]} of {totals[4]}")
    X, y, _, nominal = dtdata.matrix(str(folder), "adult")
    for shown, params in {"defaults": {}, "exhaustive": {"exhaustive": True}, "resplit": {"resplit": True}}.items():
        model, took = time_of(lambda params=params: CHAIDClassifier(categorical_features=nominal, **params).fit(X, y))
        print(f"adult, {len(y)} rows, {shown}: {took:.3f} s, {model.n_leaves_} leaves, {model.score(X, y):.4f} right")


if __name__ == "__main__":
    main(*sys.argv[1:3])

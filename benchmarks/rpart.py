"""Trees with surrogates against R's rpart, node by node.

``python benchmarks/rpart.py ORACLES DATA``: a folder with rpart_shared.json, and the data sets that it names with
their dtdata.py. Each split that rpart shows is looked for at the same node here: its variable, what goes where, its
rows, its improvement and its surrogates. Where the variable differs, it is a tie if both improve alike. Then the tree
is pruned by rpart's cp: how many leaves are left, and what they predict; rates that rpart shrinks are not compared.
"""

import json
import sys
from pathlib import Path

import numpy as np

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, prune
from dtnumba.pruners.cost_complexity import CostComplexity

CLOSE = 2e-5  # rpart's answers have eight digits


class Data:
    """Rows and columns of one configuration."""

    def __init__(self, dtdata, folder, given):
        name = given["data"].removesuffix(".csv.gz").removesuffix(".npz")
        self.X, self.y, self.names, self.nominal = dtdata.matrix(folder, name, given["target"], given["dropped"])
        self.categorical = np.flatnonzero(self.nominal).tolist() or None
        _, schema, _ = dtdata.load(folder, name)
        self.levels = {column["name"]: column.get("levels") for column in schema}
        self.classes = self.levels[given["target"]]
        has_target = ~np.isnan(self.y) if self.classes is None else self.y >= 0
        is_test, uses_all = dtdata.is_test(len(self.y)), "TEST" not in str(given["split"])
        self.train = has_target if uses_all else has_target & ~is_test
        self.test = np.ones(len(self.y), bool) if uses_all else is_test
        self.weight = None
        if given["weights"] != "none":
            place = np.cumsum(~is_test) - 1
            self.weight = (1.0 + place % 3)[self.train]


def fitted(given, data, criterion):
    control = given["control"]
    estimator = DecisionTreeClassifier if given["method"] == "class" else DecisionTreeRegressor
    parms = given["parms"] if isinstance(given["parms"], dict) else {}
    more = {"priors": parms.get("prior"), "costs": parms.get("loss")} if given["method"] == "class" else {}
    model = estimator(
        criterion=criterion,
        missing="surrogate",
        use_surrogate=control["usesurrogate"],
        surrogate_style=control["surrogatestyle"],
        max_surrogates=control["maxsurrogate"],
        min_samples_split=control["minsplit"],
        min_samples_leaf=control["minbucket"],
        max_depth=control["maxdepth"],
        categorical_features=data.categorical,
        n_jobs=1,
        **more,
    )
    return model.fit(data.X[data.train], data.y[data.train], sample_weight=data.weight)


def side_of_levels(model, data, f, split, way):
    """Whether the levels go the same way as in rpart's split; returns (same, swapped)."""
    values = model.categories_[f] if hasattr(model, "categories_") else None
    names = data.levels[data.names[f]]
    found = {names[int(value)]: way(k) for k, value in enumerate(values)}
    left = {found[name] for name in split["left_levels"]}
    right = {found[name] for name in split["right_levels"]}
    if len(left) == len(right) == 1 and left != right and -1 not in left | right:
        return True, left == {1}
    return False, False


def compare_split(model, data, node, split):
    """Return (is the same split, whether its sides are swapped)."""
    trees = model.trees_
    f = int(trees.feature[node])
    if f < 0 or data.names[f] != split["var"]:
        return False, False
    if "thr" in split or not data.nominal[f]:
        below = trees.threshold[node]
        x = data.X[data.train][:, f]
        x = x[~np.isnan(x)]
        thr = threshold_of(data, f, split)
        between = (x > min(below, thr)) & (x <= max(below, thr))
        same = abs(below - thr) <= CLOSE * max(1, abs(below)) or not between.any()
        return same, not left_is_below(data, f, split)
    ways = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]]
    return side_of_levels(model, data, f, split, lambda k: int(ways[k]) if k < len(ways) else -1)


def threshold_of(data, f, split):
    if "thr" in split:
        return split["thr"]
    names = data.levels[data.names[f]]  # an ordered one: by level numbers
    left, right = ([names.index(name) for name in split[f"{side}_levels"]] for side in ("left", "right"))
    low, high = (left, right) if max(left) < min(right) else (right, left)
    return (max(low) + min(high)) / 2


def left_is_below(data, f, split):
    if "left" in split:
        return "<" in split["left"]
    names = data.levels[data.names[f]]
    return min(map(names.index, split["left_levels"])) < min(map(names.index, split["right_levels"]))


def improvement(model, node, given):
    """Return the gain in rpart's unit: of the total, of squares by the node's own, of a deviance twice the half."""
    trees = model.trees_
    if given["method"] == "anova":
        return trees.gain[node] / trees.impurity[node]
    parms = given["parms"]
    changed = isinstance(parms, dict) and ("prior" in parms or "loss" in parms)
    # Altered priors weigh the rows; rpart keeps their sum at the number of rows.
    scale = trees.n_samples[0] / trees.weight[0] if changed else 1.0
    unit = 2.0 if given["method"] == "poisson" else np.log(2.0) if "information" in str(parms) else 1.0
    return trees.gain[node] * trees.weight[node] * scale * unit


def compare(name, given, data):
    """Walk both trees together; return counts of what agrees."""
    of_class = "entropy" if "information" in str(given["parms"]) else "gini"
    criterion = {"anova": "squared_error", "poisson": "poisson"}.get(given["method"], of_class)
    model = fitted(given, data, criterion)
    trees, nodes = model.trees_, {node["id"]: node for node in given.get("nodes") or given["nodes_top"]}
    ours, notes = {1: 0}, []
    n_splits = n_same = n_surrogates = n_same_surrogates = 0
    for key in sorted(nodes):
        if key not in ours:
            continue
        node, theirs = ours[key], nodes[key]
        if theirs["n"] != trees.n_samples[node]:
            notes.append(f"node {key}: {theirs['n']} rows, here {trees.n_samples[node]}")
        if "split" not in theirs:
            continue
        n_splits += 1
        split = theirs["split"]
        same, swapped = compare_split(model, data, node, split)
        gap = improvement(model, node, given) - split["improve"] if trees.feature[node] >= 0 else np.nan
        if not same:
            tied = abs(gap) <= CLOSE * max(1, abs(split["improve"]))
            var = data.names[trees.feature[node]] if trees.feature[node] >= 0 else "a leaf"
            notes.append(f"node {key}: {split['var']}, here {var} ({'a tie' if tied else f'improves by {gap:+.3g}'})")
            continue
        if abs(gap) > CLOSE * max(1, abs(split["improve"])):
            notes.append(f"node {key}: improvement {split['improve']}, here {gap:+.3g}")
        n_same += 1
        left = int(trees.left[node])
        ours[2 * key], ours[2 * key + 1] = (left + 1, left) if swapped else (left, left + 1)
        found = surrogates_of(trees, data, node)
        uses = given["control"]["usesurrogate"] > 0  # rpart lists them even if not; nothing here looks for them then
        wanted = [(one["var"], one["agree"], one["adj"]) for one in theirs.get("surrogates", []) if uses]
        n_surrogates += len(wanted)
        alike = sum(
            a[0] == b[0] and abs(a[1] - b[1]) < CLOSE and abs(a[2] - b[2]) < CLOSE
            for a, b in zip(found, wanted, strict=False)
        )
        n_same_surrogates += alike
        if alike < len(wanted) or len(found) != len(wanted):
            notes.append(f"node {key}: surrogates {wanted}, here {found}")
    return model, (n_splits, n_same, n_surrogates, n_same_surrogates), notes


def surrogates_of(trees, data, node):
    own = trees.surrogates
    if len(own.start) == 1:
        return []
    span = range(own.start[node], own.start[node + 1])
    return [(data.names[own.feature[s]], float(own.agreement[s]), float(own.adjusted[s])) for s in span]


def predictions_agree(given, data, model):
    """Share of rows with rpart's prediction; None where it gives none."""
    wanted = given.get("pred")
    shrinks = given["method"] == "poisson" and "shrink" not in str(given["parms"])
    if not wanted or shrinks or not data.test.any():
        return None
    found = model.predict(data.X[data.test][: len(wanted)])
    if given["method"] == "class":
        return float(np.mean(found == np.array(wanted)))
    return float(np.mean(np.abs(found - np.array(wanted)) <= 1e-4 * np.maximum(1, np.abs(wanted))))


def main(oracles, folder):
    sys.path.insert(0, str(folder))
    import dtdata

    results = json.loads((Path(oracles) / "rpart_shared.json").read_text())["results"]
    totals, n_alike = np.zeros(4, int), 0
    for name, given in results.items():
        data = Data(dtdata, str(folder), given)
        model, counts, notes = compare(name, given, data)
        cut_back = prune(model, CostComplexity(cp=given["control"]["cp"]))
        agree = predictions_agree(given, data, cut_back)
        totals += counts
        n_alike += cut_back.n_leaves_ == given["n_leaves"]
        shown = "" if agree is None else f", predictions {agree:.1%}"
        leaves = f"leaves {cut_back.n_leaves_}/{given['n_leaves']}"
        print(f"{name:40s} splits {counts[1]}/{counts[0]}, surrogates {counts[3]}/{counts[2]}, {leaves}{shown}")
        for note in notes[:6]:
            print("    " + note)
    print(f"splits {totals[1]} of {totals[0]}, surrogates {totals[3]} of {totals[2]}")
    print(f"as many leaves in {n_alike} of {len(results)} trees")


if __name__ == "__main__":
    main(*sys.argv[1:3])

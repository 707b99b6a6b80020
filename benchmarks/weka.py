"""Trees of C45Classifier and ID3Classifier against answers of Weka's J48 and Id3.

Two folders are needed: one with ``weka_shared.json``, one with the tables and the ``dtdata.py`` that reads them. Leaves
are counted as Weka counts them: a test on a category has a branch for each declared level, whether a row has it or not.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from dtnumba import C45Classifier, ID3Classifier

ALIKE = 2  # leaves


def parameters(options):
    """Return the parameters of C45Classifier that J48's options stand for."""
    words, given = options.split(), {"variant": "j48"}
    for k, word in enumerate(words):
        if word == "-C":
            given["confidence"] = float(words[k + 1])
        elif word == "-M":
            given["min_objects"] = int(words[k + 1])
        elif word == "-U":
            given["prune"] = None
        elif word == "-B":
            given["binary_splits"] = True
        elif word == "-S":
            given["subtree_raising"] = False
        elif word == "-A":
            given["laplace"] = True
    return given


class Data:
    """A table with its rows, which are trained on, and which are asked about."""

    def __init__(self, dtdata, folder, name, trained_on_all):
        columns, schema, entry = dtdata.load(folder, name)
        target = entry["target"]
        self.schema = [one for one in schema if one["name"] != target]
        y = np.asarray(columns[target], np.float64)
        cells = []
        for one in self.schema:
            column = np.asarray(columns[one["name"]], np.float64)
            cells.append(np.where(column < 0, np.nan, column) if one["kind"] != "numeric" else column)
        X, is_nominal = np.column_stack(cells), [one["kind"] != "numeric" for one in self.schema]
        has_target = ~np.isnan(y) & (y >= 0)
        test = dtdata.is_test(len(y))[has_target]
        self.X, self.y, self.nominal = X[has_target], y[has_target].astype(int), np.flatnonzero(is_nominal)
        self.train = np.ones(len(self.y), bool) if trained_on_all else ~test
        self.test = np.ones(len(self.y), bool) if trained_on_all else test


def declared(model, data):
    """Return leaves and nodes, with a leaf for each declared level that no row of fit has."""
    trees, extra = model.trees_, 0
    for node in np.flatnonzero(trees.feature >= 0):
        f = trees.feature[node]
        if data.schema[f]["kind"] != "numeric" and not getattr(model, "binary_splits", False):
            extra += len(data.schema[f]["levels"]) - len(model.categories_[f])
    return model.n_leaves_ + extra, model.n_nodes_ + extra


def compare(name, given, data, show):
    """Fit what Weka fitted; return (same size, close, rows that agree, rows, notes)."""
    is_id3 = given["class"].endswith("Id3")
    if is_id3:
        model = ID3Classifier(categorical_features=data.nominal.tolist())
    else:
        model = C45Classifier(categorical_features=data.nominal.tolist(), **parameters(given["options"]))
    start = time.process_time()
    model.fit(data.X[data.train], data.y[data.train])
    seconds = time.process_time() - start
    wanted = np.array([-1 if one is None else one for one in given["pred_first_test_rows"]])
    found = model.predict(data.X[data.test][: len(wanted)])
    answered = wanted >= 0
    agree, n = int((found == wanted)[answered].sum()), int(answered.sum())
    shares = given.get("prob_of_second_class")
    off = ""
    if shares is not None and len(model.classes_) == 2:
        gap = np.abs(model.predict_proba(data.X[data.test][: len(shares)])[:, 1] - np.array(shares))
        off = f", shares off by {gap.max():.1e} at most, {int((gap > 1e-3).sum())} by more than 0.001"
    if is_id3:
        print(f"{name:50s} {n} answered, {agree} the same")
        return True, True, agree, n
    leaves, size = declared(model, data)
    theirs = int(given["measureNumLeaves"]), int(given["measureTreeSize"])
    same, close = (leaves, size) == theirs, abs(leaves - theirs[0]) <= ALIKE
    mark = "" if same else f"  <- leaves {leaves}, size {size} here" if close else f"  <<< {leaves}, {size} here"
    print(f"{name:50s} leaves {theirs[0]}, size {theirs[1]}, {agree}/{n}{off}, {seconds:.3f} s{mark}")
    if show and not same:
        print(given.get("text", ""))
    return same, close, agree, n


def main(oracles, folder, only="", *, show=False):
    sys.path.insert(0, str(folder))
    import dtdata

    results = json.loads((Path(oracles) / "weka_shared.json").read_text())["results"]
    totals, n_pairs, tables = np.zeros(4, int), 0, {}
    for name, given in results.items():
        is_ours = given["class"].endswith(("J48", "Id3")) and "-R" not in given["options"].split()
        if not is_ours or only not in name:
            continue
        key = name.partition("/")[0]
        if key not in tables:
            tables[key] = Data(dtdata, str(folder), given["dataset"], key.endswith("@all"))
        totals += compare(name, given, tables[key], show)
        n_pairs += 1
    print(f"{n_pairs} pairs: same size {totals[0]}, within {ALIKE} leaves {totals[1]}; "
          f"rows {totals[2]} of {totals[3]} ({totals[2] / max(totals[3], 1):.2%})")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:4], show=len(sys.argv) > 4)

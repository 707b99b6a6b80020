"""Single trees of C5.0 against the answers of its release 2.07.

Two folders are needed: one with ``c50_shared.json``, one with the tables and the ``dtdata.py`` that reads them. Leaves
are counted as C5.0 counts them: only those that have cases.

    python benchmarks/c50.py ORACLES TABLES [PART_OF_A_NAME] [fast|twin|show]
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from dtnumba import C50Classifier
from tests.naive.c50 import Grower
from tests.naive.c50_soft import Softener


class Data:
    """A table with its rows, which are trained on, and which are asked about."""

    def __init__(self, dtdata, folder, given):
        name = given["data"].partition(".")[0]
        columns, schema, _ = dtdata.load(folder, name)
        target = given["target"]
        self.schema = [one for one in schema if one["name"] != target and one["name"] not in given["dropped"]]
        of_target = next(one for one in schema if one["name"] == target)
        y = np.asarray(columns[target], np.float64)
        cells = []
        for one in self.schema:
            column = np.asarray(columns[one["name"]], np.float64)
            cells.append(np.where(column < 0, np.nan, column) if one["kind"] != "numeric" else column)
        X = np.column_stack(cells)
        has_target = ~np.isnan(y) & (y >= 0)
        test = dtdata.is_test(len(y))[has_target]
        self.X, y = X[has_target], y[has_target].astype(int)
        self.classes = [str(one) for one in given["class_levels"]]
        if "levels" in of_target:
            to = [self.classes.index(str(one)) if str(one) in self.classes else -1 for one in of_target["levels"]]
            y = np.array(to)[y]
        self.y = y
        self.kinds = [one["kind"] for one in self.schema]
        self.n_levels = [len(one.get("levels", [])) for one in self.schema]
        self.train, self.test = ~test, test


def naive(data, given):
    """Return (leaves, labels, probabilities, text) of the plain twin."""
    control = given["control"] or {}
    X, y = data.X[data.train], data.y[data.train]
    costs = given["costs"] and given["costs"]["matrix"]
    grower = Grower(
        X, y, data.kinds, data.n_levels, len(data.classes), costs=costs,
        subset=control.get("subset", True), min_cases=control.get("minCases", 2),
        confidence=control.get("CF", 0.25), global_pruning=not control.get("noGlobalPruning", False),
    ).fit()  # fmt: skip
    asked = data.X[data.test][: len(given["pred_first_test_rows"])]
    shares = (Softener(grower) if control.get("fuzzyThreshold") else grower).shares_of(asked)
    names, levels = [one["name"] for one in data.schema], [one.get("levels") for one in data.schema]
    return (
        max(grower.root.n_within_reach(), 1),
        grower.labels_of(asked),
        shares,
        grower.text(names, levels, data.classes),
    )


def framed(data):
    """Return the table as a frame, in which categories have an order or none."""
    columns = {}
    for one, x in zip(data.schema, data.X.T, strict=True):
        if one["kind"] != "numeric":
            codes = np.where(np.isnan(x), -1, x).astype(int)
            x = pd.Categorical.from_codes(codes, map(str, one["levels"]), ordered=one["kind"] == "ordered")
        columns[one["name"]] = x
    return pd.DataFrame(columns)


def fitted(data, given, table, y):
    """Return a C50Classifier of the rows that are trained on, with the parameters that C5.0 had."""
    control = given["control"] or {}
    return C50Classifier(
        costs=given["costs"] and np.transpose(given["costs"]["matrix"]),
        subset=control.get("subset", True), min_cases=control.get("minCases", 2),
        confidence=control.get("CF", 0.25), global_pruning=not control.get("noGlobalPruning", False),
        fuzzy_threshold=control.get("fuzzyThreshold", False),
    ).fit(table[data.train], y[data.train])  # fmt: skip


def fast(data, given):
    """Return (leaves, labels, probabilities, text) of C50Classifier."""
    table = framed(data)
    model = fitted(data, given, table, data.y)
    asked = table[data.test][: len(given["pred_first_test_rows"])]
    return model.n_leaves_, model.predict(asked), model.predict_proba(asked), []


def main(oracles, folder, only="", show="fast"):
    sys.path.insert(0, str(folder))
    import dtdata

    results = json.loads((Path(oracles) / "c50_shared.json").read_text())["results"]
    tables, totals = {}, np.zeros(4, int)
    for name, given in results.items():
        control = given["control"] or {}
        if given["rules"] or given["trials"] > 1 or control.get("winnow"):
            continue
        if not any(part in name for part in only.split("|")):
            continue
        if given["data"] not in tables:
            tables[given["data"]] = Data(dtdata, str(folder), given)
        data = tables[given["data"]]
        start = time.process_time()
        leaves, labels, shares, text = (fast if show == "fast" else naive)(data, given)
        seconds = time.process_time() - start
        wanted = np.array(given["pred_first_test_rows"])
        agree, n = int((labels == wanted).sum()), len(wanted)
        off = ""
        if "prob_of_second_class" in given:
            gap = np.abs(shares[:, 1] - np.array(given["prob_of_second_class"]))
            off = f", shares off by {gap.max():.1e} at most, {int((gap > 1e-4).sum())} by more than 0.0001"
        theirs = given["size"][0]
        mark = "" if leaves == theirs else f"  <<< {leaves} here"
        print(f"{name:60s} leaves {theirs}, {agree}/{n}{off}, {seconds:.2f} s{mark}", flush=True)
        totals += np.array([1, leaves == theirs, agree, n])
        if show == "show":
            print("\n".join(text))
            print(given.get("output", "")[:3000].partition("Evaluation")[0])
    print(
        f"{totals[0]} trees: same leaves {totals[1]}; "
        f"rows {totals[2]} of {totals[3]} ({totals[2] / max(totals[3], 1):.2%})"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Rules, trials and winnowing of C5.0 against the answers of its release 2.07.

Two folders are needed: one with ``c50_shared.json``, one with the tables and the ``dtdata.py`` that reads them. Sizes
are leaves or rules of each trial, columns those that winnowing keeps, rows the first of the test rows.

    python benchmarks/c50_committees.py ORACLES TABLES [PART_OF_A_NAME]
"""

import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.c50 import Data
from dtnumba import C50Classifier

KEPT = re.compile(r"Estimated importance of remaining attributes:\n\n(.*?)\n\n", re.DOTALL)


def frame_of(data, X):
    """Return rows as a frame: numbers, categories, and categories in order."""
    columns = {}
    for x, kind, one in zip(X.T, data.kinds, data.schema, strict=True):
        codes = np.where(np.isnan(x), -1, x).astype(int)
        levels = [str(level) for level in one.get("levels", [])]
        is_ordered = kind == "ordered"
        columns[one["name"]] = x if kind == "numeric" else pd.Categorical.from_codes(codes, levels, ordered=is_ordered)
    return pd.DataFrame(columns)


def model_of(given):
    """Return the model with the parameters of an answer."""
    control = given["control"] or {}
    return C50Classifier(
        trials=given["trials"], rules=given["rules"], winnow=control.get("winnow", False),
        bands=control.get("bands", 0), fuzzy_threshold=control.get("fuzzyThreshold", False),
        costs=given["costs"] and np.transpose(given["costs"]["matrix"]).tolist(),
    )  # fmt: skip


def group_of(given):
    """Return what an answer is about."""
    kind = "rules" if given["rules"] else "trees"
    if given["costs"]:
        return f"{kind}, costs"
    if (given["control"] or {}).get("winnow"):
        return f"{kind}, winnowed"
    return f"{kind}, {given['trials']} trials" if given["trials"] > 1 else kind


def main(oracles, folder, only=""):
    """Print a line an answer, and one a group of them."""
    sys.path.insert(0, str(folder))
    import dtdata

    results = json.loads((Path(oracles) / "c50_shared.json").read_text())["results"]
    tables, totals = {}, {}
    for name, given in results.items():
        group = group_of(given)
        if group == "trees" or only not in name:
            continue
        if given["data"] not in tables:
            tables[given["data"]] = Data(dtdata, str(folder), given)
        data = tables[given["data"]]
        rows, asked = frame_of(data, data.X[data.train]), frame_of(data, data.X[data.test])
        y = np.array(data.classes, object)[data.y]
        start = time.perf_counter()
        model = model_of(given).fit(rows, y[data.train])
        seconds = time.perf_counter() - start
        labels, wanted = model.predict(asked), np.array(data.classes, object)[given["pred_first_test_rows"]]
        error, agree = float((labels != y[data.test]).mean()), int((labels[: len(wanted)] == wanted).sum())
        sizes = [1 if size is None else size for size in given["size"]]
        same = model.sizes_ == sizes or (given["size"] == [None] and model.n_trials_ == 1)
        shown = "" if same else f"  <<< {model.sizes_}"
        if "winnow" in group:
            listed = KEPT.search(given["output"])
            kept = {line.split()[1] for line in listed[1].split("\n")} if listed else set(rows.columns)
            own = set(rows.columns[np.setdiff1d(np.arange(rows.shape[1]), model.winnowed_features_)])
            same, shown = own == kept, "" if own == kept else f"  <<< {sorted(own ^ kept)}"
        off = ""
        if "prob_of_second_class" in given:
            shares = model.predict_proba(asked)[: len(wanted), list(model.classes_).index(data.classes[1])]
            off = f", shares off by {np.abs(shares - np.array(given['prob_of_second_class'])).max():.0e}"
        print(
            f"{name:34s} {given['size']}, {agree}/{len(wanted)}, error {given['test_error']:.4f} {error:.4f}{off}, "
            f"{seconds:.2f} s{shown}",
            flush=True,
        )
        own = totals.setdefault(group, np.zeros(6))
        own += np.array([1, same, agree, len(wanted), given["test_error"], error])
    for group, (n, same, agree, n_rows, theirs, error) in totals.items():
        print(
            f"{group}: {n:.0f}, the same {same:.0f}, rows {agree:.0f} of {n_rows:.0f} ({agree / n_rows:.2%}), "
            f"mean error {theirs / n:.4f} there, {error / n:.4f} here"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

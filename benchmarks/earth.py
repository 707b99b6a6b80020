"""MARS against the answers of R's earth: terms, knots, coefficients, RSS and GCV of every size, predictions.

``python benchmarks/earth.py ORACLES DATA``: a folder with earth_shared.json, and the data sets that it names with their
dtdata.py. A line a configuration: whether the forward pass has the same terms and the model the same size, the largest
relative differences of the RSS and the GCV of all sizes, of the GCV and RSS chosen and of the coefficients, and the
share of rows that are predicted alike to 1e-4.
"""

import json
import re
import sys
import time
from pathlib import Path

import numpy as np

from dtnumba import MARSClassifier, MARSRegressor

CLOSE, ALIKE = 1e-6, 1e-4
OPTIONS = {
    "degree": "max_degree",
    "minspan": "minspan",
    "endspan": "endspan",
    "fast.k": "fast_k",
    "fast.beta": "fast_beta",
    "Adjust.endspan": "adjust_endspan",
    "Auto.linpreds": "auto_linear",
    "penalty": "penalty",
    "nk": "max_terms",
    "nprune": "max_pruned_terms",
    "thresh": "threshold",
    "newvar.penalty": "newvar_penalty",
}
SIGNS = {1: ">", -1: "<", 2: "~"}


def rows_of(dtdata, folder, key, given):
    """Return the columns as earth reads them, their names, the target, and the rows to fit and to predict."""
    columns, schema, _ = dtdata.load(folder, given["data"].partition(".")[0])
    kinds = {column["name"]: column for column in schema}
    wanted = given["target"]
    name = wanted[4:-1] if wanted.startswith("log(") else wanted
    y = columns[name].astype(float)
    kept, X, names = (y >= 0) if "levels" in kinds[name] else ~np.isnan(y), [], []
    for predictor in given["predictors"]:
        values, kind = columns[predictor].astype(float), kinds[predictor]["kind"]
        kept &= ~np.isnan(values) if kind == "numeric" else values >= 0
        if kind == "nominal":
            levels = kinds[predictor]["levels"]
            X += [(values == k).astype(float) for k in range(1, len(levels))]
            names += [f"{predictor}{level}" for level in levels[1:]]
        else:
            X.append(values + (kind == "ordered"))
            names.append(predictor)
    is_test, X = dtdata.is_test(len(y)), np.column_stack(X)
    train, test = np.flatnonzero(kept & ~is_test), np.flatnonzero(kept & is_test)
    if len(train) > given["n_train"]:  # the first of them
        train = train[: given["n_train"]]
    if len(train) != given["n_train"]:
        raise ValueError(f"{key}: {len(train)} rows, and the answers are of {given['n_train']}")
    return X, names, np.log(y) if wanted != name else y, train, test


def model_of(given):
    """Return the model that a configuration asks for, and whether its answers are of classes."""
    settings = given["settings"] or {}
    options = {OPTIONS[name]: value for name, value in settings.items() if name in OPTIONS}
    method = settings.get("pmethod", "backward")
    options["prune"] = None if method == "none" else method
    return (MARSClassifier if "glm" in settings else MARSRegressor)(**options)


def theirs_of(term):
    """Return a term of the answers: column, sign and knot of each factor."""
    if isinstance(term, str):
        parts = (
            []
            if term == "(Intercept)"
            else [re.fullmatch(r"(.*)([><~])([-0-9.e+]+)", part) for part in term.split(" * ")]
        )
        found = [(part[1], part[2], float(part[3])) for part in parts]
    else:
        found = [(factor["var"], SIGNS[factor["dir"]], float(factor["knot"])) for factor in term["factors"]]
    return sorted((name, sign, None if sign == "~" else knot) for name, sign, knot in found)


def ours_of(term, names):
    return sorted((names[f.column], SIGNS[f.direction], f.knot) for f in term.factors)


def is_same(one, other):
    """Tell whether two terms are the same; knots are written with few digits."""
    if [factor[:2] for factor in one] != [factor[:2] for factor in other]:
        return False
    knots = [(a[2], b[2]) for a, b in zip(one, other, strict=True) if a[2] is not None]
    return all(abs(a - b) <= ALIKE * max(abs(a), abs(b), 1e-9) for a, b in knots)


def compared(dtdata, folder, key, given):
    """Return what a configuration shows, by name."""
    X, names, y, train, test = rows_of(dtdata, folder, key, given)
    began = time.perf_counter()
    model = model_of(given).fit(X[train], y[train] > 0 if "glm" in (given["settings"] or {}) else y[train])
    seconds = time.perf_counter() - began
    ours = [ours_of(term, names) for term in model.forward_terms_]
    theirs = [theirs_of(term) for term in given["forward_terms"]]
    path = {"rss": given["rss_per_subset"], "gcv": given["gcv_per_subset"]}
    n = min(len(path["rss"]), len(model.path_.rss))
    worst = {name: np.max(np.abs(getattr(model.path_, name)[:n] / np.array(path[name][:n]) - 1)) for name in path}
    coefficients, name = [], "glm_coef" if isinstance(model, MARSClassifier) else "coef"
    chosen = [(theirs_of(term), term[name]) for term in given["selected_terms"]]
    for term in model.terms_:
        own = next((value for factors, value in chosen if is_same(ours_of(term, names), factors)), np.nan)
        coefficients.append(abs(term.coefficient / own - 1))
    wanted = np.array(given["pred_first_test_rows"], float)
    said = model.predict_proba(X[test])[:, 1] if isinstance(model, MARSClassifier) else model.predict(X[test])
    said = said[: len(wanted)]
    return {
        "terms": len(ours) == len(theirs) and all(map(is_same, ours, theirs)),
        "size": model.n_terms_ == given["n_selected"],
        **worst,
        "chosen": max(model.gcv_ / given["gcv"] - 1, model.rss_ / given["rss"] - 1, key=abs),
        "coefficients": float(np.max(coefficients)),
        "rows": float(
            np.mean(np.abs(said - wanted[: len(said)]) <= ALIKE * np.maximum(np.abs(wanted[: len(said)]), 1e-9))
        ),
        "seconds": seconds,
        "theirs": given["fit_seconds"],
    }


def main(oracles, data):
    sys.path.insert(0, data)
    import dtdata

    results = json.loads((Path(oracles) / "earth_shared.json").read_text())["results"]
    found = {key: compared(dtdata, data, key, given) for key, given in results.items()}
    heads = "same terms", "same size", "RSS of all sizes", "GCV of all sizes", "chosen", "coefficients", "rows"
    print(f"| configuration | {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|")
    for key, one in found.items():
        words = ["yes" if one[name] else "**no**" for name in ("terms", "size")]
        numbers = [f"{one[name]:.1e}" for name in ("rss", "gcv", "chosen", "coefficients")]
        print(f"| {key} | {' | '.join(words + numbers)} | {one['rows']:.1%} |")
    n = len(found)
    same = sum(one["terms"] for one in found.values())
    close = sum(max(one["rss"], one["gcv"], abs(one["chosen"])) <= CLOSE for one in found.values())
    print(f"\n{same} of {n} have the same terms, {close} of {n} all RSS and GCV to {CLOSE:g};", end=" ")
    print(f"{np.mean([one['rows'] for one in found.values()]):.1%} of rows are predicted alike to {ALIKE:g}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What must hold of every fit, whatever was drawn: each check takes a case and its fitted model, and raises Wrong."""

import pickle
import re
import traceback
from dataclasses import fields
from pathlib import Path

import numpy as np
from soak_draw import estimators

import dtnumba
from dtnumba.growth.binary import grow_in_parallel
from dtnumba.tables.bins import SAMPLE_ROWS
from dtnumba.trees.check import check
from dtnumba.trees.layout import BY_SHARE

PACKAGE = Path(dtnumba.__file__).parent
# Draw rows, by place
DRAWING = {"validation_fraction": None, "prune": {"reduced_error", "cost_complexity"}, "max_leaf_nodes": {"cv"},
           "windowing": {True}, "sample": None, "winnow": {True}, "approximate": {True}}  # fmt: skip
FLOATS = {"C45Classifier", "C50Classifier"}
N_ASKED = 300  # rows of which predictions are compared


class Wrong(Exception):  # noqa: N818  it says what was found
    """What a fit does that it must not."""


class Refused(Exception):  # noqa: N818
    """A documented error: the combination drawn is not legal."""


def demand(condition, what):
    if not condition:
        raise Wrong(what)


def fitted(case, **others):
    """Return the fitted model; raise Refused for documented errors, and what else is raised as it is."""
    model = case.model(**others)
    # Threads share small tables, too: more of them are tried in the same time
    grow_in_parallel.PARALLEL_ROWS, grow_in_parallel._PARALLEL_WORK = case.kind.shared_rows, 0  # noqa: SLF001
    try:
        return model.fit(*case.arguments())
    except (ValueError, TypeError) as error:
        if is_documented(error, case.kind.name):
            raise Refused(str(error)) from error
        raise


def is_documented(error, name):
    """Tell whether an error was raised on purpose, by the package itself, and names a parameter or an argument."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    is_raised = PACKAGE in Path(last.filename).parents and (last.line or "").lstrip().startswith("raise ")
    names = [one.name for one in fields(estimators()[name])] + ["X", "y", "sample_weight", "column", "columns"]
    return is_raised and re.search(rf"\b({'|'.join(names)})\b", str(error)) is not None


def bits(model, X):
    """Return every array of a fitted model and of what it predicts of X, by name."""
    if hasattr(model, "splines_"):
        found = {"the terms": np.array(list(map(str, model.terms_))), "coefficients": model.splines_.coefficients}
    elif hasattr(model, "trees_"):
        found = named_arrays(model.trees_)
    else:
        found = {"the rules": np.array(str(model.rules_).encode())}
    found["predict"] = np.asarray(model.predict(X))
    if hasattr(model, "predict_proba"):
        found["predict_proba"] = np.concatenate([np.asarray(part).ravel() for part in _parts(model.predict_proba(X))])
    return {name: array.astype("U") if array.dtype == object else array for name, array in found.items()}


def named_arrays(trees, prefix=""):
    """Return the arrays of Trees, and of their surrogates, by name."""
    found = {}
    for name, part in zip(trees._fields, trees, strict=True):
        found |= named_arrays(part, "surrogate ") if hasattr(part, "_fields") else {prefix + name: np.asarray(part)}
    return found


def _parts(shares):
    return shares if isinstance(shares, list) else [shares]


def demand_same(one, two, what, *, but=0.0):
    """Demand the same bits; with ``but``, values that may differ by so much of the largest."""
    differing = [name for name in one if not _are_same(one[name], two[name], but)]
    demand(not differing, f"{what}: {', '.join(differing)} differ")


def _are_same(one, two, but):
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.tobytes() == two.tobytes():
        return True
    if one.dtype.kind != "f" or but == 0.0:
        return False
    return np.allclose(one, two, rtol=0.0, atol=but * np.abs(one[np.isfinite(one)]).max(initial=0), equal_nan=True)


def arrays_are_trees(case, model):
    if hasattr(model, "trees_"):
        check(model.trees_, case.X.shape[1])


def threads(case, model):
    """1, 2 and 3 threads: the same bits."""
    X = case.given(slice(N_ASKED))
    alone = bits(model, X)
    for n_jobs in (2, 3):
        demand_same(alone, bits(fitted(case, n_jobs=n_jobs), X), f"one thread and n_jobs={n_jobs}")


def _draws_rows(case):
    given = case.kind.parameters
    if any(given.get(name) is not None and (those is None or given[name] in those) for name, those in DRAWING.items()):
        return True
    return "Forest" in case.kind.name or "Trees" in case.kind.name


def shuffled_rows(case, model):
    """The order of the rows changes nothing, where none are drawn by their place."""
    given = case.kind.parameters
    if _draws_rows(case) or (given.get("max_bins") is not None and len(case.X) > SAMPLE_ROWS):
        return
    if hasattr(model, "splines_"):  # sums of floats over rows, which may decide between terms that explain as much
        return
    X, order = case.given(slice(N_ASKED)), np.random.default_rng(case.seed).permutation(len(case.X))
    # Pruners that count parts of rows, and rules, add up floats
    is_counted_anew = "fractional" in given.values() and given.get("prune") is not None
    but = 1e-9 if hasattr(model, "rules_") or case.kind.name in FLOATS or is_counted_anew else 0.0
    demand_same(bits(model, X), bits(fitted(case.kept(order), n_jobs=1), X), "the same rows in another order", but=but)


def repeated_rows(case, model):
    """A row of weight k is k rows, where nothing counts rows: no limits, no bins, no draws."""
    given = case.kind.parameters | case.parameters
    counting = {"max_bins", "min_samples_leaf", "min_samples_split", "prune", "min_impurity_decrease", "n_folds",
                "thresholds"}  # fmt: skip
    binning = "CHAID" in case.kind.name or case.kind.name == "DecisionListClassifier"
    if case.kind.weight != "whole" or _draws_rows(case) or counting & set(given) or binning or not case.kind.of_classes:
        return
    if given.get("missing", "learned") not in {"learned", "majority", "error"} or not hasattr(model, "trees_"):
        return
    times = case.weight.astype(int)
    if case.levels and (times == 0).any():
        return  # a level that only rows of weight 0 have is a level all the same
    other = case.kept(np.repeat(np.arange(len(times)), times)).unweighted()
    twin = fitted(other, n_jobs=1)
    X = case.given(np.flatnonzero(times)[:N_ASKED])
    demand(model.n_nodes_ == twin.n_nodes_, f"{model.n_nodes_} nodes, {twin.n_nodes_} with the rows repeated")
    demand(np.array_equal(model.predict(X), twin.predict(X)), "labels differ with the rows repeated")


def probabilities(case, model):
    """Shares are at least 0, sum to one, and the largest is the label."""
    if not hasattr(model, "predict_proba"):
        return
    X = case.given(slice(N_ASKED))
    labels = model.predict(X)
    labels = labels if labels.ndim == 2 else labels[:, None]
    lists = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    for o, (shares, classes) in enumerate(zip(_parts(model.predict_proba(X)), lists, strict=True)):
        demand(np.isfinite(shares).all() and (shares >= 0).all(), "a share is not finite or below 0")
        demand(np.abs(shares.sum(axis=1) - 1).max(initial=0) < 1e-9, "shares do not sum to 1")
        if getattr(model, "costs_", None) is None and hasattr(model, "trees_") and not getattr(model, "laplace", False):
            said = np.searchsorted(classes, labels[:, o])
            own = shares[np.arange(len(shares)), said]
            demand((own >= shares.max(axis=1) - 1e-12).all(), "the label is not the class of the largest share")


def leaves(case, model):
    """``apply`` names leaves, and their values are what is predicted."""
    if not hasattr(model, "tree_"):
        return
    X, trees = case.given(slice(N_ASKED)), model.trees_
    at = model.apply(X)
    demand(((at >= 0) & (at < trees.n_nodes)).all(), "apply names a node that is not there")
    if trees.policy == BY_SHARE or trees.may_stay:
        return
    demand((trees.feature[at] < 0).all(), "apply names an inner node")
    if not case.kind.of_classes and case.y.ndim == 1:
        demand(np.array_equal(trees.value[at, 0], model.predict(X)), "the value of the leaf is not what is predicted")


def pickled(case, model):
    X = case.given(slice(N_ASKED))
    demand_same(bits(model, X), bits(pickle.loads(pickle.dumps(model)), X), "before and after pickle")  # noqa: S301


def batches(case, model):
    """Rows asked one by one, and in two parts, say what they say together."""
    together = model.predict(case.given(slice(N_ASKED)))
    n, ask = min(len(case.X), N_ASKED), getattr(model, "predict_proba", model.predict)
    shares = _parts(ask(case.given(slice(n))))
    for rows in (*(slice(i, i + 1) for i in range(min(n, 4))), slice(n // 2, n)):
        if rows.start == n:
            continue
        demand(np.array_equal(model.predict(case.given(rows)), together[rows]), f"rows {rows} by themselves: labels")
        for one, all_rows in zip(_parts(ask(case.given(rows))), shares, strict=True):
            demand(np.array_equal(one, all_rows[rows]), f"rows {rows} by themselves: values")


def limits(case, model):
    """Depth, leaves, rows of leaves and of divided nodes keep to what was asked for."""
    if not hasattr(model, "trees_"):
        return
    given, trees, n = case.kind.parameters, model.trees_, len(case.X)
    of_one = np.diff(trees.root)
    if given.get("max_leaf_nodes") not in {None, "cv"}:
        owner = np.repeat(np.arange(len(of_one)), of_one)
        n_leaves = np.bincount(owner[trees.feature < 0])
        multiway = "multiway" in given.values() or given.get("missing") == "branch" or case.kind.name == "ID3Classifier"
        demand(multiway or n_leaves.max() <= given["max_leaf_nodes"], f"{n_leaves.max()} leaves")
    if given.get("max_depth") is not None and hasattr(model, "depth_"):
        demand(model.depth_ <= given["max_depth"], f"depth {model.depth_}")
    whole = not _draws_rows(case) and given.get("missing") not in {"fractional", "surrogate"}
    if not whole or given.get("prune") is not None or "min_samples_leaf" not in given or len(of_one) > 1:
        return
    least = given["min_samples_leaf"]
    least = least if isinstance(least, int) else int(np.ceil(least * n))
    is_leaf, n_nodes = trees.feature < 0, len(trees.feature)
    if n_nodes > 1 and "multiway" not in given.values():
        fewest = trees.n_samples[is_leaf].min()
        demand(fewest >= least, f"a leaf of {fewest} rows")


def monotone(case, model):
    """Predictions do not fall along a column whose sign is 1, nor rise where it is -1."""
    signs = case.parameters.get("monotonic_cst")
    if signs is None or not any(signs) or case.kind.container not in {"array", "fortran", "strided", "read only"}:
        return
    base = case.X[np.isfinite(case.X.astype(float)).all(axis=1)][:20]
    for f in np.flatnonzero(signs)[:5]:
        values = np.unique(case.X[:, f][np.isfinite(case.X[:, f].astype(float))])
        values = values[np.linspace(0, len(values) - 1, min(30, len(values))).astype(int)] if len(values) else values
        for row in base:
            grid = np.repeat(row[None], len(values), axis=0)
            grid[:, f] = values
            said = model.predict_proba(grid)[:, 1] if case.kind.of_classes else model.predict(grid)
            steps = np.diff(said) * signs[f]
            scale = np.abs(said).max(initial=0)
            demand((steps >= -1e-9 * scale).all(), f"predictions are not monotonic in column {f}")


def interrupted(case, model):
    """A search that is stopped anywhere has a tree that loses what it says, and a bound that holds."""
    if not hasattr(model, "lower_bound_"):
        return
    draw, calls = np.random.default_rng([case.seed, 2]), []
    last, seconds = int(draw.integers(0, 4)), float(draw.choice([0.0, 0.02, 0.1]))

    def stop(progress):
        calls.append(progress.seconds)
        return len(calls) <= last

    said = {"max_seconds": seconds} if draw.random() < 0.5 else {"verbose": stop}
    depth = case.kind.parameters["max_depth"] + int(draw.integers(0, 2)) * 2
    halted = fitted(case, n_jobs=1, max_depth=depth, **said)
    steps, close = halted.history_, 1e-9 * max(abs(halted.objective_), 1e-300)
    demand(halted.lower_bound_ <= halted.objective_, "the bound is above the objective")
    demand((np.diff(steps[:, 1]) <= 0).all(), "the objective rises")
    demand((np.diff(steps[:, 2]) >= 0).all(), "the bound falls")
    demand(halted.depth_ <= depth, f"depth {halted.depth_}")
    if depth == case.kind.parameters["max_depth"]:
        demand(halted.objective_ >= model.lower_bound_ - close, "a halted search finds what is proven not to be")
        demand(halted.lower_bound_ <= model.objective_ + close, "a halted search proves what is not so")
    check(halted.trees_, case.X.shape[1])


def _take(model, case, rows):
    model.partial_fit(*case.arguments(rows)[:2], sample_weight=None if case.weight is None else case.weight[rows])
    return model.trees_  # a lazy one follows


def rows_come_and_go(case, model):
    """Rows that came in parts, and some that went and came again, leave the tree of a fit to all."""
    if not hasattr(model, "forget_ids") or model.approximate or len(case.X) < 4:
        return
    X, rows = case.given(slice(N_ASKED)), np.array_split(np.random.default_rng(case.seed).permutation(len(case.X)), 3)
    rows = [np.sort(part) for part in rows] if not _draws_rows(case) else np.array_split(np.arange(len(case.X)), 3)
    try:
        other = case.model(n_jobs=1)
        for part in rows:
            _take(other, case, part)
    except (ValueError, TypeError) as error:
        if is_documented(error, case.kind.name):
            return
        raise
    demand_same(bits(model, X), bits(other, X), "rows in one part and in three")
    if not _draws_rows(case):
        again = rows[0][: len(rows[0]) // 2 + 1]
        if case.weight is not None and not (np.delete(case.weight, again).any() and case.weight[again].any()):
            return
        try:
            other.forget_ids(np.arange(len(again)))
        except (ValueError, TypeError) as error:  # what is left cannot be fitted
            demand(is_documented(error, case.kind.name), str(error))
            return
        _take(other, case, again)
        demand_same(bits(model, X), bits(other, X), "before rows went and came again, and after")


CHECKS = (
    arrays_are_trees, probabilities, leaves, batches, pickled, limits, monotone, threads, shuffled_rows, repeated_rows,
    interrupted, rows_come_and_go,
)  # fmt: skip

"""Small tables that are hard on a tree, for hypothesis: few draws a table, so that many tables fit into a second."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.criteria.classification import Gini
from dtnumba.criteria.contract import names_for
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.layout import NO_MAP, Trees
from dtnumba.trees.linear import linear_tests

INF = float("inf")
EXTREMES = {
    np.float64: [-INF, -1e300, -5e-324, -0.0, 0.0, 5e-324, 1e-323, 1.0, np.nextafter(1.0, 2.0), 1e300, INF],
    np.float32: [-INF, -3e38, -1e-45, -0.0, 0.0, 1e-45, 3e-45, 1.0, 1.0 + 2.0**-23, 3e38, INF],
}
DTYPES = tuple(EXTREMES)
COLUMNS = ("constant", "few", "many", "extreme", "missing", "mostly missing", "all missing")
WEIGHTS = ("none", "zeros", "whole", "halves", "real")


# Every pair of a criterion and a splitter is a kernel of its own, which takes 5 to 10 s to compile. What depends on the
# criterion alone is shown interpreted for all of them, and compiled for one a mechanism: a score, a choice by more than
# the gain, a gain of its own, moments, a loss, ranks.
MECHANISMS = ("gini", "squared_error", "absolute_error")
# For what would compile for ten seconds or more to show what another test shows compiled of a sibling.
interpreted_only = pytest.mark.interpreted


def compiled_where(cases, shown=MECHANISMS):
    """Return parameters of a test: all cases, such as criteria, interpreted, and compiled those shown so.

    A case of several parameters is a tuple.
    """
    given = [case if isinstance(case, tuple) else (case,) for case in cases]
    marks = [() if case in shown else interpreted_only for case in cases]
    return [pytest.param(*values, marks=mark) for values, mark in zip(given, marks, strict=True)]


def examples(most):
    """Settings with so many examples at most; few where kernels are interpreted."""
    return settings(max_examples=most if COMPILED else 4)


@dataclass(frozen=True)
class Sample:
    """A table with its target and weights."""

    X: np.ndarray
    y: np.ndarray  # (n,) or (n, outputs)
    weight: np.ndarray | None

    @property
    def n_rows(self):
        return len(self.X)

    @property
    def kept(self):
        """Rows of positive weight."""
        return np.arange(self.n_rows) if self.weight is None else np.flatnonzero(self.weight)

    @property
    def n_classes(self):
        return tuple(len(np.unique(column)) for column in np.atleast_2d(self.y.T))

    def take(self, rows):
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight)

    def for_naive(self, *, classes):
        """Return (X, y, w) of the rows of positive weight, and the numbers of classes; labels as codes."""
        y = self.y if self.y.ndim == 2 else self.y[:, None]
        if classes:
            y = np.stack([np.unique(column, return_inverse=True)[1] for column in y.T], axis=1)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        rows = self.kept
        return (self.X[rows], y[rows], weight[rows]), self.n_classes if classes else ()


def column(kind, rng, n, dtype):
    """Draw a column of n values of one of COLUMNS."""
    if kind == "constant":
        values = np.full(n, rng.integers(-2, 3))
    elif kind == "many":
        values = rng.normal(size=n)
    elif kind == "extreme":
        values = rng.choice(EXTREMES[dtype], n)
    else:
        values = rng.integers(0, rng.integers(2, 6), n).astype(float)
    share = {"missing": 0.3, "mostly missing": 0.8, "all missing": 1.0}.get(kind, 0.0)
    values = np.where(rng.random(n) < share, np.nan, values)
    return values.astype(dtype)


def weights(kind, rng, n):
    """Draw n weights of one of WEIGHTS, not all zero."""
    if kind == "none":
        return None
    if kind == "real":
        return rng.uniform(0.01, 4.0, n)
    drawn = {"zeros": rng.integers(0, 2, n), "whole": rng.integers(0, 4, n), "halves": rng.integers(0, 9, n) / 8}[kind]
    drawn[rng.integers(n)] = 1
    return drawn.astype(float)


def numbers(rng, n, outputs, *, counts):
    """Draw targets: constant, few-valued or real; counts where the criterion wants them."""
    columns = []
    for _ in range(outputs):
        kind = rng.integers(4)
        if kind == 0:
            values = np.full(n, 3.0)
        elif kind == 1 or counts:
            values = rng.integers(0, 5, n).astype(float)
        else:
            values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + (rng.integers(-2, 3) * 100 if kind == 3 else 0)
        columns.append(values)
    y = np.stack(columns, axis=1)
    if counts:
        y[:, y.sum(axis=0) == 0] = 1.0
    return y


@st.composite
def samples(draw, *, classes, outputs=1, counts=False, weight=WEIGHTS, max_rows=24, dtypes=DTYPES, narrow=False):
    """Tables with class labels (``classes``) or numbers as targets.

    ``narrow``: float64, three classes or more, and weights, so that every table takes the same compiled kernels.
    """
    n = draw(st.integers(3 if narrow else 1, max_rows))
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    dtype = draw(st.sampled_from([np.float64] if narrow else dtypes))
    weight_kind = draw(st.sampled_from([kind for kind in weight if kind != "none" or not narrow]))
    most = draw(st.integers(3 if narrow else 1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    X = np.stack([column(kind, rng, n, dtype) for kind in kinds], axis=1)
    w = weights(weight_kind, rng, n)
    if narrow:
        w[np.flatnonzero(w)[0]] += 1
    if classes:
        y = rng.integers(0, [most, 3][:outputs], (n, outputs))
        if narrow:
            y[:3] = rng.permutation(3)[:, None]
    else:
        y = numbers(rng, n, outputs, counts=counts)
        if counts and w is not None:
            y[np.flatnonzero(w)[0]] += 1.0
    return Sample(X, y if outputs > 1 else y[:, 0], w)


def fit(sample, criterion, **params):
    """Fit a tree to a sample on one thread; return the estimator."""
    estimator = DecisionTreeClassifier if criterion in names_for("classes") else DecisionTreeRegressor
    params = {"n_jobs": 1, "random_state": 0} | params
    return estimator(criterion=criterion, **params).fit(sample.X, sample.y, sample_weight=sample.weight)


class UnmarkedGini(Gini):
    """Gini with a score of its own, of which nobody knows that it is convex, or what it is roughly."""

    __slots__ = ()

    def score(self, left, right, weight_left, weight_right):
        squares_left = squares_right = 0.0
        for k in range(len(left)):
            squares_left += left[k] * left[k]
            squares_right += right[k] * right[k]
        return (squares_left * weight_right + squares_right * weight_left) / (weight_left * weight_right)


def same_trees(a, b, *, but=()):
    """Whether two Trees hold the same bits in every column but those named."""
    for name in set(a._fields) - set(but):
        one, other = getattr(a, name), getattr(b, name)
        if isinstance(one, tuple):
            if not same_trees(one, other):
                return False
            continue
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype or not np.array_equal(one, other, equal_nan=True):
            return False
    return True


# Trees by hand: a leaf is its value; a node is a dict with "feature", "children" and a test: "threshold" or "levels",
# the categories that go left ("missing": whether missing values go left), or "cuts" and/or "map" ("missing": the number
# of the child they go to). With "terms", (column, weight, what a missing value counts as) each, the threshold is one of
# their sum.


def layout(*specs):
    """Return the Trees of nested descriptions, numbered as the package numbers them."""
    rows, roots = [], [0]
    for spec in specs:
        rows.append(spec)
        stack = [len(rows) - 1]
        while stack:
            at = stack.pop()
            if isinstance(rows[at], dict):
                children = rows[at]["children"]
                rows[at] = rows[at] | {"left": len(rows), "right": len(rows) + len(children) - 1}
                stack += range(len(rows) + len(children) - 1, len(rows) - 1, -1)
                rows += children
        roots.append(len(rows))

    def each(name, otherwise, dtype):
        return np.array([row.get(name, otherwise) if isinstance(row, dict) else otherwise for row in rows], dtype)

    def ragged(name, dtype):
        parts = [row.get(name, []) if isinstance(row, dict) else [] for row in rows]
        if not any(parts):
            return NO_MAP, np.empty(0, dtype)
        return np.cumsum([0, *map(len, parts)]), np.concatenate([np.array(part, dtype) for part in parts])

    branch_start, branch = ragged("map", np.int32)
    cut_start, cut = ragged("cuts", np.float64)
    level_start, level = ragged("levels", np.int32)
    terms = [row.get("terms", []) if isinstance(row, dict) else [] for row in rows]
    column, weight, stand_in = np.array([t for own in terms for t in own] or np.zeros((0, 3)), np.float64).T.copy()
    share = np.concatenate([np.full(len(own), 1.0 / max(len(own), 1)) for own in terms])
    m = len(rows)
    return Trees(
        root=np.array(roots),
        feature=each("feature", -1, np.int32),
        threshold=each("threshold", np.nan, np.float64),
        left=each("left", -1, np.int32),
        right=each("right", -1, np.int32),
        missing_left=each("missing", 0, np.uint8),
        value=np.array([[np.nan if isinstance(row, dict) else row] for row in rows], dtype=np.float64),
        branch_start=branch_start,
        branch=branch,
        cut_start=cut_start,
        cut=cut,
        level_start=level_start,
        level=level,
        n_samples=np.ones(m, np.int64),
        weight=np.ones(m),
        impurity=np.zeros(m),
        gain=np.zeros(m),
        linear=linear_tests(np.array([len(own) for own in terms]), column, weight, stand_in, share),
    )


def sum_of(terms, row):
    """Add up the terms of a test for a row; NaN where all its values are missing."""
    total = 0.0
    for column, weight, stand_in in terms:
        total += weight * float(stand_in if np.isnan(row[column]) else row[column])
    return np.nan if all(np.isnan(row[column]) for column, _, _ in terms) else total


def walk(spec, row):
    """Follow one row down a nested description; return the leaf's value."""
    while isinstance(spec, dict):
        x, fan = row[spec["feature"]], len(spec["children"])
        if "terms" in spec:
            x = sum_of(spec["terms"], row)
        if "threshold" in spec or "levels" in spec:
            fits = x in spec["levels"] if "levels" in spec else x <= spec["threshold"]
            goes_left = spec.get("missing", 0) == 1 if np.isnan(x) else fits
            child = 0 if goes_left else 1
        else:
            place = sum(cut < x for cut in spec["cuts"]) if "cuts" in spec else x
            ways = spec.get("map", list(range(fan)))
            is_known = not np.isnan(x) and 0 <= place < len(ways)
            child = ways[int(place)] if is_known else spec.get("missing", 0)
        spec = spec["children"][child]
    return spec


SINGLE = ("threshold", "cuts", "map", "both", "levels")  # tests of one column
KINDS = (*SINGLE, "terms")


@st.composite
def descriptions(draw, *, n_features=3, kinds=KINDS, depth=3):
    """Nested descriptions of trees; the values of their leaves are drawn apart."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return float(draw(st.integers(0, 1 << 40)))
    kind = draw(st.sampled_from(kinds))
    node = {"feature": draw(st.integers(0, n_features - 1))}
    if kind == "terms":
        fan, columns = 2, draw(st.sets(st.integers(0, n_features - 1), min_size=1))
        weights, stand_ins = st.sampled_from([-2.5, -1.0, 0.1, 1.0, 1e300]), st.sampled_from([-1.0, 0.0, 0.3])
        node["feature"] = draw(st.sampled_from(sorted(columns)))
        node["terms"] = [(column, draw(weights), draw(stand_ins)) for column in sorted(columns)]
        node |= {"threshold": draw(st.sampled_from([-INF, -1.0, 0.5, 2.0, INF])), "missing": draw(st.integers(0, 1))}
    elif kind == "threshold":
        fan = 2
        node |= {"threshold": draw(st.sampled_from([-INF, -1.0, 0.5, 2.0, INF])), "missing": draw(st.integers(0, 1))}
    elif kind == "levels":
        fan, levels = 2, draw(st.sets(st.integers(0, 6), min_size=1, max_size=4))
        node |= {"levels": sorted(levels), "missing": draw(st.integers(0, 1))}
    else:
        n_cuts = draw(st.integers(1, 3))
        fan = n_cuts + 1 if kind == "cuts" else draw(st.integers(2, 4))
        node["missing"] = draw(st.integers(0, fan - 1))
        if kind != "map":
            cuts = draw(st.permutations([-INF, -1.0, 0.5, 1.0, 2.0, INF]))
            node["cuts"] = sorted(cuts[:n_cuts])
        if kind != "cuts":
            length = n_cuts + 1 if kind == "both" else draw(st.integers(1, 6))
            node["map"] = draw(st.lists(st.integers(0, fan - 1), min_size=length, max_size=length))
    inner = descriptions(n_features=n_features, kinds=kinds, depth=depth - 1)
    node["children"] = [draw(inner) for _ in range(fan)]
    return node


@st.composite
def matrices(draw, max_rows=60):
    n = draw(st.integers(1, max_rows))
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3))
    dtype = draw(st.sampled_from(list(EXTREMES)))
    generator = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    return np.stack([column(kind, generator, n, dtype) for kind in kinds], axis=1)


def class_rows(seed, n, kinds, n_classes):
    random = np.random.default_rng(seed)
    X = np.stack([column(kind, random, n, np.float64) for kind in kinds], axis=1)
    y = random.integers(0, n_classes, n)
    y[:n_classes] = random.permutation(n_classes)
    if seed % 3 == 0:  # mostly one class
        y[n_classes:][random.random(n - n_classes) < 0.7] = 0
    return X, y

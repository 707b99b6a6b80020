"""Small tables that are hard on a tree, for hypothesis: few draws a table, so that many tables fit into a second."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba._jit import COMPILED
from dtnumba.criteria import names_for

INF = float("inf")
EXTREMES = {
    np.float64: [-INF, -1e300, -5e-324, -0.0, 0.0, 5e-324, 1e-323, 1.0, np.nextafter(1.0, 2.0), 1e300, INF],
    np.float32: [-INF, -3e38, -1e-45, -0.0, 0.0, 1e-45, 3e-45, 1.0, 1.0 + 2.0**-23, 3e38, INF],
}
COLUMNS = ("constant", "few", "many", "extreme", "missing", "mostly missing", "all missing")
WEIGHTS = ("none", "zeros", "whole", "halves", "real")


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
def samples(draw, *, classes, outputs=1, n_classes=None, counts=False, weight=WEIGHTS, columns=COLUMNS, max_rows=24):
    """Tables with class labels (``classes``) or numbers as targets."""
    n = draw(st.integers(1, max_rows))
    kinds = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=4))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    weight_kind = draw(st.sampled_from(weight))
    most = draw(st.integers(1, 5)) if n_classes is None else n_classes
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    X = np.stack([column(kind, rng, n, dtype) for kind in kinds], axis=1)
    w = weights(weight_kind, rng, n)
    if classes:
        y = rng.integers(0, [most, 3][:outputs], (n, outputs))
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


def same_trees(a, b, *, but=()):
    """Whether two Trees hold the same bits in every column but those named."""
    for name in set(a._fields) - set(but):
        one, other = getattr(a, name), getattr(b, name)
        if one.dtype != other.dtype or not np.array_equal(one, other, equal_nan=True):
            return False
    return True

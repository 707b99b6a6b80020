# mypy: ignore-errors
"""What a leaf says of a row: shares of classes, or these times what it saw of each class's values (naive Bayes).

A column of numbers is taken for normal within a class, one of levels by its shares with one row more for each level.
"""

import math

import numpy as np

from dtnumba.growth.hoeffding.stream import (
    BY_BAYES,
    BY_MAJORITY,
    FEATURE,
    LEFT,
    MISSING_BRANCH,
    N_BRANCHES,
    SEEN_AT,
    THRESHOLD,
)
from dtnumba.runtime.instructions.bits import largest
from dtnumba.runtime.kernels import inline, kernel

SAY_MAJORITY, SAY_BAYES, SAY_ADAPTIVE = 0, 1, 2
LEAST_VARIANCE = 1e-12


@inline
def child_of(stream, node, row):
    """Return the child of an inner node that a row goes to."""
    link = stream.link[node]
    value = row[link[FEATURE]]
    side = np.int64(link[MISSING_BRANCH])
    if value == value:
        if stream.columns.n_levels[link[FEATURE]] == 0:
            side = np.int64(0 if value <= stream.number[node, THRESHOLD] else 1)
        elif value < link[N_BRANCHES]:
            side = np.int64(value)
    return np.int64(link[LEFT]) + side


@inline
def says_bayes(stream, node, way):
    """Tell whether a leaf answers by naive Bayes."""
    if way == SAY_MAJORITY or stream.link[node, SEEN_AT] < 0:
        return False
    return way == SAY_BAYES or stream.number[node, BY_BAYES] > stream.number[node, BY_MAJORITY]


@inline
def bayes(stream, node, row, out):
    """Write the logarithms of the joint shares of a row and each class to out."""
    slot, columns, sums = stream.link[node, SEEN_AT], stream.columns, stream.sums[node]
    for k in range(len(out)):
        out[k] = math.log(sums[k]) if sums[k] > 0.0 else -math.inf
        if sums[k] <= 0.0:
            continue
        for c in range(len(columns.place)):
            value, place = row[c], columns.place[c]
            if value != value:
                continue
            if columns.n_levels[c] == 0:
                weight, mean, squares = (
                    stream.moments[slot, place, k, 0],
                    stream.moments[slot, place, k, 1],
                    stream.moments[slot, place, k, 2],
                )
                if weight > 1.0:
                    variance = max(squares / (weight - 1.0), LEAST_VARIANCE)
                    out[k] -= 0.5 * (math.log(variance) + (value - mean) * (value - mean) / variance)
            elif value < columns.n_levels[c]:
                seen = 0.0
                for level in range(place, place + columns.n_levels[c]):
                    seen += stream.level_mass[slot, level, k]
                own = stream.level_mass[slot, place + np.int64(value), k]
                out[k] += math.log((own + 1.0) / (seen + columns.n_levels[c]))


@inline
def shares(stream, node, row, way, out):
    """Write the share of each class that a leaf gives a row."""
    total, sums = 0.0, stream.sums[node]
    if says_bayes(stream, node, way):
        bayes(stream, node, row, out)
        shares_of_logs(out)
    else:
        for k in range(len(out)):
            total += sums[k]
        for k in range(len(out)):
            out[k] = sums[k] / total if total > 0.0 else 1.0 / len(out)


@inline
def shares_of_logs(out):
    """Write the shares of the numbers whose logarithms stand there."""
    top, total = out[largest(out)], 0.0
    for k in range(len(out)):
        out[k] = math.exp(out[k] - top)
        total += out[k]
    for k in range(len(out)):
        out[k] = out[k] / total if total > 0.0 else 1.0 / len(out)


@kernel
def answer_rows(stream, X, way, out):
    """Write the share of each class that the tree gives rows.

    X (n, p) float64: numbers, and numbers of levels · out (n, K) float64 out
    """
    for i in range(len(X)):
        node = np.int64(0)
        while stream.link[node, FEATURE] >= 0:
            node = child_of(stream, node, X[i])
        shares(stream, node, X[i], way, out[i])

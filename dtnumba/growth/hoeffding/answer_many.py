# mypy: ignore-errors
# ruff: noqa: D102
"""Many rows through the tree of a stream: logarithms that a leaf needs for each of them are taken once."""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.hoeffding.answer import LEAST_VARIANCE, answer_rows, child_of, says_bayes, shares, shares_of_logs
from dtnumba.growth.hoeffding.stream import FEATURE, NEXT_NODE, SEEN_AT, Stream
from dtnumba.runtime.kernels import inline, kernel, kernel_type
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket

_BLOCK = 1024  # rows a ticket
_STEPS_A_ROW = 50
# Leaves with statistics, times this, are so many rows that tables repay: a table takes as long as a few rows.
_ROWS_A_TABLE = 4


class BayesTables(NamedTuple):
    """Of leaves that answer by naive Bayes, what each class adds to the logarithm of a row's joint share."""

    mean: np.ndarray  # (n_slots, q, K) float64
    variance: np.ndarray  # (n_slots, q, K) float64; NaN where a class has no two values
    log_variance: np.ndarray  # (n_slots, q, K) float64
    of_level: np.ndarray  # (n_slots, L, K) float64


@kernel
def fill_tables(stream, way, tables):
    """Fill the tables of the leaves that answer by naive Bayes."""
    columns = stream.columns
    for node in range(stream.used[NEXT_NODE]):
        if stream.link[node, FEATURE] >= 0 or not says_bayes(stream, node, way):
            continue
        slot = stream.link[node, SEEN_AT]
        for c in range(len(columns.place)):
            place = columns.place[c]
            for k in range(stream.sums.shape[1]):
                if columns.n_levels[c] == 0:
                    weight, squares = stream.moments[slot, place, k, 0], stream.moments[slot, place, k, 2]
                    tables.mean[slot, place, k] = stream.moments[slot, place, k, 1]
                    tables.variance[slot, place, k] = np.nan
                    if weight > 1.0:
                        variance = max(squares / (weight - 1.0), LEAST_VARIANCE)
                        tables.variance[slot, place, k] = variance
                        tables.log_variance[slot, place, k] = math.log(variance)
                else:
                    seen = 0.0
                    for level in range(place, place + columns.n_levels[c]):
                        seen += stream.level_mass[slot, level, k]
                    for level in range(place, place + columns.n_levels[c]):
                        own = stream.level_mass[slot, level, k]
                        tables.of_level[slot, level, k] = math.log((own + 1.0) / (seen + columns.n_levels[c]))


@inline
def _bayes(stream, tables, node, row, out):
    """Write the logarithms of the joint shares of a row and each class to out, as ``answer.bayes`` does, to the bit."""
    slot, columns, sums = stream.link[node, SEEN_AT], stream.columns, stream.sums[node]
    for k in range(len(out)):
        out[k] = math.log(sums[k]) if sums[k] > 0.0 else -math.inf
    for c in range(len(columns.place)):
        value, place = row[c], columns.place[c]
        if value != value:
            continue
        if columns.n_levels[c] == 0:
            for k in range(len(out)):
                variance = tables.variance[slot, place, k]
                if sums[k] > 0.0 and variance == variance:
                    away = value - tables.mean[slot, place, k]
                    out[k] -= 0.5 * (tables.log_variance[slot, place, k] + away * away / variance)
        elif value < columns.n_levels[c]:
            for k in range(len(out)):
                if sums[k] > 0.0:
                    out[k] += tables.of_level[slot, place + np.int64(value), k]


@kernel_type
class AnswerMany(NamedTuple):
    """Write the share of each class that the tree gives rows; blocks of rows by whichever worker is free."""

    stream: Stream
    tables: BayesTables
    X: np.ndarray  # (n, p) float64: numbers, and numbers of levels
    way: int
    out: np.ndarray  # (n, K) float64 out
    counter: np.ndarray

    def run(self, worker):
        stream, X = self.stream, self.X
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= len(X):
                break
            for i in range(start, min(start + _BLOCK, len(X))):
                node = np.int64(0)
                while stream.link[node, FEATURE] >= 0:
                    node = child_of(stream, node, X[i])
                if says_bayes(stream, node, self.way):
                    _bayes(stream, self.tables, node, X[i], self.out[i])
                    shares_of_logs(self.out[i])
                else:
                    shares(stream, node, X[i], self.way, self.out[i])


def answer_many(stream, X, way, out, workers):
    """Write the share of each class that the tree gives rows to out; few rows are answered one by one."""
    n_slots, q, n_classes = stream.moments.shape[:3]
    if len(X) < max(_ROWS_A_TABLE * int(np.count_nonzero(stream.owner >= 0)), _BLOCK):
        answer_rows(stream, X, way, out)
        return
    each = (n_slots, q, n_classes)
    tables = BayesTables(np.empty(each), np.empty(each), np.empty(each), np.empty(stream.level_mass.shape))
    fill_tables(stream, way, tables)
    task = AnswerMany(stream, tables, X, way, out, np.zeros(1, np.int64))
    launch_heeding(task, workers, len(X) * _STEPS_A_ROW)

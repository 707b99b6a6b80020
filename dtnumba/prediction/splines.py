# mypy: ignore-errors
# ruff: noqa: D102
"""Rows through terms of splines: their sums, the terms themselves, and slopes. Blocks of rows, term by term."""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.tasks import each_item
from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP

_BLOCK = 512  # rows whose term stays in the nearest cache
_SERIAL_STEPS = 100_000
OUTPUTS, TERMS, SLOPES = range(3)


@each_item
class Evaluate(NamedTuple):
    """Write what terms are for every row, or their sum, or the slope of it along each feature."""

    cells: object
    hinges: object
    coefficients: np.ndarray  # (terms, outputs)
    what: int
    out: np.ndarray  # (n, outputs); (n, terms); (n, features * outputs)
    scratch: np.ndarray  # (workers, 1, _BLOCK)
    counter: np.ndarray

    def n_items(self):
        return (self.cells.n_rows + _BLOCK - 1) // _BLOCK

    def do_item(self, block, worker):
        values, start = self.scratch[worker, 0], block * _BLOCK
        n = min(_BLOCK, self.cells.n_rows - start)
        out, coefficients, hinges, n_outputs = self.out, self.coefficients, self.hinges, self.coefficients.shape[1]
        for t in range(len(hinges.first) - 1):
            if self.what == SLOPES:
                for slope in range(hinges.first[t], hinges.first[t + 1]):
                    _evaluate(self.cells, hinges, t, slope, start, n, values)
                    for o in range(n_outputs):
                        at = hinges.feature[slope] * n_outputs + o
                        for i in range(n):
                            out[start + i, at] += values[i] * coefficients[t, o]
                continue
            _evaluate(self.cells, hinges, t, -1, start, n, values)
            if self.what == TERMS:
                for i in range(n):
                    out[start + i, t] = values[i]
            else:
                for o in range(n_outputs):
                    by = coefficients[t, o]
                    for i in range(n):
                        out[start + i, o] += values[i] * by


@inline
def _evaluate(cells, hinges, t, slope, start, n, values):
    """Write a term of a block of rows, one factor of it (where not -1) replaced by its slope."""
    for i in range(n):
        values[i] = 1.0
    for f in range(hinges.first[t], hinges.first[t + 1]):
        direction, knot, fill = hinges.direction[f], hinges.knot[f], hinges.fill[hinges.feature[f]]
        at, step = cells.offset + start * cells.row_step + hinges.feature[f] * cells.column_step, cells.row_step
        if direction == OF_MISSING:
            for i in range(n):
                x = cells.flat[at + i * step]
                values[i] *= 1.0 if x != x and f != slope else 0.0
        elif direction == OF_LEVEL:
            for i in range(n):
                values[i] *= 1.0 if cells.flat[at + i * step] == knot and f != slope else 0.0
        elif f == slope:
            for i in range(n):
                x = np.float64(cells.flat[at + i * step])
                if x != x:  # a value that is not there moves nothing
                    values[i] = 0.0
                elif direction == UP:
                    values[i] *= 1.0 if x > knot else 0.0
                elif direction == DOWN:
                    values[i] *= -1.0 if x < knot else 0.0
        elif direction == STRAIGHT:
            for i in range(n):
                x = np.float64(cells.flat[at + i * step])
                values[i] *= fill if x != x else x
        else:
            sign = 1.0 if direction == UP else -1.0
            for i in range(n):
                x = np.float64(cells.flat[at + i * step])
                above = ((fill if x != x else x) - knot) * sign
                values[i] *= above if above > 0.0 else 0.0  # noqa: FURB136  kernels have no max of NaN


def _evaluated(table, hinges, coefficients, what, width, workers):
    """Return what is asked of every row of a Table."""
    out, steps = np.zeros((table.n_rows, width)), len(hinges.feature) + hinges.n_terms
    for first, cells in table.row_blocks():
        threads = workers if cells.n_rows * steps > _SERIAL_STEPS else 1
        part, scratch = out[first : first + cells.n_rows], per_worker(threads, _BLOCK)
        task = Evaluate(cells, hinges, coefficients, what, part, scratch, np.zeros(1, np.int64))
        launch_beside_heeding(task, threads, cells.n_rows * steps, steps=cells.n_rows * steps)
    return out


def sums_of(table, hinges, coefficients, workers):
    """Return the sum of all terms times coefficients of every row: (rows, outputs)."""
    return _evaluated(table, hinges, coefficients, OUTPUTS, coefficients.shape[1], workers)


def terms_of(table, hinges, workers):
    """Return all terms of every row: (rows, terms)."""
    return _evaluated(table, hinges, np.empty((hinges.n_terms, 1)), TERMS, hinges.n_terms, workers)


def slopes_of(table, hinges, coefficients, workers):
    """Return how the sum rises with each feature: (rows, features, outputs); 0 of categories, of missing values."""
    n_features, n_outputs = len(hinges.fill), coefficients.shape[1]
    slopes = _evaluated(table, hinges, coefficients, SLOPES, n_features * n_outputs, workers)
    return slopes.reshape(table.n_rows, n_features, n_outputs)

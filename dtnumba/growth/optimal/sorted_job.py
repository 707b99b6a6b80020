"""Ordered columns made ready for their search: rows in the order of each, and the memory of all levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.rule import N_LEVEL_STATE
from dtnumba.growth.optimal.sorted_rows import Lanes, SortedRows
from dtnumba.growth.optimal.sorted_search import search_sorted
from dtnumba.growth.optimal.sorted_two_levels import R_SIZE, Levels, SortedJob, sorted_two_below
from dtnumba.runtime.addresses import code_for
from dtnumba.runtime.instructions.running_extremes import N_LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.optimal.rule import TreeRule
    from dtnumba.runtime.addresses import Code


def sorted_job(codes: NDArray[np.int32], value: NDArray[np.int64], loss: Any, rule: TreeRule, worst: Any) -> SortedJob:
    """Return the search over ``codes`` (columns, rows): which of a column's ascending values each row has.

    ``value`` (rows, sums) is what a row adds; ``worst`` what it can lose at most, empty where nobody can say.
    """
    n_columns, n_rows = codes.shape
    levels = max(rule.depth, 2)
    shape = (levels, 2, n_columns, n_rows)
    row, code = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    row[0, 0] = np.argsort(codes, axis=1, kind="stable")
    code[0, 0] = np.take_along_axis(codes, row[0, 0], axis=1)
    size = np.zeros((levels, 2), np.int64)
    size[0, 0] = n_rows
    n_sums = value.shape[1]
    delta = (value[:, 1] - value[:, 0] if n_sums == 2 else value.max(axis=1)).astype(np.int32)
    label = value.argmax(axis=1).astype(np.int32)
    rows = SortedRows(row, code, size, value, delta, label, np.asarray(worst, np.int64))
    lanes = Lanes(
        np.zeros(N_LANES, np.int32),
        np.zeros((6, N_LANES), np.int32),
        np.zeros((2, N_LANES), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros(n_rows, np.int32),
        np.zeros((n_sums, n_rows + 1), np.int64),
        np.zeros(n_rows + 1, np.int64),
        np.zeros(n_rows + 2, np.int32),
        np.zeros((3, n_sums), np.int64),
        np.zeros((2 * n_sums, N_LANES), np.int32),
        np.zeros((n_rows if n_sums > 2 else 0, 2, N_LANES), np.int32),
    )
    is_limited = rule.most < (1 << rule.depth) - 1
    ways = min(rule.most, 1 << (rule.depth - 1)) if is_limited else 1
    places = n_columns * (n_rows + 1) * max(1, ways)
    tree = 1 << rule.depth
    state = Levels(
        np.zeros((levels, N_LEVEL_STATE), np.int64),
        np.zeros((max(levels - 2, 1), places, R_SIZE), np.int64),
        np.zeros((n_rows + 2, R_SIZE), np.int64),
        np.zeros((N_LANES, 2), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros(n_columns, np.int64),
        np.zeros(n_columns),
        np.zeros(n_columns, np.int64),
        np.full((levels, tree, 2), -1, np.int64),
        np.full((levels, 2, tree, 2), -1, np.int64),
        np.zeros(5, np.int64),
        np.zeros(3, np.int64),
    )
    return SortedJob(rows, loss, rule, lanes, state, np.zeros(1, np.int64), 0)


def sorted_kernels(job: SortedJob) -> tuple[Code, Code]:
    """Return the codes of a search: of two levels, and of what is above them."""
    return code_for(sorted_two_below, job), code_for(search_sorted, job)

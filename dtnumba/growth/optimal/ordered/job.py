"""Ordered columns made ready for their search: rows in the order of each, and the memory of all levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.crew import new_crew
from dtnumba.growth.optimal.known_sets import KNOWN_BYTES, MOST_KNOWN, OF_LEVELS, SolvedSets
from dtnumba.growth.optimal.losses.absolute import AbsoluteLost
from dtnumba.growth.optimal.losses.labels import ManyErrors, TwoErrors
from dtnumba.growth.optimal.losses.message import MessageLength
from dtnumba.growth.optimal.losses.spreads import SquaresLost, TwoGini
from dtnumba.growth.optimal.objectives import lost_alike
from dtnumba.growth.optimal.ordered.batches import I_SIZE, SortedJob
from dtnumba.growth.optimal.ordered.rows import Lanes, SortedRows
from dtnumba.growth.optimal.ordered.search import search_sorted
from dtnumba.growth.optimal.ordered.two_levels import R_SIZE, Levels, sorted_two_below
from dtnumba.growth.optimal.rule import N_LEVEL_STATE, N_PARTS
from dtnumba.runtime.addresses import code_for
from dtnumba.runtime.instructions.running_extremes import N_LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.optimal.rule import TreeRule
    from dtnumba.runtime.addresses import Code


_NARROW = 1 << 31  # sums below this are added up in 32 bits


def sorted_job(
    codes: NDArray[np.int32],
    value: NDArray[np.int64],
    loss: Any,
    rule: TreeRule,
    worst: Any,
    label: Any = None,
    memory: int = KNOWN_BYTES,
    helpers: int = 0,
) -> SortedJob:
    """Return the search over ``codes`` (columns, rows): which of a column's ascending values each row has.

    ``value`` (rows, sums) is what a row adds; ``worst`` what it can lose at most, empty where nobody can say; ``label``
    its class or target, None where the only sum that it adds to says so. ``memory``: bytes for sets that were solved.
    ``helpers``: threads that may come to help.
    """
    n_columns, n_rows = codes.shape
    levels = max(rule.depth, 2)
    shape = (levels + helpers, 2, n_columns, n_rows)
    row, code = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    row[0, 0] = np.argsort(codes, axis=1, kind="stable")
    code[0, 0] = np.take_along_axis(codes, row[0, 0], axis=1)
    size = np.zeros((levels + helpers, 2), np.int64)
    size[0, 0] = n_rows
    n_sums = value.shape[1]
    label = np.asarray(value.argmax(axis=1) if label is None else label, np.int32)
    delta, first = _steps(loss, value, label)
    wide = delta.dtype
    worst, lost = np.asarray(worst, np.int64), _lost_alike(codes, value, loss, rule)
    rows = SortedRows(row, code, size, np.ascontiguousarray(value), delta, first, label, worst, lost)
    halt = np.zeros(1, np.int64)
    lanes = Lanes(
        np.zeros(N_LANES, np.int32),
        np.zeros((6, N_LANES), wide),
        np.zeros((2, N_LANES), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros(n_rows, np.int32),
        np.zeros((n_sums, n_rows + 1), np.int64),
        np.zeros(n_rows + 1, np.int64),
        np.zeros(n_rows + 2, np.int32),
        np.zeros((3, n_sums), np.int64),
        np.zeros((2 * n_sums, N_LANES), wide),
        np.zeros((n_rows if isinstance(loss, ManyErrors) else 0, 2, N_LANES), wide),
        np.zeros((n_sums, 2, N_LANES), np.int64),
        np.zeros((2, N_LANES)),
        np.zeros((2, N_LANES), np.int64),
        np.zeros(n_rows, np.int32),
        np.zeros((2, n_rows), np.int32),
        np.zeros(n_rows + 1, np.int64),
        np.zeros(2, np.int64),
        np.full(2, -1, np.int64),
        np.zeros(n_rows, wide),
        halt,
    )
    places = n_columns * (n_rows + 1) * n_ways(rule)
    tree = 1 << rule.depth
    state = Levels(
        np.zeros((levels, N_LEVEL_STATE), np.int64),
        np.zeros((max(levels - 2, 1), places, R_SIZE), np.int64),
        np.zeros((n_rows + 2, R_SIZE), np.int64),
        np.zeros((N_LANES, 2), np.int64),
        np.zeros((2, N_LANES), np.int64),
        np.zeros(N_PARTS * n_columns, np.int64),
        np.zeros(N_PARTS * n_columns),
        np.zeros(N_PARTS * n_columns, np.int64),
        np.full((levels, tree, 2), -1, np.int64),
        np.full((levels, 2, tree, 2), -1, np.int64),
        np.zeros(6, np.int64),
        np.zeros(3, np.int64),
    )
    words = -(-n_rows // 64)
    n_known = max(1, min(MOST_KNOWN, memory // (8 * words * levels)))
    known = SolvedSets(
        np.zeros((levels, n_known, words), np.uint64),
        np.full((levels, n_known, 4), -1, np.int64),
        np.zeros(levels, np.int64),
        np.zeros((OF_LEVELS + levels, words), np.uint64),
    )
    return SortedJob(rows, loss, rule, lanes, state, halt, known, new_crew(I_SIZE), 0)


def _lost_alike(codes: NDArray[np.int32], value: NDArray[np.int64], loss: Any, rule: TreeRule) -> NDArray[np.int64]:
    """Return what rows lose that no column parts, as ``SortedRows`` has it."""
    nothing = np.zeros(0, np.int64)
    if rule.depth <= 2 or isinstance(loss, (AbsoluteLost, MessageLength)):  # of which sums say nothing
        return nothing
    first, loses = lost_alike(codes, value, loss)
    if not loses.any():
        return nothing
    lost = np.zeros(len(value), np.int64)
    lost[first] = loses
    return lost


def sorted_helper(job: SortedJob) -> SortedJob:
    """Return the job as a thread that helps has it: what it writes is its own."""
    lanes, levels = job.lanes, job.levels
    own = {name: np.zeros_like(getattr(levels, name)) for name in ("inner", "taken", "found", "two", "explored")}
    return job._replace(lanes=Lanes(*map(np.zeros_like, lanes))._replace(halt=job.halt), levels=levels._replace(**own))


def n_ways(rule: TreeRule) -> int:
    """Return in how many ways the tests of a tree may be shared out below one of them, at most."""
    is_limited = rule.most < (1 << rule.depth) - 1
    return max(1, min(rule.most, 1 << (rule.depth - 1))) if is_limited else 1


def sorted_kernels(job: SortedJob) -> tuple[Code, Code]:
    """Return the codes of a search: of two levels, and of what is above them."""
    return code_for(sorted_two_below, job), code_for(search_sorted, job)


def _steps(loss: Any, value: NDArray[np.int64], label: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return what each row adds to running sums; see ``SortedRows``."""
    none = np.zeros(0, np.int64)
    if isinstance(loss, AbsoluteLost):
        place = np.empty(len(label), np.int64)
        place[np.argsort(label, kind="stable")] = np.arange(len(label))
        return value[:, 0].copy(), place
    if isinstance(loss, SquaresLost):
        return value[:, 0].copy(), value[:, 1].copy()
    if isinstance(loss, TwoGini):
        return value.sum(axis=1), value[:, 1].copy()
    delta = value[:, 1] - value[:, 0] if isinstance(loss, TwoErrors) else value[np.arange(len(label)), label]
    is_narrow = isinstance(loss, (TwoErrors, ManyErrors)) and int(np.abs(delta).sum()) < _NARROW
    return delta.astype(np.int32 if is_narrow else np.int64), none

"""Paths to rules: a test that does not help is left out, one at a time, as C5.0 does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.special_functions import LOG2_E, log_gamma
from dtnumba.rules.drop_tests import last_least
from dtnumba.rules.row_bits import deletions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.row_bits import RowBits

THEORY = 0.23  # what a bit of a rule counts against a bit that it saves
_EVEN = 1e-12
_NOTHING = 1e-9


class Shorter(NamedTuple):
    """Rules that are left of paths."""

    bodies: list[list[int]]  # tests of each rule, none where nothing is left
    covered: NDArray[np.float64]
    wrong: NDArray[np.float64]


def shorter_paths(
    bodies: list[tuple[int, ...]],
    label: NDArray[np.int64],
    bits: RowBits,
    test_bits: NDArray[np.float64],
    sizes: NDArray[np.float64],
    workers: int,
) -> Shorter:
    """Return what is left of paths when no test can be spared.

    A test goes as long as that makes the share of errors, by Laplace's estimate, no larger, or as the tests of the rule
    take more bits than it saves; of all tests the one whose going errs least, the last on ties.

    Parameters
    ----------
    bodies : list of tuple of int
        The tests of each path, as numbers of rows of ``bits.tests``.
    label : array of int
        The class that each says.
    bits : RowBits
        The rows.
    test_bits : array of float
        Bits of each test, without naming its column.
    sizes : array of float
        Weight of each class.
    workers : int
        Threads.

    """
    left = [list(body) for body in bodies]
    covered, wrong = np.zeros(len(left)), np.zeros(len(left))
    active = np.flatnonzero([len(body) > 0 for body in left])
    while len(active):
        length = np.array([len(left[r]) for r in active])
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        test = np.array([t for r in active for t in left[r]], np.int64)
        rule = np.repeat(np.arange(len(active)), length)
        counts = deletions_of(bits, start, test, label[active], workers)
        covered[active], wrong[active] = counts.covered, counts.wrong
        now = _rate(counts.covered, counts.wrong)
        then = _rate(counts.covered[rule] + counts.more, counts.wrong[rule] + counts.more_wrong)
        lost = last_least(np.round(then / _EVEN) * _EVEN, rule, start)
        taken = np.add.reduceat(test_bits[test], start[:-1]) + order_bits(length)
        saved = _saved(counts.covered, counts.covered - counts.wrong, sizes[label[active]], sizes.sum())
        goes = (then[lost] <= now + _EVEN) | (THEORY * taken > saved)
        for r, place, first in zip(active[goes].tolist(), lost[goes].tolist(), start[:-1][goes].tolist(), strict=True):
            del left[r][place - first]
        active = np.array([r for r in active[goes].tolist() if left[r]], np.int64)
    return Shorter(left, covered, wrong)


def order_bits(length: Any) -> NDArray[np.float64]:
    """Return the bits that say how many tests there are, less those that their order would take."""
    length = np.asarray(length, np.float64)
    return np.asarray(np.log2(length) - log_gamma(length + 1.0) * LOG2_E)


def _rate(covered: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((wrong + 1.0) / (covered + 2.0))


def _saved(covered: Any, right: Any, size: Any, total: float) -> NDArray[np.float64]:
    """Return the bits that rules save on telling which rows are of their class."""
    return np.asarray(_spent(total, size) - _spent(covered, right) - _spent(total - covered, size - right))


def _spent(n: Any, k: Any) -> Any:
    """Return the bits that tell which k of n rows are of a class."""
    n, k = np.asarray(n, np.float64), np.asarray(k, np.float64)
    parts = (k, n - k)
    return -sum(
        np.where(part > _NOTHING, part * np.log2(np.maximum(part, _NOTHING) / np.maximum(n, _NOTHING)), 0.0)
        for part in parts
    )

"""Paths of a tree to rules: tests that do not help are left out, one at a time (Quinlan 1987; 1993, C4.5rules)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.pruners.error_based import extra_errors
from dtnumba.rules.exact_test import chi2_tail, fisher_tail
from dtnumba.rules.row_bits import deletions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.row_bits import Deletions, RowBits


class WrittenRules(NamedTuple):
    """Rules as numbers of tests."""

    tests: list[tuple[int, ...]]  # of each rule, in the order of its path
    label: NDArray[np.int64]
    error: NDArray[np.float64]  # expected share of errors

    def take(self, order: Any) -> WrittenRules:
        """Return some of the rules."""
        return WrittenRules([self.tests[r] for r in order], self.label[order], self.error[order])


def expected_error(covered: Any, wrong: Any, confidence: float, without: Any) -> NDArray[np.float64]:
    """Return the share of errors that rules are expected to make: as pessimistic as ``confidence`` is small.

    ``without`` is that of rules that cover no row.
    """
    covered, wrong = np.asarray(covered, np.float64), np.asarray(wrong, np.float64)
    errors = wrong + extra_errors(covered, wrong, confidence)
    return np.asarray(np.where(covered > 0, errors / np.maximum(covered, 1e-300), without))


class ExpectedErrors(NamedTuple):
    """Leave out a test as long as that makes the expected error, or the error of these rows, no larger (C4.5rules)."""

    confidence: float
    level: float | None  # of Fisher's test, which every test must pass as well, if given

    def chosen(
        self, counts: Deletions, rule: NDArray[np.int64], start: NDArray[np.int64], default_error: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the test that each rule is to lose, -1 where none."""
        covered, wrong = counts.covered, counts.wrong
        all_covered, all_wrong = covered[rule] + counts.more, wrong[rule] + counts.more_wrong
        now = expected_error(covered, wrong, self.confidence, default_error)
        then = expected_error(all_covered, all_wrong, self.confidence, default_error[rule])
        raw = wrong / np.maximum(covered, 1e-300)
        may = (then <= now[rule]) | (all_wrong / np.maximum(all_covered, 1e-300) <= raw[rule])
        if self.level is not None:
            right = covered - wrong
            tail = fisher_tail(wrong[rule], counts.more_wrong, right[rule], counts.more - counts.more_wrong)
            may |= tail > self.level
        lost = last_least(then, rule, start)
        return np.where(np.logical_or.reduceat(may, start[:-1]), lost, -1)


class Significant(NamedTuple):
    """Leave out the least significant test as long as one is not significant (Quinlan 1987)."""

    exact: bool
    level: float

    def chosen(
        self, counts: Deletions, rule: NDArray[np.int64], start: NDArray[np.int64], default_error: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the test that each rule is to lose, -1 where none."""
        right, tail_of = counts.covered - counts.wrong, fisher_tail if self.exact else chi2_tail
        tail = tail_of(counts.wrong[rule], counts.more_wrong, right[rule], counts.more - counts.more_wrong)
        lost = last_least(-tail, rule, start)
        return np.where(tail[lost] > self.level, lost, -1)


def last_least(value: NDArray[np.float64], rule: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each rule the place of its least value, the last of equal ones."""
    least = np.minimum.reduceat(value, start[:-1])
    places = np.where(value == least[rule], np.arange(len(value)), -1)
    return np.asarray(np.maximum.reduceat(places, start[:-1]))


def generalised(
    candidates: list[tuple[int, ...]],
    label: NDArray[np.int64],
    bits: RowBits,
    deletion: ExpectedErrors | Significant,
    default_error: NDArray[np.float64],
    workers: int,
) -> list[tuple[int, ...]]:
    """Return rules without the tests that do not help.

    Parameters
    ----------
    candidates : list of tuple of int
        The tests of each rule, as numbers of rows of ``bits.tests``.
    label : array of int
        What each rule says.
    bits : RowBits
        The rows.
    deletion : ExpectedErrors or Significant
        Which test goes.
    default_error : array of float
        For each rule, the error of a rule of its class that covers no row.
    workers : int
        Threads.

    """
    bodies = [list(body) for body in candidates]
    active = np.array([r for r, body in enumerate(bodies) if body], np.int64)
    while len(active):
        length = np.array([len(bodies[r]) for r in active])
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        test = np.array([t for r in active for t in bodies[r]], np.int64)
        rule = np.repeat(np.arange(len(active)), length)
        counts = deletions_of(bits, start, test, label[active], workers)
        lost = deletion.chosen(counts, rule, start, default_error[active])
        for place, r, first in zip(lost.tolist(), active.tolist(), start.tolist(), strict=False):
            if place >= 0:
                del bodies[r][place - first]
        active = np.array([r for r, place in zip(active.tolist(), lost.tolist(), strict=True) if place >= 0], np.int64)
        active = np.array([r for r in active.tolist() if bodies[r]], np.int64)
    return [tuple(body) for body in bodies]

# mypy: ignore-errors
"""Greedy k-decision lists (Rivest 1987): the term that answers most rows without an error comes next.

A term is an "and" of at most k tests of different columns. Rows stand sorted by class, each class on words of 64 of its
own, so that one pass over the words of a term counts the rows of each class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, RANGE, Condition, holds
from dtnumba.rules.row_bits import weight_of
from dtnumba.runtime.kernels import inline, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.simplify import Sample
    from dtnumba.tables.table import Table


_BITS = 64
_ZERO = np.uint64(0)
MANY_TERMS = 100_000  # above so many a column gets fewer cuts
MOST_TERMS = 100_000_000
_CUTS = (1023, 511, 255, 127, 63, 31, 15, 7, 3, 1)


class Terms(NamedTuple):
    """Conditions, the rows left, and room for a search."""

    tests: np.ndarray  # (t, words) uint64: rows left that pass each
    column: np.ndarray  # (t,) int64, ascending
    left: np.ndarray  # (words,) uint64: rows
    word_class: np.ndarray  # (words,) int64
    weight: np.ndarray  # (words * 64,) float64, or empty where every row counts one
    least: float  # weight that a term must cover
    prefix: np.ndarray  # (most + 1, words) uint64 scratch: what the first tests of a term cover
    chosen: np.ndarray  # (most,) int64 scratch
    counts: np.ndarray  # (classes,) float64 scratch
    best: np.ndarray  # (most,) int64 out: tests of the best term, -1 after the last


@inline
def _count(terms, depth):
    """Fill ``counts`` with the weight of each class under the first ``depth`` tests; return the weight of all."""
    for k in range(len(terms.counts)):
        terms.counts[k] = 0.0
    total = 0.0
    for w in range(len(terms.left)):
        word = terms.prefix[depth, w]
        if word != _ZERO:
            n = weight_of(word, w, terms.weight)
            terms.counts[terms.word_class[w]] += n
            total += n
    return total


@kernel
def best_term(terms, pure):
    """Look for the best term, write its tests to ``best`` and return its score; 0 where there is none.

    With ``pure`` a term must cover one class only, and the score is the weight it covers; else it is Laplace's estimate
    of how often it is right. Of equal ones the shortest wins, then the one whose tests come first.
    """
    most, n_tests, n_classes = len(terms.chosen), len(terms.column), len(terms.counts)
    for i in range(most):
        terms.best[i] = -1
    best_score, best_size = 0.0, most + 1
    depth = 0
    terms.chosen[0] = -1
    for w in range(len(terms.left)):
        terms.prefix[0, w] = terms.left[w]
    while depth >= 0:
        terms.chosen[depth] += 1
        t = terms.chosen[depth]
        if t >= n_tests:
            depth -= 1
            continue
        if depth > 0 and terms.column[t] == terms.column[terms.chosen[depth - 1]]:
            continue
        for w in range(len(terms.left)):
            terms.prefix[depth + 1, w] = terms.prefix[depth, w] & terms.tests[t, w]
        total = _count(terms, depth + 1)
        if total < terms.least:
            continue
        largest = 0.0
        for k in range(n_classes):
            largest = max(largest, terms.counts[k])
        size = depth + 1
        if pure:
            is_pure = largest == total
            score = total if is_pure else 0.0
            bound = 0.0 if is_pure else largest
        else:
            score = (largest + 1.0) / (total + n_classes)
            bound = (largest + 1.0) / (largest + n_classes)
        if score > best_score or (score == best_score and score > 0.0 and size < best_size):
            best_score, best_size = score, size
            for i in range(most):
                terms.best[i] = terms.chosen[i] if i < size else -1
        if size < most and (bound > best_score or (bound == best_score and size + 1 < best_size)):
            depth += 1
            terms.chosen[depth] = t
    return best_score


def n_terms(per_column: list[int], most: int) -> float:
    """Return how many terms there are of at most so many tests of different columns."""
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for n in per_column:
        ways[1:] += n * ways[:-1]
    return float(ways[1:].sum())


def tests_of(table: Table, weight: NDArray[np.float64], most: int) -> list[Condition]:
    """Return the tests that terms are made of: below and above cuts of a number, a level of a category or not it.

    A column of many values has cuts at even shares of its rows, as few that there are ``MANY_TERMS`` terms.
    """
    values = [_present_values(table, j, weight) for j in range(table.n_features)]
    cuts = [np.zeros(0) if table.n_levels(j) else _cuts(present) for j, present in enumerate(values)]
    is_level = [table.n_levels(j) > 0 for j in range(table.n_features)]

    def sizes(n_cuts: int) -> list[int]:
        return [
            2 * (len(np.unique(present)) if level else min(len(own), n_cuts))
            for present, own, level in zip(values, cuts, is_level, strict=True)
        ]

    n_cuts = next((n for n in _CUTS if n_terms(sizes(n), most) <= MANY_TERMS), 1)
    count = n_terms(sizes(n_cuts), most)
    if count > MOST_TERMS:
        raise ValueError(
            f"max_tests={most}: {table.n_features} columns make {count:.3g} terms of so many tests, and more than "
            f"{MOST_TERMS:.0e} take too long; lower max_tests, or leave out columns"
        )
    found = []
    for j, (present, own) in enumerate(zip(values, cuts, strict=True)):
        if is_level[j]:
            levels = np.unique(present).astype(int).tolist()
            everything = range(table.n_levels(j))
            for level in levels:
                found.append(Condition(j, LEVELS, levels=(level,)))
                found.append(Condition(j, LEVELS, levels=tuple(other for other in everything if other != level)))
            continue
        for cut in _spread(present, own, n_cuts).tolist():
            found += [Condition(j, RANGE, np.nan, cut), Condition(j, RANGE, cut, np.inf)]
    return found


def _present_values(table: Table, j: int, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    column = table.column(j)
    return np.sort(column[~np.isnan(column) & (weight > 0)])


def _cuts(present: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middles between neighbouring values, or the lower one where there is no number between."""
    values = np.unique(present)
    low, high = values[:-1], values[1:]
    with np.errstate(invalid="ignore"):
        middle = low / 2.0 + high / 2.0
    return np.where(np.isfinite(middle) & (middle < high) & (middle >= low), middle, low)


def _spread(present: NDArray[np.float64], cuts: NDArray[np.float64], n_cuts: int) -> NDArray[np.float64]:
    """Return so many of the cuts, at even shares of the values present."""
    if len(cuts) <= n_cuts:
        return cuts
    below = np.searchsorted(present, cuts, side="right")
    wanted = np.arange(1, n_cuts + 1) * len(present) / (n_cuts + 1)
    return np.asarray(cuts[np.unique(np.searchsorted(below, wanted).clip(max=len(cuts) - 1))])


class _Rows:
    """The rows that no term answers yet."""

    def __init__(self, sample: Sample, tests: list[Condition]) -> None:
        self._training_rows = sample.rows
        columns = {j: sample.table.column(j) for j in {test.feature for test in tests}}
        self._passed = np.zeros((len(tests), len(sample.code)), bool)
        for t, test in enumerate(tests):
            self._passed[t] = holds(test, columns[test.feature])
        self.left = np.flatnonzero(self._training_rows.weight > 0)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Weight of each class."""
        rows = self._training_rows
        found = np.bincount(rows.code[self.left], weights=rows.weight[self.left], minlength=rows.n_classes)
        return found.astype(np.float64)

    def covered(self, body: list[int]) -> NDArray[np.int64]:
        """Return the rows left that a term covers."""
        return self.left[self._passed[np.ix_(body, self.left)].all(axis=0)]

    def packed(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows left as bits, sorted by class: of each test, all of them, class by word, weights."""
        code = self._training_rows.code[self.left]
        order = np.argsort(code, kind="stable")
        sizes = np.bincount(code, minlength=self._training_rows.n_classes)
        n_words = (sizes + _BITS - 1) // _BITS
        first = np.concatenate([[0], np.cumsum(n_words)])[:-1] * _BITS
        place = np.repeat(first - np.concatenate([[0], np.cumsum(sizes)])[:-1], sizes) + np.arange(len(order))
        total = int(n_words.sum())
        bits = np.zeros((len(self._passed) + 1, total * _BITS), bool)
        bits[:-1, place] = self._passed[:, self.left[order]]
        bits[-1, place] = True
        words = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        weight = np.zeros(0)
        if (self._training_rows.weight[self.left] != 1.0).any():
            weight = np.zeros(total * _BITS)
            weight[place] = self._training_rows.weight[self.left[order]]
        return words[:-1], words[-1], np.repeat(np.arange(len(sizes)), n_words), weight


def greedy_list(sample: Sample, most: int, least: float) -> tuple[list[list[Condition]], NDArray[np.int64], int]:
    """Return the terms of a decision list, their classes, and the class of the rows that no term covers.

    The next term covers the most rows without an error. Where none covers ``least``, it is the one of the best Laplace
    estimate, as long as that is better than the estimate of the commonest class among the rows left.
    """
    tests = tests_of(sample.table, sample.rows.weight, most)
    rows, whole = _Rows(sample, tests), sample.rows.sizes
    column = np.array([test.feature for test in tests], np.int64)
    bodies: list[list[Condition]] = []
    label: list[int] = []
    for _ in range(len(rows.left)):
        sizes = rows.sizes
        if not tests or np.count_nonzero(sizes) < 2:
            break
        passed, left, word_class, weight = rows.packed()
        scratch = np.zeros((most + 1, len(left)), np.uint64), np.zeros(most, np.int64), np.zeros(len(sizes))
        terms = Terms(passed, column, left, word_class, weight, float(least), *scratch, np.zeros(most, np.int64))
        if best_term(terms, True) == 0.0:
            score = best_term(terms, False)
            if score <= (sizes.max() + 1.0) / (sizes.sum() + len(sizes)):
                break
        body = [int(t) for t in terms.best if t >= 0]
        covered = rows.covered(body)
        own = np.bincount(sample.code[covered], weights=sample.rows.weight[covered], minlength=len(sizes))
        bodies.append([tests[t] for t in body])
        label.append(int(own.argmax()))
        rows.left = np.setdiff1d(rows.left, covered, assume_unique=True)
    sizes = rows.sizes if len(rows.left) else whole
    return bodies, np.array(label, np.int64), int(sizes.argmax())

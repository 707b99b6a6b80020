# mypy: ignore-errors
# ruff: noqa: D102
"""Which rows pass which tests, as bits, and what each rule would cover without one of its tests.

A word of 64 rows is looked at once for all tests of a rule: the rows that fail none of them, and those that fail one
alone, which are the ones that its deletion would add.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dtnumba.rules.layout import holds
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket

_RULES = 8  # a ticket
_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)


class RowBits(NamedTuple):
    """Rows as bits, 64 a word, the first the least."""

    tests: np.ndarray  # (t, words) uint64: rows that pass each test
    classes: np.ndarray  # (classes, words) uint64: rows of each class
    rows: np.ndarray  # (words,) uint64: all of them
    weight: np.ndarray  # (n,) float64, or empty where every row counts one


class Deletions(NamedTuple):
    """Weight of the rows covered, and of those among them of another class."""

    covered: np.ndarray  # (r,) float64: by each rule
    wrong: np.ndarray  # (r,)
    more: np.ndarray  # (t,): beyond that by its rule without each test
    more_wrong: np.ndarray  # (t,)


def packed_rows(bits: np.ndarray) -> np.ndarray:
    """Return a boolean array, a row of it a row of words."""
    n_words = (bits.shape[1] + _BITS - 1) // _BITS
    packed = np.zeros((len(bits), n_words * 8), np.uint8)
    own = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : own.shape[1]] = own
    return packed.view("<u8").astype(np.uint64)


def unpacked_rows(words: np.ndarray, n_rows: int) -> np.ndarray:
    """Return words as a boolean array of so many columns."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=n_rows, bitorder="little").astype(bool)


def row_bits(table: Any, tests: list[Any], codes: np.ndarray, n_classes: int, weight: np.ndarray | None) -> RowBits:
    """Return the bits of the rows of a table, of class ``codes``; rows of weight 0 are in no class and not there."""
    n_words = (table.n_rows + _BITS - 1) // _BITS
    passed = np.zeros((len(tests), n_words), np.uint64)
    feature = np.array([test.feature for test in tests], np.int64)
    is_there = np.ones(table.n_rows, bool) if weight is None else weight > 0
    for j in np.unique(feature):
        x = table.column(int(j))
        for t in np.flatnonzero(feature == j):
            passed[t] = packed_rows((holds(tests[t], x) & is_there)[None])[0]
    classes = packed_rows((codes == np.arange(n_classes)[:, None]) & is_there)
    return RowBits(passed, classes, packed_rows(is_there[None])[0], np.zeros(0) if weight is None else weight)


@inline
def weight_of(word, w, weight):
    """Return what the rows of a word count."""
    if len(weight) == 0:
        return np.float64(bit_count(word))
    total = 0.0
    while word != _ZERO:
        total += weight[w * _BITS + np.int64(lowest_bit(word))]
        word &= word - _ONE
    return total


@kernel_type
class CountDeletions(NamedTuple):
    """Fill Deletions, a few rules at a time by whichever worker is free."""

    bits: RowBits
    start: np.ndarray  # (r + 1,) int64
    test: np.ndarray  # (t,) int64: rows of bits.tests
    label: np.ndarray  # (r,) int64
    counts: Deletions
    halt: np.ndarray  # (1,) int64: not 0 where the work is to stop, and nothing of it will be used
    counter: np.ndarray

    def run(self, worker):
        bits, test = self.bits, self.test
        while self.halt[0] == 0:
            first = take_ticket(self.counter) * _RULES
            if first >= len(self.label):
                break
            for rule in range(first, min(first + _RULES, len(self.label))):
                start, stop, own = self.start[rule], self.start[rule + 1], self.label[rule]
                for w in range(len(bits.rows)):
                    fails, fails_two, there = _ZERO, _ZERO, bits.rows[w]
                    for t in range(start, stop):
                        failed = there & ~bits.tests[test[t], w]
                        fails_two |= fails & failed
                        fails |= failed
                    other = ~bits.classes[own, w]
                    none, one = there & ~fails, fails & ~fails_two
                    if none != _ZERO:
                        self.counts.covered[rule] += weight_of(none, w, bits.weight)
                        self.counts.wrong[rule] += weight_of(none & other, w, bits.weight)
                    if one != _ZERO:
                        for t in range(start, stop):
                            added = one & ~bits.tests[test[t], w]
                            if added != _ZERO:
                                self.counts.more[t] += weight_of(added, w, bits.weight)
                                self.counts.more_wrong[t] += weight_of(added & other, w, bits.weight)


def deletions_of(bits: RowBits, start: np.ndarray, test: np.ndarray, label: np.ndarray, workers: int) -> Deletions:
    """Return what rules cover, and would cover without each of their tests."""
    n, t = len(label), len(test)
    counts = Deletions(np.zeros(n), np.zeros(n), np.zeros(t), np.zeros(t))
    halt, counter = np.zeros(1, np.int64), np.zeros(1, np.int64)
    task = CountDeletions(bits, start, test, label.astype(np.int64), counts, halt, counter)
    launch_heeding(task, workers, len(test) * len(bits.rows), halt)
    return counts

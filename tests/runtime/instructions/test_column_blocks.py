"""Passes over rows, 32 columns at once, against loops over one cell at a time."""

import numpy as np
import pytest

from dtnumba.runtime.instructions.column_blocks import (
    COLUMNS,
    MOST_AT_ONCE,
    SPARE,
    add_labels,
    add_moments,
    add_records,
    at_most_among_16,
    at_most_among_first,
    find_extremes,
)
from dtnumba.runtime.kernels import kernel

WIDTHS = [1, 31, 32, 33, 70]
TYPES = [np.uint8, np.uint16, np.uint32]


@kernel
def _find_extremes(codes, rows, start, stop, column, smallest, largest):
    find_extremes(codes, rows, np.uint64(start), np.uint64(stop), np.uint64(column), smallest, largest)


@kernel
def _add_records(codes, rows, start, stop, column, cuts, records, sums, step):
    words = np.uint64(start), np.uint64(stop), np.uint64(column)
    return add_records(codes, rows, words[0], words[1], words[2], cuts, records, sums, np.uint64(step))


@kernel
def _add_labels(codes, rows, start, stop, column, cuts, labels, weights, sums, step, n):
    words = np.uint64(start), np.uint64(stop), np.uint64(column)
    return add_labels(
        codes, rows, words[0], words[1], words[2], cuts, labels, weights, sums, np.uint64(step), np.uint64(n)
    )


@kernel
def _add_moments(codes, rows, start, stop, column, cuts, moments, weights, sums, step):
    words = np.uint64(start), np.uint64(stop), np.uint64(column)
    return add_moments(codes, rows, words[0], words[1], words[2], cuts, moments, weights, sums, np.uint64(step))


@kernel
def _at_most_among_16(array, at, bound):
    return at_most_among_16(array, np.uint64(at), bound)


@kernel
def _at_most_among_first(array, at, n, bound):
    return at_most_among_first(array, np.uint64(at), np.uint64(n), bound)


class _Table:
    """Random codes with room behind them, rows in some order, cuts, labels, weights and moments."""

    def __init__(self, p, n=600, most_weight=3, dtype=np.uint8):
        r, largest = np.random.default_rng(p), np.iinfo(dtype).max
        room = np.zeros(n * p + SPARE, dtype)
        room[: n * p] = r.integers(0, largest, n * p, endpoint=True)
        self.codes = room[: n * p].reshape(n, p)
        self.rows = r.permutation(n).astype(np.uint32)
        self.cuts = np.concatenate([r.integers(0, largest, p, endpoint=True), np.zeros(COLUMNS)]).astype(dtype)
        self.labels = r.integers(0, 5, n).astype(np.uint8)
        self.weights = r.integers(0, most_weight + 1, n).astype(np.uint8)
        self.moments = r.integers(-(1 << 40), 1 << 40, (n, 1))
        self.p, self.step = p, p + COLUMNS

    def blocks(self):
        return [min(first, max(self.p - COLUMNS, 0)) for first in range(0, self.p, COLUMNS)]

    def sums(self, add, n_sums, start, stop):
        """Return what ``add`` sums up over rows[start:stop], in steps where bytes would overflow."""
        sums = np.zeros(n_sums * self.step, np.int64)
        for column in self.blocks():
            for s in range(n_sums):
                sums[s * self.step + column :][:COLUMNS] = 0
            at, n_steps = start, 0
            while at < stop:
                at, n_steps = int(add(self.codes, self.rows, at, stop, column, self.cuts, sums)), n_steps + 1
                assert n_steps <= stop - start
            assert at == stop
        return sums.reshape(n_sums, self.step)[:, : self.p]

    def naive(self, amount, start, stop):
        """Sum up the amounts of the rows whose code is at most the cut, a cell at a time."""
        expected = np.zeros(self.p, np.int64)
        for row in self.rows[start:stop]:
            for f in range(self.p):
                if self.codes[row, f] <= self.cuts[f]:
                    expected[f] += int(amount[row])
        return expected


@pytest.mark.parametrize("p", WIDTHS)
@pytest.mark.parametrize("dtype", TYPES)
def test_extremes_are_those_of_each_column(p, dtype):
    table = _Table(p, dtype=dtype)
    ends = np.zeros((2, p + COLUMNS), dtype)
    for start, stop in [(0, 600), (598, 600), (7, 8)]:
        for column in table.blocks():
            _find_extremes(table.codes, table.rows, start, stop, column, *ends)
        seen = table.codes[table.rows[start:stop]]
        assert ends[0, :p].tolist() == seen.min(axis=0).tolist()
        assert ends[1, :p].tolist() == seen.max(axis=0).tolist()


@pytest.mark.parametrize("p", WIDTHS)
@pytest.mark.parametrize(("most_weight", "dtype"), [(1, np.uint8), (3, np.uint32), (200, np.uint16)])
def test_sums_of_records(p, most_weight, dtype):
    table = _Table(p, most_weight=most_weight, dtype=dtype)
    records = (table.weights.astype(np.uint16) << 1) | (table.labels & 1)

    def add(codes, rows, at, stop, column, cuts, sums):
        return _add_records(codes, rows, at, stop, column, cuts, records, sums, table.step)

    found = table.sums(add, 2, 3, 590)
    for label in range(2):
        amount = table.weights * ((table.labels & 1) == label)
        assert found[label].tolist() == table.naive(amount, 3, 590).tolist()


@pytest.mark.parametrize("p", WIDTHS)
def test_sums_of_labels(p):
    table = _Table(p)

    def add(codes, rows, at, stop, column, cuts, sums):
        return _add_labels(codes, rows, at, stop, column, cuts, table.labels, table.weights, sums, table.step, 5)

    found = table.sums(add, 5, 0, 600)
    for label in range(5):
        assert found[label].tolist() == table.naive(table.weights * (table.labels == label), 0, 600).tolist()


@pytest.mark.parametrize("p", WIDTHS)
def test_sums_of_moments(p):
    table = _Table(p)

    def add(codes, rows, at, stop, column, cuts, sums):
        return _add_moments(codes, rows, at, stop, column, cuts, table.moments, table.weights, sums, table.step)

    found = table.sums(add, 2, 0, 600)
    assert found[0].tolist() == table.naive(table.weights, 0, 600).tolist()
    assert found[1].tolist() == table.naive(table.weights * table.moments[:, 0], 0, 600).tolist()


def test_a_pass_stops_before_bytes_overflow():
    table = _Table(3)
    records = np.full(600, 2 * 100, np.int64)
    sums = np.zeros(2 * table.step, np.int64)
    assert _add_records(table.codes, table.rows, 5, 600, 0, table.cuts, records, sums, table.step) == 5 + 2
    records[table.rows[5]] = 2 * (MOST_AT_ONCE + 1)
    assert _add_records(table.codes, table.rows, 5, 600, 0, table.cuts, records, sums, table.step) == 5


def test_ends_at_most_a_bound_are_counted():
    ends = np.concatenate([[-np.inf], np.arange(20.0), [np.inf] * 15])
    for at in (0, 5, 20):
        for bound in (-1e308, 0.0, 4.5, 19.0, 1e308):
            assert _at_most_among_16(ends, at, bound) == np.count_nonzero(ends[at : at + 16] <= bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_at_most_a_bound_are_counted_among_the_first(dtype):
    values = np.concatenate([np.arange(20), np.zeros(16)]).astype(dtype)
    for at in (0, 7, 19):
        for n in (0, 1, 5, 16):
            for bound in (-1.0, 9.5, 18.0, 100.0):
                assert _at_most_among_first(values, at, n, bound) == np.count_nonzero(values[at : at + n] <= bound)

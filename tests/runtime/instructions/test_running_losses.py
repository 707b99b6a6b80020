"""What sixteen cuts leave along an order: instructions and plain functions find the same."""

import numpy as np
import pytest

from dtnumba.runtime.instructions import running_extremes as extremes
from dtnumba.runtime.instructions import running_losses as losses
from dtnumba.runtime.kernels import kernel

N = extremes.N_LANES


@kernel
def follow_extremes(order, place, step, code, n, cut, least, run):
    extremes.running_extremes(order, place, step, code, n, cut, least, run)


@kernel
def follow_majority(order, place, label, weight, code, n, cut, least, counts, before, best):
    extremes.running_majority(order, place, label, weight, code, n, cut, least, counts, before, best)


@kernel
def follow_squares(order, place, weight, first, code, n, cut, least, whole, gain):
    losses.running_squares(order, place, weight, first, code, n, cut, least, whole, gain)


@kernel
def follow_gini(order, place, label, weight, code, n, cut, least, counts, whole, gain):
    losses.running_gini(order, place, label, weight, code, n, cut, least, counts, whole, gain)


@kernel
def follow_costs(order, place, cost, code, n, cut, least, sums, whole, best):
    losses.running_costs(order, place, cost, code, n, cut, least, sums, whole, best)


@kernel
def follow_tables(order, place, label, weight, code, n, cut, least, of_class, of_size, counts, whole, best):
    losses.running_tables(order, place, label, weight, code, n, cut, least, of_class, of_size, counts, whole, best)


class Drawn:
    """Rows in two orders, cuts of one, and sums of either side of them."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.n, self.k, self.least = int(rng.integers(1, 40)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
        self.order, self.place = (rng.permutation(self.n).astype(np.int32) for _ in range(2))
        self.code = np.sort(rng.integers(0, rng.integers(1, self.n + 1), self.n)).astype(np.int32)
        self.cut = rng.integers(0, self.n + 1, N).astype(np.int32)
        self.label = rng.integers(0, self.k, self.n).astype(np.int32)
        self.weight = rng.integers(1, 4, self.n)

    def sums(self, *values):
        is_left = self.place[:, None] < self.cut
        return np.array([[(v[:, None] * side).sum(axis=0) for side in (is_left, ~is_left)] for v in values])

    def class_sums(self):
        return self.sums(*(self.weight * (self.label == k) for k in range(self.k)))

    def scratch(self, kind=np.int64):
        return np.zeros((2 * self.k, N), kind)

    def where(self):
        return self.code, self.n, self.cut, self.least


def assert_same(one, other, out, *args):
    """Both write the same; ``args`` makes what they are given, anew."""
    found = []
    for function in (one, other):
        result = out.copy()
        given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        function(*given, result)
        found.append(result)
    assert np.array_equal(*found)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sums_of_errors(kind):
    for seed in range(40):
        drawn = Drawn(seed)
        first = drawn.order, drawn.place
        step = drawn.rng.integers(-5, 6, drawn.n).astype(kind)
        assert_same(extremes.running_extremes, follow_extremes, np.zeros((6, N), kind), *first, step, *drawn.where())
        given = *first, drawn.label, drawn.weight.astype(kind), *drawn.where(), drawn.scratch(kind)
        before = np.zeros((drawn.n, 2, N), kind)
        assert_same(extremes.running_majority, follow_majority, np.zeros((2, N), kind), *given, before)


def test_squares_and_gini():
    for seed in range(40):
        drawn = Drawn(seed)
        first, out = (drawn.order, drawn.place), np.zeros((2, N))
        value = drawn.rng.integers(-99, 99, drawn.n)
        whole = drawn.sums(drawn.weight, value)
        assert_same(losses.running_squares, follow_squares, out, *first, drawn.weight, value, *drawn.where(), whole)
        given = *first, drawn.label, drawn.weight, *drawn.where(), drawn.scratch(), drawn.class_sums()
        assert_same(losses.running_gini, follow_gini, out, *given)


def test_costs_and_tables():
    table = np.rint(np.arange(200) * np.log2(np.maximum(np.arange(200), 1)) * 2**20).astype(np.int64)
    for seed in range(40):
        drawn = Drawn(seed)
        first, out = (drawn.order, drawn.place), np.full((2, N), 1 << 60)
        cost = drawn.rng.integers(0, 9, (drawn.n, drawn.k))
        given = *first, cost, *drawn.where(), drawn.scratch(), drawn.sums(*cost.T)
        assert_same(losses.running_costs, follow_costs, out, *given)
        tables = table, table * 3 + 7
        given = *first, drawn.label, drawn.weight, *drawn.where(), *tables, drawn.scratch(), drawn.class_sums()
        assert_same(losses.running_tables, follow_tables, out, *given)

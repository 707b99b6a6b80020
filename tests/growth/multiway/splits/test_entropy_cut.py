"""C4.5's cuts of two classes against a look at each key by itself."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.splits import entropy_cut
from dtnumba.growth.multiway.splits.number_tests import Line


class Quinlan:
    """The hooks of a criterion that the search reads."""

    def __init__(self, n, step, reach):
        counts = np.arange(n + 1, dtype=float)
        self.table = np.where(counts > 0, counts * np.log2(np.maximum(counts, 1)), 0.0)
        self.step, self.reach = step, reach

    def is_parted(self, feature, last, following):
        return following - last >= self.step

    def surely_parted(self, feature):
        return np.int64(self.reach)


def naive_best_of_two(codes, classes, criterion, least, ahead):
    """Return the last key below the best cut and how many candidates there are; every cut is scored."""
    table, known, ones_in_all = criterion.table, len(codes), int(classes.sum())
    bar, scale, best, n_allowed, ones = NO_GAIN, 0.0, -1, 0, 0
    for i in range(known - 1):
        ones += int(classes[i])
        below = i + 1
        if codes[i] == codes[i + 1] or below < least or known - below < least:
            continue
        if codes[i + 1] - codes[i] < criterion.step:
            continue
        n_allowed += 1
        left = table[ones] + table[below - ones] - table[below]
        others = ones_in_all - ones
        right = table[others] + table[known - below - others] - table[known - below]
        if left + right > bar:
            scale = max(scale, abs(left + right))
            bar, best = left + right + max(TIE * scale, ahead), i
    return best, n_allowed


@pytest.mark.small
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 700),
    n_values=st.sampled_from([2, 5, 60, 100_000]),
    signal=st.sampled_from([0.0, 0.3, 3.0]),
    step=st.sampled_from([1, 2, 40]),
    least=st.sampled_from([1.0, 2.5, 30.0]),
    ahead=st.sampled_from([0.0, 1e-3, 0.5]),
)
def test_stretches_that_are_passed_over_hold_no_better_cut(seed, n, n_values, signal, step, least, ahead):
    generator = np.random.default_rng(seed)
    codes = np.sort(generator.integers(0, n_values, n))
    classes = (signal * (codes / n_values - 0.4) + generator.normal(size=n) * 0.5 > 0).astype(np.int64)
    criterion = Quinlan(n, step, max(step, 3))
    bits = np.uint64(20)
    keys = (codes.astype(np.uint64) << np.uint64(32)) | (classes.astype(np.uint64) << bits)
    keys |= np.arange(n, dtype=np.uint64)
    sides = np.zeros((8, 4))
    sides[col.PRESENT_SUMS] = n - classes.sum(), classes.sum(), n, n
    work = SimpleNamespace(
        criterion=criterion,
        n_codes=np.array([n_values]),
        scratch=SimpleNamespace(sides=sides, test=np.zeros(col.N_TEST, np.int64)),
        grown=SimpleNamespace(place_bits=bits, place_mask=np.uint64((1 << 20) - 1)),
    )
    padded = np.concatenate([np.zeros(3, np.uint64), keys])
    found = entropy_cut._best_of_two(work, Line(padded, 3, n, False, 0, True), least, ahead)
    expected = naive_best_of_two(codes, classes, criterion, least, ahead)
    assert found == expected
    if expected[0] >= 0:
        below = expected[0] + 1
        ones = classes[:below].sum()
        assert sides[col.BELOW].tolist() == [below - ones, ones, below, below]

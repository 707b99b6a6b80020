"""Subtrees of numbers that grow on sums are those that tables and sorted rows grow, to the bit."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import COLUMNS, column, compiled_where, examples, same_trees

from dtnumba import RandomForestRegressor
from dtnumba.growth.binary.grow_subtree import LikeOthers
from dtnumba.growth.binary.small_regression import OnSums
from dtnumba.growth.binary.small_subtrees import small_subtrees
from dtnumba.growth.forest import plan
from dtnumba.runtime.instructions.vector_compare import first_above
from dtnumba.runtime.instructions.vector_sums import add_up_to_8, add_up_to_16, sum_up_4, sum_up_8
from dtnumba.runtime.kernels import kernel

# Each of these is two kernels of a forest, which take 10 s each to compile; the others run interpreted.
COMPILED_KINDS = {"histogram": {}}
KINDS = COMPILED_KINDS | {"exact": {"max_bins": None}, "poisson": {"criterion": "poisson"}}
LIMITS = [
    {},
    {"min_samples_leaf": 3},
    {"min_samples_split": 7},
    {"max_depth": 3},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
    {"bootstrap": False},
    {"max_samples": 3.0},
]


def demanded(kinds, *rest):
    """No test is to pass because nothing grew on sums."""
    found = small_subtrees(kinds, *rest)
    assert isinstance(found, OnSums), "this forest does not use sums"
    return found


def both(X, y, **params):
    """The same forest grown with sums and without."""
    found = []
    for how in (demanded, lambda *_: LikeOthers()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "small_subtrees", how)
            found.append(RandomForestRegressor(2, n_jobs=1, random_state=0, **params).fit(X, y).trees_)
    return found


def rows(seed, n, kinds, n_values):
    """A table, and targets of which some are equal."""
    random = np.random.default_rng(seed)
    X = np.stack([column(kind, random, n, np.float64) for kind in kinds], axis=1)
    return X, random.integers(0, n_values, n) * 0.1 + 1.0


SAMPLES = st.builds(
    rows,
    st.integers(0, 1 << 30),
    st.sampled_from([9, 20, 60, 64, 65, 90]),
    st.lists(st.sampled_from(COLUMNS), min_size=2, max_size=6),
    st.sampled_from([2, 7, 1000]),
)


@pytest.mark.small
@pytest.mark.parametrize("kind", compiled_where(KINDS, COMPILED_KINDS))
@examples(25)
@given(SAMPLES, st.sampled_from(LIMITS), st.integers(1, 5))
def test_trees_are_those_without_sums(kind, sample, limits, n_drawn):
    X, y = sample
    with_sums, without = both(X, y, max_features=min(n_drawn, X.shape[1] - 1), **KINDS[kind], **limits)
    assert same_trees(with_sums, without)


@kernel
def added_up(bounds, codes, n, numbers, sums):
    if len(bounds) == 8:
        add_up_to_8(bounds, np.uint64(0), codes, n, numbers, sums)
    else:
        add_up_to_16(bounds, np.uint64(0), codes, n, numbers, sums)


@pytest.mark.small
def test_rows_are_added_to_the_cuts_that_send_them_left():
    random = np.random.default_rng(0)
    for n, n_cuts in itertools.product((4, 12, 64), (8, 16)):
        codes, numbers = random.integers(0, 9, n), random.integers(-50, 50, (n, 2))
        bounds, sums = random.integers(0, 9, n_cuts), np.full((2, n_cuts), -1)
        added_up(bounds, codes, np.uint64(n), numbers.ravel(), sums)
        for k in range(n_cuts):
            assert sums[:, k].tolist() == numbers[codes <= bounds[k]].sum(axis=0).tolist()


@kernel
def summed_up(n_rows, codes, bases, ids, numbers, whose, missing, places, sums):
    if n_rows == 4:
        return sum_up_4(codes, bases, ids, numbers, whose, missing, places, sums, np.uint64(8))
    return sum_up_8(codes, bases, ids, numbers, whose, missing, places, sums, np.uint64(8))


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
@pytest.mark.parametrize("n_rows", [4, 8])
@pytest.mark.parametrize("n_values", [1, 3, 200])
def test_cuts_of_few_rows_are_summed_up_at_once(n_rows, n_values, dtype):
    random = np.random.default_rng(n_values)
    codes, ids = random.integers(0, n_values, 192).astype(dtype), random.permutation(64)[:8].astype(np.uint64)
    numbers, places, sums = random.integers(-9, 9, (8, 2)), np.zeros(16, np.uint64), np.zeros((2, 16), np.int64)
    pairs = [tuple(np.uint64(item) for item in pair) for pair in ((0, 128), (1 << 40, 1 << 41), (2, n_values))]
    bases, whose, missing = pairs
    flags = int(summed_up(n_rows, codes, bases, ids, numbers.ravel(), whose, missing, places, sums))
    for k in range(8):
        feature = k // n_rows
        own = codes[int(bases[feature]) + ids[:n_rows].astype(int)].astype(int)
        code = own[k % n_rows]
        assert places[8 + k] == int(whose[feature]) | code
        assert sums[:, 8 + k].tolist() == numbers[:n_rows][own <= code].sum(axis=0).tolist()
        assert (flags >> k) & 1 == (code != own[0])
        assert (flags >> (8 + k)) & 1 == (code == missing[feature])


@kernel
def found_above(values, places, bound):
    return first_above(values, places, np.uint64(len(values)), bound)


@pytest.mark.small
@examples(30)
@given(st.integers(0, 1 << 30), st.sampled_from([8, 24, 64]))
def test_the_first_place_above_a_bound_is_found(seed, n):
    random = np.random.default_rng(seed)
    values, places = random.integers(0, 4, n).astype(float), random.permutation(n).astype(np.uint64) << np.uint64(33)
    values[random.integers(0, n)], values[random.integers(0, n)] = np.nan, 9.0
    k = int(found_above(values, places, 2.5))
    assert places[k] == min(places[values > 2.5])

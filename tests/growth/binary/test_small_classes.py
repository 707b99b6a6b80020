"""Subtrees that grow on bits are those that tables and sorted rows grow, to the bit."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.binary import Limits, audit
from strategies import COLUMNS, class_rows, compiled_where, examples, interpreted_only, same_trees

from dtnumba import RandomForestClassifier
from dtnumba.growth.binary.grow_subtree import LikeOthers
from dtnumba.growth.binary.small_classes import OnBits
from dtnumba.growth.binary.small_subtrees import small_subtrees
from dtnumba.growth.forest import plan
from dtnumba.runtime.instructions.vector_compare import (
    at_least_among_8,
    at_most_among_64,
    equal_among_64,
    largest_of,
    least_above_among_64,
)
from dtnumba.runtime.instructions.vector_sums import turn_8_by_8
from dtnumba.runtime.kernels import COMPILED, kernel

# Each of these is two kernels of a forest, which take 10 s each to compile; the others below run interpreted.
COMPILED_KINDS = {
    "histogram, two classes": (RandomForestClassifier, 2, {}),
}
KINDS = COMPILED_KINDS | {
    "exact, two classes": (RandomForestClassifier, 2, {"max_bins": None}),
    "entropy": (RandomForestClassifier, 2, {"criterion": "entropy"}),
    "chi2": (RandomForestClassifier, 2, {"criterion": "chi2"}),
    "twoing": (RandomForestClassifier, 2, {"criterion": "twoing"}),
    "error": (RandomForestClassifier, 2, {"criterion": "error"}),
}
LIMITS = [
    {},
    {"min_samples_leaf": 3},
    {"min_samples_split": 7},
    {"max_depth": 3},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
    {"min_samples_leaf": 2, "min_weight_fraction_leaf": 0.02, "max_depth": 5},
]
DRAWS = [
    {},
    {"max_samples": 3.0},  # some rows count seven times and more, which is where bits end
    {"max_samples": 0.3},
]
if not COMPILED:  # counts of another type, or none
    DRAWS += [{"bootstrap": False}, {"replace": False, "max_samples": 0.6}, {"max_samples": 40.0}]


def demanded(kinds, *rest):
    """No test is to pass because nothing grew on bits."""
    found = small_subtrees(kinds, *rest)
    assert isinstance(found, OnBits), "this forest does not use bits"
    return found


def both(family, X, y, weight=None, **params):
    """The same forest grown with bits and without."""
    found = []
    for how in (demanded, lambda *_: LikeOthers()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "small_subtrees", how)
            found.append(family(n_jobs=1, **params).fit(X, y, weight).trees_)
    return found


SAMPLES = st.builds(
    class_rows,
    st.integers(0, 1 << 30),
    st.sampled_from([9, 20, 60, 64, 65, 90]),
    st.lists(st.sampled_from(COLUMNS), min_size=2, max_size=6),
    st.just(8),
)


def demand_the_same(kind, sample, limits, draws, n_drawn):
    family, n_classes, params = KINDS[kind]
    X, y = sample
    y = y % n_classes
    here = {"n_estimators": 2, "random_state": 0, "max_features": min(n_drawn, X.shape[1] - 1), **params, **limits}
    with_bits, without = both(family, X, y, **here | draws)
    assert same_trees(with_bits, without)


@pytest.mark.small
@pytest.mark.parametrize("kind", compiled_where(KINDS, COMPILED_KINDS))
@examples(25)
@given(SAMPLES, st.sampled_from(LIMITS), st.sampled_from(DRAWS), st.integers(1, 5))
@example(class_rows(3, 64, ["few", "constant", "missing"], 8), {}, {"max_samples": 3.0}, 1)
def test_trees_are_those_without_bits(kind, sample, limits, draws, n_drawn):
    demand_the_same(kind, sample, limits, draws, n_drawn)


def test_words_are_read_within_their_arrays(run_python):
    code = """
from dtnumba import RandomForestClassifier
from strategies import class_rows
for seed in range(20):
    X, y = class_rows(seed, 64 + seed, ["few", "missing", "many"], 2)
    RandomForestClassifier(2, max_features=2, random_state=seed, n_jobs=1).fit(X, y)
"""
    run_python(code, NUMBA_BOUNDSCHECK=1)


@interpreted_only
@pytest.mark.parametrize(
    "kinds", [["many"], ["few"], ["missing"], ["mostly missing"], ["extreme"], ["all missing", "few"]], ids=str
)
def test_splits_are_the_best_there_are(kinds):
    """One column that varies, and others that do not: whatever is drawn, the node looks at this one."""
    for seed in range(6):
        X, y = class_rows(seed, 30 + seed * 7, [*kinds, "constant", "constant"], 2)
        params = {"n_estimators": 1, "bootstrap": False, "max_features": 1, "random_state": seed}
        trees, _ = both(RandomForestClassifier, X, y, **params)
        audit(trees, "gini", X, y[:, None], np.ones(len(y)), (2,), Limits())


@pytest.mark.small
def test_many_drawn_columns_that_do_not_vary_take_no_part():
    """300 columns, most of them constant or missing, and all but one drawn at each node."""
    X, y = class_rows(1, 64, ["constant", "all missing"] * 148 + ["few", "missing", "many", "many"], 2)
    for n_drawn in (1, 17, 299):
        params = {"n_estimators": 2, "max_features": n_drawn, "random_state": 0}
        assert same_trees(*both(RandomForestClassifier, X, y, **params))


def nats(stats, weight):
    """Entropy, whose score of a perfect split is what rounding leaves."""
    spread = math.log(weight)
    for k in range(len(stats)):
        if stats[k] > 0.0:
            spread -= stats[k] * math.log(stats[k]) / weight
    return spread


def gini(stats, weight):
    return 1.0 - (stats[0] / weight) ** 2 - (stats[1] / weight) ** 2


class Purest(NamedTuple):
    """The score of a perfect split is infinite."""

    def impurity(self, stats, weight):
        return gini(stats, weight)

    def score(self, left, right, weight_left, weight_right):
        here = weight_left * gini(left, weight_left) + weight_right * gini(right, weight_right)
        return 1.0 / here if here > 0.0 else math.inf


class Wary(NamedTuple):
    """Of few rows it says nothing."""

    answer: float = math.nan

    def impurity(self, stats, weight):
        return gini(stats, weight)

    def score(self, left, right, weight_left, weight_right):
        if min(weight_left, weight_right) < 3.0:
            return self.answer
        return -weight_left * gini(left, weight_left) - weight_right * gini(right, weight_right)


@interpreted_only
@pytest.mark.small
@pytest.mark.parametrize("criterion", [nats, Purest(), Wary(), Wary(-math.inf)], ids=["nats", "purest", "NaN", "-inf"])
def test_criteria_of_users_are_asked_alike(criterion):
    for seed in range(6):
        X, y = class_rows(seed, 50, ["many", "few", "many", "many", "missing"], 2)
        y = (X[:, 0] > 0).astype(int) if seed % 2 else y  # several columns can be perfect further down
        params = {"n_estimators": 2, "max_features": 3, "random_state": seed, "criterion": criterion}
        assert same_trees(*both(RandomForestClassifier, X, y, **params)), seed


@interpreted_only
@pytest.mark.small
def test_of_perfect_splits_whose_scores_round_apart_the_first_one_drawn_wins():
    """Every column parts the classes, at other sides and with other rounding."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        y = np.repeat([0, 1], random.integers(3, 30, 2))
        X = np.stack([y, -y, 2.0 * y, 1.0 - y, np.zeros(len(y))], axis=1)
        params = {"n_estimators": 3, "max_features": 4, "random_state": seed, "criterion": nats}
        assert same_trees(*both(RandomForestClassifier, X, y, **params)), seed


def test_bits_are_for_growth_that_asks_for_nothing_else():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 4)), random.integers(0, 2, 80)
    for params in (
        {"max_leaf_nodes": 9},
        {"max_features": None},
        {"min_significance": 0.1},
        {"criterion": "gain_ratio"},
        {"criterion": "mdl"},
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "small_subtrees", demanded)
            with pytest.raises(AssertionError, match="does not use bits"):
                RandomForestClassifier(1, n_jobs=1, **params).fit(X, y)


@interpreted_only
@pytest.mark.small
def test_a_code_is_laid_out_in_the_type_of_the_table():
    """256 values and a missing one take two bytes a code; none may look like another."""
    values = np.arange(300.0)
    values[::50] = np.nan
    X = np.stack([values, values[::-1], np.zeros(300)], axis=1)
    y = (np.arange(300) // 5) % 2
    params = {"n_estimators": 1, "max_bins": None, "max_features": 1, "random_state": 0}
    assert same_trees(*both(RandomForestClassifier, X, y, **params))


@kernel
def compared(codes, at, bound, among, out):
    out[0] = at_most_among_64(codes, at, bound)
    out[1] = equal_among_64(codes, at, bound)
    out[2] = least_above_among_64(codes, at, bound, among)


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_64_codes_are_compared_at_once(dtype):
    random, top = np.random.default_rng(0), np.iinfo(dtype).max
    codes, out = np.zeros(128, dtype), np.empty(3, np.uint64)
    for most in (3, top):
        codes[:] = random.integers(0, most, 128, endpoint=True)
        codes[70], codes[80] = 0, top
        for bound in (0, 1, int(codes[100]), top - 1, top):
            among = random.integers(0, 1 << 63, dtype=np.uint64)
            compared(codes, np.uint64(64), np.uint64(bound), among, out)
            here, marked = codes[64:].astype(object), [k for k in range(64) if int(among) >> k & 1]
            assert int(out[0]) == sum((here[k] <= bound) << k for k in range(64))
            assert int(out[1]) == sum((here[k] == bound) << k for k in range(64))
            assert int(out[2]) == min((here[k] for k in marked if here[k] > bound), default=top)


@kernel
def ranked(scores, n, bar, out):
    out[0] = largest_of(scores, np.uint64(0), n)
    for block in range(np.uint64(0), n, np.uint64(8)):
        out[1 + block // np.uint64(8)] = at_least_among_8(scores, block, bar)


@pytest.mark.small
def test_scores_are_compared_at_once_and_nan_is_none():
    random = np.random.default_rng(1)
    for n in (8, 16, 40):
        scores, out = random.normal(size=n), np.empty(1 + n // 8)
        scores[random.random(n) < 0.3] = np.nan
        scores[0] = -np.inf
        bar = float(np.nanmedian(scores))
        ranked(scores, np.uint64(n), bar, out)
        assert out[0] == np.nanmax(scores)
        for block in range(n // 8):
            assert out[1 + block] == sum(1 << k for k in range(8) if scores[8 * block + k] >= bar)
    ranked(np.full(8, np.nan), np.uint64(8), 0.0, out)
    assert out[0] == -np.inf
    assert out[1] == 0


@kernel
def turned(codes, rows, i, first, out, at):
    turn_8_by_8(codes, rows, np.uint64(i), np.uint64(first), out, np.uint64(at))


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("row_type", [np.uint32, np.uint64])
def test_rows_become_columns_eight_by_eight(dtype, row_type):
    random = np.random.default_rng(0)
    codes = random.integers(0, np.iinfo(dtype).max, (40, 11)).astype(dtype)
    rows, out = random.permutation(40).astype(row_type), np.zeros(11 * 64, dtype)
    turned(codes, rows, 16, 3, out, 3 * 64 + 16)
    expected = np.zeros((11, 64), dtype)
    expected[3:, 16:24] = codes[rows[16:24].astype(np.int64), 3:].T
    assert out.reshape(11, 64).tolist() == expected.tolist()

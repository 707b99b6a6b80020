"""Walking the bins of a histogram: sums of all bins, and of those that hold rows, find the same cuts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only, same_trees

from dtnumba import RandomForestClassifier
from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.splitters.candidates import bar_above
from dtnumba.growth.splitters.scans import scan_bins
from dtnumba.growth.targets.counted_classes import FewClasses
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.instructions.vector_sums import running_sums
from dtnumba.runtime.kernels import kernel


@kernel
def summed(bins, at, n, sums, to, start, empties, out):
    out[0] = running_sums(bins, at, n, sums, to, start, empties)


@pytest.mark.small
@pytest.mark.parametrize("empties", [False, True])
def test_sums_run_over_all_bins(empties):
    random = np.random.default_rng(0)
    for n in (0, 8, 24, 256):
        bins, sums, out = random.integers(-5, 9, 300), np.full((2, 300), 77), np.zeros(1, np.int64)
        before, expected = bins.copy(), 1000 + np.cumsum(bins[3 : 3 + n])
        summed(bins, np.uint64(3), np.uint64(n), sums, np.uint64(5), 1000, empties, out)
        assert out[0] == (expected[-1] if n else 1000)
        assert sums[0, 5 : 5 + n].tolist() == expected.tolist()
        assert (sums[0, :5] == 77).all()
        assert (sums[0, 5 + n :] == 77).all()
        before[3 : 3 + n] *= not empties
        assert bins.tolist() == before.tolist()


@interpreted_only
@pytest.mark.small
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_all_bins_and_those_that_hold_rows_find_the_same_cuts(missing, monkeypatch):
    """Compiled kernels have the limit built in; interpreted ones look it up."""
    random, grown = np.random.default_rng(1), []
    X = np.stack([random.normal(size=400), random.integers(0, 3, 400), random.integers(0, 40, 400)], axis=1)
    X[random.random(X.shape) < missing] = np.nan
    y = (random.random(400) < 0.3) | (X[:, 0] > 1)
    for limit in (1, 1 << 30):
        monkeypatch.setattr(scan_bins, "DENSE_ROWS", limit)
        for params in ({}, {"min_samples_leaf": 5, "bootstrap": False}, {"criterion": "entropy"}):
            forest = RandomForestClassifier(2, max_features=2, random_state=0, n_jobs=1, min_samples_split=70)
            grown.append(forest.set_params(**params).fit(X, y).trees_)
    assert all(same_trees(*pair) for pair in zip(grown[:3], grown[3:], strict=True))
    assert grown[0].n_nodes > 10


@kernel
def largest_found(scores, out):
    block, found, end, scale = scan_bins._find_largest(scores, np.uint64(len(scores)))
    out[0], out[1], out[2], out[3] = block, lowest_bit(found) if found else -1, end, scale


@pytest.mark.small
@examples(200)
@given(
    st.lists(
        st.sampled_from([NO_GAIN, np.nan, -7.0, -1.0, 0.0, 1.0, 1 + 1e-13, 1 + 3e-12, 2.0, 2 + 1e-13, 1e300, np.inf]),
        min_size=8,
        max_size=40,
    )
)
def test_the_largest_score_is_the_one_that_a_search_ends_with(scores):
    scores = np.array(scores[: len(scores) & ~7])
    bar, scale, best = NO_GAIN, 0.0, -1
    with np.errstate(invalid="ignore"):
        for k, score in enumerate(scores):
            if score > bar:
                scale = max(scale, abs(score))
                bar, best = bar_above(score, scale), k
        out = np.zeros(4)
        largest_found(scores, out)
    block, lane, end, first = out
    if lane >= 0:
        assert best == block - 8 + lane
        assert scale == max(first, abs(scores[best]))
        assert end == block
    else:
        assert (best < 0) == (block == end)
        assert first == 0
        assert block in (0, len(scores))


@interpreted_only
@pytest.mark.small
@pytest.mark.parametrize("n_classes", [3, 5, 7, 8])
def test_narrow_bins_find_the_cuts_of_wide_ones(n_classes, monkeypatch):
    """Compiled kernels have narrow bins built in; interpreted ones look them up."""
    random, grown = np.random.default_rng(1), []
    X = np.stack([random.normal(size=700), random.integers(0, 3, 700), random.integers(0, 40, 700)], axis=1)
    X[random.random(X.shape) < 0.1] = np.nan
    y = random.integers(0, n_classes, 700)
    y[:n_classes] = np.arange(n_classes)
    for is_wide in (False, True):
        if is_wide:
            monkeypatch.setattr(FewClasses, "packed_for", lambda target, _total: target)
        for params in ({}, {"min_samples_leaf": 3}, {"bootstrap": False, "min_samples_leaf": 3}):
            forest = RandomForestClassifier(1, max_features=2, random_state=0, n_jobs=1, max_depth=6)
            grown.append(forest.set_params(**params).fit(X, y).trees_)
    assert all(same_trees(*pair) for pair in zip(grown[:3], grown[3:], strict=True))
    assert grown[0].n_nodes > 10

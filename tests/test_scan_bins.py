"""Walking the bins of a histogram: sums of all bins, and of those that hold rows, find the same cuts."""

import numpy as np
import pytest
from strategies import interpreted_only, same_trees

from dtnumba import RandomForestClassifier, scan_bins
from dtnumba._jit import kernel, running_sums


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

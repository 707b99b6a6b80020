"""Nodes with two terms inside: the votes of the trees, whatever values rows have."""

import numpy as np
import pytest
from naive import binary as naive
from strategies import interpreted_only

from dtnumba import ObliqueForestClassifier
from dtnumba.prediction import forest_view
from dtnumba.prediction.linear_nodes import LinearNodes
from dtnumba.prediction.pair_nodes import PairNodes

N = 60
generator = np.random.default_rng(0)
X = generator.normal(size=(N, 4)).round(2)
Y = (X[:, 0] - X[:, 1] + 0.2 * generator.normal(size=N) > 0).astype(int)
X[::7, 1] = np.nan
VALUES = generator.choice([np.nan, np.inf, -np.inf, 1e308, -1e308], (24, 4))
WILD = np.where(generator.random((24, 4)) < 0.4, VALUES, X[:24])
WILD[0] = np.nan


@interpreted_only
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("few", [1 << 60, 0])
@pytest.mark.parametrize("most", [None, 4])
def test_every_value_takes_its_way(monkeypatch, few, dtype, most):
    monkeypatch.setattr(forest_view, "FEW_STEPS", few)
    with np.errstate(all="ignore"):
        model = ObliqueForestClassifier(n_estimators=4, random_state=0, max_terms=most).fit(X.astype(dtype), Y)
        trees = model.trees_
        assert type(model.forest_.packed(np.dtype(dtype)).nodes) is (PairNodes if most is None else LinearNodes)
        says = np.where(trees.feature[:, None] < 0, trees.value, 0.0)
        for rows in (X[:24].astype(dtype), WILD.astype(dtype)):
            assert np.array_equal(model.predict_proba(rows)[:, 1], naive.votes(trees, rows, says)[:, 1])

"""The rows of a node by code: of many classes they are sorted where a table of sums costs more, to the same bits."""

import numpy as np
import pytest
from strategies import interpreted_only, same_trees

from dtnumba import C45Classifier, C50Classifier
from dtnumba.growth.multiway.splits import group_rows


@interpreted_only
@pytest.mark.parametrize("model", [C50Classifier(n_jobs=1), C45Classifier(n_jobs=1, min_gap=0.0)])
def test_a_table_of_many_classes_changes_no_bit(model, monkeypatch):
    draw = np.random.default_rng(0)
    y = draw.integers(0, 70, 160)
    X = np.column_stack([y // 9 + draw.normal(size=160) * 0.4, draw.normal(size=160)]).round(1)
    X[draw.random(X.shape) < 0.05] = np.nan
    sorted_rows = model.fit(X, y).trees_
    monkeypatch.setattr(group_rows, "_FEW_SUMS", 1000)
    tabled = model.fit(X, y).trees_
    assert sorted_rows.n_nodes > 9
    assert same_trees(sorted_rows, tabled)

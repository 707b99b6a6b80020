"""Sums as columns of tables: the same numbers as the nodes add up, whatever holds the rows."""

import numpy as np
import pytest
from strategies import interpreted_only

import dtnumba
from dtnumba import ObliqueTreeClassifier, RuleSetClassifier
from dtnumba.tables.cells import values_of
from dtnumba.tables.table import read_table
from dtnumba.trees import with_sums
from dtnumba.trees.linear import n_terms_of, sums_of


def _fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).round(2)
    X[rng.random(X.shape) < 0.2] = 0.0
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] - X[:, 3] > 0.5)
    return ObliqueTreeClassifier(search="lda", max_depth=4, n_jobs=1).fit(X, y), X, y


@interpreted_only
def test_columns_behind_the_table_are_the_sums_of_nodes(monkeypatch):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(with_sums, "BLOCK_CELLS", 100)
    model, X, _ = _fitted()
    trees = model.trees_
    number, linear = with_sums.different_sums(trees.linear, trees.n_nodes)
    assert (number >= 0).tolist() == (n_terms_of(trees.linear, trees.n_nodes) > 0).tolist()
    for given in (X, X.astype(np.float32), np.asfortranarray(X), scipy_sparse.csr_array(X)):
        table = with_sums.with_sums(read_table(given, "test"), linear)
        rows = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
        blocks = [(first, np.array(values_of(cells))) for first, cells in table.row_blocks()]
        assert len(blocks) > 1
        assert [first for first, _ in blocks] == np.cumsum([0, *(len(own) for _, own in blocks[:-1])]).tolist()
        whole = np.concatenate([own for _, own in blocks])
        assert np.array_equal(whole[:, :4], rows)
        for node in np.flatnonzero(number >= 0):
            expected = sums_of(trees.linear, node, rows)
            assert np.array_equal(table.column(4 + number[node]), expected)
            assert np.array_equal(whole[:, 4 + number[node]], expected)
    assert with_sums.different_sums(trees.linear._replace(start=trees.linear.start * 0), trees.n_nodes)[0].max() == -1


@interpreted_only
def test_rules_of_sums_are_kept_in_files(tmp_path):
    model, X, y = _fitted()
    rules = RuleSetClassifier().from_tree(model, X, y)
    assert rules.rules_.arrays.tests.feature.max() >= 4
    rules.save(tmp_path / "rules.dtn")
    again = dtnumba.load(tmp_path / "rules.dtn")
    assert again.to_text(None) == rules.to_text(None)
    assert np.array_equal(again.predict_proba(X), rules.predict_proba(X))
    broken = rules.rules_.arrays.linear
    for name, value in (("column", 4), ("weight", np.inf), ("start", 0)):
        own = getattr(broken, name).copy()
        own[-1] = value
        rules.rules_.arrays = rules.rules_.arrays._replace(linear=broken._replace(**{name: own}))
        rules.save(tmp_path / "broken.dtn")
        with pytest.raises(ValueError, match="layout of Rules"):
            dtnumba.load(tmp_path / "broken.dtn").predict(X)

"""Codes made on a cluster are those of the rows end to end, and serve any number of fits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only, same_trees

import dtnumba
import dtnumba.dask
from dtnumba.dask.binned import edges_of_shares, first_pass
from dtnumba.dask.codes import code_part, complete_bins
from dtnumba.dask.columns import Sealed, joined, look_at_columns
from dtnumba.tables import batches


def rows(n, seed):
    """Return real values, few, few and a rare one, categories, none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1], X[:, 3] = rng.integers(0, 8, n), rng.integers(0, 5, n)
    X[:, 2] = np.where(np.arange(n) == n // 3, 77.5, rng.integers(0, 5, n))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 4] = np.nan
    return X


@interpreted_only
@given(
    st.integers(0, 1 << 32),
    st.integers(20, 60),
    st.sampled_from([4, 16, 255]),
    st.booleans(),
    st.lists(st.integers(0, 60), max_size=4),
)
@examples(15)
def test_any_cut_gives_the_codes_of_all_rows(seed, drawn, most, has_categories, ends):
    X, wanted = rows(60, seed), [3] if has_categories else None
    parts = [X[a:b] for a, b in pairwise([0, *sorted(ends), len(X)])]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "DRAWN_ROWS", drawn)
        local = dtnumba.bin_batches(lambda: iter(parts), most, wanted)
        reports = [look_at_columns(part, None, None, "bin_batches", wanted) for part in parts]
        columns = joined(reports, "bin_batches", wanted)
        known = Sealed(columns)
        shares = [
            first_pass(part, None, None, most, known, int(start))
            for part, start in zip(parts, columns.starts, strict=False)
        ]
        edges = edges_of_shares(known, most, *shares)
    codes = [code_part(part, None, None, "bin_batches", known, edges) for part in parts]
    assert np.array_equal(np.concatenate(codes), local.codes)
    bins = complete_bins(columns, edges)
    for name in ("n_codes", "first_code", "low", "high", "exhaustive"):
        assert np.array_equal(getattr(bins, name), getattr(local.bins, name), equal_nan=True), name


def test_codes_on_a_cluster_are_fitted_again_and_again(client):
    arrays = pytest.importorskip("dask.array")
    X = rows(900, 0)
    y = np.nan_to_num(X[:, 0]) > np.nan_to_num(X[:, 1]) - 4.0
    lazy = arrays.from_array(X, chunks=((300, 0, 600), 5))
    binned = dtnumba.dask.bin_batches(lazy, 16, [3], client=client)
    table = dtnumba.bin_batches(X, 16, [3])
    assert repr(binned) == "BinnedCollection(900 rows, 5 features, 3 partitions, max_bins=16)"
    assert np.array_equal(binned.compute().codes, table.codes)
    params = {"n_estimators": 3, "random_state": 0, "max_bins": 16}
    for strategy in ("replicate", "partition"):
        model = dtnumba.dask.RandomForestClassifier(**params, strategy=strategy).fit(binned, y, client=client)
        assert same_trees(model.trees_, dtnumba.RandomForestClassifier(**params).fit(table, y).trees_)
    with pytest.raises(ValueError, match="max_bins=8: RandomForestClassifier is to tell apart at most 8 values"):
        dtnumba.dask.RandomForestClassifier(max_bins=8).fit(binned, y, client=client)
    with pytest.raises(ValueError, match="X_val has values, and BinnedCollection"):
        model.fit(binned, y, X_val=X, y_val=y, client=client)
    with pytest.raises(ValueError, match="y has 899 rows, and X has 900"):
        model.fit(binned, y[1:], client=client)
    with pytest.raises(TypeError, match=r"a table in memory goes to dtnumba\.bin_batches"):
        dtnumba.dask.bin_batches(X, client=client)

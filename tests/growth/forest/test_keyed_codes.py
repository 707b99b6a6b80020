"""Codes that most rows have no part in: those of the rows that stay are what these rows alone are coded as."""

import numpy as np
import pytest

from dtnumba.growth.forest import keyed_codes
from dtnumba.growth.forest.keyed_codes import coded_by_key, codes_without, sampled
from dtnumba.tables.table import read_table, rows_of_table


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    monkeypatch.setattr(keyed_codes, "SAMPLED", 30)


def coded(X, keys, most=8):
    return coded_by_key(read_table(X, "test"), np.arange(len(X), dtype=np.uint32), keys, most, 1)


def without(X, keys, rows, most=8):
    rest = np.delete(np.arange(len(X)), rows)
    table = rows_of_table(read_table(X, "test"), rest)
    kept = np.arange(len(rest), dtype=np.uint32)
    return codes_without(coded(X, keys, most), table, kept, keys[rest], rest), coded(X[rest], keys[rest], most)


def table(rng, n=100):
    X = np.stack([rng.normal(size=n), rng.integers(0, 4, n).astype(float), rng.normal(size=n)], axis=1)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng.integers(0, 1 << 62, n).astype(np.uint64)


def test_edges_are_those_of_the_rows_of_smallest_keys():
    X, keys = table(np.random.default_rng(0))
    found = coded(X, keys)
    assert sorted(keys[found.sample].tolist()) == sorted(keys.tolist())[:30]
    others = np.setdiff1d(np.arange(100), found.sample)
    moved = X.copy()
    moved[others, 0] = moved[others[::-1], 0]
    for before, after in zip(found.table.edges, coded(moved, keys).table.edges, strict=True):
        np.testing.assert_array_equal(before, after)
    assert [len(one) for one in found.table.edges] == [7, 3, 7]


def test_codes_stay_where_no_row_of_the_sample_leaves():
    X, keys = table(np.random.default_rng(1))
    sample = sampled(np.arange(100, dtype=np.uint32), keys)
    other = int(np.setdiff1d(np.arange(100), sample)[0])
    stay, anew = without(X, keys, [other])
    np.testing.assert_array_equal(stay.table.codes, anew.table.codes)
    np.testing.assert_array_equal(keys[np.delete(np.arange(100), other)][stay.sample], keys[sample])
    assert without(X, keys, [int(sample[4])])[0] is None


def test_columns_of_few_values_are_coded_by_value_whoever_leaves():
    """The last row of a value leaves a code behind that no row has."""
    X, keys = table(np.random.default_rng(2))
    X[:, [0, 2]] = X[:, [1, 1]]
    X[7, 1] = 99.0
    stay, anew = without(X, keys, [7])
    assert len(stay.sample) == 0
    for f in range(3):
        bins = [part.table.bins for part in (stay, anew)]
        codes = [part.table.codes[:, f].clip(0, 3) for part in (stay, anew)]
        values = [own.low[own.first_code[f] :][code] for own, code in zip(bins, codes, strict=True)]
        there = ~np.isnan(np.delete(X, 7, axis=0)[:, f])
        np.testing.assert_array_equal(values[0][there], values[1][there])


def test_a_column_of_many_values_that_becomes_one_of_few_is_coded_anew():
    X, keys = table(np.random.default_rng(3))
    sample = sampled(np.arange(100, dtype=np.uint32), keys)
    others = np.setdiff1d(np.arange(100), sample)
    X[:, 0] = np.resize(np.arange(8.0), 100)
    X[others[5], 0] = 100.0
    assert coded(X, keys).rare.tolist() == [0]
    assert without(X, keys, [int(others[6])])[0] is not None
    assert without(X, keys, [int(others[5])])[0] is None

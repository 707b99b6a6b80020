"""Codes of partitions are those of all rows end to end, however these are cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba import RandomForestClassifier
from dtnumba.dask.codes import code_part, complete_bins, count_part, edges_of, sample_part, shares_of, with_counted
from dtnumba.dask.columns import Sealed, joined, look, read_part
from dtnumba.tables import bins as bins_module
from dtnumba.tables.bins import histogram_codes
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.table import read_table

CALLER = "RandomForestClassifier"
COLOURS = np.array(["red", "blue", "green", "grey"], object)


def coded_in_parts(parts, kept, most):
    """Return (codes, bins) as tasks make them, one after the other."""
    model = Sealed(RandomForestClassifier(max_bins=most))
    columns = joined([look(part, np.zeros(len(part)), None, model) for part in parts], CALLER, "from_dtype")
    sealed, n_kept = Sealed(columns), [int(mask.sum()) for mask in kept]
    places = shares_of(n_kept)
    shares = [
        sample_part(part, None, None, CALLER, most, sealed, own, mask)
        for part, (own,), mask in zip(parts, places, kept, strict=True)
    ]
    edges = edges_of(sealed, most, places[0][0] is None, *shares)
    if edges.to_count:
        counts = [
            count_part(part, None, None, CALLER, sealed, edges.to_count, mask)
            for part, mask in zip(parts, kept, strict=True)
        ]
        edges = with_counted(edges, most, *counts)
    codes = [code_part(part, None, None, CALLER, sealed, edges) for part in parts]
    return np.concatenate(codes), complete_bins(columns, edges), columns


def cut(array, ends):
    return np.split(array, sorted(ends))


@st.composite
def tables(draw):
    """Draw a table of columns of many and of few values, some of them rare, with gaps; and where it is cut."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    n = draw(st.integers(2, 120))
    columns = [
        rng.normal(size=n),
        rng.integers(0, draw(st.integers(1, 9)), n),
        np.where(rng.random(n) < 0.05, rng.integers(0, 50, n), 7),
        rng.integers(0, 2, n),
    ]
    X = np.stack(columns, axis=1).astype(draw(st.sampled_from([np.float32, np.float64])))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    # A row that does not count keeps tables of few rows off their own way, on which nothing is ever sampled.
    kept = rng.random(n) < draw(st.sampled_from([0.7, 1.0]))
    kept[:-1][rng.integers(n - 1)], kept[-1] = True, False
    return X, kept, draw(st.lists(st.integers(0, n), max_size=5)), draw(st.integers(2, 12))


@given(tables(), st.sampled_from([8, 20, 1000]))
@examples(40)
def test_any_cut_gives_the_codes_of_all_rows(table, most_sampled):
    X, kept, ends, most = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins_module, "SAMPLE_ROWS", most_sampled)
        codes, bins, columns = coded_in_parts(cut(X, ends), cut(kept, ends), most)
        whole = read_table(X, CALLER)
        expected, local = histogram_codes(whole, np.flatnonzero(kept).astype(np.uint32), most, 1)
    assert columns.dtype == X.dtype
    assert np.array_equal(bins.n_codes, local.n_codes)
    assert np.array_equal(bins.low, local.low)
    assert np.array_equal(bins.high, local.high)
    assert codes.dtype == expected.dtype
    assert np.array_equal(codes[kept], expected[kept])


@given(st.integers(0, 1 << 32), st.lists(st.integers(0, 60), max_size=4), st.booleans())
@examples(20)
def test_levels_are_those_of_all_rows_whichever_partitions_have_them(seed, ends, is_ordered):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    values = COLOURS[rng.integers(0, 4, 60)]
    values[rng.random(60) < 0.1] = None
    colour = pandas.Series(values)
    if is_ordered:
        colour = colour.astype(pandas.CategoricalDtype(["grey", "red", "blue", "green", "none"], ordered=True))
    frame = pandas.DataFrame({"size": rng.normal(size=60), "colour": colour})
    bounds = [0, *sorted(ends), 60]
    parts = [frame.iloc[a:b] for a, b in pairwise(bounds)]
    codes, bins, columns = coded_in_parts(parts, [np.ones(len(part), bool) for part in parts], 30)
    whole = read_table(frame, CALLER, categories=LearnedLevels("from_dtype", CALLER))
    expected, local = histogram_codes(whole, np.arange(60, dtype=np.uint32), 30, 1)
    assert [None if one is None else one.tolist() for one in columns.levels] == [
        None if one is None else one.tolist() for one in whole.levels
    ]
    assert np.array_equal(columns.nominal, whole.nominal) if not is_ordered else columns.nominal is None
    assert np.array_equal(bins.low, local.low)
    assert np.array_equal(codes, expected)


def test_levels_of_partitions_with_dtypes_of_their_own_are_sorted():
    pandas = pytest.importorskip("pandas")
    parts = [pandas.DataFrame({"c": pandas.Categorical(own)}) for own in (["b", "d"], ["c", "a"], ["b"])]
    _, _, columns = coded_in_parts(parts, [np.ones(len(part), bool) for part in parts], 30)
    assert columns.levels[0].tolist() == ["a", "b", "c", "d"]
    assert np.concatenate([read_part(part, columns, CALLER).whole[:, 0] for part in parts]).tolist() == [1, 3, 2, 0, 1]

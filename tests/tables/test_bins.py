"""Codes of histograms: what they count, what they keep apart, what a sample must not lose."""

import numpy as np
import pytest
from hypothesis import given
from strategies import EXTREMES, examples, matrices

from dtnumba import DecisionTreeClassifier
from dtnumba.tables.bin_codes import ROWS_AT_ONCE, cells_of_edges
from dtnumba.tables.bins import MOST_BINS, SAMPLE_ROWS, histogram_codes, sample_rows
from dtnumba.tables.presort import PARALLEL_CELLS
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.usefixtures("few_cells")


def binned(X, most=MOST_BINS, n_jobs=1, kept=None):
    """Return codes, the Bins, and the (low, high) of every column's codes."""
    X = X if X.ndim == 2 else X[:, None]
    codes, bins = histogram_codes(
        read_table(X, "a test"), np.arange(len(X), dtype=np.uint32) if kept is None else kept, most, n_jobs
    )
    ends = [slice(bins.first_code[f], bins.first_code[f + 1]) for f in range(X.shape[1])]
    return codes, bins, [(bins.low[at], bins.high[at]) for at in ends]


def check_codes(X, codes, bins, ranges):
    """Assert that every code is the number of edges below the value, and stands for a range with that value."""
    edges = bins.edges(X.dtype.type)
    for f, x in enumerate(X.T):
        n, there = bins.n_codes[f], ~np.isnan(x)
        assert (codes[~there, f] == n).all()
        assert (edges[f, max(n - 1, 0) :] == np.inf).all()
        counted = (edges[f][None] < x[there][:, None]).sum(axis=1)
        assert np.array_equal(codes[there, f], counted)
        low, high = ranges[f]
        assert (np.diff(low) > 0).all()
        assert (low <= high).all()
        assert (high[:-1] <= low[1:]).all()


@pytest.mark.small
@examples(60)
@given(matrices())
def test_a_code_counts_the_edges_below_the_value(X):
    for most in (2, 3, MOST_BINS):
        codes, bins, ranges = binned(X, most)
        assert (bins.n_codes <= most).all()
        check_codes(X, codes, bins, ranges)


@examples(60)
@given(matrices())
def test_codes_order_like_values(X):
    codes = binned(X, 4)[0]
    for f, x in enumerate(X.T):
        order = np.argsort(x, kind="stable")
        assert (np.diff(codes[order, f].astype(int)) >= 0).all()
        same = x[order][1:] == x[order][:-1]
        assert (np.diff(codes[order, f].astype(int))[same] == 0).all()


@pytest.mark.small
@examples(60)
@given(matrices())
def test_few_distinct_values_get_a_code_each(X):
    codes, bins, ranges = binned(X)
    for f, x in enumerate(X.T):
        distinct = np.unique(x[~np.isnan(x)])
        assert bins.exhaustive[f]
        assert np.array_equal(ranges[f][0], distinct)
        assert np.array_equal(ranges[f][1], distinct)
        assert np.array_equal(codes[:, f], np.where(np.isnan(x), len(distinct), np.searchsorted(distinct, x)))


@examples(40)
@given(matrices())
def test_a_code_stands_for_the_range_of_its_values(X):
    codes, bins, ranges = binned(X, 4)
    for f, x in enumerate(X.T):
        for code in range(bins.n_codes[f]):
            own = x[codes[:, f] == code]
            assert (ranges[f][0][code], ranges[f][1][code]) == (own.min(), own.max())


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_floats_are_kept_apart(dtype):
    for start in (0.0, 1.0, 0.1, 3e38 if dtype == np.float32 else 1e300, -1.0, -np.inf, np.finfo(dtype).tiny):
        x = [dtype(start)]
        for _ in range(4):
            x.append(np.nextafter(x[-1], dtype(np.inf)))
        codes, bins, _ = binned(np.array(x))
        assert codes[:, 0].tolist() == list(range(5)), start
        edges = bins.edges(dtype)[0, :4]
        assert (x[:4] <= edges).all(), start
        assert (edges < x[1:]).all(), start


@pytest.mark.parametrize("dtype", EXTREMES)
def test_extreme_values_are_kept_apart(dtype):
    x = np.unique(np.array(EXTREMES[dtype], dtype))
    codes, _, _ = binned(x)
    assert codes[:, 0].tolist() == list(range(len(x)))


def test_bins_hold_about_as_many_rows_each():
    x = np.random.default_rng(0).lognormal(size=10_000)
    for most in (2, 16, 255):
        codes, bins, _ = binned(x, most)
        counts = np.bincount(codes[:, 0])
        assert bins.n_codes[0] == len(counts) == most
        assert counts.max() <= 10_000 / most + 1
        assert counts.min() >= 10_000 // most - 1


def filled(values, most):
    """Return the (low, high) of the bins of a column of more than ``most`` values, a run of equal values at a time."""
    distinct, runs = np.unique(values[~np.isnan(values)], return_counts=True)
    is_heavy, n = runs * most >= runs.sum(), len(runs)
    rows_left, bins_left, low, high, rows = runs[~is_heavy].sum(), most - is_heavy.sum(), [], [], 0
    for i in range(n):
        if rows == 0:
            low.append(distinct[i])
        rows += runs[i]
        following = runs[i + 1] if i + 1 < n else 0
        fills = (i + 1 < n and is_heavy[i + 1]) or (2 * rows + following) * bins_left > 2 * rows_left
        if is_heavy[i] or (fills and bins_left > 1) or i + 1 == n:
            high.append(distinct[i])
            # The bin of a heavy value was set aside; one that it closes early counts nowhere, like its rows.
            rows_left -= 0 if is_heavy[i] else rows
            bins_left -= 0 if is_heavy[i] else 1
            rows = 0
    return np.array(low), np.array(high)


@pytest.mark.parametrize("most", [2, 7, 32, MOST_BINS])
def test_bins_are_filled_run_by_run(most):
    generator, n = np.random.default_rng(0), 12_000
    columns = {
        "distinct": generator.normal(size=n),
        "short runs": generator.integers(0, n // 3, n),
        "runs of 16": np.repeat(np.arange(n / 16), 16),
        "runs of 17": np.repeat(np.arange(n / 17), 17),
        "a long run": np.where(np.arange(n) < n // 2, 0.5, generator.random(n)),
        "a run among the rest": np.where(np.arange(n) < 40, 0.5, generator.random(n)),
        "missing": np.where(generator.random(n) < 0.3, np.nan, generator.random(n)),
    }
    for name, x in columns.items():
        _, _, ranges = binned(x.astype(np.float64), most)
        low, high = filled(x.astype(np.float64), most)
        assert np.array_equal(ranges[0][0], low), name
        assert np.array_equal(ranges[0][1], high), name


def awkward(dtype):
    """Return columns whose edges are of all kinds, by name."""
    generator, n, most = np.random.default_rng(0), ROWS_AT_ONCE + 77, np.finfo(dtype).max
    normal = generator.normal(size=n)
    return {
        "normal": normal,
        "skewed": np.exp(2 * normal),
        "clusters": normal * 1e-3 + 1e6 * generator.integers(0, 2, n),
        "constant": np.ones(n),
        "two": normal > 0,
        "three": generator.integers(0, 3, n),
        "as wide as can be": generator.choice(np.concatenate([[-most, most], normal[:500]]), n),
        "as narrow as can be": generator.integers(0, 500, n) * np.finfo(dtype).smallest_subnormal,
        "infinite": np.where(generator.random(n) < 0.1, generator.choice([-np.inf, np.inf], n), normal),
        "infinite edges": generator.choice([-np.inf, 0, np.inf], n),
        "missing": np.where(generator.random(n) < 0.1, np.nan, normal),
        "all missing": np.full(n, np.nan),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 77])
def test_codes_of_many_rows_count_the_edges_below(dtype, n_rows):
    columns = awkward(dtype)
    X = np.stack(list(columns.values()), axis=1).astype(dtype)[:n_rows]
    for table in (X, np.asfortranarray(X), X[::-1, ::-1]):
        for most in (2, 6, MOST_BINS):
            codes, bins, ranges = binned(table, most)
            check_codes(table, codes, bins, ranges)


def test_values_are_looked_up_by_cells_where_edges_spread():
    columns = awkward(np.float32)
    _, bins, _ = binned(np.stack(list(columns.values()), axis=1).astype(np.float32))
    cells = cells_of_edges(bins.edges(np.float32), bins.n_codes - 1)
    n_steps = dict(zip(columns, cells.n_steps.tolist(), strict=True))
    assert n_steps["normal"] == n_steps["two"] == n_steps["missing"] == 1
    assert n_steps["skewed"] == n_steps["as wide as can be"] == n_steps["all missing"] == 0


def test_a_common_value_gets_its_own_bin_and_the_others_share_the_rest():
    generator = np.random.default_rng(0)
    x = np.where(generator.random(10_000) < 0.6, 0.5, generator.random(10_000))
    codes, bins, ranges = binned(x, 20)
    common = codes[x == 0.5, 0][0]
    assert (ranges[0][0][common], ranges[0][1][common]) == (0.5, 0.5)
    counts = np.delete(np.bincount(codes[:, 0]), common)
    assert bins.n_codes[0] == 20
    assert counts.max() <= 2 * 4_000 / 19


def test_one_value_more_than_bins_joins_two_of_them():
    _, bins, _ = binned(np.arange(256.0))
    assert bins.n_codes[0] == 255
    assert not bins.exhaustive[0]


def test_rows_that_are_not_kept_make_no_bins_but_get_codes():
    X = np.array([[1.0], [2.0], [9.0], [1.5], [np.nan]])
    codes, _, ranges = binned(X, kept=np.array([0, 1], np.uint32))
    assert ranges[0][0].tolist() == [1.0, 2.0]
    assert codes[:, 0].tolist() == [0, 1, 1, 0, 2]


def test_threads_bin_alike():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(PARALLEL_CELLS // 4, 5))
    X[:, 1] = X[:, 1].round(1)
    X[generator.random(X.shape) < 0.1] = np.nan
    alone, bins, _ = binned(X)
    for n_jobs in (2, 3, 8):
        shared, same, _ = binned(X, n_jobs=n_jobs)
        assert np.array_equal(alone, shared)
        assert np.array_equal(bins.low, same.low)
        assert np.array_equal(bins.high, same.high)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix"])
def test_sparse_columns_are_binned_like_dense_ones(form):
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(0).normal(size=(700, 3))
    X[np.abs(X) < 1] = 0
    codes, _, _ = binned(X, 16)
    found, _ = histogram_codes(
        read_table(getattr(sparse, form)(X), "a test"), np.arange(len(X), dtype=np.uint32), 16, 1
    )
    assert np.array_equal(found, codes)


# More rows than a sample


N_LARGE = 250_000


@pytest.fixture(scope="module")
def large():
    """250k rows: real values, few values, few values and a rare one, many values of which most are rare."""
    generator = np.random.default_rng(0)
    not_sampled = np.setdiff1d(np.arange(N_LARGE), sample_rows(np.arange(N_LARGE, dtype=np.uint32)))[:100]
    X = np.stack(
        [
            generator.normal(size=N_LARGE),
            generator.integers(0, 255, N_LARGE),
            generator.integers(0, 200, N_LARGE),
            generator.integers(0, 255, N_LARGE),
        ],
        axis=1,
    ).astype(np.float32)
    X[not_sampled[0], 2] = 77.5
    X[not_sampled[1:], 3] += 0.5
    X[generator.random(X.shape) < 0.01] = np.nan
    X[not_sampled[:3], 2:] = [[77.5, 3.5], [0, 9.5], [1, -1e9]]
    return X, binned(X), not_sampled


def test_a_sample_takes_one_row_of_every_stretch():
    for n in (SAMPLE_ROWS, SAMPLE_ROWS + 1, 3 * SAMPLE_ROWS):
        rows = sample_rows(np.arange(n, dtype=np.uint32))
        assert len(rows) == SAMPLE_ROWS
        assert np.array_equal(rows.astype(np.int64) * SAMPLE_ROWS // n, np.arange(SAMPLE_ROWS)) or n % SAMPLE_ROWS
        assert (np.diff(rows.astype(np.int64)) > 0).all() or n % SAMPLE_ROWS


def test_codes_of_rows_outside_the_sample_count_edges_too(large):
    X, (codes, bins, ranges), _ = large
    check_codes(X[::7], codes[::7], bins, ranges)


def test_real_values_of_a_sample_are_spread_evenly(large):
    _, (codes, bins, _), _ = large
    counts = np.bincount(codes[:, 0])[:-1]
    assert len(counts) == bins.n_codes[0] == 255
    assert counts.max() < 1.3 * N_LARGE / 255


def test_few_values_get_a_code_each_above_the_sample(large):
    X, (codes, bins, _), _ = large
    assert bins.n_codes[1] == 255
    assert np.array_equal(codes[:, 1], np.where(np.isnan(X[:, 1]), 255, X[:, 1]))


def test_a_rare_value_that_the_sample_misses_gets_a_code(large):
    _, (codes, bins, ranges), not_sampled = large
    assert bins.n_codes[2] == 201
    assert 77.5 in ranges[2][0]
    assert np.flatnonzero(codes[:, 2] == codes[not_sampled[0], 2]).tolist() == [not_sampled[0]]


def test_rare_values_share_a_code_where_there_are_too_many(large):
    X, (codes, bins, ranges), _ = large
    assert bins.n_codes[3] == 255
    assert not bins.exhaustive[3]
    there = ~np.isnan(X[:, 3])
    counts = np.bincount(codes[there, 3], minlength=255)
    assert counts.min() > N_LARGE / 255 / 2
    low, high = ranges[3]
    x, code = X[there, 3], codes[there, 3]
    assert (low[code] <= x).all()
    assert (x <= high[code]).all()


def test_a_tree_on_sampled_bins_sends_rows_where_it_counted_them(large):
    X, _, _ = large
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) > 100
    model = DecisionTreeClassifier(max_bins=255, max_depth=6, n_jobs=2).fit(X, y)
    leaves, counts = np.unique(model.apply(X), return_counts=True)
    assert np.array_equal(counts, model.trees_.n_samples[leaves])


def test_random_thresholds_on_sampled_bins_send_rows_where_they_were_counted(large):
    X, _, _ = large
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) > 100
    model = DecisionTreeClassifier(splitter="random", max_bins=255, max_depth=6, n_jobs=2).fit(X, y)
    leaves, counts = np.unique(model.apply(X), return_counts=True)
    assert np.array_equal(counts, model.trees_.n_samples[leaves])

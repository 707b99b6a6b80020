"""Tables in batches: the same codes however they are cut, the same trees as on the values, and what is refused."""

import pickle
import warnings
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, matrices, same_trees

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    bin_batches,
)
from dtnumba.runtime import rng
from dtnumba.tables import batches
from dtnumba.tables.bins import histogram_codes
from dtnumba.tables.categories import NO_CATEGORIES, GatheredLevels
from dtnumba.tables.table import read_table

TREES = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]
FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def table(n=600, seed=0, dtype=np.float32):
    """Real values, few, few and a rare one, many of which most are rare, none; and a number that depends on them."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5))
    X[:, 1] = generator.integers(0, 8, n)
    X[:, 2] = np.where(np.arange(n) == n // 3, 77.5, generator.integers(0, 5, n))
    X[:, 3] = np.where(generator.random(n) < 0.02, generator.normal(size=n), generator.integers(0, 3, n))
    z = X[:, 0] + (X[:, 1] > 3) * X[:, 2]
    X[generator.random(X.shape) < 0.05] = np.nan
    X[:, 4] = np.nan
    return X.astype(dtype), z


def cut(X, ends):
    """Return a function that yields the rows between the ends."""
    ends = [0, *sorted(ends), len(X)]
    return lambda: (X[start:stop] for start, stop in pairwise(ends))


def learner(kind, **params):
    params = (
        {"random_state": 0, "n_jobs": 1, "max_bins": 255} | ({"n_estimators": 3} if kind in FORESTS else {}) | params
    )
    return kind(**params)


def target(kind, z):
    return z if kind.__name__.endswith("Regressor") else z > 0.5


@pytest.fixture
def small_sample(monkeypatch):
    """Edges from a sample of so many rows, as above 25,000."""
    monkeypatch.setattr(batches, "DRAWN_ROWS", 200)
    monkeypatch.setattr(batches, "_SPARE_ROWS", 50)
    return 200


@pytest.mark.small
@examples(40)
@given(matrices(), st.lists(st.integers(0, 12), max_size=5), st.integers(2, 255))
def test_all_rows_in_the_sample_give_the_codes_of_the_table(X, ends, most):
    binned = bin_batches(cut(X, [min(end, len(X)) for end in ends]), most)
    codes, bins = histogram_codes(read_table(X, "a test"), np.arange(len(X), dtype=np.uint32), most, 1)
    assert np.array_equal(binned.codes, codes)
    for one, other in zip(vars(binned.bins).values(), vars(bins).values(), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.small
@pytest.mark.parametrize("ends", [(), (1, 199, 200, 201), range(0, 600, 7), (300, 300, 300)])
def test_no_code_depends_on_how_rows_are_cut(small_sample, ends):
    X, _ = table()
    whole, parts = bin_batches(X), bin_batches(cut(X, ends))
    assert np.array_equal(whole.codes, parts.codes)
    for one, other in zip(whole.edges, parts.edges, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(whole.bins.low, parts.bins.low)
    assert np.array_equal(whole.bins.high, parts.bins.high)


@pytest.mark.small
def test_codes_count_the_edges_below_a_value(small_sample):
    X, _ = table()
    binned = bin_batches(cut(X, [250]), 20)
    for f, edges in enumerate(binned.edges):
        x = X[:, f]
        expected = np.where(np.isnan(x), binned.bins.n_codes[f], (edges < x[:, None]).sum(axis=1))
        assert np.array_equal(binned.codes[:, f], expected)


@pytest.mark.small
def test_the_sample_is_the_rows_with_the_smallest_draws(small_sample):
    X, _ = table(5000)
    X[:, 0] = np.arange(5000)
    seen = batches._FirstPass(255, 1)
    for start in range(0, 5000, 130):
        for cells in batches._Source(X[start : start + 130], GatheredLevels(None, "a test")).blocks():
            seen.see(cells)
    key = rng.stream(0, rng.SAMPLE)
    draws = [int(rng._mixed(key, i)) for i in range(5000)]
    found = np.sort(seen.sample.as_table(NO_CATEGORIES).cells.flat.reshape(-1, 5)[:, 0])
    assert np.array_equal(found, np.sort(np.argsort(draws)[:small_sample]))


@pytest.mark.small
def test_columns_of_few_values_are_exact_however_rare_the_values(small_sample):
    X, _ = table(5000)
    binned = bin_batches(cut(X, range(0, 5000, 333)), 50)
    assert binned.bins.exhaustive.tolist() == [False, True, True, False, True]
    assert binned.bins.n_codes[[1, 2, 4]].tolist() == [8, 6, 0]
    at = binned.bins.first_code[2]
    assert binned.bins.low[at : at + 6].tolist() == [0, 1, 2, 3, 4, 77.5]
    assert np.flatnonzero(binned.codes[:, 2] == 5).tolist() == np.flatnonzero(X[:, 2] == 77.5).tolist()


@pytest.mark.small
def test_a_column_whose_sample_has_few_values_and_whose_rows_have_many(small_sample):
    X = np.zeros((5000, 1))
    key = rng.stream(0, rng.SAMPLE)
    is_sampled = np.isin(np.arange(5000), np.argsort(rng.mix_all(key, np.arange(5000)))[:small_sample])
    X[:, 0] = np.where(is_sampled, np.arange(5000) % 3, np.arange(5000) / 1000)
    binned = bin_batches(X)
    assert binned.bins.n_codes[0] == 3
    assert not binned.bins.exhaustive[0]
    low, high = binned.bins.low[binned.codes[:, 0]], binned.bins.high[binned.codes[:, 0]]
    inside = (X[:, 0] >= 0) & (X[:, 0] <= 2)
    assert (low[inside] <= X[inside, 0]).all()
    assert (X[inside, 0] <= high[inside]).all()


@pytest.mark.parametrize("kind", TREES + FORESTS)
def test_trees_are_those_of_the_values_bit_for_bit(kind):
    X, z = table()
    binned = bin_batches(cut(X, [100, 101]))
    on_codes, on_values = (learner(kind).fit(one, target(kind, z)) for one in (binned, X))
    assert same_trees(on_codes.trees_, on_values.trees_)
    assert np.array_equal(on_codes.predict(X), on_values.predict(X))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier])
def test_rows_reach_the_leaves_they_were_counted_in(small_sample, kind):
    X, z = table(3000)
    params = {"bootstrap": False, "n_estimators": 1} if kind in FORESTS else {}
    model = learner(kind, max_depth=6, **params).fit(bin_batches(cut(X, [999])), z > 0.5)
    leaves, counts = np.unique(model.apply(X), return_counts=True)
    assert np.array_equal(counts, model.trees_.n_samples[leaves])


@pytest.mark.parametrize("kind", [RandomForestClassifier, DecisionTreeRegressor])
def test_threads_grow_alike(small_sample, kind):
    X, z = table(3000)
    binned = bin_batches(X)
    alone, shared = (learner(kind, n_jobs=n).fit(binned, target(kind, z)) for n in (1, 2))
    assert same_trees(alone.trees_, shared.trees_)


def test_weights_count_as_they_do_on_values():
    X, z = table()
    weight = np.random.default_rng(1).integers(1, 4, len(X))
    on_codes, on_values = (learner(DecisionTreeClassifier).fit(one, z > 0.5, weight) for one in (bin_batches(X), X))
    assert same_trees(on_codes.trees_, on_values.trees_)


def test_out_of_bag_votes_of_columns_that_are_coded_exactly_are_those_of_the_values():
    X, z = table()
    X = X[:, 1:3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        models = [learner(RandomForestClassifier, oob_score=True).fit(one, z > 0.5) for one in (bin_batches(X), X)]
    assert np.array_equal(*(model.oob_decision_function_ for model in models), equal_nan=True)


def test_out_of_bag_votes_of_real_columns_are_near_those_of_the_values():
    X, z = table(3000)
    models = [
        learner(RandomForestRegressor, n_estimators=30, oob_score=True).fit(one, z) for one in (bin_batches(X), X)
    ]
    assert abs(models[0].oob_score_ - models[1].oob_score_) < 0.005


def test_values_in_the_middle_of_bins_go_where_their_codes_went(small_sample):
    X, z = table(3000)
    binned = bin_batches(X)
    model = learner(DecisionTreeClassifier).fit(binned, z > 0.5)
    middles = np.concatenate([cells.flat.reshape(-1, 5) for _, cells in binned.row_blocks()])
    assert np.array_equal(model.apply(middles), model.apply(X))


# What batches may be


def test_frames_give_names():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X, z = table()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    parts = [frame[:100], polars.from_pandas(frame[100:101]), frame[:0], pyarrow.Table.from_pandas(frame[101:])]
    binned = bin_batches(lambda: parts)
    assert binned.names.tolist() == list("abcde")
    assert np.array_equal(binned.codes, bin_batches(X).codes)
    assert np.array_equal(binned.codes, bin_batches(frame).codes)
    model = learner(DecisionTreeClassifier).fit(binned, z > 0.5)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.predict(frame).shape == (600,)


@pytest.mark.small
def test_arrays_of_every_layout(small_sample, tmp_path):
    X, _ = table()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = bin_batches(X).codes
    for one in (mapped, lambda: mapped, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1].copy()[::-1]):
        assert np.array_equal(bin_batches(one).codes, expected)
    assert np.array_equal(bin_batches(lambda: [X[:300].tolist(), X[300:]]).codes, expected)


def test_sparse_batches(small_sample):
    sparse = pytest.importorskip("scipy.sparse")
    X, _ = table()
    X[:, 3] *= X[:, 3] > 1
    parts = [sparse.csr_matrix(X[:250]), sparse.csc_matrix(X[250:])]
    assert np.array_equal(bin_batches(lambda: parts).codes, bin_batches(X).codes)


@pytest.mark.small
def test_batches_of_several_kinds_are_widened(small_sample):
    X, _ = table(dtype=np.float64)
    X[:300] = X[:300].astype(np.float32)
    mixed = bin_batches(lambda: [X[:300].astype(np.float32), X[300:]])
    assert mixed.dtype == np.float64
    assert np.array_equal(mixed.codes, bin_batches(X).codes)
    assert bin_batches(np.eye(4, dtype=np.int8)).dtype == np.float32


@pytest.mark.small
def test_a_batch_is_let_go_before_the_next_is_made(small_sample):
    held = []

    def make_batches():
        for k in range(8):
            assert all(batch() is None for batch in held)
            batch = np.full((100, 2), float(k))
            held.append(weakref.ref(batch))
            yield batch
            del batch

    assert len(bin_batches(make_batches)) == 800


# What comes out


@pytest.mark.small
def test_a_binned_table_says_what_it_is():
    binned = bin_batches(table()[0], 64)
    assert repr(binned) == "BinnedTable(600 rows, 5 features, max_bins=64)"
    assert (binned.shape, len(binned), binned.nbytes, binned.names) == ((600, 5), 600, 3000, None)
    assert binned.codes.dtype == np.uint8
    with pytest.raises(ValueError, match="read-only"):
        binned.codes[0, 0] = 1


def test_a_binned_table_can_be_pickled_and_mapped_read_only():
    X, z = table()
    binned = bin_batches(X)
    again = pickle.loads(pickle.dumps(binned))  # noqa: S301  our own
    again._codes.flags.writeable = False
    expected = learner(DecisionTreeClassifier).fit(X, z > 0.5)
    assert same_trees(learner(DecisionTreeClassifier).fit(again, z > 0.5).trees_, expected.trees_)


# What is refused


def ragged():
    return [np.zeros((2, 3)), np.zeros((2, 4))]


def renamed():
    pandas = pytest.importorskip("pandas")
    return [pandas.DataFrame({"a": [1.0]}), pandas.DataFrame({"b": [1.0]})]


def unnamed():
    return [renamed()[0], np.zeros((1, 1))]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((k for k in ()),), "make_batches is a generator, which can be read once"),
        (([np.zeros((2, 2))],), "make_batches is a list: pass a function"),
        ((3,), "make_batches is a int"),
        ((lambda: 3,), "make_batches returned a int"),
        ((list,), "make_batches yielded no rows"),
        ((np.zeros((0, 3)),), "make_batches yielded no rows"),
        ((ragged,), "batch 1 has 4 columns, and the first batch has 3"),
        ((renamed,), "batch 1 has the columns b, and the first batch has the columns a"),
        ((unnamed,), "batch 1 has columns without names, and the first batch has the columns a"),
        ((lambda: [(np.zeros((2, 2)), np.zeros(2))],), "batch 0 is a tuple of 2: yield the features alone"),
        ((lambda: [np.zeros((2, 1)), [["x"]]],), "batch 1: could not convert string to float"),
        ((lambda: [np.zeros(3)],), "batch 0: Expected 2D array"),
        ((np.zeros((2, 2)), 1), r"max_bins=1: must be an int in the range \[2, 255\]"),
        ((np.zeros((2, 2)), 256), "max_bins=256"),
        ((np.zeros((2, 2)), 2.5), "max_bins=2.5"),
        ((np.zeros((2, 2)), 255, [2]), r"batch 0: categorical_features=\[2\]: bin_batches has no column 2"),
        ((np.zeros((2, 2)), 255, "dtype"), "categorical_features='dtype': must be 'from_dtype', a list"),
    ],
)
def test_errors_name_the_batch_and_the_remedy(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        bin_batches(*arguments)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (lambda X: X[:-1], "the second pass has 599 rows, the first had 600"),
        (lambda X: np.concatenate([X, X]), "the second pass has more rows than the first, which had 600"),
        (lambda X: X[:0], "the second pass has 0 rows"),
        (lambda X: X.astype(np.float64), "the second pass has float64 values, the first had float32"),
        (lambda X: X + np.float32(0.25), "the second pass has a value in column 1 that the first had not"),
    ],
)
def test_passes_that_differ_are_an_error(small_sample, second, words):
    X, _ = table()
    passes = iter([X, second(X)])
    with pytest.raises(ValueError, match=words):
        bin_batches(lambda: [next(passes)])


def test_learners_refuse_codes_that_do_not_serve():
    X, z = table()
    binned = bin_batches(X, 64)
    with pytest.raises(ValueError, match="max_bins=None: DecisionTreeClassifier would look for exact thresholds"):
        DecisionTreeClassifier().fit(binned, z > 0.5)
    with pytest.raises(ValueError, match=r"make the table with bin_batches\(..., max_bins=32\)"):
        RandomForestClassifier(2, max_bins=32).fit(binned, z > 0.5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RandomForestClassifier(2).fit(binned, z[1:] > 0.5)
    model = RandomForestClassifier(2, n_jobs=1).fit(binned, z > 0.5)
    with pytest.raises(TypeError, match="holds codes, not values, and serves fit alone"):
        model.predict(binned)

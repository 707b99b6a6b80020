"""Forests: every tree is what its sample makes it, and no bit depends on threads, rounds or batches."""

import gc
import pickle
import signal
import threading
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from forests import counts_of, digest, long_work, table
from strategies import compiled_where, interpreted_only

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.growth.forest import arena, grow
from dtnumba.runtime import progress
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check
from dtnumba.trees.layout import LEAF, one_tree

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]


@pytest.fixture(autouse=True)
def _small_forests_use_threads_too(monkeypatch):
    """The tables here are small, and one thread alone would show nothing of what threads do."""
    monkeypatch.setattr(grow, "SERIAL_ROWS", 0)


def leaf_by_hand(trees, t, x):
    """The leaf of one row in tree t."""
    node = trees.root[t]
    while trees.feature[node] != LEAF:
        value = x[trees.feature[node]]
        left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
        node = trees.left[node] if left else trees.right[node]
    return node


# Each is a kernel of its own or two, which take up to 10 s to compile.
CASES = [
    (RandomForestClassifier, {}, "two"),
    (ExtraTreesClassifier, {}, "two"),
    (RandomForestRegressor, {"max_features": 2}, "number"),
    (RandomForestClassifier, {"max_bins": None, "criterion": "entropy"}, "three"),
    (RandomForestRegressor, {"criterion": "absolute_error", "max_depth": 4}, "number"),
    (RandomForestClassifier, {"class_weight": "balanced_subsample"}, "three"),
    (RandomForestClassifier, {"replace": False, "max_samples": 0.5, "min_samples_leaf": 3}, "two"),
    (ExtraTreesClassifier, {"bootstrap": True, "max_bins": None}, "three"),
    (RandomForestRegressor, {"criterion": "poisson", "max_leaf_nodes": 20}, "counts"),
    (ExtraTreesRegressor, {"min_samples_leaf": 2}, "number"),
    (RandomForestRegressor, {}, "numbers"),
]
COMPILED_CASES = CASES[:3]


def data(kind):
    X, two, three, z = table(300 if COMPILED else 40)
    of = {"two": two, "three": three, "number": z, "counts": three + 1.0, "numbers": np.stack([z, z**2], axis=1)}
    return X, of[kind]


@pytest.mark.parametrize(("family", "params", "kind"), compiled_where(CASES, COMPILED_CASES), ids=str)
def test_every_tree_is_what_its_sample_makes_it(family, params, kind):
    """Counts and weights of its root, and values of its leaves, by loops over the rows that it drew."""
    X, y = data(kind)
    n_trees = 4 if COMPILED else 2
    model = family(n_estimators=n_trees, random_state=0, n_jobs=2, **params).fit(X, y)
    trees = check(model.trees_, X.shape[1])
    assert trees.n_trees == n_trees
    plain = params.keys().isdisjoint({"replace", "class_weight"})
    leaves = np.array([[leaf_by_hand(trees, t, x) for t in range(n_trees)] for x in X])
    assert np.array_equal(leaves - trees.root[:-1], model.apply(X))
    for t in range(n_trees):
        counts = counts_of(model, len(X), t) if model.bootstrap else np.ones(len(X), int)
        root = trees.root[t]
        if not plain:
            continue
        assert trees.n_samples[root] == (counts > 0).sum()
        assert trees.weight[root] == counts.sum()
        for leaf in np.unique(leaves[counts > 0, t]):
            there = leaves[:, t] == leaf
            weight = counts[there]
            assert trees.weight[leaf] == weight.sum()
            assert trees.n_samples[leaf] == (weight > 0).sum()
            if kind in {"two", "three"}:
                shares = np.bincount(y[there], weights=weight, minlength=trees.value.shape[1]) / weight.sum()
                assert np.allclose(trees.value[leaf], shares, rtol=1e-12)
            elif "absolute_error" not in params.values():
                mean = np.average(np.reshape(y, (len(y), -1))[there], weights=weight, axis=0)
                assert np.allclose(trees.value[leaf], mean, rtol=1e-12)


@pytest.mark.parametrize(("family", "params", "kind"), compiled_where(CASES, COMPILED_CASES), ids=str)
def test_predictions_are_the_mean_of_the_trees(family, params, kind):
    X, y = data(kind)
    model = family(n_estimators=5 if COMPILED else 2, random_state=1, **params).fit(X, y)
    leaves = model.apply(X) + model.trees_.root[:-1]
    mean = model.trees_.value[leaves].mean(axis=1)
    found = model.predict_proba(X) if hasattr(model, "classes_") else np.reshape(model.predict(X), mean.shape)
    assert np.allclose(found, mean, rtol=1e-12, atol=0)
    for other in (X.astype(np.float32), np.asfortranarray(X)):
        assert digest(model.apply(other)) == digest(model.apply(other.copy()))
    parts = np.concatenate([model.apply(part) for part in np.array_split(X, 7)])
    assert np.array_equal(parts, model.apply(X))


@pytest.mark.parametrize(("family", "params", "kind"), compiled_where(CASES[:5], COMPILED_CASES), ids=str)
def test_no_bit_depends_on_threads(family, params, kind):
    X, y = data(kind)
    oob = {"oob_score": True} if "bootstrap" not in params and family is not ExtraTreesClassifier else {}

    def bits(n_jobs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few trees: some rows are drawn by all
            model = family(n_estimators=9 if COMPILED else 3, random_state=3, n_jobs=n_jobs, **params, **oob).fit(X, y)
        left_out = [
            getattr(model, name) for name in ("oob_decision_function_", "oob_prediction_") if hasattr(model, name)
        ]
        return digest(*model.trees_, model.predict(X), model.feature_importances_, *left_out)

    assert len({bits(n_jobs) for n_jobs in ((1, 2, 3, 8) if COMPILED else (1, 2))}) == 1


def test_a_small_forest_grown_by_one_thread_is_the_same(monkeypatch):
    X, y, _, _ = table()
    threads = RandomForestClassifier(9, random_state=0, n_jobs=2).fit(X, y).trees_
    monkeypatch.setattr(grow, "SERIAL_ROWS", 1 << 62)
    assert digest(*threads) == digest(*RandomForestClassifier(9, random_state=0, n_jobs=2).fit(X, y).trees_)


def test_a_small_arena_changes_no_bit(monkeypatch):
    X, y, _, _ = table()
    whole = RandomForestClassifier(12, random_state=0, n_jobs=2).fit(X, y).trees_
    monkeypatch.setattr(arena, "ARENA_BYTES", 96 * 400)
    assert digest(*whole) == digest(*RandomForestClassifier(12, random_state=0, n_jobs=2).fit(X, y).trees_)


def test_copied_subtrees_change_no_bit(monkeypatch):
    X, y, _, _ = table(2000)
    for family, params in (
        (RandomForestClassifier, {}),
        (ExtraTreesClassifier, {}),
        (RandomForestClassifier, {"max_bins": None}),
    ):
        model = family(n_estimators=3, random_state=0, **params)
        alone = digest(*model.fit(X, y).trees_)
        with monkeypatch.context() as patch:
            patch.setattr(grow, "SUBTREE_BYTES", 16 * 100)
            assert digest(*model.fit(X, y).trees_) == alone


# Each number of classes up to eight, and each criterion, is a forest's kernel of its own, which takes 10 s to compile.
COUNTED = [(2, "gini"), (3, "gini"), (9, "gini"), (0, "squared_error")]
COUNTED_INTERPRETED = [(8, "gini"), (2, "entropy"), (3, "gain_ratio")]


@pytest.mark.parametrize(("n_classes", "criterion"), compiled_where(COUNTED + COUNTED_INTERPRETED, COUNTED))
@pytest.mark.parametrize("params", [{}, {"min_samples_leaf": 3}, {"min_weight_fraction_leaf": 0.02}], ids=str)
def test_a_drawn_tree_is_the_tree_of_rows_that_weigh_as_often_as_drawn(n_classes, criterion, params):
    """Two classes, a few, many and numbers have ways of their own to count; a tree with weights has none of these."""
    # Counts of eight classes lie side by side in other ways from a weight of 256 on.
    random, n = np.random.default_rng(n_classes), 400 if COMPILED else 300 if n_classes == 8 else 50
    X = random.integers(0, 40, (n, 4)).astype(float)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = X[:, 3] > 20
    z = np.nan_to_num(X[:, 0] * X[:, 3] - X[:, 1]) + random.normal(0, 4, n)
    if n_classes:
        y = np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))
        forest_class, tree_class = RandomForestClassifier, DecisionTreeClassifier
    else:
        y, forest_class, tree_class = z, RandomForestRegressor, DecisionTreeRegressor
    same = {"criterion": criterion, "max_features": None, "max_bins": 255, **params}
    model = forest_class(n_estimators=3, random_state=1, **same).fit(X, y)
    for t in range(3):
        weight = counts_of(model, n, t)
        expected = tree_class(**same).fit(X, y, sample_weight=weight).tree_
        found = model.estimators_[t].tree_
        assert np.array_equal(found.feature, expected.feature)
        assert np.array_equal(found.threshold, expected.threshold, equal_nan=True)
        assert np.allclose(found.value, expected.value, rtol=1e-12, atol=1e-12)
        assert np.allclose(found.impurity, expected.impurity, rtol=1e-9, atol=1e-12)
        assert np.array_equal(found.n_node_samples, expected.n_node_samples)
        assert np.array_equal(found.missing_go_to_left, expected.missing_go_to_left)


def test_the_first_trees_of_a_larger_forest_are_a_smaller_one():
    X, y, _, _ = table()
    small = RandomForestClassifier(4, random_state=5).fit(X, y)
    large = RandomForestClassifier(9, random_state=5).fit(X, y)
    assert all(digest(*one_tree(small.trees_, t)) == digest(*one_tree(large.trees_, t)) for t in range(4))
    grown = RandomForestClassifier(4, random_state=5, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    assert digest(*grown.trees_) == digest(*large.trees_)


def test_a_warm_start_takes_the_same_classes_in_any_order_and_no_others():
    X, y, three, _ = table()
    model = RandomForestClassifier(2, random_state=0, warm_start=True).fit(X, y)
    model.set_params(n_estimators=4).fit(X[::-1], y[::-1].astype(bool))
    before = digest(*model.trees_)
    model.set_params(n_estimators=5)
    for other, words in ((y + 1, "[1, 2]"), (y.astype(str), "['0', '1']"), (0 * y, "[0]"), (three, "[0, 1, 2]")):
        with pytest.raises(ValueError, match=r"warm_start=True: the classes were .* in the first fit") as caught:
            model.fit(X, other)
        assert words in str(caught.value)
    with pytest.raises(ValueError, match="1 outputs, this table has 6 and 2; set warm_start=False"):
        model.fit(X, np.stack([y, y], axis=1))
    assert digest(*model.trees_) == before


@pytest.mark.parametrize("family", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_is_a_loop_over_the_trees_that_did_not_draw_a_row(family):
    X, two, _, z = table(120)
    y = two if family is RandomForestClassifier else z
    with pytest.warns(UserWarning, match="of 120 rows were left out by no tree"):
        model = family(n_estimators=4, random_state=0, oob_score=True).fit(X, y)
    trees = model.trees_
    counts = np.stack([counts_of(model, 120, t) for t in range(4)])
    expected = np.full((120, trees.value.shape[1]), np.nan)
    for i, x in enumerate(X):
        out = [trees.value[leaf_by_hand(trees, t, x)] for t in range(4) if counts[t, i] == 0]
        if out:
            expected[i] = np.mean(out, axis=0)
    found = model.oob_decision_function_ if family is RandomForestClassifier else model.oob_prediction_[:, None]
    assert np.allclose(found, expected, equal_nan=True)
    seen = ~np.isnan(expected[:, 0])
    assert 0 < (~seen).sum() < 120
    if family is RandomForestClassifier:
        assert model.oob_score_ == (expected[seen].argmax(axis=1) == y[seen]).mean()


@interpreted_only
def test_votes_are_counted_where_voting_is_hard():
    X, _, three, _ = table(100)
    model = RandomForestClassifier(7, random_state=0, voting="hard", max_depth=3).fit(X, three)
    votes = np.stack([tree.predict(X) for tree in model.estimators_])
    shares = np.stack([(votes == k).mean(axis=0) for k in range(3)], axis=1)
    assert np.allclose(model.predict_proba(X), shares)


@pytest.mark.parametrize("family", compiled_where(CLASSIFIERS + REGRESSORS, [RandomForestClassifier]))
def test_a_forest_without_draws_is_one_tree_many_times(family):
    X, two, _, z = table(300 if COMPILED else 60)
    y = two if family in CLASSIFIERS else z
    single = DecisionTreeClassifier if family in CLASSIFIERS else DecisionTreeRegressor
    if family in {ExtraTreesClassifier, ExtraTreesRegressor}:
        model = family(n_estimators=3, random_state=0, max_features=None).fit(X, y)
        assert len({digest(*one_tree(model.trees_, t)) for t in range(3)}) == 3
        return
    model = family(n_estimators=3, bootstrap=False, max_features=None, max_bins=None).fit(X, y)
    tree = single().fit(X, y)
    for one in model.estimators_:
        assert np.array_equal(one.predict(X), tree.predict(X))
        assert np.array_equal(one.tree_.threshold, tree.tree_.threshold)
        assert np.allclose(one.tree_.impurity, tree.tree_.impurity, atol=1e-12)


@interpreted_only
def test_weights_say_how_likely_a_row_is_drawn_or_what_it_counts():
    X, y, _, _ = table(60)
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0 + np.arange(len(X)) % 2)
    drawn = RandomForestClassifier(20, random_state=0).fit(X, y, weight)
    kept = weight > 0
    assert drawn.trees_.weight[drawn.trees_.root[:-1]].tolist() == [kept.sum()] * 20
    counted = ExtraTreesClassifier(3, random_state=0).fit(X, y, weight)
    assert counted.trees_.weight[counted.trees_.root[:-1]].tolist() == [weight.sum()] * 3


def test_pickles_and_copies_answer_to_the_bit():
    X, y, _, _ = table()
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert len(model.estimators_) == len(model) == 5
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  made here
    assert digest(again.predict_proba(X)) == digest(model.predict_proba(X))


def test_sparse_tables_grow_and_answer_like_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    X, y, _, _ = table(missing=0.0)
    X[np.abs(X) < 0.5] = 0
    dense = RandomForestClassifier(5, random_state=0, oob_score=False).fit(X, y)
    thin = RandomForestClassifier(5, random_state=0).fit(sparse.csr_matrix(X), y)
    assert digest(*dense.trees_) == digest(*thin.trees_)
    assert digest(dense.predict_proba(X)) == digest(thin.predict_proba(sparse.csc_matrix(X)))


def test_float32_rows_meet_thresholds_beyond_float32():
    """A forest of float64 columns whose thresholds no float32 holds."""
    X = np.array([[-1e300], [-1e299], [1.0], [1e299], [1e300]] * 8)
    model = RandomForestClassifier(5, random_state=0).fit(X, np.arange(40) % 5 % 2)
    rows = np.array([[-np.inf], [-3e38], [0.0], [3e38], [np.inf], [np.nan]], np.float32)
    assert np.array_equal(model.apply(rows), model.apply(rows.astype(np.float64)))


# Watching and stopping


def test_a_callback_is_told_and_may_stop_the_work():
    X, y = long_work()
    told = []

    def listen(progress):
        told.append(progress)
        return progress.done < 2

    model = RandomForestClassifier(400, random_state=0, verbose=listen).fit(X, y)
    assert 1 <= model.n_estimators_ < 400
    assert [one.done for one in told] == sorted(one.done for one in told)
    again = RandomForestClassifier(model.n_estimators_, random_state=0).fit(X, y)
    assert digest(*again.trees_) == digest(*model.trees_)


def test_threads_at_once_do_not_disturb_each_other_nor_leave_memory():
    """Eight threads fit and predict, one of them is stopped; benchmarks/forest_soak.py does so for longer."""
    cases = [
        (RandomForestClassifier(6, random_state=0), *table(1000)[:2]),
        (RandomForestRegressor(6, random_state=0, max_depth=6), *table(1000)[::3]),
        (ExtraTreesClassifier(6, random_state=0), *table(1000)[:2]),
    ]

    def answer(k):
        model, X, y = cases[k % len(cases)]
        model = type(model)(**model.get_params() | {"n_jobs": (None, 1, 2)[k % 3]}).fit(X, y)
        return digest(*model.trees_, model.predict(X))

    def stopped():
        _, X, y = cases[0]
        model = RandomForestClassifier(2000, random_state=0, verbose=lambda progress: progress.done < 2).fit(X, y)
        return model.n_estimators_, digest(*model.trees_)

    def one_round(pool):
        early = pool.submit(stopped)
        assert list(pool.map(answer, range(7))) == alone
        return early.result()

    alone = [answer(k) for k in range(7)]
    with ThreadPoolExecutor(8) as pool:
        one_round(pool)
        tracemalloc.start()
        held = []
        for _ in range(5):
            n_trees, bits = one_round(pool)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert n_trees < 2000
    _, X, y = cases[0]
    assert digest(*RandomForestClassifier(n_trees, random_state=0).fit(X, y).trees_) == bits
    assert held[-1] - held[1] < 100_000


def test_an_error_of_the_callback_is_raised_and_changes_nothing():
    X, y = long_work()
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    before = digest(*model.trees_)

    def fail(progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.set_params(n_estimators=300, verbose=fail).fit(X, y)
    assert digest(*model.trees_) == before


def test_max_seconds_keeps_a_prefix_and_records_its_length():
    X, y = long_work()
    model = RandomForestClassifier(2000, random_state=0, max_seconds=0.5).fit(X, y)
    assert 1 <= model.n_estimators_ == model.trees_.n_trees < 2000
    with pytest.raises(TimeoutError, match="no tree was finished"):
        RandomForestClassifier(50, max_seconds=0.0).fit(X, y)


def test_a_billion_trees_asked_for_cost_what_is_grown_in_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int)
    few = RandomForestClassifier(3, random_state=0, n_jobs=1).fit(X, y).trees_
    model = RandomForestClassifier(10**9, random_state=0, n_jobs=1, max_seconds=0.5).fit(X, y)
    assert model.n_estimators_ >= 3
    assert np.array_equal(model.trees_.left[: few.n_nodes], few.left)


@pytest.mark.parametrize("params", [{}, {"replace": False, "max_samples": 0.5}, {"bootstrap": False}])
def test_rounds_of_a_few_trees_change_no_bit(params, monkeypatch):
    X, y = data("two")
    whole = RandomForestClassifier(5, random_state=0, n_jobs=1, **params).fit(X, y)
    monkeypatch.setattr(grow, "MOST_TREES", 2)
    parts = RandomForestClassifier(5, random_state=0, n_jobs=1, **params).fit(X, y)
    assert digest(*whole.trees_) == digest(*parts.trees_)


@pytest.fixture
def _listens():
    """Hear Ctrl-C, which a shell turns off for what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
@pytest.mark.usefixtures("_listens")
def test_ctrl_c_returns_at_once_and_leaves_a_valid_prefix():
    X, y = long_work()
    model = RandomForestClassifier(5, random_state=0).fit(X, y)  # compiled now
    main, sent = threading.main_thread().ident, []

    def press():
        time.sleep(0.6)
        sent.append(time.perf_counter())
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=5000).fit(X, y)
    assert time.perf_counter() - sent[0] < 2.0  # 0.2 s on a quiet machine, putting the trees in order apart
    thread.join()
    check(model.trees_, X.shape[1])
    assert 1 <= model.n_estimators_ < 5000


def test_ctrl_c_while_out_of_bag_votes_are_scored_keeps_all_trees():
    X, y, _, _ = table()

    def press(*_):
        raise KeyboardInterrupt

    model = RandomForestClassifier(40, random_state=0, oob_score=press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_estimators_ == 40
    assert not hasattr(model, "oob_score_")
    assert len(model.predict(X)) == len(X)


def test_a_numpy_false_stops_the_work_too():
    X, y, _, _ = table()
    with pytest.raises(TimeoutError, match="callback"):
        RandomForestClassifier(3, verbose=lambda _: np.False_).fit(X, y)


def test_a_share_of_weights_that_draws_next_to_nothing_or_far_too_much_is_named():
    X, y, _, _ = table()
    model = RandomForestClassifier(3, random_state=0, max_samples=0.5)
    with pytest.warns(UserWarning, match=r"max_samples=0\.5 is a share of the sum of sample_weight, which is 1, so"):
        model.fit(X, y, np.full(len(X), 1 / len(X)))
    with pytest.raises(ValueError, match=r"max_samples=0\.5 of .* the sum of sample_weight, asks for more than"):
        model.fit(X, y, np.full(len(X), 1e60))
    with pytest.raises(ValueError, match=r"max_samples=.* asks for more than"):
        model.set_params(max_samples=2**70).fit(X, y)


def test_paths_of_a_frame_are_read_once():
    pd = pytest.importorskip("pandas")
    X, y, _, _ = table()
    frame = pd.DataFrame(X, columns=[f"c{f}" for f in range(X.shape[1])])
    model = RandomForestClassifier(3, random_state=0).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths, roots = model.decision_path(frame)
    for t, tree in enumerate(model.estimators_):
        assert (paths[:, roots[t] : roots[t + 1]] != tree.decision_path(X)).nnz == 0


def test_progress_is_written_in_plain_lines_where_there_is_no_terminal(capsys):
    X, y, _, _ = table()
    RandomForestClassifier(3, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("3 of 3 trees")
    assert progress._words(30) == "30.0 s"


# Parameters


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"voting": "maybe"}, "voting"),
        ({"bootstrap": False, "oob_score": True}, "Out of bag"),
        ({"bootstrap": False, "max_samples": 5}, "max_sample"),
        ({"replace": False, "max_samples": 10_000}, "without replacement"),
        ({"verbose": -1}, "verbose"),
        ({"max_seconds": -1.0}, "max_seconds"),
    ],
    ids=str,
)
def test_illegal_parameters_are_named(params, words):
    X, y, _, _ = table()
    with pytest.raises((ValueError, TypeError), match=words):
        RandomForestClassifier(**params).fit(X, y)


@interpreted_only
def test_trees_without_a_category_stand_beside_trees_with_one():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 300), rng.normal(size=300)])
    y = (X[:, 0] % 2 == 0) ^ (X[:, 1] > 0)
    params = {"max_depth": 1, "max_features": 1, "categorical_features": [0], "random_state": 0}
    forest = RandomForestClassifier(12, **params).fit(X, y)
    trees = check(forest.trees_, 2)
    roots = trees.feature[trees.root[:-1]]
    assert roots[0] == 1, "the first tree tests no category"
    assert set(roots) == {0, 1}
    assert ((np.diff(trees.level_start) > 0) == (trees.feature == 0)).all()
    means = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), means, atol=1e-12)


@interpreted_only
def test_weights_that_are_no_counts_weigh_random_cuts():
    """Interpreted, a weight that stands where rows are counted is too large for the column."""
    draw = np.random.default_rng(1)
    X, weight = draw.normal(size=(60, 4)), draw.random(60)
    model = ExtraTreesRegressor(1, random_state=0, n_jobs=1).fit(X, X[:, 0] ** 2, sample_weight=weight)
    assert np.allclose(model.predict(X), X[:, 0] ** 2)


def test_trees_without_draws_count_rows_by_real_weights_interpreted_too():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 4)).round(1), rng.random(300)
    y = (X[:, 0] + X[:, 1] > 0.2) + 2 * (X[:, 2] > 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0, n_jobs=1)
    forest.fit(X, y, sample_weight=weight)
    alone = DecisionTreeClassifier(max_bins=255, n_jobs=1).fit(X, y, sample_weight=weight)
    assert np.array_equal(forest.predict(X), alone.predict(X))

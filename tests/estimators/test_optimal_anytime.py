"""Optimal trees under limits: of time, of memory, and of what can be searched at all; and unusual tables."""

import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier, OptimalTreeRegressor
from dtnumba.growth.optimal import train
from dtnumba.growth.optimal.columns import columns_of
from dtnumba.growth.optimal.engines import MUCH
from dtnumba.growth.optimal.greedy import Grower
from dtnumba.growth.optimal.objectives import class_objective
from dtnumba.growth.optimal.rule import S_BEST
from dtnumba.growth.optimal.train import SearchLimits, greedy_trees, passes
from dtnumba.pruners.mdl import MDL
from dtnumba.runtime.progress import Monitor
from dtnumba.tables.table import read_table
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees import message_length
from dtnumba.trees.check import check
from dtnumba.trees.message_length import whole_leaf_bits
from dtnumba.trees.subtrees import depth_levels


def noise(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)


def assert_honest(model, X, y):
    """The tree loses what it says, the bound is below it, and both only got better."""
    check(model.trees_, X.shape[1])
    assert model.lower_bound_ <= model.objective_
    assert model.is_optimal_ == (model.lower_bound_ == model.objective_) == (model.gap_ == 0)
    assert (np.diff(model.history_[:, 0]) >= 0).all()
    assert (np.diff(model.history_[:, 1]) <= 0).all()
    assert (np.diff(model.history_[:, 2]) >= 0).all()
    assert model.history_[-1, 1] == model.objective_
    if hasattr(model, "classes_"):
        assert (model.predict(X) != y).sum() == model.loss_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [2, 4, 6])
def test_no_time_gives_a_tree_no_worse_than_greedy_ones(seed, depth):
    X, y = noise(seed=seed)
    model = OptimalTreeClassifier(max_depth=depth, max_seconds=0).fit(X, y)
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0).fit(X, y)
        assert model.loss_ <= (greedy.predict(X) != y).sum()
    assert_honest(model, X, y)


@pytest.mark.parametrize("params", [{"min_samples_leaf": 7}, {"max_nodes": 5}, {"complexity": 0.02}])
def test_other_limits_hold_without_time(params):
    X, y = noise(200)
    model = OptimalTreeClassifier(max_depth=6, max_seconds=0, **params).fit(X, y)
    assert_honest(model, X, y)
    assert model.objective_ < np.bincount(y).min()
    tests = int((model.trees_.feature >= 0).sum())
    assert tests <= params.get("max_nodes", 63)
    assert model.trees_.n_samples.min() >= params.get("min_samples_leaf", 1)
    root = np.bincount(y).min()
    assert model.objective_ == pytest.approx(model.loss_ + tests * params.get("complexity", 0) * root)


def test_numbers_without_time_are_no_worse_than_the_greedy_tree():
    X, _ = noise()
    z = np.sin(2 * X[:, 0]) * X[:, 1]
    model = OptimalTreeRegressor(max_depth=5, max_seconds=0).fit(X, z)
    greedy = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, z)
    assert model.loss_ <= ((greedy.predict(X) - z) ** 2).sum() * (1 + 1e-9)
    assert_honest(model, X, z)


@interpreted_only
@pytest.mark.parametrize("depth", [3, 5])
def test_distances_without_time_are_no_more_than_those_of_the_greedy_tree(depth):
    X, _ = noise(120)
    z, weight = np.round(np.sin(2 * X[:, 0]) * X[:, 1], 1), np.arange(120) % 3
    model = OptimalTreeRegressor(objective="absolute_error", max_depth=depth, max_seconds=0).fit(X, z, weight)
    greedy = DecisionTreeRegressor(criterion="absolute_error", max_depth=depth, random_state=0).fit(X, z, weight)
    assert model.loss_ <= (weight * np.abs(greedy.predict(X) - z)).sum() * (1 + 1e-9)
    assert (weight * np.abs(model.predict(X) - z)).sum() == pytest.approx(model.loss_)
    assert_honest(model, X, z)


@interpreted_only
def test_bits_without_time_are_no_more_than_those_of_pruned_greedy_trees():
    X, _ = noise(150)
    X = np.column_stack([X, X[:, 0] > 0])
    y = (X[:, 0] > 0.3) ^ (X[:, 1] > 1)
    model = OptimalTreeClassifier(objective="mdl", max_depth=5, max_seconds=0).fit(X, y)
    cuts = np.array([len(np.unique(column)) - 1 for column in X.T])
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(max_depth=5, criterion=criterion, random_state=0, prune=MDL(cuts=tuple(cuts)))
        trees = greedy.fit(X, y).trees_
        is_leaf = trees.feature < 0
        bits = 1.0 + whole_leaf_bits(trees.value[is_leaf] * trees.weight[is_leaf, None])
        tests = message_length.test_bits(trees, depth_levels(trees), X.shape[1], cuts.astype(float)) + (~is_leaf)
        assert model.objective_ <= bits.sum() + tests.sum() + 1e-6
    assert model.n_leaves_ > 1
    assert model.lower_bound_ <= model.objective_


@interpreted_only
@pytest.mark.parametrize("lacks", [0.0, 0.2])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_categories_of_many_levels_are_divided_as_well_as_greedy_trees_do(depth, lacks):
    rng = np.random.default_rng(depth)
    X = np.column_stack([rng.integers(0, 14, 300), rng.normal(size=300).round(1)]).astype(float)
    y = (X[:, 0] % 3 == 1) ^ (X[:, 1] > 0.5) ^ (rng.random(300) < 0.1)
    X[rng.random(300) < lacks, 0] = np.nan
    params = {"max_depth": depth, "categorical_features": [0]}
    model = OptimalTreeClassifier(**params, max_seconds=0).fit(X, y)
    proven = OptimalTreeClassifier(**params, max_seconds=None if depth < 3 else 0).fit(X, y)
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(**params, criterion=criterion, random_state=0).fit(X, y)
        assert proven.loss_ <= model.loss_ <= (greedy.predict(X) != y).sum()
    assert_honest(model, X, y)
    z = y + X[:, 1]
    number = OptimalTreeRegressor(**params, max_seconds=0).fit(X, z)
    greedy = DecisionTreeRegressor(**params, random_state=0).fit(X, z)
    assert number.loss_ <= ((greedy.predict(X) - z) ** 2).sum() * (1 + 1e-9)


def drawn_table(rng, n_classes):
    """Return columns of all kinds, which of them are categories, classes, and weights or None."""
    n, p = int(rng.integers(10, 80)), int(rng.integers(1, 5))
    X = rng.integers(0, int(rng.integers(2, 14)), (n, p)).astype(float)
    nominal = rng.random(p) < rng.choice([0, 0.5])
    X[:, ~nominal] += rng.choice([0, 1]) * rng.normal(size=(n, int((~nominal).sum())))
    X[rng.random((n, p)) < rng.choice([0, 0.15])] = np.nan
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    weight = rng.integers(0, 4, n) * rng.choice([1.0, 0.3])
    weight[:n_classes] = 1.0
    return X, nominal, y, weight if rng.random() < 0.5 else None


@interpreted_only
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), kind=st.sampled_from(["error", "costs", "balanced", "gini", "entropy", "bound"]))
def test_no_greedy_tree_of_the_same_limits_loses_less(seed, kind):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    X, nominal, y, weight = drawn_table(rng, n_classes)
    nodes = None if rng.random() < 0.5 else int(rng.integers(1, 9))
    leaves = None if nodes is None else nodes + 1
    params = {"max_depth": int(rng.integers(1, 7)), "min_samples_leaf": int(rng.integers(1, 4))}
    params |= {"categorical_features": nominal, "class_weight": "balanced" if kind == "balanced" else None}
    costs = rng.integers(1, 5, (n_classes, n_classes)) * (1.0 - np.eye(n_classes)) if kind == "costs" else None
    objective = kind if kind in {"gini", "entropy", "bound"} else "error"
    model = OptimalTreeClassifier(max_seconds=0, max_nodes=nodes, objective=objective, costs=costs, **params)
    model.fit(X, y, weight)
    counts = np.ones(len(y)) if weight is None else weight
    counts = counts * len(y) / n_classes / np.bincount(y)[y] if kind == "balanced" else counts
    for criterion in [kind] if kind in {"gini", "entropy"} else ["gini", "entropy"]:
        params |= {"criterion": criterion, "prune": "bound" if kind == "bound" else None}
        greedy = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0, costs=costs, **params).fit(X, y, weight)
        trees = greedy.trees_
        if kind == "bound":
            assert model.objective_ <= greedy.risk_bound() * (1 + 1e-9)
        elif kind in {"gini", "entropy"}:
            assert model.loss_ <= (trees.weight * trees.impurity)[trees.feature < 0].sum() * (1 + 1e-9) + 1e-9
        else:
            price = (1 - np.eye(n_classes)) if costs is None else costs
            assert model.loss_ <= (counts * price[y, greedy.predict(X)]).sum() * (1 + 1e-9) + 1e-9
    check(model.trees_, X.shape[1])


@interpreted_only
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), objective=st.sampled_from(["squared_error", "absolute_error"]))
def test_no_greedy_tree_of_numbers_loses_less(seed, objective):
    rng = np.random.default_rng(seed)
    X, nominal, _, weight = drawn_table(rng, 2)
    z, nodes = rng.normal(size=len(X)).round(1), None if rng.random() < 0.5 else int(rng.integers(1, 9))
    params = {"max_depth": int(rng.integers(1, 7)), "min_samples_leaf": int(rng.integers(1, 4))}
    params |= {"categorical_features": nominal}
    model = OptimalTreeRegressor(max_seconds=0, max_nodes=nodes, objective=objective, **params).fit(X, z, weight)
    greedy = DecisionTreeRegressor(
        criterion=objective, max_leaf_nodes=None if nodes is None else nodes + 1, random_state=0, **params
    ).fit(X, z, weight)
    away = np.abs(greedy.predict(X) - z) ** (1 if objective == "absolute_error" else 2)
    assert model.loss_ <= ((1 if weight is None else weight) * away).sum() * (1 + 1e-7) + 1e-9


@interpreted_only
@pytest.mark.parametrize("most", [1, 3])
def test_greedy_trees_keep_to_the_cuts_that_are_allowed(most):
    X, y = noise(120)
    X[::7, 1] = np.nan
    model = OptimalTreeClassifier(max_depth=6, thresholds=most, max_seconds=0).fit(X, y)
    assert model.n_leaves_ > 2
    for j in range(X.shape[1]):
        cuts = np.unique(model.trees_.threshold[(model.trees_.feature == j) & np.isfinite(model.trees_.threshold)])
        sides = {tuple(X[:, j] <= cut) for cut in cuts}
        assert len(sides) <= most * (1 + (j == 1))  # cuts lie between values that a node's rows have


@interpreted_only
def test_setting_up_ends_when_the_time_is_up(monkeypatch):
    X, y = noise(60)
    monkeypatch.setattr(train, "_A_LOOK", 1.0)
    for objective in ("error", "mdl", "bound"):
        model = OptimalTreeClassifier(max_depth=3, max_seconds=0, objective=objective).fit(X, y)
        assert model.n_leaves_ == 1
        assert 0 <= model.lower_bound_ < model.objective_
        assert not model.is_optimal_

    def interrupt(progress):
        raise KeyboardInterrupt

    model = OptimalTreeClassifier(verbose=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.n_leaves_, model.lower_bound_, model.is_optimal_) == (1, 0, False)
    assert OptimalTreeClassifier(max_depth=3).fit(X, y).is_optimal_


def test_depths_that_nobody_searches_are_legal():
    X, y = noise(400)
    model = OptimalTreeClassifier(max_depth=20, max_seconds=0.2).fit(X, y)
    assert model.loss_ == 0
    assert model.is_optimal_  # for nothing is below no loss
    X, y = X.round(0), (y + 1) % 2
    model = OptimalTreeClassifier(max_depth=20, max_seconds=0.2).fit(X, y)
    same = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    lost = sum(np.bincount(y[same == k], minlength=2).min() for k in range(same.max() + 1))
    assert model.lower_bound_ == lost <= model.loss_
    assert_honest(model, X, y)
    deep = OptimalTreeClassifier(max_depth=20, max_nodes=9, max_seconds=0.2).fit(X, y)
    assert int((deep.trees_.feature >= 0).sum()) <= 9


def test_bounds_between_searches_are_below_the_best():
    """Small searches end before any time is up, so that each pass says something, and must say it of all trees."""
    rng = np.random.default_rng(5)
    for seed in range(6):
        codes = rng.integers(0, 3, (20, 2))
        y = rng.integers(0, 2, 20)
        tests = naive.divisions_of_codes(codes)
        loss = naive.class_loss(y, np.ones(20), 2, "error")
        best = naive.best_loss(np.ones(20, bool), tests, loss, 3, 7)
        model = OptimalTreeClassifier(max_depth=3 + seed % 2 * 2, start="greedy").fit(codes, y)
        assert model.is_optimal_
        assert model.history_[:, 2].max() <= best
        assert model.objective_ == best if seed % 2 == 0 else model.objective_ <= best


@pytest.mark.parametrize("looks", [0, 1, 5, 20, 29])
def test_columns_of_two_values_are_put_in_order_until_time_is_up(looks):
    asked = 0

    def is_over():
        nonlocal asked
        asked += 1
        return asked > looks

    table = read_table(np.random.default_rng(0).integers(0, 2, (40, 20), np.uint8), "OptimalTreeClassifier")
    assert len(columns_of(table, np.arange(40), None)) == 20
    assert len(columns_of(table, np.arange(40), None, is_over)) == max(0, looks - 1 - 20)
    assert asked == looks + 1


def test_nothing_is_done_for_greedy_trees_once_time_is_up():
    class Untouched(list):
        def __iter__(self):
            raise AssertionError("nobody waits for this")

    y, slow = np.array([0, 1, 1]), Grower(lambda *_: [], lambda _: np.zeros(3), 1, 1e12)
    weights = fixed_weights(np.ones(3), 3)
    goal = class_objective(y, 2, weights, "error", None, lambda _: 0.0)
    monitor = Monitor(0, 0.0, 1, 1 << 40, stopped="time")
    assert greedy_trees(Untouched([None]), goal, SearchLimits(3, 7, 1, 1 << 30, grower=slow), monitor) == []


@interpreted_only
@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("objective", ["error", "bound", "mdl", "squared_error", "absolute_error"])
def test_a_search_that_ends_early_leaves_the_greedy_tree(monkeypatch, depth, objective):
    """Greedy trees that take long are there before the search of few levels, too: nobody waits for them after it."""
    X, _ = noise(150)
    y = (X[:, 0] > 0.1) ^ (X[:, 1] > 1) ^ (np.arange(150) % 7 == 0)
    begun = threading.Event()

    def search(engine, *_):
        engine.state[0, S_BEST] = MUCH
        begun.set()
        while engine.job.halt[0] == 0:
            time.sleep(0.001)

    def alike(*_):
        raise AssertionError("which takes longer than greedy trees, and is of use only where a search proves nothing")

    monkeypatch.setattr(train, "_AT_ONCE", 0.0)
    monkeypatch.setattr(train, "same_rows", alike)
    monkeypatch.setattr(train.SortedEngine, "search", search)
    monkeypatch.setattr(train.BitEngine, "search", search)
    params = {"max_depth": depth, "objective": objective, "verbose": lambda _: not begun.is_set()}
    if objective.endswith("_error"):
        z = y + 0.1 * X[:, 2]
        model = OptimalTreeRegressor(**params).fit(X, z)
        greedy = DecisionTreeRegressor(max_depth=depth, criterion=objective, random_state=0).fit(X, z)
        away = np.abs(greedy.predict(X) - z) ** (1 if objective == "absolute_error" else 2)
        assert model.loss_ <= away.sum() * (1 + 1e-7)
    else:
        model = OptimalTreeClassifier(**params).fit(X, y)
        if objective == "error":
            greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
            assert model.loss_ <= (greedy.predict(X) != y).sum()
        elif objective == "bound":
            greedy = DecisionTreeClassifier(max_depth=depth, random_state=0, prune="bound").fit(X, y)
            assert model.objective_ <= greedy.risk_bound() * (1 + 1e-9)
    assert begun.is_set()
    assert model.n_leaves_ > 1
    assert not model.is_optimal_
    assert model.lower_bound_ <= model.objective_ == model.history_[-1, 1]


@interpreted_only
def test_of_greedy_trees_that_take_too_long_the_upper_levels_are_kept():
    X, y = noise(60)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    is_over, may_end, asked = threading.Event(), threading.Event(), []

    def grow(rows, depth, most):
        asked.append(depth)
        if depth > 1:
            is_over.set()
            may_end.wait()
        return [stump.trees_]

    grower = Grower(grow, lambda j: X[:, j], X.shape[1], 1e12)
    columns = columns_of(read_table(X, "OptimalTreeClassifier"), np.arange(60), None)
    goal = class_objective(y, 2, fixed_weights(np.ones(60), 60), "error", None, lambda _: 0.0)
    monitor = Monitor(lambda _: not is_over.is_set(), None, 1, 1 << 40)
    found = greedy_trees(columns, goal, SearchLimits(4, 15, 1, 1 << 30, grower=grower), monitor)
    may_end.set()
    assert asked == [1, 2]
    assert [upper * goal.unit for _, upper in found] == [(stump.predict(X) != y).sum()]
    assert monitor.stopped == "callback"


@interpreted_only
def test_small_tables_are_searched_before_anything_greedy(monkeypatch):
    def grown(*_):
        raise AssertionError("nobody needs it")

    monkeypatch.setattr(train, "greedy_trees", grown)
    X, y = noise(60)
    assert OptimalTreeClassifier(max_depth=3, max_seconds=1000).fit(X > 0, y).is_optimal_


@interpreted_only
def test_a_history_of_bounds_on_the_true_error_ends_with_the_last_ones(capsys):
    X, y = noise(60)
    for depth, labels in ((1, y), (2, X[:, 0] > 0), (3, (X[:, 0] > 0) ^ (X[:, 1] > 0))):
        model = OptimalTreeClassifier(objective="bound", max_depth=depth, verbose=1).fit(X.round(1), labels)
        assert_honest(model, X.round(1), labels)
        assert tuple(model.history_[-1, 1:]) == (model.objective_, model.lower_bound_)
        assert len(model.history_) > 1
        assert (np.abs(np.diff(model.history_[:, 1:], axis=0)).sum(axis=1) > 0).all()
        lines = capsys.readouterr().err.splitlines()
        told = [tuple(map(float, line.replace(",", "").split()[2::3])) for line in lines]
        assert told == [tuple(float(f"{one:.6g}") for one in row) for row in model.history_[:, 1:]]


def test_the_searches_end_with_all_trees():
    for depth in (1, 2, 3, 4, 5, 10):
        for of_bits in (False, True):
            last = passes(depth, "greedy", of_bits=of_bits)[-1]
            assert last == passes(depth, None, of_bits=of_bits)[-1]


@interpreted_only
def test_where_a_bound_took_too_long_lower_ones_are_tried(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)) > 0, rng.integers(0, 2, 200)
    proven, asked = OptimalTreeClassifier(max_depth=4).fit(X, y), []

    def search(engine, upper, budget, steps, is_main=True):
        plain(engine, upper, budget, steps, is_main)
        asked.append((upper, engine.ended))

    plain = train.BitEngine.search
    few = [train.Pass(0), *(train.Pass(train.ALL_TESTS, 3 / 4, 1) for _ in range(4))]
    monkeypatch.setattr(train, "passes", lambda *_, **__: few)
    monkeypatch.setattr(train.BitEngine, "search", search)
    model = OptimalTreeClassifier(max_depth=4).fit(X, y)
    late = [upper for upper, ended in asked if not ended]
    assert 1 <= len(late) <= 3
    assert late == sorted(late, reverse=True)
    assert max(upper for upper, ended in asked[1:] if ended) == model.lower_bound_ > 0
    assert model.lower_bound_ < min(late)
    assert model.lower_bound_ <= proven.objective_ <= model.objective_
    assert_honest(model, X, y)


def test_memory_has_a_budget():
    X, y = noise(2000, 10)
    with pytest.raises(ValueError, match=r"max_bytes=1000000: 2000 rows and 10 columns or cuts need \d+; allow more"):
        OptimalTreeClassifier(max_depth=3, max_bytes=1_000_000).fit(X, y)
    most = 40_000_000
    for table in (X, X > 0):  # compiling takes memory of its own
        OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0).fit(table, y)
    tracemalloc.start()
    OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0.2).fit(X, y)
    OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0.2).fit(X > 0, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= most


def test_tables_that_leave_nothing_to_search():
    X, y = noise(40)
    constant = OptimalTreeClassifier().fit(X, np.ones(40))
    assert (constant.objective_, constant.is_optimal_, constant.n_leaves_) == (0, True, 1)
    same = OptimalTreeClassifier().fit(np.ones((40, 3)), y)  # rows that contradict each other
    assert same.is_optimal_
    assert same.n_leaves_ == 1
    assert same.loss_ == min(np.bincount(y))
    one = OptimalTreeRegressor().fit([[1.0]], [2.5])
    assert (one.objective_, one.is_optimal_) == (0, True)
    assert isinstance(one.is_optimal_, bool)  # as others print and compare it
    none = OptimalTreeClassifier(max_nodes=0).fit(X, y)
    assert none.is_optimal_
    assert none.n_leaves_ == 1
    more = OptimalTreeClassifier(max_depth=2, max_nodes=1000).fit(X, y)
    assert more.objective_ == OptimalTreeClassifier(max_depth=2).fit(X, y).objective_
    with pytest.raises(ValueError, match="sample_weight"):
        OptimalTreeClassifier().fit(X, y, np.zeros(40))


def test_infinite_values_are_the_least_and_the_largest():
    X = np.array([[-np.inf], [-1.0], [3.0], [np.inf], [np.nan]])
    model = OptimalTreeClassifier(max_depth=3).fit(X, [0, 1, 1, 0, 2])
    assert model.loss_ == 0
    assert model.predict(X).tolist() == [0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": 31}, "max_depth"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"max_seconds": float("inf")}, "a finite number"),
        ({"max_gap": 1.5}, "max_gap"),
        ({"thresholds": 0}, "thresholds"),
        ({"thresholds": "some"}, "thresholds"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"start": "best"}, "start"),
        ({"complexity": -0.1}, "complexity"),
        ({"complexity_unit": "tests"}, "complexity_unit"),
        ({"objective": "twoing"}, "objective"),
        ({"objective": "gini", "costs": [[0, 1], [2, 0]]}, "costs"),
    ],
)
def test_what_is_not_legal_is_named(params, said):
    X, y = noise(20)
    with pytest.raises((ValueError, TypeError), match=said):
        OptimalTreeClassifier(**params).fit(X, y)

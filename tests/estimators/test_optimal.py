"""Optimal trees as estimators: the best of all trees, whatever columns, weights, costs and missing values there are."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive
from strategies import interpreted_only

import dtnumba
from dtnumba import DecisionTreeClassifier, OptimalTreeClassifier, OptimalTreeRegressor
from dtnumba.growth.optimal import train
from dtnumba.pruners.mdl import MDL
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees import message_length
from dtnumba.trees.check import check
from dtnumba.trees.message_length import whole_leaf_bits
from dtnumba.trees.subtrees import depth_levels


def divisions(X, nominal):
    """Return every test of a table: cuts and divisions, with missing values on either side or apart."""
    return [test for _, test in divisions_of_columns(X, nominal)]


def divisions_of_columns(X, nominal):
    """Return the same, each with its column."""
    found = []
    for j, column in enumerate(X.T):
        lacks, values = np.isnan(column), np.unique(column[~np.isnan(column)])
        if nominal[j]:
            groups = [[v for k, v in enumerate(values) if mask >> k & 1] for mask in range(1, 1 << len(values))]
            sides = [np.isin(column, group) for group in groups]
        else:
            sides = [column <= v for v in values]
        for side in sides:
            found += [(j, ~side & ~lacks), (j, ~side | lacks)] if lacks.any() else [(j, ~side)]
    return found


@st.composite
def tables(draw):
    n, p = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = rng.integers(0, draw(st.integers(2, 4)), (n, p)).astype(float)
    nominal = rng.random(p) < draw(st.sampled_from([0, 0.5]))
    X[rng.random((n, p)) < draw(st.sampled_from([0, 0.2]))] = np.nan
    weight = rng.integers(0, 4, n) * (
        1.0 if COMPILED else draw(st.sampled_from([1.0, 0.3]))
    )  # others have kernels of their own
    weight[0] = 1.0
    return X, nominal, weight, rng


LIMITS = {"depth": st.integers(1, 2), "most": st.integers(0, 3), "least": st.sampled_from([1, 1, 2])}


@contextmanager
def searching(engine):
    """Let any table be searched as ordered columns, also one that has few cuts."""
    with pytest.MonkeyPatch.context() as patch:
        if engine == "sorted":
            patch.setattr(train, "is_binary", lambda columns: False)
            patch.setattr(train, "_FEW_CUTS", -1)
        yield


ENGINES = ("bits", "sorted")
EXAMPLES = settings(max_examples=50, deadline=None)


def uncompiled(*objectives):
    """Return parameters of a test: losses whose kernels both searches would compile."""
    return [pytest.param(one, engine, marks=interpreted_only) for one in objectives for engine in ENGINES]


@pytest.mark.parametrize(
    ("objective", "engine"), [("error", "bits"), ("error", "sorted"), *uncompiled("costs", "gini", "entropy")]
)
@EXAMPLES
@given(table=tables(), complexity=st.sampled_from([0.0, 0.1]), **LIMITS)
def test_classes(objective, engine, table, complexity, depth, most, least):
    X, nominal, weight, rng = table
    y = rng.integers(0, rng.integers(1, 4), len(X))
    y[0] = 0
    kept = weight > 0
    classes, codes = np.unique(y, return_inverse=True)
    costs = rng.integers(1, 5, (len(classes), len(classes))) * 0.7 * (1 - np.eye(len(classes)))
    costs = costs if objective == "costs" and costs.any() and len(classes) > 1 else None
    name = "error" if objective == "costs" else objective
    loss = naive.class_loss(codes[kept], weight[kept], len(classes), name, costs)
    rows = np.ones(int(kept.sum()), bool)
    model = OptimalTreeClassifier(
        max_depth=depth,
        max_nodes=most,
        min_samples_leaf=least,
        complexity=complexity,
        objective=name,
        costs=costs,
        categorical_features=nominal,
        complexity_unit="rows",
    )
    with searching(engine):
        model.fit(X, y, weight)
    price = complexity * weight.sum()
    expected = naive.best_loss(rows, divisions(X[kept], nominal), loss, depth, most, least, price)
    assert model.objective_ == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert model.is_optimal_
    check(model.trees_, X.shape[1])
    assert_leaves(model, X[kept], loss, least, model.loss_)


@pytest.mark.parametrize(
    ("objective", "engine"),
    [
        ("squared_error", "sorted"),
        pytest.param("squared_error", "bits", marks=interpreted_only),
        pytest.param("absolute_error", "sorted", marks=interpreted_only),
    ],
)
@EXAMPLES
@given(table=tables(), complexity=st.sampled_from([0.0, 0.1]), **LIMITS)
def test_numbers(objective, engine, table, complexity, depth, most, least):
    X, nominal, weight, rng = table
    y = np.round(rng.normal(size=len(X)), 2)
    kept = weight > 0
    loss, rows = naive.number_loss(y[kept], weight[kept], objective), np.ones(int(kept.sum()), bool)
    model = OptimalTreeRegressor(
        max_depth=depth,
        max_nodes=most,
        min_samples_leaf=least,
        complexity=complexity,
        categorical_features=nominal,
        objective=objective,
    )
    with searching(engine):
        model.fit(X, y, weight)
    price = complexity * loss(rows)
    expected = naive.best_loss(rows, divisions(X[kept], nominal), loss, depth, most, least, price)
    # Of distances, weights that are no whole numbers have 31 bits.
    close = {"rel": 1e-9, "abs": 1e-9} if objective == "squared_error" else {"rel": 1e-7, "abs": 1e-7}
    assert model.objective_ == pytest.approx(expected, **close)
    assert model.is_optimal_
    check(model.trees_, X.shape[1])
    assert_leaves(model, X[kept], loss, least, model.loss_)
    away = np.abs(model.predict(X) - y)
    wanted = (weight * (away**2 if objective == "squared_error" else away)).sum()
    assert wanted == pytest.approx(model.loss_, **close)


@interpreted_only
@settings(max_examples=40, deadline=None)
@given(table=tables(), **LIMITS)
def test_the_shortest_message(table, depth, most, least):
    """The tree takes the bits that the pruner counts, and no other takes fewer."""
    X, nominal, weight, rng = table
    kept = weight > 0
    is_whole = (weight == np.floor(weight)).all()
    if not is_whole:
        weight = weight * 1.0371  # no sum is near a whole number, to which the most exceptions are rounded down
    y = rng.integers(0, rng.integers(1, 4), len(X))
    y[0] = 0
    classes, codes = np.unique(y, return_inverse=True)
    model = OptimalTreeClassifier(
        max_depth=depth, max_nodes=most, min_samples_leaf=least, objective="mdl", categorical_features=nominal
    ).fit(X, y, weight)
    n_values = [len(np.unique(column)) for column in X[kept].T]
    cuts = np.maximum(np.array(n_values) - 1, 0)
    leaves = depth_levels(model.trees_)
    is_leaf = model.trees_.feature < 0
    counts = model.trees_.value[:, : len(classes)] * model.trees_.weight[:, None]
    labels = 1.0 + whole_leaf_bits(counts[is_leaf])
    tests = (~is_leaf).sum() + message_length.test_bits(model.trees_, leaves, X.shape[1], cuts.astype(float)).sum()
    assert model.loss_ == pytest.approx(labels.sum(), rel=1e-9)
    assert model.objective_ == pytest.approx(labels.sum() + tests, rel=1e-9)
    assert model.is_optimal_
    if not is_whole:
        return  # the criterion's code, which the slow one is, lets there be more exceptions than it has numbers for
    divisions = list(divisions_of_columns(X[kept], nominal))
    column, found = zip(*divisions, strict=True) if divisions else ((), ())
    price = naive.price_of_test(column, cuts.tolist(), np.where(nominal, n_values, 0).tolist(), X.shape[1])
    loss = naive.class_loss(codes[kept], weight[kept], len(classes), "mdl")
    expected = naive.best_loss(np.ones(int(kept.sum()), bool), found, loss, depth, most, least, price)
    assert model.objective_ == pytest.approx(expected, rel=1e-7)


@interpreted_only
@pytest.mark.parametrize("first", [0, 1])
def test_of_columns_that_part_rows_alike_the_one_of_fewest_bits_is_tested(first):
    X = np.array([[k % 3, k % 3 == 1] for k in range(60)], float)[:, [first, 1 - first]]
    model = OptimalTreeClassifier(objective="mdl", max_depth=2, categorical_features=[first]).fit(X, X[:, 1 - first])
    assert model.trees_.feature.tolist() == [1 - first, -1, -1]


def test_no_pruned_tree_takes_fewer_bits():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (300, 3)), rng.normal(size=(300, 2))])
    y = ((X[:, 0] != X[:, 1]) & (X[:, 3] > 0)) ^ (rng.random(300) < 0.1)
    best = OptimalTreeClassifier(objective="mdl", max_depth=3).fit(X, y)
    cuts = tuple(len(np.unique(column)) - 1 for column in X.T)
    for criterion in ("gini",) if COMPILED else ("gini", "entropy", "error"):
        grown = DecisionTreeClassifier(max_depth=3, criterion=criterion, random_state=0, prune=MDL(cuts=cuts)).fit(X, y)
        trees = grown.trees_
        is_leaf = trees.feature < 0
        bits = 1.0 + whole_leaf_bits(trees.value[is_leaf] * trees.weight[is_leaf, None])
        tests = (~is_leaf).sum() + message_length.test_bits(trees, depth_levels(trees), 5, np.array(cuts, float)).sum()
        assert best.objective_ <= bits.sum() + tests + 1e-6
    assert best.n_leaves_ > 2


def test_a_first_test_that_gains_least_may_be_the_best():
    """Exercise 18.2 of Shalev-Shwartz & Ben-David (2014): ID3 errs at depth 2, where a tree without errors is."""
    X, y = [[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]], [1, 1, 0, 0]
    greedy = DecisionTreeClassifier(criterion="entropy", max_depth=2, random_state=0).fit(X, y)
    best = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert (greedy.predict(X) != y).sum() == 1
    assert best.loss_ == 0
    assert best.is_optimal_


@pytest.mark.parametrize("seed", range(3))
def test_no_pruned_tree_has_a_lower_bound_on_its_error(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    y = (X[:, 0] != X[:, 1]) ^ (rng.random(200) < 0.1)
    best = OptimalTreeClassifier(objective="bound", max_depth=3).fit(X, y)
    pruned = DecisionTreeClassifier(max_depth=3, prune="bound", random_state=0).fit(X, y)
    assert best.objective_ <= pruned.risk_bound() + 1e-12
    assert best.risk_bound() == pytest.approx(best.objective_, rel=1e-12)


def papayas():
    """Return papayas by colour, a category, and softness: tasty where they are of a good colour and soft enough."""
    colour, soft = np.repeat(np.arange(5.0), 40), np.tile(np.arange(40) % 10 / 10, 5)
    return np.column_stack([colour, soft]), (colour >= 3) & (soft > 0.3) & (soft < 0.8), [0]


def exclusive_ors():
    """Return two columns of which one alone says nothing, and one that says a little."""
    X = np.array([[a, b, (a != b) or k % 3 == 0] for a in (0.0, 1.0) for b in (0.0, 1.0) for k in range(60)])
    return X, X[:, 0] != X[:, 1], None


@interpreted_only
@pytest.mark.parametrize("example", [papayas, exclusive_ors])
def test_the_bound_of_every_pruned_greedy_tree_is_no_less(example):
    """Equation 18.1 of Shalev-Shwartz & Ben-David (2014), minimised."""
    X, y, nominal = example()
    best = OptimalTreeClassifier(objective="bound", max_depth=3, categorical_features=nominal).fit(X, y)
    assert best.is_optimal_
    assert best.loss_ == 0
    for criterion in ("gini", "entropy", "error"):
        greedy = DecisionTreeClassifier(criterion=criterion, max_depth=3, categorical_features=nominal, random_state=0)
        bounds = [greedy.set_params(prune="bound").fit(X, y).risk_bound()]
        greedy.set_params(prune=None)
        alphas = greedy.cost_complexity_pruning_path(X, y).ccp_alphas
        bounds += [greedy.set_params(ccp_alpha=alpha).fit(X, y).risk_bound() for alpha in alphas]
        assert best.objective_ <= min(bounds) + 1e-12


def test_a_path_of_complexities_falls_in_size(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 3)), rng.integers(0, 2, 60)
    model = OptimalTreeClassifier(max_depth=2, complexity_unit="rows")
    models = model.path([0.0, 0.02, 0.1, 1.0], X, y)
    assert [one.complexity for one in models] == [0.0, 0.02, 0.1, 1.0]
    sizes = [one.n_leaves_ for one in models]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    models[0].save(tmp_path / "best.model")
    again = dtnumba.load(tmp_path / "best.model")
    assert (again.predict(X) == models[0].predict(X)).all()
    assert again.objective_ == models[0].objective_
    with pytest.raises(TypeError, match=r"complexities=0.1: it takes a sequence of numbers"):
        model.path(0.1, X, y)


def test_ctrl_c_keeps_the_best_tree_so_far():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)

    def interrupt(progress):
        if progress.seconds > 0.3:
            raise KeyboardInterrupt

    model = OptimalTreeClassifier(max_depth=6, verbose=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.predict(X) != y).sum() == model.loss_ >= model.lower_bound_
    assert not model.is_optimal_


@settings(max_examples=30, deadline=None)
@given(table=tables(), least=st.sampled_from([1, 2]), depth=st.integers(1, 3))
def test_the_order_of_rows_changes_nothing(table, least, depth):
    X, nominal, weight, rng = table
    y, order = rng.integers(0, 3, len(X)), rng.permutation(len(X))
    params = {"max_depth": depth, "min_samples_leaf": least, "categorical_features": nominal}
    one = OptimalTreeClassifier(**params).fit(X, y, weight)
    two = OptimalTreeClassifier(**params).fit(X[order], y[order], weight[order])
    for a, b in zip(one.trees_[:7], two.trees_[:7], strict=True):
        assert np.array_equal(a, b, equal_nan=True)


def assert_leaves(model, X, loss, least, expected):
    """The rows that end in each leaf lose together what the model says, and are enough."""
    ends = model.apply(X)
    leaves = np.unique(ends)
    assert len(leaves) == model.n_leaves_
    assert sum(loss(ends == leaf) for leaf in leaves) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert model.n_leaves_ == 1 or min((ends == leaf).sum() for leaf in leaves) >= least
    assert model.trees_.n_samples.tolist() == model.decision_path(X).toarray().sum(axis=0).tolist()


@settings(max_examples=30, deadline=None)
@given(table=tables(), gap=st.sampled_from([0.1, 0.5, 1.0]))
def test_a_gap_is_kept(table, gap):
    X, nominal, weight, rng = table
    y = rng.integers(0, 2, len(X))
    best = OptimalTreeClassifier(categorical_features=nominal).fit(X, y, weight)
    near = OptimalTreeClassifier(categorical_features=nominal, max_gap=gap).fit(X, y, weight)
    assert near.lower_bound_ <= best.objective_ + 1e-9
    assert near.gap_ <= gap + 1e-9
    assert near.objective_ * (1 - gap) <= best.objective_ + 1e-9


@settings(max_examples=30, deadline=None)
@given(table=tables(), depth=st.integers(1, 2))
def test_the_least_bound(table, depth):
    X, nominal, weight, rng = table
    X, y = np.nan_to_num(X)[weight > 0], rng.integers(0, 2, int((weight > 0).sum()))
    model = OptimalTreeClassifier(objective="bound", max_depth=depth, categorical_features=nominal).fit(X, y)
    assert model.risk_bound() == pytest.approx(model.objective_, rel=1e-12)
    classes, codes = np.unique(y, return_inverse=True)
    loss, rows, m = naive.class_loss(codes, np.ones(len(y)), len(classes), "error"), np.ones(len(y), bool), len(y)
    symbol = np.log2(X.shape[1] + len(classes) + 1)
    bounds = [
        naive.best_loss(rows, divisions(X, nominal), loss, depth, n, 1) / m
        + np.sqrt(((2 * n + 2) * symbol + np.log(2 / 0.05)) / (2 * m))
        for n in range(1 << depth)
    ]
    assert model.objective_ == pytest.approx(min(bounds), rel=1e-12)
    assert model.is_optimal_


def test_no_time_gives_a_leaf_and_an_honest_bound():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    model = OptimalTreeClassifier(max_depth=4, max_seconds=0).fit(X, y)
    assert model.lower_bound_ <= model.objective_
    assert model.gap_ > 0
    assert not model.is_optimal_
    assert (np.diff(model.history_[:, 1]) <= 0).all()
    assert (np.diff(model.history_[:, 2]) >= 0).all()


def test_a_price_may_be_told_in_three_units():
    """Of 20 rows 8 are wrong in one leaf, 3 below one test, 2 below three."""
    X = np.repeat(np.arange(4.0), 5)[:, None]
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    for unit, one in (("loss", 1.0), ("rows", 1 / 20), ("root", 1 / np.bincount(y).min())):
        models = [OptimalTreeClassifier(complexity=k * one, complexity_unit=unit).fit(X, y) for k in (0.4, 4.5, 5.5)]
        assert [model.n_leaves_ for model in models] == [4, 2, 1]
        assert models[1].objective_ == pytest.approx(models[1].loss_ + 4.5)


@interpreted_only
@pytest.mark.parametrize("objective", ["absolute_error", "squared_error", "error", "gini", "entropy"])
@pytest.mark.parametrize("unit", ["rows", "loss"])
@pytest.mark.parametrize("y", [[3, 3, 3], [0, 1, 0]])
def test_no_test_is_worth_more_than_all_rows_lose(objective, unit, y):
    """Neither where that is nothing, nor at a price that no whole number of units holds."""
    kind = OptimalTreeRegressor if objective.endswith("error") and objective != "error" else OptimalTreeClassifier
    for complexity in (10.0, 1e6, 1e300):
        model = kind(objective=objective, complexity=complexity, complexity_unit=unit).fit([[0], [1], [2]], y)
        assert model.n_leaves_ == 1
        assert model.is_optimal_
        assert model.objective_ == pytest.approx(model.loss_, rel=1e-9)


def test_a_pruned_tree_is_not_the_one_that_was_proven(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.is_optimal_
    pruned = model.prune("mdl")
    assert pruned.n_leaves_ < model.n_leaves_
    assert not any(hasattr(pruned, name) for name in ("loss_", "objective_", "lower_bound_", "is_optimal_", "history_"))
    assert hasattr(model, "loss_")
    pruned.save(tmp_path / "pruned.dtn")
    assert np.array_equal(dtnumba.load(tmp_path / "pruned.dtn").predict(X), pruned.predict(X))
    same = model.prune("critical_value", value=0.0)
    assert same.n_nodes_ == model.n_nodes_
    assert same.loss_ == model.loss_


def test_squares_that_float64_does_not_hold_are_refused():
    X, y = [[0], [1], [2], [3]], np.array([0.0, 1.0, 3.0, 4.0])
    model = OptimalTreeRegressor(max_depth=1).fit(X, y * 1e-139)
    assert model.predict(X).tolist() == (np.array([0.5, 0.5, 3.5, 3.5]) * 1e-139).tolist()
    with pytest.raises(ValueError, match="y: its values differ by 4e-150 at most"):
        OptimalTreeRegressor(max_depth=1).fit(X, y * 1e-150)


@interpreted_only
@pytest.mark.parametrize("objective", ["error", "gini", "entropy", "mdl", "bound", "squared_error", "absolute_error"])
def test_no_depth_leaves_a_leaf(objective):
    kind = OptimalTreeRegressor if objective in {"squared_error", "absolute_error"} else OptimalTreeClassifier
    X, y = [[0, 1], [1, 1], [2, 0], [3, 0]], [0, 1, 1, 1]
    leaf = kind(objective=objective, max_depth=0).fit(X, y)
    assert (leaf.n_leaves_, leaf.depth_, leaf.is_optimal_) == (1, 0, True)
    assert leaf.loss_ == kind(objective=objective, max_nodes=0).fit(X, y).loss_
    assert kind(objective=objective, max_depth=0, max_nodes=5, max_seconds=0).fit(X, y).n_leaves_ == 1


def test_a_complexity_of_a_path_is_named():
    with pytest.raises(ValueError, match="'complexity' parameter"):
        OptimalTreeClassifier().path(["a"], [[0], [1]], [0, 1])


def test_what_other_solvers_call_it():
    with pytest.raises(TypeError, match=r"no parameter 'time_limit'; did you mean 'max_seconds'\?"):
        OptimalTreeRegressor(time_limit=5)
    with pytest.raises(TypeError, match=r"did you mean 'complexity', with complexity_unit='rows'\?"):
        OptimalTreeClassifier(regularization=0.01)
    for model in (OptimalTreeClassifier, OptimalTreeRegressor):
        meant = {name.partition(",")[0] for name in model.called_elsewhere.values()}
        assert meant <= model().get_params().keys()
        assert not meant & model.called_elsewhere.keys()

"""Partial dependence against its definition: a mean of predictions of rows with one value changed."""

import numpy as np
import pytest
from drawn import colours_table, some_rows
from strategies import interpreted_only

from dtnumba import (
    C45Classifier,
    CHAIDClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomForestClassifier,
    RuleSetClassifier,
    plot,
)


def steps(ax):
    """Return edges and values of the mean curves, by what they are of."""
    found = {patch.get_gid(): patch.get_data() for patch in ax.patches if patch.get_gid()}
    return {name: (np.asarray(data.edges), np.asarray(data.values)) for name, data in found.items()}


def curves(ax):
    return [np.asarray(patch.get_data().values) for patch in ax.patches if not patch.get_gid()]


def expected(model, X, j, value, k):
    rows = X.copy()
    rows[:, j] = value
    return model.predict_proba(rows)[:, k] if hasattr(model, "classes_") else model.predict(rows)


@pytest.mark.parametrize("missing", ["learned", "surrogate", "fractional"])
def test_every_value_has_the_mean_of_the_definition(missing):
    X, y = some_rows(0, gaps=0.1)
    tree = DecisionTreeClassifier(max_depth=5, missing=missing).fit(X, y)
    ax = plot.dependence(tree, X, 0)
    for k in range(3):
        edges, values = steps(ax)[f"mean {k}"]
        for at in np.random.default_rng(1).uniform(edges[0], edges[-1], 20):
            mean = expected(tree, X, 0, at, k).mean()
            assert values[np.searchsorted(edges, at) - 1] == pytest.approx(mean)


def categories_and_numbers():
    X, y = some_rows(7, n=100, gaps=0.1)
    table = X.astype(object)
    table[:, 0] = np.array(["low", "mid", "high", "top"])[np.digitize(np.nan_to_num(X[:, 0]), [-1.0, 0.0, 1.0])]
    table[::9, 0] = None
    return table, y


@interpreted_only
@pytest.mark.parametrize(
    "model",
    [
        ID3Classifier(max_depth=3),
        CHAIDClassifier(min_parent=10, min_child=3),
        C45Classifier(),
        DecisionTreeClassifier(max_depth=4, numeric_split="interval"),
        DecisionTreeClassifier(max_depth=4, missing="branch"),
        RandomForestClassifier(n_estimators=3, max_depth=4, random_state=0),
        RandomForestClassifier(n_estimators=3, max_depth=4, voting="hard", random_state=0),
        RuleSetClassifier(),
    ],
    ids=lambda model: f"{type(model).__name__} {model.get_params().get('voting', '')}",
)
@pytest.mark.parametrize("j", [0, 1])
def test_every_kind_of_model_has_the_mean_of_the_definition(model, j):
    X, y = categories_and_numbers()
    model.fit(X, y)
    ax = plot.dependence(model, X, j, target=1, ice=40)
    edges, values = steps(ax)["mean 1"]
    own = np.array(curves(ax))
    for at in range(0, len(edges) - 1, max(len(edges) // 8, 1)):
        value = sorted(["low", "mid", "high", "top"])[at] if j == 0 else (edges[at] + edges[at + 1]) / 2
        said = expected(model, X, j, value, 1)
        assert values[at] == pytest.approx(said.mean())
        assert own[:, at] == pytest.approx(said[np.linspace(0, len(X) - 1, 40).astype(int)])


def test_steps_are_those_of_the_trees():
    X, y = some_rows(2)
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0).fit(X, y)
    edges, _ = steps(plot.dependence(forest, X, "x1"))["mean 0"]
    trees = forest.trees_
    assert set(edges[1:-1]) == set(trees.threshold[trees.feature == 1])


def test_curves_of_rows_are_their_predictions():
    X, y = some_rows(3, k=2)
    tree = DecisionTreeClassifier(max_depth=4).fit(X, y)
    ax = plot.dependence(tree, X[:10], 0, ice=10)
    edges, mean = steps(ax)["mean 1"]
    own = curves(ax)
    assert np.mean(own, axis=0) == pytest.approx(mean)
    for at in range(len(edges) - 1):
        said = expected(tree, X[:10], 0, (edges[at] + edges[at + 1]) / 2, 1)
        assert [curve[at] for curve in own] == pytest.approx(said.tolist())


def test_two_columns_are_a_plane():
    X, y = some_rows(4)
    tree = DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0] * X[:, 1] + y)
    ax = plot.dependence(tree, X, [0, 1])
    (mesh,) = ax.collections
    assert mesh.get_coordinates().shape[0] - 2 == len(set(tree.tree_.threshold[tree.tree_.feature == 1]))
    assert ax.get_title().startswith("mean prediction: ")


def test_levels_of_a_category_have_a_step_each():
    X, y = colours_table()
    ax = plot.dependence(DecisionTreeClassifier().fit(X, y), X, 0, target="stop")
    edges, values = steps(ax)["mean 1"]
    assert edges.tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]
    assert values[[0, 3]].min() > values[[1, 2, 4]].max()
    assert ax.get_ylabel() == "mean share of stop"


def test_long_levels_do_not_run_into_each_other():
    levels = ["a" * 18 + str(k) for k in range(8)] + ["line\nbreak"]
    rows = np.array([[x] for x in levels] * 5, dtype=object)
    tree = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1, 0, 1, 0, 1, 1] * 5)
    ax = plot.dependence(tree, rows, 0)
    ax.figure.canvas.draw()
    ticks = ax.get_xticklabels()
    assert len({tick.get_rotation() for tick in ticks}) == 1
    assert ticks[0].get_rotation() > 0
    assert not any("\n" in tick.get_text() for tick in ticks)
    low = min([tick.get_window_extent().y0 for tick in ticks] + [ax.xaxis.label.get_window_extent().y0])
    assert low >= 0.0  # in the figure


def test_curves_are_light_where_axes_are_dark():
    X, y = some_rows(4)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    plt = pytest.importorskip("matplotlib.pyplot")
    with plt.style.context("dark_background"):
        mean, *_ = [p for p in plot.dependence(tree, X, 0, target=1).patches if p.get_gid() == "mean 1"]
    assert min(mean.get_edgecolor()[:3]) > 0.5


def test_bad_input_is_named():
    X, y = some_rows(5)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="column 'no' is not there; pass a number from 0 to 4, or a name"):
        plot.dependence(tree, X, "no")
    with pytest.raises(ValueError, match="must be one column or two"):
        plot.dependence(tree, X, [0, 1, 2])
    with pytest.raises(ValueError, match="target='x' is none of the classes"):
        plot.dependence(tree, X, 0, target="x")
    with pytest.raises(ValueError, match="ice=-1"):
        plot.dependence(tree, X, 0, ice=-1)
    with pytest.raises(ValueError, match=r"X has no rows|[Ff]ound array with 0"):
        plot.dependence(tree, X[:0], 0)


@interpreted_only
@pytest.mark.parametrize(
    "model",
    [
        ObliqueTreeClassifier(search="lda", max_depth=4),
        ObliqueTreeClassifier(search="lda", max_depth=4, categorical_features=[1]),
        ObliqueForestClassifier(n_estimators=2, max_depth=3, random_state=0),
        ObliqueTreeRegressor(search="ridge", max_depth=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_of_sums_every_place_that_is_asked_has_the_mean_of_the_definition(model):
    X, y = some_rows(0, n=60, gaps=0.1)
    X[:, 1] = np.nan_to_num(X[:, 1]).round()
    model = model.fit(X, y if hasattr(model, "predict_proba") else (y == y[0]) * 1.0)
    assert model.trees_.has_sums
    target, name = (model.classes_[1], "mean 1") if hasattr(model, "classes_") else (None, "mean 0")
    edges, values = steps(plot.dependence(model, X, 0, target=target))[name]
    assert len(values) >= 100
    for at in range(0, len(values), 7):
        mean = expected(model, X, 0, edges[at] / 2 + edges[at + 1] / 2, 1).mean()
        assert values[at] == pytest.approx(mean)
    assert plot.dependence(model, X, [0, 1], target=target).collections

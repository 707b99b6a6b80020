"""Regions of two columns: their edges are the model's cuts, and their colours what it predicts."""

import numpy as np
import pytest
from drawn import colours_table, some_rows
from strategies import interpreted_only

from dtnumba import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomForestClassifier,
    RuleSetClassifier,
    plot,
)
from dtnumba.figures import polygons
from dtnumba.figures.colours import tints_of_shares


def regions(ax):
    (mesh,) = [one for one in ax.collections if one.get_gid() == "regions"]
    return mesh.get_coordinates()[0, :, 0], mesh.get_coordinates()[:, 0, 1], np.asarray(mesh.get_array())


def polygons_at(ax, points):
    """The colour of each point by the polygon that it lies in, and how many polygons hold it."""
    (drawn,) = [one for one in ax.collections if one.get_gid() == "regions"]
    fills, held = np.zeros((len(points), 3)), np.zeros(len(points), int)
    for path, fill in zip(drawn.get_paths(), drawn.get_facecolors(), strict=True):
        inside = path.contains_points(points)
        fills[inside], held = fill[:3], held + inside
    return fills, held


def drawn_at(ax, points):
    x, y, fills = regions(ax)
    return fills[np.searchsorted(y, points[:, 1]) - 1, np.searchsorted(x, points[:, 0]) - 1]


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(numeric_split="interval", max_depth=3),
        C45Classifier(),
        RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0),
        RuleSetClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_point_has_the_colour_of_its_prediction(model):
    X, y = some_rows(0, n=120)
    X = X[:, :2]
    model.fit(X, y)
    ax = plot.surface(model, X, y)
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(own.min(), own.max(), 500) for own in X.T])
    shares = model.predict_proba(points)
    codes = np.searchsorted(model.classes_, model.predict(points))
    assert np.allclose(drawn_at(ax, points), tints_of_shares(shares, codes))


def test_edges_are_the_cuts_of_the_tree():
    X, y = some_rows(2)
    X = X[:, :2]
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    ax = plot.surface(tree, X)
    x, up, _ = regions(ax)
    for j, edges in enumerate((x, up)):
        assert sorted(set(tree.tree_.threshold[tree.tree_.feature == j])) == edges[1:-1].tolist()


def test_borders_stand_where_leaves_differ():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ax = plot.surface(DecisionTreeClassifier().fit(X, [0, 1, 2, 2]), X)
    (borders,) = [one for one in ax.collections if one.get_gid() == "borders"]
    segments = [segment.tolist() for segment in borders.get_segments()]
    low, high = ax.get_ylim()
    left = ax.get_xlim()[0]
    assert segments == [[[0.5, low], [0.5, high]], [[left, 0.5], [0.5, 0.5]]]


def test_levels_are_rows_of_cells_with_their_names():
    X, y = colours_table()
    ax = plot.surface(DecisionTreeClassifier().fit(X, y), X, y)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["blue", "green", "grey", "red", "violet"]
    points = np.concatenate([one.get_offsets() for one in ax.collections[-2:]])
    assert len({tuple(point) for point in points.tolist()}) == len(X)
    assert np.abs(points - points.round()).max() <= 0.3
    assert regions(ax)[0].tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]


def test_other_columns_are_at_their_medians():
    X, y = some_rows(3)
    tree = DecisionTreeRegressor(max_depth=5).fit(X, X[:, 0] + X[:, 2] + 0.1 * y)
    ax = plot.surface(tree, X, columns=[2, "x0"])
    rows = np.tile(np.median(X, axis=0), (200, 1))
    rows[:, [2, 0]] = np.random.default_rng(4).uniform(-1.5, 1.5, (200, 2))
    fills = drawn_at(ax, rows[:, [2, 0]])
    said = tree.predict(rows)
    darker = np.argsort(fills.sum(axis=1), kind="stable")
    assert np.all(np.diff(said[darker]) <= 1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x2", "x0")


def test_points_and_names_are_drawn_as_they_are():
    X, y = some_rows(5, k=2)
    X, labels = X[:, :2], np.array(["_a", "$b$"])[y]
    ax = plot.surface(DecisionTreeClassifier(max_depth=2).fit(X, labels), X, labels, feature_names=["$x$", "a\nb"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$b$", "_a"]
    assert not any(text.get_parse_math() for text in [*ax.get_legend().get_texts(), ax.xaxis.label, ax.yaxis.label])
    ax.figure.canvas.draw()


def test_bad_columns_are_named():
    X, y = some_rows(6)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match=r"the model has 5 columns; pass columns=\(a, b\)"):
        plot.surface(tree, X)
    for wrong in ([0, 9], ["x0", "no"], [0, 0], [1], "x0"):
        with pytest.raises(ValueError, match="column"):
            plot.surface(tree, X, columns=wrong)


@interpreted_only
@pytest.mark.parametrize(
    "model",
    [
        ObliqueTreeClassifier(search="lda"),
        ObliqueTreeClassifier(search="lda", max_depth=3, categorical_features=[1]),
        ObliqueTreeRegressor(search="ridge", max_depth=4),
        ObliqueForestClassifier(n_estimators=3, max_depth=3, max_features=None, random_state=0),
    ],
    ids=str,
)
def test_sums_are_drawn_as_polygons(model):
    X, y = some_rows(0, n=120)
    X = X[:, :3].copy()
    is_category = bool(model.categorical_features == [1])
    X[:, 1] = np.random.default_rng(2).integers(0, 3, len(X)) if is_category else X[:, 1]
    X[::7, 0] = np.nan
    model.fit(X, np.nan_to_num(X).sum(axis=1) if "Regressor" in type(model).__name__ else y)
    assert model.trees_.has_sums
    ax = plot.surface(model, X, columns=(0, 1))
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(np.nanmin(own), np.nanmax(own), 400) for own in X[:, :2].T])
    points[:, 1] = rng.integers(0, 3, 400) if is_category else points[:, 1]
    fills, held = polygons_at(ax, points)
    assert (held == 1).all()  # they cover all, and none covers another
    rows = np.column_stack([points, np.full(400, np.median(X[:, 2]))])
    if hasattr(model, "classes_"):
        codes = np.searchsorted(model.classes_, model.predict(rows))
        assert np.allclose(fills, tints_of_shares(model.predict_proba(rows), codes))
    else:
        order = np.argsort(model.predict(rows))
        assert (np.diff(fills[order].sum(axis=1)) <= 1e-9).all()  # the larger the fuller


@interpreted_only
def test_too_many_polygons_are_refused(monkeypatch):
    X, y = some_rows(0, n=80)
    model = ObliqueForestClassifier(n_estimators=3, max_features=None, random_state=0).fit(X[:, :2], y)
    monkeypatch.setattr(polygons, "_MOST_PIECES", 20)
    with pytest.raises(ValueError, match="more than can be seen; draw one tree of the forest"):
        plot.surface(model, X[:, :2])

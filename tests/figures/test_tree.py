"""Figures of trees by their geometry: what the renderer says where boxes and text are."""

import sys
import time

import numpy as np
import pytest
from drawn import boxes, colours_table, outside, overlaps, some_rows

import dtnumba
from dtnumba import (
    C45Classifier,
    CHAIDClassifier,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RuleSetClassifier,
    plot,
)
from dtnumba.export import ExportError

matplotlib = pytest.importorskip("matplotlib")


def words_of(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("direction", ["down", "right", None])
@pytest.mark.parametrize("depth", [0, 1, 3, 6, 8])
def test_no_boxes_overlap_and_text_is_inside(depth, direction):
    X, y = some_rows(depth, n=150)
    names = ["a", "a rather long name of a column", "m", "a name that is longer than what fits a box", "e" * 300]
    tree = DecisionTreeClassifier(max_depth=max(depth, 1)).fit(X, y)
    ax = plot(tree, max_depth=depth, direction=direction, feature_names=names)
    nodes, inside, _ = boxes(ax)
    assert len(nodes) == len(inside) == np.count_nonzero(tree.tree_.compute_node_depths() <= depth + 1)
    assert overlaps(ax) == 0
    assert outside(ax) == 0


def test_the_measure_of_overlap_sees_one():
    X, y = some_rows(1)
    ax = plot(DecisionTreeClassifier(max_depth=2).fit(X, y), direction="down")
    first, second = ax.patches[1:3]
    second.set_x(first.get_x() + 3.0)
    ax.texts[0].set_position((0.0, 0.0))
    assert overlaps(ax) > 0
    assert outside(ax) > 0


@pytest.mark.parametrize("size", [(2, 2), (6, 4), (12, 4)])
def test_given_axes_of_any_size_hold_the_tree(size):
    from matplotlib.figure import Figure

    X, y = some_rows(7)
    ax = Figure(figsize=size).subplots()
    assert plot(DecisionTreeClassifier(max_depth=4).fit(X, y), ax=ax) is ax
    assert overlaps(ax) == 0
    assert outside(ax) == 0
    ax.figure.set_size_inches(2 * size[0], 2 * size[1])  # text grows with it
    assert overlaps(ax) == 0
    assert outside(ax) == 0


@pytest.mark.parametrize("dpi", [50, 70, 130, 300])
def test_text_is_inside_at_any_resolution(dpi):
    X, y = some_rows(1)
    ax = plot(DecisionTreeClassifier(max_depth=4).fit(X, y))
    assert outside(ax) == 0
    assert outside(ax, dpi) == 0


def test_text_is_inside_where_a_large_tree_is_drawn_smaller():
    """The figure would be wider than 100 inches."""
    X, y = some_rows(10, n=600, k=4)
    labels = np.array([f"a label of many words {k}" for k in range(4)])[y]
    ax = plot(DecisionTreeClassifier().fit(X, labels), max_depth=9, direction="down")
    assert ax.figure.get_size_inches().max() == pytest.approx(100.0)
    assert ax.texts[0].get_fontsize() > 2.0
    assert overlaps(ax) == outside(ax) == 0


@pytest.mark.parametrize("width", [17.5, 21.0, 32.0])
def test_long_lines_stay_in_their_boxes_whatever_their_letters_are_rounded_to(width):
    X, y = some_rows(10, n=120, k=4)
    labels = np.array([f"{name} {j}" for j, name in enumerate(["petal width", "m" * 60, "$x_1$", "a name"])])[y]
    names = ["m" * 60, "a name that is longer than what stands in a box", "x", "petal width", "$x_1$"]
    tree = DecisionTreeClassifier(max_depth=4, missing="surrogate").fit(X, labels)
    figure = matplotlib.figure.Figure(figsize=(width, 12.0), dpi=100)
    ax = plot(tree, direction="right", feature_names=names, ax=figure.add_axes((0, 0, 1, 1)))
    assert overlaps(ax) == outside(ax) == 0
    assert all(text.get_fontsize() > 2.0 for text in ax.texts)


def test_boxes_say_class_rows_and_shares():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    said = words_of(plot(DecisionTreeClassifier().fit(X, ["no", "no", "no", "yes"])))
    assert said == [
        *("no", "n = 4 (100%)", "75% / 25%"),
        *("no", "n = 3 (75%)", "100% / 0%", "x0 ≤ 2.5 or\u00a0missing"),
        *("yes", "n = 1 (25%)", "0% / 100%", "x0 > 2.5"),
    ]


def test_boxes_of_numbers_say_the_mean():
    said = words_of(plot(DecisionTreeRegressor().fit([[1.0], [9.0]], [2.0, -3.0])))
    assert [text for text in said if "x0" not in text] == [
        *("−0.5", "n = 2 (100%)", "2", "n = 1 (50%)", "−3", "n = 1 (50%)")
    ]


def test_a_level_called_missing_is_no_missing_value():
    X = np.array([["a"], ["b"], ["missing"], [None]] * 5, object)
    said = words_of(plot(DecisionTreeClassifier().fit(X, ["yes", "yes", "no", "no"] * 5)))
    assert "x0 is missing or\u00a0missing" in said
    assert "x0 is not missing" in said


def test_what_is_cut_says_how_many_nodes_are_below():
    X, y = some_rows(2)
    tree = DecisionTreeClassifier().fit(X, y)
    ax = plot(tree, max_depth=1, direction="down")
    below = [int(text.split()[1]) for text in words_of(ax) if text.endswith("nodes below")]
    assert sum(below) == tree.n_nodes_ - 3
    assert [patch.get_linestyle() for patch in ax.patches] == ["-", "--", "--"]


def test_edges_are_as_wide_as_rows_are_many():
    tree = DecisionTreeClassifier().fit([[0.0]] * 9 + [[1.0]], ["a"] * 9 + ["b"])
    ax = plot(tree)
    (edges,) = [one for one in ax.collections if one.get_gid() == "edges"]
    wide, narrow = edges.get_linewidths()
    assert wide == pytest.approx(0.6 + 4.4 * 0.9, rel=0.02)
    assert narrow == pytest.approx(0.6 + 4.4 * 0.1, rel=0.02)


def test_bars_are_as_long_as_shares():
    X, y = some_rows(3)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    ax = plot(tree)
    (bars,) = [one for one in ax.collections if one.get_gid() == "shares"]
    lengths = [np.ptp(path.vertices[:, 0]) for path in bars.get_paths()]
    first = tree.tree_.value[0, 0]
    assert np.array(lengths[:3]) / sum(lengths[:3]) == pytest.approx(first)


def test_trees_of_many_children_and_of_sets_are_drawn():
    X, y = colours_table()
    for model in (ID3Classifier(), CHAIDClassifier(min_parent=5, min_child=2), C45Classifier()):
        ax = plot(model.fit(X, y))
        assert overlaps(ax) == outside(ax) == 0
        assert len(boxes(ax)[0]) == model.n_nodes_
        assert sum("x0" in text for text in words_of(ax)) >= 2


def test_intervals_are_drawn():
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] > 20) & (X[:, 0] < 40)
    said = words_of(plot(DecisionTreeClassifier(numeric_split="interval", max_depth=1).fit(X, y)))
    assert any("20.5 < x0 ≤ 39.5" in text for text in said)


def test_shares_of_missing_values_and_surrogates_are_named():
    X, y = some_rows(5, gaps=0.2)
    parts = words_of(plot(DecisionTreeClassifier(missing="fractional", max_depth=2).fit(X, y)))
    assert any("\u00a0of\u00a0missing" in text for text in parts)
    X[:, 2] = X[:, 0] + 0.01
    by_others = words_of(plot(DecisionTreeClassifier(missing="surrogate", max_depth=2).fit(X, y)))
    assert any(text.startswith("missing: by x") for text in by_others)


def test_a_tree_of_a_forest_is_drawn_by_its_number():
    X, y = some_rows(6)
    forest = RandomForestClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, y)
    alone = [words_of(plot(forest, tree=t)) for t in range(3)]
    assert alone[0] != alone[1] != alone[2]
    assert alone[2] == words_of(plot(forest[2]))
    for wrong in (3, -1, 1.0, True):
        with pytest.raises(ValueError, match=r"tree=.*: must be the number of a tree, from 0 to 2"):
            plot(forest, tree=wrong)


def test_names_are_drawn_as_they_are():
    X, y = some_rows(8, k=2)
    names = ["$x^2$", "line\nbreak", r"\frac{1}", "<script>alert(1)</script>", "שלום"]
    classes = ["$no$", "_yes"]
    ax = plot(DecisionTreeClassifier(max_depth=4).fit(X, y), feature_names=names, class_names=classes)
    assert not any(text.get_parse_math() for text in ax.texts)
    assert any("$x^2$ ≤" in text for text in words_of(ax))
    assert not any("\n" in text or "\ufffd" in text for text in words_of(ax))
    from_the_right = words_of(plot(DecisionTreeClassifier(max_depth=2).fit(X, y), feature_names=["שלום"] * 5))
    assert any("שלום" in text for text in from_the_right)
    assert not any("\ufffd" in text for text in from_the_right)
    assert {"$no$", "_yes"} <= set(" ".join(words_of(ax)).split())
    assert outside(ax) == 0


def test_long_names_are_cut_short_in_the_middle():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a" * 50 + "b", "c"])
    said = words_of(plot(tree, feature_names=["begin" + "x" * 500 + "end"]))
    assert any(text.startswith("begin") and "…" in text and text.endswith("xxend") for text in said)
    assert max(map(len, said)) <= 28


@pytest.mark.parametrize("labels", [[1, 2], [True, False], [b"n", b"y"]])
def test_labels_need_not_be_text(labels):
    said = words_of(plot(DecisionTreeClassifier().fit([[0.0], [1.0]], labels)))
    assert {str(label) for label in labels} <= set(said)


def test_several_outputs_stand_in_one_box():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [["a", "x"], ["b", "y"]])
    assert {"a, x", "b, y"} <= set(words_of(plot(tree)))


def test_bad_input_is_named():
    X, y = some_rows(9)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(dtnumba.NotFittedError):
        plot(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a fitted estimator"):
        plot("tree")
    with pytest.raises(ValueError, match="2 names for 5 columns"):
        plot(tree, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="class_names"):
        plot(tree, class_names=["a"])
    with pytest.raises(ValueError, match="max_depth=-1: must be"):
        plot(tree, max_depth=-1)
    with pytest.raises(ValueError, match="direction='up': must be"):
        plot(tree, direction="up")
    with pytest.raises(TypeError, match="ax=int is no axes"):
        plot(tree, ax=3)


def test_compact_models_and_rules_say_what_to_do():
    X, y = some_rows(10)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    tree.compact()
    with pytest.raises(ValueError, match=r"plot: compact\(\) dropped the statistics"):
        plot(tree)
    X, y = colours_table(60)
    for rules in (RuleSetClassifier(), DecisionListClassifier()):
        with pytest.raises(ExportError, match=r"has no nodes to draw; print\(export.rules\(model\)\)"):
            plot(rules.fit(X, y))


def test_without_matplotlib_the_error_names_the_command(monkeypatch):
    X, y = some_rows(11)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'dtnumba\[plot\]'"):
        plot(tree)


def test_words_are_as_light_as_the_figure_is_dark():
    X, y = some_rows(13)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    plt = pytest.importorskip("matplotlib.pyplot")
    for behind, is_light in (("white", False), ("black", True), ("#F0E442", False)):
        _, ax = plt.subplots(facecolor=behind)
        ways = [text for text in plot(tree, ax=ax).texts if text.get_gid().startswith("way to")]
        assert ways
        assert {sum(plt.matplotlib.colors.to_rgb(text.get_color())) > 1.5 for text in ways} == {is_light}
    with plt.style.context("dark_background"):
        assert {text.get_color() for text in plot(tree).texts if text.get_gid().startswith("way to")} == {"#D0D0D0"}


def test_a_tree_of_depth_six_is_drawn_in_seconds():
    """A second is the promise; a busy machine has three."""
    X, y = some_rows(12, n=3000)
    tree = DecisionTreeClassifier(max_depth=6).fit(X, y)
    plot(tree).figure.canvas.draw()  # fonts are read
    start = time.process_time()
    plot(tree).figure.canvas.draw()
    assert time.process_time() - start < 3.0

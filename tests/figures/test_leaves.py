"""Bars of leaves: as wide as rows are many, as high as shares."""

import numpy as np
import pytest
from drawn import some_rows

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, plot


def test_widths_are_rows_and_heights_are_shares():
    X, y = some_rows(0)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    ax = plot.leaves(tree)
    assert len(ax.containers) == 3
    widths = np.array([[bar.get_width() for bar in bars] for bars in ax.containers])
    heights = np.array([[bar.get_height() for bar in bars] for bars in ax.containers])
    assert widths.sum(axis=1).tolist() == [300.0] * 3
    assert heights.sum(axis=0) == pytest.approx(np.ones(tree.n_leaves_))
    assert (widths * heights).sum(axis=1) == pytest.approx(np.bincount(y))


def test_numbers_stand_in_their_order():
    X, y = some_rows(1)
    ax = plot.leaves(DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0] + y))
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == sorted(heights)


def test_very_many_leaves_are_few_bars_of_as_many_rows():
    X, y = some_rows(3, n=4000)
    y = np.random.default_rng(3).integers(0, 3, len(X))
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.n_leaves_ > 1000
    bars = [list(one) for one in plot.leaves(tree).containers]
    assert len(bars[0]) <= 500
    assert [sum(bar.get_width() * bar.get_height() for bar in one) for one in bars] == pytest.approx(np.bincount(y))
    assert {bar.get_linewidth() for bar in bars[0]} == {0.0}
    numbers = plot.leaves(DecisionTreeRegressor().fit(X, X[:, 0])).patches
    assert len(numbers) <= 500
    assert sum(bar.get_width() * bar.get_height() for bar in numbers) == pytest.approx(X[:, 0].sum())


def test_of_several_outputs_it_says_which_it_draws():
    X, y = some_rows(4)
    both = plot.leaves(DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([y, y % 2])))
    assert both.get_ylabel() == "shares of classes, output 0 of 2"
    assert plot.leaves(DecisionTreeClassifier(max_depth=2).fit(X, y)).get_ylabel() == "shares of classes"


def test_bad_input_is_named():
    X, y = some_rows(2)
    forest = RandomForestClassifier(n_estimators=2, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="tree=2: must be the number of a tree, from 0 to 1"):
        plot.leaves(forest, tree=2)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    tree.compact()
    with pytest.raises(ValueError, match=r"plot.leaves: compact\(\)"):
        plot.leaves(tree)

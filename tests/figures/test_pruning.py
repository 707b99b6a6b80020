"""Curves of error against size, and what they mark."""

from itertools import pairwise

import numpy as np
import pytest
from drawn import some_rows

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, plot, pruners, validation


def test_a_complexity_curve_and_what_it_chooses():
    X, y = some_rows(0)
    curve = validation.complexity_curve(DecisionTreeClassifier(random_state=0), X, y, cv=5)
    ax = plot.pruning(curve)
    train, held = ax.lines[:2]
    assert train.get_ydata().tolist() == curve.train_error.tolist()
    assert held.get_ydata().tolist() == curve.validation_error.tolist()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[2].startswith(f"least error: {curve.best_size} lea")
    bound = curve.validation_error.min() + curve.validation_standard_error[curve.validation_error.argmin()]
    chosen = curve.sizes[curve.validation_error <= bound][0]
    assert texts[3].startswith(f"within one standard error: {chosen} lea")


def test_a_curve_draws_itself_as_the_figure_does():
    X, y = some_rows(0)
    curve = validation.complexity_curve(DecisionTreeClassifier(random_state=0), X, y, cv=5)
    drawn = [
        [(line.get_label(), np.asarray(line.get_xydata()).tolist()) for line in ax.lines]
        for ax in (plot.pruning(curve), curve.plot())
    ]
    assert drawn[0] == drawn[1]


def test_a_table_of_alphas_marks_the_choices_of_its_rules():
    X, y = some_rows(1)
    table = pruners.CostComplexity(cv=5).table(DecisionTreeClassifier(random_state=0), X, y)
    ax = plot.pruning(table)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[2].startswith(f"least error: {table.n_leaves[table.choice('0se')]} lea")
    assert texts[3].startswith(f"within one standard error: {table.n_leaves[table.choice('1se')]} lea")
    assert np.all(np.diff(ax.lines[0].get_xdata()) > 0)


def test_sizes_that_are_spread_and_alphas_that_are_many_have_numbers_that_are_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    ax = plot.pruning(validation.complexity_curve(DecisionTreeRegressor(random_state=0), X, y, cv=3))
    ax.figure.canvas.draw()
    assert {"10", "100"} <= {label.get_text() for label in ax.get_xticklabels()}
    table = pruners.CostComplexity(cv=3).table(DecisionTreeRegressor(random_state=0), X, y)
    assert len(table.alpha) > 30
    below = table.plot()
    below.figure.canvas.draw()
    (above,) = below.child_axes
    for labels in (below.get_xticklabels(), above.get_xticklabels()):
        boxes = sorted((box.x0, box.x1) for box in (label.get_window_extent() for label in labels))
        assert all(one[1] <= other[0] for one, other in pairwise(boxes))


def test_what_is_no_curve_is_named():
    with pytest.raises(TypeError, match=r"int is no curve; pass what validation\.complexity_curve"):
        plot.pruning(3)

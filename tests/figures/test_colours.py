"""Colours of classes are told apart, and legends of many classes stay inside."""

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, plot
from dtnumba.figures.colours import class_colours, tint

pytestmark = pytest.mark.small


@pytest.mark.parametrize("k", [2, 8, 9, 20, 30])
def test_classes_have_colours_of_their_own(k):
    found = class_colours(k)
    assert found.shape == (k, 3)
    assert np.all((found >= 0) & (found <= 1))
    apart = np.sqrt(((found[:, None] - found[None]) ** 2).sum(axis=2)) + 9 * np.eye(k)
    assert apart.min() > 0.06
    assert np.diag(apart, 1).min() > 0.24  # of neighbours
    assert tint(found, 1.0).min() > 0.3  # black text is read on it


def test_the_legend_of_many_classes_stays_in_the_axes():
    X = np.arange(200.0).reshape(100, 2)
    model = DecisionTreeClassifier().fit(X, [f"class {k // 5}" for k in range(100)])
    ax = plot.leaves(model)
    ax.figure.canvas.draw()
    inside, box = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert len(ax.get_legend().get_texts()) == 20
    assert inside.y0 <= box.y0
    assert box.y1 <= inside.y1

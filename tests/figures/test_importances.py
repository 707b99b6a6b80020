"""Bars of importances: their lengths, their order, their spread."""

import numpy as np
import pytest
from drawn import some_rows

from dtnumba import DecisionTreeClassifier, NotFittedError, RandomForestClassifier, RuleSetClassifier, plot


def test_bars_are_importances_and_their_spread():
    X, y = some_rows(0)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    ax = plot.importances(forest, feature_names=["$a$", "_b", "c" * 90, "d", "e"])
    order = np.argsort(-forest.feature_importances_)
    bars, spread = ax.containers[1], ax.containers[0]
    assert [bar.get_width() for bar in bars] == forest.feature_importances_[order].tolist()
    ends = np.array([segment[:, 0] for segment in spread[2][0].get_segments()])
    assert np.ptp(ends, axis=1) / 2 == pytest.approx(forest.importances_std_[order])
    labels = ax.get_yticklabels()
    assert {"$a$", "_b"} <= {text.get_text() for text in labels}
    assert max(len(text.get_text()) for text in labels) <= 28
    assert not any(text.get_parse_math() for text in labels)


def test_the_largest_are_shown_and_the_rest_is_counted():
    X, y = some_rows(1)
    ax = plot.importances(DecisionTreeClassifier().fit(X, y), max_features=2)
    assert len(ax.patches) == 2
    assert ax.get_title() == "3 more columns not shown"


def test_bad_input_is_named():
    X, y = some_rows(2)
    with pytest.raises(TypeError, match="RuleSetClassifier has no feature_importances_"):
        plot.importances(RuleSetClassifier().fit(X, y))
    with pytest.raises(NotFittedError):
        plot.importances(DecisionTreeClassifier())
    with pytest.raises(ValueError, match="1 names for 5 columns"):
        plot.importances(DecisionTreeClassifier().fit(X, y), feature_names=["a"])
    with pytest.raises(ValueError, match="max_features=0: must be"):
        plot.importances(DecisionTreeClassifier().fit(X, y), max_features=0)

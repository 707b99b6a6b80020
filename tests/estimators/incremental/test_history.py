"""Which tests gave way to others is told from one look at the tree to the next."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import interpreted_only, layout

from dtnumba import IncrementalTreeClassifier, load
from dtnumba.estimators.incremental.history import MOST_REMEMBERED, ReplacedSplit, replaced_splits


def leaf():
    return 0.5


def split(feature, threshold, *children):
    children = list(children) or [leaf(), leaf()]
    return {"feature": feature, "threshold": threshold, "missing": False, "children": children}


def told(before, after):
    found = replaced_splits(layout(before), layout(after), 7, 5)
    return [(one.depth, one.feature, one.threshold, one.by_feature) for one in found]


def test_equal_trees_have_nothing_to_tell():
    tree = split(0, 1.5, split(1, 2.0), leaf())
    assert told(tree, tree) == []
    assert told(leaf(), tree) == []  # a leaf that splits replaces no test


def test_another_column_ends_the_comparison_and_another_cut_does_not():
    before = split(0, 1.5, split(1, 2.0, split(2, 0.0), leaf()), split(1, 3.0))
    after = split(0, 1.0, split(2, 2.0, leaf(), leaf()), leaf())
    assert told(before, after) == [(0, 0, 1.5, 0), (1, 1, 2.0, 2), (1, 1, 3.0, -1)]


def test_a_model_tells_when_and_where(tmp_path):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = IncrementalTreeClassifier(n_jobs=1).partial_fit(X, [0, 0, 1, 1])
    assert model.history_ == []
    more = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 0]])
    model.partial_fit(more, [0, 1, 0, 1, 1, 0])
    first = ReplacedSplit(10, 10, 0, 4, 0, 0.5, 1, 0.5)
    assert model.history_ == [first]
    model.partial_fit(X[:1], [0])
    assert model.history_ == [first]
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.history_ == [first]
    for one in (model, again):
        one.forget_ids(np.arange(4, 11))
        last = one.history_[-1]
        assert (last.n_seen, last.n_held, last.feature, last.by_feature) == (11, 4, 1, 0)
    assert model.fit(X, [0, 0, 1, 1]).history_ == []


@interpreted_only
@given(st.integers(0, 2**20))
@settings(max_examples=5)
def test_it_is_empty_where_no_test_changed(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (60, 2)).astype(float)
    y = rng.integers(0, 2, 60)
    model = IncrementalTreeClassifier(n_jobs=1).fit(X[:40], y[:40])
    for k in range(40, 60):
        before, n = model.trees_, len(model.history_)
        model.partial_fit(X[k : k + 1], y[k : k + 1])
        after = model.trees_
        shared = min(len(before.feature), len(after.feature))
        same = np.array_equal(before.feature, after.feature[:shared]) and np.array_equal(
            before.threshold, after.threshold[:shared], equal_nan=True
        )
        assert (len(model.history_) == n) or not same
        assert len(model.history_) <= MOST_REMEMBERED

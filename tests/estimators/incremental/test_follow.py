"""Whether a change is followed or grown as a batch: by how many rows it is of, and by what the last such one cost."""

import numpy as np
import pytest
from strategies import interpreted_only, same_trees

from dtnumba import DecisionTreeClassifier, IncrementalTreeClassifier
from dtnumba.estimators.incremental import follow


@interpreted_only
@pytest.mark.parametrize("is_clear", [True, False])
def test_batches_that_regrow_most_rows_are_batch_fits_until_one_is_tried_again(is_clear, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.random((700, 3))
    y = (X[:, 0] > 0.5).astype(int) if is_clear else rng.integers(0, 2, 700)
    monkeypatch.setattr(follow, "_BATCH_FITS", 3)
    fits, grow = [], follow.Follower._grow_anew
    monkeypatch.setattr(follow.Follower, "_grow_anew", lambda *given: fits.append(1) or grow(*given))
    model, done = IncrementalTreeClassifier(n_jobs=1).partial_fit(X[:300], y[:300]), []
    n = 300
    for size in (1, 20, 20, 20, 1, 20, 20, 20, 20, 20, 20):
        before = len(fits)
        model.partial_fit(X[n : n + size], y[n : n + size])
        n += size
        done.append(len(fits) > before)
        assert same_trees(model.trees_, DecisionTreeClassifier(n_jobs=1).fit(X[:n], y[:n]).trees_)
    # The first of several is followed, as is a row by itself; the others are not, three at most. Then what follows is
    # made again, which tells nothing, and the next one is followed.
    whole = [False, False, True, True, False, False, True, True, True, False, False]
    assert done == ([False] * 11 if is_clear else whole)


@interpreted_only
def test_what_was_known_of_the_rows_of_a_tree_goes_with_it():
    rng = np.random.default_rng(4)
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    model = IncrementalTreeClassifier(n_jobs=1).partial_fit(X[:30], y[:30]).partial_fit(X[30:31], y[30:31])
    model.partial_fit(X[31:55], y[31:55]).forget_ids(range(24))  # a batch fit each, and as many rows as before
    model.partial_fit(X[55:56], y[55:56])
    held = model.ids_
    assert same_trees(model.trees_, DecisionTreeClassifier(n_jobs=1).fit(X[held], y[held]).trees_)

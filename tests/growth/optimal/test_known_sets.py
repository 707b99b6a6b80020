"""What sets that were solved say of one like them."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive

from dtnumba.growth.optimal.known_sets import SolvedSets, bound_by_like, remember_set


def rows_of(sets, worst):
    """Return the sets, one a side, as the search has its rows."""
    row = np.zeros((1, len(sets), 1, 200), np.int32)
    for side, rows in enumerate(sets):
        row[0, side, 0, : len(rows)] = rows
    size, none = np.array([[len(rows) for rows in sets]]), np.zeros(0, np.int64)
    return SimpleNamespace(row=row, size=size, worst=np.asarray(worst, np.int64), lost=none)


def nothing_known(n_sets, n_rows):
    words = -(-n_rows // 64)
    told = np.full((1, n_sets, 4), -1, np.int64)
    return SolvedSets(
        np.zeros((1, n_sets, words), np.uint64), told, np.zeros(1, np.int64), np.zeros((1, words), np.uint64)
    )


def test_a_set_bounds_those_that_have_all_of_it_or_nearly():
    n = 130
    sets = [np.arange(100), np.arange(n), np.arange(3, 100), np.arange(4, n)]
    rows, known = rows_of(sets, np.ones(n)), nothing_known(2, n)
    assert not bound_by_like(known, 0, rows, 0, 0, (2, 3, 0), 1, known.own[0])
    remember_set(known, 0, known.own[0], (2, 3, 0), 10)
    for side, lacks in enumerate([0, 0, 3, 4]):
        assert bound_by_like(known, 0, rows, 0, side, (2, 3, 0), 10 - lacks, known.own[0])
        assert not bound_by_like(known, 0, rows, 0, side, (2, 3, 0), 11 - lacks, known.own[0])
    # Larger trees may lose less, smaller ones not; tests are dearer where fewer columns are spent.
    assert bound_by_like(known, 0, rows, 0, 0, (1, 1, 0), 10, known.own[0])
    assert not bound_by_like(known, 0, rows, 0, 0, (3, 3, 0), 10, known.own[0])
    assert not bound_by_like(known, 0, rows, 0, 0, (2, 3, 1), 10, known.own[0])
    # Where nobody can say what a row loses, sets must have all of it.
    rows = rows_of(sets, [])
    assert bound_by_like(known, 0, rows, 0, 1, (2, 3, 0), 10, known.own[0])
    assert not bound_by_like(known, 0, rows, 0, 2, (2, 3, 0), 1, known.own[0])


def test_rows_that_no_test_parts_bound_a_set_of_which_nothing_is_known():
    rows, known = rows_of([np.arange(10), np.arange(4)], np.ones(10)), nothing_known(1, 10)
    rows.lost = np.array([0, 3, 0, 2, 4, 0, 0, 0, 0, 0])
    for side, lost in enumerate([9, 5]):
        assert bound_by_like(known, 0, rows, 0, side, (2, 3, 0), lost, known.own[0])
        assert not bound_by_like(known, 0, rows, 0, side, (2, 3, 0), lost + 1, known.own[0])


def test_the_oldest_set_is_forgotten():
    sets = [[k] for k in range(3)]
    rows, known = rows_of(sets, np.ones(3)), nothing_known(2, 3)
    for side in range(3):
        bound_by_like(known, 0, rows, 0, side, (1, 1, 0), 99, known.own[0])
        remember_set(known, 0, known.own[0], (1, 1, 0), 5)
    assert [bound_by_like(known, 0, rows, 0, side, (1, 1, 0), 5, known.own[0]) for side in range(3)] == [
        False,
        True,
        True,
    ]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_no_bound_is_above_what_a_set_loses(seed):
    rng = np.random.default_rng(seed)
    n = 12
    codes, y, weight = rng.integers(0, 3, (n, 2)), rng.integers(0, 2, n), rng.integers(1, 4, n)
    loss, tests = naive.class_loss(y, weight, 2, "error"), naive.divisions_of_codes(codes)
    masks = rng.random((8, n)) < 0.8
    rows, known = rows_of([np.flatnonzero(mask) for mask in masks], weight), nothing_known(4, n)
    for side, mask in enumerate(masks):
        best = int(naive.best_loss(mask, tests, loss, 2, 3))
        for upper in range(best + 1, best + 4):
            assert not bound_by_like(known, 0, rows, 0, side, (2, 3, 0), upper, known.own[0])
        remember_set(known, 0, known.own[0], (2, 3, 0), best)

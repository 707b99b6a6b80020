"""Where finished trees are put: a tree waits for its turn a little, and what is out of turn is put in order."""

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba.growth import columns as col
from dtnumba.growth.forest import arena as arenas
from dtnumba.growth.forest.arena import n_finished, new_arena, trees_of_arena

WIDTH = 3
SIZES = [3, 1, 5, 3, 1]  # nodes of each tree
LEVELS = [2, 0, 3, 0, 0]
SHARES = [4, 1, 6, 3, 2]


def filled(turns, *, lists_shares=False):
    """Return an arena in which trees took their places in these turns; what a tree holds tells of the tree alone."""
    arena = new_arena(16, len(SIZES), WIDTH, 8, lists_shares=lists_shares)
    for t in turns:
        amounts = SIZES[t], LEVELS[t], SHARES[t] if lists_shares else 0, 0  # and no sums
        at, level, share, _ = arena.start[:, t] = arena.used[:, 0]
        arena.used[:, 0] += amounts
        arena.stop[:, t] = arena.used[:, 0]
        arena.done[0] += 1
        draw, m = np.random.default_rng(t), SIZES[t]
        nodes = slice(at, at + m)
        arena.ints[:, nodes] = draw.integers(0, 100, (4, m))
        is_leaf = np.arange(m) >= m // 2
        for k in (1, 2):
            arena.ints[k, nodes] = np.where(is_leaf, col.LEAF, at + k + 2 * np.arange(m))
        arena.missing_left[nodes] = draw.integers(0, 2, m)
        arena.floats[:, nodes] = draw.random((4, m))
        arena.level_stop[nodes] = level + LEVELS[t]
        arena.level[level : level + LEVELS[t]] = draw.integers(0, 9, LEVELS[t])
        if lists_shares:
            arena.share_stop[nodes] = share + np.minimum(np.arange(m) + 1, SHARES[t])
            arena.share_stop[at + m - 1] = share + SHARES[t]
            arena.share_class[share : share + SHARES[t]] = draw.integers(0, WIDTH, SHARES[t])
            arena.share[share : share + SHARES[t]] = draw.random(SHARES[t])
        else:
            arena.value[nodes] = draw.random((m, WIDTH))
    return arena


def parts_of(trees):
    for part in trees:
        yield from part if isinstance(part, tuple) else (part,)


@pytest.mark.parametrize("lists_shares", [False, True])
@pytest.mark.parametrize("turns", [[0, 2, 1, 3, 4], [4, 3, 2, 1, 0], [1, 0, 4, 2, 3]])
def test_trees_that_took_their_places_out_of_turn_are_put_in_order(turns, lists_shares):
    expected = trees_of_arena(filled(range(5), lists_shares=lists_shares))
    found = trees_of_arena(filled(turns, lists_shares=lists_shares))
    assert found.n_trees == 5
    for mine, theirs in zip(parts_of(found), parts_of(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype


@pytest.mark.parametrize(("turns", "n"), [([0, 1, 4, 3], 2), ([1, 2], 0), ([4, 0], 1), ([], 0)])
def test_trees_behind_one_that_is_not_finished_are_none(turns, n):
    arena = filled(turns)
    assert n_finished(arena) == n
    trees, expected = trees_of_arena(arena), trees_of_arena(filled(range(n)))
    assert trees.n_trees == n
    for mine, theirs in zip(parts_of(trees), parts_of(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@interpreted_only
def test_a_tree_waits_a_little_for_one_that_is_not_grown():
    """It may be on a thread that the system does not run; then nobody waits any more."""
    arena, halt = new_arena(16, 4, WIDTH, 0), np.zeros(1, np.int64)
    assert arenas._take_place(arena, 1, (3, 0, 0, 0), halt) == 0
    assert arena.mixed[0] == 1
    arena.mixed[0] = 5
    assert arenas._take_place(arena, 3, (3, 0, 0, 0), halt) == 3
    assert arenas._take_place(arena, 0, (1, 0, 0, 0), halt) == 6
    assert arena.mixed[0] == 5
    assert n_finished(arena) == 2


@interpreted_only
def test_a_tree_that_does_not_fit_or_is_stopped_takes_no_place():
    arena, halt = new_arena(4, 1, WIDTH, 0), np.zeros(1, np.int64)
    assert arenas._take_place(arena, 0, (5, 0, 0, 0), halt) == -1
    assert arena.full[0] == 1
    assert n_finished(arena) == 0
    arena, halt = new_arena(4, 2, WIDTH, 0), np.ones(1, np.int64)
    assert arenas._take_place(arena, 1, (1, 0, 0, 0), halt) == -1

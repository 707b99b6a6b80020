"""Trees are drawn without overlap, with parents over their children, in linear time."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba.export.pictures.tidy import tidy

GAP = 0.5


def random_tree(rng, n_nodes, depth=8, most=4):
    children, depths = [[]], [0]
    for node in range(n_nodes):
        if node < len(children) and depths[node] < depth and (node == 0 or rng.random() < 0.6):
            for _ in range(rng.integers(2, most + 1)):
                children[node].append(len(children))
                children.append([])
                depths.append(depths[node] + 1)
    return children, np.array(depths)


@given(st.integers(0, 2**32 - 1))
@examples(500)
def test_no_node_overlaps_another(seed):
    rng = np.random.default_rng(seed)
    children, depths = random_tree(rng, int(rng.integers(1, 120)))
    width = rng.uniform(0.2, 5, len(children))
    place = tidy(children, width.tolist(), GAP)
    assert (place - width / 2).min() == pytest.approx(0, abs=1e-9)
    for depth in range(depths.max() + 1):
        level = np.flatnonzero(depths == depth)
        gaps = (place - width / 2)[level[1:]] - (place + width / 2)[level[:-1]]
        assert (gaps >= GAP - 1e-9).all()
    for node, own in enumerate(children):
        if own:
            assert place[node] == pytest.approx((place[own[0]] + place[own[-1]]) / 2)


def test_equal_subtrees_are_drawn_alike_and_mirrored_ones_mirrored():
    children = [[1, 2], [3, 4], [5, 6], [7, 8], [], [9, 10], [], *([[]] * 4)]
    place = tidy(children, [1.0] * len(children), GAP)
    assert place[3] - place[1] == pytest.approx(place[5] - place[2])
    mirrored = [[1, 2], [3, 4], [5, 6], [], [7, 8], [], [9, 10], *([[]] * 4)]
    other = tidy(mirrored, [1.0] * len(children), GAP)
    assert place.max() - place[0] == pytest.approx(other[0] - other.min())


def test_no_tree_and_one_node():
    assert len(tidy([], [])) == 0
    assert tidy([[]], [3.0]).tolist() == [1.5]


def test_time_grows_as_the_nodes_do():
    took = []
    for n in (20_000, 80_000):
        chain = [[2 * k + 1, 2 * k + 2] if k == 0 else [] for k in range(n + 1)]
        for k in range(1, n - 2, 2):
            chain[k + 1 if k % 4 == 1 else k] = [k + 2, k + 3]
        start = time.process_time()
        tidy(chain, [1.0] * len(chain))
        took.append(time.process_time() - start)
    assert took[1] < 12 * max(took[0], 0.02)  # four times the nodes; of a quadratic one sixteen times

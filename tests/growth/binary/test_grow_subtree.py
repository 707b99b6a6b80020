"""The loop that grows a subtree, and what it leaves to others."""

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier
from dtnumba.growth import columns as col
from dtnumba.growth.binary import grow_in_parallel
from dtnumba.growth.binary.grow_subtree import grow_below
from dtnumba.growth.nodes import Subtree
from dtnumba.runtime.records import worker_part

FLOOR = 40


class InHaste:
    """A crew of which somebody takes a node as soon as it is left, and has just written its split."""

    def __init__(self):
        self.taken = []

    def leave(self, job, scratch, node):
        self.taken.append(node)
        job.growing.nodes[node, col.FEATURE] = 0


@pytest.mark.small
@interpreted_only
@pytest.mark.parametrize("params", [{}, {"max_bins": 16}], ids=str)
def test_a_node_that_is_left_to_others_is_theirs_from_then_on(monkeypatch, params):
    crew, found = InHaste(), []

    def lead(job, scratches, n_rows):
        own = worker_part(scratches, 0)
        found.append(job.growing.nodes)
        grow_below(crew, Subtree(job, own), job, own, 0, FLOOR)
        for node in crew.taken:
            job.growing.nodes[node, col.FEATURE] = np.where(job.growing.nodes[node, col.LEFT] == col.LEAF, col.LEAF, 0)
        return lambda _: None

    monkeypatch.setattr(grow_in_parallel, "_alone", lead)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)).round(1), rng.integers(0, 2, 200)
    DecisionTreeClassifier(random_state=0, **params).fit(X, y)
    (nodes,) = found
    assert len(crew.taken) > 1
    sizes = nodes[crew.taken, col.STOP] - nodes[crew.taken, col.START]
    assert (sizes <= FLOOR).all()
    assert (nodes[crew.taken, col.LEFT] == col.LEAF).all(), "somebody else divided it as well"

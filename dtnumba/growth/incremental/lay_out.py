# mypy: ignore-errors
"""A followed tree as Trees: laid out as growth leaves a tree, and finished as every tree is."""

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.to_trees import drawn_thresholds, finish
from dtnumba.growth.incremental.state import BEST_GAIN, FEATURE, LEFT, MISSING_LEFT, NEXT_NODE, THRESHOLD
from dtnumba.growth.incremental.visit import Listed
from dtnumba.growth.nodes import new_growing
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.runtime.kernels import kernel


@kernel
def lay_rows(nodes, rows, ends, stack):
    """Write the rows of the leaves side by side, left ones first, and where the rows of each node begin and end.

    rows (n,) uint32 out · ends (m, 2) int32 out · stack (m,) int64 scratch
    """
    link, n, top = nodes.link, np.int64(0), 1
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        ends[node, 0], ends[node, 1] = n, n + nodes.n_rows[node]
        if link[node, LEFT] >= 0:
            stack[top], stack[top + 1] = link[node, LEFT] + 1, link[node, LEFT]
            top += 2
        else:
            start = nodes.place[node, 0]
            for i in range(nodes.n_rows[node]):
                rows[n + i] = nodes.pool[start + i]
            n += nodes.n_rows[node]
    return n


def trees_of(tree, width):
    """Return the Trees of a followed tree, of ``width`` numbers a node."""
    nodes = tree.nodes
    m = int(nodes.used[NEXT_NODE])
    rows, ends = np.empty(int(nodes.n_rows[0]), np.uint32), np.zeros((m, 2), np.int32)
    lay_rows(nodes, rows, ends, np.empty(m + 2, np.int64))
    growing = new_growing(m, 1, 1, False, False)
    grown, link = growing.nodes, nodes.link[:m]
    grown[:m, col.FEATURE], grown[:m, col.LEFT] = link[:, FEATURE], link[:, LEFT]
    grown[:m, col.MISSING_LEFT], grown[:m, col.SLOT] = link[:, MISSING_LEFT], col.NO_SLOT
    grown[:m, col.FIRST_RIGHT] = np.where(np.isinf(nodes.number[:m, THRESHOLD]), NOTHING, 0)
    grown[:m, [col.START, col.STOP]] = ends
    growing.numbers[:m, col.GAIN] = nodes.number[:m, BEST_GAIN]
    growing.numbers[:m, col.CUT] = nodes.number[:m, THRESHOLD]
    listed = Listed(rows) if tree.levels is None else tree.levels.around(Listed(rows))
    own = growing, tree.target, tree.criterion, listed, drawn_thresholds
    return finish(*own, width, tree.workers, tree.n_features)

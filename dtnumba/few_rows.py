"""A few rows to the votes of a forest, on the calling thread: twelve trees in lockstep for one row.

One call of a kernel that is given arrays and numbers alone, because a task would take longer to hand over than a row
takes. Votes are added in the order of the trees, as everywhere.
"""

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.lanes import LANES, rotated, same, twelve, walk
from dtnumba.packed_forest import Mixed, Narrow, Wide, answer_at


@inline
def vote(nodes, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out):
    """Write the mean of what the leaves of every row say; an extra column in front gets what is left to one."""
    n_trees, width = len(starts), answers.shape[1] + n_extra
    for row in range(n_rows):
        base, to = np.uint64(first_row + row * row_step), row * width
        said = -0.0  # of the first column, in a register; the only number that adding to another never changes
        for k in range(width):
            out[to + k] = -0.0
        for t in range(0, n_trees, LANES):
            own = twelve(firsts, t)
            leaves = walk(nodes, depth, own, flat, same(base))
            for j in range(LANES):
                if t + j < n_trees:
                    at = starts[t + j] + answer_at(nodes, own[0], leaves[0])
                    said += answers[at, 0]
                    for k in range(1, answers.shape[1]):
                        out[to + n_extra + k] += answers[at, k]
                own, leaves = rotated(own), rotated(leaves)
        out[to + n_extra] = said
        for k in range(n_extra, width):
            out[to + k] /= n_trees
        if n_extra == 1:
            out[to] = 1.0 - out[to + 1]


@kernel
def vote_narrow(words, thresholds, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out):
    """Vote with nodes of 8 bytes."""
    nodes = Narrow(words, thresholds)
    vote(nodes, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out)


@kernel
def vote_wide(words, thresholds, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out):
    """Vote with nodes of 16 bytes."""
    nodes = Wide(words, thresholds)
    vote(nodes, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out)


@kernel
def vote_mixed(
    words, thresholds, levels, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out
):
    """Vote with nodes that may test a category."""
    nodes = Mixed(words, thresholds, levels)
    vote(nodes, depth, firsts, starts, answers, flat, first_row, row_step, n_rows, n_extra, out)


def voter(packed):
    """Return the kernel of a packed forest, and its first arguments."""
    nodes = packed.nodes
    arguments = (*nodes, packed.depth, packed.firsts, packed.starts, packed.answers)
    if isinstance(nodes, Mixed):
        return vote_mixed, arguments
    return vote_narrow if isinstance(nodes, Narrow) else vote_wide, arguments

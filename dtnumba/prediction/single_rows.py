# mypy: ignore-errors
"""A few rows to the votes of a forest, on the calling thread: twelve trees in lockstep for one row.

One call of a kernel that is given arrays and numbers alone, because a task would take longer to hand over than a row
takes. Votes are added in the order of the trees, as everywhere.
"""

import numpy as np

from dtnumba.prediction.lockstep import rotated, same, twelve, walk
from dtnumba.prediction.packed_forest import N_WALKS, FewAnswers, Mixed, Narrow, Wide, answer_at, step
from dtnumba.runtime.kernels import inline, kernel


@inline
def alone(nodes, depth, first, flat, base):
    """Return the leaf of a row in one tree; a leaf leads to itself."""
    node = np.uint64(1)
    for _ in range(depth):
        after = step(nodes, first, node, flat, base)
        if after == node:
            break
        node = after
    return node


@inline
def vote(nodes, depth, firsts, starts, answers, flat, where, out):
    """Write the mean of what the leaves of every row say; an extra column in front gets what is left to one.

    ``where`` is (position of the first row, step between rows, number of rows, number of extra columns).
    """
    first_row, row_step, n_rows, n_extra = where
    n_trees, width = len(starts), answers.shape[1] + n_extra
    for row in range(n_rows):
        base, to = np.uint64(first_row + row * row_step), row * width
        if n_trees == 1:  # eleven more walks through the same nodes take as long as the call
            at = starts[0] + answer_at(nodes, firsts[0], alone(nodes, depth, firsts[0], flat, base))
            for k in range(width):
                out[to + k] = answers[at, k]
            continue
        values = -0.0  # of the first column, in a register; the only number that adding to another never changes
        for k in range(width):
            out[to + k] = -0.0
        for t in range(0, n_trees, N_WALKS):
            own = twelve(firsts, t)
            leaves = walk(nodes, depth, own, flat, same(base))
            for j in range(N_WALKS):
                if t + j < n_trees:
                    at = starts[t + j] + answer_at(nodes, own[0], leaves[0])
                    values += answers[at, 0]
                    for k in range(1, answers.shape[1]):
                        out[to + n_extra + k] += answers[at, k]
                own, leaves = rotated(own), rotated(leaves)
        out[to + n_extra] = values
        for k in range(n_extra, width):
            out[to + k] /= n_trees
        if n_extra == 1:
            out[to] = 1.0 - out[to + 1]


@kernel
def vote_narrow(words, thresholds, depth, firsts, starts, answers, flat, where, out):
    """Vote with nodes of 8 bytes."""
    nodes = Narrow(words, thresholds)
    vote(nodes, depth, firsts, starts, answers, flat, where, out)


@kernel
def vote_wide(words, thresholds, depth, firsts, starts, answers, flat, where, out):
    """Vote with nodes of 16 bytes."""
    nodes = Wide(words, thresholds)
    vote(nodes, depth, firsts, starts, answers, flat, where, out)


@kernel
def vote_mixed(words, thresholds, levels, shape, answers, flat, where, out):
    """Vote with nodes that may test a category."""
    depth, firsts, starts = shape
    vote(Mixed(words, thresholds, levels), depth, firsts, starts, answers, flat, where, out)


@kernel
def vote_linear(nodes, shape, answers, flat, where, out):
    """Vote with nodes that may test a sum over several columns."""
    depth, firsts, starts = shape
    vote(nodes, depth, firsts, starts, answers, flat, where, out)


@kernel
def vote_few(nodes, depth, firsts, starts, answers, flat, where, out):
    """Vote with answers that are few numbers of very many, one column a class."""
    first_row, row_step, n_rows, _ = where
    n_trees, width = len(starts), len(out) // n_rows
    for row in range(n_rows):
        base, to = np.uint64(first_row + row * row_step), row * width
        for k in range(to, to + width):
            out[k] = 0.0
        for t in range(0, n_trees, N_WALKS):
            own = twelve(firsts, t)
            leaves = walk(nodes, depth, own, flat, same(base))
            for j in range(N_WALKS):
                if t + j < n_trees:
                    at = starts[t + j] + answer_at(nodes, own[0], leaves[0])
                    for i in range(answers.start[at], answers.start[at + 1]):
                        out[to + answers.column[i]] += answers.number[i]
                own, leaves = rotated(own), rotated(leaves)
        for k in range(to, to + width):
            out[k] /= n_trees


def voter(packed):
    """Return the kernel of a packed forest, and its first arguments."""
    nodes = packed.nodes
    if isinstance(packed.answers, FewAnswers):
        return vote_few, (nodes, packed.depth, packed.firsts, packed.starts, packed.answers)
    shape = packed.depth, packed.firsts, packed.starts
    if packed.has_sums:
        return vote_linear, (nodes, shape, packed.answers)
    if isinstance(nodes, Mixed):
        return vote_mixed, (*nodes, shape, packed.answers)
    return vote_narrow if isinstance(nodes, Narrow) else vote_wide, (*nodes, *shape, packed.answers)

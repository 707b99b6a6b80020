"""The rule of descent: which child a value goes to. Whoever follows a tree asks here."""

import numpy as np

from dtnumba._jit import inline


@inline
def child_of(trees, node, x):
    """Return the child that value x goes to, for any test a node can hold: threshold, ranges, categories."""
    left = np.int64(trees.left[node])
    has_map = len(trees.branch_start) > 1 and trees.branch_start[node + 1] > trees.branch_start[node]
    has_cuts = len(trees.cut_start) > 1 and trees.cut_start[node + 1] > trees.cut_start[node]
    if not has_map and not has_cuts:
        if x != x:
            return left if trees.missing_left[node] else left + 1
        return left if x <= trees.threshold[node] else left + 1
    if x != x:
        return left + trees.missing_left[node]
    place = np.int64(0)
    if has_cuts:
        for k in range(trees.cut_start[node], trees.cut_start[node + 1]):
            place += trees.cut[k] < x
        if not has_map:
            return left + place
    elif x < 0 or x >= trees.branch_start[node + 1] - trees.branch_start[node]:
        return left + trees.missing_left[node]  # a category never seen is a missing value
    else:
        place = np.int64(x)
    return left + trees.branch[trees.branch_start[node] + place]

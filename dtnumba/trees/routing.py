# mypy: ignore-errors
"""The rule of descent: which child a value goes to. The packed forms of ``prediction`` have their own, faster ones."""

import numpy as np

from dtnumba.runtime.instructions.bits import lower_bound
from dtnumba.runtime.kernels import inline
from dtnumba.tables.floats import BETWEEN_VALUES, Between, compared
from dtnumba.trees.layout import STAYS
from dtnumba.trees.linear import tested_value


def as_asked(trees, bits):
    """Return trees with the thresholds that rows of floats of so many bits are compared with as they are."""
    if isinstance(trees.cuts_at, Between):
        return trees
    threshold = compared(trees.threshold, trees.feature, trees.cuts_at, bits)
    return trees._replace(threshold=threshold, cuts_at=BETWEEN_VALUES)


@inline
def is_among(levels, start, stop, x):
    """Tell whether a category is among ascending ones; by binary search."""
    at = lower_bound(levels, start, stop, x)
    return at < stop and levels[at] == x


@inline
def child_number(trees, node, x):
    """Return the number of the child that value x goes to; -1 for a missing value or a category without a child."""
    if x != x:
        return np.int64(-1)
    has_map = len(trees.branch_start) > 1 and trees.branch_start[node + 1] > trees.branch_start[node]
    has_cuts = len(trees.cut_start) > 1 and trees.cut_start[node + 1] > trees.cut_start[node]
    if not has_map and not has_cuts:
        if len(trees.level_start) > 1 and trees.level_start[node + 1] > trees.level_start[node]:
            is_left = is_among(trees.level, trees.level_start[node], trees.level_start[node + 1], x)
            return np.int64(0) if is_left else np.int64(1)
        return np.int64(0) if x <= trees.threshold[node] else np.int64(1)
    place = np.int64(0)
    if has_cuts:
        for k in range(trees.cut_start[node], trees.cut_start[node + 1]):
            place += trees.cut[k] < x
        if not has_map:
            return place
    elif x < 0 or x >= trees.branch_start[node + 1] - trees.branch_start[node]:
        return np.int64(-1)  # a category never seen is a missing value
    else:
        place = np.int64(x)
    return np.int64(trees.branch[trees.branch_start[node] + place])


def ways_of(trees, node, x):
    """Return the number of the child that each of many values goes to from a node, missing ones too; -1 where it stays.

    In NumPy, for passes that go through a graph a node at a time.
    """
    lengths = [start[node + 1] - start[node] if len(start) > 1 else 0 for start in _starts(trees)]
    n_cuts, n_branches, n_levels = lengths
    if n_cuts or n_branches:
        place = np.searchsorted(trees.cut[trees.cut_start[node] : trees.cut_start[node + 1]], x) if n_cuts else x
        if not n_branches:
            way = place
        else:
            known = (x == x) if n_cuts else (x >= 0) & (x < n_branches)
            at = np.where(known, place, 0).astype(np.int64)
            way = np.where(known, trees.branch[trees.branch_start[node] + at], -1)
    elif n_levels:
        own = trees.level[trees.level_start[node] : trees.level_start[node + 1]]
        way = np.where(np.isin(x, own), 0, 1)
    else:
        way = np.where(x <= trees.threshold[node], 0, 1)
    missing = np.int64(trees.missing_left[node])
    absent = -1 if missing == STAYS else missing if n_cuts or n_branches else 1 - missing
    return np.where(np.isnan(x) | (way < 0), absent, way).astype(np.int64)


def _starts(trees):
    return trees.cut_start, trees.branch_start, trees.level_start


@inline
def _is_plain(trees, node):
    """Tell whether ``missing_left`` of a node is 1 for the left child, and not the number of a child."""
    no_map = len(trees.branch_start) == 1 or trees.branch_start[node + 1] == trees.branch_start[node]
    return no_map and (len(trees.cut_start) == 1 or trees.cut_start[node + 1] == trees.cut_start[node])


@inline
def child_without(trees, node):
    """Return the child that a missing value goes to, -1 where it stays at the node."""
    missing = np.int64(trees.missing_left[node])
    if missing == STAYS:
        return np.int64(-1)
    return np.int64(trees.left[node]) + (1 - missing if _is_plain(trees, node) else missing)


@inline
def _side_of(surrogates, s, x):
    """Return the child to which a surrogate sends x, 0 or 1; -1 where x is missing or a category it does not know."""
    if x != x:
        return np.int64(-1)
    if surrogates.threshold[s] == surrogates.threshold[s]:
        return np.int64((x <= surrogates.threshold[s]) != (surrogates.below_left[s] == 1))
    first = surrogates.branch_start[s]
    if x < 0 or x >= surrogates.branch_start[s + 1] - first:
        return np.int64(-1)
    return np.int64(surrogates.branch[first + np.int64(x)])


@inline
def step(trees, node, cells, row):
    """Return the child that a row goes to, by surrogates where its value is missing; -1 where it stays."""
    at = cells.offset + row * cells.row_step
    child = child_number(trees, node, tested_value(trees.linear, trees.feature[node], node, cells, at))
    own = trees.surrogates
    if child < 0 and len(own.start) > 1:
        s = own.start[node]
        while child < 0 and s < own.start[node + 1]:
            child = _side_of(own, s, np.float64(cells.flat[at + np.int64(own.feature[s]) * cells.column_step]))
            s += 1
    return np.int64(trees.left[node]) + child if child >= 0 else child_without(trees, node)

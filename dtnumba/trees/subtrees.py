"""Bottom-up sums over all trees, one depth at a time; and ``rebuilt``, which replaces subtrees by leaves or by others.

No recursion: a pass per depth serves all trees of a forest together, and the deepest tree as well as the widest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.costs import risks
from dtnumba.trees.assemble import ragged
from dtnumba.trees.layout import (
    BY_SURROGATE,
    LEAF,
    NO_SURROGATES,
    RAGGED,
    Surrogates,
    Trees,
    count_up,
    last_children,
)
from dtnumba.trees.linear import picked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_BLOCK_CELLS = 1 << 18


class Level(NamedTuple):
    """The inner nodes of one depth, in the order of their numbers, and their children."""

    inner: NDArray[np.int64]
    children: NDArray[np.int64]  # those of a node side by side
    starts: NDArray[np.int64]  # where the children of each inner node begin
    fan: NDArray[np.int64]  # how many each has


def depth_levels(trees: Trees) -> list[Level]:
    """Return the levels of all trees, roots first; none below the deepest inner nodes.

    Decision graphs have none: what several nodes share would be counted once for each way to it.
    """
    if trees.is_graph:
        raise ValueError("a decision graph has no subtrees: branches join; do this to the tree it was made of")
    levels, nodes, last = [], np.asarray(trees.root[:-1]), last_children(trees)
    while len(nodes):
        inner = nodes[trees.feature[nodes] != LEAF]
        first = trees.left[inner].astype(np.int64)
        fan = last[inner].astype(np.int64) - first + 1
        starts = np.cumsum(fan) - fan
        nodes = np.repeat(first, fan) + count_up(fan)
        if len(inner):
            levels.append(Level(inner, nodes, starts, fan))
    return levels


def below(levels: list[Level], at_leaf: NDArray[Any], combine: Any = np.add) -> NDArray[Any]:
    """Return, for every node, ``combine`` over the leaves below it of what they have; a leaf is below itself.

    Parameters
    ----------
    levels : list of Level
        Those of the trees.
    at_leaf : array of shape (nodes,) or (nodes, k)
        Read at leaves alone.
    combine : ufunc
        ``np.add``, ``np.minimum``, ``np.maximum``, ...

    """
    total = at_leaf.copy()
    for level in reversed(levels):
        total[level.inner] = combine.reduceat(total[level.children], level.starts)
    return total


def squares_below(
    levels: list[Level], at: NDArray[np.int64], y: NDArray[Any], weight: NDArray[Any], values: NDArray[Any]
) -> NDArray[np.float64]:
    """Return, for every node, the weighted squares of what its rows differ from its value by.

    Leaves tell weight, mean and spread around it, and nodes those of their children together, so that a node whose rows
    are small beside others loses no digits.

    Parameters
    ----------
    levels : list of Level
        Those of the trees.
    at : array of shape (rows,)
        The leaf of every row.
    y, weight : arrays of shape (rows,)
        The targets, and what they count.
    values : array of shape (nodes,)
        What every node says.

    """
    m = len(values)
    heft = np.bincount(at, weights=weight, minlength=m)
    each = np.where(heft > 0.0, heft, 1.0)
    mean = np.bincount(at, weights=weight * y, minlength=m) / each
    mean += np.bincount(at, weights=weight * (y - mean[at]), minlength=m) / each
    spread = np.bincount(at, weights=weight * (y - mean[at]) ** 2, minlength=m)
    for level in reversed(levels):
        own, inner = heft[level.children], level.inner
        heft[inner] = np.add.reduceat(own, level.starts)
        each = np.where(heft[inner] > 0.0, heft[inner], 1.0)
        mean[inner] = np.add.reduceat(own * mean[level.children], level.starts) / each
        away = own * (mean[level.children] - np.repeat(mean[inner], level.fan)) ** 2
        spread[inner] = np.add.reduceat(spread[level.children] + away, level.starts)
    return np.asarray(spread + heft * (mean - values) ** 2)


def added_up(levels: list[Level], total: NDArray[Any]) -> NDArray[Any]:
    """Add what nodes have to all above them, in place; return it."""
    for level in reversed(levels):
        total[level.inner] += np.add.reduceat(total[level.children], level.starts)
    return total


def leaves_below(trees: Trees, levels: list[Level]) -> NDArray[np.int64]:
    """Return the number of leaves below every node, one for a leaf."""
    return below(levels, np.ones(trees.n_nodes, np.int64))


def nodes_below(trees: Trees, levels: list[Level]) -> NDArray[np.int64]:
    """Return the number of nodes in the subtree of every node, one for a leaf."""
    return added_up(levels, np.ones(trees.n_nodes, np.int64))


def postorder(trees: Trees, levels: list[Level]) -> NDArray[np.int64]:
    """Return the place of every node in postorder, for one tree."""
    size = nodes_below(trees, levels)
    first = np.zeros(trees.n_nodes, np.int64)
    for level in levels:
        sizes = size[level.children]
        ahead = np.cumsum(sizes) - sizes
        first[level.children] = ahead + np.repeat(first[level.inner] - ahead[level.starts], level.fan)
    return first + size - 1


def parents(trees: Trees, levels: list[Level]) -> NDArray[np.int64]:
    """Return the parent of every node, -1 of a root."""
    parent = np.full(trees.n_nodes, -1, np.int64)
    for level in levels:
        parent[level.children] = np.repeat(level.inner, level.fan)
    return parent


def tree_of_nodes(trees: Trees) -> NDArray[np.int64]:
    """Return the number of the tree that each node stands in."""
    return np.repeat(np.arange(trees.n_trees), np.diff(trees.root))


def class_weights_of(trees: Trees, sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return the weight of each class in every node, an array (nodes, classes) for each output.

    A share times a weight misses a whole number by some rounding; what misses one by so little is that number.
    """
    counts = trees.value * trees.weight[:, None]
    whole = np.rint(counts)
    counts = np.where(np.abs(counts - whole) <= 1e-12 * trees.weight[:, None], whole, counts)
    return np.split(counts, np.cumsum(sizes)[:-1], axis=1)


def errors_of_nodes(trees: Trees) -> NDArray[np.float64]:
    """Return the weight of wrong labels of every node as a leaf, for trees of classes of one output.

    Nodes are looked at in blocks: of many classes a copy of what all nodes say is large.
    """
    (m, k), errors = trees.value.shape, np.empty(trees.n_nodes)
    for at in blocks_of(m, k):
        part = trees._replace(value=trees.value[at], weight=trees.weight[at])
        errors[at] = errors_as_leaf(class_weights_of(part, [k]))
    return errors


def blocks_of(n_rows: int, n_columns: int) -> list[slice]:
    """Return blocks of rows that have few cells together."""
    step = max(_BLOCK_CELLS // max(n_columns, 1), 1)
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def errors_as_leaf(counts: list[NDArray[np.float64]], costs: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the weight of wrong labels, or with costs what they cost, for every row of counts, summed over outputs."""
    errors = np.zeros(len(counts[0]))
    for of in counts:
        errors += risks(of, costs)
    return errors


def cut_below(trees: Trees, is_leaf: NDArray[np.bool_]) -> Trees:
    """Return the trees in which the marked nodes are leaves, without the nodes below them.

    Nodes keep their order, so that the numbers of a canonical tree stay canonical. Of nodes that are leaves already,
    or hang below another marked one, the mark changes nothing.
    """
    return rebuilt(trees, depth_levels(trees), is_leaf)


def rebuilt(
    trees: Trees, levels: list[Level], is_leaf: NDArray[np.bool_], stand_in: NDArray[np.int64] | None = None
) -> Trees:
    """Return the trees in which some nodes became leaves, and others were replaced by a node below them.

    Parameters
    ----------
    trees : Trees
        Not compact; they stay as they are.
    levels : list of Level
        Those of the trees.
    is_leaf : array of bool, by node
        Where a leaf takes the place of a subtree.
    stand_in : array of int, by node, optional
        The node below that stands in for each, with all that hangs below it; a node that stays stands for itself.

    """
    final = np.arange(trees.n_nodes) if stand_in is None else final_stand_in(stand_in)
    kept = places_left(trees, levels, is_leaf, final)
    source, number = final[kept], np.cumsum(kept) - 1
    ends = is_leaf[source] | (trees.feature[source] == LEAF)
    columns: dict[str, Any] = {
        "feature": np.where(ends, LEAF, trees.feature[source]).astype(trees.feature.dtype),
        "threshold": np.where(ends, np.nan, trees.threshold[source]),
        "missing_left": np.where(ends, 0, trees.missing_left[source]).astype(np.uint8),
        "gain": np.where(ends, 0.0, trees.gain[source]),
    }
    for name in ("left", "right"):
        columns[name] = np.where(ends, LEAF, number[getattr(trees, name)[source]]).astype(np.int32)
    for name in ("value", "n_samples", "weight", "impurity"):
        columns[name] = getattr(trees, name)[source]
    for start, name in RAGGED:
        columns[start], columns[name] = _ragged_of(getattr(trees, start), getattr(trees, name), source, ends)
    n_kept = np.add.reduceat(kept, trees.root[:-1], dtype=np.int64)
    columns["share"] = trees.share[kept] if len(trees.share) else trees.share  # of the place, whoever takes it
    columns["surrogates"] = _surrogates_of(trees.surrogates, source, ends)
    columns["linear"] = picked(trees.linear, source, ends)
    root = np.concatenate([[0], np.cumsum(n_kept)]).astype(np.int64)
    return Trees(root=root, policy=trees.policy, cuts_at=trees.cuts_at, adds_both=trees.adds_both, **columns)


def _surrogates_of(given: Surrogates, source: NDArray[np.int64], ends: NDArray[np.bool_]) -> Surrogates:
    """Return the surrogates of the nodes at each place; a leaf has none."""
    start, which = _ragged_of(given.start, np.arange(len(given.feature)), source, ends)
    if not len(which):
        return NO_SURROGATES
    own = {name: getattr(given, name)[which] for name in BY_SURROGATE}
    branch_start, branch = _ragged_of(given.branch_start, given.branch, which, np.zeros(len(which), bool))
    if len(branch_start) == 1:
        branch_start = np.zeros(len(which) + 1, np.int64)
    return Surrogates(start=start, branch_start=branch_start, branch=branch, **own)


def final_stand_in(stand_in: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the last node of each chain of stand-ins."""
    while True:
        further = stand_in[stand_in]
        if np.array_equal(further, stand_in):
            return stand_in
        stand_in = further


def places_left(
    trees: Trees, levels: list[Level], is_leaf: NDArray[np.bool_], final: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which nodes keep their place: those below a replaced node lose it, unless they are below its stand-in."""
    kept, stands = np.zeros(trees.n_nodes, bool), np.zeros(trees.n_nodes, bool)  # stands: at some place
    kept[trees.root[:-1]] = stands[final[trees.root[:-1]]] = True
    for level in levels:
        places = level.children[np.repeat(stands[level.inner] & ~is_leaf[level.inner], level.fan)]
        kept[places] = stands[final[places]] = True
    return kept


def _ragged_of(
    start: NDArray[np.int64], entries: NDArray[Any], source: NDArray[np.int64], ends: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return a ragged column for the nodes at each place; a leaf has no entries."""
    if len(start) == 1:
        return start, entries
    begin, places = ragged(start[:-1][source], np.where(ends, 0, np.diff(start)[source]))
    return begin, entries[places]


def nested_sums(
    trees: Trees, levels: list[Level], at: NDArray[Any], each: NDArray[np.float64], marks: NDArray[Any]
) -> NDArray[np.float64]:
    """Return, for every mark, the sum over the leaves of the subtree that keeps the inner nodes with ``at`` above it.

    All subtrees cost one sort: going on from one to the next swaps a node's number for those of its children.

    Parameters
    ----------
    trees : Trees
        One tree.
    levels : list of Level
        Its levels.
    at : array of shape (nodes,)
        Nowhere larger than at the parent, so that the subtrees are nested; not read at leaves.
    each : array of shape (nodes,)
        What a node adds as a leaf.
    marks : array
        Any numbers.

    """
    if not levels:
        return np.full(len(marks), each[0])
    inner = np.concatenate([level.inner for level in levels])
    swapped = np.concatenate([np.add.reduceat(each[level.children], level.starts) for level in levels]) - each[inner]
    order = np.argsort(-at[inner], kind="stable")
    sums = np.concatenate([[each[0]], each[0] + np.cumsum(swapped[order])])
    from_leaves = each[trees.feature == LEAF].sum() - np.cumsum(swapped[order][::-1])[::-1]
    nearer = np.abs(sums[:-1]) < 0.5 * abs(each[0])  # to the leaves: what is small there is no rest of rounding
    sums[:-1][nearer], sums[-1] = from_leaves[nearer], each[trees.feature == LEAF].sum()
    n_kept = len(inner) - np.searchsorted(at[inner][order][::-1], marks, side="right")
    return np.asarray(sums[n_kept])

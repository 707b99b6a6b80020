"""Bits that describe a tree or a decision graph, and the labels of rows for one who knows it (Quinlan & Rivest 1989).

A test says its column, and then what it does with it: thresholds and cuts name themselves among those there are. A
category that was split into all its values is spent for the nodes below. Leaves say their class, and which rows are
exceptions. Wallace & Patrick (1993) count the shape of the tree, and the labels in a leaf, differently; Oliver, Dowe &
Wallace (1992) say how branches join.

The criterion ``mdl`` has the code of leaves as a kernel (``criteria.description_length``).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.special_functions import LOG2_E, log2_choose, log_gamma
from dtnumba.trees.layout import LEAF, nodes_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


# A test, a leaf and a join are as likely as each other, before anything is known of an end.
JOINS, STANDS_ALONE = math.log2(3.0), math.log2(1.5)


class MessageParts(NamedTuple):
    """The parts of a message, in bits; ``total`` is their sum."""

    structure: float  # which ends are tests, leaves or joins, and which of these meet
    tests: float
    data: float  # the labels of the rows

    @property
    def total(self) -> float:
        """Bits of the whole message."""
        return self.structure + self.tests + self.data


def test_bits(
    trees: Trees, levels: list[Level], n_features: int, cuts: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the bits that say what each inner node tests; 0 at leaves.

    Parameters
    ----------
    trees, levels : Trees, list of Level
        The trees and their levels.
    n_features : int
        Columns that a test may choose from.
    cuts : array of shape (features,), optional
        How many cuts each column offers; a column of one cut is spent by its test. None: one fewer than the node has
        rows, which is as many as there can be.

    """
    bits, spends = _asked(trees, cuts, trees.n_samples)
    spent = np.zeros(trees.n_nodes, np.int64)
    for level in levels:
        spent[level.children] = np.repeat((spent + spends)[level.inner], level.fan)
    return bits + np.where(trees.feature != LEAF, np.log2(np.maximum(n_features - spent, 1)), 0.0)


def _asked(
    trees: Trees, cuts: NDArray[np.float64] | None, n_rows: NDArray[Any], *, by_weight: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:  # fmt: skip
    """Return the bits that say what each inner node does with its column, and whether that is spent below."""
    inner = trees.feature != LEAF
    n_cuts, n_entries, n_levels = (
        _lengths(start, trees.n_nodes) for start in (trees.cut_start, trees.branch_start, trees.level_start)
    )
    fan = np.where(inner, trees.right - trees.left + 1, 1)
    n_parted = _n_parted(trees, n_entries)
    is_for_missing = fan == n_parted + 1  # a child that no category goes to
    splits_all = ((fan == n_parted) | is_for_missing) & (n_cuts == 0) & inner & (n_parted > 0)
    is_threshold = inner & (n_cuts == 0) & (n_entries == 0) & (n_levels == 0)
    offered = np.maximum(n_rows - 1, 1)
    if cuts is not None:
        offered = np.maximum(np.minimum(cuts[trees.feature], offered) if by_weight else cuts[trees.feature], 1)
    bits = np.where(inner, np.where(is_threshold, 1, n_cuts) * np.log2(offered), 0.0)
    groups = inner & (n_entries > 0) & (n_cuts == 0) & ~splits_all
    bits[groups] += n_entries[groups] * np.log2(fan[groups])  # which group each category belongs to
    # Which of two sides: a bit for each level that the rows of the node may have, at most one a row.
    offered_levels = n_rows if cuts is None else np.minimum(cuts[trees.feature] + 1, n_rows)
    bits[n_levels > 0] = np.maximum(offered_levels, n_levels)[n_levels > 0]
    return bits, splits_all if cuts is None else splits_all | (is_threshold & (cuts[trees.feature] <= 1))


def _n_parted(trees: Trees, n_entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many categories a map sends somewhere, where each has a child of its own; else -1."""
    found = np.full(trees.n_nodes, -1, np.int64)
    if not len(trees.branch):
        return found
    owner = np.repeat(np.arange(trees.n_nodes), n_entries)
    known = trees.branch >= 0
    pairs = np.unique(owner[known] * (np.int64(trees.branch.max()) + 1) + trees.branch[known])
    n_known = np.bincount(owner[known], minlength=trees.n_nodes)
    n_children = np.bincount(pairs // (np.int64(trees.branch.max()) + 1), minlength=trees.n_nodes)
    alone = (n_known == n_children) & (n_entries > 0)
    found[alone] = n_known[alone]
    return found


def _lengths(start: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    return np.diff(start) if len(start) == n_nodes + 1 else np.zeros(n_nodes, np.int64)


def arity_bits(trees: Trees, levels: list[Level], n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bits that say of each node that it is a leaf, or a test, by Wallace & Patrick.

    Below a test of b branches a node is a leaf with probability (b - 1) / b, which is what trees must have on average
    to end; the root with 1 / columns.
    """
    fan = np.full(trees.n_nodes, float(max(n_features, 2)))
    leaf = np.log2(fan)
    test = -np.log2(1.0 - 1.0 / fan)
    for level in levels:
        b = np.repeat(level.fan, level.fan)
        leaf[level.children], test[level.children] = np.log2(b / (b - 1)), np.log2(b)
    return leaf, test


def whole_leaf_bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bits of the labels in each leaf: its class, how many rows are exceptions, which, and so on for them.

    With n rows of K classes there are at most b = (n + 1)(K - 1) / K exceptions, rounded down, and k of them take
    log(b + 1) + log C(n, k). The criterion ``mdl`` has this code as a kernel (``description_length.leaf_bits``), for
    nodes that hold rows: there an empty leaf takes no bits, and here it still says its class. Weights that are no whole
    numbers may leave more exceptions than b, which growth overlooks and this does not.
    """
    ordered = -np.sort(-counts, axis=1)
    n_classes, bits = counts.shape[1], np.zeros(len(counts))
    n = ordered.sum(axis=1)
    for j in range(n_classes - 1):
        exceptions, left = np.maximum(n - ordered[:, j], 0.0), n_classes - j
        most = np.maximum(np.floor((n + 1.0) * (left - 1) / left), exceptions)
        code = np.log2(left) + np.log2(most + 1.0) + log2_choose(n, exceptions)
        bits += code if j == 0 else np.where(n > 0, code, 0.0)
        n = exceptions
    return bits


def dirichlet_bits(counts: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return the bits of the labels in each leaf, one by one, each by the shares of those before and alpha more."""
    n, n_classes = counts.sum(axis=1), counts.shape[1]
    nats = log_gamma(n + n_classes * alpha) - log_gamma(n_classes * alpha)
    nats -= (log_gamma(counts + alpha) - log_gamma(alpha)).sum(axis=1)
    return np.asarray(nats * LOG2_E)


# Decision graphs


def message_length(
    trees: Trees, counts: NDArray[np.float64], n_features: int, cuts: NDArray[np.float64] | None, alpha: float
) -> MessageParts:
    """Return the message of one tree or graph by Wallace & Patrick, and of the labels of its rows.

    Parameters
    ----------
    trees : Trees
        One tree or graph.
    counts : array of shape (nodes, classes)
        The weight of each class at every node.
    n_features, cuts : int, array
        As for ``test_bits``; but no node offers more cuts than its weight less one, and rows count by their weight.
    alpha : float
        How many rows of each class a leaf is taken to have seen.

    """
    is_node = trees.join < 0 if trees.is_graph else np.ones(trees.n_nodes, bool)
    leaf = is_node & (trees.feature == LEAF)
    data = math.fsum(dirichlet_bits(counts[leaf], alpha).tolist())
    tests, spent = _graph_tests(trees, n_features, cuts), structure_bits(trees, n_features)
    return MessageParts(spent, math.fsum(tests[is_node].tolist()), data)


def _graph_tests(trees: Trees, n_features: int, cuts: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the bits of each test of a tree or graph; a column is spent where it is on all ways to a node."""
    bits, spends = _asked(trees, cuts, trees.weight, by_weight=True)
    spent: list[int | None] = [None] * trees.n_nodes  # sets of columns as bits
    spent[0] = 0
    for node in range(trees.n_nodes):
        if trees.feature[node] == LEAF or (trees.is_graph and trees.join[node] >= 0):
            continue
        own = spent[node]
        assert own is not None, "parents stand before their children"
        bits[node] += math.log2(max(n_features - own.bit_count(), 1))
        below = own | (1 << int(trees.feature[node])) if spends[node] else own
        for child in nodes_at(trees, np.arange(trees.left[node], trees.right[node] + 1)).tolist():
            before = spent[child]
            spent[child] = below if before is None else before & below
    return bits


def structure_bits(trees: Trees, n_features: int) -> float:
    """Return the bits that say of every end of a tree or graph what stands there.

    An end is a test or a leaf as ``arity_bits`` says; what stands where ends join is said once, with a bit.
    """
    m = trees.n_nodes
    joins = np.flatnonzero(trees.join >= 0) if trees.is_graph else np.zeros(0, np.int64)
    met = np.unique(trees.join[joins]) if len(joins) else joins
    is_end = np.ones(m, bool)
    is_end[joins] = is_end[met] = False
    own = np.flatnonzero((trees.feature != LEAF) & (trees.join < 0 if trees.is_graph else True))
    fan = np.full(m, float(max(n_features, 2)))
    for node in own.tolist():
        fan[trees.left[node] : trees.right[node] + 1] = trees.right[node] - trees.left[node] + 1
    leaf, test = symbol_bits(fan[1:])
    bits = np.zeros(m)
    bits[1:] = np.where(trees.feature[1:] == LEAF, leaf, test)
    root = float(max(n_features, 2))
    bits[0] = math.log2(root) if trees.feature[0] == LEAF else -math.log2(1.0 - 1.0 / root)
    bits[met] = 1.0
    is_end[met] = True
    return math.fsum(bits[is_end].tolist()) + join_bits(m - 1, len(joins) + len(met), len(met))


def symbol_bits(fan: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bits of a leaf and of a test below tests of so many branches; see ``arity_bits``."""
    return np.log2(fan / (fan - 1.0)), np.log2(fan)


def join_bits(n_ends: int, n_joining: int, n_groups: int) -> float:
    """Return the bits that say of every end whether it joins, and which of those that do meet.

    ``n_joining`` of ``n_ends`` meet in ``n_groups`` nodes, two or more in each.
    """
    alone = n_ends - n_joining
    bits = n_joining * JOINS + alone * STANDS_ALONE
    if n_joining == 0:
        return bits
    return bits + math.log2(n_joining // 2) + float(log2_groupings(n_joining)[n_groups])


@cache
def _groupings(most: int) -> list[NDArray[np.float64]]:
    """Return the logarithms of the numbers of ways to part 0, 1, .. ``most`` things."""
    rows = [np.zeros(1), np.array([-np.inf])]
    with np.errstate(divide="ignore"):
        for y in range(2, most + 1):  # the last thing joins a group of the others, or makes one with one of them
            x = np.arange(y // 2 + 1)
            joins, makes = (np.full(len(x), -np.inf) for _ in range(2))
            joins[: len(rows[y - 1])] = np.log2(x[: len(rows[y - 1])]) + rows[y - 1]
            makes[1:] = math.log2(y - 1) + rows[y - 2][: len(x) - 1]
            rows.append(np.logaddexp2(joins, makes))
    return rows


def log2_groupings(n: int) -> NDArray[np.float64]:
    """Return the logarithm of the number of ways to part n things into 0, 1, .. n // 2 groups of two or more."""
    return _groupings(max(64, 1 << n.bit_length()))[n]

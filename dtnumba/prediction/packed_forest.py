# mypy: ignore-errors
# ruff: noqa: D102
"""A forest as prediction reads it: small nodes in the order of walks, and what the leaves say in a table of its own.

Where the table is float32 a node takes 8 bytes (thresholds rounded down to float32 say the same of every float32), else
16. Siblings stand side by side, the right one first, in one cache line: the next node is that place, plus one where
x <= threshold, which is never so for a missing x. A leaf points at itself, and its threshold is a NaN, with which
nothing compares, whose low bits say where in the table of answers the leaf's row stands.

In forests larger than a cache the heavier child comes right behind its parent: that took a third of the cache lines off
a walk through 230,000 nodes. Leaves of one class alone share their row, and siblings that are such leaves share their
place with all of their kind in the tree: a third of the nodes of a fully grown tree, which stay in the cache then.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import by_class, by_type, inline, kernel, kernel_type
from dtnumba.runtime.memory import aligned
from dtnumba.tables.costs import LeastCost, commonest
from dtnumba.tables.floats import floor_to
from dtnumba.trees.layout import LEAF, depths, leaf_values
from dtnumba.trees.routing import is_among
from dtnumba.trees.sparse_rows import SparseValues

# Nodes of forests that fit into a core's level-2 cache are laid out as they are numbered.
_CACHED_NODES = 1 << 17
_ANY_DEPTH = 1 << 30
# More classes than this have more pairs than it pays to keep in every tree.
_MOST_SHARED = 8
# So many walks go on together (see ``lockstep``).
N_WALKS = 12
_ONE = np.uint64(1)
IS_LEVEL = np.uint64(1 << 30)
plain_step = by_type("plain_step")
step = by_type("step")
answer_at = by_type("answer_at")


@kernel_type
class Narrow(NamedTuple):
    """Nodes of 8 bytes: right child (in the tree) << 11 | missing goes left << 10 | feature; and the threshold."""

    words: np.ndarray  # (2 * places,) uint32
    thresholds: np.ndarray  # the same memory as float32

    def plain_step(self, first, node, flat, base):
        at = (first + node) << _ONE
        word = self.words[at]
        x = flat[base + np.uint64(word & np.uint32(1023))]
        return np.uint64(word >> np.uint32(11)) + np.uint64(x <= self.thresholds[at + _ONE])

    def step(self, first, node, flat, base):
        at = (first + node) << _ONE
        word = self.words[at]
        x = flat[base + np.uint64(word & np.uint32(1023))]
        goes_left = (x <= self.thresholds[at + _ONE]) | ((x != x) & ((word & np.uint32(1024)) != 0))
        return np.uint64(word >> np.uint32(11)) + np.uint64(goes_left)

    def answer_at(self, first, node):
        return np.int64(self.words[((first + node) << _ONE) + _ONE] & np.uint32(0x3FFFFF))


@kernel_type
class Wide(NamedTuple):
    """Nodes of 16 bytes: right child << 32 | missing goes left << 31 | feature; and the threshold."""

    words: np.ndarray  # (2 * places,) uint64
    thresholds: np.ndarray  # the same memory as float64

    def plain_step(self, first, node, flat, base):
        at = (first + node) << _ONE
        word = self.words[at]
        x = flat[base + (word & np.uint64(0x7FFFFFFF))]
        return (word >> np.uint64(32)) + np.uint64(x <= self.thresholds[at + _ONE])

    def step(self, first, node, flat, base):
        at = (first + node) << _ONE
        word = self.words[at]
        x = flat[base + (word & np.uint64(0x7FFFFFFF))]
        goes_left = (x <= self.thresholds[at + _ONE]) | ((x != x) & ((word & np.uint64(0x80000000)) != 0))
        return (word >> np.uint64(32)) + np.uint64(goes_left)

    def answer_at(self, first, node):
        return np.int64(self.words[((first + node) << _ONE) + _ONE] & np.uint64(0x7FFFFFFFF))


@kernel_type
class Mixed(NamedTuple):
    """Nodes of 16 bytes that may test a category: bit 30 says so; the threshold is first << 32 | number of levels."""

    words: np.ndarray  # (2 * places,) uint64
    thresholds: np.ndarray  # the same memory as float64
    levels: np.ndarray  # int32: of each such node, ascending: those that go left

    def plain_step(self, first, node, flat, base):
        return mixed_step(self, first, node, flat, base)

    def step(self, first, node, flat, base):
        return mixed_step(self, first, node, flat, base)

    def answer_at(self, first, node):
        return np.int64(self.words[((first + node) << _ONE) + _ONE] & np.uint64(0x7FFFFFFFF))


@inline
def mixed_step(nodes, first, node, flat, base):
    """Return the next place: left of a category is a search among its node's levels."""
    at = (first + node) << _ONE
    word = nodes.words[at]
    x = flat[base + (word & np.uint64(0x3FFFFFFF))]
    if x != x:
        goes_left = (word & np.uint64(0x80000000)) != 0
    elif (word & IS_LEVEL) != 0:
        where = nodes.words[at + _ONE]
        start = np.int64(where >> np.uint64(32))
        goes_left = is_among(nodes.levels, start, start + np.int64(where & np.uint64(0xFFFFFFFF)), x)
    else:
        goes_left = x <= nodes.thresholds[at + _ONE]
    return (word >> np.uint64(32)) + np.uint64(goes_left)


@kernel_type
class FewAnswers(NamedTuple):
    """Answers that are zero but for a few numbers: the shares of very many classes."""

    start: np.ndarray  # (rows + 1,) int64
    column: np.ndarray  # int32
    number: np.ndarray  # float64

    @property
    def nbytes(self):
        """Memory of all."""
        return sum(array.nbytes for array in self)


@inline
def _add_few(answers, at, out, row):
    for i in range(answers.start[at], answers.start[at + 1]):
        out[row, answers.column[i]] += answers.number[i]


@inline
def _add_all(answers, at, out, row):
    out[row, 0] += answers[at, 0]
    for k in range(1, answers.shape[1]):
        out[row, k] += answers[at, k]


# Add an answer to a row of ``out``.
add_answer = by_class(lambda cls: cls is FewAnswers, _add_few, _add_all)


class PackedForest(NamedTuple):
    """A packed forest."""

    nodes: object  # Narrow, Wide, Mixed, LinearNodes or PairNodes
    firsts: np.ndarray  # uint64: where each tree's places begin, its root being place 1; repeats the last for walks
    starts: np.ndarray  # (n_trees,) int64: where each tree's answers begin
    answers: object  # (rows, width) float64, or FewAnswers
    depth: int  # no walk is longer

    @property
    def roots(self):
        """Where each tree's places begin, once each."""
        return self.firsts[: len(self.starts)]

    def part_of(self, first, last):
        """Return trees first .. last - 1 alone."""
        return self._replace(firsts=self.firsts[first:last], starts=self.starts[first:last])

    @property
    def has_sums(self):
        """Whether nodes may test a sum over several columns."""
        return hasattr(self.nodes, "weights")

    @property
    def n_bytes(self):
        """Memory of the nodes and the answers."""
        return self.nodes.words.nbytes + self.answers.nbytes


@kernel
def heavy_first(feature, left, root, pair, n_pairs, place, size, leaves, stack):
    """Give every node its place in its tree: of two children, the one with more leaves below comes next.

    Children of a node with a pair share a place with those of other nodes, behind all others of the tree, which takes
    ``size`` places.
    """
    for node in range(len(feature) - 1, -1, -1):
        leaves[node] = 1
        if feature[node] != LEAF:
            leaves[node] = leaves[left[node]] + leaves[left[node] + 1]
    for t in range(len(root) - 1):
        place[root[t]], stack[0] = 1, root[t]
        count, top = np.int64(2), 1
        while top > 0:
            top -= 1
            node = stack[top]
            if feature[node] != LEAF and pair[node] < 0:
                child = np.int64(left[node])
                place[child], place[child + 1] = count + 1, count
                is_left_heavy = np.int64(leaves[child] >= leaves[child + 1])
                stack[top], stack[top + 1] = child + is_left_heavy, child + 1 - is_left_heavy
                count, top = count + 2, top + 2
        for node in range(root[t], root[t + 1]):
            if pair[node] >= 0:
                child, at = np.int64(left[node]), count + 2 * pair[node]
                place[child], place[child + 1] = at + 1, at
        size[t] = count + 2 * n_pairs


def places_of(trees, pair, n_pairs):
    """Return the place of every node in its tree, from 1 on, the right one of two siblings first; and trees' sizes."""
    sizes = np.diff(trees.root)
    if trees.n_nodes > _CACHED_NODES and not trees.is_graph:
        place, leaves = np.empty(trees.n_nodes, np.int32), np.empty(trees.n_nodes, np.int32)
        stack = np.empty(int(sizes.max()) + 1, np.int64)  # what no tree is deep enough for is never touched
        size, feature = np.empty(trees.n_trees, np.int64), trees.feature.astype(np.int32, copy=False)
        heavy_first(feature, trees.left, trees.root, pair, n_pairs, place, size, leaves, stack)
        return place, size
    place = (np.arange(1, trees.n_nodes + 1) - np.repeat(trees.root[:-1], sizes)).astype(np.int32)
    child = trees.left[trees.feature != LEAF].astype(np.int64)
    place[child], place[child + 1] = place[child + 1], place[child]
    return place, sizes + 1


def pack_forest(trees, n_features, dtype, n_classes, voting):
    """Return trees packed for rows of a dtype; where ``says_second``, answers are shares of the second class.

    Parameters
    ----------
    trees : Trees
        Trees of two-way tests.
    n_features : int
        Columns of the table.
    dtype : dtype
        Of the rows: float32 or float64.
    n_classes : array of int
        Classes of each output, 1 where it is a number.
    voting : "soft", "hard" or "ids"
        Whether a leaf says its shares, its commonest class, or its number in the tree.

    """
    if trees.has_sums:
        from dtnumba.prediction.linear_nodes import linear_nodes, put_sums
        from dtnumba.prediction.pair_nodes import fit_into_pairs, pair_nodes

    sizes, leaf = np.diff(trees.root), np.flatnonzero(trees.feature == LEAF)
    is_narrow = dtype == np.float32 and n_features <= 1 << 10 and sizes.max() < (1 << 21) - (1 << 8)
    is_narrow = is_narrow and trees.is_binary
    form, word, shift, missing = (Narrow, np.uint32, 11, 10) if is_narrow else (Wide, np.uint64, 32, 31)
    number = np.float32 if is_narrow else np.float64
    value = _values(trees, leaf, n_classes, voting)
    shared, of_leaf = _shared(value, n_classes, voting)
    pair, n_pairs = _pairs(trees, leaf, of_leaf, len(shared))
    place, size = places_of(trees, pair, n_pairs)
    firsts = np.cumsum(size) - size
    at = np.repeat(firsts, sizes)
    at += place
    if says_second(trees, n_classes) and voting != "ids":
        value, shared = value[:, 1:], shared[:, 1:]
    starts, rows, answers = _answers(trees, leaf, at[leaf], int(size.sum()), value, shared, of_leaf)
    nodes = aligned(2 * int(size.sum()), word).reshape(-1, 2)
    nodes[:] = 0
    words = place[np.where(trees.left == LEAF, 0, trees.left)].astype(word) - word(1) << word(shift)
    words |= trees.feature.astype(word) | trees.missing_left.astype(word) << word(missing)
    thresholds = np.array(floor_to(trees.threshold, number)).view(word)  # a copy: float64 ones are the trees' own
    if len(trees.level):
        n_levels = np.diff(trees.level_start)
        tests = np.flatnonzero(n_levels)
        words[tests] |= IS_LEVEL
        thresholds[tests] = trees.level_start[tests].astype(word) << word(32) | n_levels[tests].astype(word)
    if trees.has_sums:
        put_sums(words, trees.linear)
    words[leaf] = place[leaf].astype(word) << word(shift)
    nodes[at, 0] = words
    del words, place, pair
    thresholds[leaf] = np.array(np.nan, number).view(word) | rows.astype(word)
    nodes[at, 1] = thresholds
    depth = int(depths(trees).max()) if trees.n_nodes <= _CACHED_NODES else _ANY_DEPTH
    flat, firsts = nodes.ravel(), np.pad(firsts, (0, N_WALKS - 1), mode="edge").astype(np.uint64)
    if trees.has_sums:
        in_pairs = fit_into_pairs(trees, n_features)
        packed = pair_nodes(flat, at, trees) if in_pairs else linear_nodes(flat, trees.level, trees.linear)
    else:
        packed = form(flat, flat.view(number)) if trees.is_binary else Mixed(flat, flat.view(number), trees.level)
    return PackedForest(packed, firsts, starts, answers, depth)


def _values(trees, leaf, n_classes, voting):
    """Return what every leaf says."""
    if voting == "ids":
        return (leaf - trees.root[np.searchsorted(trees.root, leaf, side="right") - 1])[:, None].astype(np.float64)
    value = leaf_values(trees)
    if voting == "soft":
        return value
    if isinstance(value, SparseValues):  # of one output
        codes = voting.codes(value) if isinstance(voting, LeastCost) else value.argmax(axis=1)
        return SparseValues(np.arange(len(value) + 1), codes.astype(np.int32), np.ones(len(value)), value.width)
    return commonest(value, n_classes, voting)


def _shared(value, n_classes, voting):
    """Return the rows that leaves of one class alone share, and which of them each leaf has, or -1."""
    if len(n_classes) > 1 or n_classes[0] == 1 or voting == "ids" or isinstance(value, SparseValues):
        return np.empty((0, value.shape[1])), np.full(len(value), -1)
    return np.eye(value.shape[1]), np.where(value.max(axis=1) == 1.0, value.argmax(axis=1), -1)


def _pairs(trees, leaf, of_leaf, n_shared):
    """Return which pair of shared rows the children of every node have, or -1, and how many pairs there are."""
    pair = np.full(trees.n_nodes, -1, np.int32)
    if not 0 < n_shared <= _MOST_SHARED or trees.n_nodes <= _CACHED_NODES or trees.is_graph:
        return pair, 0
    shared = np.full(trees.n_nodes, -1, np.int32)
    shared[leaf] = of_leaf
    inner = np.flatnonzero(trees.feature != LEAF)
    left, right = shared[trees.left[inner]], shared[trees.left[inner] + 1]
    pair[inner] = np.where((left >= 0) & (right >= 0), left * n_shared + right, -1)
    return pair, n_shared * n_shared


def _answers(trees, leaf, at, n_places, value, shared, of_leaf):
    """Return where each tree's answers begin, each leaf's row from there on, and the table of answers."""
    is_own, n_shared = np.zeros(n_places, bool), len(shared)
    own = of_leaf < 0
    is_own[at[own]] = True
    before = np.cumsum(is_own) - is_own  # own rows in front of every place, in the order of the walks
    tree = np.searchsorted(trees.root, leaf[own], side="right") - 1
    n_own = np.bincount(tree, minlength=trees.n_trees)
    n_before = np.cumsum(n_own) - n_own
    starts = n_before + n_shared * np.arange(trees.n_trees)
    rows = of_leaf.copy()
    rows[own] = before[at[own]] - n_before[tree] + n_shared
    if isinstance(value, SparseValues):  # no leaf shares a row
        order = np.empty(len(tree), np.int64)
        order[starts[tree] + rows] = np.arange(len(tree))
        own = value[order]
        return starts, rows, FewAnswers(own.start, own.column, own.number)
    answers = np.empty((len(tree) + n_shared * trees.n_trees, value.shape[1]))
    answers[starts[:, None] + np.arange(n_shared)] = shared
    answers[starts[tree] + rows[own]] = value[own]
    return starts, rows, answers


def says_second(trees, n_classes):
    """Return whether a leaf says one share of two: the mean over many trees of the other is what is left to one.

    Of one tree both are read, because each was rounded by itself, and where the trees say so (``adds_both``).
    """
    return len(n_classes) == 1 and int(n_classes[0]) == 2 and trees.n_trees > 1 and not trees.adds_both

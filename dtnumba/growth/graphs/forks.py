"""The best test of each column for the rows of a leaf, by the bits that it saves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.floats import midpoint
from dtnumba.trees.graphs import Question, ways_to
from dtnumba.trees.layout import STAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.growth.graphs.sample import GraphRows

_MOST_ORDERS = 8  # of the levels of a category, by the share of one class each


class Fork(NamedTuple):
    """A test for the rows of a leaf."""

    saved: float  # bits of the labels, less those that say the test; what the shape of the graph takes aside
    asked: float  # bits that say the test, its column included
    fan: int
    question: Question
    ways: NDArray[np.int64]  # the child of each code of the column, and in the last place that of a missing value
    spends: bool  # whether the column is spent below


class ForkRules(NamedTuple):
    """What forks must heed."""

    min_rows: int = 1  # of a child
    learns_missing: bool = True  # False: a missing value goes to the heavier child


class _Node(NamedTuple):
    """The rows of a leaf in one column."""

    sample: GraphRows
    j: int
    rules: ForkRules
    codes: NDArray[np.int32]  # those that rows have, ascending
    n: NDArray[np.int64]  # rows with each
    counts: NDArray[np.int64]  # (codes, classes)
    n_missing: int
    missing: NDArray[np.int64]  # (classes,)
    own: float  # bits of the labels as they are
    name: float  # bits that say the column
    weight: float  # of all


def forks_of(sample: GraphRows, rows: NDArray[np.int64], spent: int, rules: ForkRules) -> list[Fork]:
    """Return the best forks of a leaf: of each column at most one for each number of children, columns in order.

    ``spent`` holds the columns that need not be asked any more, as bits.
    """
    found: list[Fork] = []
    if len(rows) < 2 * rules.min_rows:
        return found
    labels, weight, k = sample.labels[rows], sample.weight[rows], sample.n_classes
    own = sample.counts(rows)
    if np.count_nonzero(own) < 2:
        return found
    bits = float(sample.code.bits(own))
    heft = float(own.sum() * sample.code.unit)
    name = math.log2(max(sample.n_features - spent.bit_count(), 1))
    for j in range(sample.n_features):
        if spent >> j & 1:
            continue
        column = sample.codes[j][rows]
        codes, place = np.unique(column, return_inverse=True)
        if len(codes) < 2:
            continue
        cells = place.reshape(-1) * k + labels
        counts = np.bincount(cells, weights=weight, minlength=len(codes) * k).astype(np.int64).reshape(-1, k)
        n = np.bincount(place.reshape(-1), minlength=len(codes))
        first = int(codes[0] < 0)
        missing, n_missing = (counts[0], int(n[0])) if first else (np.zeros(k, np.int64), 0)
        node = _Node(sample, j, rules, codes[first:], n[first:], counts[first:], n_missing, missing, bits, name, heft)
        found += _of_levels(node) if sample.n_levels[j] else _of_numbers(node)
    return found


def _of_numbers(node: _Node) -> Iterator[Fork]:
    """Yield the best cut of a column of numbers."""
    sample, codes = node.sample, node.codes
    asked = node.name + math.log2(max(min(sample.cuts[node.j], node.weight - 1.0), 1.0))
    best = _best_prefix(node, np.arange(len(codes)), parts_missing=True)
    if best is None:
        return
    bits, at, missing_left = best
    values = sample.values[node.j]
    assert values is not None
    ways = np.zeros(len(values) + 1, np.int64)
    if at == len(codes) - 1:  # all that is not missing to the left
        threshold = np.inf
    else:
        threshold = float(midpoint(values[codes[at]], values[codes[at + 1]]))
        ways[codes[at] + 1 :] = 1
    ways[-1] = 1 - missing_left
    question = Question(node.j, threshold, int(missing_left))
    yield Fork(node.own - bits - asked, asked, 2, question, ways, spends=bool(sample.cuts[node.j] <= 1))


def _best_prefix(node: _Node, order: NDArray[np.int64], *, parts_missing: bool) -> tuple[float, int, int] | None:
    """Return the best cut of codes in an order: (bits of the labels, the last code left of it, missing values left)."""
    sample, rules = node.sample, node.rules
    left, n_left = np.cumsum(node.counts[order], axis=0), np.cumsum(node.n[order])
    right, n_right = left[-1] - left, n_left[-1] - n_left
    ends = len(order) if node.n_missing and parts_missing else len(order) - 1
    left, right, n_left, n_right = left[:ends], right[:ends], n_left[:ends], n_right[:ends]
    if not ends:
        return None
    sides = [(0, 0)] if not node.n_missing else [(1, 0), (0, 1)]
    heavier_left = left.sum(axis=1) >= right.sum(axis=1)
    best: tuple[float, int, int] | None = None
    for to_left, to_right in sides:
        bits = sample.code.bits(left + to_left * node.missing) + sample.code.bits(right + to_right * node.missing)
        fits = (n_left + to_left * node.n_missing >= rules.min_rows) & (
            n_right + to_right * node.n_missing >= rules.min_rows
        )
        if node.n_missing:
            fits &= (n_right > 0) | (to_right == 1)
            if not rules.learns_missing:
                fits &= (heavier_left == (to_left == 1)) & (n_right > 0)
        if not fits.any():
            continue
        bits = np.where(fits, bits, np.inf)
        at = int(bits.argmin())
        side = to_left if node.n_missing else int(heavier_left[at])
        if best is None or bits[at] < best[0]:
            best = float(bits[at]), at, side
    return best


def _of_levels(node: _Node) -> Iterator[Fork]:
    """Yield a child a level, and the best two groups of levels, for a category."""
    yield from _each_level(node)
    n_levels = len(node.codes)
    if n_levels < 2 or (n_levels == 2 and not node.n_missing):
        return
    sample, shares = node.sample, node.counts / node.counts.sum(axis=1, keepdims=True)
    heaviest = np.argsort(-node.counts.sum(axis=0), kind="stable")[:_MOST_ORDERS]
    best: Any = None
    for k in heaviest[: 1 if sample.n_classes == 2 else None]:
        order = np.argsort(-shares[:, k], kind="stable")
        found = _best_prefix(node, order, parts_missing=False)
        if found is not None and (best is None or found[0] < best[0][0]):
            best = found, order
    if best is None:
        return
    (bits, at, missing_left), order = best
    is_left = np.zeros(len(order), bool)
    is_left[order[: at + 1]] = True
    if node.counts[is_left].sum() > node.counts[~is_left].sum():  # the levels that are named are the lighter ones
        is_left, missing_left = ~is_left, 1 - missing_left
    levels = node.codes[is_left]
    asked = node.name + max(min(sample.cuts[node.j] + 1, node.weight), len(levels))
    ways = np.ones(sample.n_levels[node.j] + 1, np.int64)
    ways[levels] = 0
    ways[-1] = 1 - missing_left
    question = Question(node.j, np.nan, int(missing_left), levels=tuple(int(level) for level in levels))
    yield Fork(node.own - bits - asked, asked, 2, question, ways, spends=False)


def _each_level(node: _Node) -> Iterator[Fork]:
    """Yield the test with a child a level, and one for missing values."""
    sample, n, counts = node.sample, node.n.copy(), node.counts
    missing = int(counts.sum(axis=1).argmax())
    if node.n_missing and node.rules.learns_missing:
        missing, n, counts = len(node.codes), np.append(n, node.n_missing), np.vstack([counts, node.missing])
    elif node.n_missing:
        counts = counts.copy()
        counts[missing] += node.missing
        n[missing] += node.n_missing
    fan = len(counts)
    if not 2 <= fan < STAYS or n.min() < node.rules.min_rows:
        return
    bits = float(sample.code.bits(counts).sum())
    branch = np.full(sample.n_levels[node.j], -1, np.int64)
    branch[node.codes] = np.arange(len(node.codes))
    ways = np.append(np.where(branch < 0, missing, branch), missing)  # levels that no row has go as missing values do
    question = Question(node.j, np.nan, missing, branch=tuple(branch.tolist()))
    yield Fork(node.own - bits - node.name, node.name, fan, question, ways, spends=True)


def fork_of(sample: GraphRows, question: Question, fan: int) -> Fork:
    """Return a question as a fork of a sample; what it saves is not known."""
    j = question.feature
    values = sample.values[j]
    x = np.arange(sample.n_levels[j], dtype=np.float64) if values is None else values
    ways = ways_to(question, np.append(x, np.nan))
    parted = [way for way in question.branch if way >= 0]
    spends = bool(question.branch) and not question.cuts and len(set(parted)) == len(parted) >= fan - 1
    is_threshold = not (question.levels or question.branch or question.cuts)
    return Fork(0.0, 0.0, fan, question, ways, spends or (is_threshold and bool(sample.cuts[j] <= 1)))


def asked_bits(sample: GraphRows, fork: Fork, weight: float, spent: int) -> float:
    """Return the bits that say a test at a node of such a weight (``message_length.test_bits``)."""
    asks = fork.question
    bits, cuts = math.log2(max(sample.n_features - spent.bit_count(), 1)), sample.cuts[asks.feature]
    offered = math.log2(max(min(cuts, weight - 1.0), 1.0))
    if asks.levels:
        return float(bits + max(min(cuts + 1, weight), len(asks.levels)))
    if asks.cuts:
        return bits + len(asks.cuts) * offered
    if asks.branch:
        return bits if fork.spends else bits + len(asks.branch) * math.log2(fork.fan)
    return bits + offered


def children_rows(sample: GraphRows, rows: NDArray[np.int64], fork: Fork) -> list[NDArray[np.int64]]:
    """Return the rows of each child of a test."""
    way = fork.ways[sample.codes[fork.question.feature][rows]]  # a missing value is -1: the last place
    return [rows[way == k] for k in range(fork.fan)]

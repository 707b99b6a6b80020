"""A forest as one diagram: columns are asked in one order, and what says the same of every row stands once.

Level by level, a state says what is left of each tree once the columns so far are known. Equal states are one, and a
state whose label no vote can change any more is a leaf. Then, from the last level up, states that lead to the same
nodes become one node. Arrays hold all states of a level, so that a million of them take a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.trees.graphs import GraphNodes, Question, demand_plain, laid_out, question_at, ways_to
from dtnumba.trees.layout import LEAF, Trees, one_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_STATES_A_NODE = 32  # of a level, for each node that the diagram may have
_MOST_CELLS = 1 << 27
_CLEAR = 1e-9  # of a sum of shares: what is less may be rounding


class Votes(NamedTuple):
    """How the leaves of trees become a label."""

    said: NDArray[np.float64]  # (nodes, width) what each node of the forest adds
    label_of: Callable[[NDArray[np.int64]], NDArray[np.int64]]  # of rows of leaves, a column a tree
    is_second: bool  # the one number that is said is the share of the second of two classes
    may_decide: bool  # whether the largest sum is the label, so that it may be known early


class TooLargeError(ValueError):
    """Raised where a diagram outgrows its budget; it says how far it got and what would help."""


class _Column(NamedTuple):
    """A column as the forest sees it: what parts its values."""

    feature: int
    cuts: NDArray[np.float64]  # of numbers, ascending
    group: NDArray[np.int64] | None  # of categories: which levels no test tells apart
    n_outcomes: int
    values: NDArray[np.float64]  # one of each outcome


class _Tree:
    """A tree whose columns become known one after another; nodes are numbers, equal ones the same."""

    def __init__(self, trees: Trees, first: int, said: NDArray[np.float64]) -> None:
        self.leaf: dict[int, int] = {}  # the node of the forest
        self.asks: dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]] = {}  # column, way of each outcome, children
        self._known: dict[Any, int] = {}
        self._trees, self._first, self._said = trees, first, said

    def made(self, columns: dict[int, _Column]) -> int:
        """Return the root."""
        trees, number = self._trees, np.zeros(self._trees.n_nodes, np.int64)
        for node in range(trees.n_nodes - 1, -1, -1):
            if trees.feature[node] == LEAF:
                number[node] = self._number(("leaf", self._said[self._first + node].tobytes()))
                self.leaf.setdefault(int(number[node]), self._first + node)
            else:
                column = columns[int(trees.feature[node])]
                ways = tuple(ways_to(question_at(trees, node), column.values).tolist())
                children = tuple(number[trees.left[node] : trees.right[node] + 1].tolist())
                number[node] = self._test(column.feature, ways, children)
        return int(number[0])

    def _number(self, key: Any) -> int:
        return self._known.setdefault(key, len(self._known))

    def _test(self, feature: int, ways: tuple[int, ...], children: tuple[int, ...]) -> int:
        leads = tuple(children[way] for way in ways)
        if len(set(leads)) == 1:
            return leads[0]
        number = self._number((feature, leads))
        self.asks[number] = feature, tuple(range(len(leads))), leads
        return number

    def known(self, node: int, feature: int, memo: dict[int, list[int]], n_outcomes: int) -> list[int]:
        """Return what is left of a node for each outcome of a column."""
        waiting = [node]
        while waiting:
            at = waiting[-1]
            if at in memo:
                waiting.pop()
            elif at in self.leaf:
                memo[at] = [at] * n_outcomes
            else:
                asked, _, leads = self.asks[at]
                unknown = [child for child in set(leads) if child not in memo]
                if unknown:
                    waiting += unknown
                elif asked == feature:
                    memo[at] = [memo[child][outcome] for outcome, child in enumerate(leads)]
                else:
                    memo[at] = [
                        self._test(asked, tuple(range(len(leads))), tuple(memo[child][outcome] for child in leads))
                        for outcome in range(n_outcomes)
                    ]
        return memo[node]


def diagram_of(
    trees: Trees, votes: Votes, n_classes: int, n_levels: Sequence[int], max_nodes: int, names: Sequence[str]
) -> Trees:  # fmt: skip
    """Return the diagram that labels every row without missing values as a forest does.

    Parameters
    ----------
    trees : Trees
        The forest.
    votes : Votes
        How its leaves become a label.
    n_classes : int
        Labels that there are.
    n_levels : sequence of int
        How many levels each column has, 0 of one of numbers.
    max_nodes : int
        Most nodes of the diagram.
    names : sequence of str
        What columns are called, for errors.

    """
    parts = [one_tree(trees, t) for t in range(trees.n_trees)]
    for part in parts:
        demand_plain(part)
    columns = _columns_of(parts, n_levels)
    forest = [_Tree(part, int(first), votes.said) for part, first in zip(parts, trees.root[:-1], strict=True)]
    nodes = [np.array([tree.made({c.feature: c for c in columns})]) for tree in forest]
    states = np.zeros((1, len(forest) + 1), np.int32)  # places in ``nodes``; the last: 1 + the label, once it is known
    _decide(states, forest, nodes, votes)
    levels = []
    for done, column in enumerate(columns):
        if len(states) * column.n_outcomes * states.shape[1] > _MOST_CELLS or len(states) > _STATES_A_NODE * max_nodes:
            raise TooLargeError(
                f"from_forest: once {done} of {len(columns)} columns are known, {len(states):,} different states of "
                f"{len(forest)} trees are left, too many for a diagram of max_nodes={max_nodes:,} (the next column is "
                f"{names[column.feature]}, which the trees part into {column.n_outcomes} ranges or groups). Fewer or "
                "shallower trees, fewer columns, fewer thresholds (max_bins) or a larger max_nodes would help"
            )
        states, leads, nodes = _next_level(states, forest, nodes, column, votes)
        levels.append(leads)
    leaves = np.zeros((len(states), len(forest)), np.int64)
    for t, tree in enumerate(forest):
        leaves[:, t] = np.array([tree.leaf.get(int(node), -1) for node in nodes[t]])[states[:, t]]
    label = states[:, -1].astype(np.int64) - 1
    open_ = np.flatnonzero(label < 0)
    if len(open_):
        label[open_] = votes.label_of(leaves[open_])
    made = _Made(n_classes, max_nodes)
    ids = label
    for column, leads in zip(reversed(columns), reversed(levels), strict=True):
        ids = made.level(column, ids[leads])
    return laid_out(made.graph(int(ids[0]), trees))


def _columns_of(parts: list[Trees], n_levels: Sequence[int]) -> list[_Column]:
    """Return the columns that trees ask, those that they ask most and first in front."""
    asked: dict[int, list[Question]] = {}
    worth: dict[int, float] = {}
    for part in parts:
        depth = np.zeros(part.n_nodes)
        for node in np.flatnonzero(part.feature != LEAF).tolist():
            question = question_at(part, node)
            asked.setdefault(question.feature, []).append(question)
            worth[question.feature] = worth.get(question.feature, 0.0) + 2.0 ** -depth[node]
            depth[part.left[node] : part.right[node] + 1] = depth[node] + 1
    found = []
    for feature in sorted(asked, key=lambda j: (-worth[j], j)):
        if n_levels[feature]:
            codes = np.arange(n_levels[feature], dtype=np.float64)
            ways = np.stack([ways_to(question, codes) for question in asked[feature]])
            _, first, group = np.unique(ways, axis=1, return_index=True, return_inverse=True)
            found.append(_Column(feature, np.zeros(0), group.reshape(-1), len(first), codes[first]))
            continue
        ends = {end for question in asked[feature] for end in (question.cuts or (question.threshold,))}
        cuts = np.array(sorted(end for end in ends if end < np.inf))
        found.append(_Column(feature, cuts, None, len(cuts) + 1, np.append(cuts, np.inf)))
    return found


def _next_level(
    states: NDArray[np.int32], forest: list[_Tree], nodes: list[NDArray[np.int64]], column: _Column, votes: Votes
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the states once a column is known, to which of them each leads by outcome, and what is left of trees."""
    n, k = len(states), column.n_outcomes
    after = np.zeros((n, k, states.shape[1]), np.int32)
    after[:, :, -1] = states[:, -1:]
    left = []
    for t, tree in enumerate(forest):
        memo: dict[int, list[int]] = {}
        leads = np.array([tree.known(int(node), column.feature, memo, k) for node in nodes[t]])
        own, place = np.unique(leads, return_inverse=True)
        after[:, :, t] = place.reshape(leads.shape)[states[:, t]]
        left.append(own)
    flat = after.reshape(n * k, -1)
    flat[flat[:, -1] > 0, :-1] = 0
    _decide(flat, forest, left, votes)
    first, place = _different(flat)
    return np.ascontiguousarray(flat[first]), place.reshape(n, k), left


def _decide(
    states: NDArray[np.int32], forest: list[_Tree], nodes: list[NDArray[np.int64]], votes: Votes
) -> None:  # fmt: skip
    """Write down the label of states that no leaf of any tree can change."""
    if not votes.may_decide:
        return
    width = votes.said.shape[1]
    low, high = np.zeros((len(states), width)), np.zeros((len(states), width))
    for t, tree in enumerate(forest):
        bounds = _bounds(tree, votes.said)
        ends = np.array([bounds(int(node)) for node in nodes[t]])
        low += ends[states[:, t], 0]
        high += ends[states[:, t], 1]
    if votes.is_second:
        low, high = np.hstack([len(forest) - high, low]), np.hstack([len(forest) - low, high])
    if low.shape[1] == 1:
        sure, best = np.ones(len(states), bool), np.zeros(len(states), np.int64)
    else:
        best = low.argmax(axis=1)
        rest = high.copy()
        rest[np.arange(len(rest)), best] = -np.inf
        sure = low[np.arange(len(low)), best] > rest.max(axis=1) + _CLEAR * len(forest)
    sure &= states[:, -1] == 0
    states[sure] = 0
    states[sure, -1] = best[sure] + 1


def _bounds(tree: _Tree, said: NDArray[np.float64]) -> Callable[[int], tuple[Any, Any]]:
    """Return the function that says the least and the most that the leaves below a node say, by column."""
    known: dict[int, tuple[Any, Any]] = {}

    def bounds(node: int) -> tuple[Any, Any]:
        waiting = [node]
        while waiting:
            at = waiting[-1]
            if at in tree.leaf:
                known[at] = said[tree.leaf[at]], said[tree.leaf[at]]
            else:
                children = set(tree.asks[at][2])
                unknown = [child for child in children if child not in known]
                if unknown:
                    waiting += unknown
                    continue
                lows, highs = zip(*(known[child] for child in children), strict=True)
                known[at] = np.min(lows, axis=0), np.max(highs, axis=0)
            waiting.pop()
        return known[node]

    return bounds


def _different(rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one of each kind of equal rows, and which kind each row is of."""
    rng = np.random.default_rng(0)
    hashed = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        mixed = (rows[:, column].astype(np.uint64) + np.uint64(1)) * rng.integers(1, 1 << 63, dtype=np.uint64)
        hashed = (hashed ^ (mixed ^ (mixed >> np.uint64(29)))) * np.uint64(0x9E3779B97F4A7C15)
    _, first, place = np.unique(hashed, return_index=True, return_inverse=True)
    if not (rows == rows[first[place]]).all():  # two different rows of one hash
        _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


class _Made:
    """The nodes of a diagram, made from its leaves up; the first are the labels."""

    def __init__(self, n_classes: int, max_nodes: int) -> None:
        self._n_classes, self._max = n_classes, max_nodes
        self._known: dict[Any, int] = {}
        self._tests: list[Question | None] = [None] * n_classes
        self._children: list[tuple[int, ...]] = [()] * n_classes

    def level(self, column: _Column, leads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes that ask a column, given the node that each outcome leads to."""
        if column.group is not None:
            kinds, place = np.unique(leads, axis=0, return_inverse=True)
            return np.array([self._of_levels(column, row) for row in kinds.tolist()])[place.reshape(-1)]
        return self._of_range(column, leads, 0, column.n_outcomes)

    def _of_range(self, column: _Column, leads: NDArray[np.int64], first: int, stop: int) -> NDArray[np.int64]:
        """Return the nodes that find the outcome among some, by halves."""
        if stop - first == 1:
            return leads[:, first]
        middle = (first + stop) // 2
        left, right = self._of_range(column, leads, first, middle), self._of_range(column, leads, middle, stop)
        found = left.copy()
        differ = np.flatnonzero(left != right)
        if len(differ):
            pairs, place = np.unique(left[differ] << 32 | right[differ], return_inverse=True)
            question = Question(column.feature, float(column.cuts[middle - 1]), 1)
            made = [self._node(question, (int(pair) >> 32, int(pair) & 0xFFFFFFFF)) for pair in pairs]
            found[differ] = np.array(made)[place.reshape(-1)]
        return found

    def _of_levels(self, column: _Column, leads: list[int]) -> int:
        children = tuple(dict.fromkeys(leads))
        if len(children) == 1:
            return children[0]
        assert column.group is not None
        branch = tuple(children.index(leads[group]) for group in column.group.tolist())
        return self._node(Question(column.feature, np.nan, 0, branch=branch), children)

    def _node(self, question: Question, children: tuple[int, ...]) -> int:
        key = question._replace(threshold=0.0) if question.branch else question, children
        node = self._known.setdefault(key, len(self._tests))
        if node == len(self._tests):
            if node >= self._max:
                raise TooLargeError(
                    f"from_forest: the diagram has more than max_nodes={self._max:,} nodes. Fewer or shallower trees, "
                    "fewer columns, fewer thresholds (max_bins) or a larger max_nodes would help"
                )
            self._tests.append(question)
            self._children.append(children)
        return node

    def graph(self, root: int, trees: Trees) -> GraphNodes:
        """Return the nodes, the root first."""
        m = len(self._tests)
        value = np.zeros((m, self._n_classes))
        value[: self._n_classes] = np.eye(self._n_classes)
        for node in range(self._n_classes, m):
            value[node] = value[list(self._children[node])].mean(axis=0)
        order = np.concatenate([[root], np.delete(np.arange(m), root)])
        number = np.empty(m, np.int64)
        number[order] = np.arange(m)
        children = [tuple(number[list(self._children[node])].tolist()) for node in order.tolist()]
        nothing = np.zeros(m)
        return GraphNodes(
            tests=[self._tests[node] for node in order.tolist()],
            children=children,
            value=value[order],
            n_samples=np.zeros(m, np.int64),
            weight=nothing,
            impurity=1.0 - (value[order] ** 2).sum(axis=1),
            gain=nothing,
            cuts_at=trees.cuts_at,
        )

"""A graph under construction: its leaves and tests, the message that it takes, and how it becomes Trees."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.graphs.forks import Fork, asked_bits, children_rows, fork_of
from dtnumba.trees.graphs import GraphNodes, laid_out, nodes_of
from dtnumba.trees.message_length import MessageParts, join_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.graphs.sample import GraphRows
    from dtnumba.trees.layout import Trees


ACTIONS = ("start", "fork", "join", "join and fork", "forks", "share", "level")


class Step(NamedTuple):
    """One step of a growth, and the message after it, in bits."""

    action: str  # "start", "fork", "join", ...
    saved: float
    structure: float
    tests: float
    data: float
    n_nodes: int
    n_joins: int

    @property
    def total(self) -> float:
        """Bits of the whole message."""
        return self.structure + self.tests + self.data


class Node:
    """A node of a graph under construction; a leaf where there is no fork."""

    __slots__ = ("bits", "children", "counts", "depth", "ends", "fork", "rows", "spent")

    def __init__(self, sample: GraphRows, rows: NDArray[np.int64], fans: list[int], depth: int, spent: int) -> None:
        self.rows, self.depth, self.spent = rows, depth, spent
        self.counts = sample.counts(rows)
        self.bits = float(sample.code.bits(self.counts))
        self.ends = fans  # of each end that leads here, how many branches the test has; of the root none
        self.fork: Fork | None = None
        self.children: list[int] = []

    def weight(self, sample: GraphRows) -> float:
        """Return the weight of the rows."""
        return float(self.counts.sum() * sample.code.unit)


class GrowingGraph:
    """A graph under construction.

    Parameters
    ----------
    sample : GraphRows
        The rows.

    """

    def __init__(self, sample: GraphRows) -> None:
        self.sample = sample
        self.nodes: list[Node | None] = [Node(sample, np.arange(sample.n_rows), [], 0, 0)]  # None: joined another
        self.leaves = [0]
        self.n_ends = self.n_joining = self.n_groups = 0
        self._root_fan = max(sample.n_features, 2)
        self.history = [self._step("start", 0.0)]

    def at(self, number: int) -> Node:
        """Return a node that stands."""
        node = self.nodes[number]
        assert node is not None
        return node

    def kept(self) -> tuple[Any, ...]:
        """Return what ``undo`` brings back; nodes are never changed, but replaced."""
        return list(self.nodes), list(self.leaves), (self.n_ends, self.n_joining, self.n_groups)

    def undo(self, kept: tuple[Any, ...]) -> None:
        """Go back to what was kept."""
        self.nodes, self.leaves, (self.n_ends, self.n_joining, self.n_groups) = kept

    @property
    def n_nodes(self) -> int:
        """Tests and leaves."""
        return sum(node is not None for node in self.nodes)

    @property
    def n_joins(self) -> int:
        """Ends that lead to a node which another one leads to as well."""
        return self.n_joining - self.n_groups

    # The bits of the structure, as ``message_length.structure_bits`` counts them

    def symbol(self, number: int, *, is_leaf: bool) -> float:
        """Return the bits that say that an end is a leaf, or a test."""
        fans = self.at(number).ends
        if not fans:
            b = float(self._root_fan)
            return math.log2(b) if is_leaf else -math.log2(1.0 - 1.0 / b)
        if len(fans) > 1:
            return 1.0
        b = float(fans[0])
        return math.log2(b / (b - 1.0)) if is_leaf else math.log2(b)

    def joins_after(self, ends: int = 0, joining: int = 0, groups: int = 0) -> float:
        """Return by how much more of each lengthens what says the joins."""
        after = join_bits(self.n_ends + ends, self.n_joining + joining, self.n_groups + groups)
        return after - join_bits(self.n_ends, self.n_joining, self.n_groups)

    def bits_of_ends(self, n: int) -> float:
        """Return the bits that so many ends more take."""
        return self.joins_after(ends=n)

    def forking(self, number: int, fan: int) -> float:
        """Return by how much a test in the place of a leaf lengthens what says the structure."""
        own = self.symbol(number, is_leaf=False) - self.symbol(number, is_leaf=True)
        return own + fan * math.log2(fan / (fan - 1.0)) + self.joins_after(ends=fan)

    def length(self) -> MessageParts:
        """Return the message, counted anew."""
        structure, tests, data = [join_bits(self.n_ends, self.n_joining, self.n_groups)], [], []
        for number, node in enumerate(self.nodes):
            if node is not None:
                structure.append(self.symbol(number, is_leaf=node.fork is None))
                if node.fork is None:
                    data.append(node.bits)
                else:
                    tests.append(node.fork.asked)
        return MessageParts(math.fsum(structure), math.fsum(tests), math.fsum(data))

    # Steps

    def _step(self, action: str, before: float) -> Step:
        length = self.length()
        saved = before - length.total if action != "start" else 0.0
        return Step(action, saved, *length, self.n_nodes, self.n_joins)

    def note(self, action: str) -> None:
        """Write down what was done last."""
        self.history.append(self._step(action, self.history[-1].total))

    def fork(self, number: int, fork: Fork) -> list[int]:
        """Put a test in the place of a leaf; return its children."""
        self.nodes[number] = node = copy(self.at(number))
        node.fork = fork
        spent = node.spent | (1 << fork.question.feature) if fork.spends else node.spent
        first = len(self.nodes)
        for rows in children_rows(self.sample, node.rows, fork):
            self.nodes.append(Node(self.sample, rows, [fork.fan], node.depth + 1, spent))
        node.children = list(range(first, len(self.nodes)))
        self.leaves.remove(number)
        self.leaves += node.children
        self.n_ends += fork.fan
        return node.children

    def join(self, a: int, b: int) -> int:
        """Let what leads to leaf b lead to leaf a; return a."""
        one, other = self.at(a), self.at(b)
        for at in (one, other):
            if len(at.ends) == 1:
                self.n_joining += 1
        self.n_groups += {(False, False): 1, (True, True): -1}.get((len(one.ends) > 1, len(other.ends) > 1), 0)
        ends, depth, spent = one.ends + other.ends, max(one.depth, other.depth), one.spent & other.spent
        self.nodes[a] = Node(self.sample, np.sort(np.concatenate([one.rows, other.rows])), ends, depth, spent)
        self._replace(b, a)
        return a

    def lead(self, gone: int, to: int) -> None:
        """Let what leads to one node lead to another, which is not above it; what nothing leads to then goes."""
        for number, node in enumerate(self.nodes):
            if node is not None and gone in node.children:
                self.nodes[number] = new = copy(node)
                new.children = [to if child == gone else child for child in node.children]
        self.count_anew()

    def count_anew(self) -> None:
        """Send all rows down again: what every node has follows from the tests and from who leads where."""
        sample, order, nodes = self.sample, self.order(), self.nodes
        parts: dict[int, list[NDArray[np.int64]]] = {0: [np.arange(sample.n_rows)]}
        ends: dict[int, list[int]] = {0: []}
        known: dict[int, tuple[int, int]] = {0: (0, 0)}
        self.nodes = [None] * len(nodes)
        self.leaves, self.n_ends = [], 0
        for number in order:
            old, rows = nodes[number], parts.pop(number)
            assert old is not None
            depth, spent = known[number]
            self.nodes[number] = node = Node(
                sample, rows[0] if len(rows) == 1 else np.sort(np.concatenate(rows)), ends[number], depth, spent
            )
            if old.fork is None:
                self.leaves.append(number)
                continue
            node.fork = old.fork._replace(asked=asked_bits(sample, old.fork, node.weight(sample), spent))
            node.children = old.children
            below = spent | (1 << node.fork.question.feature) if node.fork.spends else spent
            self.n_ends += node.fork.fan
            for child, own in zip(node.children, children_rows(sample, node.rows, node.fork), strict=True):
                parts.setdefault(child, []).append(own)
                ends.setdefault(child, []).append(node.fork.fan)
                before = known.get(child, (0, below))
                known[child] = max(before[0], depth + 1), before[1] & below
        self.leaves.sort()
        met = [len(one) for one in ends.values() if len(one) > 1]
        self.n_joining, self.n_groups = sum(met), len(met)

    def _replace(self, gone: int, by: int) -> None:
        """Let all that leads to a leaf that goes lead to another node."""
        self.nodes[gone] = None
        for number, node in enumerate(self.nodes):
            if node is not None and gone in node.children:
                self.nodes[number] = new = copy(node)
                new.children = [by if child == gone else child for child in node.children]
        self.leaves.remove(gone)

    def order(self) -> list[int]:
        """Return all nodes, each behind those that lead to it."""
        waits: dict[int, int] = {}
        for number in self.below(0):
            for child in self.at(number).children:
                waits[child] = waits.get(child, 0) + 1
        found, waiting = [], [0]
        while waiting:
            number = waiting.pop()
            found.append(number)
            for child in self.at(number).children:
                waits[child] -= 1
                if not waits[child]:
                    waiting.append(child)
        return found

    def above(self, number: int) -> set[int]:
        """Return the nodes that lead to one, and it."""
        found = {number}
        for at in reversed(self.order()):
            if found.intersection(self.at(at).children):
                found.add(at)
        return found

    def below(self, number: int) -> set[int]:
        """Return the nodes that one leads to, and it."""
        found, waiting = {number}, [number]
        while waiting:
            for child in self.at(waiting.pop()).children:
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    def leading(self, gone: int, to: int) -> float:
        """Return the bits of labels and tests that are saved where what leads to one node leads to another."""
        change: dict[int, NDArray[np.int64]] = {}
        for start, sign in ((gone, -1), (to, 1)):
            waiting = [(start, self.at(gone).rows)]
            while waiting:
                number, rows = waiting.pop()
                node = self.at(number)
                if node.fork is None:
                    change[number] = change.get(number, 0) + sign * self.sample.counts(rows)
                else:
                    parts = zip(node.children, children_rows(self.sample, rows, node.fork), strict=True)
                    waiting += [(child, own) for child, own in parts if len(own)]
        saved = 0.0
        for number, counts in change.items():
            saved += self.at(number).bits - float(self.sample.code.bits(self.at(number).counts + counts))
        for number in self._only_below(gone):
            fork = self.at(number).fork
            saved += 0.0 if fork is None else fork.asked + 1.0
        return saved

    def _only_below(self, number: int) -> list[int]:
        """Return the nodes that all ways lead to through one, and it."""
        if self.at(number).fork is None:
            return [number]
        seen, waiting = {0, number}, [0]
        while waiting:
            for child in self.at(waiting.pop()).children:
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        seen.discard(number)
        return [one for one in self.below(number) if one not in seen]

    def share(self) -> bool:
        """Let equal tests that lead to equal nodes be one; tell whether there were any."""
        known: dict[Any, int] = {}
        same: dict[int, int] = {}
        for number in reversed(self.order()):
            node = self.at(number)
            children = [same.get(child, child) for child in node.children]
            if children != node.children:
                self.nodes[number] = node = copy(node)
                node.children = children
            if node.fork is None:
                continue
            first = known.setdefault((node.fork.question, tuple(children)), number)
            alike = children[0] if len(set(children)) == 1 else first
            if alike != number:
                same[number] = alike
        if same:
            if 0 in same:  # a test of the root that makes no difference
                self.nodes[0] = self.at(same[0])
                self.count_anew()
                return True
            self.count_anew()
        return bool(same)

    @classmethod
    def of_tree(cls, sample: GraphRows, trees: Trees) -> GrowingGraph:
        """Return a graph that asks what a tree or graph does, with the rows of a sample.

        Its questions may be thresholds between values that the sample has not got.
        """
        growing = cls(sample)
        given = nodes_of(trees)
        root = growing.at(0)
        growing.nodes = [copy(root) for _ in given.tests]
        for number, question in enumerate(given.tests):
            node = growing.at(number)
            node.fork = None if question is None else fork_of(sample, question, len(given.children[number]))
            node.children = list(given.children[number])
        growing.count_anew()
        growing.note("forks")
        return growing

    def trees(self) -> Trees:
        """Return the graph in the layout of Trees."""
        sample, kept = self.sample, self.order()
        place = {number: k for k, number in enumerate(kept)}
        nodes = [self.at(number) for number in kept]
        counts = np.stack([node.counts for node in nodes]) * sample.code.unit
        weight = counts.sum(axis=1)
        value = counts / np.where(weight > 0.0, weight, 1.0)[:, None]
        for k in np.flatnonzero(weight == 0.0).tolist():  # no row comes here: what is said of all
            value[k] = value[0]
        impurity = 1.0 - (value**2).sum(axis=1)
        gain = np.zeros(len(nodes))
        sent: list[tuple[tuple[int, ...], tuple[float, ...]]] = []
        for k, node in enumerate(nodes):
            if node.fork is None:
                sent.append(((), ()))
                continue
            parts = children_rows(sample, node.rows, node.fork)
            own = np.stack([sample.counts(rows) for rows in parts]) * sample.code.unit
            heft = own.sum(axis=1)
            sent.append((tuple(len(rows) for rows in parts), tuple(heft.tolist())))
            with np.errstate(invalid="ignore"):
                after = 1.0 - (np.nan_to_num(own / heft[:, None]) ** 2).sum(axis=1)
            gain[k] = max(impurity[k] - float((heft * after).sum()) / weight[k], 0.0) if weight[k] > 0.0 else 0.0
        return laid_out(
            GraphNodes(
                tests=[None if node.fork is None else node.fork.question for node in nodes],
                children=[tuple(place[child] for child in node.children) for node in nodes],
                value=value,
                n_samples=np.array([len(node.rows) for node in nodes], np.int64),
                weight=weight,
                impurity=impurity,
                gain=gain,
                sent=sent,
            )
        )

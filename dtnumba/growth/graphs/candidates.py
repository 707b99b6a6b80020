"""What could be done next to a graph: the best forks of its leaves, and what each pair of nodes would save."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.graphs.forks import Fork, ForkRules, forks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.graphs.growing import GrowingGraph


class Budget(NamedTuple):
    """How large a graph may become."""

    max_nodes: int
    max_depth: int


class BestForks:
    """The forks of all leaves: of each leaf the best for each number of children."""

    def __init__(self, growing: GrowingGraph, budget: Budget, rules: ForkRules | None) -> None:
        self._growing, self._budget, self._rules = growing, budget, rules
        self._of: dict[int, dict[int, Fork]] = {}
        self._both: dict[tuple[int, int], dict[int, Fork]] = {}
        for leaf in growing.leaves:
            self.add(leaf)

    def add(self, leaf: int) -> None:
        """Look for the forks of a leaf."""
        node = self._growing.at(leaf)
        self._of[leaf] = self._best_of(node.rows, node.depth, node.spent)

    def _best_of(self, rows: NDArray[np.int64], depth: int, spent: int) -> dict[int, Fork]:
        best: dict[int, Fork] = {}
        if depth < self._budget.max_depth and self._rules is not None:
            for fork in forks_of(self._growing.sample, rows, spent, self._rules):
                if fork.fan not in best or fork.saved > best[fork.fan].saved:
                    best[fork.fan] = fork
        return best

    def for_both(self, a: int, b: int) -> tuple[float, Fork | None]:
        """Return the fork that saves most once two leaves have joined, and what it saves."""
        pair = (min(a, b), max(a, b))
        if pair not in self._both:
            one, other = self._growing.at(a), self._growing.at(b)
            rows = np.sort(np.concatenate([one.rows, other.rows]))
            self._both[pair] = self._best_of(rows, max(one.depth, other.depth), one.spent & other.spent)
        found: tuple[float, Fork | None] = (-math.inf, None)
        for fan, fork in sorted(self._both[pair].items()):
            saves = fork.saved - self._shape(fan)  # a joined leaf becomes a test at no cost
            if saves > found[0] and fan < self._room() + 2:
                found = saves, fork
        return found

    def saving(self, leaf: int) -> float:
        """Return what the best fork of a leaf saves."""
        price = self._symbols(leaf)
        return max((fork.saved - price - self._shape(fan) for fan, fork in self._of[leaf].items()), default=-math.inf)

    def _symbols(self, leaf: int) -> float:
        return self._growing.symbol(leaf, is_leaf=False) - self._growing.symbol(leaf, is_leaf=True)

    def _shape(self, fan: int) -> float:
        return fan * math.log2(fan / (fan - 1.0)) + self._growing.joins_after(ends=fan)

    def _room(self) -> int:
        return self._budget.max_nodes - self._growing.n_nodes

    def drop(self, leaf: int) -> None:
        """Forget a leaf that is none any more."""
        self._of.pop(leaf, None)
        self._both = {pair: best for pair, best in self._both.items() if leaf not in pair}

    def best(self) -> tuple[float, int, Fork | None]:
        """Return the fork that saves most: (bits, its leaf, it)."""
        found: tuple[float, int, Fork | None] = (-math.inf, -1, None)
        room, shapes = self._room(), {}
        for leaf in sorted(self._of):
            symbols = self._symbols(leaf)
            for fan, fork in sorted(self._of[leaf].items()):
                if fan > room:
                    continue
                if fan not in shapes:
                    shapes[fan] = self._shape(fan)
                saves = fork.saved - symbols - shapes[fan]
                if saves > found[0]:
                    found = saves, leaf, fork
        return found


class NodePairs:
    """What joining each pair of nodes would save of the labels if both were leaves, kept in a square that grows."""

    def __init__(self, growing: GrowingGraph) -> None:
        self._growing = growing
        self._saved = np.full((16, 16), -np.inf)
        self._leaf = np.full(16, -1)  # of each line of the square; -1 of a free one
        self._symbol = np.zeros(16)
        self._joined = np.zeros(16, np.int64)
        self._is_leaf = np.zeros(16, bool)
        self._counts = np.zeros((16, growing.sample.n_classes), np.int64)
        self._bits = np.zeros(16)
        self._total = int(growing.sample.weight.sum())
        for number, node in enumerate(growing.nodes):
            if node is not None:
                self.add(number)

    def add(self, leaf: int) -> None:
        """Compare a leaf with all others."""
        free = np.flatnonzero(self._leaf < 0)
        if not len(free):
            self._enlarge()
            free = np.flatnonzero(self._leaf < 0)
        at, node = int(free[0]), self._growing.at(leaf)
        others = np.flatnonzero(self._leaf >= 0)
        self._leaf[at], self._counts[at], self._bits[at] = leaf, node.counts, node.bits
        self._symbol[at] = self._growing.symbol(leaf, is_leaf=True)
        self._joined[at], self._is_leaf[at] = len(node.ends) > 1, node.fork is None
        together = self._counts[others] + node.counts
        others = others[together.sum(axis=1) <= self._total]  # those of a node and one above it may be more than all
        if len(others):
            both = self._growing.sample.code.bits(self._counts[others] + node.counts)
            self._saved[at, others] = self._saved[others, at] = self._bits[others] + node.bits - both

    def drop(self, leaf: int) -> None:
        """Forget a leaf that is none any more."""
        at = np.flatnonzero(self._leaf == leaf)
        self._leaf[at] = -1
        self._saved[at] = self._saved[:, at] = -np.inf

    def best(self) -> tuple[float, int, int]:
        """Return the join that saves most: (bits, the leaf that stays, the leaf that goes)."""
        used = self._used()
        if len(used) < 2:
            return -math.inf, -1, -1
        saved = self._prices(used, used)
        at = int(np.where(np.arange(len(used))[:, None] < np.arange(len(used)), saved, -np.inf).argmax())
        one, other = divmod(at, len(used))
        return float(saved[one, other]), int(self._leaf[used[one]]), int(self._leaf[used[other]])

    def nearest(
        self, leaf: int, n: int, *, is_inner: bool = False, but: Any = ()
    ) -> list[tuple[float, int]]:  # fmt: skip
        """Return the leaves, or inner nodes, with which a join saves most, or costs least: (bits, node)."""
        lines = np.flatnonzero(self._leaf == leaf)
        used = self._used(is_inner=is_inner)
        used = used[[int(one) != leaf and int(one) not in but for one in self._leaf[used]]]
        if not len(used):
            return []
        saved = self._prices(lines, used)[0]
        order = np.argsort(-saved, kind="stable")[:n]
        return [(float(saved[i]), int(self._leaf[used[i]])) for i in order]

    def price(self, leaf: int) -> tuple[float, float]:
        """Return what the structure saves where a leaf leads to a node that none, or that several lead to."""
        at = int(np.flatnonzero(self._leaf == leaf)[0])
        price, joined = self._of_joins(), int(self._joined[at])
        return self._symbol[at] - price[joined], self._symbol[at] - price[joined + 1]

    def _used(self, *, is_inner: bool = False) -> NDArray[np.int64]:
        """Return the lines of leaves, or of inner nodes, in the order in which these were made."""
        used = np.flatnonzero((self._leaf >= 0) & (self._is_leaf != is_inner))
        return used[np.argsort(self._leaf[used])]

    def _of_joins(self) -> NDArray[np.float64]:
        """Return what the joins take more where, of two nodes, none, one or both have joined before."""
        growing = self._growing
        free, price = growing.n_ends - growing.n_joining, np.zeros(3)
        if free >= 2:
            price[0] = growing.joins_after(joining=2, groups=1)
        if growing.n_groups > 0 and free >= 1:
            price[1] = growing.joins_after(joining=1)
        if growing.n_groups > 1:
            price[2] = growing.joins_after(groups=-1)
        return price

    def _prices(self, lines: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what joins save when what they add to the structure is paid."""
        price = self._of_joins()
        saved = self._saved[np.ix_(lines, others)] + (self._symbol[lines][:, None] + self._symbol[others] - 1.0)
        return np.asarray(saved - price[self._joined[lines][:, None] + self._joined[others]])

    def _enlarge(self) -> None:
        n = 2 * len(self._leaf)
        saved = np.full((n, n), -np.inf)
        saved[: n // 2, : n // 2] = self._saved
        self._saved = saved
        for name, fill in (
            ("_leaf", -1),
            ("_symbol", 0),
            ("_joined", 0),
            ("_is_leaf", 0),
            ("_counts", 0),
            ("_bits", 0),
        ):
            column = getattr(self, name)
            more = np.full((n // 2, *column.shape[1:]), fill, column.dtype)
            setattr(self, name, np.concatenate([column, more]))

"""Growth by message length (Oliver, Dowe & Wallace 1992): forks and joins, the largest saving first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.growth.graphs.candidates import BestForks, Budget, NodePairs
from dtnumba.growth.graphs.growing import GrowingGraph, Node
from dtnumba.growth.graphs.look_ahead import DeepFork, Open, deep_fork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtnumba.growth.graphs.forks import Fork, ForkRules
    from dtnumba.growth.graphs.sample import GraphRows

SAVES = 1e-9  # bits: what is less may be rounding
_LOOK_AHEAD = 3  # tests below a leaf that are looked for together where none pays alone
_MOST_PARTNERS = 4  # nodes that one is held against: those whose labels are nearest


def grown_by_length(sample: GraphRows, budget: Budget, rules: ForkRules) -> GrowingGraph:
    """Return the graph of a sample: of all forks and joins that which saves most bits, until none saves any.

    Before a leaf is forked it is held against those that it could join: where one fork for both saves more than a fork
    for each, they join first. On ties a fork comes before a join, and nodes in the order in which they were made.
    """
    return grown_on(GrowingGraph(sample), budget, rules)


def grown_on(growing: GrowingGraph, budget: Budget, rules: ForkRules) -> GrowingGraph:
    """Return a graph that went on growing by forks and joins."""
    for _ in steps(growing, budget, rules):
        pass
    return growing


def joined_by_length(growing: GrowingGraph, budget: Budget) -> GrowingGraph:
    """Return a graph whose nodes joined where that saves bits; none is forked."""
    for _ in steps(growing, budget, None):
        pass
    return growing


def steps(growing: GrowingGraph, budget: Budget, rules: ForkRules | None) -> Iterator[GrowingGraph]:
    """Grow, and yield the graph after each step; without rules nothing is forked."""
    growth = _Growth(growing, budget, rules)
    while True:
        action = growth.next_step()
        if action is None:
            return
        growing.note(action)
        yield growing


class _Growth:
    """A graph that grows, and what could be done to it next."""

    def __init__(self, growing: GrowingGraph, budget: Budget, rules: ForkRules | None) -> None:
        self._growing, self._budget, self._rules = growing, budget, rules
        self._forks, self._pairs = BestForks(growing, budget, rules), NodePairs(growing)
        self._looked: set[int] = set()  # leaves below which no branch pays
        self._is_shared = False  # nothing has changed since equal tests were looked for

    def next_step(self) -> str | None:
        """Do what saves most; return what that was, None where nothing saves any bits."""
        fork_saves, number, fork = self._forks.best()
        join_saves, a, b = self._pairs.best()
        if max(fork_saves, join_saves) <= SAVES:
            return self._beyond_the_next()
        self._is_shared = False
        if fork is None or fork_saves < join_saves:
            self._join(a, b)
            return "join"
        others = self._others(number)
        if others and others[0][0] > fork_saves and self._lead(number, others[0][1]):
            return "join"
        partner, joined_saves, both = self._fork_for_both(number, fork_saves)
        if both is None:
            self._put(number, fork)
            return "fork"
        kept = min(number, partner)
        self._join(kept, max(number, partner))
        if joined_saves > SAVES:
            return "join"
        self._put(kept, both)  # the join pays only with this fork
        return "join and fork"

    def _beyond_the_next(self) -> str | None:
        """Do something that pays where no fork and no join of leaves does."""
        if self._rules is not None and self._look_ahead(self._rules):
            return "forks"
        if self._share():
            return "share"
        return "join" if self._lead_anywhere() else None

    def _join(self, a: int, b: int) -> None:
        """Let leaf b join leaf a."""
        self._growing.join(a, b)
        for gone in (a, b):
            self._forget(gone)
        self._forks.add(a)
        self._pairs.add(a)

    def _put(self, number: int, fork: Fork) -> None:
        """Put a test in the place of a leaf."""
        children = self._growing.fork(number, fork)
        self._forget(number)
        self._pairs.add(number)
        for child in children:
            self._forks.add(child)
            self._pairs.add(child)

    def _forget(self, number: int) -> None:
        self._looked.discard(number)
        self._forks.drop(number)
        self._pairs.drop(number)

    def _renew(self, before: list[Node | None]) -> None:
        """Look again at nodes that have other rows or other ends now."""
        now = self._growing.nodes
        for number in range(len(now)):
            old = before[number] if number < len(before) else None
            node = now[number]
            if old is not None and node is not None and _is_same(old, node):
                continue
            self._forget(number)
            if node is not None:
                self._pairs.add(number)
                if node.fork is None:
                    self._forks.add(number)

    def _tried(self, kept: tuple[list[Node | None], ...], *, is_legal: bool = True) -> bool:
        """Keep what was done if the message is shorter now; else undo it."""
        growing = self._growing
        if not is_legal or growing.length().total > growing.history[-1].total - SAVES:
            growing.undo(kept)
            return False
        self._renew(kept[0])
        return True

    def _lead(self, gone: int, to: int) -> bool:
        """Let what leads to one node lead to another, if that pays."""
        growing, kept = self._growing, self._growing.kept()
        growing.lead(gone, to)
        deepest = max(growing.at(leaf).depth for leaf in growing.leaves)
        return self._tried(kept, is_legal=deepest <= self._budget.max_depth)

    def _share(self) -> bool:
        """Let equal tests be one, if that pays."""
        if self._is_shared:
            return False
        kept, self._is_shared = self._growing.kept(), True
        return self._growing.share() and self._tried(kept)

    def _look_ahead(self, rules: ForkRules) -> bool:
        """Put a branch in the place of the first leaf where one pays."""
        growing = self._growing
        for leaf in sorted(set(growing.leaves) - self._looked):
            self._looked.add(leaf)
            node = growing.at(leaf)
            start = Open(node.rows, node.spent, node.depth, node.ends[0] if len(node.ends) == 1 else 2)
            deep = min(self._budget.max_depth, node.depth + _LOOK_AHEAD)
            branch = deep_fork(growing.sample, start, rules, deep, growing.bits_of_ends)
            if branch is not None and self._put_all(leaf, branch):
                return True
        return False

    def _put_all(self, number: int, branch: DeepFork) -> bool:
        """Put a branch in the place of a leaf, if that pays."""
        growing, kept, waiting = self._growing, self._growing.kept(), [(number, branch)]
        while waiting:
            leaf, own = waiting.pop()
            children = growing.fork(leaf, own.fork)
            waiting += [(child, one) for child, one in zip(children, own.below, strict=True) if one is not None]
        return self._tried(kept, is_legal=growing.n_nodes <= self._budget.max_nodes)

    def _others(self, gone: int) -> list[tuple[float, int]]:
        """Return inner nodes that could stand for a node too, and about what that saves, most first."""
        growing, pairs = self._growing, self._pairs
        feature, but = _feature(growing, gone), growing.above(gone) | growing.below(gone)
        if feature >= 0:  # of a test those that ask the same column
            but |= {number for number in growing.below(0) if _feature(growing, number) != feature}
        price = pairs.price(gone)
        found = [
            (growing.leading(gone, to) + price[int(len(growing.at(to).ends) > 1)], to)
            for _, to in pairs.nearest(gone, _MOST_PARTNERS, is_inner=True, but=but)
        ]
        return sorted(found, key=lambda one: (-one[0], one[1]))

    def _lead_anywhere(self) -> bool:
        """Let the node that saves most by it lead to an inner node; False where none saves any."""
        numbers = [number for number in sorted(self._growing.below(0)) if number]
        found = [(saves, gone, to) for gone in numbers for saves, to in self._others(gone)[:1] if saves > 0.0]
        return any(self._lead(gone, to) for _, gone, to in sorted(found, key=lambda one: (-one[0], one[1])))

    def _fork_for_both(self, number: int, saves: float) -> tuple[int, float, Fork | None]:
        """Return the leaf with which one fork saves most beyond a fork for each, the bits of the join, and the fork."""
        best: tuple[int, float, Fork | None] = (-1, 0.0, None)
        more = SAVES
        for joined_saves, partner in self._pairs.nearest(number, _MOST_PARTNERS):
            together, fork = self._forks.for_both(number, partner)
            beyond = joined_saves + together - saves - max(self._forks.saving(partner), 0.0)
            if fork is not None and joined_saves + together > SAVES and beyond > more:
                best, more = (partner, joined_saves, fork), beyond
        return best


def _is_same(old: Node, node: Node) -> bool:
    """Tell whether a node has the same rows, ends and columns as before."""
    plain = (old.fork is None) == (node.fork is None) and old.depth == node.depth and old.spent == node.spent
    return plain and old.ends == node.ends and np.array_equal(old.rows, node.rows)


def _feature(growing: GrowingGraph, number: int) -> int:
    fork = growing.at(number).fork
    return -1 if fork is None else fork.question.feature

"""Graphs that ask one column a level (Kohavi 1994): the column that saves most bits in all leaves together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtnumba.growth.graphs.by_length import SAVES
from dtnumba.growth.graphs.candidates import NodePairs
from dtnumba.growth.graphs.forks import Fork, ForkRules, forks_of
from dtnumba.growth.graphs.growing import GrowingGraph

if TYPE_CHECKING:
    from dtnumba.growth.graphs.candidates import Budget
    from dtnumba.growth.graphs.sample import GraphRows


def grown_by_levels(sample: GraphRows, budget: Budget, rules: ForkRules) -> GrowingGraph:
    """Return the graph of a sample whose ways ask the columns in one order.

    A level forks those leaves in which its column saves bits, each by its own cut; then leaves join as long as that
    saves any. A leaf that is not forked waits for the next level. A category is asked once on a way, and a column of
    numbers may have several levels.
    """
    growing = GrowingGraph(sample)
    while True:
        forks = _best_level(growing, budget, rules)
        if not forks:
            break
        for leaf, fork in forks.items():
            if growing.n_nodes + fork.fan <= budget.max_nodes:
                growing.fork(leaf, fork)
        growing.note("level")
        _join_leaves(growing)
    return growing


def _best_level(growing: GrowingGraph, budget: Budget, rules: ForkRules) -> dict[int, Fork]:
    """Return the forks of the column that saves most, by leaf; none where no column saves any."""
    found: dict[int, dict[int, tuple[float, Fork]]] = {}
    for leaf in growing.leaves:
        node = growing.at(leaf)
        if node.depth >= budget.max_depth:
            continue
        for fork in forks_of(growing.sample, node.rows, node.spent, rules):
            saves, own = fork.saved - growing.forking(leaf, fork.fan), found.setdefault(fork.question.feature, {})
            fits = growing.n_nodes + fork.fan <= budget.max_nodes
            if fits and saves > SAVES and (leaf not in own or saves > own[leaf][0]):
                own[leaf] = saves, fork
    best = max(found, key=lambda j: (sum(saves for saves, _ in found[j].values()), -j), default=-1)
    return {} if best < 0 else {leaf: fork for leaf, (_, fork) in sorted(found[best].items())}


def _join_leaves(growing: GrowingGraph) -> None:
    """Let leaves join as long as that saves bits, the largest saving first."""
    pairs = NodePairs(growing)
    while True:
        saves, a, b = pairs.best()
        if saves <= SAVES:
            return
        growing.join(a, b)
        pairs.drop(a)
        pairs.drop(b)
        pairs.add(a)
        growing.note("join")

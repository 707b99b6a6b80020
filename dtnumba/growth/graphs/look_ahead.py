"""Forks that pay only together: a tree below a leaf, grown some tests deep and cut back where that is shorter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dtnumba.growth.graphs.forks import Fork, ForkRules, children_rows, forks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from dtnumba.growth.graphs.sample import GraphRows


class DeepFork(NamedTuple):
    """A fork and what hangs below it; None of a leaf."""

    fork: Fork
    below: tuple[DeepFork | None, ...]

    @property
    def n_nodes(self) -> int:
        """Nodes that it adds to a leaf."""
        return sum(1 + (0 if branch is None else branch.n_nodes) for branch in self.below)


class Open(NamedTuple):
    """A node of the tree that is grown."""

    rows: NDArray[np.int64]
    spent: int
    depth: int
    fan: int  # of the parent


def deep_fork(
    sample: GraphRows, start: Open, rules: ForkRules, max_depth: int, end_bits: Callable[[int], float]
) -> DeepFork | None:  # fmt: skip
    """Return the branch that saves most below a leaf, None where none does; ``end_bits``: what so many ends take."""
    nodes, forks, own = [start], [], []
    children: list[list[int]] = []
    for at, node in enumerate(nodes):  # grows as it is gone through
        own.append(float(sample.code.bits(sample.counts(node.rows))))
        # What no test pays for: its column, and two ends that say no label
        least = math.log2(max(sample.n_features - node.spent.bit_count(), 1)) + end_bits(2) + 2.0
        may_pay = own[at] > least and node.depth < max_depth
        found = forks_of(sample, node.rows, node.spent, rules) if may_pay else []
        forks.append(max(found, key=_worth, default=None))
        children.append([])
        fork = forks[at]
        if fork is not None:
            spent = node.spent | (1 << fork.question.feature) if fork.spends else node.spent
            for rows in children_rows(sample, node.rows, fork):
                children[at].append(len(nodes))
                nodes.append(Open(rows, spent, node.depth + 1, fork.fan))
    bits = [0.0] * len(nodes)
    branches: list[DeepFork | None] = [None] * len(nodes)
    for at in range(len(nodes) - 1, -1, -1):
        node, fork = nodes[at], forks[at]
        b = float(node.fan)
        bits[at] = own[at] + math.log2(b / (b - 1.0))
        if fork is not None:
            below = fork.asked + math.log2(b) + end_bits(fork.fan) + math.fsum(bits[child] for child in children[at])
            if below < bits[at]:
                bits[at] = below
                branches[at] = DeepFork(fork, tuple(branches[child] for child in children[at]))
    return branches[0]


def _worth(fork: Fork) -> float:
    """Return the bits of labels that a test saves by each branch beyond the first: many branches leave few rows."""
    return (fork.saved + fork.asked) / (fork.fan - 1)

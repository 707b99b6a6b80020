"""Simplify: what says the same is said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.pruner import Pruner, pruner
from dtnumba.subtrees import rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruner import Subject
    from dtnumba.trees import Trees


@pruner("simplify")
@dataclass(frozen=True)
class Simplify(Pruner):
    """Make a leaf of every subtree whose leaves all say the same.

    ``predict`` stays as it is. Leaves of a classifier say the same where they have the same label, so shares of classes
    may change; where a forest adds up the shares of its trees, they must be the same, too.

    """

    def pruned(self, subject: Subject) -> Trees:
        """Return the trees with fewer leaves."""
        trees, says = subject.trees, _said(subject)
        lowest, highest = says.copy(), says.copy()
        for level in reversed(subject.levels):
            for ends, combine in ((lowest, np.minimum), (highest, np.maximum)):
                within = combine.reduceat(ends[level.children], level.starts)
                ends[level.inner] = combine(ends[level.inner], within)
        return rebuilt(trees, subject.levels, (lowest == highest).all(axis=1))


def _said(subject: Subject) -> NDArray[np.float64]:
    """Return what each node answers, a row a node."""
    is_soft = getattr(subject.model, "voting", "hard") == "soft"
    if not subject.is_classes or is_soft:
        return subject.trees.value
    if subject.rule is not None:
        return subject.rule.codes(subject.trees.value)[:, None].astype(np.float64)
    return np.stack([of.argmax(axis=1) for of in subject.counts], axis=1).astype(np.float64)

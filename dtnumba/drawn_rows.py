"""The rows that each tree of a forest drew, drawn again when they are asked for.

Draws are functions of the seed and the tree, so a fitted forest keeps how it drew and not what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import launch, part
from dtnumba.sampling import Balanced, Everything, sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_ROWS, _NO_KEYS = np.empty(0, np.uint32), np.empty(0, np.uint64)


@part
class CountDraws(NamedTuple):
    """Count how often a tree drew each row."""

    sampling: object
    tree: int
    counts: np.ndarray  # (n,) int64 out
    totals: np.ndarray  # no numbers: classes do not matter to the draws

    def run(self, worker):
        sample(self.sampling, self.tree, self.counts, self.totals)


class Drawing(NamedTuple):
    """How a forest drew its rows, without what can be made again."""

    sampling: Any
    n_rows: int
    whole: bool  # every row may be drawn

    def rows(self, seed: int, n_trees: int) -> list[NDArray[np.int32]]:
        """Return the rows of each tree, ascending, each as often as it was drawn."""
        every = np.arange(self.n_rows, dtype=np.int32)
        if isinstance(self.sampling, Everything):
            return [every.copy() for _ in range(n_trees)]
        keys = np.array([rng.stream(seed, rng.BOOTSTRAP, t) for t in range(n_trees)], np.uint64)
        sampling = self.sampling._replace(keys=keys)
        if self.whole:
            sampling = sampling._replace(kept=every.astype(np.uint32))
        counts, totals, found = np.zeros(self.n_rows, np.int64), np.empty(0), []
        for tree in range(n_trees):
            launch(CountDraws(sampling, tree, counts, totals), 1)
            found.append(np.repeat(every, counts))
        return found


def drawing_of(sampling: Any, n_rows: int) -> Drawing:
    """Return what a fitted forest has to keep of its way of sampling."""
    if isinstance(sampling, Balanced):  # it weighs what another way of sampling drew
        sampling = sampling.draws
    if isinstance(sampling, Everything):
        return Drawing(sampling, n_rows, whole=True)
    whole = len(sampling.kept) == n_rows
    sampling = sampling._replace(keys=_NO_KEYS)
    return Drawing(sampling._replace(kept=_NO_ROWS) if whole else sampling, n_rows, whole)

# mypy: ignore-errors
# ruff: noqa: D102
"""The rows that each tree of a forest drew, drawn again when they are asked for.

Draws are functions of the seed and the tree, so a fitted forest keeps how it drew and not what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.forest.bootstrap_rows import Balanced, Everything, sample
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.progress import Monitor

if TYPE_CHECKING:
    from numpy.typing import NDArray


_NO_ROWS, _NO_KEYS = np.empty(0, np.uint32), np.empty(0, np.uint64)


@kernel_type
class CountDraws(NamedTuple):
    """Count how often a tree drew each row."""

    sampling: object
    tree: int
    counts: np.ndarray  # (n,) int64 out
    totals: np.ndarray  # no numbers: classes do not matter to the draws
    halt: np.ndarray

    def run(self, worker):
        sample(self.sampling, self.tree, self.counts, self.totals, self.halt)


class Drawing(NamedTuple):
    """How a forest drew its rows, without what can be made again."""

    sampling: Any
    n_rows: int
    whole: bool  # every row may be drawn

    @property
    def is_everything(self) -> bool:
        """Whether every tree saw all rows, each as much as it counts."""
        return isinstance(self.sampling, Everything)

    def rows(self, seed: int, n_trees: int) -> list[NDArray[np.int32]]:
        """Return the rows of each tree, ascending, each as often as it was drawn."""
        every = np.arange(self.n_rows, dtype=np.int32)
        return [np.repeat(every, self.counts(seed, tree)) for tree in range(n_trees)]

    def counts(self, seed: int, tree: int) -> NDArray[np.int64]:
        """Return how often a tree drew each row."""
        if isinstance(self.sampling, Everything):
            return np.ones(self.n_rows, np.int64)
        sampling = self.sampling._replace(keys=np.array([rng.streams_key(seed, rng.BOOTSTRAP)], np.uint64))
        if self.whole:
            sampling = sampling._replace(kept=np.arange(self.n_rows, dtype=np.uint32))
        counts, totals, halt = np.zeros(self.n_rows, np.int64), np.empty(0), np.zeros(1, np.int64)
        monitor = Monitor(0, None, 1, max(self.n_rows, sampling.n_draws))
        monitor.run_until(CountDraws(sampling, tree, counts, totals, halt), 1, halt)
        if monitor.error is not None:
            raise monitor.error
        return counts


def drawing_of(sampling: Any, n_rows: int) -> Drawing:
    """Return what a fitted forest has to keep of its way of sampling."""
    if isinstance(sampling, Balanced):  # it weighs what another way of sampling drew
        sampling = sampling.draws
    if isinstance(sampling, Everything):
        return Drawing(sampling, n_rows, whole=True)
    whole = len(sampling.kept) == n_rows
    sampling = sampling._replace(keys=_NO_KEYS)
    return Drawing(sampling._replace(kept=_NO_ROWS) if whole else sampling, n_rows, whole)

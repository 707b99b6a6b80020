"""A tree whose rows go down in parts, pruned with the rows it was grown on: from its arrays and back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.case_pruning import Cases, CaseShape, Costs, Pruning, Standing, prune_by_cases
from dtnumba.subtrees import levels_of, rebuilt
from dtnumba.trees import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.subtrees import Level
    from dtnumba.trees import Trees


def new_standing(trees: Trees, n_classes: int) -> Standing:
    """Return a tree of which nothing is decided yet."""
    m = trees.n_nodes
    whole, real = (np.zeros(m + 1, dtype) for dtype in (np.int64, np.float64))
    return Standing(
        is_leaf=trees.feature == LEAF,
        final=np.arange(m),
        counts=np.zeros((m, n_classes)),
        n_rows=whole.copy(),
        cost=real.copy(),
        share=np.ones(m),
        weight=real.copy(),
        start=whole.copy(),
        stop=whole.copy(),
        used=whole.copy(),
        state=whole.copy(),
        child=whole.copy(),
        path=whole.copy(),
        other=np.zeros((m + 1, 3), np.int64),
        sums=np.zeros(n_classes),
        parts=real.copy(),
        fill=whole.copy(),
    )


def pruned_with_cases(trees: Trees, cells: Any, codes: Any, weight: NDArray[np.float64], costs: Costs) -> Trees:
    """Return one tree pruned, and counted anew with all rows; ``codes`` and ``weight`` are those of each row."""
    kept, n_classes = np.flatnonzero(weight), trees.value.shape[1]
    shape = CaseShape(**{name: getattr(trees, name) for name in CaseShape._fields})
    n, room = len(kept), 16 * len(kept) + 1024  # what no list reaches takes no memory
    while True:
        lists = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        cases, standing = Cases(*lists, np.asarray(codes, np.int64)), new_standing(trees, n_classes)
        cases.row[:n], cases.weight[:n] = kept, weight[kept]
        if prune_by_cases(Pruning(shape, cells, cases, standing, costs), n):
            break
        room *= 2
    return _counted(trees, standing)


def recounted(trees: Trees, cells: Any, codes: Any, weight: NDArray[np.float64]) -> Trees:
    """Return a tree as it is, with the statistics of other rows."""
    return pruned_with_cases(trees, cells, codes, weight, Costs(-1.0, 0.0, 0.0, -np.inf, raises=False, adds=False))


def _counted(trees: Trees, standing: Standing) -> Trees:
    """Return what stands, with the statistics of the rows it has now."""
    total = standing.counts.sum(axis=1)
    value = np.divide(standing.counts, total[:, None], out=trees.value.copy(), where=total[:, None] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        impurity = -np.where(value > 0, value * np.log2(value), 0.0).sum(axis=1)
    before = trees.value * trees.weight[:, None]
    has_changed = np.abs(standing.counts - before).max(axis=1) > 1e-9 * np.maximum(total, 1.0)
    columns: dict[str, Any] = {
        "value": value,
        "weight": total,
        "n_samples": standing.n_rows[: trees.n_nodes],
        "share": standing.share,
        "impurity": np.where(has_changed, impurity, trees.impurity),
        "gain": np.where(has_changed, np.nan, trees.gain),  # to be found when it is known what stands below
    }
    smaller = rebuilt(trees._replace(**columns), levels_of(trees), standing.is_leaf, standing.final)
    levels = levels_of(smaller)
    return _with_gains(_filled(smaller, levels), levels)


def _with_gains(trees: Trees, levels: list[Level]) -> Trees:
    """Give the nodes without a gain the decrease of impurity that their children make."""
    gain, spread = trees.gain.copy(), trees.impurity * trees.weight
    for level in levels:
        left = np.add.reduceat(spread[level.children], level.starts)
        weight = np.maximum(trees.weight[level.inner], 1e-300)
        found = np.maximum(trees.impurity[level.inner] - left / weight, 0.0)
        gain[level.inner] = np.where(np.isnan(gain[level.inner]), found, gain[level.inner])
    return trees._replace(gain=gain)


def with_empty_filled(trees: Trees) -> Trees:
    """Let leaves without rows say what their parents say."""
    return _filled(trees, levels_of(trees))


def _filled(trees: Trees, levels: list[Level]) -> Trees:
    value = trees.value.copy()
    for level in levels:
        owner = np.repeat(level.inner, level.fan)
        empty = trees.weight[level.children] <= 0
        value[level.children[empty]] = value[owner[empty]]
    return trees._replace(value=value)

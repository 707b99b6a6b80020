"""``plot.leaves``: a bar a leaf, as wide as its rows are many, with what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.figures.axes import axes_for, label_axes, name_handles
from dtnumba.figures.colours import DARK, class_colours, tints_of_numbers
from dtnumba.figures.tree_cells import Shown
from dtnumba.trees.layout import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.figures.tree_cells import Names

_MOST_NAMED = 20
_MOST_LINED, _MOST_BARS = 80, 500  # lines between more leaves would hide their colours; bars would be finer than dots


def draw_leaves(model: Any, ax: Any, names: Names, *, tree: int) -> Any:
    """Draw the leaves of one tree; see ``plot.leaves``."""
    shown = Shown(model, "plot.leaves", tree, names)
    leaves = np.flatnonzero(shown.trees.feature == LEAF)
    rows, value = shown.trees.n_samples[leaves], shown.value[leaves]
    if shown.codes is None:
        order = np.argsort(value[:, 0], kind="stable")
    else:
        first = shown.codes[leaves, 0]
        order = np.lexsort([-value[np.arange(len(leaves)), first], first])
    rows, value = _joined(rows[order], value[order])
    edges = np.concatenate([[0], np.cumsum(rows)]).astype(np.float64)
    axes = axes_for(ax, "plot.leaves")
    n_outputs = len(shown.columns.sizes)
    of_first = f", output 0 of {n_outputs}" if n_outputs > 1 else ""
    width = np.diff(edges)
    line = {"edgecolor": DARK, "linewidth": 0.4 if len(leaves) <= _MOST_LINED else 0.0}
    if shown.codes is None:
        axes.bar(edges[:-1], value[:, 0], width, align="edge", color=tints_of_numbers(value[:, 0]), **line)
        label_axes(axes, "rows, leaf by leaf", f"prediction{of_first}", f"{len(leaves):,} leaves")
    else:
        k = shown.columns.sizes[0]
        colours, low, handles = class_colours(k), np.zeros(len(rows)), []
        for c in range(k):
            bars = axes.bar(edges[:-1], value[:, c], width, low, align="edge", color=colours[c], **line)
            low = low + value[:, c]
            handles.append(bars)
        name_handles(axes, handles[:_MOST_NAMED], shown.class_names()[:_MOST_NAMED])
        axes.set_ylim(0.0, 1.0)
        label_axes(axes, "rows, leaf by leaf", f"shares of classes{of_first}", f"{len(leaves):,} leaves")
    axes.set_xlim(0.0, edges[-1])
    return axes


def _joined(rows: NDArray[np.int64], value: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return bars that can be seen: of very many leaves, neighbours as one bar of their mean."""
    if len(rows) <= _MOST_BARS:
        return rows, value
    before = np.cumsum(rows) - rows
    first = np.unique(before * _MOST_BARS // max(int(rows.sum()), 1), return_index=True)[1]
    joined = np.add.reduceat(rows, first)
    return joined, np.add.reduceat(value * rows[:, None], first) / np.maximum(joined, 1)[:, None]

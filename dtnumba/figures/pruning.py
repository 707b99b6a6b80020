"""``plot.pruning``: error against size, in training and on rows held out, with the rule of one standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.figures.axes import axes_for, label_axes
from dtnumba.figures.colours import DARK, GREY

_TRAINING, _HELD_OUT = "#D55E00", "#0072B2"
_MOST_EVEN = 40  # sizes above which they are spread by their logarithm


def draw_pruning(curve: Any, ax: Any = None) -> Any:
    """Draw a curve of sizes; see ``plot.pruning``."""
    what = "plot.pruning"
    if hasattr(curve, "validation_error"):
        sizes, train, held, spread = (
            np.asarray(getattr(curve, name))
            for name in ("sizes", "train_error", "validation_error", "validation_standard_error")
        )
        unit = str(curve.loss)
    elif hasattr(curve, "standard_error") and hasattr(curve, "n_leaves"):
        names = ("n_leaves", "risk", "error", "standard_error")
        sizes, train, held, spread = (np.asarray(getattr(curve, name))[::-1] for name in names)
        unit = "error"
    else:
        raise TypeError(
            f"{what}: {type(curve).__name__} is no curve; pass what validation.complexity_curve(model, X, y) or "
            "pruners.CostComplexity().table(model, X, y) returns"
        )
    axes = axes_for(ax, what)
    axes.plot(sizes, train, color=_TRAINING, label="training", linestyle="--", drawstyle="default")
    axes.plot(sizes, held, color=_HELD_OUT, label="held out", marker="o" if len(sizes) <= _MOST_EVEN else "", ms=3)
    best = int(np.flatnonzero(held <= held.min())[0])
    axes.axvline(sizes[best], color=_HELD_OUT, linewidth=1.0, label=f"least error: {_leaves(sizes[best])}")
    if not np.isnan(spread).any():
        axes.fill_between(sizes, held - spread, held + spread, color=_HELD_OUT, alpha=0.18, linewidth=0)
        bound = held[best] + spread[best]
        chosen = int(np.flatnonzero(held <= bound)[0])
        axes.axhline(bound, color=GREY, linestyle=":", linewidth=1.0)
        axes.axvline(
            sizes[chosen], color=DARK, linestyle=":", linewidth=1.4,
            label=f"within one standard error: {_leaves(sizes[chosen])}",
        )  # fmt: skip
    if sizes.max() > _MOST_EVEN:
        axes.set_xscale("log")
    label_axes(axes, "leaves", unit)
    axes.legend()
    return axes


def _leaves(n: Any) -> str:
    return f"{int(n):,} lea{'f' if n == 1 else 'ves'}"

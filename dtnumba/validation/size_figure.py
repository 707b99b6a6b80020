"""Error against size as a figure: in training, on rows held out, and what the rule of one standard error chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRAINING, _HELD_OUT, _BOUND, _CHOSEN = "#D55E00", "#0072B2", "#808080", "#303030"
_MOST_EVEN = 40  # sizes above which they are spread by their logarithm


def new_axes() -> Any:
    """Return matplotlib axes of a figure of their own."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed: pip install matplotlib (or dtnumba[plot])"
        ) from error
    return plt.figure().subplots()


def draw_errors(
    axes: Any,
    sizes: NDArray[np.int64],
    train: NDArray[np.float64],
    held: NDArray[np.float64],
    spread: NDArray[np.float64],
    unit: str,
) -> Any:
    """Draw errors in training and on rows held out against ascending sizes; ``spread`` is NaN where it is not known."""
    axes.plot(sizes, train, color=_TRAINING, label="training", linestyle="--")
    axes.plot(sizes, held, color=_HELD_OUT, label="held out", marker="o" if len(sizes) <= _MOST_EVEN else "", ms=3)
    best = int(np.flatnonzero(held <= held.min())[0])
    axes.axvline(sizes[best], color=_HELD_OUT, linewidth=1.0, label=f"least error: {_leaves(sizes[best])}")
    if not np.isnan(spread).any():
        axes.fill_between(sizes, held - spread, held + spread, color=_HELD_OUT, alpha=0.18, linewidth=0)
        bound = held[best] + spread[best]
        chosen = int(np.flatnonzero(held <= bound)[0])
        axes.axhline(bound, color=_BOUND, linestyle=":", linewidth=1.0)
        axes.axvline(
            sizes[chosen], color=_CHOSEN, linestyle=":", linewidth=1.4,
            label=f"within one standard error: {_leaves(sizes[chosen])}",
        )  # fmt: skip
    if sizes.max() > _MOST_EVEN:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("leaves")
    axes.set_ylabel(unit, parse_math=False)
    axes.legend()
    return axes


def _leaves(n: Any) -> str:
    return f"{int(n):,} lea{'f' if n == 1 else 'ves'}"

"""``plot.pruning``: error against size, in training and on rows held out, with the rule of one standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.figures.axes import axes_for
from dtnumba.validation.size_figure import draw_errors


def draw_pruning(curve: Any, ax: Any = None) -> Any:
    """Draw a curve of sizes; see ``plot.pruning``."""
    what = "plot.pruning"
    if hasattr(curve, "validation_error"):
        names = ("sizes", "train_error", "validation_error", "validation_standard_error")
        columns, unit = [np.asarray(getattr(curve, name)) for name in names], str(curve.loss)
    elif hasattr(curve, "standard_error") and hasattr(curve, "n_leaves"):
        names = ("n_leaves", "risk", "error", "standard_error")
        columns, unit = [np.asarray(getattr(curve, name))[::-1] for name in names], "error"
    else:
        raise TypeError(
            f"{what}: {type(curve).__name__} is no curve; pass what validation.complexity_curve(model, X, y) or "
            "pruners.CostComplexity().table(model, X, y) returns"
        )
    sizes, train, held, spread = columns
    return draw_errors(axes_for(ax, what), sizes, train, held, spread, unit)

"""``plot.importances``: what columns are worth, and how much the trees of a forest differ in that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.facts import renamed
from dtnumba.export.reading import Columns
from dtnumba.figures.axes import LONGEST_NAME, axes_for, ink, label_axes, name_ticks, short, take_room
from dtnumba.figures.colours import NUMBERS
from dtnumba.rules.text import names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_PER_BAR = 0.26  # inches


def draw_importances(
    model: Any, ax: Any = None, *, max_features: int | None = 20, feature_names: Sequence[Any] | None = None
) -> Any:
    """Draw importances; see ``plot.importances``."""
    what = "plot.importances"
    if not hasattr(model, "check_fitted") or not hasattr(type(model), "feature_importances_"):
        raise TypeError(f"{what}: {type(model).__name__} has no feature_importances_; pass a fitted tree or forest")
    if max_features is not None and not (isinstance(max_features, (int, np.integer)) and max_features >= 1):
        raise ValueError(f"max_features={max_features!r}: must be a number of bars of 1 or more, or None for all")
    seen = model.check_fitted().columns_seen
    plain_names = names_of(seen.n_features, seen.names)
    names = renamed(Columns(plain_names, [None] * len(plain_names), None, [1], ()), feature_names, None).names
    worth = np.asarray(model.feature_importances_)
    spread = np.asarray(model.importances_std_) if hasattr(type(model), "importances_std_") else None
    first = np.argsort(-worth, kind="stable")[:max_features]
    axes = axes_for(ax, what, (6.4, max(_PER_BAR * len(first) + 1.0, 2.0)))
    places = np.arange(len(first))[::-1]
    axes.barh(
        places, worth[first], xerr=None if spread is None else spread[first], color=NUMBERS, alpha=0.75, height=0.7,
        error_kw={"ecolor": ink(axes), "elinewidth": 1.0, "capsize": 2.5},
    )  # fmt: skip
    name_ticks(axes.yaxis, places.tolist(), [short(names[j], LONGEST_NAME) for j in first])
    hidden = len(worth) - len(first)
    title = f"{hidden:,} more column{'s' * (hidden != 1)} not shown" if hidden else ""
    label_axes(axes, "importance" + ("" if spread is None else ", ± standard deviation between trees"), "", title)
    take_room(ax, axes)
    return axes

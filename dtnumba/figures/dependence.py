"""``plot.dependence``: predictions against one column or two, averaged over rows that are else as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.figures.axes import axes_for, ink, label_axes, name_handles, plain, take_room
from dtnumba.figures.colours import class_colours, tints_of_numbers
from dtnumba.figures.regions import Asked

if TYPE_CHECKING:
    from dtnumba.figures.regions import Ranges
    from dtnumba.figures.tree_cells import Names

_MOST_PLACES = 4_000_000
_MOST_CLASSES = 8


def draw_dependence(
    model: Any, X: Any, columns: Any, ax: Any, names: Names, *, target: Any, ice: int
) -> Any:  # fmt: skip
    """Draw partial dependence; see ``plot.dependence``."""
    what = "plot.dependence"
    asked = Asked(model, X, what, names, sums=True)
    given = [columns] if isinstance(columns, (str, bytes, int, np.integer)) else list(columns)
    own = [asked.column(one) for one in given]
    if len(set(own)) not in {1, 2} or len(set(own)) != len(own):
        raise ValueError(f"{what}: columns={columns!r}: must be one column or two, by number or name")
    if not (isinstance(ice, (int, np.integer)) and not isinstance(ice, bool) and ice >= 0):
        raise ValueError(f"{what}: ice={ice!r}: must be a number of rows whose own curves are drawn, 0 or more")
    ks = _wanted(asked, target, what, one=len(own) == 2 or ice > 0)
    ranges = [asked.even_ranges(j) for j in own]
    axes = axes_for(ax, what)
    if len(own) == 1:
        _lines(axes, asked, own[0], ranges[0], ks, min(ice, len(asked.rows)))
    else:
        _plane(axes, asked, own, ranges, ks[0])
    take_room(ax, axes)
    return axes


def _wanted(asked: Asked, target: Any, what: str, *, one: bool) -> list[int]:
    """Return which shares or numbers of an answer are drawn."""
    classes, sizes = asked.columns.classes, asked.columns.sizes
    if classes is None:
        if target is not None and not (isinstance(target, (int, np.integer)) and 0 <= target < len(sizes)):
            raise ValueError(f"{what}: target={target!r}: must be the number of an output, below {len(sizes)}")
        return [int(target or 0)]
    if len(sizes) > 1:
        raise ValueError(f"{what}: the model has {len(sizes)} outputs of classes; fit a model of one of them")
    if target is not None:
        assert asked.labels is not None
        found = [k for k, both in enumerate(zip(asked.labels[0], classes[0], strict=True)) if target in both]
        if not found:
            raise ValueError(f"{what}: target={target!r} is none of the classes {asked.labels[0][:8]}")
        return found[:1]
    return [sizes[0] - 1] if one or sizes[0] <= 2 else list(range(min(sizes[0], _MOST_CLASSES)))


def _lines(axes: Any, asked: Asked, j: int, own: Ranges, ks: list[int], n_ice: int) -> None:
    kept = np.unique(np.linspace(0, len(asked.rows) - 1, n_ice).astype(np.int64)) if n_ice else np.empty(0, np.int64)
    colours, dark = class_colours(max(asked.columns.width, 2)), ink(axes)
    handles = []
    for k in ks:
        means, curves = asked.means_and_curves(own.asked[:, None], [j], k, kept)
        for curve in curves:
            axes.stairs(curve, own.edges, baseline=None, color=dark, alpha=0.25, linewidth=0.6)
        colour = dark if len(ks) == 1 else colours[k]
        handles.append(axes.stairs(means, own.edges, baseline=None, color=colour, linewidth=2.0, gid=f"mean {k}"))
    if asked.columns.levels[j] is None:
        values = asked.rows[np.isfinite(asked.rows[:, j]), j]
        tenths = np.quantile(values, np.linspace(0.1, 0.9, 9)) if len(values) else values
        axes.plot(tenths, np.zeros(len(tenths)), "|", color=dark, transform=axes.get_xaxis_transform(), clip_on=False)
    classes = asked.columns.classes
    said = "mean prediction" if classes is None else "mean share"
    if classes is not None and len(ks) == 1:
        said += f" of {plain(classes[0][ks[0]])}"
    elif classes is not None:
        name_handles(axes, handles, [plain(classes[0][k]) for k in ks])
    label_axes(axes, asked.columns.names[j], said)
    own.name_axis(axes.xaxis)
    axes.set_xlim(own.edges[0], own.edges[-1])


def _plane(axes: Any, asked: Asked, columns: list[int], ranges: list[Ranges], k: int) -> None:
    across, up = ranges
    shape = len(up.asked), len(across.asked)
    if shape[0] * shape[1] * len(asked.rows) > 50 * _MOST_PLACES:
        raise ValueError(
            f"plot.dependence: {len(asked.rows):,} rows at {shape[1]:,} × {shape[0]:,} places are too many "
            "predictions; pass fewer rows of X, a smaller model or one column"
        )
    places = np.column_stack([np.tile(across.asked, shape[0]), np.repeat(up.asked, shape[1])])
    means, _ = asked.means_and_curves(places, columns, k, np.empty(0, np.int64))
    axes.pcolormesh(across.edges, up.edges, tints_of_numbers(means).reshape(*shape, 3), gid="regions")
    names, classes = asked.columns.names, asked.columns.classes
    of = "prediction" if classes is None else f"share of {plain(classes[0][k])}"
    label_axes(axes, names[columns[0]], names[columns[1]], f"mean {of}: {means.min():.4g} (pale) to {means.max():.4g}")
    across.name_axis(axes.xaxis)
    up.name_axis(axes.yaxis)

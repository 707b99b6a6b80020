"""``plot.surface``: what is predicted over two columns, each region as the rectangles that it is, or the polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.figures.axes import axes_for, label_axes, name_handles, plain, take_room
from dtnumba.figures.colours import DARK, class_colours, tints_of_numbers, tints_of_shares
from dtnumba.figures.polygons import Piece
from dtnumba.figures.regions import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.figures.regions import Ranges
    from dtnumba.figures.tree_cells import Names

_MOST_RECTANGLES = 4_000_000
_APART = 0.3  # how far points of one level are spread, so that they do not hide each other


def draw_surface(
    model: Any, X: Any, y: Any, ax: Any, names: Names, *, columns: Sequence[Any] | None
) -> Any:  # fmt: skip
    """Draw predictions over two columns; see ``plot.surface``."""
    what = "plot.surface"
    asked = Asked(model, X, what, names, sums=True)
    a, b = _two(asked, columns, what)
    across, up = asked.ranges(a), asked.ranges(b)
    axes = axes_for(ax, what)
    if asked.has_sums:
        has_labels = _draw_polygons(axes, asked, (a, b), (across, up), what)
    else:
        has_labels = _draw_rectangles(axes, asked, (a, b), (across, up), what)
    if y is not None:
        _points(axes, asked, model, X, y, (a, b))
    elif has_labels:
        _legend(axes, asked)
    rest = "" if len(asked.columns.names) == 2 else "other columns: median, or commonest level"
    label_axes(axes, asked.columns.names[a], asked.columns.names[b], rest)
    across.name_axis(axes.xaxis)
    up.name_axis(axes.yaxis)
    axes.set(xlim=across.edges[[0, -1]], ylim=up.edges[[0, -1]])
    take_room(ax, axes)
    return axes


def _too_much(asked: Asked, what: str, places: str) -> ValueError:
    draw = "draw one tree of the forest, such as model[0], or " if asked.is_forest else "draw "
    return ValueError(f"{what}: predictions change at {places} places, more than can be seen; {draw}a smaller model")


def _fills(asked: Asked, codes: Any, said: NDArray[np.float64]) -> NDArray[np.float64]:
    if codes is None:
        return tints_of_numbers(said[:, 0])
    return tints_of_shares(said[:, : asked.columns.sizes[0]], codes[:, 0])


def _draw_polygons(axes: Any, asked: Asked, columns: tuple[int, int], ranges: tuple[Ranges, Ranges], what: str) -> bool:
    """Draw what a model says whose tests may be sums; tell whether it says labels."""
    from matplotlib.collections import PolyCollection

    sides = []
    for own in ranges:  # an axis of levels is cut beforehand
        ends = own.edges if own.levels is not None else own.edges[[0, -1]]
        codes = own.asked if own.levels is not None else np.array([np.nan])
        sides.append(list(zip(ends[:-1].tolist(), ends[1:].tolist(), codes.tolist(), strict=True)))
    whole = []
    for left, right, code in sides[0]:
        for low, high, other in sides[1]:
            row = asked.middle_row()
            row[list(columns)] = code, other
            whole.append(Piece(np.array([[left, low], [right, low], [right, high], [left, high]]), row))
    pieces = asked.pieces(columns, whole)
    if pieces is None:
        raise _too_much(asked, what, "too many")
    found, said = asked.answers(np.array([piece.inside(columns) for piece in pieces]))
    fills = _fills(asked, found, said)
    border = {"edgecolors": fills, "linewidths": 0.3} if asked.is_forest else {"edgecolors": DARK, "linewidths": 0.6}
    corners = [piece.corners for piece in pieces]
    axes.add_collection(PolyCollection(corners, facecolors=fills, gid="regions", **border), autolim=False)
    return found is not None


def _draw_rectangles(
    axes: Any, asked: Asked, columns: tuple[int, int], ranges: tuple[Ranges, Ranges], what: str
) -> bool:  # fmt: skip
    """Draw what a model says whose tests are of one column each; tell whether it says labels."""
    (a, b), (across, up) = columns, ranges
    shape = len(up.asked), len(across.asked)
    if shape[0] * shape[1] > _MOST_RECTANGLES:
        raise _too_much(asked, what, f"{shape[1]:,} × {shape[0]:,}")
    rows = np.tile(asked.middle_row(), (shape[0] * shape[1], 1))
    rows[:, a], rows[:, b] = np.tile(across.asked, shape[0]), np.repeat(up.asked, shape[1])
    codes, said = asked.answers(rows)
    axes.pcolormesh(across.edges, up.edges, _fills(asked, codes, said).reshape(*shape, 3), gid="regions")
    if asked.is_forest:  # which says something else nearly everywhere
        own = np.zeros((len(rows), 1)) if codes is None else codes
    else:
        own = said if codes is None else np.concatenate([said, codes], axis=1)
    _borders(axes, across.edges, up.edges, np.unique(own, axis=0, return_inverse=True)[1].reshape(shape))
    return codes is not None


def _two(asked: Asked, columns: Sequence[Any] | None, what: str) -> tuple[int, int]:
    n = len(asked.columns.names)
    if columns is None:
        if n != 2:
            raise ValueError(f"{what}: the model has {n} columns; pass columns=(a, b), the two to draw")
        return 0, 1
    if isinstance(columns, (str, bytes)) or not hasattr(columns, "__len__") or len(columns) != 2:
        raise ValueError(f"{what}: columns={columns!r}: must be two columns, by number or name")
    a, b = (asked.column(one) for one in columns)
    if a == b:
        raise ValueError(f"{what}: columns={columns!r}: must be two different columns")
    return a, b


def _borders(axes: Any, x: NDArray[np.float64], y: NDArray[np.float64], said: NDArray[np.int64]) -> None:
    """Draw lines where what is said changes, those side by side as one."""
    from matplotlib.collections import LineCollection

    lines = []
    for i, j in _runs(said[:, 1:] != said[:, :-1]):  # between columns i and i + 1
        lines += [[(x[i + 1], y[start]), (x[i + 1], y[stop])] for start, stop in j]
    for i, j in _runs((said[1:] != said[:-1]).T):
        lines += [[(x[start], y[i + 1]), (x[stop], y[i + 1])] for start, stop in j]
    axes.add_collection(LineCollection(lines, colors=DARK, linewidths=0.6, gid="borders"), autolim=False)


def _runs(differs: NDArray[np.bool_]) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return for each column where it is true, as ranges of rows."""
    found = []
    for i in np.flatnonzero(differs.any(axis=0)).tolist():
        ends = np.flatnonzero(np.diff(differs[:, i].astype(np.int8), prepend=0, append=0))
        found.append((i, list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))))
    return found


def _points(axes: Any, asked: Asked, model: Any, X: Any, y: Any, columns: tuple[int, int]) -> None:
    at = asked.rows[:, columns]
    spread = np.random.default_rng(0).uniform(-_APART, _APART, at.shape)
    at = at + np.where([asked.columns.levels[j] is not None for j in columns], spread, 0.0)
    _, outcome = model.read_known(X, y)
    if asked.columns.classes is None:
        target = np.asarray(y, np.float64).reshape(len(at), -1)[:, 0]
        axes.scatter(*at.T, c=tints_of_numbers(target), s=14, edgecolors=DARK, linewidths=0.5, zorder=3)
        return
    own, codes = class_colours(asked.columns.sizes[0]), outcome.codes[:, 0]
    for k in range(asked.columns.sizes[0]):
        axes.scatter(*at[codes == k].T, color=own[k], s=14, edgecolors=DARK, linewidths=0.5, zorder=3)
    _legend(axes, asked)


def _legend(axes: Any, asked: Asked) -> None:
    from matplotlib.patches import Patch

    assert asked.columns.classes is not None
    own = class_colours(asked.columns.sizes[0])[:20]
    names = [plain(name) for name in asked.columns.classes[0][: len(own)]]
    name_handles(axes, [Patch(facecolor=colour, edgecolor=DARK) for colour in own], names)

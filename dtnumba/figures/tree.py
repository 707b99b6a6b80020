"""``plot(model)``: one tree, its nodes as boxes that never overlap, what leads to each above or before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.tidy import tidy
from dtnumba.figures.axes import POINTS_PER_INCH, axes_for, check_axes, ink, scaled_text, text_width
from dtnumba.figures.colours import GREY, class_colours
from dtnumba.figures.tree_cells import Shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.figures.tree_cells import Cell, Names

# In points, as the text of a figure of its own
_SIZE, _LINE, _PAD, _BAR, _APART, _BETWEEN, _MARGIN = 9.0, 11.5, 5.0, 4.0, 9.0, 26.0, 8.0
_WRAP_DOWN, _WRAP_RIGHT = 26, 32
_MOST_LEAVES_DOWN = 16  # shown; more of them are read better from left to right
_LARGEST = 100.0  # inches; text of larger figures is smaller
_DIRECTIONS = ("down", "right")


@dataclass
class _Placed:
    """Where one cell stands: x to the right, y downwards, in points."""

    box: tuple[float, float, float, float]  # left, top, width, height
    words: tuple[float, float]  # where the condition is: middle of its first line (down) or its right end
    start: tuple[float, float]  # where edges to children leave the box
    end: tuple[float, float]  # where the edge from its parent ends
    turn: float  # how far all boxes of the level reach, before edges spread


def draw_tree(
    model: Any, ax: Any, names: Names, *, tree: int, max_depth: int | None, direction: str | None
) -> Any:  # fmt: skip
    """Draw one tree; see ``plot``."""
    if max_depth is not None and not (
        isinstance(max_depth, (int, np.integer)) and not isinstance(max_depth, bool) and max_depth >= 0
    ):
        raise ValueError(f"max_depth={max_depth!r}: must be a number of tests of 0 or more, or None for all")
    if direction not in {None, *_DIRECTIONS}:
        raise ValueError(f"direction={direction!r}: must be 'down', 'right' or None, which looks at the tree")
    shown = Shown(model, "plot", tree, names)
    check_axes(ax, "plot")  # before words are measured
    cells = shown.cells(max_depth, _WRAP_DOWN)
    if direction is None:
        direction = "down" if sum(not cell.children for cell in cells) <= _MOST_LEAVES_DOWN else "right"
    if direction == "right":
        cells = shown.cells(max_depth, _WRAP_RIGHT)
        for cell in cells:
            cell.lines = ["   ".join(cell.lines)]
    placed, extent = (_down if direction == "down" else _to_the_right)(cells)
    scale = min(1.0, _LARGEST * POINTS_PER_INCH / max(extent))
    axes = axes_for(ax, "plot", (extent[0] * scale / POINTS_PER_INCH, extent[1] * scale / POINTS_PER_INCH), fill=True)
    axes.set(xlim=(0.0, extent[0]), ylim=(extent[1], 0.0))
    axes.set_aspect("equal")
    axes.set_axis_off()
    _Drawing(axes, shown, cells, placed, direction).draw()
    return axes


def _sizes(cells: list[Cell]) -> tuple[list[float], list[float], list[float], list[float]]:
    """Return widths and heights of boxes and of conditions."""
    known: dict[tuple[str, bool], float] = {}

    def width(text: str, *, bold: bool = False) -> float:
        if (text, bold) not in known:
            known[text, bold] = text_width(text, _SIZE, bold=bold)
        return known[text, bold]

    boxes, heights, words, word_heights = [], [], [], []
    for cell in cells:
        is_single = len(cell.lines) == 1
        boxes.append(max(width(line, bold=k == 0 and not is_single) for k, line in enumerate(cell.lines)) + 2 * _PAD)
        heights.append(_LINE * len(cell.lines) + 2 * _PAD + (_BAR if cell.shares is not None else 0.0) - 2.0)
        words.append(max(map(width, cell.condition), default=0.0))
        word_heights.append(_LINE * len(cell.condition) + (3.0 if cell.condition else 0.0))
    return boxes, heights, words, word_heights


def _by_level(cells: list[Cell], sizes: list[float]) -> NDArray[np.float64]:
    most = np.zeros(max(cell.depth for cell in cells) + 1)
    np.maximum.at(most, [cell.depth for cell in cells], sizes)
    return most


def _down(cells: list[Cell]) -> tuple[list[_Placed], tuple[float, float]]:
    """Return where cells stand with the root at the top, and how large all is."""
    box, height, words, word_height = _sizes(cells)
    cell_width = [max(b, w) for b, w in zip(box, words, strict=True)]
    middle = tidy([cell.children for cell in cells], cell_width, _APART) + _MARGIN
    levels = _by_level(cells, [h + w for h, w in zip(height, word_height, strict=True)])
    top = _MARGIN + np.concatenate([[0.0], np.cumsum(levels + _BETWEEN)])
    placed = []
    for k, cell in enumerate(cells):
        x, y = float(middle[k]), float(top[cell.depth])
        over = y + word_height[k]
        turn = y + float(levels[cell.depth])
        own = (x - box[k] / 2, over, box[k], height[k])
        placed.append(_Placed(own, (x, y), (x, over + height[k]), (x, y), turn))
    width = max(float(middle[k]) + cell_width[k] / 2 for k in range(len(cells))) + _MARGIN
    return placed, (width, float(top[-1]) - _BETWEEN + _MARGIN)


def _to_the_right(cells: list[Cell]) -> tuple[list[_Placed], tuple[float, float]]:
    """Return where cells stand with the root at the left, and how large all is."""
    box, height, words, word_height = _sizes(cells)
    cell_height = [max(h, w) for h, w in zip(height, word_height, strict=True)]
    middle = tidy([cell.children for cell in cells], cell_height, _APART / 3) + _MARGIN
    before = _by_level(cells, [w + 4.0 if w else 0.0 for w in words])
    levels = before + _by_level(cells, box)
    left = _MARGIN + np.concatenate([[0.0], np.cumsum(levels + _BETWEEN)])
    placed = []
    for k, cell in enumerate(cells):
        x, y = float(left[cell.depth]), float(middle[k])
        at = x + float(before[cell.depth])
        turn = x + float(levels[cell.depth])
        end = at - words[k] - 6.0 if words[k] else at
        own = (at, y - height[k] / 2, box[k], height[k])
        placed.append(_Placed(own, (at - 4.0, y - word_height[k] / 2), (at + box[k], y), (end, y), turn))
    tall = max(float(middle[k]) + cell_height[k] / 2 for k in range(len(cells))) + _MARGIN
    return placed, (float(left[-1]) - _BETWEEN + _MARGIN, tall)


class _Drawing:
    """Boxes, edges and text of a tree in axes whose unit is a point."""

    def __init__(self, axes: Any, shown: Shown, cells: list[Cell], placed: list[_Placed], direction: str) -> None:
        self._axes, self._shown, self._cells, self._placed = axes, shown, cells, placed
        self._is_down, self._text = direction == "down", scaled_text()
        self._scale, self._ink = self._points_per_unit(), ink(axes.figure)

    def _points_per_unit(self) -> float:
        self._axes.apply_aspect()
        (x0, _), (x1, _) = self._axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        return float(abs(x1 - x0) * POINTS_PER_INCH / self._axes.figure.dpi)

    def draw(self) -> None:
        """Draw all."""
        self._edges()
        self._boxes()
        if self._shown.one_output_of_classes:
            self._bars()
        for cell, own in zip(self._cells, self._placed, strict=True):
            left, top, width, _ = own.box
            for k, line in enumerate(cell.lines):
                weight = "bold" if k == 0 and len(cell.lines) > 1 else "normal"
                self._write(left + width / 2, top + _PAD + (k + 0.5) * _LINE - 1.0, line, "center", weight, cell)
            for k, line in enumerate(cell.condition):
                align = "center" if self._is_down else "right"
                self._write(own.words[0], own.words[1] + 1.5 + (k + 0.5) * _LINE, line, align, "normal", cell, "way to")

    def _write(self, x: float, y: float, line: str, align: str, weight: str, cell: Cell, gid: str = "text of") -> None:
        text = self._text(
            x, y, line, ha=align, va="center_baseline", weight=weight, color="black" if gid == "text of" else self._ink,
            parse_math=False, usetex=False, clip_on=True, gid=f"{gid} node {cell.node}",
        )  # fmt: skip
        text.units, text.wide = _SIZE, text_width(line, _SIZE, bold=weight == "bold")
        self._axes.add_artist(text)

    def _boxes(self) -> None:
        from matplotlib.patches import FancyBboxPatch

        colours = self._shown.colours()
        for cell, own in zip(self._cells, self._placed, strict=True):
            left, top, width, height = own.box
            is_cut = cell.n_below > 0
            patch = FancyBboxPatch(
                (left, top), width, height, boxstyle="round,pad=0,rounding_size=3", facecolor=colours[cell.node],
                edgecolor=self._ink if is_cut else GREY, linestyle="--" if is_cut else "-",
                linewidth=(1.4 if is_cut else 0.8) * self._scale, gid=f"node {cell.node}",
            )  # fmt: skip
            self._axes.add_patch(patch)

    def _bars(self) -> None:
        """Draw the shares of the classes along the bottom of each box."""
        from matplotlib.collections import PolyCollection

        colours = class_colours(self._shown.columns.sizes[0])
        corners, fills = [], []
        for cell, own in zip(self._cells, self._placed, strict=True):
            left, top, width, height = own.box
            assert cell.shares is not None
            ends = left + 2.0 + (width - 4.0) * np.concatenate([[0.0], np.cumsum(cell.shares)])
            low, high = top + height - 2.0, top + height - 2.0 - _BAR
            for c in np.flatnonzero(cell.shares > 0).tolist():
                a, b = ends[c], ends[c + 1]
                corners.append([(a, low), (b, low), (b, high), (a, high)])
                fills.append(colours[c])
        self._axes.add_collection(PolyCollection(corners, facecolors=fills, linewidths=0, gid="shares"), autolim=False)

    def _edges(self) -> None:
        """Draw edges, as wide as their rows are many; they spread only where no box of the level is."""
        from matplotlib.collections import LineCollection

        lines, widths = [], []
        for cell, own in zip(self._cells, self._placed, strict=True):
            for child in cell.children:
                x, y = own.start
                turn = (x, own.turn) if self._is_down else (own.turn, y)
                end = self._placed[child].end
                before = (end[0], own.turn + _BETWEEN) if self._is_down else (own.turn + _BETWEEN, end[1])
                lines.append([(x, y), turn, before, end])
                widths.append((0.6 + 4.4 * self._cells[child].share) * self._scale)
        found = LineCollection(lines, linewidths=widths, colors="#A0A0A0", zorder=0.5, gid="edges", joinstyle="round")
        self._axes.add_collection(found, autolim=False)

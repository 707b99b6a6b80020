"""One tree as a picture: text of SVG, light or dark as its reader is."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.export.pictures.facts import renamed
from dtnumba.export.pictures.picture_nodes import PictureNodes, check_picture
from dtnumba.export.pictures.text_widths import FAMILY, cut, needs_fixing, width
from dtnumba.export.pictures.tidy import tidy
from dtnumba.export.pictures.words import number
from dtnumba.export.reading import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_W, _H, _GAP, _STEP, _EDGE = 196, 46, 10, 240, 16
_SIZE = 12
_LEGEND = 12  # classes that it names
HUES = ("#3b78c3", "#d9822b", "#2a9d6f", "#b8489a", "#8a6d3b", "#6a5acd", "#c9a227", "#c0392b", "#3aa6b9", "#7f8c8d")
_RAMP = ((47, 111, 196), (152, 156, 164), (222, 124, 36))
_STYLE = f"""text {{ font: {_SIZE}px {FAMILY}; fill: #1d2329 }} .way {{ font-weight: bold }} .dim {{ fill: #66707a }}
.box {{ fill: #fff; stroke: #d5d9dd }} .edge {{ fill: none; stroke: #c3c9cf }} .room {{ fill: #eceef0 }}
.absent {{ fill: #fff; stroke: #66707a; stroke-width: 1.5 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e8eaed }} .dim {{ fill: #98a2ad }}
.box {{ fill: #1d2126; stroke: #363d45 }} .edge {{ stroke: #464f59 }} .room {{ fill: #2c333b }}
.absent {{ fill: #1d2126; stroke: #98a2ad }} }}"""


class Svg(str):
    """Text of SVG, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """Return the text."""
        return str(self)


def svg(
    model: Any, *, tree: int = 0, max_depth: int | None = 4, feature_names: Sequence[Any] | None = None,
    class_names: Sequence[Any] | None = None,
) -> Svg:  # fmt: skip
    """Return a tree as a picture: boxes that do not overlap, and text that stays in its box.

    A decision graph is drawn in columns, a box a node, and the ways of each box go on at lines that may meet.

    A box says what leads to it, what it says, how many rows it has, and how they divide. It is a str: write it to a
    file, or let a notebook show it.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest.
    tree : int
        The number of a tree of a forest.
    max_depth : int or None
        How many tests deep to draw; below that is said how many nodes there are. None: all.
    feature_names : sequence, optional
        What columns are called; by default as in ``fit``.
    class_names : sequence, optional
        What classes are called, in the order of ``classes_``; of several outputs a sequence for each.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> picture = export.svg(DecisionTreeClassifier().fit([[1], [2], [8], [9]], ["low", "low", "high", "high"]))
    >>> picture.count('class="box"')
    3

    """
    check_picture(model, "svg", tree, max_depth)
    columns = renamed(columns_of(model), feature_names, class_names)
    if model.trees_.is_graph:
        from dtnumba.export.pictures.layers import Layers

        return Svg(Layers(model, columns, max_depth).written(_STYLE, _hue, type(model).__name__))
    return Svg(_Picture.of(PictureNodes(model, tree, max_depth, columns)).written(type(model).__name__))


class _Picture(NamedTuple):
    """Nodes and where they stand."""

    nodes: PictureNodes
    y: NDArray[Any]  # of the upper edge of each box
    low: float  # numbers at leaves that are drawn, for colours
    high: float

    @classmethod
    def of(cls, nodes: PictureNodes) -> _Picture:
        n = len(nodes.ids)
        middle = tidy(nodes.children, [_H] * n, _GAP)
        known = [nodes.value(at) for at in range(n) if nodes.columns.classes is None and nodes.is_known(at)]
        return cls(nodes, middle - _H / 2 + _EDGE, min(known, default=0.0), max(known, default=0.0))

    def written(self, learner: str) -> str:
        n = len(self.nodes.ids)
        legend = self._legend()
        across = max(self.nodes.depth) * _STEP + _W + 2 * _EDGE + 64 * any(map(self._is_cut, range(n)))
        down = float(self.y.max()) + _H + _EDGE + 22 * bool(legend)
        size = f'width="{across}" height="{down:g}" viewBox="0 0 {across} {down:g}"'
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">']
        parts.append(f"<title>{escape(learner)}: a tree of {self.nodes.n_nodes:,} nodes</title>")
        parts += [f"<style>{_STYLE}</style>", *map(self._edges, range(n)), *map(self._box, range(n))]
        return "\n".join([*filter(None, parts), *self._placed(legend, down - _EDGE), "</svg>"]) + "\n"

    def _x(self, at: int) -> int:
        return _EDGE + self.nodes.depth[at] * _STEP

    def _is_cut(self, at: int) -> bool:
        return not self.nodes.children[at] and not self.nodes.is_leaf(at)

    def _edges(self, at: int) -> str:
        lines, all_rows = [], self.nodes.n_rows(0)
        for child in self.nodes.children[at]:
            x, y, x2, y2 = self._x(at) + _W, self.y[at] + _H / 2, self._x(child), self.y[child] + _H / 2
            n, middle = self.nodes.n_rows(child), (x + x2) / 2
            thick = 1.0 if n is None or not all_rows else max(1.0, round(9 * (n / all_rows) ** 0.5, 1))
            way = f"M{x},{y:.1f}C{middle:g},{y:.1f} {middle:g},{y2:.1f} {x2},{y2:.1f}"
            lines.append(f'<path class="edge" stroke-width="{thick:g}" d="{way}"/>')
        return "\n".join(lines)

    def _colour(self, at: int) -> str:
        if not self.nodes.is_known(at):
            return "#98a2ad"
        if self.nodes.columns.classes is not None:
            return _hue(self.nodes.code(at))
        return _shade(self.nodes.value(at), self.low, self.high)

    def _box(self, at: int) -> str:
        nodes, colour = self.nodes, self._colour(at)
        rows, says = nodes.rows(at), " ".join(f"{label}\u0000{part}" for label, part in nodes.says(at)[:1])
        label, _, part = says.partition("\u0000")
        more = f" and {len(nodes.says(at)) - 1} more" if len(nodes.says(at)) > 1 else ""
        part = f"{' ' * bool(part)}{part}{more}"
        room = _W - 26 - width(rows, _SIZE) - width(part, _SIZE)
        whole = " and ".join(nodes.way(k) for k in nodes.drawn_above(at)[1:]) or nodes.way(0)
        lines = [
            f'<g transform="translate({self._x(at)},{self.y[at]:.1f})"><title>{escape(whole)}</title>',
            f'<rect class="box" width="{_W}" height="{_H}" rx="6"/>',
            f'<rect width="4" height="{_H}" rx="2" fill="{colour}"/>',
            _text(10, 16, self._way(at, _W - 18), "way"),
            _text(10, 31, cut(label, room, _SIZE) + part, "says") if label else "",
            _text(_W - 9, 31, rows, "dim", end=True) if rows else "",
            *self._bars(at, colour),
        ]
        if nodes.takes_missing(at):
            lines.append(f'<circle class="absent" cx="0" cy="{_H / 2:g}" r="4"/>')
        if self._is_cut(at):
            lines.append(_text(_W + 8, _H // 2 + 4, f"+ {nodes.below(at):,}", "dim"))
        return "".join(lines) + "</g>"

    def _way(self, at: int, room: float) -> str:
        """Return the way to a node; where it does not fit, the column's name is cut, not what it is held against."""
        whole, name = self.nodes.way(at), self.nodes.column(at)
        over = width(whole, _SIZE, bold=True) - room
        if over > 0 and name:
            short = cut(name, max(room / 3, width(name, _SIZE, bold=True) - over), _SIZE, bold=True)
            whole = whole.replace(name, short, 1)
        return cut(whole, room, _SIZE, bold=True)

    def _bars(self, at: int, colour: str) -> list[str]:
        nodes, top, whole = self.nodes, _H - 9, _W - 18
        found = [f'<rect class="room" x="9" y="{top}" width="{whole}" height="4"/>']
        if not nodes.is_known(at):
            return found
        if nodes.columns.classes is None:
            part = (nodes.value(at) - self.low) / (self.high - self.low) if self.high > self.low else 0.5
            return [*found, f'<rect x="9" y="{top}" width="{max(2.0, part * whole):.1f}" height="4" fill="{colour}"/>']
        x = 9.0
        for part, k in sorted(((p, k) for k, p in enumerate(nodes.shares(at)) if p > 0), key=lambda own: -own[0]):
            found.append(f'<rect x="{x:.1f}" y="{top}" width="{part * whole:.1f}" height="4" fill="{_hue(k)}"/>')
            x += part * whole
        return found

    def _legend(self) -> list[tuple[str, str]]:
        """Return what stands below: a colour, and what it means."""
        if self.nodes.columns.classes is not None:
            names = self.nodes.class_names()
            found = [(_hue(k), name) for k, name in enumerate(names[:_LEGEND])]
            return found + [("", f"and {len(names) - _LEGEND} more")] * (len(names) > _LEGEND)
        ends = (self.low, self.high)
        return [(_shade(x, *ends), number(x)) for x in ends] if self.high > self.low else []

    def _placed(self, legend: list[tuple[str, str]], y: float) -> list[str]:
        found, x, most = [], float(_EDGE), max(self.nodes.depth) * _STEP + _W + _EDGE
        for colour, name in legend:
            shown = cut(name, 150, _SIZE)
            wide = 17 + width(shown, _SIZE)
            if x + wide > most:
                break
            mark = f'<rect x="{x:.1f}" y="{y - 10:g}" width="11" height="11" rx="3" fill="{colour}"/>' if colour else ""
            found.append(mark + _text(x + 16, y, shown, "legend"))
            x += wide + 14
        if any(map(self.nodes.takes_missing, range(len(self.nodes.ids)))) and x + 160 < most:
            mark = f'<circle class="absent" cx="{x + 6:.1f}" cy="{y - 4:g}" r="4"/>'
            found.append(mark + _text(x + 16, y, "missing values go here", "dim"))
        return found


def _text(x: float, y: float, text: str, kind: str, *, end: bool = False) -> str:
    """Return text at a place; one that another font may draw is told how wide it is."""
    bold = kind == "way"
    fixed = f' textLength="{width(text, _SIZE, bold=bold):.1f}" lengthAdjust="spacingAndGlyphs"'
    more = (fixed if needs_fixing(text) else "") + (' text-anchor="end"' if end else "")
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>'


def _hue(k: int) -> str:
    return HUES[k] if k < len(HUES) else f"hsl({k * 137.5 % 360:.0f} 45% 50%)"


def _shade(x: float, low: float, high: float) -> str:
    part = min(1.0, max(0.0, (x - low) / (high - low))) if high > low else 0.5
    first, second, at = (*_RAMP[:2], 2 * part) if part < 0.5 else (*_RAMP[1:], 2 * part - 1)
    return "#" + "".join(f"{round(a + (b - a) * at):02x}" for a, b in zip(first, second, strict=True))

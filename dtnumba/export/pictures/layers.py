"""A decision graph as a picture: a column of boxes for each depth, and a line for each way from one to another."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.text_widths import cut, width
from dtnumba.export.pictures.words import NodeWords, share
from dtnumba.export.reading import ExportError, Nodes, codes_of
from dtnumba.trees.layout import depths, node_values, nodes_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.export.reading import Columns

_W, _HEAD, _LINE, _GAP, _STEP, _EDGE, _SIZE = 196, 40, 16, 14, 268, 16, 12
_MOST = 2000  # boxes: what is larger nobody reads
_SWEEPS = 8


class Layers:
    """The nodes of a graph in columns.

    Parameters
    ----------
    model : fitted estimator
        Of a decision graph.
    columns : Columns
        What columns and classes are called.
    max_depth : int or None
        How many tests deep to draw; None: all.

    """

    def __init__(self, model: Any, columns: Columns, max_depth: int | None) -> None:
        self._trees, self._columns, self._rule = model.trees_, columns, model.label_rule
        self._nodes, self._words = Nodes(self._trees), NodeWords(columns)
        depth, own = depths(self._trees), nodes_at(self._trees, np.arange(self._trees.n_nodes))
        is_drawn = (own == np.arange(len(own))) & (depth <= (len(own) if max_depth is None else max_depth))
        self.ids = np.flatnonzero(is_drawn).tolist()
        if len(self.ids) > _MOST:
            raise ExportError(
                f"svg: the graph has {len(self.ids):,} nodes to draw, and a picture has room for {_MOST:,}; pass "
                "max_depth, or write it by export.dot"
            )
        self.depth = {node: int(depth[node]) for node in self.ids}
        self._values = np.asarray(node_values(self._trees), np.float64)
        self.ways: dict[int, list[tuple[str, int, int]]] = {}  # of each test: words, node, rows
        for node in self.ids:
            if self._nodes.is_leaf(node):
                continue
            test = self._nodes.test(node)
            words = self._words.ways(test)
            rows = self._sent(node, len(test.children))
            into = own[test.children].tolist()
            self.ways[node] = list(zip(words, into, rows, strict=True))
        self.top = self._placed()

    def _sent(self, node: int, n: int) -> list[int]:
        """Return the rows that a node sends to each child."""
        trees, first = self._trees, int(self._trees.left[node])
        came = trees.n_samples[first : first + n].astype(np.int64)
        for k in range(n):
            if trees.join[first + k] < 0:
                came[k] -= trees.n_samples[np.flatnonzero(trees.join == first + k)].sum()
        return [int(count) for count in came]

    def height(self, node: int) -> int:
        """Return how tall the box of a node is."""
        return _HEAD + _LINE * len(self.ways.get(node, ()))

    def _placed(self) -> dict[int, float]:
        """Return the upper edge of each box: in its column near what it is connected with, and none over another."""
        layers: dict[int, list[int]] = {}
        for node in self.ids:
            layers.setdefault(self.depth[node], []).append(node)
        near: dict[int, list[int]] = {node: [] for node in self.ids}
        for node, ways in self.ways.items():
            for _, child, _ in ways:
                if child in near:
                    near[child].append(node)
                    near[node].append(child)
        middle = {node: float(k) for layer in layers.values() for k, node in enumerate(layer)}
        top: dict[int, float] = {}
        for _ in range(_SWEEPS):
            for d in sorted(layers):
                wanted = {node: float(np.mean([middle[one] for one in near[node]] or [0.0])) for node in layers[d]}
                layers[d].sort(key=lambda node: (wanted[node], node))
                y = 0.0
                for node in layers[d]:
                    top[node] = y
                    middle[node] = y + self.height(node) / 2
                    y += self.height(node) + _GAP
        tall = max(top[node] + self.height(node) for node in self.ids)
        for layer in layers.values():
            shift = (tall - top[layer[-1]] - self.height(layer[-1])) / 2
            for node in layer:
                top[node] += shift + _EDGE
        return top

    def written(self, style: str, hue: Callable[[int], str], learner: str) -> str:
        """Return the picture as text of SVG."""
        across = max(self.depth.values()) * _STEP + _W + 2 * _EDGE
        down = max(self.top[node] + self.height(node) for node in self.ids) + _EDGE
        size = f'width="{across}" height="{down:g}" viewBox="0 0 {across} {down:g}"'
        n_joins = int(np.count_nonzero(self._trees.join >= 0))
        title = f"{learner}: a graph of {self._trees.n_nodes - n_joins:,} nodes and {n_joins:,} joins"
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<title>{escape(title)}</title>"]
        parts += [f"<style>{style}</style>", *map(self._lines, self.ids)]
        parts += [self._box(node, hue) for node in self.ids]
        return "\n".join([*filter(None, parts), "</svg>"]) + "\n"

    def _x(self, node: int) -> int:
        return _EDGE + self.depth[node] * _STEP

    def _lines(self, node: int) -> str:
        all_rows, lines = max(int(self._trees.n_samples[0]), 1), []
        for k, (_, child, rows) in enumerate(self.ways.get(node, ())):
            if child not in self.top:
                continue
            x, y = self._x(node) + _W, self.top[node] + _HEAD + _LINE * (k + 0.5) - 4
            x2, y2 = self._x(child), self.top[child] + self.height(child) / 2
            thick, middle = max(1.0, round(9 * (rows / all_rows) ** 0.5, 1)), (x + x2) / 2
            way = f"M{x},{y:.1f}C{middle:g},{y:.1f} {middle:g},{y2:.1f} {x2},{y2:.1f}"
            lines.append(f'<path class="edge" stroke-width="{thick:g}" d="{way}"/>')
        return "\n".join(lines)

    def _box(self, node: int, hue: Callable[[int], str]) -> str:
        n, sizes = int(self._trees.n_samples[node]), self._columns.sizes
        rows = f"{n:,} row{'s' * (n != 1)}" if n else ""
        code = int(codes_of(self._values[node : node + 1], sizes, self._rule)[0, 0])
        part, colour = share(float(self._values[node, code])), hue(code)
        label = self._words.class_name(0, code)
        ways, tall = self.ways.get(node, []), self.height(node)
        name = "" if node not in self.ways else self._words.names[int(self._trees.feature[node])]
        x, y = self._x(node), self.top[node]
        head, says = (name, f"{label} {part}") if node in self.ways else (label, part)
        room = _W - 20 - width(rows, _SIZE)
        lines = [
            f'<g transform="translate({x},{y:.1f})"><title>{escape(f"{head}: {says}")}</title>',
            f'<rect class="box" width="{_W}" height="{tall}" rx="6"/>',
            f'<rect width="4" height="{tall}" rx="2" fill="{colour}"/>',
            _text(10, 16, cut(head, _W - 18, _SIZE, bold=True), "way"),
            _text(10, 31, cut(says, room, _SIZE), "says"),
            _text(_W - 9, 31, rows, "dim", end=True) if rows else "",
        ]
        for k, (words, child, _) in enumerate(ways):
            short = words[len(name) + 1 :] if words.startswith(f"{name} ") else words
            gone = "" if child in self.top else " …"
            lines.append(_text(_W - 9, _HEAD + _LINE * (k + 0.5), cut(short + gone, _W - 22, _SIZE), "dim", end=True))
        return "".join(lines) + "</g>"


def _text(x: float, y: float, text: str, kind: str, *, end: bool = False) -> str:
    more = ' text-anchor="end"' if end else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>'

"""Charts of a report, as markup: bars beside names, columns over ranges, lines over sizes, a table of counts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from dtnumba.export.pictures.page_parts import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

_W, _H, _LEFT, _LOW = 420, 190, 54, 34  # of a chart, and the room for its scales
_TICKS = 4


def card(title: str, *body: str) -> str:
    """Return a part of a report under its title."""
    return f'<section class="card"><h2>{escape(title)}</h2>{"".join(body)}</section>'


def note(text: str) -> str:
    """Return a sentence that explains."""
    return f'<p class="dim">{escape(text)}</p>'


def bars(names: Sequence[Any], lengths: Sequence[float], figures: Sequence[str]) -> str:
    """Return a bar for each name; the longest has the whole width."""
    most = max([*map(abs, lengths), 1e-300])
    rows = []
    for name, length, figure in zip(names, lengths, figures, strict=True):
        style = f"width:{max(0.0, 100 * length / most):.1f}%;background:var(--accent)"
        rows.append(
            f'<tr><th scope="row"><bdi>{shown(name)}</bdi></th><td class="bar-cell"><span class="bar" style="{style}">'
            f'</span></td><td class="figure">{escape(figure)}</td></tr>'
        )
    return f'<table class="shares">{"".join(rows)}</table>'


def columns(counts: Sequence[int], labels: Sequence[str], across: str, up: str) -> str:
    """Return a column for each count, over its label."""
    most, n = max([*counts, 1]), max(len(counts), 1)
    wide, each = _W - _LEFT - 8, (_W - _LEFT - 8) / n
    parts = []
    step = -(-n // 12)
    for k, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall = count / most * (_H - _LOW - 14)
        x, y = _LEFT + k * each, _H - _LOW - tall
        title = f"<title>{escape(label)}: {count:,}</title>"
        parts.append(
            f'<rect x="{x + 0.5:.1f}" y="{y:.1f}" width="{max(each - 1, 0.5):.1f}" height="{tall:.1f}" '
            f'fill="var(--accent)">{title}</rect>'
        )
        if k % step == 0:
            parts.append(_label(x + each / 2, _H - _LOW + 13, label, "middle"))
    parts.append(_label(_LEFT - 6, 18, f"{most:,}", "end"))
    parts.append(_label(_LEFT - 6, _H - _LOW, "0", "end"))
    parts.append(_label(_LEFT + wide / 2, _H - 6, across, "middle"))
    return _chart(parts, f"{up} by {across}")


def lines(x: Sequence[float], series: Sequence[tuple[str, Sequence[float], str]], across: str, up: str) -> str:
    """Return lines over the same places, each with its name and its colour; places are spread by their logarithm."""
    from math import log

    low = min(min(own) for _, own, _ in series)
    high = max(max(own) for _, own, _ in series)
    low = 0.0 if abs(low) < 1e-9 * abs(high) else low
    high = high if high > low else low + 1.0
    far = log(max(x[-1], 2))

    def place(size: float, value: float) -> tuple[float, float]:
        across_ = _LEFT + log(max(size, 1)) / far * (_W - _LEFT - 12)
        return across_, 12 + (high - value) / (high - low) * (_H - _LOW - 16)

    parts = []
    for k in range(_TICKS + 1):
        value = low + (high - low) * k / _TICKS
        y = place(1, value)[1]
        parts.append(f'<path d="M{_LEFT},{y:.1f}H{_W - 8}" stroke="var(--line)"/>')
        parts.append(_label(_LEFT - 6, y + 4, f"{value:.3g}", "end"))
    size = 1
    while size <= x[-1]:
        parts.append(_label(place(size, low)[0], _H - _LOW + 13, f"{size:,}", "middle"))
        size *= 10 if x[-1] > 50 else 2
    for name, own, colour in series:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in (place(s, v) for s, v in zip(x, own, strict=True)))
        title = f"<title>{escape(name)}</title>"
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2">{title}</polyline>')
    at = _LEFT + 20.0
    for name, _, colour in series:
        parts.append(f'<rect x="{at:.0f}" y="0" width="10" height="10" rx="3" fill="{colour}"/>')
        parts.append(_label(at + 15, 9, name, "start"))
        at += 30 + 6.5 * len(name)
    parts.append(_label((_W + _LEFT) / 2, _H - 6, across, "middle"))
    return _chart(parts, f"{up} by {across}")


def points(x: Sequence[float], y: Sequence[float], across: str, up: str) -> str:
    """Return a point for each pair, and the line on which both are equal."""
    low, high = min([*x, *y]), max([*x, *y])
    far = high - low if high > low else 1.0
    tall = 260

    def place(a: float, b: float) -> tuple[float, float]:
        return _LEFT + (a - low) / far * (_W - _LEFT - 12), 10 + (high - b) / far * (tall - _LOW - 14)

    (x0, y0), (x1, y1) = place(low, low), place(high, high)
    parts = [f'<path d="M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}" stroke="var(--line)"/>']
    for a, b in zip(x, y, strict=True):
        px, py = place(a, b)
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="var(--accent)" fill-opacity="0.5"/>')
    parts += [_label(_LEFT - 6, y0, f"{low:.4g}", "end"), _label(_LEFT - 6, y1 + 8, f"{high:.4g}", "end")]
    parts.append(_label((_W + _LEFT) / 2, tall - 8, f"{across} (across), {up} (up)", "middle"))
    return _chart(parts, f"{up} by {across}", tall)


def counts_table(names: Sequence[str], counts: Sequence[Sequence[int]], corner: str) -> str:
    """Return counts by row and by column, the larger ones of their row on a darker ground."""
    head = "".join(f'<th scope="col" title="{shown(name)}"><bdi>{shown(name)}</bdi></th>' for name in names)
    rows = []
    for k, (name, own) in enumerate(zip(names, counts, strict=True)):
        total = max(sum(own), 1)
        cells = []
        for j, count in enumerate(own):
            part = round(70 * count / total)
            colour = "var(--accent)" if j == k else "#d9822b"
            ground = f"background:color-mix(in srgb, {colour} {part}%, transparent)"
            cells.append(f'<td style="{ground}">{count:,}</td>')
        rows.append(f'<tr><th scope="row" title="{shown(name)}"><bdi>{shown(name)}</bdi></th>{"".join(cells)}</tr>')
    return f'<table class="grid"><tr><th class="dim">{escape(corner)}</th>{head}</tr>{"".join(rows)}</table>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="dim">{escape(text)}</text>'


def _chart(parts: Sequence[str], title: str, tall: int = _H) -> str:
    return f'<svg viewBox="0 0 {_W} {tall}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'

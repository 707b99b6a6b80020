"""Splines as an equation, as R's ``format.earth`` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtnumba.export.splines.reading import read_splines
from dtnumba.export.text_styles.printed import plain
from dtnumba.trees.hinges import shown_factors, term_texts

if TYPE_CHECKING:
    from collections.abc import Sequence


def equations(model: Any, names: Sequence[str] | None, digits: int) -> list[str]:
    """Return the lines of the equation of every output: of classes, of the logarithms of their odds."""
    found = read_splines(model)
    shown = shown_factors(found.hinges, names or found.columns.names, found.columns.levels)
    texts = [plain(text) for text in term_texts(shown, digits)]
    heads = _heads(found)
    lines: list[str] = []
    for o, head in heads:
        numbers = [f"{abs(by):.{digits}g}" for by in found.coefficients[:, o].tolist()]
        width = max(map(len, numbers))
        lines += [head] if head else []
        for t, (text, given) in enumerate(zip(texts, numbers, strict=True)):
            sign = "-" if found.coefficients[t, o] < 0 else "+" if t else " "
            lines.append(f"  {sign} {given:>{width}}" + (f" * {text}" if t else ""))
    return lines


def _heads(found: Any) -> list[tuple[int, str]]:
    """Return the sums that say something, each with what stands above its equation."""
    classes = found.columns.classes
    if classes is None:
        return [(0, "")] if found.n_sums == 1 else [(o, f"output {o}") for o in range(found.n_sums)]
    if found.n_sums == 1:
        return [(0, f"log odds of {plain(classes[0][-1])}")]
    return [
        (o, f"log odds of {plain(label)} against {plain(classes[0][0])}") for o, label in enumerate(classes[0]) if o
    ]

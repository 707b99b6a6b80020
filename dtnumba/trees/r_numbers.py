"""Numbers as R writes them: ``format`` gives a column one form, ``signif`` rounds, ``print`` sets tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 7  # R's default
MOST_DIGITS = 15  # of a double that are sure
LINE = 80


def signif(x: float, digits: int) -> float:
    """Return a number rounded to so many significant digits."""
    return float(f"{x:.{digits - 1}e}")


def short(x: float, digits: int = DIGITS) -> str:
    """Return a number by C's %g."""
    return f"{x:.{digits}g}"


def columns_of(values: Sequence[float], digits: int = DIGITS, nsmall: int = 0) -> list[str]:
    """Return numbers in one form, right-justified, with as few digits as show each of them to ``digits`` digits.

    Fixed notation, where it is no wider than scientific one.

    Parameters
    ----------
    values : sequence of float
        The numbers; NaN is written as NA.
    digits : int
        Significant digits of the number that needs most of them.
    nsmall : int
        Least number of decimals in fixed notation.

    """
    found = [float(x) for x in values]
    finite = [x for x in found if np.isfinite(x)]
    words = {True: "NA", False: "Inf"}
    if not finite:
        texts = [_special(x, words) for x in found]
    else:
        parts = [_parts(x, min(digits, MOST_DIGITS)) for x in finite]
        sign = any(x < 0 for x in finite)
        decimals = max(max(0, n - exponent - 1) for n, exponent in parts)
        left = max(max(exponent, 0) + 1 for _, exponent in parts)
        fixed = sign + left + decimals + (decimals > 0)
        most = max(n for n, _ in parts)
        wide = max(len(str(abs(exponent))) for _, exponent in parts)
        scientific = sign + most + (most > 1) + 2 + max(wide, 2)
        if fixed <= scientific:
            decimals = max(decimals, nsmall)
            texts = [f"{x:.{decimals}f}" if np.isfinite(x) else _special(x, words) for x in found]
        else:
            texts = [f"{x:.{most - 1}e}" if np.isfinite(x) else _special(x, words) for x in found]
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]


def _special(x: float, words: dict[bool, str]) -> str:
    return words[True] if x != x else words[False] if x > 0 else f"-{words[False]}"


def _parts(x: float, digits: int) -> tuple[int, int]:
    """Return how many significant digits a number needs, at most ``digits``, and its decimal exponent."""
    if x == 0:
        return 1, 0
    mantissa, _, exponent = f"{abs(x):.{digits - 1}e}".partition("e")
    return len(mantissa.replace(".", "").rstrip("0")), int(exponent)


def named_row(names: Sequence[str], values: Sequence[str]) -> list[str]:
    """Return the lines of a vector with names: the names over their values, as many as fit into a line."""
    width = max(map(len, [*names, *values]))
    each = max(1, LINE // (width + 1))
    lines = []
    for k in range(0, len(names), each):
        lines += ["".join(text.rjust(width) + " " for text in part[k : k + each]) for part in (names, values)]
    return lines


def words_row(words: Sequence[str]) -> list[str]:
    """Return the lines of a vector of words without quotes, each line with the number of its first word."""
    width = max(map(len, words))
    mark = len(str(len(words))) + 2
    each = max(1, (LINE - mark) // (width + 1))
    return [
        f"[{k + 1}]".rjust(mark) + "".join(f" {word:<{width}}" for word in words[k : k + each])
        for k in range(0, len(words), each)
    ]


def matrix(names: Sequence[str], columns: Sequence[Sequence[float]], digits: int = DIGITS) -> list[str]:
    """Return the lines of a table: rows are numbered, each column has a form of its own."""
    n_rows = len(columns[0]) if columns else 0
    rows = [str(k + 1) for k in range(n_rows)]
    mark = max((len(row) for row in rows), default=0)
    head, lines = " " * mark, [row.ljust(mark) for row in rows]
    for name, values in zip(names, columns, strict=True):
        texts = columns_of(values, digits) if n_rows else []
        width = max(map(len, [name, *texts]))
        head += " " + name.rjust(width)
        lines = [line + " " + text.rjust(width) for line, text in zip(lines, texts, strict=True)]
    return [head, *lines]

"""Sums over columns as text with all digits, and back: ``0.5*length - 2.0*(width or 1.5)``.

What stands behind "or" is what a missing value counts as; where nothing does, it makes the sum missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtnumba.trees.with_sums import Terms

_WEIGHT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\*(.*)")
_SIGNS = {"+": 1.0, "-": -1.0}
Spoken = list[tuple[str, float, str]]  # of each term the name of its column, the weight, what stands in, or ""


def written(terms: Terms, name_of: Callable[[int], str]) -> str:
    """Return a sum as text, with what each column is called there."""
    text = ""
    for column, weight, stand_in in terms:
        sign = " - " if weight < 0 else " + "
        name = name_of(column) if stand_in != stand_in else f"({name_of(column)} or {stand_in!r})"
        text += f"{sign if text else sign.strip(' +')}{abs(weight)!r}*{name}"
    return text


def is_weight(token: str) -> bool:
    """Tell whether a word begins a sum."""
    return _WEIGHT.fullmatch(token) is not None


def spoken(tokens: Sequence[str], at: int) -> tuple[Spoken, int]:
    """Return the terms of the sum that begins at a word, and where the words go on; ValueError where it breaks off."""
    found: Spoken = []
    sign = 1.0
    while True:
        match = _WEIGHT.fullmatch(tokens[at]) if at < len(tokens) else None
        if match is None:
            raise ValueError("a sum lacks a weight")
        weight, name, stand_in, at = sign * float(match[1]), match[2], "", at + 1
        if not name:
            words = [*tokens[at : at + 5], *[""] * 5]
            if words[0] != "(":
                name, at = words[0], at + 1
            elif words[2] == "or" and words[4] == ")":
                name, stand_in, at = words[1], words[3], at + 5
        if not name:
            raise ValueError("a weight lacks its column")
        found.append((name, weight, stand_in))
        if at >= len(tokens) or tokens[at] not in _SIGNS:
            return found, at
        sign, at = _SIGNS[tokens[at]], at + 1

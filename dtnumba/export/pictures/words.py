"""What a node holds and the way to each child, in few words that any reader of text can show."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, UP_TO, Test
from dtnumba.export.text_styles.printed import term_names
from dtnumba.rules.layout import LEVELS, OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import Columns
    from dtnumba.rules.layout import Condition

_SHOWN_TERMS = 4
_SHOWN_LEVELS = 4
_INSTEAD = {"\n": "\u21b5", "\r": "\u21b5", "\t": " "}


def clean(value: Any) -> str:
    """Return a name, a label or a level as one line: signs that are not shown, or that turn others round, replaced."""
    value = value.item() if isinstance(value, np.generic) else value
    text = value if isinstance(value, str) else str(value)
    return "".join(_clean_sign(sign) for sign in text)


def _clean_sign(sign: str) -> str:
    if sign in _INSTEAD:
        return _INSTEAD[sign]
    kind = unicodedata.category(sign)
    is_joiner = sign in "\u200c\u200d"  # words of some languages need them
    return "\ufffd" if kind in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} or (kind == "Cf" and not is_joiner) else sign


def isolated(text: str) -> str:
    """Return a word that does not change the direction of what stands around it."""
    turns = any(unicodedata.bidirectional(sign) in {"R", "AL", "AN"} for sign in text)
    return f"\u2068{text}\u2069" if turns else text


def number(value: float) -> str:
    """Return a number in up to six digits."""
    return f"{value:.6g}".replace("-", "\u2212")


def share(value: float) -> str:
    """Return a share as a percentage that is 100 or 0 only where it is all or nothing."""
    if 0.995 <= value < 1.0:
        return ">99%"
    return "<1%" if 0.0 < value <= 0.005 else f"{value:.0%}"


class NodeWords:
    """The words of columns, levels and classes."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._classes: dict[tuple[int, int], str] = {}
        self.names = [isolated(clean(name)) for name in columns.names]

    def class_name(self, output: int, code: int) -> str:
        """Return what a class is called."""
        if (output, code) not in self._classes:
            assert self._columns.classes is not None
            self._classes[output, code] = isolated(clean(self._columns.classes[output][code]))
        return self._classes[output, code]

    def ways(self, test: Test) -> list[str]:
        """Return what sends a value that is there to each child; "missing" where that is all that goes to it."""
        name, levels = self.names[test.feature], self._columns.levels[test.feature]
        if test.terms:
            return self._two(self._sum(test), test, None)
        if test.kind == UP_TO:
            return self._two(name, test, levels)
        if test.kind == AMONG and len(test.entries) == len(levels or []):
            return [f"{name} known", f"{name} missing"]
        if test.kind == AMONG:
            shown = self._set(test.entries, levels or [])
            return [f"{name} {_in(test.entries)} {shown}", f"{name} {_not_in(test.entries)} {shown}"]
        places: dict[int, list[int]] = {}
        for place, way in enumerate(test.ways):
            places.setdefault(way, []).append(place)
        found = []
        for way in range(len(test.children)):
            own = places.get(way, [])
            if not own:
                found.append(f"{name} missing")
            elif test.kind == BY_RANGE:
                found.append(" or ".join(_range(name, low, high) for low, high in _runs(own, test.entries)))
            else:
                found.append(f"{name} {_in(own)} {self._set(own, levels or [])}")
        return found

    def _sum(self, test: Test) -> str:
        """Return a sum of columns in few digits, the first terms of many."""
        shown, terms = "", test.terms
        levels = [None if own is None else [clean(level) for level in own] for own in self._columns.levels]
        for term, name in list(zip(terms, term_names(test, self.names, levels), strict=True))[:_SHOWN_TERMS]:
            sign = "\u2212" if term.weight < 0 else "+"
            shown += f" {sign} {abs(term.weight):.3g}\u00b7{name}"
        more = f" + {len(terms) - _SHOWN_TERMS:,} more" if len(terms) > _SHOWN_TERMS else ""
        return shown.removeprefix(" + ").removeprefix(" ") + more

    def _two(self, name: str, test: Test, levels: Sequence[Any] | None) -> list[str]:
        cut = test.threshold
        if cut != cut or np.isinf(cut):
            return [f"{name} known", f"{name} missing"] if cut > 0 else [f"{name} missing", f"{name} known"]
        if levels is None:
            return [_range(name, None, cut), _range(name, cut, None)]
        sides = [k for k in range(len(levels)) if k <= cut], [k for k in range(len(levels)) if k > cut]
        return [f"{name} {_in(side)} {self._set(side, levels)}" for side in sides]

    def of_rule(self, test: Condition) -> str:
        """Return a test of a rule."""
        name, levels = self.names[test.feature], self._columns.levels[test.feature]
        low, high = (None if x != x or np.isinf(x) else x for x in (test.low, test.high))
        if test.kind == LEVELS:
            others = [k for k in range(len(levels or [])) if k not in test.levels]
            is_short = len(others) < len(test.levels)
            codes = others if is_short else list(test.levels)
            relation = (_not_in if is_short else _in)(codes)
            text = f"{name} {relation} {self._set(codes, levels or [])}" if codes else ""
            if is_short and not others:
                text = f"{name} known"
        elif test.kind == OUTSIDE:
            text = f"{_range(name, None, test.low)} or > {number(test.high)}"
        else:
            text = "" if test.low == np.inf else _range(name, low, high)
        if not text:
            return f"{name} missing"
        return f"{text} or missing" if test.missing else text

    def _set(self, codes: Sequence[int], levels: Sequence[Any]) -> str:
        shown = [isolated(clean(levels[code])) for code in codes[:_SHOWN_LEVELS]]
        if len(codes) == 1:
            return shown[0]
        more = [f"{len(codes) - _SHOWN_LEVELS:,} more"] if len(codes) > _SHOWN_LEVELS else []
        return "{" + ", ".join(shown + more) + "}"


def _in(codes: Sequence[int]) -> str:
    return "is" if len(codes) == 1 else "in"


def _not_in(codes: Sequence[int]) -> str:
    return "is not" if len(codes) == 1 else "not in"


def _range(name: str, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        if low is None and high is None:
            return f"{name} known"
        return f"{name} \u2264 {number(high)}" if high is not None else f"{name} > {number(low or 0.0)}"
    return f"{number(low)} < {name} \u2264 {number(high)}"


def _runs(places: Sequence[int], cuts: Sequence[float]) -> list[tuple[float | None, float | None]]:
    """Return the ends of ranges between cuts, those side by side joined; None where there is no end."""
    found: list[tuple[float | None, float | None]] = []
    at = 0
    while at < len(places):
        stop = at
        while stop + 1 < len(places) and places[stop + 1] == places[stop] + 1:
            stop += 1
        first, last = places[at], places[stop]
        found.append((cuts[first - 1] if first > 0 else None, cuts[last] if last < len(cuts) else None))
        at = stop + 1
    return found

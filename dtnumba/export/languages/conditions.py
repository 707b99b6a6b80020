"""What nodes and rules ask, as conditions that a language of expressions can say.

A condition is a tuple whose first entry names it. Comparisons are false where a value is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, MAP, UP_TO, StandIn, Test
from dtnumba.rules.layout import LEVELS, OUTSIDE
from dtnumba.rules.layout import Condition as RuleTest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dtnumba.export.reading import SumTerm

Condition = tuple[Any, ...]
ALWAYS: Condition = ("always",)
NEVER: Condition = ("never",)


class Language(Protocol):
    """How a language says conditions about the columns of a row."""

    def le(self, feature: int, cut: float) -> str:
        """Say that a value is there and not above a cut."""

    def gt(self, feature: int, cut: float) -> str:
        """Say that a value is there and above a cut."""

    def among(self, feature: int, codes: Sequence[int]) -> str:
        """Say that a value is one of some categories."""

    def not_among(self, feature: int, codes: Sequence[int]) -> str:
        """Say that a value is there and none of some categories."""

    def missing(self, feature: int) -> str:
        """Say that a value is missing."""

    def known(self, feature: int) -> str:
        """Say that a value is there."""

    def both(self, parts: Sequence[str]) -> str:
        """Join by "and"."""

    def either(self, parts: Sequence[str]) -> str:
        """Join by "or"."""

    def choose(self, pairs: Sequence[tuple[str, str]], otherwise: str) -> str:
        """Say the second of the first pair whose first one holds."""

    def constant(self, *, holds: bool) -> str:
        """Say what always holds, or never."""


class SaysSums(Language, Protocol):
    """A language that says tests of sums over several columns, too."""

    def sum_le(self, terms: Sequence[SumTerm], cut: float) -> str:
        """Say that a sum is a number and not above a cut."""

    def sum_gt(self, terms: Sequence[SumTerm], cut: float) -> str:
        """Say that a sum is a number and above a cut."""


def said_in(language: Language, condition: Condition) -> str:
    """Return a condition in a language."""
    name, *rest = condition
    if name in {"always", "never"}:
        return language.constant(holds=name == "always")
    if name in {"both", "either"}:
        text: str = getattr(language, name)([said_in(language, part) for part in rest])
        return text
    if name == "choose":
        pairs = [(said_in(language, known), said_in(language, one)) for known, one in rest[0]]
        return language.choose(pairs, said_in(language, rest[1]))
    said: str = getattr(language, name)(*rest)
    return said


def _all_of(parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else ("both", *parts)


def _any_of(parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else ("either", *parts)


def _ranges(feature: int, cuts: list[float], places: list[int]) -> Condition:
    """Return the condition that a value lies in some of the ranges between cuts."""
    found: list[Condition] = []
    at = 0
    while at < len(places):
        stop = at
        while stop + 1 < len(places) and places[stop + 1] == places[stop] + 1:
            stop += 1
        first, last = places[at], places[stop]
        parts: list[Condition] = [("gt", feature, cuts[first - 1])] if first > 0 else []
        parts += [("le", feature, cuts[last])] if last < len(cuts) else []
        found.append(_all_of(parts) if parts else ("known", feature))
        at = stop + 1
    return _any_of(found)


def _by_child(test: Test) -> dict[int, Condition]:
    """Return for each child when a value that is there goes to it."""
    f = test.feature
    if test.terms:
        return {0: ("sum_le", test.terms, test.threshold), 1: ("sum_gt", test.terms, test.threshold)}
    if test.kind == UP_TO:
        return {0: ("le", f, test.threshold), 1: ("gt", f, test.threshold)}
    if test.kind == AMONG:
        return {0: ("among", f, test.entries), 1: ("not_among", f, test.entries)}
    places: dict[int, list[int]] = {}
    for place, way in enumerate(test.ways):
        if way >= 0:
            places.setdefault(way, []).append(place)
    if test.kind == MAP:
        return {way: ("among", f, own) for way, own in places.items()}
    assert test.kind == BY_RANGE
    return {way: _ranges(f, test.entries, own) for way, own in places.items()}


def _known(test: Test) -> Condition:
    if test.kind == MAP:
        return "among", test.feature, [code for code, way in enumerate(test.ways) if way >= 0]
    return "known", test.feature


def _stand_in(own: StandIn, side: int) -> tuple[Condition, Condition]:
    """Return when a surrogate decides, and when it sends a row to a side."""
    f = own.feature
    if own.threshold == own.threshold:
        return ("known", f), ("le" if own.below_left == (side == 0) else "gt", f, own.threshold)
    known = [code for code, way in enumerate(own.ways) if way >= 0]
    return ("among", f, known), ("among", f, [code for code in known if own.ways[code] == side])


def branches(test: Test) -> list[tuple[Condition, int | None]]:
    """Return the children of a node with what sends a row there, the first that holds; the last holds always.

    A child is a number; None stands for the node itself, where a missing value stays.
    """
    own = _by_child(test)
    if test.stand_ins:
        sides = [0] if test.absent is not None else [0, 1]
        found: list[tuple[Condition, int | None]] = []
        for side in sides:
            pairs = [(_known(test), own.get(side, NEVER)), *(_stand_in(one, side) for one in test.stand_ins)]
            found.append((("choose", pairs, ALWAYS if test.absent == side else NEVER), side))
        return [*found, (ALWAYS, None if test.absent is None else 1)]
    others: Iterable[tuple[int, Condition]] = ((way, one) for way, one in own.items() if way != test.absent)
    return [*((one, way) for way, one in others), (ALWAYS, test.absent)]


def shared_branches(test: Test) -> list[tuple[Condition, int]]:
    """Return for each child when a value that is there, or a category with a child, goes to it alone."""
    return [(one, way) for way, one in _by_child(test).items()]


def of_rule(test: RuleTest) -> Condition:
    """Return a test of a rule as a condition."""
    f = test.feature
    if test.kind == LEVELS:
        found: Condition = ("among", f, list(test.levels)) if test.levels else NEVER
    elif test.kind == OUTSIDE:
        found = _any_of([("le", f, test.low), ("gt", f, test.high)])
    elif test.low == np.inf:
        found = NEVER
    else:
        parts: list[Condition] = [("gt", f, test.low)] if test.low == test.low else []
        parts += [("le", f, test.high)] if test.high < np.inf else []
        found = _all_of(parts) if parts else ("known", f)
    if test.missing:
        return ("missing", f) if found == NEVER else _any_of([found, ("missing", f)])
    return found

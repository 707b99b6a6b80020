"""Splines as a query of SQL: a table, its columns as numbers, the sums of terms, the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.languages.sql_query import Query
from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.languages.sql_words import Dialect
    from dtnumba.export.splines.reading import ReadSplines
    from dtnumba.trees.hinges import Factor


class SplineQuery(Query):
    """One query, from the inside out."""

    def __init__(self, found: ReadSplines, words: Dialect, keep: Sequence[str], table: str, *, proba: bool) -> None:
        super().__init__(found, words, keep, table, proba=proba)  # type: ignore[arg-type]
        self.splines = found

    def text(self, style: str = "case") -> str:
        """Return the query."""
        found, number = self.splines, self.words.number
        query = self.coded(found.used())
        sums = []
        for o in range(found.n_sums):
            parts = []
            for factors, by in zip(found.terms(), found.coefficients[:, o].tolist(), strict=True):
                parts.append(" * ".join([*map(self._said, factors), number(by)]))
            sums.append(" + ".join(parts))
        s = [f"{self.prefix}s{o}" for o in range(found.n_sums)]
        query = self.around(query, [f"{one} AS {name}" for one, name in zip(sums, s, strict=True)])
        named = ['"prediction"'] if found.n_classes or len(s) == 1 else [f'"prediction_{o}"' for o in range(len(s))]
        if found.columns.classes is None:
            return self.around(query, [f"{one} AS {name}" for one, name in zip(s, named, strict=True)]) + "\n"
        labels = [self.words.value(label) for label in found.columns.classes[0]]
        odds = [number(0.0), s[0]] if found.n_classes == 2 else s
        if found.n_classes == 1:
            return (
                self.around(query, [f"{labels[0]} AS {named[0]}", *[f'{number(1.0)} AS "probability_0"'] * self.proba])
                + "\n"
            )
        most = f"{self.prefix}most"
        query = self.around(query, [f"{self.words.largest(odds)} AS {most}"], s)
        cases = " ".join(f"WHEN {one} = {most} THEN {label}" for one, label in zip(odds, labels, strict=True))
        answer = f"CASE {cases} END AS {named[0]}"
        if not self.proba:
            return self.around(query, [answer]) + "\n"
        powers = [f"{self.prefix}p{c}" for c in range(len(odds))]
        made = [f"exp({one} - {most}) AS {name}" for one, name in zip(odds, powers, strict=True)]
        query = self.around(query, made, [*s, most])
        total = " + ".join(powers)
        shares = [f'{one} / ({total}) AS "probability_{c}"' for c, one in enumerate(powers)]
        return self.around(query, [answer, *shares]) + "\n"

    def _said(self, factor: Factor) -> str:
        """Return a factor as an expression."""
        number, j = self.words.number, factor.feature
        x, fill = self.language.x(j), float(self.splines.hinges.fill[j])
        if factor.direction == OF_MISSING:
            return f"CASE WHEN {x} IS NULL THEN {number(1.0)} ELSE {number(0.0)} END"
        if factor.direction == OF_LEVEL:
            return f"CASE WHEN {x} = {int(factor.knot)} THEN {number(1.0)} ELSE {number(0.0)} END"
        if not np.isnan(fill):
            x = f"coalesce({x}, {number(fill)})"
        if factor.direction == STRAIGHT:
            return x
        above = f"{x} - {number(factor.knot)}" if factor.direction == UP else f"{number(factor.knot)} - {x}"
        assert factor.direction in (UP, DOWN)
        return f"CASE WHEN {above} > {number(0.0)} THEN {above} ELSE {number(0.0)} END"

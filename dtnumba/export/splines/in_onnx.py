"""Splines as an ONNX graph of additions and products in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.export.splines.reading import ReadSplines
    from dtnumba.trees.hinges import Factor


class SplineGraph:
    """Splines on their way into a graph: ``add`` adds an operator, ``table`` a constant, both return a name."""

    def __init__(self, found: ReadSplines, add: Callable[..., str], table: Callable[[Any], str], types: Any) -> None:
        self._found, self._add, self._table, self._types = found, add, table, types
        self._zero = table(np.float64(0.0))
        self._read: dict[int, str] = {}
        self._is_missing: dict[int, str] = {}

    def sums(self, rows: str) -> str:
        """Add the sums of the terms; return their name: (n, sums)."""
        wide = self._add("Cast", [rows], to=self._types.DOUBLE)
        for j in self._found.used():
            x = self._add("Gather", [wide, self._table(np.array([j]))], axis=1)
            self._is_missing[j] = self._add("IsNaN", [x])
            fill = float(self._found.hinges.fill[j])
            if self._found.columns.levels[j] is None and not np.isnan(fill):
                x = self._add("Where", [self._is_missing[j], self._table(np.float64(fill)), x])
            self._read[j] = x
        zeros = self._add("Mul", [self._add("Gather", [wide, self._table(np.array([0]))], axis=1), self._zero])
        none = self._add("IsNaN", [zeros])  # of a missing value; the others are zero
        zeros = self._add("Where", [none, self._zero, zeros])
        totals = [zeros] * self._found.n_sums
        for t, factors in enumerate(self._found.terms()):
            term = ""
            for factor in factors:
                one = self._factor(factor)
                term = self._add("Mul", [term, one]) if term else one
            for o, by in enumerate(self._found.coefficients[t].tolist()):
                coefficient = self._table(np.float64(by))
                totals[o] = self._add(
                    "Add", [totals[o], self._add("Mul", [term, coefficient]) if term else coefficient]
                )
        return self._add("Concat", totals, axis=1) if len(totals) > 1 else totals[0]

    def _factor(self, factor: Factor) -> str:
        x, knot = self._read[factor.feature], self._table(np.float64(factor.knot))
        if factor.direction == STRAIGHT:
            return x
        if factor.direction == OF_MISSING:
            return self._add("Cast", [self._is_missing[factor.feature]], to=self._types.DOUBLE)
        if factor.direction == OF_LEVEL:
            return self._add("Cast", [self._add("Equal", [x, knot])], to=self._types.DOUBLE)
        assert factor.direction in (UP, DOWN)
        above = self._add("Sub", [x, knot] if factor.direction == UP else [knot, x])
        return self._add("Max", [above, self._zero])

    def answers(self, sums: str) -> tuple[str, str]:
        """Add what classes follow from the sums; return the names of the labels' places and of the shares."""
        k = self._found.n_classes
        if k == 1:
            zeros = self._add("Mul", [sums, self._zero])
            code = self._add("ArgMax", [zeros], axis=1, keepdims=0)
            return code, self._add("Add", [zeros, self._table(np.float64(1.0))])
        odds = self._add("Concat", [self._add("Mul", [sums, self._zero]), sums], axis=1) if k == 2 else sums
        code = self._add("ArgMax", [odds], axis=1, keepdims=0, select_last_index=0)
        return code, self._add("Softmax", [odds], axis=1)

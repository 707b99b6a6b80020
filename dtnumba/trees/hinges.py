"""The arrays of fitted splines: terms, each a product of factors, each of one feature.

A term is the product of its factors, and the empty product is 1. A factor is a hinge, a line, or one where a feature
has a level or no value, and zero elsewhere. A prediction is the sum of terms times coefficients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# Directions: max(0, x - knot), max(0, knot - x), x; one where x is the level number knot, where x is missing.
UP, DOWN, STRAIGHT, OF_LEVEL, OF_MISSING = 1, -1, 2, 3, 4
_EVERY_DIGIT = 17  # of a float64


class Factor(NamedTuple):
    """One factor of a term: of a feature by number."""

    feature: int
    direction: int
    knot: float


class Hinges(NamedTuple):
    """Terms of splines, without their coefficients."""

    first: NDArray[np.int64]  # (terms + 1,): where the factors of a term begin
    feature: NDArray[np.int64]  # (factors,)
    direction: NDArray[np.int64]
    knot: NDArray[np.float64]
    fill: NDArray[np.float64]  # (features,): what a missing value is read as; NaN where none may be missing

    @property
    def n_terms(self) -> int:
        """How many terms there are, the constant too."""
        return len(self.first) - 1

    def factors(self, t: int) -> list[Factor]:
        """Return the factors of a term."""
        each = range(int(self.first[t]), int(self.first[t + 1]))
        return [Factor(int(self.feature[f]), int(self.direction[f]), float(self.knot[f])) for f in each]

    def some(self, terms: Any) -> Hinges:
        """Return some of the terms, in the order given."""
        return hinges_of([self.factors(int(t)) for t in terms], self.fill)

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of factors of each term."""
        return np.diff(self.first)

    def uses(self) -> NDArray[np.bool_]:
        """Tell which term has which feature: (terms, features)."""
        used = np.zeros((self.n_terms, len(self.fill)), np.bool_)
        used[np.repeat(np.arange(self.n_terms), self.degrees()), self.feature] = True
        return used


def hinges_of(terms: Sequence[Sequence[Factor]], fill: NDArray[np.float64]) -> Hinges:
    """Return terms as arrays."""
    each = [factor for term in terms for factor in term]
    return Hinges(
        np.cumsum([0, *(len(term) for term in terms)]).astype(np.int64),
        np.array([factor.feature for factor in each], np.int64),
        np.array([factor.direction for factor in each], np.int64),
        np.array([factor.knot for factor in each], np.float64),
        np.asarray(fill, np.float64),
    )


def check_hinges(hinges: Hinges, n_features: int) -> Hinges:
    """Return hinges that kernels may read, or raise ValueError: every number lies where it must."""
    n_factors = len(hinges.feature)
    is_whole = all(column.ndim == 1 for column in hinges) and len(hinges.first) > 0
    kinds = [np.int64, np.int64, np.int64, np.float64, np.float64]
    is_whole = is_whole and [column.dtype for column in hinges] == [np.dtype(kind) for kind in kinds]
    is_whole = is_whole and len(hinges.direction) == len(hinges.knot) == n_factors and len(hinges.fill) == n_features
    if not is_whole:
        raise ValueError("the columns of its terms do not fit together")
    ends = hinges.first
    if ends[0] != 0 or ends[-1] != n_factors or (np.diff(ends) < 0).any():
        raise ValueError("its terms do not begin where their factors are")
    if ((hinges.feature < 0) | (hinges.feature >= n_features)).any():
        raise ValueError("a factor is of a feature that there is not")
    if not np.isin(hinges.direction, (UP, DOWN, STRAIGHT, OF_LEVEL, OF_MISSING)).all() or np.isnan(hinges.knot).any():
        raise ValueError("a factor is of no kind that is known")
    return hinges


class Splines(NamedTuple):
    """A fitted model: terms and their coefficients."""

    hinges: Hinges
    coefficients: NDArray[np.float64]  # (terms, outputs)


def check_finite(splines: Splines, names: Sequence[str]) -> None:
    """Raise ValueError where a coefficient leaves float64, as columns and targets of scales far apart make it do."""
    bad = np.flatnonzero(~np.isfinite(splines.coefficients).all(axis=1))
    if len(bad):
        columns = {names[factor.feature] for t in bad.tolist() for factor in splines.hinges.factors(t)}
        whose = f"column {min(columns)!r}" if columns else "its constant"
        raise ValueError(
            f"the coefficients of terms of {whose} leave float64, because the target and the columns are of scales too "
            "far apart; multiply the column, or y, by a power of ten"
        )


class SplinePath(NamedTuple):
    """The best model of every size: of 1 term, 2 terms and so on."""

    rss: NDArray[np.float64]
    gcv: NDArray[np.float64]
    terms: list[NDArray[np.int64]]  # of the forward pass, ascending


class ShownFactor(NamedTuple):
    """A factor of a term, as people read it."""

    column: int
    name: str  # of the column
    direction: int | str  # 1: max(0, x - knot); -1: max(0, knot - x); 2: x; "is": x is the level; "missing"
    knot: Any  # a number, or a level; None of a line and of "missing"

    def __str__(self) -> str:
        """Write the factor as R's earth does."""
        return factor_text(self, 7)


class Term(NamedTuple):
    """A term of splines and its coefficient: a number, or one for each output."""

    factors: tuple[ShownFactor, ...]
    coefficient: Any

    def __str__(self) -> str:
        """Write the term, without its coefficient."""
        return term_text(self.factors, 7)


def shown_factors(hinges: Hinges, names: Sequence[str], levels: Any) -> list[tuple[ShownFactor, ...]]:
    """Return the factors of every term as people read them, in the order of the columns."""
    found = []
    for t in range(hinges.n_terms):
        each = []
        for feature, direction, knot in sorted(hinges.factors(t)):
            if direction == OF_LEVEL:
                each.append(ShownFactor(feature, names[feature], "is", _level_of(levels[feature], knot)))
            elif direction == OF_MISSING:
                each.append(ShownFactor(feature, names[feature], "missing", None))
            else:
                each.append(ShownFactor(feature, names[feature], direction, None if direction == STRAIGHT else knot))
        found.append(tuple(each))
    return found


def _level_of(levels: Any, knot: float) -> Any:
    """Return a level by its number; the number of one that a damaged file does not know."""
    is_known = levels is not None and 0 <= knot < len(levels)
    return levels[int(knot)] if is_known else int(knot)


def factor_text(factor: ShownFactor, digits: int) -> str:
    """Write a factor as R's earth does: ``h(x-3)``, ``h(3-x)``, ``x``, and a column and its level in one word."""
    if factor.direction == "is":
        return f"{factor.name}{factor.knot}"
    if factor.direction == "missing":
        return f"missing({factor.name})"
    if factor.direction == STRAIGHT:
        return factor.name
    knot = f"{factor.knot + 0.0:.{digits}g}"  # not -0
    if factor.direction == DOWN:
        return f"h({knot}-{factor.name})"
    return f"h({factor.name}-{' ' * (factor.knot < 0)}{knot})"


def term_text(factors: Sequence[ShownFactor], digits: int) -> str:
    """Write a term as R's earth does."""
    return " * ".join(factor_text(factor, digits) for factor in factors) if factors else "(Intercept)"


def term_texts(shown: Sequence[Sequence[ShownFactor]], digits: int) -> list[str]:
    """Write terms, with as many digits more as part those of knots that are near each other."""
    parted = len({term_text(factors, _EVERY_DIGIT) for factors in shown})
    for more in range(digits, _EVERY_DIGIT):
        texts = [term_text(factors, more) for factors in shown]
        if len(set(texts)) >= parted:
            return texts
    return [term_text(factors, max(digits, _EVERY_DIGIT)) for factors in shown]

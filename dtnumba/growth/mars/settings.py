"""What a forward pass is asked for, where knots may stand, and what a model of some size costs."""

from __future__ import annotations

import math
from typing import NamedTuple

_CHANCE = (
    0.05  # of a run of so many rows of one sign, which a knot must not follow (Friedman 1991, equations 43 and 45)
)


class ForwardSettings(NamedTuple):
    """Parameters of the forward pass, checked and filled in."""

    max_degree: int
    max_terms: int  # slots: a pair takes two, and so does a term without a partner
    penalty: float
    threshold: float
    minspan: int
    endspan: int
    adjust_endspan: float
    newvar_penalty: float
    fast_k: int
    fast_beta: float
    auto_linear: bool


class Spans(NamedTuple):
    """Rows of a positive parent before the first knot from above and between knots; rows below the last one."""

    start: int
    gap: int
    end: int


def spans_of(n_rows: int, n_predictors: int, degree: int, n_positive: int, settings: ForwardSettings) -> Spans:
    """Return where the knots of terms of a degree may stand, of a parent that is positive in some of the rows."""
    end = settings.endspan or math.floor(3.0 - math.log2(_CHANCE / n_predictors))
    if degree >= 2:
        end += math.floor(settings.adjust_endspan * end + 0.5)
    end = max(1, min(end, n_rows // 2 - 1))
    if settings.minspan < 0:  # a number of knots
        gap = math.ceil(n_rows / (1 - settings.minspan))
        return Spans(max(1, gap * -(-end // gap) - 1), gap, end)
    gap = settings.minspan
    if gap == 0 and n_positive > 0:
        gap = math.trunc(-math.log2(-math.log1p(-_CHANCE) / (n_predictors * n_positive)) / 2.5)
    gap, room = max(1, gap), max(0, n_rows - 2 * end)
    odd = room % gap or gap  # rows beside the last knot, divided between both ends
    first = room // 2 if room <= gap else odd // 2
    return Spans(max(1, end + first), gap, end)


def gcv_of(rss: float, n_rows: int, n_terms: int, penalty: float) -> float:
    """Return the generalized cross-validation of a model: its mean squared error, paid for each term and knot."""
    cost = 0.0 if penalty == -1 else (n_terms + penalty * (n_terms - 1) / 2) / n_rows
    return math.inf if cost >= 1 else rss / (n_rows * (1.0 - cost) ** 2)

"""The parameters of splines, each declared once with what is legal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dtnumba.estimators.bases.parameters import (
    CATEGORICAL_FEATURES,
    N_JOBS,
    Legal,
    integer,
    is_int,
    is_real,
    number,
    one_of,
    parameter,
    whole,
    yes_or_no,
)
from dtnumba.estimators.bases.splines import WORTHS
from dtnumba.tables.categories import FROM_DTYPE, is_choice

_MOST_TERMS = 100_000
_PENALTY = Legal(
    lambda value: value is None or (is_real(value) and (value >= 0 or value == -1)),
    "a float in the range [0.0, inf), -1 (terms and knots cost nothing) or None",
)
_LINEAR = Legal(
    lambda value: value is None or (not isinstance(value, str) and is_choice(value)),
    "a list of names or indices of columns, a mask with a bool for each column or None",
)
_ALLOWED = Legal(
    lambda value: value is None or isinstance(value, (list, tuple)), "a list or tuple of groups of columns, or None"
)
_MINSPAN = Legal(is_int, "an int: rows between knots, 0 (chosen) or below zero (so many knots)")


@dataclass(kw_only=True, eq=False, repr=False)
class SplineParams:
    """Parameters of splines.

    Parameters
    ----------
    max_degree : int
        Most factors of a term: 1 is an additive model, 2 has interactions of two columns.
    max_terms : int or None
        Most terms of the forward pass, the constant too (``nk`` of R's earth). A step takes two, even where it adds
        one. None: twice the columns, from 20 to 200, and one more.
    penalty : float or None
        What a knot costs in the GCV, in terms; -1: neither knots nor terms cost anything. None: 2, and 3 with
        interactions.
    threshold : float
        The forward pass ends where a step raises R squared by less than this, or R squared comes as near to 1. 0: it
        ends at ``max_terms`` alone.
    minspan : int
        Rows between knots. 0: as many as a run of noise is long (Friedman 1991); below zero: so many knots a column.
    endspan : int
        Rows below the first knot and above the last one; 0: chosen, likewise.
    adjust_endspan : float
        With interactions, ``endspan`` is longer by this share of it.
    newvar_penalty : float
        A column that is in no term yet must gain more by this share.
    fast_k : int
        Terms that a step looks at as parents of new ones: those that gained most when they were last looked at. 0: all.
    fast_beta : float
        How many places a term falls in that order with each term added since it was looked at.
    auto_linear : bool
        Whether a knot at the least value of a column becomes a line. Predictions are the same, below that value apart.
    linear_features : list of names or indices, boolean mask or None
        Columns that enter as lines only.
    allowed : list of groups of columns or None
        Which columns, by number or by name, may stand in one term: those of one group. A column by itself always may.
    prune : "backward", "exhaustive", "forward", "seqrep", "cv" or None
        How the best terms of every size are found: by taking away the least useful, by trying every set (at most a few
        dozen terms), by adding the most useful, or by that and replacing. The size of least GCV is kept. "cv":
        backward, and the size of largest R squared on held-out folds. None: all terms are kept.
    max_pruned_terms : int or None
        Most terms kept, the constant too.
    n_folds : int
        Of ``prune="cv"``.
    importance : "n_subsets", "gcv" or "rss"
        What ``feature_importances_`` counts, over the best models up to the size that is kept: those that use the
        column; or what they gain on the next smaller, as GCV or RSS, of which the square root is taken.
    missing : "error" or "indicator"
        What a missing value is: an error; or the median of its column, and that it is missing may be a term.

    """

    max_degree: int = parameter(1, whole(1, 100))
    max_terms: int | None = parameter(None, integer(1, _MOST_TERMS))
    penalty: float | None = parameter(None, _PENALTY)
    threshold: float = parameter(0.001, number(0.0, 0.999999999))
    minspan: int = parameter(0, _MINSPAN)
    endspan: int = parameter(0, whole(0, 1 << 40))
    adjust_endspan: float = parameter(2.0, number(0.0, 10.0))
    newvar_penalty: float = parameter(0.0, number(0.0, math.inf))
    fast_k: int = parameter(20, whole(0, 1 << 40))
    fast_beta: float = parameter(1.0, number(0.0, 1000.0))
    auto_linear: bool = yes_or_no(True)
    linear_features: Any = parameter(None, _LINEAR)  # noqa: RUF009  a field
    allowed: Any = parameter(None, _ALLOWED)  # noqa: RUF009
    prune: str | None = parameter("backward", Legal(
        lambda value: value is None or value in ("backward", "exhaustive", "forward", "seqrep", "cv"),
        "a str among {'backward', 'exhaustive', 'forward', 'seqrep', 'cv'} or None",
    ))  # fmt: skip
    max_pruned_terms: int | None = parameter(None, integer(1))
    n_folds: int = parameter(10, whole(2, 1 << 40))
    importance: str = parameter("n_subsets", one_of(*WORTHS))
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009
    missing: str = parameter("error", one_of("error", "indicator"))
    n_jobs: int | None = parameter(None, N_JOBS)

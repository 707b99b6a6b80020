"""The parameters that forests add to those of trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dtnumba.estimators.bases.parameters import (
    CLASS_WEIGHT,
    GrowthParams,
    Legal,
    integer,
    is_int,
    is_real,
    one_of,
    parameter,
    yes_or_no,
)

MAX_SAMPLES = Legal(
    lambda value: value is None or (value >= 1 if is_int(value) else is_real(value) and value > 0.0),
    "None, an int in the range [1, inf) or a float in the range (0.0, inf), a share of the rows",
)
WAYS_TO_DRAW = Legal(
    lambda value: isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "by_row"),
    "a bool or 'by_row'",
)
OOB_SCORE = Legal(
    lambda value: isinstance(value, (bool, np.bool_)) or callable(value), "a bool or a callable score(y_true, y_pred)"
)
VERBOSE = Legal(
    lambda value: callable(value) or isinstance(value, (bool, np.bool_)) or (is_int(value) and value >= 0),
    "0 (silent), 1 (a progress bar) or a callable that is given a dtnumba.Progress",
)
TREES = Legal(lambda value: is_int(value) and value >= 1, "an int in the range [1, inf)")
SECONDS = Legal(lambda value: value is None or (is_real(value) and value >= 0.0), "a number >= 0 or None")
FOREST_CLASS_WEIGHT = Legal(
    lambda value: (isinstance(value, str) and value == "balanced_subsample") or CLASS_WEIGHT.holds(value),
    "a dict of class to weight, 'balanced', 'balanced_subsample', None, or for several outputs a list of dicts, "
    "'balanced' and None, one for each",
)


@dataclass(kw_only=True, eq=False, repr=False)
class ForestParams(GrowthParams):
    """Parameters of forests, with scikit-learn's names and meanings; see GrowthParams for those of growth.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    bootstrap : bool or "by_row"
        Each tree draws its rows; otherwise it sees all of them. "by_row": each row draws for itself, by what it holds,
        so that the model can ``forget`` it; the model keeps its rows for that.
    replace : bool
        Rows are drawn with replacement.
    max_samples : int, share of the rows or None
        Draws a tree; None is as many as there are rows.
    oob_score : bool or callable
        Score every row by the trees that did not see it; a callable is given ``(y_true, y_pred)``. The votes of the
        trees at hand are counted even where ``max_seconds`` ended growth; stopped while they are, the results are NaN.
    warm_start : bool
        Keep the trees of an earlier ``fit`` and grow the ones that are missing; the classes must be the same.
    max_bins : int or None
        Histograms of at most so many values a feature; None: exact thresholds.
    verbose : int or callable
        0: silent; 1: a progress bar on stderr; a callable is given a Progress now and then, and stops the work by
        returning False.
    max_seconds : float or None
        Stop after so much time, and keep the trees that are finished: ``n_estimators_`` says how many. Seconds in which
        the process compiles, as in a first fit, do not count.
    importance : "impurity", "impurity_corrected" or "permutation"
        What ``feature_importances_`` holds. "impurity": the share of the decrease of impurity, summing to one; it
        favours columns of many values. "impurity_corrected": the decrease of impurity beyond what the column with its
        rows shuffled takes off; its mean is 0 for a column that tells nothing. A second forest measures it, on a pool
        of the columns and their shadows; the first one stays as it is. "permutation": what shuffling the column adds to
        the share of wrong labels, or to the squared error, of each tree on the rows that it did not draw; it asks for
        ``bootstrap=True``. The last two may be negative and do not sum to one. They are the second half of the work:
        ``max_seconds``, ``verbose`` and Ctrl-C cover both halves. Stopped before the end, they are a mean over the
        trees measured by then, and NaN where there is none. A warm start measures the trees that are missing, on the
        rows at hand.

    """

    n_estimators: int = field(default=100, metadata={"rule": TREES}, kw_only=False)
    bootstrap: bool | str = parameter(True, WAYS_TO_DRAW)
    replace: bool = yes_or_no(True)
    max_samples: int | float | None = parameter(None, MAX_SAMPLES)
    oob_score: Any = parameter(False, OOB_SCORE)  # noqa: RUF009  a field
    warm_start: bool = yes_or_no(False)
    max_bins: int | None = parameter(255, integer(2, 255))
    verbose: Any = parameter(0, VERBOSE)  # noqa: RUF009
    max_seconds: float | None = parameter(None, SECONDS)
    importance: str = parameter("impurity", one_of("impurity", "impurity_corrected", "permutation"))
